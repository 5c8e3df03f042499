//! The picture of a household: where the agent is, what it holds, and what it saw where.
//!
//! In a wide area each place is a tile, in the order in which the room lists them, so that the picture fills in while
//! the agent looks around. In a narrow area the places are a list. Every thing that the agent has seen is shown, or
//! counted as `+3`.

mod known;
mod list;
mod pieces;
#[cfg(test)]
mod tests;
mod tiles;

use crate::domain::{Picture, PictureGlyphs, PictureRequest, PictureRole, PictureRow};
use known::{KnownPlace, KnownWorld};
use pieces::{Piece, fit_pieces};

/// Smallest width for tiles.
const TILE_COLUMNS: usize = 50;
/// Maximum number of rows of a place or of a labelled text.
const MAX_TEXT_ROWS: usize = 12;

/// Returns the picture of a household.
pub fn draw_picture(request: &PictureRequest<'_>) -> Picture {
    let known = KnownWorld::parse(request);
    let all = known.places.len();
    let seen = known.places.iter().filter(|place| place.is_seen).count();
    let one_line = one_line_variants(&known, seen, request.glyphs().separator);
    let rows = if request.columns >= TILE_COLUMNS {
        tiles::rows(request, &known)
    } else {
        list::rows(request, &known)
    };
    Picture {
        summary: if all > 0 { format!("{seen} of {all} places seen") } else { String::new() },
        one_line,
        shows_truth: request.truth.is_some(),
        rows,
    }
}

/// Returns one-line summaries from long to short; the shorter ones leave out what can be seen elsewhere.
fn one_line_variants(known: &KnownWorld<'_>, seen: usize, separator: &str) -> Vec<String> {
    let all = known.places.len();
    let room = known.room.map(str::to_owned);
    let at = known.agent_place.map(|place| format!("at {place}"));
    let holding = (!known.holding.is_empty()).then(|| format!("holding {}", known.holding.join(", ")));
    let long = (all > 0).then(|| format!("{seen} of {all} places seen"));
    let short = (all > 0).then(|| format!("{seen}/{all} seen"));
    let variants = [
        vec![room.clone(), at.clone(), holding.clone(), long],
        vec![room, at.clone(), holding.clone(), short.clone()],
        vec![at.clone(), holding.clone(), short],
        vec![at, holding],
    ];
    let separator = format!(" {separator} ");
    let join = |parts: Vec<Option<String>>| parts.into_iter().flatten().collect::<Vec<_>>().join(&separator);
    variants.into_iter().map(join).collect()
}

/// Returns the goal's words; those that name a known thing or place are marked.
fn goal_pieces(goal: &str, known: &KnownWorld<'_>) -> Vec<Piece> {
    let role = |word: &str| {
        if known.is_named_in_goal(word) { PictureRole::Goal } else { PictureRole::Text }
    };
    goal.split_whitespace().map(|word| Piece::word(role(word), word)).collect()
}

/// Returns what the agent holds.
fn held_pieces(known: &KnownWorld<'_>) -> Vec<Piece> {
    if known.holding.is_empty() {
        return vec![Piece::word(PictureRole::Muted, "nothing")];
    }
    let role = |name: &str| {
        if known.is_in_goal(name) { PictureRole::Goal } else { PictureRole::Accent }
    };
    item_pieces(known.holding.iter().map(|name| (role(name), *name)))
}

/// Returns what is known about a place: its state and the things in it, those of the goal first.
fn place_pieces(place: &KnownPlace<'_>, known: &KnownWorld<'_>) -> Vec<Piece> {
    let state = |role, text| vec![Piece::word(role, text)];
    let mut pieces = match (place.is_open, place.items.is_empty()) {
        (Some(false), true) => return state(PictureRole::Warning, "closed"),
        (Some(true), true) => return state(PictureRole::Muted, "open, empty"),
        (None, true) => return state(PictureRole::Muted, "empty"),
        // Known from before it was closed, or from the ground truth.
        (Some(false), false) => state(PictureRole::Warning, "closed:"),
        (Some(true), false) => state(PictureRole::Muted, "open:"),
        (None, false) => Vec::new(),
    };
    pieces.extend(item_pieces_of(place, known));
    pieces
}

/// Returns the things in a place, those of the goal first.
fn item_pieces_of(place: &KnownPlace<'_>, known: &KnownWorld<'_>) -> Vec<Piece> {
    let (wanted, others): (Vec<&str>, Vec<&str>) =
        place.items.iter().partition(|name| known.is_in_goal(name));
    let wanted = wanted.into_iter().map(|name| (PictureRole::Goal, name));
    let others = others.into_iter().map(|name| (PictureRole::Observation, name));
    item_pieces(wanted.chain(others))
}

/// Returns the names of things, with commas between them.
fn item_pieces<'a>(items: impl Iterator<Item = (PictureRole, &'a str)>) -> Vec<Piece> {
    with_commas(items.map(|(role, name)| Piece::item(role, name)).collect())
}

fn with_commas(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let all = pieces.len();
    pieces.iter_mut().take(all.saturating_sub(1)).for_each(Piece::add_comma);
    pieces
}

/// Returns the places that aren't drawn, counted by kind, those of the goal first: `26 not seen: fridge, cabinet ×10`. Returns an
/// empty list if there are none.
fn unseen_pieces(known: &KnownWorld<'_>, is_ascii: bool) -> Vec<Piece> {
    let kinds = known.unseen_kinds();
    let all: usize = kinds.iter().map(|(_, count)| count).sum();
    if all == 0 {
        return Vec::new();
    }
    let times = if is_ascii { 'x' } else { '×' };
    let mut pieces = vec![Piece::word(PictureRole::Muted, &format!("{all} not seen:"))];
    let piece = |(kind, count): (&str, usize)| {
        let name = if count > 1 { format!("{kind} {times}{count}") } else { kind.to_owned() };
        let role = if known.is_in_goal(kind) { PictureRole::Goal } else { PictureRole::Muted };
        Piece::items(role, &name, count)
    };
    pieces.extend(with_commas(kinds.into_iter().map(piece).collect()));
    pieces
}

/// Returns pieces after a label, in as many rows as they need up to a limit.
fn labelled(label: &str, pieces: &[Piece], columns: usize, glyphs: &PictureGlyphs) -> Vec<PictureRow> {
    let indent = label.len();
    let lines = fit_pieces(pieces, columns.saturating_sub(indent), MAX_TEXT_ROWS, glyphs);
    let lead = |at: usize| if at == 0 { label.to_owned() } else { " ".repeat(indent) };
    let with_lead = |(at, line): (usize, PictureRow)| {
        std::iter::once((PictureRole::Muted, lead(at))).chain(line).collect()
    };
    lines.into_iter().enumerate().map(with_lead).collect()
}

/// Appends the places that aren't drawn: in all rows that it needs if the area has them, else in one.
fn add_unseen(rows: &mut Vec<PictureRow>, request: &PictureRequest<'_>, known: &KnownWorld<'_>) {
    let pieces = unseen_pieces(known, request.is_ascii);
    if pieces.is_empty() {
        return;
    }
    let spare = request.rows.saturating_sub(rows.len());
    if spare > 1 && rows.last().is_some_and(|row| !row.is_empty()) {
        rows.push(Vec::new());
    }
    let max_rows = request.rows.saturating_sub(rows.len()).clamp(1, MAX_TEXT_ROWS);
    rows.extend(fit_pieces(&pieces, request.columns, max_rows, request.glyphs()));
}
