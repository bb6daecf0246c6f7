//! The contracts whose sources are known: the network's own, verified ones, and those that have the
//! code of an artifact.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    sync::Arc,
};

use alloy_json_abi::{Error, Event, Function, JsonAbi};
use alloy_primitives::{Address, B256};
use parking_lot::RwLock;
use tetrad_chain::View;
use tetrad_network::network::Network;
use tetrad_store::storage::Storage;

use super::{
    artifacts::ArtifactSet,
    contract::{CompiledContract, ContractSource, KnownContract, Matches, Origin, parse_abi},
    network,
    signatures::Signatures,
    source_map::SourceLocation,
    store::{Store, VerifiedContract},
};

/// The most codes of which it is remembered whether an artifact has them.
const MAX_IDENTIFIED: usize = 16_384;

/// The most bytes of a deployed code that is compared with artifacts.
const MAX_DEPLOYED: usize = super::code::MAX_CODE;

/// The known contracts. Clones share them.
#[derive(Clone)]
pub struct KnownContracts(Arc<SharedContracts>);

struct SharedContracts {
    contents: RwLock<Contents>,
    store: Arc<Store>,
}

#[derive(Default)]
struct Contents {
    /// The network's own.
    network: BTreeMap<Address, Arc<KnownContract>>,
    verified: HashMap<Address, Arc<KnownContract>>,
    /// The address of a verified contract by the hash of its code, for others with the same code.
    by_code: HashMap<B256, Address>,
    artifacts: Arc<ArtifactSet>,
    /// The contracts of codes at other addresses than the verified ones, by hash.
    identified: HashMap<B256, Option<Arc<KnownContract>>>,
    /// The signatures of the network's own contracts, and of ABIs that the operator names.
    own: Signatures,
    /// Those of verified contracts, which come after the others, since anyone can name a function
    /// as he likes.
    learned: Signatures,
}

/// A verified contract in the store.
struct Stored {
    store: Arc<Store>,
    address: Address,
}

impl ContractSource for Stored {
    fn read(&self) -> io::Result<CompiledContract> {
        self.store
            .get(self.address)
            .map(|document| document.contract)
    }
}

impl Contents {
    fn add(&mut self, store: &Arc<Store>, document: &VerifiedContract) {
        let address = document.address;
        let contract = Arc::new(KnownContract {
            label: document.contract.name.clone(),
            name: document.contract.name.clone(),
            signatures: Signatures::from(&parse_abi(&document.contract.abi)),
            origin: Origin::Verified,
            matches: document.matches,
            constructor_arguments: document.constructor_arguments.clone(),
            verified_at: Some(document.verified_at),
            license: document.license.clone(),
            code_hash: document.code_hash,
            source: Arc::new(Stored {
                store: store.clone(),
                address,
            }),
        });

        self.learned.extend(&contract.signatures);

        let previous = self.verified.insert(address, contract);

        // The address had other code before, which another contract may still have.
        if let Some(previous) =
            previous.filter(|previous| self.by_code.get(&previous.code_hash) == Some(&address))
        {
            let mut others = self
                .verified
                .iter()
                .filter(|(_, other)| other.code_hash == previous.code_hash);
            match others.next() {
                Some((other, _)) => drop(self.by_code.insert(previous.code_hash, *other)),
                None => drop(self.by_code.remove(&previous.code_hash)),
            }
        }

        self.by_code.insert(document.code_hash, address);

        // What was identified before may be this contract.
        self.identified.clear();
    }

    /// Returns the contract with the code of a verified one. Metadata and immutables are the same;
    /// what it was created with is not known.
    fn with_same_code(&self, hash: B256) -> Option<Arc<KnownContract>> {
        let verified = self.verified.get(self.by_code.get(&hash)?)?;
        Some(Arc::new(KnownContract {
            label: verified.label.clone(),
            name: verified.name.clone(),
            signatures: verified.signatures.clone(),
            origin: Origin::SameCode,
            matches: Matches {
                // Its creation was not compared.
                creation: None,
                ..verified.matches
            },
            constructor_arguments: None,
            verified_at: None,
            license: verified.license.clone(),
            code_hash: hash,
            source: verified.source.clone(),
        }))
    }
}

impl KnownContracts {
    /// The contracts of a network, if the chain has them, and the verified ones of a data
    /// directory, if there is one.
    pub fn open(network: Option<&Network>, directory: Option<&dyn Storage>) -> io::Result<Self> {
        let mut documents = Vec::new();
        let mut contents = Contents {
            own: network::signatures(),
            ..Contents::default()
        };
        if let Some(network) = network {
            contents.network = network::contracts(network);
        }

        let store = Store::open(directory, |document| {
            documents.push(document.without_sources())
        })?;
        let store = Arc::new(store);

        documents
            .iter()
            .for_each(|document| contents.add(&store, document));
        Ok(Self(Arc::new(SharedContracts {
            contents: RwLock::new(contents),
            store,
        })))
    }

