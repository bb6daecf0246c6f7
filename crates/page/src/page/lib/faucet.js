// The node's faucet, over REST.

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error('the node is not responding');
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok)
    throw Object.assign(
      new Error(answer?.message ?? `the node responded with status ${response.status}`),
      { code: answer?.error ?? null },
    );
  return answer.data;
}

/**
 * The faucet: `{ enabled, account, balance, limits, assets }`, with what `address` may still get;
 * null if the node cannot say.
 */
export function describeFaucet(address = null) {
  const query = address ? `?address=${encodeURIComponent(address)}` : '';
  return ask(`api/faucet${query}`).catch(() => null);
}

/** Requests a payment: of the native coin, or of a token by its symbol. */
export function requestPayment(address, token = null) {
  const body = JSON.stringify(token ? { address, token } : { address });
  return ask('api/faucet', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
}
