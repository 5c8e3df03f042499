//! Keys in the dialogs that change something: override, reject, lesson editor, lesson details, end card.

use super::overlays::{admissible_answer, lost_episode, type_text};
use super::{TestScreen, screen_text};
use crate::domain::common_settings::{OVERRIDDEN_THOUGHT, OVERRIDE_SHOWN_AS};
use crate::domain::{
    Autonomy, DecidedBy, LessonOrigin, LessonStatus, LessonText, ReflectionKind, Scope, Seq, ShownAs,
    ThoughtDisposition,
};
use crate::driver::{Halt, Health, RescueOutcome, Signal};
use crate::engine::{Cause, Command, CommandError, Event, LessonCommand};
use crate::ui::draft::LessonDraft;
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::types::Focus;
use serde_json::json;

fn set_setting(name: &str, word: &str) -> Request {
    Request::Send(Command::ChangeSetting { name: name.to_owned(), value: json!(word) })
}

/// Opens the override box of a session whose proposal has a thought, with the admissible actions.
fn override_box() -> TestScreen {
    let mut fixture = sample_session();
    fixture.propose(Some("The stove is hot."), Some("go to stoveburner 1"));
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.press("o");
    stage.send(UiMessage::Answer(admissible_answer()));
    stage
}

fn overridden(action: &str, shown_as: ShownAs, thought_disposition: ThoughtDisposition) -> Request {
    Request::Send(Command::Override { action: action.to_owned(), shown_as, thought_disposition })
}

/// Overridden with the defaults of both settings.
fn overridden_by_default(action: &str) -> Vec<Request> {
    vec![overridden(action, ShownAs::AgentAction, ThoughtDisposition::Kept)]
}

/// Regression: the first override asked two questions in dialogs of their own.
#[test]
fn an_override_asks_nothing_and_shows_settings_that_keys_change() {
    let mut stage = override_box();
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("Ctrl-S shown to the agent as its own action  Ctrl-T thought kept"), "{shown}");
    type_text(&mut stage, "go to microwave 1");
    assert_eq!(stage.press("Enter"), overridden_by_default("go to microwave 1"));
    let mut stage = override_box();
    type_text(&mut stage, "go to microwave 1");
    stage.press("Ctrl-s");
    stage.press("Ctrl-t");
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("Ctrl-S shown to the agent as a human edit  Ctrl-T thought dropped"), "{shown}");
    let changed = overridden("go to microwave 1", ShownAs::HumanEdit, ThoughtDisposition::Dropped);
    let settings = [(OVERRIDE_SHOWN_AS.spec.name, "human_edit"), (OVERRIDDEN_THOUGHT.spec.name, "dropped")];
    let expected = settings.map(|(name, word)| set_setting(name, word)).into_iter().chain([changed.clone()]);
    assert_eq!(stage.press("Enter"), expected.collect::<Vec<_>>());
    for (name, value) in settings {
        let event = Event::SettingChanged { name: name.to_owned(), value: json!(value) };
        stage.fixture.write(Cause::Person, event);
    }
    // They stay as they were chosen.
    stage.press("o");
    stage.send(UiMessage::Answer(admissible_answer()));
    type_text(&mut stage, "go to microwave 1");
    assert_eq!(stage.press("Enter"), [changed]);
}

#[test]
fn a_rewritten_thought_is_typed() {
    let mut stage = override_box();
    stage.press("Ctrl-t");
    stage.press("Ctrl-t");
    type_text(&mut stage, "look");
    assert_eq!(stage.press("Enter"), []);
    // Esc goes back to the action, which is still there.
    stage.press("Esc");
    assert_eq!(stage.press("Enter"), []);
    type_text(&mut stage, " Or not.");
    let rewritten = ThoughtDisposition::Rewritten("The stove is hot. Or not.".to_owned());
    let expected = [
        set_setting(OVERRIDDEN_THOUGHT.spec.name, "rewritten"),
        overridden("look", ShownAs::AgentAction, rewritten),
    ];
    assert_eq!(stage.press("Enter"), expected);
}

/// Regression: Enter ran `heat` as typed, although one action of the list was meant.
#[test]
fn the_best_match_is_preselected_and_enter_takes_it() {
    let mut stage = override_box();
    type_text(&mut stage, "heat");
    assert_eq!(stage.press("Enter"), overridden_by_default("heat apple 1 with microwave 1"));
    // Typed before the list has arrived, the text filters it when it arrives.
    stage.press("o");
    type_text(&mut stage, "micro");
    stage.send(UiMessage::Answer(admissible_answer()));
    assert_eq!(stage.press("Enter"), overridden_by_default("go to microwave 1"));
    // Another row, and a completed text.
    stage.press("o");
    stage.send(UiMessage::Answer(admissible_answer()));
    type_text(&mut stage, "micro");
    stage.press("Down");
    stage.press("Tab");
    assert_eq!(stage.press("Enter"), overridden_by_default("heat apple 1 with microwave 1"));
}

