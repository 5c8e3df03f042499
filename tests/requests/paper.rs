//! `report --against paper` on prepared runs: a figure only where everything agrees, otherwise what differs, and nothing else.

use crate::Home;
use crate::stand_in::StandIn;
use crate::worlds::alfworld_games;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A run, and what its report must say about a row of a table.
struct Prepared {
    /// Whose tasks are played.
    tasks: Tasks,
    args: &'static [&'static str],
    /// The row's name in the paper.
    row: &'static str,
    /// All of the row's differences in order; none if its figures are printed.
    differs: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq)]
enum Tasks {
    /// The 112 of BabyAI's test split.
    BabyAi,
    /// The first of them, so that a run takes less time.
    OneOfBabyAi,
    /// Names in `args`.
    Own(&'static str),
    /// Games of ALFWorld's split `valid_unseen`: as many as there are in it.
    Alfworld,
    /// One of them.
    OneOfAlfworld,
    /// A game that isn't in a folder of this split.
    OtherGame,
}
use Tasks::{Alfworld, BabyAi, OneOfAlfworld, OneOfBabyAi, OtherGame, Own};

const ONE_LEVEL: &str = "112 tasks in the paper, 1 here";
const ONE_GAME: &str = "134 tasks in the paper, 1 here";
const REACT: &str = "omnireflect-1-react";

const ALL_LEVELS: Prepared =
    Prepared { tasks: BabyAi, args: &["--preset", REACT], row: "ReAct", differs: &[] };
const ALL_GAMES: Prepared =
    Prepared { tasks: Alfworld, args: &["--preset", "fcrf-1"], row: "FCRF", differs: &[] };

/// Each run plays too few tasks, or other ones, and differs in at most one more thing from a run that is comparable.
const RUNS: [Prepared; 21] = [
    Prepared { tasks: OneOfBabyAi, args: &["--preset", REACT], row: "ReAct", differs: &[ONE_LEVEL] },
    Prepared {
        tasks: OneOfBabyAi,
        args: &["--preset", REACT, "--max-steps", "20"],
        row: "ReAct",
        differs: &[ONE_LEVEL, "steps 50 in the paper, 20 here"],
    },
    Prepared {
        tasks: OneOfBabyAi,
        args: &["--preset", REACT, "--trials", "2"],
        row: "ReAct",
        differs: &[ONE_LEVEL, "trials 1 in the paper, 2 here"],
    },
    Prepared {
        tasks: OneOfBabyAi,
        args: &["--preset", REACT, "--actor", "rules"],
        row: "ReAct",
        differs: &["a language model acts in the paper, the rule-based actor here", ONE_LEVEL],
    },
    Prepared {
        tasks: OneOfBabyAi,
        args: &["--preset", REACT, "--set", "examples=0"],
        row: "ReAct",
        differs: &[ONE_LEVEL, "examples 2 in the paper, 0 here"],
    },
    Prepared {
        tasks: OneOfBabyAi,
        args: &["--preset", REACT, "--pool", "lessons.jsonl"],
        row: "ReAct",
        differs: &[ONE_LEVEL, "no lessons at the start in the paper, lessons from a file here"],
    },
    Prepared {
        tasks: OneOfBabyAi,
        args: &["--preset", REACT, "--interface", "raw"],
        row: "ReAct",
        differs: &[ONE_LEVEL, "interface agentboard in the paper, raw here"],
    },
    Prepared {
        tasks: OneOfBabyAi,
        args: &["--preset", REACT, "--set", "actor.temperature=0.7"],
        row: "ReAct",
        differs: &[ONE_LEVEL, "actor.temperature 0 in the paper, 0.7 here"],
    },
    Prepared {
        tasks: OneOfBabyAi,
        args: &["--preset", REACT, "--set", "thoughts_count=true"],
        row: "ReAct",
        differs: &[ONE_LEVEL, "thoughts_count false in the paper, true here"],
    },
    Prepared {
        tasks: OneOfBabyAi,
        args: &["--preset", "omnireflect-1-advisor-gpt-4", "--constitution", "lessons.jsonl"],
        row: "ReAct with a constitution by GPT-4, one calibration task per type",
        differs: &[
            ONE_LEVEL,
            "a constitution from 1 calibration task of each type in the paper, lessons from a file here (`--calibrate` makes one, with per_type 1)",
        ],
    },
    Prepared {
        tasks: OneOfBabyAi,
        args: &["--preset", "omnireflect-1-reflexion", "--mentor", "symbolic"],
        row: "Reflexion",
        differs: &["a language model reflects in the paper, the symbolic rules here", ONE_LEVEL],
    },
    Prepared {
        tasks: OneOfBabyAi,
        args: &["--preset", "omnireflect-1-symbolic", "--set", "kind_error=false"],
        row: "OmniReflect-Symbolic, self-sustaining",
        differs: &[ONE_LEVEL, "kind_error true in the paper, false here"],
    },
    Prepared {
        tasks: Own("babyai"),
        args: &["--preset", REACT, "--task", "UnlockPickupDist/900005"],
        row: "ReAct",
        differs: &["the tasks of the benchmark in the paper, 1 of 1 tasks here are others"],
    },
    Prepared {
        tasks: Own("pddl"),
        args: &["--preset", REACT, "--task", "gripper/hard/900005"],
        row: "ReAct",
        differs: &["the tasks of the benchmark in the paper, 1 of 1 tasks here are others"],
    },
    Prepared {
        tasks: OtherGame,
        args: &["--preset", "fcrf-1"],
        row: "FCRF",
        differs: &["tasks of valid_unseen in the paper, 1 of 1 tasks here are others"],
    },
    Prepared { tasks: OneOfAlfworld, args: &["--preset", "fcrf-1"], row: "FCRF", differs: &[ONE_GAME] },
    Prepared {
        tasks: OneOfAlfworld,
        args: &["--preset", "fcrf-1", "--set", "lesson=false"],
        row: "FCRF",
        differs: &[ONE_GAME, "lesson true in the paper, false here"],
    },
    // The same run is that of another row.
    Prepared {
        tasks: OneOfAlfworld,
        args: &["--preset", "fcrf-1", "--set", "lesson=false"],
        row: "FCRF without lesson",
        differs: &[ONE_GAME],
    },
    Prepared {
        tasks: OneOfAlfworld,
        args: &["--preset", "sweet-and-sour-2"],
        row: "Sweet&Sour",
        differs: &[ONE_GAME],
    },
    Prepared {
        tasks: OneOfAlfworld,
        args: &["--preset", "sweet-and-sour-2", "--set", "managed=false"],
        row: "Sweet&Sour",
        differs: &[ONE_GAME, "managed true in the paper, false here"],
    },
    Prepared {
        tasks: OneOfAlfworld,
        args: &["--preset", "sweet-and-sour-2", "--trials", "2"],
        row: "Sweet&Sour",
        differs: &[ONE_GAME, "trials 4 in the paper, 2 here"],
    },
];

/// The number of games of each type in `valid_unseen`.
const GAMES_OF_TYPES: [(&str, usize); 6] = [
    ("pick_and_place", 24),
    ("pick_clean", 31),
    ("pick_heat", 23),
    ("pick_cool", 21),
    ("look_at_obj", 18),
    ("pick_two_obj", 17),
];

/// Stand-ins for the games of `valid_unseen`: copies of those in the data, as many of each type, in a folder of this name.
fn copy_games(home: &Home, count: usize) -> Vec<String> {
    let games = alfworld_games();
    let types: Vec<&str> =
        GAMES_OF_TYPES.iter().flat_map(|(name, count)| std::iter::repeat_n(*name, *count)).collect();
    let copy = |number: usize| {
        let of_type: Vec<&String> =
            games.iter().filter(|game| game.contains(&format!("__{}", types[number]))).collect();
        let name = format!("valid_unseen/game-{number}");
        std::fs::create_dir_all(home.path(&name)).unwrap();
        let from = Path::new(of_type[number % of_type.len()]).parent().unwrap();
        for file in std::fs::read_dir(from).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), home.path(&name).join(file.file_name())).unwrap();
        }
        format!("{name}/game.tw-pddl")
    };
    (0..count).filter(|_| !games.is_empty()).map(copy).collect()
}

