//! Tests of every kind of condition and effect.

use super::{applicable_texts, apply_text, ground_task};

/// Returns a domain with these actions and predicates of arity zero, one (two of them) and two.
fn domain_with(actions: &str) -> String {
    format!(
        "(define (domain d) (:types ta tb - object) (:predicates (z) (p ?x - object) (q ?x - object) (r ?x ?y - object)) {actions})"
    )
}

fn problem_with(init: &str, goal: &str) -> String {
    format!("(define (problem p) (:domain d) (:objects a1 a2 - ta b1 b2 - tb) (:init {init}) (:goal {goal}))")
}

#[test]
fn preconditions_select_applicable_actions() {
    let init = "(p a1) (p b1) (r a1 b1) (r a1 b2) (r a2 a2)";
    for (precondition, expected) in [
        ("()", &["go a1", "go a2"][..]),
        ("(and)", &["go a1", "go a2"]),
        ("(or)", &[]),
        ("(p ?x)", &["go a1"]),
        ("(not (p ?x))", &["go a2"]),
        ("(not (not (p ?x)))", &["go a1"]),
        ("(and (p ?x) (not (r ?x ?x)))", &["go a1"]),
        ("(or (p ?x) (r ?x ?x))", &["go a1", "go a2"]),
        ("(imply (p ?x) (r ?x ?x))", &["go a2"]),
        ("(exists (?y - tb) (r ?x ?y))", &["go a1"]),
        ("(exists (?y) (r ?x ?y))", &["go a1", "go a2"]),
        ("(exists (?y - ta) (and (r ?x ?y) (not (= ?x ?y))))", &[]),
        ("(forall (?y - tb) (r ?x ?y))", &["go a1"]),
        ("(forall (?y - tb) (imply (p ?y) (r ?x ?y)))", &["go a1"]),
        ("(not (exists (?y - ta) (r ?x ?y)))", &["go a1"]),
        ("(not (forall (?y - tb) (not (r ?x ?y))))", &["go a1"]),
        ("(forall (?y - ta) (exists (?w - object) (r ?y ?w)))", &["go a1", "go a2"]),
        ("(= ?x a2)", &["go a2"]),
        ("(not (= ?x a2))", &["go a1"]),
        // An undeclared constant.
        ("(p nobody)", &[]),
        ("(not (p nobody))", &["go a1", "go a2"]),
        // The comma becomes part of the type name, and no object has that type.
        ("(exists (?y - tb, ?w - object) (r ?x ?w))", &[]),
        ("(forall (?y - tb, ?w - object) (z))", &["go a1", "go a2"]),
        ("(exists (?y - (either ta tb)) (r ?x ?y))", &["go a1", "go a2"]),
    ] {
        let domain = domain_with(&format!(
            "(:action go :parameters (?x - ta) :precondition {precondition} :effect (q ?x))"
        ));
        let task = ground_task(&domain, &problem_with(init, "(z)")).unwrap();
        assert_eq!(applicable_texts(&task, &task.initial()), expected, "{precondition}");
    }
}

#[test]
fn goals_are_evaluated() {
    let domain = domain_with("(:action set :parameters (?x) :precondition () :effect (p ?x))");
    for (goal, before, after) in [
        ("(p a1)", false, true),
        ("(and)", true, true),
        ("(not (p a1))", true, false),
        ("(exists (?x - ta ?y - ta) (and (p ?x) (p ?y) (not (= ?x ?y))))", false, true),
        ("(forall (?x - ta) (p ?x))", false, true),
        ("(forall (?x) (p ?x))", false, false),
        ("(forall (?x - ta) (or (p ?x) (exists (?y - tb) (r ?x ?y))))", false, true),
        ("(p nobody)", false, false),
    ] {
        let task = ground_task(&domain, &problem_with("(p a2)", goal)).unwrap();
        let mut state = task.initial();
        assert_eq!(state.is_goal(&task), before, "{goal}");
        apply_text(&task, &mut state, "set a1");
        assert_eq!(state.is_goal(&task), after, "{goal}");
    }
}

