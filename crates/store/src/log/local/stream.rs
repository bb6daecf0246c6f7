//! Streaming the entries of a log.

use std::{collections::VecDeque, sync::Arc};

use super::segment::Segment;
use crate::{
    log::{ChainIdentity, LogError, StoredEntry},
    storage::Storage,
};

/// A stream of a log's entries, with one segment in memory at a time.
pub(super) struct LocalStream {
    storage: Arc<dyn Storage>,
    identity: ChainIdentity,
    firsts: VecDeque<u64>,
    segment: Option<Segment>,
    next: u64,
    end: u64,
}

impl LocalStream {
    /// Returns the entries from height `next` up to `end`, in the segments that begin at `firsts`.
    pub(super) fn new(
        storage: Arc<dyn Storage>,
        identity: ChainIdentity,
        firsts: VecDeque<u64>,
        next: u64,
        end: u64,
    ) -> Self {
        Self {
            storage,
            identity,
            firsts,
            segment: None,
            next,
            end,
        }
    }

    fn advance(&mut self) -> Result<Option<StoredEntry>, LogError> {
        while self.next < self.end {
            if let Some(stored) = self
                .segment
                .as_ref()
                .and_then(|segment| segment.get(self.next))
            {
                self.next += 1;
                return Ok(Some(stored));
            }

            let first = self
                .firsts
                .pop_front()
                .ok_or_else(|| self.missing(self.end))?;
            if first > self.next {
                return Err(self.missing(first));
            }

            let segment = Segment::load(&*self.storage, first, Some(self.identity))?;
            if !self.firsts.is_empty() {
                segment.expect_clean()?;
            }
            // After an interrupted compaction, two segments may have the same entries.
            if segment.end() > self.next {
                self.segment = Some(segment);
            }
        }
        Ok(None)
    }

    /// Returns the error for the entries from the next one up to height `to`.
    fn missing(&self, to: u64) -> LogError {
        LogError::Missing {
            from: self.next,
            to,
            place: self.storage.describe(""),
        }
    }
}

impl Iterator for LocalStream {
    type Item = Result<StoredEntry, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.advance().transpose();
        if matches!(item, Some(Err(_))) {
            // Ends the stream: entries after a gap are useless.
            self.end = self.next;
        }
        item
    }
}
