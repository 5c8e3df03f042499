//! `lessons test`: replays the decisions that were kept as tests, with the lessons of a pool and any actor.

mod flips;
mod replay;

use super::args::LessonTestArgs;
use super::bounded;
use super::config::{Config, keys};
use super::error::{CliError, CliErrorKind};
#[cfg(feature = "tui")]
use super::models;
use super::output::Output;
use super::pool;
use crate::domain::pluralize;
#[cfg(feature = "tui")]
use crate::files;
use crate::lesson_test::{LessonTest, parse_tests};
use crate::report::metrics::wilson;
use flips::{Flip, PastResult, PastResults, find_flip};
use replay::{Replay, Replies};
use serde_json::json;
#[cfg(feature = "tui")]
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The most replies that `--samples` may ask for.
const MAX_SAMPLES: u32 = 1000;

/// What replaces the lessons of the tests.
pub(super) enum Lessons {
    /// Nothing: the prompts are as they were kept.
    Kept,
    /// The active lessons of this pool file.
    Pool(PathBuf),
}

/// Returns the file of the tests next to a pool file.
pub(super) fn tests_path(pool: &Path) -> PathBuf {
    pool.with_file_name("tests.jsonl")
}

/// Appends a test to a file. Returns what was done.
///
/// # Errors
/// Returns a message if the test contains a key of a model server, is kept already, or can't be written.
#[cfg(feature = "tui")]
pub(super) fn keep_test(config: &Config, path: &Path, test: &LessonTest) -> Result<String, String> {
    let line = serde_json::to_string(test).map_err(|error| error.to_string())?;
    if models::contains_model_server_secret(config, std::slice::from_ref(&line)) {
        return Err(
            "the prompt contains the key of a model server, and tests are meant to be shared".to_owned()
        );
    }
    let failed = |error: std::io::Error| format!("{}: could not be written: {error}", path.display());
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        files::create_folder(folder).map_err(failed)?;
    }
    let known = match bounded::read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{}: could not be read: {error}", path.display())),
    };
    let tests =
        parse_tests(&known).map_err(|(number, error)| format!("{}:{number}: {error}", path.display()))?;
    if tests.iter().any(|known| known.id == test.id) {
        return Err(format!("this decision is test {} in {} already", test.id, path.display()));
    }
    let mut file = files::open_or_create_to_append(path).map_err(failed)?;
    let gap = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
    file.write_all(format!("{gap}{line}\n").as_bytes()).and_then(|()| file.sync_data()).map_err(failed)?;
    Ok(format!("kept as test {} of {}: {}", tests.len() + 1, path.display(), test.expectation))
}

/// The outcome of one test.
struct Outcome<'a> {
    test: &'a LessonTest,
    samples: u32,
    need: u32,
    replies: Replies,
    flip: Option<Flip>,
}

impl Outcome<'_> {
    fn passes(&self) -> bool {
        self.replies.complied >= self.need
    }

    /// Returns whether calls failed for which the test says nothing: their replies could still make it pass.
    fn is_unjudged(&self) -> bool {
        !self.passes() && self.replies.complied + self.replies.unanswered >= self.need
    }

    fn fails(&self) -> bool {
        !self.passes() && !self.is_unjudged()
    }

    fn result(&self) -> PastResult {
        PastResult { complied: self.replies.complied, samples: self.samples, need: self.need }
    }

    fn json(&self) -> serde_json::Value {
        let share = wilson(self.replies.complied as usize, self.samples as usize);
        json!({
            "type": "test", "id": self.test.id, "name": self.test.name, "passed": self.passes(),
            "unanswered": self.replies.unanswered, "judged": !self.is_unjudged(),
            "complied": self.replies.complied, "samples": self.samples, "need": self.need,
            "share": share.map(|s| s.value), "low": share.map(|s| s.low), "high": share.map(|s| s.high),
            "proposals": self.replies.proposals, "errors": self.replies.errors,
            "flip": self.flip.map(Flip::word),
        })
    }

    /// Returns the rows that say how it ended: one, and below a failure what the replies were.
    fn lines(&self) -> Vec<String> {
        let verdict = match (self.passes(), self.is_unjudged()) {
            (true, _) => "pass",
            (_, true) => "ERROR",
            _ => "FAIL",
        };
        let share = if self.samples == 1 {
            String::new()
        } else {
            let interval = wilson(self.replies.complied as usize, self.samples as usize);
            let interval = interval.map_or_else(String::new, |share| {
                format!(" [{:.0} %, {:.0} %]", share.low * 100.0, share.high * 100.0)
            });
            format!("  {}/{}{interval}, needs {}", self.replies.complied, self.samples, self.need)
        };
        let mut lines = vec![format!("{verdict}  {}  {}{share}", self.test.id, self.test.name)];
        if !self.passes() {
            let got = self.replies.proposals.iter().map(|(proposal, count)| match count {
                1 => format!("        got: {proposal}"),
                count => format!("        got {count} times: {proposal}"),
            });
            let errors = self.replies.errors.iter().map(|error| format!("        call failed: {error}"));
            lines.extend(got.chain(errors));
        }
        // A name or a reply may have line breaks.
        lines.iter().map(|line| crate::text::one_line(line).into_owned()).collect()
    }
}

