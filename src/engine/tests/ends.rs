//! How episodes come to an end.

use super::fixture::{Bench, spec, turn};
use crate::domain::EndReason;
use crate::engine::Command;

#[test]
fn an_actor_that_only_thinks_comes_to_an_end_where_thoughts_do_not_count() {
    let mut run = spec(1, 2);
    run.settings.set("thoughts_count", false, crate::domain::SettingOrigin::Flag);
    let mut bench = Bench::with(run);
    bench.wish(Command::Run).unwrap();
    bench.world(turn("A room."));
    for _ in 0..8 {
        assert!(!bench.state().over);
        bench.says("think: hm");
        bench.world(turn("OK."));
    }
    let ended = bench.state().past.first().unwrap();
    assert_eq!((ended.reason, bench.state().over), (EndReason::StepLimit, true));
}
