//! The metrics compared with manual calculations, their bounds, and their independence of input order.
#![allow(clippy::float_cmp, reason = "computed manually, and exact")]

mod advice;
mod differences;
mod plans;

use super::aggregate::{iqm, median};
use super::*;
use crate::catalog::{is_possible_share, published_results};
use crate::domain::{
    Autonomy, EndReason, EpisodeStats, EpisodeSummary, Interface, LessonText, Limits, Purpose, Reflection,
    ReflectionItem, ReflectionKind, SettingOrigin, Task,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn task(id: &str, kind: &str) -> Task {
    let task_type = Some(kind.to_owned());
    Task {
        env: "alfworld".to_owned(),
        id: id.to_owned(),
        goal: String::new(),
        task_type,
        difficulty: None,
        seed: 0,
    }
}

fn episode(number: u32, task: &Task, trial: u32, won: bool, progress: f64) -> EpisodeSummary {
    EpisodeSummary {
        number,
        task: task.clone(),
        trial,
        role: EpisodeRole::Test,
        won,
        reason: if won { EndReason::Won } else { EndReason::StepLimit },
        steps: 10,
        moves: 8,
        progress,
        calls: 5,
        tokens: 100,
        assisted: false,
        seq_range: (u64::from(number), u64::from(number)),
        stats: EpisodeStats { progress_step: 3, invalid_moves: 2, ..EpisodeStats::default() },
    }
}

fn spec() -> RunSpec {
    let mut settings = crate::catalog::defaults("reflexion", crate::domain::PaperOrCode::Paper).1;
    settings.set("strategy", "reflexion", SettingOrigin::Paper);
    settings.set("memory", 3, SettingOrigin::Paper);
    RunSpec {
        method: "reflexion".to_owned(),
        actor: "openai:some".to_owned(),
        mentor: "openai:some".to_owned(),
        interface: Interface::React,
        tasks: Vec::new(),
        trials: 15,
        seed: 0,
        autonomy: Autonomy::Auto,
        limits: Limits { steps: 50, moves: None, wall_seconds: None },
        loop_detector: true,
        settings,
    }
}

fn session(name: &str, episodes: Vec<EpisodeSummary>) -> SessionMetrics {
    let episodes = episodes.into_iter().map(Arc::new).collect();
    SessionMetrics {
        session: name.to_owned(),
        spec: Some(Arc::new(spec())),
        episodes,
        ..SessionMetrics::default()
    }
}

/// Three tasks with the method Reflexion: one solved in its first trial, one in its third, one never.
fn three_reflexion_tasks() -> SessionMetrics {
    let (a, b, c) = (
        task("json/valid_unseen/a", "pick_and_place_simple"),
        task("json/valid_unseen/b", "pick_heat_then_place_in_recep"),
        task("json/valid_unseen/c", "pick_heat_then_place_in_recep"),
    );
    session(
        "s",
        vec![
            episode(1, &a, 1, true, 1.0),
            episode(2, &b, 1, false, 0.25),
            episode(3, &c, 1, false, 0.0),
            episode(4, &b, 2, false, 0.5),
            episode(5, &c, 2, false, 0.25),
            episode(6, &b, 3, true, 1.0),
            episode(7, &c, 3, false, 0.5),
        ],
    )
}

fn single_group(sessions: Vec<SessionMetrics>) -> Metrics {
    let mut all = Metrics::from_sessions(sessions);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// Regression: three tasks of three types, each resampled within its own type, gave a zero-width interval.
#[test]
fn one_task_per_type_still_has_a_nonzero_interval() {
    let (a, b, c) = (task("a", "put"), task("b", "heat"), task("c", "cool"));
    let all = [episode(1, &a, 1, true, 1.0), episode(2, &b, 1, false, 0.5), episode(3, &c, 1, false, 0.0)];
    let aggregate = single_group(vec![session("s", all.to_vec())]).aggregate.unwrap();
    assert!(
        aggregate.mean.low < aggregate.mean.value && aggregate.mean.value < aggregate.mean.high,
        "{:?}",
        aggregate.mean
    );
    assert_eq!(aggregate.strata, "all tasks");
    let single = single_group(vec![session("s", all[..1].to_vec())]);
    let output = super::render_metrics(std::slice::from_ref(&single), super::Format::Text, false);
    assert!(output.contains("1.000 (-)"), "{output}");
}

#[test]
fn rates_of_three_tasks_match_a_manual_calculation() {
    let metrics = single_group(vec![three_reflexion_tasks()]);
    let all = &metrics.all;
    assert_eq!((all.tasks, all.solved, all.episodes), (3, 2, 7));
    assert!((all.success.unwrap().value - 2.0 / 3.0).abs() < 1e-12);
    assert!((all.progress.unwrap() - 2.5 / 3.0).abs() < 1e-12, "1, 1 and the last trial's 0.5");
    assert!((all.grounding.unwrap() - 0.75).abs() < 1e-12, "6 of 8 actions of every episode");
    assert!((all.calls_per_task.unwrap() - 35.0 / 3.0).abs() < 1e-12);
    let trials: Vec<_> = metrics.by_trial.iter().map(|t| (t.played, t.solved, t.solved_so_far)).collect();
    assert_eq!(trials, [(3, 1, 1), (2, 0, 1), (2, 1, 2)]);
    let kinds: Vec<_> = metrics.by_type.iter().map(|(k, r)| (k.as_str(), r.tasks, r.solved)).collect();
    assert_eq!(kinds, [("heat", 2, 1), ("put", 1, 1)]);
    let levels: Vec<_> = metrics.by_difficulty.iter().map(|(k, r)| (k.as_str(), r.solved)).collect();
    assert_eq!(levels, [("easy", 1), ("hard", 1)]);
}

/// Regression: a task of any environment whose type was called as one of ALFWorld's was rated as ALFWorld's.
#[test]
fn types_are_shortened_and_rated_by_their_own_environment() {
    let in_env = |env: &str, id: &str, kind: &str| Task { env: env.to_owned(), ..task(id, kind) };
    let cases = [
        (in_env("alfworld", "x", "pick_heat_then_place_in_recep"), "heat", Some("hard")),
        (in_env("alfworld", "x", "pick_and_place_simple"), "put", Some("easy")),
        (in_env("household", "normal/heat/3", "pick_heat_then_place_in_recep"), "heat", Some("normal")),
        (in_env("pddl", "gripper/easy/1", "gripper"), "gripper", Some("easy")),
        (in_env("babyai", "x", "heat"), "heat", None),
        (in_env("unknown", "x", "pick_and_place_simple"), "pick_and_place_simple", None),
        (Task { task_type: None, ..in_env("alfworld", "x", "") }, "alfworld", None),
    ];
    for (task, expected_type, expected_difficulty) in cases {
        assert_eq!(short_type(&task), expected_type, "{task:?}");
        assert_eq!(difficulty(&task), expected_difficulty, "{task:?}");
        let labelled = Task { difficulty: Some("easy".to_owned()), ..task };
        assert_eq!(difficulty(&labelled), Some("easy"), "{labelled:?}");
    }
}

#[test]
fn assisted_and_calibration_episodes_are_excluded_from_rates() {
    let mut session_metrics = three_reflexion_tasks();
    let edit_episode =
        |edit: &dyn Fn(&mut EpisodeSummary), index: usize, session_metrics: &mut SessionMetrics| {
            edit(Arc::make_mut(&mut session_metrics.episodes[index]));
        };
    edit_episode(&|e| e.assisted = true, 3, &mut session_metrics);
    edit_episode(&|e| e.role = EpisodeRole::Calibrate, 0, &mut session_metrics);
    let metrics = single_group(vec![session_metrics]);
    assert_eq!((metrics.assisted, metrics.calibration), (1, 1), "task b was assisted in its second trial");
    assert_eq!((metrics.all.tasks, metrics.all.solved), (1, 0));
    assert_eq!(metrics.by_trial.iter().map(|t| t.solved_so_far).max(), Some(0));
}

#[test]
fn reflection_rounds_before_the_first_success_are_counted() {
    let mut session_metrics = three_reflexion_tasks();
    let reflection = |episode: u32, step: u32, purpose: Purpose, words: &str| {
        let text = LessonText::plain(words);
        let items = vec![ReflectionItem { text, ..ReflectionItem::default() }];
        let author = crate::domain::Author::Mentor;
        Arc::new(Reflection {
            purpose,
            ..Reflection::new(ReflectionKind::Plan, author, (episode, step), items)
        })
    };
    session_metrics.reflections = vec![
        reflection(2, 10, Purpose::Reflect, "one two"),
        reflection(2, 10, Purpose::Build, "three four"),
        reflection(4, 10, Purpose::Reflect, "one two three four five six"),
        reflection(4, 10, Purpose::Summarise, "not counted at all"),
    ];
    let metrics = single_group(vec![session_metrics]);
    assert_eq!(metrics.by_round.into_iter().collect::<Vec<_>>(), [(0, 1), (2, 1)]);
    let stats = metrics.reflections.unwrap();
    // Reflections after the same step count as one: 4 and 6 words.
    assert_eq!((stats.count, stats.words, stats.deviation), (2, 5.0, 1.0));
    assert_eq!((stats.recall, stats.precision), (None, None), "no attempts were compared");
}

#[test]
fn the_interquartile_mean_is_the_trimmed_mean() {
    assert_eq!(iqm(&[0.0, 1.0, 2.0, 3.0]), 1.5);
    // Five scores: a quarter of five, rounded down, is one at each end.
    assert_eq!(iqm(&[100.0, 0.0, 1.0, 2.0, 3.0]), 2.0);
    assert_eq!(iqm(&[7.0]), 7.0);
    assert_eq!(iqm(&[]), 0.0);
    assert_eq!(median(vec![4.0, 1.0]), 2.5);
    assert_eq!(median(vec![4.0, 1.0, 2.0]), 2.0);
}

/// Reference values of Wilson's interval: 0 of 10, 5 of 10, 10 of 10.
#[test]
fn wilson_intervals_match_reference_values() {
    for (hits, low, high) in [(0, 0.0, 0.2775), (5, 0.2366, 0.7634), (10, 0.7225, 1.0)] {
        let interval = wilson(hits, 10).unwrap();
        assert!((interval.low - low).abs() < 1e-4 && (interval.high - high).abs() < 1e-4, "{interval:?}");
    }
    assert_eq!(wilson(0, 0), None);
}

#[test]
fn improvement_counts_a_tie_as_half() {
    let attempts = |name: &str, scores: &[f64]| {
        let task_type = "pick_and_place_simple";
        let episodes = scores.iter().enumerate();
        let episodes =
            episodes.map(|(i, s)| episode(i as u32 + 1, &task(&i.to_string(), task_type), 1, *s >= 1.0, *s));
        collect_attempts(&session(name, episodes.collect()))
    };
    let (a, b) = (attempts("a", &[1.0, 0.5, 0.2]), attempts("b", &[0.5, 0.5, 0.5]));
    let forward = improvement(&a, &b).unwrap();
    assert_eq!((forward.probability.value, forward.tasks), (0.5, 3), "better, equal, worse");
    assert_eq!(improvement(&a, &a).unwrap().probability.value, 0.5);
    assert_eq!(improvement(&a, &[]), None);
    let backward = improvement(&b, &a).unwrap().probability.value;
    assert!((forward.probability.value + backward - 1.0).abs() < 1e-12);
}

/// Some published figures are not k / total for any whole k.
#[test]
fn some_published_figures_are_impossible() {
    let impossible: Vec<(&str, f64)> = published_results()
        .iter()
        .filter(|r| r.paper.title == "OmniReflect" && r.table == "Table 1")
        .flat_map(|r| r.figures.iter().map(move |c| (r, c)))
        .filter(|(r, c)| r.is_possible_figure(c) == Some(false))
        .map(|(_, c)| (c.0.as_str(), c.4))
        .collect();
    let impossible_in = |env: &str| impossible.iter().filter(|f| f.0 == env).map(|f| f.1).collect::<Vec<_>>();
    assert_eq!(impossible_in("alfworld"), [68.0, 54.2, 84.1, 93.8]);
    assert_eq!(impossible_in("babyai"), [24.6, 45.2, 44.1, 53.2, 50.8, 64.2]);
    assert_eq!(impossible_in("pddl"), [12.1, 36.6, 45.7, 65.2]);
    // FCRF truncates its percentages instead of rounding them.
    for value in [91.0, 87.3, 88.8, 82.8, 83.5, 68.6] {
        assert!(is_possible_share(value, 134, true), "{value}");
    }
}

#[test]
fn every_row_of_figures_has_a_unique_preset_name() {
    let mut names: Vec<&str> = published_results().iter().map(|r| r.preset.as_str()).collect();
    assert_eq!(names.len(), 70);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 70);
    assert!(published_results().iter().all(|r| r.figures.iter().all(|c| (0.0..=500.0).contains(&c.4))));
}

/// A run of Reflexion on all tasks of a paper: `solved` of them in the first trial.
fn whole_benchmark(env: &str, ids: impl Iterator<Item = String>, solved: u32) -> SessionMetrics {
    let attempt = |(index, id): (usize, String)| {
        let number = index as u32 + 1;
        let kind = if env == "alfworld" { alfworld_type(number) } else { "" };
        let task = Task { env: env.to_owned(), ..task(&id, kind) };
        episode(number, &task, 1, number <= solved, if number <= solved { 1.0 } else { 0.5 })
    };
    session("s", ids.enumerate().map(attempt).collect())
}

/// Returns the type of the n-th game of `valid_unseen`, from 1, if they are sorted by type.
fn alfworld_type(number: u32) -> &'static str {
    match number {
        ..=24 => "pick_and_place_simple",
        25..=55 => "pick_clean_then_place_in_recep",
        56..=78 => "pick_heat_then_place_in_recep",
        79..=99 => "pick_cool_then_place_in_recep",
        100..=117 => "look_at_obj_in_light",
        _ => "pick_two_obj_and_place",
    }
}

