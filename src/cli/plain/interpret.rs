//! Interprets command lines: pure functions from a line and the state to commands or text.

mod branches;
mod breakpoints;
mod describe;
mod help;
mod lessons;
mod status;
mod summary;
mod typed_verb;

pub(super) use describe::describe_past_step;
use describe::{describe_steps, describe_world};
pub(super) use help::help_text;
pub(super) use lessons::unshown_kind_warning;
pub(super) use status::status_line;

use super::seek::Seek;
use crate::actions::{PlainForm, Verb, find_word};
use crate::catalog::switch_model;
use crate::cli::lesson_kinds::parse_kind;
use crate::cli::settings::parse_assignment_in;
use crate::domain::common_settings::{OVERRIDDEN_THOUGHT, OVERRIDE_SHOWN_AS};
use crate::domain::{Autonomy, EndReason, LessonStatus, ModelRole, RoleSource, SegmentOrigin, ShownAs};
use crate::engine::{Command, LessonCommand, RunStatus, State};
use crate::journal::LabelChange;
use crate::prompt::render;
use std::fmt::Write as _;
use typed_verb::TypedVerb;

/// What a line requests.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LineAction {
    /// An empty line.
    Empty,
    /// Send these commands to the engine in order.
    Commands(Vec<Command>),
    /// Run without stopping.
    Run,
    Print(String),
    /// List the actions that the environment would accept.
    Admissible,
    /// Show a hint towards the goal.
    Hint,
    /// Show what the environment's program has printed.
    Output,
    /// Open a branch where a step awaits its decision, and take this action there.
    Fork {
        step: u32,
        action: Option<String>,
    },
    /// Continue another branch, by its id or name.
    Switch(String),
    /// Name, annotate, archive or unarchive a branch.
    Label(String, LabelChange),
    /// View another step of the episode.
    Seek(Seek),
    Branches,
    Help,
    Quit,
}

/// Interprets a line typed in this state.
///
/// # Errors
/// Returns the message to print if the line is not a valid command.
pub(super) fn parse_line(line: &str, state: &State) -> Result<LineAction, String> {
    // On the screen a colon opens the palette; people who are used to it may type it here.
    let line = line.trim().trim_start_matches(':').trim_start();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if word.is_empty() {
        return Ok(LineAction::Empty);
    }
    if word.parse::<u32>().is_ok() {
        return describe_steps(word, state).map(LineAction::Print);
    }
    match find_word(word) {
        Some(PlainForm::Does(verb)) => parse_verb(TypedVerb::new(verb, word, rest)?, state),
        Some(PlainForm::Instead(instead)) => Err(format!("`{word}` needs the screen; here: {instead}")),
        Some(PlainForm::ScreenOnly) => Err(format!("`{word}` needs the screen; resume without --plain")),
        None => {
            let verb = if state.autonomy == Autonomy::Human { Verb::Act } else { Verb::Override };
            Err(format!(
                "unknown command {word:?}; `help` lists the commands, `{} {line}` sends it as an action",
                verb.word()
            ))
        }
    }
}

