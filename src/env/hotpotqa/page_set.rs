//! The pages that can be searched, and how a title is found.

use super::score::normalize;
use std::collections::{BTreeSet, HashMap};

/// How many similar titles are named if a page isn't found.
const MAX_SIMILAR: usize = 5;

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) title: String,
    /// The text of each paragraph.
    pub(super) paragraphs: Vec<String>,
    /// The sentences of all paragraphs, if the file has them; otherwise they are found in the text.
    sentences: Vec<String>,
}

impl Page {
    /// Creates a page of one paragraph.
    pub(super) fn from_sentences(title: &str, sentences: &[String]) -> Self {
        Self::from_paragraphs(title, vec![sentences.to_vec()])
    }

    /// Creates a page from the sentences of its paragraphs. A first paragraph that repeats the title is left out.
    pub(super) fn from_paragraphs(title: &str, paragraphs: Vec<Vec<String>>) -> Self {
        let mut texts = Vec::new();
        let mut sentences = Vec::new();
        for (at, paragraph) in paragraphs.into_iter().enumerate() {
            let text = join_sentences(&paragraph);
            if text.is_empty() || at == 0 && text == title {
                continue;
            }
            texts.push(text);
            let trimmed = paragraph.iter().map(|sentence| sentence.trim().to_owned());
            sentences.extend(trimmed.filter(|sentence| !sentence.is_empty()));
        }
        Self { title: title.to_owned(), paragraphs: texts, sentences }
    }

    /// Creates a page from a text with blank lines between its paragraphs.
    pub(super) fn from_text(title: &str, text: &str) -> Self {
        let paragraphs = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
        let mut paragraphs: Vec<String> = paragraphs.map(str::to_owned).collect();
        if paragraphs.first().is_some_and(|first| first == title) {
            paragraphs.remove(0);
        }
        let sentences = paragraphs.iter().flat_map(|paragraph| split_sentences(paragraph)).collect();
        Self { title: title.to_owned(), paragraphs, sentences }
    }

    /// Returns the sentences of the whole page, as ReAct's environment counts them.
    pub(super) fn sentences(&self) -> &[String] {
        &self.sentences
    }

    /// Returns the first paragraph on one line.
    pub(super) fn first_paragraph(&self) -> String {
        self.paragraphs.first().map_or_else(String::new, |paragraph| paragraph.replace('\n', ""))
    }
}

/// Joins sentences. The data set has the blank between two of them at the beginning of the second.
fn join_sentences(sentences: &[String]) -> String {
    let mut text = String::new();
    for sentence in sentences {
        let needs_blank = !text.is_empty()
            && !text.ends_with(char::is_whitespace)
            && !sentence.starts_with(char::is_whitespace);
        if needs_blank {
            text.push(' ');
        }
        text.push_str(sentence);
    }
    text.trim().to_owned()
}

/// Splits a paragraph at line breaks and after full stops that a blank follows; each sentence ends with a full stop.
fn split_sentences(paragraph: &str) -> Vec<String> {
    let lines = paragraph.lines().flat_map(|line| line.split(". "));
    let sentences = lines.map(str::trim).filter(|sentence| !sentence.is_empty());
    sentences.map(|sentence| format!("{}.", sentence.trim_end_matches('.'))).collect()
}

/// Pages by their titles.
#[derive(Clone, Debug, Default)]
pub(super) struct PageSet {
    pages: Vec<Page>,
    exact: HashMap<String, usize>,
    /// By title in lower case; of several the first.
    lower_case: HashMap<String, usize>,
    /// By the normalised title; of several the first.
    normalized: HashMap<String, usize>,
}

impl PageSet {
    pub(super) fn new(pages: Vec<Page>) -> Self {
        let mut page_set = Self::default();
        for (at, page) in pages.iter().enumerate() {
            page_set.exact.entry(page.title.clone()).or_insert(at);
            page_set.lower_case.entry(page.title.to_lowercase()).or_insert(at);
            page_set.normalized.entry(normalize(&page.title)).or_insert(at);
        }
        page_set.pages = pages;
        page_set
    }

