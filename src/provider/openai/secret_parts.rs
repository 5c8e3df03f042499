//! Finds the secret parts of a header's or query parameter's value: a server that rejects a value often echoes only a
//! part of it.

use super::secret::Secret;
use base64::alphabet;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use base64::engine::{DecodePaddingMode, Engine as _, GeneralPurpose, GeneralPurposeConfig};

/// Minimum length of a secret part, in bytes, unless the name of the value marks it as secret.
const MIN_PART_LEN: usize = 6;

/// Minimum length of a secret, in bytes. Shorter ones cannot be distinguished from other text.
const MIN_SECRET_LEN: usize = 4;

/// Placeholder keys for servers that need no key. Hiding these would only garble messages.
const PLACEHOLDERS: &[&str] = &[
    "any",
    "anything",
    "dummy",
    "empty",
    "fake",
    "key",
    "lm-studio",
    "local",
    "no-key",
    "no-key-required",
    "no_key",
    "nokey",
    "none",
    "not-needed",
    "null",
    "ollama",
    "placeholder",
    "sk-no-key-required",
    "test",
    "token",
    "unused",
];

/// Names of headers and parameters whose values are not secret.
const PUBLIC_NAMES: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "anthropic-beta",
    "anthropic-version",
    "api-version",
    "cache-control",
    "connection",
    "content-language",
    "content-length",
    "content-type",
    "http-referer",
    "openai-beta",
    "openai-organization",
    "openai-project",
    "origin",
    "referer",
    "user-agent",
    "x-title",
];

/// Substrings of names that mark every part of the value as secret.
const SECRET_NAME_PARTS: &[&str] =
    &["auth", "cookie", "credential", "jwt", "key", "pass", "pwd", "secret", "session", "sig", "token"];

/// Returns everything to hide in a value with this name: the value, its parts between white space, `;`, `,` and `=`,
/// the credentials in a `Basic` scheme, and the values taken from the environment.
pub(super) fn find_secret_parts(name: &str, value: &Secret) -> Vec<String> {
    let name = name.to_ascii_lowercase();
    let mut all: Vec<String> = Vec::new();
    for taken in value.environment_values() {
        add_parts(taken, true, &mut all);
    }
    let is_secret_name = SECRET_NAME_PARTS.iter().any(|s| name.contains(s));
    if is_secret_name {
        add_parts(value.expose(), true, &mut all);
    }
    all.retain(|word| {
        word.len() >= MIN_SECRET_LEN && !PLACEHOLDERS.iter().any(|p| word.eq_ignore_ascii_case(p))
    });
    if !is_secret_name && !PUBLIC_NAMES.contains(&name.as_str()) {
        let mut others = Vec::new();
        add_parts(value.expose(), false, &mut others);
        all.extend(others.into_iter().filter(|word| word.len() >= MIN_PART_LEN));
    }
    all
}

/// Returns a secret's encodings in hexadecimal, with and without colons, and in Base64, in both alphabets and with any
/// bytes before and after it.
pub(super) fn encodings(secret: &str) -> Vec<String> {
    let mut all = Vec::new();
    for digits in [b"0123456789abcdef", b"0123456789ABCDEF"] {
        let pair =
            |b: u8| [b >> 4, b & 15].map(|n| char::from(digits[usize::from(n)])).iter().collect::<String>();
        let pairs: Vec<String> = secret.bytes().map(pair).collect();
        all.extend(["", ":"].map(|separator| pairs.join(separator)));
    }
    for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
        for before in 0..3 {
            let encoded = engine.encode([&vec![0; before], secret.as_bytes()].concat());
            // Characters that also encode bits of the bytes before or after the secret depend on those bytes.
            let (start, end) = ([0, 2, 3][before], (before + secret.len()) * 8 / 6);
            let padding = "===".get(..(4 - encoded.len() % 4) % 4).unwrap_or_default();
            all.extend([&encoded[start..end], &encoded[start..]].map(str::to_owned));
            all.push(format!("{}{padding}", &encoded[start..]));
        }
    }
    all.retain(|encoded| encoded.len() >= MIN_PART_LEN);
    all
}

