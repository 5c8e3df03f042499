//! The questions that a method asks its mentor, and prepared attempts after which it asks them.

use crate::domain::{DefaultValue, Question};
use crate::prompt::ReplyForm;

/// A question that a method asks its mentor.
#[derive(Clone, Copy, Debug)]
pub struct QuestionEntry {
    pub question: Question,
    /// When it is asked, as a phrase such as "after a lost attempt that will be repeated".
    pub when: &'static str,
    /// How its reply is read. The reply to a question that no entry lists is one text.
    pub reply_form: ReplyForm,
    /// A reply of this form, in which `{}` stands for its text.
    pub sample_reply: &'static str,
    /// Attempts in which or after which it is asked.
    pub attempts: PreparedAttempts,
    /// Values of settings with which these attempts lead to it, by name; only used where the run's own values don't.
    pub settings: &'static [(&'static str, DefaultValue)],
}

/// Attempts with chosen outcomes, so that `run --dry-run` can show what is asked after each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreparedAttempts {
    /// Whether each attempt is won, in the order in which they are played; after the last, from the first again.
    pub outcomes: &'static [bool],
    /// The least number of trials per task.
    pub trials: u32,
    /// The number of test tasks.
    pub tasks: u32,
}

impl PreparedAttempts {
    /// One lost attempt.
    pub const LOST: Self = Self { outcomes: &[false], trials: 1, tasks: 1 };
    /// Three lost attempts at one task.
    pub const LOST_REPEATEDLY: Self = Self { trials: 3, ..Self::LOST };
    /// Each task is lost in the first attempt and won in the second.
    pub const LOST_THEN_WON: Self = Self { outcomes: &[false, true], trials: 2, tasks: 1 };
    /// One won attempt at each of two tasks.
    pub const WON: Self = Self { outcomes: &[true], trials: 1, tasks: 2 };
}
