//! The verbs of `--plain`.

use super::{Action, PlainForm};
use HelpPlace::{Line, SharesNextLine, Variant};

/// Where `help` lists a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelpPlace {
    /// On a line that ends with this description.
    Line(&'static str),
    /// On an indented line: a variant of the verb before.
    Variant(&'static str),
    /// On the line of the next verb.
    SharesNextLine,
}

struct Row {
    word: &'static str,
    arguments: &'static str,
    listed_words: &'static [&'static str],
    other_words: &'static [&'static str],
    help: HelpPlace,
}

macro_rules! verbs {
    ($($variant:ident = $word:expr, $arguments:literal, $listed_words:expr, $other_words:expr, $help:expr;)*) => {
        /// What a line of `--plain` does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Verb {
            $($variant,)*
        }

        impl Verb {
            /// All verbs, in the order of `help`.
            pub const ALL: &'static [Verb] = &[$(Verb::$variant,)*];

            const fn row(self) -> &'static Row {
                match self {
                    $(Verb::$variant => const { &Row {
                        word: $word,
                        arguments: $arguments,
                        listed_words: &$listed_words,
                        other_words: &$other_words,
                        help: $help,
                    } },)*
                }
            }
        }
    };
}

// Word, arguments, further words that `help` shows, words that it doesn't show, help.
verbs! {
    Step = Action::Step.name(), "", ["n"], [], Line(Action::Step.about());
    Stage = Action::StepStage.name(), "", ["s"], [], Line(Action::StepStage.about());
    Run = "run", "", ["c", "continue"], ["go"], Line("run without stopping");
    Pause = "pause", "", [], [], Line("stop as soon as no call is in flight");
    PauseRun = Action::PauseRun.name(), "", [], [], Line(Action::PauseRun.about());
    Cancel = Action::Cancel.name(), "", [], [], Line("cancel the call in flight");
    Approve = "approve", "", [], [], Line("run the proposed action; a paused run stays paused");
    Override = Action::Override.name(), "ACTION", ["o"], [], Line(Action::Override.about());
    OverrideAsEdit = "override-as-edit", "ACTION", [], [], Variant("the same, shown to the agent as a human edit");
    Break = "break", "CONDITION", ["b"], [], Line("stop when CONDITION holds, such as `break nothing 3`, `break action ~ heat`, `break end failure`");
    Watch = "watch", "CONDITION", ["warn"], [], Line("report when CONDITION holds, without stopping");
    Breaks = Action::Breakpoints.name(), "", [], [], Line("list breakpoints and watches, with their numbers and hits");
    BreakEdit = Action::EditBreakpoint.name(), "N CONDITION", [], [], SharesNextLine;
    BreakOn = "break-on", "N", [], [], SharesNextLine;
    BreakOff = "break-off", "N", [], [], SharesNextLine;
    BreakDelete = Action::DeleteBreakpoint.name(), "N", [], [], Line("edit breakpoint or watch N, switch it on or off, delete it");
    Reject = Action::RejectOrToggle.name(), "REASON", ["x"], [], Line("reject the proposal; the agent is shown the reason and asked again");
    AskAgain = Action::AskAgain.name(), "", [], [], Line(Action::AskAgain.about());
    Repeat = "r", "", [], [], Line("repeat whatever just happened: the step, the failed call, or the ended task");
    Act = "act", "ACTION", [], [], Line("your action, when you play");
    Think = "think", "TEXT", ["think:"], [], Line("your thought, when you play");
    Auto = "auto", "", [], [], SharesNextLine;
    Human = "human", "", [], [], Line("who decides: the agent, or you alone");
    Confirm = Action::ToggleConfirm.name(), "", [], [], SharesNextLine;
    Play = Action::ToggleHuman.name(), "", [], [], Line("stop at every proposal, play manually; type it again to let the agent decide");
    Lesson = "lesson", "[KIND:] TEXT", ["a"], ["add"], Line("add a lesson; without KIND, of the method's first kind for advice, and `mistake -> solution` as an Error lesson");
    LessonAccept = Action::AcceptAsLesson.name(), "", [], [], Line("add the mentor's last discarded text as a lesson");
    Lessons = "lessons", "", [], [], Line("list the lessons");
    Edit = "edit", "N TEXT", [], [], Line("edit the text of lesson N");
    On = "on", "N", [], [], SharesNextLine;
    Off = "off", "N", [], [], SharesNextLine;
    Pin = "pin", "N", [], [], SharesNextLine;
    Delete = "delete", "N", [], [], Line("switch lesson N on or off, pin it, delete it");
    Scope = "scope", "N SCOPE", [], [], Line("set the scope of lesson N: episode, task, task_type, environment");
    Move = "move", "N PLACE", [], [], Line("move lesson N to another place among its kind");
    Undo = Action::Undo.name(), "[older]", ["u"], [], SharesNextLine;
    Redo = Action::Redo.name(), "", ["U"], [], Line("undo or redo your last change; with `older`, undo the change before one that can't be undone");
    Thought = "thought", "N TEXT", [], [], SharesNextLine;
    Observation = "observation", "N TEXT", [], [], Line("edit the text of step N, until a prompt has shown it");
    Back = Action::Back.name(), "[N]", [], ["left"], SharesNextLine;
    Forward = Action::Forward.name(), "[N]", [], ["right"], SharesNextLine;
    Live = Action::Live.name(), "", [], ["present"], Line("look N steps back or forward, or return to the present");
    Fork = Action::Fork.name(), "N [ACTION]", [], [], Line("open a branch at step N, before its action, and take ACTION there");
    Branches = Action::Branches.name(), "", [], ["tree"], SharesNextLine;
    Switch = "switch", "[B]", [], ["branch"], Line("list the branches of this session, continue branch B");
    BranchName = Action::RenameBranch.name(), "B NAME", [], [], SharesNextLine;
    BranchNote = Action::AnnotateBranch.name(), "B TEXT", [], [], SharesNextLine;
    Archive = "archive", "B", [], [], SharesNextLine;
    Unarchive = "unarchive", "B", [], [], Line("name branch B, write a note on it, archive or unarchive it");
    Summary = Action::Summary.name(), "", [], [], Line("the mentor's summary that is waiting for your decision, line by line");
    Accept = "accept", "[N ...]", [], [], Line("accept all lines of the summary, or only these");
    Refuse = "refuse", "[N ...]", [], [], Line("reject all lines of the summary, or only these");
    Reflect = Action::ReflectNow.name(), "KIND", [], [], Line("reflect now: abstract, error, progress, or a kind of the method (plan, positive ...)");
    Prompt = Action::Prompt.name(), "[KIND]", ["p"], [], Line("the last prompt, segment by segment; with KIND, the mentor prompt of that kind");
    PromptEdit = Action::EditPrompt.name(), "[KIND] N TEXT", [], [], Line("edit segment N of a prompt draft, or of a prompt whose call failed; KIND selects a mentor prompt");
    World = "world", "", ["w"], [], Line("what the agent may know of the environment");
    Actions = "actions", "", [], ["admissible"], Line("the actions that the environment would accept now");
    Hint = Action::Hint.name(), "", [], [], Line("a path to the goal, where the environment can compute one");
    Output = Action::ProgramOutput.name(), "", [], [], Line("what the environment's program has printed, if it is another program");
    Story = "story", "[N]", [], [], Line("the last steps, or step N");
    Note = "note", "TEXT", [], [], Line("add a note to this step");
    Set = "set", "NAME VALUE", [], [], Line("change a setting (max_steps) or a sampling parameter (actor.temperature)");
    Retry = Action::Retry.name(), "", [], [], Line("after failed calls: retry all of them");
    Model = Action::ChangeModel.name(), "NAME", [], [], Line("switch the actor's model (openai:MODEL, openai:MODEL profile P, openai:MODEL at URL, rules, recorded:SESSION)");
    Mentor = "mentor", "NAME", [], [], Variant("the same for the mentor; after a failed call, `retry` then calls the new model");
    Recorded = Action::UseRecordedReply.name(), "SESSION|cache", [], [], Line("after failed calls: use the replies to the same prompts that a session recorded, or cached ones");
    GiveUp = Action::GiveUp.name(), "", [], [], Line("after failed calls: continue without; a reflection is skipped, a step waits for your `act`");
    End = "end", "", [], [], SharesNextLine;
    Again = Action::PlayAgain.name(), "", ["begin"], [], Line("end the episode; play the same task again");
    Help = Action::Help.name(), "", [], ["?", "h"], Line("list these commands");
    Quit = Action::Quit.name(), "", ["q"], ["exit"], Line("quit; the session can be resumed");
}

