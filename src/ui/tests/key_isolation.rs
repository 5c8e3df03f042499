//! Keys in overlays: no key reaches the run behind, except those that an overlay is meant to send.

use super::mentor::{QUESTIONS, with_questions_in_flight};
use super::overlays::{admissible_answer, lost_episode, type_text};
use super::{TestScreen, screen_text};
use crate::domain::{BreakpointConfig, DecidedBy};
use crate::engine::{Cause, Command, Event};
use crate::ui::compositor::Compositor;
use crate::ui::fixture::{Fixture, sample_session, summary};
use crate::ui::model::Model;
use crate::ui::msg::{Request, UiMessage};
use crate::ui::types::Focus;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Opens an overlay.
type OpenFn = fn(&mut TestScreen);

/// An overlay, how to open it, and the keys that may send a command there.
struct Case {
    name: &'static str,
    fixture: fn() -> Fixture,
    open: OpenFn,
    allowed_keys: &'static [&'static str],
}

const fn case(
    name: &'static str,
    fixture: fn() -> Fixture,
    open: OpenFn,
    allowed_keys: &'static [&'static str],
) -> Case {
    Case { name, fixture, open, allowed_keys }
}

fn press_all(stage: &mut TestScreen, keys: &[&str]) {
    for key in keys {
        stage.press(key);
        stage.draw();
    }
}

/// Opens the fork dialog at a past step, and the list or input behind one of its rows.
fn open_fork_row(stage: &mut TestScreen, row: &str) {
    press_all(stage, &["Left", "Left", "F"]);
    for _ in 0..40 {
        if screen_text(&stage.draw()).lines().any(|l| l.contains(&format!("▸ {row}"))) {
            stage.press("Enter");
            return;
        }
        stage.press("Down");
    }
    panic!("no row {row}:\n{}", screen_text(&stage.draw()));
}

fn with_breakpoint() -> Fixture {
    let mut f = sample_session();
    let config = BreakpointConfig { condition: "nothing 3".to_owned(), is_watch: false, once: false };
    f.write(Cause::Person, Event::BreakpointSet { breakpoint: 1, config });
    f
}

fn with_drafted_prompt() -> Fixture {
    let (mut f, _) = with_questions_in_flight();
    let call = f.state().calls.keys().copied().next().unwrap();
    f.write(Cause::Person, Event::CallCancelled { call, partial_reply: Box::default() });
    let draft = f.mentor_prompt(QUESTIONS[0]);
    f.write(Cause::Policy, Event::PromptDrafted { prompt: draft.into() });
    f
}

fn with_divergence() -> Fixture {
    let mut f = sample_session();
    let (recorded, now) = ("A mug 2.".to_owned(), "Nothing.".to_owned());
    f.write(Cause::World, Event::Diverged { episode: 1, step: 9, recorded, actual: now });
    f
}

fn after_run_end() -> Fixture {
    let mut f = lost_episode();
    f.write(Cause::Policy, Event::RunEnded);
    f
}

