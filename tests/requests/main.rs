//! The requests of every method in every environment, recorded by a server, against the tables of the papers.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]
#![allow(clippy::print_stderr, reason = "a test says what it skipped")]

mod calibration;
#[path = "../simulated_servers/http.rs"]
mod http;
mod known_texts;
mod matrix;
mod memories;
mod outline;
mod pages;
mod paper;
mod prepared;
mod prompter;
mod stand_in;
mod web_pages;
mod worlds;

use serde_json::Value;
use stand_in::{Exchange, StandIn};
use std::cell::RefCell;
use std::path::PathBuf;
use std::process::Command;
use worlds::World;

/// A home folder, isolated from the machine and removed afterwards.
pub(crate) struct Home {
    folder: tempfile::TempDir,
    /// The lessons of the pool files in it.
    lessons: RefCell<Vec<String>>,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), lessons: RefCell::default() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).stdin(std::process::Stdio::null());
        command.current_dir(self.folder.path()).env_clear().env("HOME", self.folder.path());
        command.env("RETROSPECT_CONFIG_DIR", self.path("config"));
        command.env("RETROSPECT_SESSIONS", self.path("sessions"));
        command.env("RETROSPECT_POOL", self.path("pool.jsonl"));
        // Where a browser and the web pages are; all others are built in.
        for name in ["PATH", "MINIWOB_HTML"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command
    }

    /// Adds a lesson to a pool file in this folder.
    pub(crate) fn add_lesson(&self, kind: &str, text: &str, pool: &str) {
        let mut command = self.command(&["lessons", "add", "--kind", kind, text, "--pool", pool]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        self.lessons.borrow_mut().push(text.to_owned());
    }

    /// Returns what `report` says about the newest session beside the papers' figures.
    pub(crate) fn report(&self) -> Value {
        let output =
            self.command(&["report", "--last", "--against", "paper", "--format", "json"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Runs a command with the server as actor and mentor; returns the lines of its JSON output.
    pub(crate) fn run(&self, server: &StandIn, args: &[&str]) -> Vec<Value> {
        let mut command = self.command(args);
        let output = command.args(["--base-url", &server.base_url(), "--json"]).output().unwrap();
        let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{args:?}\n{out}\n{err}");
        let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        server.finish_run(&lines, &self.lessons.borrow());
        lines
    }
}

/// Plays a task and returns what was sent.
pub(crate) fn play(server: &StandIn, world: &World, args: &[&str]) -> Vec<Exchange> {
    let home = Home::new();
    let mut all = vec!["run", "--env", world.env, "--task", world.task];
    all.extend(["--actor", "openai:actor", "--set", "mentor_at_once=false"]);
    if !args.contains(&"--mentor") {
        all.extend(["--mentor", "openai:mentor"]);
    }
    all.extend(args);
    home.run(server, &all);
    server.take()
}
