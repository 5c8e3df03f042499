//! However the program ends, the terminal is restored, the session closed, and the cost of the call in flight recorded.

use super::{PROGRAM, TIMEOUT, Terminal, kill};
use portable_pty::CommandBuilder;
use retrospect::domain::Usage;
use retrospect::engine::Event;
use retrospect::journal::read_branch;
use rustix::process::Signal;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Limit for the program's exit: a tenth of a second for a release build on an idle machine.
const EXIT_TIMEOUT: Duration = Duration::from_millis(if cfg!(debug_assertions) { 300 } else { 100 });
/// Number of attempts: a loaded machine may be slow once, but a real delay or loss occurs every time.
const TRIES: usize = 4;

/// Returns whether this process ignores SIGHUP, as under `nohup`: so do the programs that it starts, and they leave it at that.
fn ignores_hang_ups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 != 0)
}

/// A model server that sends `begin` to every request, then `repeated` again and again until the client disconnects.
struct EndlessServer {
    url: String,
    bytes_sent: Arc<AtomicUsize>,
}

impl EndlessServer {
    fn new(begin: String, repeated: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let sent = Arc::new(AtomicUsize::new(0));
        let count = sent.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let (begin, repeated, count) = (begin.clone(), repeated.clone(), count.clone());
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    let (mut line, mut length) = (String::new(), 0);
                    while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                            length = value.trim().parse().unwrap();
                        }
                        line.clear();
                    }
                    let _ = reader.read_exact(&mut vec![0; length]);
                    let mut next = begin.as_bytes();
                    while let Ok(n @ 1..) = stream.write(next) {
                        count.fetch_add(n, Ordering::SeqCst);
                        next = &next[n..];
                        if next.is_empty() {
                            next = repeated.as_bytes();
                        }
                    }
                    // Sends nothing more, and keeps the connection until the client disconnects.
                    let _ = reader.read(&mut [0; 1]);
                });
            }
        });
        Self { url, bytes_sent: sent }
    }

    /// Returns a server that streams `begin`, then `repeated` again and again.
    fn streaming(begin: &str, repeated: &str) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        Self::new(format!("{head}{begin}"), repeated.to_owned())
    }

    /// Returns a server whose reply stalls in the middle.
    fn stalling() -> Self {
        let chunk = r#"{"choices":[{"index":0,"delta":{"content":"unfinished words"}}]}"#;
        Self::streaming(&format!("data: {chunk}\n\n"), "")
    }
}

fn command_with_server(server: &EndlessServer) -> CommandBuilder {
    let mut command = CommandBuilder::new(PROGRAM);
    command.args(["run", "--env", "household", "--method", "react"]);
    command.args(["--actor", "openai:m", "--base-url", &server.url]);
    command
}

/// Returns the only journal below a folder.
fn find_journal(sessions: &Path) -> Option<PathBuf> {
    let mut entries = std::fs::read_dir(sessions).ok()?.flatten();
    entries.find_map(|e| Some(e.path().join("branches/trunk.jsonl")).filter(|p| p.is_file()))
}

/// Checks that the session was closed; returns the cost of the cancelled call, if there is one.
fn assert_closed(sessions: &Path, context: &str) -> Option<Usage> {
    let events = read_branch(&find_journal(sessions).unwrap()).unwrap().events;
    assert!(matches!(events.last().unwrap().event, Event::Closed), "{context}: {:?}", events.last());
    events.iter().find_map(|e| match &e.event {
        Event::CallCancelled { partial_reply, .. } => partial_reply.usage,
        _ => None,
    })
}

