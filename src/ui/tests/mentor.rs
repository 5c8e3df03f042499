//! Methods with a mentor: their lanes, mentor calls in flight, prompts, failed calls and parse problems.

use super::{SIZES, TestScreen, screen_text};
use crate::domain::{
    Author, CallId, CallPhase, EndReason, LessonOrigin, LessonText, ModelRole, Question, Reflection,
    ReflectionItem, ReflectionKind, SameAdvice, Task,
};
use crate::driver::LiveCall;
use crate::engine::{Cause, Command, Event, Failure};
use crate::ui::fixture::{
    Fixture, dora, fcrf, planning_only, rci, reflexion, sample_session, summary, sweet_sour,
};
use crate::ui::msg::{Request, UiMessage};
use crate::ui::types::Focus;

pub(super) const QUESTIONS: [Question; 3] = [
    Question { kind: ReflectionKind::Error, purpose: crate::domain::Purpose::Reflect },
    Question { kind: ReflectionKind::Abstract, purpose: crate::domain::Purpose::Reflect },
    Question { kind: ReflectionKind::Progress, purpose: crate::domain::Purpose::Reflect },
];

/// The sample session after a step, with a round of mentor calls in flight.
pub(super) fn with_questions_in_flight() -> (Fixture, Vec<crate::domain::CallId>) {
    let mut f = sample_session();
    f.execute(
        "go to stoveburner 1",
        crate::domain::DecidedBy::Actor,
        "Nothing.",
        0.5,
        serde_json::Value::Null,
    );
    f.write(Cause::Person, Event::Resumed);
    let calls = f.ask_mentor(&QUESTIONS);
    (f, calls)
}

pub(super) fn failure(message: &str) -> Failure {
    Failure {
        message: message.to_owned(),
        source: "mentor".to_owned(),
        hint: "start the server, then try again".to_owned(),
        ..Failure::default()
    }
}

#[test]
fn lanes_of_each_method() {
    type MakeFixture = fn() -> Fixture;
    let methods: [(&str, MakeFixture); 6] = [
        ("reflexion", reflexion),
        ("fcrf", fcrf),
        ("sweet_sour", sweet_sour),
        ("planning", planning_only),
        ("dora", dora),
        ("rci", rci),
    ];
    for (name, fixture) in methods {
        for (w, h) in SIZES {
            let mut stage = TestScreen::new(fixture(), w, h);
            insta::assert_snapshot!(format!("lanes_{name}_{w}x{h}"), screen_text(&stage.draw()));
        }
    }
}

#[test]
fn memories_are_shown_as_tuples_short_term_first() {
    let mut stage = TestScreen::new(sweet_sour(), 80, 24);
    stage.draw();
    stage.press("5");
    stage.press("z");
    insta::assert_snapshot!("memory_zoomed_80x24", screen_text(&stage.draw()));
    stage.press("i");
    insta::assert_snapshot!("memory_details_80x24", screen_text(&stage.draw()));
}

#[test]
fn a_tip_names_its_source_lesson() {
    let mut stage = TestScreen::new(fcrf(), 80, 24);
    stage.draw();
    stage.press("4");
    stage.press("i");
    let text = screen_text(&stage.draw());
    assert!(
        text.contains("made from   lesson 2: Look at what lies open before you open anything."),
        "{text}"
    );
}

/// Regression: 28 pieces of advice about other tasks took the lane, and a selected one must still be seen.
#[test]
fn lessons_about_other_tasks_are_one_row() {
    let mut f = crate::ui::fixture::dora_long();
    let task = Task { id: "put/2".to_owned(), ..f.state().run.as_ref().unwrap().tasks[0].clone() };
    f.end_episode(false, EndReason::StepLimit);
    let (task, role) = (Box::new(task), crate::domain::EpisodeRole::Test);
    f.write(Cause::Policy, Event::EpisodeStarted { episode: 99, task, trial: 1, role, call: CallId(9000) });
    let mut stage = TestScreen::new(f, 200, 60);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("… 39 about other tasks") && !shown.contains("other task "), "{shown}");
    stage.press("4");
    stage.press("j");
    let shown = screen_text(&stage.draw());
    assert!(!shown.contains("about other tasks") && shown.contains("…  other task"), "{shown}");
}

