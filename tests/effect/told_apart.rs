//! A helping, a useless and a harmful lesson are told apart in each environment.
//!
//! The tasks were chosen by a pilot: 8 plays of each of 40 tasks or more (ALFWorld: 43 games) in each arm. Each test repeats it on
//! the chosen tasks, with other seeds than those of the measurement. Tasks of helping lessons are won in at most half of the
//! plays without the lesson and at least 30 points more often with it, those of harmful ones at least 30 points less often. In BabyAI
//! and PDDL the tasks of harmful and useless lessons, too, are won in at most half of the plays without the lesson.
//!
//! Useless lessons apply to their tasks: most plays with the lesson differ from those without it, but as many are won.
//!
//! The tasks of the harmful lesson in PDDL weren't chosen: lesson and step limit were found on the problems 1 to 40 of the domain, and
//! these are twelve others in a row.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_retrospect");
/// As many pairs as no difference needs for its verdict, and some more.
const PAIRS: &str = "60";
/// The number of pairs of the whole test, which has all of them, also after the verdict.
const ALL_PAIRS: &str = "100";

/// The seed of the pilot, and the number of plays of each task in each of its arms.
const PILOT_SEED: &str = "101";
const PILOT_PLAYS: &str = "8";
/// What the pilot must have shown of the chosen tasks: the largest share of plays that are won without the lesson where there must be
/// room for it, and the smallest effect.
const LARGEST_BASELINE: f64 = 0.5;
const SMALLEST_EFFECT: f64 = 0.3;

struct Case {
    env: &'static str,
    lesson: &'static str,
    /// What `--expect` calls the verdict.
    verdict: &'static str,
    /// The tasks; of ALFWorld, how the names of the games begin.
    tasks: &'static [&'static str],
    /// Another step limit than the environment's.
    max_steps: Option<&'static str>,
}

const HOUSEHOLD: &[Case] = &[
    Case {
        env: "household",
        lesson: "Only a microwave can heat things.",
        verdict: "helped",
        tasks: &["normal/heat/36", "normal/heat/10", "normal/heat/19"],
        max_steps: None,
    },
    Case {
        env: "household",
        lesson: "Take the object before you heat, cool or clean it.",
        verdict: "no-effect",
        tasks: &["normal/cool/2"],
        max_steps: None,
    },
    // The eggs are somewhere else, and there are many cabinets.
    Case {
        env: "household",
        lesson: "Look for an egg in/on a cabinet first.",
        verdict: "harmful",
        tasks: &["normal/heat/6", "normal/cool/6"],
        max_steps: None,
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
        max_steps: None,
    },
    Case {
        env: "alfworld",
        lesson: "Take the object before you heat, cool or clean it.",
        verdict: "no-effect",
        tasks: &[
            "v042__pick_clean_then_place_in_recep-ButterKnife",
            "v042__pick_cool_then_place_in_recep-Pan-None-DiningTable",
        ],
        max_steps: None,
    },
    Case {
        env: "alfworld",
        lesson: "Look for a tomato in/on a cabinet first.",
        verdict: "harmful",
        tasks: &["v211__pick_heat_then_place_in_recep-Tomato-None-Garb"],
        max_steps: None,
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
        max_steps: None,
    },
    // It saves some steps, of which the first task has enough, and the others never.
    Case {
        env: "babyai",
        lesson: "Use \"pickup COLOUR KIND NUMBER\".",
        verdict: "no-effect",
        tasks: &["PutNextLocalS6N4/36", "PutNextLocalS6N4/32", "PutNextLocalS6N4/24"],
        max_steps: None,
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
        max_steps: None,
    },
];

const PDDL: &[Case] = &[
    Case {
        env: "pddl",
        lesson: "Put a block that is in the way on the table.",
        verdict: "helped",
        tasks: &["blockworld/17", "blockworld/40", "blockworld/7"],
        max_steps: None,
    },
    // It saves some steps, of which the first task has enough. The second one needs more than there are.
    Case {
        env: "pddl",
        lesson: "Carry a ball in each hand before you move.",
        verdict: "no-effect",
        tasks: &["gripper/25", "gripper/hard/1"],
        max_steps: Some("20"),
    },
    // In the air a nut can't be loosened, so the actor who takes this literally jacks up and down, and never gets further.
    Case {
        env: "pddl",
        lesson: "Jack the hub up before you loosen a nut.",
        verdict: "harmful",
        tasks: &[
            "tyreworld/1001",
            "tyreworld/1002",
            "tyreworld/1003",
            "tyreworld/1004",
            "tyreworld/1005",
            "tyreworld/1006",
            "tyreworld/1007",
            "tyreworld/1008",
            "tyreworld/1009",
            "tyreworld/1010",
            "tyreworld/1011",
            "tyreworld/1012",
        ],
        max_steps: Some("26"),
    },
];

