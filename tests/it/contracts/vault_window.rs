//! The optional limit on the part of a reserve that the swaps of an hour may take together.

use alloy_primitives::{Bytes, U256};
use tetrad_contracts::contracts::bindings::{Vault, VaultErrors};

use super::{
    bench::{Receipt, refusal},
    network::{ALICE, Network, OWNER, VAULT},
    tokens::TokenInfo,
};

const HOUR: u64 = 3_600;

fn limited(bps_per_hour: u16) -> Network {
    let mut network = Network::new();
    let receipt = network
        .send(
            OWNER,
            VAULT,
            Vault::setImpactWindowCall {
                bpsPerHour: bps_per_hour,
            },
        )
        .unwrap();
    let event = Vault::ImpactWindowChanged {
        previousBps: U256::ZERO,
        newBps: U256::from(bps_per_hour),
    };
    assert_eq!(receipt.event::<Vault::ImpactWindowChanged>(), event);
    assert_eq!(
        network.look(VAULT, Vault::impactWindowBpsCall {}),
        bps_per_hour
    );
    network
}

/// Swaps USDT for USDC, both worth a dollar; the USDC reserve starts at ten million.
fn take(network: &mut Network, dollars: u64) -> Result<Receipt, Bytes> {
    let usdt = TokenInfo::of("USDT");
    let usdc = TokenInfo::of("USDC");
    network.swap(ALICE, (usdt, usdc), usdt.worth(dollars), U256::ZERO)
}

fn exceeded(impact_bps: u64, max_impact_bps: u64) -> Bytes {
    let impactBps = U256::from(impact_bps);
    let maxImpactBps = U256::from(max_impact_bps);
    refusal(VaultErrors::ImpactWindowExceeded {
        impactBps,
        maxImpactBps,
    })
}

#[test]
fn the_window_is_off_unless_the_owner_turns_it_on() {
    let mut network = Network::new();
    assert_eq!(network.look(VAULT, Vault::impactWindowBpsCall {}), 0);
    for _ in 0..10 {
        take(&mut network, 500_000).unwrap();
    }
}

#[test]
fn swaps_of_an_hour_share_one_window() {
    let mut network = limited(1_000);
    take(&mut network, 500_000).unwrap();
    // 5 % of ten million, then 5 % of nine and a half, and a little more.
    take(&mut network, 475_000).unwrap();
    assert_eq!(take(&mut network, 1).unwrap_err(), exceeded(1_001, 1_000));
}

#[test]
fn a_swap_may_take_exactly_the_remaining_allowance() {
    let mut network = limited(500);
    take(&mut network, 500_000).unwrap();
    assert_eq!(take(&mut network, 1).unwrap_err(), exceeded(501, 500));
}

#[test]
fn the_allowance_recovers_evenly() {
    let mut network = limited(500);
    take(&mut network, 500_000).unwrap();
    network.wait(HOUR / 2);
    assert_eq!(take(&mut network, 237_501).unwrap_err(), exceeded(501, 500));
    take(&mut network, 237_500).unwrap();
    network.wait(HOUR);
    take(&mut network, 463_125).unwrap();
    assert_eq!(take(&mut network, 1).unwrap_err(), exceeded(501, 500));
}

#[test]
fn small_swaps_count_for_their_exact_impact() {
    let mut network = limited(500);
    // Each is worth a hundredth of a basis point. If each counted as a whole one, the window would
    // be full before the end.
    for _ in 0..600 {
        take(&mut network, 10).unwrap();
    }
}

#[test]
fn each_reserve_has_its_own_window() {
    let mut network = limited(500);
    take(&mut network, 500_000).unwrap();
    let usdt = TokenInfo::of("USDT");
    let usdc = TokenInfo::of("USDC");
    network
        .swap(ALICE, (usdc, usdt), usdc.worth(500_000), U256::ZERO)
        .unwrap();
}

#[test]
fn an_impact_window_above_100_percent_is_refused() {
    let mut network = Network::new();
    let refused = network
        .send(
            OWNER,
            VAULT,
            Vault::setImpactWindowCall { bpsPerHour: 10_001 },
        )
        .unwrap_err();
    assert_eq!(
        refused,
        refusal(VaultErrors::InvalidImpactWindow {
            bpsPerHour: U256::from(10_001)
        })
    );
    network
        .send(
            OWNER,
            VAULT,
            Vault::setImpactWindowCall { bpsPerHour: 10_000 },
        )
        .unwrap();
}
