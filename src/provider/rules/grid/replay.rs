//! What can be known from the steps so far: which way one looks since one last walked, what was seen there, what is done.

use super::super::read::{Item, Reading};
use crate::grid::{Clause, View, VisibleObject, parse_clauses};

/// The past, replayed.
#[derive(Debug)]
pub(super) struct Replay<'a> {
    pub(super) goal_text: &'a str,
    pub(super) clauses: Vec<Clause<'a>>,
    /// Which clauses are done, as far as one can tell; all false again when all were and nobody said so.
    pub(super) done: Vec<bool>,
    /// What was seen from this cell: ahead as it was on arrival, to the right of that, behind, to the left.
    pub(super) views: [Option<View<'a>>; 4],
    /// Which of these ways one looks now.
    pub(super) facing: usize,
    /// One has not left the first cell.
    pub(super) at_start: bool,
    /// Actions that were refused or changed nothing from this cell.
    pub(super) refused: Vec<&'a str>,
    /// Actions that were ever refused.
    pub(super) refused_ever: Vec<&'a str>,
    /// The last action, where it was refused.
    pub(super) failed: Option<&'a str>,
    /// How often what was refused was said again at once.
    pub(super) repeats: usize,
    /// How often a thing was to be taken with full hands.
    pub(super) grabbed: usize,
    /// Turns that were the third in a row to the same side, or a later one.
    pub(super) spins: usize,
    /// Colours of doors that were passed, once for each time.
    pub(super) passed: Vec<&'a str>,
    /// Colours of locked doors that were seen and not opened.
    pub(super) locked: Vec<&'a str>,
    /// Steps since one last walked.
    pub(super) stood: usize,
    /// The last actions, the newest last.
    pub(super) actions: Vec<&'a str>,
}

impl<'a> Replay<'a> {
    /// Reads the prompt; none where the task is no grid.
    pub(super) fn of(reading: &Reading<'a>) -> Option<Self> {
        let first = View::parse(reading.task_text)?;
        let known = first.clone();
        let (_, goal) = reading.task_text.split_once("Your task is to: ")?;
        let goal_text = goal.lines().next().unwrap_or_default().trim().trim_end_matches('.');
        let clauses = parse_clauses(goal_text);
        if clauses.is_empty() {
            return None;
        }
        let mut replay = Self {
            goal_text,
            done: vec![false; clauses.len()],
            clauses,
            views: [Some(first), None, None, None],
            facing: 0,
            at_start: true,
            refused: Vec::new(),
            refused_ever: Vec::new(),
            failed: None,
            repeats: 0,
            grabbed: 0,
            spins: 0,
            passed: Vec::new(),
            locked: Vec::new(),
            stood: 0,
            actions: Vec::new(),
        };
        replay.know_doors(&known);
        for item in &reading.items {
            if let Item::Did { line, answer, .. } = item {
                replay.take_in(line, answer);
            }
        }
        Some(replay)
    }

    /// What is in sight now.
    pub(super) fn now(&self) -> &View<'a> {
        static NOTHING: View<'static> = View { objects: Vec::new(), barrier: None, carrying: None };
        self.views[self.facing].as_ref().unwrap_or(&NOTHING)
    }

    fn take_in(&mut self, line: &'a str, answer: &'a str) {
        self.stood += 1;
        let mut before = self.actions.iter().rev();
        self.spins += usize::from(
            line.starts_with("turn ") && before.by_ref().take(2).filter(|a| **a == line).count() == 2,
        );
        self.repeats += usize::from(self.failed == Some(line));
        self.failed = None;
        self.actions.push(line);
        let Some(view) = View::parse(answer) else {
            if !line.contains("check") {
                self.failed = Some(line);
                if line.starts_with("pickup ") && self.now().carrying.is_some() {
                    self.grabbed += 1;
                } else {
                    self.refused.push(line);
                }
                self.refused_ever.push(line);
            }
            return;
        };
        if view == *self.now() && !line.starts_with("turn") {
            // It was done and nothing looks different: as good as refused.
            self.refused.push(line);
        }
        let before = self.now().clone();
        match line {
            "turn left" => self.facing = (self.facing + 3) % 4,
            "turn right" => self.facing = (self.facing + 1) % 4,
            "drop" | "toggle" => self.refused.clear(),
            _ => {
                (self.views, self.facing, self.stood) = (Default::default(), 0, 0);
                self.refused.retain(|refused| *refused == line);
                self.at_start = false;
            }
        }
        if let Some((_, door)) = line.split_once("go through ") {
            let colour = door.split(' ').next();
            // A walk that ended on the way has passed nothing, and the door is still as it was.
            let there = |spot: &VisibleObject<'_>| spot.name == door && spot.door_state != "open";
            self.passed.extend(colour.filter(|_| !view.objects.iter().any(there)));
            if line.contains(" locked ") && !view.objects.iter().any(there) {
                self.locked.retain(|locked| Some(*locked) != colour);
            }
        }
        self.settle(line, &before, &view);
        self.know_doors(&view);
        self.views[self.facing] = Some(view);
    }

    /// Remembers doors that need a key, and forgets those that no longer do.
    fn know_doors(&mut self, view: &View<'a>) {
        for spot in view.objects.iter().filter(|spot| spot.kind == "door") {
            match (spot.door_state, self.locked.iter().position(|colour| *colour == spot.colour)) {
                ("locked", None) => self.locked.push(spot.colour),
                // Opened with the key that is in the hand.
                ("open", Some(at)) if view.carrying == Some((spot.colour, "key")) => {
                    self.locked.remove(at);
                }
                _ => {}
            }
        }
    }

    /// Ticks the clauses that this action did.
    fn settle(&mut self, line: &str, before: &View<'_>, now: &View<'_>) {
        for (clause, done) in self.clauses.iter().zip(&mut self.done) {
            *done |= match clause {
                Clause::GoTo(wanted) => now.object_ahead().is_some_and(|spot| wanted.matches(spot)),
                Clause::PickUp(wanted) => {
                    line.starts_with("pick") && now.carrying.is_some_and(|(c, k)| wanted.matches_kind(c, k))
                }
                Clause::Open(wanted) => {
                    line == "toggle"
                        && now.object_ahead().is_some_and(|s| s.door_state == "open" && wanted.matches(s))
                }
                Clause::PutNext(moved, fixed) => {
                    let beside = |s: &&VisibleObject<'_>| (s.ahead - 1).abs() + s.right.abs() == 1;
                    line == "drop"
                        && before.carrying.is_some_and(|(c, k)| moved.matches_kind(c, k))
                        && now.objects.iter().filter(beside).any(|s| fixed.matches(s))
                }
            };
        }
        if self.done.iter().all(|done| *done) {
            // The episode goes on, so the order was another one.
            self.done.fill(false);
        }
    }
}
