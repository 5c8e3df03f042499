//! A question as an environment.

use super::action::{Action, Style, parse};
use super::page_set::{Page, PageSet, python_list};
use super::question::Question;
use super::score::{Score, score};
use crate::domain::{EnvInfo, LOST_BECAUSE, ListingCost, StepResult};
use crate::env::{EnvError, Environment, Snapshot};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const NO_PAGE: &str = "The last page Searched was not found, so you cannot Lookup a keyword in it. Please try one of the similar pages given.";
const UNKNOWN: &str =
    "Invalid Action. Valid Actions are Lookup[<topic>] Search[<topic>] and Finish[<answer>].";
const NOTHING_TO_SEARCH: &str = "Nothing can be searched: reply with Finish[answer].";
const OVER: &str = "The question has been answered.";
/// How many sentences of a page ReAct's environment shows.
const SHOWN_SENTENCES: usize = 5;
/// A list of actions names at most so many pages.
const MAX_LISTED_PAGES: usize = 100;

/// Which agent is asked, as in Reflexion's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agent {
    /// Searches and looks up, then answers.
    React,
    /// Answers at once, from what it knows.
    ChainOfThought,
    /// Answers at once, from the pages that have the answer.
    ChainOfThoughtWithContext,
}

impl Agent {
    pub(super) const WORDS: &'static [&'static str] = &["react", "cot", "cot-context"];

    pub(super) fn from_word(word: &str) -> Self {
        match word {
            "cot" => Self::ChainOfThought,
            "cot-context" => Self::ChainOfThoughtWithContext,
            _ => Self::React,
        }
    }
}

/// How a question is played.
#[derive(Clone, Debug)]
pub(super) struct PlayOptions {
    pub(super) agent: Agent,
    pub(super) style: Style,
    /// What the pages are, for the screen: the question's own paragraphs, or those of a file.
    pub(super) pages_name: String,
}

/// What changes in an episode.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    /// The page that was found last; `None` if the last search has failed.
    page: Option<usize>,
    lookup_term: Option<String>,
    lookup_place: usize,
    /// Each search with whether it has found a page.
    searches: Vec<(String, bool)>,
    is_over: bool,
    has_won: bool,
}

/// A question with its pages.
pub(super) struct QuestionEnvironment {
    question: Arc<Question>,
    page_set: Arc<PageSet>,
    options: PlayOptions,
    state: State,
}

/// What an action has led to.
struct Outcome {
    observation: String,
    is_valid: bool,
    shown: Map<String, Value>,
}

impl Outcome {
    fn new(observation: impl Into<String>) -> Self {
        Self { observation: observation.into(), is_valid: true, shown: Map::new() }
    }

    fn invalid(observation: impl Into<String>) -> Self {
        Self { is_valid: false, ..Self::new(observation) }
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.shown.insert(name.to_owned(), value);
        self
    }
}

impl QuestionEnvironment {
    pub(super) fn new(question: Arc<Question>, page_set: Arc<PageSet>, options: PlayOptions) -> Self {
        Self { question, page_set, options, state: State::default() }
    }

    fn page(&self) -> Option<&Page> {
        self.page_set.page(self.state.page?)
    }

    /// Returns the first observation.
    fn introduction(&self) -> String {
        let question = format!("Question: {}", self.question.text);
        if self.options.agent == Agent::React {
            return question;
        }
        // The code's other agents have a prompt without actions for searching; here one instruction is for all.
        let question = format!("{question}\n{NOTHING_TO_SEARCH}");
        if self.options.agent == Agent::ChainOfThought {
            return question;
        }
        let supporting = &self.question.supporting_titles;
        let is_needed = |page: &&Page| supporting.is_empty() || supporting.contains(&page.title);
        let pages = self.page_set.pages().iter().filter(is_needed);
        let texts: Vec<String> =
            pages.map(|page| format!("{}: {}", page.title, page.paragraphs.join(" "))).collect();
        format!("Relevant Context: {}\n{question}", texts.join("\n"))
    }

