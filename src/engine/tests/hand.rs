//! What a person changes by hand beside the lessons.

use super::fixture::{Bench, names, no_answer, spec, turn};
use crate::domain::{EndReason, Kind};
use crate::engine::{Command, Event, Reply};

#[test]
fn a_run_is_changed_between_calls_only() {
    let mut bench = Bench::started(1, 50);
    bench.wish(Command::Step).unwrap();
    bench.world(turn("A room. Your task is to: rest."));
    let mut other = spec(1, 50);
    "other".clone_into(&mut other.method);
    let refused = bench.wish(Command::ChangeRun(Box::new(other.clone()))).unwrap_err();
    assert!(refused.why.contains("being asked"), "{refused:?}");
    bench.says("look");
    let events = bench.wish(Command::ChangeRun(Box::new(other.clone()))).unwrap();
    assert_eq!(names(&events), ["run_changed", "memory_set"]);
    assert_eq!(bench.state().run.as_deref(), Some(&other));
    assert!(bench.state().episode.as_ref().unwrap().assisted);
    assert!(bench.state().awaiting().is_some(), "the proposal still waits");
    let mut same_method = other.clone();
    "m".clone_into(&mut same_method.actor);
    let events = bench.wish(Command::ChangeRun(Box::new(same_method))).unwrap();
    assert!(matches!(events.as_slice(), [Event::RunChanged { .. }]), "its memory stays");
}

#[test]
fn sampling_is_set_for_a_model_only_and_enters_its_next_prompt() {
    use crate::domain::ModelRole;
    use serde_json::{Value, json};
    let set = |name: &str, value: Value| Command::Set { name: name.to_owned(), value };
    let mut bench = answered();
    let with = |bench: &mut Bench, actor: &str, mentor: &str| {
        let mut other = spec(1, 50);
        actor.clone_into(&mut other.actor);
        mentor.clone_into(&mut other.mentor);
        bench.wish(Command::ChangeRun(Box::new(other))).unwrap();
    };
    let cases = [
        ("actor.temperature", json!(0.7), "rules", "no sampling settings"),
        ("actor.seed", json!(false), "rules", "no sampling settings"),
        ("actor.top_p", json!(0.7), "recorded:s", "as it was recorded"),
        ("mentor.top_p", json!(0.7), "rules", "not asked"),
        ("actor.temprature", json!(0.7), "openai:m", "no sampling setting"),
        ("actor.base_url", json!("http://h"), "openai:m", "no sampling setting"),
        ("actor.temperature", json!("hot"), "openai:m", "actor.temperature"),
    ];
    for (name, value, actor, why) in cases {
        with(&mut bench, actor, "symbolic");
        let refused = bench.wish(set(name, value)).unwrap_err();
        assert!(refused.why.contains(why), "{name} of {actor}: {refused:?}");
        with(&mut bench, "another", "none");
    }
    with(&mut bench, "openai:m", "symbolic");
    bench.wish(Command::StepStage).unwrap();
    let drafted = bench.state().draft.clone().unwrap();
    assert!(drafted.sampling.is_empty());
    bench.wish(set("actor.temperature", json!(0.7))).unwrap();
    bench.wish(set("actor.seed", json!(9))).unwrap();
    // Not yet acted on: taken back, made again.
    assert_eq!(names(&bench.wish(Command::Undo).unwrap())[0], "taken_back");
    assert_eq!(bench.state().run.as_ref().unwrap().settings.sample_seed(ModelRole::Actor), None);
    assert_eq!(names(&bench.wish(Command::Redo).unwrap())[0], "made_again");
    bench.wish(Command::Step).unwrap();
    let sent = bench.state().prompts.0.clone().unwrap();
    assert_eq!(Value::Object(sent.sampling.clone()), json!({"temperature": 0.7, "seed": true}));
    assert_ne!(sent.seed, drafted.seed, "a prompt that waited is drafted anew");
    assert_eq!(sent.seed, crate::engine::request_seed(9, 1, sent.step, ModelRole::Actor, 0));
    let told = bench.state().run.as_ref().unwrap().sampling_words(&sent).unwrap();
    assert!(told.contains("temperature 0.7 (by a person)") && told.contains("its profile"), "{told}");
    assert!(bench.wish(Command::Undo).unwrap_err().about.is_some(), "a prompt has used it");
}

