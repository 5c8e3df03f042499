//! Settings that depend on others, and text settings with suggestions.

use super::*;
use crate::domain::SettingOrigin;

fn one_of(all: &[&str]) -> AllowedValues {
    AllowedValues::OneOf(all.iter().map(|w| (*w).to_owned()).collect())
}

fn setting_row(name: &str, value: &str, answers: AllowedValues) -> SettingRow {
    SettingRow {
        name: name.into(),
        role: role_of(name),
        group: group_of(name),
        label: name.into(),
        value: value.into(),
        origin: SettingOrigin::BuiltIn,
        allowed: answers,
        summary: String::new(),
        meanings: Vec::new(),
        environments: Vec::new(),
        by_environment: Vec::new(),
    }
}

/// Returns the settings of a combination.
fn rows(preset: &str, method: &str, trials: &str) -> Vec<SettingRow> {
    let text = |offered: &[&str]| AllowedValues::Text {
        none_label: "none",
        suggestions: offered.iter().map(|w| (*w).to_owned()).collect(),
        expected: "a name",
    };
    vec![
        setting_row("run.preset", preset, one_of(&["none", "fcrf-1"])),
        setting_row("run.method", method, one_of(&["react", "fcrf"])),
        setting_row("run.as", "paper", one_of(&["paper", "code"])),
        setting_row("run.actor", "rules", text(&["rules", "human", "openai:tiny"])),
        setting_row("run.profile", "", text(&["", "local"])),
        setting_row("run.trials", trials, AllowedValues::Number(1, u64::MAX)),
    ]
}

/// Returns the state of a screen with these combinations, beginning with the first.
fn chooser_with(all: Vec<Vec<SettingRow>>) -> Chooser {
    let start = StartModel {
        settings: all[0].clone(),
        model_profiles: vec![("openai:tiny".to_owned(), "local".to_owned())],
        ..model()
    };
    let settings_for = move |wanted: SettingsWanted<'_>| {
        let is_wanted = |rows: &&Vec<SettingRow>| {
            rows[0].value == wanted.preset && wanted.method.is_none_or(|method| method == rows[1].value)
        };
        all.iter().find(is_wanted).cloned()
    };
    Chooser::new(start, Box::new(settings_for))
}

fn chooser() -> Chooser {
    chooser_with(vec![rows("none", "react", "1"), rows("none", "fcrf", "5"), rows("fcrf-1", "fcrf", "7")])
}

fn values(chooser: &Chooser) -> Vec<&str> {
    chooser.model.settings.iter().map(|k| k.value.as_str()).collect()
}

#[test]
fn preset_sets_its_method_and_another_method_clears_it() {
    let mut chooser = chooser();
    select_setting(&mut chooser, "run.preset");
    press(&mut chooser, KeyCode::Right);
    assert_eq!(values(&chooser), ["fcrf-1", "fcrf", "paper", "rules", "", "7"]);
    let started = press(&mut chooser, KeyCode::Enter);
    assert_eq!(started, chosen_run("normal/heat/7", &[("run.preset", "fcrf-1")]));
    select_setting(&mut chooser, "run.method");
    press(&mut chooser, KeyCode::Right);
    assert_eq!(values(&chooser), ["none", "react", "paper", "rules", "", "1"]);
    // A changed setting keeps its value under another preset.
    select_setting(&mut chooser, "run.trials");
    press(&mut chooser, KeyCode::Char('2'));
    select_setting(&mut chooser, "run.preset");
    press(&mut chooser, KeyCode::Right);
    assert_eq!(values(&chooser), ["fcrf-1", "fcrf", "paper", "rules", "", "2"]);
}

