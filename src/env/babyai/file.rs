//! Reads custom levels from a file: one JSON object with the fields of a level's start. Any input results in a level or
//! in an error with location and reason.

mod json_node;

use self::json_node::{LocatedError, Node};
use super::level_start::{LevelStart, RoomLayout, goal_text};
use super::levels::Level;
use super::matching::match_descriptions;
use super::mission::{Clause, ClauseAction, Description, Mission, MissionPart, SequenceOrder, Side};
use super::thing::{Cell, CellCode, Colour, DoorState, Kind, Pose, Thing, ThingId, cell_at};
use super::view::{GridView, Image, VIEW_SIDE};
use crate::env::EnvError;
use std::sync::Arc;

/// Maximum size of a level file, in bytes; the largest real ones have 20 KB.
const MAX_FILE_BYTES: usize = 4 << 20;
/// Maximum number of columns and rows; the largest real levels have 22.
const MAX_SIDE: usize = 128;
const MAX_COORDINATE: i64 = MAX_SIDE as i64;
/// Maximum number of subgoals in a list, and of lists.
const MAX_SUBGOALS: usize = 1000;
/// Maximum length of a subgoal, mission or goal, in bytes.
const MAX_TEXT_BYTES: usize = 4096;
const KINDS: &str = "door, key, ball or box";
const COLOURS: &str = "red, green, blue, purple, yellow or grey";

impl LevelStart {
    /// Parses a level file. Errors refer to it as `label`.
    ///
    /// # Errors
    /// [`EnvError::Broken`] with the location in the file and the reason.
    pub fn parse(label: &str, bytes: &[u8]) -> Result<Self, EnvError> {
        if bytes.len() > MAX_FILE_BYTES {
            let reason = format!("it has {} bytes; a level has at most {MAX_FILE_BYTES}", bytes.len());
            return Err(LocatedError { place: "the file".to_owned(), reason }.in_file(label));
        }
        let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|e| {
            let place = format!("line {}, column {}", e.line(), e.column());
            LocatedError { place, reason: format!("not JSON: {e}") }.in_file(label)
        })?;
        Self::from_json(label, &value)
    }

    /// Reads an entry of a task list that has already been parsed as JSON: a complete level, or a label of AgentBoard's
    /// test split, which has subgoals and difficulty and whose position in the list determines level and seed.
    ///
    /// # Errors
    /// The same as [`LevelStart::parse`]; also [`EnvError::Refused`] for a label beyond the end of the split.
    pub fn from_task_row(label: &str, value: &serde_json::Value, row: usize) -> Result<Self, EnvError> {
        if value.get("grid").is_some() {
            return Self::from_json(label, value);
        }
        let Some((level, seed)) = Level::test_split().nth(row) else {
            let count = Level::test_split().count();
            let what = format!("{label}: this row has no level, and the test split has only {count} tasks");
            return Err(EnvError::Refused { what });
        };
        let mut start = level.generate(seed)?;
        let mut read = |root: Node| -> Result<(), LocatedError> {
            // Alternatives are stored side by side, as `subgoals_1` and `subgoals_2`.
            start.subgoals = match (root.optional("subgoals_1"), root.optional("subgoals_2")) {
                (Some(first), second) => {
                    let mut lists = read_subgoal_lists(&first)?;
                    lists.extend(second.map_or(Ok(Vec::new()), |second| read_subgoal_lists(&second))?);
                    lists
                }
                (None, _) => read_subgoals(&root)?,
            };
            start.difficulty = read_optional_text(&root, "difficulty")?;
            Ok(())
        };
        read(Node::root(value)).map_err(|broken| broken.in_file(label))?;
        Ok(start)
    }

    /// Reads a level that has already been parsed as JSON.
    ///
    /// # Errors
    /// The same as [`LevelStart::parse`].
    pub fn from_json(label: &str, value: &serde_json::Value) -> Result<Self, EnvError> {
        read_start(Node::root(value)).map_err(|broken| broken.in_file(label))
    }
}

