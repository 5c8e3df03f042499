//! Reflections against attempts without any, success by setting, and the attempts that solved tasks.

use super::*;
use crate::domain::{AdviceCounts, AdviceEffect};

/// A run without reflections: the plain method, with no mentor.
fn plain_spec(trials: u32) -> Arc<RunSpec> {
    Arc::new(RunSpec { method: "react".to_owned(), trials, ..spec() })
}

fn reflecting_spec(trials: u32) -> Arc<RunSpec> {
    Arc::new(RunSpec { trials, ..spec() })
}

fn with_moves(number: u32, task: &Task, trial: u32, won: bool, moves: u32) -> EpisodeSummary {
    EpisodeSummary { moves, ..episode(number, task, trial, won, f64::from(u8::from(won))) }
}

fn reflection(episode: u32) -> Arc<Reflection> {
    let item = ReflectionItem { text: LessonText::plain("Look there."), ..ReflectionItem::default() };
    Arc::new(Reflection::new(ReflectionKind::Plan, crate::domain::Author::Mentor, (episode, 10), vec![item]))
}

fn put(id: &str) -> Task {
    task(id, "put")
}

/// Five tasks with reflections, three trials each: a and b are solved, c isn't; d and e aren't comparable.
fn reflecting_run() -> SessionMetrics {
    let episodes = vec![
        with_moves(1, &put("a"), 1, false, 50),
        with_moves(2, &put("a"), 2, true, 7),
        with_moves(3, &put("b"), 1, true, 9),
        with_moves(4, &put("c"), 1, false, 50),
        with_moves(5, &put("c"), 2, false, 50),
        with_moves(6, &put("c"), 3, false, 20),
        with_moves(7, &put("d"), 1, true, 5),
        with_moves(8, &put("e"), 1, false, 50),
    ];
    SessionMetrics {
        spec: Some(reflecting_spec(3)),
        reflections: vec![reflection(1)],
        ..session("reflecting", episodes)
    }
}

/// Four of these tasks and another one without reflections, five trials each.
fn plain_run() -> SessionMetrics {
    let mut episodes = vec![
        with_moves(1, &put("a"), 1, false, 50),
        with_moves(2, &put("a"), 2, false, 50),
        with_moves(3, &put("a"), 3, true, 6),
        with_moves(4, &put("b"), 1, true, 9),
        with_moves(5, &put("e"), 1, true, 4),
        with_moves(6, &put("f"), 1, true, 4),
    ];
    // Its success in the fourth trial is beyond the three that both have, where both count all allowed steps.
    episodes.extend((1..=4).map(|trial| with_moves(6 + trial, &put("c"), trial, trial == 4, 30)));
    SessionMetrics { spec: Some(plain_spec(5)), ..session("plain", episodes) }
}

fn compare(
    with: SessionMetrics,
    without: SessionMetrics,
) -> Option<Result<AdviceComparison, Vec<&'static str>>> {
    compare_advice(&single_group(vec![with]), &single_group(vec![without]))
}

/// DORA, figure 6, calculated by hand.
#[test]
fn reflections_are_compared_with_as_many_attempts_without() {
    let comparison = compare(reflecting_run(), plain_run()).unwrap().unwrap();
    assert_eq!(comparison.attempts, 3, "the plain run had five");
    let pairs: Vec<_> =
        comparison.pairs.iter().map(|p| (p.task.as_str(), p.steps_with, p.steps_without, p.effect)).collect();
    let expected = [
        ("a", 57, 106, AdviceEffect::Effective),
        ("b", 9, 9, AdviceEffect::Ineffective),
        ("c", 150, 150, AdviceEffect::Ineffective),
    ];
    assert_eq!(pairs, expected);
    assert_eq!(comparison.counts, AdviceCounts { effective: 1, ineffective: 2, toxic: 0 });
    let left_out: Vec<_> = comparison.left_out.iter().map(|run| (run.task.as_str(), run.reason)).collect();
    let expected =
        [("d", LeftOutReason::OnlyWith), ("e", LeftOutReason::Unfinished), ("f", LeftOutReason::OnlyWithout)];
    assert_eq!(left_out, expected);
    assert_eq!(comparison.other_seeds, 0);
}

#[test]
fn more_steps_with_reflections_are_toxic() {
    let a = task("a", "put");
    let run = |moves, spec, reflections| SessionMetrics {
        spec: Some(spec),
        reflections,
        ..session("s", vec![with_moves(1, &a, 1, true, moves)])
    };
    let comparison =
        compare(run(9, reflecting_spec(3), vec![reflection(1)]), run(8, plain_spec(3), Vec::new()));
    assert_eq!(comparison.unwrap().unwrap().counts, AdviceCounts { toxic: 1, ..AdviceCounts::default() });
}

