//! One test for each quirk of the Python stack, in the small kitchen.

use super::{commands_starting_with, kitchen, kitchen_with, play_accepted};
use crate::env::alfworld::World;

#[test]
fn the_intro_lists_places_by_id_so_that_numbers_descend() {
    let mut world = kitchen();
    let intro = world.restart().unwrap();
    assert_eq!(
        intro,
        "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see a cabinet 2, \
         a cabinet 1, a countertop 1, a drawer 1, a fridge 1, a microwave 1, and a sinkbasin 1.\n\nYour task is to: put a hot apple in fridge."
    );
}

#[test]
fn look_in_the_middle_of_the_room_shows_nothing() {
    let text = play_accepted(&mut kitchen(), &["look"]);
    assert_eq!(text, "You are in the middle of a room. Looking quickly around you, you see nothing.");
}

#[test]
fn go_to_is_not_offered_for_the_current_place_or_its_neighbours() {
    let mut world = kitchen();
    play_accepted(&mut world, &["go to countertop 1"]);
    let commands = commands_starting_with(&world, "go to ");
    assert!(!commands.contains(&"go to countertop 1".to_owned()));
    assert!(!commands.contains(&"go to sinkbasin 1".to_owned()));
    assert_eq!(commands.len(), 5);
}

#[test]
fn only_places_here_and_the_held_object_can_be_examined() {
    let mut world = kitchen();
    play_accepted(&mut world, &["go to countertop 1"]);
    assert_eq!(commands_starting_with(&world, "examine "), ["examine countertop 1", "examine sinkbasin 1"]);
    // The first id has the highest number: Apple_bar_1 is apple 2.
    play_accepted(&mut world, &["take apple 2 from countertop 1"]);
    assert_eq!(play_accepted(&mut world, &["examine apple 2"]), "There's nothing special about apple 2.");
}

#[test]
fn an_object_in_two_places_is_still_listed_in_the_other_while_held() {
    let mut world = kitchen();
    let text =
        play_accepted(&mut world, &["go to countertop 1", "take mug 2 from countertop 1", "go to cabinet 1"]);
    // Cabinet_bar_2 is cabinet 1, which cannot be opened.
    assert_eq!(text, "You arrive at cabinet 1. On the cabinet 1, you see a mug 2.");
}

#[test]
fn look_lists_an_object_moved_between_neighbours_once_per_place_it_left() {
    let mut world = kitchen();
    assert_eq!(
        play_accepted(&mut world, &["go to countertop 1", "look"]),
        "You are facing the countertop 1, and sinkbasin 1. Next to it, you see nothing."
    );
    let moved = ["take apple 2 from countertop 1", "move apple 2 to sinkbasin 1", "look"];
    assert!(play_accepted(&mut world, &moved).ends_with("Next to it, you see a apple 2."));
    let back = ["take apple 2 from sinkbasin 1", "move apple 2 to countertop 1", "look"];
    assert!(
        play_accepted(&mut world, &back).ends_with("Next to it, you see a apple 2."),
        "it has left the sinkbasin"
    );
    // Cabinet 2, cabinet 1 and the drawer share a location: an object taken from two of them is listed twice.
    let mut world = kitchen();
    let twice = [
        "go to cabinet 2",
        "open cabinet 2",
        "take mug 1 from cabinet 2",
        "move mug 1 to cabinet 1",
        "take mug 1 from cabinet 1",
        "move mug 1 to drawer 1",
        "look",
    ];
    assert!(play_accepted(&mut world, &twice).ends_with("Next to it, you see a mug 1, and a mug 1."));
}

#[test]
fn lists_have_a_comma_before_and_even_with_two_items() {
    let text = play_accepted(&mut kitchen(), &["go to fridge 1", "open fridge 1"]);
    assert_eq!(text, "You open the fridge 1. The fridge 1 is open. In it, you see a apple 1.");
    let text = play_accepted(&mut kitchen(), &["go to countertop 1"]);
    assert_eq!(
        text,
        "You arrive at countertop 1. On the countertop 1, you see a apple 2, a houseplant 1, a knife 1, and a mug 2."
    );
}

#[test]
fn closed_places_show_nothing_and_offer_nothing_to_take() {
    let mut world = kitchen();
    assert_eq!(
        play_accepted(&mut world, &["go to fridge 1"]),
        "You arrive at fridge 1. The fridge 1 is closed."
    );
    assert_eq!(commands_starting_with(&world, "take "), [""; 0]);
    assert_eq!(play_accepted(&mut world, &["open fridge 1", "close fridge 1"]), "You close the fridge 1.");
}

#[test]
fn hot_and_cold_replace_each_other_and_clean_remains() {
    let mut world = kitchen();
    let cool = ["go to fridge 1", "open fridge 1", "take apple 1 from fridge 1", "examine apple 1"];
    assert_eq!(play_accepted(&mut world, &cool), "This is a cold apple 1.");
    let heat = [
        "go to microwave 1",
        "heat apple 1 with microwave 1",
        "heat apple 1 with microwave 1",
        "examine apple 1",
    ];
    assert_eq!(play_accepted(&mut world, &heat), "This is a hot apple 1.");
    let clean = ["go to sinkbasin 1", "clean apple 1 with sinkbasin 1", "examine apple 1"];
    assert_eq!(play_accepted(&mut world, &clean), "This is a hot and clean apple 1.");
    let cool = ["go to fridge 1", "cool apple 1 with fridge 1", "examine apple 1"];
    assert_eq!(play_accepted(&mut world, &cool), "This is a clean apple 1.");
}

