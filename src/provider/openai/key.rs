//! Words that must never be seen: keys, and the values of headers and query parameters, which may hold one.

use std::fmt;
use std::sync::Arc;

/// What stands where a secret was.
const HIDDEN: &str = "[hidden]";
/// A shorter word is no secret: servers that need no key are given things like `none`, and hiding those would only
/// garble what they say.
const SHORTEST: usize = 6;

/// A secret. It has no `Display`, and its `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Arc<str>);

impl Key {
    /// A secret; blanks around it are left away.
    pub fn new(text: &str) -> Self {
        Self(Arc::from(text.trim()))
    }

    /// Nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The secret itself, for the wire only.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// Takes secrets out of what a server says.
#[derive(Clone, Debug, Default)]
pub(super) struct Redactor {
    secrets: Vec<Key>,
}

impl Redactor {
    /// One that knows these secrets, the longest first: one may be a part of another.
    pub(super) fn new(secrets: impl IntoIterator<Item = Key>) -> Self {
        let mut secrets: Vec<Key> = secrets.into_iter().filter(|k| k.0.len() >= SHORTEST).collect();
        secrets.sort_by_key(|k| std::cmp::Reverse(k.0.len()));
        secrets.dedup();
        Self { secrets }
    }

    /// The text without any of them.
    pub(super) fn clean(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in &self.secrets {
            if clean.contains(secret.expose()) {
                clean = clean.replace(secret.expose(), HIDDEN);
            }
        }
        clean
    }

    /// How much of the end of a text could be the beginning of a secret.
    fn open_end(&self, text: &str) -> usize {
        beginning_of(text, self.secrets.iter().map(Key::expose))
    }
}

/// A redactor of text that comes in pieces: what could become a secret is held back until it is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Veil {
    redactor: Redactor,
    held: String,
}

impl Veil {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self { redactor, held: String::new() }
    }

    /// Takes a piece; gives what can be shown.
    pub(super) fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let mut clean = self.redactor.clean(&self.held);
        let open = self.redactor.open_end(&clean);
        self.held = clean.split_off(clean.len() - open);
        clean
    }

    /// What was held back, at the end.
    pub(super) fn end(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

/// The bytes at the end of a text that begin one of these patterns without being all of it.
pub(super) fn beginning_of<'a>(text: &str, patterns: impl Iterator<Item = &'a str>) -> usize {
    let mut longest = 0;
    for pattern in patterns {
        let most = text.len().min(pattern.len().saturating_sub(1));
        let found = (longest + 1..=most).rev().find(|n| {
            let tail = &text.as_bytes()[text.len() - n..];
            pattern.is_char_boundary(*n) && pattern.as_bytes().starts_with(tail)
        });
        longest = longest.max(found.unwrap_or(0));
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_shown_however_it_is_cut() {
        let secret = "sk-local-testé";
        let text = format!("s sk {secret}{secret} sk-local");
        let hidden = "s sk [hidden][hidden] sk-local";
        let redactor = Redactor::new([Key::new(secret), Key::new("none"), Key::new("sk-local-testé-longer")]);
        assert_eq!(redactor.clean(&text), hidden);
        for size in 1..text.len() {
            let mut veil = Veil::new(redactor.clone());
            let (mut seen, mut piece) = (String::new(), String::new());
            for (n, c) in text.chars().enumerate() {
                piece.push(c);
                if n % size == size - 1 {
                    seen.push_str(&veil.push(&std::mem::take(&mut piece)));
                    assert!(!seen.contains(secret));
                }
            }
            seen.push_str(&veil.push(&piece));
            seen.push_str(&veil.end());
            assert_eq!(seen, hidden, "pieces of {size}");
        }
        assert_eq!(format!("{:?} {redactor:?}", Key::new(secret)).matches(secret).count(), 0);
    }
}
