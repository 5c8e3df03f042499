//! A person's changes to anything but lessons, and their undo.

use super::fixture::{Harness, event_names, sample_failure, spec_with_tasks, step_result};
use crate::domain::{Autonomy, EndReason, LessonText, ModelRole, PersonAct, ReflectionKind, Scope};
use crate::engine::{Command, Event, LessonCommand, Reply};

#[test]
fn a_run_can_be_changed_only_between_calls() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    let mut other = spec_with_tasks(1);
    "other".clone_into(&mut other.method);
    let error = harness.command(Command::ChangeRun(Box::new(other.clone()))).unwrap_err();
    assert!(error.message.contains("during a model call"), "{error:?}");
    harness.reply_as_actor("look");
    let events = harness.command(Command::ChangeRun(Box::new(other.clone()))).unwrap();
    assert_eq!(event_names(&events), ["run_changed", "memory_set"]);
    assert_eq!(harness.state().run.as_deref(), Some(&other));
    assert!(harness.state().episode.as_ref().unwrap().assisted);
    assert!(harness.state().step_awaiting_decision().is_some(), "the proposal still waits for a decision");
    let mut same_method = other.clone();
    "m".clone_into(&mut same_method.actor);
    let events = harness.command(Command::ChangeRun(Box::new(same_method))).unwrap();
    assert!(
        matches!(events.as_slice(), [Event::RunChanged { .. }]),
        "the method is the same, so its memory is kept"
    );
}

/// The same model at another address doesn't help the agent, so the episode still counts in rates.
#[test]
fn another_address_of_the_same_model_is_no_assistance() {
    let mut harness = with_answered_step();
    let run = harness.state().run.as_deref().cloned().unwrap();
    let switched = crate::domain::with_model(&run, ModelRole::Actor, "openai:m").unwrap();
    harness.command(Command::ChangeRun(Box::new(switched.clone()))).unwrap();
    assert!(harness.state().episode.as_ref().unwrap().assisted, "another model is");
    let mut harness = Harness::with_spec(switched.clone());
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.reply_as_actor("think: I could look.");
    let moved = crate::domain::with_model(&switched, ModelRole::Actor, "openai:m at http://h/v1").unwrap();
    harness.command(Command::ChangeRun(Box::new(moved.clone()))).unwrap();
    assert_eq!(harness.state().run.as_deref(), Some(&moved));
    assert!(!harness.state().episode.as_ref().unwrap().assisted);
}

#[test]
fn sampling_parameters_need_a_model_and_apply_to_its_next_prompt() {
    use serde_json::{Value, json};
    let set = |name: &str, value: Value| Command::ChangeSetting { name: name.to_owned(), value };
    let mut harness = with_answered_step();
    let switch_to = |harness: &mut Harness, actor: &str, mentor: &str| {
        let mut other = spec_with_tasks(1);
        actor.clone_into(&mut other.actor);
        mentor.clone_into(&mut other.mentor);
        harness.command(Command::ChangeRun(Box::new(other))).unwrap();
    };
    // (setting, value, actor, part of the error)
    let cases = [
        ("actor.temperature", json!(0.7), "rules", "no sampling parameters"),
        ("actor.seed", json!(false), "rules", "no sampling parameters"),
        ("actor.top_p", json!(0.7), "recorded:s", "as it was recorded"),
        ("mentor.top_p", json!(0.7), "rules", "call no model"),
        ("actor.temprature", json!(0.7), "openai:m", "not a sampling parameter"),
        ("actor.base_url", json!("http://h"), "openai:m", "not a sampling parameter"),
        ("actor.temperature", json!("hot"), "openai:m", "actor.temperature"),
    ];
    for (name, value, actor, message) in cases {
        switch_to(&mut harness, actor, "symbolic");
        let error = harness.command(set(name, value)).unwrap_err();
        assert!(error.message.contains(message), "{name} of {actor}: {error:?}");
        // Changing a run to itself would be rejected, so the next case starts from another run.
        switch_to(&mut harness, "another", "none");
    }
    switch_to(&mut harness, "openai:m", "symbolic");
    harness.command(Command::StepStage).unwrap();
    let drafted = harness.state().draft.clone().unwrap();
    assert!(drafted.sampling.is_empty());
    harness.command(set("actor.temperature", json!(0.7))).unwrap();
    harness.command(set("actor.seed", json!(9))).unwrap();
    // No prompt has used the seed yet, so it can be undone and redone.
    assert_eq!(event_names(&harness.command(Command::Undo).unwrap())[0], "taken_back");
    assert_eq!(harness.state().settings().role(ModelRole::Actor).seed, None);
    assert_eq!(event_names(&harness.command(Command::Redo).unwrap())[0], "made_again");
    harness.command(Command::Step).unwrap();
    let sent = harness.state().actor_prompts.0.clone().unwrap();
    // `true` means that a seed is sent. It is derived from the setting and stored in `seed`.
    assert_eq!(Value::Object(sent.sampling.clone()), json!({"temperature": 0.7, "seed": true}));
    assert_ne!(sent.seed, drafted.seed, "the draft was discarded, and a new one has the new seed");
    assert_eq!(sent.seed, crate::engine::request_seed(9, 1, sent.step, ModelRole::Actor, 0));
    let description = harness.state().run.as_ref().unwrap().describe_request_sampling(&sent, &[]).unwrap();
    assert!(
        description.contains("temperature 0.7 (by a person)") && description.contains("its profile"),
        "{description}"
    );
    assert!(harness.command(Command::Undo).unwrap_err().seq.is_some(), "a prompt has used the seed");
}

