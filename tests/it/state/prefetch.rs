//! Executions on a fork with a remote base have the same results as on a complete state, and read
//! nothing one by one.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use alloy_primitives::{Address, B256, Bytes, U256};
use proptest::prelude::*;
use tetrad_evm::{
    BlockExecutor, Call, CallContext, ChainParams, Environment, Fork, Forks, Overlay,
    StateOverrides,
};
use tetrad_primitives::{
    block::{GasPrice, Transaction, TransactionFields},
    state::{Account, Base, ReadError, State, TracedCall, Wanted},
};

use super::forked::{LocalBase, NoBlocks};

/// Another chain's state, of which only fetched items are at hand.
#[derive(Debug)]
struct RemoteBase {
    state: LocalBase,
    fetched: Mutex<BTreeSet<Wanted>>,
    /// The number of fetches of many items, and of reads of single ones.
    rounds: AtomicUsize,
    singles: AtomicUsize,
    /// Whether some fetched items do not arrive.
    loses: bool,
}

impl RemoteBase {
    fn below(state: &State, loses: bool) -> Arc<Self> {
        Arc::new(Self {
            state: LocalBase(state.clone()),
            fetched: Mutex::default(),
            rounds: AtomicUsize::new(0),
            singles: AtomicUsize::new(0),
            loses,
        })
    }

    fn has(&self, wanted: Wanted) -> bool {
        self.fetched.lock().unwrap().contains(&wanted)
    }
}

impl Base for RemoteBase {
    fn account(&self, address: &Address) -> Result<Option<Account>, ReadError> {
        if !self.has(Wanted::Account(*address)) {
            self.singles.fetch_add(1, Ordering::Relaxed);
        }
        self.state.account(address)
    }

    fn slot(&self, address: &Address, index: U256) -> Result<U256, ReadError> {
        if !self.has(Wanted::Slot(*address, index)) {
            self.singles.fetch_add(1, Ordering::Relaxed);
        }
        self.state.slot(address, index)
    }

    fn block_hash(&self, _: u64) -> Result<Option<B256>, ReadError> {
        Ok(None)
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn account_at_hand(&self, address: &Address) -> Result<Option<Option<Account>>, ReadError> {
        if !self.has(Wanted::Account(*address)) {
            return Ok(None);
        }
        self.state.account(address).map(Some)
    }

    fn slot_at_hand(&self, address: &Address, index: U256) -> Result<Option<U256>, ReadError> {
        if !self.has(Wanted::Slot(*address, index)) {
            return Ok(None);
        }
        self.state.slot(address, index).map(Some)
    }

    fn fetch(&self, wanted: &[Wanted], _: Option<&TracedCall>) -> Result<(), ReadError> {
        let round = self.rounds.fetch_add(1, Ordering::Relaxed);
        if self.loses && round % 3 == 2 {
            return Err(ReadError("no answer".to_owned()));
        }

        let arrives = |(at, _): &(usize, &Wanted)| !self.loses || (at + round).is_multiple_of(2);
        let arrived = wanted.iter().enumerate().filter(arrives);
        self.fetched
            .lock()
            .unwrap()
            .extend(arrived.map(|(_, wanted)| *wanted));
        Ok(())
    }
}

/// An operation of a contract on the word on top of the stack.
#[derive(Clone, Debug)]
enum Op {
    /// Replaces it by a slot, or by the slot that it points to.
    Load(u8),
    LoadAt,
    Store(u8),
    /// Passes it to a contract, or to the one that it points to, and takes the result.
    Call(u8),
    CallAt,
    /// Reverts if it is zero.
    Need,
    Balance(u8),
    CodeAt,
    Add(u8),
    Create,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (0u8..6).prop_map(Op::Load),
        Just(Op::LoadAt),
        (0u8..6).prop_map(Op::Store),
        (0u8..4).prop_map(Op::Call),
        Just(Op::CallAt),
        Just(Op::Need),
        (0u8..8).prop_map(Op::Balance),
        Just(Op::CodeAt),
        (0u8..9).prop_map(Op::Add),
        Just(Op::Create),
    ]
}

const FIRST_CONTRACT: u16 = 0x1000;
const CALLER: Address = Address::repeat_byte(0xca);

