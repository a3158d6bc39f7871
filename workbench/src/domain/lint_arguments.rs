//! Checks of the arguments of a declared tool: names, and whether default and bounds are of their type.

use serde_json::{Number, Value};

use super::declared::{Argument, DeclaredTool, Kind};
use super::lint::Report;
use super::text::Step;
use super::tool_names;

use Step::{Index, Key};

impl Report<'_> {
    /// The arguments of the tool at this place.
    pub(super) fn arguments(&mut self, index: usize, tool: &DeclaredTool) {
        for (name, argument) in &tool.arguments.0 {
            let at = [Key("tool"), Index(index), Key("arguments"), Key(name)];
            if let Err(fault) = tool_names::check_argument(name) {
                self.add(&at, format!("`{name}` {}", fault.reason)).help(fault.help);
            }
            self.bounds(&at, argument);
            self.choice(&at, argument);
            self.default(&at, argument);
        }
    }

    fn bounds(&mut self, at: &[Step<'_>; 4], argument: &Argument) {
        let is_number = matches!(argument.r#type, Kind::Integer | Kind::Number);
        for (key, end) in [("minimum", &argument.minimum), ("maximum", &argument.maximum)] {
            let Some(end) = end else { continue };
            let path = [at[0], at[1], at[2], at[3], Key(key)];
            if !is_number {
                self.add(&path, "only a number has bounds")
                    .help("remove it, or write `type = \"integer\"` or `\"number\"`");
            } else if argument.r#type == Kind::Integer && !end.is_i64() {
                self.add(&path, format!("`{end}` is no integer")).help("write it without a fraction");
            }
        }
        if let (Some(least), Some(most), true) = (&argument.minimum, &argument.maximum, is_number)
            && is_less(most, least)
        {
            let path = [at[0], at[1], at[2], at[3], Key("maximum")];
            self.add(&path, "is less than `minimum`: nothing would be accepted").help("swap the two");
        }
    }

    fn choice(&mut self, at: &[Step<'_>; 4], argument: &Argument) {
        let Some(words) = &argument.one_of else { return };
        let path = [at[0], at[1], at[2], at[3], Key("one_of")];
        if !matches!(argument.r#type, Kind::Text | Kind::ListOfText) {
            self.add(&path, "goes with `type = \"string\"` and lists of it only")
                .help("use `minimum` and `maximum` for numbers");
        } else if words.is_empty() {
            self.add(&path, "is empty: nothing would be accepted").help("name the texts, or remove it");
        } else if let Some(twice) = words.iter().enumerate().find(|(at, word)| words[..*at].contains(word)) {
            self.add(&path, format!("`{}` stands there twice", twice.1)).help("remove one of the two");
        }
    }

    fn default(&mut self, at: &[Step<'_>; 4], argument: &Argument) {
        let Some(default) = &argument.default else { return };
        let path = [at[0], at[1], at[2], at[3], Key("default")];
        if argument.optional {
            let path = [at[0], at[1], at[2], at[3], Key("optional")];
            self.add(&path, "goes without a `default`: what has one may be left out").help("remove one of the two");
        }
        if !fits(argument.r#type, default) {
            self.add(&path, format!("{default} is no value of the type"))
                .help(format!("write {}", in_words(argument.r#type)));
        } else if let Some(words) = &argument.one_of
            && let Some(other) = texts(default).into_iter().find(|text| words.iter().all(|word| word != text))
        {
            self.add(&path, format!("`{other}` is not among `one_of`"))
                .help(format!("write one of {}", words.join(", ")));
        } else if let Value::Number(number) = default
            && !within(number, argument)
        {
            self.add(&path, format!("{number} is out of the bounds")).help("write one between `minimum` and `maximum`");
        }
    }
}

fn fits(kind: Kind, value: &Value) -> bool {
    match (kind.items(), value) {
        (Some(items), Value::Array(list)) => list.iter().all(|item| fits(items, item)),
        (Some(_), _) => false,
        (None, value) => match kind {
            Kind::Integer => value.is_i64(),
            Kind::Number => value.is_number(),
            Kind::Boolean => value.is_boolean(),
            _ => value.is_string(),
        },
    }
}

fn in_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "a text in quotes",
        Kind::Integer => "a whole number",
        Kind::Number => "a number",
        Kind::Boolean => "true or false",
        Kind::ListOfText => "a list of texts, such as [\"a\", \"b\"]",
        Kind::ListOfInteger | Kind::ListOfNumber => "a list of numbers, such as [1, 2]",
        Kind::ListOfBoolean => "a list of true and false",
    }
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn within(number: &Number, argument: &Argument) -> bool {
    !argument.minimum.as_ref().is_some_and(|least| is_less(number, least))
        && !argument.maximum.as_ref().is_some_and(|most| is_less(most, number))
}

/// Integers are compared as such: as floats, neighbours beyond 2^53 would be equal.
fn is_less(left: &Number, right: &Number) -> bool {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => left < right,
        _ => left.as_f64() < right.as_f64(),
    }
}
