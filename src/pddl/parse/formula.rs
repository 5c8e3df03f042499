//! Parses conditions.

use super::Parser;
use crate::pddl::error::PddlError;
use crate::pddl::lexer::Token;
use crate::pddl::limits;
use crate::pddl::model::{Formula, Term};
use crate::pddl::names::Name;

impl Parser<'_, '_> {
    /// Parses a condition whose variables are in `scope`.
    pub(super) fn parse_formula(
        &mut self,
        scope: &mut Vec<Name>,
        depth: usize,
    ) -> Result<Formula, PddlError> {
        if depth > limits::NESTING {
            return Err(self
                .lexer
                .error(format!("conditions are nested more than {} levels deep", limits::NESTING)));
        }
        let at = self.lexer.position();
        self.expect_open("a condition")?;
        if self.lexer.token() == Token::Close {
            self.lexer.next()?;
            return Ok(Formula::default());
        }
        let word = self.expect_word("a condition")?;
        let formula = match word {
            "and" => Formula::And(self.parse_formulas(scope, depth)?),
            "or" => Formula::Or(self.parse_formulas(scope, depth)?),
            "not" => Formula::Not(Box::new(self.parse_formula(scope, depth + 1)?)),
            "imply" => {
                let left = self.parse_formula(scope, depth + 1)?;
                Formula::Imply(Box::new(left), Box::new(self.parse_formula(scope, depth + 1)?))
            }
            "exists" | "forall" => {
                self.expect_open("the variables")?;
                let variables = self.parse_variables()?;
                self.expect_close()?;
                let outer = scope.len();
                scope.extend(variables.iter().map(|variable| variable.name));
                let body = Box::new(self.parse_formula(scope, depth + 1)?);
                scope.truncate(outer);
                if word == "exists" {
                    Formula::Exists(variables, body)
                } else {
                    Formula::Forall(variables, body)
                }
            }
            "=" => {
                let terms = self.parse_terms(scope)?;
                let [left, right] = terms[..] else {
                    return Err(self.lexer.error_at(at, "\"=\" compares two terms"));
                };
                Formula::Equal(left, right)
            }
            name => {
                let predicate = self.find_predicate(name, at)?;
                let terms = self.parse_terms(scope)?;
                self.check_arity(predicate, terms.len(), at)?;
                Formula::Atom(predicate, terms)
            }
        };
        self.expect_close()?;
        Ok(formula)
    }

    fn parse_formulas(&mut self, scope: &mut Vec<Name>, depth: usize) -> Result<Vec<Formula>, PddlError> {
        let mut formulas = Vec::new();
        while self.lexer.token() != Token::Close {
            if formulas.len() >= limits::LITERALS {
                return Err(self.too_large("parts of one condition", limits::LITERALS));
            }
            formulas.push(self.parse_formula(scope, depth + 1)?);
        }
        Ok(formulas)
    }

    /// Parses variables in scope and constants, up to the closing parenthesis.
    pub(super) fn parse_terms(&mut self, scope: &[Name]) -> Result<Vec<Term>, PddlError> {
        let mut terms = Vec::new();
        while let Token::Word(word) = self.lexer.token() {
            let term = if let Some(variable) = word.strip_prefix('?') {
                let name = self.shared.model.names.intern(variable);
                if !scope.contains(&name) {
                    return Err(self.lexer.error(format!("the variable {word:?} is not declared here")));
                }
                Term::Variable(name)
            } else {
                Term::Constant(self.shared.model.names.intern(word))
            };
            if terms.len() >= limits::ARITY {
                return Err(self.too_large("arguments", limits::ARITY));
            }
            terms.push(term);
            self.lexer.next()?;
        }
        Ok(terms)
    }
}
