//! Parses an actor's reply in the form that a run asks for, such as an action that is a program.

use super::screen_plan::read_plan;
use super::{ParseLog, has_words, read_reply_with};
use crate::domain::common_settings::{Acting, ActorReply};
use crate::domain::{ActionVerbs, RunSettings};
use crate::engine::ParsedActorReply;

const FENCE: &str = "```";

/// Parses an actor's reply in a run with these settings: as a plan, one action a line, or as a single action, in an environment whose
/// actions begin with these verbs.
pub fn read_actor_reply(settings: &RunSettings, verbs: &ActionVerbs, reply: &str) -> ParsedActorReply {
    match settings.acting {
        Acting::ScreenPlan => read_plan(reply),
        Acting::Step => read_reply_as(settings.actor_reply, verbs, reply),
    }
}

/// Parses an actor's reply: its first line with an action ([`read_reply_with`]), or the whole text.
///
/// Of a whole text, what comes before the first block between fences is the thought, and the block with its fences is the
/// action; without a block the text is the action, unless it begins with `think:`. Reasoning before `</think>` and text after the block
/// become complaints. Line breaks and blanks inside are kept.
fn read_reply_as(form: ActorReply, verbs: &ActionVerbs, reply: &str) -> ParsedActorReply {
    match form {
        ActorReply::Line => read_reply_with(verbs, reply),
        ActorReply::Whole => read_whole_reply(reply),
    }
}

fn read_whole_reply(reply: &str) -> ParsedActorReply {
    let mut log = ParseLog::new(reply);
    let text = log.after_reasoning().trim();
    let mut parsed = ParsedActorReply::default();
    if let Some((before, block, after)) = split_at_block(text) {
        let before = before.trim();
        parsed.thought = has_words(before).then(|| before.to_owned());
        parsed.complete = block.len() > FENCE.len() && block.trim_end().ends_with(FENCE);
        parsed.action = has_words(block).then(|| block.trim().to_owned());
        if has_words(after) {
            log.complain("text after the block was not used", after.trim());
        }
    } else if let Some(thought) = text.strip_prefix("think:") {
        parsed.thought = has_words(thought).then(|| thought.trim().to_owned());
    } else {
        parsed.action = has_words(text).then(|| text.to_owned());
    }
    // Invisible characters are not executed.
    if let Some(action) = &mut parsed.action
        && let std::borrow::Cow::Owned(visible) = crate::text::clean(action)
    {
        if has_control_characters(action) {
            log.complain("control characters in the action were not used", text);
        }
        visible.trim().clone_into(action);
    }
    if parsed.thought.is_none() && parsed.action.is_none() {
        let problem = if reply.trim().is_empty() { "the reply is empty" } else { "the reply has no action" };
        log.complain(problem, "");
    }
    parsed.complaints = log.complaints.into_iter().map(|complaint| complaint.message).collect();
    parsed
}

/// Returns whether a text has more to clean than tabs and carriage returns, which programs may have.
fn has_control_characters(text: &str) -> bool {
    text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
}

/// Splits a text into what comes before its first block, the block with its fences, and what comes after. A block marked as
/// Python precedes others. The block of a reply that was cut off has no end.
fn split_at_block(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find("```python").or_else(|| text.find(FENCE))?;
    let (before, rest) = text.split_at(start);
    let inside = rest.get(FENCE.len()..)?;
    let end = inside.find(FENCE).map_or(rest.len(), |at| at + 2 * FENCE.len());
    let (block, after) = rest.split_at(end);
    Some((before, block, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_the_action_and_keeps_its_lines() {
        let block = "```python\ndef f(x):\n    return x\n```";
        for (reply, thought, action, complaints, complete) in [
            (block.to_owned(), None, Some(block), 0, true),
            (format!("I return it.\n{block}\nDone."), Some("I return it."), Some(block), 1, true),
            (format!("<think>hm</think>\n{block}"), None, Some(block), 1, true),
            (format!("```\nx\n```\n{block}"), Some("```\nx\n```"), Some(block), 0, true),
            ("```python\ndef f(x):".to_owned(), None, Some("```python\ndef f(x):"), 0, false),
            ("tests\nassert f(1) == 1".to_owned(), None, Some("tests\nassert f(1) == 1"), 0, false),
            ("think: it is easy".to_owned(), Some("it is easy"), None, 0, false),
            ("code\nx = '\u{1b}[1m'".to_owned(), None, Some("code\nx = ''"), 1, false),
            ("code\n\tx\r\ny".to_owned(), None, Some("code\n    x\ny"), 0, false),
            ("  ".to_owned(), None, None, 1, false),
            ("``` ```".to_owned(), None, None, 1, true),
        ] {
            let parsed = read_reply_as(ActorReply::Whole, &ActionVerbs::NONE, &reply);
            assert_eq!(
                (
                    parsed.thought.as_deref(),
                    parsed.action.as_deref(),
                    parsed.complaints.len(),
                    parsed.complete
                ),
                (thought, action, complaints, complete),
                "{reply}"
            );
        }
        assert_eq!(
            read_reply_as(ActorReply::Line, &ActionVerbs::NONE, "look\ngo").action.as_deref(),
            Some("look")
        );
    }
}