/// Regression: a text that the environment wouldn't accept ran at once.
#[test]
fn what_is_not_admissible_says_so_and_runs_at_the_second_enter() {
    let mut stage = override_box();
    // Moving the cursor first keeps the proposal, so that it can be edited.
    stage.press("End");
    type_text(&mut stage, "7");
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("not admissible here · Enter twice runs it as typed"), "{shown}");
    assert_eq!(stage.press("Enter"), []);
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("not admissible here; press again to run it as typed"), "{shown}");
    assert_eq!(stage.press("Enter"), overridden_by_default("go to stoveburner 17"));
    // Another text is asked about again.
    let mut stage = override_box();
    type_text(&mut stage, "dance");
    assert_eq!(stage.press("Enter"), []);
    type_text(&mut stage, "!");
    assert_eq!(stage.press("Enter"), []);
    assert_eq!(stage.press("Enter"), overridden_by_default("dance!"));
    // Without the list nobody knows; a thought is always accepted.
    stage.press("o");
    type_text(&mut stage, "look");
    assert_eq!(stage.press("Enter"), []);
    assert_eq!(stage.press("Enter"), overridden_by_default("look"));
    let mut stage = override_box();
    type_text(&mut stage, "think: Stoves burn.");
    assert_eq!(stage.press("Enter"), overridden_by_default("think: Stoves burn."));
}

/// Regression: an answer to a question was called "not admissible", because the list has only some actions as suggestions.
#[test]
fn a_list_of_suggestions_objects_to_no_other_action() {
    for (environment, is_suggestion) in
        [("hotpotqa", true), ("miniwob", true), ("stdio", true), ("household", false)]
    {
        let mut fixture = Fixture::new();
        fixture.begin_episode_in(environment).propose(None, Some("Search[Hesk]"));
        let mut stage = TestScreen::new(fixture, 80, 24);
        stage.press("o");
        let listed = ["Search[Hesk]", "Finish[yes]", "Finish[no]"];
        stage.send(UiMessage::Answer(Answer::Admissible(listed.map(str::to_owned).to_vec())));
        type_text(&mut stage, "Finish[Lisgar]");
        let shown = super::screen_text(&stage.draw());
        assert_eq!(shown.contains("not admissible"), !is_suggestion, "{environment}: {shown}");
        let requests = stage.press("Enter");
        assert_eq!(
            requests == overridden_by_default("Finish[Lisgar]"),
            is_suggestion,
            "{environment}: {requests:?}"
        );
    }
}

#[test]
fn typed_text_runs_instead_of_the_best_match() {
    for key in ["Ctrl-j", "Ctrl-Enter"] {
        let mut stage = override_box();
        type_text(&mut stage, "go to microwave");
        assert_eq!(stage.press(key), overridden_by_default("go to microwave"), "{key}");
    }
    let mut stage = override_box();
    type_text(&mut stage, "go to microwave");
    stage.press("Up");
    assert_eq!(stage.press("Enter"), [], "it is not admissible");
    assert_eq!(stage.press("Enter"), overridden_by_default("go to microwave"));
}

#[test]
fn a_rejection_needs_a_reason() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("x");
    assert_eq!(stage.press("Enter"), []);
    type_text(&mut stage, "it does not heat");
    assert_eq!(stage.press("Enter"), [Request::Send(Command::Reject("it does not heat".to_owned()))]);
}

#[test]
fn a_lesson_is_saved_by_enter_and_never_by_a_paste() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("a");
    assert_eq!(stage.send(UiMessage::Paste("Two\nlines.\n\u{1b}[31m".to_owned())), []);
    assert_eq!(stage.compositor.overlays().len(), 1);
    stage.press("Ctrl-j");
    type_text(&mut stage, "Three.");
    let requests = stage.press("Enter");
    let text = LessonText::plain("Two\nlines.\n\nThree.");
    let command = LessonCommand::add(ReflectionKind::Abstract, Scope::Environment, text, String::new());
    assert_eq!(requests, [Request::Send(Command::Lesson(command))]);
    assert!(
        stage.model.notice.as_ref().is_some_and(|n| n
            .text
            .starts_with("saved as Abstract; the built-in rules ignore this sentence"))
    );
    assert_eq!(stage.model.drafts, []);
}

/// Regression: a lesson that the rules can't read looked used: "enters the prompt", "now used", "s5 x45".
#[test]
fn a_lesson_that_the_rules_do_not_understand_says_so_everywhere() {
    let ignored = "Search shelves before cabinets when you look for a mug.";
    let understood = "Look for a mug on a shelf first.";
    let shown_while_typing = |text: &str| {
        let mut stage = TestScreen::new(sample_session(), 80, 24);
        stage.press("a");
        type_text(&mut stage, text);
        screen_text(&stage.draw())
    };
    let warning = "The built-in rules ignore this wording";
    assert!(shown_while_typing(ignored).contains(warning));
    assert!(!shown_while_typing(understood).contains(warning));
    assert!(!shown_while_typing("Search").contains(warning), "too short to judge");
    let taught = |text: &str| {
        let mut fixture = sample_session();
        fixture.add_lesson(ReflectionKind::Abstract, LessonText::plain(text), LessonOrigin::Person);
        let mut stage = TestScreen::new(fixture, 120, 36);
        stage.press("3");
        let lane = screen_text(&stage.draw());
        stage.press("Enter");
        (lane, screen_text(&stage.draw()))
    };
    let (lane, details) = taught(ignored);
    // One of the session's own lessons is ignored, too.
    assert_eq!(lane.matches("ignored").count(), 2, "{lane}");
    assert!(details.contains("the built-in rules ignore this wording"), "{details}");
    let (lane, details) = taught(understood);
    assert_eq!(lane.matches("ignored").count(), 1, "{lane}");
    assert!(!details.contains("ignore this"), "{details}");
    // What they understand is in the help.
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    stage.press("?");
    type_text(&mut stage, "form");
    let help = screen_text(&stage.draw());
    assert!(help.contains("form          Look for a mug in/on a shelf first."), "{help}");
}

