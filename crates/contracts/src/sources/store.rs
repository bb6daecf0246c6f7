//! Verified contracts beside the chain: a compressed document for each, in the folder `sources` of
//! the data directory, or in memory without one.
//!
//! They are not in the log: they prove themselves, so each node can accept them alone, and a log
//! with megabytes of sources would cost every replica.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
    sync::Arc,
};

use alloy_primitives::{Address, B256, Bytes};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tetrad_store::storage::{Storage, read_file, replace_file};

use super::contract::{CompiledContract, Matches};

/// The folder in the data directory.
pub(super) const FOLDER: &str = "sources";

/// The end of a document's name, and what is appended to that of a damaged one.
const EXTENSION: &str = ".json.gz";
const DAMAGED: &str = ".damaged";

/// The version of the documents.
const VERSION: u32 = 1;

/// The most bytes of a document, and of one that is compressed.
const MAX_DOCUMENT: usize = 48 << 20;
const MAX_COMPRESSED: usize = 8 << 20;

/// The most contracts, and the most compressed bytes of all of them on disk and in memory.
const MAX_CONTRACTS: usize = 10_000;
const MAX_ON_DISK: u64 = 1 << 30;
const MAX_IN_MEMORY: u64 = 64 << 20;

/// The most bytes of all ABIs, which are in memory in any case.
const MAX_ABIS: u64 = 32 << 20;

/// A verified contract.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct VerifiedContract {
    pub(super) version: u32,
    pub(super) address: Address,
    /// The hash of the code at the address when it was verified.
    pub(super) code_hash: B256,
    pub(super) matches: Matches,
    pub(super) constructor_arguments: Option<Bytes>,
    /// Seconds since the Unix epoch.
    pub(super) verified_at: u64,
    pub(super) license: Option<String>,
    pub(super) contract: CompiledContract,
}

/// The documents.
pub(super) struct Store {
    /// The folder; none in memory.
    folder: Option<Arc<dyn Storage>>,
    sizes: Mutex<HashMap<Address, Size>>,
    memory: Mutex<HashMap<Address, Arc<[u8]>>>,
}

/// The space that a contract takes up.
#[derive(Clone, Copy, Default)]
struct Size {
    /// Bytes of the compressed document.
    document: u64,
    /// Bytes of the ABI, which is in memory.
    abi: u64,
}

fn invalid(what: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn name_of(address: Address) -> String {
    format!("{address:#x}{EXTENSION}")
}

impl VerifiedContract {
    /// The current version of the documents.
    pub(super) const VERSION: u32 = VERSION;

    /// Returns the contract without what is read on request only.
    pub(super) fn without_sources(mut self) -> Self {
        let contract = &mut self.contract;
        contract.sources.clear();
        contract.creation_code = None;
        contract.runtime_code = None;
        contract.metadata = None;
        contract.source_map = String::new();
        contract.creation_source_map = String::new();
        contract.devdoc = Default::default();
        contract.userdoc = Default::default();
        contract.storage_layout = Default::default();
        self
    }

    fn abi_length(&self) -> u64 {
        self.contract.abi.to_string().len() as u64
    }

    fn encode(&self) -> io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&serde_json::to_vec(self)?)?;
        let bytes = encoder.finish()?;
        if bytes.len() > MAX_COMPRESSED {
            return Err(io::Error::other(format!(
                "the compressed sources have more than {MAX_COMPRESSED} bytes"
            )));
        }
        Ok(bytes)
    }

    fn decode(bytes: &[u8]) -> io::Result<Self> {
        // A few compressed bytes may expand to any number.
        let mut text = Vec::new();
        GzDecoder::new(bytes)
            .take(MAX_DOCUMENT as u64 + 1)
            .read_to_end(&mut text)?;
        if text.len() > MAX_DOCUMENT {
            return Err(invalid("the document is too long"));
        }

        let document: Self = serde_json::from_slice(&text)?;
        if document.version != VERSION {
            return Err(invalid(format!(
                "version {} is not known",
                document.version
            )));
        }
        Ok(document)
    }
}

