//! The parameters of the network that a node mirrors: names, prefixes, contract addresses, tokens.
//!
//! [`Network::default`] describes the live network. All parameters are values, so that a
//! configuration can describe another one.
//!
//! Contracts whose addresses are not published live at the last 20 bytes of
//! `keccak256("tetrad/<name>")`: deterministic addresses without a known key.

use alloy_primitives::{Address, address, keccak256};

use self::LendingClass::{Bitcoin, Ether, Major, Other, Stable};
use crate::account::Hrp;

/// Decimals of the native coin of every network.
pub const COIN_DECIMALS: u8 = 18;
/// Decimals of the US dollars in which contracts state prices and values.
pub const USD_DECIMALS: u8 = 8;

/// The parameters that identify a network.
#[derive(Clone, Debug)]
pub struct Network {
    /// Chain id on the Cosmos side.
    pub cosmos_chain_id: String,
    /// Symbol of the native coin.
    pub coin: String,
    /// The native coin's base denomination.
    pub denomination: String,
    /// Prefix of bech32 addresses.
    pub hrp: Hrp,
    /// Protocol buffer type URL of accounts.
    pub account_type: String,
    /// Protocol buffer type URL of public keys.
    pub key_type: String,
    /// Addresses of the contracts.
    pub contracts: Contracts,
    /// The tokens of exchange and lending, in the order in which they are listed.
    pub tokens: Vec<Token>,
}

/// Contract addresses.
#[derive(Clone, Copy, Debug)]
pub struct Contracts {
    /// The price oracle.
    pub oracle: Address,
    /// The exchange's vault.
    pub vault: Address,
    /// The lending pool.
    pub lending_pool: Address,
    /// The contract that reads the lending pool for user interfaces.
    pub lending_lens: Address,
}

/// A token of exchange and lending.
#[derive(Clone, Debug)]
pub struct Token {
    /// Symbol.
    pub symbol: String,
    /// Name.
    pub name: String,
    /// Decimals.
    pub decimals: u8,
    /// Contract address.
    pub address: Address,
    /// Address of the lending pool's receipt token.
    pub receipt: Address,
    /// Reference price in US dollars × 10^8.
    pub reference_price: u64,
    /// The token's id in CoinGecko's price interface.
    pub coin_gecko_id: String,
    /// The simulation's model of its price.
    pub price_model: PriceModel,
    /// Its class in the lending pool.
    pub lending: LendingClass,
    /// Whole tokens that each development account receives at genesis.
    pub development_balance: u64,
}

/// The simulation's model of a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceModel {
    /// An independent random walk: geometric Brownian motion.
    Walk {
        /// Standard deviation of the yearly return, in basis points.
        volatility_bps: u32,
    },
    /// A peg: the price strays a little and returns to the reference price.
    Peg,
    /// A multiple of another token's price. The two reference prices give the initial ratio.
    Follow {
        /// The other token.
        token: Address,
        /// Growth of the ratio, in basis points per year.
        growth_bps: u32,
        /// Standard deviation of the ratio, in parts per million.
        jitter_ppm: u32,
    },
}

/// The class of a lending pool's asset, which determines its collateral ratios and interest curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LendingClass {
    /// Dollar tokens.
    Stable,
    /// Ether and tokens whose price follows it.
    Ether,
    /// Bitcoin: the interest curve of large assets, with its own collateral ratios.
    Bitcoin,
    /// Large assets.
    Major,
    /// Everything else.
    Other,
}

impl Network {
    /// Returns the token with an address or a symbol, in any case.
    pub fn token(&self, name: &str) -> Option<&Token> {
        let digits = name.strip_prefix("0x").or_else(|| name.strip_prefix("0X"));
        let wanted: Option<Address> = digits
            .filter(|digits| digits.len() == 40)
            .and_then(|digits| digits.parse().ok());

        self.tokens
            .iter()
            .find(|token| wanted == Some(token.address) || token.symbol.eq_ignore_ascii_case(name))
    }
}

/// Returns an address for a contract whose address the live network does not publish. It is derived
/// from a name, so that it is the same on every node.
fn unpublished(name: &str) -> Address {
    Address::from_slice(&keccak256(format!("tetrad/{name}"))[12..])
}

impl Default for Contracts {
    fn default() -> Self {
        Self {
            oracle: address!("0x6e5da6d7a89c6B7cB0e5c64fcf326292F76A0352"),
            vault: address!("0x49B0f9a0554da1A7243A9C8ac5B45245A66D90ff"),
            lending_pool: address!("0xa0fE00Da13cD944F2e41531E1E23aCcF12deAE4a"),
            lending_lens: unpublished("lending-lens"),
        }
    }
}

