//! `run --dry-run`: the prompts of every method in every environment, as they are really sent.

use crate::Home;
use serde_json::Value;

const METHODS: [&str; 7] = ["react", "omnireflect", "reflexion", "fcrf", "sweet_sour", "planning", "expel"];

/// A task of each environment that ends without success when the rules play it for six steps, and words of the prompts about it.
const TASKS: [(&str, &str, &[&str]); 6] = [
    ("household", "normal/heat/900005", &["microwave", "fridge", "household", "countertop"]),
    ("babyai", "UnlockPickupDist/900005", &["grid of rooms", "closed door", "steps away"]),
    ("pddl", "gripper/hard/900005", &["robby", "rooma"]),
    ("pddl", "blockworld/hard/900005", &["unstack", "putdown"]),
    ("pddl", "barman/hard/900005", &["shaker", "cocktail"]),
    ("pddl", "tyreworld/hard/900005", &["wrench", "boot"]),
];

/// Runs without calling a server: nothing listens at the address.
fn prompts(home: &Home, env: &str, task: &str, method: &str, more: &[&str]) -> Vec<Value> {
    let mut args =
        vec!["run", "--env", env, "--task", task, "--method", method, "--trials", "2", "--max-steps", "6"];
    args.extend([
        "--actor",
        "openai:m",
        "--mentor",
        "openai:m",
        "--base-url",
        "http://127.0.0.1:9/v1",
        "--dry-run",
        "--json",
    ]);
    args.extend(more);
    let output = home.run(&args);
    assert_eq!(output.code, 0, "{env} {method}: {}", output.stderr);
    output.json_lines()
}

fn text(prompt: &Value) -> String {
    let messages = prompt["messages"].as_array().unwrap();
    messages.iter().map(|message| message["content"].as_str().unwrap()).collect::<String>().to_lowercase()
}

/// The kinds of prompts: `actor`, or the question to the mentor.
fn kinds(prompts: &[Value]) -> Vec<&str> {
    prompts.iter().map(|prompt| prompt["question"].as_str().unwrap_or("actor")).collect()
}

/// Regression: mentors in BabyAI and PDDL were told about households, and examples of one environment appeared in another.
#[test]
fn no_prompt_of_any_method_contains_words_of_another_environment() {
    let home = Home::new();
    for method in METHODS {
        for (env, task, own) in TASKS {
            for prompt in prompts(&home, env, task, method, &[]) {
                let (question, text) = (&prompt["question"], text(&prompt));
                assert!(own.iter().any(|word| text.contains(word)), "{method} {question} in {task}: {text}");
                let others = TASKS.iter().filter(|other| other.1 != task).flat_map(|other| other.2);
                for word in others.filter(|word| !own.contains(word)) {
                    assert!(!text.contains(word), "{method} {question} in {task} says {word:?}: {text}");
                }
            }
        }
    }
    assert!(!home.path("sessions").exists(), "a dry run leaves no session behind");
}

/// The questions that a method asks its mentor, in the order of the first of each.
#[test]
fn each_method_asks_the_questions_of_its_paper_in_every_environment() {
    let cases: [(&str, &[&str]); 7] = [
        ("react", &["actor"]),
        ("omnireflect", &["actor", "reflect.error", "reflect.abstract", "reflect.progress"]),
        ("reflexion", &["actor", "reflect.plan"]),
        ("fcrf", &["actor", "reflect.experience", "reflect.plan"]),
        ("sweet_sour", &["actor", "reflect.negative"]),
        ("planning", &["actions.plan"]),
        ("expel", &["actor", "reflect.plan"]),
    ];
    let home = Home::new();
    for (method, expected) in cases {
        for (env, task, _) in TASKS {
            let prompts = prompts(&home, env, task, method, &[]);
            let asked = kinds(&prompts);
            // A subgoal is reached only in some of them.
            let asked = asked.into_iter().filter(|kind| *kind != "reflect.positive");
            // FCRF reflects in depth at once where the task is difficult.
            let asked: Vec<&str> =
                asked.map(|kind| if kind == "build.plan" { "reflect.plan" } else { kind }).collect();
            assert_eq!(asked, expected, "{method} in {task}");
        }
    }
}

/// Regression: OmniReflect reflected on every calibration, whichever method the run had.
#[test]
fn expel_plays_its_training_tasks_itself() {
    let home = Home::new();
    let prompts = prompts(&home, "household", TASKS[0].1, "expel", &["--calibrate"]);
    let asked = kinds(&prompts);
    assert_eq!(asked[..2], ["actor", "reflect.plan"]);
    assert!(
        asked
            .iter()
            .all(|kind| ["actor", "reflect.plan", "contrast.abstract", "extract.abstract"].contains(kind)),
        "{asked:?}"
    );
}

/// Regression: the presets of constitutions were refused without a file, although a run can learn one itself.
#[test]
fn the_preset_of_a_constitution_can_be_combined_with_calibration() {
    let home = Home::new();
    let prompts = prompts(
        &home,
        "household",
        TASKS[0].1,
        "react",
        &["--preset", "omnireflect-1-advisor-gpt-4", "--calibrate"],
    );
    assert!(kinds(&prompts).contains(&"summarise.abstract"), "{:?}", kinds(&prompts));
    assert!(prompts.iter().any(|prompt| text(prompt).contains("learned about this environment")));
}

/// Regression: neuro-symbolic requests were byte-identical to neural ones outside households.
#[test]
fn neuro_symbolic_generation_shows_examples_of_rules_in_every_environment() {
    let home = Home::new();
    for (env, task, _) in TASKS {
        let of = |generation: &str| {
            let setting = format!("generation={generation}");
            let mut all = prompts(&home, env, task, "omnireflect", &["--set", &setting]);
            all.retain(|prompt| prompt["role"] == "mentor");
            all
        };
        let (neural, symbolic) = (of("neural"), of("neuro-symbolic"));
        assert_eq!(kinds(&neural), kinds(&symbolic));
        for (without, with) in neural.iter().zip(&symbolic) {
            let question = &with["question"];
            assert!(text(with).len() > text(without).len(), "{question} in {task}");
            assert!(text(with).contains("of this kind that"), "{question} in {task}");
        }
    }
}
