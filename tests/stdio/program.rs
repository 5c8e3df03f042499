//! The built program with environments that are other programs, from the configuration and from the command line.

use super::processes::{wait_until, wait_until_gone};
use super::{command, pids};
use retrospect::engine::Event;
use retrospect::journal::read_branch;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A folder with a configuration that names the corridor `mine`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_config(folder.path(), "mine", "");
    folder
}

fn write_config(folder: &Path, name: &str, fault: &str) {
    let text = format!(
        "[environments.{name}]\nkind = \"stdio\"\ncommand = {}\ntimeouts = {{ step = 50 }}\n\
         env = {{ FAULT = \"{fault}\", MARKS = {} }}\n",
        json!(command()),
        json!(folder.to_str().unwrap()),
    );
    fs::write(folder.join("config.toml"), text).unwrap();
}

fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_retrospect"));
    program
        .args(arguments)
        .env("RETROSPECT_CONFIG_DIR", folder)
        .env("RETROSPECT_SESSIONS", folder.join("sessions"))
        .env_remove("RETROSPECT_DATA")
        .stdin(Stdio::null());
    program
}

pub(crate) fn output(folder: &Path, arguments: &[&str]) -> Output {
    program(folder, arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Plays these actions, and returns the replies.
pub(crate) fn play_actions(folder: &Path, arguments: &[&str], actions: &[&str]) -> Vec<Value> {
    let mut play = program(folder, arguments);
    let mut play = play.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    play.stdin.take().unwrap().write_all((actions.join("\n") + "\n").as_bytes()).unwrap();
    json_lines(&stdout(&play.wait_with_output().unwrap()))
}

const RUN: [&str; 10] =
    ["run", "--headless", "--actor", "rules", "--mentor", "none", "--method", "react", "--max-steps", "3"];

#[test]
fn a_configured_program_is_an_environment_with_its_own_name() {
    let folder = folder();
    let folder = folder.path();
    let rows = json_lines(&stdout(&output(folder, &["tasks", "--env", "mine", "--json"])));
    assert_eq!(rows.len(), 3);
    assert_eq!((&rows[1]["env"], &rows[1]["task"]), (&json!("mine"), &json!("east-3")));
    let mut play = program(folder, &["play", "--env", "mine", "--task", "east-2", "--json"]);
    let mut play = play.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    play.stdin.take().unwrap().write_all(b"east\nsing\n").unwrap();
    let replies = json_lines(&stdout(&play.wait_with_output().unwrap()));
    assert_eq!(replies.len(), 3);
    assert_eq!((&replies[0]["goal"], &replies[1]["progress"]), (&json!("reach cell 2"), &json!(0.5)));
    assert_eq!(replies[1]["admissible"], json!(["east", "west", "wait"]));
    assert_eq!((&replies[1]["world"]["cell"], &replies[2]["valid"]), (&json!(1), &json!(false)));
    // A run, and everything that reads its session.
    let arguments: Vec<&str> = RUN.into_iter().chain(["--env", "mine", "--task", "east-2"]).collect();
    let text = stdout(&output(folder, &arguments));
    assert!(text.contains("A sign says: 2."), "{text}");
    for (arguments, part) in [
        (vec!["verify", "--last"], "OK"),
        (vec!["report", "--last"], "mine"),
        (vec!["export", "--last", "--format", "markdown"], "A sign says: 2."),
        (vec!["export", "--last", "--format", "html"], "A sign says: 2."),
        (vec!["open", "--last"], "A sign says: 2."),
        (vec!["doctor"], "corridor 0.3: tasks, valid_actions, peek, snapshot, hint, seed"),
    ] {
        let text = stdout(&output(folder, &arguments));
        assert!(text.contains(part), "{arguments:?}: {text}");
    }
    // On another machine the session needs a program of that name.
    write_config(folder, "other", "");
    let output = output(folder, &["verify", "--last"]);
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(!output.status.success() && text.contains("mine"), "{text}");
    assert!(!pids(folder).is_empty());
}

#[test]
fn a_command_line_can_name_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let command = command();
    let with_command = |arguments: &[&'static str]| {
        let words = command.iter().map(String::as_str);
        let all: Vec<&str> = arguments.iter().copied().chain(["--"]).chain(words).collect();
        output(folder, &all)
    };
    let arguments: Vec<&str> = RUN.into_iter().chain(["--env", "stdio"]).collect();
    let text = stdout(&with_command(&arguments));
    assert!(text.contains("A sign says: 2."), "{text}");
    // `--env` is implied.
    assert!(stdout(&with_command(&["tasks"])).contains("reach cell 4"));
    let wrong = with_command(&["tasks", "--env", "household"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("the command after -- is for --env stdio"));
    // The session doesn't say which program it was.
    assert!(stdout(&with_command(&["verify", "--last"])).contains("OK"));
    // Regression: the hint was to name a data folder.
    let verified = output(folder, &["verify", "--last"]);
    let text = String::from_utf8_lossy(&verified.stderr);
    assert!(!verified.status.success() && !text.contains("--data"), "{text}");
    assert!(text.contains("retrospect verify 2") && text.contains(" -- COMMAND`"), "{text}");
    let output = output(folder, &["rerun", "--last#1", "--headless"]);
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(!output.status.success() && text.contains("give its command after `--`"), "{text}");
    let session = fs::read_dir(folder.join("sessions")).unwrap().next().unwrap().unwrap().path();
    let journal = fs::read_to_string(session.join("branches/trunk.jsonl")).unwrap();
    assert!(!journal.contains("corridor_program"), "{journal}");
}

/// Regression: such a program was said to have crashed, with the exit status of a shell.
#[test]
fn a_program_that_is_not_found_or_not_executable_is_no_crash() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = folder.join("bridge.py");
    fs::write(&file, "print()\n").unwrap();
    let file = file.to_str().unwrap();
    for (program, part) in [
        ("no-such-program", "no-such-program is in no folder of PATH"),
        ("/no/such/program", "there is no file /no/such/program"),
        (file, "bridge.py is not executable: allow it with `chmod +x`"),
    ] {
        let run: Vec<&str> = RUN.into_iter().chain(["--env", "stdio", "--", program]).collect();
        for arguments in [&run[..], &["doctor", "--env", "stdio", "--", program], &["tasks", "--", program]] {
            let output = output(folder, arguments);
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && text.contains(part), "{arguments:?}: {text}");
            assert!(!text.contains("crashed") && text.contains("can't be started"), "{arguments:?}: {text}");
        }
    }
}

