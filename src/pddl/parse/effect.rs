//! Parses effects and flattens them into literals.

use super::Parser;
use crate::pddl::error::PddlError;
use crate::pddl::lexer::Token;
use crate::pddl::limits;
use crate::pddl::model::{Effect, Formula, Variable};
use crate::pddl::names::Name;
use std::sync::Arc;

/// The quantifiers and conditions that enclose an effect.
#[derive(Clone, Default)]
struct EffectContext {
    variables: Vec<Variable>,
    conditions: Vec<Arc<Formula>>,
}

impl Parser<'_, '_> {
    /// Parses the effects of an action whose parameters are in `scope`.
    pub(super) fn parse_effects(
        &mut self,
        scope: &mut Vec<Name>,
        out: &mut Vec<Effect>,
    ) -> Result<(), PddlError> {
        self.parse_effect(scope, &mut EffectContext::default(), out, 0)
    }

    fn parse_effect(
        &mut self,
        scope: &mut Vec<Name>,
        context: &mut EffectContext,
        out: &mut Vec<Effect>,
        depth: usize,
    ) -> Result<(), PddlError> {
        if depth > limits::NESTING {
            return Err(self
                .lexer
                .error(format!("effects are nested more than {} levels deep", limits::NESTING)));
        }
        let at = self.lexer.position();
        self.expect_open("an effect")?;
        if self.lexer.token() == Token::Close {
            return self.expect_close();
        }
        match self.expect_word("an effect")? {
            "and" => {
                while self.lexer.token() != Token::Close {
                    self.parse_effect(scope, context, out, depth + 1)?;
                }
            }
            "when" => {
                context.conditions.push(Arc::new(self.parse_formula(scope, depth + 1)?));
                self.parse_effect(scope, context, out, depth + 1)?;
                context.conditions.pop();
            }
            "forall" => {
                self.expect_open("the variables")?;
                let variables = self.parse_variables()?;
                self.expect_close()?;
                let (outer, before) = (scope.len(), context.variables.len());
                scope.extend(variables.iter().map(|variable| variable.name));
                context.variables.extend(variables);
                if context.variables.len() > limits::ARITY {
                    return Err(self.too_large("quantified variables enclosing one effect", limits::ARITY));
                }
                self.parse_effect(scope, context, out, depth + 1)?;
                context.variables.truncate(before);
                scope.truncate(outer);
            }
            // Costs don't affect which facts are true.
            "increase" => self.skip_rest()?,
            "not" => {
                let at = self.lexer.position();
                self.expect_open("a fact")?;
                let word = self.expect_word("the name of a predicate")?;
                self.parse_effect_literal(false, word, at, scope, context, out)?;
                self.expect_close()?;
            }
            word => self.parse_effect_literal(true, word, at, scope, context, out)?,
        }
        self.expect_close()
    }

    fn parse_effect_literal(
        &mut self,
        is_add: bool,
        word: &str,
        at: usize,
        scope: &[Name],
        context: &EffectContext,
        out: &mut Vec<Effect>,
    ) -> Result<(), PddlError> {
        let predicate = self.find_predicate(word, at)?;
        let terms = self.parse_terms(scope)?;
        self.check_arity(predicate, terms.len(), at)?;
        if out.len() >= limits::EFFECTS {
            return Err(self.too_large("effects of one action", limits::EFFECTS));
        }
        out.push(Effect {
            variables: context.variables.clone(),
            conditions: context.conditions.clone(),
            is_add,
            predicate,
            terms,
        });
        Ok(())
    }
}
