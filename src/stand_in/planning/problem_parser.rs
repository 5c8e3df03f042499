//! Converts the text of a planning problem back to facts, for the four domains whose sentences the actor knows.

use crate::env::pddl::{Domain, Game, ProblemSource};
use regex::Regex;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

/// The words before every goal.
const GOAL_PREFIX: &str = "The goal is to satisfy the following conditions: ";

/// How each domain words a fact: the pattern of the sentence in lower case, the fact, and the types of its arguments.
type FactPattern = (&'static str, &'static str, &'static [&'static str]);

const GRIPPER: &[FactPattern] = &[
    (r"robby is at (\S+)\.", "at-robby", &[""]),
    (r"(\S+) is at (\S+)\.", "at", &["", ""]),
    (r"(\S+) is a ball\.", "ball", &[""]),
    (r"(\S+) is a gripper\.", "gripper", &[""]),
    (r"(\S+) is free\.", "free", &[""]),
    (r"(\S+) is carrying (\S+)\.", "carry", &["", ""]),
    (r"\broom (\S+)", "room", &[""]),
];
const BLOCKWORLD: &[FactPattern] = &[
    (r"your (arm) is empty\.", "arm-empty", &[]),
    (r"(\S+) is on the table\.", "on-table", &[""]),
    (r"(\S+) is on ([^\s.]+)\.", "on", &["", ""]),
    (r"the (\S+) is clear\.", "clear", &[""]),
    (r"you are holding (\S+)\.", "holding", &[""]),
];
const BARMAN: &[FactPattern] = &[
    (r"(\S+) is on the table\.", "ontable", &["container"]),
    (r"handempty (\S+)", "handempty", &["hand"]),
    (r"(\S+) is empty\.", "empty", &["container"]),
    (r"(\S+) is clean\.", "clean", &["container"]),
    (r"(\S+) contains (\S+)\.", "contains", &["container", ""]),
    (r"pour (\S+) from a shot glass to a used shaker (\S+)", "used", &["shot", ""]),
    (r"(\S+) dispenses (\S+)\.", "dispenses", &["dispenser", "ingredient"]),
    (r"(\S+) is at empty level (\S+)\.", "shaker-empty-level", &["shaker", "level"]),
    (r"(\S+) is at level (\S+)\.", "shaker-level", &["shaker", "level"]),
    (r"level (\S+) is next to level (\S+)\.", "next", &["level", "level"]),
    (r"(\S+) is unshaked\.", "unshaked", &["shaker"]),
    (r"(\S+) is shaked\.", "shaked", &["shaker"]),
    (r"(\S+) part1 ingredient is (\S+)\.", "cocktail-part1", &["cocktail", "ingredient"]),
    (r"(\S+) part2 ingredient is (\S+)\.", "cocktail-part2", &["cocktail", "ingredient"]),
];
const TYREWORLD: &[FactPattern] = &[
    (r"(\S+) is open\.", "isopen", &["container"]),
    (r"(\S+) is closed\.", "closed", &["container"]),
    (r"(\S+) is unlocked\.", "unlocked", &["container"]),
    (r"you have (\S+)\.", "have", &[""]),
    (r"(\S+) is in (\S+)\.", "in", &["", "container"]),
    (r"the nut (\S+) on the hub (\S+) is loose\.", "loose", &["nut", "hub"]),
    (r"the nut (\S+) on the hub (\S+) is tight\.", "tight", &["nut", "hub"]),
    (r"hub (\S+) is on the ground\.", "on-ground", &["hub"]),
    (r"hub (\S+) is not on the ground\.", "not-on-ground", &["hub"]),
    (r"wheel (\S+) is inflated\.", "inflated", &["wheel"]),
    (r"wheel (\S+) is not inflated\.", "not-inflated", &["wheel"]),
    (r"wheel (\S+) is intact\.", "intact", &["wheel"]),
    (r"hub (\S+) is fastened\.", "fastened", &["hub"]),
    (r"hub (\S+) is unfastened\.", "unfastened", &["hub"]),
    (r"(\S+) is free\.", "free", &["hub"]),
    (r"(\S+) is on ([^\s.]+)\.", "on", &["wheel", "hub"]),
];

