//! The methods' intents in whole runs.

use crate::catalog::RULES;
use crate::catalog::SETTINGS;
use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{EndReason, LessonText, ReflectionKind, Scope, SegmentOrigin};
use crate::engine::{Cause, Command, Event, Intent, LessonCommand, Method as _};
use crate::method::ReAct;
use std::sync::Arc;

const REACT: ReAct = ReAct { rules: RULES };
const HEAT: &str = "pick_heat_then_place_in_recep";

#[test]
fn react_plays_each_task_once_and_ends_the_run() {
    let mut run = test_spec("react", &[("a", HEAT), ("b", ""), ("a", HEAT)]);
    run.limits.steps = 2;
    let mut play = TestRun::new(run);
    let mut household = FakeHousehold::kitchen("put a hot apple in garbagecan");
    play.play_script(&mut household, &["look"; 20]);
    let state = play.state();
    let played: Vec<_> =
        state.ended_episodes.iter().map(|e| (e.task.id.as_str(), e.trial, e.reason)).collect();
    let limit = EndReason::StepLimit;
    assert_eq!(
        played,
        [("a", 1, limit), ("b", 1, limit), ("a", 2, limit)],
        "a task that is listed twice is played twice"
    );
    assert!(state.run_over);
    assert!(state.pool.is_empty(), "ReAct learns nothing");
}

#[test]
fn without_an_open_episode_the_only_intent_is_to_start_one() {
    let play = TestRun::new(test_spec("react", &[("a", "")]));
    let intents = REACT.next(play.state());
    assert!(matches!(&intents[..], [Intent::StartEpisode { trial: 1, .. }]));
}

#[test]
fn a_task_is_repeated_until_won_or_out_of_trials() {
    // Number of trials, the tasks of the list, and the episodes played when every trial fails.
    type Case = (u32, &'static [&'static str], &'static [(&'static str, u32)]);
    let cases: &[Case] = &[
        (1, &["a", "b"], &[("a", 1), ("b", 1)]),
        (3, &["a", "b"], &[("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("b", 3)]),
        (2, &["a", "b", "a"], &[("a", 1), ("a", 2), ("b", 1), ("b", 2), ("a", 3), ("a", 4)]),
    ];
    for method in ["react", "omnireflect"] {
        for (trials, tasks, expected) in cases {
            let tasks: Vec<_> = tasks.iter().map(|id| (*id, "")).collect();
            let mut run = test_spec(method, &tasks);
            (run.limits.steps, run.trials) = (1, *trials);
            let mut play = TestRun::new(run);
            play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 20]);
            let state = play.state();
            let played: Vec<_> = state.ended_episodes.iter().map(|e| (e.task.id.as_str(), e.trial)).collect();
            assert_eq!(played, *expected, "{method} {trials}");
            assert!(state.run_over);
        }
    }
    // A won trial is the last of its task.
    let mut state = TestRun::new(test_spec("react", &[("a", ""), ("b", "")])).state().clone();
    let run = Arc::make_mut(state.run.as_mut().unwrap());
    run.trials = 3;
    for won in [false, true] {
        let task = run.tasks[0].clone();
        let summary = crate::domain::EpisodeSummary {
            number: 1,
            task,
            trial: 1,
            role: crate::domain::EpisodeRole::Test,
            won,
            reason: EndReason::Done,
            steps: 1,
            moves: 1,
            progress: 0.0,
            calls: 1,
            tokens: 1,
            assisted: false,
            seq_range: (1, 2),
            stats: crate::domain::EpisodeStats::default(),
        };
        state.ended_episodes.push_back_mut(Arc::new(summary));
    }
    state.episode = None;
    let Some(Intent::StartEpisode { task, trial: 1, .. }) = REACT.next(&state).pop() else { panic!() };
    assert_eq!(task.id, "b");
}

