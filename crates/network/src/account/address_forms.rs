//! All written forms of one address.

use std::fmt;

use alloy_primitives::{Address, hex};
use serde::Serialize;

use super::{
    address::address_to_bech32,
    hrp::{Hrp, Kind},
    table::write_table,
};

/// Every written form of one address. Prints as a table of two aligned columns and serialises as an
/// object whose members are the fields below.
///
/// ```
/// use alloy_primitives::Address;
/// use tetrad_network::account::{AddressForms, Hrp};
///
/// let forms = AddressForms::new(&Address::repeat_byte(0xab), &Hrp::new("pax")?);
/// assert_eq!(forms.hex, "0xabababababababababababababababababababab");
/// assert_eq!(forms.to_string().lines().count(), 7);
/// # Ok::<(), tetrad_network::account::HrpError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AddressForms {
    /// The 20 bytes as numbers.
    pub bytes: [u8; 20],
    /// `0x` and 40 lower-case hex digits.
    pub hex: String,
    /// 40 upper-case hex digits without `0x`, as CometBFT prints consensus addresses.
    pub hex_upper: String,
    /// `0x` and 40 hex digits whose case is a checksum (EIP-55).
    pub eip55: String,
    /// Bech32 with the account prefix.
    pub account: String,
    /// Bech32 with the prefix of validator operators.
    pub validator_operator: String,
    /// Bech32 with the prefix of consensus nodes.
    pub consensus: String,
}

impl AddressForms {
    /// Formats an address in every form, with this network's bech32 prefix.
    #[must_use]
    pub fn new(address: &Address, hrp: &Hrp) -> Self {
        Self {
            bytes: address.into_array(),
            hex: hex::encode_prefixed(address),
            hex_upper: hex::encode_upper(address),
            eip55: address.to_checksum(None),
            account: address_to_bech32(address, hrp, Kind::Account),
            validator_operator: address_to_bech32(address, hrp, Kind::ValidatorOperator),
            consensus: address_to_bech32(address, hrp, Kind::Consensus),
        }
    }

    /// Returns the bech32 form of a kind.
    #[must_use]
    pub fn bech32(&self, kind: Kind) -> &str {
        match kind {
            Kind::Account => &self.account,
            Kind::ValidatorOperator => &self.validator_operator,
            Kind::Consensus => &self.consensus,
        }
    }
}

impl fmt::Display for AddressForms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: Vec<_> = self.bytes.iter().map(u8::to_string).collect();
        let bytes = format!("[{}]", bytes.join(" "));
        write_table(
            f,
            &[
                ("bytes", &bytes),
                ("hex", &self.hex),
                ("hex, upper case", &self.hex_upper),
                ("EIP-55", &self.eip55),
                ("account", &self.account),
                ("validator operator", &self.validator_operator),
                ("consensus", &self.consensus),
            ],
        )
    }
}