/// Returns a harness whose first step, a thought, has been answered. The next prompt hasn't been drafted yet.
fn with_answered_step() -> Harness {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.reply_as_actor("think: I could look.");
    harness.command(Command::StepStage).unwrap();
    harness.reply_as_env(step_result("OK."));
    harness
}

fn edit_thought(step: u32, text: &str) -> Command {
    Command::EditThought { step, text: text.to_owned() }
}

fn edit_observation(step: u32, text: &str) -> Command {
    Command::EditObservation { step, text: text.to_owned() }
}

#[test]
fn a_thought_only_step_runs_with_the_edited_thought() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.reply_as_actor("think: I could look.");
    assert_eq!(event_names(&harness.command(edit_thought(1, " I look. ")).unwrap()), ["thought_edited"]);
    assert!(harness.command(edit_thought(1, "I look.")).unwrap().is_empty(), "the same text changes nothing");
    assert!(harness.command(edit_thought(1, "  ")).is_err());
    assert!(harness.command(edit_thought(2, "x")).is_err());
    assert!(harness.command(edit_observation(1, "x")).unwrap_err().message.contains("no observation yet"));
    let step = harness.state().last_step().unwrap();
    assert_eq!((step.thought.as_deref(), step.thought_edited), (Some("I look."), true));
    assert!(harness.state().episode.as_ref().unwrap().assisted);
    assert_eq!(event_names(&harness.command(Command::Undo).unwrap()), ["taken_back"]);
    let step = harness.state().last_step().unwrap();
    assert_eq!((step.thought.as_deref(), step.thought_edited), (Some("I could look."), false));
    assert_eq!(event_names(&harness.command(Command::Redo).unwrap()), ["made_again"]);
    harness.command(Command::StepStage).unwrap();
    let step = harness.state().last_step().unwrap();
    assert_eq!(step.action(), Some("think: I look."), "the environment is sent the edited thought");
}

#[test]
fn an_answered_step_can_be_edited_until_a_prompt_shows_it() {
    let mut harness = with_answered_step();
    harness.command(edit_observation(1, "There is a lamp.")).unwrap();
    harness.command(edit_thought(1, "I am careful.")).unwrap();
    let step = harness.state().last_step().unwrap();
    assert_eq!((step.observation(), step.is_observation_edited()), (Some("There is a lamp."), true));
    assert_eq!(step.answer.as_ref().unwrap().raw, "OK.");
    let executed = step.executed.as_ref().unwrap();
    assert_eq!(
        (executed.action.as_str(), executed.sent.as_deref()),
        ("think: I am careful.", Some("think: I could look.")),
        "a rebuilt environment is sent the original thought"
    );
    harness.command(Command::Undo).unwrap();
    harness.command(Command::Undo).unwrap();
    let step = harness.state().last_step().unwrap();
    assert_eq!((step.observation(), step.is_observation_edited()), (Some("OK."), false));
    assert_eq!(step.action(), Some("think: I could look."));
    harness.command(Command::Redo).unwrap();
    // Once a prompt has shown the step, it can be edited only on a fork from before that prompt.
    let answered = harness.state().last_step().unwrap().answered_seq;
    harness.command(Command::Step).unwrap();
    for edit in [edit_observation(1, "x"), edit_thought(1, "x")] {
        let error = harness.command(edit).unwrap_err();
        assert_eq!(error.seq.unwrap().0, answered.0 + 1, "{error:?}");
    }
    assert!(harness.command(Command::Undo).unwrap_err().seq.is_some());
    assert!(harness.command(Command::Redo).unwrap_err().seq.is_some(), "a prompt has shown the step");
}

