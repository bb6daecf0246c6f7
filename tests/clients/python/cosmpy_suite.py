"""cosmpy over gRPC and over REST: funds, sends, waits, reads; the recipient spends with web3.py.

cosmpy knows keys of Cosmos only, so the wallet and the transaction name Ethereum's. The node's accounts are of the type
`/cosmos.auth.v1beta1.BaseAccount`. Arguments: the URL of JSON-RPC, and the base of gRPC and of REST.
"""

import sys
import unittest

from cosmpy.aerial.client import LedgerClient, NetworkConfig
from cosmpy.aerial.client.bank import create_bank_send_msg
from cosmpy.aerial.client.utils import prepare_basic_transaction
from cosmpy.aerial.exceptions import InsufficientFeesError, NotFoundError
from cosmpy.aerial.tx import Transaction, TxFee
from cosmpy.aerial.wallet import LocalWallet
from cosmpy.crypto.address import Address
from cosmpy.crypto.keypairs import PrivateKey
from cosmpy.protos.cosmos.tx.v1beta1.service_pb2 import GetTxsEventRequest
from eth_account import Account
from eth_utils import keccak, to_canonical_address
from google.protobuf import descriptor_pb2, descriptor_pool
from web3 import Web3

RPC, GRPC, REST = sys.argv[1:4]
MNEMONIC = "test test test test test test test test test test test junk"
PREFIX, DENOM = "pax", "ahpx"
# A gwei more than the base fee of the first block.
GAS_PRICE = 2_000_000_000
Account.enable_unaudited_hdwallet_features()


def register(name):
    """Registers a type of Ethereum keys, which REST responses name."""
    package, _, message = name.rpartition(".")
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    file.message_type.add(name=message).field.add(name="key", number=1, label=1, type=12)
    descriptor_pool.Default().AddSerializedFile(file.SerializeToString())


KEY = "cosmos.evm.crypto.v1.ethsecp256k1.PubKey"
register(KEY)
register("hyperpaxeer.crypto.v1.ethsecp256k1.PubKey")


class EthereumKey(PrivateKey):
    def sign(self, message, deterministic=True, canonicalise=True):
        return self.sign_digest(keccak(message), deterministic, canonicalise)


class EthereumWallet(LocalWallet):
    def __init__(self, account):
        super().__init__(EthereumKey(bytes(account.key)), prefix=PREFIX)
        self._address = bech32(account)

    def address(self):
        return self._address


class EthereumTransaction(Transaction):
    def seal(self, *args, **kwargs):
        super().seal(*args, **kwargs)
        for signer in self._tx.auth_info.signer_infos:
            signer.public_key.type_url = f"/{KEY}"
        return self


def bech32(account):
    return Address(to_canonical_address(account.address), prefix=PREFIX)


class Cosmpy:
    """The tests; their subclasses set the scheme, the base URL and a separate account."""

    @classmethod
    def setUpClass(cls):
        cls.web3 = Web3(Web3.HTTPProvider(RPC))
        cls.wallet = EthereumWallet(Account.from_mnemonic(MNEMONIC, account_path=f"m/44'/60'/0'/0/{cls.INDEX}"))
        cls.ledger = LedgerClient(
            NetworkConfig(
                chain_id="hyperpax_125-1", url=cls.URL, fee_minimum_gas_price=GAS_PRICE, fee_denomination=DENOM, staking_denomination=DENOM
            )
        )

    def send(self, recipient, amount, fee=None):
        message = create_bank_send_msg(self.wallet.address(), bech32(recipient), amount, DENOM)
        transaction = EthereumTransaction().add_message(message)
        return self.ledger.broadcast_tx(prepare_basic_transaction(self.ledger, transaction, self.wallet, fee=fee, memo="from cosmpy"))

    def test_sends_and_reads(self):
        ledger, recipient = self.ledger, Account.create()
        self.assertEqual(ledger.query_chain_id(), "hyperpax_125-1")
        sequence = ledger.query_account(self.wallet.address()).sequence
        # The first simulates, the second has a gas limit.
        self.send(recipient, 10**18)
        self.send(recipient, 5, TxFee(gas_limit=100_000))
        self.assertEqual(ledger.query_account(self.wallet.address()).sequence, sequence + 2)
        self.assertEqual(ledger.query_bank_balance(bech32(recipient)), 10**18 + 5)
        (coin,) = ledger.query_bank_all_balances(bech32(recipient))
        self.assertEqual((coin.denom, int(coin.amount)), (DENOM, 10**18 + 5))

        transaction = {"to": "0x" + "00" * 20, "value": 7, "gas": 21_000, "gasPrice": GAS_PRICE, "chainId": 125, "nonce": 0}
        sent = self.web3.eth.send_raw_transaction(recipient.sign_transaction(transaction).raw_transaction)
        receipt = self.web3.eth.wait_for_transaction_receipt(sent, poll_latency=0.02)
        left = 10**18 + 5 - 7 - receipt.gasUsed * receipt.effectiveGasPrice
        self.assertEqual(ledger.query_bank_balance(bech32(recipient)), left)

    def test_waits_and_finds(self):
        recipient = Account.create()
        sent = self.send(recipient, 3)
        response = sent.wait_to_complete(timeout=10, poll_period=0.05).response
        self.assertEqual((response.hash, response.code, response.height), (sent.tx_hash, 0, self.ledger.query_height()))
        self.assertTrue(0 < response.gas_used <= response.gas_wanted)
        transfer = response.events["transfer"]
        self.assertEqual((transfer["recipient"], transfer["amount"]), (str(bech32(recipient)), f"3{DENOM}"))
        self.assertIsNotNone(response.timestamp)
        with self.assertRaises(NotFoundError):
            self.ledger.query_tx("AB" * 32)
        request = GetTxsEventRequest(query=f"transfer.recipient='{bech32(recipient)}'")
        found = self.ledger.txs.GetTxsEvent(request)
        self.assertEqual([response.txhash for response in found.tx_responses], [sent.tx_hash])
        self.assertEqual(found.txs[0].body.memo, "from cosmpy")

    def test_recognises_refusals(self):
        with self.assertRaisesRegex(InsufficientFeesError, rf"minimum required: \d+{DENOM}"):
            self.send(Account.create(), 1, TxFee(f"1{DENOM}", 100_000))


class OverGrpc(Cosmpy, unittest.TestCase):
    URL, INDEX = f"grpc+{GRPC}", 0


class OverRest(Cosmpy, unittest.TestCase):
    URL, INDEX = f"rest+{REST}", 1


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
