//! The settings of every run, and those that several methods share and the engine reads.

use super::SettingOrigin::{BuiltIn, Code, Paper};
use super::{
    DefaultValue, MAX_NUMBER, SettingSpec, ShownAs, ThoughtDisposition, TypedSetting, setting_words,
};

/// The settings of every run, in the order of the table.
pub const COMMON_SETTINGS: &[SettingSpec] = &[
    MAX_STEPS.spec,
    CONTEXT_TOKENS.spec,
    LESSON_TOKENS.spec,
    EXAMPLES.spec,
    LESSONS_BY_SCOPE.spec,
    THOUGHTS_COUNT.spec,
    ACCEPT_TRUNCATED.spec,
    THOUGHTS_SENT.spec,
    MAX_MOVES.spec,
    WALL_SECONDS.spec,
    LOOP_DETECTOR.spec,
    EARLY_STOP.spec,
    EARLY_STOP_COSINE.spec,
    REPEAT_AFTER.spec,
    MENTOR_AT_ONCE.spec,
    ASK_AGAIN.spec,
    LEAST_REPLY.spec,
    WARMER.spec,
    ACTION_RULE.spec,
    ACTOR_REPLY.spec,
];

/// A run records it as a limit only (`Limits::steps`), a change of it under this name. The default is that of the method.
pub const MAX_STEPS: TypedSetting<u64> =
    TypedSetting::number("max_steps", "step limit of an episode", 50, (1, MAX_NUMBER), Paper);

/// The step limit of a run whose method states none.
pub const DEFAULT_STEPS: u32 = MAX_STEPS.if_missing as u32;

pub const CONTEXT_TOKENS: TypedSetting<u64> = TypedSetting::number(
    "context_tokens",
    "maximum number of estimated tokens in a prompt; the oldest steps are left out first",
    8192,
    (1, 16_000_000),
    BuiltIn,
);

/// Sessions without it have no such limit.
pub const LESSON_TOKENS: TypedSetting<u64> = TypedSetting::number(
    "lesson_tokens",
    "maximum number of estimated tokens of the lessons and memories in a prompt; the oldest are left out first, except a person's and pinned ones; 0: no limit",
    4096,
    (0, 16_000_000),
    BuiltIn,
)
.if_missing(0)
.unlimited_at_zero();

pub const EXAMPLES: TypedSetting<u64> =
    TypedSetting::number("examples", "solved example tasks in a prompt, 0 to 2", 2, (0, 2), Paper);

pub const LESSONS_BY_SCOPE: TypedSetting<bool> = TypedSetting::switch(
    "lessons_by_scope",
    "a prompt shows only lessons whose scope includes the task",
    false,
    BuiltIn,
);

pub const THOUGHTS_COUNT: TypedSetting<bool> = TypedSetting::switch(
    "thoughts_count",
    "thought-only steps count against the step limit; off: they don't, but the episode ends after four times the limit",
    true,
    Code,
);

pub const ACCEPT_TRUNCATED: TypedSetting<bool> = TypedSetting::switch(
    "accept_truncated",
    "a reply cut off by the token limit or a filter is used as it is and marked; otherwise only its complete part counts",
    false,
    BuiltIn,
)
.with_code_default(DefaultValue::Switch(true));

pub const THOUGHTS_SENT: TypedSetting<bool> = TypedSetting::switch(
    "thoughts_sent",
    "thoughts are sent to the environment as actions; with the interface agentboard only if set",
    true,
    Code,
);

pub const MAX_MOVES: TypedSetting<u64> = TypedSetting::number(
    "max_moves",
    "maximum number of environment actions per episode; 0: no limit",
    0,
    (0, MAX_NUMBER),
    BuiltIn,
)
.unlimited_at_zero();

pub const WALL_SECONDS: TypedSetting<u64> = TypedSetting::number(
    "wall_seconds",
    "maximum length of an episode in seconds, not counting pauses (the time used is kept across a resume; a changed limit applies at once); 0: no limit",
    0,
    (0, MAX_NUMBER),
    BuiltIn,
)
.unlimited_at_zero();

