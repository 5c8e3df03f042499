//! The exercises of a file, in the forms of HumanEval, MBPP, MultiPL-E and Reflexion's code.

use serde::Deserialize;
use serde_json::Value;

/// A program to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exercise {
    pub(super) id: String,
    /// The signature with its docstring, or a sentence.
    pub(super) prompt: String,
    /// The name of the function, if the row names it.
    pub(super) entry_point: Option<String>,
    /// What the data set knows as a solution; never shown to the agent.
    pub(super) solution: Option<String>,
    /// The program text of the hidden tests, which is run after the agent's; empty if there are none.
    pub(super) hidden_tests: String,
    /// `py` unless the row says otherwise.
    pub(super) language: String,
    /// Its data set, in a file with those of several.
    pub(super) data_set: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    name: Option<String>,
    task_id: Option<Value>,
    prompt: Option<String>,
    /// MBPP's prompt.
    text: Option<String>,
    entry_point: Option<String>,
    canonical_solution: Option<String>,
    /// Spelt so in the files of Reflexion's code.
    cannonical_solution: Option<String>,
    /// MBPP's solution.
    code: Option<String>,
    test: Option<String>,
    test_list: Option<Vec<String>>,
    test_setup_code: Option<String>,
    visible_tests: Option<Vec<String>>,
    language: Option<String>,
}

impl Row {
    fn into_exercise(self, number: usize) -> Result<Exercise, String> {
        let id = match (self.name, self.task_id) {
            (Some(name), _) => name,
            (None, Some(Value::String(id))) => id,
            // A number alone would look like the number of a row after the file's name.
            (None, Some(Value::Number(id))) => format!("mbpp/{id}"),
            _ => format!("row-{number}"),
        };
        let id = if id.chars().all(|c| c.is_ascii_digit()) { format!("task-{id}") } else { id };
        let prompt = self.prompt.or(self.text).ok_or("it has neither `prompt` nor `text`")?;
        // MBPP says the function's name only in its tests.
        let signature = self
            .code
            .as_deref()
            .zip(self.test_list.as_ref())
            .and_then(|(code, tests)| tested_signature(code, tests));
        let prompt = match &signature {
            Some(signature) if self.entry_point.is_none() => format!("{}\n\n{signature}", prompt.trim_end()),
            _ => prompt,
        };
        let lines = |tests: Option<Vec<String>>| tests.unwrap_or_default().join("\n");
        let listed = lines(self.test_list);
        let test = self.test.unwrap_or_default();
        let hidden_tests = if !test.trim().is_empty() {
            let call = self.entry_point.as_ref().filter(|_| test.contains("def check"));
            let call = call.map(|name| format!("\n\ncheck({name})")).unwrap_or_default();
            format!("{test}{call}")
        } else if listed.is_empty() {
            lines(self.visible_tests)
        } else {
            format!("{}\n{listed}", self.test_setup_code.unwrap_or_default()).trim_start().to_owned()
        };
        Ok(Exercise {
            id,
            prompt,
            entry_point: self.entry_point,
            solution: self.canonical_solution.or(self.cannonical_solution).or(self.code),
            hidden_tests,
            language: self.language.unwrap_or_else(|| "py".to_owned()),
            data_set: None,
        })
    }
}

/// Returns the line of a solution that defines the function which the tests call.
fn tested_signature(code: &str, tests: &[String]) -> Option<String> {
    let names = code.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("def ")?.split_once('(')?;
        Some((name.trim(), line.trim_end()))
    });
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let calls = |name: &str| {
        tests.iter().any(|test| {
            test.match_indices(name).any(|(at, _)| {
                let after = test[at + name.len()..].trim_start();
                !test[..at].ends_with(is_word) && after.starts_with('(')
            })
        })
    };
    let (_, line) = names.into_iter().find(|(name, _)| calls(name))?;
    // What follows on the same line is the solution.
    let mut depth = 0_i32;
    let end = line.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth == 0 && *c == ':'
    });
    Some(line[..=end?.0].to_owned())
}

impl Exercise {
    /// Returns a line that names it: the function, or the beginning of the prompt.
    pub(super) fn goal(&self) -> String {
        const MAX_CHARS: usize = 100;
        match &self.entry_point {
            Some(name) => name.clone(),
            None => self.prompt.trim().lines().next().unwrap_or_default().chars().take(MAX_CHARS).collect(),
        }
    }

