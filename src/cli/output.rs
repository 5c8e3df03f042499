//! Standard output and standard error. If standard output is closed (broken pipe), the verb ends without a message.

use super::error::{CliError, CliErrorKind};
use crate::signals;
use crate::text::{clean, hide_private, with_program_name};
use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};
use std::sync::OnceLock;

/// Style of a piece of a line, shown in colour terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextStyle {
    Plain,
    /// Secondary text.
    Dim,
    Heading,
    /// On the left side of a comparison.
    OnlyLeft,
    /// On the right side of a comparison.
    OnlyRight,
    /// Differs between the sides.
    Changed,
}

/// Writes to the standard streams; nothing else in this program prints.
pub struct Output {
    stdout: io::Stdout,
    is_terminal: bool,
    shows_progress: bool,
    has_progress_line: bool,
}

impl Output {
    /// Opens both streams of this process.
    #[expect(clippy::new_without_default, reason = "opening the streams is a deliberate act")]
    pub fn new() -> Self {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        Self { stdout, is_terminal, shows_progress: io::stderr().is_terminal(), has_progress_line: false }
    }

    /// Returns whether standard output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Prints one line. Removes control sequences and line breaks, so that outside text can neither control a terminal
    /// (now, or later when a file is shown) nor start another line.
    ///
    /// # Errors
    /// Fails with [`CliErrorKind::OutputClosed`] if standard output is closed.
    pub fn print_line(&mut self, text: &str) -> Result<(), CliError> {
        self.write_line(&sanitized(text, self.is_terminal).replace('\n', " "))
    }

    /// Prints one line of JSON; escapes characters that could control a terminal.
    ///
    /// # Errors
    /// Fails with [`CliErrorKind::OutputClosed`] if standard output is closed.
    pub fn print_json(&mut self, text: &str) -> Result<(), CliError> {
        self.write_line(&crate::text::escape_json(text))
    }

    fn write_line(&mut self, text: &str) -> Result<(), CliError> {
        self.clear_progress_line();
        let mut lock = self.stdout.lock();
        let result = signals::blocking_write(|| {
            lock.write_all(text.as_bytes()).and_then(|()| lock.write_all(b"\n")).and_then(|()| lock.flush())
        });
        result.map_err(|e| output_error(&e))
    }

    /// Prints one line of styled pieces without control sequences, in colour if `colour`.
    ///
    /// # Errors
    /// Fails with [`CliErrorKind::OutputClosed`] if standard output is closed.
    pub(super) fn print_styled(
        &mut self,
        line: &[(TextStyle, String)],
        colour: bool,
    ) -> Result<(), CliError> {
        let mut text = String::new();
        for (style, piece) in line {
            let code = match style {
                _ if !colour => "",
                // The left side of a comparison is the baseline.
                TextStyle::Plain | TextStyle::OnlyLeft => "",
                TextStyle::Dim => "2",
                TextStyle::Heading => "1",
                TextStyle::OnlyRight => "36",
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

    /// Prints a text of several lines as it is, without control sequences (see [`print_line`](Self::print_line)).
    ///
    /// # Errors
    /// Fails with [`CliErrorKind::OutputClosed`] if standard output is closed.
    pub fn print_text(&mut self, text: &str) -> Result<(), CliError> {
        let shown = sanitized(text, self.is_terminal);
        self.print_document(&shown)
    }

    /// Prints a document unchanged: its writer has already escaped outside text.
    ///
    /// # Errors
    /// Fails with [`CliErrorKind::OutputClosed`] if standard output is closed.
    pub fn print_document(&mut self, text: &str) -> Result<(), CliError> {
        if text.is_empty() {
            return Ok(());
        }
        self.print_document_with(|stdout| stdout.write_all(text.as_bytes()))
    }

    /// Like [`Self::print_document`], for texts too long to be held in memory: `write` writes the text.
    ///
    /// # Errors
    /// The same as [`Self::print_document`], and the errors of `write`.
    pub fn print_document_with(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), CliError> {
        self.clear_progress_line();
        let mut lock = self.stdout.lock();
        signals::blocking_write(|| write(&mut lock).and_then(|()| lock.flush())).map_err(|e| output_error(&e))
    }

    /// Prints a note on standard error. In front of an audience, hides hosts and folders.
    pub fn print_note(&mut self, text: &str) {
        match PRIVATE_ON_STAGE.get() {
            Some(private) => self.write_note(&hide_private(text, private, "*")),
            None => self.write_note(text),
        }
    }

    /// Prints a note with a command to enter, which works only as it is.
    #[cfg(feature = "tui")]
    pub(super) fn print_command(&mut self, text: &str) {
        self.write_note(text);
    }

    fn write_note(&mut self, text: &str) {
        self.clear_progress_line();
        // If standard error is closed, the failure cannot be reported.
        let _ = signals::blocking_write(|| writeln!(io::stderr(), "{}", clean(&with_program_name(text))));
    }

    /// Shows progress on one line of standard error, which the next call overwrites. Does nothing if standard error is
    /// not a terminal.
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

/// What is private besides what looks like it, if notes are for an audience.
static PRIVATE_ON_STAGE: OnceLock<Vec<String>> = OnceLock::new();

/// Hides hosts and folders in all notes from now on; also these texts, wherever they stand.
pub(super) fn hide_from_audience(private: Vec<String>) {
    let _ = PRIVATE_ON_STAGE.set(private);
}

/// Removes control sequences from a text. Tabs are kept unless the output is a terminal.
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
            format!("writing to standard output failed: {error}"),
            "check where the output goes and the free disk space",
        ),
    }
}
