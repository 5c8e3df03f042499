//! The rule-based actor on web pages: a beginner that compares words. It uses only the text of the prompt, in which a page is a
//! list of elements.
//!
//! It clicks what the goal's words name, opens what is closed until it finds that, types what the goal has in quotation marks, and
//! guesses where only the look of a thing tells it from others. Its two habits (`web/habits.toml`) end at once if the prompt
//! contains a lesson against them (`docs/MINIWOB.md`).

mod goal;
mod page;

#[cfg(test)]
mod tests;

use super::habits::HabitRule;
use super::prompt_parser::{HistoryItem, ParsedPrompt};
use super::seeded_random::SeededRandom;
use crate::domain::Prompt;
use goal::WebGoal;
use page::{Element, parse_page};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static HABITS: LazyLock<BTreeMap<String, HabitRule>> =
    LazyLock::new(|| match toml::from_str(include_str!("web/habits.toml")) {
        Ok(habits) => habits,
        // The file is part of the program, and a test parses it.
        Err(error) => unreachable!("a data file of the built-in actor does not parse: {error}"),
    });

/// How many elements before a text are tried if a click on the text itself does nothing.
const ELEMENTS_AROUND: usize = 2;

/// Returns the reply to a prompt about a web page. Returns `None` for any other prompt.
pub(super) fn reply(prompt: &Prompt, parsed: &ParsedPrompt<'_>, random: &SeededRandom) -> Option<String> {
    let (first, task) = parsed.task_text.rsplit_once("Your task is to: ").unwrap_or((parsed.task_text, ""));
    let mut page = parse_page(first);
    if page.first()?.tag != "body" {
        return None;
    }
    let goal = WebGoal::parse(task);
    if parsed.items.is_empty() {
        return Some(format!("think: {}", goal.plan()));
    }
    let (mut taken, mut tried) = (BTreeSet::new(), BTreeSet::new());
    for item in &parsed.items {
        let HistoryItem::Action { line, answer, .. } = item else { continue };
        let after = parse_page(answer);
        taken.insert(*line);
        if after.is_empty() {
            continue;
        }
        if !page::is_same(&page, &after) {
            tried.clear();
        }
        tried.insert(*line);
        page = after;
    }
    Some(Decision { prompt, random, goal: &goal, page: &page, taken: &taken, tried: &tried }.next_action())
}

struct Decision<'a> {
    prompt: &'a Prompt,
    random: &'a SeededRandom,
    goal: &'a WebGoal<'a>,
    page: &'a [Element<'a>],
    /// The actions so far.
    taken: &'a BTreeSet<&'a str>,
    /// Those since the page changed last.
    tried: &'a BTreeSet<&'a str>,
}

