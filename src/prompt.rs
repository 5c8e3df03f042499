//! What a model is shown, and what its answer means.
//!
//! Responsibilities: putting a prompt together from templates and the state within a budget of tokens ([`PromptBuilder`]),
//! rebuilding the very same prompt from its record ([`render()`]), reading replies ([`read()`]), and the pure views between
//! world and prompt ([`interface`]). Not here: when a prompt is wanted (the method's), sending it (the provider's).
//!
//! A record must outlive its templates: what a template contributes is kept as text under its hash, and the forms of
//! everything else (lesson lines, steps, the task) are fixed in [`forms`], part of the journal's format.

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
pub use read::{cut_short, may_be_reasoning, read};
pub use render::{body_hash, render, text_hash};
pub use templates::{TemplateError, Templates};

#[cfg(test)]
mod tests;
