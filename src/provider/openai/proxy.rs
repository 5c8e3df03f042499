//! Credentials in the URLs of proxies, which must be redacted: a proxy may echo what it was sent.

use super::secret::Secret;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use reqwest::Url;

const PROXY_VARIABLES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// Returns the secrets in the URLs of the environment's proxies: each password, `user:password`, and the `Basic`
/// encoding of both.
pub(super) fn credentials(variable: &dyn Fn(&str) -> Option<String>) -> Vec<Secret> {
    let addresses = PROXY_VARIABLES.iter().filter_map(|name| variable(name));
    addresses.flat_map(|address| url_credentials(address.trim())).collect()
}

fn url_credentials(address: &str) -> Vec<Secret> {
    // The HTTP client treats a URL without a scheme as `http`.
    let url = Url::parse(address).ok().filter(Url::has_host);
    let Some(url) = url.or_else(|| Url::parse(&format!("http://{address}")).ok()) else { return Vec::new() };
    let encoded = [url.username(), url.password().unwrap_or_default()];
    if encoded[1].is_empty() {
        return Vec::new();
    }
    let mut secrets = Vec::new();
    for [name, password] in [encoded.map(str::to_owned), encoded.map(percent_decode)] {
        let pair = format!("{name}:{password}");
        let basic = [STANDARD.encode(&pair), STANDARD_NO_PAD.encode(&pair)];
        secrets.extend(basic.iter().chain(&[pair, password]).map(|secret| Secret::new(secret)));
    }
    secrets
}

fn percent_decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::openai::redactor::Redactor;

    /// Regression: a proxy that rejected a request echoed its `Proxy-Authorization`, which was shown and journaled.
    #[test]
    fn credentials_echoed_by_a_proxy_are_redacted() {
        let echoed = "407: Basic cHU6cHJveHlzZWNyZXQ5OQ== (pu:proxysecret99, proxysecret99)";
        for (name, address) in [
            ("http_proxy", "http://pu:proxysecret99@10.0.0.1:3128"),
            ("HTTPS_PROXY", "pu:proxysecret99@proxy.example:3128"),
            ("ALL_PROXY", "socks5h://pu:proxy%73ecret99@proxy.example"),
        ] {
            let secrets = credentials(&|asked| (asked == name).then(|| address.to_owned()));
            let redactor = Redactor::new(secrets.iter().map(|secret| ("proxy-authorization", secret)), []);
            let redacted = redactor.redact(echoed);
            assert!(
                !redacted.contains("proxysecret99") && !redacted.contains("cHU6cHJv"),
                "{address}: {redacted}"
            );
        }
        for address in ["", "http://10.0.0.1:3128", "http://name@10.0.0.1", "::"] {
            assert!(credentials(&|_| Some(address.to_owned())).is_empty(), "{address}");
        }
    }
}
