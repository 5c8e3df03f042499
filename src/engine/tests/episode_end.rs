//! The limit on episodes in which the actor only thinks.

use super::fixture::{Harness, spec_with_tasks, step_result};
use crate::domain::EndReason;
use crate::engine::Command;

#[test]
fn an_actor_that_only_thinks_reaches_a_limit_even_if_thoughts_do_not_count() {
    let mut spec = spec_with_tasks(1);
    spec.limits.steps = 2;
    spec.settings.set("thoughts_count", false, crate::domain::SettingOrigin::Flag);
    let mut harness = Harness::with_spec(spec);
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room."));
    // With thoughts that don't count, an episode still has at most four times the step limit, here 8.
    for _ in 0..8 {
        assert!(!harness.state().run_over);
        harness.reply_as_actor("think: hm");
        harness.reply_as_env(step_result("OK."));
    }
    let ended = harness.state().ended_episodes.first().unwrap();
    assert_eq!((ended.reason, harness.state().run_over), (EndReason::StepLimit, true));
}
