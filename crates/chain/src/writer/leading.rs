//! Beginning and ceasing to lead a cluster.

use tetrad_store::log::{AppendError, LogEntry};

use super::{ChainWriter, journal::FollowTo, requests::Requests};
use crate::{ChangeError, Journal, Leadership};

/// Most attempts at recording an epoch while another node extends the log.
const ATTEMPTS: u32 = 16;

impl ChainWriter {
    /// Begins to lead: follows the log to its end and records the epoch, from which on entries of
    /// an earlier leader are refused.
    pub(super) fn lead(&mut self, number: u64, node: String) -> Result<(), ChangeError> {
        if self.leads {
            return Ok(());
        }
        for _ in 0..ATTEMPTS {
            self.follow(FollowTo::LogEnd)?;
            let recorded = self.record(|| LogEntry::Epoch {
                number,
                node: node.clone(),
            });
            match recorded {
                Ok(()) => {
                    self.leads = true;
                    self.undo_replacing();
                    self.note_height();
                    self.shared.leadership.send_replace(Leadership {
                        leads: true,
                        epoch: number,
                    });

                    self.schedule();
                    self.seal_ready();
                    return Ok(());
                }
                // Another node has appended meanwhile: its entry comes first.
                Err(AppendError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(ChangeError::NotLeading)
    }

    /// Restores the blocks that the previous leader had removed and not yet replaced. The
    /// client that requested that asks again.
    fn undo_replacing(&mut self) {
        let Some(journal) = &mut self.recorder.journal else {
            return;
        };
        let restored = match journal.requests().map(Requests::replacing) {
            Ok(None) => return,
            Ok(Some(progress)) => self.revert_to(progress.begins),
            Err(error) => Err(AppendError::Unavailable(error.to_string()).into()),
        };
        match restored {
            Ok(()) => tracing::warn!("blocks that the previous leader had removed are restored"),
            Err(error) => {
                tracing::error!(
                    %error,
                    "blocks that the previous leader had removed cannot be restored"
                )
            }
        }
    }

    /// Ceases to lead, on this node's own decision.
    pub(super) fn resign(&mut self) {
        if self.leads {
            let epoch = self.shared.leadership.borrow().epoch;
            self.cease(epoch);
            // Another node's entries are read from now on. An error is noted by the next attempt.
            let _ = self.follow(FollowTo::Arrived);
        }
    }

    /// Ceases to lead, or notes the new leader, because another node has begun an epoch.
    pub(super) fn depose(&mut self, epoch: u64, node: &str) {
        if self.leads {
            tracing::warn!(epoch, leader = node, "another node leads the cluster now");
        }
        self.cease(epoch);
    }

    pub(super) fn cease(&mut self, epoch: u64) {
        self.leads = false;
        self.schedule.due = None;
        self.recorder.forget_failure();

        for order in std::mem::take(&mut self.schedule.orders) {
            let error = order.deposed();
            let _ = order.reply.send(Err(error));
        }

        self.shared.leadership.send_replace(Leadership {
            leads: false,
            epoch,
        });
    }

    /// Returns the height of the log that the published head includes.
    pub(super) fn published_height(&self) -> u64 {
        self.recorder.journal.as_ref().map_or(0, Journal::published)
    }

    /// Publishes the height of the log that the published head includes.
    pub(super) fn note_height(&self) {
        if self.shared.peers.get().is_some() {
            self.shared.height.send_replace(self.published_height());
        }
    }
}
