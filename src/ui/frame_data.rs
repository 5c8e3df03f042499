//! What the views and overlays draw from: the current state, the state at the cursor, calls in flight, and colours
//! and keys.

use crate::catalog::{
    Lane, LessonForms, LessonReader, lanes_for_method, lesson_kinds, lesson_reader, visible_lane_count,
};
use crate::domain::{BranchId, Lesson, LessonId, MeasuredEffect, ReflectionKind, Seq, Step};
use crate::driver::{EnvWorkKind, Halt, Health, Live, Store};
use crate::engine::{Effect, Episode, State};
use crate::text::with_program_name;
use crate::timeline::{MemoryTimeline, ReadPast as _};
use crate::ui::glyphs::Glyphs;
use crate::ui::keymap::{Action, Keymap};
use crate::ui::theme::Theme;
use crate::ui::types::{Cursor, WORK_SHOWN_AFTER, WorkKind, WorkStatus};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// The session data of one frame; all but `live` from the same branch, epoch and last event. It is owned: drawing and
/// updating hold no lock of the driver. Cheap to clone.
#[derive(Clone)]
pub struct FrameData {
    /// The state after the last event.
    pub head: Arc<State>,
    /// The state all panes show; equal to `head` in the present.
    pub displayed: Arc<State>,
    /// The state whose episode the Story shows: the episode of `displayed` in its latest state, or as it ended.
    pub story: Arc<State>,
    /// Calls in flight and the driver's health.
    pub live: Arc<Live>,
    /// What of the branch's past is in memory, for what the states don't hold.
    pub timeline: MemoryTimeline,
    /// The branch that all of this belongs to.
    pub branch: BranchId,
    /// The store's count of branch changes when this was taken.
    pub epoch: u64,
    /// The work that runs beside the event loop.
    pub running_work: Vec<WorkStatus>,
    /// What was measured of the lessons, as far as it is in the logs of measurements.
    pub measured: MeasuredResults,
    /// Whether the screen is in stage mode, so that an overlay shows less, with more room.
    pub for_audience: bool,
    cursor_seq: Option<Seq>,
    /// Number of the method's lanes that are shown.
    lane_count: usize,
}

/// Results of measurements with the lessons that they are about, oldest first.
pub type MeasuredResults = Arc<[(LessonId, MeasuredEffect)]>;

/// Everything a view or an overlay may read.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub frame: &'a FrameData,
    /// The current time, for running clocks.
    pub now: Instant,
    pub theme: &'a Theme,
    pub glyphs: &'a Glyphs,
    pub keymap: &'a Keymap,
    /// Whether another window lies above the overlay that is drawn, so that its keys don't apply.
    pub is_covered: bool,
}

impl Default for FrameData {
    fn default() -> Self {
        Self {
            head: Arc::default(),
            displayed: Arc::default(),
            story: Arc::default(),
            live: Arc::default(),
            timeline: MemoryTimeline::default(),
            branch: BranchId::trunk(),
            epoch: 0,
            running_work: Vec::new(),
            measured: MeasuredResults::default(),
            for_audience: false,
            cursor_seq: None,
            lane_count: 0,
        }
    }
}

impl FrameData {
    /// Takes the data of a frame at a cursor.
    pub fn at(store: &Store, cursor: Cursor) -> Self {
        let mut frame = Self::default();
        frame.refresh(store, cursor);
        frame
    }

