//! Expansion: depth first, left to right, using the first production whose condition has an answer.

use super::{CompiledBody, CompiledGrammar, Part, SymbolRef, Text, Value};
use crate::env::alfworld::entities::Entities;
use crate::env::alfworld::grammar::Attribute;
use crate::env::alfworld::limits;
use crate::env::alfworld::located_error::LocatedError;
use crate::env::alfworld::query::{Query, TextFacts, TypedSlot};
use crate::pddl::{ActionId, ObjectId, Task, TypeId};

/// An entity as TextWorld compares it: together with the type it was bound by.
type BoundEntity = (ObjectId, Option<TypeId>);

/// The bindings during an expansion. Reused between expansions to avoid allocations.
#[derive(Debug, Default)]
pub(in crate::env::alfworld) struct Scratch {
    names: Vec<Option<ObjectId>>,
    typed: Vec<Option<BoundEntity>>,
    /// Everything that is bound, to enforce that no two placeholders share an entity.
    bound_entities: Vec<BoundEntity>,
    /// Answers of the queries in progress.
    answers: Vec<ObjectId>,
    /// Outer bindings that are shadowed by inner ones.
    hidden: Vec<Option<ObjectId>>,
}

/// Expands the texts of one game over one fact store.
pub(in crate::env::alfworld) struct Expander<'a> {
    pub(in crate::env::alfworld) compiled: &'a CompiledGrammar,
    pub(in crate::env::alfworld) task: &'a Task,
    pub(in crate::env::alfworld) entities: &'a Entities,
    pub(in crate::env::alfworld) text_facts: &'a TextFacts,
    pub(in crate::env::alfworld) scratch: &'a mut Scratch,
    /// Remaining number of pieces and facts that may be visited.
    pub(in crate::env::alfworld) budget: u64,
    /// Whether the budget has run out.
    pub(in crate::env::alfworld) is_exhausted: bool,
}

