//! What a person may see of a page beside its elements: its HTML, and its picture at the end of the episode. Both are ground truth,
//! which the agent never sees.

use crate::domain::SCREENSHOT;
use serde_json::Value;

/// The beginning of a picture's address that contains the picture itself.
const DATA_PREFIX: &str = "data:image/png;base64,";
/// The maximum length of such an address. A page of MiniWoB++ takes about 20 kB.
const MAX_URL_BYTES: usize = 512 << 10;

/// Returns the address that contains a picture, given in base64. `None` if the picture is too large, or none at all.
pub(super) fn data_url(base64: &str) -> Option<String> {
    let url = format!("{DATA_PREFIX}{base64}");
    is_picture(&url).then_some(url)
}

/// Returns whether a text, which may come from another person's journal, is nothing but a picture.
fn is_picture(url: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    url.len() <= MAX_URL_BYTES
        && url.strip_prefix(DATA_PREFIX).is_some_and(|data| !data.is_empty() && data.bytes().all(is_base64))
}

/// Returns the picture of a page at the end of an episode, as an address for documents. The truth is that of the episode.
pub fn screenshot_url(truth: &Value) -> Option<&str> {
    truth.get(SCREENSHOT).and_then(Value::as_str).filter(|url| is_picture(url))
}

/// Returns the HTML of the page, shortened as in prompts.
pub fn page_html(truth: &Value) -> Vec<(&'static str, String)> {
    let html = truth.get("html").and_then(Value::as_str).filter(|html| !html.is_empty());
    html.map(|html| ("page's HTML", html.to_owned())).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_picture_of_limited_size_is_shown() {
        let url = data_url("iVBORw0KGgo=").unwrap();
        assert_eq!(screenshot_url(&json!({"screenshot": url})), Some("data:image/png;base64,iVBORw0KGgo="));
        assert_eq!(data_url(&"A".repeat(MAX_URL_BYTES)), None);
        for hostile in [
            json!({}),
            json!({"screenshot": 3}),
            json!({"screenshot": "data:image/png;base64,"}),
            json!({"screenshot": "https://example.org/a.png"}),
            json!({"screenshot": "data:image/svg+xml;base64,AAAA"}),
            json!({"screenshot": "data:image/png;base64,AA\" onerror=\"x"}),
        ] {
            assert_eq!(screenshot_url(&hostile), None, "{hostile}");
        }
    }

    #[test]
    fn the_html_has_a_label() {
        assert_eq!(page_html(&json!({"html": "<p>"})), [("page's HTML", "<p>".to_owned())]);
        assert!(page_html(&json!({"html": ""})).is_empty() && page_html(&Value::Null).is_empty());
    }
}
