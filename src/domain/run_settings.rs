//! What the engine reads of a run's settings, as typed fields.

use super::common_settings::{
    ACCEPT_TRUNCATED, ACTING, ACTION_RULE, ACTOR_REPLY, ASK_AGAIN, Acting, ActionRule, ActorReply,
    CONTEXT_TOKENS, EARLY_STOP, EARLY_STOP_COSINE, EMPTY_ACTION, EXAMPLES, FORM_ENDS, FORM_RETRIES,
    GROUNDING, KEEP_ATTEMPTS, KEEP_SUCCESSES, KEPT_ATTEMPT, KeptAttempt, LEAST_REPLY, LESSON_TOKENS,
    LESSONS_BY_SCOPE, MENTOR_AT_ONCE, PROGRESS_LESSONS, ProgressLessons, REPEAT_AFTER, SUMMARY_TOKENS,
    THOUGHTS_COUNT, THOUGHTS_SENT, WARMER,
};
use super::{ModelRole, Setting, TypedSetting, sampling_overrides};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The recorded settings, by name.
pub(super) type Recorded = BTreeMap<String, Setting>;

/// The setting with the number of calibration tasks, the first of the run's tasks.
pub const CALIBRATION_SETTING: &str = "calibration";
/// The setting with the number of exploration tasks, which follow the calibration tasks and hide their goal.
pub const EXPLORATION_SETTING: &str = "exploration";
/// The setting with the name of the preset that was chosen.
pub const PRESET_SETTING: &str = "preset";
/// The prefix of the settings that say where the run stands in a larger whole ([`RunPlace`]).
pub const PLACE_PREFIX: &str = "from.";
/// The setting with the original session of a replayed episode.
pub const SOURCE_SESSION_SETTING: &str = "from.session";
/// The setting with the number of a run's first episode. A replayed episode keeps the number it had in its own session.
pub const FIRST_EPISODE_SETTING: &str = "from.number";
/// The setting with the trial number of each task's first episode. A replayed episode keeps its trial number, too.
pub const FIRST_TRIAL_SETTING: &str = "from.trial";
/// The setting with the episode number that the seeds of the run's first episode are derived from.
pub const SEED_EPISODE_SETTING: &str = "from.episode";
/// The setting with the number of tasks of a larger run of which this run plays a part. If it is present, an episode's
/// seeds depend on the position of its task and on its trial, not on the order of the episodes. A task then has the
/// same seeds no matter which process plays the other tasks, or when.
pub const SEED_TASK_COUNT_SETTING: &str = "from.tasks";
/// The setting with the hash of the prompt templates and texts that the run can show.
pub const TEMPLATES_SETTING: &str = "templates";

/// Declares a struct with a field for each of some settings, named like its constant in lower case.
macro_rules! typed_fields {
    ($($field:ident: $type:ty = $setting:ident,)+) => {
        /// The settings of a run that the engine and several other modules read, parsed once whenever one is recorded or
        /// changed. Among them are policies for replies that only single methods list, such as `form_retries`: the engine
        /// carries them out, and looks no setting up by its name. What only a method reads, it reads with its own constants
        /// ([`Settings::get`](super::Settings::get)).
        #[derive(Clone, Debug, PartialEq)]
        pub struct RunSettings {
            $(
                #[doc = concat!("[`", stringify!($setting), "`](super::common_settings::", stringify!($setting), ")")]
                pub $field: $type,
            )+
            /// Where the run stands in a larger whole.
            pub place: RunPlace,
            actor: RoleSettings,
            mentor: RoleSettings,
        }

        impl RunSettings {
            pub(super) fn parse(recorded: &Recorded) -> Self {
                Self {
                    $($field: $setting.read(recorded).unwrap_or($setting.if_missing),)+
                    place: RunPlace::parse(recorded),
                    actor: RoleSettings::parse(recorded, ModelRole::Actor),
                    mentor: RoleSettings::parse(recorded, ModelRole::Mentor),
                }
            }
        }
    };
}

