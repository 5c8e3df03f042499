//! The end card: every key of the main screen works there or shows why it doesn't.

use super::overlays::lost_episode;
use super::{TestScreen, screen_text};
use crate::domain::{
    BranchId, CallId, DecidedBy, EndReason, Job, LessonOrigin, LessonText, Note, NoteKind, ReflectionKind,
    Task, Usage,
};
use crate::engine::{Cause, Command, Event};
use crate::ui::branches::BranchInfo;
use crate::ui::fixture::Fixture;
use crate::ui::keymap::{Keymap, Mode};
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::types::WorkKind;
use std::sync::Arc;

fn end_card_screen(fixture: Fixture) -> TestScreen {
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.send(UiMessage::StoreChanged);
    stage.draw();
    assert_eq!(stage.compositor.overlays().len(), 1);
    stage
}

/// A run of two trials in which `played` trials were lost.
fn lost_trials(played: u32) -> Fixture {
    let mut f = Fixture::for_method("reflexion", "symbolic", 2);
    for n in 0..played {
        f.begin_episode();
        let progress = if n == 0 { 0.25 } else { 0.0 };
        f.actor_step("look", "A room.", progress, serde_json::Value::Null);
        f.actor_step("wait", "Nothing happens.", progress, serde_json::Value::Null);
        f.end_episode(false, EndReason::StepLimit);
    }
    f
}

/// A run of two tasks.
fn two_tasks(trials: u32) -> Fixture {
    let single = Fixture::for_method("omnireflect", "symbolic", trials);
    let mut spec = (**single.state().run.as_ref().unwrap()).clone();
    let second = Task { id: "easy/heat/24".to_owned(), ..spec.tasks[0].clone() };
    spec.tasks.push(second);
    let mut fixture = Fixture::empty();
    let session = single.state().session.clone();
    fixture.write(Cause::Policy, Event::RunStarted { session, spec: Box::new(spec) });
    fixture
}

/// Regression: the card shortened every pane, also those beside it, and hid the timeline.
#[test]
fn the_card_shortens_only_the_pane_behind_it_and_leaves_the_timeline() {
    let mut f = Fixture::new();
    f.begin_episode();
    for number in 1..=40 {
        f.actor_step(
            &format!("go to shelf {number}"),
            &format!("Vase {number}."),
            0.0,
            serde_json::Value::Null,
        );
    }
    f.end_episode(false, EndReason::StepLimit);
    for (width, height, card) in [(200, 60, 60), (120, 36, 20)] {
        let mut stage = TestScreen::new(f, width, height);
        let shown = |stage: &mut TestScreen, columns: std::ops::Range<u16>, rows: std::ops::Range<u16>| {
            let buffer = stage.draw();
            let row = |y| columns.clone().map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>();
            rows.map(row).collect::<Vec<String>>()
        };
        let (beside, time) = (0..card, height - 4..height - 1);
        let before =
            (shown(&mut stage, beside.clone(), 1..height - 4), shown(&mut stage, 0..width, time.clone()));
        stage.send(UiMessage::StoreChanged);
        stage.draw();
        assert_eq!(stage.compositor.overlays().len(), 1);
        let text = screen_text(&stage.draw());
        assert!(text.contains("Episode 1 ended") && text.contains("go to shelf 40"), "{text}");
        if width == 200 {
            assert_eq!(shown(&mut stage, beside, 1..height - 4), before.0, "{text}");
        }
        assert_eq!(shown(&mut stage, 0..width, time), before.1, "{text}");
        f = stage.fixture;
    }
}

/// Regression: a person's own step that did nothing counted as the agent's.
#[test]
fn a_persons_own_step_that_did_nothing_is_named_as_such() {
    let shown = |by_person: bool| {
        let mut f = Fixture::for_method("reflexion", "symbolic", 2);
        f.begin_episode();
        if by_person {
            f.person_step("dance", "Nothing happens.");
        } else {
            f.actor_step("dance", "Nothing happens.", 0.0, serde_json::Value::Null);
        }
        f.end_episode(false, EndReason::StepLimit);
        let text = screen_text(&end_card_screen(f).draw());
        assert!(text.contains("once, at step 1"), "{text}");
        text.contains("once, at step 1 (your own)")
    };
    assert!(shown(true));
    assert!(!shown(false));
}

