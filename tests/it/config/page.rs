//! The settings of the page.

use tetrad::Config;

use super::read;

#[test]
fn origins_and_the_gateway_are_read_from_any_layer() {
    let given =
        "[page]\nmedia-origins = [\"https://A.example\"]\nipfs-gateway = \"https://ipfs.io/ipfs/\"";
    let config = read(given, &[]).unwrap();
    assert_eq!(
        config.page.media_origins,
        ["https://a.example".parse().unwrap()]
    );
    assert_eq!(
        config.page.ipfs_gateway.unwrap().to_string(),
        "https://ipfs.io/ipfs/"
    );

    let flags = [("page.media-origins", "https:,http://127.0.0.1:8080")];
    let config = read(given, &flags).unwrap();
    let origins = config.page.media_origins.iter();
    let origins: Vec<String> = origins.map(ToString::to_string).collect();
    assert_eq!(origins, ["https:", "http://127.0.0.1:8080"]);

    let none = read("[page]\nmedia-origins = []", &[]).unwrap();
    assert_eq!(none.page, Config::default().page);
}

#[test]
fn invalid_page_settings_are_named_without_passwords() {
    for (name, value, expected) in [
        (
            "page.media-origins",
            "https://a.example,ftp://b.example",
            "--page-media-origins: expected an origin such as https://arweave.net, or https:, got `ftp://b.example` \
             (neither https nor http)",
        ),
        (
            "page.media-origins",
            "https://me:secret@a.example",
            "got `https://a.example` (a name or password, which every visitor would see)",
        ),
        (
            "page.media-origins",
            "me:secret@a.example",
            "expected an origin such as https://arweave.net, or https: (no scheme)",
        ),
        (
            "page.media-origins",
            "https://a.example;script-src",
            "(a host that is not made of letters, digits, - and dots)",
        ),
        (
            "page.media-origins",
            "https://a.example/path",
            "got `https://a.example/…` (a path, where an origin ends with the host or port)",
        ),
        (
            "page.ipfs-gateway",
            "https://ipfs.io/ipfs/?key=secret",
            "--page-ipfs-gateway: expected a URL such as https://ipfs.io/ipfs/, got `https://ipfs.io/…` (a query or fragment)",
        ),
        (
            "page.ipfs-gateway",
            "https://ipfs.io/ipfs",
            "(no / at the end, before the CID)",
        ),
        (
            "page.ipfs-gateway",
            "http://ipfs.io/ipfs/",
            "(http, which is for 127.0.0.1 and localhost only)",
        ),
    ] {
        let error = read("", &[(name, value)]).unwrap_err();
        assert!(error.contains(expected), "{value}: {error}");
        assert!(!error.contains("secret"), "{error}");
    }

    let error = read("[page]\nmedia-origins = [\"*\"]", &[]).unwrap_err();
    assert!(error.contains("page.media-origins in x.toml"), "{error}");
}
