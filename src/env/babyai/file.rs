//! Own levels from a file: one JSON object with the fields of a level's start. Whoever wrote it, reading ends with a level or
//! with the place and the reason of what is wrong.

mod read;

use self::read::{Broken, Node};
use super::levels::Level;
use super::matching::settle;
use super::mission::{Clause, Deed, Description, Mission, Order, Part, Side};
use super::start::{Rooms, Start, goal};
use super::thing::{Cell, Code, Colour, Kind, Leaf, Pose, Thing, ThingId, cell};
use super::view::{Image, SIDE, Scene};
use crate::env::EnvError;
use std::sync::Arc;

/// Bytes of a level file; the largest real ones have 20 KB.
const FILE: usize = 4 << 20;
/// Columns and rows of a level; the largest real ones have 22.
const LONGEST: usize = 128;
/// The same as a number to compare with.
const MOST: i64 = LONGEST as i64;
/// Subgoals of a list, and lists.
const SUBGOALS: usize = 1000;
/// Text of one subgoal, mission or goal, in bytes.
const TEXT: usize = 4096;
const KINDS: &str = "door, key, ball or box";
const COLOURS: &str = "red, green, blue, purple, yellow or grey";

impl Start {
    /// Reads a level file; `label` is the name under which errors speak of it.
    ///
    /// # Errors
    /// [`EnvError::Panicked`] with the place in the file and the reason.
    pub fn parse(label: &str, bytes: &[u8]) -> Result<Self, EnvError> {
        if bytes.len() > FILE {
            let reason = format!("it has {} bytes; a level has at most {FILE}", bytes.len());
            return Err(Broken { place: "the file".to_owned(), reason }.of(label));
        }
        let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|e| {
            let place = format!("line {}, column {}", e.line(), e.column());
            Broken { place, reason: format!("no JSON: {e}") }.of(label)
        })?;
        Self::of_value(label, &value)
    }

    /// A row of a list of tasks, already read as JSON: a whole level, or a label of AgentBoard's test split, which has
    /// subgoals and difficulty and whose place in the list tells level and seed.
    ///
    /// # Errors
    /// As [`Start::parse`]; also [`EnvError::BadRequest`] for a label behind the end of the split.
    pub fn of_row(label: &str, value: &serde_json::Value, row: usize) -> Result<Self, EnvError> {
        if value.get("grid").is_some() {
            return Self::of_value(label, value);
        }
        let Some((level, seed)) = Level::test_split().nth(row) else {
            let many = Level::test_split().count();
            let what =
                format!("{label}: a label without a level of its own; the test split has {many} tasks");
            return Err(EnvError::Refused { what });
        };
        let mut start = level.start(seed)?;
        let mut read = |root: Node| -> Result<(), Broken> {
            // Alternatives stand beside each other, as `subgoals_1`, `subgoals_2`.
            start.subgoals = match (root.maybe("subgoals_1"), root.maybe("subgoals_2")) {
                (Some(first), second) => {
                    let mut lists = subgoal_lists(&first)?;
                    lists.extend(second.map_or(Ok(Vec::new()), |second| subgoal_lists(&second))?);
                    lists
                }
                (None, _) => subgoals(&root)?,
            };
            start.difficulty = optional_text(&root, "difficulty")?;
            Ok(())
        };
        read(Node::root(value)).map_err(|broken| broken.of(label))?;
        Ok(start)
    }

    /// A level already read as JSON.
    ///
    /// # Errors
    /// As [`Start::parse`].
    pub fn of_value(label: &str, value: &serde_json::Value) -> Result<Self, EnvError> {
        start(Node::root(value)).map_err(|broken| broken.of(label))
    }
}

