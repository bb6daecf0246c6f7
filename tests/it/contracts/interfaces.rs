//! The contracts' interfaces, which clients depend on: every change must be deliberate.

use std::{collections::BTreeSet, fs, path::Path};

use alloy_json_abi::{Event, JsonAbi, Param};
use alloy_sol_types::SolInterface;
use serde_json::Value;
use tetrad_contracts::contracts::bindings::{
    LendingLens, LendingPool, LendingPoolErrors, Multicall3, Multicall3Errors, PToken,
    PTokenErrors, PriceOracle, PriceOracleErrors, Token, TokenErrors, Vault, VaultErrors,
};

use crate::support::golden::assert_golden;

/// The contracts of the network.
const CONTRACTS: [&str; 7] = [
    "LendingLens",
    "LendingPool",
    "Multicall3",
    "PToken",
    "PriceOracle",
    "Token",
    "Vault",
];

/// The committed interfaces, even if other tests use another build.
fn abi(contract: &str) -> JsonAbi {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("contracts/artifacts/{contract}.json"));
    let artifact: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    serde_json::from_value(artifact["abi"].clone()).unwrap()
}

/// The type, with structs expanded, and the name: `(address target, bytes callData)[] calls`.
fn parameter_text(parameter: &Param) -> String {
    let kind = match parameter.ty.strip_prefix("tuple") {
        Some(array) => format!("({}){array}", list(&parameter.components)),
        None => parameter.ty.clone(),
    };
    format!("{kind} {}", parameter.name).trim_end().to_owned()
}

fn list(parameters: &[Param]) -> String {
    parameters
        .iter()
        .map(parameter_text)
        .collect::<Vec<_>>()
        .join(", ")
}

/// An event's signature, with an asterisk after indexed parameters.
fn event(event: &Event) -> String {
    let inputs = event.inputs.iter().map(|input| {
        let star = if input.indexed { "*" } else { "" };
        let [one] = [Param {
            ty: input.ty.clone(),
            name: input.name.clone(),
            components: input.components.clone(),
            internal_type: None,
        }];
        format!("{}{star}", list(&[one]))
    });
    format!("{}({})", event.name, inputs.collect::<Vec<_>>().join(", "))
}

/// Every function, event and error, one per line.
fn rendered() -> String {
    let mut text = String::new();
    for contract in CONTRACTS {
        let abi = abi(contract);

        let functions = abi.functions().map(|one| {
            let mutability = one
                .state_mutability
                .as_str()
                .map_or(String::new(), |word| format!(" {word}"));
            let outputs = if one.outputs.is_empty() {
                String::new()
            } else {
                format!(" -> ({})", list(&one.outputs))
            };
            format!(
                "function {} {}({}){mutability}{outputs}",
                one.selector(),
                one.name,
                list(&one.inputs)
            )
        });

        let events = abi
            .events()
            .map(|one| format!("event {} {}", one.selector(), event(one)));

        let errors = abi.errors().map(|one| {
            format!(
                "error {} {}({})",
                one.selector(),
                one.name,
                list(&one.inputs)
            )
        });

        let constructor = abi
            .constructor()
            .map(|one| format!("constructor({})", list(&one.inputs)));

        for line in constructor
            .into_iter()
            .chain(functions)
            .chain(events)
            .chain(errors)
        {
            text += &format!("{contract} {line}\n");
        }
    }

    text
}

#[test]
fn interfaces_match_the_published_ones() {
    assert_golden("tests/it/contracts/interfaces.txt", &rendered());
}

/// The bindings have a separate file, written by the same build as the artifacts.
#[test]
fn bindings_match_the_compiled_contracts() {
    fn selectors<I: SolInterface>() -> BTreeSet<[u8; 4]> {
        I::selectors().collect()
    }

    fn check(
        contract: &str,
        functions: BTreeSet<[u8; 4]>,
        events: &[[u8; 32]],
        errors: BTreeSet<[u8; 4]>,
    ) {
        let abi = abi(contract);
        assert_eq!(
            functions,
            abi.functions().map(|one| *one.selector()).collect(),
            "{contract}"
        );
        assert_eq!(
            errors,
            abi.errors().map(|one| *one.selector()).collect(),
            "{contract}"
        );

        let topics: BTreeSet<[u8; 32]> = events.iter().copied().collect();
        assert_eq!(
            topics,
            abi.events().map(|one| *one.selector()).collect(),
            "{contract}"
        );
    }

    let none = BTreeSet::new;
    check(
        "LendingLens",
        selectors::<LendingLens::LendingLensCalls>(),
        &[],
        none(),
    );
    check(
        "LendingPool",
        selectors::<LendingPool::LendingPoolCalls>(),
        LendingPool::LendingPoolEvents::SELECTORS,
        selectors::<LendingPoolErrors::LendingPoolErrorsErrors>(),
    );
    check(
        "Multicall3",
        selectors::<Multicall3::Multicall3Calls>(),
        &[],
        selectors::<Multicall3Errors::Multicall3ErrorsErrors>(),
    );
    check(
        "PToken",
        selectors::<PToken::PTokenCalls>(),
        PToken::PTokenEvents::SELECTORS,
        selectors::<PTokenErrors::PTokenErrorsErrors>(),
    );
    check(
        "PriceOracle",
        selectors::<PriceOracle::PriceOracleCalls>(),
        PriceOracle::PriceOracleEvents::SELECTORS,
        selectors::<PriceOracleErrors::PriceOracleErrorsErrors>(),
    );
    check(
        "Token",
        selectors::<Token::TokenCalls>(),
        Token::TokenEvents::SELECTORS,
        selectors::<TokenErrors::TokenErrorsErrors>(),
    );
    check(
        "Vault",
        selectors::<Vault::VaultCalls>(),
        Vault::VaultEvents::SELECTORS,
        selectors::<VaultErrors::VaultErrorsErrors>(),
    );
}
