//! Pure functions that transform actions and observations between environment and prompt, like the wrappers of ReAct
//! and AgentBoard. The journal keeps the environment's raw text; a changed text is recorded beside it, with the name of
//! the rule.

use super::forms::think_text;
use crate::domain::common_settings::ActionRule;
use crate::domain::{EpisodeRole, Interface, Step, StepResult, Task, TypedSetting};
use crate::engine::{OutgoingAction, State};

/// AgentBoard's command for the list of admissible actions.
const CHECK_ACTION: &str = "check valid actions";

/// Sent instead of a thought to an environment that would look for an action in the thought.
const THINK_WORD: &str = "think";

/// What the interfaces need to know about the texts of an environment.
#[derive(Clone, Copy)]
pub struct EnvironmentTexts {
    /// How the interfaces rewrite its observations and actions; `None` if they pass on what it says.
    pub rewriting: Option<Rewriting>,
    /// Beginnings of the lines that state the goal in a first observation. An exploring agent isn't shown them. `None` if the first
    /// observation is the goal, so that its tasks can't be explored without it.
    pub goal_lines: Option<&'static [&'static str]>,
    /// The name of the rule that sends only the word `think` instead of a thought, for an environment that executes any
    /// text in which it finds the words of an action. Such a thought is answered with `OK.`.
    pub thought_rule: Option<&'static str>,
    /// An action that a prompt names otherwise than the environment does.
    pub alias: Option<ActionAlias>,
    /// All of its complete actions of fewer than five letters, to which the setting `least_reply` doesn't apply. `None` if
    /// its actions aren't known beforehand: then the setting applies to no action.
    pub short_actions: Option<&'static [&'static str]>,
    /// A wording that some of its games have instead of that of its examples.
    pub other_wording: Option<OtherWording>,
    /// Beginnings of lines with which the text of another of its episodes may start, besides `Your task is to:`. A mentor's reply
    /// that runs on into an episode that it makes up is cut there.
    pub episode_openings: &'static [&'static str],
    /// Whether the environment of a task answers AgentBoard's request for the admissible actions itself, as a step.
    pub answers_list_request: fn(&Task) -> bool,
    /// What only its prompts may say. The tests look for it in the prompts of all other environments and types of tasks.
    pub own_words: &'static [OwnWords],
}

/// Words, in lower case, that no prompt about another environment may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnWords {
    /// The only type of task whose prompts may contain them; `None` if all of the environment's may.
    pub task_type: Option<&'static str>,
    pub words: &'static [&'static str],
}

impl OwnWords {
    /// Returns whether these words belong in prompts about tasks of a type.
    pub fn suit(&self, task_type: Option<&str>) -> bool {
        self.task_type.is_none() || self.task_type == task_type
    }
}

/// What the interfaces rewrite: `react` drops what stands before the first blank line of a first observation, `agentboard` keeps one
/// line of it, drops dots after actions, and repeats the last view for `look`.
#[derive(Clone, Copy, Debug)]
pub struct Rewriting {
    /// Returns an action as `agentboard` sends it (rule `agentboard.put`).
    pub put: fn(&str) -> String,
    /// Whether `look` repeats the observation of an action: it is about going to or opening something, and had an effect.
    pub shows_view: fn(action: &str, observation: &str) -> bool,
}

/// A wording into which an environment's examples are rewritten for games that have it.
#[derive(Clone, Copy, Debug)]
pub struct OtherWording {
    /// Returns whether an observation is worded in this way.
    pub is_used: fn(&str) -> bool,
    /// Rewrites a line of an example, which ends with its line break.
    pub rewrite_line: fn(&str) -> String,
    /// Returns an observation without what `react` and `agentboard` leave out of it; `None` if they show all of it.
    pub shorten: fn(&str) -> Option<&str>,
}

/// Rewrites actions for an environment.
#[derive(Clone, Copy)]
pub struct ActionAlias {
    /// The setting that switches it on.
    pub setting: TypedSetting<bool>,
    /// The name of the rule in the journal.
    pub rule: &'static str,
    /// Returns the action that the environment understands, or `None` if the text needs no change.
    pub apply: fn(&str) -> Option<String>,
}

/// Texts that every interface passes on unchanged, with the usual beginnings of goals.
pub const PLAIN_TEXTS: EnvironmentTexts = EnvironmentTexts {
    rewriting: None,
    goal_lines: Some(&["Your task is to:", "The goal is", "Your goal is"]),
    thought_rule: None,
    alias: None,
    short_actions: None,
    other_wording: None,
    episode_openings: &[],
    answers_list_request: |_| false,
    own_words: &[],
};

