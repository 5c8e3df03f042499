//! The real program in a pseudo-terminal: it takes the terminal, draws, obeys keys, and always gives the terminal back.
#![cfg(all(feature = "tui", unix))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

#[path = "pty/endings.rs"]
mod endings;
#[path = "rig/stops.rs"]
mod stops;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_retrospect");
/// As long as a loaded machine may take for anything that is waited for.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A terminal with the program in it.
struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    terminal: Arc<Mutex<vt100::Parser>>,
    written: Arc<Mutex<usize>>,
    /// Its reader ends at the next piece.
    left: Arc<AtomicBool>,
    reader: Option<std::thread::JoinHandle<()>>,
    /// Goes with the window.
    sessions: tempfile::TempDir,
}

impl Terminal {
    fn open(columns: u16, rows: u16) -> Self {
        Self::with_command(CommandBuilder::new(PROGRAM), columns, rows)
    }

    /// Of a command that is given the program's arguments.
    fn with_command(mut command: CommandBuilder, columns: u16, rows: u16) -> Self {
        command.args(["run", "--env", "household"]);
        Self::start(command, columns, rows, None)
    }

    /// Without a verb, and with the configuration of this folder.
    fn start_screen(columns: u16, rows: u16, configuration: &std::path::Path) -> Self {
        Self::start(CommandBuilder::new(PROGRAM), columns, rows, Some(configuration))
    }

