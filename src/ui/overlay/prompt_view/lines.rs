//! A prompt as rows: whole, segment by segment, or what changed since the one before.

use crate::domain::{MessageRole, Prompt, PromptRecord, Purpose, SegmentLabel, SegmentOrigin};
use crate::engine::{Effect, State};
use crate::method::current_plan_line;
use crate::prompt::render;
use crate::text::truncate;
use crate::ui::overlay::prompt_preview::PLANNING_EXPLANATION;
use crate::ui::overlay::window::{Line, paragraph};
use crate::ui::theme::Role;
use similar::{ChangeTag, DiffTag, TextDiff};

/// Cells that name a segment at the left.
const LABEL_COLUMNS: u16 = 14;

/// The colour of a segment.
pub(super) fn segment_role(label: SegmentLabel) -> Role {
    match label {
        SegmentLabel::Instruction | SegmentLabel::Cue => Role::OriginInstruction,
        SegmentLabel::Guidance => Role::OriginGuidance,
        SegmentLabel::Abstract => Role::OriginAbstract,
        SegmentLabel::Error => Role::OriginError,
        SegmentLabel::Progress => Role::OriginProgress,
        SegmentLabel::Memory | SegmentLabel::Attempt => Role::OriginMemory,
        SegmentLabel::Example => Role::OriginExample,
        SegmentLabel::Task => Role::OriginTask,
        SegmentLabel::Thought => Role::OriginThought,
        SegmentLabel::Action => Role::OriginAction,
        SegmentLabel::Observation => Role::OriginObservation,
        SegmentLabel::HumanEdit | SegmentLabel::Rejection => Role::OriginPerson,
    }
}

/// Where a segment comes from, in a few letters.
pub(super) fn origin_text(state: &State, origin: &SegmentOrigin) -> String {
    match origin {
        SegmentOrigin::Lesson { id, version } => {
            let number = state.pool.get(id).map_or(0, |l| l.number);
            format!("{number} v{version}")
        }
        SegmentOrigin::Step(n) => n.to_string(),
        SegmentOrigin::Steps { from, to } if from == to => from.to_string(),
        SegmentOrigin::Steps { from, to } => format!("{from}-{to}"),
        SegmentOrigin::Attempt { episode, from, to } => format!("{episode}.{from}-{to}"),
        SegmentOrigin::Text(_) | SegmentOrigin::Task => String::new(),
    }
}

/// The rows of a prompt, and for each segment with words its place among all and its first row.
pub(super) fn prompt_lines(
    state: &State,
    record: &PromptRecord,
    columns: u16,
) -> (Vec<Line>, Vec<(usize, usize)>) {
    let prompt = render(state, record);
    let mut lines = failure_lines(state, record, columns);
    lines.extend(summary_lines(state, record, columns));
    let (mut speaker, mut starts) = (None, Vec::new());
    for (place, segment) in prompt.segments.iter().enumerate() {
        if speaker != Some(segment.message_role) {
            speaker = Some(segment.message_role);
            let who = match segment.message_role {
                MessageRole::System => "system",
                MessageRole::User => "user",
                MessageRole::Assistant => "assistant",
            };
            lines.push(vec![(
                Role::Frame,
                format!("{who} {}", "-".repeat(usize::from(columns).saturating_sub(10))),
            )]);
        }
        if segment.text.trim().is_empty() {
            continue;
        }
        starts.push((place, lines.len()));
        let role = segment_role(segment.label);
        let word = if segment.label == SegmentLabel::Observation { "seen" } else { segment.label.name() };
        let name = format!("{word} {}", origin_text(state, &segment.origin));
        let lead = format!(
            "{:<1$}",
            truncate(name.trim(), usize::from(LABEL_COLUMNS) - 1, "…"),
            usize::from(LABEL_COLUMNS)
        );
        lines.extend(paragraph((Role::Muted, &lead), role, segment.text.trim_matches('\n'), columns));
    }
    (lines, starts)
}

/// Columns of what had come of an answer.
const PARTIAL_REPLY_COLUMNS: usize = 400;

