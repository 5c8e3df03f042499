//! What keys do on the main screen.

use super::{TestScreen, screen_text};
use crate::domain::{Autonomy, EndReason, LessonStatus};
use crate::engine::{Cause, Command, Event, LessonCommand};
use crate::ui::fixture::sample_session;
use crate::ui::msg::Request;
use crate::ui::types::{Cursor, Focus};

/// Keys for random walks.
pub(super) const RANDOM_WALK_KEYS: [&str; 30] = [
    "n", "s", "Space", "c", "x", "r", "u", "U", "Left", "Right", "<", ">", "Home", "End", "Up", "Down",
    "PageUp", "PageDown", "Tab", "BackTab", "1", "2", "3", "4", "5", "6", "z", "v", "Esc", "Enter",
];

fn send_request(command: Command) -> Vec<Request> {
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
        assert_eq!(TestScreen::new(sample_session(), 80, 24).press(key), send_request(command), "{key}");
    }
}

#[test]
fn space_pauses_what_runs() {
    let mut fixture = sample_session();
    fixture.write(Cause::Person, Event::Resumed);
    assert_eq!(TestScreen::new(fixture, 80, 24).press("Space"), send_request(Command::Pause));
}

/// Regression: Space didn't work in the past, and the run continued.
#[test]
fn space_pauses_from_the_past_and_from_every_overlay() {
    for keys in [&["Left"][..], &["p"], &["B"], &["Left", "i"], &["/", "a", "Enter"]] {
        let mut fixture = sample_session();
        fixture.write(Cause::Person, Event::Resumed);
        let mut stage = TestScreen::new(fixture, 80, 24);
        for key in keys {
            stage.press(key);
        }
        assert_eq!(stage.press("Space"), send_request(Command::Pause), "{keys:?}");
        assert_eq!(stage.press("Ctrl-c"), send_request(Command::Cancel), "{keys:?}");
    }
}

/// Regression: the end card stayed open after the next episode had begun, drew nothing, and took every key.
#[test]
fn the_end_card_goes_when_the_next_episode_begins() {
    let mut fixture = sample_session();
    fixture.end_episode(false, EndReason::StepLimit);
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.send(crate::ui::UiMessage::StoreChanged);
    assert_eq!(stage.compositor.overlays().len(), 1);
    stage.fixture.begin_episode();
    // Even a key that arrives before the screen's update doesn't go to the card.
    stage.press(":");
    let names: Vec<&str> = stage.compositor.overlays().iter().map(|o| o.name()).collect();
    assert_eq!(names, ["palette"]);
}

/// While a run continues to its next task, no card may open and take the keys.
#[test]
fn no_end_card_opens_while_the_run_continues() {
    let mut fixture = sample_session();
    fixture.write(Cause::Person, Event::Resumed);
    fixture.end_episode(false, EndReason::StepLimit);
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.send(crate::ui::UiMessage::StoreChanged);
    assert!(stage.compositor.overlays().is_empty());
    stage.fixture.write(Cause::Policy, Event::RunEnded);
    stage.send(crate::ui::UiMessage::StoreChanged);
    assert_eq!(stage.compositor.overlays().len(), 1);
}

/// Regression: a notice hid the footer's keys for several seconds.
#[test]
fn a_notice_goes_at_the_next_key_that_works() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("Left");
    stage.press("u");
    assert!(stage.model.notice.is_some());
    stage.press("Left");
    assert_eq!(stage.model.notice, None);
}

#[test]
fn the_end_card_offers_only_what_is_possible_and_passes_other_keys_on() {
    let open = || {
        let mut fixture = sample_session();
        fixture.end_episode(false, EndReason::StepLimit);
        let mut stage = TestScreen::new(fixture, 80, 24);
        stage.send(crate::ui::UiMessage::StoreChanged);
        stage
    };
    let shown = super::screen_text(&open().draw());
    // The fixture's run has a single task, and its episode has ended.
    assert!(!shown.contains("next task"), "{shown}");
    assert_eq!(open().press("n"), Vec::new());
    for (key, over) in [("?", "help"), ("p", "prompt"), (":", "palette")] {
        let mut stage = open();
        stage.press(key);
        assert_eq!(stage.compositor.overlays().last().map(|o| o.name()), Some(over));
    }
    let mut stage = open();
    stage.press("Left");
    assert!(stage.model.is_in_past() && stage.compositor.overlays().is_empty());
}

