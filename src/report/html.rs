//! A single self-contained HTML file: no network, no script; light and dark; one step is marked, and a link at the top leads
//! to it; with the journal inside, so that it can be opened as a session again.

use super::SessionRecord;
use super::StepRef;
use super::document::{Block, Document, LessonEntry, Section, Span, Tone, lesson_line, reflection_notes};
use super::search_picture::search_picture;
use crate::domain::{LessonStatus, ReflectionKind, pluralize, screenshot_url};
use crate::engine::Episode;
use crate::text::program_name;
use std::fmt::Write as _;

/// Writes the next part of a page.
type WritePart<'a, E> = dyn FnMut(&str) -> Result<(), E> + 'a;

/// Writes the session's files into a page, as data.
pub type EmbedSession<'a, E> = dyn Fn(&mut WritePart<'_, E>) -> Result<(), E> + 'a;

/// Writes the page part by part: the embedded journal can be larger than the memory. `at` is the marked step; `embed`
/// adds the session's files, if the page is to contain them.
///
/// # Errors
/// Returns the first error of writing or of reading a file.
pub fn write_html<E>(
    record: &SessionRecord,
    at: StepRef,
    embed: Option<&EmbedSession<'_, E>>,
    write: &mut WritePart<'_, E>,
) -> Result<(), E> {
    let document = Document(record);
    let title = escape(&document.title(Some(at)));
    let mut out = String::new();
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title} · retrospect</title>\n<style>\n{}</style>\n\
         </head>\n<body>\n<h1>{title}</h1>\n",
        include_str!("html/page.css")
    );
    write_outcome(&mut out, record, at);
    write_facts(&mut out, &document, at);
    let count = record.episodes.len();
    if count > 1 {
        write_contents(&mut out, record);
    }
    for history in document.searches() {
        out.push_str(&search_picture(&history));
    }
    write_lessons(&mut out, &document.lessons());
    for entry in &record.episodes {
        let number = entry.episode.number;
        write_heading(&mut out, &entry.episode, number == at.episode || count == 1);
        for section in document.sections(entry) {
            write_section(&mut out, &section, number, at);
            pass_on(&mut out, write)?;
        }
        for block in Document::closing(entry) {
            write_block(&mut out, &block);
        }
        write_screenshot(&mut out, &entry.episode);
        out.push_str("</details>\n");
    }
    write_settings(&mut out, &document);
    if let Some(embed) = embed {
        let _ = writeln!(
            out,
            "<p class=\"soft\">This page contains the session's journal: <code>{} open FILE.html</code> opens it again, \
             read-only.</p>",
            escape(program_name())
        );
        pass_on(&mut out, write)?;
        embed(write)?;
        out.push('\n');
    } else {
        out.push_str("<p class=\"soft\">This page contains no journal.</p>\n");
    }
    out.push_str("</body>\n</html>\n");
    write(&out)
}

/// Writes what has been collected in `out`, and empties it.
fn pass_on<E>(out: &mut String, write: &mut WritePart<'_, E>) -> Result<(), E> {
    write(out)?;
    out.clear();
    Ok(())
}

/// Writes how the episode with the marked step ended.
fn write_outcome(out: &mut String, record: &SessionRecord, at: StepRef) {
    let Some(episode) = record.episode(at.episode).or(record.episodes.last()).map(|entry| &*entry.episode)
    else {
        return;
    };
    let (class, verdict) = match &episode.outcome {
        None => ("soft", "in progress".to_owned()),
        Some(end) => (if end.won { "good" } else { "bad" }, end.verdict()),
    };
    let number = match record.episodes.len() {
        1 => String::new(),
        _ => format!("Episode {}: ", episode.number),
    };
    let steps = pluralize(u64::from(episode.answered_steps()), "step");
    let branch =
        record.branch.as_ref().map_or_else(String::new, |b| format!(" · branch {}", b.display_name()));
    let _ = writeln!(
        out,
        "<p>{number}<b class=\"{class}\">{}</b> · reward {:.2} · {steps}{}</p>",
        escape(&verdict),
        episode.total_reward(),
        escape(&branch)
    );
    if episode.assisted {
        out.push_str(
            "<p class=\"human\">A person has helped (assisted), so it is excluded from rates.</p>\n",
        );
    }
}