impl Expander<'_> {
    /// Appends the expansion of a text, with an action's parameters bound if one is given.
    pub(in crate::env::alfworld) fn expand(
        &mut self,
        text: &Text,
        context: Option<(ActionId, &[ObjectId])>,
        out: &mut String,
    ) -> Result<(), LocatedError> {
        self.clear();
        if let Some((action, bound)) = context {
            for (parameter, &object) in self.compiled.parameters[action.index()].iter().zip(bound) {
                let entity = (object, Some(parameter.kind));
                self.scratch.names[usize::from(parameter.name_slot)] = Some(object);
                self.scratch.typed[usize::from(parameter.typed_slot)] = Some(entity);
                self.scratch.bound_entities.push(entity);
            }
        }
        let limit = out.len() + limits::TEXT_BYTES;
        self.expand_text(text, 0, limit, out)
    }

    fn clear(&mut self) {
        let scratch = &mut *self.scratch;
        scratch.names.clear();
        scratch.names.resize(self.compiled.names.len(), None);
        scratch.typed.clear();
        scratch.typed.resize(self.compiled.name_of.len(), None);
        scratch.bound_entities.clear();
        scratch.answers.clear();
        scratch.hidden.clear();
    }

    fn expand_text(
        &mut self,
        text: &Text,
        depth: usize,
        limit: usize,
        out: &mut String,
    ) -> Result<(), LocatedError> {
        for part in text {
            self.spend_one()?;
            match part {
                Part::Literal(literal) => out.push_str(literal),
                Part::Symbol(symbol_ref) => self.expand_symbol(symbol_ref, depth, limit, out)?,
                Part::Each { body, query: None, .. } => self.expand_body(body, depth, limit, out)?,
                Part::Each { body, query: Some(Ok(query)), is_list } => {
                    self.expand_for_each(body, query, *is_list, depth, limit, out)?;
                }
                Part::Each { query: Some(Err(reason)), .. } => {
                    return Err(LocatedError::new("grammar, a query", reason.as_ref()));
                }
            }
            if out.len() > limit {
                return Err(LocatedError::new(
                    "grammar",
                    format!("a text exceeds {} bytes", limits::TEXT_BYTES),
                ));
            }
        }
        Ok(())
    }

    fn expand_symbol(
        &mut self,
        symbol_ref: &SymbolRef,
        depth: usize,
        limit: usize,
        out: &mut String,
    ) -> Result<(), LocatedError> {
        let compiled = self.compiled;
        let symbol = match symbol_ref {
            SymbolRef::Known(at) => &compiled.symbols[*at as usize],
            SymbolRef::Unknown(name) => {
                return Err(LocatedError::new(
                    format!("grammar, symbol {}", crate::env::alfworld::located_error::excerpt(name)),
                    "a text uses this symbol, but no production defines it",
                ));
            }
        };
        if depth >= limits::SYMBOL_DEPTH {
            let reason = format!(
                "symbols are nested more than {} levels deep; the grammar is cyclic",
                limits::SYMBOL_DEPTH
            );
            return Err(LocatedError::new(format!("grammar, symbol {:?}", symbol.name), reason));
        }
        for production in &symbol.productions {
            let applies = match &production.condition {
                None => true,
                Some(Ok(query)) => self.has_answer(query)?,
                Some(Err(reason)) => {
                    return Err(LocatedError::new(
                        format!("grammar, symbol {:?}, a condition", symbol.name),
                        reason.as_ref(),
                    ));
                }
            };
            if applies {
                return self.expand_text(&production.text, depth + 1, limit, out);
            }
        }
        Err(LocatedError::new(
            format!("grammar, symbol {:?}", symbol.name),
            "none of its productions applies",
        ))
    }

    fn expand_body(
        &mut self,
        body: &CompiledBody,
        depth: usize,
        limit: usize,
        out: &mut String,
    ) -> Result<(), LocatedError> {
        match body {
            CompiledBody::Symbol(symbol_ref) => self.expand_symbol(symbol_ref, depth, limit, out),
            CompiledBody::Value(value) => self.expand_value(value, out),
            CompiledBody::Broken(reason) => Err(LocatedError::new("grammar, an expression", reason.as_ref())),
        }
    }

    fn expand_value(&mut self, value: &Value, out: &mut String) -> Result<(), LocatedError> {
        match value {
            Value::Text(text) => out.push_str(text),
            Value::Attribute(slot, attribute) => {
                let Some(object) = self.scratch.names[usize::from(*slot)] else {
                    let name = &self.compiled.names[usize::from(*slot)];
                    return Err(LocatedError::new(
                        "grammar, an expression",
                        format!("nothing is bound to {name:?}"),
                    ));
                };
                out.push_str(match attribute {
                    Attribute::Name => self.entities.name(object),
                    Attribute::Id => self.task.object_name(object),
                    Attribute::Indefinite => "a",
                    Attribute::Definite => "the",
                });
            }
            Value::Concat(values) => {
                for value in values {
                    self.expand_value(value, out)?;
                }
            }
            Value::Or(values) => {
                let before = out.len();
                for value in values {
                    self.expand_value(value, out)?;
                    if out.len() > before {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    fn expand_for_each(
        &mut self,
        body: &CompiledBody,
        query: &Query,
        is_list: bool,
        depth: usize,
        limit: usize,
        out: &mut String,
    ) -> Result<(), LocatedError> {
        let compiled = self.compiled;
        let [separator, last_separator, empty] = &compiled.list_symbols;
        let first = self.scratch.answers.len();
        let unbound = self.unbound_slots(query);
        let count = self.collect_answers(query)?;
        if count == 0 && is_list {
            self.expand_symbol(empty, depth, limit, out)?;
        }
        let width = query.slots.len();
        for row in 0..count {
            if is_list && row > 0 {
                self.expand_symbol(
                    if row + 1 == count { last_separator } else { separator },
                    depth,
                    limit,
                    out,
                )?;
            }
            let (bound_count, hidden_count) = (self.scratch.bound_entities.len(), self.scratch.hidden.len());
            for (position, &slot) in query.slots.iter().enumerate() {
                if unbound >> position & 1 == 1 {
                    self.bind(slot, self.scratch.answers[first + row * width + position]);
                }
            }
            self.expand_body(body, depth, limit, out)?;
            for (position, &slot) in query.slots.iter().enumerate().rev() {
                if unbound >> position & 1 == 1 {
                    self.scratch.typed[usize::from(slot)] = None;
                    let name = usize::from(compiled.name_of[usize::from(slot)]);
                    self.scratch.names[name] = self.scratch.hidden.pop().flatten();
                }
            }
            self.scratch.bound_entities.truncate(bound_count);
            self.scratch.hidden.truncate(hidden_count);
            if out.len() > limit {
                return Err(LocatedError::new(
                    "grammar",
                    format!("a text exceeds {} bytes", limits::TEXT_BYTES),
                ));
            }
        }
        self.scratch.answers.truncate(first);
        Ok(())
    }

    /// Returns the query's unbound placeholders as a bit mask.
    fn unbound_slots(&self, query: &Query) -> u64 {
        let is_unbound = |slot: &TypedSlot| self.scratch.typed[usize::from(*slot)].is_none();
        query
            .slots
            .iter()
            .enumerate()
            .fold(0, |bits, (position, slot)| bits | u64::from(is_unbound(slot)) << position)
    }

    fn bind(&mut self, slot: TypedSlot, object: ObjectId) {
        let entity = (object, self.task.types().declared_type(object));
        self.scratch.typed[usize::from(slot)] = Some(entity);
        self.scratch.bound_entities.push(entity);
        let name = usize::from(self.compiled.name_of[usize::from(slot)]);
        self.scratch.hidden.push(self.scratch.names[name].replace(object));
    }

    fn has_answer(&mut self, query: &Query) -> Result<bool, LocatedError> {
        self.solve(query, 0, None).map(|found| found > 0)
    }

    /// Pushes one row per answer, in order, and returns their number.
    fn collect_answers(&mut self, query: &Query) -> Result<usize, LocatedError> {
        self.solve(query, 0, Some(()))
    }

    /// Runs nested loops over the facts in the order written. If `keep` is `None`, the search ends at the first answer.
    fn solve(&mut self, query: &Query, at: usize, keep: Option<()>) -> Result<usize, LocatedError> {
        let Some(fact) = query.facts.get(at) else {
            if keep.is_some() {
                for &slot in &query.slots {
                    if let Some((object, _)) = self.scratch.typed[usize::from(slot)] {
                        self.scratch.answers.push(object);
                    }
                }
            }
            return Ok(1);
        };
        let Some(view) = fact.view else { return Ok(0) };
        let view = &self.compiled.views[view as usize];
        let bound_argument = fact.slots.iter().enumerate().find_map(|(position, &slot)| {
            self.scratch.typed[usize::from(slot)].map(|(object, _)| (position, object))
        });
        let candidates =
            bound_argument.map_or(view.facts(), |(position, object)| view.facts_with(position, object));
        self.spend(1 + candidates.len() as u64)?;
        let mut count = 0;
        let text_facts = self.text_facts;
        for &candidate in candidates {
            if !text_facts.holds(candidate, fact.is_denied) {
                continue;
            }
            let mut bound = 0_u64;
            let bound_count = self.scratch.bound_entities.len();
            let mut fits = true;
            for (position, (&slot, &object)) in
                fact.slots.iter().zip(self.task.arguments(candidate)).enumerate()
            {
                let entity = (object, self.task.types().declared_type(object));
                match self.scratch.typed[usize::from(slot)] {
                    Some(other) => fits = other == entity,
                    None if self.scratch.bound_entities.contains(&entity) => fits = false,
                    None => {
                        self.scratch.typed[usize::from(slot)] = Some(entity);
                        self.scratch.bound_entities.push(entity);
                        bound |= 1 << position;
                    }
                }
                if !fits {
                    break;
                }
            }
            let found = if fits { self.solve(query, at + 1, keep) } else { Ok(0) };
            for (position, &slot) in fact.slots.iter().enumerate() {
                if bound >> position & 1 == 1 {
                    self.scratch.typed[usize::from(slot)] = None;
                }
            }
            self.scratch.bound_entities.truncate(bound_count);
            count += found?;
            if keep.is_none() && count > 0 {
                break;
            }
        }
        Ok(count)
    }

    fn spend_one(&mut self) -> Result<(), LocatedError> {
        self.spend(1)
    }

    fn spend(&mut self, work: u64) -> Result<(), LocatedError> {
        let Some(left) = self.budget.checked_sub(work) else {
            self.is_exhausted = true;
            return Err(LocatedError::new(
                "grammar",
                "a text takes too many steps to expand; the grammar may be cyclic",
            ));
        };
        self.budget = left;
        Ok(())
    }
}
