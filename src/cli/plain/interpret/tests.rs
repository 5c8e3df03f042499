//! Tests of how lines are interpreted.

use super::*;
use crate::catalog::fixture::test_spec;
use crate::domain::{LessonText, ReflectionKind, Scope, SettingOrigin};
use serde_json::json;
use std::sync::Arc;

#[test]
fn palette_action_names_are_commands() {
    let state = State::default();
    for (palette, own) in [
        ("lesson-add Foo -> bar", "lesson Foo -> bar"),
        ("again", "begin"),
        ("open", "n"),
        ("next", "n"),
        ("remark well done", "note well done"),
        (":step", "n"),
        (":stage", "s"),
        ("pause-run", "run"),
        (":override go to sofa 1", "o go to sofa 1"),
        ("reject no", "x no"),
        (":undo", "u"),
        ("redo", "U"),
        (":prompt", "p"),
        ("37", "story 37"),
        (":37", "story 37"),
        ("end-episode", "end"),
    ] {
        assert_eq!(parse_line(palette, &state), parse_line(own, &state), "{palette}");
    }
    let running = State { run_status: RunStatus::Running, ..State::default() };
    assert_eq!(parse_line("pause-run", &running), parse_line("pause", &running));
    let help = help_text();
    for word in ["lesson-add", "ask-again", "remark", "pause-run", ":37"] {
        assert!(help.contains(word), "{word}");
    }
}

/// Regression: a person who plays was told to `override`, which needs a proposal.
#[test]
fn unknown_words_are_offered_as_the_action_that_can_be_taken() {
    let answer = |autonomy| parse_line("toggle 3", &State { autonomy, ..State::default() }).unwrap_err();
    assert!(answer(Autonomy::Human).ends_with("`act toggle 3` sends it as an action"));
    assert!(answer(Autonomy::Auto).ends_with("`override toggle 3` sends it as an action"));
}

#[test]
fn actions_that_need_the_screen_say_what_to_do_instead() {
    for (word, message) in [
        (":zoom", "`zoom` needs the screen; resume without --plain"),
        ("pane-3", "`pane-3` needs the screen; resume without --plain"),
        ("branch-back", "`branch-back` needs the screen; here: `switch B`"),
    ] {
        assert_eq!(parse_line(word, &State::default()), Err(message.to_owned()));
    }
}