/// A task of another environment seed is another task, and runs of a task are matched by the seed of their run.
#[test]
fn runs_are_matched_by_seeds() {
    let seeded = |name: &str, spec: Arc<RunSpec>, run_seed, moves| {
        let spec = Some(Arc::new(RunSpec { seed: run_seed, ..(*spec).clone() }));
        let episodes = vec![with_moves(1, &task("a", "put"), 1, true, moves)];
        SessionMetrics { spec, ..session(name, episodes) }
    };
    let reflecting = |name: &str, seed, moves| SessionMetrics {
        reflections: vec![reflection(1)],
        ..seeded(name, reflecting_spec(3), seed, moves)
    };
    let with = single_group(vec![reflecting("1", 1, 5), reflecting("2", 2, 6), reflecting("3", 3, 7)]);
    let without = single_group(vec![seeded("4", plain_spec(3), 2, 6), seeded("5", plain_spec(3), 9, 6)]);
    let comparison = compare_advice(&with, &without).unwrap().unwrap();
    let steps: Vec<_> =
        comparison.pairs.iter().map(|p| (p.run_seeds, p.steps_with, p.steps_without)).collect();
    assert_eq!(steps, [([Some(2), Some(2)], 6, 6), ([Some(1), Some(9)], 5, 6)]);
    assert_eq!((comparison.other_seeds, comparison.left_out.len()), (1, 1));
    let mut elsewhere = plain_run();
    for episode in &mut elsewhere.episodes {
        Arc::make_mut(episode).task.seed = 7;
    }
    let comparison = compare(reflecting_run(), elsewhere).unwrap().unwrap();
    assert_eq!((comparison.pairs.len(), comparison.left_out.len()), (0, 10));
}

#[test]
fn only_runs_that_differ_in_reflections_alone_are_compared() {
    assert_eq!(compare(plain_run(), plain_run()), None, "neither reflects");
    assert_eq!(compare(reflecting_run(), reflecting_run()), None, "both reflect");
    let taught = SessionMetrics { started_with_lessons: true, ..plain_run() };
    assert_eq!(compare(reflecting_run(), taught), None, "lessons advise, too");
    let changed = |change: fn(&mut RunSpec)| {
        let mut run = plain_run();
        change(Arc::make_mut(run.spec.as_mut().unwrap()));
        compare(reflecting_run(), run).unwrap().unwrap_err()
    };
    assert_eq!(changed(|spec| spec.actor = "rules".to_owned()), ["actor"]);
    assert_eq!(changed(|spec| spec.interface = Interface::Raw), ["interface"]);
    assert_eq!(changed(|spec| spec.limits.moves = Some(30)), ["step limit"]);
}