const CASES: &[Case] = &[
    case("help", sample_session, |s| press_all(s, &["?"]), &[]),
    case("palette", sample_session, |s| press_all(s, &[":"]), &["Enter"]),
    case("search", sample_session, |s| press_all(s, &["/"]), &[]),
    case(
        "search, results",
        sample_session,
        |s| {
            s.press("/");
            type_text(s, "apple");
            s.press("Enter");
        },
        &[],
    ),
    case(
        "override",
        sample_session,
        |s| {
            s.press("o");
            s.send(UiMessage::Answer(admissible_answer()));
        },
        &["Enter", "Ctrl-j", "Ctrl-Enter"],
    ),
    case(
        "override, thought",
        sample_session,
        |s| {
            s.press("o");
            s.send(UiMessage::Answer(admissible_answer()));
            type_text(s, "look");
            press_all(s, &["Ctrl-t", "Ctrl-t", "Enter"]);
        },
        &["Enter"],
    ),
    case("reject", sample_session, |s| press_all(s, &["x"]), &["Enter"]),
    case("remark", sample_session, |s| press_all(s, &["N"]), &["Enter"]),
    case("lesson", sample_session, |s| press_all(s, &["a"]), &["Enter"]),
    case(
        "details",
        sample_session,
        |s| {
            s.model.focus = Focus::Lanes;
            s.press("Enter");
        },
        &["x", "P", "S", "d"],
    ),
    case("step", sample_session, |s| press_all(s, &["Left", "i"]), &[]),
    case("prompt", sample_session, |s| press_all(s, &["p"]), &[]),
    case("prompt, drafted", with_drafted_prompt, |s| press_all(s, &["p"]), &["s"]),
    case("prompt, changed", with_drafted_prompt, |s| press_all(s, &["p", "e"]), &["Enter"]),
    case("summary", summary, |s| press_all(s, &["M"]), &["Enter"]),
    case("runs", sample_session, |s| press_all(s, &["T"]), &["r"]),
    case("breaks", with_breakpoint, |s| press_all(s, &["b", "Up"]), &["x", "d", "o", "w"]),
    case("breaks, typed", with_breakpoint, |s| press_all(s, &["b"]), &["Enter"]),
    case("compare with", sample_session, |s| press_all(s, &["D"]), &[]),
    case("branches", sample_session, |s| press_all(s, &["B"]), &["Enter", "u", "a"]),
    case("branches, named", sample_session, |s| press_all(s, &["B", "r"]), &["Enter"]),
    case(
        "marks",
        sample_session,
        |s| {
            s.press(":");
            type_text(s, "marks");
            s.press("Enter");
        },
        &[],
    ),
    case("fork", sample_session, |s| press_all(s, &["Left", "Left", "F"]), &["Enter"]),
    case("fork, sampling", sample_session, |s| open_fork_row(s, "other actor sampling"), &["Enter"]),
    case("fork, setting", sample_session, |s| open_fork_row(s, "another setting"), &["Enter"]),
    case("fork, method", sample_session, |s| open_fork_row(s, "another method"), &["Enter"]),
    case("fork, model", sample_session, |s| open_fork_row(s, "another actor"), &["Enter"]),
    case("fork, action", sample_session, |s| open_fork_row(s, "another action"), &["Enter"]),
    case("fork, observation", sample_session, |s| open_fork_row(s, "another observation"), &["Enter"]),
    case("model", sample_session, |s| press_all(s, &["O"]), &["Enter"]),
    case("model, sampling", sample_session, |s| press_all(s, &["O", "Tab", "Tab"]), &["Enter"]),
    case("end", after_run_end, |s| drop(s.send(UiMessage::StoreChanged)), &["r"]),
    case("differs", with_divergence, |s| drop(s.send(UiMessage::StoreChanged)), &["Enter"]),
];

/// All keys, each with the name that the cases use.
fn all_keys() -> Vec<(String, KeyEvent)> {
    let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
    let mut all: Vec<_> = ('!'..='~').map(|c| (c.to_string(), plain(KeyCode::Char(c)))).collect();
    let named = [
        ("Space", KeyCode::Char(' ')),
        ("Enter", KeyCode::Enter),
        ("Esc", KeyCode::Esc),
        ("Tab", KeyCode::Tab),
        ("BackTab", KeyCode::BackTab),
        ("Left", KeyCode::Left),
        ("Right", KeyCode::Right),
        ("Up", KeyCode::Up),
        ("Down", KeyCode::Down),
        ("Home", KeyCode::Home),
        ("End", KeyCode::End),
        ("PageUp", KeyCode::PageUp),
        ("PageDown", KeyCode::PageDown),
        ("Insert", KeyCode::Insert),
        ("Backspace", KeyCode::Backspace),
    ];
    all.extend(named.map(|(name, code)| (name.to_owned(), plain(code))));
    // Bound together with `d`, where that deletes.
    all.push(("d".to_owned(), plain(KeyCode::Delete)));
    all.extend((1..=12).map(|n| (format!("F{n}"), plain(KeyCode::F(n)))));
    // Ctrl-C, Ctrl-Z and Ctrl-L are global.
    let ctrl = ('a'..='z').filter(|c| !"czl".contains(*c));
    all.extend(ctrl.map(|c| (format!("Ctrl-{c}"), KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))));
    all
}

