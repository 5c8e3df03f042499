//! What the model sees, and where each piece of it comes from.

use super::preview::{Preview, preview};
use super::window::{Line, Place, Scroll, Window, paragraph};
use super::{Overlay, Reaction, scrolled};
use crate::domain::{Label, Origin, Prompt, PromptRecord, Seq, Speaker};
use crate::engine::State;
use crate::prompt::{Templates, render};
use crate::text::truncate;
use crate::ui::canvas::Canvas;
use crate::ui::keymap::{Action, Mode};
use crate::ui::look::Look;
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use similar::{ChangeTag, DiffTag, TextDiff};
use std::cell::RefCell;
use std::sync::Arc;

/// The prompt of the chosen moment: a draft that waits to be sent, else the last one sent to the actor. Or, where that is
/// asked for or none was sent yet, the one that would be sent now.
#[derive(Default)]
pub struct PromptView {
    scroll: Scroll,
    difference: bool,
    /// What would be sent is shown.
    ahead: bool,
    templates: Option<Arc<Templates>>,
    /// What would be sent in the present of this event, or why nothing.
    foretold: RefCell<Option<(Seq, Foretold)>>,
    /// The rows as they were last made, with what they were made of.
    made: RefCell<Option<Made>>,
}

/// What would be sent, or why nothing.
type Foretold = Arc<Result<Preview, String>>;

/// Rows, with what they were made of: the hashes of the bodies, the columns, whether they are a difference.
struct Made {
    key: (String, u16, bool),
    lines: Arc<[Line]>,
}

/// Cells that name a segment at the left.
const MARGIN: u16 = 14;

/// The colour of a segment.
fn role(label: Label) -> Role {
    match label {
        Label::Instruction | Label::Cue => Role::OriginInstruction,
        Label::Guidance => Role::OriginGuidance,
        Label::Abstract => Role::OriginAbstract,
        Label::Error => Role::OriginError,
        Label::Progress => Role::OriginProgress,
        Label::Memory | Label::Attempt => Role::OriginMemory,
        Label::Example => Role::OriginExample,
        Label::Task => Role::OriginTask,
        Label::Thought => Role::OriginThought,
        Label::Action => Role::OriginAction,
        Label::Observation => Role::OriginObservation,
        Label::HumanEdit | Label::Rejection => Role::OriginPerson,
    }
}

/// How far a prompt has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    /// It was sent.
    Yes,
    /// It is written down and waits to be sent.
    Drafted,
    /// It is only what would be sent.
    Ahead,
}

/// The prompt to show, the one to compare with, and how far it has come.
type Shown<'a> = (&'a PromptRecord, Option<&'a PromptRecord>, Sent);

/// The prompts that are there.
fn prompts(state: &State) -> Option<Shown<'_>> {
    let (last, before) = (state.prompts.0.as_deref(), state.prompts.1.as_deref());
    match &state.draft {
        Some(draft) => Some((draft, last, Sent::Drafted)),
        None => Some((last?, before, Sent::Yes)),
    }
}

/// Where a segment comes from, in a few letters.
fn source(state: &State, origin: &Origin) -> String {
    match origin {
        Origin::Lesson { id, version } => {
            let number = state.pool.get(id).map_or(0, |l| l.number);
            format!("{number} v{version}")
        }
        Origin::Step(n) => n.to_string(),
        Origin::Steps { from, to } if from == to => from.to_string(),
        Origin::Steps { from, to } => format!("{from}-{to}"),
        Origin::Attempt { episode, from, to } => format!("{episode}.{from}-{to}"),
        Origin::Text(_) | Origin::Task => String::new(),
    }
}

fn whole(state: &State, record: &PromptRecord, columns: u16) -> Vec<Line> {
    let prompt = render(state, record);
    let mut lines = summary(state, record, columns);
    let mut speaker = None;
    for segment in &prompt.segments {
        if speaker != Some(segment.speaker) {
            speaker = Some(segment.speaker);
            let who = match segment.speaker {
                Speaker::System => "system",
                Speaker::User => "user",
                Speaker::Assistant => "assistant",
            };
            lines.push(vec![(
                Role::Frame,
                format!("{who} {}", "-".repeat(usize::from(columns).saturating_sub(10))),
            )]);
        }
        if segment.text.trim().is_empty() {
            continue;
        }
        let role = role(segment.label);
        let word = if segment.label == Label::Observation { "seen" } else { segment.label.name() };
        let name = format!("{word} {}", source(state, &segment.origin));
        let lead =
            format!("{:<1$}", truncate(name.trim(), usize::from(MARGIN) - 1, "…"), usize::from(MARGIN));
        lines.extend(paragraph((Role::Dim, &lead), role, segment.text.trim_matches('\n'), columns));
    }
    lines
}