#[test]
fn using_a_lamp_again_still_turns_it_on() {
    let mut world = kitchen();
    let lamp = ["go to drawer 1", "use desklamp 1", "use desklamp 1"];
    assert_eq!(play_accepted(&mut world, &lamp), "You turn on the desklamp 1.");
}

#[test]
fn winning_can_be_undone_and_play_continues() {
    let mut world = kitchen();
    play_accepted(
        &mut world,
        &[
            "go to fridge 1",
            "open fridge 1",
            "take apple 1 from fridge 1",
            "go to microwave 1",
            "heat apple 1 with microwave 1",
            "go to fridge 1",
        ],
    );
    assert!(!world.is_won());
    play_accepted(&mut world, &["move apple 1 to fridge 1"]);
    assert!(world.is_won());
    play_accepted(&mut world, &["look", "take apple 1 from fridge 1"]);
    assert!(!world.is_won());
    assert_eq!(world.inventory().collect::<Vec<_>>(), ["apple 1"]);
}

#[test]
fn commands_are_stripped_as_in_python_and_then_compared_exactly() {
    let mut world = kitchen();
    for command in [" look ", "\u{3000}look\u{a0}", "\u{1c}look\u{1f}", "\u{85}look\r\n", "look\t"] {
        assert!(world.play(command).unwrap().accepted, "{command:?}");
    }
    for command in ["", " ", "Look", "look.", "go to  fridge 1", "look\u{200b}", "go to loc 1", "xyzzy"] {
        let reply = world.play(command).unwrap();
        assert_eq!((reply.feedback, reply.accepted), ("Nothing happens.", false), "{command:?}");
    }
}

#[test]
fn texts_lose_leading_white_space_and_keep_trailing_white_space() {
    assert_eq!(play_accepted(&mut kitchen(), &["help"]), "Available commands:\n  look: look around\n");
}

#[test]
fn in_the_old_wording_the_agent_arrives_at_locations() {
    let game = kitchen_with(&[
        ("You arrive at {r.name}.", "You arrive at {lend.name}."),
        ("move {o} to {r}", "put {o} in/on {r}"),
    ]);
    let mut world = World::new(game, None).unwrap();
    // loc_bar_2_bar_0 is the third of five.
    assert_eq!(
        play_accepted(&mut world, &["go to fridge 1"]),
        "You arrive at loc 3. The fridge 1 is closed."
    );
    assert_eq!(
        play_accepted(
            &mut world,
            &["go to countertop 1", "take knife 1 from countertop 1", "put knife 1 in/on countertop 1"]
        ),
        "You move the knife 1 to the countertop 1."
    );
}

#[test]
fn fixed_objects_are_listed_but_appear_in_no_command() {
    let mut world = kitchen();
    assert!(play_accepted(&mut world, &["go to countertop 1"]).contains("a houseplant 1"));
    assert!(!world.commands().any(|command| command.contains("houseplant")));
}

#[test]
fn an_object_that_contains_objects_is_always_described_as_normal() {
    let mut world = kitchen();
    let text = play_accepted(&mut world, &["go to cabinet 1", "take mug 2 from cabinet 1", "examine mug 2"]);
    assert_eq!(text, "This is a normal mug 2. In it, you see a egg 1.");
}

#[test]
fn slicing_needs_a_held_knife_and_an_object_within_reach() {
    let mut world = kitchen();
    play_accepted(&mut world, &["go to countertop 1"]);
    assert_eq!(commands_starting_with(&world, "slice "), [""; 0]);
    play_accepted(&mut world, &["take knife 1 from countertop 1"]);
    assert_eq!(commands_starting_with(&world, "slice "), ["slice apple 2 with knife 1"]);
    assert_eq!(
        play_accepted(&mut world, &["slice apple 2 with knife 1"]),
        "You sliced the apple 2 with the knife 1."
    );
}

#[test]
fn in_the_oldest_domain_only_one_place_can_be_open() {
    let game = kitchen_with(&[(
        "(receptacleAtLocation ?r ?l) (not (opened ?r)))",
        "(receptacleAtLocation ?r ?l) (forall (?re - receptacle) (not (opened ?re))))",
    )]);
    let mut world = World::new(game, None).unwrap();
    play_accepted(&mut world, &["go to fridge 1", "open fridge 1", "go to microwave 1"]);
    assert_eq!(commands_starting_with(&world, "open "), [""; 0]);
    play_accepted(&mut world, &["go to fridge 1", "close fridge 1", "go to microwave 1"]);
    assert_eq!(commands_starting_with(&world, "open "), ["open microwave 1"]);
}

#[test]
fn command_texts_follow_the_changing_facts_they_mention() {
    let game = kitchen_with(&[(
        "template :: \"use {o}\"",
        "template :: \"[{o.name | istoggled(o:object)}] {o} again\"",
    )]);
    let mut world = World::new(game, None).unwrap();
    play_accepted(&mut world, &["go to drawer 1"]);
    assert_eq!(commands_starting_with(&world, "nothing"), ["nothing desklamp 1 again"]);
    play_accepted(&mut world, &["nothing desklamp 1 again"]);
    assert_eq!(commands_starting_with(&world, "desklamp"), ["desklamp 1 desklamp 1 again"]);
    let saved = world.save_state();
    play_accepted(&mut world, &["desklamp 1 desklamp 1 again"]);
    world.restart().unwrap();
    assert_eq!(commands_starting_with(&world, "desklamp"), [""; 0]);
    world.restore_state(&saved).unwrap();
    assert_eq!(commands_starting_with(&world, "desklamp"), ["desklamp 1 desklamp 1 again"]);
}