    fn start(
        mut command: CommandBuilder,
        columns: u16,
        rows: u16,
        configuration: Option<&std::path::Path>,
    ) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).unwrap();
        let sessions = tempfile::tempdir().unwrap();
        command.env("RETROSPECT_SESSIONS", sessions.path());
        let none = sessions.path().join("none");
        command.env("XDG_CONFIG_HOME", configuration.unwrap_or(&none));
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        let child = pty.slave.spawn_command(command).unwrap();
        drop(pty.slave);
        let parser = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        let terminal = Arc::new(Mutex::new(parser));
        let written = Arc::new(Mutex::new(0));
        let (mut reader, shown, count) =
            (pty.master.try_clone_reader().unwrap(), terminal.clone(), written.clone());
        let left = Arc::new(AtomicBool::new(false));
        let leave = left.clone();
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = reader.read(&mut bytes) {
                shown.lock().unwrap().process(&bytes[..n]);
                *count.lock().unwrap() += n;
                if leave.load(Ordering::SeqCst) {
                    break;
                }
            }
        });
        let (keys, reader) = (pty.master.take_writer().unwrap(), Some(reader));
        Self { child, master: pty.master, keys, terminal, written, left, reader, sessions }
    }

    /// Closes the terminal's window: nothing of its side stays open.
    fn close(&mut self) {
        self.left.store(true, Ordering::SeqCst);
        // Something to draw, so that the reader sees that it is over.
        self.master.resize(PtySize { rows: 30, cols: 90, pixel_width: 0, pixel_height: 0 }).unwrap();
        self.reader.take().unwrap().join().unwrap();
        self.keys = Box::new(std::io::sink());
        self.master = native_pty_system().openpty(PtySize::default()).unwrap().master;
    }

    fn text(&self) -> String {
        self.terminal.lock().unwrap().screen().contents()
    }

    fn wait_for(&self, words: &str) {
        let began = Instant::now();
        while !self.text().contains(words) {
            assert!(began.elapsed() < TIMEOUT, "no {words:?} on the screen:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The same, also where the words are in two rows.
    fn wait_for_folded(&self, words: &str) {
        let flat = |text: &str| text.split_whitespace().collect::<String>();
        let began = Instant::now();
        while !flat(&self.text()).contains(&flat(words)) {
            assert!(began.elapsed() < TIMEOUT, "no {words:?} on the screen:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn signal(&self, signal: Signal) {
        kill(signal, self.child.process_id().unwrap());
    }

    /// The processes that this terminal's first one has started.
    fn children(&self) -> Vec<u32> {
        let parent = self.child.process_id().unwrap().to_string();
        let all =
            std::fs::read_dir("/proc").unwrap().filter_map(|e| e.unwrap().file_name().into_string().ok());
        all.filter_map(|name| name.parse().ok())
            .filter(|pid: &u32| {
                // Behind the name, which is in parentheses and may hold anything: the state, then the parent.
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) == Some(&parent)
            })
            .collect()
    }

    /// Waits for the end and gives its status.
    fn wait_for_exit(&mut self) -> u32 {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                // The reader may still be at the last bytes.
                std::thread::sleep(Duration::from_millis(100));
                return status.exit_code();
            }
            assert!(began.elapsed() < TIMEOUT, "it does not end:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn assert_terminal_restored(&self) {
        let terminal = self.terminal.lock().unwrap();
        let screen = terminal.screen();
        assert!(!screen.alternate_screen(), "the alternate screen was left behind");
        assert!(!screen.bracketed_paste(), "bracketed paste was left behind");
        assert!(!screen.hide_cursor(), "the cursor was left hidden");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    }
}

fn kill(signal: Signal, pid: u32) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // One that has ended already cannot be ended again, which is all right.
        let _ = self.child.kill();
    }
}

#[test]
fn a_session_is_stepped_through_and_left() {
    let mut window = Terminal::open(120, 36);
    window.wait_for("PAUSED · your turn");
    window.wait_for("turn 1/");
    assert!(window.terminal.lock().unwrap().screen().alternate_screen());
    window.press("n");
    window.wait_for("turn 2/");
    window.press("\x1b[D");
    window.wait_for("PAST turn 1 of 2");
    // A smaller window is another layout; nothing is lost.
    window.master.resize(PtySize { rows: 16, cols: 60, pixel_width: 0, pixel_height: 0 }).unwrap();
    window.terminal.lock().unwrap().screen_mut().set_size(16.try_into().unwrap(), 60.try_into().unwrap());
    window.wait_for("[Error");
    window.press("q");
    window.wait_for("PAUSED");
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
    assert!(window.text().contains("retrospect resume"), "{}", window.text());
}

/// Where nobody could continue it, Ctrl-Z must not freeze it; it comes back and draws everything anew.
#[test]
fn ctrl_z_without_a_shell_comes_back() {
    let mut window = Terminal::open(80, 24);
    window.wait_for("PAUSED · your turn");
    window.press("\x1a");
    std::thread::sleep(Duration::from_millis(200));
    window.press("n");
    window.wait_for("turn 2/");
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
}

/// `kill -TSTP` from outside stopped it with the terminal still taken, so that the shell's prompt stood in the picture.
#[test]
fn a_stop_signal_restores_the_terminal_and_continue_takes_it_back() {
    // A shell with jobs, which goes on when its job stops, and brings it back after a line of input.
    let script =
        r#"set -m; "$@"; echo "the job stands"; read -r line; fg >/dev/null; echo "the job has ended""#;
    for key in [None, Some("\x1a")] {
        let mut shell = CommandBuilder::new("bash");
        shell.args(["-c", script, "_", PROGRAM]);
        let mut window = Terminal::with_command(shell, 80, 24);
        window.wait_for("PAUSED · your turn");
        if let Some(key) = key {
            window.press(key);
        } else {
            let children = window.children();
            assert_eq!(children.len(), 1, "{children:?}");
            kill(Signal::TSTP, children[0]);
        }
        window.wait_for("the job stands");
        window.assert_terminal_restored();
        window.press("go on\r");
        window.wait_for("PAUSED · your turn");
        assert!(window.terminal.lock().unwrap().screen().alternate_screen());
        window.press("n");
        window.wait_for("turn 2/");
        window.press("q");
        window.wait_for("the job has ended");
        assert_eq!(window.wait_for_exit(), 0);
        window.assert_terminal_restored();
    }
}

/// The same where there is no shell: it must not freeze.
#[test]
fn a_stop_signal_without_a_shell_continues() {
    let mut window = Terminal::open(80, 24);
    window.wait_for("PAUSED · your turn");
    window.signal(Signal::TSTP);
    std::thread::sleep(Duration::from_millis(200));
    window.press("n");
    window.wait_for("turn 2/");
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
}

#[test]
fn an_idle_screen_writes_nothing() {
    let mut window = Terminal::open(200, 60);
    window.wait_for("PAUSED · your turn");
    window.press("n");
    window.wait_for("turn 2/");
    std::thread::sleep(Duration::from_millis(500));
    let before = *window.written.lock().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(*window.written.lock().unwrap(), before);
    window.press("\x03\x03");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
}

/// What is wrong with a file of keys was told before the start screen and once more after it.
#[test]
fn keymap_errors_are_reported_once_after_the_start_screen() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("retrospect");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("keys.toml"), "[[main]]\non = \"f6\"\nrun = \"stepp\"\n").unwrap();
    let words = "no action is called";
    // Left at once, and left after a session.
    for starts in [false, true] {
        let mut window = Terminal::start_screen(100, 30, folder.path());
        window.wait_for(words);
        assert_eq!(window.text().matches(words).count(), 1, "{}", window.text());
        if starts {
            window.press("\r");
            window.wait_for("PAUSED · your turn");
            window.press("q");
        } else {
            window.press("\x1b");
        }
        assert_eq!(window.wait_for_exit(), 0);
        window.assert_terminal_restored();
        assert_eq!(window.text().matches(words).count(), 1, "{starts}: {}", window.text());
    }
}

/// A session that was only looked at was named by its last name alone, which leads nowhere for one in another folder.
#[test]
fn leaving_a_read_only_session_prints_the_resume_command() {
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples");
    let mut all: Vec<_> = std::fs::read_dir(&examples).unwrap().map(|e| e.unwrap().path()).collect();
    all.retain(|path| path.join("meta.toml").is_file());
    all.sort();
    let path = all[0].display().to_string();
    let mut command = CommandBuilder::new(PROGRAM);
    command.args(["open", &path]);
    let mut window = Terminal::start(command, 200, 30, None);
    window.wait_for("READING");
    window.wait_for("C result card");
    window.press("n");
    window.wait_for(&format!("read-only; to go on: {PROGRAM} resume {path}"));
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
    assert!(window.text().contains(&format!("resume {path}")), "{}", window.text());
}

