//! Interned names: each distinct lower-case word of the two texts once.

use super::hash::FastMap;
use std::sync::Arc;

/// A word of the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub(super) u32);

/// All words, by number and by spelling.
#[derive(Clone, Debug, Default)]
pub struct Names {
    words: Vec<Arc<str>>,
    numbers: FastMap<Arc<str>, u32>,
}

impl Names {
    /// The name of a word, new or known.
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

    /// The name of a word that occurs in the texts.
    pub fn find(&self, word: &str) -> Option<Name> {
        self.numbers.get(word).copied().map(Name)
    }

    /// How a name is spelt (lower case).
    pub fn word(&self, name: Name) -> &str {
        &self.words[name.0 as usize]
    }

    /// The spelling, shared.
    pub fn shared_word(&self, name: Name) -> Arc<str> {
        Arc::clone(&self.words[name.0 as usize])
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}
