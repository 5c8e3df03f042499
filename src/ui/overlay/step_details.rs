//! The details of one step, with the full texts that the panes shorten.

use crate::catalog::advice_kind;
use crate::domain::{FailureKind, NoteKind, PromptRecord, Seq, Step, Usage, format_price};
use crate::engine::{Effect, Event};
use crate::report::{EDITED_BY_PERSON, reply_source};
use crate::timeline::ReadPast as _;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::draft::LessonDraft;
use crate::ui::facts::{dropped_texts_of, open_text_count};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::widget::row_cache::RowCache;
use crate::ui::widget::window::{Line, Page, Scroll, paragraph, scroll_or_close};
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

    fn lines(&self, context: &Context<'_>, columns: u16) -> Vec<Line> {
        let Some(episode) = context.episode() else { return Vec::new() };
        let Some(step) = context.step(self.number) else {
            let text = episode.first_observation.as_ref().map_or("", |r| r.raw.as_str());
            let mut lines = paragraph((Role::Muted, ""), Role::Observation, text, columns);
            lines.extend(failure_lines(self.number, context, columns));
            return lines;
        };
        let mut lines = step_lines(step, context, columns);
        if let Some(other) = step_with_open_texts(self.number, context).filter(|other| *other != self.number)
        {
            let count = context.step(other).map_or(0, |step| open_text_count(step, context));
            let key =
                context.keymap.key_label_in(Mode::StepDetails, Action::AcceptAsLesson).unwrap_or_default();
            let words = match count {
                1 => format!("1 text at step {other}; {key} adds it as a lesson"),
                _ => format!("{count} texts at step {other}; {key} adds them as lessons"),
            };
            lines.extend(paragraph((Role::Muted, &padded_label("dropped")), Role::Muted, &words, columns));
        }
        lines
    }
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

fn step_lines(step: &Step, context: &Context<'_>, columns: u16) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |name: &str, role: Role, text: &str| {
        lines.extend(paragraph((Role::Muted, &padded_label(name)), role, text, columns));
    };
    for (proposal, reason) in &step.rejections {
        add("rejected", Role::Muted, proposal);
        add("because", Role::Person, reason);
    }
    for partial in &step.partial_replies {
        add(
            "cancelled",
            Role::Person,
            &partial.describe_cost().map_or("by a person".to_owned(), |c| format!("by a person; {c}")),
        );
        for (label, words) in [("reasoning", &partial.reasoning), ("partial", &partial.text)] {
            if !words.trim().is_empty() {
                add(label, Role::Muted, words.trim());
            }
        }
    }
    if step.prompt_edited {
        add("prompt", Role::Person, "edited by a person before it was sent");
    }
    for (reply, why) in unusable_replies(step, context) {
        add("reply", Role::Muted, &reply);
        add("unusable", Role::Warning, &why);
    }
    if !step.complaints.is_empty()
        && let Some(reply) = actor_replies(step, context).pop()
    {
        add("reply", Role::Muted, &reply);
    }
    if let Some(thought) = &step.thought {
        add("think", Role::Thought, thought);
        if step.thought_edited {
            add("", Role::Person, EDITED_BY_PERSON);
        }
    }
    if let Some(proposed) = &step.proposed {
        add("proposed", Role::Proposal, proposed);
    }
    for complaint in &step.complaints {
        add("ignored", Role::Warning, complaint);
    }
    if let Some(done) = &step.executed {
        add("executed", if step.is_person_action() { Role::Person } else { Role::Action }, &done.action);
        if let Some(sent) = &done.sent {
            add("sent as", Role::Action, sent);
        }
        if let Some(rule) = &done.rewrite_rule {
            add("by rule", Role::Muted, rule);
        }
    }
    if let Some(answer) = &step.answer {
        add("observation", Role::Observation, &answer.raw);
        if let Some(seen) = &answer.agent_view {
            add("shown as", Role::Observation, seen);
        }
        if answer.edited {
            add("", Role::Person, "edited by a person: the agent reads this; the environment didn't change");
        }
        let valid = if answer.valid { "valid" } else { "not valid" };
        add("", Role::Muted, &format!("{valid}, reward {}, progress {:.2}", answer.reward, answer.progress));
    }
    for note in &step.notes {
        let role = match note.kind {
            NoteKind::Progress => Role::Good,
            NoteKind::Mistake => Role::Bad,
            NoteKind::Fact => Role::Muted,
        };
        add("noted", role, &format!("{}: {}", note.detector.replace('_', " "), note.evidence));
    }
    let mut texts = dropped_texts_of(step, context);
    for index in &step.reflections {
        let Some(reflection) = context.state_for_step(step.number).reflections.get(*index as usize) else {
            continue;
        };
        let name = reflection.question().name();
        for (place, item) in reflection.items.iter().enumerate() {
            let solution = item.text.solution.as_ref().map(|s| format!(" {} {s}", context.glyphs.solution));
            let words = format!("{}{}", item.text.text, solution.unwrap_or_default());
            add(if place == 0 { &name } else { "" }, Role::Reflection, &words);
        }
        for complaint in &reflection.complaints {
            add("ignored", Role::Warning, &format!("{name}: {complaint}"));
        }
        for text in &reflection.dropped {
            let solution = text.solution.as_ref().map(|s| format!(" {} {s}", context.glyphs.solution));
            add("dropped", Role::Muted, &format!("{}{}", text.text, solution.unwrap_or_default()));
            if let Some(number) = texts.next().and_then(|text| text.lesson(&context.frame.head)) {
                add("", Role::Person, &format!("added as lesson {number}"));
            }
        }
    }
    for remark in &step.remarks {
        add("remark", Role::Person, remark);
    }
    if let Some(from) = &step.reply_source {
        add("from", Role::Person, &reply_source(from));
    }
    for setting in &step.setting_deviations {
        add("unsent", Role::Warning, setting);
    }
    for warning in &step.warnings {
        add("warning", Role::Warning, warning);
    }
    lines.extend(failure_lines(step.number, context, columns));
    lines.extend(paragraph(
        (Role::Muted, &padded_label("cost")),
        Role::Muted,
        &cost_text(&step.usage),
        columns,
    ));
    lines
}

