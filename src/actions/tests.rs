//! The two tables as data.

use super::{Action, PlainForm, Verb};
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
