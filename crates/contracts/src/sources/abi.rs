//! Decoding of untrusted data by untrusted ABIs.
//!
//! Several offsets in data may lead to the same place, so that a few kilobytes stand for gigabytes
//! of values. Data is therefore measured first, and decoded only if its values take little more
//! than the data itself, as those of all compilers do.

use alloy_dyn_abi::{DynSolType, DynSolValue, EventExt, Specifier};
use alloy_json_abi::{Event, EventParam, Param};
use alloy_primitives::{LogData, U256};
use tetrad_stdx::nesting::{MAX_NESTING, brackets};

/// The most bytes of data that are decoded.
pub const MAX_DATA: usize = 1 << 16;

/// The bytes of values that each byte of data may stand for, and those that any data may.
const MAX_GROWTH: usize = 4;
const LEAST_VALUES: usize = 1 << 10;

/// The bytes of a word.
const WORD: usize = 32;

/// Decodes the arguments of a function, an error or a constructor, or the output of a function.
/// `None` if the data is not theirs, or stands for too much.
pub fn decode_values(parameters: &[Param], data: &[u8]) -> Option<Vec<DynSolValue>> {
    if parameters
        .iter()
        .any(|parameter| nests_too_deeply(&parameter.ty, &parameter.components))
    {
        return None;
    }

    let types = parameters.iter().map(|parameter| parameter.resolve().ok());
    let kind = DynSolType::Tuple(types.collect::<Option<_>>()?);
    // Offsets may lead to the same place, so that short data stands for huge values.
    Measure::of(data)?.values(&kind)?;

    let values = kind.abi_decode_params(data).ok()?;
    match values {
        DynSolValue::Tuple(values) => Some(values),
        _ => None,
    }
}

/// Decodes a log. Returns the values in the order of the event's parameters.
pub fn decode_log(event: &Event, log: &LogData) -> Option<Vec<DynSolValue>> {
    let mut body = Vec::new();
    for input in &event.inputs {
        if nests_too_deeply(&input.ty, &input.components) {
            return None;
        }
        if !input.indexed {
            body.push(EventParam::resolve(input).ok()?);
        }
    }

    Measure::of(&log.data)?.values(&DynSolType::Tuple(body))?;
    let decoded = event.decode_log(log).ok()?;
    let mut indexed = decoded.indexed.into_iter();
    let mut body = decoded.body.into_iter();
    event
        .inputs
        .iter()
        .map(|input| {
            if input.indexed {
                indexed.next()
            } else {
                body.next()
            }
        })
        .collect()
}

/// Whether a type nests too deeply to be decoded, by functions that call themselves.
pub(super) fn nests_too_deeply(kind: &str, components: &[Param]) -> bool {
    depth(kind, components) > MAX_NESTING
}

/// The depth of a type. Components nest no deeper than the document that they are read from.
fn depth(kind: &str, components: &[Param]) -> usize {
    let inner = components
        .iter()
        .map(|component| 1 + depth(&component.ty, &component.components));
    brackets(kind) + inner.max().unwrap_or(0)
}

/// Follows the offsets of data, and adds up what its values take.
struct Measure<'d> {
    data: &'d [u8],
    /// The bytes that are left for values.
    left: usize,
}

impl<'d> Measure<'d> {
    fn of(data: &'d [u8]) -> Option<Self> {
        (data.len() <= MAX_DATA).then_some(Self {
            data,
            left: MAX_GROWTH * data.len() + LEAST_VALUES,
        })
    }

    fn spend(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }

    /// Reads a number; `None` if it is larger than any offset or length.
    fn number(&self, at: usize) -> Option<usize> {
        let word = self.data.get(at..at.checked_add(WORD)?)?;
        usize::try_from(U256::from_be_slice(word))
            .ok()
            .filter(|number| *number <= MAX_DATA)
    }

    /// Measures the values of a tuple whose heads are at the beginning of the data.
    fn values(&mut self, tuple: &DynSolType) -> Option<()> {
        let DynSolType::Tuple(kinds) = tuple else {
            return None;
        };
        self.heads(kinds.iter(), 0, 0).map(drop)
    }

    /// Measures values whose heads follow each other from `at` on. Offsets count from `zone`.
    /// Returns the end of the heads.
    fn heads<'t>(
        &mut self,
        kinds: impl Iterator<Item = &'t DynSolType>,
        zone: usize,
        mut at: usize,
    ) -> Option<usize> {
        for kind in kinds {
            at = self.value(kind, zone, at)?;
        }
        Some(at)
    }

    /// Measures the value whose head is at `at`. Returns the end of the head.
    fn value(&mut self, kind: &DynSolType, zone: usize, at: usize) -> Option<usize> {
        self.spend(WORD)?;
        if !is_dynamic(kind) {
            return match kind {
                DynSolType::FixedArray(item, length) => {
                    self.heads(std::iter::repeat_n(&**item, *length), zone, at)
                }
                DynSolType::Tuple(kinds) | DynSolType::CustomStruct { tuple: kinds, .. } => {
                    self.heads(kinds.iter(), zone, at)
                }
                _ => at.checked_add(WORD),
            };
        }

        let place = zone.checked_add(self.number(at)?)?;
        match kind {
            DynSolType::Array(item) => {
                let length = self.number(place)?;
                let items = place.checked_add(WORD)?;
                self.heads(std::iter::repeat_n(&**item, length), items, items)?;
            }
            DynSolType::FixedArray(item, length) => {
                self.heads(std::iter::repeat_n(&**item, *length), place, place)?;
            }
            DynSolType::Tuple(kinds) | DynSolType::CustomStruct { tuple: kinds, .. } => {
                self.heads(kinds.iter(), place, place)?;
            }
            _ => {
                let length = self.number(place)?;
                self.spend(length)?;
            }
        }
        at.checked_add(WORD)
    }
}

