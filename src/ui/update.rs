//! What happened, turned into changes of the model and wishes for the outside.

mod copy;
mod cursor;
mod fork;
mod hits;
mod key;
mod lesson;
mod mouse;
mod news;
mod refusal;
mod scroll;
mod turn;
mod undo;

pub(crate) use cursor::{after, place};
pub(crate) use lesson::{advice_kind, chosen as chosen_lesson, kind_to_type};
pub(crate) use news::ended;
pub use undo::Labels;

use self::news::{dismiss_hint, hear};
use self::refusal::{acts_on_the_present, only_read, wants_a_driver};
use super::context::Context;
use super::keymap::Action;
use super::model::{Cursor, Focus, Model, Tone};
use super::msg::{Msg, Request};
use super::overlay::{self, Response};
use super::view::Scratch;
use crate::domain::{Autonomy, EndReason, ReflectionKind};
use crate::engine::{Command, LessonCommand, RunStatus};
use crossterm::event::KeyEventKind;
use std::time::Duration;

/// Two presses of Ctrl-C within this time quit.
const TWICE: Duration = Duration::from_secs(2);

/// Handles a message. What the outside must do is returned, in order.
pub fn update(model: &mut Model, look: &Context<'_>, scratch: &Scratch, msg: Msg) -> Vec<Request> {
    model.expire(look.now);
    // What has nothing left to show takes no key either.
    let there = model.overlays.len();
    model.overlays.retain(|o| !o.stale(look));
    let gone = model.overlays.len() < there;
    let requests = match msg {
        Msg::Key(key) if key.kind == KeyEventKind::Press => key::pressed(model, look, scratch, key, gone),
        Msg::Key(_) => Vec::new(),
        Msg::Paste(text) => over(model, |top| top.paste(&text, look)),
        Msg::Mouse(event) => mouse::update(model, look, scratch, event),
        Msg::Resize(columns, rows) => {
            model.size = (columns, rows);
            Vec::new()
        }
        Msg::Answer(overlay::Answer::Hint(hint)) => {
            let (words, tone) = match hint {
                Some(hint) => (format!("hint: {hint}"), Tone::Told),
                None => ("this world cannot look for a way to its goal".to_owned(), Tone::Refused),
            };
            model.say(words, tone, look.now);
            Vec::new()
        }
        Msg::Answer(overlay::Answer::Branches(told)) => {
            match &told {
                Ok(twigs) => model.twigs = twigs.clone(),
                Err(why) if model.overlays.is_empty() => model.say(why.clone(), Tone::Refused, look.now),
                Err(_) => {}
            }
            over(model, |top| top.answer(overlay::Answer::Branches(told), look))
        }
        Msg::Answer(answer) => over(model, |top| top.answer(answer, look)),
        Msg::News | Msg::Tick => {
            let mut wants = fork::follow(model, look);
            hear(model, look);
            fork::differs(model, look);
            wants.extend(turn::go_on(model, look));
            wants
        }
    };
    settle(model, look, scratch, requests)
}

