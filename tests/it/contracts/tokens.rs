//! The twelve tokens and their classes.

use alloy_primitives::{Address, U256, address};
use tetrad_contracts::contracts::bindings::AssetParameters;

/// An asset's curve or its loan-to-value class: base, slopes, kink and reserve factor, or the three
/// ratios and the bonus.
const STABLE_CURVE: [u16; 5] = [0, 500, 7_500, 9_000, 1_000];
const ETH_CURVE: [u16; 5] = [0, 400, 8_000, 8_000, 1_500];
const MAJOR_CURVE: [u16; 5] = [0, 400, 10_000, 6_500, 2_000];
const OTHER_CURVE: [u16; 5] = [100, 700, 30_000, 4_500, 2_000];

const STABLE_LTV: [u16; 4] = [7_000, 8_500, 9_000, 500];
const ETH_LTV: [u16; 4] = [6_500, 8_000, 8_500, 500];
const BTC_LTV: [u16; 4] = [6_000, 7_500, 8_000, 700];
const OTHER_LTV: [u16; 4] = [4_500, 6_000, 6_800, 1_000];

#[derive(Clone, Copy)]
pub(crate) struct TokenInfo {
    pub(crate) symbol: &'static str,
    pub(crate) name: &'static str,
    pub(crate) decimals: u8,
    pub(crate) address: Address,
    pub(crate) price_usd_e8: u64,
    curve: [u16; 5],
    ltv: [u16; 4],
}

#[rustfmt::skip]
pub(crate) const TOKENS: [TokenInfo; 12] = [
    token("WBTC", "Wrapped Bitcoin", 8, address!("0x96465d06640aff1a00888d4b9217c9eae708c419"), 9_700_000_000_000, MAJOR_CURVE, BTC_LTV),
    token("wstETH", "Wrapped stETH", 18, address!("0xeb2c4ae6fe90f9bf25c94269236cb5408e00e188"), 424_850_000_000, ETH_CURVE, ETH_LTV),
    token("WETH", "Wrapped Ethereum", 18, address!("0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7"), 351_235_000_000, ETH_CURVE, ETH_LTV),
    token("BNB", "Binance Coin", 18, address!("0xb947bcd6bcce03846ac716fc39a3133c4bf0108e"), 65_500_000_000, MAJOR_CURVE, OTHER_LTV),
    token("UNI", "Uniswap", 18, address!("0x90a271d104aea929b68867b3050efacbc1a28e84"), 988_000_000, OTHER_CURVE, OTHER_LTV),
    token("DOT", "Polkadot", 10, address!("0xdccec2b62dd102276b7ba689405a5cd7504a8cd3"), 721_000_000, OTHER_CURVE, OTHER_LTV),
    token("TON", "The Open Network", 9, address!("0x9d60b394276e67a44f2d80e1ab7cfafa4e151f02"), 563_000_000, OTHER_CURVE, OTHER_LTV),
    token("CRO", "Crypto.com Chain", 8, address!("0xa1956408cbeb4c0d2c257be394b9bdf4c9e1a061"), 17_000_000, OTHER_CURVE, OTHER_LTV),
    token("stETH", "Lido Staked Ether", 18, address!("0xbbf11b964ac48bd11109b68dffe129b45671e34e"), 350_980_000_000, ETH_CURVE, ETH_LTV),
    token("USDT", "Tether USD", 6, address!("0x2a401fe7616c4aba69b147b4b725ce48ca7ec660"), 100_000_000, STABLE_CURVE, STABLE_LTV),
    token("SOL", "Solana", 9, address!("0x7100cf39ff0e845d7751fb56198b8dd16c6ecb2a"), 18_765_000_000, MAJOR_CURVE, OTHER_LTV),
    token("USDC", "USD Coin", 6, address!("0x29e1f94f6b209b57ecdc1fe87448a6d085a78a5a"), 100_000_000, STABLE_CURVE, STABLE_LTV),
];

const fn token(
    symbol: &'static str,
    name: &'static str,
    decimals: u8,
    address: Address,
    price_usd_e8: u64,
    curve: [u16; 5],
    ltv: [u16; 4],
) -> TokenInfo {
    TokenInfo {
        symbol,
        name,
        decimals,
        address,
        price_usd_e8,
        curve,
        ltv,
    }
}

impl TokenInfo {
    pub(crate) fn of(symbol: &str) -> Self {
        *TOKENS.iter().find(|token| token.symbol == symbol).unwrap()
    }

    pub(crate) fn unit(&self) -> U256 {
        U256::from(10).pow(U256::from(self.decimals))
    }

    /// The largest amount worth no more than this at the reference price.
    pub(crate) fn worth(&self, dollars: u64) -> U256 {
        U256::from(dollars) * U256::from(100_000_000) * self.unit() / U256::from(self.price_usd_e8)
    }

    pub(crate) fn parameters(&self) -> AssetParameters {
        parameters(self.curve, self.ltv)
    }

    pub(crate) fn p_token(&self) -> Address {
        let index = TOKENS
            .iter()
            .position(|token| token.symbol == self.symbol)
            .unwrap();
        Address::with_last_byte(0x80 + index as u8)
    }
}

/// The parameters of the vectors' classes, by the vectors' names.
pub(crate) fn class_parameters(curve: &str, ltv: &str) -> AssetParameters {
    let curve = match curve {
        "stable" => STABLE_CURVE,
        "eth" => ETH_CURVE,
        "major" => MAJOR_CURVE,
        "alt" => OTHER_CURVE,
        other => panic!("curve {other}"),
    };
    let ltv = match ltv {
        "stable" => STABLE_LTV,
        "eth" => ETH_LTV,
        "btc" => BTC_LTV,
        "mid" => OTHER_LTV,
        other => panic!("class {other}"),
    };
    parameters(curve, ltv)
}

fn parameters(curve: [u16; 5], ltv: [u16; 4]) -> AssetParameters {
    AssetParameters {
        baseRateBps: curve[0],
        slope1Bps: curve[1],
        slope2Bps: curve[2],
        kinkBps: curve[3],
        reserveFactorBps: curve[4],
        minLtvBps: ltv[0],
        maxLtvBps: ltv[1],
        liquidationThresholdBps: ltv[2],
        liquidationBonusBps: ltv[3],
    }
}
