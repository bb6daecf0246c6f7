//! Bodies from blocks, the newest state and the index.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use alloy_consensus::{Transaction as _, Typed2718};
use alloy_primitives::{Address, B256, Log, U256, hex};
use serde_json::Value;
use tetrad_chain::View;
use tetrad_contracts::sources::{CompiledContract, KnownContract, KnownContracts, Origin};
use tetrad_evm::InternalCallKind;
use tetrad_primitives::block::{Block, LogPosition, Transaction};
use tetrad_stdx::calendar::rfc3339;
use tetrad_web::RestError;

use super::{
    bodies::{
        AddressParam, BlockBody, DecodedBody, FeeBody, InternalBody, LogBody, NextPage, RevertBody,
        TokenBody, TotalBody, TransactionBody, TransferBody,
    },
    decode,
    filters::{TransactionFilter, TransactionType},
    metadata::{MetadataBudget, TokenMetadata},
};
use crate::index::{
    IndexError, IndexReader, InternalPosition, Position, TokenKind, TokenRecord, TokenTransfer,
    total_supply, transfers_of,
};

/// The most token transfers that a transaction shows itself.
const SHOWN_TRANSFERS: usize = 10;

/// Renders bodies as of one moment.
pub(super) struct Render<'a> {
    pub(super) reader: &'a IndexReader,
    pub(super) known: &'a KnownContracts,
    view: View,
    addresses: RefCell<HashMap<Address, AddressParam>>,
    contracts: RefCell<HashMap<Address, Option<Arc<KnownContract>>>>,
    tokens: RefCell<HashMap<Address, TokenBody>>,
    metadata: MetadataBudget,
}

/// Returns a time, in seconds since the Unix epoch, as explorers write it:
/// `2026-11-20T12:00:00.000000Z`.
pub(super) fn timestamp(seconds: u64) -> String {
    format!("{}.000000Z", rfc3339(seconds).trim_end_matches('Z'))
}

/// Returns the name of a kind of call.
pub(super) fn call_kind(kind: InternalCallKind) -> &'static str {
    match kind {
        InternalCallKind::Call => "call",
        InternalCallKind::CallCode => "callcode",
        InternalCallKind::DelegateCall => "delegatecall",
        InternalCallKind::StaticCall => "staticcall",
        InternalCallKind::Create => "create",
        InternalCallKind::Create2 => "create2",
        InternalCallKind::SelfDestruct => "selfdestruct",
    }
}

/// Returns whether a call creates a contract.
pub(super) fn creates(kind: InternalCallKind) -> bool {
    matches!(kind, InternalCallKind::Create | InternalCallKind::Create2)
}

/// Returns the fee of a transaction in wei, and the part of it that was burnt.
pub(super) fn fees(block: &Block, index: usize) -> (U256, U256) {
    // The base fee is burnt (EIP-1559).
    let base_fee = block.header.base_fee_per_gas;
    let gas = U256::from(block.receipts[index].gas_used);
    let price = U256::from(block.transactions[index].effective_gas_price(base_fee));
    (gas * price, gas * U256::from(base_fee.unwrap_or_default()))
}

/// Finds transfers at positions of the index. Successive ones of a log decode it once.
#[derive(Debug, Default)]
pub(super) struct TransferFinder {
    /// The last log, by its block and its index there, and its transfers.
    last: Option<(B256, u64, Vec<TokenTransfer>)>,
}

impl TransferFinder {
    /// Returns the transfer at a position, with its log.
    pub(super) fn find<'a>(
        &mut self,
        block: &'a Block,
        position: Position,
    ) -> Option<(LogPosition<'a>, TokenTransfer)> {
        let log = block
            .logs()
            .find(|at| at.log_index == u64::from(position.index))?;
        let is_last =
            |(hash, index, _): &(B256, u64, _)| *hash == block.hash && *index == log.log_index;

        if !self.last.as_ref().is_some_and(is_last) {
            self.last = Some((block.hash, log.log_index, transfers_of(log.log)));
        }

        let (_, _, transfers) = self.last.as_ref()?;
        Some((log, *transfers.get(position.part as usize)?))
    }
}

