//! How episodes end.

use super::fixture::{TestEngine, run_spec, step_result};
use crate::domain::EndReason;
use crate::engine::Command;

#[test]
fn an_actor_that_only_thinks_hits_a_limit_even_if_thoughts_do_not_count() {
    let mut run = run_spec(1, 2);
    run.settings.set("thoughts_count", false, crate::domain::SettingOrigin::Flag);
    let mut harness = TestEngine::with_spec(run);
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room."));
    for _ in 0..8 {
        assert!(!harness.state().run_over);
        harness.answer_actor("think: hm");
        harness.answer_world(step_result("OK."));
    }
    let ended = harness.state().ended_episodes.first().unwrap();
    assert_eq!((ended.reason, harness.state().run_over), (EndReason::StepLimit, true));
}
