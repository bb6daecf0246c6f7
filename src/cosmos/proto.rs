//! The few messages of protocol buffers that clients of a Cosmos node exchange inside `abci_query`.

/// A message cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH_DELIMITED: u64 = 2;
const FIXED32: u64 = 5;

/// A message that is being written, field by field in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// With a text, bytes or another message. Empty ones are left out, as in all of proto3.
    pub(super) fn with(mut self, field: u64, content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref();
        if !content.is_empty() {
            self.varint(field << 3 | LENGTH_DELIMITED);
            self.varint(content.len() as u64);
            self.0.extend_from_slice(content);
        }
        self
    }

    /// With a message that is there even if it is empty.
    pub(super) fn with_message(mut self, field: u64, message: &Self) -> Self {
        self.varint(field << 3 | LENGTH_DELIMITED);
        self.varint(message.0.len() as u64);
        self.0.extend_from_slice(&message.0);
        self
    }

    /// With a number. Zero is left out.
    pub(super) fn with_number(mut self, field: u64, number: u64) -> Self {
        if number > 0 {
            self.varint(field << 3 | VARINT);
            self.varint(number);
        }
        self
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The text in a field; empty if there is none. Of several the last counts.
pub(super) fn text(mut message: &[u8], wanted: u64) -> Result<&str, Malformed> {
    let mut found: &[u8] = &[];
    while !message.is_empty() {
        let key = varint(&mut message)?;
        let length = match key & 7 {
            VARINT => {
                varint(&mut message)?;
                continue;
            }
            FIXED64 => 8,
            FIXED32 => 4,
            LENGTH_DELIMITED => usize::try_from(varint(&mut message)?).map_err(|_| Malformed)?,
            _ => return Err(Malformed),
        };
        let (content, rest) = message.split_at_checked(length).ok_or(Malformed)?;
        message = rest;
        if key == wanted << 3 | LENGTH_DELIMITED {
            found = content;
        }
    }
    std::str::from_utf8(found).map_err(|_| Malformed)
}

fn varint(from: &mut &[u8]) -> Result<u64, Malformed> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first().ok_or(Malformed)?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(Malformed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_documentation_s_example_is_written_so() {
        // https://protobuf.dev/programming-guides/encoding: `a: 150` and `b: "testing"`.
        let message = Message::default().with_number(1, 150).with(2, "testing");
        assert_eq!(message.as_ref(), b"\x08\x96\x01\x12\x07testing");
        assert_eq!(text(message.as_ref(), 2), Ok("testing"));
        assert_eq!(text(message.as_ref(), 1), Ok(""));
        assert!(Message::default().with_number(1, 0).with(2, "").as_ref().is_empty());
        assert_eq!(Message::default().with_message(2, &Message::default()).as_ref(), b"\x12\x00");
    }

    #[test]
    fn what_is_cut_off_is_malformed() {
        for bytes in
            [&b"\x12\x07test"[..], b"\x08", b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"\x0b", b"\x12\x01\xff"]
        {
            assert_eq!(text(bytes, 2), Err(Malformed), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40), field in 1u64..5) {
            let _ = text(&bytes, field);
        }

        #[test]
        fn what_is_written_is_read(a in ".{0,300}", b in ".{0,9}", number in any::<u64>()) {
            let message = Message::default().with(1, &a).with_number(2, number).with(3, &b);
            prop_assert_eq!(text(message.as_ref(), 1), Ok(a.as_str()));
            prop_assert_eq!(text(message.as_ref(), 3), Ok(b.as_str()));
        }
    }
}
