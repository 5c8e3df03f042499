//! The event loop: keys, store changes, signals, and a timer that runs only while something is animated.

mod background_tasks;

use super::loop_event::LoopEvent;
use super::signals::Signals;
use super::terminal::Screen;
use super::view::SPINNER_FRAME_MILLIS;
use crate::driver::{Handle, Health, PastQuery};
use crate::signals;
use crate::timeline::{PastPart, ReportProgress, no_progress};
use crate::ui::compositor::Compositor;
use crate::ui::facts::ended_episode;
use crate::ui::frame_data::{Context, FrameData};
use crate::ui::model::{FirstRunHint, Model, Severity, WORK_SHOWN_AFTER};
use crate::ui::msg::{Answer, PastLoad, Request, UiMessage};
use crate::ui::options::Options;
use crate::ui::terminal::is_terminal_gone;
use crate::ui::view::cache::ViewCache;
use background_tasks::RunningExport;
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Minimum time between two frames that show new data. Key presses are drawn immediately.
const FRAME_INTERVAL: Duration = Duration::from_millis(33);
/// How often running clocks (seconds of a call) are redrawn.
const CLOCK_INTERVAL: Duration = Duration::from_secs(1);
/// How often the progress of an export is redrawn.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);
/// How often the spinner is redrawn while a model works.
const SPINNER_INTERVAL: Duration = Duration::from_millis(SPINNER_FRAME_MILLIS);

/// Why the screen closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Quit,
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
    /// The number of the current search; searches with an older number stop.
    current_search: Arc<AtomicU64>,
    /// The number of the current load of past states; the answers of older ones are dropped.
    current_load: Arc<AtomicU64>,
    /// The report being written.
    export: Option<RunningExport>,
    /// What frames have asked to load since the last input. It is not loaded again until then.
    asked_for: Vec<PastPart>,
}

