//! The sentences of symbolic reflections (`docs/LESSON_FORMS.md`). Abstract and Error sentences name only types;
//! Progress may name numbered objects.

use super::situation::Situation;
use crate::domain::{LessonText, Note, Scope};
use crate::symbolic::common_lessons;
use crate::symbolic::environment_rules::LessonTemplate;
use crate::symbolic::goal::{Goal, Treatment};
use crate::symbolic::parsing::type_of_name;

/// Returns what a note teaches about the environment in general.
pub(super) fn abstract_lessons(note: &Note) -> Vec<LessonTemplate> {
    let part = |name: &str| note.parts.get(name).map_or("", String::as_str);
    let plain = |rule: String, scope, text: String| (rule, scope, LessonText::plain(text));
    match note.detector.as_str() {
        "found" => {
            let (object, place) = (part("object"), part("place"));
            let mut lessons = vec![plain(
                format!("abstract.found.{object}.{place}"),
                Scope::Environment,
                format!("Look for {} in/on {} first.", with_article(object), with_article(place)),
            )];
            if part("door") == "open" {
                let text = "Look inside closed containers too.".to_owned();
                lessons.push(plain("abstract.inside".to_owned(), Scope::Environment, text));
            }
            lessons
        }
        "treated" => {
            let how = part("how");
            let text = format!("After you {how} it, put it in/on the target.");
            vec![plain(format!("abstract.after.{how}"), Scope::TaskType, text)]
        }
        "lamp_in_hand" => {
            vec![plain("abstract.lamp".to_owned(), Scope::TaskType, LAMP_SENTENCE.to_owned())]
        }
        _ => Vec::new(),
    }
}

/// Returns the mistake a note shows, and what to do instead.
pub(super) fn error_lessons(note: &Note) -> Vec<LessonTemplate> {
    let part = |name: &str| note.parts.get(name).map_or("", String::as_str);
    let detector = note.detector.as_str();
    let how = Treatment::from_word(part("how"));
    let mut rule = format!("error.{detector}");
    let (mistake, solution) = match detector {
        "not_at_place" => (
            "Tried to act on a place without being there.".to_owned(),
            "Go to a place before you act on it.".to_owned(),
        ),
        "container_closed" => (
            "Tried to take from or put into a closed container.".to_owned(),
            "Open a closed container before you take something from it or put something in it.".to_owned(),
        ),
        "hand_full" => (
            "Tried to take an object while holding another.".to_owned(),
            "Put down what you are holding before you take another object.".to_owned(),
        ),
        "number_missing" => (
            "Left out the number of an object or place.".to_owned(),
            "Use the number of every object and place.".to_owned(),
        ),
        "wrong_appliance" => {
            let Some(how) = how else { return Vec::new() };
            rule = format!("{rule}.{}", how.verb());
            (
                format!("Tried to {} something with {}.", how.verb(), with_article(part("place"))),
                appliance_sentence(how),
            )
        }
        "not_holding" if how.is_some() => (
            "Tried to heat, cool or clean an object without holding it.".to_owned(),
            "Take the object before you heat, cool or clean it.".to_owned(),
        ),
        "wrong_form" => {
            let (used, form) = match part("said") {
                "put" => ("put", "move OBJECT to PLACE"),
                _ => ("move", "put OBJECT in/on PLACE"),
            };
            (
                format!("Used \"{used}\", which this household does not understand."),
                format!("Use \"{form}\" to put something down."),
            )
        }
        "unknown_action" => (
            "Used an action that does not exist here.".to_owned(),
            "Use only the listed actions, worded exactly as in the list.".to_owned(),
        ),
        "unknown_place" => (
            "Tried to go to a place that does not exist here.".to_owned(),
            "Go only to places that the first observation lists.".to_owned(),
        ),
        "already_there" => (
            "Tried to go to the place where the agent already was.".to_owned(),
            "If you are already at the place, act right away.".to_owned(),
        ),
        "object_not_here" => (
            "Tried to take or use an object that was not there.".to_owned(),
            "Take only what you can see at the place where you are.".to_owned(),
        ),
        "does_not_fit" => (
            format!(
                "Tried to put {} in/on {}, which does not accept it.",
                with_article(part("object")),
                with_article(part("place"))
            ),
            "Put it in/on another kind of place.".to_owned(),
        ),
        "circling" | "searched_again" => {
            "error.searched_again".clone_into(&mut rule);
            (
                "Went back to places that had already been searched.".to_owned(),
                "Do not go back to a place you have already searched.".to_owned(),
            )
        }
        "left_closed" => (
            "Left a closed container without looking inside.".to_owned(),
            "Look inside closed containers too.".to_owned(),
        ),
        "left_target" => (
            "Left a place where an object the task mentions was in sight.".to_owned(),
            "Take the object the task mentions as soon as you see it.".to_owned(),
        ),
        "wrong_object" => (
            "Picked up an object the task doesn't mention.".to_owned(),
            "Take only the object the task mentions.".to_owned(),
        ),
        "wrong_treatment" => (
            "Heated, cooled or cleaned an object although the task doesn't ask for it.".to_owned(),
            "Heat, cool or clean an object only if the task asks for it.".to_owned(),
        ),
        "placed_untreated" => {
            let Some(how) = how else { return Vec::new() };
            rule = format!("{rule}.{}", how.verb());
            ("Put the object in its place before it was ready.".to_owned(), treat_first_sentence(how))
        }
        "examined_without_lamp" => {
            ("Looked at the object without using the lamp.".to_owned(), LAMP_SENTENCE.to_owned())
        }
        "lamp_without_object" => {
            ("Used the lamp without holding the object.".to_owned(), LAMP_SENTENCE.to_owned())
        }
        _ => return common_lessons::error_lessons(note),
    };
    vec![(rule, Scope::Environment, LessonText::error(mistake, solution))]
}

