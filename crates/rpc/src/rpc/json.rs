//! A JSON writer: blocks, transactions, receipts and logs make up nearly everything that a node
//! sends, and a writer for hex strings alone takes a tenth of a general one's time.

use std::{io, marker::PhantomData};

use alloy_primitives::{Address, B64, B256, Bloom, Bytes, U256, hex};
use serde::Serialize;
use serde_json::{Value, json};
use tetrad_web::{Answer, AnswerError, AnswerWriter, Budget};

use super::{hex::Quantity, schema};

/// JSON under construction, which counts against the memory for responses as it grows. Where that
/// ends, whatever is written afterwards is dropped: values write themselves without looking, and
/// [`check`](Self::check) says whether all of it is there.
#[derive(Debug)]
pub(super) struct JsonWriter {
    out: AnswerWriter,
    refused: Option<AnswerError>,
}

impl JsonWriter {
    /// An empty document of at most `limit` bytes.
    pub(super) fn new(budget: &Budget, limit: usize) -> Self {
        Self {
            out: AnswerWriter::within(budget.clone(), limit),
            refused: None,
        }
    }

    /// Appends a byte.
    #[inline(always)]
    pub(super) fn push(&mut self, byte: u8) {
        self.extend_from_slice(&[byte]);
    }

    /// Appends bytes. Nearly all fit; what still does after a refusal is of no use, and does no
    /// harm.
    #[inline(always)]
    pub(super) fn extend_from_slice(&mut self, bytes: &[u8]) {
        if !self.out.push_fitting(bytes) {
            self.grow_and_extend(bytes);
        }
    }

    #[cold]
    fn grow_and_extend(&mut self, bytes: &[u8]) {
        if self.refused.is_none() {
            self.refused = self.out.push(bytes).err();
        }
    }

    /// Appends the hex digits of bytes.
    pub(super) fn digits(&mut self, bytes: &[u8]) {
        if self.refused.is_some() {
            return;
        }
        let written = self.out.push_with(2 * bytes.len(), |digits| {
            // There are exactly two digits for each byte, so this cannot fail.
            let _ = hex::encode_to_slice(bytes, digits);
        });
        self.refused = written.err();
    }

    /// Appends what is needed even if there is no memory: a refusal, or what separates responses.
    #[inline]
    pub(super) fn extend_anyway(&mut self, text: &str) {
        if !self.out.push_fitting(text.as_bytes()) {
            self.out.push_anyway(text.as_bytes());
        }
    }

    /// Grows the buffer for more bytes at once.
    pub(super) fn reserve(&mut self, more: usize) {
        if self.refused.is_none() {
            self.refused = self.out.reserve(more).err();
        }
    }

    /// Has `write` append at most `most` bytes, apart from what was written before. Returns whether
    /// that was enough: if not, only a part is there.
    pub(super) fn write_short(&mut self, most: usize, write: impl FnOnce(&mut Self)) -> bool {
        let bound = self.out.length().saturating_add(most);
        let before = self.out.limit_to(bound);
        write(self);
        self.out.limit_to(before);
        self.refused != Some(AnswerError::TooLong(bound))
    }

    /// Whether everything is there, or why not.
    pub(super) fn check(&self) -> Result<(), AnswerError> {
        self.refused.map_or(Ok(()), Err)
    }

    /// The number of bytes that were written.
    pub(super) fn len(&self) -> usize {
        self.out.length()
    }

    /// Removes everything from a length on, and what was dropped after it.
    pub(super) fn truncate(&mut self, length: usize) {
        self.out.truncate(length);
        self.refused = None;
    }

    /// The bytes that were written.
    pub(super) fn bytes(&self) -> &[u8] {
        self.out.bytes()
    }

    /// The same, to change it in place.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.out.bytes_mut()
    }

    /// The bytes that were written, as a body.
    pub(super) fn into_answer(self) -> Answer {
        self.out.finish()
    }

    /// The document.
    pub(super) fn finish(self) -> Result<Written, AnswerError> {
        self.check().map(|()| Written(self.out.finish()))
    }
}

/// A value that writes itself as JSON.
pub(super) trait Json {
    /// Appends the JSON.
    fn write(&self, out: &mut JsonWriter);

