//! The grammar of descriptions of rooms; a leaf, so that the environment and the rule-based actor parse alike
//! without knowing each other.

use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

type Pattern = LazyLock<Option<Regex>>;

static ROOM: Pattern = LazyLock::new(|| {
    Regex::new(r"^This (?:room|outside location) is called the (.+?)\. (?:In it, you see|Here you see):").ok()
});
static DOOR: Pattern =
    LazyLock::new(|| Regex::new(r"^\s*A door to the (.+) \(that is (open|closed)\)\s*$").ok());
static MOVED: Pattern =
    LazyLock::new(|| Regex::new(r"^You (?:move|teleport) (?:through the door )?to the (.+)\.\s*$").ok());
/// An action on a door: `open door to kitchen` or `close kitchen door`.
static DOOR_ACTION: Pattern = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*(?:open|close)\s+(?:the\s+)?(?:door\s+to\s+(?:the\s+)?(.+?)|(.+?)\s+door)\s*$").ok()
});
static MOVED_THING: Pattern = LazyLock::new(|| Regex::new(r"^You move the (.+) to the (.+)\.\s*$").ok());
static FOCUS: Pattern = LazyLock::new(|| Regex::new(r"^You focus on the (.+)\.\s*$").ok());
/// Where the doors of a room begin.
const DOORS_HEADING: &str = "You also see:";
/// What stands before the list of what a thing contains, or of what is on it.
const LIST_STARTS: [&str; 2] = ["(containing ", " is: "];
/// An empty list.
const NOTHING: &str = "nothing";
/// What stands before the name of a thing.
const ARTICLES: [&str; 4] = ["a substance called ", "a ", "an ", "the "];
/// What is in every room.
const ALWAYS_THERE: [&str; 2] = ["the agent", "a substance called air"];

/// A room as the answer to `look around` describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// What is in it, a line each, without the agent and the air.
    pub contents: Vec<String>,
    /// Whether the door to each room next to it is open.
    pub doors: BTreeMap<String, bool>,
}

/// What an answer has added to what is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoomChange {
    /// The agent is in this room now.
    Moved(String),
    /// This room was described otherwise than before.
    Described(String),
    /// The door of `room` that leads to `other` is now open or closed.
    Door { room: String, other: String, is_open: bool },
    /// The agent has focused on this.
    Focused(String),
}

/// Everything that an agent has seen of an episode.
#[derive(Clone, Debug, Default)]
pub struct KnownRooms {
    /// The room where the agent is.
    pub location: Option<String>,
    pub rooms: BTreeMap<String, Room>,
    /// What the agent has focused on last.
    pub focus: Option<String>,
}

/// Parses a description of a room. Returns its name and what is in it, or `None` for any other text.
pub fn parse_room(text: &str) -> Option<(String, Room)> {
    let (first, rest) = text.split_once('\n')?;
    let name = ROOM.as_ref()?.captures(first)?.get(1)?.as_str().to_owned();
    let mut room = Room::default();
    let (contents, doors) = rest.split_once(DOORS_HEADING).unwrap_or((rest, ""));
    for line in contents.lines().map(str::trim) {
        if !line.is_empty() && !ALWAYS_THERE.contains(&line) {
            room.contents.push(line.to_owned());
        }
    }
    for line in doors.lines() {
        let found = DOOR.as_ref().and_then(|door| door.captures(line));
        let parts = found.and_then(|f| Some((f.get(1)?.as_str().to_owned(), f.get(2)?.as_str() == "open")));
        room.doors.extend(parts);
    }
    Some((name, room))
}

/// Returns the things in the answer to `inventory`.
pub fn parse_inventory(text: &str) -> Vec<String> {
    let things = text.lines().skip(1).map(str::trim).filter(|line| !line.is_empty());
    things.map(str::to_owned).collect()
}

/// Returns the name of a thing in a description, without its article, its state and what it contains.
pub fn thing_name(description: &str) -> &str {
    let name = description.split([',', '(', '.']).next().unwrap_or_default().trim();
    ARTICLES.iter().find_map(|article| name.strip_prefix(article)).unwrap_or(name)
}

/// Takes a thing out of a room. Returns its description; `None` if it wasn't in sight.
fn take_thing(contents: &mut Vec<String>, thing: &str) -> Option<String> {
    match contents.iter().position(|line| thing_name(line) == thing) {
        Some(place) => Some(contents.remove(place)),
        None => contents.iter_mut().find_map(|line| take_from_container(line, thing)),
    }
}

/// Takes a thing out of the list of what a container contains. Returns its description; `None` if it isn't there.
fn take_from_container(line: &mut String, thing: &str) -> Option<String> {
    for before in LIST_STARTS.into_iter().chain([", "]) {
        for article in ARTICLES.into_iter().chain([""]) {
            let pattern = format!("{before}{article}{thing}");
            let Some(at) = line.find(&pattern) else { continue };
            let start = at + before.len();
            let mut end = at + pattern.len();
            // What it contains and how it is belong to it.
            if line[end..].starts_with(" (") {
                end += line[end..].find(')')? + 1;
            } else if [", which is ", ", currently "].iter().any(|state| line[end..].starts_with(state)) {
                end += 1 + line[end + 1..].find([',', ')', '.'])?;
            }
            if !line[end..].starts_with([',', ')', '.']) {
                continue;
            }
            let description = line[start..end].to_owned();
            if line[end..].starts_with(", ") {
                line.replace_range(start..end + 2, "");
            } else if before == ", " {
                line.replace_range(at..end, "");
            } else {
                line.replace_range(start..end, NOTHING);
            }
            return Some(description);
        }
    }
    None
}

