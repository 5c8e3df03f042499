//! Parses a user's own copies of public code's files about an environment: examples, and failures shown to a mentor. Their
//! contents are shown unchanged.

use super::env_texts::Example;
use super::{EnvTexts, StoredText, TemplateError};
use std::collections::BTreeMap;

/// Files of public code about an environment, which a person may add with `--prompts`.
#[derive(Clone, Copy, Debug)]
pub struct PublicFiles {
    /// The name of the file of examples: a JSON object with keys `FORMAT_TYPE_N`.
    pub examples: &'static str,
    /// The formats of examples. A type is shown in the first format that has it.
    pub formats: &'static [&'static str],
    /// The names of types in the file, each with the task types it fits and words of their goals.
    pub task_types: &'static [(&'static str, &'static [&'static str])],
    /// The numbers of the examples of a type, in the order in which the public code shows them.
    pub example_order: &'static [&'static str],
    /// The name of the file of failed attempts, each followed by its plan.
    pub failures: &'static str,
}

impl PublicFiles {
    /// Returns the names of the files.
    pub(super) fn names(&self) -> [&'static str; 2] {
        [self.examples, self.failures]
    }
}

/// Adds the texts of these files to those of the environment they are about.
pub(super) fn add_upstream_texts(
    files: &BTreeMap<String, String>,
    env: &str,
    public: &PublicFiles,
    env_texts: &mut [EnvTexts],
) -> Result<(), TemplateError> {
    let examples = files.get(public.examples).map(|text| parse_examples(public, text)).transpose()?;
    let failures =
        files.get(public.failures).map(|text| parse_failures(public.failures, text)).transpose()?;
    for env_texts in env_texts.iter_mut().filter(|t| t.envs.iter().any(|e| e == env)) {
        if let Some(examples) = &examples {
            env_texts.examples.clone_from(examples);
        }
        if let Some(failures) = &failures {
            env_texts.texts.insert("failures".to_owned(), failures.clone());
        }
    }
    Ok(())
}

fn template_error(file: &str, line: usize, reason: String) -> TemplateError {
    TemplateError { file: file.to_owned(), line: line.max(1), reason }
}

/// Parses the examples of each type in the order in which they are shown: `FORMAT_TYPE_1`, `FORMAT_TYPE_0`.
fn parse_examples(public: &PublicFiles, text: &str) -> Result<Vec<Example>, TemplateError> {
    let error = |line: usize, reason: String| template_error(public.examples, line, reason);
    let parsed: BTreeMap<String, serde_json::Value> = serde_json::from_str(text)
        .map_err(|e| error(e.line(), format!("not a JSON object of texts: {e}")))?;
    let mut by_key: BTreeMap<&str, &str> = BTreeMap::new();
    for (key, value) in &parsed {
        let line =
            text.find(&format!("\"{key}\"")).map_or(1, |offset| 1 + text[..offset].matches('\n').count());
        let parts: Vec<&str> = key.split('_').collect();
        let known = matches!(parts.as_slice(), [format, kind, number] if public.formats.contains(format)
            && public.task_types.iter().any(|(name, _)| name == kind) && public.example_order.contains(number));
        if !known {
            let forms: Vec<String> = public.formats.iter().map(|format| format!("{format}_TYPE_N")).collect();
            let kinds: Vec<&str> = public.task_types.iter().map(|(name, _)| *name).collect();
            let reason = format!(
                "{key:?} is not the name of an example; write {}, with TYPE one of {} and N from 0 to {}",
                forms.join(" or "),
                kinds.join(", "),
                public.example_order.len().saturating_sub(1)
            );
            return Err(error(line, reason));
        }
        let example = value.as_str().filter(|text| !text.trim().is_empty());
        let example =
            example.ok_or_else(|| error(line, format!("{key:?} must be a text that isn't empty")))?;
        by_key.insert(key, example);
    }
    if by_key.is_empty() {
        return Err(error(1, "the file has no examples".to_owned()));
    }
    let examples_of = |format: &str, kind: &str| -> Vec<&str> {
        let keys = public.example_order.iter().map(|n| format!("{format}_{kind}_{n}"));
        keys.filter_map(|key| by_key.get(key.as_str()).copied()).collect()
    };
    let mut examples = Vec::new();
    for (kind, types) in public.task_types {
        let mut of_formats = public.formats.iter().map(|format| examples_of(format, kind));
        let texts = of_formats.find(|texts| !texts.is_empty()).unwrap_or_default();
        let types: Vec<String> = types.iter().map(|t| (*t).to_owned()).collect();
        examples.extend(
            texts.into_iter().map(|text| Example::verbatim(types.clone(), &with_final_newline(text))),
        );
    }
    Ok(examples)
}