fn start(root: Node) -> Result<Start, Broken> {
    let things = root.key("objects")?.list(LONGEST * LONGEST, thing)?;
    let mut used = vec![false; things.len()];
    let grid = root.key("grid")?;
    let rows = grid.items(LONGEST)?;
    let height = rows.len();
    let width = rows.first().map_or(Ok(0), |row| row.items(LONGEST).map(|row| row.len()))?;
    if width == 0 {
        return Err(grid.wrong("it has no cells"));
    }
    let mut cells = Vec::with_capacity(width * height);
    for row in &rows {
        let row_cells = row.items(LONGEST)?;
        if row_cells.len() != width {
            return Err(row.wrong(&format!("it has {} cells, the first row has {width}", row_cells.len())));
        }
        for node in row_cells {
            cells.push(grid_cell(&node, things.len(), &mut used)?);
        }
    }
    let (width, height) = (width as i16, height as i16);
    for (key, real) in [("width", width), ("height", height)] {
        if let Some(node) = root.maybe(key)
            && node.number(0, MOST)? != i64::from(real)
        {
            return Err(node.wrong(&format!("the grid says {real}")));
        }
    }
    for (index, thing) in things.iter().enumerate() {
        if let Some(inside) = thing.inside {
            let node = root.key("objects")?.item(index)?.key("contains")?;
            claim(&node, inside, &mut used)?;
        }
    }
    let carrying = match root.maybe("carrying") {
        None => None,
        Some(node) => {
            let id = index_of(&node, things.len())?;
            claim(&node, id, &mut used)?;
            if things[usize::from(id.0)].kind == Kind::Door {
                return Err(node.wrong("a door cannot be carried"));
            }
            Some(id)
        }
    };
    let agent = agent(&root.key("agent")?, &cells, &things, width, height)?;
    let mut reading = Reading { marks: vec![None; things.len()], open: Vec::new() };
    let instruction = reading.mission(&root.key("instr")?)?;
    let rooms = rooms(&root, width, height)?;
    let text = |key: &'static str| optional_text(&root, key);
    let mut start = Start {
        number: root.maybe("level").map_or(Ok(0), |node| node.number(0, 40))? as u8,
        env_id: text("env_id")?.unwrap_or_default(),
        seed: root.maybe("seed").map_or(Ok(0), |node| node.natural())?,
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
        marks: Arc::new(reading.marks),
        stale_view: None,
        subgoals: subgoals(&root)?,
        difficulty: text("difficulty")?,
    };
    // Descriptions without a list of their objects are matched here, as the original does at the start.
    settle(&mut start, &reading.open);
    let walked = start.rooms.steps_for_one_walk().saturating_mul(start.instruction.walks());
    let most = root.maybe("max_steps").map(|node| node.number(1, i64::from(u32::MAX))).transpose()?;
    start.max_steps = most.map_or(walked, |most| most as u32);
    start.mission = text("mission")?.unwrap_or_else(|| start.instruction.text());
    start.goal = text("goal")?.unwrap_or_else(|| goal(&start.mission));
    start.stale_view = stale_view(&root, &start)?;
    Ok(start)
}

fn thing(node: &Node) -> Result<Thing, Broken> {
    let kind = node.key("type")?;
    let kind = kind.word(Kind::of_word, KINDS)?;
    let colour = node.key("color")?.word(Colour::of_word, COLOURS)?;
    let mut thing = Thing::new(kind, colour);
    if kind == Kind::Door {
        thing.leaf = node.key("state")?.word(Leaf::of_word, "open, closed or locked")?;
    }
    if let Some(inside) = node.maybe("contains") {
        if kind != Kind::Box {
            return Err(inside.wrong("only a box contains something"));
        }
        thing.inside = Some(ThingId(inside.number(0, i64::from(u16::MAX))? as u16));
    }
    Ok(thing)
}

fn index_of(node: &Node, many: usize) -> Result<ThingId, Broken> {
    let index = node.number(0, i64::from(u16::MAX))?;
    if index as usize >= many {
        return Err(node.wrong(&format!("there is no object {index}; there are {many}, counted from 0")));
    }
    Ok(ThingId(index as u16))
}

/// An object can be in one place only.
fn claim(node: &Node, id: ThingId, used: &mut [bool]) -> Result<(), Broken> {
    match used.get_mut(usize::from(id.0)) {
        None => {
            Err(node.wrong(&format!("there is no object {}; there are {}, counted from 0", id.0, used.len())))
        }
        Some(true) => Err(node.wrong(&format!("object {} is already somewhere else", id.0))),
        Some(free) => {
            *free = true;
            Ok(())
        }
    }
}

