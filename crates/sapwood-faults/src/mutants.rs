//! Small changes made by machine: an operator exchanged, a condition turned round, a statement left out, a number changed, a
//! function that returns at once.

use std::fs;
use std::ops::Range;
use std::path::Path;

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, Lit, ReturnType, Signature, Stmt, UnOp};

use crate::scratch::repository;
use crate::site::Site;

/// The parts of the engine that mutants are drawn from.
const PARTS: [&str; 7] = ["leaf", "tree", "cloud", "bank", "predict", "snapshot", "pool"];

/// A random sample of all mutants, in a fixed order.
pub fn sample(n: usize, seed: u64) -> Vec<Site> {
    let mut all = all();
    let mut state = seed;
    let mut next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let n = n.min(all.len());
    for at in 0..n {
        let other = at + (next() % (all.len() - at) as u64) as usize;
        all.swap(at, other);
    }
    all.truncate(n);
    all
}

/// Every mutant, in the order of the sources.
pub fn all() -> Vec<Site> {
    let root = repository().join("crates/sapwood/src");
    let mut sites = Vec::new();
    for part in PARTS {
        collect(&root, &root.join(part), &mut sites);
    }
    sites
}

fn collect(root: &Path, path: &Path, sites: &mut Vec<Site>) {
    if path.is_dir() {
        let mut inside: Vec<_> = fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        inside.sort();
        // Tests are not under test.
        for path in inside.iter().filter(|path| path.file_stem().is_none_or(|stem| stem != "tests")) {
            collect(root, path, sites);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        let source = fs::read_to_string(path).expect("a source");
        let file = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
        sites.extend(of_source(&file, &source));
    }
}

fn of_source(file: &str, source: &str) -> Vec<Site> {
    let syntax = syn::parse_file(source).expect("a source that compiles");
    let mut mutator = Mutator { file, source, sites: Vec::new() };
    mutator.visit_file(&syntax);
    mutator.sites
}

struct Mutator<'a> {
    file: &'a str,
    source: &'a str,
    sites: Vec<Site>,
}

impl Mutator<'_> {
    fn text(&self, span: Span) -> &str {
        &self.source[span.byte_range()]
    }

    fn add(&mut self, range: Range<usize>, what: &str, wrong: String) {
        let line = self.source[..range.start].matches('\n').count() + 1;
        let column = range.start - self.source[..range.start].rfind('\n').map_or(0, |at| at + 1) + 1;
        let name = format!("{}:{line}:{column}: {what}", self.file);
        self.sites.push(Site { name, file: self.file.to_owned(), range, wrong });
    }

    fn function(&mut self, signature: &Signature, block: &Block) {
        let values: &[&str] = match &signature.output {
            ReturnType::Default => &["return"],
            ReturnType::Type(_, kind) => match self.text(kind.span()) {
                "bool" => &["return true", "return false"],
                "f64" => &["return 0.0", "return 1.0"],
                "usize" | "u32" | "u64" => &["return 0", "return 1"],
                _ => &[],
            },
        };
        let Some(first) = block.stmts.first() else { return };
        let start = first.span().byte_range().start;
        for value in values {
            // An empty statement before the body.
            let name = signature.ident.to_string();
            self.add(start..start, &format!("{name} does nothing but {value}"), format!("{value};"));
        }
    }

    fn binary(&mut self, expression: &syn::ExprBinary) {
        let others: &[&str] = match expression.op {
            BinOp::Add(_) => &["-", "*"],
            BinOp::Sub(_) => &["+"],
            BinOp::Mul(_) => &["+", "/"],
            BinOp::Div(_) => &["*"],
            BinOp::Rem(_) => &["/"],
            BinOp::And(_) => &["||"],
            BinOp::Or(_) => &["&&"],
            BinOp::BitXor(_) => &["|"],
            BinOp::BitAnd(_) => &["|"],
            BinOp::BitOr(_) => &["&"],
            BinOp::Shl(_) => &[">>"],
            BinOp::Shr(_) => &["<<"],
            BinOp::Eq(_) => &["!="],
            BinOp::Ne(_) => &["=="],
            BinOp::Lt(_) => &["<=", ">"],
            BinOp::Le(_) => &["<", ">"],
            BinOp::Gt(_) => &[">=", "<"],
            BinOp::Ge(_) => &[">", "<"],
            BinOp::AddAssign(_) => &["-="],
            BinOp::SubAssign(_) => &["+="],
            BinOp::MulAssign(_) => &["/="],
            BinOp::DivAssign(_) => &["*="],
            BinOp::BitXorAssign(_) => &["|="],
            _ => &[],
        };
        let is_assignment =
            self.text(expression.op.span()).ends_with('=') && !matches!(self.text(expression.op.span()), "==" | "!=" | "<=" | ">=");
        if matches!(*expression.left, Expr::Let(_)) || contains_let(&expression.left) || contains_let(&expression.right) {
            return;
        }
        let (op, left, right) = (
            self.text(expression.op.span()).to_owned(),
            self.text(expression.left.span()).to_owned(),
            self.text(expression.right.span()).to_owned(),
        );
        for other in others {
            let wrong = if is_assignment { format!("{left} {other} {right}") } else { format!("({left}) {other} ({right})") };
            self.add(expression.span().byte_range(), &format!("{op} becomes {other}"), wrong);
        }
    }

    fn condition(&mut self, condition: &Expr) {
        if !contains_let(condition) {
            let text = self.text(condition.span()).to_owned();
            self.add(condition.span().byte_range(), "condition negated", format!("!({text})"));
        }
    }
}

