//! The rule for addresses of model servers.

use url::{ParseError, Url};

/// Parses the base URL of a model server.
///
/// # Errors
/// Returns what is wrong if the text is no URL, isn't http or https, or contains a user name, a password or a query. The
/// message doesn't repeat the URL, which may contain a password.
pub fn parse_base_url(text: &str) -> Result<Url, String> {
    const WRONG_START: &str = "it must start with http:// or https://";
    let url = Url::parse(text).map_err(|error| match error {
        ParseError::RelativeUrlWithoutBase => WRONG_START.to_owned(),
        other => other.to_string(),
    })?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(WRONG_START.to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "it contains a user name or password; move it to `headers` in the server's profile".to_owned()
        );
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it contains a query; move it to `query` in the server's profile".to_owned());
    }
    Ok(url)
}