/// A share in percent, with two decimals.
fn percent(part: u128, whole: u128) -> f64 {
    let hundredths = (part * 10_000).checked_div(whole).unwrap_or_default();
    hundredths as f64 / 100.0
}

impl<'a> Render<'a> {
    pub(super) fn new(reader: &'a IndexReader, known: &'a KnownContracts) -> Self {
        let view = View::newest(reader.head.clone());
        Self {
            reader,
            known,
            metadata: MetadataBudget::new(&view),
            view,
            addresses: RefCell::default(),
            contracts: RefCell::default(),
            tokens: RefCell::default(),
        }
    }

    /// The newest state.
    pub(super) fn view(&self) -> &View {
        &self.view
    }

    /// Returns what a non-fungible token says of an id; less and less of it in a long list, since
    /// the reads of one answer have a limit.
    pub(super) fn metadata(&self, token: Address, kind: TokenKind, id: U256) -> TokenMetadata {
        self.metadata.read(&self.view, token, kind, id)
    }

    /// Returns the contract at an address, if its source is known.
    pub(super) fn contract(&self, address: Address) -> Option<Arc<KnownContract>> {
        if let Some(known) = self.contracts.borrow().get(&address) {
            return known.clone();
        }

        let known = self.known.at(&self.view, address);
        self.contracts.borrow_mut().insert(address, known.clone());
        known
    }

    /// Returns the contract at an address with its source; `None` if an artifact has gone away
    /// since it was identified.
    pub(super) fn compiled(
        &self,
        address: Address,
    ) -> Result<Option<(Arc<KnownContract>, CompiledContract)>, RestError> {
        let Some(known) = self.contract(address) else {
            return Ok(None);
        };
        match known.compiled() {
            Ok(compiled) => Ok(Some((known, compiled))),
            Err(error) if known.origin == Origin::Artifact => {
                tracing::debug!(%address, %error, "an artifact cannot be read");
                Ok(None)
            }
            Err(error) => Err(RestError::Internal(format!("verified sources: {error}"))),
        }
    }

    /// Returns the name of the function that a call of a contract selects, or the selector.
    pub(super) fn method(&self, to: Option<Address>, input: &[u8]) -> Option<String> {
        let contract = to.and_then(|to| self.contract(to));
        decode::method(
            self.known.function(contract.as_deref(), input).as_deref(),
            input,
        )
    }

    fn decoded_call(&self, to: Option<Address>, input: &[u8]) -> Option<DecodedBody> {
        let contract = self.contract(to?);
        let function = self.known.function(contract.as_deref(), input)?;
        decode::call(&function, input)
    }

    /// Renders the data with which a call of a contract reverted: decoded, or raw.
    fn revert_reason(&self, to: Option<Address>, data: &[u8]) -> Option<RevertBody> {
        if data.is_empty() {
            return None;
        }

        let contract = to.and_then(|to| self.contract(to));
        let error = self.known.error(contract.as_deref(), data);
        let decoded = decode::error(error.as_deref(), data);
        Some(decoded.map_or_else(
            || RevertBody::Raw {
                raw: hex::encode_prefixed(data),
            },
            RevertBody::Decoded,
        ))
    }

    fn decoded_log(&self, log: &Log) -> Option<DecodedBody> {
        let contract = self.contract(log.address);
        let event = self.known.event(contract.as_deref(), log.data.topics())?;
        decode::log(&event, &log.data)
    }

    pub(super) fn address(&self, address: Address) -> AddressParam {
        if let Some(known) = self.addresses.borrow().get(&address) {
            return known.clone();
        }

        let contract = self.contract(address);
        let account = self.view.state.get(address).ok().flatten();
        let is_contract = account.is_some_and(|account| !account.code().is_empty());
        let param = AddressParam {
            hash: address.to_checksum(None),
            is_contract,
            is_verified: contract.is_some() && is_contract,
            name: self.name(address, contract.as_deref(), is_contract),
            is_scam: false,
            reputation: "ok",
            proxy_type: None,
            implementations: Vec::new(),
            ens_domain_name: None,
            metadata: None,
            private_tags: Vec::new(),
            public_tags: Vec::new(),
            watchlist_names: Vec::new(),
        };

        self.addresses.borrow_mut().insert(address, param.clone());
        param
    }

