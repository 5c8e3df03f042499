//! The real program in a pseudo-terminal: it takes over the terminal, draws, handles keys, and always restores the
//! terminal.
#![cfg(all(feature = "tui", unix))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]

#[path = "pty/endings.rs"]
mod endings;
#[path = "pty/key_budget.rs"]
mod key_budget;
#[path = "rig/stops.rs"]
mod stops;
#[path = "rig/terminal.rs"]
mod terminal;

use portable_pty::{CommandBuilder, PtySize};
use rustix::process::Signal;
use std::time::{Duration, Instant};
use terminal::{TIMEOUT, Terminal, kill};

const PROGRAM: &str = env!("CARGO_BIN_EXE_retrospect");

impl Terminal {
    fn open(columns: u16, rows: u16) -> Self {
        Self::with_command(CommandBuilder::new(PROGRAM), columns, rows)
    }

    /// Runs a command, which gets the program's arguments.
    fn with_command(mut command: CommandBuilder, columns: u16, rows: u16) -> Self {
        command.args(["run", "--env", "household"]);
        Self::start(command, columns, rows, None)
    }

    /// Opens the start screen (no verb) with the configuration of this folder.
    fn start_screen(columns: u16, rows: u16, configuration: &std::path::Path) -> Self {
        Self::start(CommandBuilder::new(PROGRAM), columns, rows, Some(configuration))
    }
}

#[test]
fn a_session_can_be_stepped_through_and_quit() {
    let mut window = Terminal::open(120, 36);
    window.wait_for("PAUSED · your turn");
    window.wait_for("step 1/");
    assert!(window.terminal.lock().unwrap().screen().alternate_screen());
    window.press("n");
    window.wait_for("step 2/");
    window.press("\x1b[D");
    window.wait_for("PAST step 1 of 2");
    // A smaller window has another layout, with the same contents.
    window.master.resize(PtySize { rows: 16, cols: 60, pixel_width: 0, pixel_height: 0 }).unwrap();
    window.terminal.lock().unwrap().screen_mut().set_size(16.try_into().unwrap(), 60.try_into().unwrap());
    window.wait_for("[Abstract");
    window.press("q");
    window.wait_for("PAUSED");
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
    assert!(window.text().contains("retrospect resume"), "{}", window.text());
}

/// Without a shell to continue it, Ctrl-Z must not freeze the program: it comes back and redraws everything.
#[test]
fn ctrl_z_without_a_shell_comes_back() {
    let mut window = Terminal::open(80, 24);
    window.wait_for("PAUSED · your turn");
    window.wait_until_reentered(|window| window.press("\x1a"));
    window.press("n");
    window.wait_for("step 2/");
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
}

/// Regression: `kill -TSTP` stopped the program without restoring the terminal, so the shell's prompt appeared on the
/// screen.
#[test]
fn a_stop_signal_restores_the_terminal_and_continue_takes_it_back() {
    // A shell with job control: it continues when its job stops, and resumes the job after a line of input.
    let script =
        r#"set -m; "$@"; echo "the job is stopped"; read -r line; fg >/dev/null; echo "the job has ended""#;
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
        window.wait_for("the job is stopped");
        window.assert_terminal_restored();
        window.press("go on\r");
        window.wait_for("PAUSED · your turn");
        assert!(window.terminal.lock().unwrap().screen().alternate_screen());
        window.press("n");
        window.wait_for("step 2/");
        window.press("q");
        window.wait_for("the job has ended");
        assert_eq!(window.wait_for_exit(), 0);
        window.assert_terminal_restored();
    }
}

/// The same without a shell: the program must not freeze.
#[test]
fn a_stop_signal_without_a_shell_continues() {
    let mut window = Terminal::open(80, 24);
    window.wait_for("PAUSED · your turn");
    window.wait_until_reentered(|window| window.signal(Signal::TSTP));
    // A key before the first frame is still the shell's.
    window.wait_for("PAUSED · your turn");
    window.press("n");
    window.wait_for("step 2/");
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
}

#[test]
fn an_idle_screen_writes_nothing() {
    let mut window = Terminal::open(200, 60);
    window.wait_for("PAUSED · your turn");
    window.press("n");
    window.wait_for("step 2/");
    // The last frame may arrive late on a busy machine. After that, nothing is written for a whole second.
    let start = Instant::now();
    let is_quiet = || {
        let before = *window.bytes_written.lock().unwrap();
        std::thread::sleep(Duration::from_secs(1));
        *window.bytes_written.lock().unwrap() == before
    };
    while !is_quiet() {
        assert!(start.elapsed() < TIMEOUT, "the idle screen still writes");
    }
    window.press("\x03\x03");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
}