/// Adds the secret parts of a value. Unless its name marks it as `secret`, ordinary words in it are not secret.
fn add_parts(value: &str, secret: bool, all: &mut Vec<String>) {
    let value = value.trim();
    all.push(value.to_owned());
    let pieces: Vec<&str> = value.split(|c: char| c.is_whitespace() || matches!(c, ';' | ',')).collect();
    let pieces: Vec<&str> = pieces.into_iter().map(strip_quotes).filter(|p| !p.is_empty()).collect();
    for (n, piece) in pieces.iter().enumerate() {
        // Skip a scheme before the secret (`Bearer`, `Token`), but not a single word.
        if n == 0 && pieces.len() > 1 && is_ordinary_word(piece) {
            continue;
        }
        let hidden = |word: &str| secret || !is_ordinary_word(word);
        // `=` at the end is Base64 padding; one inside follows a name.
        match piece.trim_end_matches('=').split_once('=') {
            None => all.extend(
                [*piece, piece.trim_end_matches('=')].into_iter().filter(|p| hidden(p)).map(str::to_owned),
            ),
            Some((name, rest)) => {
                let behind = piece.get(name.len() + 1..).map_or(rest, strip_quotes);
                all.push((*piece).to_owned());
                all.extend(Some(name).filter(|n| !is_ordinary_word(n)).map(str::to_owned));
                let words = rest.split('=').map(strip_quotes).chain([behind]);
                all.extend(words.filter(|w| hidden(w)).map(str::to_owned));
            }
        }
    }
    if let [scheme, encoded, ..] = pieces[..]
        && scheme.eq_ignore_ascii_case("basic")
        && let Some(plain) = decode_base64(encoded)
    {
        let (user, password) = plain.split_once(':').unwrap_or((&plain, ""));
        all.extend([user, password].map(str::to_owned));
        all.push(plain);
    }
}

fn strip_quotes(word: &str) -> &str {
    word.trim_matches(['"', '\''])
}

/// Returns whether a word could be part of a sentence or a field name: letters in one case or capitalized, joined by
/// punctuation.
pub(super) fn is_ordinary_word(word: &str) -> bool {
    /// In bytes. Words in sentences are not longer, but a password of letters may be.
    const MAX_WORD_LEN: usize = 20;
    let is_ordinary_part = |part: &str| {
        let mut letters = part.chars();
        let first = letters.next();
        first.is_none_or(|c| c.is_ascii_alphabetic())
            && (letters.clone().all(|c| c.is_ascii_lowercase())
                || part.chars().all(|c| c.is_ascii_uppercase()))
    };
    word.split(['-', '_', '.', '/', ':']).all(|part| part.len() <= MAX_WORD_LEN && is_ordinary_part(part))
}

/// Decodes Base64 in either alphabet. Returns `None` if the input is not Base64 or does not encode UTF-8.
fn decode_base64(encoded: &str) -> Option<String> {
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let standard = encoded.replace('-', "+").replace('_', "/");
    let bytes = GeneralPurpose::new(&alphabet::STANDARD, LENIENT).decode(standard).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: only the whole value was redacted, so a part that a server echoed was shown.
    #[test]
    fn secret_parts_of_a_header_are_found_but_ordinary_words_are_not() {
        // Name, value, hidden parts, visible parts.
        type Case = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);
        let cases: &[Case] = &[
            (
                "Authorization",
                "Bearer sk-secret-123456",
                &["Bearer sk-secret-123456", "sk-secret-123456"],
                &["Bearer"],
            ),
            ("authorization", "Token onlyletters", &["onlyletters"], &["Token"]),
            ("AUTHORIZATION", "hunterhunter", &["hunterhunter"], &[]),
            (
                "Authorization",
                "Basic c29tZW9uZTpodW50ZXIyMg==",
                &[
                    "someone",
                    "hunter22",
                    "someone:hunter22",
                    "c29tZW9uZTpodW50ZXIyMg",
                    "c29tZW9uZTpodW50ZXIyMg==",
                ],
                &["Basic"],
            ),
            (
                "Cookie",
                "session=abcdef12; theme=q; id=\"xyz=12345\"",
                &["abcdef12", "xyz=12345", "session=abcdef12"],
                &["session", "theme"],
            ),
            ("X-Api-Key", "keyid77=a1b2c3d4", &["keyid77", "a1b2c3d4"], &[]),
            (
                "X-Team",
                "the reflection group, t0ken99",
                &["t0ken99", "the reflection group, t0ken99"],
                &["reflection", "group"],
            ),
            ("Content-Type", "application/json", &[], &["application/json", "application"]),
            ("User-Agent", "retrospect/1.0 (linux)", &[], &["retrospect/1.0"]),
            ("OpenAI-Organization", "org-1234567", &[], &["org-1234567"]),
        ];
        for (name, value, hidden, shown) in cases {
            let secrets = find_secret_parts(name, &Secret::new(value));
            for word in *hidden {
                assert!(secrets.iter().any(|s| s == word), "{name}: {word} in {secrets:?}");
            }
            for word in *shown {
                assert!(!secrets.iter().any(|s| s == word), "{name}: {word} in {secrets:?}");
            }
        }
    }

    #[test]
    fn environment_values_are_secret_under_every_name() {
        let variable = |name: &str| (name == "MINE").then(|| "letters of mine-99".to_owned());
        let secrets = find_secret_parts("User-Agent", &Secret::expand("me/${MINE} $$5", &variable).unwrap());
        assert!(
            ["letters of mine-99", "mine-99"].iter().all(|w| secrets.iter().any(|s| s == w)),
            "{secrets:?}"
        );
    }
}
