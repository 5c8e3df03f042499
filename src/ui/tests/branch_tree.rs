//! The branch tree, switching branches, and a rebuilt world that differs.

use super::{SIZES, TestScreen, screen_text};
use crate::domain::{BranchId, EndReason, EpisodeSummary, Seq};
use crate::report::StepRef;
use crate::timeline::Timeline;
use crate::ui::branches::{BranchEdit, BranchInfo};
use crate::ui::chapters::Chapter;
use crate::ui::fixture::sample_session;
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::types::Cursor;
use crate::ui::types::WorkKind;
use std::sync::Arc;

fn top_overlay(stage: &TestScreen) -> &'static str {
    stage.compositor.overlays().last().map_or("", |o| o.name())
}

fn notice_text(stage: &TestScreen) -> String {
    stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default()
}

fn branch(id: &str, parent: Option<&str>, at: u64, reason: &str) -> BranchInfo {
    BranchInfo {
        outcome: "in progress at step 24".to_owned(),
        steps: 24,
        tokens: 29_040,
        reason: reason.to_owned(),
        first_change: reason.to_owned(),
        created: "2026-11-20 10:40:00Z".to_owned(),
        ..BranchInfo::sample(id, parent, at)
    }
}

fn branches() -> Arc<[BranchInfo]> {
    let won = BranchInfo {
        name: "with a lesson".to_owned(),
        note: "the lesson about closed containers is enough".to_owned(),
        outcome: "won".to_owned(),
        steps: 17,
        tokens: 20_570,
        ..branch("b1", Some("trunk"), 38, "after step 4: lesson added")
    };
    let off = BranchInfo {
        archived: true,
        ..branch("b3", Some("trunk"), 60, "step 9: another action, go to shelf 1")
    };
    let last = BranchInfo {
        outcome: "lost (step limit)".to_owned(),
        ..branch("b4", Some("trunk"), 90, "after step 12: method reflexion")
    };
    [
        branch("trunk", None, 0, "start"),
        won,
        branch("b2", Some("b1"), 52, "step 7: another thought"),
        off,
        last,
    ]
    .into()
}

/// A screen whose store has just switched to branch b2.
fn screen_on_other_branch(w: u16, h: u16) -> TestScreen {
    let mut stage = TestScreen::new(sample_session(), w, h);
    stage.send(UiMessage::StoreChanged);
    stage.send(UiMessage::Answer(Answer::Branches(Ok([branch("trunk", None, 0, "start")].into()))));
    let mut timeline = Timeline::default();
    let to = Seq(60);
    let store = &stage.fixture.store;
    let events = store.timeline().events_between(Seq(0), to);
    timeline.push(events, store.state_at(to));
    stage.model.cursor = Cursor::At(Seq(40));
    stage.press("?");
    stage.fixture.store.swap_branch(timeline, BranchId("b2".to_owned()));
    assert_eq!(stage.send(UiMessage::StoreChanged), [Request::LoadBranches]);
    stage
}

#[test]
fn a_new_branch_is_followed_and_announced() {
    let mut stage = screen_on_other_branch(80, 24);
    assert_eq!((stage.model.cursor, top_overlay(&stage)), (Cursor::Live, ""));
    assert_eq!(notice_text(&stage), "new branch b2, trunk is kept; B lists both, B then u goes back");
    assert_eq!(stage.frame_data().head.head, Seq(60));
    stage.send(UiMessage::Answer(Answer::Branches(Ok(branches()))));
    assert!(screen_text(&stage.draw()).contains("on b2"), "{}", screen_text(&stage.draw()));
    // Sequence numbers now name other events: nothing cached from the old branch is shown.
    stage.press("Left");
    assert!(stage.frame_data().displayed.head < Seq(60));
    stage.press("B");
    assert_eq!(stage.press("u"), [Request::SwitchBranch(BranchId("trunk".to_owned()))]);
}

/// Regression: the keys that change branches were offered, and a whole note was typed before it was refused.
#[test]
fn a_read_only_session_only_shows_and_compares_its_branches() {
    let mut stage = screen_on_other_branch(120, 36);
    stage.send(UiMessage::Answer(Answer::Branches(Ok(branches()))));
    stage.fixture.store.edit_live(|live| live.health = crate::driver::Health::ReadOnly);
    stage.press("B");
    let shown = screen_text(&stage.draw());
    for hint in ["Enter switch", "r name", "n note", "a archive", "Space mark", "u back"] {
        assert!(!shown.contains(hint), "{hint}: {shown}");
    }
    assert!(shown.contains("D compare"), "{shown}");
    stage.press("Up");
    for key in ["Enter", "r", "n", "a", "Space", "u"] {
        stage.model.notice = None;
        assert_eq!(stage.press(key), [], "{key}");
        assert!(notice_text(&stage).starts_with("read-only"), "{key}: {}", notice_text(&stage));
        assert_eq!(top_overlay(&stage), "branches", "{key}");
        assert!(!screen_text(&stage.draw()).contains("Enter done"), "{key}");
    }
    assert!(!stage.press("D").is_empty());
}

