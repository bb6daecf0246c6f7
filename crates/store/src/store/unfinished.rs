//! The mark of a directory into which a chain is being copied. It distinguishes a copy that was
//! interrupted early from an empty directory, in which a start would create a new chain.
//!
//! The file is synced before anything else in the directory changes, and removed after everything
//! else is synced.
//!
//! Only the command that began the copy opens such a directory.

use std::{fmt, io};

use serde::{Deserialize, Serialize};

use super::{CHAIN_FILE, LOCK, PRICES};
use crate::{
    log::is_log_file,
    storage::{Storage, read_file, replace_file},
};

const NAME: &str = "unfinished.json";

/// The reason why a directory cannot be filled.
#[derive(Debug, thiserror::Error)]
pub(super) enum FillError {
    /// It is in use, or another command was interrupted in it.
    #[error("{0}")]
    Refused(String),
    /// The operating system reported an error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A command that fills a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum CopyCommand {
    Backup,
    Import,
    Restore,
}

/// The progress of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopyProgress {
    command: CopyCommand,
    /// The folder into which the previous content is moved.
    aside: Option<String>,
    /// Whether all of the previous content is in that folder, so that other files in the directory
    /// belong to the copy.
    moved: bool,
}

/// The content of the file. As it is synced before anything else changes, an unreadable one marks a
/// command that has changed nothing yet.
enum Mark {
    Unreadable,
    Progress(CopyProgress),
}

impl Mark {
    fn load(storage: &dyn Storage) -> io::Result<Option<Self>> {
        let Some(text) = read_file(storage, NAME)? else {
            return Ok(None);
        };
        Ok(Some(
            serde_json::from_slice(&text).map_or(Self::Unreadable, Self::Progress),
        ))
    }

    fn describe(&self, storage: &dyn Storage) -> String {
        match self {
            Self::Unreadable => format!(
                "a copy into this directory was interrupted before it changed anything: repeat it, \
                 or remove {NAME} to leave everything as it was"
            ),
            Self::Progress(CopyProgress { command, aside, .. }) => {
                let aside = aside.as_ref().map(|folder| {
                    let place = storage.describe(folder);
                    format!(". The previous content is in {place}, which can be restored instead")
                });
                let other = match command {
                    CopyCommand::Restore => "",
                    _ => ", or remove the directory",
                };
                format!(
                    "`tetrad chain {command}` was interrupted, and the chain is incomplete: repeat \
                     the command{other}{}",
                    aside.unwrap_or_default()
                )
            }
        }
    }

    fn refusal(&self, storage: &dyn Storage) -> FillError {
        FillError::Refused(format!(
            "{}: {}",
            storage.describe(""),
            self.describe(storage)
        ))
    }
}

impl fmt::Display for CopyCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Backup => "backup",
            Self::Import => "import",
            Self::Restore => "restore",
        })
    }
}

/// Returns the reason why the chain is incomplete, with the remedy, or `None` if no copy was
/// interrupted.
pub(super) fn interrupted(storage: &dyn Storage) -> io::Result<Option<String>> {
    Ok(Mark::load(storage)?.map(|mark| mark.describe(storage)))
}

/// Marks an empty directory before `command` fills it. A directory in which the same command was
/// interrupted is cleared.
pub(super) fn begin(storage: &dyn Storage, command: CopyCommand) -> Result<(), FillError> {
    match Mark::load(storage)? {
        Some(Mark::Progress(progress)) if progress.command == command => clear(storage)?,
        Some(mark @ Mark::Progress(_)) => return Err(mark.refusal(storage)),
        mark => {
            expect_empty(storage)?;
            create(
                storage,
                &CopyProgress {
                    command,
                    aside: None,
                    moved: true,
                },
                mark.is_some(),
            )?;
        }
    }
    expect_empty(storage)
}

