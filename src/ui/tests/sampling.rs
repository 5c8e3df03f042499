//! How a role is sampled, changed in the box of models and at a fork; and what the fork dialog says and completes.

use super::overlays::typed;
use super::{Stage, screen};
use crate::domain::{DecidedBy, SettingOrigin};
use crate::engine::{Cause, Command, Event};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Msg, Request, ThenAt};
use crate::ui::overlay::Answer;
use serde_json::json;

/// The kitchen with a model as actor.
fn with_model() -> Fixture {
    let mut f = sample_session();
    f.take("go to stoveburner 1", DecidedBy::Actor, "Nothing.", 0.5, serde_json::Value::Null);
    let mut spec = f.state.run.as_deref().cloned().unwrap();
    "openai:small".clone_into(&mut spec.actor);
    let sampling = json!({"temperature": 0.0, "top_p": 0.7, "seed": true});
    spec.settings.set("actor.sampling", sampling, SettingOrigin::Config);
    f.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
    f.propose(Some("What now?"), Some("look"));
    f.pause();
    f
}

fn sent(wants: &[Request]) -> &Command {
    match wants {
        [.., Request::Send(command)] => command,
        other => panic!("nothing was sent: {other:?}"),
    }
}

#[test]
fn sampling_is_changed_where_models_are_switched() {
    let mut stage = Stage::new(with_model(), 80, 24);
    stage.press("O");
    stage.press("Tab");
    stage.press("Tab");
    let shown = screen(&stage.draw());
    assert!(shown.contains("How is the actor sampled") && shown.contains("top_p  0.7;"), "{shown}");
    insta::assert_snapshot!("sampling_80x24", shown);
    // A name is put into the line, and its value typed behind it.
    assert_eq!(stage.press("Enter"), []);
    typed(&mut stage, "hot");
    assert_eq!(stage.press("Enter"), []);
    assert!(screen(&stage.draw()).contains("expected a number, at least 0"));
    stage.press("Ctrl-u");
    typed(&mut stage, "temperature 0.7");
    let wants = stage.press("Enter");
    let set = Command::ChangeSetting { name: "actor.temperature".to_owned(), value: json!(0.7) };
    assert_eq!(*sent(&wants), set);
    // The rules have none, and say so.
    let mut stage = Stage::new(sample_session(), 80, 24);
    for key in ["O", "Tab", "Tab"] {
        stage.press(key);
    }
    typed(&mut stage, "top_p 0.5");
    assert_eq!(stage.press("Enter"), []);
    assert!(screen(&stage.draw()).contains("no sampling settings"));
}

/// Goes two turns back and opens the dialog.
fn past(fixture: Fixture, width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(fixture, width, height);
    stage.press("Left");
    stage.press("Left");
    stage.press("F");
    stage
}

fn choose(stage: &mut Stage, words: &str) {
    for _ in 0..40 {
        if screen(&stage.draw()).lines().any(|l| l.contains(&format!("▸ {words}"))) {
            return;
        }
        stage.press("Down");
    }
    panic!("no row {words}:\n{}", screen(&stage.draw()));
}

#[test]
fn sampling_is_another_on_the_new_branch() {
    let mut f = with_model();
    for _ in 0..3 {
        f.take("look", DecidedBy::Actor, "A room.", 0.5, serde_json::Value::Null);
        f.propose(None, Some("look"));
        f.pause();
    }
    let mut stage = past(f, 80, 24);
    choose(&mut stage, "other actor sampling");
    stage.press("Enter");
    choose(&mut stage, "actor.temperature");
    insta::assert_snapshot!("fork_sampling_80x24", screen(&stage.draw()));
    stage.press("Enter");
    stage.tell(Msg::Paste("0.9".to_owned()));
    let wants = stage.press("Enter");
    let [.., Request::Fork(fork)] = wants.as_slice() else { panic!("{wants:?}") };
    assert_eq!(
        fork.then,
        [Command::ChangeSetting { name: "actor.temperature".to_owned(), value: json!(0.9) }]
    );
    assert!(fork.reason.ends_with("actor.temperature = 0.9"), "{}", fork.reason);
    // Of the rules it is said there and then.
    let mut stage = past(sample_session(), 80, 24);
    choose(&mut stage, "other actor sampling");
    stage.press("Enter");
    choose(&mut stage, "actor.top_p");
    stage.press("Enter");
    stage.tell(Msg::Paste("0.9".to_owned()));
    assert_eq!(stage.press("Enter"), []);
    assert!(screen(&stage.draw()).contains("no sampling settings"));
}

