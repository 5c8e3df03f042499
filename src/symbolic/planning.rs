//! Detectors for planning problems (methods.md 2.3; OmniReflect's appendix F): what the action achieved, which goal
//! conditions are unmet, and for each of the four domains the actions that don't help. They may read all true facts
//! (`Episode::shown`), which the agent can know: the first observation states every fact, and the agent is given the
//! effects of actions.

mod moves;
mod sentences;

use super::common_findings::executed_text;
use super::environment_rules::{Detector, EnvironmentRules};
use super::evidence::evidence_text;
use crate::domain::{Note, NoteKind, Observation, Step};
use crate::engine::{Episode, State};
use serde_json::Value;

/// The rules of planning problems.
pub static PLANNING_RULES: EnvironmentRules = EnvironmentRules {
    detectors: DETECTORS,
    detect,
    abstract_lessons: sentences::abstract_lessons,
    error_lessons: sentences::error_lessons,
    progress_text,
    plan: None,
    missing_part: |_| None,
    is_navigation: |_| false,
    describe_finding,
};

const DETECTORS: &[Detector] = &[
    Detector::named("arm_full"),
    Detector::named("ball_not_carried"),
    Detector::named("ball_not_here"),
    Detector::named("ball_not_wanted"),
    Detector::named("block_below_another"),
    Detector::named("block_not_held"),
    Detector::named("boot_closed"),
    Detector::named("both_hands_full"),
    Detector::named("carried_two"),
    Detector::named("did_not_leave"),
    Detector::named("glass_not_empty"),
    Detector::named("glass_not_held"),
    Detector::named("hand_left_free"),
    Detector::named("hand_not_free"),
    Detector::named("hub_in_the_air"),
    Detector::named("hub_on_the_ground"),
    Detector::named("ingredients_missing"),
    Detector::named("not_clean"),
    Detector::named("not_in_the_room"),
    Detector::named("not_needed"),
    Detector::named("not_now"),
    Detector::named("not_understood"),
    Detector::described("nothing_happened", "did what changes nothing"),
    Detector::named("nut_on"),
    Detector::named("nut_tight"),
    Detector::named("pickup_for_unstack"),
    Detector::described("repeat", "repeated an action that did nothing"),
    Detector::named("set_back"),
    Detector::named("shook"),
    Detector::named("stacked_back"),
    Detector::named("standing"),
    Detector::named("subgoal"),
    Detector::described("took_back", "took an object away from its destination"),
    Detector::named("tool_missing"),
    Detector::named("two_towers"),
    Detector::named("undid"),
    Detector::named("undone"),
    Detector::named("unstack_for_pickup"),
    Detector::named("unstacked"),
    Detector::named("wrong_drop"),
    Detector::named("wrong_ingredient"),
    Detector::named("wrong_stack"),
];

/// An action as the environment parses it: its name and its objects.
pub(super) struct DomainAction<'a> {
    pub(super) name: &'a str,
    pub(super) objects: Vec<&'a str>,
}

/// The true facts and the goal after the last step.
pub(super) struct Facts<'a> {
    shown: &'a Value,
}

impl<'a> Facts<'a> {
    /// Returns whether a fact such as `on a b` holds.
    pub(super) fn is_true(&self, fact: &str) -> bool {
        self.shown["facts"].get(fact).is_some()
    }

    /// Returns whether a fact is part of the goal.
    pub(super) fn is_goal_condition(&self, fact: &str) -> bool {
        self.shown["subgoals"].get(format!("({fact})")).is_some()
    }

    /// Returns the arguments of the goal conditions with this predicate, and whether each holds.
    pub(super) fn goal_conditions(
        &self,
        predicate: &'a str,
    ) -> impl Iterator<Item = (Vec<&'a str>, bool)> + 'a {
        let parts = self.shown["subgoals"].as_object();
        parts.into_iter().flatten().filter_map(move |(atom, part)| {
            let inside = atom.strip_prefix('(')?.strip_suffix(')')?;
            let mut words = inside.split(' ');
            (words.next() == Some(predicate)).then(|| (words.collect(), part["held"] == true))
        })
    }

    /// Returns the arguments of the true facts with this predicate.
    pub(super) fn true_facts(&self, predicate: &'a str) -> impl Iterator<Item = Vec<&'a str>> + 'a {
        let facts = self.shown["facts"].as_object();
        facts.into_iter().flatten().filter_map(move |(fact, _)| {
            let mut words = fact.split(' ');
            (words.next() == Some(predicate)).then(|| words.collect())
        })
    }

    /// Returns how many goal conditions hold, and how many there are.
    fn goal_counts(&self) -> (usize, usize) {
        let parts = self.shown["subgoals"].as_object();
        let satisfied = parts.into_iter().flatten().filter(|(_, part)| part["held"] == true).count();
        (satisfied, parts.map_or(0, serde_json::Map::len))
    }

    /// Returns whether an action may have made a goal condition true: in the first two domains if it is an action that
    /// can, in the others if the answer mentions a goal condition that holds.
    fn may_have_satisfied_condition(&self, domain: &str, action: &DomainAction<'_>, answer: &str) -> bool {
        match domain {
            "gripper-strips" => action.name == "drop",
            "blocksworld-4ops" => matches!(action.name, "stack" | "putdown"),
            _ => {
                let answer = answer.to_ascii_lowercase();
                let parts = self.shown["subgoals"].as_object();
                let held = parts.into_iter().flatten().filter(|(_, part)| part["held"] == true);
                held.filter_map(|(_, part)| part["text"].as_str())
                    .any(|text| answer.contains(&text.trim_end().to_ascii_lowercase()))
            }
        }
    }

    /// Returns the sentences of the goal conditions that don't hold.
    fn unmet_conditions(&self) -> Vec<&'a str> {
        let parts = self.shown["subgoals"].as_object();
        let unmet = parts.into_iter().flatten().filter(|(_, part)| part["held"] != true);
        unmet.filter_map(|(_, part)| Some(part["text"].as_str()?.trim_end_matches(['.', ' ']))).collect()
    }
}