impl Network {
    /// Returns the chain id of the EVM, if the one on the Cosmos side has it, as
    /// `hyperpax_125-1` does.
    pub fn evm_chain_id(&self) -> Option<u64> {
        let (_, id) = self.cosmos_chain_id.rsplit_once('_')?;
        id.split_once('-')?.0.parse().ok()
    }
}

impl Default for Network {
    fn default() -> Self {
        Self {
            cosmos_chain_id: "hyperpax_125-1".to_owned(),
            coin: "HPX".to_owned(),
            denomination: "ahpx".to_owned(),
            hrp: Hrp::default(),
            account_type: "/hyperpaxeer.types.v1.EthAccount".to_owned(),
            key_type: "/hyperpaxeer.crypto.v1.ethsecp256k1.PubKey".to_owned(),
            contracts: Contracts::default(),
            tokens: live_tokens(),
        }
    }
}

const WETH: Address = address!("0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7");

const fn walk(volatility_bps: u32) -> PriceModel {
    PriceModel::Walk { volatility_bps }
}

const fn follow(token: Address, growth_bps: u32, jitter_ppm: u32) -> PriceModel {
    PriceModel::Follow {
        token,
        growth_bps,
        jitter_ppm,
    }
}

type LiveToken = (
    &'static str,
    &'static str,
    u8,
    Address,
    u64,
    &'static str,
    PriceModel,
    LendingClass,
    u64,
);

/// The live network's tokens: symbol, name, decimals, address, reference price in cents, CoinGecko
/// id, price model, lending class, whole tokens for each development account.
#[rustfmt::skip]
const LIVE_TOKENS: &[LiveToken] = &[
    ("WBTC",   "Wrapped Bitcoin",   8,  address!("0x96465d06640aff1a00888d4b9217c9eae708c419"), 9_700_000, "wrapped-bitcoin",  walk(5_000),           Bitcoin, 10),
    ("wstETH", "Wrapped stETH",     18, address!("0xeb2c4ae6fe90f9bf25c94269236cb5408e00e188"), 424_850,   "wrapped-steth",    follow(WETH, 300, 10), Ether,   100),
    ("WETH",   "Wrapped Ethereum",  18, WETH,                                                   351_235,   "weth",             walk(7_000),           Ether,   100),
    ("BNB",    "Binance Coin",      18, address!("0xb947bcd6bcce03846ac716fc39a3133c4bf0108e"), 65_500,    "binancecoin",      walk(6_000),           Major,   500),
    ("UNI",    "Uniswap",           18, address!("0x90a271d104aea929b68867b3050efacbc1a28e84"), 988,       "uniswap",          walk(10_000),          Other,   20_000),
    ("DOT",    "Polkadot",          10, address!("0xdccec2b62dd102276b7ba689405a5cd7504a8cd3"), 721,       "polkadot",         walk(9_000),           Other,   20_000),
    ("TON",    "The Open Network",  9,  address!("0x9d60b394276e67a44f2d80e1ab7cfafa4e151f02"), 563,       "the-open-network", walk(9_000),           Other,   20_000),
    ("CRO",    "Crypto.com Chain",  8,  address!("0xa1956408cbeb4c0d2c257be394b9bdf4c9e1a061"), 17,        "crypto-com-chain", walk(9_000),           Other,   1_000_000),
    ("stETH",  "Lido Staked Ether", 18, address!("0xbbf11b964ac48bd11109b68dffe129b45671e34e"), 350_980,   "staked-ether",     follow(WETH, 0, 100),  Ether,   100),
    ("USDT",   "Tether USD",        6,  address!("0x2a401fe7616c4aba69b147b4b725ce48ca7ec660"), 100,       "tether",           PriceModel::Peg,       Stable,  250_000),
    ("SOL",    "Solana",            9,  address!("0x7100cf39ff0e845d7751fb56198b8dd16c6ecb2a"), 18_765,    "solana",           walk(9_000),           Major,   1_500),
    ("USDC",   "USD Coin",          6,  address!("0x29e1f94f6b209b57ecdc1fe87448a6d085a78a5a"), 100,       "usd-coin",         PriceModel::Peg,       Stable,  250_000),
];

fn live_tokens() -> Vec<Token> {
    LIVE_TOKENS.iter().copied().map(Token::from).collect()
}

impl From<LiveToken> for Token {
    fn from(token: LiveToken) -> Self {
        let (
            symbol,
            name,
            decimals,
            address,
            cents,
            coin_gecko_id,
            price_model,
            lending,
            development_balance,
        ) = token;

        Self {
            receipt: match symbol {
                "WETH" => address!("0xE3Df3966007483e8076230e6E7AA381D3bAc52C0"),
                _ => unpublished(&format!("p{symbol}")),
            },
            symbol: symbol.to_owned(),
            name: name.to_owned(),
            decimals,
            address,
            reference_price: cents * 1_000_000,
            coin_gecko_id: coin_gecko_id.to_owned(),
            price_model,
            lending,
            development_balance,
        }
    }
}
