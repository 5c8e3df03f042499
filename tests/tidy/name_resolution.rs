//! From a path as it is written to what it means: `self`, `super`, `crate`, the crate's own name, `use`, `type` and globs.

use crate::module_facts::ModuleFacts;
use crate::source_tree::{Module, SourceTree};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The crate's own name, by which the program and a trickster call it.
const OWN: &str = "retrospect";

/// What every module of the house says.
pub(crate) struct Resolver<'a> {
    tree: &'a SourceTree,
    facts: BTreeMap<&'a [String], ModuleFacts>,
    /// The same few paths are asked for again and again.
    cache: RefCell<MeaningCache>,
}

type MeaningCache = HashMap<Vec<String>, HashMap<Vec<String>, Meanings>>;

/// Full paths: the first word is `crate` or another crate.
pub(crate) type Meanings = BTreeSet<Vec<String>>;

impl<'a> Resolver<'a> {
    pub(crate) fn for_tree(house: &'a SourceTree) -> Self {
        let looks = house.modules.iter().map(|m| (m.path.as_slice(), ModuleFacts::of_module(m))).collect();
        Self { tree: house, facts: looks, cache: RefCell::default() }
    }

    /// The modules with what they say.
    pub(crate) fn modules(&self) -> impl Iterator<Item = (&'a Module, &ModuleFacts)> {
        self.tree.modules.iter().map(|m| (m, &self.facts[m.path.as_slice()]))
    }

    /// All that a path may mean; a name of something local means nothing.
    pub(crate) fn meanings(&self, module: &[String], words: &[String]) -> Meanings {
        if let Some(known) = self.cache.borrow().get(module).and_then(|m| m.get(words)) {
            return known.clone();
        }
        let mut found = Meanings::new();
        self.resolve_lexically(module, words, 0, &mut found);
        self.cache.borrow_mut().entry(module.to_vec()).or_default().insert(words.to_vec(), found.clone());
        found
    }

    fn resolve_lexically(&self, at: &[String], words: &[String], depth: u32, found: &mut Meanings) {
        let Some(first) = words.first() else { return };
        match first.as_str() {
            _ if depth > 24 => {}
            "" => match words.get(1) {
                Some(name) if name == OWN => self.follow_path(&[], &words[2..], depth, found),
                _ => drop(found.insert(words[1..].to_vec())),
            },
            "crate" => self.follow_path(&[], &words[1..], depth, found),
            "self" if words.len() > 1 => self.follow_path(at, &words[1..], depth, found),
            "super" => self.follow_path(parent(at), &words[1..], depth, found),
            "Self" | "self" => {}
            name if self.can_resolve(at, name, depth) => self.follow_path(at, words, depth, found),
            name if name == OWN => self.follow_path(&[], &words[1..], depth, found),
            name if self.tree.crates.contains(name) => drop(found.insert(words.to_vec())),
            _ => {
                // What comes of a glob of another crate cannot be known; it is taken to be from there.
                for glob in self.facts.get(at).into_iter().flat_map(|l| &l.globs) {
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
        self.resolve_lexically(at, words, depth, &mut found);
        found
    }

    /// The modules of the house that a module takes everything of.
    fn glob_imports(&self, at: &[String], depth: u32) -> Vec<Vec<String>> {
        let globs = self.facts.get(at).into_iter().flat_map(|l| &l.globs);
        globs
            .flat_map(|glob| self.meanings_deep(at, glob, depth + 1))
            .filter(|full| full.first().is_some_and(|f| f == "crate"))
            .map(|full| full[1..].to_vec())
            .filter(|path| path != at && self.facts.contains_key(path.as_slice()))
            .collect()
    }

    fn has_name(&self, at: &[String], name: &str) -> bool {
        let look = self.facts.get(at);
        look.is_some_and(|l| l.aliases.contains_key(name) || l.own_names.contains(name))
            || self.facts.contains_key(child(at, name).as_slice())
    }

    fn can_resolve(&self, at: &[String], name: &str, depth: u32) -> bool {
        self.has_name(at, name)
            || depth <= 8
                && self.glob_imports(at, depth + 1).iter().any(|g| self.can_resolve(g, name, depth + 4))
    }

    /// Follows a path from a module, through what it has only taken from elsewhere.
    fn follow_path(&self, at: &[String], words: &[String], depth: u32, found: &mut Meanings) {
        let full = || [&["crate".to_owned()], at, words].concat();
        let Some(first) = words.first() else {
            found.insert(full());
            return;
        };
        if depth > 24 {
            return;
        }
        if first == "super" {
            return self.follow_path(parent(at), &words[1..], depth, found);
        }
        if first == "self" {
            return self.follow_path(at, &words[1..], depth, found);
        }
        let inner = child(at, first);
        if self.facts.contains_key(inner.as_slice()) {
            return self.follow_path(&inner, &words[1..], depth + 1, found);
        }
        let Some(look) = self.facts.get(at) else {
            found.insert(full());
            return;
        };
        // `crate::a::B` names `a`, also where `a` has `B` from elsewhere.
        found.insert(full());
        for other in look.aliases.get(first).into_iter().flatten() {
            let on = [other.as_slice(), &words[1..]].concat();
            // `use x::y` in the module itself: `y` means what `x::y` means, not itself again.
            if other.len() > 1 || other.first() != Some(first) {
                self.resolve_lexically(at, &on, depth + 1, found);
            }
        }
        if !look.own_names.contains(first) && !look.aliases.contains_key(first) {
            for glob in self.glob_imports(at, depth + 1) {
                if self.can_resolve(&glob, first, depth + 4) {
                    self.follow_path(&glob, words, depth + 1, found);
                }
            }
        }
    }
}

fn parent(at: &[String]) -> &[String] {
    at.split_last().map_or(&[], |(_, rest)| rest)
}

fn child(at: &[String], name: &str) -> Vec<String> {
    at.iter().cloned().chain([name.to_owned()]).collect()
}
