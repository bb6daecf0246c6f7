//! A JSON writer: blocks, transactions, receipts and logs make up nearly everything that a node sends, and a writer for
//! hex strings alone takes a tenth of a general one's time.

use std::io;

use alloy_primitives::{Address, B64, B256, Bloom, Bytes, U256, hex};
use serde::Serialize;
use serde_json::{Value, json};

use super::{hex::Quantity, schema};
use crate::web::{AnswerError, Room};

/// The size in bytes from which written JSON keeps its buffer when it is appended.
const LONG: usize = 16 << 10;

/// A value that writes itself as JSON.
pub(crate) trait Json {
    /// Appends the JSON.
    fn write(&self, out: &mut Vec<u8>);

    /// The JSON on its own. JSON that is already written is not copied.
    fn into_json(self) -> Vec<u8>
    where
        Self: Sized,
    {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// Appends the JSON. Long JSON that is already written keeps its buffer, which replaces that of `out`: the shorter
    /// content of `out` is inserted in front.
    fn append_to(self, out: &mut Vec<u8>)
    where
        Self: Sized,
    {
        self.write(out);
    }

    /// The JSON schema of the value, inferred from an example where the type does not define one.
    fn schema(example: Option<&Value>) -> Value {
        schema::of_example(example)
    }
}

/// An object under construction; its members are written in the order in which they are named.
pub(crate) struct Object<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> Object<'a> {
    pub(crate) fn begin(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, empty: true }
    }

    /// A member. The name must need no escape.
    pub(crate) fn member(&mut self, name: &str, value: &(impl Json + ?Sized)) -> &mut Self {
        value.write(self.name(name));
        self
    }

    /// A member that is left out where there is no value.
    pub(crate) fn optional(&mut self, name: &str, value: &Option<impl Json>) -> &mut Self {
        if let Some(value) = value {
            self.member(name, value);
        }
        self
    }

    /// Begins a member, whose value the caller writes next.
    #[inline]
    pub(crate) fn name(&mut self, name: &str) -> &mut Vec<u8> {
        self.out.extend_from_slice(if self.empty { b"\"" } else { b",\"" });
        self.empty = false;
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    pub(crate) fn end(&mut self) {
        self.out.push(b'}');
    }
}

/// Writes an array whose elements `write` writes.
pub(crate) fn array<T>(out: &mut Vec<u8>, items: impl IntoIterator<Item = T>, mut write: impl FnMut(T, &mut Vec<u8>)) {
    out.push(b'[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

/// Writes an array while there is room for `out`.
pub(crate) fn array_within<T>(
    out: &mut Vec<u8>,
    room: &mut Room,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut Vec<u8>),
) -> Result<(), AnswerError> {
    out.push(b'[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(item, out);
        room.ask(out.len())?;
    }
    out.push(b']');
    Ok(())
}

/// `"0x…"` of at most 32 bytes, appended at once.
fn short_data(bytes: &[u8], out: &mut Vec<u8>) {
    let mut text = [b'"'; 3 + 64 + 1];
    text[1..3].copy_from_slice(b"0x");
    let end = 3 + 2 * bytes.len();
    // The slice has exactly the required size, so this cannot fail.
    let _ = hex::encode_to_slice(bytes, &mut text[3..end]);
    out.extend_from_slice(&text[..=end]);
}

/// `"0x…"`.
fn data(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.len() <= 32 {
        return short_data(bytes, out);
    }
    out.extend_from_slice(b"\"0x");
    let start = out.len();
    out.resize(start + 2 * bytes.len(), 0);
    // The buffer has exactly the required size, so this cannot fail.
    let _ = hex::encode_to_slice(bytes, &mut out[start..]);
    out.push(b'"');
}

impl<T: Json> Json for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.write(out),
            None => out.extend_from_slice(b"null"),
        }
    }

    fn schema(example: Option<&Value>) -> Value {
        schema::or_null(T::schema(example.filter(|example| !example.is_null())))
    }
}

impl<T: Json> Json for [T] {
    fn write(&self, out: &mut Vec<u8>) {
        array(out, self, |item, out| item.write(out));
    }

    fn schema(example: Option<&Value>) -> Value {
        schema::array(T::schema(example.and_then(|example| example.get(0))))
    }
}

impl<T: Json> Json for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.as_slice().write(out);
    }

    fn schema(example: Option<&Value>) -> Value {
        <[T]>::schema(example)
    }
}

/// JSON that has already been written.
#[derive(Clone, Debug)]
pub(crate) struct Written(pub(crate) Vec<u8>);

impl Json for Written {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }

    fn into_json(self) -> Vec<u8> {
        self.0
    }

    fn append_to(mut self, out: &mut Vec<u8>) {
        if self.0.len() > out.len().max(LONG) {
            self.0.splice(0..0, out.drain(..));
            *out = self.0;
        } else {
            self.write(out);
        }
    }
}

/// A value that serde writes, for shapes that are sent rarely.
#[derive(Clone, Debug)]
pub(super) struct Serialized<T>(pub(super) T);

impl<T: Serialize> Json for Serialized<T> {
    fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        if let Err(error) = serde_json::to_writer(&mut *out, &self.0) {
            // Only a map whose keys are not strings can fail.
            tracing::error!(%error, "an answer could not be written");
            out.truncate(start);
            out.extend_from_slice(b"null");
        }
    }
}

