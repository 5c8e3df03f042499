//! Turns notes into reflections. A rule applies only if a detector noted its evidence in this trajectory, and every
//! lesson carries that evidence. A lesson that is already in the pool is not added twice but counted as recurring; a
//! lesson that a person deleted is not added again.

mod advice;
mod answer;

pub(super) use answer::answer_question;

use super::environment_rules::{EnvironmentRules, LessonTemplate};
use crate::domain::common_settings::ProgressLessons;
use crate::domain::{
    Author, LessonId, LessonStatus, LessonText, Note, NoteKind, Reflection, ReflectionItem, ReflectionKind,
    Scope,
};
use crate::engine::{Episode, Intent, LessonCommand, State};

/// The rule id of Progress lessons.
const PROGRESS_RULE: &str = "progress";

/// Which notes a reflection considers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteRange {
    /// Those of the last step.
    LastStep,
    /// All notes after this step.
    AfterStep(u32),
    /// All notes of the episode, for a reflection that a person requests. Adds only lessons that are not in the pool
    /// yet.
    WholeEpisode,
}

/// A lesson produced by a rule.
struct RuleLesson {
    rule: String,
    scope: Scope,
    text: LessonText,
    evidence: String,
}

impl RuleLesson {
    /// Returns whether the other lesson says the same.
    fn is_same(&self, other: &Self) -> bool {
        self.rule == other.rule || self.text == other.text
    }
}

/// See [`SymbolicRules::reflect`](super::SymbolicRules::reflect).
pub(super) fn reflect(
    rules: &EnvironmentRules,
    state: &State,
    episode: &Episode,
    range: NoteRange,
    kinds: &[ReflectionKind],
) -> Vec<Intent> {
    let notes = notes_in_range(episode, range);
    let mut intents = Vec::new();
    for kind in kinds {
        if range != NoteRange::WholeEpisode && state.has_reflected(*kind) {
            continue;
        }
        let lessons = match kind {
            ReflectionKind::Abstract | ReflectionKind::Error => rule_lessons(rules, *kind, &notes),
            ReflectionKind::Progress => {
                progress_lesson(rules, state, episode, &notes, range).into_iter().collect()
            }
            ReflectionKind::Plan
            | ReflectionKind::Experience
            | ReflectionKind::Lesson
            | ReflectionKind::Positive
            | ReflectionKind::Negative
            | ReflectionKind::Advice
            | ReflectionKind::Instruction => Vec::new(),
        };
        let repeated_rules = if range == NoteRange::LastStep {
            rules_of_previous_step(rules, episode, *kind)
        } else {
            Vec::new()
        };
        intents.extend(reflection_intents(state, episode, *kind, lessons, range, &repeated_rules));
    }
    intents
}

fn notes_in_range(episode: &Episode, range: NoteRange) -> Vec<Note> {
    let after_step = match range {
        NoteRange::LastStep => return episode.last_step().map(|s| s.notes.clone()).unwrap_or_default(),
        NoteRange::AfterStep(step) => step,
        NoteRange::WholeEpisode => 0,
    };
    // Indexed by step number, so that the work depends on the range and not on the length of the episode.
    let steps = (after_step + 1..=episode.steps.len() as u32).filter_map(|number| episode.step(number));
    steps.flat_map(|step| step.notes.iter().cloned()).collect()
}

/// Returns the Abstract or Error lessons of notes.
fn rule_lessons(rules: &EnvironmentRules, kind: ReflectionKind, notes: &[Note]) -> Vec<RuleLesson> {
    match kind {
        ReflectionKind::Abstract => apply_rule(notes, rules.abstract_lessons),
        ReflectionKind::Error => apply_rule(notes, rules.error_lessons),
        _ => Vec::new(),
    }
}

fn apply_rule(notes: &[Note], rule: fn(&Note) -> Vec<LessonTemplate>) -> Vec<RuleLesson> {
    let mut lessons: Vec<RuleLesson> = Vec::new();
    for note in notes {
        for (rule, scope, text) in rule(note) {
            let lesson = RuleLesson { rule, scope, text, evidence: note.evidence.clone() };
            if !lessons.iter().any(|known| known.is_same(&lesson)) {
                lessons.push(lesson);
            }
        }
    }
    lessons
}

/// Returns the rules that already applied to the previous step: the same mistake twice in a row counts once.
fn rules_of_previous_step(rules: &EnvironmentRules, episode: &Episode, kind: ReflectionKind) -> Vec<String> {
    let previous = episode.last_step().and_then(|s| episode.step(s.number.checked_sub(1)?));
    let notes = previous.map_or(&[][..], |s| &s.notes);
    rule_lessons(rules, kind, notes).into_iter().map(|lesson| lesson.rule).collect()
}

