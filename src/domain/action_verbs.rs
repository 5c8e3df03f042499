//! The words with which actions begin.

/// The words with which the actions of an environment begin, in lower case and up to a hyphen: `fill` for `fill-shot`. They only decide
/// whether an unmarked line of a reply may be an action although it looks like a sentence, or follows one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionVerbs {
    words: Vec<String>,
    /// Second words of actions that begin with a name, such as `grasp` of `[hand] grasp [container]`.
    second_words: Vec<String>,
}

/// The first words of commands that most text environments know.
const COMMON_VERBS: [&str; 15] = [
    "close",
    "drop",
    "examine",
    "go",
    "help",
    "inventory",
    "look",
    "move",
    "open",
    "pick",
    "put",
    "take",
    "turn",
    "use",
    "wait",
];

impl Default for ActionVerbs {
    /// Returns the verbs that most text environments know, for one that doesn't list its actions.
    fn default() -> Self {
        Self { words: COMMON_VERBS.map(str::to_owned).to_vec(), second_words: Vec::new() }
    }
}

impl ActionVerbs {
    pub const NONE: Self = Self { words: Vec::new(), second_words: Vec::new() };

    /// Adds the word with which an action or a form of actions begins: `add [number]`, `Search[title]`, `[left|right] grasp [container]`.
    pub fn add_form(&mut self, form: &str) {
        let form = form.trim();
        let Some((inside, rest)) = form.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            return add_word(&mut self.words, form);
        };
        if inside.contains('|') {
            inside.split('|').for_each(|word| add_word(&mut self.words, word));
        } else {
            add_word(&mut self.second_words, rest);
        }
    }

    /// Returns whether a line begins like an action. `Right, ...` and `Look, ...` are prose.
    pub fn begin(&self, line: &str) -> bool {
        let mut words = line.split_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_known = |known: &[String], word: &str| known.contains(&bare_verb(word));
        !first.ends_with(',') && (is_known(&self.words, first) || is_known(&self.second_words, second))
    }
}

fn add_word(words: &mut Vec<String>, form: &str) {
    let word = bare_verb(form.split_whitespace().next().unwrap_or_default());
    if !word.is_empty() && !words.contains(&word) {
        words.push(word);
    }
}

/// Returns a word in lower case, without punctuation around it and up to a hyphen or a bracket.
fn bare_verb(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.split(['-', '[', '(']).next().unwrap_or_default().to_lowercase()
}
