//! Scenarios that come with the program, from `config/scenarios`.

macro_rules! ready_made {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../config/scenarios/", $name, ".toml")),
        )
    };
}

/// The documents by file name.
pub const READY_MADE: [(&str, &str); 9] = [
    ready_made!("price-crash"),
    ready_made!("depeg"),
    ready_made!("stale-feed"),
    ready_made!("halted-token"),
    ready_made!("bank-run"),
    ready_made!("liquidation-cascade"),
    ready_made!("paused-vault"),
    ready_made!("reorganisation"),
    ready_made!("bad-connection"),
];
