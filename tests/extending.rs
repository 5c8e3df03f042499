//! A program with one more environment and one more method (`examples/counter`): everything works with them, without a
//! word about them outside their folder.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]

#[cfg(all(feature = "tui", unix))]
#[path = "extending/screen.rs"]
mod screen;
#[cfg(all(feature = "tui", unix))]
#[path = "rig/terminal.rs"]
mod terminal;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

struct Home(tempfile::TempDir);

/// Returns the example. `cargo test` builds it beside the tests; `cargo test --test extending` alone doesn't.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap();
    let program = folder.join("examples").join(format!("counter{}", std::env::consts::EXE_SUFFIX));
    assert!(program.is_file(), "build it first: cargo build --example counter");
    program
}

impl Home {
    /// Runs the example. Returns whether it succeeded, and what it printed.
    fn try_run(&self, args: &[&str], input: &str) -> (bool, String, String) {
        let at = |name: &str| self.0.path().join(name);
        let mut child = Command::new(program())
            .args(args)
            .current_dir(self.0.path())
            .env_clear()
            .env("HOME", at("home"))
            .env("RETROSPECT_CONFIG_DIR", at("config"))
            .env("RETROSPECT_SESSIONS", at("sessions"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    }

    fn run(&self, args: &[&str], input: &str) -> String {
        let (succeeded, printed, errors) = self.try_run(args, input);
        assert!(succeeded, "{args:?}: {printed}{errors}");
        // What a program prints to stderr is a warning or an error, or names a file it wrote.
        assert!(errors.lines().all(|line| line.starts_with("wrote ")), "{args:?}: {errors}");
        printed
    }

    fn session(&self) -> String {
        let folder = std::fs::read_dir(self.0.path().join("sessions")).unwrap().flatten().next();
        folder.unwrap().path().display().to_string()
    }
}

fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing:\n{text}");
    }
}

/// A method's own flag: it becomes a setting, its value is checked, and a run with another method rejects it.
#[test]
fn a_method_has_a_flag_of_its_own() {
    let home = Home(tempfile::tempdir().unwrap());
    let run = ["run", "--env", "counter", "--task", "6", "--headless", "--method"];
    let with = |rest: &[&str]| home.try_run(&[&run[..], rest].concat(), "");
    let (succeeded, printed, errors) = with(&["shortest", "--largest", "3"]);
    assert!(succeeded && printed.contains(" 2 steps,"), "{printed}{errors}");
    let (succeeded, printed, errors) = with(&["shortest", "--largest", "1"]);
    assert!(succeeded && printed.contains(" 6 steps,"), "{printed}{errors}");
    let (_, _, errors) = with(&["shortest", "--largest", "4"]);
    assert_contains(&errors, &["--largest \"4\": expected 5, 3, 1"]);
    let (_, _, errors) = with(&["greedy", "--largest", "3"]);
    assert_contains(&errors, &["--largest is for the method shortest, not for greedy", "--method shortest"]);
    assert_contains(
        &home.run(&["run", "--help"], ""),
        &["--largest <NUMBER>", "The largest number that may be added"],
    );
    assert_contains(&home.run(&["config", "show"], ""), &["run.largest"]);
}

#[test]
fn tasks_are_listed_and_played() {
    let home = Home(tempfile::tempdir().unwrap());
    assert_contains(&home.run(&["tasks", "--env", "counter"], ""), &["14  reach 14", "40  reach 40"]);
    let help = home.run(&["tasks", "--help"], "").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_contains(&help, &["for counter the number to reach, or `random`"]);
    let played = home.run(&["play", "--env", "counter", "--task", "9"], "add 5\nadd 7\nadd 3\nadd 1\n");
    assert_contains(&played, &["The sum is 5.", "Nothing happens.", "The sum is 9."]);
}

