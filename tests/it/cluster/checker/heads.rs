//! A client that reads the head of one node repeatedly, on one connection until that fails.

use std::sync::Arc;

use alloy::primitives::{B256, U256};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{connection::CallError, history::HeadRead, workload::Run};
use crate::cluster::POLL;

pub(super) async fn read(run: Arc<Run>, node: usize) {
    let mut heads = Vec::new();
    let reading = async {
        while heads.len() < run.options.heads {
            let error = follow(&run, node, &mut heads).await;
            if let Err(CallError::Refused(message)) = error {
                run.record_anomaly(format!("node {node} did not report its head: {message}"));
            }
            sleep(POLL).await;
        }
    };
    tokio::select! {
        () = reading => {}
        () = run.until_stopped() => {}
    }
    run.record_heads(heads);
}

/// Records the heads that one connection reports, until it fails or the limit is reached.
async fn follow(run: &Run, node: usize, heads: &mut Vec<HeadRead>) -> Result<(), CallError> {
    let mut connection = run.endpoints.connect(node).await?;
    let mut last = None;
    while heads.len() < run.options.heads {
        let number = connection.call("eth_blockNumber", json!([])).await?;
        let block = connection
            .call("eth_getBlockByNumber", json!([number, false]))
            .await?;
        let number: U256 = serde_json::from_value(number).unwrap();
        let hash: Option<B256> = match block {
            Value::Null => None,
            block => Some(serde_json::from_value(block["hash"].clone()).unwrap()),
        };
        if last.replace((number, hash)) != Some((number, hash)) {
            heads.push(HeadRead {
                node,
                connection: connection.id,
                number: number.to(),
                hash,
            });
        }
        sleep(run.options.pause).await;
    }
    Ok(())
}
