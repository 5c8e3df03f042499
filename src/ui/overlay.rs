//! What lies over the panes: help, palette, boxes. The topmost takes the keys; `q` and Esc close it.
//!
//! An overlay holds its own state, reads everything else from [`Context`], and answers with a [`Response`]. It sends
//! nothing itself: what it wants goes into [`Response::requests`], so that every wish passes through one place.

mod action_box;
mod action_line;
mod branches;
mod breaks;
pub(crate) mod choice;
mod compare;
mod details;
mod differs;
mod editor;
mod end_card;
pub(crate) mod field;
mod fork;
pub(crate) mod fuzzy;
mod help;
mod line_box;
mod marks;
mod model_box;
mod named;
mod palette;
mod preview;
mod prompt;
mod row_cache;
mod runs;
mod search;
mod step;
mod summary;
pub(crate) mod window;

pub use action_box::{ActionBox, SHOWN_AS, THOUGHT};
pub use branches::Branches;
pub use breaks::Breaks;
pub use compare::Compare;
pub use details::Details;
pub use differs::Differs;
pub(crate) use editor::scope_word;
pub use editor::{Draft, Editor};
pub use end_card::EndCard;
pub(crate) use end_card::task_left;
pub use fork::{Change, ForkBox};
pub use help::Help;
pub use line_box::{LineBox, Purpose};
pub use marks::MarkList;
pub use model_box::{ModelBox, role_in_question};
pub use palette::Palette;
pub use prompt::PromptView;
pub use runs::Runs;
pub use search::Search;
pub use step::StepView;
pub(crate) use step::open_texts;
pub use summary::Summary;

pub(crate) use super::update::{after, place};

