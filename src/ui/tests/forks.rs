//! Continuing from the past on a new branch.

use super::{SIZES, TestScreen, screen_text};
use crate::domain::{DecidedBy, LessonText, ReflectionKind, Seq};
use crate::driver::{Fork, Health, Signal};
use crate::engine::{Cause, Command, CommandError, Event, LessonCommand, PauseReason};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Request, UiMessage};
use crate::ui::types::{Cursor, Focus};

fn fork_request(requests: &[Request]) -> &Fork {
    match requests {
        [.., Request::Fork(fork)] => {
            assert!(
                fork.source_branch.is_some(),
                "the fork names the branch that was shown, whichever is active when it runs"
            );
            fork
        }
        other => panic!("no fork in {other:?}"),
    }
}

fn top_overlay(stage: &TestScreen) -> &'static str {
    stage.compositor.overlays().last().map_or("", |o| o.name())
}

fn notice_text(stage: &TestScreen) -> String {
    stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default()
}

/// A session that a person stepped through: every proposal waited for a grant.
fn stepped_session() -> Fixture {
    let mut f = Fixture::new();
    f.begin_episode();
    for (thought, action) in
        [("I look.", "go to fridge 1"), ("I open it.", "open fridge 1"), ("Empty.", "go to shelf 1")]
    {
        f.propose(Some(thought), Some(action));
        f.pause();
        f.write(Cause::Person, Event::StepGranted);
        let step = f.state().last_step().unwrap().number;
        f.write(Cause::Person, Event::Approved { step });
        f.execute(action, DecidedBy::Actor, &format!("You did {action}."), 0.0, serde_json::Value::Null);
    }
    f.propose(Some("What now?"), Some("look"));
    f.pause();
    f
}

/// Goes to a step and opens the dialog with a key.
fn fork_dialog_at(fixture: Fixture, step: u32, key: &str) -> TestScreen {
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.press(":");
    stage.send(UiMessage::Paste(step.to_string()));
    stage.press("Enter");
    stage.press(key);
    stage
}

/// Returns the step that waits for a decision at an event, and its proposal.
fn pending_at(stage: &TestScreen, seq: Seq) -> Option<(u32, Option<String>)> {
    let state = stage.fixture.store.state_at(seq);
    assert_eq!(state.head, seq);
    assert_eq!(state.grant, None, "no step is granted at {seq}");
    state.step_awaiting_decision().map(|s| (s.number, s.proposed.clone()))
}

#[test]
fn another_action_forks_where_the_proposal_of_the_step_waits() {
    // In a session that was stepped, and in one that ran.
    for (name, fixture, step, action) in [
        ("stepped", stepped_session as fn() -> Fixture, 2, "open fridge 1"),
        ("running", sample_session, 5, "open fridge 1"),
    ] {
        let mut stage = fork_dialog_at(fixture(), step, "o");
        assert_eq!(top_overlay(&stage), "fork", "{name}");
        let requests = stage.press("Enter");
        assert!(matches!(&requests[..], [Request::ListAdmissibleAt(_)]), "{name}: {requests:?}");
        stage.send(UiMessage::Paste("look".to_owned()));
        assert_eq!(stage.press("Enter"), [], "{name}: nobody knows yet whether it is admissible");
        let requests = stage.press("Enter");
        let fork = fork_request(&requests);
        assert_eq!(pending_at(&stage, fork.at_seq), Some((step, Some(action.to_owned()))), "{name}");
        assert!(!stage.fixture.store.timeline().event(fork.at_seq).unwrap().batch_continues);
        assert!(
            matches!(&fork.commands[..], [Command::Override { action, .. }] if action == "look"),
            "{name}: {fork:?}"
        );
        assert_eq!(fork.reason, format!("step {step}: another action, look"));
        assert_eq!(top_overlay(&stage), "");
    }
}

