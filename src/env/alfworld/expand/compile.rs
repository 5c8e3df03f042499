//! Compiling a document against a task.

use super::{Call, Choice, Part, Symbol, Text, Value, What};
use crate::env::alfworld::broken::Broken;
use crate::env::alfworld::grammar::{self, Document, Each, Fact, Piece};
use crate::env::alfworld::query::{NameSlot, Query, Slots, TypedSlot, View};
use crate::pddl::{ActionId, FastMap, PredicateId, Task, TypeId};

/// A grammar ready to be expanded.
#[derive(Debug)]
pub(in crate::env::alfworld) struct Compiled {
    pub(super) symbols: Vec<Symbol>,
    /// `list_separator`, `list_last_separator`, `list_empty`.
    pub(super) list: [Call; 3],
    pub(super) views: Vec<View>,
    pub(super) name_of: Vec<NameSlot>,
    pub(super) names: Vec<Box<str>>,
    /// Per action: what it says, and where its parameters go.
    actions: Vec<Option<Texts>>,
    pub(super) parameters: Vec<Vec<Parameter>>,
    intro: Text,
}

/// The texts of one action.
#[derive(Debug)]
pub(in crate::env::alfworld) struct Texts {
    pub(in crate::env::alfworld) template: Text,
    pub(in crate::env::alfworld) feedback: Text,
}

/// Where a parameter goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    pub(super) name: NameSlot,
    pub(super) typed: TypedSlot,
    pub(super) kind: TypeId,
}

/// What the expansion of a text depends on.
#[derive(Debug)]
pub(in crate::env::alfworld) struct Needs {
    /// Only facts that never change.
    pub(in crate::env::alfworld) fixed: bool,
    /// Only these parameters of its action (by place); none when all matter.
    pub(in crate::env::alfworld) parameters: Option<Vec<usize>>,
}

impl Compiled {
    pub(in crate::env::alfworld) fn new(document: &Document, task: &Task) -> Result<Self, Broken> {
        let symbols =
            document.productions.keys().enumerate().map(|(at, name)| (name.as_str(), at as u32)).collect();
        let mut compiler = Compiler { task, symbols, slots: Slots::default() };
        let list = ["list_separator", "list_last_separator", "list_empty"].map(|name| compiler.call(name));
        let intro = vec![Part::Symbol(compiler.call("intro"))];
        let mut symbols = Vec::with_capacity(document.productions.len());
        for (name, productions) in &document.productions {
            let mut choices = Vec::with_capacity(productions.len());
            for production in productions {
                let condition = match production.condition.as_deref() {
                    None | Some("") => None,
                    Some(text) => Some(compiler.query(grammar::parse_query(text))?),
                };
                choices.push(Choice { condition, text: compiler.text(&production.rhs)? });
            }
            symbols.push(Symbol { name: name.as_str().into(), choices });
        }
        let mut actions = Vec::new();
        let mut parameters = Vec::new();
        for action in task.actions() {
            let texts = match document.actions.get(task.action_name(action)) {
                Some(texts) => Some(Texts {
                    template: compiler.text(&texts.template)?,
                    feedback: compiler.text(&texts.feedback)?,
                }),
                None => None,
            };
            actions.push(texts);
            let mut places = Vec::new();
            for (name, kind) in task.parameters(action) {
                let typed = compiler.slots.typed(name, *kind)?;
                places.push(Parameter { name: compiler.slots.name(name)?, typed, kind: *kind });
            }
            parameters.push(places);
        }
        let Slots { names, name_of, made, .. } = compiler.slots;
        let mut words = vec![Box::default(); names.len()];
        for (word, slot) in names {
            words[usize::from(slot)] = word.into_boxed_str();
        }
        Ok(Self { symbols, list, views: made, name_of, names: words, actions, parameters, intro })
    }

    /// The texts of an action; none where the grammar has no action of its name.
    pub(in crate::env::alfworld) fn texts(&self, action: ActionId) -> Option<&Texts> {
        self.actions[action.index()].as_ref()
    }

    /// The start text.
    pub(in crate::env::alfworld) fn intro(&self) -> &Text {
        &self.intro
    }

    /// What an action's template depends on.
    pub(in crate::env::alfworld) fn needs(&self, task: &Task, action: ActionId, text: &Text) -> Needs {
        let mut survey = Survey {
            compiled: self,
            parameters: &self.parameters[action.index()],
            changing: self.views_that_change(task),
            seen: vec![false; self.symbols.len()],
            used: vec![false; self.parameters[action.index()].len()],
            fixed: true,
            binds: false,
        };
        let mut open: Vec<&Text> = vec![text];
        while let Some(text) = open.pop() {
            survey.text(text, &mut open);
        }
        let used = survey.used.iter().enumerate().filter(|(_, used)| **used).map(|(at, _)| at).collect();
        Needs { fixed: survey.fixed, parameters: (!survey.binds).then_some(used) }
    }

