//! The public consensus cases: chains of every fork and transition, with blocks that a client must
//! accept and blocks that it must reject.
//!
//! Each case begins with a genesis file, and its blocks are applied like those of `--import`. A
//! case may have branches: a block is applied to the chain that ends with its parent.

use std::{
    collections::{BTreeMap, HashMap},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_rlp::Decodable;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tetrad::genesis::file::parse;
use tetrad_chain::{ForeignBlock, Head, HistoryLimits, Recovered, apply};

use super::suite;

/// Why a merge at a total difficulty is not supported.
const TOTAL_DIFFICULTY: &str =
    "a merge at a total difficulty depends on proof of work: a file that asks for it is refused";

/// Cases that fail, with the reason. Passing cases must not be listed.
const EXPECTED_FAILURES: [(&str, &str); 2] = [
    (
        "powToPosBlockRejection_ArrowGlacierToParisAtDiffC0000",
        TOTAL_DIFFICULTY,
    ),
    (
        "powToPosTest_ArrowGlacierToParisAtDiffC0000",
        TOTAL_DIFFICULTY,
    ),
];

/// Forks by the names of the suite, in order, with their fields in a genesis file.
const FORKS: [(&str, &[&str]); 24] = [
    ("Frontier", &[]),
    ("Homestead", &["homesteadBlock"]),
    ("Dao", &["daoForkBlock"]),
    ("EIP150", &["eip150Block"]),
    ("EIP158", &["eip155Block", "eip158Block"]),
    ("Byzantium", &["byzantiumBlock"]),
    ("Constantinople", &["constantinopleBlock"]),
    ("ConstantinopleFix", &["petersburgBlock"]),
    ("Istanbul", &["istanbulBlock"]),
    ("MuirGlacier", &["muirGlacierBlock"]),
    ("Berlin", &["berlinBlock"]),
    ("London", &["londonBlock"]),
    ("ArrowGlacier", &["arrowGlacierBlock"]),
    ("GrayGlacier", &["grayGlacierBlock"]),
    ("Paris", &["mergeNetsplitBlock"]),
    ("Shanghai", &["shanghaiTime"]),
    ("Cancun", &["cancunTime"]),
    ("Prague", &["pragueTime"]),
    ("Osaka", &["osakaTime"]),
    ("BPO1", &["bpo1Time"]),
    ("BPO2", &["bpo2Time"]),
    ("BPO3", &["bpo3Time"]),
    ("BPO4", &["bpo4Time"]),
    ("BPO5", &["bpo5Time"]),
];

/// A block number that no case reaches.
const NEVER: u64 = 1 << 40;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    network: String,
    #[serde(default)]
    config: Value,
    pre: Value,
    genesis_block_header: Map<String, Value>,
    blocks: Vec<CaseBlock>,
    #[serde(rename = "lastblockhash")]
    last_block_hash: B256,
    post_state: Option<BTreeMap<Address, PostAccount>>,
    post_state_hash: Option<B256>,
}

#[derive(Deserialize)]
struct CaseBlock {
    rlp: String,
    #[serde(default, rename = "chainname")]
    branch: String,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Deserialize)]
struct PostAccount {
    nonce: String,
    balance: String,
    code: Bytes,
    storage: BTreeMap<String, String>,
}

/// A number in the suite's notation, with leading zeros or without digits.
fn number(text: &str) -> U256 {
    let digits = text.trim_start_matches("0x");
    if digits.is_empty() {
        U256::ZERO
    } else {
        U256::from_str_radix(digits, 16).unwrap()
    }
}

/// The position of a fork in the order of forks.
fn position(name: &str) -> usize {
    FORKS
        .iter()
        .position(|(fork, _)| *fork == name)
        .unwrap_or_else(|| panic!("{name}?"))
}

