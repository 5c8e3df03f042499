//! The content of an actor's reply, and the extraction of the action from a line.

use super::label::strip_bullet;
use super::quoted::is_quote;
use super::{ParseLog, has_words};

/// A thought and an action.
#[derive(Default)]
pub(super) struct ParsedReply {
    pub(super) thought: Option<String>,
    pub(super) action: Option<String>,
    /// Whether the reply shows that the action, or a thought-only step, is complete.
    pub(super) complete: bool,
}

/// Returns the action of a line without its number, quotes, comment or a second action.
pub(super) fn action_in_line<'a>(line: &'a str, log: &mut ParseLog<'a>) -> &'a str {
    let line = strip_bullet(line).filter(|l| has_words(l)).unwrap_or(line);
    let mut end = line.len();
    if let Some(quote) = line.chars().next().filter(|c| is_quote(*c)) {
        let inner = &line[quote.len_utf8()..];
        if let Some(close) = inner
            .find(|c: char| is_quote(c) && c != '\'' && c != '’' || c == quote && quote != '\'')
            .or_else(|| inner.trim_end_matches('.').strip_suffix(['\'', '’']).map(str::len))
            .filter(|close| has_words(&inner[..*close]))
        {
            complain_about("words after the action were not used", &inner[close..], log);
            return inner[..close].trim();
        }
    }
    for (problem, start) in [
        ("an observation that the model made up was not used", line.find(" Observation:")),
        ("one action a step: the second was not used", line.find("; ")),
        ("a remark after the action was not used", remark_start(line)),
    ] {
        if let Some(start) = start.filter(|start| *start < end && has_words(&line[..*start])) {
            complain_about(problem, &line[start..end], log);
            end = start;
        }
    }
    line[..end].trim_end_matches(|c: char| c.is_whitespace() || c == ';')
}

fn complain_about<'a>(problem: &str, part: &'a str, log: &mut ParseLog<'a>) {
    if has_words(part) {
        log.complain(problem, part);
    }
}

/// Returns the start of a trailing remark: one in parentheses, or after `#`, `//` or a dash.
fn remark_start(line: &str) -> Option<usize> {
    let paren = line.ends_with(')').then(|| line.find(" (")).flatten();
    [paren, line.find(" # "), line.find(" // "), line.find(" — "), line.find(" <- ")]
        .into_iter()
        .flatten()
        .min()
}