    /// Returns the name of a contract of the network, or of a token.
    fn name(
        &self,
        address: Address,
        contract: Option<&KnownContract>,
        is_contract: bool,
    ) -> Option<String> {
        match contract {
            // A token's own name says more than that of its source, except for the network's.
            Some(contract) if contract.origin == Origin::Network => Some(contract.label.clone()),
            Some(contract) => self
                .token_name(address)
                .or_else(|| Some(contract.label.clone())),
            None if is_contract => self.token_name(address),
            None => None,
        }
    }

    fn token_name(&self, address: Address) -> Option<String> {
        self.reader
            .token(address)
            .ok()
            .flatten()
            .and_then(|token| token.name)
    }

    pub(super) fn token(&self, address: Address, kind: TokenKind) -> Result<TokenBody, IndexError> {
        if let Some(known) = self.tokens.borrow().get(&address) {
            return Ok(known.clone());
        }

        let body = match self.reader.token(address)? {
            Some(record) => self.token_body(address, &record)?,
            None => TokenBody {
                kind: kind.name(),
                ..self.unnamed_token(address)
            },
        };

        self.tokens.borrow_mut().insert(address, body.clone());
        Ok(body)
    }

    fn unnamed_token(&self, address: Address) -> TokenBody {
        let hash = address.to_checksum(None);
        TokenBody {
            address_hash: hash.clone(),
            address: hash,
            name: None,
            symbol: None,
            decimals: None,
            kind: TokenKind::Erc20.name(),
            holders_count: "0".to_owned(),
            holders: "0".to_owned(),
            total_supply: total_supply(&self.view, address).map(|supply| supply.to_string()),
            exchange_rate: None,
            volume_24h: None,
            circulating_market_cap: None,
            icon_url: None,
            reputation: "ok",
        }
    }

    pub(super) fn token_body(
        &self,
        address: Address,
        record: &TokenRecord,
    ) -> Result<TokenBody, IndexError> {
        let holders = self.reader.token_counts(address)?.holders.to_string();
        Ok(TokenBody {
            name: record.name.clone(),
            symbol: record.symbol.clone(),
            decimals: record.decimals.map(|decimals| decimals.to_string()),
            kind: record.kind().name(),
            holders_count: holders.clone(),
            holders,
            ..self.unnamed_token(address)
        })
    }

    /// Returns what a transaction of a block does.
    fn types(
        &self,
        block: &Block,
        index: usize,
        moves_tokens: bool,
    ) -> Result<Vec<TransactionType>, IndexError> {
        let transaction = &block.transactions[index];
        let created = transaction
            .creates()
            .filter(|_| block.receipts[index].succeeded());
        let creates_token = match created {
            Some(created) => self.reader.token(created)?.is_some(),
            None => false,
        };

        Ok(TransactionType::of(
            transaction,
            moves_tokens,
            creates_token,
        ))
    }

    /// Returns whether a filter includes a transaction of a block.
    pub(super) fn is_included(
        &self,
        filter: &TransactionFilter,
        block: &Block,
        index: usize,
    ) -> Result<bool, IndexError> {
        let types = || self.types(block, index, !self.transfers_of(block, index).is_empty());
        self.is_included_with(filter, &block.transactions[index], types)
    }

    /// Returns whether a filter includes a transaction that waits for a block.
    pub(super) fn is_waiting_included(
        &self,
        filter: &TransactionFilter,
        transaction: &Transaction,
    ) -> Result<bool, IndexError> {
        self.is_included_with(filter, transaction, || {
            Ok(TransactionType::of(transaction, false, false))
        })
    }

