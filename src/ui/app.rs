//! The loop: keys, news of the store, signals, and a clock that runs only while something moves.

mod beside;

use super::context::{Context, FrameInput};
use super::glyphs::{self, Glyphs};
use super::host_services::HostServices;
use super::keymap::Keymap;
use super::model::{Cursor, Hint, Model, Tone};
use super::msg::{Msg, Request};
use super::overlay::Answer;
use super::signals::Signals;
use super::terminal::Screen;
use super::theme::Theme;
use super::update;
use super::view::{self, BEAT_MILLIS, Scratch};
use super::wake::Wake;
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
const FRAME: Duration = Duration::from_millis(33);
/// Seconds that run are drawn this often.
const SECOND: Duration = Duration::from_secs(1);
/// The mark that turns while a model works is drawn this often.
const BEAT: Duration = Duration::from_millis(BEAT_MILLIS);

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
    pub mouse: bool,
    /// Marks may move while a model works.
    pub motion: bool,
    /// A newcomer is told what to press.
    pub hints: bool,
    /// What is shown opens at this moment.
    pub at: Cursor,
    /// Editor, files, reports; none: these keys say that there is none.
    pub outside: Option<HostServices>,
    /// The command that takes the session up again; none where nothing can be taken up.
    pub resume: Option<String>,
    /// The templates that the next prompt would be made of; none where they are not known.
    pub templates: Option<Arc<Templates>>,
    /// Models of the configuration, as they are written: `openai:MODEL profile NAME`.
    pub models: Arc<[String]>,
}

/// Why the screen was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The person quit.
    Quit,
    /// This episode is to be played again, in a session of its own.
    Rerun(u32),
    /// The terminal went away, or a signal ends the program.
    Gone,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            themes: Vec::new(),
            keymap: Keymap::default(),
            glyphs: glyphs::UNICODE,
            mouse: true,
            motion: true,
            hints: false,
            at: Cursor::Live,
            outside: None,
            resume: None,
            templates: None,
            models: Arc::default(),
        }
    }
}

/// What the loop holds.
struct App {
    handle: Handle,
    options: Options,
    model: Model,
    moment: FrameInput,
    scratch: Scratch,
    screen: Screen,
    /// The number of the search that is wanted; an older one stops.
    search: Arc<AtomicU64>,
}

/// Shows a session until the person leaves it. Prints nothing; the terminal is given back before it returns.
///
/// # Errors
/// When the terminal cannot be used.
pub async fn run(handle: Handle, options: Options) -> io::Result<Exit> {
    let mut screen = Screen::enter()?;
    screen.capture_mouse(options.mouse)?;
    let mut model = Model {
        mouse: options.mouse,
        still: !options.motion,
        cursor: options.at,
        resume: options.resume.clone(),
        templates: options.templates.clone(),
        models: options.models.clone(),
        ..Model::default()
    };
    model.hint = if options.hints { Hint::Step } else { Hint::None };
    model.size = crossterm::terminal::size().unwrap_or((80, 24));
    let (moment, scratch) = (FrameInput::default(), Scratch::default());
    let search = Arc::default();
    match (App { handle, options, model, moment, scratch, screen, search }).run().await {
        // What is written to a terminal that has gone fails before anything else says so.
        Err(error) if is_gone(&error) => Ok(Exit::Gone),
        left => left,
    }
}

/// The error of a terminal that has gone.
pub(super) fn is_gone(error: &io::Error) -> bool {
    const EIO: i32 = 5;
    error.kind() == io::ErrorKind::BrokenPipe || cfg!(unix) && error.raw_os_error() == Some(EIO)
}

