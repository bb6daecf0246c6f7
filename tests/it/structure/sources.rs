//! A crate's sources as a graph of references between files. Test code is left out, since it may
//! refer to more.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, Item, UseTree, Visibility,
    visit::{self, Visit},
};

/// Segments of a path, as written or from the root of the crate.
pub(super) type Segments = Vec<String>;

/// Depth at which resolving gives up: `use axum::axum` would resolve to itself.
const DEPTH: usize = 16;

/// A module, a file's or an inline one.
#[derive(Default)]
pub(super) struct Module {
    /// Its file, relative to the crate's `src/`.
    pub(super) file: PathBuf,
    /// The paths that its code names, `use` lines included, re-exports not.
    pub(super) names: BTreeSet<Segments>,
    /// Methods and functions that it calls by their bare name.
    pub(super) calls: BTreeSet<String>,
    children: BTreeSet<String>,
    definitions: BTreeSet<String>,
    bindings: BTreeMap<String, Segments>,
    globs: Vec<Segments>,
}

/// All modules of a library, by their paths from its root.
pub(super) struct Sources(pub(super) BTreeMap<Segments, Module>);

impl Sources {
    /// Reads the library in `root`, from `lib.rs` on, as the compiler does.
    pub(super) fn read(root: &Path) -> Self {
        let mut sources = Self(BTreeMap::new());
        sources.read_file(root, Path::new("lib.rs"), Vec::new());
        sources
    }

    fn read_file(&mut self, root: &Path, file: &Path, module: Segments) {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let parsed =
            syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let folder = if file.ends_with("mod.rs") || file == Path::new("lib.rs") {
            file.parent().unwrap().to_owned()
        } else {
            file.with_extension("")
        };
        self.read_items(root, file, &folder, module, &parsed.items);
    }

    fn read_items(
        &mut self,
        root: &Path,
        file: &Path,
        folder: &Path,
        path: Segments,
        items: &[Item],
    ) {
        let mut module = Module {
            file: file.to_owned(),
            ..Module::default()
        };

        for item in items {
            if is_test(attributes(item)) {
                continue;
            }
            if let Item::Mod(inner) = item {
                let name = inner.ident.to_string();
                module.children.insert(name.clone());
                let path = [path.clone(), vec![name.clone()]].concat();

                match &inner.content {
                    Some((_, items)) => {
                        self.read_items(root, file, &folder.join(&name), path, items)
                    }
                    None => {
                        let flat = folder.join(format!("{name}.rs"));
                        let nested = folder.join(&name).join("mod.rs");
                        self.read_file(
                            root,
                            if root.join(&flat).exists() {
                                &flat
                            } else {
                                &nested
                            },
                            path,
                        );
                    }
                }
            } else {
                module.visit_item(item);
            }
        }

        self.0.insert(path, module);
    }

    /// The module that defines what `path` names within `module`, re-exports followed; none if it
    /// is another crate's.
    pub(super) fn resolve(&self, module: &[String], path: &[String]) -> Option<Segments> {
        self.resolve_within(module, path, DEPTH)
    }

    fn resolve_within(&self, module: &[String], path: &[String], depth: usize) -> Option<Segments> {
        let depth = depth.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.walk(&[], rest, depth),
            "self" => self.walk(module, rest, depth),
            "super" => {
                let parent = module.split_last()?.1;
                if rest.first().is_some_and(|next| next == "super") {
                    self.resolve_within(parent, rest, depth)
                } else {
                    self.walk(parent, rest, depth)
                }
            }
            // A variable may have the name of a module beside it.
            name if rest.is_empty() && self.0[module].children.contains(name) => None,
            name if self.0[module].knows(name) => self.walk(module, path, depth),
            _ => self.through_globs(module, path, depth),
        }
    }

    /// Follows a path from a module of the crate.
    fn walk(&self, start: &[String], path: &[String], depth: usize) -> Option<Segments> {
        let mut module = start.to_vec();
        for (at, name) in path.iter().enumerate() {
            let here = self.0.get(&module)?;
            if here.children.contains(name) {
                module.push(name.clone());
            } else if here.definitions.contains(name) {
                return Some(module);
            } else if let Some(binding) = here.bindings.get(name) {
                let target = [binding.as_slice(), &path[at + 1..]].concat();
                return self.resolve_within(&module, &target, depth);
            } else {
                // Made by a macro, if no glob has it.
                return self
                    .through_globs(&module, &path[at..], depth)
                    .or(Some(module));
            }
        }
        Some(module)
    }

    fn through_globs(&self, module: &[String], path: &[String], depth: usize) -> Option<Segments> {
        self.0[module].globs.iter().find_map(|glob| {
            let target = self.resolve_within(module, glob, depth)?;
            self.0
                .get(&target)?
                .knows(path.first()?)
                .then(|| self.walk(&target, path, depth))?
        })
    }

    /// Every pair of a file and another one that it names.
    pub(super) fn edges(&self) -> BTreeSet<(&Path, &Path)> {
        let mut edges = BTreeSet::new();
        for (path, module) in &self.0 {
            for name in &module.names {
                let Some(target) = self.resolve(path, name) else {
                    continue;
                };
                let to = self.0[&target].file.as_path();
                if to != module.file {
                    edges.insert((module.file.as_path(), to));
                }
            }
        }
        edges
    }

    /// The paths of other crates that a module names, with those that begin at one of its `use`
    /// lines spelled out.
    pub(super) fn foreign<'a>(&'a self, path: &'a [String]) -> impl Iterator<Item = Segments> + 'a {
        let module = &self.0[path];
        let foreign = module
            .names
            .iter()
            .filter(|name| self.resolve(path, name).is_none());
        foreign.map(|name| match module.bindings.get(&name[0]) {
            Some(binding) => [binding.as_slice(), &name[1..]].concat(),
            None => name.clone(),
        })
    }
}

