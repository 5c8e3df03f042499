//! What the actor believes about the room, rebuilt from the steps in the prompt: where it is, what it holds, where
//! things are, and how often each kind of mistake happened.

mod failure;
mod success;

use super::knowledge::Habit;
use super::prompt_parser::{HistoryItem, ParsedPrompt};
use super::vocabulary::{ObjectName, PutWording, Treatment};

/// A place in the room, such as a cabinet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) name: ObjectName<'a>,
    pub(super) door: Door,
    /// Whether its contents have been seen.
    pub(super) searched: bool,
    /// How often the actor went there.
    pub(super) visits: u32,
    /// The number of the history item at which the actor was last there; 0 means never.
    pub(super) last_visit: usize,
    /// Index of the place that turned out to be at the same location.
    pub(super) same_spot_as: Option<usize>,
}

/// What is known about a place's door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    Unknown,
    Closed,
    Open,
    /// The place has no door.
    Absent,
}

/// A thing that was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thing<'a> {
    pub(super) name: ObjectName<'a>,
    /// Index of the place where it was last seen; `None` while held, or if it was no longer found there.
    pub(super) place: Option<usize>,
    /// Index of the place it was taken from.
    pub(super) taken_from: Option<usize>,
    /// Whether it was heated, cooled and cleaned, in this order.
    pub(super) treated: [bool; 3],
    /// Number of failed attempts to take it that nothing explains.
    pub(super) failed_takes: u32,
    /// How often its treatment failed although the place was right.
    pub(super) failed_treatments: u32,
    /// How often it was put at a place of the target's kind.
    pub(super) times_put_at_target: u32,
}

/// Counts of mistakes, by apparent reason.
#[derive(Clone, Debug, Default)]
pub(super) struct MistakeCounts {
    pub(super) acted_from_afar: u32,
    pub(super) reached_into_closed: u32,
    pub(super) full_hands: u32,
    pub(super) missing_numbers: u32,
    /// Heating, cooling or cleaning something that was not held.
    pub(super) treated_unheld: u32,
    /// Heating, cooling and cleaning tried at a place that cannot do it.
    pub(super) wrong_places: [u32; 3],
    /// Repeating an action right after it failed.
    pub(super) repeated_failures: u32,
    /// Number of consecutive failures up to now.
    pub(super) failures_in_a_row: u32,
    /// Going back to a searched place while searching.
    pub(super) revisits: u32,
    /// Leaving a closed place without opening it.
    pub(super) passed_closed_doors: u32,
    /// Examining the thing, or repeating the goal's words as an action.
    pub(super) examined_thing: u32,
    /// Using a lamp with empty hands.
    pub(super) lamp_without_thing: u32,
    /// Putting the thing down where the lamp is.
    pub(super) put_under_lamp: u32,
    /// Putting the treated thing into the place that treated it.
    pub(super) left_at_appliance: u32,
    /// Putting the thing at the target untreated.
    pub(super) placed_untreated: u32,
    /// Putting something else at the target, or taking a look-alike.
    pub(super) wrong_things_handled: u32,
    /// Taking something that the task doesn't mention.
    pub(super) unrelated_things: u32,
}

/// What the last item of the history resulted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HistoryEvent {
    Start,
    Took,
    Treated,
    Placed,
    UsedLamp,
    Failed,
    Nothing,
}

/// Everything the actor believes.
#[derive(Debug)]
pub(super) struct Belief<'a> {
    pub(super) places: Vec<Place<'a>>,
    pub(super) things: Vec<Thing<'a>>,
    /// Index of the place the actor is at.
    pub(super) current_place: Option<usize>,
    /// Index of the thing it holds.
    pub(super) held_thing: Option<usize>,
    pub(super) mistakes: MistakeCounts,
    pub(super) last_event: HistoryEvent,
    /// The habit that made the last action fail, if one did.
    pub(super) failure_habit: Option<Habit>,
    /// Whether the last action failed to take something and nothing explains why.
    pub(super) has_unexplained_failure: bool,
    /// The last action, if it failed.
    pub(super) failed_action: Option<&'a str>,
    /// Attempts to put a thing down that failed for no known reason: (thing, place, wording).
    pub(super) failed_puts: Vec<(ObjectName<'a>, usize, PutWording)>,
    /// The wording that has worked for putting things down.
    pub(super) working_wording: Option<PutWording>,
    /// Number of history items.
    pub(super) current_item: usize,
    /// Number of actions among them.
    pub(super) moves: u32,
}