/// As in Reflexion's public code.
pub const LOOP_DETECTOR: TypedSetting<bool> = TypedSetting::switch(
    "loop_detector",
    "an episode ends when two consecutive actions are identical",
    false,
    BuiltIn,
);

/// No paper has it; the alarm that it acts on is [`SameAdvice::ALARM`](super::SameAdvice::ALARM).
pub const EARLY_STOP: TypedSetting<bool> = TypedSetting::switch(
    "early_stop",
    "a task ends early when three successive reflections on it repeat each other: the open episode ends, and the task gets no further trial",
    false,
    BuiltIn,
);

/// Sessions without it were recorded before reflections were compared.
pub const EARLY_STOP_COSINE: TypedSetting<f64> = TypedSetting::decimal(
    "early_stop_cosine",
    "the similarity from which a reflection repeats the one before: the cosine of their word counts",
    90,
    (0, 100),
    BuiltIn,
)
.if_missing(f64::INFINITY);

/// A threshold of the detectors. None of these are published; they are our own.
pub const REPEAT_AFTER: TypedSetting<u64> = TypedSetting::number(
    "repeat_after",
    "how many times the same action must have run before it can count as a repeat",
    2,
    (1, MAX_NUMBER),
    BuiltIn,
);

pub const MENTOR_AT_ONCE: TypedSetting<bool> = TypedSetting::switch(
    "mentor_at_once",
    "the mentor calls of one reflection are made in parallel",
    true,
    BuiltIn,
);

/// Sessions without it were recorded before replies were requested again.
pub const ASK_AGAIN: TypedSetting<u64> = TypedSetting::number(
    "ask_again",
    "how many times a reply without an action is requested again before the call counts as failed",
    2,
    (0, 100),
    BuiltIn,
)
.if_missing(0);

pub const LEAST_REPLY: TypedSetting<u64> = TypedSetting::number(
    "least_reply",
    "replies with fewer characters count as replies without an action",
    0,
    (0, 1000),
    BuiltIn,
);

pub const WARMER: TypedSetting<bool> = TypedSetting::switch(
    "warmer",
    "each retry of a reply without an action raises the temperature by 0.2, up to 1",
    false,
    BuiltIn,
)
.with_label("warmer retries");

setting_words! {
    /// How actions are rewritten before they are sent.
    pub enum ActionRule {
        None = "none",
        /// `>` is deleted, and a word `in` or `on` becomes `in/on`. Journals name it after FCRF, whose public code does this.
        InOrOn = "fcrf",
    }
}

pub const ACTION_RULE: TypedSetting<ActionRule> = ActionRule::setting(
    "action_rule",
    "how actions are rewritten before they are sent: not at all, or `>` is deleted and a word `in` or `on` becomes `in/on`",
    ActionRule::None,
    BuiltIn,
);

setting_words! {
    /// What of an actor's reply is its action.
    #[derive(Default)]
    pub enum ActorReply {
        /// A line.
        #[default]
        Line = "line",
        /// The whole text, such as a program.
        Whole = "whole",
    }
}

/// Sessions without it have actions of one line.
pub const ACTOR_REPLY: TypedSetting<ActorReply> = ActorReply::setting(
    "actor_reply",
    "what of an actor's reply is the action: its first `line` with one, or the `whole` text, such as a program",
    ActorReply::Line,
    BuiltIn,
);

setting_words! {
    /// How many actions of an actor's reply are proposed.
    #[derive(Default)]
    pub enum Acting {
        /// One.
        #[default]
        Step = "step",
        /// All of them, one after the other, as long as the number of elements on the screen stays the same.
        ScreenPlan = "screen-plan",
    }
}

/// A setting of the methods that can propose planned actions; the engine reads it, since it reads replies.
pub const ACTING: TypedSetting<Acting> = Acting::setting(
    "acting",
    "what a reply of the actor is: one action (step), or a plan for the present screen, one action a line, carried out in order until the number of elements on the page changes (screen-plan, as in the public code; web pages only)",
    Acting::Step,
    BuiltIn,
);

