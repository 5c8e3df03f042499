//! One decision: from the reading of a prompt to one line. Nothing outlives it.

use super::belief::{Belief, Event, Thing};
use super::dice::Dice;
use super::forms::{Form, Lessons};
use super::knowledge::{Habit, Knowledge};
use super::read::{Goal, Reading};
use super::text::{Name, Treatment, Wording};

/// Everything a decision looks at.
pub(super) struct RuleContext<'a> {
    pub(super) knowledge: &'static Knowledge,
    pub(super) reading: &'a Reading<'a>,
    pub(super) belief: Belief<'a>,
    pub(super) lessons: Lessons,
    pub(super) dice: Dice,
    /// Without slips and habits: how it acts when a person refused its first idea.
    pub(super) careful: bool,
}

impl<'a> RuleContext<'a> {
    /// The line it answers.
    pub(super) fn answer(&mut self) -> String {
        let first = self.propose();
        if !self.is_rejected(&first) {
            return first;
        }
        self.careful = true;
        let second = self.act();
        if !self.is_rejected(&second) {
            return second;
        }
        self.anything_else()
    }

    fn propose(&mut self) -> String {
        if self.reading.rejections.is_empty()
            && let Some(thought) = self.thought()
        {
            return thought;
        }
        self.act()
    }

    fn act(&mut self) -> String {
        if let Some(again) = self.repeats() {
            return again;
        }
        let line = self.plan();
        // Whoever was taught not to repeat what did nothing thinks again before the same line.
        let again = self.belief.last == Event::Failed && self.belief.failed == Some(line.as_str());
        if again && !self.careful && self.lessons.has(Form::NoRepeat) {
            self.careful = true;
            return self.plan();
        }
        line
    }

    fn plan(&self) -> String {
        // A take that fails for no reason it knows of: perhaps it holds something that the prompt no longer tells of.
        if self.belief.puzzled && !self.is_rejected("inventory") {
            return "inventory".to_owned();
        }
        match &self.reading.goal {
            Some(goal) if goal.look => self.to_light(goal),
            Some(goal) => self.to_place(goal),
            None => self.explore("").unwrap_or_else(|| "look".to_owned()),
        }
    }

    /// The habit shows now. `used` counts how often it has shown in this episode already.
    pub(super) fn slips(&self, habit: Habit, used: u32) -> bool {
        if self.careful || used >= self.patience(habit) || !self.has(habit) {
            return false;
        }
        let rate = self.knowledge.rate(habit);
        let each = if self.is_taught_against(habit) { rate.heeded } else { rate.each };
        each >= 1.0 || (each > 0.0 && self.dice.now(name_of(habit)) < each)
    }

    /// The actor has the habit in this episode.
    fn has(&self, habit: Habit) -> bool {
        self.dice.always(name_of(habit), 1) < self.knowledge.rate(habit).rate
    }

    /// How often the habit shows before it is given up.
    fn patience(&self, habit: Habit) -> u32 {
        let [least, most] = self.knowledge.rate(habit).patience;
        let span = most.saturating_sub(least) + 1;
        least + (self.dice.always(name_of(habit), 2) * f64::from(span)) as u32
    }

    /// A lesson in the prompt speaks against the habit, whatever the place or the verb.
    fn is_taught_against(&self, habit: Habit) -> bool {
        let form = match habit {
            Habit::HeatsElsewhere => Form::HeatOnly,
            Habit::CoolsElsewhere => Form::CoolOnly,
            Habit::CleansElsewhere => Form::CleanOnly,
            Habit::GrabsWithFullHands => Form::HandsFirst,
            Habit::OmitsNumbers => Form::Numbers,
            Habit::TakesLookAlikes | Habit::TakesOtherThings => Form::OnlyNamed,
            Habit::TreatsUnheld => Form::HoldFirst,
            Habit::LightsItWrongly => Form::Lamp,
            Habit::RepeatsFailures => Form::NoRepeat,
            Habit::GoesBack => Form::NoReturn,
            // These four depend on a place or a verb, and are asked about where that is known; a plan is asked about there too.
            Habit::PassesClosedDoors
            | Habit::ReachesThroughDoors
            | Habit::ActsFromAfar
            | Habit::ForgetsTreatment
            | Habit::LeavesItThere
            | Habit::NoPlan => return false,
        };
        self.lessons.has(form)
    }

    /// As [`RuleContext::slips`], for a habit whose lesson may name a kind of place.
    pub(super) fn slips_at(&self, habit: Habit, used: u32, form: Form, place: &str) -> bool {
        !self.lessons.has_for_place(form, place) && self.slips(habit, used)
    }

    /// As [`RuleContext::slips`], for a habit whose lesson may name a verb.
    pub(super) fn slips_with(&self, habit: Habit, used: u32, form: Form, what: Treatment) -> bool {
        !self.lessons.has_for_verb(form, what.verb()) && self.slips(habit, used)
    }

    fn repeats(&self) -> Option<String> {
        let line = self.belief.failed.filter(|line| self.belief.last == Event::Failed && !line.is_empty())?;
        let slip =
            self.belief.faults.in_a_row < 3 && self.slips(Habit::RepeatsFailures, self.belief.faults.repeats);
        slip.then(|| line.to_owned())
    }

