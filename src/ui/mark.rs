//! Marks on steps, and the filter for `<` and `>`.

use crate::domain::{NoteKind, Step};
use crate::engine::Episode;
use crate::ui::theme::Role;

/// Why a step is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A reflection was written after it.
    Reflection,
    /// A person intervened: overrode or rejected the action, edited a thought, observation or prompt, or changed a
    /// lesson, a setting or the run.
    Override,
    /// A detector found a mistake.
    Mistake,
    /// A subgoal was reached: reward or progress rose.
    Progress,
    /// A person left a remark.
    Remark,
    /// A breakpoint or watch matched.
    Breakpoint,
    /// A branch was forked there.
    Branch,
}

/// The kinds of marks at which `<` and `>` stop; all of them by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkFilter([bool; MarkKind::ALL.len()]);

impl Default for MarkFilter {
    fn default() -> Self {
        Self([true; MarkKind::ALL.len()])
    }
}

impl MarkKind {
    /// All kinds, in list order.
    pub const ALL: [Self; 7] = [
        Self::Reflection,
        Self::Override,
        Self::Mistake,
        Self::Progress,
        Self::Remark,
        Self::Breakpoint,
        Self::Branch,
    ];

    /// Returns its name in lists.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reflection => "reflections",
            Self::Override => "interventions",
            Self::Mistake => "mistakes",
            Self::Progress => "progress",
            Self::Remark => "remarks",
            Self::Breakpoint => "breakpoints",
            Self::Branch => "branches",
        }
    }

    /// Returns what it marks.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Reflection => "a reflection was written",
            Self::Override => "you acted, rejected, edited, or changed a lesson or setting",
            Self::Mistake => "a mistake was detected",
            Self::Progress => "reward or progress rose",
            Self::Remark => "you left a remark",
            Self::Breakpoint => "a breakpoint or watch matched",
            Self::Branch => "a branch was forked",
        }
    }

    /// Returns its colour on the timeline.
    pub const fn role(self) -> Role {
        match self {
            Self::Reflection => Role::MarkReflection,
            Self::Override | Self::Remark | Self::Branch => Role::MarkPerson,
            Self::Mistake => Role::MarkMistake,
            Self::Progress => Role::MarkProgress,
            Self::Breakpoint => Role::MarkBreakpoint,
        }
    }

    /// Returns whether a step has this mark; `forked` are the steps at which branches were forked.
    pub fn is_set_on(self, step: &Step, forked: &[u32]) -> bool {
        let noted = |kind| step.notes.iter().any(|n| n.kind == kind);
        match self {
            Self::Reflection => !step.reflections.is_empty(),
            Self::Override => {
                let edited = step.thought_edited || step.is_observation_edited();
                let changed = step.interventions.iter().any(|act| !act.undone);
                let decided = step.is_person_action() || !step.rejections.is_empty();
                edited || step.prompt_edited || decided || changed
            }
            Self::Mistake => noted(NoteKind::Mistake),
            Self::Progress => noted(NoteKind::Progress),
            Self::Remark => !step.remarks.is_empty(),
            Self::Breakpoint => !step.breakpoint_marks.is_empty(),
            Self::Branch => forked.contains(&step.number),
        }
    }
}

/// Returns whether a person intervened before the first step of an episode.
pub fn has_early_intervention(episode: &Episode) -> bool {
    episode.interventions.iter().any(|act| !act.undone)
}

impl MarkFilter {
    /// Returns whether `<` and `>` stop at a kind.
    pub fn has_kind(&self, kind: MarkKind) -> bool {
        self.0[kind as usize]
    }

    /// Adds or removes a kind. Removing the last kind selects all again, because keys that never stop would look
    /// broken.
    pub fn toggle(&mut self, kind: MarkKind) {
        self.0[kind as usize] = !self.has_kind(kind);
        if self.0 == [false; MarkKind::ALL.len()] {
            *self = Self::default();
        }
    }

    /// Selects this kind only, or all kinds if it is already the only one.
    pub fn toggle_only(&mut self, kind: MarkKind) {
        let mut alone = Self([false; MarkKind::ALL.len()]);
        alone.0[kind as usize] = true;
        *self = if *self == alone { Self::default() } else { alone };
    }

    /// Returns whether `<` and `>` stop at a step.
    pub fn is_match(&self, step: &Step, forked: &[u32]) -> bool {
        MarkKind::ALL.iter().any(|kind| self.has_kind(*kind) && kind.is_set_on(step, forked))
    }

    /// Returns the names of the selected kinds, or `None` if all are selected.
    pub fn kind_names(&self) -> Option<String> {
        let named = MarkKind::ALL.iter().filter(|k| self.has_kind(**k)).map(|k| k.name());
        (*self != Self::default()).then(|| named.collect::<Vec<_>>().join(", "))
    }
}
