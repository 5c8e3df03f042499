//! What lies over the panes: pictures at two sizes, and what keys come to in it.

use super::{Stage, screen};
use crate::domain::{
    CallId, Dropped, EndReason, Fate, Kind, Label, LessonStatus, LessonText, Origin, PromptRecord, Scope,
    SegmentRecord, Seq, ShownAs, Speaker,
};
use crate::engine::{Cause, Command, Event, LessonWish};
use crate::ui::fixture::{Fixture, kitchen};
use crate::ui::model::{Cursor, Focus};
use crate::ui::msg::{Msg, Request};
use crate::ui::overlay::{Answer, Draft, SHOWN_AS, THOUGHT};
use serde_json::json;

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

fn typed(stage: &mut Stage, text: &str) {
    for c in text.chars() {
        let name = if c == ' ' { "Space".to_owned() } else { c.to_string() };
        stage.press(&name);
    }
}

fn admissible() -> Answer {
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
    let mut f = kitchen();
    let text = "Interact with a household to solve a task. You can: go to, take, put, open, close, heat, cool, clean, use.\n";
    f.write(Cause::Policy, Event::TextDefined { hash: "0123456789abcdef".to_owned(), text: text.to_owned() });
    for (n, to) in [(1, 19), (2, 20)] {
        let segment = |label, origin, speaker, tokens| SegmentRecord { label, origin, speaker, tokens };
        let lesson = f.state().pool.numbered(n + 3).unwrap();
        let lesson = Origin::Lesson { id: lesson.id.clone(), version: 1 };
        let instruction = Origin::Text("0123456789abcdef".to_owned());
        let prompt = PromptRecord {
            call: CallId(900 + u64::from(n)),
            episode: 1,
            step: 24,
            segments: vec![
                segment(Label::Instruction, instruction, Speaker::System, 26),
                segment(Label::Error, lesson, Speaker::User, 14),
                segment(Label::Task, Origin::Task, Speaker::User, 96),
                segment(Label::Action, Origin::Steps { from: to - 2, to }, Speaker::User, 61),
            ],
            dropped: vec![Dropped {
                origin: Origin::Steps { from: 1, to: to - 3 },
                reason: "the oldest steps do not fit".to_owned(),
                tokens: 611,
            }],
            tokens: 197,
            sha256: format!("{n}"),
            ..PromptRecord::default()
        };
        f.write(Cause::Policy, Event::PromptSent { prompt: Box::new(prompt) });
    }
    f
}

fn lost() -> Fixture {
    let mut f = kitchen();
    f.end(false, EndReason::StepLimit);
    f
}

