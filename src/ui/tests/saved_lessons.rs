//! Saved pools on the screen: taking a lesson over, and saving one in a pool file.

use super::overlays::type_text;
use super::{TestScreen, screen_text};
use crate::domain::{Lesson, LessonId, LessonOrigin, LessonText, ReflectionKind, Scope};
use crate::driver::Health;
use crate::engine::{Command, LessonCommand};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::types::{Focus, PtrEqArc, SavedPool, WorkKind};
use std::sync::Arc;

/// Returns a lesson as a pool has it.
fn saved(id: &str, kind: ReflectionKind, text: LessonText) -> Lesson {
    let fixture = sample_session();
    let known = fixture.state().pool.all().next().unwrap().clone();
    let version = crate::domain::LessonVersion { seq: known.versions[0].seq, text, edit: None, uses: 0 };
    Lesson {
        id: LessonId(id.into()),
        kind,
        scope: Scope::Environment,
        origin: LessonOrigin::Mentor,
        versions: Arc::new(vec![version]),
        task_key: Some("household easy/put/1 0".into()),
        ..known
    }
}

fn pools() -> UiMessage {
    let fridge = LessonText::error("Looked for food in drawers.", "Look for food in the fridge first.");
    let lamp = LessonText::plain("Take the lamp's position into account before looking for books.");
    let known = sample_session().state().pool.by_number(4).unwrap().clone();
    let pool = |name: &str, is_file, lessons| SavedPool {
        name: name.to_owned(),
        path: if is_file { format!("/home/ada/lessons/{name}") } else { name.to_owned() },
        is_file,
        lessons,
    };
    UiMessage::Answer(Answer::SavedPools(Ok(PtrEqArc(Arc::new(vec![
        pool("pool.jsonl", true, vec![saved("aaaa00000001", ReflectionKind::Error, fridge.clone()), known]),
        pool("kitchen.jsonl", true, Vec::new()),
        // The same words as in the file are listed once.
        pool(
            "20261120T104000Z-lamp",
            false,
            vec![
                saved("aaaa00000002", ReflectionKind::Error, fridge),
                saved("aaaa00000003", ReflectionKind::Plan, lamp),
            ],
        ),
    ])))))
}

fn run_from_palette(stage: &mut TestScreen, name: &str) -> Vec<Request> {
    stage.press(":");
    type_text(stage, name);
    stage.press("Enter")
}

#[test]
fn a_saved_lesson_is_found_and_taken_over() {
    for (w, h) in [(120, 36), (80, 24), (60, 16)] {
        let mut stage = TestScreen::new(sample_session(), w, h);
        assert_eq!(run_from_palette(&mut stage, "lessons-saved"), [Request::ListSavedPools]);
        assert!(screen_text(&stage.draw()).contains("Reading the saved pools"));
        stage.send(pools());
        insta::assert_snapshot!(format!("saved_lessons_{w}x{h}"), screen_text(&stage.draw()));
        type_text(&mut stage, "fridge first");
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("Looked for food in drawers.") && !shown.contains("lamp"), "{shown}");
        let requests = stage.press("Enter");
        let [Request::Send(Command::Lesson(LessonCommand::Load(lesson)))] = &requests[..] else {
            panic!("{requests:?}")
        };
        assert_eq!(
            (&*lesson.id.0, lesson.kind, lesson.origin, lesson.taken_from.as_deref(), &lesson.task_key),
            ("aaaa00000001", ReflectionKind::Error, LessonOrigin::Mentor, Some("pool.jsonl"), &None)
        );
        assert!(stage.compositor.overlays().is_empty());
        let notice = stage.model.notice.as_ref().unwrap().text.clone();
        assert_eq!(notice, "taken over as Error; counts from the next prompt");
    }
}

/// A lesson of a kind that the method doesn't have would be in no lane and in no prompt.
#[test]
fn a_saved_lesson_gets_a_kind_of_the_method() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    run_from_palette(&mut stage, "lessons-saved");
    stage.send(pools());
    type_text(&mut stage, "lamp");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("session 20261120T104000Z-lamp") && shown.contains("Abstract"), "{shown}");
    let requests = stage.press("Enter");
    let is = |r: &Request| matches!(r, Request::Send(Command::Lesson(LessonCommand::Load(l))) if l.kind == ReflectionKind::Abstract);
    assert!(requests.iter().any(is), "{requests:?}");
    // One that the run has already isn't added twice.
    run_from_palette(&mut stage, "lessons-saved");
    stage.send(pools());
    stage.press("Down");
    assert!(screen_text(&stage.draw()).contains("this run has it as lesson 4"));
    assert_eq!(stage.press("Enter"), []);
    assert!(stage.model.notice.as_ref().unwrap().text.contains("already, as lesson 4"));
}

