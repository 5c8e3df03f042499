//! Pictures of the layouts at the four sizes, and of other states of the screen.

use super::{SIZES, TestScreen, screen_text, style_grid};
use crate::domain::{
    Autonomy, CallId, CallPhase, EndReason, EpisodeRole, LessonId, LessonOp, LessonStatus, Seq,
};
use crate::driver::{EnvWorkKind, LiveCall, LiveEnvWork};
use crate::engine::{Cause, Event, Failure};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::layout::Pane;
use crate::ui::types::{Cursor, Focus};

#[test]
fn layouts() {
    for (w, h) in SIZES {
        let mut stage = TestScreen::new(sample_session(), w, h);
        insta::assert_snapshot!(format!("layout_{w}x{h}"), screen_text(&stage.draw()));
    }
}

/// Regression: most rows of the centre stayed empty while an episode was young.
#[test]
fn free_rows_of_the_centre_show_observations() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    let mut last_row = 0;
    for number in 1..=40 {
        let observation = format!("On the shelf {number}, you see a vase {number}.");
        fixture.actor_step(&format!("go to shelf {number}"), &observation, 0.0, serde_json::Value::Null);
        let mut screen = TestScreen::new(fixture, 200, 60);
        let buffer = screen.draw();
        let centre: Vec<String> = (2..56)
            .map(|y| (61..139).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned())
            .collect();
        let count = |words: &str| centre.iter().filter(|row| row.contains(words)).count() as u32;
        let at = centre.iter().rposition(|row| row.contains(&format!(" > go to shelf {number}"))).unwrap();
        // As many as fit, the newest first; the others are folded, and no step is lost.
        assert_eq!(count(" > go to shelf "), number, "{centre:#?}");
        let shown = count("you see a vase ");
        assert!(shown >= 8 || shown == number, "{centre:#?}");
        let newest = centre.get(at + 1).cloned().unwrap_or_default();
        assert!(newest.contains(&format!("you see a vase {number}")), "{centre:#?}");
        assert!(number > 5 || count("Your task is") == 1, "{centre:#?}");
        assert!(at >= last_row, "the newest step moved up from row {last_row} to {at}: {centre:#?}");
        last_row = at;
        fixture = screen.fixture;
    }
}

#[test]
fn the_household_fills_a_zoomed_pane() {
    for (w, h) in SIZES {
        let mut stage = TestScreen::new(sample_session(), w, h);
        (stage.model.focus, stage.model.zoomed) = (Focus::World, true);
        insta::assert_snapshot!(format!("household_{w}x{h}"), screen_text(&stage.draw()));
    }
}

#[test]
fn looks_of_the_default_theme() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    insta::assert_snapshot!("looks_80x24", style_grid(&stage.draw()));
    stage.press("Left");
    insta::assert_snapshot!("looks_past_80x24", style_grid(&stage.draw()));
}

#[test]
fn every_pane_shows_the_past_position() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    stage.press("Home");
    for _ in 0..9 {
        stage.press("Right");
    }
    insta::assert_snapshot!("past_120x36", screen_text(&stage.draw()));
    let frame = stage.frame_data();
    assert_eq!(frame.displayed.episode.as_ref().unwrap().steps.len(), 9);
    assert_eq!(frame.story.episode.as_ref().unwrap().steps.len(), 24);
}

#[test]
fn a_model_at_work_shows_its_stage_and_the_end_of_its_reasoning() {
    let mut fixture = sample_session();
    fixture.execute(
        "go to stoveburner 1",
        crate::domain::DecidedBy::Actor,
        "Nothing.",
        0.5,
        serde_json::Value::Null,
    );
    fixture.write(Cause::Person, Event::Resumed);
    let call = fixture.send_prompt();
    let mut stage = TestScreen::new(fixture, 80, 24);
    let live = |phase, reasoning: &str, text: &str| LiveCall {
        call,
        role: crate::domain::ModelRole::Actor,
        phase,
        reasoning: reasoning.into(),
        text: text.into(),
        delta_count: 340,
        started: stage.now,
        last_progress: stage.now,
        only_keep_alives: false,
        usage: None,
        notice: None,
    };
    let lines = "The stoveburner did nothing.\nWhat heats food?\nA microwave does.\nIt stands near the sink.\nI go there.";
    let reasoning = live(CallPhase::Reasoning, lines, "");
    let answering = live(CallPhase::Answering, lines, "think: I go to the microwave");
    stage.now += std::time::Duration::from_secs(12);
    stage.fixture.store.edit_live(|l| l.calls = vec![reasoning]);
    insta::assert_snapshot!("reasoning_80x24", screen_text(&stage.draw()));
    stage.press("f");
    stage.fixture.store.edit_live(|l| l.calls = vec![answering]);
    insta::assert_snapshot!("answering_unfolded_80x24", screen_text(&stage.draw()));
}

#[test]
fn a_lesson_that_is_off_or_pinned_shows_its_mark() {
    let mut fixture = sample_session();
    let id = |n: u32| LessonId(format!("{n:012x}").into());
    let set = |n, status| {
        let op = LessonOp::Status { id: id(n), previous: LessonStatus::On, status, merged_into: None };
        Event::LessonChanged { op: Box::new(op), author: crate::domain::Author::Person }
    };
    fixture.write(Cause::Person, set(3, LessonStatus::Off));
    fixture.write(Cause::Person, set(4, LessonStatus::Pinned));
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.model.focus = Focus::Lanes;
    stage.model.zoomed = true;
    insta::assert_snapshot!("lane_zoomed_80x24", screen_text(&stage.draw()));
}

