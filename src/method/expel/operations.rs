//! The operations with which ExpeL's mentor changes the list of insights, and the importance counts behind them.
//!
//! An insight starts with the count 2. AGREE and EDIT add 1, REMOVE takes 1 away, or 3 if the list is full; at 0 the insight is
//! retired. What adds to a count is stored with the lesson (`recurrences`), what takes away in the method's memory.

use super::settings::MAX_INSIGHTS;
use crate::domain::{
    Author, Lesson, LessonId, LessonOrigin, LessonStatus, LessonText, ReflectionItem, ReflectionKind,
};
use crate::engine::{Intent, LessonCommand, MentorReply, State};
use serde_json::{Map, Value, json};

/// The count of a new insight.
const INITIAL_COUNT: i64 = 2;
/// The key of the votes against insights in the method's memory, by lesson.
const AGAINST: &str = "against";

/// What the mentor wants done with the list. Numbers are those of the list that it was shown, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Operation {
    Remove(usize),
    Agree(usize),
    Edit(usize, String),
    Add(String),
}

impl Operation {
    /// The order in which operations are applied, as in the public code.
    fn rank(&self) -> u8 {
        match self {
            Self::Remove(_) => 0,
            Self::Agree(_) => 1,
            Self::Edit(..) => 2,
            Self::Add(_) => 3,
        }
    }

    fn line(&self) -> String {
        match self {
            Self::Remove(number) => format!("REMOVE {number}"),
            Self::Agree(number) => format!("AGREE {number}"),
            Self::Edit(number, text) => format!("EDIT {number}: {text}"),
            Self::Add(text) => format!("ADD: {text}"),
        }
    }
}

/// Returns the insights in force, in the order of the prompts.
pub(super) fn insights(state: &State) -> impl Iterator<Item = &Lesson> {
    state.pool.active_of_kind(ReflectionKind::Abstract)
}

/// Returns the intents that apply a mentor's reply to the list of insights.
pub(super) fn apply(state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
    let text = reply.items.iter().map(|item| item.text.text.as_str()).collect::<Vec<_>>().join("\n");
    let (mut operations, complaints) = match reply.author {
        Author::Mentor => parse(&text),
        // Rules write insights, not operations.
        _ => (reply.items.iter().map(|item| Operation::Add(item.text.text.clone())).collect(), Vec::new()),
    };
    operations.sort_by_key(Operation::rank);
    let mut changes = Changes::new(state, reply, complaints);
    for operation in &operations {
        changes.apply(operation);
    }
    changes.into_intents()
}

/// Parses the operations of a reply, one a line, with complaints about the other lines.
fn parse(text: &str) -> (Vec<Operation>, Vec<String>) {
    let (mut operations, mut complaints) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match parse_line(line) {
            Some(operation) => operations.push(operation),
            None => complaints.push(format!("not an operation on the list: {line}")),
        }
    }
    (operations, complaints)
}

/// Parses `ADD: TEXT`, `EDIT 2: TEXT`, `AGREE 2` or `REMOVE 2`, the last two also with the text of the insight.
fn parse_line(line: &str) -> Option<Operation> {
    let line =
        line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | '-' | '*' | ' '));
    let end = line.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    let rest = rest.trim_start_matches(['*', ' ', '#', '[']);
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, text) = rest.split_at(digits);
    let has_colon = text.trim_start_matches([']', '*', ' ']).starts_with(':');
    let text = text.trim_start_matches([']', '*', ':', ' ']).trim_end();
    let number = number.parse::<usize>().ok();
    match (word, number) {
        ("REMOVE", Some(number)) => Some(Operation::Remove(number)),
        ("AGREE", Some(number)) => Some(Operation::Agree(number)),
        ("EDIT", Some(number)) if !text.is_empty() => Some(Operation::Edit(number, text.to_owned())),
        ("ADD", _) if has_colon && !text.is_empty() => Some(Operation::Add(text.to_owned())),
        _ => None,
    }
}

/// The changes that a reply makes, one operation after the other.
struct Changes<'a> {
    state: &'a State,
    reply: &'a MentorReply<'a>,
    /// The insights in force so far: those of the pool, each with its text and count. A new one has no id yet.
    list: Vec<Entry<'a>>,
    /// The insights that the mentor was shown, in order.
    shown: Vec<&'a LessonId>,
    against: Map<String, Value>,
    applied: Vec<ReflectionItem>,
    complaints: Vec<String>,
    commands: Vec<LessonCommand>,
}

struct Entry<'a> {
    lesson: Option<&'a Lesson>,
    text: String,
    count: i64,
}

