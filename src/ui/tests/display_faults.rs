//! Regressions of the screen that were found by looking at it. The comment of each test describes the fault.

use super::{TestScreen, screen_text};
use crate::domain::{Author, EndReason, LessonOp, LessonOrigin, LessonText, ReflectionKind};
use crate::driver::{Health, LiveCall};
use crate::engine::{Cause, Command, Event};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::keymap::Action;
use crate::ui::layout::Pane;
use crate::ui::model::Severity;
use crate::ui::msg::{Request, UiMessage};
use crate::ui::theme::{Role, Theme};
use crate::ui::types::Focus;
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use serde_json::Value;

/// Unless all lessons of a lane fit in full, every one was cut to a single row.
#[test]
fn a_lane_wraps_some_lessons_where_there_is_no_room_for_all() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    for n in 1..=8 {
        let text = format!("Number {n} says: surfaces first, then drawers, then end{n}.");
        fixture.add_lesson(ReflectionKind::Abstract, LessonText::plain(&text), LessonOrigin::Symbolic);
    }
    let mut stage = TestScreen::new(fixture, 120, 36);
    stage.draw();
    let lane = *stage.cache.layout.area_for(Focus::Lanes, 0).unwrap();
    let height = usize::from(lane.body.height);
    assert!((9..16).contains(&height), "eight lessons fit in a row each, but not in two: {height}");
    let shown = screen_text(&stage.draw());
    let whole = (1..=8).filter(|n| shown.contains(&format!("end{n}."))).count();
    assert!((1..8).contains(&whole), "some are complete, others cut: {shown}");
    assert!((1..=8).all(|n| shown.contains(&format!("Number {n} says"))), "none is pushed out: {shown}");
    // The selected lesson is completed first.
    stage.press("3");
    for _ in 1..8 {
        stage.press("Down");
    }
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("end1."), "{shown}");
}

/// A mistake was cut to a single row although rows below were empty.
#[test]
fn a_mistake_is_wrapped_where_there_is_room() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    let text = LessonText::error(
        "Tried to heat, cool or clean an object that was not held, so the mistake ends here.",
        "Hold the object before you heat, cool or clean it, so the solution ends there.",
    );
    fixture.add_lesson(ReflectionKind::Error, text, LessonOrigin::Symbolic);
    let shown = screen_text(&TestScreen::new(fixture, 120, 36).draw());
    for words in ["Tried to heat", " here.", "→ Hold", "ends there."] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

/// On a narrow screen, the lane that was shown stayed the empty first one when another one had got the first lesson.
#[test]
fn a_narrow_screen_shows_the_lane_with_the_newest_lesson() {
    for (width, height) in [(80, 24), (60, 16)] {
        let mut fixture = Fixture::new();
        fixture.begin_episode();
        let text = LessonText::plain("An object must be held first.");
        fixture.add_lesson(ReflectionKind::Error, text, LessonOrigin::Symbolic);
        let mut stage = TestScreen::new(fixture, width, height);
        stage.send(UiMessage::StoreChanged);
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("[Error 1") && shown.contains("An object must be held"), "{shown}");
    }
}

/// The first Tab went to the first lane, even if another one was shown. At the start the first one is: it was the Error
/// lane, wherever that was among the lanes.
#[test]
fn tab_continues_from_the_shown_lane() {
    let walk = |key: &str, size: (u16, u16)| {
        let mut stage = TestScreen::new(sample_session(), size.0, size.1);
        stage.model.selected_lane = Some(0);
        stage.draw();
        let mut seen = Vec::new();
        for _ in 0..6 {
            stage.press(key);
            stage.draw();
            let lane = stage.model.selected_lane.unwrap_or(0);
            seen.push(match stage.model.focus {
                Focus::Lanes => ["abstract", "error", "progress"][lane],
                Focus::World => "world",
                Focus::Observations => "observations",
                _ => "story",
            });
        }
        seen.join(" ")
    };
    assert_eq!(walk("Tab", (80, 24)), "abstract error progress world story progress");
    assert_eq!(walk("BackTab", (80, 24)), "world abstract progress error story world");
    // If all lanes are visible, they are visited from top to bottom.
    assert_eq!(walk("Tab", (120, 36)), "abstract error progress world story abstract");
    assert_eq!(walk("Tab", (200, 60)), "observations abstract error progress world story");
    // Hidden panes are not visited.
    assert_eq!(walk("Tab", (60, 16)), "abstract error progress story progress abstract");
}

