//! Going on from the past.

use super::{SIZES, Stage, screen};
use crate::domain::{DecidedBy, LessonText, ReflectionKind, Seq};
use crate::driver::{Fork, Health, Signal};
use crate::engine::{Cause, Command, CommandError, Event, LessonCommand, PauseReason};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::model::{Cursor, Focus};
use crate::ui::msg::{Msg, Request};

fn forked(wants: &[Request]) -> &Fork {
    match wants {
        [.., Request::Fork(fork)] => {
            assert!(
                fork.from.is_some(),
                "whatever is driven by then, it is a fork of the line that was shown"
            );
            fork
        }
        other => panic!("no fork in {other:?}"),
    }
}

fn top(stage: &Stage) -> &'static str {
    stage.model.overlays.last().map_or("", |o| o.name())
}

fn said(stage: &Stage) -> String {
    stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default()
}

/// A session that a person steps through: every proposal waits, and is granted.
fn stepped() -> Fixture {
    let mut f = Fixture::new();
    f.begin();
    for (thought, action) in
        [("I look.", "go to fridge 1"), ("I open it.", "open fridge 1"), ("Empty.", "go to shelf 1")]
    {
        f.propose(Some(thought), Some(action));
        f.pause();
        f.write(Cause::Person, Event::StepGranted);
        let step = f.state().last_step().unwrap().number;
        f.write(Cause::Person, Event::Approved { step });
        f.take(action, DecidedBy::Actor, &format!("You did {action}."), 0.0, serde_json::Value::Null);
    }
    f.propose(Some("What now?"), Some("look"));
    f.pause();
    f
}

/// Goes to a turn and opens the dialog with a key.
fn at(fixture: Fixture, turn: u32, key: &str) -> Stage {
    let mut stage = Stage::new(fixture, 80, 24);
    stage.press(":");
    stage.tell(Msg::Paste(turn.to_string()));
    stage.press("Enter");
    stage.press(key);
    stage
}

/// What waits at an event: the turn and its proposal.
fn waiting(stage: &Stage, seq: Seq) -> Option<(u32, Option<String>)> {
    let state = stage.fixture.store.state_at(seq);
    assert_eq!(state.head, seq);
    assert_eq!(state.grant, None, "nobody has let it go on at {seq}");
    state.step_awaiting_decision().map(|s| (s.number, s.proposed.clone()))
}

#[test]
fn another_action_begins_where_the_proposal_of_the_turn_waits() {
    // However the session came to do it: stepped through, or running from one proposal to the next.
    for (name, fixture, turn, action) in [
        ("stepped", stepped as fn() -> Fixture, 2, "open fridge 1"),
        ("running", sample_session, 5, "open fridge 1"),
    ] {
        let mut stage = at(fixture(), turn, "o");
        assert_eq!(top(&stage), "fork", "{name}");
        let wants = stage.press("Enter");
        assert!(matches!(&wants[..], [Request::AdmissibleThen(_)]), "{name}: {wants:?}");
        stage.tell(Msg::Paste("look".to_owned()));
        let wants = stage.press("Enter");
        let fork = forked(&wants);
        assert_eq!(waiting(&stage, fork.at), Some((turn, Some(action.to_owned()))), "{name}");
        assert!(!stage.fixture.store.timeline().event(fork.at).unwrap().batch_continues);
        assert!(
            matches!(&fork.then[..], [Command::Override { action, .. }] if action == "look"),
            "{name}: {fork:?}"
        );
        assert_eq!(fork.reason, format!("turn {turn}: another action, look"));
        assert_eq!(top(&stage), "");
    }
}

#[test]
fn just_going_on_begins_after_the_turn_before_anybody_let_it() {
    for key in ["n", "Enter", "s"] {
        let mut stage = at(stepped(), 2, key);
        assert_eq!(top(&stage), "fork", "{key}");
        let wants = stage.press("Enter");
        let fork = forked(&wants);
        let state = stage.fixture.store.state_at(fork.at);
        let episode = state.episode.as_ref().unwrap();
        assert_eq!((episode.answered_steps(), episode.steps.len()), (2, 2), "{key}");
        assert_eq!(fork.then, [Command::Step]);
    }
    // Opened by stages, the last event before the next turn is a grant: the branch begins before it.
    let mut f = stepped();
    f.take("look", DecidedBy::Actor, "A room.", 0.0, serde_json::Value::Null);
    f.write(Cause::Policy, Event::Paused { reason: PauseReason::StepDone });
    let rests = f.write(Cause::Person, Event::StageGranted);
    f.propose(None, Some("look"));
    let mut stage = at(f, 4, "n");
    assert_eq!(forked(&stage.press("Enter")).at, Seq(rests.0 - 1));
}

