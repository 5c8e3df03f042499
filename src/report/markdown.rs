//! The whole trajectory as Markdown, to read, to paste into an issue, to keep in git.

use super::record::{enum_name, format_times};
use super::transcript::{PROMPT_EDITED, author_name, cancelled_reply_text, reply_source};
use super::{EpisodeRecord, SessionRecord};
use crate::domain::{DecidedBy, Lesson, NoteKind, ShownAs, Step, ThoughtDisposition};
use crate::text::{escape_markdown as escape, markdown_block, markdown_code as code};
use std::fmt::Write as _;

/// Renders the document. External text is put into code, so that none of it is interpreted as Markdown.
pub fn render_markdown(record: &SessionRecord) -> String {
    let mut out = String::new();
    let title = record.episodes.last().map_or("", |e| e.episode.task.goal.as_str());
    let _ = writeln!(out, "# {}\n", escape(if title.is_empty() { &record.session } else { title }));
    write_facts(&mut out, record);
    if record.episodes.len() > 1 {
        write_contents(&mut out, record);
    }
    for episode in &record.episodes {
        write_episode(&mut out, record, episode);
    }
    write_lessons(&mut out, record);
    write_settings(&mut out, record);
    out
}

fn write_facts(out: &mut String, record: &SessionRecord) {
    let _ = writeln!(out, "- session: {}", code(&record.session));
    if let Some(branch) = &record.branch {
        let _ = writeln!(out, "- branch: {}", code(&branch.display_name()));
    }
    if let Some(spec) = &record.spec {
        let _ = writeln!(
            out,
            "- method: {}, actor: {}, mentor: {}, interface: {}",
            code(&spec.method),
            code(&spec.actor),
            code(&spec.mentor),
            code(&spec.interface)
        );
        let _ = writeln!(
            out,
            "- seed: {}, trials: {}, step limit: {}",
            spec.seed, spec.trials, spec.limits.steps
        );
    }
    if let Some(started) = record.started_at {
        let _ = writeln!(out, "- started: {started:.0}");
    }
    if record.final_state.usage.mentor_calls > 0 || record.final_state.usage.actor_counts.cost_nano > 0 {
        let _ = writeln!(out, "- calls: {}", record.final_state.usage.describe());
    }
    let _ = writeln!(out, "- result: {}\n", super::Tally::from_states([&*record.final_state]).describe());
}

fn write_contents(out: &mut String, record: &SessionRecord) {
    out.push_str("| episode | task | trial | outcome | assisted |\n|---|---|---|---|---|\n");
    for entry in &record.episodes {
        let e = &entry.episode;
        let _ = writeln!(
            out,
            "| {} | {} {} | {} | {} | {} |",
            e.number,
            escape(&e.task.goal),
            code(&e.task.id).replace('|', "\\|"),
            e.trial,
            entry.verdict(),
            if e.assisted { "yes" } else { "" }
        );
    }
    out.push('\n');
}

fn write_episode(out: &mut String, record: &SessionRecord, entry: &EpisodeRecord) {
    let e = &entry.episode;
    let id = format!("{} {}", escape(&e.task.env), code(&e.task.id));
    let _ = match e.task.goal.as_str() {
        "" => writeln!(out, "## Episode {}: {id}, trial {}\n", e.number, e.trial),
        goal => writeln!(out, "## Episode {}: {} ({id}), trial {}\n", e.number, escape(goal), e.trial),
    };
    let _ = writeln!(out, "{}{}\n", entry.verdict(), if e.assisted { ", assisted by a person" } else { "" });
    if let Some(reset) = &e.first_observation {
        write_code_block(out, reset.agent_view.as_deref().unwrap_or(&reset.raw));
    }
    let mut progress = e.first_observation.as_ref().map_or(0.0, |r| r.progress);
    for step in entry.steps() {
        write_step(out, record, step, &mut progress);
    }
    for failed in &entry.failures {
        let _ = writeln!(
            out,
            "- a call failed ({}): {}\n",
            escape(&failed.description()),
            code(&failed.failure.message)
        );
    }
    for remark in record.remarks(e.number) {
        let _ = writeln!(out, "> {}\n", escape(remark));
    }
}

