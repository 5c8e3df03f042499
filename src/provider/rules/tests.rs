//! The built-in actor as a whole: what it plays, reads and says.

mod grid;
mod honesty;
mod lessons;
mod reading;
mod streaming;
mod worlds;

use super::answer;
use super::belief::{Belief, Faults};
use super::knowledge::Habit;
use super::read::read;
use super::text::Treatment;
use crate::domain::{MessageRole, ModelRole, Prompt, Segment, SegmentLabel, SegmentOrigin};
use crate::engine::request_seed;
use crate::env::alfworld::World;
use crate::env::household::{self, Difficulty, TaskId, TaskKind};

const INSTRUCTION: &str = "You act in a household.\n- move [object] to [place]\n";

fn segment(label: SegmentLabel, text: &str) -> Segment {
    Segment { label, origin: SegmentOrigin::Task, message_role: MessageRole::User, text: text.into() }
}

/// A prompt of the usual form, from lines such as `> go to fridge 1`, each followed by its answer.
fn prompt(lessons: &[&str], task: &str, steps: &[(&str, &str)]) -> Prompt {
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

/// A game of the tuning seeds, played with these lessons.
struct Played {
    /// The prompts, in order.
    prompts: Vec<Prompt>,
    won: bool,
    faults: Faults,
}

fn game(difficulty: Difficulty, seed: u32) -> World {
    let kind = TaskKind::ALL[seed as usize % TaskKind::ALL.len()];
    household::open_world(&TaskId { difficulty, kind, seed }).unwrap()
}

fn play(mut world: World, lessons: &[&str], cap: u32) -> Played {
    let first = world.restart().unwrap().to_owned();
    let mut next = prompt(lessons, &first, &[]);
    let mut prompts = Vec::new();
    let mut won = false;
    for step in 1..=cap {
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
    let faults = Belief::of(&read(&next)).faults;
    Played { prompts, won, faults }
}

/// How often a habit has shown.
fn shown(faults: &Faults, habit: Habit) -> u32 {
    match habit {
        Habit::HeatsElsewhere => faults.elsewhere(Treatment::Heat),
        Habit::CoolsElsewhere => faults.elsewhere(Treatment::Cool),
        Habit::CleansElsewhere => faults.elsewhere(Treatment::Clean),
        Habit::PassesClosedDoors => faults.passed,
        Habit::ReachesThroughDoors => faults.closed,
        Habit::GrabsWithFullHands => faults.full_hands,
        Habit::OmitsNumbers => faults.no_number,
        Habit::ActsFromAfar => faults.afar,
        Habit::TakesLookAlikes => faults.look_alikes,
        Habit::TakesOtherThings => faults.others,
        Habit::ForgetsTreatment => faults.untreated,
        Habit::LeavesItThere => faults.left_there,
        Habit::TreatsUnheld => faults.unheld,
        Habit::LightsItWrongly => faults.examined + faults.put_under_lamp,
        Habit::RepeatsFailures => faults.repeats,
        Habit::GoesBack => faults.went_back,
        // A search without a plan leaves no mark that could be counted.
        Habit::NoPlan => 0,
    }
}
