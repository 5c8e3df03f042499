//! Parses a list without brackets: numbered, bulleted or plain lines.

use super::label::{
    self, LabelRole, is_empty_list_phrase, is_filler_phrase, split_label, strip_bullet, strip_decoration,
};
use super::{ParseLog, ReadItem, collapse_whitespace, has_words, prose};
use crate::domain::LessonText;

/// Returns whether a line is a code fence.
pub(super) fn is_fence(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("```") && !line[3..].contains(char::is_whitespace) || line.starts_with("~~~")
}

/// Returns the text of a heading: `## Kitchen`, `**Kitchen**` or `Kitchen:`. Returns `None` for a sentence that ends
/// with a colon.
pub(super) fn parse_heading(line: &str) -> Option<String> {
    let line = line.trim();
    let marked =
        line.starts_with('#') || line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
    let words = line.trim_matches(|c: char| "#*=:_ `".contains(c));
    let is_short_label = line.ends_with(':') && words.split_whitespace().count() <= 3;
    ((marked || is_short_label) && has_words(words)).then(|| collapse_whitespace(words))
}

/// A line, split into its bullet or number and its text.
struct ListLine<'a> {
    line: &'a str,
    /// The text after the bullet or number.
    words: &'a str,
    bulleted: bool,
    indent: usize,
    after_blank: bool,
}

/// An item that may continue on the next line.
struct PendingItem<'a> {
    mistake: Vec<&'a str>,
    solution: Vec<&'a str>,
    role: LabelRole,
    first_line: &'a str,
    last_line: &'a str,
}

struct ListReader<'a, 'r> {
    items: &'r mut Vec<ReadItem>,
    log: &'r mut ParseLog<'a>,
    pending: Option<PendingItem<'a>>,
    heading: Option<String>,
}

/// Appends the lessons of these lines to `items`.
pub(super) fn read_lines<'a>(lines: &[&'a str], items: &mut Vec<ReadItem>, log: &mut ParseLog<'a>) {
    let rows = parse_rows(lines, log);
    let bulleted = rows.iter().any(|r| r.bulleted);
    if !bulleted && drop_prose(&rows, log) {
        return;
    }
    let mut reader = ListReader { items, log, pending: None, heading: None };
    for (n, row) in rows.iter().enumerate() {
        let next = rows.get(n + 1);
        reader.read_row(row, next, bulleted);
    }
    reader.finish_item();
}

/// Drops all lines if they can't be an unbulleted list with one lesson per line, because they are paragraphs, a refusal
/// or a question. Returns whether it dropped them.
fn drop_prose<'a>(rows: &[ListLine<'a>], log: &mut ParseLog<'a>) -> bool {
    let text = |row: &ListLine<'a>| row.words.trim_start_matches(['*', '\'', '"', '`']);
    if rows.iter().any(|row| split_label(text(row)).is_some()) {
        return false;
    }
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return false };
    let mut paragraphs: Vec<String> = Vec::new();
    let mut previous: Option<&ListLine<'a>> = None;
    for row in rows {
        let continues =
            previous.is_some_and(|previous| !row.after_blank && is_continuation(previous.line, row.words));
        match paragraphs.last_mut().filter(|_| continues) {
            Some(paragraph) => {
                paragraph.push(' ');
                paragraph.push_str(row.words);
            }
            None => paragraphs.push(row.words.to_owned()),
        }
        previous = Some(row);
    }
    let Some(reason) = prose::non_list_reason(&paragraphs) else { return false };
    let (start, end) = (log.span_of(first.line).start, log.span_of(last.line).end);
    let reply = log.reply;
    let part = reply.get(start..end).unwrap_or(first.line);
    log.drop_lesson(reason, part, LessonText::plain(collapse_whitespace(part)));
    true
}

/// Returns the lines with content, each split into its bullet or number and its text.
fn parse_rows<'a>(lines: &[&'a str], log: &mut ParseLog<'a>) -> Vec<ListLine<'a>> {
    let mut after_blank = false;
    let mut rows = Vec::new();
    for line in lines {
        if is_fence(line) || !has_words(line) {
            log.mark_as_markup(line);
            after_blank |= line.trim().is_empty();
            continue;
        }
        let words = strip_bullet(line);
        rows.push(ListLine {
            line,
            words: words.unwrap_or(line),
            bulleted: words.is_some(),
            indent: line.len() - line.trim_start().len(),
            after_blank: std::mem::take(&mut after_blank),
        });
    }
    rows
}

