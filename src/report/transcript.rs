//! The session as lines of plain text: no frames, no colours, no cursor movement; suitable for logs and screen readers.

use super::document::{Span, author_name, cancelled_reply, dropped_count, reply_source, role_suffix};
use crate::domain::{
    Author, DecidedBy, LessonOp, LessonText, ModelRole, NoteKind, Reflection, describe_setting_value,
    pluralize,
};
use crate::engine::{Envelope, Event, PauseReason, State};
use crate::text::clean;
use std::fmt::Write as _;
use std::sync::Arc;

/// Writes a transcript event by event, so that a run can be followed while in progress.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// Whether an episode's heading has been written; further ones are preceded by a blank line.
    has_heading: bool,
    /// The progress written last.
    progress: f64,
    /// The episode's heading is still to be written: it begins with the goal, which the first observation may contain.
    heading_pending: bool,
}

/// Renders the whole transcript of a branch.
pub fn render_transcript(events: &[Arc<Envelope>]) -> String {
    let mut state = State::default();
    let mut transcript = Transcript::default();
    let mut out = String::new();
    for envelope in events {
        state.apply(envelope);
        out.push_str(&transcript.event_lines(envelope, &state));
    }
    out
}

impl Transcript {
    /// Creates a transcript that continues from `state`, omitting everything before it.
    pub fn from_state(state: &State) -> Self {
        let open = state.open_episode();
        let has_no_observation = open.is_some_and(|e| e.first_observation.is_none());
        Self {
            has_heading: state.ended_episodes.len() + usize::from(open.is_some() && !has_no_observation) > 0,
            progress: state.unchanged_result().progress,
            heading_pending: has_no_observation,
        }
    }

    /// Returns the lines of an event, each with its line break; empty for events that readers don't need. `after` is
    /// the state after the event.
    pub fn event_lines(&mut self, envelope: &Envelope, after: &State) -> String {
        let mut lines = String::new();
        self.write_event(&mut lines, envelope, after);
        if self.heading_pending && !lines.is_empty() {
            self.heading_pending = false;
            return self.heading(after) + &lines;
        }
        lines
    }

    fn heading(&mut self, after: &State) -> String {
        let Some(episode) = &after.episode else { return String::new() };
        let mut out = String::from(if std::mem::replace(&mut self.has_heading, true) { "\n" } else { "" });
        let (task, trial) = (&episode.task, episode.trial);
        let id = format!("{} {}", task.env, task.id);
        let name = if task.goal.is_empty() { id } else { format!("{} ({id})", task.goal) };
        let role = role_suffix(episode.role);
        write_line(&mut out, "", &format!("Episode {}: {name}, trial {trial}{role}", episode.number));
        out
    }