fn write_facts(out: &mut String, document: &Document<'_>, at: StepRef) {
    let _ = writeln!(out, "<p>{}</p>\n<dl>", escape(&document.result()));
    for (name, value) in document.facts().iter().flatten() {
        let _ = writeln!(out, "<dt>{name}</dt><dd>{}</dd>", inline([value]));
    }
    out.push_str("</dl>\n");
    if document.has_step(at) {
        let link = format!("<a href=\"#{}\">step {} of episode {}</a>", anchor(at), at.step, at.episode);
        let _ = writeln!(out, "<p>Marked: {link}.</p>");
    }
}

fn inline<'a>(line: impl IntoIterator<Item = &'a Span<'a>>) -> String {
    let spans = line.into_iter().map(|span| match span {
        Span::Words(text) => text.to_string(),
        Span::Quote(text) => escape(text),
        Span::Code(text) => format!("<code>{}</code>", escape(text)),
        Span::Replaced(text) => format!("<del><code>{}</code></del>", escape(text)),
        Span::Person => "a person".to_owned(),
    });
    spans.collect()
}

fn anchor(at: StepRef) -> String {
    format!("s{}-{}", at.episode, at.step)
}

fn write_contents(out: &mut String, record: &SessionRecord) {
    out.push_str(
        "<h2>Episodes</h2>\n<div class=\"wide\"><table>\n<tr><th>no.</th><th>task</th><th>trial</th><th>outcome</th>\
         <th>progress</th></tr>\n",
    );
    for e in record.episodes.iter().map(|entry| &*entry.episode) {
        let _ = writeln!(
            out,
            "<tr><td>{n}</td><td><a href=\"#e{n}\">{}</a></td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&e.task.id),
            e.trial,
            inline(&Block::Outcome(e).line()),
            progress_bar(e.progress),
            n = e.number
        );
    }
    out.push_str("</table></div>\n");
}

fn progress_bar(progress: f64) -> String {
    let percent = (progress.clamp(0.0, 1.0) * 100.0).round();
    format!("<span class=\"bar\"><i style=\"width:{percent}%\"></i></span> {progress:.2}")
}

fn write_heading(out: &mut String, e: &Episode, is_open: bool) {
    let _ = writeln!(
        out,
        "<details class=\"episode\" id=\"e{}\"{}><summary>{} · {}</summary>",
        e.number,
        if is_open { " open" } else { "" },
        inline(&Block::Heading(e).line()),
        inline(&Block::Outcome(e).line())
    );
}

/// Writes the picture of the environment at the end of an episode, if it has one.
fn write_screenshot(out: &mut String, e: &Episode) {
    if let Some(url) = screenshot_url(&e.truth) {
        let _ = writeln!(
            out,
            "<p class=\"soft\">At the end of the episode:</p>\n<img class=\"shot\" alt=\"screenshot at the end of episode {}\" src=\"{}\">",
            e.number,
            escape(url)
        );
    }
}

fn write_section(out: &mut String, section: &Section<'_>, episode: u32, at: StepRef) {
    let here = StepRef { episode, step: section.step };
    let marked = if here == at { " marked" } else { "" };
    let id = anchor(here);
    let _ = writeln!(
        out,
        "<section class=\"step{marked}\" id=\"{id}\"><a class=\"no\" href=\"#{id}\">{}</a><div>",
        here.step
    );
    section.blocks().for_each(|block| write_block(out, block));
    out.push_str("</div></section>\n");
}