    fn views_that_change(&self, task: &Task) -> Vec<bool> {
        let predicate = |view: &View| view.all().first().map(|&fact| task.predicate_of(fact));
        self.views
            .iter()
            .map(|view| predicate(view).is_some_and(|of: PredicateId| task.changes(of)))
            .collect()
    }
}

struct Compiler<'a> {
    task: &'a Task,
    symbols: FastMap<&'a str, u32>,
    slots: Slots,
}

impl Compiler<'_> {
    fn call(&self, name: &str) -> Call {
        self.symbols.get(name).map_or_else(|| Call::Unknown(name.into()), |&at| Call::Known(at))
    }

    fn text(&mut self, text: &str) -> Result<Text, Broken> {
        grammar::parse_text(text)
            .into_iter()
            .map(|piece| {
                Ok(match piece {
                    Piece::Literal(text) => Part::Literal(text.into()),
                    Piece::Symbol(name) => Part::Symbol(self.call(&name)),
                    Piece::Each(each) => self.each(each)?,
                })
            })
            .collect()
    }

    fn each(&mut self, each: Each) -> Result<Part, Broken> {
        let what = match each.what {
            grammar::What::Symbol(name) => What::Symbol(self.call(&name)),
            grammar::What::Value(Ok(value)) => What::Value(self.value(value)?),
            grammar::What::Value(Err(reason)) => What::Broken(reason.into()),
        };
        let query = each.query.map(|query| self.query(query)).transpose()?;
        Ok(Part::Each { what, query, list: each.list })
    }

    fn value(&mut self, value: grammar::Value) -> Result<Value, Broken> {
        let mut all = |values: Vec<grammar::Value>| -> Result<Vec<Value>, Broken> {
            values.into_iter().map(|value| self.value(value)).collect()
        };
        Ok(match value {
            grammar::Value::Text(text) => Value::Text(text.into()),
            grammar::Value::Sum(values) => Value::Sum(all(values)?),
            grammar::Value::Or(values) => Value::Or(all(values)?),
            grammar::Value::Of(name, attribute) => Value::Of(self.slots.name(&name)?, attribute),
        })
    }

    fn query(&mut self, query: Result<Vec<Fact>, String>) -> Result<Result<Query, Box<str>>, Broken> {
        Ok(match query {
            Ok(facts) => self.slots.query(self.task, &facts)?.map_err(Into::into),
            Err(reason) => Err(reason.into()),
        })
    }
}

/// Walks everything a text can reach.
struct Survey<'a> {
    compiled: &'a Compiled,
    parameters: &'a [Parameter],
    changing: Vec<bool>,
    seen: Vec<bool>,
    used: Vec<bool>,
    fixed: bool,
    binds: bool,
}

impl<'a> Survey<'a> {
    fn text(&mut self, text: &'a Text, open: &mut Vec<&'a Text>) {
        for part in text {
            match part {
                Part::Literal(_) => {}
                Part::Symbol(call) => self.call(call, open),
                Part::Each { what, query, list } => {
                    match what {
                        What::Symbol(call) => self.call(call, open),
                        What::Value(value) => self.value(value),
                        What::Broken(_) => {}
                    }
                    if let Some(Ok(query)) = query {
                        self.query(query);
                    }
                    if *list {
                        let calls: &'a [Call; 3] = &self.compiled.list;
                        for call in calls {
                            self.call(call, open);
                        }
                    }
                }
            }
        }
    }

    fn call(&mut self, call: &Call, open: &mut Vec<&'a Text>) {
        let Call::Known(at) = call else { return };
        if std::mem::replace(&mut self.seen[*at as usize], true) {
            return;
        }
        for choice in &self.compiled.symbols[*at as usize].choices {
            if let Some(Ok(query)) = &choice.condition {
                self.query(query);
            }
            open.push(&choice.text);
        }
    }

    fn query(&mut self, query: &Query) {
        for fact in &query.facts {
            self.fixed &= fact.view.is_none_or(|view| !self.changing[view as usize]);
        }
        for slot in &query.slots {
            match self.parameters.iter().position(|parameter| parameter.typed == *slot) {
                Some(place) => self.used[place] = true,
                None => self.binds = true,
            }
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Text(_) => {}
            Value::Of(name, _) => {
                for (used, parameter) in self.used.iter_mut().zip(self.parameters) {
                    *used |= parameter.name == *name;
                }
            }
            Value::Sum(values) | Value::Or(values) => values.iter().for_each(|value| self.value(value)),
        }
    }
}
