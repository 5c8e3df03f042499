//! Playing a game. The cost of a step is proportional to what it changes.

use super::commands::Command;
use super::expand::{Expander, Scratch};
use super::game::Game;
use super::limits;
use super::located_error::LocatedError;
use super::progress::Progress;
use super::query::TextFacts;
use super::shown::AgentView;
use super::subgoals::Subgoals;
use super::targets::Targets;
use super::truth::{Truth, TruthSource};
use crate::env::EnvError;
use crate::pddl::{Bits, OpId, State};
use std::sync::Arc;

/// The reply to any inadmissible command.
const NOTHING_HAPPENS: &str = "Nothing happens.";

/// A game being played.
///
/// [`Self::restart`] and [`Self::play`] are the cheap interface (no allocation if nothing changed). The `Environment`
/// implementation adds progress, what the agent knows and the ground truth.
#[derive(Debug)]
pub struct World {
    game: Arc<Game>,
    state: State,
    text_facts: TextFacts,
    /// The number of applicable instances of each command text.
    command_counts: Vec<u32>,
    /// The set of commands with at least one applicable instance.
    active_commands: Bits,
    /// The same commands as a sorted list, rebuilt when it is stale.
    listed_commands: Vec<u32>,
    is_list_stale: bool,
    /// Applicable commands whose text cannot be expanded.
    broken_commands: Vec<u32>,
    /// Commands whose text depends on changing facts, sorted; expanded again in each state.
    varying_commands: Vec<(String, OpId)>,
    feedback: String,
    scratch: Scratch,
    pub(super) progress: Progress,
    pub(super) shown: AgentView,
    pub(super) truth: Truth,
}

/// The reply to one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'w> {
    /// The text printed by the game.
    pub feedback: &'w str,
    /// Whether the command was admissible.
    pub accepted: bool,
    /// Whether the goal holds now.
    pub won: bool,
}

/// The state of a world, created by [`World::save_state`]. A few hundred bytes.
#[derive(Clone, Debug)]
pub struct SavedState {
    facts: Bits,
    text_facts: TextFacts,
}

impl World {
    /// Opens a game at its start. Progress is measured by `targets`, or by those of the goal if `None`.
    ///
    /// # Errors
    /// [`EnvError::Broken`] if the text of a command that is applicable at the start cannot be expanded.
    pub fn new(game: Arc<Game>, targets: Option<&Targets>) -> Result<Self, EnvError> {
        let progress = Progress::new(targets.unwrap_or(game.targets()));
        let mut world = Self {
            state: game.task.initial(),
            text_facts: game.initial_state.text_facts.clone(),
            command_counts: Vec::new(),
            active_commands: game.initial_state.active_commands.clone(),
            listed_commands: Vec::new(),
            is_list_stale: false,
            broken_commands: Vec::new(),
            varying_commands: Vec::new(),
            feedback: String::new(),
            scratch: Scratch::default(),
            progress,
            shown: AgentView::default(),
            truth: Truth::new(&game),
            game,
        };
        world.restart()?;
        Ok(world)
    }

    /// Measures progress by the subgoals of one of AgentBoard's labels. Must be called before [`Self::restart`].
    #[must_use]
    pub fn with_subgoals(mut self, subgoals: Subgoals) -> Self {
        self.progress = Progress::from_subgoals(subgoals);
        self
    }

    /// Returns the game.
    pub fn game(&self) -> &Arc<Game> {
        &self.game
    }

    /// Returns to the start and returns the introductory text.
    ///
    /// # Errors
    /// [`EnvError::Broken`] if the text of a command that is applicable at the start cannot be expanded.
    pub fn restart(&mut self) -> Result<&str, EnvError> {
        let start = &self.game.initial_state;
        self.state.reset(&self.game.task);
        self.text_facts.clone_from(&start.text_facts);
        self.command_counts.clone_from(&start.applicable_counts);
        self.active_commands.copy_from(&start.active_commands);
        self.listed_commands.clone_from(&start.listed_commands);
        self.broken_commands.clone_from(&start.broken_commands);
        self.is_list_stale = false;
        self.feedback.clear();
        self.feedback.push_str(&start.intro);
        self.refresh_commands().map_err(|broken| broken.in_file(self.game.file_label()))?;
        Ok(&self.feedback)
    }

