//! What the screen itself knows. All else it reads from the state.

use super::branches::BranchInfo;
use super::lane::Lane;
use super::layout::{Arrangement, Pane};
use super::mark::MarkFilter;
use super::overlay::{LessonDraft, Overlay};
use super::update::BranchEditHistory;
use super::view::timeline_bar::StepRuler;
use crate::domain::{BranchId, LessonId, ReflectionKind, Seq};
use crate::prompt::Templates;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The pane that has the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Focus {
    /// Story, or Thoughts & actions.
    #[default]
    Story,
    /// Observations; where there is no such pane, the story has the keys.
    Observations,
    /// World.
    World,
    /// The lanes of lessons.
    Lanes,
    /// Time.
    Timeline,
}

/// Which moment all panes show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cursor {
    /// The present, as it moves.
    #[default]
    Live,
    /// The moment after this event.
    At(Seq),
}

/// How a line of news is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Something is good to know.
    Info,
    /// A wish was not granted.
    Warning,
    /// Something is wrong and stays wrong until something is done.
    Error,
}

/// A line of news in the footer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it says; one line.
    pub text: String,
    /// How it is meant.
    pub severity: Severity,
    /// When it goes.
    pub expires_at: Instant,
}

/// What a newcomer is told; each hint goes once it was obeyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstRunHint {
    /// Nothing.
    #[default]
    None,
    /// Press `n`.
    Step,
    /// Wait for the first mistake.
    WaitForMistake,
    /// Press `a` to teach it.
    Teach,
}

/// How far each pane is scrolled from its resting place, in rows; positive is towards the past or the top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrollOffsets {
    /// Story, or Thoughts & actions.
    pub story: i32,
    /// Observations.
    pub observations: i32,
    /// World, from its top.
    pub world: u16,
}

/// What the screen itself knows.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch that a key throws, and any two go together"
)]
pub struct Model {
    /// The pane that has the keys.
    pub focus: Focus,
    /// The moment all panes show.
    pub cursor: Cursor,
    /// A chosen arrangement; none: by size.
    pub arrangement: Option<Arrangement>,
    /// The focused pane has all of the room.
    pub zoomed: bool,
    /// The chosen lane, by its place among the method's lanes; none: the lane of errors, where there is one.
    pub selected_lane: Option<usize>,
    /// Where a round through the lanes began, for those that share one place.
    pub first_visited_lane: usize,
    /// The chosen lesson; none: the first row.
    pub selected_lesson: Option<LessonId>,
    /// How far panes are scrolled.
    pub scroll: ScrollOffsets,
    /// The world pane shows what is true, beyond what the agent may know.
    pub show_truth: bool,
    /// Reasoning is unfolded.
    pub show_reasoning: bool,
    /// Nothing moves that does not have to: no turning mark, and answers come in line by line.
    pub reduced_motion: bool,
    /// The mouse belongs to the screen.
    pub mouse_captured: bool,
    /// At which marks `<` and `>` stop.
    pub mark_filter: MarkFilter,
    /// The mouse draws the chosen turn along the time bar, as the bar lay when the button was pressed.
    pub scrubbing: Option<StepRuler>,
    /// What lies over the panes; the last has the keys.
    pub overlays: Vec<Box<dyn Overlay>>,
    /// What has just sent a command and gone: it is there again, as it was, where that is refused.
    pub awaiting_answer: Option<Box<dyn Overlay>>,
    /// What was typed for lessons and not saved, one of each lesson.
    pub drafts: Vec<LessonDraft>,
    /// A line of news.
    pub notice: Option<Notice>,
    /// The last signal that was shown.
    pub last_signal: u64,
    /// The last hit of a breakpoint or watch that was told; none: nothing was looked at yet.
    pub last_reported_hit: Option<Seq>,
    /// The last event that was looked through for what was taken back or made again; none: nothing was looked at yet.
    pub undo_scanned_to: Option<Seq>,
    /// What branches were called, to be taken back.
    pub branch_edits: BranchEditHistory,
    /// The ended episode whose end card was shown.
    pub end_card_shown_for: Option<u32>,
    /// The line that is followed, by the store's count, and its branch; none before the first news.
    pub epoch: u64,
    /// The branch that is followed; none before the first news.
    pub branch: Option<BranchId>,
    /// The branch that was followed before.
    pub previous_branch: Option<BranchId>,
    /// The session's branches, as they were read last.
    pub branches: Arc<[BranchInfo]>,
    /// Episode and step of the difference that was shown.
    pub reported_divergence: Option<(u32, u32)>,
    /// The last event when a step was asked for; none: no step was, or it was refused.
    pub step_requested_at: Option<Seq>,
    /// Steps that were asked for while one was under way.
    pub queued_steps: u8,
    /// Episode and answered steps for which the line of a person who plays was opened.
    pub prompted_step: Option<(u32, u32)>,
    /// The summary that was shown of itself when it began to wait, by its event.
    pub shown_summary: Option<Seq>,
    /// The person was asked whether the episode is to end.
    pub confirming_end: bool,
    /// When Ctrl-C was last pressed.
    pub last_interrupt: Option<Instant>,
    /// What a newcomer is told.
    pub hint: FirstRunHint,
    /// The command that takes the session up again; none where nothing can be taken up.
    pub resume_command: Option<String>,
    /// The templates that the next prompt would be made of; none where they are not known.
    pub templates: Option<Arc<Templates>>,
    /// Models of the configuration, as they are written.
    pub configured_models: Arc<[String]>,
    /// Columns and rows at the last draw or resize.
    pub size: (u16, u16),
}

