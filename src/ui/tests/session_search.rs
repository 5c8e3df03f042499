//! The search across all episodes of a session.

use super::overlays::type_text;
use super::{TestScreen, screen_text};
use crate::domain::{DecidedBy, EndReason, LessonOrigin, LessonText, ReflectionKind};
use crate::ui::find::{self, SearchStatus};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::types::{Cursor, WorkKind, WorkProgress};

/// The sample session, a short second episode, and a third in progress.
fn three_episodes() -> Fixture {
    let mut f = sample_session();
    f.execute(
        "go to stoveburner 1",
        DecidedBy::Actor,
        "On the stoveburner 1, you see a kettle 1.",
        0.5,
        serde_json::Value::Null,
    );
    f.end_episode(false, EndReason::StepLimit);
    f.begin_episode();
    f.actor_step("go to shelf 1", "On the shelf 1, you see a vase 1.", 0.0, serde_json::Value::Null);
    f.actor_step(
        "take vase 1 from shelf 1",
        "You pick up the vase 1 from the shelf 1.",
        0.0,
        serde_json::Value::Null,
    );
    f.end_episode(false, EndReason::Person);
    f.begin_episode();
    f.actor_step("go to shelf 1", "On the shelf 1, you see a vase 1.", 0.0, serde_json::Value::Null);
    f.propose(None, Some("go to fridge 1"));
    f.pause();
    f
}

/// Runs the search that the worker thread would run, and delivers its answers.
fn answer_search(stage: &mut TestScreen, requests: &[Request]) {
    let Some(Request::Search { query, searched_episode }) = requests.last() else { panic!("{requests:?}") };
    let store = stage.fixture.store.clone();
    let mut answers = Vec::new();
    let answer = |hits, progress| Answer::SearchResults { query: query.clone(), hits, progress };
    let (last, status) =
        find::search_other_episodes(&store, *searched_episode, query, &WorkProgress::default(), |hits| {
            answers.push(answer(hits, SearchStatus::Partial));
        });
    answers.push(answer(last, status));
    for answer in answers {
        assert_eq!(stage.send(UiMessage::Answer(answer)), [], "results don't move the cursor");
    }
}

fn search(stage: &mut TestScreen, query: &str) {
    stage.press("/");
    let (head, last) = query.split_at(query.len() - 1);
    type_text(stage, head);
    let requests = stage.press(last);
    answer_search(stage, &requests);
}

fn shown_step(stage: &TestScreen) -> (u32, u32) {
    let frame = stage.frame_data();
    (frame.displayed.episode.as_ref().unwrap().number, frame.selected_step())
}

/// Regression: mistakes, reflections and what a person taught were on the screen, and no search found them.
#[test]
fn a_search_finds_whatever_the_story_shows() {
    for (query, step) in
        [("tried to take from", 4), ("nothing happened", 13), ("taught lesson 11 (error): open the", 24)]
    {
        let mut f = sample_session();
        f.add_lesson(
            ReflectionKind::Error,
            LessonText::plain("Open the microwave to heat."),
            LessonOrigin::Person,
        );
        let mut stage = TestScreen::new(f, 120, 36);
        stage.press("/");
        type_text(&mut stage, query);
        let shown = screen_text(&stage.draw());
        assert!(
            !shown.contains("no match") && (shown.contains(&format!("PAST step {step} ")) || step == 24),
            "{query}: {shown}"
        );
        assert_eq!(shown_step(&stage).1, step, "{query}: {shown}");
    }
}

/// Regression: of other episodes only the texts of steps were searched, so that no mistake and no lesson was found there.
#[test]
fn a_search_finds_mistakes_and_lessons_of_other_episodes() {
    for (query, expected) in [
        ("tried to take from", (1, 4)),
        ("nothing happened", (1, 13)),
        ("taught lesson 11 (error): open the", (1, 24)),
    ] {
        let mut f = sample_session();
        f.add_lesson(
            ReflectionKind::Error,
            LessonText::plain("Open the microwave to heat."),
            LessonOrigin::Person,
        );
        f.execute("wait", DecidedBy::Actor, "Time passes.", 0.5, serde_json::Value::Null);
        f.end_episode(false, EndReason::StepLimit);
        f.begin_episode();
        f.actor_step("look", "A kitchen.", 0.0, serde_json::Value::Null);
        let mut stage = TestScreen::new(f, 120, 36);
        search(&mut stage, query);
        let shown = screen_text(&stage.draw());
        assert!(shown.contains(" of ") && !shown.contains("no match"), "{query}: {shown}");
        stage.press("Enter");
        assert_eq!(shown_step(&stage), expected, "{query}: {shown}");
    }
}

