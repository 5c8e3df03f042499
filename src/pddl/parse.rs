//! Parses a domain and a problem, section by section, directly from the tokens (without building a syntax tree of the
//! whole text).

mod effect;
mod formula;

use super::error::{PddlError, PddlText};
use super::hash::{FastMap, FastSet};
use super::lexer::{Lexer, Token};
use super::limits;
use super::model::{Action, Formula, GroundAtom, Model, Object, Predicate, Variable};
use super::names::Name;

impl Model {
    /// Parses a domain and a problem that belongs to it.
    ///
    /// # Errors
    /// [`PddlError`] with the line and column of the first error.
    pub fn parse(domain: &str, problem: &str) -> Result<Self, PddlError> {
        let mut shared = ParsedTexts::default();
        let lower = domain.to_ascii_lowercase();
        Parser { lexer: Lexer::new(PddlText::Domain, &lower)?, shared: &mut shared }.parse_domain()?;
        let lower = problem.to_ascii_lowercase();
        Parser { lexer: Lexer::new(PddlText::Problem, &lower)?, shared: &mut shared }.parse_problem()?;
        Ok(shared.model)
    }
}

/// The data collected from both texts.
#[derive(Default)]
struct ParsedTexts {
    model: Model,
    predicate_numbers: FastMap<Name, usize>,
    known_objects: FastSet<Name>,
}

struct Parser<'t, 's> {
    lexer: Lexer<'t>,
    shared: &'s mut ParsedTexts,
}