    /// Updates the states from the store and the cursor. The state at a past cursor is folded only once, and never read
    /// from a disk.
    pub fn refresh(&mut self, store: &Store, cursor: Cursor) {
        self.live = Arc::new(store.live());
        let (timeline, branch, epoch) = store.branch_timeline();
        // The same sequence numbers are other events on another branch.
        if epoch != self.epoch {
            (self.epoch, self.cursor_seq) = (epoch, None);
            self.story = Arc::default();
        }
        let head = timeline.head().clone();
        (self.timeline, self.branch) = (MemoryTimeline::new(timeline), branch);
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
            // The cursor moves only to states in memory. If one has been dropped since, the frame asks for it.
            match (self.timeline.state_at(seq), self.cursor_seq) {
                (Some(displayed), _) => (self.displayed, self.cursor_seq) = (displayed, Some(seq)),
                (None, Some(_)) => {}
                (None, None) => {
                    (self.displayed, self.story) = (self.head.clone(), self.head.clone());
                    return;
                }
            }
        }
        if let Some(story) = self.story_of(&self.displayed) {
            self.story = story;
        }
        self.displayed = self.displayed.with_remarks_of(&self.head);
        self.story = self.story.with_remarks_of(&self.head);
    }

    /// Returns whether the state after an event can be shown: it and the end of its episode are in memory.
    pub fn can_show(&self, seq: Seq) -> bool {
        self.timeline.state_at(seq).is_some_and(|displayed| self.story_of(&displayed).is_some())
    }

    /// Returns the state whose episode the Story shows beside a displayed state, if it is in memory.
    fn story_of(&self, displayed: &State) -> Option<Arc<State>> {
        let number = episode_number(displayed);
        if number == episode_number(&self.head) {
            return Some(self.head.clone());
        }
        let ended = self.head.ended_episodes.iter().rev().find(|p| p.number == number);
        let end = ended.map_or(displayed.head, |p| Seq(p.seq_range.1)).max(displayed.head);
        if self.story.head == end { Some(self.story.clone()) } else { self.timeline.state_at(end) }
    }

    /// Returns the same without what came after the cursor.
    pub fn without_future(&self) -> Self {
        Self { story: self.displayed.clone(), ..self.clone() }
    }

    /// Returns whether the cursor is in the past.
    pub fn is_in_past(&self) -> bool {
        self.cursor_seq.is_some()
    }

    /// Returns the running work of a kind.
    pub fn work(&self, kind: WorkKind) -> Option<&WorkStatus> {
        self.running_work.iter().find(|work| work.kind == kind)
    }

    /// Returns the selected step: the last step of the displayed state, or 0 before the first.
    pub fn selected_step(&self) -> u32 {
        self.displayed.episode.as_ref().map_or(0, |e| e.steps.len() as u32)
    }
}

/// Returns the number of a state's episode, 0 before the first.
fn episode_number(state: &State) -> u32 {
    state.episode.as_ref().map_or(0, |e| e.number)
}

