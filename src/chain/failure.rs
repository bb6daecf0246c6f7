//! What keeps the chain from going on, and whether it still does.

use super::{Executor, Journal, candidate::Candidate};
use crate::{evm::BlockError, log::AppendError};

/// Why the last change to the chain was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// It could not be recorded.
    Append(String),
    /// No block could be made, whatever it holds.
    Block(String),
}

impl Executor {
    /// Remembers whether something could be recorded. A small entry that fits on a full disk ends no failure.
    pub(super) fn note_append(&mut self, outcome: &Result<(), AppendError>) {
        match outcome {
            Ok(()) if self.journal.as_ref().is_some_and(Journal::is_obstructed) => {}
            Ok(()) => self.overcome(|failure| matches!(failure, Failure::Append(_))),
            Err(error) => self.fail(Failure::Append(format!("the chain cannot be written: {error}"))),
        }
    }

    /// Remembers whether a block could be made.
    pub(super) fn note_block<T>(&mut self, outcome: &Result<T, BlockError>) {
        match outcome {
            Ok(_) => self.overcome(|failure| matches!(failure, Failure::Block(_))),
            Err(error) => self.fail(Failure::Block(format!("no block can be sealed: {error}"))),
        }
    }

    /// Why no block can be sealed; none if the last attempt succeeded, or another one does. A node that gets no requests
    /// because of a failure would otherwise never learn that it is over.
    pub fn obstacle(&mut self) -> Option<String> {
        match self.failure.as_ref()? {
            Failure::Append(_) => {
                let probed = self.journal.as_mut().map_or(Ok(()), Journal::probe);
                self.note_append(&probed);
            }
            Failure::Block(_) => {
                let head = self.head();
                let environment = self.shared.next_environment(&head, 0);
                self.note_block(&Candidate::build(&head, &environment, Vec::new(), &[], None));
            }
        }
        let (Failure::Append(reason) | Failure::Block(reason)) = self.failure.as_ref()?;
        Some(reason.clone())
    }

    /// Tells of a failure, unless it is known.
    fn fail(&mut self, failure: Failure) {
        if self.failure.as_ref() != Some(&failure) {
            let (Failure::Append(reason) | Failure::Block(reason)) = &failure;
            tracing::error!("{reason}");
            self.failure = Some(failure);
        }
    }

    fn overcome(&mut self, is_over: impl FnOnce(&Failure) -> bool) {
        if self.failure.take_if(|failure| is_over(failure)).is_some() {
            tracing::info!("the chain goes on");
        }
    }
}
