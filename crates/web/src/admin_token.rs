//! The token that opens the routes which administer a node.
//!
//! A node with a token requires it in the development profile as well, though its JSON-RPC methods
//! control the node without one: a setting that protects nothing would be worse than none.

use axum::{
    Router,
    extract::{Request, State},
    http::header,
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::RestError;

/// The path of the routes that administer a node.
const PREFIX: &str = "/api/admin/";
/// Fewest characters of a token: enough that a random one cannot be guessed.
const MIN_LENGTH: usize = 16;

/// Whether the token protects a path.
pub(super) fn protects(path: &str) -> bool {
    path.starts_with(PREFIX)
}

/// The hash of a token, which clients send as `Authorization: Bearer`.
#[derive(Clone, Copy, Debug)]
pub struct AdminToken([u8; 32]);

impl AdminToken {
    /// Reads a token from the content of its file.
    ///
    /// # Errors
    /// Says what was expected if it is too short, or cannot be sent in a header.
    pub fn parse(text: &str) -> Result<Self, String> {
        let token = text.trim();
        if token.len() >= MIN_LENGTH && token.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self::of(token))
        } else {
            Err(format!(
                "expected at least {MIN_LENGTH} letters, digits and punctuation marks, without spaces"
            ))
        }
    }

    fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// Requires the token for the administrative routes of a router.
    pub fn protect(self, router: Router) -> Router {
        router.layer(from_fn_with_state(self, authenticate))
    }

    /// Compares in a time that does not depend on the token. Hashes have the same length, whatever
    /// the client sends.
    fn is(&self, given: &str) -> bool {
        self.0.ct_eq(&Self::of(given).0).into()
    }
}

async fn authenticate(State(token): State<AdminToken>, request: Request, next: Next) -> Response {
    if protects(request.uri().path()) {
        let given = request
            .headers()
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.split_once(' '));
        // Names of schemes are case-insensitive (RFC 9110, 11.1).
        let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        if !given.is_some_and(|(_, given)| token.is(given.trim())) {
            return RestError::Unauthorized.into_response();
        }
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_enough_and_fits_into_a_header() {
        let token = AdminToken::parse("0123456789abcdef\n").expect("a token");
        assert!(token.is("0123456789abcdef"));
        assert!(!token.is("0123456789abcdeF") && !token.is("") && !token.is("0123456789abcdef0"));

        for text in [
            "",
            "0123456789abcde",
            "0123456789 abcdef",
            "0123456789abcdefé",
        ] {
            assert!(AdminToken::parse(text).is_err(), "{text:?}");
        }
    }
}
