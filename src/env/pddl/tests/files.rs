//! Tests malformed, hostile and large files.

use super::super::{Domain, ProblemOutline, ProblemSource};
use super::*;
use std::time::{Duration, Instant};

#[test]
fn errors_name_the_file_the_location_and_the_reason() {
    let head = "(define (problem p) (:domain gripper-strips)";
    let cases = [
        (
            "(define (domain d)\n (:derived (p ?x)",
            "",
            "d.pddl: PDDL domain, line 2, column 12: the section \":derived\"",
        ),
        ("(define (domain d", "", "d.pddl: PDDL domain, line 1, column 18: expected"),
        (Domain::Gripper.pddl_text(), "", "p.pddl: PDDL problem, line 1, column 1: expected"),
        (
            Domain::Gripper.pddl_text(),
            &format!("{head} (:init (at ball1 rooma)))"),
            "the object \"ball1\" is not declared",
        ),
        (
            Domain::Gripper.pddl_text(),
            &format!("{head} (:objects a) (:init (at a)) (:goal (free a)))"),
            "takes 2 arguments",
        ),
        (
            Domain::Gripper.pddl_text(),
            &format!("{head} (:objects a) (:init))"),
            "p.pddl: PDDL problem, line 1, column",
        ),
    ];
    for (domain, problem, expected) in cases {
        let error = load_game(domain, problem).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn domain_name_mismatch_is_only_a_warning() {
    let problem = "(define (problem p) (:domain other) (:objects a b) (:init (room a) (room b) (at-robby a)) (:goal (at-robby b)))";
    let source = ProblemSource {
        domain_label: "d",
        domain: Domain::Gripper.pddl_text().as_bytes(),
        problem_label: "p",
        problem: problem.as_bytes(),
    };
    let outline = ProblemOutline::read(&source).unwrap();
    assert_eq!(
        outline.warnings(),
        ["the problem is for the domain \"other\", but the domain file is \"gripper-strips\""]
    );
    let mut world = World::new(load_game(Domain::Gripper.pddl_text(), problem).unwrap());
    assert_eq!(world.play("move a b").observation, "Robby is at b.  Room a Room b The goal is satisfied.");
}

/// The blocks problem would need a hundred million action instances; the gripper problem needs forty thousand.
#[test]
fn ten_thousand_objects_load_or_give_a_size_error() {
    let names_and_facts = |count: usize, facts: &dyn Fn(usize) -> String| {
        let names: Vec<String> = (0..count).map(|number| format!("x{number}")).collect();
        (names.join(" "), (0..count).map(facts).collect::<String>())
    };
    let start = Instant::now();
    let (names, facts) = names_and_facts(10_000, &|number| format!("(clear x{number}) (on-table x{number})"));
    let problem = format!(
        "(define (problem p) (:domain blocksworld-4ops) (:objects {names}) (:init (arm-empty) {facts}) (:goal (on x1 x2)))"
    );
    let error = load_game(Domain::Blockworld.pddl_text(), &problem).unwrap_err().to_string();
    assert!(error.contains("too large for this program"), "{error}");
    let (names, facts) = names_and_facts(10_000, &|number| format!("(ball x{number}) (at x{number} rooma)"));
    let problem = format!(
        "(define (problem p) (:domain gripper-strips) (:objects {names} rooma roomb left) (:init (room rooma) (room roomb)
         (gripper left) (free left) (at-robby rooma) {facts}) (:goal (at x7 roomb)))"
    );
    let mut world = World::new(load_game(Domain::Gripper.pddl_text(), &problem).unwrap());
    assert_eq!(world.valid_count(), 10_001);
    assert!(world.play("pick x7 rooma left").changed);
    // A grounding that tried all combinations would take hours.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn too_much_text_from_long_names_is_rejected() {
    let names: Vec<String> = (0..2_000).map(|number| format!("b{number}{}", "x".repeat(2_000))).collect();
    let facts: Vec<String> = names.iter().map(|name| format!("(ball {name}) (at {name} rooma)")).collect();
    let problem = format!(
        "(define (problem p) (:domain gripper-strips) (:objects {} rooma roomb g1 g2 g3) (:init (room rooma) (room roomb) (gripper g1)
         (gripper g2) (gripper g3) (free g1) (free g2) (free g3) (at-robby rooma) {}) (:goal (at-robby roomb)))",
        names.join(" "),
        facts.concat()
    );
    let error = load_game(Domain::Gripper.pddl_text(), &problem).unwrap_err().to_string();
    assert!(error.contains("names of the objects"), "{error}");
}
