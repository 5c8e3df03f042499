//! Text that models, environments and files should not send.

#![allow(dead_code, reason = "each target uses only part of it")]

use crate::cases::Rng;

const CONTROL: &[&str] = &[
    "\u{1b}[2J",
    "\u{1b}[31m",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]52;c;AAAA\u{1b}\\",
    "\u{1b}P+q\u{1b}\\",
    "\u{1b}[",
    "\u{1b}",
    "\u{9b}31m",
    "\u{9d}x\u{9c}",
    "\u{90}",
    "\0",
    "\u{7}",
    "\u{8}\u{8}",
    "\r",
    "\t",
    "\n",
    "\r\n",
    "\u{b}",
    "\u{c}",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{1b}[?1049h",
    "\u{1b}[6n",
    "\u{1b}_x",
    "\u{1b}^",
    "\u{1b}X",
    "\u{1b}c",
    "\u{1b}(0",
];

const UNICODE: &[&str] = &[
    "\u{202e}",
    "\u{202a}",
    "\u{2066}",
    "\u{2069}",
    "\u{200f}",
    "\u{61c}",
    "\u{200b}",
    "\u{feff}",
    "\u{ad}",
    "\u{301}",
    "e\u{301}\u{301}\u{301}\u{301}",
    "\u{200d}",
    "👩\u{200d}👩\u{200d}👧\u{200d}👦",
    "🇩🇪",
    "🏳\u{fe0f}\u{200d}🌈",
    "\u{fffd}",
    "\u{fffe}",
    "\u{10ffff}",
    "שלום",
    "مرحبا",
    "苹果",
    "りんご",
    "ﷺ",
    "ก็็็็",
    "각",
    "ᄀᄀᄀ각ᆨᆨ",
    "a\u{488}",
    "\u{e0041}",
    "ﬁ",
    "ß",
    "İ",
    "ı",
    "Å",
    "\u{1f1e6}",
    "\u{a0}",
    "\u{3000}",
    "\u{2003}",
    "１",
    "²",
    "Ⅷ",
    "\u{fe0f}",
    "𝒶𝓅𝓅𝓁ℯ",
    "\u{115f}",
    "\u{3164}",
];

const STRUCTURED: &[&str] = &[
    "{",
    "}",
    "{{goal}}",
    "{0}",
    "{lesson}",
    "${x}",
    "$(reboot)",
    "%s%n",
    "<script>",
    "&amp;",
    "\\",
    "\\n",
    "\"",
    "'",
    "`",
    "```",
    "**",
    r#"{"type":"closed"}"#,
    r#"{"seq":1,"#,
    "[[[[[[",
    "]]]]",
    "</think>",
    "<think>",
    "null",
    "NaN",
    "-0",
    "1e999",
    "18446744073709551616",
    "-1",
    "> ",
    ">>>",
    "think:",
    "Thought:",
    "Thought 3:",
    "Action:",
    "ACTION :",
    "Observation:",
    "OK.",
    "ok.",
    "Your task is to:",
    "Your task is to: put a hot apple in fridge.",
    "-= Welcome to TextWorld, ALFRED! =-",
    "- Mistake:",
    "Solution:",
    ":",
    "::",
    "->",
    "#",
    "- ",
    "* ",
    "1. ",
    "...",
    "(",
    ")",
    "[human edit]:",
];

const HOUSEHOLD_WORDS: &[&str] = &[
    "apple 1",
    "apple",
    "mug 2",
    "fridge 1",
    "fridge",
    "microwave 1",
    "countertop 99999999999999999999",
    "desklamp 0",
    "cabinet -1",
    "go to",
    "take",
    "from",
    "put",
    "in/on",
    "in",
    "on",
    "move",
    "to",
    "open",
    "close",
    "heat",
    "cool",
    "clean",
    "with",
    "use",
    "look",
    "inventory",
    "examine",
    "check valid actions",
    "put apple 1 in fridge 1.",
    "go to fridge 1",
    "take apple 1 from fridge 1",
    "heat apple 1 with microwave 1",
    "Nothing happens.",
    "You arrive at loc 12. On the",
    "You arrive at fridge 1. The fridge 1 is closed.",
    "On the countertop 1, you see a apple 1, a mug 2, and a knife 1.",
    "In it, you see nothing.",
    "You pick up the apple 1 from the countertop 1.",
    "You heat the apple 1 using the microwave 1.",
    "Looking quickly around you, you see a cabinet 2, a cabinet 1, and a fridge 1.",
    "Heat food in a microwave only.",
    "Use the number of every object and place.",
    "Open a closed container before you take from it or put into it.",
    "Look for a apple in/on a countertop first.",
    "Do not go back to a place that was already searched.",
    "Say \"move OBJECT to PLACE\" to put something down.",
    "you see a",
    ",",
    ", and a",
    "a",
    ".",
    "\n\n",
];

/// Returns a text of several pieces; once in `large` calls one of its pieces is a line of a megabyte.
pub(crate) fn text(rng: &mut Rng, large: usize) -> String {
    let mut text = String::new();
    let count = match rng.below(10) {
        0 => 0,
        1..=6 => 1 + rng.below(8),
        _ => 1 + rng.below(60),
    };
    let mostly_household = rng.once_in(2);
    for _ in 0..count {
        match rng.below(if mostly_household { 16 } else { 8 }) {
            0 | 1 => text.push_str(rng.pick(CONTROL)),
            2 | 3 => text.push_str(rng.pick(UNICODE)),
            4 => text.push_str(rng.pick(STRUCTURED)),
            5 => text.push(character(rng)),
            6 => push_word(rng, &mut text),
            _ => text.push_str(rng.pick(HOUSEHOLD_WORDS)),
        }
        if rng.once_in(2) {
            text.push(' ');
        }
    }
    if rng.once_in(large) {
        let piece = match rng.below(7) {
            0 => "x",
            1 => rng.pick(CONTROL),
            2 => rng.pick(UNICODE),
            3 => rng.pick(STRUCTURED),
            4 => "a b ",
            _ => rng.pick(HOUSEHOLD_WORDS),
        };
        let position =
            (0..=text.len()).rev().find(|i| *i <= text.len() / 2 && text.is_char_boundary(*i)).unwrap_or(0);
        text.insert_str(position, &piece.repeat((1 << 20) / piece.len()));
    }
    text
}

fn character(rng: &mut Rng) -> char {
    let top = [0x80, 0x300, 0x1_0000, 0x11_0000][rng.below(4)];
    char::from_u32(rng.below(top) as u32).unwrap_or('\u{fffd}')
}

fn push_word(rng: &mut Rng, text: &mut String) {
    let long = rng.once_in(20);
    let letters = 1 + rng.below(if long { 5_000 } else { 12 });
    let letter = character(rng);
    let repeats_letter = rng.once_in(3);
    for _ in 0..letters {
        text.push(if repeats_letter { letter } else { char::from(b'a' + rng.below(26) as u8) });
    }
}
