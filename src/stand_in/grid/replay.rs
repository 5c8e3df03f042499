//! What the steps so far show: the direction faced since the last move, what was seen from here, and what is done.

use super::super::prompt_parser::{HistoryItem, ParsedPrompt};
use crate::grid::{Clause, View, VisibleObject, parse_clauses};

/// The state after replaying the steps of a prompt.
#[derive(Debug)]
pub(super) struct Replay<'a> {
    pub(super) goal_text: &'a str,
    pub(super) clauses: Vec<Clause<'a>>,
    /// Which clauses seem to be done; all are reset once all were done and the episode continued.
    pub(super) clauses_done: Vec<bool>,
    /// What was seen from this cell: in the direction faced on arrival, to its right, behind, and to its left.
    pub(super) views: [Option<View<'a>>; 4],
    /// Index of the direction faced now.
    pub(super) facing: usize,
    /// Whether the agent is still on its first cell.
    pub(super) at_start: bool,
    /// Actions that were refused on this cell or changed nothing.
    pub(super) refused_here: Vec<&'a str>,
    /// All actions refused so far.
    pub(super) refused_actions: Vec<&'a str>,
    /// The last action, if it was refused.
    pub(super) failed_action: Option<&'a str>,
    /// How often a refused action was repeated right away.
    pub(super) repeated_failures: usize,
    /// How often the agent tried to take a thing with full hands.
    pub(super) full_hand_grabs: usize,
    /// Number of turns that directly followed two turns in the same direction.
    pub(super) extra_turns: usize,
    /// Colours of the doors gone through, one entry for each time.
    pub(super) passed_doors: Vec<&'a str>,
    /// Colours of the locked doors seen and not yet opened.
    pub(super) locked_doors: Vec<&'a str>,
    /// Number of actions since the agent last walked.
    pub(super) steps_since_walk: usize,
    /// The actions so far, newest last.
    pub(super) actions: Vec<&'a str>,
}

impl<'a> Replay<'a> {
    /// Replays a prompt. Returns `None` if the task is not a grid world.
    pub(super) fn from_prompt(parsed: &ParsedPrompt<'a>) -> Option<Self> {
        let first = View::parse(parsed.task_text)?;
        let known = first.clone();
        let (_, goal) = parsed.task_text.split_once("Your task is to: ")?;
        let goal_text = goal.lines().next().unwrap_or_default().trim().trim_end_matches('.');
        let clauses = parse_clauses(goal_text);
        if clauses.is_empty() {
            return None;
        }
        let mut replay = Self {
            goal_text,
            clauses_done: vec![false; clauses.len()],
            clauses,
            views: [Some(first), None, None, None],
            facing: 0,
            at_start: true,
            refused_here: Vec::new(),
            refused_actions: Vec::new(),
            failed_action: None,
            repeated_failures: 0,
            full_hand_grabs: 0,
            extra_turns: 0,
            passed_doors: Vec::new(),
            locked_doors: Vec::new(),
            steps_since_walk: 0,
            actions: Vec::new(),
        };
        replay.update_locked_doors(&known);
        for item in &parsed.items {
            if let HistoryItem::Action { line, answer, .. } = item {
                replay.apply_step(line, answer);
            }
        }
        Some(replay)
    }

    /// Returns what is in sight now.
    pub(super) fn current_view(&self) -> &View<'a> {
        static EMPTY_VIEW: View<'static> = View { objects: Vec::new(), barrier: None, carrying: None };
        self.views[self.facing].as_ref().unwrap_or(&EMPTY_VIEW)
    }

    fn apply_step(&mut self, line: &'a str, answer: &'a str) {
        self.steps_since_walk += 1;
        let mut before = self.actions.iter().rev();
        self.extra_turns += usize::from(
            line.starts_with("turn ") && before.by_ref().take(2).filter(|a| **a == line).count() == 2,
        );
        self.repeated_failures += usize::from(self.failed_action == Some(line));
        self.failed_action = None;
        self.actions.push(line);
        let Some(view) = View::parse(answer) else {
            // An action that contains "check" gets the list of actions, which is no failure.
            if !line.contains("check") {
                self.failed_action = Some(line);
                if line.starts_with("pickup ") && self.current_view().carrying.is_some() {
                    self.full_hand_grabs += 1;
                } else {
                    self.refused_here.push(line);
                }
                self.refused_actions.push(line);
            }
            return;
        };
        if view == *self.current_view() && !line.starts_with("turn") {
            // The view has not changed, so the action is treated as refused.
            self.refused_here.push(line);
        }
        let before = self.current_view().clone();
        match line {
            "turn left" => self.facing = (self.facing + 3) % 4,
            "turn right" => self.facing = (self.facing + 1) % 4,
            "drop" | "toggle" => self.refused_here.clear(),
            _ => {
                (self.views, self.facing, self.steps_since_walk) = (Default::default(), 0, 0);
                // Forget what was refused on the last cell, but not that this action changed nothing.
                self.refused_here.retain(|refused| *refused == line);
                self.at_start = false;
            }
        }
        if let Some((_, door)) = line.split_once("go through ") {
            let colour = door.split(' ').next();
            // If the walk stopped early, the door is still in view and not open.
            let is_still_closed =
                |object: &VisibleObject<'_>| object.name == door && object.door_state != "open";
            self.passed_doors.extend(colour.filter(|_| !view.objects.iter().any(is_still_closed)));
            if line.contains(" locked ") && !view.objects.iter().any(is_still_closed) {
                self.locked_doors.retain(|locked| Some(*locked) != colour);
            }
        }
        self.mark_done_clauses(line, &before, &view);
        self.update_locked_doors(&view);
        self.views[self.facing] = Some(view);
    }

    /// Adds doors that need a key, and removes those that no longer do.
    fn update_locked_doors(&mut self, view: &View<'a>) {
        for object in view.objects.iter().filter(|object| object.kind == "door") {
            match (object.door_state, self.locked_doors.iter().position(|colour| *colour == object.colour)) {
                ("locked", None) => self.locked_doors.push(object.colour),
                // It was opened with the key in the hand.
                ("open", Some(index)) if view.carrying == Some((object.colour, "key")) => {
                    self.locked_doors.remove(index);
                }
                _ => {}
            }
        }
    }

    /// Marks the clauses that this action fulfilled.
    fn mark_done_clauses(&mut self, line: &str, before: &View<'_>, after: &View<'_>) {
        for (clause, done) in self.clauses.iter().zip(&mut self.clauses_done) {
            *done |= match clause {
                Clause::GoTo(wanted) => after.object_ahead().is_some_and(|object| wanted.matches(object)),
                Clause::PickUp(wanted) => {
                    line.starts_with("pick") && after.carrying.is_some_and(|(c, k)| wanted.matches_kind(c, k))
                }
                Clause::Open(wanted) => {
                    line == "toggle"
                        && after.object_ahead().is_some_and(|s| s.door_state == "open" && wanted.matches(s))
                }
                Clause::PutNext(moved, fixed) => {
                    let is_beside = |s: &&VisibleObject<'_>| (s.ahead - 1).abs() + s.right.abs() == 1;
                    line == "drop"
                        && before.carrying.is_some_and(|(c, k)| moved.matches_kind(c, k))
                        && after.objects.iter().filter(is_beside).any(|s| fixed.matches(s))
                }
            };
        }
        if self.clauses_done.iter().all(|done| *done) {
            // The episode continues, so the clauses were meant in another order.
            self.clauses_done.fill(false);
        }
    }
}
