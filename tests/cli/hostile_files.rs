//! Files that are pipes, devices, links or much too long, and files that are changed while the program writes them.
#![cfg(unix)]

use crate::{Home, ProgramOutput};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Limit for a short operation on a heavily loaded machine.
const TIMEOUT: Duration = Duration::from_secs(60);

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Runs a command and returns its output; kills it and panics after [`TIMEOUT`].
fn run_with_timeout(mut command: Command) -> ProgramOutput {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > TIMEOUT {
            child.kill().unwrap();
            panic!("{command:?} timed out");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    ProgramOutput {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs an episode to its end and returns the session.
fn finished_session(home: &Home) -> PathBuf {
    home.run(&["run", "--task", "easy/heat/23", "--headless", "--quiet"]).assert_success();
    home.session()
}

/// Regression: `sessions` hung on a pipe, and read `/dev/zero` until memory was exhausted.
#[test]
fn sessions_made_of_pipes_and_devices_hide_no_other_session() {
    let home = Home::new();
    let intact = finished_session(&home);
    let copy_session = |name: &str| {
        let dir = home.path("sessions").join(name);
        fs::create_dir_all(dir.join("branches")).unwrap();
        fs::create_dir_all(dir.join("index")).unwrap();
        for file in ["meta.toml", "branches/trunk.jsonl"] {
            fs::copy(intact.join(file), dir.join(file)).unwrap();
        }
        dir
    };
    make_pipe(&copy_session("20200101T000001Z-fork").join("branches/b1.jsonl"));
    symlink("/dev/zero", copy_session("20200101T000002Z-zero").join("branches/b1.jsonl")).unwrap();
    make_pipe(&copy_session("20200101T000003Z-labels").join("branches/labels.jsonl"));
    make_pipe(&copy_session("20200101T000004Z-index").join("index/summary.json"));
    for (name, file) in [("5-trunk", "branches/trunk.jsonl"), ("6-meta", "meta.toml")] {
        let path = copy_session(&format!("20200101T00000{name}")).join(file);
        fs::remove_file(&path).unwrap();
        make_pipe(&path);
    }
    let zero = copy_session("20200101T000007Z-meta-zero").join("meta.toml");
    fs::remove_file(&zero).unwrap();
    symlink("/dev/zero", &zero).unwrap();
    for args in [&["sessions"][..], &["sessions", "--json"], &["doctor"], &["report", "--last"]] {
        let output = run_with_timeout(home.command(args));
        if args[0] == "sessions" {
            assert_eq!(output.code, 0, "{}", output.stderr);
            let name = intact.file_name().unwrap().to_str().unwrap();
            assert!(output.stdout.contains(name), "{}", output.stdout);
            assert!(output.stdout.contains("a pipe, a socket or a device"), "{}", output.stdout);
        }
    }
    for verb in ["verify", "open"] {
        run_with_timeout(home.command(&[verb, "20200101T000001Z-fork"]));
    }
}

/// Every file named by a person or a session must be a regular file; others are rejected at once, with their path.
#[test]
fn pipes_and_devices_are_rejected_wherever_a_file_is_read() {
    let home = Home::new();
    let fifo = home.path("fifo");
    make_pipe(&fifo);
    let run = ["run", "--task", "easy/heat/23", "--headless", "--quiet"];
    for path in [fifo.to_str().unwrap(), "/dev/zero"] {
        let cases: [&[&str]; 7] = [
            &["--pool", path],
            &["--constitution", path],
            &["--ca-file", path, "--actor", "openai:m", "--base-url", "https://127.0.0.1:1"],
            &["--config", path],
            &["play", "--env", "babyai", "--state", path],
            &["lessons", "list", "--pool", path],
            &["play", "--domain", path, "--problem", path],
        ];
        for case in cases {
            let args = if case[0].starts_with("--") { [&run[..], case].concat() } else { case.to_vec() };
            let output = run_with_timeout(home.command(&args));
            assert_ne!(output.code, 0, "{args:?}: {}", output.stdout);
            assert!(output.stderr.contains("a pipe, a socket or a device"), "{args:?}: {}", output.stderr);
            assert!(output.stderr.contains(path), "{args:?}: {}", output.stderr);
        }
    }
    // A file of 3 GiB is rejected by its length.
    let large = home.path("large.html");
    File::create(&large).unwrap().set_len(3 << 30).unwrap();
    let large = large.to_str().unwrap();
    let output = run_with_timeout(home.command(&["open", large, "--plain"]));
    assert!(
        output.code == 1 && output.stderr.contains("too large for an exported report"),
        "{}",
        output.stderr
    );
    let output = run_with_timeout(home.command(&["lessons", "list", "--pool", large]));
    assert!(output.code == 1 && output.stderr.contains("longer than"), "{}", output.stderr);
}

/// Regression: with a umask of 000, anybody could write to the folders of a pool, the reply cache and tasks.
#[test]
fn new_folders_are_private_whatever_the_umask() {
    let home = Home::new();
    for args in [
        &["lessons", "add", "Look first.", "--pool", "pools/mine/pool.jsonl"][..],
        &["tasks", "--env", "household", "--only", "1", "--write", "games/here"],
    ] {
        let mut wrapped = Command::new("sh");
        let shell = "umask 000; exec \"$@\"";
        wrapped.args(["-c", shell, "sh"]).arg(home.command(&[]).get_program()).args(args);
        wrapped.current_dir(home.path("")).env("RETROSPECT_SESSIONS", home.path("sessions"));
        let output = run_with_timeout(wrapped);
        assert_eq!(output.code, 0, "{}", output.stderr);
    }
    for folder in ["pools", "pools/mine", "games", "games/here"] {
        let mode = fs::metadata(home.path(folder)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{folder}");
    }
}

/// Regression: an export included the target of a link in the session's folder, and followed a link at its own path.
#[test]
fn export_follows_no_links() {
    let home = Home::new();
    let session = finished_session(&home);
    let secret = home.path("secret");
    fs::write(&secret, "do-not-carry-me").unwrap();
    symlink(&secret, session.join("branches/zz.jsonl")).unwrap();
    let (victim, page) = (home.path("victim"), home.path("page.html"));
    fs::write(&victim, "mine").unwrap();
    symlink(&victim, &page).unwrap();
    let shell = "umask $0; exec \"$@\"";
    let session = session.to_str().unwrap();
    for umask in ["000", "077", "777"] {
        let mut command = home.command(&[]);
        let program = command.get_program().to_owned();
        let mut wrapped = Command::new("sh");
        wrapped.args(["-c", shell, umask]).arg(program);
        wrapped.args(["export", session, "--format", "html", "--out", "page.html"]);
        wrapped.current_dir(home.path("")).env("RETROSPECT_SESSIONS", home.path("sessions"));
        command = wrapped;
        let output = run_with_timeout(command);
        assert_eq!(output.code, 0, "{umask}: {}", output.stderr);
        let metadata = fs::symlink_metadata(&page).unwrap();
        assert!(metadata.is_file() && metadata.permissions().mode() & 0o777 == 0o600, "{umask}");
        assert!(!fs::read_to_string(&page).unwrap().contains("do-not-carry-me"));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    }
    // A device named with --out is written to directly.
    let output = home.run(&["export", session, "--format", "text", "--out", "/dev/null"]).assert_success();
    assert!(output.stderr.contains("wrote /dev/null"), "{}", output.stderr);
}

/// If the system kills the program while it writes, the file is unchanged or missing.
#[test]
fn killed_export_leaves_no_partial_file() {
    let home = Home::new();
    let session = finished_session(&home);
    let page = home.path("page.html");
    let export = || {
        let program = env!("CARGO_BIN_EXE_retrospect");
        let mut command = Command::new("sh");
        // Limits the file size of this process to a few kB.
        command.args(["-c", "ulimit -f 4; exec \"$@\"", "sh", program, "export"]).arg(&session);
        command.args(["--format", "html", "--out", "page.html"]).current_dir(home.path(""));
        let output = run_with_timeout(command);
        assert_ne!(output.code, 0, "{}", output.stderr);
    };
    export();
    assert!(!page.exists());
    fs::write(&page, "the old one").unwrap();
    export();
    assert_eq!(fs::read_to_string(&page).unwrap(), "the old one");
}

#[test]
fn svg_of_any_size_is_written_or_rejected() {
    let home = Home::new();
    let session = finished_session(&home);
    let export = ["export", session.to_str().unwrap(), "--format", "svg", "--size"];
    for size in ["65535x65535", "0x0", "1x1", "65536x1", "500x201", "x", ""] {
        let output = home.run(&[&export[..], &[size]].concat());
        assert_eq!(output.code, 2, "{size}: {}", output.stderr);
        assert!(output.stderr.contains("20x5 to 500x200"), "{size}: {}", output.stderr);
    }
    for size in ["20x5", "500x200"] {
        home.run(&[&export[..], &[size]].concat()).assert_success();
    }
}

/// Regression: a run killed between its start and its breakpoints resumed without them.
#[test]
fn breakpoints_are_part_of_the_batch_that_starts_the_run() {
    for (condition, code) in [("step 2", 3), ("cost > 0.5", 0)] {
        let home = Home::new();
        let run = ["run", "--task", "easy/heat/23", "--headless", "--quiet", "--break", condition];
        assert_eq!(home.run(&run).code, code);
        let journal = home.session().join("branches/trunk.jsonl");
        let text = fs::read_to_string(&journal).unwrap();
        // The journal as left by a kill right after the first write: header and first batch.
        let mut kept: Vec<&str> = text.lines().take(1).collect();
        for line in text.lines().skip(1) {
            kept.push(line);
            if !line.contains("\"more\":true") {
                break;
            }
        }
        assert!(kept.len() > 2, "{kept:?}");
        fs::write(&journal, format!("{}\n", kept.join("\n"))).unwrap();
        fs::remove_dir_all(home.session().join("index")).unwrap();
        assert_eq!(
            home.run(&["resume", home.session().to_str().unwrap(), "--headless", "--quiet"]).code,
            code,
            "{condition}"
        );
        let resumed = fs::read_to_string(&journal).unwrap();
        assert!(resumed.contains("\"type\":\"breakpoint_set\""), "{condition}");
    }
}

/// Regression: after `git reset --hard` in the folder of a running session, 400 steps were printed, 337 saved, and
/// `verify` passed.
#[test]
fn a_replaced_journal_ends_the_run_and_loses_nothing() {
    let home = Home::new();
    let mut command = home.command(&["run", "--env", "household", "--only", "200", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut printed = 0;
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let (mut line, mut err) = (String::new(), String::new());
    while out.read_line(&mut line).unwrap() > 0 {
        printed += 1;
        err = std::mem::take(&mut line);
        if printed == 200 {
            let journal = home.session().join("branches/trunk.jsonl");
            let bytes = fs::read(&journal).unwrap();
            let half = bytes[..bytes.len() / 2].iter().rposition(|b| *b == b'\n').unwrap() + 1;
            fs::remove_file(&journal).unwrap();
            fs::write(&journal, &bytes[..half]).unwrap();
        }
    }
    let done = child.wait_with_output().unwrap();
    // With `--json` the error is the last line.
    assert_eq!(done.status.code(), Some(1), "{err}");
    assert!(err.contains("was replaced by another program") && err.contains("events are saved in"), "{err}");
    let saved = fs::read_dir(home.path("sessions")).unwrap().map(|e| e.unwrap().path());
    let (saved, old): (Vec<_>, Vec<_>) = saved.partition(|p| p.display().to_string().ends_with("-saved"));
    let (saved, old) = (saved[0].to_str().unwrap(), old[0].to_str().unwrap());
    assert!(err.contains(&format!("resume {saved}")), "{err}");
    let events = fs::read_to_string(Path::new(saved).join("branches/trunk.jsonl")).unwrap().lines().count();
    assert!(events >= printed, "{printed} lines were printed, {events} events are saved");
    home.run(&["verify", saved]).assert_success();
    // The second round checks that `sessions`, which reads the journal, doesn't hide the loss.
    for _ in 0..2 {
        let output = home.run(&["verify", old]);
        assert_eq!(output.code, 1, "{}", output.stdout);
        assert!(output.stdout.contains("were saved but are missing"), "{}", output.stdout);
        home.run(&["sessions"]).assert_success();
    }
}

/// Regression: `sessions`, `open`, `report` and `resume` did not report that the journal of a finished run was
/// truncated, and after `resume`, `verify` passed.
#[test]
fn truncated_journal_is_reported_by_every_verb_and_after_resume() {
    let home = Home::new();
    let session = finished_session(&home);
    let (path, trunk) = (session.to_str().unwrap(), session.join("branches/trunk.jsonl"));
    let text = fs::read_to_string(&trunk).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (all, end) =
        (lines.len() - 1, (2..lines.len() / 2).rev().find(|n| !lines[n - 1].contains("\"more\":true")));
    let kept = end.unwrap();
    fs::write(&trunk, lines[..kept].concat()).unwrap();
    let missing = format!("events {kept} to {all} were saved but are missing");
    for _ in 0..2 {
        let listed = home.run(&["sessions"]).assert_success().stdout;
        assert!(listed.contains(&format!("truncated: events {kept} to {all} are missing")), "{listed}");
        assert_eq!(
            home.run(&["sessions", "--json"]).assert_success().json_lines()[0]["missing"],
            serde_json::json!([kept, all])
        );
        for args in [&["open", path, "--plain"][..], &["report", path], &["export", path, "--format", "text"]]
        {
            let output = home.run(args).assert_success();
            assert!(output.stderr.contains(&missing), "{args:?}: {}", output.stderr);
            assert!(!output.stderr.contains("unfinished batch"), "{args:?}: {}", output.stderr);
        }
        let output = home.run(&["verify", path]);
        assert!(output.code == 1 && output.stdout.contains(&missing), "{}", output.stdout);
    }
    let resumed = home.run(&["resume", path, "--headless", "--quiet"]).assert_success();
    assert!(
        resumed.stderr.contains(&missing) && resumed.stderr.contains("continues as branch b1"),
        "{}",
        resumed.stderr
    );
    let output = home.run(&["verify", path]);
    assert!(output.code == 1 && output.stdout.contains(&missing), "{}", output.stdout);
    home.run(&["verify", &format!("{path}@b1")]).assert_success();
    assert!(home.run(&["sessions"]).assert_success().stdout.contains("finished"));
}

/// Regression: after the trunk was replaced, a run on a fork still finished with exit code 0 but left an unreadable
/// session.
#[test]
fn run_on_a_fork_detects_a_replaced_trunk() {
    let home = Home::new();
    let input = "step\nstep\nfork 1 go to shelf 1\nquit\n";
    home.run_with_input(
        &["run", "--env", "household", "--only", "200", "--plain", "--mentor", "none"],
        input,
    )
    .assert_success();
    let session = home.session();
    let mut command = home.command(&["resume", &format!("{}@b1", session.display()), "--headless", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let (mut line, mut err, mut printed) = (String::new(), String::new(), 0);
    while out.read_line(&mut line).unwrap() > 0 {
        printed += 1;
        err = std::mem::take(&mut line);
        if printed == 20 {
            let trunk = session.join("branches/trunk.jsonl");
            let bytes = fs::read(&trunk).unwrap();
            fs::remove_file(&trunk).unwrap();
            fs::write(&trunk, &bytes[..bytes.len() / 2]).unwrap();
        }
    }
    assert_eq!(child.wait().unwrap().code(), Some(1), "{err}");
    assert!(err.contains("(trunk.jsonl) was replaced by another program"), "{err}");
    let saved = fs::read_dir(home.path("sessions")).unwrap().map(|e| e.unwrap().path());
    let saved = saved.into_iter().find(|p| p.display().to_string().ends_with("-saved")).unwrap();
    home.run(&["verify", saved.to_str().unwrap()]).assert_success();
}

/// Regression: `--plain` reported a full disk or a replaced journal as "the disk did not take it; nothing is lost".
#[test]
fn full_disk_is_reported_in_plain_mode() {
    let home = Home::new();
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_retrospect");
    command.args(["-c", "ulimit -f 48; exec \"$@\"", "sh", program, "run", "--env", "household", "--plain"]);
    command.env("RETROSPECT_SESSIONS", home.path("sessions")).env("HOME", home.path("home"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), "step\n".repeat(100).as_bytes());
    let done = child.wait_with_output().unwrap();
    let output = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
    assert_eq!(done.status.code(), Some(1), "{output}");
    assert!(output.contains("the journal (trunk.jsonl) could not be written"), "{output}");
    assert!(output.contains("are saved, later ones are not"), "{output}");
    assert!(!output.contains("nothing is lost"), "{output}");
}
