//! The footer: the current notice, or else the available keys.

use crate::catalog::what_follows;
use crate::domain::{Autonomy, ModelRole};
use crate::engine::RunStatus;
use crate::text::{hide_private, one_line, truncate, width, with_program_name, wrap_or_mark};
use crate::ui::canvas::Canvas;
use crate::ui::facts::{has_no_proposal, has_recent_mistake, is_paced_by_model};
use crate::ui::frame_data::Context;
use crate::ui::glyphs::Glyphs;
use crate::ui::keymap::Action;
use crate::ui::model::{FirstRunHint, Model, Notice, Severity};
use crate::ui::selection::selected_lesson;
use crate::ui::stage::known_private_texts;
use crate::ui::theme::Role;
use crate::ui::types::{Focus, WorkKind};
use crate::ui::view::status::is_asking_rules;
use ratatui::layout::Rect;

/// Draws the footer.
pub fn draw(model: &Model, context: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    if area.is_empty() {
        return;
    }
    let room = area.width.saturating_sub(2);
    let (x, y) = (area.x + 1, area.y);
    if let Some(text) = halt_message(model, context) {
        draw_halt(&text, model.is_covered, context, area, canvas);
        return;
    }
    if context.has_driver_died() {
        let key = context.keymap.key_label(Action::Quit).unwrap_or_default();
        let text = format!(
            "the driver crashed (panic); everything recorded is on disk: quit with {key}, then run \
             `retrospect resume`"
        );
        draw_message(&with_program_name(&text), Role::Danger, area, canvas);
        return;
    }
    if let Some(notice) = &model.notice {
        let role = match notice.severity {
            Severity::Info => Role::Text,
            Severity::Warning => Role::Warning,
            Severity::Error => Role::Bad,
        };
        draw_message(&notice_text(notice, model, context), role, area, canvas);
        return;
    }
    if let Some(work) = work_message(context) {
        draw_message(&work, Role::Text, area, canvas);
        return;
    }
    // Overlays name their own keys.
    if model.is_covered {
        return;
    }
    if let Some((key, text)) = beginner_hint(model, context) {
        let used = canvas.put(x, y, room, "press ", canvas.style(Role::Text));
        let used = used + canvas.put(x + used, y, room - used.min(room), &key, canvas.style(Role::Key));
        canvas.put(x + used, y, room - used.min(room), text, canvas.style(Role::Text));
        return;
    }
    draw_hints(&footer_hints(model, context), context, area, canvas);
}

/// Returns the text of a notice. A path may be broken over two rows, where stage mode would no longer find it, so it is hidden here.
fn notice_text(notice: &Notice, model: &Model, context: &Context<'_>) -> String {
    let hidden = || {
        let known = known_private_texts(&model.private_texts, context.frame);
        hide_private(&name_saved_file(&notice.text, &known), &known, context.glyphs.cover)
    };
    if model.stage_mode { hidden() } else { notice.text.clone() }
}

/// Names a file in a private folder without the folder, so that a person finds what was written.
fn name_saved_file(text: &str, private: &[String]) -> String {
    let name = |word: &str| {
        let inside = |folder: &String| {
            let folder = folder.trim_end_matches('/');
            word.rsplit_once(&format!("{folder}/")).map(|(_, file)| file.to_owned())
        };
        let file =
            private.iter().filter(|folder| folder.contains('/')).filter_map(inside).max_by_key(String::len);
        file.map_or_else(|| word.to_owned(), |file| format!("{file} in the folder of the sessions"))
    };
    text.split(' ').map(name).collect::<Vec<_>>().join(" ")
}

/// Returns why nothing can be saved, unless a warning is shown first.
fn halt_message(model: &Model, context: &Context<'_>) -> Option<String> {
    let has_warning = model.notice.as_ref().is_some_and(|notice| notice.severity == Severity::Warning);
    let halt = context.halt_reason().filter(|_| !has_warning)?;
    Some(with_program_name(&halt.screen_message()).into_owned())
}

/// Returns how many rows above the footer's own a notice takes, or the reason why nothing can be saved.
pub(super) fn notice_rows(model: &Model, context: &Context<'_>, area: Rect) -> u16 {
    if area.is_empty() {
        return 0;
    }
    if let Some(text) = halt_message(model, context) {
        return if model.is_covered { 0 } else { halt_lines(&text, context.glyphs, area).len() as u16 };
    }
    let notice = model.notice.as_ref().filter(|_| !context.has_driver_died());
    let text = notice.map(|notice| one_line(&notice_text(notice, model, context)).into_owned());
    text.and_then(|text| message_lines(&text, context.glyphs, area)).map_or(0, |lines| lines.len() as u16 - 1)
}

