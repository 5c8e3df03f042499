//! Malformed game files: each is rejected immediately, with file, location and reason.

use super::{DOMAIN, GRAMMAR, PROBLEM, game_file, kitchen_with, play_accepted};
use crate::env::EnvError;
use crate::env::alfworld::{Game, World, limits};

/// Returns the location and the reason of the error.
fn load_error(bytes: &[u8]) -> (String, String) {
    match Game::load("some/game.tw-pddl", bytes) {
        Err(EnvError::Broken { file, place, reason }) => {
            assert_eq!(file, "some/game.tw-pddl");
            (place, reason)
        }
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("it loaded"),
    }
}

fn load_error_of(domain: &str, problem: &str, grammar: &str) -> (String, String) {
    load_error(&game_file(domain, problem, grammar))
}

#[test]
fn broken_files_are_rejected_with_location_and_reason() {
    let whole = game_file(DOMAIN, PROBLEM, GRAMMAR);
    let deep = format!("{{\"extra\": {}", "[".repeat(100_000));
    for (bytes, place, reason) in [
        (&b""[..], "line 1, column 0", "EOF"),
        (b"[1, 2]", "line 1, column", "invalid type"),
        (b"{\"grammar\": \"\"}", "line 1, column 15", "missing field"),
        (&whole[..whole.len() / 2], "line 1, column", "EOF while parsing a string"),
        (b"\xff\xfe{}", "line 1, column 1", "expected value"),
        (deep.as_bytes(), "line 1", "EOF while parsing a list"),
    ] {
        let (at, why) = load_error(bytes);
        assert!(at.starts_with(place), "{at:?} is not at {place:?}");
        assert!(why.contains(reason), "{why:?} does not say {reason:?}");
    }
}

#[test]
fn broken_pddl_is_rejected_with_line_and_column() {
    let cases = [
        (
            DOMAIN.replace("(checked ?r - receptacle)", ""),
            "PDDL domain, line 17",
            "\"checked\" is not declared",
        ),
        (
            DOMAIN.replace("(checked ?l))", "(checked ?l ?a))"),
            "PDDL domain, line 17",
            "takes 1 arguments, not 2",
        ),
        (DOMAIN.replace("(checked ?l))", "(checked ?z))"), "PDDL domain, line 17", "\"?z\" is not declared"),
        (DOMAIN[..DOMAIN.len() - 3].to_owned(), "PDDL domain, line", "expected \")\""),
        (format!("{DOMAIN})"), "PDDL domain, line", "text after the last parenthesis"),
        (DOMAIN.replace("(:functions", "(:derived"), "PDDL domain, line 15", "not supported"),
        (DOMAIN.replace("Kitchen)", "Kücheñ)"), "PDDL domain, line 2", "ASCII"),
        (String::new(), "PDDL domain, line 1, column 1", "expected \"(\""),
        (
            format!("(define (domain x) (:action a :precondition {}", "(not ".repeat(50_000)),
            "PDDL domain",
            "more than 100 levels deep",
        ),
    ];
    for (domain, place, reason) in cases {
        let (at, why) = load_error_of(&domain, PROBLEM, GRAMMAR);
        assert!(at.starts_with(place), "{at:?} is not at {place:?} ({why})");
        assert!(why.contains(reason), "{why:?} does not say {reason:?}");
    }
    let cases = [
        (PROBLEM.replace("(heatable Apple_bar_1)", "(edible Apple_bar_1)"), "\"edible\" is not declared"),
        (
            PROBLEM.replace("(heatable Apple_bar_1)", "(heatable Pear_bar_1)"),
            "\"pear_bar_1\" is not declared",
        ),
        (PROBLEM.replace("(:goal", "(:wish"), "not supported"),
        ("(define (problem p) (:domain d))".to_owned(), "no goal"),
    ];
    for (problem, reason) in cases {
        let (at, why) = load_error_of(DOMAIN, &problem, GRAMMAR);
        assert!(at.starts_with("PDDL problem, line"), "{at:?}");
        assert!(why.contains(reason), "{why:?} does not say {reason:?}");
    }
}

#[test]
fn a_problem_beyond_the_limits_is_rejected_with_a_reason() {
    let many: String = (0..4000).fold(String::new(), |text, at| text + &format!("thing{at} "));
    let domain = "(define (domain d) (:predicates (p ?x) (q ?x ?y)) (:action a :parameters (?x ?y) :precondition () :effect (q ?x ?y)))";
    let problem = format!("(define (problem p) (:domain d) (:objects {many}) (:init) (:goal (and)))");
    let (place, reason) = load_error_of(domain, &problem, GRAMMAR);
    assert_eq!(place, "PDDL grounding");
    assert!(reason.contains("too large for this program"), "{reason}");
    let (place, reason) = load_error(&vec![b' '; limits::FILE_BYTES + 1]);
    assert_eq!(place, "file");
    assert!(reason.contains("at most"));
}

