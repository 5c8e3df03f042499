//! The world as far as the agent knows it: where it is, what it holds, what it has seen where. A key shows what is true.

mod boxes;
mod grid;
mod planning;

use super::Scratch;
use super::frame;
use crate::text::{fits, truncate, width, width_within, wrap_at_most};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::layout::Block;
use crate::ui::model::{Focus, Model};
use crate::ui::theme::Role;
use ratatui::layout::Rect;
use serde_json::Value;

/// What is known of one place.
struct Place<'a> {
    name: &'a str,
    here: bool,
    seen: bool,
    open: Option<bool>,
    holds: Vec<&'a str>,
}

/// What is known of the world, read from the loose object of the environment.
struct Known<'a> {
    room: Option<&'a str>,
    at: Option<&'a str>,
    holding: Vec<&'a str>,
    places: Vec<Place<'a>>,
}

/// Draws the pane.
pub(super) fn draw(
    model: &Model,
    look: &Context<'_>,
    block: &Block,
    scratch: &mut Scratch,
    canvas: &mut Canvas<'_>,
) {
    let state = look.shown();
    let Some(episode) = &state.episode else {
        titles(model, look, block, None, canvas);
        return;
    };
    if planning::is_one(&episode.shown) {
        let shown = &episode.shown;
        planning_titles(model, look, block, shown, canvas);
        let rows =
            planning::rows(look.glyphs, shown, model.truth.then_some(&episode.truth), block.body.width);
        paint(model, look, block, &rows, scratch, canvas);
        return;
    }
    if let Some(grid) = grid::Grid::read(&episode.shown, model.truth.then_some(&episode.truth)) {
        scratch.world_most = 0;
        grid.draw(model, look, block, canvas);
        return;
    }
    let source = if model.truth { &episode.truth } else { &episode.shown };
    let known = Known::read(source);
    // What is true lists every place with all it holds; how many the agent saw is told by what was shown to it.
    let agents = Known::read(&episode.shown);
    let seen = agents.places.iter().filter(|p| p.seen).count();
    titles(model, look, block, Some((&known, seen)), canvas);
    let rows = rows(look, &known, model.truth, block.body.width, &episode.task.goal);
    paint(model, look, block, &rows, scratch, canvas);
}

/// Puts rows into the pane, from where it is scrolled to.
fn paint(
    model: &Model,
    look: &Context<'_>,
    block: &Block,
    rows: &[Pieces],
    scratch: &mut Scratch,
    canvas: &mut Canvas<'_>,
) {
    let height = usize::from(block.body.height);
    let most = rows.len().saturating_sub(height);
    scratch.world_most = most as u16;
    let offset = usize::from(model.scrolls.world).min(most);
    let more = if most > offset && height > 0 {
        format!(" {} {} more", look.glyphs.more, most - offset)
    } else {
        String::new()
    };
    for (place, row) in rows.iter().skip(offset).take(height).enumerate() {
        let mut x = block.body.x + 1;
        let note = if place + 1 == height { width(&more) } else { 0 };
        let right = usize::from(block.body.right().saturating_sub(1)).saturating_sub(note);
        for (role, text) in row {
            let room = right.saturating_sub(usize::from(x));
            let text = if note > 0 { whole_items(text, room) } else { text.as_str() };
            x += canvas.put(x, block.body.y + place as u16, room as u16, text, canvas.style(*role));
        }
    }
    if most > offset && height > 0 {
        let at = Rect { y: block.body.bottom() - 1, height: 1, ..block.body };
        let words = more;
        canvas.put_right(at.right().saturating_sub(1), at.y, at.width / 2, &words, canvas.style(Role::Dim));
    }
}

/// The title of a planning problem: in one row where the pane has no other.
fn planning_titles(model: &Model, look: &Context<'_>, block: &Block, shown: &Value, canvas: &mut Canvas<'_>) {
    let Some(area) = block.title else { return };
    let own = if model.focus == Focus::World { Role::Focus } else { Role::Title };
    let mut pieces: Vec<(Role, String)> = vec![(Role::Dim, "2 ".to_owned()), (own, "World".to_owned())];
    if block.body.height == 0 {
        let words = planning::in_one_line(shown, look.glyphs.dot);
        pieces.push((Role::Text, format!("  {words}")));
    }
    let pieces: Vec<(Role, &str)> = pieces.iter().map(|(r, t)| (*r, t.as_str())).collect();
    frame::title(area, &pieces, canvas);
    if block.body.height > 0 {
        let (held, all) = planning::goal(shown);
        frame::aside(area, Role::Dim, &format!("{held} of {all} hold"), canvas);
    }
}

