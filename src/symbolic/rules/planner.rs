//! Plans a household task before its first action, without a model. It is a simple stand-in, because nothing about the
//! environment's answers is known in advance: it visits the places that the first observation lists and tries to take
//! the object at each of them. Impossible actions have no effect, so the one that succeeds is enough.

use crate::domain::{LessonText, ReflectionItem};
use crate::engine::{Episode, State};
use crate::symbolic::goal::{Goal, Treatment};
use regex::Regex;
use std::sync::LazyLock;

/// The environments whose tasks it can plan.
pub const PLANNABLE_ENVS: &[&str] = &["household", "alfworld"];

/// Places that have a door.
const CONTAINERS: [&str; 6] = ["cabinet", "drawer", "fridge", "microwave", "safe", "box"];
/// Places where a lamp may stand.
const LAMP_PLACES: [&str; 6] = ["desk", "sidetable", "dresser", "shelf", "coffeetable", "bed"];

/// Returns the plan as an item with one action per line. Returns `None` if the goal or the places cannot be parsed.
pub(super) fn plan(state: &State, episode: &Episode) -> Option<ReflectionItem> {
    if !PLANNABLE_ENVS.contains(&episode.task.env.as_str()) {
        return None;
    }
    let goal = Goal::parse(&episode.task.goal)?;
    let first = &episode.first_observation.as_ref()?.raw;
    let places = listed_places(first);
    if places.is_empty() {
        return None;
    }
    let cap = state.run.as_ref().map_or(50, |r| r.limits.steps as usize);
    let lines = match &goal {
        Goal::Place { object, target, treatment, count } => {
            let place = PlaceGoalPlanner { object, target, treatment: *treatment };
            let share = cap / (*count).max(1);
            (1..=*count).flat_map(|n| place.plan_object(n, &places, episode.trial, share)).collect()
        }
        Goal::ExamineInLight { object, lamp } => {
            let lit = |kind: &str| LAMP_PLACES.contains(&kind);
            let lamps: Vec<&str> = places.iter().copied().filter(|p| lit(type_of_name(p))).collect();
            let lamps = if lamps.is_empty() { places.clone() } else { lamps };
            let last: Vec<String> =
                lamps.iter().flat_map(|p| [format!("go to {p}"), format!("use {lamp} 1")]).collect();
            let mut lines = plan_search(object, 1, &places, episode.trial, cap.saturating_sub(last.len()));
            lines.extend(last);
            lines
        }
    };
    let lines: Vec<String> = lines;
    Some(ReflectionItem {
        text: LessonText::plain(lines.join("\n")),
        rule: Some("plan_ahead".to_owned()),
        evidence: episode.task.goal.clone(),
        transition: None,
    })
}

struct PlaceGoalPlanner<'a> {
    object: &'a str,
    target: &'a str,
    treatment: Option<Treatment>,
}

impl PlaceGoalPlanner<'_> {
    /// Plans moving one object to its place, in at most `most` actions.
    fn plan_object(&self, number: usize, places: &[&str], trial: u32, most: usize) -> Vec<String> {
        let thing = format!("{} {number}", self.object);
        let first = |of: &str| places.iter().copied().find(|p| type_of_name(p) == of);
        let mut last = Vec::new();
        if let Some(how) = self.treatment {
            let at = first(how.appliance()).map_or_else(|| format!("{} 1", how.appliance()), str::to_owned);
            last.push(format!("go to {at}"));
            last.push(format!("{} {thing} with {at}", how.verb()));
        }
        let target = first(self.target).map_or_else(|| format!("{} 1", self.target), str::to_owned);
        last.push(format!("go to {target}"));
        if CONTAINERS.contains(&self.target) {
            last.push(format!("open {target}"));
        }
        last.push(format!("move {thing} to {target}"));
        // An object already in its target place need not be fetched from there.
        let others: Vec<&str> = places.iter().copied().filter(|p| type_of_name(p) != self.target).collect();
        let mut lines = plan_search(self.object, number, &others, trial, most.saturating_sub(last.len()));
        lines.extend(last);
        lines
    }
}

/// Visits places in turn and tries to take the object at each until the actions are used up. Every trial starts where
/// the previous one stopped.
fn plan_search(object: &str, number: usize, places: &[&str], trial: u32, most: usize) -> Vec<String> {
    let at = |place: &&str| -> Vec<String> {
        let mut lines = vec![format!("go to {place}")];
        if CONTAINERS.contains(&type_of_name(place)) {
            lines.push(format!("open {place}"));
        }
        lines.push(format!("take {object} {number} from {place}"));
        lines
    };
    let (mut lines, mut from): (Vec<String>, usize) = (Vec::new(), 0);
    for _ in 0..trial.max(1) {
        lines.clear();
        let round = places.iter().cycle().skip(from).take(places.len());
        for stop in round.map(at) {
            if lines.len() + stop.len() > most {
                break;
            }
            lines.extend(stop);
            from = (from + 1) % places.len().max(1);
        }
    }
    lines
}

/// Returns the places that the first observation lists, in its order.
fn listed_places(first: &str) -> Vec<&str> {
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\ban? ([a-z]+ \d+)").ok());
    let Some(name) = NAME.as_ref() else { return Vec::new() };
    name.captures_iter(first).filter_map(|c| c.get(1)).map(|m| m.as_str()).collect()
}

/// Returns a name without its number.
fn type_of_name(name: &str) -> &str {
    name.split(' ').next().unwrap_or_default()
}