/// Adds a thing to the list of what a container contains, if its description has one.
fn put_into_container(line: &mut String, thing: &str) {
    let starts = LIST_STARTS.iter().filter_map(|start| Some(line.find(start)? + start.len()));
    let Some(start) = starts.min() else { return };
    if line[start..].starts_with(NOTHING) {
        line.replace_range(start..start + NOTHING.len(), thing);
    } else {
        line.insert_str(start, &format!("{thing}, "));
    }
}

impl KnownRooms {
    /// Takes over what the answer to an action says, and returns what has changed.
    pub fn update(&mut self, action: &str, observation: &str) -> Vec<RoomChange> {
        let mut changes = Vec::new();
        if let Some((name, room)) = parse_room(observation) {
            self.move_to(&name, &mut changes);
            if self.rooms.get(&name) != Some(&room) {
                changes.push(RoomChange::Described(name.clone()));
                self.rooms.insert(name, room);
            }
        } else if let Some(name) = first_group(&MOVED, observation) {
            self.move_to(name, &mut changes);
        } else if let Some(moved) = MOVED_THING.as_ref().and_then(|pattern| pattern.captures(observation)) {
            self.move_thing(&moved[1], &moved[2], &mut changes);
        } else if let Some(focus) = first_group(&FOCUS, observation) {
            self.focus = Some(focus.to_owned());
            changes.push(RoomChange::Focused(focus.to_owned()));
        } else if let Some(is_open) = door_state(observation) {
            let found = DOOR_ACTION.as_ref().and_then(|pattern| pattern.captures(action));
            let other = found.and_then(|found| Some(found.get(1).or(found.get(2))?.as_str().to_lowercase()));
            if let Some((here, other)) = self.location.clone().zip(other) {
                self.set_door(&here, &other, is_open, &mut changes);
                self.set_door(&other, &here, is_open, &mut changes);
            }
        }
        changes
    }

    fn move_to(&mut self, name: &str, changes: &mut Vec<RoomChange>) {
        if self.location.as_deref() != Some(name) {
            self.location = Some(name.to_owned());
            changes.push(RoomChange::Moved(name.to_owned()));
        }
    }

    /// Moves a thing from or to the room where the agent is, as far as its description tells.
    fn move_thing(&mut self, thing: &str, target: &str, changes: &mut Vec<RoomChange>) {
        let Some(here) = self.location.clone() else { return };
        let Some(room) = self.rooms.get_mut(&here) else { return };
        let before = room.contents.clone();
        let description = take_thing(&mut room.contents, thing);
        let moved = description.unwrap_or_else(|| thing.to_owned());
        if target == here {
            room.contents.push(moved);
        } else if let Some(container) = room.contents.iter_mut().find(|line| thing_name(line) == target) {
            put_into_container(container, moved.split([',', '(', '.']).next().unwrap_or_default().trim());
        }
        if room.contents != before {
            changes.push(RoomChange::Described(here));
        }
    }

    /// Sets a door that is known.
    fn set_door(&mut self, room: &str, other: &str, is_open: bool, changes: &mut Vec<RoomChange>) {
        let Some(door) = self.rooms.get_mut(room).and_then(|room| room.doors.get_mut(other)) else { return };
        if *door != is_open {
            *door = is_open;
            changes.push(RoomChange::Door { room: room.to_owned(), other: other.to_owned(), is_open });
        }
    }
}

/// Returns whether the answer says that a door is open (or closed), now or before.
fn door_state(observation: &str) -> Option<bool> {
    Some(match observation.trim_end() {
        "The door is now open." | "The door is already open." => true,
        "The door is now closed." | "The door is already closed." => false,
        _ => return None,
    })
}

