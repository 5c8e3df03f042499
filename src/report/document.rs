//! What a page about a session says, as blocks in order and without any markup: Markdown and HTML only turn these blocks
//! into their format. Blocks are built when they are asked for, one step at a time, so that a long session is written
//! piece by piece.

use super::record::{enum_name, format_parents, format_times};
use super::{EpisodeRecord, SessionRecord, StepRef, Tally};
use crate::domain::{
    Author, DecidedBy, EpisodeRole, Lesson, LessonText, NoteKind, PartialReply, Reflection, ShownAs, Step,
    Task, ThoughtDisposition,
};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A piece of a line.
pub(super) enum Span<'a> {
    /// The program's own words; they contain nothing that a format could take for markup.
    Words(Cow<'a, str>),
    /// Text from outside.
    Quote(Cow<'a, str>),
    /// Text from outside that names something: an action, a rule.
    Code(Cow<'a, str>),
}

/// A line of text.
pub(super) type Line<'a> = Vec<Span<'a>>;

/// A part of a step or an episode.
pub(super) enum Block<'a> {
    /// What happened to a prompt, a reply or an action.
    Note(Line<'a>),
    /// `note` says what became of the thought, with a leading space; empty for most.
    Thought { text: &'a str, note: &'static str },
    /// An executed action; `is_thought` if it only repeats the step's thought.
    Action { text: &'a str, is_thought: bool },
    /// An action that waits for a decision, or was never decided on.
    Proposal(&'a str),
    /// The observation as the agent sees it, and the environment's own text if a person edited it.
    Observation { text: &'a str, original: Option<&'a str> },
    /// A change of the progress rate.
    Progress { before: f64, after: f64 },
    /// A detector's note.
    Finding { kind: NoteKind, detector: String, evidence: &'a str },
    /// A reflection: its items, then notes about the reply.
    Reflection { name: String, author: &'static str, items: Vec<Line<'a>>, notes: Vec<Line<'a>> },
    /// A person's remark.
    Remark(&'a str),
    /// A call that failed: whose, and why.
    FailedCall { call: String, message: &'a str },
}

/// A step, or what precedes the first one as step 0.
pub(super) struct Section<'a> {
    pub step: u32,
    /// Up to the action.
    pub decision: Vec<Block<'a>>,
    /// From the observation on.
    pub outcome: Vec<Block<'a>>,
}

/// An episode's heading; [`Document::sections`] and [`Document::closing`] return its content.
pub(super) struct EpisodeHead<'a> {
    entry: &'a EpisodeRecord,
    pub number: u32,
    /// Its goal is empty if it is unknown.
    pub task: &'a Task,
    pub trial: u32,
    /// Empty for a test.
    pub role: &'static str,
    pub verdict: String,
    pub is_assisted: bool,
    pub progress: f64,
}

/// A lesson with everything that is said about it.
pub(super) struct LessonEntry<'a> {
    pub lesson: &'a Lesson,
    pub text: Line<'a>,
    pub origin: String,
    pub scope: String,
    pub status: String,
    /// The lessons it was made from, as the end of a line; empty if none.
    pub parents: String,
}

/// Name, value and origin of a setting.
pub(super) type SettingRow<'a> = (&'a str, String, String);

/// A document about one branch of a session.
pub(super) struct Document<'a> {
    record: &'a SessionRecord,
    /// Reflections written before the first step of their episode, such as plans, by episode.
    early: BTreeMap<u32, Vec<&'a Reflection>>,
}

impl<'a> Document<'a> {
    /// Creates the document; its parts are built when they are asked for.
    pub(super) fn new(record: &'a SessionRecord) -> Self {
        let mut early = BTreeMap::<u32, Vec<&'a Reflection>>::new();
        for reflection in record.final_state.reflections.iter().filter(|r| r.step == 0) {
            early.entry(reflection.episode).or_default().push(reflection);
        }
        Self { record, early }
    }

    /// Returns the goal of the episode `at`, or of the last one; the session's name if that is unknown.
    pub(super) fn title(&self, at: Option<StepRef>) -> &'a str {
        let marked = at.and_then(|at| self.record.episode(at.episode)).or(self.record.episodes.last());
        marked.map(|e| e.episode.task.goal.as_str()).filter(|g| !g.is_empty()).unwrap_or(&self.record.session)
    }

    /// Returns the totals and rates in one sentence.
    pub(super) fn result(&self) -> String {
        Tally::from_states([&*self.record.final_state]).describe()
    }

    /// Returns the names and values of what is known about the run, in groups.
    pub(super) fn facts(&self) -> Vec<Vec<(&'static str, Span<'a>)>> {
        let record = self.record;
        let mut facts = vec![vec![("session", quote(&record.session))]];
        facts.extend(record.branch.as_ref().map(|b| vec![("branch", quote(b.display_name()))]));
        if let Some(spec) = &record.spec {
            facts.push(vec![
                ("method", quote(&spec.method)),
                ("actor", quote(&spec.actor)),
                ("mentor", quote(&spec.mentor)),
                ("interface", quote(&spec.interface)),
            ]);
            facts.push(vec![
                ("seed", words(spec.seed.to_string())),
                ("trials", words(spec.trials.to_string())),
                ("step limit", words(spec.limits.steps.to_string())),
            ]);
        }
        facts.extend(record.started_at.map(|at| vec![("started", words(format!("{at:.0}")))]));
        let usage = &record.final_state.usage;
        if usage.mentor_calls > 0 || usage.actor_counts.cost_nano > 0 {
            facts.push(vec![("calls", words(usage.describe()))]);
        }
        facts
    }

    /// Returns whether there is such a step.
    pub(super) fn has_step(&self, at: StepRef) -> bool {
        self.record.episode(at.episode).is_some_and(|e| at.step as usize <= e.episode.steps.len())
    }

    /// Returns the episodes in order.
    pub(super) fn episodes(&self) -> impl ExactSizeIterator<Item = EpisodeHead<'a>> + use<'a> {
        self.record.episodes.iter().map(|entry| {
            let e = &entry.episode;
            EpisodeHead {
                entry,
                number: e.number,
                task: &e.task,
                trial: e.trial,
                role: role_suffix(e.role),
                verdict: entry.verdict(),
                is_assisted: e.assisted,
                progress: e.progress,
            }
        })
    }

    /// Returns the steps of an episode, preceded by its first observation.
    pub(super) fn sections(&self, head: &EpisodeHead<'a>) -> impl Iterator<Item = Section<'a>> + use<'a> {
        let (record, episode) = (self.record, &head.entry.episode);
        let first = episode.first_observation.as_ref();
        let mut outcome: Vec<Block<'a>> = first
            .map(|r| Block::Observation { text: r.agent_view.as_deref().unwrap_or(&r.raw), original: None })
            .into_iter()
            .collect();
        let early = self.early.get(&head.number).into_iter().flatten();
        outcome.extend(early.map(|early| reflection(early)));
        let start = (!outcome.is_empty()).then_some(Section { step: 0, decision: Vec::new(), outcome });
        let mut progress = first.map_or(0.0, |r| r.progress);
        start.into_iter().chain(head.entry.steps().map(move |step| Section {
            step: step.number,
            decision: decision(step),
            outcome: outcome_of(record, step, &mut progress),
        }))
    }

    /// Returns what follows the steps of an episode.
    pub(super) fn closing(&self, head: &EpisodeHead<'a>) -> Vec<Block<'a>> {
        let failures = head.entry.failures.iter();
        let mut blocks: Vec<Block<'a>> = failures
            .map(|f| Block::FailedCall { call: f.description(), message: &f.failure.message })
            .collect();
        blocks.extend(self.record.remarks(head.number).into_iter().map(Block::Remark));
        blocks
    }

    /// Returns all lessons that ever existed, including retired ones.
    pub(super) fn lessons(&self) -> Vec<LessonEntry<'a>> {
        let entry = |lesson: &'a Lesson| LessonEntry {
            lesson,
            text: lesson_line(lesson.text()),
            origin: enum_name(&lesson.origin),
            scope: enum_name(&lesson.scope),
            status: enum_name(&lesson.status),
            parents: format_parents(&self.record.parent_numbers(lesson)),
        };
        self.record.lessons().into_iter().map(entry).collect()
    }

    /// Returns the settings at the start, then the changes.
    pub(super) fn settings(&self) -> Vec<SettingRow<'a>> {
        let Some(spec) = &self.record.spec else { return Vec::new() };
        let at_start =
            spec.settings.0.iter().map(|(name, s)| (&**name, s.value.to_string(), enum_name(&s.origin)));
        let changes = self.record.changed_settings.iter();
        let changed =
            changes.map(|(seq, name, value)| (&**name, value.to_string(), format!("a person, event {seq}")));
        at_start.chain(changed).collect()
    }
}

