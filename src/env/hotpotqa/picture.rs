//! What a person sees of a question: the page that was found, what was looked up, and what was searched.

use crate::domain::{Picture, PictureGlyphs, PictureRequest, PictureRole, PictureRow};
use crate::env::picture::{labelled_rows, list_of, text_of, wrap_words};
use crate::text::{prefix, truncate, width};
use serde_json::Value;

/// The maximum length of a paragraph that is drawn, and the maximum number of paragraphs and of searches.
const MAX_PARAGRAPH_BYTES: usize = 2_000;
const MAX_PARAGRAPHS: usize = 20;
const MAX_SEARCHES: usize = 50;

/// Draws question, answer, page and searches.
pub fn draw_picture(request: &PictureRequest<'_>) -> Picture {
    let glyphs = request.glyphs();
    let columns = request.columns.max(12);
    let shown = request.shown;
    let page = shown.get("page").filter(|page| page.is_object());
    let searches = list_of(shown, "searches");
    let mut rows = Vec::new();
    rows.extend(labelled_rows("question ", PictureRole::Goal, request.goal, columns));
    rows.extend(answer_rows(shown, request.truth, columns, glyphs));
    if let Some(page) = page {
        rows.push(Vec::new());
        rows.extend(page_rows(page, shown.get("lookup"), columns, glyphs));
    }
    if !searches.is_empty() {
        rows.push(Vec::new());
        rows.extend(search_rows(searches, request.truth, columns, glyphs));
    }
    Picture {
        summary: text_of(shown, "pages").to_owned(),
        one_line: one_line(shown, page, searches.len(), glyphs),
        shows_truth: request.truth.is_some(),
        rows,
    }
}

fn answer_rows(
    shown: &Value,
    truth: Option<&Value>,
    columns: usize,
    glyphs: &PictureGlyphs,
) -> Vec<PictureRow> {
    let mut rows = Vec::new();
    if let Some(answer) = shown.get("answer").filter(|answer| answer.is_object()) {
        let is_exact = answer.get("exact") == Some(&Value::Bool(true));
        let f1 = answer.get("f1").and_then(Value::as_f64).unwrap_or_default();
        let role = if is_exact { PictureRole::Good } else { PictureRole::Warning };
        let verdict = if is_exact { glyphs.tick.to_owned() } else { format!("F1 {f1:.2}") };
        let text = format!("{} {} {verdict}", text_of(answer, "text"), glyphs.separator);
        rows.extend(labelled_rows("answer   ", role, &text, columns));
    }
    if let Some(truth) = truth {
        rows.extend(labelled_rows("right    ", PictureRole::Goal, text_of(truth, "answer"), columns));
    }
    rows
}

fn page_rows(
    page: &Value,
    lookup: Option<&Value>,
    columns: usize,
    glyphs: &PictureGlyphs,
) -> Vec<PictureRow> {
    let title = truncate(text_of(page, "title"), columns, glyphs.ellipsis);
    let mut rows = vec![vec![(PictureRole::Title, title)]];
    let term = lookup.map(|lookup| text_of(lookup, "term")).unwrap_or_default();
    if let Some(lookup) = lookup.filter(|lookup| lookup.is_object()) {
        let number = lookup.get("number").and_then(Value::as_u64).unwrap_or_default();
        let count = lookup.get("count").and_then(Value::as_u64).unwrap_or_default();
        let place = if number == 0 { format!("no more of {count}") } else { format!("{number} of {count}") };
        let text = format!("{term} {} {place}", glyphs.separator);
        rows.extend(labelled_rows("lookup ", PictureRole::Accent, &text, columns));
    }
    for paragraph in list_of(page, "paragraphs").iter().take(MAX_PARAGRAPHS) {
        let text = prefix(paragraph.as_str().unwrap_or_default(), MAX_PARAGRAPH_BYTES);
        for line in wrap_words(text, columns) {
            rows.push(marked_words(&line, term));
        }
    }
    rows
}

/// Splits a line at the places where a term occurs, in any case of its ASCII letters.
fn marked_words(line: &str, term: &str) -> PictureRow {
    let mut row = Vec::new();
    let (haystack, needle) = (line.to_ascii_lowercase(), term.to_ascii_lowercase());
    let mut from = 0;
    if !needle.is_empty() {
        for (at, found) in haystack.match_indices(&needle) {
            row.push((PictureRole::Observation, line[from..at].to_owned()));
            from = at + found.len();
            row.push((PictureRole::Accent, line[at..from].to_owned()));
        }
    }
    row.push((PictureRole::Observation, line[from..].to_owned()));
    row.retain(|(_, text)| !text.is_empty());
    row
}

