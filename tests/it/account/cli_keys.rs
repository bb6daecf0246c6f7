//! `tetrad keys`: creating, importing and exporting keys.

use std::{fs, path::Path};

use tetrad::{
    account::{Keystore, KeystoreError, MnemonicError},
    cli::keys,
};

#[cfg(unix)]
use super::cli::mode;
use super::cli::{User, Workspace, error, run};

/// The mnemonic of development tools, and its first account.
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
fn import_junk(workspace: &Workspace) -> String {
    let directory = workspace.argument("keys");
    let key_file = workspace.file("key", JUNK_0_KEY);
    let password_file = workspace.file("old", "old\n");
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
fn a_new_key_is_stored_encrypted_and_its_words_are_printed_once() {
    let workspace = Workspace::new();
    let directory = workspace.argument("deep/keys");
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
        user.prompts,
        ["New password: ", "The same password again: "]
    );

    let phrase = printed
        .lines()
        .find(|line| line.split(' ').count() == 12 && !line.contains('.'))
        .unwrap();
    assert_eq!(printed.matches(phrase).count(), 1);
    let names = workspace.names("deep/keys");
    assert_eq!(names.len(), 1, "{names:?}");
    let kept = fs::read_to_string(workspace.path("deep/keys").join(&names[0])).unwrap();
    assert!(!kept.contains(phrase));

    let mnemonic_file = workspace.file("words", phrase);
    let other = workspace.argument("other");
    let password_file = workspace.file("password", "x");
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
        workspace.names("other"),
        names,
        "the stored key is derived from the printed words"
    );
    let file = workspace.path("deep/keys").join(&names[0]);
    assert_eq!(
        decrypt(&file, "hunter2"),
        decrypt(&workspace.path("other").join(&names[0]), "x")
    );
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_written_files() {
    let workspace = Workspace::new();
    let directory = import_junk(&workspace);
    assert_eq!(mode(Path::new(&directory)), 0o700);
    assert_eq!(mode(&workspace.path("keys").join(JUNK_0_FILE)), 0o600);

    let target = workspace.argument("exported");
    let password_file = workspace.argument("old");
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
    assert_eq!(mode(&workspace.path("exported")), 0o600);
}

