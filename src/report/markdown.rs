//! The whole trajectory as Markdown, to read, to paste into an issue, to keep in git.

use super::document::{Block, Document, LessonEntry, Section, Span, lesson_line, reflection_notes};
use super::record::enum_name;
use super::{EpisodeRecord, SessionRecord};
use crate::domain::{ASSISTED_MEANING, SearchHistory};
use crate::text::{escape_markdown as escape, markdown_block, markdown_code as code};
use std::fmt::Write as _;

/// Renders the document. External text is put into code, so that none of it is interpreted as Markdown.
pub fn render_markdown(record: &SessionRecord) -> String {
    let document = Document(record);
    let mut out = format!("# {}\n\n", escape(&document.title(None)));
    for group in document.facts() {
        let facts: Vec<String> =
            group.iter().map(|(name, value)| format!("{name}: {}", inline([value]))).collect();
        let _ = writeln!(out, "- {}", facts.join(", "));
    }
    let _ = writeln!(out, "- result: {}\n", document.result());
    if record.episodes.len() > 1 {
        write_contents(&mut out, record);
    }
    for history in document.searches() {
        write_search(&mut out, &history);
    }
    for entry in &record.episodes {
        write_heading(&mut out, entry);
        for section in document.sections(entry) {
            write_section(&mut out, &section);
        }
        for block in Document::closing(entry) {
            write_block(&mut out, &block);
            out.push('\n');
        }
    }
    write_lessons(&mut out, &document.lessons());
    write_settings(&mut out, &document);
    out
}

fn inline<'a>(line: impl IntoIterator<Item = &'a Span<'a>>) -> String {
    let spans = line.into_iter().map(|span| match span {
        Span::Words(text) => text.to_string(),
        Span::Quote(text) | Span::Code(text) => code(text),
        Span::Replaced(text) => format!("~~{}~~", code(text)),
        Span::Person => "a person".to_owned(),
    });
    spans.collect()
}

/// Formats a heading, in which only names are code.
fn heading(line: &[Span<'_>]) -> String {
    let spans = line.iter().map(|span| match span {
        Span::Quote(text) => escape(text),
        other => inline([other]),
    });
    spans.collect()
}

fn cell_code(text: &str) -> String {
    code(text).replace('|', "\\|")
}

fn write_contents(out: &mut String, record: &SessionRecord) {
    out.push_str("| episode | task | trial | outcome |\n|---|---|---|---|\n");
    for entry in &record.episodes {
        let e = &*entry.episode;
        let (goal, task) = (escape(&e.task.goal), cell_code(&e.task.id));
        let outcome = inline(&Block::Outcome(e).line());
        let _ = writeln!(out, "| {} | {goal} {task} | {} | {outcome} |", e.number, e.trial);
    }
    out.push('\n');
}

/// Writes the evaluations of a search; the HTML page has a picture of them.
fn write_search(out: &mut String, history: &SearchHistory) {
    let _ = writeln!(out, "## {}\n\n{}\n", escape(&history.title()), escape(&history.extent()));
    out.push_str("| evaluation | round | reward | |\n|---|---|---|---|\n");
    for (index, point) in history.points.iter().enumerate() {
        let remark = match point.assisted {
            true => ASSISTED_MEANING,
            false if history.best() == Some(index) => "best",
            false => "",
        };
        let _ = writeln!(out, "| {} | {} | {:.3} | {remark} |", index + 1, point.round, point.reward);
    }
    out.push('\n');
}

fn write_heading(out: &mut String, entry: &EpisodeRecord) {
    let [title, outcome] = [Block::Heading(&entry.episode), Block::Outcome(&entry.episode)];
    let _ = writeln!(out, "## {}\n\n{}\n", heading(&title.line()), inline(&outcome.line()));
}

fn write_section(out: &mut String, section: &Section<'_>) {
    if section.step > 0 {
        let _ = writeln!(out, "### Step {}\n", section.step);
        section.decision.iter().for_each(|block| write_block(out, block));
        out.push('\n');
    }
    section.outcome.iter().for_each(|block| write_block(out, block));
    if !out.ends_with("\n\n") {
        out.push('\n');
    }
}

fn write_block(out: &mut String, block: &Block<'_>) {
    let note = block.note().map_or_else(String::new, |note| format!(" ({})", inline(&note)));
    let mark = match block {
        Block::Observation { text, .. } => {
            let _ = writeln!(out, "{}", markdown_block(text));
            if !note.is_empty() {
                let _ = writeln!(out, "{}\n", note.trim());
            }
            return;
        }
        Block::Remark(text) => {
            let _ = writeln!(out, "> {}", escape(text));
            return;
        }
        Block::Reasoning(_) => "reasoning: ",
        Block::Thought { .. } => "thought: ",
        Block::Action { .. } => "action: ",
        Block::Proposal(_) => "proposed: ",
        Block::Finding { note, .. } => &format!("{} ", enum_name(&note.kind)),
        Block::Reflection(_) => "**",
        _ => "",
    };
    let end = if matches!(block, Block::Reflection(_)) { "**" } else { &note };
    let _ = writeln!(out, "- {mark}{}{end}", inline(&block.line()));
    if let Block::Reflection(reflection) = block {
        let items = reflection.items.iter().map(|item| lesson_line(&item.text));
        for line in items.chain(reflection_notes(reflection).iter().map(Block::line)) {
            let _ = writeln!(out, "  - {}", inline(&line));
        }
    }
}

fn write_lessons(out: &mut String, lessons: &[LessonEntry<'_>]) {
    if lessons.is_empty() {
        return;
    }
    out.push_str("## Lessons\n\n");
    for LessonEntry { lesson, text, origin, scope, status, uses, parents, measured } in lessons {
        let (learnt_in, learnt_at) = lesson.worded_at();
        let loaded =
            lesson.file_name().map_or_else(String::new, |name| format!(", loaded from {}", code(name)));
        let _ = writeln!(
            out,
            "{}. {}: {} ({origin}, {scope}, {status}, {uses}, learned at {}.{}{parents}{loaded})",
            lesson.number,
            lesson.kind.name(),
            inline(text),
            learnt_in,
            learnt_at
        );
        for line in measured {
            let _ = writeln!(out, "    - {}", escape(line));
        }
    }
    out.push('\n');
}

fn write_settings(out: &mut String, document: &Document<'_>) {
    let settings = document.settings();
    if settings.is_empty() {
        return;
    }
    out.push_str("## Settings\n\n| name | value | from |\n|---|---|---|\n");
    for (name, value, source) in settings {
        let _ = writeln!(out, "| {} | {} | {source} |", escape(name), cell_code(&value));
    }
}
