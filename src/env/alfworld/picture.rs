//! The picture of a household: where the agent is, what it holds, and what it saw where.

use crate::domain::{Picture, PictureGlyphs, PictureRequest, PictureRole, PictureRow};
use crate::env::picture::{labelled_rows, wrap_words};
use crate::text::{truncate, width, width_within};
use serde_json::Value;

/// What is known about one place.
struct KnownPlace<'a> {
    name: &'a str,
    is_agent_here: bool,
    is_seen: bool,
    is_open: Option<bool>,
    items: Vec<&'a str>,
}

/// What is known about the environment, parsed from its untyped JSON.
struct KnownWorld<'a> {
    room: Option<&'a str>,
    agent_place: Option<&'a str>,
    holding: Vec<&'a str>,
    places: Vec<KnownPlace<'a>>,
}

/// Returns the picture of a household.
pub fn draw_picture(request: &PictureRequest<'_>) -> Picture {
    let known = KnownWorld::parse(request.truth.unwrap_or(request.shown));
    let all = known.places.len();
    // The ground truth lists every place, so count the places that the agent has seen in its own view.
    let seen = match request.truth {
        Some(_) => KnownWorld::parse(request.shown).seen_places(),
        None => known.seen_places(),
    };
    Picture {
        summary: if all > 0 { format!("{seen} of {all} places seen") } else { String::new() },
        one_line: known.one_line_variants(seen, request.glyphs().separator),
        shows_truth: request.truth.is_some(),
        rows: world_rows(request, &known),
    }
}

/// Returns the rows: goal, place and what the agent holds, then the places.
fn world_rows(request: &PictureRequest<'_>, known: &KnownWorld<'_>) -> Vec<PictureRow> {
    let glyphs = request.glyphs();
    let truth = request.truth.is_some();
    let max_width = request.columns.max(8);
    let mut rows: Vec<PictureRow> = Vec::new();
    let mut field = |name: &str, role: PictureRole, text: &str| {
        rows.extend(labelled_rows(&format!("{name:<9}"), role, text, max_width));
    };
    if !request.goal.is_empty() {
        field("goal", PictureRole::Text, request.goal);
    }
    let place = match (known.room, known.agent_place) {
        (Some(room), Some(at)) => format!("{room} {} {at}", glyphs.separator),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => "in the middle of the room".to_owned(),
    };
    field("place", PictureRole::Text, &place);
    let holding = if known.holding.is_empty() { "nothing".to_owned() } else { known.holding.join(", ") };
    field(
        "holding",
        if known.holding.is_empty() { PictureRole::Muted } else { PictureRole::Accent },
        &holding,
    );
    if known.places.is_empty() {
        return rows;
    }
    rows.push(Vec::new());
    // The agent's place comes first, then places that hold something.
    let mut seen: Vec<&KnownPlace<'_>> = known.places.iter().filter(|p| p.is_seen || truth).collect();
    seen.sort_by_key(|p| (!p.is_agent_here, p.items.is_empty()));
    let name_width = seen.iter().map(|p| width_within(p.name, max_width / 2)).max().unwrap_or(0);
    for place in seen {
        rows.extend(place_rows(glyphs, place, name_width, max_width));
    }
    let unseen: Vec<String> =
        known.places.iter().filter(|p| !p.is_seen && !truth).map(|p| non_breaking(p.name)).collect();
    if !unseen.is_empty() {
        if rows.last().is_some_and(|row| !row.is_empty()) {
            rows.push(Vec::new());
        }
        let text = format!("not seen  {}", unseen.join(", "));
        rows.extend(wrap_words(&text, max_width).into_iter().map(|line| vec![(PictureRole::Muted, line)]));
    }
    rows
}

/// Returns the rows of one place.
fn place_rows(
    glyphs: &PictureGlyphs,
    place: &KnownPlace<'_>,
    name_width: usize,
    max_width: usize,
) -> Vec<PictureRow> {
    let mark = if place.is_agent_here { glyphs.pointer } else { " " };
    let role = if place.is_agent_here { PictureRole::Title } else { PictureRole::Text };
    let name = truncate(place.name, name_width, glyphs.ellipsis);
    let pad = " ".repeat(name_width.saturating_sub(width(&name)));
    let holds = place.items.iter().map(|h| non_breaking(h)).collect::<Vec<_>>().join(", ");
    let (text, text_role) = match (place.is_open, place.items.is_empty()) {
        (Some(false), true) => ("closed".to_owned(), PictureRole::Warning),
        // Known from before it was closed, or from the ground truth.
        (Some(false), false) => (format!("closed: {holds}"), PictureRole::Warning),
        (Some(true), true) => ("open, empty".to_owned(), PictureRole::Muted),
        (_, true) => ("empty".to_owned(), PictureRole::Muted),
        (Some(true), false) => (format!("open: {holds}"), PictureRole::Observation),
        (None, false) => (holds, PictureRole::Observation),
    };
    let lines = wrap_words(&text, max_width.saturating_sub(name_width + 4));
    let mut rows = Vec::new();
    for (row, line) in lines.into_iter().enumerate() {
        let lead = if row == 0 {
            vec![
                (PictureRole::Accent, format!("{mark} ")),
                (role, name.clone()),
                (PictureRole::Muted, format!("{pad}  ")),
            ]
        } else {
            vec![(PictureRole::Muted, " ".repeat(name_width + 4))]
        };
        rows.push(lead.into_iter().chain([(text_role, line)]).collect());
    }
    rows
}

