//! Detectors and rules for grid worlds. The five situations of the paper (OmniReflect, appendix F) are: the
//! agent goes in circles, finds a key, finds the door, finds the target, or must first drop what it carries. In
//! addition, every kind of rejected action is detected.

mod findings;
mod sentences;

use super::environment_rules::{Detector, EnvironmentRules};
use super::evidence::evidence_text;
use crate::domain::{MAX_NUMBER, Note, NoteKind, Observation, SettingOrigin::BuiltIn, Step, TypedSetting};
use crate::engine::{Episode, State};
use crate::grid::{Clause, ObjectDesc, View, parse_clauses};

/// A threshold; not published, our own.
pub const CIRCLE_TURNS: TypedSetting<u64> = TypedSetting::number(
    "circle_turns",
    "consecutive turns in the same direction that count as going in circles",
    5,
    (2, MAX_NUMBER),
    BuiltIn,
);

/// The rules of grid worlds.
pub static GRID_RULES: EnvironmentRules = EnvironmentRules {
    detectors: DETECTORS,
    detect,
    abstract_lessons: sentences::abstract_lessons,
    error_lessons: sentences::error_lessons,
    progress_text: sentences::progress_text,
    plan: None,
    missing_part: |_| None,
    is_navigation: |action| action.trim_start().starts_with("go "),
    describe_finding: findings::describe_finding,
};

const DETECTORS: &[Detector] = &[
    Detector::named("barrier"),
    Detector::described("circling", "went in circles"),
    Detector::named("door_closed"),
    Detector::named("empty_hands"),
    Detector::named("found_door"),
    Detector::named("found_key"),
    Detector::named("found_target"),
    Detector::named("hands_full"),
    Detector::named("must_drop"),
    Detector::named("no_change"),
    Detector::named("no_key"),
    Detector::named("no_room"),
    Detector::named("no_way"),
    Detector::described("nothing_happened", "did what changes nothing"),
    Detector::named("other_key"),
    Detector::named("progress"),
    Detector::described("repeat", "repeated an action that did nothing"),
    Detector::named("took_key"),
    Detector::described("unknown_action", "used an unknown action"),
    Detector::named("unlocked"),
    Detector::named("wrong_verb"),
];

/// Maximum number of steps to look back for the last view.
const MAX_LOOKBACK: u32 = 8;

/// Returns the notes of an answered step.
fn detect(state: &State, episode: &Episode, step: &Step, answer: &Observation) -> Vec<Note> {
    let text = answer.raw.trim();
    let executed = step.executed.as_ref();
    let action = executed.map_or("", |e| e.sent.as_deref().unwrap_or(&e.action)).trim();
    let mut found = GridDetector { episode, step, action, text, notes: Vec::new() };
    match View::parse(text) {
        Some(view) => {
            found.detect_situations(&view);
            found.detect_circling(state);
        }
        None if action.contains("check") => {}
        None => found.detect_rejection(state),
    }
    found.notes
}

struct GridDetector<'a> {
    episode: &'a Episode,
    step: &'a Step,
    action: &'a str,
    text: &'a str,
    notes: Vec<Note>,
}