/// Regression: `%` measured another lesson than the selected one, because the run had put one above it.
#[test]
fn the_selection_stays_with_its_lesson_while_the_lane_grows() {
    let mut stage = TestScreen::new(sample_session(), 120, 36);
    let add = |stage: &mut TestScreen, text: &str| {
        let origin = LessonOrigin::Symbolic;
        stage.fixture.add_lesson(ReflectionKind::Abstract, LessonText::plain(text), origin);
        stage.send(UiMessage::StoreChanged);
    };
    let measured = |stage: &mut TestScreen| match stage.press("%").as_slice() {
        [Request::PlanEffect(query)] => {
            let lesson = stage.fixture.state().pool.get(&query.lesson).unwrap().text().text.clone();
            stage.press("Esc");
            lesson
        }
        other => panic!("{other:?}"),
    };
    add(&mut stage, "The first.");
    stage.press("3");
    add(&mut stage, "The second.");
    assert_eq!(measured(&mut stage), "The first.");
    // Without focus no lesson is selected: the newest is meant when the lane gets the focus again.
    stage.press("1");
    stage.press("3");
    assert_eq!(measured(&mut stage), "The second.");
    // A lesson that the person has just added is selected, and stays so.
    stage.press("a");
    type_text(&mut stage, "Mine.");
    stage.press("Enter");
    add(&mut stage, "Mine.");
    add(&mut stage, "The last.");
    assert_eq!(measured(&mut stage), "Mine.");
}

/// Regression: typed advice reached the model as "These mistakes were made so far: - Look on a shelf first."
#[test]
fn a_typed_lesson_is_advice_unless_another_kind_is_chosen() {
    let saved = |keys: &dyn Fn(&mut TestScreen)| {
        let mut stage = TestScreen::new(sample_session(), 80, 24);
        keys(&mut stage);
        match stage.press("Enter").as_slice() {
            [Request::Send(Command::Lesson(LessonCommand::Add { kind, text, .. }))] => (*kind, text.clone()),
            other => panic!("{other:?}"),
        }
    };
    let text = "Look on a shelf first.";
    let advice = (ReflectionKind::Abstract, LessonText::plain(text));
    let type_lesson = |stage: &mut TestScreen| {
        stage.press("a");
        type_text(stage, text);
    };
    assert_eq!(saved(&type_lesson), advice);
    // It stays advice while the Error lane is shown or focused.
    let over_errors = |stage: &mut TestScreen| {
        (stage.model.focus, stage.model.selected_lane) = (Focus::Lanes, Some(1));
        type_lesson(stage);
    };
    assert_eq!(saved(&over_errors), advice);
    // The second Tab leads to the kind.
    let by_tab = |stage: &mut TestScreen| {
        type_lesson(stage);
        stage.press("Tab");
        stage.press("Tab");
        stage.press("Right");
    };
    assert_eq!(saved(&by_tab), (ReflectionKind::Error, LessonText::plain(text)));
    let pair = |stage: &mut TestScreen| {
        stage.press("a");
        type_text(stage, "Searched drawers. -> Look on a shelf first.");
    };
    let error = (ReflectionKind::Error, LessonText::error("Searched drawers.", text));
    assert_eq!(saved(&pair), error);
    // One Tab away.
    let two_fields = |stage: &mut TestScreen| {
        stage.press("a");
        type_text(stage, "Searched drawers.");
        stage.press("Tab");
        type_text(stage, text);
    };
    assert_eq!(saved(&two_fields), error);
    // Left empty, the second field changes nothing.
    let empty_field = |stage: &mut TestScreen| {
        type_lesson(stage);
        stage.press("Tab");
    };
    assert_eq!(saved(&empty_field), advice);
}

