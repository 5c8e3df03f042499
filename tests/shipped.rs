//! Checks the shipped sessions: every event is readable, every rebuilt prompt has its hash, and replaying the actions
//! in the environment gives the same observations.
#![allow(clippy::unwrap_used)]

use retrospect::driver::worlds;
use retrospect::engine::{Envelope, Event, State};
use retrospect::env::Environment;
use retrospect::env::TaskOptions;
use retrospect::journal::{Session, fold_events, read_branch};
use retrospect::prompt::{body_hash, render, text_hash};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn shipped_sessions() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples");
    let mut found: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    found.sort();
    found
}

/// Replays a journal; returns the numbers of prompts and observations compared.
fn replay(name: &str, events: &[Arc<Envelope>]) -> (u32, u32) {
    let mut state = State::default();
    let mut world: Option<Box<dyn Environment>> = None;
    let mut sent = None;
    let (mut prompts, mut observations) = (0, 0);
    for envelope in events {
        state.apply(envelope);
        let location = format!("{name}, event {}", envelope.seq);
        match &envelope.event {
            Event::PromptSent { prompt } | Event::PromptDrafted { prompt } => {
                assert_eq!(body_hash(&render(&state, prompt)), prompt.sha256, "{location}");
                prompts += 1;
            }
            Event::TextDefined { hash, text } => assert_eq!(text_hash(text), *hash, "{location}"),
            Event::EpisodeStarted { task, .. } => {
                world = Some(worlds::open(task, &TaskOptions::default()).unwrap());
            }
            Event::WorldReset { result: recorded, .. } => {
                assert_eq!(
                    world.as_mut().unwrap().reset().unwrap().observation,
                    recorded.observation,
                    "{location}"
                );
                observations += 1;
            }
            Event::ActionTaken { executed, call: Some(_), admissible_only: false, .. } => {
                sent = Some(executed.sent.clone().unwrap_or_else(|| executed.action.clone()));
            }
            Event::Observed { result: recorded, .. } => {
                // A result of the interface alone has no action for the environment.
                if let Some(sent) = sent.take() {
                    let now = world.as_mut().unwrap().step(&sent).unwrap();
                    assert_eq!(now.observation, recorded.observation, "{location}");
                    assert_eq!((now.won, now.done), (recorded.won, recorded.done), "{location}");
                    observations += 1;
                }
            }
            _ => {}
        }
    }
    (prompts, observations)
}

#[test]
fn shipped_sessions_verify_and_replay() {
    let found = shipped_sessions();
    assert!(found.len() >= 3, "{found:?}");
    for dir in found {
        let session = Session::open(&dir).unwrap();
        let name = session.meta.session.clone();
        assert_eq!(dir.file_name().unwrap().to_str().unwrap(), name, "a session has the name of its folder");
        let read = read_branch(&session.trunk()).unwrap();
        assert!(read.torn_tail.is_none(), "{name}: {:?}", read.torn_tail);
        assert!(matches!(read.events.last().unwrap().event, Event::Closed), "{name} was closed properly");
        let (prompts, observations) = replay(&name, &read.events);
        let timeline = fold_events(read.events);
        let episode = timeline.head().episode.clone().unwrap();
        assert!(timeline.head().run_over, "{name} was played to its end");
        assert_eq!(observations as usize, episode.steps.len() + 1, "{name}");
        assert_eq!(prompts as usize, episode.steps.len(), "{name}");
        let bookmark = session.meta.bookmark.unwrap();
        let (number, step) = bookmark.split_once('.').unwrap();
        assert_eq!(number.parse::<u32>().unwrap(), episode.number, "{name}");
        let marked = episode.step(step.parse().unwrap()).unwrap();
        assert!(
            !marked.reflections.is_empty() || marked.is_person_action(),
            "{name}: nothing happens at its bookmark {bookmark}"
        );
    }
}

/// The two mug sessions are the same game, lost without and won with a person's lesson.
#[test]
fn the_two_mug_sessions_differ_only_by_the_lesson() {
    let end = |name: &str| {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples").join(name);
        let read = read_branch(&Session::open(&dir).unwrap().trunk()).unwrap();
        fold_events(read.events).head().ended_episodes.first().unwrap().clone()
    };
    let (untaught, taught) = (end("hot-mug-untaught"), end("hot-mug-taught"));
    assert_eq!(untaught.task.id, taught.task.id);
    assert!(!untaught.won && !untaught.assisted);
    assert!(taught.won && taught.assisted);
}

/// No shipped file contains a path of the machine it was recorded on.
#[test]
fn shipped_sessions_contain_no_local_path() {
    for dir in shipped_sessions() {
        for file in [dir.join("meta.toml"), dir.join("branches/trunk.jsonl")] {
            let text = std::fs::read_to_string(&file).unwrap();
            for path in ["\"/", "/home/", "/tmp/", "/root/", "/Users/", "C:\\\\"] {
                assert!(!text.contains(path), "{}: {path}", file.display());
            }
        }
    }
}
