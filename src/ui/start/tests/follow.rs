//! Settings that follow others, and texts that are offered or typed.

use super::*;

fn words(all: &[&str]) -> Answers {
    Answers::Words(all.iter().map(|w| (*w).to_owned()).collect())
}

fn knob(name: &str, value: &str, answers: Answers) -> Knob {
    Knob {
        name: name.into(),
        label: name.into(),
        value: value.into(),
        origin: SettingOrigin::BuiltIn,
        answers,
        about: String::new(),
    }
}

fn variant(preset: &str, method: &str, trials: &str) -> Variant {
    let text = |offered: &[&str]| Answers::Text {
        none: "none",
        offered: offered.iter().map(|w| (*w).to_owned()).collect(),
        what: "a name",
    };
    Variant {
        preset: preset.to_owned(),
        method: method.to_owned(),
        reading: "paper".to_owned(),
        knobs: vec![
            knob("run.preset", preset, words(&["none", "fcrf-1"])),
            knob("run.method", method, words(&["react", "fcrf"])),
            knob("run.as", "paper", words(&["paper", "code"])),
            knob("run.actor", "rules", text(&["rules", "human", "openai:tiny"])),
            knob("run.profile", "", text(&["", "local"])),
            knob("run.trials", trials, Answers::Number(1, u64::MAX)),
        ],
    }
}

fn chooser() -> Chooser {
    let variants =
        vec![variant("none", "react", "1"), variant("none", "fcrf", "5"), variant("fcrf-1", "fcrf", "7")];
    Chooser::new(StartModel {
        knobs: variants[0].knobs.clone(),
        variants,
        profile_of: vec![("openai:tiny".to_owned(), "local".to_owned())],
        ..model()
    })
}

fn to(chooser: &mut Chooser, name: &str) {
    let place = chooser.model.knobs.iter().position(|k| k.name == name).unwrap();
    chooser.part = choose::Part::Knob(place);
}

fn values(chooser: &Chooser) -> Vec<&str> {
    chooser.model.knobs.iter().map(|k| k.value.as_str()).collect()
}

#[test]
fn a_preset_brings_its_method_and_another_method_leaves_it() {
    let mut chooser = chooser();
    to(&mut chooser, "run.preset");
    press(&mut chooser, KeyCode::Right);
    assert_eq!(values(&chooser), ["fcrf-1", "fcrf", "paper", "rules", "", "7"]);
    let started = press(&mut chooser, KeyCode::Enter);
    assert_eq!(started, run("normal/heat/7", &[("run.preset", "fcrf-1")]));
    to(&mut chooser, "run.method");
    press(&mut chooser, KeyCode::Right);
    assert_eq!(values(&chooser), ["none", "react", "paper", "rules", "", "1"]);
    // What was said of trials stays, whatever preset comes.
    to(&mut chooser, "run.trials");
    press(&mut chooser, KeyCode::Char('2'));
    to(&mut chooser, "run.preset");
    press(&mut chooser, KeyCode::Right);
    assert_eq!(values(&chooser), ["fcrf-1", "fcrf", "paper", "rules", "", "12"]);
}

#[test]
fn a_model_is_chosen_with_its_profile_or_typed() {
    let mut chooser = chooser();
    to(&mut chooser, "run.actor");
    press(&mut chooser, KeyCode::Right);
    press(&mut chooser, KeyCode::Right);
    assert_eq!(values(&chooser)[3..5], ["openai:tiny", "local"]);
    for _ in 0.."tiny".len() {
        press(&mut chooser, KeyCode::Backspace);
    }
    typed(&mut chooser, "qwen3:4b");
    assert_eq!(values(&chooser)[3], "openai:qwen3:4b", "an offered name is changed from its end");
    press(&mut chooser, KeyCode::Left);
    typed(&mut chooser, "recorded:x");
    assert_eq!(values(&chooser)[3], "recorded:x", "and what is typed at once takes its place");
    let started = press(&mut chooser, KeyCode::Enter);
    assert_eq!(started, run("normal/heat/7", &[("run.actor", "recorded:x"), ("run.profile", "local")]));
}

#[test]
fn up_and_down_walk_through_the_rows_of_settings() {
    let mut chooser = chooser();
    picture(&chooser, 80, 24);
    press(&mut chooser, KeyCode::Tab);
    let mut walked = Vec::new();
    for code in [KeyCode::Down, KeyCode::Down, KeyCode::Down, KeyCode::Down, KeyCode::Up] {
        press(&mut chooser, code);
        walked.push(match chooser.part {
            choose::Part::Knob(place) => chooser.model.knobs[place].name.clone(),
            other => format!("{other:?}"),
        });
    }
    assert_eq!(walked, ["run.method", "run.actor", "run.trials", "run.trials", "run.actor"]);
    assert_eq!(values(&chooser), ["none", "react", "paper", "rules", "", "1"], "nothing was changed by that");
}

/// The start screen showed `symbolic`, and the model that was chosen as mentor was never asked.
#[test]
fn a_model_that_is_chosen_as_mentor_makes_generation_neural() {
    let text = |offered: &[&str]| Answers::Text {
        none: "none",
        offered: offered.iter().map(|w| (*w).to_owned()).collect(),
        what: "a name",
    };
    let mut of_omni = variant("none", "omnireflect", "1");
    of_omni.knobs[1].answers = words(&["react", "omnireflect"]);
    of_omni.knobs.push(knob("run.mentor", "symbolic", text(&["symbolic", "none", "openai:tiny"])));
    let mut of_react = of_omni.clone();
    of_react.method = "react".to_owned();
    of_react.knobs[1].value = "react".to_owned();
    of_omni.knobs.push(knob("generation", "symbolic", words(&["symbolic", "neural"])));
    let start = StartModel { knobs: of_omni.knobs.clone(), variants: vec![of_omni, of_react], ..model() };
    let mut chooser = Chooser::new(start);
    let generation = |chooser: &Chooser| {
        let found = chooser.model.knobs.iter().find(|k| k.name == "generation");
        found.map(|k| (k.value.clone(), k.origin))
    };
    to(&mut chooser, "run.mentor");
    press(&mut chooser, KeyCode::Left);
    assert_eq!(generation(&chooser), Some(("neural".to_owned(), SettingOrigin::Mentor)));
    to(&mut chooser, "generation");
    let about = picture(&chooser, 120, 36);
    assert!(about.contains("because the mentor is a model"), "{about}");
    // It is nothing that the person changed: the run is put together with what follows.
    assert_eq!(press(&mut chooser, KeyCode::Enter), run("normal/heat/7", &[("run.mentor", "openai:tiny")]));
    // Another method and back, and another mentor and back.
    to(&mut chooser, "run.method");
    press(&mut chooser, KeyCode::Right);
    assert_eq!(generation(&chooser), None);
    press(&mut chooser, KeyCode::Right);
    assert_eq!(generation(&chooser), Some(("neural".to_owned(), SettingOrigin::Mentor)));
    to(&mut chooser, "run.mentor");
    press(&mut chooser, KeyCode::Right);
    assert_eq!(generation(&chooser), Some(("symbolic".to_owned(), SettingOrigin::BuiltIn)));
    // What the person says stays.
    to(&mut chooser, "generation");
    press(&mut chooser, KeyCode::Right);
    press(&mut chooser, KeyCode::Right);
    to(&mut chooser, "run.mentor");
    press(&mut chooser, KeyCode::Left);
    assert_eq!(generation(&chooser), Some(("symbolic".to_owned(), SettingOrigin::Person)));
}
