//! Parses actions and observations in both wordings of household games: that of data version 2.1.1 (`put X in/on Y`) and the
//! newer one (`move X to Y`).

use super::goal::Treatment;
use regex::Regex;
use std::sync::LazyLock;

/// A parsed action, possible or not. Names may lack their number, or name something that isn't there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ParsedAction {
    GoTo(String),
    Open(String),
    Close(String),
    Take {
        object: String,
        place: String,
    },
    /// `put X in/on Y` or `move X to Y`; `old_wording` is true for the first.
    Put {
        object: String,
        place: String,
        old_wording: bool,
    },
    Treat {
        treatment: Treatment,
        object: String,
        place: String,
    },
    Use(String),
    /// `slice X with KNIFE`
    Slice {
        object: String,
        knife: String,
    },
    Examine(String),
    /// `look`, `inventory`, `help`, `check valid actions`: accepted in every state.
    AlwaysAccepted,
    /// Matches no known form.
    Unknown,
}

/// The parts of an observation that add to what is known about the room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ParsedObservation {
    /// `You arrive at ...`; true for the 2.1.1 wording, which names a location instead of the place.
    pub(super) arrived: Option<bool>,
    /// A place whose contents or closed door were described, with the state of its door.
    pub(super) view: Option<(String, Door)>,
    /// Objects seen, each as `name number`.
    pub(super) objects: Vec<String>,
    /// (object, place)
    pub(super) taken: Option<(String, String)>,
    /// (object, place)
    pub(super) placed: Option<(String, String)>,
    /// (treatment, object, place)
    pub(super) treated: Option<(Treatment, String, String)>,
    pub(super) lamp_switched_on: Option<String>,
    pub(super) closed: Option<String>,
}

/// The state of a place's door.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Door {
    /// The place has no door.
    #[default]
    None,
    Open,
    Closed,
}

/// The observation after an impossible action, in both wordings.
pub(super) const NOTHING_HAPPENS: &str = "Nothing happens.";

/// Words that join two names.
const JOINING_WORDS: [&str; 9] = ["with", "using", "under", "by", "in", "on", "in/on", "at", "and"];

struct Patterns {
    take: Regex,
    put: Regex,
    treat: Regex,
    slice: Regex,
    view: Regex,
    closed_container: Regex,
    taken: Regex,
    placed: Regex,
    treated: Regex,
    lamp_switched_on: Regex,
    closed: Regex,
    thing: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| Patterns::new().ok());

impl Patterns {
    fn new() -> Result<Self, regex::Error> {
        Ok(Self {
            take: Regex::new(r"^take (.+?) from (.+)$")?,
            put: Regex::new(r"^(?:(put) (.+?) (?:in/on|in|on|into|onto) (.+)|move (.+?) to (.+))$")?,
            treat: Regex::new(r"^(heat|cool|clean) (.+?) (?:with|using|in|at) (.+)$")?,
            slice: Regex::new(r"^slice (.+?) with (.+)$")?,
            view: Regex::new(r"(?:The (\w+ \d+) is open\. In it|On the (\w+ \d+)), you see ([^.]*)\.")?,
            closed_container: Regex::new(r"The (\w+ \d+) is closed\.")?,
            taken: Regex::new(r"^You pick up the (\w+ \d+) from the (\w+ \d+)\.")?,
            placed: Regex::new(r"^You (?:put the (\w+ \d+) in/on|move the (\w+ \d+) to) the (\w+ \d+)\.")?,
            treated: Regex::new(r"^You (heat|cool|clean) the (\w+ \d+) using the (\w+ \d+)\.")?,
            lamp_switched_on: Regex::new(r"^You turn on the (\w+ \d+)\.")?,
            closed: Regex::new(r"^You close the (\w+ \d+)\.")?,
            thing: Regex::new(r"\ba (\w+ \d+)")?,
        })
    }
}

