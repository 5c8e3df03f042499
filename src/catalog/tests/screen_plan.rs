//! DORA with `acting=screen-plan`: what is proposed of a plan, when the actor is asked again, and what a person's changes do.

use crate::catalog::fixture::{TestRun, test_spec};
use crate::catalog::{build_policy, builtin_templates};
use crate::domain::{Autonomy, EndReason, RunSpec, SettingOrigin, ShownAs, StepResult, ThoughtDisposition};
use crate::engine::{Command, Event, Input, State};
use crate::prompt::render;
use serde_json::json;
use std::sync::Arc;

/// One evaluation of one page, with up to two attempts.
fn run(env: &str) -> RunSpec {
    let mut run = test_spec("dora", &[("click-menu/1", "click-menu")]);
    run.tasks[0].env = env.to_owned();
    (run.mentor, run.limits.steps) = ("script".to_owned(), 10);
    let settings =
        [("n_init", json!(1)), ("rounds", json!(0)), ("attempts", json!(2)), ("examples", json!(0))];
    for (name, value) in settings.into_iter().chain([("acting", json!("screen-plan"))]) {
        run.settings.set(name, value, SettingOrigin::Flag);
    }
    run
}

/// A page on which `open` adds an element and `win` ends the episode.
fn page() -> impl FnMut(Option<&str>) -> StepResult {
    let mut count = 0;
    move |action| {
        count = if action.is_some() { count } else { 2 };
        count += usize::from(action == Some("open"));
        let won = action == Some("win");
        let lines: Vec<String> = (1..=count).map(|number| format!("[{number}] <div> {number}")).collect();
        let reward = f64::from(u8::from(won));
        let observation = if action == Some("think: Wait.") { "OK.".to_owned() } else { lines.join("\n") };
        StepResult { observation, valid: true, done: won, won, reward, ..StepResult::default() }
    }
}

type Page = Box<dyn FnMut(Option<&str>) -> StepResult>;

/// A run with what its actor still replies.
struct Play {
    run: TestRun,
    page: Page,
    replies: Vec<&'static str>,
}

impl Play {
    fn new(autonomy: Autonomy, replies: &[&'static str]) -> Self {
        let mut run = TestRun::new(RunSpec { autonomy, ..run("miniwob") });
        run.mentor = Box::new(|_| "For screen 1, you should open it.".to_owned());
        let mut play = Self { run, page: Box::new(page()), replies: replies.iter().rev().copied().collect() };
        play.command(Command::Run);
        play
    }

    /// Has a person do something, and plays on until a decision is needed.
    fn command(&mut self, command: Command) {
        self.run.command(command);
        let replies = &mut self.replies;
        while self.run.advance(&mut self.page, &mut |_: &State| replies.pop().map(str::to_owned)) {}
    }

    fn proposed(&self) -> Option<String> {
        self.run.state().step_awaiting_decision()?.proposed.clone()
    }

    fn actor_prompts(&self) -> Vec<String> {
        let prompts = self.run.prompts.iter().filter(|(_, record)| record.question.is_none());
        prompts.map(|(state, record)| render(state, record).body()).collect()
    }
}

/// The actions of all attempts, each with the number of its step and whether the actor was asked in it.
fn actions(play: &TestRun) -> Vec<(u32, String, bool)> {
    let (mut state, mut actions) = (State::default(), Vec::new());
    for envelope in &play.journal {
        state.apply(envelope);
        if let Event::ActionTaken { step, executed, .. } = &envelope.event {
            actions.push((*step, executed.action.clone(), state.last_step().unwrap().call.is_some()));
        }
    }
    actions
}

fn expected(list: &[(u32, &str, bool)]) -> Vec<(u32, String, bool)> {
    list.iter().map(|(step, action, asked)| (*step, (*action).to_owned(), *asked)).collect()
}

#[test]
fn a_plan_is_carried_out_until_the_number_of_elements_changes() {
    let replies = [
        "a\nopen\nb",
        // Nothing changes, so that the attempt ends.
        "c\nthink: Why not.\nd",
        "think: Wait.",
        "open\ne",
        "win\nf",
    ];
    let play = Play::new(Autonomy::Auto, &replies);
    let state = play.run.state();
    assert!(state.run_over);
    let first = [(1, "a", true), (2, "open", false), (3, "c", true), (4, "d", false)];
    let second = [(1, "think: Wait.", true), (2, "open", true), (3, "win", true)];
    assert_eq!(actions(&play.run), expected(&[&first[..], &second[..]].concat()));
    let reasons: Vec<EndReason> = state.ended_episodes.iter().map(|ended| ended.reason).collect();
    assert_eq!(reasons, [EndReason::PlanEnd, EndReason::Won]);
    let is_thought = |event: &Event| matches!(event, Event::Proposed { step: 4, thought: Some(text), .. } if text == "Why not.");
    assert!(play.run.journal.iter().any(|envelope| is_thought(&envelope.event)));

    let prompts = play.actor_prompts();
    let order = |prompt: &str, parts: &[&str]| {
        let places: Vec<Option<usize>> = parts.iter().map(|part| prompt.find(part)).collect();
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{parts:?}: {places:?} in {prompt}"
        );
    };
    assert_eq!(prompts.len(), replies.len());
    let (system, form) =
        ("This time you plan for a whole screen", "Leave out what cannot be done on this screen");
    order(&prompts[0], &["- click_element [number]", system, "[2] <div> 2", "This is screen 1", form]);
    order(&prompts[1], &[system, "> open", "[3] <div> 3", "This is screen 2 of the attempt", form]);
    // A thought changes no screen.
    order(
        &prompts[3],
        &["> think: Wait.", "This is screen 1", "Advice from earlier attempts", "For screen 1", form],
    );
    assert!(prompts.iter().all(|prompt| !prompt.ends_with('>')));
    let mut sent = play.run.prompts.iter().filter(|(_, record)| record.question.is_none());
    assert!(sent.all(|(_, record)| record.whole_reply && record.own_stops().is_empty()));
    let asked = play.run.prompts.iter().find(|(_, record)| record.question.is_some()).unwrap();
    let question = render(&asked.0, &asked.1).body();
    order(&question, &["It planned all actions for a screen at once", "> open", "For screen 2, you should"]);
}

