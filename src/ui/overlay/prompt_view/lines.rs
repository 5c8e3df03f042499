//! A prompt as rows: in full, segment by segment, or its changes since the previous one.

use crate::catalog::{self, ActionSource, action_source};
use crate::domain::{
    MessageRole, Prompt, PromptRecord, SegmentLabel, SegmentOrigin, SegmentRecord, Usage, pluralize,
};
use crate::engine::{Effect, State};
use crate::prompt::render;
use crate::text::{one_line, prefix, truncate, width};
use crate::ui::overlay::prompt_preview::explain_plan_of_mentor;
use crate::ui::theme::Role;
use crate::ui::widget::window::{Line, paragraph};
use similar::{ChangeTag, DiffTag, TextDiff};

/// Width of the segment labels at the left.
const LABEL_COLUMNS: u16 = 15;

/// Returns the style role of a segment.
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

/// Returns a short description of a segment's origin.
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

/// A non-empty segment of a prompt in the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentRow {
    /// Its index among all segments.
    pub index: usize,
    pub label: SegmentLabel,
    /// Its first row.
    pub row: usize,
    pub is_folded: bool,
}

/// Returns whether a segment is folded unless a person unfolds it: what hardly ever changes and is long.
pub(super) const fn is_folded_at_first(label: SegmentLabel) -> bool {
    matches!(label, SegmentLabel::Instruction | SegmentLabel::Guidance | SegmentLabel::Example)
}

/// Returns whether a segment is knowledge from earlier: what a person looks for in a prompt.
pub(super) const fn is_learnt(label: SegmentLabel) -> bool {
    matches!(
        label,
        SegmentLabel::Abstract | SegmentLabel::Error | SegmentLabel::Progress | SegmentLabel::Memory
    )
}

/// Returns a prompt's rows and its non-empty segments. Of a folded segment, one row shows the beginning. `rule` is a cell of a
/// horizontal line.
pub(super) fn prompt_lines(
    state: &State,
    record: &PromptRecord,
    (columns, rule): (u16, &str),
    is_folded: impl Fn(usize, SegmentLabel, &str) -> bool,
) -> (Vec<Line>, Vec<SegmentRow>) {
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
            let rest = rule.repeat(usize::from(columns).saturating_sub(width(who) + 1));
            lines.push(vec![(Role::Muted, format!("{who} ")), (Role::Frame, rest)]);
        }
        if segment.text.trim().is_empty() {
            continue;
        }
        let role = segment_role(segment.label);
        let word = if segment.label == SegmentLabel::Observation { "seen" } else { segment.label.name() };
        let name = format!("{word} {}", origin_text(state, &segment.origin));
        let lead = format!(
            "{:<1$}",
            truncate(name.trim(), usize::from(LABEL_COLUMNS) - 1, "…"),
            usize::from(LABEL_COLUMNS)
        );
        let text = segment.text.trim_matches('\n');
        let is_folded = is_folded(place, segment.label, text);
        starts.push(SegmentRow { index: place, label: segment.label, row: lines.len(), is_folded });
        if is_folded {
            let tokens = record.segments.get(place).map_or(0, |segment| segment.tokens);
            let tokens = state.to_corrected_tokens(record.role, u64::from(tokens));
            let size = format!("+ {tokens} tokens  ");
            let room = usize::from(columns).saturating_sub(usize::from(LABEL_COLUMNS) + width(&size));
            let beginning = truncate(&one_line(prefix(text, 400)), room, "…");
            lines.push(vec![(Role::Muted, lead), (Role::Muted, size), (role, beginning)]);
        } else {
            lines.extend(paragraph((Role::Muted, &lead), role, text, columns));
        }
    }
    (lines, starts)
}

/// Maximum width of a shown partial reply.
const PARTIAL_REPLY_COLUMNS: usize = 400;

