//! Playing a game: one step costs what it changes.

use super::broken::Broken;
use super::commands::Command;
use super::expand::{Expander, Scratch};
use super::game::Game;
use super::limits;
use super::progress::Progress;
use super::query::Told;
use super::shown::Shown;
use super::subgoals::Subgoals;
use super::targets::Targets;
use super::truth::{Scene, Truth};
use crate::env::EnvError;
use crate::pddl::{Bits, OpId, State};
use std::sync::Arc;

/// The answer to whatever is not admissible.
const NOTHING: &str = "Nothing happens.";

/// A game being played.
///
/// [`Self::begin`] and [`Self::play`] are the lean way (no allocation where nothing changed); the `Environment` of the same
/// world adds progress, what the agent knows, and what is true.
#[derive(Debug)]
pub struct World {
    game: Arc<Game>,
    state: State,
    told: Told,
    counts: Vec<u32>,
    active: Bits,
    listed: Vec<u32>,
    stale: bool,
    broken: Vec<u32>,
    /// Commands whose text depends on changing facts, ascending; expanded anew in each state.
    varying: Vec<(String, OpId)>,
    feedback: String,
    scratch: Scratch,
    pub(super) progress: Progress,
    pub(super) shown: Shown,
    pub(super) truth: Truth,
}

/// The answer to one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'w> {
    /// The text.
    pub feedback: &'w str,
    /// The command was admissible.
    pub accepted: bool,
    /// The goal holds now.
    pub won: bool,
}

/// Where a world stands; made by [`World::place`]. A few hundred bytes.
#[derive(Clone, Debug)]
pub struct Place {
    facts: Bits,
    told: Told,
}

impl World {
    /// Opens a game, at its start. `targets` measure progress; without them the goal's own are used.
    ///
    /// # Errors
    /// [`EnvError::Panicked`] when a command that applies at the start cannot be written.
    pub fn new(game: Arc<Game>, targets: Option<&Targets>) -> Result<Self, EnvError> {
        let progress = Progress::new(targets.unwrap_or(game.targets()));
        let mut world = Self {
            state: game.task.initial(),
            told: game.start.told.clone(),
            counts: Vec::new(),
            active: game.start.active.clone(),
            listed: Vec::new(),
            stale: false,
            broken: Vec::new(),
            varying: Vec::new(),
            feedback: String::new(),
            scratch: Scratch::default(),
            progress,
            shown: Shown::default(),
            truth: Truth::new(&game),
            game,
        };
        world.begin()?;
        Ok(world)
    }

    /// The same world with progress measured by the subgoals of a label; to be done before it is reset.
    #[must_use]
    pub fn measured_by(mut self, subgoals: Subgoals) -> Self {
        self.progress = Progress::by(subgoals);
        self
    }

    /// The game.
    pub fn game(&self) -> &Arc<Game> {
        &self.game
    }

    /// Goes back to the start and gives the start text.
    ///
    /// # Errors
    /// [`EnvError::Panicked`] when a command that applies at the start cannot be written.
    pub fn begin(&mut self) -> Result<&str, EnvError> {
        let start = &self.game.start;
        self.state.reset(&self.game.task);
        self.told.clone_from(&start.told);
        self.counts.clone_from(&start.counts);
        self.active.copy_from(&start.active);
        self.listed.clone_from(&start.listed);
        self.broken.clone_from(&start.broken);
        self.stale = false;
        self.feedback.clear();
        self.feedback.push_str(&start.intro);
        self.settle().map_err(|broken| broken.of(self.game.label()))?;
        Ok(&self.feedback)
    }

