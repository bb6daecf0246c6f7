//! Settings of development methods: how blocks are sealed, and whose transactions need no key.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use alloy_primitives::{Address, B256, U256};
use tetrad_stdx::codec::{Malformed, Reader, Writer};

/// A setting that a development method makes, in place of the configuration's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// When blocks are sealed.
    Mining(Mining),
    /// The base fee of the next block, in wei per gas, instead of the one of EIP-1559.
    NextBaseFee(u64),
    /// The value of `PREVRANDAO` in the next block.
    NextRandomness(B256),
    /// The account that receives the tips of new blocks.
    Beneficiary(Address),
    /// The gas limit of new blocks from the next one on, however far it is from the newest block's.
    GasLimit(u64),
    /// The minimum tip that the pool accepts, in wei per gas.
    MinTip(u128),
    /// Whether the node sends transactions of this account without its key.
    Impersonated(Address, bool),
    /// Whether the node sends transactions of all accounts without their keys.
    AllImpersonated(bool),
    /// The settings of the configuration, in place of all that development methods made.
    Configured,
}

/// The condition for sealing a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mining {
    /// Whenever transactions are ready.
    Instant,
    /// At fixed intervals, even if the block is empty.
    Interval(Duration),
    /// Only on demand.
    Manual,
    /// Whenever transactions are ready, and at fixed intervals.
    Mixed(Duration),
}

/// The settings that development methods made.
///
/// In a cluster they are entries of the log, so that they are those of all nodes and outlive the
/// one that made them. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DevSettings {
    /// The settings of new blocks.
    pub sealing: SealingSettings,
    /// The accounts whose transactions need no key.
    pub impersonated: Impersonated,
}

/// The settings of new blocks that development methods made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SealingSettings {
    /// When blocks are sealed.
    pub mining: Option<Mining>,
    /// The gas limit of new blocks.
    pub gas_limit: Option<u64>,
    /// The account that receives the tips.
    pub beneficiary: Option<Address>,
    /// The minimum tip that the pool accepts, in wei per gas.
    pub min_tip: Option<u128>,
    /// The base fee of the next block, in wei per gas.
    pub next_base_fee: Option<u64>,
    /// The value of `PREVRANDAO` in the next block.
    pub next_randomness: Option<B256>,
}

/// The accounts for which the node sends transactions without a key. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impersonated {
    /// Whether all accounts are impersonated; by default as configured.
    pub all: Option<bool>,
    /// Accounts that are impersonated individually.
    pub accounts: Arc<BTreeSet<Address>>,
}

const MINING: u8 = 1;
const NEXT_BASE_FEE: u8 = 2;
const NEXT_RANDOMNESS: u8 = 3;
const BENEFICIARY: u8 = 4;
const GAS_LIMIT: u8 = 5;
const MIN_TIP: u8 = 6;
const IMPERSONATED: u8 = 7;
const NOT_IMPERSONATED: u8 = 8;
const ALL_IMPERSONATED: u8 = 9;
const NOT_ALL_IMPERSONATED: u8 = 10;
const CONFIGURED: u8 = 11;

const INSTANT: u8 = 0;
const INTERVAL: u8 = 1;
const MANUAL: u8 = 2;
const MIXED: u8 = 3;

