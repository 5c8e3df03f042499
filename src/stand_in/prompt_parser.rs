//! Parses a prompt by the labels and texts of its segments: the task, the steps so far, the wording of the game.

use super::vocabulary::{
    HouseholdAction, ObjectName, PutWording, Treatment, parse_action, parse_list, strip_line_labels,
};
use crate::domain::{Prompt, SegmentLabel};

/// The task as the actor understands it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Goal<'a> {
    /// The kind of the thing.
    pub(super) thing: &'a str,
    /// The kind of the place or of the lamp.
    pub(super) target: &'a str,
    /// What has to be done to the thing first.
    pub(super) treatment: Option<Treatment>,
    /// Whether two of them are wanted.
    pub(super) wants_two: bool,
    /// Whether it has to be looked at under the lamp.
    pub(super) under_lamp: bool,
}

/// One item of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HistoryItem<'a> {
    /// A thought, without `think:`.
    Thought(&'a str),
    /// An action of the actor, or of a person in its place, and the observation after it.
    Action {
        line: &'a str,
        action: HouseholdAction<'a>,
        /// The observation; empty if the prompt has none.
        answer: &'a str,
    },
}

/// A parsed prompt.
#[derive(Debug)]
pub(super) struct ParsedPrompt<'a> {
    /// The whole task text, from which the actor's habits are derived.
    pub(super) task_text: &'a str,
    /// The goal, if one is stated.
    pub(super) goal: Option<Goal<'a>>,
    /// The places of the room, in the order the environment lists them.
    pub(super) places: Vec<ObjectName<'a>>,
    /// The steps so far.
    pub(super) items: Vec<HistoryItem<'a>>,
    /// How this game words putting a thing somewhere, if the instruction says so.
    pub(super) wording: Option<PutWording>,
    /// The texts of this step's rejections.
    pub(super) rejections: Vec<&'a str>,
}

const GOAL_PREFIXES: [&str; 2] = ["Your task is to: ", "accomplish the goal: "];

/// Parses a prompt in one pass.
pub(super) fn parse_prompt(prompt: &Prompt) -> ParsedPrompt<'_> {
    let mut parsed = ParsedPrompt {
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
                parsed.task_text = text.trim();
                parsed.goal = find_goal(text).or(parsed.goal.take());
                parsed.places.extend(parse_places(text));
            }
            SegmentLabel::Instruction => {
                parsed.wording = detect_wording(text).or(parsed.wording);
                if parsed.goal.is_none() {
                    parsed.goal = find_goal(text);
                }
            }
            SegmentLabel::Thought => {
                parsed.items.push(HistoryItem::Thought(strip_think(strip_line_labels(text))));
            }
            SegmentLabel::Action | SegmentLabel::HumanEdit => {
                let line = strip_line_labels(text).lines().next().unwrap_or("").trim();
                parsed.items.push(if line.starts_with("think:") {
                    HistoryItem::Thought(strip_think(line))
                } else {
                    HistoryItem::Action { line, action: parse_action(line), answer: "" }
                });
            }
            SegmentLabel::Observation => {
                if let Some(HistoryItem::Action { answer, .. }) = parsed.items.last_mut()
                    && answer.is_empty()
                {
                    *answer = strip_line_labels(text);
                }
            }
            SegmentLabel::Rejection => parsed.rejections.push(text),
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
    parsed
}

fn strip_think(line: &str) -> &str {
    line.strip_prefix("think:").unwrap_or(line).trim()
}

fn find_goal(text: &str) -> Option<Goal<'_>> {
    GOAL_PREFIXES.iter().find_map(|prefix| {
        let start = text.find(prefix)? + prefix.len();
        parse_goal(text[start..].lines().next().unwrap_or(""))
    })
}

/// Words in goal sentences that name neither the thing nor the place.
const STOP_WORDS: [&str; 27] = [
    "put", "a", "an", "the", "some", "two", "hot", "cool", "cold", "clean", "heat", "heated", "find", "look",
    "at", "examine", "it", "them", "and", "in", "on", "in/on", "under", "with", "then", "to", "slice",
];

/// Parses a goal sentence: all templates of ALFWorld, and others in which the thing comes first and the place last.
pub(super) fn parse_goal(sentence: &str) -> Option<Goal<'_>> {
    let words =
        || sentence.split([' ', ',', '.']).map(str::trim).filter(|w| !w.is_empty()).filter(|w| *w != "of");
    let mut found = words().filter(|w| !STOP_WORDS.contains(w));
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
    Some(Goal { thing, target, treatment, wants_two: has(&["two"]), under_lamp: look })
}

fn parse_places(text: &str) -> Vec<ObjectName<'_>> {
    let Some(start) = text.find("you see ") else { return Vec::new() };
    let rest = &text[start + "you see ".len()..];
    parse_list(rest.split('.').next().unwrap_or("")).collect()
}

fn detect_wording(text: &str) -> Option<PutWording> {
    let says = |verb: &str| {
        text.match_indices(verb).any(|(at, _)| {
            matches!(text[at + verb.len()..].chars().next(), Some('{' | '[' | '<' | '('))
                || text[at + verb.len()..].starts_with("X ")
        })
    };
    match (says("move "), says("put ")) {
        (true, _) => Some(PutWording::Move),
        (false, true) => Some(PutWording::Put),
        (false, false) => None,
    }
}
