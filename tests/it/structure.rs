//! The architecture as absences: which module knows nothing of which. Reads the sources.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// What each module may import; whatever is not listed stands at the end and may import anything.
const ALLOWED: [(&str, &[&str]); 26] = [
    ("account", &[]),
    ("artifacts", &[]),
    ("codec", &[]),
    ("block", &["account", "codec"]),
    ("decimal", &[]),
    ("state", &["account", "block", "codec"]),
    ("storage", &["codec"]),
    ("log", &["block", "codec", "state", "storage"]),
    ("store", &["block", "codec", "state", "storage", "log"]),
    ("metrics", &[]),
    ("redact", &[]),
    ("network", &["account"]),
    ("evm", &["account", "block", "state"]),
    ("chain", &["account", "block", "codec", "state", "evm", "storage", "log", "store", "metrics"]),
    ("web", &["account", "block", "state", "evm", "chain", "metrics", "network"]),
    ("console", &["artifacts", "account", "block", "state", "evm", "chain", "network"]),
    ("contracts", &["artifacts", "account", "block", "state", "evm", "chain", "network"]),
    ("fork", &["block", "state", "evm", "chain"]),
    ("rpc", &["account", "block", "state", "evm", "chain", "fork", "metrics", "network", "redact", "web"]),
    (
        "exchange",
        &[
            "artifacts",
            "account",
            "block",
            "codec",
            "decimal",
            "state",
            "evm",
            "storage",
            "store",
            "chain",
            "network",
            "redact",
            "contracts",
            "web",
        ],
    ),
    ("lending", &["artifacts", "account", "block", "decimal", "state", "evm", "chain", "network", "contracts", "web"]),
    ("activity", &["account", "block", "decimal", "state", "evm", "chain", "network", "contracts", "web"]),
    ("cosmos", &["account", "block", "state", "evm", "chain", "network", "web"]),
    ("site", &["artifacts", "web"]),
    (
        "genesis",
        &["artifacts", "account", "block", "state", "evm", "chain", "network", "contracts", "exchange", "lending"],
    ),
    (
        "config",
        &[
            "account", "block", "state", "evm", "log", "chain", "fork", "network", "redact", "console", "web", "rpc",
            "exchange", "lending", "cosmos", "genesis",
        ],
    ),
];

/// What only `web` and the interfaces may name.
const WEB_CRATES: [&str; 7] = ["axum", "hyper", "hyper_util", "http", "http_body_util", "tower", "tower_http"];
const WITHOUT_WEB: [&str; 18] = [
    "account",
    "artifacts",
    "block",
    "codec",
    "console",
    "contracts",
    "decimal",
    "state",
    "metrics",
    "network",
    "redact",
    "evm",
    "storage",
    "log",
    "store",
    "chain",
    "fork",
    "genesis",
];

/// Every file but those that hold nothing but tests, which may reach further.
fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    walk(&root, &mut found);
    found.iter_mut().for_each(|(path, _)| *path = path.strip_prefix(&root).unwrap().to_owned());
    found.sort();
    found
}

/// The top-level module of a file.
fn module_of(path: &Path) -> String {
    let first = path.components().next().unwrap().as_os_str().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

/// The code without comments and without test modules, which may reach further.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap();
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The top-level modules that a file names through `crate::`.
fn imports(text: &str) -> BTreeSet<String> {
    let code = code(text);
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let names: Vec<&str> = match rest.strip_prefix('{') {
            // The names directly inside the braces.
            Some(inner) => {
                let (mut depth, mut start, mut names) = (0, 0, Vec::new());
                for (at, letter) in inner.char_indices() {
                    match letter {
                        '{' => depth += 1,
                        '}' if depth == 0 => {
                            names.push(&inner[start..at]);
                            break;
                        }
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            names.push(&inner[start..at]);
                            start = at + 1;
                        }
                        _ => {}
                    }
                }
                names
            }
            None => vec![rest],
        };
        for name in names {
            let word: String =
                name.trim().chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
            if word.chars().next().is_some_and(char::is_lowercase) {
                found.insert(word);
            }
        }
    }
    found
}

#[test]
fn modules_import_only_what_stands_before_them() {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let module = module_of(&path);
        let Some(allowed) = allowed.get(module.as_str()) else { continue };
        for import in imports(&text) {
            if import != module && !allowed.contains(&import.as_str()) {
                wrong.push(format!("{} imports {import}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nothing_before_web_knows_of_http() {
    for (path, text) in sources() {
        if !WITHOUT_WEB.contains(&module_of(&path).as_str()) {
            continue;
        }
        let code = code(&text);
        for name in WEB_CRATES {
            assert!(!code.contains(&format!("{name}::")), "{} names {name}", path.display());
        }
    }
}

#[test]
fn applying_a_block_reads_no_clock_and_no_randomness() {
    for (path, text) in sources() {
        if path.ends_with("chain/block/apply.rs") || matches!(module_of(&path).as_str(), "evm" | "state" | "block") {
            let code = code(&text);
            for name in ["SystemTime", "Instant", "std::env", "OsRng", "random("] {
                assert!(!code.contains(name), "{} names {name}", path.display());
            }
        }
    }
}

#[test]
fn nothing_is_left_open() {
    for (path, text) in sources() {
        for word in ["TODO", "FIXME", "XXX", "HACK", "todo!(", "unimplemented!("] {
            assert!(!text.contains(word), "{} contains {word}", path.display());
        }
    }
}