/// Regression: the card counted calls while the details of each step said that no model was called, and it gave the progress as a
/// percentage, and they as a fraction, where the first row says `1/4`.
#[test]
fn with_the_rules_no_calls_are_counted_and_progress_has_one_form() {
    let mut f = Fixture::for_method("reflexion", "symbolic", 2);
    f.begin_episode();
    let call = f.send_prompt();
    let reply = Event::ReplyReceived {
        tool_calls: Vec::new(),
        call,
        text: "> look".to_owned(),
        reasoning: String::new(),
        usage: Usage { prompt_tokens: 900, reply_tokens: 48, estimated: true, ..Usage::default() },
        truncated: None,
        reply_source: None,
    };
    f.write(Cause::Model, reply);
    let action = Some("look".to_owned());
    f.write(
        Cause::Model,
        Event::Proposed { step: 1, thought: None, action, planned: Vec::new(), complaints: Vec::new() },
    );
    f.execute("look", DecidedBy::Actor, "A room.", 0.25, serde_json::json!({}));
    f.end_episode(false, EndReason::StepLimit);
    let mut stage = end_card_screen(f);
    let card = screen_text(&stage.draw());
    assert!(card.contains("no model was called; 1 prompt, 948 tokens (estimated)"), "{card}");
    assert!(card.contains("progress         1/4, last at step 1") && card.contains("▮▯▯▯ 1/4"), "{card}");
    stage.press("Esc");
    stage.press("i");
    let details = screen_text(&stage.draw());
    assert!(details.contains("no model was called; the prompt has about 900 tokens"), "{details}");
    assert!(details.contains("reward 0, progress 1/4"), "{details}");
}

/// Regression: after the end, `o` pointed to a key that said "the run is over".
#[test]
fn after_the_run_no_key_leads_to_a_next_proposal() {
    let mut f = lost_episode();
    f.write(Cause::Policy, Event::RunEnded);
    let mut stage = end_card_screen(f);
    stage.press("Esc");
    stage.press("o");
    let notice = stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default();
    assert!(notice.contains("the run is over; r plays the task again"), "{notice}");
}

/// Regression: `T`, `b`, `D` and others silently did nothing on the card.
#[test]
fn every_key_of_the_main_screen_does_something_on_the_end_card_or_says_why_not() {
    let keymap = Keymap::default();
    for row in keymap.bindings_in(Mode::Main) {
        for key in &row.keys {
            let label = key.label();
            let name = match label.as_str() {
                "PgUp" => "PageUp",
                "PgDn" => "PageDown",
                "S-Tab" | "Shift-Tab" => "BackTab",
                "←" => "Left",
                "→" => "Right",
                "↑" => "Up",
                "↓" => "Down",
                other => other,
            };
            // These scroll the card, select its rows or move in time.
            let moves =
                ["Up", "Down", "k", "j", "PageUp", "PageDown", "Home", "End", "g", "G", "Tab", "BackTab"];
            if moves.contains(&name) || ["Left", "Right", "h", "l", "C"].contains(&name) {
                continue;
            }
            let mut stage = end_card_screen(lost_episode());
            let requests = stage.press(name);
            let has_notice = stage.model.notice.is_some();
            let left_card = stage.compositor.overlays().last().is_none_or(|o| o.name() != "end");
            assert!(
                has_notice || left_card || !requests.is_empty(),
                "{name} ({}) does nothing",
                row.action.name()
            );
        }
    }
    for (key, over) in [("T", "runs"), ("b", "breaks"), ("D", "compare"), ("B", "branches"), ("i", "step")] {
        let mut stage = end_card_screen(lost_episode());
        stage.press(key);
        assert_eq!(stage.compositor.overlays().last().map(|o| o.name()), Some(over), "{key}");
        stage.press("Esc");
        assert_eq!(
            stage.compositor.overlays().last().map(|o| o.name()),
            Some("end"),
            "{key}: back to the card"
        );
    }
    let mut stage = end_card_screen(lost_episode());
    assert_eq!(stage.press("s"), []);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("`stage` isn't available here; Esc closes this card"), "{shown}");
    let mut stage = end_card_screen(lost_episode());
    assert_eq!(stage.press("n"), []);
    assert!(screen_text(&stage.draw()).contains("no task left in this run"));
}

