//! Properties of the parsers for every reply: parsing succeeds in linear time, invents nothing and loses nothing.

use super::*;
use crate::engine::ParsedActorReply;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Pieces of which a reply may consist. Escapes are omitted, because the characters they encode do not occur in the
/// reply.
const REPLY_PIECES: &str = "([a-zA-Z0-9 äß果]{1,6}|\n|\\[|\\]|\\{|\\}|\\(|\\)|'|\"|,|: |- |1\\. |2\\) |mistake|solution|\
    'rule': |\"priority\": 7|None|“|”|’|`|```|\n```json\n|# |//|\\.\\.\\.|<think>|</think>|Solution: |Mistake: |a b|\
    Here is the list:|\\*\\*|\n\n|\r\n|\\[ \\] |Action: |Thought: |> |think: |Observation: |Plan: |; |\\. ){0,30}";

/// Returns the letters and digits of a text.
fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric())
}

/// Returns whether the letters of `part` occur in `reply` in the same order.
fn contains_in_order(part: &str, reply: &str) -> bool {
    let mut reply_letters = letters(reply);
    letters(part).all(|c| reply_letters.any(|r| r == c))
}

/// Returns the words of a text with their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .map(|w| (w.as_ptr() as usize - text.as_ptr() as usize, w))
}

