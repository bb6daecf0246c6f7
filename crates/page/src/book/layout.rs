//! The HTML around a chapter: the header, the list of chapters, the chapter's own headings, and the
//! ways on.

use std::fmt::Write;

use super::{
    escape::escape,
    markdown::{RenderedChapter, Section},
    summary::SummaryLine,
};

/// A chapter's page.
pub(super) struct ChapterPage<'a> {
    pub(super) summary: &'a [SummaryLine<'a>],
    pub(super) title: &'a str,
    /// The chapter's file; empty for a page that is not a chapter.
    pub(super) file: &'a str,
    /// The way from the page to the root of the book, such as `../`.
    pub(super) to_book: &'a str,
    pub(super) chapter: &'a RenderedChapter,
}

/// The page of a chapter's file.
pub(super) fn page_of(file: &str) -> String {
    file.strip_suffix(".md")
        .map(|path| format!("{path}.html"))
        .unwrap_or_default()
}

const LOGO: &str = "<svg viewBox=\"0 0 32 32\" aria-hidden=\"true\"><rect x=\"3\" y=\"3\" width=\"11\" height=\"11\" rx=\"3\"/>\
    <rect x=\"18\" y=\"3\" width=\"11\" height=\"11\" rx=\"3\" class=\"soft\"/>\
    <rect x=\"3\" y=\"18\" width=\"11\" height=\"11\" rx=\"3\" class=\"soft\"/>\
    <rect x=\"18\" y=\"18\" width=\"11\" height=\"11\" rx=\"3\"/></svg>";