/// A bench whose first step is answered and whose second prompt has not been drafted.
fn answered() -> Bench {
    let mut bench = Bench::started(1, 50);
    bench.wish(Command::Step).unwrap();
    bench.world(turn("A room. Your task is to: rest."));
    bench.says("think: I could look.");
    bench.wish(Command::StepStage).unwrap();
    bench.world(turn("OK."));
    bench
}

fn thought(step: u32, text: &str) -> Command {
    Command::EditThought { step, text: text.to_owned() }
}

fn observation(step: u32, text: &str) -> Command {
    Command::EditObservation { step, text: text.to_owned() }
}

#[test]
fn the_thought_of_a_proposal_is_what_runs_when_it_is_edited() {
    let mut bench = Bench::started(1, 50);
    bench.wish(Command::Step).unwrap();
    bench.world(turn("A room. Your task is to: rest."));
    bench.says("think: I could look.");
    assert_eq!(names(&bench.wish(thought(1, " I look. ")).unwrap()), ["thought_edited"]);
    assert!(bench.wish(thought(1, "I look.")).unwrap().is_empty(), "the same words are no change");
    assert!(bench.wish(thought(1, "  ")).is_err());
    assert!(bench.wish(thought(2, "x")).is_err());
    assert!(bench.wish(observation(1, "x")).unwrap_err().why.contains("not answered yet"));
    let step = bench.state().last_step().unwrap();
    assert_eq!((step.thought.as_deref(), step.thought_edited), (Some("I look."), true));
    assert!(bench.state().episode.as_ref().unwrap().assisted);
    assert_eq!(names(&bench.wish(Command::Undo).unwrap()), ["taken_back"]);
    let step = bench.state().last_step().unwrap();
    assert_eq!((step.thought.as_deref(), step.thought_edited), (Some("I could look."), false));
    assert_eq!(names(&bench.wish(Command::Redo).unwrap()), ["made_again"]);
    bench.wish(Command::StepStage).unwrap();
    let step = bench.state().last_step().unwrap();
    assert_eq!(step.action(), Some("think: I look."), "the world is told the edited words");
}

#[test]
fn an_answered_step_is_edited_until_a_prompt_shows_it_and_the_world_stays_as_it_is() {
    let mut bench = answered();
    bench.wish(observation(1, "There is a lamp.")).unwrap();
    bench.wish(thought(1, "I am careful.")).unwrap();
    let step = bench.state().last_step().unwrap();
    assert_eq!((step.observation(), step.observation_edited()), (Some("There is a lamp."), true));
    assert_eq!(step.answer.as_ref().unwrap().raw, "OK.");
    let done = step.executed.as_ref().unwrap();
    assert_eq!(
        (done.action.as_str(), done.sent.as_deref()),
        ("think: I am careful.", Some("think: I could look.")),
        "a rebuilt world is told what it was told"
    );
    bench.wish(Command::Undo).unwrap();
    bench.wish(Command::Undo).unwrap();
    let step = bench.state().last_step().unwrap();
    assert_eq!((step.observation(), step.observation_edited()), (Some("OK."), false));
    assert_eq!(step.action(), Some("think: I could look."));
    bench.wish(Command::Redo).unwrap();
    // The next prompt shows it: from then on only a fork from before that prompt can change it.
    let answered = bench.state().last_step().unwrap().answered_seq;
    bench.wish(Command::Step).unwrap();
    for refused in [observation(1, "x"), thought(1, "x")] {
        let refusal = bench.wish(refused).unwrap_err();
        assert_eq!(refusal.about.unwrap().0, answered.0 + 1, "{refusal:?}");
    }
    assert!(bench.wish(Command::Undo).unwrap_err().about.is_some());
    assert!(bench.wish(Command::Redo).unwrap_err().about.is_some(), "it would come too late");
}