    fn search(&mut self, title: &str) -> Outcome {
        let found = self.page_set.find(title);
        self.state.searches.push((title.to_owned(), found.is_some()));
        let is_react = self.options.style == Style::React;
        if is_react {
            (self.state.lookup_term, self.state.lookup_place) = (None, 0);
        }
        let outcome = if let Some(page) = found.and_then(|at| self.page_set.page(at)) {
            let text = if is_react {
                let sentences = page.sentences().iter().take(SHOWN_SENTENCES);
                sentences.map(String::as_str).collect::<Vec<_>>().join(" ")
            } else {
                page.first_paragraph()
            };
            let shown = json!({ "title": page.title, "paragraphs": page.paragraphs });
            Outcome::new(text).with("page", shown)
        } else {
            let similar = python_list(&self.page_set.similar_titles(title));
            let text = if is_react {
                format!("Could not find {title}. Similar: {similar}.")
            } else {
                format!("Could not find [{title}]. Similar: {similar}")
            };
            let outcome = Outcome::new(text);
            // ReAct's environment keeps the page that was found before.
            if is_react { outcome } else { outcome.with("page", Value::Null) }
        };
        if found.is_some() || !is_react {
            self.state.page = found;
        }
        let searches: Vec<Value> = self
            .state
            .searches
            .iter()
            .map(|(title, found)| json!({ "title": title, "found": found }))
            .collect();
        outcome.with("searches", searches.into()).with("lookup", Value::Null)
    }

    fn lookup(&mut self, term: &str) -> Outcome {
        let is_react = self.options.style == Style::React;
        if self.page().is_none() && !is_react {
            return Outcome::invalid(NO_PAGE);
        }
        // Reflexion's explorer compares the term in lower case, ReAct's environment as it is.
        let term_key = if is_react { term.to_owned() } else { term.to_lowercase() };
        if self.state.lookup_term.as_ref() == Some(&term_key) {
            self.state.lookup_place += 1;
        } else {
            (self.state.lookup_term, self.state.lookup_place) = (Some(term_key), 0);
        }
        let needle = term.to_lowercase();
        let parts: &[String] = match self.page() {
            Some(page) if is_react => page.sentences(),
            Some(page) => &page.paragraphs,
            None => &[],
        };
        let hits: Vec<&String> = parts.iter().filter(|part| part.to_lowercase().contains(&needle)).collect();
        let place = self.state.lookup_place;
        let hit = hits.get(place);
        let text = match hit {
            Some(hit) if is_react => format!("(Result {} / {}) {hit}", place + 1, hits.len()),
            Some(hit) => format!("(Result {}/{}) {hit}", place + 1, hits.len()),
            None if is_react => "No more results.\n".to_owned(),
            None if hits.is_empty() => "No Results".to_owned(),
            None => "No More Results".to_owned(),
        };
        let number = hit.map_or(0, |_| place + 1);
        Outcome::new(text).with("lookup", json!({ "term": term, "number": number, "count": hits.len() }))
    }

    fn finish(&mut self, answer: &str) -> Outcome {
        let Score { is_exact, f1 } = score(answer, &self.question.answer);
        (self.state.is_over, self.state.has_won) = (true, is_exact);
        let text = match (self.options.style, is_exact) {
            (Style::React, _) => format!("Episode finished, reward = {}\n", u8::from(is_exact)),
            (Style::Reflexion, true) => "Answer is CORRECT".to_owned(),
            (Style::Reflexion, false) => "Answer is INCORRECT".to_owned(),
        };
        let f1 = (f1 * 1000.0).round() / 1000.0;
        let outcome =
            Outcome::new(text).with("answer", json!({ "text": answer, "exact": is_exact, "f1": f1 }));
        if is_exact { outcome } else { outcome.with(LOST_BECAUSE, json!("wrong answer")) }
    }

