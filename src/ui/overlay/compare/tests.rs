//! Tests of comparing a lost and a won trial: snapshots at four sizes, keys, and requests.

use super::*;
use crate::domain::{DecidedBy, EndReason, LessonOrigin, LessonText, ReflectionKind};
use crate::engine::{Cause, Event};
use crate::ui::compare::{compare_episodes, load_prior_differences};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::tests::{SIZES, TestScreen, screen_text};
use crate::ui::theme::Theme;
use crate::ui::types::{EpisodeRef, WorkProgress};
use serde_json::{Value, json};

/// Returns the sample session after two trials: the first is lost; the second starts with the same steps, gets a lesson
/// and is won.
fn two_trials() -> Fixture {
    let mut f = sample_session();
    f.execute(
        "go to stoveburner 1",
        DecidedBy::Actor,
        "On the stoveburner 1, you see a kettle 1.",
        0.5,
        Value::Null,
    );
    f.end_episode(false, EndReason::StepLimit);
    f.begin_episode();
    f.thinking_step("To solve the task, I need to find an apple, take it, heat it with the microwave and put it in the fridge.");
    f.thinking_step(
        "An apple is more likely in a fridge, on a diningtable or on a countertop. I begin with the fridge.",
    );
    f.add_lesson(
        ReflectionKind::Error,
        LessonText::plain("Look on the countertops first."),
        LessonOrigin::Person,
    );
    f.actor_step(
        "go to countertop 2",
        "On the countertop 2, you see a apple 1, a knife 1, and a mug 2.",
        0.25,
        json!({"place": "countertop 2"}),
    );
    f.actor_step(
        "take apple 1 from countertop 2",
        "You pick up the apple 1 from the countertop 2.",
        0.5,
        Value::Null,
    );
    f.actor_step("go to microwave 1", "The microwave 1 is closed.", 0.5, Value::Null);
    f.actor_step(
        "heat apple 1 with microwave 1",
        "You heat the apple 1 using the microwave 1.",
        0.75,
        Value::Null,
    );
    f.actor_step("go to fridge 1", "The fridge 1 is closed.", 0.75, Value::Null);
    f.actor_step("put apple 1 in/on fridge 1", "You put the apple 1 in/on the fridge 1.", 1.0, Value::Null);
    f.end_episode(true, EndReason::Won);
    f
}

/// Answers requests as the background thread does.
fn answer_requests(stage: &mut TestScreen, requests: Vec<Request>) {
    for request in requests {
        let answer = match request {
            Request::Compare { a, b } => {
                let found = compare_episodes(&stage.fixture.store, None, &a, &b, &WorkProgress::default());
                Answer::Compared { a: Box::new(a), b: Box::new(b), result: found }
            }
            Request::LoadPriorDifferences { comparison, row } => {
                let before = load_prior_differences(&comparison.0, row, &WorkProgress::default());
                Answer::PriorDifferences { comparison, row, before }
            }
            Request::ListComparable => Answer::Comparable(Ok(vec![
                EpisodeRef {
                    session: Some("elsewhere".to_owned()),
                    title: "20261119T081500Z-hot-apple-zz: household, react, rules; 0 of 1 won".to_owned(),
                    ..EpisodeRef::default()
                },
                EpisodeRef {
                    branch: Some("b2".to_owned()),
                    title: "branch b2: from step 9, another action".to_owned(),
                    ..EpisodeRef::default()
                },
            ])),
            other => panic!("{other:?}"),
        };
        stage.send(UiMessage::Answer(answer));
    }
}

/// Presses a key and answers the requests it makes.
fn press(stage: &mut TestScreen, key: &str) {
    let requests = stage.press(key);
    answer_requests(stage, requests);
}

fn open_comparison(w: u16, h: u16) -> TestScreen {
    let mut stage = TestScreen::new(two_trials(), w, h);
    press(&mut stage, "D");
    press(&mut stage, "Enter");
    stage
}