    /// Returns the data set that its id begins with, before a number: `HumanEval` of `HumanEval/0` and of `HumanEval_0_f`.
    fn data_set_in_id(&self) -> Option<&str> {
        let (name, rest) = self.id.split_once(['/', '_'])?;
        (!name.is_empty() && rest.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
    }

    /// Returns why it can't be judged here, if it can't.
    pub(super) fn refusal(&self) -> Option<String> {
        if self.language != "py" {
            return Some(format!(
                "{} is written in {:?}; only Python programs are run here",
                self.id, self.language
            ));
        }
        self.hidden_tests.trim().is_empty().then(|| {
            format!("{} has no tests, so its program can't be judged (its tests are on a web site)", self.id)
        })
    }
}

/// Returns whether a list of tasks is a file of exercises.
pub(super) fn looks_like_exercises(bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let row = first.and_then(|line| serde_json::from_slice::<Value>(line).ok());
    row.is_some_and(|row| {
        let has = |names: &[&str]| names.iter().any(|name| row.get(name).is_some());
        has(&["prompt", "text"]) && has(&["test", "test_list"])
    })
}

/// Parses a file of one exercise a line.
///
/// # Errors
/// Returns the line, counted from 1, and what is wrong with it.
pub(super) fn parse_exercises(bytes: &[u8]) -> Result<Vec<Exercise>, (usize, String)> {
    let mut exercises = Vec::new();
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let row: Row = serde_json::from_slice(line).map_err(|error| (at + 1, error.to_string()))?;
        exercises.push(row.into_exercise(exercises.len()).map_err(|error| (at + 1, error))?);
    }
    if exercises.is_empty() {
        return Err((1, "it contains no exercises".to_owned()));
    }
    let first = exercises.first().and_then(Exercise::data_set_in_id);
    if exercises.iter().any(|exercise| exercise.data_set_in_id() != first) {
        for exercise in &mut exercises {
            exercise.data_set = exercise.data_set_in_id().map(str::to_owned);
        }
    }
    Ok(exercises)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HUMAN_EVAL: &str = r#"{"task_id":"HumanEval/0","prompt":"def f(x):\n","entry_point":"f","canonical_solution":"    return x\n","test":"def check(candidate):\n    assert candidate(1) == 1\n"}"#;
    const MBPP: &str = r#"{"task_id":11,"text":"Write f.","code":"def f(): pass","test_list":["assert f() == 1","assert f() == 2"],"test_setup_code":"import math"}"#;
    const MULTIPL: &str = r#"{"name":"HumanEval_0_f","language":"py","prompt":"def f(x):\n","doctests":"transform","original":"p","prompt_terminology":"r","stop_tokens":["\ndef"],"entry_point":"f","test":"def check(candidate):\n    assert candidate(1) == 1\n\ndef test_check():\n    check(f)\n\ntest_check()\n"}"#;
    const LEETCODE: &str = r#"{"task_id":"leet-1","prompt":"def f(x):\n","entry_point":"f","cannonical_solution":"s","test":"","visible_tests":["assert f(1) == 1"]}"#;

    #[test]
    fn all_published_forms_are_read() {
        let text = [HUMAN_EVAL, MBPP, MULTIPL, LEETCODE].join("\n\n");
        assert!(looks_like_exercises(text.as_bytes()));
        let found = parse_exercises(text.as_bytes()).unwrap();
        let ids: Vec<&str> = found.iter().map(|exercise| exercise.id.as_str()).collect();
        assert_eq!(ids, ["HumanEval/0", "mbpp/11", "HumanEval_0_f", "leet-1"]);
        assert!(found[0].hidden_tests.ends_with("== 1\n\n\ncheck(f)"), "{}", found[0].hidden_tests);
        assert_eq!(found[1].hidden_tests, "import math\nassert f() == 1\nassert f() == 2");
        // Regression: the name that MBPP's tests call stood nowhere, so that no program could be right.
        assert_eq!(
            (found[1].prompt.as_str(), found[1].goal().as_str()),
            ("Write f.\n\ndef f():", "Write f.")
        );
        assert_eq!(found[3].hidden_tests, "assert f(1) == 1");
        assert_eq!(found[3].solution.as_deref(), Some("s"));
        assert!(found.iter().all(|exercise| exercise.refusal().is_none()));
    }

    #[test]
    fn what_cannot_be_judged_is_refused() {
        let without = LEETCODE.replace(r#","visible_tests":["assert f(1) == 1"]"#, "");
        let rust = MULTIPL.replace("\"language\":\"py\"", "\"language\":\"rs\"");
        for (row, expected) in [(without, "has no tests"), (rust, "only Python")] {
            let found = parse_exercises(row.as_bytes()).unwrap();
            let refusal = found[0].refusal().unwrap();
            assert!(refusal.contains(expected), "{refusal}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line) in [("", 1), ("{\"prompt\":\"x\"}\n{}", 2), ("\n[1]", 2)] {
            assert_eq!(parse_exercises(text.as_bytes()).unwrap_err().0, line, "{text}");
        }
        assert!(!looks_like_exercises(b"{\"task\":\"x\"}") && !looks_like_exercises(b"name"));
    }
}
