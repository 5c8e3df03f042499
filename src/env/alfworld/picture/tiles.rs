//! The places of a household as tiles, in the order in which the room lists them.
//!
//! Tiles share their frames; the name is on the upper edge, the contents are below it. A tile that the agent hasn't looked
//! at is only an edge with a name where rows are scarce, and is left out and counted if there is no room for it.

use super::known::{KnownPlace, KnownWorld};
use super::pieces::{Piece, fit_pieces, row_count};
use super::{MAX_TEXT_ROWS, add_unseen, goal_pieces, held_pieces, item_pieces_of, labelled, place_pieces};
use crate::domain::{PictureGlyphs, PictureRequest, PictureRole, PictureRow};
use crate::text::{truncate, width};

/// Smallest and largest width of a tile, with its left edge.
const MIN_TILE: usize = 19;
const MAX_TILE: usize = 30;
/// Columns of a tile's left edge and of the spaces beside its contents.
const EDGE_COLUMNS: usize = 3;

/// One place and what is known about it.
struct Tile<'a> {
    place: &'a KnownPlace<'a>,
    is_in_goal: bool,
    /// Whether anything but its name is known.
    is_known: bool,
    contents: Vec<Piece>,
}

/// What tiles show, from much to little.
#[derive(Clone, Copy)]
struct Density {
    /// Whether places that the agent hasn't looked at have tiles.
    has_unseen: bool,
    /// Maximum number of rows of a tile's contents.
    content_rows: usize,
}

/// Where there is room, each tile has at least this many rows below its upper edge, also without contents.
const SPARE_TILE_ROWS: usize = 3;
/// The rows around the tiles: an empty one above, the legend, and an empty one.
const ROWS_AROUND: usize = 3;

/// What to try, in this order.
const DENSITIES: [Density; 7] = [
    Density { has_unseen: true, content_rows: MAX_TEXT_ROWS },
    Density { has_unseen: true, content_rows: 4 },
    Density { has_unseen: true, content_rows: 3 },
    Density { has_unseen: true, content_rows: 2 },
    Density { has_unseen: false, content_rows: 3 },
    Density { has_unseen: false, content_rows: 2 },
    Density { has_unseen: false, content_rows: 1 },
];

/// Tiles side by side.
type Group<'t, 'a> = &'t [&'t Tile<'a>];

/// How the tiles are laid out.
struct TileLayout<'t, 'a> {
    tiles: Vec<&'t Tile<'a>>,
    /// Number of tiles side by side.
    per_row: usize,
    /// Width of a tile, with its left edge.
    tile_columns: usize,
    /// Maximum number of rows of a tile's contents.
    content_rows: usize,
    /// Number of rows below the upper edge that each tile has at least.
    least_rows: usize,
    glyphs: &'static PictureGlyphs,
}

/// Returns the rows: goal, place and what the agent holds, then the tiles.
pub(super) fn rows(request: &PictureRequest<'_>, known: &KnownWorld<'_>) -> Vec<PictureRow> {
    let glyphs = request.glyphs();
    let mut rows = Vec::new();
    if !request.goal.is_empty() {
        rows.extend(labelled("goal   ", &goal_pieces(request.goal, known), request.columns, glyphs));
    }
    rows.extend(labelled("agent  ", &agent_pieces(known, glyphs), request.columns, glyphs));
    if known.places.is_empty() {
        return rows;
    }
    let tiles: Vec<Tile<'_>> = known.places.iter().map(|place| Tile::new(place, known)).collect();
    let all_known = tiles.iter().all(|tile| tile.is_known);
    let room = request.rows.saturating_sub(rows.len());
    let fitting = DENSITIES.iter().find_map(|density| {
        let room = room.saturating_sub(usize::from(!density.has_unseen && !all_known));
        let layout = TileLayout::fitting(&tiles, *density, request.columns, room, glyphs)?;
        Some((*density, layout))
    });
    let [.., densest] = DENSITIES;
    let (density, mut layout) = fitting.unwrap_or_else(|| {
        (densest, TileLayout::new(&tiles, densest, request.columns, request.columns / MIN_TILE, glyphs))
    });
    layout.use_spare_rows(room.saturating_sub(ROWS_AROUND));
    let spare = room.saturating_sub(layout.height());
    if spare > 2 {
        rows.push(Vec::new());
    }
    rows.extend(layout.rows());
    if !density.has_unseen {
        add_unseen(&mut rows, request, known);
    } else if !all_known && spare > 1 {
        rows.push(legend(glyphs));
    }
    rows
}

/// Returns what the marks of the tiles mean.
fn legend(glyphs: &PictureGlyphs) -> PictureRow {
    vec![
        (PictureRole::Frame, format!(" {0}{0}", glyphs.unseen)),
        (PictureRole::Muted, " not seen   ".to_owned()),
        (PictureRole::Agent, glyphs.pointer.to_owned()),
        (PictureRole::Muted, " agent   ".to_owned()),
        (PictureRole::Goal, "named in the goal".to_owned()),
    ]
}

