//! Tests parsing and formatting of conditions. `tests/runs/breakpoints.rs` tests when each kind becomes true in recorded
//! sessions.

use super::condition::{BreakpointSpec, Condition, Pattern, RepeatedPart, SpendLimit, SpendScope, TextPart};
use super::{CompletionContext, FORMS, MAX_CONDITION_CHARS, parse, parse_checked, suggestions};
use crate::domain::ReflectionKind;
use proptest::prelude::*;

fn parse_ok(text: &str) -> Condition {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).condition
}

fn text_regex(part: TextPart, pattern: &str) -> Condition {
    Condition::Text(part, Pattern::Regex(pattern.to_owned()))
}

fn text_words(part: TextPart, words: &str) -> Condition {
    Condition::Text(part, Pattern::Words(words.to_owned()))
}

#[test]
fn conditions_parse_and_format() {
    let cases: Vec<(&str, Condition)> = vec![
        ("action ~ heat", text_regex(TextPart::Action, "heat")),
        ("action~^go to", text_regex(TextPart::Action, "^go to")),
        ("ACTION ~ a = b", text_regex(TextPart::Action, "a = b")),
        ("observation ~ Nothing", text_regex(TextPart::Observation, "Nothing")),
        ("thought ~ I (cannot|can't)", text_regex(TextPart::Thought, "I (cannot|can't)")),
        ("action = take (1)", text_words(TextPart::Action, "take (1)")),
        ("nothing 3", Condition::NothingHappened(3)),
        ("nothing", Condition::NothingHappened(1)),
        ("invalid", Condition::Invalid(1)),
        ("same action 3", Condition::Repeated(RepeatedPart::Action, 3)),
        ("same observation", Condition::Repeated(RepeatedPart::Observation, 2)),
        ("same thought 4", Condition::Repeated(RepeatedPart::Thought, 4)),
        ("same advice 5", Condition::SameAdvice(5)),
        ("same advice", Condition::SameAdvice(3)),
        ("cycle", Condition::GoingInCircles),
        ("reward changed", Condition::RewardChanged),
        ("progress changed", Condition::ProgressChanged),
        ("stalled 8", Condition::Stalled(8)),
        ("reflection", Condition::Reflection(None)),
        ("reflection Error", Condition::Reflection(Some(ReflectionKind::Error))),
        ("lesson 6", Condition::Lesson(6)),
        ("lesson #6", Condition::Lesson(6)),
        ("tokens > 20000", Condition::SpentMoreThan(SpendScope::Run, SpendLimit::Tokens(20_000))),
        ("tokens > 20k", Condition::SpentMoreThan(SpendScope::Run, SpendLimit::Tokens(20_000))),
        ("cost > 0.5", Condition::SpentMoreThan(SpendScope::Run, SpendLimit::Cost(500_000_000))),
        ("time > 10m", Condition::SpentMoreThan(SpendScope::Run, SpendLimit::Time(600))),
        ("episode time>90", Condition::SpentMoreThan(SpendScope::Episode, SpendLimit::Time(90))),
        ("end", Condition::EpisodeEnded(None)),
        ("end failure", Condition::EpisodeEnded(Some(false))),
        ("end success", Condition::EpisodeEnded(Some(true))),
        // The old spellings.
        ("step=5", Condition::Step(5)),
        ("won", Condition::Won),
        ("mistake", Condition::Mistake),
        ("note=wrong appliance", Condition::Note("wrong_appliance".to_owned())),
        ("reflection=ERROR", Condition::Reflection(Some(ReflectionKind::Error))),
        ("action=heat mug 1", text_words(TextPart::Action, "heat mug 1")),
        ("seen=Nothing happens", text_words(TextPart::Observation, "Nothing happens")),
    ];
    for (text, spec) in cases {
        assert_eq!(parse_ok(text), spec, "{text}");
        assert_eq!(parse_ok(&spec.to_string()), spec, "formatted and parsed again: {spec}");
    }
}

#[test]
fn warn_and_once_are_prefixes_and_once_is_also_a_suffix() {
    let parsed = |text: &str| parse(text).map(|m| (m.to_config().to_string(), m.is_watch, m.once)).unwrap();
    assert_eq!(parsed("warn action ~ heat"), ("warn action ~ heat".to_owned(), true, false));
    assert_eq!(parsed("once  warn nothing 3"), ("warn once nothing 3".to_owned(), true, true));
    assert_eq!(parsed("nothing 3 once"), ("once nothing 3".to_owned(), false, true));
    // A pattern extends to the end of the line.
    assert_eq!(parsed("action ~ only once"), ("action ~ only once".to_owned(), false, false));
}

