//! The tree of branches, another line, and a world that differs.

use super::{SIZES, Stage, screen};
use crate::domain::{BranchId, Seq};
use crate::timeline::Timeline;
use crate::ui::branches::{BranchEdit, BranchInfo};
use crate::ui::fixture::sample_session;
use crate::ui::model::Cursor;
use crate::ui::msg::{Msg, Request};
use crate::ui::overlay::Answer;
use std::sync::Arc;

fn top(stage: &Stage) -> &'static str {
    stage.model.overlays.last().map_or("", |o| o.name())
}

fn said(stage: &Stage) -> String {
    stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default()
}

fn twig(id: &str, parent: Option<&str>, at: u64, reason: &str) -> BranchInfo {
    BranchInfo {
        id: BranchId(id.to_owned()),
        parent: parent.map(|p| BranchId(p.to_owned())),
        at: Seq(at),
        name: String::new(),
        note: String::new(),
        archived: false,
        outcome: "open at turn 24".to_owned(),
        episodes: 0,
        steps: 24,
        tokens: 29_040,
        reason: reason.to_owned(),
        root: reason.to_owned(),
        created: "2026-11-20 10:40:00Z".to_owned(),
    }
}

fn twigs() -> Arc<[BranchInfo]> {
    let won = BranchInfo {
        name: "with a lesson".to_owned(),
        note: "the lesson about closed containers is enough".to_owned(),
        outcome: "won".to_owned(),
        steps: 17,
        tokens: 20_570,
        ..twig("b1", Some("trunk"), 38, "after turn 4: a lesson added")
    };
    let off = BranchInfo {
        archived: true,
        ..twig("b3", Some("trunk"), 60, "turn 9: another action, go to shelf 1")
    };
    let last = BranchInfo {
        outcome: "lost: out of turns".to_owned(),
        ..twig("b4", Some("trunk"), 90, "after turn 12: method reflexion")
    };
    [twig("trunk", None, 0, "start"), won, twig("b2", Some("b1"), 52, "turn 7: another thought"), off, last]
        .into()
}

/// The screen after another line was taken up: its events, its branch, and the list of branches.
fn on_branch(w: u16, h: u16) -> Stage {
    let mut stage = Stage::new(sample_session(), w, h);
    stage.tell(Msg::News);
    stage.tell(Msg::Answer(Answer::Branches(Ok([twig("trunk", None, 0, "start")].into()))));
    let mut line = Timeline::default();
    let to = Seq(60);
    let store = &stage.fixture.store;
    let events = store.timeline().events_between(Seq(0), to);
    line.push(events, store.state_at(to));
    stage.model.cursor = Cursor::At(Seq(40));
    stage.press("?");
    stage.fixture.store.swap(line, BranchId("b2".to_owned()));
    assert_eq!(stage.tell(Msg::News), [Request::Branches]);
    stage
}

#[test]
fn a_new_line_is_followed_and_told() {
    let mut stage = on_branch(80, 24);
    assert_eq!((stage.model.cursor, top(&stage)), (Cursor::Live, ""));
    assert_eq!(said(&stage), "new branch b2; trunk stays: B shows both, B u goes back");
    assert_eq!(stage.moment().head.head, Seq(60));
    stage.tell(Msg::Answer(Answer::Branches(Ok(twigs()))));
    assert!(screen(&stage.draw()).contains("on b2"), "{}", screen(&stage.draw()));
    // The numbers of events mean others now: what was kept of the old line is not shown.
    stage.press("Left");
    assert!(stage.moment().shown.head < Seq(60));
    stage.press("B");
    assert_eq!(stage.press("u"), [Request::Switch(BranchId("trunk".to_owned()))]);
}

#[test]
fn the_tree_of_branches() {
    for (w, h) in SIZES {
        let mut stage = on_branch(w, h);
        stage.tell(Msg::Answer(Answer::Branches(Ok(twigs()))));
        assert_eq!(stage.press("B"), [Request::Branches]);
        insta::assert_snapshot!(format!("branches_{w}x{h}"), screen(&stage.draw()));
        stage.press("A");
        stage.press("Home");
        stage.press("Down");
        insta::assert_snapshot!(format!("branches_all_{w}x{h}"), screen(&stage.draw()));
        stage.glyphs = crate::ui::glyphs::ASCII;
        assert!(screen(&stage.draw()).is_ascii(), "{}", screen(&stage.draw()));
    }
}

#[test]
fn branches_are_gone_to_named_annotated_and_put_away() {
    let id = |name: &str| BranchId(name.to_owned());
    let mut stage = on_branch(80, 24);
    stage.tell(Msg::Answer(Answer::Branches(Ok(twigs()))));
    stage.press("B");
    assert_eq!(stage.press("a"), [], "the branch at work is not put away");
    assert_eq!(said(&stage), "this is the branch at work; go to another one first");
    stage.press("r");
    stage.tell(Msg::Paste("thinks twice".to_owned()));
    insta::assert_snapshot!("branches_name_80x24", screen(&stage.draw()));
    assert_eq!(
        stage.press("Enter"),
        [Request::Relabel(id("b2"), BranchEdit::Name("thinks twice".to_owned()))]
    );
    stage.press("Up");
    stage.press("n");
    stage.tell(Msg::Paste("; see turn 4".to_owned()));
    let note = "the lesson about closed containers is enough; see turn 4".to_owned();
    assert_eq!(stage.press("Enter"), [Request::Relabel(id("b1"), BranchEdit::Note(note))]);
    stage.press("End");
    assert_eq!(stage.press("a"), [Request::Relabel(id("b4"), BranchEdit::Archived(true))]);
    // It goes out of sight; the one above is chosen.
    assert_eq!(stage.press("Up"), []);
    stage.press("Home");
    assert_eq!(stage.press("Enter"), [Request::Switch(id("trunk"))]);
    assert_eq!(top(&stage), "");
}

