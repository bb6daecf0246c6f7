//! Protobuf's wire format below the typed messages: how deeply messages nest, and which fields they
//! have.
//!
//! One limit bounds the nesting of every transaction (`MAX_MESSAGE_LEVELS`). Levels are counted
//! without descriptors, so the pool needs none. Blocks are valid with any depth, since they may be
//! older than the limit. Rendering writes a value that is too deep as bytes, and so it does with
//! one whose JSON would be far larger than its encoding.

use prost::encoding::{
    DecodeContext, WireType, decode_key, decode_varint, encoded_len_varint, skip_field,
};

use super::CosmosError;

/// The bit of a field's number by which the SDK knows fields that a chain may ignore (ADR-020).
const NON_CRITICAL: u32 = 1 << 10;

/// The number of the signatures in `TxRaw`.
const SIGNATURES: u32 = 3;

/// The fields of a type of message: their numbers, and the fields of those that are messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownFields(pub(super) &'static [(u32, Option<&'static KnownFields>)]);

/// A message whose type lists its fields.
pub(super) trait HasKnownFields {
    /// The fields.
    const FIELDS: KnownFields;
}

/// Unknown fields of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnknownFields {
    /// All of them are refused.
    Refused,
    /// Non-critical ones, which the chain may ignore, are accepted.
    MayBeNonCritical,
}

/// A field of a message.
struct WireField<'a> {
    number: u32,
    /// The value, if its length is given, as that of a message is.
    content: Option<&'a [u8]>,
}

/// Returns whether the messages in `bytes` nest within a number of levels, of which `bytes` is the
/// first.
///
/// Without descriptors every value that can be a message counts as one, whether it is a message,
/// text or bytes. So no type URL makes rendering go deeper than this.
pub fn nests_within(bytes: &[u8], levels: usize) -> bool {
    if fields(bytes).any(|field| field.is_err()) {
        // No message, and therefore without messages in it.
        return true;
    }

    let Some(left) = levels.checked_sub(1) else {
        return false;
    };
    fields(bytes)
        .flatten()
        .filter_map(|field| field.content)
        .all(|content| nests_within(content, left))
}

/// Refuses fields that are not those of the message's type, at any level. Returns whether there are
/// unknown fields that the chain may ignore.
pub(super) fn check_fields(
    bytes: &[u8],
    known: &KnownFields,
    unknown: UnknownFields,
    what: &str,
) -> Result<bool, CosmosError> {
    let mut has_unknown = false;
    for field in fields(bytes) {
        let WireField { number, content } =
            field.map_err(|error| CosmosError::parse(format!("{what}: {error}")))?;

        match known.0.iter().find(|(own, _)| *own == number) {
            Some((_, Some(inner))) => {
                has_unknown |= check_fields(content.unwrap_or_default(), inner, unknown, what)?;
            }
            Some((_, None)) => {}
            None if unknown == UnknownFields::MayBeNonCritical && number & NON_CRITICAL != 0 => {
                has_unknown = true
            }
            None => {
                return Err(CosmosError::parse(format!(
                    "{what}: unknown field {number}"
                )));
            }
        }
    }
    Ok(has_unknown)
}

/// Refuses an encoding of `TxRaw` that is not the only one of its content (ADR-027): its fields are
/// in order, all but signatures once, not empty, and with the shortest lengths.
pub(super) fn check_adr_027(raw: &[u8]) -> Result<(), CosmosError> {
    let malformed = |what: &str| CosmosError::parse(format!("TxRaw: {what}"));
    let mut last = 0;
    let mut rest = raw;
    while !rest.is_empty() {
        let before = rest.len();
        let field = next_field(&mut rest).map_err(|error| malformed(&error.to_string()))?;
        let content = field
            .content
            .ok_or_else(|| malformed("a field is not of bytes"))?;

        // Only an item of a repeated field can be empty and still say something.
        let is_default = content.is_empty() && field.number != SIGNATURES;
        let shortest = 1 + encoded_len_varint(content.len() as u64) + content.len();
        if before - rest.len() != shortest || is_default {
            return Err(malformed("not the shortest encoding (ADR-027)"));
        }
        if field.number < last || (field.number == last && field.number != SIGNATURES) {
            return Err(malformed("its fields are not in order (ADR-027)"));
        }
        last = field.number;
    }
    Ok(())
}

/// Returns the content of the first field with a number, if it is text, bytes or a message.
pub(super) fn content_of_field(bytes: &[u8], number: u32) -> Option<&[u8]> {
    fields(bytes)
        .flatten()
        .find(|field| field.number == number)?
        .content
}

/// The fields of a message, up to the first malformed one.
fn fields(bytes: &[u8]) -> impl Iterator<Item = Result<WireField<'_>, prost::DecodeError>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = next_field(&mut rest);
        if field.is_err() {
            rest = &[];
        }
        Some(field)
    })
}