/// Parses an action.
pub(super) fn parse_action(action: &str) -> ParsedAction {
    let action = action.trim();
    if matches!(action, "look" | "inventory" | "help" | "check valid actions") {
        return ParsedAction::AlwaysAccepted;
    }
    let Some(patterns) = PATTERNS.as_ref() else { return ParsedAction::Unknown };
    let owned = |m: Option<regex::Match<'_>>| m.map(|m| m.as_str().to_owned()).unwrap_or_default();
    for (verb, make) in [
        ("go to ", ParsedAction::GoTo as fn(String) -> ParsedAction),
        ("open ", ParsedAction::Open),
        ("close ", ParsedAction::Close),
        ("use ", ParsedAction::Use),
        ("examine ", ParsedAction::Examine),
    ] {
        if let Some(name) = action.strip_prefix(verb) {
            return if is_single_name(name) { make(name.trim().to_owned()) } else { ParsedAction::Unknown };
        }
    }
    if let Some(c) = patterns.take.captures(action) {
        return ParsedAction::Take { object: owned(c.get(1)), place: owned(c.get(2)) };
    }
    if let Some(c) = patterns.put.captures(action) {
        let old = c.get(1).is_some();
        let (object, place) = if old { (c.get(2), c.get(3)) } else { (c.get(4), c.get(5)) };
        return ParsedAction::Put { object: owned(object), place: owned(place), old_wording: old };
    }
    if let Some(c) = patterns.slice.captures(action) {
        return ParsedAction::Slice { object: owned(c.get(1)), knife: owned(c.get(2)) };
    }
    if let Some(c) = patterns.treat.captures(action)
        && let Some(treatment) = Treatment::from_word(c.get(1).map_or("", |m| m.as_str()))
    {
        return ParsedAction::Treat { treatment, object: owned(c.get(2)), place: owned(c.get(3)) };
    }
    ParsedAction::Unknown
}

/// Returns whether this is a single name. Rejects `examine mug 1 with desklamp 1`, which follows the phrasing of goals
/// but is not an action: the action is `use desklamp 1`.
fn is_single_name(text: &str) -> bool {
    let mut words = text.split_whitespace().rev().skip(1);
    !words.any(|w| w.bytes().all(|b| b.is_ascii_digit()) || JOINING_WORDS.contains(&w))
}

/// Parses an observation.
pub(super) fn parse_observation(text: &str) -> ParsedObservation {
    let mut parsed = ParsedObservation::default();
    let Some(patterns) = PATTERNS.as_ref() else { return parsed };
    let pair = |c: &regex::Captures<'_>, a: usize, b: usize| {
        Some((c.get(a)?.as_str().to_owned(), c.get(b)?.as_str().to_owned()))
    };
    if let Some(rest) = text.strip_prefix("You arrive at ") {
        parsed.arrived = Some(rest.starts_with("loc "));
    }
    if let Some(c) = patterns.view.captures(text) {
        let place = c.get(1).map(|m| (m, Door::Open)).or_else(|| c.get(2).map(|m| (m, Door::None)));
        parsed.view = place.map(|(m, door)| (m.as_str().to_owned(), door));
        let list = c.get(3).map_or("", |m| m.as_str());
        parsed.objects =
            patterns.thing.captures_iter(list).filter_map(|c| Some(c.get(1)?.as_str().to_owned())).collect();
    } else if let Some(c) = patterns.closed_container.captures(text) {
        parsed.view = c.get(1).map(|m| (m.as_str().to_owned(), Door::Closed));
    }
    parsed.taken = patterns.taken.captures(text).and_then(|c| pair(&c, 1, 2));
    parsed.placed = patterns.placed.captures(text).and_then(|c| pair(&c, 1, 3).or_else(|| pair(&c, 2, 3)));
    parsed.treated = patterns.treated.captures(text).and_then(|c| {
        let (object, place) = pair(&c, 2, 3)?;
        Some((Treatment::from_word(c.get(1)?.as_str())?, object, place))
    });
    parsed.lamp_switched_on =
        patterns.lamp_switched_on.captures(text).and_then(|c| Some(c.get(1)?.as_str().to_owned()));
    parsed.closed = patterns.closed.captures(text).and_then(|c| Some(c.get(1)?.as_str().to_owned()));
    parsed
}

/// Returns the places that a first observation lists.
pub(super) fn listed_places(text: &str) -> Vec<&str> {
    let line = text.lines().find(|l| l.contains(" you see ")).unwrap_or_default();
    let Some(patterns) = PATTERNS.as_ref() else { return Vec::new() };
    patterns.thing.captures_iter(line).filter_map(|c| Some(c.get(1)?.as_str())).collect()
}

/// Returns the type in a name: `apple` for `apple 1`.
pub(super) fn type_of_name(name: &str) -> &str {
    match name.rsplit_once(' ') {
        Some((kind, number)) if number.bytes().all(|b| b.is_ascii_digit()) && !number.is_empty() => kind,
        _ => name,
    }
}

/// Returns whether a name has a number.
pub(super) fn has_number(name: &str) -> bool {
    type_of_name(name).len() < name.len()
}
