//! Sweet&Sour.

use crate::catalog::lane::{Lane, LaneFormat};
use crate::catalog::method_entry::{Carryover, MethodEntry, ModelNeed, disabled_by};
use crate::catalog::question_entry::{PreparedAttempts, QuestionEntry};
use crate::catalog::rules::RULES;
use crate::catalog::unused_mentor::UnusedMentor;
use crate::domain::{DefaultValue, Purpose, Question, ReflectionKind, SettingOrigin, TypedSetting};
use crate::method::sweet_sour::settings::{
    MEMORY_SCOPE, MemoryScope, NEGATIVE_REFLECTIONS, POSITIVE_REFLECTIONS,
};
use crate::method::{SweetSour, sweet_sour};
use crate::prompt::ReplyForm;
use std::sync::Arc;

pub(super) const ENTRY: MethodEntry = MethodEntry {
    summary: "Reflects on what went well as on what went wrong, and remembers both in a managed memory.",
    settings: sweet_sour::settings::LIST,
    published: &[include_str!("../../method/sweet_sour/published.toml")],
    templates: &[
        ("sweet_sour.toml", include_str!("../../method/sweet_sour/prompts/sweet_sour.toml")),
        (
            "sweet_sour-positive.toml",
            include_str!("../../method/sweet_sour/prompts/sweet_sour-positive.toml"),
        ),
        (
            "sweet_sour-negative.toml",
            include_str!("../../method/sweet_sour/prompts/sweet_sour-negative.toml"),
        ),
    ],
    questions: &[
        QuestionEntry {
            question: Question { kind: ReflectionKind::Positive, purpose: Purpose::Reflect },
            when: "after each step that reaches a subgoal",
            reply_form: ReplyForm::Text,
            sample_reply: "{}",
            attempts: PreparedAttempts::WON,
            settings: &[(POSITIVE_REFLECTIONS.spec.name, DefaultValue::Switch(true))],
        },
        QuestionEntry {
            question: Question { kind: ReflectionKind::Negative, purpose: Purpose::Reflect },
            when: "after a lost attempt",
            reply_form: ReplyForm::Text,
            sample_reply: "{}",
            attempts: PreparedAttempts::LOST_REPEATEDLY,
            settings: &[(NEGATIVE_REFLECTIONS.spec.name, DefaultValue::Switch(true))],
        },
    ],
    // The paper allows up to four attempts.
    trials: 4,
    step_limits: (50, 50),
    limits_origin: SettingOrigin::Paper,
    lanes: &[
        Lane::plain("Sweet", &[ReflectionKind::Positive]),
        Lane::plain("Sour", &[ReflectionKind::Negative]),
        Lane {
            title: "Memory",
            kinds: &[ReflectionKind::Positive, ReflectionKind::Negative],
            format: LaneFormat::MemoryTuples,
        },
    ],
    empty_lane_text: |run, lane| {
        let text = match (lane.kinds, lane.format) {
            (_, LaneFormat::MemoryTuples) => {
                return Some("no short-term or long-term memories yet".to_owned());
            }
            ([ReflectionKind::Positive], _) => (POSITIVE_REFLECTIONS, "written when a subgoal is reached"),
            ([ReflectionKind::Negative], _) => (NEGATIVE_REFLECTIONS, "written after a failed attempt"),
            _ => return None,
        };
        disabled_by(run, text.0).or_else(|| Some(text.1.to_owned()))
    },
    unused_mentor: |run| {
        let is_off = |setting: TypedSetting<bool>| !run.settings.get(setting);
        (is_off(POSITIVE_REFLECTIONS) && is_off(NEGATIVE_REFLECTIONS)).then_some(UnusedMentor {
            reason: "positive and negative reflections are both off",
            remedy: "--set positive=true or --set negative=true",
        })
    },
    carryover: |run| match run.settings.get(MEMORY_SCOPE) {
        MemoryScope::Task => Carryover::SameTask("memories"),
        scope => Carryover::AllTasks(format!("memories (memory_scope {})", scope.word())),
    },
    ..MethodEntry::new("sweet_sour", |_| Ok(Arc::new(SweetSour { rules: RULES })), ModelNeed::Always)
};