fn alfworld_benchmark() -> SessionMetrics {
    whole_benchmark("alfworld", (0..134).map(|n| format!("json/valid_unseen/{n}")), 67)
}

/// Returns the figures of OmniReflect's Table 1 beside a run, and what differs from the rows that have none.
fn published_beside(session: SessionMetrics) -> (Vec<f64>, String) {
    match compare_with_papers(&single_group(vec![session])) {
        Ok(mut rows) => {
            rows.retain(|row| row.source == "OmniReflect, Table 1");
            (
                rows.iter().flat_map(|row| &row.figures).map(|figure| figure.published).collect(),
                rows.iter().flat_map(|row| &row.differences).cloned().collect::<Vec<_>>().join("\n"),
            )
        }
        Err(reason) => (Vec::new(), reason),
    }
}

/// Table 1 of Sweet&Sour prints the mean of its 30 rows, not that of its 271 tasks; ours is computed alike.
#[test]
fn the_score_of_all_tasks_is_the_mean_over_their_types() {
    let rows =
        published_results().iter().filter(|row| row.paper.title == "Sweet&Sour" && row.table == "Table 1");
    let mut averages = 0;
    for row in rows {
        let of_model = |model: &str| {
            let figures = row.figures.iter().filter(|figure| figure.3 == model).map(|figure| figure.4);
            figures.collect::<Vec<f64>>()
        };
        for model in ["Llama 8B", "Mistral Large 2", "GPT-4o"] {
            let figures = of_model(model);
            let (average, types) = figures.split_first().unwrap();
            assert_eq!(types.len(), 30, "{} {model}", row.preset);
            assert!((types.iter().sum::<f64>() / 30.0 - average).abs() < 0.08, "{} {model}", row.preset);
            averages += 1;
        }
    }
    assert_eq!(averages, 9);

    let find = crate::catalog::find_environment("scienceworld").unwrap();
    let ids = (find.task_facts.published.unwrap().keys)();
    let (paper, mut run) = (crate::domain::PaperOrCode::Paper, spec());
    run.settings = crate::catalog::defaults("sweet_sour", paper).1;
    run.settings.set("subgoal", "reward", SettingOrigin::Paper);
    (run.method, run.trials, run.limits.steps) = ("sweet_sour".to_owned(), 4, 150);
    let episodes = ids.iter().enumerate().map(|(index, id)| {
        let kind = id.split('/').next().unwrap();
        let task = Task { env: "scienceworld".to_owned(), ..task(id, kind) };
        // All nine tasks of one type are solved, half of another one.
        let progress = if kind == "boil" {
            1.0
        } else if kind == "find-plant" {
            0.5
        } else {
            0.0
        };
        episode(index as u32 + 1, &task, 1, kind == "boil", progress)
    });
    let mut session = session("s", episodes.collect());
    session.spec = Some(Arc::new(run));
    let rows = compare_with_papers(&single_group(vec![session])).unwrap();
    let row = rows.iter().find(|row| row.source == "Sweet&Sour, Table 1").unwrap();
    assert_eq!(row.differences, Vec::<String>::new());
    let ours = |task_type: &str| {
        let figure = row.figures.iter().find(|figure| figure.task_type == task_type).unwrap();
        (figure.ours.value, figure.sample.0)
    };
    assert_eq!((ours("boil"), ours("find-plant"), ours("melt")), ((100.0, 9), (50.0, 10), (0.0, 9)));
    let (all, tasks) = ours("all");
    assert!((all - 5.0).abs() < 1e-9 && tasks == 271, "{all} {tasks}");
    assert_eq!(row.figures.len(), 3 * 31);
}

