//! A session whose past is on disk: the screen asks for what it needs, reads nothing itself, and then shows the same as
//! if everything were in memory.

use super::{TestScreen, screen_text};
use crate::domain::{EndReason, Seq};
use crate::driver::Store;
use crate::timeline::{CheckpointIndex, EventFetcher, Timeline, no_progress};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Answer, PastLoad, Request, UiMessage};
use crate::ui::types::{Cursor, WorkKind};
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The sample session, lost, and a second episode of two steps.
fn two_episodes() -> Fixture {
    let mut f = sample_session();
    f.end_episode(false, EndReason::StepLimit);
    f.begin_episode();
    f.actor_step("go to fridge 1", "The fridge 1 is closed.", 0.0, serde_json::Value::Null);
    f.actor_step("open fridge 1", "The fridge 1 is open.", 0.0, serde_json::Value::Null);
    f
}

/// A fixture that has only the head in memory, and a switch that allows its events to be read.
fn on_disk(fixture: &Fixture) -> (Fixture, Arc<AtomicBool>) {
    let timeline = fixture.store.timeline();
    let events = timeline.events_after(Seq(0));
    let may_read = Arc::new(AtomicBool::new(false));
    let allowed = may_read.clone();
    let fetcher = EventFetcher::new(move |after, to| {
        assert!(allowed.load(Ordering::SeqCst), "the screen reads {after:?} to {to:?} from the disk itself");
        Ok(events[after.0 as usize..to.0 as usize].to_vec())
    });
    let store = Store::default();
    let head = timeline.head().clone();
    store.set_timeline(Timeline::from_head(head, fetcher, CheckpointIndex::empty()), fixture.store.branch());
    let mut copy = Fixture::empty();
    copy.store = Arc::new(store);
    (copy, may_read)
}

/// A screen, and the loads that it asks for.
struct Loading {
    stage: TestScreen,
    may_read: Arc<AtomicBool>,
    loads: u32,
}

impl Loading {
    fn new(fixture: &Fixture) -> Self {
        let (copy, may_read) = on_disk(fixture);
        Self { stage: TestScreen::new(copy, 120, 36), may_read, loads: 0 }
    }

    /// Loads as the application does on a thread of its own.
    fn load(&mut self, load: PastLoad) {
        self.loads += 1;
        let timeline = self.stage.fixture.store.timeline();
        self.may_read.store(true, Ordering::SeqCst);
        let result = load.parts.iter().try_for_each(|part| timeline.load(*part, &no_progress));
        self.may_read.store(false, Ordering::SeqCst);
        let requests = self.stage.send(UiMessage::Answer(Answer::PastLoaded { load, result }));
        self.perform(requests);
    }

    /// Returns whether the application must go on with a load.
    fn awaits_past(&self) -> bool {
        self.stage.compositor.is_awaited(WorkKind::Past, &self.stage.model)
    }

    fn perform(&mut self, requests: Vec<Request>) {
        for request in requests {
            if let Request::LoadPast(load) = request {
                self.load(load);
            }
        }
    }

    /// Presses a key, and loads until the screen has all it needs.
    fn press(&mut self, key: &str) -> String {
        let requests = self.stage.press(key);
        self.perform(requests);
        for _ in 0..4 {
            let (buffer, parts) = self.stage.draw_with_missing();
            if parts.is_empty() {
                return screen_text(&buffer);
            }
            let epoch = self.stage.fixture.store.epoch();
            self.load(PastLoad { since: self.stage.now, epoch, parts, then: None });
        }
        panic!("after {key} the frame never has what it needs");
    }
}

