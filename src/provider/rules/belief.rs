//! What the actor believes about the room, rebuilt from the steps in the prompt: where it is, what it holds, what
//! stands where, and what went wrong how often.

use super::knowledge::Habit;
use super::read::{Item, Reading};
use super::text::{Act, Name, Treatment, Wording, list};

/// A place of the room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// Its name.
    pub(super) name: Name<'a>,
    /// What is known of its door.
    pub(super) door: Door,
    /// Its contents have been seen.
    pub(super) searched: bool,
    /// How often the actor went there.
    pub(super) visits: u32,
    /// When it was there last, counted in items of the history; 0: never.
    pub(super) last: usize,
    /// It has stood at the same spot as the place the actor was at.
    pub(super) beside: Option<usize>,
}

/// What is known of a place's door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    Unknown,
    Closed,
    Open,
    /// It has none.
    Without,
}

/// A thing that was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thing<'a> {
    /// Its name.
    pub(super) name: Name<'a>,
    /// Index of the place where it was seen last; none while held, or when it was not found there again.
    pub(super) at: Option<usize>,
    /// Where it was taken from.
    pub(super) from: Option<usize>,
    /// What was done to it: heated, cooled, cleaned.
    pub(super) treated: [bool; 3],
    /// Proper attempts to take it that failed.
    pub(super) refused: u32,
    /// How often its treatment failed at the right place.
    pub(super) unfit: u32,
    /// How often it was put at a place of the target's kind.
    pub(super) put_at_target: u32,
}

/// How often something failed, by what a looker-on would call the reason.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    pub(super) afar: u32,
    pub(super) closed: u32,
    pub(super) full_hands: u32,
    pub(super) no_number: u32,
    /// Treating what is not in the hand.
    pub(super) unheld: u32,
    /// Heat, cool, clean tried at a place that does not do it.
    pub(super) elsewhere: [u32; 3],
    /// An action that had failed was taken again at once.
    pub(super) repeats: u32,
    /// How often the last action has failed in a row.
    pub(super) in_a_row: u32,
    /// Going to a place that was searched, while searching.
    pub(super) went_back: u32,
    /// Passing a closed door.
    pub(super) passed: u32,
    /// Examining the thing, or asking for it in the goal's words.
    pub(super) examined: u32,
    /// Using a lamp with nothing in the hand.
    pub(super) bare_lamp: u32,
    /// Putting the thing down where the lamp is.
    pub(super) put_under_lamp: u32,
    /// Putting the treated thing into the place that treated it.
    pub(super) left_there: u32,
    /// Putting the thing at the target without the treatment.
    pub(super) untreated: u32,
    /// Putting something else at the target, or taking a look-alike.
    pub(super) look_alikes: u32,
    /// Taking something that the task does not name.
    pub(super) others: u32,
}

/// What kind of event the last item was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Start,
    Took,
    Treated,
    Placed,
    Lit,
    Failed,
    Nothing,
}

/// All that is believed.
#[derive(Debug)]
pub(super) struct Belief<'a> {
    pub(super) places: Vec<Place<'a>>,
    pub(super) things: Vec<Thing<'a>>,
    /// Index of the place the actor is at.
    pub(super) here: Option<usize>,
    /// Index of the thing it holds.
    pub(super) held: Option<usize>,
    pub(super) faults: Faults,
    /// What the last item brought.
    pub(super) last: Event,
    /// Why the last action failed, where a beginner's habit is the reason.
    pub(super) why: Option<Habit>,
    /// The last action was to take something, and nothing explains why it failed.
    pub(super) puzzled: bool,
    /// The last action, when it failed.
    pub(super) failed: Option<&'a str>,
    /// Index of the lamp that was used, and where.
    pub(super) lit: bool,
    /// Puts that failed although nothing seemed wrong: (thing, place, wording).
    pub(super) refused_puts: Vec<(Name<'a>, usize, Wording)>,
    /// The wording that worked.
    pub(super) wording: Option<Wording>,
    /// Number of items.
    pub(super) now: usize,
    /// Actions among them.
    pub(super) moves: u32,
    /// Thoughts among them.
    pub(super) thoughts: u32,
}

fn index(treatment: Treatment) -> usize {
    match treatment {
        Treatment::Heat => 0,
        Treatment::Cool => 1,
        Treatment::Clean => 2,
    }
}

