//! Loads the parts of the past that frames lack.

use super::workers::Workers;
use crate::timeline::PastPart;
use crate::ui::msg::{PastLoad, Request, UiMessage};
use crate::ui::types::WorkKind;
use crossterm::event::MouseEventKind;
use std::time::Instant;

/// What frames have asked to load on a branch since the last input. A part that could not be loaded isn't loaded again until
/// then.
#[derive(Default)]
pub(super) struct FramePast {
    /// The store's epoch that the parts belong to.
    epoch: u64,
    asked_for: Vec<PastPart>,
}

impl FramePast {
    /// Allows all parts to be loaded again if a person did something.
    pub(super) fn on_message(&mut self, msg: &UiMessage) {
        let is_input = match msg {
            UiMessage::Key(_) | UiMessage::Paste(_) => true,
            UiMessage::Mouse(event) => event.kind != MouseEventKind::Moved,
            _ => false,
        };
        if is_input {
            self.asked_for.clear();
        }
    }

    /// Returns a request that loads what the current frame lacks, unless it has been asked for or a load is running. A load
    /// for another branch is cancelled: a disk that doesn't answer there must not delay this one.
    pub(super) fn load_missing(
        &mut self,
        workers: &mut Workers,
        epoch: u64,
        mut parts: Vec<PastPart>,
    ) -> Option<Request> {
        if self.epoch != epoch {
            *self = Self { epoch, asked_for: Vec::new() };
            workers.cancel(WorkKind::FramePast);
        }
        parts.retain(|part| !self.asked_for.contains(part));
        if parts.is_empty() || workers.is_running(WorkKind::FramePast) {
            return None;
        }
        self.asked_for.extend(&parts);
        Some(Request::LoadPast(PastLoad { since: Instant::now(), epoch, parts, then: None }))
    }
}