/// Regression: Enter on the first row started "trial 3/2".
#[test]
fn a_trial_beyond_the_run_limit_is_named_and_is_not_the_first_choice() {
    let mut stage = end_card_screen(lost_trials(1));
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("▸ <  go to the last step with progress"), "{shown}");
    assert!(shown.contains("r  play this task again: trial 2 of 2"), "{shown}");
    let mut stage = end_card_screen(lost_trials(2));
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("r  play this task again: trial 3, beyond the planned 2"), "{shown}");
    let requests = stage.press("Enter");
    assert!(!requests.iter().any(|w| matches!(w, Request::Send(_))), "{requests:?}");
    // The same for a run that is over, on the narrowest screen.
    let mut f = lost_trials(2);
    f.write(Cause::Policy, Event::RunEnded);
    let mut stage = end_card_screen(f);
    stage.model.size = (60, 16);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("trial 3, beyond the planned 2"), "{shown}");
    assert!(!stage.press("Enter").iter().any(|w| matches!(w, Request::Send(_))));
}

/// What is preselected depends on the outcome: after a win the run goes on, or both plays are compared; after a loss the card
/// leads to where progress ended, or else to teaching.
#[test]
fn what_makes_sense_is_preselected() {
    // Tasks of the run, trials of each, those of the first one that were won, progress of the last one, and the preselected row.
    let cases: [(u32, u32, &[bool], f64, &str); 6] = [
        (2, 2, &[true], 1.0, "n  continue with the next task"),
        (1, 2, &[false, true], 1.0, "D  compare both plays step by step"),
        (2, 1, &[true], 1.0, "n  continue with the next task"),
        (2, 2, &[false], 0.25, "<  go to the last step with progress"),
        (2, 2, &[false], 0.0, "a  add a lesson"),
        (2, 2, &[true, false], 0.0, "a  add a lesson"),
    ];
    for (tasks, trials, won, progress, preselected) in cases {
        let mut f = if tasks == 1 {
            Fixture::for_method("omnireflect", "symbolic", trials)
        } else {
            two_tasks(trials)
        };
        for won in won {
            f.begin_episode();
            f.actor_step("look", "A room.", progress, serde_json::Value::Null);
            f.actor_step("wait", "Nothing happens.", progress, serde_json::Value::Null);
            f.end_episode(*won, if *won { EndReason::Won } else { EndReason::StepLimit });
        }
        let shown = screen_text(&end_card_screen(f).draw());
        assert!(shown.contains(&format!("▸ {preselected}")), "{trials} {won:?} {progress}: {shown}");
        assert!(!shown.contains("measure whether"), "there is no lesson yet: {shown}");
    }
    // A run that is over has no next task.
    let mut f = two_tasks(1);
    f.begin_episode();
    f.end_episode(true, EndReason::Won);
    f.write(Cause::Policy, Event::RunEnded);
    let shown = screen_text(&end_card_screen(f).draw());
    assert!(shown.contains("▸ E  export a report"), "{shown}");
    let mut stage = end_card_screen(lost_trials(1));
    stage.press("j");
    stage.press("j");
    assert_eq!(stage.press("Enter"), [Request::Send(Command::Step)]);
}

/// With a lesson in the pool, the card lists its measurement; that and the health of lessons open above the card.
#[test]
fn a_lesson_can_be_measured_and_checked_from_the_card() {
    let mut stage = end_card_screen(lost_episode());
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("%  measure whether lesson "), "{shown}");
    for (key, over) in [("%", "effect"), ("W", "health")] {
        let mut stage = end_card_screen(lost_episode());
        stage.press(key);
        let names: Vec<&str> = stage.compositor.overlays().iter().map(|o| o.name()).collect();
        assert_eq!(names, ["end", over], "{key}");
    }
    // So it does at the end of an earlier episode, about a lesson that was taught later.
    let mut f = lost_trials(1);
    let text = LessonText::plain("Look at the shelf first.");
    f.add_lesson(ReflectionKind::Error, text, LessonOrigin::Person);
    f.begin_episode();
    let mut stage = TestScreen::new(f, 80, 24);
    stage.press("[");
    stage.press("C");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("Episode 1 ended") && shown.contains("measure whether"), "{shown}");
    let requests = stage.press("%");
    let [Request::PlanEffect(query)] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((query.place.episode, query.place.step), (Some(1), None));
}

