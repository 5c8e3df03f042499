//! Regressions that new users reported. The comment of each test describes the fault.

use super::overlays::{admissible_answer, type_text};
use super::{TestScreen, screen_text};
use crate::domain::{
    Autonomy, CallId, DecidedBy, EndReason, ExecutedAction, LessonOrigin, LessonText, ReflectionKind,
    ShownAs, ThoughtDisposition,
};
use crate::engine::{Cause, Command, Event, Failure};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::glyphs::UNICODE;
use crate::ui::msg::{Request, UiMessage};
use crate::ui::types::Focus;
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use serde_json::{Value, json};

/// If the actor thinks in separate steps, the thought to rewrite is that of the previous step.
#[test]
fn the_thought_of_the_step_before_is_the_one_that_is_rewritten() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    for (name, value) in [("override.shown_as", "own"), ("override.thought", "rewritten")] {
        fixture.write(Cause::Person, Event::SettingChanged { name: name.to_owned(), value: json!(value) });
    }
    fixture.thinking_step("The stove is hot.").propose(None, Some("go to stoveburner 1")).pause();
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.press("o");
    stage.send(UiMessage::Answer(admissible_answer()));
    type_text(&mut stage, "look");
    assert_eq!(stage.press("Enter"), []);
    assert!(screen_text(&stage.draw()).contains("The stove is hot."));
}

/// A thought that the override removed from the prompt was shown without a mark.
#[test]
fn a_thought_that_left_the_prompt_says_so() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    fixture.thinking_step("The stove is hot.").propose(None, Some("go to stoveburner 1"));
    let event = Event::ActionOverridden {
        step: 2,
        proposed: Some("go to stoveburner 1".to_owned()),
        action: "look".to_owned(),
        shown_as: ShownAs::AgentAction,
        thought_disposition: ThoughtDisposition::Dropped,
        thoughts_from: Some(1),
    };
    fixture.write(Cause::Person, event);
    let shown = screen_text(&TestScreen::new(fixture, 80, 24).draw());
    assert!(
        shown
            .lines()
            .any(|l| l.contains("The stove is hot.") && l.contains("thought dropped from later prompts")),
        "{shown}"
    );
}

/// The input of a person who plays covered the latest observation.
#[test]
fn the_newest_rows_stay_visible_above_the_dialog() {
    for (width, height) in [(200, 60), (120, 36), (80, 24)] {
        let mut stage = TestScreen::new(sample_session(), width, height);
        stage.fixture.execute(
            "go to cabinet 9",
            DecidedBy::Person,
            "The world answers here.",
            0.5,
            Value::Null,
        );
        stage.fixture.propose(None, Some("look")).pause();
        stage.press("o");
        stage.send(UiMessage::Answer(admissible_answer()));
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("The world answers here."), "{width}x{height}: {shown}");
        assert!(shown.contains("Override: what to do instead"), "{shown}");
    }
}

/// A search didn't find the first observation, which has the room and the goal.
#[test]
fn the_first_observation_is_searched_too() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("/");
    type_text(&mut stage, "middle of a room");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("Search: 1 of 1"), "{shown}");
}

/// Ctrl-U deleted a single character.
#[test]
fn ctrl_u_clears_the_line_to_its_start() {
    for open in ["/", ":"] {
        let mut stage = TestScreen::new(sample_session(), 80, 24);
        stage.press(open);
        type_text(&mut stage, "qqqq");
        assert!(screen_text(&stage.draw()).contains("qqqq"));
        stage.press("Ctrl-u");
        assert!(!screen_text(&stage.draw()).contains("qq"), "{open}");
    }
}

/// A click in the Story goes to the clicked step.
#[test]
fn a_click_goes_to_the_clicked_step() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    stage.draw();
    let hits = stage.cache.step_hits.clone();
    for (pane, row, step) in hits {
        let mut stage = TestScreen::new(sample_session(), 120, 36);
        stage.draw();
        let last = stage.frame_data().selected_step();
        let block = stage.cache.layout.areas.iter().find(|b| b.pane == pane).copied().unwrap();
        let kind = MouseEventKind::Down(MouseButton::Left);
        let modifiers = KeyModifiers::NONE;
        stage.send(UiMessage::Mouse(MouseEvent { kind, column: block.body.x + 6, row, modifiers }));
        assert_eq!(stage.frame_data().selected_step(), step, "row {row}");
        assert_eq!(stage.model.is_in_past(), step != last, "row {row}");
    }
}

