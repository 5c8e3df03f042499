//! Runs every command of the README as written, with the data that it names, against servers on this machine.

use crate::servers::{self, Server, key_of};
use crate::{Home, run_command};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Commands that are not run, and the reason.
const NOT_RUN: &[(&str, &str)] = &[
    ("cargo run --release", "tests run the debug binary"),
    ("cargo test", "it would run itself"),
    ("cargo install --path .", "it changes the user's machine"),
    ("cargo run --release --", "a prefix, not a command"),
    ("llama-server -m model.gguf --port 8080", "another program"),
    ("ollama pull qwen3:4b", "another program"),
    ("vllm serve Qwen/Qwen3-4B --reasoning-parser qwen3", "another program"),
    ("apt install build-essential", "another program"),
];

/// Returns the command lines of a document: those in shell blocks, and inline code that starts with a program's name.
fn commands(document: &str) -> Vec<String> {
    let (mut all, mut in_block) = (Vec::new(), false);
    for line in document.lines() {
        if line.starts_with("```") {
            in_block = line == "```sh";
            continue;
        }
        if in_block {
            let command = line.split(" #").next().unwrap_or_default().trim();
            if !command.is_empty() && !command.starts_with('#') {
                all.push(command.to_owned());
            }
        }
        let programs = ["retrospect ", "cargo ", "llama-server ", "ollama ", "vllm ", "apt "];
        let inline = line.split('`').skip(1).step_by(2);
        all.extend(inline.filter(|code| programs.iter().any(|p| code.starts_with(p))).map(str::to_owned));
    }
    all.dedup();
    all
}

/// Writes the data that the README's commands need: an ALFWorld folder with a generated game under the name of a real
/// task, a level file and a planning problem.
fn write_data(home: &Home) {
    let home_dir = home.0.path();
    let args = ["tasks", "--env", "household", "--only", "1", "--write", "written"].map(str::to_owned);
    let (code, written, error) = run_command(home.command(&args));
    assert_eq!(code, 0, "{error}");
    let task = "pick_heat_then_place_in_recep-Mug-None-Cabinet-10";
    let target = home_dir.join(".cache/alfworld/json_2.1.1/valid_unseen").join(task).join("trial_T1");
    fs::create_dir_all(&target).unwrap();
    for file in fs::read_dir(home_dir.join(written.trim())).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), target.join(file.file_name())).unwrap();
    }
    let levels = include_str!("../../docs/BABYAI.md").split("## Level files").nth(1).unwrap();
    let level = levels.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    fs::write(home_dir.join("level.json"), level).unwrap();
    fs::write(
        home_dir.join("domain.pddl"),
        "(define (domain lamp) (:requirements :strips) (:predicates (off) (on))
         (:action press :parameters () :precondition (off) :effect (and (on) (not (off)))))",
    )
    .unwrap();
    fs::write(
        home_dir.join("problem.pddl"),
        "(define (problem one) (:domain lamp) (:init (off)) (:goal (on)))",
    )
    .unwrap();
}

/// Runs one command, against a simulated server if it needs one.
fn run(home: &Home, line: &str) -> (i32, String, String) {
    let mut args: Vec<String> =
        line.split_whitespace().skip(1).map(|word| word.trim_matches('\'').to_owned()).collect();
    let mut command_env: Vec<(String, String)> = Vec::new();
    let mut server = None;
    if let Some(model_index) = args.iter().position(|w| w.starts_with("openai:")) {
        let profile = args.iter().position(|w| w == "--profile").map(|n| args[n + 1].clone());
        let all = servers::all();
        // A profile without its own simulation is tested against a server that needs no profile.
        let behavior = all.iter().find(|b| b.profile == profile.as_deref());
        let behavior = behavior.or_else(|| all.iter().find(|b| b.profile.is_none())).unwrap().clone();
        args[model_index] = format!("openai:{}", behavior.model);
        let started = Server::start(behavior.clone());
        if let Some(n) = args.iter().position(|w| w == "--base-url") {
            args[n + 1] = started.base_url();
        } else if behavior.key.is_some() && behavior.profile.is_some() {
            // A hosted server's profile sets its public URL; override it with the simulated server's.
            args.extend(["--base-url".to_owned(), started.base_url()]);
        } else {
            command_env.push(("OPENAI_BASE_URL".to_owned(), started.base_url()));
        }
        if let Some(key) = behavior.key {
            command_env.push((key.to_owned(), key_of(&behavior)));
        }
        server = Some(started);
    }
    let runs_episodes = ["run", "resume", "rerun"].contains(&args[0].as_str());
    if runs_episodes && args[0] != "rerun" && !args.iter().any(|w| w == "--env" || w == "--last") {
        args.extend(["--max-steps", "3"].map(str::to_owned));
    }
    let mut command: Command = home.command(&args);
    command.envs(command_env).env("ALFWORLD_DATA", home.0.path().join(".cache/alfworld"));
    command.stdin(Stdio::null());
    let result = run_command(command);
    drop(server);
    result
}

/// Regression: commands of the README failed, because an option had another name or a task didn't exist.
#[test]
fn every_command_of_the_readme_runs() {
    let home = Home::new();
    write_data(&home);
    let lines = commands(include_str!("../../README.md"));
    let (mut ran, mut failed) = (0, String::new());
    for line in &lines {
        if NOT_RUN.iter().any(|(command, _)| command == line) || line.starts_with("export ") {
            continue;
        }
        assert!(line.starts_with("retrospect "), "`{line}` is neither run nor listed with a reason");
        let (code, out, error) = run(&home, line);
        ran += 1;
        if code != 0 {
            let _ = writeln!(failed, "`{line}` exits {code}: {error}{out}");
        }
    }
    assert!(ran >= 20, "only {ran} commands were found");
    assert!(failed.is_empty(), "{failed}");
    for (command, reason) in NOT_RUN {
        assert!(lines.iter().any(|line| line == command), "`{command}` ({reason}) is not in the README");
    }
}

/// Every linked page exists.
#[test]
fn every_link_of_the_readme_leads_to_a_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = include_str!("../../README.md");
    assert!(readme.lines().count() <= 120, "the README has more than 120 lines");
    let links = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let missing: Vec<_> = links.filter(|l| !l.starts_with("http") && !root.join(l).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
