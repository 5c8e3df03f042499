//! RCI: how often a plan is written, criticised and written again, how many steps it allows, and which actions are asked for
//! again.

use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{Autonomy, EndReason, Purpose, ReflectionKind, RunSpec, SettingOrigin};
use crate::engine::{Command, Event};
use crate::prompt::render;
use serde_json::{Value, json};

fn run(settings: &[(&str, Value)]) -> RunSpec {
    let mut run = test_spec("rci", &[("a", "pick_heat_then_place_in_recep")]);
    (run.mentor, run.limits.steps) = ("script".to_owned(), 6);
    for (name, value) in settings {
        run.settings.set(name, value.clone(), SettingOrigin::Flag);
    }
    run
}

/// Plays a run in which the mentor numbers its replies: plans of two lines, criticism of one.
fn play(settings: &[(&str, Value)], actor: &[&str]) -> TestRun {
    let mut play = TestRun::new(run(settings));
    let mut count = 0;
    play.mentor = Box::new(move |prompt| {
        count += 1;
        match prompt.question.unwrap().purpose {
            Purpose::Criticise => format!("Problem {count}."),
            _ => format!("go to fridge 1 ({count})\nopen fridge 1"),
        }
    });
    play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), actor);
    play
}

/// The texts of the mentor's prompts, in order.
fn questions(play: &TestRun) -> Vec<(Purpose, String)> {
    let asked = play
        .prompts
        .iter()
        .filter_map(|(state, prompt)| Some((prompt.question?.purpose, render(state, prompt).body())));
    asked.collect()
}

#[test]
fn a_plan_is_criticised_as_often_as_the_setting_says() {
    for (erci, expected) in [(0, 1), (1, 3), (2, 5)] {
        let play = play(&[("erci", json!(erci))], &["look"]);
        assert_eq!(play.state().usage.mentor_calls, expected, "erci {erci}");
    }
    assert_eq!(play(&[("plan_first", json!(false))], &["look"]).state().usage.mentor_calls, 0);
}

#[test]
fn each_question_shows_what_came_before_and_the_actor_sees_only_the_last_plan() {
    let play = play(&[("erci", json!(2))], &["look"]);
    let asked = questions(&play);
    let purposes: Vec<Purpose> = asked.iter().map(|(purpose, _)| *purpose).collect();
    use Purpose::{Criticise, Draft, Improve};
    assert_eq!(purposes, [Draft, Criticise, Improve, Criticise, Improve]);
    assert!(asked[1].1.contains("go to fridge 1 (1)"), "{}", asked[1].1);
    assert!(asked[2].1.contains("go to fridge 1 (1)") && asked[2].1.contains("Problem 2."), "{}", asked[2].1);
    assert!(
        asked[3].1.contains("go to fridge 1 (3)") && !asked[3].1.contains("Problem 2."),
        "{}",
        asked[3].1
    );
    let actor = play.prompts.iter().find(|(_, prompt)| prompt.question.is_none()).unwrap();
    let body = render(&actor.0, &actor.1).body();
    assert!(
        body.contains("go to fridge 1 (5)") && !body.contains("(3)") && !body.contains("Problem"),
        "{body}"
    );
}

#[test]
fn the_plan_can_limit_the_steps() {
    let actions = ["look", "inventory", "look", "inventory", "look", "inventory"];
    // A first plan of two lines: its line breaks, with the one before it, and one more. An improved plan has none before it.
    for (erci, plan_first, expected) in [(0, true, 3), (1, true, 2), (0, false, 4)] {
        let settings =
            [("erci", json!(erci)), ("plan_steps", json!(true)), ("plan_first", json!(plan_first))];
        let ended = play(&settings, &actions).state().ended_episodes.last().unwrap().clone();
        assert_eq!((ended.steps, ended.reason), (expected, EndReason::PlanEnd), "{erci} {plan_first}");
    }
    let ended = play(&[], &actions).state().ended_episodes.last().unwrap().clone();
    assert_eq!((ended.steps, ended.reason), (6, EndReason::StepLimit));
}

/// How often an actor's reply was refused for its form, and the actions that ran.
fn asked_again(play: &TestRun) -> (usize, Vec<String>) {
    let refused = play.journal.iter().filter(|envelope| {
        matches!(&envelope.event, Event::AskedAgain { unusable_reason: Some(why), .. } if why.contains("forms"))
    });
    let ran = play.journal.iter().filter_map(|envelope| match &envelope.event {
        Event::ActionTaken { executed, .. } => Some(executed.action.clone()),
        _ => None,
    });
    (refused.count(), ran.collect())
}