#[test]
fn a_comparison_says_what_it_is_and_what_it_leaves_out() {
    let all = Metrics::from_sessions(vec![plain_run(), reflecting_run()]);
    let text = render_metrics(&all, Format::Text, false);
    for words in [
        "Reflections against as many attempts without: reflexion, actor openai:some",
        "at most 3 attempts a task",
        "An observation per task, not a verdict.",
        "effective    1      33.3",
        "ineffective  2      66.7",
        "toxic        0      0.0",
        "Left out, played only with reflections: d.",
        "Left out, played only without reflections: f.",
        "Left out, unsolved, with attempts still to play: e.",
        "a     57          106            effective",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let json: Value = serde_json::from_str(&render_metrics(&all, Format::Json, false)).unwrap();
    let advice = &json["advice"][0];
    assert_eq!(advice["comparison"]["counts"], json!({"effective": 1, "ineffective": 2, "toxic": 0}));
    assert_eq!(advice["comparison"]["pairs"][0]["effect"], "effective");
    assert!((advice["shares"]["ineffective"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert!(advice["note"].as_str().unwrap().contains("not a verdict"));
    let one = render_metrics(&all[1..], Format::Text, false);
    assert!(!one.contains("as many attempts"), "{one}");
}

/// DORA's histogram of first successes: the attempt is counted over everything that was played.
#[test]
fn first_successes_are_counted_by_attempt() {
    let metrics = single_group(vec![plain_run()]);
    assert_eq!(metrics.by_attempt, BTreeMap::from([(1, 3), (3, 1), (4, 1)]));
    let text = render_metrics(&[metrics], Format::Text, false);
    let table: Vec<&str> =
        text.lines().skip_while(|line| !line.contains("first success")).take(4).map(str::trim_end).collect();
    assert!(table[1].ends_with(&"█".repeat(20)) && table[1].contains("60.0"), "{text}");
    assert!(table[3].ends_with(&format!("  {}", "█".repeat(7))), "{text}");
}

/// DORA's figures 10 and 11, the histograms of rewards: of all attempts, and of each type of tasks.
#[test]
fn rewards_of_attempts_are_counted_in_ranges() {
    let attempt = |number: u32, task: &Task, trial: u32, progress: f64| EpisodeSummary {
        progress,
        ..with_moves(number, task, trial, progress >= 1.0, 5)
    };
    let (put, heat) = (task("a", "put"), task("b", "heat"));
    let run = session(
        "s",
        vec![
            attempt(1, &put, 1, 0.3),
            attempt(2, &put, 2, 1.0),
            attempt(3, &heat, 1, 0.0),
            attempt(4, &heat, 2, 0.95),
        ],
    );
    let metrics = single_group(vec![run]);
    let ranges: Vec<_> =
        metrics.rewards.iter().map(|r| (r.task_type.as_str(), (10.0 * r.from).round(), r.attempts)).collect();
    assert_eq!(
        ranges,
        [
            ("all", 0.0, 1),
            ("all", 3.0, 1),
            ("all", 9.0, 2),
            ("heat", 0.0, 1),
            ("heat", 9.0, 1),
            ("put", 3.0, 1),
            ("put", 9.0, 1),
        ]
    );
    let text = render_metrics(std::slice::from_ref(&metrics), Format::Text, false);
    let row = text.lines().find(|line| line.trim_start().starts_with("all") && line.contains("0.9 to 1.0"));
    assert!(row.is_some_and(|row| row.contains("50.0") && row.ends_with(&"█".repeat(10))), "{text}");
    let json: Value = serde_json::from_str(&render_metrics(&[metrics], Format::Json, false)).unwrap();
    let range = &json["configurations"][0]["rewards"][2];
    assert_eq!(
        (&range["type"], &range["attempts"], &range["share"]),
        (&json!("all"), &json!(2), &json!(0.5))
    );
}

/// DORA, figures 7 and 8: runs that differ in a setting alone, numbers in their order.
#[test]
fn success_is_listed_by_the_setting_that_differs() {
    let with_alpha = |alpha: u32, won: bool| {
        let mut run = session(&alpha.to_string(), vec![with_moves(1, &task("a", "put"), 1, won, 5)]);
        Arc::make_mut(run.spec.as_mut().unwrap()).settings.set("alpha", alpha, SettingOrigin::Flag);
        run
    };
    let all = Metrics::from_sessions(vec![with_alpha(100, true), with_alpha(20, false), plain_run()]);
    let text = render_metrics(&all, Format::Text, false);
    let table: Vec<&str> = text.lines().skip_while(|line| !line.contains("Success by setting")).collect();
    assert_eq!(table[0], "Success by setting: reflexion, actor openai:some, mentor openai:some");
    assert!(table[2].starts_with("  alpha=20   1      0       0.0"), "{text}");
    assert!(table[3].starts_with("  alpha=100  1      1       100.0"), "{text}");
    let json: Value = serde_json::from_str(&render_metrics(&all, Format::Json, false)).unwrap();
    assert_eq!(json["by_setting"].as_array().unwrap().len(), 1, "the other method differs in its label");
    let settings = json!([{"alpha": "100"}, {"alpha": "20"}]);
    let values = json["by_setting"][0]["values"].as_array().unwrap();
    assert_eq!(json!(values.iter().map(|row| row["settings"].clone()).collect::<Vec<_>>()), settings);
    let same = render_metrics(&Metrics::from_sessions(vec![plain_run()]), Format::Text, false);
    assert!(!same.contains("Success by setting"), "{same}");
}

#[test]
fn pages_of_dora_have_its_levels() {
    let level = |page: &str| {
        let page = Task { env: "miniwob".to_owned(), task_type: Some(page.to_owned()), ..task("x", "x") };
        difficulty(&page).map(str::to_owned)
    };
    for (page, expected) in [
        ("click-color", Some("1 screen 1 step")),
        ("click-shape", Some("1 screen 1 step")),
        ("click-checkboxes-soft", Some("1 screen n steps")),
        ("find-word", Some("1 screen n steps")),
        ("navigate-tree", Some("n screens n steps")),
        ("click-menu", Some("n screens n steps")),
        ("click-tab-2", None),
    ] {
        assert_eq!(level(page).as_deref(), expected, "{page}");
    }
}
