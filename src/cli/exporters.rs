//! The formats that a session can be exported in, one entry each: command line and screen know them from here.

use super::config::Config;
use super::error::CliError;
use super::locate::OpenedSession;
use super::screen::picture::{screen_cast, screen_svg};
use crate::engine::Envelope;
use crate::report::{
    EmbedSession, SessionRecord, StepRef, render_json, render_markdown, render_transcript,
    run_directory_files, write_html,
};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::io;
use std::sync::Arc;

/// A format of exported sessions.
#[derive(Debug)]
pub struct Exporter {
    /// The name that `--format` takes. A file with this extension has the format, too.
    pub name: &'static str,
    /// The usual extension of such files, then others. `--format` takes them as well.
    pub extensions: &'static [&'static str],
    /// What is written, for the help.
    pub meaning: &'static str,
    pub(super) content: Content,
}

/// What a format needs of a session, and the function that writes it.
#[derive(Debug)]
pub(super) enum Content {
    /// All steps, as one text.
    Steps(fn(&SessionRecord) -> String),
    /// All steps, one of which is marked, together with the session's files, so that the page can be opened as a session.
    Page(WritePage),
    /// All events, as one text.
    Events(fn(&[Arc<Envelope>]) -> String),
    /// All events, as several files in a folder.
    Folder(fn(&[Arc<Envelope>]) -> Result<NamedTexts, CliError>),
    /// The screen.
    Screen(fn(&Config, OpenedSession, &ScreenShot<'_>) -> Result<String, CliError>),
}

/// Files by name.
type NamedTexts = Vec<(String, String)>;

/// Writes a page part by part.
type WritePage = fn(
    &SessionRecord,
    StepRef,
    Option<&EmbedSession<'_, io::Error>>,
    &mut dyn FnMut(&str) -> io::Result<()>,
) -> io::Result<()>;

/// What is drawn of the screen.
#[derive(Debug)]
pub(super) struct ScreenShot<'a> {
    /// The step of a single picture.
    pub at: StepRef,
    /// The first and the last step of several; `None` for those of the session.
    pub range: (Option<StepRef>, Option<StepRef>),
    /// The speed at which several are shown.
    pub speed: &'a str,
    /// Columns and rows.
    pub size: (u16, u16),
    /// The theme, by default that of the configuration, and whether the screen is in stage mode.
    pub look: (Option<&'a str>, bool),
}

/// All formats; the first is that of an export that names neither a format nor an extension.
pub(super) static EXPORTERS: [Exporter; 7] = [
    Exporter {
        name: "html",
        extensions: &["html", "htm"],
        meaning: "One page that contains the session",
        content: Content::Page(write_html),
    },
    Exporter {
        name: "markdown",
        extensions: &["md"],
        meaning: "Markdown",
        content: Content::Steps(render_markdown),
    },
    Exporter {
        name: "json",
        extensions: &["json"],
        meaning: "One JSON document",
        content: Content::Steps(render_json),
    },
    Exporter {
        name: "svg",
        extensions: &["svg"],
        meaning: "The screen at one step, as a picture",
        content: Content::Screen(|config, opened, shot| {
            screen_svg(config, opened, shot.at, shot.size, shot.look)
        }),
    },
    Exporter {
        name: "cast-svg",
        extensions: &[],
        meaning: "The screen while the session plays, as an animated picture with the captions of a demo",
        content: Content::Screen(|config, opened, shot| {
            screen_cast(config, opened, shot.range, shot.speed, shot.size, shot.look)
        }),
    },
    Exporter {
        name: "text",
        extensions: &["txt"],
        meaning: "The plain transcript",
        content: Content::Events(render_transcript),
    },
    Exporter {
        name: "reflexion",
        extensions: &[],
        meaning: "A run directory in the format of Reflexion's public code; --out names it",
        content: Content::Folder(run_directory),
    },
];

impl Exporter {
    /// Returns the exporter with this name or extension.
    pub fn named(word: &str) -> Option<&'static Self> {
        EXPORTERS.iter().find(|exporter| exporter.name == word || exporter.extensions.contains(&word))
    }
}

/// Returns the parser of `--format`.
pub(super) fn exporter_parser() -> impl TypedValueParser<Value = &'static Exporter> {
    let values = EXPORTERS.iter().map(|exporter| {
        let others = exporter.extensions.iter().copied().filter(|word| *word != exporter.name);
        PossibleValue::new(exporter.name).aliases(others).help(exporter.meaning)
    });
    PossibleValuesParser::new(values).try_map(|word| Exporter::named(&word).ok_or("no such format"))
}

/// Returns the files of a run directory.
fn run_directory(events: &[Arc<Envelope>]) -> Result<NamedTexts, CliError> {
    let files = run_directory_files(events);
    if files.len() < 2 {
        return Err(CliError::usage(
            "a run directory has only finished trials, and this session has none",
            "finish one first: `retrospect resume`",
        ));
    }
    Ok(files)
}
