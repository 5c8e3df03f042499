//! One step as a whole: the texts that the panes shorten.

use super::row_cache::RowCache;
use super::window::{Line, Page, Scroll, paragraph};
use super::{LessonDraft, Overlay, Response, scroll_or_close};
use crate::domain::{FailureKind, NoteKind, PromptRecord, Seq, Step, Usage, format_price};
use crate::engine::{Effect, Event};
use crate::report::{DroppedText, dropped_texts, reply_source};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::update::advice_kind;
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use std::cell::Cell;

/// A step; 0 is the beginning of the episode.
pub struct StepDetails {
    number: u32,
    scroll: Scroll,
    cache: RowCache,
    /// The step whose texts that were not kept are offered; none: nothing is left to take.
    offered_step: Cell<Option<u32>>,
    /// The place of the text that is offered next.
    next_text: usize,
}

impl StepDetails {
    /// Of this step of the listed episode.
    pub fn new(number: u32, look: &Context<'_>) -> Self {
        let offers = Cell::new(step_with_open_texts(number, look));
        Self {
            number,
            scroll: Scroll::default(),
            cache: RowCache::default(),
            offered_step: offers,
            next_text: 0,
        }
    }

    /// Offers the next of the texts that were not kept, as the lesson it would have been.
    fn accept_next_text(&mut self, look: &Context<'_>) -> Response {
        let step = self.offered_step.get().and_then(|number| look.step(number));
        let all: Vec<_> = step.into_iter().flat_map(|step| dropped_texts_of(step, look)).collect();
        // One that is a lesson by now is offered no more.
        let mut places = (0..all.len()).map(|n| (self.next_text + n) % all.len());
        let Some(at) = places.find(|n| all[*n].lesson(&look.frame.head).is_none()) else {
            return Response::request(Request::ShowNotice("every text is a lesson already".to_owned()));
        };
        self.next_text = at + 1;
        let taken = all[at];
        let mut draft = LessonDraft::new(taken.kind(advice_kind(look)));
        draft.text.clone_from(&taken.text.text);
        draft.solution = taken.text.solution.clone().unwrap_or_default();
        Response::request(Request::AcceptAsLesson { draft, evidence: taken.evidence() })
    }

    fn lines(&self, look: &Context<'_>, columns: u16) -> Vec<Line> {
        let Some(episode) = look.episode() else { return Vec::new() };
        let Some(step) = look.step(self.number) else {
            let text = episode.first_observation.as_ref().map_or("", |r| r.raw.as_str());
            let mut lines = paragraph((Role::Muted, ""), Role::Observation, text, columns);
            lines.extend(failure_lines(self.number, look, columns));
            return lines;
        };
        let mut lines = step_lines(step, look, columns);
        if let Some(other) = self.offered_step.get().filter(|other| *other != self.number) {
            let count = look.step(other).map_or(0, |step| open_text_count(step, look));
            let key = look.keymap.key_label_in(Mode::StepDetails, Action::AcceptAsLesson).unwrap_or_default();
            let words = match count {
                1 => format!("1 text at step {other}; {key} takes it as a lesson"),
                _ => format!("{count} texts at step {other}; {key} takes them as lessons"),
            };
            lines.extend(paragraph((Role::Muted, &padded_label("not kept")), Role::Muted, &words, columns));
        }
        lines
    }
}

/// The step whose texts the details of a step offer: its own, else, for a step without an answer yet, those of the latest
/// step that has some left.
fn step_with_open_texts(number: u32, look: &Context<'_>) -> Option<u32> {
    /// Steps that are looked back at most.
    const MAX_STEPS_BACK: usize = 50;
    let own = look.step(number)?;
    if open_text_count(own, look) > 0 {
        return Some(number);
    }
    if own.answer.is_some() {
        return None;
    }
    let mut earlier = (1..number).rev().take(MAX_STEPS_BACK);
    earlier.find(|number| look.step(*number).is_some_and(|step| open_text_count(step, look) > 0))
}

/// How many texts of a step's reflections were not kept and are no lesson yet.
pub(crate) fn open_text_count(step: &Step, look: &Context<'_>) -> usize {
    dropped_texts_of(step, look).filter(|text| text.lesson(&look.frame.head).is_none()).count()
}