    /// Appends the JSON. Long JSON that is already written is not copied.
    fn append_to(self, out: &mut JsonWriter)
    where
        Self: Sized,
    {
        self.write(out);
    }

    /// Whether the JSON is written already.
    fn is_written(&self) -> bool {
        false
    }

    /// The JSON schema of the value, inferred from an example where the type does not define one.
    fn schema(example: Option<&Value>) -> Value {
        schema::of_example(example)
    }
}

/// An object under construction; its members are written in the order in which they are named.
pub(super) struct Object<'a> {
    out: &'a mut JsonWriter,
    empty: bool,
}

impl<'a> Object<'a> {
    pub(super) fn begin(out: &'a mut JsonWriter) -> Self {
        out.push(b'{');
        Self { out, empty: true }
    }

    /// A member. The name must need no escape.
    pub(super) fn member(&mut self, name: &str, value: &(impl Json + ?Sized)) -> &mut Self {
        value.write(self.name(name));
        self
    }

    /// A member that is left out where there is no value.
    pub(super) fn optional(&mut self, name: &str, value: &Option<impl Json>) -> &mut Self {
        if let Some(value) = value {
            self.member(name, value);
        }
        self
    }

    /// Begins a member, whose value the caller writes next.
    #[inline]
    pub(super) fn name(&mut self, name: &str) -> &mut JsonWriter {
        self.out
            .extend_from_slice(if self.empty { b"\"" } else { b",\"" });
        self.empty = false;
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    pub(super) fn end(&mut self) {
        self.out.push(b'}');
    }
}

/// Writes an array whose elements `write` writes, as long as there is memory for them.
pub(super) fn array<T>(
    out: &mut JsonWriter,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut JsonWriter),
) {
    out.push(b'[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(item, out);
        if out.check().is_err() {
            return;
        }
    }
    out.push(b']');
}

/// `"0x…"` of at most 32 bytes, appended at once.
fn short_data(bytes: &[u8], out: &mut JsonWriter) {
    let mut text = [b'"'; 3 + 64 + 1];
    text[1..3].copy_from_slice(b"0x");
    let end = 3 + 2 * bytes.len();
    // The slice has exactly the required size, so this cannot fail.
    let _ = hex::encode_to_slice(bytes, &mut text[3..end]);
    out.extend_from_slice(&text[..=end]);
}

/// `"0x…"`.
fn data(bytes: &[u8], out: &mut JsonWriter) {
    if bytes.len() <= 32 {
        return short_data(bytes, out);
    }
    out.extend_from_slice(b"\"0x");
    out.digits(bytes);
    out.push(b'"');
}

impl<T: Json> Json for Option<T> {
    fn write(&self, out: &mut JsonWriter) {
        match self {
            Some(value) => value.write(out),
            None => out.extend_from_slice(b"null"),
        }
    }

    fn append_to(self, out: &mut JsonWriter) {
        match self {
            Some(value) => value.append_to(out),
            None => out.extend_from_slice(b"null"),
        }
    }

    fn is_written(&self) -> bool {
        self.as_ref().is_some_and(T::is_written)
    }

    fn schema(example: Option<&Value>) -> Value {
        schema::or_null(T::schema(example.filter(|example| !example.is_null())))
    }
}

impl<T: Json> Json for [T] {
    fn write(&self, out: &mut JsonWriter) {
        array(out, self, |item, out| item.write(out));
    }

    fn schema(example: Option<&Value>) -> Value {
        schema::array(T::schema(example.and_then(|example| example.get(0))))
    }
}

impl<T: Json> Json for Vec<T> {
    fn write(&self, out: &mut JsonWriter) {
        self.as_slice().write(out);
    }

    fn schema(example: Option<&Value>) -> Value {
        <[T]>::schema(example)
    }
}

/// JSON that has already been written, with the memory that it holds.
#[derive(Debug)]
pub(super) struct Written(pub(crate) Answer);

impl Json for Written {
    fn write(&self, out: &mut JsonWriter) {
        out.extend_from_slice(self.0.bytes());
    }

    fn append_to(self, out: &mut JsonWriter) {
        if out.refused.is_none() {
            out.refused = out.out.append(self.0).err();
        }
    }

