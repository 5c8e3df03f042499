//! Overlays over the panes: help, palette, dialogs. The topmost one receives the keys; `q` and Esc close it.
//!
//! An overlay holds its own state, reads everything else from [`Context`], and returns a [`Response`]. It never sends
//! anything itself: its requests go into [`Response::requests`], so that every request passes through one place.

mod action_dialog;
mod action_input;
mod branch_tree;
mod breakpoint_list;
pub(crate) mod choice;
mod compare;
mod divergence_dialog;
mod end_card;
mod fork;
pub(crate) mod fuzzy;
mod help;
mod input_dialog;
mod lesson_details;
mod lesson_editor;
mod mark_list;
mod model_dialog;
mod named_value;
mod palette;
mod prompt_preview;
mod prompt_view;
mod row_cache;
mod runs;
mod search;
mod step_details;
mod summary_review;
pub(crate) mod text_field;
pub(crate) mod window;

pub use action_dialog::{ActionDialog, SHOWN_AS_SETTING, THOUGHT_SETTING};
pub use branch_tree::BranchTree;
pub use breakpoint_list::BreakpointList;
pub use compare::CompareDialog;
pub use divergence_dialog::DivergenceDialog;
pub use end_card::EndCard;
pub(crate) use end_card::has_remaining_task;
pub use fork::{ForkChange, ForkDialog};
pub use help::Help;
pub use input_dialog::{InputDialog, Purpose};
pub use lesson_details::LessonDetails;
pub(crate) use lesson_editor::scope_label;
pub use lesson_editor::{LessonDraft, LessonEditor};
pub use mark_list::MarkList;
pub use model_dialog::{ModelDialog, default_role};
pub use palette::Palette;
pub use prompt_view::PromptView;
pub use runs::EpisodeList;
pub use search::Search;
pub use step_details::StepDetails;
pub(crate) use step_details::open_text_count;
pub use summary_review::SummaryReview;

pub(crate) use super::update::{cursor_after, resolve_position};

use super::branches::BranchInfo;
use super::canvas::Canvas;
use super::compare::{EpisodeRef, PtrEqArc};
use super::context::Context;
use super::find::{SearchHit, SearchStatus};
use super::host_services::ModelList;
use super::keymap::{Action, Mode};
use super::model::{Focus, Model};
use super::msg::{EventRef, Request};
use super::update::{chosen_lesson, kind_of_new_lesson};
use crate::domain::{Autonomy, LessonId, ModelRole, ReflectionKind};
use crate::driver::{Fork, PastAdmissible};
use crate::text::truncate;
use crate::timeline::compare::{Comparison, PriorDifferences};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use std::sync::Arc;

/// The answer to a request of an overlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The admissible actions now, in the environment's order.
    Admissible(Vec<String>),
    /// The admissible actions at a past event, in the environment's order, or why they aren't available.
    AdmissibleAt {
        /// The requested event; an answer for any other event is stale.
        at: EventRef,
        actions: PastAdmissible,
    },
    /// A hint about the path to the goal, shown in the footer. `None` if the environment can't search for one.
    Hint(Option<String>),
    /// The known sessions, newest first, each as its name and a short description.
    Sessions(Vec<(String, String)>),
    /// The models of a role's server, or why they aren't available.
    Models { role: ModelRole, models: Result<ModelList, String> },
    /// The text as saved in the external editor. `None` if nothing was saved.
    Edited(Option<String>),
    /// What was written to which file, or why it couldn't be written; shown in the footer.
    FileWritten(Result<String, String>),
    /// The session's branches, or why they couldn't be read or edited.
    Branches(Result<Arc<[BranchInfo]>, String>),
    /// Search hits in other episodes.
    SearchResults {
        query: String,
        hits: Vec<SearchHit>,
        /// Whether more hits may follow.
        progress: SearchStatus,
    },
    /// Branches and sessions to compare with besides the session's own episodes, or why they can't be listed.
    Comparable(Result<Vec<EpisodeRef>, String>),
    /// A comparison of two episodes, or why it failed.
    Compared {
        /// The left side.
        a: Box<EpisodeRef>,
        /// The right side.
        b: Box<EpisodeRef>,
        result: Result<PtrEqArc<Comparison>, String>,
    },
    /// The differences that preceded a row of a comparison.
    PriorDifferences {
        comparison: PtrEqArc<Comparison>,
        row: usize,
        /// The differences, or why they aren't available.
        before: Result<PtrEqArc<PriorDifferences>, String>,
    },
}

/// The result of handling an input event in an overlay.
#[derive(Debug, Default, PartialEq)]
pub struct Response {
    /// Requests to execute, in order.
    pub requests: Vec<Request>,
    /// Whether to close the overlay. Requests are executed after it has closed.
    pub close: bool,
}

/// A component drawn over the panes.
pub trait Overlay: Send {
    /// Returns the name used in tests and the footer.
    fn name(&self) -> &'static str;

