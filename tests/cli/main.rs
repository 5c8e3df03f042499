//! Tests of the real program: its text and JSON output and its exit codes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]

mod branches;
mod breakpoints;
mod contract;
mod diff;
mod dry_run;
mod dry_run_situations;
mod errors;
#[path = "../rig/files.rs"]
mod files;
mod hostile;
mod hostile_files;
mod lesson_environments;
mod lessons;
mod play;
mod presets;
mod reports;
#[path = "../rig/stops.rs"]
mod rows;
mod runs;
mod verbs;
mod verify;

use serde_json::Value;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

/// A home folder per test, isolated from the machine and removed afterwards.
struct Home(tempfile::TempDir);

struct ProgramOutput {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).current_dir(self.0.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("home")).env("RETROSPECT_CONFIG_DIR", self.path("config"));
        command
            .env("RETROSPECT_SESSIONS", self.path("sessions"))
            .env("RETROSPECT_POOL", self.path("pool.jsonl"));
        command
    }

    fn run_with_input(&self, args: &[&str], input: &str) -> ProgramOutput {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Ignores a closed pipe: the program may end without reading its input.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        ProgramOutput {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn run(&self, args: &[&str]) -> ProgramOutput {
        self.run_with_input(args, "")
    }

    /// Returns the folder of the only session.
    fn session(&self) -> PathBuf {
        let mut found: Vec<_> =
            std::fs::read_dir(self.path("sessions")).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }
}

impl ProgramOutput {
    fn assert_success(self) -> Self {
        assert_eq!(self.code, 0, "{}\n{}", self.stdout, self.stderr);
        self
    }

    fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect()
    }
}

/// Returns the names of a JSON object's fields in the order in which they are printed.
fn field_names(line: &str) -> Vec<String> {
    let (mut names, mut depth, mut rest) = (Vec::new(), 0, line.char_indices());
    let mut expects_name = false;
    while let Some((at, c)) = rest.next() {
        match c {
            '{' | '[' => {
                depth += 1;
                expects_name = depth == 1;
            }
            '}' | ']' => depth -= 1,
            ',' => expects_name = depth == 1,
            '"' => {
                let start = at + 1;
                let mut end = start;
                while let Some((at, c)) = rest.next() {
                    match c {
                        '\\' => {
                            rest.next();
                        }
                        '"' => {
                            end = at;
                            break;
                        }
                        _ => {}
                    }
                }
                if std::mem::take(&mut expects_name) {
                    names.push(line[start..end].to_owned());
                }
            }
            _ => {}
        }
    }
    names
}
