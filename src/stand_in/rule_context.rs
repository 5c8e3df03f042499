//! One decision: from a parsed prompt to one line. No state is kept between decisions.

use super::belief::{Belief, HistoryEvent, Thing};
use super::forms::{LessonForm, Lessons};
use super::knowledge::{Habit, Knowledge};
use super::prompt_parser::{Goal, ParsedPrompt};
use super::seeded_random::SeededRandom;
use super::vocabulary::{ObjectName, PutWording, Treatment};

/// Everything that a decision depends on.
pub(super) struct RuleContext<'a> {
    pub(super) knowledge: &'static Knowledge,
    pub(super) prompt: &'a ParsedPrompt<'a>,
    pub(super) belief: Belief<'a>,
    pub(super) lessons: Lessons,
    pub(super) random: SeededRandom,
    /// Whether habits are suppressed, as after a person rejected the first proposal.
    pub(super) without_habits: bool,
}

impl<'a> RuleContext<'a> {
    /// Returns the reply.
    pub(super) fn answer(&mut self) -> String {
        let first = self.propose();
        if !self.is_rejected(&first) {
            return first;
        }
        self.without_habits = true;
        let second = self.next_action();
        if !self.is_rejected(&second) {
            return second;
        }
        self.fallback_action()
    }

    fn propose(&mut self) -> String {
        if self.prompt.rejections.is_empty()
            && let Some(thought) = self.event_thought()
        {
            return thought;
        }
        self.next_action()
    }

    fn next_action(&mut self) -> String {
        if let Some(again) = self.repeat_failed_action() {
            return again;
        }
        let line = self.planned_action();
        // With a lesson against repeated failures, the actor reconsiders before it repeats a failed action.
        let again = self.belief.last_event == HistoryEvent::Failed
            && self.belief.failed_action == Some(line.as_str());
        if again && !self.without_habits && self.lessons.has_form(LessonForm::NoRepeat) {
            self.without_habits = true;
            return self.planned_action();
        }
        line
    }

    fn planned_action(&self) -> String {
        // Taking failed for no known reason: the actor may hold something that the prompt no longer shows.
        if self.belief.has_unexplained_failure && !self.is_rejected("inventory") {
            return "inventory".to_owned();
        }
        match &self.prompt.goal {
            Some(goal) if goal.under_lamp => self.examining_action(goal),
            Some(goal) => self.placing_action(goal),
            None => self.try_search("").unwrap_or_else(|| "look".to_owned()),
        }
    }

    /// Returns whether the habit shows now; `times_shown` is how often it has already shown in this episode.
    pub(super) fn shows_habit(&self, habit: Habit, times_shown: u32) -> bool {
        if self.without_habits || times_shown >= self.habit_limit(habit) || !self.has_habit(habit) {
            return false;
        }
        let rate = self.knowledge.habit_rate(habit);
        let chance = if self.is_taught_against(habit) { rate.chance_if_taught } else { rate.chance };
        chance >= 1.0 || (chance > 0.0 && self.random.draw_for_call(habit_name(habit)) < chance)
    }

    /// Returns whether the actor has the habit in this episode.
    fn has_habit(&self, habit: Habit) -> bool {
        self.random.draw_for_task(habit_name(habit), 1) < self.knowledge.habit_rate(habit).rate
    }

    /// Returns how often the habit shows before it is given up.
    fn habit_limit(&self, habit: Habit) -> u32 {
        let [min, max] = self.knowledge.habit_rate(habit).patience;
        let span = max.saturating_sub(min) + 1;
        min + (self.random.draw_for_task(habit_name(habit), 2) * f64::from(span)) as u32
    }

    /// Returns whether a lesson in the prompt is against the habit, whatever the place or the verb.
    fn is_taught_against(&self, habit: Habit) -> bool {
        let form = match habit {
            Habit::HeatsElsewhere => LessonForm::HeatOnly,
            Habit::CoolsElsewhere => LessonForm::CoolOnly,
            Habit::CleansElsewhere => LessonForm::CleanOnly,
            Habit::GrabsWithFullHands => LessonForm::HandsFirst,
            Habit::OmitsNumbers => LessonForm::Numbers,
            Habit::TakesLookAlikes | Habit::TakesOtherThings => LessonForm::OnlyNamed,
            Habit::TreatsUnheld => LessonForm::HoldFirst,
            Habit::MisusesLamp => LessonForm::Lamp,
            Habit::RepeatsFailures => LessonForm::NoRepeat,
            Habit::GoesBack => LessonForm::NoReturn,
            // The first five depend on a place or a verb and are checked where that is known; no lesson is against
            // the last.
            Habit::PassesClosedDoors
            | Habit::ReachesThroughDoors
            | Habit::ActsFromAfar
            | Habit::ForgetsTreatment
            | Habit::LeavesAtAppliance
            | Habit::NoPlan => return false,
        };
        self.lessons.has_form(form)
    }

