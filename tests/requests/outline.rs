//! What a request is made of: its parts in order, its sampling, and the mentor's replies that it repeats.

use crate::stand_in::Exchange;
use serde_json::Value;

/// Returns the parts of a prompt in order, with the role of the message in which each begins. What asks for the reply is
/// `cue` if it is a line of a few words, else `question`. What none of these parts can contain follows as `unknown`.
pub(crate) fn outline(exchange: &Exchange, goals: &[String]) -> String {
    let text = exchange.text();
    let text = text.as_str();
    // The goal of the last attempt in the prompt. Questions about a list have none.
    let task = goals.iter().filter_map(|goal| text.rfind(&format!("Your task is to: {goal}"))).max();
    let after_task = |words: &str| task.and_then(|task| text[task..].find(words).map(|at| task + at));
    let memory = text.find("of the mentor.");
    // Lists that only rules have written to.
    let lists =
        || ["Mistakes made so far", "Your progress so far"].iter().find_map(|heading| text.find(heading));
    let mut parts: Vec<(&str, usize)> = [
        ("examples", text.find("Solved tasks ")),
        ("failures", text.find("attempts, each followed by")),
        ("memory", memory),
        ("exemplars", text.find("; follow its style:").or_else(|| text.find("; follow their style:"))),
        ("rules", if memory.is_some() { None } else { lists() }),
        ("attempt", text.find("The attempt that failed:")),
        ("pool", text.find("The lessons:")),
        ("list", text.find("The list so far:")),
        ("task", task),
        ("steps", after_task("\n> ")),
        ("outcome", after_task("STATUS: FAIL").or_else(|| after_task("STATUS: OK"))),
    ]
    .into_iter()
    .filter_map(|(name, at)| Some((name, at?)))
    .collect();
    parts.sort_by_key(|(_, at)| *at);
    let (first, last) = (parts[0].1, parts[parts.len() - 1].1);
    if text[..first].split_whitespace().count() > 10 {
        parts.insert(0, ("instruction", 0));
    }
    let end = text.trim_end();
    let asks = end.rfind('\n').map_or(0, |at| at + 1);
    let words = end[asks..].split_whitespace().count();
    if asks > last && (words <= 3 || end[last..].contains("\n\n")) {
        parts.push((if words <= 3 { "cue" } else { "question" }, asks));
    }
    let (mut messages, mut begins) = (Vec::new(), 0);
    for (role, content) in exchange.messages() {
        let ends = begins + content.len();
        let here = parts.iter().filter(|(_, at)| (begins..ends).contains(at));
        let names: Vec<&str> = here.map(|(name, _)| *name).collect();
        messages.push(format!("{role}: {}", names.join(", ")));
        begins = ends;
    }
    if let Some(words) = exchange.known.unknown_in(text) {
        messages.push(format!("unknown: {words}"));
    }
    messages.join("; ")
}

/// Returns the outlines of prompts in the order of their first appearance, each with the number of prompts that have it.
pub(crate) fn outlines(prompts: &[&Exchange], goals: &[String]) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for outline in prompts.iter().map(|prompt| outline(prompt, goals)) {
        match found.iter_mut().find(|(_, known)| *known == outline) {
            Some((count, _)) => *count += 1,
            None => found.push((1, outline)),
        }
    }
    found
}

/// Returns the goals of the tasks that the actor played.
pub(crate) fn goals_of(exchanges: &[Exchange]) -> Vec<String> {
    // A plan of all actions is the mentor's only prompt.
    let has_actor = exchanges.iter().any(Exchange::is_actor);
    let prompts = exchanges.iter().filter(|e| e.is_actor() == has_actor).map(Exchange::text);
    let goals = prompts.map(|text| {
        let goal = text.rsplit("Your task is to: ").next().unwrap();
        goal.lines().next().unwrap().trim().to_owned()
    });
    goals.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// Writes parameters with every number as a decimal: 1 and 1.0 are the same.
pub(crate) fn numbers(sampling: &Value) -> String {
    let parameters = sampling.as_object().into_iter().flatten();
    let written = parameters.map(|(name, value)| match value.as_f64() {
        Some(number) => format!("{name}: {number:.3}"),
        None => format!("{name}: {value}"),
    });
    written.collect::<Vec<_>>().join(", ")
}

/// The numbers of the mentor's replies that a prompt contains, in order.
pub(crate) fn remembered(exchange: &Exchange) -> Vec<usize> {
    let text = exchange.text();
    let rules = text.match_indices("Rule ").filter_map(|(at, _)| {
        let (number, rest) = text[at + 5..].split_once(' ')?;
        rest.starts_with("of the mentor.").then(|| number.parse().unwrap())
    });
    rules.collect()
}