/// After a lesson was taught, its lane was shown in the past as well, empty, while the others had lessons.
#[test]
fn a_lane_that_is_empty_in_the_past_gives_way_to_another_one() {
    for (width, height) in [(80, 24), (60, 16)] {
        let mut stage = TestScreen::new(sample_session(), width, height);
        stage.model.selected_lane = Some(2);
        assert!(screen_text(&stage.draw()).contains("[Progress 3"), "{width}");
        stage.press("g");
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("[Abstract 2") && shown.contains("Hold one object"), "{shown}");
        // With the focus, a person may look at an empty one.
        stage.model.focus = Focus::Lanes;
        assert!(screen_text(&stage.draw()).contains("[Progress 0"), "{width}");
    }
}

/// Some texts called a step "turn".
#[test]
fn the_screen_uses_one_word_for_a_step() {
    let says_turn =
        |text: &str| text.split(|c: char| !c.is_alphabetic()).any(|w| w == "turn" || w == "turns");
    for action in Action::ALL {
        let about = action.about();
        assert!(!says_turn(about), "{}: {about}", action.name());
    }
    let keymap = crate::ui::keymap::Keymap::default();
    for mode in crate::ui::keymap::Mode::ALL {
        for row in keymap.bindings_in(*mode) {
            assert!(!says_turn(&row.description), "{}: {}", row.action.name(), row.description);
        }
    }
}

/// After the end of the episode, its last proposal kept the mark of a pending one.
#[test]
fn a_proposal_left_at_the_end_of_an_episode_is_not_pending() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    let waits = "▸ go to stoveburner 1";
    assert!(screen_text(&stage.draw()).contains(waits), "pending while the episode is in progress");
    stage.fixture.end_episode(false, EndReason::Person);
    let shown = screen_text(&stage.draw());
    assert!(!shown.contains(waits), "{shown}");
    assert!(shown.contains("○ go to stoveburner 1") && shown.contains("not run"), "{shown}");
}

/// In an ended read-only session, the end card had no key and offered actions that don't work there.
#[test]
fn a_read_only_session_has_a_key_for_its_result_card() {
    let mut fixture = sample_session();
    fixture.end_episode(false, EndReason::StepLimit);
    fixture.write(crate::engine::Cause::Policy, Event::RunEnded);
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
    stage.model.end_card_shown_for = Some(1);
    assert!(screen_text(&stage.draw()).contains("C end card"));
    stage.press("C");
    let card = screen_text(&stage.draw());
    assert!(card.contains("Lost: step limit reached (50 steps)."), "{card}");
    assert!(!card.contains("play this task again") && !card.contains("add a lesson"), "{card}");
    assert!(card.contains("export a report") && card.contains("go to the last step with progress"), "{card}");
    let requests = stage.press("Enter");
    assert!(!requests.iter().any(|w| matches!(w, Request::Send(_))), "{requests:?}");
    assert_eq!(stage.frame_data().selected_step(), 22);
    assert!(screen_text(&stage.draw()).contains("C end card"), "also from the past");
}

/// The end card's lines and choices.
#[test]
fn the_end_card_says_why_when_and_what_is_missing() {
    let mut fixture = sample_session();
    fixture.execute(
        "open fridge 1",
        crate::domain::DecidedBy::Actor,
        "Nothing happens.",
        0.5,
        serde_json::Value::Null,
    );
    fixture.actor_step("open fridge 1", "Nothing happens.", 0.5, serde_json::Value::Null);
    fixture.end_episode(false, EndReason::StepLimit);
    let mut stage = TestScreen::new(fixture, 120, 36);
    stage.send(UiMessage::StoreChanged);
    let card = screen_text(&stage.draw());
    for words in [
        "Lost: step limit reached (50 steps).",
        "2/4, last at step 22 (take apple 1 from countertop 2)",
        "4 times: steps 4, 13, 24, 25",
        "repeated         open fridge 1, again at steps 24, 25 (nothing new)",
        "play this task again",
        "go to the last step with progress",
        "add a lesson",
        "export a report",
    ] {
        assert!(card.contains(words), "{words}:\n{card}");
    }
    assert!(!card.contains("in vain"), "{card}");
    let begins = |w: &Request| matches!(w, Request::Send(Command::BeginEpisode(_)));
    assert!(stage.press("r").iter().any(begins));
}

