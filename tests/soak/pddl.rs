//! Mutated PDDL files and hostile action texts: loading and playing always end soon, with an environment or with an
//! error.

use crate::cases::{Rng, Soak};
use crate::hostile;
use retrospect::env::Environment;
use retrospect::env::pddl::{
    Difficulty, Domain, Game, GoalSeparator, Hint, PddlEnvironment, ProblemSource, TaskId, generate,
};
use retrospect::pddl::SearchLimits;
use std::sync::Arc;

/// On average one of this many texts contains a line of a megabyte.
const LARGE_ONCE_IN: usize = 250;
/// The search effort of a hint here.
const SMALL_EFFORT: SearchLimits = SearchLimits { states: 50, work: 100_000 };

/// A domain with features that the four built-in domains lack.
const FEATURE_RICH_PROBLEM: (&str, &str) = (
    "(define (domain rich) (:requirements :adl) (:types thing place - object cup - thing) (:constants table - place)
      (:predicates (at ?x - thing ?y - place) (wet ?x - thing) (calm) (near ?x ?y - place))
      (:action spill :parameters (?x - thing) :precondition (not (wet ?x))
        :effect (and (wet ?x) (forall (?y - thing) (when (exists (?z - place) (and (at ?x ?z) (at ?y ?z))) (wet ?y))) (not (calm))))
      (:action carry :parameters (?x - thing ?a ?b - place)
        :precondition (and (at ?x ?a) (or (near ?a ?b) (near ?b ?a)) (not (= ?a ?b)))
        :effect (and (not (at ?x ?a)) (at ?x ?b)))
      (:action rest :parameters () :precondition (forall (?x - cup) (imply (wet ?x) (at ?x table))) :effect (calm)))",
    "(define (problem p) (:domain rich) (:objects c1 c2 - cup t1 - thing sink shelf - place)
      (:init (at c1 sink) (at c2 shelf) (at t1 table) (near sink shelf) (near shelf table) (wet c1))
      (:goal (and (calm) (at c1 table) (not (wet t1)) (forall (?x - cup) (or (wet ?x) (at ?x shelf))))))",
);

const PIECES: &[&str] = &[
    "(",
    ")",
    "(and ",
    "(or ",
    "(not ",
    "(forall (?x - object) ",
    "(exists (?x) ",
    "(when ",
    "(imply ",
    "(= ?x ?y)",
    "?x",
    "- object",
    "-",
    "(either hand shot)",
    ":effect",
    ":parameters",
    ":precondition ()",
    ":init",
    ":goal",
    ":objects",
    ":constants",
    "(:action a :parameters (?x ?y ?z ?u ?v) :effect (on ?x ?y))",
    "(increase (total-cost) 1)",
    ";",
    "\n",
    "object",
    "9999999999999999999999",
    "\u{1f9e9}",
    "\u{0}",
    "(on-table b1)",
    "on",
    "check",
    "cannot",
];

/// Returns the texts to mutate: small problems of every domain, and the feature-rich one.
fn base_texts() -> Vec<(String, String)> {
    let mut bases = vec![(FEATURE_RICH_PROBLEM.0.to_owned(), FEATURE_RICH_PROBLEM.1.to_owned())];
    for domain in Domain::ALL {
        let id = TaskId { domain, difficulty: Difficulty::Easy, number: 1 };
        bases.push((domain.pddl_text().to_owned(), generate(&id).unwrap().text));
    }
    bases
}

/// Changes a text in one to four places: replaces words with others of the text or with fragments, omits, duplicates
/// or repeats them.
fn mutate(rng: &mut Rng, text: &str) -> String {
    let mut words: Vec<String> = text.split_inclusive([' ', '(', ')', '\n']).map(str::to_owned).collect();
    for _ in 0..=rng.below(3) {
        if words.is_empty() {
            break;
        }
        let (at, other) = (rng.below(words.len()), rng.below(words.len()));
        let end = |at: usize| words[at].chars().next_back();
        // Half of the changes keep the parentheses; otherwise hardly any file would be playable.
        if rng.once_in(2) {
            if end(at) == end(other) {
                copy_word(&mut words, other, at);
            }
            continue;
        }
        match rng.below(9) {
            0 => drop(words.remove(at)),
            1 => rng.pick(PIECES).clone_into(&mut words[at]),
            2 => words.insert(at, rng.pick(PIECES).to_owned()),
            3 => copy_word(&mut words, other, at),
            4 => words.swap(at, other),
            5 => words.insert(at, rng.pick(PIECES).repeat(1 + rng.below(2_000))),
            6 => words.truncate(at),
            7 => {
                let (from, to) = (at.min(other), (at.max(other) + 1).min(at.min(other) + 60));
                let copy = words[from..to].concat();
                words.insert(from, copy.repeat(1 + rng.below(20)));
            }
            _ => {
                // Replaces one name with another one everywhere.
                let (old, new) = (words[at].clone(), words[other].clone());
                words.iter_mut().filter(|word| **word == old).for_each(|word| word.clone_from(&new));
            }
        }
    }
    words.concat()
}

