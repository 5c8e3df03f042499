//! The layers of the screen: the panes, and the overlays above them. An event goes to the topmost overlay; what no overlay
//! takes falls through to the panes.
//!
//! Overlays are modal: of the bound keys only those that concern the whole program fall through (`is_global`), so that
//! no key reaches the run behind a dialog unseen.

use super::overlay::registry;
use super::update::PaneKey;
use super::{update, view};
use crate::engine::{Command, RunStatus};
use crate::timeline::PastPart;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Key, Mode};
use crate::ui::model::{Model, Severity};
use crate::ui::msg::{Answer, PastLoad, Request, UiMessage};
use crate::ui::stage::{hide_private_cells, known_private_texts};
use crate::ui::types::WorkKind;
use crate::ui::view::cache::ViewCache;
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Instant;

/// How often something is loaded for one request: the state at a position, what the overlay there needs, and the events
/// of a long batch, which are looked for piece by piece.
const MAX_LOADS: u32 = 16;

/// The overlays, from the lowest to the topmost.
#[derive(Default)]
pub struct Compositor {
    overlays: Vec<Box<dyn Component>>,
    /// An overlay that closed after it sent a command; it is reopened if the command is rejected.
    closed: Option<Box<dyn Component>>,
    /// Since when a request waits for a part of the past.
    awaits_past: Option<Instant>,
}

/// Returns whether an action falls through all overlays: stopping and pausing must work whatever is open.
fn is_global(action: Action) -> bool {
    matches!(action, Action::Cancel | Action::PauseRun | Action::Suspend | Action::Redraw)
}

/// Returns whether the last episode has ended, so that asking again plays its task again.
fn has_ended(context: &Context<'_>) -> bool {
    context.frame.head.episode.is_some() && context.frame.head.open_episode().is_none()
}

/// Returns what a key does, in a word or two.
fn pressed_key_effect(model: &Model, context: &Context<'_>, mode: Mode, action: Action) -> String {
    match action {
        Action::PauseRun if context.is_read_only() => {
            if model.playback.is_playing() { "pause" } else { "play" }.to_owned()
        }
        // A panel is closed; only what runs is left running.
        Action::Close
            if mode == Mode::Effect && !model.effect.as_ref().is_some_and(|shown| shown.0.is_running()) =>
        {
            "close".to_owned()
        }
        Action::AskAgain if mode == Mode::Main && has_ended(context) => "play again".to_owned(),
        Action::EpisodeStart => "start".to_owned(),
        Action::Live => "end".to_owned(),
        Action::PreviousEpisode if !model.chapters.is_empty() => "previous chapter".to_owned(),
        Action::NextEpisode if !model.chapters.is_empty() => "next chapter".to_owned(),
        Action::PauseRun if context.frame.head.run_status == RunStatus::Running => "pause".to_owned(),
        _ => context.keymap.short_label(mode, action),
    }
}

/// Returns what to say about a key that does nothing in a mode: what it does elsewhere, or which key lists all keys.
/// Returns `None` for a key without a name, such as a modifier alone.
fn dead_key_message(context: &Context<'_>, mode: Mode, key: Key) -> Option<String> {
    let (keymap, label) = (context.keymap, key.label());
    if label.is_empty() {
        return None;
    }
    let nothing = format!("{label} does nothing here");
    let Some(row) = keymap.binding_elsewhere(mode, key) else {
        let help = keymap.key_label_in(mode, Action::Help).map(|key| format!("; {key} lists the keys"));
        return Some(format!("{nothing}{}", help.unwrap_or_default()));
    };
    let place = match row.mode {
        Mode::Main => {
            let close = keymap.key_label_in(mode, Action::Close).unwrap_or_default();
            format!("after {close}, on the main screen")
        }
        Mode::Lanes => "in a lane of lessons".to_owned(),
        other => format!("in \"{}\"", other.title()),
    };
    Some(format!("{nothing}; {place}: {}", row.description))
}