/// Whether a condition binds names, so that it cannot be put into parentheses.
fn contains_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(inner) => contains_let(&inner.left) || contains_let(&inner.right),
        _ => false,
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg") || attribute.path().is_ident("test"))
}

impl<'ast> Visit<'ast> for Mutator<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) && item.sig.constness.is_none() {
            self.function(&item.sig, &item.block);
            self.visit_block(&item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) && item.sig.constness.is_none() {
            self.function(&item.sig, &item.block);
            self.visit_block(&item.block);
        }
    }

    // Types, patterns and constants must be known when the engine is compiled.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_item_macro(&mut self, _: &'ast syn::ItemMacro) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}

    fn visit_expr_repeat(&mut self, item: &'ast syn::ExprRepeat) {
        self.visit_expr(&item.expr);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(expression, Some(_)) = statement {
            let is_call = matches!(expression, Expr::MethodCall(_) | Expr::Call(_) | Expr::Assign(_));
            if is_call {
                self.add(statement.span().byte_range(), "statement left out", String::new());
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        match expression {
            Expr::Binary(binary) => self.binary(binary),
            Expr::If(branch) => self.condition(&branch.cond),
            Expr::Unary(unary) => {
                let rest = self.text(unary.expr.span()).to_owned();
                match unary.op {
                    UnOp::Not(_) => self.add(expression.span().byte_range(), "! left out", rest),
                    UnOp::Neg(_) if !matches!(*unary.expr, Expr::Lit(_)) => self.add(expression.span().byte_range(), "- left out", rest),
                    _ => {}
                }
            }
            Expr::Lit(literal) => {
                if let Lit::Float(number) = &literal.lit {
                    let text = self.text(expression.span()).to_owned();
                    let is_zero = number.base10_parse::<f64>().is_ok_and(|value| value == 0.0);
                    let wrong = if is_zero { "1.0".to_owned() } else { format!("({text} * 1.5)") };
                    self.add(expression.span().byte_range(), &format!("{text} becomes {wrong}"), wrong.clone());
                }
            }
            _ => {}
        }
        visit::visit_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> Vec<String> {
        of_source("x.rs", source).into_iter().map(|site| site.name).collect()
    }

    #[test]
    fn operators_conditions_statements_and_bodies_are_changed() {
        let found = names("fn f(a: f64) -> f64 { if a < 1.0 { g(); } a + 2.0 }");
        for what in ["< becomes <=", "+ becomes -", "condition negated", "statement left out", "does nothing but return 0.0", "2.0 becomes"]
        {
            assert!(found.iter().any(|name| name.contains(what)), "{what} is missing from {found:#?}");
        }
    }

    #[test]
    fn tests_constants_and_types_are_left_alone() {
        assert!(names("#[cfg(test)] mod tests { fn f() -> f64 { 1.0 + 2.0 } }").is_empty());
        assert!(names("const A: f64 = 1.0 + 2.0;").is_empty());
        assert!(names("const fn f() -> f64 { 1.0 + 2.0 }").is_empty());
    }

    #[test]
    fn a_condition_that_binds_names_is_left_alone() {
        let found = names("fn f(a: Option<f64>) { if let Some(b) = a && b > 1.0 { g(b) } }");
        assert!(!found.iter().any(|name| name.contains("negated") || name.contains("&&")), "{found:#?}");
    }

    #[test]
    fn a_sample_is_the_same_every_time() {
        assert_eq!(sample(20, 1), sample(20, 1));
        assert!(sample(20, 1) != sample(20, 2));
    }
}
