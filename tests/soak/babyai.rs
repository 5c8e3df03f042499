//! Broken level files and hostile action texts: reading always ends with a level, or with an error that names location
//! and reason, and every action gets a reply.
//!
//! `cargo test` runs a hundredth; `RETROSPECT_SOAK=full` all of 100,000 files and 100,000 episodes of texts.

use crate::cases::{Rng, Soak};
use crate::hostile;
use retrospect::env::babyai::{
    Cell, Clause, ClauseAction, Colour, Description, Kind, Level, LevelStart, Mission, MissionPart,
    SequenceOrder, Side, World,
};
use retrospect::env::{EnvError, Environment};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Returns a level as its file describes it.
fn level_json(start: &LevelStart) -> Value {
    let cell = |cell: &Cell| match cell {
        Cell::Empty => Value::Null,
        Cell::Wall => json!("W"),
        Cell::Thing(id) => json!(id.0),
    };
    let grid: Vec<Vec<Value>> =
        start.cells.chunks(start.width as usize).map(|row| row.iter().map(cell).collect()).collect();
    let thing = |thing: &retrospect::env::babyai::Thing| {
        let mut object = json!({"type": thing.kind.word(), "color": thing.colour.word()});
        if thing.kind.word() == "door" {
            object["state"] = thing.door_state.word().into();
        }
        if let Some(inside) = thing.contents {
            object["contains"] = inside.0.into();
        }
        object
    };
    let objects: Vec<Value> = start.things.iter().map(thing).collect();
    let instr = match &start.instruction {
        Mission::Part(part) => part_json(start, part),
        Mission::Sequence { order, is_strict: strict, named_first: a, named_second: b } => {
            let op = if *order == SequenceOrder::Before { "before" } else { "after" };
            json!({"op": op, "strict": strict, "a": part_json(start, a), "b": part_json(start, b)})
        }
    };
    json!({
        "level": start.number, "env_id": start.env_id, "seed": start.seed, "width": start.width, "height": start.height,
        "room_size": start.rooms.size, "num_rows": start.rooms.rows, "num_cols": start.rooms.cols,
        "max_steps": start.max_steps, "grid": grid, "objects": objects, "mission": start.mission, "goal": start.goal,
        "agent": [start.agent.x, start.agent.y, start.agent.direction], "carrying": start.carrying.map(|id| id.0), "instr": instr,
    })
}

fn part_json(start: &LevelStart, part: &MissionPart) -> Value {
    match part {
        MissionPart::One(clause) => clause_json(start, clause),
        MissionPart::Both(a, b) => {
            json!({"op": "and", "a": clause_json(start, a), "b": clause_json(start, b)})
        }
    }
}

fn clause_json(start: &LevelStart, clause: &Clause) -> Value {
    let strict = clause.is_strict;
    let one =
        |op: &str, d: &Description| json!({"op": op, "strict": strict, "desc": description_json(start, d)});
    match &clause.action {
        ClauseAction::GoTo(d) => one("goto", d),
        ClauseAction::PickUp(d) => one("pickup", d),
        ClauseAction::Open(d) => one("open", d),
        ClauseAction::PutNext(moved, fixed) => {
            json!({"op": "putnext", "strict": strict, "move": description_json(start, moved), "fixed": description_json(start, fixed)})
        }
    }
}

fn description_json(start: &LevelStart, d: &Description) -> Value {
    let mut ids: Vec<i64> = d.things.iter().map(|id| i64::from(id.0)).collect();
    let mut positions: Vec<(i16, i16)> =
        d.things.iter().map(|id| start.known_positions[usize::from(id.0)].unwrap()).collect();
    ids.extend(d.walls.iter().map(|_| -1));
    positions.extend(&d.walls);
    json!({
        "type": d.kind.map(Kind::word), "color": d.colour.map(Colour::word), "loc": d.side.map(Side::word),
        "obj_set": ids, "obj_poss": positions,
    })
}

/// Returns a random level and its file.
fn random_level(rng: &mut Rng) -> (LevelStart, Value) {
    let level = &Level::all()[rng.below(Level::all().len())];
    let start = level.generate(rng.next()).unwrap();
    let file = level_json(&start);
    (start, file)
}

/// Returns a value of an unexpected type.
fn unexpected_value(rng: &mut Rng) -> Value {
    match rng.below(14) {
        0 => Value::Null,
        1 => json!(-1),
        2 => json!(rng.next()),
        3 => json!(1e300),
        4 => json!(rng.below(9)),
        5 => json!("W"),
        6 => json!(["W", null, 0]),
        7 => json!({}),
        8 => json!([]),
        9 => json!(hostile::text(rng, 1000)),
        10 => json!({"op": "before", "a": {"op": "and"}, "b": null}),
        11 => json!(true),
        12 => json!(i64::MIN),
        _ => json!("grey"),
    }
}

/// Replaces, removes or duplicates one value.
fn mutate_value(rng: &mut Rng, value: &mut Value) {
    let replaces_this = rng.once_in(4);
    match value {
        Value::Array(items) if !items.is_empty() && !replaces_this => {
            let at = rng.below(items.len());
            match rng.below(8) {
                0 => drop(items.remove(at)),
                1 => items.insert(at, items[at].clone()),
                _ => mutate_value(rng, &mut items[at]),
            }
        }
        Value::Object(map) if !map.is_empty() && !replaces_this => {
            let key = map.keys().nth(rng.below(map.len())).unwrap().clone();
            if rng.once_in(8) { drop(map.remove(&key)) } else { mutate_value(rng, &mut map[&key]) }
        }
        other => *other = unexpected_value(rng),
    }
}