fn is_command(request: &Request) -> bool {
    matches!(
        request,
        Request::Send(_)
            | Request::Fork(_)
            | Request::SwitchBranch(_)
            | Request::EditBranches(_)
            | Request::RetryWrite
            | Request::Rerun(_)
            | Request::Quit
    )
}

/// Regression: a space typed into a list started the run behind it.
#[test]
fn keys_in_an_overlay_send_only_its_own_commands() {
    let all = all_keys();
    for Case { name, fixture, open, allowed_keys: allowed } in CASES {
        let mut whole = fixture();
        // One screen for all keys: parsing the keymap takes longer than everything else.
        let mut stage = TestScreen::new(Fixture::empty(), 80, 24);
        let opened = |stage: &mut TestScreen| {
            stage.model = Model { size: (80, 24), ..Model::default() };
            stage.compositor = Compositor::default();
            open(stage);
            stage.draw();
        };
        let tops =
            |stage: &TestScreen| stage.compositor.overlays().iter().map(|o| o.name()).collect::<Vec<_>>();
        for running in [false, true] {
            if running && whole.state().is_waiting() && whole.state().open_episode().is_some() {
                whole.write(Cause::Person, Event::Resumed);
            }
            stage.fixture.store = whole.store.clone();
            opened(&mut stage);
            let initial = tops(&stage);
            assert!(!initial.is_empty(), "{name} is not open");
            for (key, event) in &all {
                let bound = |s: &mut TestScreen| {
                    let mode = s.overlay_mode();
                    s.keymap.action_for(mode, *event).is_some()
                };
                // In a running session, test only the keys that could start or stop it.
                if running && !["Space", "Enter", "n", "s", "r", "a"].contains(&key.as_str()) {
                    continue;
                }
                // Unbound keys only type text, so the overlay stays open for the next one.
                if tops(&stage) != initial || bound(&mut stage) {
                    opened(&mut stage);
                }
                let requests = stage.send(UiMessage::Key(*event));
                let commands: Vec<&Request> = requests.iter().filter(|w| is_command(w)).collect();
                match commands.as_slice() {
                    [] => {}
                    [Request::Send(Command::Pause)] if key == "Space" => {}
                    _ if allowed.contains(&key.as_str()) => {}
                    other => panic!("{name}: {key} sends {other:?}"),
                }
                // Space after the key starts nothing either while an overlay is open.
                if !stage.compositor.overlays().is_empty() {
                    let requests = stage.press("Space");
                    let is_harmless = |w: &Request| !is_command(w) || *w == Request::Send(Command::Pause);
                    assert!(requests.iter().all(is_harmless), "{name}: {key} and a space send {requests:?}");
                }
                if stage.compositor.overlays().is_empty() || bound(&mut stage) {
                    opened(&mut stage);
                }
            }
        }
    }
}

/// Regression: the list and the input had different grammars, and text typed into the list was handled as keys.
#[test]
fn sampling_is_typed_as_for_the_set_command() {
    let model = || {
        let mut f = sample_session();
        let mut spec = f.state.run.as_deref().cloned().unwrap();
        "openai:small".clone_into(&mut spec.actor);
        f.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
        for _ in 0..3 {
            f.execute("look", DecidedBy::Actor, "A room.", 0.5, serde_json::Value::Null);
            f.propose(None, Some("look"));
            f.pause();
        }
        f
    };
    let value = serde_json::json!(0.5);
    for line in [
        "temperature 0.5",
        "actor.temperature 0.5",
        "set actor.temperature 0.5",
        "actor.temperature=0.5",
        "temperature = 0.5",
    ] {
        let mut stage = TestScreen::new(model(), 60, 16);
        open_fork_row(&mut stage, "other actor sampling");
        type_text(&mut stage, line);
        let requests = stage.press("Enter");
        let [Request::Fork(fork)] = &requests[..] else { panic!("{line}: {requests:?}") };
        let set = Command::ChangeSetting { name: "actor.temperature".to_owned(), value: value.clone() };
        assert_eq!(fork.commands.as_slice(), std::slice::from_ref(&set), "{line}");
        let mut stage = TestScreen::new(model(), 60, 16);
        press_all(&mut stage, &["O", "Tab", "Tab"]);
        type_text(&mut stage, line);
        let requests = stage.press("Enter");
        assert!(requests.contains(&Request::Send(set)), "{line}: {requests:?}");
    }
    // Enter fills in the selected name with its value; Esc goes back to the list, then to the choices.
    let mut stage = TestScreen::new(model(), 80, 24);
    open_fork_row(&mut stage, "other actor sampling");
    press_all(&mut stage, &["Down", "Enter"]);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("│ actor.top_p") && shown.contains("sample only from the most likely"), "{shown}");
    stage.press("Esc");
    assert!(screen_text(&stage.draw()).contains("▸ actor.top_p"), "{}", screen_text(&stage.draw()));
    stage.press("Esc");
    assert!(screen_text(&stage.draw()).contains("▸ other actor sampling"));
    // An unknown name is reported.
    let mut stage = TestScreen::new(model(), 80, 24);
    open_fork_row(&mut stage, "other actor sampling");
    type_text(&mut stage, "warmth 3");
    assert_eq!(stage.press("Enter"), []);
    assert!(
        screen_text(&stage.draw()).contains("no setting named `warmth`"),
        "{}",
        screen_text(&stage.draw())
    );
}

