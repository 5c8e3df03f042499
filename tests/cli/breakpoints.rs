//! What is checked before anything runs: breakpoints of flags and the configuration, and addresses of servers.

use crate::Home;
use crate::rows::rows;

#[test]
fn configured_breakpoints_apply_and_errors_name_file_and_line() {
    let home = Home::new();
    let file = home.path("config.toml");
    std::fs::write(&file, "[run]\nbreaks = [\n  \"warn nothing 3\",\n  \"step 2\",\n]\n").unwrap();
    let config = file.display().to_string();
    let task = ["run", "--task", "easy/heat/23", "--headless", "--config", &config];
    let said = home.run(&task);
    assert_eq!(said.code, 3, "{}", said.stderr);
    assert!(said.stderr.contains("breakpoint 2 `step 2`"), "{}", said.stderr);
    // A flag takes their place.
    let said = home.run(&[&task[..], &["--break", "step 3"]].concat());
    assert!(said.stderr.contains("breakpoint 1 `step 3`"), "{}", said.stderr);
    std::fs::write(&file, "[run]\nbreaks = [\n  \"warn nothing 3\",\n  \"stalld 2\",\n]\n").unwrap();
    let said = home.run(&task);
    assert_eq!(said.code, 1, "{}", said.stderr);
    assert!(
        said.stderr.contains("config.toml:4: run.breaks") && said.stderr.contains("did you mean `stalled`?"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.lines().count() <= 3 && said.stderr.len() < 600, "{}", said.stderr);
}

/// One bad line of `breaks` stopped every verb, even those that run nothing.
#[test]
fn a_bad_configured_condition_stops_only_runs() {
    let home = Home::new();
    let file = home.path("config.toml");
    std::fs::write(&file, "[run]\nbreaks = [\n  \"step 2\",\n  \"note zzz\",\n  7,\n]\n").unwrap();
    let config = file.display().to_string();
    let with = |args: &[&str]| home.run(&[args, &["--config", &config]].concat());
    let bad = "config.toml:4: run.breaks: \"note zzz\": unknown detector `zzz`";
    for verb in [&["sessions"][..], &["config", "show"], &["tasks", "--env", "household"]] {
        let said = with(verb).assert_success();
        assert!(said.stderr.contains("warning: ") && said.stderr.contains(bad), "{verb:?}: {}", said.stderr);
        assert!(
            said.stderr.contains("config.toml:5: run.breaks: each condition is a text"),
            "{}",
            said.stderr
        );
    }
    for verb in [&["run", "--task", "easy/heat/23", "--headless"][..], &[]] {
        let said = with(verb);
        assert_eq!(said.code, 1, "{}", said.stderr);
        assert!(said.stderr.contains(bad) && !said.stderr.contains("warning"), "{}", said.stderr);
        assert!(!home.path("sessions").exists(), "nothing was written");
    }
    // A flag takes the place of them all.
    assert_eq!(with(&["run", "--task", "easy/heat/23", "--headless", "--break", "step 1"]).code, 3);
    let doctor = with(&["doctor"]);
    assert!(
        doctor.code == 1 && doctor.stdout.contains("BROKEN   breaks") && doctor.stdout.contains(bad),
        "{}",
        doctor.stdout
    );
    // The same of the variable.
    let mut command = home.command(&["sessions"]);
    let said = command.env("RETROSPECT_BREAKS", "step 2; stalld 3").output().unwrap();
    let said = (said.status.success(), String::from_utf8(said.stderr).unwrap());
    assert!(
        said.0 && said.1.contains("RETROSPECT_BREAKS=") && said.1.contains("did you mean `stalled`?"),
        "{}",
        said.1
    );
}

/// A journal may hold the name of a detector that this program does not have: it opens, and its run goes on.
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

/// It was found out when the first question was asked, with a session made.
#[test]
fn an_address_that_cannot_be_one_is_refused_before_anything_is_written() {
    let home = Home::new();
    for (address, why) in [
        ("foo://x", "neither http:// nor https://"),
        ("localhost:8080/v1", "neither http:// nor https://"),
        ("http://", "empty host"),
        ("http://h:99999/v1", "invalid port"),
        ("http://me:secret@h/v1", "name or password"),
    ] {
        for role in ["--actor", "--mentor"] {
            let run =
                ["run", "--task", "easy/put/1", "--method", "reflexion", "--headless", role, "openai:m"];
            let said = home.run(&[&run[..], &["--base-url", address]].concat());
            assert!(said.code != 0 && said.stderr.contains(why), "{address}: {} {}", said.code, said.stderr);
            assert!(
                !said.stderr.contains("secret") && !home.path("sessions").exists(),
                "{address}: {}",
                said.stderr
            );
        }
    }
}

/// Without a screen each condition ends the program at the turn that the recording has, and `resume` goes on to the next.
#[test]
fn headless_breakpoints_stop_as_recorded() {
    for (_, task, condition, turns) in rows() {
        let home = Home::new();
        let begin = ["run", "--task", task, "--method", "omnireflect", "--headless", "--json"];
        let mut said = home.run(&[&begin[..], &["--break", condition]].concat());
        let mut found: Vec<u64> = Vec::new();
        // One more than there are: it must not stop again.
        for _ in 0..=turns.len() {
            let stopped = said.json_lines().into_iter().find(|l| l["type"] == "stopped");
            assert_eq!(said.code, if stopped.is_some() { 3 } else { 0 }, "{condition}: {}", said.stderr);
            let Some(stopped) = stopped else { break };
            assert_eq!(stopped["condition"], *condition);
            assert!(!stopped["why"].as_str().unwrap_or_default().is_empty(), "{condition}");
            found.push(stopped["step"].as_u64().unwrap());
            said = home.run(&["resume", "--last", "--headless", "--json"]);
        }
        assert_eq!(found, turns.iter().map(|t| u64::from(*t)).collect::<Vec<_>>(), "{task}: {condition}");
    }
}