#[test]
fn the_tree_of_branches() {
    for (w, h) in SIZES {
        let mut stage = screen_on_other_branch(w, h);
        stage.send(UiMessage::Answer(Answer::Branches(Ok(branches()))));
        assert_eq!(stage.press("B"), [Request::LoadBranches]);
        insta::assert_snapshot!(format!("branches_{w}x{h}"), screen_text(&stage.draw()));
        stage.press("A");
        stage.press("Home");
        stage.press("Down");
        insta::assert_snapshot!(format!("branches_all_{w}x{h}"), screen_text(&stage.draw()));
        stage.glyphs = crate::ui::glyphs::ASCII;
        assert!(screen_text(&stage.draw()).is_ascii(), "{}", screen_text(&stage.draw()));
    }
}

#[test]
fn branches_are_switched_named_annotated_and_archived() {
    let id = |name: &str| BranchId(name.to_owned());
    let mut stage = screen_on_other_branch(80, 24);
    stage.send(UiMessage::Answer(Answer::Branches(Ok(branches()))));
    stage.press("B");
    assert_eq!(stage.press("a"), [], "the active branch can't be archived");
    assert_eq!(notice_text(&stage), "can't archive the active branch; switch to another branch first");
    stage.press("r");
    stage.send(UiMessage::Paste("thinks twice".to_owned()));
    insta::assert_snapshot!("branches_name_80x24", screen_text(&stage.draw()));
    assert_eq!(
        stage.press("Enter"),
        [Request::EditBranches(vec![(id("b2"), BranchEdit::Name("thinks twice".to_owned()))])]
    );
    stage.press("Up");
    stage.press("n");
    stage.send(UiMessage::Paste("; see step 4".to_owned()));
    let note = "the lesson about closed containers is enough; see step 4".to_owned();
    assert_eq!(stage.press("Enter"), [Request::EditBranches(vec![(id("b1"), BranchEdit::Note(note))])]);
    stage.press("End");
    assert_eq!(stage.press("a"), [Request::EditBranches(vec![(id("b4"), BranchEdit::Archived(true))])]);
    // It disappears from the list, and the row above is selected.
    assert_eq!(stage.press("Up"), []);
    stage.press("Home");
    assert_eq!(stage.press("Enter"), [Request::SwitchBranch(id("trunk"))]);
    assert_eq!(top_overlay(&stage), "");
}

#[test]
fn marked_branches_are_archived_together() {
    let archive = |ids: &[&str]| {
        let edit = |id: &&str| (BranchId((*id).to_owned()), BranchEdit::Archived(true));
        Request::EditBranches(ids.iter().map(edit).collect())
    };
    let mut stage = screen_on_other_branch(80, 24);
    stage.send(UiMessage::Answer(Answer::Branches(Ok(branches()))));
    stage.press("B");
    // Marking the active branch moves down, to b4.
    for key in ["Space", "Space"] {
        assert_eq!(stage.press(key), []);
    }
    assert_eq!(stage.press("a"), []);
    assert_eq!(notice_text(&stage), "can't archive the active branch; switch to another branch first");
    for key in ["Up", "Space", "Home", "Down", "Space"] {
        stage.press(key);
    }
    stage.send(UiMessage::Answer(Answer::Branches(Ok(branches()))));
    insta::assert_snapshot!("branches_marked_80x24", screen_text(&stage.draw()));
    let glyphs = std::mem::replace(&mut stage.glyphs, crate::ui::glyphs::ASCII);
    assert!(screen_text(&stage.draw()).contains(" *+ with"), "{}", screen_text(&stage.draw()));
    stage.glyphs = glyphs;
    assert_eq!(stage.press("a"), [archive(&["b1", "b4"])]);
    assert!(!screen_text(&stage.draw()).contains("marked"));
    // Without marks, the selected branch is archived, and the selection moves up.
    stage.press("End");
    assert_eq!((stage.press("a"), stage.press("a")), (vec![archive(&["b4"])], vec![]));
    // Esc removes the marks first.
    stage.press("Space");
    for expected in ["branches", ""] {
        stage.press("Esc");
        assert_eq!(top_overlay(&stage), expected);
    }
}

