//! `run --dry-run`: the prompts of every method in every environment, as they are really sent.

use crate::Home;
use retrospect::catalog::{ENVIRONMENTS, METHODS, asks_actor, find_environment};
use retrospect::prompt::interface::OwnWords;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

/// A task of each environment, of each type that has texts of its own, that ends without success when the rules play it for six steps.
const TASKS: [(&str, &str); 7] = [
    ("household", "normal/heat/900005"),
    ("babyai", "UnlockPickupDist/900005"),
    ("pddl", "gripper/hard/900005"),
    ("pddl", "blockworld/hard/900005"),
    ("pddl", "barman/hard/900005"),
    ("pddl", "tyreworld/hard/900005"),
    ("hotpotqa", "salt-road-director"),
];

/// Returns the words that prompts about a task should contain, and those that they must not.
fn own_and_foreign_words(env: &str, task: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let entry = find_environment(env).unwrap();
    let task_type = task.split('/').next();
    // ALFWorld and household share their words.
    let others = ENVIRONMENTS.iter().filter(|other| other.texts.own_words != entry.texts.own_words);
    let (own, other_types): (Vec<_>, Vec<_>) =
        entry.texts.own_words.iter().partition(|own| own.suit(task_type));
    let foreign = others.flat_map(|other| other.texts.own_words).chain(other_types);
    let words = |all: Vec<&'static OwnWords>| all.into_iter().flat_map(|own| own.words).copied().collect();
    (words(own), words(foreign.collect()))
}

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

/// What [`prompts`] returns for an environment, a task and a method.
type Shared = HashMap<(String, String, String), Arc<OnceLock<Vec<Value>>>>;

/// Returns the prompts of a method in its default settings. Several cases look at them; each is produced once.
fn shared_prompts(env: &str, task: &str, method: &str) -> Vec<Value> {
    static SHARED: LazyLock<Mutex<Shared>> = LazyLock::new(Mutex::default);
    let key = (env.to_owned(), task.to_owned(), method.to_owned());
    let slot = SHARED.lock().unwrap().entry(key).or_default().clone();
    let produce = || {
        let home = Home::new();
        let produced = prompts(&home, env, task, method, &[]);
        assert!(!home.path("sessions").exists(), "a dry run leaves no session behind");
        produced
    };
    slot.get_or_init(produce).clone()
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
    for method in METHODS.iter().map(|entry| entry.name) {
        for (env, task) in TASKS {
            let (own, foreign) = own_and_foreign_words(env, task);
            for prompt in shared_prompts(env, task, method) {
                let (question, text) = (&prompt["question"], text(&prompt));
                // FCRF's summary shows nothing but the list of lessons, which are placeholders here.
                let is_about_list = question == "summarise.lesson";
                let has_own = own.iter().any(|word| text.contains(*word));
                assert!(has_own || is_about_list, "{method} {question} in {task}: {text}");
                for word in &foreign {
                    assert!(!text.contains(*word), "{method} {question} in {task} says {word:?}: {text}");
                }
            }
        }
    }
}

/// The tasks, with a game of ALFWorld if there is one here. `RETROSPECT_GOLDEN=required` makes its absence a failure.
#[expect(clippy::print_stderr, reason = "says what it skips")]
fn tasks_of_every_environment() -> Vec<(&'static str, String)> {
    let mut tasks: Vec<_> = TASKS.iter().map(|(env, task)| (*env, (*task).to_owned())).collect();
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld/games");
    let folders = std::fs::read_dir(&games).into_iter().flatten().map(|game| game.unwrap().path());
    if let Some(game) = folders.min() {
        tasks.push(("alfworld", game.display().to_string()));
    } else {
        let required = std::env::var("RETROSPECT_GOLDEN").is_ok_and(|value| value == "required");
        assert!(!required, "no games of ALFWorld in {}", games.display());
        eprintln!("skipped alfworld: no games in {}", games.display());
    }
    // Another program has no tasks that are always there.
    let native = ENVIRONMENTS.iter().filter(|entry| !entry.tasks.is_external());
    for entry in native.filter(|entry| entry.name != "alfworld") {
        assert!(tasks.iter().any(|(env, _)| *env == entry.name), "no task of {}", entry.name);
    }
    tasks
}

/// Regression: the rules played without preparation, so what is asked only after a lost attempt was missing where they won.
#[test]
fn each_question_of_a_method_is_shown_in_every_environment() {
    for method in METHODS.iter() {
        for (env, task) in tasks_of_every_environment() {
            let prompts = shared_prompts(env, &task, method.name);
            let mut expected = if asks_actor(method.name) { vec!["actor"; 2] } else { Vec::new() };
            let questions: Vec<String> = method
                .questions
                .iter()
                .map(|entry| format!("{}.{}", entry.question.purpose.name(), entry.question.kind.name()))
                .map(|name| name.to_lowercase())
                .collect();
            expected.extend(questions.iter().map(String::as_str));
            assert_eq!(kinds(&prompts), expected, "{} in {task}", method.name);
            for prompt in &prompts {
                assert!(!text(prompt).is_empty() && prompt["situation"] != "", "{prompt}");
                assert_eq!(prompt["sampling"]["temperature"].as_f64(), Some(0.0), "{prompt}");
            }
        }
    }
}

