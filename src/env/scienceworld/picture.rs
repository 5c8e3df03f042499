//! The picture: the room where the agent is with its doors and contents, what the agent carries and its focus, and the other
//! rooms.

use crate::domain::{Picture, PictureGlyphs, PictureRequest, PictureRole, PictureRow};
use crate::env::picture::labelled_rows;
use crate::rooms::thing_name;
use crate::text::{one_line, prefix, truncate, width};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The words with which every goal begins.
const GOAL_START: &str = "Your task is to ";
/// The labels before the rows, of equal width.
const GOAL: &str = "goal      ";
const ROOM: &str = "room      ";
const DOORS: &str = "doors     ";
const HERE: &str = "here      ";
const CARRIES: &str = "carrying  ";
const FOCUS: &str = "focus     ";
const BLANK: &str = "          ";
/// The maximum number of rows of one part; bounds the work per frame.
const MAX_ROWS: usize = 40;
/// Bytes of a longer name are left out.
const MAX_NAME_BYTES: usize = 500;
/// Words of a goal with fewer letters name nothing.
const MIN_WORD_LETTERS: usize = 4;

/// What is known, as the environment says it.
struct Known<'a> {
    location: Option<&'a str>,
    /// By name: what was seen, or what is really there if a person wants to see that.
    rooms: Vec<(&'a str, &'a Value)>,
    carried: Vec<&'a str>,
    focus: Option<&'a str>,
    /// The words of the goal, in lower case.
    goal_words: BTreeSet<String>,
}

impl<'a> Known<'a> {
    fn parse(request: &PictureRequest<'a>) -> Self {
        let truth = request.truth.unwrap_or(&Value::Null);
        let room_map = |known: &'a Value| known.get("rooms").and_then(Value::as_object);
        let (seen, real) = (room_map(request.shown), room_map(truth));
        let names: BTreeSet<&str> =
            seen.into_iter().chain(real).flat_map(Map::keys).map(String::as_str).collect();
        let room =
            |name: &'a str| Some((name, real.and_then(|rooms| rooms.get(name)).or_else(|| seen?.get(name))?));
        let location = truth.get("location").or_else(|| request.shown.get("location"));
        Self {
            location: location.and_then(Value::as_str),
            rooms: names.into_iter().filter_map(room).take(MAX_ROWS).collect(),
            carried: texts(request.shown.get("inventory")),
            focus: request.shown.get("focus").and_then(Value::as_str),
            goal_words: words(request.goal).filter(|word| word.len() >= MIN_WORD_LETTERS).collect(),
        }
    }