#[test]
fn settings_autonomy_remarks_and_drafts_are_taken_back_one_by_one() {
    let mut bench = answered();
    let set = |name: &str, value: serde_json::Value| Command::Set { name: name.to_owned(), value };
    let before = bench.state().clone();
    bench.wish(set("max_steps", 9.into())).unwrap();
    bench.wish(set("max_moves", 3.into())).unwrap();
    bench.wish(set("own", "x".into())).unwrap();
    bench.wish(Command::SetAutonomy(crate::domain::Autonomy::Confirm)).unwrap();
    bench.wish(Command::Remark { step: 1, text: "odd".to_owned() }).unwrap();
    bench.wish(Command::Remark { step: 0, text: "odd".to_owned() }).unwrap();
    let changed = bench.state().clone();
    for _ in 0..6 {
        assert_eq!(names(&bench.wish(Command::Undo).unwrap()), ["taken_back"]);
    }
    assert!(bench.wish(Command::Undo).is_err());
    let state = bench.state();
    assert_eq!((&state.run, state.autonomy, &state.remarks), (&before.run, before.autonomy, &before.remarks));
    assert!(state.last_step().unwrap().remarks.is_empty());
    for _ in 0..6 {
        bench.wish(Command::Redo).unwrap();
    }
    let state = bench.state();
    assert_eq!(
        (&state.run, state.autonomy, &state.remarks),
        (&changed.run, changed.autonomy, &changed.remarks)
    );
    assert_eq!(state.last_step().unwrap().remarks, ["odd"]);
    // A draft.
    bench.wish(Command::SetAutonomy(crate::domain::Autonomy::Auto)).unwrap();
    bench.wish(Command::StepStage).unwrap();
    let draft = bench.state().draft.clone();
    assert!(draft.is_some());
    bench.wish(Command::EditPrompt { call: None, segment: 0, text: "other".to_owned() }).unwrap();
    assert!(bench.state().draft != draft);
    bench.wish(Command::Undo).unwrap();
    assert_eq!(bench.state().draft, draft);
    bench.wish(Command::Redo).unwrap();
    assert!(bench.state().draft.as_ref().unwrap().edited);
    // A change of a lesson drafts anew: there is nothing left of the change of the prompt.
    bench.wish(set("max_steps", 8.into())).unwrap();
    bench.wish(Command::Undo).unwrap();
    assert_eq!(names(&bench.wish(Command::Undo).unwrap()), ["taken_back"], "the autonomy before it");
}

#[test]
fn what_has_run_is_not_undone_but_gone_back_before() {
    let mut bench = Bench::started(1, 50);
    bench.wish(Command::Step).unwrap();
    bench.world(turn("A room. Your task is to: rest."));
    bench.says("look");
    let events = bench
        .wish(Command::Override {
            action: "jump".to_owned(),
            shown_as: crate::domain::ShownAs::Own,
            fate: crate::domain::ThoughtDisposition::Kept,
        })
        .unwrap();
    assert_eq!(names(&events)[0], "action_overridden");
    let of = bench.journal.iter().find(|e| matches!(e.event, Event::ActionOverridden { .. })).unwrap().seq;
    let refusal = bench.wish(Command::Undo).unwrap_err();
    assert_eq!(refusal.about, Some(of));
    assert!(refusal.next.contains("go back"));
}

