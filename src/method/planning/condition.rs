//! Conditions of assertions, such as `'close' to 'fridge 1'`, decided by what the agent has observed
//! (docs/METHODS.md).

use crate::engine::Episode;

/// The condition of an assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    is_negated: bool,
    claim: Claim,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Claim {
    /// The agent is at the object.
    Near(String),
    /// The agent holds the object.
    Held(String),
    /// The newest sentence about the object, or about its state if the second text has an opposite, has both texts.
    Together(String, String),
}

// The words below are those of the program's language (docs/METHODS.md), which is the same in every environment: an assertion of the
// public code says `'close' to` and `in 'hands'`, and observations and actions are matched with what it says. Words of single environments
// (`unstack`, `debark`, `sail`) are verbs of getting, giving away and travelling that no other environment uses otherwise; declared in
// entries, they would have to reach a pure parser through the state.

/// Words that aren't a state by themselves.
const RELATIONS: &[&str] = &["is", "not", "in", "on", "to", "of"];
const NEAR: &[&str] = &["close", "near", "at", "next"];
const HELD: &[&str] = &["holding", "held", "carrying", "have"];
const HANDS: &[&str] = &["hand", "hands", "inventory"];
/// What observations and actions say when the agent gets or has an object.
const TAKING: &[&str] = &[
    "pick", "pickup", "take", "grasp", "grab", "fetch", "holding", "carrying", "have", "unstack", "board",
    "aboard",
];
/// What they say when the agent gives it away.
const RELEASING: &[&str] =
    &["put", "putdown", "put-away", "move", "drop", "place", "leave", "stack", "debark", "not"];
/// Words of actions that end with the place they lead to.
const TRAVELLING: &[&str] = &["go", "walk", "move", "sail"];
/// States that exclude each other, each with its other forms.
const OPPOSITES: &[[&[&str]; 2]] = &[
    [&["open", "opened"], &["closed", "close", "shut"]],
    [&["unlocked"], &["locked"]],
    [&["loose", "loosened"], &["tight", "tightened"]],
    [&["clean", "cleaned"], &["dirty", "used"]],
    [&["empty"], &["full"]],
    [&["hot", "heated", "heat"], &["cold", "cooled", "cool"]],
    [&["free"], &["busy"]],
];

impl Condition {
    /// Parses a condition. Returns `None` if it has none of the forms in docs/METHODS.md.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (quoted, words) = split_quoted(text)?;
        let is_negated = words.iter().any(|word| word == "not");
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        let claim = match quoted.as_slice() {
            [object] if has(HANDS) || has(HELD) => Claim::Held(object.clone()),
            [object] if has(NEAR) => Claim::Near(object.clone()),
            [object] => {
                let state = words.iter().find(|word| !RELATIONS.contains(&word.as_str()))?;
                Claim::Together(object.clone(), state.clone())
            }
            [relation, object] if NEAR.contains(&relation.as_str()) => Claim::Near(object.clone()),
            [relation, object] if HELD.contains(&relation.as_str()) => Claim::Held(object.clone()),
            [object, place] if HANDS.contains(&place.as_str()) => Claim::Held(object.clone()),
            [object, other] => Claim::Together(object.clone(), other.clone()),
            _ => return None,
        };
        Some(Self { is_negated, claim })
    }

    /// Returns whether the condition holds before step `step` (from 1), as far as the agent can tell: the newest sentence
    /// about it decides. Nothing observed means that it doesn't hold.
    pub(super) fn holds(&self, episode: &Episode, step: u32) -> bool {
        let holds = match &self.claim {
            Claim::Near(object) => accepted_actions(episode, step)
                .find(|action| action.iter().any(|word| TRAVELLING.contains(&word.as_str())))
                .is_some_and(|action| ends_with_object(&action, object)),
            Claim::Held(object) => {
                sentences(episode, step).find_map(|sentence| holding(&sentence, object)).unwrap_or(false)
            }
            Claim::Together(object, other) => {
                let (forms, opposites) = state_forms(other);
                let has =
                    |sentence: &[String], forms: &[String]| forms.iter().any(|form| mentions(sentence, form));
                let decides = |s: &&Vec<String>| {
                    mentions(s, object) && (opposites.is_empty() || has(s, &forms) || has(s, &opposites))
                };
                // All sentences of an observation are equally new.
                let about = observations(episode, step)
                    .map(|observation| observation.iter().filter(decides).cloned().collect::<Vec<_>>())
                    .find(|sentences| !sentences.is_empty());
                about.is_some_and(|sentences| sentences.iter().any(|s| has(s, &forms) && !is_removal(s)))
            }
        };
        holds != self.is_negated
    }
}