/// Returns what is in progress for a person and can't be seen elsewhere, if it takes long enough to be shown.
fn work_message(context: &Context<'_>) -> Option<String> {
    let loading = "loading an earlier part of the session ...";
    if context.long_work(WorkKind::Past).is_some() {
        return Some(context.cancellable_work_text(loading, WorkKind::Past));
    }
    if context.long_work(WorkKind::FramePast).is_some() {
        return Some(context.work_text(loading, WorkKind::FramePast));
    }
    let export = context.long_work(WorkKind::Export)?;
    if export.is_cancelled {
        return Some("cancelling the report".to_owned());
    }
    Some(context.cancellable_work_text("writing the report:", WorkKind::Export))
}

/// Draws the full reason why nothing can be saved, above the keys that still work. Below an overlay there is room for
/// only one row.
fn draw_halt(text: &str, has_overlay: bool, context: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    let room = area.width.saturating_sub(2);
    if has_overlay {
        let text = truncate(text, usize::from(room), canvas.glyphs.ellipsis);
        canvas.put(area.x + 1, area.y, room, &text, canvas.style(Role::Danger));
        return;
    }
    let lines = halt_lines(text, context.glyphs, area);
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
    draw_hints(&keys, context, area, canvas);
}

/// Returns the rows of the reason why nothing can be saved, above a footer at `area`.
fn halt_lines(text: &str, glyphs: &Glyphs, area: Rect) -> Vec<String> {
    const MAX_ROWS: usize = 7;
    // The first row of the screen and that of a title stay visible.
    let free = usize::from(area.y.saturating_sub(2));
    let columns = usize::from(area.width.saturating_sub(2)).max(1);
    wrap_or_mark(&one_line(text), columns, MAX_ROWS.min(free), glyphs.ellipsis)
}

/// Returns the rows of a message that needs more than one; `None` if it has one row, or must be cut to one.
fn message_lines(text: &str, glyphs: &Glyphs, area: Rect) -> Option<Vec<String>> {
    const MAX_ROWS: usize = 4;
    let room = usize::from(area.width.saturating_sub(2)).max(1);
    let lines = wrap_or_mark(text, room, MAX_ROWS, glyphs.ellipsis);
    (lines.len() > 1 && usize::from(area.y) > lines.len()).then_some(lines)
}

/// Draws a message in full: if one row is too short, it also covers rows above. Messages longer than four rows are cut, with a mark.
fn draw_message(text: &str, role: Role, area: Rect, canvas: &mut Canvas<'_>) {
    let room = area.width.saturating_sub(2);
    let text = one_line(text);
    let Some(lines) = message_lines(&text, canvas.glyphs, area) else {
        let text = truncate(&text, usize::from(room), canvas.glyphs.ellipsis);
        canvas.put(area.x + 1, area.y, room, &text, canvas.style(role));
        return;
    };
    let above = lines.len() as u16 - 1;
    let top = area.y - above;
    canvas.clear(area);
    // Nothing of what it covers remains beside it.
    let right = canvas.buffer.area.right();
    canvas.clear(Rect { y: top, height: above, width: right.saturating_sub(area.x), ..area });
    for (y, line) in (top..).zip(&lines) {
        canvas.put(area.x + 1, y, room, line, canvas.style(role));
    }
}

/// Draws as many key hints as fit; the last two (all, help) are always shown.
fn draw_hints(pairs: &[FooterHint], context: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    const GAP_COLUMNS: usize = 2;
    let pairs: Vec<(String, &str)> = pairs.iter().filter_map(|p| Some((p.label(context)?, p.text))).collect();
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
    for (key, text) in shown {
        x += canvas.put(x, area.y, area.right().saturating_sub(x), key, canvas.style(Role::Key)) + 1;
        x += canvas.put(x, area.y, area.right().saturating_sub(x), text, canvas.style(Role::Muted))
            + GAP_COLUMNS as u16;
    }
}

/// A hint: one or two keys and what they do.
struct FooterHint {
    first: Action,
    second: Option<Action>,
    text: &'static str,
}

