//! A plan as a program: actions, comments and assertions with what to do if they fail (docs/METHODS.md). One statement a
//! line, so that a person can edit it and a lane can number it.

use super::condition::Condition;
use crate::engine::Episode;
use crate::prompt;

/// A line of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    /// Says what the following actions are for; becomes their thought.
    Comment(String),
    Action(String),
    /// If the condition doesn't hold, the recovery action is taken, and those of the `Else` lines below.
    Assertion {
        text: String,
        condition: Condition,
        recovery: Option<String>,
    },
    /// A further recovery action of the assertion above.
    Else(String),
}

impl Statement {
    /// Returns the action that the statement may take.
    pub(super) fn action(&self) -> Option<&str> {
        match self {
            Self::Comment(_) => None,
            Self::Action(action) | Self::Else(action) => Some(action),
            Self::Assertion { recovery, .. } => recovery.as_deref(),
        }
    }

    /// Formats the statement as a line that is parsed as the same statement.
    pub(super) fn line(&self) -> String {
        match self {
            Self::Comment(text) => format!("# {text}"),
            Self::Action(action) => action.clone(),
            Self::Assertion { text, recovery: None, .. } => format!("assert({text})"),
            Self::Assertion { text, recovery: Some(action), .. } => format!("assert({text}) else: {action}"),
            Self::Else(action) => format!("else: {action}"),
        }
    }
}

/// Where the execution of a program stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    /// The next statement.
    index: usize,
    /// The last assertion has failed.
    has_failed: bool,
}

/// The next action of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NextAction {
    /// The statement that it belongs to.
    pub(super) index: usize,
    pub(super) action: String,
    /// The comments before it, and the assertion that failed.
    pub(super) thought: Option<String>,
    has_failed: bool,
}

impl NextAction {
    /// Returns the position after this action.
    pub(super) fn after(&self) -> Position {
        Position { index: self.index + 1, has_failed: self.has_failed }
    }
}

/// Parses the lines of a program, with complaints about those that could not be used.
pub(super) fn parse(text: &str) -> (Vec<Statement>, Vec<String>) {
    let (mut statements, mut complaints) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let (parsed, problems) = parse_line(line);
        complaints.extend(problems);
        let Some(statement) = parsed else { continue };
        let follows_assertion =
            matches!(statements.last(), Some(Statement::Assertion { .. } | Statement::Else(_)));
        if matches!(statement, Statement::Else(_)) && !follows_assertion {
            complaints.push(format!("no assertion precedes this: {}", line.trim()));
        } else {
            statements.push(statement);
        }
    }
    let mut rest = statements.iter().peekable();
    while let Some(statement) = rest.next() {
        if let Statement::Assertion { text, recovery: None, .. } = statement
            && !matches!(rest.peek(), Some(Statement::Else(_)))
        {
            complaints.push(format!("nothing is done if this assertion fails: {text}"));
        }
    }
    (statements, complaints)
}

/// Parses one line. A line without content, such as `def name():`, has neither a statement nor a complaint.
pub(super) fn parse_line(line: &str) -> (Option<Statement>, Vec<String>) {
    let line = line.trim();
    let lower = line.to_ascii_lowercase();
    let is_markup = (lower.starts_with("def ") && line.ends_with(':'))
        || matches!(lower.as_str(), "" | "pass" | "return" | "\"\"\"" | "'''");
    if is_markup {
        return (None, Vec::new());
    }
    if let Some(comment) = line.strip_prefix('#') {
        let comment = comment.trim_start_matches('#').trim();
        return ((!comment.is_empty()).then(|| Statement::Comment(comment.to_owned())), Vec::new());
    }
    if let Some(rest) = keyword(line, &lower, "assert") {
        return match parse_assertion(rest) {
            Some(assertion) => (Some(assertion), Vec::new()),
            None => (None, vec![format!("an assertion that can't be read: {line}")]),
        };
    }
    if let Some(rest) = keyword(line, &lower, "else") {
        let (action, complaints) = parse_action(rest.trim_start_matches([':', ' ']));
        return (action.ok().map(Statement::Else), complaints);
    }
    // No action ends in a colon: this is the heading of a list.
    if line.ends_with(':') {
        return (None, vec![format!("a heading is not an action: {line}")]);
    }
    let (parsed, complaints) = parse_action(line);
    let statement = match parsed {
        Ok(action) => Some(Statement::Action(action)),
        Err(thought) => thought.map(Statement::Comment),
    };
    (statement, complaints)
}

