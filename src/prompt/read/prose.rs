//! Recognizes text that is not a lesson: refusals, error messages, paragraphs of prose, overlong texts.

use super::{ParseLog, ReadItem};

/// The maximum length in characters of a lesson, or of a mistake and of its solution separately. The longest rule in
/// the papers has 205 characters (OmniReflect, table 7: a solution for `BabyAI`).
const MAX_LESSON_CHARS: usize = 400;

/// The number of sentences from which a line counts as a paragraph.
const PARAGRAPH_SENTENCES: usize = 3;

/// Removes items that are not lessons: refusals, a server's error message that is the only item, and texts of more than
/// [`MAX_LESSON_CHARS`] characters.
pub(super) fn drop_non_lessons(items: &mut Vec<ReadItem>, log: &mut ParseLog<'_>) {
    let is_only_item = items.len() == 1;
    items.retain(|item| {
        let solution = item.text.solution.as_deref().unwrap_or_default();
        let longest = item.text.text.chars().count().max(solution.chars().count());
        let reason = if longest > MAX_LESSON_CHARS {
            format!("{longest} characters is too long for a lesson (at most {MAX_LESSON_CHARS})")
        } else if is_refusal(&item.text.text) {
            "this is a refusal, not a lesson".to_owned()
        } else if is_only_item && solution.is_empty() && is_failure_message(log.reply) {
            "this is an error message, not a lesson".to_owned()
        } else {
            return true;
        };
        let part = log.reply.get(item.span.clone()).unwrap_or_default();
        log.drop_lesson(&reason, part, item.text.clone());
        false
    });
}

/// Returns why paragraphs without list markup can't each be a lesson. Returns `None` if they can, because each has at
/// most two sentences.
pub(super) fn non_list_reason(paragraphs: &[String]) -> Option<&'static str> {
    if paragraphs.iter().any(|p| is_refusal(p))
        || paragraphs.first().is_some_and(|p| is_inability_statement(p))
    {
        return Some("a refusal is not a list, so nothing was used");
    }
    let is_prose = |p: &String| count_sentences(p) >= PARAGRAPH_SENTENCES || p.trim_end().ends_with('?');
    paragraphs.iter().any(is_prose).then_some("prose is not a list, so nothing was used")
}

/// Returns the beginning of a text in lower case, with straight apostrophes.
fn normalized_start(text: &str) -> String {
    text.trim_start()
        .chars()
        .take(160)
        .map(|c| if c == '’' { '\'' } else { c })
        .collect::<String>()
        .to_lowercase()
}

/// Returns whether a text begins like a refusal to answer and unlike any lesson.
fn is_refusal(text: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "i'm sorry",
        "i am sorry",
        "sorry, ",
        "sorry. ",
        "sorry - ",
        "sorry – ",
        "sorry — ",
        "sorry—",
        "i apologize",
        "i apologise",
        "my apologies",
        "apologies",
        "unfortunately, i ",
        "unfortunately i ",
        "thank you for ",
        "thanks for ",
        "i appreciate ",
        "as an ai",
        "as a language model",
        "as a large language model",
        "i'm an ai",
        "i am an ai",
        "i'm just an ai",
        "i must decline",
        "lo siento",
        "je suis désolé",
        "désolé",
        "es tut mir leid",
        "tut mir leid",
        "mi dispiace",
        "desculpe",
        "sinto muito",
        "к сожалению",
        "извините",
        "抱歉",
        "很抱歉",
        "对不起",
        "申し訳",
        "죄송",
    ];
    const UNABLE: &[&str] = &[
        "i can't ",
        "i cannot ",
        "i can not ",
        "i won't ",
        "i will not ",
        "i'm unable to ",
        "i am unable to ",
        "i'm not able to ",
        "i am not able to ",
        "i'm not comfortable ",
        "i am not comfortable ",
    ];
    const ANSWERING: &[&str] = &[
        "assist",
        "help with",
        "help you",
        "fulfill",
        "fulfil",
        "comply",
        "provide",
        "answer",
        "generate",
        "create",
        "discuss",
        "engage",
        "respond",
        "complete this request",
        "do that",
        "continue with",
    ];
    /// Together with one of [`FINDINGS`], these mean that no lesson was found, unlike `I cannot find the mug`.
    const FINDING: &[&str] =
        &["determine", "identify", "find", "see", "detect", "extract", "derive", "draw", "give", "list"];
    const FINDINGS: &[&str] = &["mistake", "error", "lesson", "rule", "trajectory", "reflection", "insight"];
    let text = normalized_start(text);
    let is_unable = |text: &str| {
        UNABLE.iter().filter_map(|unable| text.strip_prefix(unable)).any(|rest| {
            ANSWERING.iter().any(|verb| rest.starts_with(verb))
                || FINDING.iter().any(|verb| rest.starts_with(verb))
                    && FINDINGS.iter().any(|noun| rest.contains(noun))
        })
    };
    BEGINNINGS.iter().any(|b| text.starts_with(b)) || is_unable(&text)
}

/// Returns whether a reply is an error message of a server or a program, not a description of the agent's mistake.
fn is_failure_message(text: &str) -> bool {
    const SERVER_WORDS: &[&str] = &[
        "internal",
        "model failure",
        "server",
        "timeout",
        "timed out",
        "rate limit",
        "overloaded",
        "unavailable",
        "quota",
        "exception",
        "traceback",
        "http",
        "status code",
        "connection",
        "api ",
    ];
    let text = normalized_start(text);
    let message = text.strip_prefix("error").or_else(|| text.strip_prefix("internal error"));
    message.is_some_and(|rest| {
        rest.starts_with([':', ' ']) && SERVER_WORDS.iter().any(|word| text.contains(word))
    })
}

/// Returns whether a text without list markup says that the writer is unable to do something. In a bulleted list, the
/// same words may be a lesson.
fn is_inability_statement(text: &str) -> bool {
    const UNABLE: &[&str] = &[
        "i can't ",
        "i cannot ",
        "i can not ",
        "i won't ",
        "i'm unable ",
        "i am unable ",
        "i'm not able ",
        "i am not able ",
        "i don't have ",
        "i do not have ",
    ];
    let text = normalized_start(text);
    UNABLE.iter().any(|u| text.starts_with(u))
}

/// Counts the sentences of a text. A sentence ends at a full stop or similar if the next word begins with a capital
/// letter. Takes linear time.
fn count_sentences(text: &str) -> usize {
    let text = text.trim_end();
    let mut count = usize::from(!text.is_empty());
    let mut ended = false;
    let mut after_space = false;
    for c in text.chars() {
        if c.is_whitespace() {
            after_space = true;
            continue;
        }
        if ended && after_space && c.is_uppercase() {
            count += 1;
        }
        ended = matches!(c, '.' | '!' | '?' | '…' | '。')
            || ended && !after_space && matches!(c, '"' | '”' | '\'' | '’' | ')');
        after_space = false;
    }
    count
}