fn contract(at: u8) -> Address {
    Address::left_padding_from(&(FIRST_CONTRACT + u16::from(at)).to_be_bytes())
}

/// The code of a contract, which begins with its input on the stack and returns the last word.
fn code(ops: &[Op]) -> Bytes {
    let [high, low] = FIRST_CONTRACT.to_be_bytes();
    let mut code = vec![0x5f, 0x35]; // PUSH0, CALLDATALOAD

    for op in ops {
        match *op {
            Op::Load(slot) => code.extend([0x50, 0x60, slot, 0x54]),
            Op::LoadAt => code.extend([0x60, 3, 0x16, 0x54]),
            Op::Store(slot) => code.extend([0x80, 0x60, slot, 0x55]),
            Op::Call(at) => {
                code.extend([0x5f, 0x52, 0x60, 32, 0x5f, 0x60, 32, 0x5f, 0x5f]);
                code.extend([0x61, high, low + at, 0x5a, 0xf1, 0x50, 0x5f, 0x51]);
            }
            Op::CallAt => {
                // The address stays below the arguments.
                code.extend([0x80, 0x5f, 0x52, 0x60, 3, 0x16, 0x61, high, low, 0x01]);
                code.extend([0x60, 32, 0x5f, 0x60, 32, 0x5f, 0x5f, 0x85, 0x5a, 0xf1]);
                code.extend([0x50, 0x50, 0x5f, 0x51]);
            }
            Op::Need => {
                let end = (code.len() + 8) as u16;
                let [end_high, end_low] = end.to_be_bytes();
                code.extend([0x80, 0x61, end_high, end_low, 0x57, 0x5f, 0x5f, 0xfd, 0x5b]);
            }
            Op::Balance(at) => code.extend([0x61, high, low + at, 0x31, 0x01]),
            Op::CodeAt => code.extend([0x60, 3, 0x16, 0x61, high, low, 0x01, 0x3f]),
            Op::Add(number) => code.extend([0x60, number, 0x01]),
            Op::Create => code.extend([0x5f, 0x5f, 0x5f, 0xf0, 0x50]),
        }
    }

    code.extend([0x5f, 0x52, 0x60, 32, 0x5f, 0xf3]); // PUSH0, MSTORE, RETURN
    code.into()
}

/// A state with these contracts, each with its first slots.
fn world(contracts: &[(Vec<Op>, Vec<u64>)]) -> State {
    let mut state = State::default();
    let base = state.clone();
    let mut overlay = Overlay::new(&base, &NoBlocks);
    overlay
        .edit(CALLER, |info| info.balance = U256::MAX >> 8)
        .unwrap();

    for (at, (ops, slots)) in contracts.iter().enumerate() {
        let address = contract(at as u8);
        overlay
            .edit(address, |info| {
                info.nonce = 1;
                info.balance = U256::from(at);
            })
            .unwrap();
        overlay.set_code(address, code(ops)).unwrap();
        for (slot, value) in slots.iter().enumerate() {
            overlay
                .set_storage(address, U256::from(slot), U256::from(*value))
                .unwrap();
        }
    }

    let changes = overlay.into_changes();
    state.apply(&changes);
    state
}

fn params() -> ChainParams {
    ChainParams {
        chain_id: 125,
        forks: Forks::all_from_genesis(Fork::LATEST),
        deposit_contract: Address::ZERO,
        network_precompiles: false,
        standard: false,
        increasing_timestamps: false,
        limits: Default::default(),
        signers: Default::default(),
        cosmos: Default::default(),
    }
}

fn environment(params: &ChainParams) -> Environment {
    Environment {
        rules: params.forks.at(7, 1_000),
        number: 7,
        timestamp: 1_000,
        beneficiary: Address::repeat_byte(0xbe),
        gas_limit: 30_000_000,
        base_fee: Some(7),
        difficulty: U256::ZERO,
        mix_hash: B256::ZERO,
        excess_blob_gas: Some(0),
        pretended_blob_base_fee: None,
        parent_hash: B256::repeat_byte(6),
        parent_beacon_block_root: Some(B256::ZERO),
        extra_data: Bytes::new(),
    }
}

