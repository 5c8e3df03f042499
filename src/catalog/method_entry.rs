//! What the program needs to know about a method.

use super::lane::Lane;
use super::method_option::{ExemplarFile, MethodOption, OptionError, RecordOptions};
use super::question_entry::QuestionEntry;
use super::unused_mentor::UnusedMentor;
use crate::domain::common_settings::DEFAULT_STEPS;
use crate::domain::{
    DefaultValue, Job, JobContext, Lesson, LessonId, PaperOrCode, ReflectionKind, RunSpec, SearchHistory,
    SettingOrigin, SettingSpec, Settings, TypedSetting,
};
use crate::engine::{Method, State};
use crate::method::{MethodError, next_in_list};
use crate::prompt::Templates;
use serde_json::Value;
use std::sync::Arc;

/// A method: how it is built, its settings and defaults, and what screens say about it.
pub struct MethodEntry {
    /// The name on the command line and in journals.
    pub name: &'static str,
    /// What it does, in one sentence for the start screen.
    pub summary: &'static str,
    /// Creates the method for a run.
    pub build: fn(&RunSpec) -> Result<Arc<dyn Method>, MethodError>,
    /// Its own settings.
    pub settings: &'static [SettingSpec],
    /// Names and files that a run can give it, with a flag each.
    pub options: &'static [MethodOption],
    /// Makes settings of its options.
    pub record_options: RecordOptions,
    /// The option that names a file with examples for its mentor's questions; it is no setting, and not one of [`Self::options`].
    pub exemplar_file: Option<ExemplarFile>,
    /// Its presets (`--preset`). The rows of [`Self::published`] are presets, too.
    pub presets: &'static [MethodPreset],
    /// Tables of papers, one TOML text for each paper: what was measured with which settings
    /// ([`PaperRow`](super::PaperRow)).
    pub published: &'static [&'static str],
    /// Its prompt templates, as (file name, text).
    pub templates: &'static [(&'static str, &'static str)],
    /// The questions that it asks its mentor: one for each of its templates of a question.
    pub questions: &'static [QuestionEntry],
    /// The jobs it may have computed.
    pub jobs: &'static [JobEntry],
    /// The public code's values for settings that other methods have too; used with `--as paper` as well, since the paper
    /// doesn't say.
    pub code_defaults: &'static [(&'static str, DefaultValue)],
    /// The sampling parameters in the public code, by the names of their settings (`actor.top_p`); used with `--as code`.
    pub code_sampling: &'static [(&'static str, DefaultValue)],
    /// What `--as code` does otherwise than the public code nevertheless, as a clause; empty if nothing that matters.
    pub code_remark: &'static str,
    /// Whether the paper states `top_p`, and with the value that endpoints have by default (OmniReflect's). Otherwise a run
    /// leaves it to the server.
    pub states_top_p: bool,
    /// The step limit of an episode as in the paper, and as in the public code.
    pub step_limits: (u32, u32),
    /// Trials per task if none are given.
    pub trials: u32,
    /// Where trials and the first step limit come from: [`SettingOrigin::Paper`], or [`SettingOrigin::BuiltIn`] if nothing is
    /// published.
    pub limits_origin: SettingOrigin,
    /// Its lanes in screen order. After them follows one for all other kinds of lessons.
    pub lanes: &'static [Lane],
    /// Checks that the templates have the texts that a run with this method can't do without, in all of its environments;
    /// otherwise returns which are missing, and what to do.
    pub check_texts: fn(&RunSpec, &Templates) -> Result<(), OptionError>,
    /// The kinds of lessons that only the mentor's questions show, never a prompt of the actor.
    pub mentor_only: &'static [ReflectionKind],
    /// Returns why a lane is empty, or `None` if it simply has no lessons yet.
    pub empty_lane_text: fn(&RunSpec, &Lane) -> Option<String>,
    /// Adds to the trial number (such as `trial 2/5`) what the method does in this trial; longest form first. The last
    /// argument separates parts. Empty if there is nothing to add. Labels without the trial number replace it.
    pub trial_labels: fn(&State, &str, &str) -> Vec<String>,
    /// Returns why a run whose mentor is a model never calls it, or `None` if it does.
    pub unused_mentor: fn(&RunSpec) -> Option<UnusedMentor>,
    /// Its settings in a run without a mentor, so that nothing is due that nobody would write.
    pub without_mentor: &'static [(&'static str, DefaultValue)],
    /// Whether it has a mentor, and whether that must be a model.
    pub model_need: ModelNeed,
    /// Where its actions come from, so whether an actor is asked at all.
    pub action_source: ActionSource,
    /// Whether it plays and reflects on the calibration itself, as its training; otherwise [`CALIBRATION_METHOD`] does.
    ///
    /// [`CALIBRATION_METHOD`]: super::CALIBRATION_METHOD
    pub learns_from_calibration: bool,
    /// Returns the lesson whose lines the actions of this episode are taken from, and the number (from 1) of the one that
    /// the last step takes, counted as in [`numbered_plan_lines`](crate::method::numbered_plan_lines). Lanes of the format
    /// `Actions` mark it. `None` before the first step, and if the method takes no actions from a lesson.
    pub current_action: fn(&State) -> Option<(&LessonId, u32)>,
    /// Returns what its searches have tried, for pictures and exports: one for each type of tasks, in their order, of which the
    /// last may still go on. Empty if it doesn't search, or has evaluated nothing yet.
    pub search_histories: fn(&State) -> Vec<SearchHistory>,
    /// Returns where a job that is being computed stands in the run, in a few words, such as `round 2 of 5`.
    pub job_position: fn(&State, &Job) -> Option<String>,
    /// Returns what the method knows about a lesson beyond its text, in a few words, such as the reward of its evaluation.
    pub lesson_note: fn(&State, &Lesson) -> Option<String>,
    /// What a lane adds to the note of a lesson of these kinds until a measurement says it; empty if nothing.
    pub unmeasured_note: (&'static [ReflectionKind], &'static str),
    /// Returns what a lesson's pin does besides keeping it, such as `fixes its vector`.
    pub pin_effect: fn(&State, &Lesson) -> Option<&'static str>,
    /// Returns what the title of a lane says of the method at this moment, longest form first; empty if it has nothing to say.
    pub lane_labels: fn(&State, &Lane) -> Vec<String>,
    /// Returns what the run plays after the episode that has just ended, such as `next task`; `None` if nothing is left to play.
    pub what_follows: fn(&State) -> Option<&'static str>,
    /// Returns what a reader of a run must know first, such as how long it may become: each a name and a phrase.
    pub run_notes: fn(&RunSpec) -> Vec<(&'static str, String)>,
    /// What the tasks of a run leave for later ones.
    pub carryover: fn(&RunSpec) -> Carryover,
    /// Settings with which `run --dry-run` plays its prepared attempts, so that a long run is short. They must change no
    /// prompt.
    pub dry_run_settings: &'static [(&'static str, DefaultValue)],
}