#[test]
fn parse_errors_explain_the_problem_and_give_a_hint() {
    let cases = [
        ("", "missing condition"),
        ("nothin 3", "did you mean `nothing`?"),
        ("staled 8", "did you mean `stalled`?"),
        ("xyzzy", "unknown condition `xyzzy`"),
        ("nothing 0", "\"0\" is not a number"),
        ("nothing -1", "is not a number"),
        ("stalled", "missing number, such as `stalled 3`"),
        ("same", "expected `same action 3`"),
        ("same action 1", "is not a number from 2"),
        ("action", "missing pattern"),
        ("action ~", "missing pattern"),
        ("action ~ (", "invalid pattern"),
        ("action ~ ((((a{100}){100}){100}){100})", "too large"),
        ("reflection eror", "did you mean `error`?"),
        ("lesson x", "the number of a lesson"),
        ("tokens 20000", "missing limit, such as `tokens > 20k`"),
        ("cost > lots", "is not a valid limit"),
        ("time > 3y", "is not a valid limit"),
        ("reward", "`reward changed`"),
        ("end badly", "`end failure` or `end success`"),
        // A name that would be parsed differently after formatting.
        ("note==", "is not a detector name"),
        ("cycle 3", "`cycle` takes no argument"),
        ("episode nothing 3", "after `episode`"),
        ("warn", "missing condition"),
        ("action ~ a\nb", "one line"),
        ("3", "a condition begins with a word"),
    ];
    for (text, expected) in cases {
        let error = parse(text).expect_err(text);
        assert!(error.message.contains(expected), "{text:?}: {}", error.message);
        // The hint is short; the full grammar is in `docs/BREAKPOINTS.md` and in `--help`.
        let hint = &error.hint;
        assert!(hint.contains("docs/BREAKPOINTS.md") && hint.chars().count() < 200, "{hint}");
    }
    assert!(parse(&"x".repeat(MAX_CONDITION_CHARS + 1)).is_err());
}

#[test]
fn hint_lists_the_forms_of_the_typed_word() {
    let hint_for = |text: &str| parse(text).expect_err(text).hint;
    assert!(hint_for("same").starts_with(
        "write `same action N` or `same observation N` or `same thought N` or `same advice [N]`;"
    ));
    assert!(hint_for("nothing x").starts_with("write `nothing [N]`;"));
    assert!(hint_for("end badly").starts_with("write `end [failure|success]`;"));
    assert!(hint_for("xyzzy").starts_with("such as `nothing 3`,"));
}

#[test]
fn unknown_detectors_are_rejected_with_suggestions() {
    let known = ["left_closed", "repeat", "wrong_object"];
    let error_for = |text: &str| parse_checked(text, &known).expect_err(text);
    for (text, expected) in [
        ("note wrong_objct", "unknown detector `wrong_objct`; did you mean `wrong_object`?"),
        ("warn note reapet", "did you mean `repeat`?"),
        ("note closed once", "did you mean `left_closed`?"),
    ] {
        assert!(error_for(text).message.contains(expected), "{:?}", error_for(text));
        assert!(parse(text).is_ok(), "a condition from a journal may name an unknown detector");
    }
    assert!(error_for("note zzz").message.ends_with("unknown detector `zzz`"), "{:?}", error_for("note zzz"));
    assert!(error_for("note zzz").hint.contains("docs/SYMBOLIC.md"));
    assert_eq!(error_for("note"), parse("note").unwrap_err());
    assert!(parse_checked("note = Wrong Object", &known).is_ok() && parse_checked("nothing 3", &[]).is_ok());
}

#[test]
fn every_form_has_a_valid_example_and_is_documented() {
    let doc = include_str!("../../docs/BREAKPOINTS.md");
    let rows: Vec<Vec<String>> = doc
        .lines()
        .filter(|l| l.starts_with("| `"))
        .map(|l| {
            l.trim_matches('|').split(" | ").map(|c| c.trim().trim_matches('`').replace("\\|", "|")).collect()
        })
        .collect();
    assert_eq!(rows.len(), FORMS.len(), "docs/BREAKPOINTS.md has a row for each form");
    for (form, row) in FORMS.iter().zip(rows) {
        assert_eq!(row, [form.syntax, form.example, form.meaning, form.pauses_at]);
        parse_ok(form.example);
    }
}