#[test]
fn a_past_on_disk_looks_like_one_in_memory() {
    let walks: &[&[&str]] = &[
        &["Left", "Left", "Left"],
        // Step details, lesson details, the prompt and its changes.
        &["Left", "Left", "i", "Esc", "p", "d", "Esc"],
        &["3", "Enter", "Esc", "4", "Enter", "Esc"],
        &["i", "Esc", "p", "d", "Esc"],
        // The fork dialog, in the past and in the present.
        &["Left", "Left", "F", "Esc"],
        &["F", "Esc"],
        // The first episode: by episode, by step, by mark.
        &["[", "Right", "Right", "i", "Esc", "F", "Esc", "]"],
        &["[", "[", "Left", "Left", "Left", "]"],
        &["<", "<", ">", "[", "<", "p", "d"],
        // A step by its number, in this episode and in another one.
        &[":", "1", ".", "3", "Enter", "i"],
        &[":", "1", ".", "9", "9", "Enter"],
        &[":", "7", ".", "1", "Enter"],
        // The list of episodes.
        &["T", "Up", "Enter"],
    ];
    let fixture = two_episodes();
    let mut loads = 0;
    for walk in walks {
        let mut memory = TestScreen::new(two_episodes(), 120, 36);
        let mut disk = Loading::new(&fixture);
        for (at, key) in walk.iter().enumerate() {
            memory.press(key);
            let expected = screen_text(&memory.draw());
            assert_eq!(disk.press(key), expected, "{walk:?} at {key} ({at})");
            assert_eq!(disk.stage.model.cursor, memory.model.cursor, "{walk:?} at {key} ({at})");
        }
        loads += disk.loads;
    }
    assert!(loads > 20, "only {loads} loads: the walks don't reach the past");
}

#[test]
fn a_load_shows_its_progress_and_can_be_cancelled() {
    let mut disk = Loading::new(&two_episodes());
    let requests = disk.stage.press("[");
    assert!(matches!(requests.as_slice(), [Request::LoadPast(_)]), "{requests:?}");
    assert_eq!(disk.stage.model.cursor, Cursor::Live, "nothing moves before the load");
    assert!(disk.awaits_past());
    disk.stage.show_work(WorkKind::Past, Some(42));
    let shown = screen_text(&disk.stage.draw());
    assert!(shown.contains("loading an earlier part of the session ... 42 % (Esc cancels)"), "{shown}");
    assert_eq!(disk.stage.press("Esc"), []);
    assert!(!disk.awaits_past());
}

#[test]
fn a_load_for_another_branch_moves_nothing() {
    let mut disk = Loading::new(&two_episodes());
    let requests = disk.stage.press("[");
    let [Request::LoadPast(load)] = requests.as_slice() else { panic!("{requests:?}") };
    // On another branch the same numbers are other events.
    let stale = PastLoad { epoch: load.epoch + 1, ..load.clone() };
    let answer = Answer::PastLoaded { load: stale, result: Ok(()) };
    assert!(disk.stage.send(UiMessage::Answer(answer)).is_empty());
    assert_eq!(disk.stage.model.cursor, Cursor::Live);
}

/// Regression: a late answer pulled a person back into the past after they had returned to the present.
#[test]
fn any_other_action_replaces_a_pending_load() {
    for key in ["End", "n", "a"] {
        let mut disk = Loading::new(&two_episodes());
        disk.stage.press("[");
        disk.stage.press(key);
        assert!(!disk.awaits_past(), "{key}");
    }
    let mut disk = Loading::new(&two_episodes());
    disk.stage.press("[");
    let requests = disk.stage.press("Left");
    assert!(matches!(requests.as_slice(), [Request::LoadPast(_)]) && disk.awaits_past(), "{requests:?}");
}

/// Regression: `[` `[` moved one episode, and `i` opened the details of the step before the jump.
#[test]
fn keys_about_the_step_being_loaded_wait_for_it() {
    let mut disk = Loading::new(&two_episodes());
    assert!(!disk.stage.defers_key("["), "nothing is being loaded");
    disk.stage.press("[");
    for key in ["[", "Left", "i", "F", "n"] {
        assert!(disk.stage.defers_key(key), "{key}");
    }
    for key in ["Esc", "q", "Ctrl-c", "Space"] {
        assert!(!disk.stage.defers_key(key), "{key} stops at once");
    }
}

