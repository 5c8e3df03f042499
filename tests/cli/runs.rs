//! `run` and `resume`: text, JSON, and interruptions.

use crate::{Home, ProgramOutput, field_names};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::Read as _;
use std::process::Stdio;

#[test]
fn without_a_terminal_the_built_in_episode_is_printed() {
    let home = Home::new();
    let output = home.run(&[]).assert_success();
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    assert!(output.stderr.contains("no terminal here"), "{}", output.stderr);
    assert!(
        output.stdout.contains("Episode 1: put a hot mug in coffeemachine (household "),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("Episode 1 ") && output.stdout.contains("session: "), "{}", output.stdout);
    assert!(!output.stdout.contains('\u{1b}'));
}

#[test]
fn run_json_prints_a_run() {
    let home = Home::new();
    let args =
        ["run", "--env", "household", "--tasks", "easy/*/1", "--only", "2", "--json", "--max-steps", "12"];
    let output = home.run(&args).assert_success();
    let printed = output.json_lines();
    let kinds: Vec<&str> = printed.iter().map(|l| l["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..2], ["run", "episode_start"]);
    assert_eq!(kinds.last(), Some(&"summary"));
    assert_eq!(kinds.iter().filter(|k| **k == "episode_end").count(), 2);
    let step = output.stdout.lines().find(|l| l.starts_with("{\"type\":\"step\"")).unwrap();
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
    let end = output.stdout.lines().find(|l| l.starts_with("{\"type\":\"episode_end\"")).unwrap();
    assert_eq!(
        field_names(end),
        [
            "type", "episode", "task", "trial", "won", "steps", "moves", "progress", "calls", "tokens",
            "reason", "assisted", "spent", "seq"
        ]
    );
    let summary = printed.last().unwrap();
    assert_eq!(
        (&summary["ended"], &summary["episodes"], &summary["assisted"]),
        (&"finished".into(), &2.into(), &0.into())
    );
    // The same seed and inputs give the same lines, except for the session's name.
    let plain = |output: &ProgramOutput| -> Vec<String> {
        output
            .stdout
            .lines()
            .filter(|l| l.contains("\"type\":\"step\"") || l.contains("reflection"))
            .map(str::to_owned)
            .collect()
    };
    let again = home.run(&args).assert_success();
    assert_eq!(plain(&output), plain(&again));
    let other = home.run(&[&args[..], &["--seed", "9"]].concat()).assert_success();
    assert_ne!(plain(&output), plain(&other), "another seed must change something");
}

#[test]
fn a_stopped_run_is_resumed_to_the_same_end() {
    let whole = Home::new();
    let uninterrupted = whole.run(&["run", "--task", "easy/heat/23", "--json"]).assert_success();
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
    // Pauses and resumes are events too, so event numbers may differ, but nothing else.
    let steps = |output: &ProgramOutput| -> Vec<Value> {
        let is_after_stop = |l: &Value| l["type"] == "step" && l["step"].as_u64() > Some(5);
        let mut lines: Vec<Value> = output.json_lines().into_iter().filter(is_after_stop).collect();
        for line in &mut lines {
            line["seq"] = Value::Null;
        }
        lines
    };
    assert_eq!(steps(&rest), steps(&uninterrupted));
    assert_eq!(rest.json_lines()[0]["type"], "run");
    assert!(
        home.run(&["verify", &name]).assert_success().stdout.contains("OK: journal, prompts and world agree")
    );
}

/// Regression: the last line had only success and progress.
#[test]
fn the_last_line_has_the_measures_that_the_environment_declares() {
    let home = Home::new();
    let run = ["run", "--env", "hotpotqa", "--only", "7", "--actor", "rules", "--headless", "--quiet"];
    let stopped = home.run(&[&run[..], &["--break", "end success"]].concat());
    assert_eq!(stopped.code, 3, "{}", stopped.stderr);
    // The sixth question is the first one that the rules answer.
    assert!(
        stopped.stdout.contains("6 episodes") && stopped.stdout.contains(", F1 0.167;"),
        "{}",
        stopped.stdout
    );
    let printed = home.run(&["resume", "--last", "--no-breaks", "--quiet"]).assert_success().stdout;
    assert!(printed.contains("7 episodes") && printed.contains(", F1 0.143;"), "{printed}");
    let reported = home.run(&["report", "--last", "--json"]).assert_success().stdout;
    assert!(reported.contains(r#""measures":{"F1":0.14285714285714285}"#), "{reported}");
    let exported = home.run(&["export", "--last", "--format", "json"]).assert_success().stdout;
    let exported: Value = serde_json::from_str(&exported).unwrap();
    assert_eq!(exported["tally"]["measures"], json!({ "F1": 1.0 / 7.0 }));
    let again = home.run(&["resume", "--last", "--json"]).assert_success().json_lines();
    assert_eq!(again.last().unwrap()["measures"], json!({ "F1": 1.0 / 7.0 }));
    let other = home.run(&["run", "--task", "easy/put/1", "--json", "--max-steps", "2"]).assert_success();
    assert_eq!(other.json_lines().last().unwrap().get("measures"), None);
}

#[test]
fn a_breakpoint_ends_a_headless_run_and_resume_continues_after_it() {
    let home = Home::new();
    let task = ["run", "--task", "easy/heat/23"];
    let breaks = ["--break", "action ~ heat", "--break", "warn progress changed", "--json"];
    let output = home.run(&[&task[..], &breaks].concat());
    assert_eq!(output.code, 3, "{}", output.stderr);
    let lines_of_type = |output: &ProgramOutput, kind: &str| -> Vec<Value> {
        output.json_lines().into_iter().filter(|l| l["type"] == kind).collect()
    };
    let stopped = lines_of_type(&output, "stopped");
    assert_eq!(stopped.len(), 1);
    let line = output.stdout.lines().find(|l| l.contains("\"type\":\"stopped\"")).unwrap();
    assert_eq!(field_names(line), ["type", "episode", "step", "breakpoint", "condition", "why", "seq"]);
    assert_eq!((&stopped[0]["step"], &stopped[0]["condition"]), (&6.into(), &"action ~ heat".into()));
    assert_eq!(
        (lines_of_type(&output, "warned").len(), &lines_of_type(&output, "warned")[0]["step"]),
        (1, &5.into())
    );
    let last = output.json_lines().pop().unwrap();
    assert!(last["error"]["message"].as_str().unwrap().contains("breakpoint 1 `action ~ heat`"), "{last}");
    // The proposal at which it stopped runs now; only a later one may stop it again.
    let rest = home.run(&["resume", "--last", "--json"]);
    assert!(
        lines_of_type(&rest, "step")[0]["action"].as_str().unwrap().starts_with("heat"),
        "{}",
        rest.stdout
    );
    assert!(lines_of_type(&rest, "stopped").iter().all(|l| l["step"].as_u64() > Some(6)), "{}", rest.stdout);
    let end = home.run(&["resume", "--last", "--no-breaks", "--headless"]).assert_success();
    assert!(end.stdout.contains("Run over") || end.stdout.contains("1 episode"), "{}", end.stdout);
    assert!(!end.stdout.contains("WATCH"));
}

#[test]
fn plain_mode_sets_lists_and_reports_breakpoints() {
    let home = Home::new();
    let lines = "break stalld 3\nbreak stalled 3\nwatch action ~ fridge\nbreaks\nrun\nbreaks\nbreak-off 1\nbreak-delete 2\nbreaks\nquit\n";
    let output = home.run_with_input(&["run", "--task", "easy/heat/23", "--plain"], lines).assert_success();
    for part in [
        "did you mean `stalled`?",
        "breakpoint 1 set: stalled 3",
        "watch 2 set: warn action ~ fridge",
        "2 watch: warn action ~ fridge (0 hits)",
        "WATCH watch 2 `action ~ fridge`: `go to fridge 1` proposed at step 2",
        "BREAK breakpoint 1 `stalled 3`: no progress in the first 3 steps",
        "STOPPED · stalled 3",
        "1 breakpoint: stalled 3 (1 hit; last: no progress in the first 3 steps)",
        "1 breakpoint: stalled 3 (1 hit, off",
    ] {
        assert!(output.stdout.contains(part), "{part}: {}", output.stdout);
    }
}

#[test]
fn a_recording_replays_without_inventing_replies() {
    let home = Home::new();
    let first = home.run(&["run", "--task", "easy/heat/23", "--json"]).assert_success();
    let session = home.session().display().to_string();
    let actor = format!("recorded:{session}");
    let again = home.run(&["run", "--task", "easy/heat/23", "--actor", &actor, "--json"]).assert_success();
    let actions = |output: &ProgramOutput| -> Vec<Value> {
        output.json_lines().into_iter().filter(|l| l["type"] == "step").map(|l| l["action"].clone()).collect()
    };
    assert_eq!(actions(&again), actions(&first));
    // Once, recorded tokens were reported as an estimate of this run.
    let spent = |output: &ProgramOutput| output.json_lines().last().unwrap()["spent"].clone();
    assert_eq!((&spent(&again)["estimated"], &spent(&again)["cost_nano"]), (&json!(0), &json!(0)));
    assert_eq!(spent(&again)["recorded"], spent(&first)["estimated"], "{}", spent(&again));
    let other = home.run(&["run", "--task", "easy/heat/1", "--actor", &actor, "--headless"]);
    assert_eq!(other.code, 3, "{}", other.stderr);
    assert!(
        other.stderr.contains("the first difference is in segment")
            && other.stderr.contains("retrospect resume"),
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
    assert!(skipped.assert_success().stdout.contains("lost (failed call)"));
}

#[test]
fn parallel_runs_name_their_session_in_every_line() {
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
    let printed = home.run(&args).assert_success().json_lines();
    let (summary, lines) = printed.split_last().unwrap();
    assert_eq!(summary["episodes"], 3);
    assert_eq!(summary["paths"].as_array().unwrap().len(), 3);
    let sessions: std::collections::BTreeSet<_> =
        lines.iter().map(|l| l["session"].as_str().unwrap().to_owned()).collect();
    assert_eq!(sessions.len(), 3);
}

#[test]
fn plain_mode_prints_text_without_cursor_movement() {
    let home = Home::new();
    let input = "help\nn\noverride go to countertop 1\nnote here\nlessons\nprompt\nworld\nactions\nstory 1\nxyzzy\nhuman\nact look\nset max_steps 9\nquit\n";
    let output = home
        .run_with_input(&["run", "--task", "easy/heat/23", "--plain", "--mentor", "none"], input)
        .assert_success();
    assert!(!output.stdout.contains('\u{1b}') && !output.stdout.contains('\r'));
    for words in [
        "your turn, step 1",
        "(by you, instead of: ",
        "remark  here",
        "no lessons yet",
        "[instruction]",
        "goal: put a hot apple in fridge",
        "valid actions here",
        "unknown command \"xyzzy\"",
        "YOU PLAY",
        "setting max_steps = 9",
        "retrospect resume",
    ] {
        assert!(output.stdout.contains(words), "{words:?} is not in {}", output.stdout);
    }
}

#[test]
fn closed_pipe_is_not_an_error() {
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
        let finished = child.wait_with_output().unwrap();
        assert_eq!(
            finished.status.code(),
            Some(0),
            "{args:?}: {}",
            String::from_utf8_lossy(&finished.stderr)
        );
        assert!(!String::from_utf8_lossy(&finished.stderr).contains("panic"), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_closes_its_session() {
    let home = Home::new();
    // The program waits for a person who never acts.
    let mut child = home
        .command(&["run", "--task", "easy/heat/23", "--actor", "human", "--plain"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut printed = String::new();
    // Keeps standard input open: waiting for a child closes it, and end of input quits.
    let input = child.stdin.take();
    let mut stdout = child.stdout.take().unwrap();
    let mut byte = [0; 1];
    while !printed.contains("YOU PLAY") {
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "{printed}");
        printed.push(byte[0] as char);
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
    // Each setting is recorded in the run, and limits end the episode with their reason.
    let home = Home::new();
    let run = |set: &str| {
        let args = ["run", "--task", "easy/heat/23", "--method", "react", "--json", "--set", set];
        home.run(&args).assert_success().json_lines()
    };
    let printed = run("max_moves=3");
    let end = printed.iter().find(|l| l["type"] == "episode_end").unwrap();
    assert_eq!(end["reason"], "move_limit", "{end}");
    assert_eq!(printed[0]["settings"]["max_moves"], serde_json::json!({"value": 3, "origin": "flag"}));
    let printed = run("loop_detector=on");
    assert_eq!(printed[0]["settings"]["loop_detector"]["value"], true);
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
fn an_error_names_the_unknown_actor_or_mentor() {
    use retrospect::driver::{OpenWorld, RunConfig};
    use retrospect::env::EnvError;
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "--quiet", "--max-steps", "2"]).assert_success();
    let folder = home.session();
    let (_, timeline, _) = retrospect::driver::open_read_only(&folder).unwrap();
    let mut spec = (**timeline.head().run.as_ref().unwrap()).clone();
    // Actor, mentor, and part of the error message (empty: no error).
    let recorded = format!("recorded:{}", folder.display());
    let cases = [
        ("rules", "symbolic", ""),
        ("human", "none", ""),
        (&recorded, "symbolic", ""),
        ("recorded:nowhere", "symbolic", "nowhere"),
        ("openai:m", "symbolic", "no model server is set"),
        ("ghost", "symbolic", "unknown actor \"ghost\""),
        ("rules", "ghost", "unknown mentor \"ghost\""),
    ];
    for (actor, mentor, words) in cases {
        (spec.actor, spec.mentor) = (actor.to_owned(), mentor.to_owned());
        let open: OpenWorld =
            std::sync::Arc::new(|_| Err(EnvError::Refused { what: "not needed".to_owned() }));
        let templates = std::sync::Arc::new(retrospect::catalog::builtin_templates());
        let output = RunConfig::from_spec(&spec, templates, open, std::time::Duration::ZERO).err();
        let output = output.map(|e| e.to_string()).unwrap_or_default();
        assert!(
            output.contains(words) && output.is_empty() == words.is_empty(),
            "{actor} {mentor}: {output}"
        );
    }
}

/// Regression: the step that won said "Next: go to red ball 1." below "The task is completed."
#[test]
fn after_the_goal_is_reached_no_reflection_names_a_next_step() {
    let home = Home::new();
    let printed = home
        .run(&["run", "--env", "babyai", "--task", "GoToRedBall", "--seed", "7", "--json"])
        .assert_success()
        .json_lines();
    let won = printed.iter().find(|l| l["type"] == "step" && l["won"] == true).unwrap()["step"].clone();
    let reflected = printed.iter().filter(|l| l["type"] == "reflection" && l["step"] == won);
    assert!(reflected.filter(|l| l.to_string().contains("Next")).count() == 0, "{printed:?}");
}

/// Regression: a nonexistent position was ignored and the last episode shown.
#[test]
fn nonexistent_position_is_rejected() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/heat/23", "--max-steps", "3", "--headless"]);
    let name = home.session().display().to_string();
    for (position, words) in [("#9.1", "1 episode"), ("#1.99", "episode 1 has only 3 steps")] {
        let output = home.run(&["open", &format!("{name}{position}")]);
        assert_eq!(output.code, 2, "{position}: {}", output.stderr);
        assert!(output.stderr.contains(words), "{position}: {}", output.stderr);
    }
    assert_eq!(home.run(&["open", &format!("{name}#1.2")]).code, 0);
}

/// Regression: all planning problems had the same goal in a list, whose room their first words took.
#[test]
fn sessions_are_listed_with_the_conditions_of_their_goals() {
    let home = Home::new();
    home.run(&["run", "--env", "pddl", "--task", "gripper/3", "--headless"]).assert_success();
    let listed = home.run(&["sessions"]).assert_success().stdout;
    assert!(listed.contains("; ball1 is at rooma, ball2 is at rooma, "), "{listed}");
    let json = home.run(&["sessions", "--json"]).assert_success().stdout;
    assert!(json.contains("The goal is to satisfy"), "data has the whole goal: {json}");
}
