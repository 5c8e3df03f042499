//! What an undo took back and a redo made again is said, and what branches are called is among it.

use super::{TestScreen, screen_text};
use crate::domain::{BranchId, LessonOp, LessonOrigin, LessonStatus, LessonText, ReflectionKind, Seq};
use crate::engine::{Cause, Command, Event};
use crate::ui::branches::{BranchEdit, BranchInfo};
use crate::ui::fixture::Fixture;
use crate::ui::msg::{Request, UiMessage};
use crate::ui::overlay::Answer;
use std::sync::Arc;

fn notice_text(stage: &TestScreen) -> String {
    stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default()
}

fn with_lesson() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    fixture.add_lesson(ReflectionKind::Error, LessonText::plain("Be quick."), LessonOrigin::Person);
    fixture
}

/// An undo that worked was silent, and its lane said that somebody had deleted what was in it.
#[test]
fn an_undo_says_what_it_undid() {
    let mut stage = TestScreen::new(with_lesson(), 120, 36);
    stage.send(UiMessage::StoreChanged);
    assert_eq!(stage.press("u"), [Request::Send(Command::Undo)]);
    let entry = stage.fixture.state().undo_stack.last().unwrap().seq;
    let id = stage.fixture.state().pool.all().next().unwrap().id.clone();
    let status = |was, status| Box::new(LessonOp::Status { id: id.clone(), previous: was, status });
    let (on, gone) = (LessonStatus::On, LessonStatus::Retired);
    stage.fixture.write(Cause::Person, Event::LessonUndone { target_seq: entry, op: status(on, gone) });
    stage.send(UiMessage::StoreChanged);
    assert_eq!(notice_text(&stage), "undone: lesson 1 added");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("none is left: all were taken back") && !shown.contains("deleted"), "{shown}");
    assert!(shown.contains("undone: lesson 1 added"), "{shown}");
    stage.fixture.write(Cause::Person, Event::LessonRedone { target_seq: entry, op: status(gone, on) });
    stage.send(UiMessage::StoreChanged);
    assert_eq!(notice_text(&stage), "redone: lesson 1 restored");
    // It is said once, and nothing of before the screen was there.
    stage.model.notice = None;
    stage.send(UiMessage::StoreChanged);
    assert_eq!(notice_text(&stage), "");
    stage.model.undo_scanned_to = None;
    stage.send(UiMessage::StoreChanged);
    assert_eq!(notice_text(&stage), "");
}

fn branches_msg(name: &str, note: &str, archived: bool) -> UiMessage {
    let id = |id: &str| BranchId(id.to_owned());
    let trunk = BranchInfo {
        id: id("trunk"),
        parent: None,
        fork_seq: Seq(0),
        name: String::new(),
        note: String::new(),
        archived: false,
        outcome: String::new(),
        episodes: 0,
        steps: 0,
        tokens: 0,
        reason: String::new(),
        root_change: String::new(),
        created: String::new(),
    };
    let (name, note) = (name.to_owned(), note.to_owned());
    let b1 = BranchInfo { id: id("b1"), parent: Some(id("trunk")), name, note, archived, ..trunk.clone() };
    UiMessage::Answer(Answer::Branches(Ok(Arc::from([trunk, b1]))))
}

/// After a branch was renamed an undo took back the lesson that was taught before, without a word.
#[test]
fn a_branch_rename_is_undone_first() {
    let b1 = || BranchId("b1".to_owned());
    let name = |text: &str| Request::EditBranch(b1(), BranchEdit::Name(text.to_owned()));
    let mut stage = TestScreen::new(with_lesson(), 120, 36);
    stage.send(UiMessage::StoreChanged);
    stage.send(branches_msg("one", "", false));
    stage.press("B");
    stage.press("End");
    stage.press("r");
    stage.press("Ctrl-u");
    stage.send(UiMessage::Paste("two".to_owned()));
    assert_eq!(stage.press("Enter"), [name("two")]);
    stage.send(branches_msg("two", "", false));
    assert_eq!(stage.press("a"), [Request::EditBranch(b1(), BranchEdit::Archived(true))]);
    stage.send(branches_msg("two", "", true));
    stage.press("Esc");
    assert_eq!(stage.press("u"), [Request::EditBranch(b1(), BranchEdit::Archived(false))]);
    assert_eq!(notice_text(&stage), "undone: branch two archived");
    stage.send(branches_msg("two", "", false));
    assert_eq!(stage.press("u"), [name("one")]);
    assert_eq!(notice_text(&stage), "undone: branch b1 called two");
    stage.send(branches_msg("one", "", false));
    // Below them the journal's own, and back again in the same order.
    assert_eq!(stage.press("u"), [Request::Send(Command::Undo)]);
    assert_eq!(stage.press("U"), [Request::Send(Command::Redo)]);
    assert_eq!(stage.press("U"), [name("two")]);
    assert_eq!(notice_text(&stage), "redone: branch b1 called two");
    // What was done since comes first.
    stage.send(branches_msg("two", "", false));
    assert!(matches!(stage.press("n")[..], [Request::Send(_)]));
    assert_eq!(stage.press("u"), [Request::Send(Command::Undo)]);
}

/// Turn -3 was asked for, and pane 3 had the keys.
#[test]
fn a_negative_step_number_is_refused() {
    let mut stage = TestScreen::new(with_lesson(), 120, 36);
    stage.press(":");
    stage.send(UiMessage::Paste("-3".to_owned()));
    assert_eq!(stage.press("Enter"), []);
    assert_eq!(notice_text(&stage), "there is no turn -3");
    assert_eq!(stage.model.focus, crate::ui::model::Focus::Story);
}

/// What is compared with was looked for by words that nothing has, and Enter did nothing.
#[test]
fn a_comparison_says_when_nothing_matches() {
    let mut stage = TestScreen::new(with_lesson(), 120, 36);
    stage.press("D");
    assert_eq!(stage.press("Enter"), []);
    assert_eq!(notice_text(&stage), "there is no other episode, branch or session");
    let other = crate::ui::compare::EpisodeRef { title: "branch b1".to_owned(), ..Default::default() };
    stage.send(UiMessage::Answer(Answer::Comparable(Ok(vec![other]))));
    stage.send(UiMessage::Paste("zzz".to_owned()));
    assert!(screen_text(&stage.draw()).contains("nothing is called so"), "{}", screen_text(&stage.draw()));
    assert_eq!(stage.press("Enter"), []);
    assert!(notice_text(&stage).starts_with("nothing is called so"), "{}", notice_text(&stage));
}
