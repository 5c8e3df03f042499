//! Breakpoints on the screen: setting and editing them, and how a hit is shown.

use super::overlays::{admissible_answer, type_text};
use super::{SIZES, TestScreen, screen_text};
use crate::domain::BreakpointConfig;
use crate::driver::Health;
use crate::engine::{Cause, Command, Event, PauseReason};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Request, UiMessage};

fn set_breakpoint(f: &mut Fixture, breakpoint: u32, condition: &str, warn: bool) {
    let config = BreakpointConfig { condition: condition.to_owned(), is_watch: warn, once: false };
    f.write(Cause::Person, Event::BreakpointSet { breakpoint, config });
}

fn with_breakpoints() -> Fixture {
    let mut f = sample_session();
    set_breakpoint(&mut f, 1, "action ~ heat", true);
    set_breakpoint(&mut f, 2, "nothing 3", false);
    set_breakpoint(&mut f, 3, "end failure", false);
    f.write(Cause::Person, Event::BreakpointSwitched { breakpoint: 3, enabled: false });
    f
}

fn with_hit() -> Fixture {
    let mut f = with_breakpoints();
    let step = f.store.head().last_step().unwrap().number;
    let reason = format!("nothing happened at steps {}, {} and {step}", step - 2, step - 1);
    f.write(Cause::Policy, Event::BreakpointHit { breakpoint: 2, episode: 1, step, reason });
    f.write(Cause::Policy, Event::Paused { reason: PauseReason::Breakpoint });
    f
}

fn break_request(text: &str, replaces: Option<u32>) -> Request {
    Request::Send(Command::SetBreakpoint { text: text.to_owned(), replaces })
}

#[test]
fn a_condition_is_typed_completed_and_set() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    assert_eq!(stage.press("b"), [Request::ListAdmissible]);
    stage.send(UiMessage::Answer(admissible_answer()));
    type_text(&mut stage, "nothing 3");
    assert_eq!(stage.press("Enter"), [break_request("nothing 3", None)]);
    assert!(stage.compositor.overlays().is_empty());
    assert!(stage.model.notice.as_ref().unwrap().text.contains("breakpoint set: `nothing 3`"));
    // Completion offers the admissible commands.
    stage.press("b");
    stage.send(UiMessage::Answer(admissible_answer()));
    type_text(&mut stage, "warn action heat");
    assert!(screen_text(&stage.draw()).contains("warn action = heat apple 1 with microwave 1"));
    stage.press("Tab");
    assert_eq!(stage.press("Enter"), [break_request("warn action = heat apple 1 with microwave 1", None)]);
    // An invalid condition stays in the input, and nothing is sent.
    stage.press("b");
    type_text(&mut stage, "stalld 3");
    assert_eq!(stage.press("Enter"), []);
    assert!(screen_text(&stage.draw()).contains("did you mean `stalled`?"));
    stage.press("Esc");
    assert!(stage.compositor.overlays().is_empty());
}

#[test]
fn breakpoints_in_the_list_are_toggled_changed_and_deleted() {
    let mut stage = TestScreen::new(with_breakpoints(), 120, 36);
    stage.press("b");
    stage.press("Up");
    assert_eq!(stage.press("x"), [Request::Send(Command::SwitchBreakpoint { breakpoint: 3, enabled: true })]);
    stage.press("Up");
    assert_eq!(stage.press("o"), [break_request("once nothing 3", Some(2))]);
    assert_eq!(stage.press("w"), [break_request("warn nothing 3", Some(2))]);
    assert_eq!(stage.press("d"), [Request::Send(Command::RemoveBreakpoint(2))]);
    stage.press("Enter");
    stage.press("Ctrl-u");
    type_text(&mut stage, "nothing 4");
    assert_eq!(stage.press("Enter"), [break_request("nothing 4", Some(2))]);
    assert!(!stage.compositor.overlays().is_empty(), "back in the list");
    stage.press("Esc");
    assert!(stage.compositor.overlays().is_empty());
}