impl MethodEntry {
    /// Creates an entry of a method that asks an actor for its actions and has nothing else that a screen or the
    /// command line could mention: no settings, lanes or texts, one trial of [`DEFAULT_STEPS`]. What a method has is written over it.
    pub const fn new(
        name: &'static str,
        build: fn(&RunSpec) -> Result<Arc<dyn Method>, MethodError>,
        model_need: ModelNeed,
    ) -> Self {
        Self {
            name,
            summary: "",
            build,
            settings: &[],
            options: &[],
            record_options: |_, _| Ok(None),
            exemplar_file: None,
            presets: &[],
            published: &[],
            templates: &[],
            questions: &[],
            jobs: &[],
            code_defaults: &[],
            code_sampling: &[],
            code_remark: "",
            states_top_p: false,
            step_limits: (DEFAULT_STEPS, DEFAULT_STEPS),
            trials: 1,
            limits_origin: SettingOrigin::BuiltIn,
            lanes: &[],
            check_texts: |_, _| Ok(()),
            mentor_only: &[],
            empty_lane_text: |_, _| None,
            trial_labels: |_, _, _| Vec::new(),
            unused_mentor: |_| None,
            without_mentor: &[],
            model_need,
            action_source: ActionSource::Actor,
            learns_from_calibration: false,
            current_action: |_| None,
            search_histories: |_| Vec::new(),
            job_position: |_, _| None,
            lesson_note: |_, _| None,
            unmeasured_note: (&[], ""),
            pin_effect: |_, _| None,
            lane_labels: |_, _| Vec::new(),
            what_follows: next_in_list,
            run_notes: |_| Vec::new(),
            carryover: |_| Carryover::Nothing,
            dry_run_settings: &[],
        }
    }

