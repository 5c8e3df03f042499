//! Stepping, pausing and playing; read-only sessions; failed and cancelled calls.

use super::{TestScreen, screen_text};
use crate::domain::{Autonomy, DecidedBy, EndReason, PartialReply, Usage};
use crate::driver::Health;
use crate::engine::{Cause, Command, Event, PauseReason};
use crate::ui::fixture::sample_session;
use crate::ui::msg::{Request, UiMessage};

fn notice_text(stage: &TestScreen) -> String {
    stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default()
}

fn overlay_names(stage: &TestScreen) -> Vec<&'static str> {
    stage.compositor.overlays().iter().map(|o| o.name()).collect()
}

/// Runs the step that waits, as the driver would after `n`.
fn run_granted_step(stage: &mut TestScreen) {
    stage.fixture.write(Cause::Person, Event::StepGranted);
    assert_eq!(stage.send(UiMessage::StoreChanged), [], "a step is running");
    stage.fixture.execute("look", DecidedBy::Actor, "You are in a room.", 0.5, serde_json::Value::Null);
    assert_eq!(stage.send(UiMessage::StoreChanged), [], "a step is running");
    stage.fixture.propose(None, Some("look"));
}

/// Regression: eight presses in a quarter of a second ran only two steps.
#[test]
fn fast_steps_are_all_done() {
    let step = [Request::Send(Command::Step)];
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    assert_eq!(stage.press("n"), step);
    for _ in 0..2 {
        assert_eq!(stage.press("n"), []);
    }
    for _ in 0..2 {
        run_granted_step(&mut stage);
        assert_eq!(stage.send(UiMessage::StoreChanged), step);
        assert_eq!(stage.send(UiMessage::StoreChanged), [], "requested once");
    }
    run_granted_step(&mut stage);
    assert_eq!(stage.send(UiMessage::StoreChanged), [], "no step is left in the queue");
}

#[test]
fn any_other_key_drops_the_queued_steps() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("n");
    stage.press("n");
    stage.press("Tab");
    run_granted_step(&mut stage);
    assert_eq!(stage.send(UiMessage::StoreChanged), []);
}

/// Regression: between the calls of a single step the first row said "your turn" and the footer "run", but Space
/// paused, and nothing went on.
#[test]
fn space_during_a_step_goes_on_running() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.fixture.write(Cause::Person, Event::StepGranted);
    let first_row = screen_text(&stage.draw()).lines().next().unwrap().to_owned();
    assert!(first_row.ends_with("STEPPING"), "{first_row}");
    assert_eq!(stage.press("Space"), [Request::Send(Command::Run)]);
}

/// Regression: a read-only session said "your turn", and its lesson editor claimed to save.
#[test]
fn a_read_only_session_says_so() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
    stage.model.hint = crate::ui::model::FirstRunHint::Step;
    stage.model.resume_command =
        Some("retrospect resume elsewhere/20261120T104000Z-hot-apple-k3v9q2".to_owned());
    let shown = screen_text(&stage.draw());
    assert!(shown.lines().next().unwrap().ends_with("READ-ONLY"), "{shown}");
    assert!(
        !shown.contains("run it") && !shown.contains("your turn") && !shown.contains("press n"),
        "{shown}"
    );
    for key in ["s", "c", "H", "o", "x", "r", "a", "A", "e", "R", "u", "N", "X"] {
        assert_eq!(stage.press(key), [], "{key}");
        assert_eq!(overlay_names(&stage), [""; 0], "{key}");
        let session = "elsewhere/20261120T104000Z-hot-apple-k3v9q2";
        assert_eq!(
            notice_text(&stage),
            format!("read-only; to continue: retrospect resume {session}"),
            "{key}"
        );
    }
    stage.press("Enter");
    assert_eq!(overlay_names(&stage), ["step"]);
}

/// Regression: the last step of a run that had been killed said "calling the model", also where the rules played.
#[test]
fn a_step_without_a_reply_says_so_when_nobody_waits_for_it() {
    let mut f = sample_session();
    f.execute("look", crate::domain::DecidedBy::Actor, "A room.", 0.5, serde_json::Value::Null);
    f.send_prompt();
    let mut stage = TestScreen::new(f, 80, 24);
    let shown = |stage: &mut TestScreen, words: &str| {
        let text = screen_text(&stage.draw());
        assert!(text.contains(words), "{words}: {text}");
    };
    shown(&mut stage, "asking the rules");
    stage.fixture.store.edit_live(|live| live.health = Health::ReadOnly);
    shown(&mut stage, "the run stopped here: no reply was recorded");
    // Another program still plays it.
    stage.fixture.store.edit_live(|live| live.is_followed = true);
    shown(&mut stage, "asking the rules");
}

#[test]
fn ending_an_episode_needs_two_key_presses() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    assert_eq!(stage.press("X"), []);
    assert!(notice_text(&stage).starts_with("end this episode?"));
    stage.press("Left");
    assert_eq!(stage.press("End"), []);
    assert_eq!(stage.press("X"), [], "another key cancels the question");
    assert_eq!(stage.press("X"), [Request::Send(Command::EndEpisode(EndReason::Person))]);
}

