//! `open`: look at a session or a report; nothing of it is changed.

use super::config::Config;
use super::error::CliError;
use super::locate::{self, Opened};
use super::out::Out;
use super::printer::{EventPrinter, Voice};
use super::watch::Shown;
use super::worlds::world_options;
use super::{args, screen, terminal, watch};
use crate::driver::{Handle, Health, Signal, Store};
use crate::engine::State;
use crate::journal::Follower;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// `open PATH`.
pub(super) fn open(config: &Config, args: &args::Open, out: Out) -> Result<(), CliError> {
    let opened = locate::open(config, args.path.as_deref())?;
    show(config, opened, args.follow, args.json, &args.screen, out)
}

/// Shows what was opened.
pub(super) fn show(
    config: &Config,
    opened: Opened,
    follow: bool,
    json: bool,
    look: &args::Screen,
    mut out: Out,
) -> Result<(), CliError> {
    let lacks = opened.lacks().filter(|_| !follow);
    if let Some(lacks) = &lacks {
        out.note(&format!("{}: {lacks}", opened.meta.session));
    }
    if let Some(at) = opened.at.filter(|_| !follow) {
        locate::there(opened.timeline.head(), at)?;
    }
    for passed in opened.passed_over()? {
        out.note(&passed);
    }
    let follower = opened.dir.as_ref().filter(|_| follow).map(|dir| {
        let file = crate::journal::branch_path(dir, &opened.branch.id);
        Follower::behind(&file, opened.whole, opened.timeline.head().head)
    });
    if !json && !look.plain && terminal() {
        let dir = opened.dir.clone();
        let at = opened.at;
        let store = Arc::new(Store::default());
        store.begin(opened.timeline, opened.branch.id);
        let (handle, inbox) = Handle::new(store.clone());
        // Nobody takes wishes: the session is only looked at.
        drop(inbox);
        store.edit_live(|live| live.health = Health::Reading);
        if let Some(lacks) = lacks {
            store.signal(Signal::Said(lacks));
        }
        if let Some(follower) = follower {
            follow_into(follower, store);
        }
        let dir = dir.unwrap_or_default();
        let shown = Shown { handle: &handle, thread: None, dir: &dir, at };
        return screen::show(config, shown, look, &mut out);
    }
    if !json && !look.plain {
        out.note("no terminal here: printing the transcript");
    }
    let voice = if json { Voice::Json } else { Voice::Transcript };
    let dir = opened.dir.clone().unwrap_or_default();
    let shared = Arc::new(Mutex::new(out));
    let mut teller = EventPrinter::new(voice, shared, &dir, None, world_options(config));
    opened.each(|envelope| teller.event(envelope))?;
    follower.map_or(Ok(()), |follower| follow_text(follower, &mut teller))
}

/// How often a followed file is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Tells what another program writes until it closes the session or a signal comes.
fn follow_text(mut follower: Follower, teller: &mut EventPrinter) -> Result<(), CliError> {
    let _guard = watch::guard_screen()?;
    watch::runtime()?.block_on(async {
        let stop = crate::signals::wait_for_signal();
        tokio::pin!(stop);
        loop {
            if teller.state.closed {
                return Ok(());
            }
            tokio::select! {
                _ = &mut stop => return Ok(()),
                () = tokio::time::sleep(LOOK) => {}
            }
            for envelope in &follower.news()? {
                teller.event(envelope)?;
            }
        }
    })
}

/// Keeps a store up to date with a file that another program writes.
fn follow_into(mut follower: Follower, store: Arc<Store>) {
    std::thread::spawn(move || {
        let mut state = State::clone(&store.head());
        loop {
            std::thread::sleep(LOOK);
            match follower.news() {
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
                    store.signal(Signal::Said(format!("no longer followed: {error}")));
                    return;
                }
            }
        }
    });
}
