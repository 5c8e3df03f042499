//! RCI (a baseline of DORA).

use crate::catalog::lane::Lane;
use crate::catalog::method_entry::{MethodEntry, ModelNeed};
use crate::catalog::question_entry::{PreparedAttempts, QuestionEntry};
use crate::catalog::rules::RULES;
use crate::catalog::uninformed_mentor_warning;
use crate::catalog::unused_mentor::UnusedMentor;
use crate::domain::{DefaultValue, ModelRole, Purpose, Question, ReflectionKind, RoleSource, RunSpec};
use crate::method::rci::settings::{ERCI, PLAN_FIRST};
use crate::method::{Rci, rci};
use crate::prompt::ReplyForm;
use std::sync::Arc;

/// With these a plan is criticised once.
const CRITICISED: &[(&str, DefaultValue)] =
    &[(PLAN_FIRST.spec.name, DefaultValue::Switch(true)), (ERCI.spec.name, DefaultValue::Number(1))];

/// What a run says whose plans come from rules, so that nobody takes it for RCI.
const RULES_PLAN: &str = "by rules, which know one before the first step only where the first state says what is missing \
                          (docs/METHODS.md); elsewhere the actor has none, and nothing is criticised";

fn asks_rules(run: &RunSpec) -> bool {
    run.role_source(ModelRole::Mentor) == RoleSource::Symbolic
}

pub(super) const ENTRY: MethodEntry = MethodEntry {
    summary: "The mentor writes a plan before the first step, criticises it and writes it again; the actor follows it: a baseline.",
    settings: rci::settings::LIST,
    templates: &[
        ("rci.toml", include_str!("../../method/rci/prompts/rci.toml")),
        ("rci-draft.toml", include_str!("../../method/rci/prompts/rci-draft.toml")),
        ("rci-criticise.toml", include_str!("../../method/rci/prompts/rci-criticise.toml")),
        ("rci-improve.toml", include_str!("../../method/rci/prompts/rci-improve.toml")),
    ],
    questions: &[
        QuestionEntry {
            question: Question { kind: ReflectionKind::Plan, purpose: Purpose::Draft },
            when: "before the first step of each attempt",
            reply_form: ReplyForm::Lines,
            sample_reply: "{}",
            attempts: PreparedAttempts::LOST,
            settings: &[(PLAN_FIRST.spec.name, DefaultValue::Switch(true))],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Negative, purpose: Purpose::Criticise },
            when: "after each plan but the last, before the first step",
            reply_form: ReplyForm::Text,
            sample_reply: "{}",
            attempts: PreparedAttempts::LOST,
            settings: CRITICISED,
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Plan, purpose: Purpose::Improve },
            when: "after the plan was criticised, before the first step",
            reply_form: ReplyForm::Lines,
            sample_reply: "{}",
            attempts: PreparedAttempts::LOST,
            settings: CRITICISED,
        },
    ],
    // The public code sends temperature 0 and 256 tokens with every request.
    code_sampling: &[
        ("actor.top_p", DefaultValue::Switch(false)),
        ("actor.max_tokens", DefaultValue::Number(256)),
        ("mentor.top_p", DefaultValue::Switch(false)),
        ("mentor.max_tokens", DefaultValue::Number(256)),
    ],
    lanes: &[
        Lane::plain("Plan", &[ReflectionKind::Plan]),
        Lane::plain("Criticism", &[ReflectionKind::Negative]),
    ],
    mentor_only: &[ReflectionKind::Negative],
    empty_lane_text: |run, lane| {
        let text = match lane.kinds {
            [ReflectionKind::Plan] if run.settings.get(PLAN_FIRST) && asks_rules(run) => {
                "rules seldom know a plan before the first step; a model writes one"
            }
            [ReflectionKind::Plan] if run.settings.get(PLAN_FIRST) => "written before the first step",
            [ReflectionKind::Negative] if run.settings.get(ERCI) > 0 && run.settings.get(PLAN_FIRST) => {
                "what is wrong with the plan, until it has been written again"
            }
            [ReflectionKind::Negative] if run.settings.get(PLAN_FIRST) => "disabled: erci is 0",
            [ReflectionKind::Plan | ReflectionKind::Negative] => "disabled: plan_first is off",
            _ => return None,
        };
        Some(text.to_owned())
    },
    run_notes: |run| {
        let is_planned = run.settings.get(PLAN_FIRST) && asks_rules(run);
        let is_told = uninformed_mentor_warning(run).is_some();
        let note = (is_planned && !is_told).then(|| ("plan", RULES_PLAN.to_owned()));
        note.into_iter().collect()
    },
    unused_mentor: |run| {
        (!run.settings.get(PLAN_FIRST)).then_some(UnusedMentor {
            reason: "no plan is written, so none is criticised",
            remedy: "--set plan_first=true",
        })
    },
    without_mentor: &[(PLAN_FIRST.spec.name, DefaultValue::Switch(false))],
    ..MethodEntry::new("rci", |_| Ok(Arc::new(Rci { rules: RULES })), ModelNeed::Always)
};
