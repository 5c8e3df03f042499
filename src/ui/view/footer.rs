//! The last row: a line of news while there is one, else what can be done now with its keys.

use crate::domain::{ModelRole, NoteKind};
use crate::engine::{RunStatus, State};
use crate::text::{one_line, width, wrap_at_most};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{Focus, Hint, Model, Tone};
use crate::ui::overlay::task_left;
use crate::ui::theme::Role;
use ratatui::layout::Rect;

/// Draws the last row.
pub fn draw(model: &Model, look: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    if area.is_empty() {
        return;
    }
    let room = area.width.saturating_sub(2);
    let (x, y) = (area.x + 1, area.y);
    let refused = model.notice.as_ref().is_some_and(|notice| notice.tone == Tone::Refused);
    if let Some(halt) = look.halted().filter(|_| !refused) {
        halted(&halt.on_screen(), !model.overlays.is_empty(), look, area, canvas);
        return;
    }
    if look.broken() {
        let key = look.keymap.label(Action::Quit).unwrap_or_default();
        let words = format!(
            "this session's driver broke (a panic); what was written is whole: leave with {key}, then take it up again \
             with `retrospect resume`"
        );
        told(&words, Role::Danger, area, canvas);
        return;
    }
    if let Some(notice) = &model.notice {
        let role = match notice.tone {
            Tone::Told => Role::Text,
            Tone::Refused => Role::Warn,
            Tone::Alarm => Role::Bad,
        };
        told(&notice.text, role, area, canvas);
        return;
    }
    // What lies over the panes names its own keys.
    if !model.overlays.is_empty() {
        return;
    }
    if let Some((key, words)) = hint(model, look) {
        let used = canvas.put(x, y, room, "press ", canvas.style(Role::Text));
        let used = used + canvas.put(x + used, y, room - used.min(room), &key, canvas.style(Role::Key));
        canvas.put(x + used, y, room - used.min(room), words, canvas.style(Role::Text));
        return;
    }
    draw_pairs(&pairs(model, look), look, area, canvas);
}

/// Why nothing can be written, as a whole, above the keys that count then. Below a box there is room for one row.
fn halted(text: &str, boxed: bool, look: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    const MOST: usize = 7;
    let room = area.width.saturating_sub(2);
    if boxed {
        canvas.put(area.x + 1, area.y, room, text, canvas.style(Role::Danger));
        return;
    }
    let free = usize::from(area.y.saturating_sub(canvas.buffer.area.y + 2));
    let (lines, _) = wrap_at_most(&one_line(text), usize::from(room).max(1), MOST.min(free));
    let top = area.y - lines.len() as u16;
    canvas.clear(Rect { y: top, height: lines.len() as u16 + 1, ..area });
    for (y, line) in (top..).zip(&lines) {
        canvas.put(area.x + 1, y, room, line, canvas.style(Role::Danger));
    }
    let keys = [
        one(Action::AskAgain, "retry the write"),
        one(Action::Quit, "quit"),
        one(Action::Palette, "all"),
        one(Action::Help, "help"),
    ];
    draw_pairs(&keys, look, area, canvas);
}

/// A message as a whole: where one row is too short for it, it also takes rows above for as long as it stands. Only what
/// is longer than three rows is cut.
fn told(text: &str, role: Role, area: Rect, canvas: &mut Canvas<'_>) {
    const MOST: usize = 3;
    let room = area.width.saturating_sub(2);
    let text = one_line(text);
    let (lines, cut) = wrap_at_most(&text, usize::from(room).max(1), MOST);
    let above = (lines.len() as u16).saturating_sub(1);
    if cut || above == 0 || area.y < canvas.buffer.area.y + above + 2 {
        canvas.put(area.x + 1, area.y, room, &text, canvas.style(role));
        return;
    }
    let top = area.y - above;
    canvas.clear(Rect { y: top, height: above + 1, ..area });
    for (y, line) in (top..).zip(&lines) {
        canvas.put(area.x + 1, y, room, line, canvas.style(role));
    }
}

/// What keys do, as far as there is room; the last two (all, help) always.
fn draw_pairs(pairs: &[Pair], look: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    const GAP: usize = 2;
    let pairs: Vec<(String, &str)> = pairs.iter().filter_map(|p| Some((p.label(look)?, p.words))).collect();
    let columns = |pair: &(String, &str)| width(&pair.0) + 1 + width(pair.1) + GAP;
    let (body, last) = pairs.split_at(pairs.len() - 2.min(pairs.len()));
    let mut room = usize::from(area.width.saturating_sub(2));
    room = room.saturating_sub(last.iter().map(columns).sum());
    let fitting = body.iter().take_while(|pair| {
        let wide = columns(pair);
        let fits = wide <= room;
        room = room.saturating_sub(wide);
        fits
    });
    let shown: Vec<&(String, &str)> = fitting.chain(last).collect();
    let mut x = area.x + 1;
    for (key, words) in shown {
        x += canvas.put(x, area.y, area.right().saturating_sub(x), key, canvas.style(Role::Key)) + 1;
        x += canvas.put(x, area.y, area.right().saturating_sub(x), words, canvas.style(Role::Dim))
            + GAP as u16;
    }
}