fn grid_cell(node: &Node, many: usize, used: &mut [bool]) -> Result<Cell, Broken> {
    if node.is_null() {
        return Ok(Cell::Empty);
    }
    if node.is_word("W") {
        return Ok(Cell::Wall);
    }
    let id = index_of(node, many).map_err(|broken| Broken {
        reason: format!("{}; a cell is null, \"W\" or an object's number", broken.reason),
        ..broken
    })?;
    claim(node, id, used)?;
    Ok(Cell::Of(id))
}

fn agent(node: &Node, cells: &[Cell], things: &[Thing], width: i16, height: i16) -> Result<Pose, Broken> {
    let [x, y, dir] = node.triple()?;
    let (x, y) = (x.number(0, i64::from(width) - 1)? as i16, y.number(0, i64::from(height) - 1)? as i16);
    let dir = dir.number(0, 3)? as u8;
    let stands = match cell(cells, width, height, x, y) {
        Cell::Empty => true,
        Cell::Wall => false,
        Cell::Of(id) => Code::of(things[usize::from(id.0)]).is_open_door(),
    };
    if stands {
        Ok(Pose { x, y, dir })
    } else {
        Err(node.wrong("it stands on neither an empty cell nor an open door"))
    }
}

fn rooms(root: &Node, width: i16, height: i16) -> Result<Rooms, Broken> {
    let number = |key: &str, least: i64, otherwise: i16| {
        root.maybe(key).map_or(Ok(i64::from(otherwise)), |node| node.number(least, MOST))
    };
    Ok(Rooms {
        size: number("room_size", 3, width.max(height).max(3))? as i16,
        rows: number("num_rows", 1, 1)? as i16,
        cols: number("num_cols", 1, 1)? as i16,
    })
}

/// What is gathered while a mission is read.
struct Reading {
    /// Where the objects of descriptions lay.
    marks: Vec<Option<(i16, i16)>>,
    /// For each description in order: which objects it means is still to be found.
    open: Vec<bool>,
}

impl Reading {
    fn mission(&mut self, node: &Node) -> Result<Mission, Broken> {
        let op = node.key("op")?;
        let order = match op.text(TEXT)? {
            "before" => Order::Before,
            "after" => Order::After,
            _ => return Ok(Mission::Part(self.part(node)?)),
        };
        let (a, b) = (self.part(&node.key("a")?)?, self.part(&node.key("b")?)?);
        Ok(Mission::Sequence { order, strict: strict(node)?, a, b })
    }

    fn part(&mut self, node: &Node) -> Result<Part, Broken> {
        if node.key("op")?.is_word("and") {
            let a = self.clause(&node.key("a")?)?;
            return Ok(Part::Both(a, self.clause(&node.key("b")?)?));
        }
        Ok(Part::One(self.clause(node)?))
    }

    fn clause(&mut self, node: &Node) -> Result<Clause, Broken> {
        let op = node.key("op")?;
        let mut one = |key: &'static str| self.description(&node.key(key)?);
        let deed = match op.text(TEXT)? {
            "goto" => Deed::GoTo(one("desc")?),
            "pickup" => Deed::PickUp(one("desc")?),
            "open" => Deed::Open(one("desc")?),
            "putnext" => Deed::PutNext(one("move")?, one("fixed")?),
            "and" | "before" | "after" => {
                return Err(
                    op.wrong("`and` joins two clauses; `before` and `after` join clauses or pairs, once")
                );
            }
            _ => return Err(op.wrong("it is none of goto, pickup, open, putnext, and, before, after")),
        };
        Ok(Clause { deed, strict: strict(node)? })
    }