/// On a screen each condition stops the session at the turn that the recording has, says so in the first row, and Space goes
/// on to the next.
#[test]
fn on_a_screen_breakpoints_stop_as_recorded() {
    let rows = stops::rows();
    // Two at a time: a window mostly waits.
    std::thread::scope(|scope| {
        for half in rows.chunks(rows.len().div_ceil(2)) {
            scope.spawn(|| half.iter().for_each(assert_stops_as_recorded));
        }
    });
}

fn assert_stops_as_recorded((_, task, condition, turns): &stops::Row) {
    let mut command = CommandBuilder::new(PROGRAM);
    command.args(["run", "--task", task, "--method", "omnireflect", "--break", condition]);
    let mut window = Terminal::start(command, 120, 36, None);
    window.wait_for(if turns.first() == Some(&1) { "STOPPED" } else { "PAUSED" });
    for turn in turns {
        // It stands at its first proposal: stopped already, where the condition is true of that.
        if *turn > 1 {
            window.press(" ");
        }
        window.wait_for(&format!("turn {turn}/50   STOPPED · {condition}"));
    }
    // Behind the last there is no other: the run comes to its end. Over the card of a result Space orders nothing.
    let length = if task.starts_with("easy/") { 13 } else { 50 };
    if turns.last() == Some(&length) {
        window.wait_for("is over");
        window.press("\x1b");
        window.wait_for("result card");
    }
    window.press(" ");
    let ended = Instant::now();
    let over = |w: &Terminal| w.text().contains("/50   WON") || w.text().contains("/50   ENDED");
    while !over(&window) {
        assert!(ended.elapsed() < TIMEOUT, "{condition}: it does not come to its end:\n{}", window.text());
        std::thread::sleep(Duration::from_millis(10));
    }
    // Its card has been closed already, or is closed by the first.
    if turns.last() != Some(&length) {
        window.wait_for("is over");
        window.press("q");
        window.wait_for("result card");
    }
    window.press("q");
    window.wait_for_exit();
    let session = std::fs::read_dir(window.sessions.path()).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(session.join("branches/trunk.jsonl")).unwrap();
    assert_eq!(text.matches("\"type\":\"breakpoint_hit\"").count(), turns.len(), "{task}: {condition}");
}

/// `nothing 3` never came true in the episode of the tour, and `D` in the tree had no other branch chosen.
#[test]
fn the_tour_is_followed_word_for_word() {
    let page = include_str!("../docs/TOUR.md").replace("\r\n", "\n");
    let none = tempfile::tempdir().unwrap();
    let mut window = Terminal::start_screen(120, 36, none.path());
    // What is pressed, what is waited for, and what the page says of it.
    let steps: &[(&str, &str, &str)] = &[
        ("", "put a hot mug in coffeemachine", "`Enter` starts it"),
        ("\r", " 1 ▸ ", "the row with `▸`"),
        ("n", " 2 ▸ ", "`n` (or `Enter`) does what is proposed"),
        ("n", " 3 ▸ ", ""),
        ("n", " 4 ▸ ", ""),
        ("n", " 5 ▸ ", ""),
        ("n", " 6 ▸ ", "Press it six times"),
        ("n", "▌ 7 ▸ ", "the seventh proposal waits"),
        ("\x1b[D\x1b[D\x1b[D", "PAST turn 4 of 7", "`PAST turn 4 of 7`"),
        (
            "o",
            "This is the past (turn 4 of 7). Continue from here on a new branch?",
            "This is the past (turn 4 of 7). Continue from here on a new branch?",
        ),
        ("", "After turn 4", "**After turn 4**"),
        ("", "Turn 4 anew, from before its action", "**Turn 4 anew, from before its action**"),
        ("", "▸ another action", "The key has chosen the row"),
        ("\r", "of 38", "what the world accepted then"),
        ("go to drawer 1", "▸ go to drawer 1 ", "Type `go to drawer 1`"),
        ("\r", "b1; trunk stays: B shows both, B u goes back", "trunk stays: B shows both, B u goes back`"),
        ("", "on b1", "`on b1`"),
        // While the agent still thinks, Space pauses.
        ("", " 5 ▸ ", ""),
        ("b", "Breakpoints and watches", "`b` opens the breakpoints"),
        ("stalled 8", "it will stop there", "`stalled 8`"),
        ("\r", "stops where `stalled 8` comes true", ""),
        (" ", "STOPPED · stalled 8", "`STOPPED · stalled 8`"),
        ("B", "Branches: 2", "`B` shows the branches"),
        ("\x1b[A", "trunk", "`B`, `↑` to `trunk`, `D`"),
        ("D", "Compare: ", "`D` puts the chosen branch beside"),
        ("", "a person decided", "a person's hand"),
        ("\r", "What they came to", "`Enter` tells all about a row"),
    ];
    for (keys, due, said) in steps {
        assert!(page.contains(said), "the page does not say {said:?}");
        window.press(keys);
        window.wait_for(due);
    }
}