fn words<'a>(text: impl Into<Cow<'a, str>>) -> Span<'a> {
    Span::Words(text.into())
}

fn quote<'a>(text: impl Into<Cow<'a, str>>) -> Span<'a> {
    Span::Quote(text.into())
}

fn code<'a>(text: impl Into<Cow<'a, str>>) -> Span<'a> {
    Span::Code(text.into())
}

fn decision(step: &Step) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    for (proposal, reason) in &step.rejections {
        let line = vec![words("rejected "), code(proposal), words(": "), quote(reason)];
        blocks.push(Block::Note(line));
    }
    blocks.extend(step.partial_replies.iter().map(|reply| Block::Note(cancelled_reply(reply))));
    if step.prompt_edited {
        blocks.push(Block::Note(vec![words(PROMPT_EDITED)]));
    }
    if let Some(text) = step.thought.as_deref() {
        let disposition = step.executed.as_ref().map(|e| &e.thought_disposition);
        let note = match disposition {
            _ if step.thought_edited => " (edited by a person)",
            Some(ThoughtDisposition::Dropped) => " (dropped from later prompts)",
            Some(ThoughtDisposition::Rewritten(_)) => " (rewritten in later prompts)",
            _ if step.dropped_by.is_some() => " (dropped from later prompts)",
            _ => "",
        };
        blocks.push(Block::Thought { text, note });
        if let Some(ThoughtDisposition::Rewritten(text)) = disposition {
            blocks.push(Block::Thought { text, note: " in later prompts" });
        }
    }
    if step.unusable_replies > 0 {
        let times = format_times(step.unusable_replies);
        blocks.push(Block::Note(vec![words(format!("asked again because a reply was unusable: {times}"))]));
    }
    blocks.extend(step.warnings.iter().map(|w| Block::Note(vec![words("warning: "), quote(w)])));
    blocks.extend(reply_notes(step.reply_source.as_deref(), &step.complaints).map(Block::Note));
    if let Some(executed) = &step.executed {
        let by_person = executed.decided_by == DecidedBy::Person;
        let is_thought = executed.action.starts_with("think:") && !by_person;
        blocks.push(Block::Action { text: &executed.action, is_thought });
        if by_person {
            let shown =
                if executed.shown_as == ShownAs::HumanEdit { "a human edit" } else { "the agent's own" };
            let mut line = vec![words("override by a person")];
            line.extend(step.proposal_text().into_iter().flat_map(|p| [words(" in place of "), code(p)]));
            line.push(words(format!(", shown as {shown}")));
            blocks.push(Block::Note(line));
        }
        if let (Some(sent), Some(rule)) = (&executed.sent, &executed.rewrite_rule) {
            let line = vec![words("sent as "), code(sent), words(" (rule "), quote(rule), words(")")];
            blocks.push(Block::Note(line));
        }
    } else {
        blocks.extend(step.proposed.as_deref().map(Block::Proposal));
    }
    blocks
}

