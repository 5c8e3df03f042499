//! Overlays over the panes: help, palette, dialogs. The topmost one receives the keys; `q` and Esc close it.

pub mod action_dialog;
mod action_input;
mod branch_tree;
mod breakpoint_list;
mod compare;
mod divergence_dialog;
mod end_card;
mod fork;
mod help;
mod input_dialog;
mod lesson_details;
mod lesson_editor;
mod mark_list;
mod model_dialog;
mod named_value;
mod palette;
mod prompt_preview;
mod prompt_view;
pub mod registry;
mod runs;
mod search;
pub(in crate::ui) mod step_details;
mod summary_review;
