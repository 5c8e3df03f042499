//! The blocks of an event, for transcripts, which are written while a run is in progress.

use super::block::{Block, EDITED_BY_PERSON, Line, quote, words};
use super::samples::finished_samples;
use super::section::{
    cancelled_call, executed, findings, first_shown, observed, plan_facts, thought_fate, undecided,
};
use crate::catalog::{run_notes, run_roles};
use crate::domain::{Author, EpisodeSummary, LessonOp, LessonText, Reflection, RunSpec, Step, pluralize};
use crate::engine::{Episode, Event, PauseReason, State};
use std::borrow::Cow;

/// Returns what an event tells a reader; nothing for most. `after` is the state after the event. The work doesn't grow
/// with the episode.
pub(in crate::report) fn event_blocks<'a>(event: &'a Event, after: &'a State) -> Vec<Block<'a>> {
    if let Some(act) = after.person_act(event) {
        return vec![Block::Act { act: Cow::Owned(act), undone: false }];
    }
    let notice = |text: String| vec![Block::Notice(vec![quote(text)])];
    match event {
        Event::RunStarted { spec, .. } => {
            let notes = run_notes(spec).into_iter().map(|(name, text)| vec![quote(format!("{name}: {text}"))]);
            [run_line(spec)].into_iter().chain(notes).map(Block::Run).collect()
        }
        Event::PoolLoaded { source, lesson_count } => {
            let count = pluralize(u64::from(*lesson_count), "lesson");
            vec![Block::Run(vec![words(format!("{count} loaded from ")), quote(source)])]
        }
        Event::RunEnded => {
            let count = |is_counted: fn(&EpisodeSummary) -> bool| {
                after.ended_episodes.iter().filter(|episode| is_counted(episode)).count() as u64
            };
            let won = count(|episode| episode.is_attempt() && episode.won);
            let mut line =
                format!("Run over: {won} of {} won", pluralize(count(EpisodeSummary::is_attempt), "episode"));
            let calibration = count(|episode| episode.role.is_calibration());
            if calibration > 0 {
                line = format!("{line}, after {}", pluralize(calibration, "calibration episode"));
            }
            let env_failures = count(|episode| episode.reason.is_env_failure());
            if env_failures > 0 {
                line = format!("{line}; {} of the environment", pluralize(env_failures, "failure"));
            }
            vec![Block::Run(vec![words(line)])]
        }
        Event::WorldReset { result, agent_view, .. } => {
            let text = agent_view.as_deref().unwrap_or(&result.observation);
            vec![Block::Observation { text, original: None }]
        }
        Event::EpisodeEnded { .. } => {
            let not_run = of_last_step(after, undecided);
            not_run.into_iter().chain(after.episode.as_deref().map(Block::Outcome)).collect()
        }
        Event::ReplyReceived { reply_source: Some(from), .. } => vec![Block::ReplySource(from)],
        Event::SettingDeviationsChanged { role, settings, .. } => {
            settings.iter().map(|change| Block::RequestChanged(*role, change)).collect()
        }
        Event::Warned { text, .. } => vec![Block::Warning(text)],
        Event::Sampled { sample } => finished_samples(sample.group, after).into_iter().map(Block::Samples).collect(),
        Event::Proposed { thought, complaints, .. } => {
            let thought = thought.as_deref();
            let thought = thought.map(|text| Block::Thought { text, decision: None, is_edited: false });
            let complaints = complaints.iter().map(|text| Block::Complaint(text));
            thought.into_iter().chain(complaints).chain(of_last_step(after, plan_facts)).collect()
        }
        Event::ActionOverridden { thought_disposition, thoughts_from, .. } => {
            let earlier = thoughts_from.map(|from| Block::ThoughtDropped(Some(from)));
            let has_thought = after.last_step().is_some_and(|step| step.thought.is_some());
            let fate = thought_fate(thought_disposition).filter(|_| has_thought);
            earlier.into_iter().chain(fate).collect()
        }
        Event::ProposalRejected { proposed, reason, .. } => vec![Block::Rejected { proposal: proposed, reason }],
        Event::AskedAgain { unusable_reason: Some(reason), .. } => vec![Block::AskedAgain(reason)],
        Event::AskedAgain { draft: Some(action), .. } => vec![Block::Draft(action)],
        Event::ActionTaken { .. } => of_last_step(after, |step, _| executed(step)),
        Event::Observed { .. } => of_last_step(after, observed),
        Event::Noted { .. } => of_last_step(after, findings),
        // Rules that find nothing have nothing to say; whoever reads the journal finds that they were asked.
        Event::Reflected { reflection }
            if reflection.author == Author::Symbolic
                && reflection.items.is_empty()
                && reflection.complaints.is_empty() =>
        {
            Vec::new()
        }
        Event::Reflected { reflection } => vec![Block::Reflection(reflection)],
        Event::LessonChanged { op, author } => match &**op {
            LessonOp::Measured { id, measured } => {
                let number = after.pool.get(id).map_or(0, |lesson| lesson.number);
                notice(format!("lesson {number} measured: {}, {}", measured.describe(), measured.verdict))
            }
            op => added_lesson(op, *author, after).into_iter().collect(),
        },
        Event::SummaryProposed { summary } => {
            let count = pluralize(summary.items.len() as u64, "line");
            notice(format!("{}: {count} waiting for a person's decision", summary.question.name()))
        }
        Event::LessonUndone { .. }
        | Event::EditUndone { .. }
        | Event::LessonRedone { .. }
        | Event::EditRedone { .. } => {
            notice(after.describe_undo(event).unwrap_or_else(|| "a change was undone or redone".to_owned()))
        }
        Event::ThoughtEdited { text, .. } => edited("thought", text.as_deref().unwrap_or("(none)")),
        Event::ObservationEdited { text, .. } => edited("observation", text),
        Event::Remarked { text, .. } => vec![Block::Remark(text)],
        Event::CallFailed { call, failure } => {
            let failed = after.failed_calls().find(|(effect, _)| effect.call() == *call);
            let question = failed.and_then(|(effect, _)| effect.question());
            vec![Block::FailedCall { failure, question, given_up: false }]
        }
        Event::PromptSent { prompt } => {
            if let Some(question) = prompt.question {
                return notice(format!("? mentor call: {}", question.name()));
            }
            // Not the lessons that an earlier prompt of the step has shown.
            let shown = after.last_step().into_iter().flat_map(first_shown);
            shown.filter(|(seq, _)| *seq == after.head).map(|(_, block)| block).collect()
        }
        Event::PromptDrafted { prompt } if prompt.edited => vec![Block::PromptEdited],
        Event::CallGivenUp { .. } => notice("continued without the reply".to_owned()),
        Event::CallCancelled { partial_reply, .. } => cancelled_call(partial_reply).collect(),
        Event::Diverged { episode, step, recorded, actual } => {
            let place = format!("DIFFERENT episode {episode} step {step}: the rebuilt environment says ");
            let answers = [quote(format!("`{actual}`")), words(", the journal "), quote(format!("`{recorded}`"))];
            vec![Block::Notice([words(place)].into_iter().chain(answers).collect())]
        }
        Event::BreakpointHit { .. } => {
            let hit = after.breakpoints.last_hit.as_deref();
            let hit = hit.map(|hit| Block::Hit {
                is_watch: hit.config.is_watch,
                number: hit.breakpoint,
                condition: Some(&hit.config.condition),
                reason: &hit.reason,
            });
            hit.into_iter().collect()
        }
        Event::BreakpointSet { breakpoint, config } => {
            notice(format!("{} {breakpoint} set: {config}", config.kind_name()))
        }
        Event::BreakpointSwitched { breakpoint, enabled } => {
            notice(format!("breakpoint {breakpoint} switched {}", if *enabled { "on" } else { "off" }))
        }
        Event::BreakpointRemoved { breakpoint } => notice(format!("breakpoint {breakpoint} deleted")),
        Event::Paused { reason: PauseReason::Failure } => notice("paused: a call failed".to_owned()),
        Event::ComputeRequested { job, .. } => {
            let label = crate::catalog::find_job(&job.name).map_or(&*job.name, |entry| entry.label);
            notice(format!("job: {label}"))
        }
        Event::Computed { millis, .. } => notice(format!("job done in {:.1} s", *millis as f64 / 1e3)),
        // The heading is written once the goal is known.
        Event::EpisodeStarted { .. }
        | Event::TextDefined { .. }
        | Event::PromptDrafted { .. }
        | Event::StepOpened { .. }
        | Event::ReplyReceived { .. }
        // The action that follows says that a person decided.
        | Event::Approved { .. }
        | Event::AskedAgain { .. }
        | Event::ReplayStartLoaded { .. }
        | Event::MemorySet { .. }
        | Event::PrefetchChanged(_)
        | Event::SamplesRequested { .. }
        | Event::SettingChanged { .. }
        | Event::RunChanged { .. }
        | Event::SummaryApplied { .. }
        | Event::AutonomySet { .. }
        | Event::Resumed
        | Event::PauseRequested
        | Event::Paused { .. }
        | Event::StepGranted
        | Event::StageGranted
        | Event::Retried { .. }
        | Event::Closed
        | Event::Reopened => Vec::new(),
    }
}

