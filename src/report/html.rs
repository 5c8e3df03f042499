//! A single self-contained HTML file: no network, no script; light and dark; opened at the marked step; with the
//! journal inside, so that it can be opened as a session again.
//!
//! The marked step has `autofocus`: browsers scroll to it unless the address has a fragment.

use super::record::{enum_name, format_parents, format_times};
use super::transcript::{PROMPT_EDITED, author_name, cancelled_reply_text, reply_source};
use super::{EpisodeRecord, SessionFiles, SessionRecord, StepRef, WritePart, embed_session};
use crate::domain::{
    DecidedBy, Lesson, LessonStatus, LessonText, NoteKind, Reflection, ReflectionKind, ShownAs, Step,
    ThoughtDisposition,
};
use std::fmt::Write as _;

/// Writes the page part by part: the embedded journal can be larger than the memory. `at` is the step to open at;
/// `files` are the session's files to embed, if any.
///
/// # Errors
/// Returns the first error of writing or of reading a file.
pub fn write_html<E>(
    record: &SessionRecord,
    at: StepRef,
    files: &SessionFiles<'_, E>,
    write: &mut WritePart<'_, E>,
) -> Result<(), E> {
    let goal = record.episode(at.episode).or(record.episodes.last()).map_or("", |e| &e.episode.task.goal);
    let title = escape(if goal.is_empty() { &record.session } else { goal });
    let mut out = String::new();
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title} · retrospect</title>\n<style>\n{}</style>\n\
         </head>\n<body>\n<h1>{title}</h1>\n",
        include_str!("html/page.css")
    );
    write_facts(&mut out, record, at);
    if record.episodes.len() > 1 {
        write_contents(&mut out, record);
    }
    write_lessons(&mut out, record);
    for episode in &record.episodes {
        write_episode(&mut out, record, episode, at, write)?;
    }
    write_settings(&mut out, record);
    if files.is_empty() {
        out.push_str("<p class=\"soft\">This page contains no journal.</p>\n");
    } else {
        out.push_str(
            "<p class=\"soft\">This page contains the session's journal: <code>retrospect open FILE.html</code> opens it \
             again, read-only.</p>\n",
        );
        pass_on(&mut out, write)?;
        embed_session(files, record.branch.as_ref().map(|b| b.id.0.as_str()), write)?;
        out.push('\n');
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

fn write_facts(out: &mut String, record: &SessionRecord, at: StepRef) {
    let _ = writeln!(out, "<p>{}</p>", escape(&super::Tally::from_states([&*record.final_state]).describe()));
    out.push_str("<dl>\n");
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(out, "<dt>{name}</dt><dd>{}</dd>", escape(value));
    };
    row("session", &record.session);
    if let Some(branch) = &record.branch {
        row("branch", &branch.display_name());
    }
    if let Some(started) = record.started_at {
        row("started", &format!("{started:.0}"));
    }
    if let Some(spec) = &record.spec {
        row("method", &spec.method);
        row("actor", &spec.actor);
        row("mentor", &spec.mentor);
        row("interface", &spec.interface);
        row("seed", &spec.seed.to_string());
    }
    out.push_str("</dl>\n");
    if has_step(record, at) {
        let _ = writeln!(
            out,
            "<p>Opened at <a href=\"#{}\">step {} of episode {}</a>.</p>",
            anchor(at),
            at.step,
            at.episode
        );
    }
}

fn has_step(record: &SessionRecord, at: StepRef) -> bool {
    record.episode(at.episode).is_some_and(|e| at.step as usize <= e.episode.steps.len())
}

fn anchor(at: StepRef) -> String {
    format!("s{}-{}", at.episode, at.step)
}

