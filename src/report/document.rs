//! What a page about a session says, without any markup: Markdown and HTML only turn it into their format. `block`
//! contains the words of everything that can happen; `section` builds the blocks of a finished step, for pages and the
//! story on the screen; `event` builds those of an event, for transcripts. Blocks are built when they are asked for, one
//! step at a time, so that a long session is written piece by piece.

mod block;
mod event;
mod samples;
mod section;

use super::record::{enum_name, format_parents};
use super::{EpisodeRecord, SessionRecord, StepRef};
use crate::catalog::{ignored_lesson_reason, run_notes, run_roles, search_histories};
use crate::domain::{
    Author, Lesson, LessonEdit, LessonOrigin, LessonStatus, MeasuredEffect, RoleSource, RunSpec, Scope,
    SearchHistory, SettingOrigin, Task, pluralize,
};
pub use block::{Block, EDITED_BY_PERSON, Line, Span, Tone, lesson_line, not_kept, plain_text};
use block::{quote, words};
pub(super) use event::event_blocks;
pub use samples::SampleFacts;
pub use section::{Section, reflection_notes, start_section, step_section};
use std::borrow::Cow;
use std::collections::HashSet;

/// A lesson with everything that is said about it.
pub(super) struct LessonEntry<'a> {
    pub lesson: &'a Lesson,
    pub text: Line<'a>,
    pub origin: String,
    pub scope: &'static str,
    pub status: String,
    /// In how many prompts it was, as it is worded now.
    pub uses: String,
    /// The lessons it was made from, as the end of a line; empty if none.
    pub parents: String,
    /// What was measured of it, each measurement as a line.
    pub measured: Vec<String>,
}

/// Name, value and origin of a setting.
pub(super) type SettingRow<'a> = (&'a str, String, String);

/// A document about one branch of a session. Its parts are built when they are asked for.
pub(super) struct Document<'a>(pub &'a SessionRecord);

/// Says in how many prompts a lesson was: `in 6 prompts`, or of a later wording `wording 4, in 0 prompts (with earlier wordings in 22)`.
fn describe_uses(lesson: &Lesson) -> String {
    let prompts = |count: u32| pluralize(count.into(), "prompt");
    let (version, uses) = (lesson.version(), lesson.uses_of_wording());
    match version {
        0 | 1 => format!("in {}", prompts(lesson.uses)),
        _ if uses == lesson.uses => format!("wording {version}, in {}", prompts(uses)),
        _ => format!("wording {version}, in {} (with earlier wordings in {})", prompts(uses), lesson.uses),
    }
}

