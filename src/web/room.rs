//! The room for a body under construction, which is asked for as the body grows.

use super::{Answer, Budget, Held, answer::AnswerError, budget::UNCOUNTED};

/// Bytes that are asked for ahead of what is written.
const AHEAD: usize = 64 << 10;

/// A limit of bytes, and the memory of the node for bodies in transit.
#[derive(Debug)]
pub struct Room {
    limit: usize,
    budget: Budget,
    held: Held,
    /// The length up to which there is room for certain.
    granted: usize,
}

impl Room {
    /// Room for a body of at most `limit` bytes, which counts against `budget`.
    pub fn new(budget: Budget, limit: usize) -> Self {
        Self { limit, budget, held: Held::default(), granted: 0 }
    }

    /// The largest length.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Asks for the room for a body of this length.
    pub fn ask(&mut self, length: usize) -> Result<(), AnswerError> {
        if length > self.limit {
            return Err(AnswerError::TooLong(self.limit));
        }
        if length <= self.granted {
            return Ok(());
        }
        // Most bodies are short, and none of those is refused.
        let ahead = if length <= UNCOUNTED { UNCOUNTED } else { length + AHEAD };
        let granted =
            [ahead.min(self.limit), length].into_iter().find(|granted| self.budget.try_grow(&mut self.held, *granted));
        self.granted = granted.ok_or(AnswerError::NoRoom)?;
        Ok(())
    }

    /// Takes over the memory of what becomes a part of the body.
    pub(super) fn merge(&mut self, held: Held) -> Result<(), AnswerError> {
        if self.budget.merge(&mut self.held, held) { Ok(()) } else { Err(AnswerError::NoRoom) }
    }

    /// The body, with the memory that it holds. What lies beyond its end was never written, and takes none.
    pub(super) fn filled_with(mut self, bytes: Vec<u8>) -> Answer {
        self.held.shrink_to(bytes.len());
        Answer::new(bytes, self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_stops_growing_when_the_memory_is_used_up() {
        let budget = Budget::new(1 << 20);
        let mut first = Room::new(budget.clone(), 64 << 20);
        assert_eq!((first.ask(100), first.ask(700_000)), (Ok(()), Ok(())));
        let mut second = Room::new(budget.clone(), 64 << 20);
        assert_eq!(second.ask(700_000), Err(AnswerError::NoRoom));
        drop(first);
        assert_eq!(second.ask(700_000), Ok(()));

        drop(second);
        let mut all = Held::default();
        assert!(budget.try_grow(&mut all, 1 << 20));
        let mut brief = Room::new(budget.clone(), 64 << 20);
        assert_eq!((brief.ask(10), brief.ask(UNCOUNTED)), (Ok(()), Ok(())), "short bodies are not refused");
        assert_eq!(brief.ask(UNCOUNTED + 1), Err(AnswerError::NoRoom));

        let mut short = Room::new(budget, 1_000);
        assert_eq!((short.ask(1_000), short.ask(1_001)), (Ok(()), Err(AnswerError::TooLong(1_000))));
    }
}
