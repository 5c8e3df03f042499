//! What the screen says about a session is true and complete. The comments describe the faults that the tests prevent.

use super::{TestScreen, screen_text};
use crate::domain::{DecidedBy, EndReason, ReflectionKind};
use crate::engine::{Cause, Event};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::types::WorkKind;
use serde_json::Value;

fn screen_after(fixture: Fixture, keys: &[&str], size: (u16, u16)) -> String {
    let mut stage = TestScreen::new(fixture, size.0, size.1);
    stage.send(UiMessage::StoreChanged);
    for key in keys {
        stage.press(key);
    }
    screen_text(&stage.draw())
}

/// Regression: a thought answered with "Nothing happens." counted as a failed action, and useful repeats counted as
/// repeats.
#[test]
fn the_end_card_counts_only_failed_actions_and_useless_repeats() {
    let mut f = Fixture::new();
    f.begin_episode();
    f.propose(Some("Where is it?"), None).execute(
        "think: Where is it?",
        DecidedBy::Actor,
        "Nothing happens.",
        0.0,
        Value::Null,
    );
    for seen in ["It is empty.", "There is an apple 1.", "There is a cup 1."] {
        f.actor_step("go to shelf 1", seen, 0.0, Value::Null);
    }
    f.actor_step("take lamp 1", "Nothing happens.", 0.0, Value::Null);
    f.actor_step("open safe 1", "You open it.", 0.0, Value::Null);
    f.actor_step("open safe 1", "You open it.", 0.0, Value::Null);
    f.end_episode(false, EndReason::StepLimit);
    let card = screen_after(f, &[], (100, 30));
    assert!(card.contains("nothing happened once, at step 5"), "{card}");
    assert!(card.contains("repeated         open safe 1, again at step 7 (nothing new)"), "{card}");
    assert!(!card.contains("go to shelf 1, "), "{card}");
}

/// Regression: replacing a thought by an action didn't count as an override, so no lesson could be made from it.
#[test]
fn an_overridden_thought_counts_as_an_override() {
    let make = || {
        let mut f = Fixture::new();
        f.begin_episode();
        f.propose(Some("I wait here."), None).execute(
            "look",
            DecidedBy::Person,
            "You see a shelf 1.",
            0.0,
            Value::Null,
        );
        f.propose(None, Some("go to shelf 1"));
        f
    };
    let story = screen_after(make(), &[], (100, 30));
    assert!(story.contains("you, instead of: think: I wait here."), "{story}");
    let editor = screen_after(make(), &["A"], (100, 30));
    assert!(editor.contains("Wanted to think: I wait here."), "{editor}");
    assert!(editor.contains(ReflectionKind::Error.name()), "{editor}");
}

/// Regression: the ground truth said that the agent had seen every place.
#[test]
fn the_truth_does_not_change_how_much_the_agent_has_seen() {
    let mut f = Fixture::new();
    f.begin_episode();
    f.actor_step(
        "go to shelf 1",
        "You see a cup 1.",
        0.0,
        serde_json::json!({"seen": {"shelf 1": {"items": ["cup 1"]}}}),
    );
    let mut stage = TestScreen::new(f, 120, 36);
    let line =
        |stage: &mut TestScreen| screen_text(&stage.draw()).lines().nth(1).unwrap_or_default().to_owned();
    assert!(line(&mut stage).contains("1 of "), "{}", line(&mut stage));
    stage.model.show_truth = true;
    assert!(!line(&mut stage).contains("0 of 0"), "{}", line(&mut stage));
}

/// Regression: a notice longer than the row, such as one with a path, was cut off.
#[test]
fn a_long_notice_is_shown_completely() {
    let mut f = Fixture::new();
    f.begin_episode();
    let mut stage = TestScreen::new(f, 60, 16);
    let path = "/home/somebody/.local/share/retrospect/exports/hot-apple.html";
    stage.model.show_notice(
        format!("The report is written: {path} (the end)"),
        crate::ui::model::Severity::Info,
        stage.now,
    );
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("The report is written"), "{shown}");
    assert!(shown.contains("(the end)"), "{shown}");
}

