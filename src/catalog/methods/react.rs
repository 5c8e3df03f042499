//! ReAct, which has no reflections.

use super::omnireflect;
use crate::catalog::method_entry::{MethodEntry, ModelNeed};
use crate::catalog::rules::RULES;
use crate::catalog::unused_mentor::{UnusedMentor, calibrates};
use crate::domain::common_settings::EMPTY_ACTION;
use crate::domain::{DefaultValue, SettingOrigin};
use crate::method::ReAct;
use std::sync::Arc;

pub(super) const ENTRY: MethodEntry = MethodEntry {
    summary: "Thoughts and actions in turn. Nobody reflects and nothing is learned: the baseline.",
    settings: &[EMPTY_ACTION.spec],
    templates: &[("react.toml", include_str!("../../method/react/prompts/react.toml"))],
    code_sampling: &[
        ("actor.top_p", DefaultValue::Number(1)),
        ("actor.max_tokens", DefaultValue::Number(100)),
    ],
    step_limits: (50, 49),
    limits_origin: SettingOrigin::Paper,
    lanes: omnireflect::LANES,
    unused_mentor: |run| if calibrates(run) { omnireflect::unused_mentor(run) } else { Some(NEVER_REFLECTS) },
    ..MethodEntry::new("react", |_| Ok(Arc::new(ReAct { rules: RULES })), ModelNeed::NoMentor)
};

const NEVER_REFLECTS: UnusedMentor =
    UnusedMentor { reason: "ReAct doesn't reflect", remedy: "another --method or --calibrate" };
