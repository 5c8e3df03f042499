//! The health of the session's lessons: the findings, and what a key does about each.

use super::{TestScreen, screen_text};
use crate::domain::{
    AdviceCounts, Author, DecidedBy, Lesson, LessonOrigin, LessonStatus, LessonText, ReflectionKind,
};
use crate::driver::Health;
use crate::engine::{Cause, Command, Event, LessonCommand};
use crate::timeline::lesson_health::{Finding, LessonHealth, LessonRef};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::keymap::Mode;
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::types::PtrEqArc;
use std::sync::Arc;

/// The sample session with two lessons that say the same: one from the rules, then one by a person.
fn with_duplicates() -> Fixture {
    let mut fixture = sample_session();
    for origin in [LessonOrigin::Symbolic, LessonOrigin::Person] {
        fixture.add_lesson(
            ReflectionKind::Abstract,
            LessonText::plain("Open a closed fridge first."),
            origin,
        );
    }
    fixture
}

fn last_two(screen: &TestScreen) -> [Lesson; 2] {
    let head = screen.frame_data().head;
    let mut last = head.pool.all().rev().take(2).cloned();
    let (person, rules) = (last.next().unwrap(), last.next().unwrap());
    [rules, person]
}

/// Opens the overlay with a duplicate, a lesson that isn't obeyed, and a large share.
fn opened(width: u16, height: u16) -> (TestScreen, [Lesson; 2]) {
    let mut screen = TestScreen::new(with_duplicates(), width, height);
    assert_eq!(screen.press("W"), [Request::CheckHealth]);
    assert_eq!(screen.overlay_mode(), Mode::Health);
    assert!(screen_text(&screen.draw()).contains("checking the lessons"));
    let lessons = last_two(&screen);
    let [first, second] = lessons.each_ref().map(LessonRef::new);
    let toxic = first.clone();
    let findings = vec![
        Finding::Duplicate { lessons: [first.clone(), second], cosine: 1.0 },
        Finding::NotObeyed { lesson: first, detector: "nothing_happened".to_owned(), times: 3, uses: 9 },
        Finding::Toxic {
            lesson: toxic,
            measured: "-40 % elsewhere [-60, -10] · 20 pairs".to_owned(),
            pairs: AdviceCounts { effective: 4, ineffective: 2, toxic: 14 },
        },
        Finding::LargeShare { share: 0.6 },
    ];
    let health =
        LessonHealth { lessons: 12, prompt_share: Some(0.6), last_prompt_share: Some(0.6), findings };
    screen.send(UiMessage::Answer(Answer::Health(Ok(PtrEqArc(Arc::new(health))))));
    (screen, lessons)
}

#[test]
fn findings_are_listed_at_every_size_with_their_keys() {
    for (width, height) in [(200, 60), (120, 36), (80, 24), (60, 16)] {
        let (mut screen, _) = opened(width, height);
        let shown = screen_text(&screen.draw());
        for text in [
            "60 % of the prompt",
            "say the same",
            "m merges them",
            "d retires",
            "Open a closed fridge first.",
        ] {
            assert!(shown.contains(text), "{text} at {width}x{height}: {shown}");
        }
        for _ in 0..5 {
            screen.press("Down");
        }
        let toxic = screen_text(&screen.draw()).contains("is toxic: -40 % elsewhere");
        assert!(toxic || width < 80, "the measured one at {width}x{height}");
        for _ in 0..5 {
            screen.press("Down");
        }
        let shown = screen_text(&screen.draw());
        assert!(shown.contains("s shortens the longest"), "the last finding at {width}x{height}: {shown}");
    }
}