fn padded_label(word: &str) -> String {
    format!("{word:<12}")
}

/// Returns the failed calls that await a decision at a step, with their partial replies.
fn failure_lines(number: u32, context: &Context<'_>, columns: u16) -> Vec<Line> {
    let state = context.displayed_state();
    let here = |prompt: &PromptRecord| {
        prompt.step == number && state.open_episode().is_some_and(|open| open.number == prompt.episode)
    };
    let mut lines = Vec::new();
    for (effect, failure) in state.failed_calls() {
        if !matches!(effect, Effect::Ask { prompt, .. } if here(prompt)) {
            continue;
        }
        let question = effect.question().map_or_else(String::new, |q| format!(" ({})", q.name()));
        let words = format!("{}{question}: {}", failure.source, failure.message);
        lines.extend(paragraph((Role::Muted, &padded_label("failed")), Role::Bad, &words, columns));
        if !failure.partial_text.is_empty() {
            lines.extend(paragraph(
                (Role::Muted, &padded_label("partial")),
                Role::Text,
                &failure.partial_text,
                columns,
            ));
        }
    }
    lines
}

/// Describes tokens and who counted them, time and price.
fn cost_text(usage: &Usage) -> String {
    let by = match usage {
        Usage { recorded: true, .. } => ", from a recording",
        Usage { cached: true, .. } => ", from the cache",
        Usage { estimated: true, .. } => ", estimated",
        Usage { counted_by_proxy: true, .. } => ", counted by a proxy",
        _ => "",
    };
    let cost =
        if usage.cost_nano > 0 { format!(", cost {}", format_price(usage.cost_nano)) } else { String::new() };
    let seconds = usage.millis as f64 / 1000.0;
    let wasted = match usage.earlier.tokens() {
        0 => String::new(),
        tokens => format!(", {tokens} of them for unusable replies"),
    };
    format!("{} + {} tokens{by}{wasted}, {seconds:.1} s{cost}", usage.prompt_tokens, usage.reply_tokens)
}

/// Maximum number of a step's events to search.
const MAX_EVENTS: u64 = 1000;

/// Returns the actor's replies in a step, in order.
fn actor_replies(step: &Step, context: &Context<'_>) -> Vec<String> {
    replies_with_reasons(step, context).into_iter().map(|(reply, _)| reply).collect()
}

/// Returns the unusable replies, each with the reason.
fn unusable_replies(step: &Step, context: &Context<'_>) -> Vec<(String, String)> {
    if step.unusable_replies == 0 {
        return Vec::new();
    }
    replies_with_reasons(step, context).into_iter().filter_map(|(reply, why)| Some((reply, why?))).collect()
}

/// Returns the actor's journaled replies, each with the reason for a retry, if there was one.
fn replies_with_reasons(step: &Step, context: &Context<'_>) -> Vec<(String, Option<String>)> {
    let timeline = &context.frame.timeline;
    let mut actors = Vec::new();
    let mut replies: Vec<(String, Option<String>)> = Vec::new();
    let before = Seq(step.first_seq.0.saturating_sub(1));
    let last = Seq(step.last_seq.0.min(step.first_seq.0 + MAX_EVENTS));
    for envelope in timeline.events_between(before, last).unwrap_or_default() {
        match &envelope.event {
            Event::PromptSent { prompt } if prompt.question.is_none() => actors.push(prompt.call),
            Event::ReplyReceived { call, text, .. } if actors.contains(call) => {
                replies.push((text.clone(), None));
            }
            Event::AskedAgain { unusable_reason: Some(why), .. } => {
                if let Some(last) = replies.last_mut() {
                    last.1 = Some(why.clone());
                }
            }
            Event::CallFailed { call, failure } if failure.kind == Some(FailureKind::Unusable) => {
                if let Some(last) = replies.last_mut().filter(|_| actors.contains(call)) {
                    last.1 = Some(failure.message.clone());
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
        if step_with_open_texts(self.number, context).is_some() { Mode::StepDetails } else { Mode::Overlay }
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        match action {
            Action::Open => Response::close(),
            Action::AcceptAsLesson => self.accept_next_text(context),
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
        page.draw(context, screen, canvas, |columns| {
            self.cache.get_or_make(context, columns, |columns| self.lines(context, columns))
        });
    }
}
