//! OmniReflect.

use super::lane::Lane;
use super::method_entry::{Carryover, MethodEntry, ModelNeed, disabled_by, no_trial_labels};
use crate::domain::ReflectionKind;
use crate::method::{OmniReflect, settings};
use std::sync::Arc;

pub(super) const LANES: &[Lane] = &[
    Lane::ABSTRACT,
    Lane::ERROR,
    Lane::PROGRESS,
    Lane::other(&[
        ReflectionKind::Plan,
        ReflectionKind::Experience,
        ReflectionKind::Lesson,
        ReflectionKind::Positive,
        ReflectionKind::Negative,
        ReflectionKind::Advice,
    ]),
];

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "omnireflect",
    build: |run| Ok(Arc::new(OmniReflect::for_run(run)?)),
    settings: settings::OMNIREFLECT,
    code_defaults: &[],
    step_limits: (50, 50),
    trials: 1,
    lanes: LANES,
    empty_lane_text: |run, lane| match lane.kinds {
        [ReflectionKind::Abstract] => disabled_by(run, "kind_abstract"),
        [ReflectionKind::Error] => disabled_by(run, "kind_error"),
        [ReflectionKind::Progress] => disabled_by(run, "kind_progress"),
        _ => None,
    },
    trial_labels: no_trial_labels,
    model_need: ModelNeed::If(|settings| settings.text("generation", "symbolic") != "symbolic"),
    mentor_plans: false,
    carryover: |_| Carryover::AllTasks("lessons".to_owned()),
};
