//! `--dry-run` of `run` and `calibrate`: prints the prompts of a run without calling a model, and those that its method sends with other settings.
//!
//! Short attempts at the first task, or the first of another type if only that leads to a question, are played in temporary sessions: the built-in rules act, each attempt ends as won or lost
//! as its question needs it ([`QuestionEntry::attempts`]), and every question to the mentor gets a placeholder as its reply.
//! So parts, order, wording and sampling are those of a real run. Prepared or invented are: the actions, the outcome of each
//! attempt with its last reward and progress, what the mentor is said to have written, and whatever a prompt's `changes` name.

mod episode_roles;
mod prepared_world;
mod situated_prompt;

use super::config::Config;
use super::config::keys::OnError;
use super::error::{CliError, CliErrorKind};
use super::headless::{Ending, close_on_signal, guard_session_signals, run_to_end};
use super::locate;
use super::output::Output;
use super::printer::{EventPrinter, PrintMode};
use super::setup::{Plan, session_meta};
use crate::catalog::{self, PreparedAttempts, QuestionEntry, find_method, questions};
use crate::domain::{
    Autonomy, DefaultValue, FailureKind, ModelRole, PromptRecord, RunSpec, SettingOrigin, Task, pluralize,
};
use crate::driver::{Driver, rule_based_actor};
use crate::engine::{Envelope, Event, State};
use crate::prompt::render;
use crate::provider::{Provider, ScriptedProvider};
use episode_roles::EpisodeRoles;
use prepared_world::{AttemptLimits, OpenedWorlds, with_outcomes};
use serde_json::json;
use situated_prompt::{Changes, SituatedPrompt, question_name};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Settings of a prepared run that differ from the run's own.
type ChangedSettings = &'static [(&'static str, DefaultValue)];

/// Why no question is sent by a run whose settings never call its mentor; a warning at the start says which.
const MENTOR_UNUSED: &str = "the mentor is never called";

/// What is said of a question that has no prompt to show.
const NOT_ASKED: &str = "not asked in the prepared attempts; this run's tasks or settings don't lead to it";

/// The key of the task that is played; `None` if the run has no test task.
type TaskKey = Option<String>;

/// A prepared run that was played.
struct Played {
    events: Vec<Arc<Envelope>>,
    /// The number of actions after which lost attempts end, if with more of them an attempt reaches the goal.
    shortened_to: Option<u32>,
}

/// Prints the actor's first prompt, its last one in prepared attempts, and every question that the run's methods can ask. Says
/// which of them the run's own settings never lead to.
pub(super) fn dry_run(config: &Config, plan: &Plan, json: bool, out: &mut Output) -> Result<(), CliError> {
    let mut preparer = Preparer { config, plan, opened: OpenedWorlds::default(), played: Vec::new() };
    let questions = questions(&plan.spec);
    let first = questions.first().map_or(PreparedAttempts::LOST, |entry| entry.attempts);
    let mut prompts = preparer.actor_prompts(first)?;
    let (mut unasked, has_model) = (Vec::new(), plan.run_config.mentor.is_some());
    for entry in questions.into_iter().filter(|_| has_model) {
        let found = preparer.find_question(entry, &prompts)?;
        if found.is_empty() {
            unasked.push(entry);
        }
        prompts.extend(found);
    }
    if json {
        for prompt in &prompts {
            out.print_json(&prompt.to_json().to_string())?;
        }
        for entry in unasked {
            let line = json!({
                "role": "mentor", "question": question_name(entry.question), "situation": entry.when,
                "sent_by_this_run": false, "not_asked": NOT_ASKED,
            });
            out.print_json(&line.to_string())?;
        }
        return Ok(());
    }
    out.print_note(
        "No model was called. Parts, order, wording and sampling are those of the run; prepared are the actions (by the \
         built-in rules), the mentor's replies (placeholders), and the outcome of each attempt with its last reward and \
         progress, as each question needs it.",
    );
    for (name, text) in catalog::run_notes(&plan.spec) {
        out.print_note(&format!("{name}: {text}"));
    }
    if !has_model && !catalog::has_no_mentor(&plan.spec.method) {
        out.print_note(&format!(
            "No question is sent: the mentor ({}) is not a model. --mentor openai:MODEL shows the questions, with any name \
             as MODEL.",
            plan.spec.mentor
        ));
    }
    if prompts.is_empty() {
        out.print_note("This run sends none: the method proposes every action itself and asks no mentor.");
    }
    for prompt in &prompts {
        prompt.print(out)?;
    }
    for entry in unasked {
        out.print_note(&format!("{} ({}): {NOT_ASKED}", question_name(entry.question), entry.when));
    }
    Ok(())
}