#[test]
fn an_action_of_an_unknown_form_is_asked_for_again_with_a_reminder() {
    let once = play(&[], &["fly to the fridge", "go to fridge 1"]);
    assert_eq!(asked_again(&once), (1, vec!["go to fridge 1".to_owned()]));
    let bodies: Vec<String> = once
        .prompts
        .iter()
        .filter(|(_, prompt)| prompt.question.is_none())
        .map(|(state, prompt)| render(state, prompt).body())
        .collect();
    let reminded: Vec<bool> = bodies.iter().map(|body| body.contains("one of their forms")).collect();
    assert_eq!(reminded, [false, true, false]);
    // Then it runs as it is, and the environment answers.
    let twice = play(&[], &["fly to the fridge", "fly to the moon", "look"]);
    assert_eq!(asked_again(&twice), (1, vec!["fly to the moon".to_owned(), "look".to_owned()]));
    let never = play(&[("irci", json!(0))], &["fly to the fridge"]);
    assert_eq!(asked_again(&never), (0, vec!["fly to the fridge".to_owned()]));
}

/// In RCI's code the episode fails if the last reply has no known form either; what a person writes instead isn't checked.
#[test]
fn an_action_that_still_has_an_unknown_form_can_end_the_episode() {
    let ends = [("form_ends", json!(true))];
    let last = |play: &TestRun| {
        play.state().ended_episodes.last().map(|ended| (ended.reason, ended.won, ended.steps))
    };
    for refused in ["fly to the fridge", "I would go to the fridge now"] {
        let twice = play(&ends, &["look", refused, refused]);
        assert_eq!(asked_again(&twice), (1, vec!["look".to_owned()]));
        assert_eq!(last(&twice), Some((EndReason::UnknownForm, false, 1)));
        // Without another request the first one ends it.
        let once = play(&[ends[0].clone(), ("irci", json!(0))], &[refused]);
        assert_eq!(
            (asked_again(&once), last(&once)),
            ((0, Vec::new()), Some((EndReason::UnknownForm, false, 0)))
        );
    }
    let corrected = play(&ends, &["fly to the fridge", "go to fridge 1", "think: hm", "look"]);
    assert_eq!((asked_again(&corrected).0, last(&corrected)), (1, None));
    let mut run = run(&ends);
    run.autonomy = Autonomy::Confirm;
    let mut play = TestRun::new(run);
    let mut house = FakeHousehold::kitchen("put a hot apple in garbagecan");
    play.play_script(&mut house, &["fly to the fridge", "fly to the fridge"]);
    assert_eq!(play.state().last_step().unwrap().proposed.as_deref(), Some("fly to the fridge"));
    play.command(Command::Override {
        action: "sing".to_owned(),
        shown_as: crate::domain::ShownAs::AgentAction,
        thought_disposition: crate::domain::ThoughtDisposition::Kept,
    });
    play.play_script(&mut house, &[]);
    assert_eq!((asked_again(&play).1, last(&play)), (vec!["sing".to_owned()], None));
}

/// Regression: prose without a label became a thought and was answered "OK.", though RCI's code takes each reply for an action.
#[test]
fn prose_without_a_label_is_an_action_of_an_unknown_form() {
    let prose = "I would go to the fridge now";
    let once = play(&[], &[prose, "go to fridge 1"]);
    assert_eq!(asked_again(&once), (1, vec!["go to fridge 1".to_owned()]));
    let twice = play(&[], &[prose, prose, "look"]);
    assert_eq!(asked_again(&twice), (1, vec![prose.to_owned(), "look".to_owned()]));
    // A labelled thought stays one, and without a check of forms nothing changes.
    let labelled = play(&[], &["think: I would go to the fridge now", "look"]);
    assert_eq!(
        asked_again(&labelled),
        (0, vec!["think: I would go to the fridge now".to_owned(), "look".to_owned()])
    );
    let unchecked = play(&[("irci", json!(0))], &[prose, "look"]);
    let (refused, ran) = asked_again(&unchecked);
    assert!(refused == 0 && ran[0] != prose && ran[1] == "look", "{ran:?}");
}

/// The actions that the actor was asked to fit to the state, and the bodies of all its prompts.
fn drafts(play: &TestRun) -> (Vec<String>, Vec<String>) {
    let drafts = play.journal.iter().filter_map(|envelope| match &envelope.event {
        Event::AskedAgain { draft, unusable_reason: None, .. } => draft.clone(),
        _ => None,
    });
    let bodies = play.prompts.iter().filter(|(_, prompt)| prompt.question.is_none());
    (drafts.collect(), bodies.map(|(state, prompt)| render(state, prompt).body()).collect())
}

