//! Tests of what the actor understands in a prompt.

use super::*;
use crate::stand_in::prompt_parser::{Goal, HistoryItem, parse_goal};
use crate::stand_in::vocabulary::{
    HouseholdAction, ObjectName, PutWording, parse_action, parse_list, strip_line_labels,
};

fn name(kind: &str, number: u32) -> ObjectName<'_> {
    ObjectName { kind, number }
}

#[test]
fn every_goal_sentence_is_understood() {
    let heat = Some(Treatment::Heat);
    let (cool, clean) = (Some(Treatment::Cool), Some(Treatment::Clean));
    let cases = [
        ("put a mug in coffeemachine.", "mug", "coffeemachine", None, false, false),
        ("put some keychain on shelf.", "keychain", "shelf", None, false, false),
        ("look at bowl under the desklamp.", "bowl", "desklamp", None, false, true),
        ("examine the book with the floorlamp.", "book", "floorlamp", None, false, true),
        ("put a clean pan in cabinet.", "pan", "cabinet", clean, false, false),
        ("clean some cloth and put it in toilet.", "cloth", "toilet", clean, false, false),
        ("put a hot apple in fridge.", "apple", "fridge", heat, false, false),
        ("heat some cup and put it in sidetable.", "cup", "sidetable", heat, false, false),
        ("put a cool pot in stoveburner.", "pot", "stoveburner", cool, false, false),
        ("cool some egg and put it in microwave.", "egg", "microwave", cool, false, false),
        ("put two pillow in sofa.", "pillow", "sofa", None, true, false),
        ("find two newspaper and put them in armchair.", "newspaper", "armchair", None, true, false),
    ];
    for (sentence, thing, target, treatment, two, look) in cases {
        assert_eq!(
            parse_goal(sentence),
            Some(Goal { thing, target, treatment, wants_two: two, under_lamp: look }),
            "{sentence}"
        );
    }
    assert_eq!(parse_goal("rest."), None);
}

#[test]
fn actions_are_parsed_in_both_wordings_and_with_any_label() {
    let cases = [
        ("> go to fridge 1\n", HouseholdAction::Go(name("fridge", 1))),
        ("take apple 2 from countertop 1", HouseholdAction::Take(name("apple", 2), name("countertop", 1))),
        ("> take apple from countertop 1", HouseholdAction::Take(name("apple", 0), name("countertop", 1))),
        ("move mug 1 to desk 2", HouseholdAction::Put(name("mug", 1), name("desk", 2), PutWording::Move)),
        ("put mug 1 in/on desk 2", HouseholdAction::Put(name("mug", 1), name("desk", 2), PutWording::Put)),
        ("[human edit]: open drawer 3", HouseholdAction::Open(name("drawer", 3))),
        (
            "Action: heat egg 1 with microwave 1",
            HouseholdAction::Treat(Treatment::Heat, name("egg", 1), name("microwave", 1)),
        ),
        ("use desklamp 1.", HouseholdAction::Use(name("desklamp", 1))),
        ("dance", HouseholdAction::Other),
        ("", HouseholdAction::Other),
    ];
    for (line, expected) in cases {
        assert_eq!(parse_action(strip_line_labels(line)), expected, "{line:?}");
    }
}

#[test]
fn lists_are_parsed() {
    let read = |text: &'static str| parse_list(text).collect::<Vec<_>>();
    assert_eq!(read("nothing"), []);
    assert_eq!(read("a mug 1"), [name("mug", 1)]);
    assert_eq!(read("a mug 1, and a cup 12"), [name("mug", 1), name("cup", 12)]);
}

const ROOM: &str = "You are in the middle of a room. Looking quickly around you, you see a countertop 1, a fridge 1, \
                    and a microwave 1.\n\nYour task is to: put a hot apple in fridge.";

#[test]
fn history_shows_place_hand_doors_and_contents() {
    for (arrive, put, answer) in [
        ("You arrive at fridge 1. ", "move egg 1 to fridge 1", "You move the egg 1 to the fridge 1."),
        ("You arrive at loc 7. ", "put egg 1 in/on fridge 1", "You put the egg 1 in/on the fridge 1."),
        ("", "put egg 1 in/on fridge 1", "You put the egg 1 in/on the fridge 1."),
    ] {
        let prompt = prompt(
            &[],
            ROOM,
            &[
                ("think: I find it.", "OK."),
                ("go to countertop 1", "On the countertop 1, you see a apple 1, and a egg 1."),
                ("take egg 1 from countertop 1", "You pick up the egg 1 from the countertop 1."),
                ("go to fridge 1", &format!("{arrive}The fridge 1 is closed.")),
                (put, "Nothing happens."),
                ("open fridge 1", "You open the fridge 1. The fridge 1 is open. In it, you see a apple 2."),
                (put, answer),
            ],
        );
        let parsed = parse_prompt(&prompt);
        let belief = Belief::from_prompt(&parsed);
        let fridge = belief.find_place(name("fridge", 1));
        assert_eq!(belief.current_place, fridge);
        assert!(belief.held_thing.is_none());
        let at = |thing: ObjectName<'_>| belief.things.iter().find(|t| t.name == thing).and_then(|t| t.place);
        assert_eq!(at(name("egg", 1)), fridge);
        assert_eq!(at(name("apple", 2)), fridge);
        assert_eq!(at(name("apple", 1)), belief.find_place(name("countertop", 1)));
        assert_eq!((belief.mistakes.reached_into_closed, belief.mistakes.unrelated_things), (1, 1), "{put}");
    }
}