/// Regression: the card of a lost episode didn't name the step that lost it.
#[test]
fn the_card_of_a_lost_episode_names_the_first_mistake_and_goes_there() {
    let mut f = Fixture::for_method("reflexion", "symbolic", 1);
    f.begin_episode();
    f.actor_step("look", "Nothing happens.", 0.0, serde_json::Value::Null);
    f.actor_step("take cellphone 1 from shelf 1", "You pick it up.", 0.0, serde_json::Value::Null);
    let parts = [("object", "cellphone 1"), ("wanted", "mug")];
    let note = Note {
        detector: "wrong_object".to_owned(),
        kind: NoteKind::Mistake,
        evidence: String::new(),
        parts: parts.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
    };
    f.write(Cause::Policy, Event::Noted { step: 2, notes: vec![note] });
    f.actor_step("look", "A room.", 0.0, serde_json::Value::Null);
    f.end_episode(false, EndReason::StepLimit);
    let mut stage = end_card_screen(f);
    let shown = screen_text(&stage.draw());
    let first = "first mistake    step 2: took cellphone 1, but the task asks for a mug (!";
    assert!(shown.contains(first), "{shown}");
    stage.press("!");
    let shown = screen_text(&stage.draw());
    assert!(!shown.contains("Episode 1 ended") && shown.contains("step 2"), "{shown}");
}

/// Regression: the card offered the mentor's newest lesson, which a focused lane selects, in place of the one that the person taught.
#[test]
fn the_card_measures_the_taught_lesson_that_entered_a_prompt() {
    let mut f = Fixture::for_method("reflexion", "symbolic", 1);
    f.begin_episode();
    for (text, origin) in
        [("Heat it in a microwave.", LessonOrigin::Person), ("Open the fridge.", LessonOrigin::Symbolic)]
    {
        f.add_lesson(ReflectionKind::Error, LessonText::plain(text), origin);
    }
    f.actor_step("look", "A room.", 1.0, serde_json::Value::Null);
    let mut stage = TestScreen::new(f, 120, 36);
    stage.press("3");
    stage.fixture.end_episode(true, EndReason::Won);
    stage.send(UiMessage::StoreChanged);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("measure whether lesson 1 helps: Heat it"), "{shown}");
}

/// Regression: the card offered to measure what the built-in rules ignore, beside a lesson that they understand.
#[test]
fn the_card_measures_the_taught_lesson_that_the_rules_understand() {
    let mut f = lost_trials(1);
    for text in ["Look for a mug in/on a shelf first.", "Be more clever."] {
        f.add_lesson(ReflectionKind::Error, LessonText::plain(text), LessonOrigin::Person);
    }
    let shown = screen_text(&end_card_screen(f).draw());
    assert!(shown.contains("measure whether lesson 1 helps: Look for a mug"), "{shown}");
}

/// Regression: which lesson `%` measures was seen only after it was pressed, and no other one could be taken.
#[test]
fn the_card_names_the_lesson_that_is_measured_and_takes_another_one() {
    let card = || {
        let mut f = lost_trials(1);
        for (text, origin) in [
            ("Look at the shelf first.", LessonOrigin::Symbolic),
            ("Heat it in a microwave.", LessonOrigin::Person),
            ("Open the fridge.", LessonOrigin::Symbolic),
        ] {
            f.add_lesson(ReflectionKind::Error, LessonText::plain(text), origin);
        }
        end_card_screen(f)
    };
    let measured = |stage: &mut TestScreen, key: &str| {
        let requests = stage.press(key);
        let [Request::PlanEffect(query)] = requests.as_slice() else { panic!("{requests:?}") };
        query.lesson.0.to_string()
    };
    // First the one that a person taught.
    let mut stage = card();
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("%  measure whether lesson 2 helps: Heat it in a microwave."), "{shown}");
    assert_eq!(measured(&mut stage, "%"), "000000000002");
    // On its row, the arrows go round all lessons; elsewhere they go through time.
    for (keys, number, text) in [
        (&["Right"][..], 3, "Open the"),
        (&["Right", "Right"], 1, "Look at"),
        (&["Left"], 1, "Look at"),
        (&["Left", "Left", "Left"], 2, "Heat it"),
    ] {
        let mut stage = card();
        while !screen_text(&stage.draw()).contains("▸ %") {
            stage.press("Down");
        }
        for key in keys {
            assert_eq!(stage.press(key), []);
        }
        let shown = screen_text(&stage.draw());
        let row = format!("▸ %  measure whether lesson {number} helps: {text}");
        assert!(shown.contains(&row) && shown.contains("→ another lesson"), "{keys:?}: {shown}");
        assert_eq!(measured(&mut stage, "Enter"), format!("{number:012x}"), "{keys:?}");
    }
    // While one is measured, it is shown.
    let mut stage = card();
    stage.show_work(WorkKind::Effect, None);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("%  show the measurement that is running"), "{shown}");
}

