//! Tests of the PDDL environment's quirks. `tests/golden/pddl.rs` has the golden traces.

mod files;
mod generated;
mod prompts;

use super::{Game, GoalSeparator, ObservationScope, ProblemSource, World};
use crate::env::EnvError;
use std::sync::Arc;

pub(super) fn load_game(domain: &str, problem: &str) -> Result<Arc<Game>, EnvError> {
    Game::load(&ProblemSource {
        domain_label: "d.pddl",
        domain: domain.as_bytes(),
        problem_label: "p.pddl",
        problem: problem.as_bytes(),
    })
}

fn new_world(domain: super::Domain, objects: &str, init: &str, goal: &str) -> World {
    let problem = format!(
        "(define (problem p) (:domain {}) (:objects {objects}) (:init {init}) (:goal (and {goal})))",
        domain.pddl_name()
    );
    World::new(load_game(domain.pddl_text(), &problem).unwrap())
}

fn gripper_world() -> World {
    new_world(
        super::Domain::Gripper,
        "rooma roomb ball1 ball2 left right",
        "(room rooma) (room roomb) (ball ball1) (ball ball2) (gripper left) (gripper right) (at-robby rooma)
         (at ball1 rooma) (at ball2 rooma) (free left) (free right)",
        "(at ball2 roomb) (at ball1 rooma)",
    )
}

fn barman_world() -> World {
    new_world(
        super::Domain::Barman,
        "shaker1 - shaker left right - hand shot1 - shot ingredient1 ingredient2 - ingredient cocktail1 - cocktail
         dispenser1 dispenser2 - dispenser l0 l1 l2 - level",
        "(ontable shaker1) (ontable shot1) (dispenses dispenser1 ingredient1) (dispenses dispenser2 ingredient2)
         (clean shaker1) (clean shot1) (empty shaker1) (empty shot1) (handempty left) (handempty right)
         (shaker-empty-level shaker1 l0) (shaker-level shaker1 l0) (next l0 l1) (next l1 l2)
         (cocktail-part1 cocktail1 ingredient1) (cocktail-part2 cocktail1 ingredient2)",
        "(contains shot1 cocktail1)",
    )
}

const UNKNOWN: &str = "The action is not valid and therefore takes no effect. Please check valid actions.";
const NO_EFFECT: &str = "The action is not valid and therefore takes no effect. Please remember to satisfy the \
                         restriction of actions. You can also check valid actions.";

/// Plays a text and returns the action it was recognized as, and whether it changed the world.
fn play_and_recognize(world: &mut World, text: &str) -> (Option<String>, bool) {
    let changed = world.play(text).changed;
    (world.recognized_action(), changed)
}

#[test]
fn extra_words_are_ignored() {
    for text in [
        "Pick up ball1 at rooma with arm left. ",
        "pick ball1 rooma left",
        "pick(ball1, rooma, left)",
        // A full stop inside the line ends a sentence.
        "Pick up ball1 at rooma with arm left. Then carry it over.",
        "Pick up ball1. At rooma. With arm left. ",
        "Pick up ball1 at rooma with arm left. , Move from rooma to roomb. ",
        "I PICK the ball1, which is in rooma: left!",
        "ball1 rooma left pick",
        "pick ball1 rooma left right roomb",
    ] {
        assert_eq!(
            play_and_recognize(&mut gripper_world(), text),
            (Some("pick(ball1,rooma,left)".to_owned()), true),
            "{text}"
        );
    }
}

#[test]
fn inapplicable_verbs_are_skipped() {
    let mut world = gripper_world();
    assert_eq!(world.play("drop ball1 rooma left").observation, UNKNOWN);
    // The first applicable verb wins, even if another verb comes first.
    assert_eq!(
        play_and_recognize(&mut world, "drop pick ball1 rooma left").0.as_deref(),
        Some("pick(ball1,rooma,left)")
    );
    assert_eq!(world.play("pickup ball2 rooma right").observation, UNKNOWN);
    assert_eq!(world.play("pick ball2 rooma").observation, UNKNOWN);
}

