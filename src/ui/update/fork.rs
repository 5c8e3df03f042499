//! Continuing from the past, and the line that is followed.

use super::lesson;
use crate::domain::{Autonomy, BranchId, LessonId};
use crate::driver::Health;
use crate::engine::{Command, CommandError, LessonCommand};
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::{Cursor, Focus, Model, Scrolls, Tone};
use crate::ui::msg::Request;
use crate::ui::overlay::{Change, Differs, ForkBox};

/// Opens the dialog for a key that changes what happens, pressed over the past; or says why it means nothing there.
pub(super) fn offer(model: &mut Model, look: &Context<'_>, action: Action) -> Vec<Request> {
    let lanes = model.focus == Focus::Lanes;
    let wish = |wants: Vec<Request>, model: &mut Model| {
        let command = wants.into_iter().find_map(|w| match w {
            Request::Send(command) => Some(command),
            _ => None,
        });
        command.map(|command| {
            model.notice = None;
            Change::Wish(Box::new(command.clone()), words(&command, look))
        })
    };
    let change = match action {
        Action::Override => Some(Change::Act),
        Action::RejectOrToggle if !lanes => Some(Change::Reject),
        Action::AskAgain | Action::Retry | Action::GiveUp => Some(Change::Again),
        Action::AddLesson | Action::LessonFromOverride => Some(Change::Teach),
        Action::EditLesson => {
            Some(super::chosen_lesson(model, look).map_or(Change::Teach, |l| Change::Lesson(l.id.clone())))
        }
        Action::RejectOrToggle => wish(lesson::toggle(model, look), model),
        Action::PinLesson => wish(lesson::pin(model, look), model),
        Action::DeleteLesson => wish(lesson::delete(model, look), model),
        Action::ScopeLesson => wish(lesson::rescope(model, look), model),
        Action::MoveUp => wish(lesson::shift(model, look, -1), model),
        Action::MoveDown => wish(lesson::shift(model, look, 1), model),
        Action::ReflectNow => {
            let command = Command::Reflect(lesson::kind(model, look));
            Some(Change::Wish(Box::new(command.clone()), words(&command, look)))
        }
        Action::ToggleConfirm | Action::ToggleHuman => {
            let to = if action == Action::ToggleConfirm { Autonomy::Confirm } else { Autonomy::Human };
            let to = if look.shown().autonomy == to { Autonomy::Auto } else { to };
            let command = Command::SetAutonomy(to);
            Some(Change::Wish(Box::new(command.clone()), words(&command, look)))
        }
        Action::Redo => {
            super::cursor::go(model, look, Cursor::Live);
            model.say("the present again: nothing was changed", Tone::Told, look.now);
            return Vec::new();
        }
        Action::Undo | Action::EndEpisode | Action::Again => {
            let key = look.keymap.label(Action::Live).unwrap_or_default();
            let words =
                format!("you are looking at turn {}; {key} returns to the present", look.moment.chosen());
            model.say(words, Tone::Refused, look.now);
            return Vec::new();
        }
        _ => Some(Change::GoOn),
    };
    if let Some(change) = change {
        open(model, look, &change);
    }
    Vec::new()
}

/// Opens the dialog over the moment shown.
pub(super) fn open(model: &mut Model, look: &Context<'_>, change: &Change) {
    if look.shown().run.is_none() {
        model.say("no run has begun there", Tone::Refused, look.now);
        return;
    }
    let lesson: Option<(LessonId, u32)> = super::chosen_lesson(model, look).map(|l| (l.id.clone(), l.number));
    model.overlays.push(Box::new(ForkBox::new(look, change, lesson)));
}

/// What a wish of a key comes to, as the dialog and the root of the branch name it.
pub(super) fn words(command: &Command, look: &Context<'_>) -> String {
    match command {
        Command::Lesson(LessonCommand::Add { text, .. }) => format!("a new lesson: {}", text.text),
        Command::Lesson(LessonCommand::Edit { text, .. }) => {
            format!("other words for a lesson: {}", text.text)
        }
        Command::Lesson(wish) => {
            lesson::told(wish, look).unwrap_or_else(|| "lessons in another order".to_owned())
        }
        Command::Reflect(kind) => format!("reflect now: {}", kind.name()),
        Command::SetAutonomy(Autonomy::Auto) => "the agent decides".to_owned(),
        Command::SetAutonomy(Autonomy::Confirm) => "stop at every proposal".to_owned(),
        Command::SetAutonomy(Autonomy::Human) => "you play".to_owned(),
        _ => "something else".to_owned(),
    }
}

/// A refused wish that is about an event: a branch from before it is offered.
pub(super) fn refused(model: &mut Model, look: &Context<'_>, refusal: &CommandError) -> bool {
    // Nothing comes up under the hands of a person who types elsewhere; it is said.
    let free = model.overlays.is_empty() && !look.reading();
    let Some(about) = refusal.seq.filter(|_| free) else { return false };
    model.overlays.push(Box::new(ForkBox::before(look, refusal, about)));
    true
}

/// Whether another line is followed now than before; the cursor, and whatever lay over the old one, goes then.
pub(super) fn follow(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    let (line, branch) = (look.store.epoch(), look.store.branch());
    if model.branch.is_some() && model.line == line {
        return Vec::new();
    }
    let left = model.branch.replace(branch.clone()).filter(|old| *old != branch);
    model.line = line;
    let Some(left) = left else { return Vec::new() };
    model.cursor = Cursor::Live;
    model.scrolls = Scrolls::default();
    model.overlays.clear();
    model.awaiting_answer = None;
    model.undo_told = None;
    (model.asked, model.queued_steps, model.prompted_step, model.carded, model.differed) =
        (None, 0, None, None, None);
    let known = model.twigs.iter().any(|t| t.id == branch);
    let tree = look.keymap.label(Action::Branches).unwrap_or_default();
    let back = look.keymap.label_in(Mode::Branches, Action::BranchBack).unwrap_or_default();
    let verb = if known { "on branch" } else { "new branch" };
    let (now, old) = (called(model, &branch), called(model, &left));
    let words = format!("{verb} {now}; {old} stays: {tree} shows both, {tree} {back} goes back");
    model.say(words, Tone::Told, look.now);
    model.left = Some(left);
    vec![Request::Branches]
}

/// What a branch is called, as far as that is known.
pub(super) fn called(model: &Model, id: &BranchId) -> String {
    model.twigs.iter().find(|t| t.id == *id).map_or_else(|| id.0.clone(), |t| t.called().to_owned())
}

/// Shows a difference of the rebuilt world once, with what can be done about it.
pub(super) fn differs(model: &mut Model, look: &Context<'_>) {
    let head = &look.moment.head;
    let at = head.divergence.as_ref().map(|d| (d.0, d.1));
    if at == model.differed || look.moment.live.health != Health::Running {
        return;
    }
    model.differed = at;
    if at.is_some() && !model.past() && model.overlays.is_empty() {
        let parent = model.left.clone().or_else(|| {
            let twig = model.twigs.iter().find(|t| Some(&t.id) == model.branch.as_ref())?;
            twig.parent.clone()
        });
        let back = parent.map(|id| (called(model, &id), id));
        model.overlays.push(Box::new(Differs::new(back)));
    }
}
