//! A pseudo-terminal that runs a program, and what it shows.

#![allow(dead_code, reason = "each target uses only part of it")]
#![allow(clippy::unwrap_used)]

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Limit for anything these tests wait for, on a loaded machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);
/// Asks for the background.
const BACKGROUND_QUERY: &[u8] = b"\x1b]11;?";
/// Enters the alternate screen.
const ENTER: &[u8] = b"\x1b[?1049h";

/// A terminal that runs the program.
pub(crate) struct Terminal {
    pub(crate) child: Box<dyn Child + Send + Sync>,
    pub(crate) master: Box<dyn MasterPty + Send>,
    pub(crate) keys: Box<dyn Write + Send>,
    pub(crate) terminal: Arc<Mutex<vt100::Parser>>,
    pub(crate) bytes_written: Arc<Mutex<usize>>,
    /// Whether the program has asked for the terminal's background.
    pub(crate) asked_background: Arc<AtomicBool>,
    /// How often the program has taken over the terminal.
    entered: Arc<AtomicUsize>,
    /// Ends the reader thread at the next chunk.
    pub(crate) stop_reading: Arc<AtomicBool>,
    pub(crate) reader: Option<std::thread::JoinHandle<()>>,
    /// Removed with the terminal.
    pub(crate) sessions: tempfile::TempDir,
}

impl Terminal {
    pub(crate) fn start(
        mut command: CommandBuilder,
        columns: u16,
        rows: u16,
        configuration: Option<&std::path::Path>,
    ) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).unwrap();
        let sessions = tempfile::tempdir().unwrap();
        command.env("RETROSPECT_SESSIONS", sessions.path());
        let empty_config = sessions.path().join("none");
        command.env("XDG_CONFIG_HOME", configuration.unwrap_or(&empty_config));
        // The hints that one test follows are new to the next.
        command.env("XDG_STATE_HOME", sessions.path().join("state"));
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        let child = pty.slave.spawn_command(command).unwrap();
        drop(pty.slave);
        let parser = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        let terminal = Arc::new(Mutex::new(parser));
        let bytes_written = Arc::new(Mutex::new(0));
        let (mut reader, shown, count) =
            (pty.master.try_clone_reader().unwrap(), terminal.clone(), bytes_written.clone());
        let stop_reading = Arc::new(AtomicBool::new(false));
        let stop = stop_reading.clone();
        let entered = Arc::new(AtomicUsize::new(0));
        let entered_count = entered.clone();
        let asked_background = Arc::new(AtomicBool::new(false));
        let asked = asked_background.clone();
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The end of the last chunk, in which a sequence may have begun.
            let mut tail: Vec<u8> = Vec::new();
            while let Ok(n @ 1..) = reader.read(&mut bytes) {
                shown.lock().unwrap().process(&bytes[..n]);
                *count.lock().unwrap() += n;
                tail.extend(&bytes[..n]);
                let found = tail.windows(ENTER.len()).filter(|part| *part == ENTER).count();
                entered_count.fetch_add(found, Ordering::SeqCst);
                if tail.windows(BACKGROUND_QUERY.len()).any(|part| part == BACKGROUND_QUERY) {
                    asked.store(true, Ordering::SeqCst);
                }
                tail.drain(..tail.len().saturating_sub(ENTER.len() - 1));
                if stop.load(Ordering::SeqCst) {
                    break;
                }
            }
        });
        let (keys, reader) = (pty.master.take_writer().unwrap(), Some(reader));
        Self {
            child,
            master: pty.master,
            keys,
            terminal,
            bytes_written,
            asked_background,
            entered,
            stop_reading,
            reader,
            sessions,
        }
    }

    /// Closes the terminal's side of the pty completely, as closing its window does.
    pub(crate) fn close(&mut self) {
        self.stop_reading.store(true, Ordering::SeqCst);
        // Trigger a redraw, so that the reader notices.
        self.master.resize(PtySize { rows: 30, cols: 90, pixel_width: 0, pixel_height: 0 }).unwrap();
        self.reader.take().unwrap().join().unwrap();
        self.keys = Box::new(std::io::sink());
        self.master = native_pty_system().openpty(PtySize::default()).unwrap().master;
    }

    pub(crate) fn text(&self) -> String {
        self.terminal.lock().unwrap().screen().contents()
    }

    pub(crate) fn wait_for(&self, words: &str) {
        let start = Instant::now();
        while !self.text().contains(words) {
            assert!(start.elapsed() < TIMEOUT, "no {words:?} on the screen:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn wait_until_gone(&self, words: &str) {
        let start = Instant::now();
        while self.text().contains(words) {
            assert!(start.elapsed() < TIMEOUT, "still {words:?} on the screen:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Like [`Terminal::wait_for`], but the words may be wrapped onto two rows.
    pub(crate) fn wait_for_wrapped(&self, words: &str) {
        let flat = |text: &str| text.split_whitespace().collect::<String>();
        let start = Instant::now();
        while !flat(&self.text()).contains(&flat(words)) {
            assert!(start.elapsed() < TIMEOUT, "no {words:?} on the screen:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Presses a key that makes the program restore the terminal, or sends a signal, and waits until the program has taken
    /// it over again.
    pub(crate) fn wait_until_reentered(&mut self, leave: impl FnOnce(&mut Self)) {
        let before = self.entered.load(Ordering::SeqCst);
        leave(self);
        let start = Instant::now();
        while self.entered.load(Ordering::SeqCst) == before {
            assert!(start.elapsed() < TIMEOUT, "it does not come back:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(signal, self.child.process_id().unwrap());
    }

    /// Returns the child processes of the terminal's first process.
    pub(crate) fn children(&self) -> Vec<u32> {
        let parent = self.child.process_id().unwrap().to_string();
        let all =
            std::fs::read_dir("/proc").unwrap().filter_map(|e| e.unwrap().file_name().into_string().ok());
        all.filter_map(|name| name.parse().ok())
            .filter(|pid: &u32| {
                // After the name (in parentheses, with arbitrary contents) follow the state and the parent's id.
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) == Some(&parent)
            })
            .collect()
    }

    /// Waits for the program to exit and returns its status.
    pub(crate) fn wait_for_exit(&mut self) -> u32 {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                // The reader ends once it has processed the last bytes, unless another process keeps the terminal open.
                let exited = Instant::now();
                while self.reader.as_ref().is_some_and(|reader| !reader.is_finished())
                    && exited.elapsed() < Duration::from_secs(2)
                {
                    std::thread::sleep(Duration::from_millis(5));
                }
                return status.exit_code();
            }
            assert!(start.elapsed() < TIMEOUT, "it does not end:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn assert_terminal_restored(&self) {
        let terminal = self.terminal.lock().unwrap();
        let screen = terminal.screen();
        assert!(!screen.alternate_screen(), "the alternate screen was left behind");
        assert!(!screen.bracketed_paste(), "bracketed paste was left behind");
        assert!(!screen.hide_cursor(), "the cursor was left hidden");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    }
}

pub(crate) fn kill(signal: Signal, pid: u32) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Killing a process that has already ended fails, which is fine.
        let _ = self.child.kill();
    }
}
