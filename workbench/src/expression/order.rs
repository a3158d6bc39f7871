//! Which values are ordered: numbers among numbers, texts among texts. The stock engine orders all others by an order of
//! the kinds, so that a rule `n >= 500` would hold of "few".

use minijinja::machinery::Instruction;
use minijinja::machinery::ast::{BinOpKind, CompareOpKind, Expr, UnaryOpKind};
use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, State, Value};

use super::{RuleError, tree};

/// Letters of a value that are shown.
const SHOWN: usize = 40;
/// Bytes of texts that are compared for one step.
const BYTES_A_STEP: usize = 64;

/// An operator that orders.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Comparison {
    const ALL: [Self; 4] = [Self::Less, Self::AtMost, Self::More, Self::AtLeast];

    /// How it is written; also the name of a test.
    pub(super) fn operator(self) -> &'static str {
        self.words()[0]
    }

    /// The filter that answers with the truth and the right value, for chains.
    pub(super) fn preserving(self) -> &'static str {
        match self {
            Self::Less => "less_and_right",
            Self::AtMost => "at_most_and_right",
            Self::More => "more_and_right",
            Self::AtLeast => "at_least_and_right",
        }
    }

    /// The names of its test.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Less => &["<", "lt", "lessthan"],
            Self::AtMost => &["<=", "le"],
            Self::More => &[">", "gt", "greaterthan"],
            Self::AtLeast => &[">=", "ge"],
        }
    }

    fn holds(self, left: &Value, right: &Value) -> bool {
        match self {
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::More => left > right,
            Self::AtLeast => left >= right,
        }
    }

    /// That of an instruction, and whether it keeps its right value.
    pub(super) fn of_instruction(instruction: &Instruction<'_>) -> Option<(Self, bool)> {
        // The kind of a comparison within a chain has no name outside the engine.
        let preserved = || match instruction {
            Instruction::CompareAndPreserve(kind) => Some(format!("{kind:?}")),
            _ => None,
        };
        match instruction {
            Instruction::Lt => Some((Self::Less, false)),
            Instruction::Lte => Some((Self::AtMost, false)),
            Instruction::Gt => Some((Self::More, false)),
            Instruction::Gte => Some((Self::AtLeast, false)),
            _ => match preserved()?.as_str() {
                "Lt" => Some((Self::Less, true)),
                "Lte" => Some((Self::AtMost, true)),
                "Gt" => Some((Self::More, true)),
                "Gte" => Some((Self::AtLeast, true)),
                _ => None,
            },
        }
    }

    fn of_operator(kind: BinOpKind) -> Option<Self> {
        match kind {
            BinOpKind::Lt => Some(Self::Less),
            BinOpKind::Lte => Some(Self::AtMost),
            BinOpKind::Gt => Some(Self::More),
            BinOpKind::Gte => Some(Self::AtLeast),
            _ => None,
        }
    }

    fn of_chain(kind: CompareOpKind) -> Option<Self> {
        match kind {
            CompareOpKind::Lt => Some(Self::Less),
            CompareOpKind::Lte => Some(Self::AtMost),
            CompareOpKind::Gt => Some(Self::More),
            CompareOpKind::Gte => Some(Self::AtLeast),
            _ => None,
        }
    }
}

/// Names of tests that are signs: `selectattr("year", "<", 1700)`.
pub(super) const SIGNS: &[&str] = &["==", "!=", "<", "<=", ">", ">="];

/// The tests that order, and what operators within chains become.
pub(super) fn install(environment: &mut Environment<'_>) {
    for comparison in Comparison::ALL {
        let test = move |state: &State, left: &Value, right: &Value| compare(state, comparison, left, right);
        for word in comparison.words() {
            environment.add_test(*word, test);
        }
        let both = move |state: &State, left: &Value, right: Value| {
            Ok::<_, Error>(vec![Value::from(compare(state, comparison, left, &right)?), right])
        };
        environment.add_filter(comparison.preserving(), both);
    }
}

fn compare(state: &State, comparison: Comparison, left: &Value, right: &Value) -> Result<bool, Error> {
    for value in [left, right] {
        if value.is_undefined() {
            // Looking into it names it, as the operators do.
            value.get_attr("")?;
        }
    }
    if !are_ordered(left, right) {
        return Err(unordered(format!(
            "`{}` wants two numbers or two texts, but got {} and {}",
            comparison.operator(),
            described(left),
            described(right)
        )));
    }
    let bytes = |value: &Value| value.as_str().map_or(0, str::len);
    state.consume_fuel((bytes(left).min(bytes(right)) / BYTES_A_STEP) as u64)?;
    Ok(comparison.holds(left, right))
}

/// That the values can be put in an order: all numbers or all texts.
///
/// # Errors
/// Names the first that has none with the first of all.
pub(super) fn ordered<'value>(filter: &str, values: impl Iterator<Item = &'value Value>) -> Result<(), Error> {
    let mut first = None;
    for (index, value) in values.enumerate() {
        let first = *first.get_or_insert(value);
        if !are_ordered(first, value) {
            let other = if index == 0 { String::new() } else { format!(", and item 0 is {}", described(first)) };
            return Err(unordered(format!(
                "`{filter}` wants numbers only or texts only, but item {index} is {}{other}",
                described(value)
            )));
        }
    }
    Ok(())
}

