//! Choosing another model after a failed call, parameters that aren't sent, and costs.

use super::overlays::{lost_episode, type_text};
use super::{TestScreen, screen_text};
use crate::domain::{Autonomy, CallId, CallPhase, DecidedBy, FailureKind, ModelRole, SettingOrigin, Usage};
use crate::driver::LiveCall;
use crate::engine::{Cause, Command, Event, Failure, Prefetch, PrefetchStatus};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::types::ModelList;
use serde_json::json;
use std::time::Duration;

/// The sample session with a model as actor that is being called.
fn with_call_in_flight() -> (Fixture, CallId) {
    let mut f = sample_session();
    f.execute("go to stoveburner 1", DecidedBy::Actor, "Nothing.", 0.5, serde_json::Value::Null);
    let mut spec = f.state.run.as_deref().cloned().unwrap();
    "openai:small".clone_into(&mut spec.actor);
    spec.settings.set("actor.base_url", "http://h/v1", SettingOrigin::Flag);
    spec.settings.set(
        "actor.unsent",
        json!(["top_k 50: not part of this endpoint's profile"]),
        SettingOrigin::BuiltIn,
    );
    f.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
    let call = f.send_prompt();
    (f, call)
}

/// The same session after the call has failed.
fn with_failed_call(kind: FailureKind) -> Fixture {
    let (mut f, call) = with_call_in_flight();
    let failure = Failure {
        message: "h refused it (401): wrong key".to_owned(),
        source: "small at h".to_owned(),
        hint: "set the key, then retry".to_owned(),
        kind: Some(kind),
        partial_text: String::new(),
        usage: None,
    };
    f.write(Cause::Model, Event::CallFailed { call, failure });
    f
}

/// Regression: the first row said THINKING while the server was still to be reached, and while the next attempt was waited for.
#[test]
fn the_first_row_tells_connecting_and_retrying_from_thinking() {
    let (fixture, call) = with_call_in_flight();
    let mut stage = TestScreen::new(fixture, 80, 24);
    let started = stage.now;
    stage.now += Duration::from_millis(2100);
    for (phase, mode, row) in [
        (CallPhase::Connecting, "CONNECTING 2 s", "connecting"),
        (CallPhase::Retrying(Duration::from_secs(5)), "RETRYING in 3 s", "retrying in 3 s"),
        (CallPhase::Retrying(Duration::from_secs(1)), "RETRYING in 0 s", "retrying in 0 s"),
        (CallPhase::Waiting, "THINKING 2 s", "waiting for the first token"),
    ] {
        let live = LiveCall {
            call,
            role: ModelRole::Actor,
            phase,
            reasoning: "".into(),
            text: "".into(),
            delta_count: 0,
            started,
            last_progress: started,
            only_keep_alives: false,
            usage: None,
            notice: None,
        };
        stage.fixture.store.edit_live(|l| l.calls = vec![live]);
        let shown = screen_text(&stage.draw());
        assert!(shown.lines().next().unwrap().ends_with(mode) && shown.contains(row), "{mode}: {shown}");
    }
}

/// Regression: while a call was tried again, the step's details had only `cost 0 + 0 tokens, 0.0 s`, and afterwards the error had no
/// label.
#[test]
fn the_details_of_a_step_say_why_its_call_is_tried_again_and_why_it_failed() {
    let (fixture, call) = with_call_in_flight();
    let mut stage = TestScreen::new(fixture, 80, 24);
    let live = LiveCall {
        call,
        role: ModelRole::Actor,
        phase: CallPhase::Connecting,
        reasoning: "".into(),
        text: "".into(),
        delta_count: 0,
        started: stage.now,
        last_progress: stage.now,
        only_keep_alives: false,
        usage: None,
        notice: None,
    };
    stage.fixture.store.edit_live(|l| l.calls = vec![live.clone()]);
    stage.press("i");
    let shown = screen_text(&stage.draw());
    assert!(
        shown.contains("nothing yet: no reply has arrived") && !shown.contains("0 + 0 tokens"),
        "{shown}"
    );
    let notice = Some("h: connection refused; retrying in 0.5 s (1 of 4)".to_owned());
    let retried = LiveCall { phase: CallPhase::Retrying(Duration::from_millis(500)), notice, ..live };
    stage.fixture.store.edit_live(|l| l.calls = vec![retried]);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("retrying    h: connection refused; retrying in 0.5 s (1 of 4)"), "{shown}");

    let mut stage = TestScreen::new(with_failed_call(FailureKind::Busy), 80, 24);
    stage.press("i");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("error       a call failed"), "{shown}");
}