#[test]
fn a_manual_edit_counts_as_an_action_of_the_actor() {
    let mut by_person = prompt(&[], ROOM, &[]);
    by_person.segments.insert(2, segment(SegmentLabel::HumanEdit, "[human edit]: go to countertop 1\n"));
    by_person
        .segments
        .insert(3, segment(SegmentLabel::Observation, "On the countertop 1, you see a apple 1.\n"));
    let own = prompt(&[], ROOM, &[("go to countertop 1", "On the countertop 1, you see a apple 1.")]);
    assert!(matches!(
        parse_prompt(&by_person).items[..],
        [HistoryItem::Action { action: HouseholdAction::Go(_), .. }]
    ));
    assert_eq!(answer(&by_person, 7), answer(&own, 7));
}

#[test]
fn old_games_get_the_old_wording() {
    let steps = |arrive: &'static str| {
        [
            ("think: I find it.".to_owned(), "OK.".to_owned()),
            ("go to countertop 1".to_owned(), format!("{arrive}On the countertop 1, you see a apple 1.")),
            (
                "take apple 1 from countertop 1".to_owned(),
                "You pick up the apple 1 from the countertop 1.".to_owned(),
            ),
            ("think: Now I put it.".to_owned(), "OK.".to_owned()),
            ("go to fridge 1".to_owned(), format!("{arrive}The fridge 1 is open. In it, you see nothing.")),
        ]
    };
    let room = ROOM.replace("a hot apple", "a apple");
    for (arrive, expected) in [
        ("You arrive at loc 3. ", "put apple 1 in/on fridge 1"),
        ("You arrive at fridge 1. ", "move apple 1 to fridge 1"),
    ] {
        let steps = steps(arrive);
        let steps: Vec<(&str, &str)> = steps.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let all = ["Use the number of every object and place.", "Go to a place before you act on it."];
        assert_eq!(answer(&prompt(&all, &room, &steps), 1), expected);
    }
}

#[test]
fn origins_and_message_roles_are_ignored() {
    let played = play(generate_game(Difficulty::Normal, 3), &[], 50);
    for (n, prompt) in played.prompts.iter().enumerate() {
        let mut other = prompt.clone();
        for (k, segment) in other.segments.iter_mut().enumerate() {
            segment.origin = SegmentOrigin::Step(k as u32);
            segment.message_role = MessageRole::Assistant;
        }
        assert_eq!(answer(prompt, n as u64), answer(&other, n as u64));
    }
}

#[test]
fn an_empty_action_in_the_history_is_not_repeated() {
    let prompt = prompt(&[], ROOM, &[("", "Nothing happens.")]);
    assert!((0..64).all(|seed| !answer(&prompt, seed).is_empty()));
}

proptest::proptest! {
    #[test]
    fn any_text_gets_one_line(texts in proptest::collection::vec((0_usize..14, "(?s).{0,60}|[a-z >:\\[\\].,0-9]{0,60}"), 0..12), seed: u64) {
        const LABELS: [SegmentLabel; 14] = [
            SegmentLabel::Instruction, SegmentLabel::Guidance, SegmentLabel::Abstract, SegmentLabel::Error, SegmentLabel::Progress, SegmentLabel::Memory, SegmentLabel::Example,
            SegmentLabel::Task, SegmentLabel::Thought, SegmentLabel::Action, SegmentLabel::Observation, SegmentLabel::HumanEdit, SegmentLabel::Rejection, SegmentLabel::Cue,
        ];
        let mut segments = vec![segment(SegmentLabel::Task, ROOM)];
        segments.extend(texts.iter().map(|(label, text)| segment(LABELS[*label], text)));
        let line = answer(&Prompt { segments }, seed);
        proptest::prop_assert!(!line.trim().is_empty() && line.lines().count() == 1, "{line:?}");
    }
}
