//! Samples of a step: asking, listing, choosing and forking; the same for a comparison with and without a lesson.

use super::{SIZES, TestScreen, screen_text};
use crate::domain::{
    BranchId, DecidedBy, EndReason, LessonId, Sample, SampleRequest, SampleStatus, SampledLesson,
    SettingOrigin, ShownAs, ThoughtDisposition, Usage,
};
use crate::driver::{Fork, Health, SampleOrder};
use crate::engine::{Cause, Command, Event};
use crate::lesson_test::Expectation;
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::types::{RequestForm, RequestSource};
use std::sync::Arc;

const STEP: u32 = 24;

/// Writes a request for samples of a step; returns its number.
fn request(fixture: &mut Fixture, step: u32, count: u32, lesson: Option<SampledLesson>) -> u32 {
    let group = fixture.state.last_sample_group + 1;
    let prompt = fixture.state.actor_prompts.0.clone().unwrap();
    let request = SampleRequest {
        group,
        episode: 1,
        step,
        count,
        first_retry: 1,
        prompt_sha256: prompt.sha256.clone(),
        lesson,
        prompt: None,
        tokens: 1210,
    };
    fixture.write(Cause::Person, Event::SamplesRequested { request: Arc::new(request) });
    group
}

/// Writes the end of a sample.
fn arrive(fixture: &mut Fixture, group: u32, number: u32, thought: Option<&str>, action: Option<&str>) {
    let usage = Usage { prompt_tokens: 1210, reply_tokens: 32, cost_nano: 2_484_000, ..Usage::default() };
    let (thought, action) = (thought.map(str::to_owned), action.map(str::to_owned));
    let sample = Sample { group, number, thought, action, usage, ..Sample::default() };
    fixture.write(Cause::Model, Event::Sampled { sample: Arc::new(sample) });
}

fn fail(fixture: &mut Fixture, group: u32, number: u32, error: &str) {
    let (status, error) = (SampleStatus::Failed, Some(error.to_owned()));
    let sample = Sample { group, number, status, error, ..Sample::default() };
    fixture.write(Cause::Model, Event::Sampled { sample: Arc::new(sample) });
}

/// The sample session with five samples of its proposal, `go to stoveburner 1`.
fn with_samples() -> Fixture {
    let mut fixture = sample_session();
    let group = request(&mut fixture, STEP, 5, None);
    arrive(&mut fixture, group, 2, Some("A stove heats things, too."), Some("go to stoveburner 1"));
    let thought = "The microwave is on countertop 3. It heats food, and the stoveburner doesn't.";
    arrive(&mut fixture, group, 1, Some(thought), Some("go to microwave 1"));
    fail(&mut fixture, group, 4, "http://127.0.0.1:8080 returned HTTP 500; retry, or check the server's log");
    arrive(&mut fixture, group, 5, Some("The apple must be hot."), Some("go to microwave 1"));
    arrive(&mut fixture, group, 3, Some("I should look around first."), None);
    fixture
}

fn lesson_of(fixture: &Fixture, number: u32) -> LessonId {
    fixture.state.pool.by_number(number).unwrap().id.clone()
}

fn overlay_names(screen: &TestScreen) -> Vec<&'static str> {
    screen.compositor.overlays().iter().map(|overlay| overlay.name()).collect()
}

fn notice(screen: &TestScreen) -> String {
    screen.model.notice.as_ref().map(|notice| notice.text.clone()).unwrap_or_default()
}

fn order(count: u32) -> Request {
    Request::Sample(SampleOrder { step: STEP, count, lesson: None })
}

#[test]
fn samples_are_asked_for_with_a_number_that_can_be_changed() {
    let mut screen = TestScreen::new(sample_session(), 80, 24);
    assert_eq!(screen.press("I"), []);
    let shown = screen_text(&screen.draw());
    assert!(
        shown.contains("Nothing is executed")
            && shown.contains("asks for 5 (+ - or digits), about 6355 tokens"),
        "{shown}"
    );
    assert!(
        !shown.contains("Enter run it ─") && !shown.contains("fork each"),
        "there is nothing to run: {shown}"
    );
    insta::assert_snapshot!("samples_before_80x24", shown);
    assert_eq!(screen.press("Enter"), [order(5)], "without samples, Enter asks");
    for (keys, expected) in
        [("+", 6), ("---", 3), ("12", 12), ("+", 13), ("0", 1), ("-", 1), ("999", 100), ("7", 7), ("+7", 7)]
    {
        for key in keys.chars() {
            screen.press(&key.to_string());
        }
        assert_eq!(screen.press("I"), [order(expected)], "{keys}");
    }
    assert_eq!(screen.press("Esc"), []);
    assert_eq!(overlay_names(&screen), [""; 0]);
}