/// Returns a lesson about the current progress if it changed: a sub-goal was reached, something useful was
/// found, or the agent was set back.
fn progress_lesson(
    rules: &EnvironmentRules,
    state: &State,
    episode: &Episode,
    notes: &[Note],
    range: NoteRange,
) -> Option<RuleLesson> {
    let is_relevant = |n: &&Note| {
        n.kind == NoteKind::Progress
            // Setbacks. `left_target`: moved away from a target in sight; `undone` and `set_back`: a goal condition no
            // longer holds, which is a mistake (`undone`) or can be part of the plan (`set_back`).
            || matches!(
                n.detector.as_str(),
                "circling" | "left_target" | "wrong_object" | "undone" | "set_back"
            )
            // Something was found, taken or unlocked.
            || matches!(n.detector.as_str(), "found_target" | "found_door" | "took_key" | "unlocked")
    };
    let cause = notes.iter().rfind(is_relevant);
    // After the goal is reached, nothing comes next.
    let won = episode.last_step().and_then(|s| s.answer.as_ref()).is_some_and(|answer| answer.won);
    if won || (cause.is_none() && range == NoteRange::LastStep) {
        return None;
    }
    let text = (rules.progress_text)(episode)?;
    let append = state.settings().progress_lessons == ProgressLessons::Append;
    let rule = if append { format!("{PROGRESS_RULE}.{text}") } else { PROGRESS_RULE.to_owned() };
    let evidence = cause.map(|n| n.evidence.clone()).unwrap_or_default();
    Some(RuleLesson { rule, scope: Scope::Episode, text: LessonText::plain(text), evidence })
}

/// Returns the intents that store the lessons; empty if none of them is new or recurs.
fn reflection_intents(
    state: &State,
    episode: &Episode,
    kind: ReflectionKind,
    lessons: Vec<RuleLesson>,
    range: NoteRange,
    repeated_rules: &[String],
) -> Vec<Intent> {
    let (mut items, mut commands) = (Vec::new(), Vec::new());
    for lesson in lessons {
        let Some(command) = lesson_command(state, kind, &lesson) else { continue };
        let recurs = matches!(command, LessonCommand::Recur { .. });
        if recurs && (range == NoteRange::WholeEpisode || repeated_rules.contains(&lesson.rule)) {
            continue;
        }
        items.push(ReflectionItem {
            text: lesson.text,
            rule: Some(lesson.rule),
            evidence: lesson.evidence,
            transition: None,
        });
        commands.push(Intent::Lesson(command));
    }
    if items.is_empty() {
        return Vec::new();
    }
    let position = (episode.number, episode.answered_steps());
    let reflection = Reflection::new(kind, Author::Symbolic, position, items);
    std::iter::once(Intent::Reflect(Box::new(reflection))).chain(commands).collect()
}

/// Returns the command for a lesson: an addition, a recurrence, or a new text for Progress.
fn lesson_command(state: &State, kind: ReflectionKind, rule_lesson: &RuleLesson) -> Option<LessonCommand> {
    for lesson in state.pool.by_rule(kind, &rule_lesson.rule) {
        let is_retired = lesson.status == LessonStatus::Retired;
        if rule_lesson.scope != Scope::Episode {
            return (!is_retired).then(|| LessonCommand::Recur { id: lesson.id.clone() });
        }
        if is_retired || lesson.learnt_at.0 != state.episode.as_ref().map_or(0, |e| e.number) {
            continue;
        }
        // An unchanged text needs no edit, and a text that a person pinned is not replaced.
        if *lesson.text() == rule_lesson.text {
            return None;
        }
        if lesson.status != LessonStatus::Pinned && rule_lesson.rule == PROGRESS_RULE {
            return Some(LessonCommand::Edit { id: lesson.id.clone(), text: rule_lesson.text.clone() });
        }
    }
    if let Some(id) = lesson_with_text(state, kind, &rule_lesson.text) {
        return (rule_lesson.scope != Scope::Episode).then_some(LessonCommand::Recur { id });
    }
    Some(LessonCommand::Add {
        kind,
        scope: rule_lesson.scope,
        text: rule_lesson.text.clone(),
        rule: Some(rule_lesson.rule.clone()),
        evidence: rule_lesson.evidence.clone(),
        parents: Vec::new(),
        transition: None,
        pinned: false,
    })
}

/// Returns a lesson of the kind with this text, whoever wrote it.
fn lesson_with_text(state: &State, kind: ReflectionKind, text: &LessonText) -> Option<LessonId> {
    state.pool.with_normalized_text(kind, &text.normalized()).next().map(|l| l.id.clone())
}
