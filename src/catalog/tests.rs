//! The table of methods, and the methods' intents in whole runs.

mod benefit;
mod calibrated;
mod exemplars;
mod fcrf;
mod mentor;
mod neural;
mod planning;
mod prompt_order;
mod reflexion;
mod runs;
mod summary_approval;
mod sweet_sour;
mod truncated;

use super::fixture::test_spec;
use super::*;
use crate::domain::SettingOrigin;
use crate::method::{self, PaperOrCode};

#[test]
fn unknown_methods_are_rejected_with_a_clear_error() {
    let templates = Arc::new(crate::catalog::builtin_templates());
    for name in METHOD_NAMES.iter() {
        let policy = build_policy(&test_spec(name, &[]), Arc::clone(&templates)).unwrap();
        assert_eq!(policy.method.name(), *name);
    }
    let error = build_policy(&test_spec("raect", &[]), Arc::clone(&templates)).err().unwrap();
    assert_eq!(
        error.to_string(),
        "unknown method \"raect\"; known: react, omnireflect, reflexion, fcrf, sweet_sour, planning"
    );
    let mut omnireflect = test_spec("omnireflect", &[]);
    omnireflect.settings.set("generation", "oracular", SettingOrigin::Flag);
    let error = build_policy(&omnireflect, templates).err().unwrap();
    assert_eq!(error, MethodError::Run(method::MethodError::Generation("oracular".to_owned())));
}

#[test]
fn defaults_have_an_origin_and_every_setting_is_listed_once() {
    let steps = |method, source| defaults(method, source).0.steps;
    assert_eq!(steps("react", PaperOrCode::Paper), 50);
    assert_eq!(steps("react", PaperOrCode::Code), 49);
    assert_eq!(steps("omnireflect", PaperOrCode::Code), 50);
    let (_, settings, loops) = defaults("omnireflect", PaperOrCode::Paper);
    assert!(!loops);
    assert_eq!(settings.0["reflect"].origin, SettingOrigin::Paper);
    assert_eq!(settings.0["progress"].origin, SettingOrigin::BuiltIn);
    assert!(!defaults("react", PaperOrCode::Paper).1.0.contains_key("reflect"));
    let mut names: Vec<_> = SETTINGS.iter().map(|s| s.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), SETTINGS.len());
    // The papers' numbers of trials, used if none is given.
    assert_eq!(METHOD_NAMES.iter().map(|name| default_trials(name)).collect::<Vec<_>>(), [1, 1, 15, 5, 4, 5]);
}

#[test]
fn every_kind_of_lesson_has_a_lane_in_every_method() {
    for entry in METHODS.iter() {
        for kind in crate::domain::ReflectionKind::ALL {
            assert!(entry.lanes.iter().any(|lane| lane.kinds.contains(&kind)), "{}: {kind:?}", entry.name);
        }
        assert_eq!(entry.lanes.last().map(|lane| lane.format), Some(LaneFormat::Other), "{}", entry.name);
    }
}
