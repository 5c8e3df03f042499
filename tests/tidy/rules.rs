//! The module rules: dependencies, side effects, changes of the state, and reads of the ground truth.

use crate::module_facts::{ModuleFacts, WrittenPath};
use crate::name_resolution::Resolver;
use crate::source_tree::{Module, SourceTree};
use std::collections::{BTreeMap, BTreeSet};

/// The modules that each module may use besides itself, which are above it. A test compares this with the table of `docs/ARCHITECTURE.md`.
pub(crate) const MODULE_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("signals", &[]),
    ("actions", &[]),
    ("domain", &[]),
    ("files", &[]),
    ("engine", &["domain"]),
    ("timeline", &["engine", "domain"]),
    ("prompt", &["engine", "domain", "text"]),
    ("grid", &[]),
    ("rooms", &[]),
    ("symbolic", &["grid", "engine", "domain"]),
    ("breakpoint", &["engine", "domain", "text"]),
    ("lesson_test", &["breakpoint", "domain"]),
    ("pddl", &[]),
    ("bayes", &[]),
    ("prompter", &["bayes", "files"]),
    ("env", &["pddl", "domain", "text"]),
    ("env/external", &["files", "text"]),
    ("env/stdio", &["env/external", "domain", "text"]),
    ("env/miniwob", &["env/external", "files", "domain", "text"]),
    ("env/scienceworld", &["env/external", "rooms", "domain", "text"]),
    ("env/programming", &["env/external", "domain", "text"]),
    ("stand_in", &["grid", "rooms", "env", "pddl", "domain"]),
    ("method", &["bayes", "prompter", "prompt", "symbolic", "engine", "domain"]),
    (
        "catalog",
        &[
            "method",
            "prompter",
            "prompt",
            "stand_in",
            "symbolic",
            "env",
            "env/stdio",
            "env/miniwob",
            "env/scienceworld",
            "env/programming",
            "breakpoint",
            "engine",
            "domain",
        ],
    ),
    ("report", &["catalog", "timeline", "engine", "domain", "text"]),
    ("journal", &["files", "timeline", "engine", "domain", "text"]),
    ("provider", &["files", "stand_in", "timeline", "engine", "domain", "text"]),
    ("driver", &["provider", "journal", "files", "timeline", "catalog", "prompt", "env", "engine", "domain"]),
    (
        "ui",
        &[
            "driver",
            "report",
            "catalog",
            "method",
            "timeline",
            "prompt",
            "lesson_test",
            "breakpoint",
            "engine",
            "domain",
            "actions",
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
            "catalog",
            "method",
            "prompt",
            "lesson_test",
            "breakpoint",
            "env",
            "engine",
            "domain",
            "actions",
            "signals",
            "text",
        ],
    ),
];

/// The items of the parent module that a nested module may use: the trait it implements and what belongs to it.
pub(crate) const PARENT_ITEMS: &[(&str, &[&[&str]])] = &[
    ("env/external", &[&["EnvError", "StopHandle", "StopRegistration", "stop_handle"]]),
    (
        "env/stdio",
        &[ENVIRONMENT_ITEMS, &["ExternalProgram", "ProgramLimits", "Snapshot", "external_program"]],
    ),
    ("env/miniwob", &[ENVIRONMENT_ITEMS, &["task_name"]]),
    ("env/scienceworld", &[ENVIRONMENT_ITEMS, &["Label", "LabelSource", "label"]]),
    ("env/programming", &[ENVIRONMENT_ITEMS, &["labelled_rng", "parsed_file"]]),
];

/// What an environment in a folder of its own implements and is given.
const ENVIRONMENT_ITEMS: &[&str] = &[
    "EnvError",
    "Environment",
    "EnvironmentOption",
    "OptionValues",
    "TaskAccess",
    "TaskCheck",
    "TaskError",
    "TaskSource",
    "TimeLimits",
    "picture",
    "task_access",
    "task_error",
    "task_source",
    "time_limits",
];

/// Paths of other crates that every module may use, by prefix: none of them has side effects.
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
    "similar",
    "statrs",
    "strsim",
    "thiserror",
    "url",
];

