//! The interfaces between environment and prompt, the built-in templates, and a user's own templates.

use super::*;
use crate::domain::Interface;
use crate::engine::{Cause, Event};

fn play_with_interface(interface: &str) -> TestRun {
    let mut run = test_spec("react", &[TASK]);
    run.interface = Interface::from_word(interface).unwrap();
    TestRun::new(run)
}

#[test]
fn each_interface_has_its_own_form_of_the_first_observation() {
    for (interface, begins, ends) in [
        ("raw", "-= Welcome", "Your task is to: put a hot apple in garbagecan.\n"),
        ("react", "You are in the middle", "Your task is to: put a hot apple in garbagecan.\n"),
        ("agentboard", "You are in the middle", "Your task is to: put a hot apple in garbagecan\n"),
    ] {
        let mut play = play_with_interface(interface);
        play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &[]);
        let episode = play.state().open_episode().unwrap();
        let text = forms::task_text(episode);
        assert!(text.starts_with(begins) && text.ends_with(ends), "{interface}: {text}");
        assert!(!text.contains("\n\n") || interface == "raw");
        assert_eq!(episode.task.goal, "put a hot apple in garbagecan");
    }
}

#[test]
fn actions_and_observations_are_rewritten_as_by_the_wrappers() {
    let outgoing = |sent: Option<&str>, rule: Option<&str>, admissible_only| OutgoingAction {
        sent: sent.map(str::to_owned),
        rewrite_rule: rule.map(str::to_owned),
        admissible_only,
    };
    let mut agentboard = play_with_interface("agentboard");
    let mut household = FakeHousehold::kitchen("put a hot apple in garbagecan");
    household.old_wording = true;
    agentboard.play_script(
        &mut household,
        &[
            "go to countertop 2",
            "take apple 1 from countertop 2",
            "look",
            "think: hm",
            "check valid actions",
            "look",
        ],
    );
    let state = agentboard.state();
    for (action, expected) in [
        ("go to desk 1", outgoing(None, None, false)),
        ("go to desk 1.", outgoing(Some("go to desk 1"), Some("agentboard.dot"), false)),
        // Regression: only one of two dots was dropped.
        ("go to desk 1..", outgoing(Some("go to desk 1"), Some("agentboard.dot"), false)),
        ("go to desk 1 . ", outgoing(Some("go to desk 1"), Some("agentboard.dot"), false)),
        ("go to desk 1...", outgoing(Some("go to desk 1."), Some("agentboard.dot"), false)),
        (
            "put cd 1 in desk 1.",
            outgoing(Some("put cd 1 in/on desk 1"), Some("agentboard.put+agentboard.dot"), false),
        ),
        ("put cd 1 on desk 1", outgoing(Some("put cd 1 in/on desk 1"), Some("agentboard.put"), false)),
        ("put cd 1 in/on desk 1", outgoing(None, None, false)),
        ("check valid actions", outgoing(Some("check valid actions"), Some("agentboard.check"), true)),
        ("think: put it in a box.", outgoing(None, None, false)),
    ] {
        assert_eq!(crate::catalog::rewrite_action(state, action), expected, "{action}");
    }
    let shown: Vec<_> =
        (1..=6).map(|n| state.open_episode().unwrap().step(n).unwrap().observation().unwrap()).collect();
    assert_eq!(
        shown,
        [
            "On the countertop 2, you see a mug 1, and a apple 1.",
            "You pick up the apple 1 from the countertop 2.",
            "On the countertop 2, you see a mug 1, and a apple 1.",
            "OK.",
            "Choose an action from these valid actions: go to desk 1, look, check valid actions",
            "On the countertop 2, you see a mug 1, and a apple 1.",
        ]
    );
    // Regression: a `look` before anything was gone to or opened showed the game's answer.
    let mut agentboard = play_with_interface("agentboard");
    let mut household = FakeHousehold::kitchen("put a hot apple in garbagecan");
    agentboard.play_script(&mut household, &["look.", "open the fridge", "look"]);
    let episode = agentboard.state().open_episode().unwrap();
    let first = episode.first_observation.as_ref().unwrap().agent_view.as_deref();
    assert!(first.is_some_and(|text| text.starts_with("You are in the middle of a room.")), "{first:?}");
    for step in [1, 3] {
        assert_eq!(episode.step(step).unwrap().observation(), first, "step {step}");
    }
    let mut react = play_with_interface("react");
    react.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"]);
    assert_eq!(
        crate::catalog::rewrite_action(react.state(), "put cd 1 in desk 1."),
        outgoing(None, None, false)
    );
    let result = StepResult {
        observation: "You arrive at loc 12. On the desk 1, you see nothing.".to_owned(),
        ..StepResult::default()
    };
    let shown = crate::catalog::rewrite_observation(react.state(), "go to desk 1", &result, &[]);
    assert_eq!(shown.as_deref(), Some("On the desk 1, you see nothing."));
    let result = StepResult {
        observation: "You arrive at desk 1. On the desk 1, you see nothing.".to_owned(),
        ..StepResult::default()
    };
    assert_eq!(crate::catalog::rewrite_observation(react.state(), "go to desk 1", &result, &[]), None);
    assert_eq!(
        crate::catalog::rewrite_observation(react.state(), "think: hm", &result, &[]).as_deref(),
        Some("OK.")
    );
}