#[test]
fn capital_letters_make_a_pattern_case_sensitive() {
    let matches = |text: &str, observation: &str| match parse_ok(text) {
        Condition::Text(_, pattern) => super::parse::compile_pattern(&pattern).unwrap().is_match(observation),
        other => panic!("{other}"),
    };
    assert!(matches("observation ~ nothing", "Nothing happens."));
    assert!(!matches("observation ~ Nothing", "you see nothing."));
    assert!(matches(r"observation ~ \Sothing", "you see nothing."), "the letter in an escape doesn't count");
    assert!(matches("action = (1)", "take it (1)") && !matches("action = (1)", "take it 1"));
}

#[test]
fn completion_offers_known_values_and_keeps_modifiers() {
    let known = CompletionContext {
        actions: vec!["heat mug 1 with microwave 1".to_owned()],
        detectors: vec!["wrong_object".to_owned()],
        lessons: vec![(6, "Heat food in a microwave only.".to_owned())],
    };
    let lines = |typed: &str| suggestions(typed, &known).into_iter().map(|o| o.text).collect::<Vec<_>>();
    assert_eq!(lines("warn action ")[0], "warn action = heat mug 1 with microwave 1");
    assert_eq!(lines("lesson ")[0], "lesson 6");
    assert_eq!(lines("once note w")[0], "once note wrong_object");
    assert!(lines("reflection ").contains(&"reflection plan".to_owned()));
    assert!(lines("").contains(&"nothing 3".to_owned()));
    for typed in ["", "warn ", "action ", "note ", "lesson ", "reflection ", "once warn reflection "] {
        for offer in lines(typed) {
            assert!(parse(&offer).is_ok(), "{offer}");
        }
    }
}

fn any_condition() -> impl Strategy<Value = Condition> {
    let part = prop_oneof![Just(TextPart::Action), Just(TextPart::Observation), Just(TextPart::Thought)];
    let repeated_part =
        prop_oneof![Just(RepeatedPart::Action), Just(RepeatedPart::Observation), Just(RepeatedPart::Thought)];
    let pattern = prop_oneof![
        "[a-z0-9][ -~]{0,20}[a-z0-9]".prop_map(Pattern::Words),
        "[a-z.*^$|+]([a-z .*^$|+]{0,12}[a-z])?".prop_map(Pattern::Regex),
    ];
    let scope = prop_oneof![Just(SpendScope::Run), Just(SpendScope::Episode)];
    let spend = prop_oneof![
        (0u64..u64::from(u32::MAX)).prop_map(SpendLimit::Tokens),
        any::<u64>().prop_map(SpendLimit::Cost),
        (0u64..1_000_000).prop_map(SpendLimit::Time),
    ];
    prop_oneof![
        (part, pattern).prop_map(|(part, pattern)| Condition::Text(part, pattern)),
        (1u32..=1_000_000).prop_map(Condition::NothingHappened),
        (1u32..=1_000_000).prop_map(Condition::Invalid),
        (repeated_part, 2u32..=1_000_000).prop_map(|(part, n)| Condition::Repeated(part, n)),
        Just(Condition::GoingInCircles),
        Just(Condition::Won),
        Just(Condition::Mistake),
        "[a-z][a-z_]{0,20}".prop_map(Condition::Note),
        Just(Condition::RewardChanged),
        Just(Condition::ProgressChanged),
        (1u32..=1_000_000).prop_map(Condition::Stalled),
        proptest::option::of(proptest::sample::select(ReflectionKind::ALL.to_vec()))
            .prop_map(Condition::Reflection),
        (1u32..=1_000_000).prop_map(Condition::Lesson),
        (scope, spend).prop_map(|(scope, spend)| Condition::SpentMoreThan(scope, spend)),
        (1u32..=1_000_000).prop_map(Condition::Step),
        proptest::option::of(any::<bool>()).prop_map(Condition::EpisodeEnded),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn formatted_conditions_parse_to_the_same_condition(condition in any_condition(), is_watch: bool, once: bool) {
        let spec = BreakpointSpec { condition, is_watch, once };
        let text = spec.to_config().to_string();
        // Only patterns that are not valid regular expressions (such as `+a`) are rejected.
        match parse(&text) {
            Ok(parsed) => prop_assert_eq!(parsed, spec),
            Err(error) => {
                prop_assert!(error.message.contains("invalid pattern"), "{}: {}", text, error.message);
            }
        }
    }

    #[test]
    fn any_text_is_parsed_or_rejected_with_a_message(text in "\\PC{0,80}|(warn |once )?(action|same|time|nothing|cost|end|note) ?[~=>]? ?\\PC{0,30}") {
        match parse(&text) {
            Ok(spec) => prop_assert_eq!(parse(&spec.to_config().to_string()), Ok(spec)),
            Err(error) => prop_assert!(!error.message.is_empty() && !error.hint.is_empty()),
        }
    }
}
