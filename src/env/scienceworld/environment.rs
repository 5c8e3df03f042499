//! An episode in the simulator.

use super::goals::goals_as_json;
use super::installation::Installation;
use super::label_goals::LabelGoals;
use super::shown_rooms::{room_as_json, shown_fields};
use super::simulator::Simulator;
use crate::domain::{EnvInfo, LOST_BECAUSE, ListingCost, StepResult};
use crate::env::{EnvError, Environment};
use crate::rooms::{KnownRooms, parse_inventory, parse_room};
use serde_json::{Map, Value, json};

/// What the simulator answers to a text that it doesn't understand, without blanks at the ends.
const REFUSALS: [&str; 2] =
    ["No known action matches that input.", "Unknown action.  Type 'help' for a list of actions"];
/// How the simulator asks which of several actions was meant. Whatever comes next is the answer.
const QUESTION: &str = "Ambiguous request:";
/// How the text of an exception inside the simulator begins. Every later answer is that text, too.
const EXCEPTIONS: [&str; 2] = ["java.", "scala."];
const FULL_SCORE: i64 = 100;
/// The action whose answer is the first observation. It costs no move.
const FIRST_ACTION: &str = "look around";
/// What the prompts' rule sends in place of a thought. The simulator would take it for the answer to its question.
const THOUGHT: &str = "think";
const THOUGHT_ANSWER: &str = "OK.";
/// AgentBoard's request for the forms of actions, which its prompts offer. The simulator doesn't know it.
const CHECK_ACTION: &str = "check valid actions";
/// What the simulator lists as an action, too. AgentBoard leaves it out: it is no action in the world.
const RESET_ACTION: &str = "reset task";
/// The forms of actions, as the simulator lists them for every task without simplifications, but for `reset task`.
pub(super) const ACTION_FORMS: [&str; 25] = [
    "activate OBJ",
    "close OBJ",
    "connect OBJ to OBJ",
    "deactivate OBJ",
    "disconnect OBJ",
    "dunk OBJ in OBJ",
    "eat OBJ",
    "flush OBJ",
    "focus on OBJ",
    "go OBJ",
    "inventory",
    "look around",
    "look at OBJ",
    "look in OBJ",
    "mix OBJ",
    "move OBJ to OBJ",
    "open OBJ",
    "pick up OBJ",
    "pour OBJ in OBJ",
    "put down OBJ",
    "read OBJ",
    "task",
    "use OBJ on OBJ",
    "wait",
    "wait1",
];

/// What an episode plays.
#[derive(Clone, Debug)]
pub(super) struct EpisodeSetup {
    pub(super) task: &'static str,
    pub(super) variation: u32,
    /// In the simulator's form.
    pub(super) simplifications: String,
    /// Whether the valid actions are listed once after the reset and after each step. Listing changes what happens later, so
    /// that an episode with and one without lists may differ.
    pub(super) lists_every_step: bool,
}

/// A task in the simulator.
pub(super) struct ScienceWorld {
    simulator: Simulator,
    setup: EpisodeSetup,
    /// The sub-goals of a label, by which AgentBoard measures progress.
    label: Option<LabelGoals>,
    known: KnownRooms,
    /// The last texts of the ground truth, so that only changes are reported.
    goals: String,
    look: String,
    score: i64,
    moves: i64,
    inventory: String,
    has_question: bool,
    /// The valid actions after the last step, unsorted, if every step lists them.
    listed: Option<Vec<String>>,
    /// The actions since the reset.
    actions: Vec<String>,
    /// Whether the simulator was asked for its solution since the reset.
    is_spent: bool,
}

impl ScienceWorld {
    pub(super) fn open(
        installation: &Installation,
        setup: EpisodeSetup,
        label: Option<LabelGoals>,
    ) -> Result<Self, EnvError> {
        Ok(Self {
            simulator: Simulator::open(installation)?,
            setup,
            label,
            known: KnownRooms::default(),
            goals: String::new(),
            look: String::new(),
            score: 0,
            moves: 0,
            inventory: String::new(),
            has_question: false,
            listed: None,
            actions: Vec::new(),
            is_spent: false,
        })
    }

    fn check_unspent(&self) -> Result<(), EnvError> {
        let what = "it was asked for its solution, which ends the episode: reset it first".to_owned();
        if self.is_spent { Err(EnvError::Refused { what }) } else { Ok(()) }
    }