/// Returns why the prompt's call failed, with the partial reply. Returns no rows if it didn't fail.
fn failure_lines(state: &State, record: &PromptRecord, columns: u16) -> Vec<Line> {
    let is_call = |effect: &Effect| matches!(effect, Effect::Ask { call, .. } if *call == record.call);
    let Some((_, failure)) = state.failed_calls().find(|(effect, _)| is_call(effect)) else {
        return Vec::new();
    };
    let words = format!("its call failed: {}: {}", failure.source, failure.message);
    let mut lines = paragraph((Role::Bad, ""), Role::Bad, &words, columns);
    if !failure.partial_text.is_empty() {
        // Keep it short: this view is about the prompt, and the step details show more.
        let head = truncate(&failure.partial_text, PARTIAL_REPLY_COLUMNS, "…");
        lines.extend(paragraph((Role::Muted, "partial reply  "), Role::Text, &head, columns));
    }
    lines
}

/// Returns what the step details say about an answered prompt to the actor; `None` if no model has counted or estimated
/// its tokens, or if they aren't those of one prompt alone.
fn prompt_usage(state: &State, record: &PromptRecord) -> Option<Usage> {
    let step =
        state.episode.as_deref().filter(|episode| episode.number == record.episode)?.step(record.step)?;
    let Usage { prompt_tokens, cached, recorded, earlier, .. } = step.usage;
    let is_own = step.call == Some(record.call) && prompt_tokens > 0;
    (is_own && !cached && !recorded && earlier.is_empty()).then_some(step.usage)
}

/// Returns how many tokens a prompt has: as its server counted or estimated them, else our estimate, corrected by the server's counts so far.
pub(in crate::ui) fn prompt_tokens(state: &State, record: &PromptRecord) -> u64 {
    prompt_usage(state, record).map_or_else(
        || state.to_corrected_tokens(record.role, u64::from(record.tokens)),
        |usage| usage.prompt_tokens,
    )
}

/// Returns the token counts by label, the sampling, and what was left out of the prompt.
fn summary_lines(state: &State, record: &PromptRecord, columns: u16) -> Vec<Line> {
    let mut sums: Vec<(SegmentLabel, u32)> = Vec::new();
    for segment in &record.segments {
        match sums.iter_mut().find(|s| s.0 == segment.label) {
            Some(sum) => sum.1 = sum.1.saturating_add(segment.tokens),
            None => sums.push((segment.label, segment.tokens)),
        }
    }
    let counted = |tokens: u32| state.to_corrected_tokens(record.role, u64::from(tokens));
    let parts: Vec<String> =
        sums.iter().map(|(label, tokens)| format!("{} {}", label.name(), counted(*tokens))).collect();
    let is_lesson = |segment: &&SegmentRecord| matches!(segment.origin, SegmentOrigin::Lesson { .. });
    let lessons = match record.segments.iter().filter(is_lesson).count() as u64 {
        0 => "no lessons".to_owned(),
        count => pluralize(count, "lesson"),
    };
    let words = match prompt_usage(state, record) {
        Some(Usage { estimated: false, counted_by_proxy, prompt_tokens, .. }) => {
            let by = if counted_by_proxy { "counted by a proxy" } else { "reported" };
            format!("{prompt_tokens} tokens {by}, {lessons}; estimated: {}", parts.join(", "))
        }
        _ => format!("about {} tokens, {lessons}: {}", prompt_tokens(state, record), parts.join(", ")),
    };
    let mut lines = paragraph((Role::Muted, ""), Role::Muted, &words, columns);
    let plans_actions =
        state.run.as_ref().is_some_and(|run| action_source(&run.method) == ActionSource::Plan);
    if plans_actions && record.question.is_some() && record.step == 0 {
        let action = catalog::current_action(state)
            .map_or_else(String::new, |(_, line)| format!(" This step takes action {line}."));
        let words = format!("{}{action} This is the prompt for the plan:", explain_plan_of_mentor());
        lines.splice(0..0, paragraph((Role::Warning, ""), Role::Warning, &words, columns));
    }
    if state.usage.actor_calls > 0 || state.usage.mentor_calls > 0 {
        let words = format!("so far: {}", state.describe_usage());
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, &words, columns));
    }
    let unsent = state.setting_deviations(record.role);
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
                format!("steps {}", origin_text(state, &dropped.origin))
            }
            SegmentOrigin::Lesson { .. } => format!("lesson {}", origin_text(state, &dropped.origin)),
            SegmentOrigin::Text(_) => "a template text".to_owned(),
            SegmentOrigin::Task => "the task".to_owned(),
        };
        let words = format!("left out: {what}, about {} tokens: {}", counted(dropped.tokens), dropped.reason);
        lines.extend(paragraph((Role::Warning, ""), Role::Warning, &words, columns));
    }
    lines
}

