//! `diff`: two episodes side by side, as text and as JSON.

use super::{Home, field_names};
use retrospect::domain::{BranchId, Seq};
use retrospect::journal::Session;
use serde_json::Value;

/// Runs the same task twice, the second time with a low step limit; returns both paths.
fn two_runs(home: &Home) -> (String, String) {
    let run = |extra: &[&str]| {
        let before: Vec<_> = session_paths(home);
        home.run(&[&["run", "--task", "easy/heat/23", "-q"], extra].concat());
        let after = session_paths(home);
        after.into_iter().find(|s| !before.contains(s)).unwrap()
    };
    (run(&[]), run(&["--max-steps", "4", "--seed", "3"]))
}

fn session_paths(home: &Home) -> Vec<String> {
    let found = std::fs::read_dir(home.path("sessions")).into_iter().flatten();
    found.map(|e| e.unwrap().path().display().to_string()).collect()
}

#[test]
fn session_compared_with_itself_has_no_difference() {
    let home = Home::new();
    let (a, _) = two_runs(&home);
    let output = home.run(&["diff", &a, &a]).assert_success();
    assert!(output.stdout.contains("no difference: all "), "{}", output.stdout);
    let printed = home.run(&["diff", &a, &a, "--json"]).assert_success().json_lines();
    assert_eq!(
        (&printed[0]["same"], &printed[0]["first"], &printed[0]["before"]),
        (&true.into(), &Value::Null, &Value::Null)
    );
    assert_eq!((&printed[1]["type"], &printed[1]["same"]), (&"summary".into(), &1.into()));
}

#[test]
fn two_runs_are_compared_side_by_side() {
    let home = Home::new();
    let (a, b) = two_runs(&home);
    for width in ["110", "80", "60"] {
        let output = home.run(&["diff", &a, &b, "--width", width]).assert_success().stdout;
        let max_width: usize = width.parse().unwrap();
        for line in output.lines() {
            assert!(line.chars().count() <= max_width, "{width}: {line}");
        }
        for words in ["first difference", "steps: ", "step limit", "seed", "outcome"] {
            assert!(output.contains(words), "{words} at {width}: {output}");
        }
        assert!(!output.contains('\u{1b}'), "no colours without a terminal");
    }
    let only = home.run(&["diff", &a, &b, "--only-differences"]).assert_success().stdout;
    assert!(only.contains("the same ...") && only.lines().count() < 400, "{only}");
}

#[test]
fn reversed_arguments_swap_the_sides() {
    let home = Home::new();
    let (a, b) = two_runs(&home);
    let compare =
        |a: &str, b: &str| home.run(&["diff", a, b, "--json"]).assert_success().json_lines().remove(0);
    let (forward, reversed) = (compare(&a, &b), compare(&b, &a));
    assert_eq!((&forward["a"], &forward["b"]), (&reversed["b"], &reversed["a"]));
    assert_eq!(forward["reasons"], reversed["reasons"]);
    let rows = |printed: &Value| printed["rows"].as_array().unwrap().len();
    assert_eq!(rows(&forward), rows(&reversed));
    for (x, y) in forward["rows"].as_array().unwrap().iter().zip(reversed["rows"].as_array().unwrap()) {
        assert_eq!((&x["a"], &x["b"], &x["parts"]), (&y["b"], &y["a"], &y["parts"]));
    }
    let different =
        home.run(&["diff", &a, &b, "--json", "--only-differences"]).assert_success().json_lines().remove(0);
    assert!(different["rows"].as_array().unwrap().iter().all(|r| r["kind"] != "same"));
}

#[test]
fn trials_of_one_session_and_whole_sessions_are_compared() {
    let home = Home::new();
    let run = [
        "run",
        "--task",
        "normal/heat/71",
        "--method",
        "reflexion",
        "--trials",
        "2",
        "--max-steps",
        "6",
        "-q",
    ];
    home.run(&run).assert_success();
    let path = home.session().display().to_string();
    let trials = home.run(&["diff", &format!("{path}#1"), &format!("{path}#2")]).assert_success().stdout;
    assert!(trials.contains("trial 1") && trials.contains("trial 2"), "{trials}");
    let whole = home.run(&["diff", &path, &path]).assert_success().stdout;
    assert!(whole.contains("#2 | #2") && whole.contains("no difference in 2 episodes"), "{whole}");
    let lines = home.run(&["diff", &path, &path, "--json"]).assert_success().json_lines();
    assert_eq!(lines.len(), 3);
    // If only one side names an episode, it is compared with the other side's of the same trial.
    let one = home.run(&["diff", &format!("{path}#2"), &path, "--json"]).assert_success().json_lines();
    assert_eq!((&one[0]["a"]["episode"], &one[0]["b"]["episode"]), (&2.into(), &2.into()));
}