impl<T: Serialize> Serialized<T> {
    /// Appends the JSON while there is room for `out`.
    pub(super) fn write_within(&self, out: &mut Vec<u8>, room: &mut Room) -> Result<(), AnswerError> {
        Ok(serde_json::to_writer(Bounded { out, room }, &self.0)?)
    }
}

/// Appends to a vector while there is room for it.
struct Bounded<'a> {
    out: &'a mut Vec<u8>,
    room: &'a mut Room,
}

impl io::Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.room.ask(self.out.len() + bytes.len()).map_err(io::Error::other)?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Json for str {
    fn write(&self, out: &mut Vec<u8>) {
        Serialized(self).write(out);
    }

    fn schema(_: Option<&Value>) -> Value {
        json!({"type": "string"})
    }
}

impl<T: Json + ?Sized> Json for &T {
    fn write(&self, out: &mut Vec<u8>) {
        T::write(self, out);
    }

    fn schema(example: Option<&Value>) -> Value {
        T::schema(example)
    }
}

impl Json for String {
    fn write(&self, out: &mut Vec<u8>) {
        self.as_str().write(out);
    }

    fn schema(example: Option<&Value>) -> Value {
        str::schema(example)
    }
}

impl Json for () {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"null");
    }

    fn schema(_: Option<&Value>) -> Value {
        json!({"type": "null"})
    }
}

impl Json for i64 {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.to_string().as_bytes());
    }

    fn schema(_: Option<&Value>) -> Value {
        json!({"type": "integer"})
    }
}

impl Json for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }

    fn schema(_: Option<&Value>) -> Value {
        json!({"type": "boolean"})
    }
}

macro_rules! as_data {
    ($($name:ty: $bytes:expr),+) => {
        $(impl Json for $name {
            fn write(&self, out: &mut Vec<u8>) {
                data(self.as_ref(), out);
            }

            fn schema(_: Option<&Value>) -> Value {
                schema::data($bytes)
            }
        })+
    };
}

as_data!(Address: Some(20), B64: Some(8), B256: Some(32), Bloom: Some(256), Bytes: None);

impl Json for Quantity<u128> {
    fn write(&self, out: &mut Vec<u8>) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let (mut digits, mut first, mut left) = ([0; 32], 32, self.0);
        while left != 0 || first == 32 {
            first -= 1;
            digits[first] = DIGITS[left as usize & 0xf];
            left >>= 4;
        }
        out.extend_from_slice(b"\"0x");
        out.extend_from_slice(&digits[first..]);
        out.push(b'"');
    }

    fn schema(_: Option<&Value>) -> Value {
        schema::quantity()
    }
}

macro_rules! as_quantity {
    ($($name:ty),+) => {
        $(impl Json for Quantity<$name> {
            fn write(&self, out: &mut Vec<u8>) {
                Quantity(self.0 as u128).write(out);
            }

            fn schema(_: Option<&Value>) -> Value {
                schema::quantity()
            }
        })+
    };
}

as_quantity!(u8, u64, usize);

impl Json for Quantity<U256> {
    fn write(&self, out: &mut Vec<u8>) {
        if let Ok(small) = u128::try_from(self.0) {
            return Quantity(small).write(out);
        }
        let bytes = self.0.to_be_bytes::<32>();
        let mut digits = [0; 64];
        let _ = hex::encode_to_slice(bytes, &mut digits);
        let zeros = self.0.leading_zeros() / 4;
        out.extend_from_slice(b"\"0x");
        out.extend_from_slice(&digits[zeros..]);
        out.push(b'"');
    }

    fn schema(_: Option<&Value>) -> Value {
        schema::quantity()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(value: impl Json) -> String {
        let mut out = Vec::new();
        value.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    proptest! {
        #[test]
        fn writes_what_the_general_writer_does(words in any::<[u64; 4]>(), small in any::<u64>(), bytes in prop::collection::vec(any::<u8>(), 0..100), shift in 0usize..256) {
            let large = U256::from_limbs(words) >> shift;
            prop_assert_eq!(written(Quantity(large)), serde_json::to_string(&Quantity(large)).unwrap());
            prop_assert_eq!(written(Quantity(small)), serde_json::to_string(&Quantity(small)).unwrap());
            let bytes = Bytes::from(bytes);
            prop_assert_eq!(written(bytes.clone()), serde_json::to_string(&bytes).unwrap());
            let hash = B256::from(large);
            prop_assert_eq!(written(vec![Some(hash), None]), serde_json::to_string(&[Some(hash), None]).unwrap());
        }
    }

    #[test]
    fn long_json_is_appended_behind_what_was_written() {
        for (before, length) in [(0, LONG + 1), (10, LONG), (10, LONG + 1), (2 * LONG, LONG + 1), (2 * LONG, 3 * LONG)]
        {
            let (mut appended, mut copied) = (vec![b'a'; before], vec![b'a'; before]);
            Written(vec![b'b'; length]).write(&mut copied);
            Written(vec![b'b'; length]).append_to(&mut appended);
            assert!(appended == copied, "{length} behind {before}");
        }
    }

    #[test]
    fn writes_members_in_order() {
        let mut out = Vec::new();
        let mut object = Object::begin(&mut out);
        object.member("a", &true).optional("b", &None::<bool>).member("c", &Quantity(0u64)).end();
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"a":true,"c":"0x0"}"#);
    }
}