/// Ctrl-C said "cancelled" when no call was in flight.
#[test]
fn ctrl_c_says_what_it_did() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("Ctrl-c");
    let notice = |stage: &TestScreen| stage.model.notice.as_ref().unwrap().text.clone();
    assert!(notice(&stage).starts_with("nothing to cancel"), "{}", notice(&stage));
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.fixture.execute("look", DecidedBy::Actor, "You look.", 0.5, Value::Null).send_prompt();
    stage.press("Ctrl-c");
    assert!(notice(&stage).starts_with("call cancelled"), "{}", notice(&stage));
}

/// Changing a lesson's scope, deleting and pinning it showed no notice.
#[test]
fn keys_on_a_lesson_say_what_they_did() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.model.focus = Focus::Lanes;
    let mut says = |key: &str| {
        let requests = stage.press(key);
        assert!(
            requests.iter().any(|r| matches!(r, Request::Send(Command::Lesson(_)))),
            "{key}: {requests:?}"
        );
        stage.model.notice.as_ref().unwrap().text.clone()
    };
    assert!(says("S").contains(" scope: "));
    assert!(says("x").contains(" off: "));
    assert!(says("P").contains("pinned"));
    assert!(says("d").contains(" deleted"));
}

/// Pinning a lesson that was off switched it on without saying so.
#[test]
fn pinning_a_lesson_that_was_off_says_it_is_on() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    fixture.add_lesson(ReflectionKind::Abstract, LessonText::plain("Be quick."), LessonOrigin::Person);
    let id = fixture.state().pool.all().next().unwrap().id.clone();
    let op = crate::domain::LessonOp::Status {
        id,
        previous: crate::domain::LessonStatus::On,
        status: crate::domain::LessonStatus::Off,
        merged_into: None,
    };
    let event = Event::LessonChanged { op: Box::new(op), author: crate::domain::Author::Person };
    fixture.write(Cause::Person, event);
    let mut stage = TestScreen::new(fixture, 120, 36);
    stage.press("3");
    stage.press("P");
    assert!(stage.model.notice.as_ref().unwrap().text.contains("on and pinned"));
}

/// A lesson that a person had edited looked in its lane like any other.
#[test]
fn a_lesson_that_a_person_edited_is_marked_in_its_lane() {
    let mut fixture = sample_session();
    let lesson =
        fixture.state().pool.all().find(|lesson| lesson.uses > 0 && lesson.is_active()).unwrap().clone();
    let op = crate::domain::LessonOp::Edit {
        id: lesson.id.clone(),
        previous: lesson.text().clone(),
        text: LessonText::plain("Edited words."),
    };
    let event = Event::LessonChanged { op: Box::new(op), author: crate::domain::Author::Person };
    fixture.write(Cause::Person, event);
    let text = screen_text(&TestScreen::new(fixture, 200, 60).draw());
    let row = text.lines().find(|line| line.contains("  Edited words.")).unwrap();
    assert!(row.contains(&format!("✎  {}  Edited words.", lesson.number)), "{text}");
}

/// The header said step 24, and the new lesson was attributed to step 23.
#[test]
fn a_lesson_belongs_to_the_step_in_the_header() {
    let mut fixture = sample_session();
    fixture.add_lesson(ReflectionKind::Error, LessonText::plain("Be quick."), LessonOrigin::Person);
    let last_step = fixture.state().episode.as_ref().unwrap().steps.len() as u32;
    assert_eq!(fixture.state().pool.all().last().unwrap().learnt_at, (1, last_step));
}

/// The title of the World pane was cut in the middle of a phrase.
#[test]
fn the_ground_truth_title_is_complete() {
    for (width, height) in [(200, 60), (120, 36), (80, 24), (60, 16)] {
        let mut stage = TestScreen::new(sample_session(), width, height);
        stage.press("w");
        let shown = screen_text(&stage.draw());
        let Some(title) = shown.lines().find(|l| l.contains("World  ground truth")) else { continue };
        assert!(
            !title.contains("truth (") || title.contains("truth (hidden from the agent)"),
            "{width}x{height}: {title}"
        );
    }
}

