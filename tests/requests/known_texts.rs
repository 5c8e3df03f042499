//! Where the texts of a request may be from: the templates of its method and environment, the environment's answers, the
//! actor's and the mentor's replies, and the forms in which a prompt lists them.

use retrospect::catalog::{CALIBRATION_METHOD, EnvironmentEntry, find_environment, find_method};
use serde_json::Value;
use std::collections::BTreeSet;

/// The forms in which prompts list tasks, steps and lessons (`docs/PROMPTS.md`).
const FORMS: [&str; 11] = [
    "Your task is to:",
    "> think:",
    "OK.",
    "Mistake:",
    "Solution:",
    "Lesson",
    "(observation:",
    "; action:",
    "; reward:",
    "STATUS: OK",
    "STATUS: FAIL",
];

/// Pieces of text that prompts of a run may consist of, longest first.
#[derive(Debug, Default)]
pub(crate) struct KnownTexts {
    pieces: Vec<String>,
}

impl KnownTexts {
    /// Collects the texts of a run from what it printed, and from the replies and lessons that it got.
    pub(crate) fn of_run<'a>(lines: &[Value], replies: impl Iterator<Item = &'a str>) -> Self {
        let run = lines.iter().find(|line| line["type"] == "run").unwrap();
        let method = find_method(run["method"].as_str().unwrap()).unwrap();
        let entry = find_environment(run["env"].as_str().unwrap()).unwrap();
        let mut texts: Vec<String> = FORMS.map(str::to_owned).into();
        for reply in replies {
            // Of an operation on ExpeL's list, its lesson is kept.
            texts.extend([reply, reply.strip_prefix("ADD:").unwrap_or(reply)].map(str::to_owned));
        }
        for line in lines {
            strings(&line["items"], &mut texts);
            for name in ["goal", "observation", "action", "thought", "task_type", "admissible"] {
                strings(&line[name], &mut texts);
            }
            // The interfaces `react` and `agentboard` leave out where an agent arrives.
            let arrival = line["observation"].as_str().and_then(|text| text.split_once(". "));
            texts.extend(
                arrival
                    .filter(|(place, _)| place.starts_with("You arrive at loc "))
                    .map(|(_, rest)| rest.to_owned()),
            );
            // One goal may begin with another one, of an example.
            texts.extend(line["goal"].as_str().map(|goal| format!("{} {}", FORMS[0], goal.trim())));
            // A memory has the observation on one line.
            let observation = line["observation"].as_str().unwrap_or_default();
            texts.push(observation.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        let own = [method.templates, CALIBRATION_METHOD.templates].concat();
        for (_, text) in own {
            strings(&template(text), &mut texts);
        }
        let types: BTreeSet<&str> = lines.iter().filter_map(|line| line["task_type"].as_str()).collect();
        texts.extend(environment_texts(entry, &types, &run["settings"]));
        // A text may be shown without the line breaks around it, and has a number or a fact in place of `{}`.
        let pieces: BTreeSet<String> = texts
            .iter()
            .flat_map(|text| text.lines())
            .flat_map(|line| line.split("{}"))
            .map(|piece| piece.trim().to_owned())
            .filter(|piece| piece.contains(char::is_alphabetic))
            .collect();
        let mut pieces: Vec<String> = pieces.into_iter().collect();
        pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
        Self { pieces }
    }

    /// Returns the words of a prompt that are in none of these texts, if there are any.
    pub(crate) fn unknown_in(&self, prompt: &str) -> Option<String> {
        let mut rest = prompt.to_owned();
        for piece in &self.pieces {
            rest = without(&rest, piece);
        }
        let is_unknown = |line: &&str| line.contains(char::is_alphabetic);
        let unknown: Vec<&str> = rest.lines().map(str::trim).filter(is_unknown).collect();
        (!unknown.is_empty()).then(|| unknown.join(" | "))
    }
}

/// Cuts a piece out of a text wherever it isn't part of a longer word.
fn without(text: &str, piece: &str) -> String {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (mut rest, mut from) = (String::new(), 0);
    for (at, _) in text.match_indices(piece) {
        let end = at + piece.len();
        let splits_first = is_word(text[..at].chars().next_back()) && is_word(piece.chars().next());
        let splits_last = is_word(text[end..].chars().next()) && is_word(piece.chars().next_back());
        if !splits_first && !splits_last {
            rest.push_str(&text[from..at]);
            from = end;
        }
    }
    rest + &text[from..]
}

/// Appends all strings of a value.
fn strings(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|value| strings(value, texts)),
        Value::Object(all) => all.values().for_each(|value| strings(value, texts)),
        _ => {}
    }
}

fn template(text: &str) -> Value {
    serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap()
}

/// Returns the texts and examples of an environment that prompts about tasks of these types may show.
fn environment_texts(entry: &EnvironmentEntry, types: &BTreeSet<&str>, settings: &Value) -> Vec<String> {
    let all = retrospect::catalog::ENVIRONMENTS
        .iter()
        .flat_map(|other| other.templates.iter().map(move |file| (other, file)));
    let is_template =
        |name: &str| std::path::Path::new(name).extension().is_some_and(|extension| extension == "toml");
    let about = |text: &str| {
        let table = template(text);
        table["envs"].as_array().unwrap().iter().any(|env| env == entry.name).then_some(table)
    };
    let (owner, table) = all
        .filter(|(_, (name, _))| is_template(name))
        .find_map(|(owner, (_, text))| Some((owner, about(text)?)))
        .unwrap();
    let mut texts = Vec::new();
    // A variant's texts stand in the place of the others.
    let mut shown = table["texts"].as_object().unwrap().clone();
    for variant in table["variant"].as_array().into_iter().flatten() {
        let (name, value) = (variant["when"]["setting"].as_str().unwrap(), &variant["when"]["is"]);
        if settings[name]["value"] == *value {
            shown.extend(variant["texts"].as_object().unwrap().clone());
        }
    }
    for (name, text) in &shown {
        if name.split_once('.').is_none_or(|(_, task_type)| types.contains(task_type)) {
            strings(text, &mut texts);
        }
    }
    // Where the types have texts of their own, only their own examples are shown; elsewhere others fill the gaps.
    let is_typed = table["texts"].as_object().unwrap().keys().any(|name| name.contains('.'));
    for example in table["example"].as_array().into_iter().flatten() {
        let about = example["types"].as_array().unwrap();
        if is_typed && !about.iter().filter_map(Value::as_str).any(|task_type| types.contains(task_type)) {
            continue;
        }
        let (_, text) = owner.templates.iter().find(|(name, _)| example["file"] == *name).unwrap();
        texts.push((*text).to_owned());
        if let Some(other) = entry.texts.other_wording {
            texts.push(text.split_inclusive('\n').map(other.rewrite_line).collect());
        }
    }
    texts
}

/// Regression: the outlines of requests ignored text that is no part of a request.
#[test]
fn a_sentence_that_nobody_wrote_is_unknown() {
    let lines = [serde_json::json!({
        "type": "run", "env": "babyai", "method": "react", "observation": "There is a red ball 1.", "goal": "find it"
    })];
    let known = KnownTexts::of_run(&lines, ["think: I see it."].into_iter());
    let prompt = "There is a red ball 1.\nYour task is to: find it\n> think: I see it.\nOK.\n>";
    assert_eq!(known.unknown_in(prompt), None);
    let foreign = prompt.replace("ball 1.", "ball 1. You are in a kitchen.");
    assert_eq!(known.unknown_in(&foreign), Some("You are in a kitchen.".to_owned()));
}