impl Compositor {
    /// Returns the overlays, from the lowest to the topmost.
    #[cfg(test)]
    pub fn overlays(&self) -> &[Box<dyn Component>] {
        &self.overlays
    }

    /// Returns whether anybody still waits for the answer of work. An overlay that has closed doesn't.
    pub fn is_awaited(&self, kind: WorkKind, model: &Model) -> bool {
        let overlay_waits = self.overlays.iter().any(|overlay| overlay.awaits() == Some(kind));
        match kind {
            WorkKind::Past => self.awaits_past.is_some(),
            // The panes name the active branch.
            WorkKind::Branches => overlay_waits || !model.knows_active_branch(),
            WorkKind::Export
            | WorkKind::SaveCopy
            | WorkKind::EditBranch
            | WorkKind::PromoteLesson
            | WorkKind::OpenFile
            | WorkKind::RememberHint
            | WorkKind::FramePast
            | WorkKind::RequestText
            | WorkKind::KeepTest
            // The panes show the results.
            | WorkKind::Measured
            // It goes on while the person does something else.
            | WorkKind::Effect => true,
            _ => overlay_waits,
        }
    }

    /// Returns whether a request waits for a part of the past.
    pub fn awaits_past(&self) -> bool {
        self.awaits_past.is_some()
    }

    /// Returns whether a key must wait for the part of the past that is being loaded, because it is about the step that
    /// will be shown then. Keys that stop something don't wait, and neither does what is typed in an overlay.
    pub fn defers_key(&self, model: &Model, context: &Context<'_>, key: KeyEvent) -> bool {
        let is_stop = |action| is_global(action) || matches!(action, Action::Close | Action::Quit);
        let action = context.keymap.action_for(update::pane_mode(model), key);
        self.awaits_past() && self.overlays.is_empty() && action.is_some_and(|action| !is_stop(action))
    }

    /// Opens an overlay above the others.
    pub fn push(&mut self, overlay: Box<dyn Component>) {
        self.overlays.push(overlay);
    }

    /// Handles a message and returns what the application must do, in order.
    pub fn handle(
        &mut self,
        model: &mut Model,
        context: &Context<'_>,
        cache: &ViewCache,
        msg: UiMessage,
    ) -> Vec<Request> {
        model.expire_notice(context.now);
        model.pressed_keys.expire(context.now);
        // Close an overlay that has nothing left to show before the message is handled, so that it can't consume a key.
        let open_before = self.overlays.len();
        self.overlays.retain(|overlay| !overlay.is_stale(context));
        let closed_itself = self.overlays.len() < open_before;
        model.is_covered = !self.overlays.is_empty();
        let requests = match msg {
            UiMessage::Key(key) if key.kind == KeyEventKind::Press => {
                self.on_key(model, context, cache, key, closed_itself)
            }
            UiMessage::Key(_) => Vec::new(),
            UiMessage::Paste(text) => self.ask_topmost(|overlay| overlay.on_paste(&text, context)),
            UiMessage::Mouse(event) => {
                let requests = if model.is_covered {
                    self.ask_topmost(|overlay| overlay.on_mouse(event, context))
                } else {
                    update::update(model, context, cache, &UiMessage::Mouse(event))
                };
                // Whatever a person does next replaces what they wait for; moving the mouse does nothing.
                self.awaits_past.take_if(|_| !requests.is_empty());
                requests
            }
            UiMessage::Answer(Answer::PastLoaded { load, result }) => {
                return self.on_past_loaded(model, context, load, result);
            }
            UiMessage::Answer(Answer::ReportWritten { path, can_open }) => {
                update::on_report_written(model, context, path, can_open)
            }
            UiMessage::Answer(Answer::WorkCrashed(kind)) => {
                self.on_work_crashed(model, context, kind);
                Vec::new()
            }
            UiMessage::Answer(Answer::RequestText(Ok(text))) => vec![Request::Copy(text)],
            UiMessage::Answer(answer) => {
                let mut requests = update::keep_measured(model, context, &answer);
                requests.extend(match update::on_answer(model, context, answer) {
                    Some(answer @ Answer::Edited(_)) => {
                        self.ask_topmost(|overlay| overlay.on_answer(answer, context))
                    }
                    Some(answer) => self.tell_all(&answer, context),
                    None => Vec::new(),
                });
                requests
            }
            other => update::update(model, context, cache, &other),
        };
        self.perform(model, context, cache, requests)
    }

