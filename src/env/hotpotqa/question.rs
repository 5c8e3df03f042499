//! The questions of a file, in the forms in which the data set is published.

use serde::Deserialize;
use std::fmt;

/// One question, and the pages that come with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) answer: String,
    /// `bridge` or `comparison`.
    pub(super) kind: Option<String>,
    /// `easy`, `medium` or `hard`.
    pub(super) level: Option<String>,
    /// The pages that have the answer, each once, as far as they are known.
    pub(super) supporting_titles: Vec<String>,
    /// Title and sentences of each page that comes with it; none in files without them.
    pub(super) pages: Vec<(String, Vec<String>)>,
}

/// Why a file has no questions.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QuestionsError {
    /// The line, counted from 1.
    line: usize,
    reason: String,
}

impl fmt::Display for QuestionsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.reason)
    }
}

#[derive(Deserialize)]
struct Row {
    #[serde(alias = "_id")]
    id: Option<String>,
    question: String,
    answer: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    level: Option<String>,
    supporting_facts: Option<Facts>,
    context: Option<Context>,
}

/// Pairs of a title and the number of a sentence, as rows or as columns.
#[derive(Deserialize)]
#[serde(untagged)]
enum Facts {
    Rows(Vec<(String, i64)>),
    Columns { title: Vec<String> },
}

/// Pairs of a title and its sentences, as rows or as columns.
#[derive(Deserialize)]
#[serde(untagged)]
enum Context {
    Rows(Vec<(String, Vec<String>)>),
    Columns { title: Vec<String>, sentences: Vec<Vec<String>> },
}

impl Row {
    fn into_question(self, number: usize) -> Question {
        let mut supporting_titles: Vec<String> = Vec::new();
        let titles = match self.supporting_facts {
            Some(Facts::Rows(rows)) => rows.into_iter().map(|(title, _)| title).collect(),
            Some(Facts::Columns { title }) => title,
            None => Vec::new(),
        };
        for title in titles {
            if !supporting_titles.contains(&title) {
                supporting_titles.push(title);
            }
        }
        let pages = match self.context {
            Some(Context::Rows(rows)) => rows,
            Some(Context::Columns { title, sentences }) => title.into_iter().zip(sentences).collect(),
            None => Vec::new(),
        };
        Question {
            id: question_id(self.id, number),
            text: self.question,
            answer: self.answer,
            kind: self.kind,
            level: self.level,
            supporting_titles,
            pages,
        }
    }
}

/// Returns the id of a question. One that is a number would look like the number of a row after the file's name.
fn question_id(id: Option<String>, number: usize) -> String {
    let id = id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
    let Some(id) = id else { return format!("row-{number}") };
    if id.chars().all(|c| c.is_ascii_digit()) { format!("q{id}") } else { id }
}

/// Returns whether a value is a question, so that a list of tasks with such rows is a file of questions.
pub(super) fn looks_like_questions(bytes: &[u8]) -> bool {
    const SEARCHED_BYTES: usize = 64 << 10;
    let start = bytes.trim_ascii_start();
    let head = &start[..start.len().min(SEARCHED_BYTES)];
    let has = |name: &[u8]| head.windows(name.len()).any(|part| part == name);
    head.starts_with(b"[") || head.starts_with(b"{") && has(b"\"question\"") && has(b"\"answer\"")
}

/// Parses a file: a JSON array of questions, or one question a line.
///
/// # Errors
/// Returns the line and what is wrong with it.
pub(super) fn parse_questions(bytes: &[u8]) -> Result<Vec<Question>, QuestionsError> {
    let broken = |line: usize, reason: String| QuestionsError { line, reason };
    let rows: Vec<Row> = if bytes.trim_ascii_start().starts_with(b"[") {
        serde_json::from_slice(bytes).map_err(|error| broken(error.line(), error.to_string()))?
    } else {
        let lines = bytes.split(|byte| *byte == b'\n').enumerate();
        let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
        lines
            .map(|(at, line)| serde_json::from_slice(line).map_err(|error| broken(at + 1, error.to_string())))
            .collect::<Result<_, _>>()?
    };
    if rows.is_empty() {
        return Err(broken(1, "it contains no questions".to_owned()));
    }
    Ok(rows.into_iter().enumerate().map(|(at, row)| row.into_question(at)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = r#"{"_id":"5a8b","question":"Who?","answer":"Ada","type":"bridge","level":"hard","supporting_facts":[["A",0],["B",1],["A",2]],"context":[["A",["One."," Two."]],["B",["Three."]]]}"#;
    const COLUMNS: &str = r#"{"id":"5a8b","question":"Who?","answer":"Ada","type":"bridge","level":"hard","supporting_facts":{"title":["A","B","A"],"sent_id":[0,1,2]},"context":{"title":["A","B"],"sentences":[["One."," Two."],["Three."]]}}"#;

    #[test]
    fn all_published_forms_have_the_same_questions() {
        let array = parse_questions(format!("[{ROW},\n{ROW}]").as_bytes()).unwrap();
        let lines = parse_questions(format!("{ROW}\n\n{ROW}\n").as_bytes()).unwrap();
        let columns = parse_questions(COLUMNS.as_bytes()).unwrap();
        assert_eq!(array, lines);
        assert_eq!(array[..1], columns[..]);
        assert_eq!(array[0].supporting_titles, ["A", "B"]);
        assert_eq!(array[0].pages[0], ("A".to_owned(), vec!["One.".to_owned(), " Two.".to_owned()]));
    }

    #[test]
    fn what_is_missing_is_left_out_and_numbers_are_no_ids() {
        let simple = parse_questions(br#"[{"question":"Who?","answer":"Ada","type":"bridge"}]"#).unwrap();
        assert_eq!((simple[0].id.as_str(), simple[0].pages.len()), ("row-0", 0));
        let numbered = parse_questions(br#"{"id":"17","question":"Who?","answer":"Ada"}"#).unwrap();
        assert_eq!(numbered[0].id, "q17");
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            ("[]", "line 1: it contains no questions"),
            ("", "line 1: it contains no questions"),
            ("{\"question\":\"Who?\",\"answer\":\"Ada\"}\n{\"question\":1}", "line 2: "),
            ("[{\"question\":\"Who?\"}]", "line 1: missing field `answer`"),
            ("[1]", "line 1: "),
        ] {
            let error = parse_questions(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    #[test]
    fn files_of_questions_are_recognised() {
        assert!(looks_like_questions(b" [{}]") && looks_like_questions(ROW.as_bytes()));
        assert!(!looks_like_questions(b"some-task\nother") && !looks_like_questions(br#"{"task":"x"}"#));
    }
}
