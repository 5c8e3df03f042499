//! How episodes come to an end.

use super::fixture::{TestEngine, run_spec, step_result};
use crate::domain::EndReason;
use crate::engine::Command;

#[test]
fn an_actor_that_only_thinks_comes_to_an_end_where_thoughts_do_not_count() {
    let mut run = run_spec(1, 2);
    run.settings.set("thoughts_count", false, crate::domain::SettingOrigin::Flag);
    let mut bench = TestEngine::with_spec(run);
    bench.command(Command::Run).unwrap();
    bench.answer_world(step_result("A room."));
    for _ in 0..8 {
        assert!(!bench.state().run_over);
        bench.answer_actor("think: hm");
        bench.answer_world(step_result("OK."));
    }
    let ended = bench.state().ended_episodes.first().unwrap();
    assert_eq!((ended.reason, bench.state().run_over), (EndReason::StepLimit, true));
}