    /// Executes an action and collects what is known after it.
    fn execute(&mut self, action: &str) -> Result<Answer, EnvError> {
        self.check_unspent()?;
        let observation = self.simulator.step(action)?;
        let score = self.simulator.score()?;
        let is_completed = self.simulator.is_completed()?;
        if EXCEPTIONS.iter().any(|exception| observation.starts_with(exception)) {
            let what =
                format!("the simulation broke at {action:?}: {}", crate::text::prefix(&observation, 400));
            return Err(self.simulator.end_after_report(what));
        }
        let moves = self.simulator.moves()?;
        let inventory = self.simulator.query("freeActionInventory")?;
        let truth = self.read_truth()?;
        if self.setup.lists_every_step {
            self.listed = Some(self.simulator.valid_actions()?);
        }
        let has_question = observation.starts_with(QUESTION);
        let changes = self.known.update(action, &observation);
        let mut shown = shown_fields(&changes, &self.known);
        let mut show = |name: &str, value: Value, is_new: bool| {
            if is_new {
                shown.insert(name.to_owned(), value);
            }
        };
        show("score", json!(score), score != self.score);
        show("moves", json!(moves), moves != self.moves);
        show("pending_choice", json!(has_question), has_question != self.has_question);
        show("inventory", json!(parse_inventory(&inventory)), inventory != self.inventory);
        let reward = score - self.score;
        (self.score, self.moves, self.inventory, self.has_question) = (score, moves, inventory, has_question);
        let is_over = is_completed || score < 0;
        if score < 0 {
            shown.insert(LOST_BECAUSE.to_owned(), json!(format!("score {score}")));
        }
        Ok(Answer { observation, reward, is_over, shown, truth })
    }

    /// Returns what has changed of what a person may see of the real state: the room around the agent, and the goals.
    fn read_truth(&mut self) -> Result<Value, EnvError> {
        let goals = self.simulator.query("getGoalProgressStr")?;
        let look = self.simulator.query("freeActionLook")?;
        let mut changes = Map::new();
        if goals != self.goals {
            changes.insert("goals".to_owned(), goals_as_json(&goals));
            self.goals = goals;
        }
        if look != self.look {
            if let Some((name, room)) = parse_room(&look) {
                changes.insert("rooms".to_owned(), json!({ &name: room_as_json(&room) }));
                changes.insert("location".to_owned(), json!(name));
            }
            self.look = look;
        }
        Ok(if changes.is_empty() { Value::Null } else { Value::Object(changes) })
    }

    fn result(&mut self, answer: Answer, counts_for_label: bool) -> StepResult {
        let valid = !REFUSALS.iter().any(|refusal| answer.observation.trim().starts_with(refusal));
        let (progress, done, won) = match &mut self.label {
            Some(label) => {
                if counts_for_label {
                    label.update(&answer.observation);
                }
                (label.progress(), label.is_complete(), label.is_complete())
            }
            None => (self.score.max(0) as f64 / FULL_SCORE as f64, answer.is_over, self.score == FULL_SCORE),
        };
        StepResult {
            observation: answer.observation,
            reward: answer.reward as f64,
            progress,
            done,
            won,
            valid,
            shown: if answer.shown.is_empty() { Value::Null } else { Value::Object(answer.shown) },
            truth: answer.truth,
        }
    }
}

/// What the simulator answers, with what it says about the state after it.
struct Answer {
    observation: String,
    reward: i64,
    is_over: bool,
    shown: Map<String, Value>,
    truth: Value,
}

impl Environment for ScienceWorld {
    fn info(&self) -> EnvInfo {
        EnvInfo {
            snapshots: false,
            deterministic: self.simulator.is_pinned(),
            listing_cost: if self.setup.lists_every_step {
                ListingCost::Free
            } else {
                ListingCost::ChangesWorld
            },
        }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        let setup = &self.setup;
        self.simulator.load(setup.task, setup.variation, &setup.simplifications, false)?;
        self.is_spent = false;
        self.known = KnownRooms::default();
        (self.score, self.moves, self.has_question) = (0, 0, false);
        for text in [&mut self.inventory, &mut self.goals, &mut self.look] {
            text.clear();
        }
        self.actions.clear();
        if let Some(label) = &mut self.label {
            label.restart();
        }
        let mut answer = self.execute(FIRST_ACTION)?;
        // A task may begin where one of its goals is reached; nothing was done for it.
        answer.reward = 0;
        let goal = match &self.label {
            Some(label) => {
                answer.observation = format!("{}\n{}", answer.observation, self.inventory);
                answer.shown.insert("subgoals".to_owned(), json!(label.count()));
                label.goal().to_owned()
            }
            None => self.simulator.query("getTaskDescription")?,
        };
        answer.shown.insert("goal".to_owned(), json!(goal.trim()));
        for (name, value) in
            [("score", json!(self.score)), ("moves", json!(self.moves)), ("pending_choice", json!(false))]
        {
            answer.shown.insert(name.to_owned(), value);
        }
        Ok(self.result(answer, false))
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        if action == THOUGHT {
            let observation = THOUGHT_ANSWER.to_owned();
            let answer =
                Answer { observation, reward: 0, is_over: false, shown: Map::new(), truth: Value::Null };
            return Ok(self.result(answer, false));
        }
        if !self.has_question && action.trim() == CHECK_ACTION {
            let observation = list_action_forms(&self.setup.simplifications);
            let answer =
                Answer { observation, reward: 0, is_over: false, shown: Map::new(), truth: Value::Null };
            return Ok(self.result(answer, true));
        }
        let answer = self.execute(action)?;
        self.actions.push(action.to_owned());
        Ok(self.result(answer, true))
    }

