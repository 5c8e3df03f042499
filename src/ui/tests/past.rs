//! The past: every pane shows the selected position as if the session ended there; and navigation in time.

use super::{TestScreen, screen_text};
use crate::domain::{EndReason, LessonOrigin, LessonText, ReflectionKind, Seq};
use crate::engine::{Cause, Command, Event};
use crate::ui::fixture::{Fixture, fcrf, reflexion, sample_session, sweet_sour};
use crate::ui::layout::Pane;
use crate::ui::mark::MarkKind;
use crate::ui::msg::{Request, UiMessage};
use crate::ui::types::Cursor;
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

/// The session as it was after an event.
fn truncated_at(fixture: &Fixture, seq: Seq) -> Fixture {
    let mut copy = Fixture::empty();
    for envelope in fixture.store.timeline().events_between(Seq(0), seq) {
        copy.write(envelope.cause, envelope.event.clone());
    }
    copy
}

/// The contents of the screen without what differs between past and present: the mode, the frame, the keys, and the
/// later steps in the panes and on the timeline.
struct ScreenParts {
    status: String,
    panes: Vec<(Pane, String, Vec<String>)>,
    steps: Vec<(Pane, Vec<(u32, String)>)>,
}

fn screen_parts(stage: &mut TestScreen) -> ScreenParts {
    let buffer = stage.draw();
    let cells = |y: u16, from: u16, to: u16| -> String {
        (from..to).map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>().trim_end().to_owned()
    };
    let first = cells(0, 0, buffer.area.width);
    let modes = ["PAST", "PAUSED", "ENDED", "LOST", "WON", "NEXT", "THINKING", "REFLECTING"];
    let end = modes.iter().filter_map(|m| first.find(m)).min().unwrap_or(first.len());
    // A narrow row cuts the goal where the mode needs room.
    let from = if buffer.area.width < 200 { first.find(['▮', '▯']).unwrap_or(0) } else { 0 };
    let status = &first[from..end];
    // Its parts are right-aligned before the mode, so only the text between blanks is compared.
    let status = status.split_whitespace().collect::<Vec<_>>().join(" ");
    let chosen = stage.frame_data().selected_step();
    let (mut panes, mut steps) = (Vec::new(), Vec::new());
    for block in &stage.cache.layout.areas {
        let rows = || {
            (block.body.top()..block.body.bottom()).map(|y| cells(y, block.body.left(), block.body.right()))
        };
        match block.pane {
            Pane::World | Pane::LaneTabs | Pane::Lane(_) => {
                let title = block.title.map_or_else(String::new, |t| cells(t.y, t.left(), t.right()));
                panes.push((block.pane, title, rows().collect()));
            }
            Pane::Story | Pane::Thoughts | Pane::Observations => {
                let step_at = |row: u16| {
                    stage.cache.step_hits.iter().find(|(p, y, _)| *p == block.pane && *y == row).map(|h| h.2)
                };
                let known = (block.body.top()..block.body.bottom()).zip(rows());
                let seen = known.filter_map(|(y, text)| Some((step_at(y).filter(|n| *n <= chosen)?, text)));
                steps.push((block.pane, seen.collect()));
            }
            Pane::Timeline => {}
        }
    }
    ScreenParts { status, panes, steps }
}