impl<'a> Changes<'a> {
    fn new(state: &'a State, reply: &'a MentorReply<'a>, complaints: Vec<String>) -> Self {
        let against = state.memory.get(AGAINST).and_then(Value::as_object).cloned().unwrap_or_default();
        let entry = |lesson: &'a Lesson| Entry {
            lesson: Some(lesson),
            text: lesson.text().text.clone(),
            count: INITIAL_COUNT + i64::from(lesson.recurrences)
                - against.get(&*lesson.id.0).and_then(Value::as_i64).unwrap_or(0),
        };
        let is_insight =
            |id: &LessonId| state.pool.get(id).is_some_and(|l| l.kind == ReflectionKind::Abstract);
        Self {
            state,
            reply,
            list: insights(state).map(entry).collect(),
            shown: reply.shown_lessons().map(|(id, _)| id).filter(|id| is_insight(id)).collect(),
            against,
            applied: Vec::new(),
            complaints,
            commands: Vec::new(),
        }
    }

    fn is_full(&self) -> bool {
        self.list.len() as u64 >= self.state.setting(MAX_INSIGHTS)
    }

    fn apply(&mut self, operation: &Operation) {
        let result = match operation {
            Operation::Remove(number) => self.position(*number).and_then(|at| self.remove(at)),
            Operation::Agree(number) => self.position(*number).map(|at| self.agree(at)),
            Operation::Edit(number, text) => self.position(*number).and_then(|at| self.edit(at, text)),
            Operation::Add(text) => self.add(text),
        };
        match result {
            Ok(()) => {
                let text = LessonText::plain(operation.line());
                self.applied.push(ReflectionItem { text, ..ReflectionItem::default() });
            }
            Err(reason) => self.complaints.push(format!("{}: {reason}", operation.line())),
        }
    }

    /// Returns the position of an insight in the list by its number in the prompt.
    fn position(&self, number: usize) -> Result<usize, String> {
        let id = number.checked_sub(1).and_then(|index| self.shown.get(index));
        let id = id.ok_or_else(|| format!("only {} insights were shown", self.shown.len()))?;
        let at = self.list.iter().position(|entry| entry.lesson.is_some_and(|lesson| lesson.id == **id));
        at.ok_or_else(|| "this insight is no longer in the list".to_owned())
    }

    fn remove(&mut self, at: usize) -> Result<(), String> {
        let votes = if self.is_full() { 3 } else { 1 };
        let entry = &mut self.list[at];
        let Some(lesson) = entry.lesson else { return Ok(()) };
        check_not_a_persons(lesson)?;
        entry.count -= votes;
        let before = self.against.get(&*lesson.id.0).and_then(Value::as_i64).unwrap_or(0);
        self.against.insert(lesson.id.0.to_string(), json!(before + votes));
        if entry.count <= 0 {
            let (id, status) = (lesson.id.clone(), LessonStatus::Retired);
            self.commands.push(LessonCommand::Status { id, status });
            self.list.remove(at);
        }
        Ok(())
    }

    fn agree(&mut self, at: usize) {
        let entry = &mut self.list[at];
        entry.count += 1;
        if let Some(lesson) = entry.lesson {
            self.commands.push(LessonCommand::Recur { id: lesson.id.clone() });
        }
    }

    /// Replaces the text of an insight. A text that another insight has already is an agreement with that one.
    fn edit(&mut self, at: usize, text: &str) -> Result<(), String> {
        if let Some(same) = self.list.iter().position(|entry| entry.text == text) {
            self.agree(same);
            return Ok(());
        }
        if let Some(lesson) = self.list[at].lesson {
            check_not_a_persons(lesson)?;
            let (id, text) = (lesson.id.clone(), LessonText::plain(text));
            self.commands.push(LessonCommand::Edit { id, text });
        }
        text.clone_into(&mut self.list[at].text);
        self.agree(at);
        Ok(())
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        if let Some(same) = self.list.iter().find(|entry| text.contains(&entry.text)) {
            return Err(format!("the list has this insight already: {}", same.text));
        }
        if self.is_full() {
            return Err(format!("the list is full ({} insights)", self.list.len()));
        }
        let item = self.reply.items.iter().find(|item| item.text.text == text).cloned();
        let item = item
            .unwrap_or_else(|| ReflectionItem { text: LessonText::plain(text), ..ReflectionItem::default() });
        self.commands.push(self.reply.lesson_command(&item));
        self.list.push(Entry { lesson: None, text: text.to_owned(), count: INITIAL_COUNT });
        Ok(())
    }

    fn into_intents(self) -> Vec<Intent> {
        let mut reflection = self.reply.reflection();
        reflection.items = self.applied;
        reflection.complaints.extend(self.complaints);
        let mut intents = vec![Intent::Reflect(Box::new(reflection))];
        intents.extend(self.commands.into_iter().map(Intent::Lesson));
        let before = self.state.memory.get(AGAINST).and_then(Value::as_object);
        if before.map_or(!self.against.is_empty(), |before| *before != self.against) {
            intents.push(Intent::SetMemory(json!({ AGAINST: self.against })));
        }
        intents
    }
}

/// A mentor doesn't change what a person wrote, edited or pinned.
fn check_not_a_persons(lesson: &Lesson) -> Result<(), String> {
    let is_a_persons = lesson.origin == LessonOrigin::Person
        || lesson.edited_by_person
        || lesson.status == LessonStatus::Pinned;
    if is_a_persons { Err("a person wrote, edited or pinned this insight".to_owned()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_read_one_a_line() {
        for (line, expected) in [
            ("ADD: Look first.", Some(Operation::Add("Look first.".to_owned()))),
            ("ADD 4: Look first.", Some(Operation::Add("Look first.".to_owned()))),
            ("- EDIT 2: Look twice.", Some(Operation::Edit(2, "Look twice.".to_owned()))),
            ("3. **AGREE 1**: Look first.", Some(Operation::Agree(1))),
            ("AGREE 12", Some(Operation::Agree(12))),
            ("REMOVE [3]: Never look.", Some(Operation::Remove(3))),
            ("EDIT 2:", None),
            ("AGREE", None),
            ("ADD", None),
            ("Add the egg to the list.", None),
            ("The list is fine.", None),
        ] {
            assert_eq!(parse_line(line), expected, "{line}");
        }
    }
}
