//! Names of environments and methods belong into their folder and their entry of the catalog. Everything else asks the
//! catalog. What is left elsewhere is listed here with its reason. A comment may name a paper or its code in a sentence that cites it.

use crate::source_tree::{Module, SourceTree, attributes, files, is_for_tests};
use proc_macro2::{Ident, Literal, TokenStream, TokenTree};
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
    ("env/miniwob", "rci", "the form of its actions"),
    ("env/miniwob", "dora", "the set of the pages in its paper"),
    ("ui/terminal.rs", "stdio", "standard input and output"),
    ("symbolic", "household", "rules of a family of environments"),
    ("symbolic", "scienceworld", "rules of a family of environments, which it names `science`"),
    ("symbolic", "planning", "rules of a family of environments"),
    ("pddl", "pddl", "the language, not the environment"),
    ("stand_in", "*", "worlds that the entries choose from"),
    ("journal/import", "reflexion", "the format of a run directory"),
    ("cli/args", "reflexion", "the flag of a run directory"),
    ("cli/exporters.rs", "reflexion", "the format of a run directory"),
    ("cli/rerun_plan.rs", "reflexion", "the flag that continues a run directory"),
    ("cli/config/programs.rs", "stdio", "the kind of a table, where it is explained"),
    ("cli/args", "stdio", "an example of a command"),
    ("cli/args", "household", "examples of commands"),
    ("cli/args", "alfworld", "examples of commands; the loader of the folders that are written"),
    ("cli/args", "omnireflect", "an example of a command"),
    ("cli/args", "react", "an example of a command"),
    ("cli/args", "pddl", "the language"),
    ("cli/config/reference.rs", "omnireflect", "the source of values"),
    ("cli/config/keys.rs", "alfworld", "the variable that its own tools read too"),
    ("cli/config/keys.rs", "react", "the interface"),
    ("prompt/interface.rs", "react", "the interface"),
    ("domain/run.rs", "react", "the interface"),
    ("domain/common_settings.rs", "fcrf", "the name of a value in journals"),
    ("domain/common_settings.rs", "rci", "the name of a setting in journals, which the engine reads"),
    ("env/hotpotqa", "react", "whose actions, answers and agents it has"),
    ("env/hotpotqa", "reflexion", "whose actions, answers and agents it has"),
    ("ui/compositor.rs", "react", "the verb"),
    ("ui/fixture", "*", "sessions for tests and benchmarks"),
];

/// Names that are also words of the field. In a comment they count only as code.
const PLAIN_WORDS: &[&str] = &["household", "programming", "planning", "react", "pddl"];

/// Names that are parts of other words, so only whole words count.
const SHORT_NAMES: &[&str] = &["react", "expel", "rci", "dora"];

/// Other words for the same.
const SYNONYMS: &[(&str, &str)] = &[("hotpotqa", "hotpot"), ("scienceworld", "science"), ("rci", "irci")];

/// What a sentence that cites a source contains.
const SOURCES: &[&str] = &["paper", "public code", "'s code", "docs/", ".md"];

/// Parts of a paper: a citation says which one, by a number, or an appendix by a letter.
const PARTS_OF_PAPERS: &[&str] =
    &["section", "sections", "table", "tables", "algorithm", "figure", "figures"];