/// Returns the arguments of a run, or `None` where its data is absent. The last flag of a kind counts.
fn arguments(home: &Home, run: &Prepared) -> Option<Vec<String>> {
    let env = match run.tasks {
        BabyAi | OneOfBabyAi => "babyai",
        Alfworld | OneOfAlfworld | OtherGame => "alfworld",
        Own(env) => env,
    };
    let mut all: Vec<String> = ["run", "--env", env].map(str::to_owned).into();
    match run.tasks {
        BabyAi => all.extend(["--split", "test"].map(str::to_owned)),
        OneOfBabyAi => all.extend(["--split", "test", "--only", "1"].map(str::to_owned)),
        Own(_) => {}
        OtherGame => all.extend(["--task".to_owned(), alfworld_games().into_iter().next()?]),
        Alfworld | OneOfAlfworld => {
            let games = copy_games(home, if run.tasks == Alfworld { 134 } else { 1 });
            if games.is_empty() {
                return None;
            }
            all.extend(games.into_iter().flat_map(|game| ["--task".to_owned(), game]));
        }
    }
    for (flag, value) in [("--actor", "openai:actor"), ("--mentor", "openai:mentor")] {
        if !run.args.contains(&flag) {
            all.extend([flag.to_owned(), value.to_owned()]);
        }
    }
    all.extend(run.args.iter().map(|arg| (*arg).to_owned()));
    Some(all)
}