/// Plays a case with these options besides its own, and returns the lines of the output.
fn play(case: &Case, tasks: &[String], options: &[&str]) -> Vec<Value> {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["lessons", "--pool", "pool.jsonl", "effect", "--text", case.lesson, "--env", case.env]);
    command.args(["--these", "--placebo", "none", "--keep", "none", "--json"]).args(options);
    for task in tasks {
        command.args(["--task", task]);
    }
    if let Some(steps) = case.max_steps {
        command.args(["--max-steps", steps]);
    }
    command.current_dir(dir.path()).env_clear().env("HOME", dir.path()).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // 3: a budget stopped it, as always in a pilot.
    let is_complete = output.status.success() || output.status.code() == Some(3);
    let (name, verdict) = (case.name(), line_of_type(&lines, "verdict"));
    assert!(is_complete, "{name}: {verdict:?}\n{}", String::from_utf8_lossy(&output.stderr));
    lines
}

fn line_of_type<'a>(lines: &'a [Value], name: &str) -> Option<&'a Value> {
    lines.iter().rfind(|line| line["type"] == name)
}

impl Case {
    fn name(&self) -> String {
        format!("{}: {}", self.env, self.lesson)
    }

    /// Repeats the pilot on the chosen tasks, and checks that they are what they were chosen for.
    fn check_pilot(&self, tasks: &[String]) {
        let options = ["--pairs", PILOT_PLAYS, "--keep-going", "--seed", PILOT_SEED];
        let lines = play(self, tasks, &options);
        let arms = line_of_type(&lines, "summary").unwrap()["arms"].as_array().unwrap();
        let rate = |name: &str| {
            let arm = arms.iter().find(|arm| arm["name"] == name).unwrap();
            arm["won"].as_f64().unwrap() / arm["episodes"].as_f64().unwrap()
        };
        let (with, without) = (rate("with"), rate("without"));
        println!("{} {}: pilot {with:.2} with, {without:.2} without", self.name(), self.verdict);
        let needs_room = ["babyai", "pddl"].contains(&self.env);
        let (effect, needs_room) = match self.verdict {
            "helped" => (with - without, true),
            "harmful" => (without - with, needs_room),
            _ => {
                let has_room = without <= LARGEST_BASELINE;
                assert!(!needs_room || has_room, "{}: {without}", self.name());
                return;
            }
        };
        assert!(effect >= SMALLEST_EFFECT, "{}: {with} {without}", self.name());
        assert!(!needs_room || without <= LARGEST_BASELINE, "{}: {without}", self.name());
    }
}

/// Returns the share of the plays that went differently with the lesson, whatever their outcome.
fn share_of_different_plays(lines: &[Value]) -> f64 {
    let (mut plays, mut different) = (0_u32, 0_u32);
    for pair in lines.iter().filter(|line| line["type"] == "pair") {
        let plays_of = |arm: &str| pair["arms"][arm].as_array().unwrap().clone();
        for with in plays_of("with") {
            let without = plays_of("without").into_iter().find(|play| play["repeat"] == with["repeat"]);
            plays += 1;
            different += u32::from(with["trace"] != without.unwrap()["trace"]);
        }
    }
    f64::from(different) / f64::from(plays)
}

/// Repeats the pilot, measures each lesson, and checks its verdict. `find_task` turns what the case says into a task.
fn check(cases: &[Case], find_task: impl Fn(&str) -> String) {
    for case in cases {
        let tasks: Vec<String> = case.tasks.iter().map(|task| find_task(task)).collect();
        case.check_pilot(&tasks);
        let pairs: &[&str] =
            if super::is_full() { &["--pairs", ALL_PAIRS, "--keep-going"] } else { &["--pairs", PAIRS] };
        let lines = play(case, &tasks, pairs);
        let verdict = line_of_type(&lines, "verdict").unwrap();
        let different = share_of_different_plays(&lines);
        let settled = &line_of_type(&lines, "summary").unwrap()["settled"];
        println!("    {settled} pairs, {}, {different:.2} of the plays differ", verdict["difference"]);
        let expected = if case.verdict == "no-effect" { "no_effect" } else { case.verdict };
        assert_eq!(verdict["verdict"], expected, "{}: {verdict}", case.name());
        assert!(different > 0.5, "{}: the lesson doesn't apply to its tasks", case.name());
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
fn a_helping_a_useless_and_a_harmful_lesson_are_told_apart_in_pddl() {
    check(PDDL, str::to_owned);
}
