//! The places of a household as a list, for narrow areas.

use super::known::{KnownPlace, KnownWorld};
use super::pieces::{Piece, fit_pieces};
use super::{MAX_TEXT_ROWS, add_unseen, goal_pieces, held_pieces, labelled, place_pieces};
use crate::domain::{PictureGlyphs, PictureRequest, PictureRole, PictureRow};
use crate::text::{truncate, width, width_within};

/// Returns the rows: goal, place and what the agent holds, then the places.
pub(super) fn rows(request: &PictureRequest<'_>, known: &KnownWorld<'_>) -> Vec<PictureRow> {
    let glyphs = request.glyphs();
    let columns = request.columns.max(8);
    let mut rows: Vec<PictureRow> = Vec::new();
    if !request.goal.is_empty() {
        rows.extend(labelled("goal     ", &goal_pieces(request.goal, known), columns, glyphs));
    }
    let place = match (known.room, known.agent_place) {
        (Some(room), Some(at)) => format!("{room} {} {at}", glyphs.separator),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => "in the middle of the room".to_owned(),
    };
    let place: Vec<Piece> =
        place.split_whitespace().map(|word| Piece::word(PictureRole::Text, word)).collect();
    rows.extend(labelled("place    ", &place, columns, glyphs));
    rows.extend(labelled("holding  ", &held_pieces(known), columns, glyphs));
    if known.places.is_empty() {
        return rows;
    }
    rows.push(Vec::new());
    // The agent's place comes first, then places that hold something.
    let mut drawn: Vec<&KnownPlace<'_>> =
        known.places.iter().filter(|place| place.is_seen || known.is_truth).collect();
    drawn.sort_by_key(|place| (!place.is_agent_here, place.items.is_empty()));
    let name_width = drawn.iter().map(|place| width_within(place.name, columns / 2)).max().unwrap_or(0);
    let name_width = name_width.min(columns / 2);
    for place in drawn {
        rows.extend(place_rows(place, known, name_width, columns, glyphs));
    }
    add_unseen(&mut rows, request, known);
    rows
}

/// Returns the rows of one place: a mark if the agent is there, its name, and what is in it.
fn place_rows(
    place: &KnownPlace<'_>,
    known: &KnownWorld<'_>,
    name_width: usize,
    columns: usize,
    glyphs: &PictureGlyphs,
) -> Vec<PictureRow> {
    let mark = if place.is_agent_here { glyphs.pointer } else { " " };
    let role = match (known.is_in_goal(place.name), place.is_agent_here) {
        (true, _) => PictureRole::Goal,
        (false, true) => PictureRole::Title,
        (false, false) => PictureRole::Text,
    };
    let name = truncate(place.name, name_width, glyphs.ellipsis);
    let padding = " ".repeat(name_width.saturating_sub(width(&name)) + 2);
    let contents = place_pieces(place, known);
    let lines = fit_pieces(&contents, columns.saturating_sub(name_width + 4), MAX_TEXT_ROWS, glyphs);
    let mut rows = Vec::new();
    for (at, line) in lines.into_iter().enumerate() {
        let mut row = if at == 0 {
            let padding = (PictureRole::Muted, padding.clone());
            vec![(PictureRole::Agent, format!("{mark} ")), (role, name.clone()), padding]
        } else {
            vec![(PictureRole::Muted, " ".repeat(name_width + 4))]
        };
        row.extend(line);
        rows.push(row);
    }
    rows
}
