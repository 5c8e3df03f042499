//! Roles: what a part of the screen means. Panes name roles; only themes name colours.

use crate::domain::PictureRole;

macro_rules! roles {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal,)*) => {
        /// The meaning of a part of the screen. Its style falls back along its dotted name: from `mark.mistake` to
        /// `mark`, then to `text`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Role {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Role {
            /// All roles.
            pub const ALL: &'static [Role] = &[$(Role::$variant),*];

            /// Returns the name in theme files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Role::$variant => $name,)*
                }
            }
        }
    };
}

roles! {
    /// The background; its colours fill the whole screen.
    Background = "ground",
    /// Plain text.
    Text = "text",
    /// Secondary text.
    Muted = "muted",
    /// Headings.
    Title = "title",
    /// The heading of the focused pane.
    TitleFocus = "title.focus",
    /// Frames.
    Frame = "frame",
    /// The frame of the focused pane.
    FrameFocus = "frame.focus",
    /// Frames and text while the past is shown.
    FramePast = "frame.past",
    /// Frames of overlays.
    FrameOverlay = "frame.overlay",
    /// The selected row, as a whole.
    Selection = "selection",
    /// A selected part of a row, such as the title of a page or a value between arrows.
    SelectedPart = "selection.part",
    /// A key that can be pressed.
    Key = "key",
    /// An observation.
    Observation = "observation",
    /// The observation after an action that changed nothing.
    ObservationFailed = "observation.failed",
    /// A thought of the agent.
    Thought = "thought",
    /// Reasoning that a model shows before its answer.
    Reasoning = "thought.reasoning",
    /// An executed action.
    Action = "action",
    /// A proposed action.
    Proposal = "proposal",
    /// A proposed action that another one replaced.
    ProposalReplaced = "proposal.replaced",
    /// What a person did: overrides, remarks, edited text.
    Person = "human",
    /// Something went well.
    Good = "good",
    /// Something went wrong.
    Bad = "bad",
    /// Something needs care.
    Warning = "warning",
    /// Something will be lost or break unless the person acts.
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
    /// The filled part of the progress bar.
    ProgressFull = "progress.full",
    /// The rest of the progress bar.
    ProgressEmpty = "progress.empty",
    /// A mark on the timeline.
    Mark = "mark",
    /// The sign before an executed action.
    ActionMark = "mark.action",
    /// The word before a thought.
    ThoughtMark = "mark.thought",
    /// The mark of a subgoal.
    MarkProgress = "mark.progress",
    /// The mark of a mistake.
    MarkMistake = "mark.mistake",
    /// The mark of a reflection.
    MarkReflection = "mark.reflection",
    /// The mark of a human intervention.
    MarkPerson = "mark.human",
    /// The mark of a breakpoint or watch.
    MarkBreakpoint = "mark.stop",
    /// The mark of the selected step.
    MarkNow = "mark.now",
    /// The mode in the first row.
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
    /// A coloured object in a grid world; its letter shows the colour too.
    Thing = "thing",
    /// A red object.
    ThingRed = "thing.red",
    /// A green object.
    ThingGreen = "thing.green",
    /// A blue object.
    ThingBlue = "thing.blue",
    /// A purple object.
    ThingPurple = "thing.purple",
    /// A yellow object.
    ThingYellow = "thing.yellow",
    /// A grey object.
    ThingGrey = "thing.grey",
    /// The agent, in a picture of the environment.
    ThingAgent = "thing.agent",
    /// A thing or place that the goal names, in a picture of the environment.
    ThingGoal = "thing.goal",
    /// A search match.
    Search = "search",
    /// The current search match.
    SearchCurrent = "search.current",
    /// Text that can be typed into.
    Input = "input",
    /// The cursor in such text.
    InputCursor = "input.cursor",
    /// Added words in a comparison.
    Added = "diff.added",
    /// Removed words in a comparison.
    Removed = "diff.removed",
    /// The left side of a comparison of two episodes.
    SideA = "compare.a",
    /// The right side of a comparison of two episodes.
    SideB = "compare.b",
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
    /// Returns the role that theme files call `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|r| r.name() == name)
    }
}

/// The role whose style a piece of a picture has.
impl From<PictureRole> for Role {
    fn from(role: PictureRole) -> Self {
        match role {
            PictureRole::Text => Self::Text,
            PictureRole::Muted => Self::Muted,
            PictureRole::Title => Self::Title,
            PictureRole::Agent => Self::ThingAgent,
            PictureRole::Frame => Self::Frame,
            PictureRole::Observation => Self::Observation,
            PictureRole::Accent => Self::Proposal,
            PictureRole::Goal => Self::ThingGoal,
            PictureRole::Good => Self::Good,
            PictureRole::Warning => Self::Warning,
            PictureRole::Red => Self::ThingRed,
            PictureRole::Green => Self::ThingGreen,
            PictureRole::Blue => Self::ThingBlue,
            PictureRole::Purple => Self::ThingPurple,
            PictureRole::Yellow => Self::ThingYellow,
            PictureRole::Grey => Self::ThingGrey,
        }
    }
}
