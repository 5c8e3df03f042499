//! Names of environments and methods belong into their folder and their entry of the catalog. Everything else asks the
//! catalog. What is left elsewhere is listed here with its reason.

use crate::source_tree::{Module, SourceTree, attributes, is_for_tests};
use proc_macro2::{Literal, TokenStream, TokenTree};
use retrospect::catalog::{ENVIRONMENT_NAMES, METHOD_NAMES};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

/// Where a name may stand: a file or folder below `src`, the name (`*` for any), and the reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("catalog/environments", "*", "the entries"),
    ("catalog/methods", "*", "the entries"),
    ("method", "*", "a folder for each method"),
    ("env", "*", "a folder for each environment"),
    ("symbolic", "household", "rules of a family of environments"),
    ("symbolic", "planning", "rules of a family of environments"),
    ("symbolic", "alfworld", "names the environments that a setting of the family is about"),
    ("symbolic", "babyai", "names the environment that a setting of the family is about"),
    ("pddl", "pddl", "the language, not the environment"),
    ("provider/rules", "*", "the rule-based actor knows the built-in environments"),
    ("catalog/unused_mentor.rs", "reflexion", "methods that reflect after each attempt share a setting"),
    ("cli/calibration_setup.rs", "omnireflect", "its calibration is available to every method"),
    ("journal/import", "reflexion", "the format of a run directory"),
    ("report/reflexion.rs", "reflexion", "the format of a run directory"),
    ("report.rs", "reflexion", "the format of a run directory"),
    ("cli", "reflexion", "the format of a run directory"),
    ("cli/config/keys.rs", "alfworld", "the variable that its own tools read too"),
    ("cli/config/keys.rs", "react", "the interface"),
    ("prompt/interface.rs", "react", "the interface"),
    ("prompt/interface.rs", "fcrf", "the rule's name in journals"),
    ("prompt/read/plan.rs", "household", "a line of the public code's prompts that models repeat"),
    ("prompt/templates/upstream_files.rs", "*", "names of files of the public code"),
    ("domain/common_settings.rs", "fcrf", "where a value comes from, and its name in journals"),
    ("domain/common_settings.rs", "reflexion", "where a value comes from"),
    ("ui/compositor.rs", "react", "the verb"),
    ("ui/fixture", "*", "sessions for tests and benchmarks"),
];

/// Finds every name of the catalog outside its folder, as `file: name` with the identifiers and strings that contain it.
pub(crate) fn misplaced_names(tree: &SourceTree) -> Vec<String> {
    let names: Vec<(String, Vec<String>)> = ENVIRONMENT_NAMES
        .iter()
        .chain(METHOD_NAMES.iter())
        .map(|name| ((*name).to_owned(), words(name)))
        .collect();
    let mut used = BTreeSet::new();
    let mut found = BTreeSet::new();
    for module in tree.modules.iter().chain(&tree.main) {
        let mut texts = Texts(Vec::new());
        module.items.iter().for_each(|item| texts.visit_item(item));
        for text in texts.0 {
            let in_text = words(&text);
            for (name, parts) in &names {
                if !in_text.windows(parts.len()).any(|window| window == parts) {
                    continue;
                }
                match ALLOWED.iter().position(|row| is_allowed(row, module, name)) {
                    Some(row) => {
                        used.insert(row);
                    }
                    None => {
                        found.insert(format!("{}: {name} in {text:?}", module.file));
                    }
                }
            }
        }
    }
    let unused = ALLOWED.iter().enumerate().filter(|(row, _)| !used.contains(row));
    found
        .into_iter()
        .chain(unused.map(|(_, row)| format!("{}: no {} here, remove the row", row.0, row.1)))
        .collect()
}

fn is_allowed((path, allowed, _): &(&str, &str, &str), module: &Module, name: &str) -> bool {
    let is_inside = module.file == *path
        || module.file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
        || module.file == format!("{path}.rs");
    is_inside && (*allowed == "*" || *allowed == name)
}

/// Splits a text at everything that isn't a letter or a digit, and before capital letters; in lower case.
fn words(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut after_lower = false;
    for letter in text.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && after_lower) {
            all.push(String::new());
        }
        if letter.is_alphanumeric() {
            all.last_mut().unwrap().extend(letter.to_lowercase());
        }
        after_lower = letter.is_lowercase();
    }
    all.retain(|word| !word.is_empty());
    all
}

/// The identifiers and strings of a module, without comments, attributes and tests.
struct Texts(Vec<String>);

impl Texts {
    fn add_tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Ident(ident) => self.0.push(ident.to_string()),
                TokenTree::Literal(literal) => self.add_literal(&literal),
                TokenTree::Punct(_) => {}
            }
        }
    }

    fn add_literal(&mut self, literal: &Literal) {
        if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
            self.0.push(text.value());
        }
    }
}

impl<'a> Visit<'a> for Texts {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_ident(&mut self, ident: &'a syn::Ident) {
        self.0.push(ident.to_string());
    }

    fn visit_lit_str(&mut self, text: &'a syn::LitStr) {
        self.0.push(text.value());
    }

    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        self.add_tokens(mac.tokens.clone());
    }

    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}
}
