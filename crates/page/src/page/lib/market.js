// What can be traded: the oracle's view of each token and the vault's state, at the newest block;
// and figures of 24 hours.

import { network, read } from './network.js';
import { node, whenever } from './node.js';
import { ask, prices } from './prices.js';
import { money } from './money.js';
import { span } from './format.js';

/** How long the figures are cached, in milliseconds. */
const KEPT = 20_000;
const TARGETED = 4;

/** Why a price is stale, as the end of a sentence about it. */
function staleReason({ address }, { price }) {
  if (price === 0n) return 'has no price yet';
  const entry = prices.of(address);
  const updated = entry && Math.floor((entry.lastUpdated ?? 0) || entry.timestamp / 1_000);
  const age = updated && node.head ? Number(node.head.timestamp) - updated : 0;
  return age > 0 ? `was last updated ${span(age)} ago` : 'is too old';
}

/** Events: `market`, when a state may have changed. */
class Market extends EventTarget {
  /** By lower-case address: price (× 10^8), fresh, halted and target (× 10^8; 0 if unknown). */
  states = new Map();
  paused = false;
  #maxAge = null;
  #figures = null;
  #until = 0;

  /** Follows the newest block until the signal aborts. */
  follow(signal) {
    prices.follow();
    whenever(node, 'head', signal, () => this.#load(), 1_500);
  }

  async #load() {
    const { oracle, vault } = network.addresses;
    const all = network.tokens;
    try {
      const [paused, maxAge, ...found] = await Promise.all([
        read('Vault', vault, 'paused'),
        read('PriceOracle', oracle, 'maxAge'),
        ...all.map(({ address }) =>
          read('PriceOracle', oracle, 'readPrice', address).catch(() => null),
        ),
      ]);
      this.#maxAge = maxAge;
      this.paused = paused;

      const halted = all.filter((_, at) => found[at]?.isHalted).slice(0, TARGETED);
      // A chain of an earlier version halts no token, and its oracle lacks this function.
      const halts = halted.length
        ? await read(
            'PriceOracle',
            oracle,
            'getHalts',
            halted.map(({ address }) => address),
          ).catch(() => null)
        : null;

      all.forEach(({ address }, at) => {
        if (!found[at]) return;
        const { price, fresh, isHalted } = found[at];
        const target = halts?.targets[halted.indexOf(all[at])] ?? 0n;
        this.states.set(address.toLowerCase(), { price, fresh, halted: isHalted, target });
      });
      this.dispatchEvent(new Event('market'));
    } catch {
      // The node does not respond, which the status at the top shows; the next block loads again.
    }
  }

  of(token) {
    return this.states.get(token.address.toLowerCase()) ?? null;
  }

  /** Why a token is not tradable: a short label and a sentence; null if it is. */
  obstacle(token) {
    const state = this.of(token);
    if (!state) return null;
    if (!state.fresh) {
      const reason = staleReason(token, state);
      const limit = this.#maxAge
        ? ` Swaps need one of the last ${span(Number(this.#maxAge))}.`
        : '';
      return {
        kind: 'Stale',
        text: `The price of ${token.symbol} is stale: it ${reason}.${limit}`,
      };
    }
    if (state.halted) {
      const why =
        state.target > 0n
          ? `its price is moving to ${money(state.target)}, the price of its source`
          : 'its price differs from that of its source';
      return {
        kind: 'Halted',
        text: `${token.symbol} is halted: ${why}. Swaps resume when it arrives.`,
      };
    }
    return null;
  }

  /** Liquidity and volume of 24 hours in dollars, by lower-case address. */
  figures({ fresh = false } = {}) {
    if (!this.#figures || fresh || this.#until < Date.now()) {
      this.#until = Date.now() + KEPT;
      this.#figures = ask('api/tokens/swap').then(
        (list) => new Map(list.map((one) => [one.address.toLowerCase(), one])),
      );
      this.#figures.catch(() => (this.#figures = null));
    }
    return this.#figures;
  }
}

export const market = new Market();

let named = null;

/** Names of the tokens by symbol, such as "Wrapped Ethereum". */
export function tokenNames() {
  named ??= ask('api/tokens').then((list) => new Map(list.map((one) => [one.symbol, one.name])));
  named.catch(() => (named = null));
  return named;
}
