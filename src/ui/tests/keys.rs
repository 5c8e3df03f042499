//! What keys come to.

use super::Stage;
use crate::domain::{Autonomy, EndReason, LessonStatus};
use crate::engine::{Cause, Command, Event, LessonCommand};
use crate::ui::fixture::sample_session;
use crate::ui::model::{Cursor, Focus};
use crate::ui::msg::Request;

/// Keys for random walks.
pub(super) const ALL: [&str; 30] = [
    "n", "s", "Space", "c", "x", "r", "u", "U", "Left", "Right", "<", ">", "Home", "End", "Up", "Down",
    "PageUp", "PageDown", "Tab", "BackTab", "1", "2", "3", "4", "5", "6", "z", "v", "Esc", "Enter",
];

fn sent(command: Command) -> Vec<Request> {
    vec![Request::Send(command)]
}

#[test]
fn keys_on_the_proposal() {
    let cases = [
        ("n", Command::Step),
        ("Enter", Command::Step),
        ("s", Command::StepStage),
        ("Space", Command::Run),
        ("c", Command::SetAutonomy(Autonomy::Confirm)),
        ("r", Command::AskAgain),
        ("u", Command::Undo),
        ("U", Command::Redo),
    ];
    for (key, command) in cases {
        assert_eq!(Stage::new(sample_session(), 80, 24).press(key), sent(command), "{key}");
    }
}

#[test]
fn space_pauses_what_runs() {
    let mut fixture = sample_session();
    fixture.write(Cause::Person, Event::Resumed);
    assert_eq!(Stage::new(fixture, 80, 24).press("Space"), sent(Command::Pause));
}

/// It was refused while the past was shown, and the run went on.
#[test]
fn space_pauses_from_the_past_and_from_whatever_lies_over_the_panes() {
    for keys in [&["Left"][..], &["?"], &["p"], &["Left", "i"], &["/", "a", "Enter"]] {
        let mut fixture = sample_session();
        fixture.write(Cause::Person, Event::Resumed);
        let mut stage = Stage::new(fixture, 80, 24);
        for key in keys {
            stage.press(key);
        }
        assert_eq!(stage.press("Space"), sent(Command::Pause), "{keys:?}");
        assert_eq!(stage.press("Ctrl-c"), sent(Command::Cancel), "{keys:?}");
    }
}

/// The card of an episode stayed, drew nothing, and took every key while the next episode was shown.
#[test]
fn the_end_card_goes_when_the_next_episode_begins() {
    let mut fixture = sample_session();
    fixture.end(false, EndReason::StepLimit);
    let mut stage = Stage::new(fixture, 80, 24);
    stage.tell(crate::ui::Msg::News);
    assert_eq!(stage.model.overlays.len(), 1);
    stage.fixture.begin();
    // Even the key that comes before the screen has heard of it is not the card's.
    stage.press(":");
    let names: Vec<&str> = stage.model.overlays.iter().map(|o| o.name()).collect();
    assert_eq!(names, ["palette"]);
}

/// While a run goes on to its next task, no card may come up and take the keys.
#[test]
fn no_end_card_comes_up_in_a_run_that_goes_on() {
    let mut fixture = sample_session();
    fixture.write(Cause::Person, Event::Resumed);
    fixture.end(false, EndReason::StepLimit);
    let mut stage = Stage::new(fixture, 80, 24);
    stage.tell(crate::ui::Msg::News);
    assert!(stage.model.overlays.is_empty());
    stage.fixture.write(Cause::Policy, Event::RunEnded);
    stage.tell(crate::ui::Msg::News);
    assert_eq!(stage.model.overlays.len(), 1);
}

/// The keys of the footer came back only after several seconds.
#[test]
fn a_notice_goes_at_the_next_key_that_works() {
    let mut stage = Stage::new(sample_session(), 80, 24);
    stage.press("Left");
    stage.press("u");
    assert!(stage.model.notice.is_some());
    stage.press("Left");
    assert_eq!(stage.model.notice, None);
}

#[test]
fn the_end_card_offers_only_what_there_is_and_lets_other_keys_through() {
    let open = || {
        let mut fixture = sample_session();
        fixture.end(false, EndReason::StepLimit);
        let mut stage = Stage::new(fixture, 80, 24);
        stage.tell(crate::ui::Msg::News);
        stage
    };
    let shown = super::screen(&open().draw());
    // The fixture's run has one task, and it has been played.
    assert!(!shown.contains("next task"), "{shown}");
    assert_eq!(open().press("n"), Vec::new());
    for (key, over) in [("?", "help"), ("p", "prompt"), (":", "palette")] {
        let mut stage = open();
        stage.press(key);
        assert_eq!(stage.model.overlays.last().map(|o| o.name()), Some(over));
    }
    let mut stage = open();
    stage.press("Left");
    assert!(stage.model.past() && stage.model.overlays.is_empty());
}

#[test]
fn x_switches_the_chosen_lesson_where_the_lanes_have_the_keys() {
    let mut stage = Stage::new(sample_session(), 80, 24);
    stage.press("Tab");
    // Tab goes to the lane that is shown, which is that of errors.
    assert_eq!(stage.model.focus, Focus::Lanes);
    stage.press("Down");
    let wants = stage.press("x");
    let id = stage.fixture.state().pool.by_number(4).unwrap().id.clone();
    assert_eq!(wants, sent(Command::Lesson(LessonCommand::Status { id, status: LessonStatus::Off })));
}

