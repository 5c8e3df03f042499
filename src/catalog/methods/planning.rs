//! Planning: the mentor writes all actions in advance (the baseline of FCRF).

use crate::catalog::lane::{Lane, LaneFormat};
use crate::catalog::method_entry::{ActionSource, Carryover, MethodEntry, ModelNeed, no_trial_labels};
use crate::catalog::rules::RULES;
use crate::domain::{ReflectionKind, SettingOrigin};
use crate::method::{Planning, planning};
use std::sync::Arc;

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "planning",
    build: |run| Ok(Arc::new(Planning::for_run(run, RULES)?)),
    settings: planning::settings::LIST,
    presets: &[],
    templates: &[("planning-plan.toml", include_str!("../../method/planning/prompts/planning-plan.toml"))],
    jobs: &[],
    code_defaults: &[],
    code_sampling: &[],
    step_limits: (50, 50),
    trials: 5,
    limits_origin: SettingOrigin::Paper,
    lanes: &[Lane { title: "Plan", kinds: &[ReflectionKind::Plan], format: LaneFormat::Actions }],
    check_texts: |_, _| Ok(()),
    empty_lane_text: |_, _| Some("no plan yet: the mentor writes one before step 1".to_owned()),
    trial_labels: no_trial_labels,
    unused_mentor: |_| None,
    model_need: ModelNeed::Always,
    action_source: ActionSource::Plan,
    learns_from_calibration: false,
    current_action: planning::current_action,
    carryover: |_| Carryover::Nothing,
};
