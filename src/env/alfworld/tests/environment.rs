//! Tests of the `Environment` implementation: progress, what the agent may know (`shown`), the ground truth,
//! snapshots.

use super::{kitchen, kitchen_with};
use crate::domain::merge_patch;
use crate::env::Environment;
use crate::env::alfworld::{Targets, TaskType, World};
use serde_json::{Value, json};

#[test]
fn targets_are_read_from_the_goal_or_from_traj_data() {
    let world = kitchen();
    let from_goal = world.game().targets().clone();
    assert_eq!(from_goal.task_type, Some(TaskType::PickHeatThenPlaceInRecep));
    assert_eq!((from_goal.object.as_str(), from_goal.receptacle.as_str()), ("apple", "fridge"));
    let file = br#"{"task_type": "look_at_obj_in_light", "pddl_params": {"object_target": "AlarmClock", "toggle_target": "DeskLamp"}}"#;
    let from_file = Targets::from_traj_data("traj_data.json", file).unwrap();
    assert_eq!(from_file.task_type, Some(TaskType::LookAtObjInLight));
    assert_eq!((from_file.object.as_str(), from_file.lamp.as_str()), ("alarmclock", "desklamp"));
    assert!(
        Targets::from_traj_data("traj_data.json", b"{}")
            .unwrap_err()
            .to_string()
            .starts_with("traj_data.json: line 1")
    );
}

#[test]
fn every_goal_shape_is_recognised() {
    let goal = "(heatable ?o) (objectType ?o AppleType) (receptacleType ?r FridgeType) (isHot ?o) (inReceptacle ?o ?r)";
    let clean = "(objectType ?o KnifeType) (receptacleType ?r DrawerType) (isClean ?o) (inReceptacle ?o ?r)";
    let cool =
        "(objectType ?o AppleType) (receptacleType ?r CounterTopType) (isCool ?o) (inReceptacle ?o ?r)";
    let put = "(inReceptacle ?o ?r) (objectType ?o MugType) (receptacleType ?r DrawerType)";
    let two = "(objectType ?o MugType) (receptacleType ?r DrawerType) (inReceptacle ?o ?r) (exists (?p - object) (and (not (= ?o ?p)) (objectType ?p MugType) (inReceptacle ?p ?r)))";
    let lamp = "(exists (?t - object ?a - agent ?l - location) (and (objectType ?t DeskLampType) (toggleable ?t) (isToggled ?t) (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?t ?r))) (exists (?a - agent) (and (objectType ?o MugType) (holds ?a ?o)))";
    for (shape, task_type, object) in [
        (goal, TaskType::PickHeatThenPlaceInRecep, "apple"),
        (clean, TaskType::PickCleanThenPlaceInRecep, "knife"),
        (cool, TaskType::PickCoolThenPlaceInRecep, "apple"),
        (put, TaskType::PickAndPlaceSimple, "mug"),
        (two, TaskType::PickTwoObjAndPlace, "mug"),
        (lamp, TaskType::LookAtObjInLight, "mug"),
    ] {
        let game = kitchen_with(&[(goal, shape)]);
        assert_eq!(game.targets().task_type, Some(task_type));
        assert_eq!(game.targets().object, object);
    }
}

#[test]
fn progress_counts_each_observation_pattern_once_and_is_full_only_when_won() {
    let mut world = kitchen();
    let percent = |progress: f64| (progress * 100.0).round() as u8;
    let mut rates = vec![percent(world.reset().unwrap().progress)];
    for action in [
        "go to microwave 1",
        "go to fridge 1",
        "open fridge 1",
        "take apple 1 from fridge 1",
        "go to microwave 1",
        "heat apple 1 with microwave 1",
        "go to fridge 1",
        "move apple 1 to fridge 1",
        "take apple 1 from fridge 1",
    ] {
        let result = world.step(action).unwrap();
        assert_eq!(
            (result.won, percent(result.reward)),
            (result.progress > 0.99, if result.won { 100 } else { 0 })
        );
        assert_eq!(result.done, result.won);
        rates.push(percent(result.progress));
    }
    assert_eq!(rates, [0, 0, 0, 25, 50, 50, 75, 75, 100, 75]);
}

#[test]
fn both_wordings_of_placing_count() {
    let two = Targets {
        task_type: Some(TaskType::PickTwoObjAndPlace),
        object: "mug".to_owned(),
        receptacle: "drawer".to_owned(),
        lamp: String::new(),
    };
    for wording in ["You move the {o.name} to the {r.name}.", "You put the {o.name} in/on the {r.name}."] {
        let game = kitchen_with(&[("You move the {o.name} to the {r.name}.", wording)]);
        let mut world = World::new(game, Some(&two)).unwrap();
        world.reset().unwrap();
        let mut last = 0.0;
        for action in [
            "go to cabinet 1",
            "take mug 2 from cabinet 1",
            "move mug 2 to cabinet 1",
            "take mug 2 from cabinet 1",
            "move mug 2 to drawer 1",
        ] {
            last = world.step(action).unwrap().progress;
        }
        assert!((last - 0.75).abs() < 1e-9, "{wording}: {last}");
    }
}

