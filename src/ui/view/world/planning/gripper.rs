//! Rooms with balls, and the robot with its hands.

use super::{Facts, Framed, Pieces, boxes, list};
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;

/// What each hand carries.
fn hands<'a>(facts: &Facts<'a>) -> Vec<(&'a str, Option<&'a str>)> {
    facts.of::<1>("gripper").map(|[hand]| (hand, facts.to("carry", hand).next())).collect()
}

pub(super) fn in_words(facts: &Facts<'_>) -> String {
    let at = facts.of::<1>("at-robby").next().map_or("nowhere", |[room]| room);
    let held: Vec<&str> = hands(facts).into_iter().filter_map(|(_, ball)| ball).collect();
    format!("Robby at {at}, carrying {}", list(held.into_iter(), "nothing"))
}

pub(super) fn rows(facts: &Facts<'_>, room: usize, glyphs: &Glyphs) -> Option<Vec<Pieces>> {
    let mut rooms = Vec::new();
    for [name] in facts.of::<1>("room") {
        let here = facts.has("at-robby", [name]);
        let balls: Vec<&str> = facts.to("at", name).collect();
        let mut lines: Vec<Pieces> = Vec::new();
        for few in balls.chunks(3) {
            lines.push(vec![(Role::Observation, few.join(" "))]);
        }
        if balls.is_empty() {
            lines.push(vec![(Role::Dim, "no balls".to_owned())]);
        }
        if here {
            lines.push(vec![(Role::Proposal, format!("{} Robby", glyphs.proposal))]);
            for (hand, ball) in hands(facts) {
                let (role, held) = ball.map_or((Role::Dim, "free"), |ball| (Role::Proposal, ball));
                lines.push(vec![(Role::Dim, format!("  {hand:<6} ")), (role, held.to_owned())]);
            }
        }
        let role = if here { Role::Title } else { Role::Text };
        rooms.push(Framed { title: (role, name.to_owned()), lines });
    }
    (!rooms.is_empty()).then(|| boxes::rows(&rooms, room, 24, glyphs))
}
