//! Draws planning problems: blocks as towers; rooms, bars and wheels as boxes; anything else as facts. The parts of
//! the goal have a tick if they hold.

mod barman;
mod blocksworld;
mod gripper;
mod tyreworld;

#[cfg(test)]
mod tests;

use super::framed_boxes::FramedBox;
use super::{StyledLine, framed_boxes, wrap_words};
use crate::text::{truncate, width};
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;
use serde_json::Value;
use std::collections::BTreeMap;

/// The true facts of a problem, by predicate.
pub(super) struct Facts<'a>(BTreeMap<&'a str, Vec<Vec<&'a str>>>);

impl<'a> Facts<'a> {
    fn parse(shown: &'a Value) -> Self {
        let mut all: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
        for (fact, _) in shown.get("facts").and_then(Value::as_object).into_iter().flatten() {
            let mut words = fact.split(' ');
            let name = words.next().unwrap_or_default();
            all.entry(name).or_default().push(words.collect());
        }
        for facts in all.values_mut() {
            facts.sort_by_key(|words| words.iter().map(|word| natural_key(word)).collect::<Vec<_>>());
        }
        Self(all)
    }

    /// Returns the facts of a predicate with `N` arguments.
    fn arguments<const N: usize>(&self, name: &str) -> impl Iterator<Item = [&'a str; N]> + '_ {
        let facts = self.0.get(name).into_iter().flatten();
        facts.filter_map(|words| words.as_slice().try_into().ok())
    }

    fn has<const N: usize>(&self, name: &str, arguments: [&str; N]) -> bool {
        self.arguments::<N>(name).any(|words| words == arguments)
    }

    /// Returns the second arguments of the facts with this first argument.
    fn second_arguments<'f>(&'f self, name: &str, first: &'f str) -> impl Iterator<Item = &'a str> + 'f {
        self.arguments::<2>(name).filter(move |[one, _]| *one == first).map(|[_, other]| other)
    }

    /// Returns the first arguments of the facts with this second argument.
    fn first_arguments<'f>(&'f self, name: &str, second: &'f str) -> impl Iterator<Item = &'a str> + 'f {
        self.arguments::<2>(name).filter(move |[_, other]| *other == second).map(|[one, _]| one)
    }
}

/// Returns a name's letters and its trailing number, so that `ball2` sorts before `ball10`.
fn natural_key(word: &str) -> (&str, u64) {
    let digits = word.len() - word.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (letters, number) = word.split_at(word.len() - digits);
    (letters, number.parse().unwrap_or(0))
}

/// Returns whether an environment's JSON is that of a planning problem.
pub(super) fn is_planning_world(shown: &Value) -> bool {
    shown.get("facts").is_some_and(Value::is_object) && shown.get("subgoals").is_some_and(Value::is_object)
}

/// Returns how many parts of the goal hold, and how many there are.
pub(super) fn goal_counts(shown: &Value) -> (usize, usize) {
    let parts = shown.get("subgoals").and_then(Value::as_object);
    let held = parts.into_iter().flatten().filter(|(_, part)| part["held"] == true).count();
    (held, parts.map_or(0, serde_json::Map::len))
}

/// Returns a one-line summary.
pub(super) fn in_one_line(shown: &Value, dot: &str) -> String {
    let facts = Facts::parse(shown);
    let (held, all) = goal_counts(shown);
    let domain = shown.get("domain").and_then(Value::as_str).unwrap_or_default();
    let scene = match domain {
        "gripper-strips" => gripper::one_line_summary(&facts),
        "blocksworld-4ops" => blocksworld::one_line_summary(&facts),
        "barman" => barman::one_line_summary(&facts),
        "tyreworld" => tyreworld::one_line_summary(&facts),
        other => other.to_owned(),
    };
    format!("{scene} {dot} {held} of {all} subgoals")
}

