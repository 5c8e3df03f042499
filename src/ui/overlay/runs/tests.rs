//! The episode list at four sizes, and its keys.

use super::list::{EpisodeRows, ListOptions, ListRow};
use crate::domain::{DecidedBy, EndReason, EpisodeStats, EpisodeSummary, Seq, Task};
use crate::engine::State;
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::glyphs::UNICODE;
use crate::ui::msg::{Request, UiMessage};
use crate::ui::tests::{SIZES, TestScreen, screen_text};
use crate::ui::types::Cursor;
use rpds::VectorSync;
use serde_json::Value;
use std::sync::Arc;

/// The sample session, lost; then one episode lost after two mistakes, one won, and one open.
fn four_episodes() -> Fixture {
    let mut f = sample_session();
    f.execute(
        "go to stoveburner 1",
        DecidedBy::Actor,
        "On the stoveburner 1, you see a kettle 1.",
        0.5,
        Value::Null,
    );
    f.end_episode(false, EndReason::StepLimit);
    f.begin_episode();
    f.actor_step("heat apple 1 with fridge 1", "Nothing happens.", 0.0, Value::Null);
    f.actor_step("heat apple 1 with fridge 1", "Nothing happens.", 0.0, Value::Null);
    f.end_episode(false, EndReason::Loop);
    f.begin_episode();
    f.actor_step("go to shelf 1", "On the shelf 1, you see a vase 1.", 1.0, Value::Null);
    f.end_episode(true, EndReason::Won);
    f.begin_episode();
    f.actor_step("go to shelf 1", "On the shelf 1, you see a vase 1.", 0.25, Value::Null);
    f.propose(None, Some("go to fridge 1"));
    f
}

fn shown_episode(stage: &TestScreen) -> (u32, Cursor) {
    (stage.frame_data().story.episode.as_ref().map_or(0, |e| e.number), stage.model.cursor)
}

#[test]
fn a_row_for_every_episode_at_every_size() {
    for (w, h) in SIZES {
        let mut stage = TestScreen::new(four_episodes(), w, h);
        stage.press("T");
        insta::assert_snapshot!(format!("runs_{w}x{h}"), screen_text(&stage.draw()));
    }
}

/// Regression: the selection stayed in its row while the run went on, and Enter went to another episode.
#[test]
fn the_selection_stays_with_its_episode_while_the_list_grows() {
    let mut stage = TestScreen::new(four_episodes(), 120, 36);
    stage.press("T");
    for _ in 0..4 {
        stage.press("s");
    }
    assert!(screen_text(&stage.draw()).contains("by steps"));
    for key in ["g", "Down"] {
        stage.press(key);
    }
    let selected = |stage: &mut TestScreen| {
        stage.press("Enter");
        shown_episode(stage).0
    };
    let before = selected(&mut stage);
    stage.press("T");
    for _ in 0..4 {
        stage.press("s");
    }
    // The open episode becomes the longest one, so that its row is the first.
    for _ in 0..60 {
        stage.fixture.actor_step("go to shelf 1", "On the shelf 1, you see a vase 1.", 0.25, Value::Null);
    }
    stage.fixture.end_episode(false, EndReason::StepLimit);
    stage.send(UiMessage::StoreChanged);
    assert_eq!(selected(&mut stage), before);
}

#[test]
fn failures_alone_and_under_their_causes() {
    let mut stage = TestScreen::new(four_episodes(), 80, 24);
    stage.press("T");
    stage.press("f");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("Run: 2 failed, as played"), "{shown}");
    assert!(!shown.contains("in progress") && !shown.contains(" won  "), "{shown}");
    stage.press("c");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("by cause") && shown.contains("2 did what changes nothing"), "{shown}");
    stage.press("c");
    stage.press("f");
    assert!(screen_text(&stage.draw()).contains("Run: 4 episodes, as played"));
}