typed_fields! {
    context_tokens: u64 = CONTEXT_TOKENS,
    lesson_tokens: u64 = LESSON_TOKENS,
    examples: u64 = EXAMPLES,
    lessons_by_scope: bool = LESSONS_BY_SCOPE,
    thoughts_count: bool = THOUGHTS_COUNT,
    accept_truncated: bool = ACCEPT_TRUNCATED,
    thoughts_sent: bool = THOUGHTS_SENT,
    early_stop: bool = EARLY_STOP,
    early_stop_cosine: f64 = EARLY_STOP_COSINE,
    repeat_after: u64 = REPEAT_AFTER,
    mentor_at_once: bool = MENTOR_AT_ONCE,
    ask_again: u64 = ASK_AGAIN,
    form_retries: u64 = FORM_RETRIES,
    form_ends: bool = FORM_ENDS,
    grounding: bool = GROUNDING,
    least_reply: u64 = LEAST_REPLY,
    warmer: bool = WARMER,
    action_rule: ActionRule = ACTION_RULE,
    actor_reply: ActorReply = ACTOR_REPLY,
    acting: Acting = ACTING,
    empty_action: bool = EMPTY_ACTION,
    keep_attempts: bool = KEEP_ATTEMPTS,
    keep_successes: bool = KEEP_SUCCESSES,
    kept_attempt: KeptAttempt = KEPT_ATTEMPT,
    summary_tokens: u64 = SUMMARY_TOKENS,
    progress_lessons: ProgressLessons = PROGRESS_LESSONS,
}

/// Which of the run's tasks are not tests, and which episodes of another session it repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPlace {
    /// The number of calibration tasks; `None`: the run has no calibration.
    pub calibration_tasks: Option<u64>,
    /// The number of exploration tasks.
    pub exploration_tasks: u64,
    /// The number of the run's first episode, at least 1.
    pub first_episode: u32,
    /// The trial with which each task starts; `None`: trials are counted from 1.
    pub first_trial: Option<u32>,
    /// The episode number from which the seeds of the first episode are derived, at least 1.
    pub seed_episode: u64,
    /// The number of tasks of the larger run of which this one is a part.
    pub seed_tasks: Option<u32>,
}

impl RunPlace {
    fn parse(recorded: &Recorded) -> Self {
        let number = |name: &str| recorded.get(name).and_then(|setting| setting.value.as_u64());
        let small = |name| number(name).and_then(|number| u32::try_from(number).ok());
        Self {
            calibration_tasks: recorded
                .contains_key(CALIBRATION_SETTING)
                .then(|| number(CALIBRATION_SETTING).unwrap_or(0)),
            exploration_tasks: number(EXPLORATION_SETTING).unwrap_or(0),
            first_episode: small(FIRST_EPISODE_SETTING).unwrap_or(1).max(1),
            first_trial: small(FIRST_TRIAL_SETTING).filter(|trial| *trial > 0),
            seed_episode: number(SEED_EPISODE_SETTING).unwrap_or(1).max(1),
            seed_tasks: small(SEED_TASK_COUNT_SETTING).filter(|tasks| *tasks > 0),
        }
    }
}

/// What is recorded about a role's requests to its model.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleSettings {
    /// The overridden sampling parameters, by the names of the request's fields; `false` means not sent. Parameters that
    /// are absent keep the profile's value.
    pub sampling: Map<String, Value>,
    /// The number from which the role's seeds are derived instead of the run's seed.
    pub seed: Option<u64>,
    /// The settings that the server didn't receive, or received with another value, when the run started, each with a
    /// reason. `None` if the run recorded no list.
    pub deviations: Option<Vec<String>>,
}

impl RoleSettings {
    fn parse(recorded: &Recorded, role: ModelRole) -> Self {
        let value = |part: &str| recorded.get(&format!("{}.{part}", role.name())).map(|s| &s.value);
        let phrases = |list: &Value| {
            let phrases = list.as_array().into_iter().flatten();
            phrases.filter_map(|phrase| phrase.as_str().map(str::to_owned)).collect()
        };
        Self {
            sampling: sampling_overrides(|name| value(name)),
            seed: value("seed").and_then(Value::as_u64),
            deviations: value("unsent").map(phrases),
        }
    }
}

