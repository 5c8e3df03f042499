//! From a path as it is written to what it means: `self`, `super`, `crate`, the crate's own name, `use`, `type` and globs.

use crate::house::{House, Module};
use crate::look::Look;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The crate's own name, by which the program and a trickster call it.
const OWN: &str = "retrospect";

/// What every module of the house says.
pub(crate) struct Names<'a> {
    house: &'a House,
    looks: BTreeMap<&'a [String], Look>,
    /// The same few paths are asked for again and again.
    asked: RefCell<Asked>,
}

type Asked = HashMap<Vec<String>, HashMap<Vec<String>, Meanings>>;

/// Full paths: the first word is `crate` or another crate.
pub(crate) type Meanings = BTreeSet<Vec<String>>;

impl<'a> Names<'a> {
    pub(crate) fn of(house: &'a House) -> Self {
        let looks = house.modules.iter().map(|m| (m.path.as_slice(), Look::at(m))).collect();
        Self { house, looks, asked: RefCell::default() }
    }

    /// The modules with what they say.
    pub(crate) fn rooms(&self) -> impl Iterator<Item = (&'a Module, &Look)> {
        self.house.modules.iter().map(|m| (m, &self.looks[m.path.as_slice()]))
    }

    /// All that a path may mean; a name of something local means nothing.
    pub(crate) fn meanings(&self, module: &[String], words: &[String]) -> Meanings {
        if let Some(known) = self.asked.borrow().get(module).and_then(|m| m.get(words)) {
            return known.clone();
        }
        let mut found = Meanings::new();
        self.lexical(module, words, 0, &mut found);
        self.asked.borrow_mut().entry(module.to_vec()).or_default().insert(words.to_vec(), found.clone());
        found
    }

    fn lexical(&self, at: &[String], words: &[String], depth: u32, found: &mut Meanings) {
        let Some(first) = words.first() else { return };
        match first.as_str() {
            _ if depth > 24 => {}
            "" => match words.get(1) {
                Some(name) if name == OWN => self.walk(&[], &words[2..], depth, found),
                _ => drop(found.insert(words[1..].to_vec())),
            },
            "crate" => self.walk(&[], &words[1..], depth, found),
            "self" if words.len() > 1 => self.walk(at, &words[1..], depth, found),
            "super" => self.walk(parent(at), &words[1..], depth, found),
            "Self" | "self" => {}
            name if self.knows(at, name, depth) => self.walk(at, words, depth, found),
            name if name == OWN => self.walk(&[], &words[1..], depth, found),
            name if self.house.crates.contains(name) => drop(found.insert(words.to_vec())),
            _ => {
                // What comes of a glob of another crate cannot be known; it is taken to be from there.
                for glob in self.looks.get(at).into_iter().flat_map(|l| &l.globs) {
                    for mut far in self.meanings_deep(at, glob, depth + 1) {
                        if far.first().is_some_and(|f| f != "crate") && words.len() > 1 {
                            far.extend_from_slice(words);
                            found.insert(far);
                        }
                    }
                }
            }
        }
    }

    fn meanings_deep(&self, at: &[String], words: &[String], depth: u32) -> Meanings {
        let mut found = Meanings::new();
        self.lexical(at, words, depth, &mut found);
        found
    }

    /// The modules of the house that a module takes everything of.
    fn globbed(&self, at: &[String], depth: u32) -> Vec<Vec<String>> {
        let globs = self.looks.get(at).into_iter().flat_map(|l| &l.globs);
        globs
            .flat_map(|glob| self.meanings_deep(at, glob, depth + 1))
            .filter(|full| full.first().is_some_and(|f| f == "crate"))
            .map(|full| full[1..].to_vec())
            .filter(|path| path != at && self.looks.contains_key(path.as_slice()))
            .collect()
    }

    fn has(&self, at: &[String], name: &str) -> bool {
        let look = self.looks.get(at);
        look.is_some_and(|l| l.aliases.contains_key(name) || l.own.contains(name))
            || self.looks.contains_key(below(at, name).as_slice())
    }

    fn knows(&self, at: &[String], name: &str, depth: u32) -> bool {
        self.has(at, name)
            || depth <= 8 && self.globbed(at, depth + 1).iter().any(|g| self.knows(g, name, depth + 4))
    }

    /// Follows a path from a module, through what it has only taken from elsewhere.
    fn walk(&self, at: &[String], words: &[String], depth: u32, found: &mut Meanings) {
        let full = || [&["crate".to_owned()], at, words].concat();
        let Some(first) = words.first() else {
            found.insert(full());
            return;
        };
        if depth > 24 {
            return;
        }
        if first == "super" {
            return self.walk(parent(at), &words[1..], depth, found);
        }
        if first == "self" {
            return self.walk(at, &words[1..], depth, found);
        }
        let inner = below(at, first);
        if self.looks.contains_key(inner.as_slice()) {
            return self.walk(&inner, &words[1..], depth + 1, found);
        }
        let Some(look) = self.looks.get(at) else {
            found.insert(full());
            return;
        };
        // `crate::a::B` names `a`, also where `a` has `B` from elsewhere.
        found.insert(full());
        for other in look.aliases.get(first).into_iter().flatten() {
            let on = [other.as_slice(), &words[1..]].concat();
            // `use x::y` in the module itself: `y` means what `x::y` means, not itself again.
            if other.len() > 1 || other.first() != Some(first) {
                self.lexical(at, &on, depth + 1, found);
            }
        }
        if !look.own.contains(first) && !look.aliases.contains_key(first) {
            for glob in self.globbed(at, depth + 1) {
                if self.knows(&glob, first, depth + 4) {
                    self.walk(&glob, words, depth + 1, found);
                }
            }
        }
    }
}

fn parent(at: &[String]) -> &[String] {
    at.split_last().map_or(&[], |(_, rest)| rest)
}

fn below(at: &[String], name: &str) -> Vec<String> {
    at.iter().cloned().chain([name.to_owned()]).collect()
}