/// Regression: a reply of 1 MB filled the Story, and neither the prompt view nor the step details showed the failure.
#[test]
fn the_prompt_and_step_of_a_failed_call_show_failure_and_partial_reply() {
    let mut f = with_failed_call(FailureKind::Busy);
    let call = f.state.failed_call.as_ref().map_or(CallId(0), |t| t.0.call());
    f.write(Cause::Person, Event::Retried { call: Some(call), reply_source: None });
    let failure = Failure {
        message:
            "the reply from h does not end (85 kB so far); partial reply of 81900 characters: lorem ipsum..."
                .to_owned(),
        source: "small at h".to_owned(),
        hint: "set max_tokens".to_owned(),
        kind: Some(FailureKind::InvalidResponse),
        partial_text: Failure::shorten(&"lorem ipsum dolor ".repeat(4550)),
        usage: None,
    };
    assert_eq!(
        failure.partial_text.chars().count(),
        Failure::MAX_PARTIAL_TEXT + "... (81900 characters)".len()
    );
    f.write(Cause::Model, Event::CallFailed { call, failure });
    let mut stage = TestScreen::new(f, 120, 36);
    let story = screen_text(&stage.draw());
    assert!(story.contains("85 kB so far") && story.matches("lorem").count() < 4, "{story}");
    for key in ["p", "i"] {
        stage.press(key);
        let text = screen_text(&stage.draw());
        let flat: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("partial") && text.contains("85 kB so far"), "{key}: {text}");
        let (least, most) = if key == "p" { (20, 30) } else { (80, 120) };
        assert!((least..most).contains(&flat.matches("lorem ipsum").count()), "{key}: {text}");
        stage.press("Esc");
    }
}

/// Regression: that a stop sequence was no longer sent was only a notice of a few seconds and wasn't shown in the Story.
#[test]
fn what_a_call_revealed_about_its_server_is_shown_with_the_step() {
    let mut f = with_failed_call(FailureKind::Busy);
    let call = f.state.failed_call.as_ref().map_or(CallId(0), |t| t.0.call());
    f.write(Cause::Person, Event::Retried { call: Some(call), reply_source: None });
    let settings = ["top_k 50: not part of this endpoint's profile", "stop at a newline: it cut off"];
    let settings = settings.map(str::to_owned).to_vec();
    f.write(Cause::Model, Event::SettingDeviationsChanged { call, role: ModelRole::Actor, settings });
    let step = f.state.last_step().unwrap();
    assert_eq!(
        step.setting_deviations,
        ["stop at a newline: it cut off"],
        "what was already known is not reported again"
    );
    let mut stage = TestScreen::new(f, 120, 36);
    let text = screen_text(&stage.draw());
    assert!(text.contains("request to the actor's server changed: stop at a newline"), "{text}");
    stage.press("i");
    let change = "            request to the actor's server changed: stop at a newline";
    assert!(screen_text(&stage.draw()).contains(change));
}

/// Regression: after a failed call, the key that lets a person play changed nothing that could be seen.
#[test]
fn after_a_failed_call_the_key_to_play_names_the_key_for_an_action() {
    let mut stage = TestScreen::new(with_failed_call(FailureKind::Busy), 80, 24);
    assert_eq!(stage.press("H"), [Request::Send(Command::SetAutonomy(Autonomy::Human))]);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("you play now: o takes your action"), "{shown}");
}