/// Tokens by label, and what was left out.
fn summary(state: &State, record: &PromptRecord, columns: u16) -> Vec<Line> {
    let mut sums: Vec<(Label, u32)> = Vec::new();
    for segment in &record.segments {
        match sums.iter_mut().find(|s| s.0 == segment.label) {
            Some(sum) => sum.1 += segment.tokens,
            None => sums.push((segment.label, segment.tokens)),
        }
    }
    let parts: Vec<String> =
        sums.iter().map(|(label, tokens)| format!("{} {tokens}", label.name())).collect();
    let words = format!("about {} tokens: {}", record.tokens, parts.join(", "));
    let mut lines = paragraph((Role::Dim, ""), Role::Dim, &words, columns);
    for dropped in &record.dropped {
        let what = match &dropped.origin {
            Origin::Steps { .. } | Origin::Step(_) | Origin::Attempt { .. } => {
                format!("turns {}", source(state, &dropped.origin))
            }
            Origin::Lesson { .. } => format!("lesson {}", source(state, &dropped.origin)),
            Origin::Text(_) => "a text of the template".to_owned(),
            Origin::Task => "the task".to_owned(),
        };
        let words = format!("left out: {what}, about {} tokens: {}", dropped.tokens, dropped.reason);
        lines.extend(paragraph((Role::Warn, ""), Role::Warn, &words, columns));
    }
    lines
}

fn difference(state: &State, now: &PromptRecord, before: Option<&PromptRecord>, columns: u16) -> Vec<Line> {
    let Some(before) = before else {
        return paragraph(
            (Role::Dim, ""),
            Role::Dim,
            "This is the first prompt; there is none to compare with.",
            columns,
        );
    };
    let mut lines = segments(state, now, before, columns);
    // A prompt of an earlier episode cannot be rebuilt from this one.
    if now.episode != before.episode {
        let words =
            format!("The prompt before belongs to episode {}; its words are not compared.", before.episode);
        lines.extend(paragraph((Role::Dim, ""), Role::Dim, &words, columns));
        return lines;
    }
    let (old, new) = (render(state, before), render(state, now));
    let (gone, there) = (places(state, &old), places(state, &new));
    let (old, new) = (body(&old), body(&new));
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
                    ChangeTag::Equal => ("  ", Role::Dim, Role::Dim),
                };
                lines.extend(paragraph((mark, lead), role, change.value().trim_end_matches('\n'), columns));
            }
        }
    }
    if lines.is_empty() {
        lines = paragraph((Role::Dim, ""), Role::Dim, "Not a word differs from the call before.", columns);
    }
    lines
}

