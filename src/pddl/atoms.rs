//! The ground atoms that can become true, indexed by argument while they are being discovered.
//!
//! An atom is *known* as soon as something can make it true. Known atoms are then *entered* (made visible to joins) one
//! at a time.

use super::error::{PddlError, too_large};
use super::hash::FastMap;
use super::ids::ObjectId;
use super::limits;

/// Marks the end of a chain.
const END_OF_CHAIN: u32 = u32::MAX;

/// Packs a predicate and up to three arguments into one word. Returns `None` if there are more arguments.
pub(super) fn packed_key(predicate: u16, arguments: &[ObjectId]) -> Option<u64> {
    let mut key = u64::from(predicate);
    if arguments.len() > 3 {
        return None;
    }
    for position in 0..3 {
        key = key << 16 | arguments.get(position).map_or(0, |object| u64::from(object.0) + 1);
    }
    Some(key)
}

/// Maps a predicate and its arguments to the atom's index.
#[derive(Clone, Debug, Default)]
pub(super) struct AtomKeys {
    by_packed_key: FastMap<u64, u32>,
    by_long_key: FastMap<Box<[u16]>, u32>,
}

impl AtomKeys {
    #[inline]
    pub(super) fn find(&self, predicate: u16, arguments: &[ObjectId]) -> Option<u32> {
        match packed_key(predicate, arguments) {
            Some(key) => self.by_packed_key.get(&key).copied(),
            None => self.by_long_key.get(&Self::long_key(predicate, arguments)).copied(),
        }
    }

    pub(super) fn insert(&mut self, predicate: u16, arguments: &[ObjectId], atom: u32) {
        match packed_key(predicate, arguments) {
            Some(key) => self.by_packed_key.insert(key, atom),
            None => self.by_long_key.insert(Self::long_key(predicate, arguments), atom),
        };
    }

    /// Applies a renumbering to all atoms.
    pub(super) fn renumber(&mut self, new: &[u32]) {
        for atom in self.by_packed_key.values_mut().chain(self.by_long_key.values_mut()) {
            *atom = new[*atom as usize];
        }
    }

    fn long_key(predicate: u16, arguments: &[ObjectId]) -> Box<[u16]> {
        std::iter::once(predicate).chain(arguments.iter().map(|object| object.0)).collect()
    }
}

/// All atoms known so far.
pub(super) struct Atoms {
    pub(super) keys: AtomKeys,
    predicates: Vec<u16>,
    starts: Vec<u32>,
    arguments: Vec<ObjectId>,
    /// For each argument, the previously entered atom with the same object at the same position.
    previous_with_argument: Vec<u32>,
    /// For each atom, the previously entered atom of the same predicate.
    previous_of_predicate: Vec<u32>,
    newest_of_predicate: Vec<u32>,
    /// By predicate and position: for each object, the newest atom with that object at that position.
    newest_with_argument: Vec<Vec<Vec<u32>>>,
    index_entry_count: usize,
    object_count: usize,
    entered: u32,
}

impl Atoms {
    pub(super) fn new(arities: &[usize], objects: usize) -> Self {
        Self {
            keys: AtomKeys::default(),
            predicates: Vec::new(),
            starts: vec![0],
            arguments: Vec::new(),
            previous_with_argument: Vec::new(),
            previous_of_predicate: Vec::new(),
            newest_of_predicate: vec![END_OF_CHAIN; arities.len()],
            newest_with_argument: arities.iter().map(|&arity| vec![Vec::new(); arity]).collect(),
            index_entry_count: 0,
            object_count: objects,
            entered: 0,
        }
    }

    /// Adds an atom to the known ones and returns its index.
    pub(super) fn add_known(&mut self, predicate: u16, arguments: &[ObjectId]) -> Result<u32, PddlError> {
        if let Some(atom) = self.keys.find(predicate, arguments) {
            return Ok(atom);
        }
        let atom = self.predicates.len() as u32;
        if self.predicates.len() >= limits::ATOMS {
            return Err(too_large("facts that can become true", limits::ATOMS));
        }
        self.keys.insert(predicate, arguments, atom);
        self.predicates.push(predicate);
        self.arguments.extend_from_slice(arguments);
        self.starts.push(self.arguments.len() as u32);
        Ok(atom)
    }

    /// Enters the next known atom, making it visible to joins. Returns `None` once all are entered.
    pub(super) fn enter_next(&mut self) -> Result<Option<u32>, PddlError> {
        let atom = self.entered;
        let Some(&predicate) = self.predicates.get(atom as usize) else { return Ok(None) };
        let predicate = usize::from(predicate);
        let (from, to) = (self.starts[atom as usize] as usize, self.starts[atom as usize + 1] as usize);
        for (position, object) in self.arguments[from..to].iter().enumerate() {
            let heads = &mut self.newest_with_argument[predicate][position];
            if heads.is_empty() {
                self.index_entry_count += self.object_count;
                if self.index_entry_count > limits::INDEX_ENTRIES {
                    return Err(too_large(
                        "index entries (argument positions times objects)",
                        limits::INDEX_ENTRIES,
                    ));
                }
                heads.resize(self.object_count, END_OF_CHAIN);
            }
            self.previous_with_argument.push(std::mem::replace(&mut heads[usize::from(object.0)], atom));
        }
        self.previous_of_predicate.push(std::mem::replace(&mut self.newest_of_predicate[predicate], atom));
        self.entered += 1;
        Ok(Some(atom))
    }

    pub(super) fn len(&self) -> usize {
        self.predicates.len()
    }

    pub(super) fn predicate(&self, atom: u32) -> u16 {
        self.predicates[atom as usize]
    }

    #[inline]
    pub(super) fn arguments(&self, atom: u32) -> &[ObjectId] {
        &self.arguments[self.starts[atom as usize] as usize..self.starts[atom as usize + 1] as usize]
    }

    /// Returns whether this atom has been entered.
    #[inline]
    pub(super) fn is_entered(&self, predicate: u16, arguments: &[ObjectId]) -> bool {
        self.keys.find(predicate, arguments).is_some_and(|atom| atom < self.entered)
    }

    /// Iterates over the entered atoms with `object` at this argument position, newest first.
    #[inline]
    pub(super) fn entered_with(&self, predicate: u16, position: usize, object: ObjectId) -> Chain<'_> {
        let head =
            self.newest_with_argument[usize::from(predicate)][position].get(usize::from(object.0)).copied();
        Chain { atoms: self, next_atom: head.unwrap_or(END_OF_CHAIN), position: Some(position) }
    }

    /// Iterates over the entered atoms of a predicate, newest first.
    #[inline]
    pub(super) fn entered_of(&self, predicate: u16) -> Chain<'_> {
        Chain { atoms: self, next_atom: self.newest_of_predicate[usize::from(predicate)], position: None }
    }
}

/// Iterator over one chain of atoms.
pub(super) struct Chain<'a> {
    atoms: &'a Atoms,
    next_atom: u32,
    /// The argument position of the chain, or `None` for the chain of a whole predicate.
    position: Option<usize>,
}

impl Iterator for Chain<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let atom = self.next_atom;
        if atom == END_OF_CHAIN {
            return None;
        }
        self.next_atom = match self.position {
            Some(position) => {
                self.atoms.previous_with_argument[self.atoms.starts[atom as usize] as usize + position]
            }
            None => self.atoms.previous_of_predicate[atom as usize],
        };
        Some(atom)
    }
}