/// The end card of a won episode listed the winning step as a useless repeat: the observation was the same as when the
/// object was put there for the first time, before it was heated.
#[test]
fn a_repeat_that_made_progress_is_not_useless() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    for (action, progress) in [("go to fridge 1", 0.25), ("put apple 1", 0.25), ("heat apple 1", 0.75)] {
        fixture.actor_step(action, &format!("You {action}."), progress, serde_json::Value::Null);
    }
    for (action, progress) in [("go to fridge 1", 0.75), ("put apple 1", 1.0)] {
        fixture.actor_step(action, &format!("You {action}."), progress, serde_json::Value::Null);
    }
    fixture.end_episode(true, EndReason::Won);
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.send(UiMessage::StoreChanged);
    let card = screen_text(&stage.draw());
    assert!(
        card.contains("Won: the goal was reached in 5 steps.") && !card.contains("nothing new from"),
        "{card}"
    );
}

fn mouse_msg(kind: MouseEventKind, column: u16, row: u16) -> UiMessage {
    UiMessage::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
}

const DOWN: MouseEventKind = MouseEventKind::Down(MouseButton::Left);
const DRAG: MouseEventKind = MouseEventKind::Drag(MouseButton::Left);
const UP: MouseEventKind = MouseEventKind::Up(MouseButton::Left);

/// A click on the timeline only focused it.
#[test]
fn a_click_on_the_timeline_goes_to_its_step_and_a_drag_follows() {
    for (w, h) in super::SIZES {
        let mut stage = TestScreen::new(sample_session(), w, h);
        let shown = screen_text(&stage.draw());
        let row = shown.lines().position(|l| l.contains("▁▁▁")).unwrap() as u16;
        let column = |stage: &TestScreen, step| stage.cache.ruler.unwrap().column_of(step);
        stage.send(mouse_msg(DOWN, column(&stage, 9), row));
        assert_eq!((stage.frame_data().selected_step(), stage.model.focus), (9, Focus::Timeline), "{w}x{h}");
        stage.draw();
        // The drag continues when the pointer leaves the bar.
        stage.send(mouse_msg(DRAG, column(&stage, 14), row - 3));
        assert_eq!(stage.frame_data().selected_step(), 14, "{w}x{h}");
        stage.draw();
        stage.send(mouse_msg(DRAG, 0, row));
        assert_eq!(stage.frame_data().selected_step(), 1, "{w}x{h}");
        stage.send(mouse_msg(DRAG, w - 1, row));
        assert!(!stage.model.is_in_past(), "the far end is the present");
        stage.send(mouse_msg(UP, w - 1, row));
        stage.send(mouse_msg(DRAG, 9, row));
        assert!(!stage.model.is_in_past(), "a drag that began elsewhere does nothing");
    }
}

/// In an episode longer than the bar, the columns moved with the selected step, so that a drag ran away.
#[test]
fn a_drag_along_a_long_episode_does_not_run_away() {
    let mut stage = TestScreen::new(crate::ui::fixture::long_session(3000), 80, 24);
    stage.press("Left");
    let shown = screen_text(&stage.draw());
    let row = shown.lines().position(|l| l.contains("▁▁▁")).unwrap() as u16;
    stage.send(mouse_msg(DOWN, 10, row));
    let chosen = stage.frame_data().selected_step();
    for _ in 0..5 {
        stage.draw();
        stage.send(mouse_msg(DRAG, 12, row));
        assert_eq!(stage.frame_data().selected_step(), chosen + 2);
    }
}

