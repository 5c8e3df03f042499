//! The subgoals of AgentBoard's labels: patterns that are searched for in one observation, as Python's `re.search`
//! does.

use regex::{Regex, RegexBuilder};

/// Size limit of a compiled pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The subgoals of a task.
#[derive(Clone, Debug)]
pub struct Subgoals(pub(super) Vec<Subgoal>);

/// One subgoal: all of its regular expressions must match.
#[derive(Clone, Debug)]
pub(super) struct Subgoal(Vec<Regex>);

impl Subgoals {
    /// Compiles the patterns. Look-ahead is supported where the labels use it: after a `^` at the very beginning.
    ///
    /// # Errors
    /// A description of the unsupported pattern and the reason.
    pub fn compile(patterns: &[String]) -> Result<Self, String> {
        patterns.iter().map(|pattern| Subgoal::compile(pattern)).collect::<Result<_, _>>().map(Self)
    }
}

impl Subgoal {
    fn compile(pattern: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = pattern.strip_prefix('^').unwrap_or_default();
        // All of these are anchored at the start, so each can be searched for separately.
        while let Some((ahead, after)) = split_look_ahead(rest) {
            parts.push(format!("^(?:{ahead})"));
            rest = after;
        }
        match (parts.is_empty(), rest) {
            (true, _) => parts.push(pattern.to_owned()),
            (false, "") => {}
            (false, rest) => parts.push(format!("^(?:{rest})")),
        }
        let compiled = parts.iter().map(|part| RegexBuilder::new(part).size_limit(MAX_PATTERN_BYTES).build());
        compiled.collect::<Result<_, _>>().map(Self).map_err(|error| {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            format!("the subgoal {pattern:?} is not a supported pattern: {why}")
        })
    }

    pub(super) fn matches(&self, observation: &str) -> bool {
        self.0.iter().all(|part| part.is_match(observation))
    }
}

/// Splits a `(?=...)` at the start of a pattern into its content and the rest.
fn split_look_ahead(pattern: &str) -> Option<(&str, &str)> {
    let inside = pattern.strip_prefix("(?=")?;
    let mut depth = 1_u32;
    let (mut escaped, mut in_class) = (false, false);
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => {
                depth -= 1;
                if depth == 0 {
                    return Some((&inside[..at], &inside[at + 1..]));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::Subgoals;

    #[test]
    fn patterns_match_as_in_pythons_re_search() {
        let seen = "On the desk 1, you see a mug 2, and a pen 1.";
        for (pattern, text, met) in [
            (r"^(?=.* you see)(?=.*a mug \d+)", seen, true),
            (r"^(?=.* you see)(?=.*a cup \d+)", seen, false),
            (r"^(?=.* you see)(?=.*a mug \d+)", "x\nOn the desk 1, you see a mug 2", false),
            (r"^(?=.*(?:mug|cup))On", seen, true),
            (r"^(?=.*[)])On", seen, false),
            (r"You pick up the mug \d+", "Well. You pick up the mug 3 from the desk 1.", true),
            (r"^On|nothing", "you see nothing", true),
        ] {
            let subgoals = Subgoals::compile(&[pattern.to_owned()]).unwrap();
            assert_eq!(subgoals.0[0].matches(text), met, "{pattern} in {text}");
        }
        for bad in ["(?=a)b", "a(", "(?<=a)b", r"(\w{999}){999}"] {
            let why = Subgoals::compile(&[bad.to_owned()]).unwrap_err();
            assert!(why.contains("is not a supported pattern"), "{why}");
        }
    }
}