/// Makes changes that usually leave a file readable: holes and walls, another pose, doors in another state, wrong
/// matches and locations.
fn make_inconsistent(rng: &mut Rng, file: &mut Value) {
    let (height, width) = (file["grid"].as_array().unwrap().len(), file["grid"][0].as_array().unwrap().len());
    let objects = file["objects"].as_array().unwrap().len();
    match rng.below(5) {
        0 | 1 => {
            let cell = &mut file["grid"][rng.below(height)][rng.below(width)];
            if !cell.is_number() {
                *cell = if rng.once_in(3) { json!("W") } else { Value::Null };
            }
        }
        2 => file["agent"] = json!([rng.below(width), rng.below(height), rng.below(4)]),
        3 if objects > 0 => {
            let object = &mut file["objects"][rng.below(objects)];
            if object["type"] == "door" {
                object["state"] = json!(rng.pick(&["open", "closed", "locked"]));
            }
            object["color"] = json!(rng.pick(&["red", "green", "blue", "purple", "yellow", "grey"]));
        }
        _ => {
            if let Some(description) = file.pointer_mut("/instr/desc").and_then(Value::as_object_mut) {
                description.remove(rng.pick(&["obj_set", "obj_poss", "type", "color"]));
            }
        }
    }
}

/// Plays a level with texts of every kind, and goes back once on the way.
fn play(rng: &mut Rng, start: LevelStart, texts: usize) {
    let mut world = World::new(Arc::new(start));
    world.reset().unwrap();
    let mut saved = None;
    for step in 0..texts {
        let list = world.admissible().unwrap();
        assert_eq!(list.last().map(String::as_str), Some("check available actions"));
        let text = match rng.below(6) {
            0 => hostile::text(rng, 1000),
            1 => format!("{} {}", list[rng.below(list.len())], rng.below(4)),
            _ => list[rng.below(list.len())].clone(),
        };
        let result = world.step(&text).unwrap();
        assert!((0.0..=1.0).contains(&result.progress) || result.progress < 0.0, "{}", result.progress);
        assert!(!result.observation.is_empty());
        if step == texts / 2 {
            saved = Some((world.snapshot().unwrap(), world.world_summary(), world.admissible().unwrap()));
        }
    }
    let (snapshot, summary, list) = saved.unwrap();
    world.restore(&snapshot).unwrap();
    assert_eq!((world.world_summary(), world.admissible().unwrap()), (summary, list));
}

#[test]
fn broken_level_files_are_reported_or_played() {
    let (mut read, mut rejected) = (0_u64, 0_u64);
    Soak::new("BabyAI level files", 100_000).run(|rng, _| {
        let (start, mut file) = random_level(rng);
        if rng.once_in(20) {
            let mut reparsed = LevelStart::parse("own", file.to_string().as_bytes()).unwrap();
            reparsed.stale_view = start.stale_view;
            assert_eq!(reparsed, start);
        }
        for _ in 0..rng.below(8) {
            make_inconsistent(rng, &mut file);
        }
        for _ in 0..rng.below(3) {
            mutate_value(rng, &mut file);
        }
        if rng.once_in(5) && file.is_object() {
            file["subgoals"] =
                if rng.once_in(2) { unexpected_value(rng) } else { json!([["a ** ball", "*"], ["", "."]]) };
        }
        let mut bytes = file.to_string().into_bytes();
        if rng.once_in(6) {
            let at = rng.below(bytes.len());
            match rng.below(3) {
                0 => bytes.truncate(at),
                1 => bytes[at] = rng.next() as u8,
                _ => bytes.splice(at..at, hostile::text(rng, 1000).into_bytes()).for_each(drop),
            }
        }
        match LevelStart::parse("own.json", &bytes) {
            Ok(start) => {
                read += 1;
                play(rng, start, 8);
            }
            Err(EnvError::Broken { place, reason, .. }) => {
                rejected += 1;
                assert!(!place.is_empty() && !reason.is_empty());
            }
            Err(other) => panic!("{other}"),
        }
    });
    println!("BabyAI level files: {read} files were read and played, {rejected} rejected");
    assert!(read > 0 && rejected > 0);
}

#[test]
fn hostile_actions_get_a_result() {
    Soak::new("BabyAI actions", 100_000).run(|rng, _| {
        let (mut start, _) = random_level(rng);
        if rng.once_in(2) {
            start.subgoals =
                vec![vec![" There is a ** ball ** 1 steps away.".to_owned(), hostile::text(rng, 1000)]];
        }
        play(rng, start, 30);
    });
}

#[test]
fn an_oversized_level_is_rejected_with_a_message() {
    let row = vec![Value::Null; 129];
    let large = json!({"grid": [row], "objects": [], "agent": [0, 0, 0], "instr": Map::new()});
    let error = LevelStart::parse("large", large.to_string().as_bytes()).unwrap_err().to_string();
    assert!(error.contains("grid[0]: it has 129 entries; at most 128 are read"), "{error}");
    let error = LevelStart::parse("vast", &vec![b' '; 5 << 20]).unwrap_err().to_string();
    assert!(error.contains("a level has at most"), "{error}");
    let objects = vec![json!({"type": "ball", "color": "red"}); 10_000];
    let many = json!({"grid": [[null]], "objects": objects, "agent": [0, 0, 0], "instr": {"op": "goto", "desc": {}}});
    let mut world = World::new(Arc::new(LevelStart::parse("many", many.to_string().as_bytes()).unwrap()));
    assert!(!world.restart().is_empty());
}