/// Why its call has failed, where it has, and what had come of an answer.
fn failure_lines(state: &State, record: &PromptRecord, columns: u16) -> Vec<Line> {
    let of = |effect: &Effect| matches!(effect, Effect::Ask { call, .. } if *call == record.call);
    let Some((_, failure)) = state.failed_calls().find(|(effect, _)| of(effect)) else { return Vec::new() };
    let words = format!("its call failed: {}: {}", failure.source, failure.message);
    let mut lines = paragraph((Role::Bad, ""), Role::Bad, &words, columns);
    if !failure.partial_text.is_empty() {
        // The prompt itself is what this view is for; the turn's own shows more.
        let head = truncate(&failure.partial_text, PARTIAL_REPLY_COLUMNS, "…");
        lines.extend(paragraph((Role::Muted, "what had come  "), Role::Text, &head, columns));
    }
    lines
}

/// Tokens by label, and what was left out.
fn summary_lines(state: &State, record: &PromptRecord, columns: u16) -> Vec<Line> {
    let mut sums: Vec<(SegmentLabel, u32)> = Vec::new();
    for segment in &record.segments {
        match sums.iter_mut().find(|s| s.0 == segment.label) {
            Some(sum) => sum.1 = sum.1.saturating_add(segment.tokens),
            None => sums.push((segment.label, segment.tokens)),
        }
    }
    let counted = |tokens: u32| state.to_counted_tokens(record.role, u64::from(tokens));
    let parts: Vec<String> =
        sums.iter().map(|(label, tokens)| format!("{} {}", label.name(), counted(*tokens))).collect();
    let words = format!("about {} tokens: {}", counted(record.tokens), parts.join(", "));
    let mut lines = paragraph((Role::Muted, ""), Role::Muted, &words, columns);
    if record.question.is_some_and(|q| q.purpose == Purpose::PlanActions) {
        let turn = current_plan_line(state)
            .map_or_else(String::new, |(_, line)| format!(" This turn takes action {line}."));
        let words = format!("{PLANNING_EXPLANATION}{turn} This is the prompt that asks for it:");
        lines.splice(0..0, paragraph((Role::Warning, ""), Role::Warning, &words, columns));
    }
    if state.usage.actor_calls > 0 || state.usage.mentor_calls > 0 {
        let words = format!("asked so far: {}", state.usage.describe());
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, &words, columns));
    }
    let unsent = state.unsent_settings(record.role);
    if let Some(words) = state.run.as_ref().and_then(|run| run.describe_request_sampling(record, &unsent)) {
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, &words, columns));
    }
    if !unsent.is_empty() {
        let words = format!("changed in the request: {}", unsent.join("; "));
        lines.extend(paragraph((Role::Warning, ""), Role::Warning, &words, columns));
    }
    for dropped in &record.dropped {
        let what = match &dropped.origin {
            SegmentOrigin::Steps { .. } | SegmentOrigin::Step(_) | SegmentOrigin::Attempt { .. } => {
                format!("turns {}", origin_text(state, &dropped.origin))
            }
            SegmentOrigin::Lesson { .. } => format!("lesson {}", origin_text(state, &dropped.origin)),
            SegmentOrigin::Text(_) => "a text of the template".to_owned(),
            SegmentOrigin::Task => "the task".to_owned(),
        };
        let words = format!("left out: {what}, about {} tokens: {}", counted(dropped.tokens), dropped.reason);
        lines.extend(paragraph((Role::Warning, ""), Role::Warning, &words, columns));
    }
    lines
}

/// What changed since the prompt before; `then` is a state that still holds the episode of that one, where there is one.
pub(super) fn difference_lines(
    state: &State,
    now: &PromptRecord,
    before: Option<(&PromptRecord, Option<&State>)>,
    columns: u16,
) -> Vec<Line> {
    let Some((before, then)) = before else {
        let words = match now.question {
            Some(_) => "This is the first prompt with this question; there is none to compare with.",
            None => "This is the first prompt; there is none to compare with.",
        };
        return paragraph((Role::Muted, ""), Role::Muted, words, columns);
    };
    let mut lines = segment_changes(state, now, before, columns);
    // A prompt of an earlier episode is rebuilt from a state of that one.
    let Some(then) = then else {
        let words =
            format!("The prompt before belongs to episode {}; its words are not compared.", before.episode);
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, &words, columns));
        return lines;
    };
    lines.extend(changed_lines((then, before), (state, now), columns));
    if lines.is_empty() {
        lines =
            paragraph((Role::Muted, ""), Role::Muted, "Not a word differs from the call before.", columns);
    }
    lines
}