fn treatment_index(treatment: Treatment) -> usize {
    match treatment {
        Treatment::Heat => 0,
        Treatment::Cool => 1,
        Treatment::Clean => 2,
    }
}

impl<'a> Belief<'a> {
    /// Replays the history of a prompt.
    pub(super) fn from_prompt(parsed: &ParsedPrompt<'a>) -> Self {
        let places = parsed.places.iter().map(|name| Place::new(*name)).collect();
        let mut belief = Self {
            places,
            things: Vec::with_capacity(64),
            current_place: None,
            held_thing: None,
            mistakes: MistakeCounts::default(),
            last_event: HistoryEvent::Start,
            failure_habit: None,
            has_unexplained_failure: false,
            failed_action: None,
            failed_puts: Vec::new(),
            working_wording: None,
            current_item: 0,
            moves: 0,
        };
        for item in &parsed.items {
            belief.current_item += 1;
            match *item {
                HistoryItem::Thought(_) => {
                    belief.last_event = HistoryEvent::Nothing;
                }
                HistoryItem::Action { line, action, answer } => {
                    belief.moves += 1;
                    belief.last_event = HistoryEvent::Nothing;
                    belief.has_unexplained_failure = false;
                    if answer.starts_with("Nothing happens") || answer.is_empty() {
                        belief.record_failure(line, action, parsed);
                    } else {
                        belief.failed_action = None;
                        belief.mistakes.failures_in_a_row = 0;
                        belief.record_success(action, answer, parsed);
                    }
                }
            }
        }
        belief
    }

    /// Returns the index of the place with this name.
    pub(super) fn find_place(&self, name: ObjectName<'_>) -> Option<usize> {
        self.places.iter().position(|p| p.name.number == name.number && p.name.kind == name.kind)
    }

    /// Returns whether the actor is at this place, or at one that shares its location.
    pub(super) fn is_here(&self, place: usize) -> bool {
        self.current_place == Some(place)
            || (self.current_place.is_some()
                && self.places.get(place).is_some_and(|p| p.same_spot_as == self.current_place))
    }

    /// Returns the thing that the actor holds.
    pub(super) fn holding(&self) -> Option<&Thing<'a>> {
        self.held_thing.and_then(|held| self.things.get(held))
    }

    fn find_or_add_thing(&mut self, name: ObjectName<'a>) -> usize {
        let known = self.things.iter().position(|t| t.name.number == name.number && t.name.kind == name.kind);
        known.unwrap_or_else(|| {
            self.things.push(Thing {
                name,
                place: None,
                taken_from: None,
                treated: [false; 3],
                failed_takes: 0,
                failed_treatments: 0,
                times_put_at_target: 0,
            });
            self.things.len() - 1
        })
    }

    fn find_or_add_place(&mut self, name: ObjectName<'a>) -> usize {
        self.find_place(name).unwrap_or_else(|| {
            self.places.push(Place::new(name));
            self.places.len() - 1
        })
    }
}

impl<'a> Place<'a> {
    fn new(name: ObjectName<'a>) -> Self {
        Self { name, door: Door::Unknown, searched: false, visits: 0, last_visit: 0, same_spot_as: None }
    }
}

impl Thing<'_> {
    /// Returns whether this treatment has been applied and still holds.
    pub(super) fn is_treated(&self, treatment: Treatment) -> bool {
        self.treated.get(treatment_index(treatment)) == Some(&true)
    }
}

impl MistakeCounts {
    /// Returns how often a treatment was tried at places that cannot do it.
    pub(super) fn wrong_places(&self, treatment: Treatment) -> u32 {
        self.wrong_places.get(treatment_index(treatment)).copied().unwrap_or(0)
    }
}