/// Regression: the question says that any other key keeps the episode, and Enter also ran the proposal.
#[test]
fn the_key_that_keeps_an_episode_does_nothing_else() {
    for key in ["Enter", "n", "Space", "a", "q"] {
        let mut stage = TestScreen::new(sample_session(), 80, 24);
        stage.press("X");
        assert_eq!(stage.press(key), [], "{key}");
        assert_eq!(
            (notice_text(&stage), overlay_names(&stage)),
            ("the episode isn't ended".to_owned(), vec![]),
            "{key}"
        );
        assert!(!stage.press(key).is_empty() || !overlay_names(&stage).is_empty(), "{key} works again");
    }
}

#[test]
fn a_person_who_plays_gets_the_input_at_every_step_and_esc_closes_it() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.fixture.write(Cause::Person, Event::AutonomySet { autonomy: Autonomy::Human });
    assert_eq!(stage.send(UiMessage::StoreChanged), [Request::ListAdmissible]);
    assert_eq!(overlay_names(&stage), ["play"]);
    stage.press("Esc");
    assert_eq!(stage.send(UiMessage::StoreChanged), []);
    assert_eq!(overlay_names(&stage), [""; 0]);
    stage.fixture.execute("look", DecidedBy::Person, "You are in a room.", 0.5, serde_json::Value::Null);
    assert_eq!(stage.send(UiMessage::StoreChanged), [Request::ListAdmissible]);
    assert_eq!(stage.press("Enter").len(), 0, "an empty line is not an action");
}

/// Regression: after Ctrl-C during a call, the step was shown empty and its keys did nothing.
#[test]
fn a_step_with_a_cancelled_call_names_the_next_keys() {
    let mut fixture = sample_session();
    fixture.execute("look", DecidedBy::Actor, "You are in a room.", 0.5, serde_json::Value::Null);
    let call = fixture.send_prompt();
    fixture.write(Cause::Person, Event::CallCancelled { call, partial_reply: Box::default() });
    fixture.write(Cause::Person, Event::Paused { reason: PauseReason::Person });
    let mut stage = TestScreen::new(fixture, 80, 24);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("n ask again"), "{shown}");
    assert_eq!(stage.press("n"), [Request::Send(Command::Step)]);
}

/// A session with an actor call that was cancelled halfway through its reply.
fn with_cancelled_call() -> crate::ui::fixture::Fixture {
    let mut fixture = sample_session();
    fixture.execute("look", DecidedBy::Actor, "You are in a room.", 0.5, serde_json::Value::Null);
    let call = fixture.send_prompt();
    let usage = Usage { prompt_tokens: 1200, reply_tokens: 21, estimated: true, ..Usage::default() };
    let (text, reasoning) = ("I go to the micro\u{1b}[31mwave".to_owned(), "It must be hot.".to_owned());
    let partial_reply = Box::new(PartialReply { text, reasoning, usage: Some(usage) });
    fixture.write(Cause::Person, Event::CallCancelled { call, partial_reply });
    fixture.write(Cause::Person, Event::Paused { reason: PauseReason::Person });
    fixture
}

/// Regression: the partial reply was discarded, and the choices that a cancelled mentor call has were missing.
#[test]
fn a_partial_reply_is_shown_with_the_next_keys() {
    for (w, h) in [(80, 24), (60, 16)] {
        let mut stage = TestScreen::new(with_cancelled_call(), w, h);
        let shown = screen_text(&stage.draw());
        for words in [
            "you cancelled the call (about 1221 tokens, estimated)",
            "I go to the microwave",
            "has no action yet",
            "n ask again   o type an action   L continue without",
            "p edit prompt   O another model   Y a recorded reply",
        ] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        assert_eq!(stage.press("n"), [Request::Send(Command::Step)]);
        assert_eq!(stage.press("L"), [Request::Send(Command::GiveUp)]);
        assert_eq!(stage.press("r"), [Request::Send(Command::AskAgain)]);
        for (key, overlay) in [("o", "play"), ("O", "model"), ("Y", "recorded"), ("p", "prompt")] {
            stage.press(key);
            assert_eq!(overlay_names(&stage), [overlay], "{key}");
            if key == "p" {
                assert!(screen_text(&stage.draw()).contains("its call was cancelled"));
                for key in ["e", "!"] {
                    stage.press(key);
                    stage.draw();
                }
                let requests = stage.press("Enter");
                let edits =
                    matches!(&requests[..], [Request::Send(Command::EditPrompt { call: Some(_), .. })]);
                assert!(edits, "{requests:?}");
            }
            stage.press("Esc");
        }
    }
    // It stays visible after the step continues, and in full in the step details.
    let mut fixture = with_cancelled_call();
    fixture.propose(None, Some("go to microwave 1"));
    let mut stage = TestScreen::new(fixture, 120, 36);
    assert!(screen_text(&stage.draw()).contains("I go to the microwave"));
    stage.press("i");
    let shown = screen_text(&stage.draw());
    assert!(
        shown.contains("you cancelled the call (about 1221 tokens") && shown.contains("It must be hot."),
        "{shown}"
    );
}

