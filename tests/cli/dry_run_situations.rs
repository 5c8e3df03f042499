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