#[test]
fn the_option_of_the_environment_decides_how_tasks_are_opened() {
    let home = Home(tempfile::tempdir().unwrap());
    std::fs::create_dir(home.0.path().join("config")).unwrap();
    std::fs::write(home.0.path().join("config/config.toml"), "[counter]\npast = \"refused\"\n").unwrap();
    let played = home.run(&["play", "--env", "counter", "--task", "9"], "add 5\nadd 5\nadd 3\nadd 1\n");
    assert_contains(&played, &["The sum is 5.", "Nothing happens.", "The sum is 9."]);
}

#[test]
fn a_run_computes_its_job_forks_verifies_and_exports() {
    let home = Home(tempfile::tempdir().unwrap());
    let run = ["run", "--env", "counter", "--task", "14", "--method", "shortest", "--plain"];
    let input = "step\nstep\nstep\nfork 2 add 3\nstep\nstep\nbranches\nquit\n";
    let said = home.run(&run, input);
    assert_contains(
        &said,
        &["looking for the shortest way", "add 5", "The sum is 13.", "Branch b1, from step 2"],
    );
    let session = home.session();
    assert_contains(&home.run(&["verify", &session], ""), &["on 2 branches", "OK:"]);
    let trunk = home.run(&["export", &format!("{session}@trunk"), "--format", "text"], "");
    let fork = home.run(&["export", &format!("{session}@b1"), "--format", "text"], "");
    assert_contains(&fork, &["The sum is 8."]);
    assert!(!trunk.contains("The sum is 8."), "{trunk}");
    home.run(&["resume", &format!("{session}@trunk"), "--headless"], "");
    assert_contains(&home.run(&["report", &session], ""), &["shortest", "counter"]);
    let page = home.0.path().join("page.html").display().to_string();
    home.run(&["export", &session, "--format", "html", "-o", &page], "");
    let page = std::fs::read_to_string(&page).unwrap();
    assert_contains(&page, &["reach 14", "add 5", "<code>counter open FILE.html</code>"]);
}

/// The rules of the environment note a mistake and teach what to do instead, with a built-in method.
#[test]
fn symbolic_reflections_use_the_environments_rules() {
    let home = Home(tempfile::tempdir().unwrap());
    let run =
        ["run", "--env", "counter", "--task", "9", "--method", "omnireflect", "--actor", "human", "--plain"];
    home.run(&run, "act add 7\nact add 5\nact add 3\nquit\n");
    let text = home.run(&["export", &home.session(), "--format", "text"], "");
    assert_contains(&text, &["Added something that can't be added. -> Add only 1, 3 or 5.", "4 is missing."]);
}

#[test]
fn settings_of_the_method_are_checked_and_used() {
    let home = Home(tempfile::tempdir().unwrap());
    let run = ["run", "--env", "counter", "--task", "14", "--method", "shortest", "--headless"];
    let said = home.run(&[&run[..], &["--set", "order=smallest-first"]].concat(), "");
    let (first, rest) = said.split_once("The sum is 1.").unwrap_or_else(|| panic!("{said}"));
    assert!(first.contains("add 1") && rest.contains("The sum is 14."), "{said}");
}

/// Regression: a method that proposes every action by itself was treated as if it had an actor: a warning about the
/// rule-based actor, and `r` said that the action comes from a plan.
#[test]
fn a_method_without_an_actor_gets_no_advice_about_one() {
    let home = Home(tempfile::tempdir().unwrap());
    let run = ["run", "--env", "counter", "--task", "14", "--method", "greedy"];
    let said = home.run(&[&run[..], &["--headless"]].concat(), "");
    assert_contains(&said, &["The sum is 14.", "greedy, 1 task, seed"]);
    let reported = home.run(&["report", &home.session()], "");
    assert!(!reported.contains("actor"), "{reported}");
    let said = home.run(&[&run[..], &["--plain"]].concat(), "step\nr\nquit\n");
    assert_contains(&said, &["the method chose this action itself"]);
}

