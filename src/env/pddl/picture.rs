//! Draws planning problems: blocks as towers; rooms, bars and wheels as boxes; anything else as facts. The parts of
//! the goal have a tick if they hold.

mod barman;
mod blocksworld;
mod framed_boxes;
mod gripper;
mod tyreworld;

#[cfg(test)]
mod tests;

use crate::domain::{Picture, PictureGlyphs, PictureRequest, PictureRole, PictureRow};
use crate::env::picture::{self, list_values, wrap_words};
use crate::text::{truncate, width};
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The true facts of a problem, by predicate.
struct Facts<'a>(BTreeMap<&'a str, Vec<Vec<&'a str>>>);

impl<'a> Facts<'a> {
    fn parse(facts: &'a Map<String, Value>) -> Self {
        let mut all: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
        for fact in facts.keys() {
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

/// Returns the picture of a planning problem, or a list of what is known if it isn't one.
pub fn draw_picture(request: &PictureRequest<'_>) -> Picture {
    let object = |name: &str| request.shown.get(name).and_then(Value::as_object);
    let (Some(facts), Some(subgoals)) = (object("facts"), object("subgoals")) else {
        return list_values(request);
    };
    let facts = Facts::parse(facts);
    let (columns, glyphs) = (request.columns.max(8), request.glyphs());
    let goal = goal_rows(glyphs, subgoals, columns);
    let drawing_rows = request.rows.saturating_sub(goal.len());
    let mut reference = Vec::new();
    let (scene, drawn) = match request.shown.get("domain").and_then(Value::as_str).unwrap_or_default() {
        "gripper-strips" => (gripper::one_line_summary(&facts), gripper::rows(&facts, columns, glyphs)),
        "blocksworld-4ops" => {
            (blocksworld::one_line_summary(&facts), blocksworld::rows(&facts, columns, drawing_rows, glyphs))
        }
        "barman" => {
            reference = barman::reference_rows(&facts, columns);
            (barman::one_line_summary(&facts), barman::rows(&facts, columns, glyphs))
        }
        "tyreworld" => (tyreworld::one_line_summary(&facts), tyreworld::rows(&facts, columns, glyphs)),
        other => (other.to_owned(), None),
    };
    // The goal comes first, so that no row limit hides it. A file may use the name of a known domain for anything; without a
    // drawing, list the facts.
    let mut rows = goal;
    rows.extend(drawn.unwrap_or_else(|| fact_rows(&facts, columns, glyphs)));
    rows.extend(reference);
    if let Some(truth) = request.truth {
        let lines = wrap_words(&plan_text(truth), columns);
        rows.extend(lines.into_iter().map(|line| vec![(PictureRole::Muted, line)]));
    }
    let summary = held_parts(subgoals, request.progress);
    let one_line = vec![format!("{scene} {} {summary}", glyphs.separator)];
    // The facts are known to the agent; only the length of a plan isn't.
    Picture { summary, one_line, shows_truth: false, rows }
}

/// Returns how many parts of the goal hold, and why the progress is another number: it is the most that held after an action.
fn held_parts(subgoals: &Map<String, Value>, progress: f64) -> String {
    let held = subgoals.values().filter(|part| part["held"] == true).count();
    let most = (progress * subgoals.len() as f64).round() as usize;
    let when = match held.cmp(&most) {
        Ordering::Greater => "from the start".to_owned(),
        Ordering::Equal => "now".to_owned(),
        Ordering::Less => format!("now, best {most}"),
    };
    format!("{held} of {} subgoals hold {when}", subgoals.len())
}

/// Returns what the ground truth says about a plan from the start.
fn plan_text(truth: &Value) -> String {
    match (truth.get("plan").and_then(Value::as_u64), truth.get("no_plan").and_then(Value::as_str)) {
        (Some(length), _) => format!("a plan from the start takes {length} actions"),
        (None, Some("impossible")) => "no listed actions reach the goal from the start".to_owned(),
        (None, Some(_)) => {
            let states = truth.get("states").and_then(Value::as_u64).unwrap_or_default();
            format!("the planner gave up after {states} states; there may be a plan from the start")
        }
        (None, None) => "no plan from the start is known".to_owned(),
    }
}

/// Returns the parts of the goal, each with a mark that tells whether it holds.
fn goal_rows(glyphs: &PictureGlyphs, subgoals: &Map<String, Value>, room: usize) -> Vec<PictureRow> {
    let mut rows = Vec::new();
    let mut parts: Vec<(&str, &Value)> = subgoals.iter().map(|(atom, part)| (atom.as_str(), part)).collect();
    parts.sort_by_key(|(atom, _)| atom.split([' ', '(', ')']).map(natural_key).collect::<Vec<_>>());
    // As many per row as fit: a goal of a dozen parts must leave room for the drawing.
    let (mut row, mut used) = (PictureRow::new(), 0);
    for (atom, part) in parts {
        let text = part.get("text").and_then(Value::as_str).unwrap_or(atom);
        let holds = part["held"] == true;
        let mark = if holds { glyphs.tick } else { glyphs.separator };
        let (mark_role, role) = if holds {
            (PictureRole::Good, PictureRole::Muted)
        } else {
            (PictureRole::Muted, PictureRole::Text)
        };
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
    rows.extend((!row.is_empty()).then_some(row));
    rows
}

/// Maximum number of listed objects; bounds the work per frame.
const MAX_OBJECTS: usize = 200;

/// Lists the facts by their first object: `b1  clear, on b2`. Facts about nothing come first.
fn fact_rows(facts: &Facts<'_>, room: usize, glyphs: &PictureGlyphs) -> Vec<PictureRow> {
    let mut objects: BTreeMap<((&str, u64), &str), Vec<String>> = BTreeMap::new();
    for (predicate, all) in &facts.0 {
        for words in all {
            let (object, others) = words.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
            let text = std::iter::once(predicate).chain(others).copied().collect::<Vec<_>>().join("\u{a0}");
            objects.entry((natural_key(object), object)).or_default().push(text);
        }
    }
    let name_width = objects.keys().map(|(_, name)| width(name)).max().unwrap_or(0).min(room / 3);
    let mut rows = Vec::new();
    for ((_, name), texts) in objects.iter().take(MAX_OBJECTS) {
        let name = truncate(name, name_width, glyphs.ellipsis);
        let padding = " ".repeat(name_width.saturating_sub(width(&name)) + 2);
        let lines = wrap_words(&texts.join(", "), room.saturating_sub(name_width + 2));
        for (at, line) in lines.into_iter().enumerate() {
            let lead = if at == 0 { format!("{name}{padding}") } else { " ".repeat(name_width + 2) };
            rows.push(vec![(PictureRole::Text, lead), (PictureRole::Observation, line)]);
        }
    }
    if objects.len() > MAX_OBJECTS {
        let more = format!("{} {} more objects", glyphs.ellipsis, objects.len() - MAX_OBJECTS);
        rows.push(vec![(PictureRole::Muted, more)]);
    }
    if rows.is_empty() {
        rows.push(vec![(PictureRole::Muted, "no facts".to_owned())]);
    }
    rows
}

/// Returns a text after a label that may be cut.
fn labelled_rows(label: &str, role: PictureRole, text: &str, room: usize) -> Vec<PictureRow> {
    picture::labelled_rows(&truncate(label, room / 2, "~"), role, text, room)
}

/// Cuts a row at the width of the area.
fn cut_row(row: PictureRow, room: usize, glyphs: &PictureGlyphs) -> PictureRow {
    let mut left = room;
    let mut cut = PictureRow::new();
    for (role, text) in row {
        let text = truncate(&text, left, glyphs.ellipsis);
        left -= width(&text);
        cut.push((role, text));
    }
    cut
}

/// Joins names with commas; returns `none` if there are none.
fn join_or<'a>(names: impl Iterator<Item = &'a str>, none: &str) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { none.to_owned() } else { names.join(", ") }
}
