//! Tests of the core on domains other than household ones.

mod conditions;
mod planning;
mod random;

use super::{Model, PddlError, State, Task};

pub(super) const BLOCKS: &str = "
(define (domain blocksworld-4ops) ; untyped, one predicate without arguments
  (:requirements :strips)
  (:predicates (clear ?x) (on-table ?x) (arm-empty) (holding ?x) (on ?x ?y))
  (:action pickup :parameters (?ob)
    :precondition (and (clear ?ob) (on-table ?ob) (arm-empty))
    :effect (and (holding ?ob) (not (clear ?ob)) (not (on-table ?ob)) (not (arm-empty))))
  (:action putdown :parameters (?ob)
    :precondition (holding ?ob)
    :effect (and (clear ?ob) (arm-empty) (on-table ?ob) (not (holding ?ob))))
  (:action stack :parameters (?ob ?underob)
    :precondition (and (clear ?underob) (holding ?ob))
    :effect (and (arm-empty) (clear ?ob) (on ?ob ?underob) (not (clear ?underob)) (not (holding ?ob))))
  (:action unstack :parameters (?ob ?underob)
    :precondition (and (on ?ob ?underob) (clear ?ob) (arm-empty))
    :effect (and (holding ?ob) (clear ?underob) (not (on ?ob ?underob)) (not (clear ?ob)) (not (arm-empty)))))";

pub(super) fn ground_task(domain: &str, problem: &str) -> Result<Task, PddlError> {
    Task::ground(&Model::parse(domain, problem)?)
}

/// Returns the applicable actions as sorted text. Instances from several disjuncts of one action count once.
pub(super) fn applicable_texts(task: &Task, state: &State) -> Vec<String> {
    let text = |op| {
        let words = task.bound_objects(op).iter().map(|&object| task.object_name(object));
        std::iter::once(task.action_name(task.action_of(op))).chain(words).collect::<Vec<&str>>().join(" ")
    };
    let mut all: Vec<String> = state.applicable(task).map(text).collect();
    all.sort();
    all.dedup();
    all
}

/// Applies the instance with this text.
pub(super) fn apply_text(task: &Task, state: &mut State, wanted: &str) {
    let op = task.ops().find(|&op| {
        let words = task.bound_objects(op).iter().map(|&object| task.object_name(object));
        let words = std::iter::once(task.action_name(task.action_of(op))).chain(words);
        state.is_applicable(op) && words.eq(wanted.split(' '))
    });
    state.apply(task, op.unwrap_or_else(|| panic!("{wanted:?} is not applicable")));
}

#[test]
fn blocks_are_stacked_until_the_goal_holds() {
    let task = ground_task(
        BLOCKS,
        "(define (problem p) (:domain blocks) (:objects a b c) (:INIT (clear a) (clear b) (on-table b) (on-table C)
         (on a c) (arm-empty)) (:goal (and (on b a) (on a c))))",
    )
    .unwrap();
    let mut state = task.initial();
    assert_eq!(applicable_texts(&task, &state), ["pickup b", "unstack a c"]);
    apply_text(&task, &mut state, "pickup b");
    assert_eq!(applicable_texts(&task, &state), ["putdown b", "stack b a"]);
    assert_eq!(state.changes().len(), 4);
    assert!(!state.is_goal(&task));
    apply_text(&task, &mut state, "stack b a");
    assert!(state.is_goal(&task));
    state.reset(&task);
    assert_eq!(applicable_texts(&task, &state), ["pickup b", "unstack a c"]);
}

#[test]
fn subtypes_constants_and_duplicate_objects_are_supported() {
    let domain =
        "(define (domain tyres) (:types obj container - object tool wheel - obj) (:constants wrench - tool)
        (:predicates (in ?c - container ?o - obj) (have ?o - obj) (isopen ?c - container))
        (:action fetch :parameters (?x - obj ?y - container) :precondition (and (in ?x ?y) (isopen ?y))
          :effect (and (have ?x) (not (in ?x ?y))))
        (:action polish :parameters (?w - wheel) :precondition (have ?w) :effect (not (have ?w)))
        (:action swing :parameters () :precondition (have wrench) :effect (not (have wrench))))";
    let problem =
        "(define (problem p) (:domain tyres) (:objects wrench - tool r1 r2 - wheel boot - container)
        (:init (in wrench boot) (in r1 boot) (isopen boot)) (:goal (have r1)))";
    let task = ground_task(domain, problem).unwrap();
    let mut state = task.initial();
    assert_eq!(applicable_texts(&task, &state), ["fetch r1 boot", "fetch wrench boot"]);
    apply_text(&task, &mut state, "fetch r1 boot");
    apply_text(&task, &mut state, "fetch wrench boot");
    assert_eq!(applicable_texts(&task, &state), ["polish r1", "swing"]);
}

/// With ten thousand blocks, `stack` alone would have a hundred million instances.
#[test]
fn ten_thousand_objects_give_a_size_error() {
    let names: Vec<String> = (0..10_000).map(|at| format!("b{at}")).collect();
    let facts: Vec<String> = names.iter().map(|name| format!("(clear {name}) (on-table {name})")).collect();
    let problem = format!(
        "(define (problem p) (:domain d) (:objects {}) (:init (arm-empty) {}) (:goal (on b1 b2)))",
        names.join(" "),
        facts.concat()
    );
    let error = ground_task(BLOCKS, &problem).unwrap_err().to_string();
    assert!(error.contains("too large for this program"), "{error}");
}

/// Ten thousand objects load if they are only joined through facts.
#[test]
fn facts_are_joined_and_the_product_is_never_enumerated() {
    let names: Vec<String> = (0..10_000).map(|at| format!("r{at}")).collect();
    let links: Vec<String> = names.windows(2).map(|pair| format!("(next {} {})", pair[0], pair[1])).collect();
    let domain = "(define (domain d) (:predicates (at ?x) (next ?x ?y))
        (:action move :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y)) :effect (and (at ?y) (not (at ?x)))))";
    let problem = format!(
        "(define (problem p) (:domain d) (:objects {}) (:init (at r0) {}) (:goal (at r9999)))",
        names.join(" "),
        links.concat()
    );
    let task = ground_task(domain, &problem).unwrap();
    assert_eq!(task.op_count(), 9999);
    assert_eq!(applicable_texts(&task, &task.initial()), ["move r0 r1"]);
}

#[test]
fn an_error_names_line_and_column() {
    let error = Model::parse("(define (domain d)\n  (:predicates (p ?x))\n  (:action a :effect (q ?x)))", "")
        .unwrap_err();
    assert_eq!(error.place(), "PDDL domain, line 3, column 22");
    assert_eq!(error.reason(), "the predicate \"q\" is not declared");
}
