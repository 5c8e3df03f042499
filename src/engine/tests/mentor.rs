//! Questions to the mentor: rounds of questions, failed and cancelled calls, and commands that a person gives
//! meanwhile.

use super::fixture::{Harness, event_names, sample_failure, spec_with_tasks, step_result, won_result};
use crate::domain::{CallId, LessonText, Purpose, Question, ReflectionKind, Scope, Usage};
use crate::engine::{Command, Effect, Event, LessonCommand, Reply};

/// Returns a harness after two steps, with a round of two questions to the mentor in flight: Error and Abstract.
fn with_question_round() -> Harness {
    let mut harness = Harness::with_mentor(spec_with_tasks(1));
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    for action in ["look", "dance"] {
        harness.reply_as_actor(action);
        harness.reply_as_env(step_result("Fine."));
    }
    harness
}

/// Returns the call and the kind of each question in flight.
fn questions_in_flight(harness: &Harness) -> Vec<(CallId, ReflectionKind)> {
    let questions = harness.state().calls.values().filter_map(|c| match c {
        Effect::Ask { call, prompt } => Some((*call, prompt.question?.kind)),
        _ => None,
    });
    questions.collect()
}

fn answer_call(harness: &mut Harness, call: CallId, text: &str) -> Vec<Event> {
    let usage = Usage { prompt_tokens: 9, reply_tokens: 2, ..Usage::default() };
    harness.reply(Reply::Model {
        tool_calls: Vec::new(),
        truncated: None,
        call,
        text: text.to_owned(),
        reasoning: String::new(),
        usage,
    })
}

fn fail_call(harness: &mut Harness, call: CallId) -> Vec<Event> {
    harness.reply(Reply::Failed { call, failure: sample_failure() })
}

#[test]
fn a_round_is_asked_at_once_and_the_actor_waits_for_all_replies() {
    let mut harness = with_question_round();
    let round = questions_in_flight(&harness);
    assert_eq!(
        round.iter().map(|q| q.1).collect::<Vec<_>>(),
        [ReflectionKind::Error, ReflectionKind::Abstract]
    );
    let defined = harness.journal.iter().filter(|e| matches!(e.event, Event::TextDefined { .. })).count();
    assert_eq!(defined, 1, "a text that two prompts of a round share is defined once");

    // The second reply arrives first.
    let events = answer_call(&mut harness, round[1].0, "Beds are soft.\nRooms have doors.");
    assert_eq!(event_names(&events), ["reply_received", "reflected", "lesson_changed", "lesson_changed"]);
    assert_eq!(questions_in_flight(&harness).len(), 1);
    let events = answer_call(&mut harness, round[0].0, "Danced in vain.");
    assert_eq!(event_names(&events), ["reply_received", "reflected", "lesson_changed", "prompt_sent"]);

    let state = harness.state();
    let lessons: Vec<_> = state.pool.all().map(|l| (l.kind, l.text().text.as_str(), l.learnt_at)).collect();
    let learnt_at = (1, 2);
    assert_eq!(
        lessons,
        [
            (ReflectionKind::Abstract, "Beds are soft.", learnt_at),
            (ReflectionKind::Abstract, "Rooms have doors.", learnt_at),
            (ReflectionKind::Error, "Danced in vain.", learnt_at)
        ]
    );
    assert_eq!((state.usage.actor_calls, state.usage.mentor_calls, state.usage.mentor_tokens), (3, 2, 22));
    let step = state.episode.as_ref().unwrap().step(2).unwrap();
    assert_eq!(step.usage.prompt_tokens, 3, "the step doesn't count the mentor's tokens");
    let ids: std::collections::BTreeSet<_> = state.pool.all().map(|l| l.id.clone()).collect();
    assert_eq!(ids.len(), 3, "all ids are different");
}

#[test]
fn questions_are_asked_one_by_one_if_mentor_at_once_is_off() {
    let mut harness = Harness::with_mentor(spec_with_tasks(1));
    harness
        .command(Command::ChangeSetting { name: "mentor_at_once".to_owned(), value: false.into() })
        .unwrap();
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room."));
    for action in ["look", "dance"] {
        harness.reply_as_actor(action);
        harness.reply_as_env(step_result("Fine."));
    }
    assert_eq!(questions_in_flight(&harness).len(), 1);
    let (call, _) = questions_in_flight(&harness)[0];
    assert_eq!(
        event_names(&answer_call(&mut harness, call, ""))[2..],
        ["prompt_sent"],
        "an empty answer settles its question"
    );
    assert_eq!(questions_in_flight(&harness)[0].1, ReflectionKind::Abstract);
}