impl RunSettings {
    /// Returns whether the forms of actions are checked.
    pub fn checks_forms(&self) -> bool {
        self.form_retries > 0 || self.form_ends
    }

    /// Returns whether an actor's reply may have several lines, so that no line break ends it.
    pub fn has_long_replies(&self) -> bool {
        self.actor_reply == ActorReply::Whole || self.acting == Acting::ScreenPlan
    }

    /// Returns what is recorded about a role's requests.
    pub fn role(&self, role: ModelRole) -> &RoleSettings {
        match role {
            ModelRole::Actor => &self.actor,
            ModelRole::Mentor => &self.mentor,
        }
    }
}

impl Default for RunSettings {
    fn default() -> Self {
        Self::parse(&Recorded::new())
    }
}

impl<T: super::SettingValue> TypedSetting<T> {
    /// Reads the recorded value; `None` if there is none, or one of another type.
    pub(super) fn read(self, recorded: &Recorded) -> Option<T> {
        recorded.get(self.spec.name).and_then(|setting| T::read(&setting.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{SettingOrigin, Settings};
    use serde_json::json;

    #[test]
    fn every_change_of_a_recorded_setting_changes_its_typed_field() {
        let mut settings = Settings::default();
        assert_eq!((settings.typed().ask_again, settings.typed().place.calibration_tasks), (0, None));
        settings.set(ASK_AGAIN.spec.name, 3, SettingOrigin::Flag);
        settings.set(CALIBRATION_SETTING, 0, SettingOrigin::Flag);
        assert_eq!((settings.typed().ask_again, settings.typed().place.calibration_tasks), (3, Some(0)));
        settings.set(ASK_AGAIN.spec.name, "many", SettingOrigin::Flag);
        assert_eq!(settings.typed().ask_again, ASK_AGAIN.if_missing, "a value of another type");
        settings.set("mentor.unsent", json!(["stop: rejected by the server", 5]), SettingOrigin::BuiltIn);
        settings.set("mentor.seed", 9, SettingOrigin::BuiltIn);
        let read: Settings = serde_json::from_value(serde_json::to_value(&settings).unwrap()).unwrap();
        assert_eq!(read, settings, "what is read from a file is parsed, too");
        let mentor = read.typed().role(ModelRole::Mentor);
        assert_eq!(mentor.deviations.as_deref(), Some(&["stop: rejected by the server".to_owned()][..]));
        assert_eq!((mentor.seed, mentor.sampling["seed"].clone()), (Some(9), json!(true)));
        settings.remove("mentor.seed");
        settings.retain(|name| name != CALIBRATION_SETTING);
        assert_eq!(settings.typed().role(ModelRole::Mentor).seed, None);
        assert_eq!(settings.typed().place, RunPlace::parse(&Recorded::new()));
    }

    #[test]
    fn numbers_about_a_repeated_run_are_at_least_one_or_absent() {
        let place = |name: &str, value: Value| {
            let mut settings = Settings::default();
            settings.set(name, value, SettingOrigin::Flag);
            settings.typed().place.clone()
        };
        assert_eq!(place(FIRST_EPISODE_SETTING, json!(0)).first_episode, 1);
        assert_eq!(place(FIRST_EPISODE_SETTING, json!(1_u64 << 40)).first_episode, 1);
        assert_eq!(place(FIRST_TRIAL_SETTING, json!(0)).first_trial, None);
        assert_eq!(place(SEED_EPISODE_SETTING, json!(0)).seed_episode, 1);
        assert_eq!(place(SEED_TASK_COUNT_SETTING, json!(0)).seed_tasks, None);
        assert_eq!(place(SEED_TASK_COUNT_SETTING, json!(134)).seed_tasks, Some(134));
    }
}
