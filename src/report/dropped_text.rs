//! Texts of a mentor's replies that were not kept as lessons, which a person may take all the same.

use crate::domain::{Lesson, LessonStatus, LessonText, Reflection, ReflectionKind, Step};
use crate::engine::{LessonCommand, State};

/// A text of the mentor that was not kept.
#[derive(Clone, Copy, Debug)]
pub struct DroppedText<'a> {
    /// The reflection it belongs to.
    pub reflection: &'a Reflection,
    /// The lesson that it would have been.
    pub text: &'a LessonText,
    /// Its place among those of its step, counted from 1.
    number: usize,
}

/// The texts of a step's reflections that were not kept, in order. `state` holds its reflections.
pub fn dropped_texts<'a>(
    step: &'a Step,
    state: &'a State,
) -> impl Iterator<Item = DroppedText<'a>> + use<'a> {
    let of_step = step.reflections.iter().filter_map(|index| state.reflections.get(*index as usize));
    let texts = of_step.flat_map(|reflection| reflection.dropped.iter().map(|text| (&**reflection, text)));
    texts.enumerate().map(|(place, (reflection, text))| DroppedText { reflection, text, number: place + 1 })
}

impl DroppedText<'_> {
    /// What a lesson made of it rests on, which tells it from all others of the branch.
    pub fn evidence(&self) -> String {
        let Reflection { episode, step, .. } = self.reflection;
        let text = self.number;
        format!("the mentor's text (episode {episode}, step {step}, text {text}), accepted by you")
    }

    /// The number of the lesson that it has become: it rests on this text, also where a person changed its words. Lessons of
    /// earlier versions of this program are told by their words.
    pub fn lesson(&self, head: &State) -> Option<u32> {
        let evidence = self.evidence();
        let is_of = |lesson: &&Lesson| {
            lesson.status != LessonStatus::Retired
                && (*lesson.evidence == *evidence || lesson.versions.iter().any(|v| v.text == *self.text))
        };
        Some(head.pool.all().find(is_of)?.number)
    }

    /// The kind of the lesson. A text without a solution is no mistake to warn of: as an Error it would read "The mistake: ...".
    /// `advice` is the method's kind for advice.
    pub fn kind(&self, advice: Option<ReflectionKind>) -> ReflectionKind {
        let kind = self.reflection.kind;
        let alone = kind == ReflectionKind::Error && self.text.solution.is_none();
        advice.filter(|_| alone).unwrap_or(kind)
    }

    /// What takes it as a lesson as it is.
    pub fn accept(&self) -> LessonCommand {
        let kind = self.kind(Some(ReflectionKind::Abstract));
        LessonCommand::Accept {
            kind,
            scope: kind.default_scope(),
            text: self.text.clone(),
            edited: false,
            evidence: self.evidence(),
        }
    }
}
