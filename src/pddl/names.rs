//! Interned names: stores each distinct lower-case word of the domain and the problem once.

use super::hash::FastMap;
use std::sync::Arc;

/// An interned word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub(super) u32);

/// All words, by index and by spelling.
#[derive(Clone, Debug, Default)]
pub struct Names {
    words: Vec<Arc<str>>,
    numbers: FastMap<Arc<str>, u32>,
}

impl Names {
    /// Interns a word and returns its name.
    pub fn intern(&mut self, word: &str) -> Name {
        if let Some(&number) = self.numbers.get(word) {
            return Name(number);
        }
        let number = self.words.len() as u32;
        let word: Arc<str> = word.into();
        self.words.push(Arc::clone(&word));
        self.numbers.insert(word, number);
        Name(number)
    }

    /// Returns the spelling of a name, in lower case.
    pub fn text(&self, name: Name) -> &str {
        &self.words[name.0 as usize]
    }

    /// Returns the spelling as a shared string.
    pub fn shared_word(&self, name: Name) -> Arc<str> {
        Arc::clone(&self.words[name.0 as usize])
    }
}
