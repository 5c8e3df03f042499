//! Samples of a step's prompt with real providers: a model server some of whose replies fail, and the rule-based actor
//! with and without a lesson.

use crate::client;
use crate::run::{household, meta, spec, until};
use crate::server::{Server, chunked, complete_reply, plain_response, text_event};
use retrospect::domain::{
    LessonId, LessonText, ReflectionKind, RunSpec, SampleStatus, Scope, count_proposals,
};
use retrospect::driver::{Driver, Handle, OpenWorld, RunConfig, SampleOrder, worlds};
use retrospect::engine::{Command, LessonCommand, State};
use retrospect::env::TaskOptions;
use retrospect::journal::{Session, read_branch};
use retrospect::provider::Provider;
use retrospect::provider::RuleBasedActor;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// The built-in episode, whose mug is on a shelf.
fn mug_spec() -> RunSpec {
    spec("omnireflect", vec![household("normal/heat/71")])
}

/// Starts a run and waits for its first proposal.
fn at_a_proposal(dir: &Path, actor: Arc<dyn Provider>) -> (Handle, JoinHandle<()>, Session) {
    let spec = mug_spec();
    let options = TaskOptions::default();
    let open: OpenWorld = Arc::new(move |task| worlds::open(task, &options));
    let templates = Arc::new(retrospect::catalog::builtin_templates());
    let mut config = RunConfig::from_spec(&spec, templates, open, Duration::ZERO).unwrap();
    config.actor = actor;
    let started = Driver::start(dir, meta("s", &spec), spec.clone(), Vec::new(), config).unwrap();
    step(&started.0);
    started
}

fn step(handle: &Handle) {
    let steps = |state: &State| state.episode.as_ref().map_or(0, |e| e.steps.len());
    let before = steps(&handle.store.head());
    block_on(handle.send_and_wait(Command::Step)).unwrap();
    until(handle, |state| steps(state) > before && state.step_awaiting_decision().is_some());
}

fn sample(handle: &Handle, step: u32, count: u32, lesson: Option<LessonId>) {
    block_on(handle.sample(SampleOrder { step, count, lesson })).unwrap();
    until(handle, |state| state.open_samples.is_empty());
}

fn quit(handle: &Handle, thread: JoinHandle<()>) {
    handle.quit();
    thread.join().unwrap();
}

#[test]
fn samples_that_a_server_fails_are_listed_and_the_others_are_kept() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let cut = chunked(&[text_event("go to ca").as_bytes()], false);
    let refused = r#"{"error":{"message":"the adapter is not loaded","type":"invalid_request_error"}}"#;
    let scripts = vec![
        complete_reply("go to shelf 1"),
        plain_response(400, "", refused),
        complete_reply("go to cabinet 1"),
        cut.clone(),
        complete_reply("go to cabinet 1"),
        cut,
    ];
    let server = runtime.block_on(Server::start(scripts));
    let mut endpoint = client::endpoint(&server.base);
    endpoint.retry.max_total_wait = Duration::ZERO;
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = at_a_proposal(dir.path(), Arc::new(client::provider(endpoint)));
    sample(&handle, 1, 4, None);
    let state = handle.store.head();
    let proposal = state.step_awaiting_decision().unwrap();
    assert_eq!(proposal.proposed.as_deref(), Some("go to shelf 1"), "the step itself is unchanged");
    let samples: Vec<_> = proposal.samples[0].samples.iter().map(AsRef::as_ref).collect();
    let proposals = count_proposals(samples.iter().copied());
    assert_eq!(proposals.len(), 1, "{samples:?}");
    assert_eq!((proposals[0].proposal.as_str(), proposals[0].count), ("go to cabinet 1", 2), "{samples:?}");
    let errors: Vec<&str> = samples.iter().filter_map(|s| s.error.as_deref()).collect();
    assert_eq!(errors.len(), 2, "{samples:?}");
    assert!(errors.iter().any(|error| error.contains("the adapter is not loaded")), "{errors:?}");
    let stats = state.usage.samples;
    assert_eq!((stats.requested, stats.replied, stats.failed), (4, 2, 2));
    assert!(stats.spent.tokens() > 0);
    assert_eq!(state.open_episode().unwrap().calls, 1);
    quit(&handle, thread);
    // Every request has a seed of its own, and no key is in the journal.
    let requests = server.requests();
    let mut seeds: Vec<u64> = requests.iter().filter_map(|r| r.body["seed"].as_u64()).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert!(seeds.len() >= 5, "{seeds:?}");
    let journal = std::fs::read_to_string(session.trunk()).unwrap();
    assert!(journal.contains("samples_requested") && !journal.contains(client::KEY));
    let mut folded = State::default();
    for envelope in &read_branch(&session.trunk()).unwrap().events {
        folded.apply(envelope);
    }
    assert_eq!(folded.usage.samples, stats);
}

