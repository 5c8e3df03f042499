//! Redacts the text of a stream as it arrives: holds back text that may become a secret until the next pieces decide.

use super::redactor::Redactor;
use super::secret::REDACTED;
use super::server_data::UnredactedText;

/// How many bytes of released text are searched again together with the text that follows.
const CONTEXT_BYTES: usize = 256;

/// A redactor for text that arrives in pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamRedactor {
    redactor: Redactor,
    /// The end of the released or hidden text, followed by the text that is held back.
    text: String,
    /// Index in `text` at which the held-back text starts.
    pending_start: usize,
    /// The released text ends with [`REDACTED`].
    ends_redacted: bool,
}

impl StreamRedactor {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self { redactor, ..Self::default() }
    }

    /// Adds a piece and returns the text that can be shown.
    pub(super) fn push(&mut self, piece: &UnredactedText) -> String {
        self.text.push_str(piece.unredacted());
        // Even a complete secret may be the beginning of a longer one.
        let pending_len = self.redactor.pending_len(&self.text);
        let limit = (self.text.len() - pending_len).max(self.pending_start);
        self.release_before(limit)
    }

    /// Ends the text and returns what was held back.
    pub(super) fn finish(&mut self) -> String {
        self.release_before(self.text.len())
    }

    /// Releases the text before `limit`, except for a secret that extends beyond it.
    fn release_before(&mut self, limit: usize) -> String {
        let (mut clean, mut shown, mut end) = (String::new(), self.pending_start, limit);
        for secret in self.redactor.find_secrets(&self.text) {
            if secret.end <= self.pending_start {
                continue;
            }
            if secret.end > limit {
                end = limit.min(secret.start.max(self.pending_start));
                break;
            }
            // Any part of the secret released before it was recognized is shorter than the shortest part that counts as
            // a leak.
            let from = secret.start.max(self.pending_start);
            if from > shown {
                clean.push_str(&self.text[shown..from]);
                self.ends_redacted = false;
            }
            if !(self.ends_redacted && secret.start < self.pending_start) {
                clean.push_str(REDACTED);
            }
            self.ends_redacted = true;
            shown = secret.end;
        }
        if end > shown {
            clean.push_str(&self.text[shown..end]);
            self.ends_redacted = false;
        }
        self.pending_start = end.max(shown);
        let mut cut = self.pending_start.saturating_sub(CONTEXT_BYTES);
        while !self.text.is_char_boundary(cut) {
            cut -= 1;
        }
        self.text.drain(..cut);
        self.pending_start -= cut;
        clean
    }
}

#[cfg(test)]
mod tests {
    use super::super::secret::Secret;
    use super::super::secret_parts;
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    const KEY: &str = "sk-R3al0neQ7vXw9TzB4mK8pL2cD6fH1jN5sG0yAuE";

    fn redactor(keys: &[&str]) -> Redactor {
        let keys: Vec<Secret> = keys.iter().map(|key| Secret::new(key)).collect();
        Redactor::new(keys.iter().map(|key| ("key", key)), ["<think>", "</think>"])
    }

    /// Redacts a text that arrives in pieces of `size` characters.
    fn redact_in_pieces(redactor: &Redactor, text: &str, size: usize) -> String {
        let mut stream = StreamRedactor::new(redactor.clone());
        let chars: Vec<char> = text.chars().collect();
        let pieces =
            chars.chunks(size).map(|p| stream.push(&UnredactedText::new(&p.iter().collect::<String>())));
        let seen = pieces.collect::<String>();
        seen + &stream.finish()
    }

    /// Returns texts that contain the key, or enough of it, in some form.
    fn key_forms() -> Vec<String> {
        let escaped = |form: fn(u8) -> String| KEY.bytes().map(form).collect::<String>();
        let mut forms = vec![
            KEY.to_owned(),
            KEY[..28].to_owned(),
            KEY[9..40].to_owned(),
            format!("Bearer {KEY}"),
            escaped(|b| format!("%{b:02x}")),
            escaped(|b| format!("\\u{b:04x}")),
            escaped(|b| format!("\\x{b:02x}")),
            escaped(|b| format!("&#{b};")),
            escaped(|b| format!("&#x{b:X};")),
            KEY.bytes().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(":"),
            escaped(|b| format!("{b:02x}")),
            escaped(|b| format!("{b:02X}")),
            KEY.split("").collect::<Vec<_>>().join("\u{200b}"),
            KEY.split("").collect::<Vec<_>>().join("\u{1b}[31m"),
            KEY.as_bytes().chunks(6).map(String::from_utf8_lossy).collect::<Vec<_>>().join("</think>"),
        ];
        for before in ["", "u", "me", "user:", "user2:", "user33:"] {
            for after in ["", "\n", ":x", "any"] {
                let text = format!("{before}{KEY}{after}");
                forms.extend([STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD].map(|e| e.encode(&text)));
            }
        }
        forms
    }

