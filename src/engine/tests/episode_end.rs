//! The limit on episodes in which the actor only thinks.

use super::fixture::{Harness, spec_with_tasks, step_result};
use crate::domain::{EndReason, LOST_BECAUSE, StepResult};
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

/// The environment keeps a picture of the end, so it must learn of the last step before it executes it.
#[test]
fn the_last_step_that_a_limit_allows_is_known_before_it_is_executed() {
    // The limits of steps and moves, whether thoughts count, whether repetitions end the episode; the actor's replies to its end.
    let cases: [(_, _, _, &[&str]); 5] = [
        ((2, None), true, false, &["think: hm", "look"]),
        ((2, None), false, false, &["think: hm", "look", "think: hm", "go"]),
        ((1, None), false, false, &["think: a", "think: b", "think: c", "think: d"]),
        ((9, Some(2)), true, false, &["look", "think: hm", "look"]),
        ((9, None), true, true, &["go", "look", "look"]),
    ];
    for (limits, thoughts_count, loop_detector, replies) in cases {
        let mut spec = spec_with_tasks(1);
        ((spec.limits.steps, spec.limits.moves), spec.loop_detector) = (limits, loop_detector);
        spec.settings.set("thoughts_count", thoughts_count, crate::domain::SettingOrigin::Flag);
        let mut harness = Harness::with_spec(spec);
        harness.command(Command::Run).unwrap();
        harness.reply_as_env(step_result("A room."));
        for (index, reply) in replies.iter().enumerate() {
            harness.reply_as_actor(reply);
            let is_last = harness.state().is_last_step_allowed();
            harness.reply_as_env(step_result("OK."));
            assert_eq!(is_last, index + 1 == replies.len(), "{limits:?}: {reply}");
            assert_eq!(is_last, harness.state().run_over, "{limits:?}: {reply}");
        }
    }
}

/// Regression: a wrong answer was "ended by the environment".
#[test]
fn an_episode_that_its_environment_ends_as_lost_says_why_in_its_words() {
    let long = "x ".repeat(99);
    for (words, is_over, verdict) in [
        ("wrong answer", true, "lost (wrong answer)"),
        ("wrong\u{1b}[31m\n answer", true, "lost (wrong[31m answer)"),
        ("", true, "lost (ended by the environment)"),
        (long.as_str(), true, &format!("lost ({})", &long[..60])),
        // It ended for another reason.
        ("wrong answer", false, "lost (step limit)"),
    ] {
        let mut spec = spec_with_tasks(1);
        spec.limits.steps = 1;
        let mut harness = Harness::with_spec(spec);
        harness.command(Command::Run).unwrap();
        harness.reply_as_env(step_result("A question."));
        harness.reply_as_actor("answer");
        let shown = serde_json::json!({ LOST_BECAUSE: words });
        harness.reply_as_env(StepResult { done: is_over, shown, ..step_result("No.") });
        let ended = harness.state().ended_episodes.first().unwrap();
        assert_eq!(ended.verdict(), verdict);
    }
}