#[test]
fn merging_keeps_a_persons_lesson_and_retires_the_other() {
    let (mut screen, [rules, person]) = opened(120, 36);
    let requests = screen.press("m");
    let commands: Vec<&LessonCommand> = requests
        .iter()
        .filter_map(|request| match request {
            Request::Send(Command::Lesson(command)) => Some(command),
            _ => None,
        })
        .collect();
    let merged = LessonCommand::Merge { id: rules.id.clone(), into: person.id.clone() };
    assert_eq!(commands, [&LessonCommand::Recur { id: person.id.clone() }, &merged]);
    let none = serde_json::Value::Null;
    screen.fixture.execute("go to stoveburner 1", DecidedBy::Actor, "Nothing.", 0.5, none);
    screen.fixture.propose(None, Some("look")).pause();
    // A finding about a lesson that is gone is no finding any more.
    let op = crate::domain::LessonOp::Status {
        id: rules.id,
        previous: LessonStatus::On,
        status: LessonStatus::Retired,
        merged_into: Some(person.number),
    };
    screen.fixture.write(Cause::Person, Event::LessonChanged { op: Box::new(op), author: Author::Person });
    let shown = screen_text(&screen.draw());
    assert!(!shown.contains("say the same") && !shown.contains("was not obeyed"), "{shown}");
    assert!(shown.contains("lessons take 60 %"), "{shown}");
    // Regression: the story and the timeline said that the person had deleted it.
    screen.press("Esc");
    let shown = screen_text(&screen.draw());
    assert!(
        shown.contains(&format!("you merged lesson {} into lesson {}", rules.number, person.number)),
        "{shown}"
    );
    assert!(shown.contains("you merged two lessons") && !shown.contains("deleted"), "{shown}");
}

#[test]
fn a_lesson_is_retired_shortened_or_measured_from_the_list() {
    let (mut screen, [rules, person]) = opened(120, 36);
    // On the second lesson of the duplicate.
    screen.press("Down");
    screen.press("Down");
    let requests = screen.press("d");
    let retire = LessonCommand::Status { id: person.id.clone(), status: LessonStatus::Retired };
    assert_eq!(requests, [Request::Send(Command::Lesson(retire))]);
    // On the finding that it isn't obeyed.
    screen.press("Down");
    let requests = screen.press("%");
    assert!(
        matches!(&requests[..], [Request::PlanEffect(query)] if query.lesson == rules.id),
        "{requests:?}"
    );
    assert_eq!(screen.overlay_mode(), Mode::Effect);
    screen.press("Esc");
    screen.press("s");
    assert_eq!(screen.overlay_mode(), Mode::LessonEditor);
    assert!(screen_text(&screen.draw()).contains("Open a closed fridge first."));
    screen.press("Esc");
    assert_eq!(screen.press("m"), [], "one lesson can't be merged");
    assert!(screen.model.notice.as_ref().unwrap().text.contains("only two"), "{:?}", screen.model.notice);
    // A large share is about the longest lesson.
    screen.press("End");
    screen.press("s");
    assert_eq!(screen.overlay_mode(), Mode::LessonEditor);
}

#[test]
fn a_read_only_session_is_checked_but_not_changed() {
    let (mut screen, _) = opened(120, 36);
    screen.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
    assert_eq!(screen.press("d"), []);
    assert!(screen.model.notice.as_ref().unwrap().text.contains("read-only"), "{:?}", screen.model.notice);
}

#[test]
fn healthy_lessons_and_errors_say_so() {
    let mut screen = TestScreen::new(sample_session(), 80, 24);
    screen.press("W");
    screen.send(UiMessage::Answer(Answer::Health(Err("event 7 can't be read".to_owned()))));
    assert!(screen_text(&screen.draw()).contains("event 7 can't be read"));
    screen.send(UiMessage::Answer(Answer::Health(Ok(PtrEqArc(Arc::default())))));
    let shown = screen_text(&screen.draw());
    // The keys about findings do nothing, and say so.
    assert!(
        shown.contains("nothing found") && !shown.contains("merge") && !shown.contains("retire"),
        "{shown}"
    );
    screen.press("m");
    assert_eq!(screen.model.notice.as_ref().unwrap().text, "nothing was found about a lesson");
    screen.press("Esc");
    assert!(screen.compositor.overlays().is_empty());
}

/// The key line of the lower overlay stayed visible below that of the upper one.
#[test]
fn only_the_topmost_overlay_shows_its_keys() {
    let (mut screen, _) = opened(80, 24);
    assert!(screen_text(&screen.draw()).contains("m merge ─"));
    screen.press("s");
    assert_eq!(screen.overlay_mode(), Mode::LessonEditor);
    let shown = screen_text(&screen.draw());
    assert!(!shown.contains("m merge ─") && shown.matches("Esc ").count() == 1, "{shown}");
}
