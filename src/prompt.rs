//! Prompt assembly and reply parsing: what a model is shown, and what its reply means.
//!
//! Responsibilities: assembling a prompt from templates and the state within a token budget ([`PromptBuilder`]),
//! rebuilding the identical prompt from its record ([`render()`]), parsing replies ([`read_reply()`]), and the pure views
//! between environment and prompt ([`interface`]). Not here: when a prompt is needed (decided by the method) and
//! sending it (the provider).
//!
//! A record must outlive its templates: text contributed by a template is stored under its hash, and the format of
//! everything else (lesson lines, steps, the task) is fixed in [`forms`], which is part of the journal format.

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

pub use builder::PromptBuilder;
pub(crate) use draft::DEFAULT_CONTEXT_TOKENS;
pub use edit::edit_segment;
pub use mentor::read_mentor;
pub use read::{can_be_reasoning, is_cut_short, read_reply};
pub use render::{body_hash, render, text_hash};
pub use templates::{TemplateError, Templates};

#[cfg(test)]
mod tests;
