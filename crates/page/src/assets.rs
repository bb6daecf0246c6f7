//! The files of the page, embedded when the program is built.

use std::{collections::HashMap, sync::OnceLock};

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use base64ct::{Base64, Encoding};
use headers::{ETag, HeaderMapExt, IfNoneMatch};
use include_dir::{Dir, File, include_dir};
use sha2::{Digest, Sha256};
use tetrad_web::{Effort, Prepared, entity_tag, shared};

use super::{config::PageConfig, interfaces};

/// A file that browsers load.
pub(super) struct PageFile {
    pub(super) content_type: &'static str,
    pub(super) body: Prepared,
    /// Its tag, once a client has asked for it.
    etag: OnceLock<ETag>,
}

impl PageFile {
    pub(super) fn new(path: &str, body: Bytes) -> Self {
        let content_type = match path.rsplit('.').next() {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("html") => "text/html; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "application/json",
        };
        Self {
            content_type,
            body: Prepared::new(body, Effort::Always),
            etag: OnceLock::new(),
        }
    }

    /// The response to a request with these headers: the file, or 304 if the browser has it.
    /// Browsers revalidate each time, so that a new program never meets an old page.
    pub(super) fn respond(&self, policy: &HeaderValue, request: &HeaderMap) -> Response {
        let etag = self.etag.get_or_init(|| entity_tag(self.body.bytes()));
        let known = request.typed_get::<IfNoneMatch>();
        let unchanged = known.is_some_and(|known| !known.precondition_passes(etag));

        let body = if unchanged {
            Bytes::new()
        } else {
            self.body.bytes().clone()
        };
        let mut response = shared(body);
        if unchanged {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }

        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static(self.content_type),
        );
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
        headers.insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        headers.insert(
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        );
        headers.typed_insert(etag.clone());

        self.body.mark(request, &mut response);
        response
    }
}

/// The page, and the files that it loads, by their paths under `/site/`.
pub(super) struct Assets {
    pub(super) page: PageFile,
    /// The value of `Content-Security-Policy` for the page.
    pub(super) page_policy: HeaderValue,
    /// The same for everything else, such as the book, which loads nothing from other origins.
    pub(super) policy: HeaderValue,
    loaded: HashMap<&'static str, PageFile>,
}

/// The document that loads the others. It is sent at `/` only.
const INDEX: &str = "index.html";
/// The files of the page. Cargo notices when one of them changes, and a new one as soon as another
/// file refers to it.
static PAGE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/page");

/// The files in a directory and in those below it.
fn files(directory: &'static Dir<'_>) -> Vec<&'static File<'static>> {
    directory
        .files()
        .chain(directory.dirs().flat_map(files))
        .collect()
}

impl Assets {
    /// The assets that are embedded in the program.
    pub(super) fn embedded(config: &PageConfig) -> Self {
        let embedded = files(&PAGE)
            .into_iter()
            .filter_map(|file| Some((file.path().to_str()?, file.contents())))
            .filter(|(path, _)| *path != INDEX)
            .map(|(path, body)| (path, PageFile::new(path, Bytes::from_static(body))));
        let made = (
            "interfaces.json",
            PageFile::new("interfaces.json", interfaces::json().into()),
        );
        let loaded: HashMap<_, _> = embedded.chain([made]).collect();

        let page = with_media(include_str!("page/index.html"), config);
        let (page, hashes) = assemble(&page, &loaded);
        Self {
            page: PageFile::new(INDEX, page.into()),
            page_policy: security_policy(&hashes, &config.media_sources()),
            policy: security_policy(&hashes, &[]),
            loaded,
        }
    }

    pub(super) fn get(&self, path: &str) -> Option<&PageFile> {
        self.loaded.get(path)
    }
}

/// Writes into the page from where it may load metadata and pictures of NFTs.
///
/// It learns that from the document rather than from a file of its own, as the policy comes with
/// the document: neither can be older than the other. Browsers keep the old policy of a document
/// that has not changed (304), so it has to change with the policy.
fn with_media(page: &str, config: &PageConfig) -> String {
    let gateway = config.ipfs_gateway.as_ref();
    let gateway = gateway.map(ToString::to_string).unwrap_or_default();

    // Neither can contain anything that would have to be escaped.
    let contents = [
        ("media-sources", config.media_sources().join(" ")),
        ("ipfs-gateway", gateway),
    ];
    contents
        .into_iter()
        .fold(page.to_owned(), |page, (name, content)| {
            let empty = format!("<meta name=\"{name}\" content=\"\">");
            let filled = format!("<meta name=\"{name}\" content=\"{content}\">");
            page.replacen(&empty, &filled, 1)
        })
}