fn first_group<'t>(pattern: &Pattern, text: &'t str) -> Option<&'t str> {
    Some(pattern.as_ref()?.captures(text)?.get(1)?.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDIO: &str = "This room is called the art studio. In it, you see: \n\tthe agent\n\ta substance called air\n\ta large cupboard. The large cupboard door is closed. \n\ta table. On the table is: a bowl (containing nothing).\nYou also see:\n\tA door to the hallway (that is closed)";
    const OUTSIDE: &str = "This outside location is called the outside. Here you see: \n\tthe agent\n\ta substance called air\n\tan axe\nYou also see:\n\tA door to the foundry (that is open)\n\tA door to the kitchen (that is closed)\n";

    #[test]
    fn descriptions_of_rooms_are_read() {
        let (name, room) = parse_room(STUDIO).unwrap();
        assert_eq!(name, "art studio");
        let contents = [
            "a large cupboard. The large cupboard door is closed.",
            "a table. On the table is: a bowl (containing nothing).",
        ];
        assert_eq!(room.contents, contents);
        assert_eq!(room.doors, [("hallway".to_owned(), false)].into());
        let (name, room) = parse_room(OUTSIDE).unwrap();
        assert_eq!((name.as_str(), room.contents.as_slice()), ("outside", &["an axe".to_owned()][..]));
        assert_eq!(room.doors, [("foundry".to_owned(), true), ("kitchen".to_owned(), false)].into());
        assert_eq!(parse_room("Inside the table is: \n\tthe agent"), None);
        let inventory = "In your inventory, you see:\n\tan orange\n\ta pot (containing water)\n";
        assert_eq!(parse_inventory(inventory), ["an orange", "a pot (containing water)"]);
        let names = [
            ("a large cupboard. The large cupboard door is closed.", "large cupboard"),
            ("an orange box (containing nothing)", "orange box"),
            ("a substance called sodium chloride", "sodium chloride"),
            ("the ground", "ground"),
            ("a thermometer, currently reading a temperature of 10 degrees celsius", "thermometer"),
        ];
        for (description, name) in names {
            assert_eq!(thing_name(description), name);
        }
    }

    /// Regression: a thing that the agent had taken or put elsewhere was still where it had been seen.
    #[test]
    fn a_thing_that_was_moved_is_no_longer_where_it_was_seen() {
        let kitchen = "This room is called the kitchen. In it, you see: \n\tthe agent\n\ta blue jay egg\n\
                       \tan orange box (containing nothing)\n\ta counter. On the counter is: a bowl (containing a red apple, a banana), a lamp, which is off, a drawer.\n\
                       You also see:\n\tA door to the hallway (that is open)";
        let mut known = KnownRooms::default();
        known.update("look around", kitchen);
        let counter = "a counter. On the counter is: a bowl (containing a red apple, a banana), a lamp, which is off, a drawer.";
        let steps: [(&str, &[&str]); 7] = [
            ("You move the blue jay egg to the inventory.", &["an orange box (containing nothing)", counter]),
            (
                "You move the blue jay egg to the orange box.",
                &["an orange box (containing blue jay egg)", counter],
            ),
            (
                "You move the red apple to the orange box.",
                &[
                    "an orange box (containing a red apple, blue jay egg)",
                    "a counter. On the counter is: a bowl (containing a banana), a lamp, which is off, a drawer.",
                ],
            ),
            (
                "You move the banana to the inventory.",
                &[
                    "an orange box (containing a red apple, blue jay egg)",
                    "a counter. On the counter is: a bowl (containing nothing), a lamp, which is off, a drawer.",
                ],
            ),
            (
                "You move the lamp to the kitchen.",
                &[
                    "an orange box (containing a red apple, blue jay egg)",
                    "a counter. On the counter is: a bowl (containing nothing), a drawer.",
                    "a lamp, which is off",
                ],
            ),
            (
                "You move the bowl to the inventory.",
                &[
                    "an orange box (containing a red apple, blue jay egg)",
                    "a counter. On the counter is: a drawer.",
                    "a lamp, which is off",
                ],
            ),
            (
                "You move the drawer to the inventory.",
                &[
                    "an orange box (containing a red apple, blue jay egg)",
                    "a counter. On the counter is: nothing.",
                    "a lamp, which is off",
                ],
            ),
        ];
        for (observation, contents) in steps {
            let changes = known.update("move it", observation);
            assert_eq!(changes, [RoomChange::Described("kitchen".to_owned())], "{observation}");
            assert_eq!(known.rooms["kitchen"].contents, contents, "{observation}");
        }
        assert_eq!(known.update("move it", "You move the shovel to the inventory."), []);
    }

    #[test]
    fn what_is_known_grows_with_the_answers() {
        let mut known = KnownRooms::default();
        let (studio, hallway) = ("art studio".to_owned(), "hallway".to_owned());
        let door = RoomChange::Door { room: studio.clone(), other: hallway.clone(), is_open: true };
        let (moved, described) = (RoomChange::Moved(studio.clone()), RoomChange::Described(studio.clone()));
        let steps = [
            ("look around", STUDIO, vec![moved.clone(), described.clone()]),
            ("look around", STUDIO, Vec::new()),
            ("open door to hallway", "The door is now open.", vec![door]),
            ("open hallway door", "The door is already open.", Vec::new()),
            ("go to hallway", "You move to the hallway.", vec![RoomChange::Moved(hallway.clone())]),
            ("pick up orange", "You move the orange to the inventory.", Vec::new()),
            ("focus on orange", "You focus on the orange.", vec![RoomChange::Focused("orange".to_owned())]),
            ("nonsense", "No known action matches that input.", Vec::new()),
            ("go to door", "You move through the door to the art studio.", vec![moved]),
            ("look around", STUDIO, vec![described]),
        ];
        for (action, observation, expected) in steps {
            assert_eq!(known.update(action, observation), expected, "{action}");
        }
        assert_eq!((known.location, known.focus), (Some(studio), Some("orange".to_owned())));
    }
}
