//! Contracts that tools and applications expect on every chain.

use alloy::{
    primitives::{Address, B256, Bytes, U256, address, b256, hex, keccak256},
    signers::SignerSync,
    sol,
    sol_types::{SolCall, SolEvent, SolStruct, SolValue, eip712_domain},
};
use serde_json::json;
use tetrad_contracts::contracts::bindings::Token;

use crate::support::{
    TestNode,
    chain::{token, units},
    node,
};

const CREATE2_DEPLOYER: Address = address!("0x4e59b44847b379578588920cA78FbF26c0B4956C");
const SAFE_SINGLETON_FACTORY: Address = address!("0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7");
const CREATE_X: Address = address!("0xba5Ed099633D3B313e4D5F7bdc1305d3c28ba5Ed");
const PERMIT2: Address = address!("0x000000000022D473030F116dDEE9F6B43aC78BA3");
const ENTRY_POINT_06: Address = address!("0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789");
const ENTRY_POINT_07: Address = address!("0x0000000071727De22E5E9d8BAf0edAc6f37da032");
const ENTRY_POINT_08: Address = address!("0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108");

/// Creation code that deploys `return(0, 32)`: an account that accepts every operation.
const CREDULOUS: [u8; 14] = hex!("6460206000f36000526005601bf3");

sol! {
    interface ICreateX {
        function deployCreate2(bytes32 salt, bytes initCode) external payable returns (address newContract);
        function computeCreate2Address(bytes32 salt, bytes32 initCodeHash) external view returns (address computedAddress);
    }

    struct TokenPermissions { address token; uint256 amount; }

    struct PermitTransferFrom { TokenPermissions permitted; address spender; uint256 nonce; uint256 deadline; }

    struct UnsignedPermit { TokenPermissions permitted; uint256 nonce; uint256 deadline; }

    struct SignatureTransferDetails { address to; uint256 requestedAmount; }

    interface IPermit2 {
        function DOMAIN_SEPARATOR() external view returns (bytes32);
        function permitTransferFrom(UnsignedPermit permit, SignatureTransferDetails details, address owner, bytes signature) external;
    }

    struct OldUserOperation {
        address sender; uint256 nonce; bytes initCode; bytes callData; uint256 callGasLimit; uint256 verificationGasLimit;
        uint256 preVerificationGas; uint256 maxFeePerGas; uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature;
    }

    struct PackedUserOperation {
        address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas;
        bytes32 gasFees; bytes paymasterAndData; bytes signature;
    }

    interface IOldEntryPoint {
        function handleOps(OldUserOperation[] ops, address beneficiary) external;
    }

    interface IEntryPoint {
        function handleOps(PackedUserOperation[] ops, address beneficiary) external;
        function depositTo(address account) external payable;
        event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed);
    }
}

impl TestNode {
    async fn code(&self, address: Address) -> Bytes {
        serde_json::from_value(self.rpc("eth_getCode", json!([address, "latest"])).await).unwrap()
    }
}

fn creation_code(digits: &str) -> Vec<u8> {
    hex::decode(digits.trim_end()).unwrap()
}

#[test]
fn creation_codes_match_the_published_ones() {
    // Their addresses are hashes of their creation codes and of these salts.
    let vanity = b256!("0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3");
    let newer = b256!("0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9");
    let permit2 = b256!("0x0000000000000000000000000000000000000000d3af2663da51c10215000000");

    for (address, salt, digits) in [
        (
            PERMIT2,
            permit2,
            include_str!("../../../contracts/predeploys/Permit2.hex"),
        ),
        (
            ENTRY_POINT_06,
            B256::ZERO,
            include_str!("../../../contracts/predeploys/EntryPoint06.hex"),
        ),
        (
            ENTRY_POINT_07,
            vanity,
            include_str!("../../../contracts/predeploys/EntryPoint07.hex"),
        ),
        (
            ENTRY_POINT_08,
            newer,
            include_str!("../../../contracts/predeploys/EntryPoint08.hex"),
        ),
    ] {
        assert_eq!(
            CREATE2_DEPLOYER.create2_from_code(salt, creation_code(digits)),
            address
        );
    }
}

#[tokio::test]
async fn codes_match_the_hashes_that_explorers_show() {
    let node = node().await;
    let proxy = b256!("0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989");
    for (address, hash) in [
        (CREATE2_DEPLOYER, proxy),
        (SAFE_SINGLETON_FACTORY, proxy),
        (
            CREATE_X,
            b256!("0xbd8a7ea8cfca7b4e5f5041d7d4b17bc317c5ce42cfbc42066a00cf26b43eb53f"),
        ),
        (
            ENTRY_POINT_06,
            b256!("0xc93c806e738300b5357ecdc2e971d6438d34d8e4e17b99b758b1f9cac91c8e70"),
        ),
    ] {
        assert_eq!(keccak256(node.code(address).await), hash, "{address}");
    }
    // Those of the others depend on the chain id. Each entry point has created its creator of
    // accounts.
    for address in [
        PERMIT2,
        ENTRY_POINT_07,
        ENTRY_POINT_08,
        address!("0x7fc98430eAEdbb6070B35B39D798725049088348"),
        address!("0xEFC2c1444eBCC4Db75e7613d20C6a62fF67A167C"),
        address!("0x449ED7C3e6Fee6a97311d4b55475DF59C44AdD33"),
    ] {
        assert!(!node.code(address).await.is_empty(), "{address}");
    }
    node.end().await;
}