#[test]
fn settings_autonomy_remarks_and_drafts_are_undone_one_by_one() {
    let mut harness = with_answered_step();
    let set = |name: &str, value: serde_json::Value| Command::ChangeSetting { name: name.to_owned(), value };
    let before = harness.state().clone();
    harness.command(set("max_steps", 9.into())).unwrap();
    harness.command(set("max_moves", 3.into())).unwrap();
    harness.command(set("custom_setting", "x".into())).unwrap();
    harness.command(Command::SetAutonomy(crate::domain::Autonomy::Confirm)).unwrap();
    harness.command(Command::Remark { episode: None, step: 1, text: "odd".to_owned() }).unwrap();
    harness.command(Command::Remark { episode: None, step: 0, text: "odd".to_owned() }).unwrap();
    let changed = harness.state().clone();
    for _ in 0..6 {
        assert_eq!(event_names(&harness.command(Command::Undo).unwrap()), ["taken_back"]);
    }
    assert!(harness.command(Command::Undo).is_err());
    let state = harness.state();
    assert_eq!((&state.run, state.autonomy, &state.remarks), (&before.run, before.autonomy, &before.remarks));
    assert!(state.last_step().unwrap().remarks.is_empty());
    for _ in 0..6 {
        harness.command(Command::Redo).unwrap();
    }
    let state = harness.state();
    assert_eq!(
        (&state.run, state.autonomy, &state.remarks),
        (&changed.run, changed.autonomy, &changed.remarks)
    );
    assert_eq!(state.last_step().unwrap().remarks, ["odd"]);
    // An edit of a draft is undone and redone, too.
    harness.command(Command::SetAutonomy(crate::domain::Autonomy::Auto)).unwrap();
    harness.command(Command::StepStage).unwrap();
    let draft = harness.state().draft.clone();
    assert!(draft.is_some());
    harness.command(Command::EditPrompt { call: None, segment: 0, text: "other".to_owned() }).unwrap();
    assert!(harness.state().draft != draft);
    harness.command(Command::Undo).unwrap();
    assert_eq!(harness.state().draft, draft);
    harness.command(Command::Redo).unwrap();
    assert!(harness.state().draft.as_ref().unwrap().edited);
    // Another change discards the draft with its edit, so undo then skips the edit.
    harness.command(set("max_steps", 8.into())).unwrap();
    harness.command(Command::Undo).unwrap();
    assert_eq!(
        event_names(&harness.command(Command::Undo).unwrap()),
        ["taken_back"],
        "undoes the autonomy change"
    );
}

#[test]
fn an_executed_override_cannot_be_undone_but_a_fork_is_offered() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.reply_as_actor("look");
    let events = harness
        .command(Command::Override {
            action: "jump".to_owned(),
            shown_as: crate::domain::ShownAs::AgentAction,
            thought_disposition: crate::domain::ThoughtDisposition::Kept,
        })
        .unwrap();
    assert_eq!(event_names(&events)[0], "action_overridden");
    let target_seq =
        harness.journal.iter().find(|e| matches!(e.event, Event::ActionOverridden { .. })).unwrap().seq;
    let error = harness.command(Command::Undo).unwrap_err();
    assert_eq!(error.seq, Some(target_seq));
    assert!(error.hint.contains("go back"));
}

