//! Opens overlays: which one a request opens. The only place that knows all of them.

use super::action_dialog::ActionDialog;
use super::branch_tree::BranchTree;
use super::breakpoint_list::BreakpointList;
use super::compare::CompareDialog;
use super::divergence_dialog::DivergenceDialog;
use super::effect_panel::EffectPanel;
use super::end_card::EndCard;
use super::environment_text::EnvironmentText;
use super::fork::ForkDialog;
use super::health::HealthList;
use super::help::Help;
use super::input_dialog::{InputDialog, Purpose};
use super::lesson_details::LessonDetails;
use super::lesson_editor::LessonEditor;
use super::mark_list::MarkList;
use super::model_dialog::ModelDialog;
use super::palette::Palette;
use super::prompt_view::PromptView;
use super::runs::EpisodeList;
use super::samples::SampleList;
use super::saved_lessons::SavedLessons;
use super::search::Search;
use super::search_picture::SearchPicture;
use super::step_details::StepDetails;
use super::summary_review::SummaryReview;
use super::test_dialog::TestDialog;
use crate::domain::{Autonomy, Lesson, LessonId, LessonOrigin, ModelRole, ReflectionKind};
use crate::driver::Fork;
use crate::driver::measure::EpisodePlace;
use crate::text::truncate;
use crate::ui::component::Component;
use crate::ui::draft::LessonDraft;
use crate::ui::facts::default_role;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::Model;
use crate::ui::msg::Request;
use crate::ui::position::forked_steps;
use crate::ui::selection::{kind_of_new_lesson, selected_lesson};
use crate::ui::types::Focus;

/// An overlay to open, and the requests it needs at its start.
pub type Opened = (Box<dyn Component>, Vec<Request>);

/// Creates the overlay that a request opens, above an overlay with the keys `below` if there is one. Returns `None` if the
/// request opens none.
///
/// # Errors
/// Returns a message for the person if there is nothing to open.
pub fn open(
    request: &Request,
    model: &Model,
    context: &Context<'_>,
    below: Option<Mode>,
) -> Option<Result<Opened, String>> {
    let opened: Box<dyn Component> = match request {
        Request::Open(Action::Help) => Box::new(Help::above(below)),
        Request::Open(Action::MeasureEffect) => return Some(effect_panel(model, context)),
        Request::EditLesson(id) => {
            let lesson = context.displayed_state().pool.get(id)?;
            Box::new(editor_with_draft(model, context, LessonDraft::from_lesson(lesson), lesson.number))
        }
        Request::MeasureLesson(id) => {
            let lesson = context
                .frame
                .head
                .pool
                .get(id)
                .ok_or_else(|| "this lesson is not in the pool any more".to_owned());
            return Some(lesson.and_then(|lesson| panel_for(lesson, model, context)));
        }
        Request::Open(action) => {
            let opened = open_for_action(*action, model, context);
            return Some(opened.map(|overlay| (overlay, requests_at_start(*action, context))));
        }
        Request::OpenForkDialog(_) if context.displayed_state().run.is_none() => {
            return Some(Err("the run has not started at this point".to_owned()));
        }
        Request::OpenForkDialog(change) => {
            let lesson = selected_lesson(model, context).map(|l| (l.id.clone(), l.number));
            Box::new(ForkDialog::new(context, change, lesson))
        }
        Request::OfferFork(error) => Box::new(ForkDialog::for_failed_undo(context, error, error.seq?)),
        Request::AskAboutDivergence { back: return_branch } => {
            Box::new(DivergenceDialog::new(return_branch.clone()))
        }
        Request::CompareWith(other) => {
            let (dialog, request) =
                CompareDialog::between(CompareDialog::shown_episode(context), other.clone());
            return Some(Ok((Box::new(dialog), vec![request])));
        }
        Request::ComparePair { number, a, b } => {
            let (dialog, request) = CompareDialog::for_pair(*number, a.clone(), b.clone());
            return Some(Ok((Box::new(dialog), vec![request])));
        }
        Request::AddLessonOnFork { fork, lesson, typed } => {
            let mut editor = branch_lesson_editor(model, context, fork, lesson.as_ref())?;
            editor.on_paste(typed, context);
            Box::new(editor)
        }
        Request::AcceptAsLesson { draft, evidence } => {
            let editor = LessonEditor::new(draft, draft.clone(), &context.lesson_kinds(), 0);
            Box::new(editor.with_evidence(evidence.clone()).written_by_mentor())
        }
        _ => return None,
    };
    Some(Ok((opened, Vec::new())))
}

