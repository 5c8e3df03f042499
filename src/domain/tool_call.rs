//! Tool calls in a model's reply.

use serde::{Deserialize, Serialize};

/// A tool call is what a model asked for instead of writing text. This program offers no tools, so it never runs one: it is
/// kept for reading only, because it explains why a reply has no text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them: usually JSON, not always valid.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arguments: String,
}

impl ToolCall {
    /// Returns the call as text: `look({"at": "desk 1"})`.
    pub fn describe(&self) -> String {
        format!("{}({})", self.name.trim(), self.arguments.trim())
    }
}