#[test]
fn continuing_forks_after_the_step_before_anyone_continued() {
    for key in ["n", "Enter", "s"] {
        let mut stage = fork_dialog_at(stepped_session(), 2, key);
        assert_eq!(top_overlay(&stage), "fork", "{key}");
        let requests = stage.press("Enter");
        let fork = fork_request(&requests);
        let state = stage.fixture.store.state_at(fork.at_seq);
        let episode = state.episode.as_ref().unwrap();
        assert_eq!((episode.answered_steps(), episode.steps.len()), (2, 2), "{key}");
        assert_eq!(fork.commands, [Command::Step]);
    }
    // If the next step was opened by stages, the last event before it is a grant: the branch begins before that.
    let mut f = stepped_session();
    f.execute("look", DecidedBy::Actor, "A room.", 0.0, serde_json::Value::Null);
    f.write(Cause::Policy, Event::Paused { reason: PauseReason::StepDone });
    let granted = f.write(Cause::Person, Event::StageGranted);
    f.propose(None, Some("look"));
    let mut stage = fork_dialog_at(f, 4, "n");
    assert_eq!(fork_request(&stage.press("Enter")).at_seq, Seq(granted.0 - 1));
}

/// The last event of a closed session is its closing; a branch that began there would be closed too.
#[test]
fn a_branch_never_starts_at_a_closed_session() {
    let mut f = stepped_session();
    let proposal = f.state().head;
    f.write(Cause::Policy, Event::Closed);
    let mut stage = TestScreen::new(f, 80, 24);
    stage.press("F");
    let requests = stage.press("Enter");
    assert_eq!(fork_request(&requests).at_seq, proposal);
    assert!(!stage.fixture.store.state_at(proposal).closed);
}

#[test]
fn a_step_played_by_a_person_forks_before_its_input() {
    let mut f = Fixture::new();
    f.begin_episode();
    f.write(Cause::Person, Event::AutonomySet { autonomy: crate::domain::Autonomy::Human });
    let before = f.state().head;
    f.person_step("look", "A room.");
    f.person_step("go to fridge 1", "It is closed.");
    let mut stage = fork_dialog_at(f, 1, "o");
    stage.press("Enter");
    stage.send(UiMessage::Paste("inventory".to_owned()));
    let requests = stage.press("Ctrl-j");
    assert_eq!(fork_request(&requests).at_seq, before);
    assert_eq!(fork_request(&requests).commands, [Command::Act("inventory".to_owned())]);
}

#[test]
fn the_dialog_offers_every_possible_change() {
    for (w, h) in SIZES {
        let mut stage = fork_dialog_at(stepped_session(), 2, "n");
        stage.model.size = (w, h);
        insta::assert_snapshot!(format!("fork_{w}x{h}"), screen_text(&stage.draw()));
    }
    let mut stage = fork_dialog_at(stepped_session(), 2, "n");
    stage.glyphs = crate::ui::glyphs::ASCII;
    assert!(screen_text(&stage.draw()).is_ascii());
}

/// Selects a row of the dialog by the start of its text.
fn select_row(stage: &mut TestScreen, label: &str) {
    for _ in 0..30 {
        let shown = screen_text(&stage.draw());
        if shown.lines().any(|l| l.contains(&format!("▸ {label}"))) {
            return;
        }
        stage.press("Down");
    }
    panic!("no row {label}:\n{}", screen_text(&stage.draw()));
}

#[test]
fn thoughts_and_observations_can_be_changed() {
    let mut stage = fork_dialog_at(stepped_session(), 2, "n");
    select_row(&mut stage, "another thought");
    stage.press("Enter");
    insta::assert_snapshot!("fork_thought_80x24", screen_text(&stage.draw()));
    assert_eq!(stage.press("Enter"), [], "unchanged text is not accepted");
    assert!(screen_text(&stage.draw()).contains("unchanged; edit it"));
    stage.send(UiMessage::Paste(" Or not.".to_owned()));
    let requests = stage.press("Enter");
    let expected = [Command::EditThought { step: 2, text: "I open it. Or not.".to_owned() }];
    assert_eq!(fork_request(&requests).commands, expected);
    assert_eq!(pending_at(&stage, fork_request(&requests).at_seq).unwrap().0, 2);

    let mut stage = fork_dialog_at(stepped_session(), 2, "n");
    select_row(&mut stage, "another observation");
    stage.press("Enter");
    assert!(screen_text(&stage.draw()).contains("The environment itself"), "{}", screen_text(&stage.draw()));
    stage.send(UiMessage::Paste(" It is empty.".to_owned()));
    let requests = stage.press("Enter");
    let text = "You did open fridge 1. It is empty.".to_owned();
    assert_eq!(fork_request(&requests).commands, [Command::EditObservation { step: 2, text }, Command::Step]);
    let state = stage.fixture.store.state_at(fork_request(&requests).at_seq);
    assert_eq!(state.episode.as_ref().unwrap().answered_steps(), 2);
}

