//! Plans a household task before its first action, without a model. Where the object is and how the environment will
//! answer are unknown at this point, so the plan visits the places that the first observation lists and tries to take
//! the object at each of them. Impossible actions have no effect, so it is enough if one of the attempts succeeds.

use crate::domain::{LessonText, ReflectionItem};
use crate::engine::{Episode, State};
use crate::symbolic::goal::{Goal, Treatment};
use regex::Regex;
use std::sync::LazyLock;

/// Places that must be opened before an object can be taken out or put in.
const CONTAINERS: [&str; 6] = ["cabinet", "drawer", "fridge", "microwave", "safe", "box"];
/// Places where a lamp may stand.
const LAMP_PLACES: [&str; 6] = ["desk", "sidetable", "dresser", "shelf", "coffeetable", "bed"];

/// Returns the plan as an item with one action per line. Returns `None` if the goal or the places cannot be parsed.
pub(super) fn plan(state: &State, episode: &Episode) -> Option<ReflectionItem> {
    let goal = Goal::parse(&episode.task.goal)?;
    let first = &episode.first_observation.as_ref()?.raw;
    let places = listed_places(first);
    if places.is_empty() {
        return None;
    }
    let max_actions = state.run.as_ref().map_or(50, |r| r.limits.steps as usize);
    let lines = match &goal {
        Goal::Place { object, destination: target, treatment, count } => {
            let planner = PlaceGoalPlanner { object, destination: target, treatment: *treatment };
            let max_per_object = max_actions / (*count).max(1);
            (1..=*count)
                .flat_map(|number| planner.plan_object(number, &places, episode.trial, max_per_object))
                .collect()
        }
        Goal::ExamineInLight { object, lamp } => {
            let is_lamp_place = |kind: &str| LAMP_PLACES.contains(&kind);
            let lamps: Vec<&str> =
                places.iter().copied().filter(|p| is_lamp_place(type_of_name(p))).collect();
            let lamps = if lamps.is_empty() { places.clone() } else { lamps };
            let final_actions: Vec<String> =
                lamps.iter().flat_map(|p| [format!("go to {p}"), format!("use {lamp} 1")]).collect();
            let max_searching = max_actions.saturating_sub(final_actions.len());
            let mut lines = plan_search(object, 1, &places, episode.trial, max_searching);
            lines.extend(final_actions);
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
    destination: &'a str,
    treatment: Option<Treatment>,
}

impl PlaceGoalPlanner<'_> {
    /// Plans to move one object to its destination, in at most `max_actions` actions.
    fn plan_object(&self, number: usize, places: &[&str], trial: u32, max_actions: usize) -> Vec<String> {
        let object = format!("{} {number}", self.object);
        // A place that the observation doesn't list is assumed to have number 1.
        let first_place_or_number_1 = |kind: &str| {
            let listed = places.iter().copied().find(|p| type_of_name(p) == kind);
            listed.map_or_else(|| format!("{kind} 1"), str::to_owned)
        };
        let mut final_actions = Vec::new();
        if let Some(treatment) = self.treatment {
            let appliance = first_place_or_number_1(treatment.appliance());
            final_actions.push(format!("go to {appliance}"));
            final_actions.push(format!("{} {object} with {appliance}", treatment.verb()));
        }
        let destination = first_place_or_number_1(self.destination);
        final_actions.push(format!("go to {destination}"));
        if CONTAINERS.contains(&self.destination) {
            final_actions.push(format!("open {destination}"));
        }
        final_actions.push(format!("move {object} to {destination}"));
        // An object already at its destination need not be fetched from there.
        let others: Vec<&str> =
            places.iter().copied().filter(|p| type_of_name(p) != self.destination).collect();
        let max_searching = max_actions.saturating_sub(final_actions.len());
        let mut actions = plan_search(self.object, number, &others, trial, max_searching);
        actions.extend(final_actions);
        actions
    }
}

/// Plans to visit the places in turn and try to take the object at each, in at most `max_actions` actions. Every trial
/// starts at the place where the previous one stopped.
fn plan_search(object: &str, number: usize, places: &[&str], trial: u32, max_actions: usize) -> Vec<String> {
    let actions_at = |place: &&str| -> Vec<String> {
        let mut lines = vec![format!("go to {place}")];
        if CONTAINERS.contains(&type_of_name(place)) {
            lines.push(format!("open {place}"));
        }
        lines.push(format!("take {object} {number} from {place}"));
        lines
    };
    let (mut lines, mut next_place): (Vec<String>, usize) = (Vec::new(), 0);
    for _ in 0..trial.max(1) {
        lines.clear();
        let visits = places.iter().cycle().skip(next_place).take(places.len());
        for actions in visits.map(actions_at) {
            if lines.len() + actions.len() > max_actions {
                break;
            }
            lines.extend(actions);
            next_place = (next_place + 1) % places.len().max(1);
        }
    }
    lines
}

/// Returns the places that the first observation lists, in its order.
fn listed_places(observation: &str) -> Vec<&str> {
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\ban? ([a-z]+ \d+)").ok());
    let Some(name) = NAME.as_ref() else { return Vec::new() };
    name.captures_iter(observation).filter_map(|c| c.get(1)).map(|m| m.as_str()).collect()
}

/// Returns a name without its number.
fn type_of_name(name: &str) -> &str {
    name.split(' ').next().unwrap_or_default()
}
