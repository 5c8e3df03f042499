//! The environments of the tests, each with a task that stays unsolved and one that a few actions solve.

use std::path::Path;

pub(crate) struct World {
    pub(crate) env: &'static str,
    /// A task that any number of the actions below doesn't solve, nor bring nearer to its goal.
    pub(crate) task: &'static str,
    /// What the actor does there, over and over.
    pub(crate) actions: [&'static str; 3],
    /// A task with subgoals, and actions that reach them one after the other; the last one reaches the goal. No two
    /// consecutive ones are equal.
    pub(crate) solved_task: &'static str,
    pub(crate) solution: &'static [&'static str],
}

pub(crate) const WORLDS: [World; 6] = [
    World {
        env: "household",
        task: "normal/heat/900005",
        actions: ["go to countertop 1", "inventory", "go to fridge 1"],
        solved_task: "normal/put/3",
        solution: &[
            "go to drawer 2",
            "open drawer 2",
            "take dishsponge 1 from drawer 2",
            "go to garbagecan 1",
            "move dishsponge 1 to garbagecan 1",
        ],
    },
    World {
        env: "babyai",
        task: "UnlockPickupDist/900005",
        actions: ["turn left", "move forward", "turn right"],
        // Generated levels have no subgoals.
        solved_task: concat!(env!("CARGO_MANIFEST_DIR"), "/tests/requests/level.json"),
        solution: &["turn right", "turn left", "pickup red ball 1"],
    },
    World {
        env: "pddl",
        task: "gripper/hard/900005",
        actions: ["look around", "drop ball1 rooma left", "look around"],
        solved_task: "gripper/easy/900002",
        solution: &[
            "Pick up ball2 at rooma with arm left.",
            "Move from rooma to roomb.",
            "drop ball2 roomb left",
            "Move from roomb to rooma.",
            "Pick up ball1 at rooma with arm left.",
            "Move from rooma to roomb.",
            "drop ball1 roomb left",
        ],
    },
    World {
        env: "pddl",
        task: "blockworld/hard/900005",
        actions: ["look around", "pickup b1", "putdown b1"],
        solved_task: "blockworld/hard/900008",
        solution: &[
            "Unstack b6 from b7.",
            "Putdown b6.",
            "Pickup b1.",
            "Stack b1 on b6.",
            "Pickup b4.",
            "Stack b4 on b7.",
        ],
    },
    World {
        env: "pddl",
        task: "barman/hard/900005",
        actions: ["look around", "left grasp shaker1", "left leave shaker1"],
        solved_task: "barman/hard/12",
        solution: &[
            "left grasp shot3.",
            "fill-shot glass shot3 with ingredient1 with left and right holding dispenser1.",
            "left leave shot3.",
            "left grasp shot2.",
            "fill-shot glass shot2 with ingredient3 with left and right holding dispenser3.",
            "left leave shot2.",
            "left grasp shot1.",
            "fill-shot glass shot1 with ingredient1 with left and right holding dispenser1.",
        ],
    },
    World {
        env: "pddl",
        task: "tyreworld/hard/900005",
        actions: ["look around", "close boot", "look around"],
        solved_task: "tyreworld/easy/2",
        solution: &[
            "Open boot.",
            "Fetch wrench from boot.",
            "Fetch r1 from boot.",
            "jack-up the hub the-hub1.",
            "Undo the fastening of the nut nuts1 on the hub the-hub1.",
            "Remove-wheel w1 from the hub the-hub1.",
            "Put-away w1 in boot.",
            "put-on-wheel r1 on the hub the-hub1.",
        ],
    },
];

const SOLVED_GAME: &str =
    "v211__pick_and_place_simple-SprayBottle-None-Toilet-415__trial_T20190909_075955_678702";

/// Returns the environments, with two games of ALFWorld where the data is present. `RETROSPECT_GOLDEN=required` makes their
/// absence a failure.
pub(crate) fn worlds() -> Vec<&'static World> {
    let mut worlds: Vec<&World> = WORLDS.iter().collect();
    let games = alfworld_games();
    let solved = games.iter().find(|game| game.contains(SOLVED_GAME));
    if let (Some(task), Some(solved_task)) = (games.first(), solved) {
        worlds.push(Box::leak(Box::new(World {
            env: "alfworld",
            task: task.clone().leak(),
            actions: ["inventory", "look", "inventory"],
            solved_task: solved_task.clone().leak(),
            solution: &[
                "go to countertop 1",
                "take spraybottle 1 from countertop 1",
                "go to toilet 1",
                "put spraybottle 1 in/on toilet 1",
            ],
        })));
    }
    worlds
}

/// Returns the game files of ALFWorld in order, or none where the data is absent.
pub(crate) fn alfworld_games() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld/games");
    let all = std::fs::read_dir(&folder).into_iter().flatten();
    let mut games: Vec<_> =
        all.map(|game| game.unwrap().path().join("game.tw-pddl").to_str().unwrap().to_owned()).collect();
    games.sort();
    if games.is_empty() {
        let required = std::env::var("RETROSPECT_GOLDEN").is_ok_and(|value| value == "required");
        assert!(!required, "no games of ALFWorld in {}", folder.display());
        eprintln!("skipped ALFWorld: no games in {}", folder.display());
    }
    games
}
