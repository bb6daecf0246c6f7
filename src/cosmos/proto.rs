//! Protobuf messages that clients of a Cosmos node exchange inside `abci_query`, with the SDK's field names and tags.

use prost::Message;

/// A request of which only the address is read: `QueryAccountRequest`, `QueryAllBalancesRequest` and the like.
#[derive(Clone, PartialEq, Message)]
pub(super) struct AddressRequest {
    #[prost(string, tag = "1")]
    pub(super) address: String,
}

/// `QueryBalanceRequest`; `QuerySpendableBalanceByDenomRequest` has the same fields.
#[derive(Clone, PartialEq, Message)]
pub(super) struct QueryBalanceRequest {
    #[prost(string, tag = "1")]
    pub(super) address: String,
    #[prost(string, tag = "2")]
    pub(super) denom: String,
}

/// `QueryAccountResponse`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct QueryAccountResponse {
    #[prost(message, optional, tag = "1")]
    pub(super) account: Option<Any>,
}

/// `Bech32PrefixResponse`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Bech32PrefixResponse {
    #[prost(string, tag = "1")]
    pub(super) bech32_prefix: String,
}

/// `QueryBalanceResponse`; `QuerySpendableBalanceByDenomResponse` has the same field.
#[derive(Clone, PartialEq, Message)]
pub(super) struct QueryBalanceResponse {
    #[prost(message, optional, tag = "1")]
    pub(super) balance: Option<Coin>,
}

/// `QueryAllBalancesResponse`; `QuerySpendableBalancesResponse` has the same fields. Without balances it encodes like every
/// other empty list.
#[derive(Clone, PartialEq, Message)]
pub(super) struct QueryAllBalancesResponse {
    #[prost(message, repeated, tag = "1")]
    pub(super) balances: Vec<Coin>,
    #[prost(message, optional, tag = "2")]
    pub(super) pagination: Option<PageResponse>,
}

/// `cosmos.base.query.v1beta1.PageResponse` of a list that fits on one page.
#[derive(Clone, PartialEq, Message)]
pub(super) struct PageResponse {
    #[prost(uint64, tag = "2")]
    pub(super) total: u64,
}

/// `cosmos.base.v1beta1.Coin`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Coin {
    #[prost(string, tag = "1")]
    pub(super) denom: String,
    #[prost(string, tag = "2")]
    pub(super) amount: String,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Any {
    #[prost(string, tag = "1")]
    pub(super) type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) value: Vec<u8>,
}

impl Any {
    /// A message of the named type.
    pub(super) fn new(type_url: &str, message: &impl Message) -> Self {
        Self { type_url: type_url.to_owned(), value: message.encode_to_vec() }
    }
}

/// `PubKey` of `ethsecp256k1`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct PubKey {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) key: Vec<u8>,
}

/// `cosmos.auth.v1beta1.BaseAccount`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct BaseAccount {
    #[prost(string, tag = "1")]
    pub(super) address: String,
    #[prost(message, optional, tag = "2")]
    pub(super) pub_key: Option<Any>,
    #[prost(uint64, tag = "3")]
    pub(super) account_number: u64,
    #[prost(uint64, tag = "4")]
    pub(super) sequence: u64,
}

/// `ethermint.types.v1.EthAccount`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct EthAccount {
    #[prost(message, optional, tag = "1")]
    pub(super) base_account: Option<BaseAccount>,
    #[prost(string, tag = "2")]
    pub(super) code_hash: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_carries_its_pagination() {
        let page = QueryAllBalancesResponse { balances: Vec::new(), pagination: Some(PageResponse { total: 0 }) };
        assert_eq!(page.encode_to_vec(), b"\x12\x00");
        let coin = Coin { denom: "a".to_owned(), amount: "7".to_owned() };
        let page = QueryAllBalancesResponse { balances: vec![coin], pagination: Some(PageResponse { total: 1 }) };
        assert_eq!(page.encode_to_vec(), b"\x0a\x06\x0a\x01a\x12\x017\x12\x02\x10\x01");
    }

    #[test]
    fn unset_fields_of_an_account_are_left_out() {
        let account = BaseAccount { address: "a".to_owned(), ..BaseAccount::default() };
        assert_eq!(account.encode_to_vec(), b"\x0a\x01a");
        let account = EthAccount { base_account: Some(BaseAccount::default()), code_hash: "0x".to_owned() };
        assert_eq!(account.encode_to_vec(), b"\x0a\x00\x12\x020x");
        let pub_key = Some(Any::new("/k", &PubKey { key: vec![2] }));
        let account = BaseAccount { address: "a".to_owned(), pub_key, account_number: 1, sequence: 300 };
        assert_eq!(account.encode_to_vec(), b"\x0a\x01a\x12\x09\x0a\x02/k\x12\x03\x0a\x01\x02\x18\x01\x20\xac\x02");
    }

    #[test]
    fn requests_skip_the_fields_that_are_not_read() {
        let request = QueryBalanceRequest { address: "a".to_owned(), denom: "b".to_owned() }.encode_to_vec();
        assert_eq!(AddressRequest::decode(request.as_slice()), Ok(AddressRequest { address: "a".to_owned() }));
    }

    #[test]
    fn truncated_requests_are_malformed() {
        for bytes in
            [&b"\x12\x07test"[..], b"\x08", b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"\x0b", b"\x12\x01\xff"]
        {
            assert!(QueryBalanceRequest::decode(bytes).is_err(), "{bytes:?}");
        }
    }
}