/// Regression: a preset's sampling counted as nobody's choice, so rows of papers that don't name it had figures beside it.
#[test]
fn the_sampling_of_a_papers_preset_is_a_difference_from_other_papers() {
    let (mut session, mut run) = (alfworld_benchmark(), spec());
    run.settings.set("actor.top_k", 50, SettingOrigin::Paper);
    session.spec = Some(Arc::new(run));
    let rows = compare_with_papers(&single_group(vec![session])).unwrap();
    let told = |paper: &str| -> Vec<bool> {
        let of_paper = rows.iter().filter(|row| row.source.starts_with(paper));
        let words = "actor.top_k not set in the paper, 50 here";
        of_paper.map(|row| row.differences.iter().any(|text| text.contains(words))).collect()
    };
    assert!(
        !told("Sweet&Sour").is_empty() && told("Sweet&Sour").into_iter().all(|is_told| is_told),
        "{rows:?}"
    );
    assert!(!told("OmniReflect").is_empty() && !told("OmniReflect").contains(&true), "{rows:?}");
}

/// Regression: an ablated run was shown beside the full one's figures, generated problems beside those of AgentBoard's 60,
/// rules beside models.
#[test]
fn published_figures_are_shown_only_where_everything_agrees() {
    use crate::env::babyai::Level;

    type Edit = fn(&mut SessionMetrics, &mut RunSpec);
    let reflexion = [82.8, 94.0, 84.1];
    let cases: [(&str, Edit, &[f64], &str); 20] = [
        ("as in the paper", |_, _| {}, &reflexion, ""),
        ("a step less", |_, run| run.limits.steps = 49, &[], "steps 50 in the paper, 49 here"),
        ("fewer trials", |_, run| run.trials = 2, &[], "trials 15 in the paper, 2 here"),
        ("fewer steps", |_, run| run.limits.steps = 30, &[], "steps 50 in the paper, 30 here"),
        (
            "an ablation",
            |_, run| run.settings.set("memory", 1, SettingOrigin::Flag),
            &[],
            "memory 3 in the paper, 1 here",
        ),
        (
            "a setting that the row doesn't name",
            |_, run| run.settings.set("examples", 0, SettingOrigin::Flag),
            &[],
            "examples 2 in the paper, 0 here",
        ),
        (
            "a setting without influence",
            |_, run| run.settings.set("mentor_at_once", false, SettingOrigin::Flag),
            &reflexion,
            "",
        ),
        (
            "less context",
            |_, run| run.settings.set("context_tokens", 1800, SettingOrigin::Flag),
            &[],
            "context_tokens not stated in the paper (8192 by default), 1800 here",
        ),
        (
            "another interface",
            |_, run| run.interface = Interface::Raw,
            &[],
            "interface react in the paper, raw here",
        ),
        (
            "an older session without a setting of the row",
            |_, run| run.settings.remove("memory"),
            &[],
            "memory 3 in the paper, unknown in this session",
        ),
        (
            "an older session without a setting that the row doesn't name",
            |_, run| run.settings.remove("examples"),
            &[],
            "examples 2 in the paper, unknown in this session",
        ),
        (
            "another temperature",
            |_, run| run.settings.set("actor.temperature", 2, SettingOrigin::Flag),
            &[],
            "actor.temperature 0 in the paper, 2 here",
        ),
        (
            "other prompts",
            |_, run| run.settings.set("templates", "0123", SettingOrigin::Flag),
            &[],
            "prompts or exemplars of a file here",
        ),
        (
            "another method",
            |_, run| run.method = "expel".to_owned(),
            &[],
            "no paper has a table for expel on alfworld",
        ),
        (
            "lessons at the start",
            |session, _| session.started_with_lessons = true,
            &[],
            "no lessons at the start in the paper, lessons from a file here",
        ),
        (
            "rules act",
            |_, run| run.actor = "rules".to_owned(),
            &[],
            "a language model acts in the paper, the rule-based actor here",
        ),
        (
            "rules reflect",
            |_, run| run.mentor = "symbolic".to_owned(),
            &[],
            "a language model reflects in the paper, the symbolic rules here",
        ),
        ("some tasks", |session, _| session.episodes.truncate(60), &[], "134 tasks in the paper, 60 here"),
        // Regression: 134 copies of one game in a folder of this name counted as the paper's games.
        (
            "one type only",
            |session, _| {
                for episode in &mut session.episodes {
                    Arc::make_mut(episode).task.task_type = Some("pick_and_place_simple".to_owned());
                }
            },
            &[],
            "tasks of valid_unseen in the paper, 110 of 134 tasks here are others",
        ),
        (
            "another split",
            |session, _| Arc::make_mut(&mut session.episodes[0]).task.id = "json/valid_seen/x".to_owned(),
            &[],
            "tasks of valid_unseen in the paper, 1 of 134 tasks here are others",
        ),
    ];
    for (name, edit, figures, difference) in cases {
        let (mut session, mut run) = (alfworld_benchmark(), spec());
        edit(&mut session, &mut run);
        session.spec = Some(Arc::new(run));
        assert_eq!(published_beside(session), (figures.to_vec(), difference.to_owned()), "{name}");
    }
    let react = |mut session: SessionMetrics, edit: fn(&mut SessionMetrics, &mut RunSpec)| {
        let settings = crate::catalog::defaults("react", crate::domain::PaperOrCode::Paper).1;
        let mut run = RunSpec { method: "react".to_owned(), trials: 1, settings, ..spec() };
        edit(&mut session, &mut run);
        session.spec = Some(Arc::new(run));
        published_beside(session)
    };
    let levels = || Level::test_split().map(|(level, seed)| format!("{}/{seed}", level.name));
    // AgentBoard's accounting of thoughts is the papers' in BabyAI and PDDL.
    let (figures, differences) = react(whole_benchmark("babyai", levels(), 30), |_, _| {});
    assert!(
        figures.is_empty() && differences.contains("thoughts_count false in the paper, true here"),
        "{differences}"
    );
    let as_agentboard = |_: &mut SessionMetrics, run: &mut RunSpec| {
        run.settings.set("thoughts_count", false, SettingOrigin::Paper);
        run.settings.set("thoughts_sent", false, SettingOrigin::Paper);
        run.interface = Interface::Agentboard;
    };
    let (figures, differences) = react(whole_benchmark("babyai", levels(), 30), as_agentboard);
    assert_eq!(figures, [24.6, 45.2, 31.2], "{differences}");
    assert!(
        differences.lines().all(|line| line.starts_with("a constitution from 1 calibration task of")),
        "{differences}"
    );
    let others = whole_benchmark("babyai", (0..112).map(|seed| format!("GoToRedBall/{seed}")), 30);
    let (figures, differences) = react(others, |_, _| {});
    assert!(figures.is_empty(), "{differences}");
    assert!(
        differences.contains("the tasks of the benchmark in the paper, 112 of 112 tasks here are others"),
        "{differences}"
    );
    let generated = whole_benchmark("pddl", (0..60).map(|n| format!("gripper/{n}")), 30);
    let (figures, differences) = react(generated, |_, _| {});
    assert!(figures.is_empty() && differences.contains("60 of 60 tasks here are others"), "{differences}");
    // Regression: any 60 rows of a list counted as AgentBoard's, and any 112.
    for (env, count) in [("pddl", 60), ("babyai", 112)] {
        let (figures, differences) =
            react(whole_benchmark(env, (0..count).map(|n| format!("mine.jsonl#{n}")), 30), as_agentboard);
        let others = format!("{count} of {count} tasks here are others");
        assert!(figures.is_empty() && differences.contains(&others), "{differences}");
    }
    let repeated = whole_benchmark("babyai", (0..112).map(|n| format!("rows.jsonl#{n}")), 30);
    let (figures, differences) = react(repeated, |session, _| {
        for episode in &mut session.episodes {
            let task = &mut Arc::make_mut(episode).task;
            (task.task_type, task.seed) = (Some("GoToRedBall".to_owned()), 1234);
        }
    });
    let others = "111 of 112 tasks here are others";
    assert!(figures.is_empty() && differences.contains(others), "each task counts once: {differences}");
    // A constitution of unknown origin isn't the paper's.
    let (figures, differences) =
        react(alfworld_benchmark(), |session, _| session.started_with_lessons = true);
    assert!(figures.is_empty(), "{differences}");
    assert!(differences.contains("lessons from a file here (`--calibrate` makes one"), "{differences}");
}

