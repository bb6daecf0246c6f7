//! Entries of the log: all changes to the chain, in order.

use std::sync::Arc;

use alloy_primitives::{Address, B256, FixedBytes};
use tetrad_primitives::{
    block::{Block, DevSettings, Setting},
    state::Changes,
};
use tetrad_stdx::codec::{Malformed, Reader, Writer};

/// The shift of the chain's time against the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeShift {
    /// Number of seconds by which the chain's time is ahead.
    pub ahead: i64,
    /// The timestamp that was set for the next block.
    pub next_timestamp: Option<u64>,
    /// Seconds between blocks, if they are fixed.
    pub interval: Option<u64>,
}

/// The chain parameters that development methods can change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditableParams {
    /// The chain id for which transactions are signed.
    pub chain_id: u64,
    /// Signatures that `ecrecover` attributes to an account, whatever the message.
    pub signers: Vec<(FixedBytes<65>, Address)>,
}

/// One change to the chain, recorded with its outcome: replaying an entry executes nothing, and
/// compares the resulting state root with the recorded one.
#[derive(Clone, Debug)]
pub enum LogEntry {
    /// A block.
    Block {
        /// The block.
        block: Arc<Block>,
        /// Its state changes.
        changes: Arc<Changes>,
        /// The time shift after it.
        shift: TimeShift,
    },
    /// An edit by a development method between two blocks.
    Edit {
        /// Its state changes.
        changes: Arc<Changes>,
        /// The state root after it.
        root: B256,
        /// The chain parameters after it, if they changed.
        parameters: Option<EditableParams>,
    },
    /// A change of the time by a development method.
    Time(TimeShift),
    /// A revert to the chain as it was when the log had `to` entries. Those in between are no
    /// longer in effect.
    Revert {
        /// The log height to which the chain reverts.
        to: u64,
        /// The time shift after it.
        shift: TimeShift,
        /// The first of the snapshots that it uses up, with all later ones. A revert that is not to
        /// a snapshot uses up none, unless the chain is reset.
        uses_up: Option<u64>,
    },
    /// A snapshot of the chain as it was when the log had the entries before this one.
    Snapshot {
        /// Its id, which no other snapshot of the log has. Later snapshots have higher ones.
        id: u64,
        /// Number of the newest block.
        number: u64,
        /// Hash of the newest block.
        hash: B256,
        /// The time shift.
        shift: TimeShift,
        /// Its name, of at most 255 bytes.
        name: Option<Arc<str>>,
    },
    /// The beginning of a leadership in a cluster: entries after it are those of this leader, up to
    /// the next epoch.
    Epoch {
        /// Number of the epoch, which increases.
        number: u64,
        /// Name of the leader.
        node: String,
    },
    /// A setting of a development method, in a cluster.
    Setting(Setting),
}

/// The place of an entry among those of a request, in a cluster: a request that is sent again, to
/// whichever node leads by then, gets the outcome of the first time, or what is left of it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestPart {
    /// The request's id, a random number.
    pub id: u64,
    /// Number of its entries after this one.
    pub left: u64,
    /// The number that answers the request, if one does: seconds, or 1 for yes.
    pub answer: i64,
}

/// Longest name of a node or of a snapshot, in bytes.
const MAX_NAME: usize = 255;

const BLOCK: u8 = 1;
const EDIT: u8 = 2;
const TIME: u8 = 3;
const REVERT: u8 = 4;
const SNAPSHOT: u8 = 5;
const EPOCH: u8 = 6;
/// Precedes the encoding of an entry that is part of a request.
const REQUESTED: u8 = 7;
const SETTING: u8 = 8;
/// The same as [`REQUESTED`] where a number answers the request.
const ANSWERED: u8 = 9;

