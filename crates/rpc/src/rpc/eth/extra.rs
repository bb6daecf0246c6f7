//! Methods of other nodes in addition to geth's: whole accounts, and sending that waits for the
//! receipt (EIP-7966).

use std::{borrow::Cow, sync::Arc, time::Duration};

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, B256, Bytes, U256};
use tetrad_primitives::state::{Account, Contract};
use tokio::sync::broadcast::error::RecvError;

use super::{
    TransactionRequest,
    render::{RpcReceipt, RpcTransaction},
    submit::{send_raw_transaction, send_transaction},
    transaction::receipt,
};
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    call_form::CallForm,
    hex::Quantity,
    json::{Json, JsonWriter, Object},
    params::{LooseNumber, StateBlock},
};

pub(super) fn methods(table: &mut Table) {
    table
        .read(
            "eth_requestAccounts",
            super::account::accounts,
            OnFork::Node,
        )
        .describe(
            [],
            "The accounts whose keys the node holds, as wallets return them.",
        );
    table
        .read("eth_getAccount", account, OnFork::State)
        .describe(
            ["address", "block"],
            "Balance, nonce, code hash and storage root of an account.",
        );
    table
        .read("eth_getAccountInfo", account_info, OnFork::State)
        .describe(
            ["address", "block"],
            "Balance, nonce and code of an account.",
        );
    table
        .read(
            "eth_getRawTransactionByHash",
            raw_by_hash,
            OnFork::Transaction,
        )
        .describe(
            ["transaction hash"],
            "The encoding of a transaction in the chain or the pool (EIP-2718); null if it is in \
             neither.",
        );
    table
        .apart(
            "eth_getTransactionBySenderAndNonce",
            by_sender_and_nonce,
            OnFork::OwnBlocks,
        )
        .describe(
            ["sender", "nonce"],
            "An account's transaction with this nonce; null if there is none in the pool or among \
             the blocks in memory.",
        );
    table
        .change(
            "eth_sendTransactionSync",
            send_transaction_sync,
            OnFork::Node,
        )
        .awaits_receipt()
        .describe(
            ["transaction"],
            "Signs with a key that the node holds, submits, and returns the receipt.",
        );
    table
        .change(
            "eth_sendRawTransactionSync",
            send_raw_transaction_sync,
            OnFork::Node,
        )
        .records_failures(CallForm::Raw)
        .awaits_receipt()
        .describe(
            ["signed transaction", "timeout"],
            "Submits a signed transaction and returns its receipt (EIP-7966), or error 4 if there \
             is none within the timeout in milliseconds, by default and with 0 in 20 seconds.",
        );
}

/// The time that a sender waits for a receipt by default.
const RECEIPT_TIMEOUT: Duration = Duration::from_secs(20);
/// The maximum time that a sender waits for a receipt.
const MAX_RECEIPT_TIMEOUT: Duration = Duration::from_secs(60);

/// An account as in its leaf of the state trie, or with its code.
struct RpcAccount {
    account: Option<Account>,
    with_code: bool,
}

impl Json for RpcAccount {
    fn write(&self, out: &mut JsonWriter) {
        let account = self.account.as_ref();
        let balance = account.map_or(U256::ZERO, |account| account.balance);
        let nonce = account.map_or(0, |account| account.nonce);

        let mut object = Object::begin(out);
        object
            .member("balance", &Quantity(balance))
            .member("nonce", &Quantity(nonce));

        if self.with_code {
            let code = account.map(|account| account.code().original_bytes());
            object.member("code", &code.unwrap_or_default());
        } else {
            let none = Contract::default();
            let code_hash = account.map_or(none.code_hash, |account| account.code_hash());
            let storage_root = account.map_or(none.storage_root, |account| account.storage_root());
            object
                .member("codeHash", &code_hash)
                .member("storageRoot", &storage_root);
        }
        object.end();
    }
}

