//! Prompt assembly and reply parsing: what a model is shown, and what its reply means.
//!
//! This module assembles a prompt from templates and the state within a token budget ([`PromptBuilder`]), rebuilds the
//! identical prompt from its record ([`render()`]), parses replies ([`read_reply()`]), and transforms actions and
//! observations between environment and prompt ([`interface`]). The method decides when a prompt is needed, and the
//! provider sends it.
//!
//! A record must outlive its templates. So text contributed by a template is stored under its hash, and the format of
//! everything else (lesson lines, steps, the task) is fixed in [`forms`], which is part of the journal format.

mod action_forms;
mod builder;
mod cache;
mod draft;
mod edit;
pub mod forms;
pub mod interface;
mod mentor;
pub mod read;
mod render;
mod templates;

pub use action_forms::{action_verbs, verbs_of_prompt};
pub use builder::PromptBuilder;
pub use edit::edit_segment;
pub use mentor::{ReplyForm, read_mentor};
pub use read::{can_be_reasoning, is_cut_short, read_actor_reply, read_reply, read_reply_with};
pub use render::{body_hash, render, text_hash};
pub use templates::{GENERAL_TEXTS, PublicFiles, TemplateError, TemplateFiles, Templates};

#[cfg(test)]
mod tests;