/// The outcome of a call on a state.
fn called(state: &State, input: u64) -> String {
    let params = params();
    let environment = environment(&params);
    let context = CallContext {
        chain: &params,
        environment: &environment,
        state,
        hashes: &NoBlocks,
        overrides: &StateOverrides::new(),
        gas_cap: 400_000,
        time_limit: None,
    };
    let call = Call {
        from: CALLER,
        to: Some(contract(0)),
        input: U256::from(input).to_be_bytes_vec().into(),
        ..Call::default()
    };
    format!("{:?}", context.call(&call))
}

/// The receipts of a block of these transactions on a state, and the accounts after it.
fn sealed(state: &State, inputs: &[u64]) -> (Vec<String>, Vec<String>) {
    let params = params();
    let environment = environment(&params);
    let mut executor = BlockExecutor::begin(&params, &environment, state, &NoBlocks).unwrap();

    let results = inputs.iter().enumerate().map(|(nonce, input)| {
        let price = GasPrice::Fixed(9);
        let input = U256::from(*input).to_be_bytes_vec().into();
        let fields = TransactionFields::call(125, nonce as u64, 400_000, price, contract(0), input);
        let transaction = Transaction::impersonated(fields.into(), CALLER);
        format!("{:?}", executor.execute(&transaction))
    });
    let results = results.collect();

    let outcome = executor.finish(&[], None).unwrap();
    let mut after = state.clone();
    after.apply(&outcome.changes);
    let contracts = (0..4)
        .map(contract)
        .chain([CALLER, environment.beneficiary]);
    let shown = contracts.map(|address| {
        let slots: Vec<_> = (0..6)
            .map(|slot| after.storage(address, U256::from(slot)).unwrap())
            .collect();
        let nonce = after.nonce(address).unwrap();
        format!(
            "{address} {nonce} {} {slots:?}",
            after.balance(address).unwrap()
        )
    });
    (results, shown.collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn executions_on_a_remote_base_match_those_on_a_complete_state(
        contracts in prop::collection::vec(
            (prop::collection::vec(op(), 0..9), prop::collection::vec(0u64..5, 0..6)),
            1..5,
        ),
        inputs in prop::collection::vec(0u64..4, 1..4),
        loses: bool,
    ) {
        assert_same_results(&contracts, &inputs, loses)?;
    }
}

fn assert_same_results(
    contracts: &[(Vec<Op>, Vec<u64>)],
    inputs: &[u64],
    loses: bool,
) -> Result<(), TestCaseError> {
    let whole = world(contracts);
    let far = RemoteBase::below(&whole, loses);
    let forked = State::forked(far.clone());
    prop_assert_eq!(called(&whole, inputs[0]), called(&forked, inputs[0]));
    if !loses {
        prop_assert_eq!(far.singles.load(Ordering::Relaxed), 0);
    }

    let far = RemoteBase::below(&whole, loses);
    let forked = State::forked(far);
    prop_assert_eq!(sealed(&whole, inputs), sealed(&forked, inputs));
    Ok(())
}

/// Reads of all slots of a contract; the sum is passed on to the next one.
fn reads(next: Option<u8>) -> Vec<Op> {
    let slots = (0..6).flat_map(|slot| [Op::Load(slot), Op::Store(slot)]);
    slots.chain(next.map(Op::Call)).collect()
}

#[test]
fn each_step_of_dependence_takes_one_round() {
    let slots = vec![1, 2, 3, 4, 5, 6];
    let whole = world(&[
        (reads(Some(1)), slots.clone()),
        (reads(Some(2)), slots.clone()),
        (reads(None), slots),
    ]);

    let far = RemoteBase::below(&whole, false);
    let forked = State::forked(far.clone());
    assert_eq!(called(&whole, 1), called(&forked, 1));
    // The first contract with the accounts of the transaction, its slots with the second one, …
    assert_eq!(far.rounds.load(Ordering::Relaxed), 4);

    // Everything is at hand now.
    assert_eq!(called(&whole, 1), called(&forked, 1));
    assert_eq!(far.rounds.load(Ordering::Relaxed), 4);
}
