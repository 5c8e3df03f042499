//! Tests of the guarantees for generated games.

use super::scene::Scene;
use super::stock::{Quantity, Stock};
use super::*;
use crate::env::Environment;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;

fn ids(difficulty: Difficulty, seeds: std::ops::Range<u32>) -> impl Iterator<Item = TaskId> {
    seeds.flat_map(move |seed| TaskKind::ALL.into_iter().map(move |kind| TaskId { difficulty, kind, seed }))
}

#[test]
fn ids_parse_and_format() {
    for text in ["easy/heat/1", "normal/two/0", "hard/look/4294967295"] {
        assert_eq!(TaskId::parse(text).unwrap().to_string(), text);
        assert_eq!(TaskId::parse(&format!("household/{text}")).unwrap().to_string(), text);
    }
    let bad = [
        "",
        "heat/1",
        "easy/heat",
        "easy/heat/",
        "easy/heat/1/2",
        "easy/heat/-1",
        "easy/heat/+1",
        "easy/heat/01",
    ];
    for text in bad.into_iter().chain(["easy/boil/1", "Easy/heat/1", "easy/heat/4294967296"]) {
        let error = TaskId::parse(text).unwrap_err().to_string();
        assert!(error.contains("normal/heat/17"), "{error}");
    }
}

/// An unintended failure means that the generator depends on something it must not depend on. After an intended change,
/// ids refer to different games: bump [`super::GENERATION`] and record the traces again.
#[test]
fn equal_ids_give_equal_bytes_on_every_machine() {
    let mut hash = Sha256::new();
    for id in Difficulty::ALL.into_iter().flat_map(|difficulty| ids(difficulty, 0..5)) {
        let game = build_game(id).unwrap();
        hash.update(game.game_json);
        hash.update(game.traj_json);
        hash.update(game.folder);
    }
    let hex = hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    });
    assert_eq!(hex, "501b094cf216a9cafb20f6aa9508d22e00e21da8cb4bb80f674e9f307ac8b60c");
}

#[test]
fn neighbouring_ids_give_unrelated_rooms() {
    let games: BTreeSet<String> =
        ids(Difficulty::Normal, 0..10).map(|id| build_game(id).unwrap().game_json).collect();
    assert_eq!(games.len(), 60);
}

#[test]
fn the_stock_table_is_consistent() {
    let stock = Stock::embedded().unwrap();
    for (room, supplies) in &stock.rooms {
        for (kind, &Quantity(share, least, mean, most)) in supplies.receptacles.iter().chain(&supplies.things)
        {
            assert!((1..=100).contains(&share), "{room} {kind}");
            assert!(1 <= least && 10 * least <= mean && mean <= 10 * most, "{room} {kind}");
        }
        for kind in supplies.receptacles.keys() {
            assert!(stock.receptacles.contains_key(kind), "{kind} is not described");
        }
        for kind in supplies.things.keys() {
            assert!(stock.things.contains_key(kind), "{kind} is not described");
        }
    }
    for (kind, thing) in &stock.things {
        for place in thing.places() {
            assert!(stock.receptacles.contains_key(place), "{kind} lies in an unknown {place}");
        }
        for verb in thing.verbs() {
            assert!(
                ["take", "clean", "heat", "cool", "slice", "switch", "hold", "small"].contains(&verb),
                "{kind}: {verb}"
            );
        }
    }
}

#[test]
fn every_scene_offers_every_kind_of_task_of_its_room() {
    let stock = Stock::embedded().unwrap();
    let mut room_types = BTreeSet::new();
    for id in Difficulty::ALL.into_iter().flat_map(|difficulty| ids(difficulty, 1000..1060)) {
        let (scene, goal) = furnish::draw_task(stock, id).unwrap();
        assert!(
            walkthrough::find_walkthrough(&scene, &problem::assign_names(&scene), &goal).is_some(),
            "{id}"
        );
        room_types.insert(scene.number / 100);
    }
    // Kitchens, living rooms, bedrooms and bathrooms.
    assert_eq!(room_types, BTreeSet::from([0, 2, 3, 4]));
}

