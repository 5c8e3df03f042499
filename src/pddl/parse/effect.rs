//! Effects, flattened into their literals.

use super::Parser;
use crate::pddl::error::PddlError;
use crate::pddl::lexer::Token;
use crate::pddl::limits;
use crate::pddl::model::{Effect, Formula, Variable};
use crate::pddl::names::Name;
use std::sync::Arc;

/// What surrounds an effect.
#[derive(Clone, Default)]
struct Around {
    each: Vec<Variable>,
    when: Vec<Arc<Formula>>,
}

impl Parser<'_, '_> {
    /// The effects of an action whose parameters are in `scope`.
    pub(super) fn effects(&mut self, scope: &mut Vec<Name>, out: &mut Vec<Effect>) -> Result<(), PddlError> {
        self.effect(scope, &mut Around::default(), out, 0)
    }

    fn effect(
        &mut self,
        scope: &mut Vec<Name>,
        around: &mut Around,
        out: &mut Vec<Effect>,
        depth: usize,
    ) -> Result<(), PddlError> {
        if depth > limits::NESTING {
            return Err(self.lexer.error(format!("effects nest more than {} deep", limits::NESTING)));
        }
        let at = self.lexer.position();
        self.open("an effect")?;
        if self.lexer.token() == Token::Close {
            return self.close();
        }
        match self.word("an effect")? {
            "and" => {
                while self.lexer.token() != Token::Close {
                    self.effect(scope, around, out, depth + 1)?;
                }
            }
            "when" => {
                around.when.push(Arc::new(self.formula(scope, depth + 1)?));
                self.effect(scope, around, out, depth + 1)?;
                around.when.pop();
            }
            "forall" => {
                self.open("the variables")?;
                let variables = self.variables()?;
                self.close()?;
                let (outer, before) = (scope.len(), around.each.len());
                scope.extend(variables.iter().map(|variable| variable.name));
                around.each.extend(variables);
                if around.each.len() > limits::ARITY {
                    return Err(self.too_large("variables around one effect", limits::ARITY));
                }
                self.effect(scope, around, out, depth + 1)?;
                around.each.truncate(before);
                scope.truncate(outer);
            }
            // Costs play no part in what is true.
            "increase" => self.skip_rest()?,
            "not" => {
                let at = self.lexer.position();
                self.open("a fact")?;
                let word = self.word("the name of a predicate")?;
                self.literal(false, word, at, scope, around, out)?;
                self.close()?;
            }
            word => self.literal(true, word, at, scope, around, out)?,
        }
        self.close()
    }

    fn literal(
        &mut self,
        adds: bool,
        word: &str,
        at: usize,
        scope: &[Name],
        around: &Around,
        out: &mut Vec<Effect>,
    ) -> Result<(), PddlError> {
        let predicate = self.predicate(word, at)?;
        let terms = self.terms(scope)?;
        self.check_arity(predicate, terms.len(), at)?;
        if out.len() >= limits::EFFECTS {
            return Err(self.too_large("effects of one action", limits::EFFECTS));
        }
        out.push(Effect { each: around.each.clone(), when: around.when.clone(), adds, predicate, terms });
        Ok(())
    }
}
