//! The questions as tasks: those of a file of the data set, and our own.

use super::NAME;
use super::action::Style;
use super::environment::{Agent, PlayOptions, QuestionEnvironment};
use super::page_set::{Page, PageSet};
use super::pages_file::parse_pages;
use super::question::{Question, looks_like_questions, parse_questions};
use crate::domain::Task;
use crate::env::parsed_file::{ParsedFile, split_file_id};
use crate::env::{
    EnvError, Environment, EnvironmentOption, OptionValues, TaskAccess, TaskCheck, TaskError, TaskSource,
};
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// The file with the questions.
pub const QUESTIONS_OPTION: EnvironmentOption = EnvironmentOption {
    name: "hotpotqa.questions",
    meaning: "the file with HotPotQA's questions in the distractor setting (a JSON array, or one question a line); by default a few questions of our own",
    values: OptionValues::Path,
    variable: "HOTPOTQA_QUESTIONS",
};
/// The file with the pages.
pub const PAGES_OPTION: EnvironmentOption = EnvironmentOption {
    name: "hotpotqa.pages",
    meaning: "a file of pages to search (JSON lines with `title` and `text`); by default the paragraphs that come with each question",
    values: OptionValues::Path,
    variable: "HOTPOTQA_PAGES",
};
/// Whose actions and answers.
pub const STYLE_OPTION: EnvironmentOption = EnvironmentOption {
    name: "hotpotqa.style",
    meaning: "whose actions and answers the environment has: those of Reflexion's code (`reflexion`) or of ReAct's (`react`)",
    values: OptionValues::Words(Style::WORDS),
    variable: "RETROSPECT_HOTPOTQA_STYLE",
};
/// Which of Reflexion's agents.
pub const AGENT_OPTION: EnvironmentOption = EnvironmentOption {
    name: "hotpotqa.agent",
    meaning: "which of Reflexion's agents plays: one that searches (`react`), or one that answers at once, from what it knows (`cot`) or from the paragraphs with the answer (`cot-context`)",
    values: OptionValues::Words(Agent::WORDS),
    variable: "RETROSPECT_HOTPOTQA_AGENT",
};

const QUESTIONS_HINT: &str =
    "name a file of HotPotQA's distractor setting, such as hotpot_dev_distractor_v1.json (docs/HOTPOTQA.md)";

/// The questions that are part of the program.
static OWN_QUESTIONS: LazyLock<Vec<Question>> =
    LazyLock::new(|| match parse_questions(include_bytes!("own_questions.json")) {
        Ok(questions) => questions,
        // The file is part of the program, and a test parses it.
        Err(error) => unreachable!("the program's own questions don't parse: {error}"),
    });
static QUESTIONS: ParsedFile<Vec<Question>> = ParsedFile::new();
static PAGES: ParsedFile<PageSet> = ParsedFile::new();

/// The tasks.
pub struct HotpotTasks;

fn parse_file(path: &Path, bytes: &[u8]) -> Result<Vec<Question>, TaskError> {
    let file = path.display().to_string();
    parse_questions(bytes).map_err(|error| {
        EnvError::Broken { file, place: "question".to_owned(), reason: error.to_string() }.into()
    })
}

fn load_questions(path: &Path, access: TaskAccess) -> Result<Arc<Vec<Question>>, TaskError> {
    QUESTIONS.load(path, access, |bytes| parse_file(path, bytes))
}

fn load_pages(path: &Path, access: TaskAccess) -> Result<Arc<PageSet>, TaskError> {
    PAGES.load(path, access, |bytes| {
        parse_pages(bytes).map_err(|(line, reason)| {
            let file = path.display().to_string();
            EnvError::Broken { file, place: format!("line {line}"), reason }.into()
        })
    })
}

/// Returns the question of a task. One of our own is found also if a file is set.
fn find_question(id: &str, access: TaskAccess) -> Result<Question, TaskError> {
    let (file, question_id) = split_file_id(id, &QUESTIONS_OPTION, access);
    let with_id = |questions: &[Question]| questions.iter().find(|known| known.id == question_id).cloned();
    if let Some(file) = &file
        && let Some(found) = with_id(&load_questions(file, access)?)
    {
        return Ok(found);
    }
    let place = file.map_or("among our own; hotpotqa.questions names a file of others".to_owned(), |file| {
        format!("in {}", file.display())
    });
    with_id(&OWN_QUESTIONS)
        .ok_or_else(|| TaskError::unknown_task(NAME, id, format!("no such question {place}")))
}

/// Returns the task of a question; `file` is the list that it is in.
fn task_of(question: &Question, file: Option<&Path>) -> Task {
    Task {
        env: NAME.to_owned(),
        id: file.map_or_else(|| question.id.clone(), |file| format!("{}#{}", file.display(), question.id)),
        goal: question.text.clone(),
        task_type: question.kind.clone(),
        difficulty: question.level.clone(),
        seed: 0,
    }
}