    fn write_event(&mut self, out: &mut String, envelope: &Envelope, after: &State) {
        match &envelope.event {
            Event::RunStarted { spec, .. } => {
                write_line(
                    out,
                    "",
                    &format!(
                        "{} with actor {}, mentor {}, {}, seed {}",
                        spec.method,
                        spec.actor,
                        spec.mentor,
                        pluralize(spec.tasks.len() as u64, "task"),
                        spec.seed
                    ),
                );
            }
            Event::PoolLoaded { source, lesson_count: lessons } => {
                write_line(
                    out,
                    "",
                    &format!("{} loaded from {source}", pluralize(u64::from(*lessons), "lesson")),
                );
            }
            Event::EpisodeStarted { .. } => {
                self.heading_pending = true;
                self.progress = 0.0;
            }
            Event::WorldReset { result, agent_view, .. } => {
                self.progress = result.progress;
                write_block(out, "    ", agent_view.as_deref().unwrap_or(&result.observation));
            }
            Event::ReplyReceived { reply_source: Some(from), .. } => {
                write_line(out, "      ", &reply_source(from));
            }
            Event::SettingDeviationsChanged { role, settings: changes, .. } => {
                let who = match role {
                    ModelRole::Actor => "actor",
                    ModelRole::Mentor => "mentor",
                };
                write_line(
                    out,
                    "      ",
                    &format!("request to the {who}'s server changed: {}", changes.join("; ")),
                );
            }
            Event::Warned { text, .. } => write_line(out, "      warning: ", text),
            Event::Proposed { step, thought, complaints, .. } => {
                if let Some(thought) = thought {
                    write_line(out, &format!("{step:>3} think  "), thought);
                }
                for complaint in complaints {
                    write_line(out, "      about the reply: ", complaint);
                }
            }
            Event::ActionOverridden { step, proposed: proposal, action, .. } => {
                let proposal = proposal.as_deref().unwrap_or("nothing");
                write_line(out, &format!("{step:>3} override  "), &format!("{proposal} -> {action}"));
            }
            Event::ProposalRejected { step, proposed: proposal, reason } => {
                write_line(out, &format!("{step:>3} rejected  "), &format!("{proposal}: {reason}"));
            }
            Event::AskedAgain { step, unusable_reason: unusable } => {
                let why = unusable.as_ref().map_or(String::new(), |why| format!(": {why}"));
                write_line(out, &format!("{step:>3} "), &format!("asked again{why}"));
            }
            Event::ActionTaken { step, executed, .. } => {
                if !executed.action.trim_start().starts_with("think:")
                    || executed.decided_by == DecidedBy::Person
                {
                    let by = if executed.decided_by == DecidedBy::Person { "  (by you)" } else { "" };
                    write_line(out, &format!("{step:>3} > "), &format!("{}{by}", executed.action));
                }
                if let (Some(sent), Some(rule)) = (&executed.sent, &executed.rewrite_rule) {
                    write_line(out, "      ", &format!("sent as `{sent}` by rule {rule}"));
                }
            }
            Event::Observed { result, agent_view, .. } => {
                write_block(out, "      ", agent_view.as_deref().unwrap_or(&result.observation));
                if (result.progress - self.progress).abs() > f64::EPSILON {
                    write_line(
                        out,
                        "      ",
                        &format!("progress {:.2} -> {:.2}", self.progress, result.progress),
                    );
                    self.progress = result.progress;
                }
            }
            Event::Noted { notes, .. } => {
                for note in notes.iter().filter(|n| n.kind == NoteKind::Mistake) {
                    write_line(
                        out,
                        "      ! ",
                        &format!("{}: {}", note.detector.replace('_', " "), note.evidence),
                    );
                }
            }
            Event::Reflected { reflection } => write_reflection(out, reflection),
            Event::LessonChanged { op, author: by } => write_lesson(out, op, *by, after),
            Event::SummaryProposed { summary } => {
                let (name, lines) = (summary.question.name(), summary.items.len());
                write_line(
                    out,
                    "      ",
                    &format!("{name}: {} waiting for a person's decision", pluralize(lines as u64, "line")),
                );
            }
            Event::SummaryApplied { refused } => {
                let numbers: Vec<String> = refused.iter().map(|n| (n + 1).to_string()).collect();
                let words = match &numbers[..] {
                    [] => "every line of the summary was accepted".to_owned(),
                    rejected => format!("rejected lines of the summary: {}", rejected.join(", ")),
                };
                write_line(out, "      ", &words);
            }
            Event::LessonUndone { .. } | Event::EditUndone { .. } => {
                let words = after.describe_undo(&envelope.event);
                write_line(out, "      ", words.as_deref().unwrap_or("a change was undone"));
            }
            Event::LessonRedone { .. } | Event::EditRedone { .. } => {
                let words = after.describe_undo(&envelope.event);
                write_line(out, "      ", words.as_deref().unwrap_or("a change was redone"));
            }
            Event::ThoughtEdited { step, text, .. } => {
                let words = text.as_deref().unwrap_or("(none)");
                write_line(out, &format!("{step:>3} thought, edited by a person  "), words);
            }
            Event::ObservationEdited { step, text, .. } => {
                write_line(
                    out,
                    &format!("{step:>3} observation, edited by a person (environment unchanged)  "),
                    text,
                );
            }
            Event::Remarked { step, text } => write_line(out, &format!("{step:>3} remark  "), text),
            Event::SettingChanged { name, value } => {
                write_line(
                    out,
                    "      ",
                    &format!("setting {name} = {}", describe_setting_value(name, value)),
                );
            }
            Event::RunChanged { spec } => {
                let (method, actor, mentor) = (&spec.method, &spec.actor, &spec.mentor);
                write_line(out, "      ", &format!("run changed: {method}, actor {actor}, mentor {mentor}"));
            }
            Event::CallFailed { call, failure } => {
                let failed = after.failed_calls().find(|(effect, _)| effect.call() == *call);
                let question = failed.and_then(|(effect, _)| effect.question());
                let question_name = question.map_or_else(String::new, |q| format!(" ({})", q.name()));
                let words =
                    format!("{}{question_name}: {}; {}", failure.source, failure.message, failure.hint);
                write_line(out, "      FAILED ", &words);
            }
            Event::PromptSent { prompt } => {
                if let Some(question) = prompt.question {
                    write_line(out, "      ? ", &format!("mentor call: {}", question.name()));
                }
            }
            Event::PromptDrafted { prompt } if prompt.edited => {
                write_line(out, "      ", "the prompt was edited before it was sent");
            }
            Event::CallGivenUp { .. } => write_line(out, "      ", "continued without the reply"),
            Event::CallCancelled { partial_reply: reply, .. } => {
                let line = cancelled_reply(reply);
                let spans = line.iter().map(|span| match span {
                    Span::Words(text) => text.to_string(),
                    Span::Quote(text) | Span::Code(text) => format!("{text:?}"),
                });
                write_line(out, "      ", &spans.collect::<String>());
            }
            Event::Diverged { episode, step, recorded, actual } => {
                write_line(
                    out,
                    "      DIFFERENT ",
                    &format!(
                        "episode {episode} step {step}: the rebuilt environment says `{actual}`, the journal `{recorded}`"
                    ),
                );
            }
            Event::EpisodeEnded { summary } => {
                let how = if summary.won {
                    "won".to_owned()
                } else {
                    format!("lost ({})", reason_name(summary.reason))
                };
                let assisted = if summary.assisted { ", assisted by a person" } else { "" };
                write_line(
                    out,
                    "",
                    &format!(
                        "Episode {} {how} after {}, {}, progress {:.2}{assisted}",
                        summary.number,
                        pluralize(summary.steps.into(), "step"),
                        pluralize(summary.moves.into(), "move"),
                        summary.progress
                    ),
                );
            }
            Event::RunEnded => {
                let won = after.ended_episodes.iter().filter(|e| e.won).count();
                write_line(
                    out,
                    "",
                    &format!(
                        "Run over: {won} of {} won",
                        pluralize(after.ended_episodes.len() as u64, "episode")
                    ),
                );
            }
            Event::BreakpointHit { .. } => {
                if let Some(hit) = after.breakpoints.last_hit.as_ref() {
                    let prefix = if hit.config.is_watch { "      WATCH " } else { "      BREAK " };
                    write_line(out, prefix, &hit.describe());
                }
            }
            Event::BreakpointSet { breakpoint, config } => {
                write_line(out, "      ", &format!("{} {breakpoint} set: {config}", config.kind_name()));
            }
            Event::BreakpointSwitched { breakpoint, enabled } => {
                let how = if *enabled { "on" } else { "off" };
                write_line(out, "      ", &format!("breakpoint {breakpoint} switched {how}"));
            }
            Event::BreakpointRemoved { breakpoint } => {
                write_line(out, "      ", &format!("breakpoint {breakpoint} deleted"));
            }
            Event::Paused { reason: PauseReason::Failure } => {
                write_line(out, "      ", "paused: a call failed");
            }
            Event::ComputeRequested { job, .. } => {
                write_line(out, "      ", &format!("job: {}", job_label(&job.name)));
            }
            Event::Computed { millis, .. } => {
                write_line(out, "      ", &format!("job done in {:.1} s", *millis as f64 / 1e3));
            }
            Event::TextDefined { .. }
            | Event::PromptDrafted { .. }
            | Event::StepOpened { .. }
            | Event::ReplyReceived { .. }
            | Event::Approved { .. }
            | Event::ReplayStartLoaded { .. }
            | Event::MemorySet { .. }
            | Event::PrefetchChanged(_)
            | Event::AutonomySet { .. }
            | Event::Resumed
            | Event::PauseRequested
            | Event::Paused { .. }
            | Event::StepGranted
            | Event::StageGranted
            | Event::Retried { .. }
            | Event::Closed
            | Event::Reopened => {}
        }
    }
}

