//! Replies as models write them: cases as data, and what holds for every text.

use super::*;
use serde::Deserialize;

mod properties;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Corpus<C> {
    reply: Vec<C>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListCase {
    name: String,
    text: String,
    items: Vec<String>,
    #[serde(default)]
    complaints: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActorCase {
    name: String,
    text: String,
    thought: Option<String>,
    action: Option<String>,
    #[serde(default)]
    complaints: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanCase {
    name: String,
    text: String,
    plan: String,
    #[serde(default)]
    sections: Vec<(String, String)>,
    #[serde(default)]
    complaints: Vec<String>,
}

fn cases<C: for<'a> Deserialize<'a>>(text: &str) -> Vec<C> {
    toml::from_str::<Corpus<C>>(text).unwrap().reply
}

/// A lesson as the corpus writes it.
fn line(text: &LessonText) -> String {
    match &text.solution {
        Some(solution) => format!("{} => {solution}", text.text),
        None => text.text.clone(),
    }
}

/// What differs from the complaints that were expected.
fn differing(name: &str, want: &[String], got: &[&str]) -> Option<String> {
    let fits = want.len() == got.len() && want.iter().zip(got).all(|(w, g)| g.contains(w.as_str()));
    (!fits).then(|| format!("{name}: complaints {got:#?} where {want:?} were expected"))
}

fn holds(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn mentors_lists() {
    let mut wrong = Vec::new();
    for case in cases::<ListCase>(include_str!("tests/items.toml")) {
        let read = items(&case.text);
        let got: Vec<String> = read.items.iter().map(|i| line(&i.text)).collect();
        if got != case.items {
            wrong.push(format!("{}: {got:#?}", case.name));
        }
        let complaints: Vec<&str> = read.complaints.iter().map(|c| c.words.as_str()).collect();
        wrong.extend(differing(&case.name, &case.complaints, &complaints));
    }
    holds(&wrong);
}

#[test]
fn actors_replies() {
    let mut wrong = Vec::new();
    for case in cases::<ActorCase>(include_str!("tests/actor.toml")) {
        let reading = read(&case.text);
        if (&reading.thought, &reading.action) != (&case.thought, &case.action) {
            wrong.push(format!("{}: {reading:#?}", case.name));
        }
        let complaints: Vec<&str> = reading.complaints.iter().map(String::as_str).collect();
        wrong.extend(differing(&case.name, &case.complaints, &complaints));
    }
    holds(&wrong);
}

#[test]
fn mentors_plans() {
    let mut wrong = Vec::new();
    for case in cases::<PlanCase>(include_str!("tests/plan.toml")) {
        let read = plan(&case.text);
        if (&read.text, &read.sections) != (&case.plan, &case.sections) {
            wrong.push(format!("{}: {read:#?}", case.name));
        }
        let complaints: Vec<&str> = read.complaints.iter().map(|c| c.words.as_str()).collect();
        wrong.extend(differing(&case.name, &case.complaints, &complaints));
    }
    holds(&wrong);
}

#[test]
fn what_is_said_beside_a_lesson_is_kept_with_it() {
    let read =
        items("## Kitchen\n- Look first.\n\n{\"hall\": [{\"priority\": \"high\", \"rule\": \"Go.\"}]}");
    let item = &read.items[0];
    assert_eq!((item.priority.as_deref(), item.under.as_deref()), (Some("high"), Some("hall")));
    let read = items("## Kitchen\n- Look first.");
    assert_eq!(read.items[0].under.as_deref(), Some("Kitchen"));
    assert!(!read.unusable());
    assert!(!items("[]").unusable(), "an empty list is an answer");
    assert!(items("[\"Look fir").unusable());
}

/// A stop at a newline cut the action off a reply whose thought has a label, and it was taken for a step that only thinks.
#[test]
fn a_reply_in_two_parts_that_ends_with_its_first_is_cut_short_and_a_whole_step_is_not() {
    let cut = [
        "Thought: it is near.",
        "Thought 3: it is near.",
        "**Thought:** it is near.",
        "> Thoughts: hm",
        "Reasoning: it is near.",
        "THOUGHT:",
        "<thought>it is near</thought>",
        "Action:",
        "**Action 2:**",
        "Observation: a desk.",
        "```",
        "```json",
        "{",
        "{\"thought\": \"it is near\",",
        "<think>hm</think>Thought: it is near.",
    ];
    let whole = [
        "",
        " ",
        "go to desk 1",
        "> go to desk 1",
        // ReAct's own format: a line that thinks is a step.
        "think: it is near.",
        "> think: it is near.",
        "Think: it is near.",
        "I should look.",
        "Thought: it is near. Action: look",
        "Action: look",
        "{\"thought\": \"it is near\", \"action\": \"look\"}",
        "```look around```",
        "{\"action\": {\"name\": \"look\"}}",
        "thoughts come and go",
        "<think>hm",
        // The prompt of ReAct said back.
        ">",
        "> >",
        "**",
    ];
    for reply in cut {
        assert!(cut_short(reply), "{reply:?}");
        assert_eq!(read(reply).action, None, "{reply:?}");
    }
    for reply in whole {
        assert!(!cut_short(reply), "{reply:?}");
    }
}
