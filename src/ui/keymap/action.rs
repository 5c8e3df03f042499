//! What a key or a line of the palette can mean.

macro_rules! actions {
    ($($variant:ident = $name:literal, $about:literal;)*) => {
        /// What a key or a line of the palette can mean. What it does depends on what has the keys.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Action {
            $(#[doc = $about] $variant,)*
            /// go to the pane with this digit
            Pane(u8),
        }

        impl Action {
            /// Every action.
            pub const ALL: &'static [Action] = &[
                $(Action::$variant,)*
                Action::Pane(1), Action::Pane(2), Action::Pane(3), Action::Pane(4), Action::Pane(5),
                Action::Pane(6), Action::Pane(7), Action::Pane(8), Action::Pane(9),
            ];

            /// Its name in key files and in the palette.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Action::$variant => $name,)*
                    Action::Pane(digit) => PANE_NAMES[if digit < 10 { digit as usize } else { 0 }],
                }
            }

            /// What it does, in a few words.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Action::$variant => $about,)*
                    Action::Pane(_) => "go to the pane with this digit",
                }
            }
        }
    };
}

const PANE_NAMES: [&str; 10] =
    ["pane-0", "pane-1", "pane-2", "pane-3", "pane-4", "pane-5", "pane-6", "pane-7", "pane-8", "pane-9"];

