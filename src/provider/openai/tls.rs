//! https: whose certificates are believed, and what is said where one is not.
//!
//! The system's own authorities count (on Linux those of `SSL_CERT_FILE` or `SSL_CERT_DIR` where these are set), and those of
//! the endpoint's `ca_file` beside them. There is no way to believe anybody.

use super::endpoint::Endpoint;
use crate::files;
use crate::provider::{FailureKind, ProviderError};
use reqwest::{Certificate, ClientBuilder};
use rustls::CertificateError::{
    Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet, NotValidYetContext,
    UnknownIssuer,
};
use rustls::{CertificateError, Error as Tls};
use std::error::Error;
use std::io;

/// The longest file of authorities that is read, in bytes: all that a system trusts is a few hundred kB.
const MAX_CA_FILE_BYTES: u64 = 16 << 20;

/// A client that believes the endpoint's authorities.
///
/// # Errors
/// [`ProviderError`] when the file of authorities cannot be read or holds none.
pub(super) fn add_trusted_certificates(
    builder: ClientBuilder,
    endpoint: &Endpoint,
) -> Result<ClientBuilder, ProviderError> {
    // Whoever was first has chosen; both choices do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if endpoint.base_url.starts_with("http:") {
        // Nothing is read that is not needed: a machine without certificates can still ask its own server.
        return Ok(builder.tls_certs_only([]));
    }
    let Some(file) = &endpoint.ca_file else { return Ok(builder) };
    let unusable = |why: String| {
        ProviderError::new(
            format!("{}: {why}", file.display()),
            "set ca_file to the certificate of the authority that signed the server's, as PEM text",
        )
        .with_kind(FailureKind::Misconfigured)
    };
    let text = files::read(file, MAX_CA_FILE_BYTES)
        .map_err(|e| unusable(format!("ca_file could not be read: {e}")))?;
    match Certificate::from_pem_bundle(&text) {
        Ok(all) if all.is_empty() => Err(unusable("no certificate is in it".to_owned())),
        Ok(all) => Ok(builder.tls_certs_merge(all)),
        Err(error) => {
            Err(unusable(format!("it cannot be read as certificates: {}", super::error::root_cause(&error))))
        }
    }
}

/// What is said where no connection came about because of https; none where it was something else.
pub(super) fn tls_error(endpoint: &Endpoint, error: &reqwest::Error) -> Option<ProviderError> {
    let host = endpoint.host();
    let (what, next) = match find_tls_error(error)? {
        Tls::InvalidCertificate(why) => certificate_message(host, why),
        Tls::InvalidMessage(_) => (
            format!("{host} does not speak https"),
            "check the address: perhaps it begins with http://, or has another port".to_owned(),
        ),
        other => (
            format!("{host} and this program agree on no https: {other}"),
            "look at the server's own log, and at what stands between".to_owned(),
        ),
    };
    Some(ProviderError::new(what, next).with_kind(FailureKind::Misconfigured))
}

fn certificate_message(host: &str, why: &CertificateError) -> (String, String) {
    let clock = "renew the server's certificate, and look at the clock of this machine".to_owned();
    match why {
        UnknownIssuer => (
            format!("the certificate of {host} is signed by nobody that this machine believes"),
            "where the server is yours, name its authority's certificate (PEM): ca_file in its profile, or --ca-file FILE; \
             otherwise somebody may stand between, and nothing was sent"
                .to_owned(),
        ),
        NotValidForName | NotValidForNameContext { .. } => (
            format!("the certificate of {host} is made out to another name"),
            "take the name in the certificate for the base URL, or have one made for this name".to_owned(),
        ),
        Expired | ExpiredContext { .. } => (format!("the certificate of {host} has run out"), clock),
        NotValidYet | NotValidYetContext { .. } => {
            (format!("the certificate of {host} is not valid yet"), clock)
        }
        other => (
            format!("the certificate of {host} cannot be believed: {other}"),
            "have another one made for the server; an authority's own certificate cannot be a server's".to_owned(),
        ),
    }
}

/// What https itself complains about, wherever in the chain it stands: an input error holds it without naming it as its source.
fn find_tls_error(error: &reqwest::Error) -> Option<&Tls> {
    let mut at: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = at {
        let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let found = error.downcast_ref::<Tls>().or_else(|| held.and_then(|e| e.downcast_ref::<Tls>()));
        if found.is_some() {
            return found;
        }
        at = match held {
            Some(held) => Some(held as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_to_refuse_a_certificate_has_words_and_a_way_on() {
        let cases = [
            (UnknownIssuer, "signed by nobody", "--ca-file"),
            (NotValidForName, "another name", "base URL"),
            (Expired, "has run out", "clock"),
            (NotValidYet, "not valid yet", "clock"),
            (CertificateError::BadEncoding, "cannot be believed", "another one"),
        ];
        for (why, words, way) in cases {
            let (what, next) = certificate_message("box:8443", &why);
            assert!(
                what.contains("box:8443") && what.contains(words) && next.contains(way),
                "{what}: {next}"
            );
        }
    }
}
