//! Violations that the rules must find. Each is a file that an earlier version of the checks accepted, or that a
//! check could easily miss.

use crate::rules::Findings;
use crate::source_tree::{Files, SourceTree};

/// Checks a small valid source tree with `extra` files added or replaced.
fn check_sample(extra: &[(&str, &str)]) -> Findings {
    let mut files = Files::from(
        [
            (
                "lib.rs",
                "pub mod cli; pub mod domain; pub mod driver; pub mod engine; pub mod env; pub mod provider; pub mod stand_in; pub mod ui;",
            ),
            ("main.rs", "fn main() { retrospect::cli::run() }"),
            ("cli.rs", "pub fn run() { crate::ui::x(); std::fs::read(\"x\"); }"),
            ("domain.rs", "pub struct Seq; pub struct StepResult { pub truth: u8 }"),
            ("driver.rs", "pub fn now() { jiff::Timestamp::now(); }"),
            ("engine.rs", "mod apply; mod state; mod x; pub use state::State;\npub trait Method {}"),
            ("engine/apply.rs", "use super::State; impl State { pub fn apply(&mut self) {} }"),
            ("engine/state.rs", "pub struct State { pub a: u8 } impl State { pub fn a(&self) -> u8 { self.a } }"),
            ("engine/x.rs", ""),
            ("env.rs", "pub mod external; mod game; mod task; mod world; pub use world::World; pub trait Environment {}"),
            ("env/external.rs", "pub struct ChildProcess(std::process::Child);"),
            ("env/game.rs", "use super::{Environment, World}; pub struct Game(World);"),
            ("env/task.rs", "pub struct Task(super::game::Game);"),
            ("env/world.rs", "pub struct World;"),
            ("provider.rs", "pub mod openai; pub trait Provider {}"),
            ("provider/openai.rs", "pub struct Key;"),
            ("stand_in.rs", "use crate::domain::Seq; pub struct RuleContext(Seq);"),
            ("ui.rs", "pub mod app; pub mod overlay; pub fn x() {} pub fn now() { std::time::Instant::now(); }"),
            ("ui/app.rs", "pub struct Style; pub type Clock = std::time::Instant;"),
            ("ui/overlay.rs", "pub trait Overlay {}"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned())),
    );
    files.extend(extra.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
    Findings::from_tree(&SourceTree::from_files(&files))
}

fn all_findings(found: &Findings) -> [(&'static str, &Vec<String>); 6] {
    [
        ("structure", &found.structure),
        ("dependencies", &found.dependencies),
        ("side effects", &found.side_effects),
        ("state", &found.state),
        ("truth", &found.truth),
        ("circles", &found.circles),
    ]
}

#[test]
fn a_valid_sample_has_no_findings() {
    for (rule, findings) in all_findings(&check_sample(&[])) {
        assert!(findings.is_empty(), "{rule}: {findings:?}");
    }
    // Words in comments, strings, local names and tests are not paths.
    let valid = "//! crate::ui::x\n/* std::fs */ /* let s = \" */\nuse crate::domain::{self, Seq};\n\
        pub fn f(fs: u8, process: u8) -> u8 { let _ = \"crate::ui::x() // &mut State\"; let _ = r#\"\"std::fs\"#; fs + process }\n\
        #[cfg(test)]\nmod tests { use crate::ui::app::Style; fn f() { std::fs::read(\"x\"); } }\n\
        #[cfg(all(test, unix))]\nfn g() { std::thread::sleep(x) }";
    for (rule, findings) in all_findings(&check_sample(&[("engine/x.rs", valid)])) {
        assert!(findings.is_empty(), "{rule}: {findings:?}");
    }
}

/// File, contents, the rule that must find the violation, and part of its message.
const VIOLATIONS: &[(&str, &str, &str, &str)] = &[
    // Forbidden modules, named in different ways.
    ("engine/x.rs", "use super::super::ui::app::Style;", "dependencies", "engine must not depend on ui"),
    (
        "engine/x.rs",
        "use crate as this; fn f() { this::cli::run() }",
        "dependencies",
        "engine must not depend on cli",
    ),
    (
        "engine/x.rs",
        "fn f() { retrospect::driver::now() }",
        "dependencies",
        "engine must not depend on driver",
    ),
    (
        "engine/x.rs",
        "fn f() { ::retrospect::driver::now() }",
        "dependencies",
        "engine must not depend on driver",
    ),
    (
        "engine/x.rs",
        "extern crate self as me; fn f() { me::driver::now() }",
        "dependencies",
        "engine must not depend on driver",
    ),
    (
        "engine/x.rs",
        "fn f() { let _ = \"http://\"; crate::ui::x() }",
        "dependencies",
        "x.rs:1: engine must not depend on ui",
    ),
    (
        "engine/x.rs",
        "fn f() { let _ = '\"'; crate::ui::x() }",
        "dependencies",
        "engine must not depend on ui",
    ),
    (
        "engine/x.rs",
        "use crate::{domain::Seq, ui::{self, app}};",
        "dependencies",
        "engine must not depend on ui",
    ),
    ("engine/x.rs", "use crate::*; fn f() { ui::x() }", "dependencies", "engine must not depend on ui"),
    (
        "engine/x.rs",
        "use self::super::super::{ui as screen}; fn f() { screen::x() }",
        "dependencies",
        "engine must not depend on ui",
    ),
    (
        "engine/x.rs",
        "fn f() { println!(\"{}\", crate::ui::x()) }",
        "dependencies",
        "engine must not depend on ui",
    ),
    (
        "engine/x.rs",
        "macro_rules! m { () => { $crate::ui::x() } }",
        "dependencies",
        "engine must not depend on ui",
    ),
    (
        "engine/x.rs",
        "fn f() -> impl Into<<crate::ui::app::Style as Any>::X> {}",
        "dependencies",
        "engine must not depend on ui",
    ),
    (
        "engine/x.rs",
        "#[serde(with = \"crate::ui::app\")] struct S;",
        "dependencies",
        "engine must not depend on ui",
    ),
    (
        "engine/x.rs",
        "mod inner { use super::super::super::ui::x; }",
        "dependencies",
        "engine must not depend on ui",
    ),
    ("domain.rs", "pub use crate::ui::app::Style;", "dependencies", "domain must not depend on ui"),
    (
        "stand_in.rs",
        "use crate::provider::openai::Key;",
        "dependencies",
        "stand_in must not depend on provider",
    ),
    ("stand_in.rs", "use crate::engine::State;", "dependencies", "stand_in must not depend on engine"),
    ("stand_in.rs", "fn f(s: &Segment) { s.origin; }", "truth", "reads `origin`"),
    ("main.rs", "fn main() { retrospect::driver::now() }", "dependencies", "main.rs:1"),
    // Side effects.
    ("engine/x.rs", "use std::{fs, process}; fn f() { fs::read(\"x\"); }", "side effects", "std::fs"),
    ("engine/x.rs", "fn f() { std::env::var(\"X\"); }", "side effects", "std::env::var"),
    ("engine/x.rs", "fn f() { std::io::stdin(); }", "side effects", "std::io::stdin"),
    ("engine/x.rs", "use std::thread; fn f() { thread::sleep(x) }", "side effects", "std::thread::sleep"),
    (
        "engine/x.rs",
        "use std::time::Instant as I; fn f() { I::now(); }",
        "side effects",
        "std::time::Instant::now",
    ),
    ("engine/x.rs", "use jiff::Timestamp as T; fn f() { T::now(); }", "side effects", "jiff::Timestamp::now"),
    ("engine/x.rs", "type T = jiff::Timestamp; fn f() { T::now(); }", "side effects", "jiff::Timestamp::now"),
    ("engine/x.rs", "use std as s; fn f() { s::fs::read(\"x\"); }", "side effects", "std::fs::read"),
    ("engine/x.rs", "use std::*; fn f() { fs::read(\"x\"); }", "side effects", "std::fs::read"),
    ("engine/x.rs", "fn f() { tokio::fs::read(\"x\"); }", "side effects", "tokio::fs"),
    ("engine/x.rs", "fn f() { vec![::std::net::TcpStream::connect(x)] }", "side effects", "std::net"),
    ("ui/app.rs", "fn f() { std::fs::read(\"x\"); }", "side effects", "ui must not use std::fs"),
    (
        "ui/app.rs",
        "use jiff::Timestamp; fn f() { Timestamp::now(); }",
        "side effects",
        "jiff::Timestamp::now",
    ),
    // Changes of the state.
    (
        "engine/x.rs",
        "use super::State; impl State { fn poke(self: &mut Self) {} }",
        "state",
        "adds a mutating method",
    ),
    (
        "engine/x.rs",
        "use super::State; impl State { fn poke(&mut self) {} }",
        "state",
        "adds a mutating method",
    ),
    (
        "engine/x.rs",
        "use super::State; impl State { fn poke(it: &mut Self) {} }",
        "state",
        "adds a mutating method",
    ),
    (
        "engine/x.rs",
        "impl Drop for super::state::State { fn drop(&mut self) {} }",
        "state",
        "adds a mutating method",
    ),
    ("engine/x.rs", "fn g(state: &mut super::State) {}", "state", "takes `&mut State`"),
    ("engine/x.rs", "use super::State; type S = State; fn g(s: &mut S) {}", "state", "takes `&mut State`"),
    ("engine/x.rs", "use super::State as S; fn g<'a>(s: &'a mut S) {}", "state", "takes `&mut State`"),
    ("engine/x.rs", "use super::*; fn g(s: &mut [State]) {}", "state", "takes `&mut State`"),
    ("driver.rs", "fn g(s: &mut crate::engine::State) {}", "state", "takes `&mut State`"),
    ("driver.rs", "impl D { fn g(&mut self) { self.engine.state.a += 1; } }", "state", "changes a state"),
    ("driver.rs", "impl D { fn g(&mut self) { take(&mut self.engine.state); } }", "state", "changes a state"),
    // Reads of the ground truth.
    ("stand_in.rs", "fn f(t: StepResult) { let StepResult { truth, .. } = t; }", "truth", "reads `truth`"),
    ("stand_in.rs", "fn f(t: StepResult) { vec![t.truth]; }", "truth", "reads `truth`"),
    // A nested module with a row of its own is not part of its parent.
    (
        "env/task.rs",
        "use super::external::ChildProcess;",
        "dependencies",
        "env must not depend on env/external",
    ),
    (
        "stand_in.rs",
        "use crate::env::external::ChildProcess;",
        "dependencies",
        "stand_in must not depend on env/external",
    ),
    (
        "env/external.rs",
        "use crate::env::game::Game;",
        "dependencies",
        "env/external must not depend on env (crate::env::game::Game)",
    ),
    ("env/external.rs", "fn f() { std::fs::read(\"x\"); }", "side effects", "std::fs"),
    // Files that use each other in a circle, through a re-export and through a third file.
    (
        "env/world.rs",
        "use super::game::Game; pub struct World(Game);",
        "circles",
        "{\"env/game.rs\", \"env/world.rs\"}",
    ),
    (
        "env/world.rs",
        "pub struct World(crate::env::task::Task);",
        "circles",
        "{\"env/game.rs\", \"env/task.rs\", \"env/world.rs\"}",
    ),
    // Files that earlier checks exempted because of their names.
    (
        "engine.rs",
        "mod apply; mod state; pub use state::State; pub mod x; pub mod fixture;",
        "side effects",
        "std::fs",
    ),
    (
        "engine.rs",
        "mod apply; mod state; pub use state::State; pub mod x; pub mod tests;",
        "side effects",
        "std::fs",
    ),
    (
        "engine.rs",
        "mod apply; mod state; pub use state::State; pub mod x; #[path = \"../ui/app.rs\"] mod y;",
        "structure",
        "outside its module",
    ),
    ("engine/x.rs", "include!(\"../ui/app.rs\");", "structure", "include!"),
    ("engine/stray.rs", "", "structure", "no `mod` declares this file"),
];

#[test]
fn every_violation_is_found() {
    for (file, text, rule, message) in VIOLATIONS {
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
        let all = all_findings(&found);
        let (_, findings) = all.iter().find(|(name, _)| name == rule).unwrap();
        assert!(findings.iter().any(|f| f.contains(message)), "{file}: {text}\nwas not found: {all:?}");
    }
}

#[test]
fn a_dependency_that_no_module_has_is_found() {
    let unused = |extra: &[(&str, &str)]| {
        let expected = "engine may depend on domain, but doesn't: remove it from the table";
        check_sample(extra).unused_dependencies().iter().any(|found| found == expected)
    };
    assert!(unused(&[]));
    assert!(
        unused(&[("engine/x.rs", "#[cfg(test)] mod tests { use crate::domain::Seq; }")]),
        "only a test uses it"
    );
    assert!(!unused(&[("engine/x.rs", "pub fn f(_: crate::domain::Seq) {}")]));
}
