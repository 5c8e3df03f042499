//! Random small domains: at every step, the gates agree with direct evaluation of the formulas.

use crate::pddl::{Formula, Model, ObjectId, State, Task, Term};
use proptest::prelude::*;
use std::collections::HashMap;

/// Generates a random condition over `?x`, `?y` and a quantified `?w`.
fn any_formula() -> impl Strategy<Value = String> {
    let term = prop::sample::select(vec!["?x", "?y", "?w", "a1", "b2"]);
    let leaf = (prop::sample::select(vec!["(p {})", "(q {})", "(r {} ?x)", "(r ?y {})", "(= {} ?x)"]), term)
        .prop_map(|(shape, term)| shape.replace("{}", term));
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|one| format!("(not {one})")),
            prop::collection::vec(inner.clone(), 0..3).prop_map(|all| format!("(and {})", all.concat())),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| format!("(or {})", all.concat())),
            (inner.clone(), inner.clone()).prop_map(|(one, two)| format!("(imply {one} {two})")),
            (
                prop::sample::select(vec!["exists", "forall"]),
                prop::sample::select(vec!["ta", "tb", "object"]),
                inner
            )
                .prop_map(|(how, kind, one)| format!("({how} (?w - {kind}) {one})")),
        ]
    })
}

/// Evaluates a formula by definition.
fn evaluate(
    model: &Model,
    task: &Task,
    state: &State,
    formula: &Formula,
    bound: &mut HashMap<String, ObjectId>,
) -> bool {
    let word = |name| model.names.text(name).to_owned();
    let value = |term: &Term, bound: &HashMap<String, ObjectId>| match term {
        Term::Variable(name) => bound[&word(*name)],
        Term::Constant(name) => {
            task.objects().find(|object| task.object_name(*object) == word(*name)).unwrap()
        }
    };
    match formula {
        Formula::And(parts) => parts.iter().all(|part| evaluate(model, task, state, part, bound)),
        Formula::Or(parts) => parts.iter().any(|part| evaluate(model, task, state, part, bound)),
        Formula::Not(inner) => !evaluate(model, task, state, inner, bound),
        Formula::Imply(left, right) => {
            !evaluate(model, task, state, left, bound) || evaluate(model, task, state, right, bound)
        }
        Formula::Exists(variables, body) | Formula::Forall(variables, body) => {
            let wanted = matches!(formula, Formula::Exists(..));
            let [variable] = variables.as_slice() else { panic!("one variable") };
            let kind = task.types().find(&word(variable.types[0])).unwrap();
            let outer = bound.get(&word(variable.name)).copied();
            let any = task.types().members(kind).any(|object| {
                bound.insert(word(variable.name), object);
                evaluate(model, task, state, body, bound) == wanted
            });
            match outer {
                Some(object) => bound.insert(word(variable.name), object),
                None => bound.remove(&word(variable.name)),
            };
            any == wanted
        }
        Formula::Atom(predicate, terms) => {
            let arguments: Vec<ObjectId> = terms.iter().map(|term| value(term, bound)).collect();
            let predicate = task.predicate(&word(model.predicates[*predicate].name)).unwrap();
            task.fact(predicate, &arguments).is_some_and(|fact| state.holds(fact))
        }
        Formula::Equal(left, right) => value(left, bound) == value(right, bound),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn gates_agree_with_definitions(
        conditions in prop::collection::vec(any_formula(), 3),
        init in prop::collection::vec((0_usize..4, 0_usize..4, 0_usize..3), 0..8),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 12),
    ) {
        let names = ["a1", "a2", "b1", "b2"];
        let fact = |&(one, two, which): &(usize, usize, usize)| match which {
            0 => format!("(p {})", names[one]),
            1 => format!("(q {})", names[one]),
            _ => format!("(r {} {})", names[one], names[two]),
        };
        // `go` is under test; `flip` makes every state reachable, and `mark` makes every instance of `go` change
        // something.
        let domain = format!(
            "(define (domain d) (:types ta tb - object) (:predicates (p ?x) (q ?x) (r ?x ?y) (done ?x ?y ?w))
             (:action go :parameters (?x ?y ?w - object) :precondition {} :effect (and (not (done ?x ?y ?w)) (when {} (done ?x ?y ?w))))
             (:action flip :parameters (?x ?y - object) :precondition () :effect (and (when (p ?x) (not (p ?x))) (when (not (p ?x)) (p ?x))
                (when (r ?x ?y) (not (r ?x ?y))) (when (not (r ?x ?y)) (r ?x ?y)) (when (q ?y) (not (q ?y))) (when (not (q ?y)) (q ?y))))
             (:action mark :parameters (?x ?y ?w - object) :precondition () :effect (done ?x ?y ?w)))",
            conditions[0], conditions[1],
        );
        let goal = format!("(exists (?x - object) (forall (?y - object) (exists (?w - object) {})))", conditions[2]);
        let problem = format!(
            "(define (problem p) (:domain d) (:objects a1 a2 - ta b1 b2 - tb) (:init {}) (:goal {goal}))",
            init.iter().map(fact).collect::<String>(),
        );
        let model = Model::parse(&domain, &problem).unwrap();
        let task = Task::ground(&model).unwrap();
        let mut state = task.initial();
        for choice in choices {
            prop_assert_eq!(state.is_goal(&task), goal_holds(&model, &task, &state));
            let mut applies = [false; 64];
            for op in state.applicable(&task).filter(|&op| task.action_name(task.action_of(op)) == "go") {
                let [x, y, w] = *task.bound_objects(op) else { panic!("three") };
                applies[x.index() * 16 + y.index() * 4 + w.index()] = true;
            }
            for (x, y, w) in task.objects().flat_map(|x| task.objects().map(move |y| (x, y))).flat_map(|(x, y)| task.objects().map(move |w| (x, y, w))) {
                let mut bound = HashMap::from([("x".to_owned(), x), ("y".to_owned(), y), ("w".to_owned(), w)]);
                let expected = evaluate(&model, &task, &state, &model.actions[0].precondition, &mut bound);
                prop_assert_eq!(applies[x.index() * 16 + y.index() * 4 + w.index()], expected, "{:?} {}", (x, y, w), domain);
            }
            let all: Vec<_> = state.applicable(&task).collect();
            let op = *choice.get(&all);
            let before = state.clone();
            state.apply(&task, op);
            if task.action_name(task.action_of(op)) == "go" {
                let [x, y, w] = *task.bound_objects(op) else { panic!("three") };
                let mut bound = HashMap::from([("x".to_owned(), x), ("y".to_owned(), y), ("w".to_owned(), w)]);
                let fires = model.actions[0].effects[1].conditions.iter().all(|when| evaluate(&model, &task, &before, when, &mut bound));
                let done = task.fact(task.predicate("done").unwrap(), &[x, y, w]).unwrap();
                prop_assert_eq!(state.holds(done), fires);
            }
            // Restoring a state from its facts alone produces the same gates.
            let mut other = task.initial();
            other.restore(&task, state.facts());
            prop_assert!(other.applicable(&task).eq(state.applicable(&task)));
        }
    }
}

fn goal_holds(model: &Model, task: &Task, state: &State) -> bool {
    evaluate(model, task, state, &model.goal, &mut HashMap::new())
}