impl<'a> ListReader<'a, '_> {
    fn read_row(&mut self, row: &ListLine<'a>, next: Option<&ListLine<'a>>, is_bulleted_list: bool) {
        if let Some((role, name, words)) = split_label(row.words.trim_start_matches(['*', '\'', '"', '`'])) {
            return self.add_labelled_part(row, role, name, words);
        }
        if row.words.trim_start().starts_with('#') && !row.bulleted {
            return self.start_section(row);
        }
        let ends_with_colon = row.words.trim_end().ends_with(':');
        let has_sublist = next.is_some_and(|n| n.bulleted && (n.indent > row.indent || !row.bulleted));
        if ends_with_colon && (!row.bulleted || has_sublist)
            || !row.bulleted && parse_heading(row.words).is_some()
        {
            return self.start_section(row);
        }
        if row.bulleted {
            return self.start_item(row);
        }
        if is_empty_list_phrase(row.words) && self.pending.is_none() {
            return self.log.complain("read as an empty list", row.line);
        }
        if is_filler_phrase(row.words) {
            self.finish_item();
            return self.log.mark_as_markup(row.line);
        }
        let continues = match &self.pending {
            None => false,
            Some(_) if is_bulleted_list => !row.after_blank || row.indent > 0,
            Some(item) => !row.after_blank && is_continuation(item.last_line, row.words),
        };
        if continues {
            if let Some(item) = &mut self.pending {
                let part = if item.solution.is_empty() { &mut item.mistake } else { &mut item.solution };
                part.push(row.words);
                item.last_line = row.line;
            }
        } else if is_bulleted_list {
            self.finish_item();
            self.log.complain("text around the list was not used", row.line);
        } else {
            self.start_item(row);
        }
    }

    fn start_section(&mut self, row: &ListLine<'a>) {
        self.finish_item();
        self.heading = parse_heading(row.words);
        self.log.mark_as_markup(row.line);
    }

    fn start_item(&mut self, row: &ListLine<'a>) {
        self.finish_item();
        let bullet = &row.line[..row.line.len() - row.words.len()];
        self.log.mark_as_markup(bullet);
        let (mistake, role) = (vec![row.words], LabelRole::Lesson);
        self.pending = Some(PendingItem {
            mistake,
            solution: Vec::new(),
            role,
            first_line: row.line,
            last_line: row.line,
        });
    }

    /// Processes a line that is labelled as a mistake or a solution.
    fn add_labelled_part(&mut self, row: &ListLine<'a>, role: LabelRole, name: &'a str, words: &'a str) {
        if role == LabelRole::Mistake {
            self.finish_item();
            let (mistake, solution) = match label::split_pair(&row.words[row.words.find(name).unwrap_or(0)..])
            {
                Some((mistake, solution)) => (vec![mistake], vec![solution]),
                None => (vec![words], Vec::new()),
            };
            self.log.mark_as_markup(&row.line[..row.line.len() - words.len()]);
            self.pending =
                Some(PendingItem { mistake, solution, role, first_line: row.line, last_line: row.line });
            return;
        }
        self.log.mark_as_markup(&row.line[..row.line.len() - words.len()]);
        match &mut self.pending {
            Some(item) if item.solution.is_empty() && (!row.bulleted || item.role == LabelRole::Mistake) => {
                item.solution.push(words);
                item.last_line = row.line;
            }
            _ => {
                self.finish_item();
                let (mistake, solution) = (Vec::new(), vec![words]);
                self.pending =
                    Some(PendingItem { mistake, solution, role, first_line: row.line, last_line: row.line });
            }
        }
    }

    fn finish_item(&mut self) {
        let Some(item) = self.pending.take() else { return };
        let span = self.log.span_of(item.first_line).start..self.log.span_of(item.last_line).end;
        let source = self.log.reply.get(span.clone()).unwrap_or_default();
        let mistake = strip_decoration(&item.mistake.join(" "));
        let solution = strip_decoration(&item.solution.join(" "));
        if is_empty_list_phrase(&mistake) && solution.is_empty() {
            return self.log.complain("read as an empty list", source);
        }
        let text = match (has_words(&mistake), has_words(&solution)) {
            (true, true) => LessonText::error(mistake, solution),
            (true, false) => {
                if item.role == LabelRole::Mistake {
                    self.log.complain("this mistake has no solution", source);
                }
                LessonText::plain(mistake)
            }
            (false, true) => {
                if item.role == LabelRole::Solution {
                    self.log.complain("this solution has no mistake", source);
                }
                LessonText::plain(solution)
            }
            (false, false) => return self.log.mark_as_markup(source),
        };
        self.items.push(ReadItem { text, priority: None, heading: self.heading.clone(), span });
    }
}

/// Returns whether a line without a bullet continues the sentence of the previous line.
fn is_continuation(previous: &str, line: &str) -> bool {
    let ended = previous.trim_end().ends_with(['.', '!', '?', ';', '"', '\'', '”']);
    !ended && line.trim_start().starts_with(char::is_lowercase)
}
