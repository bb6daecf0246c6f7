//! The architecture as absences: which room, that is, which top-level module, knows nothing of
//! which. Reads the sources.

mod sources;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use sources::Sources;

/// The rooms and what each imports, re-exports followed. Imports go up the list only. Rooms that
/// are not listed stand at the end and may import anything.
const IMPORTS: [(&str, &[&str]); 41] = [
    ("account", &[]),
    ("artifacts", &[]),
    ("codec", &[]),
    ("calendar", &[]),
    ("clock", &[]),
    ("decimal", &[]),
    ("metrics", &[]),
    ("nesting", &[]),
    ("causes", &[]),
    ("keccak", &[]),
    ("parallel", &[]),
    ("ring", &[]),
    ("redact", &[]),
    ("tls", &[]),
    ("network", &["account"]),
    ("block", &["codec", "keccak", "nesting"]),
    ("state", &["block", "codec", "keccak", "parallel"]),
    ("storage", &["codec"]),
    ("log", &["block", "causes", "codec", "state", "storage"]),
    ("store", &["block", "codec", "log", "state", "storage"]),
    ("evm", &["block", "codec", "state"]),
    (
        "chain",
        &[
            "account", "block", "calendar", "clock", "codec", "evm", "log", "metrics", "parallel",
            "state", "storage", "store",
        ],
    ),
    ("index", &["block", "chain", "codec", "evm", "store"]),
    (
        "cluster",
        &[
            "block", "causes", "chain", "codec", "log", "metrics", "redact", "storage", "store",
        ],
    ),
    (
        "web",
        &[
            "account", "clock", "metrics", "network", "parallel", "ring", "tls",
        ],
    ),
    (
        "sources",
        &[
            "artifacts",
            "chain",
            "clock",
            "nesting",
            "network",
            "ring",
            "storage",
        ],
    ),
    ("failed_calls", &["clock"]),
    (
        "console",
        &[
            "block",
            "chain",
            "evm",
            "failed_calls",
            "network",
            "sources",
        ],
    ),
    ("contracts", &["artifacts", "chain", "evm", "network"]),
    (
        "fork",
        &[
            "block", "calendar", "causes", "chain", "evm", "state", "tls", "web",
        ],
    ),
    (
        "rpc",
        &[
            "block",
            "chain",
            "evm",
            "failed_calls",
            "fork",
            "metrics",
            "nesting",
            "parallel",
            "redact",
            "sources",
            "state",
            "store",
            "web",
        ],
    ),
    (
        "exchange",
        &[
            "account",
            "artifacts",
            "block",
            "causes",
            "chain",
            "clock",
            "codec",
            "contracts",
            "decimal",
            "evm",
            "network",
            "redact",
            "storage",
            "store",
            "tls",
            "web",
        ],
    ),
    (
        "lending",
        &[
            "account",
            "artifacts",
            "block",
            "chain",
            "clock",
            "contracts",
            "decimal",
            "network",
            "web",
        ],
    ),
    (
        "activity",
        &[
            "block",
            "chain",
            "contracts",
            "decimal",
            "network",
            "store",
            "web",
        ],
    ),
    (
        "faucet",
        &[
            "block",
            "chain",
            "contracts",
            "decimal",
            "evm",
            "network",
            "web",
        ],
    ),
    (
        "explorer",
        &[
            "account", "block", "calendar", "chain", "decimal", "evm", "index", "network",
            "sources", "store", "web",
        ],
    ),
    (
        "cosmos",
        &[
            "account", "block", "calendar", "chain", "nesting", "network", "state", "web",
        ],
    ),
    ("site", &["artifacts", "web"]),
    (
        "scenario",
        &[
            "block",
            "chain",
            "clock",
            "contracts",
            "decimal",
            "exchange",
            "nesting",
            "network",
            "web",
        ],
    ),
    (
        "genesis",
        &[
            "artifacts",
            "calendar",
            "chain",
            "contracts",
            "evm",
            "exchange",
            "lending",
            "network",
        ],
    ),
    (
        "config",
        &[
            "account", "chain", "cluster", "console", "decimal", "evm", "exchange", "faucet",
            "fork", "genesis", "log", "network", "redact", "rpc", "web",
        ],
    ),
];

