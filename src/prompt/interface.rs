//! Pure functions that transform actions and observations between environment and prompt, like the wrappers of ReAct
//! and AgentBoard. The journal keeps the environment's raw text; a changed text is recorded beside it, with the name of
//! the rule.

use super::forms::think_text;
use crate::domain::{EpisodeRole, Step, StepResult};
use crate::engine::{OutgoingAction, State};

/// The interface of a run ([`RunSpec::interface`](crate::domain::RunSpec)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interface {
    Raw,
    React,
    Agentboard,
}

/// AgentBoard's command for the list of admissible actions.
const CHECK_ACTION: &str = "check valid actions";

/// Sent instead of a thought to an environment that would look for an action in the thought.
const THINK_WORD: &str = "think";

fn is_env(state: &State, env: &str) -> bool {
    state.episode.as_ref().is_some_and(|episode| episode.task.env == env)
}

/// Prefixes of the lines that state the goal in a first observation.
const GOAL_PREFIXES: &[&str] = &["Your task is to:", "The goal is", "Your goal is"];

/// Returns the text sent to the environment for an action, and the rule that changed it.
///
/// `raw` and `react` send the action unchanged. `agentboard` (methods.md 3.1, 3.4) drops a trailing dot
/// (`agentboard.dot`), replaces every ` in ` of a `put`, or every ` on ` if it has no ` in `, with ` in/on `
/// (`agentboard.put`), and answers `check valid actions` with the list instead of a step (`agentboard.check`).
///
/// BabyAI and PDDL already include AgentBoard's wrapper, so every interface sends the action unchanged, with two
/// exceptions. In BabyAI with `pickup_alias` on, the verb of AgentBoard's prompt becomes the one the environment knows
/// (`babyai.pickup`). In PDDL, a thought is reduced to the word `think` (`pddl.thought`).
///
/// Before all of these, the setting `action_rule = fcrf` rewrites an action as FCRF's public code does (methods.md
/// 2.4): every `>` is deleted, and every standalone word `in` or `on` becomes `in/on` (`fcrf.mend`). That code also
/// rewrites thoughts, which only garbles them, so they are left unchanged here.
pub fn outgoing_action(state: &State, action: &str) -> OutgoingAction {
    let has_rule = state.run.as_ref().is_some_and(|r| r.settings.text("action_rule", "none") == "fcrf");
    let applies = has_rule && think_text(action).is_none();
    let rewritten = applies.then(|| apply_fcrf_rule(action)).filter(|rewritten| rewritten != action);
    let Some(rewritten) = rewritten else { return apply_interface(state, action) };
    let outgoing = apply_interface(state, &rewritten);
    let rules =
        std::iter::once("fcrf.mend").chain(outgoing.rewrite_rule.as_deref()).collect::<Vec<_>>().join("+");
    OutgoingAction {
        sent: Some(outgoing.sent.unwrap_or(rewritten)),
        rewrite_rule: Some(rules),
        admissible_only: outgoing.admissible_only,
    }
}

