//! Overlays: pictures at two sizes, and their keys.

use super::{TestScreen, screen_text};
use crate::domain::{
    CallId, DecidedBy, DroppedSegment, EndReason, LessonText, MessageRole, PromptRecord, ReflectionKind,
    SegmentLabel, SegmentOrigin, SegmentRecord,
};
use crate::engine::{Cause, Command, Event};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::types::{Cursor, Focus, WorkKind};
use serde_json::Value;

const SMALL_SIZES: [(u16, u16); 2] = [(80, 24), (60, 16)];

/// Asserts the pictures of an overlay at both sizes, and that Esc closes it without a command.
fn assert_pictures(name: &str, make: fn() -> Fixture, open: impl Fn(&mut TestScreen)) {
    for (w, h) in SMALL_SIZES {
        let mut stage = TestScreen::new(make(), w, h);
        open(&mut stage);
        assert!(!stage.compositor.overlays().is_empty(), "{name} is not open");
        insta::assert_snapshot!(format!("{name}_{w}x{h}"), screen_text(&stage.draw()));
        // Esc closes it and sends no command.
        for _ in 0..3 {
            let requests = stage.press("Esc");
            assert!(!requests.iter().any(|w| matches!(w, Request::Send(_))), "{name}: {requests:?}");
        }
        assert!(stage.compositor.overlays().is_empty(), "{name} stays");
    }
}

pub(super) fn type_text(stage: &mut TestScreen, text: &str) {
    for c in text.chars() {
        let name = if c == ' ' { "Space".to_owned() } else { c.to_string() };
        stage.press(&name);
    }
}

pub(super) fn admissible_answer() -> Answer {
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

/// The sample session with two prompts such as a method drafts.
pub(super) fn with_prompts() -> Fixture {
    let mut f = sample_session();
    let text = "Interact with a household to solve a task. You can: go to, take, put, open, close, heat, cool, clean, use.\n";
    f.write(Cause::Policy, Event::TextDefined { hash: "0123456789abcdef".to_owned(), text: text.to_owned() });
    for (n, to) in [(1, 19), (2, 20)] {
        let segment =
            |label, origin, message_role, tokens| SegmentRecord { label, origin, message_role, tokens };
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

pub(super) fn lost_episode() -> Fixture {
    let mut f = sample_session();
    f.end_episode(false, EndReason::StepLimit);
    f
}

#[test]
fn every_overlay_fits_and_closes() {
    assert_pictures("help", sample_session, |s| drop(s.press("?")));
    assert_pictures("palette", sample_session, |s| {
        s.press(":");
        type_text(s, "les");
    });
    assert_pictures("search", sample_session, |s| {
        s.press("/");
        type_text(s, "APPLE");
    });
    assert_pictures("override", sample_session, |s| {
        assert_eq!(s.press("o"), [Request::ListAdmissible]);
        s.send(UiMessage::Answer(admissible_answer()));
        type_text(s, "heat");
    });
    assert_pictures("override_as_typed", sample_session, |s| {
        s.press("o");
        s.send(UiMessage::Answer(admissible_answer()));
        type_text(s, "look twice");
        s.press("Ctrl-s");
        s.press("Enter");
    });
    assert_pictures("override_thought", sample_session, |s| {
        s.press("o");
        s.send(UiMessage::Answer(admissible_answer()));
        type_text(s, "look");
        s.press("Ctrl-t");
        s.press("Ctrl-t");
        s.press("Enter");
    });
    assert_pictures("reject", sample_session, |s| drop(s.press("x")));
    assert_pictures("remark", sample_session, |s| drop(s.press("N")));
    assert_pictures("lesson_new", sample_session, |s| {
        s.press("a");
        type_text(s, "Look for food on countertops first.");
        s.press("Tab");
    });
    assert_pictures("lesson_from_override", sample_session, |s| drop(s.press("A")));
    assert_pictures("details", sample_session, |s| {
        s.model.focus = Focus::Lanes;
        s.press("Enter");
    });
    assert_pictures("step", sample_session, |s| {
        s.press("Left");
        s.press("Left");
        s.press("i");
    });
    assert_pictures("prompt", with_prompts, |s| drop(s.press("p")));
    assert_pictures("prompt_difference", with_prompts, |s| {
        s.press("p");
        s.press("d");
    });
    assert_pictures("end", lost_episode, |s| drop(s.send(UiMessage::StoreChanged)));
}

#[test]
fn overlays_are_drawn_at_any_size() {
    let open: [fn(&mut TestScreen); 9] = [
        |s| drop(s.press("?")),
        |s| drop(s.press(":")),
        |s| {
            s.press("/");
            type_text(s, "apple");
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
            type_text(s, "look");
            s.press("Enter");
        },
    ];
    for open in open {
        let mut stage = TestScreen::new(with_prompts(), 80, 24);
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
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press(":");
    type_text(&mut stage, "pause");
    assert_eq!(stage.press("Enter"), [Request::Send(Command::Run)]);
    stage.press(":");
    type_text(&mut stage, "9");
    stage.press("Enter");
    assert_eq!(stage.frame_data().selected_step(), 9);
    assert!(stage.compositor.overlays().is_empty());
    stage.press(":");
    type_text(&mut stage, "999");
    stage.press("Enter");
    assert_eq!(stage.frame_data().selected_step(), 9);
    assert!(stage.model.notice.as_ref().is_some_and(|n| n.text.contains("no step 999")));
}

#[test]
fn the_palette_opens_another_overlay_in_its_place() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press(":");
    type_text(&mut stage, "help");
    stage.press("Enter");
    let names: Vec<&str> = stage.compositor.overlays().iter().map(|o| o.name()).collect();
    assert_eq!(names, ["help"]);
}

#[test]
fn n_visits_matches_and_cannot_step() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("/");
    type_text(&mut stage, "nothing happens");
    stage.press("Enter");
    let mut seen = Vec::new();
    for _ in 0..3 {
        assert_eq!(stage.press("n"), [], "a search sends no command");
        seen.push(stage.frame_data().selected_step());
    }
    assert_eq!(seen, [4, 13, 4]);
    stage.press("Enter");
    assert!(stage.compositor.overlays().is_empty());
    assert!(stage.model.is_in_past());
}

#[test]
fn esc_while_typing_a_search_returns_to_the_start() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("/");
    type_text(&mut stage, "drawer");
    stage.press("Esc");
    assert_eq!(stage.model.cursor, Cursor::Live);
}

#[test]
fn hostile_text_stays_inside_the_overlays() {
    let mut fixture = with_prompts();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}evil\r\n\u{9b}31m";
    fixture.propose(Some(evil), Some(evil));
    fixture.add_lesson(
        ReflectionKind::Error,
        LessonText::error(evil, evil),
        crate::domain::LessonOrigin::Mentor,
    );
    let mut stage = TestScreen::new(fixture, 80, 24);
    for keys in [&["o"][..], &["x"], &["p"], &["p", "d"], &["A"], &["Left", "Enter"], &["/", "e"]] {
        for key in keys {
            stage.press(key);
        }
        stage.send(UiMessage::Paste(evil.to_owned()));
        stage.send(UiMessage::Answer(Answer::Admissible(vec![evil.to_owned()])));
        let shown = screen_text(&stage.draw());
        assert!(!shown.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{keys:?}");
        for _ in 0..4 {
            stage.press("Esc");
        }
    }
}

/// The wrapped rows of the step details are cached between frames; the cache follows new events and the width.
#[test]
fn an_open_step_follows_what_comes_and_the_width() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    stage.fixture.propose(None, Some("open drawer 9"));
    stage.press("i");
    let before = screen_text(&stage.draw());
    assert!(before.contains("proposed    open drawer 9") && !before.contains("executed"), "{before}");
    stage.fixture.execute("open drawer 9", DecidedBy::Actor, "In it, you see a spoon 7.", 0.0, Value::Null);
    let after = screen_text(&stage.draw());
    assert!(after.contains("executed    open drawer 9") && after.contains("spoon 7"), "{after}");
    stage.send(UiMessage::Resize(30, 36));
    let narrow = screen_text(&stage.draw());
    assert!(narrow.contains("open drawer") && !narrow.contains("In it, you see a spoon 7."), "{narrow}");
}

