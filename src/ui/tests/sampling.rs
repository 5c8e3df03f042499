//! Changing the sampling of a role in the model dialog and at a fork; texts and completion of the fork dialog.

use super::overlays::type_text;
use super::{TestScreen, screen_text};
use crate::domain::{DecidedBy, SettingOrigin};
use crate::engine::{Cause, Command, Event};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::types::EventRef;
use serde_json::json;

/// The sample session with a model as actor.
fn with_model() -> Fixture {
    let mut f = sample_session();
    f.execute("go to stoveburner 1", DecidedBy::Actor, "Nothing.", 0.5, serde_json::Value::Null);
    let mut spec = f.state.run.as_deref().cloned().unwrap();
    "openai:small".clone_into(&mut spec.actor);
    let sampling = json!({"temperature": 0.0, "top_p": 0.7, "seed": true});
    spec.settings.set("actor.sampling", sampling, SettingOrigin::Config);
    f.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
    f.propose(Some("What now?"), Some("look"));
    f.pause();
    f
}

fn sent_command(requests: &[Request]) -> &Command {
    match requests {
        [.., Request::Send(command)] => command,
        other => panic!("nothing was sent: {other:?}"),
    }
}

#[test]
fn sampling_is_changed_where_models_are_switched() {
    let mut stage = TestScreen::new(with_model(), 80, 24);
    stage.press("O");
    stage.press("Tab");
    stage.press("Tab");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("Actor sampling from now on") && shown.contains("top_p  0.7;"), "{shown}");
    insta::assert_snapshot!("sampling_80x24", shown);
    // Enter fills in the name; its value is typed after it.
    assert_eq!(stage.press("Enter"), []);
    type_text(&mut stage, "hot");
    assert_eq!(stage.press("Enter"), []);
    assert!(screen_text(&stage.draw()).contains("expected a number, at least 0"));
    stage.press("Ctrl-u");
    type_text(&mut stage, "temperature 0.7");
    let requests = stage.press("Enter");
    let set = Command::ChangeSetting { name: "actor.temperature".to_owned(), value: json!(0.7) };
    assert_eq!(*sent_command(&requests), set);
    // The rule-based actor has no sampling settings, and the dialog says so.
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    for key in ["O", "Tab", "Tab"] {
        stage.press(key);
    }
    type_text(&mut stage, "top_p 0.5");
    assert_eq!(stage.press("Enter"), []);
    assert!(screen_text(&stage.draw()).contains("no sampling parameters"));
}

/// Goes two steps back and opens the dialog.
fn fork_dialog_two_steps_back(fixture: Fixture, width: u16, height: u16) -> TestScreen {
    let mut stage = TestScreen::new(fixture, width, height);
    stage.press("Left");
    stage.press("Left");
    stage.press("F");
    stage
}

fn select_row(stage: &mut TestScreen, label: &str) {
    for _ in 0..40 {
        if screen_text(&stage.draw()).lines().any(|l| l.contains(&format!("▸ {label}"))) {
            return;
        }
        stage.press("Down");
    }
    panic!("no row {label}:\n{}", screen_text(&stage.draw()));
}

#[test]
fn a_new_branch_can_change_sampling() {
    let mut f = with_model();
    for _ in 0..3 {
        f.execute("look", DecidedBy::Actor, "A room.", 0.5, serde_json::Value::Null);
        f.propose(None, Some("look"));
        f.pause();
    }
    let mut stage = fork_dialog_two_steps_back(f, 80, 24);
    select_row(&mut stage, "other actor sampling");
    stage.press("Enter");
    select_row(&mut stage, "actor.temperature");
    insta::assert_snapshot!("fork_sampling_80x24", screen_text(&stage.draw()));
    stage.press("Enter");
    stage.send(UiMessage::Paste("0.9".to_owned()));
    let requests = stage.press("Enter");
    let [.., Request::Fork(fork)] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(
        fork.commands,
        [Command::ChangeSetting { name: "actor.temperature".to_owned(), value: json!(0.9) }]
    );
    assert!(fork.reason.ends_with("actor.temperature = 0.9"), "{}", fork.reason);
    // For the rule-based actor the dialog rejects the setting at once.
    let mut stage = fork_dialog_two_steps_back(sample_session(), 80, 24);
    select_row(&mut stage, "other actor sampling");
    stage.press("Enter");
    select_row(&mut stage, "actor.top_p");
    stage.press("Enter");
    stage.send(UiMessage::Paste("0.9".to_owned()));
    assert_eq!(stage.press("Enter"), []);
    assert!(screen_text(&stage.draw()).contains("no sampling parameters"));
}

