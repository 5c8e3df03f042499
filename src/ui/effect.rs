//! A measurement of a lesson as the screen shows it: what is asked for, the plan, and the pairs so far.

use crate::domain::{AskedAt, LessonId, LessonText, MeasuredEffect};
use crate::driver::measure::EpisodePlace;
use crate::timeline::effect::{EffectBudget, EffectLog, EffectPlan, EffectResult, PanelVerdict, StopReason};

/// Which lesson is measured, and from where on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectQuery {
    pub lesson: LessonId,
    /// Where the pairs of the column "here" begin.
    pub place: EpisodePlace,
    /// Whether the method reflects during the episodes.
    pub live: bool,
    /// Another wording, measured as an arm of its own.
    pub edited: Option<LessonText>,
    /// The most pairs of a column; `None`: as many as the measurement has, or as suits the run.
    pub pairs: Option<u32>,
    /// The most that a column may cost; `None`: as the measurement has it.
    pub budget: Option<EffectBudget>,
    /// The point of the session at which it was asked for. `None`: that of the last measurement like this, or else now.
    pub asked: Option<AskedAt>,
    /// Whether a measurement of the lesson that began at another moment is shown instead, if there is one and none like this.
    pub or_earlier: bool,
}

impl EffectQuery {
    /// Returns the query for a frozen measurement without another wording.
    pub fn new(lesson: LessonId, place: EpisodePlace) -> Self {
        Self {
            lesson,
            place,
            live: false,
            edited: None,
            pairs: None,
            budget: None,
            asked: None,
            or_earlier: false,
        }
    }

    /// Returns whether a measurement that was asked for with this query may be an answer to another query.
    pub fn answers(&self, other: &Self) -> bool {
        if other.or_earlier {
            return self.lesson == other.lesson;
        }
        let asked = other.asked.clone().or_else(|| self.asked.clone());
        *self == Self { asked, ..other.clone() }
    }
}

/// How far a measurement is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffectPhase {
    /// Not started, or stopped; it can be started or continued.
    Idle,
    Running,
}

/// A measurement of a lesson here and elsewhere.
#[derive(Clone, Debug)]
pub struct EffectProgress {
    pub query: EffectQuery,
    pub phase: EffectPhase,
    /// Here and elsewhere.
    pub columns: Vec<EffectColumn>,
    /// Why there is only one column.
    pub missing_column: Option<String>,
    /// Whether the session's lessons have changed since it was asked for; it goes on with those of then.
    pub has_older_lessons: bool,
    /// Says that tasks elsewhere may be ones on which the lesson was learned, because nothing says which these are.
    pub unknown_sources: Option<String>,
    /// For which model server it waits, and why; `None` while it doesn't.
    pub outage: Option<String>,
}

/// One column.
#[derive(Clone, Debug)]
pub struct EffectColumn {
    pub log: EffectLog,
    pub result: EffectResult,
    /// What it costs at most.
    pub cost: String,
    /// Which effects it can show, if that is known.
    pub detectable: Option<String>,
    /// The folder with the journals of kept pairs.
    pub folder: String,
    /// What is kept of it with the lesson; `None` without pairs.
    pub kept: Option<MeasuredEffect>,
}

impl EffectColumn {
    /// Returns the plan.
    pub fn plan(&self) -> &EffectPlan {
        self.log.plan()
    }
}

impl EffectProgress {
    /// Returns the version of the lesson that is measured, counted from 1.
    pub fn version(&self) -> Option<u32> {
        self.columns.first()?.plan().version
    }

    /// Returns whether episodes are being played.
    pub fn is_running(&self) -> bool {
        self.phase == EffectPhase::Running
    }

    /// Returns whether no column can be continued.
    pub fn is_finished(&self) -> bool {
        self.columns.iter().all(|column| column.log.stopped().is_some() && !column.log.can_go_on())
    }

    /// Returns whether a column has played all its pairs without a verdict, so that more pairs may lead to one.
    pub fn needs_more_pairs(&self) -> bool {
        self.columns.iter().any(|column| column.log.stopped() == Some(StopReason::Pairs))
    }

    /// Returns whether a column has used up its budget, so that it goes on with a larger one.
    pub fn needs_larger_budget(&self) -> bool {
        let is_used_up =
            |column: &EffectColumn| column.log.stopped().is_some_and(StopReason::needs_larger_budget);
        self.columns.iter().any(is_used_up)
    }

    /// Returns the budget of each column.
    pub fn budget(&self) -> EffectBudget {
        self.columns.first().map(|column| column.plan().budget).unwrap_or_default()
    }

    /// Returns the pairs of all columns that are settled, and how many there are at most.
    pub fn pairs(&self) -> (u64, u64) {
        let sum =
            |of: fn(&EffectLog) -> u32| self.columns.iter().map(|column| u64::from(of(&column.log))).sum();
        (sum(EffectLog::settled_pairs), sum(EffectLog::last_pair))
    }

    /// Returns how many pairs of a column are settled, and how many there are at most, as the plan counts them: of the column that
    /// has the most left.
    pub fn open_pairs(&self) -> (u32, u32) {
        let pairs = self.columns.iter().filter(|column| column.log.stopped().is_none());
        let pairs = pairs.map(|column| (column.log.settled_pairs(), column.log.last_pair()));
        pairs.max_by_key(|(settled, last)| last - settled.min(last)).unwrap_or_default()
    }

    /// Returns the same pairs, not running.
    pub fn stopped(&self) -> Self {
        Self { phase: EffectPhase::Idle, outage: None, ..self.clone() }
    }

    /// Returns the verdict about both columns together, and the verdicts of both.
    pub fn panel(&self) -> Option<PanelVerdict> {
        match self.columns.as_slice() {
            [here, elsewhere] => {
                Some(PanelVerdict::combine(here.result.verdict(), elsewhere.result.verdict()))
            }
            _ => None,
        }
    }
}

/// A lesson that is being taught or edited, to be measured as soon as the session has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaughtLesson {
    /// The edited lesson; `None` for a new one.
    pub lesson: Option<LessonId>,
    /// The number of lessons before the new one, or the version of the edited one before; a larger number means that it is there.
    pub before: usize,
    /// The store's epoch when it was taught. In another one, the branch begins with it.
    pub epoch: u64,
    /// Whether it is taught on a new branch.
    pub on_branch: bool,
}