#[tokio::test]
async fn permit2_moves_tokens_with_a_signature_for_this_chain() {
    let node = node().await;
    let owner = node.signer(0);
    let spender = node.signer(1);
    let usdc = token("USDC");
    let domain = eip712_domain! { name: "Permit2", chain_id: 125, verifying_contract: PERMIT2, };
    assert_eq!(
        node.view(PERMIT2, IPermit2::DOMAIN_SEPARATORCall {}).await,
        domain.separator()
    );

    let approve = Token::approveCall {
        spender: PERMIT2,
        value: U256::MAX,
    };
    assert!(node.send(&owner, usdc.address, approve).await.status());
    let to = Address::repeat_byte(0x70);
    let amount = units(&usdc, 5);
    let permitted = TokenPermissions {
        token: usdc.address,
        amount,
    };
    let nonce = U256::ZERO;
    let deadline = U256::MAX;

    let signed = PermitTransferFrom {
        permitted: permitted.clone(),
        spender: spender.address(),
        nonce,
        deadline,
    };
    let signature = owner
        .sign_hash_sync(&signed.eip712_signing_hash(&domain))
        .unwrap();

    let call = IPermit2::permitTransferFromCall {
        permit: UnsignedPermit {
            permitted,
            nonce,
            deadline,
        },
        details: SignatureTransferDetails {
            to,
            requestedAmount: amount,
        },
        owner: owner.address(),
        signature: signature.as_bytes().to_vec().into(),
    };
    assert!(node.send(&spender, PERMIT2, call.clone()).await.status());
    assert_eq!(node.balance(&usdc, to).await, amount);

    // The nonce is used up.
    assert!(!node.send_anyway(&spender, PERMIT2, call).await.status());
    node.end().await;
}

#[tokio::test]
async fn factories_deploy_with_create2() {
    let node = node().await;
    let salt = B256::repeat_byte(7);
    let data: Bytes = [salt.as_slice(), &CREDULOUS].concat().into();
    let request = json!([{"from": node.account(0), "to": SAFE_SINGLETON_FACTORY, "data": data}]);
    node.rpc("eth_sendTransaction", request).await;
    let created = SAFE_SINGLETON_FACTORY.create2_from_code(salt, CREDULOUS);
    assert_eq!(node.code(created).await, Bytes::from(hex!("60206000f3")));

    let deploy = ICreateX::deployCreate2Call {
        salt,
        initCode: CREDULOUS.into(),
    };
    assert!(node.send(&node.signer(0), CREATE_X, deploy).await.status());
    // A salt without rules is hashed.
    let created = CREATE_X.create2_from_code(keccak256(salt), CREDULOUS);
    assert_eq!(node.code(created).await, Bytes::from(hex!("60206000f3")));
    node.end().await;
}

/// Two numbers of 128 bits in a word.
fn packed(high: u128, low: u128) -> B256 {
    B256::from_slice(&(high, low).abi_encode_packed())
}

#[tokio::test]
async fn entry_points_create_accounts_and_run_their_operations() {
    let node = node().await;
    let bundler = node.signer(0);
    let gas = 500_000;
    let before = 50_000;
    let fee = 2_000_000_000;
    for (salt, entry_point) in [ENTRY_POINT_06, ENTRY_POINT_07, ENTRY_POINT_08]
        .into_iter()
        .enumerate()
    {
        let salt = B256::from(U256::from(salt));

        let deploy = ICreateX::deployCreate2Call {
            salt,
            initCode: CREDULOUS.into(),
        };
        let init_code: Bytes = [CREATE_X.as_slice(), &deploy.abi_encode()].concat().into();

        let sender = CREATE_X.create2_from_code(keccak256(salt), CREDULOUS);
        let deposit = IEntryPoint::depositToCall { account: sender }.abi_encode();
        let deposit = json!([{"from": bundler.address(), "to": entry_point, "value": "0xde0b6b3a7640000", "data": Bytes::from(deposit)}]);
        node.rpc("eth_sendTransaction", deposit).await;

        let beneficiary = Address::repeat_byte(0xbe);
        let call = if entry_point == ENTRY_POINT_06 {
            let op = OldUserOperation {
                sender,
                nonce: U256::ZERO,
                initCode: init_code,
                callData: Bytes::from([1; 4]),
                callGasLimit: U256::from(gas),
                verificationGasLimit: U256::from(gas),
                preVerificationGas: U256::from(before),
                maxFeePerGas: U256::from(fee),
                maxPriorityFeePerGas: U256::from(fee),
                paymasterAndData: Bytes::new(),
                signature: Bytes::new(),
            };

            IOldEntryPoint::handleOpsCall {
                ops: vec![op],
                beneficiary,
            }
            .abi_encode()
        } else {
            let op = PackedUserOperation {
                sender,
                nonce: U256::ZERO,
                initCode: init_code,
                callData: Bytes::from([1; 4]),
                accountGasLimits: packed(gas, gas),
                preVerificationGas: U256::from(before),
                gasFees: packed(fee, fee),
                paymasterAndData: Bytes::new(),
                signature: Bytes::new(),
            };

            IEntryPoint::handleOpsCall {
                ops: vec![op],
                beneficiary,
            }
            .abi_encode()
        };

        let request = json!([{"from": bundler.address(), "to": entry_point, "gas": "0x2dc6c0", "data": Bytes::from(call)}]);
        let hash = node.rpc("eth_sendTransaction", request).await;
        let receipt = node.receipt(serde_json::from_value(hash).unwrap()).await;
        assert!(receipt.status(), "{entry_point}");

        let ran = receipt
            .logs()
            .iter()
            .find_map(|log| IEntryPoint::UserOperationEvent::decode_log(&log.inner).ok());
        let ran = ran.expect("an event");
        assert!(ran.success && ran.sender == sender, "{entry_point}");
        assert_eq!(node.code(sender).await, Bytes::from(hex!("60206000f3")));
    }
    node.end().await;
}
