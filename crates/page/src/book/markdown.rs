//! A chapter's Markdown as HTML, with the text that the search looks through.

use std::collections::HashMap;

use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html,
};

use super::{escape::escape, highlight::highlight};

/// A chapter in HTML.
#[derive(Debug, Default)]
pub(super) struct RenderedChapter {
    pub(super) html: String,
    /// Its sections; the first one is the chapter's beginning.
    pub(super) sections: Vec<Section>,
}

/// A heading and the text below it, up to the next one.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) heading: String,
    /// The fragment that leads to it; empty at the chapter's beginning.
    pub(super) id: String,
    /// The heading's level, or 0 if it is the bold beginning of a paragraph.
    pub(super) level: u8,
    pub(super) text: String,
}

/// Renders a chapter. Comments are left out, and there is no other markup in the book.
pub(super) fn render(markdown: &str) -> RenderedChapter {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let events: Vec<Event<'_>> = Parser::new_ext(markdown, options)
        .filter(|event| !matches!(event, Event::Html(_) | Event::InlineHtml(_)))
        .collect();

    let mut renderer = Renderer::new(&events);
    for at in 0..events.len() {
        renderer.render(at);
    }
    renderer.finish()
}

/// A chapter that is being rendered.
struct Renderer<'a> {
    events: &'a [Event<'a>],
    /// The events that become the chapter's HTML.
    rendered: Vec<Event<'a>>,
    sections: Vec<Section>,
    /// The fragments in use, each with how many others were numbered after it.
    fragments: HashMap<String, usize>,
    in_table: bool,
    /// The language of the block of code that is being rendered, and its text so far.
    code: Option<(String, String)>,
}

impl<'a> Renderer<'a> {
    fn new(events: &'a [Event<'a>]) -> Self {
        Self {
            events,
            rendered: Vec::with_capacity(events.len()),
            sections: Vec::new(),
            fragments: HashMap::new(),
            in_table: false,
            code: None,
        }
    }

    /// Renders the event at a position and adds its text to the section that it is in.
    fn render(&mut self, at: usize) {
        let events = self.events;
        let event = &events[at];

        match event {
            Event::Start(Tag::Heading { level, .. }) => self.open_heading(*level, &events[at..]),
            Event::End(TagEnd::Heading(level)) => self.close_heading(*level),
            // Routes are described in paragraphs that begin with them, which have no heading.
            Event::Start(Tag::Paragraph)
                if matches!(events.get(at + 1), Some(Event::Start(Tag::Strong))) =>
            {
                self.open_route(&events[at..]);
            }
            Event::Start(Tag::CodeBlock(kind)) => self.code = Some((language(kind), String::new())),
            Event::End(TagEnd::CodeBlock) => self.close_code(),
            Event::Text(text) if self.code.is_some() => {
                if let Some((_, code)) = &mut self.code {
                    code.push_str(text);
                }
            }
            // Paths in narrow columns break after their slashes.
            Event::Code(code) if self.in_table => {
                let code = escape(code)
                    .replace('/', "/<wbr>")
                    .replace("/<wbr>/<wbr>", "//");
                self.push_html(format!("<code>{code}</code>"));
            }
            Event::Start(Tag::Table(_)) => {
                self.in_table = true;
                self.push_html("<div class=\"scroll\">");
                self.rendered.push(event.clone());
            }
            Event::End(TagEnd::Table) => {
                self.in_table = false;
                self.rendered.push(event.clone());
                self.push_html("</div>\n");
            }
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }) => self.rendered.push(Event::Start(Tag::Link {
                link_type: *link_type,
                dest_url: target(dest_url).into(),
                title: title.clone(),
                id: id.clone(),
            })),
            other => self.rendered.push(other.clone()),
        }

        if let Some(section) = self.sections.last_mut() {
            add_text(&mut section.text, event);
        }
    }

    /// Begins the section of a heading, which is the first of these events.
    fn open_heading(&mut self, level: HeadingLevel, events: &[Event<'_>]) {
        let heading = text_until(events, &TagEnd::Heading(level));

        // The title has no fragment: links to the chapter lead to it.
        let is_title = level == HeadingLevel::H1 && self.sections.is_empty();
        let id = if is_title {
            self.push_html("<h1 tabindex=\"-1\">");
            String::new()
        } else {
            let id = unique(&mut self.fragments, slug(&heading));
            self.push_html(format!("<{level} id=\"{id}\">"));
            id
        };

        self.sections.push(Section {
            heading,
            id,
            level: level as u8,
            text: String::new(),
        });
    }

    /// Ends a heading, with a link to its section.
    fn close_heading(&mut self, level: HeadingLevel) {
        let linked = self
            .sections
            .last()
            .filter(|section| !section.id.is_empty());
        if let Some(Section { heading, id, .. }) = linked {
            let heading = escape(heading);
            self.push_html(format!(
                "<a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to {heading}\">#</a>"
            ));
        }
        self.push_html(format!("</{level}>\n"));
    }

    /// Begins the section of a paragraph with a bold beginning, which is the first of these events.
    fn open_route(&mut self, events: &[Event<'_>]) {
        let heading = text_until(events, &TagEnd::Strong);
        let id = unique(&mut self.fragments, slug(&heading));
        self.push_html(format!("<p id=\"{id}\">"));
        self.sections.push(Section {
            heading,
            id,
            level: 0,
            text: String::new(),
        });
    }

    /// Ends a block of code, whose language is a class.
    fn close_code(&mut self) {
        let Some((language, code)) = self.code.take() else {
            return;
        };
        let name = escape(&language);
        let code = highlight(&code, &language);
        self.push_html(format!(
            "<div class=\"code\"><pre><code class=\"language-{name}\">{code}</code></pre></div>\n"
        ));
    }

    fn push_html(&mut self, html: impl Into<CowStr<'a>>) {
        self.rendered.push(Event::Html(html.into()));
    }

    /// The chapter, with the text of its sections as the search looks through it.
    fn finish(self) -> RenderedChapter {
        let mut html = String::new();
        html::push_html(&mut html, self.rendered.into_iter());

        let mut sections = self.sections;
        for section in &mut sections {
            section.text = single_spaced(&section.text);
            // The heading is found by itself.
            if let Some(rest) = section.text.strip_prefix(section.heading.as_str()) {
                section.text = rest.trim_start().to_owned();
            }
        }
        RenderedChapter { html, sections }
    }
}

/// The language of a block of code; plain text if it names none.
fn language(kind: &CodeBlockKind<'_>) -> String {
    let language = match kind {
        CodeBlockKind::Fenced(info) => info.split([',', ' ']).next().unwrap_or_default(),
        CodeBlockKind::Indented => "",
    };
    if language.is_empty() {
        "text".to_owned()
    } else {
        language.to_owned()
    }
}

/// A text with single spaces between its words.
fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn add_text(text: &mut String, event: &Event<'_>) {
    match event {
        Event::Text(part) | Event::Code(part) => text.push_str(part),
        Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::TableCell) => text.push(' '),
        Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::CodeBlock | TagEnd::Heading(_)) => {
            text.push('\n')
        }
        _ => {}
    }
}

