//! Mutated grammars and game files: loading and playing always end soon, with an environment or with an error.

use crate::cases::{Rng, Soak};
use retrospect::env::alfworld::{Game, World, check_grammar};
use std::fs;
use std::path::Path;

const DOMAIN: &str = include_str!("../data/kitchen/domain.pddl");
const PROBLEM: &str = include_str!("../data/kitchen/problem.pddl");
const GRAMMAR: &str = include_str!("../data/kitchen/grammar.twl2");

/// A game small enough to play a hundred thousand variants quickly.
const SMALL_DOMAIN: &str = "(define (domain s) (:types agent thing - object cup - thing) \
    (:predicates (ready ?a - agent) (in ?x - thing ?y - thing) (seen ?x - thing)) \
    (:action look :parameters (?a - agent) :precondition () :effect (ready ?a)) \
    (:action take :parameters (?a - agent ?o - thing ?r - thing) :precondition (in ?o ?r) \
      :effect (and (not (in ?o ?r)) (seen ?o))) \
    (:action put :parameters (?a - agent ?o - thing ?r - thing) :precondition (and (seen ?o) (not (= ?o ?r))) :effect (in ?o ?r)))";
const SMALL_PROBLEM: &str = "(define (problem p) (:domain s) (:objects agent1 - agent box_bar_1 box_bar_2 - thing cup_bar_1 - cup) \
    (:init (ready agent1) (in box_bar_1 box_bar_2) (in cup_bar_1 box_bar_1)) (:goal (seen cup_bar_1)))";
/// The texts of its grammar, in the order in which [`small_grammar`] inserts them.
const SMALL_TEXTS: [&str; 10] = [
    "Here: [{#thing# | in(x:thing, y:thing)}].",
    "{x.name or x.id | seen(x:thing) & not_in(x:thing, y:thing)}",
    "{x.indefinite + ' ' + x.name}#state#",
    "seen(x:thing)",
    " (seen)",
    ", ",
    "take {o} from {r}",
    "You take {o.name} from [{r.name | in(r:thing, s:thing)}].",
    "put {o} to {r}",
    "#thing#",
];