#[test]
fn enter_goes_to_the_episode_and_back_to_the_present() {
    let mut stage = TestScreen::new(four_episodes(), 80, 24);
    stage.press("T");
    stage.press("Home");
    stage.press("Down");
    assert_eq!(stage.press("Enter"), []);
    let end = stage.fixture.store.head().ended_episodes.get(1).unwrap().seq_range.1;
    assert_eq!(shown_episode(&stage), (2, Cursor::At(Seq(end))));
    assert!(stage.compositor.overlays().is_empty());
    stage.press("T");
    assert!(screen_text(&stage.draw()).contains("Run: 4 episodes"));
    stage.press("End");
    stage.press("Enter");
    assert_eq!(shown_episode(&stage), (4, Cursor::Live), "the open episode's row");
}

/// Every order once: the selected episode stays selected.
#[test]
fn sorting_keeps_the_chosen_episode() {
    let mut stage = TestScreen::new(four_episodes(), 120, 36);
    stage.press("T");
    stage.press("Home");
    for words in ["by task", "by type", "by outcome", "by steps", "by progress", "by tokens", "as played"] {
        stage.press("s");
        let shown = screen_text(&stage.draw());
        assert!(shown.contains(&format!("Run: 4 episodes, {words}")), "{words}: {shown}");
    }
    stage.press("s");
    stage.press("Enter");
    assert_eq!(shown_episode(&stage).0, 1);
}

fn state_with_episodes(count: u32) -> State {
    let head = four_episodes().store.head();
    let sample = EpisodeSummary::clone(head.ended_episodes.get(0).unwrap());
    let past: VectorSync<Arc<EpisodeSummary>> = (1..=count)
        .map(|number| {
            let won = number % 3 == 0;
            let mistakes =
                if number % 2 == 0 { vec![("container_closed".to_owned(), 2)] } else { Vec::new() };
            Arc::new(EpisodeSummary {
                number,
                won,
                reason: if won { EndReason::Won } else { EndReason::StepLimit },
                task: Task { id: format!("task/{number}"), ..sample.task.clone() },
                steps: number % 50,
                assisted: false,
                stats: EpisodeStats { active_millis: 2000, mistakes, ..EpisodeStats::default() },
                ..sample.clone()
            })
        })
        .collect();
    State { ended_episodes: past, ..State::clone(&head) }
}

#[test]
fn ten_thousand_episodes_are_grouped_and_counted() {
    let mut state = state_with_episodes(10_000);
    let mut run = crate::domain::RunSpec::clone(state.run.as_ref().unwrap());
    run.tasks = state.ended_episodes.iter().map(|p| p.task.clone()).collect();
    let one = run.tasks[0].clone();
    run.tasks.extend((0..90).map(|n| Task { id: format!("more/{n}"), ..one.clone() }));
    state.run = Some(Arc::new(run));
    let list = EpisodeRows::build(&state, ListOptions { by_cause: true, ..ListOptions::default() });
    let groups: Vec<_> = list
        .rows
        .iter()
        .filter_map(|r| match r {
            ListRow::Group(words, count) => Some((words.as_str(), *count)),
            ListRow::Episode(_) => None,
        })
        .collect();
    assert_eq!(groups, [("never opened the container", 3334), ("no mistake detected", 3333)]);
    assert_eq!(list.episode_count(), 6667);
    let sums: String = list.summary_line(&state, 120, &UNICODE).into_iter().map(|p| p.1).collect();
    assert!(sums.starts_with("won 3333 of 10000 33.3 %"), "{sums}");
    assert!(sums.ends_with("90 left, about 3 min"), "{sums}");
}

