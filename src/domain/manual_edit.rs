//! What a person changes by hand beside the lessons, with what it was, so that it can be taken back.

use super::{Autonomy, PromptRecord, Setting, Stop};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A change with its way back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum ManualEdit {
    /// The thought of a step.
    Thought {
        /// The step.
        step: u32,
        /// The words before, and whether a person had written them.
        was: Option<String>,
        /// See `was`.
        #[serde(default)]
        was_edited: bool,
        /// The words from now on; none: no thought.
        text: Option<String>,
        /// Whether a person has written them.
        #[serde(default)]
        edited: bool,
    },
    /// How the agent sees what the world answered to a step. The world is not changed.
    Observation {
        /// The step.
        step: u32,
        /// The view before (none: the world's own words), and whether a person had written it.
        was: Option<String>,
        /// See `was`.
        #[serde(default)]
        was_edited: bool,
        /// The view from now on.
        text: Option<String>,
        /// Whether a person has written it.
        #[serde(default)]
        edited: bool,
    },
    /// A setting.
    Setting {
        /// Its name.
        name: String,
        /// Its value before, with its origin; none: it was not set.
        was: Option<Setting>,
        /// Its value from now on.
        setting: Option<Setting>,
    },
    /// Who decides.
    Autonomy {
        /// Who did.
        was: Autonomy,
        /// Who does.
        autonomy: Autonomy,
    },
    /// A remark.
    Remark {
        /// The episode.
        episode: u32,
        /// The step (0: the episode).
        step: u32,
        /// The words.
        text: String,
        /// It is taken away.
        #[serde(default)]
        gone: bool,
    },
    /// The prompt that waits to be sent.
    Prompt {
        /// The draft before.
        was: Arc<PromptRecord>,
        /// The draft from now on.
        prompt: Arc<PromptRecord>,
    },
    /// A breakpoint or watch.
    Breakpoint {
        /// Its number.
        number: u32,
        /// What it was before (none: there was none of this number), and whether it was on.
        was: Option<Stop>,
        /// See `was`.
        #[serde(default)]
        was_on: bool,
        /// What it is from now on; none: it is removed.
        stop: Option<Stop>,
        /// Whether it is on.
        #[serde(default)]
        on: bool,
    },
}

impl ManualEdit {
    /// The change that takes this one back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        match self.clone() {
            Self::Thought { step, was, was_edited, text, edited } => {
                Self::Thought { step, was: text, was_edited: edited, text: was, edited: was_edited }
            }
            Self::Observation { step, was, was_edited, text, edited } => {
                Self::Observation { step, was: text, was_edited: edited, text: was, edited: was_edited }
            }
            Self::Setting { name, was, setting } => Self::Setting { name, was: setting, setting: was },
            Self::Autonomy { was, autonomy } => Self::Autonomy { was: autonomy, autonomy: was },
            Self::Remark { episode, step, text, gone } => Self::Remark { episode, step, text, gone: !gone },
            Self::Prompt { was, prompt } => Self::Prompt { was: prompt, prompt: was },
            Self::Breakpoint { number, was, was_on, stop, on } => {
                Self::Breakpoint { number, was: stop, was_on: on, stop: was, on: was_on }
            }
        }
    }

    /// It changes what the agent does or sees: the episode is then assisted, and what used it cannot be taken back.
    pub fn touches_episode(&self) -> bool {
        !matches!(self, Self::Remark { .. } | Self::Autonomy { .. } | Self::Breakpoint { .. })
    }

    /// In a few words.
    pub fn words(&self) -> String {
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "as it was".to_owned());
        match self {
            Self::Thought { step, text, .. } => format!("thought of step {step}: {}", or_none(text)),
            Self::Observation { step, text, .. } => {
                format!("observation of step {step}: {}", or_none(text))
            }
            Self::Setting { name, setting, .. } => match setting {
                Some(setting) => format!("setting {name} = {}", super::setting_words(name, &setting.value)),
                None => format!("setting {name} taken away"),
            },
            Self::Autonomy { autonomy, .. } => format!("autonomy {autonomy:?}").to_lowercase(),
            Self::Remark { text, gone: true, .. } => format!("remark taken away: {text}"),
            Self::Remark { text, .. } => format!("remark: {text}"),
            Self::Prompt { prompt, .. } if prompt.edited => "your words in a prompt".to_owned(),
            Self::Prompt { .. } => "prompt as it was drafted".to_owned(),
            Self::Breakpoint { number, stop: None, .. } => format!("breakpoint {number} removed"),
            Self::Breakpoint { number, was, stop: Some(stop), on, .. } if was.as_ref() != Some(stop) => {
                let off = if *on { "" } else { ", off" };
                let word = stop.word();
                match was {
                    None => format!("{word} {number} set: {stop}{off}"),
                    Some(was) => format!("{word} {number} {stop} in the place of {was}{off}"),
                }
            }
            Self::Breakpoint { number, stop, on, .. } => {
                let word = stop.as_ref().map_or("breakpoint", Stop::word);
                format!("{word} {number} switched {}", if *on { "on" } else { "off" })
            }
        }
    }
}
