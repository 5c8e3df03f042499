//! Every form of a condition: for help, completion, complaints and the table of `docs/BREAKPOINTS.md`.

/// One form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// How it is written; capitals stand for what is to be filled in.
    pub write: &'static str,
    /// One that can be read.
    pub example: &'static str,
    /// When it comes true.
    pub when: &'static str,
    /// Where the session then stands.
    pub stands: &'static str,
}

/// All of them, in the order of the documents.
pub const FORMS: &[Form] = &[
    form("action ~ REGEX", "action ~ heat", "an action that matches is proposed", PROPOSAL),
    form("action = WORDS", "action = go to fridge 1", "an action with these words is proposed", PROPOSAL),
    form("observation ~ REGEX", "observation ~ closed", "what the agent sees of the world matches", ANSWER),
    form("thought ~ REGEX", "thought ~ (give up|stuck)", "a thought matches", PROPOSAL),
    form("nothing [N]", "nothing 3", "nothing happened N times in a row, and after each further N", NOTED),
    form("invalid [N]", "invalid 2", "the world refused the action N times in a row", ANSWER),
    form("same action N", "same action 3", "the same action is proposed the Nth time in a row", PROPOSAL),
    form("same observation N", "same observation 4", "the world said the same N times in a row", ANSWER),
    form("same thought N", "same thought 3", "the same thought came the Nth time in a row", PROPOSAL),
    form("cycle", "cycle", "the detectors say that it goes in circles", NOTED),
    form("mistake", "mistake", "a detector found a mistake", NOTED),
    form("note DETECTOR", "note wrong_object", "this detector found something", NOTED),
    form("reward changed", "reward changed", "the reward differs from the turn before", ANSWER),
    form("progress changed", "progress changed", "the progress rate differs from the turn before", ANSWER),
    form("stalled N", "stalled 8", "N turns in a row made no progress, and after each further N", ANSWER),
    form("step N", "step 12", "turn N of an episode was answered", ANSWER),
    form("won", "won", "the goal holds", ANSWER),
    form(
        "reflection [KIND]",
        "reflection error",
        "a reflection was written, of this kind",
        "after it, before the next call",
    ),
    form(
        "lesson N",
        "lesson 6",
        "the lesson with this short number entered a prompt that it was not in before",
        "when that call has been answered",
    ),
    form("tokens > N", "tokens > 20k", "the run has taken more tokens; once a run", "after the reply"),
    form(
        "cost > X",
        "cost > 0.5",
        "the run has cost more, by the prices of the profile; once a run",
        "after the reply",
    ),
    form(
        "time > T",
        "time > 1h30m",
        "the run has moved for longer; once a run",
        "after the event that is under way",
    ),
    form(
        "episode tokens > N",
        "episode tokens > 5000",
        "this episode has taken more; also `episode cost`, `episode time`; once an episode",
        "as above",
    ),
    form("end [failure|success]", "end failure", "an episode ended (this way)", "before the next episode"),
];

const PROPOSAL: &str = "at the proposal, before it is done";
const ANSWER: &str = "right after the answer";
const NOTED: &str = "right after the answer, before any reflection";

const fn form(write: &'static str, example: &'static str, when: &'static str, stands: &'static str) -> Form {
    Form { write, example, when, stands }
}

/// What to write instead, in a line or two: the forms that begin with this word, else a few of all.
pub fn hint(word: &str) -> String {
    const ALL: &str = "docs/BREAKPOINTS.md and `retrospect run --help` have every condition";
    let of = |form: &&Form| form.write.split([' ', '[']).next() == Some(word);
    let forms: Vec<String> = FORMS.iter().filter(of).map(|f| format!("`{}`", f.write)).collect();
    if forms.is_empty() {
        return format!("such as `nothing 3`, `action ~ heat`, `stalled 8`, `end failure`; {ALL}");
    }
    format!("write {}; {ALL}", forms.join(" or "))
}