/// Only visible rows are drawn, so neither the list's length nor the screen's size matters.
#[test]
fn no_size_and_no_key_panics() {
    for (w, h) in [(1, 1), (3, 3), (10, 4), (20, 6), (60, 5), (300, 80)] {
        let mut stage = TestScreen::new(four_episodes(), w, h);
        stage.press("T");
        for key in ["PageDown", "End", "c", "s", "f", "Home", "Up", "PageUp", "f", "c", "Down", "?", "Esc"] {
            stage.press(key);
            stage.draw();
        }
    }
    let mut empty = TestScreen::new(Fixture::new(), 80, 24);
    empty.press("T");
    assert!(screen_text(&empty.draw()).contains("no episode has ended yet"));
    assert_eq!(empty.press("Enter"), []);
}

/// Regression: ten of sixteen attempts were counted as lost, although all eight tasks were solved in one of their
/// trials.
#[test]
fn with_several_trials_success_is_counted_by_task() {
    let mut state = state_with_episodes(6);
    let past: Vec<_> = state.ended_episodes.iter().cloned().collect();
    let trial = |place: usize, task: u32, trial: u32, won: bool| {
        Arc::new(EpisodeSummary {
            task: Task { id: format!("task/{task}"), ..past[place].task.clone() },
            trial,
            won,
            progress: if won { 1.0 } else { 0.5 },
            ..(*past[place]).clone()
        })
    };
    state.ended_episodes = [
        trial(0, 1, 1, false),
        trial(1, 2, 1, true),
        trial(2, 3, 1, false),
        trial(3, 1, 2, true),
        trial(4, 3, 2, false),
    ]
    .into_iter()
    .collect();
    let sums: String = EpisodeRows::build(&state, ListOptions::default())
        .summary_line(&state, 120, &UNICODE)
        .into_iter()
        .map(|p| p.1)
        .collect();
    assert!(sums.starts_with("solved 2 of 3 tasks · "), "{sums}");
    assert!(sums.contains("progress 0.83"), "{sums}");
}

/// Regression: the episode in progress counted as left, so that `1 left` stood below the last one.
#[test]
fn only_episodes_that_have_not_begun_are_left() {
    let head = sample_session().state().clone();
    let mut state = State::clone(&head);
    let mut run = crate::domain::RunSpec::clone(state.run.as_ref().unwrap());
    let open = state.open_episode().unwrap().task.clone();
    let line = |state: &State| -> String {
        let line = EpisodeRows::build(state, ListOptions::default()).summary_line(state, 120, &UNICODE);
        line.into_iter().map(|piece| piece.1).collect()
    };
    for (others, trials, expected) in
        [(0, 1, "nothing to count yet"), (1, 1, "1 left"), (0, 3, "at most 2 left"), (1, 3, "at most 5 left")]
    {
        let more = (0..others).map(|n| Task { id: format!("more/{n}"), ..open.clone() });
        run.tasks = std::iter::once(open.clone()).chain(more).collect();
        run.trials = trials;
        state.run = Some(Arc::new(run.clone()));
        assert_eq!(line(&state), expected, "{others} others, {trials} trials");
    }
}

/// Regression: `won 0 of 1 0.0 %` gave a rate of a single task.
#[test]
fn a_rate_is_given_from_five_tasks_on() {
    for (tasks, has_rate) in [(1, false), (4, false), (5, true)] {
        let state = state_with_episodes(tasks);
        let line = EpisodeRows::build(&state, ListOptions::default()).summary_line(&state, 120, &UNICODE);
        let line: String = line.into_iter().map(|piece| piece.1).collect();
        assert!(line.contains("won ") && line.contains('%') == has_rate, "{tasks}: {line}");
    }
}

#[test]
fn rerun_asks_for_confirmation_during_the_run() {
    let again = |requests: Vec<Request>| requests.contains(&Request::Rerun(2));
    let mut stage = TestScreen::new(four_episodes(), 120, 36);
    stage.press("T");
    stage.press("k");
    stage.press("k");
    assert!(!again(stage.press("r")));
    assert!(screen_text(&stage.draw()).contains("rerun episode 2"), "{}", screen_text(&stage.draw()));
    assert!(again(stage.press("r")));
}
