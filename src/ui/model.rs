//! The screen's own state. Everything else is read from the session's state.

use crate::domain::{BranchId, LessonId, Seq};
use crate::prompt::Templates;
use crate::report::StepRef;
use crate::text::with_program_name;
use crate::ui::branches::{BranchEditHistory, BranchInfo};
use crate::ui::chapters::{Chapter, shown_step};
use crate::ui::draft::LessonDraft;
use crate::ui::effect::{EffectProgress, TaughtLesson};
use crate::ui::frame_data::{Context, MeasuredResults};
use crate::ui::layout::{Arrangement, Pane, StepRuler};
use crate::ui::mark::MarkFilter;
use crate::ui::playback::{Playback, Speed};
use crate::ui::stage::PressedKeys;
use crate::ui::types::{Cursor, Focus, PtrEqArc};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The severity of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Information.
    Info,
    /// A command was rejected.
    Warning,
    /// A problem that persists until somebody fixes it.
    Error,
}

/// A message in the footer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// One line of text.
    pub text: String,
    pub severity: Severity,
    pub expires_at: Instant,
}

/// The first-run hint to show. A hint disappears once the user has followed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstRunHint {
    #[default]
    None,
    /// Press `n` to step.
    Step,
    /// No hint until the first mistake.
    WaitForMistake,
    /// Press `a` to add a lesson about the mistake.
    AddLesson,
}

/// Scroll offsets of the panes from their default positions, in rows; positive is towards the past or the top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrollOffsets {
    /// Story, or Thoughts & actions.
    pub story: i32,
    pub observations: i32,
    /// World, from its top.
    pub world: u16,
    /// The stored measurement that a demo shows, from its top.
    pub still: u16,
}

/// The screen's own state: focus, cursor, scroll positions, overlays and notices.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent switch")]
pub struct Model {
    pub focus: Focus,
    /// The point in time that all panes show.
    pub cursor: Cursor,
    /// The arrangement a person selected, or `None` to choose by size.
    pub arrangement: Option<Arrangement>,
    /// Whether the focused pane fills the screen.
    pub zoomed: bool,
    /// The selected lane, by its index among the method's lanes. `None` means the one with the newest lesson in use at the step
    /// on screen, and so does a lane without lessons at that step that hasn't the focus.
    pub selected_lane: Option<usize>,
    /// The lane at which cycling through tabbed lanes began.
    pub first_visited_lane: usize,
    /// The lesson that the person selected, or `None` for the first row.
    pub selected_lesson: Option<LessonId>,
    /// The lesson of the first row when the lane got the focus: it stays selected when others appear above it.
    pub first_seen_lesson: Option<LessonId>,
    /// The number of lessons when one was added that is not in the pool yet: the new one is to be selected.
    pub lessons_before_added: Option<usize>,
    pub scroll: ScrollOffsets,
    /// Whether the World pane shows the ground truth, which the agent can't see.
    pub show_truth: bool,
    /// Whether reasoning is unfolded.
    pub show_reasoning: bool,
    /// Whether motion is reduced: no spinner, and replies appear line by line.
    pub reduced_motion: bool,
    /// Whether the mouse is captured.
    pub mouse_captured: bool,
    /// The marks at which `<` and `>` stop.
    pub mark_filter: MarkFilter,
    /// While the mouse drags along the timeline: the ruler from when the button was pressed.
    pub scrubbing: Option<StepRuler>,
    /// Whether an overlay covers the panes. The compositor keeps it up to date.
    pub is_covered: bool,
    /// The last measurement of a lesson, with the pairs so far.
    pub effect: Option<PtrEqArc<EffectProgress>>,
    /// The step of a demo whose stored measurement the person has closed, to see the panes.
    pub closed_still: Option<StepRef>,
    /// The lesson to measure as soon as the session has it.
    pub measured_next: Option<TaughtLesson>,
    /// What the logs of measurements say about the session's lessons.
    pub measured: MeasuredResults,
    /// Unsaved lesson drafts, at most one per lesson.
    pub drafts: Vec<LessonDraft>,
    /// The message in the footer.
    pub notice: Option<Notice>,
    pub last_signal: u64,
    /// The last breakpoint or watch hit that was reported, or `None` before the first check.
    pub last_reported_hit: Option<Seq>,
    /// The last event that was scanned for undo and redo, or `None` before the first scan.
    pub undo_scanned_to: Option<Seq>,
    /// Branch edits that can be undone.
    pub branch_edits: BranchEditHistory,
    /// The ended episode whose end card was shown.
    pub end_card_shown_for: Option<u32>,
    /// The store's epoch at the last update.
    pub epoch: u64,
    /// The active branch, or `None` before the first update.
    pub branch: Option<BranchId>,
    /// The branch that was active before.
    pub previous_branch: Option<BranchId>,
    /// The session's branches, as last read.
    pub branches: Arc<[BranchInfo]>,
    /// Episode and step of the last divergence that was reported.
    pub reported_divergence: Option<(u32, u32)>,
    /// The last event at the time a step was requested, or `None` if none is pending.
    pub step_requested_at: Option<Seq>,
    /// Steps that were requested while one was in progress.
    pub queued_steps: u8,
    /// Episode and number of answered steps for which the action prompt of a person who plays was opened.
    pub prompted_step: Option<(u32, u32)>,
    /// The pending summary that was shown automatically, by its event.
    pub shown_summary: Option<Seq>,
    /// Whether the person is being asked to end the episode.
    pub confirming_end: bool,
    pub last_interrupt: Option<Instant>,
    /// The current first-run hint.
    pub hint: FirstRunHint,
    /// The report that the shown notice offers to open.
    pub offered_report: Option<String>,
    /// The command that resumes the session, or `None` if it can't be resumed.
    pub resume_command: Option<String>,
    /// The templates for the next prompt, or `None` if they aren't known.
    pub templates: Option<Arc<Templates>>,
    /// Models from the configuration, as written there.
    pub configured_models: Arc<[String]>,
    /// The chapters of a demo, in the order of their steps; empty for other sessions.
    pub chapters: Arc<[Chapter]>,
    /// How a read-only session plays.
    pub playback: Playback,
    /// How fast a live run steps whose actor isn't a model.
    pub run_speed: Speed,
    /// Whether the screen is that for an audience: large, without details, hosts and paths.
    pub stage_mode: bool,
    /// The last keys that did something, for an audience.
    pub pressed_keys: PressedKeys,
    /// Texts that stage mode hides wherever they appear: folders and addresses.
    pub private_texts: Arc<[String]>,
    /// Columns and rows at the last draw or resize.
    pub size: (u16, u16),
}

