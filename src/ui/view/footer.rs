//! The last row: a line of news while there is one, else what can be done now with its keys.

use super::live::keys;
use crate::ui::canvas::Canvas;
use crate::ui::keymap::Action;
use crate::ui::look::Look;
use crate::ui::model::{Focus, Hint, Model, Tone};
use crate::ui::theme::Role;
use ratatui::layout::Rect;

/// Draws the last row.
pub fn draw(model: &Model, look: &Look<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    if area.is_empty() {
        return;
    }
    let room = area.width.saturating_sub(2);
    let (x, y) = (area.x + 1, area.y);
    if let Some(why) = look.halted() {
        canvas.put(x, y, room, why, canvas.style(Role::Bad));
        return;
    }
    if let Some(notice) = &model.notice {
        let role = match notice.tone {
            Tone::Told => Role::Text,
            Tone::Refused => Role::Warn,
            Tone::Alarm => Role::Bad,
        };
        canvas.put(x, y, room, &notice.text, canvas.style(role));
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

/// Pairs of key and words, as many as fit, the last two (all, help) always.
fn draw_pairs(pairs: &[(Action, &str)], look: &Look<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    let columns = |pair: &(Action, &str)| {
        keys(look, std::slice::from_ref(pair)).iter().map(|(_, t)| t.chars().count()).sum::<usize>()
    };
    let gap = 2;
    let kept = 2.min(pairs.len());
    let (body, last) = pairs.split_at(pairs.len() - kept);
    let mut room = usize::from(area.width.saturating_sub(2));
    room = room.saturating_sub(last.iter().map(|p| columns(p) + gap).sum());
    let mut shown: Vec<(Action, &str)> = Vec::new();
    for pair in body {
        let wide = columns(pair) + gap;
        if wide > room {
            break;
        }
        room -= wide;
        shown.push(*pair);
    }
    shown.extend_from_slice(last);
    let mut x = area.x + 1;
    for pair in shown {
        for (role, text) in keys(look, &[pair]) {
            x += canvas.put(x, area.y, area.right().saturating_sub(x), &text, canvas.style(role));
        }
        x += gap as u16;
    }
}

fn pairs(model: &Model, look: &Look<'_>) -> Vec<(Action, &'static str)> {
    let mut pairs = Vec::new();
    if look.moment.past() {
        pairs.extend([
            (Action::Back, "back"),
            (Action::Forward, "forward"),
            (Action::Live, "to the present"),
        ]);
        pairs.extend([(Action::NextMark, "next mark"), (Action::Prompt, "prompt")]);
    } else if model.focus == Focus::Lanes {
        pairs.extend([
            (Action::RejectOrToggle, "on/off"),
            (Action::EditLesson, "edit"),
            (Action::AddLesson, "add"),
            (Action::PinLesson, "pin"),
            (Action::DeleteLesson, "delete"),
            (Action::Undo, "undo"),
            (Action::Step, "step"),
        ]);
    } else {
        pairs.extend([
            (Action::Step, "step"),
            (
                Action::PauseRun,
                if look.moment.head.pace == crate::engine::Pace::Running { "pause" } else { "run" },
            ),
            (Action::AddLesson, "a lesson"),
            (Action::Prompt, "prompt"),
            (Action::Back, "back"),
            (Action::Forward, "forward"),
            (Action::NextPane, "panes"),
            (Action::Zoom, "zoom"),
        ]);
    }
    pairs.extend([(Action::Palette, "all"), (Action::Help, "help")]);
    pairs
}

fn hint(model: &Model, look: &Look<'_>) -> Option<(String, &'static str)> {
    match model.hint {
        Hint::Step if look.moment.head.awaiting().is_some() => {
            Some((look.keymap.label(Action::Step)?, " to do what the agent proposes"))
        }
        Hint::Teach => Some((look.keymap.label(Action::AddLesson)?, " to teach the agent what it did wrong")),
        _ => None,
    }
}