/// Shows a session until the person leaves it. Prints nothing, and restores the terminal before it returns.
///
/// # Errors
/// Returns an error if the terminal can't be used.
pub async fn run(handle: Handle, options: Options) -> io::Result<Exit> {
    let mut screen = Screen::enter()?;
    screen.capture_mouse(options.capture_mouse)?;
    let mut model = Model {
        mouse_captured: options.capture_mouse,
        reduced_motion: !options.motion,
        resume_command: options.resume_command.clone(),
        templates: options.templates.clone(),
        configured_models: options.configured_models.clone(),
        ..Model::default()
    };
    model.hint = if options.first_run_hints { FirstRunHint::Step } else { FirstRunHint::None };
    model.size = crossterm::terminal::size().unwrap_or((80, 24));
    let (frame, cache) = (FrameData::default(), ViewCache::default());
    let search = Arc::default();
    let compositor = Compositor::default();
    match (App {
        handle,
        options,
        model,
        compositor,
        frame,
        cache,
        screen,
        current_search: search,
        current_load: Arc::default(),
        export: None,
        asked_for: Vec::new(),
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
        let mut events = EventStream::new();
        let mut changes = self.handle.store.changes();
        let mut signals = Signals::new()?;
        let (answers, mut received) = mpsc::channel::<Answer>(4);
        self.frame.refresh(&self.handle.store, self.model.cursor);
        self.model.end_card_shown_for = ended_episode(&make_context(&self.options, &self.frame));
        let mut requests = self.handle_message(UiMessage::StoreChanged);
        requests.extend(self.move_to_start());
        for request in requests {
            self.perform_request(request, &answers)?;
        }
        // The screen names the branch only if there are several.
        self.load_branches(None, answers.clone());
        self.draw(&answers)?;
        let mut drawn = Instant::now();
        let mut stale = false;
        loop {
            let due = self.next_wake(drawn, stale);
            let wake = tokio::select! {
                biased;
                event = events.next() => match event {
                    Some(Ok(event)) => LoopEvent::Terminal(event),
                    Some(Err(error)) => return Err(error),
                    None => LoopEvent::Terminated,
                },
                signal = signals.next() => signal,
                Some(answer) = received.recv() => LoopEvent::Answer(answer),
                () = sleep_until(due.unwrap_or(drawn)), if due.is_some() => LoopEvent::Tick,
                changed = changes.changed(), if !stale => match changed {
                    Ok(()) => LoopEvent::StoreChanged,
                    Err(_) => LoopEvent::Terminated,
                },
            };
            let mut now = true;
            let requests = match wake {
                LoopEvent::Terminated => return Ok(Exit::Terminated),
                LoopEvent::Terminal(event) => match to_message(event) {
                    Some(msg) => {
                        if matches!(msg, UiMessage::Key(_)) {
                            self.asked_for.clear();
                        }
                        self.handle_message(msg)
                    }
                    None => continue,
                },
                LoopEvent::Answer(answer) => self.handle_message(UiMessage::Answer(answer)),
                LoopEvent::Tick => {
                    stale = false;
                    self.handle_message(UiMessage::Tick)
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
            for request in requests {
                match request {
                    Request::Quit => return Ok(Exit::Quit),
                    Request::Rerun(number) => return Ok(Exit::Rerun(number)),
                    _ => {}
                }
                if request == Request::Suspend || matches!(request, Request::OpenEditor(_)) {
                    // The stream reads the terminal on its own thread; it must not while another program uses the
                    // terminal.
                    drop(events);
                    let answer = self.with_terminal_released(request)?;
                    events = EventStream::new();
                    let requests = answer.map(|answer| self.handle_message(UiMessage::Answer(answer)));
                    for request in requests.into_iter().flatten() {
                        self.perform_request(request, &answers)?;
                    }
                } else {
                    self.perform_request(request, &answers)?;
                }
            }
            if now {
                stale = false;
                self.draw(&answers)?;
                drawn = Instant::now();
            }
        }
    }

    /// Returns when the loop must wake up next, or `None` if nothing is animated.
    fn next_wake(&self, drawn: Instant, stale: bool) -> Option<Instant> {
        let frame = stale.then(|| drawn + FRAME_INTERVAL);
        let live = &self.frame.live;
        let has_calls = !live.calls.is_empty() || !live.jobs.is_empty();
        let moving = has_calls && live.health == Health::Running;
        let second =
            moving.then(|| drawn + if self.model.reduced_motion { CLOCK_INTERVAL } else { SPINNER_INTERVAL });
        let notice = self.model.notice.as_ref().map(|n| Instant::from_std(n.expires_at));
        let loading = self.model.loading.map(|(_, since)| since).or(self.model.frame_loading_since);
        let work_since = loading.or(self.model.export.map(|export| export.since));
        let work_shown = work_since.map(|since| Instant::from_std(since) + WORK_SHOWN_AFTER);
        let work_shown = work_shown.filter(|shown| *shown > drawn);
        let progress = self.model.export.map(|_| drawn + PROGRESS_INTERVAL);
        [frame, second, notice, work_shown, progress].into_iter().flatten().min()
    }

    fn handle_message(&mut self, msg: UiMessage) -> Vec<Request> {
        self.frame.refresh(&self.handle.store, self.model.cursor);
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
    fn draw(&mut self, answers: &mpsc::Sender<Answer>) -> io::Result<()> {
        self.frame.refresh(&self.handle.store, self.model.cursor);
        self.screen.ensure_active()?;
        match (&mut self.model.export, &self.export) {
            (Some(status), Some(running)) => status.percent = running.progress.percent(),
            _ => self.export = None,
        }
        let Self { options, model, compositor, frame: data, cache, screen, .. } = self;
        let context = make_context(options, data);
        let mut parts = Vec::new();
        screen.terminal.draw(|frame| {
            let area = frame.area();
            model.size = (area.width, area.height);
            parts = compositor.draw(model, &context, cache, frame.buffer_mut());
        })?;
        parts.retain(|part| !self.asked_for.contains(part));
        if !parts.is_empty() && self.model.frame_loading_since.is_none() {
            self.asked_for.extend(&parts);
            self.model.frame_loading_since = Some(Instant::now().into_std());
            self.load_past(
                PastLoad { number: 0, epoch: self.frame.epoch, parts, then: None },
                answers.clone(),
            );
        }
        Ok(())
    }

    fn perform_request(&mut self, request: Request, answers: &mpsc::Sender<Answer>) -> io::Result<()> {
        match request {
            Request::Send(command) => self.handle.send(command),
            Request::ListAdmissible => {
                let (handle, answers) = (self.handle.clone(), answers.clone());
                tokio::spawn(async move {
                    // The answer is dropped if the screen has closed.
                    let _ = answers.send(Answer::Admissible(handle.admissible().await)).await;
                });
            }
            Request::ListAdmissibleAt(at) => {
                let (handle, answers) = (self.handle.clone(), answers.clone());
                tokio::spawn(async move {
                    let store = handle.store.clone();
                    // If the branch changed meanwhile, the update drops the answer.
                    let load_state =
                        Box::new(move |report: &ReportProgress<'_>| store.state_at_reporting(at.seq, report));
                    let query = PastQuery { load_state, report: Box::new(no_progress) };
                    let listed = handle.past_admissible(query).await;
                    let _ = answers.send(Answer::AdmissibleAt { at, actions: listed }).await;
                });
            }
            Request::LoadPast(load) => self.load_past(load, answers.clone()),
            Request::CancelLoad => {
                self.current_load.fetch_add(1, Ordering::Relaxed);
            }
            Request::Search { query, searched_episode } => {
                self.search_episodes(query, searched_episode, answers.clone());
            }
            Request::ListComparable | Request::Compare { .. } | Request::LoadPriorDifferences { .. } => {
                self.run_comparison(request, answers.clone());
            }
            Request::Hint => {
                let (handle, answers) = (self.handle.clone(), answers.clone());
                tokio::spawn(async move {
                    let _ = answers.send(Answer::Hint(handle.hint().await)).await;
                });
            }
            Request::ListSessions => {
                let (list, answers) =
                    (self.options.host.as_ref().map(|o| o.list_sessions.clone()), answers.clone());
                // If no thread can be started, a name can still be typed.
                let _ = std::thread::Builder::new().name("sessions".to_owned()).spawn(move || {
                    let sessions = list.map_or_else(Vec::new, |list| list());
                    let _ = answers.blocking_send(Answer::Sessions(sessions));
                });
            }
            Request::ListModels(role) => {
                let (run, answers) = (self.frame.head.run.clone(), answers.clone());
                let list = self.options.host.as_ref().map(|o| o.list_models.clone());
                // If no thread can be started, a name can still be typed.
                let _ = std::thread::Builder::new().name("models".to_owned()).spawn(move || {
                    let listed = match (list, run) {
                        (Some(list), Some(run)) => list(&(run, role)),
                        _ => Err("this screen can't list the server's models".to_owned()),
                    };
                    let _ = answers.blocking_send(Answer::Models { role, models: listed });
                });
            }
            Request::Fork(fork) => self.handle.send_fork(fork),
            Request::SwitchBranch(branch) => self.handle.send_switch(branch),
            Request::LoadBranches => self.load_branches(None, answers.clone()),
            Request::EditBranch(branch, edit) => self.load_branches(Some((branch, edit)), answers.clone()),
            Request::RetryWrite => self.handle.retry_write(),
            Request::CaptureMouse(on) => self.screen.capture_mouse(on)?,
            Request::NextTheme => self.switch_to_next_theme(),
            Request::Redraw => self.screen.clear()?,
            Request::Copy(text) => {
                crossterm::execute!(io::stdout(), CopyToClipboard::to_clipboard_from(&text))?;
                self.write_file("copied, also to ", answers.clone(), move |host, _| (host.save_copy)(&text));
            }
            Request::Export => {
                if self.model.export.is_none() {
                    self.export_report(answers.clone());
                }
            }
            Request::CancelExport => {
                if let Some(export) = &self.export {
                    export.progress.cancel();
                }
            }
            Request::OpenEditor(_)
            | Request::Suspend
            | Request::Quit
            | Request::Rerun(_)
            | Request::MoveCursor(_)
            | Request::GoToStep { .. }
            | Request::SaveDraft { .. }
            | Request::SetMarkFilter(_)
            | Request::CompareWith(_)
            | Request::AddLessonOnFork { .. }
            | Request::AcceptAsLesson { .. }
            | Request::RunAction(_)
            | Request::Open(_)
            | Request::OpenForkDialog(_)
            | Request::OfferFork(_)
            | Request::AskAboutDivergence { .. }
            | Request::CloseOverlays
            | Request::ReopenClosed
            | Request::ShowNotice(_) => {}
        }
        Ok(())
    }

    /// Switches to the next theme in the list and shows its name.
    fn switch_to_next_theme(&mut self) {
        let themes = &self.options.themes;
        let at = themes.iter().position(|(_, theme)| *theme == self.options.theme);
        let next = at.map_or(0, |at| (at + 1) % themes.len());
        if let Some((name, theme)) = themes.get(next) {
            self.options.theme = theme.clone();
            self.show_info(&format!("theme {name}"));
        }
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
