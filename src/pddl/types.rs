//! The type hierarchy and the objects of each type.

use super::bits::Bits;
use super::error::PddlError;
use super::hash::FastMap;
use super::ids::ObjectId;
use super::limits;
use super::model::Model;
use super::names::Name;

/// A type, or a union of types (`either`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub(super) u16);

/// The type hierarchy of one task.
///
/// An undeclared type name is a type without objects, as in the reference implementation: `exists` over it is never
/// true, `forall` always.
#[derive(Clone, Debug, Default)]
pub struct Types {
    names: Vec<String>,
    by_name: FastMap<String, TypeId>,
    children: Vec<Vec<TypeId>>,
    members: Vec<Bits>,
    declared_types: Vec<Option<TypeId>>,
    unions: FastMap<Vec<TypeId>, TypeId>,
}

impl Types {
    /// The root type, an ancestor of every declared type.
    pub const OBJECT: TypeId = TypeId(0);

    /// Builds the hierarchy of a model. `objects` maps the names of its objects to their indexes.
    pub(super) fn from_model(model: &Model, objects: &FastMap<Name, ObjectId>) -> Result<Self, PddlError> {
        let mut types = Self::default();
        types.intern("object", objects.len());
        let word = |name: Name| model.names.text(name);
        let mut parents: Vec<Vec<TypeId>> = Vec::new();
        for &(name, parent) in &model.types {
            let (child, parent) =
                (types.intern(word(name), objects.len()), types.intern(word(parent), objects.len()));
            parents.resize(types.names.len(), Vec::new());
            if child != parent && child != Self::OBJECT {
                parents[usize::from(child.0)].push(parent);
                types.children[usize::from(parent.0)].push(child);
            }
        }
        for object in &model.objects {
            types.intern(word(object.type_name), objects.len());
            if types.names.len() > 2 * limits::TYPES {
                let place = "types of the objects".to_owned();
                return Err(PddlError::TooLarge { place, what: "types", limit: 2 * limits::TYPES as u64 });
            }
        }
        parents.resize(types.names.len(), Vec::new());
        // Types without a parent become children of the root.
        for (index, supertypes) in parents.iter_mut().enumerate().skip(1) {
            if supertypes.is_empty() {
                supertypes.push(Self::OBJECT);
                types.children[0].push(TypeId(index as u16));
            }
        }
        for children in &mut types.children {
            children.sort_by(|left, right| {
                types.names[usize::from(left.0)].cmp(&types.names[usize::from(right.0)])
            });
            children.dedup();
        }
        types.declared_types = vec![None; objects.len()];
        for object in &model.objects {
            let Some(&id) = objects.get(&object.name) else { continue };
            let Some(&kind) = types.by_name.get(word(object.type_name)) else { continue };
            types.declared_types[usize::from(id.0)].get_or_insert(kind);
            let mut pending = vec![kind];
            let mut seen = vec![false; types.names.len()];
            seen[0] = true;
            types.members[0].set(usize::from(id.0), true);
            while let Some(kind) = pending.pop() {
                types.members[usize::from(kind.0)].set(usize::from(id.0), true);
                for &supertype in &parents[usize::from(kind.0)] {
                    if !std::mem::replace(&mut seen[usize::from(supertype.0)], true) {
                        pending.push(supertype);
                    }
                }
            }
        }
        Ok(types)
    }

    fn intern(&mut self, word: &str, objects: usize) -> TypeId {
        if let Some(&id) = self.by_name.get(word) {
            return id;
        }
        let id = TypeId(self.names.len() as u16);
        self.names.push(word.to_owned());
        self.by_name.insert(word.to_owned(), id);
        self.children.push(Vec::new());
        self.members.push(Bits::new(objects));
        id
    }

    /// Returns the type a variable ranges over, creating a union if there are several.
    pub(super) fn type_of_variable(&mut self, words: &[&str], objects: usize) -> TypeId {
        if let [word] = words {
            return self.intern(word, objects);
        }
        let kinds: Vec<TypeId> = words.iter().map(|word| self.intern(word, objects)).collect();
        if let Some(&id) = self.unions.get(&kinds) {
            return id;
        }
        let mut members = Bits::new(objects);
        for kind in &kinds {
            members.union_with(&self.members[usize::from(kind.0)]);
        }
        let id = TypeId(self.names.len() as u16);
        self.names.push(String::new());
        self.children.push(Vec::new());
        self.members.push(members);
        self.unions.insert(kinds, id);
        id
    }

    /// Returns the type with this name, if it occurs in the domain or problem.
    pub fn find(&self, word: &str) -> Option<TypeId> {
        self.by_name.get(word).copied()
    }

    /// Returns a type's name in lower case; empty for a union.
    pub fn name(&self, kind: TypeId) -> &str {
        self.names.get(usize::from(kind.0)).map_or("", String::as_str)
    }

    /// Returns the number of types.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns the type an object was declared with.
    pub fn declared_type(&self, object: ObjectId) -> Option<TypeId> {
        self.declared_types.get(usize::from(object.0)).copied().flatten()
    }

    /// Returns whether the object is of this type or of a subtype.
    #[inline]
    pub fn is_a(&self, object: ObjectId, kind: TypeId) -> bool {
        self.members[usize::from(kind.0)].get(usize::from(object.0))
    }

    /// Iterates over the objects of a type in ascending order.
    pub fn members(&self, kind: TypeId) -> impl Iterator<Item = ObjectId> + '_ {
        self.members[usize::from(kind.0)].ones().map(|at| ObjectId(at as u16))
    }

    /// Returns all proper subtypes, sorted by name.
    pub fn subtypes(&self, kind: TypeId) -> Vec<TypeId> {
        let mut subtypes = self.children[usize::from(kind.0)].clone();
        let mut next = 0;
        while let Some(&kind) = subtypes.get(next) {
            for child in &self.children[usize::from(kind.0)] {
                if !subtypes.contains(child) {
                    subtypes.push(*child);
                }
            }
            next += 1;
        }
        subtypes.retain(|&subtype| subtype != kind);
        subtypes
            .sort_by(|left, right| self.names[usize::from(left.0)].cmp(&self.names[usize::from(right.0)]));
        subtypes
    }
}
