//! The pure views between world and prompt: what ReAct's and AgentBoard's wrappers do to actions and observations.
//! The journal keeps the world's own text; what is changed here is kept beside it, with the name of the rule.

use super::forms::think_text;
use crate::domain::{EpisodeRole, Step, StepResult};
use crate::engine::{OutgoingAction, State};

/// Which view a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Raw,
    React,
    Agentboard,
}

/// AgentBoard's command for the list of admissible actions.
const CHECK_ACTION: &str = "check valid actions";

/// What is sent in place of a thought to a world that would look for an action in it.
const THINK_WORD: &str = "think";

fn is_env(state: &State, env: &str) -> bool {
    state.episode.as_ref().is_some_and(|episode| episode.task.env == env)
}

/// How the lines begin that name a goal in a first observation.
const GOAL_PREFIXES: &[&str] = &["Your task is to:", "The goal is", "Your goal is"];

/// What is sent to the world for an action, and the rule that changed it.
///
/// `raw` and `react` send what was said. `agentboard` (methods.md 3.1, 3.4): a trailing dot is dropped
/// (`agentboard.dot`), in a `put` the first word of ` in `, ` on ` becomes ` in/on ` (`agentboard.put`), and
/// `check valid actions` asks for the list instead of a step (`agentboard.check`).
///
/// Worlds that come with AgentBoard's own wrapper get what was said in every view, with two exceptions: in BabyAI, where
/// `pickup_alias` is on, the verb of AgentBoard's prompt becomes the one its world knows (`babyai.pickup`), and of a thought
/// in `pddl` only the word is sent (`pddl.thought`).
///
/// Before all of these, under the setting `action_rule = fcrf` FCRF's public code mends an action (methods.md 2.4): every `>` is
/// deleted, and every word `in` or `on` that stands alone becomes `in/on` (`fcrf.mend`). The code does so in thoughts too, which
/// only garbles them; here a thought stays as it was said.
pub fn outgoing_action(state: &State, action: &str) -> OutgoingAction {
    let mends = state.run.as_ref().is_some_and(|r| r.settings.text("action_rule", "none") == "fcrf");
    let mends = mends && think_text(action).is_none();
    let mended = mends.then(|| apply_fcrf_rule(action)).filter(|mended| mended != action);
    let Some(mended) = mended else { return apply_interface(state, action) };
    let out = apply_interface(state, &mended);
    let rules = std::iter::once("fcrf.mend").chain(out.rule.as_deref()).collect::<Vec<_>>().join("+");
    OutgoingAction { sent: Some(out.sent.unwrap_or(mended)), rule: Some(rules), list_only: out.list_only }
}