/// The prompts of every method in three environments: what is asked, when, with which parameters, and the texts. A long paragraph that
/// a file has shown before is only named, so that a reader sees what is new.
#[test]
fn the_prompts_of_three_environments_are_as_recorded() {
    for (env, task) in &TASKS[..3] {
        let (mut recorded, mut shown) = (String::new(), HashSet::new());
        for method in METHODS.iter() {
            for (prompt, kind) in with_kinds(&shared_prompts(env, task, method.name)) {
                let at = format!("episode {}, step {}", prompt["episode"], prompt["step"]);
                let situation = prompt["situation"].as_str().unwrap();
                writeln!(recorded, "==== {} {kind}: {situation}\n{at}", method.name).unwrap();
                writeln!(recorded, "{} {}", prompt["prepared_with"], prompt["sampling"]).unwrap();
                for message in prompt["messages"].as_array().unwrap() {
                    writeln!(recorded, "---- {}", message["role"].as_str().unwrap()).unwrap();
                    let content = message["content"].as_str().unwrap();
                    writeln!(recorded, "{}", without_repetitions(content, &mut shown)).unwrap();
                }
            }
        }
        insta::assert_snapshot!(format!("dry_run_{env}"), recorded);
    }
}

/// Replaces each paragraph of several lines that was shown before by its first line and the number of its lines.
fn without_repetitions(content: &str, shown: &mut HashSet<String>) -> String {
    let shorten = |paragraph: &str| {
        let lines = paragraph.trim().lines().count();
        if lines < 4 || shown.insert(paragraph.trim().to_owned()) {
            return paragraph.to_owned();
        }
        let first: String = paragraph.trim().lines().next().unwrap().chars().take(60).collect();
        format!("[{first} ... {lines} lines as above]")
    };
    content.split("\n\n").map(shorten).collect::<Vec<_>>().join("\n\n")
}

fn with_kinds(prompts: &[Value]) -> Vec<(&Value, &str)> {
    prompts.iter().zip(kinds(prompts)).collect()
}

/// The parameters are those that a request sends, also where a method's public code or the question decides.
#[test]
fn each_prompt_has_the_sampling_parameters_of_its_request() {
    let home = Home::new();
    let (env, task) = TASKS[0];
    for prompt in prompts(&home, env, task, "reflexion", &["--as", "code"]) {
        let sampling = &prompt["sampling"];
        assert_eq!((&sampling["top_p"], &sampling["max_tokens"]), (&1.into(), &256.into()), "{prompt}");
    }
    for prompt in prompts(&home, env, task, "omnireflect", &["--set", "summary_tokens=3000"]) {
        let is_summary = prompt["question"].as_str().is_some_and(|name| name.starts_with("summarise."));
        assert_eq!(prompt["sampling"]["max_tokens"] == 3000, is_summary, "{prompt}");
    }
}

/// What a run's own settings never lead to is shown with others, and says so.
#[test]
fn changes_of_the_prepared_attempts_are_named() {
    let home = Home::new();
    let (env, task) = TASKS[0];
    let prompts = prompts(&home, env, task, "fcrf", &["--set", "lesson_pool=person"]);
    let changes = |question: &str| {
        let prompt = prompts.iter().find(|prompt| prompt["question"] == question).unwrap();
        prompt["prepared_with"].to_string()
    };
    assert!(changes("contrast.lesson").contains("lesson_pool=append (this run: person)"));
    assert!(changes("summarise.lesson").contains("lesson_pool=summary (this run: person)"));
    assert_eq!(
        changes("reflect.experience"),
        r#"["5 trials (this run: 2)","loop_detector=false (this run: true)"]"#
    );
}

/// Regression: OmniReflect reflected on every calibration, whichever method the run had.
#[test]
fn expel_plays_its_training_tasks_itself() {
    let home = Home::new();
    let prompts = prompts(&home, "household", TASKS[0].1, "expel", &["--calibrate"]);
    let asked = kinds(&prompts);
    assert_eq!(asked[..3], ["actor", "actor", "reflect.plan"]);
    assert!(["contrast.abstract", "extract.abstract"].iter().all(|kind| asked.contains(kind)), "{asked:?}");
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
    for (env, task) in TASKS {
        let of = |generation: &str| {
            let setting = format!("generation={generation}");
            let mut all = prompts(&home, env, task, "omnireflect", &["--set", &setting]);
            all.retain(|prompt| prompt["question"].as_str().is_some_and(|name| name.starts_with("reflect.")));
            all
        };
        let (neural, symbolic) = (of("neural"), of("neuro-symbolic"));
        assert_eq!(kinds(&neural), kinds(&symbolic));
        assert_eq!(neural.len(), 3, "{task}");
        for (without, with) in neural.iter().zip(&symbolic) {
            let question = &with["question"];
            assert!(text(with).len() > text(without).len(), "{question} in {task}");
            assert!(text(with).contains("of this kind that"), "{question} in {task}");
        }
    }
}

/// Regression: the attempts of a calibration were counted among the prepared ones, so a question was not asked.
#[test]
fn a_calibration_does_not_shift_the_prepared_attempts() {
    let home = Home::new();
    let prompts = prompts(&home, "pddl", "gripper/hard/900005", "fcrf", &["--calibrate"]);
    let choice = prompts.iter().find(|prompt| prompt["question"] == "choose.lesson").unwrap();
    assert!(choice.get("not_asked").is_none(), "{choice}");
}

/// Regression: the rules reached the goal of an easy task in attempts that were then called lost.
#[test]
fn an_attempt_that_is_called_lost_does_not_show_how_the_goal_was_reached() {
    let home = Home::new();
    for prompt in prompts(&home, "babyai", "GoToRedBall", "reflexion", &[]) {
        // Regression: that the attempts were made shorter was not said.
        assert!(prompt["prepared_with"].to_string().contains("one fewer than reach the goal"), "{prompt}");
        let text = text(&prompt);
        let own = text.rsplit("Your task is to: ").next().unwrap();
        let is_lost = own.contains("STATUS: FAIL");
        assert!(!(is_lost && own.contains("The task is completed.")), "{text}");
    }
}