#[test]
fn with_grounding_each_action_is_a_draft_that_the_actor_fits_to_the_state() {
    let grounding = [("grounding", json!(true))];
    let replies = ["open the fridge", "go to fridge 1", "open fridge", "open fridge 1"];
    let grounded = play(&grounding, &replies);
    let (drafts_made, bodies) = drafts(&grounded);
    assert_eq!(drafts_made, ["open the fridge", "open fridge"]);
    assert_eq!(asked_again(&grounded).1, ["go to fridge 1", "open fridge 1"]);
    let shown = |body: &String| {
        let draft = body.split("Your draft of the next action:\n> ").nth(1);
        draft.map(|rest| rest.lines().next().unwrap().to_owned())
    };
    let expected = [None, Some("open the fridge"), None, Some("open fridge"), None];
    assert_eq!(bodies.iter().map(shown).collect::<Vec<_>>(), expected.map(|draft| draft.map(str::to_owned)));
    // The request to fit the draft is the request before it, with draft and question before the cue.
    for pair in bodies[..4].chunks(2) {
        let common = pair[0].strip_suffix('>').unwrap();
        assert!(pair[1].starts_with(common) && pair[1].ends_with("\n>"), "{}", pair[1]);
    }
    // The third step has its first request.
    assert_eq!(grounded.state().usage.actor_calls, 5);
    // A step counts once against the limit, however many requests it has.
    let open = grounded.state().open_episode().unwrap().answered_steps();
    assert_eq!((open, drafts(&play(&[], &replies)).0.len()), (2, 0));
}

/// The code checks the form of an action after it was fitted, not that of the draft.
#[test]
fn the_form_is_checked_after_the_draft_was_fitted() {
    let grounding = [("grounding", json!(true))];
    let replies = ["fly to the fridge", "fly to fridge 1", "go to fridge 1", "look", "look"];
    let grounded = play(&grounding, &replies);
    assert_eq!(asked_again(&grounded), (1, vec!["go to fridge 1".to_owned(), "look".to_owned()]));
    let (made, bodies) = drafts(&grounded);
    assert_eq!(made, ["fly to the fridge", "look"]);
    let has = |words: &str| bodies.iter().map(|body| body.contains(words)).collect::<Vec<_>>();
    assert_eq!(has("Your draft"), [false, true, true, false, true, false]);
    assert_eq!(has("one of their forms"), [false, false, true, false, false, false]);
}

/// A person's changes, such as another plan, must reach the draft too.
#[test]
fn a_person_who_wants_another_reply_gets_another_draft() {
    let mut run = run(&[("grounding", json!(true)), ("plan_first", json!(false))]);
    run.autonomy = Autonomy::Confirm;
    let mut play = TestRun::new(run);
    let mut house = FakeHousehold::kitchen("put a hot apple in garbagecan");
    play.play_script(&mut house, &["look", "inventory"]);
    assert_eq!(play.state().last_step().unwrap().proposed.as_deref(), Some("inventory"));
    let mut environment = |_: Option<&str>| unreachable!("nothing runs");
    for (command, replies) in [
        (Command::AskAgain, ["go to fridge 1", "go to fridge 2"]),
        (Command::Reject("no".to_owned()), ["go to cabinet 1", "go to cabinet 2"]),
    ] {
        play.command(command);
        let mut remaining = replies.into_iter().map(str::to_owned);
        while play.advance(&mut environment, &mut |_| remaining.next()) {}
        assert_eq!(play.state().last_step().unwrap().proposed.as_deref(), Some(replies[1]));
    }
    let (made, bodies) = drafts(&play);
    assert_eq!(made, ["look", "go to fridge 1", "go to cabinet 1"]);
    let shown = bodies.iter().map(|body| body.matches("Your draft").count());
    assert_eq!(shown.collect::<Vec<_>>(), [0, 1, 0, 1, 0, 1]);
    assert!(bodies[5].contains("Your draft of the next action:\n> go to cabinet 1\n"), "{}", bodies[5]);
    // What a person did isn't confused with what the program did.
    let step = play.state().last_step().unwrap();
    assert_eq!((step.retry, step.interventions.len(), step.unusable_replies), (5, 1, 0));
}

#[test]
fn a_thought_is_no_draft() {
    let grounded = play(&[("grounding", json!(true))], &["think: hm", "look", "look"]);
    assert_eq!(drafts(&grounded).0, ["look"]);
    assert_eq!(asked_again(&grounded).1, ["think: hm", "look"]);
}