#[test]
fn another_action_of_the_past_is_completed_from_what_the_world_accepted_then() {
    let mut stage = past(sample_session(), 80, 24);
    choose(&mut stage, "another action");
    let wants = stage.press("Enter");
    let [Request::AdmissibleThen(at)] = wants.as_slice() else { panic!("{wants:?}") };
    let turn = stage.moment().chosen();
    assert_eq!(stage.fixture.store.state_at(at.at).step_awaiting_decision().map(|s| s.number), Some(turn));
    assert!(screen(&stage.draw()).contains("taken again"));
    let listed = ["close fridge 1", "go to cabinet 1", "look"].map(str::to_owned);
    stage.tell(Msg::Answer(Answer::AdmissibleThen { at: *at, listed: Ok(listed.to_vec()) }));
    let shown = screen(&stage.draw());
    assert!(shown.contains("3 of 3") && shown.contains("close fridge 1"), "{shown}");
    typed(&mut stage, "cab");
    insta::assert_snapshot!("fork_action_80x24", screen(&stage.draw()));
    stage.press("Tab");
    let wants = stage.press("Enter");
    let [.., Request::Fork(fork)] = wants.as_slice() else { panic!("{wants:?}") };
    assert!(matches!(&fork.then[..], [Command::Override { action, .. }] if action == "go to cabinet 1"));
    // Where it cannot be had, that is said, and an action can be typed.
    let mut stage = past(sample_session(), 80, 24);
    choose(&mut stage, "another action");
    let wants = stage.press("Enter");
    let [Request::AdmissibleThen(at)] = wants.as_slice() else { panic!("{wants:?}") };
    let listed = Err("the world of now answers otherwise".to_owned());
    stage.tell(Msg::Answer(Answer::AdmissibleThen { at: *at, listed }));
    assert!(screen(&stage.draw()).contains("no list: the world of now answers otherwise"));
}

/// An answer carried no moment: one that came late was offered at the wrong one.
#[test]
fn what_the_world_accepted_at_another_moment_is_dropped() {
    let mut stage = past(sample_session(), 80, 24);
    let asked = |stage: &mut Stage| {
        choose(stage, "another action");
        let wants = stage.press("Enter");
        let [Request::AdmissibleThen(at)] = wants.as_slice() else { panic!("{wants:?}") };
        *at
    };
    let answer = |at: ThenAt, action: &str| {
        Msg::Answer(Answer::AdmissibleThen { at, listed: Ok(vec![action.to_owned()]) })
    };
    let first = asked(&mut stage);
    // Put away, and asked for another moment, before the first answer is there.
    stage.press("Esc");
    stage.press("Esc");
    stage.press("Left");
    stage.press("F");
    let second = asked(&mut stage);
    assert_ne!(first, second);
    let elsewhere = ThenAt { line: second.line + 1, ..second };
    for late in [first, elsewhere] {
        for listed in
            [Ok(vec!["close fridge 1".to_owned()]), Err("the world of now answers otherwise".to_owned())]
        {
            stage.tell(Msg::Answer(Answer::AdmissibleThen { at: late, listed }));
            let shown = screen(&stage.draw());
            assert!(shown.contains("taken again"), "it still waits for its own: {shown}");
            assert!(!shown.contains("close fridge 1") && !shown.contains("answers otherwise"), "{shown}");
        }
    }
    stage.tell(answer(second, "go to cabinet 9"));
    assert!(screen(&stage.draw()).contains("go to cabinet 9"));
    // And after its own, too.
    stage.tell(answer(first, "close fridge 1"));
    let shown = screen(&stage.draw());
    assert!(shown.contains("go to cabinet 9") && !shown.contains("close fridge 1"), "{shown}");
}

/// "of N" grew under the eyes of whoever read it.
#[test]
fn a_run_that_goes_on_behind_the_past_is_named_in_the_same_words_everywhere() {
    let mut f = sample_session();
    f.write(Cause::Person, Event::Resumed);
    let mut stage = Stage::new(f, 120, 36);
    stage.press("Left");
    stage.press("Left");
    let turn = stage.moment().chosen();
    let live = |stage: &Stage| stage.moment().head.episode.as_ref().map_or(0, |e| e.steps.len());
    for _ in 0..2 {
        let now = live(&stage);
        let shown = screen(&stage.draw());
        assert!(shown.contains(&format!("PAST turn {turn} · live: turn {now}, running")), "{shown}");
        stage.press("F");
        let words = format!("the past (turn {turn}; live: turn {now}, running)");
        let shown = screen(&stage.draw());
        assert!(shown.contains(&words), "{shown}");
        // One that is open follows, too.
        stage.fixture.take("look", DecidedBy::Actor, "A room.", 0.5, serde_json::Value::Null);
        stage.fixture.propose(None, Some("look"));
        let words = format!("live: turn {}, running)", live(&stage));
        let shown = screen(&stage.draw());
        assert!(shown.contains(&words), "{shown}");
        stage.press("Esc");
    }
    stage.model.size = (60, 16);
    let shown = screen(&stage.draw());
    assert!(shown.contains(&format!("PAST turn {turn} · live {}", live(&stage))), "{shown}");
}

