//! Changing the run of a session.

use super::{Counter, past_query, run_to_end, spec, start, test_config, wait_until};
use crate::domain::{RunSpec, Seq, Setting, SettingOrigin};
use crate::driver::{Driver, DriverError, PastQuery, RunConfig, RunFactory};
use crate::engine::{Command, CommandError, Event};
use crate::journal::read_branch;
use crate::provider::{ProviderError, ScriptedProvider};
use std::sync::Arc;

/// Builds configurations by the actor's name: `mute` never replies, `script` counts, others are rejected.
fn run_factory() -> RunFactory {
    Arc::new(|spec: &RunSpec| {
        let actor = match spec.actor.as_str() {
            "mute" => ScriptedProvider::new(|_| Err(ProviderError::new("no one answers", "retry"))),
            "script" => ScriptedProvider::new(|_| Ok("count".to_owned())),
            other => {
                return Err(DriverError::Refused(format!("no actor {other:?}"), "take script".to_owned()));
            }
        };
        let open =
            Arc::new(|_: &_| Ok(Box::new(Counter { count: 0, goal: 2, is_diverging: false }) as Box<_>));
        Ok(RunConfig {
            actor: Arc::new(actor),
            open_world: open,
            run_factory: Some(run_factory()),
            ..test_config(2, false)
        })
    })
}

fn send_command(handle: &crate::driver::Handle, command: Command) -> Result<(), CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(handle.send_and_wait(command)).map(drop)
}

fn with_actor(actor: &str) -> RunSpec {
    RunSpec { actor: actor.to_owned(), ..spec(1) }
}

/// The settings of the new configuration are part of the event.
#[test]
fn a_changed_run_is_journaled_with_its_settings() {
    let dir = tempfile::tempdir().unwrap();
    let setting = Setting { value: serde_json::json!({"temperature": 0.6}), origin: SettingOrigin::Config };
    let recording_factory: RunFactory = Arc::new({
        let setting = setting.clone();
        move |spec: &RunSpec| {
            let recorded_settings = vec![("actor.sampling".to_owned(), setting.clone())];
            run_factory()(spec).map(|run_config| RunConfig { recorded_settings, ..run_config })
        }
    });
    let run_config =
        RunConfig { run_factory: Some(recording_factory), ..run_factory()(&with_actor("script")).unwrap() };
    let (handle, thread, session) = start(dir.path(), 1, run_config);
    let mut other = with_actor("mute");
    send_command(&handle, Command::ChangeRun(Box::new(other.clone()))).unwrap();
    handle.quit();
    thread.join().unwrap();
    other.settings.insert("actor.sampling".to_owned(), setting);
    let events = read_branch(&session.trunk()).unwrap().events;
    let changed = events.iter().any(|e| matches!(&e.event, Event::RunChanged { spec } if **spec == other));
    assert!(changed && handle.store.head().run.as_deref() == Some(&other));
}

#[test]
fn a_failed_call_is_retried_with_another_model() {
    let dir = tempfile::tempdir().unwrap();
    let mute = run_factory()(&with_actor("mute")).unwrap();
    let (handle, thread, session) = start(dir.path(), 1, mute);
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    let refused = send_command(&handle, Command::ChangeRun(Box::new(with_actor("nobody")))).unwrap_err();
    assert_eq!((refused.message.as_str(), refused.hint.as_str()), ("no actor \"nobody\"", "take script"));
    let mut other = with_actor("script");
    other.method = "twice".to_owned();
    send_command(&handle, Command::ChangeRun(Box::new(other.clone()))).unwrap();
    let refused = send_command(&handle, Command::ChangeRun(Box::new(other.clone()))).unwrap_err();
    assert!(refused.message.contains("stay the same"));
    send_command(&handle, Command::Retry).unwrap();
    run_to_end(&handle, thread);
    let events = read_branch(&session.trunk()).unwrap().events;
    let changes: Vec<&Event> = events
        .iter()
        .map(|e| &e.event)
        .filter(|e| matches!(e, Event::RunChanged { .. } | Event::MemorySet { .. }))
        .collect();
    assert!(
        matches!(changes.as_slice(), [Event::RunChanged { spec }, Event::MemorySet { value }]
            if **spec == other && value.is_null()),
        "what was refused is not written, and a new method begins with an empty memory: {changes:?}"
    );
    // After a resume the session has the configuration with which it was closed.
    let resumed = Driver::resume(&session.dir, |spec| {
        assert_eq!(*spec, other);
        run_factory()(spec)
    });
    let resumed = resumed.unwrap();
    resumed.handle.quit();
    resumed.thread.join().unwrap();
}

