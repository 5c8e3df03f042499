//! `doctor --env NAME`: plays some random steps three times and says whether the environment is deterministic, how fast it
//! is and which of its capabilities work.

use super::{CheckResult, CheckStatus, check_result};
use crate::cli::args;
use crate::cli::config::{Config, keys};
use crate::cli::error::{CliError, world_error};
use crate::cli::worlds::world_options;
use crate::domain::{ListingCost, StepResult, Task, pluralize};
use crate::driver::worlds::{self, Selection};
use crate::env::{EnvError, Environment, TaskOptions};
use crate::text::one_line;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The number of steps.
const STEPS: usize = 10;
/// The actions of an environment that lists none: most text environments know some of them.
const COMMON_ACTIONS: [&str; 5] = ["look", "inventory", "wait", "help", "north"];
/// How much of an answer that differs is shown.
const SHOWN_BYTES: usize = 200;

/// What was found out about an environment, for programs that read it.
#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct EnvironmentReport {
    name: String,
    task: String,
    seed: u64,
    steps: usize,
    /// How many episodes these are.
    episodes: usize,
    /// Whether the environment has understood any of the actions.
    understood: bool,
    /// What it says about itself.
    claims_deterministic: bool,
    /// What was seen.
    deterministic: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Difference>,
    /// Until the first one is open, in milliseconds.
    open_ms: f64,
    reset_ms: f64,
    /// The mean of all steps and of all lists.
    step_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    list_ms: Option<f64>,
    /// How many actions the first list had; `None` if there is none.
    actions: Option<usize>,
    /// Whether listing actions changes what the environment answers later.
    lists_change_world: bool,
    tasks: Option<usize>,
    snapshots: CapabilityState,
    /// What has failed while a snapshot was taken and restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot_error: Option<String>,
    /// Whether a hint was given.
    hint: bool,
    /// Why a hint that is announced wasn't given.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint_error: Option<String>,
    /// Whether the state could be looked at.
    world_summary: bool,
    /// Why looking at the state has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    peek_error: Option<String>,
}

/// The first answer that differs from the one before.
#[derive(Serialize)]
struct Difference {
    /// `the same process` or `a new process`.
    played_in: &'static str,
    /// Counted over all episodes; 0 is the first reset.
    step: usize,
    action: Option<String>,
    before: String,
    after: String,
    /// Whether both have the same lines in another order.
    other_order: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CapabilityState {
    Absent,
    Works,
    /// The restored state answers differently.
    Wrong,
    /// It is announced, and taking or restoring a snapshot failed.
    Failed,
}

/// One attempt: what was done and what was answered. An episode that is over is followed by the next one.
struct Attempt {
    /// `None` is a reset.
    actions: Vec<Option<String>>,
    answers: Vec<StepResult>,
    listed: Vec<usize>,
    open: Duration,
    reset: Duration,
    stepping: Duration,
    listing: Duration,
}

impl Attempt {
    fn step_count(&self) -> usize {
        self.actions.iter().flatten().count()
    }

    fn episode_count(&self) -> usize {
        self.actions.len() - self.step_count()
    }