    /// A thing of this kind serves the task, as far as the actor can tell.
    pub(super) fn serves(&self, goal: &Goal<'_>, kind: &str) -> bool {
        let refused = || {
            let belief = &self.belief;
            let at_target =
                |place: usize| belief.places.get(place).is_some_and(|p| p.name.kind == goal.target);
            belief.refused_puts.iter().filter(|(thing, at, _)| thing.kind == kind && at_target(*at)).count()
        };
        kind == goal.thing
            || (self.knowledge.alike(goal.thing, kind)
                && refused() < 2
                && self.slips(Habit::TakesLookAlikes, self.belief.faults.look_alikes))
    }

    /// A habit of failing was given up just now: worth a thought.
    pub(super) fn gave_up(&self) -> Option<Habit> {
        if self.belief.last != Event::Failed {
            return None;
        }
        let habit = self.belief.why?;
        let faults = &self.belief.faults;
        let used = match habit {
            Habit::HeatsElsewhere => faults.elsewhere(Treatment::Heat),
            Habit::CoolsElsewhere => faults.elsewhere(Treatment::Cool),
            Habit::CleansElsewhere => faults.elsewhere(Treatment::Clean),
            Habit::ReachesThroughDoors => faults.closed,
            Habit::GrabsWithFullHands => faults.full_hands,
            Habit::OmitsNumbers => faults.no_number,
            Habit::ActsFromAfar => faults.afar,
            _ => return None,
        };
        (used == self.patience(habit) && self.has(habit) && !self.is_taught_against(habit)).then_some(habit)
    }

    /// How this game puts things down: what worked, what a lesson says, what the world's words tell, the instruction.
    pub(super) fn wording(&self) -> Wording {
        let by_lesson = || {
            if self.lessons.has(Form::SayPut) {
                Some(Wording::Put)
            } else if self.lessons.has(Form::SayMove) {
                Some(Wording::Move)
            } else {
                None
            }
        };
        let by_world = || {
            self.reading.items.iter().find_map(|item| match item {
                super::read::Item::Did { answer, .. } if answer.starts_with("You arrive at ") => {
                    Some(if answer.starts_with("You arrive at loc ") { Wording::Put } else { Wording::Move })
                }
                _ => None,
            })
        };
        self.belief
            .wording
            .or_else(by_lesson)
            .or_else(by_world)
            .or(self.reading.wording)
            .unwrap_or(Wording::Move)
    }

    pub(super) fn is_rejected(&self, line: &str) -> bool {
        self.reading.rejections.iter().any(|text| rejects(text, line))
    }

    /// When plan and second thought were both refused: whatever is left.
    fn anything_else(&self) -> String {
        let open = self
            .belief
            .here
            .and_then(|here| self.belief.places.get(here))
            .map(|place| format!("open {}", place.name));
        let mut places: Vec<_> = self.belief.places.iter().collect();
        places.sort_by_key(|place| (place.searched, place.visits));
        open.into_iter()
            .chain(places.iter().map(|place| format!("go to {}", place.name)))
            .chain(["look", "inventory", "think: I do not know what else to try."].map(str::to_owned))
            .find(|line| !self.is_rejected(line))
            .unwrap_or_else(|| "look".to_owned())
    }

    /// The first thing that serves and is not where it belongs.
    pub(super) fn wanted(&self, goal: &Goal<'_>, is_done: impl Fn(&Thing<'_>) -> bool) -> Option<&Thing<'a>> {
        let belief = &self.belief;
        let rank = |thing: &&Thing<'_>| {
            let treated = goal.treatment.is_some_and(|what| thing.is_treated(what));
            let here = thing.at.is_some_and(|at| belief.is_here(at));
            (thing.name.kind != goal.thing, !treated, !here)
        };
        let tries = if self.lessons.has(Form::NoRepeat) { 1 } else { 2 };
        let open = |thing: &&Thing<'_>| thing.at.is_some() && thing.refused < tries && !is_done(thing);
        let exact = belief.things.iter().filter(|t| t.name.kind == goal.thing).filter(open).min_by_key(rank);
        exact.or_else(|| {
            belief.things.iter().filter(|t| self.serves(goal, t.name.kind)).filter(open).min_by_key(rank)
        })
    }

    /// A name as the actor writes it: with its number, or without when it slips.
    pub(super) fn named(&self, name: Name<'_>) -> String {
        if self.slips(Habit::OmitsNumbers, self.belief.faults.no_number) {
            name.kind.to_owned()
        } else {
            name.to_string()
        }
    }
}

/// A rejection speaks of this line: the part in quotes is the line, or there are no quotes and the line stands in it.
fn rejects(text: &str, line: &str) -> bool {
    let mut parts = text.split('"');
    match (parts.next(), parts.next()) {
        (Some(_), Some(quoted)) => quoted.trim() == line,
        _ => text.match_indices(line).any(|(at, _)| {
            !text[at + line.len()..].starts_with(|c: char| c.is_alphanumeric())
                && !text[..at].ends_with(|c: char| c.is_alphanumeric())
        }),
    }
}

fn name_of(habit: Habit) -> &'static str {
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
        Habit::LeavesItThere => "leaves it there",
        Habit::TreatsUnheld => "treats what it does not hold",
        Habit::LightsItWrongly => "lights it wrongly",
        Habit::RepeatsFailures => "repeats failures",
        Habit::GoesBack => "goes back",
        Habit::NoPlan => "no plan",
    }
}