/// Marks a directory before a restore and moves its files into a new folder `replaced-N`, or
/// continues an interrupted restore. Returns the folder, or `None` if there were no files.
pub(super) fn begin_restore(storage: &dyn Storage) -> Result<Option<String>, FillError> {
    let progress = match Mark::load(storage)? {
        Some(Mark::Progress(progress)) if progress.command == CopyCommand::Restore => progress,
        Some(mark @ Mark::Progress(_)) => return Err(mark.refusal(storage)),
        mark => {
            let aside = if names(storage)?.is_empty() {
                None
            } else {
                Some(free_folder(storage)?)
            };
            let progress = CopyProgress {
                command: CopyCommand::Restore,
                moved: aside.is_none(),
                aside,
            };
            create(storage, &progress, mark.is_some())?;
            progress
        }
    };

    let progress = put_aside(storage, progress)?;
    clear(storage)?;
    expect_empty(storage)?;
    Ok(progress.aside)
}

/// Finishes putting files aside, if a restore was interrupted at that.
pub(super) fn finish_moving(storage: &dyn Storage) -> io::Result<()> {
    if let Some(Mark::Progress(progress)) = Mark::load(storage)? {
        put_aside(storage, progress)?;
    }
    Ok(())
}

fn put_aside(storage: &dyn Storage, progress: CopyProgress) -> io::Result<CopyProgress> {
    let Some(folder) = progress.aside.as_deref().filter(|_| !progress.moved) else {
        return Ok(progress);
    };
    let target = storage.folder(folder)?;
    let mut names = names(storage)?;

    // The chain file comes last, so that a folder with it is complete.
    names.sort_by_key(|name| name == CHAIN_FILE);
    for name in &names {
        storage.move_into(folder, name)?;
    }

    target.sync_names()?;
    storage.sync_names()?;

    let progress = CopyProgress {
        moved: true,
        ..progress
    };
    replace_file(storage, NAME, &text(&progress)?)?;
    Ok(progress)
}

/// Removes the mark once all copied files are synced.
pub(super) fn finish(storage: &dyn Storage) -> io::Result<()> {
    storage.sync_names()?;
    storage.remove(NAME)?;
    storage.sync_names()
}

/// Writes the first version of the file in place. With a draft, the directory would look empty
/// until the rename.
fn create(storage: &dyn Storage, progress: &CopyProgress, known: bool) -> io::Result<()> {
    let text = text(progress)?;
    write_synced(storage, &text).inspect_err(|_| {
        // Nothing has changed yet, so the directory stays usable, for example if the disk is full.
        if !known {
            let _ = storage.remove(NAME);
        }
    })
}

fn write_synced(storage: &dyn Storage, text: &[u8]) -> io::Result<()> {
    let file = storage.create(NAME)?;
    file.write_at(text, 0)?;
    file.sync()?;
    storage.sync_names()
}

fn text(progress: &CopyProgress) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(progress)?;
    text.push(b'\n');
    Ok(text)
}

/// Returns the names of all files except the lock and the mark.
fn names(storage: &dyn Storage) -> io::Result<Vec<String>> {
    let mut names = storage.names()?;
    names.retain(|name| name != LOCK && name != NAME);
    Ok(names)
}

fn expect_empty(storage: &dyn Storage) -> Result<(), FillError> {
    match names(storage)?.first() {
        Some(name) => Err(FillError::Refused(format!(
            "{}: the directory is not empty",
            storage.describe(name)
        ))),
        None => Ok(()),
    }
}

/// Removes the files of an interrupted copy. Files of other kinds stay.
fn clear(storage: &dyn Storage) -> io::Result<()> {
    names(storage)?
        .iter()
        .filter(|name| is_copied(name))
        .try_for_each(|name| storage.remove(name))
}

/// Returns whether a file with this name belongs to the copy of a chain.
fn is_copied(name: &str) -> bool {
    let kinds = ["checkpoint-", "index-", "torn-", "draft-"];
    [CHAIN_FILE, "pool", PRICES].contains(&name)
        || name.ends_with(".key")
        || is_log_file(name)
        || kinds.iter().any(|kind| name.starts_with(kind))
}
/// Returns the first unused name `replaced-N`.
fn free_folder(storage: &dyn Storage) -> io::Result<String> {
    let folders = storage.folders()?;
    let names = storage.names()?;
    let mut numbered = (1_u32..).map(|number| format!("{REPLACED}{number}"));
    numbered
        .find(|name| !folders.contains(name) && !names.contains(name))
        .ok_or_else(|| io::ErrorKind::AlreadyExists.into())
}

/// The prefix of folders with the content that a restore replaced.
pub(super) const REPLACED: &str = "replaced-";