/// A session that is resumed within a plan goes on with it.
#[test]
fn a_resumed_plan_goes_on() {
    let play = Play::new(Autonomy::Auto, &["a\nb\nopen\nc", "d"]);
    let (mut resumed, mut state, mut count) = (Play::new(Autonomy::Auto, &[]), State::default(), 0);
    for envelope in &play.run.journal {
        if let Event::StepOpened { .. } = &envelope.event {
            resumed.run.engine.state = state.clone();
            let events = resumed.run.engine.advance();
            assert_eq!(events[0].1, envelope.event);
            assert!(
                matches!(&events[1].1, Event::Proposed { action: Some(action), .. } if ["b", "open"].contains(&action.as_str()))
            );
            count += 1;
        }
        let stored = serde_json::to_value(envelope).unwrap();
        state.apply(&serde_json::from_value(stored).unwrap());
    }
    assert_eq!(count, 2);
    assert_eq!(state.ended_episodes, play.run.state().ended_episodes);
}

#[test]
fn a_person_decides_on_each_planned_action() {
    let replies = ["a\nb\nc", "d\ne", "f\ng", "h\ni", "j"];
    let mut play = Play::new(Autonomy::Confirm, &replies);
    assert_eq!(play.proposed().as_deref(), Some("a"));
    play.command(Command::Approve);
    assert_eq!(play.proposed().as_deref(), Some("b"));
    let open = play.run.state().open_episode().unwrap();
    assert_eq!(open.planned_by(2).map(|(plan, index)| (plan.number, index)), Some((1, 0)));
    // Rejected: the actor plans anew, in the same step, and reads why.
    play.command(Command::Reject("not that one".to_owned()));
    assert_eq!(play.proposed().as_deref(), Some("d"));
    assert_eq!(play.run.state().last_step().unwrap().number, 2);
    assert!(play.actor_prompts()[1].contains("(A person rejected \"b\": not that one)"));
    play.command(Command::Approve);
    assert_eq!(play.proposed().as_deref(), Some("e"));
    // Asked again: the same without a reason.
    play.command(Command::AskAgain);
    assert_eq!(play.proposed().as_deref(), Some("f"));
    play.command(Command::Approve);
    assert_eq!(play.proposed().as_deref(), Some("g"));
    // Replaced: the rest is dropped, and the actor is asked in the next step.
    let thought_disposition = ThoughtDisposition::Kept;
    play.command(Command::Override {
        action: "own".to_owned(),
        shown_as: ShownAs::AgentAction,
        thought_disposition,
    });
    assert_eq!(play.proposed().as_deref(), Some("h"));
    // A person plays a step, and hands back: the actor is asked.
    play.command(Command::Approve);
    assert_eq!(play.proposed().as_deref(), Some("i"));
    play.command(Command::SetAutonomy(Autonomy::Human));
    play.command(Command::Act("own".to_owned()));
    play.command(Command::SetAutonomy(Autonomy::Confirm));
    assert_eq!(play.proposed().as_deref(), Some("j"));
    let asked = [("a", true), ("d", true), ("f", true), ("own", false), ("h", true), ("own", false)];
    let numbered = (1..).zip(asked).map(|(step, (action, asked))| (step, action, asked));
    assert_eq!(actions(&play.run), expected(&numbered.collect::<Vec<_>>()));
}

#[test]
fn plans_are_refused_where_no_elements_can_be_counted() {
    let build = |run: &RunSpec| build_policy(run, Arc::new(builtin_templates())).err();
    let error = build(&run("household")).unwrap();
    assert_eq!(
        error.to_string(),
        "acting=screen-plan follows a plan until the number of elements on the page changes, but household shows no such page"
    );
    assert_eq!(error.hint(), "leave it at one action a reply (--set acting=step), or play web pages");
    assert_eq!(build(&run("miniwob")), None);
    let mut usual = run("household");
    usual.settings.set("acting", "step", SettingOrigin::Flag);
    assert_eq!(build(&usual), None);
    // Nor can a person set it later: the session couldn't be resumed.
    let mut play = TestRun::new(usual);
    let change = |value: &str| Command::ChangeSetting { name: "acting".to_owned(), value: json!(value) };
    let refused = play.engine.decide(&Input::Command(change("screen-plan"))).unwrap_err();
    assert_eq!((refused.message, refused.hint.as_str()), (error.to_string(), error.hint().as_str()));
    play.command(change("step"));
}
