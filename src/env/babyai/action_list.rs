//! The list of available actions, in the original's order, and the specific error messages for unavailable actions.
//!
//! Names and numbers belong to a single observation. For "pick up" and "go to", only reachable objects are numbered, so
//! the numbers can differ from those in the observation.

use super::observation::{Barrier, NameCounts, Observation, SeenCell};
use super::path_planner::{Destination, Window};
use super::primitive_actions::PrimitiveAction;
use super::thing::{CellCode, DoorState, Kind, Pose, Thing};
use std::fmt::Write as _;

/// The effect of an available action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ActionPlan {
    /// A single primitive action.
    Primitive(PrimitiveAction),
    /// A walk, followed by these actions.
    Walk(Destination, &'static [PrimitiveAction]),
    /// No effect on the world; asks for the action list.
    ListActions,
}

/// The actions that are available after an observation.
#[derive(Clone, Debug, Default)]
pub(super) struct ActionList {
    text: String,
    /// The end offset of each name, and the action's plan.
    entries: Vec<(u32, ActionPlan)>,
}

impl ActionList {
    fn add(&mut self, plan: ActionPlan, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.entries.push((self.text.len() as u32, plan));
    }

    /// Iterates over the names in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.entries.iter().map(|&(end, _)| end));
        starts.zip(&self.entries).map(|(start, &(end, _))| &self.text[start as usize..end as usize])
    }

    /// Returns the plan of the action with this name.
    pub(super) fn find_plan(&self, name: &str) -> Option<ActionPlan> {
        self.names().zip(&self.entries).find(|(own, _)| *own == name).map(|(_, &(_, plan))| plan)
    }

    /// Rebuilds the list for an observation.
    pub(super) fn rebuild(
        &mut self,
        observation: &Observation,
        window: &Window,
        agent: Pose,
        carried: Option<Thing>,
    ) {
        self.text.clear();
        self.entries.clear();
        let list = self;
        let words = |text: &'static str| move |out: &mut String| out.push_str(text);
        list.add(ActionPlan::Primitive(PrimitiveAction::Left), words("turn left"));
        list.add(ActionPlan::Primitive(PrimitiveAction::Right), words("turn right"));
        if !is_barred(observation) {
            list.add(ActionPlan::Primitive(PrimitiveAction::Forward), words("move forward"));
        }
        let reachable = |cell: &&SeenCell| window.can_reach(Destination::Facing(cell.x, cell.y));
        let numbered = |verb: &'static str, code: CellCode, number: u8| {
            move |out: &mut String| {
                out.push_str(verb);
                code.write_name(out);
                let _ = write!(out, " {number}");
            }
        };
        if carried.is_none() {
            let mut count = NameCounts::default();
            for cell in observation.things().filter(|s| is_portable(s)).filter(reachable) {
                let number = count.next(cell.code);
                let plan = ActionPlan::Walk(Destination::Facing(cell.x, cell.y), &[PrimitiveAction::PickUp]);
                list.add(plan, numbered("pickup ", cell.code, number));
            }
        } else if !is_blocked(observation, agent) {
            list.add(ActionPlan::Primitive(PrimitiveAction::Drop), words("drop"));
        }
        let mut count = NameCounts::default();
        for cell in observation.things().filter(|s| s.code.kind() == Some(Kind::Door)) {
            let number = count.next(cell.code);
            let (on, facing) = (Destination::On(cell.x, cell.y), Destination::Facing(cell.x, cell.y));
            match door_passage(cell.code, carried) {
                DoorPassage::Open if window.can_reach(on) => {
                    list.add(ActionPlan::Walk(on, &[]), numbered("go through ", cell.code, number));
                }
                DoorPassage::AfterToggle if window.can_reach(facing) => {
                    let plan = ActionPlan::Walk(facing, &[PrimitiveAction::Toggle, PrimitiveAction::Forward]);
                    list.add(plan, numbered("toggle and go through ", cell.code, number));
                    if window.is_at(facing) {
                        list.add(ActionPlan::Primitive(PrimitiveAction::Toggle), words("toggle"));
                    }
                }
                _ => {}
            }
        }
        let mut count = NameCounts::default();
        for cell in observation.things().filter(reachable) {
            let number = count.next(cell.code);
            let plan = ActionPlan::Walk(Destination::Facing(cell.x, cell.y), &[]);
            list.add(plan, numbered("go to ", cell.code, number));
        }
        list.add(ActionPlan::ListActions, words("check available actions"));
    }
}

