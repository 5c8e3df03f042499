//! Plays a problem. The cost of a step is proportional to what it changes and to the length of its text.

use super::applicable_entries::ApplicableEntries;
use super::game::{Game, ObservationScope};
use super::{limits, tokenizer};
use crate::pddl::{ActionId, Bits, ObjectId, State};
use std::sync::Arc;

const UNKNOWN: &str = "The action is not valid and therefore takes no effect. Please check valid actions.";
const NO_EFFECT: &str = "The action is not valid and therefore takes no effect. Please remember to satisfy the restriction of \
                         actions. You can also check valid actions.";
const SATISFIED: &str = " The goal is satisfied.";
/// The request that the action list contains in addition to the domain's actions.
const CHECK_VALID_ACTIONS: &str = "check valid actions";
const LOOK_AROUND: &str = "look around";

/// A problem being played.
///
/// [`Self::restart`], [`Self::play`] and [`Self::valid_actions`] are the cheap interface. The `Environment`
/// implementation adds owned strings, what the agent knows and the ground truth.
#[derive(Debug)]
pub struct World {
    game: Arc<Game>,
    state: State,
    applicable: ApplicableEntries,
    /// The true facts, by rank of their sentences.
    true_facts: Bits,
    /// Which parts of the goal hold.
    pub(super) held_parts: Vec<bool>,
    progress: f64,
    won: bool,
    observation: String,
    recognized: Option<ActionId>,
    bound_objects: Vec<ObjectId>,
    scratch: Scratch,
}

#[derive(Debug, Default)]
struct Scratch {
    action: String,
    words: Vec<(u32, u32)>,
    new_ranks: Vec<u32>,
    key: Vec<u16>,
}

/// The reply to one action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'w> {
    pub observation: &'w str,
    /// Whether the action changed the world or was a request.
    pub valid: bool,
    /// Whether the world changed.
    pub changed: bool,
}

/// The state of a world, created by [`World::save_state`]. A few hundred bytes.
#[derive(Clone, Debug)]
pub struct SavedState {
    facts: Bits,
    progress: f64,
    won: bool,
}

impl World {
    /// Creates a world in the initial state of a game.
    pub fn new(game: Arc<Game>) -> Self {
        let mut world = Self {
            state: game.task.initial(),
            applicable: game.initially_applicable.clone(),
            true_facts: game.initial_facts.clone(),
            held_parts: vec![false; game.goal.len()],
            progress: 0.0,
            won: false,
            observation: String::new(),
            recognized: None,
            bound_objects: Vec::new(),
            scratch: Scratch::default(),
            game,
        };
        world.restart();
        world
    }

    /// Returns the game.
    pub fn game(&self) -> &Arc<Game> {
        &self.game
    }

    /// Restores the initial state and returns the first observation, which mentions all true facts even if later ones
    /// don't.
    pub fn restart(&mut self) -> &str {
        self.state.reset(&self.game.task);
        self.applicable.clone_from(&self.game.initially_applicable);
        self.true_facts.copy_from(&self.game.initial_facts);
        self.progress = 0.0;
        self.won = false;
        self.recognized = None;
        self.update_held_parts();
        self.observation.clear();
        self.write_all_facts();
        &self.observation
    }