/// One or two keys, and what they do.
struct Pair {
    first: Action,
    second: Option<Action>,
    words: &'static str,
}

impl Pair {
    fn label(&self, look: &Context<'_>) -> Option<String> {
        let first = look.keymap.label(self.first)?;
        let second = self.second.and_then(|a| look.keymap.label(a)).unwrap_or_default();
        Some(format!("{first}{second}"))
    }
}

fn one(first: Action, words: &'static str) -> Pair {
    Pair { first, second: None, words }
}

fn two(first: Action, second: Action, words: &'static str) -> Pair {
    Pair { first, second: Some(second), words }
}

fn pairs(model: &Model, look: &Context<'_>) -> Vec<Pair> {
    let head = &look.moment.head;
    let time = two(Action::Back, Action::Forward, "back/forward");
    let mut pairs = Vec::new();
    let card = |pairs: &mut Vec<Pair>| {
        if look.moment.head.episode.as_ref().is_some_and(|e| e.outcome.is_some()) {
            pairs.push(one(Action::EndCard, "result card"));
        }
    };
    if look.moment.past() && model.focus != Focus::Lanes {
        pairs.push(one(Action::Live, "present"));
        if look.reading() {
            card(&mut pairs);
        } else {
            pairs.push(one(Action::Open, "go on here"));
        }
        pairs.extend([
            time,
            two(Action::PreviousMark, Action::NextMark, "marks"),
            one(Action::Prompt, "prompt"),
        ]);
    } else if look.reading() {
        card(&mut pairs);
        pairs.extend([
            time,
            two(Action::PreviousMark, Action::NextMark, "marks"),
            one(Action::Open, "read"),
            one(Action::Prompt, "prompt"),
            one(Action::NextPane, "panes"),
        ]);
    } else if look.moment.head.open_episode().is_none()
        && look.moment.head.episode.is_some()
        && model.focus != Focus::Lanes
    {
        pairs.extend([one(Action::AskAgain, "again"), one(Action::Open, "result card")]);
        if task_left(&look.moment.head) {
            pairs.push(one(Action::Step, "next task"));
        }
        pairs.extend([one(Action::AddLesson, "lesson"), one(Action::Prompt, "prompt"), time]);
    } else if model.focus == Focus::Lanes {
        pairs.extend([
            one(Action::RejectOrToggle, "on/off"),
            one(Action::EditLesson, "edit"),
            one(Action::AddLesson, "add"),
            one(Action::PinLesson, "pin"),
            one(Action::ScopeLesson, "scope"),
            two(Action::MoveUp, Action::MoveDown, "move"),
            one(Action::DeleteLesson, "delete"),
            two(Action::Undo, Action::Redo, "undo/redo"),
            one(Action::Step, "step"),
        ]);
    } else if head.failed_call.is_some() {
        let other = if head.has_failed_call(ModelRole::Mentor) && !head.has_failed_call(ModelRole::Actor) {
            one(Action::GiveUp, "go on without")
        } else {
            one(Action::Override, "act by hand")
        };
        pairs.extend([
            one(Action::AskAgain, "try again"),
            other,
            one(Action::Model, "model"),
            one(Action::Prompt, "prompt"),
            time,
            one(Action::NextPane, "panes"),
        ]);
    } else {
        let running = look.moment.head.run_status == RunStatus::Running;
        pairs.extend([
            one(Action::Step, "step"),
            one(Action::PauseRun, if running { "pause" } else { "run" }),
            one(Action::AddLesson, "lesson"),
            one(Action::Prompt, "prompt"),
            time,
            one(Action::NextPane, "panes"),
            one(Action::Zoom, "zoom"),
        ]);
    }
    pairs.extend([one(Action::Palette, "all"), one(Action::Help, "help")]);
    pairs
}

/// What a newcomer is told. It keeps silent in the past and after the end, and a mistake is taught while it is fresh.
fn hint(model: &Model, look: &Context<'_>) -> Option<(String, &'static str)> {
    let head = &look.moment.head;
    // What failed comes first, and has its own keys.
    if look.moment.past() || look.reading() || head.open_episode().is_none() || head.failed_call.is_some() {
        return None;
    }
    match model.hint {
        Hint::Step if look.moment.head.step_awaiting_decision().is_some() => {
            Some((look.keymap.label(Action::Step)?, " to do what the agent proposes"))
        }
        Hint::Teach if fresh_mistake(&look.moment.head) => {
            Some((look.keymap.label(Action::AddLesson)?, " to teach the agent what it did wrong"))
        }
        _ => None,
    }
}

/// One of the last steps went wrong.
pub fn fresh_mistake(state: &State) -> bool {
    const FRESH: usize = 3;
    let steps = state.episode.iter().flat_map(|e| e.steps.iter().rev().take(FRESH));
    steps.into_iter().any(|s| s.notes.iter().any(|n| n.kind == NoteKind::Mistake))
}
