//! Stage mode: what an audience sees, and what it doesn't.

use super::{SIZES, TestScreen, screen_text};
use crate::domain::{
    DecidedBy, LessonOp, LessonOrigin, LessonStatus, LessonText, ReflectionKind, SettingOrigin,
};
use crate::driver::Health;
use crate::engine::{Cause, Event};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::model::Severity;
use crate::ui::theme::Role;
use crate::ui::types::Focus;
use ratatui::style::Color;
use serde_json::Value;

fn on_stage(width: u16, height: u16) -> TestScreen {
    let mut screen = TestScreen::new(sample_session(), width, height);
    screen.press("V");
    screen
}

#[test]
fn stage_screens() {
    for (width, height) in SIZES {
        let mut screen = on_stage(width, height);
        insta::assert_snapshot!(format!("stage_{width}x{height}"), screen_text(&screen.draw()));
    }
}

#[test]
fn the_stage_shows_nothing_after_the_selected_step() {
    let mut screen = on_stage(120, 36);
    screen.press("g");
    for _ in 0..4 {
        screen.press("Right");
    }
    let text = screen_text(&screen.draw());
    assert!(text.contains(" 4 > take apple 1 from fridge 1"), "{text}");
    assert!(!text.contains("open fridge 1") && !text.contains("of 24"), "{text}");
    assert!(text.contains("→ Open a container before you take from it."), "{text}");
}

#[test]
fn the_last_three_keys_are_shown_with_what_they_did() {
    let mut screen = on_stage(120, 36);
    for key in ["g", "g", "g", "p", "Esc", "g", "Right", "V", "V"] {
        screen.press(key);
    }
    let text = screen_text(&screen.draw());
    let last = text.lines().rfind(|line| !line.is_empty()).unwrap();
    assert!(last.ends_with("  pressed: g start   → forward   V ×2 stage mode"), "{text}");
    assert!(!last.contains("Esc"), "{text}");
}

#[test]
fn hosts_and_paths_are_hidden_on_the_panes_and_in_notices() {
    let mut screen = on_stage(120, 36);
    screen.model.private_texts = ["my-sessions".to_owned()].into();
    let path = format!("/home/ada/{}/report.html", "long-folder-name/".repeat(6));
    let text = format!("wrote {path} for http://gpu7.lab:8000/v1, in my-sessions/one");
    screen.model.show_notice(&text, Severity::Info, screen.now);
    let shown = screen_text(&screen.draw());
    for private in ["home", "folder", "gpu7", "8000", "my-sessions"] {
        assert!(!shown.contains(private), "{private}: {shown}");
    }
    assert!(
        shown.contains("••/report.html for ••••••") && shown.contains("take apple 1 from countertop 2"),
        "{shown}"
    );
    screen.press("V");
    screen.model.show_notice(&text, Severity::Info, screen.now);
    assert!(screen_text(&screen.draw()).contains("my-sessions/one"), "only stage mode hides them");
}

/// An overlay isn't part of the stage's own drawing.
#[test]
fn hosts_are_hidden_in_overlays_too() {
    let mut screen = on_stage(120, 36);
    screen.press("o");
    for key in ["1", "2", "7", ".", "0", ".", "0", ".", "1", ":", "8", "0"] {
        screen.press(key);
    }
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("••••••••••••") && !shown.contains("127.0"), "{shown}");
}

/// Keys of a pane that isn't drawn would act unseen.
#[test]
fn no_key_goes_to_a_pane_that_the_stage_does_not_show() {
    let mut screen = TestScreen::new(sample_session(), 120, 36);
    screen.press("3");
    assert_eq!(screen.model.focus, Focus::Lanes);
    screen.press("V");
    for key in ["Tab", "3", "2", "z", "v"] {
        screen.press(key);
        assert_eq!(screen.model.focus, Focus::Story, "{key}");
        assert!(screen_text(&screen.draw()).contains("V shows the whole screen"), "{key}");
    }
}

#[test]
fn the_stage_fits_any_size() {
    for (width, height) in [(1, 1), (5, 3), (20, 8), (40, 19), (400, 100)] {
        let mut screen = on_stage(width, height);
        for key in ["Home", "End"] {
            screen.press(key);
            let area = screen.draw().area;
            let layout = &screen.cache.layout;
            for part in [layout.status, layout.footer, layout.areas[0].body] {
                assert_eq!(part.intersection(area).area(), part.area(), "{width}x{height}: {part:?}");
            }
        }
    }
}

/// Regression: `f` said that there is no reasoning on stage, although `i` shows it; and with rules it did nothing that could be seen.
#[test]
fn reasoning_is_elsewhere_on_stage_and_rules_have_none() {
    let mut screen = TestScreen::new(sample_session(), 120, 36);
    screen.press("f");
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("the rules give no reasoning"), "{shown}");
    let mut spec = screen.fixture.state().run.as_deref().unwrap().clone();
    spec.actor = "openai:small".to_owned();
    screen.fixture.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
    screen.press("V");
    screen.press("f");
    let shown = screen_text(&screen.draw());
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(words.join(" ").contains("leaves reasoning out: i shows it, V shows all"), "{shown}");
}

