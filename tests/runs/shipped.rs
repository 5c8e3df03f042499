//! Checks the shipped sessions: every event is readable, every rebuilt prompt has its hash, and replaying the actions
//! in the environment gives the same observations.

use retrospect::driver::worlds;
use retrospect::engine::{Envelope, Episode, Event, State};
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

/// Replays a journal; returns the numbers of prompts and observations compared, and its episodes.
fn replay(name: &str, events: &[Arc<Envelope>]) -> (u32, u32, Vec<Arc<Episode>>) {
    let mut state = State::default();
    let mut world: Option<Box<dyn Environment>> = None;
    let mut sent = None;
    let mut episodes: Vec<Arc<Episode>> = Vec::new();
    let (mut prompts, mut observations) = (0, 0);
    for envelope in events {
        if matches!(envelope.event, Event::EpisodeStarted { .. }) {
            episodes.extend(state.episode.clone());
        }
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
    // What a person did after an episode's end belongs to its last step, so an episode is complete when the next one starts.
    episodes.extend(state.episode);
    (prompts, observations, episodes)
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
        let (prompts, observations, episodes) = replay(&name, &read.events);
        let timeline = fold_events(read.events);
        assert!(timeline.head().run_over, "{name} was played to its end");
        let steps: usize = episodes.iter().map(|episode| episode.steps.len()).sum();
        assert_eq!(observations as usize, steps + episodes.len(), "{name}");
        assert_eq!(prompts as usize, steps, "{name}");
        let bookmark = session.meta.bookmark.unwrap();
        let (number, step) = bookmark.split_once('.').unwrap();
        let number: u32 = number.parse().unwrap();
        let episode = episodes.iter().find(|episode| episode.number == number).unwrap();
        let marked = episode.step(step.parse().unwrap()).unwrap();
        assert!(
            !marked.reflections.is_empty() || marked.is_person_action() || !marked.interventions.is_empty(),
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

/// The measured session tells what a person does with a lesson: a lost trial, a taught lesson that is only an answer, other
/// words that are a lesson, and a won trial.
#[test]
fn the_measured_session_goes_from_an_answer_to_a_lesson() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples/measured-lesson");
    let read = read_branch(&Session::open(&dir).unwrap().trunk()).unwrap();
    let timeline = fold_events(read.events);
    let head = timeline.head();
    let won: Vec<bool> = head.ended_episodes.iter().map(|episode| episode.won).collect();
    assert_eq!(won, [false, true]);
    let lesson = head.pool.all().next().unwrap();
    let verdict = |version: u32, column: &str| {
        let of = |result: &&retrospect::domain::MeasuredEffect| {
            result.version == version && result.column.as_deref() == Some(column)
        };
        lesson.measured.iter().rfind(of).map(|result| result.verdict.as_str())
    };
    assert_eq!((verdict(1, "here"), verdict(1, "elsewhere")), (Some("helped"), Some("no effect seen")));
    assert_eq!((verdict(2, "here"), verdict(2, "elsewhere")), (Some("helped"), Some("helped")));
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
