//! Resolves written paths: `self`, `super`, `crate`, the crate's own name, `use`, `type` and globs.

use crate::module_facts::ModuleFacts;
use crate::source_tree::{Module, SourceTree};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The crate's own name, by which `main.rs` (or any module, with `extern crate self`) can refer to it.
const OWN: &str = "retrospect";

/// Resolves paths with the facts of all modules.
pub(crate) struct Resolver<'a> {
    tree: &'a SourceTree,
    facts: BTreeMap<&'a [String], ModuleFacts>,
    /// Results by module and path: few different paths occur, many times each.
    cache: RefCell<MeaningCache>,
}

type MeaningCache = HashMap<Vec<String>, HashMap<Vec<String>, Meanings>>;

/// Full paths; the first segment is `crate` or another crate.
pub(crate) type Meanings = BTreeSet<Vec<String>>;

impl<'a> Resolver<'a> {
    pub(crate) fn for_tree(tree: &'a SourceTree) -> Self {
        let facts = tree.modules.iter().map(|m| (m.path.as_slice(), ModuleFacts::of_module(m))).collect();
        Self { tree, facts, cache: RefCell::default() }
    }

    /// Returns the modules with their facts.
    pub(crate) fn modules(&self) -> impl Iterator<Item = (&'a Module, &ModuleFacts)> {
        self.tree.modules.iter().map(|m| (m, &self.facts[m.path.as_slice()]))
    }

    /// Returns all items that a path may refer to; none for a local name.
    pub(crate) fn meanings(&self, module: &[String], segments: &[String]) -> Meanings {
        if let Some(known) = self.cache.borrow().get(module).and_then(|m| m.get(segments)) {
            return known.clone();
        }
        let mut found = Meanings::new();
        self.resolve_lexically(module, segments, 0, &mut found);
        self.cache.borrow_mut().entry(module.to_vec()).or_default().insert(segments.to_vec(), found.clone());
        found
    }

    fn resolve_lexically(&self, module: &[String], segments: &[String], depth: u32, found: &mut Meanings) {
        let Some(first) = segments.first() else { return };
        match first.as_str() {
            _ if depth > 24 => {}
            "" => match segments.get(1) {
                Some(name) if name == OWN => self.follow_path(&[], &segments[2..], depth, found),
                _ => drop(found.insert(segments[1..].to_vec())),
            },
            "crate" => self.follow_path(&[], &segments[1..], depth, found),
            "self" if segments.len() > 1 => self.follow_path(module, &segments[1..], depth, found),
            "super" => self.follow_path(parent(module), &segments[1..], depth, found),
            "Self" | "self" => {}
            name if self.can_resolve(module, name, depth) => self.follow_path(module, segments, depth, found),
            name if name == OWN => self.follow_path(&[], &segments[1..], depth, found),
            name if self.tree.crates.contains(name) => drop(found.insert(segments.to_vec())),
            _ => {
                // The names that a glob imports from another crate are unknown: assume that it imports this one.
                for glob in self.facts.get(module).into_iter().flat_map(|f| &f.globs) {
                    for mut path in self.meanings_deep(module, glob, depth + 1) {
                        if path.first().is_some_and(|f| f != "crate") && segments.len() > 1 {
                            path.extend_from_slice(segments);
                            found.insert(path);
                        }
                    }
                }
            }
        }
    }

    fn meanings_deep(&self, module: &[String], segments: &[String], depth: u32) -> Meanings {
        let mut found = Meanings::new();
        self.resolve_lexically(module, segments, depth, &mut found);
        found
    }

    /// Returns the modules of this crate that a module imports with a glob.
    fn glob_imports(&self, module: &[String], depth: u32) -> Vec<Vec<String>> {
        let globs = self.facts.get(module).into_iter().flat_map(|f| &f.globs);
        globs
            .flat_map(|glob| self.meanings_deep(module, glob, depth + 1))
            .filter(|full| full.first().is_some_and(|f| f == "crate"))
            .map(|full| full[1..].to_vec())
            .filter(|path| path != module && self.facts.contains_key(path.as_slice()))
            .collect()
    }

    fn has_name(&self, module: &[String], name: &str) -> bool {
        let facts = self.facts.get(module);
        facts.is_some_and(|f| f.aliases.contains_key(name) || f.own_names.contains(name))
            || self.facts.contains_key(child(module, name).as_slice())
    }

    fn can_resolve(&self, module: &[String], name: &str, depth: u32) -> bool {
        self.has_name(module, name)
            || depth <= 8
                && self.glob_imports(module, depth + 1).iter().any(|g| self.can_resolve(g, name, depth + 4))
    }

    /// Follows a path from a module through its imports.
    fn follow_path(&self, module: &[String], segments: &[String], depth: u32, found: &mut Meanings) {
        let full = || [&["crate".to_owned()], module, segments].concat();
        let Some(first) = segments.first() else {
            found.insert(full());
            return;
        };
        if depth > 24 {
            return;
        }
        if first == "super" {
            return self.follow_path(parent(module), &segments[1..], depth, found);
        }
        if first == "self" {
            return self.follow_path(module, &segments[1..], depth, found);
        }
        let inner = child(module, first);
        if self.facts.contains_key(inner.as_slice()) {
            return self.follow_path(&inner, &segments[1..], depth + 1, found);
        }
        let Some(facts) = self.facts.get(module) else {
            found.insert(full());
            return;
        };
        // `crate::a::B` names `a` even if `a` imports `B`.
        found.insert(full());
        for alias in facts.aliases.get(first).into_iter().flatten() {
            let target = [alias.as_slice(), &segments[1..]].concat();
            // Don't resolve an import of a name to itself again.
            if alias.len() > 1 || alias.first() != Some(first) {
                self.resolve_lexically(module, &target, depth + 1, found);
            }
        }
        if !facts.own_names.contains(first) && !facts.aliases.contains_key(first) {
            for glob in self.glob_imports(module, depth + 1) {
                if self.can_resolve(&glob, first, depth + 4) {
                    self.follow_path(&glob, segments, depth + 1, found);
                }
            }
        }
    }
}

fn parent(module: &[String]) -> &[String] {
    module.split_last().map_or(&[], |(_, rest)| rest)
}

fn child(module: &[String], name: &str) -> Vec<String> {
    module.iter().cloned().chain([name.to_owned()]).collect()
}
