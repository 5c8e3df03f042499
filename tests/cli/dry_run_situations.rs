//! `run --dry-run`: questions that look different in different situations, and what it says of what is prepared.

use crate::Home;
use serde_json::Value;

fn prompts(home: &Home, method: &str, more: &[&str]) -> Vec<Value> {
    let mut args = vec!["run", "--env", "household", "--task", "normal/heat/900005", "--method", method];
    args.extend(["--actor", "openai:m", "--mentor", "openai:m", "--base-url", "http://127.0.0.1:9/v1"]);
    args.extend(["--trials", "2", "--max-steps", "6", "--dry-run", "--json"]);
    args.extend(more);
    home.run(&args).assert_success().json_lines()
}

/// Returns the texts of a question's prompts, in order.
fn texts(prompts: &[Value], question: &str) -> Vec<String> {
    let asked = prompts.iter().filter(|prompt| prompt["question"] == question);
    let text = |prompt: &Value| {
        let messages = prompt["messages"].as_array().unwrap_or_else(|| panic!("{prompt}"));
        messages.iter().map(|message| message["content"].as_str().unwrap()).collect()
    };
    asked.map(text).collect()
}

/// Regression: the plan that FCRF's mentor builds with a lesson in its prompt was never shown.
#[test]
fn a_plan_is_shown_without_and_with_a_chosen_lesson() {
    let home = Home::new();
    let plans = texts(&prompts(&home, "fcrf", &[]), "build.plan");
    let with_lesson: Vec<bool> = plans.iter().map(|text| text.contains("relevant lesson")).collect();
    assert_eq!(with_lesson, [false, true]);
}

/// Regression: ExpeL's prompts were shown without insights, so EDIT, AGREE and REMOVE never appeared.
#[test]
fn questions_about_insights_are_shown_without_and_with_earlier_ones() {
    let home = Home::new();
    let all = prompts(&home, "expel", &[]);
    for question in ["contrast.abstract", "extract.abstract"] {
        let offers: Vec<bool> = texts(&all, question).iter().map(|text| text.contains("AGREE N")).collect();
        assert_eq!(offers, [false, true], "{question}");
    }
}

/// Regression: the loop detector was switched off, and successes were invented, without a word.
#[test]
fn what_is_prepared_is_named() {
    let home = Home::new();
    let all = prompts(&home, "sweet_sour", &["--set", "loop_detector=true"]);
    let of = |question: &str| {
        let prompt = all.iter().find(|prompt| prompt["question"] == question).unwrap();
        prompt["prepared_with"].to_string()
    };
    assert!(of("reflect.positive").contains("loop_detector=false (this run: true)"));
    assert!(of("reflect.positive").contains("invented successes, with reward and progress 1"));
    assert!(!of("reflect.negative").contains("invented"));
}

/// Regression: the questions of an exploration, which has no goal, were not shown.
#[test]
fn an_exploration_is_shown_if_the_run_has_one() {
    let home = Home::new();
    let calibrate = ["--calibrate", "--set", "per_type=1"];
    let explored = |more: &[&str]| {
        let all = prompts(&home, "react", &[&calibrate[..], more].concat());
        let situations: Vec<String> =
            all.iter().map(|prompt| prompt["situation"].as_str().unwrap().to_owned()).collect();
        let asked = texts(&all, "reflect.abstract");
        let without_goal =
            asked.iter().filter(|text| text.contains("This time the agent has no task")).count();
        (situations.iter().filter(|text| text.contains("exploration")).count(), asked.len(), without_goal)
    };
    let (situations, asked, without_goal) = explored(&["--set", "explore=1"]);
    assert!(situations >= 2, "{situations}");
    assert_eq!((asked, without_goal), (2, 1));
    assert_eq!(explored(&["--set", "explore=0"]), (0, 1, 0));
}

