//! The changes that were requested lately. A request that was sent again gets the outcome of the first one.

use std::collections::VecDeque;

use bytes::Bytes;
use parking_lot::Mutex;

/// Number of changes that are remembered after they were made.
const REMEMBERED: usize = 1_024;

/// The latest changes, by the ids of their requests.
#[derive(Default)]
pub(super) struct RecentChanges(Mutex<VecDeque<RecentChange>>);

struct RecentChange {
    id: u128,
    /// The encoded response, once the change is made.
    response: Option<Bytes>,
}

/// What is known of a change that is requested.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Nothing: it has to be made.
    New,
    /// It is under way.
    InProgress,
    /// It was made, with this encoded response.
    Made(Bytes),
}

impl RecentChanges {
    /// Begins a change, unless it was requested before.
    pub(super) fn begin(&self, id: u128) -> Known {
        let mut changes = self.0.lock();
        match changes.iter().find(|change| change.id == id) {
            Some(RecentChange { response: Some(response), .. }) => Known::Made(response.clone()),
            Some(_) => Known::InProgress,
            None => {
                changes.push_back(RecentChange { id, response: None });
                Known::New
            }
        }
    }

    /// Remembers the response to a change, or, without one, that it was not made.
    pub(super) fn end(&self, id: u128, response: Option<Bytes>) {
        let mut changes = self.0.lock();
        changes.retain(|change| change.id != id);
        if let Some(response) = response {
            changes.push_back(RecentChange { id, response: Some(response) });
        }
        // How many are under way is limited by those who execute them.
        let made = changes.iter().filter(|change| change.response.is_some()).count();
        if made > REMEMBERED
            && let Some(oldest) = changes.iter().position(|change| change.response.is_some())
        {
            changes.remove(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_made_once_and_its_response_remembered() {
        let changes = RecentChanges::default();
        assert_eq!(changes.begin(1), Known::New);
        assert_eq!(changes.begin(1), Known::InProgress);
        assert_eq!(changes.begin(2), Known::New);
        changes.end(1, Some(Bytes::from_static(b"done")));
        assert_eq!(changes.begin(1), Known::Made(Bytes::from_static(b"done")));
        // A node that did not lead has made nothing.
        changes.end(2, None);
        assert_eq!(changes.begin(2), Known::New);
    }

    #[test]
    fn changes_under_way_are_never_forgotten_and_old_ones_are() {
        let changes = RecentChanges::default();
        changes.begin(0);
        for id in 1..=REMEMBERED as u128 + 1 {
            changes.begin(id);
            changes.end(id, Some(Bytes::new()));
        }
        assert_eq!(changes.begin(0), Known::InProgress);
        assert_eq!(changes.begin(2), Known::Made(Bytes::new()));
        assert_eq!(changes.begin(1), Known::New);
    }
}