#[test]
fn stand_ins_are_labelled_as_such() {
    let mut session_metrics = three_reflexion_tasks();
    let mut rules = spec();
    rules.actor = "rules".to_owned();
    session_metrics.spec = Some(Arc::new(rules));
    let text = render_metrics(&Metrics::from_sessions(vec![session_metrics]), Format::Text, true);
    assert!(text.lines().next().unwrap().contains("a stand-in, not a model"), "{text}");
    assert!(text.contains("a language model acts in the paper, the rule-based actor here"), "{text}");
    let real =
        render_metrics(&Metrics::from_sessions(vec![three_reflexion_tasks()]), Format::Markdown, false);
    assert!(!real.contains("stand"), "{real}");
    insta::assert_snapshot!("metrics_markdown", real);
}

/// Regression: a model with the default mentor of its method was called a stand-in, because ReAct and
/// OmniReflect-Symbolic have a symbolic mentor.
#[test]
fn a_recorded_mentor_counts_as_a_stand_in_only_if_called() {
    let actors = [("openai:m", false), ("rules", true), ("recorded:a.jsonl", true), ("human", false)];
    let mentors = [
        ("none", false, false),
        ("symbolic", false, false),
        ("openai:m", true, false),
        ("openai:m", false, false),
        ("recorded:b.jsonl", true, true),
        ("recorded:b.jsonl", false, false),
    ];
    for (actor, actor_is_stand_in) in actors {
        for (mentor, called, mentor_is_recorded) in mentors {
            let mut session_metrics = three_reflexion_tasks();
            session_metrics.spec =
                Some(Arc::new(RunSpec { actor: actor.to_owned(), mentor: mentor.to_owned(), ..spec() }));
            session_metrics.mentor_called = called;
            let text = render_metrics(&Metrics::from_sessions(vec![session_metrics]), Format::Text, false);
            let contains = |words: &str| text.contains(words);
            let case = format!("{actor}, {mentor}, called: {called}\n{text}");
            assert_eq!(contains("The actor is a stand-in"), actor_is_stand_in, "{case}");
            assert_eq!(contains("The mentor's replies come from a recording"), mentor_is_recorded, "{case}");
        }
    }
}