#[test]
fn stepping_by_stages_shows_each_question_before_it_is_sent() {
    let mut harness = Harness::with_mentor(spec_with_tasks(1));
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room."));
    harness.reply_as_actor("look");
    harness.reply_as_env(step_result("Fine."));
    harness.command(Command::Pause).unwrap();
    harness.reply_as_actor("dance");
    harness.command(Command::StepStage).unwrap();
    harness.reply_as_env(step_result("Fine."));
    assert!(harness.state().is_waiting());
    for kind in [ReflectionKind::Error, ReflectionKind::Abstract] {
        harness.command(Command::StepStage).unwrap();
        assert_eq!(harness.state().draft.as_ref().unwrap().question, Some(Question::reflect(kind)));
        assert!(harness.state().is_waiting(), "the draft waits to be sent");
        harness.command(Command::StepStage).unwrap();
        let (call, kind_in_flight) = questions_in_flight(&harness)[0];
        assert_eq!(kind_in_flight, kind);
        answer_call(&mut harness, call, "Well.");
        assert!(harness.state().is_waiting(), "{kind:?}");
    }
}

#[test]
fn all_failed_questions_of_a_round_are_retried() {
    let mut harness = with_question_round();
    let round = questions_in_flight(&harness);
    fail_call(&mut harness, round[0].0);
    assert_eq!(questions_in_flight(&harness).len(), 1, "the other question is still in flight");
    fail_call(&mut harness, round[1].0);
    assert!(harness.state().is_waiting());
    assert_eq!(harness.state().failed_calls().count(), 2);
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["retried", "retried"]);
    assert_eq!(questions_in_flight(&harness), round);
    assert_eq!(harness.state().failed_calls().count(), 0);
}

#[test]
fn giving_up_a_failed_question_records_the_reason() {
    let mut harness = with_question_round();
    let round = questions_in_flight(&harness);
    fail_call(&mut harness, round[0].0);
    answer_call(&mut harness, round[1].0, "Beds are soft.");
    assert!(harness.command(Command::Step).is_err(), "a failed call must be settled before the next step");
    assert_eq!(event_names(&harness.command(Command::GiveUp).unwrap()), ["given_up", "reflected"]);
    let skipped = harness.state().reflections.last().unwrap().clone();
    assert!(skipped.items.is_empty() && skipped.complaints[0].contains("no answer"), "{skipped:?}");
    assert!(harness.state().episode.as_ref().unwrap().assisted);
    assert_eq!(
        event_names(&harness.command(Command::Run).unwrap()),
        ["resumed", "prompt_sent"],
        "the run continues with the actor"
    );
}

#[test]
fn after_giving_up_an_actors_failed_call_a_person_can_act() {
    let mut harness = Harness::with_mentor(spec_with_tasks(1));
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room."));
    let (call, _) = harness.first_call().unwrap();
    fail_call(&mut harness, call);
    assert_eq!(event_names(&harness.command(Command::GiveUp).unwrap()), ["given_up"]);
    let events = harness.command(Command::Act("sleep".to_owned())).unwrap();
    assert_eq!(event_names(&events), ["action_overridden", "step_granted", "action_taken"]);
}

#[test]
fn a_cancelled_question_is_asked_again_and_its_late_answer_is_ignored() {
    let mut harness = with_question_round();
    let round = questions_in_flight(&harness);
    harness.command(Command::Cancel).unwrap();
    assert!(harness.state().calls.is_empty());
    assert!(answer_call(&mut harness, round[0].0, "Too late.").is_empty());
    harness.command(Command::Run).unwrap();
    let again = questions_in_flight(&harness);
    assert_eq!(again.len(), 2);
    assert!(again[0].0 > round[1].0, "the questions have new call ids");
}

