//! Checks `docs/GLOSSARY.md`, which is generated from the doc comments of the public types in `src/domain`, so that
//! every term is defined once, next to its type. `UPDATE=1 cargo test --test documents` writes the page.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Returns the public types of a source file, in order, each with the first paragraph of its doc comment.
fn definitions(source: &str) -> Vec<(String, String)> {
    let (mut found, mut paragraph, mut is_first) = (Vec::new(), String::new(), true);
    for line in source.lines().take_while(|line| !line.contains("#[cfg(test)]")) {
        if let Some(text) = line.strip_prefix("///") {
            is_first &= !text.trim().is_empty();
            if is_first {
                paragraph = format!("{paragraph} {}", text.trim());
            }
            continue;
        }
        if line.starts_with("#[") || line.starts_with("    ") || line.starts_with(')') {
            continue;
        }
        let name = ["pub struct ", "pub enum "].iter().find_map(|start| line.strip_prefix(start));
        if let Some(name) = name.filter(|_| !paragraph.is_empty()) {
            let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
            found.push((name[..end].to_owned(), paragraph.trim().to_owned()));
        }
        paragraph.clear();
        is_first = true;
    }
    found
}

/// Splits a type's name into words: `LessonPool` becomes "lesson pool".
fn split_words(name: &str) -> String {
    let mut words = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(character.to_lowercase());
    }
    words
}

/// Replaces doc links by their text: ``[`Lesson`]`` and ``[`step`](Self::step)`` become `` `Lesson` `` and `` `step`
/// ``.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("[`") {
        let Some(end) = rest[start..].find("`]").map(|n| start + n + 1) else { break };
        plain.push_str(&rest[..start]);
        plain.push_str(&rest[start + 1..end]);
        rest = &rest[end + 1..];
        if rest.starts_with('(') {
            rest = rest.find(')').map_or(rest, |n| &rest[n + 1..]);
        }
    }
    plain + rest
}

#[test]
fn glossary_is_generated_from_the_domain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = fs::read_dir(root.join("src/domain"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect();
    files.sort();
    let mut terms: Vec<(String, String, String)> = files
        .iter()
        .flat_map(|path| definitions(&fs::read_to_string(path).unwrap()))
        .map(|(name, text)| (split_words(&name), name, without_links(&text)))
        .collect();
    terms.sort();
    assert!(terms.len() > 30, "only {} terms were found", terms.len());
    let mut page = "# Glossary\n\nThe terms of the program, from the doc comments of `src/domain`. The same words are used on the screen, in the \
                    documents and in the JSON.\n\n| term | type | meaning |\n|---|---|---|\n"
        .to_owned();
    for (words, name, text) in &terms {
        let _ = writeln!(page, "| {words} | `{name}` | {} |", text.replace('|', "\\|"));
    }
    let path = root.join("docs/GLOSSARY.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let current = fs::read_to_string(&path).unwrap_or_default();
    assert!(current == page, "docs/GLOSSARY.md is out of date; run UPDATE=1 cargo test --test documents");
}