#[test]
fn breakpoint_changes_are_undone_before_an_older_remark() {
    let mut harness = with_answered_step();
    harness.command(Command::Remark { episode: None, step: 0, text: "odd".to_owned() }).unwrap();
    harness.command(Command::SetBreakpoint { text: "proposed".to_owned(), replaces: None }).unwrap();
    harness.command(Command::SwitchBreakpoint { breakpoint: 1, enabled: false }).unwrap();
    harness.command(Command::RemoveBreakpoint(1)).unwrap();
    let enabled = |harness: &Harness| harness.state().breakpoints.get(1).map(|b| b.enabled);
    for expected in [Some(false), Some(true), None] {
        assert_eq!(event_names(&harness.command(Command::Undo).unwrap()), ["taken_back"]);
        assert_eq!(enabled(&harness), expected);
    }
    assert_eq!(harness.state().remarks.len(), 1);
    for expected in [Some(true), Some(false), None] {
        assert_eq!(event_names(&harness.command(Command::Redo).unwrap()), ["made_again"]);
        assert_eq!(enabled(&harness), expected);
    }
}

#[test]
fn undo_after_an_irreversible_action_fails_and_keeps_older_edits() {
    let mut spec = spec_with_tasks(1);
    spec.method = "another".to_owned();
    let fail_call = |harness: &mut Harness| {
        harness.command(Command::Step).unwrap();
        let (call, _) = harness.first_call().unwrap();
        harness.reply(Reply::Failed { call, failure: sample_failure() });
    };
    let send_prompt = |harness: &mut Harness| drop(harness.command(Command::Step).unwrap());
    let propose = |harness: &mut Harness| {
        harness.command(Command::Step).unwrap();
        harness.reply_as_actor("look");
    };
    let diverge = |harness: &mut Harness| {
        let (recorded, actual) = ("OK.".to_owned(), "No.".to_owned());
        harness.reply(Reply::Diverged { episode: 1, step: 1, recorded, actual });
    };
    let end_episode =
        |harness: &mut Harness| drop(harness.command(Command::EndEpisode(EndReason::Person)).unwrap());
    let templates = Command::ChangeSetting { name: "templates".to_owned(), value: "other".into() };
    let task = spec.tasks[0].clone();
    // Each brings the harness into a state in which the command at the same index of `actions` is possible.
    let preparations: [&dyn Fn(&mut Harness); 9] =
        [&|_| (), &|_| (), &send_prompt, &propose, &|_| (), &fail_call, &diverge, &end_episode, &|_| ()];
    // (command, its irreversible event, what undo says about it)
    let actions = [
        (Command::ChangeRun(Box::new(spec)), "run_changed", "the run was changed"),
        (Command::EndEpisode(EndReason::Person), "episode_ended", "the episode was ended"),
        (Command::AskAgain, "call_cancelled", "a model call was cancelled"),
        (Command::AskAgain, "asked_again", "the agent was asked again"),
        (templates, "setting_changed", "the prompt templates were replaced"),
        (Command::RetryFromRecording("cache".to_owned()), "retried", "a recorded reply replaced"),
        (Command::Retry, "retried", "the environment's new answer was accepted"),
        (Command::BeginEpisode(Box::new(task)), "episode_started", "an episode was started"),
        (Command::EndRun, "run_ended", "the run was ended"),
    ];
    for (prepare, (command, name, description)) in preparations.iter().zip(actions) {
        let mut harness = with_answered_step();
        prepare(&mut harness);
        harness.command(Command::Remark { episode: None, step: 0, text: "odd".to_owned() }).unwrap();
        harness.command(command).unwrap();
        let has_name = |e: &&crate::engine::Envelope| event_names(std::slice::from_ref(&e.event)) == [name];
        let target_seq = harness.journal.iter().rev().find(has_name).unwrap().seq;
        let error = harness.command(Command::Undo).unwrap_err();
        assert!(error.message.contains(description), "{error:?}");
        assert_eq!(error.seq, Some(target_seq), "a fork from before that event is offered");
        assert_eq!(harness.state().remarks.len(), 1, "the older remark is kept");
    }
    // A mentor call can't be undone either.
    let mut harness = Harness::with_mentor(spec_with_tasks(1));
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.reply_as_actor("look");
    harness.command(Command::Remark { episode: None, step: 0, text: "odd".to_owned() }).unwrap();
    harness.command(Command::Reflect(ReflectionKind::Error)).unwrap();
    assert!(harness.command(Command::Undo).unwrap_err().message.contains("the mentor was called"));
}