/// Regression: a text dropped from a mentor's reply was only named in a problem, by its first words.
#[test]
fn dropped_mentor_texts_can_be_added_as_lessons() {
    let mut fixture = sample_session();
    let question = crate::domain::Question::reflect(ReflectionKind::Abstract);
    let calls = fixture.ask_mentor(&[question]);
    let never = "Never put the mug in the coffeemachine before it";
    fixture.mentor_answers_partly(
        calls[0],
        question,
        &["Look first."],
        &["cut off by the token limit"],
        &[never, "Prose."],
    );
    fixture.pause();
    let mut stage = TestScreen::new(fixture, 120, 36);
    stage.press("i");
    insta::assert_snapshot!("step_not_kept_120x36", super::screen_text(&stage.draw()));
    assert_eq!(stage.press("a"), []);
    let evidence = |stage: &mut TestScreen| match stage.press("Enter").as_slice() {
        [Request::Send(Command::Lesson(LessonCommand::Accept { text, edited: false, evidence, .. }))] => {
            (text.text.clone(), evidence.clone())
        }
        other => panic!("{other:?}"),
    };
    let (text, evidence_text) = evidence(&mut stage);
    assert_eq!(text, never);
    assert!(evidence_text.contains("the mentor's text") && evidence_text.contains("accepted by you"));
    // The next one; edited, it counts as the person's own.
    stage.press("a");
    type_text(&mut stage, " Or not.");
    let requests = stage.press("Enter");
    let own = |r: &Request| matches!(r, Request::Send(Command::Lesson(LessonCommand::Accept { text, edited: true, .. })) if text.text == "Prose. Or not.");
    assert!(requests.iter().any(own), "{requests:?}");
    // Accepted from a past step, the text becomes a lesson of the present, without a new branch.
    let mut fixture = sample_session();
    let calls = fixture.ask_mentor(&[question]);
    fixture.mentor_answers_partly(calls[0], question, &[], &["cut off by the token limit"], &[never]);
    fixture.execute(
        "go to stoveburner 1",
        DecidedBy::Actor,
        "Nothing happens.",
        0.5,
        serde_json::Value::Null,
    );
    fixture.propose(None, Some("look"));
    let mut stage = TestScreen::new(fixture, 120, 36);
    stage.press("Left");
    assert!(stage.model.is_in_past());
    stage.press("i");
    stage.press("a");
    assert_eq!(evidence(&mut stage).0, never);
}

/// Regression: the Error tab stayed selected after saving; only the count of another tab changed, as if nothing had
/// been saved.
#[test]
fn the_lane_of_a_saved_lesson_is_selected() {
    for (w, h) in [(80, 24), (60, 16)] {
        let mut stage = TestScreen::new(sample_session(), w, h);
        let text = "Look on a shelf first.";
        stage.press("a");
        type_text(&mut stage, text);
        stage.press("Enter");
        stage.model.notice = None;
        stage.fixture.add_lesson(ReflectionKind::Abstract, LessonText::plain(text), LessonOrigin::Person);
        let shown = super::screen_text(&stage.draw());
        assert!(shown.contains("[Abstract") && shown.contains(text), "{shown}");
    }
}

/// Regression: `i` at the proposal didn't offer the dropped text; a model's refusal was kept as "The mistake" and then
/// offered again.
#[test]
fn a_dropped_text_is_offered_at_the_proposal_until_it_is_kept() {
    let mut fixture = sample_session();
    fixture.execute(
        "go to stoveburner 1",
        DecidedBy::Actor,
        "Nothing happens.",
        0.5,
        serde_json::Value::Null,
    );
    let question = crate::domain::Question::reflect(ReflectionKind::Error);
    let calls = fixture.ask_mentor(&[question]);
    let sorry = "I'm sorry, but I can't help with that.";
    fixture.mentor_answers_partly(calls[0], question, &[], &["no list"], &[sorry]);
    fixture.send_prompt();
    fixture.propose(None, Some("look"));
    fixture.pause();
    let mut stage = TestScreen::new(fixture, 80, 24);
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("i, then a: add the dropped text as a lesson"), "{shown}");
    stage.press("i");
    let shown = super::screen_text(&stage.draw());
    let offer = "a adds it as a lesson";
    assert!(shown.contains(offer) && shown.contains("a keep"), "{shown}");
    stage.press("a");
    let requests = stage.press("Enter");
    let is = |r: &Request| matches!(r, Request::Send(Command::Lesson(LessonCommand::Accept { kind: ReflectionKind::Abstract, text, .. })) if text.text == sorry);
    assert!(requests.iter().any(is), "{requests:?}");
    stage.fixture.add_lesson(ReflectionKind::Abstract, LessonText::plain(sorry), LessonOrigin::Person);
    stage.model.notice = None;
    let shown = super::screen_text(&stage.draw());
    assert!(!shown.contains(offer) && !shown.contains("dropped     "), "{shown}");
    assert_eq!(stage.press("a"), []);
    assert_eq!(stage.compositor.overlays().len(), 1, "nothing is left to keep");
    stage.press("Esc");
    assert!(!super::screen_text(&stage.draw()).contains("i, then a"));
    stage.press("Left");
    stage.press("i");
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("added as lesson") && !shown.contains("a keep as"), "{shown}");
}

/// Regression: the hint was cut off at 60 columns, and the kind shown wasn't the one that the hint named.
#[test]
fn the_lesson_editor_shows_the_kind_it_saves() {
    let mut stage = TestScreen::new(sample_session(), 60, 16);
    stage.press("a");
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("Enters the next prompt; every version is kept."), "{shown}");
    type_text(&mut stage, "Searched drawers. -> Look on a shelf first.");
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("Kind Error") && shown.contains("Saved as an Error"), "{shown}");
}