    /// Executes one command.
    ///
    /// # Errors
    /// [`EnvError::Broken`] if the grammar cannot produce the reply. The world has already changed by then and must be
    /// restarted or restored.
    pub fn play(&mut self, command: &str) -> Result<Reply<'_>, EnvError> {
        let Some(op) = self.find_op(strip_like_python(command)) else {
            return Ok(Reply { feedback: NOTHING_HAPPENS, accepted: false, won: self.is_won() });
        };
        self.apply_op(op).map_err(|broken| broken.in_file(self.game.file_label()))?;
        Ok(Reply { feedback: &self.feedback, accepted: true, won: self.is_won() })
    }

    /// Iterates over the commands that would be accepted now: unique, sorted by bytes.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        let mut fixed = self.listed_commands.iter().map(|&number| self.game.commands.text(number)).peekable();
        let mut varying = self.varying_commands.iter().map(|(text, _)| text.as_str()).peekable();
        std::iter::from_fn(move || match (fixed.peek(), varying.peek()) {
            (Some(left), Some(right)) if right < left => varying.next(),
            (Some(_), _) => fixed.next(),
            (None, _) => varying.next(),
        })
    }

    /// Returns whether the goal holds now. It may stop holding later.
    #[inline]
    pub fn is_won(&self) -> bool {
        self.state.is_goal(&self.game.task)
    }

    /// Returns the names of the objects that the agent holds.
    pub fn inventory(&self) -> impl Iterator<Item = &str> {
        let task = &self.game.task;
        let held = self.game.holds_predicate.into_iter().flat_map(|holds| task.facts_of(holds));
        held.filter(|&fact| self.state.holds(fact))
            .map(|fact| self.game.entities.name(task.arguments(fact)[1]))
    }

    /// Returns a copy of the current state.
    pub fn save_state(&self) -> SavedState {
        SavedState { facts: self.state.facts().clone(), text_facts: self.text_facts.clone() }
    }

    /// Restores a saved state of this game.
    ///
    /// # Errors
    /// The same as [`Self::restart`].
    pub fn restore_state(&mut self, saved: &SavedState) -> Result<(), EnvError> {
        self.state.restore(&self.game.task, &saved.facts);
        self.text_facts.clone_from(&saved.text_facts);
        self.update_counts();
        self.refresh_commands().map_err(|broken| broken.in_file(self.game.file_label()))
    }

    /// Returns the data that the ground truth is derived from.
    pub(super) fn truth_source(&self) -> TruthSource<'_> {
        TruthSource {
            game: &self.game,
            state: &self.state,
            last_place: self.shown.last_place(),
            held_item: self.inventory().next(),
        }
    }

    fn find_op(&self, command: &str) -> Option<OpId> {
        if let Some(number) =
            self.game.commands.find(command).filter(|&number| self.active_commands.get(number as usize))
        {
            return self.game.commands.ops(number).iter().copied().find(|&op| self.state.is_applicable(op));
        }
        let at = self.varying_commands.binary_search_by(|(text, _)| text.as_str().cmp(command)).ok()?;
        Some(self.varying_commands[at].1)
    }

    fn apply_op(&mut self, op: OpId) -> Result<(), LocatedError> {
        let game = Arc::clone(&self.game);
        self.state.apply(&game.task, op);
        for effect in game.task.effects(op) {
            self.text_facts.record(effect.fact, effect.is_add);
        }
        self.update_counts();
        // Done before the text is expanded, so that the list is right even if the expansion fails.
        let listed = self.refresh_commands();
        self.feedback.clear();
        let action = game.task.action_of(op);
        if let Some(texts) = game.compiled.texts_of(action) {
            let mut feedback = std::mem::take(&mut self.feedback);
            let bound = game.task.bound_objects(op);
            let result = self.expander(&game).expand(&texts.feedback, Some((action, bound)), &mut feedback);
            self.feedback = feedback;
            result?;
        }
        listed
    }

    /// Updates the command counts from the instances whose applicability changed.
    fn update_counts(&mut self) {
        let commands = &self.game.commands;
        for flip in self.state.flips() {
            match commands.command_of(flip.op) {
                Command::Text(number) => {
                    let count = &mut self.command_counts[number as usize];
                    let before = *count;
                    *count = if flip.is_applicable { before + 1 } else { before - 1 };
                    if before == 0 || *count == 0 {
                        self.active_commands.set(number as usize, flip.is_applicable);
                        self.is_list_stale = true;
                    }
                }
                Command::Broken(at) if flip.is_applicable => self.broken_commands.push(at),
                Command::Broken(at) => {
                    if let Some(index) = self.broken_commands.iter().position(|&other| other == at) {
                        self.broken_commands.swap_remove(index);
                    }
                }
                Command::Varying => {}
            }
        }
    }

    /// Brings the list of commands up to date.
    fn refresh_commands(&mut self) -> Result<(), LocatedError> {
        if self.is_list_stale {
            self.listed_commands.clear();
            self.listed_commands.extend(self.active_commands.ones().map(|at| at as u32));
            self.is_list_stale = false;
        }
        if self.game.commands.has_varying() {
            self.expand_varying()?;
        }
        match self.broken_commands.first() {
            Some(&at) => Err(self.game.commands.broken_reason(at).clone()),
            None => Ok(()),
        }
    }

    /// Expands the commands that depend on changing facts.
    fn expand_varying(&mut self) -> Result<(), LocatedError> {
        let game = Arc::clone(&self.game);
        self.varying_commands.clear();
        let (mut bytes, mut budget) = (0, limits::LOAD_WORK);
        for op in game.task.ops() {
            if game.commands.command_of(op) != Command::Varying || !self.state.is_applicable(op) {
                continue;
            }
            let action = game.task.action_of(op);
            let Some(texts) = game.compiled.texts_of(action) else { continue };
            let mut text = String::new();
            let mut expander = self.expander(&game);
            expander.budget = budget;
            expander.expand(&texts.template, Some((action, game.task.bound_objects(op))), &mut text)?;
            budget = expander.budget;
            bytes += text.len() + size_of::<(String, OpId)>();
            if bytes > limits::COMMAND_BYTES {
                return Err(LocatedError::new(
                    "grammar",
                    format!("the admissible commands exceed {} bytes in total", limits::COMMAND_BYTES),
                ));
            }
            if !game.commands.find(&text).is_some_and(|number| self.active_commands.get(number as usize)) {
                self.varying_commands.push((text, op));
            }
        }
        self.varying_commands.sort();
        self.varying_commands.dedup_by(|left, right| left.0 == right.0);
        Ok(())
    }

    fn expander<'a>(&'a mut self, game: &'a Game) -> Expander<'a> {
        Expander {
            compiled: &game.compiled,
            task: &game.task,
            entities: &game.entities,
            text_facts: &self.text_facts,
            scratch: &mut self.scratch,
            budget: limits::TEXT_WORK,
            is_exhausted: false,
        }
    }
}

/// Strips the white space that Python's `strip` removes: Unicode's, and the four separators U+001C to U+001F.
fn strip_like_python(command: &str) -> &str {
    command.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}