/// Regression: runs of a method that never asks an actor, or that has no mentor, were described with one, and those that
/// differed only there were not aggregated.
#[test]
fn only_roles_that_a_run_has_are_named() {
    let label_of = |spec: RunSpec| {
        let sessions = ["rules", "openai:m"].map(|unused| {
            let actor = if spec.actor.is_empty() { unused } else { &*spec.actor };
            let spec = RunSpec { actor: actor.to_owned(), ..spec.clone() };
            SessionMetrics {
                session: unused.to_owned(),
                spec: Some(Arc::new(spec)),
                ..three_reflexion_tasks()
            }
        });
        let all = Metrics::from_sessions(sessions.into());
        assert_eq!(all.len(), 1, "{:?}", all.iter().map(|m| &m.label).collect::<Vec<_>>());
        let text = render_metrics(&all, Format::Text, false);
        (all[0].label.clone(), text.contains("The actor is a stand-in"))
    };
    let planning = RunSpec {
        method: "planning".to_owned(),
        actor: String::new(),
        mentor: "openai:m".to_owned(),
        ..spec()
    };
    assert_eq!(label_of(planning.clone()), ("planning, mentor openai:m".to_owned(), false));
    // Another method plays the calibration, and asks the actor.
    let mut calibrated = RunSpec { actor: "rules".to_owned(), ..planning };
    calibrated.tasks = vec![task("a", "heat"), task("b", "heat")];
    calibrated.settings.set("calibration", 1, SettingOrigin::Flag);
    let actor = "actor rule-based (a stand-in, not a model)";
    assert_eq!(label_of(calibrated), (format!("planning, {actor}, mentor openai:m"), true));
    let react = RunSpec { method: "react".to_owned(), actor: "rules".to_owned(), ..spec() };
    assert_eq!(label_of(react), (format!("react, {actor}"), true));
}

