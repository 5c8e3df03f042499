//! Problems of the four domains, drawn by chance and proven: each can be won, and none is won at its beginning.

mod barman;
mod blockworld;
mod gripper;
mod tyreworld;

use super::environment::PddlEnvironment;
use super::game::{Game, GoalSeparator, ProblemSource};
use super::hint::Hint;
use super::hint::ReferencePlan;
use super::id::{Difficulty, Domain, TaskId};
use crate::domain::Task;
use crate::env::EnvError;
use crate::env::labelled_rng::LabelledRng;
use crate::pddl::SearchLimits;
use std::fmt::Write as _;
use std::sync::Arc;

/// Name of this generation of problems. It changes when any task name would give another problem than before.
pub const GENERATION: &str = "pddl 1";

/// How often chance is asked again when what it drew is no problem to be posed.
const MAX_TRIES: u32 = 30;

/// One generated problem.
#[derive(Clone, Debug)]
pub struct GeneratedProblem {
    /// Its name.
    pub id: TaskId,
    /// The problem in PDDL.
    pub text: String,
    /// The problem, ready to be played.
    pub game: Arc<Game>,
    /// Actions that reach the goal from the start, as their texts. Short, not shortest.
    pub plan: Vec<String>,
}

impl GeneratedProblem {
    /// A world that plays it.
    pub fn open(&self, joining: GoalSeparator) -> PddlEnvironment {
        PddlEnvironment::new(Arc::clone(&self.game), joining, Some(ReferencePlan::Plan(self.plan.len())))
    }
}

/// The parts of a problem while it is drawn.
#[derive(Default)]
struct Draft {
    /// Names and their type; an empty type is not written.
    objects: Vec<(String, &'static str)>,
    init: Vec<String>,
    goal: Vec<String>,
}

impl Draft {
    fn add_object(&mut self, name: impl Into<String>, kind: &'static str) {
        self.objects.push((name.into(), kind));
    }

    fn add_fact(&mut self, fact: impl Into<String>) {
        self.init.push(fact.into());
    }

    fn add_goal(&mut self, fact: impl Into<String>) {
        self.goal.push(fact.into());
    }

    /// Whether this is a problem at all: something is wanted, and at least half of it is not there yet.
    fn has_open_goals(&self) -> bool {
        let open = self.goal.iter().filter(|fact| !self.init.contains(fact)).count();
        open > 0 && 2 * open >= self.goal.len()
    }

    /// The problem as a file.
    fn to_pddl(&self, id: TaskId) -> String {
        let name = id.to_string().replace('/', "-");
        let mut text = format!("(define (problem {name})\n  (:domain {})\n  (:objects", id.domain.name());
        // Writing to a string cannot fail.
        for (object, kind) in &self.objects {
            let _ = if kind.is_empty() {
                write!(text, " {object}")
            } else {
                write!(text, "\n    {object} - {kind}")
            };
        }
        text.push_str(")\n  (:init");
        for fact in &self.init {
            let _ = write!(text, "\n    ({fact})");
        }
        text.push_str(")\n  (:goal (and");
        for fact in &self.goal {
            let _ = write!(text, "\n    ({fact})");
        }
        text.push_str(")))\n");
        text
    }
}

/// Draws the problem of this name and proves that it can be won. Pure.
///
/// # Errors
/// [`EnvError`] when the generator finds none; tests over several hundred names rule this out.
pub fn generate(id: &TaskId) -> Result<GeneratedProblem, EnvError> {
    for attempt in 0..MAX_TRIES {
        let mut dice = LabelledRng::from_label(&format!(
            "{GENERATION}/{}/{}/{}/{attempt}",
            id.domain.word(),
            id.difficulty.word(),
            id.number
        ));
        let draft = match id.domain {
            Domain::Gripper => gripper::draw(&mut dice, id.difficulty),
            Domain::Blockworld => blockworld::draw(&mut dice, id.difficulty),
            Domain::Barman => barman::draw(&mut dice, id.difficulty),
            Domain::Tyreworld => tyreworld::draw(&mut dice, id.difficulty),
        };
        if !draft.has_open_goals() {
            continue;
        }
        let text = draft.to_pddl(*id);
        let game = load_game(*id, &text)?;
        if let Hint::Plan(plan) = game.plan_from(&game.task().initial(), SearchLimits::INTERACTIVE) {
            return Ok(GeneratedProblem { id: *id, text, game, plan });
        }
    }
    Err(EnvError::Refused { what: format!("no problem that can be won was drawn for `{id}`") })
}

fn load_game(id: TaskId, text: &str) -> Result<Arc<Game>, EnvError> {
    Game::load(&ProblemSource {
        domain_label: &format!("the built-in domain {}", id.domain.word()),
        domain: id.domain.pddl_text().as_bytes(),
        problem_label: &format!("the generated problem {id}"),
        problem: text.as_bytes(),
    })
}

/// The names that lists show: of each domain two easy, four normal, and two hard problems.
pub fn offered_ids() -> impl Iterator<Item = TaskId> {
    let rows = [(Difficulty::Easy, 1..=2), (Difficulty::Normal, 1..=4), (Difficulty::Hard, 1..=2)];
    Domain::ALL.into_iter().flat_map(move |domain| {
        rows.clone().into_iter().flat_map(move |(difficulty, numbers)| {
            numbers.map(move |number| TaskId { domain, difficulty, number })
        })
    })
}

/// A generated task with its goal.
///
/// # Errors
/// As [`generate`].
pub fn task(id: &TaskId, joining: GoalSeparator) -> Result<Task, EnvError> {
    Ok(Task { goal: generate(id)?.game.goal_text(joining), ..task_without_goal(id) })
}

/// The same before it is generated.
pub fn task_without_goal(id: &TaskId) -> Task {
    Task {
        env: "pddl".to_owned(),
        id: id.to_string(),
        goal: String::new(),
        task_type: Some(id.domain.word().to_owned()),
        difficulty: None,
        seed: u64::from(id.number),
    }
}