/// At 60 columns the lower edge had no room for half of the keys, and nothing said that there were more.
#[test]
fn keys_that_do_not_fit_stand_in_the_last_row() {
    let mut stage = Stage::new(sample_session(), 60, 16);
    stage.press("B");
    let shown = screen(&stage.draw());
    for key in ["r name", "n note", "D compare", "a archive", "A all", "esc close"] {
        assert!(shown.to_lowercase().contains(&key.to_lowercase()), "{key}\n{shown}");
    }
}

/// What is wrong with a condition ran out of the window.
#[test]
fn what_is_wrong_with_a_condition_is_wrapped() {
    let mut stage = Stage::new(sample_session(), 60, 16);
    stage.press("b");
    typed(&mut stage, "action ~ (heat");
    stage.press("Enter");
    let wrong = crate::breakpoint::parse("action ~ (heat").unwrap_err().message;
    assert!(wrong.chars().count() > 56, "{wrong}");
    let shown = screen(&stage.draw());
    let last = wrong.split_whitespace().last().unwrap();
    assert!(shown.contains(last), "{wrong}\n{shown}");
}

/// Sessions stood in their order alone, and a narrow screen cut how they went.
#[test]
fn the_same_task_stands_first_among_what_can_be_compared_and_its_outcome_is_seen() {
    use crate::ui::compare::Place;
    let mut stage = Stage::new(sample_session(), 60, 16);
    let task = stage.moment().head.episode.as_ref().unwrap().task.clone();
    let (goal, mark) = (task.goal.clone(), task.key_hash());
    stage.press("D");
    let place = |name: &str, goal: &str| Place {
        session: Some(name.to_owned()),
        title: format!("{name}-household-of-a-long-name-that-nothing-has-room-for: {goal}"),
        went: "1 of 2 won, 31 steps".to_owned(),
        goal: goal.to_owned(),
        tasks: if goal == "cool a mug" { [7].into() } else { [mark, 7].into() },
        ..Place::default()
    };
    let others = vec![place("s3", "cool a mug"), place("s2", &goal), place("s1", "cool a mug")];
    stage.tell(Msg::Answer(Answer::Others(Ok(others))));
    let shown = screen(&stage.draw());
    let rows: Vec<&str> = shown.lines().filter(|l| l.contains("household")).collect();
    let order: Vec<&str> = rows.iter().filter_map(|r| r.split(['│', '-']).nth(1)).map(str::trim).collect();
    assert_eq!(order, ["s2", "s3", "s1"], "{shown}");
    assert!(rows.iter().all(|r| r.contains("1 of 2 won, 31 steps │")), "{shown}");
    assert!(rows[1].contains("cool a mug"), "the middle of a name is left out: {shown}");
}

/// The same task was whatever has the same words for a goal.
#[test]
fn the_same_task_is_its_world_id_and_seed_and_the_same_goal_comes_behind_it() {
    use crate::ui::compare::Place;
    let mut stage = Stage::new(sample_session(), 120, 36);
    let task = stage.moment().head.episode.as_ref().unwrap().task.clone();
    let seeded = crate::domain::Task { seed: task.seed + 1, ..task.clone() };
    let elsewhere = crate::domain::Task { env: "alfworld".to_owned(), ..task.clone() };
    assert_ne!(task.key_hash(), seeded.key_hash());
    let place = |name: &str, goal: &str, tasks: &[u64]| Place {
        session: Some(name.to_owned()),
        title: format!("{name}: {goal}"),
        went: "1 of 2 won".to_owned(),
        goal: goal.to_owned(),
        tasks: tasks.into(),
        ..Place::default()
    };
    stage.press("D");
    let others = vec![
        place("other", "cool a mug", &[1]),
        place("seeded", &task.goal, &[seeded.key_hash()]),
        place("elsewhere", &task.goal, &[elsewhere.key_hash()]),
        // Its newest task is another one; the same stands among them.
        place("several", "cool a mug", &[1, task.key_hash()]),
        place("same", &task.goal, &[task.key_hash()]),
    ];
    stage.tell(Msg::Answer(Answer::Others(Ok(others))));
    let shown = screen(&stage.draw());
    let rows: Vec<&str> = shown.lines().filter(|l| l.contains("1 of 2 won")).collect();
    let names = ["several", "same", "seeded", "elsewhere", "other"];
    let said =
        ["same task: 1", "same task: 1", "same goal, other task: 1", "same goal, other task: 1", "  1 of 2"];
    assert_eq!(rows.len(), names.len(), "{shown}");
    for ((row, name), said) in rows.iter().zip(names).zip(said) {
        assert!(row.contains(&format!("{name}: ")) && row.contains(said), "{row}\n{shown}");
    }
}