/// The `config` of a genesis file for a network of the suite, such as `Cancun` or
/// `ParisToShanghaiAtTime15k`.
fn chain_config(network: &str, own: &Value) -> Value {
    let (rules, next) = match network.split_once("To") {
        Some((rules, next)) => (rules, Some(next.split_once("At").unwrap())),
        None => (network, None),
    };
    let mut config = Map::new();
    config.insert("chainId".to_owned(), json!(1));
    let mut begin = |name: &str, at: u64| {
        for field in FORKS[position(name)].1 {
            config.insert((*field).to_owned(), json!(at));
        }
    };

    // Later forks do not include the DAO fork.
    FORKS[..=position(rules)]
        .iter()
        .filter(|(name, _)| *name != "Dao")
        .for_each(|(name, _)| begin(name, 0));
    if rules == "Constantinople" {
        begin("ConstantinopleFix", NEVER);
    }

    if let Some((name, at)) = next {
        let first = match at.strip_prefix("Time") {
            Some("15k") => 15_000,
            _ => at.parse().unwrap_or(NEVER),
        };
        match at.strip_prefix("Diff") {
            Some(total) => drop(config.insert(
                "terminalTotalDifficulty".to_owned(),
                json!(format!("0x{total}")),
            )),
            None => FORKS[position(rules) + 1..=position(name)]
                .iter()
                .filter(|(between, _)| *between != "Dao" || name == "Dao")
                .for_each(|(name, _)| begin(name, first)),
        }
        if name == "Dao" {
            config.insert("daoForkSupport".to_owned(), json!(true));
        }
    }

    if let Some(schedule) = own["blobSchedule"].as_object() {
        let quantity = |value: &Value| json!(number(value.as_str().unwrap()).to::<u64>());
        let schedule = schedule.iter().map(|(fork, blobs)| {
            let blobs = json!({
                "target": quantity(&blobs["target"]),
                "max": quantity(&blobs["max"]),
                "baseFeeUpdateFraction": quantity(&blobs["baseFeeUpdateFraction"]),
            });
            (fork.to_ascii_lowercase(), blobs)
        });
        config.insert("blobSchedule".to_owned(), schedule.collect());
    }
    config.into()
}

/// The genesis file of a case.
fn genesis_file(case: &Case) -> String {
    let header = &case.genesis_block_header;
    let mut genesis =
        json!({ "config": chain_config(&case.network, &case.config), "alloc": case.pre });
    for field in [
        "nonce",
        "timestamp",
        "extraData",
        "gasLimit",
        "difficulty",
        "mixHash",
        "coinbase",
        "baseFeePerGas",
        "excessBlobGas",
        "blobGasUsed",
        "number",
        "parentHash",
    ] {
        if let Some(value) = header.get(field) {
            genesis[field] = value.clone();
        }
    }
    genesis.to_string()
}

/// Decodes a complete block.
fn decode(rlp: &str) -> Result<ForeignBlock, String> {
    let bytes: Bytes = rlp.parse().map_err(|error| format!("{error}"))?;
    let mut rest = &bytes[..];
    let block = ForeignBlock::decode(&mut rest).map_err(|error| error.to_string())?;
    if rest.is_empty() {
        Ok(block)
    } else {
        Err("bytes after the block".to_owned())
    }
}

