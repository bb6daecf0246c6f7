//! The settings of `[page]`.

use std::{fmt::Display, str::FromStr};

use tetrad_page::{IpfsGateway, MediaOrigin};
use tetrad_stdx::redact;

use crate::config::{
    setting::{Kind, Section, Setting},
    show,
};

pub(super) const SECTION: Section = Section {
    name: "page",
    about: "The page that the main listener serves to browsers.",
    settings: &[
        Setting {
            name: "page.media-origins",
            kind: Kind::List,
            placeholder: "ORIGIN,…",
            help: "Origins from which the page may load metadata and pictures of NFTs; https: for all with TLS",
            details: "For example [\"https://arweave.net\", \"http://127.0.0.1:8080\"]; http is for 127.0.0.1 and \
                      localhost only. The visitors' browsers load them, and these origins learn the visitors' \
                      addresses and the URL of the node; the node never connects to them. An origin has to let \
                      other pages read its answers (CORS), and where it redirects to has to be listed, too. Without \
                      this setting and page.ipfs-gateway, what is not on the chain is shown as a link.",
            read: |config, given| {
                config.page.media_origins = given.each(|text| {
                    parsed::<MediaOrigin>(text, "an origin such as https://arweave.net, or https:")
                })?;
                Ok(())
            },
            show: |config| show::list(&config.page.media_origins),
            ..Setting::BLANK
        },
        Setting {
            name: "page.ipfs-gateway",
            placeholder: "URL",
            help: "IPFS gateway at which the page loads ipfs: URIs of NFTs: the URL before the CID, with its /",
            details: "Its origin need not be in page.media-origins. A gateway that redirects each CID to an origin of its own \
                      works with page.media-origins = [\"https:\"] only.",
            example: "\"https://ipfs.io/ipfs/\"",
            read: |config, given| {
                let expected = "a URL such as https://ipfs.io/ipfs/";
                given.checked(
                    |text| parsed::<IpfsGateway>(text, expected).map(Some),
                    &mut config.page.ipfs_gateway,
                )
            },
            show: |config| config.page.ipfs_gateway.as_ref().and_then(show::text),
            ..Setting::BLANK
        },
    ],
};

/// Parses an origin or a gateway.
fn parsed<T: FromStr<Err: Display>>(text: &str, expected: &str) -> Result<T, String> {
    text.parse().map_err(|error| {
        // Without a scheme it is not known which part is a password.
        let shown = if text.contains("://") || !text.contains('@') {
            format!(", got `{}`", redact::url(text))
        } else {
            String::new()
        };
        format!("expected {expected}{shown} ({error})")
    })
}
