//! What a person changes by hand beside the lessons, with what it was, so that it can be taken back.

use super::{Autonomy, BreakpointConfig, PromptRecord, Setting};
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
        #[serde(rename = "was")]
        previous: Option<String>,
        /// See `was`.
        #[serde(default)]
        #[serde(rename = "was_edited")]
        previous_edited: bool,
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
        #[serde(rename = "was")]
        previous: Option<String>,
        /// See `was`.
        #[serde(default)]
        #[serde(rename = "was_edited")]
        previous_edited: bool,
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
        #[serde(rename = "was")]
        previous: Option<Setting>,
        /// Its value from now on.
        setting: Option<Setting>,
    },
    /// Who decides.
    Autonomy {
        /// Who did.
        #[serde(rename = "was")]
        previous: Autonomy,
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
        #[serde(rename = "gone")]
        removed: bool,
    },
    /// The prompt that waits to be sent.
    Prompt {
        /// The draft before.
        #[serde(rename = "was")]
        previous: Arc<PromptRecord>,
        /// The draft from now on.
        prompt: Arc<PromptRecord>,
    },
    /// A breakpoint or watch.
    Breakpoint {
        /// Its number.
        number: u32,
        /// What it was before (none: there was none of this number), and whether it was on.
        #[serde(rename = "was")]
        previous: Option<BreakpointConfig>,
        /// See `was`.
        #[serde(default)]
        #[serde(rename = "was_on")]
        previous_enabled: bool,
        /// What it is from now on; none: it is removed.
        #[serde(rename = "stop")]
        config: Option<BreakpointConfig>,
        /// Whether it is on.
        #[serde(default)]
        #[serde(rename = "on")]
        enabled: bool,
    },
}

impl ManualEdit {
    /// The change that takes this one back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        match self.clone() {
            Self::Thought { step, previous: was, previous_edited: was_edited, text, edited } => {
                Self::Thought { step, previous: text, previous_edited: edited, text: was, edited: was_edited }
            }
            Self::Observation { step, previous: was, previous_edited: was_edited, text, edited } => {
                Self::Observation {
                    step,
                    previous: text,
                    previous_edited: edited,
                    text: was,
                    edited: was_edited,
                }
            }
            Self::Setting { name, previous: was, setting } => {
                Self::Setting { name, previous: setting, setting: was }
            }
            Self::Autonomy { previous: was, autonomy } => {
                Self::Autonomy { previous: autonomy, autonomy: was }
            }
            Self::Remark { episode, step, text, removed: gone } => {
                Self::Remark { episode, step, text, removed: !gone }
            }
            Self::Prompt { previous: was, prompt } => Self::Prompt { previous: prompt, prompt: was },
            Self::Breakpoint {
                number,
                previous: was,
                previous_enabled: was_on,
                config: stop,
                enabled: on,
            } => Self::Breakpoint {
                number,
                previous: stop,
                previous_enabled: on,
                config: was,
                enabled: was_on,
            },
        }
    }

    /// It changes what the agent does or sees: the episode is then assisted, and what used it cannot be taken back.
    pub fn is_intervention(&self) -> bool {
        !matches!(self, Self::Remark { .. } | Self::Autonomy { .. } | Self::Breakpoint { .. })
    }

    /// In a few words.
    pub fn describe(&self) -> String {
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "as it was".to_owned());
        match self {
            Self::Thought { step, text, .. } => format!("thought of step {step}: {}", or_none(text)),
            Self::Observation { step, text, .. } => {
                format!("observation of step {step}: {}", or_none(text))
            }
            Self::Setting { name, setting, .. } => match setting {
                Some(setting) => {
                    format!("setting {name} = {}", super::describe_setting_value(name, &setting.value))
                }
                None => format!("setting {name} taken away"),
            },
            Self::Autonomy { autonomy, .. } => format!("autonomy {autonomy:?}").to_lowercase(),
            Self::Remark { text, removed: true, .. } => format!("remark taken away: {text}"),
            Self::Remark { text, .. } => format!("remark: {text}"),
            Self::Prompt { prompt, .. } if prompt.edited => "your words in a prompt".to_owned(),
            Self::Prompt { .. } => "prompt as it was drafted".to_owned(),
            Self::Breakpoint { number, config: None, .. } => format!("breakpoint {number} removed"),
            Self::Breakpoint { number, previous: was, config: Some(stop), enabled: on, .. }
                if was.as_ref() != Some(stop) =>
            {
                let off = if *on { "" } else { ", off" };
                let word = stop.kind_name();
                match was {
                    None => format!("{word} {number} set: {stop}{off}"),
                    Some(was) => format!("{word} {number} {stop} in the place of {was}{off}"),
                }
            }
            Self::Breakpoint { number, config: stop, enabled: on, .. } => {
                let word = stop.as_ref().map_or("breakpoint", BreakpointConfig::kind_name);
                format!("{word} {number} switched {}", if *on { "on" } else { "off" })
            }
        }
    }
}
