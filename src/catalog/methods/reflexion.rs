//! Reflexion.

use crate::catalog::lane::Lane;
use crate::catalog::method_entry::{Carryover, MethodEntry, ModelNeed};
use crate::catalog::question_entry::{PreparedAttempts, QuestionEntry};
use crate::catalog::rules::RULES;
use crate::catalog::unused_mentor::{UnusedMentor, one_trial};
use crate::domain::DefaultValue;
use crate::domain::common_settings::{ASK_AGAIN, LEAST_REPLY, LOOP_DETECTOR, WARMER};
use crate::domain::{Purpose, Question, ReflectionKind, SettingOrigin};
use crate::engine::State;
use crate::method::reflexion::settings::{STRATEGY, Strategy};
use crate::method::{Reflexion, reflexion};
use crate::prompt::ReplyForm;
use std::sync::Arc;

/// Reflexion's public code: its values for settings of all methods.
pub(super) const CODE_DEFAULTS: &[(&str, DefaultValue)] = &[
    (LOOP_DETECTOR.spec.name, DefaultValue::Switch(true)),
    (ASK_AGAIN.spec.name, DefaultValue::Number(5)),
    (LEAST_REPLY.spec.name, DefaultValue::Number(5)),
    (WARMER.spec.name, DefaultValue::Switch(true)),
];

/// Reflexion's public code sends the same parameters with every request, of the actor and of the mentor.
const CODE_SAMPLING: &[(&str, DefaultValue)] = &[
    ("actor.top_p", DefaultValue::Number(1)),
    ("actor.max_tokens", DefaultValue::Number(256)),
    ("mentor.top_p", DefaultValue::Number(1)),
    ("mentor.max_tokens", DefaultValue::Number(256)),
];

pub(super) const ENTRY: MethodEntry = MethodEntry {
    summary: "After a lost trial the agent writes a plan for the next one, and reads its last plans before it acts.",
    settings: reflexion::settings::LIST,
    published: &[
        include_str!("../../method/reflexion/published.toml"),
        include_str!("../../method/reflexion/published-programming.toml"),
    ],
    templates: &[
        ("reflexion.toml", include_str!("../../method/reflexion/prompts/reflexion.toml")),
        ("reflexion-plan.toml", include_str!("../../method/reflexion/prompts/reflexion-plan.toml")),
    ],
    questions: &[QuestionEntry {
        question: Question { kind: ReflectionKind::Plan, purpose: Purpose::Reflect },
        when: "after a lost attempt that will be repeated",
        reply_form: ReplyForm::Text,
        sample_reply: "{}",
        attempts: PreparedAttempts::LOST_REPEATEDLY,
        settings: &[(STRATEGY.spec.name, Strategy::Reflexion.as_default())],
    }],
    code_defaults: CODE_DEFAULTS,
    code_sampling: CODE_SAMPLING,
    step_limits: (50, 49),
    // Its shipped logs and OmniReflect's comparison have 15.
    trials: 15,
    limits_origin: SettingOrigin::Paper,
    lanes: &[Lane::plain("Plans", &[ReflectionKind::Plan])],
    empty_lane_text: |run, lane| {
        let text = match run.settings.get(STRATEGY) {
            Strategy::Nothing => "no plans: with strategy none a trial doesn't see earlier trials",
            Strategy::LastAttempt => "no plans: with strategy last-attempt a trial sees the previous attempt",
            Strategy::Reflexion | Strategy::Both => "a plan is written after a failed trial",
        };
        (lane.kinds == [ReflectionKind::Plan]).then(|| text.to_owned())
    },
    trial_labels,
    unused_mentor: |run| match run.settings.get(STRATEGY) {
        Strategy::Nothing | Strategy::LastAttempt => Some(UnusedMentor {
            reason: "this strategy writes no plans",
            remedy: "--set strategy=reflexion (or both)",
        }),
        Strategy::Reflexion | Strategy::Both => one_trial(run),
    },
    // A plan is used by the next trial of the same task.
    carryover: |_| Carryover::SameTask("plans"),
    ..MethodEntry::new("reflexion", |_| Ok(Arc::new(Reflexion { rules: RULES })), ModelNeed::Always)
};

fn trial_labels(state: &State, trial: &str, dot: &str) -> Vec<String> {
    let (Some(run), Some(episode)) = (&state.run, state.episode.as_deref()) else { return Vec::new() };
    let has_last_attempt = matches!(run.settings.get(STRATEGY), Strategy::LastAttempt | Strategy::Both);
    if episode.trial > 1 && has_last_attempt {
        vec![format!("{trial} {dot} the last attempt is in the prompt")]
    } else {
        Vec::new()
    }
}
