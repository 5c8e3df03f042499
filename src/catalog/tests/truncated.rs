//! Truncated replies: which parts of them are used.

use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{Purpose, ReflectionKind, SettingOrigin, Truncation};
use crate::engine::{Command, Event};

const GOAL: &str = "put a hot apple in garbagecan";

fn neural(tasks: &[(&str, &str)]) -> crate::domain::RunSpec {
    let mut run = test_spec("omnireflect", tasks);
    run.settings.set("generation", "neural", SettingOrigin::Flag);
    run.mentor = "script".to_owned();
    run
}

fn active_texts(play: &TestRun, kind: ReflectionKind) -> Vec<String> {
    play.state().pool.active_of_kind(kind).map(|l| l.text().text.clone()).collect()
}

/// Regression: all of 117 lists that hit the limit kept their incomplete last sentence.
#[test]
fn a_truncated_list_loses_its_incomplete_last_item() {
    let mut run = neural(&[("a", "")]);
    run.limits.steps = 1;
    let mut play = TestRun::new(run);
    play.mentor = Box::new(|prompt| match prompt.question.unwrap().kind {
        ReflectionKind::Abstract => {
            "- Look first.\n- Never put the mug in the coffeemachine before it✂".to_owned()
        }
        _ => "[]".to_owned(),
    });
    play.play_script(&mut FakeHousehold::kitchen(GOAL), &["look"]);
    assert_eq!(active_texts(&play, ReflectionKind::Abstract), ["Look first."]);
    let reflection = play.state().reflections.iter().find(|r| r.kind == ReflectionKind::Abstract).unwrap();
    assert_eq!(reflection.truncated, Some(Truncation::Length));
    assert!(reflection.complaints[0].contains("cut off by the token limit"), "{:?}", reflection.complaints);
    assert_eq!(reflection.dropped[0].text, "Never put the mug in the coffeemachine before it");
}

/// Regression: a truncated summary replaced the whole list, and 12 rules became 1.
#[test]
fn a_truncated_summary_keeps_the_old_list() {
    let mut run = neural(&[("a", ""), ("b", "")]);
    run.limits.steps = 1;
    run.settings.set("s_freq", 2, SettingOrigin::Flag);
    let mut play = TestRun::new(run);
    let (mut count, mut is_first) = (0, true);
    play.mentor = Box::new(move |prompt| {
        count += 1;
        match prompt.question.unwrap() {
            q if q.purpose == Purpose::Summarise && q.kind == ReflectionKind::Abstract => {
                // The second reply is complete.
                if std::mem::take(&mut is_first) {
                    "[\"In short.\", \"And mo✂"
                } else {
                    "[\"In short.\", \"And more.\"]"
                }
                .to_owned()
            }
            q if q.kind == ReflectionKind::Abstract => format!("['Said {count}.']"),
            _ => "[]".to_owned(),
        }
    });
    play.play_script(&mut FakeHousehold::kitchen(GOAL), &["look"; 2]);
    let old = active_texts(&play, ReflectionKind::Abstract);
    assert!(old.len() == 2 && old.iter().all(|t| t.starts_with("Said")), "{old:?}");
    let summary = |play: &TestRun| {
        let last = play.state().reflections.iter().rev().find(|r| r.purpose == Purpose::Summarise);
        last.map(|r| (**r).clone()).unwrap()
    };
    let reflection = summary(&play);
    assert!(reflection.items.is_empty() && reflection.truncated.is_some());
    assert!(
        reflection.complaints[0].contains("the summary was cut off by the token limit"),
        "{:?}",
        reflection.complaints
    );
    assert!(reflection.complaints.last().unwrap().contains("the old list stays"));
    assert_eq!(reflection.dropped[0].text, "In short.");

    // A person requests it again.
    play.command(Command::Reflect(ReflectionKind::Abstract));
    play.advance(&mut |_| unreachable!(), &mut |_| None);
    assert_eq!(active_texts(&play, ReflectionKind::Abstract), ["In short.", "And more."]);
    assert!(summary(&play).truncated.is_none());
}

/// Regression: actions cut in the middle by the limit were executed (62 of 62).
#[test]
fn an_action_cut_in_the_middle_is_not_executed() {
    let mut run = test_spec("react", &[("a", "")]);
    run.limits.steps = 1;
    let mut play = TestRun::new(run);
    play.play_script(
        &mut FakeHousehold::kitchen(GOAL),
        &["go to countertop✂", "go to countertop 1\nand then I w✂"],
    );
    let step = play.state().episode.as_ref().unwrap().step(1).unwrap().clone();
    assert_eq!(step.action(), Some("go to countertop 1"));
    assert_eq!(step.unusable_replies, 1);
    assert!(
        step.complaints.iter().any(|c| c.contains("cut off by the token limit")),
        "{:?}",
        step.complaints
    );
    let reason = play.journal.iter().find_map(|e| match &e.event {
        Event::AskedAgain { unusable_reason: unusable, .. } => unusable.clone(),
        _ => None,
    });
    assert!(reason.unwrap().contains("before its action was complete"));
    // After the last retry the call has failed.
    let mut play = TestRun::new(test_spec("react", &[("a", "")]));
    play.play_script(&mut FakeHousehold::kitchen(GOAL), &["go to countertop✂"; 3]);
    let (_, failure) = play.state().failed_call.as_ref().unwrap();
    assert!(failure.message.contains("before its action was complete, 3 times"), "{failure:?}");
}

