//! The source as the compiler finds it: from `lib.rs` and `main.rs` along `mod`, each module with what it declares.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, Item, Meta};

/// Files of `src` by their path below it, with `/`.
pub(crate) type Files = BTreeMap<String, String>;

/// One module, inline or a file of its own.
pub(crate) struct Module {
    /// `["env", "pddl"]`; the root has none.
    pub(crate) path: Vec<String>,
    pub(crate) file: String,
    pub(crate) items: Vec<Item>,
}

/// All that is compiled outside of tests.
pub(crate) struct SourceTree {
    /// The library.
    pub(crate) modules: Vec<Module>,
    /// The program's `main.rs`, which knows the library by its name.
    pub(crate) main: Option<Module>,
    /// Crates that a path may begin with.
    pub(crate) crates: BTreeSet<String>,
    /// What is wrong with the house itself.
    pub(crate) problems: Vec<String>,
    used: BTreeSet<String>,
}

/// The package.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a folder that end in `.rs`.
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

/// What of `src` there is.
pub(crate) fn files() -> Files {
    let src = root().join("src");
    let name = |p: &Path| p.strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/");
    sources(&src).iter().map(|p| (name(p), fs::read_to_string(p).unwrap())).collect()
}

/// The crates a path in the source may begin with: those of the language and the dependencies.
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

/// Whether an item is compiled for tests only.
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

fn attributes(item: &Item) -> &[Attribute] {
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
    /// The house as it stands on the disk.
    pub(crate) fn from_disk() -> Self {
        Self::from_files(&files())
    }

    pub(crate) fn from_files(files: &Files) -> Self {
        let mut house = Self {
            modules: Vec::new(),
            main: None,
            crates: crates(),
            problems: Vec::new(),
            used: BTreeSet::new(),
        };
        if files.contains_key("main.rs") {
            let before = house.modules.len();
            house.read_module(files, "main.rs", &[], false);
            let mut parts = house.modules.split_off(before);
            if parts.len() > 1 {
                house.problems.push("main.rs: the program is thin and has no modules of its own".to_owned());
            }
            house.main = parts.pop();
        }
        house.read_module(files, "lib.rs", &[], false);
        for file in files.keys().filter(|f| !house.used.contains(*f)) {
            house.problems.push(format!("{file}: no `mod` leads here"));
        }
        house
    }

    fn read_module(&mut self, files: &Files, file: &str, path: &[String], tests: bool) {
        self.used.insert(file.to_owned());
        let text = files.get(file).map_or("", String::as_str);
        let parsed = syn::parse_file(text).unwrap_or_else(|e| panic!("{file}: {e}"));
        let tests = tests || is_for_tests(&parsed.attrs);
        self.add_module(files, file, path, parsed.items, tests);
    }

    /// Takes a module in; modules of tests are walked for their files only.
    fn add_module(&mut self, files: &Files, file: &str, path: &[String], items: Vec<Item>, tests: bool) {
        let (mut own, mut below) = (Vec::new(), Vec::new());
        for item in items {
            let tests = tests || is_for_tests(attributes(&item));
            match item {
                Item::Mod(module) => below.push((module, tests)),
                item if !tests => own.push(item),
                _ => {}
            }
        }
        if !tests {
            self.modules.push(Module { path: path.to_vec(), file: file.to_owned(), items: own });
        }
        for (module, tests) in below {
            let name = module.ident.to_string();
            let Some(inner) = Self::module_path(file, path, &module) else {
                self.problems.push(format!("{file}: `mod {name}` names a path of its own"));
                continue;
            };
            let next = format!("{}.rs", inner.join("/"));
            if let Some((_, items)) = module.content {
                self.add_module(files, file, &inner, items, tests);
            } else if files.contains_key(&next) {
                self.read_module(files, &next, &inner, tests);
            } else {
                self.problems.push(format!("{file}: there is no {next}"));
            }
        }
    }

    /// Where a module lies. A `#[path]` may lead to another file of the same room, which is then judged as that file.
    fn module_path(file: &str, path: &[String], module: &syn::ItemMod) -> Option<Vec<String>> {
        let Some(attribute) = module.attrs.iter().find(|a| a.path().is_ident("path")) else {
            return Some(path.iter().cloned().chain([module.ident.to_string()]).collect());
        };
        let Meta::NameValue(pair) = &attribute.meta else { return None };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(to), .. }) = &pair.value else { return None };
        let folder = file.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let place: Vec<String> =
            format!("{folder}{}", to.value()).strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
        (place.first() == path.first() && place.iter().all(|p| p != "..")).then_some(place)
    }
}