/// Returns the facts that are true after one action.
fn facts_after(effect: &str, init: &str) -> Vec<String> {
    let actions = format!("(:action go :parameters (?x - ta) :precondition () :effect {effect})");
    let task = ground_task(&domain_with(&actions), &problem_with(init, "(z)")).unwrap();
    let mut state = task.initial();
    apply_text(&task, &mut state, "go a1");
    let mut all: Vec<String> = state
        .facts()
        .ones()
        .map(|at| {
            let arguments = task.arguments_at(at);
            let names = arguments.iter().map(|&object| task.object_name(object));
            let predicate = ["z", "p", "q", "r"].into_iter().find(|name| {
                let fact = task.fact(task.predicate(name).unwrap(), arguments);
                fact.is_some_and(|fact| fact.index() == at)
            });
            predicate.into_iter().chain(names).collect::<Vec<&str>>().join(" ")
        })
        .collect();
    all.sort();
    all
}

#[test]
fn effects_change_facts() {
    for (effect, init, expected) in [
        ("(and (p ?x) (increase (total-cost) 1))", "", &["p a1"][..]),
        ("(and (p ?x) (not (p ?x)))", "", &["p a1"]),
        ("(and (not (p ?x)) (p ?x) (q ?x))", "(p a1)", &["p a1", "q a1"]),
        ("(when (q ?x) (p ?x))", "(q a1)", &["p a1", "q a1"]),
        // Conditions are evaluated before any effect is applied.
        ("(and (when (z) (not (z))) (when (not (z)) (z)) (p ?x))", "(z)", &["p a1"]),
        ("(and (when (z) (not (z))) (when (not (z)) (z)) (p ?x))", "", &["p a1", "z"]),
        ("(forall (?y - tb) (r ?x ?y))", "", &["r a1 b1", "r a1 b2"]),
        (
            "(and (q ?x) (forall (?y - tb) (when (p ?y) (and (r ?x ?y) (not (p ?y))))))",
            "(p b1)",
            &["q a1", "r a1 b1"],
        ),
        ("(and (q ?x) (when (exists (?y) (r ?y ?x)) (z)))", "(r b1 a1)", &["q a1", "r b1 a1", "z"]),
        ("(and (q ?x) (when (forall (?y - tb) (p ?y)) (z)))", "(p b1)", &["p b1", "q a1"]),
    ] {
        assert_eq!(facts_after(effect, init), expected, "{effect} after {init}");
    }
}

#[test]
fn instances_without_effects_are_omitted() {
    let actions = "(:action move :parameters (?x - ta ?y - ta) :precondition (and (p ?x) (q ?y)) :effect (and (not (p ?x)) (p ?y)))
        (:action keep :parameters (?x - ta) :precondition (p ?x) :effect (p ?x))
        (:action never :parameters (?x - ta) :precondition (p ?x) :effect (when (not (p ?x)) (z)))
        (:action drop :parameters () :precondition () :effect (not (r b1 b2)))";
    let task = ground_task(&domain_with(actions), &problem_with("(p a1) (q a1) (q a2)", "(z)")).unwrap();
    assert_eq!(applicable_texts(&task, &task.initial()), ["move a1 a2"]);
}

#[test]
fn conditions_with_too_many_clauses_are_rejected() {
    let pairs: String = (0..20).map(|_| "(or (p ?x) (q ?x))").collect();
    let actions = format!("(:action go :parameters (?x - ta) :precondition (and {pairs}) :effect (z))");
    let error = ground_task(&domain_with(&actions), &problem_with("", "(z)")).unwrap_err().to_string();
    assert!(error.contains("alternatives in one condition"), "{error}");
    assert!(error.starts_with("PDDL domain, action \"go\""), "{error}");
}