/// Whether a reply without an action is an empty action. A setting of the methods whose public code does this.
pub const EMPTY_ACTION: TypedSetting<bool> = TypedSetting::switch(
    "empty_action",
    "without a screen, a reply that still has no action counts as an empty action, not as a failed call",
    false,
    BuiltIn,
)
.with_code_default(DefaultValue::Switch(true));

/// How often an action of an unknown form is requested again. A setting of methods whose instruction lists forms; the engine reads it,
/// since it asks again. Sessions without it checked no forms.
pub const FORM_RETRIES: TypedSetting<u64> = TypedSetting::number(
    "irci",
    "how many times the actor is asked again, with a reminder of the forms, for an action that has none of the forms that its instruction lists",
    1,
    (0, 100),
    Code,
)
.if_missing(0);

/// Whether an action of an unknown form ends the episode. A setting of methods whose public code does this; the engine reads it, since
/// it doesn't run such an action.
pub const FORM_ENDS: TypedSetting<bool> = TypedSetting::switch(
    "form_ends",
    "an action of unknown form isn't run and ends the episode if `irci` doesn't ask for it again; otherwise it runs, and the environment rejects it",
    false,
    BuiltIn,
)
.with_code_default(DefaultValue::Switch(true));

/// Whether the actor's first action in a step is only a draft. A setting of methods whose public code fits an action to the state; the
/// engine reads it, since it asks once more.
pub const GROUNDING: TypedSetting<bool> = TypedSetting::switch(
    "grounding",
    "the actor's action is first a draft: the actor is asked once more in the step, to fit it to the present state (the code's `sgrounding`)",
    false,
    Code,
);

/// Whether the last failed attempt is kept. A setting of the methods that can show it.
pub const KEEP_ATTEMPTS: TypedSetting<bool> = TypedSetting::switch(
    "keep_attempts",
    "the last failed attempt at each task is kept (needed to show it: `strategy`, `replan`, pools of attempts, comparisons with won ones)",
    true,
    BuiltIn,
)
.if_missing(false);

/// Whether the successful training episodes are kept. A setting of the methods that can show them.
pub const KEEP_SUCCESSES: TypedSetting<bool> = TypedSetting::switch(
    "keep_successes",
    "the successful attempts at training tasks are kept (needed to show them: `recall`, `success_batch`)",
    true,
    BuiltIn,
)
.if_missing(false);

/// How many plans or pieces of advice a prompt shows. A setting of the methods whose mentor writes them after an attempt; read by
/// the prompt templates.
pub const MEMORY: TypedSetting<u64> = TypedSetting::number(
    "memory",
    "how many of the newest plans about the task, or pieces of advice, the actor is shown",
    3,
    (0, MAX_NUMBER),
    Code,
);

/// Whether a plan is written after the last trial. A setting of the methods that reflect between trials.
pub const REFLECT_AFTER_LAST: TypedSetting<bool> = TypedSetting::switch(
    "reflect_after_last",
    "a plan is written after the last trial too, although no trial uses it",
    false,
    Paper,
)
.with_code_default(DefaultValue::Switch(true));

/// A setting of the methods that learn from a calibration.
pub const PER_TYPE: TypedSetting<u64> = TypedSetting::number(
    "per_type",
    "calibration: tasks of each type to learn from (1, 3 and 5 in the paper)",
    1,
    (1, 1000),
    Paper,
);

/// A setting of the method that plays the calibration of the others.
pub const EXPLORE: TypedSetting<u64> = TypedSetting::number(
    "explore",
    "calibration: how many of these tasks of each type are also explored without a goal; if rules reflect, 0 unless set, because they learn nothing from exploring",
    1,
    (0, 1000),
    BuiltIn,
);

setting_words! {
    /// Which failed attempt at a task is kept.
    pub enum KeptAttempt {
        Last = "last",
        First = "first",
    }
}

