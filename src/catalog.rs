//! One entry per method and per environment: what the modules above need to know about it, as data and functions. None of
//! them compares the name of a method or of an environment.

mod cause;
mod environment_entry;
mod environments;
mod extend;
mod extension;
mod lane;
mod mentor_defaults;
mod method_entry;
mod method_option;
mod methods;
mod published;
mod question_entry;
mod rules;
mod settings;
mod templates;
mod unused_mentor;

pub use cause::main_cause;
pub use environment_entry::{
    EnvironmentDefaults, EnvironmentEntry, ExportTask, LessonForms, Measure, PublishedTasks, TaskFacts,
    difficulty_in_id,
};
pub use environments::{
    DEFAULT_ENVIRONMENT, ENVIRONMENT_NAMES, ENVIRONMENTS, PROGRAM_ENVIRONMENT, add_programs,
    is_free_for_program,
};
pub use extend::{ExtensionError, extend};
pub use extension::Extension;
pub use lane::{Lane, LaneFormat, advice_kind, kind_of_new_lesson, lesson_kinds};
pub use mentor_defaults::{apply_mentor_defaults, mentor_default, switch_model};
pub use method_entry::{
    ActionSource, Carryover, JobEntry, MethodEntry, MethodPreset, ModelNeed, disabled_by,
};
pub use method_option::{ExemplarFile, GivenOptions, MethodOption, OptionError, RecordOptions};
pub use methods::{BASE_METHOD, CALIBRATION_METHOD, METHOD_NAMES, METHODS, exemplar_files};
pub use published::{Paper, PaperRow, PublishedFigure, is_possible_share, published_results};
pub use question_entry::{PreparedAttempts, QuestionEntry};
pub use rules::{DETECTORS, RULES, draw_picture, find_environment, missing_environment, short_goal};
pub use settings::{
    SETTINGS, apply_environment_defaults, as_code_warning, default_settings, default_trials, defaults,
    environments_with_setting, find_setting, methods_with_setting,
};
pub use templates::{builtin_templates, parse_templates};
pub use unused_mentor::UnusedMentor;
use unused_mentor::calibrates;

use crate::domain::{
    Autonomy, Job, JobContext, Lesson, LessonId, LessonText, ModelRole, Question, ReflectionKind, RoleSource,
    RunSpec, SearchHistory, Settings, StepResult,
};
use crate::engine::{Method, OutgoingAction, Policy, State};
use crate::env::EnvironmentOption;
use crate::method::{WithCalibration, next_in_list};
use crate::prompt::interface::{EnvironmentTexts, PLAIN_TEXTS};
use crate::prompt::{self, PromptBuilder, Templates};
use crate::stand_in::RuleBasedReply;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

/// Returns the entry of a method, or `None` if this program has no method of this name (a session of a newer version).
pub fn find_method(name: &str) -> Option<&'static MethodEntry> {
    METHODS.iter().find(|entry| entry.name == name).copied()
}

/// Returns the entry of a job, whichever method it belongs to.
pub fn find_job(name: &str) -> Option<&'static JobEntry> {
    METHODS.iter().flat_map(|entry| entry.jobs).find(|job| job.name == name)
}

/// Computes a job.
///
/// # Errors
/// Returns a message if the job fails, if it was cancelled, or if this program has no such job.
pub fn compute_job(job: &Job, context: &JobContext) -> Result<Value, String> {
    let entry = find_job(&job.name)
        .ok_or_else(|| format!("this version of the program has no job {:?}", job.name))?;
    (entry.compute)(&job.inputs, context)
}

/// Returns a method's lanes in screen order. The last one, "Other", is shown only if the pool has a lesson for it. A
/// method that this program doesn't know gets those of [`CALIBRATION_METHOD`].
pub fn lanes_for_method(name: &str) -> &'static [Lane] {
    static LANES: LazyLock<BTreeMap<&str, Vec<Lane>>> =
        LazyLock::new(|| METHODS.iter().map(|entry| (entry.name, Lane::with_other(entry.lanes))).collect());
    LANES.get(name).unwrap_or(&LANES[CALIBRATION_METHOD.name])
}

/// Returns where a method's actions come from. One that this program doesn't know has probably asked an actor.
pub fn action_source(name: &str) -> ActionSource {
    find_method(name).map_or(ActionSource::Actor, |entry| entry.action_source)
}

