//! What a person changes by hand beside the lessons.

use super::fixture::{Bench, names, spec, turn};
use crate::engine::{Command, Event};

#[test]
fn a_run_is_changed_between_calls_only() {
    let mut bench = Bench::started(1, 50);
    bench.wish(Command::Step).unwrap();
    bench.world(turn("A room. Your task is to: rest."));
    let mut other = spec(1, 50);
    "other".clone_into(&mut other.method);
    let refused = bench.wish(Command::ChangeRun(Box::new(other.clone()))).unwrap_err();
    assert!(refused.why.contains("being asked"), "{refused:?}");
    bench.says("look");
    let events = bench.wish(Command::ChangeRun(Box::new(other.clone()))).unwrap();
    assert_eq!(names(&events), ["run_changed", "memory_set"]);
    assert_eq!(bench.state().run.as_deref(), Some(&other));
    assert!(bench.state().episode.as_ref().unwrap().assisted);
    assert!(bench.state().awaiting().is_some(), "the proposal still waits");
    let mut same_method = other.clone();
    "m".clone_into(&mut same_method.actor);
    let events = bench.wish(Command::ChangeRun(Box::new(same_method))).unwrap();
    assert!(matches!(events.as_slice(), [Event::RunChanged { .. }]), "its memory stays");
}