/// The hashes of what is inlined, each after a space, as the policy has them.
#[derive(Default)]
struct InlinedHashes {
    scripts: String,
    styles: String,
}

/// Inlines the files that block the first paint, so that they come with the first response. The
/// policy allows them by their hashes.
fn assemble(page: &str, loaded: &HashMap<&'static str, PageFile>) -> (String, InlinedHashes) {
    let mut assembled = String::new();
    let mut hashes = InlinedHashes::default();

    for line in page.lines() {
        match inline(line, loaded, &mut hashes) {
            Some(element) => assembled.push_str(&element),
            None => assembled.push_str(line),
        }
        assembled.push('\n');
    }
    (assembled, hashes)
}

/// The element with the content of the stylesheet or script that a line of the page loads. Modules
/// do not block the first paint.
fn inline(
    line: &str,
    loaded: &HashMap<&'static str, PageFile>,
    hashes: &mut InlinedHashes,
) -> Option<String> {
    let stylesheet = line
        .strip_prefix("<link rel=\"stylesheet\" href=\"site/")
        .and_then(|rest| rest.strip_suffix("\">"));
    let script = line
        .strip_prefix("<script src=\"site/")
        .and_then(|rest| rest.strip_suffix("\"></script>"));
    let (path, element, allowed) = match (stylesheet, script) {
        (Some(path), _) => (path, "style", &mut hashes.styles),
        (None, Some(path)) => (path, "script", &mut hashes.scripts),
        (None, None) => return None,
    };

    let text = std::str::from_utf8(loaded.get(path)?.body.bytes()).ok()?;
    allowed.push_str(&format!(
        " 'sha256-{}'",
        Base64::encode_string(&Sha256::digest(text))
    ));
    Some(format!("<{element}>{text}</{element}>"))
}

/// The page runs the node's own scripts and talks to the node; beyond that it may load data and
/// pictures from `media`. Text never becomes markup or code.
fn security_policy(hashes: &InlinedHashes, media: &[&str]) -> HeaderValue {
    let InlinedHashes { scripts, styles } = hashes;
    let media: String = media.iter().map(|source| format!(" {source}")).collect();
    let policy = format!(
        "default-src 'none'; script-src 'self'{scripts}; style-src 'self'{styles}; img-src 'self' data:{media}; \
         connect-src 'self'{media}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'"
    );

    // The policy is ASCII, so the conversion cannot fail.
    HeaderValue::try_from(policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assets(origins: &[&str], gateway: Option<&str>) -> Assets {
        let media_origins = origins.iter().map(|text| text.parse().expect("an origin"));
        Assets::embedded(&PageConfig {
            media_origins: media_origins.collect(),
            ipfs_gateway: gateway.map(|text| text.parse().expect("a gateway")),
        })
    }

    fn directives(policy: &HeaderValue) -> Vec<&str> {
        policy.to_str().expect("text").split("; ").collect()
    }

    fn page_text(assets: &Assets) -> String {
        let bytes = assets.page.body.bytes().to_vec();
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn pictures_and_data_come_from_the_origins_that_are_allowed() {
        let none = assets(&[], None);
        assert_eq!(none.page_policy, none.policy);
        let alone = directives(&none.policy);
        assert!(alone.contains(&"img-src 'self' data:") && alone.contains(&"connect-src 'self'"));

        let some = assets(
            &["https://a.example", "http://127.0.0.1:8080"],
            Some("https://ipfs.io/ipfs/"),
        );
        let media = "https://a.example http://127.0.0.1:8080 https://ipfs.io";
        let expected: Vec<String> = alone
            .iter()
            .map(|directive| match *directive {
                "img-src 'self' data:" | "connect-src 'self'" => format!("{directive} {media}"),
                other => other.to_owned(),
            })
            .collect();
        assert_eq!(directives(&some.page_policy), expected);
        assert_eq!(some.policy, none.policy);
    }

    #[test]
    fn the_page_changes_with_its_policy() {
        let none = page_text(&assets(&[], None));
        let some = page_text(&assets(&["https:"], Some("http://127.0.0.1:8080/ipfs/")));

        assert!(none.contains("<meta name=\"media-sources\" content=\"\">"));
        for (name, content) in [
            ("media-sources", "https: http://127.0.0.1:8080"),
            ("ipfs-gateway", "http://127.0.0.1:8080/ipfs/"),
        ] {
            let meta = format!("<meta name=\"{name}\" content=\"{content}\">");
            assert!(some.contains(&meta), "{name}");
        }
    }
}
