//! Sets up the terminal, and restores it in every case, including panics and signals.

use super::terminal_events::reported_background;
use super::theme::BACKGROUND_QUERY;
use crate::signals;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use std::io::{self, Stdout, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the terminal is set up and must be restored; the panic hook reads it too.
static TERMINAL_ACTIVE: AtomicBool = AtomicBool::new(false);

/// Collects a frame and writes it with one call, as a synchronized update.
pub struct FrameWriter {
    buffer: Vec<u8>,
    out: Stdout,
}

/// The terminal while the screen uses it. Dropping it restores the terminal.
pub struct Screen {
    /// The ratatui terminal.
    pub terminal: Terminal<CrosstermBackend<FrameWriter>>,
    mouse_captured: bool,
}

impl Write for FrameWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        // Restored already: draw nothing more. ratatui shows the cursor when it is dropped, and panics if it can't
        // report that this failed.
        if !TERMINAL_ACTIVE.load(Ordering::SeqCst) {
            self.buffer.clear();
            return Ok(());
        }
        let mut frame = Vec::with_capacity(self.buffer.len() + 16);
        queue!(frame, BeginSynchronizedUpdate)?;
        frame.append(&mut self.buffer);
        queue!(frame, EndSynchronizedUpdate)?;
        let mut out = self.out.lock();
        signals::blocking_write(|| out.write_all(&frame).and_then(|()| out.flush()))
    }
}

