//! Parses the parts of household texts: numbered names, lists, actions. Everything borrows from the prompt.

/// The environment's name of a thing or a place, such as `fridge 1`. The number is 0 if the name has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ObjectName<'a> {
    /// The kind, one lower-case word.
    pub(super) kind: &'a str,
    pub(super) number: u32,
}

/// A parsed action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HouseholdAction<'a> {
    Go(ObjectName<'a>),
    Open(ObjectName<'a>),
    Close(ObjectName<'a>),
    Take(ObjectName<'a>, ObjectName<'a>),
    Put(ObjectName<'a>, ObjectName<'a>, PutWording),
    Treat(Treatment, ObjectName<'a>, ObjectName<'a>),
    Use(ObjectName<'a>),
    Examine(ObjectName<'a>),
    Other,
}

/// The wording of the action that puts a thing somewhere, which depends on the version of the games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PutWording {
    /// `move X to Y`, current games.
    Move,
    /// `put X in/on Y`, the games from 2020.
    Put,
}

/// What a task may require the actor to do to a thing before it is put down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    Heat,
    Cool,
    Clean,
}

impl<'a> ObjectName<'a> {
    /// Parses `kind 3`, with or without an article; a name without a number gets 0.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let mut text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '\'' | '"' | '`'));
        for article in ["the ", "a ", "an ", "some "] {
            text = text.strip_prefix(article).unwrap_or(text);
        }
        if text.is_empty() {
            return None;
        }
        match text.rsplit_once(' ') {
            Some((kind, number)) if !kind.is_empty() => match number.parse() {
                Ok(number) => Some(Self { kind, number }),
                Err(_) => Some(Self { kind: text, number: 0 }),
            },
            _ => Some(Self { kind: text, number: 0 }),
        }
    }
}

impl std::fmt::Display for ObjectName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.number == 0 { f.write_str(self.kind) } else { write!(f, "{} {}", self.kind, self.number) }
    }
}

impl Treatment {
    /// Returns the verb of the action.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::Heat => "heat",
            Self::Cool => "cool",
            Self::Clean => "clean",
        }
    }

    /// Returns the kind of appliance that it needs.
    pub(super) fn appliance(self) -> &'static str {
        match self {
            Self::Heat => "microwave",
            Self::Cool => "fridge",
            Self::Clean => "sinkbasin",
        }
    }
}

/// Returns the names in a list such as `a mug 1, a cup 2, and a fork 1`. `nothing` is an empty list.
pub(super) fn parse_list(text: &str) -> impl Iterator<Item = ObjectName<'_>> {
    text.split(',')
        .map(str::trim)
        .map(|item| item.strip_prefix("and ").unwrap_or(item))
        .filter(|item| !item.is_empty() && *item != "nothing")
        .filter_map(ObjectName::parse)
        .filter(|name| name.number > 0)
}

/// Removes the labels that a prompt or a model puts before a line: `> `, `Action: `, `[human edit] `.
pub(super) fn strip_line_labels(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let before = text;
        text = text.trim_start_matches(['>', ':', '\n', ' ', '\t']);
        if text.starts_with('[')
            && let Some((label, rest)) = text.split_once(']')
            && label.len() < 40
        {
            text = rest;
        }
        for label in ["action:", "act:", "observation:", "obs:", "human edit:"] {
            if text.len() >= label.len()
                && text.is_char_boundary(label.len())
                && text[..label.len()].eq_ignore_ascii_case(label)
            {
                text = &text[label.len()..];
            }
        }
        if text == before {
            return text;
        }
    }
}

/// Parses an action. An unknown one is [`HouseholdAction::Other`].
pub(super) fn parse_action(line: &str) -> HouseholdAction<'_> {
    try_parse_action(line.trim_end_matches('.').trim()).unwrap_or(HouseholdAction::Other)
}

fn try_parse_action(line: &str) -> Option<HouseholdAction<'_>> {
    if let Some(rest) = line.strip_prefix("go to ") {
        return Some(HouseholdAction::Go(ObjectName::parse(rest)?));
    }
    let (verb, rest) = line.split_once(' ')?;
    let split_pair = |separator: &str| -> Option<(ObjectName<'_>, ObjectName<'_>)> {
        let (thing, place) = rest.split_once(separator)?;
        Some((ObjectName::parse(thing)?, ObjectName::parse(place)?))
    };
    let parse_treatment = |treatment: Treatment| {
        split_pair(" with ")
            .or_else(|| split_pair(" using "))
            .map(|(thing, place)| HouseholdAction::Treat(treatment, thing, place))
    };
    match verb {
        "open" => Some(HouseholdAction::Open(ObjectName::parse(rest)?)),
        "close" => Some(HouseholdAction::Close(ObjectName::parse(rest)?)),
        "take" => split_pair(" from ").map(|(thing, place)| HouseholdAction::Take(thing, place)),
        "move" => {
            split_pair(" to ").map(|(thing, place)| HouseholdAction::Put(thing, place, PutWording::Move))
        }
        "put" => split_pair(" in/on ")
            .or_else(|| split_pair(" in "))
            .or_else(|| split_pair(" on "))
            .map(|(thing, place)| HouseholdAction::Put(thing, place, PutWording::Put)),
        "heat" => parse_treatment(Treatment::Heat),
        "cool" => parse_treatment(Treatment::Cool),
        "clean" => parse_treatment(Treatment::Clean),
        "use" | "toggle" => Some(HouseholdAction::Use(ObjectName::parse(rest)?)),
        "examine" if !rest.contains(" with ") => Some(HouseholdAction::Examine(ObjectName::parse(rest)?)),
        _ => None,
    }
}
