//! The mark of a directory that a chain is being copied into: without it, a copy that was interrupted early could not be
//! told from an empty directory, in which a start makes a new chain.
//!
//! The file is on disk before anything else in the directory changes, and removed after everything else is on disk.

use std::{fmt, io};

use serde::{Deserialize, Serialize};

use super::{ArchiveError, PRICES, chain_file, data_dir::LOCK};
use crate::{
    log::is_log_file,
    storage::{Storage, read_file, replace_file},
};

const NAME: &str = "unfinished.json";

/// The command that fills a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum FillCommand {
    Backup,
    Import,
    Restore,
}

/// How far the command has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    command: FillCommand,
    /// The folder that the previous content is moved to.
    aside: Option<String>,
    /// All of the previous content is in that folder: other files in the directory are part of the copy.
    moved: bool,
}

/// What the file says. It is written, and on disk, before anything else: one that cannot be read marks a command that
/// changed nothing yet.
enum Mark {
    Unreadable,
    Progress(Progress),
}

impl Mark {
    fn load(storage: &dyn Storage) -> io::Result<Option<Self>> {
        let Some(text) = read_file(storage, NAME)? else { return Ok(None) };
        Ok(Some(serde_json::from_slice(&text).map_or(Self::Unreadable, Self::Progress)))
    }

    fn describe(&self, storage: &dyn Storage) -> String {
        match self {
            Self::Unreadable => format!(
                "a copy into this directory was interrupted before it changed anything: repeat it, or remove {NAME} to \
                 leave everything as it was"
            ),
            Self::Progress(Progress { command, aside, .. }) => {
                let aside = aside.as_ref().map(|folder| {
                    let place = storage.describe(folder);
                    format!(". What was here before is put aside in {place}, which can be restored instead")
                });
                let other = match command {
                    FillCommand::Restore => "",
                    _ => ", or remove the directory",
                };
                format!(
                    "`tetrad chain {command}` was interrupted, and the chain is incomplete: repeat the command{other}{}",
                    aside.unwrap_or_default()
                )
            }
        }
    }

    fn refusal(&self, storage: &dyn Storage) -> ArchiveError {
        ArchiveError::Directory(format!("{}: {}", storage.describe(""), self.describe(storage)))
    }
}

impl fmt::Display for FillCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Backup => "backup",
            Self::Import => "import",
            Self::Restore => "restore",
        })
    }
}

/// Why the directory holds no complete chain, and the remedy; none if no copy into it was interrupted.
pub(super) fn interrupted(storage: &dyn Storage) -> io::Result<Option<String>> {
    Ok(Mark::load(storage)?.map(|mark| mark.describe(storage)))
}

/// Marks an empty directory before `command` fills it. One that the same command was interrupted in is emptied.
pub(super) fn begin(storage: &dyn Storage, command: FillCommand) -> Result<(), ArchiveError> {
    match Mark::load(storage)? {
        Some(Mark::Progress(progress)) if progress.command == command => clear(storage)?,
        Some(mark @ Mark::Progress(_)) => return Err(mark.refusal(storage)),
        mark => {
            expect_empty(storage)?;
            create(storage, &Progress { command, aside: None, moved: true }, mark.is_some())?;
        }
    }
    expect_empty(storage)
}

/// Marks a directory that is to be restored, and moves its files into a new folder `replaced-N` within it. Continues where
/// the same command was interrupted. Returns the folder; none if there was nothing to move.
pub(super) fn begin_restore(storage: &dyn Storage) -> Result<Option<String>, ArchiveError> {
    let progress = match Mark::load(storage)? {
        Some(Mark::Progress(progress)) if progress.command == FillCommand::Restore => progress,
        Some(mark @ Mark::Progress(_)) => return Err(mark.refusal(storage)),
        mark => {
            let aside = if names(storage)?.is_empty() { None } else { Some(free_folder(storage)?) };
            let progress = Progress { command: FillCommand::Restore, moved: aside.is_none(), aside };
            create(storage, &progress, mark.is_some())?;
            progress
        }
    };
    let progress = put_aside(storage, progress)?;
    clear(storage)?;
    expect_empty(storage)?;
    Ok(progress.aside)
}

/// Finishes moving files aside where a restore was interrupted while it did that.
pub(super) fn finish_moving(storage: &dyn Storage) -> io::Result<()> {
    if let Some(Mark::Progress(progress)) = Mark::load(storage)? {
        put_aside(storage, progress)?;
    }
    Ok(())
}

fn put_aside(storage: &dyn Storage, progress: Progress) -> io::Result<Progress> {
    let Some(folder) = progress.aside.as_deref().filter(|_| !progress.moved) else { return Ok(progress) };
    let target = storage.folder(folder)?;
    let mut names = names(storage)?;
    // A folder with the file that makes it a chain has all of it.
    names.sort_by_key(|name| name == chain_file::NAME);
    for name in &names {
        storage.move_into(folder, name)?;
    }
    target.sync_names()?;
    storage.sync_names()?;
    let progress = Progress { moved: true, ..progress };
    replace_file(storage, NAME, &text(&progress)?)?;
    Ok(progress)
}

/// Removes the mark, when all that was copied is on disk.
pub(super) fn finish(storage: &dyn Storage) -> io::Result<()> {
    storage.sync_names()?;
    storage.remove(NAME)?;
    storage.sync_names()
}

/// Writes the first version of the file in place: a draft would leave a directory that looks empty.
fn create(storage: &dyn Storage, progress: &Progress, known: bool) -> io::Result<()> {
    let text = text(progress)?;
    let write = || -> io::Result<()> {
        let file = storage.create(NAME)?;
        file.write_at(&text, 0)?;
        file.sync()?;
        storage.sync_names()
    };
    write().inspect_err(|_| {
        // Nothing has changed yet: where the disk is full, what is in the directory stays usable.
        if !known {
            let _ = storage.remove(NAME);
        }
    })
}

fn text(progress: &Progress) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(progress)?;
    text.push(b'\n');
    Ok(text)
}

/// The files of the directory, without those that no command moves.
fn names(storage: &dyn Storage) -> io::Result<Vec<String>> {
    let mut names = storage.names()?;
    names.retain(|name| name != LOCK && name != NAME);
    Ok(names)
}

fn expect_empty(storage: &dyn Storage) -> Result<(), ArchiveError> {
    match names(storage)?.first() {
        Some(name) => Err(ArchiveError::Directory(format!("{}: the directory is not empty", storage.describe(name)))),
        None => Ok(()),
    }
}

/// Removes what an interrupted copy left; files of other kinds stay.
fn clear(storage: &dyn Storage) -> io::Result<()> {
    let kinds = ["checkpoint-", "index-", "torn-", "draft-"];
    let is_copied = |name: &String| {
        [chain_file::NAME, "pool", PRICES].contains(&name.as_str())
            || name.ends_with(".key")
            || is_log_file(name)
            || kinds.iter().any(|kind| name.starts_with(kind))
    };
    names(storage)?.iter().filter(|name| is_copied(name)).try_for_each(|name| storage.remove(name))
}

/// The first name `replaced-N` that is free.
fn free_folder(storage: &dyn Storage) -> io::Result<String> {
    let (folders, names) = (storage.folders()?, storage.names()?);
    let mut numbered = (1_u32..).map(|number| format!("{REPLACED}{number}"));
    numbered
        .find(|name| !folders.contains(name) && !names.contains(name))
        .ok_or_else(|| io::ErrorKind::AlreadyExists.into())
}

/// How the names of folders begin that hold what a restore replaced.
pub(super) const REPLACED: &str = "replaced-";