/// The previous model is called again, not just named.
#[test]
fn undoing_a_model_change_restores_the_previous_model() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, run_factory()(&with_actor("script")).unwrap());
    let before = handle.store.head().run.clone();
    send_command(&handle, Command::ChangeRun(Box::new(with_actor("mute")))).unwrap();
    send_command(&handle, Command::Undo).unwrap();
    assert_eq!(handle.store.head().run, before);
    handle.send(Command::Run);
    run_to_end(&handle, thread);
    let events = read_branch(&session.trunk()).unwrap().events;
    assert!(events.iter().all(|e| !matches!(e.event, Event::CallFailed { .. })), "the mute model fails");
}

/// Regression: settings that the start of a run refuses without a model as mentor were accepted during it, also at a fork,
/// and failed when the mentor was asked.
#[test]
fn generation_that_needs_a_model_is_refused_during_the_run_as_at_its_start() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = RunSpec { method: "omnireflect".to_owned(), ..with_actor("script") };
    spec.mentor = "symbolic".to_owned();
    spec.settings.set("generation", "symbolic", SettingOrigin::Flag);
    let config = run_factory()(&spec).unwrap();
    let meta = super::meta("s");
    let (handle, thread, _session) =
        Driver::start(dir.path(), meta, spec.clone(), Vec::new(), config).unwrap();
    let at = handle.store.head().head;
    let neural =
        || Command::ChangeSetting { name: "generation".to_owned(), value: serde_json::json!("neural") };
    let fork = crate::driver::Fork { at_seq: at, commands: vec![neural()], ..crate::driver::Fork::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let at_fork = runtime.block_on(handle.fork(fork)).unwrap_err();
    for refused in [send_command(&handle, neural()).unwrap_err(), at_fork] {
        assert_eq!(refused.message, "generation=neural needs a model as mentor, but the mentor is symbolic");
        assert_eq!(refused.hint, "change the mentor first, to openai:MODEL or recorded:PATH");
    }
    assert_eq!(handle.store.head().run.as_deref(), Some(&spec));
    // With a model it is accepted, and then the model can't be taken away.
    let with_mentor = |mentor: &str| {
        let run =
            RunSpec { mentor: mentor.to_owned(), ..(**handle.store.head().run.as_ref().unwrap()).clone() };
        Command::ChangeRun(Box::new(run))
    };
    send_command(&handle, with_mentor("openai:small")).unwrap();
    send_command(&handle, neural()).unwrap();
    let refused = send_command(&handle, with_mentor("none")).unwrap_err();
    assert_eq!(refused.message, "generation=neural needs a model as mentor, but the mentor is none");
    assert!(refused.hint.contains("or change that setting first"), "{refused:?}");
    handle.quit();
    thread.join().unwrap();
}

#[test]
fn a_run_without_a_factory_cannot_be_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, _session) = start(dir.path(), 1, test_config(2, false));
    let refused = send_command(&handle, Command::ChangeRun(Box::new(with_actor("other")))).unwrap_err();
    assert!(refused.message.contains("can't be changed in this session"), "{refused:?}");
    handle.quit();
    thread.join().unwrap();
}

