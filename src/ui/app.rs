//! The event loop: keys, store changes, signals, and a timer that runs only while something is animated.

mod background_tasks;
mod frame_past;
mod workers;

use super::loop_event::LoopEvent;
use super::signals::Signals;
use super::terminal::Screen;
use super::terminal_events::{TerminalEvent, TerminalEvents};
use super::update::slow_for_audience;
use super::view::SPINNER_FRAME_MILLIS;
use crate::driver::{Handle, Health};
use crate::report::render_svg;
use crate::signals;
use crate::text::program_name;
use crate::ui::compositor::Compositor;
use crate::ui::facts::ended_episode;
use crate::ui::frame_data::{Context, FrameData};
use crate::ui::model::{Model, Severity};
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::options::Options;
use crate::ui::terminal::is_terminal_gone;
use crate::ui::theme::svg_colors;
use crate::ui::types::{WORK_SHOWN_AFTER, WorkKind};
use crate::ui::view::cache::ViewCache;
use background_tasks::Sources;
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{Event, KeyEvent, KeyEventKind};
use frame_past::FramePast;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use workers::Workers;

/// Minimum time between two frames that show new data. Key presses are drawn immediately.
const FRAME_INTERVAL: Duration = Duration::from_millis(33);
/// How often running clocks (seconds of a call) are redrawn.
const CLOCK_INTERVAL: Duration = Duration::from_secs(1);
/// How often the progress of running work is redrawn.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);
/// The maximum number of keys that wait for a load.
const MAX_TYPED_AHEAD: usize = 256;
/// How long a second request to quit confirms the first one.
const QUIT_WINDOW: Duration = Duration::from_secs(2);
/// How often the spinner is redrawn while a model works.
const SPINNER_INTERVAL: Duration = Duration::from_millis(SPINNER_FRAME_MILLIS);

/// Why the screen closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Quit {
        /// Whether stage mode was on, so that paths stay hidden.
        on_stage: bool,
    },
    /// The person wants to rerun this episode in a new session.
    Rerun(u32),
    /// The terminal is gone, or a signal ends the program.
    Terminated,
}

/// State of the event loop.
struct App {
    handle: Handle,
    options: Options,
    model: Model,
    compositor: Compositor,
    frame: FrameData,
    cache: ViewCache,
    screen: Screen,
    workers: Workers,
    /// Keys that wait for the part of the past that is being loaded.
    typed_ahead: VecDeque<KeyEvent>,
    /// When a person asked to quit while a report was being written.
    quit_asked: Option<Instant>,
    frame_past: FramePast,
}

/// Shows a session until the person leaves it. Prints nothing, and restores the terminal before it returns.
///
/// # Errors
/// Returns an error if the terminal can't be used.
pub async fn run(handle: Handle, options: Options) -> io::Result<Exit> {
    let mut screen = Screen::enter()?;
    screen.capture_mouse(options.capture_mouse)?;
    if options.background_themes.is_some() {
        screen.ask_background()?;
    }
    let mut model = Model {
        mouse_captured: options.capture_mouse,
        reduced_motion: !options.motion,
        resume_command: options.resume_command.clone(),
        templates: options.templates.clone(),
        configured_models: options.configured_models.clone(),
        chapters: options.chapters.clone(),
        stage_mode: options.stage_mode,
        private_texts: options.private_texts.clone(),
        ..Model::default()
    };
    model.hint = options.first_hint;
    model.size = crossterm::terminal::size().unwrap_or((80, 24));
    let (frame, cache) = (FrameData::default(), ViewCache::default());
    let compositor = Compositor::default();
    match (App {
        handle,
        options,
        model,
        compositor,
        frame,
        cache,
        screen,
        workers: Workers::default(),
        typed_ahead: VecDeque::new(),
        quit_asked: None,
        frame_past: FramePast::default(),
    })
    .run()
    .await
    {
        // If the terminal is gone, a failing write is the first sign of it.
        Err(error) if is_terminal_gone(&error) => Ok(Exit::Terminated),
        left => left,
    }
}