impl Verb {
    /// Returns its main word.
    pub const fn word(self) -> &'static str {
        self.row().word
    }

    /// Returns the further words for it that `help` shows, most of them abbreviations.
    pub const fn listed_words(self) -> &'static [&'static str] {
        self.row().listed_words
    }

    /// Returns where `help` lists it.
    pub const fn help_place(self) -> HelpPlace {
        self.row().help
    }

    /// Returns how it is typed after one of its words: the word and the arguments, such as `fork N [ACTION]`.
    pub fn usage_of(self, word: &str) -> String {
        let arguments = self.row().arguments;
        if arguments.is_empty() { word.to_owned() } else { format!("{word} {arguments}") }
    }

    /// Returns how it is typed: its main word and its arguments.
    pub fn usage(self) -> String {
        self.usage_of(self.word())
    }

    /// Returns how many words may follow it: none, or one number. Returns `None` if its arguments are a text, a list or
    /// optional, whose words only their parser can count.
    pub fn word_limit(self) -> Option<usize> {
        match self.row().arguments {
            "" => Some(0),
            "N" => Some(1),
            _ => None,
        }
    }

    /// Returns its own words, without the names of actions.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let row = self.row();
        std::iter::once(row.word).chain(row.listed_words.iter().chain(row.other_words).copied())
    }
}

/// Returns what the first word of a line does, or `None` for an unknown word. The words are those of the verbs, and the names
/// of all actions.
pub fn find_word(word: &str) -> Option<PlainForm> {
    let verb = Verb::ALL.iter().copied().find(|verb| verb.words().any(|own| own == word));
    verb.map(PlainForm::Does).or_else(|| Action::from_name(word).map(Action::plain_form))
}
