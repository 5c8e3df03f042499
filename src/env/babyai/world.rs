//! A level being played through the text interface.

use super::action_list::{ActionList, ActionPlan, rejections};
use super::grid_state::GridState;
use super::level_start::LevelStart;
use super::mission_check::MissionStatus;
use super::observation::Observation;
use super::path_planner::Window;
use super::primitive_actions::PrimitiveAction;
use super::progress::ProgressTracker;
use super::shown::Shown;
use super::thing::Pose;
use super::view::Image;
use std::sync::Arc;

/// The reply to a listed action without effect, and to an empty one.
const NO_CHANGE: &str = "No change in state.";
const NOT_RECOGNIZED: &str = "The action is not recognized. Please check valid actions.";

/// A BabyAI level with AgentBoard's text interface.
pub struct World {
    pub(super) start: Arc<LevelStart>,
    pub(super) state: WorldState,
    observation: Observation,
    window: Window,
    actions: ActionList,
    pub(super) shown: Shown,
}

/// All state that changes during play and cannot be recomputed.
#[derive(Clone, Debug)]
pub(super) struct WorldState {
    pub(super) grid: GridState,
    /// The view that the last observation was made from.
    pub(super) image: Image,
    pub(super) progress: ProgressTracker,
    /// The validity of the last action that had one.
    pub(super) last_valid: Option<bool>,
}

/// The result of one text action.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The text shown to the agent.
    pub observation: String,
    /// The primitive actions that were executed.
    pub primitive_actions: Vec<PrimitiveAction>,
    /// The environment's own reward and end flag after the last primitive action.
    pub environment_result: Option<(f64, bool)>,
}

impl World {
    /// Opens a level at its start.
    pub fn new(start: Arc<LevelStart>) -> Self {
        let state = WorldState::new(&start);
        let observation = Observation::from_image(&state.image, state.grid.agent);
        let window = Window::new(&observation, state.grid.agent);
        let shown = Shown::new(&start);
        let mut world = Self { start, state, observation, window, actions: ActionList::default(), shown };
        world.refresh();
        world
    }

    /// Returns to the start and returns the first observation.
    pub fn restart(&mut self) -> String {
        self.state = WorldState::new(&self.start);
        self.shown = Shown::new(&self.start);
        self.refresh();
        self.describe()
    }

    /// Executes a text action, as the original's wrapper does.
    pub fn play(&mut self, text: &str) -> Reply {
        let lower = text.to_lowercase();
        let action = lower.trim_matches(is_python_space);
        let reply = |observation: String| Reply {
            observation,
            primitive_actions: Vec::new(),
            environment_result: None,
        };
        if action.contains("check") {
            self.state.last_valid = Some(true);
            let list: Vec<&str> = self.actions.names().collect();
            return reply(format!("You can take the following actions: {}", list.join(", ")));
        }
        if action.is_empty() {
            self.state.last_valid = Some(false);
            return reply(NO_CHANGE.to_owned());
        }
        let walk = match self.actions.find_plan(action) {
            None => {
                self.state.last_valid = Some(false);
                return reply(self.rejection_message(action));
            }
            Some(ActionPlan::Primitive(action)) => vec![action],
            Some(ActionPlan::Walk(destination, final_actions)) => {
                let mut walk = self.window.find_path(destination).unwrap_or_default();
                walk.extend_from_slice(final_actions);
                walk
            }
            Some(ActionPlan::ListActions) => Vec::new(),
        };
        if walk.is_empty() {
            // `valid` keeps the value of the previous action.
            return reply(NO_CHANGE.to_owned());
        }
        self.run_actions(&walk)
    }

    /// Executes primitive actions until one leaves the view unchanged, and describes the result.
    fn run_actions(&mut self, walk: &[PrimitiveAction]) -> Reply {
        let mut executed = Vec::with_capacity(walk.len());
        let mut status = MissionStatus::Continue;
        for &action in walk {
            status = self.state.grid.apply_action(&self.start, action);
            executed.push(action);
            let image = self.state.grid.view(&self.start);
            if image == self.state.image {
                break;
            }
            self.state.image = image;
        }
        self.refresh();
        let (reward, ended) = match status {
            MissionStatus::Continue => (0.0, false),
            MissionStatus::Failure => (0.0, true),
            MissionStatus::Success => {
                let used = f64::from(self.state.grid.action_count) / f64::from(self.start.max_steps);
                (1.0 - 0.9 * used, true)
            }
        };
        let mut observation = self.describe();
        self.state.progress.record_action(reward, ended, &mut observation);
        self.state.last_valid = Some(true);
        Reply { observation, primitive_actions: executed, environment_result: Some((reward, ended)) }
    }

    /// Recomputes the observation, the reachable cells and the action list from the view.
    pub(super) fn refresh(&mut self) {
        let agent = self.state.grid.agent;
        self.observation = Observation::from_image(&self.state.image, agent);
        self.window = Window::new(&self.observation, agent);
        self.actions.rebuild(&self.observation, &self.window, agent, self.state.grid.carried_thing());
    }

    fn describe(&self) -> String {
        let mut text = String::with_capacity(640);
        self.observation.write_text(self.state.grid.carried_thing(), &mut text);
        text
    }

    fn rejection_message(&self, action: &str) -> String {
        let known = self.action_errors().into_iter().rev().find(|(name, _)| name == action);
        known.map_or_else(|| NOT_RECOGNIZED.to_owned(), |(_, message)| message)
    }

    /// Returns the error messages for specific unavailable actions, each with its action.
    pub fn action_errors(&self) -> Vec<(String, String)> {
        rejections(&self.observation, &self.window, self.state.grid.agent, self.state.grid.carried_thing())
    }

    /// Iterates over the available actions in the original's order.
    pub fn available_actions(&self) -> impl Iterator<Item = &str> {
        self.actions.names()
    }

    /// Returns the initial state of the level.
    pub fn start(&self) -> &Arc<LevelStart> {
        &self.start
    }

    /// Returns the view that the last observation was made from.
    pub fn image(&self) -> &Image {
        &self.state.image
    }

    /// Returns the agent's pose.
    pub fn agent(&self) -> Pose {
        self.state.grid.agent
    }

    /// Returns the number of primitive actions since the start.
    pub fn action_count(&self) -> u32 {
        self.state.grid.action_count
    }

    /// Returns AgentBoard's reward: the share of subgoals reached, or the environment's reward.
    pub fn reward(&self) -> f64 {
        self.state.progress.reward
    }

    /// Returns whether the episode is over, as AgentBoard decides it.
    pub fn is_done(&self) -> bool {
        self.state.progress.is_done
    }

    /// Returns whether the last action was valid, or `None` if no action has set it yet.
    pub fn last_valid(&self) -> Option<bool> {
        self.state.last_valid
    }

    /// Returns the 64-bit FNV-1a hash of the whole state as text, as 16 hexadecimal digits.
    pub fn state_hash(&self) -> String {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        let text = self.state.grid.fingerprint(&self.start);
        let hash = text.bytes().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        format!("{hash:016x}")
    }
}

impl WorldState {
    fn new(start: &LevelStart) -> Self {
        let grid = GridState::new(start);
        let image = start.stale_view.unwrap_or_else(|| grid.view(start));
        Self { grid, image, progress: ProgressTracker::new(&start.subgoals), last_valid: None }
    }
}

/// Returns whether Python's `strip` removes the character.
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}
