//! ReAct, which has no reflections.

use super::method_entry::{Carryover, MethodEntry, ModelNeed, no_trial_labels};
use crate::method::ReAct;
use std::sync::Arc;

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "react",
    build: |_| Ok(Arc::new(ReAct)),
    settings: &[],
    code_defaults: &[],
    step_limits: (50, 49),
    trials: 1,
    lanes: super::omnireflect::LANES,
    empty_lane_text: |_, _| None,
    trial_labels: no_trial_labels,
    model_need: ModelNeed::NoMentor,
    mentor_plans: false,
    carryover: |_| Carryover::Nothing,
};