#[test]
fn choosing_the_other_side_shows_the_first_difference() {
    for (w, h) in SIZES {
        let mut stage = TestScreen::new(two_trials(), w, h);
        press(&mut stage, "D");
        insta::assert_snapshot!(format!("choose_{w}x{h}"), screen_text(&stage.draw()));
        press(&mut stage, "Enter");
        insta::assert_snapshot!(format!("rows_{w}x{h}"), screen_text(&stage.draw()));
        press(&mut stage, "Enter");
        insta::assert_snapshot!(format!("details_{w}x{h}"), screen_text(&stage.draw()));
        press(&mut stage, "Esc");
        press(&mut stage, "q");
        assert!(stage.compositor.overlays().is_empty());
    }
}

#[test]
fn rows_in_which_nothing_differs_are_folded_and_unfold() {
    let mut stage = open_comparison(120, 36);
    let folded = screen_text(&stage.draw());
    let (fold, step) = ("the start and 2 steps the same", "  1 think To solve the task");
    assert!(folded.contains(fold) && !folded.contains(step), "{folded}");
    // The fold is selected like a row; Enter unfolds it, a second one opens the details.
    press(&mut stage, "Home");
    assert!(screen_text(&stage.draw()).contains("the same; Enter shows them"));
    press(&mut stage, "Enter");
    let unfolded = screen_text(&stage.draw());
    assert!(!unfolded.contains(fold) && unfolded.contains(step), "{unfolded}");
    press(&mut stage, "d");
    let all = screen_text(&stage.draw());
    assert!(all.contains(step), "the first press unfolds all rows: {all}");
    press(&mut stage, "d");
    assert!(screen_text(&stage.draw()).contains(fold));
}

/// Regression: 40 steps that only one side has were 40 rows, the other side's first different step was far below, and a
/// setting stood in none of the columns.
#[test]
fn many_steps_of_one_side_are_folded_and_the_first_different_ones_stand_side_by_side() {
    let mut f = Fixture::new();
    f.begin_episode();
    f.actor_step("look", "A kitchen.", 0.0, Value::Null);
    for number in 0..9 {
        f.actor_step(&format!("open drawer {number}"), "It is empty.", 0.0, Value::Null);
    }
    f.end_episode(false, EndReason::StepLimit);
    f.begin_episode();
    f.write(Cause::Person, Event::SettingChanged { name: "r_freq".to_owned(), value: json!(3) });
    f.actor_step("look", "A kitchen.", 0.0, Value::Null);
    f.actor_step("take mug 1", "You take it.", 0.5, Value::Null);
    f.propose(None, Some("dance"));
    let mut stage = TestScreen::new(f, 120, 36);
    press(&mut stage, "D");
    press(&mut stage, "Enter");
    let text = screen_text(&stage.draw());
    let row = |words: &str| {
        text.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {text}")).to_owned()
    };
    assert!(row("2 > open drawer 0").contains("2 > take mug 1"), "{text}");
    let (fold, divider) = ("8 steps (3 to 10) only in A", 58);
    assert!(row(fold).find(fold) < Some(divider) && !text.contains("open drawer 5"), "{text}");
    // The fold is a difference of its own, and Enter shows its steps.
    press(&mut stage, "n");
    press(&mut stage, "Enter");
    assert!(screen_text(&stage.draw()).contains("open drawer 5"));
}

/// Regression: the folded steps of B stood on the left, below the steps of A.
#[test]
fn folded_steps_stand_in_the_column_of_their_side() {
    let mut f = Fixture::new();
    for trial in 0..2 {
        f.begin_episode();
        f.actor_step("look", "A kitchen.", 0.0, Value::Null);
        for number in 0..9 * trial {
            f.actor_step(&format!("open drawer {number}"), "It is empty.", 0.0, Value::Null);
        }
        f.end_episode(false, EndReason::StepLimit);
    }
    let episode_ref = |episode| EpisodeRef { episode: Some(episode), ..EpisodeRef::default() };
    let (compare, request) = CompareDialog::between(episode_ref(1), episode_ref(2));
    let mut stage = TestScreen::new(f, 120, 36);
    stage.compositor.push(Box::new(compare));
    answer_requests(&mut stage, vec![request]);
    let text = screen_text(&stage.draw());
    let fold = text.lines().find(|line| line.contains("only in B") && line.contains("steps (")).unwrap();
    let (a, b) = fold.split_once(" > ").unwrap_or_else(|| panic!("{text}"));
    assert!(a.trim_matches(['│', ' ']).is_empty() && b.contains("only in B"), "{text}");
}

