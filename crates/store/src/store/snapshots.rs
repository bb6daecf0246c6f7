//! The snapshots of a chain, to which it can be reverted by their ids.
//!
//! On a recorded chain they are determined by all entries of the log in order, including reverted
//! ones: like the ids, a snapshot that was used up or discarded does not come back when the chain
//! reverts to an earlier height.

use std::{collections::VecDeque, sync::Arc};

use alloy_primitives::B256;
use tetrad_stdx::codec::{Malformed, Reader, Writer};

use crate::log::{LogEntry, TimeShift, read_name};

/// Most snapshots that are kept; older ones are discarded.
const MAX_SNAPSHOTS: usize = 4_096;
/// The least size of an encoded snapshot, in bytes.
const MIN_ENCODED: usize = 38;
/// The least size of the encoded name of a snapshot with its id, in bytes.
const MIN_ENCODED_NAME: usize = 2;

/// Description of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Id to revert to.
    pub id: u64,
    /// Log height to which the chain reverts.
    pub height: u64,
    /// Number of its newest block.
    pub number: u64,
    /// Hash of its newest block.
    pub hash: B256,
    /// Its time shift.
    pub shift: TimeShift,
    /// Its name, if it was given one.
    pub name: Option<Arc<str>>,
}

/// The snapshots that can be reverted to. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshots {
    /// In ascending order of their ids.
    all: Arc<VecDeque<SnapshotInfo>>,
    /// One above the highest id so far.
    next: u64,
}

impl Snapshots {
    /// Returns the id of the next snapshot: the number of those taken so far.
    pub fn next_id(&self) -> u64 {
        self.next
    }

