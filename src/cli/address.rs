//! `tetrad address`: converts an address between its forms.

use std::io::{self, Write};

use clap::Args;
use tetrad_network::account::{
    AddressError, AddressForms, AnyPublicKey, DEFAULT_BECH32_PREFIX, Hrp, ParsedAddress,
    PublicKeyError, parse_address,
};

/// The network's bech32 prefix, as an option of every command that reads or writes addresses.
#[derive(Debug, Clone, Args)]
pub struct PrefixArgs {
    /// The network's bech32 prefix.
    #[arg(long = "bech32-prefix", value_name = "PREFIX", default_value = DEFAULT_BECH32_PREFIX)]
    pub bech32_prefix: Hrp,
}

/// Arguments of `tetrad address`.
#[derive(Debug, Args)]
pub struct AddressArgs {
    /// The address in any form: 0x hex, hex, account, operator or consensus bech32, or a list such
    /// as "[1 2 …]". A public key in hex, base64, bech32 or JSON stands for its address.
    #[arg(value_name = "ADDRESS")]
    pub text: String,
    /// The prefix to read and write bech32 with.
    #[command(flatten)]
    pub prefix: PrefixArgs,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
}

impl AddressArgs {
    /// Prints every form of the address.
    ///
    /// # Errors
    /// [`Error::Address`] when the text is neither an address nor a public key,
    /// [`Error::PublicKey`] when it looks like a public key and is not valid, [`Error::Output`]
    /// when printing fails.
    pub fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        let hrp = &self.prefix.bech32_prefix;
        let address = match (
            parse_address(&self.text, hrp),
            AnyPublicKey::parse(&self.text, hrp),
        ) {
            (Ok(ParsedAddress { address, .. }), _) => address,
            (Err(_), Ok(key)) => key.address(),
            (Err(error), Err(PublicKeyError::Unrecognised)) => return Err(error.into()),
            (Err(_), Err(error)) => return Err(error.into()),
        };
        print(out, &AddressForms::new(&address, hrp), self.json)
    }
}

fn print(out: &mut dyn Write, forms: &AddressForms, json: bool) -> Result<(), Error> {
    if json {
        serde_json::to_writer_pretty(&mut *out, forms).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{forms}")?;
    }
    Ok(())
}

/// The error of converting an address.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither an address nor a public key. The message describes it as an address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// In the form of a public key, but not one.
    #[error(transparent)]
    PublicKey(#[from] PublicKeyError),
    /// The output could not be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}
