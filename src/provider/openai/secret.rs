//! Secrets that must never be shown: keys, and the values of headers and query parameters, which may contain one.

use std::fmt;
use std::sync::Arc;

/// The text that replaces a secret.
pub(super) const REDACTED: &str = "[hidden]";

/// A secret. It has no `Display`, and its `Debug` does not show it.
#[derive(Clone)]
pub struct Secret {
    text: Arc<str>,
    /// The parts that were taken from the environment.
    environment_values: Arc<[String]>,
}

/// Where the key of a server comes from, or would come from if it existed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeySource {
    #[default]
    Unknown,
    /// The name of an environment variable.
    Variable(String),
    /// The path of a file.
    File(String),
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Secret {}

impl Secret {
    /// Creates a secret; white space around it is removed.
    pub fn new(text: &str) -> Self {
        Self { text: Arc::from(text.trim()), environment_values: Arc::default() }
    }

    /// Creates a secret from a text, replacing every `$NAME` or `${NAME}` with the variable's value. `$$` is a dollar
    /// sign, and so is a `$` without a name after it.
    ///
    /// # Errors
    /// Returns the name of a variable that is not set.
    pub fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let (mut whole, mut taken, mut rest) = (String::new(), Vec::new(), text.trim());
        while let Some((before, behind)) = rest.split_once('$') {
            whole.push_str(before);
            let braced = behind.strip_prefix('{').and_then(|b| b.split_once('}'));
            let end = behind.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(behind.len());
            let (name, after) = braced.unwrap_or_else(|| behind.split_at(end));
            if let Some(after) = behind.strip_prefix('$') {
                whole.push('$');
                rest = after;
            } else if is_variable_name(name) {
                let value = variable(name).ok_or_else(|| name.to_owned())?.trim().to_owned();
                whole.push_str(&value);
                taken.push(value);
                rest = after;
            } else {
                whole.push('$');
                rest = behind;
            }
        }
        whole.push_str(rest);
        Ok(Self { text: Arc::from(whole.trim()), environment_values: Arc::from(taken) })
    }

    /// Returns whether a text consists only of a variable reference such as `$NAME`, so that it can be shown.
    pub fn is_variable(text: &str) -> bool {
        let name = text.trim().strip_prefix('$');
        let name = name.map(|n| n.strip_prefix('{').and_then(|n| n.strip_suffix('}')).unwrap_or(n));
        name.is_some_and(is_variable_name)
    }

    /// Returns whether the secret is empty.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the secret itself, for sending only.
    pub(super) fn expose(&self) -> &str {
        &self.text
    }

    /// Returns the parts that were taken from the environment.
    pub(super) fn environment_values(&self) -> &[String] {
        &self.environment_values
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

fn is_variable_name(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && text.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_expanded_anywhere_in_a_text() {
        let variable = |name: &str| (name == "MY_KEY").then(|| " sk-1 ".to_owned());
        for (text, want) in [
            ("$MY_KEY", Ok("sk-1")),
            ("Bearer $MY_KEY", Ok("Bearer sk-1")),
            ("a=${MY_KEY}b; c=$MY_KEY;", Ok("a=sk-1b; c=sk-1;")),
            ("5$ $$MY_KEY $9 ${", Ok("5$ $MY_KEY $9 ${")),
            ("Bearer $NOPE", Err("NOPE")),
        ] {
            let got = Secret::expand(text, &variable);
            assert_eq!(got.as_ref().map(Secret::expose).map_err(String::as_str), want, "{text}");
        }
        for (text, want) in
            [("$MY_KEY", true), (" ${MY_KEY}", true), ("$$ecret", false), ("$A b", false), ("$a-b", false)]
        {
            assert_eq!(Secret::is_variable(text), want, "{text}");
        }
    }
}
