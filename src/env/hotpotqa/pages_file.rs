//! A file of pages: JSON lines with `title` and `text`, also as HotPotQA's own processed Wikipedia has them.

use super::page_set::{Page, PageSet};
use regex::Regex;
use serde::Deserialize;
use std::sync::LazyLock;

/// The links in the texts of the processed Wikipedia.
static TAGS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"</?[a-zA-Z][^<>]*>").ok());

#[derive(Deserialize)]
struct Row {
    title: String,
    text: Text,
}

/// A text with blank lines between its paragraphs, the sentences of one paragraph, or those of several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Whole(String),
    Sentences(Vec<String>),
    Paragraphs(Vec<Vec<String>>),
}

fn without_tags(text: &str) -> String {
    TAGS.as_ref().map_or_else(|| text.to_owned(), |tags| tags.replace_all(text, "").into_owned())
}

fn without_tags_in(sentences: &[String]) -> Vec<String> {
    sentences.iter().map(|sentence| without_tags(sentence)).collect()
}

/// Parses a file of pages.
///
/// # Errors
/// Returns the line, counted from 1, and what is wrong with it.
pub(super) fn parse_pages(bytes: &[u8]) -> Result<PageSet, (usize, String)> {
    let mut pages = Vec::new();
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let row: Row = serde_json::from_slice(line).map_err(|error| (at + 1, error.to_string()))?;
        pages.push(match row.text {
            Text::Whole(text) => Page::from_text(&row.title, &without_tags(&text)),
            Text::Sentences(sentences) => Page::from_sentences(&row.title, &without_tags_in(&sentences)),
            Text::Paragraphs(paragraphs) => {
                let paragraphs = paragraphs.iter().map(|paragraph| without_tags_in(paragraph)).collect();
                Page::from_paragraphs(&row.title, paragraphs)
            }
        });
    }
    if pages.is_empty() {
        return Err((1, "it contains no pages".to_owned()));
    }
    Ok(PageSet::new(pages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_a_text_are_read() {
        let text = concat!(
            r#"{"title":"A","text":"A\n\nOne. Two.\n\nThree."}"#,
            "\n\n",
            r#"{"id":"2","url":"u","title":"B","text":["<a href=\"x\">One</a>."," Two."],"charoffset":[[0]]}"#,
            "\n",
            r#"{"title":"C","text":[["C"],["1 < 2."," Two."],["Three."]]}"#,
            "\n"
        );
        let page_set = parse_pages(text.as_bytes()).unwrap();
        let paragraphs: Vec<&[String]> = page_set.pages().iter().map(|page| &page.paragraphs[..]).collect();
        assert_eq!(paragraphs[0], ["One. Two.", "Three."]);
        assert_eq!(paragraphs[1], ["One. Two."]);
        assert_eq!(paragraphs[2], ["1 < 2. Two.", "Three."]);
        assert_eq!(page_set.find("b"), Some(1));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line) in [
            ("", 1),
            ("{\"title\":\"A\",\"text\":\"x\"}\n{}", 2),
            ("x", 1),
            ("{\"title\":\"A\",\"text\":3}", 1),
        ] {
            assert_eq!(parse_pages(text.as_bytes()).unwrap_err().0, line, "{text}");
        }
    }
}