    /// Forgets those of the network's contracts that have other code in a state than this version
    /// gives them, such as those of another chain.
    pub fn keep_deployed(&self, view: &View) {
        let all = self.0.contents.read().network.clone();
        let kept = all
            .into_iter()
            .filter(|(address, contract)| {
                let account = view.state.get(*address).ok().flatten();
                account.is_some_and(|account| contract.has_code(&account.code().original_bytes()))
            })
            .collect();
        self.0.contents.write().network = kept;
    }

    /// Adds the signatures of an ABI that the operator names.
    pub fn learn(&self, abi: &JsonAbi) {
        self.0.contents.write().own.learn(abi);
    }

    /// Returns the contract at an address of a state, if its source is known.
    pub fn at(&self, view: &View, address: Address) -> Option<Arc<KnownContract>> {
        {
            let contents = self.0.contents.read();
            if let Some(own) = contents.network.get(&address) {
                return Some(own.clone());
            }
            // Then no code can be a known one, and the account need not be read.
            if contents.verified.is_empty() && contents.artifacts.is_empty() {
                return None;
            }
        }

        // On a fork this may ask the other node: no lock is held.
        let account = view.state.get(address).ok().flatten()?;
        let hash = account.code_hash();
        let code = account.code();
        if code.is_empty() || code.len() > MAX_DEPLOYED {
            return None;
        }

        let (twin, artifacts) = {
            let contents = self.0.contents.read();
            if let Some(own) = contents
                .verified
                .get(&address)
                .filter(|own| own.code_hash == hash)
            {
                return Some(own.clone());
            }
            if let Some(found) = contents.identified.get(&hash) {
                return found.clone();
            }
            (contents.with_same_code(hash), contents.artifacts.clone())
        };

        let found = twin.or_else(|| artifacts.identify(hash, code.original_byte_slice()));

        let mut contents = self.0.contents.write();
        // More may be known meanwhile.
        if Arc::ptr_eq(&contents.artifacts, &artifacts)
            && (found.is_some() || !contents.by_code.contains_key(&hash))
        {
            if contents.identified.len() >= MAX_IDENTIFIED {
                contents.identified.clear();
            }
            contents.identified.insert(hash, found.clone());
        }
        found
    }

    /// Returns the name of the contract at an address, if it is known.
    pub fn name(&self, view: &View, address: Address) -> Option<String> {
        self.at(view, address)
            .map(|contract| contract.label.clone())
    }

    /// Returns the place in the source of an instruction of a contract's code, if that is known.
    pub fn location(
        &self,
        view: &View,
        address: Address,
        position: usize,
    ) -> Option<SourceLocation> {
        let compiled = self.at(view, address)?.compiled().ok()?;
        let account = view.state.get(address).ok().flatten()?;
        compiled.location(account.code().original_byte_slice(), position)
    }

    /// Returns the network's own contracts and the verified ones whose name has these words in
    /// lower case, at most `limit`.
    pub fn named(&self, words: &str, limit: usize) -> Vec<(Address, Arc<KnownContract>)> {
        let contents = self.0.contents.read();
        let all = contents.network.iter().chain(&contents.verified);
        let named = all.filter(|(_, contract)| contract.name.to_lowercase().contains(words));
        named
            .take(limit)
            .map(|(address, contract)| (*address, contract.clone()))
            .collect()
    }

    /// Returns the function that call data selects: the contract's own, if it is given, or else any
    /// known one.
    pub fn function(&self, contract: Option<&KnownContract>, data: &[u8]) -> Option<Arc<Function>> {
        self.find(contract, |signatures| signatures.function(data))
    }

    /// Returns the error that the data of a revert selects.
    pub fn error(&self, contract: Option<&KnownContract>, data: &[u8]) -> Option<Arc<Error>> {
        self.find(contract, |signatures| signatures.error(data))
    }

    /// Returns the event of a log with these topics.
    pub fn event(&self, contract: Option<&KnownContract>, topics: &[B256]) -> Option<Arc<Event>> {
        self.find(contract, |signatures| signatures.event(topics))
    }

    fn find<T>(
        &self,
        contract: Option<&KnownContract>,
        get: impl Fn(&Signatures) -> Option<&Arc<T>>,
    ) -> Option<Arc<T>> {
        if let Some(found) = contract.and_then(|contract| get(&contract.signatures)) {
            return Some(found.clone());
        }
        let contents = self.0.contents.read();
        let found = get(&contents.own).or_else(|| get(&contents.artifacts.signatures));
        found.or_else(|| get(&contents.learned)).cloned()
    }

    /// Keeps a verified contract.
    pub(super) fn add(&self, document: VerifiedContract) -> io::Result<()> {
        self.0.store.put(&document)?;
        self.0.contents.write().add(&self.0.store, &document);
        Ok(())
    }

    /// Replaces the artifacts.
    pub(super) fn set_artifacts(&self, artifacts: ArtifactSet) {
        let mut contents = self.0.contents.write();
        contents.artifacts = Arc::new(artifacts);
        contents.identified.clear();
    }
}
