//! Short texts for values of the domain, the same in every part of the screen.

use crate::actions::Action;
use crate::catalog::{TaskFacts, find_environment};
use crate::domain::{Lesson, LessonOrigin, MeasuredEffect, Scope};
use crate::engine::{Episode, State};
use crate::ui::theme::Role;
use std::borrow::Cow;

/// Returns the label of a scope.
pub(crate) fn scope_label(scope: Scope) -> &'static str {
    match scope {
        Scope::Episode => "this episode",
        Scope::Task => "this task",
        Scope::TaskType => "tasks of this type",
        Scope::Environment => "the environment",
    }
}

/// Returns the label of a lesson's scope, and what to set if the run's prompts ignore it.
pub(crate) fn scope_text(lesson: &Lesson, state: &State) -> Cow<'static, str> {
    let label = scope_label(lesson.scope);
    if !state.ignores_scope(lesson) {
        return Cow::Borrowed(label);
    }
    Cow::Owned(format!("{label}; prompts show it in all (lessons_by_scope=true limits it)"))
}

/// Returns the label of a lesson's origin.
pub(crate) fn origin_label(origin: LessonOrigin) -> &'static str {
    match origin {
        LessonOrigin::Symbolic => "symbolic rules",
        LessonOrigin::Mentor => "the mentor",
        LessonOrigin::Person => "you",
        LessonOrigin::File => "the pool file loaded at start",
    }
}

/// Returns the colour of what was measured of a lesson.
pub(crate) fn measured_role(result: &MeasuredEffect) -> Role {
    match result.verdict.as_str() {
        "helped" => Role::Good,
        "harmful" | "inconsistent" => Role::Bad,
        _ => Role::Muted,
    }
}

/// Returns a progress rate as text: `2/4` if the number of subgoals is known, else a percentage.
pub fn progress_text(progress: f64, state: &State) -> String {
    written_progress(progress, subgoal_count(state))
}

/// Returns a progress rate of an episode as text, like [`progress_text`].
pub fn episode_progress_text(progress: f64, episode: &Episode) -> String {
    written_progress(progress, episode_subgoals(episode))
}

fn written_progress(progress: f64, subgoals: Option<u64>) -> String {
    match subgoals {
        Some(n) => format!("{}/{n}", (progress * n as f64).round() as u64),
        None => format!("{:.0} %", progress * 100.0),
    }
}

/// Returns the number of the task's sub-goals, if its environment knows it and a bar can show as many.
pub fn subgoal_count(state: &State) -> Option<u64> {
    episode_subgoals(state.episode.as_ref()?)
}

fn episode_subgoals(episode: &Episode) -> Option<u64> {
    let known = find_environment(&episode.task.env).map(|environment| environment.task_facts.subgoals);
    let count = known.unwrap_or(TaskFacts::NONE.subgoals);
    count(&episode.task, &episode.shown).filter(|n| (1..=12).contains(n))
}

/// Returns words that a person may type for an action and that neither its name nor its description has.
pub fn other_words(action: Action) -> &'static str {
    match action {
        Action::ShowDetails => "raw reply, response, answer, usage, tokens, cost, why",
        Action::Step => "next, continue, accept, execute",
        Action::Override => {
            "own action, instead, correct, change action, another action, admissible, possible, valid actions, what could it do"
        }
        Action::AddLesson => "teach, new lesson, advice, hint for the agent",
        Action::Remark => "note, comment, annotate, caption",
        Action::Quit => "exit, leave, close the program",
        Action::Help => "keys, legend, shortcuts, manual",
        Action::NextTheme => "colours, colors, dark, light",
        Action::ChangeModel => "temperature, settings, provider, server",
        Action::DeleteLesson => "remove, forget",
        Action::EditLesson => "change, rewrite, rename",
        Action::Breakpoints => "stop at, halt when",
        Action::Zoom => "maximize, full screen",
        Action::Copy => "clipboard",
        Action::ProgramOutput => "log, console",
        Action::EndEpisode => "stop, abort, give up the task",
        Action::MeasureEffect => "does it help, test a lesson, experiment, evidence",
        Action::Undo => "revert, take back, cancel my change",
        Action::Back => "previous step, rewind, history",
        Action::Fork => "what if, try again from here",
        Action::Prompt => "request, context, messages, system message, input",
        Action::Search => "find, grep",
        Action::Compare => "diff, difference, side by side",
        Action::Export => "export, save, html, share",
        Action::ExportPicture => {
            "screenshot, image, slide, save, share, record, recording, cast, animation, video, gif"
        }
        Action::ExportMarkdown => "save, md, share",
        Action::PreviousEpisode | Action::NextEpisode => "chapter of a demo, trial",
        Action::ToggleStageMode => "stage mode, hide hosts and paths, present, talk, audience, big",
        Action::ToggleReasoning => "hide, show, thinking",
        Action::ToggleTruth => "hide, solution",
        Action::Branches => "hide, archive",
        Action::AskAgain => "ask again, retry, regenerate",
        Action::EndCard => "outcome, why lost, end card",
        Action::EpisodeList => "trials, runs, history",
        Action::PauseRun => "stop, play, autoplay",
        Action::Live => "end, now, latest",
        _ => "",
    }
}
