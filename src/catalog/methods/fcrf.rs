//! FCRF.

use super::reflexion::CODE_DEFAULTS as CODE;
use crate::catalog::lane::Lane;
use crate::catalog::method_entry::{Carryover, MethodEntry, ModelNeed, disabled_by};
use crate::catalog::question_entry::{PreparedAttempts, QuestionEntry};
use crate::catalog::rules::RULES;
use crate::catalog::unused_mentor::one_trial;
use crate::domain::DefaultValue;
use crate::domain::common_settings::{ACTION_RULE, ActionRule};
use crate::domain::{Purpose, Question, ReflectionKind, SettingOrigin};
use crate::engine::State;
use crate::method::fcrf::settings::{EXPERIENCE, K_TABLE, LESSON, LESSON_POOL, PoolGrowth, SimpleTrials};
use crate::method::{Depth, Difficulty, Fcrf, fcrf};
use crate::prompt::ReplyForm;
use std::sync::Arc;

/// FCRF's runner is Reflexion's, and also rewrites actions.
const CODE_DEFAULTS: &[(&str, DefaultValue)] =
    &[CODE[0], CODE[1], CODE[2], CODE[3], (ACTION_RULE.spec.name, ActionRule::InOrOn.as_default())];

/// FCRF's public code sends these with every request, of the actor and of the mentor, and leaves `top_p` to the server.
const CODE_SAMPLING: &[(&str, DefaultValue)] = &[
    ("actor.top_p", DefaultValue::Switch(false)),
    ("actor.max_tokens", DefaultValue::Number(256)),
    ("mentor.top_p", DefaultValue::Switch(false)),
    ("mentor.max_tokens", DefaultValue::Number(256)),
];
/// Enough trials for simple and in-depth reflections on tasks of most difficulties.
const FIVE_LOST: PreparedAttempts = PreparedAttempts { outcomes: &[false], trials: 5, tasks: 1 };

/// A corrected failure, whose lesson is in the pool when the later attempts are lost.
const LOST_AFTER_LESSON: PreparedAttempts =
    PreparedAttempts { outcomes: &[false, true, false, false, false, false], trials: 6, tasks: 2 };

/// Several corrected failures.
const SEVERAL_CORRECTED: PreparedAttempts =
    PreparedAttempts { outcomes: &[false, true], trials: 2, tasks: 4 };