/// Returns where the agent is and what it holds.
fn agent_pieces(known: &KnownWorld<'_>, glyphs: &PictureGlyphs) -> Vec<Piece> {
    let place = match (known.room, known.agent_place) {
        (Some(room), Some(place)) => format!("{room} {} at {place}", glyphs.separator),
        (None, Some(place)) => format!("at {place}"),
        (room, None) => format!("in the middle of the {}", room.unwrap_or("room")),
    };
    let mut pieces: Vec<Piece> =
        place.split_whitespace().map(|word| Piece::word(PictureRole::Text, word)).collect();
    pieces.extend([glyphs.separator, "holding"].map(|word| Piece::word(PictureRole::Muted, word)));
    pieces.extend(held_pieces(known));
    pieces
}

impl<'t, 'a> TileLayout<'t, 'a> {
    fn new(
        tiles: &'t [Tile<'a>],
        density: Density,
        columns: usize,
        per_row: usize,
        glyphs: &'static PictureGlyphs,
    ) -> Self {
        let tiles = tiles.iter().filter(|tile| density.has_unseen || tile.is_known).collect();
        let per_row = per_row.max(1);
        let tile_columns = (columns.saturating_sub(1) / per_row).clamp(EDGE_COLUMNS + 1, MAX_TILE);
        Self { tiles, per_row, tile_columns, content_rows: density.content_rows, least_rows: 0, glyphs }
    }

    /// Returns the layout with the fewest tiles side by side that fits: wide tiles are easier to read. There are enough of
    /// them that every tile could have contents, so that few tiles move to another row of tiles when places are looked at.
    fn fitting(
        tiles: &'t [Tile<'a>],
        density: Density,
        columns: usize,
        rows: usize,
        glyphs: &'static PictureGlyphs,
    ) -> Option<Self> {
        let usable = columns.saturating_sub(1);
        let most = usable / MIN_TILE;
        let count = tiles.iter().filter(|tile| density.has_unseen || tile.is_known).count();
        let enough = count.div_ceil((rows.saturating_sub(1) / 2).max(1)).min(most);
        let fewest = usable.div_ceil(MAX_TILE).max(enough).max(1);
        (fewest..=most)
            .map(|per_row| Self::new(tiles, density, columns, per_row, glyphs))
            .find(|layout| layout.height() <= rows)
    }

    /// Makes low tiles higher, by at most [`SPARE_TILE_ROWS`], while all of them fit into `rows` rows. Where a place fills its tile later,
    /// the rows for that come from the others.
    fn use_spare_rows(&mut self, rows: usize) {
        while self.least_rows < SPARE_TILE_ROWS {
            self.least_rows += 1;
            if self.height() > rows {
                self.least_rows -= 1;
                return;
            }
        }
    }

    /// Returns the number of rows.
    fn height(&self) -> usize {
        let groups = self.tiles.chunks(self.per_row);
        groups.map(|group| 1 + self.needed_rows(group).max(self.least_rows)).sum::<usize>() + 1
    }

    /// Returns the number of rows below the upper edge that the contents of tiles side by side need.
    fn needed_rows(&self, group: Group<'_, '_>) -> usize {
        let columns = self.content_columns();
        group.iter().map(|tile| row_count(&tile.contents, columns, self.content_rows)).max().unwrap_or(0)
    }

    /// Returns the width of a tile's contents.
    fn content_columns(&self) -> usize {
        self.tile_columns - EDGE_COLUMNS
    }

    /// Returns the rows of all tiles.
    fn rows(&self) -> Vec<PictureRow> {
        let mut rows = Vec::new();
        let mut above: Group<'_, '_> = &[];
        for group in self.tiles.chunks(self.per_row) {
            rows.push(self.edge_row(above, group));
            let columns = self.content_columns();
            let contents: Vec<Vec<PictureRow>> = group
                .iter()
                .map(|tile| fit_pieces(&tile.contents, columns, self.content_rows, self.glyphs))
                .collect();
            let needed = self.needed_rows(group);
            let lines = 0..needed.max(self.least_rows);
            rows.extend(lines.map(|line| self.content_row(group, &contents, line, line >= needed)));
            above = group;
        }
        if !above.is_empty() {
            rows.push(self.edge_row(above, &[]));
        }
        rows
    }

    /// Returns the edge between two rows of tiles, with the names of those below it.
    fn edge_row(&self, above: Group<'_, '_>, below: Group<'_, '_>) -> PictureRow {
        let count = above.len().max(below.len());
        let mut row = PictureRow::new();
        for at in 0..=count {
            let arms = usize::from(!above.is_empty() && at <= above.len())
                | usize::from(at < count) << 1
                | usize::from(!below.is_empty() && at <= below.len()) << 2
                | usize::from(at > 0) << 3;
            let is_beside_agent = [above, below].iter().any(|group| is_beside_agent(group, at));
            row.push((edge_role(is_beside_agent), self.glyphs.box_drawing[arms].to_owned()));
            if at < count {
                row.extend(self.upper_edge(above.get(at).copied(), below.get(at).copied()));
            }
        }
        row
    }

    /// Returns the part of an edge below one tile and above another, which has its name and whether it is open.
    fn upper_edge(&self, above: Option<&Tile<'_>>, below: Option<&Tile<'_>>) -> PictureRow {
        let columns = self.tile_columns - 1;
        let line = self.glyphs.box_drawing[2 | 8];
        let is_agent = [above, below].iter().flatten().any(|tile| tile.place.is_agent_here);
        let role = edge_role(is_agent);
        let Some(tile) = below else { return vec![(role, line.repeat(columns))] };
        let (mark_role, mark) = if tile.place.is_agent_here {
            (PictureRole::Agent, format!("{} ", self.glyphs.pointer))
        } else {
            (PictureRole::Frame, " ".to_owned())
        };
        let max_name = columns.saturating_sub(width(&mark) + 1);
        let name = truncate(tile.place.name, max_name, self.glyphs.ellipsis);
        let mut room = max_name.saturating_sub(width(&name));
        let state = tile.edge_state().filter(|state| width(state) < room);
        room -= state.map_or(0, |state| width(state) + 1);
        let (fill_role, fill) =
            if tile.is_known { (role, line) } else { (PictureRole::Frame, self.glyphs.unseen) };
        let gap = if room > 1 && state.is_some() { " " } else { "" };
        let mut edge = vec![
            (mark_role, mark),
            (tile.name_role(), name),
            (PictureRole::Muted, " ".to_owned()),
            (fill_role, fill.repeat(room - gap.len())),
        ];
        edge.extend(state.map(|state| (PictureRole::Muted, format!("{gap}{state} "))));
        edge
    }

    /// Returns one row of the contents of tiles side by side. A spare one is empty: many places that weren't seen would be a wall.
    fn content_row(
        &self,
        group: Group<'_, '_>,
        contents: &[Vec<PictureRow>],
        line: usize,
        is_spare: bool,
    ) -> PictureRow {
        let vertical = self.glyphs.box_drawing[1 | 4];
        let mut row = PictureRow::new();
        for (at, (tile, lines)) in group.iter().zip(contents).enumerate() {
            row.push((edge_role(is_beside_agent(group, at)), vertical.to_owned()));
            let columns = self.tile_columns - 1;
            if !tile.is_known && !is_spare {
                row.push((PictureRole::Frame, self.glyphs.unseen.repeat(columns)));
                continue;
            }
            let pieces = lines.get(line).map(Vec::as_slice).unwrap_or_default();
            let used: usize = pieces.iter().map(|(_, text)| width(text)).sum();
            row.push((PictureRole::Muted, " ".to_owned()));
            row.extend_from_slice(pieces);
            row.push((PictureRole::Muted, " ".repeat(columns.saturating_sub(used + 1))));
        }
        row.push((edge_role(is_beside_agent(group, group.len())), vertical.to_owned()));
        row
    }
}

