//! The HTML of a page as prompts show it.

use super::dom::cut;
use regex::Regex;
use std::sync::LazyLock;

/// The maximum length of the HTML that prompts show.
const MAX_HTML_BYTES: usize = 8_000;

/// Attributes that the pages' own code has added, and those that say nothing about what to do.
static SUPERFLUOUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"\s(?:data-wob_ref|data-wob_eps|data-tampered|style|tabindex)="[^"]*""#).ok()
});
static BLANKS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\s+").ok());

/// Shortens a page's HTML: without superfluous attributes, with one blank in place of several, and cut if it is still long.
pub(super) fn shorten(html: &str) -> String {
    let mut html = html.to_owned();
    for (pattern, replacement) in [(&BLANKS, " "), (&SUPERFLUOUS, "")] {
        if let Some(pattern) = pattern.as_ref() {
            html = pattern.replace_all(&html, replacement).into_owned();
        }
    }
    cut(html.trim().to_owned(), MAX_HTML_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_helps_is_left() {
        let html = "<div id=\"wrap\"\n  style=\"a: b\" data-wob_ref=\"2\" data-wob_eps=\"e0\"> <a tabindex=\"-1\" data-color=\"red\">x\n\ny</a></div>\n";
        assert_eq!(shorten(html), "<div id=\"wrap\"> <a data-color=\"red\">x y</a></div>");
        let long = shorten(&"x".repeat(9_000));
        assert!(long.ends_with("[cut: 1000 more bytes]"), "{}", long.len());
    }
}
