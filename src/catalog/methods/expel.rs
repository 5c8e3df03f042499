//! ExpeL (a baseline of FCRF).

use crate::catalog::lane::Lane;
use crate::catalog::method_entry::{Carryover, MethodEntry, ModelNeed};
use crate::catalog::question_entry::{PreparedAttempts, QuestionEntry};
use crate::catalog::rules::RULES;
use crate::catalog::unused_mentor::{UnusedMentor, calibrates};
use crate::domain::common_settings::LOOP_DETECTOR;
use crate::domain::{DefaultValue, Purpose, Question, ReflectionKind, SettingOrigin};
use crate::method::expel::settings::SUCCESS_BATCH;
use crate::method::{Expel, expel};
use crate::prompt::ReplyForm;
use std::sync::Arc;

/// A batch of won attempts.
const EIGHT_WON: PreparedAttempts = PreparedAttempts { outcomes: &[true], trials: 1, tasks: 8 };

/// A second batch, when the first one has led to insights.
const SIXTEEN_WON: PreparedAttempts = PreparedAttempts { tasks: 16, ..EIGHT_WON };

/// A second corrected failure, when the first one has led to insights.
const TWICE_CORRECTED: PreparedAttempts = PreparedAttempts { outcomes: &[false, true], trials: 2, tasks: 4 };

pub(super) const ENTRY: MethodEntry = MethodEntry {
    summary: "Insights are drawn from lost and won trials, agreed with, edited and removed; they enter the prompts of later tasks.",
    settings: expel::settings::LIST,
    templates: &[
        ("expel.toml", include_str!("../../method/expel/prompts/expel.toml")),
        ("expel-plan.toml", include_str!("../../method/expel/prompts/expel-plan.toml")),
        ("expel-contrast.toml", include_str!("../../method/expel/prompts/expel-contrast.toml")),
        ("expel-extract.toml", include_str!("../../method/expel/prompts/expel-extract.toml")),
    ],
    questions: &[
        QuestionEntry {
            question: Question { kind: ReflectionKind::Plan, purpose: Purpose::Reflect },
            when: "after a lost attempt that will be repeated",
            reply_form: ReplyForm::Text,
            sample_reply: "{}",
            attempts: PreparedAttempts::LOST_REPEATEDLY,
            settings: &[],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Abstract, purpose: Purpose::Contrast },
            when: "after a won attempt at a training task that was lost before",
            reply_form: ReplyForm::Lines,
            sample_reply: "ADD: {}",
            attempts: PreparedAttempts::LOST_THEN_WON,
            settings: &[],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Abstract, purpose: Purpose::Contrast },
            when: "after a won attempt at a training task that was lost before, if there are insights",
            reply_form: ReplyForm::Lines,
            sample_reply: "ADD: {}",
            attempts: TWICE_CORRECTED,
            settings: &[],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Abstract, purpose: Purpose::Extract },
            when: "after success_batch won training tasks, and after the rest of them",
            reply_form: ReplyForm::Lines,
            sample_reply: "ADD: {}",
            attempts: EIGHT_WON,
            settings: &[(SUCCESS_BATCH.spec.name, DefaultValue::Number(8))],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Abstract, purpose: Purpose::Extract },
            when: "after success_batch won training tasks, and after the rest of them, if there are insights",
            reply_form: ReplyForm::Lines,
            sample_reply: "ADD: {}",
            attempts: SIXTEEN_WON,
            settings: &[(SUCCESS_BATCH.spec.name, DefaultValue::Number(8))],
        },
    ],
    // The public code sets only the temperature.
    code_sampling: &[
        ("actor.top_p", DefaultValue::Switch(false)),
        ("actor.max_tokens", DefaultValue::Switch(false)),
        ("mentor.top_p", DefaultValue::Switch(false)),
        ("mentor.max_tokens", DefaultValue::Switch(false)),
    ],
    code_defaults: &[(LOOP_DETECTOR.spec.name, DefaultValue::Switch(true))],
    // FCRF's comparison has 50, ExpeL's public code 20.
    step_limits: (50, 20),
    limits_origin: SettingOrigin::Paper,
    lanes: &[
        Lane::plain("Insights", &[ReflectionKind::Abstract]),
        Lane::plain("Plans", &[ReflectionKind::Plan]),
    ],
    empty_lane_text: |_, lane| match lane.kinds {
        [ReflectionKind::Abstract] => {
            Some("drawn from training tasks that failed at first, and from several solved ones".to_owned())
        }
        [ReflectionKind::Plan] => Some("written after a failed attempt that will be repeated".to_owned()),
        _ => None,
    },
    unused_mentor: |run| {
        let tasks = run.test_tasks().len() as u64;
        let learns = calibrates(run) || run.trials > 1 || tasks >= run.settings.get(SUCCESS_BATCH);
        (!learns).then_some(UnusedMentor {
            reason: "there are no training tasks, one trial, and fewer tasks than success_batch",
            remedy: "--calibrate or --trials 4",
        })
    },
    learns_from_calibration: true,
    carryover: |_| Carryover::AllTasks("insights and successful attempts".to_owned()),
    ..MethodEntry::new("expel", |_| Ok(Arc::new(Expel { rules: RULES })), ModelNeed::Always)
};
