//! Notices about undo and redo, also of branch names and notes.

use super::{TestScreen, screen_text};
use crate::domain::{BranchId, LessonOp, LessonOrigin, LessonStatus, LessonText, ReflectionKind};
use crate::engine::{Cause, Command, Event};
use crate::ui::branches::{BranchEdit, BranchInfo};
use crate::ui::fixture::Fixture;
use crate::ui::msg::{Answer, Request, UiMessage};
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

/// Regression: an undo showed no notice, and the lane said that its lesson was deleted.
#[test]
fn an_undo_says_what_it_undid() {
    let mut stage = TestScreen::new(with_lesson(), 120, 36);
    stage.send(UiMessage::StoreChanged);
    assert_eq!(stage.press("u"), [Request::Send(Command::Undo)]);
    let entry = stage.fixture.state().undo_stack.last().unwrap().seq;
    let id = stage.fixture.state().pool.all().next().unwrap().id.clone();
    let status =
        |previous, status| Box::new(LessonOp::Status { id: id.clone(), previous, status, merged_into: None });
    let (on, retired) = (LessonStatus::On, LessonStatus::Retired);
    stage.fixture.write(Cause::Person, Event::LessonUndone { target_seq: entry, op: status(on, retired) });
    stage.send(UiMessage::StoreChanged);
    assert_eq!(notice_text(&stage), "undone: lesson 1 is gone");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("none left: all were undone") && !shown.contains("deleted"), "{shown}");
    assert!(shown.contains("undone: lesson 1 is gone"), "{shown}");
    stage.fixture.write(Cause::Person, Event::LessonRedone { target_seq: entry, op: status(retired, on) });
    stage.send(UiMessage::StoreChanged);
    assert_eq!(notice_text(&stage), "redone: lesson 1 restored");
    // The notice is shown once, and never for events from before the screen opened.
    stage.model.notice = None;
    stage.send(UiMessage::StoreChanged);
    assert_eq!(notice_text(&stage), "");
    stage.model.undo_scanned_to = None;
    stage.send(UiMessage::StoreChanged);
    assert_eq!(notice_text(&stage), "");
}

fn branches_msg(name: &str, note: &str, archived: bool) -> UiMessage {
    let trunk = BranchInfo::sample("trunk", None, 0);
    let (name, note) = (name.to_owned(), note.to_owned());
    let b1 = BranchInfo { name, note, archived, ..BranchInfo::sample("b1", Some("trunk"), 0) };
    UiMessage::Answer(Answer::Branches(Ok(Arc::from([trunk, b1]))))
}

/// Regression: after a branch was renamed, undo silently removed the lesson that was added before.
#[test]
fn a_branch_rename_is_undone_first() {
    let b1 = || BranchId("b1".to_owned());
    let edit = |edit| Request::EditBranches(vec![(b1(), edit)]);
    let name = |text: &str| edit(BranchEdit::Name(text.to_owned()));
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
    assert_eq!(stage.press("a"), [edit(BranchEdit::Archived(true))]);
    stage.send(branches_msg("two", "", true));
    stage.press("Esc");
    assert_eq!(stage.press("u"), [edit(BranchEdit::Archived(false))]);
    assert_eq!(notice_text(&stage), "undone: branch two archived");
    stage.send(branches_msg("two", "", false));
    assert_eq!(stage.press("u"), [name("one")]);
    assert_eq!(notice_text(&stage), "undone: branch b1 named two");
    stage.send(branches_msg("one", "", false));
    // Then the journal's changes follow; redo restores all in the reverse order.
    assert_eq!(stage.press("u"), [Request::Send(Command::Undo)]);
    assert_eq!(stage.press("U"), [Request::Send(Command::Redo)]);
    assert_eq!(stage.press("U"), [name("two")]);
    assert_eq!(notice_text(&stage), "redone: branch b1 named two");
    // A later command clears the branch edits.
    stage.send(branches_msg("two", "", false));
    assert!(matches!(stage.press("n")[..], [Request::Send(_)]));
    assert_eq!(stage.press("u"), [Request::Send(Command::Undo)]);
}

/// Regression: `:-3` focused pane 3.
#[test]
fn a_negative_step_number_is_rejected() {
    let mut stage = TestScreen::new(with_lesson(), 120, 36);
    stage.press(":");
    stage.send(UiMessage::Paste("-3".to_owned()));
    assert_eq!(stage.press("Enter"), []);
    assert_eq!(notice_text(&stage), "no step -3");
    assert_eq!(stage.model.focus, crate::ui::types::Focus::Story);
}

/// Regression: with a filter that matched nothing, Enter did nothing and showed no reason.
#[test]
fn a_comparison_says_when_nothing_matches() {
    let mut stage = TestScreen::new(with_lesson(), 120, 36);
    stage.press("D");
    stage.send(UiMessage::Answer(Answer::Comparable(Ok(vec![]))));
    assert_eq!(stage.press("Enter"), []);
    assert_eq!(notice_text(&stage), "no other episode, branch or session");
    stage.press("Esc");
    stage.press("D");
    let other = crate::ui::types::EpisodeRef { title: "branch b1".to_owned(), ..Default::default() };
    stage.send(UiMessage::Answer(Answer::Comparable(Ok(vec![other]))));
    stage.send(UiMessage::Paste("zzz".to_owned()));
    assert!(screen_text(&stage.draw()).contains("no match"), "{}", screen_text(&stage.draw()));
    assert_eq!(stage.press("Enter"), []);
    assert!(notice_text(&stage).starts_with("no match"), "{}", notice_text(&stage));
}

/// Regression: Enter on an empty list said that there is no other episode while the branches and sessions were still loading.
#[test]
fn a_comparison_says_that_its_list_is_still_loading() {
    let mut stage = TestScreen::new(with_lesson(), 120, 36);
    stage.press("D");
    assert_eq!(stage.press("Enter"), []);
    assert_eq!(notice_text(&stage), "branches and sessions are still loading");
    stage.send(UiMessage::Paste("b1".to_owned()));
    assert!(screen_text(&stage.draw()).contains("loading branches and sessions"));
    let other = crate::ui::types::EpisodeRef { title: "branch b1".to_owned(), ..Default::default() };
    stage.send(UiMessage::Answer(Answer::Comparable(Ok(vec![other]))));
    assert!(matches!(stage.press("Enter")[..], [Request::Compare { .. }]));
}
