//! The fixed text formats of prompt lines. They are part of the journal format: a prompt body is rebuilt from them and
//! checked against its hash. A released format therefore never changes; a better one is a new version of
//! [`TextForms`], and each record is rendered with its own.

use crate::domain::{
    DecidedBy, Lesson, LessonText, ReflectionKind, Scope, SegmentLabel, ShownAs, Step, TextForms, Transition,
};
use crate::engine::Episode;

/// Estimates the number of tokens in a text as a quarter of its characters, rounded up. Used because the model's
/// tokenizer isn't available.
pub fn estimate_tokens(text: &str) -> u32 {
    (text.chars().count() as u32).div_ceil(4)
}

/// Formats a lesson as one line: `- SENTENCE`, or `- Mistake: SENTENCE Solution: SENTENCE`. Runs of whitespace,
/// including line breaks, become single spaces.
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

/// Formats a lesson's text as its line in a prompt; from version 4 on, the plan of an episode keeps its lines.
pub fn prompt_line(lesson: &Lesson, text: &LessonText, version: TextForms) -> String {
    let is_plan = lesson.kind == ReflectionKind::Plan && lesson.scope == Scope::Episode;
    if version >= TextForms::V4 && is_plan && text.solution.is_none() && text.text.trim().contains('\n') {
        let lines = text.text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
        return lines.flat_map(|line| [line, "\n"]).collect();
    }
    lesson_line_with_transition(text, lesson.transition.as_deref(), version)
}

/// Formats a lesson as one line, followed by the step it was learned from, if there is one: `- SENTENCE (observation:
/// OBSERVATION; action: ACTION; reward: N)`; in version 1 `(saw: OBSERVATION; did: ACTION; reward: N)`.
fn lesson_line_with_transition(
    lesson: &LessonText,
    transition: Option<&Transition>,
    version: TextForms,
) -> String {
    let mut line = lesson_line(lesson);
    let Some(transition) = transition else { return line };
    let (observation, action) = match version {
        TextForms::V1 => (" (saw: ", "; did: "),
        TextForms::V2 | TextForms::V3 | TextForms::V4 => (" (observation: ", "; action: "),
    };
    line.pop();
    line.push_str(observation);
    push_words(&mut line, &transition.observation);
    line.push_str(action);
    push_words(&mut line, &transition.action);
    line.push_str("; reward: ");
    line.push_str(&transition.reward.to_string());
    line.push_str(")\n");
    line
}

/// Returns the task as stated in the first observation, with the goal added if the observation doesn't mention it.
pub fn task_text(episode: &Episode) -> String {
    let first = episode.first_observation.as_ref().map_or("", |r| r.agent_view.as_deref().unwrap_or(&r.raw));
    let mut text = first.trim_end().to_owned();
    text.push('\n');
    let goal = &episode.task.goal;
    if !goal.is_empty() && !first.contains(goal.as_str()) {
        // Some goals are whole sentences.
        if !goal.starts_with("Your task is to") {
            text.push_str("Your task is to: ");
        }
        text.push_str(goal);
        text.push('\n');
    }
    text
}

/// Formats a finished attempt: the task, then the steps numbered `from` to `to` inclusive.
pub fn attempt_text(episode: &Episode, from: u32, to: u32, version: TextForms) -> String {
    let mut text = task_text(episode);
    let steps = (from..=to.min(episode.steps.len() as u32)).filter_map(|n| episode.step(n));
    for step in steps.filter(|s| is_shown(s, to)) {
        for (_, line) in step_lines(step, version) {
            text.push_str(&line);
        }
    }
    text
}

/// Returns whether a prompt whose newest step is `newest` shows `step`. A thought-only step that a later override
/// dropped is hidden, except in prompts from before that override.
pub fn is_shown(step: &Step, newest: u32) -> bool {
    step.dropped_by.is_none_or(|by| by > newest)
}

/// Returns the labelled lines of an answered step: thought, action (or a person's edit), observation.
pub fn step_lines(step: &Step, version: TextForms) -> Vec<(SegmentLabel, String)> {
    let mut lines = Vec::with_capacity(3);
    let action = step.action();
    let repeats_thought = |action: &str| {
        // A thought-only reply is executed as `think: THOUGHT`; the thought must not appear twice.
        step.executed.as_ref().is_some_and(|e| e.decided_by == DecidedBy::Actor)
            && think_text(action).is_some()
    };
    if let Some(thought) = step.shown_thought()
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
            _ if edited => (SegmentLabel::HumanEdit, action_lines("[human edit]: ", action, version)),
            Some(_) => (SegmentLabel::Thought, marked_line("> ", action)),
            None => (SegmentLabel::Action, action_lines("> ", action, version)),
        });
    }
    if let Some(observation) = step.observation() {
        let mut text = observation.trim_end().to_owned();
        text.push('\n');
        lines.push((SegmentLabel::Observation, text));
    }
    lines
}

/// Formats a person's rejection of a proposal, as shown to the agent.
pub fn rejection_line(proposal: &str, reason: &str) -> String {
    let mut line = String::from("(A person rejected \"");
    push_words(&mut line, proposal);
    line.push('"');
    if !reason.trim().is_empty() {
        line.push_str(": ");
        push_words(&mut line, reason);
    }
    line.push_str(")\n");
    line
}

/// Returns the thought of a thought-only action (`think: THOUGHT`), or `None` for any other action.
pub fn think_text(action: &str) -> Option<&str> {
    action.trim_start().strip_prefix("think:").map(str::trim)
}

fn marked_line(mark: &str, text: &str) -> String {
    let mut line = String::from(mark);
    push_words(&mut line, text);
    line.push('\n');
    line
}

/// Formats an action after its mark: on one line, or from version 3 on with the line breaks and blanks that it has.
fn action_lines(mark: &str, action: &str, version: TextForms) -> String {
    if version >= TextForms::V3 && action.trim().contains('\n') {
        return format!("{mark}{}\n", action.trim());
    }
    marked_line(mark, action)
}

/// Appends the words of a text, separated by single spaces.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_of_several_lines_keep_them_from_version_3_on() {
        let program = "def f(x):\n    return x\n";
        assert_eq!(action_lines("> ", program, TextForms::V2), "> def f(x): return x\n");
        assert_eq!(action_lines("> ", program, TextForms::V3), "> def f(x):\n    return x\n");
        for version in [TextForms::V1, TextForms::V2, TextForms::V3] {
            assert_eq!(action_lines("> ", "go  to shelf 1 \n", version), "> go to shelf 1\n");
        }
    }
}
