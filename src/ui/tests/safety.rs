//! Nothing panics at any size, nothing hostile reaches a cell, and what a terminal is sent is what was meant.

use super::{Stage, escapes, screen};
use crate::domain::{DecidedBy, LessonOrigin, LessonText, ReflectionKind, Seq};
use crate::ui::fixture::{Fixture, long, sample_session};
use crate::ui::layout::Arrangement;
use crate::ui::model::{Cursor, Focus};
use proptest::prelude::*;
use std::sync::OnceLock;

/// What a world, a model or a file could try.
const HOSTILE: [&str; 9] = [
    "\x1b[2J\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07after",
    "\x1b]52;c;aGk=\x1b\\after",
    "a\u{202e}b\u{2066}c\u{200f}d",
    "\u{9b}31mC1\u{9d}x\u{9c}",
    "tab\there\r\nnext\x08\x7f",
    "wide 漢字かな combining e\u{301}\u{301}\u{301} 👩‍👩‍👧‍👦",
    "zero\u{200b}width\u{feff}\u{2060}",
    "\u{1b}",
];

fn hostile(text: &str) -> Fixture {
    let mut f = Fixture::new();
    f.begin();
    let shown = serde_json::json!({"place": text, "holding": text, "receptacles": [text], "seen": {text: {"items": [text]}}});
    f.propose(Some(text), Some(text));
    f.take(text, DecidedBy::Person, text, 0.5, shown);
    f.reflect(ReflectionKind::Error, LessonText::error(text, text));
    f.lesson(ReflectionKind::Abstract, LessonText::plain(text), LessonOrigin::Person);
    f.lesson(ReflectionKind::Progress, LessonText::plain(text), LessonOrigin::Mentor);
    f.propose(Some(text), Some(text));
    f.pause();
    f
}

#[test]
fn hostile_text_reaches_no_cell() {
    for text in HOSTILE {
        for (w, h) in super::SIZES {
            let buffer = Stage::new(hostile(text), w, h).draw();
            for cell in buffer.content() {
                let bad = cell.symbol().chars().find(|c| {
                    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{200e}' | '\u{200f}')
                });
                assert_eq!(bad, None, "{text:?} at {w}x{h}");
            }
        }
    }
}

#[test]
fn a_terminal_without_unicode_is_shown_ascii_alone() {
    for (w, h) in super::SIZES {
        let mut stage = Stage::new(sample_session(), w, h);
        stage.glyphs = crate::ui::glyphs::ASCII;
        for key in ["End", "Left", "Tab", "z"] {
            stage.press(key);
            let text = screen(&stage.draw());
            let foreign: String = text.chars().filter(|c| !c.is_ascii()).collect();
            assert_eq!(foreign, "", "{w}x{h} after {key}\n{text}");
        }
    }
}

#[test]
fn a_line_of_a_megabyte_is_drawn_in_no_time() {
    let text = "endless ".repeat(131_072);
    let mut stage = Stage::new(hostile(&text), 120, 36);
    let begin = std::time::Instant::now();
    let buffer = stage.draw();
    assert!(begin.elapsed().as_secs() < 2);
    assert!(screen(&buffer).contains("the rest is shown by Enter") || screen(&buffer).contains("endless"));
}

/// The bytes of a frame, read by a terminal, give the frame: no cell was displaced by a width read differently.
#[test]
fn a_terminal_shows_what_was_drawn() {
    let mut fixtures = vec![sample_session()];
    fixtures.extend(HOSTILE.iter().filter(|t| !t.contains('\u{200d}')).map(|t| hostile(t)));
    for fixture in fixtures {
        let mut stage = Stage::new(fixture, 120, 36);
        let buffer = stage.draw();
        let (rows, columns) = (36.try_into().unwrap(), 120.try_into().unwrap());
        let mut terminal = vt100::Parser::new(rows, columns, 0);
        terminal.process(&escapes(&buffer));
        let seen: Vec<String> = terminal.screen().rows(0, 120).map(|r| r.trim_end().to_owned()).collect();
        let meant: Vec<String> = screen(&buffer).lines().map(str::to_owned).collect();
        assert_eq!(seen, meant);
    }
}

fn session() -> &'static Fixture {
    static ONE: OnceLock<Fixture> = OnceLock::new();
    ONE.get_or_init(|| long(600))
}

fn focus() -> impl Strategy<Value = Focus> {
    prop_oneof![
        Just(Focus::Story),
        Just(Focus::Observations),
        Just(Focus::World),
        Just(Focus::Lanes),
        Just(Focus::Time)
    ]
}

fn arrangement() -> impl Strategy<Value = Option<Arrangement>> {
    prop_oneof![
        Just(None),
        Just(Some(Arrangement::Column)),
        Just(Some(Arrangement::Pair)),
        Just(Some(Arrangement::Triple))
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_size_is_drawn(
        width in 1_u16..220,
        height in 1_u16..70,
        focus in focus(),
        arrangement in arrangement(),
        zoomed in any::<bool>(),
        at in proptest::option::of(0_u64..700),
        scroll in -300_i32..300,
    ) {
        let mut stage = Stage::new(Fixture::new(), width, height);
        stage.fixture.store = session().store.clone();
        stage.model.focus = focus;
        stage.model.arrangement = arrangement;
        stage.model.zoomed = zoomed;
        stage.model.cursor = at.map_or(Cursor::Live, |n| Cursor::At(Seq(n)));
        stage.model.scrolls.story = scroll;
        stage.model.scrolls.observations = scroll;
        stage.draw();
    }

    #[test]
    fn any_keys_leave_a_screen(keys in proptest::collection::vec(0_usize..super::keys::ALL.len(), 1..40)) {
        let mut stage = Stage::new(Fixture::new(), 100, 30);
        stage.fixture.store = session().store.clone();
        for key in keys {
            stage.press(super::keys::ALL[key]);
            stage.draw();
        }
    }
}