    /// Executes one action: a request for the list or the state, or free text that is searched for the name of an
    /// action and then for the names of its objects.
    pub fn play(&mut self, action: &str) -> Reply<'_> {
        let mut text = std::mem::take(&mut self.scratch.action);
        lowercase_into(action, &mut text);
        self.observation.clear();
        self.recognized = None;
        let (valid, changed) = if text.contains("check") {
            self.write_action_list();
            (true, false)
        } else if text.contains(LOOK_AROUND) {
            self.write_all_facts();
            (true, false)
        } else if self.recognize_action(&text) {
            let has_changed = self.apply_recognized();
            self.observation.push_str(if has_changed { "" } else { NO_EFFECT });
            (has_changed, has_changed)
        } else {
            self.observation.push_str(UNKNOWN);
            (false, false)
        };
        self.scratch.action = text;
        Reply { observation: &self.observation, valid, changed }
    }

    /// Iterates over the texts of the valid actions in byte order, without the two requests.
    pub fn valid_actions(&self) -> impl Iterator<Item = &str> {
        self.applicable.entries.ones().map(|entry| self.game.listing.text(entry))
    }

    /// Returns the number of valid actions.
    pub fn valid_count(&self) -> usize {
        self.applicable.entries.ones().count()
    }

    /// Returns the action that the last text was recognized as, in the form `name(object,...)`. Returns `None` if it
    /// was not understood or was a request.
    pub fn recognized_action(&self) -> Option<String> {
        let task = &self.game.task;
        let objects: Vec<&str> = self.bound_objects.iter().map(|&object| task.object_name(object)).collect();
        self.recognized.map(|action| format!("{}({})", task.action_name(action), objects.join(",")))
    }

    /// Returns the largest share of the goal's parts that has held after any action so far.
    pub fn progress(&self) -> f64 {
        self.progress
    }

    /// Returns whether the goal held after the last action that changed anything. It may stop holding later.
    pub fn is_won(&self) -> bool {
        self.won
    }

    /// Returns a copy of the current state.
    pub fn save_state(&self) -> SavedState {
        SavedState { facts: self.state.facts().clone(), progress: self.progress, won: self.won }
    }

    /// Restores a saved state of this game.
    pub fn restore_state(&mut self, saved: &SavedState) {
        self.state.restore(&self.game.task, &saved.facts);
        self.update_lists();
        self.update_held_parts();
        self.progress = saved.progress;
        self.won = saved.won;
        self.recognized = None;
    }

    /// Returns the state of the grounded problem.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the FNV-1a hash of the true atoms, sorted by bytes and joined by line feeds.
    pub fn state_hash(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut mix = |text: &str| {
            for byte in text.bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        let atoms = self.game.atoms().iter().filter(|(_, fact)| self.state.holds(*fact));
        for (at, (atom, _)) in atoms.enumerate() {
            if at > 0 {
                mix("\n");
            }
            mix(atom);
        }
        hash
    }

    /// Finds the action and its objects in a lower-case text.
    fn recognize_action(&mut self, text: &str) -> bool {
        let mut ranges = std::mem::take(&mut self.scratch.words);
        self.bound_objects.clear();
        let understood =
            if !self.game.has_names_like_contractions && tokenizer::tokenize_ascii(text, &mut ranges) {
                self.match_words(ranges.iter().map(|&(from, to)| &text[from as usize..to as usize]))
            } else {
                let words = tokenizer::tokenize_by_rules(text);
                self.match_words(words.iter().map(String::as_str))
            };
        self.scratch.words = ranges;
        understood
    }

    /// Uses the first word that names an action with a valid instance; the objects may occur anywhere, in the action's
    /// order.
    fn match_words<'a>(&mut self, words: impl Iterator<Item = &'a str> + Clone) -> bool {
        let game = &self.game;
        let named = words.clone().filter_map(|word| game.listing.action_named(word));
        let Some(action) = named.into_iter().find(|action| self.applicable.has_applicable(*action)) else {
            return false;
        };
        let arity = game.task.parameters(action).len();
        self.bound_objects.extend(words.filter_map(|word| game.objects.get(word)).take(arity));
        let complete = self.bound_objects.len() == arity;
        self.recognized = complete.then_some(action);
        complete
    }

    /// Applies the recognized action. Returns false if it changes nothing.
    fn apply_recognized(&mut self) -> bool {
        let Some(action) = self.recognized else { return false };
        let game = Arc::clone(&self.game);
        let instances = game.listing.find_instances(action, &self.bound_objects, &mut self.scratch.key);
        let Some(&op) = instances.iter().find(|&&op| self.state.is_applicable(op)) else { return false };
        self.state.apply(&game.task, op);
        if self.state.changes().is_empty() {
            return false;
        }
        self.update_lists();
        self.update_held_parts();
        let parts = self.held_parts.len();
        let holding = self.held_parts.iter().filter(|holds| **holds).count();
        let rate = if parts == 0 { 1.0 } else { holding as f64 / parts as f64 };
        self.progress = self.progress.max(rate);
        self.won = self.state.is_goal(&game.task);
        match game.observation_scope {
            ObservationScope::Everything => self.write_all_facts(),
            ObservationScope::Changes => self.write_new_facts(),
        }
        if self.won {
            self.observation.push_str(SATISFIED);
        }
        true
    }

    /// Updates the lists from the changes of the state.
    fn update_lists(&mut self) {
        for change in self.state.changes() {
            self.true_facts.set(self.game.facts.ranks[change.fact.index()] as usize, change.is_true);
        }
        for flip in self.state.flips() {
            self.applicable.apply_flip(&self.game.listing, *flip);
        }
    }

    fn update_held_parts(&mut self) {
        for (part, held) in self.held_parts.iter_mut().enumerate() {
            *held = self.state.holds_part(&self.game.task, part);
        }
    }

    fn write_all_facts(&mut self) {
        let facts = &self.game.facts;
        for rank in self.true_facts.ones() {
            self.observation.push_str(facts.sentence(rank));
            self.observation.push(' ');
        }
        self.observation.pop();
    }

    fn write_new_facts(&mut self) {
        let facts = &self.game.facts;
        let ranks = &mut self.scratch.new_ranks;
        ranks.clear();
        let new = self.state.changes().iter().filter(|change| change.is_true);
        ranks.extend(new.map(|change| facts.ranks[change.fact.index()]));
        ranks.sort_unstable();
        for (at, &rank) in ranks.iter().enumerate() {
            if at > 0 {
                self.observation.push(' ');
            }
            self.observation.push_str(facts.sentence(rank as usize));
        }
    }

    fn write_action_list(&mut self) {
        self.observation.push_str("Valid actions are: ");
        for entry in self.applicable.entries.ones() {
            self.observation.push_str(self.game.listing.text(entry));
            self.observation.push_str(", ");
        }
        self.observation.push_str(CHECK_VALID_ACTIONS);
        if self.game.observation_scope == ObservationScope::Changes {
            self.observation.push_str(", ");
            self.observation.push_str(LOOK_AROUND);
        }
    }
}

/// Converts the text to lower case, truncated at the length limit.
fn lowercase_into(action: &str, out: &mut String) {
    let mut end = action.len().min(limits::ACTION_BYTES);
    while !action.is_char_boundary(end) {
        end -= 1;
    }
    out.clear();
    if action.is_ascii() {
        out.push_str(&action[..end]);
        out.make_ascii_lowercase();
    } else {
        out.push_str(&action[..end].to_lowercase());
    }
}