/// Balance, nonce, code hash and storage root.
fn account(
    context: &Context,
    (address, block): (Address, StateBlock),
) -> Result<RpcAccount, RpcError> {
    let account = context
        .chain
        .view(block.0)?
        .state
        .get(address)?
        .map(Cow::into_owned);
    Ok(RpcAccount {
        account,
        with_code: false,
    })
}

/// Balance, nonce and code.
fn account_info(context: &Context, params: (Address, StateBlock)) -> Result<RpcAccount, RpcError> {
    Ok(RpcAccount {
        with_code: true,
        ..account(context, params)?
    })
}

/// The encoding of a transaction in the chain or the pool (EIP-2718); null if it is in neither.
fn raw_by_hash(context: &Context, (hash,): (B256,)) -> Result<Option<Bytes>, RpcError> {
    // The pool first: a transaction leaves it only after it is in the chain, so none is missed on
    // its way.
    let pooled = context.chain.pool().get(hash);
    let head = context.chain.head();
    let mined = context
        .chain
        .transaction(&head, hash)
        .map(|(block, index)| block.transactions[index].clone());
    let found = mined.or_else(|| pooled.map(|pooled| pooled.transaction.clone()));
    Ok(found.map(|transaction| transaction.encode().into()))
}

/// An account's transaction with this nonce; null if there is none in the pool or among the blocks
/// in memory.
fn by_sender_and_nonce(
    context: &Context,
    (sender, nonce): (Address, u64),
) -> Result<Option<RpcTransaction>, RpcError> {
    // The pool first: a transaction leaves it only after it is in the chain.
    if let Some(pooled) = context.chain.pool().of_nonce(sender, nonce) {
        return Ok(Some(RpcTransaction::Waiting(pooled.transaction.clone())));
    }

    let head = context.chain.head();
    // The account has not used this nonce yet.
    if head.state.nonce(sender)? <= nonce {
        return Ok(None);
    }

    for block in head.blocks_from(0).rev() {
        let index = block.transactions.iter().position(|transaction| {
            transaction.sender == sender && transaction.envelope.nonce() == nonce
        });
        if let Some(index) = index {
            return Ok(Some(RpcTransaction::Mined(block.clone(), index)));
        }
    }
    Ok(None)
}

/// Signs, submits and waits for the receipt.
async fn send_transaction_sync(
    context: Arc<Context>,
    (request,): (TransactionRequest,),
) -> Result<RpcReceipt, RpcError> {
    let hash = send_transaction(context.clone(), (request,)).await?;
    wait(&context, hash, RECEIPT_TIMEOUT).await
}

/// Submits and waits for the receipt, with a timeout in milliseconds.
async fn send_raw_transaction_sync(
    context: Arc<Context>,
    (raw, timeout): (Bytes, Option<LooseNumber>),
) -> Result<RpcReceipt, RpcError> {
    // As in geth, no time is the default.
    let timeout = timeout
        .map(|ms| Duration::from_millis(ms.0))
        .filter(|timeout| !timeout.is_zero())
        .map_or(RECEIPT_TIMEOUT, |timeout| timeout.min(MAX_RECEIPT_TIMEOUT));

    let hash = send_raw_transaction(context.clone(), (raw,)).await?;
    wait(&context, hash, timeout).await
}

/// The receipt, as soon as there is one.
async fn wait(context: &Context, hash: B256, timeout: Duration) -> Result<RpcReceipt, RpcError> {
    // No event after this is missed.
    let mut events = context.chain.subscribe();
    let mined = async {
        loop {
            if let Some(receipt) = receipt(context, (hash,))? {
                return Ok(receipt);
            }
            // Missed events do not matter: the receipt is looked up again anyway.
            if let Err(RecvError::Closed) = events.recv().await {
                return Err(tetrad_chain::Stopped::Ended.into());
            }
        }
    };

    tokio::time::timeout(timeout, mined)
        .await
        .unwrap_or_else(|_| Err(RpcError::no_receipt(hash, timeout)))
}
