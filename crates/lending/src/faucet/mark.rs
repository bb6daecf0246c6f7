//! The mark by which a payment of the faucet is recognised on the chain, and which names the client
//! that asked for it.
//!
//! The mark is a storage key in the transaction's access list, which execution does not depend on:
//! call data would prevent payments to contracts that accept plain transfers only. The client's
//! address is hashed with a secret of the paying account and with the day, so that it cannot be
//! learned, or followed from one day to the next, without the key.

use alloy_consensus::Transaction as _;
use alloy_eips::eip2930::{AccessList, AccessListItem};
use alloy_primitives::{Address, B256, keccak256};
use tetrad_primitives::block::Transaction;
use tetrad_stdx::calendar::DAY;
use tetrad_web::ClientKey;

/// The first half of every mark.
const PREFIX: [u8; 16] = *b"tetrad-faucet/1 ";

/// The second half: the client.
pub(super) type ClientTag = [u8; 16];

/// Writes and reads marks.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    account: Address,
    secret: B256,
}

impl Marks {
    /// Marks of the faucet that pays from `account`. All nodes with the same `secret` share the
    /// limits of clients.
    pub(super) fn new(account: Address, secret: B256) -> Self {
        Self { account, secret }
    }

    /// Returns the tags that a client's payments of the last day have at `time`: the first is that
    /// of a new payment.
    pub(super) fn tags(&self, client: ClientKey, time: u64) -> [ClientTag; 2] {
        let today = time / DAY;
        [today, today.saturating_sub(1)].map(|day| self.tag(client, day))
    }

    fn tag(&self, client: ClientKey, day: u64) -> ClientTag {
        let hash = keccak256([&self.secret[..], &day.to_be_bytes(), &client.octets()].concat());
        let mut tag = [0; 16];
        tag.copy_from_slice(&hash[..16]);
        tag
    }

    /// Returns the access list of a payment to this client.
    pub(super) fn access_list(&self, tag: ClientTag) -> AccessList {
        let mut key = B256::ZERO;
        key[..16].copy_from_slice(&PREFIX);
        key[16..].copy_from_slice(&tag);
        AccessList(vec![AccessListItem {
            address: self.account,
            storage_keys: vec![key],
        }])
    }

    /// Returns the client of a payment; none for any other transaction.
    pub(super) fn read(&self, transaction: &Transaction) -> Option<ClientTag> {
        if transaction.sender != self.account {
            return None;
        }

        transaction
            .envelope
            .access_list()?
            .iter()
            .flat_map(|item| &item.storage_keys)
            .find_map(|key| key.strip_prefix(&PREFIX)?.try_into().ok())
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn client(last: u8) -> ClientKey {
        IpAddr::from(Ipv4Addr::new(192, 0, 2, last)).into()
    }

    #[test]
    fn a_client_has_another_tag_on_another_day_and_with_another_secret() {
        let marks = Marks::new(Address::ZERO, B256::repeat_byte(1));
        let [today, yesterday] = marks.tags(client(1), 10 * DAY);

        assert_ne!(today, yesterday);
        assert_eq!(marks.tags(client(1), 11 * DAY - 1), [today, yesterday]);
        assert_eq!(marks.tags(client(1), 11 * DAY)[1], today);
        assert_ne!(marks.tags(client(2), 10 * DAY)[0], today);
        assert_ne!(
            Marks::new(Address::ZERO, B256::repeat_byte(2)).tags(client(1), 10 * DAY)[0],
            today
        );
    }
}
