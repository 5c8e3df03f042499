//! `verify` and `resume` detect changed sessions.

use crate::Home;
use std::path::PathBuf;

#[test]
fn a_changed_journal_is_detected() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "--headless", "--quiet", "--max-steps", "4"]).assert_success();
    let session = home.session();
    let trunk = session.join("branches/trunk.jsonl");
    let text = std::fs::read_to_string(&trunk).unwrap();
    let line =
        text.lines().find(|l| l.contains("\"type\":\"observed\"") && l.contains("You arrive")).unwrap();
    std::fs::write(&trunk, text.replace(line, &line.replacen("You arrive", "You fly", 1))).unwrap();
    let output = home.run(&["verify", session.to_str().unwrap()]);
    assert_eq!(output.code, 1);
    assert!(
        output.stdout.contains("PROBLEM event") && output.stdout.contains("You fly"),
        "{}",
        output.stdout
    );
    let json_output = home.run(&["verify", session.to_str().unwrap(), "--json"]);
    assert_eq!((json_output.code, json_output.stdout.lines().count()), (1, 1));
    assert!(!json_output.json_lines()[0]["problems"].as_array().unwrap().is_empty());
}

#[test]
fn a_diverged_world_stops_a_resume_and_says_what_to_do() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "--headless", "--break", "step=5"]);
    let trunk = home.session().join("branches/trunk.jsonl");
    let text = std::fs::read_to_string(&trunk).unwrap();
    let line =
        text.lines().find(|l| l.contains("\"type\":\"observed\"") && l.contains("You arrive")).unwrap();
    std::fs::write(&trunk, text.replace(line, &line.replacen("You arrive", "You fly", 1))).unwrap();
    for _ in 0..2 {
        let output = home.run(&["resume", "--last", "-q"]);
        assert_eq!(output.code, 3, "{}", output.stderr);
        assert!(
            output.stderr.contains("You fly") && output.stderr.contains("`retry` accepts the environment"),
            "{}",
            output.stderr
        );
    }
}

/// Plays a task of `pddl` with the option `pddl.goal`, and returns the session.
fn play_with_goal_joined_by_a_blank(home: &Home, args: &[&str]) -> PathBuf {
    let run = home.command(args).env("RETROSPECT_PDDL_GOAL", "blank").output().unwrap();
    let lines = String::from_utf8(run.stdout).unwrap();
    assert!(
        lines.contains("is at rooma. ") || lines.contains("is at roomb. "),
        "joined by a blank:\n{lines}"
    );
    home.session()
}

/// Regression: the words of `pddl.goal` and other options of environments were not kept, so that `verify` and `resume`
/// without them found another goal and blamed the journal.
#[test]
fn options_of_environments_are_kept_with_the_session() {
    let home = Home::new();
    let args = ["run", "--env", "pddl", "--task", "gripper/1", "--headless", "--json", "--break", "step=3"];
    let session = play_with_goal_joined_by_a_blank(&home, &args);
    let verified = home.run(&["verify", session.to_str().unwrap()]).assert_success();
    assert!(verified.stdout.contains("journal, prompts and world agree"), "{}", verified.stdout);
    home.run(&["resume", "--last", "-q"]).assert_success();
    home.run(&["verify", session.to_str().unwrap()]).assert_success();
}

/// Regression: only those of `--env` were kept, but the rows of a list can name other environments.
#[test]
fn options_of_environments_that_only_a_list_names_are_kept() {
    let home = Home::new();
    let rows = "{\"env\":\"household\",\"task\":\"easy/put/1\"}\n{\"env\":\"pddl\",\"task\":\"gripper/1\"}\n";
    std::fs::write(home.path("mixed.jsonl"), rows).unwrap();
    let args = ["run", "--tasks", "mixed.jsonl", "--headless", "--json", "--max-steps", "3"];
    let session = play_with_goal_joined_by_a_blank(&home, &args);
    let trunk = std::fs::read_to_string(session.join("branches/trunk.jsonl")).unwrap();
    assert!(trunk.contains("pddl.goal"), "the option is not a setting of the run");
    let verified = home.run(&["verify", session.to_str().unwrap()]).assert_success();
    assert!(verified.stdout.contains("journal, prompts and world agree"), "{}", verified.stdout);
}