/// Regression: a host was known only if the run had it when the screen was opened.
#[test]
fn a_server_chosen_during_the_run_is_hidden() {
    let mut screen = on_stage(60, 16);
    let mut spec = screen.fixture.state().run.as_deref().unwrap().clone();
    let address = "http://llm-gpu.cs.example-university.edu:8443/v1";
    spec.settings.set("actor.base_url", Value::from(address), SettingOrigin::Flag);
    screen.fixture.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
    // A row was too short for the rest.
    screen.model.show_notice("no answer from llm-gpu.cs.exam", Severity::Info, screen.now);
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("no answer from") && !shown.contains("llm-gpu"), "{shown}");
}

/// Regression: beside a message of several rows, the end of the row that it covers remained.
#[test]
fn a_message_leaves_nothing_beside_it() {
    let mut screen = on_stage(60, 16);
    let keys = screen_text(&screen.draw());
    assert!(keys.contains("reject"), "{keys}");
    let text = "new branch b1, trunk is kept; B lists both, B then u goes back";
    screen.model.show_notice(text, Severity::Info, screen.now);
    let shown = screen_text(&screen.draw());
    let rows = || shown.lines().skip_while(|row| !row.contains("new branch"));
    assert!(rows().count() > 1, "{shown}");
    let words: Vec<&str> = rows().flat_map(str::split_whitespace).collect();
    let words = words.join(" ");
    assert_eq!(words.split(" pressed:").next(), Some(text), "{shown}");
}

/// Regression: where a written picture is was a row of dots.
#[test]
fn a_written_file_is_named_without_its_folder() {
    let mut screen = on_stage(120, 36);
    screen.model.private_texts =
        ["/home/ada/sessions/one".to_owned(), "/home/ada/sessions".to_owned()].into();
    let text = "picture written to /home/ada/sessions/one/screen-1.svg";
    screen.model.show_notice(text, Severity::Info, screen.now);
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("picture written to one/screen-1.svg in the folder of the sessions"), "{shown}");
}

/// Regression: a lesson that was undone stood in the story on stage as if it were still there.
#[test]
fn an_undone_lesson_is_undone_in_the_story() {
    let mut screen = TestScreen::new(sample_session(), 120, 36);
    let text = LessonText::plain("Wrong lesson.");
    screen.fixture.add_lesson(ReflectionKind::Abstract, text, LessonOrigin::Person);
    let head = screen.fixture.state().head;
    let shown = |screen: &mut TestScreen| {
        let text = screen_text(&screen.draw());
        let rows: Vec<&str> = text.lines().filter(|row| row.contains("taught lesson")).collect();
        rows.last().map(|row| (*row).to_owned()).unwrap_or(text)
    };
    for stage in [false, true] {
        screen.model.stage_mode = stage;
        assert!(!shown(&mut screen).contains("undone"), "{}", shown(&mut screen));
    }
    let op = screen.fixture.state().pool.all().next_back().unwrap().clone();
    let inverse = LessonOp::Status {
        id: op.id.clone(),
        previous: LessonStatus::On,
        status: LessonStatus::Retired,
        merged_into: None,
    };
    screen.fixture.write(Cause::Person, Event::LessonUndone { target_seq: head, op: Box::new(inverse) });
    for stage in [false, true] {
        screen.model.stage_mode = stage;
        assert!(shown(&mut screen).contains("undone"), "{stage}: {}", shown(&mut screen));
    }
}

/// Regression: an override on stage had an empty row, or nothing, where the replaced proposal should be.
#[test]
fn an_override_on_stage_shows_what_it_replaced() {
    for (width, height) in SIZES {
        let mut f = Fixture::new();
        f.begin_episode();
        f.propose(None, Some("take mug 1 from shelf 2"));
        f.execute("move cellphone 1 to shelf 2", DecidedBy::Person, "You move it.", 0.0, Value::Null);
        let mut screen = TestScreen::new(f, width, height);
        screen.press("V");
        let shown = screen_text(&screen.draw());
        assert!(shown.contains("by you, instead of: take mug 1 from shelf 2"), "{width}x{height}: {shown}");
    }
}

/// Regression: on a high screen, the parts on stage were as close together as on a low one.
#[test]
fn a_high_stage_has_more_room_between_its_parts() {
    for (height, expected) in [(60, 2), (36, 1), (24, 1), (16, 1)] {
        let mut screen = on_stage(120, height);
        screen.press("g");
        screen.press("Right");
        screen.press("Right");
        let shown = screen_text(&screen.draw());
        let rows: Vec<&str> = shown.lines().collect();
        let second = rows.iter().position(|row| row.trim_start().starts_with("2 ")).unwrap();
        let empty = rows[..second].iter().rev().take_while(|row| row.is_empty()).count();
        assert_eq!(empty, expected, "{height}: {shown}");
    }
}