fn outcome_of<'a>(record: &'a SessionRecord, step: &'a Step, progress: &mut f64) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    if let Some(answer) = &step.answer {
        blocks.push(Block::Observation {
            text: answer.agent_view.as_deref().unwrap_or(&answer.raw),
            original: answer.edited.then_some(&answer.raw),
        });
        if (answer.progress - *progress).abs() > f64::EPSILON {
            blocks.push(Block::Progress { before: *progress, after: answer.progress });
            *progress = answer.progress;
        }
    }
    blocks.extend(step.notes.iter().filter(|n| n.kind != NoteKind::Fact).map(|n| Block::Finding {
        kind: n.kind,
        detector: n.detector.replace('_', " "),
        evidence: &n.evidence,
    }));
    blocks.extend(record.reflections_after(step).map(reflection));
    blocks.extend(step.remarks.iter().map(|remark| Block::Remark(remark)));
    blocks
}

fn reflection(reflection: &Reflection) -> Block<'_> {
    let mut notes = Vec::new();
    if reflection.prompt_edited {
        notes.push(vec![words(PROMPT_EDITED)]);
    }
    notes.extend(reply_notes(reflection.reply_source.as_deref(), &reflection.complaints));
    notes.extend(dropped_count(reflection).map(|text| vec![words(text)]));
    Block::Reflection {
        name: reflection.question().name(),
        author: author_name(reflection.author),
        items: reflection.items.iter().map(|item| lesson_line(&item.text)).collect(),
        notes,
    }
}

