//! The walls: who may know whom, who may touch what is outside, who may change the state.

use crate::house::{House, Module};
use crate::look::{Look, Named};
use crate::names::Names;

/// Who may know whom, besides themselves. The table of docs/ARCHITECTURE.md says the same, row for row.
pub(crate) const ROOMS: &[(&str, &[&str])] = &[
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
const DOORS: &[(&str, &[&str])] = &[(
    "provider/rules",
    &["Delta", "Phase", "Provider", "ProviderError", "Request", "failure::ProviderError"],
)];

/// What every room may use of other crates, as beginnings of paths. Nothing of it reaches outside.
const PURE: &[&str] = &[
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
const BEYOND: &[(&str, &[&str])] = &[
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
const FOLDS: &[&str] = &["timeline/fold_plan.rs", "journal/checkpoints/page.rs"];

/// Rooms that write what an agent is shown.
const BLIND: &[&str] = &["symbolic", "prompt", "method", "provider/rules"];

pub(crate) type Wrongs = Vec<String>;

/// What is wrong with a house, wall by wall.
pub(crate) struct Findings {
    pub(crate) house: Wrongs,
    pub(crate) arrows: Wrongs,
    pub(crate) outside: Wrongs,
    pub(crate) state: Wrongs,
    pub(crate) truth: Wrongs,
}

impl Findings {
    pub(crate) fn of(house: &House) -> Self {
        let names = Names::of(house);
        let mut found = Self {
            house: house.odd.clone(),
            arrows: Vec::new(),
            outside: Vec::new(),
            state: Vec::new(),
            truth: Vec::new(),
        };
        for (module, look) in names.rooms() {
            found.house.extend(look.odd.iter().map(|odd| format!("{}:{odd}", module.file)));
            found.paths(&names, module, look);
            found.changes(&names, module, look);
            let room = room_of(&module.path);
            for (word, line) in look.words.iter().filter(|(word, _)| word == "truth" || word == "origin") {
                let blind = word == "truth" && BLIND.contains(&room.as_str());
                // The built-in actor reads the labels of segments and their text, as a model would.
                if blind || word == "origin" && room == "provider/rules" {
                    found.truth.push(format!("{}:{line}: {room} reads `{word}`", module.file));
                }
            }
        }
        if let Some(main) = &house.main {
            for named in Look::at(main).named {
                let own = named.words.first().is_some_and(|w| w == "retrospect");
                if own && named.words.get(1).is_none_or(|w| w != "cli") {
                    found.arrows.push(format!("main.rs:{}: the program knows `cli` alone", named.line));
                }
            }
        }
        found
    }

    fn paths(&mut self, names: &Names, module: &Module, look: &Look) {
        let room = room_of(&module.path);
        let row = ROOMS.iter().find(|(name, _)| *name == room);
        if row.is_none() && !room.is_empty() {
            self.arrows.push(format!("{}: {room} has no row in the table of rooms", module.file));
        }
        for Named { words, line } in &look.named {
            for full in names.meanings(&module.path, words) {
                let said = full.join("::");
                let place = format!("{}:{line}", module.file);
                if full[0] != "crate" {
                    if !may_use(&room, &said) {
                        self.outside.push(format!("{place}: {room} must not touch {said}"));
                    }
                    continue;
                }
                let there = room_of(&full[1..]);
                let known = there == room
                    || room.is_empty()
                    || full.len() < 3 && there.is_empty()
                    || row.is_some_and(|(_, known)| known.iter().any(|k| begins(&there.replace('/', "::"), k)))
                    || through_the_door(&room, &full[1..])
                    // The house around a room knows it.
                    || there.starts_with(&format!("{room}/"));
                if !known {
                    self.arrows.push(format!("{place}: {room} must not know {there} ({said})"));
                }
            }
        }
    }

    fn changes(&mut self, names: &Names, module: &Module, look: &Look) {
        let folds = module.path.starts_with(&["engine".to_owned(), "apply".to_owned()]);
        if folds || FOLDS.contains(&module.file.as_str()) {
            return;
        }
        for (named, how) in
            look.changed.iter().map(|n| (n, "takes")).chain(look.changing.iter().map(|n| (n, "gives")))
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
        let room = room_of(&module.path);
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
fn room_of(path: &[String]) -> String {
    let joined = path.join("/");
    let mut inner = ROOMS.iter().map(|(name, _)| *name).filter(|n| n.contains('/'));
    let found = inner.find(|n| joined == *n || joined.starts_with(&format!("{n}/")));
    found.map_or_else(|| path.first().cloned().unwrap_or_default(), str::to_owned)
}

fn begins(said: &str, with: &str) -> bool {
    said.strip_prefix(with).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn may_use(room: &str, said: &str) -> bool {
    let said = said.replacen("core::", "std::", 1).replacen("alloc::", "std::", 1);
    let clock = CLOCKS.iter().find(|(end, _)| said.ends_with(end));
    let beyond = BEYOND.iter().find(|(name, _)| *name == room).map_or(&[][..], |(_, list)| list);
    // `use std::{fs, process}` names its parts; a crate or a module alone gives nothing yet.
    let harmless = ["std", "std::time", "tokio", "std::env", "std::process"].contains(&said.as_str())
        && beyond.iter().any(|b| begins(b, &said))
        || said == "std";
    clock.is_none_or(|(_, who)| who.contains(&room))
        && (harmless || beyond.contains(&"*") || PURE.iter().chain(beyond).any(|b| begins(&said, b)))
}

fn through_the_door(room: &str, full: &[String]) -> bool {
    let Some((outer, _)) = room.split_once('/') else { return false };
    let door = DOORS.iter().find(|(name, _)| *name == room).map_or(&[][..], |(_, list)| list);
    let rest = full[1..].join("::");
    full[0] == outer && (rest.is_empty() || door.iter().any(|d| begins(&rest, d)))
}
