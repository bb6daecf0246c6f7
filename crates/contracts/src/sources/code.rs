//! Compiled code, and its comparison with deployed code. What differs between deployments of one
//! source is set aside: immutables, addresses of libraries, and the compiler's metadata.

use std::ops::Range;

use alloy_primitives::{Bytes, hex};
use serde::{Deserialize, Serialize};

use super::metadata::{embedded_hashes, read_metadata, trailing_metadata};

/// The most bytes of compiled code: more than any chain's limits allow.
pub(super) const MAX_CODE: usize = 1 << 20;

/// The most ranges of one code that deployments fill in.
const MAX_RANGES: usize = 4_096;

/// How deployed code matches a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeMatch {
    /// All but the metadata, which depends on comments and file names as well.
    Partial,
    /// The hash of the metadata, too.
    Exact,
}

/// A part of compiled code that the deployment fills in, as the compiler writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The first byte.
    pub start: usize,
    /// The number of bytes.
    pub length: usize,
}

impl Reference {
    fn range(&self) -> Option<Range<usize>> {
        Some(self.start..self.start.checked_add(self.length)?)
    }
}

/// Compiled code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompiledCode {
    bytes: Bytes,
    /// The ranges that deployments fill in, all within the code.
    filled: Vec<Reference>,
}

impl CompiledCode {
    /// Reads an object of the compiler: hex digits, with placeholders for the addresses of
    /// libraries. `links` and `immutables` are the ranges that deployments fill in.
    pub fn parse(
        object: &str,
        links: &[Reference],
        immutables: &[Reference],
    ) -> Result<Self, String> {
        let digits = object.strip_prefix("0x").unwrap_or(object);
        if digits.len() > 2 * MAX_CODE {
            return Err(format!("the code has more than {MAX_CODE} bytes"));
        }
        if links.len() + immutables.len() > MAX_RANGES {
            return Err(format!(
                "the code has more than {MAX_RANGES} links and immutables"
            ));
        }

        let mut digits = digits.as_bytes().to_vec();
        for link in links {
            let range = link.range().filter(|range| range.end <= digits.len() / 2);
            let range =
                range.ok_or_else(|| format!("a link at {} is not within the code", link.start))?;
            // The compiler writes placeholders there, which are not hex digits.
            digits[2 * range.start..2 * range.end].fill(b'0');
        }

        let bytes =
            hex::decode(&digits).map_err(|error| format!("the code is not in hex: {error}"))?;

        let mut filled = links.to_vec();
        for immutable in immutables {
            let fits = immutable
                .range()
                .is_some_and(|range| range.end <= bytes.len());
            if !fits {
                return Err(format!(
                    "an immutable at {} is not within the code",
                    immutable.start
                ));
            }
            filled.push(*immutable);
        }

        // The code of a library begins with its own address, with which it recognises calls that
        // are not delegate calls.
        if bytes.len() > 21 && bytes[0] == 0x73 && bytes[1..21].iter().all(|byte| *byte == 0) {
            filled.push(Reference {
                start: 1,
                length: 20,
            });
        }

        Ok(Self {
            bytes: bytes.into(),
            filled,
        })
    }

    /// Returns the code, with zeros where deployments fill it in.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns the length without the metadata at the end, by which deployed code can be looked up.
    pub(crate) fn body_length(&self) -> usize {
        body_length(&self.bytes)
    }

    /// Compares the code with deployed runtime code.
    pub(crate) fn match_runtime(&self, deployed: &[u8]) -> Option<CodeMatch> {
        let own = trailing_metadata(&self.bytes);
        let body = own.map_or(self.bytes.len(), |own| own.start);
        if body == 0 || body_length(deployed) != body {
            return None;
        }

        let same_hashes = self.compare(&deployed[..body])?;
        let is_exact = same_hashes
            && own.is_some_and(|own| own.has_hash)
            && self.bytes[body..] == deployed[body..];

        Some(if is_exact {
            CodeMatch::Exact
        } else {
            CodeMatch::Partial
        })
    }