/// Returns what follows a keyword at the beginning of a line.
fn keyword<'a>(line: &'a str, lower: &str, word: &str) -> Option<&'a str> {
    let rest = lower.strip_prefix(word)?;
    (!rest.starts_with(|c: char| c.is_alphanumeric())).then(|| &line[word.len()..])
}

/// Parses `(CONDITION) else: ACTION`; the action may be missing.
fn parse_assertion(rest: &str) -> Option<Statement> {
    let (condition, recovery) = match rest.to_ascii_lowercase().find(" else") {
        Some(at) => (&rest[..at], Some(rest[at + " else".len()..].trim_start_matches([':', ' ']))),
        None => (rest, None),
    };
    let text = condition.trim().trim_start_matches('(').trim_end_matches([':', ' ', ')']).trim().to_owned();
    let recovery = match recovery.map(|action| parse_action(action).0) {
        None => None,
        Some(Ok(action)) => Some(action),
        Some(Err(_)) => return None,
    };
    Some(Statement::Assertion { condition: Condition::parse(&text)?, text, recovery })
}

/// Parses an action as an actor's reply, or written as a call. Otherwise returns the thought that the line is, if it is
/// one.
fn parse_action(text: &str) -> (Result<String, Option<String>>, Vec<String>) {
    if let Some(action) = parse_call(text) {
        return (Ok(action), Vec::new());
    }
    let reply = prompt::read_reply(text);
    // A numbered line may still have its mark: `3. > look`.
    let action = reply.action.map(|action| action.trim_start_matches(['>', ' ']).to_owned());
    (action.ok_or(reply.thought), reply.complaints)
}

/// Returns the action that a call stands for: `take_from('apple 1', 'fridge 1')` is `take apple 1 from fridge 1`. The words
/// of the name come first, except for those at its end that separate the arguments.
fn parse_call(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(';');
    let (name, arguments) = text.strip_suffix(')')?.split_once('(')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let is_quote = |c: char| matches!(c, '\'' | '"');
    let arguments: Vec<&str> = match arguments.trim() {
        "" => Vec::new(),
        list => {
            let arguments = list.split(',').map(str::trim);
            let unquoted = arguments.map(|a| a.strip_prefix(is_quote)?.strip_suffix(is_quote));
            unquoted.collect::<Option<_>>()?
        }
    };
    if !is_name || arguments.iter().any(|argument| argument.contains(is_quote)) {
        return None;
    }
    let words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
    let separators = arguments.len().saturating_sub(1);
    // `stack('b1', 'b2')` has no words for its arguments.
    let first = if words.len() > separators { words.len() - separators } else { words.len() };
    let (lead, between) = words.split_at(first);
    let mut parts = lead.to_vec();
    for (index, argument) in arguments.iter().enumerate() {
        parts.extend(index.checked_sub(1).and_then(|before| between.get(before)));
        parts.push(argument);
    }
    Some(parts.join(" "))
}

/// Returns the next action from a position, with what the agent has observed before `step` (from 1). Returns `None` at the
/// end of the program.
pub(super) fn next_action(
    program: &[Statement],
    position: Position,
    episode: &Episode,
    step: u32,
) -> Option<NextAction> {
    let mut has_failed = position.has_failed;
    let mut thoughts: Vec<String> = Vec::new();
    for (index, statement) in program.iter().enumerate().skip(position.index) {
        let action = match statement {
            Statement::Comment(text) => {
                thoughts.push(text.clone());
                None
            }
            Statement::Action(action) => {
                has_failed = false;
                Some(action)
            }
            Statement::Assertion { text, condition, recovery } => {
                has_failed = !condition.holds(episode, step);
                if has_failed {
                    thoughts.push(format!("The assertion {text} failed."));
                }
                recovery.as_ref().filter(|_| has_failed)
            }
            Statement::Else(action) => Some(action).filter(|_| has_failed),
        };
        if let Some(action) = action {
            let thought = (!thoughts.is_empty()).then(|| thoughts.join(" "));
            return Some(NextAction { index, action: action.clone(), thought, has_failed });
        }
    }
    None
}