impl<'a> Document<'a> {
    /// Returns the goal of the episode `at`, or of the last one, and how many other tasks there are; the session's name if
    /// the goal is unknown.
    pub(super) fn title(&self, at: Option<StepRef>) -> Cow<'a, str> {
        let marked = at.and_then(|at| self.0.episode(at.episode)).or(self.0.episodes.last());
        let Some(task) = marked.map(|entry| &entry.episode.task).filter(|task| !task.goal.is_empty()) else {
            return Cow::Borrowed(&self.0.session);
        };
        let others: HashSet<&str> =
            self.0.episodes.iter().map(|e| e.episode.task.id.as_str()).filter(|id| *id != task.id).collect();
        match others.len() as u64 {
            0 => Cow::Borrowed(&task.goal),
            count => Cow::Owned(format!("{}, and {}", task.goal, pluralize(count, "other task"))),
        }
    }

    /// Returns the totals and rates in one sentence.
    pub(super) fn result(&self) -> String {
        self.0.tally().describe()
    }

    /// Returns the names and values of what is known about the run, in groups.
    pub(super) fn facts(&self) -> Vec<Vec<(&'static str, Span<'a>)>> {
        let record = self.0;
        let mut facts = vec![vec![("session", quote(&record.session))]];
        facts.extend(record.branch.as_ref().map(|b| vec![("branch", quote(b.display_name()))]));
        if let Some(spec) = &record.spec {
            let mut run = vec![("method", quote(&spec.method))];
            run.extend(run_roles(spec).map(|(role, who)| match RoleSource::parse(who) {
                RoleSource::Rules => (role, words(format!("{who} (a stand-in, not a model)"))),
                _ => (role, quote(who)),
            }));
            run.push(("interface", quote(spec.interface.word())));
            facts.push(run);
            facts.push(vec![
                ("seed", words(spec.seed.to_string())),
                ("trials", words(spec.trials.to_string())),
                ("step limit", words(spec.limits.steps.to_string())),
            ]);
            facts.extend(run_notes(spec).into_iter().map(|(name, text)| vec![(name, words(text))]));
        }
        facts.extend(record.started_at.map(|at| vec![("started", words(format!("{at:.0}")))]));
        let usage = &record.final_state.usage;
        if usage.has_other_calls() || usage.cost_nano() > 0 {
            facts.push(vec![("calls", words(record.final_state.describe_usage()))]);
        }
        facts
    }

    /// Returns whether there is such a step.
    pub(super) fn has_step(&self, at: StepRef) -> bool {
        self.0.episode(at.episode).is_some_and(|e| at.step as usize <= e.episode.steps.len())
    }

    /// Returns the steps of an episode, preceded by what happened before the first one.
    pub(super) fn sections(&self, entry: &'a EpisodeRecord) -> impl Iterator<Item = Section<'a>> + use<'a> {
        let (state, episode) = (&*self.0.final_state, &*entry.episode);
        let start = Some(start_section(episode, state)).filter(|start| start.blocks().next().is_some());
        start.into_iter().chain(entry.steps().map(move |step| step_section(step, episode, state)))
    }

    /// Returns what follows the steps of an episode.
    pub(super) fn closing(entry: &'a EpisodeRecord) -> Vec<Block<'a>> {
        let failures = entry.failures.iter().map(|failed| Block::FailedCall {
            failure: &failed.failure,
            question: failed.question,
            given_up: failed.given_up,
        });
        failures.collect()
    }

    /// Returns what a method that searches has evaluated, one search for each type of tasks; empty if it doesn't search.
    pub(super) fn searches(&self) -> Vec<SearchHistory> {
        search_histories(&self.0.final_state)
    }

    /// Returns all lessons that ever existed, including retired ones.
    pub(super) fn lessons(&self) -> Vec<LessonEntry<'a>> {
        let entry = |lesson: &'a Lesson| LessonEntry {
            lesson,
            text: lesson_line(lesson.text()),
            origin: describe_origin(lesson),
            scope: match lesson.scope {
                Scope::Episode => "for its episode",
                Scope::Task => "for its task",
                Scope::TaskType => "for tasks of its type",
                Scope::Environment => "for its environment",
            },
            status: match (self.0.ended_with(lesson), lesson.status) {
                (Some(episode), _) => format!("ended with episode {episode}"),
                (None, LessonStatus::On) => format!("in force{}", self.ignored_note(lesson)),
                (None, LessonStatus::Pinned) => format!("pinned{}", self.ignored_note(lesson)),
                (None, LessonStatus::Off) => "switched off".to_owned(),
                (None, LessonStatus::Retired) => "deleted".to_owned(),
            },
            uses: describe_uses(lesson),
            parents: format_parents(&self.0.parent_numbers(lesson)),
            measured: self
                .0
                .measured(lesson)
                .into_iter()
                .map(|result| measured_line(result, lesson))
                .collect(),
        };
        self.0.lessons().into_iter().map(entry).collect()
    }

    /// Says of a person's lesson, after a comma, that it changes nothing, because the rule-based actor doesn't understand it.
    fn ignored_note(&self, lesson: &Lesson) -> &'static str {
        let run = self.0.spec.as_deref();
        let task = run.and_then(|run| run.tasks.first().map(|task| (run, task)));
        let reason = |(run, task): (&RunSpec, &Task)| {
            ignored_lesson_reason(run, &task.env, lesson.kind, lesson.text())
        };
        let is_ignored = lesson.edited_by_person && task.and_then(reason).is_some();
        if is_ignored { ", ignored by the built-in rules" } else { "" }
    }

    /// Returns the settings at the start, then the changes.
    pub(super) fn settings(&self) -> Vec<SettingRow<'a>> {
        let Some(spec) = &self.0.spec else { return Vec::new() };
        let at_start =
            spec.settings.iter().map(|(name, s)| (name, s.value.to_string(), setting_origin(s.origin)));
        let changes = self.0.changed_settings.iter();
        let changed =
            changes.map(|(seq, name, value)| (&**name, value.to_string(), format!("a person, event {seq}")));
        at_start.chain(changed).collect()
    }
}

/// Names the origin of a setting. The journal's word for a default says whose it is, which no reader of a page knows.
fn setting_origin(origin: SettingOrigin) -> String {
    match origin {
        SettingOrigin::BuiltIn => "default".to_owned(),
        other => enum_name(&other),
    }
}

/// Returns who wrote a lesson, and who changed its wording since: `by the rules, edited by a person at 1.12`.
fn describe_origin(lesson: &Lesson) -> String {
    let mut text = match lesson.origin {
        LessonOrigin::Symbolic => "by the rules",
        LessonOrigin::Mentor => "by the mentor",
        LessonOrigin::Person => "by a person",
        LessonOrigin::File => "from a pool file",
    }
    .to_owned();
    if let Some(from) = &lesson.taken_from {
        text = format!("{text}, taken over from {from}");
    }
    if let Some(LessonEdit { author, at: (episode, step) }) = lesson.edit_by_another() {
        let editor = match author {
            Author::Symbolic => "the rules",
            Author::Mentor => "the mentor",
            Author::Person => "a person",
            Author::File => "a pool file",
        };
        text = format!("{text}, edited by {editor} at {episode}.{step}");
    }
    text
}

/// Returns a line about a measurement: `measured +20 % elsewhere [12, 27] · 120 pairs: helped (with - without, ...)`.
fn measured_line(result: &MeasuredEffect, lesson: &Lesson) -> String {
    let more = [result.describe_advice(), result.describe_edited(lesson.text())].into_iter().flatten();
    let more: Vec<String> = more.map(|text| format!("; {text}")).collect();
    let more = more.concat();
    format!(
        "measured {}: {} ({}){more}",
        result.describe(),
        result.describe_verdict(),
        result.describe_measurement()
    )
}