/// Regression: with the lane Progress in focus, a new lesson became Progress and ended with the episode, unnoticed.
#[test]
fn a_new_lesson_ends_with_the_episode_only_if_a_person_chooses_that() {
    let open = |lane: &str| {
        let mut stage = TestScreen::new(sample_session(), 60, 16);
        stage.model.focus = Focus::Lanes;
        stage.with_context(|_, model, _, context| {
            model.selected_lane = context.lanes().iter().position(|l| l.title == lane);
        });
        stage.press("a");
        stage
    };
    let saved = |stage: &mut TestScreen| {
        let requests = stage.press("Enter");
        let add = requests.iter().find_map(|request| match request {
            Request::Send(Command::Lesson(LessonCommand::Add { kind, scope, .. })) => Some((*kind, *scope)),
            _ => None,
        });
        add.unwrap_or_else(|| panic!("{requests:?}"))
    };
    for lane in ["Abstract", "Error", "Progress"] {
        for (words, kind) in [
            ("Look on a shelf first.", ReflectionKind::Abstract),
            ("Searched drawers. -> Look on a shelf first.", ReflectionKind::Error),
        ] {
            let mut stage = open(lane);
            type_text(&mut stage, words);
            let shown = super::screen_text(&stage.draw());
            assert!(shown.contains(&format!("Kind {}   Scope the environment", kind.name())), "{shown}");
            assert_eq!(saved(&mut stage), (kind, Scope::Environment), "{lane}: {words}");
        }
    }
    // A person can choose it, and is told.
    let mut stage = open("Progress");
    type_text(&mut stage, "Shelves left.");
    for key in ["Tab", "Tab", "Left"] {
        stage.press(key);
    }
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("< Progress >") && shown.contains("Ends with this episode."), "{shown}");
    stage.press("BackTab");
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("Kind Progress   Scope this episode") && shown.contains("Ends with"), "{shown}");
    assert_eq!(saved(&mut stage), (ReflectionKind::Progress, Scope::Episode));
    let notice = stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default();
    assert!(notice.starts_with("saved as Progress until this episode ends"), "{notice}");
}

/// Regression: the proposal still offered `Enter run it` and `r ask again` while nothing could be written.
#[test]
fn a_halted_session_offers_no_keys_of_its_proposal() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    assert!(super::screen_text(&stage.draw()).contains("Enter run it"));
    let halt = Halt { reason: "no space left".to_owned(), ..Halt::default() };
    stage.fixture.store.edit_live(|live| live.health = Health::Halted(halt));
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("r retry the write"), "{shown}");
    for words in ["Enter run it", "ask again", "run the proposed action"] {
        assert!(!shown.contains(words), "{words}: {shown}");
    }
}

/// Regression: at 80x24 and 60x16 a cut-off row showed neither where the events are nor which keys work.
#[test]
fn a_halted_session_says_why_where_the_events_are_and_what_to_press() {
    let name = "20261122T152153Z-put-a-hot-apple-in-the-fridge-k3f9qa-saved";
    let saved = RescueOutcome {
        dir: Some(name.into()),
        message: "all 1234 events are saved in".to_owned(),
        is_complete: true,
    };
    let replaced = "the journal (trunk.jsonl) was replaced by another program";
    let full = "the journal (trunk.jsonl) could not be written: No space left on device (os error 28)";
    for (w, h) in [(60, 16), (80, 24), (120, 40)] {
        for (why, saved, words) in [
            (
                replaced,
                Some(saved.clone()),
                ["replaced by another program", "all 1234 events", "k3f9qa-saved", "put the file"],
            ),
            (
                full,
                None,
                [
                    "No space left on device",
                    "events up to 16 are saved",
                    "3 more wait in memory",
                    "free some space",
                ],
            ),
        ] {
            let mut stage = TestScreen::new(sample_session(), w, h);
            let halt = Halt { reason: why.to_owned(), rescue: saved, head: Seq(16), waiting: 3 };
            stage.fixture.store.edit_live(|live| live.health = Health::Halted(halt));
            let shown = super::screen_text(&stage.draw());
            let flat = |text: &str| text.split_whitespace().collect::<String>();
            for words in words.into_iter().chain(["r retry the write", "q quit", "HALTED"]) {
                assert!(flat(&shown).contains(&flat(words)), "{w}x{h}, {words}: {shown}");
            }
            assert!(!shown.contains("nothing is saved") && !shown.contains("nothing is lost"), "{shown}");
        }
    }
}

/// Regression: at 60x16 the reason covered the newest rows of the story, the lanes and the timeline.
#[test]
fn the_panes_of_a_halted_session_end_above_the_reason() {
    let why = "the journal (trunk.jsonl) could not be written: No space left on device (os error 28)";
    for (w, h) in [(60, 16), (80, 24), (120, 36)] {
        let mut stage = TestScreen::new(sample_session(), w, h);
        let halt = Halt { reason: why.to_owned(), rescue: None, head: Seq(16), waiting: 3 };
        stage.fixture.store.edit_live(|live| live.health = Health::Halted(halt));
        let shown = super::screen_text(&stage.draw());
        for words in ["24 ▸ go to stoveburner 1", "Error 3", "the journal (trunk.jsonl)", "r retry the write"]
        {
            assert!(shown.contains(words), "{words} at {w}x{h}: {shown}");
        }
    }
}

