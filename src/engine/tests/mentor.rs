//! Questions to the mentor: rounds, failures, and what a person may do meanwhile.

use super::fixture::{Bench, names, turn, won};
use crate::domain::{CallId, Kind, Purpose, Question, Usage};
use crate::engine::{Command, Effect, Event, Failure, Reply};

/// A bench after two steps, with the round of two questions in flight.
fn asked() -> Bench {
    let mut bench = Bench::counselled(1, 50);
    bench.wish(Command::Run).unwrap();
    bench.world(turn("A room. Your task is to: rest."));
    for action in ["look", "dance"] {
        bench.says(action);
        bench.world(turn("Fine."));
    }
    bench
}

fn questions(bench: &Bench) -> Vec<(CallId, Kind)> {
    let asks = bench.state().calls.values().filter_map(|c| match c {
        Effect::Ask { call, prompt } => Some((*call, prompt.question?.kind)),
        _ => None,
    });
    asks.collect()
}

fn answers(bench: &mut Bench, call: CallId, text: &str) -> Vec<Event> {
    let usage = Usage { prompt_tokens: 9, reply_tokens: 2, ..Usage::default() };
    bench.reply(Reply::Model {
        truncated: None,
        call,
        text: text.to_owned(),
        reasoning: String::new(),
        usage,
    })
}

fn fails(bench: &mut Bench, call: CallId) -> Vec<Event> {
    let failure = Failure {
        what: "gone".to_owned(),
        place: "mentor".to_owned(),
        next: "retry".to_owned(),
        kind: None,
        came: String::new(),
        usage: None,
    };
    bench.reply(Reply::Failed { call, failure })
}

#[test]
fn a_round_is_asked_at_once_and_the_actor_waits_for_all_of_it() {
    let mut bench = asked();
    let round = questions(&bench);
    assert_eq!(round.iter().map(|q| q.1).collect::<Vec<_>>(), [Kind::Error, Kind::Abstract]);
    let defined = bench.journal.iter().filter(|e| matches!(e.event, Event::TextDefined { .. })).count();
    assert_eq!(defined, 1, "a text that two prompts of a round share is defined once");

    // The second answer comes first.
    let came = answers(&mut bench, round[1].0, "Beds are soft.\nRooms have doors.");
    assert_eq!(names(&came), ["reply_received", "reflected", "lesson_changed", "lesson_changed"]);
    assert_eq!(questions(&bench).len(), 1);
    let came = answers(&mut bench, round[0].0, "Danced in vain.");
    assert_eq!(names(&came), ["reply_received", "reflected", "lesson_changed", "prompt_sent"]);

    let state = bench.state();
    let lessons: Vec<_> = state.pool.all().map(|l| (l.kind, l.text().text.as_str(), l.learnt_at)).collect();
    let at = (1, 2);
    assert_eq!(
        lessons,
        [
            (Kind::Abstract, "Beds are soft.", at),
            (Kind::Abstract, "Rooms have doors.", at),
            (Kind::Error, "Danced in vain.", at)
        ]
    );
    assert_eq!((state.spent.actor_calls, state.spent.mentor_calls, state.spent.mentor_tokens), (3, 2, 22));
    let step = state.episode.as_ref().unwrap().step(2).unwrap();
    assert_eq!(step.usage.prompt_tokens, 3, "the mentor's cost is not the step's");
    let ids: std::collections::BTreeSet<_> = state.pool.all().map(|l| l.id.clone()).collect();
    assert_eq!(ids.len(), 3, "every lesson has an id of its own");
}

#[test]
fn one_by_one_when_the_setting_says_so() {
    let mut bench = Bench::counselled(1, 50);
    bench.wish(Command::Set { name: "mentor_at_once".to_owned(), value: false.into() }).unwrap();
    bench.wish(Command::Run).unwrap();
    bench.world(turn("A room."));
    for action in ["look", "dance"] {
        bench.says(action);
        bench.world(turn("Fine."));
    }
    assert_eq!(questions(&bench).len(), 1);
    let (call, _) = questions(&bench)[0];
    assert_eq!(
        names(&answers(&mut bench, call, ""))[2..],
        ["prompt_sent"],
        "an empty answer settles its question"
    );
    assert_eq!(questions(&bench)[0].1, Kind::Abstract);
}

