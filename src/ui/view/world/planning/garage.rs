//! Hubs with their wheels and nuts, the boot, and what is at hand.

use super::{Facts, Framed, Pieces, boxes, field, list, split};
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;

pub(super) fn in_words(facts: &Facts<'_>) -> String {
    format!("at hand: {}", list(facts.of::<1>("have").map(|[thing]| thing), "nothing"))
}

pub(super) fn rows(facts: &Facts<'_>, room: usize, glyphs: &Glyphs) -> Option<Vec<Pieces>> {
    let mut hubs: Vec<&str> = ["on-ground", "not-on-ground"]
        .into_iter()
        .flat_map(|fact| facts.of::<1>(fact).map(|[hub]| hub).collect::<Vec<_>>())
        .collect();
    hubs.sort_by_key(|hub| split(hub));
    hubs.dedup();
    if hubs.is_empty() {
        return None;
    }
    let mut frames: Vec<Framed> = hubs.iter().map(|hub| framed(facts, hub)).collect();
    for (fact, word) in [("isopen", "open"), ("closed", "closed")] {
        for [container] in facts.of::<1>(fact) {
            let inside: Vec<&str> = facts.to("in", container).collect();
            let mut lines: Vec<Pieces> =
                inside.chunks(3).map(|few| vec![(Role::Observation, few.join(" "))]).collect();
            if inside.is_empty() {
                lines.push(vec![(Role::Dim, "empty".to_owned())]);
            }
            let role = if word == "open" { Role::Text } else { Role::Warn };
            frames.push(Framed { title: (role, format!("{container}, {word}")), lines });
        }
    }
    let at_hand: Vec<&str> = facts.of::<1>("have").map(|[thing]| thing).collect();
    let role = if at_hand.is_empty() { Role::Dim } else { Role::Proposal };
    let mut rows = field("at hand  ", role, &list(at_hand.into_iter(), "nothing"), room);
    rows.extend(boxes::rows(&frames, room, 26, glyphs));
    let full: Vec<&str> = facts.of::<1>("inflated").map(|[wheel]| wheel).collect();
    let flat: Vec<&str> = facts.of::<1>("not-inflated").map(|[wheel]| wheel).collect();
    for (word, wheels) in [("inflated", full), ("not inflated", flat)] {
        if !wheels.is_empty() {
            rows.extend(field(&format!("{word}  "), Role::Observation, &wheels.join(", "), room));
        }
    }
    Some(rows)
}

/// A hub with what is on it.
fn framed(facts: &Facts<'_>, hub: &str) -> Framed {
    let up = facts.has("not-on-ground", [hub]);
    let wheel = list(facts.to("on", hub), "no wheel");
    let role = if wheel == "no wheel" { Role::Dim } else { Role::Observation };
    let mut lines: Vec<Pieces> = vec![vec![(role, wheel)]];
    let nuts = |fact: &str| facts.to(fact, hub).map(|nut| format!("{nut} {fact}")).collect::<Vec<_>>();
    let nuts = [nuts("tight"), nuts("loose")].concat();
    let nuts = if nuts.is_empty() { "no nuts".to_owned() } else { nuts.join(", ") };
    lines.push(vec![(Role::Text, nuts)]);
    let fastened = if facts.has("fastened", [hub]) { "fastened" } else { "unfastened" };
    let (role, place) = if up { (Role::Warn, "jacked up") } else { (Role::Dim, "on the ground") };
    lines.push(vec![(Role::Dim, format!("{fastened}, ")), (role, place.to_owned())]);
    Framed { title: (Role::Text, hub.to_owned()), lines }
}
