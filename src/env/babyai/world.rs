//! A level being played in text.

use super::action_list::{ActionList, ActionPlan, refusals};
use super::grid_state::GridState;
use super::level_start::LevelStart;
use super::mission_check::Verdict;
use super::observation::Observation;
use super::path_planner::Window;
use super::primitive_actions::PrimitiveAction;
use super::progress::ProgressTracker;
use super::shown::Shown;
use super::thing::{Pose, Thing};
use super::view::Image;
use std::sync::Arc;

/// The answer to an action that is listed and does nothing, and to an empty one.
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

/// All that changes while a level is played and cannot be computed again.
#[derive(Clone, Debug)]
pub(super) struct WorldState {
    pub(super) grid: GridState,
    /// The view that the last observation was made of.
    pub(super) image: Image,
    pub(super) progress: ProgressTracker,
    /// The word on the last action that had one.
    pub(super) last_valid: Option<bool>,
}

/// What came of one text action.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What the world says.
    pub observation: String,
    /// The low-level actions that were done.
    pub primitive_actions: Vec<PrimitiveAction>,
    /// Reward and end as the environment itself has them after the last low-level action.
    pub environment_result: Option<(f64, bool)>,
}

impl World {
    /// Opens a level at its start.
    pub fn new(start: Arc<LevelStart>) -> Self {
        let now = WorldState::new(&start);
        let sight = Observation::from_image(&now.image, now.grid.agent);
        let window = Window::new(&sight, now.grid.agent);
        let shown = Shown::new(&start);
        let mut world =
            Self { start, state: now, observation: sight, window, actions: ActionList::default(), shown };
        world.refresh();
        world
    }

    /// Returns to the start and gives the first observation.
    pub fn restart(&mut self) -> String {
        self.state = WorldState::new(&self.start);
        self.shown = Shown::new(&self.start);
        self.refresh();
        self.describe()
    }

    /// Does what a text says, as the original's wrapper does.
    pub fn play(&mut self, text: &str) -> Reply {
        let lower = text.to_lowercase();
        let action = lower.trim_matches(is_python_space);
        let says = |observation: String| Reply {
            observation,
            primitive_actions: Vec::new(),
            environment_result: None,
        };
        if action.contains("check") {
            self.state.last_valid = Some(true);
            let list: Vec<&str> = self.actions.names().collect();
            return says(format!("You can take the following actions: {}", list.join(", ")));
        }
        if action.is_empty() {
            self.state.last_valid = Some(false);
            return says(NO_CHANGE.to_owned());
        }
        let walk = match self.actions.find_plan(action) {
            None => {
                self.state.last_valid = Some(false);
                return says(self.refusal_message(action));
            }
            Some(ActionPlan::Primitive(low)) => vec![low],
            Some(ActionPlan::Walk(aim, then)) => {
                let mut walk = self.window.find_path(aim).unwrap_or_default();
                walk.extend_from_slice(then);
                walk
            }
            Some(ActionPlan::ListActions) => Vec::new(),
        };
        if walk.is_empty() {
            // Whether it was valid keeps the value of the action before.
            return says(NO_CHANGE.to_owned());
        }
        self.run_actions(&walk)
    }

    /// Does low-level actions until one leaves the view as it was, and describes where that led.
    fn run_actions(&mut self, walk: &[PrimitiveAction]) -> Reply {
        let mut low = Vec::with_capacity(walk.len());
        let mut verdict = Verdict::Continue;
        for &action in walk {
            verdict = self.state.grid.apply_action(&self.start, action);
            low.push(action);
            let image = self.state.grid.view(&self.start);
            if image == self.state.image {
                break;
            }
            self.state.image = image;
        }
        self.refresh();
        let (reward, ended) = match verdict {
            Verdict::Continue => (0.0, false),
            Verdict::Failure => (0.0, true),
            Verdict::Success => {
                let used = f64::from(self.state.grid.action_count) / f64::from(self.start.max_steps);
                (1.0 - 0.9 * used, true)
            }
        };
        let mut observation = self.describe();
        self.state.progress.record_action(reward, ended, &mut observation);
        self.state.last_valid = Some(true);
        Reply { observation, primitive_actions: low, environment_result: Some((reward, ended)) }
    }

    /// Reads the view anew: what is seen, which ways there are, what can be done.
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

    fn refusal_message(&self, action: &str) -> String {
        let known = self.refusals().into_iter().rev().find(|(name, _)| name == action);
        known.map_or_else(|| NOT_RECOGNIZED.to_owned(), |(_, why)| why)
    }

    /// The messages for actions that are not available and are known to be refused, with the action each is for.
    pub fn refusals(&self) -> Vec<(String, String)> {
        refusals(&self.observation, &self.window, self.state.grid.agent, self.state.grid.carried_thing())
    }

    /// The available actions, in the original's order.
    pub fn available_actions(&self) -> impl Iterator<Item = &str> {
        self.actions.names()
    }

    /// The level.
    pub fn start(&self) -> &Arc<LevelStart> {
        &self.start
    }

    /// The view that the last observation was made of.
    pub fn image(&self) -> &Image {
        &self.state.image
    }

    /// Where the agent is.
    pub fn agent(&self) -> Pose {
        self.state.grid.agent
    }

    /// What it carries.
    pub fn carried(&self) -> Option<Thing> {
        self.state.grid.carried_thing()
    }

    /// Low-level actions since the start.
    pub fn action_count(&self) -> u32 {
        self.state.grid.action_count
    }

    /// AgentBoard's reward: the share of subgoals that were seen, or the environment's reward.
    pub fn reward(&self) -> f64 {
        self.state.progress.reward
    }

    /// The episode is over, as AgentBoard decides it.
    pub fn is_done(&self) -> bool {
        self.state.progress.is_done
    }

    /// Whether the last action was valid; none where no action had a word on it yet.
    pub fn last_valid(&self) -> Option<bool> {
        self.state.last_valid
    }

    /// FNV-1a, 64 bit, of the whole state as text, in 16 hexadecimal digits.
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
        let place = GridState::new(start);
        let image = start.stale_view.unwrap_or_else(|| place.view(start));
        Self { grid: place, image, progress: ProgressTracker::new(&start.subgoals), last_valid: None }
    }
}

/// What Python's `strip` takes away.
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}
