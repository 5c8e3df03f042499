//! Writes the journals of pairs that are worth reading: each arm becomes a session of its own beside the log.

use super::starting_point::StartingPoint;
use crate::domain::{RunSpec, Seq};
use crate::driver::wall_clock_now;
use crate::engine::{Cause, Envelope, Event};
use crate::journal::{JournalError, Meta, Session, VERSION};
use std::path::Path;

/// Events that are read and written at once.
const CHUNK: usize = 1024;

/// Returns the name of the folder of an arm's journal, beside the log.
pub(super) fn journal_name(pair: u32, repeat: u32, arm: &str) -> String {
    match repeat {
        1 => format!("{pair}-{arm}"),
        _ => format!("{pair}.{repeat}-{arm}"),
    }
}

/// Writes the journal of an episode: the past up to the starting point, if that is within an episode, then its events.
/// Replaces a journal that a killed program left incomplete.
///
/// # Errors
/// Returns [`JournalError`] if a file can't be written, or if the past can't be read.
pub(super) fn write_journal(
    folder: &Path,
    name: &str,
    start: &StartingPoint,
    run: &RunSpec,
    events: &[Envelope],
) -> Result<(), JournalError> {
    let dir = folder.join(name);
    if dir.exists() {
        std::fs::remove_dir_all(&dir)
            .map_err(JournalError::io(&dir, "an incomplete journal could not be removed"))?;
    }
    let created = wall_clock_now();
    let meta = Meta {
        v: VERSION,
        session: name.to_owned(),
        created,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        env: run.tasks.first().map_or_else(String::new, |task| task.env.clone()),
        method: run.method.clone(),
        actor: run.actor.clone(),
        title: format!("measurement: {name}"),
        bookmark: None,
    };
    let (_, mut writer) = Session::create(folder, meta)?;
    if let StartingPoint::Moment(moment) = start {
        let at = moment.state.head;
        let mut chunk = Vec::new();
        for event in moment.past.iter_after(Seq(0)) {
            let event = event.map_err(|why| {
                JournalError::io(&dir, "the past could not be read")(std::io::Error::other(why))
            })?;
            if event.seq > at {
                break;
            }
            chunk.push((*event).clone());
            if chunk.len() >= CHUNK {
                writer.append(&chunk)?;
                chunk.clear();
            }
        }
        if !chunk.is_empty() {
            writer.append(&chunk)?;
        }
    }
    for part in events.chunks(CHUNK) {
        writer.append(part)?;
    }
    let last = events.last().map_or(Seq(0), |event| event.seq);
    writer.append(&[Envelope {
        seq: Seq(last.0 + 1),
        timestamp: created,
        cause: Cause::Policy,
        batch_continues: false,
        event: Event::Closed,
    }])
}