/// The texts of a step's reflections that were not kept, in order.
fn dropped_texts_of<'a>(
    step: &'a Step,
    look: &'a Context<'_>,
) -> impl Iterator<Item = DroppedText<'a>> + use<'a> {
    dropped_texts(step, look.state_for_step(step.number))
}

/// What stands below words that the agent did not write.
const EDITED_BY_PERSON: &str = "edited by a person";

fn step_lines(step: &Step, look: &Context<'_>, columns: u16) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut say = |name: &str, role: Role, text: &str| {
        lines.extend(paragraph((Role::Muted, &padded_label(name)), role, text, columns));
    };
    for (proposal, reason) in &step.rejections {
        say("rejected", Role::Muted, proposal);
        say("because", Role::Person, reason);
    }
    for came in &step.partial_replies {
        say(
            "broken off",
            Role::Person,
            &came.describe_cost().map_or("by a person".to_owned(), |c| format!("by a person; {c}")),
        );
        for (label, words) in [("reasoning", &came.reasoning), ("so far", &came.text)] {
            if !words.trim().is_empty() {
                say(label, Role::Muted, words.trim());
            }
        }
    }
    if step.prompt_edited {
        say("prompt", Role::Person, "changed by a person before it was sent");
    }
    for (reply, why) in unusable_replies(step, look) {
        say("reply", Role::Muted, &reply);
        say("unusable", Role::Warning, &why);
    }
    if !step.complaints.is_empty()
        && let Some(reply) = actor_replies(step, look).pop()
    {
        say("reply", Role::Muted, &reply);
    }
    if let Some(thought) = &step.thought {
        say("think", Role::Thought, thought);
        if step.thought_edited {
            say("", Role::Person, EDITED_BY_PERSON);
        }
    }
    if let Some(proposed) = &step.proposed {
        say("proposed", Role::Proposal, proposed);
    }
    for complaint in &step.complaints {
        say("ignored", Role::Warning, complaint);
    }
    if let Some(done) = &step.executed {
        say("done", if step.is_person_action() { Role::Person } else { Role::Action }, &done.action);
        if let Some(sent) = &done.sent {
            say("sent as", Role::Action, sent);
        }
        if let Some(rule) = &done.rule {
            say("by rule", Role::Muted, rule);
        }
    }
    if let Some(answer) = &step.answer {
        say("world", Role::Observation, &answer.raw);
        if let Some(seen) = &answer.agent_view {
            say("shown as", Role::Observation, seen);
        }
        if answer.edited {
            say("", Role::Person, "edited by a person: the agent reads this; the world is as it said itself");
        }
        let valid = if answer.valid { "accepted" } else { "not accepted" };
        say("", Role::Muted, &format!("{valid}, reward {}, progress {:.2}", answer.reward, answer.progress));
    }
    for note in &step.notes {
        let role = match note.kind {
            NoteKind::Progress => Role::Good,
            NoteKind::Mistake => Role::Bad,
            NoteKind::Fact => Role::Muted,
        };
        say("noted", role, &format!("{}: {}", note.detector.replace('_', " "), note.evidence));
    }
    let mut texts = dropped_texts_of(step, look);
    for index in &step.reflections {
        let Some(reflection) = look.state_for_step(step.number).reflections.get(*index as usize) else {
            continue;
        };
        let name = reflection.question().name();
        for (place, item) in reflection.items.iter().enumerate() {
            let solution = item.text.solution.as_ref().map(|s| format!(" {} {s}", look.glyphs.solution));
            let words = format!("{}{}", item.text.text, solution.unwrap_or_default());
            say(if place == 0 { &name } else { "" }, Role::Reflection, &words);
        }
        for complaint in &reflection.complaints {
            say("ignored", Role::Warning, &format!("{name}: {complaint}"));
        }
        for text in &reflection.dropped {
            let solution = text.solution.as_ref().map(|s| format!(" {} {s}", look.glyphs.solution));
            say("not kept", Role::Muted, &format!("{}{}", text.text, solution.unwrap_or_default()));
            if let Some(number) = texts.next().and_then(|text| text.lesson(&look.frame.head)) {
                say("", Role::Person, &format!("taken as lesson {number}"));
            }
        }
    }
    for remark in &step.remarks {
        say("remark", Role::Person, remark);
    }
    if let Some(from) = &step.reply_source {
        say("from", Role::Person, &reply_source(from));
    }
    for told in &step.unsent_settings {
        say("unsent", Role::Warning, told);
    }
    for warning in &step.warnings {
        say("warning", Role::Warning, warning);
    }
    lines.extend(failure_lines(step.number, look, columns));
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