fn step_to_third(handle: &crate::driver::Handle) -> crate::domain::Seq {
    for number in 1..=3 {
        handle.send(Command::Step);
        wait_until(handle, |h| {
            h.store.head().is_waiting()
                && h.store.head().step_awaiting_decision().is_some_and(|s| s.number == number)
        });
    }
    handle.store.head().head
}

fn fork_with_override(at: crate::domain::Seq) -> crate::driver::Fork {
    let (action, shown_as) = ("wait".to_owned(), crate::domain::ShownAs::AgentAction);
    let commands = vec![Command::Override {
        action,
        shown_as,
        thought_disposition: crate::domain::ThoughtDisposition::Kept,
    }];
    crate::driver::Fork { at_seq: at, commands, ..crate::driver::Fork::default() }
}

#[test]
fn a_second_fork_waits_for_the_commands_of_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, test_config(9, false));
    let at = step_to_third(&handle);
    handle.send_fork(fork_with_override(at));
    handle.send_fork(fork_with_override(at));
    wait_until(&handle, |h| {
        h.store.epoch() == 2 && h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 4)
    });
    handle.quit();
    thread.join().unwrap();
    for branch in ["b1", "b2"] {
        let file = session.branch_file(&crate::domain::BranchId(branch.to_owned()));
        let events = read_branch(&file).unwrap().events;
        assert!(events.iter().any(|e| matches!(e.event, Event::ActionOverridden { .. })), "{branch}");
    }
}

#[test]
fn quitting_right_after_a_fork_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, test_config(9, false));
    let at = step_to_third(&handle);
    handle.send_fork(fork_with_override(at));
    handle.send(Command::Remark { episode: None, step: 1, text: "kept".to_owned() });
    handle.quit();
    thread.join().unwrap();
    let events = read_branch(&session.branch_file(&crate::domain::BranchId("b1".to_owned()))).unwrap().events;
    assert!(events.iter().any(|e| matches!(e.event, Event::ActionOverridden { .. })));
    assert!(events.iter().any(|e| matches!(e.event, Event::Remarked { .. })));
}

/// The process is killed after it closed the old branch and before it opened the fork.
#[test]
fn a_fork_that_was_not_opened_yet_is_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, test_config(9, false));
    let at = step_to_third(&handle);
    handle.send_fork(fork_with_override(at));
    wait_until(&handle, |h| {
        h.store.epoch() == 1 && h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 4)
    });
    handle.quit();
    thread.join().unwrap();
    let fork = crate::domain::BranchId("b1".to_owned());
    let file = session.branch_file(&fork);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.split_inclusive('\n').next().unwrap()).unwrap();
    assert_eq!(read_branch(&session.trunk()).unwrap().events.last().unwrap().event, Event::Closed);
    assert_eq!(session.last_written(), fork);
    // Once the old branch has been continued, it is the newer one.
    let trunk = crate::domain::BranchId::trunk();
    let resumed = Driver::resume_at(&session.dir, &trunk, |_| Ok(test_config(9, false))).unwrap();
    resumed.handle.quit();
    resumed.thread.join().unwrap();
    assert_eq!(session.last_written(), trunk);
}

