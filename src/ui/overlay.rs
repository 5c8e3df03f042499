//! What lies over the panes: help, palette, boxes. The topmost takes the keys; `q` and Esc close it.
//!
//! An overlay holds its own state, reads everything else from [`Context`], and answers with a [`Response`]. It sends
//! nothing itself: what it wants goes into [`Response::requests`], so that every wish passes through one place.

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

/// What comes back to an overlay that asked for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The actions the world accepts now, in its own order.
    Admissible(Vec<String>),
    /// The actions the world accepted at a moment of the past, in its own order, or why they cannot be had.
    AdmissibleAt {
        /// The moment that was asked for: another one's answer comes too late.
        at: EventRef,
        /// The actions.
        actions: PastAdmissible,
    },
    /// What is known of the way to the goal; none where the world cannot look for one. Said in the footer.
    Hint(Option<String>),
    /// The sessions there are, the newest first, each with a few words about it.
    Sessions(Vec<(String, String)>),
    /// The models of a role's server, or why they cannot be had.
    Models {
        /// The role.
        role: ModelRole,
        /// The models.
        models: Result<ModelList, String>,
    },
    /// The text as the editor left it; none when nothing was saved.
    Edited(Option<String>),
    /// The session's branches, or why they cannot be read or called otherwise.
    Branches(Result<Arc<[BranchInfo]>, String>),
    /// Places that were found in other episodes.
    SearchResults {
        /// The words they were looked for with.
        query: String,
        /// The places.
        hits: Vec<SearchHit>,
        /// Whether more is to come.
        progress: SearchStatus,
    },
    /// What can be compared beside the session's own episodes, or why that cannot be said.
    Comparable(Result<Vec<EpisodeRef>, String>),
    /// Two episodes side by side, or why they cannot be had.
    Compared {
        /// The left side.
        a: Box<EpisodeRef>,
        /// The right side.
        b: Box<EpisodeRef>,
        /// The comparison.
        result: Result<PtrEqArc<Comparison>, String>,
    },
    /// What preceded a row of a comparison.
    Preceding {
        /// The comparison.
        comparison: PtrEqArc<Comparison>,
        /// The row.
        row: usize,
        /// What preceded it, or why that cannot be had.
        before: Result<PtrEqArc<PriorDifferences>, String>,
    },
}

/// What an overlay makes of a key.
#[derive(Debug, Default, PartialEq)]
pub struct Response {
    /// What it wants from the outside, in order.
    pub requests: Vec<Request>,
    /// It is done and goes away. Requests are carried out after it has gone.
    pub close: bool,
}

/// Something that lies over the panes.
pub trait Overlay: Send {
    /// Its name, as tests and the footer call it.
    fn name(&self) -> &'static str;

    /// The mode in which the keymap reads keys while it is on top.
    fn mode(&self) -> Mode;

    /// A key to which the keymap gives a meaning in this mode. `Action::Close` is answered by going away.
    fn on_action(&mut self, action: Action, look: &Context<'_>) -> Response;

    /// A key to which the keymap gives none: typing.
    fn on_key(&mut self, key: KeyEvent, look: &Context<'_>) -> Response {
        let _ = (key, look);
        Response::default()
    }

    /// Text was pasted. A paste never saves or runs anything.
    fn on_paste(&mut self, text: &str, look: &Context<'_>) -> Response {
        let _ = (text, look);
        Response::default()
    }

    /// The mouse did something.
    fn on_mouse(&mut self, event: MouseEvent, look: &Context<'_>) -> Response {
        let _ = (event, look);
        Response::default()
    }

    /// What it asked for is here.
    fn on_answer(&mut self, answer: Answer, look: &Context<'_>) -> Response {
        let _ = (answer, look);
        Response::default()
    }

    /// What it was about is no longer there, so that it would draw nothing; it goes away unasked.
    fn is_stale(&self, look: &Context<'_>) -> bool {
        let _ = look;
        false
    }

    /// Rows at the lower edge of the screen, the footer's among them, that it lies on while the panes above are read; 0: it
    /// lies in the middle. The panes of steps end above them.
    fn rows_covered(&self, look: &Context<'_>, screen: Rect) -> u16 {
        let _ = (look, screen);
        0
    }

    /// Draws it over the panes; it chooses its own place in the screen it is given.
    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>);
}

impl Response {
    /// It goes away and wants nothing.
    pub fn close() -> Self {
        Self { requests: Vec::new(), close: true }
    }

    /// It stays and wants this.
    pub fn request(request: Request) -> Self {
        Self { requests: vec![request], close: false }
    }

    /// It goes away and wants this.
    pub fn request_and_close(request: Request) -> Self {
        Self { requests: vec![request], close: true }
    }
}

/// How many rows a key moves in a list of which a page has so many; none: it means something else. `isize::MIN` and
/// `isize::MAX` are its ends.
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

/// The place so many rows from this one, in a list of so many: its ends hold.
pub(crate) fn clamped_index(at: usize, by: isize, all: usize) -> usize {
    at.saturating_add_signed(by).min(all.saturating_sub(1))
}

/// Keys that move in rows and close; the rest is nothing.
pub(crate) fn scroll_or_close(scroll: &window::Scroll, action: Action) -> Response {
    match action {
        Action::Close => return Response::close(),
        // What was not drawn yet has an end, too.
        Action::Live => scroll.scroll_to(usize::MAX),
        other => scroll.scroll_by(row_delta(other, scroll.page_rows()).unwrap_or(0)),
    }
    Response::default()
}