impl RequestPart {
    /// Encodes the part, which the encoding of the entry follows.
    pub fn write(&self, out: &mut Writer) {
        out.byte(if self.answer == 0 {
            REQUESTED
        } else {
            ANSWERED
        });
        out.raw(&self.id.to_le_bytes());
        out.number(self.left);
        if self.answer != 0 {
            out.signed(self.answer);
        }
    }

    /// Splits the encoding of an entry into the part of a request that it is, if it is one, and the
    /// entry.
    pub fn split(bytes: &[u8]) -> Result<(Option<Self>, &[u8]), Malformed> {
        let from = &mut Reader::new(bytes);
        let is_answered = bytes.first() == Some(&ANSWERED);
        if !is_answered && bytes.first() != Some(&REQUESTED) {
            return Ok((None, bytes));
        }

        from.byte()?;
        let id = u64::from_le_bytes(from.array()?);
        let left = from.number()?;
        let answer = if is_answered { from.signed()? } else { 0 };
        let part = Self { id, left, answer };
        Ok((Some(part), from.rest()))
    }
}

impl LogEntry {
    /// Encodes the entry.
    pub fn write(&self, out: &mut Writer) {
        match self {
            Self::Block {
                block,
                changes,
                shift,
            } => {
                out.byte(BLOCK);
                shift.write(out);
                block.write(out);
                changes.write(out);
            }
            Self::Edit {
                changes,
                root,
                parameters,
            } => {
                out.byte(EDIT);
                out.raw(root.as_slice());
                out.option(parameters.as_ref(), |out, parameters| parameters.write(out));
                changes.write(out);
            }
            Self::Time(shift) => {
                out.byte(TIME);
                shift.write(out);
            }
            Self::Revert { to, shift, uses_up } => {
                out.byte(REVERT);
                out.number(*to);
                shift.write(out);
                // Not an option: logs without snapshots remain readable for earlier versions.
                uses_up.iter().for_each(|first| out.number(*first));
            }
            Self::Snapshot {
                id,
                number,
                hash,
                shift,
                name,
            } => {
                out.byte(SNAPSHOT);
                out.number(*id);
                out.number(*number);
                out.raw(hash.as_slice());
                shift.write(out);
                // Not an option: snapshots without names remain readable for earlier versions.
                name.iter().for_each(|name| out.string(name.as_bytes()));
            }
            Self::Epoch { number, node } => {
                out.byte(EPOCH);
                out.number(*number);
                out.string(node.as_bytes());
            }
            Self::Setting(setting) => {
                out.byte(SETTING);
                setting.write(out);
            }
        }
    }

    /// Returns the encoded entry.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        self.write(&mut out);
        out.into_bytes()
    }

    /// Decodes an entry that [`write`](Self::write) encoded, whether it is part of a request or
    /// not.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let (_, entry) = RequestPart::split(bytes)?;
        let from = &mut Reader::new(entry);
        let entry = match from.byte()? {
            BLOCK => {
                let shift = TimeShift::read(from)?;
                let block = Arc::new(Block::read(from)?);
                Self::Block {
                    block,
                    changes: Arc::new(Changes::read(from)?),
                    shift,
                }
            }
            EDIT => {
                let root = B256::from(from.array()?);
                let parameters = from.option(EditableParams::read)?;
                Self::Edit {
                    changes: Arc::new(Changes::read(from)?),
                    root,
                    parameters,
                }
            }
            TIME => Self::Time(TimeShift::read(from)?),
            REVERT => {
                let to = from.number()?;
                let shift = TimeShift::read(from)?;
                // Without a snapshot it is encoded as before there were any.
                let uses_up = if from.is_empty() {
                    None
                } else {
                    Some(from.number()?)
                };
                Self::Revert { to, shift, uses_up }
            }
            SNAPSHOT => Self::Snapshot {
                id: from.number()?,
                number: from.number()?,
                hash: from.array()?.into(),
                shift: TimeShift::read(from)?,
                name: if from.is_empty() {
                    None
                } else {
                    Some(read_name(from)?.into())
                },
            },
            EPOCH => {
                let number = from.number()?;
                Self::Epoch {
                    number,
                    node: read_name(from)?.to_owned(),
                }
            }
            SETTING => Self::Setting(Setting::read(from)?),
            _ => return Err(Malformed("kind of entry")),
        };

        from.end("entry: trailing bytes")?;
        Ok(entry)
    }

    /// Has the settings of development methods follow the entry, reverted or not: a revert does not
    /// bring earlier ones back.
    pub fn follow(&self, settings: &mut DevSettings) {
        match self {
            Self::Setting(setting) => settings.set(*setting),
            Self::Block { .. } | Self::Revert { .. } => settings.sealing.forget_next(),
            _ => {}
        }
    }

    /// Returns whether an encoded entry is a block that is not part of a request.
    pub(super) fn is_block(bytes: &[u8]) -> bool {
        bytes.first() == Some(&BLOCK)
    }

    /// Returns the height to which an encoded entry reverts, or `None` if it is not a revert.
    /// Decodes nothing else.
    pub(crate) fn reverts_to(bytes: &[u8]) -> Result<Option<u64>, Malformed> {
        let (_, entry) = RequestPart::split(bytes)?;
        let from = &mut Reader::new(entry);
        if from.byte()? == REVERT {
            from.number().map(Some)
        } else {
            Ok(None)
        }
    }
}