/// Carries out what concerns the screen itself and keeps the rest.
fn settle(model: &mut Model, look: &Context<'_>, scratch: &Scratch, requests: Vec<Request>) -> Vec<Request> {
    let mut rest = Vec::new();
    let requests = refusal::while_halted(model, look, requests);
    for request in requests {
        if let Some(kind) = added_kind(&request).filter(|_| !look.reading()) {
            lesson::show_lane(model, look, kind);
        }
        match request {
            Request::Go(cursor) => cursor::go(model, look, cursor),
            Request::Marks(marks) => model.marks = marks,
            Request::Say(text) => model.say(text, Tone::Told, look.now),
            // What an action wants in turn is settled as well; an action never wants another action.
            Request::Do(action) => {
                let wants = act(model, look, scratch, action);
                rest.extend(settle(model, look, scratch, wants));
            }
            Request::Keep { of, draft } => {
                model.drafts.retain(|d| d.of != of);
                model.drafts.extend(draft);
            }
            Request::Mouse(on) => {
                model.mouse = on;
                rest.push(Request::Mouse(on));
            }
            Request::Send(_)
            | Request::Admissible
            | Request::AdmissibleThen(_)
            | Request::Hint
            | Request::RetryWrite
            | Request::Fork(_)
            | Request::Teach { .. }
            | Request::Accept { .. }
            | Request::Switch(_)
            | Request::Relabel(..)
                if look.reading() =>
            {
                only_read(model, look);
            }
            // A change of the past's lessons is one on a branch of its own.
            Request::Send(command @ Command::Lesson(_)) if model.past() && !accepts(&command) => {
                let words = fork::words(&command, look);
                fork::open(model, look, &overlay::Change::Wish(Box::new(command), words));
            }
            Request::Beside(place) => {
                let (compare, want) = overlay::Compare::between(overlay::Compare::here(look), place);
                model.overlays.push(Box::new(compare));
                rest.push(want);
            }
            Request::Teach { fork, of } => {
                model.overlays.extend(overlay::teach(model, look, fork, of.as_ref()));
            }
            Request::Accept { draft, evidence } => {
                let editor = overlay::Editor::new(&draft, draft.clone(), &look.kinds(), 0);
                model.overlays.push(Box::new(editor.resting_on(evidence).of_mentor()));
            }
            other => {
                let other = undo::turned(model, look, other);
                let edit = matches!(
                    other,
                    Request::Send(
                        Command::Lesson(_) | Command::Undo | Command::UndoChange(_) | Command::Redo
                    )
                );
                let mut words = match &other {
                    Request::Send(Command::Lesson(wish)) => lesson::told(wish, look).unwrap_or_default(),
                    _ => String::new(),
                };
                if edit && look.thinking() && words.is_empty() {
                    let key = look.keymap.label(Action::AskAgain).unwrap_or_default();
                    words = format!("counts from the next prompt; {key} asks this turn again");
                }
                if !words.is_empty() {
                    model.say(words, Tone::Told, look.now);
                }
                rest.push(other);
            }
        }
    }
    rest
}

/// Lets the topmost overlay react, and takes it away when it is done.
fn over(model: &mut Model, react: impl FnOnce(&mut Box<dyn overlay::Overlay>) -> Response) -> Vec<Request> {
    let Some(top) = model.overlays.last_mut() else { return Vec::new() };
    let Response { requests, close } = react(top);
    if close {
        let gone = model.overlays.pop();
        if requests.iter().any(|r| matches!(r, Request::Fork(_) | Request::Send(_))) {
            model.awaiting_answer = gone;
        }
    }
    requests
}