/// Parses failed attempts with their plans.
fn parse_failures(file: &str, text: &str) -> Result<StoredText, TemplateError> {
    let has_plan = |line: &str| line.contains("New plan:") || line.contains("Next plan:");
    if !text.lines().any(has_plan) {
        let line = text.lines().count();
        let reason = "the file has no plan; write a line with `New plan:` after each failed attempt";
        return Err(template_error(file, line, reason.to_owned()));
    }
    let heading = "\n\nFailed attempts, each followed by the plan written after it:\n\n";
    Ok(StoredText::new(&format!("{heading}{}", with_final_newline(text.trim()))))
}

fn with_final_newline(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::super::Templates;
    use super::*;
    use crate::domain::Task;

    const EXAMPLES_FILE: &str = "alfworld_3prompts.json";
    const FAILURES_FILE: &str = "reflexion_few_shot_examples.txt";

    fn templates_with(name: &str, text: &str) -> Result<Templates, TemplateError> {
        crate::catalog::parse_templates(vec![(name.to_owned(), text.to_owned())])
    }

    fn shown_examples(templates: &Templates, kind: &str) -> Vec<String> {
        let task = Task {
            env: "alfworld".to_owned(),
            id: String::new(),
            goal: String::new(),
            task_type: Some(kind.to_owned()),
            difficulty: None,
            seed: 0,
        };
        let env_texts = templates.env_texts("alfworld");
        env_texts.examples_for(&task, 2, true).iter().map(|t| t.text.to_string()).collect()
    }

    #[test]
    fn examples_have_the_order_of_the_public_code() {
        let file = r#"{"react_put_0": "P0", "react_put_1": "P1\n", "react_put_2": "P2", "act_put_1": "A1",
            "act_cool_0": "C0\n> go to desk 1\nYou arrive at desk 1. On it.", "react_heat_0": "H0"}"#;
        let templates = templates_with(EXAMPLES_FILE, file).unwrap();
        assert_eq!(shown_examples(&templates, "pick_and_place_simple"), ["P1\n", "P0\n"]);
        let cool = shown_examples(&templates, "pick_cool_then_place_in_recep");
        assert_eq!(
            cool[0], "C0\n> go to desk 1\nYou arrive at desk 1. On it.\n",
            "shown verbatim, whatever the game's wording"
        );
        assert_eq!(shown_examples(&templates, "pick_heat_then_place_in_recep"), ["H0\n", "P1\n"]);
        let run = crate::catalog::fixture::test_spec("react", &[("easy/put/1", "put")]);
        assert_ne!(templates.hash_for(&run), crate::catalog::builtin_templates().hash_for(&run));
    }

    #[test]
    fn reflexions_failures_are_read_from_the_file() {
        let text = "Example 1:\n> look\nSTATUS: FAIL\nNew plan: I will look again.\n\n";
        let templates = templates_with(FAILURES_FILE, text).unwrap();
        let failures = templates.env_texts("household").texts["failures"].text.clone();
        assert!(
            failures.ends_with("\n\nExample 1:\n> look\nSTATUS: FAIL\nNew plan: I will look again.\n"),
            "{failures}"
        );
    }

    #[test]
    fn an_unusable_file_is_reported_with_its_line() {
        for (name, text, message) in [
            (EXAMPLES_FILE, "{\n \"react_put_0\": }", "alfworld_3prompts.json:2: not a JSON object"),
            (
                EXAMPLES_FILE,
                "{\"react_put_0\": \"x\",\n\"react_fly_0\": \"x\"}",
                "alfworld_3prompts.json:2: \"react_fly_0\"",
            ),
            (
                EXAMPLES_FILE,
                "{\"react_put_0\": 3}",
                "alfworld_3prompts.json:1: \"react_put_0\" must be a text",
            ),
            (EXAMPLES_FILE, "{}", "alfworld_3prompts.json:1: the file has no examples"),
            (EXAMPLES_FILE, "[]", "alfworld_3prompts.json:1: not a JSON object"),
            (
                FAILURES_FILE,
                "> look\nSTATUS: FAIL\n",
                "reflexion_few_shot_examples.txt:2: the file has no plan",
            ),
        ] {
            let error = templates_with(name, text).err().unwrap().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
