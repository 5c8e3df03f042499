//! What the actor understands of a goal.

use super::page::Element;

/// A kind of thing that can be told by its tag or its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Digit,
    Letter,
    Circle,
    Rectangle,
    Triangle,
    /// Any drawn thing.
    Any,
}

impl Shape {
    const WORDS: [(&'static str, Self); 7] = [
        ("digit", Self::Digit),
        ("letter", Self::Letter),
        ("circle", Self::Circle),
        ("rectangle", Self::Rectangle),
        ("triangle", Self::Triangle),
        ("shape", Self::Any),
        ("item", Self::Any),
    ];

    pub(super) fn fits(self, element: &Element<'_>) -> bool {
        let only =
            |is_it: fn(char) -> bool| element.text.chars().count() == 1 && element.text.chars().all(is_it);
        match self {
            Self::Digit => only(|c| c.is_ascii_digit()),
            Self::Letter => only(char::is_alphabetic),
            Self::Circle => element.tag == "circle",
            Self::Rectangle => element.tag == "rect",
            Self::Triangle => element.tag == "polygon",
            Self::Any => ["circle", "rect", "polygon", "text"].contains(&element.tag),
        }
    }
}

/// A goal, as far as it is understood.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WebGoal<'a> {
    /// The texts in quotation marks.
    pub(super) quoted: Vec<&'a str>,
    /// What to click, in this order.
    pub(super) names: Vec<&'a str>,
    /// Whether the names are the entries of nested menus.
    pub(super) is_path: bool,
    /// Whether something is to be typed.
    pub(super) types: bool,
    /// The number of the word to type, from 1.
    pub(super) word_number: Option<usize>,
    pub(super) ends_with_submit: bool,
    pub(super) shape: Option<Shape>,
}

impl<'a> WebGoal<'a> {
    /// Parses a goal. Never fails: what isn't understood is left out.
    pub(super) fn parse(task: &'a str) -> Self {
        let task = task.trim();
        let lower = task.to_lowercase();
        let quoted: Vec<&str> = task.split('"').skip(1).step_by(2).filter(|text| !text.is_empty()).collect();
        let is_submit = |text: &str| text.eq_ignore_ascii_case("submit");
        let types = ["type ", "enter "].iter().any(|word| lower.contains(word));
        let word_number =
            lower.split_whitespace().zip(lower.split_whitespace().skip(1)).find_map(|(number, next)| {
                let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                digits.parse().ok().filter(|_| next == "word")
            });
        let selected = strip_word(task, "select ").map(|rest| {
            let end = rest.to_lowercase().find(" and click").unwrap_or(rest.len());
            let rest = rest[..end].trim_end_matches('.');
            strip_word(rest, "words similar to ").unwrap_or(rest)
        });
        let is_path = selected.is_some_and(|names| names.contains('>'));
        let names: Vec<&str> = match selected {
            Some(names) => names.split([',', '>']).map(str::trim).collect(),
            None if !quoted.is_empty() => quoted.iter().copied().filter(|text| !is_submit(text)).collect(),
            None => strip_word(task, "click on ").map(strip_article).into_iter().collect(),
        };
        let names = names.into_iter().filter(|name| !name.is_empty()).collect();
        let words = || lower.split(|c: char| !c.is_alphanumeric());
        let shape =
            Shape::WORDS.iter().find(|(word, _)| words().any(|other| other.trim_end_matches('s') == *word));
        Self {
            names,
            is_path,
            types,
            word_number,
            ends_with_submit: lower.contains("submit"),
            shape: shape.map(|(_, shape)| *shape),
            quoted,
        }
    }

    /// Says what the actor is going to do.
    pub(super) fn plan(&self) -> String {
        match (self.names.as_slice(), self.word_number, self.quoted.first()) {
            (_, Some(number), _) => format!("I have to type word {number} of the text, and then submit it."),
            (_, _, Some(text)) if self.types => format!("I'll type \"{text}\" into the field."),
            ([], ..) => "I'll look for what the task names.".to_owned(),
            ([name], ..) => format!("I'll look for \"{name}\" on the page."),
            ([first, ..], ..) if self.is_path => {
                format!("I'll go through the menu, beginning with \"{first}\".")
            }
            (names, ..) => format!("I'll look for each of these on the page: {}.", names.join(", ")),
        }
    }
}

/// Returns what follows some words at the beginning of a text, in any case.
fn strip_word<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    let start = text.get(..words.len())?;
    start.eq_ignore_ascii_case(words).then(|| text.get(words.len()..).unwrap_or_default())
}

fn strip_article(text: &str) -> &str {
    let text = text.trim_end_matches('.');
    ["a ", "an ", "the "].iter().find_map(|article| text.strip_prefix(article)).unwrap_or(text)
}