    /// Returns the mode in which the keymap reads keys while the overlay is on top.
    fn mode(&self) -> Mode;

    /// Handles a key that is bound to an action in this mode. `Action::Close` must close the overlay.
    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response;

    /// Handles an unbound key, such as typed text.
    fn on_key(&mut self, key: KeyEvent, context: &Context<'_>) -> Response {
        let _ = (key, context);
        Response::default()
    }

    /// Handles pasted text. A paste never saves or runs anything.
    fn on_paste(&mut self, text: &str, context: &Context<'_>) -> Response {
        let _ = (text, context);
        Response::default()
    }

    /// Handles a mouse event.
    fn on_mouse(&mut self, event: MouseEvent, context: &Context<'_>) -> Response {
        let _ = (event, context);
        Response::default()
    }

    /// Handles the answer to an earlier request.
    fn on_answer(&mut self, answer: Answer, context: &Context<'_>) -> Response {
        let _ = (answer, context);
        Response::default()
    }

    /// Returns whether the overlay's subject no longer exists; a stale overlay is closed automatically.
    fn is_stale(&self, context: &Context<'_>) -> bool {
        let _ = context;
        false
    }

    /// Returns the number of rows covered at the bottom of the screen, including the footer's, or 0 if the overlay is
    /// centred. The panes that show steps end above these rows.
    fn rows_covered(&self, context: &Context<'_>, screen: Rect) -> u16 {
        let _ = (context, screen);
        0
    }

    /// Draws the overlay. It chooses its own position on the screen.
    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>);
}

impl Response {
    /// Closes the overlay.
    pub fn close() -> Self {
        Self { requests: Vec::new(), close: true }
    }

    /// Makes a request; the overlay stays open.
    pub fn request(request: Request) -> Self {
        Self { requests: vec![request], close: false }
    }

    /// Closes the overlay, then makes a request.
    pub fn request_and_close(request: Request) -> Self {
        Self { requests: vec![request], close: true }
    }
}

/// Returns the number of rows an action moves the selection by in a list with `page` rows a page. `isize::MIN` and
/// `isize::MAX` stand for the list's ends. Returns `None` if the action doesn't move the selection.
pub(crate) fn row_delta(action: Action, page: isize) -> Option<isize> {
    match action {
        Action::Down | Action::NextField => Some(1),
        Action::Up | Action::PreviousField => Some(-1),
        Action::PageDown => Some(page),
        Action::PageUp => Some(-page),
        Action::EpisodeStart => Some(isize::MIN),
        Action::Live => Some(isize::MAX),
        _ => None,
    }
}

/// Returns `at` moved by `by`, clamped to a list of `all` rows.
pub(crate) fn clamped_index(at: usize, by: isize, all: usize) -> usize {
    at.saturating_add_signed(by).min(all.saturating_sub(1))
}

/// Handles the actions that scroll and close; ignores all others.
pub(crate) fn scroll_or_close(scroll: &window::Scroll, action: Action) -> Response {
    match action {
        Action::Close => return Response::close(),
        // The extent is unknown before the first draw, so that scrolling by rows would stop short.
        Action::Live => scroll.scroll_to(usize::MAX),
        other => scroll.scroll_by(row_delta(other, scroll.page_rows()).unwrap_or(0)),
    }
    Response::default()
}

