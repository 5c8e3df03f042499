//! Settings as they are typed, and where the configuration has them from.

use super::config::From;
use crate::domain::SettingOrigin;
use serde_json::{Value, json};

/// A value as it is typed: a number, a switch or a word.
pub(super) fn word(text: &str) -> Value {
    if let Ok(number) = text.parse::<u64>() {
        return json!(number);
    }
    match text {
        "true" | "on" => json!(true),
        "false" | "off" => json!(false),
        other => json!(other),
    }
}

/// Where a value of the configuration comes from, as the journal says it.
pub(super) fn origin(from: &From) -> SettingOrigin {
    match from {
        From::Default => SettingOrigin::BuiltIn,
        From::File(..) | From::Variable(_) => SettingOrigin::Config,
        From::Flag(_) => SettingOrigin::Flag,
        From::Preset(_) => SettingOrigin::Paper,
    }
}