/// Reads the name of a node or of a snapshot.
pub fn read_name<'a>(from: &mut Reader<'a>) -> Result<&'a str, Malformed> {
    let name = std::str::from_utf8(from.string()?).map_err(|_| Malformed("name"))?;
    if name.len() > MAX_NAME {
        Err(Malformed("length of a name"))
    } else {
        Ok(name)
    }
}

impl TimeShift {
    /// Encodes the shift.
    pub fn write(&self, out: &mut Writer) {
        out.signed(self.ahead);
        out.option(self.next_timestamp, Writer::number);
        out.option(self.interval, Writer::number);
    }

    /// Decodes a shift.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            ahead: from.signed()?,
            next_timestamp: from.option(Reader::number)?,
            interval: from.option(Reader::number)?,
        })
    }
}

impl EditableParams {
    /// Encodes the parameters.
    pub fn write(&self, out: &mut Writer) {
        out.number(self.chain_id);
        out.number(self.signers.len() as u64);
        for (signature, signer) in &self.signers {
            out.raw(signature.as_slice());
            out.raw(signer.as_slice());
        }
    }

    /// Decodes parameters.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let chain_id = from.number()?;
        // A signature has 65 bytes, an address 20.
        let count = from.count(85)?;
        let signers = (0..count)
            .map(|_| Ok((from.array()?.into(), from.array()?.into())))
            .collect::<Result<_, _>>()?;
        Ok(Self { chain_id, signers })
    }
}

#[cfg(test)]
mod tests {
    use tetrad_primitives::block::Mining;

    use super::*;

    fn bytes(entry: &LogEntry) -> Vec<u8> {
        let mut out = Writer::default();
        entry.write(&mut out);
        out.bytes().to_vec()
    }

    const SHIFT: TimeShift = TimeShift {
        ahead: i64::MIN,
        next_timestamp: Some(u64::MAX),
        interval: Some(u64::MAX),
    };

    fn snapshot(name: Option<&str>) -> LogEntry {
        LogEntry::Snapshot {
            id: u64::MAX,
            number: u64::MAX,
            hash: B256::repeat_byte(7),
            shift: SHIFT,
            name: name.map(Arc::from),
        }
    }

    fn revert(uses_up: Option<u64>) -> LogEntry {
        LogEntry::Revert {
            to: 300,
            shift: SHIFT,
            uses_up,
        }
    }

