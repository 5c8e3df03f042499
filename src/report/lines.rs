//! One JSON object per line, as `play --json` and `run --json` print them. Scripts rely on names and order of the
//! fields, so each line is a struct that serialises in declaration order.

use super::Tally;
use crate::domain::{
    Author, CallId, DecidedBy, EndReason, EpisodeRole, EpisodeSummary, FailureKind, LessonText, Purpose,
    ReflectionItem, ReflectionKind, RunSpec, SameAdvice, Seq, StepResult, Task, TokenCounts, Truncation,
};
use crate::engine::{Envelope, Event, State};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// The fields of a step that `play` and `run` share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepFields<'a> {
    step: u32,
    action: Option<&'a str>,
    observation: &'a str,
    reward: f64,
    progress: f64,
    done: bool,
    won: bool,
    valid: bool,
    admissible: &'a [String],
    world: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
}

/// Information about the environment that a step's result doesn't include and no journal contains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepExtras {
    /// The currently admissible commands, in the environment's own order; empty if they are not known, as in a run of an
    /// environment that is another program.
    pub admissible: Vec<String>,
    /// The environment's own description of its state.
    pub world: Value,
}

/// Returns a reply of `play --json`. The reset is step 0 without an action; `start` contains its goal and task id.
pub fn step_fields<'a>(
    step: u32,
    action: Option<&'a str>,
    result: &'a StepResult,
    extras: &'a StepExtras,
    start: Option<(&'a str, &'a str)>,
) -> StepFields<'a> {
    StepFields {
        step,
        action,
        observation: &result.observation,
        reward: result.reward,
        progress: result.progress_rate(),
        done: result.done,
        won: result.won,
        valid: result.valid,
        admissible: &extras.admissible,
        world: &extras.world,
        goal: start.map(|s| s.0),
        task: start.map(|s| s.1),
    }
}

/// Prints a run as lines; with `session` set, every line names the session, for output shared by several runs.
#[derive(Clone, Debug, Default)]
pub struct RunLines {
    /// Name of the session, if lines of several are mixed.
    pub session: Option<String>,
}

#[derive(Serialize)]
struct HitLine<'a> {
    episode: u32,
    step: u32,
    breakpoint: u32,
    condition: &'a str,
    why: &'a str,
}