/// Interprets a verb with its arguments.
fn parse_verb(typed: TypedVerb<'_>, state: &State) -> Result<LineAction, String> {
    let one = |command: Command| Ok(LineAction::Commands(vec![command]));
    let lesson = |command: LessonCommand| Ok(LineAction::Commands(vec![Command::Lesson(command)]));
    let argument = || typed.argument();
    let rest = typed.rest;
    match typed.verb {
        Verb::Step => one(Command::Step),
        Verb::Stage => one(Command::StepStage),
        Verb::Run => Ok(LineAction::Run),
        Verb::PauseRun if state.run_status == RunStatus::Paused => Ok(LineAction::Run),
        Verb::Pause | Verb::PauseRun => one(Command::Pause),
        Verb::Cancel => one(Command::Cancel),
        Verb::Approve => one(Command::Approve),
        Verb::Override => one(override_command(typed.action()?, state.setting(OVERRIDE_SHOWN_AS), state)),
        Verb::OverrideAsEdit => one(override_command(typed.action()?, ShownAs::HumanEdit, state)),
        Verb::Break => Ok(breakpoints::set_breakpoint(typed, rest.to_owned())),
        Verb::Watch => Ok(breakpoints::set_breakpoint(typed, format!("warn {rest}"))),
        Verb::Breaks => Ok(LineAction::Print(breakpoints::list_breakpoints(state))),
        Verb::BreakEdit => one(breakpoints::parse_edit(typed)?),
        Verb::BreakOn => one(breakpoints::parse_switch(typed, true)?),
        Verb::BreakOff => one(breakpoints::parse_switch(typed, false)?),
        Verb::BreakDelete => one(breakpoints::parse_removal(typed)?),
        Verb::Reject => one(Command::Reject(argument()?)),
        Verb::AskAgain => one(Command::AskAgain),
        Verb::Repeat => Ok(LineAction::Commands(repeat_what_happened(state))),
        Verb::Act if state.has_failed_call(ModelRole::Actor) => {
            Ok(LineAction::Commands(vec![Command::GiveUp, Command::Act(typed.action()?)]))
        }
        Verb::Act => one(Command::Act(typed.action()?)),
        Verb::Think => one(Command::Act(format!("think: {}", argument()?))),
        Verb::Confirm if state.autonomy != Autonomy::Confirm => one(Command::SetAutonomy(Autonomy::Confirm)),
        Verb::Play if state.autonomy == Autonomy::Human => one(Command::SetAutonomy(Autonomy::Auto)),
        Verb::Auto | Verb::Confirm => one(Command::SetAutonomy(Autonomy::Auto)),
        Verb::Human | Verb::Play => one(Command::SetAutonomy(Autonomy::Human)),
        Verb::Lesson => lesson(lessons::parse_new_lesson(typed, state)?),
        Verb::LessonAccept => lesson(lessons::accept_discarded_text(state)?),
        Verb::Lessons => Ok(LineAction::Print(lessons::list_lessons(state))),
        Verb::Edit => lesson(lessons::parse_edit(typed, state)?),
        Verb::On => lesson(lessons::parse_status(LessonStatus::On, rest, state)?),
        Verb::Off => lesson(lessons::parse_status(LessonStatus::Off, rest, state)?),
        Verb::Pin => lesson(lessons::parse_status(LessonStatus::Pinned, rest, state)?),
        Verb::Delete => lesson(lessons::parse_status(LessonStatus::Retired, rest, state)?),
        Verb::Scope => lesson(lessons::parse_new_scope(rest, state)?),
        Verb::Move => lesson(lessons::parse_move(typed, state)?),
        Verb::Undo if rest == "older" => {
            let change = state.newest_undoable().ok_or("nothing older can be undone")?;
            one(Command::UndoChange(change))
        }
        Verb::Undo if rest.is_empty() => one(Command::Undo),
        Verb::Undo => Err(typed.with_usage(&format!("unknown argument {rest:?}"))),
        Verb::Redo => one(Command::Redo),
        Verb::Thought => {
            one(branches::parse_step_edit(typed, |step, text| Command::EditThought { step, text })?)
        }
        Verb::Observation => {
            one(branches::parse_step_edit(typed, |step, text| Command::EditObservation { step, text })?)
        }
        Verb::Back => branches::parse_seek(typed, Seek::Back),
        Verb::Forward => branches::parse_seek(typed, Seek::Forward),
        Verb::Live => Ok(LineAction::Seek(Seek::Live)),
        Verb::Fork => branches::parse_fork(typed),
        Verb::Switch if !rest.is_empty() => Ok(LineAction::Switch(rest.to_owned())),
        Verb::Branches | Verb::Switch => Ok(LineAction::Branches),
        Verb::BranchName => branches::parse_label(typed, |text| LabelChange::Name(Some(text))),
        Verb::BranchNote => branches::parse_label(typed, |text| LabelChange::Note(Some(text))),
        Verb::Archive => Ok(LineAction::Label(argument()?, LabelChange::Archived(true))),
        Verb::Unarchive => Ok(LineAction::Label(argument()?, LabelChange::Archived(false))),
        Verb::Summary => summary::summary_lines(state).map(LineAction::Print),
        Verb::Accept => one(summary::parse_accepted(rest, state)?),
        Verb::Refuse => one(summary::parse_refused(rest, state)?),
        Verb::Reflect => one(Command::Reflect(parse_kind(&argument()?).map_err(|f| f.message)?)),
        Verb::Prompt => format_prompt(rest, state).map(LineAction::Print),
        Verb::PromptEdit => one(parse_prompt_edit(typed, state)?),
        Verb::World => Ok(LineAction::Print(describe_world(state))),
        Verb::Actions => Ok(LineAction::Admissible),
        Verb::Hint => Ok(LineAction::Hint),
        Verb::Output => Ok(LineAction::Output),
        Verb::Story => describe_steps(rest, state).map(LineAction::Print),
        Verb::Note => {
            let step = state.last_step().map_or(0, |s| s.number);
            one(Command::Remark { episode: None, step, text: argument()? })
        }
        Verb::Set => one(parse_setting(typed, state)?),
        Verb::Retry => one(Command::Retry),
        Verb::Model => one(model_command(ModelRole::Actor, &argument()?, state)?),
        Verb::Mentor => one(model_command(ModelRole::Mentor, &argument()?, state)?),
        Verb::Recorded => one(parse_recording(typed)?),
        Verb::GiveUp => one(Command::GiveUp),
        Verb::End => one(Command::EndEpisode(EndReason::Person)),
        Verb::Again => Ok(LineAction::Commands(restart_task(state))),
        Verb::Help => Ok(LineAction::Help),
        Verb::Quit => Ok(LineAction::Quit),
    }
}

