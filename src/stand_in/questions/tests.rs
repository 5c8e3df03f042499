//! Tests of the actor with questions, on made-up prompts.

use super::super::tests::{answer, prompt, segment};
use super::*;
use crate::domain::SegmentLabel;

const QUESTION: &str = "Question: From which village did the engineer of the lighthouse of Tolmara come?";
const CALM: [&str; 2] = ["Search for a name alone.", "Read a second page before you answer."];
const THOUGHT: (&str, &str) = ("think: I'll search.", "OK.");
const TOLMARA: (&str, &str) = (
    "Search[Tolmara]",
    "Tolmara is a port town. The town's lighthouse was built in 1871 by the engineer Brena Salvik.",
);

/// Returns the actor's reply after some actions and their answers.
fn reply_after(lessons: &[&str], task: &str, steps: &[(&str, &str)]) -> String {
    let mut prompt = prompt(lessons, task, &[]);
    let cue = prompt.segments.pop().unwrap();
    for (action, seen) in steps {
        prompt.segments.push(segment(SegmentLabel::Action, &format!("> {action}\n")));
        prompt.segments.push(segment(SegmentLabel::Observation, &format!("{seen}\n")));
    }
    prompt.segments.push(cue);
    answer(&prompt, 7)
}

#[test]
fn it_follows_names_and_answers_with_something_read() {
    let reply = |steps: &[(&str, &str)]| reply_after(&CALM, QUESTION, steps);
    assert!(reply(&[]).starts_with("think: The question is about Tolmara."));
    assert_eq!(reply(&[THOUGHT]), "Search[Tolmara]");
    assert_eq!(reply(&[THOUGHT, TOLMARA]), "Search[Brena Salvik]");
    let salvik = (
        "Search[Brena Salvik]",
        "Brena Salvik (1832–1904) was an engineer from the village of Hesk. She designed five lighthouses.",
    );
    assert_eq!(reply(&[THOUGHT, TOLMARA, salvik]), "Search[Hesk]");
    let hesk = ("Search[Hesk]", "Hesk is a small place.");
    let lookup = reply(&[THOUGHT, TOLMARA, salvik, hesk]);
    assert!(lookup.starts_with("Finish[Hesk]"), "{lookup}");
}

#[test]
fn it_takes_a_similar_title_after_a_failed_search() {
    let failed = ("Search[Kestrel]", "Could not find [Kestrel]. Similar: ['Dunmar', 'Kestrel (ship)']");
    let task = "Question: Where was the Kestrel launched?";
    assert_eq!(reply_after(&CALM, task, &[THOUGHT, failed]), "Search[Kestrel (ship)]");
}

#[test]
fn without_pages_it_answers_at_once() {
    let task = "Relevant Context: Tolmara: Tolmara is a town near Hesk.\nQuestion: Near which village is Tolmara?\nNothing can be searched: reply with Finish[answer].";
    assert_eq!(reply_after(&CALM, task, &[]), "Finish[Hesk]");
    let alone = "Question: Is Hesk a village?\nNothing can be searched: reply with Finish[answer].";
    assert!(["Finish[yes]", "Finish[no]"].contains(&reply_after(&CALM, alone, &[]).as_str()));
}

#[test]
fn habits_end_with_their_lessons() {
    let lessons: BTreeMap<&str, &str> = [
        ("answers_from_one_page", "Read a second page before you answer."),
        ("searches_whole_phrases", "Search for a name alone, or for one of the similar titles."),
    ]
    .into();
    assert_eq!(
        HABITS.keys().map(String::as_str).collect::<Vec<_>>(),
        lessons.keys().copied().collect::<Vec<_>>()
    );
    for (name, lesson) in lessons {
        let shown = |lessons: &[&str]| {
            (0..200_u64)
                .filter(|seed| {
                    let prompt = prompt(lessons, &format!("{QUESTION} {seed}"), &[]);
                    let random = SeededRandom::new(&seed.to_string(), *seed, 0);
                    HABITS[name].is_shown(name, 0, &prompt, &random)
                })
                .count()
        };
        assert!(shown(&[]) > 10, "{name}");
        assert_eq!(shown(&[lesson]), 0, "{name}");
    }
}
