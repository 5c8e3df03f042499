//! What is told of an ended episode.

use super::super::window::{Line, paragraph};
use crate::domain::{EndReason, EpisodeSummary, Step, TokenCounts};
use crate::engine::Episode;
use crate::report::pluralize;
use crate::symbolic::{Goal, Subgoal, Treatment};
use crate::ui::context::Context;
use crate::ui::theme::Role;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// Steps that are named one by one.
const MAX_LISTED_STEPS: usize = 8;

/// Why an episode ended, as a sentence.
fn outcome_sentence(outcome: &EpisodeSummary, limit: u32) -> String {
    let (why, steps) = (outcome.reason.describe(), pluralize(u64::from(outcome.steps), "step"));
    let how = if outcome.won { "Won" } else { "Lost" };
    match outcome.reason {
        EndReason::Won => format!("Won: the goal was reached in {steps}."),
        EndReason::StepLimit => format!("{how}: {why}, all {limit} steps are used up."),
        EndReason::Loop => format!("{how}: {why}, the same action twice in a row."),
        EndReason::Error => format!("{how}: {why}, and the task was given up."),
        EndReason::Done
        | EndReason::MoveLimit
        | EndReason::TimeLimit
        | EndReason::PlanEnd
        | EndReason::Person => format!("{how}: {why} after {steps}."),
    }
}

fn step_list(all: &[u32]) -> String {
    let named: Vec<String> = all.iter().take(MAX_LISTED_STEPS).map(u32::to_string).collect();
    let more = if all.len() > MAX_LISTED_STEPS { ", ..." } else { "" };
    format!("{}{more}", named.join(", "))
}

/// The first rung of the ladder to the goal that was not reached.
fn missing_subgoal(episode: &Episode) -> Option<String> {
    let goal = Goal::parse(&episode.task.goal)?;
    let last = episode.note_tallies.get("subgoal").and_then(|t| t.last.parts.get("reached"));
    let reached: usize = last.and_then(|n| n.parse().ok()).unwrap_or(0);
    // Progress that no detector explains says that this ladder is not the world's.
    if reached == 0 && episode.progress > 0.0 {
        return None;
    }
    let object = goal.object();
    let words = match goal.subgoals().get(reached)? {
        Subgoal::Seen => format!("no {object} was found"),
        Subgoal::Taken => format!("the {object} was not taken"),
        Subgoal::Treated(how) => {
            let done = match how {
                Treatment::Heat => "heated",
                Treatment::Cool => "cooled",
                Treatment::Clean => "cleaned",
            };
            format!("the {object} was not {done} ({})", how.appliance())
        }
        Subgoal::Placed => {
            format!("the {object} was not put where it belongs ({})", goal.target().unwrap_or("?"))
        }
        Subgoal::LampSeen => format!("no {} was found", goal.lamp().unwrap_or("lamp")),
        Subgoal::LampUsed => format!("the {} was not used", goal.lamp().unwrap_or("lamp")),
    };
    Some(words)
}

/// Something came of a step before the next change of place: progress was made.
fn led_to_progress(episode: &Episode, step: &Step, before: f64) -> bool {
    let after = (step.number + 1..=episode.steps.len() as u32).filter_map(|n| episode.step(n));
    after
        .filter(|s| !s.is_thought_only())
        .take_while(|s| !s.action().is_some_and(is_move))
        .any(|s| s.answer.as_ref().is_some_and(|a| a.progress > before))
}

/// The action only changes the place, for what is to be done there.
fn is_move(action: &str) -> bool {
    action.trim_start().starts_with("go ")
}

