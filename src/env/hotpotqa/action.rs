//! The two grammars of actions: that of Reflexion's code and that of ReAct's.

use regex::Regex;
use std::sync::LazyLock;

static CALL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^(\w+)\[(.+)\]$").ok());

/// Which published environment the answers are those of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Reflexion,
    React,
}

impl Style {
    pub(super) const WORDS: &'static [&'static str] = &["reflexion", "react"];

    pub(super) fn from_word(word: &str) -> Self {
        if word == "react" { Self::React } else { Self::Reflexion }
    }
}

/// An action.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action<'a> {
    Search(&'a str),
    Lookup(&'a str),
    Finish(&'a str),
    /// A thought as an action: ReAct's environment answers it.
    Think,
    /// A line that only thinks, in the form of all of this program's environments.
    ThinkLine,
    Unknown,
}

/// Parses an action.
pub(super) fn parse(text: &str, style: Style) -> Action<'_> {
    let text = text.trim();
    if text.starts_with("think:") || text == "think" {
        return Action::ThinkLine;
    }
    match style {
        Style::Reflexion => parse_call(text),
        Style::React => parse_prefix(text),
    }
}

fn parse_call(text: &str) -> Action<'_> {
    let captures = CALL.as_ref().and_then(|call| call.captures(text));
    let parts = captures.and_then(|found| Some((found.get(1)?.as_str(), found.get(2)?.as_str())));
    match parts {
        Some(("Search", argument)) => Action::Search(argument),
        Some(("Lookup", argument)) => Action::Lookup(argument),
        Some(("Finish", argument)) => Action::Finish(argument),
        _ => Action::Unknown,
    }
}

/// Parses ReAct's form, whose runner writes the first letter small and whose environment compares only the beginning.
fn parse_prefix(text: &str) -> Action<'_> {
    let Some(text) = text.strip_suffix(']') else { return Action::Unknown };
    let Some((name, argument)) = text.split_once('[') else { return Action::Unknown };
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().collect::<String>()).unwrap_or_default();
    match (first + letters.as_str()).as_str() {
        "search" => Action::Search(argument),
        "lookup" => Action::Lookup(argument),
        "finish" => Action::Finish(argument),
        "think" => Action::Think,
        _ => Action::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_style_has_its_grammar() {
        use Action::{Finish, Lookup, Search, Think, ThinkLine, Unknown};
        for (text, reflexion, react) in [
            ("Search[Ed Wood]", Search("Ed Wood"), Search("Ed Wood")),
            (" Lookup[born] ", Lookup("born"), Lookup("born")),
            ("Finish[a [b] c]", Finish("a [b] c"), Finish("a [b] c")),
            ("search[x]", Unknown, Search("x")),
            ("SEARCH[x]", Unknown, Unknown),
            ("think[I wonder]", Unknown, Think),
            ("think: I wonder", ThinkLine, ThinkLine),
            ("Finish[]", Unknown, Finish("")),
            ("finish[]", Unknown, Finish("")),
            ("Search x", Unknown, Unknown),
            ("Search[x] now", Unknown, Unknown),
            ("", Unknown, Unknown),
            ("[x]", Unknown, Unknown),
        ] {
            assert_eq!(parse(text, Style::Reflexion), reflexion, "{text}");
            assert_eq!(parse(text, Style::React), react, "{text}");
        }
    }
}
