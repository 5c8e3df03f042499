//! Random problems of the four built-in domains. Each is proven to be solvable, and none is solved at the start.

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

/// Version of the generator. It changes whenever any task id would produce a different problem.
pub const GENERATOR_VERSION: &str = "pddl 1";

/// Maximum number of attempts to draw a suitable problem.
const MAX_TRIES: u32 = 30;

/// One generated problem.
#[derive(Clone, Debug)]
pub struct GeneratedProblem {
    pub id: TaskId,
    /// The problem in PDDL.
    pub text: String,
    /// The problem, ready to be played.
    pub game: Arc<Game>,
    /// The texts of actions that reach the goal from the start. Short, but not necessarily shortest.
    pub plan: Vec<String>,
}

impl GeneratedProblem {
    /// Opens an environment that plays it.
    pub fn open(&self, separator: GoalSeparator) -> PddlEnvironment {
        PddlEnvironment::new(Arc::clone(&self.game), separator, Some(ReferencePlan::Plan(self.plan.len())))
    }
}

/// The parts of a problem while it is being drawn.
#[derive(Default)]
struct Draft {
    /// Names with their type; an empty type is omitted from the PDDL.
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

    /// Returns whether the problem is suitable: it has goals, and at least half of them don't hold at the start.
    fn has_open_goals(&self) -> bool {
        let open_count = self.goal.iter().filter(|fact| !self.init.contains(fact)).count();
        open_count > 0 && 2 * open_count >= self.goal.len()
    }

    /// Formats the problem as a PDDL file.
    fn to_pddl(&self, id: TaskId) -> String {
        let name = id.to_string().replace('/', "-");
        let mut text =
            format!("(define (problem {name})\n  (:domain {})\n  (:objects", id.domain.pddl_name());
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

/// Draws the problem with this id and proves that it can be solved. Performs no IO.
///
/// # Errors
/// [`EnvError`] if the generator finds no problem, which tests over several hundred ids rule out.
pub fn generate(id: &TaskId) -> Result<GeneratedProblem, EnvError> {
    for attempt in 0..MAX_TRIES {
        let mut rng = LabelledRng::from_label(&format!(
            "{GENERATOR_VERSION}/{}/{}/{}/{attempt}",
            id.domain.word(),
            id.difficulty.word(),
            id.number
        ));
        let draft = match id.domain {
            Domain::Gripper => gripper::draw(&mut rng, id.difficulty),
            Domain::Blockworld => blockworld::draw(&mut rng, id.difficulty),
            Domain::Barman => barman::draw(&mut rng, id.difficulty),
            Domain::Tyreworld => tyreworld::draw(&mut rng, id.difficulty),
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
    Err(EnvError::Refused { what: format!("no solvable problem found for `{id}`") })
}

fn load_game(id: TaskId, text: &str) -> Result<Arc<Game>, EnvError> {
    Game::load(&ProblemSource {
        domain_label: &format!("the built-in domain {}", id.domain.word()),
        domain: id.domain.pddl_text().as_bytes(),
        problem_label: &format!("the generated problem {id}"),
        problem: text.as_bytes(),
    })
}

/// Returns the ids shown in lists: two easy, four normal and two hard problems of each domain.
pub fn offered_ids() -> impl Iterator<Item = TaskId> {
    let rows = [(Difficulty::Easy, 1..=2), (Difficulty::Normal, 1..=4), (Difficulty::Hard, 1..=2)];
    Domain::ALL.into_iter().flat_map(move |domain| {
        rows.clone().into_iter().flat_map(move |(difficulty, numbers)| {
            numbers.map(move |number| TaskId { domain, difficulty, number })
        })
    })
}

/// Returns a generated task with its goal.
///
/// # Errors
/// The same as [`generate`].
pub fn task(id: &TaskId, separator: GoalSeparator) -> Result<Task, EnvError> {
    Ok(Task { goal: generate(id)?.game.goal_text(separator), ..task_without_goal(id) })
}

/// Returns the task without its goal, which requires no generation.
pub fn task_without_goal(id: &TaskId) -> Task {
    Task {
        env: super::NAME.to_owned(),
        id: id.to_string(),
        goal: String::new(),
        task_type: Some(id.domain.word().to_owned()),
        difficulty: None,
        seed: u64::from(id.number),
    }
}