#[test]
fn after_a_failed_call_another_model_or_a_recorded_reply_can_answer() {
    let mut stage = TestScreen::new(with_failed_call(FailureKind::Credentials), 80, 24);
    stage.model.configured_models = ["openai:big profile far".to_owned()].into();
    let text = screen_text(&stage.draw());
    assert!(text.contains("O another model") && text.contains("Y a recorded reply"), "{text}");
    // A variable of a running program can't be set from outside.
    assert!(text.contains("to set the key: quit, set it, then resume"), "{text}");
    let text = screen_text(&TestScreen::new(with_failed_call(FailureKind::NotFound), 80, 24).draw());
    assert!(text.contains("will probably fail"), "{text}");
    assert!(
        !screen_text(&TestScreen::new(with_failed_call(FailureKind::Busy), 80, 24).draw())
            .contains("probably fail")
    );
    stage.press("O");
    insta::assert_snapshot!("model_80x24", screen_text(&stage.draw()));
    let requests = stage.press("Enter");
    let [Request::Send(Command::ChangeRun(spec))] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((spec.actor.as_str(), spec.settings.text("actor.profile", "")), ("openai:big", "far"));
    assert!(!spec.settings.contains("actor.base_url"), "the profile sets the address");
    stage.fixture.write(Cause::Person, Event::RunChanged { spec: spec.clone() });
    assert!(screen_text(&stage.draw()).contains("a retry calls openai:big"));
    assert_eq!(stage.press("r"), [Request::Send(Command::Retry)]);
}

#[test]
fn a_model_can_be_typed_for_either_role_and_a_person_can_play() {
    let mut stage = TestScreen::new(with_failed_call(FailureKind::Busy), 60, 16);
    stage.press("O");
    insta::assert_snapshot!("model_60x16", screen_text(&stage.draw()));
    stage.press("Tab");
    assert!(screen_text(&stage.draw()).contains("Mentor from now on"));
    type_text(&mut stage, "openai:wise");
    let requests = stage.press("Enter");
    let [Request::Send(Command::ChangeRun(spec))] = requests.as_slice() else { panic!("{requests:?}") };
    let at = spec.settings.text("mentor.base_url", "");
    assert_eq!(
        (spec.actor.as_str(), spec.mentor.as_str(), at),
        ("openai:small", "openai:wise", "http://h/v1")
    );
    stage.press("O");
    type_text(&mut stage, "human");
    assert_eq!(stage.press("Enter"), [Request::Send(Command::SetAutonomy(Autonomy::Human))]);
}

/// Regression: a typed address became the model's name, and nothing on the screen changed the server.
#[test]
fn a_wrong_address_is_mended_in_the_model_dialog() {
    let mut stage = TestScreen::new(with_failed_call(FailureKind::NotFound), 120, 36);
    for (typed, actor) in [
        ("http://127.0.0.1:8765/v1", "openai:small"),
        ("openai:fake http://127.0.0.1:8765/v1", "openai:fake"),
        ("openai:fake at http://127.0.0.1:8765/v1/", "openai:fake"),
    ] {
        stage.press("O");
        type_text(&mut stage, typed);
        let requests = stage.press("Enter");
        let [Request::Send(Command::ChangeRun(spec)), ..] = requests.as_slice() else {
            panic!("{typed}: {requests:?}")
        };
        assert_eq!(
            (spec.actor.as_str(), spec.settings.text("actor.base_url", "")),
            (actor, "http://127.0.0.1:8765/v1"),
            "{typed}"
        );
    }
    for (typed, error) in [
        ("openai:my model", "a model's name has no blanks"),
        ("http://me:secret@h/v1", "wrong base URL: it contains a user name or password"),
    ] {
        stage.press("O");
        type_text(&mut stage, typed);
        assert_eq!(stage.press("Enter"), [], "{typed}");
        let shown = screen_text(&stage.draw());
        assert!(shown.contains(error), "{typed}: {shown}");
        stage.press("Esc");
    }
}

