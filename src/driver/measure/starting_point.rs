//! Where the episodes of a measurement begin, and how the lesson pools of its arms differ there.

use crate::domain::{
    Author, Autonomy, BranchId, Lesson, LessonId, LessonOp, LessonStatus, LessonText, ModelRole, RunSpec,
    Task, hex,
};
use crate::engine::{
    Cause, Command, CommandError, Engine, Event, Input, LessonCommand, Policy, ReplayStart, State,
};
use crate::timeline::Timeline;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// A difference between an arm's lesson pool and the pool as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoolChange {
    /// The lesson enters no prompt.
    Off(LessonId),
    /// The lesson has another text.
    Text(LessonId, LessonText),
}

/// The point from which the episodes of a measurement are played.
#[derive(Clone)]
pub enum StartingPoint {
    /// A point within an episode; see [`Moment`].
    Moment(Box<Moment>),
    /// The start of an episode, of one task or of many.
    Start(Box<FreshStart>),
}

/// A point within an episode of a session, before the prompt of a step.
#[derive(Clone)]
pub struct Moment {
    /// The state at this point. No call is in flight.
    pub state: Arc<State>,
    /// The branch, whose events up to this point are the past of every kept journal.
    pub past: Timeline,
    /// The lessons to measure. Those that the state doesn't have, has with another text or doesn't show are added,
    /// edited or switched on.
    pub lessons: Vec<Lesson>,
}

/// A run of one episode.
#[derive(Clone)]
pub struct FreshStart {
    /// The run. Its tasks and its seed are replaced for each episode, its tasks only if the measurement has a task list.
    pub spec: RunSpec,
    /// The lessons in force, those to measure included.
    pub lessons: Vec<Lesson>,
    /// Where the lessons come from, for the journal.
    pub source: String,
    /// The state in which the episode starts, if it belongs to a session.
    pub replay_start: Option<Box<ReplayStart>>,
}

/// An engine at the starting point, and the events that begin the episode there.
pub(super) struct PreparedEpisode {
    pub(super) engine: Engine,
    pub(super) events: Vec<(Cause, Event)>,
}

/// The parameters of one episode.
pub(super) struct EpisodeSetup<'a> {
    /// Name of the session in which the episode would be kept; lesson ids depend on it.
    pub(super) session: &'a str,
    /// The task; `None` for the task of the starting point.
    pub(super) task: Option<&'a Task>,
    pub(super) seed: u64,
    pub(super) changes: &'a [PoolChange],
}

impl StartingPoint {
    /// Prepares an episode.
    ///
    /// # Errors
    /// Returns [`CommandError`] if a lesson can't be loaded.
    pub(super) fn prepare(
        &self,
        policy: &Policy,
        setup: &EpisodeSetup<'_>,
    ) -> Result<PreparedEpisode, CommandError> {
        match self {
            Self::Moment(moment) => Ok(moment.prepare(policy, setup)),
            Self::Start(start) => start.prepare(policy, setup),
        }
    }

    /// Returns the run.
    pub fn run(&self) -> Option<&RunSpec> {
        match self {
            Self::Moment(moment) => moment.state.run.as_deref(),
            Self::Start(start) => Some(&start.spec),
        }
    }

    /// Returns the number of counted steps that an episode has at most from here on.
    pub fn remaining_steps(&self) -> u32 {
        let limit = self.run().map_or(0, |run| run.limits.steps);
        match self {
            Self::Moment(moment) => {
                let played = moment.state.open_episode().map_or(0, |open| moment.state.counted_steps(open));
                limit.saturating_sub(played)
            }
            Self::Start(_) => limit,
        }
    }

    /// Returns a hash of the lessons in force with these changes: sixteen hexadecimal digits.
    pub fn pool_hash(&self, changes: &[PoolChange]) -> String {
        let mut hash = Sha256::new();
        for lesson in self.lessons_in_force(changes) {
            let text = lesson.text();
            let kind = lesson.kind.name();
            for part in [&*lesson.id.0, kind, &text.text, text.solution.as_deref().unwrap_or("")] {
                hash.update(part.as_bytes());
                hash.update([0]);
            }
        }
        hex(&hash.finalize()[..8])
    }

    /// Returns the lessons in force with these changes, in the order of the pool.
    pub fn lessons_in_force(&self, changes: &[PoolChange]) -> Vec<Lesson> {
        let mut lessons: Vec<Lesson> = match self {
            Self::Moment(moment) => {
                let own = moment.state.pool.all().map(|lesson| {
                    let measured = moment.lessons.iter().find(|l| l.id == lesson.id);
                    measured.unwrap_or(lesson).clone()
                });
                let is_added = |l: &&Lesson| moment.state.pool.get(&l.id).is_none();
                own.chain(moment.lessons.iter().filter(is_added).cloned()).collect()
            }
            Self::Start(start) => start.lessons.clone(),
        };
        lessons.retain(|lesson| lesson.is_active() && !is_off(&lesson.id, changes));
        for lesson in &mut lessons {
            set_text(lesson, changes);
        }
        lessons
    }
}

