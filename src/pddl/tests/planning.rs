//! Tests for plans that work, proofs that none exists, and searches that give up.

use super::*;
use crate::pddl::{Planner, SearchLimits, SearchOutcome};

fn find_checked_plan(task: &Task, limits: SearchLimits) -> SearchOutcome {
    let outcome = Planner::new(task, |_| true).find_plan(&task.initial(), limits);
    if let SearchOutcome::Found(plan) = &outcome {
        let mut state = task.initial();
        for &op in plan {
            assert!(state.is_applicable(op));
            state.apply(task, op);
        }
        assert!(state.is_goal(task));
    }
    outcome
}

fn plan_length(outcome: &SearchOutcome) -> Option<usize> {
    match outcome {
        SearchOutcome::Found(plan) => Some(plan.len()),
        SearchOutcome::Impossible | SearchOutcome::GaveUp { .. } => None,
    }
}

fn blocks_task(count: usize, goal: &str) -> Task {
    let names: Vec<String> = (0..count).map(|at| format!("b{at}")).collect();
    let facts: Vec<String> = names.iter().map(|name| format!("(clear {name}) (on-table {name})")).collect();
    let problem = format!(
        "(define (problem p) (:domain d) (:objects {}) (:init (arm-empty) {}) (:goal {goal}))",
        names.join(" "),
        facts.concat()
    );
    ground_task(BLOCKS, &problem).unwrap()
}

#[test]
fn towers_are_planned_bottom_up() {
    let task = blocks_task(5, "(and (on b0 b1) (on b1 b2) (on b2 b3) (on b3 b4))");
    assert_eq!(plan_length(&find_checked_plan(&task, SearchLimits::INTERACTIVE)), Some(8));
    assert_eq!(
        plan_length(&find_checked_plan(&blocks_task(3, "(on-table b1)"), SearchLimits::INTERACTIVE)),
        Some(0)
    );
}

#[test]
fn unreachable_goals_are_proven_impossible() {
    for goal in ["(and (on b0 b1) (on b1 b0))", "(and (holding b0) (holding b1))", "(on b0 b0)"] {
        assert_eq!(
            find_checked_plan(&blocks_task(3, goal), SearchLimits::INTERACTIVE),
            SearchOutcome::Impossible,
            "{goal}"
        );
    }
}

#[test]
fn search_gives_up_at_its_limits() {
    let task = blocks_task(8, "(and (on b0 b1) (on b1 b2) (on b2 b3) (on b3 b4) (on b4 b5))");
    let outcome = find_checked_plan(&task, SearchLimits { states: 12, work: u64::MAX });
    assert!(matches!(outcome, SearchOutcome::GaveUp { states } if states <= 24), "{outcome:?}");
    assert!(matches!(
        find_checked_plan(&task, SearchLimits { states: 1000, work: 1 }),
        SearchOutcome::GaveUp { .. }
    ));
}

/// Negations, disjunctions, quantifiers and conditional effects all count in the heuristic.
#[test]
fn plans_satisfy_every_kind_of_condition() {
    let domain = "(define (domain lamps) (:types lamp) (:predicates (lit ?x - lamp) (broken ?x - lamp) (calm))
        (:action strike :parameters (?x - lamp) :precondition (not (lit ?x))
          :effect (and (when (not (broken ?x)) (lit ?x)) (not (calm))))
        (:action mend :parameters (?x - lamp) :precondition (or (broken ?x) (lit ?x)) :effect (not (broken ?x)))
        (:action rest :parameters () :precondition (forall (?x - lamp) (imply (not (broken ?x)) (lit ?x))) :effect (calm)))";
    let problem = "(define (problem p) (:domain lamps) (:objects a b c - lamp) (:init (broken a) (calm))
        (:goal (and (calm) (forall (?x - lamp) (lit ?x)))))";
    let task = ground_task(domain, problem).unwrap();
    assert_eq!(plan_length(&find_checked_plan(&task, SearchLimits::INTERACTIVE)), Some(5));
}
