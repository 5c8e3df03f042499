//! What a person can do: the actions of the screen and the verbs of `--plain`, each with its name and what it does. The
//! keymap, the palette and the command lines of `--plain` are built from these two tables.

mod verb;

pub use verb::{HelpPlace, Verb, find_word};

use PlainForm::{Does, Instead, ScreenOnly};

/// What a line of `--plain` that begins with an action's name does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainForm {
    /// The name is a word for this verb.
    Does(Verb),
    /// It needs the screen; this says what to do in its place.
    Instead(&'static str),
    /// It only changes the view, so nothing takes its place.
    ScreenOnly,
}

/// Whether the palette lists an action.
enum InPalette {
    Listed,
    Hidden,
}

macro_rules! actions {
    ($($variant:ident = $name:literal, $palette:ident, $about:literal, $plain:expr;)*) => {
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

            /// Returns the name in key files, in the palette and in `--plain`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Action::$variant => $name,)*
                    Action::Pane(digit) => PANE_NAMES[if digit < 10 { digit as usize } else { 0 }],
                }
            }

            /// Returns true if the palette lists it. Moves of the selection, the palette itself and actions that only make
            /// sense inside an overlay are left out.
            pub const fn is_in_palette(self) -> bool {
                match self {
                    $(Action::$variant => matches!(InPalette::$palette, InPalette::Listed),)*
                    Action::Pane(_) => true,
                }
            }

            /// Returns a short description of what it does.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Action::$variant => $about,)*
                    Action::Pane(_) => "go to the pane with this digit",
                }
            }

            /// Returns what its name does in `--plain`.
            pub const fn plain_form(self) -> PlainForm {
                match self {
                    $(Action::$variant => $plain,)*
                    Action::Pane(_) => ScreenOnly,
                }
            }
        }
    };
}

const PANE_NAMES: [&str; 10] =
    ["pane-0", "pane-1", "pane-2", "pane-3", "pane-4", "pane-5", "pane-6", "pane-7", "pane-8", "pane-9"];