fn run(case: &Case) -> Result<(), String> {
    let (genesis, params) =
        parse(&genesis_file(case)).map_err(|error| format!("genesis: {error}"))?;
    let first = genesis
        .build(Arc::new(params))
        .map_err(|error| error.to_string())?;

    let expected: B256 = case.genesis_block_header["hash"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    if first.block.hash != expected {
        return Err(format!(
            "the first block has the hash {}, not {expected}",
            first.block.hash
        ));
    }

    let branches = case
        .blocks
        .iter()
        .any(|block| block.branch != case.blocks[0].branch);

    let mut newest = first.block.hash;
    let mut heads = HashMap::from([(newest, first)]);
    for (index, block) in case.blocks.iter().enumerate() {
        // Older cases mark invalid blocks by missing members.
        let refused = block
            .rest
            .keys()
            .any(|key| key.starts_with("expectException"))
            || !block.rest.contains_key("blockHeader");

        match (extend(&mut heads, &block.rlp), refused) {
            (Ok(hash), false) => newest = hash,
            (Err(_), true) => {}
            (Ok(_), true) => {
                return Err(format!("entry {index} was taken, although it is invalid"));
            }
            (Err(error), false) => return Err(format!("entry {index} was refused: {error}")),
        }
    }

    if !branches && newest != case.last_block_hash {
        return Err(format!(
            "the last block is {newest}, not {}",
            case.last_block_hash
        ));
    }

    // Proof of work decides between branches.
    let head = heads
        .get(&case.last_block_hash)
        .ok_or("the last block is missing")?;
    compare(head, case)
}

/// Applies a block to the chain that ends with its parent.
fn extend(heads: &mut HashMap<B256, Head>, rlp: &str) -> Result<B256, String> {
    let block = decode(rlp)?;
    let parent = heads
        .get(&block.header.parent_hash)
        .ok_or("its parent is unknown")?;
    let applied = apply(parent, block).map_err(|error| error.to_string())?;
    let hash = applied.block.hash;
    let mut chain = Recovered::in_memory(parent.clone());
    chain
        .extend(applied, HistoryLimits::default())
        .map_err(|error| error.to_string())?;
    heads.insert(hash, chain.head);
    Ok(hash)
}

/// Compares a state with the final state of the case.
fn compare(head: &Head, case: &Case) -> Result<(), String> {
    if let Some(expected) = case
        .post_state_hash
        .filter(|expected| *expected != head.state.root())
    {
        return Err(format!(
            "the state root is {}, not {expected}",
            head.state.root()
        ));
    }

    let Some(expected) = &case.post_state else {
        return Ok(());
    };

    if head.state.len() != expected.len() {
        return Err(format!(
            "{} accounts instead of {}",
            head.state.len(),
            expected.len()
        ));
    }

    for account in head.state.accounts() {
        let address = account.address;
        let expected = expected
            .get(&address)
            .ok_or_else(|| format!("{address} should not exist"))?;
        let storage: BTreeMap<U256, U256> = expected
            .storage
            .iter()
            .map(|(slot, value)| (number(slot), number(value)))
            .collect();
        let slots = account
            .contract
            .iter()
            .flat_map(|contract| contract.storage.iter());
        let stored: BTreeMap<U256, U256> =
            slots.map(|(_, slot)| (slot.index, slot.value)).collect();

        let same = U256::from(account.nonce) == number(&expected.nonce)
            && account.balance == number(&expected.balance)
            && account.code().original_bytes() == expected.code
            && stored == storage;
        if !same {
            return Err(format!("{address} is not what it should be"));
        }
    }

    Ok(())
}

/// Every file below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            found.push(path);
        }
    }
}

/// Runs the cases of one file. Returns the outcome of each.
fn outcomes(path: &Path) -> Vec<(String, Result<(), String>)> {
    let cases: BTreeMap<String, Case> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    cases
        .iter()
        .map(|(name, case)| (name.clone(), outcome(case)))
        .collect()
}

/// Runs a case; a panic is a failure of this case only.
fn outcome(case: &Case) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| run(case)))
        .unwrap_or_else(|_| Err("panicked; see above".to_owned()))
}

#[test]
fn every_consensus_case_passes_or_is_listed_with_a_reason() {
    let Some(folder) = suite() else { return };
    let mut paths = Vec::new();
    files(&folder.join("blockchain_tests"), &mut paths);
    assert!(!paths.is_empty(), "no cases");

    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());

    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = outcomes(path);
                    all.lock().extend(
                        found
                            .into_iter()
                            .map(|(name, outcome)| (path, name, outcome)),
                    );
                }
            });
        }
    });

    let all = all.into_inner();
    let listed = |name: &str| EXPECTED_FAILURES.iter().any(|(case, _)| *case == name);
    let mut wrong: Vec<String> = all
        .iter()
        .filter_map(|(path, name, outcome)| match (outcome, listed(name)) {
            (Ok(()), false) | (Err(_), true) => None,
            (Ok(()), true) => Some(format!("{name}: passes, although it is listed")),
            (Err(error), false) => Some(format!("{}: {name}: {error}", path.display())),
        })
        .collect();

    wrong.sort();
    let unknown = EXPECTED_FAILURES
        .iter()
        .find(|(case, _)| !all.iter().any(|(_, name, _)| name == case));
    assert!(unknown.is_none(), "listed, but not a case: {unknown:?}");

    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        all.len(),
        wrong.join("\n")
    );
}
