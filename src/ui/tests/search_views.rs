//! The searches of a method that tunes its advice: the lane with their rewards and its curve, and the picture.

use super::{SIZES, TestScreen, screen_text};
use crate::domain::{
    Author, LessonOp, LessonOrigin, LessonStatus, LessonText, Purpose, Question, ReflectionKind,
};
use crate::engine::{Cause, Event};
use crate::ui::fixture::{Fixture, dora, dora_long, dora_searches, rci};
use crate::ui::glyphs::ASCII;
use crate::ui::msg::UiMessage;

/// The lane with the rewards is the third one.
const OBJECTIVE_KEY: &str = "5";

fn screen(width: u16, height: u16) -> TestScreen {
    let mut screen = TestScreen::new(dora_searches(), width, height);
    screen.draw();
    screen.press(OBJECTIVE_KEY);
    screen
}

#[test]
fn the_lane_of_the_objective_has_a_curve() {
    for (w, h) in SIZES {
        insta::assert_snapshot!(format!("objective_{w}x{h}"), screen_text(&screen(w, h).draw()));
    }
    let mut zoomed = screen(80, 24);
    zoomed.press("z");
    insta::assert_snapshot!("objective_zoomed_80x24", screen_text(&zoomed.draw()));
    let mut ascii = screen(80, 24);
    ascii.glyphs = ASCII;
    let shown = screen_text(&ascii.draw());
    assert!(shown.is_ascii(), "{shown}");
    let curve = shown.lines().find(|line| line.trim_start().starts_with("0.31 ")).unwrap_or_default();
    assert!(curve.contains("##") && curve.contains("0.61"), "{shown}");
}

/// The numbers come first: whatever the size, the newest record's first line is there.
#[test]
fn the_first_line_of_the_newest_record_is_shown_at_every_size() {
    for (w, h) in [(60, 16), (80, 24), (104, 20), (104, 30), (120, 36), (160, 20), (160, 40), (200, 60)] {
        let shown = screen_text(&screen(w, h).draw());
        assert!(shown.contains("Evaluation 13: 0.590"), "{w}x{h}\n{shown}");
    }
}

/// Regression: the step beside a record took the room of its best reward.
#[test]
fn a_record_on_one_row_has_its_best_reward() {
    let shown = screen_text(&TestScreen::new(dora_long(), 120, 36).draw());
    let record = shown.lines().find(|line| line.contains("Evaluation 13: 0.590")).unwrap();
    assert!(record.contains("best 0.608"), "{shown}");
}

/// Regression: with more advice than rows, the lanes showed no reward of any advice, no expected improvement, and not how many
/// evaluations were left.
#[test]
fn long_lanes_keep_what_the_search_is_about() {
    for (w, h) in [(120, 36), (200, 60)] {
        let mut screen = TestScreen::new(dora_long(), w, h);
        let shown = screen_text(&screen.draw());
        if w == 120 {
            insta::assert_snapshot!("long_search_120x36", shown);
        }
        let curve = ["0.61", "33 left, EI 0.187", "Evaluation 13: 0.590"];
        let newest = ["evaluation 13, reward 0.59", "effective 17, ineffective 2, toxic 1"];
        let prompter = if w < 160 {
            "text steering, no soft prompt"
        } else {
            "text steering, not the paper's soft prompt"
        };
        for words in curve.iter().chain(&newest).chain(&[prompter]) {
            assert!(shown.contains(words), "{words} {w}x{h}\n{shown}");
        }
        // Another one is selected: the newest stays. Where not all have a row, a mark says that there are others between.
        screen.press("4");
        for _ in 0..22 {
            screen.press("Down");
        }
        let shown = screen_text(&screen.draw());
        assert_eq!(shown.contains('\u{2191}'), h < 60, "{w}x{h}\n{shown}");
        let selected = ["evaluation 6, reward 0.48", "effect not measured"];
        for words in curve.iter().chain(&newest).chain(&selected) {
            assert!(shown.contains(words), "{words} {w}x{h}\n{shown}");
        }
    }
}

#[test]
fn the_picture_shows_each_search_of_the_run() {
    for (w, h) in SIZES {
        let mut screen = screen(w, h);
        screen.press("*");
        insta::assert_snapshot!(format!("search_picture_{w}x{h}"), screen_text(&screen.draw()));
        for (key, number) in [("Tab", 1), ("Right", 2), ("Left", 1), ("h", 2), ("l", 1)] {
            screen.press(key);
            let shown = screen_text(&screen.draw());
            assert!(shown.contains(&format!("Search {number} of 2")), "{key}: {shown}");
        }
        let shown = screen_text(&screen.draw());
        assert!(shown.contains("Search 1 of 2, pick_and_place_simple: 3"), "{shown}");
        assert!(shown.contains("next type of tasks"), "{shown}");
    }
    // One search: no key to change it.
    let mut only = TestScreen::new(crate::ui::fixture::dora(), 120, 36);
    only.press("*");
    let shown = screen_text(&only.draw());
    assert!(shown.contains("Search: 1 of at most 46") && !shown.contains("next type of tasks"), "{shown}");
}

