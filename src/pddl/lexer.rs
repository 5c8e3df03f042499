//! Lexer for PDDL text.
//!
//! The input is lower case. `;` starts a comment; parentheses and `?` are delimiters; non-ASCII bytes outside comments
//! are rejected.

use super::error::{PddlError, PddlText};

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Open,
    Close,
    Word(&'t str),
    End,
}

pub(super) struct Lexer<'t> {
    part: PddlText,
    text: &'t str,
    offset: usize,
    token_start: usize,
    token: Token<'t>,
}

impl<'t> Lexer<'t> {
    /// Creates a lexer for `text`, which must already be lower case, and reads the first token.
    pub(super) fn new(part: PddlText, text: &'t str) -> Result<Self, PddlError> {
        let mut lexer = Self { part, text, offset: 0, token_start: 0, token: Token::End };
        lexer.advance()?;
        Ok(lexer)
    }

    /// Returns the current token.
    pub(super) fn token(&self) -> Token<'t> {
        self.token
    }

    /// Returns the current token and advances to the next one.
    pub(super) fn next(&mut self) -> Result<Token<'t>, PddlError> {
        let token = self.token;
        self.advance()?;
        Ok(token)
    }

    /// Returns an error at the current token.
    pub(super) fn error(&self, reason: impl Into<String>) -> PddlError {
        self.error_at(self.token_start, reason)
    }

    /// Returns an error at a byte offset of the text.
    pub(super) fn error_at(&self, at: usize, reason: impl Into<String>) -> PddlError {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = before.split(|&byte| byte == b'\n').count();
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        PddlError::Text { part: self.part, line, column, reason: reason.into() }
    }

    /// Returns the byte offset of the current token.
    pub(super) fn position(&self) -> usize {
        self.token_start
    }

    fn advance(&mut self) -> Result<(), PddlError> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.offset) {
                Some(b';') => {
                    while bytes.get(self.offset).is_some_and(|&byte| byte != b'\n') {
                        self.offset += 1;
                    }
                }
                Some(&byte) if is_blank(byte) => self.offset += 1,
                _ => break,
            }
        }
        self.token_start = self.offset;
        self.token = match bytes.get(self.offset) {
            None => Token::End,
            Some(b'(') => {
                self.offset += 1;
                Token::Open
            }
            Some(b')') => {
                self.offset += 1;
                Token::Close
            }
            Some(_) => {
                self.offset += 1;
                while bytes.get(self.offset).is_some_and(|&byte| !is_delimiter(byte)) {
                    self.offset += 1;
                }
                if let Some(bad) =
                    bytes[self.token_start..self.offset].iter().position(|byte| !byte.is_ascii())
                {
                    return Err(self.error_at(
                        self.token_start + bad,
                        "non-ASCII characters are allowed only in comments",
                    ));
                }
                Token::Word(&self.text[self.token_start..self.offset])
            }
        };
        Ok(())
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | 0x09..=0x0d | 0x1c..=0x1f)
}

fn is_delimiter(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b'(' | b')' | b'?' | b';')
}
