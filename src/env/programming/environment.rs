//! An exercise as an environment.

use super::action::{Action, parse};
use super::exercise::Exercise;
use super::judge::{HIDDEN_LIMIT, Outcome, TEST_LIMIT, check_tests, run_test, tested_value};
use super::retry_on::{RETRY_ON, RetryOn};
use super::sandbox::Sandbox;
use crate::domain::{ENDS_TASK, EnvInfo, LOST_BECAUSE, ListingCost, StepResult, TrialInfo};
use crate::env::labelled_rng::LabelledRng;
use crate::env::{EnvError, Environment};
use serde_json::{Map, Value, json};

const OVER: &str = "The program has been judged.";
const UNKNOWN: &str = "Neither tests nor a program: write assertions, or a whole program between ``` lines.";
/// What follows the results of a program that was run without bubblewrap.
const UNSANDBOXED: &str = "\n\n(run without a sandbox)";
const TESTS_AGAIN: &str = "The tests have been chosen already: write the program.";

/// When the hidden tests are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JudgeWhen {
    /// With every program.
    Always,
    /// With a program that passes the agent's own tests.
    OwnTestsPassed,
}

impl JudgeWhen {
    pub(super) const WORDS: &'static [&'static str] = &["always", "own-tests-passed"];

    pub(super) fn from_word(word: &str) -> Self {
        if word == "own-tests-passed" { Self::OwnTestsPassed } else { Self::Always }
    }
}

/// How an exercise is played.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlayOptions {
    /// How many of the agent's tests are kept.
    pub(super) max_tests: usize,
    pub(super) judge_when: JudgeWhen,
    /// Decides which tests are kept.
    pub(super) seed: u64,
}

/// A program to write.
pub(super) struct ProgrammingEnvironment {
    exercise: Exercise,
    sandbox: Sandbox,
    options: PlayOptions,
    trial: TrialInfo,
    /// `None` until the agent has written tests.
    kept_tests: Option<Vec<String>>,
    is_over: bool,
    has_won: bool,
}

/// The result of one of the agent's tests: what the tested expression has given, if the test has failed.
struct TestResult {
    test: String,
    failure: Option<String>,
}

impl ProgrammingEnvironment {
    pub(super) fn new(exercise: Exercise, sandbox: Sandbox, options: PlayOptions) -> Self {
        let trial = TrialInfo::default();
        Self { exercise, sandbox, options, trial, kept_tests: None, is_over: false, has_won: false }
    }

    fn result(&self, observation: String, valid: bool, shown: Value, truth: Value) -> StepResult {
        StepResult {
            observation,
            reward: f64::from(self.has_won),
            progress: f64::from(self.has_won),
            done: self.is_over,
            won: self.has_won,
            valid,
            shown,
            truth,
        }
    }

    fn refuse(&self, why: &str) -> StepResult {
        self.result(why.to_owned(), false, Value::Null, Value::Null)
    }

    /// Keeps some of the lines that are tests.
    fn keep_tests(&mut self, lines: &[String]) -> Result<StepResult, EnvError> {
        if self.kept_tests.is_some() {
            return Ok(self.refuse(TESTS_AGAIN));
        }
        let are_tests = check_tests(&self.sandbox, lines)?;
        let valid: Vec<&String> =
            lines.iter().zip(&are_tests).filter(|(_, is_test)| **is_test).map(|(line, _)| line).collect();
        let mut places: Vec<usize> = (0..valid.len()).collect();
        if places.len() > self.options.max_tests {
            let label = format!("tests {} {}", self.exercise.id, self.options.seed);
            LabelledRng::from_label(&label).shuffle(&mut places);
            places.truncate(self.options.max_tests);
            places.sort_unstable();
        }
        let kept: Vec<String> = places.iter().filter_map(|at| Some((*valid.get(*at)?).clone())).collect();
        let intro = format!("Kept {} of {} tests", kept.len(), lines.len());
        let observation = std::iter::once(intro).chain(kept.iter().cloned()).collect::<Vec<_>>().join("\n");
        let shown = json!({ "tests": kept });
        self.kept_tests = Some(kept);
        Ok(self.result(observation, true, shown, Value::Null))
    }