fn write_contents(out: &mut String, record: &SessionRecord) {
    out.push_str(
        "<h2>Episodes</h2>\n<div class=\"wide\"><table>\n<tr><th>no.</th><th>task</th><th>trial</th><th>outcome</th>\
         <th>progress</th></tr>\n",
    );
    for entry in &record.episodes {
        let e = &entry.episode;
        let _ = writeln!(
            out,
            "<tr><td>{n}</td><td><a href=\"#e{n}\">{}</a></td><td>{}</td><td>{}{}</td><td>{}</td></tr>",
            escape(&e.task.id),
            e.trial,
            escape(&entry.verdict()),
            if e.assisted { " · assisted" } else { "" },
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

fn write_episode<E>(
    out: &mut String,
    record: &SessionRecord,
    entry: &EpisodeRecord,
    at: StepRef,
    write: &mut WritePart<'_, E>,
) -> Result<(), E> {
    let e = &entry.episode;
    let open = if e.number == at.episode || record.episodes.len() == 1 { " open" } else { "" };
    let _ = writeln!(
        out,
        "<details class=\"episode\" id=\"e{n}\"{open}><summary>Episode {n}: {} · trial {} · {}</summary>",
        escape(if e.task.goal.is_empty() { &e.task.id } else { &e.task.goal }),
        e.trial,
        escape(&entry.verdict()),
        n = e.number
    );
    if !e.task.goal.is_empty() {
        let _ = writeln!(out, "<p>Task: {}</p>", escape(&e.task.id));
    }
    if e.assisted {
        out.push_str("<p class=\"soft\">Assisted by a person; excluded from all rates.</p>\n");
    }
    let mut progress = 0.0;
    if let Some(reset) = &e.first_observation {
        progress = reset.progress;
        write_step_start(out, StepRef { episode: e.number, step: 0 }, at);
        let _ = writeln!(
            out,
            "<div class=\"obs\">{}</div></div></section>",
            escape(reset.agent_view.as_deref().unwrap_or(&reset.raw))
        );
    }
    for step in entry.steps() {
        write_step_start(out, StepRef { episode: e.number, step: step.number }, at);
        write_step(out, record, step, &mut progress);
        out.push_str("</div></section>\n");
        pass_on(out, write)?;
    }
    for failed in &entry.failures {
        let _ = writeln!(
            out,
            "<p class=\"bad\">A call failed ({}): {}</p>",
            escape(&failed.description()),
            escape(&failed.failure.message)
        );
    }
    for remark in record.remarks(e.number) {
        let _ = writeln!(out, "<div class=\"card\">{}</div>", escape(remark));
    }
    out.push_str("</details>\n");
    Ok(())
}

fn write_step_start(out: &mut String, here: StepRef, at: StepRef) {
    let marked = if here == at { (" marked", " tabindex=\"-1\" autofocus") } else { ("", "") };
    let id = anchor(here);
    let _ = writeln!(
        out,
        "<section class=\"step{}\" id=\"{id}\"{}><a class=\"no\" href=\"#{id}\">{}</a><div>",
        marked.0, marked.1, here.step
    );
}

fn write_step(out: &mut String, record: &SessionRecord, step: &Step, progress: &mut f64) {
    for (proposal, reason) in &step.rejections {
        let _ = writeln!(
            out,
            "<p class=\"soft\">rejected <code>{}</code>: {}</p>",
            escape(proposal),
            escape(reason)
        );
    }
    for partial_reply in &step.partial_replies {
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", cancelled_reply_text(partial_reply, escape));
    }
    if step.prompt_edited {
        let _ = writeln!(out, "<p class=\"soft\">{PROMPT_EDITED}</p>");
    }
    if let Some(thought) = &step.thought {
        let (note, rewritten) = match step.executed.as_ref().map(|e| &e.thought_disposition) {
            _ if step.thought_edited => (" <span class=\"soft\">(edited by a person)</span>", None),
            Some(ThoughtDisposition::Dropped) => {
                (" <span class=\"soft\">(dropped from later prompts)</span>", None)
            }
            Some(ThoughtDisposition::Rewritten(text)) => {
                (" <span class=\"soft\">(replaced by the next line in later prompts)</span>", Some(text))
            }
            _ if step.dropped_by.is_some() => {
                (" <span class=\"soft\">(dropped from later prompts)</span>", None)
            }
            _ => ("", None),
        };
        let _ = writeln!(out, "<div class=\"think\">{}{note}</div>", escape(thought));
        if let Some(text) = rewritten {
            let _ = writeln!(out, "<div class=\"think\">{}</div>", escape(text));
        }
    }
    if step.unusable_replies > 0 {
        let times = format_times(step.unusable_replies);
        let _ = writeln!(out, "<p class=\"soft\">asked again because a reply was unusable: {times}</p>");
    }
    for warning in &step.warnings {
        let _ = writeln!(out, "<p class=\"soft\">warning: {}</p>", escape(warning));
    }
    if let Some(source) = &step.reply_source {
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", escape(&reply_source(source)));
    }
    for complaint in &step.complaints {
        let _ = writeln!(out, "<p class=\"soft\">about the reply: {}</p>", escape(complaint));
    }
    if let Some(executed) = &step.executed {
        if !(executed.action.starts_with("think:") && executed.decided_by == DecidedBy::Actor) {
            let _ = writeln!(out, "<div class=\"act\">{}</div>", escape(&executed.action));
        }
        if executed.decided_by == DecidedBy::Person {
            let proposal = step.proposal_text().map(|w| format!(" in place of <code>{}</code>", escape(&w)));
            let _ = writeln!(
                out,
                "<p class=\"soft\">override by a person{}, shown as {}</p>",
                proposal.unwrap_or_default(),
                if executed.shown_as == ShownAs::HumanEdit { "a human edit" } else { "the agent's own" }
            );
        }
        if let (Some(sent), Some(rule)) = (&executed.sent, &executed.rewrite_rule) {
            let _ = writeln!(
                out,
                "<p class=\"soft\">sent as <code>{}</code> (rule {})</p>",
                escape(sent),
                escape(rule)
            );
        }
    } else if let Some(proposed) = &step.proposed {
        let _ = writeln!(
            out,
            "<div class=\"act\">{} <span class=\"soft\">(proposed)</span></div>",
            escape(proposed)
        );
    }
    if let Some(answer) = &step.answer {
        if answer.edited {
            let raw = escape(&answer.raw);
            let _ = writeln!(out, "<p class=\"soft\">edited by a person; the environment said: {raw}</p>");
        }
        let _ = writeln!(
            out,
            "<div class=\"obs\">{}</div>",
            escape(answer.agent_view.as_deref().unwrap_or(&answer.raw))
        );
        if (answer.progress - *progress).abs() > f64::EPSILON {
            let class = if answer.progress > *progress { "good" } else { "bad" };
            let _ =
                writeln!(out, "<p class=\"{class}\">progress {:.2} → {:.2}</p>", *progress, answer.progress);
            *progress = answer.progress;
        }
    }
    for note in step.notes.iter().filter(|n| n.kind == NoteKind::Mistake) {
        let _ = writeln!(
            out,
            "<p class=\"bad\">{}: {}</p>",
            escape(&note.detector.replace('_', " ")),
            escape(&note.evidence)
        );
    }
    for reflection in record.reflections_after(step) {
        write_reflection(out, reflection);
    }
    for remark in &step.remarks {
        let _ = writeln!(out, "<div class=\"card\">{}</div>", escape(remark));
    }
}

fn write_reflection(out: &mut String, reflection: &Reflection) {
    let _ = writeln!(
        out,
        "<div class=\"card\"><b>{} reflection</b> <span class=\"soft\">by {}</span><ul>",
        reflection.question().name(),
        author_name(reflection.author)
    );
    for item in &reflection.items {
        let _ = writeln!(out, "<li>{}</li>", lesson_html(&item.text));
    }
    out.push_str("</ul>");
    if reflection.prompt_edited {
        let _ = write!(out, "<p class=\"soft\">{PROMPT_EDITED}</p>");
    }
    if let Some(source) = &reflection.reply_source {
        let _ = write!(out, "<p class=\"soft\">{}</p>", escape(&reply_source(source)));
    }
    for complaint in &reflection.complaints {
        let _ = write!(out, "<p class=\"soft\">about the reply: {}</p>", escape(complaint));
    }
    out.push_str("</div>\n");
}

fn lesson_html(text: &LessonText) -> String {
    match &text.solution {
        Some(solution) => format!("{} → {}", escape(&text.text), escape(solution)),
        None => escape(&text.text),
    }
}

fn write_lessons(out: &mut String, record: &SessionRecord) {
    let all = record.lessons();
    if all.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<details open><summary><b>Lessons</b> ({} of {} active)</summary>",
        all.iter().filter(|l| l.is_active()).count(),
        all.len()
    );
    for kind in ReflectionKind::ALL {
        let mut of_kind = all.iter().filter(|l| l.kind == kind).peekable();
        if of_kind.peek().is_none() {
            continue;
        }
        let _ = writeln!(out, "<h2>{}</h2>\n<div class=\"wide\"><table>", kind.name());
        for lesson in of_kind {
            write_lesson_row(out, record, lesson);
        }
        out.push_str("</table></div>\n");
    }
    out.push_str("</details>\n");
}

fn write_lesson_row(out: &mut String, record: &SessionRecord, lesson: &Lesson) {
    let class = if lesson.status == LessonStatus::Retired { " class=\"soft\"" } else { "" };
    let source = match lesson.learnt_at {
        (0, _) => {
            let file = lesson.file_name().map_or_else(String::new, |name| format!(" from {}", escape(name)));
            format!("loaded{file}")
        }
        (e, s) => format!("<a href=\"#s{e}-{s}\">{e}.{s}</a>"),
    };
    let _ = writeln!(
        out,
        "<tr{class}><td>{}</td><td>{}</td><td>{source}</td><td class=\"soft\">{}, {}, {}, version {}, in {} prompts{}</td></tr>",
        lesson.number,
        lesson_html(lesson.text()),
        enum_name(&lesson.origin),
        enum_name(&lesson.scope),
        enum_name(&lesson.status),
        lesson.version(),
        lesson.uses,
        format_parents(&record.parent_numbers(lesson))
    );
}

fn write_settings(out: &mut String, record: &SessionRecord) {
    let Some(spec) = &record.spec else { return };
    if spec.settings.0.is_empty() && record.changed_settings.is_empty() {
        return;
    }
    out.push_str(
        "<details><summary><b>Settings</b></summary>\n<div class=\"wide\"><table>\n\
         <tr><th>name</th><th>value</th><th>from</th></tr>\n",
    );
    for (name, setting) in &spec.settings.0 {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td><code>{}</code></td><td>{}</td></tr>",
            escape(name),
            escape(&setting.value.to_string()),
            enum_name(&setting.origin)
        );
    }
    for (seq, name, value) in &record.changed_settings {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td><code>{}</code></td><td>a person, event {seq}</td></tr>",
            escape(name),
            escape(&value.to_string())
        );
    }
    out.push_str("</table></div></details>\n");
}

/// Escapes a text for HTML.
fn escape(text: &str) -> String {
    crate::text::escape_html(text.trim_end())
}