/// Regression: each `look` searched the whole episode for the last place that was gone to.
#[test]
fn a_look_searches_only_the_steps_since_the_last_look() {
    let mut agentboard = play_with_interface("agentboard");
    let mut household = FakeHousehold::kitchen("put a hot apple in garbagecan");
    agentboard.play_script(&mut household, &["go to countertop 2", "look.", "inventory"]);
    let result = StepResult::default();
    let look = |state: &State| crate::catalog::rewrite_observation(state, "look", &result, &[]);
    let seen = look(agentboard.state());
    assert!(seen.as_ref().is_some_and(|text| text.contains("a mug 1, and a apple 1")), "{seen:?}");
    // A text that only the earlier `look` has shows where the search ends.
    let text = "As at the last look.".to_owned();
    agentboard.fold(vec![(Cause::Person, Event::ObservationEdited { step: 2, previous: seen, text })]);
    assert_eq!(look(agentboard.state()).as_deref(), Some("As at the last look."));
}

#[test]
fn every_builtin_file_parses_and_a_broken_one_names_its_line() {
    let builtin = crate::catalog::parse_templates(Vec::new()).expect("the built-in files parse");
    let run = test_spec("react", &[TASK]);
    assert_eq!(builtin.hash_for(&run), crate::catalog::builtin_templates().hash_for(&run));
    let replace_file =
        |name: &str, text: &str| crate::catalog::parse_templates(vec![(name.to_owned(), text.to_owned())]);
    let cases = [
        ("nobody.toml", "", 1, "unknown template"),
        ("react.toml", "method = \"react\"\n\n[[segment]]\nlabel = \"intro\"\n", 3, "unknown segment"),
        ("react.toml", "method = \"react\"\n[[segment]]\nlabel = \"cue\"\n", 2, "needs either"),
        (
            "react.toml",
            "method = \"react\"\n[[segment]]\nlabel = \"task\"\ntext = \"x\"\n",
            2,
            "takes a heading",
        ),
        ("react.toml", "method = \"react\"\nwhat = 1\n", 2, "unknown field"),
        ("react.toml", "method = \n", 1, ""),
        (
            "household.toml",
            "envs = [\"household\"]\n\n[[example]]\nfile = \"gone.txt\"\ntypes = []\n",
            3,
            "example file gone.txt not found",
        ),
    ];
    for (name, text, line, reason) in cases {
        let error = replace_file(name, text).expect_err(text);
        assert_eq!((error.file.as_str(), error.line), (name, line), "{error}");
        assert!(error.reason.contains(reason), "{error}");
    }
    let other = replace_file("put.txt", "> go to desk 1\n").unwrap();
    assert_ne!(other.hash_for(&run), builtin.hash_for(&run));
}