fn titles(
    model: &Model,
    look: &Context<'_>,
    block: &Block,
    known: Option<(&Known<'_>, usize)>,
    canvas: &mut Canvas<'_>,
) {
    let Some(area) = block.title else { return };
    let own = if model.focus == Focus::World { Role::Focus } else { Role::Title };
    let mut pieces: Vec<(Role, String)> = vec![(Role::Dim, "2 ".to_owned()), (own, "World".to_owned())];
    let seen_of = known
        .filter(|(known, _)| block.body.height > 0 && !known.places.is_empty())
        .map(|(known, seen)| format!("{seen} of {} places seen", known.places.len()));
    if model.truth {
        // As much as fits beside what stands at the right, and never half a phrase.
        let taken = 6 + "World".len() + seen_of.as_ref().map_or(0, |w| width(w) + 4);
        let room = usize::from(area.width).saturating_sub(taken);
        let words = AS_IT_IS.iter().find(|w| fits(w, room)).unwrap_or(&AS_IT_IS[2]);
        pieces.push((Role::Warn, (*words).to_owned()));
    }
    if let Some((known, seen)) = known
        && block.body.height == 0
    {
        let room = usize::from(area.width).saturating_sub(17);
        pieces.push((Role::Text, format!("  {}", known.in_one_line(seen, room, look.glyphs.dot))));
    }
    let pieces: Vec<(Role, &str)> = pieces.iter().map(|(r, t)| (*r, t.as_str())).collect();
    frame::title(area, &pieces, canvas);
    if let Some(words) = seen_of {
        frame::aside(area, Role::Dim, &words, canvas);
    }
}

/// What is said of a pane that shows what is true, from long to short.
const AS_IT_IS: [&str; 3] =
    ["  as it is; the agent does not see this", "  as it is, not as the agent sees it", "  as it is"];

type Pieces = Vec<(Role, String)>;

fn rows(look: &Context<'_>, known: &Known<'_>, truth: bool, columns: u16, goal: &str) -> Vec<Pieces> {
    let mut rows: Vec<Pieces> = Vec::new();
    let room = usize::from(columns.saturating_sub(2)).max(8);
    let label = |name: &str| (Role::Dim, format!("{name:<9}"));
    let mut field = |name: &str, role: Role, text: &str| {
        for (place, line) in lines(text, room.saturating_sub(9)).into_iter().enumerate() {
            rows.push(vec![label(if place == 0 { name } else { "" }), (role, line)]);
        }
    };
    if !goal.is_empty() {
        field("goal", Role::Text, goal);
    }
    let place = match (known.room, known.at) {
        (Some(room), Some(at)) => format!("{room} {} {at}", look.glyphs.dot),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => "in the middle of the room".to_owned(),
    };
    field("place", Role::Text, &place);
    let holding = if known.holding.is_empty() { "nothing".to_owned() } else { known.holding.join(", ") };
    field("holding", if known.holding.is_empty() { Role::Dim } else { Role::Proposal }, &holding);
    if known.places.is_empty() {
        return rows;
    }
    rows.push(Vec::new());
    // Where the agent stands comes first; then what holds something.
    let mut seen: Vec<&Place<'_>> = known.places.iter().filter(|p| p.seen || truth).collect();
    seen.sort_by_key(|p| (!p.here, p.holds.is_empty()));
    let name_width = seen.iter().map(|p| width_within(p.name, room / 2)).max().unwrap_or(0);
    for place in seen {
        rows.extend(place_rows(look, place, name_width, room));
    }
    let unseen: Vec<String> =
        known.places.iter().filter(|p| !p.seen && !truth).map(|p| unbroken(p.name)).collect();
    if !unseen.is_empty() {
        if rows.last().is_some_and(|row| !row.is_empty()) {
            rows.push(Vec::new());
        }
        let words = format!("not seen  {}", unseen.join(", "));
        rows.extend(lines(&words, room).into_iter().map(|line| vec![(Role::Dim, line)]));
    }
    rows
}

fn place_rows(look: &Context<'_>, place: &Place<'_>, name_width: usize, room: usize) -> Vec<Pieces> {
    let mark = if place.here { look.glyphs.proposal } else { " " };
    let role = if place.here { Role::Title } else { Role::Text };
    let name = truncate(place.name, name_width, look.glyphs.more);
    let pad = " ".repeat(name_width.saturating_sub(width(&name)));
    let holds = place.holds.iter().map(|h| unbroken(h)).collect::<Vec<_>>().join(", ");
    let (text, text_role) = match (place.open, place.holds.is_empty()) {
        (Some(false), true) => ("closed".to_owned(), Role::Warn),
        // Known from before it was closed, or true behind the door.
        (Some(false), false) => (format!("closed: {holds}"), Role::Warn),
        (Some(true), true) => ("open, empty".to_owned(), Role::Dim),
        (_, true) => ("empty".to_owned(), Role::Dim),
        (Some(true), false) => (format!("open: {holds}"), Role::Observation),
        (None, false) => (holds, Role::Observation),
    };
    let lines = lines(&text, room.saturating_sub(name_width + 4));
    let mut rows = Vec::new();
    for (row, line) in lines.into_iter().enumerate() {
        let lead = if row == 0 {
            vec![(Role::Proposal, format!("{mark} ")), (role, name.clone()), (Role::Dim, format!("{pad}  "))]
        } else {
            vec![(Role::Dim, " ".repeat(name_width + 4))]
        };
        rows.push(lead.into_iter().chain([(text_role, line)]).collect());
    }
    rows
}

impl<'a> Known<'a> {
    fn read(value: &'a Value) -> Self {
        let word = |name: &str| value.get(name).and_then(Value::as_str).filter(|w| !w.is_empty());
        let at = word("place");
        // What is shown lists the places and says apart what was seen in them; the truth says both in one.
        let receptacles = value.get("receptacles");
        let seen =
            receptacles.filter(|r| r.is_object()).or_else(|| value.get("seen")).and_then(Value::as_object);
        let mut names = words(receptacles);
        // A place that was seen without having been announced is a place all the same.
        names.extend(seen.into_iter().flatten().map(|(name, _)| name.as_str()));
        names.sort_by_key(|name| natural(name));
        names.dedup();
        let places: Vec<Place<'a>> =
            names.into_iter().map(|name| Place::read(name, seen.and_then(|s| s.get(name)), at)).collect();
        let room = word("room").or_else(|| room_of(&places));
        Self { room, at, holding: words(value.get("holding")), places }
    }
}

impl Known<'_> {
    /// Everything in one row; where it is too long, what can be told from elsewhere is left out.
    fn in_one_line(&self, seen: usize, room: usize, dot: &str) -> String {
        let all = self.places.len();
        let at = self.at.map(|a| format!("at {a}"));
        let holding = (!self.holding.is_empty()).then(|| format!("holding {}", self.holding.join(", ")));
        let long = (all > 0).then(|| format!("{seen} of {all} places seen"));
        let short = (all > 0).then(|| format!("{seen}/{all} seen"));
        let kind = self.room.map(str::to_owned);
        let tries = [
            vec![kind.clone(), at.clone(), holding.clone(), long],
            vec![kind, at.clone(), holding.clone(), short.clone()],
            vec![at.clone(), holding.clone(), short],
            vec![at, holding],
        ];
        let lines =
            tries.map(|parts| parts.into_iter().flatten().collect::<Vec<_>>().join(&format!(" {dot} ")));
        lines.iter().find(|line| fits(line, room)).or(lines.last()).cloned().unwrap_or_default()
    }
}