/// Regression: at the end of an episode, the first letter jumped to its first step.
#[test]
fn a_search_begins_at_the_nearest_hit() {
    let mut f = Fixture::new();
    f.begin_episode();
    for (action, observation) in
        [("look", "A vase 1."), ("go to shelf 1", "A vane 1."), ("look", "A vat 1."), ("wait", "Nothing.")]
    {
        f.actor_step(action, observation, 0.0, serde_json::Value::Null);
    }
    f.propose(None, Some("wait"));
    let mut stage = TestScreen::new(f, 80, 24);
    stage.press("/");
    for (key, step) in [("v", 3), ("a", 3), ("n", 2), ("Backspace", 3), ("s", 1), ("Backspace", 3)] {
        stage.press(key);
        assert_eq!(shown_step(&stage).1, step, "after {key}");
    }
}

/// Regression: only the episode on screen was searched.
#[test]
fn a_search_covers_every_episode_and_enter_goes_there() {
    let mut stage = TestScreen::new(three_episodes(), 80, 24);
    search(&mut stage, "kettle");
    assert_eq!(
        stage.model.cursor,
        Cursor::Live,
        "without a match in the episode on screen, typing moves nothing"
    );
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("Search: 1 of 1 ") && shown.contains(" 1.24  "), "{shown}");
    stage.press("Enter");
    assert_eq!(shown_step(&stage), (1, 24));
    stage.press("Enter");
    assert!(stage.compositor.overlays().is_empty());
    assert_eq!(shown_step(&stage), (1, 24), "the cursor stays");
}

#[test]
fn hits_are_visited_in_session_order() {
    let mut stage = TestScreen::new(three_episodes(), 80, 24);
    search(&mut stage, "vase");
    assert_eq!(shown_step(&stage), (3, 1), "the nearest match is in the episode on screen");
    stage.press("Enter");
    let mut walked = vec![shown_step(&stage)];
    for _ in 0..4 {
        stage.press("N");
        walked.push(shown_step(&stage));
    }
    // Two matches are in the second step of the second episode.
    walked.dedup();
    assert_eq!(walked, [(3, 1), (2, 2), (2, 1), (3, 1)]);
    insta::assert_snapshot!("search_episodes_80x24", screen_text(&stage.draw()));
}

#[test]
fn stale_hits_are_ignored_and_closing_stops_the_search() {
    let mut stage = TestScreen::new(three_episodes(), 80, 24);
    stage.press("/");
    type_text(&mut stage, "vas");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("searching other episodes"), "{shown}");
    let late = Answer::SearchResults {
        query: "va".to_owned(),
        hits: Vec::new(),
        progress: SearchStatus::Complete { only_steps: 0 },
    };
    stage.send(UiMessage::Answer(late));
    assert!(screen_text(&stage.draw()).contains("searching other episodes"));
    assert!(stage.compositor.is_awaited(WorkKind::Search, &stage.model));
    assert_eq!(stage.press("Esc"), []);
    assert!(!stage.compositor.is_awaited(WorkKind::Search, &stage.model));
    assert_eq!(stage.model.cursor, Cursor::Live);
}

/// A session with one episode needs no search in the background.
#[test]
fn one_episode_alone_is_searched_at_once() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("/");
    assert_eq!(stage.press("a"), []);
}

#[test]
fn a_cancelled_search_stops() {
    let mut f = Fixture::new();
    for _ in 0..250 {
        f.begin_episode();
        f.actor_step("look", "A vase 1.", 0.0, serde_json::Value::Null);
        f.end_episode(false, EndReason::Person);
    }
    f.begin_episode();
    let progress = WorkProgress::default();
    let (mut pieces, mut hits) = (0, 0);
    let (last, _) = find::search_other_episodes(&f.store, 251, "vase", &progress, |found| {
        (pieces, hits) = (pieces + 1, hits + found.len());
    });
    assert!(pieces >= 2 && hits + last.len() == 250, "{pieces} {hits}");
    assert_eq!(progress.percent(), Some(99));
    let mut pieces = 0;
    let (last, _) = find::search_other_episodes(&f.store, 251, "vase", &progress, |_| {
        pieces += 1;
        progress.cancel();
    });
    assert_eq!((pieces, last), (1, Vec::new()));
}