/// Returns whether the head of a value is the offset of the rest.
fn is_dynamic(kind: &DynSolType) -> bool {
    match kind {
        DynSolType::Bytes | DynSolType::String | DynSolType::Array(_) => true,
        DynSolType::FixedArray(item, _) => is_dynamic(item),
        DynSolType::Tuple(kinds) | DynSolType::CustomStruct { tuple: kinds, .. } => {
            kinds.iter().any(is_dynamic)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use alloy_dyn_abi::JsonAbiExt;
    use alloy_json_abi::Function;
    use alloy_primitives::{B256, hex};

    use super::*;

    fn word(number: usize) -> [u8; WORD] {
        U256::from(number).to_be_bytes()
    }

    /// An array with many offsets that all lead to the same item.
    fn repeated(count: usize, item: &[u8]) -> Vec<u8> {
        let offsets = (0..count).flat_map(|_| word(count * WORD));
        [&word(count)[..], &offsets.collect::<Vec<_>>(), item].concat()
    }

    fn inputs(signature: &str) -> Vec<Param> {
        Function::parse(signature).expect("a signature").inputs
    }

    fn input_of_type(ty: &str) -> Param {
        Param {
            ty: ty.to_owned(),
            ..inputs("f(uint256)")[0].clone()
        }
    }

    #[test]
    fn data_whose_offsets_share_a_place_is_not_decoded() {
        let text = [&word(16_000)[..], &[b'x'; 16_000]].concat();
        let shared = [&word(WORD)[..], &repeated(1_000, &text)].concat();
        assert!(shared.len() < MAX_DATA);
        assert_eq!(decode_values(&inputs("f(bytes[])"), &shared), None);

        // Each level of arrays multiplies the number of values.
        let levels = (0..5).fold(repeated(8, &word(0)), |item, _| repeated(8, &item));
        let nested = [&word(WORD)[..], &levels].concat();
        assert_eq!(
            decode_values(&inputs("f(uint256[][][][][][][])"), &nested),
            None
        );

        let event = Event::parse("event E(bytes[] items)").expect("an event");
        let log = LogData::new_unchecked(vec![event.selector()], shared.into());
        assert_eq!(decode_log(&event, &log), None);
    }

    #[test]
    fn long_and_deep_types_are_not_decoded() {
        assert_eq!(decode_values(&inputs("f(uint256[1000000000])"), &[]), None);
        assert_eq!(
            decode_values(&[input_of_type("uint256[0][1000000000]")], &[]),
            None
        );

        let deep = input_of_type(&format!("uint256{}", "[]".repeat(MAX_NESTING + 1)));
        assert_eq!(decode_values(&[deep], &word(WORD)), None);
    }

    #[test]
    fn what_compilers_encode_is_decoded() {
        let uint = |number: u64| DynSolValue::Uint(U256::from(number), 256);
        let call = DynSolValue::Tuple(vec![
            DynSolValue::Bool(true),
            DynSolValue::Bytes(vec![7; 100]),
        ]);
        let values = vec![
            DynSolValue::Array(vec![call.clone(), call]),
            DynSolValue::FixedArray(vec![uint(1), uint(2)]),
            DynSolValue::String("text".to_owned()),
            DynSolValue::Array(Vec::new()),
            DynSolValue::Array(vec![
                DynSolValue::Array(vec![uint(3)]),
                DynSolValue::Array(Vec::new()),
            ]),
            DynSolValue::FixedArray(vec![
                DynSolValue::String(String::new()),
                DynSolValue::String("b".to_owned()),
            ]),
        ];

        let function =
            Function::parse("f((bool,bytes)[],uint256[2],string,address[],uint256[][],string[2])");
        let function = function.expect("a function");

        let data = function.abi_encode_input(&values).expect("arguments");
        assert_eq!(decode_values(&function.inputs, &data[4..]), Some(values));
        assert_eq!(decode_values(&[], &[]), Some(Vec::new()));
    }

    #[test]
    fn the_values_of_a_log_are_in_the_order_of_its_parameters() {
        let event =
            Event::parse("event E(uint256 a, address indexed b, bool c)").expect("an event");
        let data =
            hex::decode(format!("{}{}", hex::encode(word(5)), hex::encode(word(1)))).expect("hex");
        let log = LogData::new_unchecked(
            vec![event.selector(), B256::left_padding_from(&[9])],
            data.into(),
        );

        let values = decode_log(&event, &log).expect("values");
        let kinds: Vec<_> = values
            .iter()
            .filter_map(DynSolValue::sol_type_name)
            .collect();
        assert_eq!(
            kinds,
            [
                Cow::Borrowed("uint256"),
                Cow::Borrowed("address"),
                Cow::Borrowed("bool")
            ]
        );
    }
}
