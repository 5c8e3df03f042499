//! What there is to see: the state now, the state at the cursor, what is going on, and how it is to be painted.

use super::glyphs::Glyphs;
use super::keymap::{Action, Keymap};
use super::lane::{Lane, LaneFormat, lanes_for_method, visible_lane_count};
use super::model::{Cursor, Model};
use super::theme::Theme;
use crate::domain::{BranchId, ReflectionKind, Seq, Step};
use crate::driver::{Halt, Health, Live, Store};
use crate::engine::{Effect, Episode, State};
use crate::timeline::Timeline;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// Everything of the session that one frame shows, of one branch, one epoch and one last event. It is owned: drawing and
/// updating hold no lock of the driver. Cheap to clone.
#[derive(Clone)]
pub struct FrameInput {
    /// The state after the last event.
    pub head: Arc<State>,
    /// The state all panes show; the same as `head` in the present.
    pub displayed: Arc<State>,
    /// The state whose episode the story lists: the episode of `shown` as it is now, or as it ended.
    pub story: Arc<State>,
    /// What is going on just now.
    pub live: Arc<Live>,
    /// The events of the branch, for what the states don't hold.
    pub timeline: Timeline,
    /// The branch that all of this belongs to.
    pub branch: BranchId,
    /// The store's count of branch changes when this was taken.
    pub epoch: u64,
    cursor_seq: Option<Seq>,
    /// How many lanes of the method are shown.
    lane_count: usize,
}

/// Everything a view or an overlay may look at.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub frame: &'a FrameInput,
    /// The time, for seconds that run.
    pub now: Instant,
    /// The colours.
    pub theme: &'a Theme,
    /// The drawing characters.
    pub glyphs: &'a Glyphs,
    /// The keys.
    pub keymap: &'a Keymap,
}

impl Default for FrameInput {
    fn default() -> Self {
        Self {
            head: Arc::default(),
            displayed: Arc::default(),
            story: Arc::default(),
            live: Arc::default(),
            timeline: Timeline::default(),
            branch: BranchId::trunk(),
            epoch: 0,
            cursor_seq: None,
            lane_count: 0,
        }
    }
}

impl FrameInput {
    /// Brings the states up to date with the store and the cursor. A moment of the past is folded once.
    pub fn refresh(&mut self, store: &Store, cursor: Cursor) {
        self.live = Arc::new(store.live());
        let (timeline, branch, epoch) = store.branch_timeline();
        // On another branch the same event numbers mean other events.
        if epoch != self.epoch {
            (self.epoch, self.cursor_seq) = (epoch, None);
            self.story = Arc::default();
        }
        let head = timeline.head().clone();
        (self.timeline, self.branch) = (timeline, branch);
        if !Arc::ptr_eq(&head, &self.head) {
            self.head = head;
            let method = self.head.run.as_ref().map_or("", |r| r.method.as_str());
            self.lane_count = visible_lane_count(method, &self.head);
        }
        let Cursor::At(seq) = cursor else {
            self.displayed = self.head.clone();
            self.story = self.head.clone();
            self.cursor_seq = None;
            return;
        };
        if self.cursor_seq != Some(seq) {
            self.displayed = self.timeline.state_at(seq);
        }
        let episode = |state: &State| state.episode.as_ref().map_or(0, |e| e.number);
        let number = episode(&self.displayed);
        if number == episode(&self.head) {
            self.story = self.head.clone();
        } else {
            let ended = self.head.ended_episodes.iter().rev().find(|p| p.number == number);
            let end = ended.map_or(seq, |p| Seq(p.seq_range.1)).max(seq);
            if self.story.head != end {
                self.story = self.timeline.state_at(end);
            }
        }
        self.cursor_seq = Some(seq);
    }

    /// The cursor stands in the past.
    pub fn is_in_past(&self) -> bool {
        self.cursor_seq.is_some()
    }

    /// The chosen step: the last one of the moment shown; 0 before the first.
    pub fn selected_step(&self) -> u32 {
        self.displayed.episode.as_ref().map_or(0, |e| e.steps.len() as u32)
    }
}

impl<'a> Context<'a> {
    /// The state all panes show.
    pub fn displayed_state(&self) -> &'a State {
        &self.frame.displayed
    }

    /// The episode the story lists.
    pub fn episode(&self) -> Option<&'a Episode> {
        self.frame.story.episode.as_deref()
    }

    /// The lanes.
    pub fn lanes(&self) -> &'static [Lane] {
        let all = lanes_for_method(self.method());
        all.get(..self.frame.lane_count).unwrap_or(all)
    }

    /// The kinds of the method's own lanes.
    pub fn lesson_kinds(&self) -> Vec<ReflectionKind> {
        let mut kinds: Vec<ReflectionKind> = Vec::new();
        for lane in self.lanes().iter().filter(|l| l.format != LaneFormat::Other) {
            kinds.extend(lane.kinds.iter().filter(|k| !kinds.contains(k)).copied().collect::<Vec<_>>());
        }
        kinds
    }

    /// The name of the method.
    pub fn method(&self) -> &'a str {
        self.frame.head.run.as_ref().map_or("", |r| r.method.as_str())
    }

    /// A step of the listed episode by its number: up to the chosen one as it was at the moment shown, later ones as they
    /// came to be.
    pub fn step(&self, number: u32) -> Option<&'a Arc<Step>> {
        self.state_for_step(number).episode.as_deref()?.shared_step(number)
    }

    /// The state that tells what a step of the listed episode was.
    pub fn state_for_step(&self, number: u32) -> &'a State {
        let moment = self.frame;
        if moment.is_in_past() && number <= moment.selected_step() {
            &moment.displayed
        } else {
            &moment.story
        }
    }

    /// Advice in the words of the command line, with the key of the box where its settings are changed here.
    pub fn advice<'t>(&self, words: &'t str) -> Cow<'t, str> {
        match self.keymap.key_label(Action::ChangeModel).filter(|_| words.contains("--set ")) {
            Some(key) => Cow::Owned(words.replace("--set ", &format!("{key}: "))),
            None => Cow::Borrowed(words),
        }
    }

    /// A call to a model is under way.
    pub fn is_thinking(&self) -> bool {
        self.frame.head.calls.values().any(|c| matches!(c, Effect::Ask { .. }))
    }

    /// The session is only looked at: no wish is granted.
    pub fn is_read_only(&self) -> bool {
        self.frame.live.health == Health::ReadOnly
    }

    /// The driver has ended without having been told to: nothing will ever move here again.
    pub fn has_driver_died(&self) -> bool {
        self.frame.live.health == Health::Ended && !self.frame.head.closed
    }

    /// Why nothing moves and nothing can be saved, if it is so.
    pub fn halt_reason(&self) -> Option<&'a Halt> {
        match &self.frame.live.health {
            Health::Halted(why) => Some(why),
            Health::Running | Health::Ended | Health::ReadOnly => None,
        }
    }
}

impl FrameInput {
    /// The moment of a model's cursor in a store.
    pub fn for_model(store: &Store, model: &Model) -> Self {
        let mut moment = Self::default();
        moment.refresh(store, model.cursor);
        moment
    }
}