/// Returns what the searches of a run have tried; see [`MethodEntry::search_histories`].
pub fn search_histories(state: &State) -> Vec<SearchHistory> {
    let method = state.run.as_ref().and_then(|run| find_method(&run.method));
    method.map_or_else(Vec::new, |method| (method.search_histories)(state))
}

/// Returns what a run's method knows about a lesson beyond its text; see [`MethodEntry::lesson_note`].
pub fn lesson_note(state: &State, lesson: &Lesson) -> Option<String> {
    let method = find_method(&state.run.as_ref()?.method)?;
    (method.lesson_note)(state, lesson)
}

/// Returns what a lane adds to the note of a lesson that nobody has measured; see [`MethodEntry::unmeasured_note`].
pub fn unmeasured_note(state: &State, lesson: &Lesson) -> Option<&'static str> {
    let (kinds, note) = find_method(&state.run.as_ref()?.method)?.unmeasured_note;
    kinds.contains(&lesson.kind).then_some(note)
}

/// Returns what a lesson's pin does besides keeping it; see [`MethodEntry::pin_effect`].
pub fn pin_effect(state: &State, lesson: &Lesson) -> Option<&'static str> {
    let method = find_method(&state.run.as_ref()?.method)?;
    (method.pin_effect)(state, lesson)
}

/// Returns what the title of a lane says of a run's method; see [`MethodEntry::lane_labels`].
pub fn lane_labels(state: &State, lane: &Lane) -> Vec<String> {
    let method = state.run.as_ref().and_then(|run| find_method(&run.method));
    method.map_or_else(Vec::new, |method| (method.lane_labels)(state, lane))
}

/// Returns what a run plays next, such as `next task`; `None` if it has ended or nothing is left to play. See
/// [`MethodEntry::what_follows`].
pub fn what_follows(state: &State) -> Option<&'static str> {
    let run = state.run.as_ref().filter(|_| !state.run_over)?;
    find_method(&run.method).map_or_else(|| next_in_list(state), |method| (method.what_follows)(state))
}

/// Returns what a reader of a run must know first; see [`MethodEntry::run_notes`].
pub fn run_notes(run: &RunSpec) -> Vec<(&'static str, String)> {
    find_method(&run.method).map_or_else(Vec::new, |method| (method.run_notes)(run))
}

/// Returns whether a method ever asks the actor.
pub fn asks_actor(name: &str) -> bool {
    action_source(name) == ActionSource::Actor
}

/// Returns whether a run ever asks its actor: for its method's actions, for those of a person who plays, or in a calibration
/// by another method.
pub fn run_asks_actor(run: &RunSpec) -> bool {
    asks_actor(&run.method) || run.autonomy == Autonomy::Human || has_other_calibration(run)
}

/// Returns the roles that a run has, each with who fills it: without `actor` if none is asked, without `mentor` if the method
/// has none.
pub fn run_roles(run: &RunSpec) -> impl Iterator<Item = (&'static str, &str)> {
    let actor = run_asks_actor(run).then_some(("actor", run.actor.as_str()));
    let has_mentor = !has_no_mentor(&run.method) || has_other_calibration(run);
    actor.into_iter().chain(has_mentor.then_some(("mentor", run.mentor.as_str())))
}

/// Returns whether [`CALIBRATION_METHOD`] plays the calibration of a run with another method.
fn has_other_calibration(run: &RunSpec) -> bool {
    calibrates(run) && find_method(&run.method).is_some_and(|entry| !entry.learns_from_calibration)
}

/// Returns the questions of a run's method, and of the one that plays its calibration if that is another.
pub fn questions(run: &RunSpec) -> Vec<&'static QuestionEntry> {
    let own = find_method(&run.method).map_or(&[][..], |entry| entry.questions);
    let other = has_other_calibration(run) && run.method != CALIBRATION_METHOD.name;
    own.iter().chain(CALIBRATION_METHOD.questions.iter().filter(|_| other)).collect()
}

/// Returns the method that reflects on the calibration of a run with this method.
pub fn calibration_method(name: &str) -> &'static MethodEntry {
    find_method(name).filter(|entry| entry.learns_from_calibration).unwrap_or(CALIBRATION_METHOD)
}

