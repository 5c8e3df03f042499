//! Exports of a session for people and other programs: transcript, Markdown, JSON, a single HTML file, a picture.
//!
//! Everything here is a pure function of the events of a branch; nothing opens a file or reads a clock. The module
//! is above `timeline` and the catalog, which names methods' kinds and figures, and below drivers and the screen.

mod by_task;
mod document;
mod dropped_text;
pub mod effect;
mod html;
mod json;
mod lines;
mod markdown;
mod measures;
pub mod metrics;
mod record;
mod run_directory;
mod search_picture;
#[cfg(feature = "tui")]
mod svg;
mod tally;
mod transcript;

#[cfg(test)]
mod tests;

pub use by_task::TaskTotals;
pub use document::{
    Block, EDITED_BY_PERSON, Line, SampleFacts, Section, Span, Tone, lesson_line, not_kept, plain_text,
    reflection_notes, start_section, step_section,
};
pub use dropped_text::{DroppedText, dropped_texts};
pub use html::{EmbedSession, write_html};
pub use json::render_json;
pub use lines::{RunLines, StepExtras, StepFields, step_fields, summary_line};
pub use markdown::render_markdown;
pub use measures::{MeasureValues, SessionMeasures, session_measures};
pub use record::{
    EpisodeRecord, FailedCall, InvalidStepRef, SessionRecord, SessionRecorder, ShownBranch, StepRef,
    recorded_private_texts,
};
pub use run_directory::run_directory_files;
#[cfg(feature = "tui")]
pub use svg::{CastFrame, SvgColors, render_svg, render_svg_cast};
pub use tally::{EpisodeRates, Tally};
pub use transcript::{Transcript, render_transcript, step_lines};
