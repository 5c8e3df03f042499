//! Draws a bar: hands, glasses and shaker on the table, what the dispensers give, and the recipes.

use super::framed_boxes::{FramedBox, box_rows};
use super::{Facts, cut_row, join_or, labelled_rows, natural_key};
use crate::domain::{PictureGlyphs, PictureRole, PictureRow};
use crate::text::width;

/// Width of the gap between two sentences in a row.
const GAP_COLUMNS: usize = 3;

/// Returns the hands and what each holds.
fn hand_contents<'a>(facts: &Facts<'a>) -> Vec<(&'a str, Option<&'a str>)> {
    let mut hands: Vec<(&str, Option<&str>)> =
        facts.arguments::<1>("handempty").map(|[hand]| (hand, None)).collect();
    hands.extend(facts.arguments::<2>("holding").map(|[hand, vessel]| (hand, Some(vessel))));
    hands.sort_unstable();
    hands
}

/// Returns the scene in a few words.
pub(super) fn one_line_summary(facts: &Facts<'_>) -> String {
    let held =
        hand_contents(facts).into_iter().filter_map(|(hand, vessel)| Some(format!("{hand} {}", vessel?)));
    let held: Vec<String> = held.collect();
    if held.is_empty() { "hands empty".to_owned() } else { held.join(", ") }
}

/// Returns the drawing, or `None` if the facts have nothing to draw.
pub(super) fn rows(facts: &Facts<'_>, room: usize, glyphs: &PictureGlyphs) -> Option<Vec<PictureRow>> {
    let mut vessels: Vec<&str> = facts.arguments::<1>("ontable").map(|[vessel]| vessel).collect();
    vessels.extend(facts.arguments::<2>("holding").map(|[_, vessel]| vessel));
    vessels.sort_by_key(|vessel| natural_key(vessel));
    vessels.dedup();
    if vessels.is_empty() {
        return None;
    }
    let hands = hand_contents(facts);
    let mut rows: Vec<PictureRow> = Vec::new();
    let mut held = PictureRow::new();
    for (at, (hand, vessel)) in hands.iter().enumerate() {
        let gap = if at > 0 { "   " } else { "" };
        let (role, vessel) =
            vessel.map_or((PictureRole::Muted, "free"), |vessel| (PictureRole::Accent, vessel));
        held.extend([(PictureRole::Muted, format!("{gap}{hand}  ")), (role, vessel.to_owned())]);
    }
    rows.push(cut_row(held, room, glyphs));
    let is_held = |vessel: &str| hands.iter().any(|(_, held)| *held == Some(vessel));
    let frames: Vec<FramedBox> =
        vessels.iter().map(|vessel| vessel_box(facts, vessel, is_held(vessel))).collect();
    rows.extend(box_rows(&frames, room, 24, true, glyphs));
    Some(rows)
}

/// Returns what never changes: what the dispensers give, and the recipes.
pub(super) fn reference_rows(facts: &Facts<'_>, room: usize) -> Vec<PictureRow> {
    let given = facts.arguments::<2>("dispenses").map(|[tap, drink]| (tap, "gives", drink.to_owned()));
    let mixed = facts.arguments::<2>("cocktail-part1").map(|[mix, first]| {
        let second = join_or(facts.second_arguments("cocktail-part2", mix), "nothing");
        (mix, "is", format!("{first} + {second}"))
    });
    let mut rows = flow(given.collect(), room);
    rows.extend(flow(mixed.collect(), room));
    rows
}

/// Lays out sentences in columns of equal width, as many per row as fit.
fn flow(sentences: Vec<(&str, &str, String)>, room: usize) -> Vec<PictureRow> {
    let label = |name: &str, verb: &str| format!("{name} {verb} ");
    let columns_of = |(name, verb, text): &(&str, &str, String)| width(&label(name, verb)) + width(text);
    let widest = sentences.iter().map(columns_of).max().unwrap_or(0);
    let per_row = ((room + GAP_COLUMNS) / (widest + GAP_COLUMNS)).max(1);
    if per_row == 1 {
        let rows = sentences.into_iter().flat_map(|(name, verb, text)| {
            labelled_rows(&label(name, verb), PictureRole::Observation, &text, room)
        });
        return rows.collect();
    }
    let rows = sentences.chunks(per_row).map(|group| {
        let mut row = PictureRow::new();
        for (index, sentence) in group.iter().enumerate() {
            let (name, verb, text) = sentence;
            row.push((PictureRole::Muted, label(name, verb)));
            row.push((PictureRole::Observation, text.clone()));
            if index + 1 < group.len() {
                row.push((PictureRole::Text, " ".repeat(widest - columns_of(sentence) + GAP_COLUMNS)));
            }
        }
        row
    });
    rows.collect()
}

/// Returns the box of a glass or shaker: its contents and its state, in short lines, so that three boxes fit side by side. The
/// row of the hands says which one holds it.
fn vessel_box(facts: &Facts<'_>, vessel: &str, is_held: bool) -> FramedBox {
    let title = (if is_held { PictureRole::Accent } else { PictureRole::Text }, vessel.to_owned());
    let inside: Vec<&str> = facts.second_arguments("contains", vessel).collect();
    let mut lines: Vec<PictureRow> =
        inside.iter().map(|drink| vec![(PictureRole::Observation, (*drink).to_owned())]).collect();
    let mut states = Vec::new();
    // What is clean is empty.
    if facts.has("clean", [vessel]) {
        states.push("clean".to_owned());
    } else if inside.is_empty() {
        states.push("empty".to_owned());
    }
    let used: Vec<&str> =
        facts.second_arguments("used", vessel).filter(|drink| !inside.contains(drink)).collect();
    if !used.is_empty() {
        states.push("used for".to_owned());
        states.extend(used.iter().map(|drink| (*drink).to_owned()));
    }
    for (fact, word) in [("unshaked", "not shaken"), ("shaked", "shaken")] {
        if facts.has(fact, [vessel]) {
            states.push(word.to_owned());
        }
    }
    if let Some(level) = facts.second_arguments("shaker-level", vessel).next() {
        states.push(format!("level {level}"));
    }
    lines.extend(states.into_iter().map(|words| vec![(PictureRole::Muted, words)]));
    FramedBox { title, lines }
}
