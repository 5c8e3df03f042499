//! The search through all episodes of a session.

use super::overlays::typed;
use super::{Stage, screen};
use crate::domain::{DecidedBy, EndReason};
use crate::ui::find::{self, Progress};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::model::Cursor;
use crate::ui::msg::{Msg, Request};
use crate::ui::overlay::Answer;
use std::ops::ControlFlow;

/// The kitchen, a short second episode, and a third that goes on.
fn three() -> Fixture {
    let mut f = sample_session();
    f.take(
        "go to stoveburner 1",
        DecidedBy::Actor,
        "On the stoveburner 1, you see a kettle 1.",
        0.5,
        serde_json::Value::Null,
    );
    f.end(false, EndReason::StepLimit);
    f.begin();
    f.act("go to shelf 1", "On the shelf 1, you see a vase 1.", 0.0, serde_json::Value::Null);
    f.act(
        "take vase 1 from shelf 1",
        "You pick up the vase 1 from the shelf 1.",
        0.0,
        serde_json::Value::Null,
    );
    f.end(false, EndReason::Person);
    f.begin();
    f.act("go to shelf 1", "On the shelf 1, you see a vase 1.", 0.0, serde_json::Value::Null);
    f.propose(None, Some("go to fridge 1"));
    f.pause();
    f
}

/// Does what the screen's thread does, at once.
fn searched(stage: &mut Stage, wants: &[Request]) {
    let Some(Request::Find { words, shown }) = wants.last() else { panic!("{wants:?}") };
    let store = stage.fixture.store.clone();
    let mut told = Vec::new();
    find::in_others(&store, *shown, words, |hits, progress| {
        told.push(Answer::Found { words: words.clone(), hits, progress });
        ControlFlow::Continue(())
    });
    for answer in told {
        assert_eq!(stage.tell(Msg::Answer(answer)), [], "what is found moves nothing");
    }
}

fn search(stage: &mut Stage, words: &str) {
    stage.press("/");
    let (head, last) = words.split_at(words.len() - 1);
    typed(stage, head);
    let wants = stage.press(last);
    searched(stage, &wants);
}

fn place(stage: &Stage) -> (u32, u32) {
    let moment = stage.moment();
    (moment.shown.episode.as_ref().unwrap().number, moment.chosen())
}

/// Only the listed episode was searched.
#[test]
fn a_search_covers_every_episode_and_enter_goes_there() {
    let mut stage = Stage::new(three(), 80, 24);
    search(&mut stage, "kettle");
    assert_eq!(stage.model.cursor, Cursor::Live, "nothing is found here, so nothing moves while it is typed");
    let shown = screen(&stage.draw());
    assert!(shown.contains("Search: 1 of 1 ") && shown.contains(" 1.24  "), "{shown}");
    stage.press("Enter");
    assert_eq!(place(&stage), (1, 24));
    stage.press("Enter");
    assert!(stage.model.overlays.is_empty());
    assert_eq!(place(&stage), (1, 24), "it stays there");
}

#[test]
fn places_are_walked_in_the_order_of_the_session() {
    let mut stage = Stage::new(three(), 80, 24);
    search(&mut stage, "vase");
    assert_eq!(place(&stage), (3, 1), "the nearest is in the listed episode");
    stage.press("Enter");
    let mut walked = vec![place(&stage)];
    for _ in 0..4 {
        stage.press("N");
        walked.push(place(&stage));
    }
    // Two places lie in the second turn of the second episode.
    walked.dedup();
    assert_eq!(walked, [(3, 1), (2, 2), (2, 1), (3, 1)]);
    insta::assert_snapshot!("search_episodes_80x24", screen(&stage.draw()));
}

#[test]
fn what_was_found_for_other_words_is_not_taken_in_and_leaving_stops_the_search() {
    let mut stage = Stage::new(three(), 80, 24);
    stage.press("/");
    typed(&mut stage, "vas");
    let shown = screen(&stage.draw());
    assert!(shown.contains("looking through the other episodes"), "{shown}");
    let late = Answer::Found { words: "va".to_owned(), hits: Vec::new(), progress: Progress::Done };
    stage.tell(Msg::Answer(late));
    assert!(screen(&stage.draw()).contains("looking through the other episodes"));
    let stop = Request::Find { words: String::new(), shown: 0 };
    assert_eq!(stage.press("Esc"), [stop]);
    assert_eq!(stage.model.cursor, Cursor::Live);
}

/// A session of one episode has nothing else to look through.
#[test]
fn one_episode_alone_is_searched_at_once() {
    let mut stage = Stage::new(sample_session(), 80, 24);
    stage.press("/");
    assert_eq!(stage.press("a"), []);
}

#[test]
fn a_search_that_is_told_to_stop_stops() {
    let mut f = Fixture::new();
    for _ in 0..250 {
        f.begin();
        f.act("look", "A vase 1.", 0.0, serde_json::Value::Null);
        f.end(false, EndReason::Person);
    }
    f.begin();
    let (mut pieces, mut hits) = (0, 0);
    find::in_others(&f.store, 251, "vase", |found, _| {
        (pieces, hits) = (pieces + 1, hits + found.len());
        ControlFlow::Continue(())
    });
    assert!(pieces > 2 && hits == 250, "{pieces} {hits}");
    let mut pieces = 0;
    find::in_others(&f.store, 251, "vase", |_, _| {
        pieces += 1;
        ControlFlow::Break(())
    });
    assert_eq!(pieces, 1);
}