#[test]
fn a_past_action_is_completed_from_the_actions_admissible_then() {
    let mut stage = fork_dialog_two_steps_back(sample_session(), 80, 24);
    select_row(&mut stage, "another action");
    let requests = stage.press("Enter");
    let [Request::ListAdmissibleAt(at)] = requests.as_slice() else { panic!("{requests:?}") };
    let step = stage.frame_data().selected_step();
    assert_eq!(stage.fixture.store.state_at(at.seq).step_awaiting_decision().map(|s| s.number), Some(step));
    assert!(screen_text(&stage.draw()).contains("replaying to list"));
    let listed = ["close fridge 1", "go to cabinet 1", "look"].map(str::to_owned);
    stage.send(UiMessage::Answer(Answer::AdmissibleAt { at: *at, actions: Ok(listed.to_vec()) }));
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("3 of 3") && shown.contains("close fridge 1"), "{shown}");
    type_text(&mut stage, "cab");
    insta::assert_snapshot!("fork_action_80x24", screen_text(&stage.draw()));
    stage.press("Tab");
    let requests = stage.press("Enter");
    let [.., Request::Fork(fork)] = requests.as_slice() else { panic!("{requests:?}") };
    assert!(matches!(&fork.commands[..], [Command::Override { action, .. }] if action == "go to cabinet 1"));
    // If the list is unavailable, the dialog says so, and an action can still be typed.
    let mut stage = fork_dialog_two_steps_back(sample_session(), 80, 24);
    select_row(&mut stage, "another action");
    let requests = stage.press("Enter");
    let [Request::ListAdmissibleAt(at)] = requests.as_slice() else { panic!("{requests:?}") };
    let listed = Err("the environment now answers differently".to_owned());
    stage.send(UiMessage::Answer(Answer::AdmissibleAt { at: *at, actions: listed }));
    assert!(screen_text(&stage.draw()).contains("no list: the environment now answers differently"));
}

/// Regression: answers carried no position, so that a late one was offered at the wrong step.
#[test]
fn admissible_actions_of_another_position_are_dropped() {
    let mut stage = fork_dialog_two_steps_back(sample_session(), 80, 24);
    let request_list = |stage: &mut TestScreen| {
        select_row(stage, "another action");
        let requests = stage.press("Enter");
        let [Request::ListAdmissibleAt(at)] = requests.as_slice() else { panic!("{requests:?}") };
        *at
    };
    let answer = |at: EventRef, action: &str| {
        UiMessage::Answer(Answer::AdmissibleAt { at, actions: Ok(vec![action.to_owned()]) })
    };
    let first = request_list(&mut stage);
    // Close the dialog and request the list of another step before the first answer arrives.
    stage.press("Esc");
    stage.press("Esc");
    stage.press("Left");
    stage.press("F");
    let second = request_list(&mut stage);
    assert_ne!(first, second);
    let elsewhere = EventRef { epoch: second.epoch + 1, ..second };
    for late in [first, elsewhere] {
        for listed in
            [Ok(vec!["close fridge 1".to_owned()]), Err("the environment now answers differently".to_owned())]
        {
            stage.send(UiMessage::Answer(Answer::AdmissibleAt { at: late, actions: listed }));
            let shown = screen_text(&stage.draw());
            assert!(shown.contains("replaying to list"), "still waiting for its own answer: {shown}");
            assert!(!shown.contains("close fridge 1") && !shown.contains("answers differently"), "{shown}");
        }
    }
    stage.send(answer(second, "go to cabinet 9"));
    assert!(screen_text(&stage.draw()).contains("go to cabinet 9"));
    // A late answer is dropped after its own has arrived, too.
    stage.send(answer(first, "close fridge 1"));
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("go to cabinet 9") && !shown.contains("close fridge 1"), "{shown}");
}

/// Regression: "of N" kept growing while the past was shown.
#[test]
fn the_live_position_is_worded_the_same_everywhere() {
    let mut f = sample_session();
    f.write(Cause::Person, Event::Resumed);
    let mut stage = TestScreen::new(f, 120, 36);
    stage.press("Left");
    stage.press("Left");
    let step = stage.frame_data().selected_step();
    let live = |stage: &TestScreen| stage.frame_data().head.episode.as_ref().map_or(0, |e| e.steps.len());
    for _ in 0..2 {
        let now = live(&stage);
        let shown = screen_text(&stage.draw());
        assert!(shown.contains(&format!("PAST step {step} · live: step {now}, running")), "{shown}");
        stage.press("F");
        let title = format!("the past (step {step}; live: step {now}, running)");
        let shown = screen_text(&stage.draw());
        assert!(shown.contains(&title), "{shown}");
        // An open dialog follows the session.
        stage.fixture.execute("look", DecidedBy::Actor, "A room.", 0.5, serde_json::Value::Null);
        stage.fixture.propose(None, Some("look"));
        let title = format!("live: step {}, running)", live(&stage));
        let shown = screen_text(&stage.draw());
        assert!(shown.contains(&title), "{shown}");
        stage.press("Esc");
    }
    stage.model.size = (60, 16);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains(&format!("PAST step {step} · live {}", live(&stage))), "{shown}");
}

/// Regression: at 60 columns half of the keys didn't fit on the lower edge, and nothing showed that there were more.
#[test]
fn keys_that_do_not_fit_on_the_lower_edge_move_to_the_upper_one() {
    let mut stage = TestScreen::new(sample_session(), 60, 16);
    stage.press("B");
    let shown = screen_text(&stage.draw());
    for key in ["r name", "n note", "D compare", "a archive", "esc close"] {
        assert!(shown.to_lowercase().contains(&key.to_lowercase()), "{key}\n{shown}");
    }
}