#[test]
fn a_hit_is_shown_in_mode_timeline_and_story() {
    let mut stage = TestScreen::new(with_breakpoints(), 120, 36);
    stage.send(UiMessage::StoreChanged);
    stage.fixture = with_hit();
    stage.send(UiMessage::StoreChanged);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("STOPPED · nothing 3"), "{shown}");
    assert!(shown.contains("stopped: breakpoint 2 `nothing 3`: nothing happened at steps"), "{shown}");
    assert!(shown.contains("■ breakpoint 2: nothing happened"), "{shown}");
    // The notice is shown once and disappears at the next key.
    stage.press("z");
    stage.send(UiMessage::StoreChanged);
    assert!(stage.model.notice.is_none());
    // The mode changes when the session continues.
    stage.fixture.write(Cause::Person, Event::StepGranted);
    assert!(!screen_text(&stage.draw()).contains("STOPPED"));
}

#[test]
fn pictures_of_the_list_and_of_a_hit() {
    for (w, h) in SIZES {
        let mut stage = TestScreen::new(with_hit(), w, h);
        insta::assert_snapshot!(format!("stopped_{w}x{h}"), screen_text(&stage.draw()));
        stage.press("b");
        stage.send(UiMessage::Answer(admissible_answer()));
        type_text(&mut stage, "warn s");
        insta::assert_snapshot!(format!("breaks_{w}x{h}"), screen_text(&stage.draw()));
        assert!(stage.press("Esc").is_empty());
        stage.press("b");
        stage.press("Up");
        stage.press("Up");
        insta::assert_snapshot!(format!("breaks_list_{w}x{h}"), screen_text(&stage.draw()));
    }
}

/// Regression: the focus stayed in the empty list, which described a breakpoint that no longer existed.
#[test]
fn after_the_last_one_is_deleted_the_input_has_focus() {
    let mut f = sample_session();
    set_breakpoint(&mut f, 1, "nothing 3", false);
    let mut stage = TestScreen::new(f, 120, 36);
    stage.press("b");
    stage.press("Up");
    assert_eq!(stage.press("d"), [Request::Send(Command::RemoveBreakpoint(1))]);
    stage.fixture.write(Cause::Person, Event::BreakpointRemoved { breakpoint: 1 });
    stage.send(UiMessage::StoreChanged);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("none set yet") && shown.contains("type a condition"), "{shown}");
    assert!(!shown.contains("no hits yet") && !shown.contains("d delete"), "{shown}");
    assert!(!shown.contains("Up list") && !shown.contains("↑ list"), "there is no list to go to: {shown}");
    type_text(&mut stage, "nothing 4");
    assert_eq!(stage.press("Enter"), [break_request("nothing 4", None)]);
}

/// Regression: a condition could be typed in a read-only session and was rejected only at Enter.
#[test]
fn a_read_only_session_shows_its_breakpoints_and_accepts_no_condition() {
    let reading = |f: Fixture| {
        let stage = TestScreen::new(f, 120, 36);
        stage.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
        stage
    };
    let mut stage = reading(sample_session());
    stage.send(UiMessage::StoreChanged);
    assert_eq!(stage.press("b"), []);
    assert!(stage.compositor.overlays().is_empty(), "there is nothing to show");
    assert!(stage.model.notice.as_ref().unwrap().text.starts_with("read-only"));
    let mut stage = reading(with_breakpoints());
    stage.send(UiMessage::StoreChanged);
    assert_eq!(stage.press("b"), []);
    assert!(screen_text(&stage.draw()).contains("Breakpoints and watches (read-only)"));
    for key in ["a", "x", "d", "o", "w", "Enter"] {
        assert_eq!(stage.press(key), [], "{key}");
        assert!(stage.model.notice.as_ref().unwrap().text.starts_with("read-only"), "{key}");
    }
    stage.press("Down");
    stage.press("Down");
    stage.press("Down");
    type_text(&mut stage, "7");
    assert!(!screen_text(&stage.draw()).contains("▸ 7"));
    stage.press("Esc");
    assert!(stage.compositor.overlays().is_empty());
}