/// Regression: the advice after a failed call named neither the key nor the flag that change the address.
#[test]
fn advice_about_the_address_names_key_and_flag() {
    let mut f = with_failed_call(FailureKind::Unreachable);
    let (effect, failure) = f.state.failed_call.clone().unwrap();
    let call = effect.call();
    f.write(Cause::Person, Event::Retried { call: Some(call), reply_source: None });
    let hint = "check that the server is running and the base URL is correct (--base-url)".to_owned();
    f.write(Cause::Model, Event::CallFailed { call, failure: Failure { hint, ..failure } });
    let shown = screen_text(&TestScreen::new(f, 120, 36).draw());
    assert!(shown.contains("base URL is correct (O,") && shown.contains("or --base-url)"), "{shown}");
}

/// Regression: the dialog listed only the models of the configuration and didn't show the current sampling.
#[test]
fn the_models_of_the_server_are_listed_and_the_values_in_force_are_shown() {
    let mut f = with_failed_call(FailureKind::NotFound);
    let mut spec = f.state.run.as_deref().cloned().unwrap();
    let sampling = json!({"temperature": 0.0, "top_p": 0.7, "max_tokens": 256, "seed": true});
    spec.settings.set("actor.sampling", sampling, SettingOrigin::Config);
    f.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
    let answer = |role, listed: Result<&[&str], &str>| {
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let listed = listed.map(|all| ModelList { server: "h".to_owned(), names: names(all) });
        UiMessage::Answer(Answer::Models { role, models: listed.map_err(str::to_owned) })
    };
    let mut stage = TestScreen::new(f, 80, 24);
    assert_eq!(stage.press("O"), [Request::ListModels(ModelRole::Actor)]);
    let text = screen_text(&stage.draw());
    assert!(text.contains("Now: openai:small at h; temperature 0.0, top_p 0.7, max_tokens 256"), "{text}");
    assert!(text.contains("loading models from the server ...") && text.contains("current"), "{text}");
    stage.press("Down");
    stage.send(answer(ModelRole::Actor, Ok(&["small", "qwen3:4b", "large"])));
    insta::assert_snapshot!("model_listed_80x24", screen_text(&stage.draw()));
    assert!(screen_text(&stage.draw()).contains("▸ rules"), "the cursor stays where it was");
    type_text(&mut stage, "qwen");
    let requests = stage.press("Enter");
    let [Request::Send(Command::ChangeRun(spec))] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(
        (spec.actor.as_str(), spec.settings.text("actor.base_url", "")),
        ("openai:qwen3:4b", "http://h/v1")
    );
    // The server of the other role is queried once, when its page is opened.
    stage.press("O");
    assert_eq!(stage.press("Tab"), [Request::ListModels(ModelRole::Mentor)]);
    stage.send(answer(ModelRole::Mentor, Err("cannot connect to h: Connection refused")));
    let text = screen_text(&stage.draw());
    assert!(text.contains("can't list models: cannot connect to h: Connection refused"), "{text}");
    assert_eq!(["Tab", "Tab", "Tab"].map(|key| stage.press(key).len()), [0, 0, 1]);
    stage.send(answer(ModelRole::Actor, Ok(&[])));
    assert!(screen_text(&stage.draw()).contains("h lists no models"));
    type_text(&mut stage, "openai:mine");
    let requests = stage.press("Enter");
    assert!(matches!(requests.as_slice(), [Request::Send(Command::ChangeRun(_))]), "{requests:?}");
}

