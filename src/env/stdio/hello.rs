//! The reply to `hello`: who the program is and what it can do.

use super::message::{
    Fields, PROTOCOL_VERSION, clean_message, optional_count, optional_flag, optional_text, required_text,
    text_list, version_mismatch, wrong_type,
};
use crate::domain::ListingCost;
use serde_json::Value;

/// What the program can do besides `reset` and `step`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "any of them may be there")]
pub(super) struct Capabilities {
    pub(super) tasks: bool,
    pub(super) valid_actions: bool,
    pub(super) peek: bool,
    pub(super) snapshot: bool,
    pub(super) hint: bool,
}

/// The reply to `hello`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hello {
    pub(super) name: String,
    pub(super) version: Option<String>,
    /// Other versions that matter, such as that of the interpreter, as `name version`.
    pub(super) versions: Vec<String>,
    pub(super) capabilities: Capabilities,
    /// The names of the capabilities, also of those that this program doesn't know.
    pub(super) capability_names: Vec<String>,
    /// `None` if the program doesn't know.
    pub(super) deterministic: Option<bool>,
    pub(super) listing_cost: ListingCost,
    pub(super) max_snapshots: Option<u64>,
}

impl Hello {
    /// Reads the fields of a reply.
    ///
    /// # Errors
    /// Returns what violates the protocol.
    pub(super) fn from_fields(fields: &Fields) -> Result<Self, String> {
        match fields.get("protocol").and_then(Value::as_u64) {
            Some(PROTOCOL_VERSION) => {}
            Some(other) => return Err(version_mismatch(&other.to_string())),
            None => return Err(wrong_type("protocol", fields.get("protocol"), "a version number")),
        }
        let capability_names = text_list(fields, "caps", 100)?;
        let has = |name: &str| capability_names.iter().any(|known| known == name);
        let capabilities = Capabilities {
            tasks: has("tasks"),
            valid_actions: has("valid_actions"),
            peek: has("peek"),
            snapshot: has("snapshot"),
            hint: has("hint"),
        };
        let listing_cost = match optional_text(fields, "enumeration")?.as_deref() {
            Some("changes_world") => ListingCost::ChangesWorld,
            Some("costly") => ListingCost::Costly,
            _ if !capabilities.valid_actions => ListingCost::Costly,
            Some("free") | None => ListingCost::Free,
            Some(_) => {
                return Err(wrong_type(
                    "enumeration",
                    fields.get("enumeration"),
                    "free, costly or changes_world",
                ));
            }
        };
        let versions = match fields.get("versions") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(versions)) => versions
                .iter()
                .map(|(name, version)| match version.as_str() {
                    Some(version) => format!("{name} {version}"),
                    None => format!("{name} {version}"),
                })
                .collect(),
            other => return Err(wrong_type("versions", other, "an object")),
        };
        Ok(Self {
            name: required_text(fields, "name")?,
            version: optional_text(fields, "version")?,
            versions,
            capabilities,
            capability_names,
            deterministic: optional_flag(fields, "deterministic")?,
            listing_cost,
            max_snapshots: optional_count(fields, "max_snapshots")?,
        })
    }

    /// Describes the program and its capabilities in one line.
    pub(super) fn describe(&self) -> String {
        let version = self.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        let versions = match self.versions.as_slice() {
            [] => String::new(),
            versions => format!(" ({})", versions.join(", ")),
        };
        let capabilities = match self.capability_names.as_slice() {
            [] => "no capabilities".to_owned(),
            names => names.join(", "),
        };
        clean_message(&format!("{}{version}{versions}: {capabilities}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(value: &Value) -> Result<Hello, String> {
        Hello::from_fields(value.as_object().unwrap())
    }

    #[test]
    fn a_complete_hello_is_understood() {
        let hello = parse(&json!({
            "protocol": 1, "name": "corridor", "version": "0.3", "versions": {"python": "3.11.7"},
            "caps": ["tasks", "valid_actions", "peek", "snapshot", "hint", "seed", "of_a_later_version"],
            "deterministic": true, "enumeration": "free", "max_snapshots": 64, "step_ms": 1,
        }));
        let hello = hello.unwrap();
        let all = Capabilities { tasks: true, valid_actions: true, peek: true, snapshot: true, hint: true };
        assert_eq!(hello.capabilities, all);
        assert_eq!(hello.versions, ["python 3.11.7"]);
        assert_eq!((hello.deterministic, hello.listing_cost), (Some(true), ListingCost::Free));
        assert_eq!(
            hello.describe(),
            "corridor 0.3 (python 3.11.7): tasks, valid_actions, peek, snapshot, hint, seed, of_a_later_version"
        );
    }

    #[test]
    fn a_short_hello_claims_nothing() {
        let hello = parse(&json!({"protocol": 1, "name": "x", "caps": [], "deterministic": null})).unwrap();
        assert_eq!(hello.capabilities, Capabilities::default());
        assert_eq!((hello.deterministic, hello.listing_cost), (None, ListingCost::Costly));
        let changes =
            json!({"protocol": 1, "name": "x", "caps": ["valid_actions"], "enumeration": "changes_world"});
        assert_eq!(parse(&changes).unwrap().listing_cost, ListingCost::ChangesWorld);
    }

    #[test]
    fn other_versions_and_wrong_fields_are_named() {
        let cases = [
            (json!({"protocol": 2, "name": "x", "caps": []}), "the program speaks version 2 of the protocol"),
            (json!({"name": "x", "caps": []}), "no `protocol`; expected a version number"),
            (json!({"protocol": "1", "name": "x", "caps": []}), "`protocol` of a reply is \"1\""),
            (json!({"protocol": 1, "caps": []}), "no `name`; expected a string"),
            (json!({"protocol": 1, "name": "x"}), "no `caps`; expected a list of strings"),
            (
                json!({"protocol": 1, "name": "x", "caps": [1]}),
                "`caps` of a reply is 1, not a list of strings",
            ),
            (
                json!({"protocol": 1, "name": "x", "caps": ["valid_actions"], "enumeration": "no"}),
                "not free, costly or changes_world",
            ),
        ];
        for (fields, part) in cases {
            let what = parse(&fields).unwrap_err();
            assert!(what.contains(part), "{fields}: {what}");
        }
    }
}
