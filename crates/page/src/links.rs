//! Links in the form of block explorers, such as `/tx/0x…`, which wallets open, and to views by
//! their names, such as `/faucet`, as users type them. They lead to the page's own routes, which
//! come after the `#`.

use axum::{
    Router,
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Response},
    routing::get,
};
use tetrad_web::not_found;

/// Views of the page with one argument.
const VIEWS: [&str; 4] = ["tx", "address", "block", "token"];
/// Views of the page without one. `/api` is an interface.
const PLAIN_VIEWS: [&str; 7] = [
    "accounts",
    "developer",
    "exchange",
    "explorer",
    "faucet",
    "lending",
    "tokens",
];
/// Most characters of an argument: a bech32 address has at most 90.
const LONGEST: usize = 128;

/// The routes of the links.
pub(super) fn router() -> Router {
    let router = PLAIN_VIEWS.into_iter().fold(Router::new(), |router, view| {
        router.route(
            &format!("/{view}"),
            get(move || async move { redirect(format!("./#/{view}")) }),
        )
    });

    VIEWS.into_iter().fold(router, |router, view| {
        router.route(
            &format!("/{view}/{{argument}}"),
            get(move |uri: Uri| open(view, uri)),
        )
    })
}

async fn open(view: &str, uri: Uri) -> Response {
    match uri
        .path()
        .rsplit_once('/')
        .and_then(|(_, argument)| target(view, argument))
    {
        Some(target) => redirect(target),
        None => not_found(uri).await.into_response(),
    }
}

fn redirect(target: String) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, target)]).into_response()
}

/// The page's route, relative to the link, so that it also leads there behind a proxy that serves
/// the node under a prefix. Returns none unless the argument consists of letters and digits, as
/// those of hashes, addresses and numbers do.
fn target(view: &str, argument: &str) -> Option<String> {
    let is_plain = (1..=LONGEST).contains(&argument.len())
        && argument.bytes().all(|byte| byte.is_ascii_alphanumeric());
    // Cosmos wallets write hashes in capitals and without a prefix.
    let is_bare_hash = view == "tx"
        && argument.len() == 64
        && argument.bytes().all(|byte| byte.is_ascii_hexdigit());

    if !is_plain {
        return None;
    }
    Some(if is_bare_hash {
        format!("../#/tx/0x{}", argument.to_ascii_lowercase())
    } else {
        format!("../#/{view}/{argument}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_letters_and_digits() {
        let hash = "0x".to_owned() + &"aB".repeat(32);
        assert_eq!(target("tx", &hash), Some(format!("../#/tx/{hash}")));
        assert_eq!(
            target("tx", &"AB".repeat(32)),
            Some(format!("../#/tx/0x{}", "ab".repeat(32)))
        );

        assert_eq!(
            target("block", "latest").as_deref(),
            Some("../#/block/latest")
        );

        for malformed in [
            "",
            "..",
            "a/b",
            "a%2Fb",
            "a b",
            "a\r\nb",
            "0x\u{e4}",
            "a?b",
            "a#b",
            &"a".repeat(LONGEST + 1),
        ] {
            assert_eq!(target("tx", malformed), None, "{malformed}");
        }
    }
}
