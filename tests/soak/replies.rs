//! Random model replies: pieces of lists, labels and prose, truncated, duplicated and mixed with hostile text.

use crate::cases::{Rng, Soak};
use crate::hostile;
use retrospect::prompt::read;

/// On average one of this many replies contains a piece of a megabyte.
const LARGE_ONCE_IN: usize = 250;

/// The pieces of the replies.
const PIECES: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "'",
    "\"",
    "“",
    "”",
    "‘",
    "’",
    "`",
    "``",
    "\"\"\"",
    ",",
    ":",
    ": ",
    ";",
    "\n",
    "\r\n",
    " ",
    "\\\"",
    "\\n",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\ud83d",
    "\\",
    "...",
    "# ",
    "// a remark\n",
    "- ",
    "1. ",
    "* [ ] ",
    "Rule 3: ",
    "'mistake': ",
    "\"solution\": ",
    "\"rule\": ",
    "\"priority\": 7",
    "None",
    "true",
    "3.5",
    "Mistake: ",
    " Solution: ",
    "## ",
    "**Error**\n",
    "```json\n",
    "```\n",
    "<think>",
    "</think>",
    "Here is the list:\n",
    "I hope this helps!",
    "No mistakes so far.",
    "{\"thought\": \"hm\", \"action\": \"",
    "{\"action\": ",
    "Thought: ",
    "Action: ",
    "Action 2: ",
    "Observation: ",
    "think: ",
    "> ",
    "OK.\n",
    "New plan: ",
    "STATUS: FAIL\n",
    "Open the fridge first.",
    "don't",
    "go to desk 1",
    "the robots' arms",
    "果",
];

#[test]
fn any_reply_can_be_parsed() {
    let (mut items, mut complaints, mut actions) = (0_u64, 0_u64, 0_u64);
    Soak::new("replies", 100_000).run(|rng, _| {
        let reply = random_reply(rng);
        let list = read::read_items(&reply);
        items += list.items.len() as u64;
        complaints += list.complaints.len() as u64;
        for item in &list.items {
            assert!(reply.get(item.span.clone()).is_some(), "{item:?}");
            assert_quoted(&item.text.text, &reply);
            item.text.solution.iter().for_each(|s| assert_quoted(s, &reply));
        }
        assert!(list.complaints.iter().all(|c| reply.get(c.span.clone()).is_some()));
        assert!(list.markup.iter().all(|m| reply.get(m.clone()).is_some()));
        assert!(list.complaints.len() <= 65, "the last one stands for the rest");
        let plan = read::read_free_text(&reply, &[]);
        assert_quoted(&plan.text, &reply);
        let reading = read::read_reply(&reply);
        for part in [&reading.thought, &reading.action].into_iter().flatten() {
            assert_quoted(part, &reply);
        }
        actions += u64::from(reading.action.is_some());
        assert!(
            reading.thought.is_some() || reading.action.is_some() || !reading.complaints.is_empty(),
            "nothing was parsed and no problem reported"
        );
    });
    println!("replies: {items} lessons, {complaints} complaints, {actions} actions");
}

/// Asserts that the characters of a part appear in the reply in the same order. Escapes are exempt.
fn assert_quoted(part: &str, reply: &str) {
    if reply.contains('\\') {
        return;
    }
    let mut chars = reply.chars().filter(|c| c.is_alphanumeric());
    for c in part.chars().filter(|c| c.is_alphanumeric()) {
        assert!(chars.any(|w| w == c), "{part:?} is not in {reply:?}");
    }
}

fn random_reply(rng: &mut Rng) -> String {
    let mut reply = String::new();
    for _ in 0..rng.below(50) {
        if rng.once_in(12) {
            reply.push_str(&hostile::text(rng, LARGE_ONCE_IN * 10));
        } else {
            reply.push_str(rng.pick(PIECES));
        }
    }
    if rng.once_in(LARGE_ONCE_IN) {
        let piece = rng.pick(PIECES);
        reply.push_str(&piece.repeat((1 << 20) / piece.len()));
    }
    if rng.once_in(3) {
        let end = rng.below(reply.len() + 1);
        reply.truncate((0..=end).rev().find(|e| reply.is_char_boundary(*e)).unwrap_or(0));
    }
    reply
}
