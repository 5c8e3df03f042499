//! Checks the module rules of `docs/ARCHITECTURE.md` on the parsed source. `violations` lists what the checks must
//! find.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

mod catalog_names;
mod module_facts;
mod name_resolution;
mod rules;
mod source_tree;
mod violations;

use rules::{Findings, MODULE_DEPENDENCIES, PARENT_ITEMS, upward_dependencies};
use source_tree::{SourceTree, root, sources};
use std::collections::BTreeSet;
use std::fs;
use std::sync::LazyLock;

/// Findings in the source, which is read once for all tests.
static FINDINGS: LazyLock<Findings> = LazyLock::new(|| Findings::from_tree(&SourceTree::from_disk()));

fn assert_none(findings: &[String]) {
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn every_file_is_reached_by_a_plain_mod() {
    assert_none(&FINDINGS.structure);
}

#[test]
fn modules_depend_only_as_the_table_allows() {
    assert_none(&FINDINGS.dependencies);
}

/// A dependency that nothing needs any more would let the next one in unnoticed.
#[test]
fn the_table_allows_no_dependency_that_is_not_used() {
    assert_none(&FINDINGS.unused_dependencies());
}

#[test]
fn the_table_has_no_circle() {
    assert_none(&upward_dependencies(MODULE_DEPENDENCIES, PARENT_ITEMS));
    // In the order of the page, too.
    let page = include_str!("../../docs/ARCHITECTURE.md");
    let named: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let checked: Vec<&str> = MODULE_DEPENDENCIES.iter().map(|(module, _)| *module).collect();
    assert_eq!(named, checked);
}

#[test]
fn a_circle_in_the_table_is_found() {
    let circle: &[(&str, &[&str])] = &[("a", &["c"]), ("b", &["a"]), ("c", &["b"])];
    assert_eq!(upward_dependencies::<()>(circle, &[]), ["a uses c, which is not above it in the table"]);
    let nested: &[(&str, &[&str])] = &[("a/b", &[]), ("a", &["a/b"])];
    assert_eq!(
        upward_dependencies(nested, &[("a/b", &["Item"])]).len(),
        1,
        "the nested module uses its parent"
    );
}

#[test]
fn only_listed_modules_have_side_effects() {
    assert_none(&FINDINGS.side_effects);
}

#[test]
fn only_apply_changes_the_state() {
    assert_none(&FINDINGS.state);
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    assert_none(&FINDINGS.circles);
}

/// The engine reads settings as typed fields (`domain::RunSettings`), which are parsed once.
#[test]
fn the_engine_looks_no_setting_up_by_its_name() {
    let lookup = regex::Regex::new(r"settings(\(\))?\s*\.\s*(recorded|value|text|contains)\(").unwrap();
    assert!(lookup.is_match("run.settings\n    .contains(\"x\")"));
    let files = sources(&root().join("src/engine"))
        .into_iter()
        .filter(|path| !path.to_string_lossy().contains("/tests"));
    let found: Vec<String> = files
        .filter_map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let found = lookup.find(&text)?.as_str().to_owned();
            Some(format!("{}: {found}", path.display()))
        })
        .collect();
    assert_none(&found);
}

/// Nothing an agent is shown may come from the environment's ground truth.
#[test]
fn no_prompt_code_reads_the_ground_truth() {
    assert_none(&FINDINGS.truth);
}

#[test]
fn names_of_environments_and_methods_stay_in_their_folders_and_entries() {
    assert_none(&catalog_names::misplaced_names(&SourceTree::from_disk()));
}

/// Regression: a constant with the name of an environment was compared outside the catalog, where its name may not stand.
#[test]
fn no_constant_with_a_name_of_the_catalog_is_compared_outside_of_it() {
    assert_none(&catalog_names::compared_names(&SourceTree::from_disk()));
    let file: syn::File = syn::parse_quote! {
        fn f(env: &str) -> bool { env == catalog::PROGRAM_ENVIRONMENT || Some(env) != Some(&*DEFAULT_ENVIRONMENT.name) }
        fn g(env: &str) -> bool { matches(env, PROGRAM_ENVIRONMENT) }
        fn h(env: &str) -> bool { match env { PROGRAM_ENVIRONMENT => true, _ => false } }
    };
    let expected = ["PROGRAM_ENVIRONMENT", "DEFAULT_ENVIRONMENT", "PROGRAM_ENVIRONMENT"];
    assert_eq!(catalog_names::compared_constants(&file.items), expected);
}

