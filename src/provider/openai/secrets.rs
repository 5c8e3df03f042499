//! Which words of a header's or a query's value are secrets: a server that refuses one seldom says the whole value back.

use super::key::Key;

/// A shorter word is no secret: servers that need no key are given things like `none`, and hiding those would only
/// garble what they say.
pub(super) const SHORTEST: usize = 6;

/// Names whose values are no secrets: what they say is ordinary text, and is not hidden from it.
const OPEN: &[&str] = &[
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

/// What a name has in it whose value is a secret in every part.
const SECRET: &[&str] =
    &["auth", "cookie", "credential", "jwt", "key", "pass", "pwd", "secret", "session", "sig", "token"];

/// All that must not be seen of a value under this name: the value, its parts between blanks, `;`, `,` and `=`, what a
/// `Basic` scheme hides in it, and whatever was taken from the environment.
pub(super) fn of(name: &str, value: &Key) -> Vec<String> {
    let name = name.to_ascii_lowercase();
    let mut all: Vec<String> = Vec::new();
    for taken in value.taken() {
        parts(taken, true, &mut all);
    }
    if !OPEN.contains(&name.as_str()) {
        parts(value.expose(), SECRET.iter().any(|s| name.contains(s)), &mut all);
    }
    all.retain(|word| word.len() >= SHORTEST);
    all
}

/// The parts of a value; where it is not secret by its name, ordinary words of it are none.
fn parts(value: &str, secret: bool, all: &mut Vec<String>) {
    let value = value.trim();
    all.push(value.to_owned());
    let pieces: Vec<&str> = value.split(|c: char| c.is_whitespace() || matches!(c, ';' | ',')).collect();
    let pieces: Vec<&str> = pieces.into_iter().map(unquoted).filter(|p| !p.is_empty()).collect();
    for (n, piece) in pieces.iter().enumerate() {
        // A scheme before the secret (`Bearer`, `Token`), not a word that is all there is.
        if n == 0 && pieces.len() > 1 && is_word(piece) {
            continue;
        }
        let hidden = |word: &str| secret || !is_word(word);
        // `=` at the end fills a number to base 64 up; one inside stands behind a name.
        match piece.trim_end_matches('=').split_once('=') {
            None => all.extend(
                [*piece, piece.trim_end_matches('=')].into_iter().filter(|p| hidden(p)).map(str::to_owned),
            ),
            Some((name, rest)) => {
                let behind = piece.get(name.len() + 1..).map_or(rest, unquoted);
                all.push((*piece).to_owned());
                all.extend(Some(name).filter(|n| !is_word(n)).map(str::to_owned));
                let words = rest.split('=').map(unquoted).chain([behind]);
                all.extend(words.filter(|w| hidden(w)).map(str::to_owned));
            }
        }
    }
    if let [scheme, coded, ..] = pieces[..]
        && scheme.eq_ignore_ascii_case("basic")
        && let Some(plain) = decoded(coded)
    {
        let (user, password) = plain.split_once(':').unwrap_or((&plain, ""));
        all.extend([user, password].map(str::to_owned));
        all.push(plain);
    }
}

fn unquoted(word: &str) -> &str {
    word.trim_matches(['"', '\''])
}

/// An ordinary word, as in sentences and names of fields: letters in one case or with a first capital, joined by signs.
fn is_word(word: &str) -> bool {
    /// No word of a sentence is as long; a password of letters may be.
    const LONGEST: usize = 20;
    let one = |part: &str| {
        let mut letters = part.chars();
        let first = letters.next();
        first.is_none_or(|c| c.is_ascii_alphabetic())
            && (letters.clone().all(|c| c.is_ascii_lowercase())
                || part.chars().all(|c| c.is_ascii_uppercase()))
    };
    word.split(['-', '_', '.', '/', ':']).all(|part| part.len() <= LONGEST && one(part))
}

/// The text that base 64 stands for, with either of its two alphabets; none where it is none.
fn decoded(coded: &str) -> Option<String> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in coded.trim_end_matches('=').bytes() {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(six)) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only the whole value was known: a server that said a part of it back was believed.
    #[test]
    fn every_part_of_a_header_that_may_be_a_secret_is_one_and_ordinary_words_are_none() {
        // Name, value, what must not be seen, what may be.
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
            let secrets = of(name, &Key::new(value));
            for word in *hidden {
                assert!(secrets.iter().any(|s| s == word), "{name}: {word} in {secrets:?}");
            }
            for word in *shown {
                assert!(!secrets.iter().any(|s| s == word), "{name}: {word} in {secrets:?}");
            }
        }
    }

    #[test]
    fn what_was_taken_from_the_environment_is_a_secret_under_every_name() {
        let variable = |name: &str| (name == "MINE").then(|| "letters of mine-99".to_owned());
        let secrets = of("User-Agent", &Key::expanded("me/${MINE} $$5", &variable).unwrap());
        assert!(
            ["letters of mine-99", "mine-99"].iter().all(|w| secrets.iter().any(|s| s == w)),
            "{secrets:?}"
        );
    }
}
