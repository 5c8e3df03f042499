//! Checks before a run starts: breakpoints of flags and configuration, and server addresses.

use crate::Home;
use crate::rows::rows;

#[test]
fn configured_breakpoints_apply_and_errors_name_file_and_line() {
    let home = Home::new();
    let file = home.path("config.toml");
    std::fs::write(&file, "[run]\nbreaks = [\n  \"warn nothing 3\",\n  \"step 2\",\n]\n").unwrap();
    let config = file.display().to_string();
    let task = ["run", "--task", "easy/heat/23", "--headless", "--config", &config];
    let output = home.run(&task);
    assert_eq!(output.code, 3, "{}", output.stderr);
    assert!(output.stderr.contains("breakpoint 2 `step 2`"), "{}", output.stderr);
    // A flag replaces them.
    let output = home.run(&[&task[..], &["--break", "step 3"]].concat());
    assert!(output.stderr.contains("breakpoint 1 `step 3`"), "{}", output.stderr);
    std::fs::write(&file, "[run]\nbreaks = [\n  \"warn nothing 3\",\n  \"stalld 2\",\n]\n").unwrap();
    let output = home.run(&task);
    assert_eq!(output.code, 1, "{}", output.stderr);
    assert!(
        output.stderr.contains("config.toml:4: run.breaks")
            && output.stderr.contains("did you mean `stalled`?"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.lines().count() <= 3 && output.stderr.len() < 600, "{}", output.stderr);
}

/// Regression: one invalid line of `breaks` stopped every verb, even those that start no run.
#[test]
fn a_bad_configured_condition_stops_only_runs() {
    let home = Home::new();
    let file = home.path("config.toml");
    std::fs::write(&file, "[run]\nbreaks = [\n  \"step 2\",\n  \"note zzz\",\n  7,\n]\n").unwrap();
    let config = file.display().to_string();
    let run_with_config = |args: &[&str]| home.run(&[args, &["--config", &config]].concat());
    let bad = "config.toml:4: run.breaks: \"note zzz\": unknown detector `zzz`";
    for verb in [&["sessions"][..], &["config", "show"], &["tasks", "--env", "household"]] {
        let output = run_with_config(verb).assert_success();
        assert!(
            output.stderr.contains("warning: ") && output.stderr.contains(bad),
            "{verb:?}: {}",
            output.stderr
        );
        assert!(
            output.stderr.contains("config.toml:5: run.breaks: expected each condition to be a string"),
            "{}",
            output.stderr
        );
    }
    for verb in [&["run", "--task", "easy/heat/23", "--headless"][..], &[]] {
        let output = run_with_config(verb);
        assert_eq!(output.code, 1, "{}", output.stderr);
        assert!(output.stderr.contains(bad) && !output.stderr.contains("warning"), "{}", output.stderr);
        assert!(!home.path("sessions").exists(), "nothing was written");
    }
    // A flag replaces all of them.
    assert_eq!(
        run_with_config(&["run", "--task", "easy/heat/23", "--headless", "--break", "step 1"]).code,
        3
    );
    let doctor = run_with_config(&["doctor"]);
    assert!(
        doctor.code == 1 && doctor.stdout.contains("BROKEN   breaks") && doctor.stdout.contains(bad),
        "{}",
        doctor.stdout
    );
    // The same for the environment variable.
    let mut command = home.command(&["sessions"]);
    let output = command.env("RETROSPECT_BREAKS", "step 2; stalld 3").output().unwrap();
    let output = (output.status.success(), String::from_utf8(output.stderr).unwrap());
    assert!(
        output.0 && output.1.contains("RETROSPECT_BREAKS=") && output.1.contains("did you mean `stalled`?"),
        "{}",
        output.1
    );
}

/// A journal may name a detector that this program doesn't have: it still opens, and its run continues.
#[test]
fn an_old_condition_with_an_unknown_detector_still_opens() {
    let home = Home::new();
    let task = ["run", "--task", "easy/heat/23", "--headless"];
    assert_eq!(home.run(&[&task[..], &["--break", "note subgoal", "--break", "step 3"]].concat()).code, 3);
    let trunk = home.session().join("branches/trunk.jsonl");
    let text = std::fs::read_to_string(&trunk).unwrap();
    assert!(text.contains("\"condition\":\"note subgoal\""));
    std::fs::write(&trunk, text.replace("\"condition\":\"note subgoal\"", "\"condition\":\"note zzz\""))
        .unwrap();
    home.run(&["open", "--last", "--json"]).assert_success();
    home.run(&["verify", &home.session().display().to_string()]).assert_success();
    home.run(&["resume", "--last", "--headless", "-q"]).assert_success();
}

/// Regression: a bad address was found only at the first call, after the session was created.
#[test]
fn invalid_address_is_rejected_before_anything_is_written() {
    let home = Home::new();
    for (address, why) in [
        ("foo://x", "must start with http:// or https://"),
        ("localhost:8080/v1", "must start with http:// or https://"),
        ("http://", "empty host"),
        ("http://h:99999/v1", "invalid port"),
        ("http://me:secret@h/v1", "name or password"),
    ] {
        for role in ["--actor", "--mentor"] {
            let run =
                ["run", "--task", "easy/put/1", "--method", "reflexion", "--headless", role, "openai:m"];
            let output = home.run(&[&run[..], &["--base-url", address]].concat());
            assert!(
                output.code != 0 && output.stderr.contains(why),
                "{address}: {} {}",
                output.code,
                output.stderr
            );
            assert!(
                !output.stderr.contains("secret") && !home.path("sessions").exists(),
                "{address}: {}",
                output.stderr
            );
        }
    }
}

/// Without a screen, each condition ends the program at the recorded step, and `resume` continues to the next.
#[test]
fn headless_breakpoints_stop_as_recorded() {
    for (_, task, condition, steps) in rows() {
        let home = Home::new();
        let begin = ["run", "--task", task, "--method", "omnireflect", "--headless", "--json"];
        let mut output = home.run(&[&begin[..], &["--break", condition]].concat());
        let mut found: Vec<u64> = Vec::new();
        // One round more than recorded: it must not stop again.
        for _ in 0..=steps.len() {
            let stopped = output.json_lines().into_iter().find(|l| l["type"] == "stopped");
            assert_eq!(output.code, if stopped.is_some() { 3 } else { 0 }, "{condition}: {}", output.stderr);
            let Some(stopped) = stopped else { break };
            assert_eq!(stopped["condition"], *condition);
            assert!(!stopped["why"].as_str().unwrap_or_default().is_empty(), "{condition}");
            found.push(stopped["step"].as_u64().unwrap());
            output = home.run(&["resume", "--last", "--headless", "--json"]);
        }
        assert_eq!(found, steps.iter().map(|t| u64::from(*t)).collect::<Vec<_>>(), "{task}: {condition}");
    }
}
