//! Interprets command lines: pure functions from a line and the state to commands or text.

mod branches;
mod breakpoints;
mod describe;
mod help;
mod screen_only;
mod status;
mod summary;

pub(super) use describe::describe_past_step;
use describe::{describe_steps, describe_world};
pub(super) use help::HELP;
use screen_only::screen_only_message;
pub(super) use status::status_line;

use crate::catalog::kind_of_new_lesson;
use crate::cli::lesson_kinds::{parse_kind, parse_scope};
use crate::cli::settings::parse_assignment_in;
use crate::domain::common_settings::{OVERRIDDEN_THOUGHT, OVERRIDE_SHOWN_AS};
use crate::domain::{
    Autonomy, EndReason, Lesson, LessonStatus, LessonText, ModelRole, ReflectionKind, SegmentOrigin, ShownAs,
    pluralize,
};
use crate::engine::{Command, LessonCommand, RunStatus, State};
use crate::journal::LabelChange;
use crate::method::switch_model;
use crate::prompt::render;
use crate::report::dropped_texts;
use std::fmt::Write as _;

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
    /// Open a branch at the proposal of a step and send it these commands.
    Fork {
        step: u32,
        commands: Vec<Command>,
    },
    /// Continue another branch, by its id or name.
    Switch(String),
    /// Name, annotate, archive or unarchive a branch.
    Label(String, LabelChange),
    /// View another step of the episode.
    Seek(super::seek::Seek),
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
    let rest = rest.trim();
    let one = |command: Command| Ok(LineAction::Commands(vec![command]));
    if let Some(parsed) = branches::parse_branch_line(word, rest, state) {
        return parsed;
    }
    if let Some(parsed) = breakpoints::parse_breakpoint_line(word, rest, state) {
        return parsed;
    }
    match word {
        "" => Ok(LineAction::Empty),
        "step" | "n" | "next" | "open" => one(Command::Step),
        "stage" | "s" => one(Command::StepStage),
        "run" | "go" | "continue" | "c" => Ok(LineAction::Run),
        "pause-run" if state.run_status == RunStatus::Paused => Ok(LineAction::Run),
        "pause" | "pause-run" => one(Command::Pause),
        "approve" => one(Command::Approve),
        "override" | "o" => {
            let shown_as = state.setting(OVERRIDE_SHOWN_AS);
            one(override_command(require_argument(rest, "override ACTION")?, shown_as, state))
        }
        "override-as-edit" => one(override_command(
            require_argument(rest, "override-as-edit ACTION")?,
            ShownAs::HumanEdit,
            state,
        )),
        "reject" | "x" => one(Command::Reject(require_argument(rest, "reject REASON")?)),
        "r" if state.failed_call.is_some() || state.divergence.is_some() => one(Command::Retry),
        "r" if state.episode.as_ref().is_some_and(|e| e.outcome.is_some()) => {
            Ok(LineAction::Commands(restart_task(state)))
        }
        "r" | "ask-again" => one(Command::AskAgain),
        "cancel" => one(Command::Cancel),
        "retry" => one(Command::Retry),
        "give-up" => one(Command::GiveUp),
        "model" => one(model_command(ModelRole::Actor, &require_argument(rest, "model NAME")?, state)?),
        "mentor" => one(model_command(ModelRole::Mentor, &require_argument(rest, "mentor NAME")?, state)?),
        "recorded" => one(Command::RetryFromRecording(
            match require_argument(rest, "recorded SESSION, or recorded cache")?.as_str() {
                cache @ "cache" => cache.to_owned(),
                session => format!("recorded:{}", session.strip_prefix("recorded:").unwrap_or(session)),
            },
        )),
        "act" if state.has_failed_call(ModelRole::Actor) => Ok(LineAction::Commands(vec![
            Command::GiveUp,
            Command::Act(require_argument(rest, "act ACTION")?),
        ])),
        "act" => one(Command::Act(require_argument(rest, "act ACTION")?)),
        "think" | "think:" => one(Command::Act(format!("think: {}", require_argument(rest, "think TEXT")?))),
        "confirm" if state.autonomy != Autonomy::Confirm => one(Command::SetAutonomy(Autonomy::Confirm)),
        "auto" | "confirm" => one(Command::SetAutonomy(Autonomy::Auto)),
        "play" if state.autonomy == Autonomy::Human => one(Command::SetAutonomy(Autonomy::Auto)),
        "human" | "play" => one(Command::SetAutonomy(Autonomy::Human)),
        "lesson" | "a" | "add" | "lesson-add" => {
            one(Command::Lesson(parse_new_lesson(&require_argument(rest, "lesson TEXT")?, state)?))
        }
        "lesson-accept" => one(Command::Lesson(accept_discarded_text(state)?)),
        "lessons" => Ok(LineAction::Print(list_lessons(state))),
        "edit" | "on" | "off" | "pin" | "delete" | "scope" | "move" => {
            one(Command::Lesson(parse_lesson_change(word, rest, state)?))
        }
        "lesson-edit" => one(Command::Lesson(parse_lesson_change("edit", rest, state)?)),
        "lesson-pin" => one(Command::Lesson(parse_lesson_change("pin", rest, state)?)),
        "lesson-scope" => one(Command::Lesson(parse_lesson_change("scope", rest, state)?)),
        "lesson-delete" => one(Command::Lesson(parse_lesson_change("delete", rest, state)?)),
        "summary" => summary::summary_lines(state).map(LineAction::Print),
        "accept" | "refuse" => one(summary::parse_decision(word, rest, state)?),
        "undo" | "u" if rest == "older" => {
            let change = state.newest_undoable().ok_or("nothing older can be undone")?;
            one(Command::UndoChange(change))
        }
        "undo" | "u" => one(Command::Undo),
        "redo" | "U" => one(Command::Redo),
        "reflect" => one(Command::Reflect(
            parse_kind(&require_argument(rest, "reflect KIND")?).map_err(|f| f.message)?,
        )),
        "prompt" | "p" => format_prompt(rest, state).map(LineAction::Print),
        "prompt-edit" => one(parse_prompt_edit(rest, state)?),
        "world" | "w" => Ok(LineAction::Print(describe_world(state))),
        "actions" | "admissible" => Ok(LineAction::Admissible),
        "hint" => Ok(LineAction::Hint),
        "story" | "inspect" => describe_steps(rest, state).map(LineAction::Print),
        number if number.parse::<u32>().is_ok() => describe_steps(number, state).map(LineAction::Print),
        "note" | "remark" => {
            let step = state.last_step().map_or(0, |s| s.number);
            one(Command::Remark { step, text: require_argument(rest, "note TEXT")? })
        }
        "set" => {
            let (name, value) = rest.split_once(' ').ok_or("missing argument; usage: set NAME VALUE")?;
            let run = state.run.as_deref().ok_or("no run yet")?;
            let parsed = parse_assignment_in(run, name, value.trim());
            let value = parsed.map_err(|f| format!("{}; {}", f.message, f.hint))?;
            one(Command::ChangeSetting { name: name.to_owned(), value })
        }
        "end" | "end-episode" => one(Command::EndEpisode(EndReason::Person)),
        "begin" | "again" => Ok(LineAction::Commands(restart_task(state))),
        "help" | "?" | "h" => Ok(LineAction::Help),
        "quit" | "q" | "exit" => Ok(LineAction::Quit),
        other => Err(screen_only_message(other).unwrap_or_else(|| {
            format!(
                "unknown command {other:?}; `help` lists the commands, `override {line}` sends it as an action"
            )
        })),
    }
}

