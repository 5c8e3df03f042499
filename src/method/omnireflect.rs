//! OmniReflect (`papers/omnireflect.txt` 2.1.2, 2.2, 3.5): Abstract, Error and Progress reflections, derived by rules
//! from the detectors' notes (symbolic, without a model), or written by a mentor every `r_freq` steps (neural,
//! neuro-symbolic). Abstract and Error lessons stay for later tasks and form the constitution; Progress ends with its
//! episode.

mod neural;
pub mod settings;

use super::MethodError;
use super::schedule;
use crate::domain::RunSpec;
use crate::domain::{EpisodeRole, ReflectionKind};
use crate::engine::{Intent, MentorReply, Method, State};
use crate::symbolic::{NoteRange, SymbolicRules};
use settings::{
    GENERATION, Generation, KIND_ABSTRACT, KIND_ERROR, KIND_PROGRESS, OFFSET, R_FREQ, REFLECT,
    REFLECT_AT_END, ReflectionTrigger,
};

/// The method `omnireflect`.
pub struct OmniReflect {
    /// The rules that write the reflections with the generation `symbolic`.
    rules: SymbolicRules,
}

impl OmniReflect {
    /// Creates the method for a run.
    ///
    /// # Errors
    /// Returns [`MethodError`] if the run names an unknown generation.
    pub fn for_run(run: &RunSpec, rules: SymbolicRules) -> Result<Self, MethodError> {
        let recorded = run.settings.text(GENERATION.spec.name, GENERATION.if_missing.word());
        if !Generation::WORDS.contains(&recorded) {
            let known = Generation::WORDS.join(", ");
            return Err(MethodError {
                problem: format!("unknown generation {recorded:?} for OmniReflect; known: {known}"),
                hint: "choose one of them with --set generation=...",
            });
        }
        Ok(Self { rules })
    }
}

impl Method for OmniReflect {
    fn name(&self) -> &'static str {
        "omnireflect"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        let mut intents = match state.open_episode() {
            Some(open) if open.first_observation.is_none() => return Vec::new(),
            Some(_) if !is_reflection_due(state) => Vec::new(),
            Some(_) if is_mentor_written(state) => neural::pending_questions(state, &kinds_to_write(state)),
            Some(_) => self.rules.reflect(state, note_range(state), &kinds_to_write(state)),
            None if is_mentor_written(state) => neural::due_summaries(state),
            None => Vec::new(),
        };
        if state.open_episode().is_some() {
            intents.push(Intent::AskActor);
        } else {
            intents.extend(schedule::next_by_task(state));
        }
        intents
    }

    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent> {
        if is_mentor_written(state) {
            return neural::manual_question(state, kind);
        }
        self.rules.reflect(state, NoteRange::WholeEpisode, &[kind])
    }

    fn on_mentor_reply(&self, state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
        neural::on_mentor_reply(state, reply)
    }
}

/// Returns whether a mentor writes the reflections instead of the rules.
fn is_mentor_written(state: &State) -> bool {
    state.setting(GENERATION) != Generation::Symbolic
}

/// Returns the kinds of reflections to write, in order. Calibration writes only kinds that outlive its episode.
/// Exploration has no goal and hence no mistakes on the way to one, so it writes only Abstract reflections.
fn kinds_to_write(state: &State) -> Vec<ReflectionKind> {
    let all = [
        (ReflectionKind::Error, KIND_ERROR),
        (ReflectionKind::Abstract, KIND_ABSTRACT),
        (ReflectionKind::Progress, KIND_PROGRESS),
    ];
    let role = state.episode.as_ref().map(|e| e.role).unwrap_or_default();
    let is_allowed = |kind: ReflectionKind| match role {
        EpisodeRole::Test => true,
        EpisodeRole::Calibrate => kind != ReflectionKind::Progress,
        EpisodeRole::Explore => kind == ReflectionKind::Abstract,
    };
    all.into_iter()
        .filter(|(kind, switch)| is_allowed(*kind) && state.setting(*switch))
        .map(|(k, _)| k)
        .collect()
}

/// Returns what triggers a reflection.
fn reflection_trigger(state: &State) -> ReflectionTrigger {
    match state.setting(REFLECT) {
        // Only the rules have conditions; a mentor is called periodically, as in Algorithm 1.
        ReflectionTrigger::Conditions if is_mentor_written(state) => ReflectionTrigger::Periodic,
        trigger => trigger,
    }
}

/// Returns whether to reflect after the last step, once its detectors ran. With `conditions` the rules decide at every
/// step; with `periodic`, reflections are due after every `r_freq`-th step from `offset` on, counting steps from 0 like
/// Algorithm 1.
fn is_reflection_due(state: &State) -> bool {
    let Some(step) = state.last_step().filter(|s| s.detectors_ran) else { return false };
    if state.is_episode_ending() && !state.setting(REFLECT_AT_END) {
        return false;
    }
    match reflection_trigger(state) {
        ReflectionTrigger::Periodic => {
            let (every, offset) = (state.setting(R_FREQ).max(1), state.setting(OFFSET));
            let step_index = u64::from(step.number.saturating_sub(1));
            step_index >= offset && (step_index - offset).is_multiple_of(every)
        }
        ReflectionTrigger::Never => false,
        ReflectionTrigger::Conditions => true,
    }
}

/// Returns the notes that the rules consider: those of the last step under `conditions`, those of the whole period
/// under `periodic`.
fn note_range(state: &State) -> NoteRange {
    if reflection_trigger(state) == ReflectionTrigger::Conditions {
        return NoteRange::LastStep;
    }
    let step = state.last_step().map_or(0, |s| u64::from(s.number));
    let last_excluded = step.saturating_sub(state.setting(R_FREQ).max(1));
    NoteRange::AfterStep(u32::try_from(last_excluded).unwrap_or(u32::MAX))
}