/// Regression: a hint was one row at the bottom, cut off, and nothing showed that it was being found.
#[test]
fn a_hint_is_found_and_read_in_a_window() {
    let hint = "Next: open door to kitchen. Then 34 more actions: go to kitchen, look around, pick up \
                thermometer, open cupboard, pick up metal pot, move metal pot to sink, activate sink, \
                deactivate sink, pick up metal pot, move metal pot to stove, activate stove, and so on.";
    for (w, h) in [(120, 36), (80, 24)] {
        let mut stage = TestScreen::new(sample_session(), w, h);
        stage.press(":");
        type_text(&mut stage, "hint");
        assert_eq!(stage.press("Enter"), [Request::Hint]);
        assert!(stage.compositor.is_awaited(WorkKind::Hint, &stage.model));
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("finding a path to the goal ..."), "{shown}");
        stage.send(UiMessage::Answer(Answer::Hint(Ok(Some(hint.to_owned())))));
        insta::assert_snapshot!(format!("hint_{w}x{h}"), screen_text(&stage.draw()));
        assert_eq!(stage.press("Esc"), []);
        assert!(stage.compositor.overlays().is_empty());
        // Whoever closes the window waits no more.
        assert!(!stage.compositor.is_awaited(WorkKind::Hint, &stage.model));
    }
    for (answer, expected) in [
        (Ok(None), "no hint: this environment can't search for a path to the goal"),
        (Err("the environment crashed: killed".to_owned()), "no hint: the environment crashed: killed"),
    ] {
        let mut stage = TestScreen::new(sample_session(), 80, 24);
        stage.press(":");
        type_text(&mut stage, "hint");
        stage.press("Enter");
        stage.send(UiMessage::Answer(Answer::Hint(answer)));
        let shown = screen_text(&stage.draw());
        assert!(shown.contains(expected), "{shown}");
    }
}

/// Regression: `o` and Enter made a person's action out of the proposal, and the episode counted as assisted.
#[test]
fn an_override_that_changes_nothing_runs_the_proposal() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("o");
    stage.send(UiMessage::Answer(admissible_answer()));
    assert_eq!(stage.press("Enter"), [Request::Send(Command::Step)]);
    assert!(stage.compositor.overlays().is_empty());
}

/// Regression: `:theme light` ignored its second word.
#[test]
fn the_palette_chooses_a_theme_by_its_name() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press(":");
    stage.send(UiMessage::Paste("theme light".to_owned()));
    assert_eq!(stage.press("Enter"), [Request::SwitchTheme(Some("light".to_owned()))]);
}