    /// Returns whether the environment has understood any of the actions.
    fn has_valid_steps(&self) -> bool {
        self.actions.iter().zip(&self.answers).any(|(action, answer)| action.is_some() && answer.valid)
    }
}

/// Opens an environment and plays: the actions given, else random ones.
fn play(
    task: &Task,
    options: &TaskOptions,
    seed: u64,
    given: Option<&[Option<String>]>,
) -> Result<(Attempt, Box<dyn Environment>), EnvError> {
    let start = Instant::now();
    let mut world = worlds::open(task, options)?;
    let open = start.elapsed();
    let start = Instant::now();
    let first = world.reset()?;
    let mut attempt = Attempt {
        actions: vec![None],
        answers: vec![first],
        listed: Vec::new(),
        open,
        reset: start.elapsed(),
        stepping: Duration::ZERO,
        listing: Duration::ZERO,
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let can_list = world.info().listing_cost != ListingCost::Costly || world.admissible().is_ok();
    loop {
        let is_over = attempt.answers.last().is_some_and(|answer| answer.done);
        let resets = match given.map(|actions| actions.get(attempt.actions.len())) {
            Some(Some(action)) => action.is_none(),
            // An episode that its reset ends has no steps.
            None if attempt.step_count() < STEPS && attempt.actions.last() != Some(&None) => is_over,
            None if attempt.step_count() < STEPS && !is_over => false,
            _ => break,
        };
        if resets {
            attempt.answers.push(world.reset()?);
            attempt.actions.push(None);
            continue;
        }
        if is_over {
            break;
        }
        let mut listed = Vec::new();
        // The second time as well: a list may be what makes a difference.
        if can_list {
            let start = Instant::now();
            listed = match world.admissible() {
                Ok(actions) => actions,
                // Some common words are tried then.
                Err(EnvError::Refused { .. }) => Vec::new(),
                Err(error) => return Err(error),
            };
            attempt.listing += start.elapsed();
            attempt.listed.push(listed.len());
            listed.sort();
        }
        let action = match given.and_then(|actions| actions[attempt.actions.len()].clone()) {
            Some(action) => action,
            None if listed.is_empty() => {
                COMMON_ACTIONS[attempt.step_count() % COMMON_ACTIONS.len()].to_owned()
            }
            None => listed.swap_remove((random.next_u64() % listed.len() as u64) as usize),
        };
        let start = Instant::now();
        attempt.answers.push(world.step(&action)?);
        attempt.stepping += start.elapsed();
        attempt.actions.push(Some(action));
    }
    Ok((attempt, world))
}

/// Returns the first difference between two attempts with the same actions.
fn compare(first: &Attempt, other: &Attempt, played_in: &'static str) -> Option<Difference> {
    let pairs = first.answers.iter().zip(&other.answers);
    let step = pairs.clone().position(|(before, after)| before != after);
    let step = step.or_else(|| {
        let lengths = [first.answers.len(), other.answers.len()];
        (lengths[0] != lengths[1]).then(|| lengths[0].min(lengths[1]))
    })?;
    let [before, after] = [first, other].map(|attempt| attempt.answers.get(step));
    let other_order = before.zip(after).is_some_and(|(before, after)| {
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        before.observation != after.observation && sorted(&before.observation) == sorted(&after.observation)
    });
    let (before, after) = describe_difference(before, after);
    let action = first.actions.get(step).cloned().flatten();
    let before_it = &first.actions[..(step + 1).min(first.actions.len())];
    let step = before_it.iter().flatten().count();
    Some(Difference { played_in, step, action, before, after, other_order })
}

/// Returns what differs: the observations, else the first other field.
fn describe_difference(before: Option<&StepResult>, after: Option<&StepResult>) -> (String, String) {
    let (Some(before), Some(after)) = (before, after) else {
        let describe = |answer: Option<&StepResult>| {
            answer.map_or_else(|| "the episode was over".to_owned(), |answer| answer.observation.clone())
        };
        return (describe(before), describe(after));
    };
    if before.observation != after.observation {
        let [a, b] = [before, after].map(|answer| answer.observation.as_str());
        // What is equal before the difference is left out.
        let common: usize =
            a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        let from = if common > SHOWN_BYTES / 2 { common } else { 0 };
        let cut = |text: &str| {
            let text = text.get(from..).unwrap_or_default();
            let lead = if from > 0 { "..." } else { "" };
            format!("{lead}{}", one_line(crate::text::prefix(text, SHOWN_BYTES)))
        };
        return (cut(a), cut(b));
    }
    let fields = |answer: &StepResult| serde_json::to_value(answer).unwrap_or_default();
    let (a, b) = (fields(before), fields(after));
    let names = ["reward", "progress", "done", "won", "valid", "shown", "truth"];
    let name = names.into_iter().find(|name| a.get(name) != b.get(name)).unwrap_or_default();
    let field = |value: &serde_json::Value| {
        let value = value.get(name).map(ToString::to_string).unwrap_or_default();
        format!("{name} {}", one_line(crate::text::prefix(&value, SHOWN_BYTES)))
    };
    (field(&a), field(&b))
}

/// Takes a snapshot after the first step, restores it at the end, and repeats the later steps.
fn try_snapshot(
    world: &mut dyn Environment,
    actions: &[Option<String>],
) -> Result<CapabilityState, EnvError> {
    // Those of the first episode.
    let actions: Vec<&String> = actions.iter().skip(1).map_while(Option::as_ref).collect();
    let Some((first, later)) = actions.split_first() else { return Ok(CapabilityState::Absent) };
    world.reset()?;
    world.step(first)?;
    let is_announced = world.info().snapshots;
    let Some(snapshot) = world.snapshot() else {
        return Ok(if is_announced { CapabilityState::Failed } else { CapabilityState::Absent });
    };
    let before: Vec<StepResult> = later.iter().map(|action| world.step(action)).collect::<Result<_, _>>()?;
    match world.restore(&snapshot) {
        Ok(()) => {}
        Err(EnvError::Refused { .. } | EnvError::Protocol { .. }) => return Ok(CapabilityState::Wrong),
        Err(error) => return Err(error),
    }
    for (action, before) in later.iter().zip(&before) {
        if world.step(action)? != *before {
            return Ok(CapabilityState::Wrong);
        }
    }
    Ok(CapabilityState::Works)
}

/// Checks an environment.
///
/// # Errors
/// Fails if the environment can't be opened or played at all.
pub(super) fn check_environment(
    config: &Config,
    args: &args::Doctor,
) -> Result<(Vec<CheckResult>, EnvironmentReport), CliError> {
    let env = config.get(keys::ENV);
    let mut options = world_options(config);
    options.seed = args.seed.unwrap_or(options.seed);
    let selection = Selection { tasks: args.task.clone().into_iter().collect(), ..Selection::default() };
    let selected = worlds::select_tasks(env, &selection, &options)?;
    let task = selected.into_iter().next();
    let task = task.ok_or_else(|| CliError::usage(format!("{env} has no tasks"), "name one with --task"))?;
    let task = match args.seed {
        Some(seed) => worlds::with_seed(task, seed),
        None => task,
    };
    // One that was started for its list of tasks would open at once.
    worlds::end_idle_programs();
    let failed = |error: &EnvError| {
        let failure = world_error(&task, error);
        let hint = match error {
            EnvError::NotStarted { .. } => "install or correct the program, then check again",
            EnvError::TimedOut { .. } | EnvError::Died { .. } | EnvError::Protocol { .. } => {
                "start its program by hand to see what is wrong (docs/ENVIRONMENTS.md), then check again"
            }
            EnvError::Broken { .. } | EnvError::Refused { .. } => return failure,
        };
        CliError { hint: hint.to_owned(), ..failure }
    };
    let (first, world) = play(&task, &options, task.seed, None).map_err(|error| failed(&error))?;
    let claims_deterministic = world.info().deterministic;
    // A program that waits for its next episode is used by the second attempt. The third one is made while the second is
    // open, so it has a process of its own.
    // Known once a list was asked for.
    let lists_change_world = world.info().listing_cost == ListingCost::ChangesWorld;
    drop(world);
    let actions = first.actions.clone();
    let (second, mut world) =
        play(&task, &options, task.seed, Some(&actions)).map_err(|error| failed(&error))?;
    let (third, mut other_world) =
        play(&task, &options, task.seed, Some(&actions)).map_err(|error| failed(&error))?;
    let difference =
        compare(&first, &second, "the same process").or_else(|| compare(&first, &third, "a new process"));
    let (snapshots, snapshot_error) = match try_snapshot(world.as_mut(), &actions) {
        Ok(state) => (state, None),
        Err(error) => (CapabilityState::Failed, Some(error.to_string())),
    };
    let (has_summary, peek_error) = outcome(other_world.peek());
    let hint = if peek_error.is_some() {
        // Looking at the state may have ended the process.
        drop((world, other_world));
        play(&task, &options, task.seed, Some(&actions)).and_then(|(_, mut world)| world.hint())
    } else {
        other_world.hint()
    };
    let (has_hint, hint_error) = outcome(hint);
    let tasks = worlds::list_tasks(env, &Selection::default(), &options).map(|tasks| tasks.len()).ok();
    let (steps, lists) = (first.step_count(), first.listed.len());
    let report = EnvironmentReport {
        name: env.to_owned(),
        task: task.id.clone(),
        seed: task.seed,
        steps,
        episodes: first.episode_count(),
        understood: first.has_valid_steps(),
        claims_deterministic,
        deterministic: difference.is_none(),
        difference,
        open_ms: millis(first.open),
        reset_ms: millis(first.reset),
        step_ms: millis(first.stepping) / steps.max(1) as f64,
        list_ms: (lists > 0).then(|| millis(first.listing) / lists.max(1) as f64),
        actions: first.listed.first().copied(),
        lists_change_world,
        tasks,
        snapshots,
        snapshot_error,
        hint: has_hint,
        hint_error,
        world_summary: has_summary,
        peek_error,
    };
    Ok((describe(&report), report))
}

/// Returns whether something was there, and the reason if asking for it failed.
fn outcome<T>(answer: Result<Option<T>, EnvError>) -> (bool, Option<String>) {
    match answer {
        Ok(found) => (found.is_some(), None),
        Err(error) => (false, Some(error.to_string())),
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// Returns the rows of the text.
fn describe(report: &EnvironmentReport) -> Vec<CheckResult> {
    let ended = match report.episodes {
        _ if report.steps < STEPS => ", then the episode was over (--task checks another task)".to_owned(),
        0 | 1 => String::new(),
        count => format!(", {}", pluralize(count as u64, "episode")),
    };
    let played = format!(
        "{} of task {}, seed {}{ended}",
        pluralize(report.steps as u64, "random step"),
        report.task,
        report.seed
    );
    let speed = format!(
        "opens in {:.1} ms, resets in {:.1} ms, {:.2} ms a step{}",
        report.open_ms,
        report.reset_ms,
        report.step_ms,
        report.list_ms.map(|list| format!(", {list:.2} ms a list of actions")).unwrap_or_default()
    );
    let found = |is_there: bool, detail: &str| {
        let state = if is_there { CheckStatus::Ok } else { CheckStatus::Missing };
        (state, detail.to_owned())
    };
    let determinism = match &report.difference {
        None if !report.understood && report.steps > 0 => (
            CheckStatus::Warning,
            format!("the same answers three times, but it understood none of the actions: {played}"),
            "it lists none, so some common words were tried: this says little; `retrospect play` shows what it understands",
        ),
        None if report.claims_deterministic => {
            (CheckStatus::Ok, format!("the same answers three times: {played}"), "")
        }
        None => (
            CheckStatus::Ok,
            format!("the same answers three times: {played}"),
            match report.snapshots {
                CapabilityState::Absent => "it doesn't claim to be deterministic",
                _ => "it doesn't claim to be deterministic, so its snapshots aren't used",
            },
        ),
        Some(difference) => {
            let action = difference.action.as_ref().map(|action| format!(" ({})", one_line(action)));
            let order = if difference.other_order { "the same lines in another order; " } else { "" };
            let detail = format!(
                "step {}{} in {}: {order}before {:?}, now {:?}; {played}",
                difference.step,
                action.unwrap_or_default(),
                difference.played_in,
                difference.before,
                difference.after
            );
            let hint = "going back and retrying will show differences; seed everything that is random";
            let state = if report.claims_deterministic { CheckStatus::Broken } else { CheckStatus::Warning };
            (state, detail, hint)
        }
    };
    let (list_state, list_detail) = match report.actions.filter(|count| *count > 0) {
        Some(count) if report.lists_change_world => {
            let count = pluralize(count as u64, "action");
            let why = "listing them changes what comes later, so a copy is asked, and only for a person";
            (CheckStatus::Ok, format!("{count} at the start; {why}"))
        }
        Some(count) => (CheckStatus::Ok, format!("{} at the start", pluralize(count as u64, "action"))),
        None => found(false, "none are listed; some common words were tried instead"),
    };
    let tasks = match report.tasks {
        Some(count) => (CheckStatus::Ok, pluralize(count as u64, "task")),
        None => found(false, "can't be listed"),
    };
    let snapshots = match report.snapshots {
        CapabilityState::Works => (CheckStatus::Ok, "a restored state answers as before".to_owned()),
        CapabilityState::Wrong => (CheckStatus::Broken, "a restored state answers differently".to_owned()),
        CapabilityState::Failed => (
            CheckStatus::Broken,
            match &report.snapshot_error {
                Some(error) => format!("announced, but they failed: {}", one_line(error)),
                None => "announced, but none could be taken; the program is used without them".to_owned(),
            },
        ),
        CapabilityState::Absent => found(false, "none; going back replays the actions"),
    };
    let tried = |works: bool, error: &Option<String>| match error {
        Some(error) => (CheckStatus::Broken, format!("announced, but it failed: {}", one_line(error))),
        None => found(works, if works { "works" } else { "none" }),
    };
    let hint = tried(report.hint, &report.hint_error);
    let summary = tried(report.world_summary, &report.peek_error);
    vec![
        check_result("determinism", determinism.0, determinism.1, determinism.2),
        check_result("speed", CheckStatus::Ok, speed, ""),
        check_result("tasks", tasks.0, tasks.1, ""),
        check_result("actions", list_state, list_detail, ""),
        check_result("snapshots", snapshots.0, snapshots.1, ""),
        check_result("hint", hint.0, hint.1, ""),
        check_result("peek", summary.0, summary.1, ""),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(texts: &[&str]) -> Attempt {
        let answer = |text: &&str| StepResult { observation: (*text).to_owned(), ..StepResult::default() };
        Attempt {
            actions: (0..texts.len()).map(|step| (step > 0).then(|| format!("action {step}"))).collect(),
            answers: texts.iter().map(answer).collect(),
            listed: Vec::new(),
            open: Duration::ZERO,
            reset: Duration::ZERO,
            stepping: Duration::ZERO,
            listing: Duration::ZERO,
        }
    }

    #[test]
    fn the_first_difference_is_shown_with_its_step() {
        let first = attempt(&["start", "a\nb", "c"]);
        assert!(compare(&first, &attempt(&["start", "a\nb", "c"]), "x").is_none());
        let found = compare(&first, &attempt(&["start", "b\na", "d"]), "x").unwrap();
        assert!((found.step, found.other_order, found.action.as_deref()) == (1, true, Some("action 1")));
        let found = compare(&first, &attempt(&["start", "a\nb"]), "x").unwrap();
        assert_eq!(
            (found.step, found.after.as_str(), found.before.as_str()),
            (2, "the episode was over", "c")
        );
        let mut other = attempt(&["start", "a\nb", "c"]);
        other.answers[2].reward = 1.0;
        let found = compare(&first, &other, "x").unwrap();
        assert_eq!((found.before.as_str(), found.after.as_str()), ("reward 0.0", "reward 1.0"));
        let long = "x".repeat(500);
        let [a, b] = ["1", "2"].map(|end| attempt(&[&format!("{long}{end}")]));
        let found = compare(&a, &b, "x").unwrap();
        assert_eq!((found.before.as_str(), found.after.as_str()), ("...1", "...2"));
    }

    /// Regression: an episode that its first action ended was all that was compared.
    #[test]
    fn steps_of_several_episodes_are_compared() {
        let options = TaskOptions::default();
        let tasks = worlds::list_tasks("hotpotqa", &Selection::default(), &options).unwrap();
        let task = tasks.into_iter().next().unwrap();
        let (first, _) = play(&task, &options, 3, None).unwrap();
        assert_eq!(first.step_count(), STEPS, "{:?}", first.actions);
        let (second, _) = play(&task, &options, 3, Some(&first.actions)).unwrap();
        assert_eq!((&first.actions, &first.answers), (&second.actions, &second.answers));
    }

    /// Regression: a program without snapshots was told that its snapshots aren't used.
    #[test]
    fn only_snapshots_that_there_are_are_called_unused() {
        for (snapshots, hint) in [
            (CapabilityState::Absent, "it doesn't claim to be deterministic"),
            (CapabilityState::Works, "it doesn't claim to be deterministic, so its snapshots aren't used"),
        ] {
            let report = EnvironmentReport {
                name: "mine".to_owned(),
                task: "1".to_owned(),
                seed: 0,
                steps: 10,
                episodes: 1,
                understood: true,
                claims_deterministic: false,
                deterministic: true,
                difference: None,
                open_ms: 1.0,
                reset_ms: 1.0,
                step_ms: 1.0,
                list_ms: None,
                actions: None,
                lists_change_world: false,
                tasks: Some(1),
                snapshots,
                snapshot_error: None,
                hint: false,
                hint_error: None,
                world_summary: false,
                peek_error: None,
            };
            assert_eq!(describe(&report)[0].hint, hint);
        }
    }
}
