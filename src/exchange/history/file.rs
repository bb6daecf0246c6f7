//! The file that a history is kept in beside the chain, so that it outlives blocks that were let go of, and need not be
//! read from all of the others.
//!
//! It is of one block, and whatever came later is in the log. Were it lost or not of this chain, the history would be made
//! from the blocks that there are.

use std::io;

use alloy_primitives::B256;

use super::{History, Minutes};
use crate::{
    chain::PRICES,
    codec::{Malformed, Reader, Writer},
    log::{Records, Storage, Tail, read_file, replace_file, write_record},
    network::Network,
};

/// The file's name, and the beginning of its content.
const NAME: &str = PRICES;
const MAGIC: &[u8] = b"tetrad prices";
/// What this program writes, and all that it reads.
const VERSION: u64 = 1;

/// A history as it was when a block was the newest.
#[derive(Debug)]
pub(in crate::exchange) struct KeptHistory {
    pub(in crate::exchange) number: u64,
    pub(in crate::exchange) hash: B256,
    pub(in crate::exchange) history: History,
}

impl KeptHistory {
    /// Writes the file, all of it or nothing.
    pub(in crate::exchange) fn save(&self, storage: &dyn Storage, genesis: B256, network: &Network) -> io::Result<()> {
        let mut bytes = Vec::new();
        write_record(&mut bytes, &mut Writer::default(), 0, |out| {
            out.string(MAGIC);
            out.number(VERSION);
            out.raw(genesis.as_slice());
            out.number(network.tokens.len() as u64);
            network.tokens.iter().for_each(|token| out.raw(token.address.as_slice()));
            out.number(self.number);
            out.raw(self.hash.as_slice());
            self.history.minutes.write(out);
        });
        replace_file(storage, NAME, &bytes)
    }

    /// Reads the file; none if there is none, or none of this chain's.
    pub(in crate::exchange) fn load(storage: &dyn Storage, genesis: B256, network: &Network) -> Option<Self> {
        let bytes = match read_file(storage, NAME) {
            Ok(bytes) => bytes?,
            Err(error) => {
                tracing::warn!(%error, "could not read {}", storage.describe(NAME));
                return None;
            }
        };
        let mut records = Records::new(&bytes);
        let record = records.next().filter(|_| records.tail() == Tail::Clean);
        let kept = record.and_then(|record| decode(&mut Reader::new(record.payload), genesis, network).ok());
        if kept.is_none() {
            tracing::warn!("{} is not this chain's, or damaged; prices are read from blocks", storage.describe(NAME));
        }
        kept
    }
}

/// The newest block whose prices are in the file; none if there is no file that can be read.
pub(in crate::exchange) fn kept_until(storage: &dyn Storage) -> Option<u64> {
    let bytes = read_file(storage, NAME).ok()??;
    let record = Records::new(&bytes).next()?;
    let from = &mut Reader::new(record.payload);
    if from.string().ok()? != MAGIC || from.number().ok()? != VERSION {
        return None;
    }
    from.array::<32>().ok()?;
    for _ in 0..from.number().ok()? {
        from.array::<20>().ok()?;
    }
    from.number().ok()
}

fn decode(from: &mut Reader<'_>, genesis: B256, network: &Network) -> Result<KeptHistory, Malformed> {
    let other = Malformed("prices of another chain");
    if from.string()? != MAGIC || from.number()? != VERSION || from.array()? != genesis.0 {
        return Err(other);
    }
    if from.number()? != network.tokens.len() as u64 {
        return Err(other);
    }
    for token in &network.tokens {
        if from.array::<20>()? != token.address.0.0 {
            return Err(other);
        }
    }
    let (number, hash) = (from.number()?, from.array()?.into());
    let minutes = Minutes::read(from)?;
    from.end("prices")?;
    Ok(KeptHistory { number, hash, history: History { minutes } })
}
