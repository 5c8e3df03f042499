//! Reflexion.

use crate::catalog::lane::Lane;
use crate::catalog::method_entry::{Carryover, MethodEntry, ModelNeed};
use crate::catalog::rules::RULES;
use crate::catalog::unused_mentor::{UnusedMentor, one_trial};
use crate::domain::ReflectionKind;
use crate::engine::State;
use crate::method::{DefaultValue, Reflexion, reflexion};
use std::sync::Arc;

/// All kinds but plans, for methods whose only other lane shows plans.
pub(super) const OTHER_THAN_PLANS: Lane = Lane::other(&[
    ReflectionKind::Abstract,
    ReflectionKind::Error,
    ReflectionKind::Progress,
    ReflectionKind::Experience,
    ReflectionKind::Lesson,
    ReflectionKind::Positive,
    ReflectionKind::Negative,
    ReflectionKind::Advice,
]);

/// Reflexion's public code: its values for settings of all methods.
pub(super) const CODE_DEFAULTS: &[(&str, DefaultValue)] = &[
    ("loop_detector", DefaultValue::Switch(true)),
    ("ask_again", DefaultValue::Number(5)),
    ("least_reply", DefaultValue::Number(5)),
    ("warmer", DefaultValue::Switch(true)),
];

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "reflexion",
    build: |_| Ok(Arc::new(Reflexion { rules: RULES })),
    settings: reflexion::settings::LIST,
    templates: &[
        ("reflexion.toml", include_str!("../../method/reflexion/prompts/reflexion.toml")),
        ("reflexion-plan.toml", include_str!("../../method/reflexion/prompts/reflexion-plan.toml")),
    ],
    jobs: &[],
    code_defaults: CODE_DEFAULTS,
    step_limits: (50, 49),
    // Its shipped logs and OmniReflect's comparison have 15.
    trials: 15,
    lanes: &[Lane::plain("Plans", &[ReflectionKind::Plan]), OTHER_THAN_PLANS],
    empty_lane_text: |run, lane| {
        let text = match run.settings.text("strategy", "reflexion") {
            "none" => "no plans: with strategy none a trial doesn't see earlier trials",
            "last-attempt" => "no plans: with strategy last-attempt a trial sees the previous attempt",
            _ => "a plan is written after a failed trial",
        };
        (lane.kinds == [ReflectionKind::Plan]).then(|| text.to_owned())
    },
    trial_labels,
    unused_mentor: |run| match run.settings.text("strategy", "") {
        "none" | "last-attempt" => Some(UnusedMentor {
            reason: "this strategy writes no plans",
            remedy: "--set strategy=reflexion (or both)",
        }),
        _ => one_trial(run),
    },
    model_need: ModelNeed::Always,
    mentor_plans: false,
    // A plan is used by the next trial of the same task.
    carryover: |_| Carryover::SameTask("plans"),
};

fn trial_labels(state: &State, trial: &str, dot: &str) -> Vec<String> {
    let (Some(run), Some(episode)) = (&state.run, state.episode.as_deref()) else { return Vec::new() };
    let has_last_attempt = matches!(run.settings.text("strategy", "reflexion"), "last-attempt" | "both");
    if episode.trial > 1 && has_last_attempt {
        vec![format!("{trial} {dot} the last attempt is in the prompt")]
    } else {
        Vec::new()
    }
}
