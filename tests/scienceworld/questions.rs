//! Labels, lists, hints, and what is refused.

use crate::goldens;
use crate::processes::children_with;
use crate::rewind::PlayedSession;
use crate::unix::{options, recordings};
use retrospect::domain::{ListingCost, Task};
use retrospect::driver::worlds;
use retrospect::env::EnvError;
use serde_json::json;
use std::fs;

/// AgentBoard's progress is the share of the patterns that an answer has matched.
pub(crate) fn a_label_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let row = json!({
        "task": "scienceworld", "id": 37, "goal": "Go to the kitchen and look.", "difficulty": "easy",
        "subgoals": ["You move to the kitchen", "called the kitchen.*", "metal (pot|pan)"],
        "additional_info": { "env_name": "boil", "var": 5 },
    });
    let file = folder.path().join("test.jsonl");
    fs::write(&file, row.to_string()).unwrap();
    let id = format!("{}#0", file.display());
    let task = worlds::find("scienceworld", &id, &options(false)).unwrap();
    assert_eq!((task.task_type.as_deref(), task.seed), (Some("boil"), 5));
    let mut world = worlds::open(&task, &options(false)).unwrap();
    let first = world.reset().unwrap();
    assert_eq!(first.shown["goal"], "Go to the kitchen and look.");
    assert!(
        first.observation.contains("You also see:")
            && first.observation.contains("In your inventory, you see:")
    );
    let forms = world.step("check valid actions").unwrap();
    assert!(
        forms.observation.starts_with("Choose an action from these valid actions: activate OBJ, "),
        "{forms:?}"
    );
    assert_eq!((world.world_summary()["moves"].clone(), forms.valid), (json!(0), true));
    // Doors are open in AgentBoard's episodes; the way to the kitchen may lead through the hallway.
    let mut last = forms;
    for action in ["go to hallway", "go to kitchen", "look around"] {
        last = world.step(action).unwrap();
        assert!(last.progress <= 1.0 && last.done == last.won, "{last:?}");
    }
    assert!((last.progress - 1.0).abs() < 1e-12 && last.won, "{last:?}");
}

/// The prompts of the interface `agentboard` offer the request, so tasks without a label answer it too. It costs no move.
pub(crate) fn the_forms_of_actions_are_listed_in_every_task() {
    let task = worlds::find("scienceworld", "power-component/15", &options(false)).unwrap();
    let mut world = worlds::open(&task, &options(false)).unwrap();
    world.reset().unwrap();
    let forms = world.step("check valid actions").unwrap();
    assert!(forms.valid && !forms.done && forms.observation.contains(" connect OBJ to OBJ, "), "{forms:?}");
    assert!(forms.observation.ends_with(", wait1, check valid actions"), "{forms:?}");
    assert_eq!(world.world_summary()["moves"], 0);
}

pub(crate) fn lists_and_hints_leave_the_episode_alone() {
    let task = worlds::find("scienceworld", "find-non-living-thing/225", &options(false)).unwrap();
    let mut world = worlds::open(&task, &options(false)).unwrap();
    world.reset().unwrap();
    assert_eq!(world.info().listing_cost, ListingCost::ChangesWorld);
    let mut copy = worlds::open(&task, &options(false)).unwrap();
    copy.reset().unwrap();
    let simulators = || children_with(std::process::id(), "py4j.GatewayServer").len();
    let before = simulators();
    let hint = copy.hint().unwrap().unwrap();
    assert_eq!(simulators(), before, "the copy's own simulator is asked");
    for refused in [copy.step("look around").err(), copy.admissible().err()] {
        assert!(
            matches!(&refused, Some(EnvError::Refused { what }) if what.contains("reset it first")),
            "{refused:?}"
        );
    }
    assert!(copy.reset().is_ok() && copy.step("look around").is_ok());
    drop(copy);
    let (intro, plan) = hint.split_once(": ").unwrap();
    assert!(intro.contains("from the beginning"), "{hint}");
    let mut last = None;
    for action in plan.split(", ") {
        last = Some(world.step(action).unwrap());
        if last.as_ref().is_some_and(|result| result.done) {
            break;
        }
    }
    assert!(last.is_some_and(|result| result.won), "the solution wins: {hint}");
    let listed = world.admissible().unwrap();
    assert!(listed.len() > 100 && listed.is_sorted() && listed.contains(&"look around".to_owned()));
    if recordings().is_dir() {
        let recording =
            goldens::read().into_iter().find(|r| r.name.starts_with("4-2") && r.name.contains("gold"));
        let recording = recording.unwrap();
        assert!(plan.starts_with(&recording.actions()[..3].join(", ")), "{hint}");
    }
}

pub(crate) fn tasks_that_do_not_exist_are_refused() {
    let odd = Task {
        env: "scienceworld".to_owned(),
        id: "boil/31".to_owned(),
        goal: String::new(),
        task_type: None,
        difficulty: None,
        seed: 0,
    };
    let error = worlds::open(&odd, &options(false)).err().unwrap();
    assert!(matches!(&error, EnvError::Refused { what } if what.contains("30 variations")), "{error}");
    let mut missing = options(false);
    missing.paths.insert("scienceworld.jar", "/nowhere/scienceworld.jar".into());
    let error = worlds::find("scienceworld", "boil/3", &missing).unwrap_err();
    assert!(error.to_string().contains("is neither ScienceWorld's JAR"), "{error}");
    let mut odd_java = options(false);
    odd_java.paths.insert("scienceworld.java_home", "/nowhere".into());
    let error = worlds::find("scienceworld", "boil/3", &odd_java).unwrap_err();
    assert!(error.to_string().contains("no bin/java in /nowhere"), "{error}");
    let mut hard = options(false);
    hard.chosen.insert("scienceworld.simplifications", "noElectricalAction".to_owned());
    let power = worlds::find("scienceworld", "power-component/3", &hard).unwrap();
    let error = worlds::open(&power, &hard).err().unwrap();
    assert!(error.to_string().contains("can't be solved with noElectricalAction"), "{error}");
}

/// Goes thirty steps back and continues with another action, in a world with things that move by themselves.
pub(crate) fn going_back_thirty_steps() {
    const STEPS_BACK: usize = 30;
    let task = worlds::find("scienceworld", "grow-fruit/93", &options(false)).unwrap();
    let root = tempfile::tempdir().unwrap();
    let mut played = PlayedSession::begin_in(root.path(), task.clone(), &options(false));
    let moves = ["open door to greenhouse", "go to greenhouse", "open door to hallway", "go to hallway"];
    let actions: Vec<&str> = ["look around", "open door to hallway", "go to hallway"]
        .into_iter()
        .chain(moves.into_iter().chain(["look around", "go to greenhouse", "look around", "wait1"]))
        .chain(["look around", "inventory", "wait1", "sing a song", "wait1"].into_iter().cycle())
        .take(STEPS_BACK + 12)
        .collect();
    for action in &actions {
        played.act(action);
    }
    let mut reference = worlds::open(&task, &options(false)).unwrap();
    played.check_fork((actions.len() - STEPS_BACK) as u32, "look at inventory", reference.as_mut());
    played.end();
}

#[cfg(feature = "tui")]
pub(crate) fn the_screen_shows_an_episode() {
    let root = tempfile::tempdir().unwrap();
    let task = worlds::find("scienceworld", "power-component/15", &options(false)).unwrap();
    let played = PlayedSession::watch(root.path(), task, &options(false), 11);
    crate::pictures::check_pictures("scienceworld", &played.session.trunk());
    played.end();
}
