//! Playing a read-only session, its chapters, and the speed of a live run. Time passes only where a test says so.

use super::{TestScreen, screen_text};
use crate::domain::EndReason;
use crate::driver::Health;
use crate::engine::Event;
use crate::report::StepRef;
use crate::ui::chapters::Chapter;
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::layout::Pane;
use crate::ui::msg::{Request, UiMessage};
use crate::ui::playback::Speed;
use crate::ui::theme::Theme;
use crate::ui::types::{Cursor, WorkKind};
use ratatui::style::Modifier;
use std::time::Duration;

const STEP: Duration = Duration::from_millis(1200);

/// A session that has ended and is opened read-only.
fn ended_session() -> Fixture {
    let mut fixture = sample_session();
    fixture.end_episode(true, EndReason::Won);
    fixture.write(crate::engine::Cause::Policy, Event::RunEnded);
    fixture
}

fn read_only(width: u16, height: u16) -> TestScreen {
    let screen = TestScreen::new(ended_session(), width, height);
    screen.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
    screen
}

fn demo(width: u16, height: u16) -> TestScreen {
    let mut screen = read_only(width, height);
    let chapter = |step, text: &str| Chapter {
        at: StepRef { episode: 1, step },
        text: text.to_owned(),
        pace: 1,
        measurement: None,
        position: None,
    };
    screen.model.chapters = [
        chapter(0, "An apple is to be heated and put in the fridge."),
        chapter(4, "The fridge is closed, so nothing happens; the mistake becomes a lesson."),
        chapter(7, "A person sends it to the table."),
    ]
    .into();
    screen
}

/// Lets time pass, and the timer fire then.
fn pass(screen: &mut TestScreen, time: Duration) {
    screen.now += time;
    screen.send(UiMessage::Tick);
}

fn shown_step(screen: &TestScreen) -> u32 {
    screen.frame_data().selected_step()
}

#[test]
fn space_plays_a_read_only_session_to_its_end() {
    let mut screen = read_only(120, 36);
    screen.press("Home");
    assert_eq!(screen.press("Space"), []);
    assert!(screen_text(&screen.draw()).contains("▶ playing 1x"));
    pass(&mut screen, STEP / 2);
    assert_eq!(shown_step(&screen), 0, "it isn't due yet");
    pass(&mut screen, STEP / 2);
    assert_eq!(shown_step(&screen), 1);
    let mut steps = 1;
    while screen.model.playback.is_playing() {
        pass(&mut screen, STEP);
        steps += 1;
    }
    assert_eq!((steps, screen.model.cursor), (24, Cursor::Live), "it stops at the end, at once");
    assert!(!screen_text(&screen.draw()).contains("playing"));
    // At the end, it plays again from the start.
    screen.press("Space");
    assert_eq!((shown_step(&screen), screen.model.playback.is_playing()), (0, true));
    screen.press("Space");
    assert!(!screen.model.playback.is_playing());
    pass(&mut screen, STEP * 9);
    assert_eq!(shown_step(&screen), 0);
}

#[test]
fn n_advances_one_step_and_says_where_the_end_is() {
    let mut screen = read_only(120, 36);
    screen.press("Home");
    screen.press("Space");
    screen.press("n");
    assert_eq!((shown_step(&screen), screen.model.playback.is_playing()), (1, false));
    screen.press("End");
    screen.press("n");
    assert!(screen_text(&screen.draw()).contains("this is the last step"));
}

#[test]
fn what_a_person_does_next_stops_the_playback_unless_it_only_changes_the_view() {
    for key in ["Left", "Right", "<", "]", "p", "Esc", "q", "/"] {
        let mut screen = read_only(120, 36);
        screen.press("Home");
        screen.press("n");
        screen.press("Space");
        screen.press(key);
        pass(&mut screen, Duration::ZERO);
        assert!(!screen.model.playback.is_playing(), "{key}");
        if key == "Esc" || key == "q" {
            assert_eq!(shown_step(&screen), 1, "{key} stops and does nothing else");
        }
    }
    for key in ["Tab", "z", "v", "t", "V", "Up", "+", "-"] {
        let mut screen = read_only(120, 36);
        screen.press("Home");
        screen.press("Space");
        screen.press(key);
        pass(&mut screen, Duration::ZERO);
        assert!(screen.model.playback.is_playing(), "{key}");
    }
}