/// Returns the commands of `r`, which does what its key does on the screen.
fn repeat_what_happened(state: &State) -> Vec<Command> {
    if state.failed_call.is_some() || state.divergence.is_some() {
        return vec![Command::Retry];
    }
    let is_over = state.episode.as_ref().is_some_and(|e| e.outcome.is_some());
    if is_over { restart_task(state) } else { vec![Command::AskAgain] }
}

/// Parses `NAME VALUE`.
fn parse_setting(typed: TypedVerb<'_>, state: &State) -> Result<Command, String> {
    let (name, value) = typed.split_first();
    if value.is_empty() {
        return Err(typed.missing_argument());
    }
    let run = state.run.as_deref().ok_or("no run yet")?;
    let parsed = parse_assignment_in(run, name, value);
    let value = parsed.map_err(|f| format!("{}; {}", f.message, f.hint))?;
    Ok(Command::ChangeSetting { name: name.to_owned(), value })
}

/// Parses the session whose replies are used, or `cache`.
fn parse_recording(typed: TypedVerb<'_>) -> Result<Command, String> {
    let source = typed.argument()?;
    Ok(Command::RetryFromRecording(match source.as_str() {
        "cache" => source,
        name => match RoleSource::parse(name) {
            RoleSource::Recording(_) => source,
            _ => RoleSource::name_of_recording(name),
        },
    }))
}

/// Returns the command that switches the model of a role.
fn model_command(role: ModelRole, model: &str, state: &State) -> Result<Command, String> {
    if role == ModelRole::Actor && RoleSource::parse(model) == RoleSource::Person {
        return Ok(Command::SetAutonomy(Autonomy::Human));
    }
    let run = state.run.as_deref().ok_or("no run yet")?;
    Ok(Command::ChangeRun(Box::new(switch_model(run, role, model)?)))
}

/// Returns the commands that play the same task again, up to its first proposal.
fn restart_task(state: &State) -> Vec<Command> {
    let begin = state.episode.as_deref().map(|e| Command::BeginEpisode(Box::new(e.task.clone())));
    begin.into_iter().chain([Command::Step]).collect()
}

/// Returns an override command. The setting `override.thought` decides what happens to the thought. One line can't hold
/// both an action and a rewritten thought, so the thought is kept where the setting asks for a rewrite.
pub(super) fn override_command(action: String, shown_as: ShownAs, state: &State) -> Command {
    let thought_disposition = state.setting(OVERRIDDEN_THOUGHT).without_new_text();
    Command::Override { action, shown_as, thought_disposition }
}