    /// Compares the code with the input of the transaction that created a contract. Returns the
    /// constructor's arguments as well.
    pub(crate) fn match_creation(&self, input: &Bytes) -> Option<(CodeMatch, Bytes)> {
        let own = trailing_metadata(&self.bytes);
        let body = own.map_or(self.bytes.len(), |own| own.start);
        if body == 0 || input.len() < body {
            return None;
        }

        let same_hashes = self.compare(&input[..body])?;
        let Some(own) = own else {
            return Some((CodeMatch::Partial, input.slice(body..)));
        };

        let theirs = read_metadata(&input[body..])?;
        let is_exact =
            same_hashes && own.has_hash && input[body..].starts_with(&self.bytes[body..]);
        let arguments = input.slice(body + theirs.length..);

        Some((
            if is_exact {
                CodeMatch::Exact
            } else {
                CodeMatch::Partial
            },
            arguments,
        ))
    }

    /// Compares the body with code of the same length. Returns whether embedded hashes of metadata,
    /// such as those of contracts that this one creates, are the same; `None` if the code differs.
    fn compare(&self, theirs: &[u8]) -> Option<bool> {
        let mut own = self.bytes[..theirs.len()].to_vec();
        for reference in &self.filled {
            let range = reference.range().filter(|range| range.end <= own.len());
            // A range within the metadata says nothing.
            let Some(range) = range else { continue };
            own[range.clone()].copy_from_slice(&theirs[range]);
        }

        if own == theirs {
            return Some(true);
        }
        for range in embedded_hashes(&own) {
            own[range.clone()].copy_from_slice(&theirs[range]);
        }
        (own == theirs).then_some(false)
    }
}

