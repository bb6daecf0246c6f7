//! Binary encoding of minutes, as differences to the previous ones. A month of twelve prices takes
//! a few megabytes at most.

use std::sync::Arc;

use alloy_primitives::U256;
use tetrad_stdx::codec::{Malformed, Reader, Writer};

use super::{Bar, GROUP_MINUTES, Group, HELD_MINUTES, MinuteRow, Minutes};

/// Encodings of a row.
const SAME: u8 = 0;
const FLAT: u8 = 1;
const FULL: u8 = 2;

impl Minutes {
    /// Writes all minutes.
    pub(crate) fn write(&self, out: &mut Writer) {
        for number in [
            self.origin,
            self.first,
            self.present,
            self.fixed,
            self.bars.len() as u64,
        ] {
            out.number(number);
        }

        // Rows are written as differences to the row before; the first has none before it.
        let none: MinuteRow = self.bars.iter().map(|_| Bar::flat(0)).collect();
        let mut before = &none;

        for row in self.groups.iter().flat_map(|group| &group.rows) {
            if row == before {
                out.byte(SAME);
            } else if row
                .iter()
                .zip(before.iter())
                .all(|(bar, before)| *bar == Bar::flat(before.close))
            {
                out.byte(FLAT);
            } else {
                out.byte(FULL);
                write_row(out, row, before);
            }
            before = row;
        }
        write_row(out, &self.bars, before);

        let over = self.groups.iter().flat_map(|group| &group.volumes).copied();
        let present = self
            .volumes
            .iter()
            .map(|(token, usd_e8)| (self.present, *token, *usd_e8));
        let volumes: Vec<_> = over.chain(present).collect();
        out.number(volumes.len() as u64);
        for (minute, token, usd_e8) in volumes {
            out.number(minute - self.first);
            out.number(token as u64);
            out.wide(U256::from(usd_e8));
        }
    }

    /// Reads all minutes.
    pub(crate) fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let origin = from.number()?;
        let first = from.number()?;
        let present = from.number()?;
        let fixed = from.number()?;
        let tokens = from.number()?;

        // A damaged file must not have much memory allocated.
        let count = present
            .checked_sub(first)
            .filter(|count| *count <= HELD_MINUTES + 2 * GROUP_MINUTES);
        let count = count.ok_or(Malformed("minutes"))?;
        let tokens = usize::try_from(tokens)
            .ok()
            .filter(|tokens| *tokens <= 10_000)
            .ok_or(Malformed("tokens"))?;

        let mut minutes = Self {
            present: first,
            origin,
            first,
            fixed,
            ..Self::starting(0, &vec![0; tokens])
        };

        let mut before: MinuteRow = minutes.bars.as_slice().into();
        for _ in 0..count {
            let row = match from.byte()? {
                SAME => before.clone(),
                FLAT => before.iter().map(|bar| Bar::flat(bar.close)).collect(),
                FULL => read_row(from, &before)?.into(),
                _ => return Err(Malformed("minute")),
            };
            minutes.push(row.clone(), Vec::new());
            before = row;
        }
        minutes.bars = read_row(from, &before)?;

        for _ in 0..from.number()? {
            let minute = first
                .checked_add(from.number()?)
                .filter(|minute| *minute <= present);
            let minute = minute.ok_or(Malformed("minute of a volume"))?;
            let token =
                usize::try_from(from.number()?).map_err(|_| Malformed("token of a volume"))?;
            let usd_e8 = from.wide()?.try_into().map_err(|_| Malformed("volume"))?;

            let index = minutes.group_index(minute);
            if minute == present {
                minutes.volumes.push((token, usd_e8));
            } else if let Some(group) = minutes.groups.get_mut(index) {
                let group: &mut Group = Arc::make_mut(group);
                group.volumes.push((minute, token, usd_e8));
            }
        }
        Ok(minutes)
    }
}

fn write_row(out: &mut Writer, row: &[Bar], before: &[Bar]) {
    for (bar, before) in row.iter().zip(before) {
        // The opening price lies between low and high, and no price needs 64 bits.
        out.signed(bar.open.wrapping_sub(before.close) as i64);
        out.number(bar.high.wrapping_sub(bar.open));
        out.number(bar.open.wrapping_sub(bar.low));
        out.signed(bar.close.wrapping_sub(bar.open) as i64);
    }
}

fn read_row(from: &mut Reader<'_>, before: &[Bar]) -> Result<Vec<Bar>, Malformed> {
    before.iter().map(|before| read_bar(from, before)).collect()
}

fn read_bar(from: &mut Reader<'_>, before: &Bar) -> Result<Bar, Malformed> {
    let open = before.close.wrapping_add(from.signed()? as u64);
    let high = open.wrapping_add(from.number()?);
    let low = open.wrapping_sub(from.number()?);
    Ok(Bar {
        open,
        high,
        low,
        close: open.wrapping_add(from.signed()? as u64),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tetrad_stdx::calendar::MINUTE;

    use super::*;
    use crate::minutes::QUERIED_MINUTES;

    fn bytes(minutes: &Minutes) -> Vec<u8> {
        let mut out = Writer::default();
        minutes.write(&mut out);
        out.into_bytes()
    }

    proptest! {
        /// Minutes that were read continue as those that were written.
        #[test]
        fn minutes_are_read_as_they_were_written(
            steps in prop::collection::vec(
                (0u64..9_000, 0usize..3, 0u64..1 << 62, any::<bool>()),
                0..200,
            ),
            more in prop::collection::vec((0u64..9_000, 0usize..3, 0u64..1 << 62), 0..20),
        ) {
            assert_read_as_written(steps, more)?;
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = Minutes::read(&mut Reader::new(&bytes));
        }
    }

    fn assert_read_as_written(
        steps: Vec<(u64, usize, u64, bool)>,
        more: Vec<(u64, usize, u64)>,
    ) -> Result<(), TestCaseError> {
        let mut time = 1_000_000;
        let mut minutes = Minutes::starting(time, &[5, 6, u64::MAX >> 1]);

        for (seconds, token, price, traded) in steps {
            time += seconds;
            minutes.advance(time);
            minutes.set(token, price, time);
            if traded {
                minutes.add_volume(token, u128::from(price) << 64);
                minutes.add_volume(usize::MAX, 1);
            }
        }

        let stored = bytes(&minutes);
        let from = &mut Reader::new(&stored);
        let mut read = Minutes::read(from).unwrap();
        prop_assert!(from.is_empty());

        for (seconds, token, price) in more {
            time += seconds;
            for minutes in [&mut minutes, &mut read] {
                minutes.advance(time);
                minutes.set(token, price, time);
            }
        }

        prop_assert_eq!(bytes(&read), bytes(&minutes));
        for minute in *minutes.held().start()..=*minutes.held().end() {
            prop_assert_eq!(read.bar(minute, 0), minutes.bar(minute, 0));
        }

        let back = time - 3 * MINUTE;
        prop_assert_eq!(read.rewind(back), minutes.rewind(back));
        Ok(())
    }

    #[test]
    fn a_busy_month_takes_a_few_megabytes() {
        let mut minutes = Minutes::starting(0, &[1_000_000_000; 12]);
        for minute in 0..QUERIED_MINUTES {
            minutes.advance(minute * MINUTE + 1);
            (0..12).for_each(|token| {
                minutes.set(
                    token,
                    1_000_000_000 + (minute * 7_919) % 100_003,
                    minute * MINUTE + 2,
                )
            });
        }
        assert!(bytes(&minutes).len() < 8 << 20, "{}", bytes(&minutes).len());
    }
}