#[test]
fn actions_without_effect_are_rejected_even_if_listed() {
    let mut world = gripper_world();
    assert_eq!(world.play("move rooma rooma").observation, NO_EFFECT);
    assert_eq!(world.play("pick ball1 roomb left").observation, NO_EFFECT);
    assert_eq!(world.play("pick left rooma ball1").observation, NO_EFFECT);
    let mut world = barman_world();
    assert!(world.play("right grasp shaker1").valid);
    let clean = "use hand right and hand left to clean-shaker shaker1";
    assert!(world.valid_actions().any(|text| text == clean));
    let reply = world.play(clean);
    assert_eq!((reply.observation, reply.valid), (NO_EFFECT, false));
}

/// An action that names `l0` twice is never listed, but is accepted while some other `empty-shaker` is applicable.
#[test]
fn actions_with_repeated_objects_are_accepted_but_not_listed() {
    let problem = "(define (problem p) (:domain barman) (:objects shaker1 shaker2 - shaker left right - hand shot1 - shot
        ingredient1 - ingredient cocktail1 - cocktail dispenser1 - dispenser l0 l1 - level)
        (:init (holding left shaker1) (shaked shaker1) (contains shaker1 cocktail1) (shaker-level shaker1 l0)
          (shaker-empty-level shaker1 l0) (holding right shaker2) (shaked shaker2) (contains shaker2 cocktail1)
          (shaker-level shaker2 l1) (shaker-empty-level shaker2 l0)) (:goal (empty shaker1)))";
    let mut world = World::new(load_game(super::Domain::Barman.pddl_text(), problem).unwrap());
    let listed: Vec<String> =
        world.valid_actions().filter(|text| text.contains("empty-shaker")).map(str::to_owned).collect();
    assert_eq!(
        listed,
        ["use hand right to empty-shaker shaker2 with ingredient cocktail1 from level l1 to level l0."]
    );
    let reply = world.play("empty-shaker left shaker1 cocktail1 l0 l0");
    assert!(reply.changed, "{reply:?}");
    assert_eq!(reply.observation, "Shaker1 is empty.  The goal is satisfied.");
}

#[test]
fn barman_observations_mention_only_new_facts() {
    let mut world = barman_world();
    assert_eq!(world.play("left grasp shot1").observation, "You are holding left. ");
    assert_eq!(
        world.play("fill-shot shot1 ingredient1 left right dispenser1").observation,
        "Pour shot1 from a shot glass to a used shaker ingredient1 Shot1 contains ingredient1. "
    );
    assert!(world.play("please look around").observation.contains("Handempty right "));
    let list = world.play("Check, please").observation.to_owned();
    assert!(
        list.starts_with("Valid actions are: ") && list.ends_with(", check valid actions, look around"),
        "{list}"
    );
    let list = gripper_world().play("CHECK").observation.to_owned();
    assert!(list.ends_with(", check valid actions"), "{list}");
}

#[test]
fn progress_never_decreases_but_winning_can_be_undone() {
    let mut world = gripper_world();
    assert_eq!((world.progress(), world.is_won()), (0.0, false));
    for text in ["pick ball2 rooma left", "move rooma roomb", "drop ball2 roomb left"] {
        assert!(world.play(text).changed);
    }
    assert_eq!((world.progress(), world.is_won()), (1.0, true));
    assert!(world.play("pick ball2 roomb left").changed);
    assert_eq!((world.progress(), world.is_won()), (1.0, false));
    assert!(!world.play("nonsense").changed);
    let saved = world.save_state();
    world.restart();
    assert!(world.progress() < 1e-9);
    world.restore_state(&saved);
    assert_eq!((world.progress(), world.is_won(), world.valid_count()), (1.0, false, 2));
}