#[test]
fn plus_and_minus_change_the_speed_of_the_playback() {
    let mut screen = read_only(120, 36);
    screen.press("Home");
    screen.press("Space");
    screen.press("+");
    assert!(screen_text(&screen.draw()).contains("▶ playing 2x"));
    pass(&mut screen, STEP / 2);
    assert_eq!(shown_step(&screen), 1);
    for _ in 0..9 {
        screen.press("+");
    }
    assert_eq!(screen.model.playback.speed, Speed::FASTEST);
    for _ in 0..9 {
        screen.press("-");
    }
    assert!(screen_text(&screen.draw()).contains("▶ playing 0.25x"));
    pass(&mut screen, STEP * 4);
    assert_eq!(shown_step(&screen), 2);
}

/// A step that is being loaded is neither skipped nor requested again.
#[test]
fn playback_waits_for_a_step_that_is_being_loaded() {
    let mut screen = read_only(120, 36);
    screen.press("Home");
    screen.press("Space");
    screen.show_work(WorkKind::Past, None);
    pass(&mut screen, STEP);
    assert_eq!(shown_step(&screen), 0);
    screen.running_work.clear();
    pass(&mut screen, Duration::ZERO);
    assert_eq!(shown_step(&screen), 1);
}

#[test]
fn a_demo_stops_at_chapters_and_shows_their_captions() {
    let mut screen = demo(120, 36);
    screen.press("g");
    let text = screen_text(&screen.draw());
    assert!(text.contains(" 1/3") && text.contains("An apple is to be heated"), "{text}");
    screen.press("]");
    assert_eq!(shown_step(&screen), 4);
    screen.press("n");
    let text = screen_text(&screen.draw());
    assert!(text.contains(" 2/3") && text.contains("the mistake becomes a lesson"), "{text}");
    screen.press("]");
    assert_eq!(shown_step(&screen), 7);
    screen.press("]");
    assert!(screen_text(&screen.draw()).contains("this is the last chapter"));
    screen.press("[");
    assert_eq!(shown_step(&screen), 4);
    screen.press("[");
    screen.press("[");
    assert!(screen_text(&screen.draw()).contains("this is the first chapter"));
    screen.press("End");
    screen.press("Home");
    assert_eq!(shown_step(&screen), 0, "one key returns to the start");
}

/// Regression: a demo that had just been opened was called a look back.
#[test]
fn a_demo_that_begins_is_no_look_back() {
    let mut screen = demo(120, 36);
    let first_row = |screen: &mut TestScreen| screen_text(&screen.draw()).lines().next().unwrap().to_owned();
    screen.press("g");
    assert!(first_row(&mut screen).contains("DEMO · start"), "{}", first_row(&mut screen));
    screen.press("]");
    let first = first_row(&mut screen);
    assert!(first.contains("step 4/50   DEMO") && !first.contains("PAST"), "{first}");
}

/// Regression: a demo said "PAST step 5" in reverse video, the loudest part of the screen, also on stage.
#[test]
fn a_demo_is_calm_about_being_one() {
    for (width, height) in super::SIZES {
        for on_stage in [false, true] {
            let mut screen = demo(width, height);
            screen.theme = Theme::parse("mono", Theme::shipped_source("mono").unwrap(), &|_| None).0;
            screen.model.stage_mode = on_stage;
            screen.press("g");
            screen.press("]");
            let buffer = screen.draw();
            let shown = screen_text(&buffer);
            let y = shown.lines().position(|line| line.contains("DEMO")).unwrap_or_else(|| panic!("{shown}"));
            assert!(!shown.to_lowercase().contains("past"), "{shown}");
            let loud = Modifier::REVERSED | Modifier::BOLD;
            let row = (width - 15..width).map(|x| &buffer[(x, y as u16)]);
            let is_calm =
                row.filter(|cell| "DEMO".contains(cell.symbol())).all(|cell| !cell.modifier.intersects(loud));
            assert!(is_calm, "{shown}");
        }
    }
}

#[test]
fn a_chapter_stays_as_long_as_its_caption_takes_to_read() {
    let mut screen = demo(120, 36);
    screen.press("g");
    screen.press("Space");
    let reading = Speed::NORMAL.reading_time(&screen.model.chapters[0].text);
    assert!(reading > STEP);
    pass(&mut screen, STEP);
    assert_eq!(shown_step(&screen), 0);
    pass(&mut screen, reading.saturating_sub(STEP));
    assert_eq!(shown_step(&screen), 1);
    pass(&mut screen, STEP);
    assert_eq!(shown_step(&screen), 2);
}