/// Regression: a label said only how its configuration differs from the first one, so the first had no distinction.
#[test]
fn labels_of_one_method_state_what_distinguishes_them() {
    let with = |trials: u32, setting: Option<u64>| {
        let mut spec = RunSpec { trials, ..spec() };
        if let Some(value) = setting {
            spec.settings.set("own", value, SettingOrigin::Person);
        }
        SessionMetrics { spec: Some(Arc::new(spec)), ..three_reflexion_tasks() }
    };
    let labels = |sessions: &[SessionMetrics]| -> Vec<String> {
        let all = Metrics::from_sessions(sessions.to_vec());
        all.iter().map(|m| m.label.split_once(" [").map_or("", |l| l.1).to_owned()).collect()
    };
    assert_eq!(labels(&[with(3, None), with(3, None)]), [""]);
    let sessions = [with(3, Some(1)), with(3, Some(2)), with(4, None)];
    let expected = ["own=1 trials=3]", "own=2 trials=3]", "own=unset trials=4]"];
    assert_eq!(labels(&sessions), expected);
    assert_eq!(labels(&[with(4, None), with(3, Some(1)), with(3, Some(2))])[1], expected[0]);
}

#[test]
fn json_contains_the_same_numbers() {
    let text = render_metrics(&Metrics::from_sessions(vec![alfworld_benchmark()]), Format::Json, true);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["configurations"][0]["all"]["solved"], 67);
    assert_eq!(value["configurations"][0]["against_paper"]["figures"][0]["published"], 82.8);
    let text = render_metrics(&Metrics::from_sessions(vec![three_reflexion_tasks()]), Format::Json, true);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["configurations"][0]["against_paper"]["figures"].as_array().unwrap().len(), 0);
    let reasons = value["configurations"][0]["against_paper"]["differences"].to_string();
    assert!(
        reasons.contains("OmniReflect, Table 1 (Reflexion): 134 tasks in the paper, 3 here"),
        "{reasons}"
    );
}