impl<'a> Belief<'a> {
    /// Replays the history.
    pub(super) fn of(reading: &Reading<'a>) -> Self {
        let places = reading.places.iter().map(|name| Place::new(*name)).collect();
        let mut belief = Self {
            places,
            things: Vec::with_capacity(64),
            here: None,
            held: None,
            faults: Faults::default(),
            last: Event::Start,
            why: None,
            puzzled: false,
            failed: None,
            lit: false,
            refused_puts: Vec::new(),
            wording: None,
            now: 0,
            moves: 0,
            thoughts: 0,
        };
        for item in &reading.items {
            belief.now += 1;
            match *item {
                Item::Thought(_) => {
                    belief.last = Event::Nothing;
                    belief.thoughts += 1;
                }
                Item::Did { line, act, answer } => {
                    belief.moves += 1;
                    belief.last = Event::Nothing;
                    belief.puzzled = false;
                    if answer.starts_with("Nothing happens") || answer.is_empty() {
                        belief.failure(line, act, reading);
                    } else {
                        belief.failed = None;
                        belief.faults.in_a_row = 0;
                        belief.success(act, answer, reading);
                    }
                }
            }
        }
        belief
    }

    /// The place of this name.
    pub(super) fn place(&self, name: Name<'_>) -> Option<usize> {
        self.places.iter().position(|p| p.name.number == name.number && p.name.kind == name.kind)
    }

    /// The actor stands at this place, or at one that shares its spot.
    pub(super) fn is_here(&self, place: usize) -> bool {
        self.here == Some(place)
            || (self.here.is_some() && self.places.get(place).is_some_and(|p| p.beside == self.here))
    }