#[test]
fn branches_of_one_session_share_their_past() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "-q", "--max-steps", "6"]).assert_success();
    let path = home.session();
    let trunk = std::fs::read_to_string(path.join("branches/trunk.jsonl")).unwrap();
    let events: Vec<Value> = trunk.lines().skip(1).map(|l| serde_json::from_str(l).unwrap()).collect();
    let third = events.iter().find(|e| e["type"] == "noted" && e["step"] == 3).unwrap();
    let at = Seq(third["seq"].as_u64().unwrap());
    let session = Session::open(&path).unwrap();
    drop(session.fork(&BranchId::trunk(), at, "a test", jiff::Timestamp::UNIX_EPOCH).unwrap());
    let branch_path = |branch: &str| format!("{}@{branch}", path.display());
    let printed = home
        .run(&["diff", &branch_path("trunk"), &branch_path("b1"), "--json"])
        .assert_success()
        .json_lines()
        .remove(0);
    let kinds: Vec<&str> =
        printed["rows"].as_array().unwrap().iter().map(|r| r["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[..4], ["same"; 4], "the first observation and three steps");
    assert!(kinds[4..].iter().all(|k| *k == "only_a"), "{kinds:?}");
    assert_eq!((&printed["a"]["branch"], &printed["b"]["branch"]), (&"trunk".into(), &"b1".into()));
    assert_eq!(printed["reasons"], serde_json::json!(["end"]));
    let missing = home.run(&["diff", &branch_path("trunk"), &branch_path("b9")]);
    assert!(missing.code == 2 && missing.stderr.contains("b9"), "{}", missing.stderr);
}

#[test]
fn impossible_comparisons_are_reported() {
    let home = Home::new();
    let (a, b) = two_runs(&home);
    home.run(&["run", "--task", "easy/put/1", "-q", "--max-steps", "2"]);
    let other = session_paths(&home).into_iter().find(|s| *s != a && *s != b).unwrap();
    let cases = [
        (vec!["diff", &a], 2, "required"),
        (vec!["diff", &a, "nowhere"], 1, "no session named"),
        (vec!["diff", &a, &other], 2, "no episodes in common (same task and trial)"),
        (vec!["diff", &a, &b, "--width", "7"], 2, "40"),
    ];
    for (args, code, words) in cases {
        let output = home.run(&args);
        assert!(
            output.code == code && output.stderr.contains(words),
            "{args:?}: {} {}",
            output.code,
            output.stderr
        );
    }
    for (suffix, words) in
        [("#9", "no episode 9"), ("#x", "not an episode number"), ("#1.3", "whole episodes")]
    {
        let bad = format!("{a}{suffix}");
        for sides in [[&bad, &a], [&a, &bad], [&bad, &bad]] {
            let output = home.run(&["diff", sides[0], sides[1]]);
            assert!(
                output.code == 2 && output.stderr.contains(words),
                "{suffix}: {} {}",
                output.code,
                output.stderr
            );
        }
    }
    for (verb, suffix) in [("rerun", "#9"), ("open", "#9.1"), ("export", "#9.1")] {
        let output = home.run(&[verb, &format!("{a}{suffix}")]);
        assert!(output.code == 2, "{verb}: {} {}", output.code, output.stderr);
    }
}

/// Regression: a pending proposal counted as a step in text and JSON, but not in the list of branches.
#[test]
fn a_pending_proposal_is_shown_as_not_taken_and_not_counted() {
    let home = Home::new();
    let input = "step\nstep\nstep\nfork 3\nbranches\nquit\n";
    let output = home
        .run_with_input(&["run", "--task", "easy/put/1", "--plain", "--mentor", "none"], input)
        .assert_success()
        .stdout;
    let tree = output.lines().find(|l| l.contains("* b1 from trunk")).unwrap();
    let path = home.session().display().to_string();
    let sides = [format!("{path}@trunk"), format!("{path}@b1")];
    let printed = home.run(&["diff", &sides[0], &sides[1], "--json"]).assert_success().json_lines();
    let (a, b) = (&printed[0]["a"]["steps"], &printed[0]["b"]["steps"]);
    assert!(tree.contains(&format!(", {b} steps,")), "{tree}");
    let page = home.run(&["export", &sides[1], "--format", "markdown"]).assert_success().stdout;
    assert!(page.contains(&format!("in progress at step {b}")), "{page}");
    let rows = printed[0]["rows"].as_array().unwrap();
    let taken = |side: &str| rows.iter().filter(|r| r[side]["taken"] == true).count();
    assert_eq!((&taken("a").into(), &taken("b").into()), (a, b));
    let waiting = rows.iter().filter(|r| r["a"]["taken"] == false || r["b"]["taken"] == false).count();
    assert!(waiting > 0);
    assert_eq!(printed[0]["counts"]["waiting"], waiting);
    assert_eq!((&printed[1]["steps"]["a"], &printed[1]["steps"]["b"]), (a, b));
    for width in ["60", "120"] {
        let text = home.run(&["diff", &sides[0], &sides[1], "--width", width]).assert_success().stdout;
        assert!(text.contains("not taken"), "{text}");
    }
}

/// Regression: two runs with the same steps had "no difference", even if their settings differed.
#[test]
fn differences_before_the_first_step_come_first() {
    let home = Home::new();
    let run = |extra: &[&str]| {
        let before = session_paths(&home);
        home.run(&[&["run", "--task", "easy/put/1", "--max-steps", "2", "-q"], extra].concat());
        session_paths(&home).into_iter().find(|s| !before.contains(s)).unwrap()
    };
    let (a, b) = (
        run(&["--mentor", "none"]),
        run(&["--mentor", "none", "--seed", "3", "--set", "context_tokens=9000"]),
    );
    let printed = home.run(&["diff", &a, &b, "--json"]).assert_success().json_lines().remove(0);
    assert_eq!(printed["same"], true, "{printed}");
    let names: Vec<&str> =
        printed["beforehand"].as_array().unwrap().iter().map(|d| d["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"seed") && names.contains(&"context_tokens"), "{names:?}");
    for width in ["60", "120"] {
        let text = home.run(&["diff", &a, &b, "--width", width]).assert_success().stdout;
        let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
        assert!(at("differences before the first step") < at("context_tokens"), "{text}");
        assert!(at("context_tokens") < at("the settings differ (above)"), "{text}");
        assert!(!text.contains("no difference"), "{text}");
    }
    let itself = home.run(&["diff", &a, &a]).assert_success().stdout;
    assert!(!itself.contains("before the first step") && itself.contains("no difference: all "), "{itself}");
}

/// The page explains exactly the printed fields.
#[test]
fn the_page_explains_every_field_of_the_json() {
    let page = include_str!("../../docs/COMPARE.md");
    let named = |heading: &str| -> Vec<String> {
        let part = page
            .split(&format!("### `{heading}`\n"))
            .nth(1)
            .unwrap_or_else(|| panic!("no heading {heading}"));
        let part = part.split("\n### ").next().unwrap();
        let rows = part.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next());
        rows.map(str::to_owned).collect()
    };
    let keys = |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    let home = Home::new();
    let (a, b) = two_runs(&home);
    let out = home.run(&["diff", &a, &b, "--json"]).assert_success();
    let lines: Vec<&str> = out.stdout.lines().collect();
    // The page also documents the order of the fields.
    assert_eq!(named("comparison"), field_names(lines[0]));
    assert_eq!(named("summary"), field_names(lines[1]));
    let printed = out.json_lines().remove(0);
    for (heading, value) in [
        ("a and b", &printed["a"]),
        ("before", &printed["before"]),
        ("rows", &printed["rows"][0]),
        ("a step", &printed["rows"][0]["a"]),
    ] {
        assert_eq!(sorted(named(heading)), sorted(keys(value)), "{heading}");
    }
}