    /// Returns the text as a person sees it.
    fn as_displayed(text: &str) -> String {
        crate::text::clean(&text.replace("<think>", "").replace("</think>", "")).into_owned()
    }

    /// Returns eight consecutive characters of the key or of one of its encodings that a text contains.
    fn leaked_part(text: &str) -> Option<String> {
        let text = as_displayed(text);
        let forms = [KEY.to_owned()].into_iter().chain(secret_parts::encodings(KEY));
        let windows = forms.flat_map(|f| f.as_bytes().windows(8).map(<[u8]>::to_vec).collect::<Vec<_>>());
        windows.map(|w| String::from_utf8(w).unwrap()).find(|w| text.contains(w.as_str()))
    }

    /// Regression: Base64 and hexadecimal encodings were shown, and so were parts of a truncated key.
    #[test]
    fn no_encoding_or_part_of_a_key_is_shown() {
        let redactor = redactor(&[KEY]);
        for form in key_forms() {
            let text = format!("your key {form} is wrong");
            assert_eq!(leaked_part(&redactor.redact(&text)), None, "{text}: {}", redactor.redact(&text));
            assert!(redactor.redact(&text).starts_with("your key "), "{}", redactor.redact(&text));
            assert!(redactor.redact(&text).ends_with(" is wrong"), "{}", redactor.redact(&text));
            for size in [1, 5, 8, 40] {
                let shown = redact_in_pieces(&redactor, &text, size);
                assert_eq!(leaked_part(&shown), None, "{text} in pieces of {size}: {shown}");
                // Seven characters of a Base64 key may be shown before the eighth identifies it.
                if form != KEY[9..40] && !form.contains("</think>") {
                    assert_eq!(shown, redactor.redact(&text), "{text} in pieces of {size}");
                }
            }
        }
    }

    #[test]
    fn ordinary_words_in_a_key_are_not_hidden() {
        let redactor = redactor(&["household-kitchen-test-1", "https://proxy.example/u7", "ollama", "none"]);
        for text in [
            "a household with a kitchen-test",
            "https://example.org/ and https://proxy.example/",
            "ollama run qwen3:4b; none of it is EMPTY",
        ] {
            assert_eq!(redactor.redact(text), text);
            assert_eq!(redact_in_pieces(&redactor, text, 3), text);
        }
        assert_eq!(redactor.redact("is household-kitchen-test-1 it?"), "is [hidden] it?");
    }

    /// Regression: a key of four letters was shown. The same letters inside a word are not the key.
    #[test]
    fn short_key_is_hidden_as_a_whole_word() {
        let redactor = redactor(&["abcd", "k3y9!"]);
        for (text, hidden) in [
            ("wrong key abcd.", "wrong key [hidden]."),
            ("abcd", "[hidden]"),
            ("abcde xabcd abcd1", "abcde xabcd abcd1"),
            ("k3y9!k3y9!x", "[hidden][hidden]x"),
        ] {
            assert_eq!(redactor.redact(text), hidden);
            for size in 1..5 {
                assert_eq!(redact_in_pieces(&redactor, text, size), hidden, "{text} in pieces of {size}");
            }
        }
        assert_eq!(redactor.redact("hex 61626364, coded YWJjZA=="), "hex [hidden], coded [hidden]");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Wherever the text is cut in two, and whatever surrounds the key.
        #[test]
        fn cut_text_never_leaks_a_key(
            before in "[ -~]{0,12}", after in "[ -~]{0,12}", form in 0..60_usize, cut in 0..400_usize, end in 0..400_usize,
        ) {
            let redactor = redactor(&[KEY]);
            let forms = key_forms();
            let text = format!("{before}{}{after}", forms[form % forms.len()]);
            let boundary_before = |n: usize| (0..=n.min(text.len())).rev().find(|n| text.is_char_boundary(*n)).unwrap_or(0);
            prop_assert_eq!(leaked_part(&redactor.redact(&text[..boundary_before(end)])), None);
            prop_assert_eq!(leaked_part(&redactor.redact(&text[boundary_before(end)..])), None);
            let mut stream = StreamRedactor::new(redactor);
            let mut shown = stream.push(&UnredactedText::new(&text[..boundary_before(cut)]));
            shown += &stream.push(&UnredactedText::new(&text[boundary_before(cut)..]));
            shown += &stream.finish();
            prop_assert_eq!(leaked_part(&shown), None, "{}", shown);
        }
    }