/// An episode that returns to the microwave to heat something there, and to a cabinet for nothing.
fn episode_with_revisits() -> Fixture {
    let mut f = Fixture::new();
    f.begin_episode();
    let again = "You arrive at microwave 1. The microwave 1 is closed.";
    f.actor_step("go to microwave 1", again, 0.25, Value::Null);
    f.actor_step("go to cabinet 1", "The cabinet 1 is closed.", 0.25, Value::Null);
    f.actor_step("go to countertop 1", "You see an apple 1.", 0.25, Value::Null);
    f.actor_step("go to cabinet 1", "The cabinet 1 is closed.", 0.25, Value::Null);
    f.actor_step("take apple 1 from countertop 1", "You pick up the apple 1.", 0.25, Value::Null);
    f.actor_step("go to microwave 1", again, 0.25, Value::Null);
    f.actor_step("heat apple 1 with microwave 1", "You heat the apple 1.", 0.75, Value::Null);
    f.actor_step("go to fridge 1", "You arrive at fridge 1.", 0.75, Value::Null);
    f.actor_step("move apple 1 to fridge 1", "You move the apple 1.", 1.0, Value::Null);
    f.end_episode(true, EndReason::Won);
    f
}

/// The end card listed a move that led to progress as repeated, and covered the winning steps or its own choices.
#[test]
fn the_end_card_reports_no_needed_move_and_shows_all_choices() {
    for (width, height) in [(200, 60), (120, 36), (80, 24), (60, 16)] {
        let mut stage = TestScreen::new(episode_with_revisits(), width, height);
        stage.send(UiMessage::StoreChanged);
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("Won: the goal was reached"), "{shown}");
        for words in ["again", "add a lesson", "export a report"] {
            assert!(shown.contains(words), "{width}x{height}: {words}: {shown}");
        }
        assert!(!shown.contains("microwave 1, again"), "{shown}");
        // Regression: the card led to the step that was on the screen.
        assert!(!shown.contains("go to the last step with progress"), "{shown}");
        if height > 20 {
            assert!(shown.contains("repeated "), "{shown}");
            assert!(shown.contains("go to cabinet 1, again at step 4 (nothing new)"), "{shown}");
            assert!(shown.contains("> move apple 1 to fridge 1"), "{width}x{height}: {shown}");
        }
    }
}

/// A lane whose lessons were all deleted said "no mistake noted yet" beside the mistake.
#[test]
fn a_lane_that_was_emptied_says_so() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    fixture.add_lesson(ReflectionKind::Error, LessonText::plain("Be quick."), LessonOrigin::Person);
    let id = fixture.state().pool.all().next().unwrap().id.clone();
    let (was, status) = (crate::domain::LessonStatus::On, crate::domain::LessonStatus::Retired);
    let op = crate::domain::LessonOp::Status { id, previous: was, status, merged_into: None };
    let event = Event::LessonChanged { op: Box::new(op), author: crate::domain::Author::Person };
    fixture.write(Cause::Person, event);
    let shown = screen_text(&TestScreen::new(fixture, 120, 36).draw());
    assert!(shown.contains("none left") && !shown.contains("no Error lessons yet"), "{shown}");
}

/// Nothing showed that there were more lessons below the last row of a lane.
#[test]
fn a_lane_marks_that_there_is_more() {
    let marks = |lessons: u32| {
        let mut fixture = Fixture::new();
        fixture.begin_episode();
        for n in 1..=lessons {
            fixture.add_lesson(
                ReflectionKind::Abstract,
                LessonText::plain(format!("Rule {n}.")),
                LessonOrigin::Person,
            );
        }
        let mut stage = TestScreen::new(fixture, 120, 36);
        stage.draw();
        let lane = stage.cache.layout.area_for(Focus::Lanes, 0).unwrap().body;
        let shown = stage.draw();
        (lane.y..lane.bottom()).filter(|y| shown[(lane.right() - 1, *y)].symbol() == "↓").count()
    };
    assert_eq!((marks(3), marks(30)), (0, 1));
}

/// After the episode was won, Progress still named a next step.
#[test]
fn progress_names_no_next_step_after_the_end() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    let text = LessonText::plain("You have heated apple 1. Next: put it in/on a fridge.");
    fixture.add_lesson(ReflectionKind::Progress, text, LessonOrigin::Symbolic);
    fixture.actor_step("move apple 1 to fridge 1", "You move the apple 1.", 1.0, Value::Null);
    assert!(screen_text(&TestScreen::new(fixture, 120, 36).draw()).contains("Next:"));
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    let text = LessonText::plain("You have heated apple 1. Next: put it in/on a fridge.");
    fixture.add_lesson(ReflectionKind::Progress, text, LessonOrigin::Symbolic);
    fixture.actor_step("move apple 1 to fridge 1", "You move the apple 1.", 1.0, Value::Null);
    fixture.end_episode(true, EndReason::Won);
    let shown = screen_text(&TestScreen::new(fixture, 120, 36).draw());
    assert!(shown.contains("You have heated apple 1.") && !shown.contains("Next:"), "{shown}");
}