/// A setting of methods that compare a failed attempt with the successful one. The fold reads it, since it keeps the attempt.
pub const KEPT_ATTEMPT: TypedSetting<KeptAttempt> = KeptAttempt::setting(
    "contrast",
    "which failed attempt is compared with the successful one for a lesson of the pool: the last one before the success, or the first, as in the public code",
    KeptAttempt::Last,
    BuiltIn,
)
.with_code_default(KeptAttempt::First.as_default());

/// How much of a list a summary must keep. A setting of the methods that summarise lists. Sessions without it accepted any
/// summary.
pub const SUMMARY_KEEPS: TypedSetting<u64> = TypedSetting::number(
    "summary_keeps",
    "a summary with less than this percentage of the list's lessons is not used: the old list stays; 0: any summary is used",
    20,
    (0, 100),
    BuiltIn,
)
.if_missing(0);

/// The token limit of a summary's reply. A setting of the methods that summarise lists: one of 100 rules takes some 3,000
/// tokens. Sessions without it had no larger limit.
pub const SUMMARY_TOKENS: TypedSetting<u64> = TypedSetting::number(
    "summary_tokens",
    "maximum tokens of a summary, if that is more than the mentor's `max_tokens` allows; at most half of context_tokens; 0: as for other questions",
    4096,
    (0, 16_000_000),
    BuiltIn,
)
.if_missing(0);

setting_words! {
    /// What a new Progress lesson does to the previous one.
    pub enum ProgressLessons {
        Replace = "replace",
        Append = "append",
    }
}

/// A setting that the rules behind symbolic reflections read too.
pub const PROGRESS_LESSONS: TypedSetting<ProgressLessons> = ProgressLessons::setting(
    "progress",
    "whether a new Progress lesson replaces the previous one or is added to it",
    ProgressLessons::Replace,
    BuiltIn,
);

/// Settings that no run starts with unless somebody has chosen them: a person at an override, the configuration or
/// `--set`.
pub const OVERRIDE_SETTINGS: &[SettingSpec] = &[OVERRIDE_SHOWN_AS.spec, OVERRIDDEN_THOUGHT.spec];

pub const OVERRIDE_SHOWN_AS: TypedSetting<ShownAs> = ShownAs::setting(
    "override.shown_as",
    "how an overridden action is shown to the agent",
    ShownAs::AgentAction,
    BuiltIn,
);

setting_words! {
    /// What happens to the thought before an overridden action. What the journal has of it also contains the new text
    /// ([`ThoughtDisposition`]).
    pub enum OverriddenThought {
        Kept = "kept",
        Dropped = "dropped",
        Rewritten = "rewritten",
    }
}

impl OverriddenThought {
    /// Returns what happens to the thought where no new text can be given: one that was to be rewritten is kept.
    pub fn without_new_text(self) -> ThoughtDisposition {
        match self {
            Self::Dropped => ThoughtDisposition::Dropped,
            Self::Kept | Self::Rewritten => ThoughtDisposition::Kept,
        }
    }
}

pub const OVERRIDDEN_THOUGHT: TypedSetting<OverriddenThought> = OverriddenThought::setting(
    "override.thought",
    "what happens to the thought before an overridden action",
    OverriddenThought::Kept,
    BuiltIn,
);

#[cfg(test)]
mod tests {
    use super::*;

    /// The journal and the setting use the same words.
    #[test]
    fn an_override_is_journaled_with_the_words_of_the_settings() {
        for shown_as in [ShownAs::AgentAction, ShownAs::HumanEdit] {
            assert_eq!(serde_json::to_value(shown_as).unwrap(), shown_as.word());
        }
        let dropped = serde_json::to_value(OverriddenThought::Dropped.without_new_text()).unwrap();
        assert_eq!(dropped["thought"], OverriddenThought::Dropped.word());
        let kept = serde_json::to_value(OverriddenThought::Rewritten.without_new_text()).unwrap();
        assert_eq!(kept["thought"], OverriddenThought::Kept.word());
    }
}
