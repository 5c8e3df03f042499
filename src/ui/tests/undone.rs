//! What an undo took back and a redo made again is said, and what branches are called is among it.

use super::{Stage, screen};
use crate::domain::{BranchId, LessonOp, LessonOrigin, LessonStatus, LessonText, ReflectionKind, Seq};
use crate::engine::{Cause, Command, Event};
use crate::ui::branches::{BranchEdit, BranchInfo};
use crate::ui::fixture::Fixture;
use crate::ui::msg::{Msg, Request};
use crate::ui::overlay::Answer;
use std::sync::Arc;

fn said(stage: &Stage) -> String {
    stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default()
}

fn taught() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.begin();
    fixture.lesson(ReflectionKind::Error, LessonText::plain("Be quick."), LessonOrigin::Person);
    fixture
}

/// An undo that worked was silent, and its lane said that somebody had deleted what was in it.
#[test]
fn an_undo_says_what_it_took_back() {
    let mut stage = Stage::new(taught(), 120, 36);
    stage.tell(Msg::News);
    assert_eq!(stage.press("u"), [Request::Send(Command::Undo)]);
    let entry = stage.fixture.state().undo_stack.last().unwrap().seq;
    let id = stage.fixture.state().pool.all().next().unwrap().id.clone();
    let status = |was, status| Box::new(LessonOp::Status { id: id.clone(), previous: was, status });
    let (on, gone) = (LessonStatus::On, LessonStatus::Retired);
    stage.fixture.write(Cause::Person, Event::LessonUndone { target_seq: entry, op: status(on, gone) });
    stage.tell(Msg::News);
    assert_eq!(said(&stage), "taken back: lesson 1 added");
    let shown = screen(&stage.draw());
    assert!(shown.contains("none is left: all were taken back") && !shown.contains("deleted"), "{shown}");
    assert!(shown.contains("taken back: lesson 1 added"), "{shown}");
    stage.fixture.write(Cause::Person, Event::LessonRedone { target_seq: entry, op: status(gone, on) });
    stage.tell(Msg::News);
    assert_eq!(said(&stage), "made again: lesson 1 put back");
    // It is said once, and nothing of before the screen was there.
    stage.model.notice = None;
    stage.tell(Msg::News);
    assert_eq!(said(&stage), "");
    stage.model.undo_told = None;
    stage.tell(Msg::News);
    assert_eq!(said(&stage), "");
}

fn twigs(name: &str, note: &str, archived: bool) -> Msg {
    let id = |id: &str| BranchId(id.to_owned());
    let trunk = BranchInfo {
        id: id("trunk"),
        parent: None,
        at: Seq(0),
        name: String::new(),
        note: String::new(),
        archived: false,
        outcome: String::new(),
        episodes: 0,
        steps: 0,
        tokens: 0,
        reason: String::new(),
        root: String::new(),
        created: String::new(),
    };
    let (name, note) = (name.to_owned(), note.to_owned());
    let b1 = BranchInfo { id: id("b1"), parent: Some(id("trunk")), name, note, archived, ..trunk.clone() };
    Msg::Answer(Answer::Branches(Ok(Arc::from([trunk, b1]))))
}

/// After a branch was renamed an undo took back the lesson that was taught before, without a word.
#[test]
fn what_a_branch_was_called_is_taken_back_first() {
    let b1 = || BranchId("b1".to_owned());
    let name = |text: &str| Request::Relabel(b1(), BranchEdit::Name(text.to_owned()));
    let mut stage = Stage::new(taught(), 120, 36);
    stage.tell(Msg::News);
    stage.tell(twigs("one", "", false));
    stage.press("B");
    stage.press("End");
    stage.press("r");
    stage.press("Ctrl-u");
    stage.tell(Msg::Paste("two".to_owned()));
    assert_eq!(stage.press("Enter"), [name("two")]);
    stage.tell(twigs("two", "", false));
    assert_eq!(stage.press("a"), [Request::Relabel(b1(), BranchEdit::Archived(true))]);
    stage.tell(twigs("two", "", true));
    stage.press("Esc");
    assert_eq!(stage.press("u"), [Request::Relabel(b1(), BranchEdit::Archived(false))]);
    assert_eq!(said(&stage), "taken back: branch two archived");
    stage.tell(twigs("two", "", false));
    assert_eq!(stage.press("u"), [name("one")]);
    assert_eq!(said(&stage), "taken back: branch b1 called two");
    stage.tell(twigs("one", "", false));
    // Below them the journal's own, and back again in the same order.
    assert_eq!(stage.press("u"), [Request::Send(Command::Undo)]);
    assert_eq!(stage.press("U"), [Request::Send(Command::Redo)]);
    assert_eq!(stage.press("U"), [name("two")]);
    assert_eq!(said(&stage), "made again: branch b1 called two");
    // What was done since comes first.
    stage.tell(twigs("two", "", false));
    assert!(matches!(stage.press("n")[..], [Request::Send(_)]));
    assert_eq!(stage.press("u"), [Request::Send(Command::Undo)]);
}

/// Turn -3 was asked for, and pane 3 had the keys.
#[test]
fn a_number_below_none_is_no_pane() {
    let mut stage = Stage::new(taught(), 120, 36);
    stage.press(":");
    stage.tell(Msg::Paste("-3".to_owned()));
    assert_eq!(stage.press("Enter"), []);
    assert_eq!(said(&stage), "there is no turn -3");
    assert_eq!(stage.model.focus, crate::ui::model::Focus::Story);
}

/// What is compared with was looked for by words that nothing has, and Enter did nothing.
#[test]
fn a_comparison_says_that_nothing_is_called_so() {
    let mut stage = Stage::new(taught(), 120, 36);
    stage.press("D");
    assert_eq!(stage.press("Enter"), []);
    assert_eq!(said(&stage), "there is no other episode, branch or session");
    let other = crate::ui::compare::Place { title: "branch b1".to_owned(), ..Default::default() };
    stage.tell(Msg::Answer(Answer::Others(Ok(vec![other]))));
    stage.tell(Msg::Paste("zzz".to_owned()));
    assert!(screen(&stage.draw()).contains("nothing is called so"), "{}", screen(&stage.draw()));
    assert_eq!(stage.press("Enter"), []);
    assert!(said(&stage).starts_with("nothing is called so"), "{}", said(&stage));
}
