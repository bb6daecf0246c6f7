//! The directory of compilers: which versions it has, in the layouts of svm, hardhat and solc's
//! releases.
//!
//! A compiler is a program of the operator rather than one that the node downloads: the operator
//! chooses what the node runs, and verification works offline.

use std::{
    cmp::Ordering,
    fmt, fs,
    path::{Path, PathBuf},
};

/// The deepest folder that is searched, and the most entries that are read.
const MAX_DEPTH: usize = 3;
const MAX_ENTRIES: usize = 10_000;

/// The first version that can be told to read no files.
const WITHOUT_CALLBACK: [u32; 3] = [0, 8, 22];

/// A version of the compiler, such as `0.8.24` or `0.8.24+commit.e11b9ed9`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerVersion {
    number: [u32; 3],
    /// `nightly.2024.1.1`, if it is a version before a release.
    pre_release: String,
    /// The first digits of the commit; empty if they are not given.
    commit: String,
}

impl CompilerVersion {
    /// Reads a version, with or without a leading `v`. What follows the commit, such as a platform,
    /// is ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('v');
        let (version, build) = text.split_once('+').unwrap_or((text, ""));
        let (number, pre_release) = version.split_once('-').unwrap_or((version, ""));

        let mut parts = number
            .split('.')
            .map(|part| part.parse().ok().filter(|_| part.len() < 6));
        let number = [parts.next()??, parts.next()??, parts.next()??];

        if parts.next().is_some() || !is_plain(pre_release) {
            return None;
        }

        let commit = build.strip_prefix("commit.").unwrap_or_default();
        let commit: String = commit
            .chars()
            .take_while(char::is_ascii_hexdigit)
            .take(40)
            .collect();

        Some(Self {
            number,
            pre_release: pre_release.to_owned(),
            commit: commit.to_ascii_lowercase(),
        })
    }

    /// Returns whether both may be the same compiler: a commit that only one of them names does not
    /// matter.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        self.number == other.number
            && self.pre_release == other.pre_release
            && (self.commit.starts_with(&other.commit) || other.commit.starts_with(&self.commit))
    }

    /// Returns whether the compiler can be told to read no files.
    pub(super) fn has_no_import_callback(&self) -> bool {
        self.number >= WITHOUT_CALLBACK
    }
}

impl fmt::Display for CompilerVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.number;
        write!(out, "{major}.{minor}.{patch}")?;
        if !self.pre_release.is_empty() {
            write!(out, "-{}", self.pre_release)?;
        }
        if !self.commit.is_empty() {
            write!(out, "+commit.{}", self.commit)?;
        }
        Ok(())
    }
}

impl PartialOrd for CompilerVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl CompilerVersion {
    /// The order of versions. A release follows the versions before it.
    fn sort_key(&self) -> ([u32; 3], bool, &str, &str) {
        (
            self.number,
            self.pre_release.is_empty(),
            &self.pre_release,
            &self.commit,
        )
    }
}

impl Ord for CompilerVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sort_key().cmp(&other.sort_key())
    }
}

fn is_plain(text: &str) -> bool {
    text.len() < 40
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
}

/// A compiler.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    pub(super) version: CompilerVersion,
    pub(super) program: PathBuf,
}

/// The directory. It is read again for each request, so that compilers can be added while the node
/// runs.
#[derive(Clone, Debug)]
pub struct Compilers {
    directory: PathBuf,
}

impl Compilers {
    /// The compilers in a directory.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Returns the versions, the newest first.
    pub fn versions(&self) -> Vec<CompilerVersion> {
        let mut versions: Vec<_> = self
            .list()
            .into_iter()
            .map(|compiler| compiler.version)
            .collect();
        versions.sort_by(|a, b| b.cmp(a));
        versions.dedup();
        versions
    }

    /// Returns the compiler of a version. An error names what is missing, and what is there.
    pub(super) fn find(&self, wanted: &CompilerVersion) -> Result<Compiler, String> {
        let mut fitting: Vec<_> = self
            .list()
            .into_iter()
            .filter(|compiler| compiler.version.agrees_with(wanted))
            .collect();

        fitting.sort_by(|a, b| b.version.cmp(&a.version));
        fitting.into_iter().next().ok_or_else(|| {
            let versions: Vec<_> = self.versions().iter().map(ToString::to_string).collect();
            let place = "the directory of --solc-directory";
            if versions.is_empty() {
                format!("{place} has no compiler {wanted}: it has no compilers")
            } else {
                format!(
                    "{place} has no compiler {wanted}; it has {}",
                    versions.join(", ")
                )
            }
        })
    }

