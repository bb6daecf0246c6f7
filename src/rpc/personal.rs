//! The `personal` namespace: accounts whose keys the node holds.

use alloy_primitives::Address;

use super::{Context, RpcError, Table};

pub(super) fn methods(table: &mut Table) {
    table.read("personal_listAccounts", list_accounts);
}

fn list_accounts(context: &Context, (): ()) -> Result<Vec<Address>, RpcError> {
    Ok(context.keyring.addresses())
}