/// Returns error messages for specific unavailable actions, in the order in which they are recorded. If an action
/// occurs twice, the later message applies.
pub(super) fn rejections(
    observation: &Observation,
    window: &Window,
    agent: Pose,
    carried: Option<Thing>,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if is_barred(observation) {
        let message = "There is a barrier in front of you, you can't move forward.";
        found.push(("move forward".to_owned(), message.to_owned()));
    }
    let mut add_unreachable = |cells: &mut dyn Iterator<Item = &SeenCell>, verb: &str| {
        let mut count = NameCounts::default();
        for cell in cells {
            if window.can_reach(Destination::Facing(cell.x, cell.y)) {
                count.next(cell.code);
            } else {
                let action = format!("{verb} {} {}", cell.code.name(), count.last(cell.code) + 1);
                let message = format!("You cannot {action}, as there is no path leading to it.");
                found.push((action, message));
            }
        }
    };
    if carried.is_none() {
        add_unreachable(&mut observation.things().filter(|s| is_portable(s)), "pickup");
    }
    // The original handles doors between these two, but none of their messages is for the same action.
    add_unreachable(&mut observation.things(), "go to");
    match carried {
        None => {
            found.push(rejection("drop", "You cannot drop the object, as you are not carrying anything."));
        }
        Some(_) if is_blocked(observation, agent) => {
            let message = "You cannot drop the object, as there is already an object in front of you.";
            found.push(rejection("drop", message));
        }
        Some(_) => {}
    }
    add_door_rejections(observation, window, carried, &mut found);
    found
}

fn rejection(action: &str, message: &str) -> (String, String) {
    (action.to_owned(), message.to_owned())
}

fn add_door_rejections(
    observation: &Observation,
    window: &Window,
    carried: Option<Thing>,
    found: &mut Vec<(String, String)>,
) {
    // By mistake, the original prints its table of counts, in the order in which the names were first seen.
    let mut counts: Vec<(CellCode, u8)> = Vec::new();
    for cell in observation.things().filter(|s| s.code.kind() == Some(Kind::Door)) {
        let index = counts.iter().position(|(code, _)| *code == cell.code);
        let at = index.unwrap_or_else(|| {
            counts.push((cell.code, 0));
            counts.len() - 1
        });
        counts[at].1 += 1;
        let number = counts[at].1;
        let name = cell.code.name();
        let through = format!("go through {name} {number}");
        let toggle = format!("toggle and {through}");
        let (on, facing) = (Destination::On(cell.x, cell.y), Destination::Facing(cell.x, cell.y));
        match door_passage(cell.code, carried) {
            DoorPassage::Open if !window.can_reach(on) => {
                let message = format!("You cannot {through}, as there is no path leading to it.");
                found.push((through.clone(), message));
            }
            DoorPassage::AfterToggle if !window.can_reach(facing) => {
                let counts: Vec<String> =
                    counts.iter().map(|(code, count)| format!("'{}': {count}", code.name())).collect();
                let message = format!(
                    "You cannot toggle and go through {name} {{{}}}, as there is no path leading to it.",
                    counts.join(", ")
                );
                found.push((toggle, message));
            }
            DoorPassage::NoKey => {
                found.push((toggle.clone(), format!("You cannot {toggle}, as you are not carrying a key.")));
            }
            DoorPassage::WrongKey => {
                let message = "as the color of the key you are carrying does not match the color of door.";
                found.push((toggle.clone(), format!("You cannot {toggle}, {message}")));
            }
            DoorPassage::Open | DoorPassage::AfterToggle => {}
        }
        if cell.code.door_state() == DoorState::Closed {
            let message = format!("You cannot {through}, as it is closed. You should toggle it first.");
            found.push((through, message));
        }
    }
}

/// How a door can be passed with the carried object.
enum DoorPassage {
    Open,
    AfterToggle,
    NoKey,
    WrongKey,
}

fn door_passage(code: CellCode, carried: Option<Thing>) -> DoorPassage {
    match (code.door_state(), carried.filter(|thing| thing.kind == Kind::Key)) {
        (DoorState::Open, _) => DoorPassage::Open,
        (DoorState::Closed, _) => DoorPassage::AfterToggle,
        (DoorState::Locked, None) => DoorPassage::NoKey,
        (DoorState::Locked, Some(key)) if key.colour == code.colour() => DoorPassage::AfterToggle,
        (DoorState::Locked, Some(_)) => DoorPassage::WrongKey,
    }
}

fn is_portable(cell: &SeenCell) -> bool {
    cell.code.kind() != Some(Kind::Door)
}

fn is_barred(observation: &Observation) -> bool {
    observation.barrier.is_some_and(|Barrier { distance, .. }| distance <= 1)
}

fn is_blocked(observation: &Observation, agent: Pose) -> bool {
    let front = agent.front();
    observation.seen().iter().any(|cell| (cell.x, cell.y) == front && cell.code.blocks_dropping())
}
