//! The details of one step, with the full texts that the panes shorten.

use crate::catalog::{advice_kind, find_environment};
use crate::domain::{
    CallPhase, FailureKind, ModelRole, Note, PromptRecord, Reflection, RunSpec, Seq, Step, TokenCounts,
    ToolCall, Usage,
};
use crate::driver::LiveCall;
use crate::engine::{Effect, Episode, Event};
use crate::report::{
    Block, Section, Span, Tone, lesson_line, plain_text, reflection_notes, start_section, step_section,
};
use crate::timeline::ReadPast as _;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::draft::LessonDraft;
use crate::ui::facts::{actions_without_server, dropped_texts_of, open_text_count, step_request};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::labels::progress_text;
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::types::RequestForm;
use crate::ui::widget::row_cache::RowCache;
use crate::ui::widget::window::{Line, Page, PresentKeys, Scroll, paragraph, scroll_or_close};
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;

/// Overlay with the details of a step, or of the start of the episode for step 0.
pub(super) struct StepDetails {
    number: u32,
    scroll: Scroll,
    cache: RowCache,
    /// The index of the text to offer next.
    next_text: usize,
}

impl StepDetails {
    /// Creates the overlay for a step of the episode on screen.
    pub(super) fn new(number: u32) -> Self {
        Self { number, scroll: Scroll::default(), cache: RowCache::default(), next_text: 0 }
    }

    /// Opens the lesson editor for the next dropped text, with the kind it would have had.
    fn accept_next_text(&mut self, context: &Context<'_>) -> Response {
        let step = step_with_open_texts(self.number, context).and_then(|number| context.step(number));
        let all: Vec<_> = step.into_iter().flat_map(|step| dropped_texts_of(step, context)).collect();
        // Skip texts that have become lessons since.
        let mut places = (0..all.len()).map(|n| (self.next_text + n) % all.len());
        let Some(at) = places.find(|n| all[*n].lesson(&context.frame.head).is_none()) else {
            return Response::request(Request::ShowNotice("every text is a lesson already".to_owned()));
        };
        self.next_text = at + 1;
        let dropped = all[at];
        let mut draft = LessonDraft::new(dropped.kind(advice_kind(context.method())));
        draft.text.clone_from(&dropped.text.text);
        draft.solution = dropped.text.solution.clone().unwrap_or_default();
        Response::request(Request::AcceptAsLesson { draft, evidence: dropped.evidence() })
    }
}

/// Returns the rows of the details of a step, or of the start of the episode for step 0.
pub(in crate::ui) fn detail_lines(number: u32, context: &Context<'_>, columns: u16) -> Vec<Line> {
    let state = context.state_for_step(number);
    let Some(episode) = state.episode.as_deref() else { return Vec::new() };
    let step = context.step(number).map(AsRef::as_ref);
    let mut details = Details { context, step, columns, lines: Vec::new() };
    let Some(step) = step else {
        for block in start_section(episode, state).blocks() {
            details.write_block(block);
        }
        details.write_environment_texts(episode);
        details.write_failures(number);
        return details.lines;
    };
    details.write_step(step, &step_section(step, episode, state));
    details.write_environment_texts(episode);
    details.write_failures(number);
    for call in retried_calls(number, context) {
        let seconds = call.seconds_to_retry(context.now).unwrap_or(0);
        let again = format!("trying again in {seconds} s");
        details.write("retrying", Role::Warning, call.notice.as_deref().unwrap_or(&again));
    }
    let has_reply = step.proposal_text().is_some() || step.executed.is_some();
    let cost = if !has_reply && step.usage == Usage::default() {
        "nothing yet: no reply has arrived".to_owned()
    } else if step.usage.estimated && state.run.as_deref().is_some_and(RunSpec::is_played_by_rules) {
        format!("no model was called; the prompt has about {} tokens", step.usage.prompt_tokens)
    } else {
        cost_text(&step.usage)
    };
    details.write("cost", Role::Muted, &cost);
    if let Some(other) = step_with_open_texts(number, context).filter(|other| *other != number) {
        let count = context.step(other).map_or(0, |step| open_text_count(step, context));
        let key = context.keymap.key_label_in(Mode::StepDetails, Action::AcceptAsLesson).unwrap_or_default();
        let words = match count {
            1 => format!("1 text at step {other}; {key} adds it as a lesson"),
            _ => format!("{count} texts at step {other}; {key} adds them as lessons"),
        };
        details.write("dropped", Role::Muted, &words);
    }
    details.lines
}