#[test]
fn broken_grammars_are_rejected_with_a_location() {
    let with_intro =
        |rhs: &str| GRAMMAR.replace("\"-= Welcome to TextWorld, ALFRED! =-", &format!("\"{rhs}"));
    let rule = |rules: &str| format!("{GRAMMAR}\ngrammar :: \"\"\" {rules} \"\"\";");
    let cases = [
        (format!("{GRAMMAR}\nnonsense"), "grammar, line 85, column 1", "expected \"grammar ::\""),
        (
            GRAMMAR.replace("{\"inventory.text\": [", "{\"inventory.text\": "),
            "grammar, line 5",
            "invalid productions",
        ),
        (GRAMMAR.replace("template :: \"help\";", ""), "grammar, line 79", "\"help\" has no template"),
        (
            GRAMMAR.replace("template :: \"help\";", "template :: \"help\""),
            "grammar, line 8",
            "expected \";\"",
        ),
        (GRAMMAR.replace("\"\"\"", "\"\""), "grammar, line", "expected"),
        (GRAMMAR.replace("\"intro\"", "\"outro\""), "grammar, symbol \"intro\"", "no production defines it"),
        (with_intro("#unheard of#"), "grammar, symbol \"unheard of\"", "no production defines it"),
        (with_intro("{r.name}"), "grammar, an expression", "nothing is bound to \"r\""),
        (with_intro("{1 + 2}"), "grammar, an expression", "unsupported expression"),
        (with_intro("{'a' | what}"), "grammar, a query", "not a fact of a query"),
        (with_intro("{'a' | opened(r:robot)}"), "grammar, a query", "\"robot\" is not declared"),
        (rule(r##"{"intro": [{"rhs": "#intro#"}]}"##), "grammar, symbol \"intro\"", "cyclic"),
        (rule(r##"{"intro": [{"rhs": "#b##b#"}], "b": [{"rhs": "#intro##intro#"}]}"##), "grammar", "cyclic"),
        (
            rule(r#"{"intro": [{"rhs": "x", "condition": "opened(r:receptacle)"}]}"#),
            "grammar, symbol \"intro\"",
            "none of its productions applies",
        ),
        (rule(&doubling(40)), "grammar", "too many steps"),
        (
            rule(
                &doubling(40)
                    .replace("\"x0\": [{\"rhs\": \"\"}]", "\"x0\": [{\"rhs\": \"0123456789abcdef\"}]"),
            ),
            "grammar",
            "a text exceeds",
        ),
    ];
    for (grammar, place, reason) in cases {
        let (at, why) = load_error_of(DOMAIN, PROBLEM, &grammar);
        assert!(at.starts_with(place), "{at:?} is not at {place:?} ({why})");
        assert!(why.contains(reason), "{why:?} does not say {reason:?}");
    }
}

/// Builds an introductory text that doubles with each symbol, without a cycle.
fn doubling(symbols: usize) -> String {
    let rules = (1..symbols).map(|at| format!(", \"x{at}\": [{{\"rhs\": \"#x{0}##x{0}#\"}}]", at - 1));
    format!(
        "{{\"intro\": [{{\"rhs\": \"#x{}#\"}}], \"x0\": [{{\"rhs\": \"\"}}]{}}}",
        symbols - 1,
        rules.collect::<String>()
    )
}

#[test]
fn an_action_without_text_is_an_error_once_it_is_applicable() {
    let game = kitchen_with(&[("action OpenObject {", "action OpenNothing {")]);
    let mut world = World::new(game, None).unwrap();
    play_accepted(&mut world, &["go to countertop 1"]);
    let error = world.play("go to fridge 1").unwrap_err().to_string();
    assert!(error.contains("\"openobject\" has no text"), "{error}");
    world.restart().unwrap();
    play_accepted(&mut world, &["look"]);
    let game = kitchen_with(&[("action look {", "action lock {")]);
    assert!(World::new(game, None).unwrap_err().to_string().contains("\"look\" has no text"));
}

#[test]
fn an_error_in_a_text_is_reported_when_the_text_is_expanded() {
    let game = kitchen_with(&[("\"You are not carrying anything.\"", "\"You carry #nothing at all#.\"")]);
    let mut world = World::new(game, None).unwrap();
    play_accepted(&mut world, &["look"]);
    let error = world.play("inventory").unwrap_err();
    let EnvError::Broken { file, place, .. } = &error else { panic!("{error}") };
    assert_eq!((file.as_str(), place.as_str()), ("kitchen", "grammar, symbol \"nothing at all\""));
    world.restart().unwrap();
    play_accepted(&mut world, &["look"]);
}

/// Regression test: a soak test found a stale list after a command whose text failed.
#[test]
fn the_command_list_is_current_after_a_command_whose_text_fails() {
    let game = kitchen_with(&[("You open the {r.name}.", "You open the {nobody.name}.")]);
    let mut world = World::new(game, None).unwrap();
    play_accepted(&mut world, &["go to fridge 1"]);
    assert!(world.play("open fridge 1").is_err());
    let listed: Vec<String> = world.commands().map(ToOwned::to_owned).collect();
    assert!(listed.contains(&"close fridge 1".to_owned()), "{listed:?}");
    assert!(!listed.contains(&"open fridge 1".to_owned()), "{listed:?}");
}