    /// Like [`RuleContext::shows_habit`], for a habit whose lesson may name a kind of place.
    pub(super) fn shows_habit_at(
        &self,
        habit: Habit,
        times_shown: u32,
        form: LessonForm,
        place: &str,
    ) -> bool {
        !self.lessons.has_for_place(form, place) && self.shows_habit(habit, times_shown)
    }

    /// Like [`RuleContext::shows_habit`], for a habit whose lesson may name a verb.
    pub(super) fn shows_habit_for(
        &self,
        habit: Habit,
        times_shown: u32,
        form: LessonForm,
        treatment: Treatment,
    ) -> bool {
        !self.lessons.has_for_verb(form, treatment.verb()) && self.shows_habit(habit, times_shown)
    }

    fn repeat_failed_action(&self) -> Option<String> {
        let line = self
            .belief
            .failed_action
            .filter(|line| self.belief.last_event == HistoryEvent::Failed && !line.is_empty())?;
        let repeats = self.belief.mistakes.failures_in_a_row < 3
            && self.shows_habit(Habit::RepeatsFailures, self.belief.mistakes.repeated_failures);
        repeats.then(|| line.to_owned())
    }

    /// Returns whether the actor thinks that a thing of this kind serves the task.
    pub(super) fn is_useful(&self, goal: &Goal<'_>, kind: &str) -> bool {
        let refused = || {
            let belief = &self.belief;
            let at_target =
                |place: usize| belief.places.get(place).is_some_and(|p| p.name.kind == goal.target);
            belief.failed_puts.iter().filter(|(thing, at, _)| thing.kind == kind && at_target(*at)).count()
        };
        kind == goal.thing
            || (self.knowledge.is_look_alike(goal.thing, kind)
                && refused() < 2
                && self.shows_habit(Habit::TakesLookAlikes, self.belief.mistakes.wrong_things_handled))
    }

    /// Returns the habit that has just ended after a failure, for a thought about it.
    pub(super) fn habit_given_up(&self) -> Option<Habit> {
        if self.belief.last_event != HistoryEvent::Failed {
            return None;
        }
        let habit = self.belief.failure_habit?;
        let mistakes = &self.belief.mistakes;
        let times_shown = match habit {
            Habit::HeatsElsewhere => mistakes.wrong_places(Treatment::Heat),
            Habit::CoolsElsewhere => mistakes.wrong_places(Treatment::Cool),
            Habit::CleansElsewhere => mistakes.wrong_places(Treatment::Clean),
            Habit::ReachesThroughDoors => mistakes.reached_into_closed,
            Habit::GrabsWithFullHands => mistakes.full_hands,
            Habit::OmitsNumbers => mistakes.missing_numbers,
            Habit::ActsFromAfar => mistakes.acted_from_afar,
            _ => return None,
        };
        (times_shown == self.habit_limit(habit) && self.has_habit(habit) && !self.is_taught_against(habit))
            .then_some(habit)
    }

    /// Returns this game's wording for putting things down: what has worked, else what a lesson says, else what the
    /// observations suggest, else the instruction's.
    pub(super) fn wording(&self) -> PutWording {
        let by_lesson = || {
            if self.lessons.has_form(LessonForm::SayPut) {
                Some(PutWording::Put)
            } else if self.lessons.has_form(LessonForm::SayMove) {
                Some(PutWording::Move)
            } else {
                None
            }
        };
        let by_world = || {
            self.prompt.items.iter().find_map(|item| match item {
                super::prompt_parser::HistoryItem::Action { answer, .. }
                    if answer.starts_with("You arrive at ") =>
                {
                    Some(if answer.starts_with("You arrive at loc ") {
                        PutWording::Put
                    } else {
                        PutWording::Move
                    })
                }
                _ => None,
            })
        };
        self.belief
            .working_wording
            .or_else(by_lesson)
            .or_else(by_world)
            .or(self.prompt.wording)
            .unwrap_or(PutWording::Move)
    }