impl Decision<'_> {
    fn next_action(&self) -> String {
        let submit = (self.goal.ends_with_submit || self.goal.types).then(|| self.submit_button()).flatten();
        if let Some(button) = submit
            && self.has_boxes()
            && self.shows_habit("submits_early")
        {
            return click(button.number);
        }
        let action =
            self.type_something().or_else(|| self.choose_from_list()).or_else(|| self.choose_named());
        if let Some(action) = action {
            return action;
        }
        if let Some(action) = self.open_something() {
            return action;
        }
        if let Some(button) = submit {
            return click(button.number);
        }
        self.guess().unwrap_or_else(|| "none".to_owned())
    }

    fn submit_button(&self) -> Option<&Element<'_>> {
        let is_submit =
            |element: &&Element<'_>| element.tag.contains("button") || element.tag == "input_submit";
        self.page.iter().find(|element| is_submit(element) && element.names("submit"))
    }

    fn has_boxes(&self) -> bool {
        self.page.iter().any(Element::is_box)
    }

    /// Fills in the first empty field with what the goal tells to type.
    fn type_something(&self) -> Option<String> {
        let field = self.page.iter().find(|element| element.is_field() && element.value.is_empty())?;
        let text = match self.goal.word_number {
            Some(number) => self.longest_text()?.split_whitespace().nth(number.checked_sub(1)?)?,
            None => self.goal.quoted.first().copied().filter(|_| self.goal.types)?,
        };
        let text = text.trim_matches(|c: char| c.is_ascii_punctuation());
        let action = format!("focus_element_and_type_text {} {text}", field.number);
        (!self.taken.contains(action.as_str())).then_some(action)
    }

    fn longest_text(&self) -> Option<&str> {
        self.page.iter().map(|element| element.text).max_by_key(|text| text.len())
    }

    /// Chooses an entry of a list that has opened below a field: the one that ends as the goal says.
    fn choose_from_list(&self) -> Option<String> {
        if !self.goal.types {
            return None;
        }
        let entries = || self.page.iter().filter(|element| element.class.contains("menu-item-wrapper"));
        let ending = self.goal.quoted.get(1).copied().unwrap_or_default();
        let entry = entries().find(|entry| entry.text.ends_with(ending)).or_else(|| entries().next())?;
        self.untried(click(entry.number))
    }

    /// Returns a click on what the goal names next, or a step towards it.
    fn choose_named(&self) -> Option<String> {
        if self.goal.types {
            return None;
        }
        if self.goal.is_path {
            return self.follow_path();
        }
        self.goal.names.iter().find_map(|name| self.click_named(name))
    }

    /// Goes through a menu: over each parent, and clicks the last entry.
    fn follow_path(&self) -> Option<String> {
        let (last, parents) = self.goal.names.split_last()?;
        if let Some(action) = self.click_named(last) {
            return Some(action);
        }
        let parent =
            parents.iter().rev().find(|name| self.page.iter().any(|element| element.text == **name))?;
        if self.shows_habit("clicks_submenus") {
            return self.click_named(parent);
        }
        self.untried(format!("movemouse //*[text()='{parent}']"))
    }

    /// Clicks the element with this text, or the box beside it.
    fn click_named(&self, name: &str) -> Option<String> {
        let is_it = |element: &Element<'_>| element.text.trim_end_matches('.') == name.trim_end_matches('.');
        let index = self.page.iter().position(|element| element.text == name);
        let index = index.or_else(|| self.page.iter().position(is_it))?;
        let before = self.page.get(..index)?;
        if let Some(previous) = before.last().filter(|previous| previous.is_box()) {
            // A box is ticked only once.
            return if previous.is_ticked() { None } else { self.untried(click(previous.number)) };
        }
        let around = before.iter().rev().take(ELEMENTS_AROUND);
        let candidates = self.page.get(index).into_iter().chain(around).filter(|element| element.number > 0);
        candidates.map(|element| click(element.number)).find_map(|action| self.untried(action))
    }

    /// Opens the next thing that is closed: a section, a folder, a menu in the shape of a wheel.
    fn open_something(&self) -> Option<String> {
        let mut clicks = self.page.iter().enumerate().filter_map(|(index, element)| {
            let follows_closed = || {
                let before = self.page.get(index.saturating_sub(ELEMENTS_AROUND)..index).unwrap_or_default();
                before.iter().any(|element| element.class.split(' ').any(|class| class == "expandable"))
            };
            let is_closed = element.class.contains("header-collapsed")
                || element.id.ends_with("-spreader")
                || (element.class == "folder" && follows_closed());
            is_closed.then(|| click(element.number))
        });
        clicks.find(|action| !self.taken.contains(action.as_str()))
    }

    /// Clicks one of the things that fit the goal's words, or any that has no text: their look isn't in the prompt.
    fn guess(&self) -> Option<String> {
        let fits = |element: &&Element<'_>| self.goal.shape.is_some_and(|shape| shape.fits(element));
        let bare = |element: &&Element<'_>| element.text.is_empty() && !element.has_children;
        let number = |element: &Element<'_>| click(element.number);
        let untried = |actions: Vec<String>| -> Vec<String> {
            actions.into_iter().filter(|action| !self.taken.contains(action.as_str())).collect()
        };
        let mut actions = untried(self.page.iter().filter(fits).map(number).collect());
        if actions.is_empty() {
            actions = untried(self.page.iter().filter(bare).map(number).collect());
        }
        if actions.is_empty() {
            actions = untried(self.page.iter().filter(|element| element.number > 0).map(number).collect());
        }
        let index = (self.random.draw_for_call("guess") * actions.len() as f64) as usize;
        actions.into_iter().nth(index)
    }

    /// Returns the action unless it has been tried on the page as it is now.
    fn untried(&self, action: String) -> Option<String> {
        (!self.tried.contains(action.as_str())).then_some(action)
    }

    fn shows_habit(&self, name: &str) -> bool {
        HABITS.get(name).is_some_and(|habit| habit.is_shown(name, 0, self.prompt, self.random))
    }
}

fn click(number: i64) -> String {
    format!("click_element {number}")
}
