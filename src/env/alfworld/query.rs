//! Compiled queries over the text fact store. Each atom of a query reads a view. A view lists the facts that the atom
//! can match, in the order TextWorld tries them, with an index per argument.

use super::grammar::FactPattern;
use super::limits;
use super::located_error::LocatedError;
use crate::pddl::{Bits, FactId, FastMap, FastSet, ObjectId, PredicateId, Task, TypeId};

/// A placeholder name, numbered over the whole grammar.
pub(super) type NameSlot = u16;
/// A placeholder name with its type, numbered over the whole grammar.
pub(super) type TypedSlot = u16;

/// The facts that texts are expanded from, kept separately from the grounded state. Starts with the initial facts; a
/// fact counts as denied only after it was deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TextFacts {
    /// Facts known to be true.
    pub(super) stated: Bits,
    /// Facts that were explicitly deleted.
    pub(super) denied: Bits,
}

impl TextFacts {
    #[inline]
    pub(super) fn holds(&self, fact: FactId, denied: bool) -> bool {
        if denied { self.denied.get(fact.index()) } else { self.stated.get(fact.index()) }
    }

    /// Records a fact as true or as explicitly false.
    pub(super) fn record(&mut self, fact: FactId, now: bool) {
        self.stated.set(fact.index(), now);
        self.denied.set(fact.index(), !now);
    }
}

/// A compiled query.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) facts: Vec<QueryFact>,
    /// The distinct placeholders in order of appearance.
    pub(super) slots: Vec<TypedSlot>,
}

/// A compiled atom of a query.
#[derive(Clone, Debug)]
pub(super) struct QueryFact {
    /// `None` if no fact can ever match.
    pub(super) view: Option<u32>,
    pub(super) is_denied: bool,
    pub(super) slots: Vec<TypedSlot>,
}

/// The facts that one atom of a query can match.
#[derive(Clone, Debug)]
pub(super) struct View {
    order: Vec<FactId>,
    by_position: Vec<Index>,
}

/// For each object, the facts with that object at one position, in the order of the view.
#[derive(Clone, Debug)]
struct Index {
    starts: Vec<u32>,
    facts: Vec<FactId>,
}

impl View {
    /// Returns all facts of the view.
    pub(super) fn facts(&self) -> &[FactId] {
        &self.order
    }

    /// Returns the facts with `object` at this argument position.
    #[inline]
    pub(super) fn facts_with(&self, position: usize, object: ObjectId) -> &[FactId] {
        let index = &self.by_position[position];
        &index.facts[index.starts[object.index()] as usize..index.starts[object.index() + 1] as usize]
    }

    fn new(task: &Task, predicate: PredicateId, kinds: &[TypeId]) -> Result<Self, LocatedError> {
        let mut by_signature: FastMap<Vec<TypeId>, Vec<FactId>> = FastMap::default();
        for fact in task.facts_of(predicate) {
            let declared = task.arguments(fact).iter().map(|&object| task.types().declared_type(object));
            if let Some(signature) = declared.collect::<Option<Vec<TypeId>>>() {
                by_signature.entry(signature).or_default().push(fact);
            }
        }
        let mut order = Vec::new();
        for signature in signatures(task, kinds)? {
            if let Some(facts) = by_signature.get(&signature) {
                order.extend_from_slice(facts);
                if order.len() > limits::INDEX_ENTRIES {
                    return Err(LocatedError::new("grammar", "its queries match too many facts"));
                }
            }
        }
        let by_position = (0..kinds.len()).map(|position| Index::new(task, &order, position)).collect();
        Ok(Self { order, by_position })
    }
}

/// Returns the signatures that placeholders of these types match, in the order in which TextWorld tries them: breadth
/// first, replacing the type at one position at a time by each of its subtypes, in alphabetical order. TextWorld
/// doesn't record the results of the first round as seen, so with more than one level of subtypes some signatures, and
/// their facts, occur twice.
fn signatures(task: &Task, kinds: &[TypeId]) -> Result<Vec<Vec<TypeId>>, LocatedError> {
    let mut below: FastMap<TypeId, Vec<TypeId>> = FastMap::default();
    let mut seen: FastSet<Vec<TypeId>> = FastSet::default();
    let mut order = vec![kinds.to_vec()];
    let (mut at, mut work) = (0, 0);
    while let Some(signature) = order.get(at).cloned() {
        for (position, &kind) in signature.iter().enumerate() {
            for &lower in below.entry(kind).or_insert_with(|| task.types().subtypes(kind)).iter() {
                let mut next = signature.clone();
                next[position] = lower;
                if at == 0 || seen.insert(next.clone()) {
                    order.push(next);
                }
                work += 1;
                if work > limits::SIGNATURES {
                    return Err(LocatedError::new("grammar", "its queries span too many types"));
                }
            }
        }
        at += 1;
    }
    Ok(order)
}