#[test]
fn x_switches_the_selected_lesson_when_a_lane_has_focus() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    // The digit of the Error lane.
    stage.press("4");
    assert_eq!(stage.model.focus, Focus::Lanes);
    stage.press("Down");
    let requests = stage.press("x");
    let id = stage.fixture.state().pool.by_number(4).unwrap().id.clone();
    assert_eq!(
        requests,
        send_request(Command::Lesson(LessonCommand::Status { id, status: LessonStatus::Off }))
    );
}

#[test]
fn keys_that_act_do_nothing_in_the_past() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    for _ in 0..3 {
        assert_eq!(stage.press("Left"), Vec::new());
    }
    assert_eq!(stage.frame_data().selected_step(), 21);
    for key in ["u", "X"] {
        assert_eq!(stage.press(key), Vec::new(), "{key}");
        let notice = &stage.model.notice.as_ref().unwrap().text;
        assert_eq!(notice, "you are viewing step 21; End returns to the present");
    }
    stage.press("Right");
    assert_eq!(stage.frame_data().selected_step(), 22);
    stage.press("End");
    assert_eq!(stage.model.cursor, Cursor::Live);
    assert_eq!(stage.press("n"), send_request(Command::Step));
}

#[test]
fn the_timeline_continues_across_episodes() {
    let mut fixture = sample_session();
    fixture.end_episode(false, EndReason::StepLimit);
    fixture.begin_episode();
    fixture.actor_step("go to fridge 1", "The fridge 1 is closed.", 0.0, serde_json::Value::Null);
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.press("Left");
    assert_eq!(stage.frame_data().selected_step(), 0);
    stage.press("Left");
    let frame = stage.frame_data();
    let number = |s: &crate::engine::State| s.episode.as_ref().unwrap().number;
    assert_eq!((number(&frame.displayed), frame.selected_step()), (1, 24));
    stage.press("Left");
    assert_eq!((number(&stage.frame_data().displayed), stage.frame_data().selected_step()), (1, 23));
    stage.press("Right");
    stage.press("Right");
    assert_eq!((number(&stage.frame_data().displayed), stage.frame_data().selected_step()), (2, 0));
    stage.press("Right");
    assert_eq!(stage.model.cursor, Cursor::Live);
}

#[test]
fn marks_are_visited_in_order() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    let mut seen = Vec::new();
    for _ in 0..6 {
        stage.press("<");
        seen.push(stage.frame_data().selected_step());
    }
    assert_eq!(seen, [23, 22, 21, 17, 13, 7]);
    stage.press(">");
    assert_eq!(stage.frame_data().selected_step(), 13);
}

#[test]
fn ctrl_c_cancels_and_twice_quits() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    assert_eq!(stage.press("Ctrl-c"), send_request(Command::Cancel));
    assert_eq!(stage.press("Ctrl-c"), vec![Request::Quit]);
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("Ctrl-c");
    stage.now += std::time::Duration::from_secs(3);
    assert_eq!(stage.press("Ctrl-c"), send_request(Command::Cancel));
}

#[test]
fn q_goes_one_level_back_and_quits_on_the_main_screen() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
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
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    let mut key = KeyEvent::new(KeyCode::Char('n'), KeyModifiers::NONE);
    key.kind = KeyEventKind::Release;
    assert_eq!(stage.send(crate::ui::UiMessage::Key(key)), Vec::new());
    key.kind = KeyEventKind::Repeat;
    assert_eq!(stage.send(crate::ui::UiMessage::Key(key)), Vec::new());
}

#[test]
fn the_hint_disappears_once_followed() {
    use crate::ui::model::FirstRunHint;
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.model.hint = FirstRunHint::Step;
    assert!(super::screen_text(&stage.draw()).contains("press n to run the proposed action"));
    let remembered = |requests: Vec<crate::ui::Request>| {
        let hints = requests.into_iter().filter_map(|request| match request {
            crate::ui::Request::RememberHint(next) => Some(next),
            _ => None,
        });
        hints.collect::<Vec<_>>()
    };
    let requests = stage.press("n");
    assert_eq!(stage.model.hint, FirstRunHint::WaitForMistake);
    assert_eq!(remembered(requests), [FirstRunHint::WaitForMistake]);
    assert_eq!(remembered(stage.press("n")), [], "once");
    // Who teaches before the first mistake knows how.
    assert_eq!(remembered(stage.press("a")), [FirstRunHint::None]);
    assert_eq!(stage.model.hint, FirstRunHint::None);
}

