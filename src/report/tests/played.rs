//! Reports of runs that the engine plays.

use super::*;
use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{Autonomy, ReflectionKind, SettingOrigin, StepResult};
use crate::engine::{Command, Event};
use crate::report::document::{Block, start_section, step_section};
use serde_json::json;

const GOAL: &str = "put a hot apple in garbagecan";

/// Regression: the end of a run counted its calibration episodes among those that could be won.
#[test]
fn the_end_of_a_run_counts_calibration_episodes_apart() {
    let mut run = test_spec("omnireflect", &[("a", ""), ("b", ""), ("c", "")]);
    run.settings.set("calibration", 1, SettingOrigin::Flag);
    run.limits.steps = 1;
    let mut play = TestRun::new(run);
    play.play_script(&mut FakeHousehold::kitchen(GOAL), &["look"; 3]);
    let events: Vec<Arc<Envelope>> = play.journal.into_iter().map(Arc::new).collect();
    let text = render_transcript(&events);
    assert!(text.contains("Run over: 0 of 2 episodes won, after 1 calibration episode"), "{text}");
}

/// Regression: a reflection that a person asked for at the first proposal was shown before that step and in it.
#[test]
fn a_reflection_asked_for_at_the_first_proposal_is_shown_once() {
    let mut run = test_spec("omnireflect", &[("a", "")]);
    run.settings.set("generation", "neural", SettingOrigin::Flag);
    run.mentor = "script".to_owned();
    run.autonomy = Autonomy::Confirm;
    let mut play = TestRun::new(run);
    play.mentor = Box::new(|_| "['Look first.']".to_owned());
    let mut house = FakeHousehold::kitchen(GOAL);
    let mut world = |action: Option<&str>| match action {
        None => house.reset(),
        Some(action) => house.step(action),
    };
    play.command(Command::Run);
    while play.advance(&mut world, &mut |_| Some("look".to_owned())) {}
    play.command(Command::Reflect(ReflectionKind::Abstract));
    while play.advance(&mut world, &mut |_| None) {}
    let state = play.state();
    let episode = state.episode.as_deref().unwrap();
    let step = episode.step(1).filter(|step| step.executed.is_none()).unwrap();
    assert_eq!(state.reflections.len(), 1);
    let (start, step) = (start_section(episode, state), step_section(step, episode, state));
    let shown = start.blocks().chain(step.blocks()).filter(|block| matches!(block, Block::Reflection(_)));
    assert_eq!(shown.count(), 1);
}

/// Regression: of several types of tasks, exports had the search for the last one only. The names of types are text from outside.
#[test]
fn exports_have_the_search_for_each_type_of_tasks() {
    let mut run = test_spec("dora", &[("a", "put <b>"), ("b", "heat_it")]);
    for (name, value) in [("n_init", 2), ("rounds", 0), ("attempts", 1)] {
        run.settings.set(name, value, SettingOrigin::Flag);
    }
    (run.mentor, run.limits.steps) = ("script".to_owned(), 1);
    let mut play = TestRun::new(run);
    play.mentor = Box::new(|_| "Look elsewhere.".to_owned());
    let mut attempts = 0;
    let mut world = |action: Option<&str>| {
        attempts += u32::from(action.is_some());
        StepResult {
            observation: "A room.".to_owned(),
            valid: true,
            done: action.is_some(),
            won: action.is_some() && attempts == 2,
            ..StepResult::default()
        }
    };
    play.play_script_in(&mut world, &["look"; 4]);
    let events: Vec<Arc<Envelope>> = play.journal.into_iter().map(Arc::new).collect();
    let record = record_of(&events);
    let markdown = render_markdown(&record);
    let page = html_page(&record, StepRef { episode: 1, step: 1 }, &BTreeMap::new());
    for (heading, title) in [
        ("## Search for put &lt;b>\n", "<b>Search for put &lt;b&gt;</b>"),
        ("## Search for heat\\_it\n", "<b>Search for heat_it</b>"),
    ] {
        assert_eq!(markdown.matches(heading).count(), 1, "{heading}: {markdown}");
        assert_eq!(page.matches(title).count(), 1, "{title}");
    }
    let json: serde_json::Value = serde_json::from_str(&render_json(&record)).unwrap();
    let searches = json["searches"].as_array().unwrap();
    let types: Vec<_> = searches.iter().map(|search| search["task_type"].as_str().unwrap()).collect();
    assert_eq!(types, ["put <b>", "heat_it"]);
    for search in searches {
        assert_eq!((&search["planned"], &search["dimension"]), (&json!(2), &json!(10)));
        let points = search["points"].as_array().unwrap();
        assert!(points.len() == 2 && points.iter().all(|point| point["reward"].is_number()), "{search}");
    }
    assert!(searches[0]["points"][1]["reward"].as_f64() > searches[0]["points"][0]["reward"].as_f64());
}

/// A search's jobs are lines of `run --json`, its attempts have their trial numbers in all lines, and rules that found nothing are in
/// no transcript.
#[test]
fn lines_of_a_search_have_its_jobs_and_trials_but_transcripts_no_empty_reflections() {
    let mut run = test_spec("dora", &[("a", "")]);
    for (name, value) in [("n_init", 2), ("rounds", 1), ("batch", 1), ("attempts", 2), ("fit_generations", 5)]
    {
        run.settings.set(name, value, SettingOrigin::Flag);
    }
    run.limits.steps = 1;
    let mut play = TestRun::new(run);
    // The first evaluation wins its second attempt; the second one is lost, and so is the third.
    let mut attempts = 0;
    let mut world = |action: Option<&str>| {
        attempts += u32::from(action.is_some());
        let won = action.is_some() && attempts == 2;
        StepResult { observation: "A room.".to_owned(), valid: true, done: won, won, ..StepResult::default() }
    };
    play.play_script_in(&mut world, &["look"; 20]);
    assert!(play.state().run_over);
    let (mut state, mut transcript, mut lines) = (State::default(), Transcript::default(), Vec::new());
    let mut empty = 0;
    for envelope in &play.journal {
        state.apply(envelope);
        let line = RunLines::default().event_line(envelope, &state, "s", StepExtras::default);
        let shown = transcript.event_lines(envelope, &state);
        if matches!(&envelope.event, Event::Reflected { reflection } if reflection.items.is_empty()) {
            assert_eq!(shown, "");
            assert!(line.is_some(), "programs get it");
            empty += 1;
        }
        lines.extend(line.map(|line| serde_json::from_str::<serde_json::Value>(&line).unwrap()));
    }
    assert!(empty > 0);
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    let jobs = of("job");
    let names: Vec<_> = jobs.iter().map(|job| job["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["dora.instruct", "dora.instruct", "dora.next_points", "dora.instruct"]);
    let ends = of("job_end");
    assert_eq!(ends.len(), jobs.len());
    for (job, end) in jobs.iter().zip(&ends) {
        assert_eq!((&job["call"], &json!(0)), (&end["call"], &end["millis"]));
        assert!(job["seq"].as_u64() < end["seq"].as_u64(), "{job} {end}");
    }
    for kind in ["episode_start", "episode_end"] {
        let trials: Vec<_> = of(kind).iter().map(|line| line["trial"].as_u64().unwrap()).collect();
        assert_eq!(trials, [1, 2, 3, 4, 5, 6], "{kind}");
    }
    let text = render_transcript(&play.journal.into_iter().map(Arc::new).collect::<Vec<_>>());
    assert!(text.contains("job: turning the vector into an instruction"), "{text}");
    for trial in 1..=6 {
        assert_eq!(text.matches(&format!(", trial {trial}")).count(), 1, "{text}");
    }
}
