//! The request that a provider would send, as text for a person. It contains no secret: in place of each it names the
//! environment variable from which a shell would take it.

use crate::domain::{MessageRole, Prompt};
use crate::provider::Request;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The request that a provider would send.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestPreview {
    /// The address; `None` if nothing is sent over a network. May name variables, as `$NAME`.
    pub url: Option<String>,
    /// Headers in order. Their values may name variables.
    pub headers: Vec<(String, String)>,
    /// The body as JSON text.
    pub body: String,
}

impl RequestPreview {
    /// Describes a request to a provider that is no server: its messages, seed and the person's sampling parameters.
    pub fn without_server(request: &Request) -> Self {
        let mut body = Map::new();
        body.extend(request.sampling.user_fields.clone());
        if !request.stop.is_empty() {
            body.insert("stop".to_owned(), json!(request.stop));
        }
        body.insert("seed".to_owned(), json!(request.seed));
        body.insert("messages".to_owned(), chat_messages(&request.prompt));
        Self { url: None, headers: Vec::new(), body: pretty(&Value::Object(body)) }
    }

    /// Returns a `curl` command that sends the request; `None` if there is no server.
    pub fn to_curl(&self) -> Option<String> {
        let mut command = format!("curl {}", expanding(self.url.as_ref()?));
        for (name, value) in &self.headers {
            let _ = write!(command, " \\\n  -H {}", expanding(&format!("{name}: {value}")));
        }
        // In single quotes nothing is expanded.
        let _ = write!(command, " \\\n  --data-binary '{}'\n", self.body.replace('\'', r"'\''"));
        Some(command)
    }
}

/// Quotes a word for a shell so that only `$NAME` in it is expanded.
fn expanding(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '`') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted + "\""
}

/// Returns JSON with indentation.
pub(super) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

/// Returns the name of the environment variable that stands for a secret header or query value.
pub(super) fn variable_name(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = name.chars().map(letter).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// Returns the chat messages of a prompt. Adjacent segments of the same role form one message, whose content is a plain
/// string.
pub(super) fn chat_messages(prompt: &Prompt) -> Value {
    let mut messages: Vec<(MessageRole, String)> = Vec::new();
    for segment in &prompt.segments {
        match messages.last_mut() {
            Some((message_role, text)) if *message_role == segment.message_role => {
                text.push_str(&segment.text);
            }
            _ => messages.push((segment.message_role, segment.text.to_string())),
        }
    }
    let role = |message_role| match message_role {
        MessageRole::System => "system",
        MessageRole::User => "user",
        MessageRole::Assistant => "assistant",
    };
    messages
        .iter()
        .map(|(message_role, text)| json!({"role": role(*message_role), "content": text}))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_expands_only_the_variables() {
        let preview = RequestPreview {
            url: Some("http://host/v1/chat/completions?api-version=$API_VERSION".to_owned()),
            headers: vec![("Authorization".to_owned(), "Bearer $OPENAI_API_KEY".to_owned())],
            body: r#"{"content":"it's `a` $b \"c\""}"#.to_owned(),
        };
        let expected = concat!(
            r#"curl "http://host/v1/chat/completions?api-version=$API_VERSION" \"#,
            "\n",
            r#"  -H "Authorization: Bearer $OPENAI_API_KEY" \"#,
            "\n",
            r#"  --data-binary '{"content":"it'\''s `a` $b \"c\""}'"#,
            "\n"
        );
        assert_eq!(preview.to_curl().as_deref(), Some(expected));
        assert_eq!(RequestPreview::default().to_curl(), None);
        assert_eq!(expanding(r#"a"b\c`d"#), r#""a\"b\\c\`d""#);
        for (name, expected) in [("api-version", "API_VERSION"), ("X-Key", "X_KEY"), ("1st", "_1ST")] {
            assert_eq!(variable_name(name), expected);
        }
    }
}