    /// Returns all of its options, that of its exemplars too.
    pub fn all_options(&self) -> impl Iterator<Item = &MethodOption> {
        self.options.iter().chain(self.exemplar_file.as_ref().map(|file| &file.option))
    }

    /// Returns the origin of what the method's paper says, and of what it leaves out: [`SettingOrigin::BuiltIn`] if it has no
    /// paper, so that nothing of it is published.
    pub fn paper_origin(&self) -> SettingOrigin {
        let is_published =
            |spec: &SettingSpec| matches!(spec.origin, SettingOrigin::Paper | SettingOrigin::Code);
        let has_paper = self.limits_origin != SettingOrigin::BuiltIn
            || !self.published.is_empty()
            || !self.code_sampling.is_empty()
            || self.settings.iter().any(is_published);
        if has_paper { SettingOrigin::Paper } else { SettingOrigin::BuiltIn }
    }

    /// Returns where the default step limit comes from.
    pub fn step_limit_origin(&self, source: PaperOrCode) -> SettingOrigin {
        let is_of_code = source == PaperOrCode::Code && self.step_limits.0 != self.step_limits.1;
        if is_of_code { SettingOrigin::Code } else { self.limits_origin }
    }

    /// Returns where the default number of trials comes from. No source is needed for a single one.
    pub fn trials_origin(&self) -> SettingOrigin {
        if self.trials > 1 { self.limits_origin } else { SettingOrigin::BuiltIn }
    }
}

/// A named group of values for a method's settings, with a number of trials and a step limit.
pub struct MethodPreset {
    /// The name on the command line.
    pub name: &'static str,
    /// What it is for, in a few words.
    pub meaning: &'static str,
    /// Trials per task.
    pub trials: u32,
    /// Maximum steps per episode.
    pub steps: u32,
    /// Values by the names of the settings: those of the method, and those of every run.
    pub settings: &'static [(&'static str, DefaultValue)],
}

/// A job of a method.
pub struct JobEntry {
    /// The name in journals.
    pub name: &'static str,
    /// What screens call it, such as `fitting the rewards`.
    pub label: &'static str,
    /// Computes it from its inputs; the context has texts that the inputs name by hash, and services that jobs share. Must
    /// report its progress often, since a report fails once the job is cancelled.
    pub compute: fn(&Value, &JobContext) -> Result<Value, String>,
}

/// Where a method's actions come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionSource {
    /// The actor is asked for each ([`Intent::AskActor`](crate::engine::Intent::AskActor)).
    Actor,
    /// All are planned before the first step, and the actor is never asked.
    Plan,
    /// The method proposes each by itself ([`Intent::Propose`](crate::engine::Intent::Propose)), and the actor is never asked.
    Method,
}

/// Whether a method has a mentor, and whether that must be a model.
#[derive(Clone, Copy)]
pub enum ModelNeed {
    /// It has no mentor.
    NoMentor,
    /// It always has a mentor: by default the model that acts, if one does, else the symbolic rules, which stand in for a
    /// model. It runs without a model, and with `--mentor none` without reflections.
    Always,
    /// It needs a model with some settings, and then nothing can stand in for the model. Returns such a setting and its
    /// value, such as `generation=neural`, or `None` if no model is needed.
    If(fn(&Settings) -> Option<String>),
}

/// What the tasks of a run leave for later ones.
pub enum Carryover {
    Nothing,
    /// Something for later trials of the same task.
    SameTask(&'static str),
    /// Something for all later tasks.
    AllTasks(String),
}

/// Returns the text for a lane that stays empty because a setting is off.
pub fn disabled_by(run: &RunSpec, setting: TypedSetting<bool>) -> Option<String> {
    (!run.settings.get(setting)).then(|| format!("disabled: {} is off", setting.spec.name))
}