/// Rooms in which files still name each other in circles. In all others they do not, except that a
/// module's parts may name the module itself.
const WITH_CIRCLES: [&str; 4] = ["cosmos", "evm", "exchange", "web"];

/// Crates that only `web` and the interfaces may name.
const WEB_CRATES: [&str; 7] = [
    "axum",
    "hyper",
    "hyper_util",
    "http",
    "http_body_util",
    "tower",
    "tower_http",
];
const WITHOUT_WEB: [&str; 26] = [
    "account",
    "artifacts",
    "block",
    "calendar",
    "causes",
    "clock",
    "codec",
    "console",
    "contracts",
    "decimal",
    "state",
    "metrics",
    "nesting",
    "network",
    "redact",
    "sources",
    "evm",
    "failed_calls",
    "storage",
    "log",
    "store",
    "chain",
    "index",
    "cluster",
    "fork",
    "genesis",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

static SOURCES: LazyLock<Sources> = LazyLock::new(|| Sources::read(&root()));

/// The room of a file.
fn room(file: &Path) -> &str {
    let first = file
        .components()
        .next()
        .unwrap()
        .as_os_str()
        .to_str()
        .unwrap();
    first.trim_end_matches(".rs")
}

#[test]
fn rooms_import_what_is_listed_and_stands_before_them() {
    let edges = SOURCES.edges();
    assert!(
        edges.len() > 1_000,
        "the sources were not read: {} edges",
        edges.len()
    );
    let mut found = BTreeMap::<(&str, &str), (&Path, &Path)>::new();
    for (from, to) in edges {
        if room(from) != room(to) {
            found.insert((room(from), room(to)), (from, to));
        }
    }
    let mut wrong = Vec::new();
    let place = |name: &str| IMPORTS.iter().position(|(room, _)| *room == name);
    for ((from, to), (file, target)) in &found {
        if IMPORTS
            .iter()
            .any(|(room, imports)| room == from && !imports.contains(to))
        {
            wrong.push(format!(
                "{} names {}: {from} does not list {to}",
                file.display(),
                target.display()
            ));
        }
    }
    for (room, imports) in IMPORTS {
        for import in imports {
            if !found.contains_key(&(room, *import)) {
                wrong.push(format!("{room} lists {import}, which it does not import"));
            }
            if place(import).is_none_or(|import| Some(import) >= place(room)) {
                wrong.push(format!(
                    "{room} lists {import}, which does not stand before it"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether `file` is a part of the module whose own file is `parent`.
fn is_part_of(file: &Path, parent: &Path) -> bool {
    let folder = if parent.ends_with("mod.rs") {
        parent.parent().unwrap().to_owned()
    } else {
        parent.with_extension("")
    };
    file.starts_with(folder)
}

#[test]
fn files_of_a_room_do_not_name_each_other_in_circles() {
    let mut named = BTreeMap::<&Path, BTreeSet<&Path>>::new();
    for (from, to) in SOURCES.edges() {
        if room(from) == room(to) && !is_part_of(from, to) {
            named.entry(from).or_default().insert(to);
        }
    }
    let reachable = |from: &Path| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(file) = next.pop() {
            let further = named.get(file.as_path()).into_iter().flatten();
            next.extend(
                further
                    .filter(|file| seen.insert(file.to_path_buf()))
                    .map(|file| file.to_path_buf()),
            );
        }
        seen
    };
    let reachable: BTreeMap<&Path, _> = named.keys().map(|file| (*file, reachable(file))).collect();
    let mut circles = BTreeMap::<&str, Vec<String>>::new();
    for (from, all) in &named {
        for to in all.iter().filter(|to| {
            reachable
                .get(*to)
                .is_some_and(|reached| reached.contains(*from))
        }) {
            let edge = format!("{} names {}", from.display(), to.display());
            circles.entry(room(from)).or_default().push(edge);
        }
    }
    for room in WITH_CIRCLES {
        assert!(
            circles.remove(room).is_some(),
            "{room} has no circles any more: take it off the list"
        );
    }
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn nothing_before_web_knows_of_http() {
    for (path, module) in &SOURCES.0 {
        if WITHOUT_WEB.contains(&room(&module.file)) {
            for name in SOURCES.foreign(path).filter(|name| name.len() > 1) {
                let web = WEB_CRATES.contains(&name[0].as_str());
                assert!(!web, "{} names {}", module.file.display(), name.join("::"));
            }
        }
    }
}

#[test]
fn applying_a_block_reads_no_clock_and_no_randomness() {
    for (path, module) in &SOURCES.0 {
        if module.file.ends_with("chain/block/apply.rs")
            || matches!(room(&module.file), "evm" | "state" | "block")
        {
            for name in SOURCES.foreign(path) {
                let instant = name.windows(2).any(|parts| parts == ["time", "Instant"]);
                let clock = instant
                    || name
                        .iter()
                        .any(|part| matches!(part.as_str(), "SystemTime" | "OsRng" | "random"));
                let environment = name.starts_with(&["std".to_owned(), "env".to_owned()]);
                assert!(
                    !clock && !environment,
                    "{} names {}",
                    module.file.display(),
                    name.join("::")
                );
            }
            assert!(
                !module.calls.contains("random"),
                "{} calls random",
                module.file.display()
            );
        }
    }
}

#[test]
fn nothing_is_left_open() {
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                for word in ["TODO", "FIXME", "XXX", "HACK", "todo!(", "unimplemented!("] {
                    assert!(!text.contains(word), "{} contains {word}", path.display());
                }
            }
        }
    }
}

/// What the reader has to see, on a crate made up for it.
#[test]
fn the_reader_sees_every_way_to_name_another_file() {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in [
        ("lib.rs", "mod a; mod b; mod c; mod d; pub use d::Hidden;"),
        ("a.rs", "pub struct A; pub mod deep { pub fn f() {} }"),
        ("b.rs", "pub use crate::a::A as Laundered; pub fn f() {}"),
        ("d.rs", "pub struct Hidden;"),
        (
            "c/mod.rs",
            "mod group; mod expression; mod up; mod launder; mod alias; mod text; mod test; mod local; mod glob;",
        ),
        ("c/group.rs", "use crate::{a::{self, deep::{f as g}}, b};"),
        (
            "c/expression.rs",
            "fn x() -> crate::a::A { println!(\"{}\", crate::b::f()); loop {} }",
        ),
        ("c/up.rs", "use super::super::a::A; pub(super) fn x() {}"),
        (
            "c/launder.rs",
            "use crate::b::Laundered; use crate::Hidden;",
        ),
        (
            "c/alias.rs",
            "pub(super) use crate::a as other; fn x() { other::deep::f() }",
        ),
        ("c/text.rs", "#[serde(with = \"crate::a\")] struct X;"),
        (
            "c/test.rs",
            "#[cfg(test)] use crate::a::A; #[cfg(test)] mod tests { use crate::b; }",
        ),
        (
            "c/local.rs",
            "mod a { pub struct A; } use a::A; fn x(b: u8) -> u8 { b }",
        ),
        ("c/glob.rs", "use crate::b::*; fn x(_: Laundered) {}"),
    ] {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let sources = Sources::read(folder.path());
    let named = |file: &str| -> Vec<String> {
        let edges = sources.edges();
        let own = edges
            .iter()
            .filter(|(from, _)| *from == Path::new("c").join(file));
        own.map(|(_, to)| to.display().to_string()).collect()
    };
    for (file, expected) in [
        ("group.rs", &["a.rs", "b.rs"][..]),
        ("expression.rs", &["a.rs", "b.rs"]),
        ("up.rs", &["a.rs"]),
        ("launder.rs", &["a.rs", "d.rs"]),
        ("alias.rs", &["a.rs"]),
        ("text.rs", &["a.rs"]),
        ("test.rs", &[]),
        ("local.rs", &[]),
        ("glob.rs", &["a.rs", "b.rs"]),
        ("mod.rs", &[]),
    ] {
        assert_eq!(named(file), expected, "{file}");
    }
}