    /// Iterates over the snapshots, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &SnapshotInfo> {
        self.all.iter()
    }

    /// Returns the snapshot with this id.
    pub fn get(&self, id: u64) -> Option<SnapshotInfo> {
        self.all
            .get(self.position(id))
            .cloned()
            .filter(|found| found.id == id)
    }

    /// Adds a snapshot, whose id is not below [`next_id`](Self::next_id).
    pub fn add(&mut self, snapshot: SnapshotInfo) {
        self.next = snapshot.id.saturating_add(1);
        let all = Arc::make_mut(&mut self.all);
        all.push_back(snapshot);
        if all.len() > MAX_SNAPSHOTS {
            all.pop_front();
        }
    }

    /// Removes the snapshots from this id on.
    pub fn use_up(&mut self, first: u64) {
        let left = self.position(first);
        if left < self.all.len() {
            Arc::make_mut(&mut self.all).truncate(left);
        }
    }

    /// Follows the entry of the log at a height, reverted or not. The error names the fault of the
    /// entry.
    pub(super) fn follow(&mut self, height: u64, entry: &LogEntry) -> Result<(), String> {
        match entry {
            LogEntry::Snapshot { id, .. } if *id < self.next => {
                Err(format!("snapshot {id} follows snapshot {}", self.next - 1))
            }
            LogEntry::Snapshot {
                id: id @ u64::MAX, ..
            } => Err(format!("snapshot {id} leaves no id for another one")),
            LogEntry::Snapshot {
                id,
                number,
                hash,
                shift,
                name,
            } => {
                self.add(SnapshotInfo {
                    id: *id,
                    height,
                    number: *number,
                    hash: *hash,
                    shift: *shift,
                    name: name.clone(),
                });
                Ok(())
            }
            LogEntry::Revert {
                uses_up: Some(first),
                ..
            } => {
                self.use_up(*first);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn position(&self, id: u64) -> usize {
        self.all.partition_point(|own| own.id < id)
    }

    /// Returns whether a snapshot has a name.
    pub(super) fn has_names(&self) -> bool {
        self.all.iter().any(|own| own.name.is_some())
    }

    /// Encodes the snapshots without their names.
    pub(super) fn write(&self, out: &mut Writer) {
        out.number(self.next);
        out.number(self.all.len() as u64);
        for SnapshotInfo {
            id,
            height,
            number,
            hash,
            shift,
            ..
        } in &*self.all
        {
            out.number(*id);
            out.number(*height);
            out.number(*number);
            out.raw(hash.as_slice());
            shift.write(out);
        }
    }

    /// Encodes the names of the snapshots.
    pub(super) fn write_names(&self, out: &mut Writer) {
        let named: Vec<_> = self
            .all
            .iter()
            .filter_map(|own| Some((own.id, own.name.as_ref()?)))
            .collect();

        out.number(named.len() as u64);
        for (id, name) in named {
            out.number(id);
            out.string(name.as_bytes());
        }
    }

    /// Decodes the names of the snapshots.
    pub(super) fn read_names(&mut self, from: &mut Reader<'_>) -> Result<(), Malformed> {
        for _ in 0..from.count(MIN_ENCODED_NAME)? {
            let id = from.number()?;
            let name = read_name(from)?;

            let at = self.position(id);
            let named = Arc::make_mut(&mut self.all)
                .get_mut(at)
                .filter(|own| own.id == id);
            named.ok_or(Malformed("name of a snapshot"))?.name = Some(name.into());
        }
        Ok(())
    }

    /// Decodes snapshots without their names.
    pub(super) fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let next = from.number()?;
        let count = from.count(MIN_ENCODED)?;
        let all: VecDeque<_> = (0..count)
            .map(|_| read_snapshot(from))
            .collect::<Result<_, Malformed>>()?;

        let ids = all.iter().map(|own| own.id).chain([next]);
        if all.len() > MAX_SNAPSHOTS || !ids.is_sorted_by(|id, later| id < later) {
            return Err(Malformed("snapshots"));
        }

        Ok(Self {
            all: Arc::new(all),
            next,
        })
    }
}

/// Decodes a snapshot without its name.
fn read_snapshot(from: &mut Reader<'_>) -> Result<SnapshotInfo, Malformed> {
    Ok(SnapshotInfo {
        id: from.number()?,
        height: from.number()?,
        number: from.number()?,
        hash: from.array()?.into(),
        shift: TimeShift::read(from)?,
        name: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(id: u64) -> SnapshotInfo {
        SnapshotInfo {
            id,
            height: 3 * id,
            number: 2 * id,
            hash: B256::repeat_byte(id as u8),
            shift: TimeShift::default(),
            name: None,
        }
    }

    fn snapshot_entry(id: u64) -> LogEntry {
        LogEntry::Snapshot {
            id,
            number: 0,
            hash: B256::ZERO,
            shift: TimeShift::default(),
            name: None,
        }
    }

    #[test]
    fn the_oldest_are_discarded_and_the_others_round_trip() {
        let mut snapshots = Snapshots::default();
        let all = MAX_SNAPSHOTS as u64 + 10;
        (0..all).for_each(|id| snapshots.add(snapshot(id)));

        assert_eq!(
            (snapshots.get(9), snapshots.get(10)),
            (None, Some(snapshot(10)))
        );

        snapshots.use_up(all - 5);
        assert_eq!(
            (snapshots.get(all - 5), snapshots.get(all - 6)),
            (None, Some(snapshot(all - 6)))
        );
        assert_eq!(snapshots.next_id(), all, "ids are not used again");

        let mut out = Writer::default();
        snapshots.write(&mut out);
        assert_eq!(
            Snapshots::read(&mut Reader::new(out.bytes())),
            Ok(snapshots)
        );
    }

    #[test]
    fn names_round_trip_and_belong_to_snapshots() {
        let mut snapshots = Snapshots::default();
        (0..4).for_each(|id| snapshots.add(snapshot(id)));
        assert!(!snapshots.has_names());
        snapshots.add(SnapshotInfo {
            name: Some("vor dem Umbau ☂".into()),
            ..snapshot(4)
        });

        let mut out = Writer::default();
        snapshots.write(&mut out);
        snapshots.write_names(&mut out);
        let from = &mut Reader::new(out.bytes());
        let mut read = Snapshots::read(from).unwrap();
        read.read_names(from).unwrap();
        assert!(from.is_empty() && read.has_names());
        assert_eq!(read, snapshots);

        let mut out = Writer::default();
        let mut others = Snapshots::default();
        snapshots.write_names(&mut out);
        others.add(snapshot(3));
        assert!(others.read_names(&mut Reader::new(out.bytes())).is_err());
    }

    #[test]
    fn snapshots_out_of_order_and_ids_that_come_again_are_rejected() {
        let mut snapshots = Snapshots::default();
        snapshots.follow(0, &snapshot_entry(4)).unwrap();
        snapshots
            .follow(
                1,
                &LogEntry::Revert {
                    to: 0,
                    shift: TimeShift::default(),
                    uses_up: Some(2),
                },
            )
            .unwrap();
        assert!(snapshots.follow(2, &snapshot_entry(4)).is_err());
        assert!(snapshots.follow(2, &snapshot_entry(u64::MAX)).is_err());

        for ids in [[1, 0], [0, 7], [1, 1], [0, 2]] {
            let mut out = Writer::default();
            let all = Arc::new(ids.map(snapshot).into());
            Snapshots { all, next: 2 }.write(&mut out);
            assert!(
                Snapshots::read(&mut Reader::new(out.bytes())).is_err(),
                "{ids:?}"
            );
        }
    }
}
