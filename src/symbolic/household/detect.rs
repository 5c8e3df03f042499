//! The detectors of the household environments. Each examines the last step, what was known before it ([`Situation`]) and the tallies of earlier
//! notes. The cost depends on the texts of the step, not on the length of the episode. No detector reads `truth`.

use super::failure;
use super::situation::Situation;
use super::{CIRCLE_VISITS, CIRCLE_WINDOW};
use crate::domain::{Note, NoteKind, Observation, Step};
use crate::engine::{Episode, State};
use crate::symbolic::evidence::evidence_text;
use crate::symbolic::goal::{Goal, Subgoal};
use crate::symbolic::parsing::{
    Door, NOTHING_HAPPENS, ParsedAction, ParsedObservation, parse_action, parse_observation, type_of_name,
};

/// Returns the notes of an answered step in a household.
pub(super) fn detect(state: &State, episode: &Episode, step: &Step, answer: &Observation) -> Vec<Note> {
    let executed = step.executed.as_ref();
    let action = executed.map_or("", |e| e.sent.as_deref().unwrap_or(&e.action)).trim();
    let mut detector = StepDetector {
        state,
        episode,
        step,
        action,
        text: answer.raw.trim(),
        parsed_action: parse_action(action),
        parsed_observation: parse_observation(answer.raw.trim()),
        goal: Goal::parse(&episode.task.goal),
        previous: Situation::from_episode(episode),
        notes: Vec::new(),
    };
    // The rule `agentboard.check` answers a request for the action list without a step of the environment.
    let requests_action_list =
        executed.is_some_and(|e| e.rewrite_rule.as_ref().is_some_and(|r| r.contains("check")));
    if (!answer.valid || detector.text == NOTHING_HAPPENS) && !requests_action_list {
        detector.detect_failure();
    } else {
        detector.detect_effects();
    }
    detector.detect_repeats(answer.valid && detector.text != NOTHING_HAPPENS);
    detector.notes
}

struct StepDetector<'a> {
    state: &'a State,
    episode: &'a Episode,
    step: &'a Step,
    action: &'a str,
    text: &'a str,
    parsed_action: ParsedAction,
    parsed_observation: ParsedObservation,
    goal: Option<Goal>,
    previous: Situation,
    notes: Vec<Note>,
}

