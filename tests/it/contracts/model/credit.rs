//! A user's credit history and what it is worth.

use alloy_primitives::Uint;
use tetrad::internals::contracts::bindings::Credit;

const DAY: u64 = 86_400;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct History {
    pub(crate) at: u64,
    pub(crate) deposit_seconds: u64,
    pub(crate) healthy_seconds: u64,
    pub(crate) on_time: u64,
    pub(crate) penalty: u64,
    pub(crate) penalty_at: u64,
    pub(crate) due_at: u64,
    pub(crate) late: bool,
    pub(crate) band: usize,
    pub(crate) held: u64,
    depositing: bool,
    healthy: bool,
    borrowed_at: Option<u64>,
    paid_at: Option<u64>,
    liquidated_at: Option<u64>,
}

/// What an account is worth, in dollars times 10^8, and its health in basis points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worth {
    pub(crate) supplied: u128,
    pub(crate) debt: u128,
    pub(crate) cover: u128,
}

impl Worth {
    pub(crate) fn health(&self) -> Option<u128> {
        (self.debt > 0).then(|| self.cover * 10_000 / self.debt)
    }
}

pub(crate) fn band_of(score: u64) -> usize {
    [580, 670, 740, 800].iter().filter(|floor| score >= **floor).count()
}

impl History {
    pub(crate) fn advance(&mut self, now: u64) {
        let elapsed = now - self.at;
        self.at = now;
        self.deposit_seconds += if self.depositing { elapsed } else { 0 };
        self.healthy_seconds += if self.healthy { elapsed } else { 0 };
        if self.due_at != 0 && now > self.due_at && !self.late {
            self.late = true;
            self.penalise(40, self.due_at);
        }
    }

    pub(crate) fn score(&self, worth: Worth) -> u64 {
        let now = self.at;
        let live = match worth.health() {
            _ if worth.supplied < 100 * 100_000_000 => 0,
            None => 50,
            Some(health) => (health.clamp(10_000, 20_000) - 10_000) as u64 * 50 / 10_000,
        };
        let gained = 300
            + 150 * self.deposit_seconds.min(180 * DAY) / (180 * DAY)
            + 25 * self.on_time.min(10)
            + live
            + 100 * self.healthy_seconds.min(90 * DAY) / (90 * DAY);
        let overdue = if self.due_at != 0 && now > self.due_at { (now - self.due_at) / DAY } else { 0 };
        gained.saturating_sub(self.penalty_left(now) + overdue.min(100)).clamp(300, 850)
    }

    pub(crate) fn lend(&mut self, now: u64) {
        if self.due_at == 0 {
            self.due_at = now + 30 * DAY;
        }
        self.borrowed_at = Some(now);
    }

    pub(crate) fn pay(&mut self, paid: u128, debt: u128, now: u64) {
        let a_day_ago = |time: Option<u64>| time.is_none_or(|time| now >= time + DAY);
        let enough = paid >= 50 * 100_000_000 && paid * 10 >= debt;
        if enough && a_day_ago(self.borrowed_at) && a_day_ago(self.paid_at) {
            self.on_time += u64::from(!self.late);
            self.paid_at = Some(now);
            self.due_at = now + 30 * DAY;
            self.late = false;
        }
    }

    pub(crate) fn liquidate(&mut self, now: u64) {
        if self.liquidated_at.is_none_or(|time| now >= time + DAY) {
            self.liquidated_at = Some(now);
            self.penalise(100, now);
        }
    }

    pub(crate) fn settle(&mut self, worth: Worth, owes: bool) {
        self.depositing = worth.supplied >= 100 * 100_000_000;
        self.healthy = worth.debt >= 50 * 100_000_000 && worth.health().is_some_and(|health| health >= 15_000);
        if !owes {
            (self.due_at, self.late) = (0, false);
        }
    }

    /// The same as the contract keeps it, where "never" is 0.
    pub(crate) fn stored(&self) -> Credit {
        let time = |seconds: u64| Uint::from(seconds);
        let maybe = |seconds: Option<u64>| Uint::from(seconds.unwrap_or_default());
        Credit {
            checkpointAt: time(self.at),
            depositSeconds: time(self.deposit_seconds),
            healthySeconds: time(self.healthy_seconds),
            penaltyAt: time(self.penalty_at),
            dueAt: time(self.due_at),
            penalty: self.penalty as u16,
            onTimePayments: self.on_time as u8,
            band: self.band as u8,
            depositing: self.depositing,
            healthy: self.healthy,
            late: self.late,
            lastBorrowAt: maybe(self.borrowed_at),
            lastPaymentAt: maybe(self.paid_at),
            lastLiquidationAt: maybe(self.liquidated_at),
            held: self.held,
        }
    }

    fn penalty_left(&self, time: u64) -> u64 {
        self.penalty * (180 * DAY).saturating_sub(time - self.penalty_at) / (180 * DAY)
    }

    fn penalise(&mut self, points: u64, time: u64) {
        self.penalty = (self.penalty_left(time) + points).min(550);
        self.penalty_at = time;
    }
}