impl Moment {
    fn prepare(&self, policy: &Policy, setup: &EpisodeSetup<'_>) -> PreparedEpisode {
        let state = &self.state;
        let engine = Engine::resume((**state).clone(), policy.clone(), BranchId::trunk());
        let mut events = Vec::new();
        if let Some(run) = state.run.as_deref() {
            events.push(Event::RunChanged { spec: Box::new(with_seed(run.clone(), setup.seed)) });
        }
        if state.autonomy != Autonomy::Auto {
            events.push(Event::AutonomySet { autonomy: Autonomy::Auto });
        }
        let mut change = |op| events.push(Event::LessonChanged { op: Box::new(op), author: Author::File });
        for lesson in &self.lessons {
            let id = &lesson.id;
            let Some(present) = state.pool.get(id) else {
                change(lesson.add_op());
                continue;
            };
            if present.text() != lesson.text() {
                let (previous, text) = (present.text().clone(), lesson.text().clone());
                change(LessonOp::Edit { id: id.clone(), previous, text });
            }
            if !present.is_active() {
                let (previous, status) = (present.status, LessonStatus::On);
                change(LessonOp::Status { id: id.clone(), previous, status, merged_into: None });
            }
        }
        for difference in setup.changes {
            let (PoolChange::Off(id) | PoolChange::Text(id, _)) = difference;
            let measured = self.lessons.iter().find(|lesson| lesson.id == *id);
            let Some(lesson) = measured.or_else(|| state.pool.get(id)) else { continue };
            let id = id.clone();
            change(match difference {
                PoolChange::Off(_) => {
                    let previous = if lesson.is_active() { lesson.status } else { LessonStatus::On };
                    LessonOp::Status { id, previous, status: LessonStatus::Off, merged_into: None }
                }
                PoolChange::Text(_, text) => {
                    LessonOp::Edit { id, previous: lesson.text().clone(), text: text.clone() }
                }
            });
        }
        events.push(Event::Resumed);
        PreparedEpisode { engine, events: by_policy(events) }
    }
}

impl FreshStart {
    fn prepare(&self, policy: &Policy, setup: &EpisodeSetup<'_>) -> Result<PreparedEpisode, CommandError> {
        let engine = Engine::new(policy.clone());
        let mut spec = with_seed(self.spec.clone(), setup.seed);
        if let Some(task) = setup.task {
            spec.tasks = vec![task.clone()];
        }
        let is_loaded = |lesson: &&Lesson| lesson.is_active() && !is_off(&lesson.id, setup.changes);
        let load = |lesson: &Lesson| {
            let mut lesson = lesson.clone();
            set_text(&mut lesson, setup.changes);
            (self.source.clone(), LessonCommand::Load(Box::new(lesson)))
        };
        let start = Command::Start {
            session: setup.session.to_owned(),
            spec: Box::new(spec),
            pool: self.lessons.iter().filter(is_loaded).map(load).collect(),
            replay_start: self.replay_start.clone(),
            breakpoints: Vec::new(),
        };
        let mut events = engine.decide(&Input::Command(start))?;
        events.extend(by_policy(vec![Event::Resumed]));
        Ok(PreparedEpisode { engine, events })
    }
}

/// Returns the run with a sample seed for all its requests, played without a person.
fn with_seed(mut spec: RunSpec, seed: u64) -> RunSpec {
    spec.seed = seed;
    spec.autonomy = Autonomy::Auto;
    // A seed set for one role would replace the sample seed of every pair.
    for role in [ModelRole::Actor, ModelRole::Mentor] {
        spec.settings.remove(&format!("{}.seed", role.name()));
    }
    spec
}

fn is_off(id: &LessonId, changes: &[PoolChange]) -> bool {
    changes.iter().any(|change| matches!(change, PoolChange::Off(off) if off == id))
}

/// Gives a lesson the text that the changes say.
fn set_text(lesson: &mut Lesson, changes: &[PoolChange]) {
    for change in changes {
        if let PoolChange::Text(id, text) = change
            && *id == lesson.id
            && let Some(current) = Arc::make_mut(&mut lesson.versions).last_mut()
        {
            current.text = text.clone();
        }
    }
}

fn by_policy(events: Vec<Event>) -> Vec<(Cause, Event)> {
    events.into_iter().map(|event| (Cause::Policy, event)).collect()
}