actions! {
    Step = "step", "do what is proposed and stop at the next proposal";
    StepStage = "stage", "go on by one stage: prompt, reply, decision, observation, reflection";
    PauseRun = "pause-run", "pause, or run without stopping";
    ToggleConfirm = "confirm", "stop at every proposal, or stop no more";
    ToggleHuman = "play", "play by hand, or give the game back to the agent";
    Override = "override", "put another action in the place of the proposed one";
    RejectOrToggle = "reject", "reject the proposal with a reason; in a lane: switch the lesson on or off";
    OverrideQuestions = "override-questions", "answer anew how an override is shown to the agent";
    AskAgain = "ask-again", "ask this turn again with the lessons as they are now";
    Retry = "retry", "try the failed call or write again";
    GiveUp = "give-up", "go on without the answer of a call that failed or was broken off: a reflection is left out, a turn waits for you";
    ChangeModel = "model", "let another model act or reflect from now on, or sample it otherwise; a failed call is tried again with it by the key that tries again";
    UseRecordedReply = "recorded", "take a recorded reply in the place of a failed call, named as such";
    Breakpoints = "breaks", "set a breakpoint or a watch, and list all of them";
    AddBreakpoint = "break-add", "type another condition";
    EditBreakpoint = "break-edit", "change the chosen condition";
    ToggleBreakpoint = "break-toggle", "switch the chosen breakpoint on or off";
    ToggleOneShot = "break-once", "only once: its first hit switches it off, or not";
    ToggleWatch = "break-warn", "a watch that only tells, or a breakpoint that stops";
    DeleteBreakpoint = "break-delete", "delete the chosen breakpoint";
    Remark = "remark", "write a remark on this turn";
    AddLesson = "lesson-add", "teach a lesson";
    LessonFromOverride = "lesson-from-override", "teach a lesson from the last override, filled in beforehand";
    AcceptAsLesson = "lesson-accept", "take words of the mentor that were not kept as a lesson";
    EditLesson = "lesson-edit", "change the words of the chosen lesson";
    PinLesson = "lesson-pin", "pin the chosen lesson, or unpin it";
    ChangeLessonScope = "lesson-scope", "give the chosen lesson the next reach: episode, task, task type, environment";
    MoveLessonUp = "lesson-up", "move the chosen lesson up";
    MoveLessonDown = "lesson-down", "move the chosen lesson down";
    DeleteLesson = "lesson-delete", "delete the chosen lesson";
    Undo = "undo", "take your last change back; pressed again: the one before what cannot be";
    Redo = "redo", "make the undone change again";
    ReflectNow = "reflect", "ask for a reflection now";
    Back = "back", "one turn back in time";
    Forward = "forward", "one turn forward in time";
    PreviousMark = "previous-mark", "back to the mark before";
    NextMark = "next-mark", "forward to the next mark";
    PreviousEpisode = "previous-episode", "to the beginning of the episode before";
    NextEpisode = "next-episode", "to the beginning of the next episode";
    FilterMarks = "marks", "choose at which marks < and > stop: reflections, overrides, errors, progress, bookmarks";
    OnlyThisMark = "only-this", "only the chosen one, or all again";
    EpisodeStart = "first", "to the beginning";
    Live = "live", "to the present, or to the end";
    LastProgress = "last-progress", "to the last turn that made progress";
    Fork = "fork", "continue from the moment shown on a new branch, with something changed if you like";
    Branches = "branches", "the branches of the session as a tree: go to one, name it, put it away";
    PreviousBranch = "branch-back", "back to the branch that was followed before";
    RenameBranch = "branch-name", "give the chosen branch a name";
    AnnotateBranch = "branch-note", "write a note on the chosen branch";
    ArchiveBranch = "branch-archive", "put the chosen branch away, or take it out again; nothing is deleted";
    ShowArchived = "branch-all", "show archived branches too, or hide them";
    Up = "up", "up";
    Down = "down", "down";
    PageUp = "page-up", "a page up";
    PageDown = "page-down", "a page down";
    Open = "open", "do what is chosen: the proposal in the story, the details of a lesson";
    ShowDetails = "inspect", "show the whole of the chosen turn, or all about the chosen lesson";
    NextPane = "next-pane", "to the next pane";
    PreviousPane = "previous-pane", "to the pane before";
    Zoom = "zoom", "give this pane all of the room, or give it back";
    NextArrangement = "arrange", "arrange the panes in another way";
    ToggleTruth = "truth", "show what is true of the world, or only what the agent may know";
    ToggleReasoning = "reasoning", "unfold or fold the reasoning of the model";
    Hint = "hint", "ask for a way to the goal, where this world can look for one";
    Prompt = "prompt", "show the prompt: what the model sees and where it comes from";
    PromptPreview = "preview", "show the prompt that would be sent now, with the lessons as they are; nothing is sent";
    EditPrompt = "prompt-edit", "change the words of the chosen part of a prompt that waits to be sent, or whose call failed";
    Search = "search", "find words in all turns of the session";
    Palette = "palette", "every action by name; :37 goes to turn 37, :2.14 to turn 14 of episode 2";
    Help = "help", "keys and marks";
    EndCard = "result", "show how the episode ended";
    EpisodeList = "tasks", "list every episode of the run: outcome, why it ended, costs";
    Compare = "compare", "compare this episode with another trial, branch or session, side by side";
    OnlyFailed = "only-failed", "list only the episodes that failed, or all";
    SortRows = "sort", "sort the list by the next column";
    GroupByCause = "group", "group the failed episodes by what went wrong, or list them plainly";
    Rerun = "rerun", "play this episode again as it began, in a session of its own";
    Summary = "summary", "show the mentor's summary that waits, to accept or refuse its lines";
    RefuseAll = "refuse-all", "refuse every line of the summary, or accept all again";
    PlayAgain = "again", "play this task again";
    NextTask = "next", "go on with the next task";
    EndEpisode = "end-episode", "end this episode";
    Export = "export", "write a report of the session";
    Copy = "copy", "copy the chosen thing";
    NextTheme = "theme", "the next theme";
    ToggleMouse = "mouse", "give the mouse to the screen, or back to the terminal";
    Redraw = "redraw", "draw everything anew";
    Suspend = "suspend", "put the program into the background";
    Cancel = "cancel", "break the call in flight off and pause; twice within two seconds: quit";
    Close = "close", "close the topmost thing";
    Quit = "quit", "one level back; on the main screen: leave and print the command that resumes";
    Accept = "accept", "accept what is typed";
    NewLine = "new-line", "a new line";
    Editor = "editor", "open the text in $EDITOR";
    NextField = "next-field", "to the next field, or complete what is typed";
    PreviousField = "previous-field", "to the field before";
    NextMatch = "next-match", "to the next place found";
    PreviousMatch = "previous-match", "to the place found before";
    ToggleDifference = "difference", "show only what changed since the call before, or the whole prompt";
}

impl Action {
    /// An action by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|a| a.name() == name)
    }

    /// Whether the palette offers it: what only makes sense inside a box is left out.
    pub fn is_in_palette(self) -> bool {
        !matches!(
            self,
            Self::Accept
                | Self::NewLine
                | Self::Editor
                | Self::NextField
                | Self::PreviousField
                | Self::NextMatch
                | Self::PreviousMatch
                | Self::ToggleDifference
                | Self::EditPrompt
                | Self::RefuseAll
                | Self::AcceptAsLesson
                | Self::AddBreakpoint
                | Self::EditBreakpoint
                | Self::ToggleBreakpoint
                | Self::ToggleOneShot
                | Self::ToggleWatch
                | Self::DeleteBreakpoint
                | Self::OnlyFailed
                | Self::OnlyThisMark
                | Self::PreviousBranch
                | Self::RenameBranch
                | Self::AnnotateBranch
                | Self::ArchiveBranch
                | Self::ShowArchived
                | Self::SortRows
                | Self::GroupByCause
                | Self::Rerun
                | Self::Palette
                | Self::Close
                | Self::Up
                | Self::Down
                | Self::PageUp
                | Self::PageDown
        )
    }
}