impl Module {
    fn knows(&self, name: &str) -> bool {
        self.children.contains(name)
            || self.definitions.contains(name)
            || self.bindings.contains_key(name)
    }

    fn take_use(&mut self, tree: &UseTree, mut path: Segments, reexport: bool) {
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.take_use(&inner.tree, path, reexport);
            }
            UseTree::Group(group) => {
                group
                    .items
                    .iter()
                    .for_each(|tree| self.take_use(tree, path.clone(), reexport));
            }

            UseTree::Name(name) => {
                let name = name.ident.to_string();
                if name != "self" {
                    path.push(name);
                }
                let alias = path.last().cloned().unwrap_or_default();
                self.bind(alias, path, reexport);
            }
            UseTree::Rename(rename) => {
                if rename.ident != "self" {
                    path.push(rename.ident.to_string());
                }
                self.bind(rename.rename.to_string(), path, reexport);
            }

            UseTree::Glob(_) => {
                if !reexport {
                    self.names.insert(path.clone());
                }
                self.globs.push(path);
            }
        }
    }

    fn bind(&mut self, alias: String, path: Segments, reexport: bool) {
        if !reexport {
            self.names.insert(path.clone());
        }
        if alias != "_" {
            self.bindings.insert(alias, path);
        }
    }

    /// Takes the paths out of a macro's arguments, and out of an attribute's texts such as
    /// `with = "crate::hex"`.
    fn take_tokens(&mut self, tokens: TokenStream) {
        let mut path: Segments = Vec::new();
        // Colons since the last name of the path.
        let mut colons = 0;

        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.take_path(std::mem::take(&mut path));
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,

                other => {
                    self.take_path(std::mem::take(&mut path));
                    colons = 0;
                    match other {
                        TokenTree::Group(group) => self.take_tokens(group.stream()),
                        TokenTree::Literal(literal) => {
                            let text = literal.to_string();
                            let text = text.trim_matches('"');
                            if text.starts_with("crate::") || text.starts_with("super::") {
                                self.take_path(text.split("::").map(str::to_owned).collect());
                            }
                        }
                        _ => {}
                    }
                }
            }
        }

        self.take_path(path);
    }

    fn take_path(&mut self, path: Segments) {
        // Alone these are the end of `pub(crate)` or a value.
        let keyword = path.len() == 1 && matches!(path[0].as_str(), "crate" | "super" | "self");
        if !path.is_empty() && !keyword {
            self.names.insert(path);
        }
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_test(attributes(item)) {
            return;
        }
        if let Some(name) = defined(item) {
            self.definitions.insert(name);
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attributes = match item {
            syn::ImplItem::Fn(function) => &function.attrs,
            syn::ImplItem::Const(constant) => &constant.attrs,
            _ => return visit::visit_impl_item(self, item),
        };
        if !is_test(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            self.take_use(
                &item.tree,
                Vec::new(),
                !matches!(item.vis, Visibility::Inherited),
            );
        }
    }

    /// `pub(super)` names no module to use anything of.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.take_path(
            path.segments
                .iter()
                .map(|segment| segment.ident.to_string())
                .collect(),
        );
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.calls.insert(call.method.to_string());
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.take_tokens(call.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.take_tokens(list.tokens.clone());
        }
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn defined(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// Whether the attributes compile an item for the crate's own tests only.
pub(super) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            let mut words =
                condition.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            words.any(|word| word == "test") && !condition.contains("not")
        }
        _ => false,
    })
}
