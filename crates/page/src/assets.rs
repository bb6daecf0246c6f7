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

use super::interfaces;

/// A file that browsers load.
pub(super) struct PageFile {
    pub(super) content_type: &'static str,
    pub(super) body: Prepared,
    /// Its tag, once somebody has asked.
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
    /// The value of `Content-Security-Policy`.
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
    pub(super) fn embedded() -> Self {
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

        let (page, policy) = assemble(include_str!("page/index.html"), &loaded);
        Self {
            page: PageFile::new(INDEX, page.into()),
            policy,
            loaded,
        }
    }

    pub(super) fn get(&self, path: &str) -> Option<&PageFile> {
        self.loaded.get(path)
    }
}

/// The files that block the first paint.
const INLINED: [&str; 8] = [
    "theme.js",
    "css/base.css",
    "css/parts.css",
    "css/explorer.css",
    "css/contract.css",
    "css/trade.css",
    "css/developer.css",
    "css/api.css",
];

/// Inlines the files that block the first paint, so that they come with the first response, and
/// allows them by hash in the policy.
fn assemble(page: &str, loaded: &HashMap<&'static str, PageFile>) -> (String, HeaderValue) {
    let mut page = page.to_owned();
    let mut scripts = String::new();
    let mut styles = String::new();

    for path in INLINED {
        let Some(text) = loaded
            .get(path)
            .and_then(|asset| std::str::from_utf8(asset.body.bytes()).ok())
        else {
            continue;
        };

        let (tag, inlined, allowed) = if path.ends_with(".css") {
            let tag = format!("<link rel=\"stylesheet\" href=\"site/{path}\">");
            (tag, format!("<style>{text}</style>"), &mut styles)
        } else {
            (
                format!("<script src=\"site/{path}\"></script>"),
                format!("<script>{text}</script>"),
                &mut scripts,
            )
        };
        if page.contains(&tag) {
            page = page.replacen(&tag, &inlined, 1);
            allowed.push_str(&format!(
                " 'sha256-{}'",
                Base64::encode_string(&Sha256::digest(text))
            ));
        }
    }

    let policy = security_policy(&scripts, &styles);
    (page, policy)
}

/// The page runs the node's own scripts and talks to the node; nothing else. Text never becomes
/// markup or code. `scripts` and `styles` are the hashes of what is inlined.
fn security_policy(scripts: &str, styles: &str) -> HeaderValue {
    let policy = format!(
        "default-src 'none'; script-src 'self'{scripts}; style-src 'self'{styles}; img-src 'self' data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'"
    );

    // The policy is ASCII, so the conversion cannot fail.
    HeaderValue::try_from(policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
}