fn reply_notes<'a>(
    source: Option<&str>,
    complaints: &'a [String],
) -> impl Iterator<Item = Line<'a>> + use<'a> {
    let source = source.map(|from| vec![quote(reply_source(from))]);
    source.into_iter().chain(complaints.iter().map(|c| vec![words("about the reply: "), quote(c)]))
}

fn lesson_line(text: &LessonText) -> Line<'_> {
    let mut line = vec![quote(&text.text)];
    line.extend(text.solution.iter().flat_map(|solution| [words(" → "), quote(solution)]));
    line
}

/// Returns what follows `trial N` in a heading; empty for a test.
pub(super) fn role_suffix(role: EpisodeRole) -> &'static str {
    match role {
        EpisodeRole::Test => "",
        EpisodeRole::Calibrate => ", calibration",
        EpisodeRole::Explore => ", exploration without a goal",
    }
}

/// Says how many texts of a mentor's reply were not kept; `None` if all were.
pub(super) fn dropped_count(reflection: &Reflection) -> Option<String> {
    let count = reflection.dropped.len() as u64;
    (count > 0).then(|| format!("{} not kept", crate::domain::pluralize(count, "text")))
}

/// Describes the source of a reply that no model produced in this run; `from` is `recorded:NAME` or `cache`, as in the
/// journal.
pub fn reply_source(from: &str) -> String {
    match from.strip_prefix("recorded:") {
        Some(session) => format!("recorded reply from session {session}"),
        None => "cached reply".to_owned(),
    }
}

/// The note on a step or reflection whose prompt a person edited.
const PROMPT_EDITED: &str = "a person edited its prompt";

/// Describes the partial reply of a call that a person cancelled.
pub(super) fn cancelled_reply(reply: &PartialReply) -> Line<'_> {
    let cost = reply.describe_cost().map_or_else(String::new, |cost| format!(" ({cost})"));
    let mut line = vec![words(format!("cancelled by a person{cost}"))];
    for (name, text) in [("reasoning", &reply.reasoning), ("answer", &reply.text)] {
        if !text.trim().is_empty() {
            line.extend([words(format!("; {name} so far: ")), quote(text.trim())]);
        }
    }
    line
}

/// Returns a short name for the author of a reflection.
pub(super) fn author_name(author: Author) -> &'static str {
    match author {
        Author::Symbolic => "rules",
        Author::Mentor => "mentor",
        Author::Person => "you",
        Author::File => "pool file",
    }
}
