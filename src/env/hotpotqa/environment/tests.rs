//! Plays questions on made-up pages, in both styles and with all agents.

use super::*;

const MARIE: [&str; 2] = ["Marie is a baker.", "She was born in Hesk."];

fn environment(agent: &str, style: &str) -> QuestionEnvironment {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let question = Question {
        id: "q".to_owned(),
        text: "Where was Marie born?".to_owned(),
        answer: "the village Hesk".to_owned(),
        kind: None,
        level: None,
        supporting_titles: texts(&["Marie"]),
        pages: Vec::new(),
    };
    let pages = vec![
        Page::from_sentences("Marie", &texts(&MARIE)),
        Page::from_paragraphs(
            "Hesk",
            vec![texts(&["Hesk is a village.", "Its wool is grey."]), texts(&["The Village has a mill."])],
        ),
    ];
    let options = PlayOptions {
        agent: Agent::from_word(agent),
        style: Style::from_word(style),
        pages_name: "two".to_owned(),
    };
    let mut environment =
        QuestionEnvironment::new(Arc::new(question), Arc::new(PageSet::new(pages)), options);
    environment.reset().unwrap();
    environment
}

/// Plays actions and compares each observation.
fn check(environment: &mut QuestionEnvironment, steps: &[(&str, &str)]) {
    for (action, expected) in steps {
        assert_eq!(environment.step(action).unwrap().observation, *expected, "{action}");
    }
}

const INVALID: &str =
    "Invalid Action. Valid Actions are Lookup[<topic>] Search[<topic>] and Finish[<answer>].";

#[test]
fn reflexion_s_answers() {
    check(
        &mut environment("react", "reflexion"),
        &[
            ("Lookup[born]", NO_PAGE),
            ("Search[marie]", "Marie is a baker. She was born in Hesk."),
            ("Lookup[BORN]", "(Result 1/1) Marie is a baker. She was born in Hesk."),
            ("Lookup[born]", "No More Results"),
            ("Lookup[sheep]", "No Results"),
            ("Search[Hesk]", "Hesk is a village. Its wool is grey."),
            ("Lookup[village]", "(Result 1/2) Hesk is a village. Its wool is grey."),
            ("Lookup[village]", "(Result 2/2) The Village has a mill."),
            ("Search[Marie]", "Marie is a baker. She was born in Hesk."),
            // A search keeps term and place.
            ("Lookup[village]", "No Results"),
            ("Search[Marie Hesk]", "Could not find [Marie Hesk]. Similar: ['Marie', 'Hesk']"),
            ("Lookup[born]", NO_PAGE),
            ("look around", INVALID),
            ("think: I wonder", "OK."),
            ("Finish[Hesk]", "Answer is INCORRECT"),
            ("Search[Hesk]", OVER),
        ],
    );
}

#[test]
fn react_s_answers() {
    check(
        &mut environment("react", "react"),
        &[
            ("lookup[born]", "No more results.\n"),
            ("Search[Marie]", "Marie is a baker. She was born in Hesk."),
            ("search[Ada]", "Could not find Ada. Similar: ['Hesk', 'Marie']."),
            // A search that fails keeps the page.
            ("Lookup[born]", "(Result 1 / 1) She was born in Hesk."),
            ("Lookup[born]", "No more results.\n"),
            ("search[Hesk]", "Hesk is a village. Its wool is grey. The Village has a mill."),
            ("lookup[village]", "(Result 1 / 2) Hesk is a village."),
            ("search[Hesk]", "Hesk is a village. Its wool is grey. The Village has a mill."),
            // A search forgets term and place.
            ("lookup[village]", "(Result 1 / 2) Hesk is a village."),
            ("think[hm]", "Nice thought."),
            ("look", "Invalid action: look"),
            ("finish[Village Hesk.]", "Episode finished, reward = 1\n"),
        ],
    );
}

#[test]
fn only_a_right_answer_wins() {
    for (answer, won, f1) in [("Hesk", false, 0.667), ("the VILLAGE Hesk", true, 1.0), ("Lisgar", false, 0.0)]
    {
        let mut environment = environment("react", "reflexion");
        let result = environment.step(&format!("Finish[{answer}]")).unwrap();
        assert_eq!((result.won, result.done, result.reward), (won, true, f64::from(won)), "{answer}");
        assert_eq!(result.shown["answer"]["f1"], f1, "{answer}");
    }
}

#[test]
fn agents_that_answer_at_once_have_one_action() {
    let mut context = environment("cot-context", "reflexion");
    let first = context.reset().unwrap().observation;
    assert_eq!(
        first,
        "Relevant Context: Marie: Marie is a baker. She was born in Hesk.\nQuestion: Where was Marie born?\n\
         Nothing can be searched: reply with Finish[answer]."
    );
    assert!(!context.step("think: Hesk is a village.").unwrap().done);
    let refused = context.step("Search[Marie]").unwrap();
    assert_eq!(
        (refused.observation.as_str(), refused.valid, refused.done, refused.won),
        (INVALID, false, true, false)
    );
    let mut alone = environment("cot", "reflexion");
    let first = alone.reset().unwrap().observation;
    assert!(first.starts_with("Question: Where was Marie born?\nNothing can be searched"), "{first}");
    assert!(alone.step("Finish[village Hesk]").unwrap().won);
}

#[test]
fn the_answer_is_told_to_nobody_but_a_person() {
    let mut environment = environment("react", "reflexion");
    let first = environment.reset().unwrap();
    assert_eq!(first.truth["answer"], "the village Hesk");
    for action in ["Search[Marie]", "Lookup[born]", "Search[x]", "Finish[no]"] {
        let result = environment.step(action).unwrap();
        assert!(!format!("{} {}", result.observation, result.shown).contains("the village Hesk"), "{action}");
        assert_eq!(result.truth, Value::Null);
    }
}

#[test]
fn a_snapshot_restores_page_and_place() {
    let mut environment = environment("react", "reflexion");
    check(&mut environment, &[("Search[Hesk]", "Hesk is a village. Its wool is grey.")]);
    check(&mut environment, &[("Lookup[village]", "(Result 1/2) Hesk is a village. Its wool is grey.")]);
    let snapshot = environment.snapshot().unwrap();
    let next =
        [("Lookup[village]", "(Result 2/2) The Village has a mill."), ("Finish[x]", "Answer is INCORRECT")];
    check(&mut environment, &next);
    environment.restore(&snapshot).unwrap();
    check(&mut environment, &next);
    assert!(environment.restore(&Snapshot(Box::new(1))).is_err());
}