/// Averages over rooms of one difficulty.
#[derive(Debug, Default)]
struct RoomStatistics {
    places: f64,
    closed: f64,
    things: f64,
    /// Share of used spots that serve several pieces of furniture.
    shared: f64,
    /// Share of games with an object in two pieces of furniture.
    in_two: f64,
    /// Share of the sought objects that start in openable furniture.
    hidden: f64,
}

fn room_statistics(difficulty: Difficulty) -> RoomStatistics {
    let stock = Stock::embedded().unwrap();
    let mut sum = RoomStatistics::default();
    let mut spots = 0.0;
    let games = 240.0;
    for id in ids(difficulty, 200..240) {
        let (scene, goal) = furnish::draw_task(stock, id).unwrap();
        let placed_things = || scene.things.iter().filter(|thing| !thing.furniture.is_empty());
        let count = |test: &dyn Fn(&scene::Furniture) -> bool| {
            scene.furniture.iter().filter(|place| test(place)).count() as f64
        };
        let used: BTreeSet<usize> = scene.furniture.iter().map(|place| place.spot).collect();
        spots += used.len() as f64;
        sum.places += count(&|_| true) / games;
        sum.closed += count(&|place| place.is_openable) / count(&|_| true) / games;
        sum.things += placed_things().count() as f64 / games;
        sum.shared += used.iter().filter(|&&spot| count(&|place| place.spot == spot) > 1.0).count() as f64;
        sum.in_two += f64::from(u8::from(placed_things().any(|thing| thing.furniture.len() > 1))) / games;
        let sought: Vec<_> = placed_things().filter(|thing| thing.kind == goal.object).collect();
        let hidden = sought.iter().filter(|thing| scene.furniture[thing.furniture[0]].is_openable).count();
        sum.hidden += hidden as f64 / sought.len() as f64 / games;
    }
    sum.shared /= spots;
    sum
}

/// The bounds are the averages over the real games plus a margin for randomness.
#[test]
fn normal_rooms_resemble_those_of_alfworld() {
    let normal = room_statistics(Difficulty::Normal);
    assert!((20.0..28.0).contains(&normal.places), "{normal:?}");
    assert!((0.33..0.50).contains(&normal.closed), "{normal:?}");
    assert!((32.0..44.0).contains(&normal.things), "{normal:?}");
    assert!((0.07..0.13).contains(&normal.shared), "{normal:?}");
    assert!((0.36..0.55).contains(&normal.in_two), "{normal:?}");
}

#[test]
fn harder_rooms_are_fuller_and_hide_more() {
    let [easy, normal, hard] = Difficulty::ALL.map(room_statistics);
    for (less, more) in [(&easy, &normal), (&normal, &hard)] {
        assert!(less.places + 1.0 < more.places, "{less:?} {more:?}");
        assert!(less.things + 3.0 < more.things, "{less:?} {more:?}");
        assert!(less.closed + 0.05 < more.closed, "{less:?} {more:?}");
        assert!(less.hidden + 0.2 < more.hidden, "{less:?} {more:?}");
    }
    assert!(easy.shared.abs() < f64::EPSILON && easy.hidden < 0.05, "{easy:?}");
}

#[test]
fn numbers_in_names_descend_as_ids_ascend() {
    let stock = Stock::embedded().unwrap();
    for id in ids(Difficulty::Hard, 0..2) {
        let (scene, _) = furnish::draw_task(stock, id).unwrap();
        let names = problem::assign_names(&scene);
        let mut pairs: Vec<(String, &String)> =
            scene.furniture.iter().map(|place| place.id.to_lowercase()).zip(&names.furniture).collect();
        pairs.extend(scene.things.iter().map(|thing| thing.id.to_lowercase()).zip(&names.things));
        pairs.sort();
        let distinct: BTreeSet<_> = pairs.iter().map(|pair| pair.1).collect();
        assert_eq!(distinct.len(), pairs.len(), "{id}: two things share a name");
        let numbers: Vec<(&str, u32)> = pairs
            .iter()
            .map(|(_, name)| name.split_once(' ').unwrap())
            .map(|(kind, number)| (kind, number.parse().unwrap()))
            .collect();
        for kind in ["cabinet", "drawer", "egg", "sinkbasin"] {
            let numbers_of_kind: Vec<u32> =
                numbers.iter().filter(|(name, _)| *name == kind).map(|&(_, number)| number).collect();
            let expected: Vec<u32> = (1..=numbers_of_kind.len() as u32).rev().collect();
            assert_eq!(numbers_of_kind, expected, "{id}: {kind}");
        }
    }
}

