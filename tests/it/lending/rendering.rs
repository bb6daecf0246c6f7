//! The golden vectors of numbers in text.

use alloy::primitives::U256;
use serde_json::Value;
use tetrad_lending::lending::yearly_percent;
use tetrad_stdx::decimal::with_point;

fn vectors(name: &str) -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    serde_json::from_str(&std::fs::read_to_string(path).expect("a file")).expect("JSON")
}

fn number(value: &Value) -> U256 {
    value.as_str().expect("text").parse().expect("a number")
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name]
        .as_array()
        .unwrap_or_else(|| panic!("{name} is no list"))
}

#[test]
fn yields_match_the_vectors() {
    let vectors = vectors("interest.json");
    for vector in list(&vectors, "apy") {
        assert_eq!(
            yearly_percent(number(&vector["perSecondRay"])),
            vector["apyPercent"].as_str().expect("text")
        );
    }
    for vector in list(&vectors, "utilisation_to_rate") {
        for (rate, expected) in list(vector, "perSecondRayByBand")
            .iter()
            .zip(list(vector, "borrowApyByBand"))
        {
            assert_eq!(
                yearly_percent(number(rate)),
                expected.as_str().expect("text"),
                "{vector}"
            );
        }
    }
}

#[test]
fn amounts_match_the_vectors() {
    for vector in list(&vectors("credit.json"), "decimal_rendering") {
        let decimals = vector["decimals"].as_u64().expect("a number") as u8;
        assert_eq!(
            with_point(number(&vector["raw"]), decimals),
            vector["text"].as_str().expect("text")
        );
    }
}