/// Returns the questions that a run never sends, of those that are shown or named.
fn unsent(prompts: &[Value]) -> Vec<&str> {
    let is_sent = |prompt: &Value| prompt["sent_by_this_run"].as_bool().unwrap_or_else(|| panic!("{prompt}"));
    let unsent = prompts.iter().filter(|prompt| !is_sent(prompt));
    unsent.map(|prompt| prompt["question"].as_str().unwrap()).collect()
}

/// Regression: questions that the run's settings never lead to looked as if they were sent.
#[test]
fn questions_that_the_run_never_sends_are_marked() {
    let home = Home::new();
    let cases: [(&str, &str, &[&str]); 5] = [
        ("omnireflect", "omnireflect-4-no-error", &["reflect.error", "summarise.error"]),
        ("fcrf", "fcrf-3-no-lesson", &["reflect.plan", "choose.lesson", "build.plan", "summarise.lesson"]),
        ("fcrf", "fcrf-1", &["reflect.plan", "summarise.lesson"]),
        ("sweet_sour", "sweet-and-sour-no-positive", &["reflect.positive"]),
        ("sweet_sour", "sweet-and-sour-2", &[]),
    ];
    for (method, preset, expected) in cases {
        let all = prompts(&home, method, &["--preset", preset]);
        assert_eq!(unsent(&all), expected, "{preset}");
    }
    // Every attempt at a task of this type has an in-depth reflection, but not at all of the run's tasks.
    let several = prompts(&home, "fcrf", &["--preset", "fcrf-1", "--task", "normal/put/3"]);
    assert_eq!(unsent(&several), ["summarise.lesson"]);
    // The flags of the helper set two trials; with one, Reflexion never asks its mentor.
    let args = ["run", "--env", "household", "--task", "easy/put/1", "--max-steps", "2", "--dry-run"];
    let models = ["--actor", "openai:m", "--mentor", "openai:m"];
    let run = |more: &[&str]| home.run(&[&args[..], &models, more].concat()).assert_success().stdout;
    let header = |output: &str, question: &str| {
        let line = output.lines().find(|line| line.starts_with(&format!("==== mentor {question}:")));
        line.unwrap_or_else(|| panic!("{output}")).to_owned()
    };
    let ablated = run(&["--preset", "omnireflect-4-no-error"]);
    assert!(header(&ablated, "reflect.error").ends_with("; not sent by this run (kind_error=false)"));
    assert!(!header(&ablated, "reflect.abstract").contains("not sent"));
    let once = run(&["--method", "reflexion", "--trials", "1"]);
    assert!(header(&once, "reflect.plan").ends_with("; not sent by this run (the mentor is never called)"));
}

/// Regression: prompts could be read only where a server's address and key were configured.
#[test]
fn no_server_and_no_key_are_needed() {
    let home = Home::new();
    let args = ["run", "--env", "household", "--task", "easy/put/1", "--max-steps", "2", "--dry-run"];
    let run = |more: &[&str]| home.run(&[&args[..], more].concat()).assert_success();
    let models = ["--method", "reflexion", "--trials", "2", "--actor", "openai:m", "--mentor", "openai:m"];
    for access in [&[][..], &["--profile", "openai"], &["--profile", "openrouter"]] {
        let output = run(&[&models[..], access].concat());
        assert!(output.stdout.contains("==== mentor reflect.plan"), "{access:?}: {}", output.stdout);
    }
    std::fs::create_dir_all(home.path("config")).unwrap();
    let profile = "[models.mine]\nbase_url = \"https://localhost/v1\"\nkey_file = \"absent\"\nca_file = \"absent.pem\"\n\
                   temperature = 0.3\n[models.mine.headers]\nX-Token = \"${ABSENT}\"\n";
    std::fs::write(home.path("config").join("config.toml"), profile).unwrap();
    let output = run(&[&models[..], &["--profile", "mine"]].concat());
    assert!(output.stdout.contains("temperature 0.3"), "{}", output.stdout);
    let symbolic = run(&["--method", "omnireflect", "--mentor", "symbolic"]);
    let said = symbolic.stderr;
    assert!(said.contains("the mentor (symbolic) is not a model. --mentor openai:MODEL shows"), "{said}");
}

