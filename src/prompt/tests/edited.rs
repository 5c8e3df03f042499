//! Edits by a person to a drafted prompt.

use super::{TASK, add_lesson};
use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{LessonText, ReflectionKind};
use crate::engine::{Command, State};
use crate::prompt::{body_hash, edit_segment, render, text_hash};
use std::sync::Arc;

/// Returns a prompt with lessons, steps and two rejections, and the state in which it was sent.
fn sent_prompt() -> (State, crate::domain::PromptRecord) {
    let mut play = TestRun::new(test_spec("omnireflect", &[TASK]));
    let mut household = FakeHousehold::kitchen("put a hot apple in garbagecan");
    play.command(add_lesson(
        ReflectionKind::Error,
        LessonText::error("It was cold.", "Heat food in a microwave only."),
    ));
    play.play_script(
        &mut household,
        &["think: apples", "go to countertop 2", "take apple 1 from countertop 2"],
    );
    play.command(Command::SetAutonomy(crate::domain::Autonomy::Confirm));
    for (proposal, reason) in [("look", "you have looked"), ("inventory", "you know that")] {
        play.play_script(&mut household, &[proposal]);
        play.command(Command::Reject(reason.to_owned()));
    }
    play.play_script(&mut household, &["look"]);
    let (state, record) = play.prompts.last().unwrap();
    (state.clone(), record.clone())
}

#[test]
fn editing_a_segment_changes_only_that_segment() {
    let (state, record) = sent_prompt();
    let before = render(&state, &record);
    assert!(before.segments.len() > 12);
    for index in 0..before.segments.len() {
        let draft = edit_segment(&state, &record, index, "Other words.").unwrap();
        let mut after = state.clone();
        for (hash, text) in &draft.texts {
            assert_eq!(*hash, text_hash(text));
            assert!(!state.texts.contains_key(hash), "only new texts are defined");
            after.texts.insert_mut(hash.clone(), Arc::from(text.as_str()));
        }
        let edited = render(&after, &draft.record);
        assert_eq!(body_hash(&edited), draft.record.sha256);
        assert!(draft.record.edited);
        let texts = |p: &crate::domain::Prompt| p.segments.iter().map(|s| s.text.clone()).collect::<Vec<_>>();
        let (old, new) = (texts(&before), texts(&edited));
        assert_eq!(old.len(), new.len(), "segment {index}");
        for (n, (old, new)) in old.iter().zip(&new).enumerate() {
            assert_eq!(n == index, old != new, "segment {n} where {index} was edited: {old:?}, {new:?}");
        }
        assert_eq!(new[index].trim_matches('\n'), "Other words.");
        let line_breaks = |t: &str| (t.starts_with('\n'), t.ends_with('\n'));
        if !old[index].trim_matches('\n').is_empty() {
            assert_eq!(line_breaks(&new[index]), line_breaks(&old[index]), "the line breaks around it stay");
        }
        let roles = |p: &crate::domain::Prompt| {
            p.segments.iter().map(|s| (s.label, s.message_role)).collect::<Vec<_>>()
        };
        assert_eq!(roles(&before), roles(&edited));
    }
    assert!(edit_segment(&state, &record, before.segments.len(), "x").is_none());
}

/// A second edit starts from the edited prompt, and the same text gives the same prompt.
#[test]
fn an_edited_prompt_can_be_edited_again() {
    let (state, record) = sent_prompt();
    let first = edit_segment(&state, &record, 0, "First.").unwrap();
    let mut after = state.clone();
    for (hash, text) in first.texts {
        after.texts.insert_mut(hash, Arc::from(text));
    }
    let second = edit_segment(&after, &first.record, 0, "Second.").unwrap();
    assert_ne!(second.record.sha256, first.record.sha256);
    assert_eq!(second.record.segments.len(), record.segments.len());
    let again = edit_segment(&after, &first.record, 0, "First.").unwrap();
    assert_eq!((again.record.sha256, again.texts), (first.record.sha256, Vec::new()));
}
