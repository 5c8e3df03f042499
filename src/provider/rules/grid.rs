//! The built-in actor in a grid world: a beginner who reads the sentences of what is in front of it and nothing else.
//!
//! It looks around, does what its goal says when it sees what the goal means, and goes through doors otherwise. It has a
//! beginner's two mistakes, each given up after a refusal or two: it says `pick up` for `pickup`, and it goes through closed doors.
//! A lesson that has the right words in it (`pickup`, `toggle`) spares it them (`docs/LESSON_FORMS.md`).

mod decide;
mod goal;
mod replay;
mod seen;

use super::dice::Dice;
use super::read::Reading;
use crate::domain::{Label, Prompt};
use decide::Decision;
use replay::Replay;

/// How often a new task meets a beginner who says `pick up`.
const SAYS_PICK_UP: f64 = 0.5;
/// How often one who goes through closed doors.
const IGNORES_DOORS: f64 = 0.5;
/// Refusals after which a mistake is given up.
const PATIENCE: usize = 2;

/// The line that is answered to a prompt about a grid; none for a prompt about anything else.
pub(super) fn answer(prompt: &Prompt, reading: &Reading<'_>, seed: u64) -> Option<String> {
    let replay = Replay::of(reading)?;
    let dice = Dice::new(reading.task_text, seed, reading.items.len());
    if reading.items.is_empty() {
        return Some(format!(
            "think: I have to {}. First I look around from where I stand.",
            replay.goal_text
        ));
    }
    let mut line = Decision { replay: &replay, dice: &dice }.line();
    let knows = |word: &str| taught(prompt, word);
    let refused = |start: &str| replay.refused_ever.iter().filter(|line| line.starts_with(start)).count();
    if let Some(thing) = line.strip_prefix("pickup ")
        && dice.always("says pick up", 0) < SAYS_PICK_UP
        && refused("pick up ") < PATIENCE
        && !knows("pickup")
    {
        line = format!("pick up {thing}");
    } else if let Some(door) = line.strip_prefix("toggle and go through ")
        && door.contains(" closed ")
        && dice.always("ignores doors", 0) < IGNORES_DOORS
        && refused("go through ") < PATIENCE
        && !knows("toggle")
    {
        line = format!("go through {door}");
    }
    Some(line)
}

/// A lesson in the prompt has this word in it.
fn taught(prompt: &Prompt, word: &str) -> bool {
    let lesson =
        |label: Label| matches!(label, Label::Abstract | Label::Error | Label::Progress | Label::Memory);
    prompt.segments.iter().any(|segment| lesson(segment.label) && segment.text.contains(word))
}
