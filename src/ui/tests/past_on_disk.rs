//! A session whose past is on disk: the screen asks for what it needs, reads nothing itself, and then shows the same as
//! if everything were in memory.

use super::{TestScreen, screen_text};
use crate::domain::{EndReason, Seq};
use crate::driver::Store;
use crate::timeline::{CheckpointIndex, EventFetcher, Timeline};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Answer, PastLoad, Request, UiMessage};
use crate::ui::types::Cursor;
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
        let result =
            load.parts.iter().try_for_each(|part| timeline.load(*part, &crate::timeline::no_progress));
        self.may_read.store(false, Ordering::SeqCst);
        let requests = self.stage.send(UiMessage::Answer(Answer::PastLoaded { load, result }));
        self.perform(requests);
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
            self.stage.model.frame_loading_since = Some(self.stage.now);
            self.load(PastLoad { number: 0, epoch, parts, then: None });
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
fn a_load_can_be_cancelled_and_a_late_answer_moves_nothing() {
    let mut disk = Loading::new(&two_episodes());
    let requests = disk.stage.press("[");
    let [Request::LoadPast(load)] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(disk.stage.model.cursor, Cursor::Live, "nothing moves before the load");
    disk.stage.now += crate::ui::model::WORK_SHOWN_AFTER;
    assert!(screen_text(&disk.stage.draw()).contains("loading an earlier part"));
    assert_eq!(disk.stage.press("Esc"), [Request::CancelLoad]);
    assert!(!screen_text(&disk.stage.draw()).contains("loading an earlier part"));
    // The answer of the cancelled load arrives nevertheless.
    let late = |load: &PastLoad| UiMessage::Answer(Answer::PastLoaded { load: load.clone(), result: Ok(()) });
    assert!(disk.stage.send(late(load)).is_empty());
    assert_eq!(disk.stage.model.cursor, Cursor::Live);
    // A load that another one has replaced.
    let first = disk.stage.press("[");
    let second = disk.stage.press("Left");
    let ([Request::LoadPast(first)], [Request::CancelLoad, Request::LoadPast(second)]) =
        (first.as_slice(), second.as_slice())
    else {
        panic!("{first:?} {second:?}")
    };
    assert!(disk.stage.send(late(first)).is_empty());
    assert_eq!(disk.stage.model.cursor, Cursor::Live);
    // On another branch the same numbers are other events.
    let stale = PastLoad { epoch: second.epoch + 1, ..second.clone() };
    assert!(disk.stage.send(late(&stale)).is_empty());
    assert_eq!(disk.stage.model.cursor, Cursor::Live);
}

/// Regression: a late answer pulled a person back into the past after they had returned to the present.
#[test]
fn any_other_action_replaces_a_pending_load() {
    for key in ["End", "n", "a"] {
        let mut disk = Loading::new(&two_episodes());
        let requests = disk.stage.press("[");
        let [Request::LoadPast(load)] = requests.as_slice() else { panic!("{requests:?}") };
        assert_eq!(disk.stage.press(key).first(), Some(&Request::CancelLoad), "{key}");
        let answer = Answer::PastLoaded { load: load.clone(), result: Ok(()) };
        assert!(disk.stage.send(UiMessage::Answer(answer)).is_empty(), "{key}");
        assert_eq!(disk.stage.model.cursor, Cursor::Live, "{key}");
    }
}

/// Regression: what a frame lacked failed without a word, and looked complete.
#[test]
fn a_frame_that_cannot_load_says_so() {
    let mut disk = Loading::new(&two_episodes());
    disk.stage.press("4");
    disk.stage.press("Enter");
    let (_, parts) = disk.stage.draw_with_missing();
    assert!(!parts.is_empty(), "the details of a lesson need the event of its last use");
    disk.stage.model.frame_loading_since = Some(disk.stage.now);
    let load = PastLoad { number: 0, epoch: disk.stage.fixture.store.epoch(), parts, then: None };
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
    assert!(loads <= 4, "{loads} loads");
    assert!(screen_text(&disk.stage.draw()).contains("this part of the session couldn't be loaded"));
}