/// Regression: plans of other tasks took rows from the lanes of what applies here, as long as there were fewer than three.
#[test]
fn plans_of_other_tasks_are_one_row() {
    let mut f = crate::ui::fixture::reflexion();
    let task = Task { id: "put/2".to_owned(), ..f.state().run.as_ref().unwrap().tasks[0].clone() };
    f.end_episode(false, EndReason::StepLimit);
    let (task, role) = (Box::new(task), crate::domain::EpisodeRole::Test);
    f.write(Cause::Policy, Event::EpisodeStarted { episode: 99, task, trial: 1, role, call: CallId(9000) });
    let mut stage = TestScreen::new(f, 80, 24);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("… 2 about other tasks") && !shown.contains("on no shelf"), "{shown}");
    stage.press("3");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("on no shelf") && !shown.contains("about other tasks"), "{shown}");
}

/// Regression: a person's own lesson looked like any other, and the words about its uses cut the text.
#[test]
fn a_persons_lesson_has_a_mark_and_its_text_comes_before_its_uses() {
    let shown = screen_text(&TestScreen::new(sample_session(), 120, 36).draw());
    for row in ["│ ✎  4  Searched drawers for food.", "│    1  Look on open surfaces before you o…  24×\n"]
    {
        assert!(shown.contains(row), "{row}: {shown}");
    }
    assert!(shown.contains("2  Hold one object at a time.      used 24×"), "where there is room: {shown}");
}

/// Regression: a lesson of a pool file whose kind has no lane in the method was shown nowhere.
#[test]
fn lessons_without_a_lane_share_an_extra_lane() {
    let mut fixture = reflexion();
    let lanes = |f: &Fixture| {
        let mut stage = TestScreen::new(reflexion(), 80, 24);
        stage.fixture.store = f.store.clone();
        screen_text(&stage.draw())
    };
    assert!(!lanes(&fixture).contains("Other"));
    fixture.add_lesson(
        ReflectionKind::Error,
        LessonText::error("Ran in circles.", "Go elsewhere."),
        LessonOrigin::File,
    );
    let text = lanes(&fixture);
    assert!(text.contains("Plans 2") && text.contains("Other 1"), "{text}");
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.draw();
    stage.press("4");
    let text = screen_text(&stage.draw());
    assert!(text.contains("Ran in circles.") && text.contains("Error"), "{text}");
    assert_eq!(stage.press("R"), [], "no reflection of a kind that the method doesn't write");
    assert!(screen_text(&stage.draw()).contains("reflexion writes no Error reflections"));
    stage.press("3");
    assert_eq!(stage.press("R"), [Request::Send(Command::Reflect(ReflectionKind::Plan))]);
}

#[test]
fn the_mentor_questions_in_flight_are_all_named() {
    let (fixture, calls) = with_questions_in_flight();
    let mut stage = TestScreen::new(fixture, 80, 24);
    let live = |n: usize, phase, reasoning: &str, text: &str, pieces| LiveCall {
        call: calls[n],
        role: ModelRole::Mentor,
        phase,
        reasoning: reasoning.into(),
        text: text.into(),
        delta_count: pieces,
        started: stage.now,
        last_progress: stage.now,
        only_keep_alives: false,
        usage: None,
        notice: None,
    };
    let working = vec![
        live(
            0,
            CallPhase::Answering,
            "",
            "['Went to a stove with an apple, although a stove heats nothing here",
            21,
        ),
        live(1, CallPhase::Reasoning, "Which of this holds in other kitchens?", "", 9),
        live(2, CallPhase::Waiting, "", "", 0),
    ];
    stage.now += std::time::Duration::from_secs(12);
    stage.fixture.store.edit_live(|l| l.calls = working);
    insta::assert_snapshot!("mentor_at_work_80x24", screen_text(&stage.draw()));
    stage.model.size = (200, 60);
    insta::assert_snapshot!("mentor_at_work_200x60", screen_text(&stage.draw()));
    // Every pane stays usable, and Ctrl-C cancels the round.
    stage.press("3");
    assert_eq!(stage.model.focus, Focus::Lanes);
    assert_eq!(stage.press("Ctrl-c"), [Request::Send(Command::Cancel)]);
}