/// Regression: a person's instruction was marked as ignored by the rule-based actor, which never reads one, and the step offered to
/// ask the actor again with it.
#[test]
fn an_instruction_is_read_by_the_mentor_and_not_by_the_actor() {
    let mut fixture = dora();
    let text = LessonText::plain("Answer with one word about the fridge.");
    fixture.add_lesson(ReflectionKind::Instruction, text, LessonOrigin::Person);
    let mut screen = TestScreen::new(fixture, 120, 36);
    screen.draw();
    screen.press("3");
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("Answer with one word"), "{shown}");
    assert!(!shown.contains("ignored") && !shown.contains("ask with the lesson"), "{shown}");
    // The editor says whom a new one reaches, and that it doesn't replace the other.
    screen.press("a");
    screen.send(UiMessage::Paste("Say what the goal names first.".to_owned()));
    let editor = screen_text(&screen.draw());
    assert!(editor.contains("Enters the mentor's next question"), "{editor}");
    screen.press("Enter");
    let notice = screen.model.notice.as_ref().map(|notice| notice.text.clone()).unwrap_or_default();
    assert!(notice.contains("the mentor reads it in its next question, after the 2 others"), "{notice}");
    assert!(!notice.contains("rules ignore") && !notice.contains("retries this step"), "{notice}");
}

/// Regression: the lane of the criticism said "all were deleted or undone" as soon as the improved plan had replaced it.
#[test]
fn a_criticism_that_was_replaced_is_not_called_deleted() {
    let mut fixture = rci();
    let id = fixture.state().pool.active_of_kind(ReflectionKind::Negative).next().unwrap().id.clone();
    let (previous, status) = (LessonStatus::On, LessonStatus::Retired);
    let op = Box::new(LessonOp::Status { id, previous, status, merged_into: None });
    fixture.write(Cause::Policy, Event::LessonChanged { op, author: Author::Mentor });
    let shown = screen_text(&TestScreen::new(fixture, 120, 36).draw());
    assert!(shown.contains("what is wrong with the plan"), "{shown}");
    assert!(!shown.contains("deleted or undone"), "{shown}");
}

/// Regression: the story cut a plan after two rows, and no key showed the rest there.
#[test]
fn a_plan_in_the_story_unfolds_with_the_reasoning() {
    let mut fixture = Fixture::for_method("rci", "openai:small", 1);
    fixture.begin_episode();
    let draft = Question { kind: ReflectionKind::Plan, purpose: Purpose::Draft };
    let call = fixture.ask_mentor(&[draft])[0];
    let plan = "Take the apple from countertop 2.\nHeat it with microwave 1.\nOpen fridge 1.\nPut it in the coldest part.";
    fixture.write_reflection(draft, &[plan], &[], Vec::new(), Some(call));
    fixture.propose(None, Some("go to countertop 2"));
    fixture.pause();
    let mut screen = TestScreen::new(fixture, 120, 36);
    assert!(!screen_text(&screen.draw()).contains("coldest part"));
    screen.press("f");
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("coldest part"), "{shown}");
}

/// Regression: beside the words of an edited instruction stood "rules, edited by you", so that they had 20 columns, and the row of its
/// vector was missing; a pin didn't say that it fixes the vector.
#[test]
fn an_edited_instruction_keeps_its_room_and_its_vector() {
    let mut fixture = dora();
    let lesson = fixture.state().pool.active_of_kind(ReflectionKind::Instruction).next().unwrap().clone();
    let mut screen = TestScreen::new(dora(), 120, 36);
    screen.draw();
    screen.press("3");
    screen.press("P");
    let notice = screen.model.notice.as_ref().map(|notice| notice.text.clone()).unwrap_or_default();
    assert!(notice.contains("pinned: fixes its vector; only you can remove it"), "{notice}");
    let text = LessonText::plain(
        "Look at which part of the goal was never reached, and say what to do about it first of all.",
    );
    let op = Box::new(LessonOp::Edit { id: lesson.id.clone(), previous: lesson.text().clone(), text });
    fixture.write(Cause::Person, Event::LessonChanged { op, author: Author::Person });
    let shown = screen_text(&TestScreen::new(fixture, 120, 36).draw());
    assert!(shown.contains("Look at which part of the goal"), "{shown}");
    assert!(
        shown.contains("edited: not given to the optimiser") && shown.contains("v2, |v| 0.56"),
        "{shown}"
    );
    assert!(!shown.contains("edited by you"), "{shown}");
}

/// Regression: the lane showed "trial 3/2", although the method's budget decides how often a task is played.
#[test]
fn a_search_names_its_attempts_and_no_limit_of_trials() {
    let third_trial = || {
        let mut fixture = Fixture::for_method("dora", "openai:small", 2);
        for _ in 0..3 {
            fixture.begin_episode();
            fixture.actor_step("look", "A room.", 0.0, serde_json::Value::Null);
            fixture.end_episode(false, crate::domain::EndReason::StepLimit);
        }
        fixture
    };
    for (w, h) in SIZES {
        let shown = screen_text(&TestScreen::new(third_trial(), w, h).draw());
        assert!(shown.contains("evaluation 1") && !shown.contains("/2"), "{w}x{h}\n{shown}");
    }
}

/// Regression: a task that was played again was in "trial 3/2".
#[test]
fn a_trial_beyond_the_planned_ones_has_no_limit() {
    let mut fixture = Fixture::for_method("reflexion", "symbolic", 2);
    for _ in 0..3 {
        fixture.begin_episode();
        fixture.actor_step("look", "A room.", 0.0, serde_json::Value::Null);
        fixture.end_episode(false, crate::domain::EndReason::StepLimit);
    }
    let shown = screen_text(&TestScreen::new(fixture, 120, 36).draw());
    assert!(shown.contains("trial 3") && !shown.contains("trial 3/"), "{shown}");
}