#[test]
fn method_model_and_settings_can_be_changed() {
    let mut stage = fork_dialog_at(stepped_session(), 2, "n");
    select_row(&mut stage, "another method");
    stage.press("Enter");
    select_row(&mut stage, "reflexion");
    let requests = stage.press("Enter");
    let [Command::ChangeRun(spec)] = &fork_request(&requests).commands[..] else { panic!("{requests:?}") };
    assert_eq!((spec.method.as_str(), spec.actor.as_str()), ("reflexion", "rules"));
    assert_eq!(spec.settings.typed().ask_again, 5, "the new method's own defaults");
    assert_eq!(fork_request(&requests).reason, "after step 2: method reflexion");

    let mut stage = fork_dialog_at(stepped_session(), 2, "n");
    select_row(&mut stage, "another actor");
    stage.press("Enter");
    stage.send(UiMessage::Paste("openai:small".to_owned()));
    let requests = stage.press("Enter");
    assert!(
        matches!(&fork_request(&requests).commands[..], [Command::ChangeRun(s)] if s.actor == "openai:small")
    );

    let mut stage = fork_dialog_at(stepped_session(), 2, "n");
    select_row(&mut stage, "another setting");
    stage.press("Enter");
    select_row(&mut stage, "examples");
    stage.press("Enter");
    stage.send(UiMessage::Paste("7".to_owned()));
    assert_eq!(stage.press("Enter"), []);
    assert!(screen_text(&stage.draw()).contains("expected a whole number from 0 to 2"));
    stage.press("Ctrl-u");
    stage.send(UiMessage::Paste("examples 1".to_owned()));
    let requests = stage.press("Enter");
    let expected = [Command::ChangeSetting { name: "examples".to_owned(), value: 1.into() }];
    assert_eq!(fork_request(&requests).commands, expected);
}

#[test]
fn past_lessons_change_on_a_new_branch() {
    // A new lesson.
    let mut stage = fork_dialog_at(sample_session(), 9, "a");
    assert_eq!(top_overlay(&stage), "fork");
    assert_eq!(stage.press("Enter"), []);
    assert_eq!(top_overlay(&stage), "lesson");
    stage.send(UiMessage::Paste("Look first.".to_owned()));
    let requests = stage.press("Enter");
    let fork = fork_request(&requests);
    assert!(
        matches!(&fork.commands[..], [Command::Lesson(LessonCommand::Add { .. }), Command::Step]),
        "{fork:?}"
    );
    // A lesson of that point is switched off; the present ones are unchanged.
    let mut stage = fork_dialog_at(sample_session(), 9, "Tab");
    assert_eq!(stage.model.focus, Focus::Lanes);
    assert_eq!(stage.press("x"), []);
    let shown = screen_text(&stage.draw());
    assert_eq!(top_overlay(&stage), "fork");
    assert!(shown.contains("▸ lesson 5 off: left out of prompts"), "{shown}");
    let requests = stage.press("Enter");
    assert!(matches!(&fork_request(&requests).commands[..], [Command::Lesson(LessonCommand::Status { .. })]));
    // The same from the lesson's details.
    let mut stage = fork_dialog_at(sample_session(), 9, "Tab");
    stage.press("Enter");
    assert_eq!(top_overlay(&stage), "details");
    assert_eq!(stage.press("P"), []);
    assert_eq!(top_overlay(&stage), "fork");
}