/// The other prompt is exactly the one that the step would have had: a run that had the lesson from the start has it, too.
#[test]
fn a_lesson_is_left_out_or_added_at_one_prompt() {
    let rules = || Arc::new(RuleBasedActor::default());
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, _) = at_a_proposal(dir.path(), rules());
    let proposal = |state: &State| {
        let step = state.open_episode().and_then(|episode| episode.step(1)).unwrap();
        step.proposal_text().map(std::borrow::Cow::into_owned)
    };
    let untaught = proposal(&handle.store.head());
    let text = LessonText { text: "Look for a mug in/on a shelf first.".to_owned(), solution: None };
    let teach = LessonCommand::add(ReflectionKind::Abstract, Scope::Environment, text, String::new());
    block_on(handle.send_and_wait(Command::Lesson(teach))).unwrap();
    let lesson = handle.store.head().pool.all().last().unwrap().id.clone();
    // The lesson was taught after the prompt, so it is added.
    sample(&handle, 1, 1, Some(lesson.clone()));
    let state = handle.store.head();
    let group = state.last_step().unwrap().samples[0].clone();
    assert_eq!(group.request.lesson.as_ref().map(|l| (l.number, l.added)), Some((1, true)));
    let with_lesson = group.samples[0].proposal();
    assert!(with_lesson.as_ref().is_some_and(|text| text.contains("shelf")), "{with_lesson:?}");
    assert_ne!(untaught, with_lesson);
    // Asked again, the actor sees the lesson: the same prompt and proposal as in the sample.
    block_on(handle.send_and_wait(Command::AskAgain)).unwrap();
    until(&handle, |state| state.step_awaiting_decision().is_some_and(|step| step.retry == 1));
    let state = handle.store.head();
    assert_eq!(proposal(&state), with_lesson);
    let sent = state.actor_prompts.0.clone().unwrap();
    let added = group.request.prompt.as_deref().unwrap();
    assert_eq!((&sent.sha256, &sent.segments), (&added.sha256, &added.segments));
    // Now it is in the prompt, so it is left out.
    sample(&handle, 1, 1, Some(lesson.clone()));
    let state = handle.store.head();
    let group = state.last_step().unwrap().samples[1].clone();
    assert_eq!(group.request.lesson.as_ref().map(|l| l.added), Some(false));
    assert_eq!(group.samples[0].proposal(), untaught);
    let before = state.usage.actor_calls;
    // Later changes of the pool don't matter: the prompt is that of its time.
    let off = LessonCommand::Status { id: lesson.clone(), status: retrospect::domain::LessonStatus::Off };
    block_on(handle.send_and_wait(Command::Lesson(off))).unwrap();
    step(&handle);
    sample(&handle, 1, 2, Some(lesson));
    let state = handle.store.head();
    let group = state.open_episode().unwrap().step(1).unwrap().samples[2].clone();
    assert_eq!(group.request.lesson.as_ref().map(|l| l.added), Some(false));
    let proposals: Vec<_> = group.samples.iter().map(|s| (s.status, s.proposal())).collect();
    assert_eq!(proposals, [(SampleStatus::Replied, untaught.clone()), (SampleStatus::Replied, untaught)]);
    assert_eq!(state.usage.actor_calls, before + 1);
    quit(&handle, thread);
}

/// The rule-based actor ignores seeds: all samples are its proposal.
#[test]
fn the_rule_based_actor_repeats_its_proposal() {
    let dir = tempfile::tempdir().unwrap();
    let rules = Arc::new(RuleBasedActor::default());
    let (handle, thread, _) = at_a_proposal(dir.path(), rules);
    sample(&handle, 1, 5, None);
    let state = handle.store.head();
    let step = state.step_awaiting_decision().unwrap();
    let proposals = count_proposals(step.samples[0].samples.iter().map(AsRef::as_ref));
    assert_eq!(proposals.len(), 1);
    assert_eq!(
        (Some(proposals[0].proposal.as_str()), proposals[0].count),
        (step.proposal_text().as_deref(), 5)
    );
    quit(&handle, thread);
}