    fn list(&self) -> Vec<Compiler> {
        let mut found = Vec::new();
        let mut left = MAX_ENTRIES;
        walk(&self.directory, MAX_DEPTH, &mut left, &mut found);
        found
    }
}

fn walk(folder: &Path, depth: usize, left: &mut usize, found: &mut Vec<Compiler>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;

        let path = entry.path();
        let Ok(meta) = fs::metadata(&path) else {
            continue;
        };

        if meta.is_dir() {
            if depth > 1 {
                walk(&path, depth - 1, left, found);
            }
        } else if is_program(&meta)
            && let Some(version) = path.file_name().and_then(|name| version_of(name.to_str()?))
        {
            found.push(Compiler {
                version,
                program: path,
            });
        }
    }
}

/// Returns the version of a program `solc-0.8.24`, `solc-v0.8.24+commit.e11b9ed9` or
/// `solc-linux-amd64-v0.8.24+commit.e11b9ed9`.
fn version_of(name: &str) -> Option<CompilerVersion> {
    let name = name.strip_prefix("solc-")?;
    let name = name.strip_suffix(".exe").unwrap_or(name);
    CompilerVersion::parse(name).or_else(|| {
        let (platform, version) = name.split_once("-v")?;
        let is_platform = platform
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        CompilerVersion::parse(version).filter(|_| is_platform)
    })
}

#[cfg(unix)]
fn is_program(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.is_file() && meta.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_program(meta: &fs::Metadata) -> bool {
    meta.is_file()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn version(text: &str) -> CompilerVersion {
        CompilerVersion::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn versions_are_read_as_tools_write_them() {
        for (text, expected) in [
            ("0.8.24", "0.8.24"),
            ("v0.8.24+commit.e11b9ed9", "0.8.24+commit.e11b9ed9"),
            ("0.8.24+commit.e11b9ed9.Linux.g++", "0.8.24+commit.e11b9ed9"),
            (
                "0.8.25-nightly.2024.2.1+commit.ABCDEF01",
                "0.8.25-nightly.2024.2.1+commit.abcdef01",
            ),
        ] {
            assert_eq!(version(text).to_string(), expected);
        }

        for wrong in [
            "",
            "0.8",
            "0.8.x",
            "0.8.24.1",
            "../0.8.24",
            "0.8.24-../x",
            "latest",
            "0.8.999999999",
        ] {
            assert_eq!(CompilerVersion::parse(wrong), None, "{wrong}");
        }

        assert!(version("0.8.24").agrees_with(&version("v0.8.24+commit.e11b9ed9")));
        assert!(!version("0.8.24+commit.00").agrees_with(&version("v0.8.24+commit.e11b9ed9")));
        assert!(!version("0.8.24").agrees_with(&version("0.8.24-nightly.1")));

        assert!(
            version("0.8.9") < version("0.8.24") && version("0.8.24-nightly.1") < version("0.8.24")
        );
        assert!(
            !version("0.8.21").has_no_import_callback()
                && version("0.8.22").has_no_import_callback()
        );
    }

    #[test]
    fn programs_are_named_as_svm_hardhat_and_releases_name_them() {
        for (name, expected) in [
            ("solc-0.8.24", Some("0.8.24")),
            (
                "solc-v0.8.24+commit.e11b9ed9",
                Some("0.8.24+commit.e11b9ed9"),
            ),
            (
                "solc-linux-amd64-v0.8.24+commit.e11b9ed9",
                Some("0.8.24+commit.e11b9ed9"),
            ),
            (
                "solc-windows-amd64-v0.8.24+commit.e11b9ed9.exe",
                Some("0.8.24+commit.e11b9ed9"),
            ),
            ("soljson-v0.8.24+commit.e11b9ed9.js", None),
            ("solc", None),
            ("list.json", None),
        ] {
            assert_eq!(
                version_of(name)
                    .map(|version| version.to_string())
                    .as_deref(),
                expected,
                "{name}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text: String) {
            if let Some(version) = CompilerVersion::parse(&text) {
                prop_assert_eq!(CompilerVersion::parse(&version.to_string()), Some(version));
            }
            version_of(&text);
        }
    }
}