/// A session that was put down while a proposal waited is closed there; a branch from there would be.
#[test]
fn a_branch_never_begins_at_a_closed_session() {
    let mut f = stepped();
    let waits = f.state().head;
    f.write(Cause::Policy, Event::Closed);
    let mut stage = Stage::new(f, 80, 24);
    stage.press("F");
    let wants = stage.press("Enter");
    assert_eq!(forked(&wants).at, waits);
    assert!(!stage.fixture.store.state_at(waits).closed);
}

#[test]
fn a_turn_that_a_person_played_begins_before_its_line() {
    let mut f = Fixture::new();
    f.begin();
    f.write(Cause::Person, Event::AutonomySet { autonomy: crate::domain::Autonomy::Human });
    let before = f.state().head;
    f.played("look", "A room.");
    f.played("go to fridge 1", "It is closed.");
    let mut stage = at(f, 1, "o");
    stage.press("Enter");
    stage.tell(Msg::Paste("inventory".to_owned()));
    let wants = stage.press("Enter");
    assert_eq!(forked(&wants).at, before);
    assert_eq!(forked(&wants).then, [Command::Act("inventory".to_owned())]);
}

#[test]
fn the_dialog_offers_what_can_be_another() {
    for (w, h) in SIZES {
        let mut stage = at(stepped(), 2, "n");
        stage.model.size = (w, h);
        insta::assert_snapshot!(format!("fork_{w}x{h}"), screen(&stage.draw()));
    }
    let mut stage = at(stepped(), 2, "n");
    stage.glyphs = crate::ui::glyphs::ASCII;
    assert!(screen(&stage.draw()).is_ascii());
}

/// Chooses a row of the dialog by its words.
fn choose(stage: &mut Stage, words: &str) {
    for _ in 0..30 {
        let shown = screen(&stage.draw());
        if shown.lines().any(|l| l.contains(&format!("▸ {words}"))) {
            return;
        }
        stage.press("Down");
    }
    panic!("no row {words}:\n{}", screen(&stage.draw()));
}

#[test]
fn words_of_the_agent_and_of_the_world_can_be_another() {
    let mut stage = at(stepped(), 2, "n");
    choose(&mut stage, "another thought");
    stage.press("Enter");
    insta::assert_snapshot!("fork_thought_80x24", screen(&stage.draw()));
    assert_eq!(stage.press("Enter"), [], "it is what it was");
    assert!(screen(&stage.draw()).contains("this is what it was"));
    stage.tell(Msg::Paste(" Or not.".to_owned()));
    let wants = stage.press("Enter");
    let then = [Command::EditThought { step: 2, text: "I open it. Or not.".to_owned() }];
    assert_eq!(forked(&wants).then, then);
    assert_eq!(waiting(&stage, forked(&wants).at).unwrap().0, 2);

    let mut stage = at(stepped(), 2, "n");
    choose(&mut stage, "another observation");
    stage.press("Enter");
    assert!(screen(&stage.draw()).contains("The world itself is not"), "{}", screen(&stage.draw()));
    stage.tell(Msg::Paste(" It is empty.".to_owned()));
    let wants = stage.press("Enter");
    let text = "You did open fridge 1. It is empty.".to_owned();
    assert_eq!(forked(&wants).then, [Command::EditObservation { step: 2, text }, Command::Step]);
    let state = stage.fixture.store.state_at(forked(&wants).at);
    assert_eq!(state.episode.as_ref().unwrap().answered_steps(), 2);
}