/// Returns the lesson that the actions of the state's episode are taken from, and the number (from 1) of the one that the
/// last step takes; see [`MethodEntry::current_action`].
pub fn current_action(state: &State) -> Option<(&LessonId, u32)> {
    (find_method(&state.run.as_ref()?.method)?.current_action)(state)
}

/// Returns whether a method has no mentor.
pub fn has_no_mentor(name: &str) -> bool {
    find_method(name).is_some_and(|entry| matches!(entry.model_need, ModelNeed::NoMentor))
}

/// Returns the number of a method's lanes on screen: "Other" counts only if the pool has a lesson for it.
pub fn visible_lane_count(name: &str, state: &State) -> usize {
    let Some((other, own)) = lanes_for_method(name).split_last() else { return 0 };
    own.len() + usize::from(state.pool.all().any(|lesson| other.can_show(lesson)))
}

/// Returns why the run never calls its mentor, and which setting changes that. Returns `None` if the mentor is called,
/// or if there is no model to call.
pub fn unused_mentor_reason(run: &RunSpec) -> Option<String> {
    let entry = find_method(&run.method)?;
    if !run.role_source(ModelRole::Mentor).replies_as_model()
        || has_other_calibration(run) && (CALIBRATION_METHOD.unused_mentor)(run).is_none()
    {
        return None;
    }
    let UnusedMentor { reason, remedy } = (entry.unused_mentor)(run)?;
    Some(format!("the mentor {} will never be called: {reason}; to call it, use {remedy}", run.mentor))
}

/// Returns why a method with these settings can't have this mentor: they need a model, and nothing can stand in for it.
pub fn unsuited_mentor_reason(method: &str, mentor: &str, settings: &Settings) -> Option<String> {
    let ModelNeed::If(needed_for) = find_method(method)?.model_need else { return None };
    let setting = needed_for(settings).filter(|_| RoleSource::parse(mentor).is_symbolic_or_nobody())?;
    Some(format!("{setting} needs a model as mentor, but the mentor is {mentor}"))
}

/// Checks that the templates have the texts that the methods of a run can't do without.
///
/// # Errors
/// Returns which texts are missing for which environment, and what to do.
pub fn check_texts(run: &RunSpec, templates: &Templates) -> Result<(), OptionError> {
    let Some(entry) = find_method(&run.method) else { return Ok(()) };
    (entry.check_texts)(run, templates)?;
    if calibrates(run) && !entry.learns_from_calibration {
        (CALIBRATION_METHOD.check_texts)(run, templates)?;
    }
    Ok(())
}

/// Returns a warning if the rule-based actor has to choose actions in an environment whose texts it doesn't understand, or whose
/// options give it others than those it understands: it would do nothing useful until the step limit.
pub fn unsuited_actor_warning(run: &RunSpec) -> Option<String> {
    if run.role_source(ModelRole::Actor) != RoleSource::Rules || !run_asks_actor(run) {
        return None;
    }
    let is_unsuited =
        |name: &&str| find_environment(name).is_some_and(|entry| entry.rule_based_reply.is_none());
    let mut environments = run.tasks.iter().map(|task| task.env.as_str());
    let Some(env) = environments.clone().find(is_unsuited) else {
        return environments.find_map(|name| unplayable_options(run, find_environment(name)?));
    };
    Some(format!(
        "the rule-based actor doesn't know the environment {env}: it will only look around; use --actor openai:MODEL \
         or --actor human"
    ))
}

fn unplayable_options(run: &RunSpec, entry: &EnvironmentEntry) -> Option<String> {
    let is_set = |(option, value): &&(&EnvironmentOption, &str)| {
        run.settings.recorded(option.name).and_then(|setting| setting.value.as_str()) == Some(*value)
    };
    let set: Vec<_> = entry.task_facts.unplayable_by_rules.iter().filter(is_set).collect();
    if set.is_empty() {
        return None;
    }
    let values: Vec<String> = set.iter().map(|(option, value)| format!("{}={value}", option.name)).collect();
    let defaults =
        set.iter().map(|(option, _)| format!("--set {}={}", option.name, option.values.default_text()));
    Some(format!(
        "the rule-based actor can't play {} with {}: hardly any of its actions will be valid; use --actor openai:MODEL, or {}",
        entry.name,
        values.join(" and "),
        defaults.collect::<Vec<_>>().join(" ")
    ))
}