/// An action of the main screen.
fn act(model: &mut Model, look: &Context<'_>, scratch: &Scratch, action: Action) -> Vec<Request> {
    let state = &look.moment.head;
    if look.reading() && wants_a_driver(action) {
        only_read(model, look);
        return Vec::new();
    }
    let story = model.focus == Focus::Story && action == Action::Open && !look.reading();
    if model.past() && (acts_on_the_present(action) || action == Action::AddLesson || story) {
        return fork::offer(model, look, action);
    }
    dismiss_hint(model, action);
    let send = |command| vec![Request::Send(command)];
    match action {
        _ if turn::summary_is_due(model, look, action) => opened(model, look, Action::Summary),
        Action::Step | Action::NextTask => turn::step(model, look),
        Action::StepStage => send(Command::StepStage),
        Action::Open => match model.focus {
            Focus::Story if !model.past() && !look.reading() => match ended(look) {
                Some(_) => opened(model, look, Action::EndCard),
                None => turn::step(model, look),
            },
            _ => opened(model, look, action),
        },
        Action::PauseRun if state.run_over && state.open_episode().is_none() => {
            let key = look.keymap.label(Action::AskAgain).unwrap_or_default();
            model.say(format!("the run is over; {key} plays the task again"), Tone::Refused, look.now);
            Vec::new()
        }
        Action::PauseRun => match state.run_status {
            RunStatus::Running => send(Command::Pause),
            RunStatus::Paused if state.grant.is_some() => send(Command::Pause),
            RunStatus::Paused | RunStatus::Pausing => send(Command::Run),
        },
        Action::ToggleConfirm => {
            let to = if state.autonomy == Autonomy::Confirm { Autonomy::Auto } else { Autonomy::Confirm };
            send(Command::SetAutonomy(to))
        }
        Action::ToggleHuman => {
            let to = if state.autonomy == Autonomy::Human { Autonomy::Auto } else { Autonomy::Human };
            send(Command::SetAutonomy(to))
        }
        Action::RejectOrToggle if model.focus == Focus::Lanes => lesson::toggle(model, look),
        Action::PinLesson => lesson::pin(model, look),
        Action::DeleteLesson => lesson::delete(model, look),
        Action::ScopeLesson => lesson::rescope(model, look),
        Action::ReflectNow => match lesson::kind(model, look) {
            kind if look.kinds().contains(&kind) => send(Command::Reflect(kind)),
            kind => {
                let words = format!("{} writes no {} reflections", look.method(), kind.name());
                model.say(words, Tone::Refused, look.now);
                Vec::new()
            }
        },
        Action::MoveUp => lesson::shift(model, look, -1),
        Action::MoveDown => lesson::shift(model, look, 1),
        Action::AskAgain | Action::Retry if look.halted().is_some() => vec![Request::RetryWrite],
        Action::AskAgain if state.failed_call.is_some() || state.divergence.is_some() => send(Command::Retry),
        Action::AskAgain if ended(look).is_some() => again(model, look),
        Action::AskAgain => send(Command::AskAgain),
        Action::Retry => send(Command::Retry),
        Action::GiveUp => send(Command::GiveUp),
        Action::Undo => send(Command::Undo),
        Action::Redo => send(Command::Redo),
        Action::Again => again(model, look),
        Action::LastProgress => cursor::last_progress(model, look),
        Action::Export => vec![Request::Export],
        Action::Theme => vec![Request::NextTheme],
        Action::EndEpisode if state.open_episode().is_some() => {
            let key = look.keymap.label(action).unwrap_or_default();
            model.say(
                format!("end this episode? {key} again ends it; any other key does not"),
                Tone::Refused,
                look.now,
            );
            model.ending = true;
            Vec::new()
        }
        Action::EndEpisode => send(Command::EndEpisode(EndReason::Person)),
        Action::Back => cursor::step(model, look, -1),
        Action::Forward => cursor::step(model, look, 1),
        Action::PreviousMark => cursor::mark(model, look, -1),
        Action::NextMark => cursor::mark(model, look, 1),
        Action::Fork => {
            fork::open(model, look, &overlay::Change::GoOn);
            Vec::new()
        }
        Action::Branches => {
            let wants = opened(model, look, action);
            wants.into_iter().chain([Request::Branches]).collect()
        }
        Action::PreviousEpisode => cursor::episode(model, look, -1),
        Action::NextEpisode => cursor::episode(model, look, 1),
        Action::First => cursor::first(model, look),
        Action::Live => {
            cursor::go(model, look, Cursor::Live);
            Vec::new()
        }
        Action::Up => scroll::rows(model, look, scratch, -1),
        Action::Down => scroll::rows(model, look, scratch, 1),
        Action::PageUp => scroll::page(model, look, scratch, -1),
        Action::PageDown => scroll::page(model, look, scratch, 1),
        Action::NextPane => scroll::next_pane(model, look, scratch, 1),
        Action::PreviousPane => scroll::next_pane(model, look, scratch, -1),
        Action::Pane(number) => scroll::pane(model, look, number),
        Action::Zoom => {
            model.zoomed = !model.zoomed;
            Vec::new()
        }
        Action::Arrange => {
            model.arrangement = Some(model.arrangement().next(model.size.0));
            Vec::new()
        }
        Action::Truth => {
            model.truth = !model.truth;
            Vec::new()
        }
        Action::Reasoning => {
            model.reasoning = !model.reasoning;
            Vec::new()
        }
        Action::Mouse => {
            let words = if model.mouse {
                "the mouse belongs to the terminal"
            } else {
                "the mouse belongs to the screen"
            };
            model.say(words, Tone::Told, look.now);
            vec![Request::Mouse(!model.mouse)]
        }
        Action::Close => close(model),
        Action::Quit => {
            if model.zoomed || model.past() {
                close(model)
            } else {
                vec![Request::Quit]
            }
        }
        Action::Hint => vec![Request::Hint],
        Action::Copy => copy::copy(look),
        Action::Cancel => cancel(model, look),
        Action::Suspend => vec![Request::Suspend],
        Action::Redraw => vec![Request::Redraw],
        _ => opened(model, look, action),
    }
}

