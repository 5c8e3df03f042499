//! What the walls must notice: each a file that once stood, or could stand, in the house without a word.

use crate::rules::Findings;
use crate::source_tree::{Files, SourceTree};

/// A small house in which everything is right.
fn check_sample(extra: &[(&str, &str)]) -> Findings {
    let mut files = Files::from(
        [
            (
                "lib.rs",
                "pub mod cli; pub mod domain; pub mod driver; pub mod engine; pub mod env; pub mod provider; pub mod ui;",
            ),
            ("main.rs", "fn main() { retrospect::cli::run() }"),
            ("cli.rs", "pub fn run() { crate::ui::x(); std::fs::read(\"x\"); }"),
            ("domain.rs", "pub struct Seq; pub struct Turn { pub truth: u8 }"),
            ("driver.rs", "pub fn now() { jiff::Timestamp::now(); }"),
            ("engine.rs", "mod apply; mod state; mod x; pub use state::State;\npub trait Method {}"),
            ("engine/apply.rs", "use super::State; impl State { pub fn apply(&mut self) {} }"),
            ("engine/state.rs", "pub struct State { pub a: u8 } impl State { pub fn a(&self) -> u8 { self.a } }"),
            ("engine/x.rs", ""),
            ("env.rs", "pub trait Environment {}"),
            ("provider.rs", "pub mod rules; pub mod openai; pub trait Provider {}"),
            ("provider/openai.rs", "pub struct Key;"),
            ("provider/rules.rs", "use crate::domain::Seq; use super::Provider; pub struct Mind(Seq);"),
            ("ui.rs", "pub mod app; pub mod overlay; pub fn x() {} pub fn now() { std::time::Instant::now(); }"),
            ("ui/app.rs", "pub struct Looks; pub type Clock = std::time::Instant;"),
            ("ui/overlay.rs", "pub trait Overlay {}"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned())),
    );
    files.extend(extra.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
    Findings::from_tree(&SourceTree::from_files(&files))
}

fn all_findings(found: &Findings) -> [(&'static str, &Vec<String>); 5] {
    [
        ("house", &found.structure),
        ("arrows", &found.dependencies),
        ("outside", &found.side_effects),
        ("state", &found.state),
        ("truth", &found.truth),
    ]
}

#[test]
fn a_valid_sample_has_no_findings() {
    for (wall, wrong) in all_findings(&check_sample(&[])) {
        assert!(wrong.is_empty(), "{wall}: {wrong:?}");
    }
    // Words in comments and strings, locals and tests are no paths.
    let quiet = "//! crate::ui::x\n/* std::fs */ /* let s = \" */\nuse crate::domain::{self, Seq};\n\
        pub fn f(fs: u8, process: u8) -> u8 { let _ = \"crate::ui::x() // &mut State\"; let _ = r#\"\"std::fs\"#; fs + process }\n\
        #[cfg(test)]\nmod tests { use crate::ui::app::Looks; fn f() { std::fs::read(\"x\"); } }\n\
        #[cfg(all(test, unix))]\nfn g() { std::thread::sleep(x) }";
    for (wall, wrong) in all_findings(&check_sample(&[("engine/x.rs", quiet)])) {
        assert!(wrong.is_empty(), "{wall}: {wrong:?}");
    }
}

/// Where a trick stands, what it says, which wall must notice it, and what the wall must say.
const VIOLATIONS: &[(&str, &str, &str, &str)] = &[
    // Ways to say the name of a room.
    ("engine/x.rs", "use super::super::ui::app::Looks;", "arrows", "engine must not know ui"),
    ("engine/x.rs", "use crate as house; fn f() { house::cli::run() }", "arrows", "engine must not know cli"),
    ("engine/x.rs", "fn f() { retrospect::driver::now() }", "arrows", "engine must not know driver"),
    ("engine/x.rs", "fn f() { ::retrospect::driver::now() }", "arrows", "engine must not know driver"),
    (
        "engine/x.rs",
        "extern crate self as me; fn f() { me::driver::now() }",
        "arrows",
        "engine must not know driver",
    ),
    (
        "engine/x.rs",
        "fn f() { let _ = \"http://\"; crate::ui::x() }",
        "arrows",
        "x.rs:1: engine must not know ui",
    ),
    ("engine/x.rs", "fn f() { let _ = '\"'; crate::ui::x() }", "arrows", "engine must not know ui"),
    ("engine/x.rs", "use crate::{domain::Seq, ui::{self, app}};", "arrows", "engine must not know ui"),
    ("engine/x.rs", "use crate::*; fn f() { ui::x() }", "arrows", "engine must not know ui"),
    (
        "engine/x.rs",
        "use self::super::super::{ui as you}; fn f() { you::x() }",
        "arrows",
        "engine must not know ui",
    ),
    ("engine/x.rs", "fn f() { println!(\"{}\", crate::ui::x()) }", "arrows", "engine must not know ui"),
    ("engine/x.rs", "macro_rules! m { () => { $crate::ui::x() } }", "arrows", "engine must not know ui"),
    (
        "engine/x.rs",
        "fn f() -> impl Into<<crate::ui::app::Looks as Any>::X> {}",
        "arrows",
        "engine must not know ui",
    ),
    ("engine/x.rs", "#[serde(with = \"crate::ui::app\")] struct S;", "arrows", "engine must not know ui"),
    ("engine/x.rs", "mod inner { use super::super::super::ui::x; }", "arrows", "engine must not know ui"),
    ("domain.rs", "pub use crate::ui::app::Looks;", "arrows", "domain must not know ui"),
    ("provider/rules.rs", "use super::openai::Key;", "arrows", "provider/rules must not know provider"),
    ("provider/rules.rs", "use crate::engine::State;", "arrows", "provider/rules must not know engine"),
    ("provider/rules.rs", "fn f(s: &Segment) { s.origin; }", "truth", "reads `origin`"),
    ("main.rs", "fn main() { retrospect::driver::now() }", "arrows", "main.rs:1"),
    // Ways outside.
    ("engine/x.rs", "use std::{fs, process}; fn f() { fs::read(\"x\"); }", "outside", "std::fs"),
    ("engine/x.rs", "fn f() { std::env::var(\"X\"); }", "outside", "std::env::var"),
    ("engine/x.rs", "fn f() { std::io::stdin(); }", "outside", "std::io::stdin"),
    ("engine/x.rs", "use std::thread; fn f() { thread::sleep(x) }", "outside", "std::thread::sleep"),
    (
        "engine/x.rs",
        "use std::time::Instant as I; fn f() { I::now(); }",
        "outside",
        "std::time::Instant::now",
    ),
    ("engine/x.rs", "use jiff::Timestamp as T; fn f() { T::now(); }", "outside", "jiff::Timestamp::now"),
    ("engine/x.rs", "type T = jiff::Timestamp; fn f() { T::now(); }", "outside", "jiff::Timestamp::now"),
    ("engine/x.rs", "use std as s; fn f() { s::fs::read(\"x\"); }", "outside", "std::fs::read"),
    ("engine/x.rs", "use std::*; fn f() { fs::read(\"x\"); }", "outside", "std::fs::read"),
    ("engine/x.rs", "fn f() { tokio::fs::read(\"x\"); }", "outside", "tokio::fs"),
    ("engine/x.rs", "fn f() { vec![::std::net::TcpStream::connect(x)] }", "outside", "std::net"),
    ("ui/app.rs", "fn f() { std::fs::read(\"x\"); }", "outside", "ui must not touch std::fs"),
    ("ui/app.rs", "use jiff::Timestamp; fn f() { Timestamp::now(); }", "outside", "jiff::Timestamp::now"),
    // Ways to change the state.
    ("engine/x.rs", "use super::State; impl State { fn poke(self: &mut Self) {} }", "state", "gives State"),
    ("engine/x.rs", "use super::State; impl State { fn poke(&mut self) {} }", "state", "gives State"),
    ("engine/x.rs", "use super::State; impl State { fn poke(it: &mut Self) {} }", "state", "gives State"),
    ("engine/x.rs", "impl Drop for super::state::State { fn drop(&mut self) {} }", "state", "gives State"),
    ("engine/x.rs", "fn g(state: &mut super::State) {}", "state", "takes `&mut State`"),
    ("engine/x.rs", "use super::State; type S = State; fn g(s: &mut S) {}", "state", "takes `&mut State`"),
    ("engine/x.rs", "use super::State as S; fn g<'a>(s: &'a mut S) {}", "state", "takes `&mut State`"),
    ("engine/x.rs", "use super::*; fn g(s: &mut [State]) {}", "state", "takes `&mut State`"),
    ("driver.rs", "fn g(s: &mut crate::engine::State) {}", "state", "takes `&mut State`"),
    ("driver.rs", "impl D { fn g(&mut self) { self.engine.state.a += 1; } }", "state", "writes to a state"),
    (
        "driver.rs",
        "impl D { fn g(&mut self) { take(&mut self.engine.state); } }",
        "state",
        "writes to a state",
    ),
    // A fourth joint.
    // The truth.
    ("provider/rules.rs", "fn f(t: Turn) { let Turn { truth, .. } = t; }", "truth", "reads `truth`"),
    ("provider/rules.rs", "fn f(t: Turn) { vec![t.truth]; }", "truth", "reads `truth`"),
    // Names that were exempt by their look alone.
    (
        "engine.rs",
        "mod apply; mod state; pub use state::State; pub mod x; pub mod fixture;",
        "outside",
        "std::fs",
    ),
    (
        "engine.rs",
        "mod apply; mod state; pub use state::State; pub mod x; pub mod tests;",
        "outside",
        "std::fs",
    ),
    (
        "engine.rs",
        "mod apply; mod state; pub use state::State; pub mod x; #[path = \"../ui/app.rs\"] mod y;",
        "house",
        "path of its own",
    ),
    ("engine/x.rs", "include!(\"../ui/app.rs\");", "house", "include!"),
    ("engine/stray.rs", "", "house", "no `mod` leads here"),
];

#[test]
fn every_violation_is_found() {
    for (file, text, wall, says) in VIOLATIONS {
        let mut extra = vec![(*file, *text)];
        for name in ["fixture", "tests"] {
            if text.contains(&format!("mod {name};")) {
                extra.push((
                    if name == "tests" { "engine/tests.rs" } else { "engine/fixture.rs" },
                    "fn f() { std::fs::read(\"x\"); }",
                ));
            }
        }
        let found = check_sample(&extra);
        let walls = all_findings(&found);
        let (_, wrong) = walls.iter().find(|(name, _)| name == wall).unwrap();
        assert!(wrong.iter().any(|w| w.contains(says)), "{file}: {text}\nwas not noticed: {walls:?}");
    }
}