/// Returns the calls of a step that are waiting to be tried again. They are no part of the state.
fn retried_calls<'a>(number: u32, context: &Context<'a>) -> impl Iterator<Item = &'a LiveCall> {
    let is_head = context.frame.displayed.head == context.frame.head.head;
    let is_open = context.frame.head.last_step().is_some_and(|step| step.number == number);
    let calls = context.frame.live.calls.iter().filter(move |_| is_head && is_open);
    calls.filter(|call| matches!(call.phase, CallPhase::Retrying(_)))
}

/// Returns the step whose dropped texts the details of step `number` offer: the step itself, else for a step without an
/// observation yet the latest earlier one that has some left.
fn step_with_open_texts(number: u32, context: &Context<'_>) -> Option<u32> {
    /// Maximum number of steps to look back.
    const MAX_STEPS_BACK: usize = 50;
    let own = context.step(number)?;
    if open_text_count(own, context) > 0 {
        return Some(number);
    }
    if own.answer.is_some() {
        return None;
    }
    let mut earlier = (1..number).rev().take(MAX_STEPS_BACK);
    earlier.find(|number| context.step(*number).is_some_and(|step| open_text_count(step, context) > 0))
}

/// Lays out the blocks of a step in full, and what only the details show: raw replies, dropped texts, costs.
struct Details<'a> {
    context: &'a Context<'a>,
    /// `None` before the first step.
    step: Option<&'a Step>,
    columns: u16,
    lines: Vec<Line>,
}

impl Details<'_> {
    fn write(&mut self, label: &str, role: Role, text: &str) {
        let label = format!("{label:<12}");
        self.lines.extend(paragraph((Role::Muted, &label), role, text, self.columns));
    }

    /// Returns a line in the glyphs of the screen.
    fn words(&self, line: &[Span<'_>]) -> String {
        let is_ascii = self.context.glyphs.ellipsis.is_ascii();
        let texts = line.iter().map(|span| match span {
            Span::Words(text) if !is_ascii => text.to_string(),
            other => plain_text(std::slice::from_ref(other)),
        });
        texts.collect()
    }

    fn write_step(&mut self, step: &Step, section: &Section<'_>) {
        let mut replies = actor_replies(step, self.context);
        let mut read = replies.pop_if(|reply| reply.unusable_reason.is_none() && !reply.is_draft);
        let mut drafts = replies.iter().filter(|reply| reply.is_draft);
        for block in section.blocks() {
            // What was read stands above what was made of it.
            let is_made_of_reply = matches!(
                block,
                Block::Thought { .. }
                    | Block::Complaint(_)
                    | Block::Rejected { .. }
                    | Block::Action { .. }
                    | Block::Proposal(_)
            );
            if is_made_of_reply && let Some(reply) = read.take() {
                self.write_reply(&reply);
            }
            // Written with the reply that has it.
            if matches!(block, Block::ToolCall(_)) {
                continue;
            }
            self.write_block(block);
            match block {
                Block::UnusableReplies(_) => self.write_unusable(&replies),
                // What else the reply says.
                Block::Draft(action) => {
                    if let Some(reply) = drafts.next().filter(|reply| reply.text.trim() != *action) {
                        self.write_reply(reply);
                    }
                }
                Block::Observation { .. } => self.write_answer(step),
                _ => {}
            }
        }
        // Nothing was made of it.
        if let Some(reply) = read.filter(|reply| !reply.tool_calls.is_empty()) {
            self.write_reply(&reply);
        }
        let is_written = |note: &&Note| {
            section.blocks().any(|b| matches!(b, Block::Finding { note: n, .. } if **n == **note))
        };
        for note in step.notes.iter().filter(|note| !is_written(note)) {
            self.write_block(&Block::Finding { note, sentence: None });
        }
    }

    /// Writes the text of a reply as it arrived, and its tool calls.
    fn write_reply(&mut self, reply: &ActorReply) {
        if !reply.text.is_empty() || reply.tool_calls.is_empty() {
            self.write("reply", Role::Muted, &reply.text);
        }
        for call in &reply.tool_calls {
            self.write_block(&Block::ToolCall(call));
        }
    }

    /// Writes what the environment keeps for a person about a step, such as the source of a page.
    fn write_environment_texts(&mut self, episode: &Episode) {
        let texts =
            find_environment(&episode.task.env).map(|entry| (entry.task_facts.step_texts)(&episode.truth));
        for (label, text) in texts.into_iter().flatten() {
            self.write(label, Role::Muted, &text);
        }
    }

    fn write_unusable(&mut self, replies: &[ActorReply]) {
        for reply in replies {
            let Some(reason) = &reply.unusable_reason else { continue };
            self.write_reply(reply);
            self.write_block(&Block::AskedAgain(reason));
        }
    }

    /// Writes what else the environment answered.
    fn write_answer(&mut self, step: &Step) {
        let Some(answer) = &step.answer else { return };
        // The block of an edited observation has the environment's own text.
        if answer.agent_view.is_some() && !answer.edited {
            self.write("environment", Role::Observation, &answer.raw);
        }
        let valid = if answer.valid { "valid" } else { "not valid" };
        let progress = progress_text(answer.progress, self.context.displayed_state());
        let reward = (answer.reward * 1000.0).round() / 1000.0;
        let text = format!("{valid}, reward {reward}, progress {progress}");
        self.write("", Role::Muted, &text);
    }

    fn write_block(&mut self, block: &Block<'_>) {
        let (label, role) = match label_and_role(block) {
            // The mark that the story has.
            ("", Role::Person) => (self.context.glyphs.person, Role::Person),
            known => known,
        };
        self.write(label, role, &self.words(&block.line()));
        if let Some(note) = block.note() {
            self.write("", Role::Person, &plain_text(&note));
        }
        if let Block::Reflection(reflection) = block {
            self.write_reflection(reflection);
        }
    }

    /// Writes the items and notes of a reflection, and the texts that were not kept.
    fn write_reflection(&mut self, reflection: &Reflection) {
        for item in &reflection.items {
            let text = format!("{} {}", self.context.glyphs.new_lesson, plain_text(&lesson_line(&item.text)));
            self.write("", Role::Reflection, &text);
        }
        for note in reflection_notes(reflection) {
            self.write_block(&note);
        }
        let texts = self.step.into_iter().flat_map(|step| dropped_texts_of(step, self.context));
        let texts: Vec<_> = texts.filter(|text| text.reflection == reflection).collect();
        for (place, text) in reflection.dropped.iter().enumerate() {
            self.write("dropped", Role::Muted, &plain_text(&lesson_line(text)));
            if let Some(number) = texts.get(place).and_then(|text| text.lesson(&self.context.frame.head)) {
                self.write("", Role::Person, &format!("added as lesson {number}"));
            }
        }
    }

    /// Writes the failed calls that await a decision at a step, with their partial replies.
    fn write_failures(&mut self, number: u32) {
        let state = self.context.displayed_state();
        let here = |prompt: &PromptRecord| {
            prompt.step == number && state.open_episode().is_some_and(|open| open.number == prompt.episode)
        };
        for (effect, failure) in state.failed_calls() {
            if !matches!(effect, Effect::Ask { prompt, .. } if here(prompt)) {
                continue;
            }
            self.write_block(&Block::FailedCall { failure, question: effect.question(), given_up: false });
            if !failure.partial_text.is_empty() {
                self.write_block(&Block::PartialText("answer", &failure.partial_text));
            }
        }
    }
}

