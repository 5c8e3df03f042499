//! What lies over the panes: pictures at two sizes, and what keys come to in it.

use super::{Stage, screen};
use crate::domain::{
    CallId, DecidedBy, DroppedSegment, EndReason, LessonText, MessageRole, PromptRecord, ReflectionKind,
    SegmentLabel, SegmentOrigin, SegmentRecord,
};
use crate::engine::{Cause, Command, Event};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::model::{Cursor, Focus};
use crate::ui::msg::{Msg, Request};
use crate::ui::overlay::Answer;
use serde_json::Value;

const SMALL: [(u16, u16); 2] = [(80, 24), (60, 16)];

/// Draws what the keys open, at both sizes.
fn pictures(name: &str, make: fn() -> Fixture, open: impl Fn(&mut Stage)) {
    for (w, h) in SMALL {
        let mut stage = Stage::new(make(), w, h);
        open(&mut stage);
        assert!(!stage.model.overlays.is_empty(), "{name} is not open");
        insta::assert_snapshot!(format!("{name}_{w}x{h}"), screen(&stage.draw()));
        // Esc closes it, and never asks the driver for anything.
        for _ in 0..3 {
            let wants = stage.press("Esc");
            assert!(!wants.iter().any(|w| matches!(w, Request::Send(_))), "{name}: {wants:?}");
        }
        assert!(stage.model.overlays.is_empty(), "{name} stays");
    }
}

pub(super) fn typed(stage: &mut Stage, text: &str) {
    for c in text.chars() {
        let name = if c == ' ' { "Space".to_owned() } else { c.to_string() };
        stage.press(&name);
    }
}

pub(super) fn admissible() -> Answer {
    let rows = [
        "close fridge 1",
        "go to cabinet 1",
        "go to countertop 1",
        "go to fridge 1",
        "go to microwave 1",
        "go to stoveburner 1",
        "go to stoveburner 2",
        "heat apple 1 with microwave 1",
        "inventory",
        "look",
        "put apple 1 in/on fridge 1",
    ];
    Answer::Admissible(rows.map(str::to_owned).to_vec())
}

/// The kitchen with a prompt as a method would draft it, and one before it.
fn prompted() -> Fixture {
    let mut f = sample_session();
    let text = "Interact with a household to solve a task. You can: go to, take, put, open, close, heat, cool, clean, use.\n";
    f.write(Cause::Policy, Event::TextDefined { hash: "0123456789abcdef".to_owned(), text: text.to_owned() });
    for (n, to) in [(1, 19), (2, 20)] {
        let segment =
            |label, origin, speaker, tokens| SegmentRecord { label, origin, message_role: speaker, tokens };
        let lesson = f.state().pool.by_number(n + 3).unwrap();
        let lesson = SegmentOrigin::Lesson { id: lesson.id.clone(), version: 1 };
        let instruction = SegmentOrigin::Text("0123456789abcdef".into());
        let prompt = PromptRecord {
            call: CallId(900 + u64::from(n)),
            episode: 1,
            step: 24,
            segments: vec![
                segment(SegmentLabel::Instruction, instruction, MessageRole::System, 26),
                segment(SegmentLabel::Error, lesson, MessageRole::User, 14),
                segment(SegmentLabel::Task, SegmentOrigin::Task, MessageRole::User, 96),
                segment(
                    SegmentLabel::Action,
                    SegmentOrigin::Steps { from: to - 2, to },
                    MessageRole::User,
                    61,
                ),
            ],
            dropped: vec![DroppedSegment {
                origin: SegmentOrigin::Steps { from: 1, to: to - 3 },
                reason: "the oldest steps do not fit".to_owned(),
                tokens: 611,
            }],
            tokens: 197,
            sha256: format!("{n}"),
            ..PromptRecord::default()
        };
        f.write(Cause::Policy, Event::PromptSent { prompt: prompt.into() });
    }
    f
}

pub(super) fn lost() -> Fixture {
    let mut f = sample_session();
    f.end(false, EndReason::StepLimit);
    f
}

#[test]
fn every_overlay_fits_and_closes() {
    pictures("help", sample_session, |s| drop(s.press("?")));
    pictures("palette", sample_session, |s| {
        s.press(":");
        typed(s, "les");
    });
    pictures("search", sample_session, |s| {
        s.press("/");
        typed(s, "APPLE");
    });
    pictures("override", sample_session, |s| {
        assert_eq!(s.press("o"), [Request::Admissible]);
        s.tell(Msg::Answer(admissible()));
        typed(s, "heat");
    });
    pictures("override_question", sample_session, |s| {
        s.press("o");
        typed(s, "look");
        s.press("Enter");
    });
    pictures("reject", sample_session, |s| drop(s.press("x")));
    pictures("remark", sample_session, |s| drop(s.press("N")));
    pictures("lesson_new", sample_session, |s| {
        s.press("a");
        typed(s, "Look for food on countertops first.");
        s.press("Tab");
    });
    pictures("lesson_from_override", sample_session, |s| drop(s.press("A")));
    pictures("details", sample_session, |s| {
        s.model.focus = Focus::Lanes;
        s.press("Enter");
    });
    pictures("step", sample_session, |s| {
        s.press("Left");
        s.press("Left");
        s.press("i");
    });
    pictures("prompt", prompted, |s| drop(s.press("p")));
    pictures("prompt_difference", prompted, |s| {
        s.press("p");
        s.press("d");
    });
    pictures("end", lost, |s| drop(s.tell(Msg::News)));
}

