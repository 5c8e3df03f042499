//! A JSON value with the way to it, for messages that say where something is wrong.

use crate::env::EnvError;
use serde_json::Value;
use std::fmt::Write as _;

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) place: String,
    pub(super) reason: String,
}

impl Broken {
    /// The same with the file it is about.
    pub(super) fn of(self, file: &str) -> EnvError {
        EnvError::Broken { file: file.to_owned(), place: self.place, reason: self.reason }
    }
}

/// How one gets from a value to one inside it.
#[derive(Clone, Copy)]
enum Step<'v> {
    Key(&'v str),
    Index(usize),
}

/// A value and the way to it.
#[derive(Clone, Copy)]
pub(super) struct Node<'v> {
    value: &'v Value,
    /// The last steps of the way; a level is never deeper.
    way: [Option<Step<'v>>; 8],
    deep: usize,
}

impl<'v> Node<'v> {
    pub(super) fn root(value: &'v Value) -> Self {
        Self { value, way: [None; 8], deep: 0 }
    }

    fn inside(&self, step: Step<'v>, value: &'v Value) -> Self {
        let mut node = Self { value, ..*self };
        if let Some(place) = node.way.get_mut(self.deep) {
            *place = Some(step);
        }
        node.deep += 1;
        node
    }

    fn place(&self) -> String {
        let mut place = String::new();
        for step in self.way.iter().flatten() {
            match step {
                Step::Key(key) if place.is_empty() => place.push_str(key),
                Step::Key(key) => {
                    place.push('.');
                    place.push_str(key);
                }
                Step::Index(index) => {
                    // Writing to a string cannot fail.
                    let _ = write!(place, "[{index}]");
                }
            }
        }
        if place.is_empty() { "the file".to_owned() } else { place }
    }

    pub(super) fn wrong(&self, reason: &str) -> Broken {
        Broken { place: self.place(), reason: reason.to_owned() }
    }

    fn is_no(&self, what: &str) -> Broken {
        const LONG: usize = 60;
        let text = self.value.to_string();
        let mut short: String = text.chars().take(LONG).collect();
        if text.chars().nth(LONG).is_some() {
            short.push('…');
        }
        self.wrong(&format!("{short} is no {what}"))
    }

    /// The value of a key; none where it is absent or null.
    pub(super) fn maybe(&self, key: &'v str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(self.inside(Step::Key(key), value))
    }

    pub(super) fn key(&self, key: &'v str) -> Result<Self, Broken> {
        if !self.value.is_object() {
            return Err(self.is_no("object"));
        }
        self.maybe(key).ok_or_else(|| self.wrong(&format!("`{key}` is missing")))
    }

    pub(super) fn items(&self, most: usize) -> Result<Vec<Self>, Broken> {
        let Value::Array(items) = self.value else { return Err(self.is_no("list")) };
        if items.len() > most {
            return Err(self.wrong(&format!("it has {} entries; at most {most} are read", items.len())));
        }
        Ok(items.iter().enumerate().map(|(index, value)| self.inside(Step::Index(index), value)).collect())
    }

    pub(super) fn list<T>(
        &self,
        most: usize,
        read: impl FnMut(&Self) -> Result<T, Broken>,
    ) -> Result<Vec<T>, Broken> {
        self.items(most)?.iter().map(read).collect()
    }

    pub(super) fn item(&self, index: usize) -> Result<Self, Broken> {
        let value = self.value.get(index).ok_or_else(|| self.wrong(&format!("there is no entry {index}")))?;
        Ok(self.inside(Step::Index(index), value))
    }

    pub(super) fn pair(&self) -> Result<[Self; 2], Broken> {
        self.items(2)?.try_into().map_err(|_| self.is_no("list of two"))
    }

    pub(super) fn triple(&self) -> Result<[Self; 3], Broken> {
        self.items(3)?.try_into().map_err(|_| self.is_no("list of three"))
    }

    pub(super) fn number(&self, least: i64, most: i64) -> Result<i64, Broken> {
        let number = self.value.as_i64().ok_or_else(|| self.is_no("whole number"))?;
        if (least..=most).contains(&number) {
            return Ok(number);
        }
        Err(self.wrong(&format!("{number} is not between {least} and {most}")))
    }

    pub(super) fn natural(&self) -> Result<u64, Broken> {
        self.value.as_u64().ok_or_else(|| self.is_no("whole number of at most 64 bits, 0 or above"))
    }

    pub(super) fn text(&self, longest: usize) -> Result<&'v str, Broken> {
        let text = self.value.as_str().ok_or_else(|| self.is_no("text"))?;
        if text.len() > longest {
            return Err(self.wrong(&format!("it has {} bytes; at most {longest} are read", text.len())));
        }
        Ok(text)
    }

    pub(super) fn word<T>(&self, of: impl Fn(&str) -> Option<T>, words: &str) -> Result<T, Broken> {
        of(self.text(64)?).ok_or_else(|| self.is_no(&format!("known word here: {words}")))
    }

    pub(super) fn truth(&self) -> Result<bool, Broken> {
        self.value.as_bool().ok_or_else(|| self.is_no("true or false"))
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
