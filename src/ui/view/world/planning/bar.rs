//! A bar: hands, glasses and shaker on the table, what the taps give, and the recipes.

use super::{Facts, Framed, Pieces, boxes, field, list, split};
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;

/// The hands and what each holds.
fn hands<'a>(facts: &Facts<'a>) -> Vec<(&'a str, Option<&'a str>)> {
    let mut hands: Vec<(&str, Option<&str>)> =
        facts.of::<1>("handempty").map(|[hand]| (hand, None)).collect();
    hands.extend(facts.of::<2>("holding").map(|[hand, vessel]| (hand, Some(vessel))));
    hands.sort_unstable();
    hands
}

pub(super) fn in_words(facts: &Facts<'_>) -> String {
    let held = hands(facts).into_iter().filter_map(|(hand, vessel)| Some(format!("{hand} {}", vessel?)));
    let held: Vec<String> = held.collect();
    if held.is_empty() { "hands free".to_owned() } else { held.join(", ") }
}

pub(super) fn rows(facts: &Facts<'_>, room: usize, glyphs: &Glyphs) -> Option<Vec<Pieces>> {
    let mut vessels: Vec<&str> = facts.of::<1>("ontable").map(|[vessel]| vessel).collect();
    vessels.extend(facts.of::<2>("holding").map(|[_, vessel]| vessel));
    vessels.sort_by_key(|vessel| split(vessel));
    vessels.dedup();
    if vessels.is_empty() {
        return None;
    }
    let hands = hands(facts);
    let mut rows: Vec<Pieces> = Vec::new();
    for (hand, vessel) in &hands {
        let (role, held) = vessel.map_or((Role::Dim, "free"), |vessel| (Role::Proposal, vessel));
        rows.extend(field(&format!("{hand:<6} "), role, held, room));
    }
    let frames: Vec<Framed> = vessels.iter().map(|vessel| framed(facts, &hands, vessel)).collect();
    rows.extend(boxes::rows(&frames, room, 24, glyphs));
    for [tap, drink] in facts.of::<2>("dispenses") {
        rows.extend(field(&format!("{tap} gives "), Role::Observation, drink, room));
    }
    for [mix, first] in facts.of::<2>("cocktail-part1") {
        let second = list(facts.with("cocktail-part2", mix), "nothing");
        rows.extend(field(&format!("{mix} is "), Role::Observation, &format!("{first} + {second}"), room));
    }
    Some(rows)
}

/// A glass or shaker with what is in it and how it is.
fn framed(facts: &Facts<'_>, hands: &[(&str, Option<&str>)], vessel: &str) -> Framed {
    let hand = hands.iter().find(|(_, held)| *held == Some(vessel)).map(|(hand, _)| *hand);
    let title = match hand {
        Some(hand) => (Role::Proposal, format!("{vessel} ({hand})")),
        None => (Role::Text, vessel.to_owned()),
    };
    let inside = list(facts.with("contains", vessel), "empty");
    let role = if inside == "empty" { Role::Dim } else { Role::Observation };
    let mut lines: Vec<Pieces> = vec![vec![(role, inside)]];
    let mut traits = Vec::new();
    if facts.has("clean", [vessel]) {
        traits.push("clean".to_owned());
    }
    let used: Vec<&str> = facts.with("used", vessel).collect();
    if !used.is_empty() {
        traits.push(format!("used for {}", used.join(", ")));
    }
    for (fact, word) in [("unshaked", "to be shaken"), ("shaked", "shaken")] {
        if facts.has(fact, [vessel]) {
            traits.push(word.to_owned());
        }
    }
    if let Some(level) = facts.with("shaker-level", vessel).next() {
        traits.push(format!("level {level}"));
    }
    lines.extend(traits.into_iter().map(|words| vec![(Role::Dim, words)]));
    Framed { title, lines }
}