#[test]
fn the_dependency_table_matches_the_architecture_page() {
    let page = include_str!("../../docs/ARCHITECTURE.md");
    let rows = page.lines().filter(|l| l.starts_with("| `"));
    let documented: BTreeSet<(String, BTreeSet<String>)> = rows
        .map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let allowed = cells[2].split(", ").filter(|k| *k != "-").map(str::to_owned).collect();
            (cells[0].trim_matches('`').to_owned(), allowed)
        })
        .collect();
    let checked: BTreeSet<(String, BTreeSet<String>)> = MODULE_DEPENDENCIES
        .iter()
        .map(|(module, allowed)| ((*module).to_owned(), allowed.iter().map(|k| (*k).to_owned()).collect()))
        .collect();
    let difference = |a: &BTreeSet<_>, b: &BTreeSet<_>| a.difference(b).cloned().collect::<Vec<_>>();
    assert_eq!(
        documented,
        checked,
        "\ndocumented only: {:?}\nchecked only: {:?}",
        difference(&documented, &checked),
        difference(&checked, &documented)
    );
}

/// `lib.rs` allows side effects (`clippy::disallowed_*`) for whole modules, and `env.rs` for those that start programs; no other file may.
#[test]
fn the_side_effect_lint_is_allowed_only_where_modules_are_declared() {
    let allows = |text: &str| text.contains("clippy::disallowed");
    let mut allowing = Vec::new();
    for (file, text) in source_tree::files() {
        let elsewhere = match file.as_str() {
            "lib.rs" => String::new(),
            "env.rs" => {
                let declared = [
                    "pub mod external;",
                    "pub mod miniwob;",
                    "pub mod programming;",
                    "pub mod scienceworld;",
                ];
                declared.into_iter().fold(text, |text, module| {
                    let (before, after) = text.split_once(module).unwrap();
                    let (before, attributes) = before.rsplit_once(';').unwrap();
                    assert!(allows(attributes));
                    format!("{before};{after}")
                })
            }
            _ => text,
        };
        allowing.extend(allows(&elsewhere).then_some(file));
    }
    assert_none(&allowing);
}

#[test]
fn modules_have_no_mod_rs_and_start_with_a_doc_comment() {
    for path in sources(&root().join("src")) {
        assert!(path.file_name().unwrap() != "mod.rs", "{}", path.display());
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//!"), "{} has no module documentation", path.display());
    }
}

/// Public functions, types and traits have a doc comment. Fields and variants need one only if their name isn't
/// self-explanatory, which no lint can check.
#[test]
fn public_functions_types_and_traits_are_documented() {
    let mut undocumented = Vec::new();
    for (file, text) in source_tree::files() {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (n, line) in lines.iter().enumerate().take_while(|(_, line)| !line.starts_with("#[cfg(test)]")) {
            let Some(item) = line.strip_prefix("pub ") else { continue };
            let item = item.trim_start_matches("const ").trim_start_matches("async ");
            let kinds = ["fn ", "struct ", "enum ", "trait ", "type "];
            if !kinds.iter().any(|kind| item.starts_with(kind)) {
                continue;
            }
            // Skip the attributes between an item and its comment. In `cli/args`, clap's help texts are the
            // documentation.
            let mut above = lines[..n].iter().rev();
            let above = above.find(|l| {
                !(l.starts_with("#[")
                    || l.starts_with("clippy::")
                    || l.starts_with("reason =")
                    || l.ends_with(")]")
                    || l.ends_with('"')
                    || l.ends_with('\\'))
            });
            if file.starts_with("cli/args") {
                continue;
            }
            if !above.is_some_and(|l| l.starts_with("///")) {
                undocumented.push(format!("{file}:{}: {line}", n + 1));
            }
        }
    }
    assert_none(&undocumented);
}