/// The text of the events before `end`.
fn text_until(events: &[Event<'_>], end: &TagEnd) -> String {
    let mut text = String::new();
    events
        .iter()
        .take_while(|event| !matches!(event, Event::End(tag) if tag == end))
        .for_each(|event| add_text(&mut text, event));
    single_spaced(&text)
}

/// The fragment of a heading, as mdBook makes it.
fn slug(heading: &str) -> String {
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|letter| match letter {
            letter if letter.is_alphanumeric() || "-_".contains(letter) => Some(letter),
            letter if letter.is_whitespace() => Some('-'),
            _ => None,
        })
        .collect()
}

/// The fragment, with a number if the chapter has it already.
fn unique(taken: &mut HashMap<String, usize>, slug: String) -> String {
    let times = taken
        .entry(slug.clone())
        .and_modify(|times| *times += 1)
        .or_default();

    if *times == 0 {
        slug
    } else {
        format!("{slug}-{times}")
    }
}

/// The target of a link: a chapter's file becomes its page.
fn target(link: &str) -> String {
    let (path, fragment) = link
        .split_once('#')
        .map_or((link, None), |(path, fragment)| (path, Some(fragment)));

    match path
        .strip_suffix(".md")
        .filter(|path| !path.contains("://"))
    {
        Some(path) => {
            let fragment = fragment
                .map(|fragment| format!("#{fragment}"))
                .unwrap_or_default();
            format!("{path}.html{fragment}")
        }
        None => link.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_get_fragments_and_chapters_become_pages() {
        let text = "# A `title`\n\nHello [you](../b/two.md#x) and [me](https://a.b/c.md).\n\n## Same\n\nfirst\n\n## Same\n\nsecond\n";
        let RenderedChapter { html, sections } = render(text);
        for part in [
            "<h1 tabindex=\"-1\">A <code>title</code></h1>",
            "href=\"../b/two.html#x\"",
            "href=\"https://a.b/c.md\"",
            "<h2 id=\"same\">Same<a class=\"anchor\" href=\"#same\" aria-label=\"Link to Same\">#</a></h2>",
            "<h2 id=\"same-1\">",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }

        let found: Vec<_> = sections
            .iter()
            .map(|one| (one.id.as_str(), one.heading.as_str(), one.text.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("", "A title", "Hello you and me."),
                ("same", "Same", "first"),
                ("same-1", "Same", "second")
            ]
        );
    }

    #[test]
    fn code_is_escaped_and_its_language_named() {
        let RenderedChapter { html, sections } = render(
            "# T\n\n```js,ignore\nif (a < b) \"c\"\n```\n\n| A |\n|---|\n| `a/b` `c://d/e` |\n\n<!-- hidden -->\n",
        );

        assert!(
            html.contains(
                "<div class=\"code\"><pre><code class=\"language-js\"><span class=\"keyword\">if</span> (a &lt; b) <span class=\"string\">&quot;c&quot;</span>\n</code></pre></div>"
            ),
            "{html}"
        );
        assert!(
            html.contains("<div class=\"scroll\"><table>") && !html.contains("hidden"),
            "{html}"
        );
        assert!(
            html.contains("<code>a/<wbr>b</code> <code>c://d/<wbr>e</code>"),
            "{html}"
        );
        assert_eq!(sections[0].text, "if (a < b) \"c\" A a/b c://d/e");
    }

    #[test]
    fn routes_are_sections_of_their_own() {
        let RenderedChapter { html, sections } =
            render("# T\n\n**`GET /api/x/{y}`** Returns *it*.\n\n```sh\ncurl\n```\n");
        assert!(html.contains("<p id=\"get-apixy\"><strong>"), "{html}");

        let last = sections.last().expect("a section");
        assert_eq!(
            (last.heading.as_str(), last.text.as_str(), last.level),
            ("GET /api/x/{y}", "Returns it. curl", 0)
        );
    }
}
