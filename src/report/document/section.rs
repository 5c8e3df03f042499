//! The blocks of a finished step. The blocks of a single event are built from the same functions.

use super::block::{Block, Span, code, words};
use super::samples::samples_of;
use crate::catalog::RULES;
use crate::domain::{
    Author, DecidedBy, Intervention, ModelRole, Note, NoteKind, PartialReply, Reflection, Seq, ShownAs, Step,
    ThoughtDisposition,
};
use crate::engine::{Episode, State};
use std::borrow::Cow;

/// A step, or what precedes the first one as step 0.
#[derive(Clone, Debug, Default)]
pub struct Section<'a> {
    pub step: u32,
    /// Up to the action.
    pub decision: Vec<Block<'a>>,
    /// From the observation on.
    pub outcome: Vec<Block<'a>>,
}

impl<'a> Section<'a> {
    /// Returns all blocks in order.
    pub fn blocks(&self) -> impl Iterator<Item = &Block<'a>> {
        self.decision.iter().chain(&self.outcome)
    }
}

/// Returns what happened before the first step of an episode. `state` contains its reflections.
pub fn start_section<'a>(episode: &'a Episode, state: &'a State) -> Section<'a> {
    let first = episode.first_observation.as_ref();
    let mut outcome = Vec::new();
    outcome.extend(first.map(|first| Block::Observation {
        text: first.agent_view.as_deref().unwrap_or(&first.raw),
        original: None,
    }));
    outcome.extend(early_reflections(episode, state).map(Block::Reflection));
    outcome.extend(episode.interventions.iter().map(intervention));
    let remarks = state.remarks.iter().filter(|remark| (remark.episode, remark.step) == (episode.number, 0));
    outcome.extend(remarks.map(|remark| Block::Remark(&remark.text)));
    Section { step: 0, decision: Vec::new(), outcome }
}

/// Returns what happened at a step of an episode. `state` contains its reflections.
pub fn step_section<'a>(step: &'a Step, episode: &'a Episode, state: &'a State) -> Section<'a> {
    let answered = if step.answer.is_some() { step.answered_seq } else { Seq(u64::MAX) };
    let acts = |later: bool| step.interventions.iter().filter(move |act| (act.seq > answered) == later);
    let mut decision = Vec::new();
    let rejections = step.rejections.iter();
    decision.extend(rejections.map(|(proposal, reason)| Block::Rejected { proposal, reason }));
    decision.extend(step.partial_replies.iter().flat_map(cancelled_call));
    decision.extend(step.prompt_edited.then_some(Block::PromptEdited));
    // Lessons enter the step's first prompt, or one that was sent after the person had done something.
    let mut lessons_and_acts: Vec<_> =
        first_shown(step).chain(acts(false).map(|act| (act.seq, intervention(act)))).collect();
    lessons_and_acts.sort_by_key(|(seq, _)| *seq);
    let mut lessons_and_acts = lessons_and_acts.into_iter().map(|(_, block)| block).peekable();
    decision.extend(lessons_and_acts.next_if(|block| matches!(block, Block::FirstShown(_))));
    decision.extend((step.unusable_replies > 0).then_some(Block::UnusableReplies(step.unusable_replies)));
    decision.extend(step.drafts.iter().map(|draft| Block::Draft(&draft.action)));
    decision.extend(step.warnings.iter().map(|warning| Block::Warning(warning)));
    let changes = step.setting_deviations.iter();
    decision.extend(changes.map(|change| Block::RequestChanged(ModelRole::Actor, change)));
    decision.extend(lessons_and_acts);
    decision.extend((!step.reasoning.is_empty()).then_some(Block::Reasoning(&step.reasoning)));
    decision.extend(step.tool_calls.iter().map(Block::ToolCall));
    decision.extend(samples_of(step).into_iter().map(Block::Samples));
    push_decision(&mut decision, step, episode);
    let mut outcome = observed(step, episode);
    outcome.extend(findings(step, episode));
    let reflections = step.reflections.iter().filter_map(|index| state.reflections.get(*index as usize));
    outcome.extend(reflections.map(|reflection| Block::Reflection(reflection)));
    outcome.extend(acts(true).map(intervention));
    outcome.extend(step.breakpoint_marks.iter().map(|mark| Block::Hit {
        is_watch: mark.is_watch,
        number: mark.breakpoint_number,
        condition: None,
        reason: &mark.reason,
    }));
    outcome.extend(step.remarks.iter().map(|remark| Block::Remark(remark)));
    Section { step: step.number, decision, outcome }
}