/// Regression: Tab did nothing in the prompt view of a step at which only the actor was asked.
#[test]
fn a_key_to_the_next_prompt_says_that_there_is_none() {
    let mut fixture = Fixture::for_method("react", "symbolic", 1);
    fixture.begin_episode();
    fixture.actor_step("look", "A room.", 0.0, Value::Null);
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.press("p");
    stage.press("Tab");
    let notice = stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default();
    assert!(notice.contains("no other prompt"), "{notice}");
}

/// Returns a session whose environment has failed to answer the action of step 1.
fn with_failed_environment(plays: bool) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    if plays {
        fixture.write(Cause::Person, Event::AutonomySet { autonomy: Autonomy::Human });
        fixture.write(Cause::Person, Event::StepOpened { step: 1 });
    } else {
        fixture.propose(None, Some("crash")).pause();
        fixture.write(Cause::Person, Event::Approved { step: 1 });
    }
    let call = CallId(fixture.state.next_call);
    let executed = ExecutedAction {
        action: "crash".to_owned(),
        sent: None,
        rewrite_rule: None,
        decided_by: if plays { DecidedBy::Person } else { DecidedBy::Actor },
        shown_as: ShownAs::AgentAction,
        thought_disposition: ThoughtDisposition::Kept,
    };
    let taken = Event::ActionTaken { step: 1, call: Some(call), executed, admissible_only: false };
    fixture.write(Cause::Policy, taken);
    let failure = Failure {
        message: "the environment crashed: its process ended".to_owned(),
        source: "world".to_owned(),
        hint: "retry: the environment is reopened and the actions are replayed".to_owned(),
        kind: None,
        partial_text: String::new(),
        usage: None,
    };
    fixture.write(Cause::World, Event::CallFailed { call, failure });
    fixture.pause();
    fixture
}

/// After the environment had died, `o` opened a box whose actions could not run, and no key named a way on from an action
/// that always crashes it.
#[test]
fn a_failed_environment_offers_what_works() {
    for plays in [false, true] {
        let mut stage = TestScreen::new(with_failed_environment(plays), 120, 36);
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("r retry   u take the action back   X end the episode"), "{shown}");
        assert!(shown.contains("r retry  u take the action back  X end the episode"), "{shown}");
        assert!(shown.contains(": output shows everything that its program has printed"), "{shown}");
        assert!(!shown.contains("type an action") && !shown.contains("O model"), "{shown}");
        assert_eq!(stage.press("o"), []);
        let shown = screen_text(&stage.draw());
        let message = "the environment failed: r tries again, u takes the action back";
        assert!(shown.contains(message) && !shown.contains("Esc close"), "{shown}");
        stage.press("u");
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("▸ another action") && shown.contains("crash"), "{shown}");
        stage.press("Enter");
        type_text(&mut stage, "look");
        // The admissible actions haven't arrived, so the first one only warns.
        stage.press("Enter");
        let requests = stage.press("Enter");
        let [.., Request::Fork(fork)] = requests.as_slice() else { panic!("{requests:?}") };
        let state = stage.fixture.store.state_at(fork.at_seq);
        assert!(state.last_step().is_none_or(|step| step.executed.is_none()), "{fork:?}");
        match &fork.commands[..] {
            [Command::Act(action)] if plays => assert_eq!(action, "look"),
            [Command::Override { action, .. }] if !plays => assert_eq!(action, "look"),
            other => panic!("{other:?}"),
        }
    }
    // What was changed after the failure is undone first.
    let mut fixture = with_failed_environment(true);
    fixture.write(Cause::Person, Event::Remarked { episode: None, step: 1, text: "it crashed".to_owned() });
    assert_eq!(TestScreen::new(fixture, 120, 36).press("u"), [Request::Send(Command::Undo)]);
}

