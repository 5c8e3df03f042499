//! The walls of the house, read from the source as text (docs/ARCHITECTURE.md).

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms from the inside out; a room may speak of rooms with a smaller number, and of itself.
const RANKS: &[(&str, u8)] = &[
    ("text", 0),
    ("domain", 0),
    ("engine", 1),
    ("prompt", 2),
    ("symbolic", 2),
    ("pddl", 2),
    ("env", 3),
    ("timeline", 2),
    ("report", 3),
    ("method", 4),
    ("journal", 5),
    ("provider", 5),
    ("driver", 6),
    ("ui", 7),
    ("cli", 8),
];

/// Rooms that touch nothing outside.
const PURE: &[&str] =
    &["text", "domain", "engine", "prompt", "symbolic", "pddl", "env", "timeline", "report", "method"];

const OUTSIDE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::process",
    "tokio::",
    "reqwest",
    "Instant::now",
    "SystemTime",
    "Timestamp::now",
    "rand::rng",
    "thread_rng",
];

fn sources(dir: &Path) -> Vec<PathBuf> {
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

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn room(path: &Path) -> String {
    let inside = path.strip_prefix(root().join("src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

fn is_test(path: &Path) -> bool {
    path.components().any(|c| c.as_os_str() == "tests")
        || path.file_name().is_some_and(|n| n == "tests.rs" || n == "fixture.rs")
}

/// The text without comments and without the test module at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
    text.lines().map(|l| l.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

#[test]
fn arrows_point_inwards() {
    let mut wrong = Vec::new();
    for path in sources(&root().join("src")) {
        let here = room(&path);
        if is_test(&path) || here == "lib" || here == "main" {
            continue;
        }
        let Some((_, rank)) = RANKS.iter().find(|(name, _)| *name == here) else {
            wrong.push(format!("{}: a room without a place in the house", path.display()));
            continue;
        };
        let text = code(&path);
        for (other, outer) in RANKS {
            let names =
                [format!("crate::{other}::"), format!("crate::{other};"), format!("crate::{{{other}")];
            if *other != here && outer >= rank && names.iter().any(|n| text.contains(n)) {
                // A provider is asked by the driver; both it and the journal are on one floor and do not meet.
                wrong.push(format!("{}: {here} must not know {other}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pure_rooms_touch_nothing_outside() {
    let mut wrong = Vec::new();
    for path in sources(&root().join("src")) {
        if !PURE.contains(&room(&path).as_str())
            || is_test(&path)
            || path.to_string_lossy().contains("env/external")
        {
            continue;
        }
        let text = code(&path);
        for name in OUTSIDE {
            if text.contains(name) {
                wrong.push(format!("{}: names {name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_outer_rooms_open_files() {
    let allowed = ["journal", "provider", "driver", "cli", "main"];
    let mut wrong = Vec::new();
    for path in sources(&root().join("src")) {
        if is_test(&path)
            || allowed.contains(&room(&path).as_str())
            || path.to_string_lossy().contains("env/external")
        {
            continue;
        }
        for name in ["std::fs", "File::open", "File::create", "TcpStream"] {
            if code(&path).contains(name) {
                wrong.push(format!("{}: names {name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_are_rooms_not_halls() {
    let long: Vec<String> = sources(&root().join("src"))
        .into_iter()
        .filter_map(|path| {
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            (lines > 400).then(|| format!("{}: {lines} lines", path.display()))
        })
        .collect();
    assert!(long.is_empty(), "above 400 lines:\n{}", long.join("\n"));
}

#[test]
fn only_apply_changes_the_state() {
    let wrong: Vec<String> = sources(&root().join("src/engine"))
        .into_iter()
        .filter(|p| !is_test(p) && p.file_name().is_some_and(|n| n != "apply.rs"))
        .filter(|p| code(p).contains("&mut State"))
        .map(|p| p.display().to_string())
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn modules_have_no_mod_rs_and_say_why_they_exist() {
    for path in sources(&root().join("src")) {
        assert!(path.file_name().unwrap() != "mod.rs", "{}", path.display());
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//!"), "{} begins without its reason", path.display());
    }
}