#[test]
fn the_agent_starts_at_a_spot_without_furniture() {
    let stock = Stock::embedded().unwrap();
    for id in ids(Difficulty::Normal, 0..20) {
        let (scene, _): (Scene, _) = furnish::draw_task(stock, id).unwrap();
        assert!(scene.furniture.iter().all(|place| place.spot != scene.start), "{id}");
    }
}

#[test]
fn offered_tasks_have_ids_and_goals() {
    let tasks: Vec<_> = offered_ids().map(|id| task(&id).unwrap()).collect();
    assert_eq!(tasks.len(), 24);
    for task in tasks {
        let id = TaskId::parse(&task.id).unwrap();
        assert_eq!(task.task_type.as_deref(), Some(id.kind.task_type()));
        assert!(task.goal.len() > 10, "{task:?}");
    }
    assert_eq!(generate(&PRESELECTED).unwrap().goal, "put a hot mug in coffeemachine");
}

#[test]
fn an_exported_folder_has_the_layout_that_the_loader_expects() {
    let exported = export_folder(&TaskId::parse("normal/look/1").unwrap()).unwrap();
    let (task, trial) = exported.folder.split_once('/').unwrap();
    assert!(task.starts_with("look_at_obj_in_light-") && task.contains("-None-DeskLamp-"), "{task}");
    assert_eq!(trial, "trial_household_normal_look_1");
    let [("game.tw-pddl", game), ("traj_data.json", data)] = &exported.files[..] else {
        panic!("{exported:?}")
    };
    let game: serde_json::Value = serde_json::from_str(game).unwrap();
    assert_eq!(game["solvable"], true);
    assert_eq!(game["pddl_domain"], DOMAIN);
    assert!(!game["grammar"].as_str().unwrap().contains("UNKNOWN GOAL"));
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["task_type"], "look_at_obj_in_light");
    assert_eq!(data["pddl_params"]["toggle_target"], "DeskLamp");
}

#[test]
fn every_game_loads_and_can_be_won() {
    for id in Difficulty::ALL.into_iter().flat_map(|difficulty| ids(difficulty, 300..308)) {
        let game = build_game(id).unwrap();
        assert!(game.walkthrough.len() <= 12, "{id}: {:?}", game.walkthrough);
        // Opening the world plays the walkthrough.
        let mut world = open_world(&id).unwrap_or_else(|error| panic!("{id}: {error}"));
        let intro = world.restart().unwrap().to_owned();
        assert!(intro.ends_with(&format!("\n\nYour task is to: {}.", game.goal)), "{intro}");
        assert!(!world.is_won());
    }
}

/// Programs that measure progress may read `traj_data.json` or the goal, so both must agree.
#[test]
fn the_pddl_goal_and_traj_data_agree() {
    for id in ids(Difficulty::Easy, 0..5) {
        let game = build_game(id).unwrap();
        let from_traj_data = Targets::from_traj_data("traj_data", game.traj_json.as_bytes()).unwrap();
        let loaded = Game::load("game", game.game_json.as_bytes()).unwrap();
        assert_eq!(loaded.targets(), &from_traj_data, "{id}");
        let written: serde_json::Value = serde_json::from_str(&game.game_json).unwrap();
        assert_eq!(written["walkthrough"], serde_json::json!(game.walkthrough));
        assert_eq!(written["solvable"], true);
    }
}

/// Checks the reward at the end of the walkthrough, and that progress grows along it.
#[test]
fn progress_reaches_one_along_the_walkthrough() {
    for id in ids(Difficulty::Normal, 0..3) {
        let mut world = open_world(&id).unwrap();
        let mut progress = vec![world.reset().unwrap().progress];
        for command in build_game(id).unwrap().walkthrough {
            progress.push(world.step(&command).unwrap().progress);
        }
        assert!(progress.is_sorted(), "{id}: {progress:?}");
        assert!(
            progress[0] < 0.01 && (progress[progress.len() - 1] - 1.0).abs() < 1e-9,
            "{id}: {progress:?}"
        );
    }
}
