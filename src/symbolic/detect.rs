//! The detectors. Each looks at the last step, at what is known from before ([`Situation`]) and at the tallies; the work
//! is bounded by the texts of the step, not by the length of the episode. None of them sees `truth`.

use super::evidence::{evidence, short};
use super::failure;
use super::goal::{Goal, Rung};
use super::planning;
use super::situation::Situation;
use super::thresholds::{CIRCLE_VISITS, CIRCLE_WINDOW, REPEAT_AFTER};
use super::words::{Door, NOTHING, ParsedAction, ParsedObservation, act, kind, said};
use crate::domain::{Note, NoteKind, Step};
use crate::engine::{Episode, State};
use std::collections::BTreeMap;

/// What the detectors find in the last step of the open episode; empty where it has no answer or only thinks.
pub fn detect(state: &State) -> Vec<Note> {
    let Some(episode) = state.open_episode() else { return Vec::new() };
    let Some((step, answer)) = episode.last_step().and_then(|s| Some((s, s.answer.as_ref()?))) else {
        return Vec::new();
    };
    if step.is_thought_only() {
        return only_thoughts(episode, step);
    }
    if super::grid::is_grid(episode) {
        return super::grid::detect(state, episode, step, answer.raw.trim());
    }
    if episode.task.env == planning::ENV {
        return planning::detect(state, episode, step, answer);
    }
    let executed = step.executed.as_ref();
    let action = executed.map_or("", |e| e.sent.as_deref().unwrap_or(&e.action)).trim();
    let mut look = Look {
        state,
        episode,
        step,
        action,
        text: answer.raw.trim(),
        act: act(action),
        said: said(answer.raw.trim()),
        goal: Goal::read(&episode.task.goal),
        before: Situation::of(episode),
        notes: Vec::new(),
    };
    let lists = executed.is_some_and(|e| e.rule.as_ref().is_some_and(|r| r.contains("check")));
    if (!answer.valid || look.text == NOTHING) && !lists {
        look.nothing_happened();
    } else {
        look.something_happened();
    }
    look.repeats(answer.valid && look.text != NOTHING);
    look.notes
}

struct Look<'a> {
    state: &'a State,
    episode: &'a Episode,
    step: &'a Step,
    action: &'a str,
    text: &'a str,
    act: ParsedAction,
    said: ParsedObservation,
    goal: Option<Goal>,
    before: Situation,
    notes: Vec<Note>,
}

