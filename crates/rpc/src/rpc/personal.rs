//! The `personal` namespace: accounts whose keys the node holds.

use alloy_primitives::{Address, Bytes};

use super::{
    Context, OnFork, RpcError, Table,
    eth::{recover_message, sign_message},
};

pub(super) fn methods(table: &mut Table) {
    table
        .read("personal_listAccounts", list_accounts, OnFork::Node)
        .describe([], "The accounts whose keys the node holds.");

    table.execute("personal_sign", sign, OnFork::Node).describe(
        ["message", "address", "password"],
        "Signs a message (EIP-191). Keys have no passwords here.",
    );

    table
        .execute("personal_ecRecover", ec_recover, OnFork::Node)
        .describe(
            ["message", "signature"],
            "The account that signed a message (EIP-191).",
        );
}

fn list_accounts(context: &Context, (): ()) -> Result<Vec<Address>, RpcError> {
    Ok(context.keyring.addresses())
}

/// Signs a message with the key of an account that the node holds. Keys have no passwords here; a
/// given one is ignored.
fn sign(
    context: &Context,
    (message, address, _): (Bytes, Address, Option<String>),
) -> Result<Bytes, RpcError> {
    sign_message(context, address, &message)
}

/// The account that signed a message.
fn ec_recover(_: &Context, (message, signature): (Bytes, Bytes)) -> Result<Address, RpcError> {
    recover_message(&message, &signature)
}
