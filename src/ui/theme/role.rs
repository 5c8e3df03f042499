//! What a piece of the screen means. Panes name roles; only themes name colours.

macro_rules! roles {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal,)*) => {
        /// The meaning of a piece of the screen. Its name falls back by its dots: `mark.mistake` to `mark`, then to `text`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Role {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Role {
            /// Every role.
            pub const ALL: &'static [Role] = &[$(Role::$variant),*];

            /// Its name in theme files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Role::$variant => $name,)*
                }
            }
        }
    };
}

roles! {
    /// The ground everything else stands on: its colours fill the whole screen.
    Background = "ground",
    /// Plain text.
    Text = "text",
    /// Text of second rank.
    Muted = "muted",
    /// Headings.
    Title = "title",
    /// The heading of the pane that has the keys.
    TitleFocus = "title.focus",
    /// Frames.
    Frame = "frame",
    /// The frame of the pane that has the keys.
    FrameFocus = "frame.focus",
    /// Frames and words while the past is shown.
    FramePast = "frame.past",
    /// Frames of what lies over the panes.
    FrameOverlay = "frame.overlay",
    /// The chosen row.
    Selection = "selection",
    /// A key that can be pressed.
    Key = "key",
    /// What the world said.
    Observation = "observation",
    /// What the world said when an action changed nothing.
    ObservationFailed = "observation.failed",
    /// What the agent thought.
    Thought = "thought",
    /// Reasoning that a model shows before its answer.
    Reasoning = "thought.reasoning",
    /// What the agent did.
    Action = "action",
    /// What the agent wants to do next.
    Proposal = "proposal",
    /// A person's hand: overridden actions, remarks, edited text.
    Person = "human",
    /// Something went well.
    Good = "good",
    /// Something went wrong.
    Bad = "bad",
    /// Something needs care.
    Warning = "warning",
    /// Something is lost or broken if nothing is done.
    Danger = "danger",
    /// A reflection of any kind.
    Reflection = "reflection",
    /// Abstract reflections and lessons.
    Abstract = "reflection.abstract",
    /// Error reflections and lessons.
    Error = "reflection.error",
    /// Progress reflections and lessons.
    Progress = "reflection.progress",
    /// A lesson.
    Lesson = "lesson",
    /// What to do instead of the mistake that a lesson names.
    LessonSolution = "lesson.solution",
    /// A lesson that no prompt has used yet.
    LessonNew = "lesson.new",
    /// A lesson that is switched off.
    LessonOff = "lesson.off",
    /// A pinned lesson.
    LessonPinned = "lesson.pinned",
    /// The reached part of the progress bar.
    ProgressFull = "progress.full",
    /// The rest of the progress bar.
    ProgressEmpty = "progress.empty",
    /// A mark on the time line.
    Mark = "mark",
    /// The mark of a subgoal.
    MarkProgress = "mark.progress",
    /// The mark of a mistake.
    MarkMistake = "mark.mistake",
    /// The mark of a reflection.
    MarkReflection = "mark.reflection",
    /// The mark of a person's hand.
    MarkPerson = "mark.human",
    /// The mark of a breakpoint or watch.
    MarkBreakpoint = "mark.stop",
    /// The mark of the chosen moment.
    MarkNow = "mark.now",
    /// The word that tells the mode.
    Mode = "mode",
    /// PAUSED.
    ModePaused = "mode.paused",
    /// STOPPED.
    ModeStopped = "mode.stopped",
    /// RUNNING.
    ModeRunning = "mode.running",
    /// THINKING.
    ModeThinking = "mode.thinking",
    /// CONFIRM.
    ModeConfirm = "mode.confirm",
    /// YOU PLAY.
    ModeHuman = "mode.human",
    /// PAST.
    ModePast = "mode.past",
    /// A coloured thing of a grid world; its letter tells the colour too.
    Thing = "thing",
    /// A red thing.
    ThingRed = "thing.red",
    /// A green thing.
    ThingGreen = "thing.green",
    /// A blue thing.
    ThingBlue = "thing.blue",
    /// A purple thing.
    ThingPurple = "thing.purple",
    /// A yellow thing.
    ThingYellow = "thing.yellow",
    /// A grey thing.
    ThingGrey = "thing.grey",
    /// Found words.
    Search = "search",
    /// The found words one stands at.
    SearchCurrent = "search.current",
    /// Text that can be typed into.
    Input = "input",
    /// The cursor in such text.
    InputCursor = "input.cursor",
    /// Added words in a comparison.
    Added = "diff.added",
    /// Removed words in a comparison.
    Removed = "diff.removed",
    /// A segment of a prompt, of any origin.
    Origin = "origin",
    /// Segment: instruction.
    OriginInstruction = "origin.instruction",
    /// Segment: guidance about the environment.
    OriginGuidance = "origin.guidance",
    /// Segment: Abstract lessons.
    OriginAbstract = "origin.abstract",
    /// Segment: Error lessons.
    OriginError = "origin.error",
    /// Segment: Progress lessons.
    OriginProgress = "origin.progress",
    /// Segment: memory of earlier trials.
    OriginMemory = "origin.memory",
    /// Segment: example.
    OriginExample = "origin.example",
    /// Segment: task.
    OriginTask = "origin.task",
    /// Segment: thought.
    OriginThought = "origin.thought",
    /// Segment: action.
    OriginAction = "origin.action",
    /// Segment: observation.
    OriginObservation = "origin.observation",
    /// Segment: human edit or rejection.
    OriginPerson = "origin.human",
}

impl Role {
    /// A role by its name in theme files.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|r| r.name() == name)
    }

    /// Frames, bars and marks: drawn, not read, so that a contrast of 3:1 is enough (WCAG 2.2, 1.4.11).
    pub fn is_drawn(self) -> bool {
        let name = self.name();
        name.starts_with("frame") || name.starts_with("mark") || name.starts_with("progress.")
    }
}
