//! Metrics of the data directory, from its files.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, Metadata},
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use tetrad_web::Exposition;

/// Kinds of files, by the beginning of their names; the rest is `other`.
const FILE_KINDS: [&str; 6] = ["log", "offsets", "index", "checkpoint", "pool", "torn"];

/// The space that the files of a directory take.
#[derive(Default)]
struct Contents {
    /// Number and bytes of the files, by kind.
    kinds: BTreeMap<&'static str, (u64, u64)>,
    /// When the checkpoint was written, since the Unix epoch.
    checkpoint_written: Option<Duration>,
}

impl Contents {
    /// Adds a file. `checkpoint` is the height of the newest checkpoint.
    fn add(&mut self, name: &OsStr, about: &Metadata, checkpoint: Option<u64>) {
        let (kind, rest) = name
            .to_str()
            .map_or(("", ""), |name| name.split_once('-').unwrap_or((name, "")));
        let kind = FILE_KINDS
            .into_iter()
            .find(|known| *known == kind)
            .unwrap_or("other");

        let (files, bytes) = self.kinds.entry(kind).or_default();
        *files += 1;
        *bytes += about.len();

        if kind == "checkpoint" && checkpoint.is_some() && rest.parse().ok() == checkpoint {
            self.checkpoint_written = about
                .modified()
                .ok()
                .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        }
    }
}

/// Writes number and size of the files of each kind, and the age of the checkpoint with this
/// height. Writes nothing if the directory cannot be read at the moment.
pub(super) fn write(out: &mut Exposition, directory: &Path, checkpoint: Option<u64>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };

    let mut contents = Contents::default();
    for entry in entries.flatten() {
        // A file that was removed meanwhile is left out.
        if let Ok(about) = entry.metadata() {
            contents.add(&entry.file_name(), &about, checkpoint);
        }
    }

    let mut family = out.gauge(
        "tetrad_store_files",
        "Files of the data directory, by kind; those of the log are its segments.",
    );
    for (kind, (files, _)) in &contents.kinds {
        family.sample(&[("kind", kind)], files);
    }

    let mut family = out.gauge(
        "tetrad_store_bytes",
        "Size of the data directory's files, by kind.",
    );
    for (kind, (_, bytes)) in &contents.kinds {
        family.sample(&[("kind", kind)], bytes);
    }

    if let (Some(height), Some(written)) = (checkpoint, contents.checkpoint_written) {
        out.gauge(
            "tetrad_checkpoint_height",
            "Entries of the log that the newest checkpoint covers.",
        )
        .sample(&[], height);
        out.gauge(
            "tetrad_checkpoint_timestamp_seconds",
            "Time of the newest checkpoint, since the Unix epoch.",
        )
        .sample(&[], written.as_secs_f64());
    }
}