#[test]
fn keys_visit_differences() {
    // Those of a measured pair do the same here.
    for (next, previous) in [("n", "N"), (">", "<")] {
        let mut stage = open_comparison(120, 36);
        press(&mut stage, previous);
        let notice = stage.model.notice.as_ref().map(|n| n.text.clone());
        assert_eq!(notice.as_deref(), Some("no difference before this one"));
        let mut seen = vec![screen_text(&stage.draw())];
        for _ in 0..60 {
            press(&mut stage, next);
            let now = screen_text(&stage.draw());
            if seen.last() == Some(&now) {
                break;
            }
            seen.push(now);
        }
        let notice = stage.model.notice.as_ref().map(|n| n.text.clone());
        assert_eq!(notice.as_deref(), Some("no difference after this one"));
        assert!(seen.len() > 5);
    }
}

/// The earlier play is the baseline and stands on the left, whichever of the two is on the screen; its outcome is seen
/// first.
#[test]
fn the_baseline_is_on_the_left_and_the_outcomes_come_first() {
    let episode_ref = |episode| EpisodeRef { episode: Some(episode), ..EpisodeRef::default() };
    for (a, b) in [(1, 2), (2, 1)] {
        let (compare, request) = CompareDialog::between(episode_ref(a), episode_ref(b));
        let mut stage = TestScreen::new(two_trials(), 120, 36);
        stage.compositor.push(Box::new(compare));
        answer_requests(&mut stage, vec![request]);
        let shown = screen_text(&stage.draw());
        let lines: Vec<&str> = shown.lines().skip(2).take(5).collect();
        for (line, words) in lines.iter().zip([
            ["A  here, episode 1", "B  here, episode 2"],
            ["outcome ", "won"],
            ["steps ", "8 (6 moves)"],
            ["progress ", "4/4"],
            ["tokens ", "prompts)"],
        ]) {
            let found = words.map(|word| line.find(word));
            assert!(found[0].is_some() && found[0] < found[1], "{line}");
        }
    }
}

/// On a small screen one side had more facts than the other, and neither said that a person helped.
#[test]
fn on_a_small_screen_both_sides_have_the_same_facts() {
    let episode_ref = |episode| EpisodeRef { episode: Some(episode), ..EpisodeRef::default() };
    for (width, height) in [(60, 16), (80, 18), (120, 18)] {
        let (compare, request) = CompareDialog::between(episode_ref(1), episode_ref(2));
        let mut stage = TestScreen::new(two_trials(), width, height);
        stage.compositor.push(Box::new(compare));
        answer_requests(&mut stage, vec![request]);
        let shown = screen_text(&stage.draw());
        let facts = ["A lost (step limit), assisted", "B won, assisted"].map(|facts| {
            let row =
                shown.lines().find_map(|line| line.split_once(facts)).unwrap_or_else(|| panic!("{shown}"));
            row.1.split(": here").next().unwrap_or_default().matches(", ").count()
        });
        assert_eq!(facts[0], facts[1], "{shown}");
    }
}