impl App {
    async fn run(mut self) -> io::Result<Exit> {
        let mut events = TerminalEvents::new();
        let mut changes = self.handle.store.changes();
        let mut signals = Signals::new()?;
        self.refresh_frame();
        self.model.end_card_shown_for = ended_episode(&make_context(&self.options, &self.frame));
        let mut requests = self.handle_message(UiMessage::StoreChanged);
        requests.extend(self.move_to_start());
        if self.model.stage_mode {
            requests.extend(slow_for_audience(&mut self.model, &make_context(&self.options, &self.frame)));
        }
        // The screen names the branch only if there are several.
        requests.push(Request::LoadBranches);
        requests.push(Request::ListMeasured);
        for request in requests {
            self.perform_request(request)?;
        }
        self.draw()?;
        let mut drawn = Instant::now();
        let mut stale = false;
        loop {
            let due = self.next_wake(drawn, stale);
            let typed = if self.compositor.awaits_past() { None } else { self.typed_ahead.pop_front() };
            let typed = typed.map(|key| LoopEvent::Terminal(Event::Key(key)));
            let wake = if let Some(typed) = typed {
                typed
            } else {
                tokio::select! {
                    biased;
                    event = events.next() => match event {
                        Some(Ok(TerminalEvent::Input(event))) => LoopEvent::Terminal(event),
                        Some(Ok(TerminalEvent::Background(background))) => LoopEvent::Background(background),
                        Some(Err(error)) => return Err(error),
                        None => LoopEvent::Terminated,
                    },
                    signal = signals.next() => signal,
                    Some(answer) = self.workers.next_answer() => LoopEvent::Answer(answer),
                    () = sleep_until(due.unwrap_or(drawn)), if due.is_some() => LoopEvent::Tick,
                    changed = changes.changed(), if !stale => match changed {
                        Ok(()) => LoopEvent::StoreChanged,
                        Err(_) => LoopEvent::Terminated,
                    },
                }
            };
            let mut now = true;
            let mut requests = match wake {
                LoopEvent::Terminated => return Ok(Exit::Terminated),
                LoopEvent::Terminal(Event::Key(key)) if self.defer_key(key) => continue,
                LoopEvent::Terminal(event) => match to_message(event) {
                    Some(msg) => {
                        self.frame_past.on_message(&msg);
                        let waited = self.compositor.awaits_past();
                        let requests = self.handle_message(msg);
                        if waited && !self.compositor.awaits_past() {
                            // What was typed for the step that isn't loaded any more.
                            self.typed_ahead.clear();
                        }
                        requests
                    }
                    None => continue,
                },
                LoopEvent::Answer(answer) => self.handle_message(UiMessage::Answer(answer)),
                LoopEvent::Tick => {
                    stale = false;
                    self.handle_message(UiMessage::Tick)
                }
                LoopEvent::Background(background) => {
                    self.options.follow_background(background);
                    Vec::new()
                }
                LoopEvent::Suspended => vec![Request::Suspend],
                LoopEvent::Resumed => {
                    // The process that stopped us may have changed the terminal: set it up again.
                    self.screen.leave();
                    self.screen.reenter()?;
                    Vec::new()
                }
                LoopEvent::StoreChanged => {
                    // Redraw once a frame is due; until then, ignore further changes.
                    now = drawn.elapsed() >= FRAME_INTERVAL;
                    stale = !now;
                    if now { self.handle_message(UiMessage::StoreChanged) } else { Vec::new() }
                }
            };
            // Whatever woke the loop, the next frame shows the changes that waited for it.
            if now && stale {
                requests.extend(self.handle_message(UiMessage::StoreChanged));
            }
            for request in requests {
                match request {
                    Request::Quit if self.keeps_for_export() => continue,
                    Request::Quit => return Ok(Exit::Quit { on_stage: self.model.stage_mode }),
                    Request::Rerun(number) => return Ok(Exit::Rerun(number)),
                    _ => {}
                }
                if request == Request::Suspend || matches!(request, Request::OpenEditor(_)) {
                    // The stream reads the terminal on its own thread; it must not while another program uses the
                    // terminal.
                    drop(events);
                    let answer = self.with_terminal_released(request)?;
                    events = TerminalEvents::new();
                    let requests = answer.map(|answer| self.handle_message(UiMessage::Answer(answer)));
                    for request in requests.into_iter().flatten() {
                        self.perform_request(request)?;
                    }
                } else {
                    self.perform_request(request)?;
                }
            }
            let Self { workers, compositor, model, .. } = &mut self;
            workers.cancel_unless(|kind| compositor.is_awaited(kind, model));
            if now {
                stale = false;
                self.draw()?;
                drawn = Instant::now();
            }
        }
    }