    /// Draws the panes and the topmost overlay: those below it would show more frames and keys at once. Returns the parts of the
    /// past that the frame lacks.
    pub fn draw(
        &self,
        model: &Model,
        context: &Context<'_>,
        cache: &mut ViewCache,
        buffer: &mut Buffer,
    ) -> Vec<PastPart> {
        let screen = view::overlay_area(model, context, buffer.area);
        let topmost = self.overlays.last();
        let covered = topmost.and_then(|overlay| {
            let rows = overlay.rows_covered(context, screen).min(screen.height);
            let (x, right) = overlay.columns_covered(context, screen);
            let y = screen.bottom() - rows;
            (rows > 0).then(|| Rect { x, y, width: right - x, height: buffer.area.bottom() - y })
        });
        view::draw(model, context, covered.unwrap_or_default(), cache, buffer);
        let mut canvas = Canvas { buffer, theme: context.theme, glyphs: context.glyphs };
        if let Some(overlay) = topmost {
            if model.notice.is_none() && context.halt_reason().is_none() && !context.has_driver_died() {
                canvas.clear(cache.layout.footer);
            }
            overlay.draw(context, screen, &mut canvas);
            view::draw_footer_above_overlays(model, context, cache.layout.footer, &mut canvas);
        } else if let Some(still) = registry::still(model, context) {
            still.draw(context, screen, &mut canvas);
        }
        if model.stage_mode {
            let known = known_private_texts(&model.private_texts, context.frame);
            hide_private_cells(canvas.buffer, &known, context.glyphs.cover);
        }
        context.frame.timeline.take_missing()
    }

    /// Handles a key press. `closed_itself` means that an overlay has just closed because it was stale, so that the key
    /// may have been meant for it.
    fn on_key(
        &mut self,
        model: &mut Model,
        context: &Context<'_>,
        cache: &ViewCache,
        key: KeyEvent,
        closed_itself: bool,
    ) -> Vec<Request> {
        let mode =
            self.overlays.last().map_or_else(|| update::pane_mode(model), |overlay| overlay.mode(context));
        let action = context.keymap.action_for(mode, key);
        self.closed = None;
        let confirms_end = update::on_any_key(model, action);
        // Behind an overlay, it only pauses what runs.
        let is_idle = model.is_covered
            && context.frame.head.run_status != RunStatus::Running
            && !model.playback.is_playing();
        if let Some(action) = action.filter(|action| *action != Action::PauseRun || !is_idle) {
            let effect = pressed_key_effect(model, context, mode, action);
            model.pressed_keys.add(Key::from_event(key).label(), effect, context.now);
        }
        // Whatever a person does next replaces what they wait for.
        let cancelled = action.is_some() && self.awaits_past.take().is_some();
        // Without an overlay, that is all the person sees and cancels.
        if cancelled && self.overlays.is_empty() && matches!(action, Some(Action::Close | Action::Quit)) {
            return Vec::new();
        }
        match action {
            Some(action) if !model.is_covered || confirms_end == Some(true) || is_global(action) => {
                let key = PaneKey { action, mode, confirms_end, closed_itself };
                update::on_pane_key(model, context, cache, key)
            }
            Some(action) => self.ask_topmost(|overlay| overlay.on_action(action, context)),
            None => {
                let requests = self.ask_topmost(|overlay| overlay.on_key(key, context));
                let has_error = model.notice.as_ref().is_some_and(|n| n.severity == Severity::Error);
                if !requests.is_empty() || mode.types() || has_error {
                    return requests;
                }
                // Help is wanted most where a key is unknown.
                if context.keymap.action_for(Mode::Main, key) == Some(Action::Help) {
                    return vec![Request::RunAction(Action::Help)];
                }
                if let Some(text) = dead_key_message(context, mode, Key::from_event(key)) {
                    model.show_notice(text, Severity::Info, context.now);
                }
                requests
            }
        }
    }