impl Screen {
    /// Sets up the terminal: alternate screen, raw mode, bracketed paste.
    ///
    /// # Errors
    /// Returns an error if the terminal can't be switched; it is restored in that case.
    pub fn enter() -> io::Result<Self> {
        check_size(crossterm::terminal::size()?)?;
        restore_on_panic();
        signals::set_terminal_restorer(restore_without_lock);
        activate()?;
        signals::watch_terminal();
        let backend = CrosstermBackend::new(FrameWriter { buffer: Vec::new(), out: io::stdout() });
        match Terminal::new(backend) {
            Ok(terminal) => Ok(Self { terminal, mouse_captured: false }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Asks the terminal for its background, unless it has reported that.
    ///
    /// # Errors
    /// Returns an error if the terminal can't be written to.
    pub fn ask_background(&self) -> io::Result<()> {
        if reported_background().is_some() { Ok(()) } else { execute!(io::stdout(), Print(BACKGROUND_QUERY)) }
    }

    /// Captures the mouse, or releases it so that the terminal can select text.
    ///
    /// # Errors
    /// Returns an error if the terminal can't be written to.
    pub fn capture_mouse(&mut self, on: bool) -> io::Result<()> {
        self.mouse_captured = on;
        if on {
            execute!(io::stdout(), EnableMouseCapture)
        } else {
            execute!(io::stdout(), DisableMouseCapture)
        }
    }

    /// Restores the terminal temporarily; see [`Self::reenter`].
    pub fn leave(&mut self) {
        restore();
    }

    /// Sets the terminal up again; the next frame is drawn in full.
    ///
    /// # Errors
    /// Returns an error if the terminal can't be switched.
    pub fn reenter(&mut self) -> io::Result<()> {
        activate()?;
        if self.mouse_captured {
            execute!(io::stdout(), EnableMouseCapture)?;
        }
        self.clear()
    }

    /// Clears the screen; the next frame is drawn in full.
    ///
    /// # Errors
    /// Returns an error if the terminal can't be written to.
    pub fn clear(&mut self) -> io::Result<()> {
        // ratatui's own clear asks the terminal for its cursor position, and keys that arrive meanwhile break the
        // answer. Resizing clears as well, and asks nothing.
        let size = self.terminal.size()?;
        check_size((size.width, size.height))?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }

    /// Sets the terminal up again if a panic elsewhere in the program has restored it.
    ///
    /// # Errors
    /// Returns an error if the terminal can't be switched, or has become too large.
    pub fn ensure_active(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        check_size((size.width, size.height))?;
        if TERMINAL_ACTIVE.load(Ordering::SeqCst) { Ok(()) } else { self.reenter() }
    }

    /// Restores the terminal, stops the program as the terminal's Ctrl-Z would, and sets the terminal up again
    /// afterwards. Does not stop it if no shell could continue it.
    ///
    /// # Errors
    /// Returns an error if the terminal can't be switched.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.leave();
        stop_process_group();
        self.reenter()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Rejects terminals that claim an excessive size: all cells are held in memory.
fn check_size((columns, rows): (u16, u16)) -> io::Result<()> {
    const MAX_SIDE: u16 = 4096;
    const MAX_CELLS: u32 = 1 << 20;
    if columns.max(rows) <= MAX_SIDE && u32::from(columns) * u32::from(rows) <= MAX_CELLS {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "it has {columns} columns and {rows} rows; the limit is {MAX_SIDE} of each and {MAX_CELLS} cells in all"
    )))
}

#[cfg(unix)]
fn stop_process_group() {
    use rustix::process::{Signal, getpgrp, getsid, kill_current_process_group};
    // In the session leader's process group there is no shell above us that could continue us, so don't stop.
    if getsid(None) == Ok(getpgrp()) {
        return;
    }
    // Stop the whole group, so that a program that started us (such as cargo) stops with us and the shell gets
    // control. SIGTSTP would only reach our own handler.
    let _ = kill_current_process_group(Signal::STOP);
}

#[cfg(not(unix))]
fn stop_process_group() {}

fn activate() -> io::Result<()> {
    TERMINAL_ACTIVE.store(true, Ordering::SeqCst);
    // Not every terminal starts the alternate screen blank, and the start screen may have just left it.
    let entered = enable_raw_mode().and_then(|()| {
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            Clear(ClearType::All),
            EnableBracketedPaste,
            cursor::Hide
        )
    });
    if entered.is_err() {
        restore();
    }
    entered
}

/// Restores the terminal, once; errors can't be reported here.
fn restore() {
    if !TERMINAL_ACTIVE.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout().lock();
    let _ = signals::blocking_write(|| out.write_all(&restore_sequence()).and_then(|()| out.flush()));
    let _ = disable_raw_mode();
}

/// Returns the escape sequences that restore the terminal.
fn restore_sequence() -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory can't fail.
    let _ = queue!(
        bytes,
        EndSynchronizedUpdate,
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    bytes
}

/// Restores the terminal without the output lock, for a program that is stuck, perhaps in a write that holds it.
fn restore_without_lock() {
    if !TERMINAL_ACTIVE.swap(false, Ordering::SeqCst) {
        return;
    }
    let _ = disable_raw_mode();
    #[cfg(unix)]
    {
        let bytes = restore_sequence();
        let mut rest = bytes.as_slice();
        while let Ok(written @ 1..) = rustix::io::write(rustix::stdio::stdout(), rest) {
            rest = rest.get(written..).unwrap_or_default();
        }
    }
}

fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // The program goes on after a panic of an environment or a job, so the screen must stay as it is.
            let thread = std::thread::current();
            if thread.name().is_some_and(|name| crate::driver::GUARDED_THREADS.contains(&name)) {
                return;
            }
            restore();
            previous(panic);
        }));
    });
}

/// Returns whether an error means that the terminal is gone.
pub(super) fn is_terminal_gone(error: &io::Error) -> bool {
    const EIO: i32 = 5;
    error.kind() == io::ErrorKind::BrokenPipe || cfg!(unix) && error.raw_os_error() == Some(EIO)
}

#[cfg(test)]
mod size_tests {
    use super::check_size;

    #[test]
    fn oversized_terminals_are_rejected() {
        for fine in [(0, 0), (1, 1), (80, 24), (4096, 200), (1024, 1024)] {
            check_size(fine).unwrap();
        }
        for large in [(65535, 65535), (65535, 24), (80, 65535), (4096, 4096)] {
            let error = check_size(large).unwrap_err().to_string();
            assert!(error.contains(&format!("{} columns", large.0)), "{error}");
        }
    }
}
