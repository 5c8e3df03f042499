//! The walls: who may know whom, who may touch what is outside, who may change the state.

use crate::module_facts::{ModuleFacts, WrittenPath};
use crate::name_resolution::Resolver;
use crate::source_tree::{Module, SourceTree};

/// Who may know whom, besides themselves. The table of docs/ARCHITECTURE.md says the same, row for row.
pub(crate) const MODULE_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("signals", &[]),
    ("domain", &[]),
    ("files", &[]),
    ("engine", &["domain"]),
    ("timeline", &["engine", "domain"]),
    ("prompt", &["engine", "domain", "text"]),
    ("grid", &[]),
    ("symbolic", &["grid", "engine", "domain"]),
    ("breakpoint", &["engine", "domain"]),
    ("pddl", &[]),
    ("env", &["pddl", "domain"]),
    ("report", &["engine", "domain", "text"]),
    ("method", &["prompt", "symbolic", "breakpoint", "engine", "domain"]),
    ("journal", &["files", "timeline", "engine", "domain"]),
    ("provider", &["files", "timeline", "engine", "domain", "text"]),
    ("provider/rules", &["grid", "env", "pddl", "domain", "text"]),
    (
        "driver",
        &["provider", "journal", "files", "timeline", "method", "prompt", "env", "pddl", "engine", "domain"],
    ),
    (
        "ui",
        &[
            "driver",
            "report",
            "provider",
            "method",
            "timeline",
            "prompt",
            "symbolic",
            "breakpoint",
            "env",
            "engine",
            "domain",
            "signals",
            "text",
        ],
    ),
    (
        "cli",
        &[
            "ui",
            "driver",
            "provider",
            "journal",
            "files",
            "report",
            "timeline",
            "method",
            "prompt",
            "breakpoint",
            "env",
            "engine",
            "domain",
            "signals",
            "text",
        ],
    ),
];

/// What a room inside of a room may name of the house around it: the trait it is behind, no more.
const PARENT_ITEMS: &[(&str, &[&str])] = &[(
    "provider/rules",
    &["Delta", "Phase", "Provider", "ProviderError", "Request", "error::ProviderError"],
)];

/// What every room may use of other crates, as beginnings of paths. Nothing of it reaches outside.
const PURE_PATHS: &[&str] = &[
    "std::any",
    "std::array",
    "std::ascii",
    "std::borrow",
    "std::boxed",
    "std::cell",
    "std::char",
    "std::cmp",
    "std::collections",
    "std::convert",
    "std::error",
    "std::f64",
    "std::fmt",
    "std::hash",
    "std::hint",
    "std::iter",
    "std::marker",
    "std::mem",
    "std::num",
    "std::ops",
    "std::option",
    "std::rc",
    "std::result",
    "std::slice",
    "std::str",
    "std::string",
    "std::sync",
    "std::time::Duration",
    "std::vec",
    "jiff",
    "regex",
    "rpds",
    "serde",
    "serde_json",
    "sha2",
    "thiserror",
];

/// What a room may use beyond `PURE`; `*` is everything.
const EXTRA_PATHS: &[(&str, &[&str])] = &[
    ("text", &["unicode_segmentation", "unicode_width"]),
    ("files", &["std::fs", "std::io", "std::os", "std::path", "std::process::id", "rustix"]),
    ("prompt", &["toml"]),
    ("env", &["rand_chacha", "toml"]),
    ("report", &["unicode_width", "ratatui", "rand_chacha", "toml"]),
    (
        "journal",
        &[
            "std::fs",
            "std::io",
            "std::os",
            "std::path",
            "std::process::id",
            "std::thread",
            "std::time::UNIX_EPOCH",
            "toml",
        ],
    ),
    ("signals", &["*"]),
    ("provider", &["*"]),
    ("provider/rules", &["futures_util", "tokio::time::sleep", "toml"]),
    ("driver", &["*"]),
    (
        "ui",
        &[
            "crossterm",
            "futures_util",
            "nucleo_matcher",
            "ratatui",
            "rustix",
            "similar",
            "std::future",
            "std::io",
            "std::panic",
            "std::path",
            "std::thread",
            "std::time::Instant",
            "tokio::spawn",
            "tokio::select",
            "tokio::signal",
            "tokio::sync",
            "tokio::time",
            "toml",
            "tui_textarea",
            "unicode_segmentation",
        ],
    ),
    ("cli", &["*"]),
    ("", &["std::process::ExitCode", "std::env::args_os"]),
];

/// Clocks by the end of their path, and who may read them.
const CLOCKS: &[(&str, &[&str])] = &[
    ("Timestamp::now", &["driver"]),
    ("Zoned::now", &["driver"]),
    ("SystemTime::now", &["driver"]),
    // A provider measures how long a call takes; what is journaled is stamped by the driver.
    ("Instant::now", &["driver", "provider", "signals", "ui", "cli"]),
];

/// Files outside of `engine/apply` that may hold a state to change it: they fold events onto one, or put its long lists apart.
const FOLDING_FILES: &[&str] = &["timeline/fold_plan.rs", "journal/checkpoints/checkpoint_file.rs"];

/// Rooms that write what an agent is shown.
const AGENT_SIDE_MODULES: &[&str] = &["symbolic", "prompt", "method", "provider/rules"];

pub(crate) type Violations = Vec<String>;

/// What is wrong with a house, wall by wall.
pub(crate) struct Findings {
    pub(crate) structure: Violations,
    pub(crate) dependencies: Violations,
    pub(crate) side_effects: Violations,
    pub(crate) state: Violations,
    pub(crate) truth: Violations,
}