/// When an overlay has just closed by itself, the next key may have been meant for it.
#[test]
fn a_key_meant_for_a_closed_overlay_sends_no_command() {
    for key in ["Enter", "n", "r", "Space"] {
        let mut stage = TestScreen::new(lost_episode(), 80, 24);
        stage.send(UiMessage::StoreChanged);
        stage.fixture.begin_episode();
        assert_eq!(stage.press(key), [], "{key}");
        assert!(stage.model.notice.as_ref().unwrap().text.contains("press it again"), "{key}");
    }
}

/// Regression: at 60x16 nothing marked the dialog's hidden rows, and the group's heading scrolled out of view.
#[test]
fn the_fork_dialog_marks_hidden_rows_and_keeps_the_group_heading() {
    let mut stage = TestScreen::new(sample_session(), 60, 16);
    press_all(&mut stage, &["Left", "Left", "F", "Home"]);
    let first = screen_text(&stage.draw());
    assert!(first.lines().any(|l| l.ends_with('↓')) && !first.lines().any(|l| l.ends_with('↑')), "{first}");
    let mut seen = Vec::new();
    for _ in 0..20 {
        let shown = screen_text(&stage.draw());
        let rows: Vec<&str> = shown.lines().collect();
        let asked = rows.iter().position(|r| r.contains("The old branch is kept")).unwrap();
        let top = rows[asked + 1];
        assert!(
            top.contains("From here") || top.contains("After step") || top.contains("Redo step 22"),
            "{shown}"
        );
        seen.push(shown);
        stage.press("Down");
    }
    let last = seen.last().unwrap();
    assert!(last.lines().any(|l| l.ends_with('↑')) && !last.lines().any(|l| l.ends_with('↓')), "{last}");
    insta::assert_snapshot!("fork_scrolled_60x16", last);
}

/// Every list that doesn't fit shows that there are more rows.
#[test]
fn every_list_that_does_not_fit_marks_its_hidden_rows() {
    let cases: [(&str, OpenFn); 6] = [
        ("palette", |s| press_all(s, &[":"])),
        ("model, sampling", |s| press_all(s, &["O", "Tab", "Tab"])),
        ("breaks", |s| press_all(s, &["b"])),
        ("search", |s| {
            s.press("/");
            type_text(s, "the");
        }),
        ("fork, setting", |s| open_fork_row(s, "another setting")),
        ("override", |s| {
            s.press("o");
            s.send(UiMessage::Answer(admissible_answer()));
        }),
    ];
    for (name, open) in cases {
        let mut stage = TestScreen::new(sample_session(), 60, 16);
        open(&mut stage);
        stage.draw();
        let shown = screen_text(&stage.draw());
        let beyond = |shown: &str, mark: char| shown.lines().filter(|l| l.ends_with(mark)).count();
        assert!(beyond(&shown, '↓') > 0 || beyond(&shown, '↑') > 0, "{name}\n{shown}");
    }
}