    fn is_written(&self) -> bool {
        true
    }
}

/// Short JSON as text.
pub(super) struct Raw<T>(pub(super) T);

impl<T: AsRef<str>> Json for Raw<T> {
    fn write(&self, out: &mut JsonWriter) {
        out.extend_from_slice(self.0.as_ref().as_bytes());
    }
}

/// JSON of a `T` that has already been written.
#[derive(Debug)]
pub(super) struct WrittenAs<T>(Written, PhantomData<fn() -> T>);

impl<T> From<Written> for WrittenAs<T> {
    fn from(written: Written) -> Self {
        Self(written, PhantomData)
    }
}

impl<T: Json> Json for WrittenAs<T> {
    fn write(&self, out: &mut JsonWriter) {
        self.0.write(out);
    }

    fn append_to(self, out: &mut JsonWriter) {
        self.0.append_to(out);
    }

    fn is_written(&self) -> bool {
        true
    }

    fn schema(example: Option<&Value>) -> Value {
        T::schema(example)
    }
}

/// A value that serde writes, for shapes that are sent rarely.
#[derive(Clone, Debug)]
pub(super) struct Serialized<T>(pub(super) T);

impl<T: Serialize> Json for Serialized<T> {
    fn write(&self, out: &mut JsonWriter) {
        let start = out.len();
        if let Err(error) = serde_json::to_writer(&mut *out, &self.0) {
            // There was no memory, which `check` says.
            if error.is_io() {
                return;
            }
            // Only a map whose keys are not strings can fail.
            tracing::error!(%error, "an answer could not be written");
            out.truncate(start);
            out.extend_from_slice(b"null");
        }
    }
}

impl io::Write for JsonWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.extend_from_slice(bytes);
        self.check().map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Json for str {
    fn write(&self, out: &mut JsonWriter) {
        Serialized(self).write(out);
    }

    fn schema(_: Option<&Value>) -> Value {
        json!({"type": "string"})
    }
}

impl<T: Json + ?Sized> Json for &T {
    fn write(&self, out: &mut JsonWriter) {
        T::write(self, out);
    }

    fn schema(example: Option<&Value>) -> Value {
        T::schema(example)
    }
}

impl Json for String {
    fn write(&self, out: &mut JsonWriter) {
        self.as_str().write(out);
    }

    fn schema(example: Option<&Value>) -> Value {
        str::schema(example)
    }
}

impl Json for () {
    fn write(&self, out: &mut JsonWriter) {
        out.extend_from_slice(b"null");
    }

    fn schema(_: Option<&Value>) -> Value {
        json!({"type": "null"})
    }
}

impl Json for i64 {
    fn write(&self, out: &mut JsonWriter) {
        out.extend_from_slice(self.to_string().as_bytes());
    }

    fn schema(_: Option<&Value>) -> Value {
        json!({"type": "integer"})
    }
}

impl Json for bool {
    fn write(&self, out: &mut JsonWriter) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }

    fn schema(_: Option<&Value>) -> Value {
        json!({"type": "boolean"})
    }
}