/// Regression: the dialog still showed values that the server had rejected, and the limit before it was raised.
#[test]
fn the_model_dialog_shows_the_values_in_force() {
    let mut f = with_failed_call(FailureKind::NotFound);
    let mut spec = f.state.run.as_deref().cloned().unwrap();
    let sampling = json!({"temperature": 0.0, "top_p": 0.7, "max_tokens": 256});
    spec.settings.set("actor.sampling", sampling, SettingOrigin::Config);
    "openai:wise".clone_into(&mut spec.mentor);
    f.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
    let call = f.state.failed_call.as_ref().map_or(CallId(0), |t| t.0.call());
    let mut stage = TestScreen::new(f, 120, 36);
    stage.press("O");
    let learnt = |stage: &mut TestScreen, unsent: &[&str]| {
        let settings = unsent.iter().map(|s| (*s).to_owned()).collect();
        stage
            .fixture
            .write(Cause::Model, Event::SettingDeviationsChanged { call, role: ModelRole::Actor, settings });
        screen_text(&stage.draw())
    };
    let text = learnt(
        &mut stage,
        &["max_tokens: 512 in place of 256 for small at h, whose replies the smaller limit cut off"],
    );
    assert!(text.contains("temperature 0.0, top_p 0.7, max_tokens 512"), "{text}");
    let text = learnt(
        &mut stage,
        &[
            "top_p: the server refused it",
            "stop at a newline: it cut off the action of small at h",
            "max_tokens: at least 4096 for small at h, whose reasoning used up the smaller limit",
        ],
    );
    let now = "temperature 0.0, max_tokens 4096; left out: top_p, stop";
    assert!(text.contains(now), "{text}");
    assert!(text.contains("openai:wise  the mentor"), "{text}");
    stage.model.size = (60, 16);
    let why = "h returned HTTP 401: Incorrect API key provided: you can find your API key in the settings";
    stage.send(UiMessage::Answer(Answer::Models { role: ModelRole::Actor, models: Err(why.to_owned()) }));
    let text = screen_text(&stage.draw());
    assert!(text.contains("can't list models: h rejects the key (401)"), "{text}");
}

#[test]
fn a_recording_is_chosen_from_existing_sessions() {
    let mut stage = TestScreen::new(with_failed_call(FailureKind::Busy), 80, 24);
    assert_eq!(stage.press("Y"), [Request::ListSessions]);
    let sessions =
        ["20261101T1-put-a", "20261102T1-heat-b"].map(|s| (s.to_owned(), "react: a goal".to_owned()));
    stage.send(UiMessage::Answer(Answer::Sessions(sessions.to_vec())));
    insta::assert_snapshot!("recorded_80x24", screen_text(&stage.draw()));
    type_text(&mut stage, "heat");
    let retry = Command::RetryFromRecording("recorded:20261102T1-heat-b".to_owned());
    assert_eq!(stage.press("Enter"), [Request::Send(retry)]);
    stage.press("Y");
    assert_eq!(stage.press("Enter"), [Request::Send(Command::RetryFromRecording("cache".to_owned()))]);
    // Without a failed call there is nothing to replace.
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    assert_eq!(stage.press("Y"), []);
    assert!(screen_text(&stage.draw()).contains("no failed or cancelled model call"));
}