pub(super) const ENTRY: MethodEntry = MethodEntry {
    summary: "After a trial a mentor rates how hard the task was, and leaves an experience, a lesson and a plan for the next trial.",
    settings: fcrf::settings::LIST,
    published: &[include_str!("../../method/fcrf/published.toml")],
    templates: &[
        ("fcrf.toml", include_str!("../../method/fcrf/prompts/fcrf.toml")),
        ("fcrf-experience.toml", include_str!("../../method/fcrf/prompts/fcrf-experience.toml")),
        ("fcrf-plan.toml", include_str!("../../method/fcrf/prompts/fcrf-plan.toml")),
        ("fcrf-tip.toml", include_str!("../../method/fcrf/prompts/fcrf-tip.toml")),
        ("fcrf-build.toml", include_str!("../../method/fcrf/prompts/fcrf-build.toml")),
        ("fcrf-contrast.toml", include_str!("../../method/fcrf/prompts/fcrf-contrast.toml")),
        ("fcrf-summary.toml", include_str!("../../method/fcrf/prompts/fcrf-summary.toml")),
    ],
    questions: &[
        QuestionEntry {
            question: Question { kind: ReflectionKind::Experience, purpose: Purpose::Reflect },
            when: "after a lost attempt that will be repeated",
            reply_form: ReplyForm::Text,
            sample_reply: "{}",
            attempts: FIVE_LOST,
            settings: &[(EXPERIENCE.spec.name, DefaultValue::Switch(true))],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Plan, purpose: Purpose::Reflect },
            when: "after a lost attempt that will be repeated, if its reflection is simple",
            reply_form: ReplyForm::Text,
            sample_reply: "{}",
            attempts: FIVE_LOST,
            settings: &[(K_TABLE.spec.name, SimpleTrials::Code.as_default())],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Lesson, purpose: Purpose::Choose },
            when: "after a lost attempt that will be repeated, if its reflection is in-depth and the pool has lessons",
            reply_form: ReplyForm::Choice,
            sample_reply: "1: {}",
            attempts: LOST_AFTER_LESSON,
            settings: &[
                (LESSON.spec.name, DefaultValue::Switch(true)),
                (LESSON_POOL.spec.name, PoolGrowth::Append.as_default()),
            ],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Plan, purpose: Purpose::Build },
            when: "after a lost attempt that will be repeated, if its reflection is in-depth",
            reply_form: ReplyForm::Text,
            sample_reply: "{}",
            attempts: FIVE_LOST,
            settings: &[],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Plan, purpose: Purpose::Build },
            when: "after a lost attempt that will be repeated, if its reflection is in-depth and a lesson was chosen",
            reply_form: ReplyForm::Text,
            sample_reply: "{}",
            attempts: LOST_AFTER_LESSON,
            settings: &[
                (LESSON.spec.name, DefaultValue::Switch(true)),
                (LESSON_POOL.spec.name, PoolGrowth::Append.as_default()),
            ],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Lesson, purpose: Purpose::Contrast },
            when: "after a won attempt at a task that was lost before",
            reply_form: ReplyForm::Text,
            sample_reply: "{}",
            attempts: PreparedAttempts::LOST_THEN_WON,
            settings: &[(LESSON_POOL.spec.name, PoolGrowth::Append.as_default())],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Lesson, purpose: Purpose::Summarise },
            when: "after each trial over the tasks, if the pool has several lessons",
            reply_form: ReplyForm::WholeList,
            sample_reply: "[\"{}\"]",
            attempts: SEVERAL_CORRECTED,
            settings: &[(LESSON_POOL.spec.name, PoolGrowth::Summary.as_default())],
        },
    ],
    code_defaults: CODE_DEFAULTS,
    code_sampling: CODE_SAMPLING,
    step_limits: (50, 49),
    trials: 5,
    limits_origin: SettingOrigin::Paper,
    lanes: &[
        Lane::plain("Experience", &[ReflectionKind::Experience]),
        Lane::plain("Lessons", &[ReflectionKind::Lesson]),
        Lane::plain("Plan", &[ReflectionKind::Plan]),
    ],
    empty_lane_text: |run, lane| match lane.kinds {
        [ReflectionKind::Experience] => {
            disabled_by(run, EXPERIENCE).or_else(|| Some(AFTER_FAILED_TRIAL.to_owned()))
        }
        [ReflectionKind::Plan] => Some(AFTER_FAILED_TRIAL.to_owned()),
        [ReflectionKind::Lesson] => Some("written when a task that failed before is solved".to_owned()),
        _ => None,
    },
    trial_labels,
    unused_mentor: |run| one_trial(run).filter(|_| run.settings.get(LESSON_POOL) != PoolGrowth::Summary),
    carryover: |_| Carryover::AllTasks("lessons (one pool of all tasks)".to_owned()),
    ..MethodEntry::new("fcrf", |_| Ok(Arc::new(Fcrf { rules: RULES })), ModelNeed::Always)
};

const AFTER_FAILED_TRIAL: &str = "written after a failed trial";

fn trial_labels(state: &State, trial: &str, dot: &str) -> Vec<String> {
    let Some(episode) = state.episode.as_deref() else { return Vec::new() };
    let difficulty = Difficulty::from_task(&episode.task);
    // FCRF's paper calls the numbers of trials followed by a simple and by an in-depth reflection k1 and k2.
    let (k1, k2) = difficulty.trials_by_depth_in_run(state);
    let depth = match difficulty.depth_for_trial(state, episode.trial) {
        Depth::Simple => "simple",
        Depth::InDepth => "in-depth",
    };
    let whole = format!("{trial}, {depth} (k1 {k1}, k2 {k2})");
    // The difficulty on screen is the number of objects and interactions that the task needs, at most 4.
    vec![format!("difficulty {} {dot} {whole}", difficulty.sum()), whole, format!("{trial}, {depth}")]
}