/// Regression: problems of the keymap file were reported before the start screen and again after it.
#[test]
fn keymap_errors_are_reported_once_after_the_start_screen() {
    let folder = tempfile::tempdir().unwrap();
    let config_dir = folder.path().join("retrospect");
    std::fs::create_dir(&config_dir).unwrap();
    std::fs::write(config_dir.join("keys.toml"), "[[main]]\non = \"f6\"\nrun = \"stepp\"\n").unwrap();
    let error = "unknown action `stepp`";
    // Quit at once, and quit after a session.
    for starts_session in [false, true] {
        let mut window = Terminal::start_screen(100, 30, folder.path());
        window.wait_for(error);
        assert_eq!(window.text().matches(error).count(), 1, "{}", window.text());
        if starts_session {
            window.press("\r");
            window.wait_for("PAUSED · your turn");
            window.press("q");
        } else {
            window.press("\x1b");
        }
        assert_eq!(window.wait_for_exit(), 0);
        window.assert_terminal_restored();
        assert_eq!(window.text().matches(error).count(), 1, "{starts_session}: {}", window.text());
    }
}

/// Regression: the resume command of a read-only session had only its name, which isn't found for a session in another
/// folder.
#[test]
fn quitting_a_read_only_session_prints_the_resume_command() {
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples");
    let mut sessions: Vec<_> = std::fs::read_dir(&examples).unwrap().map(|e| e.unwrap().path()).collect();
    sessions.retain(|path| path.join("meta.toml").is_file());
    sessions.sort();
    let path = sessions[0].display().to_string();
    let mut command = CommandBuilder::new(PROGRAM);
    command.args(["open", &path]);
    let mut window = Terminal::start(command, 200, 30, None);
    window.wait_for("READ-ONLY");
    window.wait_for("C end card");
    window.press("a");
    window.wait_for(&format!("read-only; to continue: {PROGRAM} resume {path}"));
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
    assert!(window.text().contains(&format!("resume {path}")), "{}", window.text());
}

/// Regression: `demo` read a folder of the machine that built the program, and a report of a demo was written there.
#[test]
fn a_demo_plays_in_a_folder_without_the_repository() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = CommandBuilder::new(PROGRAM);
    command.args(["demo", "lamp"]);
    command.cwd(folder.path());
    let mut window = Terminal::start(command, 120, 36, None);
    // The end isn't known before the story begins.
    window.wait_for(" 1/7 ");
    window.press("+++ ");
    window.wait_for("▶ playing 8x");
    window.wait_for("step 13/50   WON");
    window.wait_for(" 7/7 ");
    window.press("E");
    window.wait_for("report-lamp.html");
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
    assert!(window.sessions.path().join("report-lamp.html").is_file());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// From the end card of a demo, whose prompts are those of the version that recorded it, a person goes on alone.
#[test]
fn the_task_of_a_demo_is_played_in_a_session_of_ones_own() {
    let mut command = CommandBuilder::new(PROGRAM);
    command.args(["demo", "lamp"]);
    let mut window = Terminal::start(command, 120, 36, None);
    window.wait_for(" 1/7 ");
    window.press("G");
    window.wait_for(" 7/7 ");
    window.press("C");
    window.wait_for("play this task in a session of your own");
    window.press("r");
    window.wait_for("your turn");
    window.wait_for("step 1/50");
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
}

/// On the screen each condition stops the session at the recorded step and is named in the first row; Space continues
/// to the next stop.
#[test]
fn on_a_screen_breakpoints_stop_as_recorded() {
    let rows = stops::rows();
    // Several at a time, since each mostly waits.
    std::thread::scope(|scope| {
        for part in rows.chunks(rows.len().div_ceil(12)) {
            scope.spawn(|| part.iter().for_each(assert_stops_as_recorded));
        }
    });
}