/// Regression: who played had the agent's whole thought in the line of their own action, and Enter ran it as theirs.
#[test]
fn who_plays_finds_no_thought_in_the_line_of_the_action() {
    let thought = "The stove is hot. I'll go there and put the apple on it.";
    for (autonomy, proposed, line) in [
        (Autonomy::Human, None, ""),
        (Autonomy::Human, Some("go to stoveburner 1"), "go to stoveburner 1"),
        (Autonomy::Auto, None, "think: The stove is hot."),
    ] {
        let mut fixture = sample_session();
        fixture.propose(Some(thought), proposed);
        fixture.write(Cause::Person, Event::AutonomySet { autonomy });
        let mut stage = TestScreen::new(fixture, 120, 36);
        stage.press("o");
        stage.send(UiMessage::Answer(admissible_answer()));
        let shown = screen_text(&stage.draw());
        let first = shown.lines().skip_while(|row| !row.contains('┌')).nth(1).unwrap_or_default();
        let typed = first.rsplit_once('▸').map(|(_, rest)| rest.trim_matches(['│', ' ']));
        assert!(typed.is_some_and(|typed| typed.starts_with(line)), "{shown}");
        assert!(line.contains("think:") || !first.contains("think:"), "{shown}");
        if line.is_empty() {
            assert_eq!(stage.press("Enter"), [], "nothing to run");
        }
    }
}

/// Regression: the editor closed as if the lesson were saved, and its text was lost.
#[test]
fn a_lesson_that_cannot_be_saved_stays_in_the_editor() {
    // Nothing can be written.
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    let halt = Halt { reason: "no space left".to_owned(), ..Halt::default() };
    stage.fixture.store.edit_live(|live| live.health = Health::Halted(halt.clone()));
    stage.press("a");
    type_text(&mut stage, "Look on a shelf first.");
    assert_eq!(stage.press("Enter"), []);
    let shown = super::screen_text(&stage.draw());
    assert!(
        shown.contains("Look on a shelf first.") && shown.contains("nothing can be saved now"),
        "{shown}"
    );
    // The command fails.
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    let failed =
        || Signal::CommandFailed(CommandError::new("this text holds a key", "take the key out of it"));
    stage.press("a");
    type_text(&mut stage, "Use sk-1 for it.");
    assert!(!stage.press("Enter").is_empty());
    assert!(!super::screen_text(&stage.draw()).contains("Use sk-1"));
    stage.fixture.store.signal(failed());
    stage.send(UiMessage::StoreChanged);
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("Use sk-1 for it.") && shown.contains("this text holds a key"), "{shown}");
    // Writing this lesson fails: its event waits to be written, and the text is kept as a draft.
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("a");
    type_text(&mut stage, "Look on a shelf first.");
    stage.press("Enter");
    stage.fixture.store.edit_live(|live| live.health = Health::Halted(halt));
    stage.fixture.store.signal(failed());
    stage.send(UiMessage::StoreChanged);
    assert_eq!(stage.model.drafts.iter().map(|d| &*d.text).collect::<Vec<_>>(), ["Look on a shelf first."]);
}

#[test]
fn esc_keeps_a_draft_of_each_lesson() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("a");
    type_text(&mut stage, "Half a though");
    stage.press("Esc");
    assert_eq!(stage.model.drafts.len(), 1);
    stage.model.focus = Focus::Lanes;
    stage.press("e");
    stage.press("Esc");
    stage.press("a");
    type_text(&mut stage, "t");
    let requests = stage.press("Enter");
    let is = |w: &Request| matches!(w, Request::Send(Command::Lesson(LessonCommand::Add { text, .. })) if text.text == "Half a thought");
    assert!(requests.iter().any(is), "{requests:?}");
    assert_eq!(stage.model.drafts, []);
}

#[test]
fn the_external_editor_gets_the_text_and_returns_it() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.press("a");
    type_text(&mut stage, "Short.");
    assert_eq!(stage.press("Ctrl-g"), [Request::OpenEditor("Short.".to_owned())]);
    stage.send(UiMessage::Answer(Answer::Edited(Some("Longer\u{1b}[2J.\n".to_owned()))));
    let requests = stage.press("Enter");
    let is = |w: &Request| matches!(w, Request::Send(Command::Lesson(LessonCommand::Add { text, .. })) if text.text == "Longer.");
    assert!(requests.iter().any(is), "{requests:?}");
}

#[test]
fn an_edit_sends_only_what_changed() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    (stage.model.focus, stage.model.selected_lane) = (Focus::Lanes, Some(1));
    stage.press("e");
    assert_eq!(stage.press("Enter"), []);
    stage.press("e");
    stage.press("Tab");
    stage.press("Tab");
    stage.press("Right");
    let requests = stage.press("Enter");
    assert!(
        matches!(
            requests[..],
            [Request::Send(Command::Lesson(LessonCommand::Rescope { scope: Scope::Episode, .. }))]
        ),
        "{requests:?}"
    );
}

