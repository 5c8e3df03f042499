//! The actions of the grid; the text interface makes its own out of these.

/// A low-level action; the number is that of the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimitiveAction {
    /// Turn left.
    Left,
    /// Turn right.
    Right,
    /// One step ahead, into an empty cell or an open door.
    Forward,
    /// Take what lies ahead.
    PickUp,
    /// Lay down what is carried.
    Drop,
    /// Open or close a door, open a box.
    Toggle,
}