impl Index {
    fn new(task: &Task, order: &[FactId], position: usize) -> Self {
        let mut starts = vec![0_u32; task.object_count() + 1];
        let object_at = |fact: FactId| task.arguments(fact)[position].index();
        for &fact in order {
            starts[object_at(fact) + 1] += 1;
        }
        for object in 0..task.object_count() {
            starts[object + 1] += starts[object];
        }
        let mut next = starts.clone();
        let mut facts = order.to_vec();
        for &fact in order {
            let slot = &mut next[object_at(fact)];
            facts[*slot as usize] = fact;
            *slot += 1;
        }
        Self { starts, facts }
    }
}

/// Numbers placeholders and creates views while a grammar is compiled.
#[derive(Debug, Default)]
pub(super) struct Slots {
    pub(super) names: FastMap<String, NameSlot>,
    typed: FastMap<(NameSlot, TypeId), TypedSlot>,
    /// The name of each typed slot.
    pub(super) name_of: Vec<NameSlot>,
    view_numbers: FastMap<(PredicateId, Vec<TypeId>), u32>,
    pub(super) views: Vec<View>,
    index_entry_count: usize,
}

impl Slots {
    pub(super) fn name_slot(&mut self, name: &str) -> Result<NameSlot, LocatedError> {
        if let Some(&slot) = self.names.get(name) {
            return Ok(slot);
        }
        let slot = NameSlot::try_from(self.names.len())
            .map_err(|_| LocatedError::new("grammar", "more than 65535 different placeholders"))?;
        self.names.insert(name.to_owned(), slot);
        Ok(slot)
    }

    pub(super) fn typed_slot(&mut self, name: &str, kind: TypeId) -> Result<TypedSlot, LocatedError> {
        let name = self.name_slot(name)?;
        if let Some(&slot) = self.typed.get(&(name, kind)) {
            return Ok(slot);
        }
        let slot = TypedSlot::try_from(self.name_of.len())
            .map_err(|_| LocatedError::new("grammar", "more than 65535 different placeholders"))?;
        self.typed.insert((name, kind), slot);
        self.name_of.push(name);
        Ok(slot)
    }

    /// Compiles a query. The inner error is raised only if the query is evaluated.
    pub(super) fn compile_query(
        &mut self,
        task: &Task,
        facts: &[FactPattern],
    ) -> Result<Result<Query, String>, LocatedError> {
        let mut query = Query { facts: Vec::with_capacity(facts.len()), slots: Vec::new() };
        for fact in facts {
            let mut kinds = Vec::with_capacity(fact.placeholders.len());
            let mut slots = Vec::with_capacity(fact.placeholders.len());
            for placeholder in &fact.placeholders {
                let Some(kind) = task.types().find(&placeholder.kind) else {
                    return Ok(Err(format!("the type {:?} is not declared", placeholder.kind)));
                };
                kinds.push(kind);
                let slot = self.typed_slot(&placeholder.name, kind)?;
                slots.push(slot);
                if !query.slots.contains(&slot) {
                    query.slots.push(slot);
                }
            }
            if query.slots.len() > 64 {
                return Ok(Err("a query has more than 64 placeholders".to_owned()));
            }
            let (predicate, denied) = match task.predicate(&fact.predicate) {
                Some(predicate) => (Some(predicate), false),
                None => (fact.predicate.strip_prefix("not_").and_then(|name| task.predicate(name)), true),
            };
            let predicate = predicate.filter(|&predicate| task.arity(predicate) == kinds.len());
            let view = match predicate {
                Some(predicate) => Some(self.view_number(task, predicate, kinds)?),
                None => None,
            };
            query.facts.push(QueryFact { view, is_denied: denied, slots });
        }
        Ok(Ok(query))
    }

    fn view_number(
        &mut self,
        task: &Task,
        predicate: PredicateId,
        kinds: Vec<TypeId>,
    ) -> Result<u32, LocatedError> {
        let key = (predicate, kinds);
        if let Some(&view) = self.view_numbers.get(&key) {
            return Ok(view);
        }
        self.index_entry_count +=
            (task.object_count() + task.facts_of(predicate).size_hint().0) * key.1.len().max(1);
        if self.index_entry_count > limits::INDEX_ENTRIES {
            return Err(LocatedError::new(
                "grammar",
                "its queries need too many indexes for a game of this size",
            ));
        }
        let view = self.views.len() as u32;
        self.views.push(View::new(task, predicate, &key.1)?);
        self.view_numbers.insert(key, view);
        Ok(view)
    }
}
