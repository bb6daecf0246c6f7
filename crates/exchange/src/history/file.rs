//! The file of a chain's directory that holds its history of prices, so that the history outlives
//! pruned blocks and a start need not read all of the others.
//!
//! It is written as of one block; later events are in the log. If it is missing or belongs to
//! another chain, the history is rebuilt from the blocks that are left.

use std::io;

use alloy_primitives::{Address, B256};
use tetrad_network::network::Network;
use tetrad_stdx::codec::{Malformed, Reader, Writer};
use tetrad_store::{
    storage::{Records, Storage, Tail, read_file, replace_file, write_record},
    store::PRICES,
};

use super::{Minutes, PriceHistory};

/// The name of the file, and the first bytes of its content.
const NAME: &str = PRICES;
const MAGIC: &[u8] = b"tetrad prices";
/// The only version of the format.
const VERSION: u64 = 1;

/// The history as of one block.
#[derive(Debug)]
pub(crate) struct KeptHistory {
    pub(crate) number: u64,
    pub(crate) hash: B256,
    pub(crate) history: PriceHistory,
}

impl KeptHistory {
    /// Replaces the file atomically.
    pub(crate) fn save(
        &self,
        storage: &dyn Storage,
        genesis: B256,
        network: &Network,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        write_record(&mut bytes, &mut Writer::default(), 0, |out| {
            out.string(MAGIC);
            out.number(VERSION);
            out.raw(genesis.as_slice());
            out.number(network.tokens.len() as u64);
            network
                .tokens
                .iter()
                .for_each(|token| out.raw(token.address.as_slice()));
            out.number(self.number);
            out.raw(self.hash.as_slice());
            self.history.minutes.write(out);
        });
        replace_file(storage, NAME, &bytes)
    }

    /// Reads the file; none if it is missing, damaged or of another chain.
    pub(crate) fn load(storage: &dyn Storage, genesis: B256, network: &Network) -> Option<Self> {
        let bytes = match read_file(storage, NAME) {
            Ok(bytes) => bytes?,
            Err(error) => {
                tracing::warn!(%error, "could not read {}", storage.describe(NAME));
                return None;
            }
        };

        let mut records = Records::new(&bytes);
        let record = records.next().filter(|_| records.tail() == Tail::Clean);
        let kept = record
            .and_then(|record| decode(&mut Reader::new(record.payload), genesis, network).ok());

        if kept.is_none() {
            tracing::warn!(
                "{} is not this chain's, or damaged; prices are read from blocks",
                storage.describe(NAME)
            );
        }
        kept
    }
}

/// The newest block whose prices are in the file; none if there is no file that can be read.
pub(crate) fn kept_until(storage: &dyn Storage) -> Option<u64> {
    let bytes = read_file(storage, NAME).ok()??;
    let record = Records::new(&bytes).next()?;
    Some(
        HistoryHeader::read(&mut Reader::new(record.payload))
            .ok()?
            .number,
    )
}

/// The header of the file.
struct HistoryHeader {
    genesis: B256,
    tokens: Vec<Address>,
    number: u64,
    hash: B256,
}

impl HistoryHeader {
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        if from.string()? != MAGIC || from.number()? != VERSION {
            return Err(Malformed("not prices of this version"));
        }
        let genesis = from.array()?.into();
        let tokens = (0..from.count(Address::len_bytes())?)
            .map(|_| Ok(from.array()?.into()))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            genesis,
            tokens,
            number: from.number()?,
            hash: from.array()?.into(),
        })
    }
}

fn decode(
    from: &mut Reader<'_>,
    genesis: B256,
    network: &Network,
) -> Result<KeptHistory, Malformed> {
    let header = HistoryHeader::read(from)?;
    if header.genesis != genesis
        || !header
            .tokens
            .iter()
            .eq(network.tokens.iter().map(|token| &token.address))
    {
        return Err(Malformed("prices of another chain"));
    }

    let minutes = Minutes::read(from)?;
    from.end("prices")?;
    Ok(KeptHistory {
        number: header.number,
        hash: header.hash,
        history: PriceHistory { minutes },
    })
}