impl StepDetector<'_> {
    fn add_note(&mut self, detector: &str, kind: NoteKind, parts: &[(&str, &str)]) {
        let parts = parts.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let evidence = evidence_text(self.action, self.text);
        self.notes.push(Note { detector: detector.to_owned(), kind, evidence, parts });
    }

    fn add_mistake(&mut self, detector: &str, parts: &[(&str, &str)]) {
        self.add_note(detector, NoteKind::Mistake, parts);
    }

    fn detect_failure(&mut self) {
        let (reason, parts) = failure::failure_reason(self.episode, &self.parsed_action, &self.previous);
        self.add_mistake("nothing_happened", &[("why", reason), ("action", self.action)]);
        let evidence = evidence_text(self.action, self.text);
        self.notes.push(Note { detector: reason.to_owned(), kind: NoteKind::Mistake, evidence, parts });
    }

    fn detect_effects(&mut self) {
        let now = self.previous.after_step(
            &self.parsed_action,
            &self.parsed_observation,
            self.goal.as_ref(),
            self.step.number,
        );
        if now != self.previous {
            self.notes.push(now.to_note(evidence_text(self.action, self.text)));
        }
        if let Some(goal) = self.goal.clone() {
            self.detect_subgoals(&goal, &now);
            self.detect_wrong_actions(&goal, &now);
            self.detect_search(&goal, &now);
        } else if self.episode.progress_step == self.step.number && self.episode.progress > 0.0 {
            self.add_note("progress", NoteKind::Progress, &[]);
        }
    }

    /// Detects the sub-goals that this step reached, in order; one answer may reach several.
    fn detect_subgoals(&mut self, goal: &Goal, now: &Situation) {
        let subgoals = goal.subgoals();
        let mut reached = reached_subgoals(self.episode);
        // One answer reports one move, which counts for only one of the sub-goals `Taken` and `Placed`.
        let mut is_move_counted = false;
        while let Some(subgoal) = subgoals.get(reached) {
            let is_reached = match subgoal {
                Subgoal::Seen => {
                    let held = self
                        .parsed_observation
                        .taken
                        .as_ref()
                        .is_some_and(|(o, _)| type_of_name(o) == goal.object());
                    held || now.unplaced_target().is_some()
                }
                Subgoal::Taken => {
                    !is_move_counted
                        && type_of_name(&now.held) == goal.object()
                        && self.parsed_observation.taken.is_some()
                }
                Subgoal::Treated(how) => self
                    .parsed_observation
                    .treated
                    .as_ref()
                    .is_some_and(|(h, o, _)| h == how && type_of_name(o) == goal.object()),
                Subgoal::Placed => {
                    let put = self.parsed_observation.placed.as_ref();
                    !is_move_counted && put.is_some_and(|(o, p)| now.is_wanted_placement(goal, o, p))
                }
                Subgoal::LampSeen => now.lamp.is_some(),
                Subgoal::LampUsed => now.is_examining(goal),
            };
            if !is_reached {
                break;
            }
            is_move_counted |= matches!(subgoal, Subgoal::Taken | Subgoal::Placed);
            reached += 1;
            let (position, total) = (reached.to_string(), subgoals.len().to_string());
            let parts =
                [("name", subgoal.name()), ("reached", &position), ("of", &total), ("object", goal.object())];
            self.add_note("subgoal", NoteKind::Progress, &parts);
        }
    }

    /// Detects actions that the environment accepts but that don't serve the goal.
    fn detect_wrong_actions(&mut self, goal: &Goal, now: &Situation) {
        let observation = self.parsed_observation.clone();
        if let Some((object, place)) = &observation.taken {
            if type_of_name(object) != goal.object() {
                self.add_mistake(
                    "wrong_object",
                    &[("object", type_of_name(object)), ("wanted", goal.object())],
                );
            } else if self.previous.placed.contains(object) {
                self.add_mistake(
                    "took_back",
                    &[("object", type_of_name(object)), ("place", type_of_name(place))],
                );
            }
        }
        if let Some((how, object, place)) = &observation.treated
            && type_of_name(object) == goal.object()
        {
            if goal.treatment() == Some(*how) {
                self.add_note(
                    "treated",
                    NoteKind::Fact,
                    &[("how", how.verb()), ("place", type_of_name(place))],
                );
            } else {
                self.add_mistake("wrong_treatment", &[("how", how.verb()), ("object", type_of_name(object))]);
            }
        }
        if let Some((object, place)) = &observation.placed
            && type_of_name(object) == goal.object()
            && goal.destination() == Some(type_of_name(place))
            && let Some(how) = goal.treatment()
            && !now.is_wanted_placement(goal, object, place)
        {
            let parts =
                [("how", how.verb()), ("object", type_of_name(object)), ("place", type_of_name(place))];
            self.add_mistake("placed_untreated", &parts);
        }
        if let (ParsedAction::Examine(object), Some(_)) = (&self.parsed_action, goal.lamp())
            && type_of_name(object) == goal.object()
            && !now.is_examining(goal)
        {
            self.add_mistake("examined_without_lamp", &[("object", goal.object())]);
        }
        if let Some(lamp) = &observation.lamp_switched_on
            && goal.lamp() == Some(type_of_name(lamp))
        {
            if type_of_name(&now.held) == goal.object() {
                // Despite its name, this detector notes that the goal's object is in hand, not the lamp.
                self.add_note("lamp_in_hand", NoteKind::Fact, &[("lamp", type_of_name(lamp))]);
            } else {
                self.add_mistake(
                    "lamp_without_object",
                    &[("lamp", type_of_name(lamp)), ("object", goal.object())],
                );
            }
        }
    }

    /// Detects what happens while the agent searches: it finds a target, leaves a closed container unopened, leaves a
    /// target behind or searches a place again.
    fn detect_search(&mut self, goal: &Goal, now: &Situation) {
        let before = self.previous.clone();
        if before.seen_objects.is_empty()
            && let Some((object, place)) = now.seen_objects.iter().next()
            && self.parsed_observation.taken.is_none()
        {
            let (object, place) = (type_of_name(object).to_owned(), type_of_name(place).to_owned());
            let door = if now.door == Door::Open { "open" } else { "" };
            self.add_note("found", NoteKind::Fact, &[("object", &object), ("place", &place), ("door", door)]);
        }
        let ParsedAction::GoTo(place) = self.parsed_action.clone() else { return };
        if before.location.is_empty() {
            return;
        }
        let left_place = type_of_name(&before.location).to_owned();
        if before.is_searching(goal) && before.door == Door::Closed {
            self.add_mistake("left_closed", &[("place", &left_place)]);
        }
        let leaves_target = before.unplaced_target().is_some()
            && before.seen_objects.iter().any(|(o, p)| *p == before.location && !before.placed.contains(o));
        if before.held.is_empty() && leaves_target {
            self.add_mistake("left_target", &[("place", &left_place), ("object", goal.object())]);
        }
        let visits = self
            .episode
            .action_counts
            .get(self.step.action().unwrap_or_default())
            .map_or(0, |(count, _)| *count);
        if visits > 1 && now.is_searching(goal) && now.door != Door::Closed {
            self.add_mistake("searched_again", &[("place", type_of_name(&place))]);
        }
    }

    /// Detects repeated actions and going in circles.
    fn detect_repeats(&mut self, had_effect: bool) {
        let (count, number) = (
            self.episode.action_counts.get(self.step.action().unwrap_or_default()).map_or(0, |a| a.0),
            self.step.number,
        );
        let times = count.to_string();
        let is_repeated = u64::from(count) >= self.state.settings().repeat_after;
        let last = self.episode.note_tallies.get("nothing_happened").map(|t| &t.last.parts);
        let failed_before = last.and_then(|p| p.get("action")).is_some_and(|a| a == self.action);
        let previous = number.checked_sub(1).and_then(|n| self.episode.step(n));
        let same_as_previous = previous
            .and_then(Step::action)
            .is_some_and(|a| a.trim() == self.step.action().unwrap_or_default().trim());
        let counts_as_repeat = if had_effect { same_as_previous } else { failed_before || count > 2 };
        if is_repeated && counts_as_repeat {
            self.add_mistake("repeat", &[("action", self.action), ("times", &times)]);
            return;
        }
        let made_progress = self.notes.iter().any(|n| n.kind == NoteKind::Progress);
        let last_step_of = |name: &str| self.episode.note_tallies.get(name).map_or(0, |t| t.last_step);
        let steps_without_progress = number
            - last_step_of("subgoal")
                .max(last_step_of("progress"))
                .max(self.episode.progress_step)
                .min(number);
        let window = self.state.setting(CIRCLE_WINDOW);
        let visits = self.state.setting(CIRCLE_VISITS);
        let last_circling = last_step_of("circling");
        let can_note_circling = last_circling == 0 || u64::from(number - last_circling.min(number)) >= window;
        if !made_progress
            && can_note_circling
            && u64::from(count) >= visits
            && u64::from(steps_without_progress) >= window
            && !matches!(self.parsed_action, ParsedAction::AlwaysAccepted)
        {
            self.add_mistake("circling", &[("action", self.action), ("times", &times)]);
        }
    }
}

/// Returns how many sub-goals have been reached.
pub(super) fn reached_subgoals(episode: &Episode) -> usize {
    let last = episode.note_tallies.get("subgoal").and_then(|t| t.last.parts.get("reached"));
    last.and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Returns the situation after the last step, for the lesson rules.
pub(super) fn current_situation(episode: &Episode) -> Situation {
    Situation::from_episode(episode)
}