#[test]
fn recorded_replies_and_unsent_parameters_are_reported() {
    let mut f = with_failed_call(FailureKind::Busy);
    let call = f.state.failed_call.as_ref().map_or(CallId(0), |t| t.0.call());
    let from = Some("recorded:s1".to_owned());
    f.write(Cause::Person, Event::Retried { call: Some(call), reply_source: from.clone() });
    let settings = vec!["seed: the server refused it".to_owned()];
    f.write(Cause::Model, Event::SettingDeviationsChanged { call, role: ModelRole::Actor, settings });
    let usage = Usage { prompt_tokens: 90, reply_tokens: 3, recorded: true, ..Usage::default() };
    let text = "look".to_owned();
    f.write(
        Cause::Model,
        Event::ReplyReceived {
            tool_calls: Vec::new(),
            truncated: None,
            call,
            text,
            reasoning: String::new(),
            usage,
            reply_source: from,
        },
    );
    let (step, action) = (f.state.last_step().map_or(0, |s| s.number), Some("look".to_owned()));
    f.write(
        Cause::Model,
        Event::Proposed { step, thought: None, action, planned: Vec::new(), complaints: Vec::new() },
    );
    let mut stage = TestScreen::new(f, 120, 36);
    let text = screen_text(&stage.draw());
    assert!(text.contains("recorded reply from session s1"), "{text}");
    stage.press("p");
    let text = screen_text(&stage.draw());
    assert!(
        text.contains("changed in the request: seed: the server refused it") && !text.contains("top_k"),
        "{text}"
    );
    stage.press("Esc");
    stage.press("i");
    let text = screen_text(&stage.draw());
    assert!(text.contains("90 + 3 tokens from a recording"), "{text}");
}

#[test]
fn the_end_card_says_what_it_cost_and_who_counted() {
    let mut f = sample_session();
    f.execute("go to stoveburner 1", DecidedBy::Actor, "Nothing.", 0.5, serde_json::Value::Null);
    let call = f.send_prompt();
    let usage = Usage {
        prompt_tokens: 900,
        reply_tokens: 100,
        cost_nano: 12_345_678,
        counted_by_proxy: true,
        ..Usage::default()
    };
    let text = "look".to_owned();
    f.receive_reply(call, text, usage);
    f.end_episode(false, crate::domain::EndReason::StepLimit);
    for number in 1..=3 {
        let usage = Usage { prompt_tokens: 50, cost_nano: 2_000_000, ..Usage::default() };
        let prefetch =
            |status| Box::new(Prefetch { number, role: ModelRole::Actor, status, call: None, usage });
        f.write(Cause::Model, Event::PrefetchChanged(prefetch(PrefetchStatus::Requested)));
        f.write(Cause::Model, Event::PrefetchChanged(prefetch(PrefetchStatus::Dropped)));
    }
    let mut stage = TestScreen::new(f, 120, 36);
    stage.press("C");
    let text = screen_text(&stage.draw());
    assert!(text.contains("1000 by a proxy") && text.contains("cost 0.0123"), "{text}");
    assert!(text.contains("prefetched       3 sent, 0 used, 3 unused, 150 tokens, cost 0.00600"), "{text}");
    // Without a price no cost is shown.
    let mut stage = TestScreen::new(lost_episode(), 120, 36);
    stage.press("C");
    assert!(!screen_text(&stage.draw()).contains(", cost "));
}