impl ChapterPage<'_> {
    /// The document.
    pub(super) fn html(&self) -> String {
        let title = escape(self.title);
        let chapter = &self.chapter.html;
        let contents = self.contents();
        let outline = self.outline();
        let turns = self.turns();

        // Relative, for a proxy that serves the node under a prefix.
        let book = self.to_book;
        let root = format!("{book}../");

        format!(
            "<!doctype html>\n\
             <html lang=\"en\">\n\
             <head>\n\
             <meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title} · tetrad</title>\n\
             <script src=\"{root}site/theme.js\"></script>\n\
             <link rel=\"icon\" href=\"{root}site/icon.svg\" type=\"image/svg+xml\">\n\
             <link rel=\"stylesheet\" href=\"{root}site/css/base.css\">\n\
             <link rel=\"stylesheet\" href=\"{root}site/css/parts.css\">\n\
             <link rel=\"stylesheet\" href=\"{root}site/css/controls.css\">\n\
             <link rel=\"stylesheet\" href=\"{root}site/css/book.css\">\n\
             <link rel=\"modulepreload\" href=\"{root}site/lib/dom.js\">\n\
             <link rel=\"modulepreload\" href=\"{root}site/lib/format.js\">\n\
             <link rel=\"modulepreload\" href=\"{root}site/lib/bookexamples.js\">\n\
             <link rel=\"modulepreload\" href=\"{root}site/lib/bech32.js\">\n\
             <link rel=\"modulepreload\" href=\"{root}site/lib/bytes.js\">\n\
             <link rel=\"modulepreload\" href=\"{root}site/lib/bookindex.js\">\n\
             <link rel=\"modulepreload\" href=\"{root}site/lib/booksearch.js\">\n\
             <link rel=\"modulepreload\" href=\"{root}site/vendor/bech32.js\">\n\
             <script type=\"module\" src=\"{root}site/book.js\"></script>\n\
             </head>\n\
             <body class=\"book\" data-book=\"{book}\">\n\
             <a class=\"skip\" href=\"#main\">Skip to content</a>\n\
             <header class=\"top\">\n\
             <button id=\"book-menu\" class=\"quiet\" type=\"button\" aria-expanded=\"false\" aria-controls=\"book-contents\">Chapters</button>\n\
             <a class=\"brand\" href=\"{book}\" aria-label=\"tetrad, the book\">{LOGO}<span>tetrad</span></a>\n\
             <form id=\"book-search\" class=\"search\" role=\"search\">\n\
             <label for=\"book-query\" class=\"hidden\">Search the book</label>\n\
             <input id=\"book-query\" type=\"search\" role=\"combobox\" aria-autocomplete=\"list\" aria-expanded=\"false\" \
             aria-controls=\"book-results\" autocomplete=\"off\" spellcheck=\"false\" placeholder=\"Search the book  /\">\n\
             <div id=\"book-results\" class=\"results\" role=\"listbox\" aria-label=\"Results\" hidden></div>\n\
             </form>\n\
             <div class=\"who\">\
             <a class=\"docs\" href=\"{root}\">Node page</a>\
             <button id=\"book-theme\" type=\"button\" class=\"quiet\" aria-label=\"Switch between light and dark\"></button></div>\n\
             </header>\n\
             <nav id=\"book-contents\" class=\"contents\" aria-label=\"Chapters\">\n{contents}</nav>\n\
             <main id=\"main\" tabindex=\"-1\">\n\
             <article>\n{chapter}</article>\n\
             {outline}{turns}\
             </main>\n\
             <section id=\"toasts\" class=\"toasts\" aria-label=\"Messages\"></section>\n\
             <div id=\"live\" class=\"hidden\" role=\"status\" aria-live=\"polite\"></div>\n\
             </body>\n\
             </html>\n"
        )
    }

    /// The list of chapters, each part with a list of its own.
    fn contents(&self) -> String {
        let mut html = String::new();
        // The number of lists that are open.
        let mut open = 0;

        for line in self.summary {
            match line {
                SummaryLine::Part(title) => {
                    close_lists(&mut html, &mut open, 0);
                    let _ = writeln!(html, "<h2>{}</h2>", escape(title));
                }
                SummaryLine::Chapter { title, file, depth } => {
                    close_lists(&mut html, &mut open, depth + 1);
                    // The summary does not skip a level.
                    html.push_str(if open > *depth { "</li>" } else { "<ul>" });
                    open = depth + 1;

                    let current = if *file == self.file {
                        " aria-current=\"page\""
                    } else {
                        ""
                    };
                    let page = page_of(file);
                    let title = escape(title);
                    let _ = write!(
                        html,
                        "\n<li><a href=\"{}{page}\"{current}>{title}</a>",
                        self.to_book
                    );
                }
            }
        }

        close_lists(&mut html, &mut open, 0);
        html.push('\n');
        html
    }

    /// The headings of a long chapter.
    fn outline(&self) -> String {
        let headings: Vec<&Section> = self
            .chapter
            .sections
            .iter()
            .filter(|one| matches!(one.level, 2 | 3))
            .collect();
        if headings.len() < 3 {
            return String::new();
        }

        let mut html =
            "<nav class=\"outline\" aria-label=\"On this page\">\n<h2>On this page</h2>\n<ul>\n"
                .to_owned();
        for Section {
            heading, id, level, ..
        } in headings
        {
            let class = if *level == 3 { " class=\"below\"" } else { "" };
            let _ = writeln!(
                html,
                "<li{class}><a href=\"#{id}\">{}</a></li>",
                escape(heading)
            );
        }

        html.push_str("</ul>\n</nav>\n");
        html
    }

    /// Links to the chapters before and after.
    fn turns(&self) -> String {
        let chapters: Vec<(&str, &str)> = self
            .summary
            .iter()
            .filter_map(|line| match line {
                SummaryLine::Chapter { title, file, .. } => Some((*title, *file)),
                SummaryLine::Part(_) => None,
            })
            .collect();

        let Some(at) = chapters.iter().position(|(_, file)| *file == self.file) else {
            return String::new();
        };

        let previous = at.checked_sub(1).and_then(|at| chapters.get(at));
        let previous = self.turn(previous, "prev", "Previous");
        let next = self.turn(chapters.get(at + 1), "next", "Next");

        format!(
            "<nav class=\"turns\" aria-label=\"Previous and next chapter\">\n{previous}{next}</nav>\n"
        )
    }

    /// A link to a chapter; empty if there is none.
    fn turn(&self, chapter: Option<&(&str, &str)>, rel: &str, label: &str) -> String {
        let Some((title, file)) = chapter else {
            return String::new();
        };
        format!(
            "<a rel=\"{rel}\" href=\"{}{}\"><small>{label}</small>{}</a>\n",
            self.to_book,
            page_of(file),
            escape(title)
        )
    }
}

/// Closes lists of chapters until `down_to` are open.
fn close_lists(html: &mut String, open: &mut usize, down_to: usize) {
    while *open > down_to {
        html.push_str("</li></ul>");
        *open -= 1;
    }
}