/// Regression: a person who plays was told to run a proposed action, and there was none.
#[test]
fn the_first_hint_tells_a_person_who_plays_to_type_an_action() {
    use crate::domain::Autonomy;
    use crate::engine::{Cause, Event};
    use crate::ui::model::FirstRunHint;
    let mut fixture = crate::ui::fixture::Fixture::new();
    fixture.begin_episode();
    fixture.write(Cause::Person, Event::AutonomySet { autonomy: Autonomy::Human });
    fixture.write(Cause::Policy, Event::StepOpened { step: 1 });
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.model.hint = FirstRunHint::Step;
    let text = super::screen_text(&stage.draw());
    assert!(text.contains("press o to type your action") && !text.contains("proposed action"), "{text}");
    stage.press("o");
    assert_eq!(stage.model.hint, FirstRunHint::WaitForMistake);
}

/// Regression: the Story scrolled up only within the step at the top of the pane.
#[test]
fn the_story_scrolls_to_its_beginning_and_back() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    let rest = super::screen_text(&stage.draw());
    for _ in 0..30 {
        stage.press("PageUp");
        stage.draw();
    }
    let top = super::screen_text(&stage.draw());
    assert!(top.contains("You are in the middle of a room."), "{top}");
    for _ in 0..30 {
        stage.press("PageDown");
        stage.draw();
    }
    assert_eq!(super::screen_text(&stage.draw()), rest);
}

#[test]
fn a_click_on_a_step_goes_there_and_the_wheel_scrolls_what_is_under_it() {
    use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    let before = super::screen_text(&stage.draw());
    let row = before.lines().position(|l| l.starts_with(" 17 ")).unwrap() as u16;
    let at = |kind, column, row| {
        crate::ui::UiMessage::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
    };
    stage.send(at(MouseEventKind::ScrollUp, 5, row));
    assert_eq!(stage.model.scroll.story, 3);
    stage.send(at(MouseEventKind::ScrollDown, 5, row));
    assert_eq!(stage.model.scroll.story, 0);
    stage.send(at(MouseEventKind::Down(MouseButton::Left), 5, row));
    assert_eq!(stage.frame_data().selected_step(), 17);
    // A click in a lane focuses it.
    let row = before.lines().position(|l| l.contains(" Abstract 4 ")).unwrap() as u16;
    stage.draw();
    stage.send(at(MouseEventKind::Down(MouseButton::Left), 100, row));
    assert_eq!((stage.model.focus, stage.model.selected_lane), (Focus::Lanes, Some(0)));
}

/// Regression: at the smallest size, the digit of a pane without room did nothing and said nothing.
#[test]
fn the_digit_of_a_pane_without_room_says_which_key_shows_it() {
    let mut stage = TestScreen::new(sample_session(), 60, 16);
    stage.draw();
    stage.press("2");
    let notice = stage.model.notice.as_ref().map(|notice| notice.text.as_str());
    assert_eq!(notice, Some("World has no room on this screen; z shows it alone"));
    stage.press("z");
    assert!(super::screen_text(&stage.draw()).contains("World"));
}

/// Regression: a key that isn't bound here was ignored without a word.
#[test]
fn a_key_that_does_nothing_here_says_what_it_does_elsewhere() {
    let cases: [(&[&str], &str); 4] = [
        (&["P"], "P does nothing here; in a lane of lessons: pin or unpin the selected lesson"),
        (&["~"], "~ does nothing here; ? lists the keys"),
        (&["p", "o"], "o does nothing here; after p, on the main screen: replace the proposed action"),
        (&["i", "~"], "~ does nothing here"),
    ];
    for (keys, expected) in cases {
        let mut stage = TestScreen::new(sample_session(), 80, 24);
        for key in keys {
            stage.press(key);
        }
        assert_eq!(stage.model.notice.as_ref().map(|n| n.text.as_str()), Some(expected), "{keys:?}");
        let last_row = super::screen_text(&stage.draw()).lines().last().unwrap_or_default().to_owned();
        assert!(last_row.contains("does nothing here"), "{keys:?}: {last_row}");
    }
    // Regression: at the smallest size the overlay hid the first row of a message that needs two.
    let mut stage = TestScreen::new(sample_session(), 60, 16);
    for key in ["p", "o"] {
        stage.press(key);
    }
    let shown = super::screen_text(&stage.draw());
    let last: Vec<&str> = shown.lines().rev().take(2).map(str::trim).collect();
    assert_eq!(
        last,
        ["the proposed action", "o does nothing here; after p, on the main screen: replace"],
        "{shown}"
    );
    // What is typed is text, and nothing is said about it.
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    for key in ["a", "~", "P"] {
        stage.press(key);
    }
    assert_eq!(stage.model.notice, None);
}

