//! A loaded game: everything that doesn't change during play.

use super::commands::{Command, Commands};
use super::entities::Entities;
use super::expand::{CompiledGrammar, Expander, Scratch};
use super::grammar::Document;
use super::limits;
use super::located_error::LocatedError;
use super::query::TextFacts;
use super::targets::Targets;
use crate::env::EnvError;
use crate::pddl::{Bits, Model, PredicateId, Task};
use serde::Deserialize;
use std::sync::Arc;

/// The keys of `game.tw-pddl` that are used.
#[derive(Deserialize)]
struct GameFile {
    pddl_domain: String,
    pddl_problem: String,
    grammar: String,
}

/// A loaded game, shared by all worlds that play it.
#[derive(Debug)]
pub struct Game {
    label: String,
    pub(super) task: Task,
    pub(super) compiled: CompiledGrammar,
    pub(super) entities: Entities,
    pub(super) commands: Commands,
    pub(super) initial_state: InitialState,
    pub(super) holds_predicate: Option<PredicateId>,
    targets: Targets,
}

/// The start of an episode, computed once.
#[derive(Debug)]
pub(super) struct InitialState {
    pub(super) intro: String,
    pub(super) text_facts: TextFacts,
    pub(super) applicable_counts: Vec<u32>,
    pub(super) active_commands: Bits,
    pub(super) listed_commands: Vec<u32>,
    pub(super) broken_commands: Vec<u32>,
}

impl Game {
    /// Loads a game from the bytes of its file. Errors refer to it as `label`.
    ///
    /// # Errors
    /// [`EnvError::Broken`] with the location and the reason if the file is not a game, is inconsistent or is too
    /// large.
    pub fn load(label: &str, bytes: &[u8]) -> Result<Arc<Self>, EnvError> {
        Self::parse_file(label, bytes).map(Arc::new).map_err(|broken| broken.in_file(label))
    }

    fn parse_file(label: &str, bytes: &[u8]) -> Result<Self, LocatedError> {
        if bytes.len() > limits::FILE_BYTES {
            return Err(LocatedError::new(
                "file",
                format!("{} bytes; at most {} are read", bytes.len(), limits::FILE_BYTES),
            ));
        }
        let file: GameFile = serde_json::from_slice(bytes).map_err(|error| {
            LocatedError::new(
                format!("line {}, column {}", error.line(), error.column()),
                format!(
                    "not a game file (a JSON object with pddl_domain, pddl_problem and grammar): {error}"
                ),
            )
        })?;
        let document = Document::parse(&file.grammar)?;
        let pddl = |error: crate::pddl::PddlError| LocatedError::new(error.place(), error.reason());
        let model = Model::parse(&file.pddl_domain, &file.pddl_problem).map_err(pddl)?;
        let task = Task::ground(&model).map_err(pddl)?;
        let compiled = CompiledGrammar::new(&document, &task)?;
        let entities = Entities::new(&task);
        let text_facts =
            TextFacts { stated: task.initial().facts().clone(), denied: Bits::new(task.fact_count()) };
        let mut scratch = Scratch::default();
        let mut expander = Expander {
            compiled: &compiled,
            task: &task,
            entities: &entities,
            text_facts: &text_facts,
            scratch: &mut scratch,
            budget: limits::LOAD_WORK,
            is_exhausted: false,
        };
        let commands = Commands::new(&task, &compiled, &mut expander)?;
        let mut intro = String::new();
        expander.budget = limits::TEXT_WORK;
        expander.expand(compiled.intro(), None, &mut intro)?;
        let start = InitialState::new(&task, &commands, intro, text_facts);
        let targets = Targets::from_goal(&model);
        Ok(Self {
            label: label.to_owned(),
            holds_predicate: task.predicate("holds").filter(|&holds| task.arity(holds) == 2),
            task,
            compiled,
            entities,
            commands,
            initial_state: start,
            targets,
        })
    }

    /// Returns the label under which the game was loaded.
    pub fn file_label(&self) -> &str {
        &self.label
    }

    /// Returns the objects that the PDDL goal is about.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }
}

impl InitialState {
    fn new(task: &Task, commands: &Commands, intro: String, text_facts: TextFacts) -> Self {
        let mut counts = vec![0_u32; commands.len()];
        let mut active = Bits::new(commands.len());
        let mut broken = Vec::new();
        for op in task.initial().applicable(task) {
            match commands.command_of(op) {
                Command::Text(number) => {
                    counts[number as usize] += 1;
                    active.set(number as usize, true);
                }
                Command::Broken(at) => broken.push(at),
                Command::Varying => {}
            }
        }
        let listed = active.ones().map(|at| at as u32).collect();
        Self {
            intro,
            text_facts,
            applicable_counts: counts,
            active_commands: active,
            listed_commands: listed,
            broken_commands: broken,
        }
    }
}