/// A pair opens where both episodes are still equal. `n` steps both, later rows stay hidden, the first difference is marked.
#[test]
fn the_episodes_of_a_pair_are_stepped_together() {
    for (w, h) in SIZES {
        let mut stage = open_pair(w, h);
        press(&mut stage, "n");
        insta::assert_snapshot!(format!("pair_{w}x{h}"), screen_text(&stage.draw()));
    }
    let mut stage = open_pair(120, 36);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("Pair 3: row 2 of 27, the next one differs"), "{shown}");
    let (left, right) = ("go to fridge 1", "go to countertop 2");
    assert!(!shown.contains(left) && !shown.contains(right), "what comes next is hidden: {shown}");
    press(&mut stage, "n");
    let shown = screen_text(&stage.draw());
    let row = shown.lines().find(|line| line.contains(left) && line.contains('▸'));
    assert!(row.is_some(), "the first difference is marked: {shown}");
    assert!(shown.contains("Pair 3: row 3 of 27, different since row 3"), "{shown}");
    assert!(!shown.contains("heat apple 1"), "{shown}");
    // Back and forth: what was seen stays.
    press(&mut stage, "N");
    assert!(screen_text(&stage.draw()).contains("Pair 3: row 2 of 27"));
    assert!(screen_text(&stage.draw()).contains(left));
    for _ in 0..40 {
        press(&mut stage, "n");
    }
    let notice = stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default();
    assert!(notice.starts_with("both have ended: A lost (step limit), B won"), "{notice}");
    // `>` skips what is equal, and everything can be shown at once.
    let mut stage = open_pair(120, 36);
    press(&mut stage, ">");
    assert!(screen_text(&stage.draw()).contains("different since row 3"));
    press(&mut stage, "d");
    press(&mut stage, "End");
    assert!(screen_text(&stage.draw()).contains("put apple 1"));
    press(&mut stage, "Esc");
    assert!(stage.compositor.overlays().is_empty());
}

/// Regression: a pair that differs from its first step on opened at the first observation, and nothing said that the difference
/// comes next.
#[test]
fn a_pair_that_differs_from_the_start_says_so_and_shows_it_after_one_key() {
    for (w, h) in SIZES {
        let mut f = Fixture::new();
        for action in ["go to cabinet 3", "go to shelf 3"] {
            f.begin_episode();
            f.actor_step(action, "A mug.", 0.0, Value::Null);
            for _ in 0..30 {
                f.actor_step("wait", "Nothing.", 0.0, Value::Null);
            }
            f.end_episode(false, EndReason::StepLimit);
        }
        let mut stage = open_pair_of(f, w, h);
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("row 0 of 31, the next one differs"), "{shown}");
        assert!(!shown.contains("go to"), "{shown}");
        press(&mut stage, "n");
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("different since row 1"), "{shown}");
        let marked = shown.lines().find(|line| line.contains('▸')).unwrap_or_else(|| panic!("{shown}"));
        assert!(marked.contains("go to cabinet 3") || marked.contains("go to shelf 3"), "{shown}");
    }
}

fn open_pair(w: u16, h: u16) -> TestScreen {
    open_pair_of(two_trials(), w, h)
}

fn open_pair_of(trials: Fixture, w: u16, h: u16) -> TestScreen {
    let episode_ref = |episode| EpisodeRef { episode: Some(episode), ..EpisodeRef::default() };
    let (pair, request) = CompareDialog::for_pair(3, episode_ref(1), episode_ref(2));
    let mut stage = TestScreen::new(trials, w, h);
    stage.compositor.push(Box::new(pair));
    answer_requests(&mut stage, vec![request]);
    stage
}

#[test]
fn entries_that_are_equal_are_counted_and_unfold() {
    let mut stage = open_comparison(120, 36);
    press(&mut stage, "Enter");
    let folded = screen_text(&stage.draw());
    assert!(folded.contains(" the same: ") && folded.contains("(d shows)"), "{folded}");
    assert!(!folded.contains("decided by    "), "{folded}");
    press(&mut stage, "d");
    let unfolded = screen_text(&stage.draw());
    assert!(unfolded.contains("decided by    ") && !unfolded.contains("(d shows)"), "{unfolded}");
}

#[test]
fn typing_filters_sessions_and_enter_requests_one() {
    let mut stage = TestScreen::new(two_trials(), 80, 24);
    press(&mut stage, "D");
    for letter in ["z", "z"] {
        press(&mut stage, letter);
    }
    let requests = stage.press("Enter");
    let [Request::Compare { a, b }] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((a.episode, b.session.as_deref()), (Some(2), Some("elsewhere")));
    // Without access to other sessions an error is shown.
    answer_requests(&mut stage, requests);
    assert!(screen_text(&stage.draw()).contains("can't open other sessions"));
    press(&mut stage, "q");
    assert!(stage.compositor.overlays().is_empty());
}

