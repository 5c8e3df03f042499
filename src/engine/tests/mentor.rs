//! Questions to the mentor: rounds, failures, and a person's commands meanwhile.

use super::fixture::{TestEngine, event_names, step_result, won_result};
use crate::domain::{CallId, Purpose, Question, ReflectionKind, Usage};
use crate::engine::{Command, Effect, Event, Failure, Reply};

/// Returns a harness after two steps, with the round of two questions in flight.
fn with_question_round() -> TestEngine {
    let mut harness = TestEngine::with_mentor(1, 50);
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room. Your task is to: rest."));
    for action in ["look", "dance"] {
        harness.answer_actor(action);
        harness.answer_world(step_result("Fine."));
    }
    harness
}

fn open_questions(harness: &TestEngine) -> Vec<(CallId, ReflectionKind)> {
    let asks = harness.state().calls.values().filter_map(|c| match c {
        Effect::Ask { call, prompt } => Some((*call, prompt.question?.kind)),
        _ => None,
    });
    asks.collect()
}

fn answer_call(harness: &mut TestEngine, call: CallId, text: &str) -> Vec<Event> {
    let usage = Usage { prompt_tokens: 9, reply_tokens: 2, ..Usage::default() };
    harness.reply(Reply::Model {
        truncated: None,
        call,
        text: text.to_owned(),
        reasoning: String::new(),
        usage,
    })
}

fn fail_call(harness: &mut TestEngine, call: CallId) -> Vec<Event> {
    let failure = Failure {
        message: "gone".to_owned(),
        source: "mentor".to_owned(),
        hint: "retry".to_owned(),
        kind: None,
        partial_text: String::new(),
        usage: None,
    };
    harness.reply(Reply::Failed { call, failure })
}

#[test]
fn a_round_is_asked_at_once_and_the_actor_waits_for_all_of_it() {
    let mut harness = with_question_round();
    let round = open_questions(&harness);
    assert_eq!(
        round.iter().map(|q| q.1).collect::<Vec<_>>(),
        [ReflectionKind::Error, ReflectionKind::Abstract]
    );
    let defined = harness.journal.iter().filter(|e| matches!(e.event, Event::TextDefined { .. })).count();
    assert_eq!(defined, 1, "a text that two prompts of a round share is defined once");

    // The second reply arrives first.
    let events = answer_call(&mut harness, round[1].0, "Beds are soft.\nRooms have doors.");
    assert_eq!(event_names(&events), ["reply_received", "reflected", "lesson_changed", "lesson_changed"]);
    assert_eq!(open_questions(&harness).len(), 1);
    let events = answer_call(&mut harness, round[0].0, "Danced in vain.");
    assert_eq!(event_names(&events), ["reply_received", "reflected", "lesson_changed", "prompt_sent"]);

    let state = harness.state();
    let lessons: Vec<_> = state.pool.all().map(|l| (l.kind, l.text().text.as_str(), l.learnt_at)).collect();
    let at = (1, 2);
    assert_eq!(
        lessons,
        [
            (ReflectionKind::Abstract, "Beds are soft.", at),
            (ReflectionKind::Abstract, "Rooms have doors.", at),
            (ReflectionKind::Error, "Danced in vain.", at)
        ]
    );
    assert_eq!((state.usage.actor_calls, state.usage.mentor_calls, state.usage.mentor_tokens), (3, 2, 22));
    let step = state.episode.as_ref().unwrap().step(2).unwrap();
    assert_eq!(step.usage.prompt_tokens, 3, "the mentor's cost is not the step's");
    let ids: std::collections::BTreeSet<_> = state.pool.all().map(|l| l.id.clone()).collect();
    assert_eq!(ids.len(), 3, "every lesson has an id of its own");
}

#[test]
fn questions_are_asked_one_by_one_if_mentor_at_once_is_off() {
    let mut harness = TestEngine::with_mentor(1, 50);
    harness
        .command(Command::ChangeSetting { name: "mentor_at_once".to_owned(), value: false.into() })
        .unwrap();
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room."));
    for action in ["look", "dance"] {
        harness.answer_actor(action);
        harness.answer_world(step_result("Fine."));
    }
    assert_eq!(open_questions(&harness).len(), 1);
    let (call, _) = open_questions(&harness)[0];
    assert_eq!(
        event_names(&answer_call(&mut harness, call, ""))[2..],
        ["prompt_sent"],
        "an empty answer settles its question"
    );
    assert_eq!(open_questions(&harness)[0].1, ReflectionKind::Abstract);
}

