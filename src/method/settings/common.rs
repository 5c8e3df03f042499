//! Settings shared by all methods.

use super::{DefaultValue, MAX_NUMBER, SettingSpec, choice, number, switch};
use crate::domain::SettingOrigin::{BuiltIn, Code, Paper};
use crate::symbolic::thresholds;

/// See [`SettingSpec`].
pub const LIST: &[SettingSpec] = &[
    number(
        "context_tokens",
        "maximum number of estimated tokens in a prompt; the oldest steps are left out first",
        8192,
        (1, 16_000_000),
        BuiltIn,
    ),
    number("examples", "solved example tasks in a prompt, 0 to 2", 2, (0, 2), Paper),
    switch(
        "lessons_by_scope",
        "a prompt shows only lessons whose scope includes the task",
        false,
        BuiltIn,
    ),
    switch(
        "thoughts_count",
        "thought-only steps count against the step limit; off: they don't, but the episode ends after four times the limit",
        true,
        Code,
    ),
    switch(
        "accept_truncated",
        "a reply cut off by the token limit or a filter is used as it is and marked; otherwise only its complete part counts",
        false,
        BuiltIn,
    )
    .with_code_default(DefaultValue::Switch(true)),
    switch("thoughts_sent", "thoughts are sent to the environment as actions", true, Code),
    number("max_moves", "maximum number of environment actions per episode; 0: no limit", 0, (0, MAX_NUMBER), BuiltIn),
    number(
        "wall_seconds",
        "maximum length of an episode in seconds, not counting pauses (the time used is kept across a resume; a changed limit applies at once); 0: no limit",
        0,
        (0, MAX_NUMBER),
        BuiltIn,
    ),
    switch(
        "loop_detector",
        "an episode ends when two consecutive actions are identical (Reflexion's public code)",
        false,
        BuiltIn,
    ),
    number(
        "repeat_after",
        "how many times the same action must have run before it can count as a repeat",
        thresholds::REPEAT_AFTER,
        (1, MAX_NUMBER),
        BuiltIn,
    ),
    number(
        "circle_visits",
        "how many times the same action must have run before it can count as going in circles (household, alfworld)",
        thresholds::CIRCLE_VISITS,
        (1, MAX_NUMBER),
        BuiltIn,
    ),
    number(
        "circle_turns",
        "consecutive turns in the same direction that count as going in circles (babyai)",
        thresholds::CIRCLE_TURNS,
        (2, MAX_NUMBER),
        BuiltIn,
    ),
    number(
        "circle_window",
        "steps without progress before going in circles is reported",
        thresholds::CIRCLE_WINDOW,
        (1, MAX_NUMBER),
        BuiltIn,
    ),
    switch(
        "mentor_at_once",
        "the mentor calls of one reflection are made in parallel",
        true,
        BuiltIn,
    ),
    number(
        "ask_again",
        "how many times a reply without an action is requested again before the call counts as failed",
        2,
        (0, 100),
        BuiltIn,
    ),
    number(
        "least_reply",
        "replies with fewer characters count as replies without an action",
        0,
        (0, 1000),
        BuiltIn,
    ),
    switch(
        "warmer",
        "each retry of a reply without an action raises the temperature by 0.2, up to 1",
        false,
        BuiltIn,
    ),
    choice(
        "action_rule",
        "how actions are rewritten before they are sent: not at all, or as in FCRF's public code (`>` is deleted, a word `in` or `on` becomes `in/on`)",
        "none",
        &["none", "fcrf"],
        BuiltIn,
    ),
];