/// Returns the grammar of the small game with these texts.
fn small_grammar(texts: &[String]) -> String {
    let quoted = |index: usize| serde_json::Value::from(texts[index].as_str()).to_string();
    let plain = |index: usize| texts[index].replace('"', "'");
    format!(
        "grammar :: \"\"\" {{\"intro\": [{{\"rhs\": {}}}], \"more\": [{{\"rhs\": {}}}], \"thing\": [{{\"rhs\": {}}}],
        \"state\": [{{\"condition\": {}, \"rhs\": {}}}, {{\"rhs\": \"#more#\"}}],
        \"list_separator\": [{{\"rhs\": {}}}], \"list_last_separator\": [{{\"rhs\": \", and \"}}], \"list_empty\": [{{\"rhs\": \"nothing\"}}]}} \"\"\";
        action look {{ template :: \"look\"; feedback :: \"#intro#\"; }}
        action take {{ template :: \"{}\"; feedback :: \"{}\"; }}
        action put {{ template :: \"{}\"; feedback :: \"{}\"; }}",
        quoted(0), quoted(1), quoted(2), quoted(3), quoted(4), quoted(5), plain(6), plain(7), plain(8), plain(9),
    )
}

/// Fragments that have a meaning in at least one of the formats.
const WORDS: [&str; 40] = [
    "#intro#",
    "#thing#",
    "#",
    "{",
    "}",
    "[{",
    "}]",
    "|",
    "&",
    "(",
    ")",
    "\"",
    "\"\"\"",
    "\\n",
    ";",
    "::",
    "action x {",
    "}",
    "//",
    "\t",
    "{x.name | in(x:thing, y:thing)}",
    "[{#thing# | in(x:thing, y:thing) & in(y:thing, z:thing)}]",
    "not_in(x:thing, y:thing)",
    "or",
    "+",
    "(and ",
    "(or ",
    "(not ",
    "(forall (?x - object) ",
    "(exists (?x - object) ",
    "(when ",
    "(imply ",
    "(= ?x ?y)",
    "?x",
    "- object",
    ":effect",
    "(:init (in cup_bar_1 cup_bar_1)",
    "\u{1F9E9}",
    "\u{0}",
    "9999999999999999999999",
];

/// Returns an index in a text at which a character starts.
fn char_boundary(rng: &mut Rng, text: &str) -> usize {
    let mut at = rng.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the ends of a piece of a text, of about this length at most.
fn span(rng: &mut Rng, text: &str, max_len: usize) -> (usize, usize) {
    let from = char_boundary(rng, text);
    let mut to = (from + 1 + rng.below(max_len)).min(text.len());
    while !text.is_char_boundary(to) {
        to += 1;
    }
    (from, to)
}

/// Replaces some words with others of the same text, keeping its parentheses.
fn shuffle_words(rng: &mut Rng, text: &str) -> String {
    let mut words: Vec<&str> = text.split_inclusive([' ', '(', ')', '\n']).collect();
    for _ in 0..=rng.below(4) {
        let (from, to) = (rng.below(words.len()), rng.below(words.len()));
        let end = |word: &str| word.chars().next_back();
        if end(words[from]) == end(words[to]) {
            words[to] = words[from];
        }
    }
    words.concat()
}

/// Applies one to three mutations to a text.
fn mutate(rng: &mut Rng, text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..=rng.below(3) {
        let (from, to) = span(rng, &text, 120);
        let word = WORDS[rng.below(WORDS.len())];
        match rng.below(9) {
            0 => text.replace_range(from..to, ""),
            1 => text.replace_range(from..to, word),
            2 => text.insert_str(from, word),
            3 => {
                let copy = text[from..to].to_owned();
                let at = char_boundary(rng, &text);
                text.insert_str(at, &copy);
            }
            4 => text.insert_str(from, &word.repeat(1 + rng.below(3000))),
            5 => text.truncate(from),
            6 => {
                let (other, end) = span(rng, &text, 60);
                let copy = text[other..end].to_owned();
                text.replace_range(from..to, &copy);
            }
            7 => {
                let copy = text[from..to].repeat(1 + rng.below(200));
                text.insert_str(to, &copy);
            }
            _ => {
                let old: String = text[from..to].chars().take(1 + rng.below(8)).collect();
                if !old.trim().is_empty() && old.len() > 2 {
                    text = text.replacen(&old, word, 50);
                }
            }
        }
        text.truncate(
            (0..=2_000_000.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0),
        );
    }
    text
}

fn game_file(domain: &str, problem: &str, grammar: &str) -> Vec<u8> {
    serde_json::json!({ "pddl_domain": domain, "pddl_problem": problem, "grammar": grammar })
        .to_string()
        .into_bytes()
}

/// Loads a game and plays a little. Returns whether it could be played.
fn exercise(rng: &mut Rng, bytes: &[u8]) -> bool {
    let Ok(game) = Game::load("soak", bytes) else { return false };
    let Ok(mut world) = World::new(game, None) else { return false };
    let saved = world.save_state();
    for _ in 0..8 {
        let count = world.commands().count();
        let Some(command) = world.commands().nth(rng.below(count)).map(ToOwned::to_owned) else {
            break;
        };
        match world.play(&command) {
            // A listed command with white space at its start or end can never be typed, as in the original.
            Ok(reply) => {
                assert!(reply.accepted || command.trim() != command, "{command:?} was listed but rejected");
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let _ = world.restore_state(&saved);
    true
}

#[test]
fn mutated_grammars_load_or_fail_with_an_error() {
    let (mut count, mut played) = (0, 0);
    Soak::new("ALFWorld grammars", 100_000).run(|rng, _| {
        let mut texts = SMALL_TEXTS.map(ToOwned::to_owned);
        let mut grammar = small_grammar(&texts);
        if rng.once_in(4) {
            grammar = mutate(rng, &grammar);
        } else {
            let at = rng.below(texts.len());
            texts[at] = mutate(rng, &texts[at]);
            grammar = small_grammar(&texts);
        }
        let _ = check_grammar("soak", &grammar);
        count += 1;
        played += usize::from(exercise(rng, &game_file(SMALL_DOMAIN, SMALL_PROBLEM, &grammar)));
    });
    assert_enough_is_played(played, count);
}

/// Checks that the mutations leave enough to play.
fn assert_enough_is_played(played: usize, count: usize) {
    println!("{played} of {count} were played");
    assert!(played * 20 > count || count == 1, "the mutations leave too little to play: {played} of {count}");
}

/// Mutates each of the three parts, or the bytes of the whole file.
#[test]
fn mutated_game_files_load_or_fail_with_an_error() {
    let bases = base_games();
    let (mut count, mut played) = (0, 0);
    Soak::new("ALFWorld game files", 10_000).run(|rng, _| {
        let [domain, problem, grammar] = &bases[rng.below(bases.len())];
        let bytes = match rng.below(8) {
            0 => game_file(&mutate(rng, domain), problem, grammar),
            1 => game_file(domain, &mutate(rng, problem), grammar),
            2 => game_file(domain, problem, &mutate(rng, grammar)),
            3 => {
                let domain = mutate(rng, domain);
                game_file(&domain, &mutate(rng, problem), grammar)
            }
            4 | 5 => game_file(&shuffle_words(rng, domain), &shuffle_words(rng, problem), grammar),
            6 => game_file(domain, &shuffle_words(rng, problem), &shuffle_words(rng, grammar)),
            _ => {
                let whole = game_file(domain, problem, grammar);
                mutate(rng, &String::from_utf8_lossy(&whole)).into_bytes()
            }
        };
        count += 1;
        played += usize::from(exercise(rng, &bytes));
    });
    assert_enough_is_played(played, count);
}

/// Returns the kitchen, and some real games if they are available.
fn base_games() -> Vec<[String; 3]> {
    let mut bases = vec![[DOMAIN, PROBLEM, GRAMMAR].map(ToOwned::to_owned)];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld/games");
    for entry in fs::read_dir(root).into_iter().flatten().flatten().step_by(14) {
        let Ok(bytes) = fs::read(entry.path().join("game.tw-pddl")) else { continue };
        let Ok(game) = serde_json::from_slice::<serde_json::Value>(&bytes) else { continue };
        let part = |key: &str| game[key].as_str().unwrap_or_default().to_owned();
        bases.push([part("pddl_domain"), part("pddl_problem"), part("grammar")]);
    }
    bases
}