impl<'a> Context<'a> {
    /// Returns the state all panes show.
    pub fn displayed_state(&self) -> &'a State {
        &self.frame.displayed
    }

    /// Returns the episode on screen: the one that the Story shows.
    pub fn episode(&self) -> Option<&'a Episode> {
        self.frame.story.episode.as_deref()
    }

    /// Returns the lanes that are shown.
    pub fn lanes(&self) -> &'static [Lane] {
        let all = lanes_for_method(self.method());
        all.get(..self.frame.lane_count).unwrap_or(all)
    }

    /// Returns the lesson kinds of the method's own lanes.
    pub fn lesson_kinds(&self) -> Vec<ReflectionKind> {
        lesson_kinds(self.method())
    }

    /// Returns the method's id, or an empty string before the run has begun.
    pub fn method(&self) -> &'a str {
        self.frame.head.run.as_ref().map_or("", |r| r.method.as_str())
    }

    /// Returns whether the run's method ever asks the actor, so whether steps have prompts.
    pub fn asks_actor(&self) -> bool {
        crate::catalog::asks_actor(self.method())
    }

    /// Returns the lessons that the actor of the episode on screen understands. `None` if it reads any sentence.
    pub fn lesson_forms(&self) -> Option<LessonForms> {
        let run = self.frame.head.run.as_deref()?;
        crate::catalog::lesson_forms(run, &self.episode()?.task.env)
    }

    /// Returns whether a lesson that a person wrote or changed teaches the actor nothing, because the rule-based one doesn't
    /// understand its words.
    pub fn is_ignored_lesson(&self, lesson: &Lesson) -> bool {
        lesson.edited_by_person
            && self.lesson_reader(lesson.kind) == LessonReader::Actor
            && self.lesson_forms().is_some_and(|forms| !forms.teach(lesson.text()))
    }

    /// Returns whose prompts show lessons of a kind.
    pub fn lesson_reader(&self, kind: ReflectionKind) -> LessonReader {
        lesson_reader(self.method(), kind)
    }

    /// Returns a step of the episode on screen by its number: up to the selected step as of the cursor, later steps as
    /// they turned out.
    pub fn step(&self, number: u32) -> Option<&'a Arc<Step>> {
        self.state_for_step(number).episode.as_deref()?.step_arc(number)
    }

    /// Returns the state that holds a step of the episode on screen; see [`Self::step`].
    pub fn state_for_step(&self, number: u32) -> &'a State {
        let frame = self.frame;
        if frame.is_in_past() && number <= frame.selected_step() { &frame.displayed } else { &frame.story }
    }

    /// Returns advice written for the command line with the program's name, with `--set` replaced by the key of the
    /// model dialog, where settings are changed on the screen, and with this key before the first `--base-url`.
    pub fn advice<'t>(&self, advice: &'t str) -> Cow<'t, str> {
        let named = with_program_name(advice);
        let has_flag = named.contains("--set ") || named.contains("--base-url");
        match self.keymap.key_label(Action::ChangeModel).filter(|_| has_flag) {
            Some(key) => Cow::Owned(named.replace("--set ", &format!("{key}: ")).replacen(
                "--base-url",
                &format!("{key}, or --base-url"),
                1,
            )),
            None => named,
        }
    }

    /// Returns the running work of a kind, if it takes long enough to be shown.
    pub fn long_work(&self, kind: WorkKind) -> Option<&'a WorkStatus> {
        let is_long = |work: &&WorkStatus| self.now.saturating_duration_since(work.since) >= WORK_SHOWN_AFTER;
        self.frame.work(kind).filter(is_long)
    }

    /// Returns what is being done for a person, followed by how much of the work is done, if that is known and it takes
    /// long.
    pub fn work_text(&self, what: &str, kind: WorkKind) -> String {
        match self.long_work(kind).and_then(|work| work.percent) {
            Some(percent) => format!("{what} {percent} %"),
            None => what.to_owned(),
        }
    }

    /// Returns the same as [`Self::work_text`], and how to cancel the work, if it takes long.
    pub fn cancellable_work_text(&self, what: &str, kind: WorkKind) -> String {
        let text = self.work_text(what, kind);
        match self.keymap.key_label(Action::Close).filter(|_| self.long_work(kind).is_some()) {
            Some(key) => format!("{text} ({key} cancels)"),
            None => text,
        }
    }

    /// Returns what was measured of a lesson, each measurement once: from the session, the pool file it came from, and the logs.
    pub fn measured_results(&self, lesson: &'a Lesson) -> Vec<&'a MeasuredEffect> {
        let logged = self.frame.measured.iter().filter(|(id, _)| *id == lesson.id).map(|(_, result)| result);
        MeasuredEffect::latest(lesson.measured.iter().chain(logged))
    }

    /// Returns whether a model call or a job is in flight.
    pub fn is_thinking(&self) -> bool {
        self.frame.head.calls.values().any(Effect::is_cancellable)
    }

    /// Returns for how many seconds the environment has been starting, being restored, or executing an action.
    pub fn env_work_seconds(&self) -> Option<u64> {
        let work = self.frame.live.env_work?;
        Some(self.now.saturating_duration_since(work.started).as_secs())
    }

    /// Returns whether the environment is being brought back to where the episode was. What is done within a second isn't shown.
    pub fn is_restoring_environment(&self) -> bool {
        let is_rebuild = self.frame.live.env_work.is_some_and(|work| work.kind == EnvWorkKind::Rebuild);
        is_rebuild && self.env_work_seconds() > Some(0)
    }

    /// Returns whether the session is read-only: commands are rejected.
    pub fn is_read_only(&self) -> bool {
        self.frame.live.health == Health::ReadOnly
    }

    /// Returns whether the driver stopped without closing the session, so that nothing will change any more.
    pub fn has_driver_died(&self) -> bool {
        self.frame.live.health == Health::Ended && !self.frame.head.closed
    }

    /// Returns why the driver halted (nothing can be saved), if it did.
    pub fn halt_reason(&self) -> Option<&'a Halt> {
        match &self.frame.live.health {
            Health::Halted(why) => Some(why),
            Health::Running | Health::Ended | Health::ReadOnly => None,
        }
    }
}