#[test]
fn the_list_shows_counts_failures_and_cost() {
    for (w, h) in SIZES {
        let mut screen = TestScreen::new(with_samples(), w, h);
        screen.press("I");
        insta::assert_snapshot!(format!("samples_{w}x{h}"), screen_text(&screen.draw()));
        screen.press("Tab");
        insta::assert_snapshot!(format!("samples_thoughts_{w}x{h}"), screen_text(&screen.draw()));
        // The story keeps what was sampled.
        screen.press("Esc");
        let story = screen_text(&screen.draw());
        assert!(story.contains("4 of 5 samples (1 failed): go to microwave 1 (2)"), "{story}");
    }
}

#[test]
fn a_chosen_proposal_is_the_persons_override() {
    let mut screen = TestScreen::new(with_samples(), 120, 36);
    screen.press("I");
    let with_thought = |action: &str, thought_disposition| {
        let (action, shown_as) = (action.to_owned(), ShownAs::AgentAction);
        [Request::Send(Command::Override { action, shown_as, thought_disposition })]
    };
    assert_eq!(screen.press("Enter"), with_thought("go to microwave 1", ThoughtDisposition::Kept));
    assert_eq!(overlay_names(&screen), [""; 0]);
    // The step's own proposal simply runs.
    screen.press("I");
    screen.press("Down");
    assert_eq!(screen.press("Enter"), [Request::Send(Command::Step)]);
    screen.press("I");
    screen.press("Down");
    screen.press("Down");
    let kept = with_thought("think: I should look around first.", ThoughtDisposition::Kept);
    assert_eq!(screen.press("Enter"), kept);
    screen.press("I");
    screen.press("End");
    assert_eq!(screen.press("Enter"), []);
    assert!(notice(&screen).contains("no proposal that could be run"), "{}", notice(&screen));
    // A thought of the step itself would contradict the action, so the sample's thought takes its place.
    let mut fixture = sample_session();
    fixture.execute("go to stoveburner 1", DecidedBy::Actor, "Nothing.", 0.5, serde_json::Value::Null);
    fixture.propose(Some("I take it."), Some("take apple 1")).pause();
    let group = request(&mut fixture, 25, 1, None);
    arrive(&mut fixture, group, 1, Some("It is in my hand already."), Some("go to microwave 1"));
    let mut screen = TestScreen::new(fixture, 120, 36);
    screen.press("I");
    let rewritten = ThoughtDisposition::Rewritten("It is in my hand already.".to_owned());
    assert_eq!(screen.press("Enter"), with_thought("go to microwave 1", rewritten));
}

#[test]
fn a_branch_is_started_for_each_other_proposal() {
    let mut screen = TestScreen::new(with_samples(), 120, 36);
    let at = screen.fixture.state.head;
    screen.press("I");
    let requests = screen.press("f");
    let forks: Vec<&Fork> = requests
        .iter()
        .filter_map(|request| match request {
            Request::Fork(fork) => Some(fork),
            _ => None,
        })
        .collect();
    let reasons: Vec<_> = forks.iter().map(|fork| fork.reason.as_str()).collect();
    let expected =
        ["step 24: sampled go to microwave 1", "step 24: sampled think: I should look around first."];
    assert_eq!(reasons, expected);
    for fork in forks {
        assert_eq!((fork.at_seq, &fork.source_branch), (at, &Some(BranchId::trunk())));
        assert!(matches!(fork.commands[..], [Command::Override { .. }]), "{fork:?}");
    }
    assert_eq!(requests.last(), Some(&Request::SwitchBranch(BranchId::trunk())), "the proposal waits here");
    assert_eq!(notice(&screen), "2 new branches at step 24; B lists the branches");
    // Without another proposal there is nothing to fork.
    let mut screen = TestScreen::new(sample_session(), 120, 36);
    let group = request(&mut screen.fixture, STEP, 1, None);
    arrive(&mut screen.fixture, group, 1, None, Some("go to stoveburner 1"));
    screen.press("I");
    assert_eq!(screen.press("f"), []);
    assert!(notice(&screen).contains("no other proposal to fork"), "{}", notice(&screen));
}