/// Returns what screens call a job, or its name if this program doesn't know it.
fn job_label(name: &str) -> &str {
    crate::catalog::find_job(name).map_or(name, |job| job.label)
}

fn write_reflection(out: &mut String, reflection: &Reflection) {
    let author = author_name(reflection.author);
    write_line(out, "      * ", &format!("{} reflection ({author})", reflection.question().name()));
    for item in &reflection.items {
        write_line(out, "        - ", &format_lesson(&item.text));
    }
    for complaint in &reflection.complaints {
        write_line(out, "        about the reply: ", complaint);
    }
    if let Some(text) = dropped_count(reflection) {
        write_line(out, "        ", &text);
    }
}

/// Writes a person's change of a lesson, or a lesson that a method added by itself. Lessons from a reflection are written
/// with the reflection, and those from a file are counted.
fn write_lesson(out: &mut String, op: &LessonOp, author: Author, after: &State) {
    let is_shown = match (author, op) {
        (Author::Person, _) => true,
        (Author::Symbolic | Author::Mentor, LessonOp::Add { text, .. }) => !is_reflected(text, after),
        _ => false,
    };
    if !is_shown {
        return;
    }
    let number = after.pool.get(op.id()).map_or(0, |l| l.number);
    let line = match op {
        LessonOp::Add { kind, text, .. } => {
            format!("lesson {number} added ({}): {}", kind.name(), format_lesson(text))
        }
        LessonOp::Edit { text, .. } => format!("lesson {number} now says: {}", format_lesson(text)),
        LessonOp::Status { status, .. } => format!("lesson {number} is {}", super::record::enum_name(status)),
        LessonOp::Rescope { scope, .. } => {
            format!("lesson {number} now has scope {}", super::record::enum_name(scope))
        }
        LessonOp::Move { to, .. } => format!("lesson {number} moved to position {}", to + 1),
        LessonOp::Recur { .. } => format!("lesson {number} recurred"),
    };
    write_line(out, "      ", &line);
}

