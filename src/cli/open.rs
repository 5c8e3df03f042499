//! `open`: shows a session or a report, read-only.

use super::config::Config;
use super::error::CliError;
use super::headless::ScreenSession;
use super::locate::{self, OpenedSession};
use super::output::Output;
use super::printer::{EventPrinter, PrintMode};
use super::worlds::world_options;
use super::{args, can_show_screen, headless, screen};
use crate::driver::{Handle, Health, Signal, Store};
use crate::engine::State;
use crate::journal::Follower;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Runs `open PATH`.
pub(super) fn open(config: &Config, args: &args::Open, out: Output) -> Result<(), CliError> {
    let opened = locate::open_session(config, args.path.as_deref())?;
    show_session(config, opened, args.follow, args.json, &args.screen, out)
}

/// Shows an opened session on the screen, or prints it if there is no terminal.
pub(super) fn show_session(
    config: &Config,
    opened: OpenedSession,
    follow: bool,
    json: bool,
    flags: &args::ScreenArgs,
    mut out: Output,
) -> Result<(), CliError> {
    let missing_events = opened.missing_summary().filter(|_| !follow);
    if let Some(message) = &missing_events {
        out.print_note(&format!("{}: {message}", opened.meta.session));
    }
    if let Some(at) = opened.position.filter(|_| !follow) {
        locate::check_position(opened.timeline.head(), at)?;
    }
    for message in opened.skipped_branches()? {
        out.print_note(&message);
    }
    let follower = opened.dir.as_ref().filter(|_| follow).map(|dir| {
        let file = crate::journal::branch_path(dir, &opened.branch.id);
        Follower::new(&file, opened.bytes_read, opened.timeline.head().head)
    });
    if !json && !flags.plain && can_show_screen() {
        let dir = opened.dir.clone();
        let (at, demo, is_demo) = (opened.position, opened.demo, opened.is_demo);
        let store = Arc::new(Store::default());
        store.set_timeline(opened.timeline, opened.branch.id);
        let (handle, inbox) = Handle::new(store.clone());
        // The session is read-only: nobody receives commands.
        drop(inbox);
        store.edit_live(|live| live.health = Health::ReadOnly);
        if let Some(message) = missing_events {
            store.signal(Signal::Notice(message));
        }
        if let Some(follower) = follower {
            store.edit_live(|live| live.is_followed = true);
            update_store(follower, store);
        }
        let dir = dir.unwrap_or_default();
        let shown = ScreenSession { handle: &handle, thread: None, dir: &dir, demo, is_demo, position: at };
        return screen::show_session(config, shown, flags, &mut out);
    }
    if !json && !flags.plain {
        out.print_note("no terminal here: printing the transcript");
    }
    let mode = if json { PrintMode::Json } else { PrintMode::Transcript };
    let dir = opened.dir.clone().unwrap_or_default();
    let shared = Arc::new(Mutex::new(out));
    let mut printer = EventPrinter::new(mode, shared, &dir, None, world_options(config));
    opened.for_each_event(|envelope| printer.print_event(envelope))?;
    follower.map_or(Ok(()), |follower| print_followed(follower, &mut printer))
}

/// How often to check a followed file for new events.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Prints what another program writes until it closes the session or a signal arrives.
fn print_followed(mut follower: Follower, printer: &mut EventPrinter) -> Result<(), CliError> {
    // Makes a signal end the loop below instead of the process.
    let _guard = headless::guard_screen_signals()?;
    headless::new_runtime()?.block_on(async {
        let end_signal = crate::signals::wait_for_signal();
        tokio::pin!(end_signal);
        loop {
            if printer.state.closed {
                return Ok(());
            }
            tokio::select! {
                _ = &mut end_signal => return Ok(()),
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
            for envelope in &follower.read_new_events()? {
                printer.print_event(envelope)?;
            }
        }
    })
}

/// Keeps a store up to date with a file that another program writes.
fn update_store(mut follower: Follower, store: Arc<Store>) {
    std::thread::spawn(move || {
        let mut state = State::clone(&store.head());
        loop {
            std::thread::sleep(POLL_INTERVAL);
            match follower.read_new_events() {
                Ok(events) if events.is_empty() => {}
                Ok(events) => {
                    for envelope in &events {
                        state.apply(envelope);
                    }
                    store.append(events, Arc::new(state.clone()));
                    if state.closed {
                        return;
                    }
                }
                Err(error) => {
                    store.signal(Signal::Notice(format!("stopped following: {error}")));
                    return;
                }
            }
        }
    });
}
