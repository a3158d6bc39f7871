//! What `#[default(…)]` and `#[range(…)]` say of a parameter, and whether it fits the parameter's type, as far as that can
//! be seen in the text: the compiler's words for a misfit are about code that nobody wrote.

use syn::{Attribute, Error, Expr, ExprUnary, Lit, RangeLimits, Result, Type, UnOp};

use crate::types::{Kind, kind_of};

/// The attributes of one parameter.
#[derive(Default)]
pub(crate) struct Attributes {
    /// Its value when the caller leaves it out.
    pub(crate) default: Option<Expr>,
    /// The least value that is accepted.
    pub(crate) minimum: Option<Expr>,
    /// The greatest one.
    pub(crate) maximum: Option<Expr>,
}

/// Whether the compiler takes this attribute on a parameter; all others are for this macro.
pub(crate) fn is_of_the_compiler(attribute: &Attribute) -> bool {
    const KNOWN: [&str; 7] = ["allow", "cfg", "cfg_attr", "deny", "expect", "forbid", "warn"];
    KNOWN.iter().any(|name| attribute.path().is_ident(name))
}

/// Reads what stands above a parameter of this type.
pub(crate) fn read(attributes: &[Attribute], kind: &Type) -> Result<Attributes> {
    let mut found = Attributes::default();
    for attribute in attributes {
        let path = attribute.path();
        if path.is_ident("default") {
            refuse_second(found.default.is_some(), attribute)?;
            found.default = Some(default(attribute, kind)?);
        } else if path.is_ident("range") {
            refuse_second(found.minimum.is_some() || found.maximum.is_some(), attribute)?;
            (found.minimum, found.maximum) = range(attribute, kind)?;
        } else if !path.is_ident("doc") {
            let message = "an argument has no such attribute: write `#[default(…)]` or `#[range(…)]`, or remove it";
            return Err(Error::new_spanned(attribute, message));
        }
    }
    refuse_default_out_of_range(&found)?;
    Ok(found)
}

fn refuse_second(is_second: bool, attribute: &Attribute) -> Result<()> {
    if is_second {
        Err(Error::new_spanned(attribute, "this stands above already: remove one of the two"))
    } else {
        Ok(())
    }
}

fn default(attribute: &Attribute, kind: &Type) -> Result<Expr> {
    let usage = "name the value a missing argument has, as in `#[default(100)]`";
    let value: Expr = attribute.parse_args().map_err(|_| Error::new_spanned(attribute, usage))?;
    let Some(said) = literal(&value) else { return Ok(value) };
    let message = match (kind_of(kind), said) {
        (Kind::Integer, Said::Integer(_)) | (Kind::Float, Said::Float(_)) => return Ok(value),
        (Kind::Text, Said::Text) | (Kind::Bool, Said::Bool) | (Kind::Other, _) => return Ok(value),
        (Kind::Integer, _) => "this argument is an integer: write one, as in `#[default(100)]`",
        (Kind::Float, _) => "this argument is a float: write one, as in `#[default(1.0)]`",
        (Kind::Text, _) => "this argument is a text: write one, as in `#[default(\"cat\")]`",
        (Kind::Bool, _) => "this argument is true or false: write one of them, as in `#[default(true)]`",
        (Kind::List, _) => "this argument is a list: write one, as in `#[default(vec![1, 2])]`",
        (Kind::Option, _) => "what has a default is always there: write the type without `Option`",
    };
    Err(Error::new_spanned(value, message))
}

fn range(attribute: &Attribute, kind: &Type) -> Result<(Option<Expr>, Option<Expr>)> {
    let usage = "name the first and the last value, as in `#[range(1..=500)]`";
    let Ok(Expr::Range(range)) = attribute.parse_args::<Expr>() else {
        return Err(Error::new_spanned(attribute, usage));
    };
    match (&range.limits, &range.end) {
        (RangeLimits::HalfOpen(dots), Some(_)) => {
            return Err(Error::new_spanned(
                dots,
                "both ends of a range belong to it: write `..=` before the last value",
            ));
        }
        (_, None) if range.start.is_none() => return Err(Error::new_spanned(attribute, usage)),
        _ => {}
    }
    let kind = match kind_of(kind) {
        Kind::Option => crate::types::inside(kind).map_or(Kind::Other, kind_of),
        kind => kind,
    };
    for end in [&range.start, &range.end].into_iter().flatten() {
        let message = match (kind, literal(end)) {
            (Kind::Text | Kind::Bool | Kind::List | Kind::Option, _) => {
                return Err(Error::new_spanned(attribute, "only numbers have a range: remove this"));
            }
            (Kind::Integer, Some(Said::Integer(_))) | (Kind::Float, Some(Said::Float(_))) => continue,
            (Kind::Other, _) | (_, None) => continue,
            (Kind::Integer, _) => "this argument is an integer: write one here, as in `#[range(1..=500)]`",
            (Kind::Float, _) => "this argument is a float: write one here, as in `#[range(0.0..=1.0)]`",
        };
        return Err(Error::new_spanned(end, message));
    }
    if let (Some(start), Some(end)) = (&range.start, &range.end)
        && is_less(end, start)
    {
        return Err(Error::new_spanned(&range, "nothing lies in this range: write the smaller number first"));
    }
    Ok((range.start.map(|start| *start), range.end.map(|end| *end)))
}

fn refuse_default_out_of_range(attributes: &Attributes) -> Result<()> {
    let Some(default) = &attributes.default else { return Ok(()) };
    let below = attributes.minimum.as_ref().is_some_and(|minimum| is_less(default, minimum));
    let above = attributes.maximum.as_ref().is_some_and(|maximum| is_less(maximum, default));
    if below || above {
        return Err(Error::new_spanned(default, "the range leaves out the default: choose a default that lies in it"));
    }
    Ok(())
}

/// What a literal says, as far as it can be compared.
#[derive(Clone, Copy)]
enum Said {
    Integer(i128),
    Float(f64),
    Text,
    Bool,
    Other,
}

/// The literal that an expression is; nothing for any other expression, which the compiler judges.
fn literal(expression: &Expr) -> Option<Said> {
    match expression {
        Expr::Lit(literal) => Some(match &literal.lit {
            Lit::Int(number) => number.base10_parse().map_or(Said::Other, Said::Integer),
            Lit::Float(number) => number.base10_parse().map_or(Said::Other, Said::Float),
            Lit::Str(_) => Said::Text,
            Lit::Bool(_) => Said::Bool,
            _ => Said::Other,
        }),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match literal(expr)? {
            Said::Integer(number) => Some(Said::Integer(-number)),
            Said::Float(number) => Some(Said::Float(-number)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether one number is surely less than another.
fn is_less(left: &Expr, right: &Expr) -> bool {
    match (literal(left), literal(right)) {
        (Some(Said::Integer(left)), Some(Said::Integer(right))) => left < right,
        (Some(Said::Float(left)), Some(Said::Float(right))) => left < right,
        _ => false,
    }
}

/// Whether an expression is a string literal, which stands for a `String`.
pub(crate) fn is_text(expression: &Expr) -> bool {
    matches!(literal(expression), Some(Said::Text))
}
