//! Execution requests to the consensus layer (EIP-7685), and deposits among them (EIP-6110).

use alloy_eips::eip7685::Requests;
use alloy_primitives::{Address, Bytes, Log};
use alloy_sol_types::{SolEvent, sol};
use tetrad_primitives::block::Receipt;

const DEPOSIT_REQUEST: u8 = 0;

sol! {
    event DepositEvent(bytes pubkey, bytes withdrawal_credentials, bytes amount, bytes signature, bytes index);
}

/// A deposit event that lacks the deposit contract's fixed layout.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, thiserror::Error,
)]
#[error("malformed event of the deposit contract")]
pub struct MalformedDeposit;

/// Collects the deposits among the receipts' events into `requests`.
pub(super) fn collect_deposits(
    contract: Address,
    receipts: &[Receipt],
    requests: &mut Requests,
) -> Result<(), MalformedDeposit> {
    let mut deposits = Vec::new();
    for log in receipts
        .iter()
        .flat_map(|receipt| &receipt.logs)
        .filter(|log| log.address == contract)
    {
        // Sepolia's deposit contract emits `Transfer` as well.
        if log.topics().first() == Some(&DepositEvent::SIGNATURE_HASH) {
            deposits.extend_from_slice(&deposit(log)?);
        }
    }

    if !deposits.is_empty() {
        requests.push_request_with_type(DEPOSIT_REQUEST, Bytes::from(deposits));
    }
    Ok(())
}

fn deposit(log: &Log) -> Result<Vec<u8>, MalformedDeposit> {
    let event = DepositEvent::decode_log_data(&log.data).map_err(|_| MalformedDeposit)?;
    let fields = [
        event.pubkey,
        event.withdrawal_credentials,
        event.amount,
        event.signature,
        event.index,
    ];

    // A block with an event of another layout is invalid (EIP-6110).
    let sizes_hold = fields
        .iter()
        .zip([48, 32, 8, 96, 8])
        .all(|(field, size)| field.len() == size);
    if sizes_hold {
        Ok(fields.concat())
    } else {
        Err(MalformedDeposit)
    }
}