/// Returns the notes of an answered step.
fn detect(state: &State, episode: &Episode, step: &Step, answer: &Observation) -> Vec<Note> {
    let executed = step.executed.as_ref();
    let action = executed.map_or("", |e| e.sent.as_deref().unwrap_or(&e.action)).trim();
    let lower = action.to_ascii_lowercase();
    if lower.contains("check") || lower.contains("look around") {
        return Vec::new();
    }
    let facts = Facts { shown: &episode.shown };
    let parsed = parse_domain_action(&facts, &lower);
    let mut notes = Vec::new();
    let mut note = |detector: &str, kind: NoteKind, parts: &[(&str, &str)]| {
        let parts = parts.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let evidence = evidence_text(action, answer.raw.trim());
        notes.push(Note { detector: detector.to_owned(), kind, evidence, parts });
    };
    let domain = facts.shown["domain"].as_str().unwrap_or_default();
    if !answer.valid {
        let known_reason = parsed.as_ref().and_then(|parsed| moves::failure_reason(domain, &facts, parsed));
        let is_unrecognized = answer.raw.ends_with("takes no effect. Please check valid actions.");
        let reason = known_reason.unwrap_or(if is_unrecognized { "not_understood" } else { "not_now" });
        note("nothing_happened", NoteKind::Mistake, &[("why", reason), ("action", action)]);
        note(reason, NoteKind::Mistake, &[]);
        let count = episode.action_counts.get(step.action().unwrap_or_default()).map_or(0, |a| a.0);
        if u64::from(count) >= state.settings().repeat_after {
            note("repeat", NoteKind::Mistake, &[("action", action), ("times", &count.to_string())]);
        }
        return notes;
    }
    // The previous number of satisfied conditions is stored in a note, so that the cost of a step does not grow with
    // the episode.
    let (satisfied, total) = facts.goal_counts();
    let last = episode.note_tallies.get("standing").and_then(|t| t.last.parts.get("held"));
    let satisfied_before = last.and_then(|n| n.parse::<usize>().ok());
    if satisfied_before != Some(satisfied) {
        note("standing", NoteKind::Fact, &[("held", &satisfied.to_string())]);
    }
    let has_progressed = episode.progress_step == step.number && episode.progress > 0.0;
    // Progress at the first effective action may come only from conditions that held at the start. It counts only if
    // the action may have satisfied one itself.
    let is_own_progress = satisfied_before.is_some()
        || parsed
            .as_ref()
            .is_some_and(|parsed| facts.may_have_satisfied_condition(domain, parsed, &answer.raw));
    if has_progressed && is_own_progress {
        note(
            "subgoal",
            NoteKind::Progress,
            &[("reached", &satisfied.to_string()), ("of", &total.to_string())],
        );
    } else if satisfied_before.is_some_and(|satisfied_before| satisfied < satisfied_before) {
        // Towers are taken apart and boots are opened along the way; undoing a delivered ball or drink is a loss.
        match domain {
            "blocksworld-4ops" | "tyreworld" => note("set_back", NoteKind::Fact, &[]),
            _ => note("undone", NoteKind::Mistake, &[]),
        }
    }
    let Some(parsed) = parsed else { return notes };
    let previous = step.number.checked_sub(1).and_then(|n| episode.step(n)).and_then(Step::action);
    let previous = previous.map(str::to_ascii_lowercase).and_then(|text| {
        let parsed = parse_domain_action(&facts, &text)?;
        Some((parsed.name.to_owned(), parsed.objects.into_iter().map(str::to_owned).collect::<Vec<_>>()))
    });
    for (detector, kind) in moves::triggered_detectors(domain, &facts, &parsed, previous.as_ref()) {
        note(detector, kind, &[]);
    }
    notes
}

/// Lists the unmet goal conditions. Returns `None` if there are none.
fn progress_text(episode: &Episode) -> Option<String> {
    let facts = Facts { shown: &episode.shown };
    let (satisfied, total) = facts.goal_counts();
    let unmet = facts.unmet_conditions();
    if unmet.is_empty() {
        return None;
    }
    let so_far = if satisfied == 0 {
        "No condition of the goal holds yet.".to_owned()
    } else {
        format!("{satisfied} of {total} goal conditions hold.")
    };
    Some(format!("{so_far} Still open: {}.", unmet.join("; ")))
}

/// Says which objects the action named. The name of the detector says what was wrong with it.
fn describe_finding(episode: &Episode, step: &Step, note: &Note) -> Option<String> {
    if note.kind != NoteKind::Mistake || !note.parts.is_empty() {
        return None;
    }
    let facts = Facts { shown: &episode.shown };
    let text = executed_text(step).to_ascii_lowercase();
    let objects = parse_domain_action(&facts, &text)?.objects;
    let name = note.detector.replace('_', " ");
    (!objects.is_empty()).then(|| format!("{name}: {}", objects.join(", ")))
}

/// Parses the action and the objects that a text names. Returns `None` if it names no action of the four domains.
fn parse_domain_action<'a>(facts: &Facts<'_>, text: &'a str) -> Option<DomainAction<'a>> {
    let words = || {
        text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).filter(|w| !w.is_empty())
    };
    let name = words().find(|word| moves::ACTION_NAMES.contains(word))?;
    let is_object = |word: &&str| facts.shown["objects"].get(*word).is_some();
    Some(DomainAction { name, objects: words().filter(is_object).collect() })
}

#[cfg(test)]
mod tests;
