//! Failures of calls and transactions: their decoded reasons, and a record of the newest ones.

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, Bytes};
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::{BlockId, View};
use tetrad_contracts::sources::text::{custom_error, plain};
use tetrad_primitives::block::Submission;
use tetrad_stdx::failed_calls::FailedCall;

use super::{
    Context, RpcError,
    call_form::CallForm,
    error::{REVERTED, SERVER_ERROR, TIMEOUT},
    eth::BLOB_TYPE,
    hex::Quantity,
};

/// The message of a revert without a reason that every client knows.
const REVERT: &str = "execution reverted";
/// The longest block parameter that is recorded.
const MAX_BLOCK: usize = 256;

impl Context {
    /// The error with the name and the arguments of a custom error in its message, if the error is
    /// known: that of the contract which was called, or else of any known contract.
    pub(super) fn explained(&self, error: RpcError, view: &View, to: Option<Address>) -> RpcError {
        let Some(data) = error
            .data
            .as_ref()
            // A longer message contains the reason already.
            .filter(|_| error.code == REVERTED && error.message == REVERT)
        else {
            return error;
        };

        let contract = to.and_then(|to| self.known.at(view, to));
        let known = self.known.error(contract.as_deref(), data);
        match known.and_then(|known| custom_error(data, &known, plain)) {
            Some(reason) => RpcError {
                message: format!("{REVERT}: {reason}"),
                ..error
            },
            None => error,
        }
    }

    /// Records that a method failed, unless its parameters were wrong.
    pub(super) fn record_failure(
        &self,
        method: &'static str,
        form: CallForm,
        params: Option<&RawValue>,
        error: &RpcError,
    ) {
        if !matches!(error.code, REVERTED | SERVER_ERROR | TIMEOUT) {
            return;
        }

        let params: Vec<&RawValue> = params
            .and_then(|params| serde_json::from_str(params.get()).ok())
            .unwrap_or_default();
        let given = |at: usize| params.get(at).copied().filter(|raw| raw.get() != "null");
        let call = match form {
            CallForm::Call | CallForm::Transaction => given(0).map(ToOwned::to_owned),
            CallForm::Raw => given(0).and_then(decoded),
        };
        // Only calls have a block and overrides.
        let of_call = |at| given(at).filter(|_| form == CallForm::Call);

        let reason = error
            .message
            .strip_prefix(REVERT)
            .and_then(|rest| rest.strip_prefix(": "));

        self.config.failed_calls.add(FailedCall {
            time_ms: self.config.failed_calls.now_ms(),
            method,
            call,
            block: self.block_of(of_call(1)),
            state_overrides: of_call(2).map(ToOwned::to_owned),
            block_overrides: of_call(3).map(ToOwned::to_owned),
            code: error.code,
            message: error.message.clone(),
            data: error.data.clone(),
            reason: reason.map(ToOwned::to_owned),
        });
    }

    /// The number of a block as a parameter.
    fn quantity_of(&self, id: BlockId) -> Option<Box<RawValue>> {
        let number = self.chain.number(&self.chain.head(), id)?;
        serde_json::value::to_raw_value(&Quantity(number)).ok()
    }

    /// The block parameter of a call that has run, with a number in place of a name that moves.
    fn block_of(&self, given: Option<&RawValue>) -> Option<Box<RawValue>> {
        match given.map(RawValue::get) {
            // These name another block by the time the failure is looked at.
            None | Some(r#""latest""# | r#""pending""#) => self.quantity_of(BlockId::Latest),
            Some(r#""safe""#) => self.quantity_of(BlockId::Safe),
            Some(r#""finalized""#) => self.quantity_of(BlockId::Finalized),
            Some(long) if long.len() > MAX_BLOCK => None,
            Some(_) => given.map(ToOwned::to_owned),
        }
    }
}

/// An encoded transaction as a transaction object.
fn decoded(raw: &RawValue) -> Option<Box<RawValue>> {
    let raw: Bytes = serde_json::from_str(raw.get()).ok()?;
    // Its blobs would be verified again.
    if raw.first() == Some(&BLOB_TYPE) {
        return None;
    }

    let transaction = Submission::decode(&raw).ok()?.transaction;
    let envelope = &transaction.envelope;
    let mut call = json!({
        "from": transaction.sender,
        "gas": Quantity(envelope.gas_limit()),
        "value": envelope.value(),
        "input": envelope.input(),
        "nonce": Quantity(envelope.nonce()),
    });
    if let Some(to) = envelope.to() {
        call["to"] = json!(to);
    }
    if let Some(list) = envelope.access_list().filter(|list| !list.is_empty()) {
        call["accessList"] = serde_json::to_value(list).unwrap_or(Value::Null);
    }
    serde_json::value::to_raw_value(&call).ok()
}