fn are_ordered(left: &Value, right: &Value) -> bool {
    let is_a_number = |value: &Value| !f64::try_from(value.clone()).is_ok_and(f64::is_nan);
    match (left.kind(), right.kind()) {
        (ValueKind::Number, ValueKind::Number) => is_a_number(left) && is_a_number(right),
        (ValueKind::String, ValueKind::String) => true,
        _ => false,
    }
}

fn described(value: &Value) -> String {
    match value.kind() {
        ValueKind::Number => format!("the number {value}"),
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            let more = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
            format!("the text `{}{more}`", text.chars().take(SHOWN).collect::<String>())
        }
        ValueKind::Bool | ValueKind::None => format!("`{}`", value.to_string().to_lowercase()),
        kind => word(kind),
    }
}

fn word(kind: ValueKind) -> String {
    match kind {
        ValueKind::String => "a text".to_owned(),
        ValueKind::Seq | ValueKind::Iterable => "a list".to_owned(),
        ValueKind::Bool => "true or false".to_owned(),
        ValueKind::None => "`none`".to_owned(),
        kind => format!("a {kind}"),
    }
}

fn unordered(text: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, text).with_source(Unordered)
}

/// Marks an error that a right expression meets when a value is of another kind than it expects.
#[derive(Debug, thiserror::Error)]
#[error("these values have no order")]
pub(super) struct Unordered;

/// Looks for comparisons that cannot be made whatever the data are. The engine works out those of constants beforehand.
pub(super) fn check(expression: &str, tree: &Expr<'_>) -> Result<(), RuleError> {
    for part in tree::parts(tree) {
        let pairs: Vec<(Comparison, &Expr<'_>, &Expr<'_>)> = match part {
            Expr::BinOp(operation) => Comparison::of_operator(operation.op)
                .map(|kind| (kind, &operation.left, &operation.right))
                .into_iter()
                .collect(),
            Expr::Compare(chain) => {
                let left = std::iter::once(&chain.expr).chain(chain.ops.iter().map(|operation| &operation.expr));
                let pairs = left.zip(&chain.ops);
                pairs.filter_map(|(left, next)| Some((Comparison::of_chain(next.op)?, left, &next.expr))).collect()
            }
            _ => continue,
        };
        for (comparison, left, right) in pairs {
            let kinds = [kind(left), kind(right)];
            let has_order = |kind: ValueKind| matches!(kind, ValueKind::Number | ValueKind::String);
            let wrong = match kinds {
                [Some(left), Some(right)] => left != right || !has_order(left),
                _ => kinds.into_iter().flatten().any(|kind| !has_order(kind)),
            };
            if wrong {
                // The engine's own spans begin a word too early, or too late.
                let start = tree::parts(left).iter().map(|part| part.span().start_offset).min().unwrap_or_default();
                let range = start as usize..right.span().end_offset as usize;
                let [left, right] = kinds.map(|kind| kind.map_or("something".to_owned(), word));
                let operator = comparison.operator();
                let reason = format!("`{operator}` wants two numbers or two texts, but would get {left} and {right}");
                return Err(RuleError::new(expression, reason, Some(range)));
            }
        }
    }
    Ok(())
}

/// The kind of value that a part has whatever the data are, where that can be seen.
fn kind(part: &Expr<'_>) -> Option<ValueKind> {
    match part {
        Expr::Const(constant) => Some(constant.value.kind()),
        Expr::UnaryOp(operation) => Some(match operation.op {
            UnaryOpKind::Not => ValueKind::Bool,
            UnaryOpKind::Neg => ValueKind::Number,
        }),
        Expr::BinOp(operation) => match operation.op {
            BinOpKind::Sub | BinOpKind::Div | BinOpKind::FloorDiv | BinOpKind::Rem | BinOpKind::Pow => {
                Some(ValueKind::Number)
            }
            BinOpKind::Concat => Some(ValueKind::String),
            BinOpKind::ScAnd | BinOpKind::ScOr | BinOpKind::Add | BinOpKind::Mul => None,
            _ => Some(ValueKind::Bool),
        },
        Expr::Compare(_) | Expr::Test(_) => Some(ValueKind::Bool),
        Expr::Filter(filter) => match filter.name {
            "length" | "count" | "int" | "float" | "round" | "abs" | "sum" => Some(ValueKind::Number),
            "lower" | "upper" | "title" | "capitalize" | "trim" | "replace" | "join" | "string" => {
                Some(ValueKind::String)
            }
            "all" | "any" | "bool" | "matches" => Some(ValueKind::Bool),
            "map" | "select" | "selectattr" | "reject" | "rejectattr" | "list" | "split" | "lines" | "unique"
            | "groupby" | "only" => Some(ValueKind::Seq),
            _ => None,
        },
        Expr::List(_) | Expr::Tuple(_) => Some(ValueKind::Seq),
        Expr::Map(_) => Some(ValueKind::Map),
        _ => None,
    }
}