#[test]
fn a_template_can_assign_the_agents_lines_to_the_assistant() {
    let layout = "method = \"react\"\n[[segment]]\nlabel = \"task\"\n[[segment]]\nlabel = \"steps\"\nspeaker = \"assistant\"\n";
    let templates =
        crate::catalog::parse_templates(vec![("react.toml".to_owned(), layout.to_owned())]).unwrap();
    let mut play = TestRun::new(test_spec("react", &[TASK]));
    play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["go to countertop 2"]);
    let request = crate::engine::PromptRequest {
        role: crate::domain::ModelRole::Actor,
        question: None,
        step: 2,
        retry: 0,
    };
    let draft = PromptBuilder::new(Arc::new(templates)).draft(play.state(), &request);
    let roles: Vec<MessageRole> =
        render(play.state(), &draft.record).segments.iter().map(|s| s.message_role).collect();
    assert_eq!(roles, [MessageRole::User, MessageRole::Assistant, MessageRole::User]);
}

#[test]
fn a_record_with_an_excessive_range_of_steps_renders_the_existing_ones() {
    let mut play = TestRun::new(test_spec("react", &[TASK]));
    let mut household = FakeHousehold::kitchen("put a hot apple in garbagecan");
    play.play_script(&mut household, &["go to countertop 1", "go to countertop 2"]);
    let (state, record) = play.prompts.last().unwrap();
    let mut excessive = record.clone();
    for segment in &mut excessive.segments {
        if let SegmentOrigin::Steps { to, .. } = &mut segment.origin {
            *to = u32::MAX;
        }
    }
    assert_ne!(&excessive, record);
    assert_eq!(body(state, &excessive), body(state, record));
}

#[test]
fn every_interface_leaves_the_texts_of_babyai_unchanged() {
    for interface in ["raw", "react", "agentboard"] {
        for (alias, action, sent) in [
            (false, "pick up red ball 1", None),
            (true, "pick up red ball 1", Some("pickup red ball 1")),
            (true, " Pick up red ball 1", Some("pickup red ball 1")),
            (true, "pick up", None),
            (true, "pickup red ball 1", None),
            (true, "turn left.", None),
            (true, "check valid actions", None),
            (true, "think: pick up red ball 1", None),
        ] {
            let mut run = test_spec("react", &[TASK]);
            run.interface = Interface::from_word(interface).unwrap();
            run.tasks[0].env = "babyai".to_owned();
            run.settings.set("pickup_alias", alias, crate::domain::SettingOrigin::Flag);
            let mut play = TestRun::new(run);
            play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &[]);
            let rule = sent.map(|_| "babyai.pickup".to_owned());
            let expected =
                OutgoingAction { sent: sent.map(str::to_owned), rewrite_rule: rule, admissible_only: false };
            assert_eq!(
                crate::catalog::rewrite_action(play.state(), action),
                expected,
                "{interface} {action}"
            );
            let result =
                StepResult { observation: "You arrive at loc 1. Hm.".to_owned(), ..StepResult::default() };
            let answers_thought = action.starts_with("think:") && interface != "raw";
            let shown = crate::catalog::rewrite_observation(play.state(), action, &result, &[]);
            assert_eq!(shown.as_deref(), answers_thought.then_some("OK."), "{interface} {action}");
        }
    }
}

#[test]
fn the_fcrf_rule_rewrites_actions_but_not_thoughts() {
    let mut run = test_spec("fcrf", &[TASK]);
    assert_eq!(run.settings.text("action_rule", ""), "fcrf");
    run.interface = Interface::React;
    let play = TestRun::new(run);
    for (action, sent) in [
        ("put cd 1 in desk 1", Some("put cd 1 in/on desk 1")),
        ("put cd 1 on desk 1", Some("put cd 1 in/on desk 1")),
        ("put cd 1 in/on desk 1", None),
        ("> go to desk 1", Some(" go to desk 1")),
        // Regression: words inside thoughts were rewritten.
        ("think: what is in it?", None),
        ("think: a > b, so I put it on the desk", None),
        ("examine onion 1", None),
    ] {
        let outgoing = crate::catalog::rewrite_action(play.state(), action);
        assert_eq!(outgoing.sent.as_deref(), sent, "{action}");
        assert_eq!(outgoing.rewrite_rule.as_deref(), sent.map(|_| "fcrf.mend"), "{action}");
    }
    let plain = TestRun::new(test_spec("reflexion", &[TASK]));
    assert_eq!(crate::catalog::rewrite_action(plain.state(), "put cd 1 in desk 1").rewrite_rule, None);
}