#[test]
fn captions_take_the_same_rows_at_every_step() {
    for (width, height) in super::SIZES {
        let mut screen = demo(width, height);
        screen.press("g");
        let mut footers = Vec::new();
        for _ in 0..12 {
            screen.draw();
            // The lanes and the world share their column by what they hold.
            let shares = |pane| matches!(pane, Pane::Lane(_) | Pane::World);
            let areas = screen.cache.layout.areas.iter().filter(|area| !shares(area.pane));
            footers.push((screen.cache.layout.footer, areas.copied().collect::<Vec<_>>()));
            screen.press("n");
        }
        assert!(footers.windows(2).all(|pair| pair[0] == pair[1]), "{width}x{height}");
    }
}

#[test]
fn demo_screens() {
    for (width, height) in super::SIZES {
        let mut screen = demo(width, height);
        screen.press("g");
        screen.press("]");
        insta::assert_snapshot!(format!("demo_{width}x{height}"), screen_text(&screen.draw()));
    }
}

#[test]
fn a_demo_says_why_nothing_can_be_changed() {
    let mut screen = demo(120, 36);
    screen.press("a");
    assert!(screen_text(&screen.draw()).contains("a demo can't be changed"));
}

/// Regression: nothing led from a demo to a session of one's own.
#[test]
fn the_end_card_of_a_demo_plays_its_task_in_a_session_of_ones_own() {
    let mut screen = demo(120, 36);
    screen.press("G");
    screen.press("C");
    assert!(screen_text(&screen.draw()).contains("play this task in a session of your own"));
    assert_eq!(screen.press("r"), [Request::Rerun(1)]);
}

#[test]
fn the_speed_of_a_live_run_can_be_set_unless_a_model_acts() {
    let mut screen = TestScreen::new(sample_session(), 120, 36);
    assert_eq!(screen.press("+"), [Request::SetStepDelay(Duration::ZERO)], "it runs at full speed");
    assert_eq!(screen.press("-"), [Request::SetStepDelay(STEP / 8)]);
    assert!(screen_text(&screen.draw()).contains("speed 8x"));
    for _ in 0..3 {
        screen.press("-");
    }
    screen.fixture.write(crate::engine::Cause::Person, Event::Resumed);
    screen.press("Esc");
    assert!(screen_text(&screen.draw()).contains("▶ RUNNING 1x"), "{}", screen_text(&screen.draw()));

    let mut run = screen.fixture.state().run.as_deref().unwrap().clone();
    "openai:m".clone_into(&mut run.actor);
    screen.fixture.write(crate::engine::Cause::Person, Event::RunChanged { spec: Box::new(run) });
    assert_eq!(screen.press("+"), []);
    assert!(screen_text(&screen.draw()).contains("the model sets the pace"));
}

/// Regression: in a talk, the built-in actor's 31 steps passed in a second and a half.
#[test]
fn stage_mode_slows_a_live_run_to_reading_speed() {
    let mut screen = TestScreen::new(sample_session(), 120, 36);
    assert_eq!(screen.press("V"), [Request::SetStepDelay(STEP)]);
    // Another speed that the person chooses stays.
    screen.press("+");
    screen.press("V");
    assert_eq!(screen.press("V"), []);
}

/// Regression: the first row of the past said `live: step 24, running` after the run had ended.
#[test]
fn after_the_end_of_a_run_the_past_says_how_it_ended() {
    for is_read_only in [false, true] {
        let mut fixture = sample_session();
        fixture.write(crate::engine::Cause::Person, Event::Resumed);
        fixture.end_episode(true, EndReason::Won);
        fixture.write(crate::engine::Cause::Policy, Event::RunEnded);
        let mut screen = TestScreen::new(fixture, 120, 36);
        if is_read_only {
            screen.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
            assert!(screen_text(&screen.draw()).contains("READ-ONLY · won"));
        }
        screen.press("Left");
        let text = screen_text(&screen.draw());
        assert!(text.contains("PAST step 23 of 24 · won"), "{text}");
        assert!(!text.contains("running") && !text.contains("RUNNING"), "{text}");
    }
}