#[test]
fn a_resume_with_other_templates_needs_confirmation() {
    let home = Home::new();
    let stop = ["--headless", "--break", "step=3"];
    home.run(&[&["run", "--task", "easy/put/1"], &stop[..]].concat());
    let prompts = home.path("mine");
    std::fs::create_dir_all(&prompts).unwrap();
    std::fs::write(prompts.join("put.txt"), "Another example.\n").unwrap();
    let mine = prompts.to_str().unwrap();
    let rejected = home.run(&["resume", "--last", "-q", "--prompts", mine]);
    assert_eq!(rejected.code, 2, "{}", rejected.stderr);
    for words in ["built into the version", mine, "--prompts builtin", "--accept-prompts"] {
        assert!(rejected.stderr.contains(words), "{words:?} is not in {}", rejected.stderr);
    }
    // The rejected resume didn't change the session; it still resumes with the original templates.
    home.run(&["resume", "--last", "-q", "--prompts", "builtin", "--break", "step=4"]);
    assert_eq!(home.run(&["resume", "--last", "-q", "--prompts", mine]).code, 2);
    home.run(&["resume", "--last", "-q", "--prompts", mine, "--accept-prompts"]).assert_success();
    // From now on the run uses the accepted templates.
    let built_in = home.run(&["resume", "--last", "-q"]);
    assert_eq!(built_in.code, 2, "{}", built_in.stderr);
    assert!(built_in.stderr.contains("--prompts DIR"), "{}", built_in.stderr);
    home.run(&["resume", "--last", "-q", "--prompts", mine]).assert_success();
}

/// The hint names only what a person can do: no folder contains the templates of another version.
#[test]
fn a_resume_after_a_change_of_the_builtin_templates_offers_to_accept_them() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "--headless", "--break", "step=3"]);
    let trunk = home.session().join("branches/trunk.jsonl");
    let text = std::fs::read_to_string(&trunk).unwrap();
    let (before, after) = text.split_once("\"templates\":{\"value\":\"").unwrap();
    std::fs::write(&trunk, format!("{before}\"templates\":{{\"value\":\"{}{}", "0".repeat(64), &after[64..]))
        .unwrap();
    let rejected = home.run(&["resume", "--last", "-q"]);
    assert_eq!(rejected.code, 2, "{}", rejected.stderr);
    assert!(rejected.stderr.contains("--accept-prompts"), "{}", rejected.stderr);
    assert!(!rejected.stderr.contains("--prompts"), "{}", rejected.stderr);
    home.run(&["resume", "--last", "-q", "--accept-prompts"]).assert_success();
}

#[test]
fn recorded_settings_that_are_not_allowed_are_named() {
    let cases = [
        ("context_tokens", "8192", "\"lots\"", "lots: expected a whole number from 1 to 16000000"),
        ("reflect", "\"conditions\"", "\"sometimes\"", "sometimes: expected conditions, periodic, never"),
        ("kind_error", "true", "3", "3: expected true or false"),
        ("generation", "\"symbolic\"", "\"psychic\"", "psychic: expected symbolic, neural, neuro-symbolic"),
    ];
    for (name, value, invalid, words) in cases {
        let home = Home::new();
        home.run(&["run", "--task", "easy/put/1", "--headless", "--break", "step=3"]);
        let session = home.session();
        let trunk = session.join("branches/trunk.jsonl");
        let original = std::fs::read_to_string(&trunk).unwrap();
        let recorded = |value: &str| format!("\"{name}\":{{\"value\":{value},");
        assert!(original.contains(&recorded(value)), "{name}");
        std::fs::write(&trunk, original.replacen(&recorded(value), &recorded(invalid), 1)).unwrap();
        let report = home.run(&["verify", session.to_str().unwrap()]);
        let expected = format!("setting {name} = {words}");
        assert_eq!(report.code, 1, "{}", report.stdout);
        assert!(report.stdout.contains(&format!("PROBLEM event 1: {expected}")), "{}", report.stdout);
        assert!(!report.stdout.contains("OK:"), "{}", report.stdout);
        let is_playable = name != "generation";
        assert_eq!(
            !report.stdout.contains("not recomputed: unknown generation"),
            is_playable,
            "{}",
            report.stdout
        );
        let resumed = home.run(&["resume", "--last", "-q"]);
        if is_playable {
            let resumed = resumed.assert_success();
            assert!(resumed.stderr.contains(&format!("warning: {expected}")), "{}", resumed.stderr);
        } else {
            assert_ne!(resumed.code, 0, "no method can play it");
            assert!(resumed.stderr.contains("psychic"), "{}", resumed.stderr);
        }
    }
}

