//! Typing over the panes: of all keys none reaches the run behind but those that what lies there is for.

use super::mentor::{ROUND, asked};
use super::overlays::{admissible, lost, typed};
use super::{Stage, screen};
use crate::domain::{BreakpointConfig, DecidedBy};
use crate::engine::{Cause, Command, Event};
use crate::ui::fixture::{Fixture, sample_session, summary};
use crate::ui::model::{Focus, Model};
use crate::ui::msg::{Msg, Request};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// How something is opened.
type Open = fn(&mut Stage);

/// What is open, how it is come by, and the keys that may order something there.
struct Case {
    name: &'static str,
    fixture: fn() -> Fixture,
    open: Open,
    orders: &'static [&'static str],
}

const fn case(
    name: &'static str,
    fixture: fn() -> Fixture,
    open: Open,
    orders: &'static [&'static str],
) -> Case {
    Case { name, fixture, open, orders }
}

fn keys(stage: &mut Stage, keys: &[&str]) {
    for key in keys {
        stage.press(key);
        stage.draw();
    }
}

/// The fork dialog over a turn of the past with the list or line behind one of its rows.
fn fork(stage: &mut Stage, row: &str) {
    keys(stage, &["Left", "Left", "F"]);
    for _ in 0..40 {
        if screen(&stage.draw()).lines().any(|l| l.contains(&format!("▸ {row}"))) {
            stage.press("Enter");
            return;
        }
        stage.press("Down");
    }
    panic!("no row {row}:\n{}", screen(&stage.draw()));
}

fn broken() -> Fixture {
    let mut f = sample_session();
    let stop = BreakpointConfig { condition: "nothing 3".to_owned(), warn: false, once: false };
    f.write(Cause::Person, Event::BreakpointSet { breakpoint: 1, config: stop });
    f
}

fn drafted() -> Fixture {
    let (mut f, _) = asked();
    let call = f.state().calls.keys().copied().next().unwrap();
    f.write(Cause::Person, Event::CallCancelled { call, partial_reply: Box::default() });
    let draft = f.mentor_prompt(ROUND[0]);
    f.write(Cause::Policy, Event::PromptDrafted { prompt: draft.into() });
    f
}

fn differs() -> Fixture {
    let mut f = sample_session();
    let (recorded, now) = ("A mug 2.".to_owned(), "Nothing.".to_owned());
    f.write(Cause::World, Event::Diverged { episode: 1, step: 9, recorded, actual: now });
    f
}

fn over() -> Fixture {
    let mut f = lost();
    f.write(Cause::Policy, Event::RunEnded);
    f
}

const CASES: &[Case] = &[
    case("help", sample_session, |s| keys(s, &["?"]), &[]),
    case("palette", sample_session, |s| keys(s, &[":"]), &["Enter"]),
    case("search", sample_session, |s| keys(s, &["/"]), &[]),
    case(
        "search, walked",
        sample_session,
        |s| {
            s.press("/");
            typed(s, "apple");
            s.press("Enter");
        },
        &[],
    ),
    case(
        "override",
        sample_session,
        |s| {
            s.press("o");
            s.tell(Msg::Answer(admissible()));
        },
        &["Enter"],
    ),
    case(
        "override, asked how",
        sample_session,
        |s| {
            s.press("o");
            typed(s, "look");
            s.press("Enter");
        },
        &["Enter"],
    ),
    case("reject", sample_session, |s| keys(s, &["x"]), &["Enter"]),
    case("remark", sample_session, |s| keys(s, &["N"]), &["Enter"]),
    case("lesson", sample_session, |s| keys(s, &["a"]), &["Enter"]),
    case(
        "details",
        sample_session,
        |s| {
            s.model.focus = Focus::Lanes;
            s.press("Enter");
        },
        &["x", "P", "S", "d"],
    ),
    case("step", sample_session, |s| keys(s, &["Left", "i"]), &[]),
    case("prompt", sample_session, |s| keys(s, &["p"]), &[]),
    case("prompt, drafted", drafted, |s| keys(s, &["p"]), &["s"]),
    case("prompt, changed", drafted, |s| keys(s, &["p", "e"]), &["Enter"]),
    case("summary", summary, |s| keys(s, &["M"]), &["Enter"]),
    case("runs", sample_session, |s| keys(s, &["T"]), &["r"]),
    case("breaks", broken, |s| keys(s, &["b", "Up"]), &["x", "d", "o", "w"]),
    case("breaks, typed", broken, |s| keys(s, &["b"]), &["Enter"]),
    case("compare with", sample_session, |s| keys(s, &["D"]), &[]),
    case("branches", sample_session, |s| keys(s, &["B"]), &["Enter", "u", "a"]),
    case("branches, named", sample_session, |s| keys(s, &["B", "r"]), &["Enter"]),
    case(
        "marks",
        sample_session,
        |s| {
            s.press(":");
            typed(s, "marks");
            s.press("Enter");
        },
        &[],
    ),
    case("fork", sample_session, |s| keys(s, &["Left", "Left", "F"]), &["Enter"]),
    case("fork, sampling", sample_session, |s| fork(s, "other actor sampling"), &["Enter"]),
    case("fork, setting", sample_session, |s| fork(s, "another setting"), &["Enter"]),
    case("fork, method", sample_session, |s| fork(s, "another method"), &["Enter"]),
    case("fork, model", sample_session, |s| fork(s, "another model acts"), &["Enter"]),
    case("fork, action", sample_session, |s| fork(s, "another action"), &["Enter"]),
    case("fork, observation", sample_session, |s| fork(s, "another observation"), &["Enter"]),
    case("model", sample_session, |s| keys(s, &["O"]), &["Enter"]),
    case("model, sampling", sample_session, |s| keys(s, &["O", "Tab", "Tab"]), &["Enter"]),
    case("end", over, |s| drop(s.tell(Msg::News)), &["r"]),
    case("differs", differs, |s| drop(s.tell(Msg::News)), &["Enter"]),
];

