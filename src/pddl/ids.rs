//! What a task's things are called: numbers, each of a kind of its own.

/// An object; numbers ascend with the bytes of the names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub(super) u16);

/// A fact of the task; numbers ascend by predicate, then by arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactId(pub(super) u32);

/// An action instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub(super) u32);

/// A predicate, by its place in the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PredicateId(pub(super) u16);

/// An action schema, by its place in the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId(pub(super) u16);

macro_rules! index {
    ($($name:ident),*) => {$(
        impl $name {
            /// The number as an index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
index!(ObjectId, FactId, OpId, PredicateId, ActionId);

impl OpId {
    /// The first instance.
    pub const FIRST: Self = Self(0);

    /// The instance with this index.
    pub fn from_index(index: usize) -> Self {
        Self(index as u32)
    }
}
