//! The two tables as data.

use super::{Action, HelpPlace, PlainForm, Verb};
use std::collections::HashSet;

#[test]
fn names_are_unique() {
    let names: HashSet<&str> = Action::ALL.iter().map(|a| a.name()).collect();
    assert_eq!(names.len(), Action::ALL.len());
}

#[test]
fn the_former_name_of_an_action_is_still_read() {
    assert_eq!(Action::from_name("refuse-all"), Some(Action::RejectAll));
}

/// A word means one verb, and a word that is also the name of an action means the verb of that action.
#[test]
fn words_are_unique() {
    let mut words = HashSet::new();
    for verb in Verb::ALL {
        for word in verb.words() {
            assert!(words.insert(word), "{word}");
            if let Some(action) = Action::from_name(word) {
                assert_eq!(action.plain_form(), PlainForm::Does(*verb), "{word}");
            }
        }
    }
}

/// Usages are written once, in the table's columns: a description that repeats one could differ from it.
#[test]
fn descriptions_are_one_line_and_repeat_no_usage() {
    for verb in Verb::ALL {
        let (HelpPlace::Line(about) | HelpPlace::Variant(about)) = verb.help_place() else { continue };
        assert!(!about.is_empty() && !about.contains('\n'), "{verb:?}");
        // With a space before it, so that "lesson N" doesn't count as `on N`.
        let about = format!(" {}", about.replace('`', " "));
        for usage in Verb::ALL.iter().flat_map(|other| other.words().map(|word| other.usage_of(word))) {
            let is_repeated = usage.contains(' ') && about.contains(&format!(" {usage}"));
            assert!(!is_repeated, "{verb:?} repeats `{usage}`");
        }
    }
}

#[test]
fn the_palette_leaves_out_what_only_overlays_use() {
    let listed = |name| Action::from_name(name).map(Action::is_in_palette);
    for name in ["step", "undo", "breaks", "branches", "result", "quit", "pane-3"] {
        assert_eq!(listed(name), Some(true), "{name}");
    }
    for name in ["accept", "break-add", "branch-name", "reject-all", "sort", "up", "palette", "close"] {
        assert_eq!(listed(name), Some(false), "{name}");
    }
}