fn assert_stops_as_recorded((_, task, condition, steps): &stops::Row) {
    let mut command = CommandBuilder::new(PROGRAM);
    command.args(["run", "--task", task, "--method", "omnireflect", "--break", condition]);
    let mut window = Terminal::start(command, 120, 36, None);
    window.wait_for(if steps.first() == Some(&1) { "STOPPED" } else { "your turn" });
    for step in steps {
        // At the first proposal it has already stopped if the condition holds there.
        if *step > 1 {
            window.press(" ");
        }
        window.wait_for(&format!("step {step}/50   STOPPED · {condition}"));
    }
    // After the last stop the run continues to its end. Space does nothing over an end card.
    let length = if task.starts_with("easy/") { 13 } else { 50 };
    if steps.last() == Some(&length) {
        window.wait_for("Episode 1 ended");
        window.press("\x1b");
        window.wait_for("end card");
    }
    window.press(" ");
    let ended = Instant::now();
    let has_ended = |w: &Terminal| w.text().contains("/50   WON") || w.text().contains("/50   LOST");
    while !has_ended(&window) {
        assert!(ended.elapsed() < TIMEOUT, "{condition}: the run does not end:\n{}", window.text());
        std::thread::sleep(Duration::from_millis(10));
    }
    // Close the end card, unless that was done above.
    if steps.last() != Some(&length) {
        window.wait_for("Episode 1 ended");
        window.press("q");
        window.wait_for("end card");
    }
    window.press("q");
    window.wait_for_exit();
    // The folder also holds what the program remembers between sessions.
    let mut folders = std::fs::read_dir(window.sessions.path()).unwrap().map(|entry| entry.unwrap().path());
    let journal = folders.find_map(|f| std::fs::read_to_string(f.join("branches/trunk.jsonl")).ok());
    let text = journal.unwrap();
    assert_eq!(text.matches("\"type\":\"breakpoint_hit\"").count(), steps.len(), "{task}: {condition}");
}

/// Regression: the tour said `nothing 3`, which never holds in its episode, and `D` in the branch tree had no other
/// branch.
#[test]
fn the_tour_can_be_followed_word_for_word() {
    let page = include_str!("../docs/TOUR.md").replace("\r\n", "\n");
    let empty_config = tempfile::tempdir().unwrap();
    let mut window = Terminal::start_screen(120, 36, empty_config.path());
    // The keys pressed, the text waited for, and the page's text about it.
    let steps: &[(&str, &str, &str)] = &[
        ("", "put a hot mug in coffeemachine", "`Enter` starts it"),
        ("\r", " 1 ▸ ", "the row with `▸`"),
        ("n", " 2 ▸ ", "`n` (or `Enter`) runs the proposed action"),
        ("n", " 3 ▸ ", ""),
        ("n", " 4 ▸ ", ""),
        ("n", " 5 ▸ ", ""),
        ("n", " 6 ▸ ", "Press it six times"),
        ("n", "▌ 7 ▸ ", "the seventh proposal is now waiting"),
        ("\x1b[D\x1b[D\x1b[D", "PAST step 4 of 7", "`PAST step 4 of 7`"),
        (
            "o",
            "This is the past (step 4 of 7). Continue from here on a new branch?",
            "This is the past (step 4 of 7). Continue from here on a new branch?",
        ),
        ("", "After step 4", "**After step 4**"),
        ("", "Redo step 4, before its action", "**Redo step 4, before its action**"),
        ("", "▸ another action", "The row for the key you pressed is already selected"),
        ("\r", "of 38", "that were admissible at that point"),
        ("go to drawer 1", "▸ go to drawer 1 ", "Type `go to drawer 1`"),
        (
            "\r",
            "new branch b1, trunk is kept; B lists both, B then u goes back",
            "`new branch b1, trunk is kept; B lists both, B then u goes back`",
        ),
        ("", "on b1", "`on b1`"),
        // While the agent is still thinking, Space would pause.
        ("", " 5 ▸ ", ""),
        ("b", "Breakpoints and watches", "`b` opens the breakpoints"),
        ("stalled 8", "breakpoint: stops there", "`stalled 8`"),
        ("\r", "breakpoint set: `stalled 8`", ""),
        (" ", "STOPPED · stalled 8", "`STOPPED · stalled 8`"),
        ("B", "Branches: 2", "`B` shows the branches"),
        ("\x1b[A", "trunk", "`↑` to select `trunk`, then `D`"),
        ("D", "Compare: ", "`D` compares the selected branch"),
        ("", "a person decided", "human interventions"),
        ("\r", "Outcome", "`Enter` shows a row in full"),
    ];
    for (keys, shown, quoted) in steps {
        assert!(page.contains(quoted), "docs/TOUR.md does not contain {quoted:?}");
        window.press(keys);
        window.wait_for(shown);
    }
}

