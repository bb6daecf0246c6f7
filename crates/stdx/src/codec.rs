//! The binary encoding of data on disk: a sequence of numbers, byte strings and lists.
//!
//! The encoding is not self-describing: a reader knows what follows. It trusts nothing: every
//! length is checked against the remaining bytes before memory is allocated for it, and trailing
//! bytes are an error.

use alloy_primitives::U256;

/// The error for malformed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed {0}")]
pub struct Malformed(pub &'static str);

/// A writer of values to a buffer.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Returns the bytes written so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes written so far as a vector.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the number of bytes written so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Clears the buffer and keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Writes a byte.
    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Writes a number, seven bits a byte, the lowest first.
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// Writes a signed number in zigzag encoding, so that small absolute values are short.
    pub fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)) as u64);
    }

    /// Writes a number of 256 bits without its leading zeros.
    pub fn wide(&mut self, number: U256) {
        let bytes = number.to_be_bytes::<32>();
        let zeros = number.leading_zeros() / 8;
        self.byte((32 - zeros) as u8);
        self.raw(&bytes[zeros..]);
    }

    /// Writes bytes of a length that the reader knows.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes bytes after their length.
    pub fn string(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.raw(bytes);
    }

    /// Writes the `length` bytes that `write` appends to the buffer, after their length.
    pub fn string_with(&mut self, length: usize, write: impl FnOnce(&mut Vec<u8>)) {
        self.number(length as u64);
        write(&mut self.bytes);
    }

    /// Writes whether there is a value, and the value.
    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.byte(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }
}

/// A reader of values from a buffer.
#[derive(Clone, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Returns a reader of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns whether everything has been read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fails if there are trailing bytes.
    pub fn end(&self, what: &'static str) -> Result<(), Malformed> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(Malformed(what))
        }
    }

    /// Reads all remaining bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// Reads this many bytes.
    pub fn raw(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self
            .0
            .split_at_checked(length)
            .ok_or(Malformed("bytes: too few"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads an array.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.raw(N)?.try_into().map_err(|_| Malformed("array"))
    }

    /// Reads a byte.
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.raw(1)?[0])
    }

    /// Reads a [number](Writer::number).
    pub fn number(&mut self) -> Result<u64, Malformed> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // One bit of the tenth byte is left of the 64.
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Malformed("number"))
    }

    /// Reads a [signed number](Writer::signed).
    pub fn signed(&mut self) -> Result<i64, Malformed> {
        let folded = self.number()?;
        Ok((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    /// Reads a [number of 256 bits](Writer::wide).
    pub fn wide(&mut self) -> Result<U256, Malformed> {
        let length = usize::from(self.byte()?);
        U256::try_from_be_slice(self.raw(length)?).ok_or(Malformed("wide number"))
    }

    /// Reads a [byte string](Writer::string).
    pub fn string(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.number()?;
        self.raw(usize::try_from(length).map_err(|_| Malformed("length"))?)
    }

    /// Reads the number of the items that follow, each of which takes no less than `least` bytes.
    pub fn count(&mut self, least: usize) -> Result<usize, Malformed> {
        let count = usize::try_from(self.number()?).map_err(|_| Malformed("count"))?;
        // A made-up count must not have the caller allocate.
        if count.saturating_mul(least.max(1)) > self.0.len() {
            return Err(Malformed("count: more than there can be"));
        }
        Ok(count)
    }

    /// Reads an [optional value](Writer::option).
    pub fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        match self.byte()? {
            0 => Ok(None),
            1 => read(self).map(Some),
            _ => Err(Malformed("option")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip() {
        let mut writer = Writer::default();
        let numbers = [
            0,
            1,
            127,
            128,
            300,
            u64::from(u32::MAX),
            u64::MAX - 1,
            u64::MAX,
        ];
        let signed = [0, -1, 1, i64::MIN, i64::MAX];
        let wide = [U256::ZERO, U256::ONE, U256::from(256), U256::MAX];

        numbers.iter().for_each(|&number| writer.number(number));
        signed.iter().for_each(|&number| writer.signed(number));
        wide.iter().for_each(|&number| writer.wide(number));

        let mut reader = Reader::new(writer.bytes());
        assert_eq!(numbers.map(|_| reader.number().unwrap()), numbers);
        assert_eq!(signed.map(|_| reader.signed().unwrap()), signed);
        assert_eq!(wide.map(|_| reader.wide().unwrap()), wide);
        assert_eq!(reader.end("rest"), Ok(()));
    }

    #[test]
    fn malformed_values_are_rejected() {
        assert!(
            Reader::new(&[0xff; 10]).number().is_err(),
            "more than 64 bits"
        );
        assert!(Reader::new(&[0x80]).number().is_err(), "ends too soon");
        assert!(Reader::new(&[33; 40]).wide().is_err(), "more than 256 bits");
        assert!(Reader::new(&[5, 1, 2]).string().is_err());
        assert!(
            Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x0f])
                .count(1)
                .is_err()
        );
        assert!(Reader::new(&[2]).option(|_| Ok(())).is_err());
        assert!(Reader::new(&[1]).end("rest").is_err());
    }
}