#[test]
fn every_changed_journal_field_is_detected() {
    // Kind of the changed event, text replaced once in the first such line, its replacement, and part of the report.
    let cases: &[(&str, &str, &str, &str)] = &[
        ("observed", "\"reward\":0.0", "\"reward\":0.5", "reward = 0.0"),
        ("observed", "\"progress\":0.0", "\"progress\":0.25", "progress = 0.0"),
        ("observed", "\"done\":false", "\"done\":true", "done = false"),
        ("observed", "\"won\":false", "\"won\":true", "won = false"),
        ("observed", "\"valid\":true", "\"valid\":false", "valid = true"),
        ("world_reset", "\"shown\":{", "\"shown\":{\"zz\":1,", "shown = "),
        ("world_reset", "\"truth\":{", "\"truth\":{\"zz\":1,", "truth = "),
        ("proposed", "\"action\":\"", "\"action\":\"no ", "the reply is parsed as"),
        ("proposed", "\"action\":\"", "\"complaints\":[\"two lines\"],\"action\":\"", "1 complaint"),
        ("prompt_sent", "\"seed\":", "\"seed\":1", "the request has the seed"),
        ("noted", "\"step\":1", "\"step\":7", "steps are out of order"),
        ("episode_ended", "\"won\":false", "\"won\":true", "recomputed summary is"),
        ("episode_ended", "\"steps\":6", "\"steps\":5", "recomputed summary is"),
        ("episode_ended", "\"moves\":", "\"moves\":1", "recomputed summary is"),
        ("episode_ended", "\"progress\":0.25", "\"progress\":0.5", "recomputed summary is"),
    ];
    let home = Home::new();
    home.run(&["run", "--task", "easy/heat/23", "--headless", "--quiet", "--max-steps", "6"])
        .assert_success();
    let session = home.session();
    let trunk = session.join("branches/trunk.jsonl");
    let original = std::fs::read_to_string(&trunk).unwrap();
    let path = session.to_str().unwrap();
    assert!(home.run(&["verify", path]).assert_success().stdout.contains("OK: journal"));
    for (kind, old, new, words) in cases {
        let mark = format!("\"type\":\"{kind}\"");
        let line = original.lines().find(|l| l.contains(&mark) && l.contains(old));
        let line = line.unwrap_or_else(|| panic!("nothing to change: {kind} {old}"));
        std::fs::write(&trunk, original.replace(line, &line.replacen(old, new, 1))).unwrap();
        let output = home.run(&["verify", path]);
        assert!(
            output.code == 1 && output.stdout.contains(words),
            "{kind} {old}: {}\n{}",
            output.stdout,
            output.stderr
        );
    }
}

