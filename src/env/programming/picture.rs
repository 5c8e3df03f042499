//! What a person sees of an exercise: the agent's tests with their results, and the program.

use crate::domain::{Picture, PictureGlyphs, PictureRequest, PictureRole, PictureRow};
use crate::env::picture::{labelled_rows, list_of, text_of};
use crate::text::{prefix, truncate};
use serde_json::Value;

/// The maximum number of lines of a program or of hidden tests that are drawn, and the maximum length of a text in bytes.
const MAX_LINES: usize = 200;
const MAX_TEXT_BYTES: usize = 400;

/// Draws tests, results and program, and a warning if nothing keeps the program in.
pub fn draw_picture(request: &PictureRequest<'_>) -> Picture {
    let glyphs = request.glyphs();
    let columns = request.columns.max(12);
    let shown = request.shown;
    let is_unsandboxed = shown.get("unsandboxed") == Some(&Value::Bool(true));
    let mut rows = Vec::new();
    if is_unsandboxed {
        rows.push(vec![(
            PictureRole::Red,
            truncate("UNSANDBOXED: programs can do what you can", columns, glyphs.ellipsis),
        )]);
    }
    rows.extend(labelled_rows("function ", PictureRole::Goal, request.goal, columns));
    rows.extend(test_rows(shown, columns, glyphs));
    if let Some(truth) = request.truth {
        let result = text_of(truth, "hidden_result");
        if !result.is_empty() {
            let role = if result == "passed" { PictureRole::Good } else { PictureRole::Warning };
            rows.extend(labelled_rows("hidden tests ", role, prefix(result, MAX_TEXT_BYTES), columns));
        }
    }
    rows.extend(code_rows("program", text_of(shown, "program"), columns, glyphs));
    if let Some(truth) = request.truth {
        rows.extend(code_rows("hidden tests", text_of(truth, "hidden_tests"), columns, glyphs));
    }
    Picture {
        summary: if is_unsandboxed { "UNSANDBOXED".to_owned() } else { String::new() },
        one_line: one_line(shown, is_unsandboxed, glyphs),
        shows_truth: request.truth.is_some(),
        rows,
    }
}

/// Draws the agent's tests: with their results once there are any.
fn test_rows(shown: &Value, columns: usize, glyphs: &PictureGlyphs) -> Vec<PictureRow> {
    let results = list_of(shown, "results");
    let mut rows = Vec::new();
    if results.is_empty() {
        for test in list_of(shown, "tests").iter().filter_map(Value::as_str) {
            rows.extend(labelled_rows("- ", PictureRole::Text, prefix(test, MAX_TEXT_BYTES), columns));
        }
    }
    for result in results {
        let has_passed = result.get("passed") == Some(&Value::Bool(true));
        let (mark, role) =
            if has_passed { (glyphs.tick, PictureRole::Good) } else { ("!", PictureRole::Warning) };
        let test = prefix(text_of(result, "test"), MAX_TEXT_BYTES);
        rows.extend(labelled_rows(&format!("{mark} "), role, test, columns));
        let output = prefix(text_of(result, "output"), MAX_TEXT_BYTES);
        if !output.is_empty() {
            rows.extend(labelled_rows("  gave ", PictureRole::Observation, output, columns));
        }
    }
    if !rows.is_empty() {
        rows.insert(0, vec![(PictureRole::Muted, "its own tests".to_owned())]);
    }
    rows
}

/// Draws lines as they are: what is too long is cut, not wrapped.
fn code_rows(title: &str, code: &str, columns: usize, glyphs: &PictureGlyphs) -> Vec<PictureRow> {
    if code.trim().is_empty() {
        return Vec::new();
    }
    let mut rows = vec![Vec::new(), vec![(PictureRole::Muted, title.to_owned())]];
    let lines = code.trim_end().lines().take(MAX_LINES);
    rows.extend(lines.map(|line| {
        let line = line.replace('\t', "    ");
        vec![(PictureRole::Text, truncate(prefix(&line, 4 * MAX_TEXT_BYTES), columns, glyphs.ellipsis))]
    }));
    rows
}

fn one_line(shown: &Value, is_unsandboxed: bool, glyphs: &PictureGlyphs) -> Vec<String> {
    let results = list_of(shown, "results");
    let passed = results.iter().filter(|result| result.get("passed") == Some(&Value::Bool(true))).count();
    let mut parts = Vec::new();
    if is_unsandboxed {
        parts.push("UNSANDBOXED".to_owned());
    }
    if shown.get("own_tests_passed").is_some() {
        parts.push(format!("{passed} of {} own tests passed", results.len()));
    } else if shown.get("tests").is_some() {
        let count = list_of(shown, "tests").len();
        parts.push(format!("{count} own test{}", if count == 1 { "" } else { "s" }));
    } else {
        parts.push("no tests yet".to_owned());
    }
    let separator = format!(" {} ", glyphs.separator);
    (1..=parts.len()).rev().map(|count| parts[..count].join(&separator)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn draw(shown: &Value, truth: Option<&Value>, columns: usize) -> Picture {
        draw_picture(&PictureRequest {
            shown,
            truth,
            goal: "f",
            progress: 0.0,
            columns,
            rows: 20,
            is_ascii: true,
        })
    }

    #[test]
    fn tests_program_and_the_missing_sandbox_are_drawn() {
        let shown = json!({
            "unsandboxed": true,
            "tests": ["assert f(1) == 1", "assert f(2) == 3"],
            "results": [
                { "test": "assert f(1) == 1", "passed": true, "output": null },
                { "test": "assert f(2) == 3", "passed": false, "output": "2" },
            ],
            "own_tests_passed": false,
            "program": "def f(x):\n    return x\n",
        });
        let truth =
            json!({ "hidden_result": "failed: AssertionError", "hidden_tests": "def check(g): pass" });
        let picture = draw(&shown, Some(&truth), 60);
        let lines: Vec<String> =
            picture.rows.iter().map(|row| row.iter().map(|(_, text)| text.as_str()).collect()).collect();
        assert_eq!(
            lines,
            [
                "UNSANDBOXED: programs can do what you can",
                "function f",
                "its own tests",
                "+ assert f(1) == 1",
                "! assert f(2) == 3",
                "  gave 2",
                "hidden tests failed: AssertionError",
                "",
                "program",
                "def f(x):",
                "    return x",
                "",
                "hidden tests",
                "def check(g): pass",
            ]
        );
        assert_eq!(picture.rows[0][0].0, PictureRole::Red);
        assert_eq!(picture.one_line[0], "UNSANDBOXED - 1 of 2 own tests passed");
        let without = draw(&shown, None, 60);
        assert!(!format!("{:?}", without.rows).contains("check(g)"), "hidden tests without the ground truth");
    }

    #[test]
    fn anything_can_be_drawn() {
        for shown in [Value::Null, json!([]), json!({ "tests": 1, "results": "x", "program": 2 })] {
            assert!(!draw(&shown, None, 1).rows.is_empty());
        }
    }
}