/// Returns how many figures the report prints for a row, and what it says about differences.
fn compare(home: &Home, row: &str) -> (usize, Vec<String>) {
    let comparison = &home.report()["configurations"][0]["against_paper"];
    let texts = |name: &str| comparison[name].as_array().cloned().unwrap_or_default();
    let figures = texts("figures").iter().filter(|figure| figure["row"] == row).count();
    let differences = texts("differences");
    let said = differences.iter().filter_map(|text| text.as_str()?.split_once(&format!("({row}): ")));
    let reasons = said.flat_map(|(_, reasons)| reasons.split("; ")).map(str::to_owned).collect();
    (figures, reasons)
}

fn check(run: &Prepared) {
    // The same action twice ends an attempt where the method has a loop detector, which shortens the runs.
    let server = StandIn::start(|_, _, _| "look".to_owned());
    let home = Home::new();
    home.add_lesson("error", "Look behind each door.", "lessons.jsonl");
    let Some(args) = arguments(&home, run) else {
        let required = std::env::var("RETROSPECT_GOLDEN").is_ok_and(|value| value == "required");
        assert!(!required, "no games of ALFWorld for {}", run.row);
        eprintln!("skipped {} beside {:?}: no games of ALFWorld", run.row, run.args);
        return;
    };
    home.run(&server, &args.iter().map(String::as_str).collect::<Vec<_>>());
    let (figures, reasons) = compare(&home, run.row);
    assert_eq!(reasons, run.differs, "{:?}", run.args);
    assert_eq!(figures > 0, run.differs.is_empty(), "{:?}: {figures} figures", run.args);
}

#[test]
fn a_figure_of_a_paper_is_printed_beside_a_run_on_all_levels_of_babyai() {
    check(&ALL_LEVELS);
}

#[test]
fn a_figure_of_a_paper_is_printed_beside_a_run_on_all_games_of_alfworld() {
    check(&ALL_GAMES);
}

#[test]
fn no_figure_is_printed_beside_a_run_that_differs_and_exactly_what_differs_is_named() {
    for run in &RUNS {
        assert!(!run.differs.is_empty());
        check(run);
    }
}

/// The program is killed in the second task, while it waits for a reply.
#[test]
fn no_figure_is_printed_beside_a_run_that_was_interrupted() {
    let (waits, is_waiting) = channel();
    let (ends, until_end) = channel::<()>();
    let until_end = Mutex::new(until_end);
    let server = StandIn::start(move |_, _, earlier| {
        if earlier == 50 {
            waits.send(()).unwrap();
            // Returns when the test drops the other end.
            let _ = until_end.lock().unwrap().recv();
        }
        "look".to_owned()
    });
    let home = Home::new();
    let args = ["run", "--env", "babyai", "--split", "test", "--only", "2", "--preset", REACT, "--json"];
    let mut command = home.command(&args);
    command.args(["--actor", "openai:actor", "--base-url", &server.base_url()]);
    let mut program = command.stdout(Stdio::null()).spawn().unwrap();
    // Fails instead of waiting forever if the program never gets so far.
    is_waiting.recv_timeout(Duration::from_secs(60)).unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
    drop(ends);
    let (figures, reasons) = compare(&home, "ReAct");
    assert_eq!(reasons, [ONE_LEVEL, "finished runs in the paper, a run in progress here"]);
    assert_eq!(figures, 0);
}
