//! The model behind every simulated server: deterministic and simple. For an actor prompt it reasons and names an
//! action that the prompt offers; for a mentor prompt it replies in the requested format.

use std::fmt::Write as _;

/// The kind of reply that a prompt requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// The actor's next action.
    Action,
    /// A list of strings.
    List,
    /// A list of mistakes with their solutions.
    Mistakes,
    /// A plan of the whole episode, one action per line.
    Plan,
    /// An experience, a reflection or a new trial's plan in prose.
    Prose,
    /// Counting to twenty, which `doctor` asks for.
    Count,
    /// Anything else.
    Other,
}

/// The format of the reply to an actor prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// The action alone.
    Line,
    /// `Thought: ...` and `Action: ...` on two lines.
    ThoughtAndAction,
    /// The action, an empty line, and an explanation, as chat models do.
    Remark,
}

/// What the model produces, before the server processes it.
#[derive(Clone, Debug)]
pub(crate) struct Completion {
    pub(crate) question: Question,
    pub(crate) reasoning: String,
    pub(crate) answer: String,
    /// The action in the reply; empty if none was asked for.
    pub(crate) action: String,
}

/// A sentence in every lesson that the model writes as a mentor.
pub(crate) const LESSON: &str = "Look inside closed containers too.";
/// A sentence in every prose text that the model writes as a mentor.
pub(crate) const PROSE: &str = "Search the drawers before the countertop, because a candle is small.";

/// The actions in every plan that the model writes as a mentor.
pub(crate) const PLAN: [&str; 3] = ["go to drawer 1", "look", "inventory"];

/// The sentences of the reasoning.
pub(crate) const SENTENCES: [&str; 5] = [
    "Okay, let's see what the observation says and what the task wants from me.",
    "Candles are small, so they might be lying on a countertop or inside a drawer.",
    "Wait, I should check which places I have already visited, and in which order.",
    "Alternatively, I could take another look around the room first.",
    "But the list of places is right there, so the next one on it is a reasonable choice.",
];

/// Replies to a prompt. `lengths` are the numbers of characters of reasoning before a short reply and before a
/// mentor's; `variation` simulates sampling: another wording of the same action.
pub(crate) fn complete(prompt: &str, style: Style, lengths: (usize, usize), variation: usize) -> Completion {
    let question = classify(prompt);
    let action = if question == Question::Action { next_action(prompt) } else { String::new() };
    let short = matches!(question, Question::Action | Question::Count | Question::Other);
    let answer = match question {
        Question::Action => format_action(&action, style),
        Question::List => format!("[\"{LESSON}\", \"A toilet holds a candle at times.\"]"),
        Question::Mistakes => {
            format!("[{{'mistake': 'Left a closed drawer without opening it.', 'solution': '{LESSON}'}}]")
        }
        Question::Plan => PLAN.join("\n"),
        Question::Prose => format!("{PROSE} Then put the first candle that turns up on the countertop."),
        Question::Count => counting_reply(variation),
        Question::Other => "Take the cup.".to_owned(),
    };
    let length = if short { lengths.0 } else { lengths.1 };
    Completion { question, reasoning: reasoning_text(length, variation), answer, action }
}

fn counting_reply(variation: usize) -> String {
    let words = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
                 eighteen nineteen twenty";
    let begins = ["", "Sure: ", "Of course! ", "Here you are: "][variation % 4];
    format!("{begins}{words}")
}

fn classify(prompt: &str) -> Question {
    let prompt = prompt.trim_end();
    if prompt.ends_with('>') {
        Question::Action
    } else if prompt.contains("a Python list of dictionaries") {
        Question::Mistakes
    } else if prompt.contains("a Python list of strings") {
        Question::List
    } else if prompt.contains("Answer with the program from here on") {
        Question::Plan
    } else if prompt.contains("Your task is to") {
        Question::Prose
    } else if prompt.contains("Count from one to twenty") {
        Question::Count
    } else {
        Question::Other
    }
}

/// Returns paragraphs of reasoning of this length.
fn reasoning_text(length: usize, variation: usize) -> String {
    let mut text = String::new();
    for n in 0.. {
        if text.len() >= length {
            break;
        }
        let end = if n % 2 == 1 { "\n\n" } else { " " };
        let _ = write!(text, "{}{end}", SENTENCES[(n + variation) % SENTENCES.len()]);
    }
    text.truncate(length);
    text
}

/// Returns an action that goes to the next of the places that the first observation lists, and sometimes `look`. The
/// same prompt gets the same action.
fn next_action(prompt: &str) -> String {
    const LISTED: &str = "Looking quickly around you, you see ";
    let task = prompt.rfind(LISTED).map_or("", |at| &prompt[at + LISTED.len()..]);
    let (list, rest) = task.split_once('.').unwrap_or((task, ""));
    let steps = rest.lines().filter(|line| line.starts_with("> ")).count();
    let places: Vec<&str> = list
        .split(", ")
        .map(|p| p.trim_start_matches("and ").trim_start_matches("an ").trim_start_matches("a "))
        .collect();
    if steps % 4 == 3 { "look".to_owned() } else { format!("go to {}", places[steps % places.len()]) }
}

fn format_action(action: &str, style: Style) -> String {
    match style {
        Style::Line => action.to_owned(),
        Style::ThoughtAndAction => {
            format!("Thought: The candle may be there, so that is next.\nAction: {action}")
        }
        Style::Remark => format!("{action}\n\n(That is the next place worth a visit.)"),
    }
}
