//! Table tests of the language. Every expected value was observed in TextWorld.

use super::document::Document;
use crate::env::alfworld::tests::{DOMAIN, GRAMMAR, PROBLEM, game_file};
use crate::env::alfworld::{Game, World};

/// Returns the reply to `inventory` if its feedback is this text. The agent holds nothing; `l` and `r` are unbound.
fn inventory_text(text: &str) -> Result<String, String> {
    let rule = format!(
        "{GRAMMAR}\ngrammar :: \"\"\" {{\"inventory.text\": [{{\"rhs\": {}}}], \"S\": [{{\"rhs\": \"sym\"}}], \"S(x, y)\": [{{\"rhs\": \"two\"}}], \"N\": [{{\"rhs\": \"<{{r.name}}>\"}}]}} \"\"\";",
        serde_json::Value::from(text)
    );
    let game = Game::load("g", &game_file(DOMAIN, PROBLEM, &rule)).unwrap();
    let mut world = World::new(game, None).unwrap();
    world.play("inventory").map(|reply| reply.feedback.to_owned()).map_err(|error| error.to_string())
}

#[test]
fn texts_are_parsed_as_in_textworld() {
    for (text, expected) in [
        ("plain", "plain"),
        ("", ""),
        // Leading white space is dropped and other white space is kept; tabs before a token are dropped.
        ("  lead", "lead"),
        ("\n\n x \n", "x \n"),
        ("\t\tlead\tin \t", "lead\tin \t"),
        ("\u{3000}\u{a0}\u{1c}lead", "lead"),
        ("#S#\tz", "symz"),
        ("#S# z", "sym z"),
        ("a\t#S#", "a\tsym"),
        // Comments are recognized only at the start of the text, at the beginning of a line.
        ("//c\nx", "x"),
        ("//c\n//d\nx", "x"),
        ("//c\n //d\nx", "//d\nx"),
        (" // c\nx", "// c\nx"),
        ("\n//c\nx", "x"),
        ("// c", ""),
        ("a // b", "a // b"),
        ("#S#//b\nc", "sym//b\nc"),
        // Characters that cannot be used end the text.
        ("a;b", "a"),
        ("a|b", "a"),
        ("a<b", "a"),
        ("a>b", "a"),
        ("a}b", "a"),
        ("a]b", "a"),
        ("a[b", "a"),
        ("a{b", "a"),
        ("a#b", "a"),
        ("##", ""),
        ("a ## b", "a "),
        ("#a;b#", ""),
        ("{}", ""),
        ("[{}]", ""),
        ("[x]z", ""),
        ("[[{'x'}]]", ""),
        ("{{'x'}}", ""),
        ("{'x'}}z", "x"),
        ("[ {'x'}]", ""),
        ("[{'x'} ]", ""),
        ("[\t{'x'}\t]z", "xz"),
        ("{'x' | }z", ""),
        ("{'a<b'}z", ""),
        ("{'x'", ""),
        // Quoted literals.
        ("\"quo\"ted", "quoted"),
        ("x \" mid \" y", "x  mid  y"),
        ("a\"", "a"),
        ("\"a;b\" z", ""),
        ("\"a\nb\"", "a\nb"),
        // Escapes are not interpreted.
        ("a\\nb", "a\\nb"),
        // Symbols are looked up literally.
        ("#S(x, y)#", "two"),
        ("#S##S#", "symsym"),
        ("{#S#}z", "symz"),
        ("{#S# }z", ""),
        ("{#S#\t}z", "symz"),
        // Expressions.
        ("{'lit'}", "lit"),
        ("{\"lit\"}", "lit"),
        ("{'it''s'}", "its"),
        ("{'' or 'b'}", "b"),
        ("{'' or ''}z", "z"),
        ("{'' or '' + 'b'}", "b"),
        ("{'a' + 'b' or 'c'}", "ab"),
        ("{a.name}.", "agent1 ."),
        ("{a}.", "agent1 ."),
        ("{a.indefinite} {a.definite} {a.id}", "a the agent1"),
        ("{'#S#'}", "#S#"),
        ("{r.name | opened(r:receptacle)}z", "z"),
        ("[{r.name | opened(r:receptacle)}]", "nothing"),
        ("[{r.name | openable(r:receptacle)}]", "cabinet 2, fridge 1, and microwave 1"),
        ("{r.name | openable(r:receptacle)}", "cabinet 2fridge 1microwave 1"),
        ("[{#N# | openable(r:receptacle)}]", ""),
        ("[{r.name|\n openable ( r : receptacle )}]", "cabinet 2, fridge 1, and microwave 1"),
        ("[{receptacle.name | openable(receptacle)}]", "cabinet 2, fridge 1, and microwave 1"),
        ("[{r.name | openable(r:object)}]", "cabinet 2, fridge 1, and microwave 1"),
        ("[{r.name | openable(r:location)}]", "nothing"),
        ("[{r.name | nosuchthing(r:receptacle)}]", "nothing"),
        ("[{r.name | Openable(r:receptacle)}]", "nothing"),
        ("[{r.name | !openable(r:receptacle)}]", "nothing"),
        ("[{r.name | not_openable(r:receptacle)}]", "nothing"),
        ("[{r.name | openable(r:receptacle, s:receptacle)}]", "nothing"),
        ("{r.name} {'x' | openable(r:receptacle)}", "Err"),
        // No two placeholders share an entity, including the action's parameters.
        (
            "[{r.name + s.name | receptacleatlocation(r:receptacle, l:location) & receptacleatlocation(s:receptacle, l:location)}]",
            "cabinet 2cabinet 1, cabinet 2drawer 1, cabinet 1cabinet 2, cabinet 1drawer 1, countertop 1sinkbasin 1, drawer 1cabinet 2, drawer 1cabinet 1, and sinkbasin 1countertop 1",
        ),
        ("[{b.name | checked(b:agent)}]", "nothing"),
        ("[{a.name | checked(a:agent)}]", "agent1 "),
    ] {
        let reply = inventory_text(text);
        if expected == "Err" {
            assert!(reply.is_err(), "{text:?} gives {reply:?}");
        } else if text == "[{#N# | openable(r:receptacle)}]" {
            // The symbol's own text ends at its first character.
            assert_eq!(reply.as_deref(), Ok(", , and "), "{text:?}");
        } else {
            assert_eq!(reply.as_deref(), Ok(expected), "{text:?}");
        }
    }
}