#[test]
fn a_lesson_from_an_override_has_no_numbers() {
    let stage = TestScreen::new(sample_session(), 80, 24);
    let steps = stage.fixture.state().episode.clone().unwrap();
    let step = steps.steps.iter().find(|s| s.is_person_action()).unwrap();
    let draft = LessonDraft::from_override(step, ReflectionKind::Error).unwrap();
    assert_eq!(
        (draft.text.as_str(), draft.solution.as_str()),
        ("Wanted to go to drawer.", "Do this instead: go to diningtable.")
    );
}

/// Regression: the lesson wanted to "go to shelf", and said "do this instead: go to shelf".
#[test]
fn a_lesson_from_an_override_keeps_the_numbers_if_only_they_differ() {
    let stage = TestScreen::new(sample_session(), 80, 24);
    let steps = stage.fixture.state().episode.clone().unwrap();
    let mut step = crate::domain::Step::clone(steps.steps.iter().find(|s| s.is_person_action()).unwrap());
    step.proposed = Some("go to  shelf 3".to_owned());
    step.executed.as_mut().unwrap().action = "go to shelf 2".to_owned();
    let draft = |kind| LessonDraft::from_override(&step, kind).unwrap();
    let error = draft(ReflectionKind::Error);
    assert_eq!(
        (error.text.as_str(), error.solution.as_str()),
        ("Wanted to go to shelf 3.", "Do this instead: go to shelf 2.")
    );
    assert_eq!(draft(ReflectionKind::Advice).text, "Do not go to shelf 3; go to shelf 2.");
}

#[test]
fn details_switch_the_lesson_they_show() {
    let mut stage = TestScreen::new(sample_session(), 80, 24);
    stage.model.focus = Focus::Lanes;
    stage.press("Enter");
    let requests = stage.press("x");
    let status = |w: &Request| match w {
        Request::Send(Command::Lesson(LessonCommand::Status { status, .. })) => Some(*status),
        _ => None,
    };
    assert_eq!(requests.iter().filter_map(status).collect::<Vec<_>>(), [LessonStatus::Off]);
    assert_eq!(stage.compositor.overlays().len(), 1);
    assert_eq!(stage.press("d").iter().filter_map(status).collect::<Vec<_>>(), [LessonStatus::Retired]);
    assert!(stage.compositor.overlays().is_empty());
}

#[test]
fn the_end_card_starts_the_next_task() {
    let mut stage = TestScreen::new(lost_episode(), 80, 24);
    stage.send(UiMessage::StoreChanged);
    let requests = stage.press("r");
    assert!(
        matches!(&requests[..], [Request::Send(Command::BeginEpisode(task))] if task.id == "heat/7"),
        "{requests:?}"
    );
    let mut stage = TestScreen::new(lost_episode(), 80, 24);
    stage.send(UiMessage::StoreChanged);
    stage.press("Enter");
    assert_eq!(stage.frame_data().selected_step(), 22);
}

/// Regression: a dropped mistake with a solution, kept under Abstract, lost its solution, counted as the person's own,
/// and was still offered afterwards.
#[test]
fn a_dropped_pair_keeps_its_solution_and_origin() {
    let question = crate::domain::Question::reflect(ReflectionKind::Abstract);
    let mut fixture = sample_session();
    let calls = fixture.ask_mentor(&[question]);
    let pair = LessonText::error("opened nothing", "Look before it moves.");
    fixture.mentor_reply_dropped(calls[0], question, vec![pair.clone(), LessonText::plain("Prose.")]);
    fixture.pause();
    let mut stage = TestScreen::new(fixture, 80, 24);
    assert!(super::screen_text(&stage.draw()).contains("2 texts not kept; i, then a"));
    stage.press("i");
    let accept = |stage: &mut TestScreen, addition: &str| {
        stage.press("a");
        type_text(stage, addition);
        let shown = super::screen_text(&stage.draw());
        match stage.press("Enter").first() {
            Some(Request::Send(Command::Lesson(command @ LessonCommand::Accept { text, edited, .. }))) => {
                let (command, text, edited) = (command.clone(), text.clone(), *edited);
                stage.fixture.accept_lesson(&command);
                (text, edited, shown)
            }
            other => panic!("{other:?}"),
        }
    };
    let (text, edited, shown) = accept(&mut stage, "");
    assert!(shown.contains("Instead ") && shown.contains("Kind Abstract"), "{shown}");
    assert_eq!((text, edited), (pair, false), "the mentor's own words");
    let last_origin = |stage: &TestScreen| stage.fixture.state.pool.all().last().map(|l| l.origin);
    assert_eq!(last_origin(&stage), Some(LessonOrigin::Mentor));
    let (text, edited, _) = accept(&mut stage, " Or not.");
    assert_eq!((text.text.as_str(), edited), ("Prose. Or not.", true));
    assert_eq!(last_origin(&stage), Some(LessonOrigin::Person));
    // Nothing is offered any more, although one text was edited.
    assert_eq!(stage.press("a"), []);
    assert_eq!(stage.compositor.overlays().len(), 1);
    stage.press("Esc");
    let shown = super::screen_text(&stage.draw());
    assert!(!shown.contains("dropped     ") && !shown.contains("i, then a"), "{shown}");
}

