//! The settings of development methods: those of one node, or, as entries of the log, those of all
//! nodes of a cluster.
//!
//! In a cluster the settings are entries, since no leader may take them along when it ends. A
//! single node forgets them, as other development nodes do, so that its next start does what the
//! configuration says.

use tetrad_primitives::block::{DevSettings, Setting};
use tetrad_store::log::LogEntry;

use super::ChainWriter;
use crate::{ChangeError, shared::Sealing};

/// Most accounts that are impersonated individually.
const MAX_IMPERSONATED: usize = 65_536;

impl ChainWriter {
    /// Makes a setting, in a cluster on all nodes.
    pub(super) fn set(&mut self, setting: Setting) -> Result<(), ChangeError> {
        if let Setting::Impersonated(address, true) = setting {
            let impersonated = self.shared.impersonated.read();
            if impersonated.accounts.len() >= MAX_IMPERSONATED
                && !impersonated.accounts.contains(&address)
            {
                return Err(ChangeError::TooManyImpersonated(MAX_IMPERSONATED));
            }
        }

        self.retry(|writer| writer.record_setting(setting))?;
        self.shared.set(setting);

        if matches!(setting, Setting::Mining(_) | Setting::Configured) {
            // The blocks that follow are not part of the request.
            self.recorder.part = None;
            self.schedule();
            self.release_unless_instant();
            self.seal_ready();
        }
        Ok(())
    }

    /// Records a setting where the log has the settings.
    fn record_setting(&mut self, setting: Setting) -> Result<(), ChangeError> {
        if self.has_settings_in_log() {
            self.record(|| LogEntry::Setting(setting))?;
        }
        Ok(())
    }

    /// Takes over the settings that the log has after entries of other writers.
    pub(super) fn adopt_settings(&mut self, recorded: DevSettings) {
        let mining = self.mining();
        self.recorder.adopt_settings(recorded);
        if self.has_settings_in_log() {
            self.shared.adopt(self.recorder.settings().clone());
        } else {
            self.shared.sealing.lock().set.forget_next();
        }

        if self.leads && self.mining() != mining {
            // An entry of this writer whose answer was lost.
            self.schedule();
            self.release_unless_instant();
        }
    }

    /// Answers the submitters that wait for the block of their transactions, unless blocks are
    /// sealed for these: they would wait in vain.
    fn release_unless_instant(&self) {
        if !self.mining().is_instant() {
            self.shared.pool.release_not_ready(u64::MAX);
        }
    }

    /// Discards the settings, as a part of a change that one more entry follows.
    pub(super) fn discard_recorded_settings(&mut self) -> Result<(), ChangeError> {
        if !self.recorder.settings().is_empty() {
            self.recorder.expect_after(1);
            self.record(|| LogEntry::Setting(Setting::Configured))?;
            self.shared.adopt(DevSettings::default());
            self.schedule();
            self.release_unless_instant();
        }
        self.recorder.expect_after(0);
        Ok(())
    }

    /// Restores the settings of new blocks after a change that failed.
    pub(super) fn restore_sealing(&self, before: Sealing) {
        if self.has_settings_in_log() {
            self.shared.adopt(self.recorder.settings().clone());
        } else {
            *self.shared.sealing.lock() = before;
        }
    }

    /// Returns whether the log has the settings: in a cluster they are those of all nodes. A single
    /// node has them until it ends, unless its directory is that of a cluster's node, and has some
    /// already.
    fn has_settings_in_log(&self) -> bool {
        self.shared.peers.get().is_some() || !self.recorder.settings().is_empty()
    }
}