#[test]
fn the_answer_to_another_request_is_ignored() {
    let mut stage = TestScreen::new(two_trials(), 80, 24);
    press(&mut stage, "D");
    let late = Answer::Compared { a: Box::default(), b: Box::default(), result: Err("too late".to_owned()) };
    stage.send(UiMessage::Answer(late.clone()));
    assert!(!screen_text(&stage.draw()).contains("too late"));
    let requests = stage.press("Enter");
    stage.send(UiMessage::Answer(late));
    assert!(screen_text(&stage.draw()).contains("loading both episodes"));
    answer_requests(&mut stage, requests);
    assert!(screen_text(&stage.draw()).contains("Compare: "));
}

#[test]
fn two_known_episodes_skip_the_target_list() {
    let episode_ref = |episode| EpisodeRef { episode: Some(episode), ..EpisodeRef::default() };
    let (compare, request) = CompareDialog::between(episode_ref(1), episode_ref(2));
    let mut stage = TestScreen::new(two_trials(), 80, 24);
    stage.compositor.push(Box::new(compare));
    answer_requests(&mut stage, vec![request]);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("A  here, episode 1") && shown.contains("B  here, episode 2"), "{shown}");
    let copied = stage.press("y");
    let [Request::Copy(text)] = copied.as_slice() else { panic!("{copied:?}") };
    assert!(text.contains("A: go to fridge 1") && text.contains("B: go to countertop 2"), "{text}");
}

/// Regression: if two trials had the same steps, a setting that differed between them was not shown.
#[test]
fn differences_before_the_first_step_are_shown_above_the_rows() {
    for (w, h) in SIZES {
        let mut f = Fixture::new();
        f.begin_episode();
        f.actor_step("look", "A kitchen.", 0.0, Value::Null);
        f.end_episode(false, EndReason::StepLimit);
        let mut spec = f.state().run.as_deref().cloned().unwrap();
        "openai:small".clone_into(&mut spec.actor);
        f.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
        f.begin_episode();
        f.actor_step("look", "A kitchen.", 0.0, Value::Null);
        f.propose(None, Some("dance"));
        let mut stage = TestScreen::new(f, w, h);
        press(&mut stage, "D");
        press(&mut stage, "Enter");
        let rows = screen_text(&stage.draw());
        // In a narrow window the title is truncated.
        let waits = if w < 80 { "" } else { ", 1 pending" };
        // One setting stands in the columns of the sides, if there are any.
        let settings = if w < 80 { "actor rules │ openai:small" } else { "actor rules   " };
        let expected = [settings, "actor", "openai:small", "2 > dance (proposed, not taken)", waits];
        for text in expected {
            assert!(rows.contains(text), "{text} at {w}x{h}: {rows}");
        }
        assert!(!rows.contains("2 steps"), "{rows}");
        press(&mut stage, "Enter");
        let page = screen_text(&stage.draw());
        assert!(page.contains("differences before the first step"), "{page}");
    }
}

#[test]
fn an_episode_compared_with_itself_has_no_difference() {
    let episode_ref = || EpisodeRef { episode: Some(1), ..EpisodeRef::default() };
    let (compare, request) = CompareDialog::between(episode_ref(), episode_ref());
    let mut stage = TestScreen::new(two_trials(), 80, 24);
    stage.compositor.push(Box::new(compare));
    answer_requests(&mut stage, vec![request]);
    press(&mut stage, "d");
    press(&mut stage, "End");
    assert!(screen_text(&stage.draw()).contains("Compare: no difference"));
}

#[test]
fn no_size_and_no_key_panics() {
    let keys = ["n", "N", "d", "Enter", "Down", "Up", "PageDown", "End", "Home", "Tab", "Esc", "D", "Enter"];
    for (w, h) in [(1, 1), (8, 3), (20, 6), (40, 10), (71, 12), (72, 12), (400, 90)] {
        let mut stage = open_comparison(w, h);
        for key in keys {
            press(&mut stage, key);
            stage.draw();
        }
    }
}

