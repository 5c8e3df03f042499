//! Draws hubs with their wheels and nuts, the boot, and what is at hand.

use super::framed_boxes::{FramedBox, box_rows};
use super::{Facts, join_or, labelled_rows, natural_key};
use crate::domain::{PictureGlyphs, PictureRole, PictureRow};

/// Returns the scene in a few words.
pub(super) fn one_line_summary(facts: &Facts<'_>) -> String {
    format!("at hand: {}", join_or(facts.arguments::<1>("have").map(|[thing]| thing), "nothing"))
}

/// Returns the drawing, or `None` if the facts have nothing to draw.
pub(super) fn rows(facts: &Facts<'_>, max_width: usize, glyphs: &PictureGlyphs) -> Option<Vec<PictureRow>> {
    let mut hubs: Vec<&str> = ["on-ground", "not-on-ground"]
        .into_iter()
        .flat_map(|fact| facts.arguments::<1>(fact).map(|[hub]| hub).collect::<Vec<_>>())
        .collect();
    hubs.sort_by_key(|hub| natural_key(hub));
    hubs.dedup();
    if hubs.is_empty() {
        return None;
    }
    let mut frames: Vec<FramedBox> = hubs.iter().map(|hub| hub_box(facts, hub)).collect();
    for (fact, word) in [("isopen", "open"), ("closed", "closed")] {
        for [container] in facts.arguments::<1>(fact) {
            let inside: Vec<&str> = facts.first_arguments("in", container).collect();
            let mut lines: Vec<PictureRow> =
                inside.chunks(3).map(|few| vec![(PictureRole::Observation, few.join(" "))]).collect();
            if inside.is_empty() {
                lines.push(vec![(PictureRole::Muted, "empty".to_owned())]);
            }
            let role = if word == "open" { PictureRole::Text } else { PictureRole::Warning };
            frames.push(FramedBox { title: (role, format!("{container}, {word}")), lines });
        }
    }
    let at_hand: Vec<&str> = facts.arguments::<1>("have").map(|[thing]| thing).collect();
    let role = if at_hand.is_empty() { PictureRole::Muted } else { PictureRole::Accent };
    let mut rows = labelled_rows("at hand  ", role, &join_or(at_hand.into_iter(), "nothing"), max_width);
    rows.extend(box_rows(&frames, max_width, 26, false, glyphs));
    let full: Vec<&str> = facts.arguments::<1>("inflated").map(|[wheel]| wheel).collect();
    let flat: Vec<&str> = facts.arguments::<1>("not-inflated").map(|[wheel]| wheel).collect();
    for (word, wheels) in [("inflated", full), ("not inflated", flat)] {
        if !wheels.is_empty() {
            rows.extend(labelled_rows(
                &format!("{word}  "),
                PictureRole::Observation,
                &wheels.join(", "),
                max_width,
            ));
        }
    }
    Some(rows)
}

/// Returns the box of a hub.
fn hub_box(facts: &Facts<'_>, hub: &str) -> FramedBox {
    let up = facts.has("not-on-ground", [hub]);
    let wheel = join_or(facts.first_arguments("on", hub), "no wheel");
    let role = if wheel == "no wheel" { PictureRole::Muted } else { PictureRole::Observation };
    let mut lines: Vec<PictureRow> = vec![vec![(role, wheel)]];
    let nuts =
        |fact: &str| facts.first_arguments(fact, hub).map(|nut| format!("{nut} {fact}")).collect::<Vec<_>>();
    let nuts = [nuts("tight"), nuts("loose")].concat();
    let nuts = if nuts.is_empty() { "no nuts".to_owned() } else { nuts.join(", ") };
    lines.push(vec![(PictureRole::Text, nuts)]);
    let fastened = if facts.has("fastened", [hub]) { "fastened" } else { "unfastened" };
    let (role, place) =
        if up { (PictureRole::Warning, "jacked up") } else { (PictureRole::Muted, "on the ground") };
    lines.push(vec![(PictureRole::Muted, format!("{fastened}, ")), (role, place.to_owned())]);
    FramedBox { title: (PictureRole::Text, hub.to_owned()), lines }
}
