//! A level being played in text.

use super::credit::Credit;
use super::offers::{Offers, Plan, refusals};
use super::paths::Window;
use super::place::Place;
use super::primitive_actions::Low;
use super::shown::Shown;
use super::sight::Sight;
use super::start::Start;
use super::thing::{Pose, Thing};
use super::verify::Verdict;
use super::view::Image;
use std::sync::Arc;

/// The answer to an action that is listed and does nothing, and to an empty one.
const NO_CHANGE: &str = "No change in state.";
const NOT_RECOGNIZED: &str = "The action is not recognized. Please check valid actions.";

/// A BabyAI level with AgentBoard's text interface.
pub struct World {
    pub(super) start: Arc<Start>,
    pub(super) now: Now,
    sight: Sight,
    window: Window,
    offers: Offers,
    pub(super) shown: Shown,
}

/// All that changes while a level is played and cannot be computed again.
#[derive(Clone, Debug)]
pub(super) struct Now {
    pub(super) place: Place,
    /// The view that the last observation was made of.
    pub(super) image: Image,
    pub(super) credit: Credit,
    /// The word on the last action that had one.
    pub(super) valid: Option<bool>,
}

/// What came of one text action.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What the world says.
    pub observation: String,
    /// The low-level actions that were done.
    pub low: Vec<Low>,
    /// Reward and end as the environment itself has them after the last low-level action.
    pub raw: Option<(f64, bool)>,
}

impl World {
    /// Opens a level at its start.
    pub fn new(start: Arc<Start>) -> Self {
        let now = Now::new(&start);
        let sight = Sight::read(&now.image, now.place.agent);
        let window = Window::new(&sight, now.place.agent);
        let shown = Shown::new(&start);
        let mut world = Self { start, now, sight, window, offers: Offers::default(), shown };
        world.read_again();
        world
    }

    /// Returns to the start and gives the first observation.
    pub fn begin(&mut self) -> String {
        self.now = Now::new(&self.start);
        self.shown = Shown::new(&self.start);
        self.read_again();
        self.describe()
    }

    /// Does what a text says, as the original's wrapper does.
    pub fn play(&mut self, text: &str) -> Reply {
        let lower = text.to_lowercase();
        let action = lower.trim_matches(is_python_space);
        let says = |observation: String| Reply { observation, low: Vec::new(), raw: None };
        if action.contains("check") {
            self.now.valid = Some(true);
            let list: Vec<&str> = self.offers.names().collect();
            return says(format!("You can take the following actions: {}", list.join(", ")));
        }
        if action.is_empty() {
            self.now.valid = Some(false);
            return says(NO_CHANGE.to_owned());
        }
        let walk = match self.offers.plan(action) {
            None => {
                self.now.valid = Some(false);
                return says(self.refusal(action));
            }
            Some(Plan::One(low)) => vec![low],
            Some(Plan::Walk(aim, then)) => {
                let mut walk = self.window.way(aim).unwrap_or_default();
                walk.extend_from_slice(then);
                walk
            }
            Some(Plan::Check) => Vec::new(),
        };
        if walk.is_empty() {
            // Whether it was valid keeps the value of the action before.
            return says(NO_CHANGE.to_owned());
        }
        self.walk(&walk)
    }

    /// Does low-level actions until one leaves the view as it was, and describes where that led.
    fn walk(&mut self, walk: &[Low]) -> Reply {
        let mut low = Vec::with_capacity(walk.len());
        let mut verdict = Verdict::Continue;
        for &action in walk {
            verdict = self.now.place.act(&self.start, action);
            low.push(action);
            let image = self.now.place.look(&self.start);
            if image == self.now.image {
                break;
            }
            self.now.image = image;
        }
        self.read_again();
        let (reward, ended) = match verdict {
            Verdict::Continue => (0.0, false),
            Verdict::Failure => (0.0, true),
            Verdict::Success => {
                let used = f64::from(self.now.place.count) / f64::from(self.start.max_steps);
                (1.0 - 0.9 * used, true)
            }
        };
        let mut observation = self.describe();
        self.now.credit.take_in(reward, ended, &mut observation);
        self.now.valid = Some(true);
        Reply { observation, low, raw: Some((reward, ended)) }
    }

    /// Reads the view anew: what is seen, which ways there are, what can be done.
    pub(super) fn read_again(&mut self) {
        let agent = self.now.place.agent;
        self.sight = Sight::read(&self.now.image, agent);
        self.window = Window::new(&self.sight, agent);
        self.offers.list(&self.sight, &self.window, agent, self.now.place.carried());
    }

    fn describe(&self) -> String {
        let mut text = String::with_capacity(640);
        self.sight.describe(self.now.place.carried(), &mut text);
        text
    }

    fn refusal(&self, action: &str) -> String {
        let known = self.refusals().into_iter().rev().find(|(name, _)| name == action);
        known.map_or_else(|| NOT_RECOGNIZED.to_owned(), |(_, why)| why)
    }

    /// The messages for actions that are not available and are known to be refused, with the action each is for.
    pub fn refusals(&self) -> Vec<(String, String)> {
        refusals(&self.sight, &self.window, self.now.place.agent, self.now.place.carried())
    }

    /// The available actions, in the original's order.
    pub fn available(&self) -> impl Iterator<Item = &str> {
        self.offers.names()
    }

    /// The level.
    pub fn start(&self) -> &Arc<Start> {
        &self.start
    }

    /// The view that the last observation was made of.
    pub fn image(&self) -> &Image {
        &self.now.image
    }

    /// Where the agent is.
    pub fn agent(&self) -> Pose {
        self.now.place.agent
    }

    /// What it carries.
    pub fn carried(&self) -> Option<Thing> {
        self.now.place.carried()
    }

    /// Low-level actions since the start.
    pub fn count(&self) -> u32 {
        self.now.place.count
    }

    /// AgentBoard's reward: the share of subgoals that were seen, or the environment's reward.
    pub fn reward(&self) -> f64 {
        self.now.credit.reward
    }

    /// The episode is over, as AgentBoard decides it.
    pub fn done(&self) -> bool {
        self.now.credit.done
    }

    /// Whether the last action was valid; none where no action had a word on it yet.
    pub fn valid(&self) -> Option<bool> {
        self.now.valid
    }

    /// FNV-1a, 64 bit, of the whole state as text, in 16 hexadecimal digits.
    pub fn hash(&self) -> String {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        let text = self.now.place.fingerprint(&self.start);
        let hash = text.bytes().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        format!("{hash:016x}")
    }
}

impl Now {
    fn new(start: &Start) -> Self {
        let place = Place::new(start);
        let image = start.stale_view.unwrap_or_else(|| place.look(start));
        Self { place, image, credit: Credit::new(&start.subgoals), valid: None }
    }
}

/// What Python's `strip` takes away.
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}