impl FooterHint {
    fn label(&self, context: &Context<'_>) -> Option<String> {
        let first = context.keymap.key_label(self.first)?;
        let second = self.second.and_then(|a| context.keymap.key_label(a)).unwrap_or_default();
        Some(format!("{first}{second}"))
    }
}

fn single_key(first: Action, text: &'static str) -> FooterHint {
    FooterHint { first, second: None, text }
}

fn key_pair(first: Action, second: Action, text: &'static str) -> FooterHint {
    FooterHint { first, second: Some(second), text }
}

/// Returns what pausing does now. A call or a job that is under way ends first; the rules answer at once.
fn pause_label(context: &Context<'_>) -> &'static str {
    let head = &context.frame.head;
    let waits = context.is_thinking() && !is_asking_rules(context);
    match head.run_status {
        RunStatus::Running if waits && head.is_computing() => "pause after the job",
        RunStatus::Running if waits => "pause after the call",
        RunStatus::Running => "pause",
        // The run pauses after what is under way.
        RunStatus::Pausing => "keep running",
        RunStatus::Paused if waits => "keep running",
        RunStatus::Paused => "run",
    }
}

fn footer_hints(model: &Model, context: &Context<'_>) -> Vec<FooterHint> {
    let head = &context.frame.head;
    let time = key_pair(Action::Back, Action::Forward, "back/forward");
    let has_ended = head.open_episode().is_none() && head.episode.is_some() && model.focus != Focus::Lanes;
    let mut pairs = Vec::new();
    let card = |pairs: &mut Vec<FooterHint>| {
        if context.episode().is_some_and(|e| e.outcome.is_some()) {
            pairs.push(single_key(Action::EndCard, "end card"));
        }
    };
    if context.is_read_only() {
        let play = if model.playback.is_playing() { "pause" } else { "play" };
        pairs.extend([single_key(Action::PauseRun, play), single_key(Action::Step, "step")]);
        if model.playback.is_playing() {
            pairs.push(key_pair(Action::Faster, Action::Slower, "speed"));
        }
        if !model.chapters.is_empty() {
            pairs.push(key_pair(Action::PreviousEpisode, Action::NextEpisode, "chapters"));
        }
        if model.shown_measurement(context).is_some() {
            pairs.push(single_key(Action::Close, if model.stage_mode { "steps" } else { "panes" }));
        }
        // A demo tells its end when it comes.
        if model.chapters.is_empty() || !model.is_in_past() {
            card(&mut pairs);
        }
        pairs.push(time);
        if model.is_in_past() {
            pairs.extend([single_key(Action::EpisodeStart, "start"), single_key(Action::Live, "end")]);
        }
        pairs.extend([
            key_pair(Action::PreviousMark, Action::NextMark, "marks"),
            single_key(Action::Prompt, "prompt"),
            single_key(Action::Open, "open"),
            single_key(Action::NextPane, "panes"),
        ]);
    } else if context.frame.is_in_past() && model.focus != Focus::Lanes {
        pairs.push(single_key(Action::Live, "present"));
        pairs.push(single_key(Action::Open, "continue here"));
        pairs.extend([
            time,
            key_pair(Action::PreviousMark, Action::NextMark, "marks"),
            single_key(Action::Prompt, "prompt"),
        ]);
    } else if has_ended && context.is_thinking() {
        pairs.extend([
            single_key(Action::Cancel, "cancel"),
            single_key(Action::PauseRun, pause_label(context)),
            single_key(Action::AddLesson, "lesson"),
            single_key(Action::Prompt, "prompt"),
            time,
        ]);
    } else if has_ended && head.awaits_mentor_or_job() && head.failed_call.is_none() {
        let again = if head.has_undecided_job() { "compute it again" } else { "retry the call" };
        pairs.extend([
            single_key(Action::Step, again),
            single_key(Action::GiveUp, "continue without"),
            single_key(Action::AddLesson, "lesson"),
            time,
        ]);
    } else if has_ended && head.failed_call.is_none() {
        pairs.extend([single_key(Action::AskAgain, "play again"), single_key(Action::Open, "end card")]);
        pairs.extend(what_follows(&context.frame.head).map(|next| single_key(Action::Step, next)));
        pairs.extend([single_key(Action::AddLesson, "lesson"), single_key(Action::Prompt, "prompt"), time]);
    } else if model.focus == Focus::Lanes {
        if selected_lesson(model, context).is_some() {
            pairs.extend([
                single_key(Action::RejectOrToggle, "lesson on/off"),
                single_key(Action::EditLesson, "edit"),
                single_key(Action::AddLesson, "add"),
                single_key(Action::PinLesson, "pin"),
                single_key(Action::ChangeLessonScope, "scope"),
                single_key(Action::DeleteLesson, "delete"),
                key_pair(Action::MoveLessonUp, Action::MoveLessonDown, "move"),
            ]);
        } else {
            pairs.push(single_key(Action::AddLesson, "lesson"));
        }
        pairs.push(key_pair(Action::Undo, Action::Redo, "undo/redo"));
        if head.open_episode().is_some() {
            pairs.push(single_key(Action::Step, "step"));
        } else if head.episode.is_some() && !context.is_thinking() && head.failed_call.is_none() {
            pairs.push(single_key(Action::AskAgain, "play again"));
            pairs.extend(what_follows(head).map(|next| single_key(Action::Step, next)));
        }
        pairs.extend([single_key(Action::NextPane, "panes"), single_key(Action::Zoom, "zoom")]);
    } else if head.failed_call.is_some() {
        let of_actor = head.has_failed_call(ModelRole::Actor);
        let of_model = of_actor || head.has_failed_call(ModelRole::Mentor);
        let has_job = head.failed_calls().any(|(effect, _)| effect.job().is_some());
        let of_environment = head.failed_calls().any(|(effect, _)| effect.is_of_environment());
        pairs.push(single_key(Action::AskAgain, "retry"));
        if of_environment {
            let takes_back = head.unanswered_step().is_some();
            pairs.extend(takes_back.then(|| single_key(Action::Undo, "take the action back")));
            pairs.push(single_key(Action::EndEpisode, "end the episode"));
        } else if !of_actor && (of_model || has_job) {
            pairs.push(single_key(Action::GiveUp, "continue without"));
        } else {
            pairs.push(single_key(Action::Override, "type an action"));
        }
        if !has_job && !of_environment {
            pairs.extend([single_key(Action::ChangeModel, "model"), single_key(Action::Prompt, "prompt")]);
        }
        pairs.extend([time, single_key(Action::NextPane, "panes")]);
    } else {
        let running = context.frame.head.run_status == RunStatus::Running;
        let waits = context.is_thinking() && !is_asking_rules(context);
        pairs.push(if waits {
            single_key(Action::Cancel, "cancel")
        } else {
            single_key(Action::Step, "step")
        });
        pairs.push(single_key(Action::PauseRun, pause_label(context)));
        if running && !is_paced_by_model(context) {
            pairs.push(key_pair(Action::Faster, Action::Slower, "speed"));
        }
        pairs.extend([
            single_key(Action::AddLesson, "lesson"),
            single_key(Action::Prompt, "prompt"),
            time,
            single_key(Action::NextPane, "panes"),
            single_key(Action::Zoom, "zoom"),
        ]);
    }
    if model.zoomed {
        pairs.retain(|pair| pair.first != Action::Zoom);
        pairs.insert(pairs.len().min(1), single_key(Action::Zoom, "unzoom"));
    }
    // Stage mode has no other panes.
    pairs.retain(|pair| !(model.stage_mode && matches!(pair.first, Action::NextPane | Action::Zoom)));
    pairs.extend([single_key(Action::Palette, "all"), single_key(Action::Help, "help")]);
    pairs
}

/// Returns the first-run hint: its key and text. There is none in the past, after the end, or while a call has
/// failed; a mistake is pointed out only while it is recent.
fn beginner_hint(model: &Model, context: &Context<'_>) -> Option<(String, &'static str)> {
    let head = &context.frame.head;
    // A failed call comes first, and has its own keys.
    if context.frame.is_in_past()
        || context.is_read_only()
        || head.open_episode().is_none()
        || head.failed_call.is_some()
    {
        return None;
    }
    match model.hint {
        FirstRunHint::Step => match head.step_awaiting_decision()? {
            step if has_no_proposal(step) && head.autonomy == Autonomy::Human => {
                Some((context.keymap.key_label(Action::Override)?, " to type your action"))
            }
            step if has_no_proposal(step) => None,
            _ => Some((context.keymap.key_label(Action::Step)?, " to run the proposed action")),
        },
        FirstRunHint::AddLesson if has_recent_mistake(&context.frame.head) => {
            Some((context.keymap.key_label(Action::AddLesson)?, " to add a lesson about the mistake"))
        }
        _ => None,
    }
}
