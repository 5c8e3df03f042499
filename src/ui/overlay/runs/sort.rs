//! The orders of the episode list.

/// Sort order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    /// In the order played.
    #[default]
    Number,
    /// By task, with its trials together.
    Task,
    TaskType,
    /// By end reason, lost episodes first.
    Outcome,
    /// Longest first.
    Steps,
    /// Least progress first.
    Progress,
    /// Most tokens first.
    Tokens,
}

impl Sort {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Number => Self::Task,
            Self::Task => Self::TaskType,
            Self::TaskType => Self::Outcome,
            Self::Outcome => Self::Steps,
            Self::Steps => Self::Progress,
            Self::Progress => Self::Tokens,
            Self::Tokens => Self::Number,
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Number => "as played",
            Self::Task => "by task",
            Self::TaskType => "by type",
            Self::Outcome => "by outcome",
            Self::Steps => "by steps",
            Self::Progress => "by progress",
            Self::Tokens => "by tokens",
        }
    }
}
