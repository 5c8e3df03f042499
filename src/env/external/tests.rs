//! Child processes that answer, hang, die, flood, ignore signals and leave others behind.

use super::{ChildCommand, ChildProcess, IdleChildren};
use crate::env::{EnvError, StopHandle};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Longer than any answer takes.
const LONG: Duration = Duration::from_secs(60);
/// Shorter than a child that hangs.
const SHORT: Duration = Duration::from_millis(300);
/// Answers every line with the line.
const ECHO: &str = r#"while read -r line; do echo "= $line"; done"#;
/// Answers with its process id, and with that of a child of its own.
const PARENT: &str = r#"sleep 1000 & while read -r _; do echo "= $$ $!"; done"#;

fn command(script: &str) -> ChildCommand {
    let words = ["/bin/sh", "-c", script].map(Into::into).to_vec();
    ChildCommand { words, variables: Vec::new(), folder: None, reply_prefix: "= ", has_events: false }
}

fn start(script: &str) -> ChildProcess {
    ChildProcess::start(&command(script)).unwrap()
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns whether a process has ended. One that nobody has reaped has ended as well.
fn is_gone(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    test_kill_process(Pid::from_raw(pid).unwrap()).is_err() || stat.contains(") Z ")
}

fn wait_until_gone(pids: &[i32]) {
    for pid in pids {
        wait_until(&format!("process {pid} is still running"), || is_gone(*pid));
    }
}

fn numbers(reply: &str) -> Vec<i32> {
    reply.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Returns the ids of the processes of a child whose script is like [`PARENT`].
fn pids(child: &mut ChildProcess) -> Vec<i32> {
    let pids = numbers(&child.exchange("who", LONG).unwrap());
    assert!(pids.len() == 2 && pids.iter().all(|pid| !is_gone(*pid)), "{pids:?}");
    pids
}

fn died(error: EnvError) -> String {
    match error {
        EnvError::Died { what } => what,
        other => panic!("{other:?}"),
    }
}

fn protocol(error: EnvError) -> String {
    match error {
        EnvError::Protocol { what } => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_child_answers_and_ends_when_its_input_is_closed() {
    let out = tempfile::tempdir().unwrap();
    let mut echo = command(&format!("{ECHO}; pwd >\"$OUT/end\""));
    echo.variables = vec![("OUT".into(), out.path().into())];
    let mut child = ChildProcess::start(&echo).unwrap();
    let long = "x".repeat(1 << 20);
    for request in ["one", "", "two  three", &long] {
        assert_eq!(child.exchange(request, LONG).unwrap(), format!("= {request}"));
    }
    // Not one line, so it isn't sent, and the child goes on.
    assert!(matches!(child.exchange("a\nb", LONG), Err(EnvError::Refused { .. })));
    assert_eq!(child.exchange("c", LONG).unwrap(), "= c");
    drop(child);
    assert!(out.path().join("end").is_file());
}

#[test]
fn a_child_has_a_private_folder_and_only_the_named_variables() {
    let script =
        r#"read -r _; echo "= $(pwd)"; read -r _; echo "= $(env | cut -d= -f1 | tr '\n' ' ')"; read -r _"#;
    let mut folder_command = command(script);
    folder_command.variables = vec![("MINE".into(), "1".into())];
    let mut child = ChildProcess::start(&folder_command).unwrap();
    let folder = child.exchange("", LONG).unwrap();
    let folder = Path::new(folder.strip_prefix("= ").unwrap());
    assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    fs::create_dir(folder.join("left")).unwrap();
    let variables = child.exchange("", LONG).unwrap();
    // Some shells set the last four.
    let allowed = ["=", "PATH", "HOME", "LANG", "MINE", "PWD", "OLDPWD", "SHLVL", "_"];
    assert!(variables.split_whitespace().all(|name| allowed.contains(&name)), "{variables}");
    assert!(variables.contains(" PATH ") && variables.contains(" MINE "), "{variables}");
    let is_other = |name: std::ffi::OsString| !allowed.iter().any(|allowed| name == *allowed);
    assert!(std::env::vars_os().any(|(name, _)| is_other(name)), "this program has no more variables itself");
    drop(child);
    assert!(!folder.exists());
}

#[test]
fn a_child_that_hangs_is_killed_with_its_group() {
    let mut child =
        start(r#"sleep 1000 & read -r _; echo "= $$ $!"; read -r _; while :; do sleep 1000; done"#);
    let pids = pids(&mut child);
    assert_eq!(child.exchange("hang", SHORT), Err(EnvError::timed_out(SHORT)));
    wait_until_gone(&pids);
    assert!(died(child.exchange("again", LONG).unwrap_err()).contains("was ended after an error"));
}

/// Regression: only a child that had ended was reported with its last output.
#[test]
fn a_child_that_hangs_is_reported_with_its_last_output() {
    let complain = r"printf '\033[31mno licence\033[0m \007\n\nwaiting for the server\n' >&2";
    let mut child = start(&format!("read -r _; {complain}; echo '= ready'; read -r _; sleep 1000"));
    assert_eq!(child.exchange("go", LONG).unwrap(), "= ready");
    let error = child.exchange("hang", SHORT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the environment did not answer within 300 ms; last output: no licence | waiting for the server"
    );
    // Half of a reply counts as well. On a busy machine it may come too late.
    let limits = [SHORT, 10 * SHORT, 100 * SHORT];
    let error = limits.into_iter().find_map(|limit| {
        let mut child = start("read -r _; echo '= ready'; read -r _; printf '= ha'; sleep 1000");
        child.exchange("go", LONG).unwrap();
        let error = child.exchange("hang", limit).unwrap_err().to_string();
        error.ends_with("last output: = ha").then_some(error)
    });
    assert!(error.is_some(), "the half reply is missing");
}

/// Regression: the last 20 lines of a simulator's output filled the Story, most of them frames of a stack.
#[test]
fn an_excerpt_is_the_last_two_lines_that_are_no_frames() {
    let frames = r"\tat scala.run(Run.scala:3)\n    at main.js:4\n";
    let complain = format!(r"printf 'starting\nready\njava.lang.Error: broken\n{frames}' >&2");
    let mut child = start(&format!("read -r _; {complain}; exit 3"));
    let error = died(child.exchange("go", LONG).unwrap_err());
    assert!(error.ends_with("(exit status: 3); last output: ready | java.lang.Error: broken"), "{error}");
}

/// A pipe holds less than the request, so writing it blocks.
#[test]
fn a_child_that_reads_nothing_times_out_on_a_long_request() {
    let mut child = start("sleep 1000");
    let start = Instant::now();
    let request = "x".repeat(4 << 20);
    assert_eq!(child.exchange(&request, SHORT), Err(EnvError::timed_out(SHORT)));
    assert!(start.elapsed() < LONG);
    let too_long = "x".repeat((16 << 20) + 1);
    assert!(matches!(child.exchange(&too_long, SHORT), Err(EnvError::Refused { .. })));
}

#[test]
fn a_child_that_died_is_reported_with_its_status_and_last_output() {
    let cases = [
        ("read -r _; echo first >&2; echo 'it broke' >&2; exit 3", ["(exit status: 3)", "first | it broke"]),
        ("read -r _; echo on stdout; kill -9 $$", ["(signal: 9", "on stdout"]),
        ("read -r _; exec >&-; sleep 1000", ["closed its standard output", ""]),
        // What it leaves behind keeps its output open.
        ("read -r _; sleep 1000 & exit 4", ["(exit status: 4)", ""]),
        ("exit 5", ["(exit status: 5)", ""]),
    ];
    for (script, parts) in cases {
        let error = died(start(script).exchange("go", LONG).unwrap_err());
        assert!(parts.iter().all(|part| error.contains(part)), "{script}: {error}");
    }
    let missing = ChildCommand { words: vec!["/no/such/program".into()], ..command("") };
    match ChildProcess::start(&missing).err().unwrap() {
        EnvError::NotStarted { what } => assert!(what.contains("/no/such/program"), "{what}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_reply_before_the_end_is_still_a_reply() {
    let mut child = start("read -r _; echo '= last'; exit 3");
    assert_eq!(child.exchange("go", LONG).unwrap(), "= last");
    assert!(died(child.exchange("go", LONG).unwrap_err()).contains("exit status: 3"));
}

/// Much more than the pipes hold, before the first request and between request and reply.
#[test]
fn a_child_that_floods_its_output_still_answers() {
    let flood = "yes 'not a reply' | head -n 250000; yes error | head -n 500000 >&2";
    let mut child =
        start(&format!("{flood}; read -r _; {flood}; echo '= done'; {flood}; echo end >&2; exit 1"));
    assert_eq!(child.exchange("go", LONG).unwrap(), "= done");
    let error = died(child.exchange("go", LONG).unwrap_err());
    assert!(error.ends_with("last output: error | end"), "{error}");
}

#[test]
fn control_sequences_are_removed_from_error_texts() {
    let script = r"printf '\033[31mred\033[0m \007\033]0;title\007 \302\233 \377 end\n' >&2; exit 1";
    let error = died(start(script).exchange("go", LONG).unwrap_err());
    assert!(error.contains("red") && error.contains("end"), "{error}");
    assert!(!error.contains(char::is_control) && !error.contains("title"), "{error:?}");
}

#[test]
fn an_unusable_reply_ends_the_child() {
    let cases = [
        (r"read -r _; printf '= \377\n'; sleep 1000", "not UTF-8"),
        (
            r"read -r _; printf '= '; head -c 17000000 /dev/zero | tr '\0' x; echo; sleep 1000",
            "longer than 16 MiB",
        ),
    ];
    for (script, part) in cases {
        let error = protocol(start(script).exchange("go", LONG).unwrap_err());
        assert!(error.contains(part), "{script}: {error}");
    }
    // A line that can't be a reply may have any length.
    let mut child = start(r"head -c 17000000 /dev/zero; echo; read -r _; echo '= done'; read -r _");
    assert_eq!(child.exchange("go", LONG).unwrap(), "= done");
    // One that nobody has asked for, which arrives with the other one or later.
    for script in [r"printf '= 1\n= 2\n'", "echo '= 1'; sleep 0.1; echo '= 2'"] {
        let mut child = start(&format!("read -r _; {script}; sleep 1000"));
        assert_eq!(child.exchange("go", LONG).unwrap(), "= 1");
        wait_until("the second reply has not arrived", || !child.is_healthy());
        assert!(protocol(child.exchange("go", LONG).unwrap_err()).contains("without a request"));
    }
    // One that the environment can't understand.
    let mut child = start(PARENT);
    let pids = pids(&mut child);
    assert_eq!(protocol(child.reject_reply("not a number".to_owned())), "not a number");
    wait_until_gone(&pids);
}

#[test]
fn the_group_is_asked_to_end_and_then_killed() {
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("end");
    // Both are waited for at the same time. The first one doesn't notice that its input is closed, but ends when it is asked to.
    let polite = format!(
        r#"trap 'echo asked >{}; exit' TERM; sleep 1000 & read -r _; echo "= $$ $!"; while :; do sleep 0.01; done"#,
        file.display()
    );
    let stubborn = r#"trap "" TERM; sleep 1000 & read -r _; echo "= $$ $!"; while :; do sleep 0.01; done"#;
    let end = |script: &str| {
        let mut child = start(script);
        let pids = pids(&mut child);
        drop(child);
        wait_until_gone(&pids);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| end(stubborn));
        end(&polite);
    });
    assert_eq!(fs::read_to_string(&file).unwrap(), "asked\n");
}

#[test]
fn processes_that_a_child_has_started_end_with_it() {
    let mut child = start(PARENT);
    let pids = pids(&mut child);
    drop(child);
    wait_until_gone(&pids);
}

#[test]
fn healthy_children_are_used_again() {
    static IDLE: IdleChildren = IdleChildren::new(1);
    let take = || ChildProcess::start_or_reuse(&command(PARENT), &IDLE).unwrap();
    let (mut first, mut second) = (take(), take());
    let (kept, ended) = (pids(&mut first), pids(&mut second));
    assert_ne!(kept, ended);
    drop(first);
    // One is enough.
    drop(second);
    wait_until_gone(&ended);
    let mut again = take();
    assert_eq!(pids(&mut again), kept);
    // One that was started with another command isn't used.
    drop(again);
    let mut other_command = command(PARENT);
    other_command.variables.push(("MINE".into(), "1".into()));
    let mut other = ChildProcess::start_or_reuse(&other_command, &IDLE).unwrap();
    assert_ne!(pids(&mut other), kept);
    // And it takes the place of the other one, which is ended.
    drop(other);
    wait_until_gone(&kept);
    let mut again = take();
    let kept = pids(&mut again);
    // One that has failed isn't kept.
    again.reject_reply("nonsense".to_owned());
    drop(again);
    let mut third = take();
    let dies_idle = pids(&mut third);
    assert_ne!(dies_idle, kept);
    // One that dies while it waits isn't used.
    drop(third);
    kill_process(Pid::from_raw(dies_idle[0]).unwrap(), Signal::KILL).unwrap();
    wait_until_gone(&dies_idle[..1]);
    let mut fourth = take();
    assert_ne!(pids(&mut fourth), dies_idle);
    wait_until_gone(&dies_idle);
}

#[test]
fn children_that_wait_too_long_are_ended() {
    static IDLE: IdleChildren = IdleChildren::with_max_idle(2, Duration::from_millis(50));
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("end");
    let script = format!(
        r#"sleep 1000 & while read -r line; do echo "= $$ $!"; echo "$line" >{}; done"#,
        file.display()
    );
    for number in 1..3 {
        let mut child = ChildProcess::start_or_reuse(&command(&script), &IDLE).unwrap();
        child.set_farewell((|number| format!("bye {number}"), LONG));
        assert_eq!(child.next_request_number(), 1);
        let kept = pids(&mut child);
        drop(child);
        wait_until_gone(&kept);
        assert_eq!(fs::read_to_string(&file).unwrap(), "bye 2\n", "the last request of child {number}");
    }
    // All of them at once.
    let mut child = ChildProcess::start_or_reuse(&command(ECHO), &IDLE).unwrap();
    child.keep_notes(7_u8);
    assert_eq!((child.take_notes(), child.take_notes::<u8>()), (Some(7_u8), None));
    drop(child);
    IDLE.end_all();
    assert!(IDLE.take(&command(ECHO)).is_none());
}

#[test]
fn events_are_no_replies() {
    let script = r#"read -r _; echo '= {"event":1}'; echo '{"event":"log","text":"a note"}'; echo '{"id":1,"event":[]}'; exit 1"#;
    let with_events = ChildCommand { reply_prefix: "{", has_events: true, ..command(script) };
    let mut child = ChildProcess::start(&with_events).unwrap();
    assert_eq!(child.exchange("go", LONG).unwrap(), r#"{"id":1,"event":[]}"#);
    let error = died(child.exchange("go", LONG).unwrap_err());
    assert!(error.ends_with(r#"= {"event":1} | a note"#), "{error}");
}

/// Not a test: the program that [`no_process_survives_this_program`] kills.
#[test]
#[ignore = "runs until it is killed"]
fn program_with_a_child() {
    // Neither reads its input, and neither listens to signals.
    let mut stubborn = start(
        r#"read -r _; trap "" HUP INT TERM; sleep 1000 & echo "= $$ $! $(pwd)"; n=0; while :; do n=$((n+1)); : >"f$n"; done <&-"#,
    );
    println!("\nCHILD {}", stubborn.exchange("who", LONG).unwrap());
    std::thread::park();
}

#[test]
fn no_process_survives_this_program() {
    let test = format!("{}::program_with_a_child", module_path!().split_once("::").unwrap().1);
    let mut program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &test, "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let reply = lines.map_while(Result::ok).find(|line| line.starts_with("CHILD ")).unwrap();
    let (pids, folder) = (numbers(&reply), PathBuf::from(reply.split_whitespace().last().unwrap()));
    assert!(pids.len() == 2 && pids.iter().all(|pid| !is_gone(*pid)), "{reply}");
    // A child that writes files all the time must not delay its end.
    // As `kill -9` does.
    program.kill().unwrap();
    program.wait().unwrap();
    wait_until_gone(&pids);
    // What such a child writes last may stay.
    let _ = fs::remove_dir_all(folder);
}

/// Not a test: a process that leaves the group of the child that has started it, and ends once nobody reads its output.
/// [`readers_end_though_a_process_outside_the_group_keeps_the_pipes_open`] runs it.
#[test]
#[ignore = "waits until nobody reads its output"]
fn program_outside_the_group() {
    rustix::process::setsid().unwrap();
    println!("\n= {}", std::process::id());
    for output in [std::io::stdout().as_fd(), std::io::stderr().as_fd()] {
        // No event is asked for, so this returns when the other end is closed. Nothing is written, so reading doesn't return.
        let limit = Timespec::try_from(2 * LONG).unwrap();
        poll(&mut [PollFd::from_borrowed_fd(output, PollFlags::empty())], Some(&limit)).unwrap();
    }
}

/// Regression: both reading threads and their pipes stayed for as long as such a process ran.
#[test]
fn readers_end_though_a_process_outside_the_group_keeps_the_pipes_open() {
    let test = format!("{}::program_outside_the_group", module_path!().split_once("::").unwrap().1);
    let program = std::env::current_exe().unwrap();
    let script = format!(
        "read -r _; '{}' --exact {test} --ignored --nocapture & read -r _; exit 3",
        program.display()
    );
    for is_ended_politely in [true, false] {
        let mut child = start(&script);
        let outside = numbers(&child.exchange("go", LONG).unwrap());
        assert!(outside.len() == 1 && !is_gone(outside[0]), "{outside:?}");
        if is_ended_politely {
            drop(child);
        } else {
            assert!(died(child.exchange("end", LONG).unwrap_err()).contains("exit status: 3"));
        }
        wait_until_gone(&outside);
    }
}

/// A thread that is abandoned while it waits for a reply.
#[test]
fn the_children_of_an_abandoned_thread_are_killed_and_it_starts_no_others() {
    static IDLE: IdleChildren = IdleChildren::new(3);
    // The second request hangs.
    let hanging = r#"sleep 1000 & read -r _; echo "= $$ $!"; read -r _; while :; do sleep 1000; done"#;
    let handle = StopHandle::default();
    let (send_pids, received_pids) = mpsc::channel();
    let (own_handle, start_time) = (handle.clone(), Instant::now());
    let thread = std::thread::spawn(move || {
        own_handle.install();
        // One that is kept no longer belongs to the thread.
        let mut kept = ChildProcess::start_or_reuse(&command(PARENT), &IDLE).unwrap();
        let kept_pids = pids(&mut kept);
        drop(kept);
        let mut waiting = ChildProcess::start_or_reuse(&command(ECHO), &IDLE).unwrap();
        waiting.exchange("one", LONG).unwrap();
        let mut child = ChildProcess::start_or_reuse(&command(hanging), &IDLE).unwrap();
        send_pids.send((kept_pids, pids(&mut child))).unwrap();
        let error = died(child.exchange("hang", 2 * LONG).unwrap_err());
        // It may still be ending, but nobody uses it again.
        drop(waiting);
        let refused = [
            died(ChildProcess::start(&command(ECHO)).err().unwrap()),
            died(ChildProcess::start_or_reuse(&command(PARENT), &IDLE).err().unwrap()),
        ];
        (error, refused)
    });
    let (kept_pids, hanging_pids) = received_pids.recv_timeout(LONG).unwrap();
    handle.stop();
    wait_until_gone(&hanging_pids);
    let (error, refused) = thread.join().unwrap();
    assert!(error.contains("its process ended (signal: 9"), "{error}");
    assert!(start_time.elapsed() < LONG, "the child's own limit came first");
    assert!(refused.iter().all(|what| what.contains("exceeded its time limit")), "{refused:?}");
    let mut again = ChildProcess::start_or_reuse(&command(PARENT), &IDLE).unwrap();
    assert_eq!(pids(&mut again), kept_pids, "the process that was kept is still running");
    assert!(IDLE.take(&command(ECHO)).is_none());
}
