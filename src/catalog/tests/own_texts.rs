//! Every prompt has texts of its own environment, and none of another.

use crate::catalog::{ENVIRONMENTS, EnvironmentEntry, METHODS, find_environment};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Returns the environments of a file of texts, each with its type of task if it has texts for single types, if none of
/// [`EnvironmentTexts::own_words`](crate::prompt::interface::EnvironmentTexts) is theirs, so that no test would notice such
/// texts in another environment.
fn without_words(envs: &[String], types: &BTreeSet<&str>) -> Vec<String> {
    let has_words = |env: &str, task_type: Option<&str>| {
        let own =
            ENVIRONMENTS.iter().filter(|entry| entry.name == env).flat_map(|entry| entry.texts.own_words);
        own.filter(|own| own.suit(task_type)).any(|own| !own.words.is_empty())
    };
    let types: Vec<Option<&str>> =
        if types.is_empty() { vec![None] } else { types.iter().map(|name| Some(*name)).collect() };
    let lacks = types.into_iter().filter(|kind| !envs.iter().any(|env| has_words(env, *kind)));
    lacks.map(|kind| format!("{} {}", envs.join(" and "), kind.unwrap_or_default())).collect()
}

/// Regression: the test below passed for an environment without words of its own.
#[test]
fn every_environment_has_words_that_other_prompts_must_not_contain() {
    // Nothing is known about the texts of another program.
    for entry in ENVIRONMENTS.iter().filter(|entry| !entry.tasks.is_external()) {
        let (file, own) = own_texts(entry).expect("each environment has texts");
        let source = ENVIRONMENTS.iter().flat_map(|other| other.templates).find(|other| other.0 == file);
        let table: toml::Table = toml::from_str(source.unwrap().1).unwrap();
        let envs = table["envs"].as_array().unwrap().iter().map(|env| env.as_str().unwrap().to_owned());
        let types: BTreeSet<&str> =
            own.iter().filter_map(|(name, _)| Some(name.split_once('.')?.1)).collect();
        assert_eq!(without_words(&envs.collect::<Vec<_>>(), &types), Vec::<String>::new(), "{file}");
    }
    assert_eq!(without_words(&["elsewhere".to_owned()], &BTreeSet::new()), ["elsewhere "]);
    assert_eq!(without_words(&["pddl".to_owned()], &BTreeSet::from(["gripper", "ferry"])), ["pddl ferry"]);
}

/// Texts that environments needn't have: what the interface `agentboard` adds, where its wrapper doesn't do so itself.
const OPTIONAL: &[&str] = &["agentboard"];

/// The texts of a template file: those of an environment with their names, those of a method with empty ones.
fn texts(file: &str) -> Vec<(String, String)> {
    let table: toml::Table = toml::from_str(file).unwrap();
    let variants = table.get("variant").and_then(toml::Value::as_array).into_iter().flatten();
    let tables = table.get("texts").into_iter().chain(variants.filter_map(|variant| variant.get("texts")));
    let of_env = tables.filter_map(toml::Value::as_table).flatten();
    let of_env = of_env.map(|(name, text)| (name.clone(), text.as_str().unwrap().to_owned()));
    let segments = table.get("segment").and_then(toml::Value::as_array).into_iter().flatten();
    let parts = segments.flat_map(|segment| {
        let labels = segment.get("labels").and_then(toml::Value::as_table).into_iter().flatten();
        let single = ["text", "heading", "numbered"].map(|part| segment.get(part));
        single.into_iter().flatten().chain(labels.map(|(_, text)| text))
    });
    // `numbered` is a text, or a switch.
    of_env.chain(parts.filter_map(|text| Some((String::new(), text.as_str()?.to_owned())))).collect()
}