    /// Gives the answer of work to every overlay: the one that asked may be below another one by now.
    fn tell_all(&mut self, answer: &Answer, context: &Context<'_>) -> Vec<Request> {
        let mut requests = Vec::new();
        self.overlays.retain_mut(|overlay| {
            let response = overlay.on_answer(answer.clone(), context);
            requests.extend(response.requests);
            !response.close
        });
        requests
    }

    /// Says that work crashed, and closes what waits for it.
    fn on_work_crashed(&mut self, model: &mut Model, context: &Context<'_>, kind: WorkKind) {
        self.awaits_past.take_if(|_| kind == WorkKind::Past);
        self.overlays.retain(|overlay| overlay.awaits() != Some(kind));
        model.is_covered = !self.overlays.is_empty();
        let text =
            format!("{} crashed; this is a fault of this program, the session is not affected", kind.name());
        model.show_notice(text, Severity::Warning, context.now);
    }

    /// Lets the topmost overlay respond and removes it if it asks to close.
    ///
    /// If an overlay closes with a fork or a command, it is kept until the command is accepted, so that typed text isn't
    /// lost if the command fails.
    fn ask_topmost(&mut self, react: impl FnOnce(&mut Box<dyn Component>) -> Response) -> Vec<Request> {
        let Some(topmost) = self.overlays.last_mut() else { return Vec::new() };
        let Response { requests, close } = react(topmost);
        if close {
            let closed = self.overlays.pop();
            if requests.iter().any(|r| matches!(r, Request::Fork(_) | Request::Send(_))) {
                self.closed = closed;
            }
        }
        requests
    }

    /// Performs the requests that concern only the screen and returns the rest for the application.
    pub fn perform(
        &mut self,
        model: &mut Model,
        context: &Context<'_>,
        cache: &ViewCache,
        requests: Vec<Request>,
    ) -> Vec<Request> {
        let mut rest = Vec::new();
        for request in self.drop_writes_while_halted(model, context, requests) {
            // The requests of an action are performed here too. The recursion ends: no action returns `RunAction`.
            if let Request::RunAction(action) = request {
                let requests = update::run_action(model, context, cache, action);
                rest.extend(self.perform(model, context, cache, requests));
            } else {
                rest.extend(self.perform_loading(model, context, request, (0, context.now)));
            }
        }
        model.is_covered = !self.overlays.is_empty();
        rest
    }

    /// Performs a request. If it needs parts of the past that aren't in memory, returns a request to load them instead,
    /// after which it is performed again. `loads` counts how often something has been loaded for it, and `since` is when
    /// a person began to wait.
    fn perform_loading(
        &mut self,
        model: &mut Model,
        context: &Context<'_>,
        request: Request,
        (loads, since): (u32, Instant),
    ) -> Vec<Request> {
        let timeline = &context.frame.timeline;
        timeline.take_missing();
        let requests = self.perform_one(model, context, request.clone());
        let parts = timeline.take_missing();
        if parts.is_empty() {
            return requests;
        }
        if loads >= MAX_LOADS {
            let text = "this part of the session couldn't be loaded; `retrospect verify` checks whether it can be read";
            model.show_notice(text, Severity::Warning, context.now);
            return requests;
        }
        self.awaits_past = Some(since);
        // Until the dialog can be opened, and if it never is, the person at least sees the reason.
        if let Request::OfferFork(error) = &request {
            model.show_notice(format!("{}: {}", error.message, error.hint), Severity::Warning, context.now);
        }
        let then = Some((Box::new(request), loads + 1));
        vec![Request::LoadPast(PastLoad { since, epoch: context.frame.epoch, parts, then })]
    }