/// Asserts that the screen at a past position equals that of a session that ends there.
fn assert_same_as_ended(fixture: &Fixture, seq: Seq, width: u16, height: u16) {
    let mut past = TestScreen::new(Fixture::empty(), width, height);
    past.fixture.store = fixture.store.clone();
    past.model.cursor = Cursor::At(seq);
    let mut ended = TestScreen::new(truncated_at(fixture, seq), width, height);
    let (expected, shown) = (screen_parts(&mut ended), screen_parts(&mut past));
    let at = format!(
        "after event {seq} at {width}x{height}\n{}\n{}",
        screen_text(&past.draw()),
        screen_text(&ended.draw())
    );
    assert_eq!(shown.status, expected.status, "{at}");
    assert_eq!(shown.panes, expected.panes, "{at}");
    for ((pane, shown), (_, expected)) in shown.steps.iter().zip(&expected.steps) {
        // How many observations fit among thoughts and actions depends on the steps that follow.
        let is_compared = |(_, row): &&(u32, String)| {
            let text = row.strip_prefix([' ', '▌']).and_then(|row| row.strip_prefix("     "));
            let text = text.filter(|_| *pane == Pane::Thoughts);
            !text.is_some_and(|text| text.starts_with(char::is_alphanumeric))
        };
        let shown: Vec<_> = shown.iter().filter(|(step, _)| *step > 0).filter(is_compared).collect();
        let expected: Vec<_> = expected.iter().filter(is_compared).collect();
        let contained = shown.is_empty() || expected.windows(shown.len()).any(|w| w == &shown[..]);
        assert!(contained, "{pane:?}\n{shown:#?}\n{expected:#?}\n{at}");
    }
    // The prompt view covers the smallest screen except for its first and last row.
    for stage in [&mut past, &mut ended] {
        stage.model.size = (60, 16);
        stage.press("p");
    }
    let inside = |stage: &mut TestScreen| {
        let text = screen_text(&stage.draw());
        text.lines().skip(1).take(14).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(inside(&mut past), inside(&mut ended), "the prompt view {at}");
}

/// A planning problem, whose world is drawn as boxes.
fn planning_fixture() -> Fixture {
    use crate::env::Environment as _;
    let task = "gripper/easy/1".parse().unwrap();
    let mut world = crate::env::pddl::generate(&task).unwrap().open(crate::env::pddl::GoalSeparator::Comma);
    let mut fixture = Fixture::new();
    fixture.begin_episode_in("pddl");
    let mut first = world.reset().unwrap().shown;
    first["receptacles"] = serde_json::Value::Null;
    fixture.actor_step("look around", "Two rooms.", 0.0, first);
    for action in ["pick ball1 rooma left", "move rooma roomb", "drop ball1 roomb left", "move roomb rooma"] {
        let result = world.step(action).unwrap();
        fixture.actor_step(action, &result.observation, result.progress, result.shown);
    }
    fixture
}

/// Regression: nothing showed a long goal whole: the first row cut it, and the environment doesn't say it.
#[test]
fn the_story_begins_with_a_goal_that_the_environment_does_not_say() {
    for (w, h) in super::SIZES {
        let goal = "The nut nuts1 on the hub the-hub1 is tight, wheel r2 is inflated, and r2 is on the-hub2.";
        let mut fixture = Fixture::for_method("omnireflect", "symbolic", 1);
        fixture.begin_episode_with_goal("household", goal);
        fixture.propose(None, Some("look")).pause();
        let mut screen = TestScreen::new(fixture, w, h);
        screen.draw();
        if h < 24 {
            screen.press("PageUp");
        }
        let shown = screen_text(&screen.draw());
        let words: Vec<&str> = shown.split_whitespace().collect();
        assert!(words.join(" ").contains("and r2 is on the-hub2."), "{w}x{h}: {shown}");
    }
}

#[test]
fn every_pane_shows_the_past_as_a_session_cut_there_does() {
    let mut two = sample_session();
    two.end_episode(false, EndReason::StepLimit);
    two.begin_episode();
    two.actor_step("go to fridge 1", "The fridge 1 is closed.", 0.0, serde_json::Value::Null);
    two.actor_step("open fridge 1", "You open the fridge 1.", 0.25, serde_json::Value::Null);
    let grid = super::grid_world::grid_fixture("GoToLocalS8N7", 3);
    let sessions = [
        ("kitchen", two),
        ("grid", grid),
        ("planning", planning_fixture()),
        ("fcrf", fcrf()),
        ("reflexion", reflexion()),
    ];
    for (name, session) in sessions.into_iter().chain([("sweet_sour", sweet_sour())]) {
        let mut stage = TestScreen::new(session, 200, 60);
        let mut positions = 0;
        for _ in 0..200 {
            stage.press("Left");
            let Cursor::At(seq) = stage.model.cursor else { break };
            assert_same_as_ended(&stage.fixture, seq, 200, 60);
            if positions % 7 == 0 {
                assert_same_as_ended(&stage.fixture, seq, 120, 36);
                assert_same_as_ended(&stage.fixture, seq, 80, 24);
            }
            positions += 1;
            if stage.model.notice.as_ref().is_some_and(|n| n.text == "this is the start of the session") {
                break;
            }
        }
        assert!(positions >= 4, "{name}: {positions} positions");
    }
}

/// Returns the rows of the Story pane, without empty rows at its end.
fn story_rows(stage: &mut TestScreen) -> Vec<String> {
    let buffer = stage.draw();
    let story = stage.cache.layout.areas.iter().find(|b| b.pane == Pane::Story).unwrap().body;
    let row = |y| (story.left()..story.right()).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    let mut rows: Vec<String> = (story.top()..story.bottom()).map(|y| row(y).trim_end().to_owned()).collect();
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

/// Regression: near the beginning of an episode, a step below the selected one lacked its last rows.
#[test]
fn steps_below_a_past_step_keep_all_their_rows() {
    let long = "You see a cabinet 1, a cabinet 2, a countertop 1, a fridge 1 and a microwave 1. ".repeat(2);
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    for (n, progress) in [(1, 0.0), (2, 0.25), (3, 0.5), (4, 0.75), (5, 0.9), (6, 0.95), (7, 0.98)] {
        fixture.actor_step(&format!("go to shelf {n}"), &long, progress, serde_json::Value::Null);
    }
    let mut stage = TestScreen::new(fixture, 120, 36);
    let mut cut = 0;
    for step in 0..7 {
        stage.press(":");
        stage.send(UiMessage::Paste(step.to_string()));
        stage.press("Enter");
        assert_eq!(stage.frame_data().selected_step(), step);
        stage.model.size = (120, 200);
        let all = story_rows(&mut stage);
        for height in 20..60 {
            stage.model.size = (120, height);
            let shown = story_rows(&mut stage);
            let is_whole = all.windows(shown.len()).any(|rows| rows == shown);
            assert!(is_whole, "step {step}, {height} rows:\n{}\nof\n{}", shown.join("\n"), all.join("\n"));
            cut += usize::from(shown.len() < all.len());
        }
    }
    assert!(cut > 20, "{cut} of the screens cut something");
}

/// Regression: the last rows of the step that the lower edge cut could not be scrolled to.
#[test]
fn the_past_scrolls_down_to_the_last_row_of_the_story() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    for n in 1..=3 {
        fixture.actor_step(&format!("go to shelf {n}"), "Nothing.", 0.0, serde_json::Value::Null);
    }
    let long = "A shelf with many things on it. ".repeat(40) + "At its end is an egg 1.";
    fixture.actor_step("go to shelf 4", &long, 0.0, serde_json::Value::Null);
    let mut stage = TestScreen::new(fixture, 80, 24);
    for _ in 0..3 {
        stage.press("Left");
    }
    stage.draw();
    for _ in 0..20 {
        stage.press("PageDown");
        stage.draw();
    }
    assert!(story_rows(&mut stage).join(" ").contains("egg 1."), "{}", screen_text(&stage.draw()));
}

/// Regression: what was changed later was shown in the rows of a past position.
#[test]
fn a_past_step_is_shown_as_it_was_then() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    stage.press("Left");
    stage.press("Left");
    let text = Some("why so?".to_owned());
    stage.fixture.write(Cause::Person, Event::ThoughtEdited { step: 21, previous: None, text });
    assert!(!screen_text(&stage.draw()).contains("why so?"));
    stage.press("End");
    assert!(screen_text(&stage.draw()).contains("why so?"));
}