/// Returns what the overlay of an action asks for when it opens.
fn requests_at_start(action: Action, context: &Context<'_>) -> Vec<Request> {
    // The override dialog needs the admissible actions. The breakpoint list uses them only for completion, so it
    // requests them only while the environment is idle: while a step awaits a decision.
    let is_environment_idle =
        !context.is_read_only() && context.frame.head.step_awaiting_decision().is_some();
    match action {
        Action::Override => vec![Request::ListAdmissible],
        Action::Breakpoints if is_environment_idle => vec![Request::ListAdmissible],
        Action::Compare => vec![Request::ListComparable],
        Action::Hint => vec![Request::Hint],
        Action::ProgramOutput => vec![Request::ReadProgramOutput],
        Action::UseRecordedReply => vec![Request::ListSessions],
        Action::SavedLessons | Action::PromoteLesson | Action::PromoteLessons => {
            vec![Request::ListSavedPools]
        }
        Action::LessonHealth => vec![Request::CheckHealth],
        Action::ChangeModel => vec![Request::ListModels(default_role(&context.frame.head))],
        _ => Vec::new(),
    }
}

/// Creates the overlay that an action of the main screen opens.
///
/// # Errors
/// Returns a message for the user if there is nothing to open.
fn open_for_action(
    action: Action,
    model: &Model,
    context: &Context<'_>,
) -> Result<Box<dyn Component>, String> {
    let head = &context.frame.head;
    let key = |a: Action| context.keymap.key_label(a).unwrap_or_else(|| a.name().to_owned());
    // Don't mention the key in read-only sessions, where nothing can be added.
    let adds =
        if context.is_read_only() { String::new() } else { format!("; {} adds one", key(Action::AddLesson)) };
    let none = |what: &str| format!("{what}{adds}");
    Ok(match action {
        Action::Palette => Box::new(Palette::new(context)),
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
        Action::SearchPicture => {
            let none = crate::catalog::search_histories(context.displayed_state()).is_empty();
            (!none).then(Box::<SearchPicture>::default).ok_or(
                "no search to show: a method that searches for its advice has a reward after its first evaluation",
            )?
        }
        Action::Hint | Action::ProgramOutput if context.is_read_only() => {
            return Err(model.read_only_message());
        }
        Action::Hint => Box::new(EnvironmentText::hint()),
        Action::ProgramOutput => Box::new(EnvironmentText::program_output()),
        Action::EpisodeList => Box::new(EpisodeList::at_shown_episode(context)),
        Action::Breakpoints if context.is_read_only() && head.breakpoints.all.is_empty() => {
            return Err(model.read_only_message());
        }
        Action::Breakpoints => Box::new(BreakpointList::new(context)),
        Action::Branches => {
            Box::new(BranchTree::new(model.branches.clone(), context, model.previous_branch.clone()))
        }
        Action::FilterMarks => {
            Box::new(MarkList::new(model.mark_filter, forked_steps(&model.branches, context)))
        }
        Action::Search => Box::new(Search::new(model.cursor)),
        Action::EndCard => {
            let ended = context.episode().is_some_and(|e| e.outcome.is_some());
            // A lane that only has the focus has a selected lesson, too: that which is the newest there.
            let is_chosen = model.focus == Focus::Lanes && model.selected_lesson.is_some();
            let selected = selected_lesson(model, context).filter(|_| is_chosen);
            let card = EndCard::new(selected.map(|lesson| lesson.id.clone()), &model.branches, context);
            ended.then(|| Box::new(card)).ok_or("the episode has not ended")?
        }
        Action::Override => {
            if head.failed_calls().any(|(effect, _)| effect.is_of_environment()) {
                let undo = match head.unanswered_step() {
                    Some(_) => format!(", {} takes the action back", key(Action::Undo)),
                    None => String::new(),
                };
                return Err(format!("the environment failed: {} tries again{undo}", key(Action::AskAgain)));
            }
            let plays = head.autonomy == Autonomy::Human;
            let step = head.step_awaiting_decision();
            if head.has_failed_call(ModelRole::Actor) {
                return Ok(Box::new(ActionDialog::new(head, None, true).replacing_failed_call()));
            }
            // The step's call was cancelled or given up, and nothing replaces it yet.
            if head.has_idle_step() {
                return Ok(Box::new(ActionDialog::new(head, None, true)));
            }
            if step.is_none() && !plays {
                return Err(no_proposal("override", context));
            }
            Box::new(ActionDialog::new(head, step, plays))
        }
        Action::RejectOrToggle => {
            let step = head.step_awaiting_decision().filter(|s| s.call.is_some());
            let Some(step) = step else {
                return Err(no_proposal("reject", context));
            };
            let proposal = step.proposed.clone().or_else(|| step.thought.clone()).unwrap_or_default();
            Box::new(InputDialog::new(Purpose::Reject { proposal }))
        }
        Action::Sample | Action::SampleLesson => {
            let mut lesson = None;
            if action == Action::SampleLesson {
                let selected = selected_lesson(model, context).ok_or_else(|| none("no lesson to compare"))?;
                lesson = Some((selected.id.clone(), selected.number));
            }
            if context.is_read_only() && !SampleList::has_samples(context, lesson.as_ref()) {
                return Err(model.read_only_message());
            }
            Box::new(SampleList::new(context, lesson)?)
        }
        Action::KeepTest => {
            let number = context.frame.selected_step();
            let step = context.step(number).ok_or("no decision to keep yet")?;
            Box::new(TestDialog::new(step)?)
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
        Action::Remark => Box::new(InputDialog::new(Purpose::Remark {
            episode: context.episode().map_or(0, |episode| episode.number),
            step: context.frame.selected_step(),
        })),
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
            let lesson = selected_lesson(model, context).ok_or_else(|| none("no lesson to edit"))?;
            Box::new(editor_with_draft(model, context, LessonDraft::from_lesson(lesson), lesson.number))
        }
        Action::LessonHealth => Box::<HealthList>::default(),
        Action::SavedLessons => Box::new(SavedLessons::to_take_over(selected_lesson(model, context))),
        Action::PromoteLessons => match context.frame.head.pool.lasting().count() {
            0 => return Err(none("no lesson to save: none outlasts its episode")),
            lessons => Box::new(SavedLessons::to_promote_all(lessons)),
        },
        Action::PromoteLesson => {
            let lesson = selected_lesson(model, context).ok_or_else(|| none("no lesson to save"))?;
            Box::new(SavedLessons::to_promote(lesson))
        }
        // In the lesson lanes a lesson is selected.
        Action::Open | Action::ShowDetails if model.focus == Focus::Lanes => {
            let lesson = selected_lesson(model, context).ok_or_else(|| none("no lesson here"))?;
            Box::new(LessonDetails::new(lesson.id.clone()))
        }
        Action::Open | Action::ShowDetails => Box::new(StepDetails::new(context.frame.selected_step())),
        _ => return Err(format!("`{}` does nothing here", action.name())),
    })
}