/// Finds every name of the catalog outside its folder, as `file: name` with the identifiers, strings and comments that contain it.
pub(crate) fn misplaced_names(tree: &SourceTree) -> Vec<String> {
    let names: Vec<(&str, String)> = ENVIRONMENT_NAMES
        .iter()
        .chain(METHOD_NAMES.iter())
        .map(|name| (*name, words(name).concat()))
        .collect();
    let mut used = BTreeSet::new();
    let mut found = BTreeSet::new();
    let sources = files();
    let mut read = BTreeSet::new();
    for module in tree.modules.iter().chain(&tree.main) {
        if read.insert(module.file.as_str()) {
            for comment in sources.get(&module.file).map_or_else(Vec::new, |text| comments(text)) {
                for (name, letters) in &names {
                    if is_named_in_comment(&comment, name, letters)
                        && !ALLOWED.iter().any(|row| is_allowed(row, module, name))
                    {
                        found.insert(format!("{}: {name} in the comment {comment:?}", module.file));
                    }
                }
            }
        }
        let is_help = module.file == "cli/args.rs" || module.file.starts_with("cli/args/");
        let mut texts = Texts { found: Vec::new(), is_help };
        module.items.iter().for_each(|item| texts.visit_item(item));
        for text in texts.found {
            let in_text = words(&text);
            let joined = in_text.concat();
            for (name, letters) in &names {
                let is_joined = !SHORT_NAMES.contains(name) && joined.contains(letters.as_str());
                let mut synonyms = SYNONYMS.iter().filter(|(of, _)| of == name);
                let is_named = is_joined
                    || contains_name(&in_text, letters)
                    || synonyms.any(|(_, word)| contains_name(&in_text, word));
                if !is_named {
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

/// Returns the comments of a file above its tests: lines that follow one another are one comment.
fn comments(text: &str) -> Vec<String> {
    let above_tests = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut all = vec![String::new()];
    for line in above_tests.lines().map(str::trim) {
        match line.strip_prefix("//") {
            Some(comment) => {
                let last = all.last_mut().unwrap();
                last.push_str(comment.trim_start_matches(['/', '!']));
            }
            None => all.push(String::new()),
        }
    }
    all.retain(|comment| !comment.is_empty());
    all
}

/// Returns whether a comment names an environment or a method in a sentence that cites no source.
fn is_named_in_comment(comment: &str, name: &str, letters: &str) -> bool {
    let is_named = |sentence: &str| {
        if PLAIN_WORDS.contains(&name) {
            sentence.contains(&format!("`{name}`"))
        } else {
            contains_name(&words(sentence), letters)
        }
    };
    comment.split(". ").any(|sentence| is_named(sentence) && !cites_source(sentence))
}

fn cites_source(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let is_part = |pair: &[String]| {
        let is_number = pair[1].starts_with(|c: char| c.is_ascii_digit());
        PARTS_OF_PAPERS.contains(&pair[0].as_str()) && is_number
            || pair[0] == "appendix" && pair[1].len() == 1
    };
    SOURCES.iter().any(|source| lower.contains(source)) || words(&lower).windows(2).any(is_part)
}

#[test]
fn a_comment_may_name_a_method_only_in_a_sentence_that_cites_it() {
    for cited in ["As in FCRF's public code.", "Lists (FCRF, tables 17 and 18)", "See methods.md 2.4, FCRF."]
    {
        assert!(!is_named_in_comment(cited, "fcrf", "fcrf"), "{cited}");
    }
    for (named, why) in [
        ("Returns the exit code of FCRF's runs", "not the code of a paper"),
        ("As the table of FCRF has it", "no number"),
        ("Only for FCRF. The paper has none", "another sentence"),
    ] {
        assert!(is_named_in_comment(named, "fcrf", "fcrf"), "{why}");
    }
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
    fn add_ident(&mut self, ident: &Ident) {
        // `std::process::Stdio` is no environment.
        if ident != "Stdio" {
            self.found.push(ident.to_string());
        }
    }

    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut after_hash = false;
        for token in tokens {
            let is_attribute = after_hash && matches!(token, TokenTree::Group(_));
            after_hash = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '#');
            match token {
                // Of a declaration inside a macro: a comment.
                TokenTree::Group(_) if is_attribute => {}
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Ident(ident) => self.add_ident(&ident),
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
        self.add_ident(ident);
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

/// The constants of the catalog that are a name, or an entry with one.
const NAMING_CONSTANTS: &[&str] =
    &["PROGRAM_ENVIRONMENT", "DEFAULT_ENVIRONMENT", "BASE_METHOD", "CALIBRATION_METHOD"];

/// Files in which a constant with a name of the catalog may be compared, with the reason.
const COMPARES_NAMES: &[(&str, &str)] = &[(
    "cli/config/programs.rs",
    "the kind of a table of the configuration, and the environment whose program a command line names",
)];

/// Finds comparisons with constants that hold a name of the catalog (`PROGRAM_ENVIRONMENT`, `DEFAULT_ENVIRONMENT.name`), as `file: constant`: they
/// are names, too. What the comparison decides belongs into the entry.
pub(crate) fn compared_names(tree: &SourceTree) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut allowed = BTreeSet::new();
    for module in tree.modules.iter().chain(&tree.main).filter(|module| !module.file.starts_with("catalog")) {
        for constant in compared_constants(&module.items) {
            match COMPARES_NAMES.iter().find(|(file, _)| *file == module.file) {
                Some((file, _)) => drop(allowed.insert(*file)),
                None => drop(found.insert(format!("{}: {constant}", module.file))),
            }
        }
    }
    let unused = COMPARES_NAMES.iter().filter(|(file, _)| !allowed.contains(file));
    found.into_iter().chain(unused.map(|(file, _)| format!("{file} compares no name"))).collect()
}

pub(crate) fn compared_constants(items: &[syn::Item]) -> Vec<String> {
    let mut comparisons = Comparisons::default();
    for item in items {
        comparisons.visit_item(item);
    }
    comparisons.constants
}

/// The constants of the catalog that are an operand of `==` or `!=`, or a pattern.
#[derive(Default)]
struct Comparisons {
    constants: Vec<String>,
}

impl Comparisons {
    fn add_path(&mut self, path: &syn::Path) {
        let name = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if NAMING_CONSTANTS.contains(&name.as_str()) {
            self.constants.push(name);
        }
    }

    fn add_operand(&mut self, operand: &syn::Expr) {
        match operand {
            syn::Expr::Path(path) => self.add_path(&path.path),
            syn::Expr::Field(field) => self.add_operand(&field.base),
            syn::Expr::Reference(reference) => self.add_operand(&reference.expr),
            syn::Expr::Unary(unary) => self.add_operand(&unary.expr),
            syn::Expr::Paren(paren) => self.add_operand(&paren.expr),
            syn::Expr::Call(call) => call.args.iter().for_each(|argument| self.add_operand(argument)),
            _ => {}
        }
    }
}

impl<'a> Visit<'a> for Comparisons {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        if matches!(binary.op, syn::BinOp::Eq(_) | syn::BinOp::Ne(_)) {
            self.add_operand(&binary.left);
            self.add_operand(&binary.right);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_pat(&mut self, pattern: &'a syn::Pat) {
        match pattern {
            syn::Pat::Path(path) => self.add_path(&path.path),
            syn::Pat::Ident(ident) => self.add_path(&ident.ident.clone().into()),
            _ => {}
        }
        visit::visit_pat(self, pattern);
    }
}
