//! Samples: what is recorded and counted, and that nothing else of the state depends on them.

use super::fixture::{Harness, event_names, step_result};
use crate::domain::{
    LessonId, Sample, SampleGroup, SampleRequest, SampleStatus, SampledLesson, Seq, Step, TokenCounts, Usage,
};
use crate::engine::{Command, Event, OpenSamples, Reply, State};
use std::sync::Arc;

/// Returns a harness in which a proposal waits for its decision.
fn at_a_proposal() -> Harness {
    let mut harness = Harness::with_tasks(2);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.reply_as_actor("look");
    harness
}

fn request(group: u32, count: u32) -> SampleRequest {
    SampleRequest { group, episode: 1, step: 1, count, first_retry: 1, tokens: 7, ..SampleRequest::default() }
}

fn ask(harness: &mut Harness, request: SampleRequest) -> Vec<String> {
    event_names(&harness.reply(Reply::SamplesRequested { request: Arc::new(request), texts: Vec::new() }))
}

/// Reports the end of a sample. A reply has three prompt tokens and costs 5.
fn report(harness: &mut Harness, group: u32, number: u32, status: SampleStatus, text: &str) -> Vec<String> {
    let usage = Usage { prompt_tokens: 3, cost_nano: 5, ..Usage::default() };
    let sample = Sample { group, number, status, text: text.to_owned(), usage, ..Sample::default() };
    event_names(&harness.reply(Reply::Sample(Box::new(sample))))
}

fn groups(harness: &Harness) -> &[SampleGroup] {
    &harness.state().last_step().unwrap().samples
}

/// Requested, replied, failed, cancelled, and tokens.
fn counts(state: &State) -> [u64; 5] {
    let stats = state.usage.samples;
    [stats.requested, stats.replied, stats.failed, stats.cancelled, stats.spent.tokens()]
}

/// Each row: a report, whether it is recorded, and the counts afterwards.
#[test]
fn each_sample_ends_once() {
    use SampleStatus::{Cancelled, Failed, Replied};
    let mut harness = at_a_proposal();
    assert_eq!(ask(&mut harness, request(1, 3)), ["samples_requested"]);
    let rows = [
        ((1, 2, Replied, "think: I wait."), true, [3, 1, 0, 0, 3]),
        ((1, 2, Replied, "look"), false, [3, 1, 0, 0, 3]),
        ((1, 9, Replied, "look"), false, [3, 1, 0, 0, 3]),
        ((1, 0, Replied, "look"), false, [3, 1, 0, 0, 3]),
        ((2, 1, Replied, "look"), false, [3, 1, 0, 0, 3]),
        ((1, 1, Failed, ""), true, [3, 1, 1, 0, 6]),
        ((1, 3, Cancelled, ""), true, [3, 1, 1, 1, 9]),
        ((1, 3, Replied, "late"), false, [3, 1, 1, 1, 9]),
    ];
    for ((group, number, status, text), is_recorded, expected) in rows {
        let events = report(&mut harness, group, number, status, text);
        let case = format!("{group} {number} {status:?}");
        assert_eq!(events, vec!["sampled"; usize::from(is_recorded)], "{case}");
        assert_eq!(counts(harness.state()), expected, "{case}");
    }
    assert!(harness.state().open_samples.is_empty());
    let [group] = groups(&harness) else { panic!("one request") };
    let kept: Vec<_> = group.samples.iter().map(|s| (s.number, s.proposal())).collect();
    assert_eq!(kept, [(2, Some("think: I wait.".to_owned())), (1, None)]);
}

#[test]
fn only_valid_requests_are_recorded() {
    let mut harness = Harness::new();
    assert_eq!(ask(&mut harness, request(1, 1)), [""; 0], "no run has started");
    let mut harness = at_a_proposal();
    for (case, group, count, expected) in [
        ("no sample", 1, 0, 0),
        ("too many", 1, 101, 0),
        ("the first", 1, 100, 1),
        ("a known number", 1, 5, 0),
        ("the second", 2, 5, 1),
    ] {
        assert_eq!(ask(&mut harness, request(group, count)).len(), expected, "{case}");
    }
    // The text of a prompt without a lesson is defined once.
    let texts = vec![("aa".to_owned(), "# Lessons".to_owned())];
    for expected in [vec!["text_defined", "samples_requested"], vec!["samples_requested"]] {
        let request = Arc::new(request(harness.state().last_sample_group + 1, 1));
        let events = harness.reply(Reply::SamplesRequested { request, texts: texts.clone() });
        assert_eq!(event_names(&events), expected);
    }
    harness.command(Command::Close).unwrap();
    assert_eq!(ask(&mut harness, request(9, 1)), [""; 0], "the session is closed");
}