/// Says that there is no proposal, and how to get one.
fn no_proposal(what: &str, context: &Context<'_>) -> String {
    let key = |action: Action| context.keymap.key_label(action).unwrap_or_else(|| action.name().to_owned());
    if context.frame.head.run_over {
        return format!(
            "no proposal to {what}: the run is over; {} plays the task again",
            key(Action::AskAgain)
        );
    }
    format!("no proposal to {what}; {} goes to the next", key(Action::Step))
}

/// Returns the picture of the stored measurement that a demo shows at this step.
pub(in crate::ui) fn still(model: &Model, context: &Context<'_>) -> Option<impl Component> {
    let stored = model.shown_measurement(context)?;
    let lesson = context.frame.head.pool.get(&stored.0.query.lesson)?;
    Some(EffectPanel::still(lesson.number, stored.clone(), model.scroll.still))
}

/// Opens the measurement of the selected lesson: from the step on screen, or from the start of an ended episode.
fn effect_panel(model: &Model, context: &Context<'_>) -> Result<Opened, String> {
    if let Some(running) = running_panel(model, context) {
        return Ok((Box::new(running), Vec::new()));
    }
    let selected = selected_lesson(model, context).filter(|_| model.focus == Focus::Lanes);
    let (shown, present) = (&context.displayed_state().pool, &context.frame.head.pool);
    let is_taught = |lesson: &&Lesson| lesson.origin == LessonOrigin::Person && lesson.is_active();
    // In the past: would what the person has taught since have helped here?
    let is_newer = |lesson: &&Lesson| shown.get(&lesson.id).is_none();
    let taught_since = || present.all().rev().filter(is_newer).find(is_taught);
    // After teaching, the lesson that a person wrote last is meant.
    let last_taught = || shown.all().rev().find(is_taught);
    let lesson = selected
        .or_else(taught_since)
        .or_else(last_taught)
        .or_else(|| selected_lesson(model, context))
        .or_else(|| present.all().rev().filter(is_newer).find(|lesson| lesson.is_active()))
        .ok_or_else(|| {
            if shown.all().any(Lesson::is_active) {
                return "the selected lane has no lesson; select one in another lane, then measure it";
            }
            "no lesson to measure; teach one first"
        })?;
    panel_for(lesson, model, context)
}

