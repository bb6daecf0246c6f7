//! Giving up entries that a replicated log does not have.
//!
//! Servers that crash or lose each other may acknowledge an entry and then decide for another one.
//! The node that has the first one goes back to the entries that it shares with the others, and
//! follows these from there. The transactions that it gives up were acknowledged: they wait for a
//! block again.
//!
//! The files of the removed entries are put aside.

use tetrad_primitives::block::{Submission, Transaction};
use tetrad_store::log::{AppendError, LogEntry, LogError};

use super::{ChainWriter, follow::CaughtUp};
use crate::{ChangeError, Journal, block::recorded::Replayed, disk::recover::replay};

impl ChainWriter {
    /// Gives up the entries from height `end` on, which are put aside, and continues from the state
    /// before them.
    pub(super) fn truncate(&mut self, end: u64, reason: &str) -> Result<(), ChangeError> {
        // Before anything is removed: what fails here is tried again.
        self.restore_transactions(end)?;
        if self.leads {
            let epoch = self.shared.leadership.borrow().epoch;
            self.cease(epoch);
        }

        // The log may no longer have the entry that could not be followed.
        *self.shared.needs_checkpoint_after.lock() = None;
        let last_block = self.head().number();
        match self.truncated(end) {
            Ok((replayed, aside)) => {
                tracing::error!(
                    entry = end,
                    last_kept_block = replayed.head.number(),
                    last_block,
                    ?aside,
                    "{reason}. This node follows them; its own entries were put aside"
                );
                self.revert_points.truncate(end, &replayed.head);
                self.publish_replayed(CaughtUp::reverted(replayed));
                Ok(())
            }
            Err(error) => {
                let reason =
                    format!("{reason}. The entries from there on could not be put aside: {error}");
                self.fail_for_good(reason.clone());
                Err(AppendError::Unknown {
                    file: "log".to_owned(),
                    reason,
                }
                .into())
            }
        }
    }

    /// Removes the entries, and returns the chain before them, with the paths of what was put
    /// aside.
    fn truncated(&mut self, end: u64) -> Result<(Replayed, Vec<String>), String> {
        let params = self.head().params.clone();
        let limits = self.shared.history_limits;

        let journal = self.recorder.journal.as_mut().ok_or("there is no log")?;
        let history = journal.history().ok_or("no checkpoint is kept")?;
        // Before the entries are removed: an error here leaves everything as it was.
        let checkpoint = history.checkpoint_below(end)?;

        let aside = journal.truncate(end).map_err(|error| error.to_string())?;
        let replayed = replay(params, limits, checkpoint, journal.reader(), &history, end);
        let (replayed, _) = replayed.map_err(|error| error.to_string())?;
        Ok((replayed, aside))
    }

    /// Stores the transactions of blocks from height `from` on where those of all nodes wait.
    fn restore_transactions(&self, from: u64) -> Result<(), ChangeError> {
        let (Some(peers), Some(journal)) = (self.shared.peers.get(), &self.recorder.journal) else {
            return Ok(());
        };

        let given_up = self
            .transactions_from(journal, from)
            .map_err(|error| AppendError::Unavailable(error.to_string()))?;
        peers
            .restore(given_up)
            .map_err(|error| AppendError::Unavailable(error.to_string()))?;
        Ok(())
    }

    /// Returns the transactions that clients had sent, and that the chain has in these blocks.
    fn transactions_from(&self, journal: &Journal, from: u64) -> Result<Vec<Submission>, LogError> {
        let own = self
            .shared
            .preamble
            .as_ref()
            .map(|preamble| preamble.account());
        let history = journal.history();

        let mut transactions = Vec::new();
        for stored in journal.reader().stream(from)? {
            let stored = stored?;
            // A revert had removed these transactions from the chain already.
            if history
                .as_ref()
                .is_some_and(|history| history.is_void(stored.height))
            {
                continue;
            }

            if let LogEntry::Block { block, .. } = stored.entry()? {
                // The next leader updates the prices itself.
                let sent = block
                    .transactions
                    .iter()
                    .filter(|transaction| Some(transaction.sender) != own);
                transactions.extend(sent.map(|transaction| self.submission(transaction)));
            }
        }
        Ok(transactions)
    }

    /// Returns a transaction of a block as it was submitted.
    fn submission(&self, transaction: &Transaction) -> Submission {
        let kept = self.shared.blobs.transaction(transaction.hash());
        let sidecar = kept.and_then(|pooled| pooled.sidecar.clone());
        Submission {
            transaction: transaction.clone(),
            sidecar,
        }
    }
}