/// Regression: only single lessons could be saved from the screen.
#[test]
fn all_lessons_are_saved_in_a_pool_file() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    assert_eq!(run_from_palette(&mut stage, "lessons-promote"), [Request::ListSavedPools]);
    stage.send(pools());
    let lasting = stage.fixture.state().pool.lasting().count();
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("Save all lessons in a pool file"), "{shown}");
    assert!(shown.contains(&format!("{lasting} lessons that outlast an episode")), "{shown}");
    type_text(&mut stage, "mine.jsonl");
    let request = Request::PromoteLesson { lesson: None, pool: "mine.jsonl".to_owned() };
    assert_eq!(stage.press("Enter"), [request]);
    // Without a lesson there is nothing to save.
    let mut stage = TestScreen::new(Fixture::new(), 80, 24);
    assert_eq!(run_from_palette(&mut stage, "lessons-promote"), []);
    assert!(stage.model.notice.as_ref().unwrap().text.contains("no lesson to save"));
}

#[test]
fn the_selected_lesson_is_saved_in_a_pool_file() {
    let select = |stage: &mut TestScreen| {
        (stage.model.focus, stage.model.selected_lane) = (Focus::Lanes, Some(1));
    };
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    select(&mut stage);
    assert_eq!(run_from_palette(&mut stage, "lesson-promote"), [Request::ListSavedPools]);
    stage.send(pools());
    insta::assert_snapshot!("saved_lessons_promote_80x24", screen_text(&stage.draw()));
    stage.press("Down");
    let requests = stage.press("Enter");
    let promoted = |requests: &[Request], file: &str| match requests {
        [Request::PromoteLesson { pool, .. }] => assert_eq!(pool, file),
        other => panic!("{other:?}"),
    };
    promoted(&requests, "/home/ada/lessons/kitchen.jsonl");
    stage.send(UiMessage::Answer(Answer::FileWritten(Ok("kitchen.jsonl now has lesson 6".to_owned()))));
    assert!(screen_text(&stage.draw()).contains("kitchen.jsonl now has lesson 6"));
    // Tab leads from one list to the other; a new file can be typed.
    run_from_palette(&mut stage, "lessons-saved");
    stage.send(pools());
    stage.press("Tab");
    type_text(&mut stage, "mine.jsonl");
    assert!(screen_text(&stage.draw()).contains("new pool file mine.jsonl"));
    let requests = stage.press("Enter");
    promoted(&requests, "mine.jsonl");
    // A read-only session's lessons can be saved as well; taking one over would change it.
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
    select(&mut stage);
    run_from_palette(&mut stage, "lesson-promote");
    stage.send(pools());
    promoted(&stage.press("Enter"), "/home/ada/lessons/pool.jsonl");
    run_from_palette(&mut stage, "lessons-saved");
    stage.send(pools());
    assert_eq!(stage.press("Enter"), []);
    assert!(stage.model.notice.as_ref().unwrap().text.starts_with("read-only"));
}

#[test]
fn pools_that_cannot_be_read_say_why() {
    let mut stage = TestScreen::new(sample_session(), 60, 16);
    run_from_palette(&mut stage, "lessons-saved");
    assert!(stage.compositor.is_awaited(WorkKind::SavedPools, &stage.model));
    let error = "/home/ada/pool.jsonl:3: not a line of a lesson pool".to_owned();
    stage.send(UiMessage::Answer(Answer::SavedPools(Err(error))));
    assert!(screen_text(&stage.draw()).contains("not a line of a lesson pool"));
    assert!(!stage.compositor.is_awaited(WorkKind::SavedPools, &stage.model));
    assert_eq!(stage.press("Enter"), []);
}

/// Without saved lessons, an empty box of full height offered Enter.
#[test]
fn without_saved_lessons_the_window_is_small_and_offers_nothing() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    run_from_palette(&mut stage, "lessons-saved");
    stage.send(UiMessage::Answer(Answer::SavedPools(Ok(PtrEqArc(Arc::default())))));
    let shown = screen_text(&stage.draw());
    let rows = shown.lines().skip_while(|row| !row.contains("no saved lessons yet")).nth(1).unwrap();
    assert!(rows.contains('└') && !rows.contains("Enter"), "{shown}");
}
