//! Completion of partly typed conditions.

use super::forms::FORMS;
use crate::domain::ReflectionKind;

/// The current values for the placeholders of conditions.
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

/// Returns the lines that the typed text can be completed to, in the order of the documentation. Ranking them is left
/// to the caller.
pub fn suggestions(typed: &str, known: &CompletionContext) -> Vec<Suggestion> {
    let (lead, rest) = split_modifiers(typed);
    let word = rest.split_whitespace().next().unwrap_or_default();
    let fill = |before: &str, what: &str, about: &str| Suggestion {
        text: format!("{lead}{before}{what}"),
        description: about.to_owned(),
    };
    let begun = rest.len() > word.len();
    let filled: Vec<Suggestion> = match word {
        "action" if begun => known.actions.iter().map(|a| fill("action = ", a, "known action")).collect(),
        "note" if begun => known.detectors.iter().map(|d| fill("note ", d, "detector")).collect(),
        "reflection" if begun => ReflectionKind::ALL
            .iter()
            .map(|k| fill("reflection ", &k.name().to_lowercase(), "reflections of this kind"))
            .collect(),
        "lesson" if begun => {
            known.lessons.iter().map(|(n, text)| fill("lesson ", &n.to_string(), text)).collect()
        }
        _ => Vec::new(),
    };
    let forms = FORMS
        .iter()
        .map(|f| Suggestion { text: format!("{lead}{}", f.example), description: f.meaning.to_owned() });
    let mut all = filled;
    all.extend(forms);
    if lead.is_empty() {
        all.push(Suggestion {
            text: "warn nothing 3".to_owned(),
            description: "watch: marks the step, doesn't stop".to_owned(),
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
    let (mut lead, mut rest) = (String::new(), typed.trim_start());
    for _ in 0..2 {
        for word in ["warn ", "once "] {
            if let Some(more) = rest.strip_prefix(word).filter(|_| !lead.contains(word)) {
                lead.push_str(word);
                rest = more.trim_start();
            }
        }
    }
    (lead, rest)
}
