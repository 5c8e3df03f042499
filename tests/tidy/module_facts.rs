//! Collects facts about one module: every path in code and macros, and the declarations and writes that the rules
//! check.

use crate::source_tree::{Module, is_for_tests};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, FnArg, ImplItem, Item, Type, UseTree};

/// A path as written in the source.
#[derive(Clone, Debug)]
pub(crate) struct WrittenPath {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
}

/// What a module declares and refers to.
#[derive(Default)]
pub(crate) struct ModuleFacts {
    /// Names introduced by `use`, `type` or `extern crate`, with the paths they stand for.
    pub(crate) aliases: BTreeMap<String, Vec<Vec<String>>>,
    pub(crate) globs: Vec<Vec<String>>,
    /// Names declared in the module.
    pub(crate) own_names: BTreeSet<String>,
    pub(crate) paths: Vec<WrittenPath>,
    /// Types taken by `&mut`.
    pub(crate) mutably_taken: Vec<WrittenPath>,
    /// Types with a method that takes `&mut self`.
    pub(crate) mutating_impls: Vec<WrittenPath>,
    /// Fields assigned or borrowed mutably: `a.state.b = c` is `["a", "state", "b"]`.
    pub(crate) written: Vec<WrittenPath>,
    /// Every identifier with its line.
    pub(crate) idents: Vec<(String, usize)>,
    pub(crate) problems: Vec<String>,
}

impl ModuleFacts {
    pub(crate) fn of_module(module: &Module) -> Self {
        let mut facts = Self::default();
        for item in &module.items {
            facts.visit_item(item);
        }
        facts
    }

    fn add_path(&mut self, segments: Vec<String>, line: usize) {
        self.paths.push(WrittenPath { segments, line });
    }

    fn add_alias(&mut self, name: String, segments: Vec<String>) {
        self.aliases.entry(name).or_default().push(segments);
    }

    fn add_use_tree(&mut self, tree: &UseTree, prefix: &[String]) {
        let append =
            |ident: &syn::Ident| prefix.iter().cloned().chain([ident.to_string()]).collect::<Vec<_>>();
        match tree {
            UseTree::Path(path) => self.add_use_tree(&path.tree, &append(&path.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_use_tree(tree, prefix)),
            UseTree::Glob(glob) => {
                self.add_path(prefix.to_vec(), glob.span().start().line);
                self.globs.push(prefix.to_vec());
            }
            UseTree::Name(name) => {
                let segments = if name.ident == "self" { prefix.to_vec() } else { append(&name.ident) };
                self.add_path(segments.clone(), name.span().start().line);
                if let Some(last) = segments.last().filter(|_| segments.len() > 1) {
                    self.add_alias(last.clone(), segments.clone());
                }
            }
            UseTree::Rename(rename) => {
                let segments = if rename.ident == "self" { prefix.to_vec() } else { append(&rename.ident) };
                self.add_path(segments.clone(), rename.span().start().line);
                self.add_alias(rename.rename.to_string(), segments);
            }
        }
    }

    /// Adds paths and identifiers of unparsed tokens: macros and the contents of attributes.
    fn add_tokens(&mut self, tokens: TokenStream, outer_path: &[String]) {
        let mut path: Vec<String> = outer_path.to_vec();
        // `after_colons`: `path` ends in `::` and awaits its next segment.
        let (mut after_colons, mut line) = (!outer_path.is_empty(), 0);
        let mut rest = tokens.into_iter().peekable();
        while let Some(token) = rest.next() {
            match token {
                TokenTree::Ident(ident) => {
                    let word = ident.to_string();
                    self.idents.push((word.clone(), ident.span().start().line));
                    if !after_colons {
                        self.end_path(&mut path, line);
                    }
                    line = ident.span().start().line;
                    path.push(word);
                    after_colons = false;
                }
                TokenTree::Punct(p) if p.as_char() == ':' && p.spacing() == proc_macro2::Spacing::Joint => {
                    rest.next();
                    if path.is_empty() {
                        path.push(String::new());
                    }
                    after_colons = true;
                }
                TokenTree::Punct(p) if p.as_char() == '$' => {}
                TokenTree::Group(group) => {
                    let grouped = after_colons && group.delimiter() == Delimiter::Brace && !path.is_empty();
                    let prefix = if grouped { std::mem::take(&mut path) } else { Vec::new() };
                    self.end_path(&mut path, line);
                    self.add_tokens(group.stream(), &prefix);
                    after_colons = false;
                }
                TokenTree::Punct(p) if p.as_char() == ',' => {
                    self.end_path(&mut path, line);
                    path = outer_path.to_vec();
                    after_colons = !outer_path.is_empty();
                }
                TokenTree::Literal(literal) => {
                    // `#[serde(with = "...")]` holds a path in a string.
                    let text = literal.to_string();
                    let path = text.trim_matches('"');
                    if path.contains("::")
                        && path.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':')
                    {
                        let segments = path.split("::").map(str::to_owned).collect();
                        self.add_path(segments, literal.span().start().line);
                    }
                    after_colons = false;
                }
                TokenTree::Punct(_) => {
                    self.end_path(&mut path, line);
                    after_colons = false;
                }
            }
        }
        self.end_path(&mut path, line);
    }

    fn end_path(&mut self, path: &mut Vec<String>, line: usize) {
        if !path.is_empty() {
            self.add_path(std::mem::take(path), line);
        }
    }