/// Actions that were taken again and changed nothing, with the steps of the repeats, the most frequent first. A repeat is
/// for nothing where the world did not accept it, or answered as it did the last time and no progress was made since; and
/// a place was not returned to for nothing where progress was made there.
fn useless_repeats(episode: &Episode) -> Vec<(&str, Vec<u32>)> {
    let mut last: HashMap<&str, (&str, f64)> = HashMap::new();
    let mut vain: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for step in episode.steps.iter().filter(|s| !s.is_thought_only()) {
        let (Some(done), Some(answer)) = (&step.executed, &step.answer) else { continue };
        let before = last.insert(&done.action, (&answer.raw, answer.progress));
        let same = |(raw, progress): (&str, f64)| raw == answer.raw && answer.progress <= progress;
        let needed = || is_move(&done.action) && led_to_progress(episode, step, answer.progress);
        if before.is_some_and(|b| !answer.valid || (same(b) && !needed())) {
            vain.entry(&done.action).or_default().push(step.number);
        }
    }
    let mut vain: Vec<_> = vain.into_iter().collect();
    vain.sort_by_key(|(_, at)| std::cmp::Reverse(at.len()));
    vain
}

/// All of it, as rows.
pub(super) fn fact_lines(
    episode: &Episode,
    outcome: &EpisodeSummary,
    look: &Context<'_>,
    columns: u16,
) -> Vec<Line> {
    let limit = look.frame.head.run.as_ref().map_or(0, |r| r.limits.steps);
    let role = if outcome.won { Role::Good } else { Role::Bad };
    let mut lines = paragraph((role, ""), role, &outcome_sentence(outcome, limit), columns);
    let mut say = |label: &str, role: Role, text: &str| {
        lines.extend(paragraph((Role::Muted, &format!("{label:<17}")), role, text, columns));
    };
    say("goal", Role::Text, &episode.task.goal);
    let last = match episode.step(episode.progress_step).and_then(|s| s.action()) {
        Some(action) => {
            format!("{:.0} %, last at turn {} ({action})", outcome.progress * 100.0, episode.progress_step)
        }
        None => format!("{:.0} %, no turn made progress", outcome.progress * 100.0),
    };
    say("progress", Role::Text, &last);
    if !outcome.won
        && let Some(missing) = missing_subgoal(episode)
    {
        say("missing", Role::Warning, &missing);
    }
    let invalid: Vec<u32> = episode
        .steps
        .iter()
        .filter(|s| !s.is_thought_only() && s.answer.as_ref().is_some_and(|a| !a.valid))
        .map(|s| s.number)
        .collect();
    if !invalid.is_empty() {
        let words = match invalid[..] {
            [only] => format!("once, at turn {only}"),
            _ => format!("{} times: turns {}", invalid.len(), step_list(&invalid)),
        };
        say("nothing happened", Role::Text, &words);
    }
    let repeats = useless_repeats(episode);
    if !repeats.is_empty() {
        let named: Vec<String> = repeats
            .iter()
            .take(3)
            .map(|(action, at)| match at[..] {
                [only] => format!("{action}, again at turn {only}"),
                _ => format!("{action}, again at turns {}", step_list(at)),
            })
            .collect();
        say("repeated", Role::Text, &format!("{} (nothing changed)", named.join("; ")));
    }
    let hand = if outcome.assisted { "; with your help" } else { "" };
    say(
        "cost",
        Role::Muted,
        &format!(
            "{}, {} tokens{}, {}{hand}",
            pluralize(u64::from(outcome.calls), "call"),
            outcome.tokens,
            counting_note(&outcome.stats.token_counts),
            pluralize(u64::from(outcome.moves), "move")
        ),
    );
    let spent = &look.frame.head.usage;
    if spent.mentor_calls > 0 || look.frame.head.ended_episodes.len() > 1 {
        say("of the run", Role::Muted, &spent.describe());
    }
    if let Some(words) = look.frame.head.prefetch_stats().describe() {
        say("asked ahead", Role::Muted, &words);
    }
    lines
}

/// Who counted the tokens where it was not all one server, and what they cost.
fn counting_note(counted: &TokenCounts) -> String {
    let all = counted.tokens();
    let mut words = String::new();
    if all > 0 && counted.reported < all {
        let own = if counted.estimated == all { "estimated".to_owned() } else { counted.describe() };
        words = format!(" ({own})");
    }
    if let Some(cost) = counted.format_cost() {
        let _ = write!(words, ", cost {cost}");
    }
    words
}
