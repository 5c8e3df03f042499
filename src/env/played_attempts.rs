//! The attempts in the texts of prompts, for tests that play them again.

/// Returns the attempts in a text: from the first observation to the line before the outcome.
pub(super) fn attempts(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = (1..lines.len()).filter(|&at| lines[at].starts_with("Your task is to:"));
    let attempt = |start: usize| {
        let rest = &lines[start - 1..];
        let end = rest.iter().position(|line| line.starts_with("STATUS:")).expect("an outcome");
        rest[..end].join("\n")
    };
    starts.map(attempt).collect()
}