/// Formats the pending draft, else the last prompt sent to the actor; with a kind, the mentor's prompt of that kind.
fn format_prompt(kind: &str, state: &State) -> Result<String, String> {
    let of_kind = if kind.is_empty() { None } else { Some(parse_kind(kind).map_err(|f| f.message)?) };
    let mut mentor = state.mentor_prompts.iter().rev();
    let last = match of_kind {
        None => state.actor_prompts.0.as_ref(),
        Some(kind) => mentor.find(|(q, ..)| q.kind == kind).map(|(_, last, _)| last),
    };
    let draft = state.waiting_prompts().find(|d| of_kind.is_none() || d.question.map(|q| q.kind) == of_kind);
    let Some(record) = draft.or(last) else { return Ok("no such prompt sent yet".to_owned()) };
    let recipient = record.question.map_or_else(String::new, |q| format!(" to the mentor ({})", q.name()));
    let status = match draft {
        Some(_) if state.draft.is_some() => ", draft: `stage` sends it, `prompt-edit N TEXT` edits segment N",
        Some(d) if state.failed_call.is_none() && state.is_edited_since_sent(d) => {
            ", edited by you, call cancelled: `retry` sends it, `undo` restores the text"
        }
        Some(_) if state.failed_call.is_none() => {
            ", call cancelled: `retry` sends it again, `prompt-edit N TEXT` edits segment N"
        }
        Some(_) => ", call failed: `retry` sends it, `prompt-edit N TEXT` edits segment N",
        None => "",
    };
    let mut out = format!(
        "prompt{recipient} of episode {} step {}, about {} tokens{status}\n",
        record.episode,
        record.step,
        state.to_corrected_tokens(record.role, u64::from(record.tokens))
    );
    for (index, segment) in render(state, record).segments.iter().enumerate() {
        let number = if draft.is_some() { format!("{} ", index + 1) } else { String::new() };
        let origin = match &segment.origin {
            SegmentOrigin::Lesson { id, version } => {
                let number = state.pool.get(id).map_or(0, |l| l.number);
                format!(", lesson {number} version {version}")
            }
            SegmentOrigin::Step(step) => format!(", step {step}"),
            _ => String::new(),
        };
        let _ = writeln!(out, "[{number}{}{origin}] {}", segment.label.name(), segment.text.trim_end());
    }
    if let Some(sampling) = state
        .run
        .as_ref()
        .and_then(|run| run.describe_request_sampling(record, &state.setting_deviations(record.role)))
    {
        let _ = writeln!(out, "[{sampling}]");
    }
    // Settings that are not sent to the server, or are sent with another value.
    let deviations = state.setting_deviations(record.role);
    if !deviations.is_empty() {
        let _ = writeln!(out, "[changed in the request] {}", deviations.join("; "));
    }
    for dropped in &record.dropped {
        let _ = writeln!(out, "[dropped] {}", dropped.reason);
    }
    Ok(out)
}

/// Parses `[KIND] N TEXT`: the segment's number in the pending prompt and its new text. KIND selects a mentor prompt.
fn parse_prompt_edit(typed: TypedVerb<'_>, state: &State) -> Result<Command, String> {
    let split = |text: &'_ str| -> (String, String) {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        (word.to_owned(), rest.trim().to_owned())
    };
    let (mut number, mut text) = split(typed.rest);
    let mut call = None;
    if let Ok(kind) = parse_kind(&number) {
        let found = state.waiting_prompts().find(|p| p.question.is_some_and(|q| q.kind == kind));
        call = Some(found.ok_or_else(|| format!("no {number} prompt is waiting to be sent"))?.call);
        (number, text) = split(&text);
    }
    let index = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let segment = index.ok_or_else(|| {
        format!("usage: {}; `prompt` shows the segments of a draft, numbered from 1", typed.usage())
    })?;
    Ok(Command::EditPrompt { call, segment, text })
}

#[cfg(test)]
mod tests;