#[test]
fn stepping_by_stages_shows_each_question_before_it_is_sent() {
    let mut harness = TestEngine::with_mentor(1, 50);
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room."));
    harness.answer_actor("look");
    harness.answer_world(step_result("Fine."));
    harness.command(Command::Pause).unwrap();
    harness.answer_actor("dance");
    harness.command(Command::StepStage).unwrap();
    harness.answer_world(step_result("Fine."));
    assert!(harness.state().is_waiting());
    for kind in [ReflectionKind::Error, ReflectionKind::Abstract] {
        harness.command(Command::StepStage).unwrap();
        assert_eq!(harness.state().draft.as_ref().unwrap().question, Some(Question::reflect(kind)));
        assert!(harness.state().is_waiting(), "the draft waits");
        harness.command(Command::StepStage).unwrap();
        let (call, open_kind) = open_questions(&harness)[0];
        assert_eq!(open_kind, kind);
        answer_call(&mut harness, call, "Well.");
        assert!(harness.state().is_waiting(), "{kind:?}");
    }
}

#[test]
fn all_failed_questions_of_a_round_are_retried() {
    let mut harness = with_question_round();
    let round = open_questions(&harness);
    fail_call(&mut harness, round[0].0);
    assert_eq!(open_questions(&harness).len(), 1, "the other one is still awaited");
    fail_call(&mut harness, round[1].0);
    assert!(harness.state().is_waiting());
    assert_eq!(harness.state().failed_calls().count(), 2);
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["retried", "retried"]);
    assert_eq!(open_questions(&harness), round);
    assert_eq!(harness.state().failed_calls().count(), 0);
}

#[test]
fn giving_up_a_failed_question_records_the_reason() {
    let mut harness = with_question_round();
    let round = open_questions(&harness);
    fail_call(&mut harness, round[0].0);
    answer_call(&mut harness, round[1].0, "Beds are soft.");
    assert!(harness.command(Command::Step).is_err(), "the failed call comes first");
    assert_eq!(event_names(&harness.command(Command::GiveUp).unwrap()), ["given_up", "reflected"]);
    let skipped = harness.state().reflections.last().unwrap().clone();
    assert!(skipped.items.is_empty() && skipped.complaints[0].contains("gone"), "{skipped:?}");
    assert!(harness.state().episode.as_ref().unwrap().assisted);
    assert_eq!(
        event_names(&harness.command(Command::Run).unwrap()),
        ["resumed", "prompt_sent"],
        "the agent continues"
    );
}

#[test]
fn after_giving_up_an_actors_failed_call_a_person_can_act() {
    let mut harness = TestEngine::with_mentor(1, 50);
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room."));
    let (call, _) = harness.first_call().unwrap();
    fail_call(&mut harness, call);
    assert_eq!(event_names(&harness.command(Command::GiveUp).unwrap()), ["given_up"]);
    let events = harness.command(Command::Act("sleep".to_owned())).unwrap();
    assert_eq!(event_names(&events), ["action_overridden", "step_granted", "action_taken"]);
}

#[test]
fn a_cancelled_question_is_asked_again_and_its_late_answer_is_ignored() {
    let mut harness = with_question_round();
    let round = open_questions(&harness);
    harness.command(Command::Cancel).unwrap();
    assert!(harness.state().calls.is_empty());
    assert!(answer_call(&mut harness, round[0].0, "Too late.").is_empty());
    harness.command(Command::Run).unwrap();
    let again = open_questions(&harness);
    assert_eq!(again.len(), 2);
    assert!(again[0].0 > round[1].0, "a new call");
}

/// Regression: a cancelled question could only be asked again; continuing without it was impossible.
#[test]
fn cancelled_questions_can_be_given_up() {
    let mut harness = with_question_round();
    assert!(harness.command(Command::GiveUp).is_err(), "no call has failed or been cancelled yet");
    let round = open_questions(&harness);
    answer_call(&mut harness, round[0].0, "Beds are soft.");
    harness.command(Command::Cancel).unwrap();
    assert_eq!(harness.state().cancelled_calls.len(), 1, "the answered question isn't cancelled");
    assert_eq!(event_names(&harness.command(Command::GiveUp).unwrap()), ["given_up", "reflected"]);
    let skipped = harness.state().reflections.last().unwrap().clone();
    assert!(skipped.items.is_empty() && skipped.complaints[0].contains("cancelled"), "{skipped:?}");
    assert!(harness.state().cancelled_calls.is_empty() && harness.command(Command::GiveUp).is_err());
    assert_eq!(
        event_names(&harness.command(Command::Run).unwrap()),
        ["resumed", "prompt_sent"],
        "the agent continues"
    );

    let mut harness = with_question_round();
    harness.command(Command::Cancel).unwrap();
    assert_eq!(harness.state().cancelled_calls.len(), 2);
    harness.command(Command::Run).unwrap();
    assert!(harness.state().cancelled_calls.is_empty(), "they are asked again");
    assert!(harness.command(Command::GiveUp).is_err());
}