/// Regression: after the retry, nothing showed that a person had edited the prompt.
#[test]
fn a_prompt_that_a_person_changed_after_a_failure_says_so() {
    let mut fixture = sample_session();
    fixture.execute("look", DecidedBy::Actor, "You are in a room.", 0.5, serde_json::Value::Null);
    let call = fixture.send_prompt();
    let [message, source, hint] = ["no answer", "actor", "retry"].map(str::to_owned);
    let failure = crate::engine::Failure {
        message,
        source,
        hint,
        kind: None,
        partial_text: String::new(),
        usage: None,
    };
    fixture.write(Cause::Model, Event::CallFailed { call, failure });
    let mut changed = (**fixture.state().waiting_prompt(call).unwrap()).clone();
    (changed.edited, changed.sha256) = (true, "other".to_owned());
    fixture.write(Cause::Person, Event::PromptDrafted { prompt: changed.clone().into() });
    let mut stage = TestScreen::new(fixture, 80, 24);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("you edited its prompt: a retry sends your text"), "{shown}");
    stage.fixture.write(Cause::Person, Event::PromptSent { prompt: changed.into() });
    let (text, reasoning, usage) = ("look".to_owned(), String::new(), Usage::default());
    let answer = Event::ReplyReceived {
        tool_calls: Vec::new(),
        truncated: None,
        call,
        text,
        reasoning,
        usage,
        reply_source: None,
    };
    stage.fixture.write(Cause::Model, answer);
    let (step, action) = (stage.fixture.state().last_step().unwrap().number, Some("look".to_owned()));
    let proposed =
        Event::Proposed { step, thought: None, action, planned: Vec::new(), complaints: Vec::new() };
    stage.fixture.write(Cause::Model, proposed);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("you edited its prompt"), "{shown}");
    assert!(!shown.contains("a retry") && stage.fixture.state().open_episode().unwrap().assisted);
    stage.press("i");
    assert!(screen_text(&stage.draw()).contains("│ ✎           you edited its prompt"));
}

/// Regression: in planning-only runs the title named the actor, which is never called there.
#[test]
fn the_title_of_a_planned_run_names_who_plans() {
    let titled = |method: &str, mentor: &str| {
        let mut fixture = sample_session();
        let mut spec = fixture.state().run.as_deref().cloned().unwrap();
        (spec.method, spec.actor, spec.mentor) =
            (method.to_owned(), "openai:acts".to_owned(), mentor.to_owned());
        fixture.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
        screen_text(&TestScreen::new(fixture, 80, 24).draw()).lines().nth(1).unwrap().to_owned()
    };
    for (method, mentor, title) in [
        ("planning", "openai:plans", " openai:plans · planning ─"),
        ("planning", "symbolic", " rules (a stand-in) · planning ─"),
        ("react", "openai:plans", " openai:acts · react ─"),
    ] {
        let line = titled(method, mentor);
        assert!(line.contains(title), "{line}");
    }
}

/// Regression: lessons of a loaded constitution were attributed to this run's mentor.
#[test]
fn a_lesson_of_a_file_names_the_file() {
    let mut fixture = crate::ui::fixture::Fixture::new();
    let source = "/home/me/packs/kitchen.jsonl".to_owned();
    fixture.write(Cause::Policy, Event::PoolLoaded { source, lesson_count: 1 });
    let op = crate::domain::LessonOp::plain(
        crate::domain::LessonId("aa".into()),
        crate::domain::ReflectionKind::Abstract,
        crate::domain::Scope::Environment,
        crate::domain::LessonOrigin::Mentor,
        crate::domain::LessonText::plain("Look around."),
    );
    let by = crate::domain::Author::File;
    fixture.write(Cause::Policy, Event::LessonChanged { op: Box::new(op), author: by });
    fixture.begin_episode();
    let mut stage = TestScreen::new(fixture, 120, 36);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("kitchen.jsonl") && !shown.contains("mentor ·"), "{shown}");
    stage.press("3");
    stage.press("i");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("the pool file /home/me/packs/kitchen.jsonl loaded at start"), "{shown}");
    assert!(shown.contains("originally from the mentor"), "{shown}");
}

#[test]
fn a_task_is_played_again_from_a_pause_and_its_number_is_shown() {
    let mut fixture = sample_session();
    fixture.write(Cause::Person, Event::Resumed);
    fixture.end_episode(false, EndReason::StepLimit);
    fixture.write(Cause::Policy, Event::RunEnded);
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.send(UiMessage::StoreChanged);
    stage.press("Esc");
    let shown = screen_text(&stage.draw());
    assert!(
        shown.contains("r play again") && shown.contains("end card") && !shown.contains("run it"),
        "{shown}"
    );
    stage.press("Enter");
    assert_eq!(overlay_names(&stage), ["end"]);
    let requests = stage.press("r");
    assert!(
        matches!(&requests[..], [Request::Send(Command::Pause), Request::Send(Command::BeginEpisode(_))]),
        "{requests:?}"
    );
    stage.fixture.begin_episode();
    assert!(screen_text(&stage.draw()).contains("Story · episode 2"));
}