/// Sampling parameters changed at a fork apply to the next request, and to one after a resume.
#[test]
fn sampling_changed_at_a_fork_applies_to_the_next_request_and_after_a_resume() {
    use crate::domain::ModelRole;
    use crate::provider::Request;
    use serde_json::{Value, json};
    use std::sync::Mutex;
    let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
    let make_config = |spec: &RunSpec| {
        assert_eq!(spec.actor, "openai:script");
        let requests = requests.clone();
        let actor = ScriptedProvider::new(move |request| {
            requests.lock().unwrap().push(request.clone());
            Ok("count".to_owned())
        });
        Ok::<_, DriverError>(RunConfig { actor: Arc::new(actor), ..test_config(9, false) })
    };
    let dir = tempfile::tempdir().unwrap();
    let spec = with_actor("openai:script");
    let first = make_config(&spec).unwrap();
    let meta = super::meta("s");
    let (handle, thread, session) = Driver::start(dir.path(), meta, spec, Vec::new(), first).unwrap();
    let at = step_to_third(&handle);
    let set = |name: &str, value: Value| Command::ChangeSetting { name: name.to_owned(), value };
    let fork = |commands| crate::driver::Fork { at_seq: at, commands, ..crate::driver::Fork::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // A setting that would have no effect creates no branch.
    let refused = runtime.block_on(handle.fork(fork(vec![set("mentor.temperature", json!(1))]))).unwrap_err();
    assert!(refused.message.contains("no mentor"), "{refused:?}");
    let commands = vec![set("actor.temperature", json!(0.7)), set("actor.seed", json!(4)), Command::Step];
    runtime.block_on(handle.fork(fork(commands))).unwrap();
    wait_until(&handle, |h| {
        h.store.head().is_waiting() && h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 4)
    });
    handle.quit();
    thread.join().unwrap();
    let branches = session.branches().unwrap();
    let first_change = branches.iter().find(|b| b.header.id.0 == "b1").unwrap().first_change.clone();
    assert_eq!(first_change, "setting actor.temperature = 0.7");
    let resumed = Driver::resume(&session.dir, make_config).unwrap();
    resumed.handle.send(Command::Step);
    wait_until(&resumed.handle, |h| {
        h.store.head().is_waiting() && h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 5)
    });
    resumed.handle.quit();
    resumed.thread.join().unwrap();
    let requests = requests.lock().unwrap();
    let samplings: Vec<Value> =
        requests.iter().map(|r| Value::Object(r.sampling.user_fields.clone())).collect();
    // The seed field is sent; its value is derived from the setting.
    let chosen = json!({"temperature": 0.7, "seed": true});
    assert_eq!(samplings, [json!({}), json!({}), json!({}), chosen.clone(), chosen]);
    assert_eq!(requests[3].seed, crate::engine::request_seed(4, 1, 4, ModelRole::Actor, 0));
    assert_ne!(
        requests[3].sampling.identity(),
        requests[2].sampling.identity(),
        "the cache keeps them apart"
    );
}

/// Regression: if events could not be read again, the actions of an earlier point were listed.
#[test]
fn a_past_query_whose_state_could_not_be_loaded_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, _session) = start(dir.path(), 9, test_config(9, false));
    let at = step_to_third(&handle);
    let earlier = handle.store.state_at(Seq(at.0 - 1));
    let query = PastQuery { seq: at, ..past_query(earlier) };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let error = runtime.block_on(handle.past_admissible(query)).unwrap_err();
    assert_eq!(error, format!("the events up to {at} could not be read; run `retrospect verify`"));
    handle.quit();
    thread.join().unwrap();
}

/// Past queries use a separate environment: the run's environment is unchanged, and one that diverges is rejected.
#[test]
fn past_queries_do_not_change_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    for (history_differs, expected) in [(false, Ok(vec!["count".to_owned()])), (true, Err(()))] {
        let dir = dir.path().join(history_differs.to_string());
        let (handle, thread, _session) = start(&dir, 1, test_config(9, false));
        let at = step_to_third(&handle);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut state = (*handle.store.state_at(at)).clone();
        if history_differs {
            let episode = Arc::make_mut(state.episode.as_mut().unwrap());
            episode.first_observation.as_mut().unwrap().raw = "It is 7.".to_owned();
        }
        let head = handle.store.head().head;
        let actions = runtime.block_on(handle.past_admissible(past_query(Arc::new(state))));
        assert_eq!(actions.clone().map_err(drop), expected);
        assert!(!history_differs || actions.unwrap_err().contains("from its first observation on"));
        assert_eq!(handle.store.head().head, head);
        handle.send(Command::Step);
        wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 4));
        let head = handle.store.head();
        assert_eq!(head.episode.as_ref().unwrap().step(3).unwrap().answer.as_ref().unwrap().raw, "It is 3.");
        handle.quit();
        thread.join().unwrap();
    }
}
