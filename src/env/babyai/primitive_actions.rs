//! The primitive actions of the grid. The actions of the text interface are composed of them.

/// A primitive action; the discriminant is the original's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimitiveAction {
    Left,
    Right,
    /// Move one cell ahead, onto an empty cell or through an open door.
    Forward,
    /// Pick up the object ahead.
    PickUp,
    /// Drop the carried object.
    Drop,
    /// Open or close a door, or open a box.
    Toggle,
}