impl App {
    async fn run(mut self) -> io::Result<Exit> {
        let mut events = EventStream::new();
        let mut news = self.handle.store.changes();
        let mut signals = Signals::new()?;
        let (tell, mut told) = mpsc::channel::<Answer>(4);
        self.moment.refresh(&self.handle.store, self.model.cursor);
        self.model.carded = update::ended(&look(&self.handle, &self.options, &self.moment));
        for want in self.handled(Msg::News) {
            self.grant(want, &tell)?;
        }
        // How many branches there are decides whether the screen names them.
        self.branches(None, tell.clone());
        self.draw()?;
        let mut drawn = Instant::now();
        let mut stale = false;
        loop {
            let due = self.due(drawn, stale);
            let wake = tokio::select! {
                biased;
                event = events.next() => match event {
                    Some(Ok(event)) => Wake::Terminal(event),
                    Some(Err(error)) => return Err(error),
                    None => Wake::Gone,
                },
                signal = signals.next() => signal,
                Some(answer) = told.recv() => Wake::Answer(answer),
                () = sleep_until(due.unwrap_or(drawn)), if due.is_some() => Wake::Tick,
                changed = news.changed(), if !stale => match changed {
                    Ok(()) => Wake::News,
                    Err(_) => Wake::Gone,
                },
            };
            let mut now = true;
            let wants = match wake {
                Wake::Gone => return Ok(Exit::Gone),
                Wake::Terminal(event) => match message(event) {
                    Some(msg) => self.handled(msg),
                    None => continue,
                },
                Wake::Answer(answer) => self.handled(Msg::Answer(answer)),
                Wake::Tick => {
                    stale = false;
                    self.handled(Msg::Tick)
                }
                Wake::Stopped => vec![Request::Suspend],
                Wake::Continued => {
                    // Whoever stopped us may have changed the terminal behind our back: it is taken anew.
                    self.screen.leave();
                    self.screen.reenter()?;
                    Vec::new()
                }
                Wake::News => {
                    // The news waits until a frame is due; until then nothing else is looked at.
                    now = drawn.elapsed() >= FRAME;
                    stale = !now;
                    if now { self.handled(Msg::News) } else { Vec::new() }
                }
            };
            for want in wants {
                match want {
                    Request::Quit => return Ok(Exit::Quit),
                    Request::Rerun(number) => return Ok(Exit::Rerun(number)),
                    _ => {}
                }
                if want == Request::Suspend || matches!(want, Request::Editor(_)) {
                    // The stream reads the terminal in a thread of its own; it must not while another program has it.
                    drop(events);
                    self.outside(want, &tell)?;
                    events = EventStream::new();
                } else {
                    self.grant(want, &tell)?;
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
    fn due(&self, drawn: Instant, stale: bool) -> Option<Instant> {
        let frame = stale.then(|| drawn + FRAME);
        let moving = !self.moment.live.calls.is_empty() && self.moment.live.health == Health::Running;
        let second = moving.then(|| drawn + if self.model.still { SECOND } else { BEAT });
        let notice = self.model.notice.as_ref().map(|n| Instant::from_std(n.until));
        [frame, second, notice].into_iter().flatten().min()
    }

    fn handled(&mut self, msg: Msg) -> Vec<Request> {
        self.moment.refresh(&self.handle.store, self.model.cursor);
        let Self { handle, options, model, moment, scratch, .. } = self;
        update::update(model, &look(handle, options, moment), scratch, msg)
    }

    fn draw(&mut self) -> io::Result<()> {
        self.moment.refresh(&self.handle.store, self.model.cursor);
        self.screen.regain()?;
        let Self { handle, options, model, moment, scratch, screen, .. } = self;
        let look = look(handle, options, moment);
        screen.terminal.draw(|frame| {
            let area = frame.area();
            model.size = (area.width, area.height);
            view::draw(model, &look, scratch, frame.buffer_mut());
        })?;
        Ok(())
    }

    fn grant(&mut self, want: Request, tell: &mpsc::Sender<Answer>) -> io::Result<()> {
        match want {
            Request::Send(command) => self.handle.send(command),
            Request::Admissible => {
                let (handle, tell) = (self.handle.clone(), tell.clone());
                tokio::spawn(async move {
                    // A screen that has gone needs no answer.
                    let _ = tell.send(Answer::Admissible(handle.admissible().await)).await;
                });
            }
            Request::AdmissibleThen(at) => {
                let (handle, tell) = (self.handle.clone(), tell.clone());
                tokio::spawn(async move {
                    let store = handle.store.clone();
                    // Of another line by now, the answer is one that nobody waits for.
                    let listed = handle.admissible_then(move || store.state_at(at.at)).await;
                    let _ = tell.send(Answer::AdmissibleThen { at, listed }).await;
                });
            }
            Request::Find { words, shown } => self.find(words, shown, tell.clone()),
            Request::Others | Request::Compare { .. } | Request::Precede { .. } => {
                self.side_by_side(want, tell.clone());
            }
            Request::Hint => {
                let (handle, tell) = (self.handle.clone(), tell.clone());
                tokio::spawn(async move {
                    let _ = tell.send(Answer::Hint(handle.hint().await)).await;
                });
            }
            Request::Sessions => {
                let (listing, tell) =
                    (self.options.outside.as_ref().map(|o| o.sessions.clone()), tell.clone());
                // Where the system gives no thread, a name can still be typed.
                let _ = std::thread::Builder::new().name("sessions".to_owned()).spawn(move || {
                    let sessions = listing.map_or_else(Vec::new, |list| list());
                    let _ = tell.blocking_send(Answer::Sessions(sessions));
                });
            }
            Request::Models(asked) => {
                let (run, tell) = (self.moment.head.run.clone(), tell.clone());
                let list = self.options.outside.as_ref().map(|o| o.models.clone());
                // Where the system gives no thread, a name can still be typed.
                let _ = std::thread::Builder::new().name("models".to_owned()).spawn(move || {
                    let listed = match (list, run) {
                        (Some(list), Some(run)) => list(&(run, asked)),
                        _ => Err("no server is asked here".to_owned()),
                    };
                    let _ = tell.blocking_send(Answer::Models { asked, listed });
                });
            }
            Request::Fork(fork) => self.handle.send_fork(fork),
            Request::Switch(branch) => self.handle.send_switch(branch),
            Request::Branches => self.branches(None, tell.clone()),
            Request::Relabel(branch, change) => self.branches(Some((branch, change)), tell.clone()),
            Request::RetryWrite => self.handle.retry_write(),
            Request::Mouse(on) => self.screen.capture_mouse(on)?,
            Request::NextTheme => self.next_theme(),
            Request::Redraw => self.screen.clear()?,
            Request::Copy(text) => self.copy(&text)?,
            Request::Export => {
                let done = self.options.outside.as_ref().map(|o| (o.export)(&self.handle.store));
                self.tell(done, "the report is in ");
            }
            Request::Editor(_)
            | Request::Suspend
            | Request::Quit
            | Request::Rerun(_)
            | Request::Go(_)
            | Request::Keep { .. }
            | Request::Marks(_)
            | Request::Beside(_)
            | Request::Teach { .. }
            | Request::Accept { .. }
            | Request::Do(_)
            | Request::Say(_) => {}
        }
        Ok(())
    }

    /// The theme after the present one in the list, and its name.
    fn next_theme(&mut self) {
        let themes = &self.options.themes;
        let at = themes.iter().position(|(_, theme)| *theme == self.options.theme);
        let next = at.map_or(0, |at| (at + 1) % themes.len());
        if let Some((name, theme)) = themes.get(next) {
            self.options.theme = theme.clone();
            self.model.say(format!("theme {name}"), Tone::Told, Instant::now().into_std());
        }
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        crossterm::execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text))?;
        let done = self.options.outside.as_ref().map(|o| (o.keep)(text));
        self.tell(done, "copied, also to ");
        Ok(())
    }

    fn tell(&mut self, done: Option<Result<String, String>>, before: &str) {
        let (text, tone) = match done {
            Some(Ok(place)) => (format!("{before}{place}"), Tone::Told),
            Some(Err(why)) => (why, Tone::Refused),
            None => ("this screen has no way to files".to_owned(), Tone::Refused),
        };
        self.model.say(text, tone, Instant::now().into_std());
    }

    /// What needs the terminal for itself.
    fn outside(&mut self, want: Request, answers: &mpsc::Sender<Answer>) -> io::Result<()> {
        match want {
            Request::Suspend => self.screen.suspend()?,
            Request::Editor(text) => {
                self.screen.leave();
                let edited =
                    self.options.outside.as_ref().map(|o| signals::lend_terminal(|| (o.edit)(&text)));
                self.screen.reenter()?;
                let text = match edited {
                    Some(Ok(text)) => text,
                    Some(Err(why)) => {
                        self.tell(Some(Err(why)), "");
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

fn look<'a>(handle: &'a Handle, options: &'a Options, moment: &'a FrameInput) -> Context<'a> {
    Context {
        store: &handle.store,
        moment,
        now: Instant::now().into_std(),
        theme: &options.theme,
        glyphs: &options.glyphs,
        keymap: &options.keymap,
    }
}

fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) => Some(Msg::Key(key)),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Mouse(event) => Some(Msg::Mouse(event)),
        Event::Resize(columns, rows) => Some(Msg::Resize(columns, rows)),
        Event::FocusGained | Event::FocusLost => None,
    }
}