#[test]
fn method_model_and_settings_can_be_another() {
    let mut stage = at(stepped(), 2, "n");
    choose(&mut stage, "another method");
    stage.press("Enter");
    choose(&mut stage, "reflexion");
    let wants = stage.press("Enter");
    let [Command::ChangeRun(spec)] = &forked(&wants).then[..] else { panic!("{wants:?}") };
    assert_eq!((spec.method.as_str(), spec.actor.as_str()), ("reflexion", "rules"));
    assert_eq!(spec.settings.number("ask_again", 0), 5, "its own defaults");
    assert_eq!(forked(&wants).reason, "after turn 2: method reflexion");

    let mut stage = at(stepped(), 2, "n");
    choose(&mut stage, "another model acts");
    stage.press("Enter");
    stage.tell(Msg::Paste("openai:small".to_owned()));
    let wants = stage.press("Enter");
    assert!(matches!(&forked(&wants).then[..], [Command::ChangeRun(s)] if s.actor == "openai:small"));

    let mut stage = at(stepped(), 2, "n");
    choose(&mut stage, "another setting");
    stage.press("Enter");
    choose(&mut stage, "examples");
    stage.press("Enter");
    stage.tell(Msg::Paste("7".to_owned()));
    assert_eq!(stage.press("Enter"), []);
    assert!(screen(&stage.draw()).contains("expected a whole number from 0 to 2"));
    stage.press("Ctrl-u");
    stage.tell(Msg::Paste("examples 1".to_owned()));
    let wants = stage.press("Enter");
    let then = [Command::ChangeSetting { name: "examples".to_owned(), value: 1.into() }];
    assert_eq!(forked(&wants).then, then);
}

#[test]
fn lessons_of_the_past_change_on_a_branch_of_their_own() {
    // A new one.
    let mut stage = at(sample_session(), 9, "a");
    assert_eq!(top(&stage), "fork");
    assert_eq!(stage.press("Enter"), []);
    assert_eq!(top(&stage), "lesson");
    stage.tell(Msg::Paste("Look first.".to_owned()));
    let wants = stage.press("Enter");
    let fork = forked(&wants);
    assert!(
        matches!(&fork.then[..], [Command::Lesson(LessonCommand::Add { .. }), Command::Step]),
        "{fork:?}"
    );
    // One of then is switched off; those of today are not touched.
    let mut stage = at(sample_session(), 9, "Tab");
    assert_eq!(stage.model.focus, Focus::Lanes);
    assert_eq!(stage.press("x"), []);
    let shown = screen(&stage.draw());
    assert_eq!(top(&stage), "fork");
    assert!(shown.contains("▸ lesson 4 is off: it enters no prompt"), "{shown}");
    let wants = stage.press("Enter");
    assert!(matches!(&forked(&wants).then[..], [Command::Lesson(LessonCommand::Status { .. })]));
    // The same from its details.
    let mut stage = at(sample_session(), 9, "Tab");
    stage.press("Enter");
    assert_eq!(top(&stage), "details");
    assert_eq!(stage.press("P"), []);
    assert_eq!(top(&stage), "fork");
}

/// The dialog was gone with what had been typed, and the message alone stayed.
#[test]
fn a_refused_branch_brings_the_dialog_back_as_it_was() {
    let mut stage = at(stepped(), 2, "n");
    choose(&mut stage, "another model acts");
    stage.press("Enter");
    stage.tell(Msg::Paste("openai:z profile nope".to_owned()));
    forked(&stage.press("Enter"));
    assert_eq!(top(&stage), "");
    let refusal = CommandError::new("there is no profile \"nope\"", "write one");
    stage.fixture.store.signal(Signal::Refused(refusal.clone()));
    stage.tell(Msg::News);
    let shown = screen(&stage.draw());
    assert_eq!(top(&stage), "fork");
    assert!(shown.contains("openai:z profile nope") && shown.contains("there is no profile"), "{shown}");
    // A later refusal is about something else.
    forked(&stage.press("Enter"));
    stage.press("Left");
    stage.fixture.store.signal(Signal::Refused(refusal));
    stage.tell(Msg::News);
    assert_eq!(top(&stage), "");
}