    #[test]
    fn secret_is_never_shown_however_it_is_cut() {
        let secret = "sk-local-testé";
        let text = format!("s sk {secret}{secret} sk-local");
        let hidden = "s sk [hidden][hidden] sk-local";
        let keys = [secret, "none", "sk-local-testé-longer"].map(Secret::new);
        let redactor = Redactor::new(keys.iter().map(|key| ("key", key)), []);
        assert_eq!(redactor.redact(&text), hidden);
        assert_eq!(redactor.redact("sk-local-testé-longer"), "[hidden]");
        for size in 1..text.len() {
            let mut stream = StreamRedactor::new(redactor.clone());
            let (mut seen, mut piece) = (String::new(), String::new());
            for (n, c) in text.chars().enumerate() {
                piece.push(c);
                if n % size == size - 1 {
                    seen.push_str(&stream.push(&UnredactedText::new(&std::mem::take(&mut piece))));
                    assert!(!seen.contains(secret));
                }
            }
            seen.push_str(&stream.push(&UnredactedText::new(&piece)));
            seen.push_str(&stream.finish());
            assert_eq!(seen, hidden, "pieces of {size}");
        }
        assert_eq!(format!("{:?} {redactor:?}", Secret::new(secret)).matches(secret).count(), 0);
    }

    /// Regression: the shorter of two secrets was hidden as soon as it was complete, and the rest of the longer one
    /// shown.
    #[test]
    fn overlapping_secrets_are_hidden_completely() {
        let keys = ["abcdef", "abcdefghij", "ijklmnop"].map(Secret::new);
        let redactor = Redactor::new(keys.iter().map(|key| ("key", key)), []);
        for (text, hidden) in
            [("1 abcdefghij 2", "1 [hidden] 2"), ("abcdefghijklmnop", "[hidden]"), ("abcdefgh", "[hidden]gh")]
        {
            let mut stream = StreamRedactor::new(redactor.clone());
            let pieces: String =
                text.split_inclusive(|_| true).map(|p| stream.push(&UnredactedText::new(p))).collect();
            assert_eq!(
                (redactor.redact(text), pieces + &stream.finish()),
                (hidden.to_owned(), hidden.to_owned())
            );
        }
    }

    /// Regression: a key that a server echoed percent-encoded was shown.
    #[test]
    fn escaped_secret_is_hidden() {
        let keys = ["sk/a+b=é9", "c29tZW9uZTpodW50ZXIyMg=="].map(Secret::new);
        let redactor = Redactor::new(keys.iter().map(|key| ("key", key)), []);
        for (text, hidden) in [
            ("?key=sk%2Fa%2Bb%3D%C3%A99&x=1", "?key=[hidden]&x=1"),
            ("?key=sk%2fa%2bb%3d%c3%A99", "?key=[hidden]"),
            ("sk/a%2Bb=é9 100% of it", "[hidden] 100% of it"),
            ("%73%6b%2F%61%2B%62%3D%C3%A9%39", "[hidden]"),
            ("Basic c29tZW9uZTpodW50ZXIyMg%3D%3D.", "Basic [hidden]."),
            ("50%, 5%4 and %zz sk%2F", "50%, 5%4 and %zz sk%2F"),
            ("%", "%"),
            ("sk%2Fa%2", "sk%2Fa%2"),
            // `sk/a+b` is also a secret by itself, and eight matching bytes of the whole secret suffice to hide them.
            ("sk%2Fa%2Bb%3D%C3%A", "[hidden]%A"),
        ] {
            assert_eq!(redactor.redact(text), hidden, "{text}");
            for size in 1..=text.len() {
                let mut stream = StreamRedactor::new(redactor.clone());
                let chars: Vec<char> = text.chars().collect();
                let pieces = chars
                    .chunks(size)
                    .map(|p| stream.push(&UnredactedText::new(&p.iter().collect::<String>())));
                let seen = pieces.collect::<String>();
                assert_eq!(seen + &stream.finish(), hidden, "{text} in pieces of {size}");
            }
        }
    }
}