/// Runs `lessons test`. Exits with 1 if a test fails.
pub(super) fn run_lesson_tests(
    config: &mut Config,
    args: &LessonTestArgs,
    out: &mut Output,
) -> Result<(), CliError> {
    args.models.apply(config)?;
    args.actor.apply(config)?;
    let pool = pool::pool_path(config);
    let path = args.tests.clone().unwrap_or_else(|| tests_path(&pool));
    let tests = read_tests(&path)?;
    let samples = args.samples.filter(|n| (1..=MAX_SAMPLES).contains(n));
    if args.samples.is_some() && samples.is_none() {
        return Err(CliError::usage(
            "--samples: not a number from 1 to 1000",
            "give how many replies to ask for",
        ));
    }
    let lessons = match args.kept_lessons {
        true => Lessons::Kept,
        // Without a pool, nothing can take the place of the lessons.
        false if !pool.exists() && !config.is_set_by_flag(&keys::POOL) => Lessons::Kept,
        false => Lessons::Pool(pool),
    };
    let results_path = path.with_extension("results.json");
    let past = PastResults::read(&results_path);
    let actor = config.is_set_by_flag(&keys::ACTOR).then(|| config.get(keys::ACTOR));
    let replay = Replay::new(config, actor, &lessons)?;
    let mut outcomes: Vec<Outcome<'_>> = Vec::new();
    for test in &tests {
        let samples = samples.unwrap_or(test.samples);
        let need = args.need.unwrap_or(if args.samples.is_some() { samples } else { test.need });
        if need == 0 || need > samples {
            return Err(CliError::usage(
                format!("--need {need}: not between 1 and the number of samples, {samples}"),
                "a test passes if at least this many replies comply",
            ));
        }
        let replies = replay.ask(test, samples)?;
        let mut outcome = Outcome { test, samples, need, replies, flip: None };
        if outcome.replies.unanswered == 0 {
            outcome.flip = past.get(&test.id).and_then(|before| find_flip(before, outcome.result()));
        }
        if args.json {
            out.print_json(&outcome.json().to_string())?;
        } else {
            for line in outcome.lines() {
                out.print_line(&line)?;
            }
        }
        outcomes.push(outcome);
    }
    // What a server didn't answer is no result to compare with.
    let answered = outcomes.iter().filter(|outcome| outcome.replies.unanswered == 0);
    let results = answered.map(|outcome| (outcome.test.id.clone(), outcome.result()));
    if let Err(error) = past.updated(results).write(&results_path) {
        out.print_note(&format!("{}: flips of the next run can't be found: {error}", results_path.display()));
    }
    summarize(&outcomes, &replay, args.json, out)
}

fn read_tests(path: &Path) -> Result<Vec<LessonTest>, CliError> {
    let hint =
        "`=` at a proposal on the screen keeps the decision as a test; --tests names the file that has them";
    let text = match bounded::read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(CliError::usage(format!("{}: no tests", path.display()), hint));
        }
        Err(error) => return Err(CliError::file(path, "the tests could not be read", &error)),
    };
    let tests = parse_tests(&text).map_err(|(number, error)| {
        let message = format!("{}:{number}: {error}", path.display());
        CliError::usage(message, "docs/LESSON_TESTS.md describes the format")
    })?;
    if tests.is_empty() {
        return Err(CliError::usage(format!("{}: no tests", path.display()), hint));
    }
    Ok(tests)
}

fn summarize(
    outcomes: &[Outcome<'_>],
    replay: &Replay<'_>,
    json: bool,
    out: &mut Output,
) -> Result<(), CliError> {
    let failed = outcomes.iter().filter(|outcome| outcome.fails()).count();
    let unjudged = outcomes.iter().filter(|outcome| outcome.is_unjudged()).count();
    let passed = outcomes.len() - failed - unjudged;
    let flips_to = |flip: Flip| outcomes.iter().filter(move |outcome| outcome.flip == Some(flip));
    if json {
        // New failures come first.
        let flips: Vec<_> = [Flip::PassToFail, Flip::FailToPass]
            .into_iter()
            .flat_map(|flip| flips_to(flip).map(move |o| json!({"id": o.test.id, "flip": flip.word()})))
            .collect();
        let summary = json!({
            "type": "summary", "tests": outcomes.len(), "passed": passed, "failed": failed, "unjudged": unjudged, "flips": flips,
            "lessons": replay.lessons_name(), "calls": replay.calls(), "tokens": replay.tokens(),
        });
        out.print_json(&summary.to_string())?;
    } else {
        for flip in [Flip::PassToFail, Flip::FailToPass] {
            for outcome in flips_to(flip) {
                let line = format!("{}: {}  {}", flip.phrase(), outcome.test.id, outcome.test.name);
                out.print_line(&crate::text::one_line(&line))?;
            }
        }
        let without = match unjudged {
            0 => String::new(),
            tests => format!(", {tests} without a result"),
        };
        let tests = pluralize(outcomes.len() as u64, "test");
        let calls = pluralize(replay.calls(), "call");
        out.print_line(&format!(
            "{tests}: {passed} passed, {failed} failed{without}; {calls}, {} tokens; lessons: {}",
            replay.tokens(),
            replay.lessons_name()
        ))?;
    }
    if failed == 0 && unjudged == 0 {
        return Ok(());
    }
    if failed == 0 {
        return Err(CliError::new(
            CliErrorKind::Check,
            format!("{} without a result: calls failed", pluralize(unjudged as u64, "lesson test")),
            "the errors say what the model server lacks; the previous results stay",
        ));
    }
    Err(CliError::new(
        CliErrorKind::Check,
        format!("{} failed", pluralize(failed as u64, "lesson test")),
        "compare the proposals with what is expected; --samples N shows how often each is made",
    ))
}

#[cfg(test)]
mod tests;
