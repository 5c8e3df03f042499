//! The last row: a line of news while there is one, else what can be done now with its keys.

use crate::domain::{ModelRole, NoteKind};
use crate::engine::{RunStatus, State};
use crate::text::{one_line, width, wrap_at_most};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{FirstRunHint, Focus, Model, Severity};
use crate::ui::overlay::has_remaining_task;
use crate::ui::theme::Role;
use ratatui::layout::Rect;

/// Draws the last row.
pub fn draw(model: &Model, look: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    if area.is_empty() {
        return;
    }
    let room = area.width.saturating_sub(2);
    let (x, y) = (area.x + 1, area.y);
    let refused = model.notice.as_ref().is_some_and(|notice| notice.severity == Severity::Warning);
    if let Some(halt) = look.halt_reason().filter(|_| !refused) {
        halted(&halt.screen_message(), !model.overlays.is_empty(), look, area, canvas);
        return;
    }
    if look.has_driver_died() {
        let key = look.keymap.key_label(Action::Quit).unwrap_or_default();
        let words = format!(
            "this session's driver broke (a panic); what was written is whole: leave with {key}, then take it up again \
             with `retrospect resume`"
        );
        draw_message(&words, Role::Danger, area, canvas);
        return;
    }
    if let Some(notice) = &model.notice {
        let role = match notice.severity {
            Severity::Info => Role::Text,
            Severity::Warning => Role::Warning,
            Severity::Error => Role::Bad,
        };
        draw_message(&notice.text, role, area, canvas);
        return;
    }
    // What lies over the panes names its own keys.
    if !model.overlays.is_empty() {
        return;
    }
    if let Some((key, words)) = beginner_hint(model, look) {
        let used = canvas.put(x, y, room, "press ", canvas.style(Role::Text));
        let used = used + canvas.put(x + used, y, room - used.min(room), &key, canvas.style(Role::Key));
        canvas.put(x + used, y, room - used.min(room), words, canvas.style(Role::Text));
        return;
    }
    draw_hints(&footer_hints(model, look), look, area, canvas);
}

/// Why nothing can be written, as a whole, above the keys that count then. Below a box there is room for one row.
fn halted(text: &str, boxed: bool, look: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    const MAX_MESSAGE_ROWS: usize = 7;
    let room = area.width.saturating_sub(2);
    if boxed {
        canvas.put(area.x + 1, area.y, room, text, canvas.style(Role::Danger));
        return;
    }
    let free = usize::from(area.y.saturating_sub(canvas.buffer.area.y + 2));
    let (lines, _) = wrap_at_most(&one_line(text), usize::from(room).max(1), MAX_MESSAGE_ROWS.min(free));
    let top = area.y - lines.len() as u16;
    canvas.clear(Rect { y: top, height: lines.len() as u16 + 1, ..area });
    for (y, line) in (top..).zip(&lines) {
        canvas.put(area.x + 1, y, room, line, canvas.style(Role::Danger));
    }
    let keys = [
        single_key(Action::AskAgain, "retry the write"),
        single_key(Action::Quit, "quit"),
        single_key(Action::Palette, "all"),
        single_key(Action::Help, "help"),
    ];
    draw_hints(&keys, look, area, canvas);
}

/// A message as a whole: where one row is too short for it, it also takes rows above for as long as it stands. Only what
/// is longer than three rows is cut.
fn draw_message(text: &str, role: Role, area: Rect, canvas: &mut Canvas<'_>) {
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
fn draw_hints(pairs: &[FooterHint], look: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    const GAP_COLUMNS: usize = 2;
    let pairs: Vec<(String, &str)> = pairs.iter().filter_map(|p| Some((p.label(look)?, p.words))).collect();
    let columns = |pair: &(String, &str)| width(&pair.0) + 1 + width(pair.1) + GAP_COLUMNS;
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
        x += canvas.put(x, area.y, area.right().saturating_sub(x), words, canvas.style(Role::Muted))
            + GAP_COLUMNS as u16;
    }
}

/// One or two keys, and what they do.
struct FooterHint {
    first: Action,
    second: Option<Action>,
    words: &'static str,
}

impl FooterHint {
    fn label(&self, look: &Context<'_>) -> Option<String> {
        let first = look.keymap.key_label(self.first)?;
        let second = self.second.and_then(|a| look.keymap.key_label(a)).unwrap_or_default();
        Some(format!("{first}{second}"))
    }
}

fn single_key(first: Action, words: &'static str) -> FooterHint {
    FooterHint { first, second: None, words }
}

fn key_pair(first: Action, second: Action, words: &'static str) -> FooterHint {
    FooterHint { first, second: Some(second), words }
}