#[test]
fn out_of_range_numbers_are_rejected_not_truncated() {
    // Setting, value, and the expected description (empty: the value is accepted).
    let cases: &[(&str, u64, &str)] = &[
        ("context_tokens", 8192, ""),
        ("context_tokens", 4_294_967_296, "a whole number from 1 to 16000000"),
        ("context_tokens", 0, "a whole number from 1 to 16000000"),
        ("examples", 3, "a whole number from 0 to 2"),
        ("r_freq", 0, "a whole number, at least 1"),
        ("r_freq", u64::MAX, "at most 4294967295"),
        ("max_moves", 0, ""),
        ("max_moves", 4_294_967_296, "at most 4294967295"),
    ];
    for (name, value, words) in cases {
        let spec = SETTINGS.iter().find(|s| s.name == *name).unwrap();
        let error = spec.validate(&serde_json::json!(value)).err().unwrap_or_default();
        assert!(error.contains(words) && error.is_empty() == words.is_empty(), "{name} {value}: {error}");
    }
    let cosine = SETTINGS.iter().find(|s| s.name == "early_stop_cosine").unwrap();
    for value in [serde_json::json!(0), 0.85.into(), 1.into()] {
        assert_eq!(cosine.validate(&value), Ok(()), "{value}");
    }
    for value in [serde_json::json!(1.01), (-0.1).into(), "high".into(), true.into()] {
        assert_eq!(cosine.validate(&value), Err("expected a number from 0 to 1".to_owned()), "{value}");
    }
    for spec in SETTINGS.iter() {
        assert_eq!(spec.validate(&spec.default.to_json()), Ok(()), "{}", spec.name);
    }
}

/// Regression: the scope "tasks of this type" that a person chose was ignored in later tasks, and the screen dimmed other lessons than
/// the prompts left out.
#[test]
fn a_scope_that_a_person_chose_holds_in_later_tasks() {
    let tasks = [("1", "pick_and_place_simple"), ("2", "pick_clean_then_place_in_recep")];
    let mut spec = test_spec("omnireflect", &tasks);
    spec.limits.steps = 2;
    let mut run = TestRun::new(spec);
    let mut house = FakeHousehold::kitchen("put a mug in cabinet");
    run.play_script(&mut house, &["go to cabinet 1"]);
    let add = |scope, text: &str| {
        Command::Lesson(LessonCommand::add(
            ReflectionKind::Error,
            scope,
            LessonText::plain(text),
            String::new(),
        ))
    };
    run.command(add(Scope::TaskType, "Taught for this type."));
    run.command(add(Scope::Environment, "Taught for all."));
    // Two lessons of the rules: one is left alone, the other one is limited by the person.
    for (id, text) in [("00000000000a", "Found for this type."), ("00000000000b", "Limited by you.")] {
        let json = serde_json::json!({
            "type": "lesson_changed", "op": "add", "id": id, "kind": "error", "origin": "symbolic", "by": "symbolic",
            "scope": if id.ends_with('a') { "task_type" } else { "environment" }, "text": {"text": text},
        });
        let event: Event = serde_json::from_value(json).unwrap();
        run.fold(vec![(Cause::Policy, event)]);
    }
    let limited = run.state().pool.all().last().unwrap().id.clone();
    run.command(Command::Lesson(LessonCommand::Rescope { id: limited, scope: Scope::TaskType }));
    run.play_script(&mut house, &["open cabinet 1"]);
    let (state, prompt) = run.prompts.last().unwrap();
    assert_eq!(state.episode.as_ref().unwrap().task.id, "2");
    let in_prompt: Vec<&str> = prompt
        .segments
        .iter()
        .filter_map(|segment| match &segment.origin {
            SegmentOrigin::Lesson { id, .. } => Some(state.pool.get(id)?.text().text.as_str()),
            _ => None,
        })
        .collect();
    let not_dimmed: Vec<&str> =
        state.pool.all().filter(|l| !state.is_out_of_scope(l)).map(|l| l.text().text.as_str()).collect();
    assert_eq!(in_prompt, ["Taught for all.", "Found for this type."]);
    assert_eq!(in_prompt, not_dimmed);
    let ignored: Vec<&str> =
        state.pool.all().filter(|l| state.ignores_scope(l)).map(|l| l.text().text.as_str()).collect();
    assert_eq!(ignored, ["Found for this type."]);
}