/// Regression: a cancelled question could only be asked again; continuing without it was impossible.
#[test]
fn cancelled_questions_can_be_given_up() {
    let mut harness = with_question_round();
    // Regression: while a call was tried again, it said that none had failed.
    let refused = harness.command(Command::GiveUp).unwrap_err();
    assert!(format!("{refused:?}").contains("a call is in progress"), "{refused:?}");
    let round = questions_in_flight(&harness);
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
        "the run continues with the actor"
    );

    let mut harness = with_question_round();
    harness.command(Command::Cancel).unwrap();
    assert_eq!(harness.state().cancelled_calls.len(), 2);
    harness.command(Command::Run).unwrap();
    assert!(harness.state().cancelled_calls.is_empty(), "the questions are asked again");
    assert!(harness.command(Command::GiveUp).is_err());
}

/// Regression: after a change of the method, the previous method's cancelled questions could still be given up, which
/// added reflections to the new method's run.
#[test]
fn a_change_of_the_method_discards_cancelled_questions() {
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
    let mut harness = Harness::with_mentor(spec_with_tasks(1));
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room."));
    harness.reply_as_actor("look");
    harness.command(Command::Reflect(ReflectionKind::Error)).unwrap();
    let (call, _) = questions_in_flight(&harness)[0];
    assert!(
        harness.command(Command::Reflect(ReflectionKind::Error)).is_err(),
        "a mentor call is already in flight"
    );
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
    let mut harness = Harness::with_mentor(spec_with_tasks(2));
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room."));
    harness.reply_as_actor("rest");
    harness.reply_as_env(won_result("You rest."));
    let (call, kind) = questions_in_flight(&harness)[0];
    assert_eq!(kind, ReflectionKind::Plan);
    answer_call(&mut harness, call, "Rest at once.");
    let past = harness.state().ended_episodes.get(0).unwrap();
    // The actor's call used 4 tokens, the mentor's 11.
    assert_eq!((past.calls, past.tokens), (2, 4 + 11));
    let plan = harness.state().reflections.last().unwrap();
    assert_eq!((plan.episode, plan.step, plan.purpose), (1, 1, Purpose::Reflect));
}

/// Returns a harness in which the prompt of a round's first question is drafted.
fn with_drafted_question() -> Harness {
    let mut harness = Harness::with_mentor(spec_with_tasks(1));
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room."));
    harness.reply_as_actor("look");
    harness.reply_as_env(step_result("Fine."));
    harness.command(Command::Pause).unwrap();
    harness.reply_as_actor("dance");
    harness.command(Command::StepStage).unwrap();
    harness.reply_as_env(step_result("Fine."));
    harness.command(Command::StepStage).unwrap();
    harness
}

#[test]
fn an_edited_draft_is_sent_as_edited() {
    let mut harness = with_drafted_question();
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
    let (call, _) = questions_in_flight(&harness)[0];
    let Some(Effect::Ask { prompt, .. }) = harness.state().calls.get(&call) else {
        panic!("the prompt wasn't sent")
    };
    assert_eq!(**prompt, *draft);
    answer_call(&mut harness, call, "Danced in vain.");
    let lesson = harness.state().pool.all().next().unwrap();
    assert!(lesson.edited_by_person, "a lesson from an edited prompt counts as edited by a person");
}

#[test]
fn a_new_lesson_discards_an_edited_draft() {
    let mut harness = with_drafted_question();
    harness.command(Command::EditPrompt { call: None, segment: 0, text: "Be brief.".to_owned() }).unwrap();
    let command = crate::engine::LessonCommand::add(
        ReflectionKind::Error,
        ReflectionKind::Error.default_scope(),
        crate::domain::LessonText::plain("No dancing."),
        String::new(),
    );
    harness.command(Command::Lesson(command)).unwrap();
    assert!(harness.state().draft.is_none());
    // No prompt waits now, so none can be edited.
    let error =
        harness.command(Command::EditPrompt { call: None, segment: 0, text: "x".to_owned() }).unwrap_err();
    assert!(error.hint.contains("one stage"), "{error:?}");
    harness.command(Command::StepStage).unwrap();
    assert!(!harness.state().draft.as_ref().unwrap().edited, "the new draft doesn't have the edit");
}

