//! The World pane: what the agent knows about the environment (where it is, what it holds, what it saw where). A key
//! switches to the ground truth.

mod framed_boxes;
mod grid;
mod planning;

use super::pane_frame;
use crate::text::{fits, truncate, width, width_within, wrap_at_most};
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::layout::PaneArea;
use crate::ui::model::Model;
use crate::ui::theme::Role;
use crate::ui::types::Focus;
use crate::ui::view::cache::ViewCache;
use ratatui::layout::Rect;
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

/// Draws the pane.
pub(super) fn draw(
    model: &Model,
    context: &Context<'_>,
    area: &PaneArea,
    cache: &mut ViewCache,
    canvas: &mut Canvas<'_>,
) {
    let state = context.displayed_state();
    let Some(episode) = &state.episode else {
        draw_title(model, context, area, None, canvas);
        return;
    };
    if planning::is_planning_world(&episode.shown) {
        let shown = &episode.shown;
        draw_planning_title(model, context, area, shown, canvas);
        let rows = planning::world_rows(
            context.glyphs,
            shown,
            model.show_truth.then_some(&episode.truth),
            area.body.width,
        );
        draw_rows(model, context, area, &rows, cache, canvas);
        return;
    }
    if let Some(grid) = grid::Grid::parse(&episode.shown, model.show_truth.then_some(&episode.truth)) {
        cache.world_max_scroll = 0;
        grid.draw(model, context, area, canvas);
        return;
    }
    let source = if model.show_truth { &episode.truth } else { &episode.shown };
    let known = KnownWorld::parse(source);
    // The ground truth lists every place, so count the places that the agent has seen in its own view.
    let agent_view = KnownWorld::parse(&episode.shown);
    let seen = agent_view.places.iter().filter(|p| p.is_seen).count();
    draw_title(model, context, area, Some((&known, seen)), canvas);
    let rows = world_rows(context, &known, model.show_truth, area.body.width, &episode.task.goal);
    draw_rows(model, context, area, &rows, cache, canvas);
}

/// Draws rows into the pane, from its scroll offset.
fn draw_rows(
    model: &Model,
    context: &Context<'_>,
    area: &PaneArea,
    rows: &[StyledLine],
    cache: &mut ViewCache,
    canvas: &mut Canvas<'_>,
) {
    let height = usize::from(area.body.height);
    let most = rows.len().saturating_sub(height);
    cache.world_max_scroll = most as u16;
    let offset = usize::from(model.scroll.world).min(most);
    let more = if most > offset && height > 0 {
        format!(" {} {} more", context.glyphs.ellipsis, most - offset)
    } else {
        String::new()
    };
    for (place, row) in rows.iter().skip(offset).take(height).enumerate() {
        let mut x = area.body.x + 1;
        let note = if place + 1 == height { width(&more) } else { 0 };
        let right = usize::from(area.body.right().saturating_sub(1)).saturating_sub(note);
        for (role, text) in row {
            let max_width = right.saturating_sub(usize::from(x));
            let text = if note > 0 { fitting_items(text, max_width) } else { text.as_str() };
            x += canvas.put(x, area.body.y + place as u16, max_width as u16, text, canvas.style(*role));
        }
    }
    if most > offset && height > 0 {
        let at = Rect { y: area.body.bottom() - 1, height: 1, ..area.body };
        let text = more;
        canvas.put_right(at.right().saturating_sub(1), at.y, at.width / 2, &text, canvas.style(Role::Muted));
    }
}

/// Draws the title of a planning problem, with a one-line summary if the pane has no other rows.
fn draw_planning_title(
    model: &Model,
    context: &Context<'_>,
    area: &PaneArea,
    shown: &Value,
    canvas: &mut Canvas<'_>,
) {
    let Some(title) = area.title else { return };
    let own = if model.focus == Focus::World { Role::TitleFocus } else { Role::Title };
    let mut pieces: Vec<(Role, String)> = vec![(Role::Muted, "2 ".to_owned()), (own, "World".to_owned())];
    if area.body.height == 0 {
        let text = planning::in_one_line(shown, context.glyphs.separator);
        pieces.push((Role::Text, format!("  {text}")));
    }
    let pieces: Vec<(Role, &str)> = pieces.iter().map(|(r, t)| (*r, t.as_str())).collect();
    pane_frame::draw_title(title, &pieces, canvas);
    if area.body.height > 0 {
        let (held, all) = planning::goal_counts(shown);
        pane_frame::draw_right_title(title, Role::Muted, &format!("{held} of {all} subgoals"), canvas);
    }
}