#[test]
fn stepping_by_stages_shows_each_question_before_it_is_sent() {
    let mut bench = Bench::counselled(1, 50);
    bench.wish(Command::Run).unwrap();
    bench.world(turn("A room."));
    bench.says("look");
    bench.world(turn("Fine."));
    bench.wish(Command::Pause).unwrap();
    bench.says("dance");
    bench.wish(Command::StepStage).unwrap();
    bench.world(turn("Fine."));
    assert!(bench.state().waits());
    for kind in [Kind::Error, Kind::Abstract] {
        bench.wish(Command::StepStage).unwrap();
        assert_eq!(bench.state().draft.as_ref().unwrap().question, Some(Question::reflect(kind)));
        assert!(bench.state().waits(), "the draft waits");
        bench.wish(Command::StepStage).unwrap();
        let (call, asked) = questions(&bench)[0];
        assert_eq!(asked, kind);
        answers(&mut bench, call, "Well.");
        assert!(bench.state().waits(), "{kind:?}");
    }
}

#[test]
fn all_failed_questions_of_a_round_are_tried_again() {
    let mut bench = asked();
    let round = questions(&bench);
    fails(&mut bench, round[0].0);
    assert_eq!(questions(&bench).len(), 1, "the other one is still awaited");
    fails(&mut bench, round[1].0);
    assert!(bench.state().waits());
    assert_eq!(bench.state().troubles().count(), 2);
    assert_eq!(names(&bench.wish(Command::Retry).unwrap()), ["retried", "retried"]);
    assert_eq!(questions(&bench), round);
    assert_eq!(bench.state().troubles().count(), 0);
}

#[test]
fn a_failed_question_can_be_given_up_and_says_why() {
    let mut bench = asked();
    let round = questions(&bench);
    fails(&mut bench, round[0].0);
    answers(&mut bench, round[1].0, "Beds are soft.");
    assert!(bench.wish(Command::Step).is_err(), "trouble first");
    assert_eq!(names(&bench.wish(Command::GiveUp).unwrap()), ["given_up", "reflected"]);
    let left_out = bench.state().reflections.last().unwrap().clone();
    assert!(left_out.items.is_empty() && left_out.complaints[0].contains("gone"), "{left_out:?}");
    assert!(bench.state().episode.as_ref().unwrap().assisted);
    assert_eq!(names(&bench.wish(Command::Run).unwrap()), ["resumed", "prompt_sent"], "the agent goes on");
}

#[test]
fn an_actors_failed_call_can_be_given_up_to_act_by_hand() {
    let mut bench = Bench::counselled(1, 50);
    bench.wish(Command::Run).unwrap();
    bench.world(turn("A room."));
    let (call, _) = bench.call().unwrap();
    fails(&mut bench, call);
    assert_eq!(names(&bench.wish(Command::GiveUp).unwrap()), ["given_up"]);
    let came = bench.wish(Command::Act("sleep".to_owned())).unwrap();
    assert_eq!(names(&came), ["action_overridden", "step_granted", "action_taken"]);
}

#[test]
fn a_cancelled_question_is_asked_again_and_its_late_answer_is_inert() {
    let mut bench = asked();
    let round = questions(&bench);
    bench.wish(Command::Cancel).unwrap();
    assert!(bench.state().calls.is_empty());
    assert!(answers(&mut bench, round[0].0, "Too late.").is_empty());
    bench.wish(Command::Run).unwrap();
    let again = questions(&bench);
    assert_eq!(again.len(), 2);
    assert!(again[0].0 > round[1].0, "a new call");
}

/// What was broken off could only be asked again: nobody could go on without it.
#[test]
fn what_was_broken_off_can_be_gone_on_without() {
    let mut bench = asked();
    assert!(bench.wish(Command::GiveUp).is_err(), "nothing was broken off yet");
    let round = questions(&bench);
    answers(&mut bench, round[0].0, "Beds are soft.");
    bench.wish(Command::Cancel).unwrap();
    assert_eq!(bench.state().broken_off.len(), 1, "what was answered is not lost");
    assert_eq!(names(&bench.wish(Command::GiveUp).unwrap()), ["given_up", "reflected"]);
    let left_out = bench.state().reflections.last().unwrap().clone();
    assert!(left_out.items.is_empty() && left_out.complaints[0].contains("broken off"), "{left_out:?}");
    assert!(bench.state().broken_off.is_empty() && bench.wish(Command::GiveUp).is_err());
    assert_eq!(names(&bench.wish(Command::Run).unwrap()), ["resumed", "prompt_sent"], "the agent goes on");

    let mut bench = asked();
    bench.wish(Command::Cancel).unwrap();
    assert_eq!(bench.state().broken_off.len(), 2);
    bench.wish(Command::Run).unwrap();
    assert!(bench.state().broken_off.is_empty(), "they are asked again");
    assert!(bench.wish(Command::GiveUp).is_err());
}

