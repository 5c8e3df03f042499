//! Checks that the program reads and writes the examples of `docs/JOURNAL.md`.

use retrospect::engine::{Envelope, State};
use retrospect::journal::{BranchHeader, Meta};

fn code_blocks(kind: &str) -> Vec<String> {
    let text = include_str!("../../docs/JOURNAL.md");
    let fence = format!("```{kind}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_meta_example_is_read_and_written_unchanged() {
    let example = &code_blocks("toml")[0];
    let meta: Meta = toml::from_str(example).unwrap();
    assert_eq!(&toml::to_string(&meta).unwrap(), example);
}

#[test]
fn the_header_example_is_read_and_written_unchanged() {
    for example in &code_blocks("json")[..2] {
        let header: BranchHeader = serde_json::from_str(example).unwrap();
        assert_eq!(serde_json::to_string(&header).unwrap(), example.trim());
    }
}

#[test]
fn every_event_example_is_read_written_and_folded() {
    let mut state = State::default();
    let lines = code_blocks("json")[4].clone();
    for line in lines.lines() {
        let envelope: Envelope = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}\n{line}"));
        let reparsed: Envelope = serde_json::from_str(&serde_json::to_string(&envelope).unwrap()).unwrap();
        assert_eq!(envelope, reparsed);
        let written: serde_json::Value =
            serde_json::from_str(&serde_json::to_string(&envelope).unwrap()).unwrap();
        let documented: serde_json::Value = serde_json::from_str(line).unwrap();
        for (key, value) in documented.as_object().unwrap() {
            assert_eq!(written.get(key), Some(value), "{key} in {line}");
        }
        state.apply(&envelope);
    }
    assert_eq!(state.head.0, 83);
    // Every kind of event has an example.
    let code = include_str!("../../src/engine/event.rs");
    let list = code.split("pub enum Event {").nth(1).unwrap().split("\n}").next().unwrap();
    let mut renamed = None;
    for line in list.lines().filter_map(|l| l.strip_prefix("    ")) {
        if let Some(rest) = line.strip_prefix("#[serde(rename = \"") {
            renamed = rest.split('"').next();
            continue;
        }
        if !line.starts_with(char::is_uppercase) {
            continue;
        }
        let variant = line.split(['{', '(', ',', ' ']).next().unwrap();
        let snake_case = || {
            variant.chars().fold(String::new(), |mut name, c| {
                if c.is_uppercase() && !name.is_empty() {
                    name.push('_');
                }
                name.push(c.to_ascii_lowercase());
                name
            })
        };
        let name = renamed.take().map_or_else(snake_case, str::to_owned);
        assert!(lines.contains(&format!("\"type\":\"{name}\"")), "docs/JOURNAL.md has no example of {name}");
    }
}
