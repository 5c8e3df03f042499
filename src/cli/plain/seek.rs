//! Movement through past steps.

/// Where to move the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seek {
    /// This many steps back from the viewed step.
    Back(u32),
    /// This many steps forward.
    Forward(u32),
    /// To the present.
    Live,
}