/// Regression: giving up after a change of method added the old method's reflections to the new one's run.
#[test]
fn cancelled_questions_do_not_outlive_a_change_of_the_run() {
    let mut harness = with_question_round();
    harness.command(Command::Cancel).unwrap();
    let mut other = harness.state().run.as_deref().cloned().unwrap();
    "other".clone_into(&mut other.method);
    harness.command(Command::ChangeRun(Box::new(other))).unwrap();
    assert!(harness.state().cancelled_calls.is_empty());
    assert!(harness.command(Command::GiveUp).is_err());
}

#[test]
fn a_person_asks_the_mentor_while_a_proposal_waits() {
    let mut harness = TestEngine::with_mentor(1, 50);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room."));
    harness.answer_actor("look");
    harness.command(Command::Reflect(ReflectionKind::Error)).unwrap();
    let (call, _) = open_questions(&harness)[0];
    assert!(harness.command(Command::Reflect(ReflectionKind::Error)).is_err(), "one at a time");
    answer_call(&mut harness, call, "Looked too long.");
    assert_eq!(
        harness.state().step_awaiting_decision().unwrap().proposed.as_deref(),
        Some("look"),
        "the proposal still waits"
    );
    assert!(harness.state().episode.as_ref().unwrap().assisted);
}

#[test]
fn a_question_after_an_episode_counts_for_that_episode() {
    let mut harness = TestEngine::with_mentor(2, 50);
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room."));
    harness.answer_actor("rest");
    harness.answer_world(won_result("You rest."));
    let (call, kind) = open_questions(&harness)[0];
    assert_eq!(kind, ReflectionKind::Plan);
    answer_call(&mut harness, call, "Rest at once.");
    let past = harness.state().ended_episodes.get(0).unwrap();
    assert_eq!((past.calls, past.tokens), (2, 4 + 11));
    let plan = harness.state().reflections.last().unwrap();
    assert_eq!((plan.episode, plan.step, plan.purpose), (1, 1, Purpose::Reflect));
}

/// Returns a harness with the first question's prompt drafted.
fn with_draft() -> TestEngine {
    let mut harness = TestEngine::with_mentor(1, 50);
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room."));
    harness.answer_actor("look");
    harness.answer_world(step_result("Fine."));
    harness.command(Command::Pause).unwrap();
    harness.answer_actor("dance");
    harness.command(Command::StepStage).unwrap();
    harness.answer_world(step_result("Fine."));
    harness.command(Command::StepStage).unwrap();
    harness
}

#[test]
fn an_edited_draft_is_sent_as_edited() {
    let mut harness = with_draft();
    let before = harness.state().draft.clone().unwrap();
    assert!(!harness.state().open_episode().unwrap().assisted);
    let edit = |segment, text: &str| Command::EditPrompt { call: None, segment, text: text.to_owned() };
    assert_eq!(
        event_names(&harness.command(edit(0, "Be brief.")).unwrap()),
        ["text_defined", "prompt_drafted"]
    );
    let state = harness.state();
    assert!(
        state.open_episode().unwrap().assisted && state.is_waiting(),
        "the draft still waits, and the episode is assisted"
    );
    let draft = state.draft.clone().unwrap();
    assert!(draft.edited && draft.call == before.call && draft.sha256 != before.sha256);
    assert_eq!(harness.command(edit(0, "Be brief.")).unwrap(), [], "the same text changes nothing");
    assert!(harness.command(edit(9, "x")).unwrap_err().message.contains("no such segment"));

    harness.command(Command::StepStage).unwrap();
    let (call, _) = open_questions(&harness)[0];
    let Some(Effect::Ask { prompt, .. }) = harness.state().calls.get(&call) else { panic!("it was sent") };
    assert_eq!(**prompt, *draft);
    answer_call(&mut harness, call, "Danced in vain.");
    let lesson = harness.state().pool.all().next().unwrap();
    assert!(lesson.edited_by_person, "a lesson from an edited prompt counts as edited by a person");
}

