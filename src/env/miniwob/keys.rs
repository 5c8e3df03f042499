//! Keys and their codes in W3C WebDriver.

/// A key with the modifier keys that are held down meanwhile, as characters of WebDriver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyStroke {
    /// In the order in which they are pressed.
    pub(super) modifiers: Vec<char>,
    pub(super) key: char,
}

const MODIFIERS: &[(&str, char)] =
    &[("C-", '\u{e009}'), ("S-", '\u{e008}'), ("A-", '\u{e00a}'), ("M-", '\u{e03d}')];

const SPECIAL_KEYS: &[(&str, char)] = &[
    ("<Backspace>", '\u{e003}'),
    ("<Tab>", '\u{e004}'),
    ("<Enter>", '\u{e006}'),
    ("<Escape>", '\u{e00c}'),
    ("<Space>", '\u{e00d}'),
    ("<PageUp>", '\u{e00e}'),
    ("<PageDown>", '\u{e00f}'),
    ("<End>", '\u{e010}'),
    ("<Home>", '\u{e011}'),
    ("<ArrowLeft>", '\u{e012}'),
    ("<ArrowUp>", '\u{e013}'),
    ("<ArrowRight>", '\u{e014}'),
    ("<ArrowDown>", '\u{e015}'),
    ("<Delete>", '\u{e017}'),
];

/// The list by whose index DORA's actions name a key, in the order of the pages' package: these, [`INDEXED_CHARACTERS`],
/// [`KEYPAD`], the letters, four keys with control, and the capital letters.
const INDEXED_KEYS: &[&str] = &[
    "<Enter>",
    "<PageUp>",
    "<PageDown>",
    "<Backspace>",
    "<Delete>",
    "<Tab>",
    "<Space>",
    "<ArrowUp>",
    "<ArrowRight>",
    "<ArrowDown>",
    "<ArrowLeft>",
];
const INDEXED_CHARACTERS: &str = "[]-=;\"\\,./`1234567890";
/// The numeric keypad: 0 to 9, plus, times, minus, divided by, the decimal point, and enter.
const KEYPAD: &str = "\u{e01a}\u{e01b}\u{e01c}\u{e01d}\u{e01e}\u{e01f}\u{e020}\u{e021}\u{e022}\u{e023}\u{e025}\u{e024}\u{e027}\u{e029}\u{e028}\u{e007}";

/// Parses a key: a character, or a name in angle brackets, after `C-`, `S-`, `A-` or `M-` for each modifier key.
///
/// # Errors
/// Returns that the text is no key.
pub(super) fn parse_stroke(text: &str) -> Result<KeyStroke, String> {
    let (mut rest, mut modifiers) = (text, Vec::new());
    while let Some((code, after)) =
        MODIFIERS.iter().find_map(|(prefix, code)| Some((*code, rest.strip_prefix(prefix)?)))
    {
        modifiers.push(code);
        rest = after;
    }
    let special = SPECIAL_KEYS.iter().find(|(name, _)| *name == rest).map(|(_, code)| *code);
    let mut characters = rest.chars();
    match (special, characters.next(), characters.next()) {
        (Some(key), ..) | (None, Some(key), None) => Ok(KeyStroke { modifiers, key }),
        _ => Err(not_a_key(text)),
    }
}

/// Returns the key with this index.
///
/// # Errors
/// Returns that there is none.
pub(super) fn stroke_of_index(index: usize) -> Result<KeyStroke, String> {
    if let Some(name) = INDEXED_KEYS.get(index) {
        return parse_stroke(name);
    }
    let plain = |key| (Vec::new(), key);
    let with_control = |key| (vec!['\u{e009}'], key);
    let keys = INDEXED_CHARACTERS.chars().chain(KEYPAD.chars()).chain('a'..='z').map(plain);
    let mut keys = keys.chain("acxv".chars().map(with_control)).chain(('A'..='Z').map(plain));
    let (modifiers, key) = keys
        .nth(index - INDEXED_KEYS.len())
        .ok_or_else(|| format!("there is no key {index}; name keys by their characters, or as `<Enter>`"))?;
    Ok(KeyStroke { modifiers, key })
}

/// Returns the key that RCI's `press` names.
///
/// # Errors
/// Returns that there is none.
pub(super) fn rci_stroke(word: &str) -> Result<KeyStroke, String> {
    let name = match word.to_lowercase().as_str() {
        "enter" => "<Enter>",
        "backspace" => "<Backspace>",
        "space" => "<Space>",
        "arrowleft" => "<ArrowLeft>",
        "arrowright" => "<ArrowRight>",
        "arrowup" => "<ArrowUp>",
        "arrowdown" => "<ArrowDown>",
        _ => return Err(not_a_key(word)),
    };
    parse_stroke(name)
}

fn not_a_key(text: &str) -> String {
    format!("`{}` is not a key", crate::text::prefix(text, 40))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_indices() {
        let cases = [
            (0, "<Enter>"),
            (10, "<ArrowLeft>"),
            (11, "["),
            (21, "`"),
            (22, "1"),
            (31, "0"),
            (48, "a"),
            (73, "z"),
        ];
        for (index, name) in cases.into_iter().chain([(74, "C-a"), (77, "C-v"), (78, "A"), (103, "Z")]) {
            assert_eq!(stroke_of_index(index), parse_stroke(name), "{index} {name}");
        }
        assert_eq!(stroke_of_index(32).unwrap().key, '\u{e01a}');
        assert_eq!(stroke_of_index(47).unwrap().key, '\u{e007}');
        assert!(stroke_of_index(104).is_err());
    }

    #[test]
    fn modifiers_precede_the_key() {
        let stroke = parse_stroke("C-S-<Tab>").unwrap();
        assert_eq!(stroke, KeyStroke { modifiers: vec!['\u{e009}', '\u{e008}'], key: '\u{e004}' });
        assert_eq!(parse_stroke("-").unwrap().key, '-');
        for text in ["", "ab", "C-", "<Foo>"] {
            assert!(parse_stroke(text).is_err(), "{text:?}");
        }
    }
}