/// Regression: SIGQUIT, SIGUSR1, SIGALRM and SIGABRT left the terminal raw and the session open, and SIGHUP caused a
/// panic because the terminal was already gone.
#[test]
fn every_signal_restores_the_terminal_and_closes_the_session() {
    let server = EndlessServer::stalling();
    let endings = [
        (Signal::HUP, 130),
        (Signal::INT, 130),
        (Signal::TERM, 130),
        (Signal::QUIT, 131),
        (Signal::ABORT, 134),
        (Signal::USR1, 138),
        (Signal::USR2, 140),
        (Signal::ALARM, 142),
        #[cfg(target_os = "linux")]
        (Signal::POWER, 158),
        #[cfg(target_os = "linux")]
        (Signal::STKFLT, 144),
        #[cfg(target_os = "linux")]
        (Signal::SYS, 159),
        (Signal::TRAP, 133),
    ];
    for (signal, status) in endings {
        let mut window = Terminal::start(command_with_server(&server), 80, 24, None);
        window.wait_for("unfinished words");
        let sent_at = Instant::now();
        window.signal(signal);
        assert_eq!(window.wait_for_exit(), status, "{signal:?}");
        println!("{signal:?}: ended {:?} after it", sent_at.elapsed());
        window.assert_terminal_restored();
        let usage = assert_closed(window.sessions.path(), &format!("{signal:?}"));
        assert!(usage.is_some_and(|u| u.estimated && u.prompt_tokens > 0 && u.reply_tokens > 0), "{usage:?}");
    }
}

/// Signals without a predefined meaning end a program as well.
#[test]
#[cfg(target_os = "linux")]
fn a_real_time_signal_restores_the_terminal_and_closes_the_session() {
    let server = EndlessServer::stalling();
    for number in [34_u32, 50, 64] {
        let mut window = Terminal::start(command_with_server(&server), 80, 24, None);
        window.wait_for("unfinished words");
        let pid = window.child.process_id().unwrap();
        let sent = Command::new("sh").args(["-c", &format!("kill -{number} {pid}")]).status().unwrap();
        assert!(sent.success());
        assert_eq!(window.wait_for_exit(), 128 + number, "{number}");
        window.assert_terminal_restored();
        assert_closed(window.sessions.path(), &format!("signal {number}"));
    }
}

