//! Draws rooms with balls, and the robot with its grippers.

use super::framed_boxes::{FramedBox, box_rows};
use super::{Facts, join_or};
use crate::domain::{PictureGlyphs, PictureRole, PictureRow};

/// Returns what each gripper carries.
fn hand_contents<'a>(facts: &Facts<'a>) -> Vec<(&'a str, Option<&'a str>)> {
    facts
        .arguments::<1>("gripper")
        .map(|[hand]| (hand, facts.first_arguments("carry", hand).next()))
        .collect()
}

/// Returns the scene in a few words.
pub(super) fn one_line_summary(facts: &Facts<'_>) -> String {
    let at = facts.arguments::<1>("at-robby").next().map_or("nowhere", |[room]| room);
    let held: Vec<&str> = hand_contents(facts).into_iter().filter_map(|(_, ball)| ball).collect();
    format!("Robby at {at}, carrying {}", join_or(held.into_iter(), "nothing"))
}

/// Returns the drawing, or `None` if the facts have nothing to draw.
pub(super) fn rows(facts: &Facts<'_>, room: usize, glyphs: &PictureGlyphs) -> Option<Vec<PictureRow>> {
    let mut rooms = Vec::new();
    for [name] in facts.arguments::<1>("room") {
        let here = facts.has("at-robby", [name]);
        let balls: Vec<&str> = facts.first_arguments("at", name).collect();
        let mut lines: Vec<PictureRow> = Vec::new();
        for few in balls.chunks(3) {
            lines.push(vec![(PictureRole::Observation, few.join(" "))]);
        }
        if balls.is_empty() {
            lines.push(vec![(PictureRole::Muted, "no balls".to_owned())]);
        }
        if here {
            lines.push(vec![(PictureRole::Accent, format!("{} Robby", glyphs.pointer))]);
            for (hand, ball) in hand_contents(facts) {
                let (role, held) =
                    ball.map_or((PictureRole::Muted, "free"), |ball| (PictureRole::Accent, ball));
                lines.push(vec![(PictureRole::Muted, format!("  {hand:<6} ")), (role, held.to_owned())]);
            }
        }
        let role = if here { PictureRole::Title } else { PictureRole::Text };
        rooms.push(FramedBox { title: (role, name.to_owned()), lines });
    }
    (!rooms.is_empty()).then(|| box_rows(&rooms, room, 24, false, glyphs))
}
