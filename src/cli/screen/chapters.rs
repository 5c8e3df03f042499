//! The chapters of a demo, or of a session that is played as one, and where they begin.

use super::stored_measurement;
use crate::cli::bounded;
use crate::cli::error::{CliError, CliErrorKind};
use crate::cli::shipped_demos::{self, Guide, ShippedDemo};
use crate::domain::Seq;
use crate::engine::State;
use crate::report::StepRef;
use crate::timeline::Timeline;
use crate::timeline::effect::EffectLog;
use crate::ui::chapters::{Chapter, remark_chapters};
use crate::ui::effect::EffectProgress;
use crate::ui::types::PtrEqArc;
use std::path::Path;
use std::sync::Arc;

/// Returns the captions of a demo, or of a session that is played as one: those of a file like a demo's in its folder, else its
/// remarks. `dir` is empty if it has no folder.
pub(super) fn captions(
    dir: &Path,
    demo: Option<&ShippedDemo>,
    head: &State,
) -> Result<Vec<Chapter>, CliError> {
    if let Some(demo) = demo {
        return chapters_of(demo);
    }
    let file = dir.join("chapters.toml");
    let text = if dir.as_os_str().is_empty() { None } else { Some(bounded::read_text(&file)) };
    match text {
        Some(Ok(text)) => {
            let guide = Guide::parse(&text).map_err(|message| {
                CliError::new(
                    CliErrorKind::Session,
                    format!("{}: {message}", file.display()),
                    "correct it, or remove it to have the remarks as captions",
                )
            })?;
            guide_chapters(guide, &|effect| stored_measurement::log_in_folder(dir, effect))
        }
        Some(Err(e)) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(CliError::file(&file, "the captions could not be read", &e))
        }
        _ => Ok(remark_chapters(head)),
    }
}

fn chapters_of(demo: &ShippedDemo) -> Result<Vec<Chapter>, CliError> {
    let find_log = |effect: &str| {
        demo.log(effect).ok_or_else(|| "not shipped".to_owned()).and_then(stored_measurement::log_from_text)
    };
    guide_chapters(demo.guide()?, &find_log)
}

/// Returns the chapters of a guide, with the measurements that they show.
fn guide_chapters(
    guide: Guide,
    find_log: &dyn Fn(&str) -> Result<EffectLog, String>,
) -> Result<Vec<Chapter>, CliError> {
    let measurement = |effects: &[String]| -> Result<Option<PtrEqArc<EffectProgress>>, CliError> {
        if effects.is_empty() {
            return Ok(None);
        }
        let logs: Result<Vec<EffectLog>, String> = effects.iter().map(|effect| find_log(effect)).collect();
        let stored = logs.and_then(stored_measurement::stored_measurement).map_err(|reason| {
            CliError::new(
                CliErrorKind::Session,
                format!("chapters.toml: measurement {}: {reason}", effects.join(", ")),
                "name measurements whose logs are in the folder effects",
            )
        })?;
        Ok(Some(PtrEqArc(Arc::new(stored))))
    };
    let chapter = |chapter: shipped_demos::Chapter| {
        Ok(Chapter {
            at: chapter.at,
            measurement: measurement(&chapter.measurement)?,
            text: chapter.text,
            pace: chapter.pace,
            position: None,
        })
    };
    guide.chapters.into_iter().map(chapter).collect()
}

/// Sets the positions of the chapters that show a measurement of their own step.
pub(super) fn place_chapters(chapters: &mut [Chapter], timeline: &Timeline) {
    for chapter in chapters {
        let stored = chapter.measurement.as_ref().and_then(|stored| stored.0.columns.first());
        let Some(asked) = stored.and_then(|column| column.plan().asked.as_ref()) else { continue };
        let state = timeline.state_at(asked.seq);
        let is_of_step = state.episode.as_deref().is_some_and(|episode| {
            (episode.number, episode.steps.len() as u32) == (chapter.at.episode, chapter.at.step)
        });
        let last = last_event_of_step(timeline, chapter.at).filter(|_| is_of_step);
        chapter.position = last.map(|last| (asked.seq, last));
    }
}

/// Returns the last event of a step, before the next prompt, where all of the step is visible.
pub(super) fn last_event_of_step(timeline: &Timeline, at: StepRef) -> Option<Seq> {
    let head = timeline.head();
    let ended = head.ended_episodes.iter().find(|p| p.number == at.episode).map(|p| p.seq_range.0);
    let open = head.episode.as_ref().filter(|e| e.number == at.episode).map(|e| e.first_seq.0);
    let number = |state: &State| state.episode.as_ref().map_or(0, |e| e.number);
    // Skip the events before the episode, unless its summary has the wrong start.
    let before = ended.or(open).and_then(|first| first.checked_sub(1)).map(|seq| timeline.state_at(Seq(seq)));
    let before = before.filter(|state| number(state) < at.episode).unwrap_or_default();
    let steps = steps_after(timeline, State::clone(&before)).take_while(|(step, _)| *step <= at);
    steps.filter(|(step, _)| *step == at).last().map(|(_, seq)| seq)
}

/// Folds the events after a state; returns for each event of an episode the step that it belongs to, step 0 being the start, and the
/// event's sequence number.
pub(super) fn steps_after(timeline: &Timeline, mut state: State) -> impl Iterator<Item = (StepRef, Seq)> {
    const CHUNK: u64 = 1024;
    let mut batch = Vec::new().into_iter();
    std::iter::from_fn(move || {
        loop {
            let Some(envelope) = batch.next() else {
                batch = timeline.events_between(state.head, Seq(state.head.0 + CHUNK)).into_iter();
                if batch.as_slice().is_empty() {
                    return None;
                }
                continue;
            };
            state.apply(&envelope);
            if let Some(episode) = state.episode.as_deref() {
                let step = StepRef { episode: episode.number, step: episode.steps.len() as u32 };
                return Some((step, envelope.seq));
            }
        }
    })
}
