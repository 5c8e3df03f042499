//! The whole trajectory as one JSON document, for programs.

use super::SessionRecord;
use super::record::{EpisodeRecord, FailedCall};
use crate::domain::{
    EpisodeSummary, ExecutedAction, Intervention, JSON_EXPORT_FORMAT, Lesson, MeasuredEffect, Note,
    Observation, PartialReply, Reflection, RunSpec, SearchHistory, Seq, Step, ToolCall, Usage,
};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    v: u32,
    session: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch_name: Option<&'a str>,
    #[serde(rename = "began")]
    started_at: Option<String>,
    run: Option<&'a RunSpec>,
    /// What a reader must know of the run, such as what stands in for a part of its method.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    run_notes: BTreeMap<&'static str, String>,
    settings_changed: Vec<SettingChange<'a>>,
    episodes: Vec<EpisodeJson<'a>>,
    lessons: Vec<Cow<'a, Lesson>>,
    /// What a method that searches has evaluated, one search for each type of tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    searches: Vec<SearchHistory>,
    /// Calls, tokens and cost, by role.
    spent: &'a crate::engine::UsageTotals,
    /// Totals and rates of the run's episodes.
    tally: super::Tally,
}

#[derive(Serialize)]
struct SettingChange<'a> {
    seq: Seq,
    name: &'a str,
    value: &'a Value,
}

#[derive(Serialize)]
struct EpisodeJson<'a> {
    episode: u32,
    task: &'a crate::domain::Task,
    trial: u32,
    role: crate::domain::EpisodeRole,
    #[serde(rename = "began")]
    started_at: Option<String>,
    #[serde(rename = "ended")]
    ended_at: Option<String>,
    start: Option<&'a Observation>,
    steps: Vec<StepJson<'a>>,
    reflections: Vec<&'a Reflection>,
    failures: Vec<FailureJson<'a>>,
    /// What a person did before the first step.
    #[serde(skip_serializing_if = "<[Intervention]>::is_empty")]
    interventions: &'a [Intervention],
    /// A person's comments on the episode.
    remarks: Vec<&'a str>,
    outcome: Option<&'a EpisodeSummary>,
}

#[derive(Serialize)]
struct FailureJson<'a> {
    seq: Seq,
    #[serde(flatten)]
    failure: &'a crate::engine::Failure,
    /// What the mentor was asked, if it was a mentor call.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<crate::domain::Question>,
    given_up: bool,
}

#[derive(Serialize)]
struct StepJson<'a> {
    step: u32,
    #[serde(skip_serializing_if = "str::is_empty")]
    reasoning: &'a str,
    /// The tools that the model called; none of them ran.
    #[serde(skip_serializing_if = "<[ToolCall]>::is_empty")]
    tool_calls: &'a [ToolCall],
    thought: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought_edited: bool,
    proposed: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "<[PartialReply]>::is_empty")]
    #[serde(rename = "broken_off")]
    cancelled_replies: &'a [PartialReply],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    prompt_edited: bool,
    /// The later step whose override removed the thought from prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped_by: Option<u32>,
    executed: Option<&'a ExecutedAction>,
    answer: Option<&'a Observation>,
    /// The detectors' findings.
    notes: &'a [Note],
    rejections: Vec<RejectionJson<'a>>,
    /// The actions that the actor replied first and was asked to fit to the present state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    drafts: Vec<&'a str>,
    /// Parts of the reply that could not be parsed.
    complaints: &'a [String],
    #[serde(rename = "unusable")]
    unusable_replies: u32,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    /// What a person did at the step, beside the changes of its texts.
    #[serde(skip_serializing_if = "<[Intervention]>::is_empty")]
    interventions: &'a [Intervention],
    /// A person's comments on the step.
    remarks: &'a [String],
    lessons_in_prompt: u32,
    usage: &'a Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "from")]
    reply_source: Option<&'a str>,
    events: (Seq, Seq),
}

#[derive(Serialize)]
struct RejectionJson<'a> {
    proposed: &'a str,
    reason: &'a str,
}