#[test]
fn what_raises_an_exception_in_textworld_is_an_error() {
    for (text, reason) in [
        ("{ }", "unsupported expression"),
        ("{ #S# }", "unsupported expression"),
        ("{nobody.name}", "nothing is bound to \"nobody\""),
        ("{a.colour}", "unsupported expression"),
        ("{a.name + 1}", "unsupported expression"),
        ("{'x' | what}", "not a fact of a query"),
        ("{'x' | opened(r:receptacle) & }", "not a fact of a query"),
        ("{'x' | opened(r receptacle)}", "not a fact of a query"),
        ("{'x' | opened(r:Receptacle)}", "\"Receptacle\" is not declared"),
        ("#unknown#", "no production defines it"),
        ("# S#", "no production defines it"),
    ] {
        let error = inventory_text(text).unwrap_err();
        assert!(error.starts_with("g: grammar"), "{error}");
        assert!(error.contains(reason), "{text:?}: {error}");
    }
}

#[test]
fn later_definitions_replace_earlier_ones_completely() {
    let document = Document::parse(
        r#"grammar :: """ {"a": [{"rhs": "1"}, {"rhs": "2"}], "b": [{"rhs": "3", "weight": 7}]} """;
        action GO-there/now_1 { feedback :: "x
y"; template :: "z"; grammar :: """
          # a comment, even "with quotes
          {"a": [{"rhs": "4"}]}
        """; } # trailing words"#,
    )
    .unwrap();
    assert_eq!(document.productions["a"].iter().map(|one| one.rhs.as_str()).collect::<Vec<_>>(), ["4"]);
    assert_eq!(document.productions["b"][0].rhs, "3");
    let action = &document.actions["go-there/now_1"];
    assert_eq!((action.template.as_str(), action.feedback.as_str()), ("z", "x\ny"));
}

/// Subtypes are listed breadth first, by name; those two levels down occur twice, as in TextWorld.
#[test]
fn subtypes_are_matched_in_the_order_of_textworld() {
    let domain = "(define (domain d) (:types agent zeta - object alpha beta - zeta gam - beta delta - alpha eps - object)
        (:predicates (s ?x - object) (done ?a - object)) (:action go :parameters (?a - agent) :precondition () :effect (done ?a)))";
    let problem = "(define (problem p) (:domain d) (:objects agent1 - agent m_bar_1 a_bar_1 - zeta z_bar_1 - alpha b_bar_1 - beta
        c_bar_1 - gam d_bar_1 - delta e_bar_1 - eps o_bar_1 - object)
        (:init (s m_bar_1) (s a_bar_1) (s z_bar_1) (s b_bar_1) (s c_bar_1) (s d_bar_1) (s e_bar_1) (s o_bar_1)) (:goal (done agent1)))";
    for (kind, expected) in
        [("object", "o z b d e c a m d c z b"), ("zeta", "a m z b d c d c"), ("alpha", "z d"), ("gam", "c")]
    {
        let grammar = format!(
            "grammar :: \"\"\" {{\"intro\": [{{\"rhs\": \"{{x.name + ' ' | s(x:{kind})}}\"}}]}} \"\"\"; action go {{ template :: \"go\"; feedback :: \"\"; }}"
        );
        let game = Game::load("g", &game_file(domain, problem, &grammar)).unwrap();
        let mut world = World::new(game, None).unwrap();
        assert_eq!(world.restart().unwrap().replace(" 1", "").trim_end(), expected, "{kind}");
    }
}
