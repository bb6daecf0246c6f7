//! The payments of the last day, read from the chain and its pool.

use std::{collections::VecDeque, sync::Arc};

use alloy_consensus::Transaction as _;
use alloy_primitives::Address;
use alloy_sol_types::SolCall;
use parking_lot::Mutex;
use tetrad_chain::{Chain, ChainPosition, Head};
use tetrad_contracts::contracts::bindings::Token;
use tetrad_primitives::block::{Block, Transaction};
use tetrad_stdx::calendar::DAY;

use super::mark::{ClientTag, Marks};

/// A payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Payment {
    /// The token; none for the native coin.
    pub(super) token: Option<Address>,
    pub(super) recipient: Address,
    pub(super) client: ClientTag,
    /// The time of its block.
    pub(super) time: u64,
    /// Number of its block.
    block: u64,
    /// Nonce of its transaction.
    nonce: u64,
}

/// Payments of the last day.
#[derive(Clone, Copy)]
pub(super) struct Payments<'a> {
    included: &'a VecDeque<Payment>,
    waiting: &'a [Payment],
}

impl<'a> Payments<'a> {
    /// Iterates over the payments, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a Payment> + use<'a> {
        self.included.iter().chain(self.waiting)
    }
}

/// Reads the payments of the last day. What it keeps is bounded by the limit on payments per day,
/// and can be read again.
pub(super) struct PaymentReader {
    chain: Chain,
    account: Address,
    marks: Marks,
    followed: Mutex<Option<Followed>>,
}

/// Payments in blocks, as of a position of the chain.
struct Followed {
    position: ChainPosition,
    /// The time of the newest payment that was forgotten because it was over.
    forgotten: Option<u64>,
    /// Oldest first.
    payments: VecDeque<Payment>,
}

impl PaymentReader {
    pub(super) fn new(chain: Chain, account: Address, marks: Marks) -> Self {
        Self {
            chain,
            account,
            marks,
            followed: Mutex::default(),
        }
    }

    /// Passes the payments within a day before `now`, including those that wait for a block, to
    /// `count`. The first call reads all blocks of that day.
    pub(super) fn with_last_day<R>(&self, now: u64, count: impl FnOnce(Payments<'_>) -> R) -> R {
        let mut guard = self.followed.lock();

        // The pool is read before the chain: a transaction that leaves the pool in between is in a
        // block.
        let pooled = self.chain.pool().content_of(self.account);
        let followed = self.follow(guard.take(), now);
        let followed = guard.insert(followed);

        let payments = pooled
            .iter()
            .filter_map(|(pooled, _)| self.payment(&pooled.transaction, now, u64::MAX));

        // Until the pool has been cleared, it still has the transactions of the newest block.
        let newest = followed.payments.back().map(|payment| payment.nonce);
        let waiting: Vec<_> = payments
            .filter(|payment| newest.is_none_or(|newest| payment.nonce > newest))
            .collect();

        count(Payments {
            included: &followed.payments,
            waiting: &waiting,
        })
    }

    /// Brings the payments up to date, or reads them all.
    fn follow(&self, followed: Option<Followed>, now: u64) -> Followed {
        let mut followed = followed
            // After a revert the time may be earlier, and payments that had been forgotten count
            // again.
            .filter(|followed| followed.forgotten.is_none_or(|time| is_expired(time, now)))
            .and_then(|followed| self.update(followed))
            .unwrap_or_else(|| self.read_all(now));

        while let Some(forgotten) = followed
            .payments
            .pop_front_if(|payment| is_expired(payment.time, now))
        {
            followed.forgotten = Some(forgotten.time);
        }
        followed
    }

    /// Follows the chain to its head; none if the blocks in between are no longer held.
    fn update(&self, mut followed: Followed) -> Option<Followed> {
        let update = self.chain.update_since(&mut followed.position).ok()?;
        if let Some(first) = update.removed.first() {
            followed
                .payments
                .retain(|payment| payment.block < first.number());
        }
        for block in &update.added {
            followed.payments.extend(self.payments(block));
        }
        Some(followed)
    }

    /// Reads the blocks of the last day, those in memory and then those on disk.
    fn read_all(&self, now: u64) -> Followed {
        let head = self.chain.head();
        let mut payments = VecDeque::new();

        let held = head.blocks_from(0).rev();
        for block in held.take_while(|block| is_recent(block, now)) {
            self.prepend(&mut payments, block);
        }

        if oldest_held(&head).is_some_and(|oldest| is_recent(oldest, now)) {
            // A block that cannot be read ends the history: the node then forgets payments rather
            // than refuse all.
            let older = self
                .chain
                .older_blocks_changing(&head, self.account)
                .map_while(Result::ok);
            for block in older.take_while(|block| is_recent(block, now)) {
                self.prepend(&mut payments, &block);
            }
        }

        Followed {
            position: ChainPosition::of(&head),
            forgotten: None,
            payments,
        }
    }

    /// Puts the payments of a block before those of later ones.
    fn prepend(&self, payments: &mut VecDeque<Payment>, block: &Block) {
        let paid: Vec<_> = self.payments(block).collect();
        for payment in paid.into_iter().rev() {
            payments.push_front(payment);
        }
    }

    fn payments<'a>(&'a self, block: &'a Block) -> impl Iterator<Item = Payment> + 'a {
        let time = block.header.timestamp;
        let number = block.number();
        block
            .transactions
            .iter()
            .filter_map(move |transaction| self.payment(transaction, time, number))
    }

    fn payment(&self, transaction: &Transaction, time: u64, block: u64) -> Option<Payment> {
        let client = self.marks.read(transaction)?;
        let envelope = &transaction.envelope;
        let to = envelope.to()?;

        // A token is paid by a call that mints it, and anything else is a payment of the coin.
        let (token, recipient) = match Token::mintCall::abi_decode(envelope.input()) {
            Ok(mint) => (Some(to), mint.to),
            Err(_) => (None, to),
        };

        Some(Payment {
            token,
            recipient,
            client,
            time,
            block,
            nonce: envelope.nonce(),
        })
    }
}

fn oldest_held(head: &Head) -> Option<&Arc<Block>> {
    head.block(head.oldest())
}

fn is_recent(block: &Block, now: u64) -> bool {
    !is_expired(block.header.timestamp, now)
}

/// Whether a payment of this time no longer counts.
fn is_expired(time: u64, now: u64) -> bool {
    time.saturating_add(DAY) <= now
}