/// Renders the document, indented, with a line break at its end. Field names are those of the journal.
pub fn render_json(record: &SessionRecord) -> String {
    let document = Document {
        format: JSON_EXPORT_FORMAT,
        v: 1,
        session: &record.session,
        branch: record.branch.as_ref().map(|b| b.id.0.as_str()),
        branch_name: record.branch.as_ref().and_then(|b| b.name.as_deref()),
        started_at: record.started_at.map(|t| t.to_string()),
        run: record.spec.as_deref(),
        run_notes: record.spec.as_deref().map(crate::catalog::run_notes).into_iter().flatten().collect(),
        settings_changed: record
            .changed_settings
            .iter()
            .map(|(seq, name, value)| SettingChange { seq: *seq, name, value })
            .collect(),
        episodes: record.episodes.iter().map(|e| episode_json(record, e)).collect(),
        lessons: record.lessons().into_iter().map(|lesson| with_measurements(record, lesson)).collect(),
        searches: crate::catalog::search_histories(&record.final_state),
        spent: &record.final_state.usage,
        tally: record.tally(),
    };
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    crate::text::escape_json(&text).into_owned()
}

/// Returns the lesson with the measurements that only their logs have.
fn with_measurements<'a>(record: &SessionRecord, lesson: &'a Lesson) -> Cow<'a, Lesson> {
    let is_known = |result: &MeasuredEffect| lesson.measured.iter().any(|known| known.is_same_result(result));
    let logged: Vec<MeasuredEffect> =
        record.measured(lesson).into_iter().filter(|result| !is_known(result)).cloned().collect();
    if logged.is_empty() {
        return Cow::Borrowed(lesson);
    }
    let mut lesson = lesson.clone();
    lesson.measured = lesson.measured.iter().cloned().chain(logged).collect();
    Cow::Owned(lesson)
}

fn episode_json<'a>(record: &'a SessionRecord, entry: &'a EpisodeRecord) -> EpisodeJson<'a> {
    let e = &entry.episode;
    EpisodeJson {
        episode: e.number,
        task: &e.task,
        trial: e.trial,
        role: e.role,
        started_at: entry.started_at.map(|t| t.to_string()),
        ended_at: entry.ended_at.map(|t| t.to_string()),
        start: e.first_observation.as_ref(),
        steps: entry.steps().map(step_json).collect(),
        reflections: record
            .final_state
            .reflections
            .iter()
            .map(AsRef::as_ref)
            .filter(|r: &&Reflection| r.episode == e.number)
            .collect(),
        failures: entry.failures.iter().map(failure_json).collect(),
        interventions: &e.interventions,
        remarks: record.remarks(e.number),
        outcome: e.outcome.as_deref(),
    }
}

fn failure_json(failed: &FailedCall) -> FailureJson<'_> {
    let (seq, question, given_up) = (failed.seq, failed.question, failed.given_up);
    FailureJson { seq, failure: &failed.failure, question, given_up }
}

fn step_json(s: &Step) -> StepJson<'_> {
    StepJson {
        step: s.number,
        reasoning: &s.reasoning,
        tool_calls: &s.tool_calls,
        thought: s.thought.as_deref(),
        thought_edited: s.thought_edited,
        // If a person's action replaced the reply, show the original reply, even if it was only a thought.
        proposed: if s.is_person_action() {
            s.proposal_text()
        } else {
            s.proposed.as_deref().map(Cow::Borrowed)
        },
        cancelled_replies: &s.partial_replies,
        prompt_edited: s.prompt_edited,
        dropped_by: s.dropped_by,
        executed: s.executed.as_ref(),
        answer: s.answer.as_ref(),
        notes: &s.notes,
        rejections: s
            .rejections
            .iter()
            .map(|(proposed, reason)| RejectionJson { proposed, reason })
            .collect(),
        drafts: s.drafts.iter().map(|draft| draft.action.as_str()).collect(),
        complaints: &s.complaints,
        unusable_replies: s.unusable_replies,
        warnings: &s.warnings,
        interventions: &s.interventions,
        remarks: &s.remarks,
        lessons_in_prompt: s.lesson_count,
        usage: &s.usage,
        reply_source: s.reply_source.as_deref(),
        events: (s.first_seq, s.last_seq),
    }
}