/// The compiled sentences of a domain.
type DomainPatterns = (Domain, Vec<(Regex, &'static FactPattern)>);

/// All compiled sentences, by domain.
static PATTERNS: LazyLock<Vec<DomainPatterns>> = LazyLock::new(|| {
    let tables = [
        (Domain::Gripper, GRIPPER),
        (Domain::Blockworld, BLOCKWORLD),
        (Domain::Barman, BARMAN),
        (Domain::Tyreworld, TYREWORLD),
    ];
    tables
        .into_iter()
        .map(|(domain, rows)| {
            (domain, rows.iter().filter_map(|row| Some((Regex::new(row.0).ok()?, row))).collect())
        })
        .collect()
});

/// Returns whether a task's text is that of a planning problem.
pub(super) fn is_planning_task(task: &str) -> bool {
    task.contains(GOAL_PREFIX)
}

/// Returns the goal's sentences from a task's text.
pub(super) fn goal_sentences(task: &str) -> &str {
    task.split_once(GOAL_PREFIX).and_then(|(_, rest)| rest.lines().next()).unwrap_or_default()
}

/// Returns the domain of a full observation.
pub(super) fn detect_domain(observation: &str) -> Option<Domain> {
    let text = observation.to_lowercase();
    [
        ("robby is at", Domain::Gripper),
        ("dispenses", Domain::Barman),
        ("hub ", Domain::Tyreworld),
        (" is clear.", Domain::Blockworld),
    ]
    .into_iter()
    .find(|(phrase, _)| text.contains(phrase))
    .map(|(_, domain)| domain)
}

/// Returns a problem whose initial state is what an observation describes, with the goal that the goal's sentences
/// state.
pub(super) fn build_game(domain: Domain, observation: &str, goal: &str) -> Option<Arc<Game>> {
    let mut objects: BTreeMap<String, &'static str> = BTreeMap::new();
    let mut init = parse_facts(domain, observation, &mut objects);
    let goal_facts = parse_facts(domain, goal, &mut objects);
    if domain == Domain::Barman {
        add_holding_facts(&mut init, &mut objects);
    }
    if domain == Domain::Tyreworld {
        for tool in ["wrench", "jack", "pump"] {
            objects.insert(tool.to_owned(), "tool");
        }
    }
    let mut text = format!("(define (problem seen) (:domain {}) (:objects", domain.pddl_name());
    for (object, kind) in &objects {
        let kind = match (domain, *kind) {
            (Domain::Gripper | Domain::Blockworld, _) => "object",
            (Domain::Barman, "" | "container") => "shot",
            (Domain::Tyreworld, "") => "wheel",
            (_, kind) => kind,
        };
        // Writing to a string cannot fail.
        let _ = write!(text, " {object} - {kind}");
    }
    let _ = write!(text, ") (:init {}) (:goal (and {})))", init.join(" "), goal_facts.join(" "));
    Game::load(&ProblemSource {
        domain_label: "known rules",
        domain: domain.pddl_text().as_bytes(),
        problem_label: "what was seen",
        problem: text.as_bytes(),
    })
    .ok()
}

/// Returns the facts that the sentences state, and adds their objects to `objects`, with the types that are known.
fn parse_facts(domain: Domain, text: &str, objects: &mut BTreeMap<String, &'static str>) -> Vec<String> {
    let text = text.to_lowercase();
    let mut facts = Vec::new();
    let patterns = PATTERNS
        .iter()
        .find(|(known_domain, _)| *known_domain == domain)
        .map_or(&[][..], |(_, all)| all.as_slice());
    for (pattern, (_, name, kinds)) in patterns {
        for captures in pattern.captures_iter(&text) {
            let words: Vec<&str> = kinds
                .iter()
                .enumerate()
                .filter_map(|(index, _)| Some(captures.get(index + 1)?.as_str()))
                .collect();
            // `robby is at rooma` and `x is on the table` also match a second pattern.
            if words.iter().any(|word| matches!(*word, "robby" | "the") || !is_plain_name(word)) {
                continue;
            }
            for (word, kind) in words.iter().zip(*kinds) {
                let known = objects.entry((*word).to_owned()).or_default();
                if known.is_empty() || *known == "container" && !kind.is_empty() {
                    *known = kind;
                }
            }
            let terms: Vec<&str> = std::iter::once(*name).chain(words).collect();
            facts.push(format!("({})", terms.join(" ")));
        }
    }
    facts
}

fn is_plain_name(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// Adds what each hand holds. Barman observations only say that a hand is not empty. What it holds is the vessel that
/// is not on the table.
fn add_holding_facts(init: &mut Vec<String>, objects: &mut BTreeMap<String, &'static str>) {
    let has_fact = |init: &[String], fact: &str, object: &str| init.contains(&format!("({fact} {object})"));
    for hand in ["left", "right"] {
        objects.insert(hand.to_owned(), "hand");
        if has_fact(init, "handempty", hand) {
            continue;
        }
        let held_vessel = objects.iter().find(|(object, kind)| {
            matches!(**kind, "shot" | "shaker" | "container")
                && !has_fact(init, "ontable", object)
                && !init
                    .iter()
                    .any(|fact| fact.starts_with("(holding ") && fact.ends_with(&format!(" {object})")))
        });
        if let Some((vessel, _)) = held_vessel {
            init.push(format!("(holding {hand} {vessel})"));
        }
    }
}
