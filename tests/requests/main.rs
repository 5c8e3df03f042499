//! The requests of every method in every environment, recorded by a server, against the tables of the papers.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]
#![allow(clippy::print_stderr, reason = "a test says what it skipped")]

mod calibration;
#[path = "../simulated_servers/http.rs"]
mod http;
mod matrix;
mod pages;
mod paper;
mod stand_in;

use serde_json::Value;
use stand_in::{Exchange, StandIn};
use std::path::PathBuf;
use std::process::Command;

/// A task of each environment that three of its actions don't solve, nor bring nearer to its goal.
pub(crate) struct World {
    pub(crate) env: &'static str,
    pub(crate) task: &'static str,
    /// What the actor does, over and over.
    pub(crate) actions: [&'static str; 3],
}

pub(crate) const WORLDS: [World; 6] = [
    World {
        env: "household",
        task: "normal/heat/900005",
        actions: ["go to countertop 1", "inventory", "go to fridge 1"],
    },
    World {
        env: "babyai",
        task: "UnlockPickupDist/900005",
        actions: ["turn left", "move forward", "turn right"],
    },
    World {
        env: "pddl",
        task: "gripper/hard/900005",
        actions: ["look around", "drop ball1 rooma left", "look around"],
    },
    World {
        env: "pddl",
        task: "blockworld/hard/900005",
        actions: ["look around", "pickup b1", "putdown b1"],
    },
    World {
        env: "pddl",
        task: "barman/hard/900005",
        actions: ["look around", "left grasp shaker1", "left leave shaker1"],
    },
    World {
        env: "pddl",
        task: "tyreworld/hard/900005",
        actions: ["look around", "close boot", "look around"],
    },
];

/// A home folder, isolated from the machine and removed afterwards.
pub(crate) struct Home(tempfile::TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).stdin(std::process::Stdio::null());
        command.current_dir(self.0.path()).env_clear().env("HOME", self.0.path());
        command.env("RETROSPECT_CONFIG_DIR", self.path("config"));
        command.env("RETROSPECT_SESSIONS", self.path("sessions"));
        command.env("RETROSPECT_POOL", self.path("pool.jsonl"));
        command
    }

    /// Adds a lesson to a pool file in this folder.
    pub(crate) fn add_lesson(&self, kind: &str, text: &str, pool: &str) {
        let mut command = self.command(&["lessons", "add", "--kind", kind, text, "--pool", pool]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
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
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
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
