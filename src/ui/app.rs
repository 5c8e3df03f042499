//! The loop: keys, news of the store, signals, and a clock that runs only while something moves.

mod background_tasks;

use super::context::{Context, FrameInput};
use super::glyphs::{self, Glyphs};
use super::host_services::HostServices;
use super::keymap::Keymap;
use super::loop_event::LoopEvent;
use super::model::{Cursor, FirstRunHint, Model, Severity};
use super::msg::{Request, UiMessage};
use super::overlay::Answer;
use super::signals::Signals;
use super::terminal::Screen;
use super::theme::Theme;
use super::update;
use super::view::{self, SPINNER_FRAME_MILLIS, ViewCache};
use crate::driver::{Handle, Health};
use crate::prompt::Templates;
use crate::signals;
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Data is drawn at most this often; a key is drawn at once.
const FRAME_INTERVAL: Duration = Duration::from_millis(33);
/// Seconds that run are drawn this often.
const CLOCK_INTERVAL: Duration = Duration::from_secs(1);
/// The mark that turns while a model works is drawn this often.
const SPINNER_INTERVAL: Duration = Duration::from_millis(SPINNER_FRAME_MILLIS);

/// How the screen is set up.
#[derive(Clone)]
pub struct Options {
    /// The colours.
    pub theme: Theme,
    /// Other themes by name, which a key goes through.
    pub themes: Vec<(String, Theme)>,
    /// The keys.
    pub keymap: Keymap,
    /// The drawing characters.
    pub glyphs: Glyphs,
    /// The mouse belongs to the screen from the start.
    pub capture_mouse: bool,
    /// Marks may move while a model works.
    pub motion: bool,
    /// A newcomer is told what to press.
    pub first_run_hints: bool,
    /// What is shown opens at this moment.
    pub start_cursor: Cursor,
    /// Editor, files, reports; none: these keys say that there is none.
    pub host: Option<HostServices>,
    /// The command that takes the session up again; none where nothing can be taken up.
    pub resume_command: Option<String>,
    /// The templates that the next prompt would be made of; none where they are not known.
    pub templates: Option<Arc<Templates>>,
    /// Models of the configuration, as they are written: `openai:MODEL profile NAME`.
    pub configured_models: Arc<[String]>,
}

/// Why the screen was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The person quit.
    Quit,
    /// This episode is to be played again, in a session of its own.
    Rerun(u32),
    /// The terminal went away, or a signal ends the program.
    Terminated,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            themes: Vec::new(),
            keymap: Keymap::default(),
            glyphs: glyphs::UNICODE,
            capture_mouse: true,
            motion: true,
            first_run_hints: false,
            start_cursor: Cursor::Live,
            host: None,
            resume_command: None,
            templates: None,
            configured_models: Arc::default(),
        }
    }
}

/// What the loop holds.
struct App {
    handle: Handle,
    options: Options,
    model: Model,
    frame: FrameInput,
    scratch: ViewCache,
    screen: Screen,
    /// The number of the search that is wanted; an older one stops.
    current_search: Arc<AtomicU64>,
}

/// Shows a session until the person leaves it. Prints nothing; the terminal is given back before it returns.
///
/// # Errors
/// When the terminal cannot be used.
pub async fn run(handle: Handle, options: Options) -> io::Result<Exit> {
    let mut screen = Screen::enter()?;
    screen.capture_mouse(options.capture_mouse)?;
    let mut model = Model {
        mouse_captured: options.capture_mouse,
        reduced_motion: !options.motion,
        cursor: options.start_cursor,
        resume_command: options.resume_command.clone(),
        templates: options.templates.clone(),
        configured_models: options.configured_models.clone(),
        ..Model::default()
    };
    model.hint = if options.first_run_hints { FirstRunHint::Step } else { FirstRunHint::None };
    model.size = crossterm::terminal::size().unwrap_or((80, 24));
    let (moment, scratch) = (FrameInput::default(), ViewCache::default());
    let search = Arc::default();
    match (App { handle, options, model, frame: moment, scratch, screen, current_search: search }).run().await
    {
        // What is written to a terminal that has gone fails before anything else says so.
        Err(error) if is_terminal_gone(&error) => Ok(Exit::Terminated),
        left => left,
    }
}

/// The error of a terminal that has gone.
pub(super) fn is_terminal_gone(error: &io::Error) -> bool {
    const EIO: i32 = 5;
    error.kind() == io::ErrorKind::BrokenPipe || cfg!(unix) && error.raw_os_error() == Some(EIO)
}

