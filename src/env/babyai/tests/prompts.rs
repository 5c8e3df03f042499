//! The actions in the texts of prompts are actions of the environment.

use super::super::thing::{Colour, Kind};
use super::super::{Level, World};
use crate::env::played_attempts::attempts;
use std::sync::Arc;

/// The texts of the prompts by name.
fn texts() -> toml::Table {
    let file: toml::Table = toml::from_str(include_str!("../prompts/babyai.toml")).unwrap();
    file["texts"].as_table().unwrap().clone()
}

#[test]
fn failed_attempts_in_prompts_are_those_of_the_environment() {
    let levels = [("UnlockPickupDist", 900_022), ("FindObjS7", 900_021)];
    for name in ["failures", "tips", "experiences"] {
        let attempts = attempts(texts()[name].as_str().unwrap());
        assert_eq!(attempts.len(), levels.len(), "{name}");
        for (attempt, (level, seed)) in attempts.iter().zip(levels) {
            let mut world = World::new(Arc::new(Level::from_name(level).unwrap().generate(seed).unwrap()));
            let mut transcript = format!("{}\nYour task is to: {}\n", world.restart(), world.start().goal);
            for line in attempt.lines().filter_map(|line| line.strip_prefix("> ")) {
                let is_thought = line.starts_with("think:");
                let answer = if is_thought { "OK.".to_owned() } else { world.play(line).observation };
                transcript.extend(["> ", line, "\n", &answer, "\n"]);
            }
            assert_eq!(attempt.trim_end(), transcript.trim_end(), "{name}: {level}");
            assert!(!world.is_done(), "{name}: {level}");
        }
    }
}

/// Returns whether a text is the name of a thing, such as `red ball 1`, or of a door, with one of these states: `red closed door 1`.
fn is_name(name: &str, states: &[&str]) -> bool {
    let words: Vec<&str> = name.split(' ').collect();
    let (colour, state, kind, number) = match words[..] {
        [colour, kind, number] => (colour, None, kind, number),
        [colour, state, kind, number] => (colour, Some(state), kind, number),
        _ => return false,
    };
    let is_door = Kind::from_word(kind) == Some(Kind::Door);
    let has_state = state.map_or(!is_door, |state| is_door && states.contains(&state));
    let is_numbered = Colour::from_word(colour).is_some() && number.parse::<u32>().is_ok();
    Kind::from_word(kind).is_some() && has_state && is_numbered
}

/// Returns whether a text has the form of an action, whatever is in sight: a verb and, for most, the name of a thing.
fn is_action(text: &str) -> bool {
    if ["turn left", "turn right", "move forward", "drop", "toggle", "check available actions"]
        .contains(&text)
    {
        return true;
    }
    let names =
        |verb: &str, states: &[&str]| text.strip_prefix(verb).is_some_and(|name| is_name(name, states));
    let is_about_door = text.contains(" door ");
    names("go to ", &["open", "closed", "locked"])
        || names("pickup ", &[])
        || is_about_door && names("go through ", &["open"])
        || is_about_door && names("toggle and go through ", &["closed", "locked"])
}

/// Every action that a generated level offers has the form above, so the form is the environment's.
#[test]
fn programs_and_progress_in_prompts_name_actions_of_the_environment() {
    let mut seen = 0;
    for level in Level::all() {
        let mut world = World::new(Arc::new(level.generate(900_001).unwrap()));
        world.restart();
        for action in world.available_actions() {
            assert!(is_action(action), "{}: {action}", level.name);
            seen += 1;
        }
    }
    assert!(seen > 250, "{seen}");
    assert!(!is_action("pick up red ball 1") && !is_action("go through red closed door 1"));

    let texts = texts();
    let program = texts["program"].as_str().unwrap();
    let lines =
        program.lines().skip_while(|line| !line.starts_with('#')).filter(|line| !line.starts_with('#'));
    let actions: Vec<&str> = lines.map(|line| line.rsplit("else: ").next().unwrap().trim()).collect();
    assert!(actions.len() > 5, "{program}");
    for action in actions {
        assert!(is_action(action), "program: {action}");
    }
    let progress = texts["exemplars_progress"].as_str().unwrap();
    let next: Vec<&str> =
        progress.lines().filter_map(|line| line.split_once("Next: ")).map(|next| next.1).collect();
    assert!(next.len() >= 3, "{progress}");
    for sentence in next {
        // "go near X and drop ...", "go to X and toggle it.": what begins with a verb of the environment is an action.
        let action = sentence.split([',', '.']).next().unwrap();
        let action = action.split(" and toggle it").next().unwrap();
        if ["go to ", "go through ", "toggle and ", "pickup "].iter().any(|verb| action.starts_with(verb)) {
            assert!(is_action(action), "exemplars_progress: {action}");
        }
    }
}