/// The failed calls that wait at a turn, with what had come of their answers.
fn failure_lines(number: u32, look: &Context<'_>, columns: u16) -> Vec<Line> {
    let state = look.displayed_state();
    let here = |prompt: &PromptRecord| {
        prompt.step == number && state.open_episode().is_some_and(|open| open.number == prompt.episode)
    };
    let mut lines = Vec::new();
    for (effect, failure) in state.failed_calls() {
        if !matches!(effect, Effect::Ask { prompt, .. } if here(prompt)) {
            continue;
        }
        let of = effect.question().map_or_else(String::new, |q| format!(" ({})", q.name()));
        let words = format!("{}{of}: {}", failure.source, failure.message);
        lines.extend(paragraph((Role::Muted, &padded_label("failed")), Role::Bad, &words, columns));
        if !failure.partial_text.is_empty() {
            lines.extend(paragraph(
                (Role::Muted, &padded_label("had come")),
                Role::Text,
                &failure.partial_text,
                columns,
            ));
        }
    }
    lines
}

/// Tokens, by whom they were counted, time and price.
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
    let vain = match usage.earlier.tokens() {
        0 => String::new(),
        tokens => format!(", {tokens} of them for an answer of no use"),
    };
    format!("{} + {} tokens{by}{vain}, {seconds:.1} s{cost}", usage.prompt_tokens, usage.reply_tokens)
}

/// Events of a step that are looked through at most.
const MAX_EVENTS: u64 = 1000;

/// The actor's replies in a step, in order.
fn actor_replies(step: &Step, look: &Context<'_>) -> Vec<String> {
    replies_with_reasons(step, look).into_iter().map(|(reply, _)| reply).collect()
}

/// The replies that could not be used, each with the reason.
fn unusable_replies(step: &Step, look: &Context<'_>) -> Vec<(String, String)> {
    if step.unusable_replies == 0 {
        return Vec::new();
    }
    replies_with_reasons(step, look).into_iter().filter_map(|(reply, why)| Some((reply, why?))).collect()
}

/// The actor's replies as the journal has them, with why each was asked for again.
fn replies_with_reasons(step: &Step, look: &Context<'_>) -> Vec<(String, Option<String>)> {
    let timeline = &look.frame.timeline;
    let mut actors = Vec::new();
    let mut replies: Vec<(String, Option<String>)> = Vec::new();
    for seq in step.first_seq.0..=step.last_seq.0.min(step.first_seq.0 + MAX_EVENTS) {
        let Some(envelope) = timeline.event(Seq(seq)) else { continue };
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

impl Overlay for StepDetails {
    fn name(&self) -> &'static str {
        "step"
    }

    fn mode(&self) -> Mode {
        if self.offered_step.get().is_some() { Mode::StepDetails } else { Mode::Overlay }
    }

    fn on_action(&mut self, action: Action, look: &Context<'_>) -> Response {
        match action {
            Action::Open => Response::close(),
            Action::AcceptAsLesson => self.accept_next_text(look),
            _ => scroll_or_close(&self.scroll, action),
        }
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.scroll.on_wheel(event);
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        self.offered_step.set(step_with_open_texts(self.number, look));
        let title =
            if self.number == 0 { "The beginning".to_owned() } else { format!("Step {}", self.number) };
        let page = Page { title: &title, columns: 96, mode: self.mode(), scroll: &self.scroll };
        page.draw(look, screen, canvas, |columns| {
            self.cache.get_or_make(look, columns, |columns| self.lines(look, columns))
        });
    }
}
