//! What a turn can be marked for, and at which marks `<` and `>` stop.

use super::theme::Role;
use crate::domain::{NoteKind, Step};

/// What a turn is marked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A reflection was written after it.
    Reflection,
    /// A person acted, rejected, or edited what was thought or seen.
    Override,
    /// A detector saw a mistake.
    Error,
    /// A subgoal was reached: reward or progress rose.
    Progress,
    /// A person left a remark.
    Bookmark,
    /// A breakpoint or a watch came true.
    Breakpoint,
}

/// At which kinds of marks `<` and `>` stop: all of them, unless a person chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkFilter([bool; MarkKind::ALL.len()]);

impl Default for MarkFilter {
    fn default() -> Self {
        Self([true; MarkKind::ALL.len()])
    }
}

impl MarkKind {
    /// Every kind, in the order of the list.
    pub const ALL: [Self; 6] =
        [Self::Reflection, Self::Override, Self::Error, Self::Progress, Self::Bookmark, Self::Breakpoint];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reflection => "reflections",
            Self::Override => "overrides",
            Self::Error => "errors",
            Self::Progress => "progress",
            Self::Bookmark => "bookmarks",
            Self::Breakpoint => "stops",
        }
    }

    /// What it stands at.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Reflection => "a reflection was written",
            Self::Override => "you acted, rejected or edited",
            Self::Error => "a mistake was seen",
            Self::Progress => "reward or progress rose",
            Self::Bookmark => "you left a remark",
            Self::Breakpoint => "a breakpoint or a watch came true",
        }
    }

    /// Its colour on the time bar.
    pub const fn role(self) -> Role {
        match self {
            Self::Reflection => Role::MarkReflection,
            Self::Override | Self::Bookmark => Role::MarkPerson,
            Self::Error => Role::MarkMistake,
            Self::Progress => Role::MarkProgress,
            Self::Breakpoint => Role::MarkBreakpoint,
        }
    }

    /// Whether a turn has it.
    pub fn is_set_on(self, step: &Step) -> bool {
        let noted = |kind| step.notes.iter().any(|n| n.kind == kind);
        match self {
            Self::Reflection => !step.reflections.is_empty(),
            Self::Override => {
                let edited = step.thought_edited || step.is_observation_edited();
                edited || step.prompt_edited || step.is_person_action() || !step.rejections.is_empty()
            }
            Self::Error => noted(NoteKind::Mistake),
            Self::Progress => noted(NoteKind::Progress),
            Self::Bookmark => !step.remarks.is_empty(),
            Self::Breakpoint => !step.breakpoint_marks.is_empty(),
        }
    }
}

impl MarkFilter {
    /// Whether `<` and `>` stop at a kind.
    pub fn has_kind(&self, kind: MarkKind) -> bool {
        self.0[kind as usize]
    }

    /// Stops at a kind, or no more. Where it was the last, all are taken again: keys that stop nowhere say nothing.
    pub fn toggle(&mut self, kind: MarkKind) {
        self.0[kind as usize] = !self.has_kind(kind);
        if self.0 == [false; MarkKind::ALL.len()] {
            *self = Self::default();
        }
    }

    /// Stops at this kind alone; where it was alone already, at all again.
    pub fn toggle_only(&mut self, kind: MarkKind) {
        let mut alone = Self([false; MarkKind::ALL.len()]);
        alone.0[kind as usize] = true;
        *self = if *self == alone { Self::default() } else { alone };
    }

    /// Whether `<` and `>` stop at a turn.
    pub fn is_match(&self, step: &Step) -> bool {
        MarkKind::ALL.iter().any(|kind| self.has_kind(*kind) && kind.is_set_on(step))
    }

    /// The kinds in words; none where it is all of them.
    pub fn kind_names(&self) -> Option<String> {
        let named = MarkKind::ALL.iter().filter(|k| self.has_kind(**k)).map(|k| k.name());
        (*self != Self::default()).then(|| named.collect::<Vec<_>>().join(", "))
    }
}
