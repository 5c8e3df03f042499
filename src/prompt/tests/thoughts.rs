//! How an override affects the thoughts before it in later prompts.

use super::*;
use crate::domain::{Autonomy, Step};

/// Plays a thought and a proposal, overrides the proposal, and returns the run with the next question open.
fn play_override(replies: &[&str], proposal: &str, fate: ThoughtDisposition) -> TestRun {
    let mut play = TestRun::new(test_spec("react", &[TASK]));
    let mut household = FakeHousehold::kitchen("put a hot apple in garbagecan");
    play.play_script(&mut household, replies);
    play.command(Command::SetAutonomy(Autonomy::Confirm));
    play.play_script(&mut household, &[proposal]);
    let action = "go to fridge 1".to_owned();
    play.command(Command::Override { action, shown_as: ShownAs::Own, thought_disposition: fate });
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

/// Regression: "Dropped" had no effect if the actor thinks in a step of its own.
#[test]
fn a_dropped_thought_of_a_step_of_its_own_leaves_the_prompt() {
    let replies = ["go to countertop 1", "think: apples are on countertops", "think: the second one, then"];
    for (fate, kept) in [
        (ThoughtDisposition::Kept, true),
        (ThoughtDisposition::Dropped, false),
        (ThoughtDisposition::Rewritten("Fridges hold food.".to_owned()), false),
    ] {
        let play = play_override(&replies, "go to countertop 2", fate.clone());
        let text = last_body(&play);
        assert!(text.contains("> go to fridge 1\n"), "{text}");
        for words in ["apples are on countertops", "the second one, then"] {
            assert_eq!(text.contains(words), kept, "{fate:?}: {words}");
        }
        assert_eq!(
            text.contains("> think: Fridges hold food.\n"),
            matches!(fate, ThoughtDisposition::Rewritten(_))
        );
        // The earlier step that acted stays, and the prompt that showed the thoughts is unchanged.
        assert!(text.contains("> go to countertop 1\n"));
        let asked = play.prompts.iter().rev().find(|(_, p)| p.step == 4).unwrap();
        assert!(body(play.state(), &asked.1).contains("apples are on countertops"));
        assert_eq!(steps(&play)[1].dropped_by, (!kept).then_some(4));
        check_all_hashes(&play).unwrap();
    }
}

/// Regression: a replaced thought appeared in the prompt as if the actor had written it.
#[test]
fn a_thought_that_was_replaced_was_never_said() {
    for fate in [ThoughtDisposition::Kept, ThoughtDisposition::Dropped] {
        let play = play_override(&["think: one", "go to countertop 1"], "think: the stove is hot", fate);
        let text = last_body(&play);
        assert!(!text.contains("the stove is hot"), "{text}");
        assert!(text.contains("> think: one\n"), "a thought before another action is not concerned");
        let step = &steps(&play)[2];
        assert_eq!(
            step.executed.as_ref().unwrap().thought_disposition,
            ThoughtDisposition::Dropped,
            "exports say so too"
        );
        assert_eq!(step.proposal_text().as_deref(), Some("think: the stove is hot"));
        check_all_hashes(&play).unwrap();
    }
}

/// A journal from before the field existed folds as it did then.
#[test]
fn an_override_without_the_field_drops_no_other_step() {
    let line = r#"{"type":"action_overridden","step":4,"was":"look","action":"go to fridge 1","shown_as":"own","thought":"dropped"}"#;
    let event: crate::engine::Event = serde_json::from_str(line).unwrap();
    assert!(matches!(event, crate::engine::Event::ActionOverridden { thoughts_from: None, .. }));
    assert_eq!(serde_json::to_string(&event).unwrap(), line);
}
