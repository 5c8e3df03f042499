//! A key, as configuration files write it and as terminals send it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key with its modifiers. Characters carry their case; Shift is kept only for other keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    modifiers: KeyModifiers,
}

const NAMED_KEYS: [(&str, &str, KeyCode); 15] = [
    ("space", "Space", KeyCode::Char(' ')),
    ("enter", "Enter", KeyCode::Enter),
    ("esc", "Esc", KeyCode::Esc),
    ("tab", "Tab", KeyCode::Tab),
    ("backspace", "Backspace", KeyCode::Backspace),
    ("delete", "Del", KeyCode::Delete),
    ("insert", "Ins", KeyCode::Insert),
    ("left", "←", KeyCode::Left),
    ("right", "→", KeyCode::Right),
    ("up", "↑", KeyCode::Up),
    ("down", "↓", KeyCode::Down),
    ("home", "Home", KeyCode::Home),
    ("end", "End", KeyCode::End),
    ("page-up", "PgUp", KeyCode::PageUp),
    ("page-down", "PgDn", KeyCode::PageDown),
];

impl Key {
    /// Parses a key as a file writes it: `n`, `U`, `space`, `ctrl-c`, `alt-left`, `shift-tab`, `f5`.
    ///
    /// # Errors
    /// Returns what is wrong with the text and what to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = text;
        while let Some((word, after)) = rest.split_once('-').filter(|s| !s.1.is_empty()) {
            modifiers |= match word {
                "ctrl" => KeyModifiers::CONTROL,
                "alt" => KeyModifiers::ALT,
                "shift" => KeyModifiers::SHIFT,
                _ => break,
            };
            rest = after;
        }
        let mut chars = rest.chars();
        let code = match (chars.next(), chars.next()) {
            (Some(c), None) if !c.is_control() => KeyCode::Char(c),
            _ => NAMED_KEYS
                .iter()
                .find(|n| n.0 == rest)
                .map(|n| n.2)
                .or_else(|| parse_function_key(rest))
                .ok_or_else(|| {
                    let names: Vec<&str> = NAMED_KEYS.iter().map(|n| n.0).collect();
                    format!("unknown key `{text}`; use one character, f1 to f12, or {}", names.join(", "))
                })?,
        };
        if let (KeyCode::Char(c), true) = (code, modifiers.contains(KeyModifiers::CONTROL)) {
            let same = match c.to_ascii_lowercase() {
                'i' => Some("tab"),
                'm' => Some("enter"),
                '[' => Some("esc"),
                _ => None,
            };
            if let Some(same) = same {
                return Err(format!("terminals send `{text}` as {same}; use {same}"));
            }
        }
        if let (KeyCode::Char(c), true) = (code, modifiers.contains(KeyModifiers::SHIFT))
            && c.is_alphabetic()
        {
            return Err(format!("use the capital letter `{}` instead of `{text}`", c.to_uppercase()));
        }
        Ok(Self { code, modifiers }.normalized())
    }

    /// Converts a key as a terminal sent it.
    pub fn from_event(event: KeyEvent) -> Self {
        Self { code: event.code, modifiers: event.modifiers }.normalized()
    }

    /// Unifies the different ways in which terminals send the same key.
    fn normalized(mut self) -> Self {
        let keep = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT;
        self.modifiers &= keep;
        match self.code {
            KeyCode::BackTab => {
                self.code = KeyCode::Tab;
                self.modifiers |= KeyModifiers::SHIFT;
            }
            KeyCode::Char(c) => {
                if self.modifiers.contains(KeyModifiers::CONTROL) {
                    self.code = KeyCode::Char(c.to_ascii_lowercase());
                } else if self.modifiers.contains(KeyModifiers::SHIFT) {
                    self.code = KeyCode::Char(c.to_ascii_uppercase());
                }
                self.modifiers -= KeyModifiers::SHIFT;
            }
            _ => {}
        }
        self
    }

    /// Returns true if typing the key inserts a character into text.
    pub fn is_character(self) -> bool {
        matches!(self.code, KeyCode::Char(_))
            && !self.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
    }

    /// Returns the key as the screen and the documents write it: `n`, `Space`, `Ctrl-C`, `←`.
    pub fn label(self) -> String {
        let mut label = String::new();
        for (modifier, word) in
            [(KeyModifiers::CONTROL, "Ctrl-"), (KeyModifiers::ALT, "Alt-"), (KeyModifiers::SHIFT, "Shift-")]
        {
            if self.modifiers.contains(modifier) {
                label.push_str(word);
            }
        }
        match self.code {
            KeyCode::F(n) => {
                label.push('F');
                label.push_str(&n.to_string());
            }
            code => match NAMED_KEYS.iter().find(|n| n.2 == code) {
                Some(named) => label.push_str(named.1),
                None => {
                    if let KeyCode::Char(c) = code {
                        let control = self.modifiers.contains(KeyModifiers::CONTROL);
                        label.push(if control { c.to_ascii_uppercase() } else { c });
                    }
                }
            },
        }
        label
    }
}

fn parse_function_key(text: &str) -> Option<KeyCode> {
    let number = text.strip_prefix(['f', 'F'])?.parse().ok()?;
    (1..=12).contains(&number).then_some(KeyCode::F(number))
}