/// The lines of two prompts that differ, each with a state that holds its episode.
pub(in crate::ui::overlay) fn changed_lines(
    (then, before): (&State, &PromptRecord),
    (state, now): (&State, &PromptRecord),
    columns: u16,
) -> Vec<Line> {
    let mut lines = Vec::new();
    let (old, new) = (render(then, before), render(state, now));
    let (gone, there) = (segment_starts(then, &old), segment_starts(state, &new));
    let (old, new) = (clean_body(&old), clean_body(&new));
    let diff = TextDiff::from_lines(&old, &new);
    for (place, group) in diff.grouped_ops(1).iter().enumerate() {
        if place > 0 {
            lines.push(Vec::new());
        }
        // The segment that the first changed line lies in, in the prompt that has the line.
        let changed = group.iter().find(|op| op.tag() != DiffTag::Equal);
        let (named, at) = match changed {
            Some(op) if op.tag() == DiffTag::Delete => (&gone, op.old_range().start),
            Some(op) => (&there, op.new_range().start),
            None => (&there, 0),
        };
        if let Some((_, name)) = named.iter().rev().find(|(first, _)| *first <= at) {
            lines.push(vec![(Role::Frame, name.clone())]);
        }
        for op in group {
            for change in diff.iter_changes(op) {
                let (lead, mark, role) = match change.tag() {
                    ChangeTag::Insert => ("+ ", Role::MarkProgress, Role::Added),
                    ChangeTag::Delete => ("- ", Role::MarkMistake, Role::Removed),
                    ChangeTag::Equal => ("  ", Role::Muted, Role::Muted),
                };
                lines.extend(paragraph((mark, lead), role, change.value().trim_end_matches('\n'), columns));
            }
        }
    }
    lines
}

/// Lessons and texts that came and went.
fn segment_changes(state: &State, now: &PromptRecord, before: &PromptRecord, columns: u16) -> Vec<Line> {
    let steps = |o: &SegmentOrigin| {
        matches!(o, SegmentOrigin::Step(_) | SegmentOrigin::Steps { .. } | SegmentOrigin::Task)
    };
    let mut lines = Vec::new();
    for (lead, role, these, those) in [("+ ", Role::Added, now, before), ("- ", Role::Removed, before, now)] {
        for segment in these.segments.iter().filter(|s| !steps(&s.origin)) {
            if those.segments.iter().any(|s| s.origin == segment.origin && s.label == segment.label) {
                continue;
            }
            let words = format!(
                "{} {} (about {} tokens)",
                segment.label.name(),
                origin_text(state, &segment.origin),
                state.to_counted_tokens(now.role, u64::from(segment.tokens))
            );
            lines.extend(paragraph((role, lead), role, &words, columns));
        }
    }
    if !lines.is_empty() {
        lines.push(Vec::new());
    }
    lines
}

/// Where each segment begins, as a line of the body, with its label and the turn or lesson it belongs to.
fn segment_starts(state: &State, prompt: &Prompt) -> Vec<(usize, String)> {
    let mut line = 0;
    let mut places = Vec::new();
    for segment in &prompt.segments {
        let from = match segment.origin {
            SegmentOrigin::Step(_) | SegmentOrigin::Steps { .. } => {
                format!(" of turn {}", origin_text(state, &segment.origin))
            }
            SegmentOrigin::Lesson { .. } => format!(" lesson {}", origin_text(state, &segment.origin)),
            SegmentOrigin::Attempt { episode, .. } => format!(" of episode {episode}"),
            SegmentOrigin::Text(_) | SegmentOrigin::Task => String::new(),
        };
        if !segment.text.trim().is_empty() {
            // Line breaks before the words belong to what stands before.
            let blank = segment.text.len() - segment.text.trim_start_matches('\n').len();
            places.push((line + blank, format!("{}{from}", segment.label.name())));
        }
        line += segment.text.matches('\n').count();
    }
    places
}

fn clean_body(prompt: &Prompt) -> String {
    crate::text::clean(&prompt.body()).into_owned()
}