/// Found by review: going on without them wrote the old method's reflections into another one.
#[test]
fn what_was_broken_off_does_not_outlive_a_change_of_the_run() {
    let mut bench = asked();
    bench.wish(Command::Cancel).unwrap();
    let mut other = bench.state().run.as_deref().cloned().unwrap();
    "other".clone_into(&mut other.method);
    bench.wish(Command::ChangeRun(Box::new(other))).unwrap();
    assert!(bench.state().broken_off.is_empty());
    assert!(bench.wish(Command::GiveUp).is_err());
}

#[test]
fn a_person_asks_the_mentor_while_a_proposal_waits() {
    let mut bench = Bench::counselled(1, 50);
    bench.wish(Command::Step).unwrap();
    bench.world(turn("A room."));
    bench.says("look");
    bench.wish(Command::Reflect(Kind::Error)).unwrap();
    let (call, _) = questions(&bench)[0];
    assert!(bench.wish(Command::Reflect(Kind::Error)).is_err(), "one at a time");
    answers(&mut bench, call, "Looked too long.");
    assert_eq!(
        bench.state().awaiting().unwrap().proposed.as_deref(),
        Some("look"),
        "the proposal still waits"
    );
    assert!(bench.state().episode.as_ref().unwrap().assisted);
}

#[test]
fn a_question_after_the_end_counts_for_its_episode() {
    let mut bench = Bench::counselled(2, 50);
    bench.wish(Command::Run).unwrap();
    bench.world(turn("A room."));
    bench.says("rest");
    bench.world(won("You rest."));
    let (call, kind) = questions(&bench)[0];
    assert_eq!(kind, Kind::Plan);
    answers(&mut bench, call, "Rest at once.");
    let past = bench.state().past.get(0).unwrap();
    assert_eq!((past.calls, past.tokens), (2, 4 + 11));
    let plan = bench.state().reflections.last().unwrap();
    assert_eq!((plan.episode, plan.step, plan.purpose), (1, 1, Purpose::Reflect));
}

/// A bench with the first question's prompt drafted.
fn drafted() -> Bench {
    let mut bench = Bench::counselled(1, 50);
    bench.wish(Command::Run).unwrap();
    bench.world(turn("A room."));
    bench.says("look");
    bench.world(turn("Fine."));
    bench.wish(Command::Pause).unwrap();
    bench.says("dance");
    bench.wish(Command::StepStage).unwrap();
    bench.world(turn("Fine."));
    bench.wish(Command::StepStage).unwrap();
    bench
}

#[test]
fn a_draft_is_changed_by_a_person_and_sent_as_changed() {
    let mut bench = drafted();
    let before = bench.state().draft.clone().unwrap();
    assert!(!bench.state().open_episode().unwrap().assisted);
    let edit = |segment, text: &str| Command::EditPrompt { call: None, segment, text: text.to_owned() };
    assert_eq!(names(&bench.wish(edit(0, "Be brief.")).unwrap()), ["text_defined", "prompt_drafted"]);
    let state = bench.state();
    assert!(
        state.open_episode().unwrap().assisted && state.waits(),
        "it waits on, with a person's hand in it"
    );
    let draft = state.draft.clone().unwrap();
    assert!(draft.edited && draft.call == before.call && draft.sha256 != before.sha256);
    assert_eq!(bench.wish(edit(0, "Be brief.")).unwrap(), [], "the same words change nothing");
    assert!(bench.wish(edit(9, "x")).unwrap_err().why.contains("no such part"));

    bench.wish(Command::StepStage).unwrap();
    let (call, _) = questions(&bench)[0];
    let Some(Effect::Ask { prompt, .. }) = bench.state().calls.get(&call) else { panic!("it was sent") };
    assert_eq!(**prompt, *draft);
    answers(&mut bench, call, "Danced in vain.");
    let lesson = bench.state().pool.all().next().unwrap();
    assert!(lesson.by_person, "a lesson drawn from a changed prompt has a person's hand in it");
}