/// Regression: "This request was blocked by the usage policy." was sent to the environment, and became a lesson of each
/// kind.
#[test]
fn a_refusal_is_neither_an_action_nor_a_lesson() {
    let refusal = "This request was blocked by the usage policy.\nGo away.⛔";
    let mut play = TestRun::new(test_spec("react", &[("a", "")]));
    play.play_script(&mut FakeHousehold::kitchen(GOAL), &[refusal; 3]);
    let (_, failure) = play.state().failed_call.as_ref().unwrap();
    let words =
        "the model refused to answer: This request was blocked by the usage policy. Go away., 3 times";
    assert_eq!(failure.message, words);
    for with_code_settings in [false, true] {
        let mut run = test_spec("reflexion", &[("a", "")]);
        (run.limits.steps, run.trials, run.mentor) = (1, 2, "script".to_owned());
        if with_code_settings {
            run.settings = crate::catalog::defaults("reflexion", crate::domain::PaperOrCode::Code).1;
        }
        let mut play = TestRun::new(run);
        play.mentor = Box::new(move |_| refusal.to_owned());
        play.play_script(&mut FakeHousehold::kitchen(GOAL), &["inventory"]);
        let plan = play.state().reflections.iter().next().unwrap();
        assert!(plan.items.is_empty() && plan.truncated == Some(Truncation::Refusal), "{plan:?}");
        assert!(plan.complaints[0].starts_with("the model refused to answer"), "{:?}", plan.complaints);
        assert!(plan.dropped[0].text.starts_with("This request was blocked"), "{:?}", plan.dropped);
    }
}

/// The papers' public code doesn't check for truncation: it uses whatever arrived.
#[test]
fn with_code_settings_a_truncated_reply_is_used_and_marked() {
    let mut run = test_spec("reflexion", &[("a", "")]);
    (run.limits.steps, run.trials, run.mentor) = (1, 2, "script".to_owned());
    let (_, settings, _) = crate::catalog::defaults("reflexion", crate::domain::PaperOrCode::Code);
    assert_eq!(settings.recorded("accept_truncated").unwrap().value, true);
    run.settings = settings;
    let mut play = TestRun::new(run);
    play.mentor = Box::new(|_| "I will go to the shelf and ta✂".to_owned());
    play.play_script(&mut FakeHousehold::kitchen(GOAL), &["go to countertop✂"]);
    let step = &play.prompts.iter().find(|(_, p)| p.question.is_some()).unwrap().0;
    let step = step.episode.as_ref().unwrap().step(1).unwrap().clone();
    assert_eq!((step.action(), step.unusable_replies), (Some("go to countertop"), 0));
    assert!(step.complaints.iter().any(|c| c.contains("accept_truncated")), "{:?}", step.complaints);
    let plan = play.state().reflections.iter().next().unwrap();
    assert_eq!(plan.items[0].text.text, "I will go to the shelf and ta");
    assert!(plan.complaints[0].contains("accept_truncated") && plan.truncated.is_some());
}

#[test]
fn a_truncated_plan_keeps_its_complete_sentences() {
    let mut run = test_spec("reflexion", &[("a", "")]);
    (run.limits.steps, run.trials, run.mentor) = (1, 2, "script".to_owned());
    let mut play = TestRun::new(run);
    play.mentor = Box::new(|_| "I will go to the shelf. Then I will ta✂".to_owned());
    play.play_script(&mut FakeHousehold::kitchen(GOAL), &["inventory"]);
    let plan = play.state().reflections.iter().next().unwrap();
    assert_eq!(plan.items[0].text.text, "I will go to the shelf.");
    assert_eq!(plan.dropped[0].text, "Then I will ta");
    assert!(plan.complaints[0].contains("cut off by the token limit"), "{:?}", plan.complaints);
}

/// Regression: a model with a wrong chat template lost whole episodes without a warning.
#[test]
fn three_replies_without_an_action_give_one_warning() {
    let warnings_of = |actor: &str, replies: &[&str], steps: u32| {
        let mut run = test_spec("react", &[("a", ""), ("b", "")]);
        run.limits.steps = steps;
        run.actor = actor.to_owned();
        let mut play = TestRun::new(run);
        play.play_script(&mut FakeHousehold::kitchen(GOAL), replies);
        let all = play.journal.iter().filter_map(|e| match &e.event {
            Event::Warned { step, text } => Some((*step, text.clone())),
            _ => None,
        });
        all.collect::<Vec<_>>()
    };
    let warnings = |replies: &[&str], steps: u32| warnings_of("openai:m", replies, steps);
    let short = "no reply so far was an action: the actor doesn't suit this environment";
    let warning = format!("{short}, or its chat template is wrong (doctor)");
    assert_eq!(
        warnings_of("rules", &["", "", ""], 9),
        [(1, short.to_owned())],
        "rules have no chat template"
    );
    assert_eq!(warnings(&["", "", ""], 9), [(1, warning.clone())], "empty replies");
    assert_eq!(
        warnings(&["<|im_start|>", "foo", "bar", "baz", "x", "y", "z"], 5),
        [(3, warning.clone())],
        "once"
    );
    assert_eq!(
        warnings(&["foo", "think: hm", "", "bar"], 9),
        [(3, warning.clone())],
        "a thought doesn't count as an action or as a failure"
    );
    assert_eq!(
        warnings(&["The mug is on a shelf.", "I should look.", "It may be on a shelf, so look there."], 9),
        [(3, warning)],
        "prose is not an action, although it is read as a thought"
    );
    assert_eq!(warnings(&["look", "foo", "bar", "baz", "foo"], 9), [], "an action was understood");
    assert_eq!(
        warnings(&["go to shelf 9", "go to shelf 9", "go to shelf 9", "go to shelf 9"], 9),
        [],
        "an unknown place"
    );
}