impl Findings {
    pub(crate) fn from_tree(house: &SourceTree) -> Self {
        let names = Resolver::for_tree(house);
        let mut found = Self {
            structure: house.problems.clone(),
            dependencies: Vec::new(),
            side_effects: Vec::new(),
            state: Vec::new(),
            truth: Vec::new(),
        };
        for (module, look) in names.modules() {
            found.structure.extend(look.problems.iter().map(|odd| format!("{}:{odd}", module.file)));
            found.check_paths(&names, module, look);
            found.check_state_changes(&names, module, look);
            let room = module_group(&module.path);
            for (word, line) in look.words.iter().filter(|(word, _)| word == "truth" || word == "origin") {
                let blind = word == "truth" && AGENT_SIDE_MODULES.contains(&room.as_str());
                // The built-in actor reads the labels of segments and their text, as a model would.
                if blind || word == "origin" && room == "provider/rules" {
                    found.truth.push(format!("{}:{line}: {room} reads `{word}`", module.file));
                }
            }
        }
        if let Some(main) = &house.main {
            for named in ModuleFacts::of_module(main).paths {
                let own = named.words.first().is_some_and(|w| w == "retrospect");
                if own && named.words.get(1).is_none_or(|w| w != "cli") {
                    found.dependencies.push(format!("main.rs:{}: the program knows `cli` alone", named.line));
                }
            }
        }
        found
    }

    fn check_paths(&mut self, names: &Resolver, module: &Module, look: &ModuleFacts) {
        let room = module_group(&module.path);
        let row = MODULE_DEPENDENCIES.iter().find(|(name, _)| *name == room);
        if row.is_none() && !room.is_empty() {
            self.dependencies.push(format!("{}: {room} has no row in the table of rooms", module.file));
        }
        for WrittenPath { words, line } in &look.paths {
            for full in names.meanings(&module.path, words) {
                let said = full.join("::");
                let place = format!("{}:{line}", module.file);
                if full[0] != "crate" {
                    if !can_use(&room, &said) {
                        self.side_effects.push(format!("{place}: {room} must not touch {said}"));
                    }
                    continue;
                }
                let there = module_group(&full[1..]);
                let known = there == room
                    || room.is_empty()
                    || full.len() < 3 && there.is_empty()
                    || row.is_some_and(|(_, known)| known.iter().any(|k| has_path_prefix(&there.replace('/', "::"), k)))
                    || is_parent_item(&room, &full[1..])
                    // The house around a room knows it.
                    || there.starts_with(&format!("{room}/"));
                if !known {
                    self.dependencies.push(format!("{place}: {room} must not know {there} ({said})"));
                }
            }
        }
    }

    fn check_state_changes(&mut self, names: &Resolver, module: &Module, look: &ModuleFacts) {
        let folds = module.path.starts_with(&["engine".to_owned(), "apply".to_owned()]);
        if folds || FOLDING_FILES.contains(&module.file.as_str()) {
            return;
        }
        for (named, how) in look
            .mutably_taken
            .iter()
            .map(|n| (n, "takes"))
            .chain(look.mutating_impls.iter().map(|n| (n, "gives")))
        {
            let is = |full: &Vec<String>| full.join("::") == "crate::engine::state::State";
            if names.meanings(&module.path, &named.words).iter().any(is) {
                let what = if how == "takes" {
                    "takes `&mut State`"
                } else {
                    "gives State a method that changes it"
                };
                self.state
                    .push(format!("{}:{}: {what}; only apply changes the state", module.file, named.line));
            }
        }
        let room = module_group(&module.path);
        for named in look.written.iter().filter(|_| ["engine", "driver"].contains(&room.as_str())) {
            // `self.state.x = ...` and `&mut self.engine.state`; a local is a copy, or has come by `&mut`.
            let here = room == "driver" || named.words.first().is_some_and(|w| w == "self");
            if here && named.words.iter().skip(1).any(|w| w == "state") {
                self.state.push(format!("{}:{}: writes to a state in place", module.file, named.line));
            }
        }
    }
}

/// The room a module is in; a room inside of a room counts for itself.
fn module_group(path: &[String]) -> String {
    let joined = path.join("/");
    let mut inner = MODULE_DEPENDENCIES.iter().map(|(name, _)| *name).filter(|n| n.contains('/'));
    let found = inner.find(|n| joined == *n || joined.starts_with(&format!("{n}/")));
    found.map_or_else(|| path.first().cloned().unwrap_or_default(), str::to_owned)
}

fn has_path_prefix(said: &str, with: &str) -> bool {
    said.strip_prefix(with).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn can_use(room: &str, said: &str) -> bool {
    let said = said.replacen("core::", "std::", 1).replacen("alloc::", "std::", 1);
    let clock = CLOCKS.iter().find(|(end, _)| said.ends_with(end));
    let beyond = EXTRA_PATHS.iter().find(|(name, _)| *name == room).map_or(&[][..], |(_, list)| list);
    // `use std::{fs, process}` names its parts; a crate or a module alone gives nothing yet.
    let harmless = ["std", "std::time", "tokio", "std::env", "std::process"].contains(&said.as_str())
        && beyond.iter().any(|b| has_path_prefix(b, &said))
        || said == "std";
    clock.is_none_or(|(_, who)| who.contains(&room))
        && (harmless
            || beyond.contains(&"*")
            || PURE_PATHS.iter().chain(beyond).any(|b| has_path_prefix(&said, b)))
}

fn is_parent_item(room: &str, full: &[String]) -> bool {
    let Some((outer, _)) = room.split_once('/') else { return false };
    let door = PARENT_ITEMS.iter().find(|(name, _)| *name == room).map_or(&[][..], |(_, list)| list);
    let rest = full[1..].join("::");
    full[0] == outer && (rest.is_empty() || door.iter().any(|d| has_path_prefix(&rest, d)))
}