/// Regression: the error message of a condition was cut off at the window's edge.
#[test]
fn the_error_of_a_condition_is_wrapped() {
    let mut stage = TestScreen::new(sample_session(), 60, 16);
    stage.press("b");
    type_text(&mut stage, "note -");
    stage.press("Enter");
    let wrong = crate::breakpoint::parse("note -").unwrap_err().message;
    assert!(wrong.chars().count() > 56, "{wrong}");
    let shown = screen_text(&stage.draw());
    let last = wrong.split_whitespace().last().unwrap();
    assert!(shown.contains(last), "{wrong}\n{shown}");
}

/// Regression: sessions were sorted only by time, and a narrow screen cut off their outcomes.
#[test]
fn compare_targets_list_the_same_task_first_with_its_outcome() {
    use crate::ui::types::EpisodeRef;
    let mut stage = TestScreen::new(sample_session(), 60, 16);
    let task = stage.frame_data().head.episode.as_ref().unwrap().task.clone();
    let (goal, mark) = (task.goal.clone(), task.key_hash());
    stage.press("D");
    let place = |name: &str, goal: &str| EpisodeRef {
        session: Some(name.to_owned()),
        title: format!("{name}-household-of-a-long-name-that-nothing-has-room-for: {goal}"),
        outcome: "1 of 2 won, 31 steps".to_owned(),
        goal: goal.to_owned(),
        tasks: if goal == "cool a mug" { [7].into() } else { [mark, 7].into() },
        ..EpisodeRef::default()
    };
    let others = vec![place("s3", "cool a mug"), place("s2", &goal), place("s1", "cool a mug")];
    stage.send(UiMessage::Answer(Answer::Comparable(Ok(others))));
    let shown = screen_text(&stage.draw());
    let rows: Vec<&str> = shown.lines().filter(|l| l.contains("household")).collect();
    let order: Vec<&str> =
        rows.iter().filter_map(|r| r.split(['│', '-']).nth(1)).map(|r| r.trim_matches([' ', '▸'])).collect();
    assert_eq!(order, ["s2", "s3", "s1"], "{shown}");
    assert!(rows.iter().all(|r| r.contains("1 of 2 won, 31 steps │")), "{shown}");
}

/// Regression: on a forked branch, an earlier trial was preselected instead of the branch whose play a person had changed.
#[test]
fn a_forked_branch_is_compared_with_the_one_it_was_forked_from() {
    use crate::ui::types::EpisodeRef;
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    let task = stage.frame_data().head.episode.as_ref().unwrap().task.key_hash();
    let branch = |id: &str, is_parent| EpisodeRef {
        branch: Some(id.to_owned()),
        is_parent,
        title: format!("branch {id}"),
        tasks: [task].into(),
        ..EpisodeRef::default()
    };
    stage.press("D");
    let others = vec![branch("b2", false), branch("trunk", true)];
    stage.send(UiMessage::Answer(Answer::Comparable(Ok(others))));
    let requests = stage.press("Enter");
    let [.., Request::Compare { b, .. }] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(b.branch.as_deref(), Some("trunk"));
}

/// Regression: tasks with the same goal text counted as the same task.
#[test]
fn the_same_task_means_environment_id_and_seed_before_the_same_goal() {
    use crate::ui::types::EpisodeRef;
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    let task = stage.frame_data().head.episode.as_ref().unwrap().task.clone();
    let seeded = crate::domain::Task { seed: task.seed + 1, ..task.clone() };
    let elsewhere = crate::domain::Task { env: "alfworld".to_owned(), ..task.clone() };
    assert_ne!(task.key_hash(), seeded.key_hash());
    let place = |name: &str, goal: &str, tasks: &[u64]| EpisodeRef {
        session: Some(name.to_owned()),
        title: format!("{name}: {goal}"),
        outcome: "1 of 2 won".to_owned(),
        goal: goal.to_owned(),
        tasks: tasks.into(),
        ..EpisodeRef::default()
    };
    stage.press("D");
    let others = vec![
        place("other", "cool a mug", &[1]),
        place("seeded", &task.goal, &[seeded.key_hash()]),
        place("elsewhere", &task.goal, &[elsewhere.key_hash()]),
        // Its latest task is another one, but the same task is among its others.
        place("several", "cool a mug", &[1, task.key_hash()]),
        place("same", &task.goal, &[task.key_hash()]),
    ];
    stage.send(UiMessage::Answer(Answer::Comparable(Ok(others))));
    let shown = screen_text(&stage.draw());
    let rows: Vec<&str> = shown.lines().filter(|l| l.contains("1 of 2 won")).collect();
    let names = ["several", "same", "seeded", "elsewhere", "other"];
    let labels = [
        "same task: 1",
        "same task: 1",
        "same goal, different task: 1",
        "same goal, different task: 1",
        "  1 of 2",
    ];
    assert_eq!(rows.len(), names.len(), "{shown}");
    for ((row, name), label) in rows.iter().zip(names).zip(labels) {
        assert!(row.contains(&format!("{name}: ")) && row.contains(label), "{row}\n{shown}");
    }
}