/// The mouse did nothing in overlays.
#[test]
fn a_click_chooses_a_row_and_the_wheel_scrolls_in_overlays() {
    let at = |stage: &mut TestScreen, text: &str| {
        let shown = screen_text(&stage.draw());
        let row = shown.lines().position(|l| l.contains(text));
        row.unwrap_or_else(|| panic!("no {text}: {shown}")) as u16
    };
    let wheel = |stage: &mut TestScreen, down: bool| {
        let kind = if down { MouseEventKind::ScrollDown } else { MouseEventKind::ScrollUp };
        assert_eq!(stage.send(mouse_msg(kind, 40, 12)), []);
    };
    // The palette: a click selects the action, Enter runs it.
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press(":");
    let row = at(&mut stage, "pause, or run");
    assert_eq!(stage.send(mouse_msg(DOWN, 30, row)), []);
    assert_eq!(stage.press("Enter"), [Request::Send(Command::Run)]);
    // The list of actions under the override.
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("o");
    stage.send(UiMessage::Answer(super::overlays::admissible_answer()));
    let row = at(&mut stage, "go to cabinet 1");
    stage.send(mouse_msg(DOWN, 30, row));
    wheel(&mut stage, true);
    let requests = stage.press("Enter");
    let is_clicked = |w: &Request| matches!(w, Request::Send(Command::Override { action, .. }) if action == "go to countertop 1");
    assert!(requests.iter().any(is_clicked), "{requests:?}");
    // The end card.
    let mut stage = TestScreen::new(super::overlays::lost_episode(), 80, 24);
    stage.send(UiMessage::StoreChanged);
    let row = at(&mut stage, "export a report");
    stage.send(mouse_msg(DOWN, 30, row));
    assert!(matches!(stage.press("Enter")[..], [Request::Export(_)]));
    // A search: a click goes to the step.
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("/");
    super::overlays::type_text(&mut stage, "nothing happens");
    let row = at(&mut stage, "   13  ");
    stage.send(mouse_msg(DOWN, 30, row));
    assert_eq!(stage.frame_data().selected_step(), 13);
    // Read-only overlays scroll.
    for keys in [&["?"][..], &["p"], &["3", "Enter"], &["Left", "Left", "i"]] {
        let mut stage = TestScreen::new(sample_session(), 60, 6);
        for key in keys {
            stage.press(key);
        }
        let before = screen_text(&stage.draw());
        wheel(&mut stage, true);
        let after = screen_text(&stage.draw());
        // The fixture's prompt is a single line.
        assert!(before != after || keys == ["p"], "{keys:?}: {after}");
        wheel(&mut stage, false);
        assert_eq!(screen_text(&stage.draw()), before, "{keys:?}");
    }
}

/// The flag and the variable for reduced motion had no effect.
#[test]
fn without_animation_no_spinner_moves_and_replies_arrive_line_by_line() {
    let mut fixture = sample_session();
    fixture.execute("look", crate::domain::DecidedBy::Actor, "You see.", 0.5, serde_json::Value::Null);
    fixture.write(crate::engine::Cause::Person, Event::Resumed);
    let call = fixture.send_prompt();
    let frames = |still: bool| {
        let mut stage = TestScreen::new(sample_session(), 80, 24);
        stage.fixture.store = fixture.store.clone();
        stage.model.reduced_motion = still;
        let began = stage.now;
        let mut seen = Vec::new();
        for (millis, text) in
            [(0, "think: the apple"), (200, "think: the apple is on"), (400, "think: the apple is on the")]
        {
            stage.now = began + std::time::Duration::from_millis(millis);
            let live = LiveCall {
                call,
                role: crate::domain::ModelRole::Actor,
                phase: crate::domain::CallPhase::Answering,
                reasoning: "".into(),
                text: text.into(),
                delta_count: 3,
                started: began,
                last_progress: began,
                only_keep_alives: false,
                usage: None,
                notice: None,
            };
            stage.fixture.store.edit_live(|l| l.calls = vec![live]);
            seen.push(screen_text(&stage.draw()));
        }
        seen.dedup();
        seen
    };
    let moving = frames(false);
    assert_eq!(moving.len(), 3);
    assert!(moving[0].contains("◐ answering") && moving[1].contains("◓ answering"), "{}", moving[1]);
    let still = frames(true);
    assert_eq!(still.len(), 1, "nothing moved: {}", still.join("\n"));
    assert!(still[0].contains("… answering") && !still[0].contains("think: the apple"), "{}", still[0]);
}

/// After the driver had panicked, the screen looked as if it waited for the person.
#[test]
fn a_failed_driver_is_reported() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.fixture.store.edit_live(|live| live.health = Health::Ended);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("BROKEN") && shown.contains("retrospect resume"), "{shown}");
}

/// A message of two rows covered the last choices of the end card.
#[test]
fn a_message_of_several_rows_covers_no_row_of_a_card() {
    for (width, height, stage_mode) in [(80, 24, false), (80, 24, true), (60, 16, false), (60, 16, true)] {
        let mut stage = TestScreen::new(super::overlays::lost_episode(), width, height);
        stage.model.stage_mode = stage_mode;
        stage.send(UiMessage::StoreChanged);
        let card = |shown: &str| {
            let rows = ["add a lesson", "export a report", "play this task again", "close"];
            rows.map(|row| shown.matches(row).count())
        };
        let before = screen_text(&stage.draw());
        let text = format!("{} lastword", "a long message ".repeat(usize::from(width) / 14));
        stage.model.show_notice(text, Severity::Info, stage.now);
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("lastword"), "{width}x{height}, {stage_mode}: {shown}");
        assert_eq!(card(&shown), card(&before), "{width}x{height}, {stage_mode}: {shown}");
    }
}

