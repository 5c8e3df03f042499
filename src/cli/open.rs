//! `open`: look at a session or a report; nothing of it is changed.

use super::config::Config;
use super::fault::Fault;
use super::out::Out;
use super::place::{self, Opened};
use super::tell::{Teller, Voice};
use super::watch::Shown;
use super::{args, screen, setup, terminal, watch};
use crate::driver::{Handle, Health, Store};
use crate::engine::Event;
use crate::journal::{fold, read_branch};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// `open PATH`.
pub(super) fn open(config: &Config, args: &args::Open, out: Out) -> Result<(), Fault> {
    let opened = place::open(config, args.path.as_deref())?;
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
) -> Result<(), Fault> {
    if let Some(torn) = &opened.torn
        && !follow
    {
        out.note(&format!("{}: {torn}", opened.meta.session));
    }
    if !json && !look.plain && terminal() {
        let dir = opened.dir.clone();
        let at = opened.at;
        let store = Arc::new(Store::default());
        *store.timeline() = opened.timeline;
        let (handle, inbox) = Handle::new(store.clone());
        // Nobody takes wishes: the session is only looked at.
        drop(inbox);
        store.edit_live(|live| live.health = Health::Reading);
        if let (true, Some(dir)) = (follow, &dir) {
            follow_into(dir.clone(), store);
        }
        let dir = dir.unwrap_or_default();
        let shown = Shown { handle: &handle, thread: None, dir: &dir, at, breaks: &[] };
        return screen::show(config, shown, look, &mut out);
    }
    if !json && !look.plain {
        out.note("no terminal here: printing the transcript");
    }
    let voice = if json { Voice::Json } else { Voice::Transcript };
    let dir = opened.dir.clone().unwrap_or_default();
    let shared = Arc::new(Mutex::new(out));
    let mut teller = Teller::new(voice, shared, &dir, None, setup::world_options(config));
    for envelope in &opened.events() {
        teller.event(envelope)?;
    }
    match (&opened.dir, follow) {
        (Some(dir), true) => follow_text(dir, &mut teller),
        _ => Ok(()),
    }
}

/// How often a followed file is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Tells what another program writes until it closes the session or a signal comes.
fn follow_text(dir: &std::path::Path, teller: &mut Teller) -> Result<(), Fault> {
    let trunk = crate::journal::branch_path(dir, &crate::domain::BranchId::trunk());
    watch::runtime()?.block_on(async {
        let stop = watch::interrupted();
        tokio::pin!(stop);
        let mut known = 0;
        loop {
            if teller.state.closed {
                return Ok(());
            }
            tokio::select! {
                () = &mut stop => return Ok(()),
                () = tokio::time::sleep(LOOK) => {}
            }
            let len = std::fs::metadata(&trunk).map_or(0, |m| m.len());
            if len == known {
                continue;
            }
            known = len;
            let branch = read_branch(&trunk)?;
            let told = teller.state.head;
            for envelope in branch.events.iter().filter(|e| e.seq > told) {
                teller.event(envelope)?;
            }
        }
    })
}

/// Keeps a store up to date with a file that another program writes.
fn follow_into(dir: PathBuf, store: Arc<Store>) {
    std::thread::spawn(move || {
        let trunk = crate::journal::branch_path(&dir, &crate::domain::BranchId::trunk());
        let mut known = 0;
        loop {
            std::thread::sleep(LOOK);
            let len = std::fs::metadata(&trunk).map_or(0, |m| m.len());
            if len == known {
                continue;
            }
            known = len;
            // A file that cannot be read just now is read at its next change.
            let Ok(branch) = read_branch(&trunk) else { continue };
            let head = store.head().head;
            let fresh: Vec<_> = branch.events.iter().filter(|e| e.seq > head).cloned().collect();
            let closed = fresh.iter().any(|e| matches!(e.event, Event::Closed));
            if !fresh.is_empty() {
                let state = fold(branch.events).head().clone();
                store.append(fresh, state);
            }
            if closed {
                break;
            }
        }
    });
}
