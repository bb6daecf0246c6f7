//! Entry points for fuzzers: the readers of client input. Each returns how much of its input was
//! accepted.

use std::sync::LazyLock;

use alloy_primitives::{Address, U256};
use serde_json::value::RawValue;
use tetrad_chain::{Chain, Change, ChangeError, Dump, Pace};

use super::{
    Rpc,
    dev::read_dump,
    envelope::{self, Batch, Body},
    error::Dialect,
    eth::check_typed_data,
    params::{ParamReader, ParamRules, Params},
};

/// The memory that a dump may take in bytes.
const MAX_DUMP: usize = 16 << 20;

/// Reads a body as a request or a batch, in both dialects; returns the number of requests in the
/// network's.
pub fn envelope(body: &[u8]) -> usize {
    let count = requests(body, Dialect::Network);
    requests(body, Dialect::Ethereum);
    count
}

/// The number of valid requests in a body.
fn requests(body: &[u8], dialect: Dialect) -> usize {
    match envelope::read_body(body, usize::MAX, dialect) {
        Err(_) | Ok(Body::Single(Err(_))) => 0,
        Ok(Body::Single(Ok(request))) => {
            let rules = ParamRules::new(dialect, false);
            let _ = <(Option<U256>, Option<Address>, Option<String>)>::read(request.params, rules);
            1
        }
        Ok(Body::Batch(Batch::TooLong)) => 0,
        Ok(Body::Batch(Batch::Items(items))) => items
            .into_iter()
            .filter_map(|item| item.request(dialect).ok())
            .count(),
    }
}

/// Reads JSON as a parameter of every type that a method takes; returns the number of types that
/// accept it.
pub fn parameters(json: &[u8]) -> usize {
    // Parameters are read only after the body has been parsed as JSON.
    let Ok(json) = serde_json::from_slice::<&RawValue>(json) else {
        return 0;
    };

    static READERS: LazyLock<Vec<ParamReader>> = LazyLock::new(|| Rpc::methods(true).readers());
    let is_typed_data = check_typed_data(json.get());
    let accepting = READERS
        .iter()
        .filter(|reader| (reader.reads)(json.get()))
        .count();
    accepting + usize::from(is_typed_data)
}

/// Reads JSON as typed data (EIP-712), and hashes it in all of its forms.
pub fn typed_data(json: &[u8]) -> usize {
    let Ok(json) = serde_json::from_slice::<&RawValue>(json) else {
        return 0;
    };
    usize::from(check_typed_data(json.get()))
}

/// Loads a dump into a chain, which then continues, and whose own dump leads to the same state.
pub async fn dump(chain: &Chain, packed: &[u8]) -> usize {
    let limits = chain.history_limits();
    let Ok(dump) = read_dump(packed, MAX_DUMP) else {
        return 0;
    };
    let Ok(prepared) = dump.prepare(chain.params(), limits) else {
        return 0;
    };
    if let Err(error) = chain.change(Change::Load(prepared)).await {
        assert!(
            !matches!(error, ChangeError::Stopped(_)),
            "loading a dump ended the writer: {error}"
        );
        return 0;
    }

    check_restores(chain).await;

    // What the dump says about blocks and times may be too much for a next block, but never for the
    // writer.
    let mined = chain.mine(1, Pace::default()).await;
    assert!(
        !matches!(mined, Err(ChangeError::Stopped(_))),
        "a block after a dump ended the writer"
    );
    1
}

/// Checks that a chain's own dump leads to the same block and state.
async fn check_restores(chain: &Chain) {
    let (head, ahead) = chain
        .present()
        .await
        .expect("the writer answers after it has loaded a dump");
    let mut written = Vec::new();
    Dump::write(&head, ahead, &mut written).expect("a chain can be written");

    let again = read_dump(&written[..], usize::MAX).expect("a dump of this node can be read");
    let prepared = again
        .prepare(chain.params(), chain.history_limits())
        .expect("a dump of this node is complete");
    let restored = prepared
        .restored(&head)
        .expect("a dump of this node can be loaded");
    assert_eq!(restored.block.hash, head.block.hash);
    assert_eq!(restored.state.root(), head.state.root());
}
