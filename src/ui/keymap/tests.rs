//! The shipped keymap, overrides by a person's file, and error messages.

mod document;

use super::*;
use crate::ui::keymap::{Action, Keymap, Mode};
use crossterm::event::{KeyCode, KeyModifiers};
use std::collections::HashSet;

fn press(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

#[test]
fn the_shipped_map_binds_no_key_twice_in_a_mode() {
    let (keymap, problems) = Keymap::parse("keymap.toml", SHIPPED);
    assert_eq!(problems, []);
    for mode in Mode::ALL {
        let mut seen = HashSet::new();
        for row in keymap.bindings_in(*mode) {
            for key in &row.keys {
                assert!(seen.insert(*key), "{} twice in {}", key.label(), mode.name());
                let everywhere = keymap.bindings_in(Mode::Global).any(|g| g.keys.contains(key));
                assert!(*mode == Mode::Global || !everywhere, "{} hides its global binding", key.label());
            }
        }
    }
}

#[test]
fn every_overlay_mode_can_be_closed_with_esc() {
    let keymap = Keymap::default();
    for mode in Mode::ALL.iter().filter(|m| **m != Mode::Global) {
        assert_eq!(keymap.action_for(*mode, press(KeyCode::Esc)), Some(Action::Close), "{}", mode.name());
    }
}

#[test]
fn keys_reserved_by_terminals_are_not_bound() {
    let keymap = Keymap::default();
    for word in ["ctrl-a", "ctrl-b", "ctrl-p", "f10", "f11", "alt-enter"] {
        let key = Key::parse(word).unwrap();
        for mode in Mode::ALL {
            assert!(!keymap.bindings_in(*mode).any(|r| r.keys.contains(&key)), "{word} in {}", mode.name());
        }
    }
}

#[test]
fn a_search_cannot_step() {
    let keymap = Keymap::default();
    assert_eq!(keymap.action_for(Mode::Main, press(KeyCode::Char('n'))), Some(Action::Step));
    assert_eq!(keymap.action_for(Mode::Search, press(KeyCode::Char('n'))), Some(Action::NextMatch));
    assert_eq!(keymap.action_for(Mode::SearchInput, press(KeyCode::Char('n'))), None);
}

#[test]
fn modes_fall_back_to_their_parents() {
    let keymap = Keymap::default();
    assert_eq!(keymap.action_for(Mode::Lanes, press(KeyCode::Char('n'))), Some(Action::Step));
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    for mode in Mode::ALL {
        assert_eq!(keymap.action_for(*mode, interrupt), Some(Action::Cancel), "{}", mode.name());
    }
}

#[test]
fn keys_are_read_as_terminals_send_them() {
    let same = [
        ("U", KeyEvent::new(KeyCode::Char('U'), KeyModifiers::SHIFT)),
        ("U", KeyEvent::new(KeyCode::Char('u'), KeyModifiers::SHIFT)),
        ("shift-tab", KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT)),
        ("shift-tab", KeyEvent::new(KeyCode::BackTab, KeyModifiers::NONE)),
        ("ctrl-c", KeyEvent::new(KeyCode::Char('C'), KeyModifiers::CONTROL | KeyModifiers::SHIFT)),
        ("?", KeyEvent::new(KeyCode::Char('?'), KeyModifiers::SHIFT)),
        ("-", KeyEvent::new(KeyCode::Char('-'), KeyModifiers::NONE)),
        ("ctrl--", KeyEvent::new(KeyCode::Char('-'), KeyModifiers::CONTROL)),
        ("f12", KeyEvent::new(KeyCode::F(12), KeyModifiers::NONE)),
    ];
    for (word, event) in same {
        assert_eq!(Key::parse(word).unwrap(), Key::from_event(event), "{word}");
    }
    let labels =
        [("ctrl-c", "Ctrl-C"), ("space", "Space"), ("left", "←"), ("U", "U"), ("shift-tab", "Shift-Tab")];
    for (word, label) in labels {
        assert_eq!(Key::parse(word).unwrap().label(), label);
    }
    // The help screen prints `F5`, so people write that too.
    assert_eq!(Key::parse("F5"), Key::parse("f5"));
    for (word, reason) in [
        ("F13", "unknown key"),
        ("ctrl-i", "use tab"),
        ("shift-u", "capital letter `U`"),
        ("escape", "unknown key"),
        ("", "unknown key"),
        ("f13", "unknown key"),
    ] {
        let error = Key::parse(word).unwrap_err();
        assert!(error.contains(reason), "{word}: {error}");
    }
}

#[test]
fn user_keys_override_shipped_keys() {
    let text =
        "[[main]]\non = [\"f5\", \"n\"]\nrun = \"pause-run\"\n\n[[main]]\non = \"x\"\nrun = \"none\"\n";
    let (keymap, problems) = Keymap::default().with_overrides("keys.toml", text);
    assert_eq!(problems, []);
    assert_eq!(keymap.action_for(Mode::Main, press(KeyCode::Char('n'))), Some(Action::PauseRun));
    assert_eq!(keymap.action_for(Mode::Main, press(KeyCode::Char('x'))), None);
    assert_eq!(keymap.action_for(Mode::Lanes, press(KeyCode::Char('x'))), Some(Action::RejectOrToggle));
    assert_eq!(keymap.key_label(Action::PauseRun).as_deref(), Some("F5"));
    assert_eq!(keymap.key_label(Action::Step), None);
}

#[test]
fn problems_are_reported_with_their_line_and_valid_rows_apply() {
    let good = "[[main]]\non = \"f6\"\nrun = \"help\"\n";
    let cases = [
        ("[[main]]\non = \"k\"\nrun = \"stepp\"\n", 6, "unknown action `stepp`; did you mean `step`?"),
        ("[[mian]]\non = \"k\"\nrun = \"step\"\n", 4, "unknown mode `mian`; did you mean `main`?"),
        ("[[main]]\non = \"f6\"\nrun = \"step\"\n", 5, "`f6` is already bound in `main`, line 2"),
        ("[[main]]\non = \"hyper-x\"\nrun = \"step\"\n", 5, "unknown key `hyper-x`"),
        ("[[main]]\non = \"k\"\n", 4, "a row needs `on`"),
        ("[[palette]]\non = \"k\"\nrun = \"down\"\n", 5, "`k` types text in `palette`"),
        ("[[main]]\non = \"k\"\nrun = \"up\"\ndo = \"x\"\n", 7, "unknown field `do`"),
        ("[[main]]\non = 7\nrun = \"up\"\n", 5, "a key is integer; it must be text in quotes"),
        ("[[main]\non = \"k\"\n", 4, "not TOML"),
    ];
    for (text, line, reason) in cases {
        let (keymap, problems) = Keymap::parse("keys.toml", &format!("{good}{text}"));
        assert!(!problems.is_empty(), "{text}");
        assert_eq!(
            (problems[0].file.as_str(), problems[0].line),
            ("keys.toml", line),
            "{text}: {problems:?}"
        );
        assert!(problems[0].reason.contains(reason), "{text}: {}", problems[0]);
        assert_eq!(keymap.action_for(Mode::Main, press(KeyCode::F(6))), Some(Action::Help), "{text}");
    }
}
