//! The methods of subscriptions, which WebSockets have.

use crate::rpc::{Table, subscriptions::Subscriptions};

pub(super) fn methods(table: &mut Table) {
    table
        .on_connection("eth_subscribe", Subscriptions::subscribe)
        .describe(
            ["topic", "options"],
            "Subscribes this connection to `newHeads`, `logs`, `newPendingTransactions` or \
             `syncing`; the result is the subscription's id, which its notifications have.",
        );

    table
        .on_connection("eth_unsubscribe", Subscriptions::unsubscribe)
        .describe(["subscription"], "Ends a subscription of this connection.");
}
