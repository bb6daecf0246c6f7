//! BIP-39: the words, their checksum and the seed.

use k256::elliptic_curve::rand_core::OsRng;
use tetrad::account::{Mnemonic, MnemonicError, WordCount};

use super::vectors::bytes;

/// Entropy, phrase, and the seed with the passphrase `TREZOR`.
///
/// The vectors of 12, 18 and 24 words are BIP-39's own. It has none of 15 and 21 words; those were
/// computed with another implementation, Python's `hashlib.pbkdf2_hmac` over the published word
/// list.
const VECTORS: [(&str, &str, &str); 12] = [
    (
        "00000000000000000000000000000000",
        "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
        "c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e5349553\
         1f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04",
    ),
    (
        "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f",
        "legal winner thank year wave sausage worth useful legal winner thank yellow",
        "2e8905819b8723fe2c1d161860e5ee1830318dbf49a83bd451cfb8440c28bd6f\
         a457fe1296106559a3c80937a1c1069be3a3a5bd381ee6260e8d9739fce1f607",
    ),
    (
        "ffffffffffffffffffffffffffffffff",
        "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong",
        "ac27495480225222079d7be181583751e86f571027b0497b5b5d11218e0a8a13\
         332572917f0f8e5a589620c6f15b11c61dee327651a14c34e18231052e48c069",
    ),
    (
        "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f",
        "legal winner thank year wave sausage worth useful legal winner thank year wave sausage wise",
        "f938c2f3ebd11f1c9057b713d977b5260e4282a57811ab163a9708c4ce153079\
         83ac24c4451c7cb353b2002d0a1ee8a404fa59f0f6aa8323fa9bb61248cf4808",
    ),
    (
        "8080808080808080808080808080808080808080",
        "letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor \
         accident",
        "bc40a19ec918698b32e3e13ed906006d9e3b9987ba7dee6fc53a824774cc5be6\
         8f89b865bbfbac21b2fb99c016e214f54f239f77dd99881c1b81de275c60be3d",
    ),
    (
        "808080808080808080808080808080808080808080808080",
        "letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor \
         acoustic avoid letter always",
        "107d7c02a5aa6f38c58083ff74f04c607c2d2c0ecc55501dadd72d025b751bc2\
         7fe913ffb796f841c49b1d33b610cf0e91d3aa239027f5e99fe4ce9e5088cd65",
    ),
    (
        "00000000000000000000000000000000000000000000000000000000",
        "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon \
         abandon abandon abandon abandon abandon abandon abandon abandon admit",
        "e7dadc189d2e8d07ac278d9ec98a1d2d327e4a6b7df494c00cbf2cbf2d3543da\
         c7000fc72d4ada8d9997dc8db388ff22c6d79f604a7455f2df5534a28eee04c6",
    ),
    (
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo veteran",
        "4aa0af4ca02ef1d9fa675cd02aa06d318425564e7fadd3d51b6165cc56d77398\
         f28d8522073cd036c2a4a24a83e919211c84500d96cb120084e613ff5fcd96c1",
    ),
    (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon \
         abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon art",
        "bda85446c68413707090a52022edd26a1c9462295029f2e60cd7c4f2bbd30971\
         70af7a4d73245cafa9c3cca8d561a7c3de6f5d4a10be8ed2a5e608d68f92fcc8",
    ),
    (
        "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f",
        "legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth \
         useful legal winner thank year wave sausage worth title",
        "bc09fca1804f7e69da93c2f2028eb238c227f2e9dda30cd63699232578480a40\
         21b146ad717fbb7e451ce9eb835f43620bf5c514db0f8add49f5d121449d3e87",
    ),
    (
        "9e885d952ad362caeb4efe34a8e91bd2",
        "ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic",
        "274ddc525802f7c828d8ef7ddbcdc5304e87ac3535913611fbbfa986d0c9e547\
         6c91689f9c8a54fd55bd38606aa6a8595ad213d4c9c9f9aca3fb217069a41028",
    ),
    (
        "f585c11aec520db57dd353c69554b21a89b20fb0650966fa0a9d6f74fd989d8f",
        "void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing \
         screen patrol group space point ten exist slush involve unfold",
        "01f5bced59dec48e362f2c45b5de68b9fd6c92c6634f44d6d40aab69056506f0\
         e35524a518034ddc1192e1dacd32c1ed3eaa3c3b131c88ed8e7e54c49a5d0998",
    ),
];