/// A decided step is sampled, too; what is chosen there continues on a new branch.
#[test]
fn a_choice_in_the_past_forks() {
    let mut fixture = with_samples();
    fixture.execute("go to stoveburner 1", DecidedBy::Actor, "Nothing.", 0.5, serde_json::Value::Null);
    fixture.propose(None, Some("look"));
    fixture.pause();
    let mut screen = TestScreen::new(fixture, 80, 24);
    screen.press("Left");
    screen.press("I");
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("Samples of step 24") && shown.contains("as proposed"), "{shown}");
    assert_eq!(screen.press("I"), [order(5)]);
    let requests = screen.press("Enter");
    let [Request::Fork(fork)] = &requests[..] else { panic!("{requests:?}") };
    assert!(
        matches!(&fork.commands[..], [Command::Override { action, .. }] if action == "go to microwave 1")
    );
    let before = fork.at_seq;
    let state = screen.fixture.store.state_at(before);
    assert_eq!(state.step_awaiting_decision().map(|step| step.number), Some(STEP));
    assert!(!state.last_step().unwrap().samples.is_empty(), "the branch keeps the samples");
}

#[test]
fn esc_cancels_the_samples_in_progress_before_it_closes() {
    let mut fixture = sample_session();
    let group = request(&mut fixture, STEP, 5, None);
    arrive(&mut fixture, group, 1, None, Some("go to microwave 1"));
    let live = crate::driver::LiveSample::waiting(group, 2);
    fixture.store.edit_live(|all| all.samples.push(live));
    let mut screen = TestScreen::new(fixture, 80, 24);
    screen.press("I");
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("1 of 5 samples") && shown.contains("1 in progress"), "{shown}");
    assert!(shown.contains("Esc cancel"), "{shown}");
    assert_eq!(screen.press("Esc"), [Request::CancelSamples]);
    assert_eq!(overlay_names(&screen), ["samples"]);
    screen.fixture.store.edit_live(|all| all.samples.clear());
    screen.send(UiMessage::StoreChanged);
    assert_eq!(screen.press("Esc"), []);
    assert_eq!(overlay_names(&screen), [""; 0]);
}

#[test]
fn a_lesson_is_compared_at_one_prompt() {
    let mut fixture = sample_session();
    let id = lesson_of(&fixture, 6);
    let sampled = SampledLesson { id: id.clone(), number: 6, added: false };
    for (w, h) in SIZES {
        let mut screen = TestScreen::new(sample_session(), w, h);
        screen.model.selected_lesson = Some(id.clone());
        screen.model.selected_lane = Some(0);
        screen.press(":");
        for letter in "sample-lesson".chars() {
            screen.press(&letter.to_string());
        }
        screen.press("Enter");
        assert_eq!(overlay_names(&screen), ["samples"]);
        let ask = Request::Sample(SampleOrder { step: STEP, count: 1, lesson: Some(id.clone()) });
        assert_eq!(screen.press("Enter"), [ask], "the proposal itself is the other side");
        let group = request(&mut screen.fixture, STEP, 1, Some(sampled.clone()));
        arrive(&mut screen.fixture, group, 1, None, Some("go to microwave 1"));
        let shown = screen_text(&screen.draw());
        insta::assert_snapshot!(format!("samples_lesson_{w}x{h}"), shown);
    }
    // More samples keep both sides at the same number.
    let group = request(&mut fixture, STEP, 1, Some(sampled.clone()));
    arrive(&mut fixture, group, 1, None, Some("go to microwave 1"));
    let mut screen = TestScreen::new(fixture, 100, 30);
    screen.model.selected_lesson = Some(id.clone());
    screen.model.selected_lane = Some(0);
    screen.model.focus = crate::ui::types::Focus::Lanes;
    screen.press("Enter");
    assert_eq!(overlay_names(&screen), ["details"]);
    screen.press("I");
    assert_eq!(overlay_names(&screen), ["details", "samples"]);
    screen.press("4");
    let lesson_order = Request::Sample(SampleOrder { step: STEP, count: 4, lesson: Some(id.clone()) });
    assert_eq!(screen.press("I"), [order(4), lesson_order]);
    // Regression: there was no key that measures the lesson from here.
    let requests = screen.press("%");
    let [Request::PlanEffect(query)] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((&query.lesson, query.place.step), (&id, Some(STEP)));
    assert_eq!(overlay_names(&screen), ["details", "effect"]);
}

