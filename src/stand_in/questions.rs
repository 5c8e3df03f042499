//! The rule-based actor with questions that are answered from pages: a beginner that knows nothing. It uses only the text of the prompt.
//!
//! It searches for the names of the question, then for a name on the page that shares most words with the question, looks up
//! one of these words, and finishes with a name or number from the sentence that fits best. It understands no sentence, so it is often wrong.
//! Its two habits (`habits.toml`) end at once if the prompt contains a lesson against them (`docs/HOTPOTQA.md`).

mod reading;

use super::habits::HabitRule;
use super::prompt_parser::{HistoryItem, ParsedPrompt};
use super::seeded_random::SeededRandom;
use crate::domain::Prompt;
use reading::{best_sentence, candidates, content_words, names, similar_titles};
use std::collections::BTreeMap;
use std::sync::LazyLock;

static HABITS: LazyLock<BTreeMap<String, HabitRule>> =
    LazyLock::new(|| match toml::from_str(include_str!("questions/habits.toml")) {
        Ok(habits) => habits,
        // The file is part of the program, and a test parses it.
        Err(error) => unreachable!("a data file of the built-in actor does not parse: {error}"),
    });

/// How many pages the actor reads at most, and after how many actions it answers with what it has.
const MAX_PAGES: usize = 3;
const MAX_ACTIONS: usize = 5;
/// Words with which a question begins that can be answered with yes or no.
const YES_NO_STARTS: [&str; 10] = ["is", "are", "was", "were", "do", "does", "did", "has", "have", "can"];

/// Returns the reply to a prompt about a question. Returns `None` for any other prompt.
pub(super) fn reply(prompt: &Prompt, parsed: &ParsedPrompt<'_>, random: &SeededRandom) -> Option<String> {
    let (context, rest) = parsed.task_text.rsplit_once("Question: ")?;
    let mut lines = rest.lines();
    let question = lines.next()?.trim();
    // Other environments may show a question, too, but not as the beginning of a line.
    if question.is_empty() || !(context.is_empty() || context.ends_with('\n')) {
        return None;
    }
    let answers_at_once = lines.any(|line| line.contains("Finish["));
    let history = History::from_items(&parsed.items);
    let reader = Reader { prompt, question, history, random };
    Some(if answers_at_once {
        reader.finish(&[context.trim_start_matches("Relevant Context: ")])
    } else {
        reader.next_line(parsed.items.is_empty())
    })
}

/// What the actor has done so far.
#[derive(Debug, Default)]
struct History<'a> {
    actions: usize,
    /// Each search with its answer.
    searches: Vec<(&'a str, &'a str)>,
    /// The words that were looked up.
    lookups: Vec<&'a str>,
    /// The answers to lookups that have found something.
    found_parts: Vec<&'a str>,
}

impl<'a> History<'a> {
    fn from_items(items: &[HistoryItem<'a>]) -> Self {
        let mut history = Self::default();
        for item in items {
            let HistoryItem::Action { line, answer, .. } = item else { continue };
            history.actions += 1;
            let argument = |name: &str| line.strip_prefix(name)?.strip_suffix(']');
            if let Some(title) = argument("Search[") {
                history.searches.push((title, answer));
            } else if let Some(term) = argument("Lookup[") {
                history.lookups.push(term);
                history
                    .found_parts
                    .extend(answer.strip_prefix("(Result ").and_then(|rest| Some(rest.split_once(") ")?.1)));
            }
        }
        history
    }

    fn pages(&self) -> impl DoubleEndedIterator<Item = (&'a str, &'a str)> {
        self.searches.iter().copied().filter(|(_, answer)| is_page(answer))
    }

    fn has_searched(&self, title: &str) -> bool {
        self.searches.iter().any(|(known, _)| known.eq_ignore_ascii_case(title))
    }
}

fn is_page(answer: &str) -> bool {
    !answer.is_empty() && !answer.starts_with("Could not find ") && !answer.starts_with("Invalid Action")
}

struct Reader<'a> {
    prompt: &'a Prompt,
    question: &'a str,
    history: History<'a>,
    random: &'a SeededRandom,
}

