//! `run` and `resume`, as text, as JSON, and when somebody leaves.

use crate::{Home, ProgramOutput, field_names};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::Read as _;
use std::process::Stdio;

#[test]
fn without_a_terminal_the_built_in_episode_is_printed() {
    let home = Home::new();
    let said = home.run(&[]).assert_success();
    assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    assert!(said.stderr.contains("no terminal here"), "{}", said.stderr);
    assert!(said.stdout.contains("Episode 1: put a hot mug in coffeemachine (household "), "{}", said.stdout);
    assert!(said.stdout.contains("Episode 1 ") && said.stdout.contains("session: "), "{}", said.stdout);
    assert!(!said.stdout.contains('\u{1b}'));
}

#[test]
fn run_json_prints_a_run() {
    let home = Home::new();
    let args =
        ["run", "--env", "household", "--tasks", "easy/*/1", "--only", "2", "--json", "--max-steps", "12"];
    let said = home.run(&args).assert_success();
    let told = said.json_lines();
    let kinds: Vec<&str> = told.iter().map(|l| l["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..2], ["run", "episode_start"]);
    assert_eq!(kinds.last(), Some(&"summary"));
    assert_eq!(kinds.iter().filter(|k| **k == "episode_end").count(), 2);
    let step = said.stdout.lines().find(|l| l.starts_with("{\"type\":\"step\"")).unwrap();
    assert_eq!(
        field_names(step),
        [
            "type",
            "episode",
            "step",
            "action",
            "observation",
            "reward",
            "progress",
            "done",
            "won",
            "valid",
            "admissible",
            "world",
            "thought",
            "proposed",
            "by",
            "seq"
        ]
    );
    let value: Value = serde_json::from_str(step).unwrap();
    assert!(value["admissible"].as_array().unwrap().len() > 3 && value["world"]["inventory"].is_array());
    assert_eq!(value["by"], "actor");
    let end = said.stdout.lines().find(|l| l.starts_with("{\"type\":\"episode_end\"")).unwrap();
    assert_eq!(
        field_names(end),
        [
            "type", "episode", "task", "trial", "won", "steps", "moves", "progress", "calls", "tokens",
            "reason", "assisted", "spent", "seq"
        ]
    );
    let summary = told.last().unwrap();
    assert_eq!(
        (&summary["ended"], &summary["episodes"], &summary["assisted"]),
        (&"finished".into(), &2.into(), &0.into())
    );
    // The same seed and inputs give the same lines, but for the session's name.
    let plain = |said: &ProgramOutput| -> Vec<String> {
        said.stdout
            .lines()
            .filter(|l| l.contains("\"type\":\"step\"") || l.contains("reflection"))
            .map(str::to_owned)
            .collect()
    };
    let again = home.run(&args).assert_success();
    assert_eq!(plain(&said), plain(&again));
    let other = home.run(&[&args[..], &["--seed", "9"]].concat()).assert_success();
    assert_ne!(plain(&said), plain(&other), "a seed that changes nothing is no seed");
}

#[test]
fn a_stopped_run_is_resumed_to_the_same_end() {
    let whole = Home::new();
    let unbroken = whole.run(&["run", "--task", "easy/heat/23", "--json"]).assert_success();
    let home = Home::new();
    let stopped = home.run(&["run", "--task", "easy/heat/23", "--break", "step=5", "--headless"]);
    assert_eq!(stopped.code, 3, "{}", stopped.stderr);
    assert!(
        stopped.stderr.contains("breakpoint 1 `step 5`: step 5 is complete")
            && stopped.stderr.contains("retrospect resume"),
        "{}",
        stopped.stderr
    );
    let name = home.session().file_name().unwrap().to_string_lossy().into_owned();
    let listed = home.run(&["sessions", "--json"]).assert_success().json_lines();
    assert_eq!((&listed[0]["standing"], &listed[0]["over"]), (&"closed".into(), &false.into()));
    let rest = home.run(&["resume", &name[name.len() - 6..], "--json"]).assert_success();
    // Pauses and resume marks are events too, so the numbers of events differ; nothing else may.
    let steps = |said: &ProgramOutput| -> Vec<Value> {
        let late = |l: &Value| l["type"] == "step" && l["step"].as_u64() > Some(5);
        let mut lines: Vec<Value> = said.json_lines().into_iter().filter(late).collect();
        for line in &mut lines {
            line["seq"] = Value::Null;
        }
        lines
    };
    assert_eq!(steps(&rest), steps(&unbroken));
    assert_eq!(rest.json_lines()[0]["type"], "run");
    assert!(
        home.run(&["verify", &name])
            .assert_success()
            .stdout
            .contains("whole: everything is as the journal says")
    );
}

#[test]
fn a_breakpoint_ends_a_headless_run_and_resume_continues_after_it() {
    let home = Home::new();
    let task = ["run", "--task", "easy/heat/23"];
    let breaks = ["--break", "action ~ heat", "--break", "warn progress changed", "--json"];
    let said = home.run(&[&task[..], &breaks].concat());
    assert_eq!(said.code, 3, "{}", said.stderr);
    let of = |said: &ProgramOutput, kind: &str| -> Vec<Value> {
        said.json_lines().into_iter().filter(|l| l["type"] == kind).collect()
    };
    let stopped = of(&said, "stopped");
    assert_eq!(stopped.len(), 1);
    let line = said.stdout.lines().find(|l| l.contains("\"type\":\"stopped\"")).unwrap();
    assert_eq!(field_names(line), ["type", "episode", "step", "breakpoint", "condition", "why", "seq"]);
    assert_eq!((&stopped[0]["step"], &stopped[0]["condition"]), (&6.into(), &"action ~ heat".into()));
    assert_eq!((of(&said, "warned").len(), &of(&said, "warned")[0]["step"]), (1, &5.into()));
    let last = said.json_lines().pop().unwrap();
    assert!(last["error"]["message"].as_str().unwrap().contains("breakpoint 1 `action ~ heat`"), "{last}");
    // The proposal it stopped at runs now; only another one stops again.
    let rest = home.run(&["resume", "--last", "--json"]);
    assert!(of(&rest, "step")[0]["action"].as_str().unwrap().starts_with("heat"), "{}", rest.stdout);
    assert!(of(&rest, "stopped").iter().all(|l| l["step"].as_u64() > Some(6)), "{}", rest.stdout);
    let end = home.run(&["resume", "--last", "--no-breaks", "--headless"]).assert_success();
    assert!(end.stdout.contains("Run over") || end.stdout.contains("1 episode"), "{}", end.stdout);
    assert!(!end.stdout.contains("WATCH"));
}

#[test]
fn plain_mode_sets_lists_and_reports_breakpoints() {
    let home = Home::new();
    let lines = "break stalld 3\nbreak stalled 3\nwatch action ~ fridge\nbreaks\nrun\nbreaks\nbreak-off 1\nbreak-delete 2\nbreaks\nquit\n";
    let said = home.run_with_input(&["run", "--task", "easy/heat/23", "--plain"], lines).assert_success();
    for part in [
        "did you mean `stalled`?",
        "breakpoint 1 set: stalled 3",
        "watch 2 set: warn action ~ fridge",
        "2 watch: warn action ~ fridge (0 hits)",
        "WATCH watch 2 `action ~ fridge`: `go to fridge 1` proposed at step 2",
        "STOP breakpoint 1 `stalled 3`: no progress in the first 3 steps",
        "STOPPED · stalled 3",
        "1 breakpoint: stalled 3 (1 hit; last: no progress in the first 3 steps)",
        "1 breakpoint: stalled 3 (1 hit, off",
    ] {
        assert!(said.stdout.contains(part), "{part}: {}", said.stdout);
    }
}

#[test]
fn a_recording_replays_without_inventing_replies() {
    let home = Home::new();
    let first = home.run(&["run", "--task", "easy/heat/23", "--json"]).assert_success();
    let session = home.session().display().to_string();
    let actor = format!("recorded:{session}");
    let again = home.run(&["run", "--task", "easy/heat/23", "--actor", &actor, "--json"]).assert_success();
    let actions = |said: &ProgramOutput| -> Vec<Value> {
        said.json_lines().into_iter().filter(|l| l["type"] == "step").map(|l| l["action"].clone()).collect()
    };
    assert_eq!(actions(&again), actions(&first));
    // What was recorded was told as an estimate of this run.
    let spent = |said: &ProgramOutput| said.json_lines().last().unwrap()["spent"].clone();
    assert_eq!((&spent(&again)["estimated"], &spent(&again)["cost_nano"]), (&json!(0), &json!(0)));
    assert_eq!(spent(&again)["recorded"], spent(&first)["estimated"], "{}", spent(&again));
    let other = home.run(&["run", "--task", "easy/heat/1", "--actor", &actor, "--headless"]);
    assert_eq!(other.code, 3, "{}", other.stderr);
    assert!(
        other.stderr.contains("differs first") && other.stderr.contains("retrospect resume"),
        "{}",
        other.stderr
    );
    let skipped = home.run(&[
        "run",
        "--task",
        "easy/heat/1",
        "--actor",
        &actor,
        "--headless",
        "--on-error",
        "skip-task",
    ]);
    assert!(skipped.assert_success().stdout.contains("lost (error)"));
}

#[test]
fn independent_runs_mark_their_lines() {
    let home = Home::new();
    let args = [
        "run",
        "--tasks",
        "easy/*/1",
        "--only",
        "3",
        "--method",
        "react",
        "--jobs",
        "2",
        "--json",
        "--max-steps",
        "5",
    ];
    let told = home.run(&args).assert_success().json_lines();
    let (summary, lines) = told.split_last().unwrap();
    assert_eq!(summary["episodes"], 3);
    assert_eq!(summary["paths"].as_array().unwrap().len(), 3);
    let sessions: std::collections::BTreeSet<_> =
        lines.iter().map(|l| l["session"].as_str().unwrap().to_owned()).collect();
    assert_eq!(sessions.len(), 3);
}

#[test]
fn plain_is_a_conversation_without_cursor_movement() {
    let home = Home::new();
    let input = "help\nn\noverride go to countertop 1\nnote here\nlessons\nprompt\nworld\nactions\nstory 1\nxyzzy\nhuman\nact look\nset max_steps 9\nquit\n";
    let said = home
        .run_with_input(&["run", "--task", "easy/heat/23", "--plain", "--mentor", "none"], input)
        .assert_success();
    assert!(!said.stdout.contains('\u{1b}') && !said.stdout.contains('\r'));
    for words in [
        "your turn, step 1",
        "(by you)",
        "remark  here",
        "no lessons yet",
        "[instruction]",
        "goal: put a hot apple in fridge",
        "the world would accept",
        "there is no command \"xyzzy\"",
        "YOU PLAY",
        "setting max_steps = 9",
        "retrospect resume",
    ] {
        assert!(said.stdout.contains(words), "{words:?} is not in {}", said.stdout);
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let home = Home::new();
    for args in
        [&["tasks", "--env", "household"][..], &["run", "--task", "easy/heat/23", "--headless"], &["man"]]
    {
        let mut child = home
            .command(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 1];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut first).unwrap();
        drop(stdout);
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        assert!(!String::from_utf8_lossy(&done.stderr).contains("panic"), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_closes_its_session() {
    let home = Home::new();
    // A person that never acts keeps the program waiting.
    let mut child = home
        .command(&["run", "--task", "easy/heat/23", "--actor", "human", "--plain"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = String::new();
    // Waiting for a child closes its input, and an input that ends is an order to leave.
    let input = child.stdin.take();
    let mut stdout = child.stdout.take().unwrap();
    let mut byte = [0; 1];
    while !told.contains("YOU PLAY") {
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "{told}");
        told.push(byte[0] as char);
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let status = child.wait().unwrap();
    drop(input);
    assert_eq!(status.code(), Some(130));
    let listed = home.run(&["sessions", "--json"]).assert_success().json_lines();
    assert_eq!(listed[0]["standing"], "closed");
}

#[test]
fn the_limits_of_an_episode_are_settings() {
    // What is set, and the reason with which the episode ends or the field of the run that it becomes.
    let home = Home::new();
    let run = |set: &str| {
        let args = ["run", "--task", "easy/heat/23", "--method", "react", "--json", "--set", set];
        home.run(&args).assert_success().json_lines()
    };
    let told = run("max_moves=3");
    let end = told.iter().find(|l| l["type"] == "episode_end").unwrap();
    assert_eq!(end["reason"], "move_limit", "{end}");
    assert_eq!(told[0]["settings"]["max_moves"], serde_json::json!({"value": 3, "origin": "flag"}));
    let told = run("loop_detector=on");
    assert_eq!(told[0]["settings"]["loop_detector"]["value"], true);
    run("wall_seconds=5");
    let text = std::fs::read_dir(home.path("sessions"))
        .unwrap()
        .map(|e| std::fs::read_to_string(e.unwrap().path().join("branches/trunk.jsonl")).unwrap());
    let texts: Vec<String> = text.collect();
    for field in ["\"moves\":3,\"wall_seconds\":null", "\"loop_detector\":true", "\"wall_seconds\":5}"] {
        assert_eq!(texts.iter().filter(|t| t.contains(field)).count(), 1, "{field}");
    }
}

#[test]
fn every_actor_is_created_in_one_place() {
    use retrospect::driver::{OpenWorld, RunConfig};
    use retrospect::env::EnvError;
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "--quiet", "--max-steps", "2"]).assert_success();
    let folder = home.session();
    let (_, timeline, _) = retrospect::driver::open_read_only(&folder).unwrap();
    let mut spec = (**timeline.head().run.as_ref().unwrap()).clone();
    // Actor and mentor, and the words with which they are refused (empty: they are outfitted).
    let recorded = format!("recorded:{}", folder.display());
    let cases = [
        ("rules", "symbolic", ""),
        ("human", "none", ""),
        (&recorded, "symbolic", ""),
        ("recorded:nowhere", "symbolic", "nowhere"),
        ("openai:m", "symbolic", "no model server was named"),
        ("ghost", "symbolic", "there is no actor \"ghost\""),
        ("rules", "ghost", "there is no mentor \"ghost\""),
    ];
    for (actor, mentor, words) in cases {
        (spec.actor, spec.mentor) = (actor.to_owned(), mentor.to_owned());
        let open: OpenWorld =
            std::sync::Arc::new(|_| Err(EnvError::Refused { what: "not needed".to_owned() }));
        let templates = std::sync::Arc::new(retrospect::prompt::Templates::builtin());
        let said = RunConfig::from_spec(&spec, templates, open, std::time::Duration::ZERO).err();
        let said = said.map(|e| e.to_string()).unwrap_or_default();
        assert!(said.contains(words) && said.is_empty() == words.is_empty(), "{actor} {mentor}: {said}");
    }
}

/// The turn that won said "Next: go to red ball 1." below "The task is completed."
#[test]
fn after_the_goal_is_reached_no_reflection_names_a_next_step() {
    let home = Home::new();
    let told = home
        .run(&["run", "--env", "babyai", "--task", "GoToRedBall", "--seed", "7", "--json"])
        .assert_success()
        .json_lines();
    let won = told.iter().find(|l| l["type"] == "step" && l["won"] == true).unwrap()["step"].clone();
    let reflected = told.iter().filter(|l| l["type"] == "reflection" && l["step"] == won);
    assert!(reflected.filter(|l| l.to_string().contains("Next")).count() == 0, "{told:?}");
}

/// Found by a new user: a place that is not there was passed over, and the last episode shown.
#[test]
fn a_nonexistent_location_is_refused() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/heat/23", "--max-steps", "3", "--headless"]);
    let name = home.session().display().to_string();
    for (place, words) in [("#9.1", "1 episode"), ("#1.99", "episode 1 has 3 steps")] {
        let said = home.run(&["open", &format!("{name}{place}")]);
        assert_eq!(said.code, 2, "{place}: {}", said.stderr);
        assert!(said.stderr.contains(words), "{place}: {}", said.stderr);
    }
    assert_eq!(home.run(&["open", &format!("{name}#1.2")]).code, 0);
}
