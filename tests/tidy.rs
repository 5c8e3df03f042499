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

/// The rooms a text speaks of, by path or in the braces of a `use`.
fn rooms_named(text: &str) -> Vec<String> {
    let mut named = Vec::new();
    for rest in text.split("crate::").skip(1) {
        let Some(inside) = rest.strip_prefix('{') else {
            named.push(rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_owned());
            continue;
        };
        let (mut depth, mut word) = (0_u32, String::new());
        for c in inside.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => named.push(std::mem::take(&mut word)),
                c if depth == 0 && !c.is_whitespace() => word.push(c),
                _ => {}
            }
        }
        named.push(word);
    }
    named.into_iter().map(|n| n.split("::").next().unwrap().to_owned()).filter(|n| !n.is_empty()).collect()
}

#[test]
fn every_name_in_the_braces_of_a_use_counts() {
    let named = rooms_named(
        "use crate::{\n    domain::{Seq, ui},\n    ui::app,\n};\nuse crate::text;\nfn x() { crate::cli::y() }",
    );
    assert_eq!(named, ["domain", "ui", "text", "cli"]);
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
        let known = rooms_named(&code(&path));
        for (other, outer) in RANKS {
            if *other != here && outer >= rank && known.iter().any(|k| k == other) {
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

/// Whether a text of the engine could change the state: it takes one to change, or gives it methods that do.
fn changes_state(text: &str) -> bool {
    let own = text
        .split("impl State {")
        .skip(1)
        .any(|rest| rest.split("\n}").next().is_some_and(|body| body.contains("(&mut self")));
    own || text.contains("&mut State") || text.contains("for State {") && text.contains("(&mut self")
}

#[test]
fn only_apply_changes_the_state() {
    assert!(changes_state("impl State {\n    fn x(&mut self) {}\n}\n"));
    assert!(!changes_state("impl State {\n    fn x(&self) {}\n}\nimpl Pool {\n    fn y(&mut self) {}\n}\n"));
    let inside = root().join("src/engine/apply");
    let wrong: Vec<String> = sources(&root().join("src/engine"))
        .into_iter()
        .filter(|p| !is_test(p) && !p.with_extension("").starts_with(&inside))
        .filter(|p| changes_state(&code(p)))
        .map(|p| p.display().to_string())
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Traits are the joints of the house, and three are enough; the screen's boxes have one of their own.
#[test]
fn three_traits_are_enough() {
    let mut found = Vec::new();
    for path in sources(&root().join("src")).iter().filter(|p| room(p) != "ui") {
        for line in code(path).lines() {
            let Some((before, name)) = line.split_once("trait ") else { continue };
            if ["", "pub", "pub(crate)", "pub(super)", "unsafe", "pub unsafe"].contains(&before.trim()) {
                found.push(name.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned());
            }
        }
    }
    found.sort();
    assert_eq!(found, ["Environment", "Method", "Provider"]);
}

/// What an agent is shown must not come from what only the world knows.
#[test]
fn nobody_who_writes_prompts_reads_the_truth() {
    for path in sources(&root().join("src")) {
        let reads = ["symbolic", "prompt", "method"].contains(&room(&path).as_str()) && !is_test(&path);
        assert!(!reads || !code(&path).contains(".truth"), "{} reads the truth", path.display());
    }
}

/// The words in pieces, so that this file does not hold them itself.
#[test]
fn no_file_names_the_place_it_was_made_in() {
    let words = [["/wo", "rk/"], ["tui-", "shot"], ["far", "m-"], [".lib", "rary"]].map(|w| w.concat());
    let mut folders = vec![root()];
    let mut wrong = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_symlink() || name == "target" || name == ".git" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            for word in &words {
                if bytes.windows(word.len()).any(|w| w == word.as_bytes()) {
                    wrong.push(format!("{}: names {word}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_have_no_mod_rs_and_say_why_they_exist() {
    for path in sources(&root().join("src")) {
        assert!(path.file_name().unwrap() != "mod.rs", "{}", path.display());
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//!"), "{} begins without its reason", path.display());
    }
}
