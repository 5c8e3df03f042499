//! The screen never panics, hostile text reaches no cell, and terminals show exactly what was drawn.

use super::{TestScreen, screen_text, terminal_bytes};
use crate::domain::{DecidedBy, LessonOrigin, LessonText, ReflectionKind, Seq};
use crate::ui::fixture::{Fixture, long_session, sample_session};
use crate::ui::layout::Arrangement;
use crate::ui::types::{Cursor, Focus};
use proptest::prelude::*;
use std::sync::OnceLock;

/// Attacks that an environment, a model or a file could try.
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

fn hostile_fixture(text: &str) -> Fixture {
    let mut f = Fixture::new();
    f.begin_episode();
    let shown = serde_json::json!({"place": text, "holding": text, "receptacles": [text], "seen": {text: {"items": [text]}}});
    f.propose(Some(text), Some(text));
    f.execute(text, DecidedBy::Person, text, 0.5, shown);
    f.add_reflection(ReflectionKind::Error, LessonText::error(text, text));
    f.add_lesson(ReflectionKind::Abstract, LessonText::plain(text), LessonOrigin::Person);
    f.add_lesson(ReflectionKind::Progress, LessonText::plain(text), LessonOrigin::Mentor);
    f.propose(Some(text), Some(text));
    f.pause();
    f
}

#[test]
fn hostile_text_reaches_no_cell() {
    for text in HOSTILE {
        for (w, h) in super::SIZES {
            let buffer = TestScreen::new(hostile_fixture(text), w, h).draw();
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
        let mut stage = TestScreen::new(sample_session(), w, h);
        stage.glyphs = crate::ui::glyphs::ASCII;
        for key in ["End", "Left", "Tab", "z"] {
            stage.press(key);
            let text = screen_text(&stage.draw());
            let foreign: String = text.chars().filter(|c| !c.is_ascii()).collect();
            assert_eq!(foreign, "", "{w}x{h} after {key}\n{text}");
        }
    }
}

#[test]
fn a_line_of_a_megabyte_is_drawn_quickly() {
    let text = "endless ".repeat(131_072);
    let mut stage = TestScreen::new(hostile_fixture(&text), 120, 36);
    let begin = std::time::Instant::now();
    let buffer = stage.draw();
    assert!(begin.elapsed().as_secs() < 10);
    assert!(screen_text(&buffer).contains("Enter shows the rest"));
}

/// A terminal that reads the bytes of a frame shows that frame: no cell is displaced by a different width.
#[test]
fn a_terminal_shows_what_was_drawn() {
    let mut fixtures = vec![sample_session()];
    fixtures.extend(HOSTILE.iter().filter(|t| !t.contains('\u{200d}')).map(|t| hostile_fixture(t)));
    for fixture in fixtures {
        let mut stage = TestScreen::new(fixture, 120, 36);
        let buffer = stage.draw();
        let (rows, columns) = (36.try_into().unwrap(), 120.try_into().unwrap());
        let mut terminal = vt100::Parser::new(rows, columns, 0);
        terminal.process(&terminal_bytes(&buffer));
        let shown: Vec<String> = terminal.screen().rows(0, 120).map(|r| r.trim_end().to_owned()).collect();
        let expected: Vec<String> = screen_text(&buffer).lines().map(str::to_owned).collect();
        assert_eq!(shown, expected);
    }
}

fn shared_session() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| long_session(600))
}

fn focus() -> impl Strategy<Value = Focus> {
    prop_oneof![
        Just(Focus::Story),
        Just(Focus::Observations),
        Just(Focus::World),
        Just(Focus::Lanes),
        Just(Focus::Timeline)
    ]
}

fn arrangement() -> impl Strategy<Value = Option<Arrangement>> {
    prop_oneof![
        Just(None),
        Just(Some(Arrangement::OneColumn)),
        Just(Some(Arrangement::TwoColumns)),
        Just(Some(Arrangement::ThreeColumns))
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
        let mut stage = TestScreen::new(Fixture::new(), width, height);
        stage.fixture.store = shared_session().store.clone();
        stage.model.focus = focus;
        stage.model.arrangement = arrangement;
        stage.model.zoomed = zoomed;
        stage.model.cursor = at.map_or(Cursor::Live, |n| Cursor::At(Seq(n)));
        stage.model.scroll.story = scroll;
        stage.model.scroll.observations = scroll;
        stage.draw();
    }

    #[test]
    fn any_keys_leave_a_screen(keys in proptest::collection::vec(0_usize..super::keys::RANDOM_WALK_KEYS.len(), 1..40)) {
        let mut stage = TestScreen::new(Fixture::new(), 100, 30);
        stage.fixture.store = shared_session().store.clone();
        for key in keys {
            stage.press(super::keys::RANDOM_WALK_KEYS[key]);
            stage.draw();
        }
    }
}
