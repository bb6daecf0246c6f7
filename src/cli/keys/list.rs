//! `tetrad keys list`.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;
use tetrad_network::account::{Kind, address_to_bech32};

use super::{error::Error, options::DirectoryArgs, store::Store};
use crate::cli::address::PrefixArgs;

/// Arguments of `tetrad keys list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// The directory.
    #[command(flatten)]
    pub directory: DirectoryArgs,
    /// The prefix of the addresses printed.
    #[command(flatten)]
    pub prefix: PrefixArgs,
    /// Print a JSON object with the members `keys` and `skipped` instead of lines.
    #[arg(long)]
    pub json: bool,
}

/// The JSON output.
#[derive(Default, Serialize)]
struct Listing {
    keys: Vec<Listed>,
    skipped: Vec<Skipped>,
}

/// A keystore. Tools may leave the address out, which is then unknown without the password.
#[derive(Serialize)]
struct Listed {
    address: Option<String>,
    bech32: Option<String>,
    file: String,
}

/// A file that is not a keystore, and the reason.
#[derive(Serialize)]
struct Skipped {
    file: String,
    reason: String,
}

impl ListArgs {
    /// Prints every key of the directory, and the files that are not keystores.
    ///
    /// # Errors
    /// [`Error::File`] when the directory cannot be read; a single bad file is not an error.
    pub fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        let mut listing = Listing::default();
        for entry in Store::new(&self.directory.path()?).entries()? {
            let file = entry.path.display().to_string();
            match entry.keystore {
                Ok(keystore) => listing.keys.push(Listed {
                    address: keystore.address().map(|address| address.to_checksum(None)),
                    bech32: keystore.address().map(|address| {
                        address_to_bech32(&address, &self.prefix.bech32_prefix, Kind::Account)
                    }),
                    file,
                }),
                Err(error) => listing.skipped.push(Skipped {
                    file,
                    reason: error.to_string(),
                }),
            }
        }

        if self.json {
            serde_json::to_writer_pretty(&mut *out, &listing).map_err(io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }

        for Listed {
            address,
            bech32,
            file,
        } in &listing.keys
        {
            let unknown = "address unknown";
            writeln!(
                out,
                "{}  {}  {file}",
                address.as_deref().unwrap_or(unknown),
                bech32.as_deref().unwrap_or(unknown)
            )?;
        }

        for Skipped { reason, .. } in &listing.skipped {
            writeln!(out, "skipped  {reason}")?;
        }
        Ok(())
    }
}