/// Regression: after a failed fork the dialog and the typed text were gone, and only the message stayed.
#[test]
fn a_failed_fork_restores_the_dialog() {
    let mut stage = fork_dialog_at(stepped_session(), 2, "n");
    select_row(&mut stage, "another actor");
    stage.press("Enter");
    stage.send(UiMessage::Paste("openai:z profile nope".to_owned()));
    fork_request(&stage.press("Enter"));
    assert_eq!(top_overlay(&stage), "");
    let error = CommandError::new("there is no profile \"nope\"", "write one");
    stage.fixture.store.signal(Signal::CommandFailed(error.clone()));
    stage.send(UiMessage::StoreChanged);
    let shown = screen_text(&stage.draw());
    assert_eq!(top_overlay(&stage), "fork");
    assert!(shown.contains("openai:z profile nope") && shown.contains("there is no profile"), "{shown}");
    // After another key, an error is about something else.
    fork_request(&stage.press("Enter"));
    stage.press("Left");
    stage.fixture.store.signal(Signal::CommandFailed(error));
    stage.send(UiMessage::StoreChanged);
    assert_eq!(top_overlay(&stage), "");
}

/// Esc goes back one level and changes nothing.
#[test]
fn esc_leaves_the_dialog_one_level_at_a_time() {
    let mut stage = fork_dialog_at(stepped_session(), 2, "o");
    stage.press("Enter");
    assert!(screen_text(&stage.draw()).contains("another action for step 2"));
    assert_eq!(stage.press("Esc"), []);
    assert_eq!(top_overlay(&stage), "fork");
    assert_eq!(stage.press("Esc"), []);
    assert_eq!((top_overlay(&stage), stage.model.is_in_past()), ("", true));
}

#[test]
fn a_read_only_session_is_not_forked() {
    let mut stage = TestScreen::new(stepped_session(), 80, 24);
    stage.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
    stage.press("Left");
    for key in ["o", "a", "F"] {
        assert_eq!(stage.press(key), [], "{key}");
        assert_eq!(top_overlay(&stage), "", "{key}");
        assert!(notice_text(&stage).starts_with("read-only"), "{key}");
    }
    stage.press("Enter");
    assert_eq!(top_overlay(&stage), "step");
}

#[test]
fn redo_goes_forward_after_going_back() {
    for key in ["U", "G", "End"] {
        let mut stage = fork_dialog_at(stepped_session(), 2, key);
        assert_eq!((stage.model.cursor, top_overlay(&stage)), (Cursor::Live, ""), "{key}");
        stage.press("Left");
        stage.press("Right");
        assert_eq!(stage.model.cursor, Cursor::Live);
    }
}

#[test]
fn a_late_undo_offers_a_fork_from_before_the_change() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    let error = CommandError {
        seq: Some(Seq(20)),
        ..CommandError::new("a prompt has used it already", "fork before it")
    };
    stage.fixture.store.signal(Signal::CommandFailed(error));
    stage.send(UiMessage::StoreChanged);
    assert_eq!(top_overlay(&stage), "fork");
    insta::assert_snapshot!("fork_from_before_80x24", screen_text(&stage.draw()));
    let requests = stage.press("Enter");
    assert_eq!((fork_request(&requests).at_seq, fork_request(&requests).commands.len()), (Seq(19), 0));
}

/// Regression: a change made before a cancelled call, which no prompt had used yet, could never be undone.
#[test]
fn a_second_undo_undoes_the_change_before_the_irreversible_one() {
    let opened = |older| {
        let mut stage = TestScreen::new(sample_session(), 80, 24);
        let why = "your last action can't be undone: a model call was cancelled";
        let error = CommandError {
            seq: Some(Seq(20)),
            older_change: older,
            ..CommandError::new(why, "go back and go on from there")
        };
        stage.fixture.store.signal(Signal::CommandFailed(error));
        stage.send(UiMessage::StoreChanged);
        stage
    };
    let older = Some((Seq(12), "lesson 12 added".to_owned()));
    for keys in [&["u"][..], &["Down", "Enter"]] {
        let mut stage = opened(older.clone());
        insta::assert_snapshot!("undo_older_80x24", screen_text(&stage.draw()));
        let requests: Vec<_> = keys.iter().flat_map(|key| stage.press(key)).collect();
        assert_eq!(requests, [Request::Send(Command::UndoChange(Seq(12)))]);
        assert_eq!(top_overlay(&stage), "");
    }
    // Without an older change the key does nothing.
    let mut stage = opened(None);
    assert_eq!((stage.press("u"), top_overlay(&stage)), (Vec::new(), "fork"));
}

