//! The pure views between environment and prompt: how the wrappers of ReAct and AgentBoard transform actions and
//! observations. The journal keeps the environment's raw text; a changed text is recorded beside it, with the name of
//! the rule.

use super::forms::think_text;
use crate::domain::{EpisodeRole, Step, StepResult};
use crate::engine::{OutgoingAction, State};

/// The view used by a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
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
/// (`agentboard.dot`), replaces the first ` in ` or ` on ` of a `put` with ` in/on ` (`agentboard.put`), and answers
/// `check valid actions` with the list instead of a step (`agentboard.check`).
///
/// Environments that include AgentBoard's own wrapper get the action unchanged in every view, with two exceptions: in
/// BabyAI with `pickup_alias` on, the verb of AgentBoard's prompt becomes the one the environment knows
/// (`babyai.pickup`), and a thought in `pddl` is reduced to the word `think` (`pddl.thought`).
///
/// Before all of these, the setting `action_rule = fcrf` rewrites an action as FCRF's public code does (methods.md
/// 2.4): every `>` is deleted, and every standalone word `in` or `on` becomes `in/on` (`fcrf.mend`). That code rewrites
/// thoughts too, which only garbles them; here thoughts are left unchanged.
pub fn outgoing_action(state: &State, action: &str) -> OutgoingAction {
    let mends = state.run.as_ref().is_some_and(|r| r.settings.text("action_rule", "none") == "fcrf");
    let mends = mends && think_text(action).is_none();
    let mended = mends.then(|| apply_fcrf_rule(action)).filter(|mended| mended != action);
    let Some(mended) = mended else { return apply_interface(state, action) };
    let out = apply_interface(state, &mended);
    let rules = std::iter::once("fcrf.mend").chain(out.rule.as_deref()).collect::<Vec<_>>().join("+");
    OutgoingAction {
        sent: Some(out.sent.unwrap_or(mended)),
        rule: Some(rules),
        admissible_only: out.admissible_only,
    }
}

/// Applies FCRF's rewriting to an action. Only words between spaces count, so that `in/on` stays unchanged.
fn apply_fcrf_rule(action: &str) -> String {
    let action = action.replace('>', "");
    let words = action.split(' ').map(|word| if matches!(word, "in" | "on") { "in/on" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn apply_interface(state: &State, action: &str) -> OutgoingAction {
    let plain = OutgoingAction { sent: None, rule: None, admissible_only: false };
    if has_own_wrapper(state) {
        let sent = state.setting_flag("pickup_alias", false).then(|| pickup_alias(action)).flatten();
        return match sent {
            None => plain,
            sent => OutgoingAction { sent, rule: Some("babyai.pickup".to_owned()), admissible_only: false },
        };
    }
    // This environment accepts any text in which it finds the words of an action.
    if think_text(action).is_some() && is_env(state, "pddl") {
        return OutgoingAction {
            sent: Some(THINK_WORD.to_owned()),
            rule: Some("pddl.thought".to_owned()),
            admissible_only: false,
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
        return OutgoingAction { sent: Some(sent), rule: Some(rules.join("+")), admissible_only: true };
    }
    if rules.is_empty() {
        return plain;
    }
    OutgoingAction { sent: Some(sent), rule: Some(rules.join("+")), admissible_only: false }
}

/// Returns the observation as shown in prompts, if it differs from the environment's text. While the episode is being
/// reset, the observation is its first one; `admissible` is set if the list was requested.
pub fn shown_observation(
    state: &State,
    action: &str,
    result: &StepResult,
    admissible: &[String],
) -> Option<String> {
    let seen = view_observation(state, action, result, admissible);
    match state.open_episode() {
        Some(open) if open.first_observation.is_none() && open.role == EpisodeRole::Explore => {
            Some(without_goal(seen.as_deref().unwrap_or(&result.observation)))
        }
        _ => seen,
    }
}

/// Removes the lines that state the goal from a first observation: an exploring agent isn't told the goal.
fn without_goal(observation: &str) -> String {
    let goal = |line: &&str| !GOAL_PREFIXES.iter().any(|words| line.trim_start().starts_with(words));
    observation.lines().filter(goal).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn view_observation(
    state: &State,
    action: &str,
    result: &StepResult,
    admissible: &[String],
) -> Option<String> {
    let view = current_view(state);
    let raw = result.observation.as_str();
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
        // Also in `raw`: a thought that was not sent to the environment has no other answer.
        let not_sent = is_env(state, "pddl");
        return (view != View::Raw || raw.is_empty() || not_sent).then(|| "OK.".to_owned());
    }
    match view {
        View::Raw => None,
        _ if has_own_wrapper(state) => None,
        View::React => without_location(raw).map(str::to_owned),
        View::Agentboard => {
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
                && let Some(view) = last_view_observation(state)
            {
                return Some(view);
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

/// Returns whether the environment's texts are already those of AgentBoard's wrapper, so that no view changes them.
fn has_own_wrapper(state: &State) -> bool {
    is_env(state, "babyai")
}

/// Rewrites `pick up X` to `pickup X`. Returns `None` for any other action.
fn pickup_alias(action: &str) -> Option<String> {
    const PREFIX: &str = "pick up ";
    let action = action.trim();
    let verb = action.get(..PREFIX.len())?;
    verb.eq_ignore_ascii_case(PREFIX).then(|| format!("pickup {}", &action[PREFIX.len()..]))
}

fn current_view(state: &State) -> View {
    // This environment already produces the texts of AgentBoard's wrapper; the rules for ALFWorld's texts would damage
    // them.
    if is_env(state, "pddl") {
        return View::Raw;
    }
    match state.run.as_ref().map_or("raw", |r| r.interface.as_str()) {
        "react" => View::React,
        "agentboard" => View::Agentboard,
        _ => View::Raw,
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

/// Removes everything through the first `. `: 2.1.1 games name the location on arrival, which carries no information.
fn without_location(raw: &str) -> Option<&str> {
    raw.starts_with("You arrive at loc ").then(|| raw.split_once(". ").map(|(_, rest)| rest)).flatten()
}

/// Returns what the last `go to` or `open` showed. An earlier `look` showed the same, so the search back ends there.
fn last_view_observation(state: &State) -> Option<String> {
    let episode = state.open_episode()?;
    let shows = |step: &&Step| {
        let action = step.action().unwrap_or_default().trim();
        let moved = action.starts_with("go to") || action.starts_with("open") || action.starts_with("look");
        moved && step.answer.as_ref().is_some_and(|a| a.valid)
    };
    let answered = (1..=episode.answered_steps()).rev().filter_map(|n| episode.step(n));
    answered.into_iter().find(|s| shows(s)).and_then(|s| s.observation()).map(str::to_owned)
}
