//! A model's reasoning and raw reply, kept with the step for good.

use super::{TestScreen, screen_text};
use crate::domain::{DecidedBy, ToolCall, Usage};
use crate::engine::{Cause, Event};
use crate::ui::fixture::Fixture;
use serde_json::json;

const REASONING: &str = "The mug is dirty. A sink cleans it, so the sink comes first.";

/// Two steps of a model that reasons; the second one waits for a decision.
fn with_reasoning() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    for (step, action) in [(1, "go to sinkbasin 1"), (2, "clean mug 1 with sinkbasin 1")] {
        let call = fixture.send_prompt();
        let usage = Usage {
            prompt_tokens: 900,
            reply_tokens: 48,
            reasoning_tokens: 30,
            millis: 2300,
            cost_nano: 120_000,
            ..Usage::default()
        };
        fixture.write(
            Cause::Model,
            Event::ReplyReceived {
                tool_calls: Vec::new(),
                call,
                text: format!("think: I'll use the sink.\n> {action}"),
                reasoning: format!(" {REASONING} ({step})\n"),
                usage,
                truncated: None,
                reply_source: None,
            },
        );
        let proposed = Event::Proposed {
            step,
            thought: Some("I'll use the sink.".to_owned()),
            action: Some(action.to_owned()),
            planned: Vec::new(),
            complaints: Vec::new(),
        };
        fixture.write(Cause::Model, proposed);
        if step == 1 {
            fixture.execute(action, DecidedBy::Actor, "You arrive at sinkbasin 1.", 0.0, json!({}));
        }
    }
    fixture.pause();
    fixture
}

#[test]
fn reasoning_is_unfolded_in_the_story_of_every_step() {
    let mut stage = TestScreen::new(with_reasoning(), 80, 24);
    let folded = screen_text(&stage.draw());
    assert!(!folded.contains("The mug is dirty") && folded.contains("with reasoning"), "{folded}");
    stage.press("f");
    let shown = screen_text(&stage.draw());
    assert_eq!(shown.matches("│ The mug is dirty.").count(), 2, "{shown}");
    // Regression: beside the reasoning of a model that played before, it said that the rules give none.
    assert!(!shown.contains("give no reasoning"), "{shown}");
    insta::assert_snapshot!("reasoning_80x24", shown);
    // In the past as well, and in a pane of its own.
    stage.press("Left");
    assert!(screen_text(&stage.draw()).contains("│ The mug is dirty."));
    stage.model.size = (200, 60);
    assert!(screen_text(&stage.draw()).contains("│ The mug is dirty."));
    stage.press("f");
    assert!(!screen_text(&stage.draw()).contains("The mug is dirty"));
}

#[test]
fn details_show_reply_reasoning_usage_seconds_and_cost() {
    for (keys, step) in [(&["i"][..], "(2)"), (&["Left", "i"], "(1)")] {
        let mut stage = TestScreen::new(with_reasoning(), 120, 36);
        for key in keys {
            stage.press(key);
        }
        let shown = screen_text(&stage.draw());
        let reasoning = format!("reasoning   {REASONING} {step}");
        for part in [
            &*reasoning,
            "reply       think: I'll use the sink.",
            "900 + 48 tokens reported by the server",
            "2.3 s",
            "at the configured prices",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(shown.contains("30 of them reasoning"), "{shown}");
    }
}

/// What is discarded isn't shown as that of the next proposal.
#[test]
fn the_reasoning_of_a_discarded_proposal_is_gone() {
    let mut fixture = with_reasoning();
    let reply = |fixture: &Fixture| fixture.state().last_step().unwrap().reasoning.to_string();
    assert_eq!(reply(&fixture), format!("{REASONING} (2)"), "without the blanks around it");
    fixture.write(Cause::Person, Event::AskedAgain { step: 2, unusable_reason: None, draft: None });
    assert_eq!(reply(&fixture), "");
}

/// A reply that only calls a tool can't be used. What it called stays visible: in the Story, in the details, in the exports.
#[test]
fn a_tool_call_is_shown_where_a_reply_is_missing() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    let write_reply = |fixture: &mut Fixture, text: &str, arguments: &str| {
        let call = fixture.send_prompt();
        let tool_calls = vec![ToolCall { name: "look".to_owned(), arguments: arguments.to_owned() }];
        let (text, usage) = (text.to_owned(), Usage::default());
        let reply = Event::ReplyReceived {
            call,
            text,
            reasoning: String::new(),
            tool_calls,
            usage,
            truncated: None,
            reply_source: None,
        };
        fixture.write(Cause::Model, reply);
    };
    write_reply(&mut fixture, "", r#"{"at": "desk 1"}"#);
    let unusable_reason = Some("it has no text".to_owned());
    fixture.write(Cause::Model, Event::AskedAgain { step: 1, unusable_reason, draft: None });
    write_reply(&mut fixture, "> look", r#"{"at": "desk 2"}"#);
    let proposed = Event::Proposed {
        step: 1,
        thought: None,
        action: Some("look".to_owned()),
        planned: Vec::new(),
        complaints: Vec::new(),
    };
    fixture.write(Cause::Model, proposed);
    fixture.pause();
    let mut stage = TestScreen::new(fixture, 80, 24);
    let story = screen_text(&stage.draw());
    let (first, second) = (r#"look({"at": "desk 1"})"#, r#"look({"at": "desk 2"})"#);
    assert!(story.contains(&format!("tool call (not run): {second}")), "{story}");
    assert!(!story.contains(first), "a step keeps its last reply: {story}");
    stage.press("i");
    let details = screen_text(&stage.draw());
    let place = |words: &str| details.find(words).unwrap_or_else(|| panic!("{words}: {details}"));
    assert!(place(first) < place("asked again"), "{details}");
    assert!(place("asked again") < place(second) && place("> look") < place(second), "{details}");
    assert_eq!(details.matches("tool call").count(), 2, "{details}");
}