#[test]
fn sent_prompts_cannot_be_edited_and_a_new_lesson_discards_the_draft() {
    let mut harness = with_draft();
    harness.command(Command::EditPrompt { call: None, segment: 0, text: "Be brief.".to_owned() }).unwrap();
    let command = crate::engine::LessonCommand::add(
        ReflectionKind::Error,
        ReflectionKind::Error.default_scope(),
        crate::domain::LessonText::plain("No dancing."),
        String::new(),
    );
    harness.command(Command::Lesson(command)).unwrap();
    assert!(harness.state().draft.is_none());
    let error =
        harness.command(Command::EditPrompt { call: None, segment: 0, text: "x".to_owned() }).unwrap_err();
    assert!(error.hint.contains("one stage"), "{error:?}");
    harness.command(Command::StepStage).unwrap();
    assert!(!harness.state().draft.as_ref().unwrap().edited);
}

/// The prompt of each failed call can be edited before it is retried.
#[test]
fn the_prompt_of_a_failed_call_is_edited_and_retried() {
    let mut harness = with_question_round();
    let round = open_questions(&harness);
    for (call, _) in &round {
        fail_call(&mut harness, *call);
    }
    let [(first, _), (second, _)] = round[..] else { panic!("two questions") };
    let sent = harness.state().waiting_prompt(second).cloned().unwrap();
    let edit = |call, text: &str| Command::EditPrompt { call, segment: 0, text: text.to_owned() };
    harness.command(edit(Some(second), "Be brief.")).unwrap();
    let edited_prompt = harness.state().waiting_prompt(second).cloned().unwrap();
    assert!(edited_prompt.edited && edited_prompt.sha256 != sent.sha256 && harness.state().draft.is_none());
    assert_eq!(harness.state().failed_calls().count(), 2, "both still wait for a decision");
    assert!(harness.state().open_episode().unwrap().assisted);
    let error = harness.command(Command::RetryFromRecording("cache".to_owned())).unwrap_err();
    assert!(error.message.contains("an edited prompt"), "{error:?}");
    harness.command(Command::Undo).unwrap();
    assert_eq!(harness.state().waiting_prompt(second), Some(&sent));
    harness.command(Command::Redo).unwrap();
    assert_eq!(harness.state().waiting_prompt(second), Some(&edited_prompt));
    // Another model gets the person's edit too.
    let spec = harness.state().run.as_deref().cloned().unwrap();
    let other = crate::engine::with_model(&spec, crate::domain::ModelRole::Mentor, "openai:other");
    harness.command(Command::ChangeRun(Box::new(other))).unwrap();
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["retried", "prompt_sent"]);
    assert_eq!(open_questions(&harness).iter().map(|q| q.0).collect::<Vec<_>>(), [first, second]);
    let Some(Effect::Ask { prompt, .. }) = harness.state().calls.get(&second) else { panic!("it was sent") };
    assert_eq!(*prompt, edited_prompt);
    assert!(harness.state().failed_call.is_none());
    // It fails once more, and is retried unchanged.
    fail_call(&mut harness, second);
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["retried"]);
    answer_call(&mut harness, first, "Rested.");
    answer_call(&mut harness, second, "Danced in vain.");
    let edited: Vec<bool> = harness.state().pool.all().map(|l| l.edited_by_person).collect();
    assert_eq!(edited.iter().filter(|edited| **edited).count(), 1, "the one from the edited prompt");
}

#[test]
fn the_actors_failed_prompt_is_edited_without_stepping_by_stages() {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room. Your task is to: rest."));
    let call = *harness.state().calls.keys().next().unwrap();
    fail_call(&mut harness, call);
    let calls = harness.state().open_episode().unwrap().calls;
    harness.command(Command::EditPrompt { call: None, segment: 0, text: "Be brief.".to_owned() }).unwrap();
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["prompt_sent"]);
    harness.answer_actor("look");
    let state = harness.state();
    let step = state.last_step().unwrap();
    assert_eq!((step.number, step.proposed.as_deref()), (1, Some("look")), "no step is lost");
    assert_eq!(state.open_episode().unwrap().calls, calls, "the same call");
    let (last, previous) = (state.actor_prompts.0.as_ref().unwrap(), state.actor_prompts.1.as_ref().unwrap());
    assert!(last.edited && !previous.edited && last.call == previous.call);
}