impl Model {
    /// The arrangement in force.
    pub fn arrangement(&self) -> Arrangement {
        self.arrangement.unwrap_or_else(|| Arrangement::for_size(self.size.0, self.size.1))
    }

    /// The chosen lane, by its place.
    pub fn selected_lane_index(&self, lanes: &[Lane]) -> usize {
        let default = || lanes.iter().position(|l| l.kinds == [ReflectionKind::Error]).unwrap_or(0);
        self.selected_lane.unwrap_or_else(default).min(lanes.len().saturating_sub(1))
    }

    /// The pane that has all of the room.
    pub fn zoomed_pane(&self, lanes: &[Lane]) -> Option<Pane> {
        if !self.zoomed {
            return None;
        }
        let separate = self.arrangement() == Arrangement::ThreeColumns;
        Some(match self.focus {
            Focus::Story if separate => Pane::Thoughts,
            Focus::Observations if separate => Pane::Observations,
            Focus::Story | Focus::Observations => Pane::Story,
            Focus::World => Pane::World,
            Focus::Lanes => Pane::Lane(self.selected_lane_index(lanes)),
            Focus::Timeline => Pane::Timeline,
        })
    }

    /// What the branch that is followed is called, where the session has more than one.
    pub fn branch_name(&self) -> Option<&str> {
        let id = self.branch.as_ref().filter(|id| self.branches.len() > 1 || **id != BranchId::trunk())?;
        Some(self.branches.iter().find(|t| t.id == *id).map_or(id.0.as_str(), BranchInfo::display_name))
    }

    /// The cursor stands in the past.
    pub fn is_in_past(&self) -> bool {
        self.cursor != Cursor::Live
    }

    /// Shows a line for a while.
    pub fn show_notice(&mut self, text: impl Into<String>, tone: Severity, now: Instant) {
        let text = text.into();
        // Long enough to be read: four seconds, and one more for every twenty characters.
        let seconds = 4 + text.chars().count() as u64 / 20;
        self.notice = Some(Notice { text, severity: tone, expires_at: now + Duration::from_secs(seconds) });
    }

    /// Lets the line go whose time is over.
    pub fn expire_notice(&mut self, now: Instant) {
        if self.notice.as_ref().is_some_and(|n| n.expires_at <= now) {
            self.notice = None;
        }
    }
}