const LAMP_SENTENCE: &str = "To examine something in the light, carry it to a lamp and use the lamp.";

/// Returns a type's name with its indefinite article.
pub(super) fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {name}")
}

fn treat_first_sentence(treatment: Treatment) -> String {
    match treatment {
        Treatment::Heat => "Heat it before you put it in/on the target.",
        Treatment::Cool => "Cool it before you put it in/on the target.",
        Treatment::Clean => "Clean it before you put it in/on the target.",
    }
    .to_owned()
}

fn appliance_sentence(treatment: Treatment) -> String {
    match treatment {
        Treatment::Heat => "Only a microwave can heat things.",
        Treatment::Cool => "Only a fridge can cool things.",
        Treatment::Clean => "Only a sinkbasin can clean things.",
    }
    .to_owned()
}

/// Returns the current state of the task and the next action. Returns `None` if nothing is known yet.
pub(super) fn progress_text(goal: &Goal, known: &Situation) -> Option<String> {
    let object = goal.object();
    let held = known.held.as_str();
    let mut sentences = Vec::new();
    if let (Some(destination), false) = (goal.destination(), known.placed.is_empty()) {
        let verb = if known.placed.len() == 1 { "is" } else { "are" };
        sentences.push(format!("{} {verb} in/on the {destination}.", known.placed.join(" and ")));
    }
    if !held.is_empty() && type_of_name(held) != object {
        sentences.push(format!("You are holding {held}, which the task doesn't mention. Next: put it down."));
    } else if !held.is_empty() {
        let treated = known.treated.iter().any(|t| t == held);
        match (goal.treatment(), goal.destination(), goal.lamp()) {
            (Some(how), ..) if !treated => {
                let (verb, appliance) = (how.verb(), with_article(how.appliance()));
                sentences.push(format!("You are holding {held}. Next: {verb} it with {appliance}."));
            }
            (Some(how), Some(destination), _) => {
                let (verb, destination) = (how.verb(), with_article(destination));
                sentences.push(format!("You have {verb}ed {held}. Next: put it in/on {destination}."));
            }
            (None, Some(destination), _) => {
                let destination = with_article(destination);
                sentences.push(format!("You are holding {held}. Next: put it in/on {destination}."));
            }
            (_, _, Some(lamp)) => sentences.push(match &known.lamp {
                Some((lamp, place)) => format!("You are holding {held}. Next: go to {place} and use {lamp}."),
                None => format!("You are holding {held}. Next: look for {}.", with_article(lamp)),
            }),
            _ => {}
        }
    } else if let Some((found, place)) = known.unplaced_target() {
        sentences.push(format!("You have seen {found} in/on {place}. Next: take {found} from {place}."));
    } else if !sentences.is_empty() || !known.location.is_empty() {
        sentences.push(format!("Next: look for {}.", with_article(object)));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}
