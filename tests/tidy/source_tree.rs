//! Reads the source as the compiler does: from `lib.rs` and `main.rs`, following `mod` declarations.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, Item, Meta};

/// The text of files by their path relative to `src`, with `/` as separator.
pub(crate) type Files = BTreeMap<String, String>;

/// A module, inline or in its own file.
pub(crate) struct Module {
    /// For example `["env", "pddl"]`; empty for the root.
    pub(crate) path: Vec<String>,
    pub(crate) file: String,
    pub(crate) items: Vec<Item>,
}

/// Everything that is compiled outside tests.
pub(crate) struct SourceTree {
    /// The modules of the library.
    pub(crate) modules: Vec<Module>,
    /// The program's `main.rs`, which refers to the library by name.
    pub(crate) main: Option<Module>,
    /// Crates that a path may start with.
    pub(crate) crates: BTreeSet<String>,
    /// Problems of the tree's structure.
    pub(crate) problems: Vec<String>,
    used: BTreeSet<String>,
}

/// Returns the folder of the package.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns all `.rs` files below a folder.
pub(crate) fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Reads all files of `src`.
pub(crate) fn files() -> Files {
    let src = root().join("src");
    let name = |p: &Path| p.strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/");
    sources(&src).iter().map(|p| (name(p), fs::read_to_string(p).unwrap())).collect()
}

/// Returns the crates that a path in the source may start with: the standard ones and the dependencies.
fn crates() -> BTreeSet<String> {
    let manifest: toml::Table = toml::from_str(include_str!("../../Cargo.toml")).unwrap();
    let mut found: BTreeSet<String> = ["std", "core", "alloc"].map(str::to_owned).into();
    let unix = &manifest["target"]["cfg(unix)"];
    for table in [manifest.get("dependencies"), manifest.get("dev-dependencies"), unix.get("dependencies")] {
        let names = table.and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
        found.extend(names.map(|n| n.replace('-', "_")));
    }
    found
}

/// Returns whether an item is compiled only for tests.
pub(crate) fn is_for_tests(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|a| match &a.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            list.parse_args().is_ok_and(|m: Meta| requires_test(&m))
        }
        _ => false,
    })
}

fn requires_test(meta: &Meta) -> bool {
    let inner = |list: &syn::MetaList| {
        list.parse_args_with(syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated)
    };
    match meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => {
            inner(list).is_ok_and(|l| l.iter().any(requires_test))
        }
        Meta::List(list) if list.path.is_ident("any") => {
            inner(list).is_ok_and(|l| !l.is_empty() && l.iter().all(requires_test))
        }
        _ => false,
    }
}

/// Returns the attributes of an item.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::ExternCrate(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::ForeignMod(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::TraitAlias(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Union(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

impl SourceTree {
    /// Reads the tree of this package from disk.
    pub(crate) fn from_disk() -> Self {
        Self::from_files(&files())
    }

    pub(crate) fn from_files(files: &Files) -> Self {
        let mut tree = Self {
            modules: Vec::new(),
            main: None,
            crates: crates(),
            problems: Vec::new(),
            used: BTreeSet::new(),
        };
        if files.contains_key("main.rs") {
            let before = tree.modules.len();
            tree.read_module(files, "main.rs", &[], false);
            let mut parts = tree.modules.split_off(before);
            if parts.len() > 1 {
                tree.problems.push("main.rs: the program must not have modules of its own".to_owned());
            }
            tree.main = parts.pop();
        }
        tree.read_module(files, "lib.rs", &[], false);
        for file in files.keys().filter(|f| !tree.used.contains(*f)) {
            tree.problems.push(format!("{file}: no `mod` declares this file"));
        }
        tree
    }

    fn read_module(&mut self, files: &Files, file: &str, path: &[String], tests: bool) {
        self.used.insert(file.to_owned());
        let text = files.get(file).map_or("", String::as_str);
        let parsed = syn::parse_file(text).unwrap_or_else(|e| panic!("{file}: {e}"));
        let tests = tests || is_for_tests(&parsed.attrs);
        self.add_module(files, file, path, parsed.items, tests);
    }

    /// Adds a module. Modules of tests are followed only to mark their files as used.
    fn add_module(&mut self, files: &Files, file: &str, path: &[String], items: Vec<Item>, tests: bool) {
        let (mut kept, mut nested) = (Vec::new(), Vec::new());
        for item in items {
            let tests = tests || is_for_tests(attributes(&item));
            match item {
                Item::Mod(module) => nested.push((module, tests)),
                item if !tests => kept.push(item),
                _ => {}
            }
        }
        if !tests {
            self.modules.push(Module { path: path.to_vec(), file: file.to_owned(), items: kept });
        }
        for (module, tests) in nested {
            let name = module.ident.to_string();
            let Some(inner) = Self::module_path(file, path, &module) else {
                self.problems.push(format!("{file}: `#[path]` of `mod {name}` leads outside its module"));
                continue;
            };
            let next = format!("{}.rs", inner.join("/"));
            if let Some((_, items)) = module.content {
                self.add_module(files, file, &inner, items, tests);
            } else if files.contains_key(&next) {
                self.read_module(files, &next, &inner, tests);
            } else {
                self.problems.push(format!("{file}: {next} doesn't exist"));
            }
        }
    }

    /// Returns the path of a module. A `#[path]` may lead to another file below the same top-level module, which then
    /// counts as that file; otherwise returns `None`.
    fn module_path(file: &str, path: &[String], module: &syn::ItemMod) -> Option<Vec<String>> {
        let Some(attribute) = module.attrs.iter().find(|a| a.path().is_ident("path")) else {
            return Some(path.iter().cloned().chain([module.ident.to_string()]).collect());
        };
        let Meta::NameValue(pair) = &attribute.meta else { return None };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(target), .. }) = &pair.value else {
            return None;
        };
        let folder = file.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let target_path: Vec<String> = format!("{folder}{}", target.value())
            .strip_suffix(".rs")?
            .split('/')
            .map(str::to_owned)
            .collect();
        (target_path.first() == path.first() && target_path.iter().all(|p| p != "..")).then_some(target_path)
    }
}
