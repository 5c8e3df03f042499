//! The actions that keys and the palette run.

macro_rules! actions {
    ($($variant:ident = $name:literal, $about:literal;)*) => {
        /// An action that a key or the palette runs. What it does depends on the focus.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Action {
            $(#[doc = $about] $variant,)*
            /// go to the pane with this digit
            Pane(u8),
        }

        impl Action {
            /// All actions.
            pub const ALL: &'static [Action] = &[
                $(Action::$variant,)*
                Action::Pane(1), Action::Pane(2), Action::Pane(3), Action::Pane(4), Action::Pane(5),
                Action::Pane(6), Action::Pane(7), Action::Pane(8), Action::Pane(9),
            ];

            /// Returns the name in key files and in the palette.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Action::$variant => $name,)*
                    Action::Pane(digit) => PANE_NAMES[if digit < 10 { digit as usize } else { 0 }],
                }
            }

            /// Returns a short description of what it does.
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
    Step = "step", "run the proposed action and stop at the next proposal";
    StepStage = "stage", "advance one stage: prompt, reply, decision, observation, reflection";
    PauseRun = "pause-run", "pause, or run without stopping";
    ToggleConfirm = "confirm", "stop at every proposal: on or off";
    ToggleHuman = "play", "play yourself, or hand control back to the agent";
    Override = "override", "replace the proposed action";
    RejectOrToggle = "reject", "reject the proposal; switch a lesson on or off";
    OverrideQuestions = "override-questions", "choose again how overrides are shown to the agent";
    AskAgain = "ask-again", "retry this step with the current lessons";
    Retry = "retry", "retry the failed call or write";
    GiveUp = "give-up", "continue without the reply of a failed or cancelled call: a reflection is skipped, a step waits for you";
    ChangeModel = "model", "change the actor's or mentor's model or sampling, from the next request on";
    UseRecordedReply = "recorded", "use a recorded reply instead of a failed call (marked as recorded)";
    Breakpoints = "breaks", "list breakpoints and watches, and set new ones";
    AddBreakpoint = "break-add", "add a breakpoint";
    EditBreakpoint = "break-edit", "edit the selected breakpoint";
    ToggleBreakpoint = "break-toggle", "switch the selected breakpoint on or off";
    ToggleOneShot = "break-once", "switch one-shot on or off: the first hit switches the breakpoint off";
    ToggleWatch = "break-warn", "switch between breakpoint and watch (a watch marks the step but doesn't pause)";
    DeleteBreakpoint = "break-delete", "delete the selected breakpoint";
    Remark = "remark", "write a remark on this step";
    AddLesson = "lesson-add", "add a lesson";
    LessonFromOverride = "lesson-from-override", "add a lesson prefilled from the last override";
    AcceptAsLesson = "lesson-accept", "keep a dropped item of the reflection as a lesson";
    EditLesson = "lesson-edit", "edit the selected lesson";
    PinLesson = "lesson-pin", "pin or unpin the selected lesson";
    ChangeLessonScope = "lesson-scope", "change the scope of the selected lesson";
    MoveLessonUp = "lesson-up", "move the selected lesson up";
    MoveLessonDown = "lesson-down", "move the selected lesson down";
    DeleteLesson = "lesson-delete", "delete the selected lesson";
    Undo = "undo", "undo your last change; if it can't be undone, press again to undo the one before it";
    Redo = "redo", "redo the undone change";
    ReflectNow = "reflect", "call the mentor for a reflection now";
    Back = "back", "one step back in time";
    Forward = "forward", "one step forward in time";
    PreviousMark = "previous-mark", "go to the previous mark";
    NextMark = "next-mark", "go to the next mark";
    PreviousEpisode = "previous-episode", "go to the start of the previous episode";
    NextEpisode = "next-episode", "go to the start of the next episode";
    FilterMarks = "marks", "choose the marks that < and > stop at: reflections, overrides, mistakes, progress, remarks, breakpoints";
    OnlyThisMark = "only-this", "stop only at marks of the selected kind, or at all kinds";
    EpisodeStart = "first", "go to the start of the episode";
    Live = "live", "go to the present; in an overlay: go to the end";
    LastProgress = "last-progress", "go to the last step that made progress";
    Fork = "fork", "continue from the step shown on a new branch, with or without a change";
    Branches = "branches", "show the branch tree: switch branches, name or archive them";
    PreviousBranch = "branch-back", "go back to the previous branch";
    RenameBranch = "branch-name", "name the selected branch";
    AnnotateBranch = "branch-note", "write a note on the selected branch";
    ArchiveBranch = "branch-archive", "archive or unarchive the selected branch; nothing is deleted";
    ShowArchived = "branch-all", "show or hide archived branches";
    Up = "up", "up";
    Down = "down", "down";
    PageUp = "page-up", "page up";
    PageDown = "page-down", "page down";
    Open = "open", "run the proposal in the Story; elsewhere open what is selected";
    ShowDetails = "inspect", "show details of the step or the selected lesson";
    NextPane = "next-pane", "go to the next pane";
    PreviousPane = "previous-pane", "go to the previous pane";
    Zoom = "zoom", "zoom this pane, or unzoom it";
    NextArrangement = "arrange", "change the layout of the panes";
    ToggleTruth = "truth", "show the ground truth (hidden from the agent), or only what the agent may know";
    ToggleReasoning = "reasoning", "fold or unfold the model's reasoning";
    Hint = "hint", "show a path to the goal, if the environment can find one";
    Prompt = "prompt", "show the prompt: what the model sees and where it comes from";
    PromptPreview = "preview", "preview the next prompt with the current lessons; nothing is sent";
    EditPrompt = "prompt-edit", "edit the selected segment of a prompt that is waiting to be sent or whose call failed";
    Search = "search", "search all steps of the session";
    Palette = "palette", "run any action by name; :37 goes to step 37, :2.14 to step 14 of episode 2";
    Help = "help", "show keys and marks";
    EndCard = "result", "show how the episode ended";
    EpisodeList = "tasks", "list the run's episodes: outcome, reason, cost";
    Compare = "compare", "compare this episode with another trial, branch or session";
    OnlyFailed = "only-failed", "list only failed episodes, or all";
    SortRows = "sort", "sort the list by the next column";
    GroupByCause = "group", "group failed episodes by cause, or list them ungrouped";
    Rerun = "rerun", "rerun this episode from its start, in a new session";
    Summary = "summary", "accept or reject lines of the mentor's summary";
    RejectAll = "reject-all", "reject all lines of the summary, or accept all again";
    PlayAgain = "again", "play this task again";
    NextTask = "next", "continue with the next task";
    EndEpisode = "end-episode", "end this episode";
    Export = "export", "write a report of the session";
    Copy = "copy", "copy what is selected";
    NextTheme = "theme", "switch to the next theme";
    ToggleMouse = "mouse", "switch the mouse on or off (while it is off, you can select text in the terminal)";
    Redraw = "redraw", "redraw the screen";
    Suspend = "suspend", "suspend the program";
    Cancel = "cancel", "cancel the call in flight and pause; twice within two seconds: quit";
    Close = "close", "close the topmost overlay";
    Quit = "quit", "one level back; on the main screen: quit and print the resume command";
    Accept = "accept", "accept the text";
    NewLine = "new-line", "insert a new line";
    Editor = "editor", "open the text in $EDITOR";
    NextField = "next-field", "go to the next field, or complete the text";
    PreviousField = "previous-field", "go to the previous field";
    NextMatch = "next-match", "go to the next match";
    PreviousMatch = "previous-match", "go to the previous match";
    ToggleDifference = "difference", "show only what changed since the previous call, or the whole prompt";
}

impl Action {
    /// Returns the action with a name. Older key files call `reject-all` `refuse-all`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "refuse-all" { "reject-all" } else { name };
        Self::ALL.iter().copied().find(|a| a.name() == name)
    }

    /// Returns true if the palette lists the action. Actions that only make sense inside an overlay are left out.
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
                | Self::RejectAll
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