/// The overlay an action of the main screen opens, or in words why there is nothing to open.
///
/// # Errors
/// A sentence for the person.
pub fn open_for_action(
    action: Action,
    model: &Model,
    look: &Context<'_>,
) -> Result<Box<dyn Overlay>, String> {
    let head = &look.frame.head;
    let key = |a: Action| look.keymap.key_label(a).unwrap_or_else(|| a.name().to_owned());
    // Where nothing can be added, nobody is told how.
    let adds =
        if look.is_read_only() { String::new() } else { format!("; {} adds one", key(Action::AddLesson)) };
    let none = |what: &str| format!("{what}{adds}");
    Ok(match action {
        Action::Help => Box::<Help>::default(),
        Action::Palette => Box::<Palette>::default(),
        Action::Prompt => Box::new(PromptView::new(model.templates.clone())),
        Action::PromptPreview => Box::new(PromptView::new(model.templates.clone()).showing_preview()),
        Action::Summary => {
            let change = head.waiting_summaries.first().ok_or("no summary is waiting for review")?;
            Box::new(SummaryReview::new(change))
        }
        Action::Compare => {
            look.episode().ok_or("there is no episode to compare yet")?;
            Box::new(CompareDialog::with_shown_episode(look))
        }
        Action::EpisodeList => Box::new(EpisodeList::at_shown_episode(look)),
        Action::Breakpoints => Box::new(BreakpointList::new(look)),
        Action::Branches => {
            Box::new(BranchTree::new(model.branches.clone(), look, model.previous_branch.clone()))
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
                return Err(format!(
                    "there is no proposal to override; {} goes to the next",
                    key(Action::Step)
                ));
            }
            Box::new(ActionDialog::new(head, step, plays))
        }
        Action::OverrideQuestions => Box::new(ActionDialog::settings_only(head)),
        Action::RejectOrToggle => {
            let step = head.step_awaiting_decision().filter(|s| s.call.is_some());
            let Some(step) = step else {
                return Err(format!(
                    "there is no proposal to reject; {} goes to the next",
                    key(Action::Step)
                ));
            };
            let proposal = step.proposed.clone().or_else(|| step.thought.clone()).unwrap_or_default();
            Box::new(InputDialog::new(Purpose::Reject { proposal }))
        }
        Action::ChangeModel => Box::new(ModelDialog::for_model(model.configured_models.clone(), look)),
        Action::UseRecordedReply => {
            if !head.has_undecided_call(ModelRole::Actor) && !head.has_undecided_call(ModelRole::Mentor) {
                return Err(
                    "no model call has failed or was cancelled; a recorded reply can only replace one of those"
                        .to_owned(),
                );
            }
            Box::new(ModelDialog::for_recorded_reply(look))
        }
        Action::Remark => Box::new(InputDialog::new(Purpose::Remark { step: look.frame.selected_step() })),
        Action::AddLesson => {
            let kind = kind_of_new_lesson(model, look);
            Box::new(editor_with_draft(model, look, LessonDraft::new(kind), 0))
        }
        Action::LessonFromOverride => {
            let steps = look.episode().map(|e| &e.steps);
            let last = steps
                .and_then(|s| s.iter().rev().find(|s| s.is_person_action() && s.proposal_text().is_some()));
            let kinds = look.lesson_kinds();
            let error = kinds.iter().find(|k| **k == ReflectionKind::Error);
            let kind = error.copied().unwrap_or_else(|| kind_of_new_lesson(model, look));
            let draft = last.and_then(|s| Some((s, LessonDraft::from_override(s, kind)?)));
            let Some((step, draft)) = draft else {
                return Err("no proposal of this episode has been overridden".to_owned());
            };
            let seen = step.observation().unwrap_or_default();
            let evidence = format!("step {}: {}", step.number, truncate(seen, 120, "..."));
            Box::new(LessonEditor::new(&draft, draft.clone(), &kinds, 0).with_evidence(evidence))
        }
        Action::EditLesson => {
            let lesson = chosen_lesson(model, look).ok_or_else(|| none("there is no lesson to edit"))?;
            Box::new(editor_with_draft(model, look, LessonDraft::from_lesson(lesson), lesson.number))
        }
        Action::Open | Action::ShowDetails if model.focus == Focus::Lanes => {
            let lesson = chosen_lesson(model, look).ok_or_else(|| none("there is no lesson here"))?;
            Box::new(LessonDetails::new(lesson.id.clone()))
        }
        Action::Open | Action::ShowDetails => Box::new(StepDetails::new(look.frame.selected_step(), look)),
        _ => return Err(format!("`{}` does nothing here", action.name())),
    })
}

/// The editor over the lesson with which a branch begins: a new one, or one of the moment shown.
pub(super) fn open_branch_lesson_editor(
    model: &Model,
    look: &Context<'_>,
    fork: Fork,
    of: Option<&LessonId>,
) -> Option<Box<dyn Overlay>> {
    let lesson = of.map(|id| look.displayed_state().pool.get(id));
    let editor = match lesson {
        Some(lesson) => editor_with_draft(model, look, LessonDraft::from_lesson(lesson?), lesson?.number),
        None => editor_with_draft(model, look, LessonDraft::new(kind_of_new_lesson(model, look)), 0),
    };
    Some(Box::new(editor.saving_on_branch(fork)))
}

/// The editor over a lesson, with what was typed before and not saved.
fn editor_with_draft(model: &Model, look: &Context<'_>, before: LessonDraft, number: u32) -> LessonEditor {
    let kept = model.drafts.iter().find(|d| d.lesson == before.lesson).cloned();
    LessonEditor::new(&kept.unwrap_or_else(|| before.clone()), before, &look.lesson_kinds(), number)
}
