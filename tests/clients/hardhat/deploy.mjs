// Deploys two contracts, for the suite that verifies them.
import { artifacts, network } from 'hardhat';
import { encodeDeployData } from 'viem';

const { provider } = await network.connect();
const { abi, bytecode } = await artifacts.readArtifact('Probe');
const [from] = await provider.request({ method: 'eth_accounts' });
for (const initial of [21n, 22n]) {
  const data = encodeDeployData({ abi, bytecode, args: [initial] });
  const hash = await provider.request({ method: 'eth_sendTransaction', params: [{ from, data }] });
  const { contractAddress } = await provider.request({
    method: 'eth_getTransactionReceipt',
    params: [hash],
  });
  console.log(contractAddress);
}