/// Regression: the dialog of `O` showed max_tokens 4096 on its first page and 256 on the next, showed no value for the
/// actor's stop sequence, and chose a nonexistent model on Enter with a filter.
#[test]
fn the_model_dialog_shows_what_is_sent_and_chooses_existing_models() {
    let model = || {
        let mut f = with_failed_call(FailureKind::Busy);
        let mut spec = f.state.run.as_deref().cloned().unwrap();
        let sampling = json!({"temperature": 0.0, "max_tokens": 256});
        spec.settings.set("actor.sampling", sampling, SettingOrigin::Config);
        spec.settings.set("context_tokens", 8192, SettingOrigin::BuiltIn);
        "openai:big".clone_into(&mut spec.mentor);
        f.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
        f
    };
    let mut stage = TestScreen::new(model(), 120, 36);
    for key in ["O", "Tab", "Tab"] {
        stage.press(key);
    }
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("actor.max_tokens  256;") && shown.contains(r#"actor.stop  ["\n"];"#), "{shown}");
    let mut f = model();
    let call = f.state.failed_call.as_ref().map_or(CallId(0), |t| t.0.call());
    let settings = [
        "max_tokens: at least 4096 for small at http://h/v1, whose reasoning used up the smaller limit",
        "stop at a newline: it cut off the action of small at http://h/v1",
    ];
    let settings = settings.map(str::to_owned).to_vec();
    f.write(Cause::Model, Event::SettingDeviationsChanged { call, role: ModelRole::Actor, settings });
    let mut stage = TestScreen::new(f, 120, 36);
    stage.press("p");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("max_tokens 4096 (raised from 256)"), "{shown}");
    stage.press("Esc");
    stage.press("O");
    assert!(screen_text(&stage.draw()).contains("max_tokens 4096; left out: stop"));
    for key in ["Tab", "Tab"] {
        stage.press(key);
    }
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("actor.max_tokens  4096 (raised from 256)"), "{shown}");
    assert!(shown.contains("actor.stop  not sent;") && shown.contains("context_tokens  8192;"), "{shown}");
    // A setting, as the hint of a failure writes it, can be typed on the first page.
    let set = |stage: &mut TestScreen, text: &str| {
        stage.press("O");
        type_text(stage, text);
        match stage.press("Enter").as_slice() {
            [.., Request::Send(Command::ChangeSetting { name, value })] => (name.clone(), value.clone()),
            other => panic!("{other:?}"),
        }
    };
    stage.press("Esc");
    assert_eq!(set(&mut stage, "actor.max_tokens=9000"), ("actor.max_tokens".to_owned(), json!(9000)));
    assert_eq!(set(&mut stage, "context_tokens 4000"), ("context_tokens".to_owned(), json!(4000)));
    // Part of a listed name selects that name; on the mentor's page, the current mentor is selected.
    stage.press("O");
    let listed = ModelList { server: "h".to_owned(), names: vec!["qwen3:4b".to_owned()] };
    stage.send(UiMessage::Answer(Answer::Models { role: ModelRole::Actor, models: Ok(listed) }));
    type_text(&mut stage, "openai:qw");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("▸ openai:qwen3:4b") && shown.contains("openai:qw  as typed"), "{shown}");
    stage.press("Ctrl-u");
    stage.press("Tab");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("▸ openai:big  current"), "{shown}");
}

/// Regression: the notice of the last retry stayed under a call that had failed, and the last row offered a step.
#[test]
fn a_failed_call_clears_the_retry_notice_and_shows_its_own_keys() {
    let mut stage = TestScreen::new(with_failed_call(FailureKind::Busy), 80, 24);
    stage.fixture.store.signal(crate::driver::Signal::Notice("h: busy; retry 2 of 2".to_owned()));
    stage.send(UiMessage::StoreChanged);
    let shown = screen_text(&stage.draw());
    let last = shown.lines().last().unwrap();
    assert!(!shown.contains("retry 2") && !last.contains("step"), "{shown}");
    assert!(last.contains("r retry") && last.contains("O model"), "{shown}");
}

/// Regression: the hint named a command-line flag where a key does the same.
#[test]
fn advice_on_the_screen_names_its_key() {
    let mut f = with_failed_call(FailureKind::TooLong);
    let (effect, failure) = f.state.failed_call.clone().unwrap();
    let call = effect.call();
    f.write(Cause::Person, Event::Retried { call: Some(call), reply_source: None });
    let hint = "this prompt has about 9000 tokens: lower its budget (--set context_tokens=N) or the answer's (max_tokens of the profile), or give the server a larger context";
    let message = "h refused it (400): This model's maximum context length is 4096 tokens. However, you requested 9256 tokens \
                   (9000 in the messages, 256 in the completion). Please reduce the length of the messages or completion.";
    let failure = Failure { hint: hint.to_owned(), message: message.to_owned(), ..failure };
    f.write(Cause::Model, Event::CallFailed { call, failure });
    let mut stage = TestScreen::new(f, 60, 16);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("O: context_tokens=N") && !shown.contains("--set"), "{shown}");
    assert!(shown.contains("small at h: h refused it"), "{shown}");
}