fn runs() -> impl Strategy<Value = Vec<(u8, bool, f64, bool)>> {
    proptest::collection::vec((0_u8..6, any::<bool>(), 0.0..=1.0_f64, any::<bool>()), 1..24)
}

fn sessions_of(rows: &[(u8, bool, f64, bool)]) -> Vec<SessionMetrics> {
    rows.iter()
        .enumerate()
        .map(|(i, (id, won, progress, assisted))| {
            let kind = if id % 2 == 0 { "pick_and_place_simple" } else { "look_at_obj_in_light" };
            let mut e = episode(1, &task(&id.to_string(), kind), 1, *won, *progress);
            e.assisted = *assisted;
            session(&format!("{i:03}"), vec![e])
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rates_are_bounded_and_independent_of_input_order(rows in runs(), rotation in 0_usize..24) {
        let sessions = sessions_of(&rows);
        let metrics = single_group(sessions.clone());
        prop_assert_eq!(metrics.all.tasks + metrics.assisted, rows.len());
        for rates in metrics.by_type.values().chain([&metrics.all]) {
            for share in [rates.progress, rates.grounding].into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&share));
            }
            if let Some(s) = rates.success {
                prop_assert!(0.0 <= s.low && s.low <= s.value && s.value <= s.high && s.high <= 1.0);
            }
        }
        let solved: usize = metrics.by_type.values().map(|r| r.solved).sum();
        prop_assert_eq!(solved, metrics.all.solved);
        if let Some(a) = &metrics.aggregate {
            for i in [a.iqm, a.mean, a.median, a.optimality_gap] {
                prop_assert!(-1e-9 <= i.low && i.low <= i.high && i.high <= 1.0 + 1e-9, "{i:?}");
            }
        }
        // Sessions keep their names; only their order in the input changes.
        let mut permuted = sessions;
        let count = rotation % permuted.len();
        permuted.rotate_left(count);
        permuted.reverse();
        let again = single_group(permuted);
        prop_assert_eq!(serde_json::to_string(&metrics).unwrap(), serde_json::to_string(&again).unwrap());
    }
}

/// Returns the figures for ALFWorld of the tables 1, 4 and 5 beside a calibrated run of ReAct.
fn advised_figures(mentor: &str, settings: &[(&str, Value)]) -> Vec<(String, f64)> {
    let mut run = spec();
    (run.method, run.trials, run.mentor) = ("react".to_owned(), 1, mentor.to_owned());
    run.settings = crate::catalog::defaults("react", crate::domain::PaperOrCode::Paper).1;
    for (name, setting) in crate::catalog::defaults("omnireflect", crate::domain::PaperOrCode::Paper).1 {
        run.settings.insert_missing(&name, setting);
    }
    let mut session = alfworld_benchmark();
    run.tasks = session.episodes.iter().map(|episode| episode.task.clone()).collect();
    run.settings.set(crate::domain::CALIBRATION_SETTING, 6, SettingOrigin::Flag);
    for (name, value) in settings {
        run.settings.set(name, value.clone(), SettingOrigin::Paper);
    }
    crate::catalog::apply_mentor_defaults(mentor, &mut run.settings);
    session.spec = Some(Arc::new(run));
    let rows = compare_with_papers(&single_group(vec![session])).unwrap();
    let figures = rows.into_iter().flat_map(|row| row.figures).filter(|figure| figure.model == "GPT-4");
    figures.map(|figure| (figure.source, figure.published)).collect()
}

/// Regression: the three advisors' rows were shown alike, and the ablations of a constitution had none.
#[test]
fn figures_of_a_constitution_depend_on_who_wrote_it_and_from_what() {
    let row = |table: &str, figure: f64| (format!("OmniReflect, {table}"), figure);
    type Case = (&'static str, Vec<(&'static str, Value)>, Vec<(String, f64)>);
    let cases: [Case; 10] = [
        ("openai:qwen3-4b-instruct", vec![], vec![row("Table 1", 93.8)]),
        // Regression: other punctuation made it another model.
        ("openai:qwen3:4b", vec![], vec![row("Table 1", 93.8)]),
        ("openai:qwen3:14b", vec![], vec![]),
        ("openai:gpt-4.1", vec![], vec![]),
        ("openai:google/gemini-2.0-flash", vec![], vec![row("Table 1", 94.8)]),
        ("openai:gpt-4o", vec![], vec![row("Table 1", 96.3), row("Table 4", 96.3)]),
        ("openai:llama", vec![], vec![]),
        ("openai:gpt-4o", vec![("kind_abstract", json!(false))], vec![row("Table 4", 92.5)]),
        ("openai:gpt-4o", vec![("kind_error", json!(false))], vec![row("Table 4", 90.6)]),
        ("openai:gpt-4o", vec![("per_type", json!(5))], vec![row("Table 5", 98.5)]),
    ];
    for (mentor, settings, figures) in cases {
        assert_eq!(advised_figures(mentor, &settings), figures, "{mentor} {settings:?}");
    }
}