/// Opens the overlay of an action.
fn opened(model: &mut Model, look: &Context<'_>, action: Action) -> Vec<Request> {
    if action == Action::Breaks && look.reading() && look.moment.head.breakpoints.all.is_empty() {
        only_read(model, look);
        return Vec::new();
    }
    match overlay::open(action, model, look) {
        Ok(overlay) => {
            model.overlays.push(overlay);
            // What the world accepts now fills the box; a world at work is not asked for a mere list of words.
            let waits = !look.reading() && look.moment.head.step_awaiting_decision().is_some();
            match action {
                Action::Override => vec![Request::Admissible],
                Action::Breaks if waits => vec![Request::Admissible],
                Action::Compare => vec![Request::Others],
                Action::Recorded => vec![Request::Sessions],
                Action::Model => vec![Request::Models(overlay::role_in_question(&look.moment.head))],
                _ => Vec::new(),
            }
        }
        Err(why) => {
            model.say(why, Tone::Refused, look.now);
            Vec::new()
        }
    }
}

/// Closes the topmost thing: zoom, then the past. Never cancels anything.
fn close(model: &mut Model) -> Vec<Request> {
    if model.zoomed {
        model.zoomed = false;
    } else if model.past() {
        model.cursor = Cursor::Live;
        model.scrolls = super::model::Scrolls::default();
    } else {
        model.notice = None;
    }
    Vec::new()
}

/// Ctrl-C: breaks the calls off and pauses; twice within two seconds it quits.
fn cancel(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    let again = model.interrupted.is_some_and(|at| look.now.saturating_duration_since(at) <= TWICE);
    if again {
        return vec![Request::Quit];
    }
    model.interrupted = Some(look.now);
    let state = &look.moment.head;
    let words = if look.thinking() || !state.calls.is_empty() {
        "cancelled; once more within two seconds quits"
    } else if state.run_status != RunStatus::Paused || state.grant.is_some() {
        "paused; once more within two seconds quits"
    } else {
        "nothing is going on; once more within two seconds quits"
    };
    model.say(words, Tone::Told, look.now);
    vec![Request::Send(Command::Cancel)]
}

/// Plays the task of the listed episode once more.
fn again(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    let Some(episode) = look.episode() else {
        model.say("there is no task to play again", Tone::Refused, look.now);
        return Vec::new();
    };
    // It stops at its first proposal, also where the run before it did not stop.
    let mut wants = Vec::new();
    if look.moment.head.run_status != RunStatus::Paused {
        wants.push(Request::Send(Command::Pause));
    }
    wants.push(Request::Send(Command::BeginEpisode(Box::new(episode.task.clone()))));
    wants
}

/// The kind of a lesson that a request adds.
fn added_kind(request: &Request) -> Option<ReflectionKind> {
    let commands = match request {
        Request::Send(command) => std::slice::from_ref(command),
        Request::Fork(fork) => fork.then.as_slice(),
        _ => return None,
    };
    commands.iter().find_map(|command| match command {
        Command::Lesson(LessonCommand::Add { kind, .. } | LessonCommand::Accept { kind, .. }) => Some(*kind),
        _ => None,
    })
}

/// Words of the mentor that a person accepts are a lesson from now on, also where they were found in the past.
fn accepts(command: &Command) -> bool {
    matches!(command, Command::Lesson(LessonCommand::Accept { .. }))
}