impl App {
    async fn run(mut self) -> io::Result<Exit> {
        let mut events = EventStream::new();
        let mut news = self.handle.store.changes();
        let mut signals = Signals::new()?;
        let (tell, mut told) = mpsc::channel::<Answer>(4);
        self.frame.refresh(&self.handle.store, self.model.cursor);
        self.model.end_card_shown_for = update::ended_episode(&make_context(&self.options, &self.frame));
        for want in self.handle_message(UiMessage::StoreChanged) {
            self.perform_request(want, &tell)?;
        }
        // How many branches there are decides whether the screen names them.
        self.load_branches(None, tell.clone());
        self.draw()?;
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
                Some(answer) = told.recv() => LoopEvent::Answer(answer),
                () = sleep_until(due.unwrap_or(drawn)), if due.is_some() => LoopEvent::Tick,
                changed = news.changed(), if !stale => match changed {
                    Ok(()) => LoopEvent::StoreChanged,
                    Err(_) => LoopEvent::Terminated,
                },
            };
            let mut now = true;
            let wants = match wake {
                LoopEvent::Terminated => return Ok(Exit::Terminated),
                LoopEvent::Terminal(event) => match to_message(event) {
                    Some(msg) => self.handle_message(msg),
                    None => continue,
                },
                LoopEvent::Answer(answer) => self.handle_message(UiMessage::Answer(answer)),
                LoopEvent::Tick => {
                    stale = false;
                    self.handle_message(UiMessage::Tick)
                }
                LoopEvent::Suspended => vec![Request::Suspend],
                LoopEvent::Resumed => {
                    // Whoever stopped us may have changed the terminal behind our back: it is taken anew.
                    self.screen.leave();
                    self.screen.reenter()?;
                    Vec::new()
                }
                LoopEvent::StoreChanged => {
                    // The news waits until a frame is due; until then nothing else is looked at.
                    now = drawn.elapsed() >= FRAME_INTERVAL;
                    stale = !now;
                    if now { self.handle_message(UiMessage::StoreChanged) } else { Vec::new() }
                }
            };
            for want in wants {
                match want {
                    Request::Quit => return Ok(Exit::Quit),
                    Request::Rerun(number) => return Ok(Exit::Rerun(number)),
                    _ => {}
                }
                if want == Request::Suspend || matches!(want, Request::OpenEditor(_)) {
                    // The stream reads the terminal in a thread of its own; it must not while another program has it.
                    drop(events);
                    self.with_terminal_released(want, &tell)?;
                    events = EventStream::new();
                } else {
                    self.perform_request(want, &tell)?;
                }
            }
            if now {
                stale = false;
                self.draw()?;
                drawn = Instant::now();
            }
        }
    }

    /// When the clock must ring next; never while nothing moves.
    fn next_wake(&self, drawn: Instant, stale: bool) -> Option<Instant> {
        let frame = stale.then(|| drawn + FRAME_INTERVAL);
        let moving = !self.frame.live.calls.is_empty() && self.frame.live.health == Health::Running;
        let second =
            moving.then(|| drawn + if self.model.reduced_motion { CLOCK_INTERVAL } else { SPINNER_INTERVAL });
        let notice = self.model.notice.as_ref().map(|n| Instant::from_std(n.expires_at));
        [frame, second, notice].into_iter().flatten().min()
    }

    fn handle_message(&mut self, msg: UiMessage) -> Vec<Request> {
        self.frame.refresh(&self.handle.store, self.model.cursor);
        let Self { options, model, frame: moment, scratch, .. } = self;
        update::update(model, &make_context(options, moment), scratch, msg)
    }

    fn draw(&mut self) -> io::Result<()> {
        self.frame.refresh(&self.handle.store, self.model.cursor);
        self.screen.ensure_active()?;
        let Self { options, model, frame: moment, scratch, screen, .. } = self;
        let look = make_context(options, moment);
        screen.terminal.draw(|frame| {
            let area = frame.area();
            model.size = (area.width, area.height);
            view::draw(model, &look, scratch, frame.buffer_mut());
        })?;
        Ok(())
    }

    fn perform_request(&mut self, want: Request, tell: &mpsc::Sender<Answer>) -> io::Result<()> {
        match want {
            Request::Send(command) => self.handle.send(command),
            Request::ListAdmissible => {
                let (handle, tell) = (self.handle.clone(), tell.clone());
                tokio::spawn(async move {
                    // A screen that has gone needs no answer.
                    let _ = tell.send(Answer::Admissible(handle.admissible().await)).await;
                });
            }
            Request::ListAdmissibleAt(at) => {
                let (handle, tell) = (self.handle.clone(), tell.clone());
                tokio::spawn(async move {
                    let store = handle.store.clone();
                    // Of another line by now, the answer is one that nobody waits for.
                    let listed = handle.past_admissible(move || store.state_at(at.seq)).await;
                    let _ = tell.send(Answer::AdmissibleAt { at, actions: listed }).await;
                });
            }
            Request::Search { query: words, searched_episode: shown } => {
                self.search_episodes(words, shown, tell.clone());
            }
            Request::ListComparable | Request::Compare { .. } | Request::LoadPreceding { .. } => {
                self.run_comparison(want, tell.clone());
            }
            Request::Hint => {
                let (handle, tell) = (self.handle.clone(), tell.clone());
                tokio::spawn(async move {
                    let _ = tell.send(Answer::Hint(handle.hint().await)).await;
                });
            }
            Request::ListSessions => {
                let (listing, tell) =
                    (self.options.host.as_ref().map(|o| o.list_sessions.clone()), tell.clone());
                // Where the system gives no thread, a name can still be typed.
                let _ = std::thread::Builder::new().name("sessions".to_owned()).spawn(move || {
                    let sessions = listing.map_or_else(Vec::new, |list| list());
                    let _ = tell.blocking_send(Answer::Sessions(sessions));
                });
            }
            Request::ListModels(asked) => {
                let (run, tell) = (self.frame.head.run.clone(), tell.clone());
                let list = self.options.host.as_ref().map(|o| o.list_models.clone());
                // Where the system gives no thread, a name can still be typed.
                let _ = std::thread::Builder::new().name("models".to_owned()).spawn(move || {
                    let listed = match (list, run) {
                        (Some(list), Some(run)) => list(&(run, asked)),
                        _ => Err("no server is asked here".to_owned()),
                    };
                    let _ = tell.blocking_send(Answer::Models { role: asked, models: listed });
                });
            }
            Request::Fork(fork) => self.handle.send_fork(fork),
            Request::SwitchBranch(branch) => self.handle.send_switch(branch),
            Request::LoadBranches => self.load_branches(None, tell.clone()),
            Request::EditBranch(branch, change) => self.load_branches(Some((branch, change)), tell.clone()),
            Request::RetryWrite => self.handle.retry_write(),
            Request::CaptureMouse(on) => self.screen.capture_mouse(on)?,
            Request::NextTheme => self.switch_to_next_theme(),
            Request::Redraw => self.screen.clear()?,
            Request::Copy(text) => self.copy_text(&text)?,
            Request::Export => {
                let done = self.options.host.as_ref().map(|o| (o.export_report)(&self.handle.store));
                self.report_result(done, "the report is in ");
            }
            Request::OpenEditor(_)
            | Request::Suspend
            | Request::Quit
            | Request::Rerun(_)
            | Request::MoveCursor(_)
            | Request::SaveDraft { .. }
            | Request::SetMarkFilter(_)
            | Request::CompareWith(_)
            | Request::TeachOnFork { .. }
            | Request::AcceptAsLesson { .. }
            | Request::RunAction(_)
            | Request::ShowNotice(_) => {}
        }
        Ok(())
    }

    /// The theme after the present one in the list, and its name.
    fn switch_to_next_theme(&mut self) {
        let themes = &self.options.themes;
        let at = themes.iter().position(|(_, theme)| *theme == self.options.theme);
        let next = at.map_or(0, |at| (at + 1) % themes.len());
        if let Some((name, theme)) = themes.get(next) {
            self.options.theme = theme.clone();
            self.model.show_notice(format!("theme {name}"), Severity::Info, Instant::now().into_std());
        }
    }

    fn copy_text(&mut self, text: &str) -> io::Result<()> {
        crossterm::execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text))?;
        let done = self.options.host.as_ref().map(|o| (o.save_copy)(text));
        self.report_result(done, "copied, also to ");
        Ok(())
    }

    fn report_result(&mut self, done: Option<Result<String, String>>, before: &str) {
        let (text, tone) = match done {
            Some(Ok(place)) => (format!("{before}{place}"), Severity::Info),
            Some(Err(why)) => (why, Severity::Warning),
            None => ("this screen has no way to files".to_owned(), Severity::Warning),
        };
        self.model.show_notice(text, tone, Instant::now().into_std());
    }

    /// What needs the terminal for itself.
    fn with_terminal_released(&mut self, want: Request, answers: &mpsc::Sender<Answer>) -> io::Result<()> {
        match want {
            Request::Suspend => self.screen.suspend()?,
            Request::OpenEditor(text) => {
                self.screen.leave();
                let edited =
                    self.options.host.as_ref().map(|o| signals::lend_terminal(|| (o.edit_text)(&text)));
                self.screen.reenter()?;
                let text = match edited {
                    Some(Ok(text)) => text,
                    Some(Err(why)) => {
                        self.report_result(Some(Err(why)), "");
                        None
                    }
                    None => None,
                };
                // The queue holds several answers, and only one editor is open at a time.
                let _ = answers.try_send(Answer::Edited(text));
            }
            _ => {}
        }
        Ok(())
    }
}

fn make_context<'a>(options: &'a Options, moment: &'a FrameInput) -> Context<'a> {
    Context {
        frame: moment,
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
