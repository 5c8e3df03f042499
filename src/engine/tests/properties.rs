//! Properties that hold after any sequence of inputs.

use super::fixture::{Harness, spec_with_tasks, step_result, won_result};
use crate::domain::{
    Autonomy, BranchId, CallId, LessonStatus, LessonText, ReflectionKind, RunSpec, Scope, ShownAs,
    ThoughtDisposition, Usage,
};
use crate::engine::{
    Command, Effect, Engine, Envelope, Event, Failure, LessonCommand, Reply, State, effect_of,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub(super) enum TestInput {
    Command(Command),
    /// Answers the call in flight with this index. If there is none, sends a reply to a call that doesn't exist.
    Answer {
        index: u8,
        /// 5 fails the call. 4 wins the episode if the call is to the environment. Other numbers select the text of
        /// the reply.
        variant: u8,
    },
    /// Changes the lesson pool.
    Lesson {
        /// 1 edits a lesson, 2 disables it, 3 moves it; anything else adds one.
        change: u8,
        /// The lesson's index in the pool. If there is none, a lesson is added.
        index: u8,
    },
}

pub(super) fn test_inputs() -> impl Strategy<Value = TestInput> {
    let command = prop_oneof![
        Just(Command::Step),
        Just(Command::StepStage),
        Just(Command::Run),
        Just(Command::Pause),
        Just(Command::Approve),
        Just(Command::Cancel),
        Just(Command::AskAgain),
        Just(Command::Retry),
        Just(Command::GiveUp),
        Just(Command::Reflect(ReflectionKind::Error)),
        Just(Command::Undo),
        Just(Command::ApplySummary { refused: vec![0] }),
        Just(Command::Redo),
        (1u32..4, 0u8..3)
            .prop_map(|(step, n)| Command::EditThought { step, text: "hm".repeat(usize::from(n)) }),
        (1u32..4, 0u8..3)
            .prop_map(|(step, n)| Command::EditObservation { step, text: "oh".repeat(usize::from(n)) }),
        (0u32..4)
            .prop_map(|n| Command::ChangeSetting { name: "max_steps".to_owned(), value: (n + 4).into() }),
        Just(Command::EditPrompt { call: None, segment: 0, text: "other".to_owned() }),
        Just(Command::Reject("no".to_owned())),
        Just(Command::Act("dance".to_owned())),
        Just(Command::Override {
            action: "jump".to_owned(),
            shown_as: ShownAs::AgentAction,
            thought_disposition: ThoughtDisposition::Kept
        }),
        Just(Command::SetAutonomy(Autonomy::Auto)),
        Just(Command::SetAutonomy(Autonomy::Confirm)),
        Just(Command::SetAutonomy(Autonomy::Human)),
        Just(Command::Remark { episode: None, step: 1, text: "odd".to_owned() }),
        Just(Command::SetBreakpoint { text: "proposed".to_owned(), replaces: None }),
        Just(Command::SetBreakpoint { text: "warn observed".to_owned(), replaces: None }),
        Just(Command::SetBreakpoint { text: "once prompt_sent".to_owned(), replaces: Some(1) }),
        Just(Command::SwitchBreakpoint { breakpoint: 1, enabled: false }),
        Just(Command::RemoveBreakpoint(2)),
        Just(Command::EndEpisode(crate::domain::EndReason::Person)),
        Just(Command::Close),
        Just(Command::Reopen),
    ];
    prop_oneof![
        3 => command.prop_map(TestInput::Command),
        6 => (0u8..3, 0u8..6).prop_map(|(index, variant)| TestInput::Answer { index, variant }),
        1 => (0u8..4, 0u8..3).prop_map(|(change, index)| TestInput::Lesson { change, index }),
    ]
}

/// Applies an input. Commands may fail.
pub(super) fn apply_input(harness: &mut Harness, input: &TestInput) {
    match input {
        TestInput::Command(command) => drop(harness.command(command.clone())),
        TestInput::Lesson { change, index } => {
            let command =
                match (change, harness.state().pool.all().nth(usize::from(*index)).map(|l| l.id.clone())) {
                    (1, Some(id)) => LessonCommand::Edit { id, text: LessonText::plain("other") },
                    (2, Some(id)) => LessonCommand::Status { id, status: LessonStatus::Off },
                    (3, Some(id)) => LessonCommand::Move { id, to: 0 },
                    _ => LessonCommand::add(
                        ReflectionKind::Abstract,
                        Scope::Episode,
                        LessonText::plain("a"),
                        String::new(),
                    ),
                };
            drop(harness.command(Command::Lesson(command)));
        }
        TestInput::Answer { index, variant } => {
            let in_flight: Vec<(CallId, Effect)> =
                harness.state().calls.iter().map(|(call, effect)| (*call, effect.clone())).collect();
            let Some((call, effect)) = in_flight.get(usize::from(*index)) else {
                let before = harness.state().clone();
                let events = harness.reply(Reply::World {
                    call: CallId(9999),
                    result: Box::new(step_result("stale")),
                    admissible: Vec::new(),
                });
                assert!(events.is_empty(), "a reply to a call that isn't in flight is ignored");
                assert_eq!(&before, harness.state());
                return;
            };
            let reply = if *variant == 5 {
                let failure = Failure {
                    message: "x".to_owned(),
                    source: "y".to_owned(),
                    hint: "z".to_owned(),
                    kind: None,
                    partial_text: String::new(),
                    usage: None,
                };
                Reply::Failed { call: *call, failure }
            } else if matches!(effect, Effect::Ask { .. }) {
                let text = ["look", "think: hm", "", "go"][usize::from(variant % 4)].to_owned();
                Reply::Model {
                    tool_calls: Vec::new(),
                    truncated: None,
                    call: *call,
                    text,
                    reasoning: String::new(),
                    usage: Usage::default(),
                }
            } else {
                let result = if *variant == 4 {
                    won_result("You win.")
                } else {
                    step_result(["Fine.", "Nothing happens."][usize::from(variant % 2)])
                };
                Reply::World { call: *call, result: Box::new(result), admissible: Vec::new() }
            };
            harness.reply(reply);
        }
    }
}

fn fold(journal: &[Envelope]) -> State {
    let mut state = State::default();
    for envelope in journal {
        state.apply(envelope);
    }
    state
}

/// Returns a run that is short enough for random inputs to end its episodes.
pub(super) fn short_run() -> RunSpec {
    let mut spec = spec_with_tasks(2);
    spec.limits.steps = 6;
    spec
}

/// Starts a short run with a method that asks only the actor or, if `has_mentor`, also a mentor.
pub(super) fn start_short_run(has_mentor: bool) -> Harness {
    if has_mentor { Harness::with_mentor(short_run()) } else { Harness::with_spec(short_run()) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn folding_the_serialized_journal_gives_the_live_state(
        inputs in prop::collection::vec(test_inputs(), 1..60), has_mentor: bool,
    ) {
        let mut harness = start_short_run(has_mentor);
        for input in &inputs {
            apply_input(&mut harness, input);
        }
        let journal: Vec<Envelope> = harness
            .journal
            .iter()
            .map(|e| serde_json::from_str(&serde_json::to_string(e).unwrap()).unwrap())
            .collect();
        let folded = fold(&journal);
        prop_assert_eq!(&folded, harness.state());
        let restored: State = serde_json::from_str(&serde_json::to_string(&folded).unwrap()).unwrap();
        prop_assert_eq!(&restored, harness.state());
    }

    #[test]
    fn call_ids_are_never_used_twice(inputs in prop::collection::vec(test_inputs(), 1..60), has_mentor: bool) {
        let mut harness = start_short_run(has_mentor);
        for input in &inputs {
            apply_input(&mut harness, input);
        }
        let (mut seen, mut failed) = (BTreeSet::new(), BTreeSet::new());
        for envelope in &harness.journal {
            if let Event::CallFailed { call, .. } = &envelope.event {
                failed.insert(*call);
            }
            match effect_of(&envelope.event) {
                Some(Effect::Cancel { .. }) | None => {}
                // A failed call that is retried keeps its id; its first request gets no more replies.
                Some(effect) => prop_assert!(
                    seen.insert(effect.call()) || failed.remove(&effect.call()),
                    "call id {} was used twice",
                    effect.call()
                ),
            }
        }
    }

    /// After a crash that leaves any number of whole batches in the journal, the session can be resumed and run to its
    /// end.
    #[test]
    fn a_session_that_crashed_after_any_batch_can_be_resumed_and_finished(
        inputs in prop::collection::vec(test_inputs(), 1..40), kept in 0usize..200, has_mentor: bool,
    ) {
        let mut harness = start_short_run(has_mentor);
        for input in &inputs {
            apply_input(&mut harness, input);
        }
        // The number of events left: whole batches, and at least the first event.
        let mut kept = kept.min(harness.journal.len()).max(1);
        while kept > 1 && harness.journal[kept - 1].batch_continues {
            kept -= 1;
        }
        let state = fold(&harness.journal[..kept]);
        let policy = harness.engine.policy.clone();
        let mut harness = Harness {
            engine: Engine::resume(state, policy, BranchId::trunk()),
            journal: harness.journal[..kept].to_vec(),
            timestamp: harness.timestamp,
        };
        harness.command(Command::Reopen).unwrap();
        // Fails if no call waits to be retried.
        let _ = harness.command(Command::Retry);
        // Breakpoints would pause the run before its end.
        for breakpoint in harness.state().breakpoints.all.iter().map(|b| b.number).collect::<Vec<_>>() {
            harness.command(Command::RemoveBreakpoint(breakpoint)).unwrap();
        }
        harness.command(Command::SetAutonomy(Autonomy::Auto)).unwrap();
        let _ = harness.command(Command::Run);
        for _ in 0..200 {
            if harness.state().run_over {
                break;
            }
            prop_assert!(!harness.state().calls.is_empty(), "the run doesn't continue: {:?}", harness.state());
            apply_input(&mut harness, &TestInput::Answer { index: 0, variant: 0 });
        }
        prop_assert!(harness.state().run_over);
    }
}
