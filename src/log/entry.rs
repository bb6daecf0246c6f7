//! What the log holds: everything that ever changed the chain, in order.

use std::sync::Arc;

use alloy_primitives::{Address, B256, FixedBytes};

use crate::{
    block::Block,
    codec::{Malformed, Reader, Writer},
    state::Changes,
};

/// How the chain's time differs from the clock's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shift {
    /// Seconds by which it is ahead.
    pub ahead: i64,
    /// The time that the next block was promised.
    pub promised: Option<u64>,
    /// Seconds from each block to the next, if they are fixed.
    pub interval: Option<u64>,
}

/// What development methods may change of what otherwise holds for every block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// The chain id that transactions are signed for.
    pub chain_id: u64,
    /// Signatures that were given to accounts which did not make them.
    pub signers: Vec<(FixedBytes<65>, Address)>,
}

/// One change to the chain. Outcomes are recorded with it: whoever applies an entry executes nothing, and holds what
/// comes out against the state root that is recorded, too.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A block, what it did to the state, and the chain's time after it.
    Block {
        /// The block.
        block: Arc<Block>,
        /// What it did.
        changes: Arc<Changes>,
        /// The time after it.
        shift: Shift,
    },
    /// A development method changed the state between two blocks.
    Edit {
        /// What it did.
        changes: Arc<Changes>,
        /// The state's root afterwards.
        root: B256,
        /// What holds for every block afterwards, if it changed.
        parameters: Option<Parameters>,
    },
    /// A development method changed the time.
    Time(Shift),
    /// The chain went back to what it was when the log had `to` entries. Those in between count no more, and neither
    /// do they for whatever reads the log from its beginning.
    Revert {
        /// Entries that count.
        to: u64,
        /// The time afterwards.
        shift: Shift,
    },
}

const BLOCK: u8 = 1;
const EDIT: u8 = 2;
const TIME: u8 = 3;
const REVERT: u8 = 4;

impl Entry {
    /// Appends the entry.
    pub fn write(&self, out: &mut Writer) {
        match self {
            Self::Block { block, changes, shift } => {
                out.byte(BLOCK);
                shift.write(out);
                block.write(out);
                changes.write(out);
            }
            Self::Edit { changes, root, parameters } => {
                out.byte(EDIT);
                out.raw(root.as_slice());
                out.option(parameters.as_ref(), |out, parameters| parameters.write(out));
                changes.write(out);
            }
            Self::Time(shift) => {
                out.byte(TIME);
                shift.write(out);
            }
            Self::Revert { to, shift } => {
                out.byte(REVERT);
                out.number(*to);
                shift.write(out);
            }
        }
    }

    /// Reads what [`write`](Self::write) wrote.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let from = &mut Reader::new(bytes);
        let entry = match from.byte()? {
            BLOCK => {
                let shift = Shift::read(from)?;
                let block = Arc::new(Block::read(from)?);
                Self::Block { block, changes: Arc::new(Changes::read(from)?), shift }
            }
            EDIT => {
                let root = B256::from(from.array()?);
                let parameters = from.option(Parameters::read)?;
                Self::Edit { changes: Arc::new(Changes::read(from)?), root, parameters }
            }
            TIME => Self::Time(Shift::read(from)?),
            REVERT => Self::Revert { to: from.number()?, shift: Shift::read(from)? },
            _ => return Err(Malformed("kind of entry")),
        };
        from.end("entry: something follows")?;
        Ok(entry)
    }

    /// Where the chain goes back to, if this is what the bytes of an entry say. Costs nothing for other entries.
    pub fn reverts_to(bytes: &[u8]) -> Result<Option<u64>, Malformed> {
        let from = &mut Reader::new(bytes);
        if from.byte()? == REVERT { from.number().map(Some) } else { Ok(None) }
    }
}

impl Shift {
    /// Appends the shift.
    pub fn write(&self, out: &mut Writer) {
        out.signed(self.ahead);
        out.option(self.promised, Writer::number);
        out.option(self.interval, Writer::number);
    }

    /// Reads what [`write`](Self::write) wrote.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            ahead: from.signed()?,
            promised: from.option(Reader::number)?,
            interval: from.option(Reader::number)?,
        })
    }
}

impl Parameters {
    /// Appends the parameters.
    pub fn write(&self, out: &mut Writer) {
        out.number(self.chain_id);
        out.number(self.signers.len() as u64);
        for (signature, signer) in &self.signers {
            out.raw(signature.as_slice());
            out.raw(signer.as_slice());
        }
    }

    /// Reads what [`write`](Self::write) wrote.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let chain_id = from.number()?;
        let count = from.count(85)?;
        let signers = (0..count).map(|_| Ok((from.array()?.into(), from.array()?.into()))).collect::<Result<_, _>>()?;
        Ok(Self { chain_id, signers })
    }
}