/// Returns the rows of the pane. `truth` is the ground truth, if it is to be shown.
pub(super) fn world_rows(
    glyphs: &Glyphs,
    shown: &Value,
    truth: Option<&Value>,
    columns: u16,
) -> Vec<StyledLine> {
    let room = usize::from(columns.saturating_sub(2)).max(8);
    let facts = Facts::parse(shown);
    let drawn = match shown.get("domain").and_then(Value::as_str).unwrap_or_default() {
        "gripper-strips" => gripper::rows(&facts, room, glyphs),
        "blocksworld-4ops" => blocksworld::rows(&facts, room, glyphs),
        "barman" => barman::rows(&facts, room, glyphs),
        "tyreworld" => tyreworld::rows(&facts, room, glyphs),
        _ => None,
    };
    // A file may use the name of a known domain for anything; without a drawing, list the facts.
    let mut rows = drawn.unwrap_or_else(|| fact_rows(&facts, room));
    rows.extend(goal_rows(glyphs, shown, room));
    if let Some(truth) = truth {
        let words =
            match (truth.get("plan").and_then(Value::as_u64), truth.get("no_plan").and_then(Value::as_str)) {
                (Some(length), _) => format!("a plan from the start takes {length} actions"),
                (None, Some("impossible")) => "no listed actions reach the goal from the start".to_owned(),
                (None, Some(_)) => {
                    let states = truth.get("states").and_then(Value::as_u64).unwrap_or_default();
                    format!("the planner gave up after {states} states; there may be a plan from the start")
                }
                (None, None) => "no plan from the start is known".to_owned(),
            };
        rows.extend(wrap_words(&words, room).into_iter().map(|line| vec![(Role::Muted, line)]));
    }
    rows
}

fn goal_rows(glyphs: &Glyphs, shown: &Value, room: usize) -> Vec<StyledLine> {
    let mut rows = Vec::new();
    let parts = shown.get("subgoals").and_then(Value::as_object);
    let mut parts: Vec<(&str, &Value)> =
        parts.into_iter().flatten().map(|(atom, part)| (atom.as_str(), part)).collect();
    parts.sort_by_key(|(atom, _)| atom.split([' ', '(', ')']).map(natural_key).collect::<Vec<_>>());
    // As many per row as fit: a goal of a dozen parts must leave room for the drawing.
    let (mut row, mut used) = (StyledLine::new(), 0);
    for (atom, part) in parts {
        let text = part.get("text").and_then(Value::as_str).unwrap_or(atom);
        let holds = part["held"] == true;
        let mark = if holds { glyphs.subgoal } else { glyphs.separator };
        let (mark_role, role) = if holds { (Role::Good, Role::Muted) } else { (Role::Muted, Role::Text) };
        let text = truncate(text, room.saturating_sub(2), glyphs.ellipsis);
        let wide = width(&text) + 2;
        if used > 0 && used + 2 + wide > room {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        let gap = if used > 0 { "  " } else { "" };
        used += wide + gap.len();
        row.extend([(mark_role, format!("{gap}{mark} ")), (role, text)]);
    }
    rows.push(row);
    rows
}

/// Lists the facts by predicate: `clear  a, b`, `on  a b, c d`.
fn fact_rows(facts: &Facts<'_>, room: usize) -> Vec<StyledLine> {
    let name_width = facts.0.keys().map(|name| name.len()).max().unwrap_or(0).min(room / 3);
    let mut rows = Vec::new();
    for (name, all) in &facts.0 {
        let words: Vec<String> =
            all.iter().map(|words| words.join("\u{a0}")).filter(|words| !words.is_empty()).collect();
        let text = if words.is_empty() { "holds".to_owned() } else { words.join(", ") };
        for (at, line) in wrap_words(&text, room.saturating_sub(name_width + 2)).into_iter().enumerate() {
            let lead = if at == 0 { truncate(name, name_width, "~") } else { String::new() };
            rows.push(vec![(Role::Muted, format!("{lead:<name_width$}  ")), (Role::Observation, line)]);
        }
    }
    if rows.is_empty() {
        rows.push(vec![(Role::Muted, "no facts".to_owned())]);
    }
    rows
}

/// Returns a text after a label, in as many rows as it needs.
fn labelled_rows(label: &str, role: Role, text: &str, room: usize) -> Vec<StyledLine> {
    let label = truncate(label, room / 2, "~");
    let indent = " ".repeat(width(&label));
    let rows = wrap_words(text, room.saturating_sub(width(&label))).into_iter().enumerate();
    rows.map(|(at, line)| {
        vec![(Role::Muted, if at == 0 { label.clone() } else { indent.clone() }), (role, line)]
    })
    .collect()
}

/// Joins names with commas; returns `none` if there are none.
fn join_or<'a>(names: impl Iterator<Item = &'a str>, none: &str) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { none.to_owned() } else { names.join(", ") }
}