    #[test]
    fn reverts_and_snapshots_round_trip_and_no_part_of_them_decodes_as_another() {
        let entries = [
            snapshot(None),
            snapshot(Some("before the upgrade")),
            revert(None),
            revert(Some(0)),
            revert(Some(u64::MAX)),
        ];
        for entry in entries {
            let encoded = bytes(&entry);
            assert!(encoded.len() <= 120);
            let decoded = LogEntry::decode(&encoded).unwrap();
            assert_eq!(format!("{decoded:?}"), format!("{entry:?}"));

            let shortest = if encoded[0] == REVERT {
                bytes(&revert(None))
            } else {
                bytes(&snapshot(None))
            }
            .len();
            for length in (0..encoded.len()).filter(|length| *length != shortest) {
                assert!(
                    LogEntry::decode(&encoded[..length]).is_err(),
                    "{length} bytes of {entry:?}"
                );
            }
            assert!(LogEntry::decode(&[&encoded[..], &[0, 0, 0]].concat()).is_err());
        }

        assert!(LogEntry::decode(&bytes(&snapshot(Some(&"a".repeat(MAX_NAME + 1))))).is_err());
    }

    #[test]
    fn an_entry_of_a_request_is_the_same_entry() {
        for answer in [0, 1, -70_000] {
            let part = RequestPart {
                id: u64::MAX - 1,
                left: 300,
                answer,
            };
            let entry = LogEntry::Revert {
                to: 300,
                shift: TimeShift::default(),
                uses_up: None,
            };

            let mut out = Writer::default();
            part.write(&mut out);
            entry.write(&mut out);

            assert_eq!(
                RequestPart::split(out.bytes()).unwrap(),
                (Some(part), &bytes(&entry)[..])
            );
            assert_eq!(
                RequestPart::split(&bytes(&entry)).unwrap(),
                (None, &bytes(&entry)[..])
            );
            assert_eq!(
                format!("{:?}", LogEntry::decode(out.bytes()).unwrap()),
                format!("{entry:?}")
            );
            assert_eq!(LogEntry::reverts_to(out.bytes()), Ok(Some(300)));

            // An entry is part of one request.
            let mut twice = Writer::default();
            part.write(&mut twice);
            twice.raw(out.bytes());
            assert!(LogEntry::decode(twice.bytes()).is_err());
        }
    }

    #[test]
    fn settings_of_the_next_block_end_with_it_and_others_with_a_reset() {
        let account = Address::repeat_byte(1);
        let mut settings = DevSettings::default();
        settings.set(Setting::NextBaseFee(7));
        settings.set(Setting::Mining(Mining::Manual));
        settings.set(Setting::Impersonated(account, true));

        LogEntry::Time(TimeShift::default()).follow(&mut settings);
        assert_eq!(settings.sealing.next_base_fee, Some(7));

        LogEntry::Revert {
            to: 0,
            shift: TimeShift::default(),
            uses_up: None,
        }
        .follow(&mut settings);

        assert_eq!(settings.sealing.next_base_fee, None);
        assert_eq!(settings.sealing.mining, Some(Mining::Manual));
        assert!(settings.impersonated.includes(account, false));

        LogEntry::Setting(Setting::Configured).follow(&mut settings);
        assert!(settings.is_empty());
    }

    #[test]
    fn a_snapshot_without_a_name_is_encoded_as_before_there_were_any() {
        let encoded = bytes(&LogEntry::Snapshot {
            id: 3,
            number: 300,
            hash: B256::repeat_byte(7),
            shift: TimeShift::default(),
            name: None,
        });
        assert_eq!(
            encoded,
            [&[SNAPSHOT, 3, 0xac, 2][..], &[7; 32], &[0, 0, 0]].concat()
        );
    }

    #[test]
    fn a_revert_that_uses_up_no_snapshot_is_encoded_as_before_there_were_any() {
        let encoded = bytes(&LogEntry::Revert {
            to: 300,
            shift: TimeShift::default(),
            uses_up: None,
        });
        assert_eq!(encoded, [REVERT, 0xac, 2, 0, 0, 0]);
    }
}