/// Returns a warning if a run's questions to its mentor go to the symbolic rules, and these know nothing about an environment of
/// the run: no reflection would be written there.
pub fn uninformed_mentor_warning(run: &RunSpec) -> Option<String> {
    let entry = find_method(&run.method)?;
    let asks_rules = !entry.questions.is_empty()
        && (entry.unused_mentor)(run).is_none()
        && run.role_source(ModelRole::Mentor) == RoleSource::Symbolic;
    let has_no_rules =
        |name: &&str| find_environment(name).is_some_and(|entry| entry.rules.detectors.is_empty());
    let mut environments = run.tasks.iter().map(|task| task.env.as_str());
    let env = environments.find(has_no_rules).filter(|_| asks_rules)?;
    Some(format!(
        "the mentor is the symbolic rules, which know nothing about the environment {env}: no reflection will be written; use \
         --mentor openai:MODEL"
    ))
}

/// Returns a warning if the method has lessons of a kind that these templates have no segment for: no prompt would show them.
pub fn unshown_lessons_warning(run: &RunSpec, templates: &Templates) -> Option<String> {
    let method = find_method(&run.method)?.name;
    let is_unshown = |kind: &ReflectionKind| match lesson_reader(method, *kind) {
        LessonReader::Actor => asks_actor(method) && !templates.has_lessons_for_actor(method, *kind),
        LessonReader::Mentor => !templates.has_lessons_for_mentor(method, *kind),
        LessonReader::Nobody => false,
    };
    let kinds: Vec<&str> =
        lesson_kinds(method).into_iter().filter(is_unshown).map(ReflectionKind::name).collect();
    let first = kinds.first()?.to_lowercase();
    Some(format!(
        "no prompt will show lessons of the kind {}: the templates of {method} have no segment for them; add one with \
         kinds = [\"{first}\"]",
        kinds.join(", ")
    ))
}

/// Returns the functions with which the rule-based actor plays these environments.
pub fn rule_based_replies<'n>(environments: impl IntoIterator<Item = &'n str>) -> Vec<RuleBasedReply> {
    let names: BTreeSet<&str> = environments.into_iter().collect();
    names.into_iter().filter_map(|name| find_environment(name)?.rule_based_reply).collect()
}

/// Returns the lessons that a run's actor understands. `None` if it is a model or a person, who read any sentence.
pub fn lesson_forms(run: &RunSpec, env: &str) -> Option<LessonForms> {
    let is_rules = run.role_source(ModelRole::Actor) == RoleSource::Rules;
    find_environment(env)?.task_facts.lesson_forms.filter(|_| is_rules)
}

/// Whose prompts show lessons of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LessonReader {
    Actor,
    /// Only the mentor's questions show them.
    Mentor,
    /// What a method records enters no prompt.
    Nobody,
}

/// Returns whose prompts show lessons of a kind in a method's runs.
pub fn lesson_reader(method: &str, kind: ReflectionKind) -> LessonReader {
    let Some(entry) = find_method(method) else { return LessonReader::Actor };
    let is_record = |lane: &Lane| lane.format == LaneFormat::Record && lane.kinds.contains(&kind);
    if entry.mentor_only.contains(&kind) {
        LessonReader::Mentor
    } else if entry.lanes.iter().any(is_record) {
        LessonReader::Nobody
    } else {
        LessonReader::Actor
    }
}

/// Returns why a lesson's text changes nothing in a run: the rule-based actor plays, and understands other sentences only.
pub fn ignored_lesson_reason(
    run: &RunSpec,
    env: &str,
    kind: ReflectionKind,
    text: &LessonText,
) -> Option<String> {
    let is_for_actor = lesson_reader(&run.method, kind) == LessonReader::Actor;
    let forms = lesson_forms(run, env).filter(|forms| is_for_actor && !forms.teach(text))?;
    let example = forms.sentences.first().copied().unwrap_or_default();
    Some(format!(
        "the built-in rules ignore this sentence: they know a few fixed ones, such as \"{example}\"; a model reads any"
    ))
}

/// A method that this program cannot provide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MethodError {
    /// No method has this name.
    #[error("unknown method {0:?}; known: {list}", list = METHOD_NAMES.join(", "))]
    Name(String),
    /// The method can't play this run.
    #[error(transparent)]
    Run(#[from] crate::method::MethodError),
}