/// Paths that a module may use in addition to [`PURE_PATHS`]; `*` means everything.
const EXTRA_PATHS: &[(&str, &[&str])] = &[
    ("text", &["unicode_segmentation", "unicode_width"]),
    (
        "files",
        &[
            "std::env::temp_dir",
            "std::fs",
            "std::io",
            "std::os",
            "std::path",
            "std::process::id",
            "rustix",
            "tempfile",
        ],
    ),
    ("bayes", &["cmaes", "libm", "nalgebra", "rand_chacha"]),
    (
        "prompter",
        &[
            "candle_core",
            "candle_nn",
            "candle_transformers",
            "libm",
            "std::fs",
            "std::io",
            "std::path",
            "tokenizers",
        ],
    ),
    ("prompt", &["toml"]),
    ("catalog", &["std::path", "toml"]),
    ("env", &["rand_chacha", "std::io::Error", "std::io::Result", "std::path", "toml"]),
    (
        "env/external",
        &[
            "reqwest",
            "rustix",
            "rustls",
            "std::env::split_paths",
            "std::env::var_os",
            "std::ffi",
            "std::io",
            "std::net",
            "std::os",
            "std::path",
            "std::process",
            "std::thread",
            "std::time::Instant",
            "tempfile",
            "zip",
        ],
    ),
    (
        "env/miniwob",
        &[
            "percent_encoding",
            "rustix",
            "std::env::split_paths",
            "std::env::var_os",
            "std::ffi",
            "std::io",
            "std::path",
            "std::thread",
            "std::time::Instant",
            "zip",
        ],
    ),
    ("env/scienceworld", &["std::ffi::OsString", "std::path"]),
    ("env/programming", &["rustix", "std::ffi::OsString", "std::path", "std::thread::sleep"]),
    ("report", &["unicode_width", "ratatui", "rand_chacha"]),
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
    ("stand_in", &["toml"]),
    ("driver", &["*"]),
    (
        "ui",
        &[
            "crossterm",
            "futures_util",
            "ratatui",
            "rustix",
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

/// Clocks by the end of their path, and the modules that may read them.
const CLOCKS: &[(&str, &[&str])] = &[
    ("Timestamp::now", &["driver"]),
    ("Zoned::now", &["driver"]),
    ("SystemTime::now", &["driver"]),
    // A provider measures the duration of a call; the timestamps of events come from the driver.
    ("Instant::now", &["driver", "env/external", "env/miniwob", "provider", "signals", "ui", "cli"]),
];

/// Files outside `engine/apply` that may take `&mut State`: they fold events, or store long lists separately.
const FOLDING_FILES: &[&str] = &["timeline/fold_plan.rs", "journal/checkpoints/checkpoint_file.rs"];

/// Modules that produce what an agent is shown.
const AGENT_SIDE_MODULES: &[&str] = &["symbolic", "prompt", "method", "stand_in"];

/// Returns the dependencies of a table on modules that aren't in a row above. A table without any has no circle.
pub(crate) fn upward_dependencies<T>(table: &[(&str, &[&str])], of_nested: &[(&str, T)]) -> Violations {
    let mut above = BTreeSet::new();
    let mut found = Vec::new();
    for (user, list) in table {
        // A nested module uses items of its parent.
        let parent = of_nested
            .iter()
            .find(|(nested, _)| nested == user)
            .and_then(|(nested, _)| nested.split_once('/'));
        for used in list.iter().copied().chain(parent.map(|(parent, _)| parent)) {
            if !above.contains(used) {
                found.push(format!("{user} uses {used}, which is not above it in the table"));
            }
        }
        above.insert(*user);
    }
    found
}

pub(crate) type Violations = Vec<String>;

/// The violations found in a source tree, by rule.
pub(crate) struct Findings {
    pub(crate) structure: Violations,
    pub(crate) dependencies: Violations,
    pub(crate) side_effects: Violations,
    pub(crate) state: Violations,
    pub(crate) truth: Violations,
    pub(crate) circles: Violations,
    /// The modules that use each other, as (user, used).
    used_dependencies: BTreeSet<(String, String)>,
}

/// The files that each file uses.
type FileUses = BTreeMap<String, BTreeSet<String>>;

impl Findings {
    pub(crate) fn from_tree(tree: &SourceTree) -> Self {
        let names = Resolver::for_tree(tree);
        let mut found = Self {
            structure: tree.problems.clone(),
            dependencies: Vec::new(),
            side_effects: Vec::new(),
            state: Vec::new(),
            truth: Vec::new(),
            circles: find_circles(&file_uses(tree, &names)),
            used_dependencies: BTreeSet::new(),
        };
        for (module, facts) in names.modules() {
            found.structure.extend(facts.problems.iter().map(|problem| format!("{}:{problem}", module.file)));
            found.check_paths(&names, module, facts);
            found.check_state_changes(&names, module, facts);
            let group = module_group(&module.path);
            for (word, line) in facts.idents.iter().filter(|(word, _)| word == "truth" || word == "origin") {
                let reads_truth = word == "truth" && AGENT_SIDE_MODULES.contains(&group.as_str());
                // The rule-based actor reads labels and text of segments, as a model would, but not their origin.
                if reads_truth || word == "origin" && group == "stand_in" {
                    found.truth.push(format!("{}:{line}: {group} reads `{word}`", module.file));
                }
            }
        }
        if let Some(main) = &tree.main {
            for named in ModuleFacts::of_module(main).paths {
                let is_own = named.segments.first().is_some_and(|w| w == "retrospect");
                if is_own && named.segments.get(1).is_none_or(|w| w != "cli") {
                    found
                        .dependencies
                        .push(format!("main.rs:{}: the program may use only `cli`", named.line));
                }
            }
        }
        found
    }

    /// Returns the dependencies that the table allows and no module has.
    pub(crate) fn unused_dependencies(&self) -> Violations {
        let allowed =
            MODULE_DEPENDENCIES.iter().flat_map(|(user, list)| list.iter().map(|used| (*user, *used)));
        let is_unused = |(user, used): &(&str, &str)| {
            !self.used_dependencies.contains(&((*user).to_owned(), (*used).to_owned()))
        };
        allowed
            .filter(is_unused)
            .map(|(user, used)| format!("{user} may depend on {used}, but doesn't: remove it from the table"))
            .collect()
    }

    fn check_paths(&mut self, names: &Resolver, module: &Module, facts: &ModuleFacts) {
        let group = module_group(&module.path);
        let row = MODULE_DEPENDENCIES.iter().find(|(name, _)| *name == group);
        if row.is_none() && !group.is_empty() {
            self.dependencies.push(format!("{}: {group} has no row in MODULE_DEPENDENCIES", module.file));
        }
        for WrittenPath { segments, line } in &facts.paths {
            for full in names.meanings(&module.path, segments) {
                let path = full.join("::");
                let location = format!("{}:{line}", module.file);
                if full[0] != "crate" {
                    if !can_use(&group, &path) {
                        self.side_effects.push(format!("{location}: {group} must not use {path}"));
                    }
                    continue;
                }
                let target = module_group(&full[1..]);
                self.used_dependencies.insert((group.clone(), target.clone()));
                let allowed = target == group
                    || group.is_empty()
                    || full.len() < 3 && target.is_empty()
                    || row.is_some_and(|(_, listed)| listed.contains(&target.as_str()))
                    || is_parent_item(&group, &full[1..]);
                if !allowed {
                    self.dependencies
                        .push(format!("{location}: {group} must not depend on {target} ({path})"));
                }
            }
        }
    }

    fn check_state_changes(&mut self, names: &Resolver, module: &Module, facts: &ModuleFacts) {
        let folds = module.path.starts_with(&["engine".to_owned(), "apply".to_owned()]);
        if folds || FOLDING_FILES.contains(&module.file.as_str()) {
            return;
        }
        for (named, adds_method) in facts
            .mutably_taken
            .iter()
            .map(|n| (n, false))
            .chain(facts.mutating_impls.iter().map(|n| (n, true)))
        {
            let is_state = |full: &Vec<String>| full.join("::") == "crate::engine::state::State";
            if names.meanings(&module.path, &named.segments).iter().any(is_state) {
                let action =
                    if adds_method { "adds a mutating method to State" } else { "takes `&mut State`" };
                self.state.push(format!(
                    "{}:{}: {action}; only engine/apply may change the state",
                    module.file, named.line
                ));
            }
        }
        let group = module_group(&module.path);
        for named in facts.written.iter().filter(|_| ["engine", "driver"].contains(&group.as_str())) {
            // `self.state.x = ...` and `&mut self.engine.state`. A local variable is a copy, or a `&mut` checked above.
            let is_shared = group == "driver" || named.segments.first().is_some_and(|w| w == "self");
            if is_shared && named.segments.iter().skip(1).any(|w| w == "state") {
                self.state.push(format!("{}:{}: changes a state in place", module.file, named.line));
            }
        }
    }
}

/// Returns which files each file uses. A re-exported item counts for the file that defines it.
fn file_uses(tree: &SourceTree, names: &Resolver) -> FileUses {
    let file_of: BTreeMap<&[String], &str> =
        tree.modules.iter().map(|m| (m.path.as_slice(), m.file.as_str())).collect();
    let mut uses = FileUses::new();
    for (module, facts) in names.modules() {
        let used = uses.entry(module.file.clone()).or_default();
        for named in &facts.paths {
            let meanings = names.meanings(&module.path, &named.segments);
            // The common part of a `use` is named, too: a module that contains this one.
            let own =
                meanings.iter().filter(|full| full[0] == "crate" && !module.path.starts_with(&full[1..]));
            let definition = own.max_by_key(|full| full.len());
            let mut prefixes =
                definition.into_iter().flat_map(|full| (1..=full.len()).rev().map(|n| &full[1..n]));
            let target = prefixes.find_map(|path| Some((path, file_of.get(path)?)));
            // What a file's parent defines for it and its siblings counts as part of the file.
            let target = target.filter(|(path, _)| !module.path.starts_with(path));
            used.extend(target.map(|(_, file)| (*file).to_owned()));
        }
    }
    uses
}

/// Returns the files that use each other in a circle, one finding per circle.
fn find_circles(uses: &FileUses) -> Violations {
    let reachable = |start: &String| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&String> = uses[start].iter().collect();
        while let Some(file) = open.pop() {
            if seen.insert(file) {
                open.extend(uses.get(file).into_iter().flatten());
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        uses.keys().map(|file| (file, reachable(file))).collect();
    let circle_of = |file: &String| -> BTreeSet<String> {
        let is_mutual = |other: &&&String| reached.get(**other).is_some_and(|back| back.contains(file));
        let others = reached[file].iter().filter(is_mutual);
        others.map(|other| (*other).clone()).chain([file.clone()]).collect()
    };
    let circles: BTreeSet<BTreeSet<String>> = uses.keys().map(circle_of).collect();
    let several = circles.iter().filter(|circle| circle.len() > 1);
    several.map(|circle| format!("files use each other in a circle: {circle:?}")).collect()
}

/// Returns the row of [`MODULE_DEPENDENCIES`] that a module belongs to: its top-level module, or a nested one with its
/// own row.
fn module_group(path: &[String]) -> String {
    let joined = path.join("/");
    let mut inner = MODULE_DEPENDENCIES.iter().map(|(name, _)| *name).filter(|n| n.contains('/'));
    let found = inner.find(|n| joined == *n || joined.starts_with(&format!("{n}/")));
    found.map_or_else(|| path.first().cloned().unwrap_or_default(), str::to_owned)
}

fn has_path_prefix(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn can_use(group: &str, path: &str) -> bool {
    let inside = path.strip_prefix("core::").or_else(|| path.strip_prefix("alloc::"));
    let path = inside.map_or_else(|| path.to_owned(), |inside| format!("std::{inside}"));
    let clock = CLOCKS.iter().find(|(end, _)| path.ends_with(end));
    let extra = EXTRA_PATHS.iter().find(|(name, _)| *name == group).map_or(&[][..], |(_, list)| list);
    // `use std::{fs, process}` also names `std`: a crate or a module alone is harmless.
    let harmless = ["std", "std::time", "tokio", "std::env", "std::process"].contains(&path.as_str())
        && extra.iter().any(|b| has_path_prefix(b, &path))
        || path == "std";
    clock.is_none_or(|(_, modules)| modules.contains(&group))
        && (harmless
            || extra.contains(&"*")
            || PURE_PATHS.iter().chain(extra).any(|b| has_path_prefix(&path, b)))
}

fn is_parent_item(group: &str, full: &[String]) -> bool {
    let Some((outer, _)) = group.split_once('/') else { return false };
    let items = PARENT_ITEMS.iter().find(|(name, _)| *name == group).map_or(&[][..], |(_, lists)| lists);
    let rest = full[1..].join("::");
    full[0] == outer
        && (rest.is_empty() || items.iter().copied().flatten().any(|item| has_path_prefix(&rest, item)))
}