    /// Takes one command.
    ///
    /// # Errors
    /// [`EnvError::Panicked`] when the grammar cannot say what happened. The world has changed by then; reset or restore it.
    pub fn play(&mut self, command: &str) -> Result<Reply<'_>, EnvError> {
        let Some(op) = self.find(strip(command)) else {
            return Ok(Reply { feedback: NOTHING, accepted: false, won: self.won() });
        };
        self.take(op).map_err(|broken| broken.of(self.game.label()))?;
        Ok(Reply { feedback: &self.feedback, accepted: true, won: self.won() })
    }

    /// The commands that would be accepted now: unique, ascending by bytes.
    pub fn commands(&self) -> Admissible<'_> {
        Admissible { world: self }
    }

    /// Whether the goal holds now. It may stop holding later.
    #[inline]
    pub fn won(&self) -> bool {
        self.state.is_goal(&self.game.task)
    }

    /// Names of what the agent holds.
    pub fn inventory(&self) -> impl Iterator<Item = &str> {
        let task = &self.game.task;
        let held = self.game.holds.into_iter().flat_map(|holds| task.facts_of(holds));
        held.filter(|&fact| self.state.holds(fact))
            .map(|fact| self.game.entities.name(task.arguments(fact)[1]))
    }

    /// Where the world stands now.
    pub fn place(&self) -> Place {
        Place { facts: self.state.facts().clone(), told: self.told.clone() }
    }

    /// Returns to a place of this same game.
    ///
    /// # Errors
    /// [`EnvError::Panicked`] as for [`Self::begin`].
    pub fn go_back(&mut self, place: &Place) -> Result<(), EnvError> {
        self.state.restore(&self.game.task, &place.facts);
        self.told.clone_from(&place.told);
        self.count();
        self.settle().map_err(|broken| broken.of(self.game.label()))
    }

    /// What the world pane's picture is read from.
    pub(super) fn scene(&self) -> Scene<'_> {
        Scene {
            game: &self.game,
            state: &self.state,
            gone_to: self.shown.place(),
            held: self.inventory().next(),
        }
    }

    fn find(&self, command: &str) -> Option<OpId> {
        if let Some(number) =
            self.game.commands.find(command).filter(|&number| self.active.get(number as usize))
        {
            return self.game.commands.ops(number).iter().copied().find(|&op| self.state.applies(op));
        }
        let at = self.varying.binary_search_by(|(text, _)| text.as_str().cmp(command)).ok()?;
        Some(self.varying[at].1)
    }

    fn take(&mut self, op: OpId) -> Result<(), Broken> {
        let game = Arc::clone(&self.game);
        self.state.apply(&game.task, op);
        for effect in game.task.effects(op) {
            self.told.tell(effect.fact, effect.adds);
        }
        self.count();
        // Before the text, so that the list is right even where the text fails.
        let listed = self.settle();
        self.feedback.clear();
        let action = game.task.action_of(op);
        if let Some(texts) = game.compiled.texts(action) {
            let mut feedback = std::mem::take(&mut self.feedback);
            let bound = game.task.bound(op);
            let result = self.expander(&game).expand(&texts.feedback, Some((action, bound)), &mut feedback);
            self.feedback = feedback;
            result?;
        }
        listed
    }

    /// Follows the instances that flipped.
    fn count(&mut self) {
        let commands = &self.game.commands;
        for flip in self.state.flips() {
            match commands.of(flip.op) {
                Command::Text(number) => {
                    let count = &mut self.counts[number as usize];
                    let before = *count;
                    *count = if flip.now { before + 1 } else { before - 1 };
                    if before == 0 || *count == 0 {
                        self.active.set(number as usize, flip.now);
                        self.stale = true;
                    }
                }
                Command::Broken(at) if flip.now => self.broken.push(at),
                Command::Broken(at) => {
                    if let Some(place) = self.broken.iter().position(|&other| other == at) {
                        self.broken.swap_remove(place);
                    }
                }
                Command::Varying => {}
            }
        }
    }

    /// Brings the list of commands up to date.
    fn settle(&mut self) -> Result<(), Broken> {
        if self.stale {
            self.listed.clear();
            self.listed.extend(self.active.ones().map(|at| at as u32));
            self.stale = false;
        }
        if self.game.commands.varying() {
            self.vary()?;
        }
        match self.broken.first() {
            Some(&at) => Err(self.game.commands.reason(at).clone()),
            None => Ok(()),
        }
    }

    /// Expands the commands that depend on changing facts.
    fn vary(&mut self) -> Result<(), Broken> {
        let game = Arc::clone(&self.game);
        self.varying.clear();
        let (mut bytes, mut budget) = (0, limits::LOAD_WORK);
        for op in game.task.ops() {
            if game.commands.of(op) != Command::Varying || !self.state.applies(op) {
                continue;
            }
            let action = game.task.action_of(op);
            let Some(texts) = game.compiled.texts(action) else { continue };
            let mut text = String::new();
            let mut expander = self.expander(&game);
            expander.budget = budget;
            expander.expand(&texts.template, Some((action, game.task.bound(op))), &mut text)?;
            budget = expander.budget;
            bytes += text.len() + size_of::<(String, OpId)>();
            if bytes > limits::COMMANDS {
                return Err(Broken::new(
                    "grammar",
                    format!("all commands exceed {} bytes", limits::COMMANDS),
                ));
            }
            if !game.commands.find(&text).is_some_and(|number| self.active.get(number as usize)) {
                self.varying.push((text, op));
            }
        }
        self.varying.sort();
        self.varying.dedup_by(|left, right| left.0 == right.0);
        Ok(())
    }

    fn expander<'a>(&'a mut self, game: &'a Game) -> Expander<'a> {
        Expander {
            compiled: &game.compiled,
            task: &game.task,
            entities: &game.entities,
            told: &self.told,
            scratch: &mut self.scratch,
            budget: limits::WORK,
            exhausted: false,
        }
    }
}

/// The commands of one state.
#[derive(Clone, Copy)]
pub struct Admissible<'w> {
    world: &'w World,
}

impl<'w> Admissible<'w> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.world.listed.len() + self.world.varying.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a command, without white space around it, is one of them.
    pub fn contains(&self, command: &str) -> bool {
        self.world.find(command).is_some()
    }

    /// The texts, ascending by bytes.
    pub fn iter(&self) -> impl Iterator<Item = &'w str> + use<'w> {
        let world = self.world;
        let mut fixed = world.listed.iter().map(|&number| world.game.commands.text(number)).peekable();
        let mut varying = world.varying.iter().map(|(text, _)| text.as_str()).peekable();
        std::iter::from_fn(move || match (fixed.peek(), varying.peek()) {
            (Some(left), Some(right)) if right < left => varying.next(),
            (Some(_), _) => fixed.next(),
            (None, _) => varying.next(),
        })
    }
}

/// Without the white space that Python's `strip` removes: Unicode's, and the four separators U+001C to U+001F.
fn strip(command: &str) -> &str {
    command.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}