impl GridDetector<'_> {
    fn add_note(&mut self, detector: &str, kind: NoteKind, parts: &[(&str, &str)]) {
        let parts = parts.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let evidence = evidence_text(self.action, self.text);
        self.notes.push(Note { detector: detector.to_owned(), kind, evidence, parts });
    }

    fn is_first_note(&self, detector: &str) -> bool {
        !self.episode.note_tallies.contains_key(detector)
    }

    /// Detects what the agent sees or holds since this step.
    fn detect_situations(&mut self, view: &View<'_>) {
        if self.episode.progress_step == self.step.number && self.episode.progress > 0.0 {
            self.add_note("progress", NoteKind::Progress, &[]);
        }
        let goal = parse_clauses(&self.episode.task.goal);
        let wanted: Vec<ObjectDesc<'_>> = goal
            .iter()
            .flat_map(|clause| match *clause {
                Clause::GoTo(one) | Clause::PickUp(one) | Clause::Open(one) => [Some(one), None],
                Clause::PutNext(moved, fixed) => [Some(moved), Some(fixed)],
            })
            .flatten()
            .collect();
        for object in &view.objects {
            let is_wanted = wanted.iter().any(|wanted| wanted.matches(object));
            let detector = match (object.kind, is_wanted) {
                ("door", true) => "found_door",
                (_, true) => "found_target",
                ("key", false) => "found_key",
                _ => continue,
            };
            if self.is_first_note(detector) && !self.notes.iter().any(|n| n.detector == detector) {
                self.add_note(detector, NoteKind::Fact, &[("thing", object.name), ("colour", object.colour)]);
            }
        }
        let Some((colour, kind)) = view.carrying else { return };
        let carried = format!("{colour} {kind}");
        if kind == "key" && self.action.starts_with("pickup") {
            self.add_note("took_key", NoteKind::Fact, &[("thing", &carried), ("colour", colour)]);
        } else if self.action.contains("go through")
            && self.action.contains(" locked ")
            // If the walk was interrupted before the door, the door is still locked.
            && !view.objects.iter().any(|object| object.door_state == "locked" && object.colour == colour)
        {
            self.add_note("unlocked", NoteKind::Fact, &[("thing", &carried), ("colour", colour)]);
        }
        let is_unrelated = !wanted.iter().any(|wanted| wanted.matches_kind(colour, kind)) && kind != "key";
        if is_unrelated && self.action.starts_with("pickup") {
            self.add_note("must_drop", NoteKind::Mistake, &[("thing", &carried)]);
        }
    }

    /// Detects repeated turning in the same direction.
    fn detect_circling(&mut self, state: &State) {
        if !self.action.starts_with("turn ") {
            return;
        }
        let max_turns = state.setting(CIRCLE_TURNS).max(2);
        let is_same_turn = |steps_back: u64| {
            let number = u64::from(self.step.number).checked_sub(steps_back);
            let number = number.and_then(|n| u32::try_from(n).ok());
            let step = number.and_then(|n| self.episode.step(n));
            step.and_then(|s| s.action()).is_some_and(|a| a.trim() == self.action)
        };
        // Noted once per full circle, not at every further turn.
        let earlier_turns = (1..=max_turns.saturating_mul(2)).take_while(|back| is_same_turn(*back)).count();
        let turn_count = earlier_turns as u64 + 1;
        if turn_count >= max_turns && turn_count.is_multiple_of(max_turns) {
            let times = turn_count.to_string();
            self.add_note("circling", NoteKind::Mistake, &[("action", self.action), ("times", &times)]);
        }
    }

    /// Detects why the action was rejected.
    fn detect_rejection(&mut self, state: &State) {
        let contains = |words: &str| self.text.contains(words);
        let carries = || self.previous_view().is_some_and(|view| view.carrying.is_some());
        let reason = if contains("not recognized") && self.action.starts_with("pick up") {
            "wrong_verb"
        } else if contains("not recognized") && self.action.starts_with("pickup") && carries() {
            "hands_full"
        } else if contains("not recognized") {
            "unknown_action"
        } else if contains("as it is closed") {
            "door_closed"
        } else if contains("not carrying a key") {
            "no_key"
        } else if contains("does not match") {
            "other_key"
        } else if contains("no path leading") {
            "no_way"
        } else if contains("barrier in front") {
            "barrier"
        } else if contains("already an object in front") {
            "no_room"
        } else if contains("not carrying anything") {
            "empty_hands"
        } else {
            "no_change"
        };
        let action = self.action;
        self.add_note("nothing_happened", NoteKind::Mistake, &[("why", reason), ("action", action)]);
        self.add_note(reason, NoteKind::Mistake, &[]);
        let failed_before = self.episode.note_tallies.get("nothing_happened").map(|t| &t.last.parts);
        let failed_last = failed_before.and_then(|p| p.get("action")).is_some_and(|a| a == action);
        let count = self.episode.action_counts.get(self.step.action().unwrap_or_default()).map_or(0, |a| a.0);
        if failed_last && u64::from(count) >= state.settings().repeat_after {
            let times = count.to_string();
            self.add_note("repeat", NoteKind::Mistake, &[("action", action), ("times", &times)]);
        }
    }

    /// Returns the last view before this step.
    fn previous_view(&self) -> Option<View<'_>> {
        view_before(self.episode, self.step.number)
    }
}

/// Returns the last view before a step.
fn view_before(episode: &Episode, number: u32) -> Option<View<'_>> {
    let steps = (1..=MAX_LOOKBACK).map_while(|back| number.checked_sub(back));
    let answers = steps.filter_map(|number| episode.step(number)?.answer.as_ref());
    answers.map(|answer| answer.raw.as_str()).find_map(View::parse)
}