/// A closed terminal is reported by SIGHUP, or only by errors: `nohup` ignores the signal.
#[test]
fn closing_the_window_closes_the_session() {
    let server = EndlessServer::stalling();
    for ignored in [false, true] {
        let mut command = command_with_server(&server);
        if ignored {
            let program = command.get_argv().clone();
            command = CommandBuilder::new("sh");
            command.args(["-c", r#"trap "" HUP; exec "$@""#, "_"]);
            command.args(program);
        }
        let mut window = Terminal::start(command, 80, 24, None);
        window.wait_for("unfinished words");
        window.close();
        assert_eq!(window.wait_for_exit(), 130, "SIGHUP ignored: {ignored}");
        assert!(assert_closed(window.sessions.path(), "closed").is_some(), "SIGHUP ignored: {ignored}");
    }
}

/// Regression: a terminal that accepts no more output (such as a stalled connection) kept the program from ending.
#[test]
fn a_stalled_terminal_does_not_keep_the_program_from_ending() {
    let mut window = Terminal::open(200, 60);
    window.wait_for("PAUSED · your turn");
    window.stop_reading.store(true, Ordering::SeqCst);
    window.press("?");
    window.reader.take().unwrap().join().unwrap();
    // Draw more than the terminal buffers without a reader.
    for n in 0..200_u16 {
        let size = super::PtySize { rows: 40 + n % 20, cols: 180 + n % 20, pixel_width: 0, pixel_height: 0 };
        window.master.resize(size).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    window.signal(Signal::TERM);
    assert_eq!(window.wait_for_exit(), 130);
    assert_closed(window.sessions.path(), "TERM");
}

/// Regression: the first row said that nothing is saved, the last that nothing is lost, and `q` exited with 0.
#[test]
fn a_full_disk_is_reported_and_ends_with_an_error() {
    for (columns, rows) in [(80, 24), (60, 16)] {
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", "ulimit -f 48; exec \"$@\"", "sh", PROGRAM]);
        let mut window = Terminal::with_command(command, columns, rows);
        // The first proposal is shown, and nothing is running.
        window.wait_for("Enter run it");
        window.press(" ");
        window.wait_for("HALTED");
        for words in
            ["(trunk.jsonl) could not be written", "are saved", "wait in memory", "retry the write", "quit"]
        {
            window.wait_for_wrapped(words);
        }
        window.press("q");
        assert_eq!(window.wait_for_exit(), 1);
        window.assert_terminal_restored();
        let text = window.text();
        assert!(!text.contains("nothing is lost"), "{text}");
    }
}

/// The signal arrives before the screen opens, or after it has closed.
#[test]
fn a_signal_while_it_starts_or_ends_closes_the_session() {
    let mut window = Terminal::open(80, 24);
    let start = Instant::now();
    let has_started = |path: PathBuf| read_branch(&path).is_ok_and(|b| !b.events.is_empty());
    while !find_journal(window.sessions.path()).is_some_and(has_started) {
        assert!(start.elapsed() < TIMEOUT, "no session");
        std::thread::sleep(Duration::from_millis(1));
    }
    window.signal(Signal::TERM);
    assert_eq!(window.wait_for_exit(), 130);
    window.assert_terminal_restored();
    assert_closed(window.sessions.path(), "while it starts");

    let mut window = Terminal::open(80, 24);
    window.wait_for("PAUSED · your turn");
    window.press("q");
    window.signal(Signal::TERM);
    let status = window.wait_for_exit();
    assert!([0, 130].contains(&status), "{status}");
    window.assert_terminal_restored();
    assert_closed(window.sessions.path(), "while it ends");
}

/// Run in a separate process: takes over the terminal, then ends as `RETROSPECT_TEST_ENDING` says.
#[test]
fn enters_the_screen_and_crashes() {
    let Ok(how) = std::env::var("RETROSPECT_TEST_ENDING") else { return };
    let _guard = retrospect::signals::Guard::without_session().unwrap();
    let _screen = retrospect::ui::terminal::Screen::enter().unwrap();
    match how.as_str() {
        "abort" => std::process::abort(),
        _ => panic!("on purpose"),
    }
}

/// `abort()` ends the process as soon as its signal handler returns: the terminal must be restored by then.
#[test]
fn an_abort_or_a_panic_in_the_program_restores_the_terminal() {
    for how in ["abort", "panic"] {
        let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
        command.args(["--exact", "endings::enters_the_screen_and_crashes", "--nocapture"]);
        command.env("RETROSPECT_TEST_ENDING", how);
        let mut window = Terminal::start(command, 80, 24, None);
        assert_ne!(window.wait_for_exit(), 0, "{how}");
        assert!(*window.bytes_written.lock().unwrap() > 100, "{how}: it took no terminal: {}", window.text());
        window.assert_terminal_restored();
    }
}

/// The program, running without a terminal.
struct PipedProgram {
    child: Child,
    home: tempfile::TempDir,
}

impl PipedProgram {
    fn start(args: &[&str], input: Stdio) -> Self {
        Self::start_with(Command::new(PROGRAM), args, input)
    }

    fn start_with(mut command: Command, args: &[&str], input: Stdio) -> Self {
        let home = tempfile::tempdir().unwrap();
        command.args(args);
        command.env("RETROSPECT_SESSIONS", home.path()).env("XDG_CONFIG_HOME", home.path().join("none"));
        let child = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        Self { child, home }
    }

    /// Sends a signal; returns exit status and time until the exit.
    fn end_with_signal(&mut self, signal: Signal) -> (Option<i32>, Duration) {
        let sent_at = Instant::now();
        kill(signal, self.child.id());
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status.code(), sent_at.elapsed());
            }
            assert!(sent_at.elapsed() < TIMEOUT, "it does not end by {signal:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until the pipe of its output is full and stays so. No condition says that the program is blocked: a pipe counts as full
    /// once its last page is begun, and how many pages there are depends on the system. So nothing may have arrived for a while.
    fn wait_for_a_full_pipe(&self) {
        let start = Instant::now();
        let (mut before, mut since) = (0, start);
        while before < 20_000 || since.elapsed() < Duration::from_millis(500) {
            assert!(start.elapsed() < TIMEOUT, "only {before} bytes of output");
            std::thread::sleep(Duration::from_millis(5));
            let now = rustix::io::ioctl_fionread(self.child.stdout.as_ref().unwrap()).unwrap();
            if now != before {
                (before, since) = (now, Instant::now());
            }
        }
    }
}

impl Drop for PipedProgram {
    fn drop(&mut self) {
        // Killing a process that has already ended fails, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn without_a_screen_every_signal_closes_the_session() {
    let server = EndlessServer::stalling();
    for (mode, input) in [("--headless", false), ("--plain", true)] {
        for (signal, status) in
            [(Signal::HUP, 130), (Signal::TERM, 130), (Signal::QUIT, 131), (Signal::USR1, 138)]
        {
            if signal == Signal::HUP && ignores_hang_ups() {
                println!("{mode}: SIGHUP skipped, since it was ignored when the tests were started");
                continue;
            }
            let mut tries = (0..TRIES).map(|_| end_during_call(&server, mode, input, signal, status));
            let closed = tries.find_map(|(took, usage)| usage.map(|usage| (took, usage)));
            println!("{mode} {signal:?}: ended after it, with the usage of its call: {closed:?}");
            assert!(closed.is_some_and(|(_, usage)| usage.prompt_tokens > 0), "{mode} {signal:?}");
        }
    }
}

/// Ends the program while it waits for a reply; returns how long that takes, and the usage of the call it cancelled: `None` if the
/// server had the request before the program knew that it was sent. Nothing shows when that is known, and such a call is asked
/// again after resuming.
fn end_during_call(
    server: &EndlessServer,
    mode: &str,
    input: bool,
    signal: Signal,
    status: i32,
) -> (Duration, Option<Usage>) {
    let before = server.bytes_sent.load(Ordering::SeqCst);
    let run = ["run", "--env", "household", "--method", "react", "--actor", "openai:m", "--base-url"];
    let args = [&run[..], &[&server.url, mode]].concat();
    let mut program = PipedProgram::start(&args, if input { Stdio::piped() } else { Stdio::null() });
    let start = Instant::now();
    while server.bytes_sent.load(Ordering::SeqCst) == before {
        assert!(start.elapsed() < TIMEOUT, "{mode}: no request arrived");
        std::thread::sleep(Duration::from_millis(5));
    }
    let (ended, took) = program.end_with_signal(signal);
    assert_eq!(ended, Some(status), "{mode} {signal:?}");
    (took, assert_closed(program.home.path(), mode))
}

/// Regression: a pipe that nobody reads kept the program from ending.
#[test]
fn an_unread_pipe_does_not_keep_the_program_from_ending() {
    let tasks = ["--tasks", "easy/*/1", "--method", "react"];
    for mode in [&["--headless", "--json"][..], &["--plain"]] {
        let mut args = vec!["run", "--env", "household"];
        args.extend(tasks);
        args.extend(mode);
        let mut program = PipedProgram::start(&args, Stdio::piped());
        if mode == ["--plain"] {
            let mut input = program.child.stdin.take().unwrap();
            // Requests the help text over and over.
            let _ = std::thread::spawn(move || input.write_all("help\n".repeat(1000).as_bytes()));
        }
        program.wait_for_a_full_pipe();
        let (ended, took) = program.end_with_signal(Signal::TERM);
        assert_eq!(ended, Some(130), "{mode:?}");
        println!("{mode:?} into a pipe that nobody reads: ended {took:?} after SIGTERM");
        // Nothing waits for this time: the program ends by itself a second after a signal that it can't act on.
        assert!(took <= Duration::from_secs(2), "{mode:?}: {took:?}");
        assert_closed(program.home.path(), "TERM");
    }
}

/// Regression: with 63 kB of unfinished JSON, the program took 22 s to react to SIGINT.
#[test]
fn whatever_a_server_sends_a_signal_ends_the_program_at_once() {
    let line = |text: &str, times: usize| {
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", text.repeat(times))
    };
    let header = format!("HTTP/1.1 200 OK\r\nx-long: {}", "y".repeat(1 << 16));
    let servers = [
        ("unfinished JSON", EndlessServer::streaming("{\n", &"\"a\": {}\n".repeat(8000))),
        ("unfinished data", EndlessServer::streaming("data: {\n", &"data: \"a\": {}\n".repeat(8000))),
        ("one line", EndlessServer::streaming("data: {\"a\": \"", &"x".repeat(1 << 16))),
        ("tiny events", EndlessServer::streaming("", &"data: {}\n\n".repeat(8000))),
        (
            "tiny replies",
            EndlessServer::streaming("", &"data: {\"choices\":[{\"delta\":{}}]}\n\n".repeat(4000)),
        ),
        ("deep nesting", EndlessServer::streaming("data: ", &"[".repeat(100_000))),
        ("white space", EndlessServer::streaming("", &" \n\r\n".repeat(16_000))),
        ("comments", EndlessServer::streaming("", &": alive\n".repeat(8000))),
        ("a header without an end", EndlessServer::new(header.clone(), header)),
        (
            "headers again and again",
            EndlessServer::new(
                "HTTP/1.1 100 Continue\r\n\r\n".to_owned(),
                "HTTP/1.1 100 Continue\r\n\r\n".repeat(4000),
            ),
        ),
        ("lines of 4 MB", EndlessServer::streaming("", &line("x", 4 << 20))),
        (
            "lines of 1 MB without a word",
            EndlessServer::streaming(
                "",
                &format!("data: {{\"a\": \"{}\"}}\n\n", "x".repeat((1 << 20) - 100)),
            ),
        ),
        ("lines of percent signs", EndlessServer::streaming("", &line("%", (1 << 20) - 100))),
        ("a reply of percent signs", EndlessServer::streaming("", &line("%", 60_000))),
        (
            "reasoning at full speed",
            EndlessServer::streaming(
                "",
                &format!(
                    "data: {{\"choices\":[{{\"delta\":{{\"reasoning_content\":\"{}\"}}}}]}}\n\n",
                    "w ".repeat(20)
                )
                .repeat(1000),
            ),
        ),
        ("words at full speed", EndlessServer::streaming("", &line("w ", 4).repeat(4000))),
    ];
    let mut report = Vec::new();
    for (name, server) in &servers {
        let mut slow = Vec::new();
        loop {
            match exit_time_during_reply(name, server) {
                Some(took) if took > EXIT_TIMEOUT => slow.push(took),
                Some(took) => break report.push(format!("{name}: ended {took:?} after SIGINT ({slow:?})")),
                None => break report.push(format!("{name}: given up")),
            }
            assert!(slow.len() < TRIES, "{name}: {slow:?}");
        }
    }
    println!("{}", report.join("\n"));
}

/// Returns how long the program takes to end while a server sends; `None` if the call had already failed by then.
fn exit_time_during_reply(name: &str, server: &EndlessServer) -> Option<Duration> {
    let args = ["run", "--env", "household", "--method", "react", "--headless", "--actor", "openai:m"];
    let args = [&args[..], &["--base-url", &server.url]].concat();
    let before = server.bytes_sent.load(Ordering::SeqCst);
    let mut command = Command::new(PROGRAM);
    // With a key set, everything received is also searched for it.
    command.env("OPENAI_API_KEY", "sk-R3al0neQ7vXw9TzB4mK8pL2cD6fH1jN5sG0yAuE");
    let mut program = PipedProgram::start_with(command, &args, Stdio::null());
    let start = Instant::now();
    while server.bytes_sent.load(Ordering::SeqCst) < before + (1 << 19)
        && program.child.try_wait().unwrap().is_none()
    {
        assert!(start.elapsed() < TIMEOUT, "{name}: only {:?} bytes were read", server.bytes_sent);
        std::thread::sleep(Duration::from_millis(1));
    }
    let took = if let Some(status) = program.child.try_wait().unwrap() {
        // An endless reply fails at once, which stops the run.
        assert_eq!(status.code(), Some(3), "{name}");
        None
    } else {
        // Half a megabyte of the reply has been sent when the signal arrives.
        let (ended, took) = program.end_with_signal(Signal::INT);
        assert!(matches!(ended, Some(130 | 3)), "{name}: {ended:?}");
        Some(took)
    };
    assert_closed(program.home.path(), name);
    took
}