fn search_rows(
    searches: &[Value],
    truth: Option<&Value>,
    columns: usize,
    glyphs: &PictureGlyphs,
) -> Vec<PictureRow> {
    let supporting = truth.map(|truth| list_of(truth, "supporting")).unwrap_or_default();
    let mut rows = vec![vec![(PictureRole::Muted, "searched".to_owned())]];
    for search in searches.iter().rev().take(MAX_SEARCHES).rev() {
        let title = text_of(search, "title");
        let is_found = search.get("found") == Some(&Value::Bool(true));
        let is_needed =
            supporting.iter().filter_map(Value::as_str).any(|known| known.eq_ignore_ascii_case(title));
        let (mark, role) = match (is_found, is_needed) {
            (true, true) => (glyphs.tick, PictureRole::Good),
            (true, false) => (glyphs.tick, PictureRole::Text),
            (false, _) => ("-", PictureRole::Warning),
        };
        let note = if is_found { "" } else { " (not found)" };
        let title = truncate(title, columns.saturating_sub(2 + width(note)), glyphs.ellipsis);
        rows.push(vec![(role, format!("{mark} {title}")), (PictureRole::Muted, note.to_owned())]);
    }
    rows
}

/// Returns the most important facts, from a long variant to a short one.
fn one_line(shown: &Value, page: Option<&Value>, searches: usize, glyphs: &PictureGlyphs) -> Vec<String> {
    let separator = format!(" {} ", glyphs.separator);
    let mut parts = Vec::new();
    if let Some(answer) = shown.get("answer").filter(|answer| answer.is_object()) {
        parts.push(format!("answered {}", text_of(answer, "text")));
    }
    if let Some(page) = page {
        parts.push(format!("page {}", text_of(page, "title")));
    }
    let lookup = shown.get("lookup").map(|lookup| text_of(lookup, "term")).unwrap_or_default();
    if !lookup.is_empty() {
        parts.push(format!("lookup {lookup}"));
    }
    let plural = if searches == 1 { "" } else { "es" };
    parts.push(format!("{searches} search{plural}"));
    (1..=parts.len()).rev().map(|count| parts[..count].join(&separator)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines(picture: &Picture) -> Vec<String> {
        picture.rows.iter().map(|row| row.iter().map(|(_, text)| text.as_str()).collect()).collect()
    }

    fn draw(shown: &Value, truth: Option<&Value>, columns: usize) -> Picture {
        let goal = "Where was Marie born?";
        draw_picture(&PictureRequest { shown, truth, goal, progress: 0.0, columns, rows: 20, is_ascii: true })
    }

    #[test]
    fn page_lookup_searches_and_answer_are_drawn() {
        let shown = json!({
            "pages": "paragraphs of the question",
            "page": { "title": "Marie", "paragraphs": ["Marie was born in Hesk."] },
            "lookup": { "term": "BORN", "number": 1, "count": 1 },
            "searches": [{ "title": "Ada", "found": false }, { "title": "Marie", "found": true }],
            "answer": { "text": "Hesk", "exact": false, "f1": 0.667 },
        });
        let truth = json!({ "answer": "the village Hesk", "supporting": ["Marie"] });
        let picture = draw(&shown, Some(&truth), 40);
        assert_eq!(
            lines(&picture),
            [
                "question Where was Marie born?",
                "answer   Hesk - F1 0.67",
                "right    the village Hesk",
                "",
                "Marie",
                "lookup BORN - 1 of 1",
                "Marie was born in Hesk.",
                "",
                "searched",
                "- Ada (not found)",
                "+ Marie",
            ]
        );
        assert_eq!(picture.rows[6][1], (PictureRole::Accent, "born".to_owned()));
        assert_eq!(picture.rows[10][0].0, PictureRole::Good);
        assert_eq!(picture.summary, "paragraphs of the question");
        assert_eq!(picture.one_line[0], "answered Hesk - page Marie - lookup BORN - 2 searches");
        assert!(picture.shows_truth);
    }

    #[test]
    fn anything_can_be_drawn() {
        for shown in
            [Value::Null, json!([]), json!({ "page": 3, "searches": 1, "lookup": [], "answer": "x" })]
        {
            let picture = draw(&shown, None, 1);
            assert!(!picture.rows.is_empty() && !picture.shows_truth);
        }
        // Letters whose lower case has another length must not shift the marks.
        assert_eq!(marked_words("İx ax", "AX").len(), 2);
    }
}
