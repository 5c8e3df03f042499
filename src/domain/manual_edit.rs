//! Manual edits other than lesson operations.

use super::{Autonomy, BreakpointConfig, PromptRecord, Setting};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A manual edit is a person's change to anything but the lesson pool, stored with the previous value so that it can be
/// undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum ManualEdit {
    /// Changes the thought of a step.
    Thought {
        step: u32,
        /// The text before.
        #[serde(rename = "was")]
        previous: Option<String>,
        /// Whether a person had written the text before.
        #[serde(default)]
        #[serde(rename = "was_edited")]
        previous_edited: bool,
        /// The new text; `None` removes the thought.
        text: Option<String>,
        /// Whether a person wrote the new text.
        #[serde(default)]
        edited: bool,
    },
    /// Changes how the agent sees an observation. The environment itself isn't changed.
    Observation {
        step: u32,
        /// The agent's view before; `None` is the environment's own text.
        #[serde(rename = "was")]
        previous: Option<String>,
        /// Whether a person had written the view before.
        #[serde(default)]
        #[serde(rename = "was_edited")]
        previous_edited: bool,
        /// The new view; `None` is the environment's own text.
        text: Option<String>,
        /// Whether a person wrote the new view.
        #[serde(default)]
        edited: bool,
    },
    /// Changes a setting of the run.
    Setting {
        name: String,
        /// The value before, with its origin; `None` if it wasn't set.
        #[serde(rename = "was")]
        previous: Option<Setting>,
        /// The new value; `None` removes the setting.
        setting: Option<Setting>,
    },
    /// Changes who decides on actions.
    Autonomy {
        #[serde(rename = "was")]
        previous: Autonomy,
        autonomy: Autonomy,
    },
    /// Adds or removes a remark.
    Remark {
        episode: u32,
        /// The step; 0 if the remark is about the episode.
        step: u32,
        text: String,
        /// Whether the remark is removed.
        #[serde(default)]
        #[serde(rename = "gone")]
        removed: bool,
    },
    /// Changes the prompt that waits to be sent.
    Prompt {
        /// The draft before.
        #[serde(rename = "was")]
        previous: Arc<PromptRecord>,
        /// The new draft.
        prompt: Arc<PromptRecord>,
    },
    /// Sets, changes or removes a breakpoint or watch.
    Breakpoint {
        number: u32,
        /// The definition before; `None` if the number was unused.
        #[serde(rename = "was")]
        previous: Option<BreakpointConfig>,
        /// Whether it was enabled before.
        #[serde(default)]
        #[serde(rename = "was_on")]
        previous_enabled: bool,
        /// The new definition; `None` removes it.
        #[serde(rename = "stop")]
        config: Option<BreakpointConfig>,
        /// Whether it is enabled from now on.
        #[serde(default)]
        #[serde(rename = "on")]
        enabled: bool,
    },
}

impl ManualEdit {
    /// Returns the edit that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        match self.clone() {
            Self::Thought { step, previous, previous_edited, text, edited } => Self::Thought {
                step,
                previous: text,
                previous_edited: edited,
                text: previous,
                edited: previous_edited,
            },
            Self::Observation { step, previous, previous_edited, text, edited } => Self::Observation {
                step,
                previous: text,
                previous_edited: edited,
                text: previous,
                edited: previous_edited,
            },
            Self::Setting { name, previous, setting } => {
                Self::Setting { name, previous: setting, setting: previous }
            }
            Self::Autonomy { previous, autonomy } => {
                Self::Autonomy { previous: autonomy, autonomy: previous }
            }
            Self::Remark { episode, step, text, removed } => {
                Self::Remark { episode, step, text, removed: !removed }
            }
            Self::Prompt { previous, prompt } => Self::Prompt { previous: prompt, prompt: previous },
            Self::Breakpoint { number, previous, previous_enabled, config, enabled } => Self::Breakpoint {
                number,
                previous: config,
                previous_enabled: enabled,
                config: previous,
                enabled: previous_enabled,
            },
        }
    }

    /// Returns whether it changes what the agent does or sees. Such an edit makes the episode assisted and can't be
    /// undone once it has been used.
    pub fn is_intervention(&self) -> bool {
        !matches!(self, Self::Remark { .. } | Self::Autonomy { .. } | Self::Breakpoint { .. })
    }

    /// Describes the edit in a few words.
    pub fn describe(&self) -> String {
        match self {
            Self::Thought { step, text, .. } => {
                format!("thought of step {step}: {}", text.as_deref().unwrap_or("(none)"))
            }
            Self::Observation { step, text, .. } => {
                format!("observation of step {step}: {}", text.as_deref().unwrap_or("the original"))
            }
            Self::Setting { name, setting, .. } => match setting {
                Some(setting) => {
                    format!("setting {name} = {}", super::describe_setting_value(name, &setting.value))
                }
                None => format!("setting {name} removed"),
            },
            Self::Autonomy { autonomy, .. } => format!("autonomy {autonomy:?}").to_lowercase(),
            Self::Remark { text, removed: true, .. } => format!("remark removed: {text}"),
            Self::Remark { text, .. } => format!("remark: {text}"),
            Self::Prompt { prompt, .. } if prompt.edited => "prompt edited".to_owned(),
            Self::Prompt { .. } => "prompt restored to its draft".to_owned(),
            Self::Breakpoint { number, config: None, .. } => format!("breakpoint {number} removed"),
            Self::Breakpoint { number, previous, config: Some(config), enabled, .. }
                if previous.as_ref() != Some(config) =>
            {
                let off = if *enabled { "" } else { ", off" };
                let kind = config.kind_name();
                match previous {
                    None => format!("{kind} {number} set: {config}{off}"),
                    Some(previous) => format!("{kind} {number} changed from {previous} to {config}{off}"),
                }
            }
            Self::Breakpoint { number, config, enabled, .. } => {
                let kind = config.as_ref().map_or("breakpoint", BreakpointConfig::kind_name);
                format!("{kind} {number} switched {}", if *enabled { "on" } else { "off" })
            }
        }
    }
}
