//! https: the trusted CA certificates, and error messages about certificates.
//!
//! Trusts the system's CA certificates (on Linux those in `SSL_CERT_FILE` or `SSL_CERT_DIR`, if set) and those in the
//! endpoint's `ca_file`. Verification cannot be turned off.

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

/// Maximum size of a file of CA certificates, in bytes. All certificates of a system take a few hundred kB.
const MAX_CA_FILE_BYTES: u64 = 16 << 20;

/// Makes a client trust the endpoint's CA certificates.
///
/// # Errors
/// [`ProviderError`] if the endpoint's `ca_file` cannot be read or contains no certificate.
pub(super) fn add_trusted_certificates(
    builder: ClientBuilder,
    endpoint: &Endpoint,
) -> Result<ClientBuilder, ProviderError> {
    // Fails if a provider is installed already, which is fine too.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if endpoint.base_url.starts_with("http:") {
        // Do not read the system's certificates: a machine without any can still use a local server.
        return Ok(builder.tls_certs_only([]));
    }
    let Some(file) = &endpoint.ca_file else { return Ok(builder) };
    let unusable = |why: String| {
        ProviderError::new(
            format!("{}: {why}", file.display()),
            "set ca_file to the certificate of the CA that signed the server's certificate, in PEM format",
        )
        .with_kind(FailureKind::Misconfigured)
    };
    let text =
        files::read(file, MAX_CA_FILE_BYTES).map_err(|e| unusable(format!("could not read ca_file: {e}")))?;
    match Certificate::from_pem_bundle(&text) {
        Ok(all) if all.is_empty() => Err(unusable("no certificate found in ca_file".to_owned())),
        Ok(all) => Ok(builder.tls_certs_merge(all)),
        Err(error) => {
            Err(unusable(format!("invalid certificates in ca_file: {}", super::error::root_cause(&error))))
        }
    }
}

/// Returns the error for a connection that failed because of https, or `None` if it failed for another reason.
pub(super) fn tls_error(endpoint: &Endpoint, error: &reqwest::Error) -> Option<ProviderError> {
    let host = endpoint.host();
    let (what, next) = match find_tls_error(error)? {
        Tls::InvalidCertificate(why) => certificate_message(host, why),
        Tls::InvalidMessage(_) => (
            format!("{host} does not speak https"),
            "check the base URL: it may need http:// or another port".to_owned(),
        ),
        other => (
            format!("https handshake with {host} failed: {other}"),
            "check the server's log, and any proxy in between".to_owned(),
        ),
    };
    Some(ProviderError::new(what, next).with_kind(FailureKind::Misconfigured))
}

fn certificate_message(host: &str, why: &CertificateError) -> (String, String) {
    let clock_advice = "renew the server's certificate, and check this machine's clock".to_owned();
    match why {
        UnknownIssuer => (
            format!("the certificate of {host} is signed by an unknown authority"),
            "if the server is yours, name the certificate of its CA (PEM): ca_file in its profile, or --ca-file FILE; \
             otherwise someone may be intercepting the connection (nothing was sent)"
                .to_owned(),
        ),
        NotValidForName | NotValidForNameContext { .. } => (
            format!("the certificate of {host} is for another name"),
            "use the certificate's name in the base URL, or get a certificate for this name".to_owned(),
        ),
        Expired | ExpiredContext { .. } => (format!("the certificate of {host} has expired"), clock_advice),
        NotValidYet | NotValidYetContext { .. } => {
            (format!("the certificate of {host} is not valid yet"), clock_advice)
        }
        other => (
            format!("the certificate of {host} is invalid: {other}"),
            "get another one for the server; the certificate of a CA cannot be used for a server".to_owned(),
        ),
    }
}

/// Returns the TLS error in an error's chain. An IO error may wrap it without naming it as its source.
fn find_tls_error(error: &reqwest::Error) -> Option<&Tls> {
    let mut current: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = current {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let found = error.downcast_ref::<Tls>().or_else(|| inner.and_then(|e| e.downcast_ref::<Tls>()));
        if found.is_some() {
            return found;
        }
        current = match inner {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_errors_say_what_is_wrong_and_what_to_do() {
        let cases = [
            (UnknownIssuer, "signed by an unknown authority", "--ca-file"),
            (NotValidForName, "another name", "base URL"),
            (Expired, "has expired", "clock"),
            (NotValidYet, "not valid yet", "clock"),
            (CertificateError::BadEncoding, "is invalid", "another one"),
        ];
        for (why, message_part, hint_part) in cases {
            let (message, hint) = certificate_message("box:8443", &why);
            assert!(
                message.contains("box:8443") && message.contains(message_part) && hint.contains(hint_part),
                "{message}: {hint}"
            );
        }
    }
}
