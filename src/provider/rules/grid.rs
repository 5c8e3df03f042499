//! The rule-based actor in grid worlds: a beginner that reads the description of what is in front of it and nothing
//! else.
//!
//! It looks around, acts on the goal's objects when it sees them, and otherwise goes through doors. It makes a
//! beginner's mistakes (`worlds.toml`), each until it gives it up by itself: it writes `pick up` for `pickup`, tries
//! to go through closed doors, picks things up with full hands, keeps turning after a full turn, and repeats refused
//! actions. A lesson in the right form ends such a habit at once (`docs/LESSON_FORMS.md`).

mod decision;
mod replay;

use super::habits;
use super::prompt_parser::ParsedPrompt;
use super::seeded_random::SeededRandom;
use crate::domain::Prompt;
use decision::Decision;
use replay::Replay;

/// Returns the reply to a prompt about a grid world. Returns `None` for any other prompt.
pub(super) fn reply(prompt: &Prompt, reading: &ParsedPrompt<'_>, seed: u64) -> Option<String> {
    let replay = Replay::from_prompt(reading)?;
    let dice = SeededRandom::new(reading.task_text, seed, reading.items.len());
    if reading.items.is_empty() {
        return Some(format!("think: I have to {}. First I'll look around from here.", replay.goal_text));
    }
    let refused = |start: &str| replay.refused_actions.iter().filter(|line| line.starts_with(start)).count();
    let slips = |habit: &str, used: usize| habits::shows_grid_habit(habit, used, prompt, &dice);
    if let Some(failed) = replay.failed_action
        && slips("repeats_failures", replay.repeated_failures)
    {
        return Some(failed.to_owned());
    }
    let grabs =
        replay.current_view().carrying.is_some() && slips("grabs_with_full_hands", replay.full_hand_grabs);
    let line = Decision { replay: &replay, random: &dice, grabs_with_full_hands: grabs }.next_action();
    if let Some(turn) = replay.actions.last().filter(|last| last.starts_with("turn "))
        && !line.starts_with("turn ")
        && slips("keeps_turning", replay.extra_turns)
    {
        return Some((*turn).to_owned());
    }
    Some(match (line.strip_prefix("pickup "), line.strip_prefix("toggle and go through ")) {
        (Some(thing), _) if slips("says_pick_up", refused("pick up ")) => format!("pick up {thing}"),
        (_, Some(door)) if door.contains(" closed ") && slips("ignores_doors", refused("go through ")) => {
            format!("go through {door}")
        }
        _ => line,
    })
}