impl Model {
    /// Returns the arrangement in effect.
    pub fn arrangement(&self) -> Arrangement {
        self.arrangement.unwrap_or_else(|| Arrangement::for_size(self.size.0, self.size.1))
    }

    /// Returns the stored measurement that a demo shows at this step, unless the person has closed it.
    pub fn shown_measurement(&self, context: &Context<'_>) -> Option<&PtrEqArc<EffectProgress>> {
        let step = shown_step(context);
        let chapter = self.chapters.iter().find(|chapter| chapter.at == step)?;
        chapter.measurement.as_ref().filter(|_| self.closed_still != Some(step))
    }

    /// Returns the index of the selected lane.
    pub fn selected_lane_index(&self, context: &Context<'_>) -> usize {
        let (lanes, state) = (context.lanes(), context.displayed_state());
        let newest = || {
            let newest = state.pool.all().rev().find(|lesson| lesson.is_active())?;
            lanes.iter().position(|lane| lane.can_show(newest))
        };
        let has_lessons =
            |place: &usize| lanes.get(*place).is_some_and(|lane| lane.lessons(state).next().is_some());
        let selected = self.selected_lane.filter(|place| self.focus == Focus::Lanes || has_lessons(place));
        let lane = selected.or_else(newest).or(self.selected_lane).unwrap_or(0);
        lane.min(lanes.len().saturating_sub(1))
    }

    /// Returns the pane that fills the screen, if one is zoomed.
    pub fn zoomed_pane(&self, context: &Context<'_>) -> Option<Pane> {
        if !self.zoomed {
            return None;
        }
        let separate = self.arrangement() == Arrangement::ThreeColumns;
        Some(match self.focus {
            Focus::Story if separate => Pane::Thoughts,
            Focus::Observations if separate => Pane::Observations,
            Focus::Story | Focus::Observations => Pane::Story,
            Focus::World => Pane::World,
            Focus::Lanes => Pane::Lane(self.selected_lane_index(context)),
            Focus::Timeline => Pane::Timeline,
        })
    }

    /// Returns the active branch's name, if the session has more than one branch.
    pub fn branch_name(&self) -> Option<&str> {
        let id = self.branch.as_ref().filter(|id| self.branches.len() > 1 || **id != BranchId::trunk())?;
        Some(self.branches.iter().find(|t| t.id == *id).map_or(id.0.as_str(), BranchInfo::display_name))
    }

    /// Returns whether the active branch is among the known ones.
    pub fn knows_active_branch(&self) -> bool {
        self.branches.iter().any(|branch| Some(&branch.id) == self.branch.as_ref())
    }

    /// Returns whether the cursor is in the past.
    pub fn is_in_past(&self) -> bool {
        self.cursor != Cursor::Live
    }

    /// Returns the message that the session is read-only, and how to resume it.
    pub fn read_only_message(&self) -> String {
        match &self.resume_command {
            // In front of an audience, the session's name will do.
            Some(command) if self.stage_mode => {
                let (verb, path) = command.rsplit_once(' ').unwrap_or(("", command));
                let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
                format!("read-only; to continue: {verb} {name} --stage")
            }
            Some(command) => format!("read-only; to continue: {command}"),
            None if !self.chapters.is_empty() => {
                "read-only: a demo can't be changed; its end card plays the task in a session of your own"
                    .to_owned()
            }
            None => "read-only: a session inside a report can't be continued".to_owned(),
        }
    }

    /// Shows a notice for a while.
    pub fn show_notice(&mut self, text: impl Into<String>, severity: Severity, now: Instant) {
        let text = with_program_name(&text.into()).into_owned();
        // Long enough to read: four seconds, plus one for every twenty characters.
        let seconds = 4 + text.chars().count() as u64 / 20;
        self.notice = Some(Notice { text, severity, expires_at: now + Duration::from_secs(seconds) });
    }

    /// Removes the notice when its time is over.
    pub fn expire_notice(&mut self, now: Instant) {
        if self.notice.as_ref().is_some_and(|n| n.expires_at <= now) {
            self.notice = None;
        }
    }
}
