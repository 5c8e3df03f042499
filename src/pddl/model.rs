//! What the two PDDL texts say, before anything is grounded.

use super::names::{Name, Names};
use std::sync::Arc;

/// A domain and a problem, parsed.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Every word of both texts.
    pub names: Names,
    /// The domain's name.
    pub domain: Option<Name>,
    /// The problem's name.
    pub problem: Option<Name>,
    /// The domain the problem says it belongs to; may differ from `domain`, which is for the caller to judge.
    pub problem_domain: Option<Name>,
    /// Types as declared: a type and its parent.
    pub types: Vec<(Name, Name)>,
    /// Predicates in order of declaration.
    pub predicates: Vec<Predicate>,
    /// Actions in order of declaration.
    pub actions: Vec<Action>,
    /// Constants of the domain and objects of the problem, as written; a name may occur twice.
    pub objects: Vec<Object>,
    /// Initial facts as written; duplicates are allowed.
    pub init: Vec<GroundAtom>,
    /// The goal.
    pub goal: Formula,
}

impl Model {
    /// The conjuncts of the goal in the order written, those of nested conjunctions included.
    pub fn goal_parts(&self) -> Vec<&Formula> {
        let mut parts = Vec::new();
        collect_conjuncts(&self.goal, &mut parts);
        parts
    }

    /// A formula in PDDL, on one line.
    pub fn to_pddl(&self, formula: &Formula) -> String {
        let mut text = String::new();
        self.write_formula(formula, &mut text);
        text
    }

    /// Recurses as deep as the parser let formulas nest.
    fn write_formula(&self, formula: &Formula, out: &mut String) {
        let word = |name: Name| self.names.word(name);
        let term = |of: &Term| match of {
            Term::Variable(name) => format!(" ?{}", word(*name)),
            Term::Constant(name) => format!(" {}", word(*name)),
        };
        let mut nest = |head: &str, parts: &[&Formula]| {
            out.push('(');
            out.push_str(head);
            for part in parts {
                out.push(' ');
                self.write_formula(part, out);
            }
            out.push(')');
        };
        match formula {
            Formula::And(parts) => nest("and", &parts.iter().collect::<Vec<_>>()),
            Formula::Or(parts) => nest("or", &parts.iter().collect::<Vec<_>>()),
            Formula::Not(inner) => nest("not", &[inner]),
            Formula::Imply(left, right) => nest("imply", &[left, right]),
            Formula::Exists(variables, inner) | Formula::Forall(variables, inner) => {
                let names: Vec<String> =
                    variables.iter().map(|variable| format!("?{}", word(variable.name))).collect();
                let kind = if matches!(formula, Formula::Exists(..)) { "exists" } else { "forall" };
                nest(&format!("{kind} ({})", names.join(" ")), &[inner]);
            }
            Formula::Atom(predicate, terms) => {
                let name = word(self.predicates[*predicate].name);
                nest(&terms.iter().fold(name.to_owned(), |text, of| text + &term(of)), &[]);
            }
            Formula::Equal(left, right) => nest(&format!("={}{}", term(left), term(right)), &[]),
        }
    }
}

fn collect_conjuncts<'m>(formula: &'m Formula, parts: &mut Vec<&'m Formula>) {
    match formula {
        Formula::And(inner) => inner.iter().for_each(|part| collect_conjuncts(part, parts)),
        other => parts.push(other),
    }
}

/// A declared predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// Its name.
    pub name: Name,
    /// How many arguments it takes. Types of arguments are not checked, as in the reference.
    pub arity: usize,
}

/// A named thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name.
    pub name: Name,
    /// Its declared type.
    pub type_name: Name,
}

/// An action schema.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<Variable>,
    /// When it may be taken.
    pub precondition: Formula,
    /// What it does; costs are left out.
    pub effects: Vec<Effect>,
}

/// A parameter or quantified variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name, without the question mark.
    pub name: Name,
    /// The types it ranges over; more than one for `either`.
    pub types: Vec<Name>,
}

/// A variable or a named thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// A variable, without its question mark.
    Variable(Name),
    /// A named thing.
    Constant(Name),
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// All hold; the empty one is true.
    And(Vec<Formula>),
    /// Some holds; the empty one is false.
    Or(Vec<Formula>),
    /// Does not hold.
    Not(Box<Formula>),
    /// The second holds wherever the first does.
    Imply(Box<Formula>, Box<Formula>),
    /// Holds for some binding.
    Exists(Vec<Variable>, Box<Formula>),
    /// Holds for every binding.
    Forall(Vec<Variable>, Box<Formula>),
    /// A fact: the predicate's place in [`Model::predicates`] and its arguments.
    Atom(usize, Vec<Term>),
    /// Two terms are the same thing.
    Equal(Term, Term),
}

impl Default for Formula {
    fn default() -> Self {
        Self::And(Vec::new())
    }
}

/// One literal of an effect with what surrounds it.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Variables of surrounding `forall`s.
    pub variables: Vec<Variable>,
    /// The conditions of the surrounding `when`s; all must hold.
    pub conditions: Vec<Arc<Formula>>,
    /// Whether the fact becomes true (else false).
    pub is_add: bool,
    /// The predicate's place in [`Model::predicates`].
    pub predicate: usize,
    /// Its arguments.
    pub terms: Vec<Term>,
}

/// An initial fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroundAtom {
    /// The predicate's place in [`Model::predicates`].
    pub predicate: usize,
    /// Its arguments.
    pub objects: Vec<Name>,
}