    fn room(&self, name: &str) -> Option<&'a Value> {
        self.rooms.iter().find(|(known, _)| *known == name).map(|(_, room)| *room)
    }

    /// Returns the rooms to which known doors lead and that the agent hasn't seen, each once.
    fn unseen(&self) -> BTreeSet<&'a str> {
        let others = self.rooms.iter().flat_map(|(_, room)| doors(room)).map(|(other, _)| other);
        others.filter(|other| self.room(other).is_none()).collect()
    }

    fn names_goal(&self, text: &str) -> bool {
        // What a thing contains or how it is comes after its name.
        let name = text.split([',', '(', '.']).next().unwrap_or_default();
        words(name).any(|word| self.goal_words.contains(&word))
    }

    fn role(&self, text: &str, other: PictureRole) -> PictureRole {
        if self.names_goal(text) { PictureRole::Goal } else { other }
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn texts(list: Option<&Value>) -> Vec<&str> {
    let texts = list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    texts.take(MAX_ROWS).map(|text| prefix(text, MAX_NAME_BYTES)).collect()
}

/// Returns the rooms to which a room's doors lead, and whether each is open.
fn doors(room: &Value) -> impl Iterator<Item = (&str, bool)> {
    let doors = room.get("doors").and_then(Value::as_object).into_iter().flatten();
    doors.take(MAX_ROWS).filter_map(|(name, is_open)| Some((name.as_str(), is_open.as_bool()?)))
}

/// Returns the picture of ScienceWorld.
pub fn draw_picture(request: &PictureRequest<'_>) -> Picture {
    let known = Known::parse(request);
    let glyphs = request.glyphs();
    let columns = request.columns.max(8);
    let mut rows = Vec::new();
    // What a person asks for with the ground truth; the things of a room are many.
    if let Some(goals) = request.truth.and_then(|truth| truth.get("goals")) {
        add_goals(&mut rows, goals, columns, glyphs);
    }
    if !request.goal.is_empty() {
        let goal = request.goal.strip_prefix(GOAL_START).unwrap_or(request.goal);
        rows.extend(labelled_rows(GOAL, PictureRole::Text, goal, columns));
    }
    let Some(location) = known.location else {
        rows.push(vec![(PictureRole::Muted, "nothing is known yet".to_owned())]);
        return Picture { rows, shows_truth: request.truth.is_some(), ..Picture::default() };
    };
    rows.extend(labelled_rows(ROOM, known.role(location, PictureRole::Title), location, columns));
    // Few words that matter, before the many things of a room.
    add_list(&mut rows, CARRIES, &known.carried, &known, columns);
    if let Some(focus) = known.focus {
        rows.extend(labelled_rows(FOCUS, PictureRole::Accent, focus, columns));
    }
    match known.room(location) {
        Some(room) => add_room(&mut rows, room, &known, columns, glyphs),
        None => rows.extend(labelled_rows(HERE, PictureRole::Muted, "not looked around yet", columns)),
    }
    add_other_rooms(&mut rows, location, &known, (columns, request.rows), glyphs);
    let seen = known.rooms.len();
    let all = seen + known.unseen().len();
    let carried = match known.carried.len() {
        0 => None,
        1 => Some(format!("carrying {}", known.carried[0])),
        count => Some(format!("carrying {count} things")),
    };
    let focus = known.focus.map(|focus| format!("focus {focus}"));
    let separator = format!(" {} ", glyphs.separator);
    let variants = [
        vec![
            Some(location.to_owned()),
            carried.clone(),
            focus.clone(),
            Some(format!("{seen} of {all} rooms seen")),
        ],
        vec![Some(location.to_owned()), carried, focus],
        vec![Some(location.to_owned())],
    ];
    let join = |parts: Vec<Option<String>>| parts.into_iter().flatten().collect::<Vec<_>>().join(&separator);
    Picture {
        summary: format!("{seen} of {all} rooms seen"),
        one_line: variants.into_iter().map(join).collect(),
        shows_truth: request.truth.is_some(),
        rows,
    }
}

/// Adds the doors and the contents of the room where the agent is.
fn add_room(
    rows: &mut Vec<PictureRow>,
    room: &Value,
    known: &Known<'_>,
    columns: usize,
    glyphs: &PictureGlyphs,
) {
    let mut line: PictureRow = Vec::new();
    let mut used = 0;
    let mut lead = DOORS;
    for (other, is_open) in doors(room) {
        let name = one_line(prefix(other, MAX_NAME_BYTES)).into_owned();
        let state = if is_open { "open" } else { "closed" };
        let wide = width(&name) + width(state) + 3;
        if used == 0 || used + wide > columns {
            if used > 0 {
                rows.push(std::mem::take(&mut line));
            }
            line.push((PictureRole::Muted, lead.to_owned()));
            (used, lead) = (BLANK.len(), BLANK);
        } else {
            line.push((PictureRole::Muted, format!(" {} ", glyphs.separator)));
            used += 3;
        }
        used += wide - 2;
        let is_unseen = known.room(other).is_none();
        line.push((known.role(other, if is_unseen { PictureRole::Accent } else { PictureRole::Text }), name));
        line.push((if is_open { PictureRole::Muted } else { PictureRole::Warning }, format!(" {state}")));
    }
    if !line.is_empty() {
        rows.push(line);
    }
    add_list(rows, HERE, &texts(room.get("contents")), known, columns);
}

/// Adds things, each in a row of its own.
fn add_list(rows: &mut Vec<PictureRow>, label: &str, things: &[&str], known: &Known<'_>, columns: usize) {
    if things.is_empty() {
        rows.extend(labelled_rows(label, PictureRole::Muted, "nothing", columns));
    }
    for (index, thing) in things.iter().enumerate() {
        let lead = if index == 0 { label } else { BLANK };
        rows.extend(labelled_rows(lead, known.role(thing, PictureRole::Observation), thing, columns));
    }
}

/// Adds a row for each other room that was seen, and one for those that weren't. What a room has is cut to one row only if the
/// area has no room for all of it.
fn add_other_rooms(
    rows: &mut Vec<PictureRow>,
    location: &str,
    known: &Known<'_>,
    (columns, area_rows): (usize, usize),
    glyphs: &PictureGlyphs,
) {
    let others: Vec<&(&str, &Value)> = known.rooms.iter().filter(|(name, _)| *name != location).collect();
    let unseen = known.unseen();
    if others.is_empty() && unseen.is_empty() {
        return;
    }
    rows.push(Vec::new());
    let widest = others.iter().map(|(name, _)| width(prefix(name, MAX_NAME_BYTES))).max().unwrap_or(0);
    // Below the other labels.
    let name_columns = widest.max(BLANK.len() - 2).min(columns / 3);
    let left = columns.saturating_sub(name_columns + 2);
    let (mut cut, mut whole) = (Vec::new(), Vec::new());
    for (name, room) in others {
        let shown = truncate(&one_line(prefix(name, MAX_NAME_BYTES)), name_columns, glyphs.ellipsis);
        let padding = " ".repeat(name_columns.saturating_sub(width(&shown)) + 2);
        let contents = texts(room.get("contents"));
        let wanted = contents.iter().copied().filter(|text| known.names_goal(text));
        let things: Vec<&str> = wanted
            .chain(contents.iter().copied().filter(|text| !known.names_goal(text)))
            .map(thing_name)
            .collect();
        let list = if things.is_empty() { "empty".to_owned() } else { things.join(", ") };
        let role = if contents.iter().any(|text| known.names_goal(text)) {
            PictureRole::Goal
        } else {
            PictureRole::Observation
        };
        let label = (known.role(name, PictureRole::Text), format!("{shown}{padding}"));
        cut.push(vec![label.clone(), (role, truncate(&one_line(&list), left, glyphs.ellipsis))]);
        let mut lines = labelled_rows(&label.1, role, &one_line(&list), columns);
        if let Some(first) = lines.first_mut().and_then(|row| row.first_mut()) {
            *first = label;
        }
        whole.extend(lines);
    }
    let names: Vec<&str> = unseen.into_iter().map(|name| prefix(name, MAX_NAME_BYTES)).collect();
    let not_seen = if names.is_empty() {
        Vec::new()
    } else {
        labelled_rows("not seen  ", PictureRole::Muted, &names.join(", "), columns)
    };
    let has_space = rows.len() + whole.len() + not_seen.len() <= area_rows;
    rows.extend(if has_space { whole } else { cut });
    rows.extend(not_seen);
}

/// Adds the goals of the simulator, with a mark for those that are reached, and an empty row after each list.
fn add_goals(rows: &mut Vec<PictureRow>, goals: &Value, columns: usize, glyphs: &PictureGlyphs) {
    for (name, label) in [("in_order", "to do, in this order"), ("helpful", "what helps")] {
        let list = goals.get(name).and_then(Value::as_array).filter(|list| !list.is_empty());
        let Some(list) = list else { continue };
        rows.push(vec![(PictureRole::Muted, label.to_owned())]);
        for goal in list.iter().take(MAX_ROWS) {
            let is_reached = goal.get("reached").and_then(Value::as_bool).unwrap_or_default();
            let text = goal.get("goal").and_then(Value::as_str).unwrap_or_default();
            let (mark, role) =
                if is_reached { (glyphs.tick, PictureRole::Good) } else { (" ", PictureRole::Text) };
            rows.extend(labelled_rows(&format!("{mark} "), role, prefix(text, MAX_NAME_BYTES), columns));
        }
        rows.push(Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request<'a>(shown: &'a Value, truth: Option<&'a Value>, columns: usize) -> PictureRequest<'a> {
        PictureRequest {
            shown,
            truth,
            goal: "Your task is to find an animal. Move it to the orange box in the kitchen.",
            progress: 0.0,
            columns,
            rows: 40,
            is_ascii: false,
        }
    }

    fn text(picture: &Picture) -> String {
        let line = |row: &PictureRow| row.iter().map(|(_, text)| text.as_str()).collect::<String>();
        picture.rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn world() -> Value {
        json!({
            "location": "hallway", "inventory": ["an orange"], "focus": "dove egg", "score": 8, "moves": 3,
            "rooms": {
                "hallway": { "contents": ["a picture"], "doors": { "kitchen": true, "greenhouse": false, "art studio": false } },
                "kitchen": { "contents": ["an orange box (containing nothing)", "a sink, which is turned off. In the sink is: nothing."], "doors": { "hallway": true } },
            },
        })
    }

    #[test]
    fn room_things_and_other_rooms_are_drawn() {
        let shown = world();
        let picture = draw_picture(&request(&shown, None, 60));
        insta::assert_snapshot!(text(&picture), @r"
        goal      find an animal. Move it to the orange box in the
                  kitchen.
        room      hallway
        carrying  an orange
        focus     dove egg
        doors     art studio closed · greenhouse closed
                  kitchen open
        here      a picture

        kitchen   orange box, sink
        not seen  art studio, greenhouse
        ");
        assert_eq!(picture.summary, "2 of 4 rooms seen");
        assert_eq!(picture.one_line[0], "hallway · carrying an orange · focus dove egg · 2 of 4 rooms seen");
        assert!(!picture.shows_truth);
    }

    /// Regression: what a room has was cut although the rows below were empty.
    #[test]
    fn the_things_of_a_seen_room_are_cut_only_without_space() {
        let mut shown = world();
        shown["rooms"]["kitchen"]["contents"] =
            json!(["a glass jar", "a lighter", "a stopwatch", "a wooden cupboard"]);
        let drawn = |rows| text(&draw_picture(&PictureRequest { rows, ..request(&shown, None, 40) }));
        assert!(
            drawn(20).contains("glass jar, lighter, stopwatch,\n          wooden cupboard\n"),
            "{}",
            drawn(20)
        );
        assert!(
            drawn(10).contains("glass jar, lighter, stopwatch") && drawn(10).contains('…'),
            "{}",
            drawn(10)
        );
    }

    #[test]
    fn the_ground_truth_has_the_goals() {
        let shown = world();
        let truth = json!({
            "location": "hallway",
            "rooms": { "hallway": { "contents": ["a picture", "a dove"], "doors": { "kitchen": true } } },
            "goals": { "in_order": [{ "goal": "focus on animal", "reached": true }], "helpful": [{ "goal": "move to kitchen", "reached": false }] },
        });
        let picture = draw_picture(&request(&shown, Some(&truth), 60));
        let drawn = text(&picture);
        assert!(
            picture.shows_truth && drawn.contains("✓ focus on animal") && drawn.contains("a dove"),
            "{drawn}"
        );
        assert!(drawn.contains("  move to kitchen"), "{drawn}");
    }

    /// Regression: the goals were below the things of the room, where most panes end.
    #[test]
    fn the_goals_come_before_everything_else() {
        let goal = json!({ "goal": "focus on animal", "reached": false });
        let truth = json!({ "goals": { "in_order": [goal], "helpful": [] } });
        let shown = world();
        let drawn = text(&draw_picture(&request(&shown, Some(&truth), 60)));
        let start = "to do, in this order\n  focus on animal\n\ngoal      find an animal.";
        assert!(drawn.starts_with(start), "{drawn}");
    }

    #[test]
    fn malformed_data_fits_the_area() {
        let long = "x\u{1b}[31m\ty".repeat(300);
        let odd = [
            Value::Null,
            json!([1]),
            json!({ "location": 3, "rooms": 7 }),
            json!({ "location": long, "rooms": { &long: { "doors": { &long: true, "b": 1 }, "contents": [long, 3, null] } }, "inventory": "orange" }),
            json!({ "location": "a", "rooms": { "a": 1, "b": { "doors": { "a": false, &long: true } } }, "inventory": vec![&long; 100] }),
        ];
        for shown in &odd {
            for columns in [0, 1, 9, 30, 200] {
                let picture = draw_picture(&request(shown, Some(shown), columns));
                assert!(!picture.rows.is_empty() && picture.rows.len() < 3_000, "{shown}");
            }
        }
    }
}