/// Regression: it was "s17 ×7".
#[test]
fn the_source_of_a_lesson_is_in_words_at_every_size() {
    // Where there is room beside the text.
    for (width, height, words) in
        [(60, 16, ""), (80, 24, "mentor · step 17 · in 7 prompts"), (120, 36, "  used 24×")]
    {
        let mut screen = TestScreen::new(sample_session(), width, height);
        // A narrow screen has room for one lane.
        screen.model.selected_lane = Some(0);
        let shown = screen_text(&screen.draw());
        assert!(shown.contains(words), "{width}: {shown}");
        assert!(!shown.contains(" s17"), "{width}: {shown}");
    }
}

/// Two or three columns of the panes were left beside a wide overlay.
#[test]
fn a_wide_overlay_leaves_no_scraps_of_the_panes() {
    for (width, is_full) in [(116, true), (120, true), (126, true), (160, false)] {
        let mut stage = TestScreen::new(sample_session(), width, 36);
        stage.press("p");
        let shown = screen_text(&stage.draw());
        let body = shown.lines().nth(4).unwrap();
        assert_eq!(body.starts_with('│') && !body.ends_with(' '), is_full, "{width}: {shown}");
    }
}

/// The keys of the prompt view offered to edit a prompt that has been sent, and in a read-only session the notice advised a key
/// that does nothing there.
#[test]
fn only_a_prompt_that_can_be_edited_offers_it() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    stage.press("p");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("search") && !shown.contains("e edit"), "{shown}");
    stage.press("e");
    assert!(stage.model.notice.as_ref().unwrap().text.contains("s steps by stages"));
    stage.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
    stage.press("e");
    assert!(!stage.model.notice.as_ref().unwrap().text.contains("steps by stages"));
}

/// "on: in prompts" stood above "in prompts none yet".
#[test]
fn a_lesson_that_was_just_taught_is_not_said_to_be_in_prompts() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    fixture.add_lesson(ReflectionKind::Abstract, LessonText::plain("Look first."), LessonOrigin::Person);
    let mut stage = TestScreen::new(fixture, 120, 36);
    stage.press("3");
    stage.press("i");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("in prompts  none yet") && shown.contains("on: goes into prompts"), "{shown}");
}

/// The selection coloured only the words of a row, which a light theme hardly showed.
#[test]
fn a_selected_row_is_marked_up_to_its_right_edge() {
    for name in ["default", "dark", "light", "mono"] {
        let mut stage = TestScreen::new(sample_session(), 120, 36);
        stage.theme = Theme::parse(name, Theme::shipped_source(name).unwrap(), &|_| None).0;
        let selection = stage.theme.style(Role::Selection);
        stage.press(":");
        stage.press("Down");
        let buffer = stage.draw();
        let is_selected = |x: u16, y: u16| match selection.bg {
            Some(colour) => buffer[(x, y)].bg == colour,
            None => buffer[(x, y)].modifier.contains(Modifier::REVERSED),
        };
        // Above the palette, the World pane has names in reverse, too.
        let rows: Vec<Vec<u16>> =
            (6..35).map(|y| (0..120).filter(|x| is_selected(*x, y)).collect()).collect();
        let widest = rows.iter().max_by_key(|row| row.len()).unwrap();
        assert_eq!(widest.len(), 88, "{name}: {rows:?}");
        assert_eq!(rows.iter().filter(|row| row.len() > 1).count(), 1, "{name}: {rows:?}");
    }
}

/// Without colours, the label of the text that is typed was underlined, as a link is.
#[test]
fn the_lesson_box_marks_its_text_without_underlining_it() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    stage.theme = Theme::parse("mono", Theme::shipped_source("mono").unwrap(), &|_| None).0;
    stage.press("a");
    let buffer = stage.draw();
    let text = screen_text(&buffer);
    let row = text.lines().position(|line| line.contains("▸Lesson") || line.contains("▸Mistake"));
    let y = row.unwrap_or_else(|| panic!("{text}")) as u16;
    for x in 20..100 {
        assert!(!buffer[(x, y)].modifier.contains(Modifier::UNDERLINED), "{text}");
    }
}