#[derive(Serialize)]
struct TaggedLine<'a> {
    #[serde(flatten)]
    line: RunLine<'a>,
    /// Number of the event. By the time the line is printed, the journal contains this event and all before it.
    seq: Seq,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum RunLine<'a> {
    Run {
        name: &'a str,
        path: &'a str,
        env: &'a str,
        method: &'a str,
        actor: &'a str,
        mentor: &'a str,
        interface: &'a str,
        seed: u64,
        trials: u32,
        tasks: Vec<&'a str>,
        max_steps: u32,
        settings: &'a crate::domain::Settings,
    },
    EpisodeStart {
        episode: u32,
        task: &'a str,
        trial: u32,
        role: EpisodeRole,
        goal: &'a str,
        task_type: Option<&'a str>,
        observation: &'a str,
        progress: f64,
        admissible: &'a [String],
        world: &'a Value,
    },
    Step {
        episode: u32,
        step: u32,
        action: Option<&'a str>,
        observation: &'a str,
        reward: f64,
        progress: f64,
        done: bool,
        won: bool,
        valid: bool,
        admissible: &'a [String],
        world: &'a Value,
        thought: Option<&'a str>,
        proposed: Option<Cow<'a, str>>,
        by: DecidedBy,
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<&'a str>,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        complaints: &'a [String],
    },
    /// A warning about the run.
    Warning { step: u32, text: &'a str },
    Reflection {
        episode: u32,
        step: u32,
        kind: ReflectionKind,
        author: Author,
        items: &'a [ReflectionItem],
        #[serde(skip_serializing_if = "Option::is_none")]
        purpose: Option<Purpose>,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        complaints: &'a [String],
        #[serde(skip_serializing_if = "<[LessonText]>::is_empty")]
        dropped: &'a [LessonText],
        #[serde(skip_serializing_if = "Option::is_none")]
        truncated: Option<Truncation>,
        #[serde(skip_serializing_if = "Option::is_none")]
        same_advice: Option<SameAdvice>,
    },
    /// A job of the method begins.
    Job { call: CallId, name: &'a str },
    /// A job ends with a result.
    JobEnd { call: CallId, millis: u64 },
    CallFailed {
        call: CallId,
        place: &'a str,
        what: &'a str,
        next: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<FailureKind>,
    },
    /// A breakpoint fired, and the run stops.
    Stopped(HitLine<'a>),
    /// A watch fired, and the run continues.
    Warned(HitLine<'a>),
    EpisodeEnd {
        episode: u32,
        task: &'a str,
        trial: u32,
        won: bool,
        steps: u32,
        moves: u32,
        progress: f64,
        calls: u32,
        tokens: u64,
        reason: EndReason,
        assisted: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        spent: Option<TokenCounts>,
    },
}

impl RunLines {
    /// Returns the line of an event, without line break, or `None` for events that are not printed. `load_extras` is
    /// called only if the line includes the extras; `path` is the session's folder.
    pub fn event_line(
        &self,
        envelope: &Envelope,
        after: &State,
        path: &str,
        load_extras: impl FnOnce() -> StepExtras,
    ) -> Option<String> {
        let extras;
        let line = match &envelope.event {
            Event::RunStarted { session, spec } => run_line(session, spec, path),
            Event::WorldReset { result, goal, .. } => {
                let episode = after.episode.as_deref()?;
                extras = load_extras();
                RunLine::EpisodeStart {
                    episode: episode.number,
                    task: &episode.task.id,
                    trial: episode.trial,
                    role: episode.role,
                    goal,
                    task_type: episode.task.task_type.as_deref(),
                    observation: &result.observation,
                    progress: result.progress_rate(),
                    admissible: &extras.admissible,
                    world: &extras.world,
                }
            }
            Event::Observed { step, result, .. } => {
                let episode = after.episode.as_deref()?;
                let recorded_step = episode.step(*step)?;
                extras = load_extras();
                RunLine::Step {
                    episode: episode.number,
                    step: *step,
                    action: recorded_step.action(),
                    observation: &result.observation,
                    reward: result.reward,
                    progress: result.progress_rate(),
                    done: result.done,
                    won: result.won,
                    valid: result.valid,
                    admissible: &extras.admissible,
                    world: &extras.world,
                    thought: recorded_step.thought.as_deref(),
                    proposed: if recorded_step.is_person_action() {
                        recorded_step.proposal_text()
                    } else {
                        recorded_step.proposed.as_deref().map(Cow::Borrowed)
                    },
                    by: recorded_step.executed.as_ref().map_or(DecidedBy::Actor, |e| e.decided_by),
                    from: recorded_step.reply_source.as_deref(),
                    complaints: &recorded_step.complaints,
                }
            }
            Event::Warned { step, text } => RunLine::Warning { step: *step, text },
            Event::Reflected { reflection } => RunLine::Reflection {
                episode: reflection.episode,
                step: reflection.step,
                kind: reflection.kind,
                author: reflection.author,
                items: &reflection.items,
                purpose: (reflection.purpose != Purpose::Reflect).then_some(reflection.purpose),
                complaints: &reflection.complaints,
                dropped: &reflection.dropped,
                truncated: reflection.truncated,
                same_advice: reflection.same_advice,
            },
            Event::ComputeRequested { call, job } => RunLine::Job { call: *call, name: &job.name },
            Event::Computed { call, millis, .. } => RunLine::JobEnd { call: *call, millis: *millis },
            Event::CallFailed { call, failure } => RunLine::CallFailed {
                call: *call,
                place: &failure.source,
                what: &failure.message,
                next: &failure.hint,
                kind: failure.kind,
            },
            Event::BreakpointHit { breakpoint, episode, step, reason: why } => {
                let hit = after.breakpoints.last_hit.as_deref()?;
                let hit_line = HitLine {
                    episode: *episode,
                    step: *step,
                    breakpoint: *breakpoint,
                    condition: &hit.config.condition,
                    why,
                };
                if hit.config.is_watch { RunLine::Warned(hit_line) } else { RunLine::Stopped(hit_line) }
            }
            Event::EpisodeEnded { summary } => episode_end_line(
                summary,
                after.episode.as_deref().map(|e| e.token_counts).filter(|c| !c.is_empty()),
            ),
            _ => return None,
        };
        serde_json::to_string(&TaggedLine { line, seq: envelope.seq, session: self.session.as_deref() }).ok()
    }
}

fn run_line<'a>(session: &'a str, spec: &'a RunSpec, path: &'a str) -> RunLine<'a> {
    RunLine::Run {
        name: session,
        path,
        env: spec.tasks.first().map_or("", |t| t.env.as_str()),
        method: &spec.method,
        actor: &spec.actor,
        mentor: &spec.mentor,
        interface: spec.interface.word(),
        seed: spec.seed,
        trials: spec.trials,
        tasks: spec.tasks.iter().map(|t: &Task| t.id.as_str()).collect(),
        max_steps: spec.limits.steps,
        settings: &spec.settings,
    }
}

fn episode_end_line(summary: &EpisodeSummary, token_counts: Option<TokenCounts>) -> RunLine<'_> {
    RunLine::EpisodeEnd {
        episode: summary.number,
        task: &summary.task.id,
        trial: summary.trial,
        won: summary.won,
        steps: summary.steps,
        moves: summary.moves,
        progress: summary.progress,
        calls: summary.calls,
        tokens: summary.tokens,
        spent: token_counts,
        reason: summary.reason,
        assisted: summary.assisted,
    }
}

/// Returns the last line of `run --json`. `ended` is `finished`, `limit`, `error` or `interrupted`.
pub fn summary_line(tally: &Tally, ended: &str, paths: &[String]) -> String {
    #[derive(Serialize)]
    struct Summary<'a> {
        r#type: &'static str,
        ended: &'a str,
        #[serde(flatten)]
        tally: &'a Tally,
        paths: &'a [String],
    }
    serde_json::to_string(&Summary { r#type: "summary", ended, tally, paths }).unwrap_or_default()
}
