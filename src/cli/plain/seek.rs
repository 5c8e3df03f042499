//! Where a person looks.

/// Where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seek {
    /// So many steps back from what is looked at.
    Back(u32),
    /// So many steps forward.
    Forward(u32),
    /// The present.
    Live,
}