    /// Runs a program against the agent's tests, then against the hidden ones.
    fn judge(&mut self, program: &str) -> Result<StepResult, EnvError> {
        let tests = self.kept_tests.clone().unwrap_or_default();
        let mut results = Vec::new();
        for test in tests {
            let failure = match run_test(&self.sandbox, program, &test, TEST_LIMIT)? {
                Outcome::Passed => None,
                Outcome::Failed(_) => Some(tested_value(&self.sandbox, program, &test)?),
            };
            results.push(TestResult { test, failure });
        }
        let own_tests_passed = results.iter().all(|result| result.failure.is_none());
        let own_tests_decide = self.trial.setting(RETRY_ON) == RetryOn::Own;
        let judges_failed =
            if own_tests_decide { self.trial.is_last } else { self.options.judge_when == JudgeWhen::Always };
        let hidden = if own_tests_passed || judges_failed {
            Some(run_test(&self.sandbox, program, &self.exercise.hidden_tests, HIDDEN_LIMIT)?)
        } else {
            None
        };
        self.is_over = true;
        self.has_won = hidden == Some(Outcome::Passed);
        let shown_results: Vec<Value> = results
            .iter()
            .map(|result| json!({ "test": result.test, "passed": result.failure.is_none(), "output": result.failure }))
            .collect();
        let mut shown = json!({
            "program": program,
            "results": shown_results,
            "own_tests_passed": own_tests_passed,
        });
        if own_tests_decide && own_tests_passed {
            shown[ENDS_TASK] = true.into();
        }
        if !self.has_won {
            let failed =
                if hidden.is_some() { "hidden tests failed" } else { "the agent's own tests failed" };
            shown[LOST_BECAUSE] = failed.into();
        }
        let hidden_text = match hidden {
            Some(Outcome::Passed) => "passed".to_owned(),
            Some(Outcome::Failed(why)) => format!("failed: {why}"),
            None => "not run".to_owned(),
        };
        let mut observation = feedback(&results);
        if !self.sandbox.is_closed {
            // Whoever reads a transcript or an export must know it, too.
            observation.push_str(UNSANDBOXED);
        }
        Ok(self.result(observation, true, shown, json!({ "hidden_result": hidden_text })))
    }
}

/// Returns what the agent is told about its tests, as in Reflexion's code.
fn feedback(results: &[TestResult]) -> String {
    let mut text = String::from("Tested passed:");
    for result in results.iter().filter(|result| result.failure.is_none()) {
        text.push('\n');
        text.push_str(&result.test);
    }
    text.push_str("\n\nTests failed:");
    for result in results {
        if let Some(output) = &result.failure {
            text.extend(["\n", &result.test, " # output: ", output]);
        }
    }
    text
}

impl Environment for ProgrammingEnvironment {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: false, deterministic: true, listing_cost: ListingCost::Free }
    }

    fn set_trial(&mut self, trial: TrialInfo) {
        self.trial = trial;
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        (self.kept_tests, self.is_over, self.has_won) = (None, false, false);
        let mut shown = Map::new();
        shown.insert("goal".to_owned(), self.exercise.goal().into());
        if !self.sandbox.is_closed {
            shown.insert("unsandboxed".to_owned(), true.into());
        }
        let truth = json!({ "hidden_tests": self.exercise.hidden_tests, "solution": self.exercise.solution });
        Ok(self.result(self.exercise.prompt.trim_end().to_owned(), true, shown.into(), truth))
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        if self.is_over {
            return Ok(self.refuse(OVER));
        }
        match parse(action) {
            Action::Tests(lines) => self.keep_tests(&lines),
            Action::Program(program) => self.judge(&program),
            Action::Think => Ok(self.result("OK.".to_owned(), true, Value::Null, Value::Null)),
            Action::Unknown => Ok(self.refuse(UNKNOWN)),
        }
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        Ok(Vec::new())
    }

    fn hint(&mut self) -> Result<Option<String>, EnvError> {
        Ok(Some(match &self.exercise.solution {
            Some(solution) => format!("the data set's solution:\n{}", solution.trim_end()),
            None => "the data set has no solution of this exercise".to_owned(),
        }))
    }

    fn world_summary(&self) -> Value {
        json!({ "tests": self.kept_tests, "judged": self.is_over })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_feedback_is_that_of_reflexion_s_code() {
        let result = |test: &str, failure: Option<&str>| TestResult {
            test: test.to_owned(),
            failure: failure.map(str::to_owned),
        };
        let results = [
            result("assert f(1) == 1", None),
            result("assert f(2) == 3", Some("2")),
            result("assert f(3)", Some("TIMEOUT")),
        ];
        assert_eq!(
            feedback(&results),
            "Tested passed:\nassert f(1) == 1\n\nTests failed:\nassert f(2) == 3 # output: 2\nassert f(3) # output: TIMEOUT"
        );
        assert_eq!(feedback(&[]), "Tested passed:\n\nTests failed:");
    }
}
