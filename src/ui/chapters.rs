//! The chapters of a demo: parts of a recorded session, each with a caption.

use crate::domain::Seq;
use crate::report::StepRef;
use crate::ui::effect::EffectProgress;
use crate::ui::frame_data::Context;
use crate::ui::playback::Speed;
use crate::ui::types::PtrEqArc;
use std::time::Duration;

/// How long the panel of a measurement is shown at least, however fast the session plays: it is what a demo leads up to.
const MIN_PANEL_TIME: Duration = Duration::from_secs(4);

/// A part of a demo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// Where it begins.
    pub at: StepRef,
    /// Its caption.
    pub text: String,
    /// How many times faster than others the steps play that have no caption.
    pub pace: u32,
    /// The stored measurement whose panel is shown where it begins.
    pub measurement: Option<PtrEqArc<EffectProgress>>,
    /// The event at which the measurement was asked for, if that is before the step's last event, with the latter: what came later
    /// is for the next chapter.
    pub position: Option<(Seq, Seq)>,
}

/// Returns the event whose state is shown for a position: in the step of a measurement, the one at which it was asked for.
pub fn shown_position(chapters: &[Chapter], seq: Seq) -> Seq {
    let positions = chapters.iter().filter_map(|chapter| chapter.position);
    positions
        .filter(|(asked, last)| (*asked..=*last).contains(&seq))
        .map(|(asked, _)| asked)
        .next()
        .unwrap_or(seq)
}

/// Returns the step that all panes show.
pub fn shown_step(context: &Context<'_>) -> StepRef {
    let episode = context.episode().map_or(0, |episode| episode.number);
    StepRef { episode, step: context.frame.selected_step() }
}

/// Returns how long playback shows a step: long enough to read the caption that begins there, and the panel of a measurement.
pub fn display_time(chapters: &[Chapter], speed: Speed, step: StepRef) -> Duration {
    match chapters.iter().find(|chapter| chapter.at == step) {
        Some(chapter) if chapter.measurement.is_some() => {
            (speed.reading_time(&chapter.text) * 2).max(MIN_PANEL_TIME)
        }
        Some(chapter) => speed.reading_time(&chapter.text),
        None => {
            let chapter = chapter_of(chapters, step).and_then(|index| chapters.get(index));
            speed.delay() / chapter.map_or(1, |chapter| chapter.pace.max(1))
        }
    }
}

/// Returns the index of the chapter that a step belongs to, or `None` before the first. `chapters` are in the order of
/// their steps.
pub fn chapter_of(chapters: &[Chapter], step: StepRef) -> Option<usize> {
    chapters.partition_point(|chapter| chapter.at <= step).checked_sub(1)
}

/// Returns where the previous (`by` = -1) or next (1) chapter begins, seen from a step.
pub fn neighbour(chapters: &[Chapter], step: StepRef, by: i64) -> Option<StepRef> {
    let found = if by < 0 {
        chapters.iter().rev().find(|chapter| chapter.at < step)
    } else {
        chapters.iter().find(|chapter| chapter.at > step)
    };
    found.map(|chapter| chapter.at)
}
