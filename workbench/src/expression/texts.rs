//! Values written as texts, within bounds. The engine's fuel pays for a text once it is there; a list that holds one
//! large text a thousand times takes no memory before.

use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, Value, escape_formatter, filters, tests};

use super::strict_filters::{join, sum};

/// Bytes of the longest text that is written.
const LONGEST: usize = 16 << 20;
/// Bytes that are written for one step.
const BYTES_A_STEP: usize = 64;

/// Bytes of texts that are sorted for one step.
const SORTED_BYTES_A_STEP: usize = 1 << 10;

/// The filter that `~` becomes in expressions.
pub(super) const TOGETHER: &str = "texts_together";

/// Filters in whose place others stand, since fuel does not pay for what they can cost: a sum of texts grows with the
/// square of their number, and most filters of texts write whatever they are given as a text first.
pub(super) fn bound(environment: &mut Environment<'_>) {
    environment.add_filter("sum", sum);
    environment.add_filter("join", join);
    environment.add_filter("tojson", tojson);
    environment.add_filter(TOGETHER, together);
    for (name, stock) in writers() {
        let bounded = move |state: &mut State, arguments: Rest<ValueOrKwargs>| -> Result<Value, Error> {
            let arguments = arguments.into_values();
            affordable(state, arguments.iter().filter(|argument| is_made_of_parts(argument)).cloned())?;
            state.consume_fuel(steps(name, &arguments) as u64)?;
            stock.call(state, &arguments)
        };
        environment.add_filter(name, bounded);
    }
    for (name, stock) in readers() {
        let bounded = move |state: &mut State, arguments: Rest<Value>| -> Result<bool, Error> {
            affordable(state, arguments.iter().filter(|argument| is_made_of_parts(argument)).cloned())?;
            Ok(stock.call(state, &arguments)?.is_true())
        };
        environment.add_test(name, bounded);
    }
    environment.set_formatter(|out, state, value| {
        if is_made_of_parts(value) {
            affordable(state, std::iter::once(value.clone()))?;
        }
        escape_formatter(out, state, value)
    });
}

/// Stock filters that write what they are given as a text, or make a list of its parts.
fn writers() -> [(&'static str, Value); 15] {
    [
        ("capitalize", Value::from_function(filters::capitalize)),
        ("e", Value::from_function(filters::escape)),
        ("escape", Value::from_function(filters::escape)),
        ("format", Value::from_function(format)),
        ("indent", Value::from_function(filters::indent)),
        ("lines", Value::from_function(filters::lines)),
        ("lower", Value::from_function(filters::lower)),
        ("pprint", Value::from_function(filters::pprint)),
        ("replace", Value::from_function(filters::replace)),
        ("safe", Value::from_function(filters::safe)),
        ("split", Value::from_function(filters::split)),
        ("string", Value::from_function(filters::string)),
        ("title", Value::from_function(filters::title)),
        ("trim", Value::from_function(filters::trim)),
        ("upper", Value::from_function(filters::upper)),
    ]
}

/// Stock tests that do the same.
fn readers() -> [(&'static str, Value); 4] {
    [
        ("endingwith", Value::from_function(tests::is_endingwith)),
        ("lower", Value::from_function(tests::is_lower)),
        ("startingwith", Value::from_function(tests::is_startingwith)),
        ("upper", Value::from_function(tests::is_upper)),
    ]
}

/// As the stock filter, without its `indent`.
fn tojson(state: &State, value: &Value) -> Result<Value, Error> {
    affordable(state, std::iter::once(value.clone()))?;
    filters::tojson(value, None, Kwargs::from_iter::<[(&str, Value); 0]>([]))
}

/// As the stock filter, which repeats an argument for each place that names it.
fn format(state: &mut State, pattern: &Value, arguments: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    let places = pattern.as_str().map_or(0, |pattern| pattern.matches('%').count());
    let mut longest = 0;
    for argument in arguments.iter() {
        let mut length = Length { left: LONGEST };
        length.add(argument)?;
        longest = longest.max(LONGEST - length.left);
    }
    if places.saturating_mul(longest) > LONGEST {
        return Err(too_much());
    }
    filters::format(state, pattern, arguments)
}

/// What `left ~ right` is.
fn together(state: &State, left: Value, right: Value) -> Result<Value, Error> {
    for value in [&left, &right] {
        if value.is_undefined() {
            // Looking into it names it, as the operator does.
            value.get_attr("")?;
        }
    }
    affordable(state, [left.clone(), right.clone()].into_iter())?;
    Ok(Value::from(format!("{left}{right}")))
}

/// The steps that a filter takes beside what its text costs: one for each part it makes, or for what it adds.
fn steps(filter: &str, arguments: &[Value]) -> usize {
    let Some((value, others)) = arguments.split_first() else { return 0 };
    let text = value.as_str().unwrap_or_default();
    match (filter, others.first().and_then(Value::as_str)) {
        ("lines", _) => text.lines().count(),
        ("split", Some(separator)) => text.matches(separator).count(),
        ("split", None) => text.split_whitespace().count(),
        ("indent", _) => {
            let width = |other: &Value| [other.clone(), other.get_attr("width").unwrap_or_default()];
            let widths = others.iter().flat_map(width).filter_map(|width| usize::try_from(width).ok());
            let lines = text.lines().count().max(1);
            widths.max().unwrap_or_default().saturating_mul(lines) / BYTES_A_STEP
        }
        _ => 0,
    }
}

/// That all of these can be written one after the other, and takes the steps for it.
///
/// # Errors
/// When they are too long together.
pub(super) fn affordable(state: &State, values: impl Iterator<Item = Value>) -> Result<(), Error> {
    let mut length = Length { left: LONGEST };
    for value in values {
        let before = length.left;
        length.add(&value)?;
        state.consume_fuel(((before - length.left) / BYTES_A_STEP) as u64)?;
    }
    Ok(())
}

/// Takes the steps for sorting or comparing these values with each other, for which texts are copied every time.
///
/// # Errors
/// When there are not so many left.
pub(super) fn sortable<'value>(
    state: &State,
    values: impl ExactSizeIterator<Item = &'value Value>,
) -> Result<(), Error> {
    let rounds = values.len().checked_ilog2().unwrap_or_default() as usize + 1;
    let bytes: usize = values.map(|value| value.as_str().map_or(0, str::len)).sum();
    state.consume_fuel((bytes.saturating_mul(rounds) / SORTED_BYTES_A_STEP) as u64)
}

fn is_made_of_parts(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable | ValueKind::Map)
}

fn too_much() -> Error {
    Error::from(ErrorKind::OutOfFuel)
}

/// Counts the bytes of what is to be written, up to a limit. What is escaped in lists is counted as it is.
struct Length {
    left: usize,
}

impl Length {
    fn add(&mut self, value: &Value) -> Result<(), Error> {
        match value.kind() {
            ValueKind::Seq | ValueKind::Iterable => value.try_iter()?.try_for_each(|item| self.part(&item)),
            ValueKind::Map => value.try_iter()?.try_for_each(|key| {
                self.part(&key)?;
                self.part(&value.get_item(&key)?)
            }),
            _ => self.take(value.as_str().map_or_else(|| value.to_string().len(), str::len)),
        }
    }

    /// With what separates it from the next.
    fn part(&mut self, value: &Value) -> Result<(), Error> {
        self.take(2)?;
        self.add(value)
    }

    fn take(&mut self, bytes: usize) -> Result<(), Error> {
        self.left = self.left.checked_sub(bytes).ok_or_else(too_much)?;
        Ok(())
    }
}
