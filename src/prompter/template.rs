//! The text around which a model's answer is the instruction for reflection.
//!
//! A template is a text with `{demonstrations}` and `{question}`. Our own wording of the public code's; a file replaces it
//! (`prompter_template`).

/// The part of a template that the demonstrations replace.
const DEMONSTRATIONS: &str = "{demonstrations}";
/// The part of a template that the question replaces.
const QUESTION: &str = "{question}";

/// For models that continue a text: demonstrations, blank line, question, newline.
pub const PLAIN: &str = "{demonstrations}\n\n{question}\n";

/// For Vicuna, whose training had this form.
pub const VICUNA: &str = "A chat between a curious user and an artificial intelligence assistant. The assistant gives helpful, \
     detailed, and polite answers to the user's questions. USER:\n{demonstrations}\n\n{question} ASSISTANT:";

/// Asked after demonstrations.
const QUESTION_AFTER_DEMONSTRATIONS: &str = "Which instruction for reflection turned these inputs into these outputs? Begin with: The instruction for reflection was to";
/// Asked without any (zero-shot).
const QUESTION_ALONE: &str = "An agent's attempt at a task failed, and an adviser was to write advice for the next attempt. What was the \
     adviser's instruction for reflection? Begin with: The instruction for reflection was to";

/// Returns the template for the model of a folder of this name.
pub fn default_template(folder_name: &str) -> &'static str {
    if folder_name.to_lowercase().contains("vicuna") { VICUNA } else { PLAIN }
}

/// Checks the text of a template.
///
/// # Errors
/// Returns what is missing.
pub fn check(template: &str) -> Result<(), String> {
    let missing: Vec<&str> =
        [DEMONSTRATIONS, QUESTION].into_iter().filter(|part| template.matches(part).count() != 1).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("a template needs {} exactly once", missing.join(" and ")))
}

/// Fills a template with demonstrations, each an input and its output. Without any, the blank lines before and after them are
/// left out.
pub fn render(template: &str, demonstrations: &[[String; 2]]) -> String {
    let shown: Vec<String> = demonstrations
        .iter()
        .map(|[input, output]| format!("Input: {}\nOutput: {}", input.trim(), output.trim()))
        .collect();
    let (before, after) = template.split_once(DEMONSTRATIONS).unwrap_or(("", template));
    let filled = |before: &str, middle: &str, after: &str, question: &str| {
        format!("{}{middle}{}", before.replace(QUESTION, question), after.replace(QUESTION, question))
    };
    if shown.is_empty() {
        return filled(before, "", after.trim_start_matches('\n'), QUESTION_ALONE);
    }
    filled(before, &shown.join("\n\n"), after, QUESTION_AFTER_DEMONSTRATIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_templates_are_complete() {
        assert_eq!(check(PLAIN), Ok(()));
        assert_eq!(check(VICUNA), Ok(()));
        assert_eq!(check("{question}"), Err("a template needs {demonstrations} exactly once".to_owned()));
        assert!(check("{question}{question}").is_err());
    }

    #[test]
    fn demonstrations_come_before_the_question() {
        let pairs =
            [["Look.".to_owned(), "Open the fridge. ".to_owned()], ["a".to_owned(), "{question}".to_owned()]];
        let text = render(PLAIN, &pairs);
        let expected =
            "Input: Look.\nOutput: Open the fridge.\n\nInput: a\nOutput: {question}\n\nWhich instruction";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with("was to\n"), "{text}");
        assert!(render(VICUNA, &pairs).ends_with("was to ASSISTANT:"));
    }

    #[test]
    fn without_demonstrations_the_question_stands_alone() {
        assert!(render(PLAIN, &[]).starts_with("An agent's attempt"));
        assert!(render(VICUNA, &[]).contains(" USER:\nAn agent's attempt"), "{}", render(VICUNA, &[]));
    }

    #[test]
    fn the_name_of_the_folder_chooses_the_template() {
        assert_eq!(default_template("Vicuna-7b-v1.3"), VICUNA);
        assert_eq!(default_template("TinyLlama-1.1B"), PLAIN);
    }
}