/// Creates the overlay that an action of the main screen opens.
///
/// # Errors
/// Returns a message for the user if there is nothing to open.
pub fn open_for_action(
    action: Action,
    model: &Model,
    context: &Context<'_>,
) -> Result<Box<dyn Overlay>, String> {
    let head = &context.frame.head;
    let key = |a: Action| context.keymap.key_label(a).unwrap_or_else(|| a.name().to_owned());
    // Don't mention the key in read-only sessions, where nothing can be added.
    let adds =
        if context.is_read_only() { String::new() } else { format!("; {} adds one", key(Action::AddLesson)) };
    let none = |what: &str| format!("{what}{adds}");
    Ok(match action {
        Action::Help => Box::<Help>::default(),
        Action::Palette => Box::<Palette>::default(),
        Action::Prompt => Box::new(PromptView::new(model.templates.clone())),
        Action::PromptPreview => Box::new(PromptView::new(model.templates.clone()).showing_preview()),
        Action::Summary => {
            let change = head.waiting_summaries.first().ok_or("no mentor summary to review")?;
            Box::new(SummaryReview::new(change))
        }
        Action::Compare => {
            context.episode().ok_or("no episode to compare yet")?;
            Box::new(CompareDialog::with_shown_episode(context))
        }
        Action::EpisodeList => Box::new(EpisodeList::at_shown_episode(context)),
        Action::Breakpoints => Box::new(BreakpointList::new(context)),
        Action::Branches => {
            Box::new(BranchTree::new(model.branches.clone(), context, model.previous_branch.clone()))
        }
        Action::FilterMarks => Box::new(MarkList::new(model.mark_filter)),
        Action::Search => Box::new(Search::new(model.cursor)),
        Action::EndCard => {
            let ended = head.episode.as_ref().is_some_and(|e| e.outcome.is_some());
            ended.then(Box::<EndCard>::default).ok_or("the episode has not ended")?
        }
        Action::Override => {
            let plays = head.autonomy == Autonomy::Human;
            let step = head.step_awaiting_decision();
            if head.has_failed_call(ModelRole::Actor) {
                return Ok(Box::new(ActionDialog::new(head, None, true).replacing_failed_call()));
            }
            if head.has_idle_step() {
                return Ok(Box::new(ActionDialog::new(head, None, true)));
            }
            if step.is_none() && !plays {
                return Err(format!("no proposal to override; {} goes to the next", key(Action::Step)));
            }
            Box::new(ActionDialog::new(head, step, plays))
        }
        Action::OverrideQuestions => Box::new(ActionDialog::settings_only(head)),
        Action::RejectOrToggle => {
            let step = head.step_awaiting_decision().filter(|s| s.call.is_some());
            let Some(step) = step else {
                return Err(format!("no proposal to reject; {} goes to the next", key(Action::Step)));
            };
            let proposal = step.proposed.clone().or_else(|| step.thought.clone()).unwrap_or_default();
            Box::new(InputDialog::new(Purpose::Reject { proposal }))
        }
        Action::ChangeModel => Box::new(ModelDialog::for_model(model.configured_models.clone(), context)),
        Action::UseRecordedReply => {
            if !head.has_undecided_call(ModelRole::Actor) && !head.has_undecided_call(ModelRole::Mentor) {
                return Err(
                    "no failed or cancelled model call; a recorded reply can only replace one of these"
                        .to_owned(),
                );
            }
            Box::new(ModelDialog::for_recorded_reply(context))
        }
        Action::Remark => Box::new(InputDialog::new(Purpose::Remark { step: context.frame.selected_step() })),
        Action::AddLesson => {
            let kind = kind_of_new_lesson(model, context);
            Box::new(editor_with_draft(model, context, LessonDraft::new(kind), 0))
        }
        Action::LessonFromOverride => {
            let steps = context.episode().map(|e| &e.steps);
            let last = steps
                .and_then(|s| s.iter().rev().find(|s| s.is_person_action() && s.proposal_text().is_some()));
            let kinds = context.lesson_kinds();
            let error = kinds.iter().find(|k| **k == ReflectionKind::Error);
            let kind = error.copied().unwrap_or_else(|| kind_of_new_lesson(model, context));
            let draft = last.and_then(|s| Some((s, LessonDraft::from_override(s, kind)?)));
            let Some((step, draft)) = draft else {
                return Err("no proposal overridden in this episode".to_owned());
            };
            let seen = step.observation().unwrap_or_default();
            let evidence = format!("step {}: {}", step.number, truncate(seen, 120, "..."));
            Box::new(LessonEditor::new(&draft, draft.clone(), &kinds, 0).with_evidence(evidence))
        }
        Action::EditLesson => {
            let lesson = chosen_lesson(model, context).ok_or_else(|| none("no lesson to edit"))?;
            Box::new(editor_with_draft(model, context, LessonDraft::from_lesson(lesson), lesson.number))
        }
        Action::Open | Action::ShowDetails if model.focus == Focus::Lanes => {
            let lesson = chosen_lesson(model, context).ok_or_else(|| none("no lesson here"))?;
            Box::new(LessonDetails::new(lesson.id.clone()))
        }
        Action::Open | Action::ShowDetails => {
            Box::new(StepDetails::new(context.frame.selected_step(), context))
        }
        _ => return Err(format!("`{}` does nothing here", action.name())),
    })
}

/// Opens the editor for the lesson that a new branch starts with: a new lesson, or one of the displayed state.
pub(super) fn open_branch_lesson_editor(
    model: &Model,
    context: &Context<'_>,
    fork: Fork,
    lesson: Option<&LessonId>,
) -> Option<Box<dyn Overlay>> {
    let lesson = lesson.map(|id| context.displayed_state().pool.get(id));
    let editor = match lesson {
        Some(lesson) => editor_with_draft(model, context, LessonDraft::from_lesson(lesson?), lesson?.number),
        None => editor_with_draft(model, context, LessonDraft::new(kind_of_new_lesson(model, context)), 0),
    };
    Some(Box::new(editor.saving_on_branch(fork)))
}

/// Opens the editor for a lesson, restoring its unsaved draft if there is one.
fn editor_with_draft(model: &Model, context: &Context<'_>, before: LessonDraft, number: u32) -> LessonEditor {
    let kept = model.drafts.iter().find(|d| d.lesson == before.lesson).cloned();
    LessonEditor::new(&kept.unwrap_or_else(|| before.clone()), before, &context.lesson_kinds(), number)
}
