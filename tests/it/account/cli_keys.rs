//! `tetrad keys`: making, importing and exporting.

use std::{fs, path::Path};

use tetrad::{
    account::{Keystore, KeystoreError, MnemonicError},
    cli::keys,
};

#[cfg(unix)]
use super::cli::mode;
use super::cli::{Desk, User, error, run};

/// The mnemonic of development tools and its first account.
const JUNK: &str = "test test test test test test test test test test test junk";
const JUNK_0: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const JUNK_0_KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const JUNK_0_FILE: &str = "f39fd6e51aad88f6f4ce6ab8827279cfffb92266.json";

fn decrypt(path: &Path, password: &str) -> Result<String, KeystoreError> {
    let keystore =
        Keystore::from_json(&fs::read_to_string(path).expect("a file")).expect("a keystore");
    keystore
        .decrypt(password.as_bytes())
        .map(|key| key.to_hex().to_string())
}

/// Imports the first account of [`JUNK`] into the directory `keys` under the password `old`.
fn import_junk(desk: &Desk) -> String {
    let directory = desk.argument("keys");
    let key_file = desk.file("key", JUNK_0_KEY);
    let password_file = desk.file("old", "old\n");
    let arguments = [
        "keys",
        "import",
        "--private-key-file",
        &key_file,
        "--password-file",
        &password_file,
    ];
    run(&[&arguments[..], &["--keystore", &directory, "--light-kdf"]].concat()).expect("an import");
    directory
}