fn read_start(root: Node) -> Result<LevelStart, LocatedError> {
    let things = root.required("objects")?.map_items(MAX_SIDE * MAX_SIDE, read_thing)?;
    let mut used = vec![false; things.len()];
    let grid = root.required("grid")?;
    let rows = grid.items(MAX_SIDE)?;
    let height = rows.len();
    let width = rows.first().map_or(Ok(0), |row| row.items(MAX_SIDE).map(|row| row.len()))?;
    if width == 0 {
        return Err(grid.error("it has no cells"));
    }
    let mut cells = Vec::with_capacity(width * height);
    for row in &rows {
        let row_cells = row.items(MAX_SIDE)?;
        if row_cells.len() != width {
            return Err(row.error(&format!("it has {} cells, the first row has {width}", row_cells.len())));
        }
        for node in row_cells {
            cells.push(read_cell(&node, things.len(), &mut used)?);
        }
    }
    let (width, height) = (width as i16, height as i16);
    for (key, real) in [("width", width), ("height", height)] {
        if let Some(node) = root.optional(key)
            && node.number(0, MAX_COORDINATE)? != i64::from(real)
        {
            return Err(node.error(&format!("the grid has {real}")));
        }
    }
    for (index, thing) in things.iter().enumerate() {
        if let Some(inside) = thing.contents {
            let node = root.required("objects")?.item(index)?.required("contains")?;
            claim_thing(&node, inside, &mut used)?;
        }
    }
    let carrying = match root.optional("carrying") {
        None => None,
        Some(node) => {
            let id = read_thing_id(&node, things.len())?;
            claim_thing(&node, id, &mut used)?;
            if things[usize::from(id.0)].kind == Kind::Door {
                return Err(node.error("a door cannot be carried"));
            }
            Some(id)
        }
    };
    let agent = read_agent(&root.required("agent")?, &cells, &things, width, height)?;
    let mut reading = MissionReader { positions: vec![None; things.len()], unmatched: Vec::new() };
    let instruction = reading.read_mission(&root.required("instr")?)?;
    let rooms = read_rooms(&root, width, height)?;
    let text = |key: &'static str| read_optional_text(&root, key);
    let mut start = LevelStart {
        number: root.optional("level").map_or(Ok(0), |node| node.number(0, 40))? as u8,
        env_id: text("env_id")?.unwrap_or_default(),
        seed: root.optional("seed").map_or(Ok(0), |node| node.natural())?,
        width,
        height,
        rooms,
        max_steps: 1,
        cells: Arc::new(cells),
        things: Arc::new(things),
        agent,
        carrying,
        mission: String::new(),
        goal: String::new(),
        instruction,
        known_positions: Arc::new(reading.positions),
        stale_view: None,
        subgoals: read_subgoals(&root)?,
        difficulty: text("difficulty")?,
    };
    // Descriptions without a list of their objects are matched here, as the original does at the start.
    match_descriptions(&mut start, &reading.unmatched);
    let walked = start.rooms.steps_for_one_walk().saturating_mul(start.instruction.walk_count());
    let max_steps = root.optional("max_steps").map(|node| node.number(1, i64::from(u32::MAX))).transpose()?;
    start.max_steps = max_steps.map_or(walked, |max| max as u32);
    start.mission = text("mission")?.unwrap_or_else(|| start.instruction.text());
    start.goal = text("goal")?.unwrap_or_else(|| goal_text(&start.mission));
    start.stale_view = read_stale_view(&root, &start)?;
    Ok(start)
}

fn read_thing(node: &Node) -> Result<Thing, LocatedError> {
    let kind = node.required("type")?;
    let kind = kind.parse_word(Kind::from_word, KINDS)?;
    let colour = node.required("color")?.parse_word(Colour::from_word, COLOURS)?;
    let mut thing = Thing::new(kind, colour);
    if kind == Kind::Door {
        thing.door_state =
            node.required("state")?.parse_word(DoorState::from_word, "open, closed or locked")?;
    }
    if let Some(inside) = node.optional("contains") {
        if kind != Kind::Box {
            return Err(inside.error("only a box can contain something"));
        }
        thing.contents = Some(ThingId(inside.number(0, i64::from(u16::MAX))? as u16));
    }
    Ok(thing)
}

fn read_thing_id(node: &Node, count: usize) -> Result<ThingId, LocatedError> {
    let index = node.number(0, i64::from(u16::MAX))?;
    if index as usize >= count {
        return Err(node.error(&format!("no object {index}; there are {count}, counted from 0")));
    }
    Ok(ThingId(index as u16))
}

/// Marks an object as placed. An object can be in one place only.
fn claim_thing(node: &Node, id: ThingId, used: &mut [bool]) -> Result<(), LocatedError> {
    match used.get_mut(usize::from(id.0)) {
        None => Err(node.error(&format!("no object {}; there are {}, counted from 0", id.0, used.len()))),
        Some(true) => Err(node.error(&format!("object {} is already somewhere else", id.0))),
        Some(free) => {
            *free = true;
            Ok(())
        }
    }
}

