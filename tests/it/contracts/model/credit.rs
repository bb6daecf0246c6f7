//! A user's credit history and its value.

use alloy_primitives::Uint;
use tetrad_contracts::contracts::bindings::{Clock, Credit};

const DAY: u64 = 86_400;

/// The result of the last observation of an account. The user's own operations are trusted;
/// observations by others must agree twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Found {
    #[default]
    Nothing,
    Enough,
    TooLittle,
}

/// Seconds of one kind, and the result of the last observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seconds {
    pub(crate) total: u64,
    found: Found,
}

impl Seconds {
    fn advance(&mut self, elapsed: u64, enough: bool) {
        let lost = match self.found {
            Found::Nothing => true,
            Found::Enough => false,
            Found::TooLittle => !enough && elapsed <= 2 * DAY,
        };
        self.total += if lost { 0 } else { elapsed };
    }

    fn settle(&mut self, enough: bool) {
        self.found = if enough {
            Found::Enough
        } else {
            Found::Nothing
        };
    }

    fn observe(&mut self, enough: bool) {
        self.found = match self.found {
            _ if enough => Found::Enough,
            Found::Nothing => Found::Nothing,
            _ => Found::TooLittle,
        };
    }

    fn clock(&self) -> Clock {
        match self.found {
            Found::Nothing => Clock::Stopped,
            Found::Enough => Clock::Running,
            Found::TooLittle => Clock::Doubted,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct History {
    pub(crate) at: u64,
    pub(crate) deposit: Seconds,
    pub(crate) healthy: Seconds,
    pub(crate) on_time: u64,
    pub(crate) penalty: u64,
    pub(crate) penalty_at: u64,
    pub(crate) due_at: u64,
    pub(crate) late: bool,
    pub(crate) band: usize,
    /// A bit per asset: debts, collateral, and assets that the owner excludes from collateral.
    pub(crate) borrowed: u64,
    pub(crate) collateral: u64,
    pub(crate) refused: u64,
    /// Only a later payment earns points.
    pub(crate) paid_until: u64,
    borrowed_at: Option<u64>,
    paid_at: Option<u64>,
    liquidated_at: Option<u64>,
}

/// The value of an account in dollars × 10^8, and its health in basis points. Only collateral
/// counts as supplied.
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

    /// Whether seconds count as those of a depositor, and as those of a healthy debt.
    pub(crate) fn counts(&self) -> (bool, bool) {
        let healthy =
            self.debt >= 50 * 100_000_000 && self.health().is_some_and(|health| health >= 15_000);
        (self.supplied >= 100 * 100_000_000, healthy)
    }
}

pub(crate) fn band_of(score: u64) -> usize {
    [580, 670, 740, 800]
        .iter()
        .filter(|floor| score >= **floor)
        .count()
}

impl History {
    pub(crate) fn advance(&mut self, worth: Worth, now: u64) {
        let elapsed = now - self.at;
        self.at = now;
        let (depositing, healthy) = worth.counts();
        self.deposit.advance(elapsed, depositing);
        self.healthy.advance(elapsed, healthy);
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
            + 150 * self.deposit.total.min(180 * DAY) / (180 * DAY)
            + 25 * self.on_time.min(10)
            + live
            + 100 * self.healthy.total.min(90 * DAY) / (90 * DAY);
        let overdue = if self.due_at != 0 && now > self.due_at {
            (now - self.due_at) / DAY
        } else {
            0
        };
        gained
            .saturating_sub(self.penalty_left(now) + overdue.min(100))
            .clamp(300, 850)
    }

    pub(crate) fn lend(&mut self, now: u64) {
        if self.due_at == 0 {
            self.due_at = now + 30 * DAY;
        }
        self.borrowed_at = Some(now);
    }

    pub(crate) fn pay(&mut self, paid: u128, debt: u128, now: u64) {
        let held = self.borrowed_at.is_none_or(|time| now >= time + DAY);
        if held && paid >= 50 * 100_000_000 && paid * 10 >= debt {
            if !self.late && now > self.paid_until {
                self.on_time += 1;
                self.paid_until = (self.paid_until + 30 * DAY).max(self.due_at);
            }
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
        let (depositing, healthy) = worth.counts();
        self.deposit.settle(depositing);
        self.healthy.settle(healthy);
        if !owes {
            (self.due_at, self.late) = (0, false);
        }
    }

    /// An observation by another account.
    pub(crate) fn observe(&mut self, worth: Worth) {
        let (depositing, healthy) = worth.counts();
        self.deposit.observe(depositing);
        self.healthy.observe(healthy);
    }

    /// The contract's representation, in which "never" is 0.
    pub(crate) fn stored(&self) -> Credit {
        let time = |seconds: u64| Uint::from(seconds);
        let maybe = |seconds: Option<u64>| Uint::from(seconds.unwrap_or_default());
        Credit {
            checkpointAt: time(self.at),
            depositSeconds: time(self.deposit.total),
            healthySeconds: time(self.healthy.total),
            penaltyAt: time(self.penalty_at),
            dueAt: time(self.due_at),
            penalty: self.penalty as u16,
            onTimePayments: self.on_time as u8,
            band: self.band as u8,
            depositClock: self.deposit.clock(),
            healthClock: self.healthy.clock(),
            late: self.late,
            lastBorrowAt: maybe(self.borrowed_at),
            lastPaymentAt: maybe(self.paid_at),
            lastLiquidationAt: maybe(self.liquidated_at),
            borrowed: self.borrowed,
            collateral: self.collateral,
            refused: self.refused,
            paidUntil: time(self.paid_until),
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
