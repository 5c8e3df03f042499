//! Episodes without a session.

use retrospect::catalog;
use retrospect::domain::{
    Autonomy, Interface, PaperOrCode, RunSpec, SettingOrigin, StepResult, Task, TrialInfo,
};
use retrospect::driver::worlds;
use retrospect::env::{EnvError, Environment, TaskOptions};
use std::sync::Arc;

/// A test's name and function. It panics if it fails.
pub(crate) type Test = (&'static str, fn());

pub(crate) const TESTS: &[Test] = &[
    ("the data set's own solutions win", solutions_win),
    ("a wrong program is told what its tests gave", wrong_programs_get_feedback),
    ("only tests are kept, as many as wanted", only_tests_are_kept),
    ("hidden tests may wait for the own ones", hidden_tests_may_wait),
    ("with retry_on=own the hidden tests judge what passes, and the last trial", own_tests_decide),
    ("what is hidden is shown to nobody", hidden_tests_stay_hidden),
    ("rows that can't be judged are refused", rows_are_refused),
    ("without a sandbox every result says so", unsandboxed_results_say_so),
];

/// Returns options with values of the environment.
pub(crate) fn options(values: &[(&'static str, &str)]) -> TaskOptions {
    TaskOptions {
        chosen: values.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
        ..TaskOptions::default()
    }
}

pub(crate) fn task(id: &str) -> Task {
    Task {
        env: "programming".to_owned(),
        id: id.to_owned(),
        goal: String::new(),
        task_type: None,
        difficulty: None,
        seed: 0,
    }
}

/// Returns why no program can be run here.
pub(crate) fn check() -> Result<(), String> {
    open("count-steps", &[]).map(drop).map_err(|error| error.to_string())
}

fn open(id: &str, values: &[(&'static str, &str)]) -> Result<Box<dyn Environment>, EnvError> {
    let mut environment = worlds::open(&task(id), &options(values))?;
    environment.reset()?;
    Ok(environment)
}

/// Plays actions and returns the last result.
pub(crate) fn play(id: &str, values: &[(&'static str, &str)], actions: &[&str]) -> StepResult {
    let mut environment = open(id, values).unwrap();
    let results: Vec<StepResult> = actions.iter().map(|action| environment.step(action).unwrap()).collect();
    results.into_iter().next_back().unwrap()
}

/// A program that wins `count-steps`.
pub(crate) const RIGHT: &str =
    "```python\ndef count_steps(heights):\n    return sum(b > a for a, b in zip(heights, heights[1:]))\n```";
const WRONG: &str = "code\ndef count_steps(heights):\n    return len(heights)";

fn solutions_win() {
    let options = TaskOptions::default();
    let selection = worlds::Selection::default();
    let tasks = worlds::list_tasks("programming", &selection, &options).unwrap();
    assert_eq!(tasks.len(), 10);
    for task in tasks {
        let mut environment = worlds::open(&task, &options).unwrap();
        let first = environment.reset().unwrap();
        let solution = first.truth["solution"].as_str().unwrap();
        let result = environment.step(&format!("code\n{}\n{solution}", first.observation)).unwrap();
        assert!(result.won && result.done, "{}: {}", task.id, result.truth);
        assert!(result.reward > 0.5);
    }
}

fn wrong_programs_get_feedback() {
    let values = [("programming.max_tests", "5")];
    let tests = "tests\nassert count_steps([]) == 0\nassert count_steps([1, 2]) == 1\nassert count_steps(None) == 1\nassert not count_steps([1])";
    let result = play("count-steps", &values, &[tests, WRONG]);
    assert_eq!(
        result.observation,
        "Tested passed:\nassert count_steps([]) == 0\n\nTests failed:\nassert count_steps([1, 2]) == 1 # output: 2\n\
         assert count_steps(None) == 1 # output: TypeError: object of type 'NoneType' has no len()\n\
         assert not count_steps([1]) # output: False"
    );
    assert_eq!((result.won, result.done, result.valid), (false, true, true));
    assert_eq!(result.shown["own_tests_passed"], false);
    let right = play("count-steps", &values, &["assert count_steps([1, 2]) == 1", RIGHT]);
    assert_eq!(right.observation, "Tested passed:\nassert count_steps([1, 2]) == 1\n\nTests failed:");
    assert!(right.won && right.shown["own_tests_passed"] == true);
}

fn only_tests_are_kept() {
    let tests = "tests\nassert f(1) == 1\nassert (\nassert f(2) == 2; import os\nx = 'assert'\nassert f(3)";
    let result = play("count-steps", &[("programming.max_tests", "9")], &[tests]);
    assert_eq!(result.observation, "Kept 2 of 5 tests\nassert f(1) == 1\nassert f(3)");
    assert!(!result.done);
    let one = |seed: u64| {
        let options = TaskOptions { seed, ..options(&[]) };
        let mut environment = worlds::open(&task("count-steps"), &options).unwrap();
        environment.reset().unwrap();
        environment.step("tests\nassert f(1)\nassert f(2)\nassert f(3)\nassert f(4)").unwrap().observation
    };
    let drawn: std::collections::BTreeSet<String> = (0..12).map(one).collect();
    assert!(drawn.len() > 1 && one(3) == one(3), "{drawn:?}");
    let again = play("count-steps", &[], &["assert f(1)", "assert f(2)"]);
    assert!(!again.valid && !again.done, "{}", again.observation);
    // A program without tests counts as having passed them.
    let alone = play("count-steps", &[], &[RIGHT]);
    assert!(alone.won && alone.shown["own_tests_passed"] == true);
}

fn hidden_tests_may_wait() {
    let own = "assert count_steps([1, 2]) == 9";
    for (when, won, hidden) in [("always", true, "passed"), ("own-tests-passed", false, "not run")] {
        let result = play("count-steps", &[("programming.judge", when)], &[own, RIGHT]);
        assert_eq!((result.won, result.truth["hidden_result"].as_str()), (won, Some(hidden)), "{when}");
    }
}

fn own_tests_decide() {
    let run = |word: &str| {
        let (limits, mut settings, loop_detector) = catalog::defaults("reflexion", PaperOrCode::Paper);
        settings.set("retry_on", word, SettingOrigin::Flag);
        Some(Arc::new(RunSpec {
            method: "reflexion".to_owned(),
            actor: "human".to_owned(),
            mentor: "none".to_owned(),
            interface: Interface::React,
            tasks: vec![task("count-steps")],
            trials: 3,
            seed: 0,
            autonomy: Autonomy::Human,
            limits,
            loop_detector,
            settings,
        }))
    };
    let (passing, failing) = ("assert count_steps([1, 2]) == 1", "assert count_steps([1, 2]) == 9");
    // The program passes the hidden tests. Setting, whether it is the last trial, the agent's test: won, hidden tests, and
    // whether the task ends.
    let cases = [
        ("own", false, passing, true, "passed", true),
        ("own", false, failing, false, "not run", false),
        ("own", true, failing, true, "passed", false),
        ("hidden", false, passing, true, "passed", false),
        ("hidden", false, failing, true, "passed", false),
    ];
    for (word, is_last, test, won, hidden, ends_task) in cases {
        let mut environment = worlds::open(&task("count-steps"), &options(&[])).unwrap();
        environment.set_trial(TrialInfo { is_last, run: run(word) });
        environment.reset().unwrap();
        environment.step(test).unwrap();
        let result = environment.step(RIGHT).unwrap();
        assert_eq!(
            (result.won, result.truth["hidden_result"].as_str(), result.shown["ends_task"] == true),
            (won, Some(hidden), ends_task),
            "{word} {is_last} {test}"
        );
        assert!(result.done);
    }
}

fn hidden_tests_stay_hidden() {
    let mut environment = open("count-steps", &[]).unwrap();
    let first = environment.reset().unwrap();
    let hidden = first.truth["hidden_tests"].as_str().unwrap().to_owned();
    let line = hidden.lines().nth(2).unwrap().trim();
    assert!(line.starts_with("assert candidate("), "{line}");
    for action in ["hm", "assert count_steps([]) == 0", WRONG] {
        let result = environment.step(action).unwrap();
        let visible = format!("{} {}", result.observation, result.shown);
        assert!(!visible.contains("candidate") && !visible.contains(line), "{action}: {visible}");
    }
}

fn rows_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hard.jsonl");
    std::fs::write(&file, "{\"task_id\":\"a\",\"prompt\":\"p\",\"entry_point\":\"f\",\"test\":\"\"}\n")
        .unwrap();
    let selection =
        worlds::Selection { list: Some(file.to_str().unwrap().to_owned()), ..worlds::Selection::default() };
    let tasks = worlds::list_tasks("programming", &selection, &options(&[])).unwrap();
    assert_eq!((tasks.len(), tasks[0].task_type.as_deref()), (1, Some("hard")));
    let error = worlds::open(&tasks[0], &options(&[])).err().unwrap();
    assert!(error.to_string().contains("has no tests"), "{error}");
}

fn unsandboxed_results_say_so() {
    let options = TaskOptions {
        local_words: [("programming.sandbox", "none".to_owned())].into(),
        ..TaskOptions::default()
    };
    let mut environment = worlds::open(&task("count-steps"), &options).unwrap();
    assert_eq!(environment.reset().unwrap().shown["unsandboxed"], true);
    let result = environment.step(RIGHT).unwrap();
    assert!(result.won && result.observation.ends_with("(run without a sandbox)"), "{}", result.observation);
}