    fn perform(&mut self, text: &str) -> Outcome {
        let style = self.options.style;
        let answers_at_once = self.options.agent != Agent::React;
        match parse(text, style) {
            Action::ThinkLine => Outcome::new("OK."),
            Action::Think => Outcome::new("Nice thought."),
            Action::Finish(answer) => self.finish(answer),
            Action::Search(title) if !answers_at_once => self.search(title),
            Action::Lookup(term) if !answers_at_once => self.lookup(term),
            _ => {
                // The code's other agents have one action, and whatever it is, the trial is over then.
                self.state.is_over = answers_at_once;
                let outcome = Outcome::invalid(match style {
                    Style::Reflexion => UNKNOWN.to_owned(),
                    Style::React => format!("Invalid action: {text}"),
                });
                if answers_at_once { outcome.with(LOST_BECAUSE, json!("no answer")) } else { outcome }
            }
        }
    }

    fn result(&self, outcome: Outcome, truth: Value) -> StepResult {
        let State { is_over, has_won, .. } = self.state;
        StepResult {
            observation: outcome.observation,
            reward: f64::from(has_won),
            progress: f64::from(has_won),
            done: is_over,
            won: has_won,
            valid: outcome.is_valid,
            shown: if outcome.shown.is_empty() { Value::Null } else { outcome.shown.into() },
            truth,
        }
    }
}

impl Environment for QuestionEnvironment {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: true, deterministic: true, listing_cost: ListingCost::Free }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        self.state = State::default();
        let question = &self.question;
        let truth = json!({ "answer": question.answer, "supporting": question.supporting_titles });
        let outcome = Outcome::new(self.introduction())
            .with("goal", question.text.clone().into())
            .with("pages", self.options.pages_name.clone().into());
        Ok(self.result(outcome, truth))
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        if self.state.is_over {
            return Ok(self.result(Outcome::invalid(OVER), Value::Null));
        }
        let outcome = self.perform(action);
        Ok(self.result(outcome, Value::Null))
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        if self.state.is_over {
            return Ok(Vec::new());
        }
        let name = |action: &str| match self.options.style {
            Style::Reflexion => action.to_owned(),
            Style::React => action.to_lowercase(),
        };
        let mut actions = Vec::new();
        if self.options.agent == Agent::React {
            let pages = self.page_set.pages().iter().take(MAX_LISTED_PAGES);
            actions.extend(pages.map(|page| format!("{}[{}]", name("Search"), page.title)));
        }
        actions.extend(["yes", "no"].map(|answer| format!("{}[{answer}]", name("Finish"))));
        Ok(actions)
    }

    fn hint(&mut self) -> Result<Option<String>, EnvError> {
        let Question { answer, supporting_titles, .. } = &*self.question;
        let searches = supporting_titles.iter().filter(|title| self.page_set.find(title).is_some());
        let mut plan: Vec<String> = match self.options.agent {
            Agent::React => searches.map(|title| format!("Search[{title}]")).collect(),
            _ => Vec::new(),
        };
        plan.push(format!("Finish[{answer}]"));
        Ok(Some(format!("the right answer is {answer:?}: {}", plan.join(", "))))
    }

    fn world_summary(&self) -> Value {
        let State { page: _, lookup_term, lookup_place, searches, .. } = &self.state;
        json!({
            "page": self.page().map(|page| page.title.as_str()),
            "lookup": lookup_term.as_ref().map(|term| json!({ "term": term, "place": lookup_place })),
            "searches": searches.len(),
        })
    }

    fn snapshot(&self) -> Option<Snapshot> {
        Some(Snapshot(Box::new(self.state.clone())))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EnvError> {
        let Some(state) = snapshot.0.downcast_ref::<State>() else {
            return Err(EnvError::Refused { what: "the snapshot belongs to another environment".to_owned() });
        };
        self.state = state.clone();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
