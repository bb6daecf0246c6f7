//! The public names of crates, and the names that others use.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, ImplItem, Item, Visibility,
    visit::{self, Visit},
};

use super::sources::is_test;

/// The Rust files in a folder and in the folders within it.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}

/// The functions, methods, constants and statics in a folder that are `pub` without restriction.
/// Types are left out: they may occur in the signature of a public function without being named.
pub(super) fn public_names(folder: &Path) -> BTreeSet<String> {
    let mut names = PublicNames::default();
    for file in files(folder) {
        names.visit_file(&syn::parse_file(&fs::read_to_string(file).unwrap()).unwrap());
    }
    names.0
}

/// The words of a file's own documentation, whose examples use public names.
pub(super) fn documentation(file: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(file).unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .flat_map(|line| line.split(|letter: char| !letter.is_alphanumeric() && letter != '_'))
        .map(str::to_owned)
        .collect()
}

/// All names in a folder, those in the arguments of macros and in test code included.
pub(super) fn all_names(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in files(folder) {
        let tokens: TokenStream = fs::read_to_string(file).unwrap().parse().unwrap();
        take_names(tokens, &mut names);
    }
    names
}

fn take_names(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => take_names(group.stream(), names),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[derive(Default)]
struct PublicNames(BTreeSet<String>);

impl PublicNames {
    fn take(&mut self, attributes: &[Attribute], visibility: &Visibility, name: &syn::Ident) {
        if matches!(visibility, Visibility::Public(_)) && !is_test(attributes) {
            self.0.insert(name.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for PublicNames {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Fn(item) => self.take(&item.attrs, &item.vis, &item.sig.ident),
            Item::Const(item) => self.take(&item.attrs, &item.vis, &item.ident),
            Item::Static(item) => self.take(&item.attrs, &item.vis, &item.ident),
            Item::Mod(item) if is_test(&item.attrs) => return,
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        match item {
            ImplItem::Fn(item) => self.take(&item.attrs, &item.vis, &item.sig.ident),
            ImplItem::Const(item) => self.take(&item.attrs, &item.vis, &item.ident),
            _ => {}
        }
        visit::visit_impl_item(self, item);
    }
}