impl<'a> KnownWorld<'a> {
    fn parse(value: &'a Value) -> Self {
        let word = |name: &str| value.get(name).and_then(Value::as_str).filter(|w| !w.is_empty());
        let at = word("place");
        // The agent's view has one list of places and another of what was seen in them; the ground truth combines both.
        let receptacles = value.get("receptacles");
        let seen =
            receptacles.filter(|r| r.is_object()).or_else(|| value.get("seen")).and_then(Value::as_object);
        let mut names = string_list(receptacles);
        // A place may have been seen without having been listed.
        names.extend(seen.into_iter().flatten().map(|(name, _)| name.as_str()));
        names.sort_by_key(|name| natural_key(name));
        names.dedup();
        let places: Vec<KnownPlace<'a>> = names
            .into_iter()
            .map(|name| KnownPlace::parse(name, seen.and_then(|s| s.get(name)), at))
            .collect();
        let room = word("room").or_else(|| guess_room(&places));
        Self { room, agent_place: at, holding: string_list(value.get("holding")), places }
    }
}

impl KnownWorld<'_> {
    /// Returns how many places the agent has looked at.
    fn seen_places(&self) -> usize {
        self.places.iter().filter(|place| place.is_seen).count()
    }

    /// Returns one-line summaries from long to short; the shorter ones leave out what can be seen elsewhere.
    fn one_line_variants(&self, seen: usize, dot: &str) -> Vec<String> {
        let all = self.places.len();
        let at = self.agent_place.map(|a| format!("at {a}"));
        let holding = (!self.holding.is_empty()).then(|| format!("holding {}", self.holding.join(", ")));
        let long = (all > 0).then(|| format!("{seen} of {all} places seen"));
        let short = (all > 0).then(|| format!("{seen}/{all} seen"));
        let kind = self.room.map(str::to_owned);
        let variants = [
            vec![kind.clone(), at.clone(), holding.clone(), long],
            vec![kind, at.clone(), holding.clone(), short.clone()],
            vec![at.clone(), holding.clone(), short],
            vec![at, holding],
        ];
        let separator = format!(" {dot} ");
        variants
            .into_iter()
            .map(|parts| parts.into_iter().flatten().collect::<Vec<_>>().join(&separator))
            .collect()
    }
}

impl<'a> KnownPlace<'a> {
    fn parse(name: &'a str, value: Option<&'a Value>, at: Option<&str>) -> Self {
        let items = value.and_then(|v| v.get("items"));
        let open = value.and_then(|v| v.get("open")).and_then(Value::as_bool);
        Self {
            name,
            is_agent_here: at == Some(name),
            is_seen: items.is_some() || open.is_some(),
            is_open: open,
            items: string_list(items),
        }
    }
}

/// Returns the kind of room, guessed from its furniture.
fn guess_room(places: &[KnownPlace<'_>]) -> Option<&'static str> {
    const ROOM_SIGNS: [(&str, &str); 8] = [
        ("fridge", "kitchen"),
        ("stoveburner", "kitchen"),
        ("toilet", "bathroom"),
        ("bathtubbasin", "bathroom"),
        ("bed", "bedroom"),
        ("sofa", "living room"),
        ("armchair", "living room"),
        ("sinkbasin", "bathroom"),
    ];
    let stands = |sign: &str| places.iter().any(|p| natural_key(p.name).0 == sign);
    ROOM_SIGNS.iter().find(|(sign, _)| stands(sign)).map(|(_, room)| *room)
}

fn string_list(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(one)) if !one.is_empty() => vec![one],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns a name with non-breaking spaces.
fn non_breaking(name: &str) -> String {
    name.replace(' ', "\u{a0}")
}

/// Returns a sort key that puts `drawer 2` before `drawer 10`.
fn natural_key(name: &str) -> (&str, u64) {
    match name.rsplit_once(' ') {
        Some((kind, number)) => (kind, number.parse().unwrap_or(0)),
        None => (name, 0),
    }
}
