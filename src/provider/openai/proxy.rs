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
    // Like the HTTP client: a URL without a scheme is an http one.
    let url = Url::parse(address).ok().filter(Url::has_host);
    let Some(url) = url.or_else(|| Url::parse(&format!("http://{address}")).ok()) else { return Vec::new() };
    let coded = [url.username(), url.password().unwrap_or_default()];
    if coded[1].is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for [name, password] in [coded.map(str::to_owned), coded.map(percent_decode)] {
        let both = format!("{name}:{password}");
        let basic = secret_parts::encode_base64(0, both.as_bytes(), *b"+/");
        let padding = "===".get(..(4 - basic.len() % 4) % 4).unwrap_or_default();
        all.extend(
            [format!("{basic}{padding}"), basic, both, password].iter().map(|secret| Secret::new(secret)),
        );
    }
    all
}

/// Decodes percent-encoding.
fn percent_decode(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
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
            let clean = redactor.redact(echoed);
            assert!(!clean.contains("proxysecret99") && !clean.contains("cHU6cHJv"), "{address}: {clean}");
        }
        for address in ["", "http://10.0.0.1:3128", "http://name@10.0.0.1", "::"] {
            assert!(credentials(&|_| Some(address.to_owned())).is_empty(), "{address}");
        }
    }
}
