//! Names of environments and methods belong into their folder and their entry of the catalog. Everything else asks the
//! catalog. What is left elsewhere is listed here with its reason.

use crate::source_tree::{Module, SourceTree, attributes, is_for_tests};
use proc_macro2::{Literal, TokenStream, TokenTree};
use retrospect::catalog::{ENVIRONMENT_NAMES, METHOD_NAMES};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

/// Where a name may stand: a file or folder below `src`, in which `{name}` is the name; the name (`*` for any); the reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("catalog/environments", "*", "the entries"),
    ("catalog/methods", "*", "the entries"),
    ("method/{name}", "*", "a folder for each method"),
    ("method.rs", "*", "names the folders"),
    ("env/{name}", "*", "a folder for each environment"),
    ("env/alfworld", "pddl", "the language of its games, and the names of their files"),
    ("env/alfworld", "household", "a hint for those who don't have its data"),
    ("env/household", "pddl", "the language of its games, and the names of their files"),
    ("env/household", "alfworld", "the engine that plays its games"),
    ("env/external", "stdio", "standard input and output"),
    ("env/miniwob", "rci", "the form of its actions"),
    ("env/miniwob", "dora", "the set of the pages in its paper"),
    ("ui/terminal.rs", "stdio", "standard input and output"),
    ("cli/opener.rs", "stdio", "standard input and output"),
    ("cli/args", "stdio", "the environment whose program is an argument"),
    ("cli/config/reference.rs", "stdio", "an example of a table"),
    ("cli/config/programs.rs", "stdio", "the kind of a table"),
    ("symbolic", "household", "rules of a family of environments"),
    ("symbolic", "planning", "rules of a family of environments"),
    ("pddl", "pddl", "the language, not the environment"),
    ("stand_in", "*", "worlds that the entries choose from"),
    ("journal/import", "reflexion", "the format of a run directory"),
    ("report/reflexion.rs", "reflexion", "the format of a run directory"),
    ("report.rs", "reflexion", "the format of a run directory"),
    ("cli/args", "reflexion", "the format of a run directory"),
    ("cli/export.rs", "reflexion", "the format of a run directory"),
    ("cli/lessons.rs", "reflexion", "the format of a run directory"),
    ("cli/reflexion.rs", "reflexion", "the format of a run directory"),
    ("cli/rerun_plan.rs", "reflexion", "the format of a run directory"),
    ("cli/run.rs", "reflexion", "the format of a run directory"),
    ("cli/setup.rs", "reflexion", "the format of a run directory"),
    ("cli/args", "household", "examples of commands"),
    ("cli/args", "alfworld", "examples of commands; the loader of the folders that are written"),
    ("cli/args", "omnireflect", "an example of a command"),
    ("cli/args", "react", "an example of a command"),
    ("cli/args", "pddl", "the language"),
    ("cli/config/reference.rs", "omnireflect", "the source of values"),
    ("cli/config/keys.rs", "alfworld", "the variable that its own tools read too"),
    ("cli/config/keys.rs", "react", "the interface"),
    ("prompt/interface.rs", "react", "the interface"),
    ("prompt/interface.rs", "fcrf", "the rule's name in journals"),
    ("prompt/read/plan.rs", "household", "a line of the public code's prompts that models repeat"),
    ("prompt/templates/upstream_files.rs", "*", "names of files of the public code"),
    ("domain/advice_effect.rs", "dora", "the paper whose definition it is"),
    ("domain/run.rs", "react", "the interface"),
    ("domain/common_settings.rs", "fcrf", "where a value comes from, and its name in journals"),
    ("domain/common_settings.rs", "expel", "what a setting is needed for"),
    ("domain/common_settings.rs", "reflexion", "where a value comes from"),
    ("cli/args", "programming", "where an option has an effect"),
    ("method/reflexion/settings.rs", "programming", "what a setting is needed for"),
    ("env/hotpotqa", "react", "whose actions, answers and agents it has"),
    ("env/hotpotqa", "reflexion", "whose actions, answers and agents it has"),
    ("ui/compositor.rs", "react", "the verb"),
    ("ui/fixture", "*", "sessions for tests and benchmarks"),
];

/// Finds every name of the catalog outside its folder, as `file: name` with the identifiers and strings that contain it.
pub(crate) fn misplaced_names(tree: &SourceTree) -> Vec<String> {
    let names: Vec<(&str, String)> = ENVIRONMENT_NAMES
        .iter()
        .chain(METHOD_NAMES.iter())
        .map(|name| (*name, words(name).concat()))
        .collect();
    let mut used = BTreeSet::new();
    let mut found = BTreeSet::new();
    for module in tree.modules.iter().chain(&tree.main) {
        let is_help = module.file == "cli/args.rs" || module.file.starts_with("cli/args/");
        let mut texts = Texts { found: Vec::new(), is_help };
        module.items.iter().for_each(|item| texts.visit_item(item));
        for text in texts.found {
            let in_text = words(&text);
            for (name, letters) in &names {
                if !contains_name(&in_text, letters) {
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
    let path = path.replace("{name}", name);
    let is_inside = module.file == path
        || module.file.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'))
        || module.file == format!("{path}.rs");
    is_inside && (*allowed == "*" || *allowed == name)
}

/// Returns whether consecutive words are a name, however it is written: `sweet_sour`, `SweetSour` or `Sweet&Sour`.
fn contains_name(words: &[String], letters: &str) -> bool {
    (0..words.len()).any(|start| {
        let mut rest = letters;
        words[start..]
            .iter()
            .map_while(|word| {
                rest = rest.strip_prefix(word.as_str())?;
                Some(rest)
            })
            .any(str::is_empty)
    })
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

/// The identifiers and strings of a module, without tests; of its comments and attributes only those that the help of the
/// command line and the messages of errors are made of.
struct Texts {
    found: Vec<String>,
    is_help: bool,
}

impl Texts {
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut after_hash = false;
        for token in tokens {
            let is_attribute = after_hash && matches!(token, TokenTree::Group(_));
            after_hash = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '#');
            match token {
                // Of a declaration inside a macro: a comment.
                TokenTree::Group(_) if is_attribute => {}
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Ident(ident) => self.found.push(ident.to_string()),
                TokenTree::Literal(literal) => self.add_literal(&literal),
                TokenTree::Punct(_) => {}
            }
        }
    }

    fn add_literal(&mut self, literal: &Literal) {
        if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
            self.found.push(text.value());
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
        self.found.push(ident.to_string());
    }

    fn visit_lit_str(&mut self, text: &'a syn::LitStr) {
        self.found.push(text.value());
    }

    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        self.add_tokens(mac.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'a syn::Attribute) {
        let is_part_of_help = ["doc", "command", "arg"].iter().any(|name| attribute.path().is_ident(name));
        match &attribute.meta {
            syn::Meta::NameValue(pair) if self.is_help && is_part_of_help => self.visit_expr(&pair.value),
            syn::Meta::List(list) if self.is_help && is_part_of_help => self.add_tokens(list.tokens.clone()),
            // The message of an error.
            syn::Meta::List(list) if list.path.is_ident("error") => self.add_tokens(list.tokens.clone()),
            _ => {}
        }
    }
}
