//! Parses a list without brackets: numbered, bulleted or plain lines.

use super::label::{self, Role, is_phrase, labelled, says_none, unbulleted, undecorated};
use super::{ReadItem, Remarks, prose, says_something, squeeze};
use crate::domain::LessonText;

/// Returns whether a line is a code fence.
pub(super) fn is_fence(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("```") && !line[3..].contains(char::is_whitespace) || line.starts_with("~~~")
}

/// Returns the text of a heading: `## Kitchen`, `**Kitchen**`, `Kitchen:`; not of a whole sentence before a list.
pub(super) fn heading(line: &str) -> Option<String> {
    let line = line.trim();
    let marked =
        line.starts_with('#') || line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
    let words = line.trim_matches(|c: char| "#*=:_ `".contains(c));
    let named = line.ends_with(':') && words.split_whitespace().count() <= 3;
    ((marked || named) && says_something(words)).then(|| squeeze(words))
}

/// The outer form of a line, before its text is examined.
struct Row<'a> {
    line: &'a str,
    /// The text after the bullet or number.
    words: &'a str,
    bulleted: bool,
    indent: usize,
    after_blank: bool,
}

/// An item that may continue on the next line.
struct Growing<'a> {
    mistake: Vec<&'a str>,
    solution: Vec<&'a str>,
    role: Role,
    from: &'a str,
    to: &'a str,
}

struct Reader<'a, 'r> {
    items: &'r mut Vec<ReadItem>,
    remarks: &'r mut Remarks<'a>,
    growing: Option<Growing<'a>>,
    under: Option<String>,
}

/// Appends the lessons of these lines to `items`.
pub(super) fn read<'a>(lines: &[&'a str], items: &mut Vec<ReadItem>, remarks: &mut Remarks<'a>) {
    let rows = rows(lines, remarks);
    let bulleted = rows.iter().any(|r| r.bulleted);
    if !bulleted && drop_prose(&rows, remarks) {
        return;
    }
    let mut reader = Reader { items, remarks, growing: None, under: None };
    for (n, row) in rows.iter().enumerate() {
        let next = rows.get(n + 1);
        reader.row(row, next, bulleted);
    }
    reader.end();
}

/// Drops lines that have no form of a list and are not a list of sentences either: paragraphs, a refusal, a question.
/// Returns whether it did; none of the lines is a lesson then.
fn drop_prose<'a>(rows: &[Row<'a>], remarks: &mut Remarks<'a>) -> bool {
    let words = |row: &Row<'a>| row.words.trim_start_matches(['*', '\'', '"', '`']);
    if rows.iter().any(|row| labelled(words(row)).is_some()) {
        return false;
    }
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return false };
    let mut paragraphs: Vec<String> = Vec::new();
    let mut before: Option<&Row<'a>> = None;
    for row in rows {
        let goes_on = before.is_some_and(|before| !row.after_blank && runs_on(before.line, row.words));
        match paragraphs.last_mut().filter(|_| goes_on) {
            Some(paragraph) => {
                paragraph.push(' ');
                paragraph.push_str(row.words);
            }
            None => paragraphs.push(row.words.to_owned()),
        }
        before = Some(row);
    }
    let Some(what) = prose::why_no_list(&paragraphs) else { return false };
    let (from, to) = (remarks.place(first.line).start, remarks.place(last.line).end);
    let reply = remarks.reply;
    let part = reply.get(from..to).unwrap_or(first.line);
    remarks.drop_lesson(what, part, LessonText::plain(squeeze(part)));
    true
}

/// Returns the lines with content, and what precedes their text.
fn rows<'a>(lines: &[&'a str], remarks: &mut Remarks<'a>) -> Vec<Row<'a>> {
    let mut after_blank = false;
    let mut rows = Vec::new();
    for line in lines {
        if is_fence(line) || !says_something(line) {
            remarks.skip(line);
            after_blank |= line.trim().is_empty();
            continue;
        }
        let words = unbulleted(line);
        rows.push(Row {
            line,
            words: words.unwrap_or(line),
            bulleted: words.is_some(),
            indent: line.len() - line.trim_start().len(),
            after_blank: std::mem::take(&mut after_blank),
        });
    }
    rows
}