/// Regression: a lost trial that another one follows had no end in a demo, and the won one ended with "READ-ONLY · run ended".
#[test]
fn a_demo_says_how_each_of_its_trials_ended() {
    for stage_mode in [false, true] {
        let mut fixture = sample_session();
        fixture.end_episode(false, EndReason::StepLimit);
        fixture.begin_episode();
        fixture.actor_step("look", "You look around.", 1.0, serde_json::Value::Null);
        fixture.end_episode(true, EndReason::Won);
        fixture.write(crate::engine::Cause::Policy, Event::RunEnded);
        let mut screen = TestScreen::new(fixture, 120, 36);
        screen.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
        screen.model.chapters = [Chapter {
            at: StepRef { episode: 1, step: 0 },
            text: "It loses, then it wins.".to_owned(),
            measurement: None,
            position: None,
            pace: 1,
        }]
        .into();
        screen.model.stage_mode = stage_mode;
        let text = screen_text(&screen.draw());
        assert!(text.lines().find(|line| !line.trim().is_empty()).unwrap().ends_with("WON"), "{text}");
        for _ in 0..2 {
            screen.press("Left");
        }
        let text = screen_text(&screen.draw());
        assert!(text.contains("LOST") && text.contains("Lost: step limit reached"), "{text}");
        screen.press("Left");
        assert!(!screen_text(&screen.draw()).contains("Lost: "), "before its end");
    }
}

/// The demo's proof was only a caption: the panel of the measurement is shown where the chapter begins.
#[test]
fn a_chapter_shows_the_panel_of_its_measurement() {
    for stage in [false, true] {
        let mut screen = demo(120, 36);
        screen.model.stage_mode = stage;
        let lesson = screen.frame_data().head.pool.all().next().unwrap().id.clone();
        let mut chapters = screen.model.chapters.to_vec();
        chapters[1].measurement = Some(super::effect::stored(lesson));
        screen.model.chapters = chapters.into();
        screen.press("Home");
        assert!(!screen_text(&screen.draw()).contains("HERE"));
        screen.press("]");
        let shown = screen_text(&screen.draw());
        for text in ["Effect of lesson 1", "HERE", "ELSEWHERE", "▲", "2/3", "The fridge is closed"] {
            assert!(shown.contains(text), "{text}: {shown}");
        }
        assert!(!shown.contains("take this wording") && !shown.contains("Esc close"), "no keys: {shown}");
        // Esc shows the panes of that step; the next step has none.
        screen.press("Esc");
        assert!(!screen_text(&screen.draw()).contains("HERE"));
        screen.press("n");
        assert!(!screen_text(&screen.draw()).contains("HERE"));
    }
}

/// Regression: at the start of an episode, a demo's climax was shown as short as any step, and at high speed never.
#[test]
fn every_panel_stays_as_long_as_it_takes_to_read() {
    for speed in [Speed::NORMAL, Speed::FASTEST] {
        let mut fixture = sample_session();
        fixture.end_episode(false, EndReason::StepLimit);
        fixture.begin_episode();
        fixture.actor_step("look", "You see nothing.", 0.0, serde_json::json!({}));
        fixture.actor_step("look", "You see nothing.", 0.0, serde_json::json!({}));
        fixture.end_episode(true, EndReason::Won);
        let mut screen = TestScreen::new(fixture, 120, 36);
        screen.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
        let lesson = screen.frame_data().head.pool.all().next().unwrap().id.clone();
        let at = |episode, step| StepRef { episode, step };
        let panel = |at| Chapter {
            at,
            text: "Reword: one more sentence, measured again; now it is a lesson.".to_owned(),
            pace: 1,
            measurement: Some(super::effect::stored(lesson.clone())),
            position: None,
        };
        screen.model.chapters = [panel(at(1, 24)), panel(at(2, 0))].into();
        screen.model.playback.speed = speed;
        let reading = (speed.reading_time(&screen.model.chapters[0].text) * 2).max(Duration::from_secs(4));
        screen.send(UiMessage::StoreChanged);
        screen.compositor = crate::ui::compositor::Compositor::default();
        screen.model.is_covered = false;
        screen.with_context(|compositor, model, cache, context| {
            let to = Request::GoToStep { episode: Some(1), step: 23 };
            compositor.perform(model, context, cache, vec![to])
        });
        screen.press("Space");
        pass(&mut screen, speed.delay());
        for episode in [1, 2] {
            assert!(screen_text(&screen.draw()).contains("HERE"), "panel {episode} at {}", speed.label());
            pass(&mut screen, reading.saturating_sub(Duration::from_millis(1)));
            assert!(screen_text(&screen.draw()).contains("HERE"), "panel {episode} at {}", speed.label());
            pass(&mut screen, Duration::from_millis(1));
        }
        assert_eq!(shown_step(&screen), 1, "it goes on");
    }
}