#[test]
fn a_diverged_world_shows_both_texts_and_the_choices() {
    for (w, h) in SIZES {
        let mut stage = screen_on_other_branch(w, h);
        stage.send(UiMessage::Answer(Answer::Branches(Ok(branches()))));
        let mut state = (*stage.fixture.store.head()).clone();
        let (recorded, now) = ("On the shelf 1, you see a mug 2.", "On the shelf 1, you see nothing.");
        state.divergence = Some((1, 9, recorded.to_owned(), now.to_owned()));
        let mut timeline = Timeline::default();
        timeline.push(stage.fixture.store.timeline().events_between(Seq(0), Seq(60)), Arc::new(state));
        stage.fixture.store.set_timeline(timeline, stage.fixture.store.branch());
        stage.model.notice = None;
        stage.send(UiMessage::StoreChanged);
        assert_eq!(top_overlay(&stage), "differs");
        insta::assert_snapshot!(format!("differs_{w}x{h}"), screen_text(&stage.draw()));
        stage.press("Down");
        assert_eq!(stage.press("Enter"), [Request::SwitchBranch(BranchId("trunk".to_owned()))]);
        stage.send(UiMessage::StoreChanged);
        assert_eq!(top_overlay(&stage), "", "shown only once");
    }
}

#[test]
fn a_branch_can_be_compared_with_the_active_one() {
    let mut stage = screen_on_other_branch(120, 36);
    stage.press("B");
    stage.send(UiMessage::Answer(Answer::Branches(Ok(branches()))));
    let requests = stage.press("D");
    assert!(
        requests.is_empty() && notice_text(&stage).contains("other than the active one"),
        "on the active branch: {}",
        notice_text(&stage)
    );
    stage.press("k");
    let requests = stage.press("D");
    let [Request::Compare { a, b }] = requests.as_slice() else { panic!("{requests:?}") };
    assert!(a.branch.is_none() && b.branch.is_some(), "{a:?} {b:?}");
    assert_eq!(top_overlay(&stage), "compare");
    stage.press("q");
    assert_eq!(top_overlay(&stage), "branches", "closing it returns to the tree");
}

/// Regression: an invalid name closed the field silently, and the old name stayed.
#[test]
fn a_name_that_is_refused_stays_in_its_field_with_the_reason() {
    for (w, h) in SIZES {
        let mut stage = screen_on_other_branch(w, h);
        stage.send(UiMessage::Answer(Answer::Branches(Ok(branches()))));
        stage.press("B");
        stage.press("r");
        stage.send(UiMessage::Paste("me@home".to_owned()));
        assert_eq!(stage.press("Enter").len(), 1);
        stage.send(UiMessage::Answer(Answer::Branches(Err("`@` in a name cannot be read".to_owned()))));
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("name  me@home"), "{shown}");
        assert!(shown.contains("`@` in a name cannot be read"), "{shown}");
        assert!(shown.contains("├ with a lesson") || shown.contains("├ with"), "the tree stays: {shown}");
        stage.send(UiMessage::Paste("x".to_owned()));
        let id = BranchId("b2".to_owned());
        let edit = (id, BranchEdit::Name("me@homex".to_owned()));
        assert_eq!(stage.press("Enter"), [Request::EditBranches(vec![edit])]);
        stage.send(UiMessage::Answer(Answer::Branches(Ok(branches()))));
        assert!(!screen_text(&stage.draw()).contains("name  me"), "the name was accepted");
    }
}

#[test]
fn a_long_note_is_shown_completely_or_marked_as_cut() {
    let words: Vec<String> = (1..=60).map(|n| format!("word{n}")).collect();
    let mut all = branches().to_vec();
    all[1].note = words.join(" ");
    all[1].first_change = "lesson added: open a closed receptacle before you look into it".to_owned();
    for (w, h) in SIZES {
        let mut stage = screen_on_other_branch(w, h);
        stage.send(UiMessage::Answer(Answer::Branches(Ok(all.clone().into()))));
        stage.press("B");
        stage.press("Up");
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("note     word1 "), "{w}x{h}: {shown}");
        assert!(shown.contains("lesson added: open a closed"), "{w}x{h}: {shown}");
        assert!(shown.contains("word60") || h < 36, "{w}x{h}: {shown}");
        let note = shown.lines().rfind(|l| l.contains(" word")).unwrap();
        assert!(shown.contains("word60") || note.contains('…'), "{w}x{h}: {shown}");
    }
}

