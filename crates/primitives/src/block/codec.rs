//! The encoding of blocks on disk: with senders and receipts, so that reading one requires no
//! recovery and no execution.

use std::sync::{Arc, OnceLock};

use alloy_consensus::Header;
use alloy_eips::{eip2718::Encodable2718, eip4895::Withdrawal};
use alloy_primitives::{Address, B256, Bytes, Log};
use alloy_rlp::{Decodable, Encodable};
use tetrad_stdx::codec::{Malformed, Reader, Writer};

use super::{Block, CompressedKey, Receipt, Status, Transaction, bloom, decode_envelope, encoding};

impl Block {
    /// Encodes the block with its receipts.
    pub fn write(&self, out: &mut Writer) {
        write_rlp(&self.header, out);
        out.number(self.ommers.len() as u64);
        self.ommers.iter().for_each(|ommer| write_rlp(ommer, out));
        out.option(self.withdrawals.as_ref(), |out, withdrawals| {
            write_rlp(withdrawals, out)
        });
        out.number(self.transactions.len() as u64);
        for (transaction, receipt) in self.transactions.iter().zip(&self.receipts) {
            transaction.write(out);
            receipt.write(out);
        }
    }

    /// Decodes a block, without checking it against its header: see [`Block::verify`].
    pub fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let header: Header = read_rlp(from, "header")?;
        let count = from.count(1)?;
        let ommers = (0..count)
            .map(|_| read_rlp(from, "ommer"))
            .collect::<Result<_, _>>()?;

        let withdrawals: Option<Vec<Withdrawal>> =
            from.option(|from| read_rlp(from, "withdrawals"))?;

        let count = from.count(2)?;
        let mut transactions = Vec::with_capacity(count);
        let mut receipts = Vec::with_capacity(count);
        // Totals of the transactions and receipts so far.
        let mut gas_used = 0u64;
        let mut logs = 0;
        for _ in 0..count {
            let transaction = Transaction::read(from)?;
            let mut receipt = Receipt::read(from)?;
            gas_used = gas_used
                .checked_add(receipt.gas_used)
                .ok_or(Malformed("gas"))?;
            receipt.tx_type = transaction.envelope.tx_type();
            receipt.cumulative_gas_used = gas_used;
            receipt.first_log_index = logs;
            logs += receipt.logs.len() as u64;

            transactions.push(Arc::new(transaction));
            receipts.push(receipt);
        }

        let hash = header.hash_slow();
        Ok(Self {
            hash,
            header,
            transactions,
            receipts,
            ommers,
            withdrawals,
            known_size: OnceLock::new(),
        })
    }
}

impl Transaction {
    /// Encodes the transaction with its sender.
    pub fn write(&self, out: &mut Writer) {
        out.string_with(self.envelope.encode_2718_len(), |bytes| {
            encoding::encode(&self.envelope, bytes)
        });
        out.raw(self.sender.as_slice());
        out.option(self.public_key, |out, key| out.raw(key.as_slice()));
    }

    /// Decodes a transaction. The signature is not checked again.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let envelope = decode_envelope(from.string()?).map_err(|_| Malformed("transaction"))?;
        let sender = Address::from(from.array()?);
        let public_key = from.option(|from| from.array().map(CompressedKey::from))?;
        Ok(Self {
            envelope,
            sender,
            public_key,
        })
    }
}

impl Receipt {
    /// Encodes the fields that cannot be derived from the transaction and the receipts before.
    fn write(&self, out: &mut Writer) {
        match self.status {
            Status::Failure => out.byte(0),
            Status::Success => out.byte(1),
            Status::Root(root) => {
                out.byte(2);
                out.raw(root.as_slice());
            }
        }

        out.number(self.gas_used);
        out.number(self.logs.len() as u64);
        for log in &self.logs {
            out.raw(log.address.as_slice());
            out.byte(log.topics().len() as u8);
            log.topics()
                .iter()
                .for_each(|topic| out.raw(topic.as_slice()));
            out.string(&log.data.data);
        }
    }

    /// Decodes a receipt. The block fills in the derived fields.
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let status = match from.byte()? {
            0 => Status::Failure,
            1 => Status::Success,
            2 => Status::Root(from.array()?.into()),
            _ => return Err(Malformed("status")),
        };

        let gas_used = from.number()?;
        // No log takes less: an address, the number of topics, and the length of the data.
        let count = from.count(22)?;
        let logs = (0..count)
            .map(|_| read_log(from))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            tx_type: alloy_consensus::TxType::Legacy,
            status,
            cumulative_gas_used: 0,
            gas_used,
            bloom: bloom(&logs),
            logs,
            first_log_index: 0,
        })
    }
}

fn read_log(from: &mut Reader<'_>) -> Result<Log, Malformed> {
    let address = Address::from(from.array()?);
    let count = from.byte()?;
    let topics = (0..count)
        .map(|_| from.array().map(B256::from))
        .collect::<Result<_, _>>()?;
    Log::new(address, topics, Bytes::copy_from_slice(from.string()?)).ok_or(Malformed("log"))
}

fn write_rlp(value: &impl Encodable, out: &mut Writer) {
    out.string_with(value.length(), |bytes| value.encode(bytes));
}

fn read_rlp<T: Decodable>(from: &mut Reader<'_>, what: &'static str) -> Result<T, Malformed> {
    let mut bytes = from.string()?;
    let value = T::decode(&mut bytes).map_err(|_| Malformed(what))?;
    if bytes.is_empty() {
        Ok(value)
    } else {
        Err(Malformed(what))
    }
}
