//! Tests in a small level that cover every quirk; malformed files; levels generated from seeds.

mod files;
mod levels;
mod prompts;
mod quirks;

use super::{LevelStart, World};
use serde_json::{Value, json};
use std::sync::Arc;

/// Builds a level from a drawing: `#` wall, `.` empty, `^>v<` the agent, and letters for the objects in their order.
pub(super) fn level_json(rows: &[&str], objects: &[&str], instr: Value) -> Value {
    let mut agent = None;
    let mut grid = Vec::new();
    for (y, row) in rows.iter().enumerate() {
        let cell = |(x, c): (usize, char)| match c {
            '#' => json!("W"),
            '.' => Value::Null,
            'a'..='u' => json!(c as u32 - 'a' as u32),
            _ => {
                agent = Some(json!([x, y, ">v<^".find(c).unwrap()]));
                Value::Null
            }
        };
        grid.push(row.chars().enumerate().map(cell).collect::<Vec<_>>());
    }
    let object = |text: &&str| {
        let words: Vec<&str> = text.split(' ').collect();
        match words.as_slice() {
            [colour, state, "door"] => json!({"type": "door", "color": colour, "state": state}),
            [colour, kind] => json!({"type": kind, "color": colour}),
            other => panic!("{other:?}"),
        }
    };
    let objects: Vec<Value> = objects.iter().map(object).collect();
    let mut level = json!({"grid": grid, "objects": objects, "agent": agent.unwrap(), "max_steps": 100});
    level["instr"] = instr;
    level
}

pub(super) fn go_to_json(kind: &str, colour: &str) -> Value {
    json!({"op": "goto", "desc": {"type": kind, "color": colour}})
}

pub(super) fn load_level(level: &Value) -> LevelStart {
    LevelStart::parse("level", level.to_string().as_bytes()).unwrap()
}

pub(super) fn open_level(level: &Value) -> World {
    World::new(Arc::new(load_level(level)))
}

/// Returns the available actions as one text.
pub(super) fn joined_actions(world: &World) -> String {
    world.available_actions().collect::<Vec<_>>().join(", ")
}
