//! Compiles a grammar document against a task.

use super::{CompiledBody, CompiledProduction, Part, Symbol, SymbolRef, Text, Value};
use crate::env::alfworld::grammar::{self, Document, FactPattern, ForEach, Piece};
use crate::env::alfworld::located_error::LocatedError;
use crate::env::alfworld::query::{NameSlot, Query, Slots, TypedSlot, View};
use crate::pddl::{ActionId, FastMap, PredicateId, Task, TypeId};

/// A grammar ready for expansion.
#[derive(Debug)]
pub(in crate::env::alfworld) struct CompiledGrammar {
    pub(super) symbols: Vec<Symbol>,
    pub(super) list_symbols: [SymbolRef; 3],
    pub(super) views: Vec<View>,
    pub(super) name_of: Vec<NameSlot>,
    pub(super) names: Vec<Box<str>>,
    /// Per action: its texts, and where its parameters are bound.
    actions: Vec<Option<ActionTexts>>,
    pub(super) parameters: Vec<Vec<Parameter>>,
    intro: Text,
}

/// The texts of one action.
#[derive(Debug)]
pub(in crate::env::alfworld) struct ActionTexts {
    pub(in crate::env::alfworld) template: Text,
    pub(in crate::env::alfworld) feedback: Text,
}

/// Where a parameter is bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    pub(super) name_slot: NameSlot,
    pub(super) typed_slot: TypedSlot,
    pub(super) kind: TypeId,
}

/// What the expansion of a text depends on.
#[derive(Debug)]
pub(in crate::env::alfworld) struct Dependencies {
    /// Whether it depends only on facts that never change.
    pub(in crate::env::alfworld) is_static: bool,
    /// The parameters of the action (by position) that it depends on; `None` if all matter.
    pub(in crate::env::alfworld) parameters: Option<Vec<usize>>,
}

impl CompiledGrammar {
    pub(in crate::env::alfworld) fn new(document: &Document, task: &Task) -> Result<Self, LocatedError> {
        let symbols =
            document.productions.keys().enumerate().map(|(at, name)| (name.as_str(), at as u32)).collect();
        let mut compiler = Compiler { task, symbols, slots: Slots::default() };
        let list =
            ["list_separator", "list_last_separator", "list_empty"].map(|name| compiler.resolve_symbol(name));
        let intro = vec![Part::Symbol(compiler.resolve_symbol("intro"))];
        let mut symbols = Vec::with_capacity(document.productions.len());
        for (name, productions) in &document.productions {
            let mut compiled = Vec::with_capacity(productions.len());
            for production in productions {
                let condition = match production.condition.as_deref() {
                    None | Some("") => None,
                    Some(text) => Some(compiler.compile_query(grammar::parse_query(text))?),
                };
                compiled
                    .push(CompiledProduction { condition, text: compiler.compile_text(&production.rhs)? });
            }
            symbols.push(Symbol { name: name.as_str().into(), productions: compiled });
        }
        let mut actions = Vec::new();
        let mut parameters = Vec::new();
        for action in task.actions() {
            let texts = match document.actions.get(task.action_name(action)) {
                Some(texts) => Some(ActionTexts {
                    template: compiler.compile_text(&texts.template)?,
                    feedback: compiler.compile_text(&texts.feedback)?,
                }),
                None => None,
            };
            actions.push(texts);
            let mut bindings = Vec::new();
            for (name, kind) in task.parameters(action) {
                let typed = compiler.slots.typed_slot(name, *kind)?;
                bindings.push(Parameter {
                    name_slot: compiler.slots.name_slot(name)?,
                    typed_slot: typed,
                    kind: *kind,
                });
            }
            parameters.push(bindings);
        }
        let Slots { names, name_of, views: made, .. } = compiler.slots;
        let mut words = vec![Box::default(); names.len()];
        for (word, slot) in names {
            words[usize::from(slot)] = word.into_boxed_str();
        }
        Ok(Self {
            symbols,
            list_symbols: list,
            views: made,
            name_of,
            names: words,
            actions,
            parameters,
            intro,
        })
    }

    /// Returns the texts of an action, or `None` if the grammar has no action with its name.
    pub(in crate::env::alfworld) fn texts_of(&self, action: ActionId) -> Option<&ActionTexts> {
        self.actions[action.index()].as_ref()
    }

    /// Returns the introductory text.
    pub(in crate::env::alfworld) fn intro(&self) -> &Text {
        &self.intro
    }

    /// Returns what an action's template depends on.
    pub(in crate::env::alfworld) fn dependencies(
        &self,
        task: &Task,
        action: ActionId,
        text: &Text,
    ) -> Dependencies {
        let mut walk = DependencyWalk {
            compiled: self,
            parameters: &self.parameters[action.index()],
            changing: self.changing_views(task),
            visited: vec![false; self.symbols.len()],
            used: vec![false; self.parameters[action.index()].len()],
            is_static: true,
            binds_variables: false,
        };
        let mut pending: Vec<&Text> = vec![text];
        while let Some(text) = pending.pop() {
            walk.visit_text(text, &mut pending);
        }
        let used = walk.used.iter().enumerate().filter(|(_, used)| **used).map(|(at, _)| at).collect();
        Dependencies { is_static: walk.is_static, parameters: (!walk.binds_variables).then_some(used) }
    }