#[test]
fn entropy_phrase_and_seed_agree_for_every_number_of_words() {
    for (entropy, phrase, seed) in VECTORS {
        let mnemonic = Mnemonic::from_entropy(&bytes(entropy)).unwrap();
        assert_eq!(mnemonic.phrase(), phrase);
        assert_eq!(
            mnemonic.to_seed("TREZOR").as_bytes().as_slice(),
            bytes(seed)
        );
        assert_eq!(
            Mnemonic::from_phrase(phrase)
                .unwrap()
                .to_seed("TREZOR")
                .as_bytes()
                .as_slice(),
            bytes(seed)
        );
    }

    let words: Vec<_> = VECTORS
        .iter()
        .map(|(_, phrase, _)| phrase.split(' ').count())
        .collect();
    for count in [12, 15, 18, 21, 24] {
        assert!(words.contains(&count), "no vector of {count} words");
    }
}

#[test]
fn passphrases_are_normalised_before_use() {
    let mnemonic = Mnemonic::from_entropy(&[0; 16]).unwrap();
    let composed = mnemonic.to_seed("\u{e9}");
    assert_eq!(composed.as_bytes(), mnemonic.to_seed("e\u{301}").as_bytes());
    let expected = "f37f8652bf7004d4bd4ba7702e70e647f54965758656423dde58d64fa725c1e8\
                    be1b0416864e10f714c0730e46f9676079b4fd4f72fcf0c09a120ae65589c091";
    assert_eq!(composed.as_bytes().as_slice(), bytes(expected));
    let expected = "8ef42e500564aa458578cbdab7a655f0ae69ef1869002c24008979c5a031c433\
                    ccd10e651957266fc54c2e26a81104220820c7508d6b242b59d96ee2aa4210ab";
    assert_eq!(
        mnemonic.to_seed("パスワード ①").as_bytes().as_slice(),
        bytes(expected)
    );
}

#[test]
fn case_and_white_space_do_not_matter() {
    let plain = "test test test test test test test test test test test junk";
    let pasted = "  Test TEST\ttest\r\ntest test test test test test test test JUNK\n";
    assert_eq!(Mnemonic::from_phrase(pasted).unwrap().phrase(), plain);
}

#[test]
fn errors_name_the_defect_and_never_repeat_a_word() {
    let error = |phrase: &str| Mnemonic::from_phrase(phrase).unwrap_err();
    assert_eq!(error(""), MnemonicError::WordCount { words: 0 });
    assert_eq!(
        error(&"test ".repeat(13)),
        MnemonicError::WordCount { words: 13 }
    );
    assert_eq!(error(&"test ".repeat(12)), MnemonicError::Checksum);
    let unknown = format!("{}secretword test", "test ".repeat(10));
    assert_eq!(error(&unknown), MnemonicError::UnknownWord { position: 11 });
    assert!(!error(&unknown).to_string().contains("secretword"));
    assert_eq!(
        Mnemonic::from_entropy(&[0; 17]).unwrap_err(),
        MnemonicError::EntropyLength { bytes: 17 }
    );
}

#[test]
fn new_mnemonics_have_the_requested_number_of_words_and_differ() {
    let counts = [12, 15, 18, 21, 24];
    for words in counts {
        let count = WordCount::from_words(words).unwrap();
        let first = Mnemonic::random(count, &mut OsRng).unwrap();
        assert_eq!(first.phrase().split(' ').count(), words);
        assert_eq!(
            Mnemonic::from_phrase(first.phrase()).unwrap().phrase(),
            first.phrase()
        );
        assert_ne!(
            first.phrase(),
            Mnemonic::random(count, &mut OsRng).unwrap().phrase()
        );
    }
    assert_eq!(
        (0..100)
            .filter(|words| WordCount::from_words(*words).is_some())
            .collect::<Vec<_>>(),
        counts
    );
}

#[test]
fn debug_output_holds_no_secret() {
    let mnemonic = Mnemonic::from_entropy(&[0; 16]).unwrap();
    assert_eq!(
        format!("{mnemonic:?} {:?}", mnemonic.to_seed("")),
        "Mnemonic(..) Seed(..)"
    );
}