#[test]
fn the_past_is_looked_at_and_not_acted_on() {
    let mut stage = Stage::new(sample_session(), 80, 24);
    for _ in 0..3 {
        assert_eq!(stage.press("Left"), Vec::new());
    }
    assert_eq!(stage.moment().chosen(), 21);
    for key in ["u", "X"] {
        assert_eq!(stage.press(key), Vec::new(), "{key}");
        let said = &stage.model.notice.as_ref().unwrap().text;
        assert_eq!(said, "you are looking at turn 21; End returns to the present");
    }
    stage.press("Right");
    assert_eq!(stage.moment().chosen(), 22);
    stage.press("End");
    assert_eq!(stage.model.cursor, Cursor::Live);
    assert_eq!(stage.press("n"), sent(Command::Step));
}

#[test]
fn time_goes_on_across_episodes() {
    let mut fixture = sample_session();
    fixture.end(false, EndReason::StepLimit);
    fixture.begin();
    fixture.act("go to fridge 1", "The fridge 1 is closed.", 0.0, serde_json::Value::Null);
    let mut stage = Stage::new(fixture, 80, 24);
    stage.press("Left");
    assert_eq!(stage.moment().chosen(), 0);
    stage.press("Left");
    let moment = stage.moment();
    let number = |s: &crate::engine::State| s.episode.as_ref().unwrap().number;
    assert_eq!((number(&moment.shown), moment.chosen()), (1, 24));
    stage.press("Left");
    assert_eq!((number(&stage.moment().shown), stage.moment().chosen()), (1, 23));
    stage.press("Right");
    stage.press("Right");
    assert_eq!((number(&stage.moment().shown), stage.moment().chosen()), (2, 0));
    stage.press("Right");
    assert_eq!(stage.model.cursor, Cursor::Live);
}

#[test]
fn marks_are_visited_in_order() {
    let mut stage = Stage::new(sample_session(), 80, 24);
    let mut seen = Vec::new();
    for _ in 0..6 {
        stage.press("<");
        seen.push(stage.moment().chosen());
    }
    assert_eq!(seen, [23, 22, 21, 17, 13, 7]);
    stage.press(">");
    assert_eq!(stage.moment().chosen(), 13);
}

#[test]
fn ctrl_c_cancels_and_twice_quits() {
    let mut stage = Stage::new(sample_session(), 80, 24);
    assert_eq!(stage.press("Ctrl-c"), sent(Command::Cancel));
    assert_eq!(stage.press("Ctrl-c"), vec![Request::Quit]);
    let mut stage = Stage::new(sample_session(), 80, 24);
    stage.press("Ctrl-c");
    stage.now += std::time::Duration::from_secs(3);
    assert_eq!(stage.press("Ctrl-c"), sent(Command::Cancel));
}

#[test]
fn q_goes_one_level_back_and_quits_on_the_main_screen() {
    let mut stage = Stage::new(sample_session(), 80, 24);
    stage.press("z");
    stage.press("Left");
    assert_eq!(stage.press("q"), Vec::new());
    assert!(!stage.model.zoomed);
    assert_eq!(stage.press("q"), Vec::new());
    assert_eq!(stage.model.cursor, Cursor::Live);
    assert_eq!(stage.press("q"), vec![Request::Quit]);
}

#[test]
fn only_key_presses_act() {
    use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
    let mut stage = Stage::new(sample_session(), 80, 24);
    let mut key = KeyEvent::new(KeyCode::Char('n'), KeyModifiers::NONE);
    key.kind = KeyEventKind::Release;
    assert_eq!(stage.tell(crate::ui::Msg::Key(key)), Vec::new());
    key.kind = KeyEventKind::Repeat;
    assert_eq!(stage.tell(crate::ui::Msg::Key(key)), Vec::new());
}

#[test]
fn the_hint_goes_once_it_was_obeyed() {
    use crate::ui::model::Hint;
    let mut stage = Stage::new(sample_session(), 80, 24);
    stage.model.hint = Hint::Step;
    assert!(super::screen(&stage.draw()).contains("press n to do what the agent proposes"));
    stage.press("n");
    assert_eq!(stage.model.hint, Hint::Mistake);
}

/// At first the way up was only as long as the step that stuck out of the pane.
#[test]
fn the_story_scrolls_to_its_beginning_and_back() {
    let mut stage = Stage::new(sample_session(), 80, 24);
    let rest = super::screen(&stage.draw());
    for _ in 0..30 {
        stage.press("PageUp");
        stage.draw();
    }
    let top = super::screen(&stage.draw());
    assert!(top.contains("You are in the middle of a room."), "{top}");
    for _ in 0..30 {
        stage.press("PageDown");
        stage.draw();
    }
    assert_eq!(super::screen(&stage.draw()), rest);
}

#[test]
fn a_click_on_a_step_goes_there_and_the_wheel_scrolls_what_is_under_it() {
    use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
    let mut stage = Stage::new(sample_session(), 120, 36);
    let before = super::screen(&stage.draw());
    let row = before.lines().position(|l| l.starts_with(" 17 ")).unwrap() as u16;
    let at = |kind, column, row| {
        crate::ui::Msg::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
    };
    stage.tell(at(MouseEventKind::ScrollUp, 5, row));
    assert_eq!(stage.model.scrolls.story, 3);
    stage.tell(at(MouseEventKind::ScrollDown, 5, row));
    assert_eq!(stage.model.scrolls.story, 0);
    stage.tell(at(MouseEventKind::Down(MouseButton::Left), 5, row));
    assert_eq!(stage.moment().chosen(), 17);
    // A click in a lane gives it the keys.
    let row = before.lines().position(|l| l.contains(" Abstract 4 ")).unwrap() as u16;
    stage.draw();
    stage.tell(at(MouseEventKind::Down(MouseButton::Left), 100, row));
    assert_eq!((stage.model.focus, stage.model.lane), (Focus::Lanes, Some(0)));
}