impl<'a> Place<'a> {
    fn read(name: &'a str, value: Option<&'a Value>, at: Option<&str>) -> Self {
        let items = value.and_then(|v| v.get("items"));
        let open = value.and_then(|v| v.get("open")).and_then(Value::as_bool);
        Self {
            name,
            here: at == Some(name),
            seen: items.is_some() || open.is_some(),
            open,
            holds: words(items),
        }
    }
}

/// The kind of room, told by what stands in it.
fn room_of(places: &[Place<'_>]) -> Option<&'static str> {
    const SIGNS: [(&str, &str); 8] = [
        ("fridge", "kitchen"),
        ("stoveburner", "kitchen"),
        ("toilet", "bathroom"),
        ("bathtubbasin", "bathroom"),
        ("bed", "bedroom"),
        ("sofa", "living room"),
        ("armchair", "living room"),
        ("sinkbasin", "bathroom"),
    ];
    let stands = |sign: &str| places.iter().any(|p| natural(p.name).0 == sign);
    SIGNS.iter().find(|(sign, _)| stands(sign)).map(|(_, room)| *room)
}

fn words(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(one)) if !one.is_empty() => vec![one],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Words in rows; no one thing takes more of them than this.
fn lines(text: &str, columns: usize) -> Vec<String> {
    const MOST: usize = 12;
    wrap_at_most(text, columns.max(4), MOST).0
}

/// As many of the listed things as fit as a whole; a name that is cut reads as another thing.
fn whole_items(text: &str, room: usize) -> &str {
    if fits(text, room) {
        return text;
    }
    let borders = text.match_indices(", ").map(|(at, _)| &text[..=at]);
    borders.filter(|part| fits(part, room)).last().unwrap_or("")
}

/// A name that is not broken between its words.
fn unbroken(name: &str) -> String {
    name.replace(' ', "\u{a0}")
}

/// Orders `drawer 2` before `drawer 10`.
fn natural(name: &str) -> (&str, u64) {
    match name.rsplit_once(' ') {
        Some((kind, number)) => (kind, number.parse().unwrap_or(0)),
        None => (name, 0),
    }
}