#[test]
fn an_accepted_difference_is_not_a_problem() {
    let home = Home::new();
    let written = home
        .run(&["tasks", "--env", "household", "--tasks", "easy/put/1", "--write", "games"])
        .assert_success();
    let folder = home.path(written.stdout.trim());
    let task = folder.display().to_string();
    home.run(&["run", "--env", "alfworld", "--task", &task, "--headless", "--break", "step=4"]);
    // Replace the game by one with a different text.
    let game = folder.join("game.tw-pddl");
    let text = std::fs::read_to_string(&game).unwrap();
    let other = text.replace("You arrive at", "You have come to");
    assert_ne!(text, other);
    std::fs::write(&game, other).unwrap();
    let path = home.session().display().to_string();
    let before = home.run(&["verify", &path]);
    assert!(before.code == 1 && before.stdout.contains("PROBLEM"), "not accepted yet: {}", before.stdout);
    home.run_with_input(&["resume", "--last", "--plain"], "retry\nset max_steps 8\nrun\nquit\n")
        .assert_success();
    home.run(&["resume", "--last", "-q"]).assert_success();
    let output = home.run(&["verify", &path]).assert_success();
    assert!(
        output.stdout.contains("accepted: event ") && output.stdout.contains("You have come to"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("accepted environment difference") && !output.stdout.contains("PROBLEM"),
        "{}",
        output.stdout
    );
    let report = home.run(&["verify", &path, "--json"]).assert_success().json_lines().remove(0);
    assert!(
        !report["accepted"].as_array().unwrap().is_empty() && report["problems"] == serde_json::json!([])
    );
    // Results recorded after the acceptance have to match again.
    std::fs::write(&game, text).unwrap();
    let back = home.run(&["verify", &path]);
    assert!(back.code == 1 && back.stdout.contains("PROBLEM"), "{}", back.stdout);
}

#[test]
fn notes_and_lessons_are_recomputed() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/heat/23", "-q", "--max-steps", "12", "--interface", "raw"])
        .assert_success();
    let trunk = home.session().join("branches/trunk.jsonl");
    let path = home.session().display().to_string();
    let original = std::fs::read_to_string(&trunk).unwrap();
    // A version with other rules might have written this: it is reported and counted, but not a failure.
    let line = original.lines().find(|l| l.contains("\"type\":\"noted\"") && l.contains("evidence")).unwrap();
    let other = line.replacen("\"evidence\":\"", "\"evidence\":\"as it seems, ", 1);
    std::fs::write(&trunk, original.replace(line, &other)).unwrap();
    let output = home.run(&["verify", &path]).assert_success();
    assert!(
        output.stdout.contains("rules differ: event ") && output.stdout.contains("as it seems"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("this version's rules derive differently"), "{}", output.stdout);
    let report = home.run(&["verify", &path, "--json"]).assert_success().json_lines().remove(0);
    assert!(!report["drawn_otherwise"].as_array().unwrap().is_empty(), "{report}");
    // The goal and the agent's view are part of the record, so a change of them is a problem.
    for (kind, old, new, words) in [
        ("world_reset", "\"goal\":\"", "\"goal\":\"do not ", "states the goal"),
        ("observed", "\"turn\":", "\"seen\":\"no\",\"turn\":", "prompts show \"no\""),
    ] {
        let line = original.lines().find(|l| l.contains(&format!("\"type\":\"{kind}\""))).unwrap();
        assert!(line.contains(old), "{line}");
        std::fs::write(&trunk, original.replace(line, &line.replacen(old, new, 1))).unwrap();
        let output = home.run(&["verify", &path]);
        assert!(output.code == 1 && output.stdout.contains(words), "{kind}: {}", output.stdout);
    }
}

#[test]
fn a_session_whose_world_cannot_be_opened_does_not_pass() {
    let home = Home::new();
    let written = home.run(&["tasks", "--env", "household", "--tasks", "easy/put/1", "--write", "games"]);
    let task = written.assert_success().stdout.trim().to_owned();
    let games = home.path("games").display().to_string();
    let run = ["run", "--env", "alfworld", "--data", &games, "--task", &task, "-q", "--max-steps", "3"];
    home.run(&run).assert_success();
    let path = home.session().display().to_string();
    assert!(home.run(&["verify", &path, "--data", &games]).assert_success().stdout.contains("OK: journal"));
    std::fs::remove_dir_all(home.path("games")).unwrap();
    let output = home.run(&["verify", &path, "--data", &games]);
    assert_eq!(output.code, 1, "{}", output.stdout);
    assert!(output.stdout.contains("prompts only: no environment was compared"), "{}", output.stdout);
    let skipped = home.run(&["verify", &path, "--no-world"]).assert_success();
    assert!(skipped.stdout.contains("prompts only") && !skipped.stdout.contains("OK:"));
}

/// Regression: the hint named the data folder of another environment.
#[test]
fn a_session_of_another_program_is_verified_there() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "-q", "--max-steps", "3"]).assert_success();
    let path = home.session().display().to_string();
    let trunk = home.session().join("branches/trunk.jsonl");
    let text = std::fs::read_to_string(&trunk).unwrap();
    std::fs::write(&trunk, text.replace("\"env\":\"household\"", "\"env\":\"lamps\"")).unwrap();
    let output = home.run(&["verify", &path]);
    assert_eq!(output.code, 1, "{}", output.stdout);
    assert!(
        output.stdout.contains("not compared: lamps easy/put/1: retrospect has no environment \"lamps\"\n"),
        "{}",
        output.stdout
    );
    assert!(output.stderr.contains("of another program, which has this environment"), "{}", output.stderr);
    assert!(!output.stderr.contains("--data"), "{}", output.stderr);
    // Regression: the notes of rules that only the other program has were said to differ, and `resume` continued the session
    // without its environment.
    assert!(!output.stdout.contains("rules differ"), "{}", output.stdout);
    let before = std::fs::read(&trunk).unwrap();
    let resumed = home.run(&["resume", &path, "--headless", "--accept-prompts"]);
    assert!(resumed.stderr.contains("retrospect has no environment \"lamps\""), "{}", resumed.stderr);
    assert_eq!((resumed.code, std::fs::read(&trunk).unwrap()), (2, before));
}

/// Regression: `verify` derived every seed from the run's seed and reported each prompt after `set actor.seed` as
/// damaged.
#[test]
fn a_session_with_a_chosen_seed_verifies() {
    let home = Home::new();
    let lines = "step\nset actor.seed 7\nstep\nstep\nset actor.seed own\nstep\nquit\n";
    let output = home.run_with_input(&["run", "--task", "easy/put/1", "--plain"], lines).assert_success();
    assert!(output.stdout.contains("4 > "), "{}", output.stdout);
    let trunk = home.session().join("branches/trunk.jsonl");
    let text = std::fs::read_to_string(&trunk).unwrap();
    assert_eq!(text.matches("\"seed\":true").count(), 2, "two prompts use it");
    home.run(&["verify", "--last"]).assert_success();
    // It still checks each seed.
    let sent = text.lines().rfind(|l| l.contains("\"sampling\"")).unwrap();
    let seed = sent.split("\"seed\":").nth(1).unwrap().split(',').next().unwrap();
    std::fs::write(&trunk, text.replace(&format!("\"seed\":{seed}"), "\"seed\":1")).unwrap();
    let output = home.run(&["verify", "--last"]);
    assert!(output.code == 1 && output.stdout.contains("has the seed 1"), "{}", output.stdout);
}