impl Store {
    /// Opens the documents of a data directory, or begins in memory. Passes each contract to `add`.
    /// Damaged documents are reported and put aside.
    pub(super) fn open(
        directory: Option<&dyn Storage>,
        mut add: impl FnMut(VerifiedContract),
    ) -> io::Result<Self> {
        let folder = directory
            .map(|directory| directory.folder(FOLDER))
            .transpose()?;
        let store = Self {
            folder,
            sizes: Mutex::default(),
            memory: Mutex::default(),
        };

        if let Some(folder) = &store.folder {
            let mut names = folder.names()?;
            names.retain(|name| name.ends_with(EXTENSION));
            // So that the limit always admits the same ones.
            names.sort();
            for name in names.into_iter().take(MAX_CONTRACTS) {
                match store.load(&**folder, &name) {
                    Ok((document, size)) => {
                        store.sizes.lock().insert(document.address, size);
                        add(document);
                    }
                    Err(error) => {
                        let file = folder.describe(&name);
                        tracing::warn!(%error, file, "a verified contract cannot be read, and is put aside");
                        folder.rename(&name, &format!("{name}{DAMAGED}"))?;
                    }
                }
            }
        }
        Ok(store)
    }

    fn load(&self, folder: &dyn Storage, name: &str) -> io::Result<(VerifiedContract, Size)> {
        let length = folder.open(name)?.length()?;
        if length > MAX_COMPRESSED as u64 {
            return Err(invalid("the document is too long"));
        }

        let bytes = read_file(folder, name)?.ok_or(io::ErrorKind::NotFound)?;
        let document = VerifiedContract::decode(&bytes)?;
        if name_of(document.address) != name {
            return Err(invalid("the document is about another address"));
        }

        let size = Size {
            document: length,
            abi: document.abi_length(),
        };
        Ok((document, size))
    }

    /// Keeps a contract, in the place of an earlier one at its address.
    pub(super) fn put(&self, document: &VerifiedContract) -> io::Result<()> {
        let bytes = document.encode()?;
        let size = Size {
            document: bytes.len() as u64,
            abi: document.abi_length(),
        };
        let limit = if self.folder.is_some() {
            MAX_ON_DISK
        } else {
            MAX_IN_MEMORY
        };

        // Held until the document is written, so that no other one takes the same room.
        let mut sizes = self.sizes.lock();
        let others = sizes
            .iter()
            .filter(|(address, _)| **address != document.address)
            .map(|(_, size)| size);

        let (count, documents, abis) = others.fold((0, 0, 0), |(count, documents, abis), size| {
            (count + 1, documents + size.document, abis + size.abi)
        });
        if documents + size.document > limit || abis + size.abi > MAX_ABIS || count >= MAX_CONTRACTS
        {
            let what = format!(
                "the node has no room for more verified contracts: {limit} bytes of compressed sources, {MAX_ABIS} bytes of \
                 ABIs, {MAX_CONTRACTS} contracts"
            );
            return Err(io::Error::new(io::ErrorKind::StorageFull, what));
        }

        match &self.folder {
            Some(folder) => replace_file(&**folder, &name_of(document.address), &bytes)?,
            None => drop(self.memory.lock().insert(document.address, bytes.into())),
        }
        sizes.insert(document.address, size);
        Ok(())
    }

    /// Reads a contract.
    pub(super) fn get(&self, address: Address) -> io::Result<VerifiedContract> {
        match &self.folder {
            Some(folder) => self
                .load(&**folder, &name_of(address))
                .map(|(document, _)| document),
            None => {
                let bytes = self
                    .memory
                    .lock()
                    .get(&address)
                    .cloned()
                    .ok_or(io::ErrorKind::NotFound)?;
                VerifiedContract::decode(&bytes)
            }
        }
    }
}