/// Regression: a remark on a past step was shown only in the present, and one on an earlier episode nowhere, or at another one.
#[test]
fn a_remark_is_shown_at_the_step_that_it_is_about() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    stage.press("Left");
    stage.press("Left");
    let step = stage.frame_data().selected_step();
    stage.press("N");
    for key in ["w", "h", "y"] {
        stage.press(key);
    }
    let number = stage.fixture.store.head().episode.as_ref().unwrap().number;
    let Some(Request::Send(command)) = stage.press("Enter").pop() else { panic!("nothing is sent") };
    assert_eq!(command, Command::Remark { episode: Some(number), step, text: "why".to_owned() });
    stage.fixture.write(Cause::Person, Event::Remarked { episode: None, step, text: "why so?".to_owned() });
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("\" why so?"), "{shown}");
    let frame = stage.frame_data();
    assert!(
        frame.story.episode.as_ref().unwrap().step(step).is_some_and(|s| MarkKind::Remark.is_set_on(s, &[]))
    );
    stage.press("V");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("\u{270e} why so?"), "on stage it is a person's: {shown}");
}

#[test]
fn the_palette_chooses_which_marks_are_visited() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press(":");
    for c in "marks".chars() {
        stage.press(&c.to_string());
    }
    stage.press("Enter");
    assert_eq!(stage.compositor.overlays().last().map(|o| o.name()), Some("marks"));
    insta::assert_snapshot!("marks_80x24", screen_text(&stage.draw()));
    // Show only overrides.
    stage.press("Down");
    stage.press("o");
    assert_eq!(stage.model.mark_filter.kind_names().as_deref(), Some("interventions"));
    stage.press("Esc");
    stage.press("<");
    assert_eq!(stage.frame_data().selected_step(), 7);
    stage.press("<");
    let notice = stage.model.notice.as_ref().unwrap().text.clone();
    assert_eq!((stage.frame_data().selected_step(), notice.as_str()), (7, "no earlier mark (interventions)"));
    // Errors too.
    stage.model.mark_filter.toggle(MarkKind::Mistake);
    stage.press("<");
    assert_eq!(stage.frame_data().selected_step(), 4);
    // The last kind can't be switched off, or the keys would find nothing.
    stage.model.mark_filter.toggle(MarkKind::Mistake);
    stage.model.mark_filter.toggle(MarkKind::Override);
    assert_eq!(stage.model.mark_filter.kind_names(), None);
}