    /// Returns when the loop must wake up next, or `None` if nothing is animated.
    fn next_wake(&self, drawn: Instant, stale: bool) -> Option<Instant> {
        let frame = stale.then(|| drawn + FRAME_INTERVAL);
        let live = &self.frame.live;
        let has_calls = !live.calls.is_empty()
            || !live.jobs.is_empty()
            || !live.samples.is_empty()
            || live.env_work.is_some();
        let moving = has_calls && live.health == Health::Running;
        let second =
            moving.then(|| drawn + if self.model.reduced_motion { CLOCK_INTERVAL } else { SPINNER_INTERVAL });
        let notice = self.model.notice.as_ref().map(|n| Instant::from_std(n.expires_at));
        let keys = self.model.pressed_keys.expires_at().map(Instant::from_std);
        let work = self.workers.statuses();
        let shown = work.iter().map(|work| Instant::from_std(work.since) + WORK_SHOWN_AFTER);
        let work_shown = shown.filter(|shown| *shown > drawn).min();
        let progress = (!work.is_empty()).then(|| drawn + PROGRESS_INTERVAL);
        // While a step is being loaded, its answer wakes the loop.
        let playback = self.model.playback.due.map(Instant::from_std);
        let playback = playback.filter(|_| !self.compositor.awaits_past());
        [frame, second, notice, keys, work_shown, progress, playback].into_iter().flatten().min()
    }

    /// Keeps a key that is about the step being loaded until it is shown. Returns whether it was kept.
    fn defer_key(&mut self, key: KeyEvent) -> bool {
        let context = make_context(&self.options, &self.frame);
        let is_kept = key.kind == KeyEventKind::Press
            && self.typed_ahead.len() < MAX_TYPED_AHEAD
            && self.compositor.defers_key(&self.model, &context, key);
        if is_kept {
            self.typed_ahead.push_back(key);
        }
        is_kept
    }

    /// Asks once whether to quit while a report is being written, which is discarded then. Returns whether to stay.
    fn keeps_for_export(&mut self) -> bool {
        let is_asked = self.quit_asked.is_some_and(|at| at.elapsed() <= QUIT_WINDOW);
        if is_asked || !self.workers.is_running(WorkKind::Export) {
            return false;
        }
        self.quit_asked = Some(Instant::now());
        self.show_error(
            "a report is being written; again within two seconds quits and discards it".to_owned(),
        );
        true
    }

    fn refresh_frame(&mut self) {
        self.frame.refresh(&self.handle.store, self.model.cursor);
        self.frame.running_work = self.workers.statuses();
        self.frame.measured = self.model.measured.clone();
        self.frame.for_audience = self.model.stage_mode;
    }

    fn handle_message(&mut self, msg: UiMessage) -> Vec<Request> {
        self.refresh_frame();
        let Self { options, model, compositor, frame, cache, .. } = self;
        compositor.handle(model, &make_context(options, frame), cache, msg)
    }

    /// Moves to the point in time that the screen opens at.
    fn move_to_start(&mut self) -> Vec<Request> {
        let Self { options, model, compositor, frame, cache, .. } = self;
        let request = Request::MoveCursor(options.start_cursor);
        compositor.perform(model, &make_context(options, frame), cache, vec![request])
    }

    /// Draws a frame, and loads what of the past it lacks.
    fn draw(&mut self) -> io::Result<()> {
        self.refresh_frame();
        self.screen.ensure_active()?;
        let Self { options, model, compositor, frame: data, cache, screen, .. } = self;
        let context = make_context(options, data);
        let mut parts = Vec::new();
        screen.terminal.draw(|frame| {
            let area = frame.area();
            model.size = (area.width, area.height);
            parts = compositor.draw(model, &context, cache, frame.buffer_mut());
        })?;
        if let Some(request) = self.frame_past.load_missing(&mut self.workers, self.frame.epoch, parts) {
            self.start_work(request);
        }
        Ok(())
    }

    /// Draws the screen as SVG, as it is without a notice.
    fn draw_picture(&mut self) -> String {
        let Self { options, model, compositor, frame, .. } = self;
        let (columns, rows) = model.size;
        let notice = model.notice.take();
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        compositor.draw(model, &make_context(options, frame), &mut ViewCache::default(), &mut buffer);
        model.notice = notice;
        render_svg(&buffer, &svg_colors(&options.theme), program_name())
    }