/// Beside a proposal, `r ask with the lesson` was cut in the middle at 60 columns. It comes first after a lesson was taught; what
/// doesn't fit then is left out.
#[test]
fn a_hint_that_does_not_fit_beside_a_proposal_is_left_out() {
    let rows = [
        (60, 16, "Enter run it   r ask with the lesson   o override"),
        (80, 24, "Enter run it   r ask with the lesson   o override   x reject"),
    ];
    for (w, h, hints) in rows {
        let mut stage = TestScreen::new(sample_session(), w, h);
        let before = screen_text(&stage.draw());
        assert!(before.contains("Enter run it   o override   x reject   r ask again"), "{before}");
        let text = LessonText::plain("Heat food in a microwave.");
        stage.fixture.add_lesson(ReflectionKind::Abstract, text, LessonOrigin::Person);
        let shown = screen_text(&stage.draw());
        let row =
            shown.lines().find(|line| line.contains("Enter run it")).unwrap_or_else(|| panic!("{shown}"));
        assert!(row.trim_end().ends_with(hints), "{shown}");
    }
}

/// After an edit was undone, the lesson had still the mark of a person, and the agent was to be asked again with it.
#[test]
fn an_edit_that_was_undone_leaves_no_mark() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    let shown = |stage: &mut TestScreen| screen_text(&stage.draw());
    let before = shown(&mut stage);
    assert!(before.contains("r ask again"), "{before}");
    let lesson = stage.fixture.state().pool.all().find(|l| l.is_active() && l.kind == ReflectionKind::Error);
    let lesson = lesson.unwrap().clone();
    let edit = |previous: &LessonText, text: &LessonText| LessonOp::Edit {
        id: lesson.id.clone(),
        previous: previous.clone(),
        text: text.clone(),
    };
    let (old, new) = (lesson.text().clone(), LessonText::plain("Look twice."));
    stage.fixture.write(
        Cause::Person,
        Event::LessonChanged { op: Box::new(edit(&old, &new)), author: Author::Person },
    );
    let edited = shown(&mut stage);
    assert!(edited.contains("Look twice.") && edited.contains("r ask with the lesson"), "{edited}");
    let target_seq = stage.fixture.state().head;
    stage.fixture.write(Cause::Person, Event::LessonUndone { target_seq, op: Box::new(edit(&new, &old)) });
    let undone = shown(&mut stage);
    let lane = |text: &str| {
        let number = format!(" {}  ", lesson.number);
        text.lines().filter(|row| row.contains(&number)).map(|row| row.matches('✎').count()).sum::<usize>()
    };
    assert!(undone.contains("r ask again"), "{undone}");
    assert_eq!(lane(&undone), lane(&before), "{undone}");
}

/// The keys for which the edge of a box has no room stood in the last row of the screen, below other panes.
#[test]
fn the_keys_of_a_box_stand_in_its_frame() {
    for (width, height) in [(60, 16), (80, 24)] {
        let mut stage = TestScreen::new(sample_session(), width, height);
        stage.press("a");
        let shown = screen_text(&stage.draw());
        let rows: Vec<&str> = shown.lines().collect();
        assert!(
            rows.iter().any(|row| row.contains("New lesson") && row.contains("Tab next field")),
            "{shown}"
        );
        assert_eq!(rows.get(usize::from(height) - 1).map_or("", |row| row.trim()), "", "{shown}");
    }
}

/// Space was said to run or pause while a call was under way, after which it does so.
#[test]
fn the_hint_of_space_says_what_it_does_while_a_call_is_under_way() {
    let hint = |edit: &dyn Fn(&mut Fixture)| {
        let mut fixture = Fixture::new();
        let mut spec = (**fixture.state.run.as_ref().unwrap()).clone();
        "openai:small".clone_into(&mut spec.actor);
        fixture.write(crate::engine::Cause::Person, Event::RunChanged { spec: Box::new(spec) });
        fixture.begin_episode();
        edit(&mut fixture);
        let shown = screen_text(&TestScreen::new(fixture, 80, 24).draw());
        let last = shown.lines().last().unwrap().to_owned();
        last.split("  ").find_map(|hint| hint.trim().strip_prefix("Space ")).map(str::to_owned)
    };
    let asks = |fixture: &mut Fixture| {
        fixture.write(crate::engine::Cause::Person, Event::Resumed);
        fixture.send_prompt();
    };
    assert_eq!(hint(&asks).as_deref(), Some("pause after the call"));
    let pauses = |fixture: &mut Fixture| {
        asks(fixture);
        fixture.write(crate::engine::Cause::Person, Event::PauseRequested);
    };
    assert_eq!(hint(&pauses).as_deref(), Some("keep running"));
    assert_eq!(hint(&|fixture| _ = fixture.send_prompt()).as_deref(), Some("keep running"));
    assert_eq!(hint(&|_| {}).as_deref(), Some("run"));
}