/// Returns the lessons that a person has taught and that a prompt of the step was the first to show, with the event of
/// each such prompt.
pub(super) fn first_shown(step: &Step) -> impl Iterator<Item = (Seq, Block<'_>)> {
    let prompts = step.first_shown_lessons.chunk_by(|one, other| one.0 == other.0);
    prompts.filter_map(|lessons| {
        let numbers = lessons.iter().map(|(_, number)| *number).collect();
        Some((lessons.first()?.0, Block::FirstShown(numbers)))
    })
}

/// Adds the thought and what became of it, then the action or the proposal.
fn push_decision<'a>(blocks: &mut Vec<Block<'a>>, step: &'a Step, episode: &'a Episode) {
    if let Some(text) = step.thought.as_deref() {
        blocks.push(Block::Thought { text, decision: None, is_edited: step.thought_edited });
        let disposition = step.executed.as_ref().map(|e| &e.thought_disposition);
        blocks.extend(disposition.and_then(thought_fate));
        if step.dropped_by.is_some() && disposition != Some(&ThoughtDisposition::Dropped) {
            blocks.push(Block::ThoughtDropped(None));
        }
    }
    blocks.extend(step.reply_source.as_deref().map(Block::ReplySource));
    blocks.extend(step.complaints.iter().map(|complaint| Block::Complaint(complaint)));
    blocks.extend(plan_facts(step, episode));
    blocks.extend(executed(step));
    if step.thought.is_none() && step.dropped_by.is_some() {
        blocks.push(Block::ThoughtDropped(None));
    }
    blocks.extend(undecided(step, episode));
}

/// Returns where a step's action was planned, and what its reply plans after it.
pub(super) fn plan_facts<'a>(step: &'a Step, episode: &'a Episode) -> Vec<Block<'a>> {
    let origin = episode.planned_by(step.number).map(|(plan, index)| {
        let (number, count) = (index + 2, plan.planned.len() + 1);
        Block::Plan(vec![words(format!("planned at step {}, {number} of {count}", plan.number))])
    });
    let mut line = vec![words("planned after it: ")];
    for (index, planned) in step.planned.iter().enumerate() {
        line.extend((index > 0).then(|| words(", ")));
        line.push(code(planned.action.as_str()));
    }
    let rest = (!step.planned.is_empty()).then_some(Block::Plan(line));
    origin.into_iter().chain(rest).collect()
}

/// Returns the proposal of a step whose action was never decided on, or not yet.
pub(super) fn undecided<'a>(step: &'a Step, episode: &Episode) -> Vec<Block<'a>> {
    if step.executed.is_some() || step.proposal_text().is_none() {
        return Vec::new();
    }
    let proposal = step.proposed.as_deref().map(Block::Proposal);
    proposal.into_iter().chain(episode.outcome.is_some().then_some(Block::NotRun)).collect()
}

/// Returns what a person's override did to the thought before the action; nothing if later prompts keep it.
pub(super) fn thought_fate(disposition: &ThoughtDisposition) -> Option<Block<'_>> {
    match disposition {
        ThoughtDisposition::Kept => None,
        ThoughtDisposition::Dropped => Some(Block::ThoughtDropped(None)),
        ThoughtDisposition::Rewritten(text) => Some(Block::ThoughtRewritten(text)),
    }
}

/// Returns the executed action and how it was sent. An actor's action that only repeats the thought is left out.
pub(super) fn executed(step: &Step) -> Vec<Block<'_>> {
    let Some(executed) = &step.executed else { return Vec::new() };
    let is_by_person = executed.decided_by == DecidedBy::Person;
    let decision = is_by_person.then(|| {
        let replaced = step.proposal_text().filter(|proposal| *proposal != executed.action);
        let replaced =
            replaced.into_iter().flat_map(|proposal| [words(", instead of: "), Span::Replaced(proposal)]);
        // By default, prompts show it as the agent's own.
        let is_marked = executed.shown_as == ShownAs::HumanEdit;
        let marked = is_marked.then(|| words(", shown as a human edit"));
        [words("by "), Span::Person].into_iter().chain(replaced).chain(marked).collect()
    });
    if let Some(text) = executed.action.trim_start().strip_prefix("think:").map(str::trim) {
        let is_repeated = !is_by_person && step.thought.as_deref().is_some_and(|t| t.trim() == text);
        let thought = Block::Thought { text, decision, is_edited: step.thought_edited };
        return if is_repeated { Vec::new() } else { vec![thought] };
    }
    let mut blocks = vec![Block::Action { text: &executed.action, decision }];
    let rule = executed.rewrite_rule.as_deref();
    blocks.extend(executed.sent.as_deref().map(|sent| Block::SentAs { sent, rule }));
    blocks
}