#[test]
fn without_a_readable_plan_the_actor_acts_without_one() {
    let mut play = TestRun::new(run(&[]));
    play.mentor = Box::new(|_| String::new());
    play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"]);
    assert_eq!(play.state().usage.mentor_calls, 1);
    assert_eq!(asked_again(&play).1, ["look"]);
    assert_eq!(play.state().pool.visible_of_kind(ReflectionKind::Plan).count(), 0);
}

/// Regression: with RCI's actions the prompt listed others as well, which the environment refuses, and the check of forms accepted
/// them.
#[test]
fn the_instruction_and_the_check_of_forms_follow_the_pages_actions() {
    let templates = crate::catalog::builtin_templates();
    let cases = [
        ("click_element 3", [true, true, false, true]),
        ("focus_element_and_type_text 3 Ada", [true, true, false, true]),
        ("move_coords 3 4", [true, false, false, true]),
        ("press_key <Enter>", [true, false, false, true]),
        ("clickxpath //button", [true, false, true, false]),
        ("movemouse //li", [true, false, true, false]),
        ("type Ada", [true, false, true, false]),
        ("press enter", [true, false, true, false]),
        ("press f1", [true, false, false, false]),
    ];
    for (index, set) in ["full", "paper", "rci", "code"].into_iter().enumerate() {
        let mut run = run(&[("miniwob.actions", json!(set))]);
        let task = &mut run.tasks[0];
        "miniwob".clone_into(&mut task.env);
        "click-color/1".clone_into(&mut task.id);
        task.task_type = Some("click-color".to_owned());
        let task = task.clone();
        for (action, expected) in &cases {
            let is_known = templates.has_known_form(Some(&run), &task, action);
            assert_eq!(is_known, expected[index], "{set}: {action}");
        }
        let mut play = TestRun::new(run);
        play.mentor = Box::new(|_| "Click it.".to_owned());
        play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["think: hm"]);
        for (state, prompt) in &play.prompts {
            let body = render(state, prompt).body();
            let listed = |word: &str| body.contains(&format!("- {word}"));
            // RCI's code knows no thoughts.
            assert_eq!(body.contains("`think: `"), set != "rci", "{body}");
            assert_eq!(
                (listed("click_element"), listed("clickxpath")),
                (set != "rci", matches!(set, "full" | "rci")),
                "{body}"
            );
        }
    }
}

/// Regression: the presets of RCI's rows on web pages set neither its view nor its actions.
#[test]
fn the_presets_on_web_pages_have_rcis_view_and_actions() {
    let rows = crate::catalog::published_results();
    let mut of_rci = rows.iter().filter(|row| row.method == "rci");
    assert!(of_rci.all(|row| row.settings.get("form_ends") == Some(&json!(true))));
    let mut of_pages =
        rows.iter().filter(|row| row.method == "rci" && row.environments().contains("miniwob")).peekable();
    assert!(of_pages.peek().is_some());
    for row in of_pages {
        let option = |name: &str| row.options.get(name).map(String::as_str);
        assert_eq!(
            (option("miniwob.view"), option("miniwob.actions")),
            (Some("html"), Some("rci")),
            "{}",
            row.preset
        );
    }
}

/// Regression: the presets of DORA's rows offered RCI's XPaths too, which DORA's code doesn't have, and no report said so.
#[test]
fn the_presets_of_the_other_rows_on_web_pages_have_the_actions_of_doras_code() {
    let rows = crate::catalog::published_results();
    let of_pages = rows
        .iter()
        .filter(|row| row.preset.starts_with("dora-1") && row.method != "rci")
        .map(|row| (row.preset.as_str(), row.options.get("miniwob.actions").map(String::as_str)))
        .collect::<Vec<_>>();
    assert_eq!(of_pages.len(), 8);
    assert!(of_pages.iter().all(|(_, actions)| *actions == Some("code")), "{of_pages:?}");
}

/// Regression: a run whose rules never wrote a plan said that it is "written before the first step".
#[test]
fn rules_that_seldom_know_a_plan_say_so() {
    let mut run = run(&[]);
    let entry = crate::catalog::find_method("rci").unwrap();
    let empty = |run: &RunSpec| (entry.empty_lane_text)(run, &entry.lanes[0]).unwrap();
    assert_eq!(empty(&run), "written before the first step");
    assert!(crate::catalog::run_notes(&run).is_empty());
    "symbolic".clone_into(&mut run.mentor);
    assert_eq!(empty(&run), "rules seldom know a plan before the first step; a model writes one");
    let notes = crate::catalog::run_notes(&run);
    assert!(matches!(&notes[..], [("plan", text)] if text.contains("before the first step")), "{notes:?}");
    // It is true: in household they write none.
    let mut play = TestRun::new(run);
    play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 6]);
    assert_eq!(play.state().pool.all().count(), 0);
}
