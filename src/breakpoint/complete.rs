//! Completion of partly typed conditions.

use super::forms::FORMS;
use crate::domain::ReflectionKind;

/// The values that the placeholders in conditions can currently take.
#[derive(Clone, Debug, Default)]
pub struct CompletionContext {
    /// Actions that could be proposed.
    pub actions: Vec<String>,
    /// Names of detectors.
    pub detectors: Vec<String>,
    /// Lessons by their short number, with their texts.
    pub lessons: Vec<(u32, String)>,
}

/// A completed line and its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The whole line.
    pub text: String,
    /// What it means, or what to fill in.
    pub description: String,
}

/// Returns the lines that the typed text can be completed to: first the arguments of the typed word, then all condition
/// forms in the order of `FORMS`. Ranking them is left to the caller.
pub fn suggestions(typed: &str, context: &CompletionContext) -> Vec<Suggestion> {
    let (modifiers, rest) = split_modifiers(typed);
    let word = rest.split_whitespace().next().unwrap_or_default();
    let completion = |prefix: &str, value: &str, description: &str| Suggestion {
        text: format!("{modifiers}{prefix}{value}"),
        description: description.to_owned(),
    };
    let has_argument = rest.len() > word.len();
    let completions: Vec<Suggestion> = match word {
        "action" if has_argument => {
            context.actions.iter().map(|a| completion("action = ", a, "known action")).collect()
        }
        "note" if has_argument => {
            context.detectors.iter().map(|d| completion("note ", d, "detector")).collect()
        }
        "reflection" if has_argument => ReflectionKind::ALL
            .iter()
            .map(|k| completion("reflection ", &k.name().to_lowercase(), "reflections of this kind"))
            .collect(),
        "lesson" if has_argument => {
            context.lessons.iter().map(|(n, text)| completion("lesson ", &n.to_string(), text)).collect()
        }
        _ => Vec::new(),
    };
    let forms = FORMS
        .iter()
        .map(|f| Suggestion { text: format!("{modifiers}{}", f.example), description: f.meaning.to_owned() });
    let mut all = completions;
    all.extend(forms);
    if modifiers.is_empty() {
        all.push(Suggestion {
            text: "warn nothing 3".to_owned(),
            description: "watch: marks the step, doesn't pause".to_owned(),
        });
        all.push(Suggestion {
            text: "once end failure".to_owned(),
            description: "switches off after its first hit".to_owned(),
        });
    }
    all
}

/// Splits off `warn ` and `once ` at the beginning.
fn split_modifiers(typed: &str) -> (String, &str) {
    let (mut modifiers, mut rest) = (String::new(), typed.trim_start());
    for _ in 0..2 {
        for word in ["warn ", "once "] {
            if let Some(remaining) = rest.strip_prefix(word).filter(|_| !modifiers.contains(word)) {
                modifiers.push_str(word);
                rest = remaining.trim_start();
            }
        }
    }
    (modifiers, rest)
}