/// Returns whether a reflection of the last step that has any contains a text.
fn is_reflected(text: &LessonText, after: &State) -> bool {
    let step_of = |r: &Reflection| (r.episode, r.step);
    let last = after.reflections.last().map(|r| step_of(r));
    let of_step = after.reflections.iter().rev().take_while(|r| Some(step_of(r)) == last);
    of_step.flat_map(|r| &r.items).any(|item| item.text == *text)
}

fn format_lesson(text: &LessonText) -> String {
    match &text.solution {
        Some(solution) => format!("{} -> {solution}", text.text),
        None => text.text.clone(),
    }
}

fn reason_name(reason: crate::domain::EndReason) -> String {
    super::record::enum_name(&reason)
}

/// Writes one line: a prefix, then the text with its line breaks replaced by spaces.
fn write_line(out: &mut String, prefix: &str, text: &str) {
    let flat = clean(text).replace('\n', " ");
    let _ = writeln!(out, "{prefix}{}", flat.trim_end());
}

/// Writes a text of several lines, each after the prefix; empty lines are omitted.
fn write_block(out: &mut String, prefix: &str, text: &str) {
    for part in clean(text).lines().filter(|l| !l.trim().is_empty()) {
        let _ = writeln!(out, "{prefix}{}", part.trim_end());
    }
}