/// Interfaces such as ReAct's cut what ALFWorld's texts have; nothing is known about the texts of a program.
#[test]
fn the_texts_of_a_program_are_shown_whole() {
    let folder = folder();
    write_config(folder.path(), "mine", "paragraphs");
    for interface in ["react", "agentboard", "raw"] {
        let arguments = RUN.into_iter().chain(["--env", "mine", "--interface", interface]);
        let text = stdout(&output(folder.path(), &arguments.collect::<Vec<_>>()));
        for part in ["The corridor", "It is dark.", "A sign says: 2."] {
            assert!(text.contains(part), "{interface}: {text}");
        }
    }
}

#[test]
fn what_a_program_has_printed_is_shown_on_demand() {
    let folder = folder();
    write_config(folder.path(), "mine", "noise@hello");
    let mut plain =
        program(folder.path(), &["run", "--plain", "--env", "mine", "--actor", "human", "--mentor", "none"]);
    let mut plain = plain.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    plain.stdin.take().unwrap().write_all(b"step\noutput\nquit\n").unwrap();
    let text = stdout(&plain.wait_with_output().unwrap());
    let (_, printed) = text.split_once("the program has printed:").unwrap_or_else(|| panic!("{text}"));
    assert!(printed.contains("loading [####] 10%") && printed.contains("from an event"), "{text}");
}

