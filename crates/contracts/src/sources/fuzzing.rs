//! Entry points for fuzzers: what compilers write, and the code of contracts. Each returns how much
//! of its input was accepted.

use alloy_primitives::{Bytes, hex};

use super::{
    code::{CodeMatch, CompiledCode, Reference},
    contract::{CompiledContract, parse_abi},
    metadata::{embedded_hashes, trailing_metadata},
    output::CompilerOutput,
    signatures::Signatures,
    standard_json::{ContractName, StandardInput},
};

/// Reads the compiler's output. Every contract in it matches its own code.
pub fn compiler_output(json: &[u8]) -> usize {
    let Ok(output) = CompilerOutput::parse(json) else {
        return 0;
    };
    let input = StandardInput {
        language: "Solidity".to_owned(),
        sources: Default::default(),
        settings: Default::default(),
    };

    let mut contracts = 0;
    for (file, name, contract) in output.named(&ContractName::default()) {
        let _ = Signatures::from(&parse_abi(&contract.abi));
        let Ok(Some(compiled)) =
            CompiledContract::new(&input, &output, (file, name, contract), "0.8.24")
        else {
            continue;
        };

        contracts += 1;
        if let Some(code) = &compiled.runtime_code {
            check_code(code);
            for position in 0..code.bytes().len().min(64) {
                let _ = compiled.location(code.bytes(), position);
            }
        }
        if let Some(code) = &compiled.creation_code {
            check_code(code);
        }
    }
    contracts
}

/// Reads the metadata of code, and compares the code with itself and with its own change.
pub fn code(bytes: &[u8]) -> usize {
    for range in embedded_hashes(bytes) {
        assert!(bytes.get(range).is_some_and(|hash| hash.len() == 32));
    }
    let metadata = trailing_metadata(bytes);
    if let Some(found) = metadata {
        assert_eq!(found.start + found.length, bytes.len());
    }

    let hidden = Reference {
        start: bytes.len() / 3,
        length: bytes.len() / 7,
    };
    let Ok(compiled) = CompiledCode::parse(&hex::encode(bytes), &[], &[hidden]) else {
        return 0;
    };

    check_code(&compiled);
    usize::from(metadata.is_some())
}

fn check_code(code: &CompiledCode) {
    let bytes = code.bytes();
    let body = code.body_length();
    let is_exact = trailing_metadata(bytes).is_some_and(|metadata| metadata.has_hash);
    let expected = (body > 0).then_some(if is_exact {
        CodeMatch::Exact
    } else {
        CodeMatch::Partial
    });
    assert_eq!(
        code.match_runtime(bytes),
        expected,
        "code does not match itself"
    );

    let arguments = Bytes::from_static(&[7; 32]);
    let input = Bytes::from([&bytes[..], &arguments].concat());
    assert_eq!(
        code.match_creation(&input),
        expected.map(|matched| (matched, arguments))
    );
}