/// Returns the text sent to the environment for an action, and the rule that changed it.
///
/// `raw` and `react` send the action unchanged. `agentboard` (methods.md 3.1, 3.4) drops up to two trailing dots
/// (`agentboard.dot`; its runner drops one, and its environment another), rewrites a `put` ([`Rewriting::put`]), and answers
/// `check valid actions` with the list (`agentboard.check`), instead of a step unless the environment of the task has its own answer.
///
/// To an environment whose texts already include AgentBoard's wrapper, every interface sends the action unchanged, except
/// for the environment's own rules ([`EnvironmentTexts`]).
///
/// Before all of these, the setting `action_rule = fcrf` rewrites an action as FCRF's public code does (methods.md
/// 2.4): every `>` is deleted, and every standalone word `in` or `on` becomes `in/on` (`fcrf.mend`). That code also
/// rewrites thoughts, which only garbles them, so they are left unchanged here.
pub fn outgoing_action(texts: &EnvironmentTexts, state: &State, action: &str) -> OutgoingAction {
    let has_rule = state.settings().action_rule == ActionRule::InOrOn;
    let applies = has_rule && think_text(action).is_none();
    let rewritten = applies.then(|| apply_in_or_on_rule(action)).filter(|rewritten| rewritten != action);
    let Some(rewritten) = rewritten else { return apply_interface(texts, state, action) };
    let outgoing = apply_interface(texts, state, &rewritten);
    let own_rule = format!("{}.mend", ActionRule::InOrOn.word());
    let rules = std::iter::once(own_rule.as_str())
        .chain(outgoing.rewrite_rule.as_deref())
        .collect::<Vec<_>>()
        .join("+");
    OutgoingAction {
        sent: Some(outgoing.sent.unwrap_or(rewritten)),
        rewrite_rule: Some(rules),
        admissible_only: outgoing.admissible_only,
    }
}

