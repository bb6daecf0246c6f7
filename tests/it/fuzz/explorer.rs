//! Uploads of users of the explorer, and the data that it decodes.

use std::fs;

use alloy_primitives::hex;
use serde_json::{Value, json};
use tetrad_contracts::sources;
use tetrad_explorer::explorer::fuzzing;

use super::fuzz;

/// The compiled contracts of this repository.
fn artifacts() -> Vec<Value> {
    let folder = fs::read_dir("contracts/artifacts").unwrap();
    let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    files
        .iter()
        .map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
        .collect()
}

/// The compiler's input.
fn input() -> Value {
    json!({
        "language": "Solidity",
        "sources": {"src/A.sol": {"content": "contract A {}"}},
        "settings": {"optimizer": {"enabled": true, "runs": 7}, "outputSelection": {"*": {"*": ["*"]}}},
    })
}

/// A part of a form.
fn part(name: &str, value: &str) -> String {
    format!(
        "--X\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"a\"\r\n\r\n{value}\r\n"
    )
}

#[test]
fn any_body_with_sources_either_parses_or_is_refused() {
    let [form, parts, json] = fuzzing::UPLOADS;
    let text = input().to_string();
    let of_parts = part("compiler_version", "v0.8.24")
        + &part("contract_name", "src/A.sol:A")
        + &part("files[0]", &text);
    let single = "module=contract&action=verifysourcecode&sourceCode=contract+A+%7B%7D&codeformat=solidity-single-file&\
                  contractname=src/A.sol:A&compilerversion=v0.8.24&optimizationUsed=1&runs=7&evmversion=cancun";
    let standard: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let verify = json!({"stdJsonInput": input(), "compilerVersion": "0.8.24", "contractIdentifier": "src/A.sol:A"});
    let seeds = [
        [&[form], single.as_bytes()].concat(),
        [
            &[form],
            format!("codeformat=solidity-standard-json-input&sourceCode={standard}").as_bytes(),
        ]
        .concat(),
        [&[parts], format!("{of_parts}--X--\r\n").as_bytes()].concat(),
        [&[json], verify.to_string().as_bytes()].concat(),
    ];
    assert!(seeds.iter().all(|seed| fuzzing::upload(seed) > 0));
    assert!(fuzz("upload", 2_000, &seeds, fuzzing::upload) > 0);
}

#[test]
fn decoded_call_data_is_little_longer_than_its_input() {
    let word = |number: u8| [&[0; 31][..], &[number]].concat();
    let call = [
        word(0x20),
        word(2),
        word(0x40),
        word(0xa0),
        word(1),
        word(2),
        word(0x60),
        word(0),
        word(0x20),
    ]
    .concat();

    let mut seeds: Vec<Vec<u8>> = artifacts()
        .iter()
        .map(|artifact| [artifact["abi"].to_string().as_bytes(), &[0], &call].concat())
        .collect();

    for kind in [
        "bytes[]",
        "(bool,bytes)[]",
        "uint256[2][]",
        "string",
        "int8[][][]",
        "bytes3[4]",
    ] {
        let parts: Vec<Value> = if kind.starts_with('(') {
            vec![
                json!({"name": "a", "type": "bool"}),
                json!({"name": "b", "type": "bytes"}),
            ]
        } else {
            Vec::new()
        };

        let kind = kind.replace("(bool,bytes)", "tuple");
        let inputs = json!([{"name": "x", "type": kind, "indexed": false, "components": parts}]);
        let abi = json!([
            {"type": "function", "name": "f", "inputs": inputs, "outputs": [], "stateMutability": "view"},
            {"type": "error", "name": "E", "inputs": inputs},
            {"type": "event", "name": "L", "inputs": inputs, "anonymous": false},
            {"type": "constructor", "inputs": inputs, "stateMutability": "payable"},
        ]);
        seeds.push([abi.to_string().as_bytes(), &[0], &call].concat());
    }
    assert!(fuzz("abi", 1_000, &seeds, fuzzing::abi) > 0);
}

#[test]
fn contracts_in_any_compiler_output_match_themselves() {
    let mut seeds = Vec::new();
    for artifact in artifacts() {
        let code = artifact["deployedBytecode"]
            .as_str()
            .unwrap_or("0x6001600255");
        let short = &code[..code.len().min(200) / 2 * 2];
        let object = format!(
            "{short}a2646970667358221220{}64736f6c63430008180033",
            "11".repeat(32)
        );

        let output = json!({
            "sources": {"a.sol": {"id": 0}},
            "contracts": {"a.sol": {"A": {
                "abi": artifact["abi"].as_array().unwrap().iter().take(2).collect::<Vec<_>>(),
                "metadata": json!({"compiler": {"version": "0.8.24+commit.e11b9ed9"}}).to_string(),
                "evm": {
                    "bytecode": {"object": object, "linkReferences": {"b.sol": {"B": [{"start": 3, "length": 20}]}}},
                    "deployedBytecode": {
                        "object": object, "immutableReferences": {"3": [{"start": 1, "length": 32}]}, "sourceMap": "1:2:0:-;;3",
                    },
                },
            }}},
        });
        seeds.push(output.to_string().into_bytes());
    }

    assert!(
        seeds
            .iter()
            .all(|seed| sources::fuzzing::compiler_output(seed) == 1)
    );
    assert!(
        fuzz(
            "compiler_output",
            1_000,
            &seeds,
            sources::fuzzing::compiler_output
        ) > 0
    );
}

#[test]
fn any_code_matches_itself_with_or_without_metadata() {
    let hash = "11".repeat(32);
    let seeds = [
        format!("6001600255a165627a7a72305820{hash}0029"),
        format!("6001600255a265627a7a72315820{hash}64736f6c63430005100032"),
        format!("6001600255a2646970667358221220{hash}64736f6c63430008180033"),
        format!("60a2646970667358221220{hash}64736f6c6343000818003300a164736f6c6343000818000a"),
    ];
    let seeds = seeds.map(|code| hex::decode(code).unwrap());
    assert!(seeds.iter().all(|seed| sources::fuzzing::code(seed) == 1));
    assert!(fuzz("code", 2_000, &seeds, sources::fuzzing::code) > 0);
}