/// Regression: `play --seed` found the task with another seed than its own, so generated tasks didn't depend on it.
#[test]
fn play_finds_the_task_with_its_seed() {
    let home = Home(tempfile::tempdir().unwrap());
    let goal = |seed: &str| {
        let played = home.run(&["play", "--env", "counter", "--task", "random", "--seed", seed], "");
        played.lines().find(|line| line.contains("reach")).unwrap_or_else(|| panic!("{played}")).to_owned()
    };
    assert_contains(&goal("7"), &["reach 260."]);
    assert_contains(&goal("8"), &["reach 297."]);
}

/// A method that asks its mentor: the rules of the environment answer in a model's place, and the actor reads it.
#[test]
fn a_method_asks_its_mentor_and_the_rules_answer_without_a_model() {
    let home = Home(tempfile::tempdir().unwrap());
    let run = ["run", "--env", "counter", "--task", "14", "--method", "cautious", "--trials", "2"];
    let said = home.run(&[&run[..], &["--headless"]].concat(), "");
    assert_contains(&said, &["Went past the number.", "The sum is 15.", "4 > add 1", "The sum is 14."]);
    let (_, shown, _) = home.try_run(&[&run[..], &["--mentor", "openai:m", "--dry-run"]].concat(), "");
    assert_contains(&shown, &["What should be avoided next time?"]);
}

/// The stand-in for a model plays by the function of the environment's entry, and a lesson teaches it.
#[test]
fn the_rule_based_actor_plays_and_learns_by_the_function_of_the_entry() {
    let home = Home(tempfile::tempdir().unwrap());
    let run = ["run", "--env", "counter", "--task", "14", "--method", "react", "--headless"];
    let (_, said, warned) = home.try_run(&run, "");
    assert_contains(&said, &["3 > add 5", "The sum is 15."]);
    assert!(!warned.contains("doesn't know the environment"), "{warned}");
    std::fs::write(home.0.path().join("lessons.txt"), "Look at how much is missing.\n").unwrap();
    let said = home.run(&[&run[..], &["--constitution", "lessons.txt"]].concat(), "");
    assert_contains(&said, &["3 > add 3", "4 > add 1", "The sum is 14."]);
}

/// Regression: messages, help and examples told a person to run `retrospect`.
#[test]
fn messages_and_help_name_this_program() {
    let home = Home(tempfile::tempdir().unwrap());
    for args in [&["--help"][..], &["run", "--help"], &["diff", "--help"], &["export", "-h"], &["man"]] {
        let text = home.run(args, "");
        assert!(!text.contains("retrospect "), "{args:?}: {text}");
    }
    assert_contains(&home.run(&["run", "--help"], ""), &["  counter run --env"]);
    let (succeeded, _, errors) = home.try_run(&["open", "nothing"], "");
    assert!(!succeeded && errors.starts_with("counter: "), "{errors}");
    assert_contains(&errors, &["`counter sessions`"]);
    let (_, _, errors) = home.try_run(&["run", "--no-such-flag"], "");
    assert_contains(&errors, &["see `counter run --help`"]);
    let (_, _, note) = home.try_run(&["sessions"], "");
    assert_contains(&note, &["`counter run` starts one"]);
}

/// Regression: only rows of the papers' tables could be presets of the program.
#[test]
fn a_preset_of_the_method_is_offered_and_used() {
    let home = Home(tempfile::tempdir().unwrap());
    let run = ["run", "--env", "counter", "--task", "14", "--preset", "shortest-ascending", "--headless"];
    let said = home.run(&run, "");
    let (first, _) = said.split_once("The sum is 1.").unwrap_or_else(|| panic!("{said}"));
    assert!(first.contains("1 > add 1\n") && !first.contains("> add 5"), "{said}");
    assert_contains(&home.run(&["config", "show"], ""), &["shortest-ascending", "small numbers first"]);
    let shown: serde_json::Value =
        serde_json::from_str(&home.run(&["config", "show", "--json"], "")).unwrap();
    assert_eq!(shown["method_presets"][0]["settings"]["order"], "smallest-first");
    let (_, _, errors) = home.try_run(&[&run[..], &["--method", "greedy"]].concat(), "");
    assert_contains(&errors, &["--preset shortest-ascending is for method shortest, not greedy"]);
}