/// Returns the length of code without the metadata at its end.
pub(super) fn body_length(code: &[u8]) -> usize {
    trailing_metadata(code).map_or(code.len(), |metadata| metadata.start)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `a2646970667358221220<32 bytes>64736f6c63430008180033`, as solc 0.8.24 appends it.
    fn with_metadata(body: &[u8], hash: u8) -> Vec<u8> {
        let mut code = body.to_vec();
        code.extend(hex!("a2646970667358221220"));
        code.extend([hash; 32]);
        code.extend(hex!("64736f6c63430008180033"));
        code
    }

    fn compiled(code: &[u8], immutables: &[Reference]) -> CompiledCode {
        CompiledCode::parse(&hex::encode(code), &[], immutables).unwrap()
    }

    #[test]
    fn metadata_decides_between_an_exact_and_a_partial_match() {
        let code = compiled(&with_metadata(b"body", 7), &[]);
        assert_eq!(
            code.match_runtime(&with_metadata(b"body", 7)),
            Some(CodeMatch::Exact)
        );
        assert_eq!(
            code.match_runtime(&with_metadata(b"body", 8)),
            Some(CodeMatch::Partial)
        );
        assert_eq!(code.match_runtime(b"body"), Some(CodeMatch::Partial));
        assert_eq!(code.match_runtime(&with_metadata(b"bodz", 7)), None);
        assert_eq!(code.match_runtime(&with_metadata(b"body2", 7)), None);
        assert_eq!(code.match_runtime(b""), None);

        // Code without metadata can be compiled from other comments: nothing proves the source to
        // be exact.
        assert_eq!(
            compiled(b"body", &[]).match_runtime(b"body"),
            Some(CodeMatch::Partial)
        );
    }

    #[test]
    fn immutables_are_set_aside() {
        let code = compiled(
            &with_metadata(b"a\0\0\0b", 7),
            &[Reference {
                start: 1,
                length: 3,
            }],
        );

        assert_eq!(
            code.match_runtime(&with_metadata(b"axyzb", 7)),
            Some(CodeMatch::Exact)
        );
        assert_eq!(code.match_runtime(&with_metadata(b"axyzc", 7)), None);
    }

    #[test]
    fn links_and_the_own_address_of_a_library_are_set_aside() {
        let object = format!("60{}61", "__$0123456789abcdef0123456789abcdef01$__");
        let code = CompiledCode::parse(
            &object,
            &[Reference {
                start: 1,
                length: 20,
            }],
            &[],
        )
        .unwrap();

        let mut deployed = vec![0x60];
        deployed.extend([9; 20]);
        deployed.push(0x61);
        assert_eq!(code.match_runtime(&deployed), Some(CodeMatch::Partial));

        let library = [&[0x73][..], &[0; 20], &[0x30, 0x14]].concat();
        let deployed = [&[0x73][..], &[5; 20], &[0x30, 0x14]].concat();
        assert_eq!(
            compiled(&library, &[]).match_runtime(&deployed),
            Some(CodeMatch::Partial)
        );
    }

    #[test]
    fn a_factory_embeds_the_metadata_of_what_it_creates() {
        let factory = |child: u8, own: u8| with_metadata(&with_metadata(b"child", child), own);
        let code = compiled(&[factory(1, 2), b"x".to_vec()].concat(), &[]);
        assert_eq!(
            code.match_runtime(&[factory(3, 4), b"x".to_vec()].concat()),
            Some(CodeMatch::Partial)
        );
        assert_eq!(
            code.match_runtime(&[factory(3, 4), b"y".to_vec()].concat()),
            None
        );
    }

    #[test]
    fn the_arguments_of_the_constructor_follow_the_code() {
        let code = compiled(&with_metadata(b"init", 7), &[]);

        let input = Bytes::from([with_metadata(b"init", 7), vec![1, 2, 3]].concat());
        assert_eq!(
            code.match_creation(&input),
            Some((CodeMatch::Exact, vec![1, 2, 3].into()))
        );

        let input = Bytes::from([with_metadata(b"init", 8), vec![4]].concat());
        assert_eq!(
            code.match_creation(&input),
            Some((CodeMatch::Partial, vec![4].into()))
        );

        assert_eq!(code.match_creation(&Bytes::from_static(b"init")), None);

        let bare = compiled(b"init", &[]);
        assert_eq!(
            bare.match_creation(&Bytes::from_static(b"init5")),
            Some((CodeMatch::Partial, vec![b'5'].into()))
        );
    }

    #[test]
    fn ranges_outside_of_the_code_are_refused() {
        let outside = [Reference {
            start: 3,
            length: 2,
        }];
        assert!(
            CompiledCode::parse("00112233", &outside, &[])
                .unwrap_err()
                .contains("a link at 3")
        );
        assert!(
            CompiledCode::parse("00112233", &[], &outside)
                .unwrap_err()
                .contains("an immutable at 3")
        );

        let huge = [Reference {
            start: usize::MAX,
            length: 2,
        }];
        assert!(CompiledCode::parse("00112233", &[], &huge).is_err());

        assert!(
            CompiledCode::parse("0g", &[], &[])
                .unwrap_err()
                .contains("hex")
        );
        assert!(CompiledCode::parse("__$x$__", &[], &[]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_compared(
            code: Vec<u8>,
            deployed: Vec<u8>,
            start in 0_usize..40,
            length in 0_usize..40,
        ) {
            let reference = [Reference { start, length }];
            if let Ok(code) = CompiledCode::parse(&hex::encode(&code), &[], &reference) {
                code.match_runtime(&deployed);
                code.match_creation(&deployed.into());
            }
        }

        #[test]
        fn what_immutables_hold_does_not_matter(
            body in proptest::collection::vec(any::<u8>(), 64..128),
            value in proptest::collection::vec(any::<u8>(), 32),
            start in 0_usize..32,
            hash: u8,
        ) {
            let code = compiled(&with_metadata(&body, hash), &[Reference { start, length: 32 }]);
            let mut deployed = body.clone();
            deployed[start..start + 32].copy_from_slice(&value);
            let found = code.match_runtime(&with_metadata(&deployed, hash));
            prop_assert_eq!(found, Some(CodeMatch::Exact));

            deployed[start + 32..].iter_mut().for_each(|byte| *byte ^= 1);
            prop_assert_eq!(code.match_runtime(&with_metadata(&deployed, hash)), None);
        }
    }
}
