//! Calibration, and the cost and effect of a constitution afterwards (co-operative mode).

use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{
    CALIBRATION_SETTING, EXPLORATION_SETTING, EpisodeRole, Job, LessonStatus, LessonText, PaperOrCode,
    Purpose, ReflectionKind, RunSpec, Scope, SegmentLabel, SettingOrigin,
};
use crate::engine::{Computed, Intent, LessonCommand, Method, State};
use crate::method::WithCalibration;
use crate::prompt::render;
use std::sync::Arc;

const GOAL: &str = "put a hot apple in garbagecan";

/// Returns a run that begins with `calibrate` calibration tasks and `explore` exploration tasks.
fn calibrated_spec(method: &str, tasks: &[(&str, &str)], calibrate: u64, explore: u64) -> RunSpec {
    let mut spec = test_spec(method, tasks);
    spec.settings = {
        let mut settings = crate::catalog::defaults("omnireflect", PaperOrCode::Paper).1;
        settings.extend(spec.settings);
        settings
    };
    spec.settings.set(CALIBRATION_SETTING, calibrate, SettingOrigin::Flag);
    spec.settings.set(EXPLORATION_SETTING, explore, SettingOrigin::Flag);
    spec.limits.steps = 12;
    spec
}

fn neural(mut spec: RunSpec) -> RunSpec {
    spec.mentor = "script".to_owned();
    spec.settings.set("generation", "neural", SettingOrigin::Flag);
    spec
}

/// Starts a run with a mentor whose answers are all different.
fn start_run(spec: RunSpec, pool: Vec<(String, LessonCommand)>) -> TestRun {
    let mut test_run = TestRun::with_pool(spec, pool);
    let mut count = 0;
    test_run.mentor = Box::new(move |prompt| {
        count += 1;
        match prompt.question.map(|q| q.kind) {
            Some(ReflectionKind::Error) => {
                format!("[{{'mistake': 'Mistake {count}.', 'solution': 'Remedy {count}.'}}]")
            }
            _ => format!("['Said {count}.']"),
        }
    });
    test_run
}

fn constitution() -> Vec<(String, LessonCommand)> {
    let add = |kind, text| {
        ("c.jsonl".to_owned(), LessonCommand::add(kind, Scope::Environment, text, String::new()))
    };
    vec![
        add(ReflectionKind::Abstract, LessonText::plain("Apples are in the fridge.")),
        add(
            ReflectionKind::Error,
            LessonText::error("Heated in the fridge.", "Heat food in a microwave only."),
        ),
    ]
}

#[test]
fn calibration_and_exploration_come_first_and_only_once() {
    use EpisodeRole::{Calibrate, Explore, Test};
    for method in ["react", "omnireflect", "reflexion", "fcrf", "sweet_sour"] {
        let mut spec =
            neural(calibrated_spec(method, &[("a", ""), ("b", ""), ("a", ""), ("t", ""), ("a", "")], 2, 1));
        spec.trials = 1;
        spec.limits.steps = 1;
        let mut test_run = start_run(spec, Vec::new());
        test_run.play_script(&mut FakeHousehold::kitchen(GOAL), &["inventory"; 20]);
        let played: Vec<_> =
            test_run.state().ended_episodes.iter().map(|e| (e.task.id.as_str(), e.role, e.trial)).collect();
        let expected =
            [("a", Calibrate, 1), ("b", Calibrate, 1), ("a", Explore, 1), ("t", Test, 1), ("a", Test, 1)];
        assert_eq!(played, expected, "{method}: a calibration doesn't count as a trial");
        assert!(test_run.state().run_over);
    }
}

