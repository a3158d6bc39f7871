//! An expression as the tree of its parts.

use minijinja::machinery::ast::{CallArg, Expr};
use minijinja::machinery::{parse_expr, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::RuleError;

/// Words and signs of the longest expression or template. The engine goes down into a chain of operators by recursion.
const LONGEST: usize = 1_000;
/// Letters of one that is too long that are shown.
const SHOWN: usize = 60;

/// The tree of an expression.
///
/// # Errors
/// When it is no expression, or too long a one.
pub(super) fn parse(expression: &str) -> Result<Expr<'_>, RuleError> {
    refuse_too_long(expression, true)?;
    parse_expr(expression).map_err(|error| RuleError::from_engine(expression, &error))
}

/// Refuses an expression, or a template, that would take the stack of whoever reads it.
///
/// # Errors
/// When it has too many words and signs.
pub(super) fn refuse_too_long(text: &str, is_expression: bool) -> Result<(), RuleError> {
    let tokens = tokenize(text, is_expression, SyntaxConfig::default()).take_while(Result::is_ok);
    if tokens.take(LONGEST + 1).count() <= LONGEST {
        return Ok(());
    }
    let shown: String = text.chars().take(SHOWN).collect();
    Err(RuleError::new(&format!("{shown}…"), format!("it has more than {LONGEST} words and signs"), None))
}

/// A tree and all its parts, in the order in which they are written. Not by recursion: a chain of operators may be long.
pub(super) fn parts<'tree, 'text>(tree: &'tree Expr<'text>) -> Vec<&'tree Expr<'text>> {
    let mut waiting = vec![tree];
    let mut parts = Vec::new();
    while let Some(part) = waiting.pop() {
        parts.push(part);
        waiting.extend(children(part).into_iter().rev());
    }
    parts
}

/// The argument of a call at a place, when it is a text, with its tree.
pub(super) fn text_argument<'tree, 'text>(
    arguments: &'tree [CallArg<'text>],
    place: usize,
) -> Option<(String, &'tree Expr<'text>)> {
    let CallArg::Pos(argument) = arguments.get(place)? else { return None };
    let Expr::Const(constant) = argument else { return None };
    Some((constant.value.as_str()?.to_owned(), argument))
}

fn children<'tree, 'text>(tree: &'tree Expr<'text>) -> Vec<&'tree Expr<'text>> {
    match tree {
        Expr::Var(_) | Expr::Const(_) => Vec::new(),
        Expr::Slice(slice) => [Some(&slice.expr), slice.start.as_ref(), slice.stop.as_ref(), slice.step.as_ref()]
            .into_iter()
            .flatten()
            .collect(),
        Expr::UnaryOp(operation) => vec![&operation.expr],
        Expr::BinOp(operation) => vec![&operation.left, &operation.right],
        Expr::Compare(chain) => {
            std::iter::once(&chain.expr).chain(chain.ops.iter().map(|operation| &operation.expr)).collect()
        }
        Expr::IfExpr(choice) => [Some(&choice.true_expr), Some(&choice.test_expr), choice.false_expr.as_ref()]
            .into_iter()
            .flatten()
            .collect(),
        Expr::Filter(filter) => filter.expr.iter().chain(filter.args.iter().map(argument)).collect(),
        Expr::Test(test) => std::iter::once(&test.expr).chain(test.args.iter().map(argument)).collect(),
        Expr::GetAttr(access) => vec![&access.expr],
        Expr::GetItem(access) => vec![&access.expr, &access.subscript_expr],
        Expr::Call(call) => std::iter::once(&call.expr).chain(call.args.iter().map(argument)).collect(),
        Expr::List(list) => list.items.iter().collect(),
        Expr::Tuple(tuple) => tuple.items.iter().collect(),
        Expr::Map(map) => map.keys.iter().zip(&map.values).flat_map(|(key, value)| [key, value]).collect(),
    }
}

fn argument<'tree, 'text>(argument: &'tree CallArg<'text>) -> &'tree Expr<'text> {
    let (CallArg::Pos(value) | CallArg::Kwarg(_, value) | CallArg::PosSplat(value) | CallArg::KwargSplat(value)) =
        argument;
    value
}