    /// Lists the valid actions, sorted and each once, without `reset task`. If not every step does, this changes what happens later.
    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        self.check_unspent()?;
        let mut actions = match &self.listed {
            Some(listed) => listed.clone(),
            None => self.simulator.valid_actions()?,
        };
        actions.retain(|action| action != RESET_ACTION);
        actions.sort_unstable();
        actions.dedup();
        Ok(actions)
    }

    /// Describes the simulator's own solution. Finding it takes random numbers and begins the task anew, so the episode is over
    /// until a reset: only a copy is asked, and no second simulator has to be started for it.
    fn hint(&mut self) -> Result<Option<String>, EnvError> {
        let setup = &self.setup;
        self.is_spent = true;
        self.simulator.load(setup.task, setup.variation, &setup.simplifications, true)?;
        let solution = self.simulator.solution()?;
        Ok(Some(describe_solution(&solution, &self.actions)))
    }

    fn is_hint_risky(&self) -> bool {
        true
    }

    fn world_summary(&self) -> Value {
        let mut summary = json!({
            "inventory": self.inventory,
            "score": self.score,
            "moves": self.moves,
            "pending_choice": self.has_question,
        });
        if let (Some(listed), Some(fields)) = (&self.listed, summary.as_object_mut()) {
            // Before equal ones are left out of the list.
            fields.insert("valid_actions".to_owned(), json!(listed.len()));
        }
        summary
    }
}

/// Describes what is left of a solution if the actions are its beginning, else the whole.
fn describe_solution(solution: &[String], actions: &[String]) -> String {
    if solution.is_empty() {
        return "the simulator has no solution of this task".to_owned();
    }
    let rest = solution.strip_prefix(actions).filter(|rest| !rest.is_empty());
    let intro = if rest.is_some() && !actions.is_empty() {
        "the rest of the simulator's solution"
    } else {
        "the simulator's solution, from the beginning of the episode"
    };
    format!("{intro}: {}", rest.unwrap_or(solution).join(", "))
}

/// Returns AgentBoard's answer to `check valid actions`.
fn list_action_forms(simplifications: &str) -> String {
    let has = |name: &str| simplifications.split(',').any(|known| known == name);
    let is_left_out = |form: &str| {
        has("noElectricalAction") && (form.starts_with("connect") || form.starts_with("disconnect"))
    };
    let mut forms: Vec<&str> = ACTION_FORMS.into_iter().filter(|form| !is_left_out(form)).collect();
    if has("teleportAction") {
        forms.push("teleport to LOC");
    }
    forms.sort_unstable();
    forms.push(CHECK_ACTION);
    format!("Choose an action from these valid actions: {}", forms.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(actions: &[&str]) -> Vec<String> {
        actions.iter().map(|action| (*action).to_owned()).collect()
    }

    #[test]
    fn a_hint_is_what_is_left_of_the_solution() {
        let solution = texts(&["open door", "go to kitchen", "wait1"]);
        let cases = [
            (
                &[][..],
                "the simulator's solution, from the beginning of the episode: open door, go to kitchen, wait1",
            ),
            (&["open door"], "the rest of the simulator's solution: go to kitchen, wait1"),
            (
                &["wait"],
                "the simulator's solution, from the beginning of the episode: open door, go to kitchen, wait1",
            ),
        ];
        for (actions, expected) in cases {
            assert_eq!(describe_solution(&solution, &texts(actions)), expected);
        }
        assert!(describe_solution(&solution, &solution).contains("from the beginning"));
        assert_eq!(describe_solution(&[], &[]), "the simulator has no solution of this task");
    }

    #[test]
    fn action_forms_follow_the_simplifications() {
        let all = list_action_forms("");
        assert!(all.starts_with(
            "Choose an action from these valid actions: activate OBJ, close OBJ, connect OBJ to OBJ,"
        ));
        assert!(all.ends_with("use OBJ on OBJ, wait, wait1, check valid actions") && !all.contains("reset"));
        let simple = list_action_forms("selfWateringFlowerPots,openContainers,openDoors,noElectricalAction");
        assert_eq!(simple, all.replace(", connect OBJ to OBJ", "").replace(", disconnect OBJ", ""));
        assert!(list_action_forms("teleportAction").contains("task, teleport to LOC, use OBJ on OBJ"));
    }
}
