//! Draws a bar: hands, glasses and shaker on the table, what the dispensers give, and the recipes.

use super::framed_boxes::{FramedBox, box_rows};
use super::{Facts, cut_row, join_or, labelled_rows, natural_key};
use crate::domain::{PictureGlyphs, PictureRole, PictureRow};

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
    let frames: Vec<FramedBox> = vessels.iter().map(|vessel| vessel_box(facts, &hands, vessel)).collect();
    rows.extend(box_rows(&frames, room, 24, glyphs));
    Some(rows)
}

/// Returns what never changes: what the dispensers give, and the recipes.
pub(super) fn reference_rows(facts: &Facts<'_>, room: usize) -> Vec<PictureRow> {
    let mut rows = Vec::new();
    for [tap, drink] in facts.arguments::<2>("dispenses") {
        rows.extend(labelled_rows(&format!("{tap} gives "), PictureRole::Observation, drink, room));
    }
    for [mix, first] in facts.arguments::<2>("cocktail-part1") {
        let second = join_or(facts.second_arguments("cocktail-part2", mix), "nothing");
        let parts = format!("{first} + {second}");
        rows.extend(labelled_rows(&format!("{mix} is "), PictureRole::Observation, &parts, room));
    }
    rows
}

/// Returns the box of a glass or shaker: its contents and its state.
fn vessel_box(facts: &Facts<'_>, hands: &[(&str, Option<&str>)], vessel: &str) -> FramedBox {
    let hand = hands.iter().find(|(_, held)| *held == Some(vessel)).map(|(hand, _)| *hand);
    let title = match hand {
        Some(hand) => (PictureRole::Accent, format!("{vessel} ({hand})")),
        None => (PictureRole::Text, vessel.to_owned()),
    };
    let inside = join_or(facts.second_arguments("contains", vessel), "empty");
    let role = if inside == "empty" { PictureRole::Muted } else { PictureRole::Observation };
    let mut first = vec![(role, inside)];
    if facts.has("clean", [vessel]) {
        first.push((PictureRole::Muted, ", clean".to_owned()));
    }
    let mut lines: Vec<PictureRow> = vec![first];
    let mut traits = Vec::new();
    let used: Vec<&str> = facts.second_arguments("used", vessel).collect();
    if !used.is_empty() {
        traits.push(format!("used for {}", used.join(", ")));
    }
    for (fact, word) in [("unshaked", "to be shaken"), ("shaked", "shaken")] {
        if facts.has(fact, [vessel]) {
            traits.push(word.to_owned());
        }
    }
    if let Some(level) = facts.second_arguments("shaker-level", vessel).next() {
        traits.push(format!("level {level}"));
    }
    lines.extend(traits.into_iter().map(|words| vec![(PictureRole::Muted, words)]));
    FramedBox { title, lines }
}
