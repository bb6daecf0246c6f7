//! The names of nodes: each is claimed by one process, for as long as that renews its claim.

use std::time::Duration;

use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{MissedTickBehavior, interval, sleep},
};

use super::{
    ClusterError,
    bucket::{Claim, ClusterBucket, Versioned},
    connection::persist,
};

/// Interval at which a claim is renewed.
const RENEWAL_INTERVAL: Duration = Duration::from_millis(500);
/// Interval at which another process reads a claim.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Number of reads in a row of a claim that was not renewed, after which it is void. Time in which
/// the servers do not answer does not count: no claim can be renewed then.
const READS_UNTIL_VOID: u32 = 6;

/// The claim of this process on its name, renewed until it is dropped.
pub(super) struct NameClaim {
    bucket: ClusterBucket,
    claim: Claim,
    renewal: JoinHandle<()>,
    is_lost: watch::Receiver<bool>,
}

impl Drop for NameClaim {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}

impl NameClaim {
    /// Claims a name. Refuses one that another process has.
    pub(super) async fn begin(
        bucket: &ClusterBucket,
        node: &str,
        instance: u64,
    ) -> Result<Self, ClusterError> {
        let claim = Claim {
            node: node.to_owned(),
            instance,
            epoch: 0,
        };

        let mut seen: Option<(u64, u32)> = None;
        loop {
            let found = persist(|| bucket.name(node)).await?;
            let revision = found.as_ref().map(|found| found.revision);
            if let Some(Versioned {
                revision,
                value: Some(holder),
            }) = found
            {
                // An attempt to claim it had no answer.
                if holder == claim {
                    return Ok(Self::hold(bucket.clone(), claim, revision));
                }

                let reads = match seen {
                    None => 1,
                    Some((known, reads)) if known == revision => reads + 1,
                    Some(_) => {
                        return Err(ClusterError::Refused(format!(
                            "a node with the name {node} is in the cluster already: give each node \
                             another --node-name"
                        )));
                    }
                };
                seen = Some((revision, reads));
                if reads < READS_UNTIL_VOID {
                    sleep(POLL_INTERVAL).await;
                    continue;
                }
            }

            // Without success another process was first, which the next reads show.
            if let Some(revision) = persist(|| bucket.claim_name(revision, &claim)).await? {
                return Ok(Self::hold(bucket.clone(), claim, revision));
            }
        }
    }

    fn hold(bucket: ClusterBucket, claim: Claim, revision: u64) -> Self {
        let (lost, is_lost) = watch::channel(false);
        let renewal = tokio::spawn(renew(bucket.clone(), claim.clone(), revision, lost));
        Self {
            bucket,
            claim,
            renewal,
            is_lost,
        }
    }

    /// Becomes true once another process has the name.
    pub(super) fn is_lost(&self) -> watch::Receiver<bool> {
        self.is_lost.clone()
    }

    /// Gives the name up.
    pub(super) async fn release(&self) {
        self.renewal.abort();
        if let Ok(Some(found)) = self.bucket.name(&self.claim.node).await
            && found.value.as_ref() == Some(&self.claim)
        {
            let _ = self.bucket.release_name(&self.claim.node).await;
        }
    }
}

/// Renews a claim, until another process has the name.
async fn renew(bucket: ClusterBucket, claim: Claim, revision: u64, lost: watch::Sender<bool>) {
    let mut ticks = interval(RENEWAL_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut revision = Some(revision);
    loop {
        ticks.tick().await;
        match bucket.claim_name(revision, &claim).await {
            Ok(Some(renewed)) => {
                revision = Some(renewed);
                continue;
            }
            Ok(None) => {}
            Err(error) => {
                tracing::debug!(%error, "failed to renew the claim on this node's name");
                continue;
            }
        }

        match bucket.name(&claim.node).await {
            // An earlier renewal may have had no answer, and a claim without a value has no owner.
            Ok(Some(found)) if found.value.as_ref().is_none_or(|found| *found == claim) => {
                revision = Some(found.revision);
            }
            // The servers have lost the claim, or all of a bucket that another node has created
            // again.
            Ok(None) => revision = None,
            Ok(Some(_)) => {
                tracing::error!(
                    node = claim.node,
                    "another process has this node's name: this one leaves"
                );
                lost.send_replace(true);
                return;
            }
            Err(error) => {
                tracing::debug!(%error, "failed to read the claim on this node's name")
            }
        }
    }
}