/// Every key there is: with the name that the cases call it by.
fn all() -> Vec<(String, KeyEvent)> {
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
    // The same as `d`, where that deletes.
    all.push(("d".to_owned(), plain(KeyCode::Delete)));
    all.extend((1..=12).map(|n| (format!("F{n}"), plain(KeyCode::F(n)))));
    // Ctrl-C, Ctrl-Z and Ctrl-L are the same everywhere.
    let ctrl = ('a'..='z').filter(|c| !"czl".contains(*c));
    all.extend(ctrl.map(|c| (format!("Ctrl-{c}"), KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))));
    all
}

fn orders(want: &Request) -> bool {
    matches!(
        want,
        Request::Send(_)
            | Request::Fork(_)
            | Request::Switch(_)
            | Request::Relabel(..)
            | Request::RetryWrite
            | Request::Rerun(_)
            | Request::Quit
    )
}

/// A blank typed into a list let the branch at work run behind it.
#[test]
fn no_key_over_the_panes_orders_anything_but_what_lies_there_is_for() {
    let all = all();
    for Case { name, fixture, open, orders: allowed } in CASES {
        let mut whole = fixture();
        // One stage for all keys: reading its keys anew takes longer than all else.
        let mut stage = Stage::new(Fixture::empty(), 80, 24);
        let opened = |stage: &mut Stage| {
            stage.model = Model { size: (80, 24), ..Model::default() };
            open(stage);
            stage.draw();
        };
        let tops = |stage: &Stage| stage.model.overlays.iter().map(|o| o.name()).collect::<Vec<_>>();
        for running in [false, true] {
            if running && whole.state().is_waiting() && whole.state().open_episode().is_some() {
                whole.write(Cause::Person, Event::Resumed);
            }
            stage.fixture.store = whole.store.clone();
            opened(&mut stage);
            let there = tops(&stage);
            assert!(!there.is_empty(), "{name} is not open");
            for (key, event) in &all {
                let bound =
                    |s: &Stage| s.keymap.find(s.model.overlays.last().unwrap().mode(), *event).is_some();
                // While it runs only those differ that would let it run or stop.
                if running && !["Space", "Enter", "n", "s", "r", "a"].contains(&key.as_str()) {
                    continue;
                }
                // What is not bound is only typed, one key behind the other.
                if tops(&stage) != there || bound(&stage) {
                    opened(&mut stage);
                }
                let wants = stage.tell(Msg::Key(*event));
                let ordered: Vec<&Request> = wants.iter().filter(|w| orders(w)).collect();
                match ordered.as_slice() {
                    [] => {}
                    [Request::Send(Command::Pause)] if key == "Space" => {}
                    _ if allowed.contains(&key.as_str()) => {}
                    other => panic!("{name}: {key} orders {other:?}"),
                }
                // A blank behind it lets nothing run either, as long as anything lies there.
                if !stage.model.overlays.is_empty() {
                    let wants = stage.press("Space");
                    let calm = |w: &Request| !orders(w) || *w == Request::Send(Command::Pause);
                    assert!(wants.iter().all(calm), "{name}: {key} and a blank order {wants:?}");
                }
                if stage.model.overlays.is_empty() || bound(&stage) {
                    opened(&mut stage);
                }
            }
        }
    }
}

