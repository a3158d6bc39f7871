//! One-line expressions over data: rules of verify, probes of an API, and the templates of file
//! names and paths in `[evidence]`.
//!
//! The stock minijinja lets a wrong rule pass in silence: a misspelt attribute counts as a value
//! that is there, an undefined result as false. Here the filters look for the attribute first, the
//! result must be a bool, only what has an order is compared, and what an expression may cost is limited.

mod as_json;
mod compiled;
mod names;
mod order;
mod strict_filters;
mod template;
mod texts;
mod tree;

use std::error::Error as _;
use std::ops::Range;
use std::sync::LazyLock;

use minijinja::value::ValueKind;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};

pub use as_json::{JsonError, json};
pub use names::{attributes, check, is_reserved, reads};
pub(crate) use strict_filters::pattern;
pub use template::{Purpose, fill, placeholders};

/// Steps one evaluation may take. A rule over 20,000 records needs about a third of it, a page of thousands of entries
/// less.
const FUEL: u64 = 1_000_000;
const RECURSION_LIMIT: usize = 50;

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    limit(&mut environment);
    strict_filters::install(&mut environment);
    environment
});

/// What is true of rules, of templates, and of pages that are filled with data of others.
pub(crate) fn limit(environment: &mut Environment<'_>) {
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(RECURSION_LIMIT);
    environment.set_debug(true);
    texts::bound(environment);
    order::install(environment);
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{expression}`: {}", self.short())]
pub struct RuleError {
    /// The expression as it was written.
    pub expression: String,
    /// What is wrong.
    pub reason: String,
    /// What was probably meant.
    pub help: Option<String>,
    /// The bytes of the expression it is about, where known.
    pub range: Option<Range<usize>>,
    /// Whether the expression may well be right and only met an empty list.
    pub on_empty_list: bool,
    /// Whether it met something undefined: data that lacks what it asks for.
    pub on_undefined: bool,
    /// Whether it met values that have no order, such as a text among numbers.
    pub on_unordered: bool,
}

impl RuleError {
    fn new(expression: &str, reason: String, range: Option<Range<usize>>) -> Self {
        let expression = expression.to_owned();
        Self { expression, reason, help: None, range, on_empty_list: false, on_undefined: false, on_unordered: false }
    }

    fn from_engine(expression: &str, error: &minijinja::Error) -> Self {
        let reason = match error.kind() {
            ErrorKind::OutOfFuel => "it takes too many steps, or too much memory".to_owned(),
            kind => error.detail().map_or_else(|| kind.to_string(), str::to_owned),
        };
        let range = error.range().filter(|range| expression.get(range.clone()).is_some());
        let is_assignment =
            error.kind() == ErrorKind::SyntaxError && range.clone().is_some_and(|range| &expression[range] == "=");
        let help = is_assignment.then(|| "did you mean `==`?".to_owned());
        let on_empty_list = error.source().is_some_and(|source| source.is::<strict_filters::EmptyList>());
        let on_undefined = error.kind() == ErrorKind::UndefinedError;
        let on_unordered = error.source().is_some_and(|source| source.is::<order::Unordered>());
        Self { help, on_empty_list, on_undefined, on_unordered, ..Self::new(expression, reason, range) }
    }

    /// The reason, the help and the place, without the expression.
    pub fn short(&self) -> String {
        let help = self.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        format!("{}{help}{}", self.reason, self.place())
    }

    /// The words it is about and where they begin, in parentheses; nothing where that says no more than the expression.
    pub fn place(&self) -> String {
        let Some(range) = &self.range else { return String::new() };
        let before = self.expression.get(..range.start).unwrap_or_default();
        match self.expression.get(range.clone()).map(str::trim) {
            Some(found) if !found.is_empty() && found != self.expression => {
                format!(" (`{found}` at character {})", before.chars().count() + 1)
            }
            _ => String::new(),
        }
    }
}

/// Whether `expression` is true of `context`, a map whose keys are the names it may use.
///
/// # Errors
/// When it is no expression, when it meets something undefined, when it costs too much, and when
/// its value is anything but true or false.
pub fn truth(expression: &str, context: Value) -> Result<bool, RuleError> {
    let value = value(expression, context)?;
    match value.kind() {
        ValueKind::Bool => Ok(value.is_true()),
        _ => Err(RuleError::new(expression, format!("must be true or false, but is {}", described(&value)), None)),
    }
}

/// The value of `expression` in `context`.
///
/// # Errors
/// As [`truth`], but any value is good that is defined.
pub fn value(expression: &str, context: Value) -> Result<Value, RuleError> {
    let compiled = compiled::compile(expression)?;
    compiled::evaluate(&ENVIRONMENT, &compiled, context.clone()).map_err(|error| {
        let error = RuleError::from_engine(expression, &error);
        match error.reason.strip_prefix('`').and_then(|reason| reason.strip_suffix("` is undefined")) {
            Some(path) => RuleError { help: known_beside(path, context), ..error },
            None => error,
        }
    })
}

/// What there is in the place of something undefined, such as `json` for the path `json.nosuch`: its names. Nothing
/// where that is not known.
pub fn known_beside(path: &str, context: Value) -> Option<String> {
    let (place, _) = path.rsplit_once('.')?;
    let compiled = compiled::compile(place).ok()?;
    let value = compiled::evaluate(&ENVIRONMENT, &compiled, context).ok().filter(|value| !value.is_undefined())?;
    Some(format!("`{place}` {}", strict_filters::known_names(&value)))
}

fn described(value: &Value) -> String {
    match value.kind() {
        ValueKind::Undefined => "undefined".to_owned(),
        ValueKind::Number => value.to_string(),
        kind => format!("a {kind}"),
    }
}
