//! The data types shared by all modules: tasks, steps, prompts, lessons and so on. Nothing here reads a file, a clock
//! or a socket.

mod action_verbs;
mod advice_effect;
mod base_url;
mod breakpoint;
mod call_phase;
pub mod common_settings;
mod failure;
mod id;
mod intervention;
mod job;
mod job_context;
mod job_services;
mod lesson;
mod lesson_text;
mod manual_edit;
mod measured_effect;
mod model_switch;
mod note;
mod partial_reply;
mod picture;
mod plural;
mod prompt;
mod reflection;
mod role_source;
mod run;
mod run_limit;
mod run_sampling;
mod run_settings;
mod sample;
mod sampling;
mod scope;
mod search_history;
mod setting;
mod settings;
mod similarity;
mod step;
mod step_result;
mod task;
mod tool_call;
mod trial_info;
mod truncation;
mod usage;

pub use action_verbs::ActionVerbs;
pub use advice_effect::{AdviceCounts, AdviceEffect, Attempts};
pub use base_url::parse_base_url;
pub use breakpoint::{BreakpointConfig, BreakpointMark};
pub use call_phase::CallPhase;
pub use failure::FailureKind;
pub use id::{BranchId, CallId, LessonId, Seq, hex};
pub use intervention::{Intervention, PersonAct};
pub use job::{Job, JobProgress};
pub use job_context::JobContext;
pub use job_services::JobServices;
pub use lesson::{
    Lesson, LessonEdit, LessonOp, LessonOrigin, LessonStatus, LessonVersion, PoolSummary, PoolSummaryItem,
};
pub use lesson_text::LessonText;
pub use manual_edit::ManualEdit;
pub use measured_effect::{
    AskedAt, DeterministicFact, EffectStart, MeasuredEffect, MeasuredWording, WordingComparison,
    describe_alpha, describe_level, percent_interval,
};
pub use model_switch::{differs_only_in_servers, with_base_url, with_model};
pub use note::{Note, NoteKind};
pub use partial_reply::PartialReply;
pub use picture::{Picture, PictureGlyphs, PictureRequest, PictureRole, PictureRow};
pub use plural::{pluralize, round_to_thousandths};
pub use prompt::{
    DroppedSegment, MessageRole, ModelRole, Prompt, PromptRecord, Segment, SegmentLabel, SegmentOrigin,
    SegmentRecord, TextForms,
};
pub use reflection::{
    Author, Purpose, Question, Reflection, ReflectionItem, ReflectionKind, SameAdvice, Transition,
};
pub use role_source::{BuiltInRole, RoleSource};
pub(crate) use role_source::{actor_names, mentor_names};
pub use run::{
    Autonomy, EndReason, EpisodeStats, EpisodeSummary, Interface, JSON_EXPORT_FORMAT, Limits, RunSpec,
};
pub use run_settings::{
    CALIBRATION_SETTING, EXPLORATION_SETTING, FIRST_EPISODE_SETTING, FIRST_TRIAL_SETTING, PLACE_PREFIX,
    PRESET_SETTING, RoleSettings, RunPlace, RunSettings, SEED_EPISODE_SETTING, SEED_TASK_COUNT_SETTING,
    SOURCE_SESSION_SETTING, TEMPLATES_SETTING,
};
pub use sample::{
    MAX_SAMPLES, ProposalCount, SAMPLES_AT_ONCE, Sample, SampleGroup, SampleRequest, SampleStats,
    SampleStatus, SampledLesson, count_proposals,
};
use sampling::sampling_overrides;
pub use sampling::{
    SAMPLING_PARAMS, SamplingParam, describe_setting_value, raised_temperature, role_setting, sampling_param,
};
pub use scope::Scope;
pub use search_history::{ASSISTED_MEANING, PredictedReward, SearchHistory, SearchedPoint};
pub use setting::{
    DefaultValue, MAX_NUMBER, PaperOrCode, Setting, SettingOrigin, SettingSpec, SettingValue, TypedSetting,
    setting_words,
};
pub use settings::Settings;
pub use similarity::{WordCounts, lower_case_words};
pub use step::{
    ActionDraft, DecidedBy, ExecutedAction, Observation, PlannedAction, ShownAs, Stage, Step,
    ThoughtDisposition,
};
pub use step_result::{
    ENDS_TASK, EnvInfo, LOST_BECAUSE, ListingCost, SCREENSHOT, StepResult, VERBS, merge_patch, picture_url,
    screenshot_url,
};
pub use task::{EpisodeRole, Task};
pub use tool_call::ToolCall;
pub use trial_info::TrialInfo;
pub use truncation::Truncation;
pub use usage::{EarlierUsage, TokenCounts, Usage, format_price};