#[test]
fn doctor_says_whether_an_environment_is_deterministic_and_what_works() {
    let folder = folder();
    let folder = folder.path();
    let text = stdout(&output(folder, &["doctor", "--env", "mine", "--task", "east-4", "--seed", "3"]));
    for part in [
        "determinism the same answers three times: ",
        "of task east-4, seed 3",
        "ms a step",
        "tasks       3 tasks",
        "actions     3 actions at the start",
        "snapshots   a restored state answers as before",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let native = json_lines(&stdout(&output(folder, &["doctor", "--env", "household", "--json"])));
    let report = &native[0]["environment"];
    assert!(
        report["deterministic"] == true && report["steps"] == 10 && report["snapshots"] == "works",
        "{report}"
    );
    // Another process answers differently, and restored snapshots are wrong.
    for (fault, row, difference) in [("drifts", "determinism", true), ("lies_unseen", "snapshots", false)] {
        write_config(folder, "mine", fault);
        fs::remove_file(folder.join("pids")).unwrap();
        let output = output(folder, &["doctor", "--env", "mine", "--task", "east-4", "--json"]);
        assert_eq!(output.status.code(), Some(1));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let broken: Vec<&Value> =
            report["checks"].as_array().unwrap().iter().filter(|check| check["state"] == "broken").collect();
        assert!(broken.len() == 1 && broken[0]["name"] == row, "{report}");
        let found = &report["environment"]["difference"];
        assert_eq!(found["played_in"] == "a new process", difference, "{report}");
    }
    // What is announced and fails, and what is there although nothing announces it. The state of hint and of peek, and words.
    for (fault, states, words) in [
        ("none", ["ok", "ok"], "works"),
        (
            "env_error@hint",
            ["broken", "ok"],
            "announced, but it failed: the environment crashed: the floor is gone",
        ),
        ("exit@hint", ["broken", "ok"], "exit status: 3"),
        ("env_error@peek", ["ok", "broken"], "the floor is gone"),
        ("exit@peek", ["ok", "broken"], "exit status: 3"),
        ("info_unseen", ["ok", "missing"], "none"),
    ] {
        write_config(folder, "mine", fault);
        // Without the folder of marks, the fault happens every time.
        let config = fs::read_to_string(folder.join("config.toml")).unwrap();
        let (command, _) = config.split_once(", MARKS").unwrap();
        fs::write(folder.join("config.toml"), format!("{command} }}\n")).unwrap();
        let output = output(folder, &["doctor", "--env", "mine", "--task", "east-4", "--json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let row = |name: &str| {
            let rows = report["checks"].as_array().unwrap();
            rows.iter().find(|check| check["name"] == name).unwrap().clone()
        };
        let rows = ["hint", "peek"].map(row);
        assert_eq!([&rows[0]["state"], &rows[1]["state"]], states, "{fault}: {rows:?}");
        assert!(rows.iter().any(|row| row["what"].as_str().unwrap().contains(words)), "{fault}: {rows:?}");
        assert_eq!(output.status.code(), Some(i32::from(states.contains(&"broken"))), "{fault}");
    }
    let missing = output(folder, &["doctor", "--env", "nothing"]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn mistakes_in_the_configuration_name_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (
            "[environments.mine]\nkind = \"stdio\"\n",
            "config.toml:1: environments.mine: command: expected a list",
        ),
        (
            "\n[environments.household]\nkind = \"stdio\"\ncommand = [\"x\"]\n",
            "config.toml:2: environments.household: there is a built-in environment",
        ),
        ("[environments]\nmine = 3\n", "config.toml:2: environments.mine: is not a table"),
    ];
    for (text, part) in cases {
        fs::write(folder.path().join("config.toml"), text).unwrap();
        let output = output(folder.path(), &["config", "show"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(part), "{errors}");
    }
}

/// Whatever field of a reply has control sequences, and whichever command shows it, none reaches the terminal.
#[test]
fn control_sequences_in_any_field_reach_no_output() {
    let folder = folder();
    write_config(folder.path(), "mine", "marks_all_texts");
    let run: Vec<&str> = RUN.into_iter().chain(["--env", "mine", "--only", "2"]).collect();
    let mut is_marked = false;
    for arguments in [
        &run[..],
        &["tasks", "--env", "mine"],
        &["tasks", "--env", "mine", "--json"],
        &["doctor", "--env", "mine"],
        &["doctor", "--env", "mine", "--json"],
        &["play", "--env", "mine"],
        &["play", "--env", "mine", "--json"],
        &["play", "--env", "mine", "--task", "east-9"],
        &["export", "--last", "--format", "text"],
        &["export", "--last", "--format", "markdown"],
        &["export", "--last", "--format", "html", "--out", "-"],
        &["export", "--last", "--format", "json", "--out", "-"],
        &["verify", "--last"],
        &["report", "--last"],
        &["sessions"],
    ] {
        let mut child = program(folder.path(), arguments);
        let mut child =
            child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The program may have ended without reading it.
        let _ = child.stdin.take().unwrap().write_all(b"sing\neast\nwest\n");
        let output = child.wait_with_output().unwrap();
        // There is no cell 9.
        assert_eq!(output.status.success(), !arguments.contains(&"east-9"), "{arguments:?}: {output:?}");
        assert!(!output.stdout.is_empty() || !output.status.success(), "{arguments:?} prints nothing");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        is_marked |= text.contains("title");
        let is_control = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(is_control), "{arguments:?}: {:?}", text.split(is_control).next_back());
    }
    assert!(is_marked);
}

/// Regression: lists were asked for on and on, because what a program turns out to be was not asked again.
#[test]
fn a_list_that_changes_the_environment_is_asked_for_once() {
    let folder = folder();
    write_config(folder.path(), "mine", "impure");
    let play = ["play", "--env", "mine", "--task", "east-4", "--json"];
    let lines = play_actions(folder.path(), &play, &["east", "east"]);
    let listed: Vec<usize> = lines.iter().map(|line| line["admissible"].as_array().unwrap().len()).collect();
    assert_eq!(listed, [3, 0, 0], "{lines:?}");
    let doctor = stdout(&output(folder.path(), &["doctor", "--env", "mine", "--task", "east-4"]));
    assert!(doctor.contains("3 actions at the start; listing them changes what comes later"), "{doctor}");
}

/// Regression: a program that crashed counted as a task that the agent had failed.
#[test]
fn a_crash_of_the_environment_is_in_no_rate() {
    let folder = folder();
    let folder = folder.path();
    let run = |fault: &str, timeout: &str, run: &[&str]| {
        write_config(folder, "mine", fault);
        // Without the folder of marks, the fault happens every time.
        let config = fs::read_to_string(folder.join("config.toml")).unwrap();
        let (command, _) = config.split_once(", MARKS").unwrap();
        fs::write(folder.join("config.toml"), format!("{command} }}\n").replace("step = 50", timeout))
            .unwrap();
        let skip = ["--env", "mine", "--only", "1", "--on-error", "skip-task"];
        let output = output(folder, &run.iter().copied().chain(skip).collect::<Vec<_>>());
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let text = run("exit@step", "step = 50", &RUN);
    assert!(text.contains("1 failure of the environment (excluded from rates)"), "{text}");
    assert!(!text.contains("0 of 1"), "{text}");
    let report = stdout(&output(folder, &["report", "--last", "--json"]));
    let report: Value = serde_json::from_str(&report).unwrap();
    assert!(report.to_string().contains("\"env_failures\":1"), "{report}");
    let shown = stdout(&output(folder, &["report", "--last"]));
    assert!(
        shown.contains("Episodes at which the environment failed, excluded from rates: 1 (east-2)."),
        "{shown}"
    );
    // Nothing can be learnt from it, and the task is skipped.
    let reflexion =
        ["run", "--headless", "--actor", "rules", "--mentor", "symbolic", "--method", "reflexion"];
    let trials = reflexion.into_iter().chain(["--trials", "3", "--max-steps", "3"]).collect::<Vec<_>>();
    let text = run("exit@step", "step = 50", &trials);
    assert!(text.contains("1 failure of the environment (excluded from rates)"), "{text}");
    assert!(!text.contains("Plan") && !text.contains("Episode 2"), "{text}");
    run("hang@step", "step = 0.4", &RUN);
    let session = stdout(&output(folder, &["export", "--last", "--format", "markdown"]));
    assert!(session.contains("environment timed out"), "{session}");
}

/// Regression: an episode that counts as neither won nor lost was one of `0 won of 2`.
#[test]
fn sessions_count_the_episodes_at_which_the_environment_failed_apart() {
    let folder = folder();
    let folder = folder.path();
    // It fails once, in the first of two episodes.
    write_config(folder, "mine", "exit@step");
    let two = ["--env", "mine", "--only", "2", "--on-error", "skip-task"];
    let run = output(folder, &RUN.iter().copied().chain(two).collect::<Vec<_>>());
    assert!(String::from_utf8_lossy(&run.stdout).contains("1 failure of the environment"), "{run:?}");
    let listed = stdout(&output(folder, &["sessions"]));
    assert!(listed.contains("0 of 1 won, 1 not counted, progress"), "{listed}");
    let row: Value = serde_json::from_str(&stdout(&output(folder, &["sessions", "--json"]))).unwrap();
    assert_eq!((&row["episodes"], &row["won"], &row["not_counted"]), (&2.into(), &0.into(), &1.into()));
}

/// Regression: a prompt that was only to be shown went to the terminal with the program's control sequences.
#[test]
fn a_dry_run_prints_no_control_sequences() {
    let folder = folder();
    write_config(folder.path(), "mine", "control_sequences");
    let arguments = ["run", "--dry-run", "--env", "mine", "--mentor", "none", "--method", "react"];
    let text = stdout(&output(folder.path(), &arguments));
    assert!(text.contains("You are in cell") && !text.contains('\u{1b}'), "{text:?}");
}

/// The arguments of a run of three steps whose environment hangs in the first one, if it is to.
fn run_to_hang(folder: &Path, how: &str) -> Vec<&'static str> {
    write_config(folder, "mine", "hang@step");
    let config = fs::read_to_string(folder.join("config.toml")).unwrap();
    // Nothing but the end of the program ends the wait.
    fs::write(folder.join("config.toml"), config.replace("step = 50", "step = 3600")).unwrap();
    let how = if how == "--plain" { "--plain" } else { "--headless" };
    RUN.map(|word| if word == "--headless" { how } else { word })
        .into_iter()
        .chain(["--env", "mine", "--task", "east-4"])
        .collect()
}

/// Waits until the fault has happened.
fn wait_until_hanging(folder: &Path) {
    wait_until("it doesn't hang", || folder.join("hang").exists());
}

fn only_journal(folder: &Path) -> PathBuf {
    let mut sessions = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    sessions.find_map(|path| Some(path.join("branches/trunk.jsonl")).filter(|file| file.is_file())).unwrap()
}

/// Checks that the environment's process has ended, that the session was closed while its only step waited for an answer, and
/// that it goes on from there.
fn check_closed_in_step(folder: &Path, sessions: &Path, context: &str) {
    pids(folder).into_iter().for_each(wait_until_gone);
    let journal = only_journal(sessions);
    let events = read_branch(&journal).unwrap().events;
    let has = |is_it: fn(&Event) -> bool| events.iter().any(|envelope| is_it(&envelope.event));
    assert!(matches!(events.last().unwrap().event, Event::Closed), "{context}: {:?}", events.last());
    assert!(has(|event| matches!(event, Event::ActionTaken { .. })), "{context}");
    assert!(!has(|event| matches!(event, Event::Observed { .. } | Event::CallFailed { .. })), "{context}");
    let session = journal.parent().and_then(Path::parent).unwrap().to_str().unwrap();
    // It hangs only once.
    let resumed = output(folder, &["resume", session, "--headless"]);
    assert!(stdout(&resumed).contains("3 steps"), "{context}");
    let events = read_branch(&journal).unwrap().events;
    let taken = events.iter().filter(|e| matches!(e.event, Event::ActionTaken { .. })).count();
    assert_eq!(taken, 3, "{context}: the action is not taken twice");
}

fn wait_for_exit(program: &mut Child) -> Option<i32> {
    wait_until_gone(program.id().cast_signed());
    program.wait().unwrap().code()
}

fn send(program: &Child, signal: Signal) {
    kill_process(Pid::from_raw(program.id().cast_signed()).unwrap(), signal).unwrap();
}

/// Regression: in plain mode, Ctrl-C only paused, however often it was pressed, and a command that the environment didn't
/// answer made it wait as well.
#[test]
fn a_signal_ends_the_program_while_its_environment_hangs() {
    for (how, signals) in [
        ("--headless", &[Signal::INT][..]),
        ("--headless", &[Signal::TERM]),
        ("--plain", &[Signal::TERM]),
        ("--plain", &[Signal::INT, Signal::INT]),
    ] {
        let context = format!("{how} {signals:?}");
        let folder = folder();
        let folder = folder.path();
        let (reader, mut input) = std::io::pipe().unwrap();
        let mut child = program(folder, &run_to_hang(folder, how))
            .stdin(reader)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        input.write_all(b"run\n").unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        wait_until_hanging(folder);
        for (index, signal) in signals.iter().enumerate() {
            if index > 0 {
                assert!(lines.any(|line| line.contains("press Ctrl-C again to quit")), "{context}");
            }
            send(&child, *signal);
        }
        assert_eq!(wait_for_exit(&mut child), Some(130), "{context}");
        drop(input);
        check_closed_in_step(folder, &folder.join("sessions"), &context);
    }
}

#[cfg(feature = "tui")]
#[test]
fn the_screen_closes_while_its_environment_hangs() {
    use super::terminal::Terminal;
    for quit in ["q", "\u{3}\u{3}", "SIGTERM"] {
        let folder = folder();
        let folder = folder.path();
        let mut command = portable_pty::CommandBuilder::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(run_to_hang(folder, "").into_iter().filter(|word| *word != "--headless"));
        command.env("RETROSPECT_CONFIG_DIR", folder);
        let mut window = Terminal::start(command, 120, 36, None);
        window.wait_for("your turn");
        window.press("n");
        wait_until_hanging(folder);
        window.wait_for("waiting for the environment");
        let expected = match quit {
            "SIGTERM" => {
                window.signal(Signal::TERM);
                130
            }
            keys => {
                window.press(keys);
                0
            }
        };
        assert_eq!(window.wait_for_exit(), expected, "{quit:?}");
        window.assert_terminal_restored();
        check_closed_in_step(folder, window.sessions.path(), quit);
    }
}

/// Regression: a journaled difference outlived its cause, and each later `resume --headless` stopped at it.
#[test]
fn a_difference_that_is_gone_does_not_stop_a_resumed_run() {
    let folder = folder();
    let folder = folder.path();
    // Each process but the first one answers in other words.
    write_config(folder, "mine", "drifts");
    let mut run = RUN.to_vec();
    run[1] = "--plain";
    let mut plain = program(folder, &[&run[..], &["--env", "mine", "--task", "east-4"]].concat());
    let mut plain = plain.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    plain.stdin.take().unwrap().write_all(b"o east\nquit\n").unwrap();
    stdout(&plain.wait_with_output().unwrap());
    let differing = output(folder, &["resume", "--last", "--headless"]);
    let text = String::from_utf8_lossy(&differing.stderr);
    assert!(!differing.status.success() && text.contains("the rebuilt environment replies"), "{text}");
    write_config(folder, "mine", "none");
    assert!(stdout(&output(folder, &["resume", "--last", "--headless"])).contains("3 steps"));
    assert!(stdout(&output(folder, &["verify", "--last"])).contains("OK"));
}
