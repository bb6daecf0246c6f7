// A browser wallet for tests.

/**
 * An injected wallet (EIP-1193, announced by EIP-6963). The network is unknown to it at first; it
 * signs with a key of the node, and records the methods it was called with in `window.asked`.
 * Runs in the page, so it cannot use other parts of this module.
 */
export function injectWallet({ account }) {
  const asked = [];
  let chainId = '0x1';
  const known = new Set([chainId]);

  const refuse = (code, message) => Promise.reject(Object.assign(new Error(message), { code }));
  const forward = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch('/rpc', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const { result, error } = await response.json();
    return error ? refuse(error.code, error.message) : result;
  };

  const request = ({ method, params = [] }) => {
    asked.push(method);
    switch (method) {
      case 'eth_accounts':
        return Promise.resolve([]);
      case 'eth_requestAccounts':
        return Promise.resolve([account]);
      case 'eth_chainId':
        return Promise.resolve(chainId);
      case 'wallet_switchEthereumChain':
        if (!known.has(params[0].chainId)) return refuse(4902, 'Unrecognized chain');
        chainId = params[0].chainId;
        return Promise.resolve(null);
      case 'wallet_addEthereumChain':
        window.added = params[0];
        known.add(params[0].chainId);
        chainId = params[0].chainId;
        return Promise.resolve(null);
      case 'eth_sendTransaction':
        if (window.refusing) return refuse(4001, 'User rejected the request.');
        return forward(method, params);
      default:
        return refuse(4200, `${method} is not supported`);
    }
  };

  window.asked = asked;
  const info = {
    uuid: '6f1c2b1e-0000-4000-8000-000000000000',
    name: 'Test wallet',
    rdns: 'test.wallet',
    icon: 'data:,',
  };
  const announce = () => {
    const detail = Object.freeze({ info, provider: { request, on() {} } });
    window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  };
  window.addEventListener('eip6963:requestProvider', announce);
  announce();
}