/// Returns the label of a block's row and the colour of its text. Without a label, its words say what it is.
fn label_and_role(block: &Block<'_>) -> (&'static str, Role) {
    let tone_role = match block.tone() {
        Tone::Neutral => Role::Muted,
        Tone::Person => Role::Person,
        Tone::Warning => Role::Warning,
        Tone::Good => Role::Good,
        Tone::Bad => Role::Bad,
    };
    match block {
        Block::Reasoning(_) => ("reasoning", Role::Reasoning),
        Block::Thought { .. } => ("think", Role::Thought),
        Block::Proposal(_) => ("proposed", Role::Proposal),
        Block::Action { decision: Some(_), .. } => ("executed", Role::Person),
        Block::Action { decision: None, .. } => ("executed", Role::Action),
        Block::SentAs { .. } => ("", Role::Action),
        Block::Observation { .. } => ("observation", Role::Observation),
        Block::Finding { .. } => ("noted", tone_role),
        Block::Reflection(_) => ("reflected", Role::Reflection),
        Block::FailedCall { .. } => ("error", tone_role),
        Block::Remark(_) => ("remark", tone_role),
        _ => ("", tone_role),
    }
}

/// Describes tokens and who counted them, time and cost.
fn cost_text(usage: &Usage) -> String {
    let mut counts = TokenCounts::default();
    counts.add(usage);
    let all = counts.tokens();
    let sources = [
        (counts.reported, " reported by the server"),
        (counts.proxy, " counted by a proxy"),
        (counts.estimated, " (estimated)"),
        (counts.cached, " from the cache"),
        (counts.recorded, " from a recording"),
    ];
    let by = match sources.iter().find(|(tokens, _)| *tokens == all) {
        _ if all == 0 => String::new(),
        Some((_, source)) => (*source).to_owned(),
        None => format!(" ({})", counts.describe()),
    };
    // No server reports a price.
    let cost = counts
        .format_cost()
        .map_or_else(String::new, |cost| format!(", cost {cost} at the configured prices"));
    let seconds = usage.millis as f64 / 1000.0;
    let reasoning = match usage.reasoning_tokens {
        0 => String::new(),
        tokens => format!(", {tokens} of them reasoning"),
    };
    let wasted = match usage.earlier.tokens() {
        0 => String::new(),
        tokens => format!(", {tokens} of them for unusable replies"),
    };
    format!(
        "{} + {} tokens{by}{reasoning}{wasted}, {seconds:.1} s{cost}",
        usage.prompt_tokens, usage.reply_tokens
    )
}

