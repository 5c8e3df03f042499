//! What the actor knows from the steps so far.

use crate::rooms::{KnownRooms, Room, parse_room};
use crate::stand_in::prompt_parser::{HistoryItem, ParsedPrompt};
use std::collections::{BTreeMap, BTreeSet};

/// How answers begin that say that nothing was done.
const FAILURES: [&str; 5] =
    ["No known action", "Unknown action.", "The door is not open.", "It's not clear how", "You can't"];

/// What the actor knows.
#[derive(Debug, Default)]
pub(super) struct Replay {
    pub(super) known: KnownRooms,
    /// The rooms whose contents may have changed since they were described.
    stale: BTreeSet<String>,
    /// Whether the last answer asks which action was meant.
    pub(super) has_question: bool,
    /// The names that were focused on, as the answers have them.
    pub(super) focused: Vec<String>,
    pub(super) carried: Vec<String>,
    /// The actions so far, and those of them that did nothing.
    pub(super) actions: BTreeSet<String>,
    pub(super) failed: BTreeSet<String>,
    /// What the actor has tried to open, with the room.
    pub(super) opened: BTreeSet<(String, String)>,
    /// The number of the step at which each room was entered last.
    pub(super) visits: BTreeMap<String, usize>,
    pub(super) closed_doors_tried: usize,
    pub(super) focus_attempts: usize,
}

impl Replay {
    /// Replays the steps. Returns `None` if the task is not one of ScienceWorld.
    pub(super) fn from_prompt(parsed: &ParsedPrompt<'_>) -> Option<Self> {
        const STARTS: [&str; 2] = ["This room is called the ", "This outside location is called the "];
        let first = STARTS
            .iter()
            .find_map(|start| parsed.task_text.split_once(start).map(|(_, rest)| (*start, rest)));
        let first = first.map(|(start, rest)| format!("{start}{rest}"))?;
        parse_room(&first)?;
        let mut replay = Self::default();
        replay.known.update("look around", &first);
        for (number, item) in parsed.items.iter().enumerate() {
            if let HistoryItem::Action { line, answer, .. } = item {
                replay.take_over(line, answer, number + 1);
            }
        }
        Some(replay)
    }

    /// Returns the room where the actor is, if its description is up to date.
    pub(super) fn current_room(&self) -> Option<(&str, &Room)> {
        let here = self.known.location.as_deref().filter(|here| !self.stale.contains(*here))?;
        Some((here, self.known.rooms.get(here)?))
    }

    fn take_over(&mut self, action: &str, answer: &str, number: usize) {
        let before = self.known.location.clone();
        self.known.update(action, answer);
        let here = self.known.location.clone().unwrap_or_default();
        if before.as_deref() != Some(here.as_str()) {
            self.visits.insert(here.clone(), number);
        }
        if parse_room(answer).is_some() {
            self.stale.remove(&here);
        }
        self.has_question = answer.starts_with("Ambiguous request:");
        self.actions.insert(action.to_owned());
        if FAILURES.iter().any(|failure| answer.starts_with(failure)) {
            self.failed.insert(action.to_owned());
        }
        if answer.starts_with("The door is not open.") {
            self.closed_doors_tried += 1;
        }
        if let Some(focus) = answer.strip_prefix("You focus on the ") {
            self.focused.push(focus.trim_end_matches('.').to_owned());
        }
        if action.starts_with("focus on ") {
            self.focus_attempts += 1;
        }
        if let Some(thing) =
            answer.strip_prefix("You move the ").and_then(|rest| rest.strip_suffix(" to the inventory."))
        {
            self.carried.push(thing.to_owned());
        }
        if let Some(thing) = action.strip_prefix("open ").filter(|thing| !thing.starts_with("door")) {
            self.opened.insert((here.clone(), thing.to_owned()));
            if answer.ends_with("is now open.") {
                self.stale.insert(here);
            }
        }
    }
}