use super::branches::BranchInfo;
use super::canvas::Canvas;
use super::compare::{Place, Shared};
use super::context::Context;
use super::find::{Hit, Progress};
use super::host_services::ModelList;
use super::keymap::{Action, Mode};
use super::model::{Focus, Model};
use super::msg::{Request, ThenAt};
use super::update::{chosen_lesson, kind_to_type};
use crate::domain::{Autonomy, LessonId, ModelRole, ReflectionKind};
use crate::driver::{Accepted, Fork};
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
    AdmissibleThen {
        /// The moment that was asked for: another one's answer comes too late.
        at: ThenAt,
        /// The actions.
        listed: Accepted,
    },
    /// What is known of the way to the goal; none where the world cannot look for one. Said in the footer.
    Hint(Option<String>),
    /// The sessions there are, the newest first, each with a few words about it.
    Sessions(Vec<(String, String)>),
    /// The models of a role's server, or why they cannot be had.
    Models {
        /// The role.
        asked: ModelRole,
        /// The models.
        listed: Result<ModelList, String>,
    },
    /// The text as the editor left it; none when nothing was saved.
    Edited(Option<String>),
    /// The session's branches, or why they cannot be read or called otherwise.
    Branches(Result<Arc<[BranchInfo]>, String>),
    /// Places that were found in other episodes.
    Found {
        /// The words they were looked for with.
        words: String,
        /// The places.
        hits: Vec<Hit>,
        /// Whether more is to come.
        progress: Progress,
    },
    /// What can be compared beside the session's own episodes, or why that cannot be said.
    Others(Result<Vec<Place>, String>),
    /// Two episodes side by side, or why they cannot be had.
    Compared {
        /// The left side.
        a: Box<Place>,
        /// The right side.
        b: Box<Place>,
        /// The comparison.
        found: Result<Shared<Comparison>, String>,
    },
    /// What preceded a row of a comparison.
    Preceded {
        /// The comparison.
        of: Shared<Comparison>,
        /// The row.
        row: usize,
        /// What preceded it, or why that cannot be had.
        before: Result<Shared<PriorDifferences>, String>,
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
    fn act(&mut self, action: Action, look: &Context<'_>) -> Response;

    /// A key to which the keymap gives none: typing.
    fn key(&mut self, key: KeyEvent, look: &Context<'_>) -> Response {
        let _ = (key, look);
        Response::default()
    }

    /// Text was pasted. A paste never saves or runs anything.
    fn paste(&mut self, text: &str, look: &Context<'_>) -> Response {
        let _ = (text, look);
        Response::default()
    }

    /// The mouse did something.
    fn mouse(&mut self, event: MouseEvent, look: &Context<'_>) -> Response {
        let _ = (event, look);
        Response::default()
    }

    /// What it asked for is here.
    fn answer(&mut self, answer: Answer, look: &Context<'_>) -> Response {
        let _ = (answer, look);
        Response::default()
    }

    /// What it was about is no longer there, so that it would draw nothing; it goes away unasked.
    fn stale(&self, look: &Context<'_>) -> bool {
        let _ = look;
        false
    }

    /// Rows at the lower edge of the screen, the footer's among them, that it lies on while the panes above are read; 0: it
    /// lies in the middle. The panes of steps end above them.
    fn covers(&self, look: &Context<'_>, screen: Rect) -> u16 {
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
    pub fn want(request: Request) -> Self {
        Self { requests: vec![request], close: false }
    }

    /// It goes away and wants this.
    pub fn done(request: Request) -> Self {
        Self { requests: vec![request], close: true }
    }
}

/// How many rows a key moves in a list of which a page has so many; none: it means something else. `isize::MIN` and
/// `isize::MAX` are its ends.
pub(crate) fn moved(action: Action, page: isize) -> Option<isize> {
    match action {
        Action::Down | Action::NextField => Some(1),
        Action::Up | Action::PreviousField => Some(-1),
        Action::PageDown => Some(page),
        Action::PageUp => Some(-page),
        Action::First => Some(isize::MIN),
        Action::Live => Some(isize::MAX),
        _ => None,
    }
}

/// The place so many rows from this one, in a list of so many: its ends hold.
pub(crate) fn stepped(at: usize, by: isize, all: usize) -> usize {
    at.saturating_add_signed(by).min(all.saturating_sub(1))
}

/// Keys that move in rows and close; the rest is nothing.
pub(crate) fn scrolled(scroll: &window::Scroll, action: Action) -> Response {
    match action {
        Action::Close => return Response::close(),
        // What was not drawn yet has an end, too.
        Action::Live => scroll.to(usize::MAX),
        other => scroll.by(moved(other, scroll.page()).unwrap_or(0)),
    }
    Response::default()
}

/// The overlay an action of the main screen opens, or in words why there is nothing to open.
///
/// # Errors
/// A sentence for the person.
pub fn open(action: Action, model: &Model, look: &Context<'_>) -> Result<Box<dyn Overlay>, String> {
    let head = &look.moment.head;
    let key = |a: Action| look.keymap.label(a).unwrap_or_else(|| a.name().to_owned());
    // Where nothing can be added, nobody is told how.
    let adds = if look.reading() { String::new() } else { format!("; {} adds one", key(Action::AddLesson)) };
    let none = |what: &str| format!("{what}{adds}");
    Ok(match action {
        Action::Help => Box::<Help>::default(),
        Action::Palette => Box::<Palette>::default(),
        Action::Prompt => Box::new(PromptView::new(model.templates.clone())),
        Action::Preview => Box::new(PromptView::new(model.templates.clone()).ahead()),
        Action::Summary => {
            let change = head.waiting_summaries.first().ok_or("no summary waits for your word")?;
            Box::new(Summary::of(change))
        }
        Action::Compare => {
            look.episode().ok_or("there is no episode to compare yet")?;
            Box::new(Compare::of(look))
        }
        Action::Tasks => Box::new(Runs::at(look)),
        Action::Breaks => Box::new(Breaks::new(look)),
        Action::Branches => Box::new(Branches::new(model.twigs.clone(), look, model.left.clone())),
        Action::Marks => Box::new(MarkList::new(model.marks)),
        Action::Search => Box::new(Search::new(model.cursor)),
        Action::EndCard => {
            let ended = head.episode.as_ref().is_some_and(|e| e.outcome.is_some());
            ended.then(Box::<EndCard>::default).ok_or("the episode has not ended")?
        }
        Action::Override => {
            let plays = head.autonomy == Autonomy::Human;
            let step = head.step_awaiting_decision();
            if head.has_failed_call(ModelRole::Actor) {
                return Ok(Box::new(ActionBox::new(head, None, true).after_failure()));
            }
            if head.has_idle_step() {
                return Ok(Box::new(ActionBox::new(head, None, true)));
            }
            if step.is_none() && !plays {
                return Err(format!(
                    "there is no proposal to override; {} goes to the next",
                    key(Action::Step)
                ));
            }
            Box::new(ActionBox::new(head, step, plays))
        }
        Action::OverrideQuestions => Box::new(ActionBox::questions(head)),
        Action::RejectOrToggle => {
            let step = head.step_awaiting_decision().filter(|s| s.call.is_some());
            let Some(step) = step else {
                return Err(format!(
                    "there is no proposal to reject; {} goes to the next",
                    key(Action::Step)
                ));
            };
            let proposal = step.proposed.clone().or_else(|| step.thought.clone()).unwrap_or_default();
            Box::new(LineBox::new(Purpose::Reject { proposal }))
        }
        Action::Model => Box::new(ModelBox::model(model.models.clone(), look)),
        Action::Recorded => {
            if !head.has_undecided_call(ModelRole::Actor) && !head.has_undecided_call(ModelRole::Mentor) {
                return Err(
                    "no call to a model has failed or was broken off; a recorded reply takes the place of one that did"
                        .to_owned(),
                );
            }
            Box::new(ModelBox::recorded(look))
        }
        Action::Remark => Box::new(LineBox::new(Purpose::Remark { step: look.moment.chosen() })),
        Action::AddLesson => {
            let kind = kind_to_type(model, look);
            Box::new(editor(model, look, Draft::new(kind), 0))
        }
        Action::LessonFromOverride => {
            let steps = look.episode().map(|e| &e.steps);
            let last = steps
                .and_then(|s| s.iter().rev().find(|s| s.is_person_action() && s.proposal_text().is_some()));
            let kinds = look.kinds();
            let error = kinds.iter().find(|k| **k == ReflectionKind::Error);
            let kind = error.copied().unwrap_or_else(|| kind_to_type(model, look));
            let draft = last.and_then(|s| Some((s, Draft::of_override(s, kind)?)));
            let Some((step, draft)) = draft else {
                return Err("no proposal of this episode has been overridden".to_owned());
            };
            let seen = step.observation().unwrap_or_default();
            let evidence = format!("step {}: {}", step.number, truncate(seen, 120, "..."));
            Box::new(Editor::new(&draft, draft.clone(), &kinds, 0).resting_on(evidence))
        }
        Action::EditLesson => {
            let lesson = chosen_lesson(model, look).ok_or_else(|| none("there is no lesson to edit"))?;
            Box::new(editor(model, look, Draft::of(lesson), lesson.number))
        }
        Action::Open | Action::Inspect if model.focus == Focus::Lanes => {
            let lesson = chosen_lesson(model, look).ok_or_else(|| none("there is no lesson here"))?;
            Box::new(Details::new(lesson.id.clone()))
        }
        Action::Open | Action::Inspect => Box::new(StepView::new(look.moment.chosen(), look)),
        _ => return Err(format!("`{}` does nothing here", action.name())),
    })
}

/// The editor over the lesson with which a branch begins: a new one, or one of the moment shown.
pub(super) fn teach(
    model: &Model,
    look: &Context<'_>,
    fork: Fork,
    of: Option<&LessonId>,
) -> Option<Box<dyn Overlay>> {
    let lesson = of.map(|id| look.shown().pool.get(id));
    let editor = match lesson {
        Some(lesson) => editor(model, look, Draft::of(lesson?), lesson?.number),
        None => editor(model, look, Draft::new(kind_to_type(model, look)), 0),
    };
    Some(Box::new(editor.on_branch(fork)))
}

/// The editor over a lesson, with what was typed before and not saved.
fn editor(model: &Model, look: &Context<'_>, before: Draft, number: u32) -> Editor {
    let kept = model.drafts.iter().find(|d| d.of == before.of).cloned();
    Editor::new(&kept.unwrap_or_else(|| before.clone()), before, &look.kinds(), number)
}