/// Regression: while an environment started, which may take a minute, nothing said what was awaited and for how long.
#[test]
fn work_of_an_environment_is_named_with_its_seconds() {
    let mut fixture = sample_session();
    fixture.end_episode(true, EndReason::Won);
    let task = fixture.store.head().run.as_ref().unwrap().tasks[0].clone();
    let (task, role, call) = (Box::new(task), EpisodeRole::Test, CallId(900));
    fixture.write(Cause::Policy, Event::EpisodeStarted { episode: 2, task, trial: 2, role, call });
    let mut stage = TestScreen::new(fixture, 120, 36);
    let started = stage.now;
    stage.now += std::time::Duration::from_secs(7);
    for (kind, expected) in [
        (EnvWorkKind::Call, ["STARTING 7 s", "starting household, 7 s"]),
        (EnvWorkKind::Rebuild, ["RESTORING 7 s", "restoring the environment, 7 s"]),
    ] {
        stage.fixture.store.edit_live(|live| live.env_work = Some(LiveEnvWork { kind, started }));
        let shown = screen_text(&stage.draw());
        assert!(expected.iter().all(|part| shown.contains(part)), "{shown}");
    }
}

/// The phrase for the mode in each situation.
#[test]
fn one_phrase_shows_the_mode() {
    type FixtureEdit = fn(&mut Fixture);
    let cases: [(&str, FixtureEdit); 9] = [
        ("PAUSED · your turn", |_| {}),
        ("RUNNING", |f| {
            f.write(Cause::Person, Event::Resumed);
        }),
        // The rules don't think.
        ("STEPPING", |f| {
            f.execute(
                "go to stoveburner 1",
                crate::domain::DecidedBy::Actor,
                "Nothing.",
                0.5,
                serde_json::Value::Null,
            );
            f.send_prompt();
        }),
        ("CONFIRM · your turn", |f| {
            f.write(Cause::Person, Event::AutonomySet { autonomy: Autonomy::Confirm });
        }),
        ("YOU PLAY", |f| {
            f.write(Cause::Person, Event::AutonomySet { autonomy: Autonomy::Human });
        }),
        ("WON", |f| {
            f.end_episode(true, EndReason::Won);
        }),
        ("LOST · step limit", |f| {
            f.end_episode(false, EndReason::StepLimit);
        }),
        // Neither won nor lost.
        ("ENDED · by a person", |f| {
            f.end_episode(false, EndReason::Person);
        }),
        ("PAUSED · a call failed", |f| {
            f.execute(
                "go to stoveburner 1",
                crate::domain::DecidedBy::Actor,
                "Nothing.",
                0.5,
                serde_json::Value::Null,
            );
            let call = f.send_prompt();
            let failure = Failure {
                message: "connection refused".to_owned(),
                source: "actor".to_owned(),
                kind: None,
                hint: "start the server, then try again".to_owned(),
                partial_text: String::new(),
                usage: None,
            };
            f.write(Cause::Model, Event::CallFailed { call, failure });
        }),
    ];
    for (word, change) in cases {
        let mut fixture = sample_session();
        change(&mut fixture);
        let text = screen_text(&TestScreen::new(fixture, 80, 24).draw());
        let first = text.lines().next().unwrap();
        assert!(first.ends_with(word), "{word}: {first}");
    }
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.model.cursor = Cursor::At(Seq(30));
    let first = screen_text(&stage.draw()).lines().next().unwrap().to_owned();
    assert!(first.contains("PAST step ") && first.ends_with(" of 24"), "{first}");
}

#[test]
fn a_screen_before_the_first_event_says_so() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.fixture.store = std::sync::Arc::new(crate::driver::Store::default());
    assert!(screen_text(&stage.draw()).contains("no episode yet"));
}

fn timeline_rows(stage: &mut TestScreen) -> Vec<String> {
    let shown = screen_text(&stage.draw());
    let bar = stage.cache.layout.areas.iter().find(|area| area.pane == Pane::Timeline).unwrap().body;
    shown.lines().skip(bar.y.into()).take(bar.height.into()).map(str::to_owned).collect()
}

/// Regression: the timeline had no cursor at step 0, and went on behind the present as if there was a future.
#[test]
fn the_timeline_has_a_cursor_at_every_step_and_ends_at_the_present() {
    for (w, h) in SIZES {
        let mut stage = TestScreen::new(sample_session(), w, h);
        let row = timeline_rows(&mut stage)[0].clone();
        let (_, after) = row.split_once('┃').unwrap();
        assert!(!after.contains(['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']), "{w}x{h}: {row}");
        stage.press("Home");
        assert_eq!(stage.frame_data().selected_step(), 0);
        let row = timeline_rows(&mut stage)[0].clone();
        assert!(row.starts_with('┃') && row.contains('▁'), "{w}x{h}: {row}");
    }
}

/// Regression: where the timeline has one row, its marks were told apart by their colours alone.
#[test]
fn the_marks_of_a_timeline_of_one_row_are_glyphs() {
    for (w, h) in [(60, 16), (80, 24)] {
        let mut stage = TestScreen::new(sample_session(), w, h);
        let rows = timeline_rows(&mut stage);
        assert_eq!(rows.len(), 1);
        for mark in ['!', '•', '✎'] {
            assert!(rows[0].contains(mark), "{mark} at {w}x{h}: {rows:?}");
        }
    }
}