fn footer_hints(model: &Model, look: &Context<'_>) -> Vec<FooterHint> {
    let head = &look.frame.head;
    let time = key_pair(Action::Back, Action::Forward, "back/forward");
    let mut pairs = Vec::new();
    let card = |pairs: &mut Vec<FooterHint>| {
        if look.frame.head.episode.as_ref().is_some_and(|e| e.outcome.is_some()) {
            pairs.push(single_key(Action::EndCard, "result card"));
        }
    };
    if look.frame.is_in_past() && model.focus != Focus::Lanes {
        pairs.push(single_key(Action::Live, "present"));
        if look.is_read_only() {
            card(&mut pairs);
        } else {
            pairs.push(single_key(Action::Open, "go on here"));
        }
        pairs.extend([
            time,
            key_pair(Action::PreviousMark, Action::NextMark, "marks"),
            single_key(Action::Prompt, "prompt"),
        ]);
    } else if look.is_read_only() {
        card(&mut pairs);
        pairs.extend([
            time,
            key_pair(Action::PreviousMark, Action::NextMark, "marks"),
            single_key(Action::Open, "read"),
            single_key(Action::Prompt, "prompt"),
            single_key(Action::NextPane, "panes"),
        ]);
    } else if look.frame.head.open_episode().is_none()
        && look.frame.head.episode.is_some()
        && model.focus != Focus::Lanes
    {
        pairs.extend([single_key(Action::AskAgain, "again"), single_key(Action::Open, "result card")]);
        if has_remaining_task(&look.frame.head) {
            pairs.push(single_key(Action::Step, "next task"));
        }
        pairs.extend([single_key(Action::AddLesson, "lesson"), single_key(Action::Prompt, "prompt"), time]);
    } else if model.focus == Focus::Lanes {
        pairs.extend([
            single_key(Action::RejectOrToggle, "on/off"),
            single_key(Action::EditLesson, "edit"),
            single_key(Action::AddLesson, "add"),
            single_key(Action::PinLesson, "pin"),
            single_key(Action::ChangeLessonScope, "scope"),
            key_pair(Action::MoveLessonUp, Action::MoveLessonDown, "move"),
            single_key(Action::DeleteLesson, "delete"),
            key_pair(Action::Undo, Action::Redo, "undo/redo"),
            single_key(Action::Step, "step"),
        ]);
    } else if head.failed_call.is_some() {
        let other = if head.has_failed_call(ModelRole::Mentor) && !head.has_failed_call(ModelRole::Actor) {
            single_key(Action::GiveUp, "go on without")
        } else {
            single_key(Action::Override, "act by hand")
        };
        pairs.extend([
            single_key(Action::AskAgain, "try again"),
            other,
            single_key(Action::ChangeModel, "model"),
            single_key(Action::Prompt, "prompt"),
            time,
            single_key(Action::NextPane, "panes"),
        ]);
    } else {
        let running = look.frame.head.run_status == RunStatus::Running;
        pairs.extend([
            single_key(Action::Step, "step"),
            single_key(Action::PauseRun, if running { "pause" } else { "run" }),
            single_key(Action::AddLesson, "lesson"),
            single_key(Action::Prompt, "prompt"),
            time,
            single_key(Action::NextPane, "panes"),
            single_key(Action::Zoom, "zoom"),
        ]);
    }
    pairs.extend([single_key(Action::Palette, "all"), single_key(Action::Help, "help")]);
    pairs
}

/// What a newcomer is told. It keeps silent in the past and after the end, and a mistake is taught while it is fresh.
fn beginner_hint(model: &Model, look: &Context<'_>) -> Option<(String, &'static str)> {
    let head = &look.frame.head;
    // What failed comes first, and has its own keys.
    if look.frame.is_in_past()
        || look.is_read_only()
        || head.open_episode().is_none()
        || head.failed_call.is_some()
    {
        return None;
    }
    match model.hint {
        FirstRunHint::Step if look.frame.head.step_awaiting_decision().is_some() => {
            Some((look.keymap.key_label(Action::Step)?, " to do what the agent proposes"))
        }
        FirstRunHint::Teach if has_recent_mistake(&look.frame.head) => {
            Some((look.keymap.key_label(Action::AddLesson)?, " to teach the agent what it did wrong"))
        }
        _ => None,
    }
}

/// One of the last steps went wrong.
pub fn has_recent_mistake(state: &State) -> bool {
    const RECENT_STEPS: usize = 3;
    let steps = state.episode.iter().flat_map(|e| e.steps.iter().rev().take(RECENT_STEPS));
    steps.into_iter().any(|s| s.notes.iter().any(|n| n.kind == NoteKind::Mistake))
}