/// Regression: the mistakes, which are the point of a talk, weren't in its story.
#[test]
fn the_story_on_stage_names_mistakes() {
    let mut screen = on_stage(120, 36);
    screen.press("g");
    for _ in 0..4 {
        screen.press("Right");
    }
    let text = screen_text(&screen.draw());
    assert!(text.lines().any(|row| row.trim_start().starts_with("! ")), "{text}");
}

/// Regression: one step later a mistake was grey, progress was nowhere, and the mark of what a person did had become a dot.
#[test]
fn earlier_steps_keep_mistakes_progress_and_the_persons_mark() {
    let mut f = sample_session();
    let text = LessonText::plain("Open the microwave first.");
    f.add_lesson(ReflectionKind::Abstract, text, LessonOrigin::Person);
    f.actor_step("go to microwave 1", "The microwave 1 is closed.", 0.5, Value::Null);
    f.actor_step("take apple 1 from shelf 1", "Nothing happens.", 0.5, Value::Null);
    f.actor_step("open microwave 1", "You open the microwave 1.", 0.75, Value::Null);
    f.actor_step("look", "You are facing the microwave 1.", 0.75, Value::Null);
    let mut screen = TestScreen::new(f, 200, 60);
    screen.press("V");
    let buffer = screen.draw();
    let shown = screen_text(&buffer);
    for (words, mark, role) in [
        ("nothing happened", "! ", Role::Bad),
        ("progress 3/4", "+ ", Role::Good),
        ("enters the prompt", "✎ ", Role::Person),
    ] {
        let rows: Vec<&str> = shown.lines().collect();
        let y =
            rows.iter().rposition(|row| row.contains(words)).unwrap_or_else(|| panic!("{words}: {shown}"));
        let (before, _) = rows[y].split_once(words).unwrap();
        assert!(before.contains(mark), "{words}: {shown}");
        let x = before.chars().count() as u16;
        let colour = buffer[(x, y as u16)].fg;
        assert_eq!(colour, screen.theme.style(role).fg.unwrap_or(Color::Reset), "{words}: {shown}");
    }
}

/// Regression: keys that had been pressed looked like keys to press.
#[test]
fn pressed_keys_have_a_label_and_a_colour_of_their_own() {
    let mut screen = on_stage(120, 36);
    screen.press("g");
    let buffer = screen.draw();
    let shown = screen_text(&buffer);
    let (y, row) = shown.lines().enumerate().find(|(_, row)| row.contains("pressed: ")).unwrap();
    let (before, _) = row.split_once("g start").unwrap();
    let at = |x: usize| buffer[(x as u16, y as u16)].fg;
    let hint = row.chars().position(|c| c != ' ').unwrap();
    assert_ne!(at(before.chars().count()), at(hint), "{shown}");
}

/// Regression: hints and messages on stage were those of the panes.
#[test]
fn the_stage_names_only_what_it_has() {
    let mut screen = TestScreen::new(sample_session(), 200, 60);
    screen.fixture.write(Cause::Person, Event::Resumed);
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("zoom") && shown.contains("+- speed"), "{shown}");
    screen.press("V");
    let shown = screen_text(&screen.draw());
    assert!(!shown.contains("zoom") && !shown.contains("panes"), "{shown}");
    screen.press("w");
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("the agent can't see") && !screen.model.show_truth, "{shown}");
}

/// Regression: on stage the message that a session is read-only was three rows of dots.
#[test]
fn the_read_only_message_names_the_session() {
    let mut screen = on_stage(120, 36);
    screen.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
    screen.model.resume_command = Some("retrospect resume /home/ada/sessions/2026-hot-mug".to_owned());
    screen.press("a");
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("to continue: retrospect resume 2026-hot-mug --stage"), "{shown}");
}

/// Regression: thoughts of earlier steps stood two columns left of the actions, in the style of observations.
#[test]
fn on_stage_a_thought_stands_with_the_actions_and_keeps_its_style() {
    let mut screen = on_stage(120, 36);
    screen.press("g");
    for _ in 0..3 {
        screen.press("Right");
    }
    let buffer = screen.draw();
    let text = screen_text(&buffer);
    let place = |words: &str| {
        let found = text.lines().zip(0..).find_map(|(line, y)| Some((line.find(words)? as u16, y)));
        found.unwrap_or_else(|| panic!("{words}: {text}"))
    };
    let (thought, action) = (place("An apple is more likely"), place("go to fridge 1"));
    assert_eq!(thought.0, action.0, "{text}");
    assert_eq!(
        buffer[thought].style(),
        buffer[thought].style().patch(screen.theme.style(Role::Thought)),
        "{text}"
    );
}