fn read_cell(node: &Node, count: usize, used: &mut [bool]) -> Result<Cell, LocatedError> {
    if node.is_null() {
        return Ok(Cell::Empty);
    }
    if node.is_word("W") {
        return Ok(Cell::Wall);
    }
    let id = read_thing_id(node, count).map_err(|broken| LocatedError {
        reason: format!("{}; a cell is null, \"W\" or an object's number", broken.reason),
        ..broken
    })?;
    claim_thing(node, id, used)?;
    Ok(Cell::Thing(id))
}

fn read_agent(
    node: &Node,
    cells: &[Cell],
    things: &[Thing],
    width: i16,
    height: i16,
) -> Result<Pose, LocatedError> {
    let [x, y, dir] = node.triple()?;
    let (x, y) = (x.number(0, i64::from(width) - 1)? as i16, y.number(0, i64::from(height) - 1)? as i16);
    let dir = dir.number(0, 3)? as u8;
    let can_stand = match cell_at(cells, width, height, x, y) {
        Cell::Empty => true,
        Cell::Wall => false,
        Cell::Thing(id) => CellCode::from_thing(things[usize::from(id.0)]).is_open_door(),
    };
    if can_stand {
        Ok(Pose { x, y, direction: dir })
    } else {
        Err(node.error("the agent must be on an empty cell or an open door"))
    }
}

fn read_rooms(root: &Node, width: i16, height: i16) -> Result<RoomLayout, LocatedError> {
    let number = |key: &str, least: i64, otherwise: i16| {
        root.optional(key).map_or(Ok(i64::from(otherwise)), |node| node.number(least, MAX_COORDINATE))
    };
    Ok(RoomLayout {
        size: number("room_size", 3, width.max(height).max(3))? as i16,
        rows: number("num_rows", 1, 1)? as i16,
        cols: number("num_cols", 1, 1)? as i16,
    })
}

/// Data collected while a mission is read.
struct MissionReader {
    /// The positions of the objects of descriptions.
    positions: Vec<Option<(i16, i16)>>,
    /// For each description in order: whether its objects still have to be matched.
    unmatched: Vec<bool>,
}

impl MissionReader {
    fn read_mission(&mut self, node: &Node) -> Result<Mission, LocatedError> {
        let op = node.required("op")?;
        let order = match op.text(MAX_TEXT_BYTES)? {
            "before" => SequenceOrder::Before,
            "after" => SequenceOrder::After,
            _ => return Ok(Mission::Part(self.read_part(node)?)),
        };
        let (a, b) = (self.read_part(&node.required("a")?)?, self.read_part(&node.required("b")?)?);
        Ok(Mission::Sequence { order, is_strict: read_strict(node)?, named_first: a, named_second: b })
    }

    fn read_part(&mut self, node: &Node) -> Result<MissionPart, LocatedError> {
        if node.required("op")?.is_word("and") {
            let a = self.read_clause(&node.required("a")?)?;
            return Ok(MissionPart::Both(a, self.read_clause(&node.required("b")?)?));
        }
        Ok(MissionPart::One(self.read_clause(node)?))
    }

    fn read_clause(&mut self, node: &Node) -> Result<Clause, LocatedError> {
        let op = node.required("op")?;
        let mut description = |key: &'static str| self.read_description(&node.required(key)?);
        let action = match op.text(MAX_TEXT_BYTES)? {
            "goto" => ClauseAction::GoTo(description("desc")?),
            "pickup" => ClauseAction::PickUp(description("desc")?),
            "open" => ClauseAction::Open(description("desc")?),
            "putnext" => ClauseAction::PutNext(description("move")?, description("fixed")?),
            "and" | "before" | "after" => {
                return Err(
                    op.error("`and` joins two clauses; `before` and `after` join clauses or pairs, once")
                );
            }
            _ => return Err(op.error("expected goto, pickup, open, putnext, and, before or after")),
        };
        Ok(Clause { action, is_strict: read_strict(node)? })
    }