/// FCRF's mending of an action. A word stands alone between blanks, so that `in/on` stays what it is.
fn apply_fcrf_rule(action: &str) -> String {
    let action = action.replace('>', "");
    let words = action.split(' ').map(|word| if matches!(word, "in" | "on") { "in/on" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn apply_interface(state: &State, action: &str) -> OutgoingAction {
    let plain = OutgoingAction { sent: None, rule: None, list_only: false };
    if has_own_wrapper(state) {
        let sent = state.setting_flag("pickup_alias", false).then(|| pickup_alias(action)).flatten();
        return match sent {
            None => plain,
            sent => OutgoingAction { sent, rule: Some("babyai.pickup".to_owned()), list_only: false },
        };
    }
    // This world takes any text for an action in which it finds the words of one.
    if think_text(action).is_some() && is_env(state, "pddl") {
        return OutgoingAction {
            sent: Some(THINK_WORD.to_owned()),
            rule: Some("pddl.thought".to_owned()),
            list_only: false,
        };
    }
    if current_view(state) != View::Agentboard || think_text(action).is_some() {
        return plain;
    }
    let mut rules = Vec::new();
    let mut sent = action.trim().to_owned();
    if sent.contains("put") {
        let cleaned = if sent.contains(" in ") {
            sent.replace(" in ", " in/on ")
        } else {
            sent.replace(" on ", " in/on ")
        };
        if cleaned != sent {
            rules.push("agentboard.put");
            sent = cleaned;
        }
    }
    if sent.ends_with('.') {
        rules.push("agentboard.dot");
        sent.pop();
    }
    if sent == CHECK_ACTION {
        rules.push("agentboard.check");
        return OutgoingAction { sent: Some(sent), rule: Some(rules.join("+")), list_only: true };
    }
    if rules.is_empty() {
        return plain;
    }
    OutgoingAction { sent: Some(sent), rule: Some(rules.join("+")), list_only: false }
}

/// How prompts show an answer, where that differs from the world's text. While the episode is being reset the answer is
/// its first observation; `admissible` is filled where the list was asked for.
pub fn shown_observation(
    state: &State,
    action: &str,
    turn: &StepResult,
    admissible: &[String],
) -> Option<String> {
    let seen = view_observation(state, action, turn, admissible);
    match state.open_episode() {
        Some(open) if open.first_observation.is_none() && open.role == EpisodeRole::Explore => {
            Some(without_goal(seen.as_deref().unwrap_or(&turn.observation)))
        }
        _ => seen,
    }
}

/// A first observation without the lines that name the goal: who explores is not told it.
fn without_goal(observation: &str) -> String {
    let goal = |line: &&str| !GOAL_PREFIXES.iter().any(|words| line.trim_start().starts_with(words));
    observation.lines().filter(goal).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn view_observation(state: &State, action: &str, turn: &StepResult, admissible: &[String]) -> Option<String> {
    let view = current_view(state);
    let raw = turn.observation.as_str();
    let resets = state.open_episode().is_some_and(|e| e.first_observation.is_none());
    if resets {
        return match view {
            _ if has_own_wrapper(state) => None,
            View::Raw => None,
            View::React => without_banner(raw),
            View::Agentboard => first_line(raw),
        };
    }
    if think_text(action).is_some() {
        // Also in `raw`, a thought that the world was not told has no other answer.
        let unheard = is_env(state, "pddl");
        return (view != View::Raw || raw.is_empty() || unheard).then(|| "OK.".to_owned());
    }
    match view {
        View::Raw => None,
        _ if has_own_wrapper(state) => None,
        View::React => without_location(raw).map(str::to_owned),
        View::Agentboard => {
            let said = action.trim().trim_end_matches('.');
            if said == CHECK_ACTION {
                let mut list: Vec<&str> = admissible.iter().map(String::as_str).collect();
                for extra in ["look", CHECK_ACTION] {
                    if !list.contains(&extra) {
                        list.push(extra);
                    }
                }
                return Some(format!("Choose an action from these valid actions: {}", list.join(", ")));
            }
            if said == "look"
                && let Some(view) = last_view_observation(state)
            {
                return Some(view);
            }
            without_location(raw).map(str::to_owned)
        }
    }
}

/// The goal of a world's first answer: what it shows as its goal, else the sentence of its observation, without introduction
/// and final dot; empty where none is stated.
pub fn goal_from_reset(first: &StepResult) -> String {
    if let Some(goal) = first.shown.get("goal").and_then(serde_json::Value::as_str) {
        return goal.to_owned();
    }
    let Some((_, after)) = first.observation.split_once("Your task is to:") else { return String::new() };
    let sentence = after.trim_start().lines().next().unwrap_or_default().trim_end();
    sentence.strip_suffix('.').unwrap_or(sentence).to_owned()
}

/// The texts of the world are those of AgentBoard's wrapper, so no view changes them.
fn has_own_wrapper(state: &State) -> bool {
    is_env(state, "babyai")
}

/// `pick up X` as `pickup X`; none for any other action.
fn pickup_alias(action: &str) -> Option<String> {
    const PREFIX: &str = "pick up ";
    let action = action.trim();
    let verb = action.get(..PREFIX.len())?;
    verb.eq_ignore_ascii_case(PREFIX).then(|| format!("pickup {}", &action[PREFIX.len()..]))
}

fn current_view(state: &State) -> View {
    // This world speaks as AgentBoard's wrapper does by itself; what is done to ALFWorld's texts would spoil its own.
    if is_env(state, "pddl") {
        return View::Raw;
    }
    match state.run.as_ref().map_or("raw", |r| r.interface.as_str()) {
        "react" => View::React,
        "agentboard" => View::Agentboard,
        _ => View::Raw,
    }
}

/// ReAct drops the first block (the banner) and joins the others line by line. A text of one block is kept.
fn without_banner(raw: &str) -> Option<String> {
    let (_, rest) = raw.split_once("\n\n")?;
    Some(rest.split("\n\n").collect::<Vec<_>>().join("\n"))
}

/// AgentBoard keeps the first line after the banner; the goal is told elsewhere.
fn first_line(raw: &str) -> Option<String> {
    let (_, rest) = raw.split_once("\n\n")?;
    rest.lines().next().map(|l| without_location(l).unwrap_or(l).to_owned())
}

/// 2.1.1 games name the location on arrival, which says nothing: everything through the first `. ` is dropped.
fn without_location(raw: &str) -> Option<&str> {
    raw.starts_with("You arrive at loc ").then(|| raw.split_once(". ").map(|(_, rest)| rest)).flatten()
}

/// What the last `go to` or `open` showed. An earlier `look` showed the same, so the way back ends there.
fn last_view_observation(state: &State) -> Option<String> {
    let episode = state.open_episode()?;
    let shows = |step: &&Step| {
        let action = step.action().unwrap_or_default().trim();
        let moved = action.starts_with("go to") || action.starts_with("open") || action.starts_with("look");
        moved && step.answer.as_ref().is_some_and(|a| a.valid)
    };
    let settled = (1..=episode.answered_steps()).rev().filter_map(|n| episode.step(n));
    settled.into_iter().find(|s| shows(s)).and_then(|s| s.observation()).map(str::to_owned)
}