/// Reads the field at the start of `rest`, as prost reads it, so that nothing can be decoded that
/// is malformed here.
fn next_field<'a>(rest: &mut &'a [u8]) -> Result<WireField<'a>, prost::DecodeError> {
    let (number, kind) = decode_key(rest)?;
    let start = *rest;
    skip_field(kind, number, rest, DecodeContext::default())?;

    if kind != WireType::LengthDelimited {
        return Ok(WireField {
            number,
            content: None,
        });
    }

    let mut content = &start[..start.len() - rest.len()];
    decode_varint(&mut content)?;
    Ok(WireField {
        number,
        content: Some(content),
    })
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use tetrad_stdx::nesting::MAX_MESSAGE_LEVELS;

    use super::{super::proto::*, *};

    /// Each `Any` takes two levels, with the message around it.
    fn nested(count: usize) -> Vec<u8> {
        (0..count).fold(Vec::new(), |value, _| {
            let type_url = "/cosmos.tx.v1beta1.TxBody".to_owned();
            TxBody {
                messages: vec![Any { type_url, value }],
                ..TxBody::default()
            }
            .encode_to_vec()
        })
    }

    #[test]
    fn levels_are_counted_through_values_of_any() {
        for count in [1, 2, 15] {
            assert!(nests_within(&nested(count), 2 * count), "{count}");
            assert!(!nests_within(&nested(count), 2 * count - 1), "{count}");
        }
        assert!(nests_within(b"no message", 0));
        assert!(!nests_within(&nested(2_000), MAX_MESSAGE_LEVELS));
    }

    #[test]
    fn levels_of_groups_do_not_hide_messages() {
        // An unknown group stands before the message of each level.
        let hidden = (0..50).fold(Vec::new(), |value: Vec<u8>, _| {
            let mut bytes = vec![0x7b, 0x7c];
            prost::encoding::bytes::encode(1, &value, &mut bytes);
            bytes
        });
        assert!(!nests_within(&hidden, MAX_MESSAGE_LEVELS));
    }

    #[test]
    fn the_time_to_count_levels_grows_with_the_length_alone() {
        let wide = [0x0a, 0x00].repeat(60_000);
        let deep = (0..100).fold(wide, |value, _| {
            let mut bytes = Vec::new();
            prost::encoding::bytes::encode(1, &value, &mut bytes);
            bytes
        });
        let started = std::time::Instant::now();
        assert!(!nests_within(&deep, MAX_MESSAGE_LEVELS));
        assert!(nests_within(&deep, 200));
        assert!(started.elapsed().as_millis() < 500);
    }

    /// Checks a body with a memo, and with these bytes after it.
    fn check_body(extra: &[u8], unknown: UnknownFields) -> Result<bool, CosmosError> {
        let memo = TxBody {
            memo: "m".to_owned(),
            ..TxBody::default()
        }
        .encode_to_vec();
        let bytes = [memo.as_slice(), extra].concat();
        check_fields(&bytes, &TxBody::FIELDS, unknown, "TxBody")
    }

    #[test]
    fn unknown_fields_are_refused_unless_the_chain_may_ignore_them() {
        for unknown in [UnknownFields::Refused, UnknownFields::MayBeNonCritical] {
            assert_eq!(check_body(&[], unknown), Ok(false));
            assert_eq!(
                check_body(&[0x12, 0x00, 0x18, 0x00], unknown),
                Ok(false),
                "explicit default values"
            );
            let error = check_body(&[0x7a, 0x01, 0x00], unknown).expect_err("field 15");
            assert!(error.log.contains("unknown field 15"), "{error}");
            assert!(check_body(&[0x12, 0x05], unknown).is_err(), "ends early");
        }

        // Field 1,024.
        let ignored = &[0x82, 0x40, 0x00];
        assert_eq!(
            check_body(ignored, UnknownFields::MayBeNonCritical),
            Ok(true)
        );
        check_body(ignored, UnknownFields::Refused).expect_err("nothing may be ignored here");

        // In a message in the message.
        let option = [0x0a, 0x03, 0x82, 0x40, 0x00];
        assert_eq!(
            check_body(&option, UnknownFields::MayBeNonCritical),
            Ok(true)
        );
    }

    #[test]
    fn a_transaction_has_one_encoding() {
        let raw = TxRaw {
            body_bytes: vec![1],
            auth_info_bytes: vec![2],
            signatures: vec![vec![], vec![3]],
        };
        assert_eq!(check_adr_027(&raw.encode_to_vec()), Ok(()));

        for (bytes, what) in [
            (&[0x12, 0x01, 0x00, 0x0a, 0x01, 0x00][..], "in order"),
            (&[0x0a, 0x01, 0x00, 0x0a, 0x01, 0x00], "in order"),
            (&[0x0a, 0x81, 0x00, 0x00], "shortest"),
            (&[0x8a, 0x00, 0x01, 0x00], "shortest"),
            (&[0x0a, 0x00], "shortest"),
            (&[0x08, 0x00], "not of bytes"),
        ] {
            let error = check_adr_027(bytes).expect_err(what);
            assert!(error.log.contains(what), "{error}");
        }
    }
}
