//! Named values that differ.

use crate::domain::{ModelRole, RunSpec, SAMPLING_PARAMS, describe_setting_value};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Maximum number of reported differences.
const MAX_DIFFERENCES: usize = 200;
/// Maximum depth to which objects are compared.
const MAX_DEPTH: usize = 6;

/// A named value that differs; `None` if a side doesn't have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Name of the value; parts of an object are separated by dots.
    pub name: String,
    pub left: Option<String>,
    pub right: Option<String>,
}

/// Returns the differences between two run specifications: method, models, seed, limits, settings by name. Their tasks
/// are not compared: two runs over different lists can have an episode in common.
pub(super) fn diff_runs(a: Option<&RunSpec>, b: Option<&RunSpec>) -> Vec<Difference> {
    diff_values(&a.map_or(Value::Null, comparable_json), &b.map_or(Value::Null, comparable_json))
}

fn comparable_json(run: &RunSpec) -> Value {
    let mut value = serde_json::to_value(run).unwrap_or_default();
    let Value::Object(map) = &mut value else { return value };
    map.remove("tasks");
    map.remove("settings");
    // Only the value of a setting is compared, because its origin has no effect.
    for (name, setting) in run.settings.iter() {
        map.insert(name.to_owned(), setting.value.clone());
    }
    for role in ModelRole::ALL {
        insert_sampling(map, run, role);
    }
    value
}

/// Inserts the sampling parameters of a role by their own names, whether a setting or the model's profile has the value. A
/// boolean has a special meaning, which is described.
fn insert_sampling(map: &mut Map<String, Value>, run: &RunSpec, role: ModelRole) {
    let profile = format!("{}.sampling", role.name());
    for param in &SAMPLING_PARAMS {
        if let Some(Value::Object(values)) = map.get_mut(&profile) {
            values.remove(param.name);
        }
        let name = param.setting_name(role);
        let value = match run.effective_value(role, param).0 {
            Some(flag @ Value::Bool(_)) => describe_setting_value(&name, &flag).into(),
            Some(value) => value,
            None => continue,
        };
        map.insert(name, value);
    }
}

/// Returns the differences between two objects, part by part.
pub(super) fn diff_values(a: &Value, b: &Value) -> Vec<Difference> {
    let (mut left, mut right) = (BTreeMap::new(), BTreeMap::new());
    flatten(String::new(), a, 0, &mut left);
    flatten(String::new(), b, 0, &mut right);
    let mut differences: Vec<Difference> = Vec::new();
    for (name, value) in &left {
        if right.get(name) != Some(value) {
            let b = right.get(name).map(|v| value_text(v));
            differences.push(Difference { name: name.clone(), left: Some(value_text(value)), right: b });
        }
    }
    for (name, value) in right.iter().filter(|(name, _)| !left.contains_key(*name)) {
        differences.push(Difference { name: name.clone(), left: None, right: Some(value_text(value)) });
    }
    differences.sort_by(|x, y| x.name.cmp(&y.name));
    differences.truncate(MAX_DIFFERENCES);
    differences
}

fn flatten<'v>(name: String, value: &'v Value, depth: usize, values: &mut BTreeMap<String, &'v Value>) {
    match value {
        Value::Null => {}
        Value::Object(map) if depth < MAX_DEPTH => {
            for (key, part) in map {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                flatten(name, part, depth + 1, values);
            }
        }
        _ => {
            values.insert(name, value);
        }
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