/// Regression: while the step of a hit was loaded, Esc cancelled the load and left the search open.
#[test]
fn esc_closes_the_search_whose_hit_is_being_loaded() {
    let mut disk = Loading::new(&two_episodes());
    for key in ["/", "c", "o", "u", "n", "t", "e", "r"] {
        disk.stage.press(key);
    }
    for key in ["Down", "Up", "Enter"] {
        disk.stage.press(key);
        if disk.awaits_past() {
            break;
        }
    }
    assert!(disk.awaits_past(), "no hit has to be loaded");
    assert_eq!(disk.stage.compositor.overlays().len(), 1);
    assert!(!disk.stage.defers_key("x"), "what is typed in an overlay doesn't wait");
    disk.stage.press("Esc");
    assert!(disk.stage.compositor.overlays().is_empty() && !disk.awaits_past());
}

/// Regression: only keys replaced a load, so that a late answer pulled a person away from the step they had clicked.
#[test]
fn a_click_on_a_step_replaces_a_pending_load() {
    let mut disk = Loading::new(&two_episodes());
    let shown = screen_text(&disk.stage.draw());
    let row = shown.lines().position(|line| line.contains("go to fridge 1")).unwrap() as u16;
    disk.stage.press("[");
    let event = |kind| MouseEvent { kind, column: 8, row, modifiers: KeyModifiers::NONE };
    disk.stage.send(UiMessage::Mouse(event(MouseEventKind::Moved)));
    assert!(disk.awaits_past(), "moving the mouse does nothing");
    let requests = disk.stage.send(UiMessage::Mouse(event(MouseEventKind::Down(MouseButton::Left))));
    let is_new = matches!(requests.as_slice(), [Request::LoadPast(_)]);
    assert!(is_new || !disk.awaits_past(), "{requests:?}");
}

/// Regression: what a frame lacked failed without a word, and looked complete.
#[test]
fn a_frame_that_cannot_load_says_so() {
    let mut disk = Loading::new(&two_episodes());
    disk.stage.press("4");
    disk.stage.press("Enter");
    let (_, parts) = disk.stage.draw_with_missing();
    assert!(!parts.is_empty(), "the details of a lesson need the event of its last use");
    let (since, epoch) = (disk.stage.now, disk.stage.fixture.store.epoch());
    let load = PastLoad { since, epoch, parts, then: None };
    let answer = Answer::PastLoaded { load, result: Err("events 1 to 9 can't be read".to_owned()) };
    disk.stage.send(UiMessage::Answer(answer));
    assert!(screen_text(&disk.stage.draw()).contains("events 1 to 9 can't be read"));
}

#[test]
fn a_past_that_cannot_be_read_is_reported_once() {
    let mut disk = Loading::new(&two_episodes());
    let requests = disk.stage.press("[");
    let [Request::LoadPast(load)] = requests.as_slice() else { panic!("{requests:?}") };
    let answer =
        Answer::PastLoaded { load: load.clone(), result: Err("events 1 to 9 can't be read".to_owned()) };
    assert!(disk.stage.send(UiMessage::Answer(answer)).is_empty());
    assert!(screen_text(&disk.stage.draw()).contains("events 1 to 9 can't be read"));
    // A load that brings nothing isn't repeated for ever.
    let mut requests = disk.stage.press("[");
    let mut loads = 0;
    while let Some(Request::LoadPast(load)) = requests.pop() {
        loads += 1;
        requests = disk.stage.send(UiMessage::Answer(Answer::PastLoaded { load, result: Ok(()) }));
    }
    assert!(loads <= 16, "{loads} loads");
    assert!(screen_text(&disk.stage.draw()).contains("this part of the session couldn't be loaded"));
}
