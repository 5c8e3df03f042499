//! Texts of a mentor's replies that were not kept as lessons. A person can still accept them as lessons.

use crate::domain::{Lesson, LessonStatus, LessonText, Reflection, ReflectionKind, Step};
use crate::engine::{LessonCommand, State};

/// A text of the mentor that was not kept.
#[derive(Clone, Copy, Debug)]
pub struct DroppedText<'a> {
    /// The reflection it belongs to.
    pub reflection: &'a Reflection,
    /// The text, in the form of a lesson.
    pub text: &'a LessonText,
    /// Its number among the dropped texts of its step, from 1.
    number: usize,
}

/// Returns the texts of a step's reflections that were not kept, in order. `state` contains the reflections.
pub fn dropped_texts<'a>(
    step: &'a Step,
    state: &'a State,
) -> impl Iterator<Item = DroppedText<'a>> + use<'a> {
    let reflections = step.reflections.iter().filter_map(|index| state.reflections.get(*index as usize));
    let texts =
        reflections.flat_map(|reflection| reflection.dropped.iter().map(|text| (&**reflection, text)));
    texts.enumerate().map(|(index, (reflection, text))| DroppedText { reflection, text, number: index + 1 })
}

impl DroppedText<'_> {
    /// Returns the evidence of a lesson made from this text. It is unique within the branch, so it identifies the
    /// lesson.
    pub fn evidence(&self) -> String {
        let Reflection { episode, step, .. } = self.reflection;
        let text = self.number;
        format!("the mentor's text (episode {episode}, step {step}, text {text}), accepted by you")
    }

    /// Returns the number of the lesson that was made from this text, even if a person edited it since. Lessons
    /// recorded by earlier program versions are found by their text instead of their evidence.
    pub fn lesson(&self, head: &State) -> Option<u32> {
        let evidence = self.evidence();
        let is_from_text = |lesson: &&Lesson| {
            lesson.status != LessonStatus::Retired
                && (*lesson.evidence == *evidence || lesson.versions.iter().any(|v| v.text == *self.text))
        };
        Some(head.pool.all().find(is_from_text)?.number)
    }

    /// Returns the kind for a lesson made from this text: usually the reflection's kind. But prompts introduce Error
    /// lessons with "The mistake: ...", which doesn't fit a text without a solution; it gets the kind `advice`, if
    /// given.
    pub fn kind(&self, advice: Option<ReflectionKind>) -> ReflectionKind {
        let kind = self.reflection.kind;
        let is_error_without_solution = kind == ReflectionKind::Error && self.text.solution.is_none();
        advice.filter(|_| is_error_without_solution).unwrap_or(kind)
    }

    /// Returns the command that accepts the text unchanged as a lesson.
    pub fn accept(&self) -> LessonCommand {
        let kind = self.kind(Some(ReflectionKind::Abstract));
        LessonCommand::Accept {
            kind,
            scope: kind.default_scope(),
            text: self.text.clone(),
            edited: false,
            pinned: false,
            evidence: self.evidence(),
        }
    }
}
