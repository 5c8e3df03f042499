//! Parts that several overlays and the start screen are built from.

pub mod choice;
pub mod list_index;
pub mod picker;
pub mod row_cache;
pub mod text_field;
pub mod window;