    /// The thing in the hand.
    pub(super) fn holding(&self) -> Option<&Thing<'a>> {
        self.held.and_then(|held| self.things.get(held))
    }

    fn thing(&mut self, name: Name<'a>) -> usize {
        let known = self.things.iter().position(|t| t.name.number == name.number && t.name.kind == name.kind);
        known.unwrap_or_else(|| {
            self.things.push(Thing {
                name,
                at: None,
                from: None,
                treated: [false; 3],
                refused: 0,
                unfit: 0,
                put_at_target: 0,
            });
            self.things.len() - 1
        })
    }

    fn known_place(&mut self, name: Name<'a>) -> usize {
        self.place(name).unwrap_or_else(|| {
            self.places.push(Place::new(name));
            self.places.len() - 1
        })
    }

    fn failure(&mut self, line: &'a str, act: Act<'a>, reading: &Reading<'a>) {
        if self.failed == Some(line) {
            self.faults.repeats += 1;
            self.faults.in_a_row += 1;
        } else {
            self.faults.in_a_row = 1;
        }
        self.failed = Some(line);
        self.last = Event::Failed;
        self.why = None;
        match act {
            Act::Go(name) => {
                if let (Some(there), Some(here)) = (self.place(name), self.here)
                    && there != here
                    && let Some(place) = self.places.get_mut(there)
                {
                    place.beside = Some(here);
                    place.visits += 1;
                    place.last = self.now;
                }
            }
            Act::Take(thing, from) => self.failed_take(thing, from),
            Act::Put(thing, to, wording) => self.failed_put(thing, to, wording, reading),
            Act::Treat(what, thing, with) => {
                let here = self.place(with).is_some_and(|p| self.is_here(p));
                if thing.number == 0 || with.number == 0 {
                    self.blame(Habit::OmitsNumbers);
                } else if self.held.is_none() {
                    self.blame(Habit::TreatsUnheld);
                } else if with.kind != what.place() {
                    self.blame(match what {
                        Treatment::Heat => Habit::HeatsElsewhere,
                        Treatment::Cool => Habit::CoolsElsewhere,
                        Treatment::Clean => Habit::CleansElsewhere,
                    });
                } else if !here {
                    self.blame(Habit::ActsFromAfar);
                } else {
                    let thing = self.thing(thing);
                    if let Some(thing) = self.things.get_mut(thing) {
                        thing.unfit += 1;
                    }
                }
            }
            Act::Use(name) => {
                if name.number == 0 {
                    self.blame(Habit::OmitsNumbers);
                } else {
                    self.blame(Habit::ActsFromAfar);
                }
            }
            Act::Open(_) => self.blame(Habit::ActsFromAfar),
            Act::Examine(name) => {
                if self.holding().is_some_and(|held| held.name == name) {
                    self.faults.examined += 1;
                }
            }
            // The goal's own words are no action: `examine mug 1 with desklamp 1`, `look at mug 1 under desklamp 1`.
            Act::Other => {
                let goal = reading.goal.as_ref().filter(|goal| goal.look);
                self.faults.examined += u32::from(goal.is_some_and(|g| line.contains(g.target)));
            }
            Act::Close(_) => {}
        }
    }

    /// Counts a failure for the habit that is its reason.
    fn blame(&mut self, habit: Habit) {
        self.why = Some(habit);
        let faults = &mut self.faults;
        let [heat, cool, clean] = &mut faults.elsewhere;
        let count = match habit {
            Habit::HeatsElsewhere => heat,
            Habit::CoolsElsewhere => cool,
            Habit::CleansElsewhere => clean,
            Habit::OmitsNumbers => &mut faults.no_number,
            Habit::ActsFromAfar => &mut faults.afar,
            Habit::ReachesThroughDoors => &mut faults.closed,
            Habit::GrabsWithFullHands => &mut faults.full_hands,
            Habit::TreatsUnheld => &mut faults.unheld,
            // The others bring no failure at once; their marks are counted where they are made.
            Habit::PassesClosedDoors
            | Habit::TakesLookAlikes
            | Habit::TakesOtherThings
            | Habit::ForgetsTreatment
            | Habit::LeavesItThere
            | Habit::LightsItWrongly
            | Habit::RepeatsFailures
            | Habit::GoesBack
            | Habit::NoPlan => return,
        };
        *count += 1;
    }

    fn failed_take(&mut self, thing: Name<'a>, from: Name<'a>) {
        let place = self.place(from);
        if thing.number == 0 || from.number == 0 {
            self.blame(Habit::OmitsNumbers);
        } else if self.held.is_some() {
            self.blame(Habit::GrabsWithFullHands);
        } else if !place.is_some_and(|p| self.is_here(p)) {
            self.blame(Habit::ActsFromAfar);
        } else if place.and_then(|p| self.places.get(p)).is_some_and(|p| p.door == Door::Closed) {
            self.blame(Habit::ReachesThroughDoors);
        } else {
            let thing = self.thing(thing);
            if let Some(thing) = self.things.get_mut(thing) {
                thing.refused += 1;
            }
            self.puzzled = true;
        }
    }

    fn failed_put(&mut self, thing: Name<'a>, to: Name<'a>, wording: Wording, reading: &Reading<'a>) {
        let place = self.place(to);
        if thing.number == 0 || to.number == 0 {
            self.blame(Habit::OmitsNumbers);
        } else if !place.is_some_and(|p| self.is_here(p)) {
            self.blame(Habit::ActsFromAfar);
        } else if place.and_then(|p| self.places.get(p)).is_some_and(|p| p.door == Door::Closed) {
            self.blame(Habit::ReachesThroughDoors);
        } else if let Some(place) = place {
            self.refused_puts.push((thing, place, wording));
            // A look-alike that the target does not take has shown that it does not count.
            let goal = reading.goal.as_ref();
            let alike = goal.is_some_and(|g| !g.look && g.target == to.kind && g.thing != thing.kind);
            self.faults.look_alikes += u32::from(alike);
        }
    }

    fn success(&mut self, act: Act<'a>, answer: &'a str, reading: &Reading<'a>) {
        let goal = reading.goal.as_ref();
        match act {
            Act::Go(name) => self.arrive(name),
            // The oldest games open without listing what is inside.
            Act::Open(name) => {
                let place = self.known_place(name);
                self.set_door(place, Door::Open);
            }
            Act::Examine(name) if self.place(name).is_some() => {}
            Act::Examine(name) => {
                if self.holding().is_some_and(|held| held.name == name) {
                    self.faults.examined += 1;
                }
            }
            Act::Close(name) => {
                let place = self.known_place(name);
                self.set_door(place, Door::Closed);
            }
            Act::Take(name, from) => self.took(name, from, goal.map_or("", |g| g.thing)),
            Act::Put(name, to, wording) => self.put(name, to, wording, reading),
            Act::Treat(what, name, _) => {
                let thing = self.thing(name);
                if let Some(thing) = self.things.get_mut(thing) {
                    let slot = index(what);
                    // What was heated is no longer cool, and the other way round; clean is for ever.
                    thing.treated = [slot == 0, slot == 1, slot == 2 || thing.treated[2]];
                    if slot == 2 {
                        thing.treated[2] = true;
                    }
                }
                self.last = Event::Treated;
            }
            Act::Use(_) => {
                self.lit = true;
                match self.holding().map(|held| goal.is_some_and(|g| g.thing == held.name.kind)) {
                    None => self.faults.bare_lamp += 1,
                    Some(wanted) => self.faults.look_alikes += u32::from(!wanted),
                }
                self.last = Event::Lit;
            }
            Act::Other => {}
        }
        self.look(answer);
    }

    fn arrive(&mut self, name: Name<'a>) {
        if let Some(left) = self.here.and_then(|here| self.places.get(here))
            && left.door == Door::Closed
            && !left.searched
        {
            self.faults.passed += 1;
        }
        let place = self.known_place(name);
        let now = self.now;
        if let Some(place) = self.places.get_mut(place) {
            if place.searched && self.held.is_none() {
                self.faults.went_back += 1;
            }
            place.visits += 1;
            place.last = now;
        }
        self.here = Some(place);
    }

    fn took(&mut self, name: Name<'a>, from: Name<'a>, wanted: &str) {
        if name.kind != wanted {
            self.faults.others += 1;
        }
        let from = self.place(from);
        let thing = self.thing(name);
        if let Some(thing) = self.things.get_mut(thing) {
            thing.at = None;
            thing.from = from;
        }
        self.held = Some(thing);
        self.last = Event::Took;
    }

    fn put(&mut self, name: Name<'a>, to: Name<'a>, wording: Wording, reading: &Reading<'a>) {
        let place = self.known_place(to);
        let thing = self.thing(name);
        self.wording = Some(wording);
        self.held = None;
        self.last = Event::Placed;
        let Some(thing) = self.things.get_mut(thing) else { return };
        thing.at = Some(place);
        let Some(goal) = reading.goal.as_ref() else { return };
        let treated = goal.treatment.is_none_or(|what| thing.treated.get(index(what)) == Some(&true));
        if goal.look {
            self.faults.put_under_lamp += 1;
        } else if to.kind == goal.target {
            thing.put_at_target += 1;
            self.faults.untreated += u32::from(name.kind == goal.thing && !treated);
            self.faults.look_alikes += u32::from(name.kind != goal.thing);
        } else if goal.treatment.is_some_and(|what| what.place() == to.kind) && treated {
            self.faults.left_there += 1;
        }
    }

    fn set_door(&mut self, place: usize, door: Door) {
        if let Some(place) = self.places.get_mut(place) {
            place.door = door;
        }
    }

    /// Takes up what an answer shows: doors and contents.
    fn look(&mut self, answer: &'a str) {
        for sentence in answer.split(['.', '\n']) {
            let sentence = sentence.trim();
            if let Some(rest) = sentence.strip_prefix("On the ")
                && let Some((place, things)) = rest.split_once(", you see ")
            {
                self.contents(place, things, Door::Without);
            } else if let Some(things) = sentence.strip_prefix("In it, you see ") {
                self.inside(things);
            } else if let Some(rest) = sentence.strip_prefix("The ") {
                if let Some(place) = rest.strip_suffix(" is closed").and_then(Name::read) {
                    let place = self.known_place(place);
                    self.set_door(place, Door::Closed);
                } else if let Some(place) = rest.strip_suffix(" is open").and_then(Name::read) {
                    let place = self.known_place(place);
                    self.set_door(place, Door::Open);
                    self.opened(place);
                }
            } else if let Some(things) = sentence.strip_prefix("You are carrying: ") {
                let thing = list(things).next().map(|name| self.thing(name));
                self.held = thing;
                if let Some(thing) = thing.and_then(|t| self.things.get_mut(t)) {
                    thing.at = None;
                }
            } else if sentence == "You are not carrying anything" {
                self.held = None;
            }
        }
    }

    /// Remembers which open place the next `In it` speaks of, by making it the most recent one.
    fn opened(&mut self, place: usize) {
        let now = self.now;
        if let Some(place) = self.places.get_mut(place) {
            place.last = now;
        }
    }

    fn inside(&mut self, things: &'a str) {
        let now = self.now;
        let place = self.places.iter().position(|p| p.last == now && p.door == Door::Open);
        if let Some(place) = place {
            self.fill(place, things);
        }
    }

    fn contents(&mut self, place: &'a str, things: &'a str, door: Door) {
        let Some(name) = Name::read(place) else { return };
        let place = self.known_place(name);
        self.set_door(place, door);
        self.fill(place, things);
    }

    fn fill(&mut self, place: usize, things: &'a str) {
        if let Some(place) = self.places.get_mut(place) {
            place.searched = true;
        }
        for thing in &mut self.things {
            if thing.at == Some(place) {
                thing.at = None;
            }
        }
        for name in list(things) {
            let thing = self.thing(name);
            if self.held != Some(thing)
                && let Some(thing) = self.things.get_mut(thing)
            {
                thing.at = Some(place);
            }
        }
    }
}

impl<'a> Place<'a> {
    fn new(name: Name<'a>) -> Self {
        Self { name, door: Door::Unknown, searched: false, visits: 0, last: 0, beside: None }
    }
}

impl Thing<'_> {
    /// It was heated, cooled or cleaned, as asked, and still is.
    pub(super) fn is_treated(&self, what: Treatment) -> bool {
        self.treated.get(index(what)) == Some(&true)
    }
}

impl Faults {
    /// Tries of a treatment at places that do not do it.
    pub(super) fn elsewhere(&self, what: Treatment) -> u32 {
        self.elsewhere.get(index(what)).copied().unwrap_or(0)
    }
}