/// The example files of an environment with their texts, and the types of tasks whose prompts show them.
fn example_files(entry: &EnvironmentEntry) -> Vec<(&'static str, &'static str, BTreeSet<String>)> {
    let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (_, text) in entry.templates.iter().filter(|file| is_toml(file.0)) {
        let table: toml::Table = toml::from_str(text).unwrap();
        for example in table.get("example").and_then(toml::Value::as_array).into_iter().flatten() {
            let types =
                example["types"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
            shown.entry(example["file"].as_str().unwrap().to_owned()).or_default().extend(types);
        }
    }
    let files = entry.templates.iter().filter(|file| !is_toml(file.0));
    files.map(|(name, text)| (*name, *text, shown.remove(*name).unwrap_or_default())).collect()
}

fn is_toml(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

/// Regression: mentors in BabyAI and PDDL were told about "an attempt at a household task" and saw microwaves.
#[test]
fn no_prompt_contains_words_of_another_environment() {
    let mut found = Vec::new();
    let mut check = |file: &str, name: &str, text: &str, env: Option<&str>, task_type: Option<&str>| {
        let lower = text.to_lowercase();
        for (owner, own) in
            ENVIRONMENTS.iter().flat_map(|e| e.texts.own_words.iter().map(move |own| (e, own)))
        {
            // Two environments with the same texts have the same words.
            let shares =
                env.and_then(find_environment).is_some_and(|e| e.texts.own_words == owner.texts.own_words);
            let is_own = shares && own.suit(task_type);
            for word in own.words.iter().filter(|word| !is_own && lower.contains(**word)) {
                found.push(format!("{file} {name}: {word:?} is a word of {}", owner.name));
            }
        }
    };
    for (file, text) in METHODS.iter().flat_map(|method| method.templates).filter(|file| is_toml(file.0)) {
        for (name, text) in texts(text) {
            check(file, &name, &text, None, None);
        }
    }
    for entry in ENVIRONMENTS.iter() {
        for (file, text) in entry.templates.iter().filter(|file| is_toml(file.0)) {
            for (name, text) in texts(text) {
                check(file, &name, &text, Some(entry.name), name.split_once('.').map(|(_, kind)| kind));
            }
        }
        for (file, text, types) in example_files(entry) {
            assert!(!types.is_empty(), "no prompt shows {file}");
            for task_type in &types {
                check(file, "example", text, Some(entry.name), Some(task_type));
            }
        }
    }
    let (file, text) = crate::prompt::GENERAL_TEXTS;
    for (name, text) in texts(text) {
        check(file, &name, &text, None, None);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Regression: the examples of mentor prompts existed only for households, so that neuro-symbolic generation sent the same
/// requests as neural generation elsewhere.
#[test]
fn every_environment_has_every_text_that_a_prompt_asks_for() {
    let asked: BTreeSet<String> = METHODS
        .iter()
        .flat_map(|method| method.templates)
        .filter(|file| is_toml(file.0))
        .flat_map(|(_, text)| {
            let table: toml::Table = toml::from_str(text).unwrap();
            let segments = table.get("segment").and_then(toml::Value::as_array).cloned().unwrap_or_default();
            segments.into_iter().filter_map(|segment| Some(segment.get("world")?.as_str()?.to_owned()))
        })
        .filter(|name| !OPTIONAL.contains(&name.as_str()))
        .collect();
    assert!(asked.len() >= 10, "{asked:?}");
    let mut missing = Vec::new();
    for entry in ENVIRONMENTS.iter().filter(|entry| !entry.tasks.is_external()) {
        let Some((file, own)) = own_texts(entry) else {
            missing.push(format!("{}: no file has its texts", entry.name));
            continue;
        };
        let types: BTreeSet<&str> =
            own.iter().filter_map(|(name, _)| Some(name.split_once('.')?.1)).collect();
        let types: Vec<Option<&str>> =
            if types.is_empty() { vec![None] } else { types.into_iter().map(Some).collect() };
        for (name, task_type) in asked.iter().flat_map(|name| types.iter().map(move |kind| (name, kind))) {
            let typed = task_type.map(|kind| format!("{name}.{kind}"));
            if !own.iter().any(|(known, _)| known == name || Some(known) == typed.as_ref()) {
                missing.push(format!("{file}: {}", typed.as_ref().unwrap_or(name)));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The file with the texts of an environment, whichever entry it belongs to, and these texts.
fn own_texts(entry: &EnvironmentEntry) -> Option<(&'static str, Vec<(String, String)>)> {
    let mut files = ENVIRONMENTS.iter().flat_map(|other| other.templates).filter(|file| is_toml(file.0));
    let is_about = |text: &str| {
        let table: toml::Table = toml::from_str(text).unwrap();
        table["envs"].as_array().unwrap().iter().any(|env| env.as_str() == Some(entry.name))
    };
    files.find(|file| is_about(file.1)).map(|(name, text)| (*name, texts(text)))
}

/// The questions of an entry are those that its templates are for, so that `run --dry-run` misses none.
#[test]
fn every_method_declares_the_questions_of_its_templates() {
    for method in METHODS.iter() {
        let asked = method.templates.iter().filter_map(|(_, text)| {
            let table: toml::Table = toml::from_str(text).unwrap();
            Some(table.get("question")?.as_str()?.to_owned())
        });
        let declared = method.questions.iter().map(|entry| {
            format!("{}.{}", entry.question.purpose.name(), entry.question.kind.name().to_lowercase())
        });
        let (asked, declared): (BTreeSet<_>, BTreeSet<_>) = (asked.collect(), declared.collect());
        assert_eq!(declared, asked, "{}", method.name);
    }
}
