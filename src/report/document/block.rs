//! What happened in an episode. The words of each fact are written here once; a format decides only marks, indent,
//! markup, colours and folding.

use super::super::record::enum_name;
use super::samples::SampleFacts;
use crate::domain::{
    Author, EpisodeRole, LessonOp, LessonStatus, LessonText, ModelRole, Note, NoteKind, PartialReply,
    PersonAct, Question, Reflection, RoleSource, SameAdvice, ToolCall, describe_setting_value, pluralize,
};
use crate::engine::{Episode, Failure};
use std::borrow::Cow;

/// A piece of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Span<'a> {
    /// The program's own words; they contain nothing that a format could take for markup.
    Words(Cow<'a, str>),
    /// Text from outside.
    Quote(Cow<'a, str>),
    /// Text from outside that names something: an action, a rule.
    Code(Cow<'a, str>),
    /// An action that another one replaced.
    Replaced(Cow<'a, str>),
    /// The person: `you` in a terminal, `a person` on a page that others read.
    Person,
}

/// A line of text.
pub type Line<'a> = Vec<Span<'a>>;

/// What a block is about; formats choose mark and colour by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Neutral,
    /// Something that a person did.
    Person,
    Warning,
    Good,
    Bad,
}

/// A fact about a step, an episode or a run.
#[derive(Clone, Debug)]
pub enum Block<'a> {
    Heading(&'a Episode),
    Outcome(&'a Episode),
    Rejected {
        proposal: &'a str,
        reason: &'a str,
    },
    CancelledCall(&'a PartialReply),
    /// A part of a cancelled call's reply: what it is, and its text.
    PartialText(&'static str, &'a str),
    PromptEdited,
    /// The numbers of lessons by a person that are in the actor's prompt for the first time.
    FirstShown(Vec<u32>),
    /// How many replies of a step were unusable.
    UnusableReplies(u32),
    /// The actor was asked again, for this reason.
    AskedAgain(&'a str),
    /// The actor was asked to fit this action to the present state.
    Draft(&'a str),
    Warning(&'a str),
    /// What samples of the step's prompt proposed.
    Samples(SampleFacts<'a>),
    RequestChanged(ModelRole, &'a str),
    /// The reasoning that a model showed before its reply.
    Reasoning(&'a str),
    /// A tool that a model called; it didn't run.
    ToolCall(&'a ToolCall),
    Thought {
        text: &'a str,
        /// Set if a person chose to only think: who decided, and instead of what.
        decision: Option<Line<'a>>,
        is_edited: bool,
    },
    /// Later prompts leave out the thought, or the thoughts since this step.
    ThoughtDropped(Option<u32>),
    /// Later prompts show this text in place of the thought.
    ThoughtRewritten(&'a str),
    ReplySource(&'a str),
    Complaint(&'a str),
    Action {
        text: &'a str,
        /// Set if a person decided, as for a thought.
        decision: Option<Line<'a>>,
    },
    SentAs {
        sent: &'a str,
        rule: Option<&'a str>,
    },
    /// An action that waits for a decision, or was never decided on.
    Proposal(&'a str),
    /// In which step the action was planned, or what the reply plans after it.
    Plan(Line<'a>),
    /// The episode ended before the proposal was decided on.
    NotRun,
    /// The observation as the agent sees it, and the environment's own text if a person edited it.
    Observation {
        text: &'a str,
        original: Option<&'a str>,
    },
    /// A change of the progress rate.
    Progress {
        before: f64,
        after: f64,
    },
    /// What a detector noted.
    Finding {
        note: &'a Note,
        /// What it found, with the names of the objects; `None` if the name of the detector has to do.
        sentence: Option<String>,
    },
    Reflection(&'a Reflection),
    /// A reflection says the same as those before it on the task.
    SameAdvice(SameAdvice),
    /// A mentor's reflection has no items.
    NoItems,
    /// How many texts of a mentor's reply were not kept as lessons.
    NotKept(usize),
    /// A lesson that a method added without a reflection.
    LessonAdded(u32, &'a LessonOp),
    Act {
        act: Cow<'a, PersonAct>,
        undone: bool,
    },
    Hit {
        is_watch: bool,
        number: u32,
        /// `None` if it may have changed since.
        condition: Option<&'a str>,
        reason: &'a str,
    },
    Remark(&'a str),
    FailedCall {
        failure: &'a Failure,
        question: Option<Question>,
        given_up: bool,
    },
    /// What only a transcript says, because pages and the story show its effect instead.
    Notice(Line<'a>),
    /// The same about the run; pages begin with a table of such facts.
    Run(Line<'a>),
}

impl<'a> Block<'a> {
    /// Returns the words of the block, without [`Self::note`].
    pub fn line(&self) -> Line<'a> {
        match self {
            Block::Heading(episode) => heading(episode),
            Block::Outcome(episode) => vec![words(outcome(episode))],
            Block::Rejected { proposal, reason } => {
                vec![Span::Person, words(" rejected "), code(*proposal), words(", because: "), quote(*reason)]
            }
            Block::CancelledCall(reply) => {
                let cost = reply.describe_cost().map_or_else(String::new, |cost| format!(" ({cost})"));
                vec![Span::Person, words(format!(" cancelled the call{cost}"))]
            }
            Block::PartialText(name, text) => vec![words(format!("{name} so far: ")), quote(*text)],
            Block::PromptEdited => vec![Span::Person, words(" edited its prompt")],
            Block::FirstShown(numbers) => {
                let is_one = numbers.len() == 1;
                let (noun, verb) = if is_one { ("lesson", "enters") } else { ("lessons", "enter") };
                let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
                vec![
                    words(format!("{noun} {} (by ", numbers.join(", "))),
                    Span::Person,
                    words(format!(") {verb} the prompt")),
                ]
            }
            Block::UnusableReplies(1) => vec![words("1 unusable reply")],
            Block::UnusableReplies(count) => vec![words(format!("{count} unusable replies"))],
            Block::AskedAgain(reason) => vec![words("asked again: "), quote(*reason)],
            Block::Draft(action) => vec![words("draft, to be fitted to the state: "), code(*action)],
            Block::Warning(text) => vec![words("warning: "), quote(*text)],
            Block::Samples(samples) => {
                let span = |(is_proposal, text)| if is_proposal { code(text) } else { words(text) };
                samples.parts().into_iter().map(span).collect()
            }
            Block::RequestChanged(role, change) => {
                vec![words(format!("request to the {}'s server changed: ", role.name())), quote(*change)]
            }
            Block::ToolCall(call) => {
                vec![words("tool call (not run): "), code(call.describe())]
            }
            Block::ThoughtDropped(None) => vec![words("thought dropped from later prompts")],
            Block::ThoughtDropped(Some(from)) => {
                vec![words(format!("thoughts since step {from} dropped from later prompts"))]
            }
            Block::ThoughtRewritten(text) => vec![words("thought in later prompts: "), quote(*text)],
            Block::ReplySource(from) => vec![quote(reply_source(from))],
            Block::Complaint(text) => vec![words("about the reply: "), quote(*text)],
            Block::Action { text, .. } | Block::Proposal(text) => vec![code(*text)],
            Block::SentAs { sent, rule } => {
                let mut line = vec![words("sent as "), code(*sent)];
                line.extend(rule.iter().flat_map(|rule| [words(" by rule "), quote(*rule)]));
                line
            }
            Block::NotRun => vec![words("not run")],
            Block::Reasoning(text)
            | Block::Thought { text, .. }
            | Block::Observation { text, .. }
            | Block::Remark(text) => vec![quote(*text)],
            Block::Progress { before, after } => vec![words(format!("progress {before:.2} → {after:.2}"))],
            Block::Finding { note, sentence: None } => {
                vec![detector_name(note), words(": "), code(&note.evidence)]
            }
            Block::Finding { note, sentence: Some(sentence) } => vec![
                quote(sentence.clone()),
                // Its evidence is the action and the observation, which stand above.
                words(format!(" ({})", note.detector.replace('_', " "))),
            ],
            Block::Reflection(reflection) => {
                let name = reflection.question().name();
                vec![words(format!("{name} reflection (")), author_name(reflection.author), words(")")]
            }
            Block::SameAdvice(same) => vec![words(same.describe())],
            Block::NoItems => vec![words("nothing was used")],
            Block::NotKept(count) => vec![words(not_kept(*count))],
            Block::LessonAdded(number, op) => lesson_change(*number, op, words("")),
            Block::Act { act, .. } => person_act(act),
            Block::Hit { is_watch, number, condition, reason } => {
                let kind = if *is_watch { "watch" } else { "breakpoint" };
                let mut line = vec![words(format!("{kind} {number}"))];
                line.extend(condition.map(|text| quote(format!(" `{text}`"))));
                line.extend([words(": "), quote(*reason)]);
                line
            }
            Block::FailedCall { failure, question, given_up } => failed_call(failure, *question, *given_up),
            Block::Notice(line) | Block::Run(line) | Block::Plan(line) => line.clone(),
        }
    }

    /// Returns the words for a narrow place: a finding without its evidence, and of growing progress only the new rate, which
    /// `format_rate` formats.
    pub fn short_line(&self, format_rate: impl Fn(f64) -> String) -> Line<'a> {
        match self {
            Block::Finding { sentence: Some(sentence), .. } => vec![quote(sentence.clone())],
            Block::Finding { note, sentence: None } => vec![detector_name(note)],
            Block::Progress { before, after } if after > before => {
                vec![words(format!("progress {}", format_rate(*after)))]
            }
            _ => self.line(),
        }
    }

    /// Returns what is said beside the words: who decided, who edited the text, whether it was undone.
    pub fn note(&self) -> Option<Line<'a>> {
        match self {
            Block::Thought { decision: Some(decision), .. }
            | Block::Action { decision: Some(decision), .. } => Some(decision.clone()),
            Block::Thought { is_edited: true, .. } => Some(vec![words(EDITED_BY_PERSON)]),
            Block::Observation { original: Some(original), .. } => {
                Some(vec![words(EDITED_BY_PERSON), words("; the environment said: "), quote(*original)])
            }
            Block::Act { undone: true, .. } => Some(vec![words("undone")]),
            _ => None,
        }
    }

    /// Returns what the block is about.
    pub fn tone(&self) -> Tone {
        match self {
            Block::Rejected { .. }
            | Block::CancelledCall(_)
            | Block::PromptEdited
            | Block::FirstShown(_)
            | Block::ThoughtDropped(_)
            | Block::ThoughtRewritten(_)
            | Block::ReplySource(_)
            | Block::Act { .. }
            | Block::Remark(_) => Tone::Person,
            Block::UnusableReplies(_)
            | Block::AskedAgain(_)
            | Block::Warning(_)
            | Block::RequestChanged(..)
            | Block::ToolCall(_)
            | Block::SameAdvice(_)
            | Block::Complaint(_) => Tone::Warning,
            Block::Progress { before, after } if after > before => Tone::Good,
            Block::Finding { note: Note { kind: NoteKind::Progress, .. }, .. } => Tone::Good,
            Block::Finding { note: Note { kind: NoteKind::Fact, .. }, .. } => Tone::Neutral,
            Block::Progress { .. } | Block::Finding { .. } | Block::FailedCall { .. } => Tone::Bad,
            _ => Tone::Neutral,
        }
    }
}

/// The label of a text that a person edited.
pub const EDITED_BY_PERSON: &str = "edited by a person";

/// Returns a line as plain text for the person at a terminal, which may be limited to ASCII.
pub fn plain_text(line: &[Span<'_>]) -> String {
    let texts = line.iter().map(|span| match span {
        Span::Words(text) => text.replace('→', "->"),
        Span::Quote(text) | Span::Code(text) | Span::Replaced(text) => text.to_string(),
        Span::Person => "you".to_owned(),
    });
    texts.collect()
}

pub(super) fn words<'a>(text: impl Into<Cow<'a, str>>) -> Span<'a> {
    Span::Words(text.into())
}

pub(super) fn quote<'a>(text: impl Into<Cow<'a, str>>) -> Span<'a> {
    Span::Quote(text.into())
}

pub(super) fn code<'a>(text: impl Into<Cow<'a, str>>) -> Span<'a> {
    Span::Code(text.into())
}

/// Names the episode: number, goal, task, trial, role.
fn heading(episode: &Episode) -> Line<'_> {
    let Episode { number, task, trial, .. } = episode;
    let mut line = vec![words(format!("Episode {number}: "))];
    let id = [quote(&task.env), words(" "), code(&task.id)];
    if task.goal.is_empty() {
        line.extend(id);
    } else {
        line.extend([quote(&task.goal), words(" (")].into_iter().chain(id).chain([words(")")]));
    }
    let role = match episode.role {
        EpisodeRole::Test => "",
        EpisodeRole::Calibrate => ", calibration",
        EpisodeRole::Explore => ", exploration without a goal",
    };
    line.push(words(format!(", trial {trial}{role}")));
    line
}

/// Describes how an episode ended, or how far it is.
fn outcome(episode: &Episode) -> String {
    let assisted = if episode.assisted { ", assisted by a person" } else { "" };
    let Some(end) = &episode.outcome else {
        let step = episode.answered_steps();
        return format!("in progress at step {step}, progress {:.2}{assisted}", episode.progress);
    };
    format!(
        "{} after {}, {}, progress {:.2}{assisted}",
        end.verdict(),
        pluralize(end.steps.into(), "step"),
        pluralize(end.moves.into(), "move"),
        end.progress
    )
}

fn person_act(act: &PersonAct) -> Line<'static> {
    match act {
        PersonAct::Lesson { number, change } => lesson_change(*number, change, Span::Person),
        PersonAct::AskedAgain => vec![words("asked again by "), Span::Person],
        PersonAct::Setting { name, value } => {
            vec![quote(format!("setting {name} = {}", describe_setting_value(name, value)))]
        }
        PersonAct::Run { method, actor, mentor } => {
            vec![quote(format!("run changed: {method}, actor {actor}, mentor {mentor}"))]
        }
        PersonAct::Summary { refused } if refused.is_empty() => {
            vec![words("every line of the summary was accepted")]
        }
        PersonAct::Summary { refused } => {
            let numbers: Vec<String> = refused.iter().map(|index| (index + 1).to_string()).collect();
            vec![words(format!("rejected lines of the summary: {}", numbers.join(", ")))]
        }
    }
}

fn lesson_change(number: u32, change: &LessonOp, who: Span<'static>) -> Line<'static> {
    let (what, text) = match change {
        LessonOp::Add { kind, text, taken_from: Some(from), pinned, .. } if who == Span::Person => {
            let pinned = if *pinned { ", pinned" } else { "" };
            let what = words(format!(" took over lesson {number} ({}{pinned}) from ", kind.name()));
            let text = [words(": ")].into_iter().chain(lesson_line(text));
            return [who, what, quote(from.clone())].into_iter().chain(text).collect();
        }
        LessonOp::Add { kind, text, pinned, .. } if who == Span::Person => {
            let pinned = if *pinned { ", pinned" } else { "" };
            (format!(" taught lesson {number} ({}{pinned}): ", kind.name()), Some(text))
        }
        LessonOp::Add { kind, text, .. } => {
            (format!("lesson {number} added ({}): ", kind.name()), Some(text))
        }
        LessonOp::Edit { text, .. } => (format!(" changed lesson {number}, now: "), Some(text)),
        LessonOp::Status { previous: LessonStatus::Retired, .. } => {
            (format!(" restored lesson {number}"), None)
        }
        LessonOp::Status { merged_into: Some(kept), .. } => {
            (format!(" merged lesson {number} into lesson {kept}"), None)
        }
        LessonOp::Status { status, .. } => {
            let verb = match status {
                LessonStatus::On => "switched on",
                LessonStatus::Off => "switched off",
                LessonStatus::Pinned => "pinned",
                LessonStatus::Retired => "deleted",
            };
            (format!(" {verb} lesson {number}"), None)
        }
        LessonOp::Rescope { scope, .. } => {
            (format!(" changed the scope of lesson {number} to {}", enum_name(scope)), None)
        }
        LessonOp::Move { to, .. } => (format!(" moved lesson {number} to position {}", to + 1), None),
        LessonOp::Recur { .. } => (format!(" found lesson {number} again"), None),
        LessonOp::Measured { measured, .. } => {
            (format!(" measured lesson {number}: {}, {}", measured.describe(), measured.verdict), None)
        }
    };
    let mut line = vec![who, words(what)];
    line.extend(text.into_iter().flat_map(lesson_line));
    line
}

/// Names the detector of a note.
fn detector_name(note: &Note) -> Span<'static> {
    quote(note.detector.replace('_', " "))
}

/// Names the call: its role, the question if it was the mentor's, and whether it was given up; then what happened.
fn failed_call(failure: &Failure, question: Option<Question>, given_up: bool) -> Line<'_> {
    let question = question.map(Question::name);
    let about: Vec<String> = question.into_iter().chain(given_up.then(|| "given up".to_owned())).collect();
    let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join(", ")) };
    let mut line = vec![
        words("a call failed: "),
        quote(&failure.source),
        words(about),
        words(": "),
        quote(&failure.message),
    ];
    if !failure.hint.is_empty() {
        line.extend([words("; "), quote(&failure.hint)]);
    }
    line
}

/// Returns the text of a lesson, with its solution.
pub fn lesson_line(text: &LessonText) -> Line<'static> {
    let solution = text.solution.iter().flat_map(|solution| [words(" → "), quote(solution.clone())]);
    [quote(text.text.clone())].into_iter().chain(solution).collect()
}

/// Says how many texts of a mentor's reply were not kept.
pub fn not_kept(count: usize) -> String {
    format!("{} not kept", pluralize(count as u64, "text"))
}

/// Describes the source of a reply that no model produced in this run; `from` is `recorded:NAME` or `cache`, as in the
/// journal.
fn reply_source(from: &str) -> String {
    match RoleSource::parse(from) {
        RoleSource::Recording(session) => format!("recorded reply from session {session}"),
        _ => "cached reply".to_owned(),
    }
}

/// Returns a short name for the author of a reflection.
fn author_name(author: Author) -> Span<'static> {
    match author {
        Author::Symbolic => words("rules"),
        Author::Mentor => words("mentor"),
        Author::Person => Span::Person,
        Author::File => words("pool file"),
    }
}
