"""web3.py 7 against a node: connect, send, deploy, call, events, errors, signing, time, the network's contracts; and gRPC.

Arguments: the URLs of JSON-RPC over HTTP and over WebSocket, the REST base, and the path of the compiled test contract.
"""

import asyncio
import json
import sys
import unittest
import urllib.request

import grpc
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from web3 import AsyncWeb3, Web3, WebSocketProvider
from web3.exceptions import ContractCustomError, ContractLogicError, ContractPanicError, Web3RPCError

RPC, SOCKET, REST, PROBE = sys.argv[1:5]
with open(PROBE) as file:
    ARTIFACT = json.load(file)
MNEMONIC = "test test test test test test test test test test test junk"
Account.enable_unaudited_hdwallet_features()


def abi(name, inputs, outputs=(), view=False):
    return {
        "type": "function",
        "name": name,
        "stateMutability": "view" if view else "nonpayable",
        "inputs": [{"type": kind, "name": ""} for kind in inputs],
        "outputs": [{"type": kind, "name": ""} for kind in outputs],
    }


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.web3 = Web3(Web3.HTTPProvider(RPC))
        cls.network = json.load(urllib.request.urlopen(f"{REST}/api/network"))
        cls.accounts = cls.web3.eth.accounts

    def send(self, call, sender=None):
        receipt = self.web3.eth.wait_for_transaction_receipt(call.transact({"from": sender or self.accounts[0]}), poll_latency=0.02)
        self.assertEqual(receipt.status, 1)
        return receipt

    def deploy(self):
        contract = self.web3.eth.contract(abi=ARTIFACT["abi"], bytecode=ARTIFACT["bytecode"])
        receipt = self.send(contract.constructor(7))
        return self.web3.eth.contract(receipt.contractAddress, abi=ARTIFACT["abi"])

    def test_connects_and_sends(self):
        self.assertTrue(self.web3.is_connected())
        self.assertEqual(self.web3.eth.chain_id, 125)
        self.assertTrue(self.web3.client_version.startswith("anvil/tetrad"))
        sent = self.web3.eth.send_transaction({"from": self.accounts[0], "to": self.accounts[1], "value": 5})
        receipt = self.web3.eth.wait_for_transaction_receipt(sent)
        self.assertEqual(self.web3.eth.get_transaction(sent)["value"], 5)
        self.assertIn(sent, self.web3.eth.get_block(receipt.blockNumber).transactions)
        self.assertGreater(len(self.web3.eth.fee_history(2, "latest", [50])["baseFeePerGas"]), 1)

    def test_queries_over_grpc_with_reflection_alone(self):
        with grpc.insecure_channel(REST.removeprefix("http://")) as channel:
            database = ProtoReflectionDescriptorDatabase(channel)
            self.assertIn("cosmos.bank.v1beta1.Query", database.get_services())
            pool = DescriptorPool(database)

            def ask(name, **fields):
                service, method = name.split("/")
                described = pool.FindServiceByName(service).FindMethodByName(method)
                request, response = GetMessageClass(described.input_type), GetMessageClass(described.output_type)
                call = channel.unary_unary(
                    f"/{name}", request_serializer=request.SerializeToString, response_deserializer=response.FromString
                )
                return MessageToDict(call(request(**fields)), descriptor_pool=pool)

            first = self.accounts[0]
            coin = {"denom": "ahpx", "amount": str(self.web3.eth.get_balance(first))}
            self.assertEqual(ask("cosmos.bank.v1beta1.Query/Balance", address=first, denom="ahpx"), {"balance": coin})
            account = ask("cosmos.auth.v1beta1.Query/Account", address=first)["account"]
            self.assertEqual(account["@type"], "/hyperpaxeer.types.v1.EthAccount")
            self.assertEqual(ask("cosmos.evm.vm.v1.Query/Balance", address=first), {"balance": coin["amount"]})
            with self.assertRaises(grpc.RpcError) as refused:
                ask("cosmos.auth.v1beta1.Query/Account", address="x")
            self.assertEqual(refused.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)

    def test_signs_by_itself(self):
        account = Account.from_mnemonic(MNEMONIC, account_path="m/44'/60'/0'/0/3")
        transaction = {
            "to": self.accounts[0], "value": 1, "gas": 21_000, "chainId": 125,
            "nonce": self.web3.eth.get_transaction_count(account.address),
            "maxFeePerGas": self.web3.to_wei(5, "gwei"), "maxPriorityFeePerGas": 1,
        }
        sent = self.web3.eth.send_raw_transaction(account.sign_transaction(transaction).raw_transaction)
        self.assertEqual(self.web3.eth.wait_for_transaction_receipt(sent)["from"], account.address)
        message = encode_defunct(text="hello")
        self.assertEqual(Account.recover_message(message, signature=account.sign_message(message).signature), account.address)
        with self.assertRaisesRegex(Web3RPCError, "nonce too low"):
            transaction["value"] = 2
            self.web3.eth.send_raw_transaction(account.sign_transaction(transaction).raw_transaction)

    def test_deploys_calls_and_finds_events(self):
        contract = self.deploy()
        receipt = self.send(contract.functions.store(42))
        self.assertEqual(contract.functions.value().call(), 42)
        self.assertEqual(contract.functions.value().call(block_identifier=receipt.blockNumber - 1), 7)
        (event,) = contract.events.Stored().process_receipt(receipt)
        self.assertEqual(event.args.value, 42)
        (event,) = contract.events.Stored.get_logs(from_block=0, argument_filters={"who": self.accounts[0]})
        self.assertEqual(event.args.value, 42)
        created = contract.events.Stored.create_filter(from_block="latest")
        self.send(contract.functions.store(43))
        self.assertEqual([event.args.value for event in created.get_new_entries()][-1], 43)

    def test_decodes_why_calls_revert(self):
        contract = self.deploy()
        with self.assertRaisesRegex(ContractLogicError, "execution reverted: unlucky"):
            contract.functions.store(13).call()
        with self.assertRaises(ContractCustomError) as caught:
            contract.functions.store(2000).transact({"from": self.accounts[0]})
        self.assertTrue(caught.exception.data.startswith("0x677fd0e3"))
        with self.assertRaises(ContractPanicError):
            contract.functions.divide(0).call()
        with self.assertRaises(ContractLogicError):
            contract.functions.bare().call()

    def test_permits_with_typed_data(self):
        owner = Account.from_mnemonic(MNEMONIC, account_path="m/44'/60'/0'/0/4")
        address = self.network["tokens"]["USDC"]
        functions = [
            abi("name", [], ["string"], True), abi("nonces", ["address"], ["uint256"], True),
            abi("allowance", ["address", "address"], ["uint256"], True),
            abi("permit", ["address", "address", "uint256", "uint256", "uint8", "bytes32", "bytes32"]),
        ]
        token = self.web3.eth.contract(address, abi=functions).functions
        fields = [("owner", "address"), ("spender", "address"), ("value", "uint256"), ("nonce", "uint256"), ("deadline", "uint256")]
        message = {"owner": owner.address, "spender": self.accounts[1], "value": 9, "nonce": token.nonces(owner.address).call(), "deadline": 2**40}
        domain = {"name": token.name().call(), "version": "1", "chainId": 125, "verifyingContract": address}
        typed = encode_typed_data(domain, {"Permit": [{"name": name, "type": kind} for name, kind in fields]}, message)
        signed = owner.sign_message(typed)
        self.send(token.permit(owner.address, self.accounts[1], 9, 2**40, signed.v, signed.r.to_bytes(32), signed.s.to_bytes(32)))
        self.assertEqual(token.allowance(owner.address, self.accounts[1]).call(), 9)

    def test_travels_in_time(self):
        ask = self.web3.provider.make_request
        snapshot = ask("evm_snapshot", [])["result"]
        before = self.web3.eth.get_block("latest")
        ask("evm_increaseTime", [86_400])
        ask("evm_mine", [])
        self.assertGreaterEqual(self.web3.eth.get_block("latest").timestamp, before.timestamp + 86_400)
        ask("anvil_setBalance", [self.accounts[9], 10**22])
        self.assertEqual(self.web3.eth.get_balance(self.accounts[9]), 10**22)
        self.assertTrue(ask("evm_revert", [snapshot])["result"])
        self.assertEqual(self.web3.eth.get_block("latest").hash, before.hash)

    def test_swaps(self):
        user, tokens = self.accounts[5], self.network["tokens"]
        usdc = self.web3.eth.contract(tokens["USDC"], abi=[abi("approve", ["address", "uint256"], ["bool"])]).functions
        functions = [abi("swapExactTokensForTokens", ["address", "address", "uint256", "uint256"])]
        vault = self.web3.eth.contract(self.network["vault"], abi=functions).functions
        swap = vault.swapExactTokensForTokens(tokens["USDC"], tokens["WETH"], 10**9, 1)
        with self.assertRaises(ContractCustomError):
            swap.call({"from": user})
        self.send(usdc.approve(self.network["vault"], 10**9), user)
        topic = Web3.keccak(text="Swap(address,address,address,uint256,uint256)")
        receipt = self.send(swap, user)
        self.assertIn(topic, [log.topics[0] for log in receipt.logs])

    def test_subscribes(self):
        async def run():
            async with AsyncWeb3(WebSocketProvider(SOCKET)) as web3:
                await web3.eth.subscribe("newHeads")
                accounts = await web3.eth.accounts
                sent = await web3.eth.send_transaction({"from": accounts[0], "to": accounts[1], "value": 1})
                receipt = await web3.eth.wait_for_transaction_receipt(sent)
                async for message in web3.socket.process_subscriptions():
                    self.assertEqual(message["result"]["hash"], receipt.blockHash)
                    return

        asyncio.run(asyncio.wait_for(run(), 20))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