/// Regression: at 60x16, the row of the selected `%` named its keys and had no room for the words of the lesson.
#[test]
fn a_narrow_card_says_what_the_lesson_is_that_it_measures() {
    let mut f = lost_trials(1);
    for text in ["Look at the shelf first.", "Put down what you hold before you take another."] {
        f.add_lesson(ReflectionKind::Error, LessonText::plain(text), LessonOrigin::Person);
    }
    let mut stage = end_card_screen(f);
    stage.model.size = (60, 16);
    let shown = screen_text(&stage.draw());
    assert!(!shown.contains("another lesson"), "{shown}");
    while !screen_text(&stage.draw()).contains("▸ %") {
        stage.press("Down");
    }
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("▸ %  measure lesson 2: Put down what you hold before"), "{shown}");
    assert!(shown.contains("→ another lesson"), "{shown}");
    stage.press("Right");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("▸ %  measure lesson 1: Look at the shelf first."), "{shown}");
}

/// Regression: it offered to measure the result of an evaluation, which no prompt shows.
#[test]
fn the_card_measures_only_what_the_agent_reads() {
    let mut f = crate::ui::fixture::dora();
    f.execute("look", crate::domain::DecidedBy::Actor, "A room.", 0.0, serde_json::Value::Null);
    f.end_episode(false, EndReason::StepLimit);
    let mut stage = end_card_screen(f);
    let [Request::PlanEffect(query)] = &stage.press("%")[..] else {
        panic!("{}", screen_text(&stage.draw()))
    };
    let measured = stage.fixture.state().pool.get(&query.lesson).unwrap();
    assert_eq!(measured.kind, ReflectionKind::Advice);
}

/// Regression: in the past of an earlier episode, the card was that of the latest one.
#[test]
fn the_card_in_the_past_is_that_of_the_episode_on_screen() {
    let mut stage = TestScreen::new(lost_trials(2), 80, 24);
    stage.press(":");
    stage.send(UiMessage::Paste("1.0".to_owned()));
    stage.press("Enter");
    stage.press("C");
    let text = screen_text(&stage.draw());
    assert!(text.contains("Episode 1 ended") && text.contains("last step with progress"), "{text}");
    assert!(!text.contains("play this task again"), "{text}");
    stage.press("r");
    assert_eq!(
        stage.model.notice.as_ref().unwrap().text,
        "not at the end of an earlier episode; go to the present first"
    );
    stage.press("<");
    assert_eq!(stage.compositor.overlays().len(), 0);
    assert_eq!(stage.frame_data().selected_step(), 1);
    assert_eq!(stage.frame_data().displayed.episode.as_ref().unwrap().number, 1);
    stage.press("End");
    stage.press("C");
    let text = screen_text(&stage.draw());
    assert!(text.contains("Episode 2 ended") && text.contains("play this task again"), "{text}");
}