    /// Starts a request on another thread. Returns the request if it isn't one for another thread.
    fn start_work(&mut self, request: Request) -> Option<Request> {
        let sources = Sources {
            handle: &self.handle,
            host: self.options.host.as_ref(),
            run: self.frame.head.run.as_ref(),
        };
        self.workers.start_request(&sources, request).unwrap_or_else(|error| {
            self.show_error(error);
            None
        })
    }

    fn perform_request(&mut self, request: Request) -> io::Result<()> {
        if let Request::Copy(text) | Request::CopyToClipboard(text) = &request {
            crossterm::execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text))?;
        }
        let Some(request) = self.start_work(request) else { return Ok(()) };
        match request {
            Request::Send(command) => self.handle.send(command),
            Request::Fork(fork) => self.handle.send_fork(fork),
            Request::Sample(order) => self.handle.send_sample(order),
            Request::CancelSamples => self.handle.cancel_samples(),
            Request::SwitchBranch(branch) => self.handle.send_switch(branch),
            Request::SetStepDelay(delay) => self.handle.store.set_step_delay(delay),
            Request::RetryWrite => self.handle.retry_write(),
            Request::CaptureMouse(on) => self.screen.capture_mouse(on)?,
            Request::DrawPicture => {
                let svg = self.draw_picture();
                self.start_work(Request::SavePicture(svg));
            }
            Request::SwitchTheme(name) => self.switch_theme(name.as_deref()),
            Request::Redraw => self.screen.clear()?,
            // The compositor has performed the others.
            _ => {}
        }
        Ok(())
    }

    /// Switches to a theme by its name, or to the next one in the list, and shows its name.
    fn switch_theme(&mut self, name: Option<&str>) {
        let themes = &self.options.themes;
        let named = |name: &str| themes.iter().find(|theme| theme.0 == name);
        let next = || {
            let at = themes.iter().position(|(_, theme)| *theme == self.options.theme);
            themes.get(at.map_or(0, |at| (at + 1) % themes.len()))
        };
        let message = if let Some((name, theme)) = name.map_or_else(next, named) {
            self.options.theme = theme.clone();
            self.options.background_themes = None;
            format!("theme {name}")
        } else {
            let names: Vec<&str> = themes.iter().map(|theme| &*theme.0).collect();
            format!("no theme {}; there are {}", name.unwrap_or_default(), names.join(", "))
        };
        self.show_info(&message);
    }

    fn show_info(&mut self, text: &str) {
        self.model.show_notice(text, Severity::Info, Instant::now().into_std());
    }

    fn show_error(&mut self, error: String) {
        self.model.show_notice(error, Severity::Warning, Instant::now().into_std());
    }

    /// Performs a request during which another program has the terminal, and returns the answer, if there is one.
    fn with_terminal_released(&mut self, request: Request) -> io::Result<Option<Answer>> {
        match request {
            Request::Suspend => self.screen.suspend()?,
            Request::OpenEditor(text) => {
                self.screen.leave();
                let edited =
                    self.options.host.as_ref().map(|o| signals::lend_terminal(|| (o.edit_text)(&text)));
                self.screen.reenter()?;
                let text = match edited {
                    Some(Ok(text)) => text,
                    Some(Err(why)) => {
                        self.show_error(why);
                        None
                    }
                    None => None,
                };
                return Ok(Some(Answer::Edited(text)));
            }
            _ => {}
        }
        Ok(None)
    }
}

fn make_context<'a>(options: &'a Options, frame: &'a FrameData) -> Context<'a> {
    Context {
        frame,
        now: Instant::now().into_std(),
        theme: &options.theme,
        glyphs: &options.glyphs,
        keymap: &options.keymap,
        is_covered: false,
    }
}

fn to_message(event: Event) -> Option<UiMessage> {
    match event {
        Event::Key(key) => Some(UiMessage::Key(key)),
        Event::Paste(text) => Some(UiMessage::Paste(text)),
        Event::Mouse(event) => Some(UiMessage::Mouse(event)),
        Event::Resize(columns, rows) => Some(UiMessage::Resize(columns, rows)),
        Event::FocusGained | Event::FocusLost => None,
    }
}