/// Regression: `--as code` was silent for methods without a public code.
#[test]
fn methods_without_public_code_say_so() {
    let home = Home::new();
    let args = ["run", "--env", "household", "--task", "easy/put/1", "--max-steps", "2", "--dry-run"];
    let said = |method: &str, source: &str| {
        let more = ["--method", method, "--mentor", "openai:m", "--as", source];
        home.run(&[&args[..], &more].concat()).assert_success().stderr
    };
    for method in ["omnireflect", "sweet_sour", "planning"] {
        assert!(said(method, "code").contains(&format!("no public code of {method} is known")), "{method}");
        assert!(!said(method, "paper").contains("public code"), "{method}");
    }
    for method in ["react", "reflexion", "fcrf", "expel"] {
        assert!(!said(method, "code").contains("public code"), "{method}");
    }
    // What a public code's values don't change.
    assert!(said("dora", "code").contains("the searches for expected improvement begin at the best vectors"));
    assert!(!said("dora", "paper").contains("public code"));
}

/// Regression: the hints were about other mistakes.
#[test]
fn hints_name_what_would_help() {
    let home = Home::new();
    let failure = |args: &[&str]| {
        let output = home.run(args);
        assert_ne!(output.code, 0, "{}", output.stdout);
        output.stderr
    };
    let household = ["run", "--env", "household", "--task", "easy/put/1", "--dry-run"];
    let too_long = failure(&[&household[..], &["--set", "context_tokens=600"]].concat());
    assert!(too_long.contains("more than the 600 allowed"), "{too_long}");
    assert!(too_long.contains("raise context_tokens") && !too_long.contains("play"), "{too_long}");
    let babyai = ["run", "--env", "babyai", "--headless"];
    let no_planner = failure(
        &[&babyai[..], &["--task", "GoToRedBall", "--method", "planning", "--mentor", "symbolic"]].concat(),
    );
    assert!(no_planner.contains("--mentor openai:MODEL") && !no_planner.contains("react"), "{no_planner}");
    let no_task = failure(&babyai);
    assert!(no_task.contains("`retrospect tasks --env babyai` lists the tasks"), "{no_task}");
}

/// The prompts of a calibration can be read without its tests.
#[test]
fn a_calibration_can_be_read_before_it_is_played() {
    let home = Home::new();
    let args =
        ["calibrate", "--env", "household", "--per-type", "1", "--max-steps", "12", "--dry-run", "--json"];
    let models =
        ["--actor", "openai:m", "--mentor", "openai:m", "--out", "c.jsonl", "--set", "kind_error=false"];
    let all = home.run(&[&args[..], &models].concat()).assert_success().json_lines();
    let of = |question: &str| {
        let found = all.iter().find(|prompt| prompt["question"] == question);
        found.unwrap_or_else(|| panic!("no {question}")).clone()
    };
    // Progress lessons would not outlive their episode, so a calibration writes none.
    assert_eq!(unsent(&all), ["reflect.error", "summarise.error", "reflect.progress"]);
    assert_eq!(of("summarise.abstract")["prepared_with"].to_string(), "[]");
    assert_eq!(texts(&all, "reflect.abstract").len(), 2, "while a task is played, and in an exploration");
    assert!(!home.path("c.jsonl").exists() && !home.path("sessions").exists());
    let args =
        ["calibrate", "--env", "babyai", "--method", "expel", "--mentor", "openai:m", "--dry-run", "--json"];
    let trained = home.run(&args).assert_success().json_lines();
    let contrast = trained.iter().find(|prompt| prompt["question"] == "contrast.abstract").unwrap();
    assert!(contrast["prepared_with"].to_string().contains("invented successes"), "{contrast}");
}