/// Returns the command that switches the model of a role.
fn model_command(role: ModelRole, model: &str, state: &State) -> Result<Command, String> {
    if (role, model) == (ModelRole::Actor, "human") {
        return Ok(Command::SetAutonomy(Autonomy::Human));
    }
    let run = state.run.as_deref().ok_or("no run yet")?;
    Ok(Command::ChangeRun(Box::new(switch_model(run, role, model))))
}

/// Returns the commands that play the same task again, up to its first proposal.
fn restart_task(state: &State) -> Vec<Command> {
    let begin = state.episode.as_deref().map(|e| Command::BeginEpisode(Box::new(e.task.clone())));
    begin.into_iter().chain([Command::Step]).collect()
}

/// Accepts the mentor's newest discarded text that isn't a lesson yet.
fn accept_discarded_text(state: &State) -> Result<LessonCommand, String> {
    let steps = state.episode.iter().flat_map(|episode| episode.steps.iter().rev());
    let mut texts = steps.flat_map(|step| dropped_texts(step, state));
    let unaccepted = texts.find(|text| text.lesson(state).is_none());
    Ok(unaccepted.ok_or("no discarded mentor text that isn't a lesson already")?.accept())
}

fn require_argument(rest: &str, usage: &str) -> Result<String, String> {
    if rest.is_empty() { Err(format!("missing argument; usage: {usage}")) } else { Ok(rest.to_owned()) }
}

