//! How an override affects the thoughts before it in later prompts.

use super::*;
use crate::domain::{Autonomy, Step};

/// Plays `replies` and `proposal`, overrides the proposal, and returns the run at the actor's next prompt.
fn play_override(replies: &[&str], proposal: &str, disposition: ThoughtDisposition) -> TestRun {
    let mut play = TestRun::new(test_spec("react", &[TASK]));
    let mut household = FakeHousehold::kitchen("put a hot apple in garbagecan");
    play.play_script(&mut household, replies);
    play.command(Command::SetAutonomy(Autonomy::Confirm));
    play.play_script(&mut household, &[proposal]);
    let action = "go to fridge 1".to_owned();
    play.command(Command::Override {
        action,
        shown_as: ShownAs::AgentAction,
        thought_disposition: disposition,
    });
    play.play_script(&mut household, &[]);
    play
}

fn last_body(play: &TestRun) -> String {
    let (state, record) = play.prompts.last().unwrap();
    body(state, record)
}

fn steps(play: &TestRun) -> Vec<Step> {
    play.state().episode.as_ref().unwrap().steps.iter().map(|s| (**s).clone()).collect()
}

/// Regression: dropping a thought had no effect if it was a step of its own.
#[test]
fn dropping_thoughts_also_removes_thought_only_steps() {
    let replies = ["go to countertop 1", "think: apples are on countertops", "think: the second one, then"];
    for (disposition, kept) in [
        (ThoughtDisposition::Kept, true),
        (ThoughtDisposition::Dropped, false),
        (ThoughtDisposition::Rewritten("Fridges hold food.".to_owned()), false),
    ] {
        let play = play_override(&replies, "go to countertop 2", disposition.clone());
        let text = last_body(&play);
        assert!(text.contains("> go to fridge 1\n"), "{text}");
        for thought in ["apples are on countertops", "the second one, then"] {
            assert_eq!(text.contains(thought), kept, "{disposition:?}: {thought}");
        }
        assert_eq!(
            text.contains("> think: Fridges hold food.\n"),
            matches!(disposition, ThoughtDisposition::Rewritten(_))
        );
        // The earlier step with an action stays, and the prompt that showed the thoughts is unchanged.
        assert!(text.contains("> go to countertop 1\n"));
        let earlier = play.prompts.iter().rev().find(|(_, p)| p.step == 4).unwrap();
        assert!(body(play.state(), &earlier.1).contains("apples are on countertops"));
        assert_eq!(steps(&play)[1].dropped_by, (!kept).then_some(4));
        check_all_hashes(&play).unwrap();
    }
}

/// Regression: an overridden thought still appeared in later prompts.
#[test]
fn an_overridden_thought_is_not_in_later_prompts() {
    for disposition in [ThoughtDisposition::Kept, ThoughtDisposition::Dropped] {
        let play =
            play_override(&["think: one", "go to countertop 1"], "think: the stove is hot", disposition);
        let text = last_body(&play);
        assert!(!text.contains("the stove is hot"), "{text}");
        assert!(text.contains("> think: one\n"), "an earlier thought is not affected");
        let step = &steps(&play)[2];
        assert_eq!(
            step.executed.as_ref().unwrap().thought_disposition,
            ThoughtDisposition::Dropped,
            "exports read this field"
        );
        assert_eq!(step.proposal_text().as_deref(), Some("think: the stove is hot"));
        check_all_hashes(&play).unwrap();
    }
}

/// Journals written before `thoughts_from` existed fold as before.
#[test]
fn an_override_without_thoughts_from_drops_no_other_step() {
    let line = r#"{"type":"action_overridden","step":4,"was":"look","action":"go to fridge 1","shown_as":"own","thought":"dropped"}"#;
    let event: crate::engine::Event = serde_json::from_str(line).unwrap();
    assert!(matches!(event, crate::engine::Event::ActionOverridden { thoughts_from: None, .. }));
    assert_eq!(serde_json::to_string(&event).unwrap(), line);
}