impl Look<'_> {
    fn note(&mut self, detector: &str, kind: NoteKind, parts: &[(&str, &str)]) {
        let parts = parts.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let evidence = evidence(self.action, self.text);
        self.notes.push(Note { detector: detector.to_owned(), kind, evidence, parts });
    }

    fn mistake(&mut self, detector: &str, parts: &[(&str, &str)]) {
        self.note(detector, NoteKind::Mistake, parts);
    }

    fn nothing_happened(&mut self) {
        let (why, parts) = failure::why(self.episode, &self.act, &self.before);
        self.mistake("nothing_happened", &[("why", why), ("action", self.action)]);
        let evidence = evidence(self.action, self.text);
        self.notes.push(Note { detector: why.to_owned(), kind: NoteKind::Mistake, evidence, parts });
    }

    fn something_happened(&mut self) {
        let now = self.before.after(&self.act, &self.said, self.goal.as_ref(), self.step.number);
        if now != self.before {
            self.notes.push(now.note(evidence(self.action, self.text)));
        }
        if let Some(goal) = self.goal.clone() {
            self.subgoals(&goal, &now);
            self.wrong_moves(&goal, &now);
            self.search(&goal, &now);
        } else if self.episode.progress_step == self.step.number && self.episode.progress > 0.0 {
            self.note("progress", NoteKind::Progress, &[]);
        }
    }

    /// The rungs of the ladder that this step reached, in order; one answer may reach several.
    fn subgoals(&mut self, goal: &Goal, now: &Situation) {
        let ladder = goal.ladder();
        let mut reached = reached(self.episode);
        let mut used = false;
        while let Some(rung) = ladder.get(reached) {
            let hit = match rung {
                Rung::Seen => {
                    let held = self.said.took.as_ref().is_some_and(|(o, _)| kind(o) == goal.object());
                    held || now.open_target().is_some()
                }
                Rung::Taken => !used && kind(&now.hand) == goal.object() && self.said.took.is_some(),
                Rung::Treated(how) => {
                    self.said.treated.as_ref().is_some_and(|(h, o, _)| h == how && kind(o) == goal.object())
                }
                Rung::Placed => {
                    let put = self.said.put.as_ref();
                    !used && put.is_some_and(|(o, p)| now.fulfils(goal, o, p))
                }
                Rung::LampSeen => now.lamp.is_some(),
                Rung::LampUsed => now.examines(goal),
            };
            if !hit {
                break;
            }
            used |= matches!(rung, Rung::Taken | Rung::Placed);
            reached += 1;
            let (at, of) = (reached.to_string(), ladder.len().to_string());
            let parts = [("name", rung.name()), ("reached", &at), ("of", &of), ("object", goal.object())];
            self.note("subgoal", NoteKind::Progress, &parts);
        }
    }

    /// Moves that the world accepts and the goal does not want.
    fn wrong_moves(&mut self, goal: &Goal, now: &Situation) {
        let said = self.said.clone();
        if let Some((object, place)) = &said.took {
            if kind(object) != goal.object() {
                self.mistake("wrong_object", &[("object", kind(object)), ("wanted", goal.object())]);
            } else if self.before.placed.contains(object) {
                self.mistake("took_back", &[("object", kind(object)), ("place", kind(place))]);
            }
        }
        if let Some((how, object, place)) = &said.treated
            && kind(object) == goal.object()
        {
            if goal.treatment() == Some(*how) {
                self.note("treated", NoteKind::Fact, &[("how", how.verb()), ("place", kind(place))]);
            } else {
                self.mistake("wrong_treatment", &[("how", how.verb()), ("object", kind(object))]);
            }
        }
        if let Some((object, place)) = &said.put
            && kind(object) == goal.object()
            && goal.target() == Some(kind(place))
            && let Some(how) = goal.treatment()
            && !now.fulfils(goal, object, place)
        {
            let parts = [("how", how.verb()), ("object", kind(object)), ("place", kind(place))];
            self.mistake("placed_untreated", &parts);
        }
        if let (ParsedAction::Examine(what), Some(_)) = (&self.act, goal.lamp())
            && kind(what) == goal.object()
            && !now.examines(goal)
        {
            self.mistake("examined_without_lamp", &[("object", goal.object())]);
        }
        if let Some(lamp) = &said.lit
            && goal.lamp() == Some(kind(lamp))
        {
            if kind(&now.hand) == goal.object() {
                self.note("lamp_in_hand", NoteKind::Fact, &[("lamp", kind(lamp))]);
            } else {
                self.mistake("lamp_without_object", &[("lamp", kind(lamp)), ("object", goal.object())]);
            }
        }
    }

    /// How the search goes: where things are found, and where it was left or done twice.
    fn search(&mut self, goal: &Goal, now: &Situation) {
        let before = self.before.clone();
        if before.targets.is_empty()
            && let Some((object, place)) = now.targets.iter().next()
            && self.said.took.is_none()
        {
            let (object, place) = (kind(object).to_owned(), kind(place).to_owned());
            let door = if now.door == Door::Open { "open" } else { "" };
            self.note("found", NoteKind::Fact, &[("object", &object), ("place", &place), ("door", door)]);
        }
        let ParsedAction::GoTo(place) = self.act.clone() else { return };
        if before.at.is_empty() {
            return;
        }
        let left = kind(&before.at).to_owned();
        if before.searching(goal) && before.door == Door::Closed {
            self.mistake("left_closed", &[("place", &left)]);
        }
        let lies_there = before.open_target().is_some()
            && before.targets.iter().any(|(o, p)| *p == before.at && !before.placed.contains(o));
        if before.hand.is_empty() && lies_there {
            self.mistake("left_target", &[("place", &left), ("object", goal.object())]);
        }
        let visits = self
            .episode
            .action_counts
            .get(self.step.action().unwrap_or_default())
            .map_or(0, |(count, _)| *count);
        if visits > 1 && now.searching(goal) && now.door != Door::Closed {
            self.mistake("searched_again", &[("place", kind(&place))]);
        }
    }

    /// The same again, and going in circles.
    fn repeats(&mut self, happened: bool) {
        let (count, number) = (
            self.episode.action_counts.get(self.step.action().unwrap_or_default()).map_or(0, |a| a.0),
            self.step.number,
        );
        let times = count.to_string();
        let again = u64::from(count) >= self.state.setting_number("repeat_after", REPEAT_AFTER);
        let last = self.episode.note_tallies.get("nothing_happened").map(|t| &t.last.parts);
        let failed_before = last.and_then(|p| p.get("action")).is_some_and(|a| a == self.action);
        let just_before = number.checked_sub(1).and_then(|n| self.episode.step(n));
        let twice = just_before
            .and_then(Step::action)
            .is_some_and(|a| a.trim() == self.step.action().unwrap_or_default().trim());
        if again && ((!happened && (failed_before || count > 2)) || (happened && twice)) {
            self.mistake("repeat", &[("action", self.action), ("times", &times)]);
            return;
        }
        let reached = self.notes.iter().any(|n| n.kind == NoteKind::Progress);
        let step_of = |name: &str| self.episode.note_tallies.get(name).map_or(0, |t| t.last_step);
        let since =
            number - step_of("subgoal").max(step_of("progress")).max(self.episode.progress_step).min(number);
        let window = self.state.setting_number("circle_window", CIRCLE_WINDOW);
        let visits = self.state.setting_number("circle_visits", CIRCLE_VISITS);
        let fresh = step_of("circling") == 0 || u64::from(number - step_of("circling").min(number)) >= window;
        if !reached
            && fresh
            && u64::from(count) >= visits
            && u64::from(since) >= window
            && !matches!(self.act, ParsedAction::Plain)
        {
            self.mistake("circling", &[("action", self.action), ("times", &times)]);
        }
    }
}

/// How many rungs of the ladder are reached.
pub(super) fn reached(episode: &Episode) -> usize {
    let last = episode.note_tallies.get("subgoal").and_then(|t| t.last.parts.get("reached"));
    last.and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Three thoughts in a row, after which AgentBoard's own agent is told to act (methods.md 3.1).
fn only_thoughts(episode: &Episode, step: &Step) -> Vec<Note> {
    let thinks = |back: u32| {
        step.number.checked_sub(back).and_then(|n| episode.step(n)).is_some_and(Step::is_thought_only)
    };
    let fourth = thinks(3);
    if !(thinks(1) && thinks(2)) || fourth {
        return Vec::new();
    }
    let said = step.action().unwrap_or_default();
    vec![Note {
        detector: "only_thoughts".to_owned(),
        kind: NoteKind::Mistake,
        evidence: short(said),
        parts: BTreeMap::new(),
    }]
}

/// The situation after the last step, for rules that speak of it.
pub(super) fn known(episode: &Episode) -> Situation {
    Situation::of(episode)
}
