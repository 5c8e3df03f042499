//! The text of `help`, from the table of verbs.

use crate::actions::{Action, HelpPlace, PlainForm, Verb};
use std::fmt::Write as _;

/// The width of the left column. A longer one is followed by three spaces.
const COLUMN: usize = 24;

/// Returns the text of `help`: a line for each verb or a few of them, then the names of actions that are words, too.
pub(in crate::cli::plain) fn help_text() -> String {
    let mut out = String::new();
    let mut forms: Vec<String> = Vec::new();
    for verb in Verb::ALL {
        let (indent, about) = match verb.help_place() {
            HelpPlace::Line(about) => ("", about),
            HelpPlace::Variant(about) => ("  ", about),
            HelpPlace::SharesNextLine => {
                forms.push(format_verb(*verb));
                continue;
            }
        };
        forms.push(format_verb(*verb));
        let left = format!("{indent}{}", forms.join(", "));
        let left = if left.len() < COLUMN { format!("{left:COLUMN$}") } else { format!("{left}   ") };
        let _ = writeln!(out, "{left}{about}");
        forms.clear();
    }
    let _ = writeln!(
        out,
        "An ACTION that begins with a double quote is a JSON string, so that it can have several lines:\n\
         act \"def f():\\n  return 1\"\n\
         Palette action names work here as well, with or without the colon:\n{};\n\
         a bare number such as :37 shows that step. Actions that only change the view, such as zoom and theme, need the\n\
         screen and say so.",
        names_of_actions().join(", ")
    );
    out
}

/// Returns how a verb is typed, with the other words that help shows.
fn format_verb(verb: Verb) -> String {
    let usage = verb.usage();
    match verb.listed_words() {
        [] => usage,
        words => format!("{usage} ({})", words.join(", ")),
    }
}

/// Returns the actions whose names are words for a verb that has another main word.
fn names_of_actions() -> Vec<String> {
    let usage = |action: &Action| match action.plain_form() {
        PlainForm::Does(verb) if verb.words().all(|word| word != action.name()) => {
            Some(verb.usage_of(action.name()))
        }
        _ => None,
    };
    Action::ALL.iter().filter_map(usage).collect()
}