    /// Performs a request with what is in memory. Does nothing but note what is missing, if something is.
    fn perform_one(&mut self, model: &mut Model, context: &Context<'_>, request: Request) -> Vec<Request> {
        let Some(request) = update::perform(model, context, request) else { return Vec::new() };
        match request {
            Request::CloseOverlays => {
                self.overlays.clear();
                self.closed = None;
            }
            Request::ReopenClosed => self.reopen_closed(model, context),
            request => {
                let below = self.overlays.last().map(|overlay| overlay.mode(context));
                let opened = registry::open(&request, model, context, below);
                match opened {
                    _ if context.frame.timeline.is_missing() => {}
                    Some(Ok((overlay, requests))) => {
                        self.push(overlay);
                        return requests;
                    }
                    Some(Err(reason)) => model.show_notice(reason, Severity::Warning, context.now),
                    None => return vec![request],
                }
            }
        }
        Vec::new()
    }

    /// Goes on with the request for which parts of the past have been loaded.
    fn on_past_loaded(
        &mut self,
        model: &mut Model,
        context: &Context<'_>,
        load: PastLoad,
        result: Result<(), String>,
    ) -> Vec<Request> {
        self.awaits_past.take_if(|_| load.then.is_some());
        // On another branch the same numbers are other events.
        if load.epoch != context.frame.epoch {
            return Vec::new();
        }
        if let Err(reason) = result {
            model.show_notice(reason, Severity::Warning, context.now);
            return Vec::new();
        }
        let Some((request, loads)) = load.then else { return Vec::new() };
        let requests = self.perform_loading(model, context, *request, (loads, load.since));
        model.is_covered = !self.overlays.is_empty();
        requests
    }

    /// Drops the requests that would have to be journaled while writing fails, and reopens the box they were typed in.
    fn drop_writes_while_halted(
        &mut self,
        model: &mut Model,
        context: &Context<'_>,
        mut requests: Vec<Request>,
    ) -> Vec<Request> {
        let writes = |request: &Request| match request {
            Request::Send(command) => !matches!(command, Command::Cancel | Command::Pause),
            Request::Fork(_) | Request::SwitchBranch(_) | Request::Sample(_) => true,
            _ => false,
        };
        if context.halt_reason().is_none() || !requests.iter().any(writes) {
            return requests;
        }
        requests.retain(|r| !writes(r) && !matches!(r, Request::ShowNotice(_) | Request::SaveDraft { .. }));
        let retry = context.keymap.key_label(Action::AskAgain).unwrap_or_default();
        let text = match self.closed.take() {
            Some(closed) => {
                self.overlays.push(closed);
                format!("nothing can be saved now; your text stays here ({retry} outside this box retries)")
            }
            None => format!("nothing can be saved now; {retry} retries the write"),
        };
        model.show_notice(text, Severity::Warning, context.now);
        requests
    }

    /// Reopens the overlay whose command was rejected, unless another one is open. While nothing can be written, keeps
    /// the text of a lesson editor as a draft instead: the events wait to be written, or are in the rescue copy.
    fn reopen_closed(&mut self, model: &mut Model, context: &Context<'_>) {
        let Some(mut closed) = self.closed.take().filter(|_| self.overlays.is_empty()) else { return };
        if context.halt_reason().is_none() {
            self.overlays.push(closed);
            return;
        }
        for request in closed.on_action(Action::Close, context).requests {
            if matches!(request, Request::SaveDraft { .. }) {
                update::perform(model, context, request);
            }
        }
    }
}