impl Reader<'_> {
    fn next_line(&self, is_first: bool) -> String {
        let wanted = names(self.question);
        if is_first {
            return match wanted.first() {
                Some(name) => format!("think: The question is about {name}. I'll search for it first."),
                None => "think: The question has no name. I'll search for its words.".to_owned(),
            };
        }
        let pages: Vec<&str> = self.history.pages().map(|(_, text)| text).collect();
        if self.history.actions >= MAX_ACTIONS {
            return self.finish(&pages);
        }
        if let Some(title) = self.title_instead() {
            return format!("Search[{title}]");
        }
        let is_hasty = self.shows_habit("answers_from_one_page", 0);
        if is_hasty && !pages.is_empty() {
            return self.finish(&pages);
        }
        if let Some(name) = wanted.iter().find(|name| !self.is_covered(name)) {
            return format!("Search[{}]", self.phrase_of(name));
        }
        if wanted.is_empty() && self.history.searches.is_empty() {
            return format!("Search[{}]", content_words(self.question).join(" "));
        }
        if pages.len() < MAX_PAGES
            && let Some(name) = self.name_to_follow()
        {
            return format!("Search[{name}]");
        }
        if let Some(term) = self.term_to_look_up(pages.last().copied()) {
            return format!("Lookup[{term}]");
        }
        self.finish(&pages)
    }

    /// Returns whether a name was searched for, alone, or found by a similar title.
    fn is_covered(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.history.searches.iter().any(|(title, answer)| {
            let title = title.to_lowercase();
            title == name || title.contains(&name) && is_page(answer)
        })
    }

    /// Returns the title to search for after a search without a page: a similar one that contains a name of the question.
    fn title_instead(&self) -> Option<&str> {
        let (title, answer) = self.history.searches.last()?;
        let titles = similar_titles(answer);
        let wanted = names(self.question);
        let unknown = || titles.iter().copied().filter(|title| !self.history.has_searched(title));
        let is_near = |candidate: &&str| {
            let candidate = candidate.to_lowercase();
            candidate.contains(&title.to_lowercase())
                || wanted
                    .iter()
                    .any(|name| !self.is_covered(name) && candidate.contains(&name.to_lowercase()))
        };
        unknown().find(is_near)
    }

    /// Returns what is searched for a name: the name, or by habit the name with the words before it.
    fn phrase_of(&self, name: &str) -> String {
        let failures = self.history.searches.iter().filter(|(_, answer)| !is_page(answer)).count();
        let before = self.question.split_once(name).map(|(before, _)| before).unwrap_or_default();
        let words: Vec<&str> = before.split_whitespace().rev().take(3).collect();
        if words.len() == 3 && self.shows_habit("searches_whole_phrases", failures) {
            let words: Vec<&str> = words.into_iter().rev().collect();
            return format!("{} {name}", words.join(" "));
        }
        name.to_owned()
    }

    /// Returns a name on the pages that wasn't searched for: of the sentence that shares most words with the question.
    fn name_to_follow(&self) -> Option<String> {
        let pages: Vec<(&str, &str)> = self.history.pages().collect();
        let is_new = |name: &String| {
            !self.history.has_searched(name)
                && !pages.iter().any(|(title, _)| title.to_lowercase().contains(&name.to_lowercase()))
        };
        let (_, text) = pages.last()?;
        let sentence = best_sentence(self.question, &[text])?;
        names(sentence).into_iter().rev().find(is_new)
    }

    /// Returns a word of the question that the last page may have elsewhere.
    fn term_to_look_up(&self, page: Option<&str>) -> Option<String> {
        let page = page?.to_lowercase();
        if !self.history.lookups.is_empty() {
            return None;
        }
        let in_names = names(self.question).join(" ").to_lowercase();
        let words = content_words(self.question).into_iter().rev();
        words.filter(|word| !in_names.contains(word.as_str())).find(|word| page.contains(word.as_str()))
    }

    fn finish(&self, texts: &[&str]) -> String {
        let first_word = self.question.split_whitespace().next().unwrap_or_default().to_lowercase();
        if YES_NO_STARTS.contains(&first_word.as_str()) {
            return if self.random.draw_for_call("yes") < 0.5 { "Finish[yes]" } else { "Finish[no]" }
                .to_owned();
        }
        // It can't compare two things, so it guesses.
        if let [first, second] = names(self.question).as_slice()
            && self.question.contains(&format!("{first} or "))
        {
            let chosen = if self.random.draw_for_call("or") < 0.5 { first } else { second };
            return format!("Finish[{chosen}]");
        }
        let texts: Vec<&str> = texts.iter().chain(&self.history.found_parts).copied().collect();
        let answer = best_sentence(self.question, &texts)
            .and_then(|sentence| candidates(self.question, sentence).into_iter().next())
            .or_else(|| names(self.question).into_iter().next())
            .unwrap_or_else(|| "unknown".to_owned());
        format!("Finish[{answer}]")
    }

    fn shows_habit(&self, name: &str, times_shown: usize) -> bool {
        HABITS.get(name).is_some_and(|habit| habit.is_shown(name, times_shown, self.prompt, self.random))
    }
}

#[cfg(test)]
mod tests;