#[test]
fn a_number_goes_to_a_step_and_two_to_another_episode() {
    let mut fixture = sample_session();
    fixture.end_episode(false, EndReason::StepLimit);
    fixture.begin_episode();
    fixture.actor_step("go to fridge 1", "The fridge 1 is closed.", 0.0, serde_json::Value::Null);
    let mut stage = TestScreen::new(fixture, 80, 24);
    let at = |stage: &TestScreen| {
        let frame = stage.frame_data();
        (frame.displayed.episode.as_ref().unwrap().number, frame.selected_step())
    };
    let cases = [
        ("1.14", (1, 14)),
        ("0", (1, 0)),
        ("7", (1, 7)),
        ("2.0", (2, 0)),
        ("2.1", (2, 1)),
        ("1.24", (1, 24)),
    ];
    for (input, place) in cases {
        stage.press(":");
        stage.send(UiMessage::Paste(input.to_owned()));
        stage.press("Enter");
        assert_eq!(at(&stage), place, "{input}");
    }
    for (input, notice) in [
        ("99", "no step 99; this episode has 24"),
        ("2.9", "no step 9; episode 2 has 1"),
        ("5.1", "no episode 5; the session has 2"),
    ] {
        stage.press(":");
        stage.send(UiMessage::Paste(input.to_owned()));
        stage.press("Enter");
        assert_eq!(stage.model.notice.as_ref().unwrap().text, notice);
    }
}

#[test]
fn brackets_go_from_episode_to_episode() {
    let mut fixture = sample_session();
    for _ in 0..2 {
        fixture.end_episode(false, EndReason::StepLimit);
        fixture.begin_episode();
        fixture.actor_step("go to fridge 1", "The fridge 1 is closed.", 0.0, serde_json::Value::Null);
    }
    let mut stage = TestScreen::new(fixture, 80, 24);
    let number = |stage: &TestScreen| stage.frame_data().displayed.episode.as_ref().unwrap().number;
    for (key, episode) in [("[", 2), ("[", 1), ("[", 1), ("]", 2), ("]", 3)] {
        stage.press(key);
        assert_eq!((number(&stage), stage.frame_data().selected_step()), (episode, 0), "{key}");
    }
    stage.press("]");
    assert_eq!(stage.model.cursor, Cursor::Live);
}