fn item_words(item: &ReadItem) -> String {
    let parts =
        [Some(&item.text.text), item.text.solution.as_ref(), item.priority.as_ref(), item.heading.as_ref()];
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The index in [`STYLES`] of the format whose items are escaped.
const ESCAPED_STYLE: usize = 13;

/// List formats a model might use, each as a function from items to text.
const STYLES: &[fn(&[String]) -> String] = &[
    |items| format!("['{}']", items.join("', '")),
    |items| format!("[\"{}\"]", items.join("\",\n \"")),
    |items| format!("```json\n[\n  \"{}\",\n]\n```", items.join("\",\n  \"")),
    |items| format!("Here is the list:\n[“{}”]\nI hope this helps!", items.join("”, “")),
    |items| format!("[‘{}’]", items.join("’, ‘")),
    |items| format!("- {}\n", items.join("\n- ")),
    |items| (1..).zip(items).map(|(n, i)| format!("{n}. {i}")).collect::<Vec<_>>().join("\r\n"),
    |items| format!("* \"{}\",", items.join("\",\n* \"")),
    |items| {
        format!("{{\"rule\": \"{}\", \"priority\": 3}}", items.join("\", \"priority\": 3}\n{\"rule\": \""))
    },
    |items| items.join("\n"),
    |items| format!("rules = [[\"{}\"]]", items.join("\"], [\"")),
    |items| serde_json::to_string(items).unwrap(),
    |items| serde_json::to_string_pretty(&serde_json::json!({ "constitution": items })).unwrap(),
    |items| format!("[\"{}\"]", items.iter().map(|i| escaped(i)).collect::<Vec<_>>().join("\", \"")),
];

fn escaped(text: &str) -> String {
    text.encode_utf16().map(|u| format!("\\u{u:04x}")).collect::<Vec<_>>().concat()
}

proptest! {
    #[test]
    fn a_list_invents_nothing_and_loses_nothing(reply in REPLY_PIECES) {
        let read = read_items(&reply);
        for item in &read.items {
            prop_assert!(has_words(&item.text.text));
            for part in [Some(&item.text.text), item.text.solution.as_ref(), item.priority.as_ref(), item.heading.as_ref()] {
                prop_assert!(part.is_none_or(|p| contains_in_order(p, &reply)), "{:?} invented from {:?}", item, reply);
            }
            prop_assert!(reply.get(item.span.clone()).is_some());
        }
        for complaint in &read.complaints {
            prop_assert!(reply.get(complaint.span.clone()).is_some(), "{:?} of {:?}", complaint, reply);
            prop_assert!(!complaint.message.is_empty());
        }
        let reported: Vec<&Range<usize>> =
            read.markup.iter().chain(read.complaints.iter().map(|c| &c.span)).collect();
        for (at, word) in words(&reply) {
            let is_reported = reported.iter().any(|r| r.start <= at && at + word.len() <= r.end);
            let kept = || read.items.iter().any(|i| i.span.contains(&at) && item_words(i).contains(word));
            // A part's name (`Mistake:`) is consumed as its label, so it isn't lost.
            let name = || label::parse_role(word) != label::LabelRole::Unknown && read.items.iter().any(|i| i.span.contains(&at));
            prop_assert!(is_reported || kept() || name(), "{:?} is lost from {:?}: {:#?}", word, reply, read);
        }
    }

    #[test]
    fn a_plan_invents_nothing_and_loses_nothing(reply in REPLY_PIECES) {
        let read = read_free_text(&reply, &[]);
        prop_assert!(contains_in_order(&read.text, &reply), "{:?} invented from {:?}", read, reply);
        let reported: Vec<&Range<usize>> =
            read.markup.iter().chain(read.complaints.iter().map(|c| &c.span)).collect();
        for (at, word) in words(&reply) {
            let is_reported = reported.iter().any(|r| r.start <= at && at + word.len() <= r.end);
            prop_assert!(is_reported || read.text.contains(word), "{:?} is lost from {:?}: {:#?}", word, reply, read);
        }
        prop_assert!(!read.text.is_empty() || !read.complaints.is_empty());
    }

    #[test]
    fn an_actors_reply_invents_nothing_and_unused_text_is_reported(reply in REPLY_PIECES) {
        let ParsedActorReply { thought, action, complaints, .. } = super::read_reply(&reply);
        for part in [&thought, &action].into_iter().flatten() {
            prop_assert!(contains_in_order(part, &reply), "{:?} invented from {:?}", part, reply);
        }
        let (_, reported) = actor::parse_reply(&reply, &ActionVerbs::default());
        for (at, word) in words(&reply) {
            // The span of a complaint about a named part excludes the name, so its quotation in the message counts.
            let is_reported = reported.iter().any(|c| {
                (c.span.start <= at && at + word.len() <= c.span.end) || c.message.contains(word)
            });
            let kept = [&thought, &action].into_iter().flatten().any(|p| p.contains(word));
            let name = ["action", "thought", "think", "observation", "json"].contains(&word.to_lowercase().as_str())
                || reply.contains("```") || word.bytes().all(|b| b.is_ascii_digit());
            prop_assert!(is_reported || kept || name, "{:?} is lost from {:?}: {:?} {:?} {:#?}", word, reply, thought, action, complaints);
        }
    }

    #[test]
    fn every_text_is_parsed_without_a_panic(reply in "(\\PC|\\\\|\\\\u12|\\\\ud83d|\n|'|\"|\\[|\\{|:|,){0,60}") {
        let _ = (read_items(&reply), read_free_text(&reply, &[]), super::read_reply(&reply));
    }

    #[test]
    fn a_list_in_any_style_gives_the_same_items(
        list in prop::collection::vec("[A-Z][a-z]{2,8} [a-z]{3,8}( [a-z]{1,8}){0,4}( [a-z]+'s [a-z]+)?[.]", 1..6),
        style in 0..STYLES.len(),
    ) {
        let mut list = list;
        let mut seen = std::collections::HashSet::new();
        list.retain(|i| seen.insert(i.clone()));
        let reply = STYLES[style](&list);
        let read = read_items(&reply);
        let actual: Vec<String> = read.items.iter().map(|i| i.text.text.clone()).collect();
        prop_assert_eq!(&actual, &list, "{}", reply);
        prop_assert!(read.complaints.is_empty(), "{:?}", read.complaints);
    }

    #[test]
    fn a_list_cut_off_anywhere_gives_only_complete_items(
        list in prop::collection::vec("[A-Z][a-z]{2,8} [a-z]{3,8}( [a-z]{1,8}){0,4}( [a-z]+'s [a-z]+)?[.]", 1..6),
        style in 0..STYLES.len(),
        fraction in 0.0..1.0_f64,
    ) {
        let reply = STYLES[style](&list);
        let end = (0..=(reply.len() as f64 * fraction) as usize).rev().find(|n| reply.is_char_boundary(*n)).unwrap();
        let read = read_truncated_items(&reply[..end], "the token limit");
        for item in &read.items {
            prop_assert!(list.contains(&item.text.text), "{:?} of {:?}", item, &reply[..end]);
        }
        let item_count = read.items.len() + read.dropped.len();
        prop_assert!(item_count <= list.len() + 1, "{:?}", read);
        prop_assert!(read.dropped.iter().all(|text| contains_in_order(&text.text, &reply[..end]) || style == ESCAPED_STYLE));
    }

    // At least two words: `Nil` alone says that there is nothing.
    #[test]
    fn mistakes_and_solutions_in_any_style_give_the_same_pairs(
        pairs in prop::collection::vec(("[A-Z][a-z]{2,8} [a-z]{3,8}( [a-z]{3,8}){0,3}", "[A-Z][a-z]{2,8} [a-z]{3,8}( [a-z]{3,8}){0,3}"), 1..5),
        style in 0..6,
    ) {
        let format_pair = |(m, s): &(String, String)| match style {
            0 => format!("{{'mistake': '{m}', 'solution': '{s}'}}"),
            1 => format!("{{\"solution\": \"{s}\", \"mistake\": \"{m}\"}}"),
            2 => format!("{{\n“Mistake”: “{m}”,\n“Solution”: “{s}”\n}}"),
            3 => format!("- Mistake: {m} Solution: {s}"),
            4 => format!("1. **Mistake:** {m}\n   **Solution:** {s}"),
            _ => format!("{{mistake: {m}, solution: {s}}}"),
        };
        let written: Vec<String> = pairs.iter().map(format_pair).collect();
        let reply = if style < 3 { format!("[{}]", written.join(", ")) } else { written.join("\n") };
        let mut expected: Vec<LessonText> = pairs.iter().map(|(m, s)| LessonText::error(m, s)).collect();
        let mut seen = std::collections::HashSet::new();
        expected.retain(|i| seen.insert(i.clone()));
        let read = read_items(&reply);
        let actual: Vec<LessonText> = read.items.into_iter().map(|i| i.text).collect();
        prop_assert_eq!(actual, expected, "{}", reply);
    }
}

#[test]
fn long_repetitions_are_parsed_in_linear_time() {
    for piece in [
        "[",
        "[]",
        "[ ",
        "['",
        "[\"a\"]",
        "{",
        "{'a':",
        "{}",
        "'",
        "\"",
        "\\",
        "\\\"",
        "`",
        "```",
        "```\n",
        "''",
        "' ",
        "',",
        "',\n",
        "\",\n\"",
        "\"a\n",
        "\"\n\n",
        ":",
        "a:",
        "a,",
        "a, b",
        "A, ",
        "- ",
        "- a\n",
        "1.",
        "1. a\n",
        "[a\n",
        "a [b] ",
        "a [",
        "\n",
        " ",
        "\r\n",
        "#",
        "//",
        "...",
        "<think>",
        "</think>",
        "Mistake: ",
        "Mistake: a\n",
        "Solution: ",
        "]",
        "[}",
        "{[",
        "([",
        "“",
        "’",
        "Action: ",
        "Action: a\n",
        "Thought: a\n",
        "Observation:",
        "> ",
        "Plan: ",
        "Plan: a\n",
        "x",
        "é",
        "\\u",
        "{\"action\": ",
        "{\"action\": \"a\"}\n",
        ";",
        "; ",
        " (",
        "**",
        "{a\n",
        "[\n",
        "[\"a\",\n",
        "[x] ",
        "{'mistake': 'a', ",
    ] {
        for start in ["", "[\""] {
            assert_linear(start, piece, 1 << 14);
        }
    }
    for piece in ["[", "[]", "['", "\"", "\"\\", "' ", "\\", "x", "a\n"] {
        assert_linear("", piece, 1 << 18);
    }
}

/// Sixteen times the input takes about sixteen times as long; a quadratic parser takes 256 times.
fn assert_linear(start: &str, piece: &str, length: usize) {
    let reply = |length: usize| format!("{start}{}", piece.repeat(length / piece.len()));
    let (short, long) = (reply(length / 16), reply(length));
    let fastest = |reply: &str| {
        let measure = || {
            let start = Instant::now();
            let _ = (read_items(reply), read_free_text(reply, &[]), super::read_reply(reply));
            start.elapsed()
        };
        (0..3).map(|_| measure()).min().unwrap_or_default()
    };
    // Another program can take the time of a single comparison. The first millisecond is clock and machine noise.
    let is_linear = (0..20).any(|_| fastest(&long) < fastest(&short).max(Duration::from_millis(1)) * 100);
    assert!(
        is_linear,
        "{piece:?}: {:?} for a sixteenth, {:?} for all of it",
        fastest(&short),
        fastest(&long)
    );
}