/// Returns the changes since the previous prompt, given with a state that holds its episode, if that can be restored.
pub(super) fn difference_lines(
    state: &State,
    now: &PromptRecord,
    before: Option<(&PromptRecord, Option<&State>)>,
    columns: u16,
) -> Vec<Line> {
    let Some((before, before_state)) = before else {
        let words = match now.question {
            Some(_) => "First prompt with this question; nothing to compare with.",
            None => "First prompt; nothing to compare with.",
        };
        return paragraph((Role::Muted, ""), Role::Muted, words, columns);
    };
    let mut lines = segment_changes(state, now, before, columns);
    // A prompt of an earlier episode must be rendered from a state of that episode.
    let Some(before_state) = before_state else {
        let words =
            format!("The previous prompt belongs to episode {}; the texts aren't compared.", before.episode);
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, &words, columns));
        return lines;
    };
    lines.extend(changed_lines((before_state, before), (state, now), columns));
    if lines.is_empty() {
        lines = paragraph((Role::Muted, ""), Role::Muted, "No changes since the previous call.", columns);
    }
    lines
}

/// Returns a line diff of two prompts, each given with a state that holds its episode.
pub(in crate::ui::overlay) fn changed_lines(
    (before_state, before): (&State, &PromptRecord),
    (state, now): (&State, &PromptRecord),
    columns: u16,
) -> Vec<Line> {
    let mut lines = Vec::new();
    let (old, new) = (render(before_state, before), render(state, now));
    let (old_starts, new_starts) = (segment_starts(before_state, &old), segment_starts(state, &new));
    let (old, new) = (clean_body(&old), clean_body(&new));
    let diff = TextDiff::from_lines(&old, &new);
    for (place, group) in diff.grouped_ops(1).iter().enumerate() {
        if place > 0 {
            lines.push(Vec::new());
        }
        // Name the segment of the first changed line, in the prompt that contains the line.
        let changed = group.iter().find(|op| op.tag() != DiffTag::Equal);
        let (named, at) = match changed {
            Some(op) if op.tag() == DiffTag::Delete => (&old_starts, op.old_range().start),
            Some(op) => (&new_starts, op.new_range().start),
            None => (&new_starts, 0),
        };
        if let Some((_, name)) = named.iter().rev().find(|(first, _)| *first <= at) {
            lines.push(vec![(Role::Title, name.clone())]);
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

/// Returns the lessons and texts that were added or removed.
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
                state.to_corrected_tokens(now.role, u64::from(segment.tokens))
            );
            lines.extend(paragraph((role, lead), role, &words, columns));
        }
    }
    if !lines.is_empty() {
        lines.push(Vec::new());
    }
    lines
}

/// Returns the first body line of each non-empty segment, with its label and its step or lesson.
fn segment_starts(state: &State, prompt: &Prompt) -> Vec<(usize, String)> {
    let mut line = 0;
    let mut places = Vec::new();
    for segment in &prompt.segments {
        let from = match segment.origin {
            SegmentOrigin::Step(_) | SegmentOrigin::Steps { .. } => {
                format!(" of step {}", origin_text(state, &segment.origin))
            }
            SegmentOrigin::Lesson { .. } => format!(" lesson {}", origin_text(state, &segment.origin)),
            SegmentOrigin::Attempt { episode, .. } => format!(" of episode {episode}"),
            SegmentOrigin::Text(_) | SegmentOrigin::Task => String::new(),
        };
        if !segment.text.trim().is_empty() {
            // Leading line breaks belong to the preceding segment.
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