/// What a person does beside a step's texts is recorded at the step where it happened, and an undo marks it.
#[test]
fn interventions_are_recorded_at_their_step() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::SetAutonomy(Autonomy::Human)).unwrap();
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.command(Command::Act("look".to_owned())).unwrap();
    let lesson = LessonCommand::Add {
        kind: ReflectionKind::Error,
        scope: Scope::Environment,
        text: LessonText::plain("Be quick."),
        evidence: String::new(),
        transition: None,
        parents: Vec::new(),
        rule: None,
        pinned: false,
    };
    harness.command(Command::Lesson(lesson)).unwrap();
    let recorded = |harness: &Harness| {
        let episode = harness.state().episode.clone().unwrap();
        let of_steps = episode.steps.iter().map(|s| (s.number, s.interventions.clone()));
        let all = [(0, episode.interventions.clone())].into_iter().chain(of_steps);
        let all = all.flat_map(|(step, acts)| acts.into_iter().map(move |act| (step, act)));
        all.map(|(step, act)| (step, matches!(act.act, PersonAct::Lesson { number: 1, .. }), act.undone))
            .collect::<Vec<_>>()
    };
    assert_eq!(recorded(&harness), [(1, true, false)]);
    // Without a prompt, the next step doesn't use the lesson.
    harness.reply_as_env(step_result("You see."));
    assert_eq!(harness.state().last_step().unwrap().number, 2);
    for is_undone in [true, false, true] {
        harness.command(if is_undone { Command::Undo } else { Command::Redo }).unwrap();
        assert_eq!(recorded(&harness), [(1, true, is_undone)]);
    }
}

/// A measurement is a note about a lesson: no intervention, nothing to undo, and no change of what prompts contain.
#[test]
fn a_measurement_of_a_lesson_is_kept_and_changes_nothing_else() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    let add = LessonCommand::add(
        ReflectionKind::Abstract,
        Scope::Environment,
        LessonText::plain("Rest."),
        String::new(),
    );
    harness.command(Command::Lesson(add)).unwrap();
    harness.reply_as_actor("look");
    let lesson = harness.state().pool.all().next().unwrap().clone();
    let before = harness.state().clone();
    let measured = Box::new(sample_effect());
    let keep = LessonCommand::Measured { id: lesson.id.clone(), measured: measured.clone() };
    harness.command(Command::Lesson(keep)).unwrap();
    let after = harness.state();
    let kept = after.pool.get(&lesson.id).unwrap();
    assert_eq!(*kept.measured, [*measured]);
    assert_eq!(kept.edited_by_person, lesson.edited_by_person);
    assert_eq!(after.undo_stack.len(), before.undo_stack.len());
    let interventions = |state: &crate::engine::State| {
        let episode = state.episode.as_ref().unwrap();
        (episode.assisted, episode.interventions.len() + episode.steps[0].interventions.len())
    };
    assert_eq!(interventions(after), interventions(&before));
    let unknown = LessonCommand::Measured {
        id: crate::domain::LessonId("0".into()),
        measured: Box::new(sample_effect()),
    };
    assert!(harness.command(Command::Lesson(unknown)).unwrap_err().message.contains("no lesson"));
    // An episode in which a person only measures stays unassisted.
    let pool = vec![kept_lesson(&harness)];
    let mut harness = Harness::new();
    harness
        .command(Command::Start {
            session: "s".to_owned(),
            spec: Box::new(spec_with_tasks(1)),
            pool,
            replay_start: None,
            breakpoints: Vec::new(),
        })
        .unwrap();
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    let loaded = harness.state().pool.all().next().unwrap().clone();
    assert_eq!(*loaded.measured, [sample_effect()], "a lesson is loaded with what was measured of it");
    let other = Box::new(crate::domain::MeasuredEffect { pairs: 60, ..sample_effect() });
    harness.command(Command::Lesson(LessonCommand::Measured { id: loaded.id, measured: other })).unwrap();
    assert!(!harness.state().episode.as_ref().unwrap().assisted);
}

fn kept_lesson(harness: &Harness) -> (String, LessonCommand) {
    let lesson = harness.state().pool.all().next().unwrap().clone();
    ("pool.jsonl".to_owned(), LessonCommand::Load(Box::new(lesson)))
}

fn sample_effect() -> crate::domain::MeasuredEffect {
    crate::domain::MeasuredEffect::sample("0a1b2c3d4e5f", "elsewhere", 1, 120)
}