#[test]
fn constitution_counts_lessons_and_replies_that_could_not_be_read() {
    let mut session_metrics = three_reflexion_tasks();
    let reply = |kind, items: &[&str], complaints: &[&str]| {
        let item =
            |words: &&str| ReflectionItem { text: LessonText::plain(*words), ..ReflectionItem::default() };
        let items = items.iter().map(item).collect();
        let complaints = complaints.iter().map(|words| (*words).to_owned()).collect();
        let reflection = Reflection::new(kind, crate::domain::Author::Mentor, (1, 10), items);
        Arc::new(Reflection { complaints, ..reflection })
    };
    session_metrics.reflections = vec![
        reply(ReflectionKind::Abstract, &["one"], &[]),
        reply(ReflectionKind::Error, &["one"], &["not a list"]),
        reply(ReflectionKind::Error, &[], &["nothing could be read"]),
        reply(ReflectionKind::Progress, &["one", "two", "three"], &[]),
        // An empty list is a good answer.
        reply(ReflectionKind::Error, &[], &[]),
    ];
    session_metrics.constitution = ConstitutionSize { abstract_lessons: 4, error_lessons: 1 };
    let episodes = session_metrics.episodes.len() as f64;
    let other = SessionMetrics { session: "t".to_owned(), ..three_reflexion_tasks() };
    let metrics = single_group(vec![session_metrics, other]);
    let stats = metrics.constitution.as_ref().unwrap();
    assert_eq!((stats.abstract_lessons, stats.error_lessons), (2.0, 0.5), "means over two sessions");
    assert_eq!((stats.replies, stats.malformed, stats.unreadable), (5, 2, 1));
    assert!((stats.progress_per_episode - 3.0 / (2.0 * episodes)).abs() < 1e-12);
    let text = render_metrics(&[metrics], Format::Text, false);
    assert!(text.contains("replies partly unreadable %") && text.contains("40.0   2 of 5 replies"), "{text}");
    let none = single_group(vec![three_reflexion_tasks()]);
    assert_eq!(none.constitution, None);
}

/// Regression: a method with kinds of its own was shown a constitution of three kinds that it doesn't have, all 0.
#[test]
fn a_method_with_other_kinds_is_shown_these_instead_of_a_constitution() {
    let mut session_metrics = three_reflexion_tasks();
    let item = ReflectionItem { text: LessonText::plain("Look up."), ..ReflectionItem::default() };
    let items = vec![item; 2 * session_metrics.episodes.len()];
    let reflection = Reflection::new(ReflectionKind::Advice, crate::domain::Author::Mentor, (1, 3), items);
    session_metrics.reflections = vec![Arc::new(reflection)];
    session_metrics.constitution = ConstitutionSize::default();
    let text = render_metrics(&[single_group(vec![session_metrics])], Format::Text, false);
    assert!(!text.contains("constitution") && !text.contains("Progress items"), "{text}");
    assert!(text.contains("Advice items written") && text.contains("2.0    mean over episodes"), "{text}");
}

/// OmniReflect's figure on call efficiency: success against calls, by trial.
#[test]
fn each_trial_has_its_cost() {
    let reflexion = three_reflexion_tasks();
    let calls =
        |last: u32| -> u32 { reflexion.episodes.iter().filter(|e| e.trial <= last).map(|e| e.calls).sum() };
    let expected: Vec<f64> = (1..=3).map(|trial| f64::from(calls(trial)) / 3.0).collect();
    let one_trial = SessionMetrics {
        session: "t".to_owned(),
        spec: Some(Arc::new(RunSpec { trials: 1, ..spec() })),
        episodes: reflexion.episodes.iter().filter(|e| e.trial == 1).cloned().collect(),
        ..SessionMetrics::default()
    };
    let all = Metrics::from_sessions(vec![reflexion, one_trial]);
    let costs: Vec<f64> = all[0].by_trial.iter().map(|trial| trial.calls_per_task_so_far).collect();
    assert_eq!(costs, expected);
    let text = render_metrics(&all, Format::Text, false);
    let series: Vec<&str> =
        text.lines().skip_while(|line| !line.contains("call efficiency")).take(5).collect();
    assert_eq!(series.iter().filter(|line| line.contains("trials=15")).count(), 3, "{text}");
    assert_eq!(series.iter().filter(|line| line.contains("trials=1]")).count(), 1, "{text}");
}

/// Regression: a report counted the episodes at which the environment failed, and didn't say which.
#[test]
fn a_report_names_the_tasks_at_which_the_environment_failed() {
    let failed = |number: u32, id: &str, trial: u32| EpisodeSummary {
        reason: EndReason::EnvDied,
        ..episode(number, &task(id, "pick"), trial, false, 0.0)
    };
    let played = vec![
        episode(1, &task("won", "pick"), 1, true, 1.0),
        failed(2, "boil/21", 1),
        failed(3, "melt/3", 1),
        failed(4, "boil/21", 2),
    ];
    let metrics = Metrics::from_sessions(vec![session("a", played)]);
    let text = render_metrics(&metrics, Format::Text, false);
    let line = "Episodes at which the environment failed, excluded from rates: 3 (boil/21, melt/3).";
    assert!(text.contains(line), "{text}");
    let json: Value = serde_json::from_str(&render_metrics(&metrics, Format::Json, false)).unwrap();
    let group = &json["configurations"][0];
    assert_eq!(
        (&group["env_failures"], &group["env_failed_tasks"]),
        (&json!(3), &json!(["boil/21", "melt/3"]))
    );
    // More than fit are counted.
    let many = (0..25).map(|n| failed(n + 1, &format!("task {n:02}"), 1)).collect();
    let text = render_metrics(&Metrics::from_sessions(vec![session("a", many)]), Format::Text, false);
    assert!(text.contains("task 18, task 19 and 5 more)."), "{text}");
}