fn mouse_msg(kind: MouseEventKind, column: u16, row: u16) -> UiMessage {
    UiMessage::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
}

#[test]
fn the_timeline_can_be_clicked_and_dragged() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    stage.draw();
    let bar = stage.cache.layout.areas.iter().find(|b| b.pane == Pane::Timeline).unwrap().body;
    let ruler = stage.cache.ruler.unwrap();
    stage.send(mouse_msg(MouseEventKind::Down(MouseButton::Left), ruler.column_of(9), bar.y));
    assert_eq!(stage.frame_data().selected_step(), 9);
    stage.draw();
    for step in [12, 15, 18] {
        // While the button is held, only the column of the pointer counts, and each column of a step is as good.
        stage.send(mouse_msg(MouseEventKind::Drag(MouseButton::Left), ruler.column_of(step + 1) - 1, 3));
        assert_eq!(stage.frame_data().selected_step(), step);
        stage.draw();
    }
    stage.send(mouse_msg(MouseEventKind::Drag(MouseButton::Left), bar.x + 100, bar.y));
    assert_eq!(stage.model.cursor, Cursor::Live);
    stage.send(mouse_msg(MouseEventKind::Up(MouseButton::Left), bar.x + 100, bar.y));
    stage.send(mouse_msg(MouseEventKind::Drag(MouseButton::Left), bar.x + 3, bar.y));
    assert_eq!(stage.model.cursor, Cursor::Live, "the button is up");
}

/// Regression: in an episode longer than the bar, a drag stopped at the bar's edge.
#[test]
fn an_episode_longer_than_the_bar_moves_under_the_mouse() {
    let mut stage = TestScreen::new(crate::ui::fixture::long_session(3000), 80, 24);
    stage.draw();
    let bar = stage.cache.layout.areas.iter().find(|b| b.pane == Pane::Timeline).unwrap().body;
    let all = stage.frame_data().selected_step();
    stage.send(mouse_msg(MouseEventKind::Down(MouseButton::Left), bar.x + 20, bar.y));
    stage.draw();
    let mut before = stage.frame_data().selected_step();
    assert!(before > 100);
    for _ in 0..200 {
        stage.send(mouse_msg(MouseEventKind::Drag(MouseButton::Left), bar.x, bar.y));
        let now = stage.frame_data().selected_step();
        assert!(now < before || now == 1, "{before} to {now}");
        before = now;
    }
    assert_eq!(before, 1);
    for _ in 0..200 {
        stage.send(mouse_msg(MouseEventKind::Drag(MouseButton::Left), 79, bar.y));
    }
    assert_eq!((stage.frame_data().selected_step(), stage.model.cursor), (all, Cursor::Live));
}

/// The largest layout, with all panes side by side.
#[test]
fn the_past_on_a_large_screen() {
    let mut stage = TestScreen::new(sample_session(), 200, 60);
    stage.press("Home");
    for _ in 0..9 {
        stage.press("Right");
    }
    let text = screen_text(&stage.draw());
    assert!(text.lines().next().unwrap().contains("PAST step 9 of 24"), "{text}");
    insta::assert_snapshot!("past_200x60", text);
}

/// Every intervention is a mark on the timeline and a stop of `<`, not only what changes an action; undone ones are not.
#[test]
fn a_taught_lesson_is_a_mark_and_a_stop() {
    let mut fixture = sample_session();
    let taught_at = fixture.state().episode.as_ref().unwrap().steps.len() as u32;
    let text = LessonText::plain("Look on the countertops first.");
    fixture.add_lesson(ReflectionKind::Error, text, LessonOrigin::Person);
    fixture.actor_step("look", "You are in the kitchen.", 0.25, serde_json::Value::Null);
    fixture.actor_step("inventory", "You carry nothing.", 0.25, serde_json::Value::Null);
    let mut stage = TestScreen::new(fixture, 120, 36);
    stage.model.mark_filter.toggle_only(MarkKind::Override);
    stage.press("<");
    assert_eq!(stage.frame_data().selected_step(), taught_at);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains(&format!("✎ step {taught_at} you taught a lesson")), "{shown}");
}
