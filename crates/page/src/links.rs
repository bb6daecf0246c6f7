//! Links in the form of block explorers, such as `/tx/0x…`, which wallets open, and to views by
//! their names, such as `/faucet`, as users type them. They lead to the page's own routes, which
//! come after the `#`. Browsers are led to the page from any other single name, too, which then
//! says that it has no such view.

use axum::{
    Router,
    extract::Request,
    http::{Method, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
    routing::get,
};
use tetrad_web::not_found;

/// Views of the page with one argument.
const VIEWS: [&str; 4] = ["tx", "address", "block", "token"];
/// Paths of views without one, and the views. `/api` is an interface.
const PLAIN_VIEWS: [(&str, &str); 9] = [
    ("accounts", "accounts"),
    ("blocks", "explorer/blocks"),
    ("developer", "developer"),
    ("exchange", "exchange"),
    ("explorer", "explorer"),
    ("faucet", "faucet"),
    ("lending", "lending"),
    ("tokens", "tokens"),
    ("txs", "explorer"),
];
/// Most characters of an argument: a bech32 address has at most 90.
const LONGEST: usize = 128;

/// The routes of the links.
pub(super) fn router() -> Router {
    let router = PLAIN_VIEWS
        .into_iter()
        .fold(Router::new(), |router, (path, view)| {
            router.route(
                &format!("/{path}"),
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

/// Leads browsers from a name without a route to the page.
pub(super) async fn lead_browsers(request: Request, next: Next) -> Response {
    let name = browsed_name(&request);
    let response = next.run(request).await;

    match name {
        Some(name) if response.status() == StatusCode::NOT_FOUND => redirect(format!("./#/{name}")),
        _ => response,
    }
}

/// The name that is all of the path of a request, if it was made by following a link or typing an
/// address: programs do not ask for HTML.
fn browsed_name(request: &Request) -> Option<String> {
    let takes_html = request
        .headers()
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"));
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);

    let name = request.uri().path().strip_prefix('/')?;
    (takes_html && is_read && is_plain(name)).then(|| name.to_owned())
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
    // Cosmos wallets write hashes in capitals and without a prefix.
    let is_bare_hash = view == "tx"
        && argument.len() == 64
        && argument.bytes().all(|byte| byte.is_ascii_hexdigit());

    if !is_plain(argument) {
        return None;
    }
    Some(if is_bare_hash {
        format!("../#/tx/0x{}", argument.to_ascii_lowercase())
    } else {
        format!("../#/{view}/{argument}")
    })
}

/// Whether a text consists of letters and digits, and is not too long.
fn is_plain(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
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