#[test]
fn a_new_key_is_kept_encrypted_and_its_words_are_printed_once() {
    let desk = Desk::new();
    let directory = desk.argument("deep/keys");
    let mut user = User::typing(&["hunter2", "hunter2"]);
    let printed = user
        .run(&[
            "keys",
            "new",
            "--keystore",
            &directory,
            "--light-kdf",
            "--words",
            "12",
        ])
        .unwrap();
    assert_eq!(
        user.questions,
        ["New password: ", "The same password again: "]
    );

    let phrase = printed
        .lines()
        .find(|line| line.split(' ').count() == 12 && !line.contains('.'))
        .unwrap();
    assert_eq!(printed.matches(phrase).count(), 1);
    let names = desk.names("deep/keys");
    assert_eq!(names.len(), 1, "{names:?}");
    let kept = fs::read_to_string(desk.path("deep/keys").join(&names[0])).unwrap();
    assert!(!kept.contains(phrase));

    let mnemonic_file = desk.file("words", phrase);
    let other = desk.argument("other");
    let password_file = desk.file("password", "x");
    let again = [
        "keys",
        "import",
        "--mnemonic-file",
        &mnemonic_file,
        "--password-file",
        &password_file,
    ];
    run(&[&again[..], &["--keystore", &other, "--light-kdf"]].concat()).unwrap();
    assert_eq!(
        desk.names("other"),
        names,
        "the words lead to the key that was kept"
    );
    let file = desk.path("deep/keys").join(&names[0]);
    assert_eq!(
        decrypt(&file, "hunter2"),
        decrypt(&desk.path("other").join(&names[0]), "x")
    );
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_what_is_written() {
    let desk = Desk::new();
    let directory = import_junk(&desk);
    assert_eq!(mode(Path::new(&directory)), 0o700);
    assert_eq!(mode(&desk.path("keys").join(JUNK_0_FILE)), 0o600);

    let target = desk.argument("exported");
    let password_file = desk.argument("old");
    let export = [
        "keys",
        "export",
        JUNK_0,
        "--keystore",
        &directory,
        "--password-file",
        &password_file,
        "--to",
        &target,
    ];
    run(&[&export[..], &["--private-key"]].concat()).unwrap();
    assert_eq!(mode(&desk.path("exported")), 0o600);
}

/// Imports into a keystore of that name, under the password in the file `password`.
fn import_into(
    desk: &Desk,
    user: &mut User,
    name: &str,
    more: &[&str],
) -> Result<String, tetrad::cli::Error> {
    let password_file = desk.argument("password");
    let directory = desk.argument(name);
    let import = [
        "keys",
        "import",
        "--light-kdf",
        "--password-file",
        &password_file,
        "--keystore",
        &directory,
    ];
    user.run(&[&import[..], more].concat())
}

#[test]
fn a_mnemonic_is_imported_from_a_file_from_standard_input_and_from_the_prompt() {
    let desk = Desk::new();
    desk.file("password", "x\r\n");
    let words = desk.file("words", &format!("{JUNK}\n"));

    import_into(
        &desk,
        &mut User::default(),
        "file",
        &["--mnemonic-file", &words],
    )
    .unwrap();
    import_into(
        &desk,
        &mut User::piping(JUNK),
        "pipe",
        &["--mnemonic-file", "-"],
    )
    .unwrap();
    import_into(&desk, &mut User::typing(&[JUNK]), "prompt", &[]).unwrap();
    import_into(&desk, &mut User::typing(&[JUNK_0_KEY]), "key-prompt", &[]).unwrap();
    import_into(
        &desk,
        &mut User::piping(&JUNK_0_KEY[2..]),
        "key-pipe",
        &["--private-key-file", "-"],
    )
    .unwrap();

    for name in ["file", "pipe", "prompt", "key-prompt", "key-pipe"] {
        assert_eq!(desk.names(name), [JUNK_0_FILE], "{name}");
    }
    assert_eq!(
        decrypt(&desk.path("pipe").join(JUNK_0_FILE), "x").unwrap(),
        JUNK_0_KEY
    );

    let other = import_into(
        &desk,
        &mut User::default(),
        "index",
        &["--mnemonic-file", &words, "--index", "5"],
    )
    .unwrap();
    assert!(
        other.contains("0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc"),
        "{other}"
    );

    let path = import_into(
        &desk,
        &mut User::default(),
        "path",
        &["--mnemonic-file", &words, "--hd-path", "m/44h/60h/0h/0/5"],
    );
    assert!(
        path.unwrap()
            .contains("pax1n9j4qlg62k7vy62utzapd7ehmqvmpfxu297jdk")
    );
}

#[test]
fn a_passphrase_leads_to_other_keys_and_is_asked_for_only_on_request() {
    let desk = Desk::new();
    let password_file = desk.file("password", "x");
    let words = desk.file("words", JUNK);
    let passphrase_file = desk.file("passphrase", "TREZOR\n");
    let import = [
        "keys",
        "import",
        "--light-kdf",
        "--password-file",
        &password_file,
        "--mnemonic-file",
        &words,
    ];
    let typed = desk.argument("typed");
    let read = desk.argument("read");
    let mut user = User::typing(&["TREZOR"]);
    user.run(&[&import[..], &["--keystore", &typed, "--passphrase"]].concat())
        .unwrap();
    assert_eq!(user.questions, ["Passphrase: "]);
    run(&[
        &import[..],
        &["--keystore", &read, "--passphrase-file", &passphrase_file],
    ]
    .concat())
    .unwrap();
    assert_eq!(desk.names("typed"), desk.names("read"));
    assert_ne!(desk.names("typed"), [JUNK_0_FILE]);

    let new = [
        "keys",
        "new",
        "--light-kdf",
        "--password-file",
        &password_file,
        "--keystore",
        &typed,
        "--passphrase",
    ];
    let different = error(User::typing(&["one", "two"]).run(&new));
    assert!(
        matches!(different, keys::Error::Different { what: "passphrase" }),
        "{different}"
    );
    User::typing(&["one", "one"]).run(&new).unwrap();
}

#[test]
fn a_keystore_of_another_tool_is_imported_under_a_new_password() {
    let desk = Desk::new();
    let golden = super::vectors::golden();
    let case = &golden["keystores"][1];
    let file = desk.file("UTC--other", &case["json"].to_string());
    let directory = desk.argument("keys");
    let import = [
        "keys",
        "import",
        "--keystore-file",
        &file,
        "--keystore",
        &directory,
        "--light-kdf",
    ];
    let wrong = error(User::typing(&["wrong", "new", "new"]).run(&import));
    assert!(
        matches!(
            wrong,
            keys::Error::Keystore {
                source: KeystoreError::WrongPassword,
                ..
            }
        ),
        "{wrong}"
    );
    assert_eq!(desk.names("keys"), Vec::<String>::new());

    User::typing(&["correct horse", "new", "new"])
        .run(&import)
        .unwrap();
    assert_eq!(
        decrypt(&desk.path("keys").join(JUNK_0_FILE), "new").unwrap(),
        JUNK_0_KEY
    );
}

#[test]
fn a_key_that_is_kept_already_is_not_overwritten() {
    let desk = Desk::new();
    let directory = import_junk(&desk);
    let before = fs::read(desk.path("keys").join(JUNK_0_FILE)).unwrap();
    let mut user = User::typing(&[JUNK_0_KEY, "new", "new"]);
    let exists = error(user.run(&["keys", "import", "--keystore", &directory, "--light-kdf"]));
    assert!(
        matches!(&exists, keys::Error::Exists(path) if path.ends_with(JUNK_0_FILE)),
        "{exists}"
    );
    assert_eq!(
        user.questions.len(),
        1,
        "no password is asked for in vain: {:?}",
        user.questions
    );
    assert_eq!(
        desk.names("keys"),
        [JUNK_0_FILE],
        "no temporary file stays behind"
    );
    assert_eq!(
        fs::read(desk.path("keys").join(JUNK_0_FILE)).unwrap(),
        before
    );
}

/// The error of an import into the keystore `keys`.
fn import_error(desk: &Desk, user: &mut User, more: &[&str]) -> keys::Error {
    let directory = desk.argument("keys");
    let import = ["keys", "import", "--light-kdf", "--keystore", &directory];
    error(user.run(&[&import[..], more].concat()))
}

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    let desk = Desk::new();

    let checksum = import_error(&desk, &mut User::typing(&[&"test ".repeat(12)]), &[]);
    assert!(
        matches!(checksum, keys::Error::Mnemonic(MnemonicError::Checksum)),
        "{checksum}"
    );

    let digits = import_error(&desk, &mut User::typing(&["0x1234"]), &[]);
    assert!(
        matches!(digits, keys::Error::Key(_)) && !digits.to_string().contains("1234"),
        "{digits}"
    );

    let different = import_error(&desk, &mut User::typing(&[JUNK, "one", "two"]), &[]);
    assert!(
        matches!(different, keys::Error::Different { what: "password" }),
        "{different}"
    );

    let empty = import_error(&desk, &mut User::typing(&[JUNK, "", ""]), &[]);
    assert!(matches!(empty, keys::Error::EmptyPassword), "{empty}");

    let nobody = import_error(&desk, &mut User::default(), &[]);
    assert!(matches!(nobody, keys::Error::NoTerminal { .. }), "{nobody}");

    let twice = import_error(
        &desk,
        &mut User::piping(JUNK),
        &["--mnemonic-file", "-", "--password-file", "-"],
    );
    assert!(matches!(twice, keys::Error::StandardInputTwice), "{twice}");

    let missing = import_error(
        &desk,
        &mut User::default(),
        &["--mnemonic-file", &desk.argument("nothing")],
    );
    assert!(
        matches!(missing, keys::Error::File { action: "read", .. }),
        "{missing}"
    );

    let long = desk.file("long", &"x".repeat(65 << 10));
    let long = import_error(&desk, &mut User::default(), &["--private-key-file", &long]);
    assert!(matches!(long, keys::Error::TooLong(_)), "{long}");

    fs::write(desk.path("binary"), [0xff, 0xfe]).unwrap();
    let binary = import_error(
        &desk,
        &mut User::default(),
        &["--private-key-file", &desk.argument("binary")],
    );
    assert!(matches!(binary, keys::Error::NotText(_)), "{binary}");

    let lines = desk.file("lines", "one\ntwo\n");
    let lines = import_error(
        &desk,
        &mut User::typing(&[JUNK]),
        &["--password-file", &lines],
    );
    assert!(matches!(lines, keys::Error::PasswordLines(_)), "{lines}");

    let garbage = desk.file("garbage", "{}");
    let garbage = import_error(&desk, &mut User::default(), &["--keystore-file", &garbage]);
    assert!(
        matches!(
            garbage,
            keys::Error::Keystore {
                source: KeystoreError::Json { .. },
                ..
            }
        ),
        "{garbage}"
    );

    let index = import_error(
        &desk,
        &mut User::typing(&[JUNK]),
        &["--index", "2147483648"],
    );
    assert!(matches!(index, keys::Error::Path(_)), "{index}");

    assert_eq!(desk.names("keys"), Vec::<String>::new());
}