#[test]
fn each_episode_role_has_its_own_kinds_of_reflections() {
    let mut spec = neural(calibrated_spec("react", &[("a", ""), ("a", ""), ("t", "")], 1, 1));
    spec.settings.set("summary_after_calibration", false, SettingOrigin::Flag);
    let mut test_run = start_run(spec, Vec::new());
    test_run.play_script(&mut FakeHousehold::kitchen(GOAL), &["look"; 60]);
    let asked = |episode: u32| -> Vec<(u32, ReflectionKind)> {
        let prompts = test_run.prompts.iter().filter(|(_, p)| p.episode == episode);
        prompts
            .filter_map(|(_, p)| Some((p.step, p.question.filter(|q| q.purpose == Purpose::Reflect)?.kind)))
            .collect()
    };
    let (error, abstract_kind) = (ReflectionKind::Error, ReflectionKind::Abstract);
    assert_eq!(
        asked(1),
        [(1, error), (1, abstract_kind), (11, error), (11, abstract_kind)],
        "no Progress lessons, because they are dropped when the episode ends"
    );
    assert_eq!(asked(2), [(1, abstract_kind), (11, abstract_kind)]);
    assert_eq!(asked(3), [], "ReAct calls no mentor");
    let usage = test_run.state().usage;
    assert_eq!((usage.actor_calls, usage.mentor_calls), (3 * 12, 6));
    let body = |(state, record): &(_, _)| render(state, record).body();
    let explored = test_run.prompts.iter().filter(|(_, p)| p.episode == 2).map(body).collect::<Vec<_>>();
    assert!(explored.iter().all(|b| !b.contains(GOAL)), "{}", explored[0]);
    assert!(
        explored[0].contains("explore") && explored[0].contains("you see a stoveburner 1"),
        "{}",
        explored[0]
    );
    let tested = test_run.prompts.iter().filter(|(_, p)| p.episode == 3).map(body).next().unwrap();
    assert!(
        tested.contains(GOAL) && tested.contains("- Said 2.") && tested.contains("Mistake 1."),
        "{tested}"
    );
}

/// Regression: `s_freq` counted test tasks only, so that a calibration of twelve tasks left 48 rules in every prompt.
#[test]
fn a_calibration_is_summarised_on_the_way_and_at_its_end() {
    let tasks: Vec<String> = (0..5).map(|n| format!("t{n}")).collect();
    let tasks: Vec<(&str, &str)> = tasks.iter().map(|t| (t.as_str(), "")).collect();
    // After which episodes summaries are asked for; 3 tasks are played, 1 is explored, 1 is tested.
    for (s_freq, at_end, expected) in
        [(2, true, vec![2, 4]), (3, true, vec![3, 4]), (3, false, vec![3]), (0, true, vec![])]
    {
        let mut spec = neural(calibrated_spec("react", &tasks, 3, 1));
        spec.limits.steps = 1;
        spec.settings.set("s_freq", s_freq, SettingOrigin::Flag);
        spec.settings.set("summary_after_calibration", at_end, SettingOrigin::Flag);
        let mut test_run = start_run(spec, Vec::new());
        test_run.play_script(&mut FakeHousehold::kitchen(GOAL), &["look"; 5]);
        let state = test_run.state();
        assert_eq!(state.ended_episodes.len(), 5);
        let summaries = state.reflections.iter().filter(|r| r.purpose == Purpose::Summarise);
        let mut episodes: Vec<u32> = summaries.map(|r| r.episode).collect();
        episodes.dedup();
        assert_eq!(episodes, expected, "{s_freq} {at_end}");
    }
}

#[test]
fn rules_calibrate_without_a_model() {
    let mut test_run =
        TestRun::new(calibrated_spec("react", &[("a", "pick_heat_then_place_in_recep"), ("t", "")], 1, 0));
    test_run.play_script(
        &mut FakeHousehold::kitchen(GOAL),
        &["go to fridge 1", "take apple 2 from fridge 1", "open fridge 1", "take apple 2 from fridge 1"],
    );
    let state = test_run.state();
    assert_eq!(state.usage.mentor_calls, 0);
    let texts_of_kind =
        |kind| state.pool.active_of_kind(kind).map(|l| l.text().normalized()).collect::<Vec<_>>();
    assert_eq!(
        texts_of_kind(ReflectionKind::Abstract),
        ["look for an apple in/on a fridge first", "look inside closed containers too"]
    );
    assert_eq!(
        texts_of_kind(ReflectionKind::Error),
        ["open a closed container before you take something from it or put something in it"]
    );
    assert_eq!(texts_of_kind(ReflectionKind::Progress), Vec::<String>::new());
}