fn write_block(out: &mut String, block: &Block<'_>) {
    let line = inline(&block.line());
    if matches!(block, Block::Reasoning(_)) {
        let _ = writeln!(
            out,
            "<details class=\"soft\"><summary>reasoning</summary><div class=\"obs\">{line}</div></details>"
        );
        return;
    }
    let mut note = block.note().map_or_else(String::new, |note| format!("({})", inline(&note)));
    if matches!(block, Block::Proposal(_)) {
        note.push_str("(proposed)");
    }
    let (tag, class) = match (block, block.tone()) {
        (Block::Thought { .. }, _) => ("div", "think"),
        (Block::Action { .. } | Block::Proposal(_), _) => ("div", "act"),
        (Block::Observation { .. }, _) => ("div", "obs"),
        (Block::Reflection(_), _) => ("div", "card"),
        (Block::Remark(_), _) => ("div", "card human"),
        (_, Tone::Good) => ("p", "good"),
        (_, Tone::Bad) => ("p", "bad"),
        (_, Tone::Person) => ("p", "human"),
        _ => ("p", "soft"),
    };
    // An action is a line of its own and needs no frame for code.
    let line = match block {
        Block::Action { text, .. } | Block::Proposal(text) => escape(text),
        Block::Reflection(_) => format!("<b>{line}</b>"),
        _ => line,
    };
    let _ = write!(out, "<{tag} class=\"{class}\">{line}");
    if !note.is_empty() {
        let is_human = matches!(block, Block::Action { decision: Some(_), .. });
        let class = if is_human { "human" } else { "soft" };
        let _ = write!(out, " <span class=\"{class}\">{note}</span>");
    }
    if let Block::Reflection(reflection) = block {
        out.push_str("<ul>");
        for item in &reflection.items {
            let _ = writeln!(out, "<li>{}</li>", inline(&lesson_line(&item.text)));
        }
        out.push_str("</ul>");
        for note in reflection_notes(reflection) {
            let _ = write!(out, "<p class=\"soft\">{}</p>", inline(&note.line()));
        }
    }
    let _ = writeln!(out, "</{tag}>");
}

fn write_lessons(out: &mut String, all: &[LessonEntry<'_>]) {
    if all.is_empty() {
        return;
    }
    let active = all.iter().filter(|e| e.lesson.is_active()).count();
    let _ =
        writeln!(out, "<details open><summary><b>Lessons</b> ({active} of {} active)</summary>", all.len());
    for kind in ReflectionKind::ALL {
        let mut of_kind = all.iter().filter(|e| e.lesson.kind == kind).peekable();
        if of_kind.peek().is_none() {
            continue;
        }
        let _ = writeln!(out, "<h2>{}</h2>\n<div class=\"wide\"><table>", kind.name());
        of_kind.for_each(|entry| write_lesson_row(out, entry));
        out.push_str("</table></div>\n");
    }
    out.push_str("</details>\n");
}

fn write_lesson_row(out: &mut String, entry: &LessonEntry<'_>) {
    let LessonEntry { lesson, text, origin, scope, status, uses, parents, measured } = entry;
    let measured = measured.iter().fold(String::new(), |text, line| text + "<br>" + &escape(line));
    let class = if lesson.status == LessonStatus::Retired { " class=\"soft\"" } else { "" };
    let source = match lesson.worded_at() {
        (0, _) => {
            let file = lesson.file_name().map_or_else(String::new, |name| format!(" from {}", escape(name)));
            format!("loaded{file}")
        }
        (e, s) => format!("<a href=\"#s{e}-{s}\">{e}.{s}</a>"),
    };
    let _ = writeln!(
        out,
        "<tr{class}><td>{}</td><td class=\"lesson\">{}</td><td>{source}</td><td class=\"soft\">{origin}, {scope}, {status}, {uses}{parents}{measured}</td></tr>",
        lesson.number,
        inline(text)
    );
}

fn write_settings(out: &mut String, document: &Document<'_>) {
    let settings = document.settings();
    if settings.is_empty() {
        return;
    }
    out.push_str(
        "<details><summary><b>Settings</b></summary>\n<div class=\"wide\"><table>\n\
         <tr><th>name</th><th>value</th><th>from</th></tr>\n",
    );
    for (name, value, source) in settings {
        let (name, value) = (escape(name), escape(&value));
        let _ = writeln!(out, "<tr><td>{name}</td><td><code>{value}</code></td><td>{source}</td></tr>");
    }
    out.push_str("</table></div></details>\n");
}

/// Escapes a text for HTML.
fn escape(text: &str) -> String {
    crate::text::escape_html(text.trim_end())
}