#[test]
fn a_model_is_chosen_with_its_profile_or_typed() {
    let mut chooser = chooser();
    select_setting(&mut chooser, "run.actor");
    press(&mut chooser, KeyCode::Right);
    press(&mut chooser, KeyCode::Right);
    assert_eq!(values(&chooser)[3..5], ["openai:tiny", "local"]);
    for _ in 0.."tiny".len() {
        press(&mut chooser, KeyCode::Backspace);
    }
    type_text(&mut chooser, "qwen3:4b");
    assert_eq!(values(&chooser)[3], "openai:qwen3:4b", "after Backspace, a suggestion is edited");
    press(&mut chooser, KeyCode::Left);
    type_text(&mut chooser, "recorded:x");
    assert_eq!(values(&chooser)[3], "recorded:x", "typing replaces an unedited suggestion");
    let started = press(&mut chooser, KeyCode::Enter);
    assert_eq!(
        started,
        chosen_run("normal/heat/7", &[("run.actor", "recorded:x"), ("run.profile", "local")])
    );
}

#[test]
fn up_and_down_walk_through_the_rows_of_a_page() {
    let mut chooser = chooser();
    let mut walked = Vec::new();
    for code in [
        KeyCode::Tab,
        KeyCode::Down,
        KeyCode::Down,
        KeyCode::Tab,
        KeyCode::Down,
        KeyCode::Up,
        KeyCode::BackTab,
    ] {
        press(&mut chooser, code);
        let selected = chooser.selected_setting().unwrap();
        walked.push(chooser.model.settings[selected].name.clone());
    }
    let expected =
        ["run.actor", "run.profile", "run.profile", "run.preset", "run.method", "run.preset", "run.profile"];
    assert_eq!(walked, expected, "each page keeps its selected row");
    assert_eq!(values(&chooser), ["none", "react", "paper", "rules", "", "1"], "moving changed no value");
}

/// Regression: the start screen showed `symbolic`, and the model chosen as mentor was never called.
#[test]
fn a_model_that_is_chosen_as_mentor_makes_generation_neural() {
    let text = |offered: &[&str]| AllowedValues::Text {
        none_label: "none",
        suggestions: offered.iter().map(|w| (*w).to_owned()).collect(),
        expected: "a name",
    };
    let mut of_omni = rows("none", "omnireflect", "1");
    of_omni[1].allowed = one_of(&["react", "omnireflect"]);
    of_omni.push(setting_row("run.mentor", "symbolic", text(&["symbolic", "none", "openai:tiny"])));
    let mut of_react = of_omni.clone();
    of_react[1].value = "react".to_owned();
    of_omni.push(setting_row("generation", "symbolic", one_of(&["symbolic", "neural"])));
    let mut chooser = chooser_with(vec![of_omni, of_react]);
    let generation = |chooser: &Chooser| {
        let found = chooser.model.settings.iter().find(|k| k.name == "generation");
        found.map(|k| (k.value.clone(), k.origin))
    };
    select_setting(&mut chooser, "run.mentor");
    press(&mut chooser, KeyCode::Left);
    assert_eq!(generation(&chooser), Some(("neural".to_owned(), SettingOrigin::Mentor)));
    select_setting(&mut chooser, "generation");
    let about = render(&chooser, 120, 36);
    assert!(about.contains("because the mentor is a model"), "{about}");
    // Derived settings are not returned as changed: the run derives them again.
    assert_eq!(
        press(&mut chooser, KeyCode::Enter),
        chosen_run("normal/heat/7", &[("run.mentor", "openai:tiny")])
    );
    // Switch to another method and back, then to another mentor and back.
    select_setting(&mut chooser, "run.method");
    press(&mut chooser, KeyCode::Right);
    assert_eq!(generation(&chooser), None);
    press(&mut chooser, KeyCode::Right);
    assert_eq!(generation(&chooser), Some(("neural".to_owned(), SettingOrigin::Mentor)));
    select_setting(&mut chooser, "run.mentor");
    press(&mut chooser, KeyCode::Right);
    assert_eq!(generation(&chooser), Some(("symbolic".to_owned(), SettingOrigin::BuiltIn)));
    // A value set by the person stays.
    select_setting(&mut chooser, "generation");
    press(&mut chooser, KeyCode::Right);
    press(&mut chooser, KeyCode::Right);
    select_setting(&mut chooser, "run.mentor");
    press(&mut chooser, KeyCode::Left);
    assert_eq!(generation(&chooser), Some(("symbolic".to_owned(), SettingOrigin::Person)));
}