    pub(super) fn page(&self, at: usize) -> Option<&Page> {
        self.pages.get(at)
    }

    pub(super) fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// Returns the page with this title: exactly, then in any case, then also without punctuation and articles.
    pub(super) fn find(&self, title: &str) -> Option<usize> {
        let title = title.trim();
        let lower = || self.lower_case.get(&title.to_lowercase());
        let normalized = || Some(normalize(title)).filter(|text| !text.is_empty());
        self.exact.get(title).or_else(lower).or_else(|| self.normalized.get(&normalized()?)).copied()
    }

    /// Returns up to five titles: first those that share most words with the text, then those that need fewest changes of
    /// letters. Where the papers asked Wikipedia's search, this is ours.
    pub(super) fn similar_titles(&self, text: &str) -> Vec<&str> {
        let text = normalize(text);
        let words: BTreeSet<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
        let mut ranked: Vec<(usize, usize, &str)> = self
            .pages
            .iter()
            .map(|page| {
                let title = normalize(&page.title);
                let shared = title.split(' ').filter(|word| words.contains(word)).count();
                (shared, strsim::levenshtein(&title, &text), page.title.as_str())
            })
            .collect();
        ranked.sort_by(|a, b| (b.0, a.1, a.2).cmp(&(a.0, b.1, b.2)));
        ranked.into_iter().take(MAX_SIMILAR).map(|(_, _, title)| title).collect()
    }
}

/// Writes titles as Python writes a list of texts: the actor's examples have this form.
pub(super) fn python_list(titles: &[&str]) -> String {
    let quoted: Vec<String> = titles.iter().map(|title| python_text(title)).collect();
    format!("[{}]", quoted.join(", "))
}

fn python_text(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn sentences_are_joined_with_one_blank() {
        for sentences in [texts(&["One.", " Two."]), texts(&["One. ", "Two."]), texts(&["One.", "Two.", ""])]
        {
            let page = Page::from_sentences("T", &sentences);
            assert_eq!(page.paragraphs, ["One. Two."]);
            assert_eq!(page.sentences(), ["One.", "Two."]);
        }
    }

    #[test]
    fn the_title_is_no_paragraph() {
        let page =
            Page::from_paragraphs("T", vec![texts(&["T"]), texts(&["One."]), texts(&["Two.", " Three."])]);
        assert_eq!(page.paragraphs, ["One.", "Two. Three."]);
        let text = Page::from_text("T", "T\n\nOne. Two\nThree.\n\nFour.");
        assert_eq!(text.paragraphs, ["One. Two\nThree.", "Four."]);
        assert_eq!(text.sentences(), ["One.", "Two.", "Three.", "Four."]);
        assert_eq!(text.first_paragraph(), "One. TwoThree.");
    }

    #[test]
    fn titles_are_found_in_any_case_and_without_punctuation() {
        let titles = ["Ed Wood", "Ed Wood (film)", "ED WOOD", "The Who"];
        let page_set = PageSet::new(titles.iter().map(|title| Page::from_text(title, "x")).collect());
        for (text, found) in [
            ("Ed Wood", Some(0)),
            ("ED WOOD", Some(2)),
            ("ed wood", Some(0)),
            (" Ed Wood film ", Some(1)),
            ("who", Some(3)),
            ("Ed", None),
            ("...", None),
            ("", None),
        ] {
            assert_eq!(page_set.find(text), found, "{text:?}");
        }
        assert_eq!(page_set.similar_titles("the wood film")[0], "Ed Wood (film)");
    }

    #[test]
    fn lists_are_written_as_python_writes_them() {
        assert_eq!(
            python_list(&["A", "B's", "say \"hi\"", "it's \"x\""]),
            r#"['A', "B's", 'say "hi"', 'it\'s "x"']"#
        );
        assert_eq!(python_list(&[]), "[]");
    }
}