#[test]
fn no_prompt_that_was_sent_is_changed_and_a_new_lesson_drafts_anew() {
    let mut bench = drafted();
    bench.wish(Command::EditPrompt { call: None, segment: 0, text: "Be brief.".to_owned() }).unwrap();
    let wish = crate::engine::LessonCommand::add(
        Kind::Error,
        Kind::Error.scope(),
        crate::domain::LessonText::plain("No dancing."),
        String::new(),
    );
    bench.wish(Command::Lesson(wish)).unwrap();
    assert!(bench.state().draft.is_none());
    let refused =
        bench.wish(Command::EditPrompt { call: None, segment: 0, text: "x".to_owned() }).unwrap_err();
    assert!(refused.next.contains("by one stage"), "{refused:?}");
    bench.wish(Command::StepStage).unwrap();
    assert!(!bench.state().draft.as_ref().unwrap().edited);
}

/// The prompts of failed calls can be changed, each of them, before they are tried again; the journal has what was asked.
#[test]
fn the_prompt_of_a_failed_call_is_changed_and_tried_again() {
    let mut bench = asked();
    let round = questions(&bench);
    for (call, _) in &round {
        fails(&mut bench, *call);
    }
    let [(first, _), (second, _)] = round[..] else { panic!("two questions") };
    let sent = bench.state().waits_for(second).cloned().unwrap();
    let edit = |call, text: &str| Command::EditPrompt { call, segment: 0, text: text.to_owned() };
    bench.wish(edit(Some(second), "Be brief.")).unwrap();
    let changed = bench.state().waits_for(second).cloned().unwrap();
    assert!(changed.edited && changed.sha256 != sent.sha256 && bench.state().draft.is_none());
    assert_eq!(bench.state().troubles().count(), 2, "both still wait for a decision");
    assert!(bench.state().open_episode().unwrap().assisted);
    let refused = bench.wish(Command::RetryFrom("cache".to_owned())).unwrap_err();
    assert!(refused.why.contains("never asked"), "{refused:?}");
    bench.wish(Command::Undo).unwrap();
    assert_eq!(bench.state().waits_for(second), Some(&sent));
    bench.wish(Command::Redo).unwrap();
    assert_eq!(bench.state().waits_for(second), Some(&changed));
    // Another model is asked with the person's words too.
    let spec = bench.state().run.as_deref().cloned().unwrap();
    let other = crate::engine::with_model(&spec, crate::domain::ModelRole::Mentor, "openai:other");
    bench.wish(Command::ChangeRun(Box::new(other))).unwrap();
    assert_eq!(names(&bench.wish(Command::Retry).unwrap()), ["retried", "prompt_sent"]);
    assert_eq!(questions(&bench).iter().map(|q| q.0).collect::<Vec<_>>(), [first, second]);
    let Some(Effect::Ask { prompt, .. }) = bench.state().calls.get(&second) else { panic!("it was sent") };
    assert_eq!(*prompt, changed);
    assert!(bench.state().failed_call.is_none());
    // It fails once more, and is tried again as it was sent.
    fails(&mut bench, second);
    assert_eq!(names(&bench.wish(Command::Retry).unwrap()), ["retried"]);
    answers(&mut bench, first, "Rested.");
    answers(&mut bench, second, "Danced in vain.");
    let drawn: Vec<bool> = bench.state().pool.all().map(|l| l.by_person).collect();
    assert_eq!(drawn.iter().filter(|by| **by).count(), 1, "the one drawn from the changed prompt");
}

#[test]
fn the_actors_failed_prompt_is_changed_without_going_by_stages() {
    let mut bench = Bench::started(1, 50);
    bench.wish(Command::Run).unwrap();
    bench.world(turn("A room. Your task is to: rest."));
    let call = *bench.state().calls.keys().next().unwrap();
    fails(&mut bench, call);
    let calls = bench.state().open_episode().unwrap().calls;
    bench.wish(Command::EditPrompt { call: None, segment: 0, text: "Be brief.".to_owned() }).unwrap();
    assert_eq!(names(&bench.wish(Command::Retry).unwrap()), ["prompt_sent"]);
    bench.says("look");
    let state = bench.state();
    let step = state.last_step().unwrap();
    assert_eq!((step.number, step.proposed.as_deref()), (1, Some("look")), "no step is lost");
    assert_eq!(state.open_episode().unwrap().calls, calls, "the same call");
    let (now, before) = (state.prompts.0.as_ref().unwrap(), state.prompts.1.as_ref().unwrap());
    assert!(now.edited && !before.edited && now.call == before.call);
}