/// A task that was played again shows both plays, and one key compares them above the card.
#[test]
fn a_replayed_task_shows_both_plays_and_compares_them() {
    let mut stage = end_card_screen(lost_trials(2));
    let shown = screen_text(&stage.draw());
    for words in
        ["trial 1", "trial 2 (this one)", "one play each: an example, not evidence", "compare both plays"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let progress = shown.lines().find(|line| line.contains("progress ") && line.contains("0/4")).unwrap();
    assert!(progress.find("1/4") < progress.find("0/4"), "{progress}");
    let requests = stage.press("D");
    let [Request::Compare { a, b }] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((a.episode, b.episode), (Some(2), Some(1)));
    let names: Vec<&str> = stage.compositor.overlays().iter().map(|o| o.name()).collect();
    assert_eq!(names, ["end", "compare"], "the card stays open");

    let single = screen_text(&end_card_screen(lost_trials(1)).draw());
    assert!(!single.contains("both plays"), "{single}");
}

/// Regression: the story of an episode that the loop detector ended didn't say what had ended it.
#[test]
fn the_story_says_how_the_episode_ended() {
    let mut f = Fixture::for_method("reflexion", "symbolic", 2);
    f.begin_episode();
    f.actor_step("look", "A room.", 0.0, serde_json::Value::Null);
    f.actor_step("look", "A room.", 0.0, serde_json::Value::Null);
    f.end_episode(false, EndReason::Loop);
    let mut stage = end_card_screen(f);
    let sentence = "Lost: repeated action, the same action twice in a row ends the episode";
    assert_eq!(screen_text(&stage.draw()).matches(sentence).count(), 1, "the card says it");
    stage.press("q");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains(sentence) && shown.contains("loop_detector = true"), "{shown}");
}

/// Regression: on a branch without an earlier play of its task, the card offered no comparison.
#[test]
fn the_card_of_a_branch_offers_a_comparison_with_another_branch() {
    let offer = "D  compare with another branch";
    let f = lost_trials(1);
    assert!(!screen_text(&end_card_screen(lost_trials(1)).draw()).contains(offer));
    f.store.swap_branch(f.store.timeline(), BranchId("b1".to_owned()));
    let mut stage = end_card_screen(f);
    assert!(screen_text(&stage.draw()).contains(offer));
    stage.press("D");
    let names: Vec<&str> = stage.compositor.overlays().iter().map(|o| o.name()).collect();
    assert_eq!(names, ["end", "compare"], "the card stays open");
}

/// The card of a forked episode shows the parent's play beside it, and one key compares both.
#[test]
fn the_card_of_a_branch_shows_the_play_that_it_was_forked_from() {
    let f = lost_trials(1);
    let lost = f.state().ended_episodes.last().unwrap().clone();
    let won = crate::domain::EpisodeSummary { won: true, progress: 1.0, steps: 9, ..(*lost).clone() };
    let branches = |fork_seq| {
        let trunk = BranchInfo { last: Some(Arc::new(won.clone())), ..BranchInfo::sample("trunk", None, 0) };
        UiMessage::Answer(Answer::Branches(Ok(
            [trunk, BranchInfo::sample("b1", Some("trunk"), fork_seq)].into()
        )))
    };
    f.store.swap_branch(f.store.timeline(), BranchId("b1".to_owned()));
    let mut stage = end_card_screen(f);
    stage.send(branches(lost.seq_range.1));
    let shown = screen_text(&stage.draw());
    assert!(!shown.contains("both plays"), "forked after the episode: {shown}");

    stage.send(branches(lost.seq_range.1 - 1));
    let shown = screen_text(&stage.draw());
    let row = |label: &str| shown.lines().find(|line| line.contains(label)).unwrap_or(&shown).to_owned();
    let both = row("both plays");
    assert!(both.find("branch trunk").unwrap() < both.find("this branch").unwrap(), "{both}");
    let outcomes = row("outcome ");
    assert!(
        outcomes.find("won").unwrap() < outcomes.find("LOST").or(outcomes.find("lost")).unwrap(),
        "{outcomes}"
    );
    assert!(shown.contains("D  compare both plays step by step"), "{shown}");
    let requests = stage.press("D");
    let [Request::Compare { b, .. }] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(b.branch.as_deref(), Some("trunk"));
}

/// Regression: the message after a lesson was taught at the end of an episode hid the key that plays the task again.
#[test]
fn a_lesson_taught_at_the_end_says_which_key_plays_again() {
    let mut f = lost_trials(1);
    let mut spec = (**f.state().run.as_ref().unwrap()).clone();
    "openai:small".clone_into(&mut spec.actor);
    f.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
    let mut stage = end_card_screen(f);
    stage.press("a");
    stage.send(UiMessage::Paste("Look around first.".to_owned()));
    stage.press("Enter");
    let notice = stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default();
    assert_eq!(notice, "saved as Plan; r plays the task again with it");
}