fn of_last_step<'a>(
    after: &'a State,
    build: impl FnOnce(&'a Step, &'a Episode) -> Vec<Block<'a>>,
) -> Vec<Block<'a>> {
    let episode = after.episode.as_deref();
    episode.and_then(|episode| Some(build(episode.last_step()?, episode))).unwrap_or_default()
}

fn run_line(spec: &RunSpec) -> Line<'_> {
    let roles: Vec<String> = run_roles(spec).map(|(role, who)| format!("{role} {who}")).collect();
    let with = if roles.is_empty() { "," } else { " with" };
    let tasks = pluralize(spec.tasks.len() as u64, "task");
    let facts = roles.into_iter().chain([tasks, format!("seed {}", spec.seed)]);
    vec![quote(format!("{}{with} {}", spec.method, facts.collect::<Vec<_>>().join(", ")))]
}

/// Returns a person's edit of a text. The step is written with its edited text only where it isn't written yet.
fn edited<'a>(what: &'static str, text: &'a str) -> Vec<Block<'a>> {
    vec![Block::Notice(vec![words(format!("{what} {EDITED_BY_PERSON}: ")), quote(text)])]
}

/// Returns a lesson that a method added by itself. Lessons from a reflection are written with the reflection, and those
/// from a file are counted.
fn added_lesson<'a>(op: &'a LessonOp, author: Author, after: &State) -> Option<Block<'a>> {
    let LessonOp::Add { text, .. } = op else { return None };
    if !matches!(author, Author::Symbolic | Author::Mentor) || is_reflected(text, after) {
        return None;
    }
    Some(Block::LessonAdded(after.pool.get(op.id()).map_or(0, |lesson| lesson.number), op))
}

/// Returns whether a reflection of the last step that has any contains a text.
fn is_reflected(text: &LessonText, after: &State) -> bool {
    let step_of = |r: &Reflection| (r.episode, r.step);
    let last = after.reflections.last().map(|r| step_of(r));
    let of_step = after.reflections.iter().rev().take_while(|r| Some(step_of(r)) == last);
    of_step.flat_map(|r| &r.items).any(|item| item.text == *text)
}
