//! The book in `docs/`, at `/docs/`: its chapters as pages, and an index for the search.
//!
//! Everything is rendered when a client first asks for some of it. mdBook builds the same book:
//! pages have the same paths and fragments.
//!
//! The program renders the book from its Markdown, rather than mdBook before the build, which then
//! needs no other tool. The pages have the page's policy, theme and search.

mod escape;
mod highlight;
mod layout;
mod markdown;
mod summary;

use std::{collections::HashMap, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use include_dir::{Dir, include_dir};
use serde::Serialize;
use tetrad_web::{MadeOnce, not_found};
use tokio::task::spawn_blocking;

use self::{
    layout::{ChapterPage, page_of},
    markdown::RenderedChapter,
    summary::SummaryLine,
};
use super::assets::PageFile;

/// The sources of the book.
static SOURCES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../docs/src");
/// The file that the search loads.
const INDEX: &str = "search.json";

/// The pages by their paths under `/docs/`, and the index.
struct Book(HashMap<String, PageFile>);

/// A chapter in the index.
#[derive(Serialize)]
struct IndexedChapter<'a> {
    title: &'a str,
    page: String,
    /// Heading, fragment and text of its sections.
    sections: Vec<(&'a str, &'a str, &'a str)>,
}

impl<'a> IndexedChapter<'a> {
    fn new(title: &'a str, file: &str, chapter: &'a RenderedChapter) -> Self {
        let sections = chapter
            .sections
            .iter()
            .map(|section| {
                (
                    section.heading.as_str(),
                    section.id.as_str(),
                    section.text.as_str(),
                )
            })
            .collect();
        Self {
            title,
            page: page_of(file),
            sections,
        }
    }
}

#[derive(Clone)]
struct BookRoutes {
    book: MadeOnce<Arc<Book>>,
    /// The value of `Content-Security-Policy`.
    policy: HeaderValue,
}

/// The routes of the book.
pub(super) fn router(policy: HeaderValue) -> Router {
    let routes = BookRoutes {
        book: MadeOnce::default(),
        policy,
    };
    // Relative, for a proxy that serves the node under a prefix.
    let to_book = || async { (StatusCode::FOUND, [(header::LOCATION, "docs/")]) };

    Router::new()
        .route("/docs", get(to_book))
        .route("/docs/", get(page))
        .route("/docs/{*path}", get(page))
        .with_state(routes)
}

async fn page(State(routes): State<BookRoutes>, request: Request) -> Response {
    let render = || async { spawn_blocking(|| Arc::new(Book::render())).await.ok() };
    let Some(book) = routes.book.get(render).await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };

    let path = request
        .uri()
        .path()
        .strip_prefix("/docs/")
        .unwrap_or_default();

    match book.get(path) {
        Some(file) => file.respond(&routes.policy, request.headers()),
        None => not_found(request.uri().clone()).await.into_response(),
    }
}

/// The text of a file of the sources; empty if there is none.
fn source(file: &str) -> &'static str {
    SOURCES
        .get_file(file)
        .and_then(|file| file.contents_utf8())
        .unwrap_or_default()
}

/// The way from a chapter's page to the root of the book.
fn to_book(file: &str) -> String {
    match file.matches('/').count() {
        0 => "./".to_owned(),
        depth => "../".repeat(depth),
    }
}

impl Book {
    /// Renders all chapters.
    fn render() -> Self {
        let summary = summary::parse(source("SUMMARY.md"));
        let chapters: Vec<(&str, &str, RenderedChapter)> = summary
            .iter()
            .filter_map(|line| match line {
                SummaryLine::Chapter { title, file, .. } => {
                    Some((*title, *file, markdown::render(source(file))))
                }
                SummaryLine::Part(_) => None,
            })
            .collect();

        let mut files = HashMap::new();
        let mut index = Vec::new();
        for (title, file, chapter) in &chapters {
            let page = ChapterPage {
                summary: &summary,
                title,
                file,
                to_book: &to_book(file),
                chapter,
            };
            let html = page.html();

            // The first chapter is also the book's own page.
            if files.is_empty() {
                files.insert(
                    String::new(),
                    PageFile::new("index.html", html.clone().into()),
                );
            }
            files.insert(page_of(file), PageFile::new("index.html", html.into()));
            index.push(IndexedChapter::new(title, file, chapter));
        }

        // Text serializes without errors.
        let index = serde_json::to_string(&index).unwrap_or_default();
        files.insert(INDEX.to_owned(), PageFile::new(INDEX, index.into()));
        Self(files)
    }

    /// The file at a path. A directory has the page of its `index.md`.
    fn get(&self, path: &str) -> Option<&PageFile> {
        self.0.get(path).or_else(|| {
            path.ends_with('/')
                .then(|| self.0.get(&format!("{path}index.html")))
                .flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chapter_is_a_page_and_in_the_index() {
        let book = Book::render();
        let index: serde_json::Value =
            serde_json::from_slice(book.get(INDEX).expect("an index").body.bytes()).expect("JSON");
        let pages: Vec<&str> = index
            .as_array()
            .expect("chapters")
            .iter()
            .map(|one| one["page"].as_str().expect("no failure"))
            .collect();
        assert!(
            pages.len() > 30 && pages.contains(&"configuration/index.html"),
            "{pages:?}"
        );
        for page in &pages {
            let html =
                std::str::from_utf8(book.get(page).expect("a page").body.bytes()).expect("text");
            assert_eq!(html.matches("<h1").count(), 1, "{page}");
            assert_eq!(html.matches("aria-current").count(), 1, "{page}");
            assert_eq!(
                html.matches("<li>").count() + html.matches("<li ").count(),
                html.matches("</li>").count(),
                "{page}"
            );
            assert_eq!(
                html.matches("<ul>").count(),
                html.matches("</ul>").count(),
                "{page}"
            );
        }

        let bytes = |path: &str| book.get(path).map(|file| file.body.bytes());
        assert_eq!(bytes(""), bytes(pages[0]));
        assert_eq!(bytes("configuration/"), bytes("configuration/index.html"));
        assert!(
            bytes("nothing.html").is_none()
                && bytes("SUMMARY.md").is_none()
                && bytes("../Cargo.toml").is_none()
        );
    }
}
