//! The terminal: taken, and always given back, whatever happens.

use crate::signals;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
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

/// The terminal is ours now; what must be given back is known here, also to the panic hook.
static TERMINAL_ACTIVE: AtomicBool = AtomicBool::new(false);

/// Collects a frame and writes it with one call, wrapped so that a terminal that knows how shows it at once.
pub struct FrameWriter {
    buffer: Vec<u8>,
    out: Stdout,
}

/// The terminal while it is ours. Dropping it gives the terminal back.
pub struct Screen {
    /// What draws.
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
        // Restored already: nothing more is drawn. The library shows the cursor when it is dropped, and panics where it cannot
        // say that this failed.
        if !TERMINAL_ACTIVE.load(Ordering::SeqCst) {
            self.buffer.clear();
            return Ok(());
        }
        let mut whole = Vec::with_capacity(self.buffer.len() + 16);
        queue!(whole, BeginSynchronizedUpdate)?;
        whole.append(&mut self.buffer);
        queue!(whole, EndSynchronizedUpdate)?;
        let mut out = self.out.lock();
        signals::blocking_write(|| out.write_all(&whole).and_then(|()| out.flush()))
    }
}

impl Screen {
    /// Takes the terminal: alternate screen, raw mode, bracketed paste.
    ///
    /// # Errors
    /// When the terminal cannot be switched; it is given back then.
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

    /// Gives the mouse to the screen, or back to the terminal for selecting text.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn capture_mouse(&mut self, on: bool) -> io::Result<()> {
        self.mouse_captured = on;
        if on {
            execute!(io::stdout(), EnableMouseCapture)
        } else {
            execute!(io::stdout(), DisableMouseCapture)
        }
    }

    /// Gives the terminal back for a while.
    pub fn leave(&mut self) {
        restore();
    }

    /// Takes the terminal again; the next frame is drawn whole.
    ///
    /// # Errors
    /// When the terminal cannot be switched.
    pub fn reenter(&mut self) -> io::Result<()> {
        activate()?;
        if self.mouse_captured {
            execute!(io::stdout(), EnableMouseCapture)?;
        }
        self.clear()
    }

    /// Empties the screen; the next frame is drawn whole.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn clear(&mut self) -> io::Result<()> {
        // The library's own clearing asks the terminal where its cursor is, and the keys that come meanwhile get in the
        // way of the answer. Taking the size anew clears as well, and asks nothing.
        let size = self.terminal.size()?;
        check_size((size.width, size.height))?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }

    /// Takes the terminal again where a panic elsewhere in the program has given it back behind the screen's back.
    ///
    /// # Errors
    /// When the terminal cannot be switched, or has become too large.
    pub fn ensure_active(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        check_size((size.width, size.height))?;
        if TERMINAL_ACTIVE.load(Ordering::SeqCst) { Ok(()) } else { self.reenter() }
    }

    /// Gives the terminal back, stops the program as the terminal's own Ctrl-Z would, and takes it again afterwards. Where
    /// nobody could continue it, it is not stopped.
    ///
    /// # Errors
    /// When the terminal cannot be switched.
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

/// A terminal can claim any size; cells of all of it are held in memory.
fn check_size((columns, rows): (u16, u16)) -> io::Result<()> {
    const MAX_SIDE: u16 = 4096;
    const MAX_CELLS: u32 = 1 << 20;
    if columns.max(rows) <= MAX_SIDE && u32::from(columns) * u32::from(rows) <= MAX_CELLS {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "it has {columns} columns and {rows} rows; at most {MAX_SIDE} of each and {MAX_CELLS} cells in all can be drawn"
    )))
}

#[cfg(unix)]
fn stop_process_group() {
    use rustix::process::{Signal, getpgrp, getsid, kill_current_process_group};
    // In the group of the session's leader there is no shell above us that could continue us: we would freeze, so we go on.
    if getsid(None) == Ok(getpgrp()) {
        return;
    }
    // The whole group, so that a program that started us (such as cargo) stops with us and the shell gets its turn. The
    // milder signal would only come back to us, since we listen to it.
    let _ = kill_current_process_group(Signal::STOP);
}

#[cfg(not(unix))]
fn stop() {}

fn activate() -> io::Result<()> {
    TERMINAL_ACTIVE.store(true, Ordering::SeqCst);
    // Not every terminal hands out its other screen blank, and the start screen may have just left it.
    let taken = enable_raw_mode().and_then(|()| {
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            Clear(ClearType::All),
            EnableBracketedPaste,
            cursor::Hide
        )
    });
    if taken.is_err() {
        restore();
    }
    taken
}

/// Gives the terminal back, once; errors are of no use to anybody here.
fn restore() {
    if !TERMINAL_ACTIVE.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout().lock();
    let _ = signals::blocking_write(|| out.write_all(&restore_sequence()).and_then(|()| out.flush()));
    let _ = disable_raw_mode();
}

/// What makes the terminal again what it was.
fn restore_sequence() -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail.
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

/// The same where the program itself is stuck, perhaps in a write that holds the lock of the output.
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
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
    });
}

#[cfg(test)]
mod size_tests {
    use super::check_size;

    #[test]
    fn oversized_terminals_are_refused() {
        for fine in [(0, 0), (1, 1), (80, 24), (4096, 200), (1024, 1024)] {
            check_size(fine).unwrap();
        }
        for large in [(65535, 65535), (65535, 24), (80, 65535), (4096, 4096)] {
            let refused = check_size(large).unwrap_err().to_string();
            assert!(refused.contains(&format!("{} columns", large.0)), "{refused}");
        }
    }
}