/// Returns whether the agent holds an object after a sentence, or `None` if the sentence doesn't say.
fn holding(sentence: &[String], object: &str) -> Option<bool> {
    let has = |list: &[&str]| sentence.iter().any(|word| list.contains(&word.as_str()));
    // Lists all that the agent holds, sometimes without numbers.
    if has(&["you"]) && has(&["carrying"]) {
        let kind = object.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
        return Some(mentions(sentence, object) || mentions(sentence, kind) && !has_number(sentence));
    }
    if !mentions(sentence, object) {
        return None;
    }
    if has(RELEASING) { Some(false) } else { has(TAKING).then_some(true) }
}

fn has_number(sentence: &[String]) -> bool {
    sentence.iter().any(|word| word.chars().all(|c| c.is_ascii_digit()))
}

/// Returns the forms of a state and those of its opposite; other texts have only themselves.
fn state_forms(text: &str) -> (Vec<String>, Vec<String>) {
    let owned = |forms: &[&str]| forms.iter().map(|form| (*form).to_owned()).collect();
    let pair = OPPOSITES.iter().find_map(|[one, other]| match (one.contains(&text), other.contains(&text)) {
        (true, _) => Some((owned(one), owned(other))),
        (_, true) => Some((owned(other), owned(one))),
        _ => None,
    });
    pair.unwrap_or_else(|| (vec![text.to_owned()], Vec::new()))
}

/// Splits a condition into its quoted texts and the words around them, in lower case. Returns `None` if a quote isn't
/// closed.
fn split_quoted(text: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (mut quoted, mut rest) = (Vec::new(), String::new());
    let mut parts = text.to_lowercase();
    while let Some(start) = parts.find(['\'', '"']) {
        let quote = &parts[start..=start];
        let end = start + 1 + parts[start + 1..].find(quote)?;
        let inner = parts[start + 1..end].trim().to_owned();
        if inner.is_empty() {
            return None;
        }
        quoted.push(inner);
        rest.push_str(&parts[..start]);
        rest.push(' ');
        parts = parts[end + 1..].to_owned();
    }
    rest.push_str(&parts);
    let words = rest.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    Some((quoted, words.map(str::to_owned).collect()))
}

fn words(text: &str) -> Vec<String> {
    let is_separator = |c: char| !(c.is_alphanumeric() || c == '-');
    text.to_lowercase().split(is_separator).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Returns whether consecutive words of a sentence are this text.
fn mentions(sentence: &[String], text: &str) -> bool {
    let text = words(text);
    !text.is_empty() && sentence.windows(text.len()).any(|window| window == text)
}

/// Returns whether an action's last words are an object, with or without its number.
fn ends_with_object(action: &[String], object: &str) -> bool {
    let object = words(object);
    let without_number = action.split_last().filter(|(last, _)| last.chars().all(|c| c.is_ascii_digit()));
    !object.is_empty()
        && (action.ends_with(&object) || without_number.is_some_and(|(_, rest)| rest.ends_with(&object)))
}

/// Returns the accepted actions before a step as words, newest first.
fn accepted_actions(episode: &Episode, step: u32) -> impl Iterator<Item = Vec<String>> {
    let steps = (1..step).rev().filter_map(|number| episode.step(number));
    let accepted = steps.filter(|s| s.answer.as_ref().is_some_and(|answer| answer.valid));
    accepted.filter_map(|s| s.action()).map(words)
}

/// Returns whether a sentence says that the agent took something out of a place: it names both, but they are apart.
fn is_removal(sentence: &[String]) -> bool {
    sentence.first().is_some_and(|word| word == "you") && sentence.iter().any(|word| word == "from")
}

/// Returns the sentences of the observations and the accepted actions before a step as words, newest first.
fn sentences(episode: &Episode, step: u32) -> impl Iterator<Item = Vec<String>> {
    let steps = (1..step).rev().filter_map(|number| episode.step(number)).flat_map(|s| {
        let action = s.action().filter(|_| s.answer.as_ref().is_some_and(|answer| answer.valid));
        let observation = s.observation().map(split_sentences).unwrap_or_default();
        observation.into_iter().rev().chain(action.map(words))
    });
    steps.chain(first_observation(episode).into_iter().rev())
}

/// Returns the sentences of each observation before a step, newest observation first.
fn observations(episode: &Episode, step: u32) -> impl Iterator<Item = Vec<Vec<String>>> {
    let steps = (1..step).rev().filter_map(|number| episode.step(number));
    steps.filter_map(|s| s.observation().map(split_sentences)).chain([first_observation(episode)])
}

fn first_observation(episode: &Episode) -> Vec<Vec<String>> {
    let first = episode.first_observation.as_ref();
    first.map(|o| split_sentences(o.agent_view.as_deref().unwrap_or(&o.raw))).unwrap_or_default()
}

fn split_sentences(text: &str) -> Vec<Vec<String>> {
    text.split(['.', '\n']).map(words).collect()
}
