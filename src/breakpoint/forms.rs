//! Every form of a condition, for the help, completion, error messages and the table in `docs/BREAKPOINTS.md`.

/// One form of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// How it is written; capital letters mark placeholders.
    pub syntax: &'static str,
    /// A valid example.
    pub example: &'static str,
    /// When it becomes true.
    pub meaning: &'static str,
    /// Where the session pauses.
    pub pauses_at: &'static str,
}

/// All forms, in the order of the table in `docs/BREAKPOINTS.md`.
pub const FORMS: &[Form] = &[
    form("action ~ REGEX", "action ~ heat", "the proposed action matches", AT_PROPOSAL),
    form("action = WORDS", "action = go to fridge 1", "the proposed action contains this text", AT_PROPOSAL),
    form("observation ~ REGEX", "observation ~ closed", "the observation matches", AFTER_OBSERVATION),
    form("thought ~ REGEX", "thought ~ (give up|stuck)", "a thought matches", AT_PROPOSAL),
    form(
        "nothing [N]",
        "nothing 3",
        "N actions in a row had no effect, and again after every N more",
        BEFORE_REFLECTION,
    ),
    form(
        "invalid [N]",
        "invalid 2",
        "the environment rejected the action N times in a row",
        AFTER_OBSERVATION,
    ),
    form(
        "same action N",
        "same action 3",
        "the same action is proposed for the Nth time in a row",
        AT_PROPOSAL,
    ),
    form(
        "same observation N",
        "same observation 4",
        "the observation was the same N times in a row",
        AFTER_OBSERVATION,
    ),
    form(
        "same thought N",
        "same thought 3",
        "the thought is the same for the Nth time in a row",
        AT_PROPOSAL,
    ),
    form(
        "same advice [N]",
        "same advice 3",
        "N successive reflections on a task repeat each other (3 without N), and again after every N more",
        AFTER_REFLECTION,
    ),
    form("cycle", "cycle", "a detector found that the agent is going in circles", BEFORE_REFLECTION),
    form("mistake", "mistake", "a detector found a mistake", BEFORE_REFLECTION),
    form("note DETECTOR", "note wrong_object", "this detector found something", BEFORE_REFLECTION),
    form("reward changed", "reward changed", "the reward differs from the previous step", AFTER_OBSERVATION),
    form(
        "progress changed",
        "progress changed",
        "the progress rate differs from the previous step",
        AFTER_OBSERVATION,
    ),
    form(
        "stalled N",
        "stalled 8",
        "N steps in a row made no progress, and again after every N more",
        AFTER_OBSERVATION,
    ),
    form("step N", "step 12", "step N of an episode is complete", AFTER_OBSERVATION),
    form("won", "won", "the goal is reached", AFTER_OBSERVATION),
    form(
        "reflection [KIND]",
        "reflection error",
        "a reflection (of this kind) was written",
        AFTER_REFLECTION,
    ),
    form(
        "lesson N",
        "lesson 6",
        "lesson N is in a prompt and wasn't in the previous one",
        "after the reply to that prompt",
    ),
    form(
        "tokens > N",
        "tokens > 20k",
        "the run has used more than N tokens (fires once per run)",
        "after the reply",
    ),
    form(
        "cost > X",
        "cost > 0.5",
        "the run has cost more than X at the profile's prices (fires once per run)",
        "after the reply",
    ),
    form(
        "time > T",
        "time > 1h30m",
        "the run has been running longer than T (fires once per run)",
        "after the current event",
    ),
    form(
        "episode tokens > N",
        "episode tokens > 5000",
        "this episode has used more than N tokens; also `episode cost`, `episode time` (fires once per episode)",
        "after the reply (for `time`: after the current event)",
    ),
    form(
        "end [failure|success]",
        "end failure",
        "an episode ended (with this outcome)",
        "before the next episode",
    ),
];

const AT_PROPOSAL: &str = "at the proposal, before the action runs";
const AFTER_OBSERVATION: &str = "right after the observation";
const AFTER_REFLECTION: &str = "after the reflection, before the next call";
const BEFORE_REFLECTION: &str = "after the observation, before any reflection";

const fn form(
    syntax: &'static str,
    example: &'static str,
    meaning: &'static str,
    pauses_at: &'static str,
) -> Form {
    Form { syntax, example, meaning, pauses_at }
}

/// Returns a hint for a condition that could not be parsed: the forms that begin with this word, or some common
/// conditions if none does. One or two lines.
pub fn hint(word: &str) -> String {
    const REFERENCE: &str = "docs/BREAKPOINTS.md and `retrospect run --help` list all conditions";
    let begins_with_word = |form: &&Form| form.syntax.split([' ', '[']).next() == Some(word);
    let forms: Vec<String> =
        FORMS.iter().filter(begins_with_word).map(|f| format!("`{}`", f.syntax)).collect();
    if forms.is_empty() {
        return format!("such as `nothing 3`, `action ~ heat`, `stalled 8`, `end failure`; {REFERENCE}");
    }
    format!("write {}; {REFERENCE}", forms.join(" or "))
}