/// A report is written on another thread; its answer says where, or why not, over whichever overlay is open.
#[test]
fn a_written_file_is_reported() {
    for (written, shown) in [
        (Ok("report written to /tmp/report.html".to_owned()), "report written to /tmp/report.html"),
        (Err("/tmp/report.html: could not be written: disk full".to_owned()), "disk full"),
    ] {
        let mut stage = TestScreen::new(sample_session(), 80, 24);
        stage.press("?");
        stage.send(UiMessage::Answer(Answer::FileWritten(written)));
        let screen = screen_text(&stage.draw());
        assert!(screen.contains(shown) && screen.contains("Help"), "{screen}");
    }
}

/// A report of a long session takes seconds: the footer shows how far it is, and Esc cancels it.
#[test]
fn an_export_shows_its_progress_and_can_be_cancelled() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    let begun = stage.now;
    stage.show_work(WorkKind::Export, Some(25));
    let shown = std::mem::replace(&mut stage.now, begun);
    assert!(!screen_text(&stage.draw()).contains("writing the report"), "a short one isn't shown");
    stage.now = shown;
    assert!(screen_text(&stage.draw()).contains("writing the report: 25 % (Esc cancels)"));
    assert_eq!(stage.press("Esc"), [Request::CancelExport]);
    stage.running_work[0].is_cancelled = true;
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("cancelling the report") && !shown.contains("Esc cancels"), "{shown}");
    assert!(stage.press("Esc").is_empty(), "it is cancelled once");
    let written = Err("no report written: cancelled".to_owned());
    stage.running_work.clear();
    stage.send(UiMessage::Answer(Answer::FileWritten(written)));
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("no report written: cancelled"), "{shown}");
}

/// The path of a report is shown in full and copied; the same key opens the report while the message is shown.
#[test]
fn a_written_report_is_copied_and_can_be_opened() {
    let path = "/home/ada/.local/state/retrospect/sessions/20261120T104000Z-hot-apple-k3v9q2/report.html";
    let written = |can_open| UiMessage::Answer(Answer::ReportWritten { path: Ok(path.to_owned()), can_open });
    for (w, h) in [(120, 36), (80, 24), (60, 16)] {
        let mut stage = TestScreen::new(sample_session(), w, h);
        assert!(matches!(stage.press("E")[..], [Request::Export(_)]));
        assert_eq!(stage.send(written(true)), [Request::CopyToClipboard(path.to_owned())]);
        let shown = screen_text(&stage.draw());
        let words: String = shown.split_whitespace().collect();
        assert!(words.contains(path) && words.contains("(copied);Eagainopensit"), "{shown}");
        assert_eq!(stage.press("E"), [Request::OpenFile(path.to_owned())]);
        assert!(matches!(stage.press("E")[..], [Request::Export(_)]), "opened once");
        // Any other key declines the offer.
        stage.send(written(true));
        stage.press("Left");
        assert!(matches!(stage.press("E")[..], [Request::Export(_)]));
        // Nothing is offered where nothing opens it, and not once the message is gone.
        stage.send(written(false));
        assert!(!screen_text(&stage.draw()).contains("again opens it"));
        assert!(matches!(stage.press("E")[..], [Request::Export(_)]));
        stage.send(written(true));
        stage.model.notice = None;
        assert!(matches!(stage.press("E")[..], [Request::Export(_)]));
    }
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    let failed = Answer::ReportWritten { path: Err("disk full".to_owned()), can_open: true };
    assert_eq!(stage.send(UiMessage::Answer(failed)), []);
    assert!(screen_text(&stage.draw()).contains("no report written: disk full"));
    assert!(matches!(stage.press("E")[..], [Request::Export(_)]));
}

/// Regression: the first row counted thoughts against a limit that doesn't count them.
#[test]
fn the_first_row_counts_what_the_limit_counts() {
    for (thoughts_count, counter) in [(true, "step 3/50"), (false, "move 2/50")] {
        let mut f = Fixture::for_method("react", "none", 1);
        let event = Event::SettingChanged { name: "thoughts_count".to_owned(), value: thoughts_count.into() };
        f.write(Cause::Person, event);
        f.begin_episode();
        f.thinking_step("A mug is in a kitchen.");
        f.actor_step("look", "A room.", 0.0, serde_json::Value::Null);
        f.propose(None, Some("go to shelf 1"));
        let shown = screen_text(&TestScreen::new(f, 120, 36).draw());
        assert!(shown.lines().next().unwrap().contains(counter), "{shown}");
    }
}