/// Returns the place on screen: a step, or the start of an episode whose end is shown.
fn displayed_place(context: &Context<'_>) -> Option<EpisodePlace> {
    let episode = context.displayed_state().episode.as_deref()?;
    let step = context.frame.selected_step();
    let is_over = episode.outcome.is_some();
    Some(EpisodePlace { episode: Some(episode.number), step: (!is_over && step > 0).then_some(step) })
}

/// Opens the measurement of a lesson, from the step on screen or from the start of an ended episode.
fn panel_for(lesson: &Lesson, model: &Model, context: &Context<'_>) -> Result<Opened, String> {
    let place = displayed_place(context).ok_or("no episode to measure in yet")?;
    // Its present wording is measured, also if the past is on screen.
    let lesson = context.frame.head.pool.get(&lesson.id).unwrap_or(lesson);
    let (panel, request) = EffectPanel::new(lesson, place, &context.frame.branch, model.effect.clone());
    Ok((Box::new(panel), request.into_iter().collect()))
}

/// Returns the panel of the running measurement, unless another lesson is selected in its lane.
fn running_panel(model: &Model, context: &Context<'_>) -> Option<EffectPanel> {
    let running = model.effect.as_ref().filter(|effect| effect.0.is_running())?;
    let measured = &running.0.query.lesson;
    let chosen = selected_lesson(model, context).filter(|_| model.focus == Focus::Lanes);
    let lesson = context.frame.head.pool.get(measured)?;
    let is_chosen = chosen.is_none_or(|chosen| chosen.id == *measured);
    is_chosen.then(|| EffectPanel::running(lesson.number, running.clone(), displayed_place(context)))
}

/// Creates the editor for the lesson that a new branch starts with: a new lesson, or one of the displayed state.
fn branch_lesson_editor(
    model: &Model,
    context: &Context<'_>,
    fork: &Fork,
    lesson: Option<&LessonId>,
) -> Option<LessonEditor> {
    let lesson = lesson.map(|id| context.displayed_state().pool.get(id));
    let editor = match lesson {
        Some(lesson) => editor_with_draft(model, context, LessonDraft::from_lesson(lesson?), lesson?.number),
        None => editor_with_draft(model, context, LessonDraft::new(kind_of_new_lesson(model, context)), 0),
    };
    Some(editor.saving_on_branch(fork.clone()))
}

/// Opens the editor for a lesson, restoring its unsaved draft if there is one.
fn editor_with_draft(model: &Model, context: &Context<'_>, before: LessonDraft, number: u32) -> LessonEditor {
    let kept = model.drafts.iter().find(|d| d.lesson == before.lesson).cloned();
    LessonEditor::new(&kept.unwrap_or_else(|| before.clone()), before, &context.lesson_kinds(), number)
}
