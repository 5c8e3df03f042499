//! What a prompt says, by the labels and words of its segments: the task, the steps so far, the wording of the game.

use super::text::{Act, Name, Treatment, Wording, act, bare, list};
use crate::domain::{Prompt, SegmentLabel};

/// The task as the actor understands it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Goal<'a> {
    /// Kind of the thing.
    pub(super) thing: &'a str,
    /// Kind of the place, or of the lamp.
    pub(super) target: &'a str,
    /// What is to be done to the thing first.
    pub(super) treatment: Option<Treatment>,
    /// Two of them are wanted.
    pub(super) two: bool,
    /// It is to be looked at under the lamp.
    pub(super) look: bool,
}

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    /// The actor thought; the words without `think:`.
    Thought(&'a str),
    /// The actor (or a person for it) did this and the world answered that.
    Did {
        /// The line.
        line: &'a str,
        /// What it asks.
        act: Act<'a>,
        /// The answer, empty when the prompt has none.
        answer: &'a str,
    },
}

/// A prompt, read.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    /// The whole task text, the root of the actor's habits.
    pub(super) task_text: &'a str,
    /// The goal, where one is stated.
    pub(super) goal: Option<Goal<'a>>,
    /// The places of the room, in the order the world lists them.
    pub(super) places: Vec<Name<'a>>,
    /// The steps so far.
    pub(super) items: Vec<Item<'a>>,
    /// How this game puts things somewhere, as far as the instruction says.
    pub(super) wording: Option<Wording>,
    /// Texts of rejections of this step.
    pub(super) rejections: Vec<&'a str>,
}

const GOAL_MARKS: [&str; 2] = ["Your task is to: ", "accomplish the goal: "];

/// Reads all of it once, front to back.
pub(super) fn read(prompt: &Prompt) -> Reading<'_> {
    let mut reading = Reading {
        task_text: "",
        goal: None,
        places: Vec::with_capacity(40),
        items: Vec::with_capacity(64),
        wording: None,
        rejections: Vec::new(),
    };
    for segment in &prompt.segments {
        let text: &str = &segment.text;
        match segment.label {
            SegmentLabel::Task => {
                reading.task_text = text.trim();
                reading.goal = goal_in(text).or(reading.goal.take());
                reading.places.extend(room(text));
            }
            SegmentLabel::Instruction => {
                reading.wording = wording(text).or(reading.wording);
                if reading.goal.is_none() {
                    reading.goal = goal_in(text);
                }
            }
            SegmentLabel::Thought => reading.items.push(Item::Thought(thought(bare(text)))),
            SegmentLabel::Action | SegmentLabel::HumanEdit => {
                let line = bare(text).lines().next().unwrap_or("").trim();
                reading.items.push(if line.starts_with("think:") {
                    Item::Thought(thought(line))
                } else {
                    Item::Did { line, act: act(line), answer: "" }
                });
            }
            SegmentLabel::Observation => {
                if let Some(Item::Did { answer, .. }) = reading.items.last_mut()
                    && answer.is_empty()
                {
                    *answer = bare(text);
                }
            }
            SegmentLabel::Rejection => reading.rejections.push(text),
            SegmentLabel::Guidance
            | SegmentLabel::Abstract
            | SegmentLabel::Error
            | SegmentLabel::Progress
            | SegmentLabel::Memory
            | SegmentLabel::Attempt
            | SegmentLabel::Example
            | SegmentLabel::Cue => {}
        }
    }
    reading
}

fn thought(line: &str) -> &str {
    line.strip_prefix("think:").unwrap_or(line).trim()
}

fn goal_in(text: &str) -> Option<Goal<'_>> {
    GOAL_MARKS.iter().find_map(|mark| {
        let start = text.find(mark)? + mark.len();
        goal(text[start..].lines().next().unwrap_or(""))
    })
}

/// Words of goal sentences that name neither the thing nor the place.
const SMALL_WORDS: [&str; 27] = [
    "put", "a", "an", "the", "some", "two", "hot", "cool", "cold", "clean", "heat", "heated", "find", "look",
    "at", "examine", "it", "them", "and", "in", "on", "in/on", "under", "with", "then", "to", "slice",
];

/// Understands a goal sentence: all templates of ALFWorld, and others as far as thing and place stand first and last.
pub(super) fn goal(sentence: &str) -> Option<Goal<'_>> {
    let words =
        || sentence.split([' ', ',', '.']).map(str::trim).filter(|w| !w.is_empty()).filter(|w| *w != "of");
    let mut found = words().filter(|w| !SMALL_WORDS.contains(w));
    let thing = found.next()?;
    let target = found.next_back()?;
    let has = |options: &[&str]| words().any(|w| options.contains(&w));
    let treatment = if has(&["hot", "heat", "heated"]) {
        Some(Treatment::Heat)
    } else if has(&["cool", "cold"]) {
        Some(Treatment::Cool)
    } else if has(&["clean"]) {
        Some(Treatment::Clean)
    } else {
        None
    };
    let look = words().next().is_some_and(|first| first == "look" || first == "examine");
    Some(Goal { thing, target, treatment, two: has(&["two"]), look })
}

fn room(text: &str) -> Vec<Name<'_>> {
    let Some(start) = text.find("you see ") else { return Vec::new() };
    let rest = &text[start + "you see ".len()..];
    list(rest.split('.').next().unwrap_or("")).collect()
}

fn wording(text: &str) -> Option<Wording> {
    let says = |verb: &str| {
        text.match_indices(verb).any(|(at, _)| {
            matches!(text[at + verb.len()..].chars().next(), Some('{' | '[' | '<' | '('))
                || text[at + verb.len()..].starts_with("X ")
        })
    };
    match (says("move "), says("put ")) {
        (true, _) => Some(Wording::Move),
        (false, true) => Some(Wording::Put),
        (false, false) => None,
    }
}