/// The list and the line had two grammars, and what was typed into the list was taken for keys.
#[test]
fn sampling_is_typed_into_its_list_in_the_words_of_set() {
    let model = || {
        let mut f = sample_session();
        let mut spec = f.state.run.as_deref().cloned().unwrap();
        "openai:small".clone_into(&mut spec.actor);
        f.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
        for _ in 0..3 {
            f.take("look", DecidedBy::Actor, "A room.", 0.5, serde_json::Value::Null);
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
        let mut stage = Stage::new(model(), 60, 16);
        fork(&mut stage, "other actor sampling");
        typed(&mut stage, line);
        let wants = stage.press("Enter");
        let [Request::Fork(fork)] = &wants[..] else { panic!("{line}: {wants:?}") };
        let set = Command::ChangeSetting { name: "actor.temperature".to_owned(), value: value.clone() };
        assert_eq!(fork.then.as_slice(), std::slice::from_ref(&set), "{line}");
        let mut stage = Stage::new(model(), 60, 16);
        keys(&mut stage, &["O", "Tab", "Tab"]);
        typed(&mut stage, line);
        let wants = stage.press("Enter");
        assert!(wants.contains(&Request::Send(set)), "{line}: {wants:?}");
    }
    // Enter puts the chosen name with its value into the line; Esc goes back to the list, and then to the choices.
    let mut stage = Stage::new(model(), 80, 24);
    fork(&mut stage, "other actor sampling");
    keys(&mut stage, &["Down", "Enter"]);
    let shown = screen(&stage.draw());
    assert!(shown.contains("│ actor.top_p") && shown.contains("sample only from the most likely"), "{shown}");
    stage.press("Esc");
    assert!(screen(&stage.draw()).contains("▸ actor.top_p"), "{}", screen(&stage.draw()));
    stage.press("Esc");
    assert!(screen(&stage.draw()).contains("▸ other actor sampling"));
    // What is called otherwise is said.
    let mut stage = Stage::new(model(), 80, 24);
    fork(&mut stage, "other actor sampling");
    typed(&mut stage, "warmth 3");
    assert_eq!(stage.press("Enter"), []);
    assert!(screen(&stage.draw()).contains("nothing here is called `warmth`"), "{}", screen(&stage.draw()));
}

/// Of a card that goes of itself the last key could be one that was meant for it.
#[test]
fn a_key_meant_for_what_has_just_gone_orders_nothing() {
    for key in ["Enter", "n", "r", "Space"] {
        let mut stage = Stage::new(lost(), 80, 24);
        stage.tell(Msg::News);
        stage.fixture.begin();
        assert_eq!(stage.press(key), [], "{key}");
        assert!(stage.model.notice.as_ref().unwrap().text.contains("press the key again"), "{key}");
    }
}

/// At 60x16 the dialog ended without a word, and the title of the group was gone once it was scrolled.
#[test]
fn the_fork_dialog_marks_rows_beyond_and_keeps_the_title_of_the_group() {
    let mut stage = Stage::new(sample_session(), 60, 16);
    keys(&mut stage, &["Left", "Left", "F", "Home"]);
    let first = screen(&stage.draw());
    assert!(first.lines().any(|l| l.ends_with('↓')) && !first.lines().any(|l| l.ends_with('↑')), "{first}");
    let mut seen = Vec::new();
    for _ in 0..20 {
        let shown = screen(&stage.draw());
        let rows: Vec<&str> = shown.lines().collect();
        let asked = rows.iter().position(|r| r.contains("The old line stays")).unwrap();
        let top = rows[asked + 1];
        assert!(
            top.contains("From here") || top.contains("After turn") || top.contains("Turn 22 anew"),
            "{shown}"
        );
        seen.push(shown);
        stage.press("Down");
    }
    let last = seen.last().unwrap();
    assert!(last.lines().any(|l| l.ends_with('↑')) && !last.lines().any(|l| l.ends_with('↓')), "{last}");
    insta::assert_snapshot!("fork_scrolled_60x16", last);
}

/// Of every list that does not fit it is seen that it goes on.
#[test]
fn every_list_that_does_not_fit_marks_its_rows_beyond() {
    let cases: [(&str, Open); 6] = [
        ("palette", |s| keys(s, &[":"])),
        ("model, sampling", |s| keys(s, &["O", "Tab", "Tab"])),
        ("breaks", |s| keys(s, &["b"])),
        ("search", |s| {
            s.press("/");
            typed(s, "the");
        }),
        ("fork, setting", |s| fork(s, "another setting")),
        ("override", |s| {
            s.press("o");
            s.tell(Msg::Answer(admissible()));
        }),
    ];
    for (name, open) in cases {
        let mut stage = Stage::new(sample_session(), 60, 16);
        open(&mut stage);
        stage.draw();
        let shown = screen(&stage.draw());
        let beyond = |shown: &str, mark: char| shown.lines().filter(|l| l.ends_with(mark)).count();
        assert!(beyond(&shown, '↓') > 0 || beyond(&shown, '↑') > 0, "{name}\n{shown}");
    }
}