#[test]
fn a_breakpoint_is_taken_back_and_not_the_older_remark() {
    let mut bench = answered();
    bench.wish(Command::Remark { step: 0, text: "odd".to_owned() }).unwrap();
    bench.wish(Command::Break { text: "proposed".to_owned(), of: None }).unwrap();
    bench.wish(Command::SwitchBreak { breakpoint: 1, on: false }).unwrap();
    bench.wish(Command::RemoveBreak(1)).unwrap();
    let on = |bench: &Bench| bench.state().stops.get(1).map(|b| b.on);
    for is in [Some(false), Some(true), None] {
        assert_eq!(names(&bench.wish(Command::Undo).unwrap()), ["taken_back"]);
        assert_eq!(on(&bench), is);
    }
    assert_eq!(bench.state().remarks.len(), 1);
    for is in [Some(true), Some(false), None] {
        assert_eq!(names(&bench.wish(Command::Redo).unwrap()), ["made_again"]);
        assert_eq!(on(&bench), is);
    }
}

#[test]
fn an_undo_after_what_stays_is_refused_and_takes_back_nothing_older() {
    let mut spec = spec(1, 50);
    spec.method = "another".to_owned();
    let failed = |bench: &mut Bench| {
        bench.wish(Command::Step).unwrap();
        let (call, _) = bench.call().unwrap();
        bench.reply(Reply::Failed { call, failure: no_answer() });
    };
    let asked = |bench: &mut Bench| drop(bench.wish(Command::Step).unwrap());
    let proposed = |bench: &mut Bench| {
        bench.wish(Command::Step).unwrap();
        bench.says("look");
    };
    let differs = |bench: &mut Bench| {
        let (recorded, now) = ("OK.".to_owned(), "No.".to_owned());
        bench.reply(Reply::Diverged { episode: 1, step: 1, recorded, now });
    };
    let ended = |bench: &mut Bench| drop(bench.wish(Command::EndEpisode(EndReason::Person)).unwrap());
    let templates = Command::Set { name: "templates".to_owned(), value: "other".into() };
    let task = spec.tasks[0].clone();
    let before: [&dyn Fn(&mut Bench); 9] =
        [&|_| (), &|_| (), &asked, &proposed, &|_| (), &failed, &differs, &ended, &|_| ()];
    let deeds = [
        (Command::ChangeRun(Box::new(spec)), "run_changed", "the run was changed"),
        (Command::EndEpisode(EndReason::Person), "episode_ended", "the episode was ended"),
        (Command::AskAgain, "call_cancelled", "a call to a model was broken off"),
        (Command::AskAgain, "asked_again", "the agent was asked again"),
        (templates, "setting_changed", "other prompt templates were taken"),
        (Command::RetryFrom("cache".to_owned()), "retried", "a recorded reply was taken"),
        (Command::Retry, "retried", "the world was taken as it is now"),
        (Command::Begin(Box::new(task)), "episode_started", "an episode was begun"),
        (Command::EndRun, "run_ended", "the run was ended"),
    ];
    for (set, (command, name, words)) in before.iter().zip(deeds) {
        let mut bench = answered();
        set(&mut bench);
        bench.wish(Command::Remark { step: 0, text: "odd".to_owned() }).unwrap();
        bench.wish(command).unwrap();
        let named = |e: &&crate::engine::Envelope| names(std::slice::from_ref(&e.event)) == [name];
        let of = bench.journal.iter().rev().find(named).unwrap().seq;
        let refusal = bench.wish(Command::Undo).unwrap_err();
        assert!(refusal.why.contains(words), "{refusal:?}");
        assert_eq!(refusal.about, Some(of), "a fork from before it is offered");
        assert_eq!(bench.state().remarks.len(), 1);
    }
    // The mentor's words are not unsaid either.
    let mut bench = Bench::counselled(1, 50);
    bench.wish(Command::Step).unwrap();
    bench.world(turn("A room. Your task is to: rest."));
    bench.says("look");
    bench.wish(Command::Remark { step: 0, text: "odd".to_owned() }).unwrap();
    bench.wish(Command::Reflect(Kind::Error)).unwrap();
    assert!(bench.wish(Command::Undo).unwrap_err().why.contains("the mentor was asked"));
}