    pub(super) fn is_rejected(&self, line: &str) -> bool {
        self.prompt.rejections.iter().any(|text| is_rejection_of(text, line))
    }

    /// Returns some other action, for when the planned actions with and without habits were both rejected.
    fn fallback_action(&self) -> String {
        let open = self
            .belief
            .current_place
            .and_then(|here| self.belief.places.get(here))
            .map(|place| format!("open {}", place.name));
        let mut places: Vec<_> = self.belief.places.iter().collect();
        places.sort_by_key(|place| (place.searched, place.visits));
        open.into_iter()
            .chain(places.iter().map(|place| format!("go to {}", place.name)))
            .chain(["look", "inventory", "think: I don't know what else to try."].map(str::to_owned))
            .find(|line| !self.is_rejected(line))
            .unwrap_or_else(|| "look".to_owned())
    }

    /// Returns the best thing that serves the task and is not yet where it belongs.
    pub(super) fn find_wanted_thing(
        &self,
        goal: &Goal<'_>,
        is_done: impl Fn(&Thing<'_>) -> bool,
    ) -> Option<&Thing<'a>> {
        let belief = &self.belief;
        let rank = |thing: &&Thing<'_>| {
            let is_treated = goal.treatment.is_some_and(|treatment| thing.is_treated(treatment));
            let is_here = thing.place.is_some_and(|at| belief.is_here(at));
            (thing.name.kind != goal.thing, !is_treated, !is_here)
        };
        let tries = if self.lessons.has_form(LessonForm::NoRepeat) { 1 } else { 2 };
        let is_available =
            |thing: &&Thing<'_>| thing.place.is_some() && thing.failed_takes < tries && !is_done(thing);
        let exact =
            belief.things.iter().filter(|t| t.name.kind == goal.thing).filter(is_available).min_by_key(rank);
        exact.or_else(|| {
            belief
                .things
                .iter()
                .filter(|t| self.is_useful(goal, t.name.kind))
                .filter(is_available)
                .min_by_key(rank)
        })
    }

    /// Returns a name as the actor writes it: with its number, or without if the habit shows.
    pub(super) fn format_name(&self, name: ObjectName<'_>) -> String {
        if self.shows_habit(Habit::OmitsNumbers, self.belief.mistakes.missing_numbers) {
            name.kind.to_owned()
        } else {
            name.to_string()
        }
    }
}

/// Returns whether a rejection is about this line: its quoted part is the line, or it has no quotes and contains the
/// line.
fn is_rejection_of(text: &str, line: &str) -> bool {
    let mut parts = text.split('"');
    match (parts.next(), parts.next()) {
        (Some(_), Some(quoted)) => quoted.trim() == line,
        _ => text.match_indices(line).any(|(at, _)| {
            !text[at + line.len()..].starts_with(|c: char| c.is_alphanumeric())
                && !text[..at].ends_with(|c: char| c.is_alphanumeric())
        }),
    }
}

fn habit_name(habit: Habit) -> &'static str {
    match habit {
        Habit::HeatsElsewhere => "heats elsewhere",
        Habit::CoolsElsewhere => "cools elsewhere",
        Habit::CleansElsewhere => "cleans elsewhere",
        Habit::PassesClosedDoors => "passes closed doors",
        Habit::ReachesThroughDoors => "reaches through doors",
        Habit::GrabsWithFullHands => "grabs with full hands",
        Habit::OmitsNumbers => "omits numbers",
        Habit::ActsFromAfar => "acts from afar",
        Habit::TakesLookAlikes => "takes look-alikes",
        Habit::TakesOtherThings => "takes other things",
        Habit::ForgetsTreatment => "forgets the treatment",
        Habit::LeavesAtAppliance => "leaves it there",
        Habit::TreatsUnheld => "treats what it does not hold",
        Habit::MisusesLamp => "lights it wrongly",
        Habit::RepeatsFailures => "repeats failures",
        Habit::GoesBack => "goes back",
        Habit::NoPlan => "no plan",
    }
}
