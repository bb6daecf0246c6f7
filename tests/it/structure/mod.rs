//! Rules of the architecture that cargo does not check: modules of one crate that must not import
//! each other, dependencies that a crate must not have, and names that must not occur.
//! Reads the sources and the manifests.

mod public;
mod sources;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use sources::Sources;

/// The modules of crates that have several, and which of the others each imports, re-exports
/// followed. Modules that are not listed may import any other.
const IMPORTS: [(&str, &str, &[&str]); 37] = [
    ("network", "account", &[]),
    ("network", "network", &["account"]),
    ("primitives", "block", &[]),
    ("primitives", "state", &["block"]),
    ("store", "storage", &[]),
    ("store", "log", &["storage"]),
    ("store", "store", &["log", "storage"]),
    ("contracts", "artifacts", &[]),
    ("contracts", "contracts", &["artifacts"]),
    ("contracts", "sources", &["artifacts"]),
    ("rpc", "beacon", &[]),
    ("rpc", "fork", &[]),
    ("rpc", "rpc", &["fork"]),
    ("lending", "activity", &[]),
    ("lending", "faucet", &[]),
    ("lending", "lending", &[]),
    ("explorer", "index", &[]),
    ("explorer", "explorer", &["index"]),
    ("stdx", "calendar", &[]),
    ("stdx", "causes", &[]),
    ("stdx", "clock", &[]),
    ("stdx", "codec", &[]),
    ("stdx", "decimal", &[]),
    ("stdx", "failed_calls", &["clock"]),
    ("stdx", "keccak", &[]),
    ("stdx", "metrics", &[]),
    ("stdx", "nesting", &[]),
    ("stdx", "parallel", &[]),
    ("stdx", "redact", &[]),
    ("stdx", "ring", &[]),
    ("stdx", "text", &[]),
    ("stdx", "tls", &[]),
    ("tetrad", "console", &[]),
    ("tetrad", "scenario", &[]),
    ("tetrad", "genesis", &[]),
    ("tetrad", "config", &["console", "genesis"]),
    ("tetrad", "telemetry", &["config"]),
];

/// Crates that projects other than this one use.
const FOR_OTHERS: [&str; 2] = ["network", "tetrad"];

/// Crates that serve clients. None depends on another.
const INTERFACES: [&str; 6] = ["cosmos", "exchange", "explorer", "lending", "page", "rpc"];

/// Crates that do not depend on HTTP.
const WITHOUT_WEB: [&str; 8] = [
    "chain",
    "cluster",
    "contracts",
    "evm",
    "network",
    "primitives",
    "stdx",
    "store",
];

/// Modules that do not depend on HTTP, in crates that do.
const MODULES_WITHOUT_WEB: [(&str, &str); 4] = [
    ("explorer", "index"),
    ("rpc", "fork"),
    ("tetrad", "console"),
    ("tetrad", "genesis"),
];

/// Dependencies that only `web` and the interfaces may have.
const WEB_CRATES: [&str; 7] = [
    "axum",
    "hyper",
    "hyper_util",
    "http",
    "http_body_util",
    "tower",
    "tower_http",
];

/// The project's folder.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folders of the project's crates by their names, without the prefix `tetrad-`.
static CRATES: LazyLock<BTreeMap<String, PathBuf>> = LazyLock::new(|| {
    let mut crates = BTreeMap::from([("tetrad".to_owned(), root().to_owned())]);
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            crates.insert(entry.file_name().into_string().unwrap(), entry.path());
        }
    }
    crates
});

static SOURCES: LazyLock<BTreeMap<&str, Sources>> = LazyLock::new(|| {
    CRATES
        .iter()
        .map(|(name, folder)| (name.as_str(), Sources::read(&folder.join("src"))))
        .collect()
});

fn manifest(name: &str) -> toml::Table {
    let text = fs::read_to_string(CRATES[name].join("Cargo.toml")).unwrap();
    text.parse().unwrap()
}

