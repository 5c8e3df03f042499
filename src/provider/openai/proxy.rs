//! The name and the password of a proxy, which stand in its address: a proxy may say back what it was sent.

use super::secret::Secret;
use super::secret_parts;
use reqwest::Url;

const VARIABLES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// What must not be seen of the proxies that the environment names: password, name and password, and the `Basic` form of both.
pub(super) fn credentials(variable: &dyn Fn(&str) -> Option<String>) -> Vec<Secret> {
    let addresses = VARIABLES.iter().filter_map(|name| variable(name));
    addresses.flat_map(|address| of(address.trim())).collect()
}

fn of(address: &str) -> Vec<Secret> {
    // As the client reads it: an address without a scheme is one of http.
    let url = Url::parse(address).ok().filter(Url::has_host);
    let Some(url) = url.or_else(|| Url::parse(&format!("http://{address}")).ok()) else { return Vec::new() };
    let coded = [url.username(), url.password().unwrap_or_default()];
    if coded[1].is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for [name, password] in [coded.map(str::to_owned), coded.map(decoded)] {
        let both = format!("{name}:{password}");
        let basic = secret_parts::encode_base64(0, both.as_bytes(), *b"+/");
        let padding = "===".get(..(4 - basic.len() % 4) % 4).unwrap_or_default();
        all.extend(
            [format!("{basic}{padding}"), basic, both, password].iter().map(|secret| Secret::new(secret)),
        );
    }
    all
}

/// Percent signs resolved.
fn decoded(text: &str) -> String {
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

    /// A proxy that refused a request said its `Proxy-Authorization` back, and it was told and journaled.
    #[test]
    fn what_a_proxy_says_back_is_not_seen() {
        let told = "407: Basic cHU6cHJveHlzZWNyZXQ5OQ== (pu:proxysecret99, proxysecret99)";
        for (name, address) in [
            ("http_proxy", "http://pu:proxysecret99@10.0.0.1:3128"),
            ("HTTPS_PROXY", "pu:proxysecret99@proxy.example:3128"),
            ("ALL_PROXY", "socks5h://pu:proxy%73ecret99@proxy.example"),
        ] {
            let secrets = credentials(&|asked| (asked == name).then(|| address.to_owned()));
            let redactor = Redactor::new(secrets.iter().map(|secret| ("proxy-authorization", secret)), []);
            let clean = redactor.redact(told);
            assert!(!clean.contains("proxysecret99") && !clean.contains("cHU6cHJv"), "{address}: {clean}");
        }
        for address in ["", "http://10.0.0.1:3128", "http://name@10.0.0.1", "::"] {
            assert!(credentials(&|_| Some(address.to_owned())).is_empty(), "{address}");
        }
    }
}