#[test]
fn a_world_that_differs_shows_both_texts_and_the_ways_on() {
    for (w, h) in SIZES {
        let mut stage = on_branch(w, h);
        stage.tell(Msg::Answer(Answer::Branches(Ok(twigs()))));
        let mut state = (*stage.fixture.store.head()).clone();
        let (recorded, now) = ("On the shelf 1, you see a mug 2.", "On the shelf 1, you see nothing.");
        state.divergence = Some((1, 9, recorded.to_owned(), now.to_owned()));
        let mut line = Timeline::default();
        line.push(stage.fixture.store.timeline().events_between(Seq(0), Seq(60)), Arc::new(state));
        *stage.fixture.store.timeline() = line;
        stage.model.notice = None;
        stage.tell(Msg::News);
        assert_eq!(top(&stage), "differs");
        insta::assert_snapshot!(format!("differs_{w}x{h}"), screen(&stage.draw()));
        stage.press("Down");
        assert_eq!(stage.press("Enter"), [Request::Switch(BranchId("trunk".to_owned()))]);
        stage.tell(Msg::News);
        assert_eq!(top(&stage), "", "it is shown once");
    }
}

#[test]
fn a_branch_of_the_tree_is_put_beside_the_one_at_work() {
    let mut stage = on_branch(120, 36);
    stage.press("B");
    stage.tell(Msg::Answer(Answer::Branches(Ok(twigs()))));
    let wants = stage.press("D");
    assert!(wants.is_empty() && said(&stage).contains("another branch"), "the one at work: {}", said(&stage));
    stage.press("k");
    let wants = stage.press("D");
    let [Request::Compare { a, b }] = wants.as_slice() else { panic!("{wants:?}") };
    assert!(a.branch.is_none() && b.branch.is_some(), "{a:?} {b:?}");
    assert_eq!(top(&stage), "compare");
    stage.press("q");
    assert_eq!(top(&stage), "branches", "and back to the tree");
}

/// The field closed, the old name stayed, and nothing said so.
#[test]
fn a_name_that_is_refused_stays_in_its_field_with_the_reason() {
    for (w, h) in SIZES {
        let mut stage = on_branch(w, h);
        stage.tell(Msg::Answer(Answer::Branches(Ok(twigs()))));
        stage.press("B");
        stage.press("r");
        stage.tell(Msg::Paste("me@home".to_owned()));
        assert_eq!(stage.press("Enter").len(), 1);
        stage.tell(Msg::Answer(Answer::Branches(Err("`@` in a name cannot be read".to_owned()))));
        let shown = screen(&stage.draw());
        assert!(shown.contains("name  me@home"), "{shown}");
        assert!(shown.contains("`@` in a name cannot be read"), "{shown}");
        assert!(shown.contains("├ with a lesson") || shown.contains("├ with"), "the tree stays: {shown}");
        stage.tell(Msg::Paste("x".to_owned()));
        let id = BranchId("b2".to_owned());
        assert_eq!(stage.press("Enter"), [Request::Relabel(id, BranchEdit::Name("me@homex".to_owned()))]);
        stage.tell(Msg::Answer(Answer::Branches(Ok(twigs()))));
        assert!(!screen(&stage.draw()).contains("name  me"), "it was taken");
    }
}

#[test]
fn a_long_note_is_shown_whole_or_says_that_it_is_cut() {
    let words: Vec<String> = (1..=60).map(|n| format!("word{n}")).collect();
    let mut all = twigs().to_vec();
    all[1].note = words.join(" ");
    all[1].root = "lesson added: open a closed receptacle before you look into it".to_owned();
    for (w, h) in SIZES {
        let mut stage = on_branch(w, h);
        stage.tell(Msg::Answer(Answer::Branches(Ok(all.clone().into()))));
        stage.press("B");
        stage.press("Up");
        let shown = screen(&stage.draw());
        assert!(shown.contains("note     word1 "), "{w}x{h}: {shown}");
        assert!(shown.contains("lesson added: open a closed"), "{w}x{h}: {shown}");
        assert!(shown.contains("word60") || h < 36, "{w}x{h}: {shown}");
        let note = shown.lines().rfind(|l| l.contains(" word")).unwrap();
        assert!(shown.contains("word60") || note.contains('…'), "{w}x{h}: {shown}");
    }
}

#[test]
fn where_outcomes_have_few_columns_the_fact_stands_first() {
    let mut stage = on_branch(80, 24);
    let mut all = twigs().to_vec();
    all[0].outcome = "open after turn 12".to_owned();
    all[1].outcome = "not won: out of turns".to_owned();
    all[2].outcome = "episode 2 open after turn 12".to_owned();
    stage.tell(Msg::Answer(Answer::Branches(Ok(all.into()))));
    stage.press("B");
    let shown = screen(&stage.draw());
    for words in ["turn 12, open ", "lost: turns ", "turn 12 of ep. 2 "] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}
