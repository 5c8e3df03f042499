//! The chapters of a demo: parts of a recorded session, each with a caption.

use crate::domain::Seq;
use crate::engine::State;
use crate::report::StepRef;
use crate::ui::effect::EffectProgress;
use crate::ui::frame_data::Context;
use crate::ui::playback::Speed;
use crate::ui::types::PtrEqArc;
use std::collections::BTreeMap;
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

/// Returns the chapters of a session that has none of its own: the first begins with the goal, the others with a person's
/// remarks, which are their captions.
pub fn remark_chapters(head: &State) -> Vec<Chapter> {
    let open = head.episode.as_deref().map(|episode| (episode.number, &episode.task));
    let ended = head.ended_episodes.iter().map(|ended| (ended.number, &ended.task));
    let mut captions: BTreeMap<StepRef, String> = BTreeMap::new();
    for remark in &head.remarks {
        let caption = captions.entry(StepRef { episode: remark.episode, step: remark.step }).or_default();
        caption.push_str(if caption.is_empty() { "" } else { " " });
        caption.push_str(&remark.text);
    }
    if let Some((episode, task)) = ended.chain(open).next() {
        let start = captions.entry(StepRef { episode, step: 0 });
        start.or_insert_with(|| if task.goal.is_empty() { task.id.clone() } else { task.goal.clone() });
    }
    let chapter = |(at, text)| Chapter { at, text, pace: 1, measurement: None, position: None };
    captions.into_iter().map(chapter).collect()
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