/// The names of a crate's dependencies that its program has, with underscores.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = manifest(name);
    let of_platforms = manifest.get("target").and_then(toml::Value::as_table);
    let tables = of_platforms
        .into_iter()
        .flat_map(|platforms| platforms.values().filter_map(toml::Value::as_table))
        .chain([&manifest])
        .filter_map(|table| table.get("dependencies").and_then(toml::Value::as_table));
    tables
        .flat_map(|table| table.keys())
        .map(|name| name.replace('-', "_"))
        .collect()
}

/// The top-level module of a file.
fn top(file: &Path) -> &str {
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
fn modules_of_a_crate_import_only_the_listed_modules() {
    let mut wrong = Vec::new();
    for (crate_name, sources) in &*SOURCES {
        let mut found = BTreeMap::<(&str, &str), (&Path, &Path)>::new();
        for (from, to) in sources.edges() {
            if top(from) != top(to) && top(to) != "lib" {
                found.insert((top(from), top(to)), (from, to));
            }
        }

        let listed = IMPORTS.iter().filter(|(name, ..)| name == crate_name);
        for (_, module, imports) in listed {
            let actual = found.iter().filter(|((from, _), _)| from == module);
            for ((_, to), (file, target)) in actual {
                if !imports.contains(to) {
                    wrong.push(format!(
                        "{crate_name}: {} names {}: {module} does not list {to}",
                        file.display(),
                        target.display()
                    ));
                }
            }

            for import in *imports {
                if !found.contains_key(&(*module, *import)) {
                    wrong.push(format!(
                        "{crate_name}: {module} lists {import}, which it does not import"
                    ));
                }
            }
        }
    }

    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether `file` is a part of the module whose own file is `parent`.
fn is_part_of(file: &Path, parent: &Path) -> bool {
    let folder = if parent.ends_with("mod.rs") || parent == Path::new("lib.rs") {
        parent.parent().unwrap().to_owned()
    } else {
        parent.with_extension("")
    };
    file.starts_with(folder)
}

/// The files that can be reached from one by following names.
fn reachable(from: &Path, named: &BTreeMap<&Path, BTreeSet<&Path>>) -> BTreeSet<PathBuf> {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(file) = next.pop() {
        for further in named.get(file).into_iter().flatten() {
            if seen.insert(further.to_path_buf()) {
                next.push(further);
            }
        }
    }
    seen
}

/// A module's parts may name the module itself.
#[test]
fn files_of_a_crate_have_no_circular_references() {
    let mut edges = 0;
    let mut circles = BTreeMap::<&str, Vec<String>>::new();
    for (crate_name, sources) in &*SOURCES {
        let mut named = BTreeMap::<&Path, BTreeSet<&Path>>::new();
        for (from, to) in sources.edges() {
            edges += 1;
            if !is_part_of(from, to) {
                named.entry(from).or_default().insert(to);
            }
        }
        let reachable: BTreeMap<&Path, _> = named
            .keys()
            .map(|file| (*file, reachable(file, &named)))
            .collect();
        for (from, all) in &named {
            for to in all {
                if reachable.get(to).is_some_and(|files| files.contains(*from)) {
                    let edge = format!("{} names {}", from.display(), to.display());
                    circles.entry(crate_name).or_default().push(edge);
                }
            }
        }
    }
    assert!(edges > 1_000, "the sources were not read: {edges} edges");
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn no_interface_depends_on_another() {
    for interface in INTERFACES {
        let dependencies = dependencies(interface);
        assert!(dependencies.contains("tetrad_web"), "{interface}");
        for other in INTERFACES {
            assert!(
                !dependencies.contains(&format!("tetrad_{other}")),
                "{interface} depends on {other}"
            );
        }
    }
}

#[test]
fn lower_layers_do_not_depend_on_http() {
    for name in WITHOUT_WEB {
        let dependencies = dependencies(name);
        for web in WEB_CRATES.into_iter().chain(["tetrad_web"]) {
            assert!(!dependencies.contains(web), "{name} depends on {web}");
        }
    }
    for (crate_name, module) in MODULES_WITHOUT_WEB {
        let sources = &SOURCES[crate_name];
        let files = sources
            .0
            .iter()
            .filter(|(_, file)| top(&file.file) == module);
        for (path, file) in files {
            for name in sources.foreign(path).filter(|name| name.len() > 1) {
                let web = WEB_CRATES.contains(&name[0].as_str());
                assert!(!web, "{} names {}", file.file.display(), name.join("::"));
            }
        }
    }
}

#[test]
fn applying_a_block_reads_neither_clock_nor_randomness() {
    for (crate_name, sources) in &*SOURCES {
        for (path, module) in &sources.0 {
            let pure = matches!(*crate_name, "evm" | "primitives")
                || *crate_name == "chain" && module.file.ends_with("block/apply.rs");
            if !pure {
                continue;
            }
            for name in sources.foreign(path) {
                let instant = name.windows(2).any(|parts| parts == ["time", "Instant"]);
                let clock = instant
                    || name
                        .iter()
                        .any(|part| matches!(part.as_str(), "SystemTime" | "OsRng" | "random"));
                let environment = name.starts_with(&["std".to_owned(), "env".to_owned()]);
                assert!(
                    !clock && !environment,
                    "{crate_name}: {} names {}",
                    module.file.display(),
                    name.join("::")
                );
            }
            assert!(
                !module.calls.contains("random"),
                "{crate_name}: {} calls random",
                module.file.display()
            );
        }
    }
}

#[test]
fn the_sources_have_no_open_tasks() {
    for folder in CRATES.values() {
        for file in public::files(&folder.join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            for word in ["TODO", "FIXME", "XXX", "HACK", "todo!(", "unimplemented!("] {
                assert!(!text.contains(word), "{} contains {word}", file.display());
            }
        }
    }
}

fn is_untested(name: &str) -> bool {
    let library = manifest(name).get("lib").cloned();
    library.is_some_and(|library| library.get("test") == Some(&toml::Value::Boolean(false)))
}

/// Cargo would not run them.
#[test]
fn a_crate_that_is_not_compiled_for_unit_tests_has_none() {
    let untested: Vec<_> = CRATES.keys().filter(|name| is_untested(name)).collect();
    assert!(!untested.is_empty(), "the manifests were not read");

    for name in untested {
        for file in public::files(&CRATES[name].join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            assert!(!text.contains("test]"), "{} has tests", file.display());
        }
    }
}

/// The compiler does not report public dead code.
#[test]
fn public_names_are_used_by_another_crate() {
    let mut names: BTreeMap<&str, BTreeSet<String>> = CRATES
        .iter()
        .map(|(name, folder)| (name.as_str(), public::all_names(&folder.join("src"))))
        .collect();
    for folder in ["tests", "benches", "fuzz/targets"] {
        names.insert(folder, public::all_names(&root().join(folder)));
    }

    let mut unnamed = Vec::new();
    for (crate_name, folder) in &*CRATES {
        if FOR_OTHERS.contains(&crate_name.as_str()) {
            continue;
        }
        let documentation = public::documentation(&folder.join("src/lib.rs"));
        for name in public::public_names(&folder.join("src")) {
            let mut others = names.iter().filter(|(other, _)| *other != crate_name);
            let is_named = others.any(|(_, names)| names.contains(&name));
            if !is_named && !documentation.contains(&name) {
                unnamed.push(format!("{crate_name}: {name}"));
            }
        }
    }
    assert!(unnamed.is_empty(), "{unnamed:#?}");
}

/// The files that a file of the crate below names.
fn named_by(sources: &Sources, file: &str) -> Vec<String> {
    let file = Path::new("c").join(file);
    sources
        .edges()
        .iter()
        .filter(|(from, _)| *from == file)
        .map(|(_, to)| to.display().to_string())
        .collect()
}

/// The references that the reader must recognise, in a fictitious crate.
#[test]
fn the_reader_recognises_every_way_to_name_another_file() {
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
        assert_eq!(named_by(&sources, file), expected, "{file}");
    }
}