/// Removes what samples may add to a state.
fn without_samples(state: &State) -> State {
    let mut state = state.clone();
    (state.open_samples, state.last_sample_group) = (Vec::<OpenSamples>::new(), 0);
    state.usage.samples = crate::domain::SampleStats::default();
    state.head = Seq(0);
    if let Some(episode) = &mut state.episode {
        let episode = Arc::make_mut(episode);
        for index in 0..episode.steps.len() {
            let step: &mut Step = Arc::make_mut(episode.steps.get_mut(index).unwrap());
            step.samples.clear();
            step.last_seq = Seq(0);
        }
    }
    state
}

/// Whenever samples are taken, folding the journal without their events gives the same state, and the same prompts are
/// sent with the same seeds.
#[test]
fn a_journal_without_its_samples_gives_the_same_state() {
    let mut harness = at_a_proposal();
    ask(&mut harness, request(1, 2));
    report(&mut harness, 1, 1, SampleStatus::Replied, "dance");
    harness.command(Command::Step).unwrap();
    report(&mut harness, 1, 2, SampleStatus::Replied, "look");
    harness.reply_as_env(step_result("You see a lamp."));
    ask(&mut harness, SampleRequest { lesson: None, ..request(2, 1) });
    harness.reply_as_actor("sleep");
    report(&mut harness, 2, 1, SampleStatus::Failed, "");
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("You sleep."));
    harness.reply_as_actor("rest");
    let step = harness.state().episode.as_deref().unwrap().step(1).unwrap();
    assert_eq!(step.samples.len(), 2, "a past step has samples, too");
    assert_eq!(counts(harness.state()), [3, 2, 1, 0, 9]);
    let (mut all, mut others) = (State::default(), State::default());
    for envelope in &harness.journal {
        all.apply(envelope);
        if !matches!(envelope.event, Event::SamplesRequested { .. } | Event::Sampled { .. }) {
            others.apply(envelope);
        }
    }
    assert_eq!(&all, harness.state());
    assert_eq!(without_samples(&all), without_samples(&others));
    let episode = all.open_episode().unwrap();
    assert_eq!((episode.calls, episode.assisted), (3, false), "the episode doesn't count them");
    assert_eq!(all.usage.tokens(), others.usage.tokens() + 9, "the run's cost includes them");
}

/// A fork at a step that waits for its decision keeps the samples: they are events of the step.
#[test]
fn samples_belong_to_the_step_while_it_waits() {
    let mut harness = at_a_proposal();
    let last_seq = |harness: &Harness| harness.state().last_step().unwrap().last_seq;
    ask(&mut harness, request(1, 1));
    assert_eq!(last_seq(&harness), harness.state().head);
    harness.command(Command::Step).unwrap();
    let before = last_seq(&harness);
    report(&mut harness, 1, 1, SampleStatus::Replied, "dance");
    assert_eq!(last_seq(&harness), before, "the step has been decided");
}

/// If the program is killed, its open samples count as cancelled; the prompts of those that may have been sent as spent.
#[test]
fn resuming_a_killed_session_ends_its_open_samples() {
    let mut harness = at_a_proposal();
    ask(&mut harness, request(1, 9));
    report(&mut harness, 1, 4, SampleStatus::Replied, "dance");
    harness.command(Command::Reopen).unwrap();
    assert_eq!(counts(harness.state()), [9, 1, 0, 8, 3 + 4 * 7]);
    let spent = harness.state().usage.samples.spent;
    assert_eq!(spent, TokenCounts { reported: 3, estimated: 28, cost_nano: 5, ..TokenCounts::default() });
    assert_eq!(report(&mut harness, 1, 5, SampleStatus::Replied, "late"), [""; 0]);
}

#[test]
fn a_sample_without_a_lesson_says_which() {
    let mut harness = at_a_proposal();
    let lesson = SampledLesson { id: LessonId("l1".into()), number: 1, added: false };
    ask(&mut harness, SampleRequest { lesson: Some(lesson.clone()), ..request(1, 1) });
    assert_eq!(groups(&harness)[0].request.lesson, Some(lesson));
}