#[test]
fn the_prompt_of_each_failed_call_can_be_edited_before_the_retry() {
    let mut harness = with_question_round();
    let round = questions_in_flight(&harness);
    for (call, _) in &round {
        fail_call(&mut harness, *call);
    }
    let [(first, _), (second, _)] = round[..] else { panic!("two questions") };
    let sent = harness.state().waiting_prompt(second).cloned().unwrap();
    let edit = |call, text: &str| Command::EditPrompt { call, segment: 0, text: text.to_owned() };
    harness.command(edit(Some(second), "Be brief.")).unwrap();
    let edited_prompt = harness.state().waiting_prompt(second).cloned().unwrap();
    assert!(edited_prompt.edited && edited_prompt.sha256 != sent.sha256 && harness.state().draft.is_none());
    assert_eq!(harness.state().failed_calls().count(), 2, "both calls still wait for a decision");
    assert!(harness.state().open_episode().unwrap().assisted);
    let error = harness.command(Command::RetryFromRecording("cache".to_owned())).unwrap_err();
    assert!(error.message.contains("an edited prompt"), "{error:?}");
    harness.command(Command::Undo).unwrap();
    assert_eq!(harness.state().waiting_prompt(second), Some(&sent));
    harness.command(Command::Redo).unwrap();
    assert_eq!(harness.state().waiting_prompt(second), Some(&edited_prompt));
    // A change of the mentor's model keeps the edit.
    let spec = harness.state().run.as_deref().cloned().unwrap();
    let other = crate::domain::with_model(&spec, crate::domain::ModelRole::Mentor, "openai:other").unwrap();
    harness.command(Command::ChangeRun(Box::new(other))).unwrap();
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["retried", "prompt_sent"]);
    assert_eq!(questions_in_flight(&harness).iter().map(|q| q.0).collect::<Vec<_>>(), [first, second]);
    let Some(Effect::Ask { prompt, .. }) = harness.state().calls.get(&second) else {
        panic!("the prompt wasn't sent")
    };
    assert_eq!(*prompt, edited_prompt);
    assert!(harness.state().failed_call.is_none());
    // The edited prompt's call fails once more and is retried unchanged.
    fail_call(&mut harness, second);
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["retried"]);
    answer_call(&mut harness, first, "Rested.");
    answer_call(&mut harness, second, "Danced in vain.");
    let edited: Vec<bool> = harness.state().pool.all().map(|l| l.edited_by_person).collect();
    assert_eq!(edited.iter().filter(|edited| **edited).count(), 1, "only the lesson from the edited prompt");
}

#[test]
fn the_prompt_of_the_actors_failed_call_can_be_edited_without_stepping_by_stages() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    let call = *harness.state().calls.keys().next().unwrap();
    fail_call(&mut harness, call);
    let calls = harness.state().open_episode().unwrap().calls;
    harness.command(Command::EditPrompt { call: None, segment: 0, text: "Be brief.".to_owned() }).unwrap();
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["prompt_sent"]);
    harness.reply_as_actor("look");
    let state = harness.state();
    let step = state.last_step().unwrap();
    assert_eq!((step.number, step.proposed.as_deref()), (1, Some("look")), "it is still the first step");
    assert_eq!(state.open_episode().unwrap().calls, calls, "the retry isn't counted as another call");
    let (last, previous) = (state.actor_prompts.0.as_ref().unwrap(), state.actor_prompts.1.as_ref().unwrap());
    assert!(last.edited && !previous.edited && last.call == previous.call);
}

/// Regression: a person's lesson for one episode or task swallowed what the mentor learned for the whole environment.
#[test]
fn a_persons_lesson_with_a_narrower_scope_swallows_no_reflection() {
    for (scope, is_merged) in [(Scope::Episode, false), (Scope::Task, false), (Scope::Environment, true)] {
        let mut harness = with_question_round();
        let text = LessonText::plain("BEDS are soft");
        let lesson = LessonCommand::add(ReflectionKind::Abstract, scope, text, String::new());
        harness.command(Command::Lesson(lesson)).unwrap();
        let round = questions_in_flight(&harness);
        answer_call(&mut harness, round[1].0, "Beds are soft.");
        let lessons = harness.state().pool.all();
        let lessons: Vec<(&str, u32)> =
            lessons.map(|lesson| (lesson.text().text.as_str(), lesson.recurrences)).collect();
        let merged = [("BEDS are soft", 1)];
        let separate = [("BEDS are soft", 0), ("Beds are soft.", 0)];
        assert_eq!(lessons, if is_merged { &merged[..] } else { &separate[..] }, "{scope:?}");
    }
}