    fn read_description(&mut self, node: &Node) -> Result<Description, LocatedError> {
        let kind = node.optional("type").map(|n| n.parse_word(Kind::from_word, KINDS)).transpose()?;
        let colour = node.optional("color").map(|n| n.parse_word(Colour::from_word, COLOURS)).transpose()?;
        let side = node
            .optional("loc")
            .map(|n| n.parse_word(Side::from_word, "left, right, front or behind"))
            .transpose()?;
        let mut found = Description::new(kind, colour, side);
        let set = node.optional("obj_set");
        self.unmatched.push(set.is_none());
        let Some(set) = set else { return Ok(found) };
        let max_items = MAX_SIDE * MAX_SIDE;
        let count = self.positions.len();
        // A wall has no index; the original's dump uses -1.
        let ids = set.map_items(max_items, |item| {
            if item.is_minus_one() { Ok(None) } else { read_thing_id(item, count).map(Some) }
        })?;
        found.things = ids.iter().flatten().copied().collect();
        let Some(positions_node) = node.optional("obj_poss") else { return Ok(found) };
        let positions = positions_node.map_items(max_items, read_position)?;
        if positions.len() != ids.len() {
            return Err(positions_node.error(&format!(
                "{} positions for {} objects",
                positions.len(),
                ids.len()
            )));
        }
        for (id, place) in ids.into_iter().zip(positions) {
            match id {
                Some(id) => self.positions[usize::from(id.0)] = Some(place),
                None => found.walls.push(place),
            }
        }
        Ok(found)
    }
}

fn read_strict(node: &Node) -> Result<bool, LocatedError> {
    node.optional("strict").map_or(Ok(false), |node| node.boolean())
}

fn read_position(node: &Node) -> Result<(i16, i16), LocatedError> {
    let [x, y] = node.pair()?;
    Ok((x.number(-1, MAX_COORDINATE)? as i16, y.number(-1, MAX_COORDINATE)? as i16))
}

fn read_optional_text(root: &Node, key: &'static str) -> Result<Option<String>, LocatedError> {
    root.optional(key).map(|node| node.text(MAX_TEXT_BYTES).map(ToOwned::to_owned)).transpose()
}

fn read_subgoals(root: &Node) -> Result<Vec<Vec<String>>, LocatedError> {
    root.optional("subgoals").map_or(Ok(Vec::new()), |node| read_subgoal_lists(&node))
}

/// Reads a list of patterns, or several lists that are alternatives.
fn read_subgoal_lists(node: &Node) -> Result<Vec<Vec<String>>, LocatedError> {
    let text = |node: &Node| node.text(MAX_TEXT_BYTES).map(ToOwned::to_owned);
    let nested = node.items(MAX_SUBGOALS)?.first().is_some_and(Node::is_list);
    let lists = if nested {
        node.map_items(MAX_SUBGOALS, |list| list.map_items(MAX_SUBGOALS, text))?
    } else {
        vec![node.map_items(MAX_SUBGOALS, text)?]
    };
    Ok(lists.into_iter().filter(|list| !list.is_empty()).collect())
}

/// Returns the view taken before the agent was given the carried object, if the file contains one or the level starts
/// that way.
fn read_stale_view(root: &Node, start: &LevelStart) -> Result<Option<Image>, LocatedError> {
    if let Some(initial) = root.optional("initial")
        && let Some(stale) = initial.optional("image_is_stale")
    {
        return if stale.boolean()? { read_image(&initial.required("image")?).map(Some) } else { Ok(None) };
    }
    let level = Level::from_name(&start.env_id).filter(|level| level.starts_carrying());
    let (Some(_), Some(held)) = (level, start.carrying) else { return Ok(None) };
    let mut cells = start.cells.to_vec();
    let Some((x, y)) = start.known_positions[usize::from(held.0)] else { return Ok(None) };
    let index = i32::from(y) * i32::from(start.width) + i32::from(x);
    if let Some(cell) = usize::try_from(index).ok().and_then(|index| cells.get_mut(index))
        && *cell == Cell::Empty
    {
        *cell = Cell::Thing(held);
    }
    let scene = GridView { cells: &cells, things: &start.things, width: start.width, height: start.height };
    Ok(Some(scene.view(start.agent, None)))
}

fn read_image(node: &Node) -> Result<Image, LocatedError> {
    let mut image = [CellCode::UNSEEN; VIEW_SIDE * VIEW_SIDE];
    let rows = node.items(VIEW_SIDE)?;
    for (y, row) in rows.iter().enumerate() {
        for (x, cell) in row.items(VIEW_SIDE)?.iter().enumerate() {
            let [kind, colour, state] = cell.triple()?;
            let triple = [kind.number(0, 7)? as u8, colour.number(0, 5)? as u8, state.number(0, 2)? as u8];
            let code =
                CellCode::from_triple(triple).ok_or_else(|| cell.error("no such type, colour and state"))?;
            image[y * VIEW_SIDE + x] = code;
        }
    }
    Ok(image)
}
