//! Tests of the rule-based actor as a whole.

mod declared_mistakes;
mod grid;
mod lessons;
mod reading;
mod worlds;

use super::belief::{Belief, MistakeCounts};
use super::knowledge::Habit;
use super::prompt_parser::parse_prompt;
use super::vocabulary::Treatment;
use crate::domain::{MessageRole, ModelRole, Prompt, Segment, SegmentLabel, SegmentOrigin};
use crate::engine::request_seed;
use crate::env::alfworld::World;
use crate::env::household::{self, Difficulty, TaskId, TaskKind};

const INSTRUCTION: &str = "You act in a household.\n- move [object] to [place]\n";

/// Returns the reply of the actor that knows every built-in environment.
pub(super) fn answer(prompt: &Prompt, seed: u64) -> String {
    let replies = [
        super::grid_reply,
        super::planning_reply,
        super::science_reply,
        super::question_reply,
        super::web_reply,
        super::household_reply,
    ];
    super::answer(&replies, prompt, seed)
}

pub(super) fn segment(label: SegmentLabel, text: &str) -> Segment {
    Segment { label, origin: SegmentOrigin::Task, message_role: MessageRole::User, text: text.into() }
}

/// Builds a prompt in the usual layout from actions such as `go to fridge 1`, each with its observation.
pub(super) fn prompt(lessons: &[&str], task: &str, steps: &[(&str, &str)]) -> Prompt {
    let mut segments = vec![segment(SegmentLabel::Instruction, INSTRUCTION)];
    segments.extend(lessons.iter().map(|l| segment(SegmentLabel::Abstract, &format!("- {l}\n"))));
    segments.push(segment(SegmentLabel::Task, &format!("Here is the task.\n{task}\n")));
    for (line, seen) in steps {
        let label = if line.starts_with("think:") { SegmentLabel::Thought } else { SegmentLabel::Action };
        segments.push(segment(label, &format!("> {line}\n")));
        segments.push(segment(SegmentLabel::Observation, &format!("{seen}\n")));
    }
    segments.push(segment(SegmentLabel::Cue, ">"));
    Prompt { segments }
}

/// A played game of the tuning seeds.
struct PlayedGame {
    /// The prompts, in order.
    prompts: Vec<Prompt>,
    won: bool,
    mistakes: MistakeCounts,
}

fn generate_game(difficulty: Difficulty, seed: u32) -> World {
    let kind = TaskKind::ALL[seed as usize % TaskKind::ALL.len()];
    household::open_world(&TaskId { difficulty, kind, seed }).unwrap()
}

fn play(mut world: World, lessons: &[&str], max_steps: u32) -> PlayedGame {
    let first = world.restart().unwrap().to_owned();
    let mut next = prompt(lessons, &first, &[]);
    let mut prompts = Vec::new();
    let mut won = false;
    for step in 1..=max_steps {
        let line = answer(&next, request_seed(0, 1, step, ModelRole::Actor, 0));
        prompts.push(next.clone());
        let cue = next.segments.pop().unwrap();
        let (label, seen) = if line.starts_with("think:") {
            (SegmentLabel::Thought, "OK.".to_owned())
        } else {
            let reply = world.play(&line).unwrap();
            won = reply.won;
            (SegmentLabel::Action, reply.feedback.to_owned())
        };
        next.segments.push(segment(label, &format!("> {line}\n")));
        next.segments.push(segment(SegmentLabel::Observation, &format!("{seen}\n")));
        next.segments.push(cue);
        if won {
            break;
        }
    }
    let mistakes = Belief::from_prompt(&parse_prompt(&next)).mistakes;
    PlayedGame { prompts, won, mistakes }
}

/// Returns how often a habit has shown.
fn count_shown(mistakes: &MistakeCounts, habit: Habit) -> u32 {
    match habit {
        Habit::HeatsElsewhere => mistakes.wrong_places(Treatment::Heat),
        Habit::CoolsElsewhere => mistakes.wrong_places(Treatment::Cool),
        Habit::CleansElsewhere => mistakes.wrong_places(Treatment::Clean),
        Habit::PassesClosedDoors => mistakes.passed_closed_doors,
        Habit::ReachesThroughDoors => mistakes.reached_into_closed,
        Habit::GrabsWithFullHands => mistakes.full_hands,
        Habit::OmitsNumbers => mistakes.missing_numbers,
        Habit::ActsFromAfar => mistakes.acted_from_afar,
        Habit::TakesLookAlikes => mistakes.wrong_things_handled,
        Habit::TakesOtherThings => mistakes.unrelated_things,
        Habit::ForgetsTreatment => mistakes.placed_untreated,
        Habit::LeavesAtAppliance => mistakes.left_at_appliance,
        Habit::TreatsUnheld => mistakes.treated_unheld,
        Habit::MisusesLamp => mistakes.examined_thing + mistakes.put_under_lamp,
        Habit::RepeatsFailures => mistakes.repeated_failures,
        Habit::GoesBack => mistakes.revisits,
        // A search without a plan leaves nothing that could be counted.
        Habit::NoPlan => 0,
    }
}