/// On a small screen, a message of two rows covered the timeline, and one of more the lessons.
#[test]
fn a_message_of_several_rows_covers_no_pane() {
    for (width, height) in [(60, 16), (80, 24), (120, 36)] {
        let mut stage = TestScreen::new(sample_session(), width, height);
        stage.draw();
        let rows = |stage: &TestScreen| {
            let areas = stage.cache.layout.areas.iter();
            areas.filter(|area| area.pane != Pane::Story).map(|area| area.body.height).collect::<Vec<_>>()
        };
        let before = rows(&stage);
        let text = "a long message of which every word counts, ".repeat(if width == 60 { 3 } else { 4 });
        stage.model.show_notice(text.trim_end(), Severity::Info, stage.now);
        let shown = screen_text(&stage.draw());
        let message = shown.lines().filter(|line| line.contains("every word counts")).count();
        assert!(message > 1 && shown.trim_end().ends_with("counts,"), "{shown}");
        let bottom = stage.cache.layout.areas.iter().map(|area| area.body.bottom()).max();
        assert!(bottom.is_some_and(|bottom| bottom <= height - message as u16), "{message}: {shown}");
        if width == 60 {
            assert_eq!(rows(&stage), before, "{shown}");
        }
    }
}

/// The rows were divided by the number of lessons: a lane of long ones was cut beside empty rows of another one.
#[test]
fn stacked_lanes_share_the_rows_by_what_wraps_in_their_width() {
    let long = "look at every surface of the room before anything is opened, then ".repeat(3);
    for (width, height) in [(120, 36), (160, 36), (104, 36)] {
        let mut fixture = Fixture::new();
        fixture.begin_episode();
        let mut add = |kind, text: &str| {
            fixture.add_lesson(kind, LessonText::plain(text), LessonOrigin::Symbolic);
        };
        for n in 1..=6 {
            add(ReflectionKind::Abstract, &format!("Short lesson {n}."));
        }
        add(ReflectionKind::Progress, &format!("First {long}say end."));
        let mut stage = TestScreen::new(fixture, width, height);
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("say end."), "{shown}");
        assert!((1..=6).all(|n| shown.contains(&format!("Short lesson {n}."))), "{shown}");
    }
}

/// A session whose last step was a mistake, with the next proposal waiting.
fn mistaken_session() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    fixture.actor_step("go to fridge 1", "The fridge 1 is closed.", 0.0, Value::Null);
    fixture.actor_step("take apple 1 from fridge 1", "Nothing happens.", 0.0, Value::Null);
    let lesson = LessonText::error("Tried to take from a closed fridge.", "Open it first.");
    fixture.add_reflection(ReflectionKind::Error, lesson);
    fixture.propose(None, Some("go to drawer 1"));
    fixture.pause();
    fixture
}

/// The lesson box covered the mistake that it was about, and the proposal.
#[test]
fn the_lesson_box_covers_neither_mistake_nor_proposal() {
    for (width, height) in super::SIZES {
        for on_stage in [false, true] {
            let mut stage = TestScreen::new(mistaken_session(), width, height);
            stage.model.stage_mode = on_stage;
            stage.press("a");
            let shown = screen_text(&stage.draw());
            for words in ["New lesson", "! nothing happened", "▸ go to drawer 1"] {
                assert!(shown.contains(words), "{words}: {shown}");
            }
        }
    }
}

/// A step that began above the dialog was left out as a whole, and half of the stage was empty.
#[test]
fn on_stage_a_long_step_above_a_dialog_keeps_its_end() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    fixture.actor_step("take apple 1 from fridge 1", "Nothing happens.", 0.0, Value::Null);
    for number in 1..=3 {
        let text = LessonText::plain(format!("Number {number}: {}", "the fridge is closed, ".repeat(8)));
        fixture.add_reflection(ReflectionKind::Abstract, text);
    }
    fixture.propose(None, Some("open drawer 1"));
    fixture.pause();
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.model.stage_mode = true;
    stage.press("a");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("Number 3") && shown.contains("▸ open drawer 1"), "{shown}");
    assert!(!shown.contains("> take apple 1"), "it begins above the story: {shown}");
}