#[test]
fn edited_texts_are_marked_as_edited() {
    let mut f = stepped_session();
    f.write(
        Cause::Person,
        Event::ThoughtEdited { step: 4, previous: None, text: Some("Look closer.".to_owned()) },
    );
    f.execute("look", DecidedBy::Actor, "A room.", 0.0, serde_json::Value::Null);
    f.write(
        Cause::Person,
        Event::ObservationEdited { step: 4, previous: None, text: "A dark room.".to_owned() },
    );
    f.add_reflection(ReflectionKind::Abstract, LessonText::plain("Rooms can be dark."));
    let mut stage = TestScreen::new(f, 80, 24);
    insta::assert_snapshot!("edited_80x24", screen_text(&stage.draw()));
    stage.press("i");
    let shown = screen_text(&stage.draw());
    assert_eq!(shown.matches("edited by a person").count(), 2, "{shown}");
}

/// Regression: a person who pressed a key in the past to type something typed into a list, which said nothing about it; and
/// one level down, Esc was said to close the dialog although it leads back to the list.
#[test]
fn the_list_of_changes_says_that_typing_comes_next() {
    for (key, what, title) in
        [("a", "the lesson", ""), ("o", "the action", "another action"), ("x", "the reason", "reject step")]
    {
        let mut stage = fork_dialog_at(sample_session(), 7, key);
        let shown = screen_text(&stage.draw());
        assert!(shown.contains(&format!("Type {what}, or choose another change from the list.")), "{shown}");
        assert!(shown.contains("Esc close"), "{shown}");
        if title.is_empty() {
            continue;
        }
        stage.press("Enter");
        let shown = screen_text(&stage.draw());
        assert!(
            shown.contains(title) && shown.contains("Esc back") && !shown.contains("Esc close"),
            "{shown}"
        );
        stage.press("Esc");
        assert!(screen_text(&stage.draw()).contains("or choose another change"));
    }
    let mut stage = fork_dialog_at(sample_session(), 7, "F");
    assert!(!screen_text(&stage.draw()).contains("lets you type"), "nothing is typed to continue");
}

/// Regression: the row of a setting was cut, so that its description couldn't be read.
#[test]
fn the_selected_setting_is_described_whole() {
    let mut stage = fork_dialog_at(sample_session(), 7, "F");
    stage.press("End");
    while !screen_text(&stage.draw()).contains("▸ another setting") {
        stage.press("Up");
    }
    stage.press("Enter");
    while !screen_text(&stage.draw()).contains("▸ context tokens") {
        stage.press("Down");
    }
    let shown = screen_text(&stage.draw());
    let words = "the oldest steps are left out first: a whole number from 1 to 16000000";
    let whole = |shown: &str| shown.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(whole(&shown).contains(words), "{shown}");
    // While its value is typed, the line above the list says it.
    stage.press("Enter");
    let shown = screen_text(&stage.draw());
    assert_eq!(whole(&shown).matches(words).count(), 1, "{shown}");
}

/// Regression: in the list of changes, letters of a lesson moved the selection, so that Enter opened another change.
#[test]
fn letters_of_a_lesson_go_into_its_text() {
    for first in ["J", "k", "g", "q", "l"] {
        let mut stage = fork_dialog_at(stepped_session(), 2, "a");
        assert_eq!(top_overlay(&stage), "fork");
        assert_eq!(stage.press(first), [], "{first}");
        for letter in ["u", "s", "t"] {
            assert_eq!(stage.press(letter), []);
        }
        let text = screen_text(&stage.draw());
        assert!(text.contains(&format!("{first}ust")), "{text}");
        let requests = stage.press("Enter");
        assert!(!format!("{requests:?}").contains("Observation"), "{requests:?}");
    }
    // Arrows choose another change, whose text is typed the same way; one without a text ignores letters.
    let mut stage = fork_dialog_at(stepped_session(), 2, "a");
    stage.press("Up");
    stage.press("x");
    let text = screen_text(&stage.draw());
    assert!(text.contains("New branch:"), "{text}");
    let mut stage = fork_dialog_at(stepped_session(), 2, "a");
    stage.press("Up");
    stage.press("Up");
    assert_eq!((stage.press("x"), top_overlay(&stage)), (Vec::new(), "fork"));
    assert!(screen_text(&stage.draw()).contains("Continue on a new branch"));
}