#[test]
fn a_short_goal_has_the_punctuation_of_a_sentence() {
    let short = |conditions: &str| {
        super::short_goal(&format!("The goal is to satisfy the following conditions: {conditions}"))
            .into_owned()
    };
    assert_eq!(short("b1 is on b3., b3 is on b5."), "b1 is on b3, b3 is on b5");
    assert_eq!(short("Robby is at roomb.  ball1 is at roomb. "), "Robby is at roomb, ball1 is at roomb");
    assert_eq!(super::short_goal("boil water"), "boil water");
}

#[test]
fn goal_text_supports_both_separators() {
    let game = Arc::clone(gripper_world().game());
    let head = "The goal is to satisfy the following conditions: ";
    assert_eq!(
        game.goal_text(GoalSeparator::Comma),
        format!("{head}ball1 is at rooma. , ball2 is at roomb. ")
    );
    assert_eq!(game.goal_text(GoalSeparator::Space), format!("{head}ball1 is at rooma. ball2 is at roomb. "));
}

/// Conditions that the four domains don't have: negation, equality, disjunction, quantifiers, conditional effects.
#[test]
fn adl_domains_are_playable() {
    let domain = "(define (domain lamps) (:requirements :adl) (:types lamp room) (:predicates (lit ?x - lamp) (in ?x - lamp ?r - room)
          (dark ?r - room))
        (:action toggle :parameters (?x - lamp ?r - room) :precondition (in ?x ?r)
          :effect (and (when (lit ?x) (not (lit ?x))) (when (not (lit ?x)) (lit ?x)) (not (dark ?r))))
        (:action carry :parameters (?x - lamp ?a - room ?b - room)
          :precondition (and (in ?x ?a) (not (= ?a ?b)) (not (lit ?x)) (or (dark ?a) (dark ?b)))
          :effect (and (not (in ?x ?a)) (in ?x ?b))))";
    let problem = "(define (problem p) (:domain lamps) (:objects lamp1 lamp2 - lamp hall yard - room)
        (:init (in lamp1 hall) (in lamp2 hall) (dark hall) (dark yard) (lit lamp2))
        (:goal (and (in lamp1 yard) (not (lit lamp2)) (exists (?x - lamp) (lit ?x)))))";
    let game = load_game(domain, problem).unwrap();
    assert_eq!(game.observation_scope, ObservationScope::Everything);
    let atoms: Vec<&str> = game.goal().iter().map(|part| part.atom.as_str()).collect();
    assert_eq!(atoms, ["(in lamp1 yard)", "(not (lit lamp2))", "(exists (?x) (lit ?x))"]);
    let mut world = World::new(game);
    assert_eq!(world.restart(), "Dark hall Dark yard Lamp1 is in hall. Lamp2 is in hall. Lit lamp2");
    // Both alternatives hold, but they are a single action.
    assert_eq!(
        world.valid_actions().collect::<Vec<_>>(),
        ["carry lamp1 hall yard", "toggle lamp1 hall", "toggle lamp2 hall"]
    );
    assert!(world.play("carry lamp1 hall yard").changed);
    assert!((world.progress() - 2.0 / 3.0).abs() < 1e-9, "{}", world.progress());
    let super::Hint::Plan(plan) = world.hint(crate::pddl::SearchLimits::INTERACTIVE) else {
        panic!("no plan")
    };
    assert_eq!(plan.len(), 2, "{plan:?}");
    for text in plan {
        assert!(world.play(&text).changed, "{text}");
    }
    assert!(world.is_won());
}

#[test]
fn arbitrary_texts_are_rejected_without_panic() {
    let mut world = gripper_world();
    let long = "pick ".repeat(100_000);
    let late = format!("{}pick ball1 rooma left", "x ".repeat(40_000));
    for text in
        ["", "   ", "\u{1b}[2J", "PICK\u{0}", "ｐｉｃｋ ball1", "'", "\"\"", long.as_str(), late.as_str()]
    {
        let reply = world.play(text);
        assert_eq!((reply.observation, reply.valid), (UNKNOWN, false));
    }
}