/// Imports into the keystore with this name, under the password in the file `password`.
fn import_into(
    workspace: &Workspace,
    user: &mut User,
    name: &str,
    more: &[&str],
) -> Result<String, tetrad::cli::Error> {
    let password_file = workspace.argument("password");
    let directory = workspace.argument(name);
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
    let workspace = Workspace::new();
    workspace.file("password", "x\r\n");
    let words = workspace.file("words", &format!("{JUNK}\n"));

    import_into(
        &workspace,
        &mut User::default(),
        "file",
        &["--mnemonic-file", &words],
    )
    .unwrap();
    import_into(
        &workspace,
        &mut User::piping(JUNK),
        "pipe",
        &["--mnemonic-file", "-"],
    )
    .unwrap();
    import_into(&workspace, &mut User::typing(&[JUNK]), "prompt", &[]).unwrap();
    import_into(
        &workspace,
        &mut User::typing(&[JUNK_0_KEY]),
        "key-prompt",
        &[],
    )
    .unwrap();
    import_into(
        &workspace,
        &mut User::piping(&JUNK_0_KEY[2..]),
        "key-pipe",
        &["--private-key-file", "-"],
    )
    .unwrap();

    for name in ["file", "pipe", "prompt", "key-prompt", "key-pipe"] {
        assert_eq!(workspace.names(name), [JUNK_0_FILE], "{name}");
    }
    assert_eq!(
        decrypt(&workspace.path("pipe").join(JUNK_0_FILE), "x").unwrap(),
        JUNK_0_KEY
    );

    let other = import_into(
        &workspace,
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
        &workspace,
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
fn a_passphrase_changes_the_keys_and_is_prompted_for_only_on_request() {
    let workspace = Workspace::new();
    let password_file = workspace.file("password", "x");
    let words = workspace.file("words", JUNK);
    let passphrase_file = workspace.file("passphrase", "TREZOR\n");
    let import = [
        "keys",
        "import",
        "--light-kdf",
        "--password-file",
        &password_file,
        "--mnemonic-file",
        &words,
    ];
    let typed = workspace.argument("typed");
    let read = workspace.argument("read");
    let mut user = User::typing(&["TREZOR"]);
    user.run(&[&import[..], &["--keystore", &typed, "--passphrase"]].concat())
        .unwrap();
    assert_eq!(user.prompts, ["Passphrase: "]);
    run(&[
        &import[..],
        &["--keystore", &read, "--passphrase-file", &passphrase_file],
    ]
    .concat())
    .unwrap();
    assert_eq!(workspace.names("typed"), workspace.names("read"));
    assert_ne!(workspace.names("typed"), [JUNK_0_FILE]);

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
    let workspace = Workspace::new();
    let golden = super::vectors::golden();
    let case = &golden["keystores"][1];
    let file = workspace.file("UTC--other", &case["json"].to_string());
    let directory = workspace.argument("keys");
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
    assert_eq!(workspace.names("keys"), Vec::<String>::new());

    User::typing(&["correct horse", "new", "new"])
        .run(&import)
        .unwrap();
    assert_eq!(
        decrypt(&workspace.path("keys").join(JUNK_0_FILE), "new").unwrap(),
        JUNK_0_KEY
    );
}

#[test]
fn an_existing_key_is_not_overwritten() {
    let workspace = Workspace::new();
    let directory = import_junk(&workspace);
    let before = fs::read(workspace.path("keys").join(JUNK_0_FILE)).unwrap();
    let mut user = User::typing(&[JUNK_0_KEY, "new", "new"]);
    let exists = error(user.run(&["keys", "import", "--keystore", &directory, "--light-kdf"]));
    assert!(
        matches!(&exists, keys::Error::Exists(path) if path.ends_with(JUNK_0_FILE)),
        "{exists}"
    );
    assert_eq!(
        user.prompts.len(),
        1,
        "no password is prompted for if the import fails anyway: {:?}",
        user.prompts
    );
    assert_eq!(
        workspace.names("keys"),
        [JUNK_0_FILE],
        "no temporary file is left"
    );
    assert_eq!(
        fs::read(workspace.path("keys").join(JUNK_0_FILE)).unwrap(),
        before
    );
}

/// The error of an import into the keystore `keys`.
fn import_error(workspace: &Workspace, user: &mut User, more: &[&str]) -> keys::Error {
    let directory = workspace.argument("keys");
    let import = ["keys", "import", "--light-kdf", "--keystore", &directory];
    error(user.run(&[&import[..], more].concat()))
}

#[test]
fn invalid_input_is_rejected_and_nothing_is_written() {
    let workspace = Workspace::new();

    let checksum = import_error(&workspace, &mut User::typing(&[&"test ".repeat(12)]), &[]);
    assert!(
        matches!(checksum, keys::Error::Mnemonic(MnemonicError::Checksum)),
        "{checksum}"
    );

    let digits = import_error(&workspace, &mut User::typing(&["0x1234"]), &[]);
    assert!(
        matches!(digits, keys::Error::Key(_)) && !digits.to_string().contains("1234"),
        "{digits}"
    );

    let different = import_error(&workspace, &mut User::typing(&[JUNK, "one", "two"]), &[]);
    assert!(
        matches!(different, keys::Error::Different { what: "password" }),
        "{different}"
    );

    let empty = import_error(&workspace, &mut User::typing(&[JUNK, "", ""]), &[]);
    assert!(matches!(empty, keys::Error::EmptyPassword), "{empty}");

    let no_terminal = import_error(&workspace, &mut User::default(), &[]);
    assert!(
        matches!(no_terminal, keys::Error::NoTerminal { .. }),
        "{no_terminal}"
    );

    let twice = import_error(
        &workspace,
        &mut User::piping(JUNK),
        &["--mnemonic-file", "-", "--password-file", "-"],
    );
    assert!(matches!(twice, keys::Error::StandardInputTwice), "{twice}");

    let missing = import_error(
        &workspace,
        &mut User::default(),
        &["--mnemonic-file", &workspace.argument("nothing")],
    );
    assert!(
        matches!(missing, keys::Error::File { action: "read", .. }),
        "{missing}"
    );

    let long = workspace.file("long", &"x".repeat(65 << 10));
    let long = import_error(
        &workspace,
        &mut User::default(),
        &["--private-key-file", &long],
    );
    assert!(matches!(long, keys::Error::TooLong(_)), "{long}");

    fs::write(workspace.path("binary"), [0xff, 0xfe]).unwrap();
    let binary = import_error(
        &workspace,
        &mut User::default(),
        &["--private-key-file", &workspace.argument("binary")],
    );
    assert!(matches!(binary, keys::Error::NotText(_)), "{binary}");

    let lines = workspace.file("lines", "one\ntwo\n");
    let lines = import_error(
        &workspace,
        &mut User::typing(&[JUNK]),
        &["--password-file", &lines],
    );
    assert!(matches!(lines, keys::Error::PasswordLines(_)), "{lines}");

    let garbage = workspace.file("garbage", "{}");
    let garbage = import_error(
        &workspace,
        &mut User::default(),
        &["--keystore-file", &garbage],
    );
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
        &workspace,
        &mut User::typing(&[JUNK]),
        &["--index", "2147483648"],
    );
    assert!(matches!(index, keys::Error::Path(_)), "{index}");

    assert_eq!(workspace.names("keys"), Vec::<String>::new());
}

#[test]
fn a_key_is_exported_unencrypted_or_under_a_new_password() {
    let workspace = Workspace::new();
    let directory = import_junk(&workspace);
    let export = ["keys", "export", JUNK_0, "--keystore", &directory];
    let target = workspace.argument("exported.json");
    let mut user = User::typing(&["old", "new", "new"]);
    user.run(&[&export[..], &["--to", &target, "--light-kdf"]].concat())
        .unwrap();
    assert_eq!(
        decrypt(&workspace.path("exported.json"), "new").unwrap(),
        JUNK_0_KEY
    );
    assert_eq!(
        decrypt(&workspace.path("exported.json"), "old"),
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

    let unknown = [
        "keys",
        "export",
        "0x0000000000000000000000000000000000000001",
        "--keystore",
        &directory,
        "--to",
        "-",
    ];
    assert!(matches!(error(run(&unknown)), keys::Error::NotFound { .. }));
    let nowhere = workspace.argument("no/such/directory/key");
    let nowhere = error(
        User::typing(&["old"]).run(&[&export[..], &["--to", &nowhere, "--private-key"]].concat()),
    );
    assert!(matches!(nowhere, keys::Error::File { .. }), "{nowhere}");
}