/// Returns the observation, and the progress if it changed.
pub(super) fn observed<'a>(step: &'a Step, episode: &Episode) -> Vec<Block<'a>> {
    let Some(answer) = &step.answer else { return Vec::new() };
    let text = answer.agent_view.as_deref().unwrap_or(&answer.raw);
    let mut blocks = vec![Block::Observation { text, original: answer.edited.then_some(&answer.raw) }];
    blocks.extend(progress(step, episode));
    blocks
}

fn progress(step: &Step, episode: &Episode) -> Option<Block<'static>> {
    let previous = episode.step(step.number.saturating_sub(1)).and_then(|s| s.answer.as_ref());
    let before = previous.or(episode.first_observation.as_ref()).map_or(0.0, |answer| answer.progress);
    let after = step.answer.as_ref()?.progress;
    ((after - before).abs() > f64::EPSILON).then_some(Block::Progress { before, after })
}

/// Returns the detectors' mistakes, and the progress they found if the progress rate doesn't say the same.
pub(super) fn findings<'a>(step: &'a Step, episode: &Episode) -> Vec<Block<'a>> {
    let has_progress = progress(step, episode).is_some();
    let is_shown = |kind| match kind {
        NoteKind::Mistake => true,
        NoteKind::Progress => !has_progress,
        NoteKind::Fact => false,
    };
    step.notes.iter().filter(|note| is_shown(note.kind)).map(|note| finding(note, step, episode)).collect()
}

/// Returns what a note of a step found.
fn finding<'a>(note: &'a Note, step: &Step, episode: &Episode) -> Block<'a> {
    Block::Finding { note, sentence: RULES.describe_finding(episode, step, note) }
}

/// Returns that a person cancelled a call, then the parts of its reply.
pub(super) fn cancelled_call(reply: &PartialReply) -> impl Iterator<Item = Block<'_>> {
    let parts = [("reasoning", reply.reasoning.trim()), ("answer", reply.text.trim())];
    let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
    [Block::CancelledCall(reply)].into_iter().chain(parts.map(|(name, text)| Block::PartialText(name, text)))
}

fn intervention(intervention: &Intervention) -> Block<'_> {
    Block::Act { act: Cow::Borrowed(&intervention.act), undone: intervention.undone }
}

/// Returns the reflections written before the first step of an episode, such as plans, without those that belong to a first
/// step that was still undecided. Reflections are in the order of episodes and steps, so that a search needs no look at all of
/// them.
fn early_reflections<'a>(
    episode: &Episode,
    state: &'a State,
) -> impl Iterator<Item = &'a Reflection> + use<'a> {
    let number = episode.number;
    let (mut from, mut to) = (0, state.reflections.len());
    while from < to {
        let middle = usize::midpoint(from, to);
        if state.reflections.get(middle).is_some_and(|r| r.episode < number) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    let of_first_step = episode.step(1).map(|step| step.reflections.clone()).unwrap_or_default();
    let is_early = move |index: &usize| !of_first_step.iter().any(|known| *known as usize == *index);
    let after =
        (from..state.reflections.len()).filter(is_early).filter_map(|index| state.reflections.get(index));
    after.map(AsRef::as_ref).take_while(move |r| r.episode == number && r.step == 0)
}

/// Returns what is said about a reflection below its items: about its prompt, its reply, and what was not kept.
pub fn reflection_notes(reflection: &Reflection) -> Vec<Block<'_>> {
    let mut notes: Vec<Block<'_>> = Vec::new();
    // In place of items, so before everything else.
    let is_empty = reflection.items.is_empty() && reflection.author == Author::Mentor;
    notes.extend(is_empty.then_some(Block::NoItems));
    notes.extend(reflection.repeated_advice().map(Block::SameAdvice));
    notes.extend(reflection.prompt_edited.then_some(Block::PromptEdited));
    notes.extend(reflection.reply_source.as_deref().map(Block::ReplySource));
    notes.extend(reflection.complaints.iter().map(|complaint| Block::Complaint(complaint)));
    let dropped = reflection.dropped.len();
    notes.extend((dropped > 0).then_some(Block::NotKept(dropped)));
    notes
}
