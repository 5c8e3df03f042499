//! `report --against paper` on prepared runs: a figure only where everything agrees, otherwise what differs.

use crate::Home;
use crate::stand_in::StandIn;
use serde_json::Value;

/// A run, and what its report must say about a row of a table: `figure`, or the words of a difference.
struct Prepared {
    args: &'static [&'static str],
    /// The row's name in the paper.
    row: &'static str,
    says: &'static str,
}

const BABYAI: &[&str] = &["--env", "babyai", "--split", "test", "--actor", "openai:actor"];

const RUNS: [Prepared; 12] = [
    // All 112 tasks of the benchmark, with a model: the figure is printed.
    Prepared { args: &["--preset", "omnireflect-1-react"], row: "ReAct", says: "figure" },
    Prepared {
        args: &["--preset", "omnireflect-1-react", "--only", "1"],
        row: "ReAct",
        says: "112 tasks in the paper, 1 here",
    },
    Prepared {
        args: &["--preset", "omnireflect-1-react", "--only", "1", "--max-steps", "20"],
        row: "ReAct",
        says: "steps 50 in the paper, 20 here",
    },
    Prepared {
        args: &["--preset", "omnireflect-1-react", "--only", "1", "--trials", "2", "--max-steps", "3"],
        row: "ReAct",
        says: "trials 1 in the paper, 2 here",
    },
    Prepared {
        args: &["--preset", "omnireflect-1-react", "--only", "1", "--actor", "rules"],
        row: "ReAct",
        says: "a language model acts in the paper, the built-in rules here",
    },
    Prepared {
        args: &["--preset", "omnireflect-1-react", "--only", "1", "--set", "examples=0"],
        row: "ReAct",
        says: "examples 2 in the paper, 0 here",
    },
    Prepared {
        args: &["--preset", "omnireflect-1-react", "--only", "1", "--pool", "lessons.jsonl"],
        row: "ReAct",
        says: "no lessons at the start in the paper, lessons from a file here",
    },
    Prepared {
        args: &["--preset", "omnireflect-1-advisor-gpt-4", "--only", "1", "--constitution", "lessons.jsonl"],
        row: "ReAct with a constitution by GPT-4, one calibration task per type",
        says: "a constitution from 1 calibration task of each type in the paper, lessons from a file here",
    },
    Prepared {
        args: &[
            "--preset",
            "omnireflect-1-reflexion",
            "--only",
            "1",
            "--max-steps",
            "3",
            "--mentor",
            "symbolic",
        ],
        row: "Reflexion",
        says: "a language model reflects in the paper, the symbolic rules here",
    },
    Prepared {
        args: &[
            "--preset",
            "omnireflect-1-symbolic",
            "--only",
            "1",
            "--max-steps",
            "3",
            "--set",
            "kind_error=false",
        ],
        row: "OmniReflect-Symbolic, self-sustaining",
        says: "kind_error true in the paper, false here",
    },
    Prepared {
        args: &[
            "--method",
            "reflexion",
            "--task",
            "UnlockPickupDist/900005",
            "--max-steps",
            "3",
            "--mentor",
            "openai:mentor",
        ],
        row: "Reflexion",
        says: "tasks of the benchmark in the paper, 1 of 1 tasks here are others",
    },
    Prepared {
        args: &[
            "--env",
            "pddl",
            "--task",
            "gripper/hard/900005",
            "--preset",
            "omnireflect-1-react",
            "--max-steps",
            "3",
        ],
        row: "ReAct",
        says: "the tasks of the benchmark in the paper, 1 of 1 tasks here are others",
    },
];

#[test]
fn a_figure_of_a_paper_is_printed_only_beside_a_run_that_agrees_with_it() {
    let server = StandIn::start(|_, _, earlier| ["turn left", "move forward"][earlier % 2].to_owned());
    for run in &RUNS {
        let home = Home::new();
        home.add_lesson("error", "Look behind each door.", "lessons.jsonl");
        // The last flag of a kind counts, so the run's own come last.
        let own_env = run.args.contains(&"--env") || run.args.contains(&"--task");
        let base = if own_env { &["--env", "babyai", "--actor", "openai:actor"] } else { BABYAI };
        let args: Vec<&str> = merge(base, run.args);
        home.run(&server, &[vec!["run"], args].concat());
        server.take();
        let comparison = &home.report()["configurations"][0]["against_paper"];
        let texts = |name: &str| comparison[name].as_array().cloned().unwrap_or_default();
        let figures: Vec<Value> = texts("figures").into_iter().filter(|f| f["row"] == run.row).collect();
        let name = format!("({}): ", run.row);
        let reasons: Vec<Value> =
            texts("differences").into_iter().filter(|r| r.as_str().unwrap().contains(&name)).collect();
        if run.says == "figure" {
            assert!(reasons.is_empty() && !figures.is_empty(), "{:?}: {comparison}", run.args);
        } else {
            assert!(figures.is_empty(), "{:?}: {comparison}", run.args);
            let is_said = reasons.iter().any(|reason| reason.as_str().unwrap().contains(run.says));
            assert!(is_said, "{:?}: {comparison}", run.args);
        }
    }
}

/// Returns the flags of `base` that `own` doesn't set, then those of `own`.
fn merge(base: &[&'static str], own: &[&'static str]) -> Vec<&'static str> {
    let kept = base.chunks(2).filter(|pair| !own.contains(&pair[0]));
    kept.flatten().chain(own).copied().collect()
}
