//! A helping, a useless and a harmful lesson are told apart in each environment.
//!
//! The tasks were chosen by a pilot: 8 plays of each of 40 tasks or more (ALFWorld: 43 games) in each arm, with the seed 101. Helping lessons have
//! tasks that were won in at most half of the plays without the lesson and at least 30 points more often with it. In
//! BabyAI the harmful lesson's tasks, too, were won in at most half of the plays, and at least 30 points less often with it.
//! The measurements here use other seeds.
//!
//! The lessons that the rule-based actor understands in PDDL end habits. In the pilot, none of the nine tried won any task 30
//! points less often, so no harmful one is measured there.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_retrospect");
/// As many pairs as no difference needs for its verdict, and some more.
const PAIRS: &str = "60";
/// The number of pairs of the whole test, which has all of them, also after the verdict.
const ALL_PAIRS: &str = "100";

struct Case {
    env: &'static str,
    lesson: &'static str,
    /// What `--expect` calls the verdict.
    verdict: &'static str,
    /// The tasks; of ALFWorld, how the names of the games begin.
    tasks: &'static [&'static str],
}

const HOUSEHOLD: &[Case] = &[
    Case {
        env: "household",
        lesson: "Only a microwave can heat things.",
        verdict: "helped",
        tasks: &["normal/heat/36", "normal/heat/10", "normal/heat/19"],
    },
    Case {
        env: "household",
        lesson: "Only a fridge can cool things.",
        verdict: "no-effect",
        tasks: &["normal/heat/14"],
    },
    // The eggs are somewhere else, and there are many cabinets.
    Case {
        env: "household",
        lesson: "Look for an egg in/on a cabinet first.",
        verdict: "harmful",
        tasks: &["normal/heat/6", "normal/cool/6"],
    },
];

const ALFWORLD: &[Case] = &[
    Case {
        env: "alfworld",
        lesson: "Do not repeat an action that did nothing.",
        verdict: "helped",
        tasks: &[
            "v042__pick_cool_then_place_in_recep-Lettuce",
            "v042__look_at_obj_in_light-Bowl",
            "v042__pick_clean_then_place_in_recep-DishSponge",
            "v042__look_at_obj_in_light-CD",
            "v042__pick_heat_then_place_in_recep-Plate",
        ],
    },
    Case {
        env: "alfworld",
        lesson: "Only a fridge can cool things.",
        verdict: "no-effect",
        tasks: &["v042__look_at_obj_in_light-Bowl", "v042__pick_heat_then_place_in_recep-Plate"],
    },
    Case {
        env: "alfworld",
        lesson: "Look for a tomato in/on a cabinet first.",
        verdict: "harmful",
        tasks: &["v211__pick_heat_then_place_in_recep-Tomato-None-Garb"],
    },
];

/// The helping lesson of one level harms in another one: there, the actor has to turn to see all objects.
const BABYAI: &[Case] = &[
    Case {
        env: "babyai",
        lesson: "Do not turn round more than once.",
        verdict: "helped",
        tasks: &[
            "UnlockPickupDist/32",
            "UnlockPickupDist/15",
            "UnlockPickupDist/36",
            "UnlockPickupDist/13",
            "UnlockPickupDist/27",
            "UnlockPickupDist/10",
        ],
    },
    // This level has one room and no doors.
    Case {
        env: "babyai",
        lesson: "Toggle a closed door before you go through it.",
        verdict: "no-effect",
        tasks: &["PutNextLocalS6N4/13", "PutNextLocalS6N4/10"],
    },
    Case {
        env: "babyai",
        lesson: "Do not turn round more than once.",
        verdict: "harmful",
        tasks: &[
            "PutNextLocalS6N4/13",
            "PutNextLocalS6N4/10",
            "PutNextLocalS6N4/23",
            "PutNextLocalS6N4/2",
            "PutNextLocalS6N4/12",
            "PutNextLocalS6N4/16",
        ],
    },
];

const PDDL: &[Case] = &[
    Case {
        env: "pddl",
        lesson: "Put a block that is in the way on the table.",
        verdict: "helped",
        tasks: &["blockworld/17", "blockworld/40", "blockworld/7"],
    },
    Case {
        env: "pddl",
        lesson: "Carry a ball in each hand before you move to another room.",
        verdict: "no-effect",
        tasks: &["blockworld/17"],
    },
];

/// Measures each lesson, and checks its verdict. `find_task` turns what the case says into a task.
fn check(cases: &[Case], find_task: impl Fn(&str) -> String) {
    for case in cases {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new(PROGRAM);
        command.args(["lessons", "--pool", "pool.jsonl", "effect", "--text", case.lesson, "--env", case.env]);
        command.args(["--these", "--placebo", "none", "--keep", "none", "--json", "--expect", case.verdict]);
        for task in case.tasks {
            command.args(["--task", &find_task(task)]);
        }
        if super::is_full() {
            command.args(["--pairs", ALL_PAIRS, "--keep-going"]);
        } else {
            command.args(["--pairs", PAIRS]);
        }
        command.current_dir(dir.path()).env_clear().env("HOME", dir.path()).stdin(Stdio::null());
        let output = command.output().unwrap();
        let lines = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of_type = |name: &str| lines.iter().find(|line| line["type"] == name).cloned();
        let (verdict, summary) =
            (of_type("verdict").unwrap_or_default(), of_type("summary").unwrap_or_default());
        let name = format!("{}: {}", case.env, case.lesson);
        println!("{name} {}: {} pairs, {}", case.verdict, summary["settled"], verdict["difference"]);
        assert!(output.status.success(), "{name}: {verdict}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_helping_a_useless_and_a_harmful_lesson_are_told_apart_in_the_household() {
    check(HOUSEHOLD, str::to_owned);
}

/// Needs the real games, which are not part of the program.
#[test]
fn a_helping_a_useless_and_a_harmful_lesson_are_told_apart_in_alfworld() {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld/games");
    let Ok(folder) = std::fs::read_dir(&games) else {
        println!("0 passed, 0 failed, {} skipped: {} is absent", ALFWORLD.len(), games.display());
        assert!(std::env::var_os("RETROSPECT_GOLDEN").is_none_or(|value| value != "required"));
        return;
    };
    let mut games: Vec<_> = folder.map(|game| game.unwrap().path()).collect();
    games.sort();
    check(ALFWORLD, |start| {
        let name_begins = |game: &&std::path::PathBuf| {
            game.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
        };
        games.iter().find(name_begins).unwrap().display().to_string()
    });
}

#[test]
fn a_helping_a_useless_and_a_harmful_lesson_are_told_apart_in_babyai() {
    check(BABYAI, str::to_owned);
}

#[test]
fn a_helping_and_a_useless_lesson_are_told_apart_in_pddl() {
    check(PDDL, str::to_owned);
}
