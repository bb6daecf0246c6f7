//! The files of the page, as they were when the program was built.

use std::collections::HashMap;

use alloy_primitives::{hex, keccak256};
use axum::body::Bytes;

use super::interfaces;

/// A file of the page.
pub(super) struct Asset {
    pub(super) content_type: &'static str,
    pub(super) body: Bytes,
    /// In quotes, as headers carry it.
    pub(super) etag: String,
}

impl Asset {
    fn new(path: &str, body: Bytes) -> Self {
        let content_type = match path.rsplit('.').next() {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("html") => "text/html; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "application/json",
        };
        let etag = format!("\"{}\"", hex::encode(&keccak256(&body)[..12]));
        Self { content_type, body, etag }
    }
}

/// The page, and what it loads by its path under `/site/`.
pub(super) struct Assets {
    pub(super) page: Asset,
    loaded: HashMap<&'static str, Asset>,
}

/// Files that the page loads.
macro_rules! files {
    ($($path:literal,)*) => {
        [$(($path, include_bytes!(concat!("page/", $path)).as_slice()),)*]
    };
}

impl Assets {
    /// What the program carries with it.
    pub(super) fn embedded() -> Self {
        let files = files![
            "app.js",
            "css/base.css",
            "css/parts.css",
            "icon.svg",
            "lib/abi.js",
            "lib/address.js",
            "lib/bytes.js",
            "lib/chart.js",
            "lib/dom.js",
            "lib/format.js",
            "lib/keccak.js",
            "lib/keys.js",
            "lib/lens.js",
            "lib/links.js",
            "lib/network.js",
            "lib/node.js",
            "lib/prices.js",
            "lib/signature.js",
            "lib/socket.js",
            "lib/wallet.js",
            "theme.js",
            "views/accounts.js",
            "views/address.js",
            "views/block.js",
            "views/borrow.js",
            "views/calltree.js",
            "views/connect.js",
            "views/contract.js",
            "views/developer.js",
            "views/exchange.js",
            "views/explorer.js",
            "views/interfaces.js",
            "views/lending.js",
            "views/network.js",
            "views/position.js",
            "views/search.js",
            "views/snapshots.js",
            "views/swap.js",
            "views/transaction.js",
        ];
        let loaded = files.into_iter().map(|(path, body)| (path, Asset::new(path, Bytes::from_static(body))));
        let made = ("interfaces.json", Asset::new("interfaces.json", interfaces::json().into()));
        Self {
            page: Asset::new("index.html", Bytes::from_static(include_bytes!("page/index.html"))),
            loaded: loaded.chain([made]).collect(),
        }
    }

    pub(super) fn get(&self, path: &str) -> Option<&Asset> {
        self.loaded.get(path)
    }
}