/// Regression: a program, which has several lines, could not be typed.
#[test]
fn an_action_in_double_quotes_has_several_lines() {
    let state = State::default();
    let program = "def f():\n  return \"1\"";
    let typed = serde_json::to_string(program).unwrap();
    let act = LineAction::Commands(vec![Command::Act(program.to_owned())]);
    assert_eq!(parse_line(&format!("act {typed}"), &state), Ok(act));
    let Ok(LineAction::Commands(commands)) = parse_line(&format!("o {typed}"), &state) else { panic!() };
    assert!(matches!(&commands[..], [Command::Override { action, .. }] if action == program), "{commands:?}");
    let fork = LineAction::Fork { step: 3, action: Some(program.to_owned()) };
    assert_eq!(parse_line(&format!("fork 3 {typed}"), &state), Ok(fork));
    // Any other action is taken as it is.
    let quoted = LineAction::Commands(vec![Command::Act(r#"type "a\n""#.to_owned())]);
    assert_eq!(parse_line(r#"act type "a\n""#, &state), Ok(quoted));
    let error = parse_line("act \"open", &state).unwrap_err();
    assert!(error.starts_with("an action that begins with a double quote must be a JSON string"), "{error}");
    assert!(help_text().contains("act \"def f():\\n  return 1\""), "{}", help_text());
}

#[test]
fn help_lists_verbs_with_arguments_and_abbreviations() {
    let help = help_text();
    for line in [
        "step (n)                run the proposed action and stop at the next proposal",
        "  override-as-edit ACTION   the same, shown to the agent as a human edit",
        "approve                 run the proposed action; a paused run stays paused",
        "break-edit N CONDITION, break-on N, break-off N, break-delete N   edit breakpoint or watch N, switch it on or off, delete it",
        "think TEXT (think:)     your thought, when you play",
        "undo [older] (u), redo (U)   undo or redo your last change; with `older`, undo the change before one that can't be undone",
        "branch-name B NAME, branch-note B TEXT, archive B, unarchive B   name branch B, write a note on it, archive or unarchive it",
        "refuse [N ...]          reject all lines of the summary, or only these",
        "prompt-edit [KIND] N TEXT   edit segment N of a prompt draft, or of a prompt whose call failed; KIND selects a mentor prompt",
    ] {
        assert!(help.lines().any(|listed| listed == line), "{line:?} is missing:\n{help}");
    }
}

/// Regression: `approve`, `refuse` and `think` had no line of their own, and two groups of verbs no description.
#[test]
fn help_lists_and_describes_every_verb() {
    let help = help_text();
    for verb in Verb::ALL {
        let usage = verb.usage();
        let lists = |form: &str| {
            form.strip_prefix(&usage)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(" (") || rest.starts_with("  "))
        };
        assert!(help.lines().any(|line| line.trim_start().split(", ").any(lists)), "{usage}:\n{help}");
    }
    assert!(help.lines().all(|line| line == line.trim_end()), "a line without a description:\n{help}");
}

/// Regression: `undo odler` undid a change, and `pause-run 5` ran the episode to its end.
#[test]
fn extra_words_after_a_verb_are_refused() {
    let state = State::default();
    let without_arguments = Verb::ALL.iter().filter(|verb| verb.usage() == verb.word());
    let words = without_arguments.flat_map(|verb| verb.words()).chain(["open", "next", "end-episode"]);
    for word in words.chain(["redo", "pause-run"]) {
        let refusal = format!("{word} takes no argument; usage: {word}");
        assert_eq!(parse_line(&format!("{word} 5"), &state), Err(refusal.clone()));
        assert_eq!(parse_line(&format!(":{word}\tcabinet 1"), &state), Err(refusal));
    }
    for (line, refusal) in [
        ("undo odler", "unknown argument \"odler\"; usage: undo [older]"),
        ("u older 2", "unknown argument \"older 2\"; usage: u [older]"),
        ("lesson-delete 3 4", "lesson-delete takes one number; usage: lesson-delete N"),
        ("break-off 1 2", "break-off takes one number; usage: break-off N"),
    ] {
        assert_eq!(parse_line(line, &state), Err(refusal.to_owned()), "{line}");
    }
}

/// Regression: `remark` named the usage of `note`, and some messages repeated usages that the table of verbs has.
#[test]
fn messages_name_the_usage_of_the_typed_word() {
    for (line, message) in [
        ("remark", "missing argument; usage: remark TEXT"),
        ("think:", "missing argument; usage: think: TEXT"),
        ("set max_steps", "missing argument; usage: set NAME VALUE"),
        ("recorded", "missing argument; usage: recorded SESSION|cache"),
        ("add error:", "missing argument; usage: add [KIND:] TEXT"),
        ("left behind", "\"behind\" is not a number of steps; usage: left [N]"),
        ("forward x", "\"x\" is not a number of steps; usage: forward [N]"),
        ("branch-name 2", "missing argument; usage: branch-name B NAME"),
        ("thought 2", "missing argument; usage: thought N TEXT"),
        ("break-edit x", "usage: break-edit N CONDITION; `breaks` lists the numbers"),
    ] {
        assert_eq!(parse_line(line, &State::default()), Err(message.to_owned()), "{line}");
    }
}

#[test]
fn toggles_on_the_screen_are_toggles_here() {
    let at = |autonomy| State { autonomy, ..State::default() };
    let to = |autonomy| Ok(LineAction::Commands(vec![Command::SetAutonomy(autonomy)]));
    for (word, before, after) in [
        ("confirm", Autonomy::Auto, Autonomy::Confirm),
        ("confirm", Autonomy::Confirm, Autonomy::Auto),
        ("play", Autonomy::Auto, Autonomy::Human),
        ("play", Autonomy::Human, Autonomy::Auto),
        ("human", Autonomy::Human, Autonomy::Human),
        ("auto", Autonomy::Confirm, Autonomy::Auto),
    ] {
        assert_eq!(parse_line(word, &at(before)), to(after), "{word}");
    }
}

/// As on the screen, `r` repeats whatever just happened.
#[test]
fn r_does_what_the_key_does_on_the_screen() {
    let r = |state: &State| parse_line("r", state);
    assert_eq!(r(&State::default()), Ok(LineAction::Commands(vec![Command::AskAgain])));
    let divergence = Some((1, 1, "recorded".to_owned(), "now".to_owned()));
    let differs = State { divergence, ..State::default() };
    assert_eq!(r(&differs), Ok(LineAction::Commands(vec![Command::Retry])));
}

#[test]
fn summary_lines_are_accepted_and_rejected_by_number() {
    let mut state = State::default();
    assert_eq!(parse_line("accept", &state), Err("no summary is waiting for review".to_owned()));
    let add = |text: &str| crate::domain::PoolSummaryItem::Add {
        kind: ReflectionKind::Abstract,
        scope: Scope::Environment,
        text: LessonText::plain(text),
        evidence: String::new(),
        parents: Vec::new(),
    };
    state.waiting_summaries.push(crate::domain::PoolSummary {
        question: crate::domain::Question {
            kind: ReflectionKind::Abstract,
            purpose: crate::domain::Purpose::Summarise,
        },
        items: vec![add("One."), add("Two."), add("Three.")],
        seq: crate::domain::Seq(1),
    });
    let Ok(LineAction::Print(text)) = parse_line("summary", &state) else { panic!() };
    assert!(text.contains("  2 + Two."), "{text}");
    for (line, refused) in [
        ("accept", vec![]),
        ("refuse", vec![0, 1, 2]),
        ("accept 2", vec![0, 2]),
        ("accept 1\t3", vec![1]),
        ("refuse 1, 3", vec![0, 2]),
    ] {
        assert_eq!(
            parse_line(line, &state),
            Ok(LineAction::Commands(vec![Command::ApplySummary { refused }])),
            "{line}"
        );
    }
    assert!(parse_line("accept 4", &state).unwrap_err().contains("from 1 to 3"));
}

/// Regression (found in review): the screen and `--plain` reported different token counts for the same prompt.
#[test]
fn the_token_count_of_a_prompt_matches_the_screen() {
    use crate::engine::TokenRatio;
    let mut state = State::default();
    let role = crate::domain::ModelRole::Actor;
    let sent = crate::domain::PromptRecord { role, tokens: 1000, ..Default::default() };
    state.actor_prompts.0 = Some(sent.into());
    for (counted, words) in [(1000, "about 1000 tokens"), (1300, "about 1300 tokens")] {
        state.token_ratios = vec![TokenRatio { role, estimated: 1000, counted }];
        let Ok(LineAction::Print(text)) = parse_line("prompt", &state) else { panic!() };
        assert!(text.contains(words), "{text}");
    }
}

/// `undo older` undoes the newest change before an irreversible one.
#[test]
fn undo_older_names_the_change_that_it_undoes() {
    use crate::engine::{UndoAction, UndoEntry};
    let mut state = State::default();
    assert!(parse_line("undo older", &state).is_err());
    let change = crate::domain::ManualEdit::Autonomy { previous: Autonomy::Auto, autonomy: state.autonomy };
    let seq = crate::domain::Seq;
    state.undo_stack = vec![
        UndoEntry { seq: seq(3), action: UndoAction::ManualEdit(change) },
        UndoEntry { seq: seq(4), action: UndoAction::Irreversible("the agent was asked again".to_owned()) },
    ];
    assert_eq!(parse_line("u older", &state), Ok(LineAction::Commands(vec![Command::UndoChange(seq(3))])));
    assert_eq!(parse_line("undo", &state), Ok(LineAction::Commands(vec![Command::Undo])));
}

/// Regression: the status line said only that the session was paused, not that an edited prompt was waiting.
#[test]
fn the_status_line_names_an_edited_prompt_that_is_waiting() {
    use crate::domain::{CallId, ModelRole, PartialReply, PromptRecord, Question};
    use crate::engine::Effect;
    let question = Some(Question::reflect(ReflectionKind::Error));
    let cases = [
        (ModelRole::Actor, None, "CANCELLED · actor call (your edited prompt is waiting); retry (sends"),
        (ModelRole::Mentor, question, "mentor call (Error) (your edited prompt is waiting); retry (sends"),
    ];
    for (role, question, expected) in cases {
        let prompt = PromptRecord { role, question, edited: true, ..PromptRecord::default() };
        let effect = Effect::Ask { call: CallId(0), prompt: prompt.clone().into() };
        let mut state =
            State { cancelled_calls: vec![(effect, PartialReply::default())], ..State::default() };
        assert!(status_line(&state).contains(expected), "{}", status_line(&state));
        assert!(status_line(&state).contains("give-up"));
        let Ok(LineAction::Print(shown)) =
            parse_line(if question.is_some() { "prompt error" } else { "prompt" }, &state)
        else {
            panic!()
        };
        assert!(shown.contains("edited by you, call cancelled: `retry` sends it"), "{shown}");
        // Once the edited prompt has been sent, nothing is waiting.
        state.actor_prompts.0 = Some(prompt.clone().into());
        assert!(!status_line(&state).contains("edited prompt"), "{}", status_line(&state));
        let state = State { draft: Some(prompt.into()), ..State::default() };
        assert!(status_line(&state).starts_with("PAUSED · edited prompt draft"));
    }
}

/// Regression: `set` journaled unknown names, words that a choice doesn't have, and what is fixed since the start.
#[test]
fn set_accepts_what_the_run_can_change() {
    let mut run = test_spec("react", &[]);
    run.settings.set("pddl.goal", "blank", SettingOrigin::Config);
    run.settings.set("templates", "some hash", SettingOrigin::BuiltIn);
    let state = State { run: Some(Arc::new(run)), ..State::default() };
    let accepted = [
        ("max_steps 60", "max_steps", json!(60)),
        // Regression: only a space ended the name.
        ("max_steps\t60", "max_steps", json!(60)),
        ("examples 1", "examples", json!(1)),
        ("thoughts_sent off", "thoughts_sent", json!(false)),
        ("actor.temperature 0.5", "actor.temperature", json!(0.5)),
        ("override.shown_as human_edit", "override.shown_as", json!("human_edit")),
        ("override.thought rewritten", "override.thought", json!("rewritten")),
    ];
    for (line, name, value) in accepted {
        let command = Command::ChangeSetting { name: name.to_owned(), value };
        assert_eq!(
            parse_line(&format!("set {line}"), &state),
            Ok(LineAction::Commands(vec![command])),
            "{line}"
        );
    }
    let rejected = [
        ("nonsense 5", "unknown setting \"nonsense\""),
        ("example 1", "did you mean \"examples\""),
        ("examples 9", "expected a whole number from 0 to 2"),
        ("max_steps 0", "expected a whole number, at least 1"),
        ("override.shown_as ask", "expected own, human_edit"),
        ("override.thought gone", "expected kept, dropped, rewritten"),
        ("pddl.goal comma", "setting pddl.goal is fixed since the start of the run; start another run"),
        ("templates other", "setting templates is fixed"),
        ("r_freq 5", "setting r_freq applies to omnireflect"),
        ("run.seed 5", "is a configuration key"),
        ("actor.temperature hot", "expected a number"),
        ("examples", "usage: set NAME VALUE"),
    ];
    for (line, words) in rejected {
        let error = parse_line(&format!("set {line}"), &state).unwrap_err();
        assert!(error.contains(words), "{line}: {error}");
    }
}

/// Regression: every lesson without a kind was an Abstract one, also where the method has no lane for that.
#[test]
fn a_lesson_without_a_kind_has_the_kind_that_it_would_have_on_the_screen() {
    let kind_with = |method: &str, line: &str| {
        let run = crate::catalog::fixture::test_spec(method, &[]);
        let state = State { run: Some(std::sync::Arc::new(run)), ..State::default() };
        match parse_line(line, &state) {
            Ok(LineAction::Commands(commands)) => match &commands[..] {
                [Command::Lesson(LessonCommand::Add { kind, scope, .. })] => (*kind, *scope),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    let line = "lesson Look on a shelf first.";
    assert_eq!(kind_with("omnireflect", line), (ReflectionKind::Abstract, Scope::Environment));
    assert_eq!(kind_with("reflexion", line), (ReflectionKind::Plan, Scope::Task));
    assert_eq!(kind_with("fcrf", line).0, ReflectionKind::Lesson);
    assert_eq!(
        kind_with("reflexion", "lesson Heated it there. -> Use a microwave.").0,
        ReflectionKind::Error
    );
    assert_eq!(kind_with("reflexion", "lesson error: Heated it there.").0, ReflectionKind::Error);
}

/// Regression: a lesson of a kind that no prompt of the method shows was accepted without a word.
#[test]
fn a_lesson_that_no_prompt_shows_is_warned_about() {
    let warning = |method: &str, line: &str| {
        let run = crate::catalog::fixture::test_spec(method, &[]);
        let state = State { run: Some(std::sync::Arc::new(run)), ..State::default() };
        let Ok(LineAction::Commands(commands)) = parse_line(line, &state) else { panic!("{line}") };
        super::unshown_kind_warning(&commands[0], &state)
    };
    assert_eq!(
        warning("reflexion", "lesson error: Heated it there. -> Use a microwave.").as_deref(),
        Some(
            "warning: no prompt of reflexion shows Error lessons, only lessons of kind plan; \
             `lesson KIND: TEXT` sets the kind"
        )
    );
    assert_eq!(warning("reflexion", "lesson plan: Look on a shelf first."), None);
    assert_eq!(warning("omnireflect", "lesson error: Heated it there. -> Use a microwave."), None);
    assert_eq!(warning("elsewhere", "lesson error: Heated it there."), None, "an unknown method");
}