/// Returns the background of a screen, and whether the terminal was asked for its own.
fn background_after(reply: Option<&str>, theme: &[&str], colours: &str) -> (vt100::Color, bool) {
    let mut command = CommandBuilder::new(PROGRAM);
    command.args(["run", "--task", "easy/put/1"]);
    command.args(theme);
    command.env("COLORTERM", colours);
    command.env_remove("COLORFGBG");
    let mut window = Terminal::start(command, 100, 30, None);
    window.wait_for("your turn");
    if let Some(reply) = reply {
        window.press(reply);
    }
    // A key after the reply: when it has acted, the reply has as well.
    window.press("n");
    window.wait_for("step 2/");
    let background = window.terminal.lock().unwrap().screen().cell(5, 5).unwrap().bgcolor();
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
    window.assert_terminal_restored();
    (background, window.asked_background.load(std::sync::atomic::Ordering::SeqCst))
}

#[test]
fn the_theme_follows_the_background_that_the_terminal_reports() {
    let (dark, light) = ("\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1b]11;rgb:ffff/ffff/ffff\x07");
    let ground = |name: &str| {
        let source = retrospect::ui::theme::Theme::shipped_source(name).unwrap();
        let theme = retrospect::ui::theme::Theme::parse(name, source, &|_| None).0;
        match theme.style(retrospect::ui::theme::Role::Background).bg {
            Some(ratatui::style::Color::Rgb(r, g, b)) => vt100::Color::Rgb(r, g, b),
            other => panic!("{other:?}"),
        }
    };
    for (reply, theme, colours, expected) in [
        (Some(dark), &[][..], "truecolor", ground("dark")),
        (Some(light), &[], "truecolor", ground("light")),
        (None, &[], "truecolor", vt100::Color::Default),
        (Some(light), &["--theme", "default"], "truecolor", vt100::Color::Default),
        (Some(light), &["--theme", "dark"], "truecolor", ground("dark")),
        // Without true colour nothing is asked; a late reply is no key nevertheless.
        (Some(light), &[], "", vt100::Color::Default),
    ] {
        let is_asked = theme.is_empty() && !colours.is_empty();
        assert_eq!(
            background_after(reply, theme, colours),
            (expected, is_asked),
            "{reply:?} {theme:?} {colours}"
        );
    }
}

/// Regression: a change during a frame was drawn, but never acted on, if the next thing to wake the screen was no tick. The
/// dialog for a person's first action stayed closed where the terminal reported its background at that moment.
#[test]
fn a_change_is_acted_on_whatever_wakes_the_screen_next() {
    let mut command = CommandBuilder::new(PROGRAM);
    command.args(["run", "--env", "household", "--actor", "human"]);
    command.env("COLORTERM", "truecolor");
    let mut window = Terminal::start(command, 100, 30, None);
    let start = Instant::now();
    while !window.text().contains("YOU PLAY") {
        assert!(start.elapsed() < TIMEOUT, "{}", window.text());
        window.press("\x1b]11;rgb:0000/0000/0000\x1b\\");
        std::thread::sleep(Duration::from_millis(1));
    }
    window.wait_for("You play: your action");
}

/// Replies of the terminal to questions that another program has asked, and events that nobody here asked for: none of them does
/// anything. Regression: those that are control strings were played as keys.
#[test]
fn replies_of_the_terminal_do_nothing() {
    let mut window = Terminal::open(100, 30);
    window.wait_for("PAUSED · your turn");
    window.wait_for("step 1/");
    let replies = [
        // The focus, in and out.
        "\x1b[I",
        "\x1b[O",
        // The cursor's position, and "the terminal is in order".
        "\x1b[24;80R",
        "\x1b[0n",
        // Device attributes, keyboard flags, a mode, and the size of the window.
        "\x1b[?62;22c",
        "\x1b[?1u",
        "\x1b[4;1$y",
        "\x1b[8;24;80t",
        // An empty paste, and the end of one whose beginning was lost.
        "\x1b[200~\x1b[201~",
        "\x1b[201~",
        // Control strings: name, number, setting, capability, graphics, palette, text colour, clipboard.
        "\x1bP>|XTerm(388)\x1b\\",
        "\x1bP!|7E565445\x1b\\",
        "\x1bP1$r0m\x1b\\",
        "\x1bP1+r544e=787465726d\x1b\\",
        "\x1b_Gi=31;OK\x1b\\",
        "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\",
        "\x1b]10;rgb:ffff/ffff/ffff\x07",
        "\x1b]52;c;bmNhcQ==\x1b\\",
    ];
    for (place, reply) in replies.iter().enumerate() {
        window.press(reply);
        // Each reply would open something or step; then this isn't the next step, or there is no footer of the main screen.
        window.press("n");
        window.wait_for(&format!("step {}/", place + 2));
        assert!(!window.text().contains("does nothing here"), "{reply:?}: {}", window.text());
    }
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
}