#[test]
fn overlays_are_drawn_at_any_size() {
    let open: [fn(&mut Stage); 9] = [
        |s| drop(s.press("?")),
        |s| drop(s.press(":")),
        |s| {
            s.press("/");
            typed(s, "apple");
        },
        |s| drop(s.press("o")),
        |s| drop(s.press("x")),
        |s| drop(s.press("a")),
        |s| drop(s.press("p")),
        |s| {
            s.model.focus = Focus::Lanes;
            s.press("Enter");
        },
        |s| {
            s.press("o");
            typed(s, "look");
            s.press("Enter");
        },
    ];
    for open in open {
        let mut stage = Stage::new(prompted(), 80, 24);
        open(&mut stage);
        for (w, h) in
            [(1, 1), (2, 2), (3, 3), (5, 4), (12, 3), (4, 40), (20, 6), (59, 15), (300, 4), (300, 90)]
        {
            stage.model.size = (w, h);
            stage.draw();
        }
    }
}

#[test]
fn the_palette_finds_actions_and_steps() {
    let mut stage = Stage::new(sample_session(), 80, 24);
    stage.press(":");
    typed(&mut stage, "pause");
    assert_eq!(stage.press("Enter"), [Request::Send(Command::Run)]);
    stage.press(":");
    typed(&mut stage, "9");
    stage.press("Enter");
    assert_eq!(stage.moment().chosen(), 9);
    assert!(stage.model.overlays.is_empty());
    stage.press(":");
    typed(&mut stage, "999");
    stage.press("Enter");
    assert_eq!(stage.moment().chosen(), 9);
    assert!(stage.model.notice.as_ref().is_some_and(|n| n.text.contains("no turn 999")));
}

#[test]
fn the_palette_opens_another_overlay_in_its_place() {
    let mut stage = Stage::new(sample_session(), 80, 24);
    stage.press(":");
    typed(&mut stage, "help");
    stage.press("Enter");
    let names: Vec<&str> = stage.model.overlays.iter().map(|o| o.name()).collect();
    assert_eq!(names, ["help"]);
}

#[test]
fn n_walks_through_matches_and_cannot_step() {
    let mut stage = Stage::new(sample_session(), 80, 24);
    stage.press("/");
    typed(&mut stage, "nothing happens");
    stage.press("Enter");
    let mut seen = Vec::new();
    for _ in 0..3 {
        assert_eq!(stage.press("n"), [], "a search never asks the driver for anything");
        seen.push(stage.moment().chosen());
    }
    assert_eq!(seen, [13, 4, 13]);
    stage.press("Enter");
    assert!(stage.model.overlays.is_empty());
    assert!(stage.model.past());
}

#[test]
fn a_search_given_up_while_typing_returns_to_where_it_began() {
    let mut stage = Stage::new(sample_session(), 80, 24);
    stage.press("/");
    typed(&mut stage, "drawer");
    stage.press("Esc");
    assert_eq!(stage.model.cursor, Cursor::Live);
}

#[test]
fn hostile_text_stays_inside_the_overlays() {
    let mut fixture = prompted();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}evil\r\n\u{9b}31m";
    fixture.propose(Some(evil), Some(evil));
    fixture.lesson(ReflectionKind::Error, LessonText::error(evil, evil), crate::domain::LessonOrigin::Mentor);
    let mut stage = Stage::new(fixture, 80, 24);
    for keys in [&["o"][..], &["x"], &["p"], &["p", "d"], &["A"], &["Left", "Enter"], &["/", "e"]] {
        for key in keys {
            stage.press(key);
        }
        stage.tell(Msg::Paste(evil.to_owned()));
        stage.tell(Msg::Answer(Answer::Admissible(vec![evil.to_owned()])));
        let shown = screen(&stage.draw());
        assert!(!shown.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{keys:?}");
        for _ in 0..4 {
            stage.press("Esc");
        }
    }
}

/// The rows of an open step are kept between frames; they were once wrapped at every frame, a megabyte of them too.
#[test]
fn an_open_step_follows_what_comes_and_the_width() {
    let mut stage = Stage::new(sample_session(), 120, 36);
    stage.fixture.propose(None, Some("open drawer 9"));
    stage.press("i");
    let before = screen(&stage.draw());
    assert!(before.contains("proposed    open drawer 9") && !before.contains("done "), "{before}");
    stage.fixture.take("open drawer 9", DecidedBy::Actor, "In it, you see a spoon 7.", 0.0, Value::Null);
    let after = screen(&stage.draw());
    assert!(after.contains("done        open drawer 9") && after.contains("spoon 7"), "{after}");
    stage.tell(Msg::Resize(30, 36));
    let narrow = screen(&stage.draw());
    assert!(narrow.contains("open drawer") && !narrow.contains("In it, you see a spoon 7."), "{narrow}");
}
