//! Draws rooms with balls, and the robot with its grippers.

use super::{Facts, FramedBox, StyledLine, framed_boxes, join_or};
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;

/// Returns what each gripper carries.
fn hand_contents<'a>(facts: &Facts<'a>) -> Vec<(&'a str, Option<&'a str>)> {
    facts
        .arguments::<1>("gripper")
        .map(|[hand]| (hand, facts.first_arguments("carry", hand).next()))
        .collect()
}

pub(super) fn one_line_summary(facts: &Facts<'_>) -> String {
    let at = facts.arguments::<1>("at-robby").next().map_or("nowhere", |[room]| room);
    let held: Vec<&str> = hand_contents(facts).into_iter().filter_map(|(_, ball)| ball).collect();
    format!("Robby at {at}, carrying {}", join_or(held.into_iter(), "nothing"))
}

pub(super) fn rows(facts: &Facts<'_>, room: usize, glyphs: &Glyphs) -> Option<Vec<StyledLine>> {
    let mut rooms = Vec::new();
    for [name] in facts.arguments::<1>("room") {
        let here = facts.has("at-robby", [name]);
        let balls: Vec<&str> = facts.first_arguments("at", name).collect();
        let mut lines: Vec<StyledLine> = Vec::new();
        for few in balls.chunks(3) {
            lines.push(vec![(Role::Observation, few.join(" "))]);
        }
        if balls.is_empty() {
            lines.push(vec![(Role::Muted, "no balls".to_owned())]);
        }
        if here {
            lines.push(vec![(Role::Proposal, format!("{} Robby", glyphs.proposal))]);
            for (hand, ball) in hand_contents(facts) {
                let (role, held) = ball.map_or((Role::Muted, "free"), |ball| (Role::Proposal, ball));
                lines.push(vec![(Role::Muted, format!("  {hand:<6} ")), (role, held.to_owned())]);
            }
        }
        let role = if here { Role::Title } else { Role::Text };
        rooms.push(FramedBox { title: (role, name.to_owned()), lines });
    }
    (!rooms.is_empty()).then(|| framed_boxes::box_rows(&rooms, room, 24, glyphs))
}