/// Regression: a key for the speed cut the panel short.
#[test]
fn a_change_of_the_speed_keeps_the_caption_readable() {
    let mut screen = demo(120, 36);
    screen.press("g");
    screen.press("Space");
    screen.press("+");
    let reading = screen.model.playback.speed.reading_time(&screen.model.chapters[0].text);
    pass(&mut screen, reading.saturating_sub(Duration::from_millis(1)));
    assert_eq!(shown_step(&screen), 0);
    pass(&mut screen, Duration::from_millis(1));
    assert_eq!(shown_step(&screen), 1);
}

/// Regression: the caption spoke of an Error lesson while the lane of another kind was shown, which had none yet.
#[test]
fn a_demo_shows_the_lane_with_the_newest_lesson_at_each_step() {
    let mut screen = demo(80, 24);
    screen.press("g");
    let mut shown = Vec::new();
    for _ in 0..24 {
        let text = screen_text(&screen.draw());
        let lane =
            ["Abstract", "Error", "Progress"].into_iter().find(|name| text.contains(&format!("[{name} ")));
        let frame = screen.frame_data();
        let kind = frame.displayed.pool.all().next_back().map_or("Abstract", |lesson| match lesson.kind {
            crate::domain::ReflectionKind::Abstract => "Abstract",
            crate::domain::ReflectionKind::Error => "Error",
            _ => "Progress",
        });
        assert_eq!(lane, Some(kind), "step {}: {text}", shown_step(&screen));
        shown.extend(lane.filter(|lane| shown.last() != Some(lane)));
        screen.press("n");
    }
    assert!(shown.len() > 2, "{shown:?}");
}

/// Regression: on the smallest screen the head of the step on screen was scrolled away, although later steps had rows.
#[test]
fn the_head_of_the_step_on_screen_is_shown_in_the_past() {
    for (width, height) in super::SIZES {
        let mut screen = demo(width, height);
        screen.press("g");
        for _ in 0..24 {
            let (step, text) = (shown_step(&screen), screen_text(&screen.draw()));
            let is_head =
                |line: &str| line.trim_start_matches('▌').trim_start().starts_with(&format!("{step} "));
            assert!(step == 0 || text.lines().any(is_head), "step {step} at {width}x{height}:\n{text}");
            screen.press("n");
        }
    }
}

/// Regression: a panel that covered a part of a caption left its last row below it.
#[test]
fn no_half_caption_stays_below_a_panel() {
    for (width, height) in super::SIZES {
        let mut screen = demo(width, height);
        let mut chapters = screen.model.chapters.to_vec();
        chapters[0].text = format!("It begins. {} It ends.", "One more sentence here. ".repeat(5));
        screen.model.chapters = chapters.into();
        screen.press("g");
        assert!(screen_text(&screen.draw()).contains("It ends."));
        for key in ["?", "i", "p", ":"] {
            screen.press(key);
            let text = screen_text(&screen.draw());
            assert_eq!(
                text.contains("It begins."),
                text.contains("It ends."),
                "{key} at {width}x{height}:\n{text}"
            );
            screen.press("Esc");
        }
    }
}

/// Regression: the first row of a demo said how it ends while it was played.
#[test]
fn a_demo_does_not_tell_its_end_before_it_comes() {
    for (width, height) in super::SIZES {
        let mut screen = demo(width, height);
        screen.press("g");
        screen.press("n");
        let text = screen_text(&screen.draw());
        let first = text.lines().next().unwrap();
        assert!(first.contains("DEMO") && !first.contains("won"), "{first}");
    }
}

/// Regression: a demo's first picture had its last steps, the lesson to come and the whole line of progress.
#[test]
fn a_demo_shows_nothing_that_comes_after_its_step() {
    let mut screen = demo(120, 36);
    let later = "close fridge 1";
    screen.press("Home");
    let start = screen_text(&screen.draw());
    assert!(!start.contains(later), "{start}");
    let mut read_only = read_only(120, 36);
    read_only.press("Home");
    assert!(screen_text(&read_only.draw()).contains(later), "a debugger shows the steps to come");
}