fn page_set_of(question: &Question, access: TaskAccess) -> Result<(Arc<PageSet>, String), TaskError> {
    if let Some(path) = access.options.path(&PAGES_OPTION) {
        let name = path.file_name().unwrap_or(path.as_os_str()).display().to_string();
        return Ok((load_pages(path, access)?, format!("pages of {name}")));
    }
    if question.pages.is_empty() {
        return Err(TaskError::NoData {
            what: format!("the question {} has no paragraphs to search", question.id),
            hint: "set hotpotqa.pages to a file of pages, or use the data set's distractor setting",
        });
    }
    let pages = question.pages.iter().map(|(title, sentences)| Page::from_sentences(title, sentences));
    Ok((Arc::new(PageSet::new(pages.collect())), "paragraphs of the question".to_owned()))
}

impl TaskSource for HotpotTasks {
    fn open(&self, task: &Task, access: TaskAccess) -> Result<Box<dyn Environment>, EnvError> {
        let question = find_question(&task.id, access).map_err(|error| error.to_env_error())?;
        let agent = Agent::from_word(access.options.word(&AGENT_OPTION));
        let style = Style::from_word(access.options.word(&STYLE_OPTION));
        let (page_set, pages_name) = match page_set_of(&question, access) {
            Ok(found) => found,
            // Without pages an agent can still answer from what it knows.
            Err(TaskError::NoData { .. }) if agent == Agent::ChainOfThought => Default::default(),
            Err(error) => return Err(error.to_env_error()),
        };
        let options = PlayOptions { agent, style, pages_name };
        Ok(Box::new(QuestionEnvironment::new(Arc::new(question), page_set, options)))
    }

    fn find(&self, text: &str, access: TaskAccess) -> Result<Task, TaskError> {
        let text = text.strip_prefix("hotpotqa/").unwrap_or(text);
        let (file, _) = split_file_id(text, &QUESTIONS_OPTION, access);
        let question = find_question(text, access)?;
        Ok(task_of(&question, file.as_deref().filter(|_| text.contains('#'))))
    }

    fn list(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        let tasks =
            |questions: &[Question]| questions.iter().map(|question| task_of(question, None)).collect();
        match access.options.path(&QUESTIONS_OPTION) {
            Some(path) => Ok(tasks(&load_questions(path, access)?)),
            None => Ok(tasks(&OWN_QUESTIONS)),
        }
    }

    fn tasks_of_file(
        &self,
        list: &Path,
        bytes: &[u8],
        access: TaskAccess,
    ) -> Option<Result<Vec<Task>, TaskError>> {
        if !looks_like_questions(bytes) {
            return None;
        }
        let file = access.absolute_path(list);
        let questions = load_questions(&file, access);
        Some(questions.map(|found| found.iter().map(|question| task_of(question, Some(&file))).collect()))
    }

    /// Returns the task as it is: nothing of a question is random.
    fn with_seed(&self, task: Task, _: u64) -> Task {
        task
    }

    fn check(&self, access: TaskAccess) -> Option<TaskCheck> {
        let Some(path) = access.options.path(&QUESTIONS_OPTION) else {
            let count = OWN_QUESTIONS.len();
            return Some(TaskCheck::Ok(format!(
                "{count} questions of our own; hotpotqa.questions is not set"
            )));
        };
        Some(match load_questions(path, access) {
            Ok(found) => TaskCheck::Ok(format!("{} questions in {}", found.len(), path.display())),
            Err(error) => TaskCheck::Broken { detail: error.to_string(), hint: QUESTIONS_HINT },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The data set's distractor setting has ten paragraphs for each question, the right ones among them.
    #[test]
    fn our_own_questions_have_the_form_of_the_data_set() {
        assert_eq!(OWN_QUESTIONS.len(), 20);
        let ids: BTreeSet<&str> = OWN_QUESTIONS.iter().map(|question| question.id.as_str()).collect();
        assert_eq!(ids.len(), 20);
        for question in OWN_QUESTIONS.iter() {
            let titles: BTreeSet<&str> = question.pages.iter().map(|(title, _)| title.as_str()).collect();
            assert_eq!(titles.len(), 10, "{}", question.id);
            assert!(question.supporting_titles.len() >= 2, "{}", question.id);
            for title in &question.supporting_titles {
                assert!(titles.contains(title.as_str()), "{}: {title}", question.id);
            }
            let is_word = ["yes", "no"].contains(&question.answer.as_str());
            let is_needed = |page: &&(String, Vec<String>)| question.supporting_titles.contains(&page.0);
            let mut text = String::new();
            for (title, sentences) in question.pages.iter().filter(is_needed) {
                text.push_str(title);
                text.push_str(&sentences.concat());
            }
            let answer = question.answer.trim_start_matches("a ").trim_start_matches("the ");
            assert!(is_word || text.contains(answer), "{}: {answer} is on no page", question.id);
        }
    }
}