impl<'a> Reader<'a, '_> {
    fn row(&mut self, row: &Row<'a>, next: Option<&Row<'a>>, list: bool) {
        if let Some((role, name, words)) = labelled(row.words.trim_start_matches(['*', '\'', '"', '`'])) {
            return self.part(row, role, name, words);
        }
        if row.words.trim_start().starts_with('#') && !row.bulleted {
            return self.heading(row);
        }
        let over = row.words.trim_end().ends_with(':');
        let below = next.is_some_and(|n| n.bulleted && (n.indent > row.indent || !row.bulleted));
        if over && (!row.bulleted || below) || !row.bulleted && heading(row.words).is_some() {
            return self.heading(row);
        }
        if row.bulleted {
            return self.begin(row);
        }
        if says_none(row.words) && self.growing.is_none() {
            return self.remarks.complain("taken for an empty list", row.line);
        }
        if is_phrase(row.words) {
            self.end();
            return self.remarks.skip(row.line);
        }
        let goes_on = match &self.growing {
            None => false,
            Some(_) if list => !row.after_blank || row.indent > 0,
            Some(growing) => !row.after_blank && runs_on(growing.to, row.words),
        };
        if goes_on {
            if let Some(growing) = &mut self.growing {
                let part =
                    if growing.solution.is_empty() { &mut growing.mistake } else { &mut growing.solution };
                part.push(row.words);
                growing.to = row.line;
            }
        } else if list {
            self.end();
            self.remarks.complain("text around the list was not used", row.line);
        } else {
            self.begin(row);
        }
    }

    fn heading(&mut self, row: &Row<'a>) {
        self.end();
        self.under = heading(row.words);
        self.remarks.skip(row.line);
    }

    fn begin(&mut self, row: &Row<'a>) {
        self.end();
        if let Some((_, words)) = row.line.split_at_checked(row.line.len() - row.words.len()) {
            let bullet = &row.line[..row.line.len() - words.len()];
            self.remarks.skip(bullet);
        }
        let (mistake, role) = (vec![row.words], Role::Lesson);
        self.growing = Some(Growing { mistake, solution: Vec::new(), role, from: row.line, to: row.line });
    }

    /// Processes a line labelled as a mistake or as what to do instead.
    fn part(&mut self, row: &Row<'a>, role: Role, name: &'a str, words: &'a str) {
        if role == Role::Mistake {
            self.end();
            let (mistake, solution) = match label::pair(&row.words[row.words.find(name).unwrap_or(0)..]) {
                Some((mistake, solution)) => (vec![mistake], vec![solution]),
                None => (vec![words], Vec::new()),
            };
            self.remarks.skip(&row.line[..row.line.len() - words.len()]);
            self.growing = Some(Growing { mistake, solution, role, from: row.line, to: row.line });
            return;
        }
        self.remarks.skip(&row.line[..row.line.len() - words.len()]);
        match &mut self.growing {
            Some(growing)
                if growing.solution.is_empty() && (!row.bulleted || growing.role == Role::Mistake) =>
            {
                growing.solution.push(words);
                growing.to = row.line;
            }
            _ => {
                self.end();
                let (mistake, solution) = (Vec::new(), vec![words]);
                self.growing = Some(Growing { mistake, solution, role, from: row.line, to: row.line });
            }
        }
    }

    fn end(&mut self) {
        let Some(growing) = self.growing.take() else { return };
        let (from, to) = (self.remarks.place(growing.from), self.remarks.place(growing.to));
        let at = from.start..to.end;
        let whole = self.remarks.reply.get(at.clone()).unwrap_or_default();
        let mistake = undecorated(&growing.mistake.join(" "));
        let solution = undecorated(&growing.solution.join(" "));
        if says_none(&mistake) && solution.is_empty() {
            return self.remarks.complain("taken for an empty list", whole);
        }
        let text = match (says_something(&mistake), says_something(&solution)) {
            (true, true) => LessonText::error(mistake, solution),
            (true, false) => {
                if growing.role == Role::Mistake {
                    self.remarks.complain("this mistake has no solution", whole);
                }
                LessonText::plain(mistake)
            }
            (false, true) => {
                if growing.role == Role::Solution {
                    self.remarks.complain("this solution has no mistake", whole);
                }
                LessonText::plain(solution)
            }
            (false, false) => return self.remarks.skip(whole),
        };
        self.items.push(ReadItem { text, priority: None, under: self.under.clone(), at });
    }
}

/// Returns whether a line without a bullet continues the sentence of the line before it.
fn runs_on(before: &str, line: &str) -> bool {
    let ended = before.trim_end().ends_with(['.', '!', '?', ';', '"', '\'', '”']);
    !ended && line.trim_start().starts_with(char::is_lowercase)
}