/// Maximum number of a step's events to search.
const MAX_EVENTS: u64 = 1000;

/// A journaled reply of the actor.
struct ActorReply {
    text: String,
    tool_calls: Vec<ToolCall>,
    /// Set if another one was requested because this one could not be used.
    unusable_reason: Option<String>,
    /// Whether another one was requested that fits this one to the present state.
    is_draft: bool,
}

/// Returns the actor's replies in a step, in order.
fn actor_replies(step: &Step, context: &Context<'_>) -> Vec<ActorReply> {
    let mut replies: Vec<ActorReply> = Vec::new();
    let mut actors = Vec::new();
    let before = Seq(step.first_seq.0.saturating_sub(1));
    let last = Seq(step.last_seq.0.min(step.first_seq.0 + MAX_EVENTS));
    for envelope in context.frame.timeline.events_between(before, last).unwrap_or_default() {
        match &envelope.event {
            Event::PromptSent { prompt } if prompt.question.is_none() => actors.push(prompt.call),
            Event::ReplyReceived { call, text, tool_calls, .. } if actors.contains(call) => {
                let (text, tool_calls) = (text.clone(), tool_calls.clone());
                replies.push(ActorReply { text, tool_calls, unusable_reason: None, is_draft: false });
            }
            Event::AskedAgain { unusable_reason, draft, .. } => {
                // A person who asks again says nothing about the reply.
                let is_automatic = unusable_reason.is_some() || draft.is_some();
                if let Some(last) = replies.last_mut().filter(|_| is_automatic) {
                    (last.unusable_reason, last.is_draft) = (unusable_reason.clone(), draft.is_some());
                }
            }
            Event::CallFailed { call, failure } if failure.kind == Some(FailureKind::Unusable) => {
                if let Some(last) = replies.last_mut().filter(|_| actors.contains(call)) {
                    last.unusable_reason = Some(failure.message.clone());
                }
            }
            _ => {}
        }
    }
    replies
}

impl Component for StepDetails {
    fn name(&self) -> &'static str {
        "step"
    }

    fn mode(&self, context: &Context<'_>) -> Mode {
        if step_with_open_texts(self.number, context).is_some() { Mode::StepDetails } else { Mode::StepFacts }
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        match action {
            Action::Open => Response::close(),
            Action::AcceptAsLesson => self.accept_next_text(context),
            Action::CopyRequest | Action::CopyCurl => {
                let is_curl = action == Action::CopyCurl;
                let form = if is_curl { RequestForm::Curl } else { RequestForm::Json };
                let request = step_request(context, self.number, form);
                let none = || {
                    Request::ShowNotice(format!("step {} has no request: no model was asked", self.number))
                };
                Response::request(request.unwrap_or_else(none))
            }
            _ => scroll_or_close(&self.scroll, action),
        }
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.scroll.on_wheel(event);
        Response::default()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = if self.number == 0 {
            "Start of the episode".to_owned()
        } else {
            format!("Step {}", self.number)
        };
        let page = Page { title: &title, columns: 96, mode: self.mode(context), scroll: &self.scroll };
        let has_request = context.step(self.number).is_some_and(|step| step.call.is_some());
        let without_effect = if has_request {
            actions_without_server(context, ModelRole::Actor)
        } else {
            &[Action::CopyRequest, Action::CopyCurl]
        };
        let keys = PresentKeys { without_effect, ..PresentKeys::default() };
        page.draw_with_keys(keys, context, screen, canvas, |columns| {
            if retried_calls(self.number, context).next().is_some() {
                return detail_lines(self.number, context, columns).into();
            }
            self.cache.get_or_make(context, columns, |columns| detail_lines(self.number, context, columns))
        });
    }
}