fn copy_word(words: &mut [String], from: usize, to: usize) {
    let word = words[from].clone();
    words[to] = word;
}

fn load(domain: &str, problem: &str) -> Option<Arc<Game>> {
    let source = ProblemSource {
        domain_label: "domain",
        domain: domain.as_bytes(),
        problem_label: "problem",
        problem: problem.as_bytes(),
    };
    match Game::load(&source) {
        Ok(game) => Some(game),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// Plays some listed actions and goes back. Returns whether there were any.
fn exercise(rng: &mut Rng, game: Arc<Game>) -> bool {
    let mut world = PddlEnvironment::new(game, GoalSeparator::Space, None);
    world.reset().unwrap();
    let (snapshot, first) = (world.snapshot().unwrap(), world.admissible().unwrap());
    for _ in 0..8 {
        let valid_count = world.world().valid_count();
        let Some(text) = world.world().valid_actions().nth(rng.below(valid_count)).map(str::to_owned) else {
            break;
        };
        let result = world.step(&text).unwrap();
        assert!((0.0..=1.0).contains(&result.progress));
        // An object may have the name of a verb, or `check`; then the text means something else.
    }
    if let Hint::Plan(plan) = world.world().hint(SMALL_EFFORT) {
        assert!(plan.iter().all(|text| !text.is_empty()));
    }
    world.restore(&snapshot).unwrap();
    assert_eq!(world.admissible().unwrap(), first);
    !first.is_empty()
}

#[test]
fn mutated_files_load_or_fail_with_an_error() {
    let bases = base_texts();
    let (mut played, mut count) = (0_u64, 0_u64);
    Soak::new("PDDL files", 100_000).run(|rng, _| {
        let (domain, problem) = &bases[rng.below(bases.len())];
        let game = match rng.below(4) {
            0 => load(&mutate(rng, domain), problem),
            1 | 2 => load(domain, &mutate(rng, problem)),
            _ => load(&mutate(rng, domain), &mutate(rng, problem)),
        };
        count += 1;
        played += u64::from(game.is_some_and(|game| exercise(rng, game)));
    });
    println!("{count} pairs of files, {played} of them played");
    assert!(count < 100 || played * 20 > count, "the mutations leave too little to play");
}

#[test]
fn hostile_actions_get_a_result() {
    let mut worlds: Vec<PddlEnvironment> = base_texts()
        .iter()
        .map(|(domain, problem)| {
            PddlEnvironment::new(load(domain, problem).unwrap(), GoalSeparator::Comma, None)
        })
        .collect();
    for world in &mut worlds {
        world.reset().unwrap();
    }
    let (mut executed, mut count) = (0_u64, 0_u64);
    Soak::new("PDDL actions", 100_000).run(|rng, _| {
        let index = rng.below(worlds.len());
        let world = &mut worlds[index];
        let text = match rng.below(3) {
            0 => hostile::text(rng, LARGE_ONCE_IN),
            1 => {
                // A listed action with a fragment of something else in it.
                let valid_count = world.world().valid_count();
                let listed =
                    world.world().valid_actions().nth(rng.below(valid_count)).unwrap_or_default().to_owned();
                mutate(rng, &listed)
            }
            _ => {
                let valid_count = world.world().valid_count();
                world.world().valid_actions().nth(rng.below(valid_count)).unwrap_or_default().to_owned()
            }
        };
        let before = world.world().state_hash();
        let result = world.step(&text).unwrap();
        let is_unchanged = world.world().state_hash() == before;
        assert!(is_unchanged || result.valid, "{text:?} was rejected but changed the environment");
        assert!(
            result.valid
                || result.observation.starts_with("The action is not valid and therefore takes no effect.")
        );
        executed += u64::from(!is_unchanged);
        count += 1;
    });
    println!("{count} actions, {executed} of them executed");
    assert!(count < 100 || executed * 4 > count, "too few actions were executed");
}