#[test]
fn what_cannot_be_sampled_says_why() {
    let mut screen = TestScreen::new(Fixture::new(), 80, 24);
    screen.press("I");
    assert_eq!(notice(&screen), "no episode to sample yet");
    // Nothing has been sampled in this recording.
    let fixture = sample_session();
    fixture.store.edit_live(|live| live.health = Health::ReadOnly);
    let mut screen = TestScreen::new(fixture, 80, 24);
    screen.press("I");
    assert!(notice(&screen).contains("read-only"), "{}", notice(&screen));
    // What was sampled can be looked at.
    let fixture = with_samples();
    fixture.store.edit_live(|live| live.health = Health::ReadOnly);
    let mut screen = TestScreen::new(fixture, 80, 24);
    screen.press("I");
    assert_eq!(overlay_names(&screen), ["samples"]);
    for key in ["I", "Enter", "f"] {
        assert_eq!(screen.press(key), [], "{key}");
        assert!(notice(&screen).contains("read-only: resume"), "{key}: {}", notice(&screen));
    }
}

/// The request of a step, and that of a prompt in the prompt view.
#[test]
fn a_request_is_copied_as_json_or_as_a_command() {
    let mut screen = TestScreen::new(sample_session(), 80, 24);
    let prompt_seq = screen.fixture.state.last_step().unwrap().prompt_seq;
    let copy = |form| Request::CopyRequest { source: RequestSource::Event(prompt_seq), form };
    screen.press("i");
    assert_eq!(screen.press("Y"), [copy(RequestForm::Json)]);
    assert_eq!(screen.press("C"), [copy(RequestForm::Curl)]);
    screen.press("Esc");
    screen.press(":");
    for letter in "copy-curl".chars() {
        screen.press(&letter.to_string());
    }
    assert_eq!(screen.press("Enter"), [copy(RequestForm::Curl)]);
    screen.press("p");
    let requests = screen.press("Y");
    let [Request::CopyRequest { source: RequestSource::Prompt(record, prompt), form }] = &requests[..] else {
        panic!("{requests:?}");
    };
    assert_eq!((record.step, *form), (STEP, RequestForm::Json));
    assert!(!prompt.segments.is_empty());
    // The text is copied once it is written; why it can't be is said.
    let copied = screen.send(UiMessage::Answer(Answer::RequestText(Ok("{}".to_owned()))));
    assert_eq!(copied, [Request::Copy("{}".to_owned())]);
    screen.send(UiMessage::Answer(Answer::RequestText(Err("no server".to_owned()))));
    assert_eq!(notice(&screen), "no server");
    let mut screen = TestScreen::new(Fixture::new(), 80, 24);
    screen.press(":");
    for letter in "copy-request".chars() {
        screen.press(&letter.to_string());
    }
    assert_eq!(screen.press("Enter"), []);
    assert_eq!(notice(&screen), "step 0 has no prompt whose request could be copied");
}

#[test]
fn a_decision_is_kept_as_a_test() {
    for (w, h) in SIZES {
        let mut screen = TestScreen::new(sample_session(), w, h);
        screen.press("=");
        insta::assert_snapshot!(format!("keep_test_{w}x{h}"), screen_text(&screen.draw()));
    }
    let keep = |screen: &TestScreen, typed: &str, is_forbidden| {
        let source = RequestSource::Event(screen.fixture.state.last_step().unwrap().prompt_seq);
        let expectation = Expectation::parse(typed, is_forbidden).unwrap();
        [Request::KeepTest { source, expectation }]
    };
    let mut screen = TestScreen::new(sample_session(), 80, 24);
    screen.press("=");
    assert_eq!(screen.press("Enter"), keep(&screen, "go to stoveburner 1", false));
    // The proposal is forbidden.
    screen.press("=");
    screen.press("Tab");
    assert_eq!(screen.press("Enter"), keep(&screen, "go to stoveburner 1", true));
    screen.press("=");
    super::overlays::type_text(&mut screen, "if mistake");
    assert_eq!(screen.press("Enter"), []);
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("only the action and the thought"), "{shown}");
    screen.press("Esc");
    // A person's override is what was expected.
    let mut fixture = sample_session();
    let overridden = Event::ActionOverridden {
        step: STEP,
        proposed: Some("go to stoveburner 1".to_owned()),
        action: "go to microwave 1".to_owned(),
        shown_as: ShownAs::AgentAction,
        thought_disposition: ThoughtDisposition::Kept,
        thoughts_from: None,
    };
    fixture.write(Cause::Person, overridden);
    let mut screen = TestScreen::new(fixture, 80, 24);
    screen.press("=");
    assert_eq!(screen.press("Enter"), keep(&screen, "go to microwave 1", false));
    let mut screen = TestScreen::new(Fixture::new(), 80, 24);
    screen.press("=");
    assert_eq!(notice(&screen), "no decision to keep yet");
}