    fn is_included_with(
        &self,
        filter: &TransactionFilter,
        transaction: &Transaction,
        types: impl FnOnce() -> Result<Vec<TransactionType>, IndexError>,
    ) -> Result<bool, IndexError> {
        let envelope = &transaction.envelope;
        filter.includes(transaction, types, || {
            self.method(envelope.to(), envelope.input())
        })
    }

    /// Renders what a transaction says itself, as long as it waits for a block.
    pub(super) fn waiting(&self, transaction: &Transaction, whole: bool) -> TransactionBody {
        let envelope = &transaction.envelope;
        let is_dynamic = envelope.max_priority_fee_per_gas().is_some();
        let most = U256::from(envelope.max_fee_per_gas()) * U256::from(envelope.gas_limit());
        let types = TransactionType::of(transaction, false, false);

        TransactionBody {
            hash: transaction.hash().to_string(),
            status: None,
            result: "pending".to_owned(),
            block_number: None,
            timestamp: None,
            confirmations: 0,
            confirmation_duration: Vec::new(),
            from: self.address(transaction.sender),
            to: envelope.to().map(|to| self.address(to)),
            created_contract: None,
            value: envelope.value().to_string(),
            fee: FeeBody {
                kind: "maximum",
                value: most.to_string(),
            },
            gas_price: envelope.max_fee_per_gas().to_string(),
            gas_limit: envelope.gas_limit().to_string(),
            gas_used: None,
            max_fee_per_gas: is_dynamic.then(|| envelope.max_fee_per_gas().to_string()),
            max_priority_fee_per_gas: envelope
                .max_priority_fee_per_gas()
                .map(|tip| tip.to_string()),
            base_fee_per_gas: None,
            priority_fee: None,
            transaction_burnt_fee: None,
            kind: envelope.ty(),
            nonce: envelope.nonce(),
            position: None,
            raw_input: hex::encode_prefixed(envelope.input()),
            decoded_input: if whole {
                self.decoded_call(envelope.to(), envelope.input())
            } else {
                None
            },
            method: envelope
                .to()
                .and_then(|to| self.method(Some(to), envelope.input())),
            transaction_types: types.into_iter().map(TransactionType::name).collect(),
            revert_reason: None,
            has_error_in_internal_transactions: false,
            token_transfers: None,
            token_transfers_overflow: None,
            actions: Vec::new(),
            exchange_rate: None,
            transaction_tag: None,
            is_pending_update: false,
        }
    }

    /// Renders a transaction of a block. With `whole` it includes its token transfers and the
    /// decoded call.
    pub(super) fn transaction(
        &self,
        block: &Block,
        index: usize,
        whole: bool,
    ) -> Result<TransactionBody, IndexError> {
        let transaction = &block.transactions[index];
        let receipt = &block.receipts[index];
        let envelope = &transaction.envelope;
        let base_fee = block.header.base_fee_per_gas;
        let (fee, burnt) = fees(block, index);
        // A creation that failed leaves no contract.
        let created = transaction.creates().filter(|_| receipt.succeeded());

        let transfers = self.transfers_of(block, index);
        let types = self.types(block, index, !transfers.is_empty())?;
        let shown = whole.then(|| self.shown_transfers(block, &transfers));

        let ok = receipt.succeeded();
        let failure = if ok {
            None
        } else {
            // A receipt does not say why: the index found out by executing the block again.
            self.reader.failure(block.number(), index)?
        };
        let result = match &failure {
            _ if ok => "success",
            Some(failure) => &failure.error,
            None => "error",
        };

        Ok(TransactionBody {
            status: Some(if ok { "ok" } else { "error" }),
            result: result.to_owned(),
            block_number: Some(block.number()),
            timestamp: Some(timestamp(block.header.timestamp)),
            confirmations: self.reader.head.number().saturating_sub(block.number()) + 1,
            created_contract: created.map(|created| self.address(created)),
            fee: FeeBody {
                kind: "actual",
                value: fee.to_string(),
            },
            gas_price: transaction.effective_gas_price(base_fee).to_string(),
            gas_used: Some(receipt.gas_used.to_string()),
            base_fee_per_gas: base_fee.map(|fee| fee.to_string()),
            priority_fee: base_fee.map(|_| fee.saturating_sub(burnt).to_string()),
            transaction_burnt_fee: base_fee.map(|_| burnt.to_string()),
            position: Some(index),
            transaction_types: types.into_iter().map(TransactionType::name).collect(),
            revert_reason: failure
                .and_then(|failure| self.revert_reason(envelope.to(), &failure.data)),
            has_error_in_internal_transactions: !ok,
            token_transfers_overflow: whole.then_some(transfers.len() > SHOWN_TRANSFERS),
            token_transfers: shown.transpose()?,
            ..self.waiting(transaction, whole)
        })
    }

