//! Recall and precision of the plans that reflections produce, by trial, from the journal of a run to the report.

use crate::catalog::fixture::{TestRun, test_spec};
use crate::domain::{ReflectionKind, StepResult};
use crate::report::metrics::{Format, Metrics, MetricsCollector, RevisionCounts, render_metrics};

/// Plays one task for three trials, which all fail in the same way: one action makes progress, one is refused.
fn lost_run(plans: &'static [&'static str]) -> TestRun {
    let mut run = test_spec("reflexion", &[("a", "pick_heat_then_place_in_recep")]);
    (run.mentor, run.trials, run.limits.steps, run.loop_detector) = ("script".to_owned(), 3, 2, false);
    let mut play = TestRun::new(run);
    let mut remaining = plans.iter();
    play.mentor = Box::new(move |prompt| {
        assert_eq!(prompt.question.map(|q| q.kind), Some(ReflectionKind::Plan));
        (*remaining.next().unwrap()).to_owned()
    });
    let mut world = |action: Option<&str>| StepResult {
        observation: "Your task is to: do it.".to_owned(),
        progress: if action.is_some() { 0.5 } else { 0.0 },
        valid: action != Some("open shelf 1"),
        ..StepResult::default()
    };
    play.play_script_in(&mut world, &["take egg 1 from shelf 1", "open shelf 1"].repeat(3));
    assert!(play.state().run_over);
    play
}

fn metrics(play: &TestRun) -> Vec<Metrics> {
    let mut collector = MetricsCollector::default();
    play.journal.iter().for_each(|envelope| collector.add_event(envelope));
    Metrics::from_sessions(vec![collector.finish()])
}

#[test]
fn recall_and_precision_are_those_of_the_new_plan_by_trial() {
    let play =
        lost_run(&["I opened shelf 1. Next: take the egg 1 from shelf 1.", "First open shelf 1, then look."]);
    let all = metrics(&play);
    let stats = all[0].reflections.clone().unwrap();
    let counts = |retained, corrected, pairs| RevisionCounts {
        pairs,
        correct: pairs,
        retained,
        erroneous: pairs,
        corrected,
    };
    assert_eq!((stats.recall, stats.precision, stats.plan), (Some(0.5), Some(0.5), counts(1, 1, 2)));
    // The agent did the same in every trial, whatever the plan said.
    assert_eq!((stats.next_recall, stats.next_precision), (Some(1.0), Some(0.0)));
    assert_eq!(stats.revision, counts(2, 0, 2));
    let series: Vec<_> = stats.by_trial.iter().map(|t| (t.trial, t.recall, t.precision)).collect();
    assert_eq!(series, [(1, Some(1.0), Some(1.0)), (2, Some(0.0), Some(0.0))]);

    let text = render_metrics(&all, Format::Markdown, false);
    for row in [
        "| trial | tasks played | newly solved | solved so far % | calls/task so far | steps/episode | recall of its plans % | precision of its plans % |",
        "| 1 | 1 | 0 | 0.0 | 3.0 | 2.0 | 100.0 | 100.0 |",
        "| 2 | 1 | 0 | 0.0 | 6.0 | 2.0 | 0.0 | 0.0 |",
        "| 3 | 1 | 0 | 0.0 | 8.0 | 2.0 | \\- | \\- |",
        "| recall of experience | 50.0 | 1 of 2 correct actions |",
        "| precision of correction | 50.0 | 1 of 2 erroneous actions |",
        "| recall in the next attempt | 100.0 | 2 of 2 correct actions |",
        "| precision in the next attempt | 0.0 | 0 of 2 erroneous actions |",
    ] {
        assert!(text.contains(row), "no row {row}:\n{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&render_metrics(&all, Format::Json, false)).unwrap();
    let reflections = &json["configurations"][0]["reflections"];
    assert_eq!(reflections["recall"], 0.5);
    assert_eq!(reflections["by_trial"][1]["trial"], 2);
    assert_eq!(reflections["by_trial"][0]["precision"], 1.0);
    assert_eq!(json["configurations"][0]["by_trial"][2]["solved_so_far"], 0);
}

#[test]
fn a_newer_plan_replaces_the_one_that_was_written_first() {
    let mut play = lost_run(&["Wait.", "Wait."]);
    // The last attempt has no plan; a person asks for one.
    play.mentor = Box::new(|_| "Take egg 1 from shelf 1.".to_owned());
    let command = crate::engine::Command::Reflect(ReflectionKind::Plan);
    play.command(command);
    play.play_script_in(&mut |_| StepResult::default(), &[]);
    let stats = metrics(&play)[0].reflections.clone().unwrap();
    assert_eq!(stats.plan.pairs, 3);
    assert_eq!(stats.by_trial[2].recall, Some(1.0));
}
