//! Tests of width, truncation and wrapping.

use super::*;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Generates hostile text: letters, spaces, control sequences, and wide, joined and bidirectional characters.
fn hostile_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "b ",
        "word",
        "  ",
        "\n",
        "\t",
        "\r\n",
        "\u{1b}[31m",
        "\u{1b}]0;title\u{7}",
        "\u{1b}]8;;http://x\u{1b}\\",
        "\u{1b}P1$r\u{9c}",
        "\u{9b}2J",
        "\u{1b}",
        "\u{202e}",
        "\u{200b}",
        "e\u{301}",
        "漢字",
        "👨‍👩‍👧",
        "🇩🇪",
        "\u{200d}",
        "❤\u{fe0f}",
        "\u{0}",
        "\u{85}",
        "क्ष",
        "\u{1100}\u{1161}",
        "لا",
        "\u{2028}",
        "\u{feff}",
        "ﷺ",
        "İ",
    ]);
    prop_oneof![
        prop::collection::vec(pieces, 0..40).prop_map(|p| p.concat()),
        prop::collection::vec(any::<char>(), 0..60).prop_map(|c| c.into_iter().collect()),
    ]
}

fn without_whitespace(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Regression: `you see a pot` ended a row and `1.` stood alone in the next one.
#[test]
fn a_number_stays_with_the_word_before_it() {
    let cases = [
        ("you see a pot 1.", 15, ["you see a", "pot 1."].as_slice()),
        ("you see a pot 1.", 16, &["you see a pot 1."]),
        ("a pot 1, and a pan 12", 10, &["a pot 1,", "and a", "pan 12"]),
        // The row has nothing else, both don't fit into one, or it is no name.
        ("cabinet 12", 9, &["cabinet", "12"]),
        ("a cabinet 12", 9, &["a cabinet", "12"]),
        ("see rows 1-2", 9, &["see rows", "1-2"]),
        ("of 1 2 3", 6, &["of 1 2", "3"]),
        ("1. Go to the kitchen. 2. Heat", 23, &["1. Go to the kitchen.", "2. Heat"]),
        ("a 漢字漢 12", 9, &["a 漢字漢", "12"]),
    ];
    for (text, columns, rows) in cases {
        assert_eq!(wrap(text, columns), rows, "{text} in {columns}");
    }
}

#[test]
fn removes_terminal_control_sequences() {
    let cases = [
        ("plain text stays", "plain text stays"),
        ("\u{1b}[31mred\u{1b}[0m", "red"),
        ("\u{1b}[38;2;1;2;3mrgb", "rgb"),
        ("\u{9b}31mred", "red"),
        ("a\u{1b}]0;title\u{7}b", "ab"),
        ("a\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\b", "alinkb"),
        ("a\u{1b}]52;c;AAAA\u{9c}b", "ab"),
        ("a\u{1b}Pq#0\u{1b}\\b", "ab"),
        ("a\u{1b}_Gx\u{1b}\\b", "ab"),
        ("a\u{1b}cb", "ab"),
        ("a\u{1b}(0b", "ab"),
        ("a\u{1b}", "a"),
        ("a\r\nb\rc", "a\nbc"),
        ("a\tb", "a    b"),
        ("a\u{8}\u{7f}\u{0}b", "ab"),
        ("safe\u{202e}txt.exe", "safetxt.exe"),
        ("pass\u{200b}word\u{feff}", "password"),
        ("a\u{200d}b", "ab"),
        ("👨\u{200d}👩", "👨\u{200d}👩"),
        ("one\u{2028}two", "one\ntwo"),
        ("e\u{301}", "e\u{301}"),
        ("漢字", "漢字"),
        ("tag\u{e0041}", "tag"),
    ];
    for (text, expected) in cases {
        assert_eq!(clean(text), expected, "{text:?}");
    }
}

#[test]
fn an_unterminated_sequence_hides_no_text() {
    assert_eq!(clean("\u{1b}]0;all of this stays"), "0;all of this stays");
    assert_eq!(clean("\u{1b}P first\nsecond"), " first\nsecond");
}

#[test]
fn the_number_of_marks_on_a_character_is_limited() {
    let marks = format!("z{}", "\u{301}".repeat(10_000));
    assert_eq!(clean(&marks).chars().count(), 9);
    let joined = "👨\u{200d}".repeat(10_000);
    assert!(clean(&joined).graphemes(true).all(|g| g.len() < 100));
}

#[test]
fn fits_agrees_with_width() {
    for text in ["", "abc", "漢字", "e\u{301}e", "👨\u{200d}👩 x", "a\u{301}\u{301}漢"] {
        for columns in 0..8 {
            assert_eq!(fits(text, columns), width(text) <= columns, "{text:?} in {columns}");
        }
    }
}

#[test]
fn a_line_of_a_megabyte_is_fast() {
    let start = Instant::now();
    for piece in ["x", "\u{1b}]", "\u{1b}[", "\u{9d}", "\u{301}", "漢", "a ", "\u{1b}]a", "👨\u{200d}"] {
        let line = piece.repeat(1_000_000 / piece.len());
        let rows = wrap(&clean(&line), 80);
        assert!(rows.iter().all(|r| width(r) <= 80));
        truncate(&line, 80, "…");
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn wraps_at_words() {
    let cases: [(&str, usize, &[&str]); 12] = [
        ("", 10, &[""]),
        ("one two three", 7, &["one two", "three"]),
        ("one two three", 3, &["one", "two", "thr", "ee"]),
        ("  indented text here", 12, &["  indented", "text here"]),
        ("a\n\nb", 5, &["a", "", "b"]),
        ("漢字漢字", 5, &["漢字", "漢字"]),
        ("ab漢字", 3, &["ab", "漢", "字"]),
        ("e\u{301}e\u{301}e\u{301}", 2, &["e\u{301}e\u{301}", "e\u{301}"]),
        ("漢", 1, &["?"]),
        ("trailing   ", 9, &["trailing"]),
        ("trailing blanks   kept in the middle", 19, &["trailing blanks", "kept in the middle"]),
        ("x", 0, &[]),
    ];
    for (text, columns, expected) in cases {
        assert_eq!(wrap(text, columns), expected, "{text:?} at {columns}");
    }
}

#[test]
fn wraps_only_the_requested_rows() {
    assert_eq!(wrap_at_most("a b c d", 1, 2), (vec!["a".to_owned(), "b".to_owned()], true));
    assert_eq!(wrap_at_most("a b", 1, 2), (vec!["a".to_owned(), "b".to_owned()], false));
    assert!(wrap_at_most("a\nb\nc", 9, 2).1);
}

#[test]
fn a_cut_is_marked_in_the_last_row() {
    let cases: [(&str, usize, usize, &[&str]); 5] = [
        ("one two three four five", 9, 2, &["one two", "three…"]),
        ("one two three", 7, 1, &["one tw…"]),
        ("one two", 7, 1, &["one two"]),
        ("one two", 3, 1, &["on…"]),
        ("one", 3, 0, &[]),
    ];
    for (text, columns, rows, expected) in cases {
        assert_eq!(wrap_or_mark(text, columns, rows, "…"), expected, "{text:?} in {columns}x{rows}");
    }
}

#[test]
fn truncation_never_splits_a_character() {
    let cases = [
        ("short", 10, "short"),
        ("longer text", 6, "longe…"),
        ("漢字漢字", 4, "漢…"),
        ("漢字", 4, "漢字"),
        ("two\nlines", 20, "two lines"),
        ("x", 0, ""),
        ("xy", 1, "…"),
    ];
    for (text, columns, expected) in cases {
        assert_eq!(truncate(text, columns, "…"), expected, "{text:?} at {columns}");
    }
}

#[test]
fn finds_text_in_any_case() {
    let cases: [(&str, &str, &[std::ops::Range<usize>]); 6] = [
        ("Apple and apple", "APPLE", &[0..5, 10..15]),
        ("aaaa", "aa", &[0..2, 2..4]),
        ("anything", "", &[]),
        ("ÄPFEL äpfel", "äpfel", &[0..6, 7..13]),
        ("İx i̇x", "x", &[2..3, 7..8]),
        ("none", "some", &[]),
    ];
    for (text, wanted, ranges) in cases {
        assert_eq!(search(text, wanted), ranges, "{wanted:?} in {text:?}");
    }
}

/// Regression: every frame read the whole text to check whether it is ASCII.
#[test]
fn a_bounded_width_reads_no_more_than_necessary() {
    let long = "x".repeat(64 << 20);
    let start = Instant::now();
    for _ in 0..5000 {
        assert_eq!(width_within(std::hint::black_box(&long), 60), 60);
    }
    // Reading the whole text 5000 times would take more than ten seconds on any machine.
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    for (text, max_columns, expected) in
        [("ab", 2, 2), ("a\u{301}b", 1, 1), ("ab\u{301}c", 2, 2), ("é", 1, 1), ("ab", 0, 0), ("a宽", 2, 2)]
    {
        assert_eq!(width_within(text, max_columns), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn clean_text_has_no_control_characters(text in hostile_text()) {
        let cleaned = clean(&text);
        prop_assert!(!cleaned.chars().any(|c| c.is_control() && c != '\n'));
        let hidden = cleaned.contains(['\u{202e}', '\u{200b}', '\u{2066}', '\u{feff}']);
        prop_assert!(!hidden);
        let again = clean(&cleaned);
        prop_assert_eq!(&again, &cleaned);
    }

    #[test]
    fn rows_fit_and_nothing_is_lost(text in hostile_text(), columns in 2..40_usize) {
        let text = clean(&text).into_owned();
        let rows = wrap(&text, columns);
        for row in &rows {
            prop_assert!(width(row) <= columns, "{:?}", row);
        }
        if text.chars().all(|c| unicode_width::UnicodeWidthChar::width(c).unwrap_or(0) <= columns) {
            prop_assert_eq!(without_whitespace(&rows.concat()), without_whitespace(&text));
        }
    }

    /// ASCII is wrapped by a faster path.
    #[test]
    fn ascii_wraps_like_other_letters(text in "[a 1.]{0,60}", columns in 1..20_usize, max_rows in 0..6_usize) {
        let (rows, is_cut) = wrap_at_most(&text.replace('a', "ä"), columns, max_rows);
        let rows: Vec<String> = rows.iter().map(|row| row.replace('ä', "a")).collect();
        prop_assert_eq!((rows, is_cut), wrap_at_most(&text, columns, max_rows));
    }

    #[test]
    fn wrapping_to_one_column_terminates(text in hostile_text(), columns in 0..2_usize) {
        prop_assert!(wrap(&text, columns).iter().all(|r| width(r) <= columns));
    }

    #[test]
    fn wrap_at_most_returns_the_first_rows_of_wrap(text in hostile_text(), columns in 1..30_usize, max_rows in 0..6_usize) {
        let all = wrap(&text, columns);
        let (first, is_cut) = wrap_at_most(&text, columns, max_rows);
        prop_assert_eq!(&first[..], &all[..max_rows.min(all.len())]);
        prop_assert_eq!(is_cut, all.len() > max_rows);
    }

    #[test]
    fn width_within_is_the_bounded_width(text in hostile_text(), columns in 0..60_usize) {
        let text = one_line(&text);
        prop_assert_eq!(width_within(&text, columns), width(&text).min(columns));
        prop_assert_eq!(fits(&text, columns), width(&text) <= columns);
    }

    #[test]
    fn truncated_text_fits(text in hostile_text(), columns in 0..30_usize) {
        prop_assert!(width(&truncate(&text, columns, "…")) <= columns);
    }

    #[test]
    fn matches_are_ranges_of_the_text(text in hostile_text(), wanted in "[a-dA-D ]{1,2}") {
        for range in search(&text, &wanted) {
            prop_assert_eq!(text[range].to_lowercase(), wanted.to_lowercase());
        }
    }
}