/// Regression: the screen said only "your turn", not that a reflection was missing nor what to do about it.
#[test]
fn cancelled_mentor_questions_are_shown_with_the_next_keys() {
    let (mut fixture, calls) = with_questions_in_flight();
    for call in calls {
        fixture.write(Cause::Person, Event::CallCancelled { call, partial_reply: Box::default() });
    }
    fixture.pause();
    let mut stage = TestScreen::new(fixture, 80, 24);
    let shown = screen_text(&stage.draw());
    for words in
        ["mentor call cancelled before it was answered: Error, Abstract", "n continue", "L continue without"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(stage.press("L"), [Request::Send(Command::GiveUp)]);
    // After the retry nothing is shown any more.
    stage.fixture.write(Cause::Person, Event::Resumed);
    stage.fixture.ask_mentor(&QUESTIONS);
    assert!(!screen_text(&stage.draw()).contains("call cancelled"));
}

/// Regression: the waiting proposal's keys weren't shown, and the key that was shown discarded its action.
#[test]
fn a_cancelled_reflection_leaves_the_proposal_its_keys() {
    for (w, h) in [(80, 24), (60, 16)] {
        let mut fixture = sample_session();
        assert!(fixture.state().step_awaiting_decision().is_some_and(|s| s.proposed.is_some()));
        let calls = fixture.ask_mentor(&QUESTIONS[..1]);
        fixture.write(Cause::Person, Event::CallCancelled { call: calls[0], partial_reply: Box::default() });
        fixture.pause();
        assert_eq!(fixture.state().cancelled_calls.len(), 1);
        let mut stage = TestScreen::new(fixture, w, h);
        let shown = screen_text(&stage.draw());
        for words in [
            "mentor call cancelled",
            "L continue without",
            "R ask for a reflection",
            "n runs the proposed action without",
            "Enter run it",
            "o override",
            "x reject",
        ] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        assert!(!shown.contains("what is due"), "{shown}");
        assert_eq!(stage.press("n"), [Request::Send(Command::Step)]);
        assert_eq!(stage.press("L"), [Request::Send(Command::GiveUp)]);
    }
}

/// Regression: a server that sent only keep-alives looked as if it were working, for minutes.
#[test]
fn a_silent_server_is_reported_and_whether_it_is_alive() {
    let (fixture, calls) = with_questions_in_flight();
    let mut stage = TestScreen::new(fixture, 80, 24);
    let live = |phase, text: &str, alive| LiveCall {
        call: calls[1],
        role: ModelRole::Mentor,
        phase,
        reasoning: "".into(),
        text: text.into(),
        delta_count: u64::from(!text.is_empty()) * 4,
        started: stage.now,
        last_progress: stage.now,
        only_keep_alives: alive,
        usage: None,
        notice: None,
    };
    let cases = [
        (
            live(CallPhase::Waiting, "", false),
            "nothing received from the server for 44 s",
            "calling the mentor, silent for 44 s",
        ),
        (
            live(CallPhase::Waiting, "", true),
            "the server is alive but has sent no text for 44 s",
            "calling the mentor, silent",
        ),
        (
            live(CallPhase::Answering, "A stove", true),
            "has sent no more text for 44 s; Ctrl-C cancels",
            "silent for 44 s",
        ),
    ];
    stage.now += std::time::Duration::from_secs(14);
    stage.model.size = (200, 60);
    stage.fixture.store.edit_live(|l| l.calls = vec![cases[0].0.clone()]);
    assert!(!screen_text(&stage.draw()).contains("silent"), "a short silence isn't reported");
    stage.now += std::time::Duration::from_secs(30);
    for (call, story, lane) in cases {
        stage.fixture.store.edit_live(|l| l.calls = vec![call]);
        let shown = screen_text(&stage.draw());
        assert!(shown.contains(story) && shown.contains(lane), "{story}: {shown}");
    }
}

/// Regression: the reward, the last part of a memory's tuple, was cut off by one column after a long action.
#[test]
fn the_reward_of_a_memory_is_never_cut_off() {
    for width in 60..=200 {
        let mut stage = TestScreen::new(sweet_sour(), width, 36);
        stage.draw();
        stage.press("5");
        let shown = screen_text(&stage.draw());
        let cut = shown.lines().find(|l| l.contains("did  ") && !l.contains(", reward 0"));
        assert_eq!(cut, None, "{width} columns");
    }
}

/// Every action of a plan has its own row, and the current one is marked, however few rows there are.
#[test]
fn the_current_action_of_a_plan_is_marked() {
    for (width, height) in [(200, 60), (120, 36), (80, 24), (60, 16)] {
        let mut stage = TestScreen::new(planning_only(), width, height);
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("▸ 3  go to microwave 1"), "{shown}");
        assert!(shown.contains("4  open microwave 1"), "{shown}");
    }
}