impl<'t> Parser<'t, '_> {
    fn parse_domain(mut self) -> Result<(), PddlError> {
        let name = self.parse_head("domain")?;
        self.shared.model.domain = Some(name);
        while self.lexer.token() != Token::Close {
            self.expect_open("a section of the domain")?;
            match self.expect_word("the name of a section")? {
                ":requirements" => {
                    while let Token::Word(_) = self.lexer.token() {
                        self.lexer.next()?;
                    }
                }
                ":types" => self.parse_types()?,
                ":constants" => self.parse_objects()?,
                ":predicates" => self.parse_predicates()?,
                ":functions" => self.skip_rest()?,
                ":action" => self.parse_action()?,
                other => {
                    return Err(self.lexer.error(format!(
                        "the section {other:?} is not supported (types, constants, predicates, functions and actions are)"
                    )));
                }
            }
            self.expect_close()?;
        }
        self.expect_end()
    }

    fn parse_problem(mut self) -> Result<(), PddlError> {
        let name = self.parse_head("problem")?;
        self.shared.model.problem = Some(name);
        let mut has_goal = false;
        while self.lexer.token() != Token::Close {
            self.expect_open("a section of the problem")?;
            match self.expect_word("the name of a section")? {
                ":domain" => {
                    let name = self.expect_word("the name of a domain")?;
                    self.shared.model.problem_domain = Some(self.shared.model.names.intern(name));
                }
                ":requirements" | ":metric" | ":length" => self.skip_rest()?,
                ":objects" => self.parse_objects()?,
                ":init" => self.parse_init()?,
                ":goal" => {
                    self.shared.model.goal = self.parse_formula(&mut Vec::new(), 0)?;
                    has_goal = true;
                }
                other => {
                    return Err(self.lexer.error(format!(
                        "the section {other:?} is not supported (domain, objects, init, goal and metric are)"
                    )));
                }
            }
            self.expect_close()?;
        }
        if !has_goal {
            return Err(self.lexer.error("the problem has no goal"));
        }
        self.expect_end()
    }

    /// Parses `(define (KIND NAME)`, up to the first section.
    fn parse_head(&mut self, kind: &str) -> Result<Name, PddlError> {
        self.expect_open("(define")?;
        self.expect_keyword("define")?;
        self.expect_open("the head")?;
        self.expect_keyword(kind)?;
        let word = self.expect_word("a name")?;
        let name = self.shared.model.names.intern(word);
        self.expect_close()?;
        Ok(name)
    }

    fn expect_end(mut self) -> Result<(), PddlError> {
        self.expect_close()?;
        match self.lexer.token() {
            Token::End => Ok(()),
            _ => Err(self.lexer.error("text after the last parenthesis")),
        }
    }

    fn parse_types(&mut self) -> Result<(), PddlError> {
        self.parse_typed_list(limits::TYPES, "types", |parser, word, kinds| {
            let name = parser.shared.model.names.intern(word);
            for &kind in kinds {
                parser.shared.model.types.push((name, kind));
            }
        })
    }

    fn parse_objects(&mut self) -> Result<(), PddlError> {
        self.parse_typed_list(limits::OBJECTS, "objects", |parser, word, kinds| {
            let name = parser.shared.model.names.intern(word);
            parser.shared.known_objects.insert(name);
            for &kind in kinds {
                parser.shared.model.objects.push(Object { name, type_name: kind });
            }
        })
    }

    fn parse_predicates(&mut self) -> Result<(), PddlError> {
        while self.lexer.token() != Token::Close {
            let at = self.lexer.position();
            self.expect_open("a predicate")?;
            let word = self.expect_word("the name of a predicate")?;
            let name = self.shared.model.names.intern(word);
            let arity = self.parse_variables()?.len();
            self.expect_close()?;
            let next = self.shared.model.predicates.len();
            if next >= limits::PREDICATES {
                return Err(self.too_large("predicates", limits::PREDICATES));
            }
            let index = *self.shared.predicate_numbers.entry(name).or_insert(next);
            if index == next {
                self.shared.model.predicates.push(Predicate { name, arity });
            } else if self.shared.model.predicates[index].arity != arity {
                return Err(self.lexer.error_at(
                    at,
                    format!("the predicate {word:?} is declared twice, with different numbers of arguments"),
                ));
            }
        }
        Ok(())
    }

    fn parse_action(&mut self) -> Result<(), PddlError> {
        if self.shared.model.actions.len() >= limits::ACTIONS {
            return Err(self.too_large("actions", limits::ACTIONS));
        }
        let word = self.expect_word("the name of an action")?;
        let name = self.shared.model.names.intern(word);
        let mut action =
            Action { name, parameters: Vec::new(), precondition: Formula::default(), effects: Vec::new() };
        while let Token::Word(key) = self.lexer.token() {
            self.lexer.next()?;
            let mut scope: Vec<Name> = action.parameters.iter().map(|variable| variable.name).collect();
            match key {
                ":parameters" => {
                    self.expect_open("the parameters")?;
                    action.parameters = self.parse_variables()?;
                    self.expect_close()?;
                }
                ":precondition" => action.precondition = self.parse_formula(&mut scope, 0)?,
                ":effect" => self.parse_effects(&mut scope, &mut action.effects)?,
                other => return Err(self.lexer.error(format!("unknown key {other:?} in an action"))),
            }
        }
        self.shared.model.actions.push(action);
        Ok(())
    }

    fn parse_init(&mut self) -> Result<(), PddlError> {
        while self.lexer.token() != Token::Close {
            let at = self.lexer.position();
            self.expect_open("a fact")?;
            let word = self.expect_word("the name of a predicate")?;
            // Function values are ignored. Under the closed-world assumption, a negated fact adds nothing.
            if word == "=" || word == "not" {
                self.skip_rest()?;
                self.expect_close()?;
                continue;
            }
            let predicate = self.find_predicate(word, at)?;
            let mut objects = Vec::with_capacity(self.shared.model.predicates[predicate].arity);
            while let Token::Word(word) = self.lexer.token() {
                let name = self.shared.model.names.intern(word);
                if !self.shared.known_objects.contains(&name) {
                    return Err(self.lexer.error(format!("the object {word:?} is not declared")));
                }
                self.lexer.next()?;
                objects.push(name);
            }
            self.check_arity(predicate, objects.len(), at)?;
            self.expect_close()?;
            if self.shared.model.init.len() >= limits::INIT_FACTS {
                return Err(self.too_large("initial facts", limits::INIT_FACTS));
            }
            self.shared.model.init.push(GroundAtom { predicate, objects });
        }
        Ok(())
    }

    /// Looks up a declared predicate. If there is none, the error is located at byte offset `at`.
    fn find_predicate(&mut self, word: &str, at: usize) -> Result<usize, PddlError> {
        let name = self.shared.model.names.intern(word);
        self.shared
            .predicate_numbers
            .get(&name)
            .copied()
            .ok_or_else(|| self.lexer.error_at(at, format!("the predicate {word:?} is not declared")))
    }

    fn check_arity(&self, predicate: usize, given: usize, at: usize) -> Result<(), PddlError> {
        let declared = self.shared.model.predicates[predicate];
        if declared.arity == given {
            return Ok(());
        }
        let word = self.shared.model.names.text(declared.name);
        Err(self
            .lexer
            .error_at(at, format!("the predicate {word:?} takes {} arguments, not {given}", declared.arity)))
    }

    /// Parses `?a ?b - type ?c` up to the closing parenthesis.
    fn parse_variables(&mut self) -> Result<Vec<Variable>, PddlError> {
        let mut variables = Vec::new();
        self.parse_typed_list(limits::ARITY, "variables in one list", |parser, word, kinds| {
            let name = parser.shared.model.names.intern(word.strip_prefix('?').unwrap_or(word));
            variables.push(Variable { name, types: kinds.to_vec() });
        })?;
        Ok(variables)
    }

    /// Parses names in groups, each followed by `- type` or `- (either ...)`; the default type is `object`.
    fn parse_typed_list(
        &mut self,
        limit: usize,
        what: &'static str,
        mut each: impl FnMut(&mut Self, &'t str, &[Name]),
    ) -> Result<(), PddlError> {
        let mut pending: Vec<&'t str> = Vec::new();
        let mut count = 0;
        loop {
            let kinds = match self.lexer.token() {
                Token::Word("-") => {
                    self.lexer.next()?;
                    self.parse_type_names()?
                }
                Token::Word(word) => {
                    count += 1;
                    if count > limit {
                        return Err(self.too_large(what, limit));
                    }
                    pending.push(word);
                    self.lexer.next()?;
                    continue;
                }
                _ => vec![self.shared.model.names.intern("object")],
            };
            for word in pending.drain(..) {
                each(self, word, &kinds);
            }
            if !matches!(self.lexer.token(), Token::Word(_)) {
                return Ok(());
            }
        }
    }

    fn parse_type_names(&mut self) -> Result<Vec<Name>, PddlError> {
        if self.lexer.token() != Token::Open {
            let word = self.expect_word("a type")?;
            return Ok(vec![self.shared.model.names.intern(word)]);
        }
        self.lexer.next()?;
        self.expect_keyword("either")?;
        let mut kinds = Vec::new();
        while let Token::Word(word) = self.lexer.token() {
            if kinds.len() >= limits::ARITY {
                return Err(self.too_large("types in one either", limits::ARITY));
            }
            kinds.push(self.shared.model.names.intern(word));
            self.lexer.next()?;
        }
        self.expect_close()?;
        Ok(kinds)
    }

    /// Skips everything up to the parenthesis that closes the current list.
    fn skip_rest(&mut self) -> Result<(), PddlError> {
        let mut depth = 0_usize;
        loop {
            match self.lexer.token() {
                Token::End => return Err(self.lexer.error("the text ends inside a list")),
                Token::Open => depth += 1,
                Token::Close if depth == 0 => return Ok(()),
                Token::Close => depth -= 1,
                Token::Word(_) => {}
            }
            self.lexer.next()?;
        }
    }

    fn expect_open(&mut self, what: &str) -> Result<(), PddlError> {
        if self.lexer.token() != Token::Open {
            return Err(self.unexpected_token(&format!("\"(\" before {what}")));
        }
        self.lexer.next().map(|_| ())
    }

    fn expect_close(&mut self) -> Result<(), PddlError> {
        if self.lexer.token() != Token::Close {
            return Err(self.unexpected_token("\")\""));
        }
        self.lexer.next().map(|_| ())
    }

    fn expect_word(&mut self, what: &str) -> Result<&'t str, PddlError> {
        let Token::Word(word) = self.lexer.token() else { return Err(self.unexpected_token(what)) };
        self.lexer.next()?;
        Ok(word)
    }

    fn expect_keyword(&mut self, expected: &str) -> Result<(), PddlError> {
        match self.lexer.token() {
            Token::Word(word) if word == expected => self.lexer.next().map(|_| ()),
            _ => Err(self.unexpected_token(&format!("{expected:?}"))),
        }
    }

    fn unexpected_token(&self, expected: &str) -> PddlError {
        let found = match self.lexer.token() {
            Token::Open => "\"(\"".to_owned(),
            Token::Close => "\")\"".to_owned(),
            Token::End => "the end of the text".to_owned(),
            Token::Word(word) => format!("{:?}", word.chars().take(60).collect::<String>()),
        };
        self.lexer.error(format!("expected {expected}, found {found}"))
    }

    fn too_large(&self, what: &'static str, limit: usize) -> PddlError {
        self.lexer.error(format!("more than {limit} {what}"))
    }
}