/// Lessons and texts that came and went.
fn segments(state: &State, now: &PromptRecord, before: &PromptRecord, columns: u16) -> Vec<Line> {
    let steps = |o: &Origin| matches!(o, Origin::Step(_) | Origin::Steps { .. } | Origin::Task);
    let mut lines = Vec::new();
    for (lead, role, these, those) in [("+ ", Role::Added, now, before), ("- ", Role::Removed, before, now)] {
        for segment in these.segments.iter().filter(|s| !steps(&s.origin)) {
            if those.segments.iter().any(|s| s.origin == segment.origin && s.label == segment.label) {
                continue;
            }
            let words = format!(
                "{} {} (about {} tokens)",
                segment.label.name(),
                source(state, &segment.origin),
                segment.tokens
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
fn places(state: &State, prompt: &Prompt) -> Vec<(usize, String)> {
    let mut line = 0;
    let mut places = Vec::new();
    for segment in &prompt.segments {
        let from = match segment.origin {
            Origin::Step(_) | Origin::Steps { .. } => format!(" of turn {}", source(state, &segment.origin)),
            Origin::Lesson { .. } => format!(" lesson {}", source(state, &segment.origin)),
            Origin::Attempt { episode, .. } => format!(" of episode {episode}"),
            Origin::Text(_) | Origin::Task => String::new(),
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

fn body(prompt: &Prompt) -> String {
    crate::text::clean(&prompt.body()).into_owned()
}

impl PromptView {
    /// A view that can say what would be sent, where the templates for that are known.
    pub fn new(templates: Option<Arc<Templates>>) -> Self {
        Self { templates, ..Self::default() }
    }

    /// The same, showing what would be sent.
    #[must_use]
    pub fn ahead(mut self) -> Self {
        self.ahead = true;
        self
    }

    /// What would be sent, where that is to be shown; it is put together once for each event.
    fn foretold(&self, look: &Look<'_>) -> Option<Foretold> {
        let first = prompts(look.shown()).is_none() && !look.moment.past() && self.templates.is_some();
        if !self.ahead && !first {
            return None;
        }
        let head = if look.moment.past() { Seq(0) } else { look.moment.head.head };
        let mut kept = self.foretold.borrow_mut();
        if let Some((_, made)) = kept.as_ref().filter(|(of, _)| *of == head) {
            return Some(made.clone());
        }
        let made = Arc::new(preview(look, self.templates.as_ref()));
        *kept = Some((head, made.clone()));
        // Before the first prompt it is only shown where there is one.
        Some(made).filter(|made| self.ahead || made.is_ok())
    }

    /// Looks at what is to be shown; none, with a reason, where there is nothing.
    fn with<T>(&self, look: &Look<'_>, then: impl FnOnce(&State, Result<Shown<'_>, &str>) -> T) -> T {
        let foretold = self.foretold(look);
        match foretold.as_deref() {
            Some(Ok(ahead)) => {
                let last = ahead.state.prompts.0.as_deref();
                then(&ahead.state, Ok((&ahead.record, last, Sent::Ahead)))
            }
            Some(Err(why)) => then(look.shown(), Err(why)),
            None => then(look.shown(), prompts(look.shown()).ok_or("No prompt has been sent yet.")),
        }
    }

    fn lines(&self, look: &Look<'_>, columns: u16) -> Arc<[Line]> {
        self.with(look, |state, shown| {
            let (now, before, _) = match shown {
                Ok(shown) => shown,
                Err(why) => return paragraph((Role::Dim, ""), Role::Dim, why, columns).into(),
            };
            // The hash of the body is all that the rows depend on, but for the numbers of lessons, which never change.
            let hashes = format!("{}/{}", now.sha256, before.map_or("", |b| b.sha256.as_str()));
            let key = (hashes, columns, self.difference);
            let mut made = self.made.borrow_mut();
            if let Some(made) = made.as_ref().filter(|m| m.key == key && !now.sha256.is_empty()) {
                return made.lines.clone();
            }
            let lines: Arc<[Line]> = if self.difference {
                difference(state, now, before, columns).into()
            } else {
                whole(state, now, columns).into()
            };
            *made = Some(Made { key, lines: lines.clone() });
            lines
        })
    }

    fn title(&self, look: &Look<'_>) -> String {
        self.with(look, |_, shown| {
            let Ok((now, _, sent)) = shown else { return "Prompt".to_owned() };
            let words = match (sent, self.difference) {
                (Sent::Yes, false) => ", as it was sent",
                (Sent::Drafted, false) => ": drafted, not sent",
                (Sent::Ahead, false) => ", not sent yet: a preview",
                (Sent::Yes | Sent::Drafted, true) => ": what changed since the call before",
                (Sent::Ahead, true) => ", not sent yet: what would change since the last call",
            };
            format!("Prompt of turn {}{words}", now.step)
        })
    }
}

impl Overlay for PromptView {
    fn name(&self) -> &'static str {
        "prompt"
    }

    fn mode(&self) -> Mode {
        Mode::Prompt
    }

    fn act(&mut self, action: Action, look: &Look<'_>) -> Reaction {
        match action {
            Action::Difference | Action::NextField | Action::PreviousField => {
                self.difference = !self.difference;
                self.scroll.to(0);
                Reaction::default()
            }
            Action::Preview => {
                self.ahead = !self.ahead;
                self.scroll.to(0);
                Reaction::default()
            }
            Action::Copy => {
                let text =
                    self.with(look, |state, shown| shown.ok().map(|(now, ..)| render(state, now).body()));
                text.map_or_else(Reaction::default, |t| Reaction::want(Request::Copy(t)))
            }
            Action::Open => Reaction::close(),
            _ => scrolled(&self.scroll, action),
        }
    }

    fn mouse(&mut self, event: MouseEvent, _: &Look<'_>) -> Reaction {
        self.scroll.wheel(event);
        Reaction::default()
    }

    fn draw(&self, look: &Look<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = self.title(look);
        let window =
            Window { title: &title, place: Place::Middle, rows: u16::MAX, columns: 112, mode: Mode::Prompt };
        let inside = window.draw(look, screen, canvas);
        self.scroll.draw(&self.lines(look, inside.width), inside, canvas);
    }
}