impl Setting {
    /// Returns the name of the change that makes it, for traces.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Mining(_) => "set mining",
            Self::NextBaseFee(_) => "set next base fee",
            Self::NextRandomness(_) => "set next randomness",
            Self::Beneficiary(_) => "set beneficiary",
            Self::GasLimit(_) => "set gas limit",
            Self::MinTip(_) => "set min tip",
            Self::Impersonated(..) => "impersonate",
            Self::AllImpersonated(_) => "impersonate all",
            Self::Configured => "discard settings",
        }
    }

    /// Encodes the setting.
    pub fn write(&self, out: &mut Writer) {
        match self {
            Self::Mining(mining) => {
                out.byte(MINING);
                mining.write(out);
            }
            Self::NextBaseFee(wei) => {
                out.byte(NEXT_BASE_FEE);
                out.number(*wei);
            }
            Self::NextRandomness(value) => {
                out.byte(NEXT_RANDOMNESS);
                out.raw(value.as_slice());
            }
            Self::Beneficiary(address) => {
                out.byte(BENEFICIARY);
                out.raw(address.as_slice());
            }
            Self::GasLimit(limit) => {
                out.byte(GAS_LIMIT);
                out.number(*limit);
            }
            Self::MinTip(wei) => {
                out.byte(MIN_TIP);
                out.wide(U256::from(*wei));
            }
            Self::Impersonated(address, on) => {
                out.byte(if *on { IMPERSONATED } else { NOT_IMPERSONATED });
                out.raw(address.as_slice());
            }
            Self::AllImpersonated(on) => out.byte(if *on {
                ALL_IMPERSONATED
            } else {
                NOT_ALL_IMPERSONATED
            }),
            Self::Configured => out.byte(CONFIGURED),
        }
    }

    /// Decodes a setting.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match from.byte()? {
            MINING => Self::Mining(Mining::read(from)?),
            NEXT_BASE_FEE => Self::NextBaseFee(from.number()?),
            NEXT_RANDOMNESS => Self::NextRandomness(from.array()?.into()),
            BENEFICIARY => Self::Beneficiary(from.array()?.into()),
            GAS_LIMIT => Self::GasLimit(from.number()?),
            MIN_TIP => Self::MinTip(from.wide()?.try_into().map_err(|_| Malformed("tip"))?),
            IMPERSONATED => Self::Impersonated(from.array()?.into(), true),
            NOT_IMPERSONATED => Self::Impersonated(from.array()?.into(), false),
            ALL_IMPERSONATED => Self::AllImpersonated(true),
            NOT_ALL_IMPERSONATED => Self::AllImpersonated(false),
            CONFIGURED => Self::Configured,
            _ => return Err(Malformed("kind of setting")),
        })
    }
}

impl Mining {
    /// Returns whether a block is sealed whenever transactions are ready.
    pub fn is_instant(self) -> bool {
        matches!(self, Self::Instant | Self::Mixed(_))
    }

    /// Returns the interval between blocks, if there is one.
    pub fn interval(self) -> Option<Duration> {
        match self {
            Self::Interval(interval) | Self::Mixed(interval) => Some(interval),
            Self::Instant | Self::Manual => None,
        }
    }