#[test]
fn narrow_outcomes_begin_with_the_essential_fact() {
    let mut stage = screen_on_other_branch(80, 24);
    let mut all = branches().to_vec();
    all[0].outcome = "in progress at step 12".to_owned();
    all[1].outcome = "lost (step limit)".to_owned();
    all[2].outcome = "episode 2 in progress at step 12".to_owned();
    stage.send(UiMessage::Answer(Answer::Branches(Ok(all.into()))));
    stage.press("B");
    let shown = screen_text(&stage.draw());
    for words in ["at step 12 ", "lost: step ", "at step 12 of ep. 2 "] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

/// Regression: answers went to the topmost overlay only, so that the tree below a comparison missed them.
#[test]
fn the_tree_below_a_comparison_hears_of_its_branches() {
    let mut stage = screen_on_other_branch(120, 36);
    stage.press("B");
    stage.send(UiMessage::Answer(Answer::Branches(Ok(branches()))));
    stage.press("k");
    stage.press("D");
    assert_eq!(top_overlay(&stage), "compare");
    let mut renamed = branches().to_vec();
    for branch in &mut renamed {
        "renamed meanwhile".clone_into(&mut branch.name);
    }
    stage.send(UiMessage::Answer(Answer::Branches(Ok(renamed.into()))));
    stage.press("q");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("renamed meanwhile"), "{shown}");
    // Regression: the reason of a failed edit was lost while another overlay covered the tree.
    stage.press("D");
    stage.send(UiMessage::Answer(Answer::Branches(Err("labels.jsonl can't be written".to_owned()))));
    assert_eq!(notice_text(&stage), "labels.jsonl can't be written");
}

#[test]
fn work_that_crashed_closes_what_waits_for_it() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    stage.press("B");
    assert_eq!(stage.compositor.overlays().len(), 1);
    stage.send(UiMessage::Answer(Answer::WorkCrashed(WorkKind::Branches)));
    assert!(stage.compositor.overlays().is_empty());
    assert!(notice_text(&stage).contains("crashed"), "{}", notice_text(&stage));
}

/// A branch of a demo, which doesn't know when it began, ended in "created"; and a single branch offered to compare it.
#[test]
fn a_branch_without_a_date_is_not_said_to_be_created() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    stage.press("B");
    let only = BranchInfo { created: String::new(), ..branch("trunk", None, 0, "start") };
    stage.send(UiMessage::Answer(Answer::Branches(Ok([only].into()))));
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("the session's first") && !shown.contains("created"), "{shown}");
    assert!(shown.contains("r name") && !shown.contains("D compare") && !shown.contains("u back"), "{shown}");
}

/// Regression: the timeline said nothing of branches.
#[test]
fn forks_are_marks_on_the_timeline() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    let fork = stage.fixture.state().episode.as_ref().unwrap().step(5).unwrap().first_seq.0 - 1;
    let forks = [branch("trunk", None, 0, "start"), branch("b1", Some("trunk"), fork, "after step 4")];
    assert!(!screen_text(&stage.draw()).contains("a branch was forked"));
    stage.send(UiMessage::Answer(Answer::Branches(Ok(forks.into()))));
    stage.press("Home");
    stage.model.mark_filter.toggle_only(crate::ui::mark::MarkKind::Branch);
    stage.press(">");
    assert_eq!(stage.frame_data().selected_step(), 4);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("Y step 4 a branch was forked"), "{shown}");
}

/// Regression: the tree called an assisted play `won`, as if the agent had done it alone.
#[test]
fn the_tree_says_that_a_person_helped() {
    let mut fixture = sample_session();
    fixture.end_episode(true, EndReason::Won);
    let last = fixture.state().ended_episodes.last().map(|summary| Arc::new(EpisodeSummary::clone(summary)));
    assert!(last.as_ref().is_some_and(|last| last.assisted), "the sample has an override");
    for (width, height) in SIZES {
        let mut stage = TestScreen::new(sample_session(), width, height);
        let won =
            BranchInfo { outcome: "won".to_owned(), last: last.clone(), ..branch("trunk", None, 0, "start") };
        stage.press("B");
        stage.send(UiMessage::Answer(Answer::Branches(Ok([won].into()))));
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("won, assisted"), "{shown}");
    }
}

/// Regression: in a demo, which doesn't tell its end, each step on the way to a fork had the mark of it.
#[test]
fn a_demo_shows_a_fork_where_it_is_and_not_before() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    let episode = stage.fixture.state().episode.clone().unwrap();
    let last_event = |step: u32| episode.step(step + 1).unwrap().first_seq.0 - 1;
    let forks =
        [branch("trunk", None, 0, "start"), branch("b1", Some("trunk"), last_event(4), "after step 4")];
    stage.send(UiMessage::Answer(Answer::Branches(Ok(forks.into()))));
    let chapter = |step| Chapter {
        at: StepRef { episode: 1, step },
        text: "Watch.".to_owned(),
        pace: 1,
        measurement: None,
        position: None,
    };
    stage.model.chapters = [chapter(0)].into();
    for step in 1..=4 {
        stage.model.cursor = Cursor::At(Seq(last_event(step)));
        let shown = screen_text(&stage.draw());
        assert_eq!(shown.contains("a branch was forked"), step == 4, "{step}: {shown}");
    }
}