#[test]
fn a_key_is_exported_encrypted_under_a_new_password_or_bare() {
    let desk = Desk::new();
    let directory = import_junk(&desk);
    let export = ["keys", "export", JUNK_0, "--keystore", &directory];
    let target = desk.argument("exported.json");
    let mut user = User::typing(&["old", "new", "new"]);
    user.run(&[&export[..], &["--to", &target, "--light-kdf"]].concat())
        .unwrap();
    assert_eq!(
        decrypt(&desk.path("exported.json"), "new").unwrap(),
        JUNK_0_KEY
    );
    assert_eq!(
        decrypt(&desk.path("exported.json"), "old"),
        Err(KeystoreError::WrongPassword)
    );

    let exists = error(
        User::typing(&["old"]).run(&[&export[..], &["--to", &target, "--private-key"]].concat()),
    );
    assert!(matches!(exists, keys::Error::Exists(_)), "{exists}");
    let printed = User::typing(&["old"])
        .run(&[&export[..], &["--to", "-", "--private-key"]].concat())
        .unwrap();
    assert_eq!(printed.trim(), JUNK_0_KEY);
    let wrong = error(
        User::typing(&["guess"]).run(&[&export[..], &["--to", "-", "--private-key"]].concat()),
    );
    assert!(
        matches!(
            wrong,
            keys::Error::Keystore {
                source: KeystoreError::WrongPassword,
                ..
            }
        ),
        "{wrong}"
    );

    let nobody = [
        "keys",
        "export",
        "0x0000000000000000000000000000000000000001",
        "--keystore",
        &directory,
        "--to",
        "-",
    ];
    assert!(matches!(error(run(&nobody)), keys::Error::NotFound { .. }));
    let nowhere = desk.argument("no/such/directory/key");
    let nowhere = error(
        User::typing(&["old"]).run(&[&export[..], &["--to", &nowhere, "--private-key"]].concat()),
    );
    assert!(matches!(nowhere, keys::Error::File { .. }), "{nowhere}");
}
