//! Named values that differ.

use crate::domain::{RunSpec, describe_setting_value, sampling_param};
use serde_json::Value;
use std::collections::BTreeMap;

/// Differing values that are told of at most.
const MOST: usize = 200;
/// How deep objects are looked into.
const DEEP: usize = 6;

/// A named value that differs; none where a side has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differing {
    /// Its name; parts of an object are told apart by dots.
    pub name: String,
    /// On the left side.
    pub a: Option<String>,
    /// On the right side.
    pub b: Option<String>,
}

/// What of the runs' specifications differs: method, models, seed, limits, settings by name. Their tasks are not compared:
/// two runs over different lists can have an episode in common.
pub(super) fn runs(a: Option<&RunSpec>, b: Option<&RunSpec>) -> Vec<Differing> {
    between(&a.map_or(Value::Null, told), &b.map_or(Value::Null, told))
}

fn told(run: &RunSpec) -> Value {
    let mut value = serde_json::to_value(run).unwrap_or_default();
    let Value::Object(map) = &mut value else { return value };
    map.remove("tasks");
    map.remove("settings");
    // Only the value of a setting is compared: where it comes from changes nothing.
    for (name, setting) in &run.settings.0 {
        let value = match &setting.value {
            switched @ Value::Bool(_) if sampling_param(name).is_some() => {
                describe_setting_value(name, switched).into()
            }
            value => value.clone(),
        };
        map.insert(name.clone(), value);
    }
    value
}

/// What of two objects differs, part by part.
pub(super) fn between(a: &Value, b: &Value) -> Vec<Differing> {
    let (mut left, mut right) = (BTreeMap::new(), BTreeMap::new());
    flat(String::new(), a, 0, &mut left);
    flat(String::new(), b, 0, &mut right);
    let mut found: Vec<Differing> = Vec::new();
    for (name, value) in &left {
        if right.get(name) != Some(value) {
            let b = right.get(name).map(|v| words(v));
            found.push(Differing { name: name.clone(), a: Some(words(value)), b });
        }
    }
    for (name, value) in right.iter().filter(|(name, _)| !left.contains_key(*name)) {
        found.push(Differing { name: name.clone(), a: None, b: Some(words(value)) });
    }
    found.sort_by(|x, y| x.name.cmp(&y.name));
    found.truncate(MOST);
    found
}

fn flat<'v>(name: String, value: &'v Value, deep: usize, into: &mut BTreeMap<String, &'v Value>) {
    match value {
        Value::Null => {}
        Value::Object(map) if deep < DEEP => {
            for (key, part) in map {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                flat(name, part, deep + 1, into);
            }
        }
        _ => {
            into.insert(name, value);
        }
    }
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
