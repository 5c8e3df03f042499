//! Files that are pipes, devices, links or far too long, and files that change while they are written.
#![cfg(unix)]

use crate::{Home, ProgramOutput};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// As long as a loaded machine may take for what takes a moment.
const TIMEOUT: Duration = Duration::from_secs(60);

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// What the program says when it ends by itself; it is killed where it waits without end, or reads without end.
fn run_with_timeout(mut command: Command) -> ProgramOutput {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > TIMEOUT {
            child.kill().unwrap();
            panic!("{command:?} has not ended");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let done = child.wait_with_output().unwrap();
    ProgramOutput {
        code: done.status.code().unwrap_or(-1),
        stdout: String::from_utf8(done.stdout).unwrap(),
        stderr: String::from_utf8(done.stderr).unwrap(),
    }
}

/// A session that was played to its end.
fn finished_session(home: &Home) -> PathBuf {
    home.run(&["run", "--task", "easy/heat/23", "--headless", "--quiet"]).assert_success();
    home.session()
}

/// `sessions` hung on a pipe, and read `/dev/zero` until the memory ended.
#[test]
fn one_session_of_pipes_and_devices_hides_no_other() {
    let home = Home::new();
    let sound = finished_session(&home);
    let copied = |name: &str| {
        let dir = home.path("sessions").join(name);
        fs::create_dir_all(dir.join("branches")).unwrap();
        fs::create_dir_all(dir.join("index")).unwrap();
        for file in ["meta.toml", "branches/trunk.jsonl"] {
            fs::copy(sound.join(file), dir.join(file)).unwrap();
        }
        dir
    };
    make_pipe(&copied("20200101T000001Z-fork").join("branches/b1.jsonl"));
    symlink("/dev/zero", copied("20200101T000002Z-zero").join("branches/b1.jsonl")).unwrap();
    make_pipe(&copied("20200101T000003Z-labels").join("branches/labels.jsonl"));
    make_pipe(&copied("20200101T000004Z-index").join("index/summary.json"));
    for (name, file) in [("5-trunk", "branches/trunk.jsonl"), ("6-meta", "meta.toml")] {
        let path = copied(&format!("20200101T00000{name}")).join(file);
        fs::remove_file(&path).unwrap();
        make_pipe(&path);
    }
    let zero = copied("20200101T000007Z-meta-zero").join("meta.toml");
    fs::remove_file(&zero).unwrap();
    symlink("/dev/zero", &zero).unwrap();
    for args in [&["sessions"][..], &["sessions", "--json"], &["doctor"], &["report", "--last"]] {
        let said = run_with_timeout(home.command(args));
        if args[0] == "sessions" {
            assert_eq!(said.code, 0, "{}", said.stderr);
            let name = sound.file_name().unwrap().to_str().unwrap();
            assert!(said.stdout.contains(name), "{}", said.stdout);
            assert!(said.stdout.contains("a pipe, a socket or a device"), "{}", said.stdout);
        }
    }
    for verb in ["verify", "open"] {
        run_with_timeout(home.command(&[verb, "20200101T000001Z-fork"]));
    }
}

/// Every file that a person or a session names is a regular one, or is refused with its path in a moment.
#[test]
fn pipes_and_devices_are_refused_wherever_a_file_is_read() {
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
            let said = run_with_timeout(home.command(&args));
            assert_ne!(said.code, 0, "{args:?}: {}", said.stdout);
            assert!(said.stderr.contains("a pipe, a socket or a device"), "{args:?}: {}", said.stderr);
            assert!(said.stderr.contains(path), "{args:?}: {}", said.stderr);
        }
    }
    // A file of 3 GB is refused by its length.
    let large = home.path("large.html");
    File::create(&large).unwrap().set_len(3 << 30).unwrap();
    let large = large.to_str().unwrap();
    let said = run_with_timeout(home.command(&["open", large, "--plain"]));
    assert!(said.code == 1 && said.stderr.contains("too large for an exported report"), "{}", said.stderr);
    let said = run_with_timeout(home.command(&["lessons", "list", "--pool", large]));
    assert!(said.code == 1 && said.stderr.contains("longer than"), "{}", said.stderr);
}

