//! What a reply contains: tests, or a program.

/// An action. Its whole text counts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Lines that may be tests.
    Tests(Vec<String>),
    Program(String),
    /// A line that only thinks.
    Think,
    Unknown,
}

/// Parses an action: `tests` or `code` on the first line and the text below it, a block between fences, or a text that
/// begins with a function somewhere. A block of nothing but assertions has tests.
pub(super) fn parse(text: &str) -> Action {
    let text = text.trim();
    if text.is_empty() {
        return Action::Unknown;
    }
    if (text.starts_with("think:") || text == "think") && !text.contains("```") {
        return Action::Think;
    }
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    match first.trim().trim_end_matches(':').to_ascii_lowercase().as_str() {
        "tests" => return Action::Tests(test_lines(block_of(rest).unwrap_or(rest))),
        "code" => return Action::Program(block_of(rest).unwrap_or(rest).to_owned()),
        _ => {}
    }
    let Some(block) = block_of(text).or_else(|| from_first_function(text)) else {
        let lines = test_lines(text);
        return if lines.is_empty() { Action::Unknown } else { Action::Tests(lines) };
    };
    let mut lines = block.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    if lines.clone().next().is_some() && lines.all(|line| line.starts_with("assert")) {
        return Action::Tests(test_lines(block));
    }
    if block.trim().is_empty() { Action::Unknown } else { Action::Program(block.to_owned()) }
}

/// Returns the first block that is marked as Python, else the first block.
fn block_of(text: &str) -> Option<&str> {
    let after = |fence: &str| text.split_once(fence).map(|(_, rest)| rest);
    let rest = after("```python\n").or_else(|| after("```py\n")).or_else(|| {
        // The name of another language, or nothing, ends with the line.
        after("```").and_then(|rest| Some(rest.split_once('\n')?.1))
    })?;
    Some(rest.split_once("```").map_or(rest, |(block, _)| block))
}

/// Returns the text from the first line on that begins a function, or an import right before it.
fn from_first_function(text: &str) -> Option<&str> {
    let mut at = 0;
    let mut start = None;
    for line in text.split_inclusive('\n') {
        // An English sentence may begin with `from`.
        let is_import = line.starts_with("import ") || line.starts_with("from ") && line.contains(" import ");
        if is_import || ["def ", "class ", "@"].iter().any(|word| line.starts_with(word)) {
            start = start.or(Some(at));
            if line.starts_with("def ") || line.starts_with("class ") {
                return start.and_then(|start| text.get(start..));
            }
        } else if !line.trim().is_empty() {
            start = None;
        }
        at += line.len();
    }
    None
}

fn test_lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| line.contains("assert")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(lines: &[&str]) -> Action {
        Action::Tests(lines.iter().map(|line| (*line).to_owned()).collect())
    }

    fn program(text: &str) -> Action {
        Action::Program(text.to_owned())
    }

    #[test]
    fn tests_and_programs_are_told_apart() {
        let function = "def f(x):\n    return x\n";
        for (text, expected) in [
            (
                "tests\nassert f(1) == 1\n  assert f(2) == 2\nx = 1",
                tests(&["assert f(1) == 1", "assert f(2) == 2"]),
            ),
            ("Tests:\n```python\nassert f(1) == 1\n```", tests(&["assert f(1) == 1"])),
            ("tests", tests(&[])),
            ("assert f(1) == 1", tests(&["assert f(1) == 1"])),
            ("Here they are:\n```\n# easy\nassert f(1) == 1\n```\nDone.", tests(&["assert f(1) == 1"])),
            ("code\ndef f(x):\n    return x", program("def f(x):\n    return x")),
            ("code\n```python\nx = 1\n```", program("x = 1\n")),
            ("So:\n```\nx\n```\n```python\ndef f(x):\n    return x\n```", program(function)),
            ("```js\nx\n```", program("x\n")),
            ("```python\ndef f(x):\n    return x", program("def f(x):\n    return x")),
            (
                "I return it.\nimport math\n\ndef f(x):\n    return x\n",
                program("import math\n\ndef f(x):\n    return x"),
            ),
            ("from what I see it is easy\ndef f(x):\n    return x", program("def f(x):\n    return x")),
            ("think: hm", Action::Think),
            ("go to shelf 1", Action::Unknown),
            ("```python\n\n```", Action::Unknown),
            ("", Action::Unknown),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
