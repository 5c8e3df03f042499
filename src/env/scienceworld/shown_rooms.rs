//! Rooms as `shown` and `truth` have them.

use crate::rooms::{KnownRooms, Room, RoomChange};
use serde_json::{Map, Value, json};

/// Returns a room as `shown` and `truth` have it.
pub(super) fn room_as_json(room: &Room) -> Value {
    json!({ "contents": room.contents, "doors": room.doors })
}

/// Returns the fields of `shown` that changes concern, as a merge patch.
pub(super) fn shown_fields(changes: &[RoomChange], known: &KnownRooms) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut rooms = Map::new();
    for change in changes {
        match change {
            RoomChange::Moved(name) => {
                fields.insert("location".to_owned(), json!(name));
            }
            RoomChange::Focused(name) => {
                fields.insert("focus".to_owned(), json!(name));
            }
            RoomChange::Described(name) => {
                let room = known.rooms.get(name).map(room_as_json);
                rooms.extend(room.map(|room| (name.clone(), room)));
            }
            RoomChange::Door { room, other, is_open } => {
                rooms.insert(room.clone(), json!({ "doors": { other: is_open } }));
            }
        }
    }
    if !rooms.is_empty() {
        fields.insert("rooms".to_owned(), Value::Object(rooms));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_changed_is_in_the_patch() {
        let mut known = KnownRooms::default();
        let studio = "This room is called the art studio. In it, you see: \n\tthe agent\n\ta table\nYou also see:\n\tA door to the hallway (that is closed)";
        let steps = [
            (
                "look around",
                studio,
                json!({ "location": "art studio", "rooms": { "art studio": { "contents": ["a table"], "doors": { "hallway": false } } } }),
            ),
            ("look around", studio, json!({})),
            (
                "open door to hallway",
                "The door is now open.",
                json!({ "rooms": { "art studio": { "doors": { "hallway": true } } } }),
            ),
            ("focus on table", "You focus on the table.", json!({ "focus": "table" })),
            ("go to hallway", "You move to the hallway.", json!({ "location": "hallway" })),
        ];
        for (action, answer, expected) in steps {
            let changes = known.update(action, answer);
            assert_eq!(Value::Object(shown_fields(&changes, &known)), expected, "{action}");
        }
    }
}