/// With a umask of 000 anybody could write into the folders of a pool, an answer cache and tasks.
#[test]
fn new_folders_are_for_their_owner_alone_whatever_the_umask() {
    let home = Home::new();
    for args in [
        &["lessons", "add", "Look first.", "--pool", "pools/mine/pool.jsonl"][..],
        &["tasks", "--env", "household", "--only", "1", "--write", "games/here"],
    ] {
        let mut wrapped = Command::new("sh");
        let shell = "umask 000; exec \"$@\"";
        wrapped.args(["-c", shell, "sh"]).arg(home.command(&[]).get_program()).args(args);
        wrapped.current_dir(home.path("")).env("RETROSPECT_SESSIONS", home.path("sessions"));
        let said = run_with_timeout(wrapped);
        assert_eq!(said.code, 0, "{}", said.stderr);
    }
    for folder in ["pools", "pools/mine", "games", "games/here"] {
        let mode = fs::metadata(home.path(folder)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{folder}");
    }
}

/// A link in a session's folder was carried out by an export, and one at the place of the export was followed.
#[test]
fn an_export_carries_and_writes_no_file_behind_a_link() {
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
        let said = run_with_timeout(command);
        assert_eq!(said.code, 0, "{umask}: {}", said.stderr);
        let there = fs::symlink_metadata(&page).unwrap();
        assert!(there.is_file() && there.permissions().mode() & 0o777 == 0o600, "{umask}");
        assert!(!fs::read_to_string(&page).unwrap().contains("do-not-carry-me"));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    }
    // What a person names as a device is written to.
    let said = home.run(&["export", session, "--format", "text", "--out", "/dev/null"]).assert_success();
    assert!(said.stderr.contains("wrote /dev/null"), "{}", said.stderr);
}

/// Killed by the system while it writes: the file of that name is the old one, or there is none.
#[test]
fn a_killed_export_leaves_no_half_file() {
    let home = Home::new();
    let session = finished_session(&home);
    let page = home.path("page.html");
    let export = || {
        let program = env!("CARGO_BIN_EXE_retrospect");
        let mut command = Command::new("sh");
        // Files of this process end after a few kB.
        command.args(["-c", "ulimit -f 4; exec \"$@\"", "sh", program, "export"]).arg(&session);
        command.args(["--format", "html", "--out", "page.html"]).current_dir(home.path(""));
        let said = run_with_timeout(command);
        assert_ne!(said.code, 0, "{}", said.stderr);
    };
    export();
    assert!(!page.exists());
    fs::write(&page, "the old one").unwrap();
    export();
    assert_eq!(fs::read_to_string(&page).unwrap(), "the old one");
}

#[test]
fn a_picture_of_any_size_is_made_or_refused() {
    let home = Home::new();
    let session = finished_session(&home);
    let export = ["export", session.to_str().unwrap(), "--format", "svg", "--size"];
    for size in ["65535x65535", "0x0", "1x1", "65536x1", "500x201", "x", ""] {
        let said = home.run(&[&export[..], &[size]].concat());
        assert_eq!(said.code, 2, "{size}: {}", said.stderr);
        assert!(said.stderr.contains("from 20x5 to 500x200"), "{size}: {}", said.stderr);
    }
    for size in ["20x5", "500x200"] {
        home.run(&[&export[..], &[size]].concat()).assert_success();
    }
}