impl MethodError {
    /// Describes what to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Name(_) => format!("choose one of: {}", METHOD_NAMES.join(", ")),
            Self::Run(error) => error.hint.to_owned(),
        }
    }
}

/// Returns the policy of a run: its method and the pure functions it needs.
///
/// # Errors
/// Returns [`MethodError`] if there is no such method, or if it can't play the run.
pub fn build_policy(spec: &RunSpec, templates: Arc<Templates>) -> Result<Policy, MethodError> {
    build_policy_with(spec, Arc::new(PromptBuilder::new(templates)))
}

/// Like [`build_policy`], but drafts prompts with `builder`, so that the sender of the prompts can use its cache.
///
/// # Errors
/// See [`build_policy`].
pub fn build_policy_with(spec: &RunSpec, builder: Arc<PromptBuilder>) -> Result<Policy, MethodError> {
    let entry = find_method(&spec.method).ok_or_else(|| MethodError::Name(spec.method.clone()))?;
    let mut method: Arc<dyn Method> = (entry.build)(spec)?;
    if has_other_calibration(spec) {
        let calibration = (CALIBRATION_METHOD.build)(spec)?;
        method = Arc::new(WithCalibration { tested: method, calibration });
    }
    let played = ENVIRONMENTS.iter().filter(|entry| spec.tasks.iter().any(|task| task.env == entry.name));
    let episode_openings: Vec<&str> =
        played.flat_map(|entry| entry.texts.episode_openings).copied().collect();
    let questions = questions(spec);
    let templates = Arc::clone(builder.templates());
    let form = move |question: Question| {
        let entry = questions.iter().find(|entry| entry.question == question);
        entry.map(|entry| entry.reply_form).unwrap_or_default()
    };
    Ok(Policy {
        method,
        draft_prompt: Arc::new(move |state, ask| builder.draft(state, ask)),
        parse_reply: |state, record, reply| {
            prompt::read_actor_reply(state.settings(), &prompt::action_verbs(state, record), reply)
        },
        parse_mentor_reply: Arc::new(move |question, text, truncated| {
            prompt::read_mentor(form(question), text, truncated, &episode_openings)
        }),
        edit_prompt: prompt::edit_segment,
        rewrite_action,
        is_short_action,
        has_known_form: Arc::new(move |state, action| {
            let run = state.run.as_deref();
            state.episode.as_ref().is_none_or(|episode| templates.has_known_form(run, &episode.task, action))
        }),
        rewrite_observation,
        extract_goal: prompt::interface::goal_from_reset,
        detect: Arc::new(|state| RULES.detect(state)),
        breakpoints: crate::breakpoint::breakpoint_rules(parse_condition),
        is_attended: true,
    })
}

/// Returns how an action is sent to the environment of the state's episode; see
/// [`outgoing_action`](prompt::interface::outgoing_action).
pub fn rewrite_action(state: &State, action: &str) -> OutgoingAction {
    prompt::interface::outgoing_action(environment_texts(state), state, action)
}

/// Returns whether a text may be a complete action of the episode's environment although it is very short.
fn is_short_action(state: &State, action: &str) -> bool {
    let short_actions = environment_texts(state).short_actions;
    short_actions.is_none_or(|known| known.iter().any(|short| short.eq_ignore_ascii_case(action.trim())))
}

/// Returns the observation as shown in prompts, if it differs from the environment's; see
/// [`shown_observation`](prompt::interface::shown_observation).
pub fn rewrite_observation(
    state: &State,
    action: &str,
    result: &StepResult,
    admissible: &[String],
) -> Option<String> {
    prompt::interface::shown_observation(environment_texts(state), state, action, result, admissible)
}

fn environment_texts(state: &State) -> &'static EnvironmentTexts {
    let environment = state.episode.as_ref().and_then(|episode| find_environment(&episode.task.env));
    environment.map_or(&PLAIN_TEXTS, |entry| &entry.texts)
}

/// Parses the condition of a breakpoint or watch; a detector in it must be one of
/// [`DETECTORS`].
///
/// # Errors
/// Returns a [`ParseError`](crate::breakpoint::ParseError) that explains what is wrong.
pub fn parse_condition(
    text: &str,
) -> Result<crate::breakpoint::BreakpointSpec, crate::breakpoint::ParseError> {
    crate::breakpoint::parse_checked(text, &DETECTORS)
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