/// Returns an override command. The setting `override.thought` decides what happens to the thought. One line can't hold
/// both an action and a rewritten thought, so the thought is kept where the setting asks for a rewrite.
fn override_command(action: String, shown_as: ShownAs, state: &State) -> Command {
    let thought_disposition = state.setting(OVERRIDDEN_THOUGHT).without_new_text();
    Command::Override { action, shown_as, thought_disposition }
}

fn parse_lesson_text(text: &str) -> LessonText {
    match text.split_once(" -> ").or_else(|| text.split_once(" → ")) {
        Some((mistake, solution)) => LessonText::error(mistake.trim(), solution.trim()),
        None => LessonText::plain(text),
    }
}

/// Parses a new lesson. Without a kind, `mistake -> solution` is an Error, and other text what it would be on the screen.
fn parse_new_lesson(text: &str, state: &State) -> Result<LessonCommand, String> {
    let named = text
        .split_once(':')
        .and_then(|(word, rest)| parse_kind(word.trim()).ok().map(|kind| (kind, rest.trim())));
    let (kind, text) = match named {
        Some((_, "")) => return Err("missing argument; usage: lesson KIND: TEXT".to_owned()),
        Some((kind, rest)) => (kind, parse_lesson_text(rest)),
        None => match parse_lesson_text(text) {
            pair if pair.solution.is_some() => (ReflectionKind::Error, pair),
            text => {
                let method = state.run.as_ref().map_or("", |run| run.method.as_str());
                (kind_of_new_lesson(method), text)
            }
        },
    };
    Ok(LessonCommand::add(kind, kind.scope_of_new_lesson(), text, String::new()))
}

fn parse_lesson_change(word: &str, rest: &str, state: &State) -> Result<LessonCommand, String> {
    let (number, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let rest = rest.trim();
    let lesson = number
        .parse()
        .ok()
        .and_then(|n| state.pool.by_number(n))
        .ok_or_else(|| format!("no lesson {number:?}; `lessons` lists them"))?;
    let id = lesson.id.clone();
    let status = |status| LessonCommand::Status { id: id.clone(), status };
    Ok(match word {
        "on" => status(LessonStatus::On),
        "off" => status(LessonStatus::Off),
        "pin" => status(LessonStatus::Pinned),
        "delete" => status(LessonStatus::Retired),
        "scope" => LessonCommand::Rescope {
            id,
            scope: parse_scope(rest).map_err(|f| format!("{}; {}", f.message, f.hint))?,
        },
        "move" => {
            let position: usize =
                rest.parse().ok().filter(|p| *p > 0).ok_or("usage: move N PLACE; places count from 1")?;
            LessonCommand::Move { id, to: position - 1 }
        }
        _ => {
            let mut text = parse_lesson_text(&require_argument(rest, "edit N TEXT")?);
            if text.solution.is_none() {
                text.solution.clone_from(&lesson.text().solution);
            }
            LessonCommand::Edit { id, text }
        }
    })
}

fn list_lessons(state: &State) -> String {
    let mut out = String::new();
    for lesson in state.pool.all().filter(|l| l.status != LessonStatus::Retired) {
        let _ = writeln!(out, "{}", format_lesson(lesson));
    }
    if out.is_empty() { "no lessons yet; `lesson TEXT` adds one".to_owned() } else { out }
}

fn format_lesson(lesson: &Lesson) -> String {
    let text = lesson.text();
    let solution = text.solution.as_ref().map(|s| format!(" -> {s}")).unwrap_or_default();
    let status = match lesson.status {
        LessonStatus::Pinned => ", pinned",
        LessonStatus::Off => ", off",
        LessonStatus::On | LessonStatus::Retired => "",
    };
    format!(
        "{} {}: {}{solution} (in {}{status})",
        lesson.number,
        lesson.kind.name(),
        text.text,
        pluralize(lesson.uses.into(), "prompt")
    )
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
fn parse_prompt_edit(rest: &str, state: &State) -> Result<Command, String> {
    let split = |text: &'_ str| -> (String, String) {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        (word.to_owned(), rest.trim().to_owned())
    };
    let (mut number, mut text) = split(rest);
    let mut call = None;
    if let Ok(kind) = parse_kind(&number) {
        let found = state.waiting_prompts().find(|p| p.question.is_some_and(|q| q.kind == kind));
        call = Some(found.ok_or_else(|| format!("no {number} prompt is waiting to be sent"))?.call);
        (number, text) = split(&text);
    }
    let index = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let segment =
        index.ok_or("usage: prompt-edit N TEXT; `prompt` shows the segments of a draft, numbered from 1")?;
    Ok(Command::EditPrompt { call, segment, text })
}

#[cfg(test)]
mod tests;
