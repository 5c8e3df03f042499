//! Credentials in the URLs of proxies, which must be redacted: a proxy may echo what it was sent.

use super::secret::Secret;
use super::secret_parts;
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
        let basic = secret_parts::encode_base64(0, pair.as_bytes(), *b"+/");
        let padding = "===".get(..(4 - basic.len() % 4) % 4).unwrap_or_default();
        secrets.extend(
            [format!("{basic}{padding}"), basic, pair, password].iter().map(|secret| Secret::new(secret)),
        );
    }
    secrets
}

/// Decodes percent-encoding.
fn percent_decode(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