/// Esc goes one level back, and leaves everything as it is.
#[test]
fn the_dialog_is_left_level_by_level() {
    let mut stage = at(stepped(), 2, "o");
    stage.press("Enter");
    assert!(screen(&stage.draw()).contains("another action for turn 2"));
    assert_eq!(stage.press("Esc"), []);
    assert_eq!(top(&stage), "fork");
    assert_eq!(stage.press("Esc"), []);
    assert_eq!((top(&stage), stage.model.past()), ("", true));
}

#[test]
fn a_session_that_is_only_read_is_not_forked() {
    let mut stage = Stage::new(stepped(), 80, 24);
    stage.fixture.store.edit_live(|live| live.health = Health::Reading);
    stage.press("Left");
    for key in ["n", "o", "a", "F"] {
        assert_eq!(stage.press(key), [], "{key}");
        assert_eq!(top(&stage), "", "{key}");
        assert!(said(&stage).starts_with("read-only"), "{key}");
    }
    stage.press("Enter");
    assert_eq!(top(&stage), "step");
}

#[test]
fn redo_leads_forward_again_after_going_back() {
    for key in ["U", "G", "End"] {
        let mut stage = at(stepped(), 2, key);
        assert_eq!((stage.model.cursor, top(&stage)), (Cursor::Live, ""), "{key}");
        stage.press("Left");
        stage.press("Right");
        assert_eq!(stage.model.cursor, Cursor::Live);
    }
}

#[test]
fn an_undo_that_came_too_late_offers_a_branch_from_before_it() {
    let mut stage = Stage::new(sample_session(), 80, 24);
    let about = Seq(20);
    let refusal = CommandError {
        seq: Some(about),
        ..CommandError::new("a prompt has used it already", "fork from before it")
    };
    stage.fixture.store.signal(Signal::Refused(refusal));
    stage.tell(Msg::News);
    assert_eq!(top(&stage), "fork");
    insta::assert_snapshot!("fork_from_before_80x24", screen(&stage.draw()));
    let wants = stage.press("Enter");
    assert_eq!((forked(&wants).at, forked(&wants).then.len()), (Seq(19), 0));
}

/// Found by review: what was changed before a call was broken off, and in no prompt yet, stayed for good.
#[test]
fn a_second_press_of_undo_takes_back_what_came_before_the_deed_that_stays() {
    let opened = |older| {
        let mut stage = Stage::new(sample_session(), 80, 24);
        let why = "what you did last cannot be undone: a call to a model was broken off";
        let refusal = CommandError {
            seq: Some(Seq(20)),
            older_change: older,
            ..CommandError::new(why, "go back and go on from there")
        };
        stage.fixture.store.signal(Signal::Refused(refusal));
        stage.tell(Msg::News);
        stage
    };
    let older = Some((Seq(12), "lesson 12 added".to_owned()));
    for keys in [&["u"][..], &["Down", "Enter"]] {
        let mut stage = opened(older.clone());
        insta::assert_snapshot!("undo_older_80x24", screen(&stage.draw()));
        let wants: Vec<_> = keys.iter().flat_map(|key| stage.press(key)).collect();
        assert_eq!(wants, [Request::Send(Command::UndoChange(Seq(12)))]);
        assert_eq!(top(&stage), "");
    }
    // Where there is nothing of the kind the key does nothing.
    let mut stage = opened(None);
    assert_eq!((stage.press("u"), top(&stage)), (Vec::new(), "fork"));
}

#[test]
fn edited_words_are_marked_as_edited() {
    let mut f = stepped();
    f.write(
        Cause::Person,
        Event::ThoughtEdited { step: 4, previous: None, text: Some("Look closer.".to_owned()) },
    );
    f.take("look", DecidedBy::Actor, "A room.", 0.0, serde_json::Value::Null);
    f.write(
        Cause::Person,
        Event::ObservationEdited { step: 4, previous: None, text: "A dark room.".to_owned() },
    );
    f.reflect(ReflectionKind::Abstract, LessonText::plain("Rooms can be dark."));
    let mut stage = Stage::new(f, 80, 24);
    insta::assert_snapshot!("edited_80x24", screen(&stage.draw()));
    stage.press("i");
    let shown = screen(&stage.draw());
    assert_eq!(shown.matches("edited by a person").count(), 2, "{shown}");
}
