//! Escapes untrusted text for Markdown, HTML, SVG and JSON documents, so that it is never interpreted as markup. Used
//! by every exporter.

use super::clean::is_misleading;
use super::{clean, one_line};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes text for HTML and SVG, as element content or a quoted attribute.
pub fn escape_html(text: &str) -> String {
    let text = clean(text);
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Escapes text for one line of Markdown, in a sentence, a heading or a table cell: no HTML, emphasis or link, and no
/// new block.
pub fn escape_markdown(text: &str) -> String {
    let line = one_line(text);
    let mut out = String::with_capacity(line.len() + 8);
    for (index, c) in line.char_indices() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '*' | '_' | '`' | '[' | ']' | '|' | '\\' | '#' | '~' | '$' => out.extend(['\\', c]),
            // At the start of a line these begin a list, a quotation or a heading.
            '>' | '-' | '+' | '=' if index == 0 => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// Formats text as inline Markdown code, with a delimiter longer than any run of backticks in the text; also suitable
/// for table cells.
pub fn markdown_code(text: &str) -> String {
    let line = one_line(text);
    let line = line.trim();
    if line.is_empty() {
        return "(empty)".to_owned();
    }
    let ticks = "`".repeat(longest_backtick_run(line) + 1);
    let pad = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{line}{pad}{ticks}")
}

/// Formats text as a Markdown code block, with a fence longer than any run of backticks in the text.
pub fn markdown_block(text: &str) -> String {
    let text = clean(text);
    let ticks = "`".repeat((longest_backtick_run(&text) + 1).max(3));
    format!("{ticks}\n{}\n{ticks}\n", text.trim_end())
}

fn longest_backtick_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Escapes everything in a JSON document that could control a terminal or hide text: DEL, C1 controls, line separators
/// and bidirectional controls. These occur only inside strings, so escaping them doesn't change the document's
/// value.
pub fn escape_json(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.contains('\u{7f}') {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if !('\u{7f}'..='\u{9f}').contains(&c) && !matches!(c, '\u{2028}' | '\u{2029}') && !is_misleading(c) {
            escaped.push(c);
            continue;
        }
        let mut units = [0; 2];
        for unit in c.encode_utf16(&mut units) {
            // Writing to a `String` cannot fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    Cow::Owned(escaped)
}

/// Removes possible secrets from a server address: user name and password, query values and fragment.
pub fn redact_url(url: &str) -> String {
    const HIDDEN: &str = "[hidden]";
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    let (rest, fragment) = rest.split_once('#').map_or((rest, ""), |(rest, _)| (rest, "#[hidden]"));
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    // A password may contain an unescaped slash.
    let (host, path) = match rest.rsplit_once('@') {
        Some((_, after)) => {
            let (host, path) = after.split_at(after.find('/').unwrap_or(after.len()));
            (format!("{HIDDEN}@{host}"), path)
        }
        None => (host.to_owned(), path),
    };
    let query = query.map_or_else(String::new, |query| {
        let redact_pair = |pair: &str| match pair.split_once('=') {
            Some((name, _)) => format!("{name}={HIDDEN}"),
            None => HIDDEN.to_owned(),
        };
        format!("?{}", query.split('&').map(redact_pair).collect::<Vec<_>>().join("&"))
    });
    format!("{scheme}{host}{path}{query}{fragment}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "<script>x</script> <img onerror=\"x\" src='y'> a|b `c` ``` [l](j:x) *e* _u_ # ~~s~~ $m$ &amp; \
                           \u{1b}[31m \u{9b}31m \u{7f} \u{7} \u{202e} \u{2066} \u{2028} line\nbreak";

    #[test]
    fn hostile_text_is_never_markup() {
        let page = escape_html(HOSTILE);
        assert!(!page.contains(['<', '>', '"', '\'']), "{page}");
        let line = escape_markdown(HOSTILE);
        assert!(!line.contains(['<', '\n']), "{line}");
        for c in ['|', '`', '[', ']', '*', '_', '#', '~', '$'] {
            assert!(line.match_indices(c).all(|(index, _)| line[..index].ends_with('\\')), "{c}: {line}");
        }
        let code = markdown_code(HOSTILE);
        assert!(code.starts_with("````") && code.ends_with("````") && !code.contains('\n'), "{code}");
        assert!(markdown_block(HOSTILE).starts_with("````\n"));
        for text in [&page, &line, &code, &markdown_block(HOSTILE)] {
            let is_unsafe = |c: char| (c.is_control() && c != '\n') || is_misleading(c) || c == '\u{2028}';
            assert!(!text.contains(is_unsafe), "{text:?}");
        }
        for (text, expected) in
            [("- item", "\\- item"), ("> said", "\\> said"), ("a -> b", "a -> b"), ("", "")]
        {
            assert_eq!(escape_markdown(text), expected);
        }
    }

    #[test]
    fn escaped_json_is_the_same_value() {
        let value = serde_json::json!({ HOSTILE: [HOSTILE, "é 漢 \u{1f600} \u{e0041} क्ष ❤\u{fe0f}"] });
        let plain = serde_json::to_string_pretty(&value).unwrap();
        let escaped = escape_json(&plain);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
        assert!(
            !escaped.contains(|c: char| (c.is_control() && c != '\n') || is_misleading(c) || c == '\u{2028}')
        );
        assert!(
            escaped.contains("é 漢 \u{1f600}") && escaped.contains("❤\u{fe0f}"),
            "visible characters are kept: {escaped}"
        );
    }

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        for (url, expected) in [
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
            ("https://me:pa/ss@host:1/v1", "https://[hidden]@host:1/v1"),
            ("https://user@host", "https://[hidden]@host"),
            (
                "http://h/v1?api-key=s3cret&x&v=1#t0k",
                "http://h/v1?api-key=[hidden]&[hidden]&v=[hidden]#[hidden]",
            ),
            ("me:pass@host/v1", "[hidden]@host/v1"),
            ("", ""),
        ] {
            assert_eq!(redact_url(url), expected);
        }
    }
}
