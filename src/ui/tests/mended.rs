//! Small faults of the screen that were found by looking at it, each with the words of what went wrong.

use super::{Stage, screen};
use crate::domain::{EndReason, Kind, LessonOrigin, LessonText};
use crate::driver::Health;
use crate::engine::{Command, Event};
use crate::ui::fixture::{Fixture, kitchen};
use crate::ui::keymap::Action;
use crate::ui::model::Focus;
use crate::ui::msg::{Msg, Request};

/// A lane had whole sentences only where all of its lessons found room for theirs; else every one was cut to a line.
#[test]
fn a_lane_wraps_some_lessons_where_there_is_no_room_for_all() {
    let mut fixture = Fixture::new();
    fixture.begin();
    for n in 1..=4 {
        let text = format!("Number {n} says: surfaces first, then drawers, then end{n}.");
        fixture.lesson(Kind::Abstract, LessonText::plain(&text), LessonOrigin::Symbolic);
    }
    let mut stage = Stage::new(fixture, 120, 36);
    stage.draw();
    let lane = *stage.scratch.plan.find(Focus::Lanes, 0).unwrap();
    let height = usize::from(lane.body.height);
    assert!((5..8).contains(&height), "four lessons fit in a row each, but not in two: {height}");
    let shown = screen(&stage.draw());
    let whole = (1..=4).filter(|n| shown.contains(&format!("end{n}."))).count();
    assert!((1..4).contains(&whole), "some are whole and some are not: {shown}");
    assert!((1..=4).all(|n| shown.contains(&format!("Number {n} says"))), "none is pushed out: {shown}");
    // The lesson that keys act on is whole before any other.
    stage.press("3");
    stage.press("Down");
    stage.press("Down");
    stage.press("Down");
    let shown = screen(&stage.draw());
    assert!(shown.contains("end1."), "{shown}");
}

/// The lane of errors was shown, and the first Tab went to that of Abstract lessons.
#[test]
fn tab_goes_on_from_the_lane_that_is_shown() {
    let walk = |key: &str, size: (u16, u16)| {
        let mut stage = Stage::new(kitchen(), size.0, size.1);
        stage.draw();
        let mut seen = Vec::new();
        for _ in 0..6 {
            stage.press(key);
            stage.draw();
            let lane = stage.model.lane(&[Kind::Abstract, Kind::Error, Kind::Progress]);
            seen.push(match stage.model.focus {
                Focus::Lanes => ["abstract", "error", "progress"][lane],
                Focus::World => "world",
                Focus::Observations => "observations",
                _ => "story",
            });
        }
        seen.join(" ")
    };
    assert_eq!(walk("Tab", (80, 24)), "error progress abstract world story abstract");
    assert_eq!(walk("BackTab", (80, 24)), "world error abstract progress story world");
    // Where all lanes are to be seen, they are visited from top to bottom.
    assert_eq!(walk("Tab", (120, 36)), "abstract error progress world story abstract");
    assert_eq!(walk("Tab", (200, 60)), "observations abstract error progress world story");
    // What is not to be seen is not visited.
    assert_eq!(walk("Tab", (60, 16)), "error progress abstract story abstract error");
}

/// The footer and the boxes said "turn", the descriptions of the keys "step".
#[test]
fn a_turn_is_called_a_turn_wherever_the_screen_counts_them() {
    for action in Action::ALL {
        let about = action.about();
        for wrong in ["this step", "chosen step", "one step", "last step", "to step", "steps"] {
            assert!(!about.contains(wrong), "{}: {about}", action.name());
        }
    }
    let keymap = crate::ui::keymap::Keymap::default();
    for mode in crate::ui::keymap::Mode::ALL {
        for row in keymap.rows(*mode) {
            assert!(!row.desc.contains("step"), "{}: {}", row.action.name(), row.desc);
        }
    }
}

/// A proposal that nobody will do any more still had the mark of one that waits.
#[test]
fn a_proposal_left_over_at_the_end_of_its_episode_waits_for_nobody() {
    let mut stage = Stage::new(kitchen(), 80, 24);
    let waits = "▸ go to stoveburner 1";
    assert!(screen(&stage.draw()).contains(waits), "it waits while the episode goes on");
    stage.fixture.end(false, EndReason::Person);
    let shown = screen(&stage.draw());
    assert!(!shown.contains(waits), "{shown}");
    assert!(shown.contains("○ go to stoveburner 1") && shown.contains("not done"), "{shown}");
}

/// The card of an ended session that is only looked at could be reached in the palette alone, and offered what is refused.
#[test]
fn the_result_of_an_ended_session_that_is_read_has_a_key() {
    let mut fixture = kitchen();
    fixture.end(false, EndReason::StepLimit);
    fixture.write(crate::engine::Cause::Policy, Event::RunEnded);
    let mut stage = Stage::new(fixture, 80, 24);
    stage.fixture.store.edit_live(|live| live.health = Health::Reading);
    stage.model.carded = Some(1);
    assert!(screen(&stage.draw()).contains("C result card"));
    stage.press("C");
    let card = screen(&stage.draw());
    assert!(card.contains("Not won: all 50 turns are used up."), "{card}");
    assert!(!card.contains("play this task again") && !card.contains("teach a lesson"), "{card}");
    assert!(
        card.contains("write a report") && card.contains("go to the last turn that made progress"),
        "{card}"
    );
    let wants = stage.press("Enter");
    assert!(!wants.iter().any(|w| matches!(w, Request::Send(_))), "{wants:?}");
    assert_eq!(stage.moment().chosen(), 22);
    assert!(screen(&stage.draw()).contains("C result card"), "also from the past");
}

/// What the card says, line by line, and what it leads to.
#[test]
fn the_end_card_says_why_when_and_what_is_missing_in_plain_words() {
    let mut fixture = kitchen();
    fixture.take("open fridge 1", crate::domain::By::Actor, "Nothing happens.", 0.5, serde_json::Value::Null);
    fixture.act("open fridge 1", "Nothing happens.", 0.5, serde_json::Value::Null);
    fixture.end(false, EndReason::StepLimit);
    let mut stage = Stage::new(fixture, 120, 36);
    stage.tell(Msg::News);
    let card = screen(&stage.draw());
    for words in [
        "Not won: all 50 turns are used up.",
        "50 %, last at turn 22 (take apple 1 from countertop 2)",
        "4 times: turns 4, 13, 24, 25",
        "nothing new from open fridge 1, again at turns 24, 25",
        "play this task again",
        "go to the last turn that made progress",
        "teach a lesson",
        "write a report",
    ] {
        assert!(card.contains(words), "{words}:\n{card}");
    }
    assert!(!card.contains("in vain"), "{card}");
    let begins = |w: &Request| matches!(w, Request::Send(Command::Begin(_)));
    assert!(stage.press("r").iter().any(begins));
}