// Name, palette, description, what it does in `--plain`.
actions! {
    Step = "step", Listed, "run the proposed action and stop at the next proposal", Does(Verb::Step);
    StepStage = "stage", Listed, "advance one stage: prompt, reply, decision, observation, reflection", Does(Verb::Stage);
    PauseRun = "pause-run", Listed, "pause, or run without stopping; in a read-only session: play or pause the recording", Does(Verb::PauseRun);
    Faster = "faster", Listed, "speed up: the playback of a read-only session, or a run whose actor isn't a model", ScreenOnly;
    Slower = "slower", Listed, "slow down: the playback of a read-only session, or a run whose actor isn't a model", ScreenOnly;
    ToggleConfirm = "confirm", Listed, "stop at every proposal: on or off", Does(Verb::Confirm);
    ToggleHuman = "play", Listed, "play yourself, or hand control back to the agent", Does(Verb::Play);
    Override = "override", Listed, "replace the proposed action, or that of a past step, from the list of actions", Does(Verb::Override);
    RejectOrToggle = "reject", Listed, "reject the proposal; switch a lesson on or off", Does(Verb::Reject);
    ChangeShownAs = "override-shown-as", Hidden, "change how your action is shown to the agent in later prompts", Instead("`set override.shown_as own` (as the agent's own action) or `human_edit`");
    ChangeOverriddenThought = "override-thought", Hidden, "change what happens to the thought before your action", Instead("`set override.thought kept`, `dropped` or `rewritten`");
    AskAgain = "ask-again", Listed, "retry this step with the current lessons", Does(Verb::AskAgain);
    Sample = "sample", Listed, "sample the prompt of this step: ask for several more proposals without executing any", Instead("`ask-again` asks for another proposal in place of this one");
    SampleLesson = "sample-lesson", Listed, "ask what the actor would propose at this step without (or with) the selected lesson; nothing is executed", Instead("`retrospect lessons test`");
    ForkSamples = "sample-fork", Hidden, "start a branch for each distinct proposal", Instead("`fork N`, then `override ACTION`");
    MoreSamples = "sample-more", Hidden, "ask for one more sample at a time", ScreenOnly;
    FewerSamples = "sample-fewer", Hidden, "ask for one sample fewer at a time", ScreenOnly;
    Retry = "retry", Listed, "retry the failed call or write", Does(Verb::Retry);
    GiveUp = "give-up", Listed, "continue without the reply of a failed or cancelled call: a reflection is skipped, a step waits for you", Does(Verb::GiveUp);
    ChangeModel = "model", Listed, "change the actor's or mentor's model or sampling, from the next request on", Does(Verb::Model);
    UseRecordedReply = "recorded", Listed, "use a recorded reply instead of a failed call (marked as recorded)", Does(Verb::Recorded);
    Breakpoints = "breaks", Listed, "list breakpoints and watches, and set new ones", Does(Verb::Breaks);
    AddBreakpoint = "break-add", Hidden, "add a breakpoint", Instead("`break CONDITION`");
    EditBreakpoint = "break-edit", Hidden, "edit the selected breakpoint", Does(Verb::BreakEdit);
    ToggleBreakpoint = "break-toggle", Hidden, "switch the selected breakpoint on or off", Instead("`break-on N` and `break-off N`");
    ToggleOneShot = "break-once", Hidden, "switch one-shot on or off: the first hit switches the breakpoint off", Instead("`break once CONDITION`");
    ToggleWatch = "break-warn", Hidden, "switch between breakpoint and watch (a watch marks the step but doesn't pause)", Instead("`watch CONDITION`");
    DeleteBreakpoint = "break-delete", Hidden, "delete the selected breakpoint", Does(Verb::BreakDelete);
    Remark = "remark", Listed, "write a remark on this step", Does(Verb::Note);
    AddLesson = "lesson-add", Listed, "add a lesson", Does(Verb::Lesson);
    LessonFromOverride = "lesson-from-override", Listed, "add a lesson prefilled from the last override", Instead("`lesson MISTAKE -> SOLUTION`");
    AcceptAsLesson = "lesson-accept", Hidden, "keep a dropped item of the reflection as a lesson", Does(Verb::LessonAccept);
    SavedLessons = "lessons-saved", Listed, "search the lessons of saved pools and other sessions, and take one over into this run", Instead("`retrospect lessons list`, then `lesson TEXT`");
    PromoteLesson = "lesson-promote", Listed, "save the selected lesson in a pool file", Instead("quit, then `retrospect lessons promote SESSION --lesson N`");
    PromoteLessons = "lessons-promote", Listed, "save all lessons of the run in a pool file", Instead("quit, then `retrospect lessons promote SESSION`");
    EditLesson = "lesson-edit", Listed, "edit the selected lesson", Does(Verb::Edit);
    PinLesson = "lesson-pin", Listed, "pin or unpin the selected lesson", Does(Verb::Pin);
    ChangeLessonScope = "lesson-scope", Listed, "change the scope of the selected lesson", Does(Verb::Scope);
    MoveLessonUp = "lesson-up", Listed, "move the selected lesson up", Instead("`move N PLACE`");
    MoveLessonDown = "lesson-down", Listed, "move the selected lesson down", Instead("`move N PLACE`");
    DeleteLesson = "lesson-delete", Listed, "delete the selected lesson", Does(Verb::Delete);
    MeasureEffect = "effect", Listed, "measure whether a lesson helps, here and elsewhere", Instead("quit, then `retrospect lessons effect --session PATH --lesson L`");
    LessonHealth = "lesson-health", Listed, "check the lessons: those that say the same or the opposite, repeated advice, unused and disobeyed ones", Instead("quit, then `retrospect lessons health SESSION`");
    KeepTest = "lesson-test", Listed, "keep this decision as a test for lessons, which `lessons test` replays", Instead("`retrospect lessons test` replays the decisions kept on the screen");
    MergeLessons = "lesson-merge", Hidden, "merge two lessons: keep yours, the pinned or the older one, and retire the other", Instead("`delete N`");
    ChangeEffectPlace = "effect-place", Hidden, "measure from the start of the episode instead of from this step", Instead("quit, then `retrospect lessons effect`");
    ChangeEffectMode = "effect-live", Hidden, "let the method reflect in every arm (live), or not (frozen)", Instead("quit, then `retrospect lessons effect --live`");
    EditEffectWording = "effect-wording", Hidden, "measure another wording of the lesson as well", Instead("quit, then `retrospect lessons effect --edited TEXT`");
    TakeWording = "effect-take", Hidden, "give the lesson the measured wording, if it has done better", Instead("`edit N`");
    EditEffectBudget = "effect-budget", Hidden, "limit what the measurement may cost: time, calls, tokens or money", Instead("quit, then `retrospect lessons effect --minutes N`");
    MorePairs = "effect-more", Hidden, "measure twice as many pairs", Instead("quit, then `retrospect lessons effect --pairs N`");
    FewerPairs = "effect-fewer", Hidden, "measure half as many pairs", Instead("quit, then `retrospect lessons effect --pairs N`");
    RenewEffect = "effect-restart", Hidden, "measure from the present moment with the present lessons, if the measurement began at another", Instead("quit, then `retrospect lessons effect`");
    TeachAndMeasure = "lesson-measure", Hidden, "save the lesson and measure whether it helps", Instead("`lesson TEXT`; quit, then `retrospect lessons effect --session PATH --lesson L`");
    StopEffect = "effect-stop", Hidden, "stop the measurement; it can be continued", Instead("quit, then `retrospect lessons effect`");
    Undo = "undo", Listed, "undo your last change; if it can't be undone and an older one can, press again to undo that", Does(Verb::Undo);
    Redo = "redo", Listed, "redo the undone change", Does(Verb::Redo);
    ReflectNow = "reflect", Listed, "call the mentor for a reflection now", Does(Verb::Reflect);
    Back = "back", Listed, "one step back in time", Does(Verb::Back);
    Forward = "forward", Listed, "one step forward in time", Does(Verb::Forward);
    PreviousMark = "previous-mark", Listed, "go to the previous mark", Instead("`story N` shows a step");
    NextMark = "next-mark", Listed, "go to the next mark", Instead("`story N` shows a step");
    PreviousEpisode = "previous-episode", Listed, "go to the start of the previous episode", Instead("`story N` shows a step");
    NextEpisode = "next-episode", Listed, "go to the start of the next episode", Instead("`story N` shows a step");
    FilterMarks = "marks", Listed, "choose the marks that < and > stop at: reflections, overrides, mistakes, progress, remarks, breakpoints", Instead("`story N` shows a step");
    OnlyThisMark = "only-this", Hidden, "stop only at marks of the selected kind, or at all kinds", ScreenOnly;
    EpisodeStart = "first", Listed, "go to the start of the episode", Instead("`story N` shows a step");
    Live = "live", Listed, "go to the present; in an overlay: go to the end", Does(Verb::Live);
    LastProgress = "last-progress", Listed, "go to the last step that made progress", Instead("`story N` shows a step");
    FirstMistake = "first-mistake", Listed, "go to the first mistake of the episode", Instead("`story N` shows a step");
    Fork = "fork", Listed, "continue from the step shown on a new branch, with or without a change", Does(Verb::Fork);
    Branches = "branches", Listed, "show the branch tree: switch branches, name or archive them", Does(Verb::Branches);
    PreviousBranch = "branch-back", Hidden, "go back to the previous branch", Instead("`switch B`");
    RenameBranch = "branch-name", Hidden, "name the selected branch", Does(Verb::BranchName);
    AnnotateBranch = "branch-note", Hidden, "write a note on the selected branch", Does(Verb::BranchNote);
    ArchiveBranch = "branch-archive", Hidden, "archive or unarchive the selected branch; nothing is deleted", Instead("`archive B` and `unarchive B`");
    ShowArchived = "branch-all", Hidden, "show or hide archived branches", Instead("`branches`");
    Up = "up", Hidden, "up", ScreenOnly;
    Down = "down", Hidden, "down", ScreenOnly;
    PageUp = "page-up", Hidden, "page up", ScreenOnly;
    PageDown = "page-down", Hidden, "page down", ScreenOnly;
    Open = "open", Listed, "run the proposal in the Story; elsewhere open what is selected", Does(Verb::Step);
    ShowDetails = "inspect", Listed, "show details of the step or the selected lesson", Does(Verb::Story);
    NextPane = "next-pane", Listed, "go to the next pane", ScreenOnly;
    PreviousPane = "previous-pane", Listed, "go to the previous pane", ScreenOnly;
    Zoom = "zoom", Listed, "zoom this pane, or unzoom it", ScreenOnly;
    NextArrangement = "arrange", Listed, "change the layout of the panes", ScreenOnly;
    ToggleStageMode = "stage-mode", Listed, "show the screen for an audience, or the whole screen: large, with the pressed keys, without hosts and paths", ScreenOnly;
    ToggleTruth = "truth", Listed, "show the ground truth (hidden from the agent), or only what the agent may know", Instead("`world` shows what the agent may know");
    ToggleReasoning = "reasoning", Listed, "fold or unfold the model's reasoning, and reflections such as plans", ScreenOnly;
    Hint = "hint", Listed, "show a path to the goal, if the environment can find one", Does(Verb::Hint);
    ProgramOutput = "output", Listed, "show what the environment's program has printed, if it is another program", Does(Verb::Output);
    Prompt = "prompt", Listed, "show the prompt: what the model sees and where it comes from", Does(Verb::Prompt);
    PromptPreview = "preview", Listed, "preview the next prompt with the current lessons; nothing is sent", Instead("`prompt` shows the last prompt sent");
    EditPrompt = "prompt-edit", Hidden, "edit the selected segment of a prompt that is waiting to be sent or whose call failed", Does(Verb::PromptEdit);
    Search = "search", Listed, "search all episodes of this branch", Instead("`story N` shows a step");
    Palette = "palette", Hidden, "run any action by name; :37 goes to step 37, :2.14 to step 14 of episode 2", ScreenOnly;
    Help = "help", Listed, "show keys and marks", Does(Verb::Help);
    SearchPicture = "search-picture", Listed, "show the search of a method that tunes its advice: the reward of each evaluation, and the vectors that were tried", Instead("quit, then `retrospect export SESSION --format html`");
    EndCard = "result", Listed, "show how the episode ended", Instead("`story` and `world`");
    EpisodeList = "tasks", Listed, "list the run's episodes: outcome, reason, cost", Instead("quit, then `retrospect report`");
    Compare = "compare", Listed, "compare this episode with another trial, branch or session", Instead("quit, then `retrospect diff A B`");
    OnlyFailed = "only-failed", Hidden, "list only failed episodes, or all", Instead("quit, then `retrospect report`");
    SortRows = "sort", Hidden, "sort the list by the next column", Instead("quit, then `retrospect report`");
    GroupByCause = "group", Hidden, "group failed episodes by cause, or list them ungrouped", Instead("quit, then `retrospect report`");
    Rerun = "rerun", Hidden, "rerun this episode from its start, in a new session", Instead("quit, then `retrospect rerun SESSION#N`");
    Summary = "summary", Listed, "accept or reject lines of the mentor's summary", Does(Verb::Summary);
    RejectAll = "reject-all", Hidden, "reject all lines of the summary, or accept all again", Instead("`refuse`");
    PlayAgain = "again", Listed, "play this task again", Does(Verb::Again);
    NextTask = "next", Listed, "continue with the next task", Does(Verb::Step);
    EndEpisode = "end-episode", Listed, "end this episode", Does(Verb::End);
    Export = "export", Listed, "write a report of the session", Instead("quit, then `retrospect export`");
    ExportMarkdown = "export-markdown", Listed, "write the session as Markdown", Instead("quit, then `retrospect export --format markdown`");
    ExportPicture = "export-picture", Listed, "write a picture of the screen (SVG); in stage mode without hosts and paths. The command `export --format cast-svg` records the session as an animated one", Instead("quit, then `retrospect export SESSION --format svg`");
    Copy = "copy", Listed, "copy what is selected", ScreenOnly;
    CopyRequest = "copy-request", Listed, "copy the request of the step as JSON", Instead("`prompt` shows the prompt");
    CopyCurl = "copy-curl", Listed, "copy the request of the step as a curl command, without keys", Instead("`prompt` shows the prompt");
    NextTheme = "theme", Listed, "switch to the next theme; in the palette, `theme light` chooses one", ScreenOnly;
    ToggleMouse = "mouse", Listed, "switch the mouse on or off (while it is off, you can select text in the terminal)", ScreenOnly;
    Redraw = "redraw", Listed, "redraw the screen", ScreenOnly;
    Suspend = "suspend", Listed, "suspend the program", Instead("Ctrl-Z");
    Cancel = "cancel", Listed, "cancel the call in flight and pause; twice within two seconds: quit", Does(Verb::Cancel);
    Close = "close", Hidden, "close the topmost overlay", ScreenOnly;
    Quit = "quit", Listed, "one level back; on the main screen: quit and print the resume command", Does(Verb::Quit);
    Accept = "accept", Hidden, "accept the text", Does(Verb::Accept);
    AcceptTyped = "accept-typed", Hidden, "run the text as typed, whatever the list selects; in a program, insert a new line", Instead("`override ACTION` runs any text");
    NewLine = "new-line", Hidden, "insert a new line", ScreenOnly;
    Editor = "editor", Hidden, "open the text in $EDITOR", ScreenOnly;
    NextField = "next-field", Hidden, "go to the next field, or complete the text", ScreenOnly;
    PreviousField = "previous-field", Hidden, "go to the previous field", ScreenOnly;
    NextMatch = "next-match", Hidden, "go to the next match", ScreenOnly;
    PreviousMatch = "previous-match", Hidden, "go to the previous match", ScreenOnly;
    ToggleDifference = "difference", Hidden, "show only what changed since the previous call, or the whole prompt", Instead("`prompt`");
}

impl Action {
    /// Returns the action with a name. Older key files call `reject-all` `refuse-all`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "refuse-all" { "reject-all" } else { name };
        Self::ALL.iter().copied().find(|a| a.name() == name)
    }
}

#[cfg(test)]
mod tests;
