//! Planning: the mentor writes all actions in advance (the baseline of FCRF).

use crate::catalog::lane::{Lane, LaneFormat};
use crate::catalog::method_entry::{ActionSource, MethodEntry, ModelNeed};
use crate::catalog::question_entry::{PreparedAttempts, QuestionEntry};
use crate::catalog::rules::RULES;
use crate::domain::{Purpose, Question, ReflectionKind, SettingOrigin};
use crate::method::{Planning, planning};
use crate::prompt::ReplyForm;
use std::sync::Arc;

pub(super) const ENTRY: MethodEntry = MethodEntry {
    summary: "The mentor writes all actions in advance; no actor is asked on the way: a baseline.",
    settings: planning::settings::LIST,
    templates: &[("planning-plan.toml", include_str!("../../method/planning/prompts/planning-plan.toml"))],
    questions: &[QuestionEntry {
        question: Question { kind: ReflectionKind::Plan, purpose: Purpose::PlanActions },
        when: "before the first step of each attempt",
        reply_form: ReplyForm::Program,
        sample_reply: "look",
        attempts: PreparedAttempts::LOST_REPEATEDLY,
        settings: &[],
    }],
    trials: 5,
    step_limits: (50, 50),
    limits_origin: SettingOrigin::Paper,
    lanes: &[Lane { title: "Plan", kinds: &[ReflectionKind::Plan], format: LaneFormat::Actions }],
    empty_lane_text: |_, _| Some("no plan yet: the mentor writes one before step 1".to_owned()),
    action_source: ActionSource::Plan,
    current_action: planning::current_action,
    ..MethodEntry::new("planning", |run| Ok(Arc::new(Planning::for_run(run, RULES)?)), ModelNeed::Always)
};
