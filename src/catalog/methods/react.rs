//! ReAct, which has no reflections.

use super::omnireflect;
use crate::catalog::method_entry::{
    ActionSource, Carryover, MethodEntry, ModelNeed, no_current_action, no_trial_labels,
};
use crate::catalog::rules::RULES;
use crate::catalog::unused_mentor::{UnusedMentor, calibrates};
use crate::domain::common_settings::EMPTY_ACTION;
use crate::domain::{DefaultValue, SettingOrigin};
use crate::method::ReAct;
use std::sync::Arc;

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "react",
    build: |_| Ok(Arc::new(ReAct { rules: RULES })),
    settings: &[EMPTY_ACTION.spec],
    presets: &[],
    templates: &[("react.toml", include_str!("../../method/react/prompts/react.toml"))],
    jobs: &[],
    code_defaults: &[],
    code_sampling: &[
        ("actor.top_p", DefaultValue::Number(1)),
        ("actor.max_tokens", DefaultValue::Number(100)),
    ],
    step_limits: (50, 49),
    trials: 1,
    limits_origin: SettingOrigin::Paper,
    lanes: omnireflect::LANES,
    check_texts: |_, _| Ok(()),
    empty_lane_text: |_, _| None,
    trial_labels: no_trial_labels,
    unused_mentor: |run| if calibrates(run) { omnireflect::unused_mentor(run) } else { Some(NEVER_REFLECTS) },
    model_need: ModelNeed::NoMentor,
    action_source: ActionSource::Actor,
    learns_from_calibration: false,
    current_action: no_current_action,
    carryover: |_| Carryover::Nothing,
};

const NEVER_REFLECTS: UnusedMentor =
    UnusedMentor { reason: "ReAct doesn't reflect", remedy: "another --method or --calibrate" };
