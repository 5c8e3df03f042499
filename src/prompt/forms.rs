//! The fixed forms of lines in a prompt. They are part of the journal's format: a body is rebuilt from them and checked
//! against its hash, so a form that was released is never changed.

use crate::domain::{DecidedBy, LessonText, SegmentLabel, ShownAs, Step, ThoughtDisposition, Transition};
use crate::engine::Episode;

/// Estimated tokens of a text: a quarter of its characters, rounded up. A stand-in for the tokenizer nobody has here.
pub fn estimate_tokens(text: &str) -> u32 {
    (text.chars().count() as u32).div_ceil(4)
}

/// A lesson as one line: `- SENTENCE`, or `- Mistake: SENTENCE Solution: SENTENCE`. Inner white space becomes one blank,
/// so that a lesson of several lines stays one line.
pub fn lesson_line(lesson: &LessonText) -> String {
    let mut line = String::from("- ");
    match &lesson.solution {
        None => push_words(&mut line, &lesson.text),
        Some(solution) => {
            line.push_str("Mistake: ");
            push_words(&mut line, &lesson.text);
            line.push_str(" Solution: ");
            push_words(&mut line, solution);
        }
    }
    line.push('\n');
    line
}

/// A lesson as one line, with the turn it is about where it has one: `- SENTENCE (saw: OBSERVATION; did: ACTION; reward: N)`.
pub fn lesson_line_with_moment(lesson: &LessonText, moment: Option<&Transition>) -> String {
    let mut line = lesson_line(lesson);
    let Some(moment) = moment else { return line };
    line.pop();
    line.push_str(" (saw: ");
    push_words(&mut line, &moment.observation);
    line.push_str("; did: ");
    push_words(&mut line, &moment.action);
    line.push_str("; reward: ");
    line.push_str(&moment.reward.to_string());
    line.push_str(")\n");
    line
}

/// The task as the first observation tells it; the goal is added where the observation does not name it.
pub fn task_text(episode: &Episode) -> String {
    let first = episode.first_observation.as_ref().map_or("", |r| r.agent_view.as_deref().unwrap_or(&r.raw));
    let mut text = first.trim_end().to_owned();
    text.push('\n');
    let goal = &episode.task.goal;
    if !goal.is_empty() && !first.contains(goal.as_str()) {
        text.push_str("Your task is to: ");
        text.push_str(goal);
        text.push('\n');
    }
    text
}

/// An attempt that has ended as one text: the task and the steps from the first to the last number.
pub fn attempt_text(episode: &Episode, from: u32, to: u32) -> String {
    let mut text = task_text(episode);
    let steps = (from..=to.min(episode.steps.len() as u32)).filter_map(|n| episode.step(n));
    for step in steps.filter(|s| is_shown(s, to)) {
        for (_, line) in step_lines(step) {
            text.push_str(&line);
        }
    }
    text
}

/// Whether prompts whose newest step is `newest` show a step: not where it is a thought that was dropped with the override
/// of one of theirs. A prompt that is older than that override shows it still, as it did then.
pub fn is_shown(step: &Step, newest: u32) -> bool {
    step.dropped_by.is_none_or(|by| by > newest)
}

/// The lines of one settled step: thought, action (or a person's edit), observation; each with its label.
pub fn step_lines(step: &Step) -> Vec<(SegmentLabel, String)> {
    let mut lines = Vec::with_capacity(3);
    let action = step.action();
    let repeats_thought = |a: &str| {
        // A reply that only thinks is executed as `think: THOUGHT`; it must not stand there twice.
        step.executed.as_ref().is_some_and(|e| e.decided_by == DecidedBy::Actor) && think_text(a).is_some()
    };
    let thought = match step.executed.as_ref().map(|e| &e.thought_disposition) {
        Some(ThoughtDisposition::Dropped) => None,
        Some(ThoughtDisposition::Rewritten(words)) => Some(words.as_str()),
        Some(ThoughtDisposition::Kept) | None => step.thought.as_deref(),
    };
    if let Some(thought) = thought
        && !action.is_some_and(repeats_thought)
    {
        lines.push((SegmentLabel::Thought, marked_line("> think: ", thought)));
    }
    if let Some(action) = action {
        let edited = step
            .executed
            .as_ref()
            .is_some_and(|e| e.decided_by == DecidedBy::Person && e.shown_as == ShownAs::HumanEdit);
        lines.push(match think_text(action) {
            _ if edited => (SegmentLabel::HumanEdit, marked_line("[human edit]: ", action)),
            Some(_) => (SegmentLabel::Thought, marked_line("> ", action)),
            None => (SegmentLabel::Action, marked_line("> ", action)),
        });
    }
    if let Some(seen) = step.observation() {
        let mut text = seen.trim_end().to_owned();
        text.push('\n');
        lines.push((SegmentLabel::Observation, text));
    }
    lines
}

/// Why a proposal was refused, as the agent is told.
pub fn rejection_line(was: &str, reason: &str) -> String {
    let mut line = String::from("(A person rejected \"");
    push_words(&mut line, was);
    line.push('"');
    if !reason.trim().is_empty() {
        line.push_str(": ");
        push_words(&mut line, reason);
    }
    line.push_str(")\n");
    line
}

/// The thought of an action that only thinks.
pub fn think_text(action: &str) -> Option<&str> {
    action.trim_start().strip_prefix("think:").map(str::trim)
}

fn marked_line(mark: &str, words: &str) -> String {
    let mut line = String::from(mark);
    push_words(&mut line, words);
    line.push('\n');
    line
}

fn push_words(line: &mut String, text: &str) {
    let mut first = true;
    for word in text.split_whitespace() {
        if !first {
            line.push(' ');
        }
        line.push_str(word);
        first = false;
    }
}
