//! The content of a domain and a problem, before grounding.

use super::names::{Name, Names};
use std::sync::Arc;

/// A parsed domain and problem.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The interned words of the domain and the problem.
    pub names: Names,
    /// Name of the domain.
    pub domain: Option<Name>,
    /// Name of the problem.
    pub problem: Option<Name>,
    /// The domain that the problem declares. May differ from `domain`; the caller decides whether that is an error.
    pub problem_domain: Option<Name>,
    /// Types as declared: pairs of a type and its parent.
    pub types: Vec<(Name, Name)>,
    pub predicates: Vec<Predicate>,
    pub actions: Vec<Action>,
    /// Constants of the domain and objects of the problem, as written; a name may occur twice.
    pub objects: Vec<Object>,
    /// Initial facts as written, possibly with duplicates.
    pub init: Vec<GroundAtom>,
    pub goal: Formula,
}

impl Model {
    /// Returns the conjuncts of the goal in the order written, with nested conjunctions flattened.
    pub fn goal_conjuncts(&self) -> Vec<&Formula> {
        let mut parts = Vec::new();
        collect_conjuncts(&self.goal, &mut parts);
        parts
    }

    /// Formats a formula as PDDL on one line.
    pub fn to_pddl(&self, formula: &Formula) -> String {
        let mut text = String::new();
        self.write_formula(formula, &mut text);
        text
    }

    /// Appends a formula. Recurses once per level of nesting, which the parser bounds.
    fn write_formula(&self, formula: &Formula, out: &mut String) {
        let word = |name: Name| self.names.text(name);
        let format_term = |term: &Term| match term {
            Term::Variable(name) => format!(" ?{}", word(*name)),
            Term::Constant(name) => format!(" {}", word(*name)),
        };
        let mut write_list = |head: &str, parts: &[&Formula]| {
            out.push('(');
            out.push_str(head);
            for part in parts {
                out.push(' ');
                self.write_formula(part, out);
            }
            out.push(')');
        };
        match formula {
            Formula::And(parts) => write_list("and", &parts.iter().collect::<Vec<_>>()),
            Formula::Or(parts) => write_list("or", &parts.iter().collect::<Vec<_>>()),
            Formula::Not(inner) => write_list("not", &[inner]),
            Formula::Imply(left, right) => write_list("imply", &[left, right]),
            Formula::Exists(variables, inner) | Formula::Forall(variables, inner) => {
                let names: Vec<String> =
                    variables.iter().map(|variable| format!("?{}", word(variable.name))).collect();
                let kind = if matches!(formula, Formula::Exists(..)) { "exists" } else { "forall" };
                write_list(&format!("{kind} ({})", names.join(" ")), &[inner]);
            }
            Formula::Atom(predicate, terms) => {
                let name = word(self.predicates[*predicate].name);
                write_list(&terms.iter().fold(name.to_owned(), |text, term| text + &format_term(term)), &[]);
            }
            Formula::Equal(left, right) => {
                write_list(&format!("={}{}", format_term(left), format_term(right)), &[]);
            }
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
    pub name: Name,
    /// Number of arguments. Argument types are not checked, as in the reference implementation.
    pub arity: usize,
}

/// An object or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    pub name: Name,
    /// The declared type.
    pub type_name: Name,
}

/// An action schema.
#[derive(Clone, Debug)]
pub struct Action {
    pub name: Name,
    pub parameters: Vec<Variable>,
    pub precondition: Formula,
    /// Effects, without changes of costs.
    pub effects: Vec<Effect>,
}

/// A parameter or a quantified variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name without the question mark.
    pub name: Name,
    /// The types it ranges over; more than one for `either`.
    pub types: Vec<Name>,
}

/// A variable or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// A variable, without the question mark.
    Variable(Name),
    Constant(Name),
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// Conjunction; true if empty.
    And(Vec<Formula>),
    /// Disjunction; false if empty.
    Or(Vec<Formula>),
    Not(Box<Formula>),
    Imply(Box<Formula>, Box<Formula>),
    Exists(Vec<Variable>, Box<Formula>),
    Forall(Vec<Variable>, Box<Formula>),
    /// An atom: the index of the predicate in [`Model::predicates`], and its arguments.
    Atom(usize, Vec<Term>),
    Equal(Term, Term),
}

impl Default for Formula {
    fn default() -> Self {
        Self::And(Vec::new())
    }
}

/// One literal of an effect, with its enclosing quantifiers and conditions.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Variables of the enclosing `forall`s.
    pub variables: Vec<Variable>,
    /// Conditions of the enclosing `when`s, all of which must hold.
    pub conditions: Vec<Arc<Formula>>,
    /// Whether the fact becomes true (otherwise false).
    pub is_add: bool,
    /// Index into [`Model::predicates`].
    pub predicate: usize,
    pub terms: Vec<Term>,
}

/// An initial fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroundAtom {
    /// Index into [`Model::predicates`].
    pub predicate: usize,
    pub objects: Vec<Name>,
}