    fn write(self, out: &mut Writer) {
        out.byte(match self {
            Self::Instant => INSTANT,
            Self::Interval(_) => INTERVAL,
            Self::Manual => MANUAL,
            Self::Mixed(_) => MIXED,
        });
        if let Some(interval) = self.interval() {
            // In nanoseconds, 64 bits are 584 years: no sum with a time overflows.
            out.number(u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let kind = from.byte()?;
        let mut interval = || from.number().map(Duration::from_nanos);
        match kind {
            INSTANT => Ok(Self::Instant),
            INTERVAL => interval().map(Self::Interval),
            MANUAL => Ok(Self::Manual),
            MIXED => interval().map(Self::Mixed),
            _ => Err(Malformed("mining")),
        }
    }
}

impl DevSettings {
    /// Returns whether development methods made none.
    pub fn is_empty(&self) -> bool {
        let Impersonated { all, accounts } = &self.impersonated;
        self.sealing == SealingSettings::default() && all.is_none() && accounts.is_empty()
    }

    /// Takes a setting into account.
    pub fn set(&mut self, setting: Setting) {
        let sealing = &mut self.sealing;
        match setting {
            Setting::Mining(mining) => sealing.mining = Some(mining),
            Setting::NextBaseFee(wei) => sealing.next_base_fee = Some(wei),
            Setting::NextRandomness(value) => sealing.next_randomness = Some(value),
            Setting::Beneficiary(address) => sealing.beneficiary = Some(address),
            Setting::GasLimit(limit) => sealing.gas_limit = Some(limit),
            Setting::MinTip(wei) => sealing.min_tip = Some(wei),
            Setting::Impersonated(address, on) => {
                let accounts = Arc::make_mut(&mut self.impersonated.accounts);
                if on {
                    accounts.insert(address)
                } else {
                    accounts.remove(&address)
                };
            }
            Setting::AllImpersonated(on) => self.impersonated.all = Some(on),
            Setting::Configured => *self = Self::default(),
        }
    }

    /// Encodes the settings, as a list of each one that differs from the configuration's.
    pub fn write(&self, out: &mut Writer) {
        let SealingSettings {
            mining,
            gas_limit,
            beneficiary,
            min_tip,
            next_base_fee,
            next_randomness,
        } = self.sealing;
        let sealing = [
            mining.map(Setting::Mining),
            gas_limit.map(Setting::GasLimit),
            beneficiary.map(Setting::Beneficiary),
            min_tip.map(Setting::MinTip),
            next_base_fee.map(Setting::NextBaseFee),
            next_randomness.map(Setting::NextRandomness),
            self.impersonated.all.map(Setting::AllImpersonated),
        ];

        let accounts = self
            .impersonated
            .accounts
            .iter()
            .map(|address| Setting::Impersonated(*address, true));

        let all: Vec<_> = sealing.into_iter().flatten().chain(accounts).collect();
        out.number(all.len() as u64);
        all.iter().for_each(|setting| setting.write(out));
    }

    /// Decodes settings.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut settings = Self::default();
        for _ in 0..from.count(1)? {
            settings.set(Setting::read(from)?);
        }
        Ok(settings)
    }
}

impl SealingSettings {
    /// Discards the settings of the next block once it is sealed or superseded.
    pub fn forget_next(&mut self) {
        self.next_base_fee = None;
        self.next_randomness = None;
    }
}

impl Impersonated {
    /// Returns whether transactions of this account need no key. Without a setting, `all` decides
    /// on those that are not impersonated individually.
    pub fn includes(&self, address: Address, all: bool) -> bool {
        self.all.unwrap_or(all) || self.accounts.contains(&address)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn settings() -> impl Strategy<Value = Setting> {
        let address = || any::<u8>().prop_map(Address::repeat_byte);
        let mining = prop_oneof![
            Just(Mining::Instant),
            Just(Mining::Manual),
            any::<u64>().prop_map(|nanos| Mining::Interval(Duration::from_nanos(nanos))),
            any::<u64>().prop_map(|nanos| Mining::Mixed(Duration::from_nanos(nanos))),
        ];

        prop_oneof![
            mining.prop_map(Setting::Mining),
            any::<u64>().prop_map(Setting::NextBaseFee),
            any::<[u8; 32]>().prop_map(|value| Setting::NextRandomness(value.into())),
            address().prop_map(Setting::Beneficiary),
            any::<u64>().prop_map(Setting::GasLimit),
            any::<u128>().prop_map(Setting::MinTip),
            (address(), any::<bool>()).prop_map(|(address, on)| Setting::Impersonated(address, on)),
            any::<bool>().prop_map(Setting::AllImpersonated),
            Just(Setting::Configured),
        ]
    }

    proptest! {
        #[test]
        fn settings_are_read_as_they_were_written(
            made in prop::collection::vec(settings(), 0..40),
        ) {
            assert_read_as_written(&made)?;
        }
    }

    fn assert_read_as_written(made: &[Setting]) -> Result<(), TestCaseError> {
        let mut all = DevSettings::default();
        let mut each = Writer::default();
        for setting in made {
            all.set(*setting);
            setting.write(&mut each);
        }

        let from = &mut Reader::new(each.bytes());
        for setting in made {
            prop_assert_eq!(Setting::read(from), Ok(*setting));
        }
        prop_assert!(from.is_empty());

        let mut written = Writer::default();
        all.write(&mut written);
        let from = &mut Reader::new(written.bytes());
        prop_assert_eq!(DevSettings::read(from), Ok(all));
        prop_assert!(from.is_empty());
        Ok(())
    }
}
