//! Reports, presets that reproduce rows of the papers' tables, and reruns of episodes.

use super::Home;
use serde_json::Value;

#[test]
fn a_report_gives_results_and_says_they_are_not_comparable_to_published_ones() {
    let home = Home::new();
    let run = ["run", "--tasks", "easy/put/1-2", "--method", "react", "-q"];
    home.run(&run).assert_success();
    let text = home.run(&["report", "--last", "--against", "paper"]).assert_success().stdout;
    for words in ["a stand-in, not a model", "grounding", "IQM", "no paper has a table for household"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let printed: Value =
        serde_json::from_str(&home.run(&["report", "--last", "--json"]).assert_success().stdout).unwrap();
    assert_eq!(printed["configurations"][0]["all"]["tasks"], 2);
    assert!(
        home.run(&["report", "--last", "-f", "markdown"])
            .assert_success()
            .stdout
            .contains("| group | tasks |")
    );
}

#[test]
fn a_preset_sets_the_values_of_its_table_row_and_flags_override_it() {
    let home = Home::new();
    let args =
        ["run", "--preset", "omnireflect-1-symbolic", "--task", "easy/put/1", "--trials", "2", "--json"];
    let run = &home.run(&args).assert_success().json_lines()[0];
    assert_eq!(
        (&run["method"], &run["max_steps"], &run["trials"]),
        (&"omnireflect".into(), &50.into(), &2.into())
    );
    assert_eq!(run["settings"]["generation"], serde_json::json!({"value": "symbolic", "origin": "paper"}));
    assert_eq!(run["settings"]["preset"]["value"], "omnireflect-1-symbolic");
    let listed = home.run(&["config", "show"]).assert_success().stdout
        + &home.run(&["run", "--help"]).assert_success().stdout;
    assert_eq!(listed.matches("omnireflect-1-symbolic").count(), 2);
}

/// Regression: a preset said nowhere that its figures are about another environment, or that another model wrote them.
#[test]
fn a_preset_says_where_it_cannot_reproduce_its_row() {
    let home = Home::new();
    let listed = home.run(&["config", "show"]).assert_success().stdout;
    let described = |name: &str| listed.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
    assert!(described("sweet-and-sour-1 ").ends_with("(scienceworld)"));
    assert!(described("omnireflect-1-react").ends_with("(alfworld, babyai, pddl)"));
    let model = ["--actor", "openai:m", "--mentor", "openai:gpt-4o", "--base-url", "http://127.0.0.1:9/v1"];
    let warnings = |preset: &str, extra: &[&str]| {
        let mut args = vec![
            "run",
            "--env",
            "household",
            "--preset",
            preset,
            "--task",
            "easy/put/1",
            "--max-steps",
            "2",
            "--dry-run",
        ];
        args.extend(model);
        args.extend(extra);
        home.run(&args).assert_success().stderr
    };
    let text = warnings("sweet-and-sour-1", &["--trials", "1"]);
    assert!(text.contains("is for scienceworld; the paper has no figures for household"), "{text}");
    let text = warnings("omnireflect-1-advisor-qwen", &["--calibrate"]);
    assert!(text.contains("Qwen3-4B writes the constitution in the paper, gpt-4o here"), "{text}");
    let text = warnings("omnireflect-1-advisor-gpt-4", &["--calibrate"]);
    assert!(!text.contains("writes the constitution"), "{text}");
}

/// The second episode starts with the first one's lessons; rerun alone, it repeats the same steps.
#[test]
fn a_rerun_starts_with_the_same_lessons_and_repeats_the_episode() {
    let home = Home::new();
    home.run(&["run", "--tasks", "normal/heat/1-2", "-q"]).assert_success();
    let session = home.session();
    let name = session.file_name().unwrap().to_str().unwrap().to_owned();
    let again = home.run(&["rerun", "--last#2", "--json"]).assert_success().json_lines();
    let first = home.run(&["open", &name, "--json"]).assert_success().json_lines();
    let steps = |lines: &[Value], episode: u64| -> Vec<Value> {
        let is_step = |l: &&Value| l["type"] == "step" && l["episode"] == episode;
        lines.iter().filter(is_step).map(|l| serde_json::json!([l["action"], l["observation"]])).collect()
    };
    assert!(!steps(&again, 2).is_empty());
    assert_eq!(steps(&again, 2), steps(&first, 2));
    assert_eq!(again[0]["settings"]["from.session"]["value"], name);
    assert_eq!(again[0]["settings"]["from.number"]["value"], 2);
    home.run(&["verify", again[0]["name"].as_str().unwrap()]).assert_success();
    let none = home.run(&["rerun", &format!("{name}#3")]);
    assert!(none.code == 2 && none.stderr.contains("no episode 3; the session has 2"), "{}", none.stderr);
}

/// Returns the prompts, actions and reflections of an episode that a rerun must repeat.
fn prompts_and_actions(session: &std::path::Path, episode: u64) -> Vec<Value> {
    let text = std::fs::read_to_string(session.join("branches/trunk.jsonl")).unwrap();
    let events = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let episode_events = events.skip_while(|e| e["type"] != "episode_started" || e["episode"] != episode);
    let mut started = 0;
    let episode_events = episode_events.take_while(|e| {
        started += usize::from(e["type"] == "episode_started");
        started < 2
    });
    let part = |e: Value| match e["type"].as_str() {
        Some("episode_started") => Some(serde_json::json!([e["episode"], e["trial"], e["role"]])),
        Some("prompt_sent") => Some(serde_json::json!([e["asked"], e["step"], e["seed"], e["sha256"]])),
        Some("action_taken") => Some(e["action"].clone()),
        Some("reflected") => Some(e["reflection"]["items"].clone()),
        _ => None,
    };
    episode_events.filter_map(part).collect()
}

/// Regression: a rerun started at trial 1, without the last attempt and with the plans of other tasks.
#[test]
fn a_rerun_keeps_trial_last_attempt_and_method_memory() {
    let cases: &[(&str, &[&str])] = &[
        ("reflexion", &["--set", "strategy=both"]),
        ("reflexion", &["--set", "strategy=last-attempt"]),
        ("reflexion", &[]),
        ("fcrf", &[]),
        ("sweet_sour", &[]),
        ("expel", &["--set", "success_batch=1"]),
        ("omnireflect", &["--set", "reflect=never"]),
    ];
    for (method, more) in cases {
        let home = Home::new();
        let run = ["run", "--tasks", "hard/*/1", "--only", "4", "--max-steps", "16", "--trials", "2", "-q"];
        home.run(&[&run[..], &["--method", method], more].concat()).assert_success();
        let first = home.session();
        let name = first.file_name().unwrap().to_str().unwrap().to_owned();
        let ended = home.run(&["open", &name, "--json"]).assert_success().json_lines();
        let trial = ended.iter().filter(|l| l["type"] == "episode_end" && l["trial"] == 2).nth(1);
        let number =
            trial.unwrap_or_else(|| panic!("{method}: no second trial"))["episode"].as_u64().unwrap();
        home.run(&["rerun", &format!("{name}#{number}"), "-q"]).assert_success();
        let again = home.run(&["sessions", "--json"]).assert_success().json_lines();
        let again = std::path::PathBuf::from(again[0]["path"].as_str().unwrap());
        assert_ne!(again, first, "the newer of two sessions from the same second");
        let (original, repeated) = (prompts_and_actions(&first, number), prompts_and_actions(&again, number));
        assert!(
            original.len() > 5 && original == repeated,
            "{method} {more:?} episode {number}\n{original:#?}\n{repeated:#?}"
        );
        home.run(&["verify", again.to_str().unwrap()]).assert_success();
    }
}

/// DORA, figure 6: a run that reflects against one that doesn't, in any order and in every format.
#[test]
fn a_report_compares_reflections_with_attempts_without() {
    let home = Home::new();
    for method in ["react", "reflexion"] {
        let run =
            ["run", "--tasks", "normal/put/1-3", "--method", method, "--trials", "2", "--seed", "1", "-q"];
        home.run(&run).assert_success();
    }
    let more =
        ["run", "--tasks", "normal/put/3-4", "--method", "react", "--trials", "2", "--seed", "1", "-q"];
    let sessions = |home: &Home| -> Vec<String> {
        let found = std::fs::read_dir(home.path("sessions")).into_iter().flatten();
        found.map(|entry| entry.unwrap().path().display().to_string()).collect()
    };
    let mut names = sessions(&home);
    let report = |home: &Home, names: &[String], format: &str| {
        let mut args = vec!["report", "--format", format];
        args.extend(names.iter().map(String::as_str));
        home.run(&args).assert_success().stdout
    };
    let text = report(&home, &names, "text");
    assert!(text.contains("Reflections against as many attempts without: reflexion, "), "{text}");
    assert!(text.contains("at most 2 attempts a task"), "{text}");
    assert!(text.contains("An observation per task, not a verdict."), "{text}");
    assert!(
        report(&home, &names, "markdown").contains("| task | steps with | steps without | reflections |")
    );
    let advice = |names: &[String]| -> Value {
        serde_json::from_str::<Value>(&report(&home, names, "json")).unwrap()["advice"].clone()
    };
    let first = advice(&names);
    assert_eq!(first[0]["comparison"]["pairs"].as_array().unwrap().len(), 3, "{first}");
    let counts = first[0]["comparison"]["counts"].as_object().unwrap();
    assert_eq!(counts.values().filter_map(Value::as_u64).sum::<u64>(), 3, "{first}");
    names.reverse();
    assert_eq!(advice(&names), first);
    assert_eq!(advice(&names[..1]), serde_json::json!([]), "a single run is compared with nothing");
    home.run(&more).assert_success();
    let with_more = advice(&sessions(&home));
    let left_out = with_more[0]["comparison"]["left_out"].as_array().unwrap();
    let left_out: Vec<&str> = left_out.iter().filter_map(|run| run["task"].as_str()).collect();
    assert_eq!(left_out, ["normal/put/3", "normal/put/4"], "{with_more}");
}