fn write_step(out: &mut String, record: &SessionRecord, step: &Step, progress: &mut f64) {
    let _ = writeln!(out, "### Step {}\n", step.number);
    for (proposal, reason) in &step.rejections {
        let _ = writeln!(out, "- rejected {}: {}", code(proposal), code(reason));
    }
    for partial_reply in &step.partial_replies {
        let _ = writeln!(out, "- {}", cancelled_reply_text(partial_reply, code));
    }
    if step.prompt_edited {
        let _ = writeln!(out, "- {PROMPT_EDITED}");
    }
    if let Some(thought) = &step.thought {
        let disposition = step.executed.as_ref().map(|e| &e.thought_disposition);
        let note = match disposition {
            _ if step.thought_edited => " (edited by a person)",
            Some(ThoughtDisposition::Dropped) => " (dropped from later prompts)",
            Some(ThoughtDisposition::Rewritten(_)) => " (rewritten in later prompts)",
            _ if step.dropped_by.is_some() => " (dropped from later prompts)",
            _ => "",
        };
        let _ = writeln!(out, "- thought{note}: {}", code(thought));
        if let Some(ThoughtDisposition::Rewritten(text)) = disposition {
            let _ = writeln!(out, "- thought in later prompts: {}", code(text));
        }
    }
    if step.unusable_replies > 0 {
        let _ = writeln!(
            out,
            "- asked again because a reply was unusable: {}",
            format_times(step.unusable_replies)
        );
    }
    for warning in &step.warnings {
        let _ = writeln!(out, "- warning: {}", code(warning));
    }
    if let Some(source) = &step.reply_source {
        let _ = writeln!(out, "- {}", code(&reply_source(source)));
    }
    for complaint in &step.complaints {
        let _ = writeln!(out, "- about the reply: {}", code(complaint));
    }
    if let Some(executed) = &step.executed {
        let _ = writeln!(out, "- action: {}", code(&executed.action));
        if executed.decided_by == DecidedBy::Person {
            let shown =
                if executed.shown_as == ShownAs::HumanEdit { "a human edit" } else { "the agent's own" };
            let proposal =
                step.proposal_text().map_or_else(String::new, |w| format!(" in place of {}", code(&w)));
            let _ = writeln!(out, "- override by a person{proposal}, shown as {shown}");
        }
        if let (Some(sent), Some(rule)) = (&executed.sent, &executed.rewrite_rule) {
            let _ = writeln!(out, "- sent as {} (rule {})", code(sent), code(rule));
        }
    } else if let Some(proposed) = &step.proposed {
        let _ = writeln!(out, "- proposed: {}", code(proposed));
    }
    out.push('\n');
    if let Some(answer) = &step.answer {
        if answer.edited {
            let _ = writeln!(
                out,
                "The observation was edited by a person; the environment is unchanged. It said:\n"
            );
            write_code_block(out, &answer.raw);
            let _ = writeln!(out, "The agent sees:\n");
        }
        write_code_block(out, answer.agent_view.as_deref().unwrap_or(&answer.raw));
        if (answer.progress - *progress).abs() > f64::EPSILON {
            let _ = writeln!(out, "Progress {:.2} → {:.2}\n", progress, answer.progress);
            *progress = answer.progress;
        }
    }
    for note in step.notes.iter().filter(|n| n.kind != NoteKind::Fact) {
        let _ = writeln!(
            out,
            "- {} {}: {}",
            enum_name(&note.kind),
            escape(&note.detector.replace('_', " ")),
            code(&note.evidence)
        );
    }
    for reflection in record.reflections_after(step) {
        let name = reflection.question().name();
        let _ = writeln!(out, "- **{name} reflection** ({})", author_name(reflection.author));
        for item in &reflection.items {
            let _ = write!(out, "  - {}", code(&item.text.text));
            if let Some(solution) = &item.text.solution {
                let _ = write!(out, " → {}", code(solution));
            }
            out.push('\n');
        }
        if reflection.prompt_edited {
            let _ = writeln!(out, "  - {PROMPT_EDITED}");
        }
        if let Some(source) = &reflection.reply_source {
            let _ = writeln!(out, "  - {}", code(&reply_source(source)));
        }
        for complaint in &reflection.complaints {
            let _ = writeln!(out, "  - about the reply: {}", code(complaint));
        }
    }
    for remark in &step.remarks {
        let _ = writeln!(out, "> {}", escape(remark));
    }
    if out.ends_with("\n\n") {
        return;
    }
    out.push('\n');
}

fn write_lessons(out: &mut String, record: &SessionRecord) {
    let lessons = record.lessons();
    if lessons.is_empty() {
        return;
    }
    out.push_str("## Lessons\n\n");
    for lesson in lessons {
        write_lesson(out, record, lesson);
    }
    out.push('\n');
}

fn write_lesson(out: &mut String, record: &SessionRecord, lesson: &Lesson) {
    let _ = write!(out, "{}. {}: {}", lesson.number, lesson.kind.name(), code(&lesson.text().text));
    if let Some(solution) = &lesson.text().solution {
        let _ = write!(out, " → {}", code(solution));
    }
    let parents = record.parent_numbers(lesson);
    let loaded = lesson.file_name().map_or_else(String::new, |name| format!(", loaded from {}", code(name)));
    let provenance = super::record::format_parents(&parents) + &loaded;
    let _ = writeln!(
        out,
        " ({}, scope {}, {}, version {}, in {} prompts, learned at {}.{}{provenance})",
        enum_name(&lesson.origin),
        enum_name(&lesson.scope),
        enum_name(&lesson.status),
        lesson.version(),
        lesson.uses,
        lesson.learnt_at.0,
        lesson.learnt_at.1
    );
}

fn write_settings(out: &mut String, record: &SessionRecord) {
    let Some(spec) = &record.spec else { return };
    if spec.settings.0.is_empty() && record.changed_settings.is_empty() {
        return;
    }
    out.push_str("## Settings\n\n| name | value | from |\n|---|---|---|\n");
    for (name, setting) in &spec.settings.0 {
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            escape(name),
            code(&setting.value.to_string()).replace('|', "\\|"),
            enum_name(&setting.origin)
        );
    }
    for (seq, name, value) in &record.changed_settings {
        let _ = writeln!(
            out,
            "| {} | {} | a person, event {seq} |",
            escape(name),
            code(&value.to_string()).replace('|', "\\|")
        );
    }
}

/// Appends a text of several lines as a code block.
fn write_code_block(out: &mut String, text: &str) {
    out.push_str(&markdown_block(text));
    out.push('\n');
}