/// Plays prepared runs, each only once.
struct Preparer<'a> {
    config: &'a Config,
    plan: &'a Plan,
    opened: OpenedWorlds,
    played: Vec<((PreparedAttempts, ChangedSettings, TaskKey), Rc<Played>)>,
}

impl Preparer<'_> {
    /// Returns the actor's first and last prompt in these attempts; none if the method asks no actor.
    fn actor_prompts(&mut self, attempts: PreparedAttempts) -> Result<Vec<SituatedPrompt>, CliError> {
        let played = self.play(attempts, &[], self.plan.spec.test_tasks().first())?;
        let (events, changes) = (&played.events, self.changes(attempts, &[], &played));
        let is_actors = |record: &PromptRecord| record.role == ModelRole::Actor;
        let mut seqs = events.iter().filter(|e| sent_prompt(e).is_some_and(is_actors)).map(|e| e.seq);
        let first = seqs.next();
        let situations = [
            (first, "at the first step of the first attempt"),
            (seqs.next_back(), "at the last step of prepared attempts, with all that was learned before"),
        ];
        let explored = EpisodeRoles::of(events);
        let first_explored = events
            .iter()
            .find(|e| sent_prompt(e).is_some_and(|record| is_actors(record) && explored.explores(record)));
        let exploration = (
            first_explored.map(|e| e.seq).filter(|seq| Some(*seq) != first),
            "at the first step of an exploration",
        );
        let prompts = situations.into_iter().chain([exploration]).filter_map(|(seq, situation)| {
            situated_prompt(events, &|envelope, _| Some(envelope.seq) == seq, situation, &changes)
        });
        Ok(prompts.collect())
    }

    /// Returns the last prompt with a question in the attempts prepared for it, and the last one in an exploration: with the
    /// run's own settings if they lead to it at the first task of any type, otherwise with those of the entry. A question that is asked in several
    /// situations is found only if the prompt has other parts than those `shown` before. Empty if there is none.
    fn find_question(
        &mut self,
        entry: &QuestionEntry,
        shown: &[SituatedPrompt],
    ) -> Result<Vec<SituatedPrompt>, CliError> {
        let tasks = first_of_each_type(self.plan.spec.test_tasks());
        let first = tasks.first().copied();
        let own = std::iter::once(first).chain(tasks.into_iter().skip(1).map(Some));
        let tries = own.map(|task| (&[] as ChangedSettings, task));
        let changed = (!entry.settings.is_empty()).then_some((entry.settings, first));
        for (settings, task) in tries.chain(changed) {
            let played = self.play(entry.attempts, settings, task)?;
            let (events, mut changes) = (&played.events, self.changes(entry.attempts, settings, &played));
            if catalog::unused_mentor_reason(&self.plan.spec).is_some() {
                changes.prevented_by.push(MENTOR_UNUSED.to_owned());
            }
            let roles = EpisodeRoles::of(events);
            let find = |explores: bool, situation: &str| {
                let is_asked = |_: &Envelope, record: &PromptRecord| {
                    record.question == Some(entry.question) && roles.explores(record) == explores
                };
                situated_prompt(events, &is_asked, situation, &changes)
            };
            let found: Vec<SituatedPrompt> =
                [find(false, entry.when), find(true, &explored_situation(entry))]
                    .into_iter()
                    .flatten()
                    .filter(|found| !shown.iter().any(|other| other.is_like(found)))
                    .collect();
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// Names what these attempts have in place of the run's own.
    fn changes(&self, attempts: PreparedAttempts, settings: ChangedSettings, played: &Played) -> Changes {
        let spec = &self.plan.spec;
        let tasks = spec.test_tasks().len();
        let (mut changes, mut prevented_by) = (Vec::new(), Vec::new());
        // Without a test task only the run's own calibration is played.
        if tasks > 0 && spec.trials < attempts.trials {
            changes.push(format!("{} trials (this run: {})", attempts.trials, spec.trials));
        }
        if tasks > 0 && tasks < attempts.tasks as usize {
            changes.push(format!("{} tasks (this run: {tasks})", attempts.tasks));
        }
        if spec.loop_detector {
            changes.push("loop_detector=false (this run: true)".to_owned());
        }
        if (tasks > 0 || learns_from_calibration(spec)) && attempts.outcomes.contains(&true) {
            changes.push("invented successes, with reward and progress 1".to_owned());
        }
        if let Some(actions) = played.shortened_to {
            changes.push(format!(
                "lost attempts of {} each, one fewer than reach the goal",
                pluralize(actions.into(), "action")
            ));
        }
        for (name, value) in settings {
            let (value, own) = (value.to_json(), spec.settings.value(name));
            if own != Some(&value) {
                let own = own.map_or_else(|| "not set".to_owned(), ToString::to_string);
                changes.push(format!("{name}={value} (this run: {own})").replace('"', ""));
                prevented_by.push(format!("{name}={own}").replace('"', ""));
            }
        }
        Changes { all: changes, prevented_by }
    }

    /// Plays the run's calibration, then these attempts at a task.
    fn play(
        &mut self,
        attempts: PreparedAttempts,
        settings: ChangedSettings,
        task: Option<&Task>,
    ) -> Result<Rc<Played>, CliError> {
        let key = (attempts, settings, task.map(Task::key));
        if let Some((_, played)) = self.played.iter().find(|(of, _)| *of == key) {
            return Ok(played.clone());
        }
        let mut spec = self.plan.spec.clone();
        spec.tasks.truncate(spec.tasks.len() - spec.test_tasks().len());
        spec.tasks.extend(task.into_iter().flat_map(|task| vec![task.clone(); attempts.tasks as usize]));
        (spec.trials, spec.autonomy) = (attempts.trials, Autonomy::Auto);
        // An attempt ends as prepared, not because the rules repeat themselves.
        spec.loop_detector = false;
        for (name, value) in find_method(&spec.method).map_or(&[][..], |method| method.dry_run_settings) {
            spec.settings.set(name, value.to_json(), SettingOrigin::Flag);
        }
        for (name, value) in settings {
            spec.settings.set(name, value.to_json(), SettingOrigin::Flag);
        }
        let max_actions = spec.limits.moves.unwrap_or(u32::MAX).min(spec.limits.steps);
        let mut limits = AttemptLimits::new(max_actions);
        let mut shortened_to = None;
        let played = loop {
            let (events, goal) = self.play_run(spec.clone(), attempts, limits)?;
            // A prompt must not call an attempt lost that shows how the goal was reached.
            match limits.end_before(goal) {
                Some(actions) => shortened_to = Some(actions),
                None => break Rc::new(Played { events, shortened_to }),
            }
        };
        self.played.push((key, played.clone()));
        Ok(played)
    }

    /// Returns the events, and the least number of actions after which an attempt that is to be lost has reached the goal.
    fn play_run(
        &self,
        spec: RunSpec,
        attempts: PreparedAttempts,
        limits: AttemptLimits,
    ) -> Result<(Vec<Arc<Envelope>>, u32), CliError> {
        let mut run_config = self.plan.run_config.clone();
        run_config.policy.is_attended = false;
        run_config.actor = rule_based_actor(&spec, Duration::ZERO);
        run_config.mentor = run_config.mentor.map(|_| {
            let run = spec.clone();
            let reply = move |request: &crate::provider::Request| {
                // Each reply differs, so that lists of lessons grow and are summarised.
                let text = format!("(the mentor's reply to call {})", request.call);
                let asked =
                    questions(&run).into_iter().find(|entry| request.question == Some(entry.question));
                Ok(asked.map_or("{}", |entry| entry.sample_reply).replace("{}", &text))
            };
            Arc::new(ScriptedProvider::new(reply)) as Arc<dyn Provider>
        });
        let goal = Arc::new(AtomicU32::new(u32::MAX));
        // The outcomes are those of the tasks that the method learns from.
        let training = spec.tasks.len() - spec.test_tasks().len();
        let uncounted =
            if learns_from_calibration(&spec) { Vec::new() } else { spec.tasks[..training].to_vec() };
        run_config.open_world = with_outcomes(
            run_config.open_world,
            self.opened.clone(),
            attempts,
            limits,
            uncounted,
            goal.clone(),
        );
        let folder = tempfile::tempdir().map_err(|e| {
            CliError::file(std::path::Path::new("the temporary folder"), "could not be created", &e)
        })?;
        let guard = guard_session_signals()?;
        let lessons = self.plan.lessons.clone();
        let meta = session_meta(&spec, 0);
        let (handle, thread, session) = Driver::start(folder.path(), meta, spec, lessons, run_config)?;
        close_on_signal(&guard, &handle);
        let output = Arc::new(Mutex::new(Output::new()));
        let options = self.plan.world_options.clone();
        let mut printer = EventPrinter::new(PrintMode::Silent, output, &session.dir, None, options);
        match run_to_end(&handle, thread, &mut printer, OnError::Stop)? {
            Ending::Finished => {}
            Ending::Interrupted => return Err(CliError::interrupted("start it again")),
            Ending::Stopped(why) | Ending::Diverged(why) => {
                let failure = printer.state.failed_call.as_ref().map(|(_, failure)| failure);
                let (why, hint) = match failure.filter(|failure| failure.kind == Some(FailureKind::TooLong)) {
                    Some(failure) => {
                        (&failure.message, "raise context_tokens (--set context_tokens=N), or lower examples")
                    }
                    None => (&why, "check the task with `retrospect play`"),
                };
                let message = format!("--dry-run: the prepared attempts stopped: {why}");
                return Err(CliError::new(CliErrorKind::Stopped, message, hint));
            }
        }
        let opened = locate::open_session(self.config, Some(&session.dir.display().to_string()))?;
        Ok((opened.events()?, goal.load(Ordering::Relaxed)))
    }
}

/// Returns whether the method itself learns from the tasks of a calibration.
fn learns_from_calibration(spec: &RunSpec) -> bool {
    find_method(&spec.method).is_some_and(|method| method.learns_from_calibration)
}

/// Returns the first task of each type, in the order of the tasks.
fn first_of_each_type(tasks: &[Task]) -> Vec<&Task> {
    let mut types = HashSet::new();
    tasks.iter().filter(|task| types.insert((&task.env, &task.task_type))).collect()
}

/// Says when a question is asked in an exploration.
fn explored_situation(entry: &QuestionEntry) -> String {
    format!("{}, in an exploration", entry.when)
}

fn sent_prompt(envelope: &Envelope) -> Option<&PromptRecord> {
    match &envelope.event {
        Event::PromptSent { prompt } => Some(prompt),
        _ => None,
    }
}

/// Returns the last prompt for which `is_wanted` holds.
fn situated_prompt(
    events: &[Arc<Envelope>],
    is_wanted: &dyn Fn(&Envelope, &PromptRecord) -> bool,
    situation: &str,
    changes: &Changes,
) -> Option<SituatedPrompt> {
    let is_match = |e: &Arc<Envelope>| sent_prompt(e).is_some_and(|record| is_wanted(e, record));
    let last = events.iter().rposition(is_match)?;
    let mut state = State::default();
    events[..=last].iter().for_each(|envelope| state.apply(envelope));
    let record = sent_prompt(&events[last])?.clone();
    let run = state.run.as_deref();
    Some(SituatedPrompt {
        prompt: render(&state, &record),
        sampling: run.map(|run| run.request_sampling(&record)).unwrap_or_default(),
        sampling_text: run.and_then(|run| run.describe_request_sampling(&record, &[])),
        record,
        situation: situation.to_owned(),
        changes: changes.clone(),
    })
}
