//! The rule-based actor in ScienceWorld: a beginner that knows no science. It uses only the text of the prompt.
//!
//! It goes from room to room, opens what is closed, and looks for what the goal's words name. It focuses on that, takes it, and
//! brings it to the box that the goal names. It can't heat, mix, connect or measure anything. Its two habits (`habits.toml`) end
//! after a while, or at once if the prompt contains a lesson against it (`docs/SCIENCEWORLD.md`).

mod goal;
mod replay;

use super::habits::HabitRule;
use super::prompt_parser::ParsedPrompt;
use super::seeded_random::SeededRandom;
use crate::domain::Prompt;
use crate::rooms::thing_name;
use goal::{ScienceGoal, Wanted};
use replay::Replay;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::LazyLock;

static HABITS: LazyLock<BTreeMap<String, HabitRule>> =
    LazyLock::new(|| match toml::from_str(include_str!("science/habits.toml")) {
        Ok(habits) => habits,
        // The file is part of the program, and a test parses it.
        Err(error) => unreachable!("a data file of the built-in actor does not parse: {error}"),
    });

/// Returns the reply to a prompt about ScienceWorld. Returns `None` for any other prompt.
pub(super) fn reply(prompt: &Prompt, parsed: &ParsedPrompt<'_>, random: &SeededRandom) -> Option<String> {
    let replay = Replay::from_prompt(parsed)?;
    let goal = ScienceGoal::parse(parsed.task_text);
    if parsed.items.is_empty() {
        return Some(format!("think: I have to {} I'll look for it room by room.", goal.sentence));
    }
    Some(Decision { prompt, replay: &replay, goal: &goal, random }.next_action())
}

struct Decision<'a> {
    prompt: &'a Prompt,
    replay: &'a Replay,
    goal: &'a ScienceGoal,
    random: &'a SeededRandom,
}

impl Decision<'_> {
    fn next_action(&self) -> String {
        if self.replay.has_question {
            return "0".to_owned();
        }
        let Some((here, room)) = self.replay.current_room() else { return "look around".to_owned() };
        let wanted = self.goal.wanted.get(self.replay.focused.len());
        if let Some(focus) = self.early_focus(&room.contents) {
            return focus;
        }
        if let Some(action) = wanted.and_then(|wanted| self.focus_on(wanted, &room.contents)) {
            return action;
        }
        let carries_it = wanted.is_none() && !self.replay.focused.is_empty();
        if carries_it && let Some(action) = self.bring_it(here, &room.contents) {
            return action;
        }
        if let Some(container) = self.closed_container(here, &room.contents) {
            return format!("open {container}");
        }
        self.explore(here).unwrap_or_else(|| "wait1".to_owned())
    }

    /// Returns an action that focuses on the first thing in sight, if that habit shows.
    fn early_focus(&self, contents: &[String]) -> Option<String> {
        let is_first = self.replay.focused.is_empty() && !self.goal.wanted.is_empty();
        let first = contents.first().filter(|_| is_first)?;
        self.shows_habit("focuses_on_anything", self.replay.focus_attempts)
            .then(|| format!("focus on {}", thing_name(first)))
    }

    fn focus_on(&self, wanted: &Wanted, contents: &[String]) -> Option<String> {
        let name = contents.iter().chain(&self.replay.carried).find_map(|text| wanted.find_in(text))?;
        let action = format!("focus on {name}");
        (!self.replay.failed.contains(&action)).then_some(action)
    }

    /// Returns the next action that brings the thing in focus to the box that the goal names.
    fn bring_it(&self, here: &str, contents: &[String]) -> Option<String> {
        let target = self.goal.target.as_ref()?;
        let thing = self.replay.focused.last()?;
        let take = format!("pick up {thing}");
        let is_carried = self.replay.carried.iter().any(|carried| thing.contains(thing_name(carried)));
        if !is_carried && !self.replay.failed.contains(&take) && !self.replay.actions.contains(&take) {
            return Some(take);
        }
        if contents.iter().any(|text| thing_name(text) == target.name) {
            let put = format!("move {thing} to {}", target.name);
            return (!self.replay.failed.contains(&put) && !self.replay.actions.contains(&put))
                .then_some(put);
        }
        let room = target.room.as_deref().filter(|room| *room != here)?;
        self.step_towards(here, |name| name == room)
    }

    /// Returns a closed container that the actor hasn't tried to open here.
    fn closed_container<'t>(&self, here: &str, contents: &'t [String]) -> Option<&'t str> {
        let closed = contents.iter().filter(|text| text.trim_end().ends_with("door is closed."));
        let mut names = closed.map(|text| thing_name(text));
        names.find(|name| !self.replay.opened.contains(&(here.to_owned(), (*name).to_owned())))
    }

    /// Goes to the nearest room that hasn't been looked at, else to the one that was left longest ago.
    fn explore(&self, here: &str) -> Option<String> {
        let rooms = &self.replay.known.rooms;
        let hint = self.goal.rooms.iter().find(|name| !rooms.contains_key(*name));
        if let Some(action) = hint.and_then(|hint| self.step_towards(here, |name| name == hint)) {
            return Some(action);
        }
        if let Some(action) = self.step_towards(here, |name| !rooms.contains_key(name)) {
            return Some(action);
        }
        let neighbours = &rooms.get(here)?.doors;
        let last_visit = |name: &String| self.replay.visits.get(name).copied().unwrap_or_default();
        let next = neighbours.keys().min_by_key(|name| last_visit(name))?;
        Some(self.go_through(here, next))
    }

    /// Returns the first action on the shortest known way to a room.
    fn step_towards(&self, here: &str, is_there: impl Fn(&str) -> bool) -> Option<String> {
        let mut queue: VecDeque<(&str, Option<&str>)> = [(here, None)].into();
        let mut seen = BTreeSet::from([here]);
        while let Some((name, first)) = queue.pop_front() {
            if name != here && is_there(name) {
                return first.map(|first| self.go_through(here, first));
            }
            for next in self.replay.known.rooms.get(name).into_iter().flat_map(|room| room.doors.keys()) {
                if seen.insert(next) {
                    queue.push_back((next, first.or(Some(next))));
                }
            }
        }
        None
    }

    /// Opens the door to a room, or goes through it.
    fn go_through(&self, here: &str, next: &str) -> String {
        let is_open = self.replay.known.rooms.get(here).and_then(|room| room.doors.get(next));
        let is_closed = is_open == Some(&false);
        if is_closed && !self.shows_habit("walks_into_doors", self.replay.closed_doors_tried) {
            return format!("open door to {next}");
        }
        format!("go to {next}")
    }

    fn shows_habit(&self, name: &str, times_shown: usize) -> bool {
        HABITS.get(name).is_some_and(|habit| habit.is_shown(name, times_shown, self.prompt, self.random))
    }
}

#[cfg(test)]
mod tests;
