//! A JSON value with its path, for error messages with a location.

use crate::env::EnvError;
use serde_json::Value;
use std::fmt::Write as _;

/// A location in the file and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocatedError {
    pub(super) place: String,
    pub(super) reason: String,
}

impl LocatedError {
    /// Attaches the file name.
    pub(super) fn in_file(self, file: &str) -> EnvError {
        EnvError::Broken { file: file.to_owned(), place: self.place, reason: self.reason }
    }
}

/// One step of the path from a value to a nested one.
#[derive(Clone, Copy)]
enum PathStep<'v> {
    Key(&'v str),
    Index(usize),
}

/// A value and its path.
#[derive(Clone, Copy)]
pub(super) struct Node<'v> {
    value: &'v Value,
    /// The last steps of the path; levels are never nested deeper.
    path: [Option<PathStep<'v>>; 8],
    depth: usize,
}

impl<'v> Node<'v> {
    pub(super) fn root(value: &'v Value) -> Self {
        Self { value, path: [None; 8], depth: 0 }
    }

    fn child(&self, step: PathStep<'v>, value: &'v Value) -> Self {
        let mut node = Self { value, ..*self };
        if let Some(place) = node.path.get_mut(self.depth) {
            *place = Some(step);
        }
        node.depth += 1;
        node
    }

    fn path_text(&self) -> String {
        let mut place = String::new();
        for step in self.path.iter().flatten() {
            match step {
                PathStep::Key(key) if place.is_empty() => place.push_str(key),
                PathStep::Key(key) => {
                    place.push('.');
                    place.push_str(key);
                }
                PathStep::Index(index) => {
                    // Writing to a string cannot fail.
                    let _ = write!(place, "[{index}]");
                }
            }
        }
        if place.is_empty() { "the file".to_owned() } else { place }
    }

    pub(super) fn error(&self, reason: &str) -> LocatedError {
        LocatedError { place: self.path_text(), reason: reason.to_owned() }
    }

    fn type_error(&self, what: &str) -> LocatedError {
        const MAX_CHARS: usize = 60;
        let text = self.value.to_string();
        let mut short: String = text.chars().take(MAX_CHARS).collect();
        if text.chars().nth(MAX_CHARS).is_some() {
            short.push('…');
        }
        self.error(&format!("expected {what}, got {short}"))
    }

    /// Returns the value of a key, or `None` if it is absent or null.
    pub(super) fn optional(&self, key: &'v str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(self.child(PathStep::Key(key), value))
    }

    pub(super) fn required(&self, key: &'v str) -> Result<Self, LocatedError> {
        if !self.value.is_object() {
            return Err(self.type_error("an object"));
        }
        self.optional(key).ok_or_else(|| self.error(&format!("`{key}` is missing")))
    }

    pub(super) fn items(&self, max: usize) -> Result<Vec<Self>, LocatedError> {
        let Value::Array(items) = self.value else { return Err(self.type_error("a list")) };
        if items.len() > max {
            return Err(self.error(&format!("it has {} entries; at most {max} are read", items.len())));
        }
        Ok(items.iter().enumerate().map(|(index, value)| self.child(PathStep::Index(index), value)).collect())
    }

    pub(super) fn map_items<T>(
        &self,
        max: usize,
        read: impl FnMut(&Self) -> Result<T, LocatedError>,
    ) -> Result<Vec<T>, LocatedError> {
        self.items(max)?.iter().map(read).collect()
    }

    pub(super) fn item(&self, index: usize) -> Result<Self, LocatedError> {
        let value = self.value.get(index).ok_or_else(|| self.error(&format!("entry {index} is missing")))?;
        Ok(self.child(PathStep::Index(index), value))
    }

    pub(super) fn pair(&self) -> Result<[Self; 2], LocatedError> {
        self.items(2)?.try_into().map_err(|_| self.type_error("a list of two"))
    }

    pub(super) fn triple(&self) -> Result<[Self; 3], LocatedError> {
        self.items(3)?.try_into().map_err(|_| self.type_error("a list of three"))
    }

    pub(super) fn number(&self, min: i64, max: i64) -> Result<i64, LocatedError> {
        let number = self.value.as_i64().ok_or_else(|| self.type_error("a whole number"))?;
        if (min..=max).contains(&number) {
            return Ok(number);
        }
        Err(self.error(&format!("{number} is not between {min} and {max}")))
    }

    pub(super) fn natural(&self) -> Result<u64, LocatedError> {
        self.value.as_u64().ok_or_else(|| self.type_error("a whole number from 0 to 2^64 - 1"))
    }

    pub(super) fn text(&self, max_bytes: usize) -> Result<&'v str, LocatedError> {
        let text = self.value.as_str().ok_or_else(|| self.type_error("a text"))?;
        if text.len() > max_bytes {
            return Err(self.error(&format!("it has {} bytes; at most {max_bytes} are read", text.len())));
        }
        Ok(text)
    }

    pub(super) fn parse_word<T>(
        &self,
        parse: impl Fn(&str) -> Option<T>,
        words: &str,
    ) -> Result<T, LocatedError> {
        parse(self.text(64)?).ok_or_else(|| self.type_error(&format!("one of ({words})")))
    }

    pub(super) fn boolean(&self) -> Result<bool, LocatedError> {
        self.value.as_bool().ok_or_else(|| self.type_error("true or false"))
    }

    pub(super) fn is_null(&self) -> bool {
        self.value.is_null()
    }

    pub(super) fn is_minus_one(&self) -> bool {
        self.value.as_i64() == Some(-1)
    }

    pub(super) fn is_list(&self) -> bool {
        self.value.is_array()
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.value.as_str() == Some(word)
    }
}
