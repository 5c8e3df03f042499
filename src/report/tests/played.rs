//! Reports of runs that the engine plays.

use super::*;
use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{Autonomy, ReflectionKind, SettingOrigin};
use crate::engine::Command;
use crate::report::document::{Block, start_section, step_section};

const GOAL: &str = "put a hot apple in garbagecan";

/// Regression: the end of a run counted its calibration episodes among those that could be won.
#[test]
fn the_end_of_a_run_counts_calibration_episodes_apart() {
    let mut run = test_spec("omnireflect", &[("a", ""), ("b", ""), ("c", "")]);
    run.settings.set("calibration", 1, SettingOrigin::Flag);
    run.limits.steps = 1;
    let mut play = TestRun::new(run);
    play.play_script(&mut FakeHousehold::kitchen(GOAL), &["look"; 3]);
    let events: Vec<Arc<Envelope>> = play.journal.into_iter().map(Arc::new).collect();
    let text = render_transcript(&events);
    assert!(text.contains("Run over: 0 of 2 episodes won, after 1 calibration episode"), "{text}");
}

/// Regression: a reflection that a person asked for at the first proposal was shown before that step and in it.
#[test]
fn a_reflection_asked_for_at_the_first_proposal_is_shown_once() {
    let mut run = test_spec("omnireflect", &[("a", "")]);
    run.settings.set("generation", "neural", SettingOrigin::Flag);
    run.mentor = "script".to_owned();
    run.autonomy = Autonomy::Confirm;
    let mut play = TestRun::new(run);
    play.mentor = Box::new(|_| "['Look first.']".to_owned());
    let mut house = FakeHousehold::kitchen(GOAL);
    let mut world = |action: Option<&str>| match action {
        None => house.reset(),
        Some(action) => house.step(action),
    };
    play.command(Command::Run);
    while play.advance(&mut world, &mut |_| Some("look".to_owned())) {}
    play.command(Command::Reflect(ReflectionKind::Abstract));
    while play.advance(&mut world, &mut |_| None) {}
    let state = play.state();
    let episode = state.episode.as_deref().unwrap();
    let step = episode.step(1).filter(|step| step.executed.is_none()).unwrap();
    assert_eq!(state.reflections.len(), 1);
    let (start, step) = (start_section(episode, state), step_section(step, episode, state));
    let shown = start.blocks().chain(step.blocks()).filter(|block| matches!(block, Block::Reflection(_)));
    assert_eq!(shown.count(), 1);
}