/// Regression: a lesson about one task looked in force in the episode of another, whose prompts leave it out.
#[test]
fn a_lesson_about_another_task_is_not_shown_as_in_force() {
    let mut fixture = Fixture::for_method("reflexion", "none", 1);
    fixture.begin_episode();
    let op = crate::domain::LessonOp::plain(
        crate::domain::LessonId("00000000000a".into()),
        ReflectionKind::Plan,
        crate::domain::Scope::Task,
        LessonOrigin::Symbolic,
        LessonText::plain("Heat the apple."),
    );
    let author = crate::domain::Author::Symbolic;
    fixture.write(Cause::Policy, Event::LessonChanged { op: Box::new(op), author });
    let mut stage = TestScreen::new(fixture, 120, 36);
    assert!(!screen_text(&stage.draw()).contains("other task"));
    stage.fixture.end_episode(false, EndReason::Done).begin_episode_in("elsewhere");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("Heat the apple.") && shown.contains("other task"), "{shown}");
    stage.press("3");
    stage.press("i");
    let details = screen_text(&stage.draw());
    assert!(details.contains("on: not in this task's prompts"), "{details}");
}

/// Regression: an edited lesson said `used 2×`, although no prompt had had its new wording, and nothing said that it was new.
#[test]
fn uses_of_a_lesson_are_those_of_its_wording() {
    let mut stage = TestScreen::new(sample_session(), 200, 60);
    let pool = &stage.fixture.state().pool;
    let lesson = pool.all().find(|lesson| lesson.uses > 0 && lesson.is_active()).unwrap().clone();
    let reword = |fixture: &mut Fixture, text: &LessonText| {
        let previous = fixture.state().pool.get(&lesson.id).unwrap().text().clone();
        let op = crate::domain::LessonOp::Edit { id: lesson.id.clone(), previous, text: text.clone() };
        let event = Event::LessonChanged { op: Box::new(op), author: crate::domain::Author::Mentor };
        fixture.write(Cause::Policy, event);
    };
    let uses = |fixture: &Fixture| {
        let lesson = fixture.state().pool.get(&lesson.id).unwrap().clone();
        (lesson.uses_of_wording(), lesson.uses)
    };
    reword(&mut stage.fixture, &LessonText::plain("Edited words."));
    assert_eq!(uses(&stage.fixture), (0, lesson.uses));
    let text = screen_text(&stage.draw());
    let row = text.lines().find(|line| line.contains("  Edited words.")).unwrap();
    assert!(row.contains(&format!("{}  {}  Edited words.", UNICODE.new_lesson, lesson.number)), "{text}");
    assert!(!row.contains("used"), "{row}");
    // The wording from before keeps its uses.
    reword(&mut stage.fixture, lesson.text());
    assert_eq!(uses(&stage.fixture), (lesson.uses, lesson.uses));
}

/// Regression: hints named what their keys did elsewhere.
#[test]
fn hints_say_what_the_keys_do_now() {
    let mut stage = TestScreen::new(sample_session(), 160, 48);
    let shown = |stage: &mut TestScreen, keys: &[&str]| {
        for key in keys {
            stage.press(key);
        }
        screen_text(&stage.draw())
    };
    let text = shown(&mut stage, &["p"]);
    assert!(text.contains("Enter fold") && text.contains("d difference"), "{text}");
    let text = shown(&mut stage, &["Enter"]);
    assert!(text.contains("Enter unfold"), "{text}");
    let text = shown(&mut stage, &["d"]);
    assert!(text.contains("d whole prompt") && !text.contains("fold "), "{text}");
    let text = shown(&mut stage, &["Esc"]);
    assert!(text.contains("z zoom"), "{text}");
    let text = shown(&mut stage, &["z"]);
    assert!(text.contains("z unzoom") && !text.contains("z zoom"), "{text}");
    let text = shown(&mut stage, &["z", "3"]);
    assert!(text.contains("P pin"), "{text}");
    let text = shown(&mut stage, &["z"]);
    assert!(text.contains("z unzoom"), "{text}");
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    let mut stage = TestScreen::new(fixture, 120, 36);
    let text = shown(&mut stage, &["3"]);
    assert!(text.contains("a lesson") && !text.contains("P pin") && !text.contains("delete"), "{text}");
}

/// Regression: the filter `lesson` listed every row below a heading with that word, such as undo and remark.
#[test]
fn a_filter_of_the_help_finds_rows_before_headings() {
    let mut stage = TestScreen::new(sample_session(), 120, 60);
    stage.press("?");
    stage.send(UiMessage::Paste("lesson".to_owned()));
    let text = screen_text(&stage.draw());
    assert!(text.contains("add a lesson") && !text.contains("write a remark on this step"), "{text}");
}