/// Applies FCRF's rule to an action. Only whole words between spaces are replaced, so `in/on` stays unchanged.
fn apply_fcrf_rule(action: &str) -> String {
    let action = action.replace('>', "");
    let words = action.split(' ').map(|word| if matches!(word, "in" | "on") { "in/on" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn apply_interface(state: &State, action: &str) -> OutgoingAction {
    let unchanged = OutgoingAction { sent: None, rewrite_rule: None, admissible_only: false };
    if includes_wrapper(state) {
        let sent = state.setting_flag("pickup_alias", false).then(|| pickup_alias(action)).flatten();
        return match sent {
            None => unchanged,
            sent => OutgoingAction {
                sent,
                rewrite_rule: Some("babyai.pickup".to_owned()),
                admissible_only: false,
            },
        };
    }
    // This environment executes any text in which it finds the words of an action.
    if think_text(action).is_some() && is_env(state, "pddl") {
        return OutgoingAction {
            sent: Some(THINK_WORD.to_owned()),
            rewrite_rule: Some("pddl.thought".to_owned()),
            admissible_only: false,
        };
    }
    if current_interface(state) != Interface::Agentboard || think_text(action).is_some() {
        return unchanged;
    }
    let mut rules = Vec::new();
    let mut sent = action.trim().to_owned();
    if sent.contains("put") {
        let replaced = if sent.contains(" in ") {
            sent.replace(" in ", " in/on ")
        } else {
            sent.replace(" on ", " in/on ")
        };
        if replaced != sent {
            rules.push("agentboard.put");
            sent = replaced;
        }
    }
    if sent.ends_with('.') {
        rules.push("agentboard.dot");
        sent.pop();
    }
    if sent == CHECK_ACTION {
        rules.push("agentboard.check");
        return OutgoingAction {
            sent: Some(sent),
            rewrite_rule: Some(rules.join("+")),
            admissible_only: true,
        };
    }
    if rules.is_empty() {
        return unchanged;
    }
    OutgoingAction { sent: Some(sent), rewrite_rule: Some(rules.join("+")), admissible_only: false }
}

/// Returns the observation as shown in prompts, if it differs from the environment's text. During a reset, `result` is
/// the first observation. `admissible` is non-empty only if the action asked for the list.
pub fn shown_observation(
    state: &State,
    action: &str,
    result: &StepResult,
    admissible: &[String],
) -> Option<String> {
    let shown = interface_observation(state, action, result, admissible);
    match state.open_episode() {
        Some(open) if open.first_observation.is_none() && open.role == EpisodeRole::Explore => {
            Some(without_goal(shown.as_deref().unwrap_or(&result.observation)))
        }
        _ => shown,
    }
}

/// Removes the lines that state the goal from a first observation, because an exploring agent isn't shown the goal.
fn without_goal(observation: &str) -> String {
    let is_other = |line: &&str| !GOAL_PREFIXES.iter().any(|prefix| line.trim_start().starts_with(prefix));
    observation.lines().filter(is_other).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// Returns the observation as the run's interface shows it, if it differs from the environment's text.
fn interface_observation(
    state: &State,
    action: &str,
    result: &StepResult,
    admissible: &[String],
) -> Option<String> {
    let interface = current_interface(state);
    let raw = result.observation.as_str();
    let is_reset = state.open_episode().is_some_and(|e| e.first_observation.is_none());
    if is_reset {
        return match interface {
            _ if includes_wrapper(state) => None,
            Interface::Raw => None,
            Interface::React => without_banner(raw),
            Interface::Agentboard => first_line(raw),
        };
    }
    if think_text(action).is_some() {
        // A thought whose text was not sent needs an answer in `raw` too.
        let is_withheld = is_env(state, "pddl");
        return (interface != Interface::Raw || raw.is_empty() || is_withheld).then(|| "OK.".to_owned());
    }
    match interface {
        Interface::Raw => None,
        _ if includes_wrapper(state) => None,
        Interface::React => without_location(raw).map(str::to_owned),
        Interface::Agentboard => {
            let command = action.trim().trim_end_matches('.');
            if command == CHECK_ACTION {
                let mut list: Vec<&str> = admissible.iter().map(String::as_str).collect();
                for extra in ["look", CHECK_ACTION] {
                    if !list.contains(&extra) {
                        list.push(extra);
                    }
                }
                return Some(format!("Choose an action from these valid actions: {}", list.join(", ")));
            }
            if command == "look"
                && let Some(observation) = last_look_observation(state)
            {
                return Some(observation);
            }
            without_location(raw).map(str::to_owned)
        }
    }
}

/// Extracts the goal from an environment's first answer: the goal field if there is one, otherwise the goal sentence of
/// the observation without its introduction and final dot. Returns an empty string if no goal is stated.
pub fn goal_from_reset(first: &StepResult) -> String {
    if let Some(goal) = first.shown.get("goal").and_then(serde_json::Value::as_str) {
        return goal.to_owned();
    }
    let Some((_, after)) = first.observation.split_once("Your task is to:") else { return String::new() };
    let sentence = after.trim_start().lines().next().unwrap_or_default().trim_end();
    sentence.strip_suffix('.').unwrap_or(sentence).to_owned()
}

/// Returns whether the environment's texts are already those of AgentBoard's wrapper, so that no interface changes
/// them. PDDL's are too, but there the interface is always `raw` ([`current_interface`]), which also keeps thoughts.
fn includes_wrapper(state: &State) -> bool {
    is_env(state, "babyai")
}

/// Rewrites `pick up X` to `pickup X`. Returns `None` for any other action.
fn pickup_alias(action: &str) -> Option<String> {
    const PREFIX: &str = "pick up ";
    let action = action.trim();
    let verb = action.get(..PREFIX.len())?;
    verb.eq_ignore_ascii_case(PREFIX).then(|| format!("pickup {}", &action[PREFIX.len()..]))
}

fn current_interface(state: &State) -> Interface {
    // This environment already produces the texts of AgentBoard's wrapper; the rules for ALFWorld's texts would damage
    // them.
    if is_env(state, "pddl") {
        return Interface::Raw;
    }
    match state.run.as_ref().map_or("raw", |r| r.interface.as_str()) {
        "react" => Interface::React,
        "agentboard" => Interface::Agentboard,
        _ => Interface::Raw,
    }
}

/// Drops the first block (the banner) and joins the others line by line, as ReAct does. A text of one block is kept.
fn without_banner(raw: &str) -> Option<String> {
    let (_, rest) = raw.split_once("\n\n")?;
    Some(rest.split("\n\n").collect::<Vec<_>>().join("\n"))
}

/// Keeps the first line after the banner, as AgentBoard does; the goal is stated elsewhere.
fn first_line(raw: &str) -> Option<String> {
    let (_, rest) = raw.split_once("\n\n")?;
    rest.lines().next().map(|l| without_location(l).unwrap_or(l).to_owned())
}

/// Removes everything through the first `. ` from an arrival in a game of ALFWorld's data version 2.1.1, which names a
/// location without information.
fn without_location(raw: &str) -> Option<&str> {
    raw.starts_with("You arrive at loc ").then(|| raw.split_once(". ").map(|(_, rest)| rest)).flatten()
}

/// Returns the observation of the last valid `go to`, `open` or `look`. A `look` repeats the observation of the others.
fn last_look_observation(state: &State) -> Option<String> {
    let episode = state.open_episode()?;
    let is_look = |step: &&Step| {
        let action = step.action().unwrap_or_default().trim();
        let describes_view =
            action.starts_with("go to") || action.starts_with("open") || action.starts_with("look");
        describes_view && step.answer.as_ref().is_some_and(|a| a.valid)
    };
    let answered = (1..=episode.answered_steps()).rev().filter_map(|n| episode.step(n));
    answered.into_iter().find(is_look).and_then(|s| s.observation()).map(str::to_owned)
}
