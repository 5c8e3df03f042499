//! The rule-based actor in grid worlds. It uses only the text of the prompt.
//!
//! It looks around, acts on the goal's objects when it sees them, and otherwise goes through doors. It makes a
//! beginner's mistakes (`worlds.toml`), each a limited number of times: it writes `pick up` for `pickup`, tries
//! to go through closed doors, picks things up with full hands, keeps turning after a full turn, and repeats refused
//! actions. A lesson in a form that it understands ends such a habit at once (`docs/LESSON_FORMS.md`).

mod decision;
mod replay;

use super::habits;
use super::prompt_parser::ParsedPrompt;
use super::seeded_random::SeededRandom;
use crate::domain::Prompt;
use decision::Decision;
use replay::Replay;

/// Returns the reply to a prompt about a grid world. Returns `None` for any other prompt.
pub(super) fn reply(prompt: &Prompt, parsed: &ParsedPrompt<'_>, random: &SeededRandom) -> Option<String> {
    let replay = Replay::from_prompt(parsed)?;
    if parsed.items.is_empty() {
        return Some(format!("think: I have to {}. First I'll look around from here.", replay.goal_text));
    }
    let count_refused =
        |start: &str| replay.refused_actions.iter().filter(|line| line.starts_with(start)).count();
    let shows_habit =
        |habit: &str, times_shown: usize| habits::shows_grid_habit(habit, times_shown, prompt, random);
    if let Some(failed) = replay.failed_action
        && shows_habit("repeats_failures", replay.repeated_failures)
    {
        return Some(failed.to_owned());
    }
    let grabs_with_full_hands = replay.current_view().carrying.is_some()
        && shows_habit("grabs_with_full_hands", replay.full_hand_grabs);
    let action = Decision { replay: &replay, random, grabs_with_full_hands }.next_action();
    if let Some(turn) = replay.actions.last().filter(|last| last.starts_with("turn "))
        && !action.starts_with("turn ")
        && shows_habit("keeps_turning", replay.extra_turns)
    {
        return Some((*turn).to_owned());
    }
    Some(match (action.strip_prefix("pickup "), action.strip_prefix("toggle and go through ")) {
        (Some(thing), _) if shows_habit("says_pick_up", count_refused("pick up ")) => {
            format!("pick up {thing}")
        }
        (_, Some(door))
            if door.contains(" closed ") && shows_habit("ignores_doors", count_refused("go through ")) =>
        {
            format!("go through {door}")
        }
        _ => action,
    })
}
