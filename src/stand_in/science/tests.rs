//! Tests of the actor in ScienceWorld, on made-up prompts.

use super::super::tests::{answer, prompt, segment};
use super::*;
use crate::domain::SegmentLabel;
use goal::Target;

const KITCHEN: &str = "This room is called the kitchen. In it, you see: \n\tthe agent\n\ta substance called air\n\ta cupboard. The cupboard door is closed. \n\ta glass jar (containing a substance called lead)\n\tan orange box (containing nothing)\nYou also see:\n\tA door to the hallway (that is closed)\n\tA door to the outside (that is open)";
const BOIL: &str = "Your task is to boil lead. For compounds without a boiling point, combusting the substance is also acceptable. First, focus on the substance. Then, take actions that will cause it to change its state of matter.";

/// Returns the actor's reply after some actions and their answers.
fn reply_after(lessons: &[&str], goal: &str, steps: &[(&str, &str)]) -> String {
    let mut prompt = prompt(lessons, &format!("{KITCHEN}\n{goal}"), &[]);
    let cue = prompt.segments.pop().unwrap();
    for (action, seen) in steps {
        prompt.segments.push(segment(SegmentLabel::Action, &format!("> {action}\n")));
        prompt.segments.push(segment(SegmentLabel::Observation, &format!("{seen}\n")));
    }
    prompt.segments.push(cue);
    answer(&prompt, 7)
}

#[test]
fn goals_are_understood_as_far_as_possible() {
    let parse = |goal: &str| ScienceGoal::parse(&format!("{KITCHEN}\n{goal}"));
    let boil = parse(BOIL);
    assert_eq!((boil.sentence.as_str(), boil.wanted), ("boil lead.", vec![Wanted::Named("lead".to_owned())]));
    let find = parse(
        "Your task is to find a(n) living thing. First, focus on the thing. Then, move it to the orange box in the living room.",
    );
    let target = Target { name: "orange box".to_owned(), room: Some("living room".to_owned()) };
    assert_eq!((find.wanted, find.target), (vec![Wanted::Living], Some(target)));
    let measure = parse(
        "Your task is to measure the temperature of sodium chloride, which is located around the bathroom. First, focus on the thermometer. Next, focus on the sodium chloride. If the sodium chloride temperature is above 100.0 degrees celsius, place it in the green box. The boxes are located around the bedroom.",
    );
    assert_eq!(measure.wanted, ["thermometer", "sodium chloride"].map(|name| Wanted::Named(name.to_owned())));
    assert_eq!(
        measure.target,
        Some(Target { name: "green box".to_owned(), room: Some("bedroom".to_owned()) })
    );
    assert_eq!(measure.rooms, ["bathroom", "bedroom"]);
    let age = parse(
        "Your task is to find the animal with the longest life span. The animals are located in the outside location. Focus on the animal with the longest life span.",
    );
    assert_eq!(age.wanted, [Wanted::Animal]);
    assert_eq!(parse("Do something."), ScienceGoal::default());
}

#[test]
fn it_looks_for_what_the_goal_names_and_focuses_on_it() {
    let calm = ["Focus only on what the task names.", "Open a door before you go through it."];
    assert!(reply_after(&calm, BOIL, &[]).starts_with("think: I have to boil lead."));
    let first = ("think: I'll look.", "OK.");
    assert_eq!(reply_after(&calm, BOIL, &[first]), "focus on lead");
    assert_eq!(
        reply_after(&calm, BOIL, &[first, ("focus on lead", "No known action matches that input.")]),
        "open cupboard"
    );
    let opened = ("open cupboard", "The cupboard is now open.");
    let focused = ("focus on lead", "You focus on the lead.");
    assert_eq!(reply_after(&calm, BOIL, &[focused, opened]), "look around");
    let looked = ("look around", KITCHEN);
    assert_eq!(reply_after(&calm, BOIL, &[focused, opened, looked]), "open door to hallway");
    let through =
        [("open door to hallway", "The door is now open."), ("go to hallway", "You move to the hallway.")];
    assert_eq!(reply_after(&calm, BOIL, &[focused, opened, looked, through[0]]), "go to hallway");
    assert_eq!(reply_after(&calm, BOIL, &[focused, opened, looked, through[0], through[1]]), "look around");
    let question = (
        "focus on lead",
        "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n0:\tx",
    );
    assert_eq!(reply_after(&calm, BOIL, &[question]), "0");
}

#[test]
fn it_brings_the_thing_to_the_box() {
    let goal = "Your task is to find a(n) non-living thing. First, focus on the thing. Then, move it to the orange box in the kitchen.";
    let calm = ["Focus only on what the task names.", "Open a door before you go through it."];
    let focused = ("focus on axe", "You focus on the axe.");
    assert_eq!(reply_after(&calm, goal, &[focused]), "pick up axe");
    let taken = ("pick up axe", "You move the axe to the inventory.");
    assert_eq!(reply_after(&calm, goal, &[focused, taken]), "move axe to orange box");
}

#[test]
fn habits_end_with_their_lessons() {
    let lessons: BTreeMap<&str, &str> = [
        ("walks_into_doors", "Open a door before you go through it."),
        ("focuses_on_anything", "Focus only on what the task names, and only when you have found it."),
    ]
    .into();
    assert_eq!(
        HABITS.keys().map(String::as_str).collect::<Vec<_>>(),
        lessons.keys().copied().collect::<Vec<_>>()
    );
    for (name, lesson) in lessons {
        let shown = |lessons: &[&str]| {
            (0..200_u64)
                .filter(|seed| {
                    let prompt = prompt(lessons, &format!("{KITCHEN}\n{BOIL} {seed}"), &[]);
                    let random = SeededRandom::new(&seed.to_string(), *seed, 0);
                    HABITS[name].is_shown(name, 0, &prompt, &random)
                })
                .count()
        };
        assert!(shown(&[]) > 10, "{name}");
        assert_eq!(shown(&[lesson]), 0, "{name}");
    }
}
