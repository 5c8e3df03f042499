//! The whole trajectory as Markdown, to read, to paste into an issue, to keep in git.

use super::SessionRecord;
use super::document::{Block, Document, EpisodeHead, LessonEntry, Section, Span};
use super::record::enum_name;
use crate::domain::pluralize;
use crate::text::{escape_markdown as escape, markdown_block, markdown_code as code};
use std::fmt::Write as _;

/// Renders the document. External text is put into code, so that none of it is interpreted as Markdown.
pub fn render_markdown(record: &SessionRecord) -> String {
    let document = Document::new(record);
    let mut out = format!("# {}\n\n", escape(document.title(None)));
    for group in document.facts() {
        let facts: Vec<String> =
            group.iter().map(|(name, value)| format!("{name}: {}", inline([value]))).collect();
        let _ = writeln!(out, "- {}", facts.join(", "));
    }
    let _ = writeln!(out, "- result: {}\n", document.result());
    if document.episodes().len() > 1 {
        write_contents(&mut out, &document);
    }
    for head in document.episodes() {
        write_heading(&mut out, &head);
        for section in document.sections(&head) {
            write_section(&mut out, &section);
        }
        for block in document.closing(&head) {
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
    });
    spans.collect()
}

fn cell_code(text: &str) -> String {
    code(text).replace('|', "\\|")
}

fn write_contents(out: &mut String, document: &Document<'_>) {
    out.push_str("| episode | task | trial | outcome | assisted |\n|---|---|---|---|---|\n");
    for e in document.episodes() {
        let (goal, task) = (escape(&e.task.goal), cell_code(&e.task.id));
        let assisted = if e.is_assisted { "yes" } else { "" };
        let _ = writeln!(out, "| {} | {goal} {task} | {} | {} | {assisted} |", e.number, e.trial, e.verdict);
    }
    out.push('\n');
}

fn write_heading(out: &mut String, e: &EpisodeHead<'_>) {
    let id = format!("{} {}", escape(&e.task.env), code(&e.task.id));
    let name = if e.task.goal.is_empty() { id } else { format!("{} ({id})", escape(&e.task.goal)) };
    let assisted = if e.is_assisted { ", assisted by a person" } else { "" };
    let _ = writeln!(
        out,
        "## Episode {}: {name}, trial {}{}\n\n{}{assisted}\n",
        e.number, e.trial, e.role, e.verdict
    );
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
    let _ = match block {
        Block::Note(line) => writeln!(out, "- {}", inline(line)),
        Block::Thought { text, note } => writeln!(out, "- thought{note}: {}", code(text)),
        Block::Action { text, .. } => writeln!(out, "- action: {}", code(text)),
        Block::Proposal(text) => writeln!(out, "- proposed: {}", code(text)),
        Block::Observation { text, original } => {
            if let Some(original) = original {
                let edited = "The observation was edited by a person; the environment is unchanged. It said:";
                let _ = writeln!(out, "{edited}\n\n{}\nThe agent sees:\n", markdown_block(original));
            }
            writeln!(out, "{}", markdown_block(text))
        }
        Block::Progress { before, after } => writeln!(out, "Progress {before:.2} → {after:.2}\n"),
        Block::Finding { kind, detector, evidence } => {
            writeln!(out, "- {} {}: {}", enum_name(kind), escape(detector), code(evidence))
        }
        Block::Reflection { name, author, items, notes } => {
            let _ = writeln!(out, "- **{name} reflection** ({author})");
            items.iter().chain(notes).try_for_each(|line| writeln!(out, "  - {}", inline(line)))
        }
        Block::Remark(text) => writeln!(out, "> {}", escape(text)),
        Block::FailedCall { call, message } => {
            writeln!(out, "- a call failed ({}): {}", escape(call), code(message))
        }
    };
}

fn write_lessons(out: &mut String, lessons: &[LessonEntry<'_>]) {
    if lessons.is_empty() {
        return;
    }
    out.push_str("## Lessons\n\n");
    for LessonEntry { lesson, text, origin, scope, status, parents } in lessons {
        let loaded =
            lesson.file_name().map_or_else(String::new, |name| format!(", loaded from {}", code(name)));
        let _ = writeln!(
            out,
            "{}. {}: {} ({origin}, scope {scope}, {status}, version {}, in {}, learned at {}.{}{parents}{loaded})",
            lesson.number,
            lesson.kind.name(),
            inline(text),
            lesson.version(),
            pluralize(lesson.uses.into(), "prompt"),
            lesson.learnt_at.0,
            lesson.learnt_at.1
        );
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
