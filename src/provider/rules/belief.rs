//! What the actor believes about the room, rebuilt from the steps in the prompt: where it is, what it holds, what
//! stands where, and what went wrong how often.

mod failure;
mod success;

use super::knowledge::Habit;
use super::read::{Item, Reading};
use super::text::{Name, Treatment, Wording};

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
    /// Puts that failed although nothing seemed wrong: (thing, place, wording).
    pub(super) refused_puts: Vec<(Name<'a>, usize, Wording)>,
    /// The wording that worked.
    pub(super) wording: Option<Wording>,
    /// Number of items.
    pub(super) now: usize,
    /// Actions among them.
    pub(super) moves: u32,
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
            refused_puts: Vec::new(),
            wording: None,
            now: 0,
            moves: 0,
        };
        for item in &reading.items {
            belief.now += 1;
            match *item {
                Item::Thought(_) => {
                    belief.last = Event::Nothing;
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
