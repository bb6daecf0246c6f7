// The active account: one of an injected wallet (EIP-1193, announced by EIP-6963), or one whose key
// the node holds.

import { nameAccounts } from './accountnames.js';
import { checksum } from './address.js';
import { network } from './network.js';
import { node, RpcError } from './node.js';
import { explainRevert } from './reverts.js';

const CHOSEN = 'tetrad.account';
/**
 * How long to wait for the receipt of a transaction, in milliseconds. Without mining, it waits
 * until a block is mined.
 */
const CONFIRMATION_TIMEOUT_MS = 3_600_000;

/** Events: `change`, when the wallets, the accounts or the active account have changed. */
class Wallets extends EventTarget {
  /** Accounts whose keys the node holds. */
  held = [];
  /** Accounts that this page has the node impersonate. */
  impersonated = [];
  /** Injected wallets: name and provider by identifier. */
  injected = new Map();
  /**
   * The active account, `{ address, via }` with `via` either `node` or a wallet's identifier, or
   * null.
   */
  current = null;

  /** Discovers wallets and accounts, and restores the last active account. */
  async begin() {
    window.addEventListener('eip6963:announceProvider', ({ detail }) => {
      if (!detail?.info?.uuid || !detail.provider?.request) return;
      this.injected.set(detail.info.rdns || detail.info.uuid, {
        name: String(detail.info.name),
        provider: detail.provider,
      });
      this.#changed();
    });

    window.dispatchEvent(new Event('eip6963:requestProvider'));
    if (!this.injected.size && window.ethereum?.request) {
      this.injected.set('injected', { name: 'Browser wallet', provider: window.ethereum });
    }

    await this.refresh();
    const [via, address] = (localStorage.getItem(CHOSEN) ?? '').split('/');
    const known = this.held.find((held) => held === address);
    if (via === 'node' && known) this.#choose({ via, address: known });
    else if (this.injected.has(via)) await this.#resume(via);
    else if (this.held.length) this.#choose({ via: 'node', address: this.held[0] });
    this.#changed();
  }

  /** Reloads the node's accounts. */
  async refresh() {
    this.held = (await node.call('eth_accounts').catch(() => [])).map(checksum);
    nameAccounts(this.held);
    this.impersonated = this.impersonated.filter((address) => !this.held.includes(address));
    const usable = [...this.held, ...this.impersonated];
    if (this.current?.via === 'node' && !usable.includes(this.current.address)) this.#choose(null);
    this.#changed();
  }

