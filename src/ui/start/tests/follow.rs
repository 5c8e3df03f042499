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
        origin: SettingOrigin::Ours,
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