/// Regression: some totals of the run counted samples and others didn't, and none said so.
#[test]
fn totals_of_the_run_count_and_name_samples() {
    let totals = with_samples().state().usage;
    let sampled = totals.samples.spent.tokens();
    assert_eq!((sampled, totals.tokens()), (4968, totals.actor_tokens + totals.mentor_tokens + 4968));
    let mut screen = TestScreen::new(with_samples(), 200, 60);
    let shown = screen_text(&screen.draw());
    assert!(shown.lines().next().unwrap().contains("k tokens, 5.0k of them for samples"), "{shown}");
    let together = format!("together {} tokens", totals.tokens());
    screen.press("p");
    let shown = screen_text(&screen.draw());
    let words = "5 samples, 1 failed, 4968 tokens, cost 0.009936; ";
    assert!(shown.contains(words) && shown.contains(&together), "{shown}");
    let mut fixture = with_samples();
    fixture.end_episode(false, EndReason::Person);
    let mut screen = TestScreen::new(fixture, 200, 60);
    screen.press("C");
    let shown = screen_text(&screen.draw());
    assert!(
        shown.contains("whole run        actor 24 calls, 30504 tokens; 5 samples, 1 failed, 4968"),
        "{shown}"
    );
    assert!(shown.contains(&together), "{shown}");
}

/// Regression: the first row had our estimate of a prompt, the prompt view what its server counts.
#[test]
fn the_first_row_counts_a_prompt_like_the_prompt_view() {
    let mut fixture = sample_session();
    let mut spec = fixture.state.run.as_deref().cloned().unwrap();
    spec.settings.set("context_tokens", 8192, SettingOrigin::BuiltIn);
    fixture.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
    fixture.write(Cause::Person, Event::AskedAgain { step: STEP, unusable_reason: None, draft: None });
    let call = fixture.send_prompt();
    let usage = Usage { prompt_tokens: 3187, reply_tokens: 9, ..Usage::default() };
    fixture.receive_reply(call, "look".to_owned(), usage);
    let mut screen = TestScreen::new(fixture, 160, 36);
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("prompt 3.2k of 8.2k"), "{shown}");
    screen.press("p");
    let shown = screen_text(&screen.draw());
    assert!(shown.contains("3187 tokens reported, "), "{shown}");
}

/// Regression: the prompt view and the step details had different numbers of tokens for one prompt.
#[test]
fn the_prompt_view_counts_a_prompt_like_the_step_details() {
    for estimated in [false, true] {
        let mut fixture = sample_session();
        fixture.write(Cause::Person, Event::AskedAgain { step: STEP, unusable_reason: None, draft: None });
        let call = fixture.send_prompt();
        let usage = Usage { prompt_tokens: 1187, reply_tokens: 9, estimated, ..Usage::default() };
        fixture.receive_reply(call, "look".to_owned(), usage);
        let mut screen = TestScreen::new(fixture, 120, 36);
        screen.press("p");
        let shown = screen_text(&screen.draw());
        let words = if estimated { "about 1187 tokens, " } else { "1187 tokens reported, " };
        assert!(shown.contains(words), "{shown}");
        assert_eq!(shown.contains("; estimated: "), !estimated, "{shown}");
        screen.press("Esc");
        screen.press("i");
        let words = if estimated { "about 1187 tokens" } else { "1187 + 9 tokens" };
        assert!(screen_text(&screen.draw()).contains(words));
    }
}