  async #resume(via) {
    const accounts = await this.injected
      .get(via)
      .provider.request({ method: 'eth_accounts' })
      .catch(() => []);
    if (accounts.length) this.#adopt(via, accounts);
  }

  #adopt(via, accounts) {
    const wallet = this.injected.get(via);
    if (!wallet.watched) {
      wallet.watched = true;
      wallet.provider.on?.('chainChanged', () => this.#changed());
      wallet.provider.on?.('accountsChanged', (now) => {
        if (this.current?.via === via)
          this.#choose(now.length ? { via, address: checksum(now[0]) } : null);
      });
    }
    this.#choose({ via, address: checksum(accounts[0]) });
  }

  #choose(choice) {
    this.current = choice;
    if (choice) localStorage.setItem(CHOSEN, `${choice.via}/${choice.address}`);
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event('change'));
  }

  /** Makes an account of the node the active one. */
  useHeld(address) {
    this.#choose({ via: 'node', address });
  }

  /** Adds or removes an impersonated account. */
  impersonate(address, on) {
    this.impersonated = this.impersonated.filter((one) => one !== address);
    if (on) this.impersonated.push(address);
    else if (this.current?.address === address && this.current.via === 'node') this.#choose(null);
    this.#changed();
  }

  /** The name of the active account's wallet if it is on another network, or null. */
  async elsewhere() {
    const wallet = this.injected.get(this.current?.via);
    if (!wallet) return null;
    const chain = await wallet.provider.request({ method: 'eth_chainId' }).catch(() => null);
    return chain === null || Number(chain) === network.chainId ? null : wallet.name;
  }

  /** Switches the active account's wallet to this network. */
  async switchNetwork() {
    await this.addNetwork(this.injected.get(this.current.via).provider);
    this.#changed();
  }

  /** Requests an account from a wallet, and switches the wallet to this network. */
  async connect(via) {
    const { provider } = this.injected.get(via);
    const accounts = await provider.request({ method: 'eth_requestAccounts' });
    if (!accounts.length) throw new Error('the wallet returned no account');
    await this.addNetwork(provider);
    this.#adopt(via, accounts);
  }

  /**
   * Switches a wallet to this network, and adds the network first if it is unknown to the wallet
   * (EIP-3326, EIP-3085).
   */
  async addNetwork(provider) {
    const chainId = `0x${network.chainId.toString(16)}`;
    const now = await provider.request({ method: 'eth_chainId' }).catch(() => null);
    if (now !== null && Number(now) === network.chainId) return;
    try {
      await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
    } catch (error) {
      // 4902 means that the chain is unknown to the wallet; some wallets wrap it.
      if (error.code !== 4902 && error.data?.originalError?.code !== 4902 && error.code !== -32603)
        throw error;
      await provider.request({ method: 'wallet_addEthereumChain', params: [networkForWallets()] });
    }
  }

  /**
   * Calls a method of the active account's wallet, or of the node for an account whose key it
   * holds.
   */
  async request(method, ...params) {
    if (!this.current) throw new Error('choose an account at the top first');
    return this.#requestAs(this.current, method, ...params);
  }

  async #requestAs(who, method, ...params) {
    if (who.via === 'node') return explained(node.call(method, ...params));
    const { provider } = this.injected.get(who.via);
    await this.addNetwork(provider);
    return provider.request({ method, params });
  }

  /**
   * Sends a transaction from the active account and waits for its receipt. Throws the revert reason
   * if the estimate or the transaction fails. A transaction with a `gas` of its own is sent without
   * an estimate; with `mayFail` a failed one resolves to its receipt, too.
   */
  async send(transaction, sent, { mayFail = false } = {}) {
    // Another account may be chosen while the gas is estimated.
    const who = this.current;
    if (!who) throw new Error('choose an account at the top first');
    const whole = { from: who.address, ...transaction };
    const gas = whole.gas ?? (await gasFor(whole));
    const hash = await this.#requestAs(who, 'eth_sendTransaction', { ...whole, gas });
    sent?.(hash);

    const receipt = await this.receipt(hash);
    if (receipt.status !== '0x1' && !mayFail) {
      const before = `0x${(Number(receipt.blockNumber) - 1).toString(16)}`;
      await explained(node.call('eth_call', whole, before), whole.to);
      throw new Error('the transaction failed');
    }
    return receipt;
  }

  /** Waits for the receipt of a transaction. */
  async receipt(hash) {
    const deadline = Date.now() + CONFIRMATION_TIMEOUT_MS;
    while (Date.now() < deadline) {
      const receipt = await node.call('eth_getTransactionReceipt', hash).catch(() => null);
      if (receipt) return receipt;
      await new Promise((resolve) => {
        const timer = setTimeout(done, 1_000);
        function done() {
          clearTimeout(timer);
          node.removeEventListener('head', done);
          resolve();
        }
        node.addEventListener('head', done);
      });
    }
    throw new Error('the transaction was not mined within an hour');
  }
}

/** The parameters of `wallet_addEthereumChain` for this network (EIP-3085). */
export function networkForWallets() {
  const { chainId, cosmosChainId, coin } = network;
  return {
    chainId: `0x${chainId.toString(16)}`,
    chainName: `${cosmosChainId || `Chain ${chainId}`} at ${location.host}`,
    nativeCurrency: { name: coin, symbol: coin, decimals: 18 },
    rpcUrls: [new URL('rpc', location.href).href],
    blockExplorerUrls: [new URL('.', location.href).href],
  };
}

/**
 * The network as Keplr's `experimentalSuggestChain` takes it, with this page's URL for what is
 * served beside the page.
 */
export function networkForKeplr() {
  const { keplr } = network.addresses;
  const here = (url) => {
    const { host, pathname } = new URL(url);
    return host === location.host
      ? new URL(`.${pathname}`, location.href).href.replace(/\/$/, '')
      : url;
  };
  return {
    ...keplr,
    rpc: here(keplr.rpc),
    rest: here(keplr.rest),
    evm: { ...keplr.evm, rpc: here(keplr.evm.rpc) },
  };
}

/**
 * Awaits a promise, with revert data in its error, of a call of `contract`, decoded into a message.
 */
async function explained(promise, contract = null) {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof RpcError && error.data)
      throw Object.assign(new Error(await explainRevert(error.data, { contract })), {
        data: error.data,
      });
    throw error;
  }
}

/**
 * The gas limit of a transaction: the estimate and a quarter, as the state may change until it is
 * mined.
 */
async function gasFor(transaction) {
  const estimate = await explained(node.call('eth_estimateGas', transaction), transaction.to);
  return `0x${((BigInt(estimate) * 5n) / 4n).toString(16)}`;
}

export const wallets = new Wallets();
