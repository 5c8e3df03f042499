//! Types for data from a server that only give access to redacted text, so that code that truncates, joins or shows it
//! never handles a secret. This includes fields of a reply that are added later.

use super::redactor::{FRAGMENT_LEN, Redactor};
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Deref;

/// JSON from a server. Dereferences to the redacted value. Text of a stream, in which a secret may span several pieces,
/// is read as [`UnredactedText`].
#[derive(Debug)]
pub(super) struct ServerJson {
    redacted: Value,
    raw: Value,
}

impl Deref for ServerJson {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.redacted
    }
}

impl ServerJson {
    /// Returns the unredacted JSON, for collecting the text of a stream.
    pub(super) fn unredacted(&self) -> UnredactedJson<'_> {
        UnredactedJson(&self.raw)
    }
}

/// JSON whose strings are only available as [`UnredactedText`].
#[derive(Clone, Copy)]
pub(super) struct UnredactedJson<'a>(&'a Value);

impl<'a> UnredactedJson<'a> {
    /// Returns the value of a field.
    pub(super) fn get(self, name: &str) -> Option<Self> {
        self.0.get(name).map(Self)
    }

    /// Returns the elements of a list, or none for any other value.
    pub(super) fn elements(self) -> impl Iterator<Item = Self> + 'a {
        self.0.as_array().into_iter().flatten().map(Self)
    }

    /// Returns the text of a string, or any other value but null as JSON.
    pub(super) fn text_or_json(self) -> Option<UnredactedText> {
        self.text().or_else(|| (!self.0.is_null()).then(|| UnredactedText(self.0.to_string())))
    }

    /// Returns a number that counts or numbers something.
    pub(super) fn index(self) -> Option<u64> {
        self.0.as_u64()
    }

    /// Returns the text of a string.
    pub(super) fn text(self) -> Option<UnredactedText> {
        self.0.as_str().map(UnredactedText::new)
    }
}

/// A piece of a stream's text. Only a `StreamRedactor` may read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnredactedText(String);

impl UnredactedText {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Appends another piece.
    pub(super) fn push(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text as received, for the `StreamRedactor` only.
    pub(super) fn unredacted(&self) -> &str {
        &self.0
    }
}

/// Redacted text from a server: the body of an error, or a line that is not JSON.
#[derive(Clone, Debug)]
pub(super) struct RedactedText(String);

impl Deref for RedactedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl RedactedText {
    /// Returns a JSON error body with the given message, which is redacted already.
    pub(super) fn from_error_message(message: &str) -> Self {
        Self(serde_json::json!({"error": {"message": message}}).to_string())
    }
}

/// The redacted headers of a response by their lower-case names.
pub(super) type Headers = BTreeMap<String, String>;

impl Redactor {
    /// Redacts JSON.
    pub(super) fn redact_json(&self, raw: Value) -> ServerJson {
        ServerJson { redacted: self.redact_value(&raw), raw }
    }

    /// Redacts a body, JSON or not.
    pub(super) fn redact_body(&self, bytes: &[u8]) -> RedactedText {
        let text = String::from_utf8_lossy(bytes);
        // A secret may be escaped in JSON, so it is found only after parsing.
        let json = serde_json::from_str::<Value>(text.trim());
        RedactedText(json.map_or_else(|_| self.redact(&text), |value| self.redact_value(&value).to_string()))
    }

    /// Redacts headers. Invalid UTF-8 in their values is replaced.
    pub(super) fn redact_headers(&self, raw: &HeaderMap) -> Headers {
        let text = |value: &[u8]| self.redact(&String::from_utf8_lossy(value));
        raw.iter().map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes()))).collect()
    }

    fn redact_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact(text)),
            Value::Array(items) => items.iter().map(|v| self.redact_value(v)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(k, v)| (self.redact(k), self.redact_value(v))).collect()
            }
            // An API key may consist of digits. Shorter numbers are counts.
            Value::Number(number) if number.to_string().len() >= FRAGMENT_LEN => {
                let text = number.to_string();
                let redacted = self.redact(&text);
                if redacted == text { value.clone() } else { Value::String(redacted) }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}