/// Regression: after an attempt of a search the card offered nothing to go on with, and `n` said that no task was left; for a repeated
/// task it spoke of the next one.
#[test]
fn the_card_says_what_follows() {
    let mut f = crate::ui::fixture::dora();
    f.execute("look", crate::domain::DecidedBy::Actor, "A room.", 0.0, serde_json::Value::Null);
    f.end_episode(false, EndReason::StepLimit);
    let mut stage = end_card_screen(f);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("n  continue with the next attempt"), "{shown}");
    assert_eq!(stage.press("n"), [Request::Send(Command::Step)]);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("n next attempt"), "{shown}");
    let shown = screen_text(&end_card_screen(lost_trials(1)).draw());
    assert!(shown.contains("n  continue with the next trial"), "{shown}");
}

/// Regression: the card said "no progress in this episode" of one whose last step made progress.
#[test]
fn the_key_of_the_last_progress_says_that_it_is_on_the_screen() {
    for (progress, words) in
        [(0.5, "the last progress is that of step 2, the last one"), (0.0, "no progress in this episode")]
    {
        let mut f = Fixture::for_method("reflexion", "symbolic", 2);
        f.begin_episode();
        f.actor_step("look", "A room.", 0.0, serde_json::Value::Null);
        f.actor_step("wait", "A mug.", progress, serde_json::Value::Null);
        f.end_episode(false, EndReason::StepLimit);
        let mut stage = end_card_screen(f);
        stage.press("<");
        let notice = stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default();
        assert!(notice.starts_with(words), "{notice}");
    }
}

/// Regression: between two attempts the first row said how the last one had ended as if that were the run's state.
#[test]
fn between_two_attempts_the_first_row_says_what_follows() {
    let first_row = |f: Fixture| {
        let shown = screen_text(&TestScreen::new(f, 80, 24).draw());
        shown.lines().next().unwrap().to_owned()
    };
    let dora = || {
        let mut f = crate::ui::fixture::dora();
        f.execute("look", crate::domain::DecidedBy::Actor, "A room.", 0.0, serde_json::Value::Null);
        f.end_episode(false, EndReason::StepLimit);
        f
    };
    assert!(first_row(dora()).ends_with("NEXT ATTEMPT · lost"), "{}", first_row(dora()));
    assert!(first_row(lost_trials(1)).ends_with("NEXT TRIAL · lost"), "{}", first_row(lost_trials(1)));
    let mut searching = dora();
    let job = Job { name: "dora.next_points".to_owned(), inputs: serde_json::Value::Null };
    searching
        .write(Cause::Policy, Event::ComputeRequested { call: CallId(900), job: std::sync::Arc::new(job) });
    assert!(first_row(searching).ends_with("COMPUTING 0 s · lost"));
    let mut over = dora();
    over.write(Cause::Policy, Event::RunEnded);
    assert!(first_row(over).ends_with("LOST · step limit"));
}

/// Regression: at 60x16 why an episode was lost was below two columns of equal facts, and the caution below them out of sight.
#[test]
fn a_small_screen_shows_why_it_was_lost_and_the_caution() {
    let mut f = Fixture::for_method("reflexion", "symbolic", 2);
    for action in ["look", "look"] {
        f.begin_episode();
        for _ in 0..3 {
            f.actor_step(action, "A room.", 0.0, serde_json::Value::Null);
        }
        f.end_episode(false, EndReason::StepLimit);
    }
    let mut stage = TestScreen::new(f, 60, 16);
    stage.send(UiMessage::StoreChanged);
    let shown = screen_text(&stage.draw());
    for text in
        ["repeated         look, again at steps 2, 3", "trials 1 and 2 ended alike", "an example, not"]
    {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert!(!shown.contains("trial 2 (this one)"), "{shown}");

    let mut f = lost_trials(1);
    f.begin_episode();
    f.actor_step("look", "A room.", 1.0, serde_json::Value::Null);
    f.end_episode(true, EndReason::Won);
    let mut stage = TestScreen::new(f, 60, 16);
    stage.send(UiMessage::StoreChanged);
    let shown = screen_text(&stage.draw());
    for text in ["trial 2 (this one)", "steps · progress 2 · 1/4", "an example, not"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}