/// Regression: an observation was cut after three lines without an ellipsis, although the rows below were empty.
#[test]
fn the_preview_uses_all_rows_and_marks_what_it_cuts() {
    let words: Vec<String> = (1..=40).map(|n| format!("word{n:02}")).collect();
    for (w, h) in SIZES {
        let mut f = two_trials();
        f.begin_episode();
        f.actor_step("look", &words.join(" "), 0.0, Value::Null);
        f.end_episode(false, EndReason::StepLimit);
        let mut stage = TestScreen::new(f, w, h);
        press(&mut stage, "D");
        press(&mut stage, "Enter");
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("word40") || shown.contains('…') || h < 24, "{w}x{h}: {shown}");
        assert!(h < 36 || shown.contains("word28"), "{w}x{h}: {shown}");
        assert!(h < 60 || shown.contains("word40"), "{w}x{h}: {shown}");
    }
}

/// Regression: in one column, the letter of the first difference had the colour of warnings, which looks like that of the other side.
#[test]
fn the_letters_of_both_sides_keep_their_colours() {
    let mut stage = open_comparison(60, 16);
    // In this theme a selected row keeps the colours of its texts.
    stage.theme = Theme::parse("dark", Theme::shipped_source("dark").unwrap(), &|_| None).0;
    let buffer = stage.draw();
    let letters = |letter: &str| {
        let rows = (0..16).filter(|y| buffer[(2, *y)].symbol() == letter);
        rows.map(|y| buffer[(2, y)].fg).collect::<Vec<_>>()
    };
    let (a, b) = (letters("A"), letters("B"));
    assert!(a.len() > 1 && a.iter().all(|colour| *colour == a[0]), "{a:?}");
    assert!(b.len() > 1 && b.iter().all(|colour| *colour == b[0]), "{b:?}");
    assert_ne!(a[0], b[0]);
    assert!((0..16).any(|y| buffer[(3, y)].symbol() == "▸"), "{}", screen_text(&buffer));
}

/// Regression: Enter on a step that only one side has showed the other side's next step beside it, and a thought that one side
/// had by itself and the other beside an action counted as another part.
#[test]
fn a_step_of_one_side_stands_alone_and_thoughts_stand_beside_each_other() {
    let thought = "I'll look into the fridge first.";
    let mut f = Fixture::new();
    for is_overridden in [false, true] {
        f.begin_episode();
        f.actor_step("look", "A kitchen.", 0.0, Value::Null);
        if is_overridden {
            f.propose(Some(thought), None);
            f.execute("go to fridge 1", DecidedBy::Person, "It is closed.", 0.0, Value::Null);
            f.actor_step("open fridge 1", "A mug.", 0.0, Value::Null);
        } else {
            f.thinking_step(thought);
        }
        f.actor_step("wait", "Nothing.", 0.0, Value::Null);
        f.end_episode(false, EndReason::StepLimit);
    }
    let found = compare_episodes(
        &f.store,
        None,
        &EpisodeRef { episode: Some(1), ..EpisodeRef::default() },
        &EpisodeRef { episode: Some(2), ..EpisodeRef::default() },
        &WorkProgress::default(),
    )
    .unwrap();
    let row = found.0.row_of_interest().unwrap();
    let entries = found.0.decision_entries(row);
    let entry = |name: &str| entries.iter().find(|entry| entry.name == name).unwrap();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    assert!(!entry("thought").differs() && text(&entry("thought").left).contains(thought), "{entries:?}");
    assert_eq!(
        (text(&entry("did").left), text(&entry("did").right)),
        ("only thought".into(), "go to fridge 1".into())
    );

    let mut stage = TestScreen::new(f, 120, 36);
    press(&mut stage, "D");
    press(&mut stage, "Enter");
    press(&mut stage, "n");
    press(&mut stage, "Enter");
    let shown = screen_text(&stage.draw());
    let did = shown.lines().find(|line| line.contains("did ")).unwrap_or_else(|| panic!("{shown}"));
    assert!(did.contains("go to fridge 1") && !did.contains("wait"), "{shown}");
}

/// Regression: at 60x16 the header cut the names of the sides, `branch trunk, epis…`.
#[test]
fn a_narrow_header_keeps_the_names_whole() {
    let stage = open_comparison(60, 16);
    let shown = screen_text(&{ stage }.draw());
    for name in ["episode 1", "episode 2"] {
        assert!(shown.lines().take(5).any(|line| line.contains(name)), "{name}: {shown}");
    }
}