/// Returns whether the edge before the tile `at` is one of the tile where the agent is.
fn is_beside_agent(group: Group<'_, '_>, at: usize) -> bool {
    let is_agent = |at: usize| group.get(at).is_some_and(|tile| tile.place.is_agent_here);
    is_agent(at) || at.checked_sub(1).is_some_and(is_agent)
}

/// Returns the role of an edge.
fn edge_role(is_agent: bool) -> PictureRole {
    if is_agent { PictureRole::Agent } else { PictureRole::Frame }
}

impl<'a> Tile<'a> {
    fn new(place: &'a KnownPlace<'a>, known: &KnownWorld<'_>) -> Self {
        let is_known = place.is_seen || known.is_truth;
        let contents = match place.is_open {
            _ if !is_known => Vec::new(),
            // That it is open is on the edge.
            Some(true) if place.items.is_empty() => vec![Piece::word(PictureRole::Muted, "empty")],
            Some(true) => item_pieces_of(place, known),
            _ => place_pieces(place, known),
        };
        Self { place, is_in_goal: known.is_in_goal(place.name), is_known, contents }
    }

    fn name_role(&self) -> PictureRole {
        match (self.is_in_goal, self.place.is_agent_here, self.is_known) {
            (true, ..) => PictureRole::Goal,
            (false, true, _) => PictureRole::Title,
            (false, false, true) => PictureRole::Text,
            (false, false, false) => PictureRole::Muted,
        }
    }

    /// Returns the word at the right end of the upper edge.
    fn edge_state(&self) -> Option<&'static str> {
        (self.is_known && self.place.is_open == Some(true)).then_some("open")
    }
}