    fn changing_views(&self, task: &Task) -> Vec<bool> {
        let predicate = |view: &View| view.facts().first().map(|&fact| task.predicate_of(fact));
        self.views
            .iter()
            .map(|view| predicate(view).is_some_and(|of: PredicateId| task.is_changing(of)))
            .collect()
    }
}

struct Compiler<'a> {
    task: &'a Task,
    symbols: FastMap<&'a str, u32>,
    slots: Slots,
}

impl Compiler<'_> {
    fn resolve_symbol(&self, name: &str) -> SymbolRef {
        self.symbols.get(name).map_or_else(|| SymbolRef::Unknown(name.into()), |&at| SymbolRef::Known(at))
    }

    fn compile_text(&mut self, text: &str) -> Result<Text, LocatedError> {
        grammar::parse_text(text)
            .into_iter()
            .map(|piece| {
                Ok(match piece {
                    Piece::Literal(text) => Part::Literal(text.into()),
                    Piece::Symbol(name) => Part::Symbol(self.resolve_symbol(&name)),
                    Piece::ForEach(each) => self.compile_for_each(each)?,
                })
            })
            .collect()
    }

    fn compile_for_each(&mut self, each: ForEach) -> Result<Part, LocatedError> {
        let body = match each.body {
            grammar::ForEachBody::Symbol(name) => CompiledBody::Symbol(self.resolve_symbol(&name)),
            grammar::ForEachBody::Value(Ok(value)) => CompiledBody::Value(self.compile_value(value)?),
            grammar::ForEachBody::Value(Err(reason)) => CompiledBody::Broken(reason.into()),
        };
        let query = each.query.map(|query| self.compile_query(query)).transpose()?;
        Ok(Part::Each { body, query, is_list: each.is_list })
    }

    fn compile_value(&mut self, value: grammar::Value) -> Result<Value, LocatedError> {
        let mut compile_all = |values: Vec<grammar::Value>| -> Result<Vec<Value>, LocatedError> {
            values.into_iter().map(|value| self.compile_value(value)).collect()
        };
        Ok(match value {
            grammar::Value::Text(text) => Value::Text(text.into()),
            grammar::Value::Concat(values) => Value::Concat(compile_all(values)?),
            grammar::Value::Or(values) => Value::Or(compile_all(values)?),
            grammar::Value::Attribute(name, attribute) => {
                Value::Attribute(self.slots.name_slot(&name)?, attribute)
            }
        })
    }

    fn compile_query(
        &mut self,
        query: Result<Vec<FactPattern>, String>,
    ) -> Result<Result<Query, Box<str>>, LocatedError> {
        Ok(match query {
            Ok(facts) => self.slots.compile_query(self.task, &facts)?.map_err(Into::into),
            Err(reason) => Err(reason.into()),
        })
    }
}

/// Visits everything a text can reach.
struct DependencyWalk<'a> {
    compiled: &'a CompiledGrammar,
    parameters: &'a [Parameter],
    changing: Vec<bool>,
    visited: Vec<bool>,
    used: Vec<bool>,
    is_static: bool,
    binds_variables: bool,
}

impl<'a> DependencyWalk<'a> {
    fn visit_text(&mut self, text: &'a Text, pending: &mut Vec<&'a Text>) {
        for part in text {
            match part {
                Part::Literal(_) => {}
                Part::Symbol(symbol_ref) => self.visit_symbol(symbol_ref, pending),
                Part::Each { body, query, is_list } => {
                    match body {
                        CompiledBody::Symbol(symbol_ref) => self.visit_symbol(symbol_ref, pending),
                        CompiledBody::Value(value) => self.visit_value(value),
                        CompiledBody::Broken(_) => {}
                    }
                    if let Some(Ok(query)) = query {
                        self.visit_query(query);
                    }
                    if *is_list {
                        let symbol_refs: &'a [SymbolRef; 3] = &self.compiled.list_symbols;
                        for symbol_ref in symbol_refs {
                            self.visit_symbol(symbol_ref, pending);
                        }
                    }
                }
            }
        }
    }

    fn visit_symbol(&mut self, symbol_ref: &SymbolRef, pending: &mut Vec<&'a Text>) {
        let SymbolRef::Known(at) = symbol_ref else { return };
        if std::mem::replace(&mut self.visited[*at as usize], true) {
            return;
        }
        for production in &self.compiled.symbols[*at as usize].productions {
            if let Some(Ok(query)) = &production.condition {
                self.visit_query(query);
            }
            pending.push(&production.text);
        }
    }

    fn visit_query(&mut self, query: &Query) {
        for fact in &query.facts {
            self.is_static &= fact.view.is_none_or(|view| !self.changing[view as usize]);
        }
        for slot in &query.slots {
            match self.parameters.iter().position(|parameter| parameter.typed_slot == *slot) {
                Some(position) => self.used[position] = true,
                None => self.binds_variables = true,
            }
        }
    }

    fn visit_value(&mut self, value: &Value) {
        match value {
            Value::Text(_) => {}
            Value::Attribute(name, _) => {
                for (used, parameter) in self.used.iter_mut().zip(self.parameters) {
                    *used |= parameter.name_slot == *name;
                }
            }
            Value::Concat(values) | Value::Or(values) => {
                for value in values {
                    self.visit_value(value);
                }
            }
        }
    }
}