#[test]
fn every_overlay_fits_and_closes() {
    pictures("help", kitchen, |s| drop(s.press("?")));
    pictures("palette", kitchen, |s| {
        s.press(":");
        typed(s, "les");
    });
    pictures("search", kitchen, |s| {
        s.press("/");
        typed(s, "APPLE");
    });
    pictures("override", kitchen, |s| {
        assert_eq!(s.press("o"), [Request::Admissible]);
        s.tell(Msg::Answer(admissible()));
        typed(s, "heat");
    });
    pictures("override_question", kitchen, |s| {
        s.press("o");
        typed(s, "look");
        s.press("Enter");
    });
    pictures("reject", kitchen, |s| drop(s.press("x")));
    pictures("remark", kitchen, |s| drop(s.press("N")));
    pictures("lesson_new", kitchen, |s| {
        s.press("a");
        typed(s, "Went to a stoveburner to heat food.");
        s.press("Tab");
        typed(s, "Use the microwave.");
        s.press("Tab");
    });
    pictures("lesson_from_override", kitchen, |s| drop(s.press("A")));
    pictures("details", kitchen, |s| {
        s.model.focus = Focus::Lanes;
        s.press("Enter");
    });
    pictures("step", kitchen, |s| {
        s.press("Left");
        s.press("Left");
        s.press("Enter");
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
    let mut stage = Stage::new(kitchen(), 80, 24);
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
    assert!(stage.model.notice.as_ref().is_some_and(|n| n.text.contains("no step 999")));
}

#[test]
fn the_palette_opens_another_overlay_in_its_place() {
    let mut stage = Stage::new(kitchen(), 80, 24);
    stage.press(":");
    typed(&mut stage, "help");
    stage.press("Enter");
    let names: Vec<&str> = stage.model.overlays.iter().map(|o| o.name()).collect();
    assert_eq!(names, ["help"]);
}

#[test]
fn n_walks_through_matches_and_cannot_step() {
    let mut stage = Stage::new(kitchen(), 80, 24);
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
    let mut stage = Stage::new(kitchen(), 80, 24);
    stage.press("/");
    typed(&mut stage, "drawer");
    stage.press("Esc");
    assert_eq!(stage.model.cursor, Cursor::Live);
}

fn set(name: &str, word: &str) -> Request {
    Request::Send(Command::Set { name: name.to_owned(), value: json!(word) })
}

#[test]
fn the_two_questions_are_asked_once() {
    let mut fixture = kitchen();
    fixture.propose(Some("The stove is hot."), Some("go to stoveburner 1"));
    let mut stage = Stage::new(fixture, 80, 24);
    stage.press("o");
    stage.tell(Msg::Answer(admissible()));
    typed(&mut stage, "go to microwave 1");
    assert_eq!(stage.press("Enter"), []);
    stage.press("Down");
    assert_eq!(stage.press("Enter"), []);
    stage.press("Down");
    let wants = stage.press("Enter");
    let overridden = |shown_as, fate| {
        Request::Send(Command::Override { action: "go to microwave 1".to_owned(), shown_as, fate })
    };
    let wanted = vec![
        set(SHOWN_AS, "human_edit"),
        set(THOUGHT, "dropped"),
        overridden(ShownAs::HumanEdit, Fate::Dropped),
    ];
    assert_eq!(wants, wanted);
    for (name, value) in [(SHOWN_AS, "human_edit"), (THOUGHT, "dropped")] {
        let event = Event::SettingChanged { name: name.to_owned(), value: json!(value) };
        stage.fixture.write(Cause::Person, event);
    }
    stage.press("o");
    typed(&mut stage, "go to microwave 1");
    assert_eq!(stage.press("Enter"), [overridden(ShownAs::HumanEdit, Fate::Dropped)]);
}

#[test]
fn a_rewritten_thought_is_typed() {
    let mut fixture = kitchen();
    for (name, value) in [(SHOWN_AS, "own"), (THOUGHT, "rewritten")] {
        fixture.write(Cause::Person, Event::SettingChanged { name: name.to_owned(), value: json!(value) });
    }
    fixture.propose(Some("The stove is hot."), Some("go to stoveburner 1"));
    let mut stage = Stage::new(fixture, 80, 24);
    stage.press("o");
    typed(&mut stage, "look");
    assert_eq!(stage.press("Enter"), []);
    typed(&mut stage, " Or not.");
    let fate = Fate::Rewritten("The stove is hot. Or not.".to_owned());
    let wanted = Command::Override { action: "look".to_owned(), shown_as: ShownAs::Own, fate };
    assert_eq!(stage.press("Enter"), [Request::Send(wanted)]);
}

#[test]
fn a_row_of_the_list_is_taken_or_completes() {
    let mut fixture = kitchen();
    for (name, value) in [(SHOWN_AS, "own"), (THOUGHT, "kept")] {
        fixture.write(Cause::Person, Event::SettingChanged { name: name.to_owned(), value: json!(value) });
    }
    let action = |wants: Vec<Request>| match wants.into_iter().next() {
        Some(Request::Send(Command::Override { action, .. })) => action,
        other => panic!("{other:?}"),
    };
    let mut stage = Stage::new(fixture, 80, 24);
    stage.press("o");
    stage.tell(Msg::Answer(admissible()));
    typed(&mut stage, "heat");
    stage.press("Down");
    assert_eq!(action(stage.press("Enter")), "heat apple 1 with microwave 1");
    stage.press("o");
    stage.tell(Msg::Answer(admissible()));
    typed(&mut stage, "micro");
    stage.press("Tab");
    typed(&mut stage, "2");
    assert_eq!(action(stage.press("Enter")), "go to microwave 12");
    // Moving first keeps the proposal, so that it can be changed.
    stage.press("o");
    stage.press("End");
    typed(&mut stage, "7");
    assert_eq!(action(stage.press("Enter")), "go to stoveburner 17");
}

#[test]
fn a_rejection_needs_a_reason() {
    let mut stage = Stage::new(kitchen(), 80, 24);
    stage.press("x");
    assert_eq!(stage.press("Enter"), []);
    typed(&mut stage, "it does not heat");
    assert_eq!(stage.press("Enter"), [Request::Send(Command::Reject("it does not heat".to_owned()))]);
}

#[test]
fn a_lesson_is_saved_by_enter_and_never_by_a_paste() {
    let mut stage = Stage::new(kitchen(), 80, 24);
    stage.press("a");
    assert_eq!(stage.tell(Msg::Paste("Two\nlines.\n\u{1b}[31m".to_owned())), []);
    assert_eq!(stage.model.overlays.len(), 1);
    stage.press("Ctrl-j");
    typed(&mut stage, "Three.");
    let wants = stage.press("Enter");
    let text = LessonText::plain("Two\nlines.\n\nThree.");
    let wish = LessonWish::Add {
        kind: Kind::Error,
        scope: Scope::Environment,
        text,
        rule: None,
        evidence: String::new(),
    };
    assert_eq!(wants, [Request::Send(Command::Lesson(wish))]);
    assert!(stage.model.notice.as_ref().is_some_and(|n| n.text.starts_with("counts from the next prompt")));
    assert_eq!(stage.model.drafts, []);
}

#[test]
fn esc_keeps_a_draft_of_each_lesson() {
    let mut stage = Stage::new(kitchen(), 80, 24);
    stage.press("a");
    typed(&mut stage, "Half a though");
    stage.press("Esc");
    assert_eq!(stage.model.drafts.len(), 1);
    stage.model.focus = Focus::Lanes;
    stage.press("e");
    stage.press("Esc");
    stage.press("a");
    typed(&mut stage, "t");
    let wants = stage.press("Enter");
    let is = |w: &Request| matches!(w, Request::Send(Command::Lesson(LessonWish::Add { text, .. })) if text.text == "Half a thought");
    assert!(wants.iter().any(is), "{wants:?}");
    assert_eq!(stage.model.drafts, []);
}

#[test]
fn the_editor_takes_the_text_and_gives_it_back() {
    let mut stage = Stage::new(kitchen(), 80, 24);
    stage.press("a");
    typed(&mut stage, "Short.");
    assert_eq!(stage.press("Ctrl-g"), [Request::Editor("Short.".to_owned())]);
    stage.tell(Msg::Answer(Answer::Edited(Some("Longer\u{1b}[2J.\n".to_owned()))));
    let wants = stage.press("Enter");
    let is = |w: &Request| matches!(w, Request::Send(Command::Lesson(LessonWish::Add { text, .. })) if text.text == "Longer.");
    assert!(wants.iter().any(is), "{wants:?}");
}

#[test]
fn an_edit_sends_only_what_changed() {
    let mut stage = Stage::new(kitchen(), 80, 24);
    stage.model.focus = Focus::Lanes;
    stage.press("e");
    assert_eq!(stage.press("Enter"), []);
    stage.press("e");
    stage.press("Tab");
    stage.press("Tab");
    stage.press("Right");
    let wants = stage.press("Enter");
    assert!(
        matches!(
            wants[..],
            [Request::Send(Command::Lesson(LessonWish::Rescope { scope: Scope::Episode, .. }))]
        ),
        "{wants:?}"
    );
}

#[test]
fn an_override_gives_a_lesson_without_numbers() {
    let stage = Stage::new(kitchen(), 80, 24);
    let steps = stage.fixture.state().episode.clone().unwrap();
    let step = steps.steps.iter().find(|s| s.by_person()).unwrap();
    let draft = Draft::of_override(step, Kind::Error).unwrap();
    assert_eq!(
        (draft.text.as_str(), draft.solution.as_str()),
        ("Wanted to go to drawer.", "Do this instead: go to diningtable.")
    );
}

#[test]
fn details_switch_the_lesson_they_show() {
    let mut stage = Stage::new(kitchen(), 80, 24);
    stage.model.focus = Focus::Lanes;
    stage.press("Enter");
    let wants = stage.press("x");
    let status = |w: &Request| match w {
        Request::Send(Command::Lesson(LessonWish::Status { status, .. })) => Some(*status),
        _ => None,
    };
    assert_eq!(wants.iter().filter_map(status).collect::<Vec<_>>(), [LessonStatus::Off]);
    assert_eq!(stage.model.overlays.len(), 1);
    assert_eq!(stage.press("d").iter().filter_map(status).collect::<Vec<_>>(), [LessonStatus::Retired]);
    assert!(stage.model.overlays.is_empty());
}

#[test]
fn the_end_card_leads_on() {
    let mut stage = Stage::new(lost(), 80, 24);
    stage.tell(Msg::News);
    let wants = stage.press("r");
    assert!(matches!(&wants[..], [Request::Send(Command::Begin(task))] if task.id == "heat/7"), "{wants:?}");
    let mut stage = Stage::new(lost(), 80, 24);
    stage.tell(Msg::News);
    stage.press("Down");
    stage.press("Down");
    stage.press("Enter");
    assert_eq!(stage.moment().chosen(), 22);
}

#[test]
fn hostile_text_stays_inside_the_overlays() {
    let mut fixture = prompted();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}evil\r\n\u{9b}31m";
    fixture.propose(Some(evil), Some(evil));
    fixture.lesson(Kind::Error, LessonText::error(evil, evil), crate::domain::LessonOrigin::Mentor);
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
    let _ = Seq(0);
}