#[test]
fn shown_follows_the_texts_and_reveals_no_hidden_state() {
    let mut world = kitchen();
    let start = world.reset().unwrap();
    assert_eq!(
        start.shown,
        json!({"receptacles": ["cabinet 2", "cabinet 1", "countertop 1", "drawer 1", "fridge 1", "microwave 1", "sinkbasin 1"]})
    );
    let mut known = start.shown;
    for (action, patch) in [
        ("go to fridge 1", json!({"place": "fridge 1", "seen": {"fridge 1": {"open": false}}})),
        ("examine fridge 1", Value::Null),
        ("open fridge 1", json!({"seen": {"fridge 1": {"open": true, "items": ["apple 1"]}}})),
        ("take apple 1 from fridge 1", json!({"holding": "apple 1", "seen": {"fridge 1": {"items": []}}})),
        ("close fridge 1", json!({"seen": {"fridge 1": {"open": false}}})),
        ("sing", Value::Null),
        ("go to sinkbasin 1", json!({"place": "sinkbasin 1", "seen": {"sinkbasin 1": {"items": []}}})),
        (
            "move apple 1 to sinkbasin 1",
            json!({"holding": null, "seen": {"sinkbasin 1": {"items": ["apple 1"]}}}),
        ),
        ("inventory", Value::Null),
    ] {
        let result = world.step(action).unwrap();
        assert_eq!(result.shown, patch, "{action}");
        merge_patch(&mut known, &result.shown);
    }
    assert_eq!(known["place"], "sinkbasin 1");
    assert_eq!(known.get("holding"), None);
}

#[test]
fn truth_patched_step_by_step_equals_the_full_truth() {
    let mut world = kitchen();
    let mut truth = world.reset().unwrap().truth;
    assert_eq!(
        truth["receptacles"]["fridge 1"],
        json!({"loc": "loc 3", "open": false, "items": ["apple 1"]})
    );
    assert_eq!(truth["receptacles"]["drawer 1"], json!({"loc": "loc 2", "items": ["desklamp 1"]}));
    for action in [
        "go to fridge 1",
        "open fridge 1",
        "take apple 1 from fridge 1",
        "go to cabinet 1",
        "go to sinkbasin 1",
        "move apple 1 to sinkbasin 1",
    ] {
        merge_patch(&mut truth, &world.step(action).unwrap().truth);
        assert_eq!(truth, world.truth.full_patch(world.truth_source()), "{action}");
    }
    assert_eq!(truth["place"], "sinkbasin 1");
}

#[test]
fn a_snapshot_can_be_restored_only_in_its_own_game() {
    let mut world = kitchen();
    world.reset().unwrap();
    let snapshot = kitchen().snapshot().unwrap();
    assert!(world.restore(&snapshot).is_err());
    let mut other = World::new(world.game().clone(), None).unwrap();
    world.step("go to fridge 1").unwrap();
    let snapshot = world.snapshot().unwrap();
    other.restore(&snapshot).unwrap();
    assert_eq!(other.admissible().unwrap(), world.admissible().unwrap());
    assert_eq!(other.step("open fridge 1").unwrap(), world.step("open fridge 1").unwrap());
    assert_eq!(world.world_summary(), json!({"inventory": []}));
}

/// Random walks: restoring any snapshot and repeating the actions gives the same results, and the incrementally updated
/// lists equal those of a new world.
#[test]
fn replaying_from_a_snapshot_equals_playing_from_the_start() {
    let mut random = 12345_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    for _ in 0..30 {
        let mut world = kitchen();
        world.reset().unwrap();
        let mut actions: Vec<String> = Vec::new();
        let mut snapshots = Vec::new();
        for _ in 0..40 {
            if next(5) == 0 {
                snapshots.push((actions.len(), world.snapshot().unwrap()));
            }
            let offered = world.admissible().unwrap();
            let action = offered[next(offered.len())].clone();
            world.step(&action).unwrap();
            actions.push(action);
        }
        let (end, listed) = (world.truth.full_patch(world.truth_source()), world.admissible().unwrap());
        for (at, snapshot) in snapshots.iter().rev() {
            world.restore(snapshot).unwrap();
            let mut fresh = World::new(world.game().clone(), None).unwrap();
            fresh.reset().unwrap();
            for action in &actions[..*at] {
                fresh.step(action).unwrap();
            }
            assert_eq!(world.admissible().unwrap(), fresh.admissible().unwrap());
            for action in &actions[*at..] {
                assert_eq!(world.step(action).unwrap(), fresh.step(action).unwrap());
            }
            assert_eq!(
                (world.truth.full_patch(world.truth_source()), world.admissible().unwrap()),
                (end.clone(), listed.clone())
            );
        }
    }
}