    fn shown_transfers(
        &self,
        block: &Block,
        transfers: &[(LogPosition<'_>, TokenTransfer)],
    ) -> Result<Vec<TransferBody>, IndexError> {
        transfers
            .iter()
            .take(SHOWN_TRANSFERS)
            .map(|(at, transfer)| self.transfer(block, at, transfer))
            .collect()
    }

    /// Renders the transaction at a position of the index, as in a list; `None` if its block is
    /// gone.
    pub(super) fn transaction_at(
        &self,
        position: Position,
    ) -> Result<Option<TransactionBody>, IndexError> {
        let index = position.index as usize;
        let block = self
            .reader
            .block(position.block)
            .filter(|block| index < block.transactions.len());
        block
            .map(|block| self.transaction(&block, index, false))
            .transpose()
    }

    /// Renders the transfer at a position of the index; `None` if its block is gone.
    pub(super) fn transfer_at(
        &self,
        finder: &mut TransferFinder,
        position: Position,
    ) -> Result<Option<TransferBody>, IndexError> {
        let Some(block) = self.reader.block(position.block) else {
            return Ok(None);
        };
        let found = finder.find(&block, position);
        found
            .map(|(at, transfer)| self.transfer(&block, &at, &transfer))
            .transpose()
    }

    /// Returns the token transfers of a transaction.
    pub(super) fn transfers_of<'b>(
        &self,
        block: &'b Block,
        index: usize,
    ) -> Vec<(LogPosition<'b>, TokenTransfer)> {
        let own = block
            .logs()
            .filter(|at| at.transaction_index == index as u64);
        own.flat_map(|at| {
            transfers_of(at.log)
                .into_iter()
                .map(move |transfer| (at, transfer))
        })
        .collect()
    }

    pub(super) fn transfer(
        &self,
        block: &Block,
        at: &LogPosition<'_>,
        transfer: &TokenTransfer,
    ) -> Result<TransferBody, IndexError> {
        let token = self.token(transfer.token, transfer.kind)?;
        // A transfer of ERC-721 moves one id, and has no amount.
        let is_counted = transfer.kind != TokenKind::Erc721;
        Ok(TransferBody {
            transaction_hash: at.transaction.hash().to_string(),
            block_number: block.number(),
            block_hash: block.hash.to_string(),
            log_index: at.log_index,
            timestamp: timestamp(block.header.timestamp),
            from: self.address(transfer.from),
            to: self.address(transfer.to),
            token_type: transfer.kind.name(),
            total: TotalBody {
                value: is_counted.then(|| transfer.amount.to_string()),
                decimals: token.decimals.clone().filter(|_| is_counted),
                token_id: transfer.id.map(|id| id.to_string()),
            },
            token,
            kind: match (transfer.from.is_zero(), transfer.to.is_zero()) {
                (true, _) => "token_minting",
                (false, true) => "token_burning",
                (false, false) => "token_transfer",
            },
            method: self.method(
                at.transaction.envelope.to(),
                at.transaction.envelope.input(),
            ),
        })
    }

    pub(super) fn internal(&self, found: &InternalPosition) -> Option<InternalBody> {
        let InternalPosition { position, call } = found;
        let block = self.reader.block(position.block)?;
        let transaction = block.transactions.get(position.index as usize)?;
        let is_creation = creates(call.kind);

        Some(InternalBody {
            block_number: position.block,
            timestamp: timestamp(block.header.timestamp),
            transaction_hash: transaction.hash().to_string(),
            transaction_index: position.index,
            index: position.part,
            block_index: position.part,
            kind: call_kind(call.kind),
            from: self.address(call.from),
            to: call.to.filter(|_| !is_creation).map(|to| self.address(to)),
            created_contract: call.to.filter(|_| is_creation).map(|to| self.address(to)),
            value: call.value.to_string(),
            gas_limit: call.gas.to_string(),
            success: call.error.is_none(),
            error: call.error.clone(),
        })
    }

    pub(super) fn log(&self, block: &Block, at: &LogPosition<'_>) -> LogBody {
        let topics = at.log.data.topics();
        LogBody {
            address: self.address(at.log.address),
            block_hash: block.hash.to_string(),
            block_number: block.number(),
            block_timestamp: timestamp(block.header.timestamp),
            transaction_hash: at.transaction.hash().to_string(),
            index: at.log_index,
            topics: (0..4)
                .map(|topic| topics.get(topic).map(ToString::to_string))
                .collect(),
            data: hex::encode_prefixed(&at.log.data.data),
            decoded: self.decoded_log(at.log),
            smart_contract: at.transaction.envelope.to().map(|to| self.address(to)),
        }
    }

    pub(super) fn block(&self, block: &Block) -> BlockBody {
        let header = &block.header;
        let (fees, burnt) = (0..block.transactions.len())
            .map(|index| fees(block, index))
            .fold((U256::ZERO, U256::ZERO), |(fees, burnt), (fee, part)| {
                (fees + fee, burnt + part)
            });
        let used = u128::from(header.gas_used);
        let limit = u128::from(header.gas_limit);

        BlockBody {
            height: block.number(),
            hash: block.hash.to_string(),
            parent_hash: header.parent_hash.to_string(),
            timestamp: timestamp(header.timestamp),
            transactions_count: block.transactions.len(),
            miner: self.address(header.beneficiary),
            size: block.size(),
            nonce: header.nonce.to_string(),
            difficulty: header.difficulty.to_string(),
            total_difficulty: None,
            gas_used: used.to_string(),
            gas_limit: limit.to_string(),
            gas_used_percentage: percent(used, limit),
            // The target is half of the limit (EIP-1559).
            gas_target_percentage: percent(2 * used, limit) - 100.0,
            base_fee_per_gas: header.base_fee_per_gas.map(|fee| fee.to_string()),
            burnt_fees_percentage: (!fees.is_zero())
                .then(|| percent(burnt.saturating_to(), fees.saturating_to())),
            burnt_fees: burnt.to_string(),
            priority_fee: fees.saturating_sub(burnt).to_string(),
            transaction_fees: fees.to_string(),
            withdrawals_count: block.withdrawals.as_ref().map_or(0, Vec::len),
            kind: "block",
            rewards: Vec::new(),
            uncles_hashes: block
                .ommers
                .iter()
                .map(|ommer| Value::String(ommer.hash_slow().to_string()))
                .collect(),
        }
    }
}

impl NextPage {
    /// The page of transactions, logs or transfers after a position.
    pub(super) fn after(position: Position) -> Self {
        Self {
            block_number: Some(position.block),
            index: Some(position.index.into()),
            index_in_batch: (position.part > 0).then_some(position.part),
            ..Self::default()
        }
    }

    /// The page of internal transactions after a position.
    pub(super) fn after_internal(position: Position) -> Self {
        Self {
            block_number: Some(position.block),
            transaction_index: Some(position.index),
            index: Some(position.part.into()),
            ..Self::default()
        }
    }

    /// The page of tokens after one of them, with an id.
    pub(super) fn after_token((token, id): (Address, U256)) -> Self {
        Self {
            token_contract_address_hash: Some(token.to_checksum(None)),
            token_id: Some(id.to_string()),
            ..Self::default()
        }
    }
}