/// Regression: after the kind was changed, all of a typed `mistake -> instead` counted as the mistake.
#[test]
fn a_typed_pair_survives_changing_its_kind() {
    for keys in [&["Right", "Left"][..], &["Left", "Right"], &["Right", "Right", "Right"]] {
        let mut stage = TestScreen::new(sample_session(), 80, 24);
        stage.press("a");
        type_text(&mut stage, "opened nothing -> Look around.");
        for key in ["Tab", "Tab"].iter().chain(keys) {
            stage.press(key);
        }
        let shown = super::screen_text(&stage.draw());
        assert!(shown.contains("< Error >") && shown.contains("Instead  Look around."), "{keys:?} {shown}");
        assert!(shown.contains("Change with Left and Right."), "{shown}");
        let requests = stage.press("Enter");
        let expected = LessonText::error("opened nothing", "Look around.");
        let is = |r: &Request| matches!(r, Request::Send(Command::Lesson(LessonCommand::Add { kind: ReflectionKind::Error, text, .. })) if *text == expected);
        assert!(requests.iter().any(is), "{keys:?} {requests:?}");
    }
}

/// Regression: a wrapped row of the editor began with the blank before its first word.
#[test]
fn wrapped_rows_of_the_editor_begin_with_a_word() {
    let mut stage = TestScreen::new(sample_session(), 60, 16);
    stage.press("a");
    let row = |stage: &mut TestScreen, text: &str| {
        let shown = super::screen_text(&stage.draw());
        shown.lines().find(|l| l.contains(text)).map(|l| l.trim_start_matches(['│', ' ']).to_owned())
    };
    let head = "x".repeat(47);
    type_text(&mut stage, &format!("{head} before it moves."));
    let shown = super::screen_text(&stage.draw());
    let columns_before =
        |line: &str, text: &str| line.split_once(text).map(|(before, _)| before.chars().count());
    let at = |text: &str| {
        shown.lines().find_map(|line| columns_before(line, text)).unwrap_or_else(|| panic!("{shown}"))
    };
    assert_eq!(at("before"), at("xxx"), "{shown}");
    assert!(row(&mut stage, "before").is_some());
}

#[test]
fn a_lesson_is_pinned_on_the_row_of_its_kind() {
    let mut stage = TestScreen::new(sample_session(), 60, 16);
    stage.press("a");
    type_text(&mut stage, "Look on a shelf first.");
    for key in ["BackTab", "Space"] {
        stage.press(key);
    }
    let shown = super::screen_text(&stage.draw());
    assert!(shown.contains("Kind Abstract   Scope the environment   Pin < yes >"), "{shown}");
    let requests = stage.press("Enter");
    let is =
        |r: &Request| matches!(r, Request::Send(Command::Lesson(LessonCommand::Add { pinned: true, .. })));
    assert!(requests.iter().any(is), "{requests:?}");
    // Of an edited lesson, only its status changes.
    (stage.model.focus, stage.model.selected_lane) = (Focus::Lanes, Some(1));
    stage.press("e");
    for key in ["BackTab", "Right"] {
        stage.press(key);
    }
    let requests = stage.press("Enter");
    let status = |r: &Request| {
        matches!(
            r,
            Request::Send(Command::Lesson(LessonCommand::Status { status: LessonStatus::Pinned, .. }))
        )
    };
    assert!(requests.iter().any(status) && requests.len() == 1, "{requests:?}");
}

/// The box is as high as its texts; a long one leaves room for kind, scope and pin.
#[test]
fn the_lesson_editor_grows_with_its_texts() {
    let height = |keys: &dyn Fn(&mut TestScreen)| {
        let mut stage = TestScreen::new(sample_session(), 60, 16);
        stage.press("a");
        keys(&mut stage);
        let shown = super::screen_text(&stage.draw());
        assert!(shown.contains("Kind ") && shown.contains("Scope ") && shown.contains("Pin "), "{shown}");
        shown.lines().filter(|line| line.starts_with('│')).count()
    };
    let empty = height(&|_| {});
    assert_eq!(empty, 5, "text, what Tab leads to, a blank row, values, message");
    assert_eq!(height(&|stage| type_text(stage, "Look on a shelf first.")), empty);
    let typed = |stage: &mut TestScreen| {
        type_text(stage, "One.");
        stage.press("Ctrl-j");
        type_text(stage, "Two.");
    };
    assert_eq!(height(&typed), empty + 1);
    let long = |stage: &mut TestScreen| {
        type_text(stage, &"many words ".repeat(60));
        stage.press("Tab");
        type_text(stage, &"other words ".repeat(60));
    };
    assert_eq!(height(&long), 12);
}
