//! Plans that work, proofs that there are none, and searches that give up.

use super::*;
use crate::pddl::{Effort, Outcome, Planner};

fn plan(task: &Task, effort: Effort) -> Outcome {
    let outcome = Planner::new(task, |_| true).plan(&task.initial(), effort);
    if let Outcome::Found(plan) = &outcome {
        let mut state = task.initial();
        for &op in plan {
            assert!(state.applies(op));
            state.apply(task, op);
        }
        assert!(state.is_goal(task));
    }
    outcome
}

fn length(outcome: &Outcome) -> Option<usize> {
    match outcome {
        Outcome::Found(plan) => Some(plan.len()),
        Outcome::Impossible | Outcome::GaveUp { .. } => None,
    }
}

fn blocks(count: usize, goal: &str) -> Task {
    let names: Vec<String> = (0..count).map(|at| format!("b{at}")).collect();
    let facts: Vec<String> = names.iter().map(|name| format!("(clear {name}) (on-table {name})")).collect();
    let problem = format!(
        "(define (problem p) (:domain d) (:objects {}) (:init (arm-empty) {}) (:goal {goal}))",
        names.join(" "),
        facts.concat()
    );
    task(BLOCKS, &problem).unwrap()
}

#[test]
fn a_tower_is_built_from_below() {
    let task = blocks(5, "(and (on b0 b1) (on b1 b2) (on b2 b3) (on b3 b4))");
    assert_eq!(length(&plan(&task, Effort::MODEST)), Some(8));
    assert_eq!(length(&plan(&blocks(3, "(on-table b1)"), Effort::MODEST)), Some(0));
}

#[test]
fn what_cannot_be_reached_is_proven() {
    for goal in ["(and (on b0 b1) (on b1 b0))", "(and (holding b0) (holding b1))", "(on b0 b0)"] {
        assert_eq!(plan(&blocks(3, goal), Effort::MODEST), Outcome::Impossible, "{goal}");
    }
}

#[test]
fn a_search_gives_up_where_its_effort_ends() {
    let task = blocks(8, "(and (on b0 b1) (on b1 b2) (on b2 b3) (on b3 b4) (on b4 b5))");
    let outcome = plan(&task, Effort { states: 12, work: u64::MAX });
    assert!(matches!(outcome, Outcome::GaveUp { states } if states <= 24), "{outcome:?}");
    assert!(matches!(plan(&task, Effort { states: 1000, work: 1 }), Outcome::GaveUp { .. }));
}

/// Denials, alternatives, quantifiers and conditional effects count in the estimate as well.
#[test]
fn conditions_of_every_kind_are_planned_for() {
    let domain = "(define (domain lamps) (:types lamp) (:predicates (lit ?x - lamp) (broken ?x - lamp) (calm))
        (:action strike :parameters (?x - lamp) :precondition (not (lit ?x))
          :effect (and (when (not (broken ?x)) (lit ?x)) (not (calm))))
        (:action mend :parameters (?x - lamp) :precondition (or (broken ?x) (lit ?x)) :effect (not (broken ?x)))
        (:action rest :parameters () :precondition (forall (?x - lamp) (imply (not (broken ?x)) (lit ?x))) :effect (calm)))";
    let problem = "(define (problem p) (:domain lamps) (:objects a b c - lamp) (:init (broken a) (calm))
        (:goal (and (calm) (forall (?x - lamp) (lit ?x)))))";
    let task = task(domain, problem).unwrap();
    assert_eq!(length(&plan(&task, Effort::MODEST)), Some(5));
}