    fn add_mutating_impl(&mut self, item: &syn::ItemImpl) {
        let takes_mut_self = |arg: &FnArg| match arg {
            FnArg::Receiver(receiver) => {
                matches!(&*receiver.ty, Type::Reference(r) if r.mutability.is_some())
            }
            FnArg::Typed(other) => matches!(&*other.ty, Type::Reference(r)
                if r.mutability.is_some() && matches!(&*r.elem, Type::Path(p) if p.path.is_ident("Self"))),
        };
        let method = item.items.iter().find_map(|inner| match inner {
            ImplItem::Fn(f) if !is_for_tests(&f.attrs) && f.sig.inputs.iter().any(takes_mut_self) => Some(f),
            _ => None,
        });
        if let (Some(method), Type::Path(self_path)) = (method, &*item.self_ty) {
            let line = method.sig.ident.span().start().line;
            self.mutating_impls.push(WrittenPath { segments: path_segments(&self_path.path), line });
        }
    }

    fn add_write(&mut self, target: &Expr) {
        let mut path = Vec::new();
        if field_path(target, &mut path) {
            self.written.push(WrittenPath { segments: path, line: target.span().start().line });
        }
    }
}

/// Appends the names in an expression such as `a.b[i].c` to `path`; returns whether the expression is a field.
fn field_path(expr: &Expr, path: &mut Vec<String>) -> bool {
    match expr {
        Expr::Field(field) => {
            field_path(&field.base, path);
            if let syn::Member::Named(name) = &field.member {
                path.push(name.to_string());
            }
            true
        }
        Expr::Index(index) => field_path(&index.expr, path),
        Expr::Paren(inner) => field_path(&inner.expr, path),
        Expr::Unary(unary) => field_path(&unary.expr, path),
        Expr::Path(name) => {
            path.extend(name.path.segments.iter().map(|s| s.ident.to_string()));
            false
        }
        _ => false,
    }
}

fn path_segments(path: &syn::Path) -> Vec<String> {
    let lead = path.leading_colon.map(|_| String::new());
    lead.into_iter().chain(path.segments.iter().map(|s| s.ident.to_string())).collect()
}

/// The paths that a type consists of.
struct TypePaths(Vec<Vec<String>>);

impl<'a> Visit<'a> for TypePaths {
    fn visit_path(&mut self, path: &'a syn::Path) {
        self.0.push(path_segments(path));
        visit::visit_path(self, path);
    }
}

impl<'a> Visit<'a> for ModuleFacts {
    fn visit_item(&mut self, item: &'a Item) {
        let name = match item {
            Item::Const(i) => Some(&i.ident),
            Item::Enum(i) => Some(&i.ident),
            Item::Fn(i) => Some(&i.sig.ident),
            Item::Static(i) => Some(&i.ident),
            Item::Struct(i) => Some(&i.ident),
            Item::Trait(i) => Some(&i.ident),
            Item::TraitAlias(i) => Some(&i.ident),
            Item::Union(i) => Some(&i.ident),
            _ => None,
        };
        self.own_names.extend(name.map(ToString::to_string));
        match item {
            Item::Fn(i) if is_for_tests(&i.attrs) => return,
            Item::Use(i) if !is_for_tests(&i.attrs) => {
                let lead: Vec<String> = i.leading_colon.map(|_| String::new()).into_iter().collect();
                self.add_use_tree(&i.tree, &lead);
            }
            Item::ExternCrate(i) => {
                let name = if i.ident == "self" { "crate".to_owned() } else { i.ident.to_string() };
                let alias = i.rename.as_ref().map_or_else(|| name.clone(), |(_, new)| new.to_string());
                self.add_path(vec![name.clone()], i.span().start().line);
                self.add_alias(alias, vec![name]);
            }
            Item::Type(i) => {
                let mut parts = TypePaths(Vec::new());
                parts.visit_type(&i.ty);
                parts.0.into_iter().for_each(|path| self.add_alias(i.ident.to_string(), path));
            }
            Item::Impl(i) => self.add_mutating_impl(i),
            Item::Mod(i) => {
                self.problems.push(format!("{}: `mod {}` inside a function", i.span().start().line, i.ident));
            }
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'a ImplItem) {
        if !matches!(item, ImplItem::Fn(f) if is_for_tests(&f.attrs)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        self.add_path(path_segments(path), path.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_ident(&mut self, ident: &'a syn::Ident) {
        self.idents.push((ident.to_string(), ident.span().start().line));
    }

    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        if mac.path.is_ident("include") {
            self.problems.push(format!(
                "{}: include! adds code that these checks don't read",
                mac.span().start().line
            ));
        }
        visit::visit_macro(self, mac);
        self.add_tokens(mac.tokens.clone(), &[]);
    }

    fn visit_attribute(&mut self, attribute: &'a syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.add_tokens(list.tokens.clone(), &[]);
        }
    }

    fn visit_type_reference(&mut self, reference: &'a syn::TypeReference) {
        if reference.mutability.is_some() {
            let line = reference.span().start().line;
            let mut parts = TypePaths(Vec::new());
            parts.visit_type(&reference.elem);
            self.mutably_taken.extend(parts.0.into_iter().map(|segments| WrittenPath { segments, line }));
        }
        visit::visit_type_reference(self, reference);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Assign(e) => self.add_write(&e.left),
            Expr::Binary(e) if is_assignment(&e.op) => self.add_write(&e.left),
            Expr::Reference(e) if e.mutability.is_some() => self.add_write(&e.expr),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

fn is_assignment(op: &syn::BinOp) -> bool {
    use syn::BinOp as B;
    matches!(
        op,
        B::AddAssign(_)
            | B::SubAssign(_)
            | B::MulAssign(_)
            | B::DivAssign(_)
            | B::RemAssign(_)
            | B::BitXorAssign(_)
            | B::BitAndAssign(_)
            | B::BitOrAssign(_)
            | B::ShlAssign(_)
            | B::ShrAssign(_)
    )
}