/// On stage, parts of the story stood beside dialogs, and help cut the goal.
#[test]
fn on_stage_a_dialog_is_as_wide_as_the_story_and_leaves_the_goal() {
    for (width, height) in super::SIZES {
        let mut stage = TestScreen::new(mistaken_session(), width, height);
        stage.model.stage_mode = true;
        let goal = |shown: &str| shown.lines().find(|line| line.contains("put a hot")).map(str::to_owned);
        let before = goal(&screen_text(&stage.draw()));
        assert!(before.is_some());
        for key in ["?", "a", "o", "N"] {
            stage.press(key);
            let shown = screen_text(&stage.draw());
            assert_eq!(goal(&shown), before, "{key}: {shown}");
            let rows: Vec<&str> = shown.lines().filter(|line| line.contains(['┌', '└'])).collect();
            assert_eq!(rows.len(), 2, "{key}: {shown}");
            let margin = crate::ui::stage::content_area(Rect::new(0, 0, width, height)).x;
            for row in rows {
                assert_eq!(row.find(['┌', '└']), Some(usize::from(margin)), "{key}: {shown}");
                assert_eq!(crate::text::width(row), usize::from(width - margin), "{key}: {shown}");
            }
            stage.press("Esc");
        }
    }
}

/// Above a dialog of another width, the borders of the one below stood beside it.
#[test]
fn only_the_topmost_dialog_is_drawn() {
    let mut stage = TestScreen::new(sample_session(), 200, 60);
    stage.press("i");
    let shown = screen_text(&stage.draw());
    let corner = shown.lines().zip(0..).find_map(|(line, y)| {
        let (before, _) = line.split_once("┌─ Step 24")?;
        Some((crate::text::width(before) as u16, y))
    });
    let (x, y) = corner.unwrap_or_else(|| panic!("{shown}"));
    stage.press("?");
    let buffer = stage.draw();
    let shown = screen_text(&buffer);
    assert!(shown.contains("─ Help ─"), "{shown}");
    for (y, edge) in [(y, "┌"), (y + 1, "│")] {
        assert_ne!(buffer[(x, y)].symbol(), edge, "{shown}");
    }
}

/// In one row, the mark of a reflection hid the mistake that it was about, and the title named the reflection.
#[test]
fn a_timeline_of_one_row_shows_mistakes() {
    for (width, height) in [(80, 24), (60, 16)] {
        let mut stage = TestScreen::new(mistaken_session(), width, height);
        let shown = screen_text(&stage.draw());
        let timeline = shown.lines().find(|line| line.contains('┃')).unwrap();
        assert!(timeline.contains('!') && !timeline.contains('•'), "{shown}");
        assert_eq!(shown.contains("! step 2 nothing happened ─"), height == 24, "{shown}");
    }
}

/// Without colours, styles of the legend's marks went over the whole column: a stroke of 16 columns stood for `off`.
#[test]
fn only_the_marks_of_the_legend_have_a_style() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.theme = Theme::parse("mono", Theme::shipped_source("mono").unwrap(), &|_| None).0;
    stage.press("?");
    stage.press("End");
    let buffer = stage.draw();
    let shown = screen_text(&buffer);
    for words in ["off: not in prompts", "on the left: the selected step"] {
        let y = shown.lines().position(|line| line.contains(words)).unwrap_or_else(|| panic!("{shown}"));
        let lines = Modifier::UNDERLINED | Modifier::CROSSED_OUT;
        let lined = (0..80).filter(|x| buffer[(*x, y as u16)].modifier.intersects(lines));
        let blank: Vec<u16> = lined.filter(|x| buffer[(*x, y as u16)].symbol() == " ").collect();
        assert_eq!(blank, [0; 0], "{words}");
    }
}

/// Beside a long action there is no room for its mistake, which then stood before the observation.
#[test]
fn a_mistake_comes_after_its_observation() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    let action = "take apple 1 from fridge 1, then heat apple 1 with microwave 1";
    fixture.actor_step(action, "Nothing happens.", 0.0, Value::Null);
    fixture.actor_step("open fridge 1", "Nothing happens.", 0.0, Value::Null);
    fixture.propose(None, Some("go to drawer 1"));
    fixture.pause();
    let shown = screen_text(&TestScreen::new(fixture, 200, 60).draw());
    let row = |words: &str| {
        shown.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {shown}"))
    };
    // The middle column.
    let with_mistake: Vec<&str> = shown.lines().filter(|line| line.contains("! nothing happened")).collect();
    assert!(with_mistake[0].contains("      Nothing happens.  "), "{shown}");
    assert!(row("> open fridge 1").contains("! nothing happened"), "where there is room: {shown}");
    assert_eq!(with_mistake.len(), 2, "{shown}");
}
