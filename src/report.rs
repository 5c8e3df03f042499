//! A session told to people and to other programs: transcript, Markdown, JSON, one HTML file, a picture.
//!
//! Everything here is a pure function of the events of a branch; nothing opens a file or looks at a clock. The room sits
//! beside `timeline`: it knows the nouns, the events and the fold, and nothing of methods, drivers or screens.

mod by_task;
mod carried;
mod html;
mod json;
mod lines;
mod markdown;
pub mod metrics;
mod record;
mod reflexion;
#[cfg(feature = "tui")]
mod svg;
mod tally;
mod transcript;

#[cfg(test)]
mod tests;

pub use by_task::ByTask;
pub use carried::{Carried, NotAReport, carried, carry};
pub use html::html;
pub use json::json;
pub use lines::{Aside, Lines, TurnLine, counted, summary_line, turn_line};
pub use markdown::markdown;
pub use record::{At, BadAt, EpisodeRecord, FailedCall, Record, Recording, Shown};
pub use reflexion::reflexion;
#[cfg(feature = "tui")]
pub use svg::{SvgColors, svg};
pub use tally::{Graded, Tally};
pub use transcript::{Transcript, source_words, transcript};
