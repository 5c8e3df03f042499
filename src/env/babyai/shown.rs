//! What the agent may know: the cells it has seen as it last saw them, its position, and the carried object.

use super::grid_state::GridState;
use super::level_start::LevelStart;
use super::thing::{CellCode, DoorState, Kind, Pose, Thing};
use super::view::{Image, VIEW_SIDE, offset_in_view};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Writes a cell as two characters: content and colour.
///
/// Two spaces: not seen. `. `: empty. `##`: wall. Otherwise the first character is `k` key, `o` ball, `b` box, `/`
/// open, `|` closed or `!` locked door, and the second is the first letter of the colour, with `e` for grey.
pub(super) fn write_cell(code: CellCode, out: &mut String) {
    let Some(kind) = code.kind() else {
        out.push_str(match code {
            CellCode::UNSEEN => "  ",
            CellCode::WALL => "##",
            _ => ". ",
        });
        return;
    };
    out.push(match (kind, code.door_state()) {
        (Kind::Key, _) => 'k',
        (Kind::Ball, _) => 'o',
        (Kind::Box, _) => 'b',
        (Kind::Door, DoorState::Open) => '/',
        (Kind::Door, DoorState::Closed) => '|',
        (Kind::Door, DoorState::Locked) => '!',
    });
    out.push(match code.colour() {
        super::thing::Colour::Red => 'r',
        super::thing::Colour::Green => 'g',
        super::thing::Colour::Blue => 'b',
        super::thing::Colour::Purple => 'p',
        super::thing::Colour::Yellow => 'y',
        super::thing::Colour::Grey => 'e',
    });
}

/// Returns the text of the given rows, keyed by row number.
pub(super) fn rows_json(
    width: i16,
    row_numbers: impl Iterator<Item = i16>,
    code: impl Fn(usize) -> CellCode,
) -> Value {
    let width = width as usize;
    let mut rows = Map::new();
    for y in row_numbers {
        let mut row = String::with_capacity(width * 2);
        for x in 0..width {
            write_cell(code(y as usize * width + x), &mut row);
        }
        rows.insert(y.to_string(), row.into());
    }
    Value::Object(rows)
}

/// Returns the name of the carried object, or null.
pub(super) fn carried_json(thing: Option<Thing>) -> Value {
    thing.map(|thing| CellCode::from_thing(thing).name()).into()
}

pub(super) fn pose_json(agent: Pose) -> Value {
    json!([agent.x, agent.y, agent.direction])
}

/// What the agent has seen so far. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    seen: Arc<Vec<CellCode>>,
    agent: Pose,
    carrying: Option<Thing>,
}

impl Shown {
    pub(super) fn new(start: &LevelStart) -> Self {
        Self { seen: Arc::new(vec![CellCode::UNSEEN; start.cells.len()]), agent: start.agent, carrying: None }
    }

    /// Returns everything, as a merge patch against an empty object.
    pub(super) fn full_patch(&mut self, start: &LevelStart, grid: &GridState, image: &Image) -> Value {
        self.record_view(start, grid.agent, image);
        (self.agent, self.carrying) = (grid.agent, grid.carried_thing());
        json!({
            "goal": start.goal,
            "size": [start.width, start.height],
            "agent": pose_json(self.agent),
            "carrying": carried_json(self.carrying),
            "view": visibility_rows(image),
            "rows": rows_json(start.width, 0..start.height, |index| self.seen[index]),
        })
    }

    /// Returns a merge patch of what an observation adds.
    pub(super) fn change_patch(&mut self, start: &LevelStart, grid: &GridState, image: &Image) -> Value {
        let mut patch = Map::new();
        let changed = self.record_view(start, grid.agent, image);
        if changed.iter().any(|row| *row) {
            let numbers = (0..start.height).filter(|y| changed.get(*y as usize).is_some_and(|c| *c));
            patch.insert("rows".to_owned(), rows_json(start.width, numbers, |index| self.seen[index]));
        }
        if self.agent != grid.agent {
            self.agent = grid.agent;
            patch.insert("agent".to_owned(), pose_json(self.agent));
        }
        if self.carrying != grid.carried_thing() {
            self.carrying = grid.carried_thing();
            // In a merge patch, null removes the key, which has the same meaning.
            patch.insert("carrying".to_owned(), carried_json(self.carrying));
        }
        patch.insert("view".to_owned(), visibility_rows(image));
        Value::Object(patch)
    }

    /// Records a view and returns which rows of the grid look different now.
    fn record_view(&mut self, start: &LevelStart, agent: Pose, image: &Image) -> Vec<bool> {
        let mut changed = vec![false; start.height as usize];
        for (index, &code) in image.iter().enumerate() {
            let (ahead, right) = offset_in_view(index);
            let (x, y) = agent.offset(ahead, right);
            let inside = (0..start.width).contains(&x) && (0..start.height).contains(&y);
            if code == CellCode::UNSEEN || !inside {
                continue;
            }
            // The agent's own cell shows what it carries, which isn't on the floor.
            let at = y as usize * start.width as usize + x as usize;
            if (ahead, right) == (0, 0) {
                if self.seen[at] == CellCode::UNSEEN {
                    Arc::make_mut(&mut self.seen)[at] = CellCode::EMPTY;
                    changed[y as usize] = true;
                }
            } else if self.seen[at] != code {
                Arc::make_mut(&mut self.seen)[at] = code;
                changed[y as usize] = true;
            }
        }
        changed
    }
}

/// Encodes the visible cells of the view: one number per row, farthest row first. The highest of seven bits is the
/// leftmost cell.
fn visibility_rows(image: &Image) -> Value {
    let row = |row: &[CellCode]| {
        row.iter().fold(0_u8, |bits, code| bits << 1 | u8::from(*code != CellCode::UNSEEN))
    };
    image.chunks(VIEW_SIDE).map(|cells| Value::from(row(cells))).collect()
}