#[test]
fn a_constitution_costs_no_mentor_calls() {
    // Co-operative ReAct (docs/METHODS.md): at most 50 calls, all of them to the actor.
    let mut test_run = start_run(test_spec("react", &[("a", "")]), constitution());
    test_run.play_script(&mut FakeHousehold::kitchen(GOAL), &["look"; 60]);
    let usage = test_run.state().usage;
    assert_eq!((usage.actor_calls, usage.mentor_calls), (50, 0));
    for (state, record) in &test_run.prompts {
        let prompt = render(state, record);
        let count_lines =
            |label| prompt.segments.iter().filter(|s| s.label == label && s.text.starts_with("- ")).count();
        assert_eq!(
            (
                count_lines(SegmentLabel::Abstract),
                count_lines(SegmentLabel::Error),
                count_lines(SegmentLabel::Progress)
            ),
            (1, 1, 0)
        );
    }
    assert_eq!(test_run.state().pool.len(), 2, "nothing is learned");
}

#[test]
fn constitution_and_reflection_can_be_combined() {
    let mut spec = neural(test_spec("omnireflect", &[("a", "")]));
    spec.settings.set("s_freq", 0, SettingOrigin::Flag);
    let mut test_run = start_run(spec, constitution());
    test_run.play_script(&mut FakeHousehold::kitchen(GOAL), &["look"; 60]);
    let state = test_run.state();
    assert_eq!((state.usage.actor_calls, state.usage.mentor_calls), (50, 15));
    assert_eq!(state.pool.active_of_kind(ReflectionKind::Abstract).count(), 1 + 5);
    assert_eq!(state.pool.active_of_kind(ReflectionKind::Error).count(), 1 + 5);
    let (state, record) = test_run.prompts.iter().rfind(|(_, p)| p.question.is_none()).unwrap();
    let body = render(state, record).body();
    let at = |text: &str| body.find(text).unwrap_or_else(|| panic!("{text} is not in {body}"));
    assert!(at("Apples are in the fridge.") < at("- Said 2."), "loaded lessons come before learned ones");
}

#[test]
fn a_second_trial_keeps_the_constitution_and_begins_without_progress() {
    let mut spec = neural(test_spec("omnireflect", &[("a", ""), ("b", "")]));
    spec.trials = 2;
    spec.limits.steps = 3;
    let mut test_run = start_run(spec, constitution());
    test_run.play_script(&mut FakeHousehold::kitchen(GOAL), &["look"; 60]);
    let played: Vec<_> =
        test_run.state().ended_episodes.iter().map(|e| (e.task.id.as_str(), e.trial)).collect();
    assert_eq!(played, [("a", 1), ("a", 2), ("b", 1), ("b", 2)]);
    for episode in 2..=4 {
        let (state, record) = test_run.prompts.iter().find(|(_, p)| p.episode == episode).unwrap();
        let prompt = render(state, record);
        let count_lines =
            |label| prompt.segments.iter().filter(|s| s.label == label && s.text.starts_with("- ")).count();
        let learned = episode as usize - 1;
        assert_eq!(
            (
                count_lines(SegmentLabel::Abstract),
                count_lines(SegmentLabel::Error),
                count_lines(SegmentLabel::Progress)
            ),
            (1 + learned, 1 + learned, 0),
            "episode {episode}"
        );
    }
    let retired = test_run
        .state()
        .pool
        .all()
        .filter(|l| l.kind == ReflectionKind::Abstract && l.status == LessonStatus::Retired);
    assert_eq!(retired.count(), 0);
}

/// Regression: the wrapper dropped results of jobs, so that the method requested the same job for ever.
#[test]
fn the_results_of_jobs_reach_the_method() {
    struct Computing;
    impl Method for Computing {
        fn name(&self) -> &'static str {
            "computing"
        }
        fn next(&self, _: &State) -> Vec<Intent> {
            Vec::new()
        }
        fn reflect_now(&self, _: &State, _: ReflectionKind) -> Vec<Intent> {
            Vec::new()
        }
        fn on_computed(&self, _: &State, _: &Computed<'_>) -> Vec<Intent> {
            vec![Intent::SetMemory(serde_json::json!(1))]
        }
    }
    let method = WithCalibration { tested: Arc::new(Computing), calibration: Arc::new(Computing) };
    let job = Job { name: "fit".to_owned(), inputs: serde_json::Value::Null };
    let intents = method.on_computed(&State::default(), &Computed { job: &job, result: None });
    assert_eq!(intents, [Intent::SetMemory(serde_json::json!(1))]);
}