#[test]
fn help_begins_with_the_main_keys_and_finds_keys_and_words() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("?");
    let all = super::screen_text(&stage.draw());
    let at = |shown: &str, text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text} in {shown}"));
    assert!(at(&all, "The main keys") < at(&all, "replace the proposed action"));
    assert!(at(&all, "one level back, then quit") < at(&all, "Stepping"), "{all}");
    // A key finds its rows in all areas and nothing else.
    stage.press("P");
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("pin or unpin the selected lesson") && !shown.contains("pause"), "{shown}");
    assert!(!shown.contains("The main keys"), "{shown}");
    // Any other text finds the rows with all its words.
    stage.press("Backspace");
    super::overlays::type_text(&mut stage, "mark previous");
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("go to the previous mark") && !shown.contains("next mark"), "{shown}");
    super::overlays::type_text(&mut stage, "xyz");
    assert!(super::screen_text(&stage.draw()).contains("no key or mark matches"));
    // The legend is at the end. Esc clears the filter, then closes.
    stage.press("Esc");
    stage.press("End");
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("timeline: you acted, or rejected a proposal"), "{shown}");
    stage.press("Esc");
    assert!(stage.compositor.overlays().is_empty());
}

/// Regression: in a read-only session, such as a demo, the help listed keys that only say that it is read-only.
#[test]
fn the_help_of_a_read_only_session_lists_only_keys_that_do_something() {
    let read_only = |w, h| {
        let stage = TestScreen::new(sample_session(), w, h);
        stage.fixture.store.edit_live(|live| live.health = crate::driver::Health::ReadOnly);
        stage
    };
    let mut stage = read_only(120, 300);
    stage.press("?");
    let help = screen_text(&stage.draw());
    assert!(help.contains("read-only: keys that change a session are left out"), "{help}");
    assert!(help.contains("Space         play or pause the recording"), "{help}");
    // A filter finds none of them, and says why.
    super::overlays::type_text(&mut stage, "replace proposed");
    let found = screen_text(&stage.draw());
    assert!(found.contains("no key or mark matches") && found.contains("are left out"), "{found}");
    let main_screen = help.lines().take_while(|row| !row.contains("All overlays"));
    let main_screen: Vec<&str> = main_screen.collect();
    assert!(main_screen.len() < help.lines().count(), "{help}");
    let keymap = crate::ui::keymap::Keymap::default();
    let mut refused = 0;
    for row in keymap.bindings_in(crate::ui::keymap::Mode::Main) {
        let Some(key) = row.keys.iter().map(|key| key.label()).find(|label| label.is_ascii()) else {
            continue;
        };
        let mut stage = read_only(120, 36);
        stage.press(&key);
        let notice = stage.model.notice.as_ref().map(|notice| notice.text.clone()).unwrap_or_default();
        if notice.starts_with("read-only") {
            refused += 1;
            // Long descriptions go on in another row.
            let words: String = row.description.chars().take(40).collect();
            let listed = main_screen.iter().find(|line| line.contains(&words));
            assert_eq!(listed, None, "{key} only says: {notice}");
        }
    }
    assert!(refused > 10, "{refused}");
}

/// Regression: where the World pane isn't on the screen, or there is room for one column only, a key changed nothing and said nothing.
#[test]
fn a_key_without_a_visible_effect_says_why() {
    let notice = |w, h, key| {
        let mut stage = TestScreen::new(sample_session(), w, h);
        stage.draw();
        stage.press(key);
        stage.model.notice.as_ref().map(|notice| notice.text.clone()).unwrap_or_default()
    };
    assert!(
        notice(60, 16, "w").contains("isn't on the screen: 2 goes there, z zooms"),
        "{}",
        notice(60, 16, "w")
    );
    for (w, h) in [(60, 16), (80, 24)] {
        assert!(notice(w, h, "v").contains("beside each other from 84 columns on"), "{w}x{h}");
    }
    assert_eq!((notice(80, 24, "w"), notice(120, 36, "w"), notice(120, 36, "v")), Default::default());
    // What the notice says is true.
    let mut stage = TestScreen::new(sample_session(), 60, 16);
    for key in ["w", "2", "z"] {
        stage.draw();
        stage.press(key);
    }
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("World") && shown.contains("ground truth"), "{shown}");
}