    fn description(&mut self, node: &Node) -> Result<Description, Broken> {
        let kind = node.maybe("type").map(|n| n.word(Kind::of_word, KINDS)).transpose()?;
        let colour = node.maybe("color").map(|n| n.word(Colour::of_word, COLOURS)).transpose()?;
        let side =
            node.maybe("loc").map(|n| n.word(Side::of_word, "left, right, front or behind")).transpose()?;
        let mut found = Description::new(kind, colour, side);
        let set = node.maybe("obj_set");
        self.open.push(set.is_none());
        let Some(set) = set else { return Ok(found) };
        let most = LONGEST * LONGEST;
        let many = self.marks.len();
        // A wall has no number; the original's dump says -1.
        let ids = set
            .list(most, |item| if item.is_minus_one() { Ok(None) } else { index_of(item, many).map(Some) })?;
        found.set = ids.iter().flatten().copied().collect();
        let Some(poss) = node.maybe("obj_poss") else { return Ok(found) };
        let places = poss.list(most, position)?;
        if places.len() != ids.len() {
            return Err(poss.wrong(&format!("{} positions for {} objects", places.len(), ids.len())));
        }
        for (id, place) in ids.into_iter().zip(places) {
            match id {
                Some(id) => self.marks[usize::from(id.0)] = Some(place),
                None => found.walls.push(place),
            }
        }
        Ok(found)
    }
}

fn strict(node: &Node) -> Result<bool, Broken> {
    node.maybe("strict").map_or(Ok(false), |node| node.truth())
}

fn position(node: &Node) -> Result<(i16, i16), Broken> {
    let [x, y] = node.pair()?;
    Ok((x.number(-1, MOST)? as i16, y.number(-1, MOST)? as i16))
}

fn optional_text(root: &Node, key: &'static str) -> Result<Option<String>, Broken> {
    root.maybe(key).map(|node| node.text(TEXT).map(ToOwned::to_owned)).transpose()
}

fn subgoals(root: &Node) -> Result<Vec<Vec<String>>, Broken> {
    root.maybe("subgoals").map_or(Ok(Vec::new()), |node| subgoal_lists(&node))
}

/// A list of patterns, or several lists that are alternatives.
fn subgoal_lists(node: &Node) -> Result<Vec<Vec<String>>, Broken> {
    let text = |node: &Node| node.text(TEXT).map(ToOwned::to_owned);
    let nested = node.items(SUBGOALS)?.first().is_some_and(Node::is_list);
    let lists = if nested {
        node.list(SUBGOALS, |list| list.list(SUBGOALS, text))?
    } else {
        vec![node.list(SUBGOALS, text)?]
    };
    Ok(lists.into_iter().filter(|list| !list.is_empty()).collect())
}

/// The view before the thing was put into the hand: it is given, or the level is the one that starts so.
fn stale_view(root: &Node, start: &Start) -> Result<Option<Image>, Broken> {
    if let Some(initial) = root.maybe("initial")
        && let Some(stale) = initial.maybe("image_is_stale")
    {
        return if stale.truth()? { image(&initial.key("image")?).map(Some) } else { Ok(None) };
    }
    let level = Level::of_name(&start.env_id).filter(|level| level.starts_carrying());
    let (Some(_), Some(held)) = (level, start.carrying) else { return Ok(None) };
    let mut cells = start.cells.to_vec();
    let Some((x, y)) = start.marks[usize::from(held.0)] else { return Ok(None) };
    let index = i32::from(y) * i32::from(start.width) + i32::from(x);
    if let Some(cell) = usize::try_from(index).ok().and_then(|index| cells.get_mut(index))
        && *cell == Cell::Empty
    {
        *cell = Cell::Of(held);
    }
    let scene = Scene { cells: &cells, things: &start.things, width: start.width, height: start.height };
    Ok(Some(scene.look(start.agent, None)))
}

fn image(node: &Node) -> Result<Image, Broken> {
    let mut image = [Code::UNSEEN; SIDE * SIDE];
    let rows = node.items(SIDE)?;
    for (y, row) in rows.iter().enumerate() {
        for (x, cell) in row.items(SIDE)?.iter().enumerate() {
            let [kind, colour, state] = cell.triple()?;
            let triple = [kind.number(0, 7)? as u8, colour.number(0, 5)? as u8, state.number(0, 2)? as u8];
            let code = Code::of_triple(triple).ok_or_else(|| cell.wrong("no such type, colour and state"))?;
            image[y * SIDE + x] = code;
        }
    }
    Ok(image)
}