/// Applies the rule of FCRF's code to an action. Only whole words between spaces are replaced, so `in/on` stays unchanged.
fn apply_in_or_on_rule(action: &str) -> String {
    let action = action.replace('>', "");
    let words = action.split(' ').map(|word| if matches!(word, "in" | "on") { "in/on" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn apply_interface(texts: &EnvironmentTexts, state: &State, action: &str) -> OutgoingAction {
    let unchanged = OutgoingAction { sent: None, rewrite_rule: None, admissible_only: false };
    let with_rule = |sent: String, rule: &str| OutgoingAction {
        sent: Some(sent),
        rewrite_rule: Some(rule.to_owned()),
        admissible_only: false,
    };
    if let Some(rule) = texts.thought_rule
        && think_text(action).is_some()
    {
        return with_rule(THINK_WORD.to_owned(), rule);
    }
    let Some(rewriting) = texts.rewriting else {
        let alias = texts.alias.filter(|alias| state.setting(alias.setting));
        let sent = alias.and_then(|alias| Some(with_rule((alias.apply)(action)?, alias.rule)));
        return sent.unwrap_or(unchanged);
    };
    if current_interface(state) != Interface::Agentboard || think_text(action).is_some() {
        return unchanged;
    }
    let mut rules = Vec::new();
    let mut sent = (rewriting.put)(action.trim());
    if sent != action.trim() {
        rules.push("agentboard.put");
    }
    if let Some(length) = without_dots(&sent).map(str::len) {
        rules.push("agentboard.dot");
        sent.truncate(length);
    }
    if sent == CHECK_ACTION {
        rules.push("agentboard.check");
        return OutgoingAction {
            sent: Some(sent),
            rewrite_rule: Some(rules.join("+")),
            admissible_only: !has_own_list(texts, state),
        };
    }
    if rules.is_empty() {
        return unchanged;
    }
    OutgoingAction { sent: Some(sent), rewrite_rule: Some(rules.join("+")), admissible_only: false }
}

/// Drops a trailing dot, blanks before it, and another one right before them. Returns `None` if there is none.
fn without_dots(action: &str) -> Option<&str> {
    let first = action.strip_suffix('.')?.trim();
    Some(first.strip_suffix('.').unwrap_or(first))
}

/// Returns an action without blanks around it and dots after it.
fn command_of(action: &str) -> &str {
    without_dots(action.trim()).unwrap_or(action.trim())
}

fn is_look(action: &str) -> bool {
    command_of(action) == "look"
}

/// Returns whether the environment of the open task answers a request for the admissible actions itself.
fn has_own_list(texts: &EnvironmentTexts, state: &State) -> bool {
    state.open_episode().is_some_and(|episode| (texts.answers_list_request)(&episode.task))
}

/// Returns the observation as shown in prompts, if it differs from the environment's text. During a reset, `result` is
/// the first observation. `admissible` is non-empty only if the action asked for the list.
pub fn shown_observation(
    texts: &EnvironmentTexts,
    state: &State,
    action: &str,
    result: &StepResult,
    admissible: &[String],
) -> Option<String> {
    let shown = interface_observation(texts, state, action, result, admissible);
    match state.open_episode() {
        Some(open) if open.first_observation.is_none() && open.role == EpisodeRole::Explore => {
            Some(without_goal(texts, shown.as_deref().unwrap_or(&result.observation)))
        }
        _ => shown,
    }
}

/// Removes the lines that state the goal from a first observation, because an exploring agent isn't shown the goal.
pub fn without_goal(texts: &EnvironmentTexts, observation: &str) -> String {
    let goal_lines = texts.goal_lines.unwrap_or_default();
    let is_other = |line: &&str| !goal_lines.iter().any(|prefix| line.trim_start().starts_with(prefix));
    observation.lines().filter(is_other).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// Returns the observation as the run's interface shows it, if it differs from the environment's text.
fn interface_observation(
    texts: &EnvironmentTexts,
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
            _ if texts.rewriting.is_none() => None,
            Interface::Raw => None,
            Interface::React => without_banner(raw),
            Interface::Agentboard => first_line(texts, raw),
        };
    }
    if think_text(action).is_some() {
        // A thought whose text was not sent needs an answer in `raw` too.
        let is_withheld = texts.thought_rule.is_some();
        return (interface != Interface::Raw || raw.is_empty() || is_withheld).then(|| "OK.".to_owned());
    }
    let rewriting = texts.rewriting?;
    match interface {
        Interface::Raw => None,
        Interface::React => shortened(texts, raw).map(str::to_owned),
        Interface::Agentboard => {
            let command = command_of(action);
            if command == CHECK_ACTION && !has_own_list(texts, state) {
                let mut list: Vec<&str> = admissible.iter().map(String::as_str).collect();
                for extra in ["look", CHECK_ACTION] {
                    if !list.contains(&extra) {
                        list.push(extra);
                    }
                }
                return Some(format!("Choose an action from these valid actions: {}", list.join(", ")));
            }
            if is_look(action)
                && let Some(observation) = last_look_observation(rewriting, state)
            {
                return Some(observation);
            }
            shortened(texts, raw).map(str::to_owned)
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

fn current_interface(state: &State) -> Interface {
    state.run.as_ref().map(|run| run.interface).unwrap_or_default()
}

/// Drops the first block (the banner) and joins the others line by line, as ReAct does. A text of one block is kept.
fn without_banner(raw: &str) -> Option<String> {
    let (_, rest) = raw.split_once("\n\n")?;
    Some(rest.split("\n\n").collect::<Vec<_>>().join("\n"))
}

/// Keeps the first line after the banner, as AgentBoard does; the goal is stated elsewhere.
fn first_line(texts: &EnvironmentTexts, raw: &str) -> Option<String> {
    let (_, rest) = raw.split_once("\n\n")?;
    rest.lines().next().map(|l| shortened(texts, l).unwrap_or(l).to_owned())
}

/// Shortens an observation in another wording; see [`OtherWording::shorten`].
fn shortened<'r>(texts: &EnvironmentTexts, raw: &'r str) -> Option<&'r str> {
    texts.other_wording.and_then(|wording| (wording.shorten)(raw))
}

/// Returns what a `look` repeats: the observation of the last action that shows a view ([`Rewriting::shows_view`]), or else the first
/// observation. An earlier `look` since then has repeated it already, so the search ends there: each step is searched by one `look`
/// only, however long the episode is.
fn last_look_observation(rewriting: Rewriting, state: &State) -> Option<String> {
    let episode = state.open_episode()?;
    let describes_view = |step: &Step| {
        let action = step.action().unwrap_or_default();
        let shows_view = step.answer.as_ref().is_some_and(|a| (rewriting.shows_view)(action, &a.raw));
        let is_repetition = is_look(action) && step.answer.as_ref().is_some_and(|a| a.agent_view.is_some());
        is_repetition || shows_view && think_text(action).is_none()
    };
    let mut answered = (1..=episode.answered_steps()).rev().filter_map(|n| episode.step(n));
    let seen =
        answered.find(|step| describes_view(step)).and_then(|step| step.observation().map(str::to_owned));
    seen.or_else(|| {
        episode
            .first_observation
            .as_ref()
            .map(|first| first.agent_view.as_ref().unwrap_or(&first.raw).clone())
    })
}
