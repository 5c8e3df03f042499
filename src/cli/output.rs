//! Standard output and standard error. A reader that has gone away is forgiven: the verb ends, and nothing is said.

use super::error::{CliError, CliErrorKind};
use crate::signals;
use crate::text::clean;
use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};

/// How a piece of a line is meant; a terminal with colours shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextStyle {
    /// As it is.
    Plain,
    /// Of second rank.
    Dim,
    /// A heading.
    Heading,
    /// The left side's alone.
    OnlyLeft,
    /// The right side's alone.
    OnlyRight,
    /// What differs.
    Changed,
}

/// The only way to print.
pub struct Output {
    stdout: io::Stdout,
    is_terminal: bool,
    shows_progress: bool,
    has_progress_line: bool,
}

impl Output {
    /// Both streams of this process.
    #[expect(clippy::new_without_default, reason = "the streams are taken on purpose, not by default")]
    pub fn new() -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        Self {
            stdout,
            is_terminal: terminal,
            shows_progress: io::stderr().is_terminal(),
            has_progress_line: false,
        }
    }

    /// Standard output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// One line. Text from outside can neither steer the reader's terminal, now or when a file is looked at, nor begin another
    /// line.
    ///
    /// # Errors
    /// [`CliErrorKind::Gone`] when nobody reads it.
    pub fn print_line(&mut self, text: &str) -> Result<(), CliError> {
        self.write_line(&sanitized(text, self.is_terminal).replace('\n', " "))
    }

    /// One line of JSON: the same data, where what could steer a terminal is escaped.
    ///
    /// # Errors
    /// [`CliErrorKind::Gone`] when nobody reads it.
    pub fn print_json(&mut self, text: &str) -> Result<(), CliError> {
        self.write_line(&crate::text::escape_json(text))
    }

    fn write_line(&mut self, text: &str) -> Result<(), CliError> {
        self.clear_progress_line();
        let mut lock = self.stdout.lock();
        let written = signals::blocking_write(|| {
            lock.write_all(text.as_bytes()).and_then(|()| lock.write_all(b"\n")).and_then(|()| lock.flush())
        });
        written.map_err(|e| output_error(&e))
    }

    /// One line of pieces, clean wherever it goes; in colours where they are wanted.
    ///
    /// # Errors
    /// [`CliErrorKind::Gone`] when nobody reads it.
    pub(super) fn print_styled(
        &mut self,
        line: &[(TextStyle, String)],
        colour: bool,
    ) -> Result<(), CliError> {
        let mut text = String::new();
        for (paint, piece) in line {
            let code = match paint {
                _ if !colour => "",
                TextStyle::Plain => "",
                TextStyle::Dim => "2",
                TextStyle::Heading => "1",
                TextStyle::OnlyLeft => "31",
                TextStyle::OnlyRight => "32",
                TextStyle::Changed => "33",
            };
            let piece = crate::text::one_line(piece);
            if code.is_empty() || piece.trim().is_empty() {
                text.push_str(&piece);
            } else {
                text.extend(["\u{1b}[", code, "m", &piece, "\u{1b}[0m"]);
            }
        }
        let end = text.trim_end().len();
        text.truncate(end);
        self.write_line(&text)
    }

    /// A text of several lines without another line break, as clean as a [`line`](Self::line).
    ///
    /// # Errors
    /// [`CliErrorKind::Gone`] when nobody reads it.
    pub fn print_text(&mut self, text: &str) -> Result<(), CliError> {
        let shown = sanitized(text, self.is_terminal);
        self.print_document(&shown)
    }

    /// A document as it was written: its writer has escaped what came from outside.
    ///
    /// # Errors
    /// [`CliErrorKind::Gone`] when nobody reads it.
    pub fn print_document(&mut self, text: &str) -> Result<(), CliError> {
        if text.is_empty() {
            return Ok(());
        }
        self.clear_progress_line();
        let mut lock = self.stdout.lock();
        signals::blocking_write(|| lock.write_all(text.as_bytes()).and_then(|()| lock.flush()))
            .map_err(|e| output_error(&e))
    }

    /// One line on standard error.
    pub fn print_note(&mut self, text: &str) {
        self.clear_progress_line();
        // Nobody may be reading; there is nobody left to tell.
        let _ = signals::blocking_write(|| writeln!(io::stderr(), "{}", clean(text)));
    }

    /// Shows how far the work is, in one line of a terminal that is overwritten by the next. Nothing where standard
    /// error is no terminal, or where the transcript already scrolls through the same one.
    pub fn show_progress(&mut self, text: &str) {
        if !self.shows_progress {
            return;
        }
        let short: String = clean(text).chars().take(78).collect();
        let _ = signals::blocking_write(|| write!(io::stderr(), "\r\u{1b}[K{short}"));
        self.has_progress_line = true;
    }

    fn clear_progress_line(&mut self) {
        if std::mem::take(&mut self.has_progress_line) {
            let _ = signals::blocking_write(|| write!(io::stderr(), "\r\u{1b}[K"));
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.clear_progress_line();
    }
}

/// What a reader is shown of a text. Who reads a pipe or a file gets its tabs.
pub(super) fn sanitized(text: &str, terminal: bool) -> Cow<'_, str> {
    if terminal || !text.contains('\t') {
        return clean(text);
    }
    Cow::Owned(text.split('\t').map(clean).collect::<Vec<_>>().join("\t"))
}

fn output_error(error: &io::Error) -> CliError {
    match error.kind() {
        io::ErrorKind::BrokenPipe => CliError::output_closed(),
        _ => CliError::new(
            CliErrorKind::File,
            format!("standard output: could not be written: {error}"),
            "check where the output goes, and the space on the disk",
        ),
    }
}