fn draw_title(
    model: &Model,
    context: &Context<'_>,
    area: &PaneArea,
    known: Option<(&KnownWorld<'_>, usize)>,
    canvas: &mut Canvas<'_>,
) {
    let Some(title) = area.title else { return };
    let own = if model.focus == Focus::World { Role::TitleFocus } else { Role::Title };
    let mut pieces: Vec<(Role, String)> = vec![(Role::Muted, "2 ".to_owned()), (own, "World".to_owned())];
    let seen_of = known
        .filter(|(known, _)| area.body.height > 0 && !known.places.is_empty())
        .map(|(known, seen)| format!("{seen} of {} places seen", known.places.len()));
    if model.show_truth {
        // The longest label that fits beside the text at the right end, never half a phrase.
        let taken = 6 + "World".len() + seen_of.as_ref().map_or(0, |w| width(w) + 4);
        let max_width = usize::from(title.width).saturating_sub(taken);
        let text = TRUTH_LABELS.iter().find(|w| fits(w, max_width)).unwrap_or(&TRUTH_LABELS[2]);
        pieces.push((Role::Warning, (*text).to_owned()));
    }
    if let Some((known, seen)) = known
        && area.body.height == 0
    {
        let max_width = usize::from(title.width).saturating_sub(17);
        pieces.push((
            Role::Text,
            format!("  {}", known.in_one_line(seen, max_width, context.glyphs.separator)),
        ));
    }
    let pieces: Vec<(Role, &str)> = pieces.iter().map(|(r, t)| (*r, t.as_str())).collect();
    pane_frame::draw_title(title, &pieces, canvas);
    if let Some(text) = seen_of {
        pane_frame::draw_right_title(title, Role::Muted, &text, canvas);
    }
}

/// Labels of a pane that shows the ground truth, from long to short.
const TRUTH_LABELS: [&str; 3] = ["  ground truth (hidden from the agent)", "  ground truth", "  truth"];

type StyledLine = Vec<(Role, String)>;

fn world_rows(
    context: &Context<'_>,
    known: &KnownWorld<'_>,
    truth: bool,
    columns: u16,
    goal: &str,
) -> Vec<StyledLine> {
    let mut rows: Vec<StyledLine> = Vec::new();
    let max_width = usize::from(columns.saturating_sub(2)).max(8);
    let label = |name: &str| (Role::Muted, format!("{name:<9}"));
    let mut field = |name: &str, role: Role, text: &str| {
        for (place, line) in wrap_words(text, max_width.saturating_sub(9)).into_iter().enumerate() {
            rows.push(vec![label(if place == 0 { name } else { "" }), (role, line)]);
        }
    };
    if !goal.is_empty() {
        field("goal", Role::Text, goal);
    }
    let place = match (known.room, known.agent_place) {
        (Some(room), Some(at)) => format!("{room} {} {at}", context.glyphs.separator),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => "in the middle of the room".to_owned(),
    };
    field("place", Role::Text, &place);
    let holding = if known.holding.is_empty() { "nothing".to_owned() } else { known.holding.join(", ") };
    field("holding", if known.holding.is_empty() { Role::Muted } else { Role::Proposal }, &holding);
    if known.places.is_empty() {
        return rows;
    }
    rows.push(Vec::new());
    // The agent's place comes first, then places that hold something.
    let mut seen: Vec<&KnownPlace<'_>> = known.places.iter().filter(|p| p.is_seen || truth).collect();
    seen.sort_by_key(|p| (!p.is_agent_here, p.items.is_empty()));
    let name_width = seen.iter().map(|p| width_within(p.name, max_width / 2)).max().unwrap_or(0);
    for place in seen {
        rows.extend(place_rows(context, place, name_width, max_width));
    }
    let unseen: Vec<String> =
        known.places.iter().filter(|p| !p.is_seen && !truth).map(|p| non_breaking(p.name)).collect();
    if !unseen.is_empty() {
        if rows.last().is_some_and(|row| !row.is_empty()) {
            rows.push(Vec::new());
        }
        let text = format!("not seen  {}", unseen.join(", "));
        rows.extend(wrap_words(&text, max_width).into_iter().map(|line| vec![(Role::Muted, line)]));
    }
    rows
}

fn place_rows(
    context: &Context<'_>,
    place: &KnownPlace<'_>,
    name_width: usize,
    max_width: usize,
) -> Vec<StyledLine> {
    let mark = if place.is_agent_here { context.glyphs.proposal } else { " " };
    let role = if place.is_agent_here { Role::Title } else { Role::Text };
    let name = truncate(place.name, name_width, context.glyphs.ellipsis);
    let pad = " ".repeat(name_width.saturating_sub(width(&name)));
    let holds = place.items.iter().map(|h| non_breaking(h)).collect::<Vec<_>>().join(", ");
    let (text, text_role) = match (place.is_open, place.items.is_empty()) {
        (Some(false), true) => ("closed".to_owned(), Role::Warning),
        // Known from before it was closed, or from the ground truth.
        (Some(false), false) => (format!("closed: {holds}"), Role::Warning),
        (Some(true), true) => ("open, empty".to_owned(), Role::Muted),
        (_, true) => ("empty".to_owned(), Role::Muted),
        (Some(true), false) => (format!("open: {holds}"), Role::Observation),
        (None, false) => (holds, Role::Observation),
    };
    let lines = wrap_words(&text, max_width.saturating_sub(name_width + 4));
    let mut rows = Vec::new();
    for (row, line) in lines.into_iter().enumerate() {
        let lead = if row == 0 {
            vec![
                (Role::Proposal, format!("{mark} ")),
                (role, name.clone()),
                (Role::Muted, format!("{pad}  ")),
            ]
        } else {
            vec![(Role::Muted, " ".repeat(name_width + 4))]
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
    /// Returns a one-line summary; if it is too long, drops what can be seen elsewhere.
    fn in_one_line(&self, seen: usize, max_width: usize, dot: &str) -> String {
        let all = self.places.len();
        let at = self.agent_place.map(|a| format!("at {a}"));
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
        lines.iter().find(|line| fits(line, max_width)).or(lines.last()).cloned().unwrap_or_default()
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

/// Wraps a text, to a bounded number of lines per field.
fn wrap_words(text: &str, columns: usize) -> Vec<String> {
    const MAX_LINES: usize = 12;
    wrap_at_most(text, columns.max(4), MAX_LINES).0
}

/// Returns as many items as fit completely: a truncated name could be mistaken for another item.
fn fitting_items(text: &str, max_width: usize) -> &str {
    if fits(text, max_width) {
        return text;
    }
    let borders = text.match_indices(", ").map(|(at, _)| &text[..=at]);
    borders.filter(|part| fits(part, max_width)).last().unwrap_or("")
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
