//! A verb as it was typed, with its arguments.

use crate::actions::Verb;

/// A verb, the word that was typed for it, and what follows that word.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypedVerb<'a> {
    pub(super) verb: Verb,
    word: &'a str,
    /// The arguments, without white space around them.
    pub(super) rest: &'a str,
}

/// Returns an action as it was typed. One that begins with a double quote is a JSON string, so that it can have several
/// lines.
pub(super) fn parse_action(text: &str) -> Result<String, String> {
    if !text.starts_with('"') {
        return Ok(text.to_owned());
    }
    serde_json::from_str(text)
        .map_err(|error| format!("an action that begins with a double quote must be a JSON string: {error}"))
}

impl<'a> TypedVerb<'a> {
    /// Joins a verb, its word and its arguments.
    ///
    /// # Errors
    /// Fails if more words follow than the verb takes: whoever typed them expects something else than it would do.
    pub(super) fn new(verb: Verb, word: &'a str, rest: &'a str) -> Result<Self, String> {
        let typed = Self { verb, word, rest: rest.trim() };
        match verb.word_limit() {
            Some(limit) if typed.rest.split_whitespace().count() > limit => {
                let taken = if limit == 0 { "no argument" } else { "one number" };
                Err(typed.with_usage(&format!("{word} takes {taken}")))
            }
            _ => Ok(typed),
        }
    }

    /// Returns how the verb is typed after this word.
    pub(super) fn usage(&self) -> String {
        self.verb.usage_of(self.word)
    }

    /// Returns an error message that ends with the usage.
    pub(super) fn with_usage(&self, message: &str) -> String {
        format!("{message}; usage: {}", self.usage())
    }

    /// Returns the arguments of a verb that needs some.
    pub(super) fn argument(&self) -> Result<String, String> {
        if self.rest.is_empty() { Err(self.missing_argument()) } else { Ok(self.rest.to_owned()) }
    }

    /// Returns the action that is the argument.
    pub(super) fn action(&self) -> Result<String, String> {
        parse_action(&self.argument()?)
    }

    /// Returns the message for an argument that is missing.
    pub(super) fn missing_argument(&self) -> String {
        self.with_usage("missing argument")
    }

    /// Splits off the first argument. Returns it and what follows.
    pub(super) fn split_first(&self) -> (&'a str, &'a str) {
        let (first, rest) = self.rest.split_once(char::is_whitespace).unwrap_or((self.rest, ""));
        (first, rest.trim_start())
    }
}