/// Killed between the run's start and its breakpoints, a run went on without them.
#[test]
fn breakpoints_are_part_of_the_batch_that_starts_the_run() {
    for (condition, code) in [("step 2", 3), ("cost > 0.5", 0)] {
        let home = Home::new();
        let run = ["run", "--task", "easy/heat/23", "--headless", "--quiet", "--break", condition];
        assert_eq!(home.run(&run).code, code);
        let journal = home.session().join("branches/trunk.jsonl");
        let text = fs::read_to_string(&journal).unwrap();
        // The journal as a kill right after the first write leaves it: header and first batch.
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

/// `git reset --hard` in the folder of a running session: 400 steps were told, 337 kept, and `verify` said that all is well.
#[test]
fn a_replaced_journal_ends_the_run_and_loses_nothing() {
    let home = Home::new();
    let mut command = home.command(&["run", "--env", "household", "--only", "200", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = 0;
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let (mut line, mut err) = (String::new(), String::new());
    while out.read_line(&mut line).unwrap() > 0 {
        told += 1;
        err = std::mem::take(&mut line);
        if told == 200 {
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
    assert!(events >= told, "{told} lines were printed, {events} events are saved");
    home.run(&["verify", saved]).assert_success();
    // Also after a list has looked at it.
    for _ in 0..2 {
        let said = home.run(&["verify", old]);
        assert_eq!(said.code, 1, "{}", said.stdout);
        assert!(said.stdout.contains("were acknowledged and are missing"), "{}", said.stdout);
        home.run(&["sessions"]).assert_success();
    }
}

/// `sessions`, `open`, `report` and `resume` said nothing of a finished run whose journal was cut, and after `resume` `verify`
/// said that it is whole.
#[test]
fn a_journal_that_was_cut_is_told_everywhere_and_stays_told() {
    let home = Home::new();
    let session = finished_session(&home);
    let (path, trunk) = (session.to_str().unwrap(), session.join("branches/trunk.jsonl"));
    let text = fs::read_to_string(&trunk).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (all, end) =
        (lines.len() - 1, (2..lines.len() / 2).rev().find(|n| !lines[n - 1].contains("\"more\":true")));
    let kept = end.unwrap();
    fs::write(&trunk, lines[..kept].concat()).unwrap();
    let missing = format!("events {kept} to {all} were acknowledged and are missing");
    for _ in 0..2 {
        let listed = home.run(&["sessions"]).assert_success().stdout;
        assert!(listed.contains(&format!("cut: events {kept} to {all} are missing")), "{listed}");
        assert_eq!(
            home.run(&["sessions", "--json"]).assert_success().json_lines()[0]["missing"],
            serde_json::json!([kept, all])
        );
        for args in [&["open", path, "--plain"][..], &["report", path], &["export", path, "--format", "text"]]
        {
            let said = home.run(args).assert_success();
            assert!(said.stderr.contains(&missing), "{args:?}: {}", said.stderr);
            assert!(!said.stderr.contains("never acknowledged"), "{args:?}: {}", said.stderr);
        }
        let said = home.run(&["verify", path]);
        assert!(said.code == 1 && said.stdout.contains(&missing), "{}", said.stdout);
    }
    let resumed = home.run(&["resume", path, "--headless", "--quiet"]).assert_success();
    assert!(
        resumed.stderr.contains(&missing) && resumed.stderr.contains("goes on as branch b1"),
        "{}",
        resumed.stderr
    );
    let said = home.run(&["verify", path]);
    assert!(said.code == 1 && said.stdout.contains(&missing), "{}", said.stdout);
    home.run(&["verify", &format!("{path}@b1")]).assert_success();
    assert!(home.run(&["sessions"]).assert_success().stdout.contains("finished"));
}

/// A run on a fork played on to exit 0 when the trunk was replaced, and its session could not be read any more.
#[test]
fn a_run_on_a_fork_notices_that_the_trunk_is_replaced() {
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
    let (mut line, mut err, mut told) = (String::new(), String::new(), 0);
    while out.read_line(&mut line).unwrap() > 0 {
        told += 1;
        err = std::mem::take(&mut line);
        if told == 20 {
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

/// Line by line a full disk was told as "the disk did not take it; nothing is lost", and so was a journal that was replaced.
#[test]
fn a_full_disk_is_told_line_by_line() {
    let home = Home::new();
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_retrospect");
    command.args(["-c", "ulimit -f 48; exec \"$@\"", "sh", program, "run", "--env", "household", "--plain"]);
    command.env("RETROSPECT_SESSIONS", home.path("sessions")).env("HOME", home.path("home"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), "step\n".repeat(100).as_bytes());
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("the journal (trunk.jsonl) could not be written"), "{said}");
    assert!(said.contains("are saved, what came after is not"), "{said}");
    assert!(!said.contains("nothing is lost"), "{said}");
}
