//! Episodes that need nothing installed, played by the rule-based actor through driver and journal.

use crate::pictures;
#[cfg(feature = "tui")]
#[cfg(feature = "tui")]
use crate::rewind;
use crate::run::{household, meta, spec, until};
use retrospect::driver::{Driver, OpenWorld, RunConfig};
use retrospect::engine::{Command, State};
use retrospect::env::household::{TaskId, open_world as open_house};
use std::sync::Arc;
use std::time::Duration;

fn play(method: &str, ids: &[String]) -> Arc<State> {
    let dir = tempfile::tempdir().unwrap();
    let spec = spec(method, ids.iter().map(household).collect());
    let open: OpenWorld = Arc::new(|task| {
        Ok(Box::new(open_house(
            &TaskId::parse(&task.id)
                .map_err(|e| retrospect::env::EnvError::Refused { what: e.to_string() })?,
        )?))
    });
    let run_config =
        RunConfig::from_spec(&spec, Arc::new(retrospect::catalog::builtin_templates()), open, Duration::ZERO)
            .unwrap();
    let meta = meta("s", &spec);
    let (handle, thread, _session) = Driver::start(dir.path(), meta, spec, Vec::new(), run_config).unwrap();
    handle.send(Command::Run);
    until(&handle, |s| s.run_over || s.failed_call.is_some());
    let state = handle.store.head();
    assert!(state.failed_call.is_none(), "{:?}", state.failed_call);
    handle.quit();
    thread.join().unwrap();
    state
}

#[test]
fn the_rule_based_actor_plays_the_built_in_environment() {
    let ids: Vec<String> = ["put", "heat", "cool", "clean", "look", "two"]
        .iter()
        .flat_map(|kind| (0..2).map(move |seed| format!("easy/{kind}/{seed}")))
        .collect();
    for method in ["react", "omnireflect"] {
        let state = play(method, &ids);
        assert_eq!(state.ended_episodes.len(), ids.len());
        let won = state.ended_episodes.iter().filter(|p| p.won).count();
        println!("{method}: {won} of {} won", ids.len());
        for p in &state.ended_episodes {
            println!("  {} {:?} steps {} progress {:.2}", p.task.id, p.reason, p.steps, p.progress);
        }
        assert!(won > 0);
    }
}

#[cfg(feature = "tui")]
#[test]
fn the_screen_shows_an_episode_of_hotpotqa() {
    let (root, options) = (tempfile::tempdir().unwrap(), retrospect::env::TaskOptions::default());
    let task = retrospect::driver::worlds::find("hotpotqa", "lighthouse-engineer", &options).unwrap();
    let played = rewind::PlayedSession::watch(root.path(), task, &options, 2);
    pictures::check_pictures("hotpotqa", &played.session.trunk());
    played.end();
}