/// Regression: the preview showed a prompt that is never sent: a planned step calls no model.
#[test]
fn a_planned_step_shows_the_prompt_of_the_plan() {
    let mut stage = TestScreen::new(planning_only(), 120, 36);
    stage.draw();
    stage.press("p");
    for _ in 0..2 {
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("Prompt to the mentor (Plan of actions) before step 1, as sent"), "{shown}");
        assert!(
            shown.contains("No model is called for a step") && shown.contains("takes action 3"),
            "{shown}"
        );
        stage.press("v");
    }
}

/// Regression: a lane was empty because the strategy writes nothing into it, and didn't say so.
#[test]
fn an_empty_lane_says_why() {
    let cases = [
        ("reflexion", "strategy", "last-attempt".into(), "with strategy last-attempt"),
        ("reflexion", "strategy", "none".into(), "with strategy none"),
        ("sweet_sour", "negative", false.into(), "disabled: negative is off"),
        ("omnireflect", "kind_error", false.into(), "disabled: kind_error is off"),
        ("fcrf", "lesson", true.into(), "written when a task that failed before is solved"),
    ];
    for (method, name, value, words) in cases {
        let mut fixture = Fixture::for_method(method, "openai:small", 3);
        let value: serde_json::Value = value;
        fixture.write(Cause::Person, Event::SettingChanged { name: name.to_owned(), value });
        let mut stage = TestScreen::new(fixture, 200, 60);
        let shown = screen_text(&stage.draw());
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn failed_calls_are_shown_with_the_next_keys() {
    let (mut fixture, calls) = with_questions_in_flight();
    for (call, what) in calls.iter().zip(["connection refused", "the server said 503", "connection refused"])
    {
        fixture.write(Cause::Model, Event::CallFailed { call: *call, failure: failure(what) });
    }
    let mut stage = TestScreen::new(fixture, 80, 24);
    insta::assert_snapshot!("mentor_failed_80x24", screen_text(&stage.draw()));
    assert_eq!(stage.press("r"), [Request::Send(Command::Retry)]);
    assert_eq!(stage.press("L"), [Request::Send(Command::GiveUp)]);
}

#[test]
fn where_the_actor_failed_a_person_can_act_in_its_place() {
    let mut fixture = sample_session();
    fixture.execute(
        "go to stoveburner 1",
        crate::domain::DecidedBy::Actor,
        "Nothing.",
        0.5,
        serde_json::Value::Null,
    );
    let call = fixture.send_prompt();
    fixture.write(Cause::Model, Event::CallFailed { call, failure: failure("connection refused") });
    let mut stage = TestScreen::new(fixture, 80, 24);
    assert!(screen_text(&stage.draw()).contains("o type an action"));
    stage.press("o");
    stage.send(UiMessage::Answer(super::overlays::admissible_answer()));
    for key in ["l", "o", "o", "k"] {
        stage.press(key);
    }
    let requests = stage.press("Enter");
    let expected = [Request::Send(Command::GiveUp), Request::Send(Command::Act("look".to_owned()))];
    assert_eq!(requests, expected);
}

#[test]
fn parse_complaints_are_shown_with_the_step() {
    let (mut fixture, calls) = with_questions_in_flight();
    fixture.mentor_answers(
        calls[0],
        QUESTIONS[0],
        &["Went to a stove."],
        &["the list is cut off: its last item is not read"],
    );
    fixture.mentor_answers(
        calls[1],
        QUESTIONS[1],
        &[],
        &["given up after a failed call: connection refused"],
    );
    fixture.mentor_answers(calls[2], QUESTIONS[2], &["Holding the apple."], &[]);
    fixture.send_prompt();
    fixture.write(
        Cause::Model,
        Event::AskedAgain { step: 25, unusable_reason: Some("there was no action".to_owned()), draft: None },
    );
    fixture.propose(None, Some("go to microwave 1"));
    fixture.pause();
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.model.zoomed = true;
    insta::assert_snapshot!("complaints_80x24", screen_text(&stage.draw()));
}

#[test]
fn prompts_of_actor_and_mentor_are_chosen_by_tab() {
    let (mut fixture, calls) = with_questions_in_flight();
    for (n, question) in QUESTIONS.iter().enumerate() {
        fixture.mentor_answers(calls[n], *question, &["Something."], &[]);
    }
    fixture.ask_mentor(&QUESTIONS[..1]);
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.press("p");
    insta::assert_snapshot!("prompt_of_mentor_80x24", screen_text(&stage.draw()));
    stage.press("d");
    insta::assert_snapshot!("prompt_of_mentor_difference_80x24", screen_text(&stage.draw()));
    stage.press("Tab");
    let text = screen_text(&stage.draw());
    assert!(text.contains("[mentor: Abstract]"), "{text}");
    stage.press("BackTab");
    stage.press("BackTab");
    stage.press("d");
    assert!(screen_text(&stage.draw()).contains("Prompt of step 24: read by the rules"));
}

#[test]
fn a_summary_opens_when_pending_and_is_accepted_line_by_line() {
    for (w, h) in SIZES {
        let mut stage = TestScreen::new(summary(), w, h);
        stage.draw();
        stage.model.end_card_shown_for = Some(1);
        stage.send(UiMessage::StoreChanged);
        insta::assert_snapshot!(format!("summary_{w}x{h}"), screen_text(&stage.draw()));
    }
    let mut stage = TestScreen::new(summary(), 80, 24);
    stage.model.end_card_shown_for = Some(1);
    stage.send(UiMessage::StoreChanged);
    let top = |s: &TestScreen| s.compositor.overlays().last().map(|o| o.name());
    assert_eq!(top(&stage), Some("summary"));
    // Once closed, it stays closed until opened by a key, and no step runs before it is settled.
    assert_eq!(stage.press("q"), []);
    stage.send(UiMessage::StoreChanged);
    assert_eq!(top(&stage), None);
    assert_eq!(stage.press("n"), []);
    assert_eq!(top(&stage), Some("summary"), "stepping opens the summary that it waits for");
    stage.press("q");
    stage.press("M");
    stage.press("j");
    stage.press("x");
    stage.press("G");
    stage.press("x");
    insta::assert_snapshot!("summary_refused_80x24", screen_text(&stage.draw()));
    assert_eq!(stage.press("Enter"), [Request::Send(Command::ApplySummary { refused: vec![1, 4] })]);
    stage.press("M");
    stage.press("X");
    assert_eq!(stage.press("Enter"), [Request::Send(Command::ApplySummary { refused: vec![0, 1, 2, 3, 4] })]);
}

#[test]
fn a_lane_says_that_the_advice_repeats() {
    let repeated = |times, ends_task| {
        let mut fixture = reflexion();
        let state = fixture.state();
        let episode = state.episode.as_ref().unwrap().number;
        let item = ReflectionItem { text: LessonText::plain("Look again."), ..ReflectionItem::default() };
        let reflection = Reflection {
            same_advice: Some(SameAdvice { times, cosine: 0.97, ends_task }),
            ..Reflection::new(ReflectionKind::Plan, Author::Mentor, (episode, 0), vec![item])
        };
        fixture.write(Cause::Model, Event::Reflected { reflection: Box::new(reflection) });
        fixture
    };
    for (w, h) in [(200, 60), (120, 36), (80, 24)] {
        let text = |times, ends_task| screen_text(&TestScreen::new(repeated(times, ends_task), w, h).draw());
        assert!(!text(2, false).contains("same advice"), "twice is no alarm");
        let alarm = text(3, false);
        assert!(alarm.contains("same advice 3 times") && !alarm.contains("ends early"), "{alarm}");
        assert!(text(4, true).contains("same advice 4 times: the task ends early"), "{w}x{h}");
    }
}