macro_rules! as_data {
    ($($name:ty: $bytes:expr),+) => {
        $(impl Json for $name {
            fn write(&self, out: &mut JsonWriter) {
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
    fn write(&self, out: &mut JsonWriter) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";

        // Filled from the end. Zero has one digit.
        let mut digits = [0; 32];
        let mut first = 32;
        let mut left = self.0;
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
            fn write(&self, out: &mut JsonWriter) {
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
    fn write(&self, out: &mut JsonWriter) {
        if let Ok(small) = u128::try_from(self.0) {
            return Quantity(small).write(out);
        }

        let bytes = self.0.to_be_bytes::<32>();
        let mut digits = [0; 64];
        // There are exactly two digits for each byte, so this cannot fail.
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

    fn text(write: impl FnOnce(&mut JsonWriter)) -> String {
        let mut out = JsonWriter::new(&Budget::default(), usize::MAX);
        write(&mut out);
        String::from_utf8(out.finish().unwrap().0.into_parts().0).unwrap()
    }

    fn written(value: impl Json) -> String {
        text(|out| value.write(out))
    }

    fn by_serde(value: &impl Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    proptest! {
        #[test]
        fn writes_what_the_general_writer_does(
            words in any::<[u64; 4]>(),
            small in any::<u64>(),
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            shift in 0usize..256,
        ) {
            let large = U256::from_limbs(words) >> shift;
            prop_assert_eq!(written(Quantity(large)), by_serde(&Quantity(large)));
            prop_assert_eq!(written(Quantity(small)), by_serde(&Quantity(small)));

            let bytes = Bytes::from(bytes);
            prop_assert_eq!(written(bytes.clone()), by_serde(&bytes));

            let hash = B256::from(large);
            prop_assert_eq!(written(vec![Some(hash), None]), by_serde(&[Some(hash), None]));
        }
    }

    #[test]
    fn long_json_is_appended_behind_what_was_written() {
        const COPY_LIMIT: usize = 16 << 10;
        for (before, length) in [
            (0, COPY_LIMIT + 1),
            (10, COPY_LIMIT),
            (10, COPY_LIMIT + 1),
            (2 * COPY_LIMIT, COPY_LIMIT + 1),
            (2 * COPY_LIMIT, 3 * COPY_LIMIT),
        ] {
            let answer = Answer::counted(vec![b'b'; length], &Budget::default()).unwrap();
            let appended = text(|out| {
                out.extend_from_slice(&vec![b'a'; before]);
                Written(answer).append_to(out);
            });
            assert!(
                appended == "a".repeat(before) + &"b".repeat(length),
                "{length} behind {before}"
            );
        }
    }

    #[test]
    fn a_document_that_does_not_fit_is_dropped_as_a_whole() {
        let mut out = JsonWriter::new(&Budget::default(), 100);
        out.push(b'[');
        let start = out.len();
        vec!["a".repeat(20); 10].write(&mut out);
        assert_eq!(out.check(), Err(AnswerError::TooLong(100)));
        out.truncate(start);
        "b".write(&mut out);
        assert_eq!(out.check(), Ok(()));

        let budget = Budget::new(1 << 20);
        let mut first = JsonWriter::new(&budget, usize::MAX);
        first.extend_from_slice(&[b'a'; 700_000]);
        let mut second = JsonWriter::new(&budget, usize::MAX);
        Serialized(vec!["a"; 200_000]).write(&mut second);
        assert_eq!(first.check(), Ok(()));
        assert_eq!(second.check(), Err(AnswerError::NoRoom));
        assert!(second.finish().is_err());
    }

    fn write_text(out: &mut JsonWriter, most: usize, length: usize) -> bool {
        out.write_short(most, |out| "a".repeat(length).write(out))
    }

    #[test]
    fn what_is_written_at_once_ends_where_it_is_too_long() {
        const MAX_BYTES: usize = 10_000;
        // The buffer may have room for more.
        for spare in [0, 1 << 20] {
            let mut out = JsonWriter::new(&Budget::default(), usize::MAX);
            out.extend_from_slice(b"[");
            out.reserve(spare);
            assert!(write_text(&mut out, MAX_BYTES, MAX_BYTES - 1_000));
            let length = out.len();
            assert!(!write_text(&mut out, MAX_BYTES, 1 << 19));
            assert!(out.len() <= length + MAX_BYTES, "{} bytes", out.len());
            out.truncate(length);

            // What is written already costs no work, and what comes later is as long as it likes.
            let written =
                Written(Answer::counted(vec![b'b'; 1 << 19], &Budget::default()).expect("room"));
            assert!(out.write_short(MAX_BYTES, |out| written.append_to(out)));
            "c".repeat(1 << 20).write(&mut out);
            assert_eq!(out.check(), Ok(()));
            let (begin, rest) = out.bytes().split_at(length);
            assert!(begin.starts_with(b"[\"a"));
            assert!(rest.starts_with(&[b'b'; 1 << 19]));
            assert_eq!(rest.len(), (1 << 19) + (1 << 20) + 2);
        }
    }

    #[test]
    fn writes_members_in_order() {
        let object = text(|out| {
            Object::begin(out)
                .member("a", &true)
                .optional("b", &None::<bool>)
                .member("c", &Quantity(0u64))
                .end();
        });
        assert_eq!(object, r#"{"a":true,"c":"0x0"}"#);
    }
}
