//! Typed indexes for the parts of a task.

/// An object. Indexes follow the byte order of the names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub(super) u16);

/// A fact of the task. Indexes are ordered by predicate, then by arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactId(pub(super) u32);

/// An action instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub(super) u32);

/// A predicate, by its position in the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PredicateId(pub(super) u16);

/// An action schema, by its position in the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId(pub(super) u16);

macro_rules! index {
    ($($name:ident),*) => {$(
        impl $name {
            /// Returns the ID as an index.
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

    /// Returns the instance with this index.
    pub fn from_index(index: usize) -> Self {
        Self(index as u32)
    }
}
