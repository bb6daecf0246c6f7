//! The commands and messages of the book, and the output that it shows. Each page begins with a
//! fresh node.

use std::{fs, path::Path, process::Command, sync::Arc};

use tempfile::TempDir;
use tetrad_stdx::clock::ManualClock;

use super::{
    WRITING,
    blocks::{Block, blocks},
    json::{Json, fits},
    name, pages,
};
use crate::support::{TestNode, golden::is_blessing, skip, socket::PriceSocket, ticking_node};

/// A reader who follows one page.
struct Reader {
    node: TestNode,
    _clock: Arc<ManualClock>,
    home: TempDir,
    socket: Option<PriceSocket>,
}

/// A change of a page: the lines that are replaced, and the new ones.
type Edit = (std::ops::Range<usize>, String);

impl Reader {
    async fn new() -> Self {
        let (node, clock) = ticking_node().await;
        let home = tempfile::tempdir().unwrap();
        // Commands name files of the repository.
        let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
        std::os::unix::fs::symlink(files, home.path().join("config")).unwrap();
        Self {
            node,
            _clock: clock,
            home,
            socket: None,
        }
    }

    /// The node's addresses and those that the book names.
    fn addresses(&self) -> [(String, &'static str); 2] {
        let host = |url: String| url.split_once("://").unwrap().1.to_owned();
        [
            (host(self.node.rest_url()), "localhost:8545"),
            (host(self.node.exchange_ws_url()), "localhost:3001"),
        ]
    }

    /// The standard output of a command.
    async fn run(&self, command: &str) -> String {
        let addresses = self.addresses();
        let mut text = command.to_owned();
        for (actual, shown) in &addresses {
            text = text.replace(shown, actual);
        }

        let programs = Path::new(env!("CARGO_BIN_EXE_tetrad")).parent().unwrap();
        let path = format!(
            "{}:{}",
            programs.display(),
            std::env::var("PATH").unwrap_or_default()
        );

        let mut shell = Command::new("sh");
        shell
            .args(["-e", "-c", &text])
            .env("PATH", path)
            .env("HOME", self.home.path())
            .current_dir(self.home.path());

        let output = tokio::task::spawn_blocking(move || shell.output())
            .await
            .unwrap()
            .expect("sh runs");
        assert!(
            output.status.success(),
            "{command}: {}",
            String::from_utf8_lossy(&output.stderr)
        );

        let mut text = String::from_utf8(output.stdout).unwrap();
        for (actual, shown) in &addresses {
            text = text.replace(actual, shown);
        }
        text
    }

    /// The page's WebSocket: of prices on the page about them, otherwise JSON-RPC's.
    async fn socket(&mut self, page: &str) -> &mut PriceSocket {
        if self.socket.is_none() {
            let prices = self.node.rest_url().replace("http", "ws") + "/ws";
            let url = if page.ends_with("price-websocket.md") {
                prices
            } else {
                self.node.ws_url()
            };
            self.socket = Some(PriceSocket::connect(&url).await);
        }
        self.socket.as_mut().unwrap()
    }
}

/// Whether a block consists of commands that can be run as they stand, and whose output is shown.
fn is_run(block: &Block, next: Option<&Block>) -> bool {
    let shows = next
        .is_some_and(|next| next.is_adjacent && ["json", "text"].contains(&next.language.as_str()));
    let commands = block.text.contains("curl ") || (block.text.contains("tetrad ") && shows);
    block.language == "sh" && commands
}

/// The difference between an example and the actual output, and the corrected block.
fn compare(example: Option<&Block>, written: &str, place: &str) -> Option<(String, String)> {
    let Some(example) = example else {
        let text =
            Json::parse(written).map_or(written.to_owned(), |answer| answer.abridged().render());
        return Some((format!("{place}: the output is not shown"), text));
    };
    if example.language == "text" {
        let is_same = fits(example.text.trim_end(), written.trim_end());
        return (!is_same).then(|| {
            (
                format!("{place}: {written}, not {}", example.text),
                format!("{}\n", written.trim_end()),
            )
        });
    }
    let shown = Json::parse(&example.text)
        .unwrap_or_else(|error| panic!("{place}: {error}: {}", example.text));
    let answer = Json::parse(written).unwrap_or_else(|error| panic!("{place}: {error}: {written}"));
    let difference = shown.difference(&answer, place);
    let difference = difference.map(|text| (text, shown.updated(&answer).render()));

    difference.or_else(|| {
        // The layout is that of the book, too.
        (shown.render() != example.text).then(|| (format!("{place}: the layout"), shown.render()))
    })
}

/// Follows a page: the differences, and the edits that would remove them.
async fn follow(place: &str, page: &str) -> Vec<(String, Edit)> {
    let blocks = blocks(page);
    let is_command = |at: usize| is_run(&blocks[at], blocks.get(at + 1));

    let mut found = Vec::new();
    if !(0..blocks.len()).any(|at| is_command(at) || !blocks[at].role.is_empty()) {
        return found;
    }

    let mut reader = Reader::new().await;
    for (at, block) in blocks.iter().enumerate() {
        let place = format!("{place}:{}", block.lines.start);
        if is_command(at) {
            let written = reader.run(&block.text).await;
            let shown = blocks
                .get(at + 1)
                .filter(|next| next.is_adjacent && next.role.is_empty());
            let shown = shown.filter(|next| ["json", "text"].contains(&next.language.as_str()));

            if let Some((difference, text)) = compare(shown, &written, &place) {
                let after = block.lines.end + 1;
                let edit = match shown {
                    Some(shown) => (shown.lines.clone(), text),
                    None => {
                        let language = if Json::parse(&text).is_ok() {
                            "json"
                        } else {
                            "text"
                        };
                        (after..after, format!("\n```{language}\n{text}```\n"))
                    }
                };
                found.push((difference, edit));
            }
        }

        match block.role.as_str() {
            "sent" => {
                reader
                    .socket(&place_page(&place))
                    .await
                    .send(block.text.trim())
                    .await
            }
            "received" => {
                let message = reader.socket(&place_page(&place)).await.text().await;
                if let Some((difference, text)) = compare(Some(block), &message, &place) {
                    found.push((difference, (block.lines.clone(), text)));
                }
            }
            _ => {}
        }
    }

    drop(reader.socket.take());
    reader.node.end().await;
    found
}

/// The page of a place.
fn place_page(place: &str) -> String {
    place
        .rsplit_once(':')
        .map_or(place, |(page, _)| page)
        .to_owned()
}

/// Every command prints the output that the book shows, and so does every message of a WebSocket.
/// With `TETRAD_BLESS=1` the test writes the actual output instead.
#[tokio::test]
async fn commands_print_what_the_book_shows() {
    if Command::new("curl").arg("--version").output().is_err() {
        return skip("the examples need curl");
    }
    let mut wrong = Vec::new();
    for (path, page) in pages() {
        let mut found = follow(&name(&path), &page).await;
        if !is_blessing() {
            wrong.extend(found.into_iter().map(|(difference, _)| difference));
            continue;
        }
        if found.is_empty() {
            continue;
        }
        found.sort_by_key(|(_, (lines, _))| std::cmp::Reverse(lines.start));
        let _writing = WRITING.lock();
        // The other test that writes a page does not move its lines.
        let page = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
        for (_, (range, text)) in found {
            lines.splice(range, text.lines().map(str::to_owned));
        }
        fs::write(&path, lines.join("\n") + "\n").unwrap();
    }
    assert!(
        wrong.is_empty(),
        "TETRAD_BLESS=1 writes these {}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
