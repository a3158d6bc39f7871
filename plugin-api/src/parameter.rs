//! The parameters of a tool: one list gives the schema a model sees and judges what it says.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Number, Value, json};

use crate::argument::{Kind, Ranged, Schema, ToolArgument, shown, within};
use crate::declared::DeclaredParameter;
use crate::error::{ToolError, ToolResult};

/// One parameter of a tool.
#[derive(Clone, Debug)]
pub struct Parameter {
    name: Cow<'static, str>,
    schema: Schema,
    required: bool,
    decode: Decode,
}

/// How an argument is read.
#[derive(Clone, Debug)]
enum Decode {
    /// As a type of the plugin.
    Typed(fn(&str, &RawValue) -> Result<Decoded, String>),
    /// As a [`Value`] of a kind that a manifest names.
    Declared(Kind),
}

/// An argument of any type, and the number it is. Its type is named where the parameter is described and nowhere else, so
/// that a type which cannot be an argument is told of once.
type Decoded = (Box<dyn Any>, Option<Number>);

fn decode<T: ToolArgument>(place: &str, json: &RawValue) -> Result<Decoded, String> {
    let value = T::decode(place, json)?;
    let number = value.number();
    Ok((Box::new(value), number))
}

impl Parameter {
    /// A parameter of type `T`; required, unless the type says otherwise.
    #[must_use]
    pub fn of<T: ToolArgument>(name: &'static str, description: &str) -> Self {
        let mut schema = T::schema();
        if !description.is_empty() {
            schema.insert("description".to_owned(), Value::from(description));
        }
        Self { name: Cow::Borrowed(name), schema, required: !T::OPTIONAL, decode: Decode::Typed(decode::<T>) }
    }

    /// A parameter that a manifest declares. It is got as a [`Value`]: null when it may be left out and was.
    ///
    /// # Errors
    /// When default or range are none of this kind.
    pub(crate) fn declared(parameter: &DeclaredParameter) -> Result<Self, String> {
        let DeclaredParameter { name, description, kind, default, minimum, maximum, .. } = parameter;
        let read = |value: &Value| {
            let json = to_raw_value(value).map_err(|error| error.to_string())?;
            kind.decode(name, &json).map(|(value, _)| value)
        };
        let mut schema = kind.schema();
        if !description.is_empty() {
            schema.insert("description".to_owned(), Value::from(description.as_str()));
        }
        for (key, end) in [("minimum", minimum), ("maximum", maximum), ("default", default)] {
            if let Some(end) = end {
                schema.insert(key.to_owned(), read(end)?);
            }
        }
        let required = default.is_none() && !parameter.optional;
        let name = Cow::Owned(name.clone());
        Ok(Self { name, schema, required, decode: Decode::Declared(kind.clone()) })
    }

    fn decode(&self, json: &RawValue) -> Result<Decoded, String> {
        match &self.decode {
            Decode::Typed(decode) => decode(&self.name, json),
            Decode::Declared(_) if !self.required && json.get() == "null" => Ok((Box::new(Value::Null), None)),
            Decode::Declared(kind) => {
                let (value, number) = kind.decode(&self.name, json)?;
                Ok((Box::new(value), number))
            }
        }
    }

    /// The least and the greatest value that is accepted.
    #[must_use]
    pub fn within<T: Ranged>(mut self, least: Option<T::End>, greatest: Option<T::End>) -> Self {
        let ends = [("minimum", least), ("maximum", greatest)];
        self.schema.extend(ends.into_iter().filter_map(|(key, end)| Some((key.to_owned(), end?.into()))));
        self
    }

    /// The value a missing argument has.
    #[must_use]
    #[allow(clippy::needless_pass_by_value)] // the macro writes a literal
    pub fn default<T: ToolArgument>(mut self, value: T) -> Self {
        self.required = false;
        self.schema.insert("default".to_owned(), value.encode());
        self
    }

    /// Name and type, such as `limit (integer, default 100)`.
    fn words(&self) -> String {
        let kind = kind_in_words(&self.schema);
        match self.schema.get("default") {
            Some(default) => format!("{} ({kind}, default {default})", self.name),
            None if !self.required => format!("{} ({kind}, optional)", self.name),
            None => format!("{} ({kind})", self.name),
        }
    }

    fn check_range(&self, number: &Number) -> Result<(), String> {
        let (minimum, maximum) = (self.schema.get("minimum"), self.schema.get("maximum"));
        let below = minimum.and_then(Value::as_number).is_some_and(|minimum| is_less(number, minimum));
        let above = maximum.and_then(Value::as_number).is_some_and(|maximum| is_less(maximum, number));
        if below || above {
            return Err(format!("{} must be {}, not {number}", self.name, within(minimum, maximum)));
        }
        Ok(())
    }
}

/// The schema of a tool's arguments. The order of `properties` is the order of the parameters.
pub(crate) fn input_schema(parameters: &[Parameter]) -> Value {
    let properties: Schema =
        parameters.iter().map(|each| (each.name.to_string(), Value::Object(each.schema.clone()))).collect();
    let required: Vec<_> = parameters.iter().filter(|each| each.required).map(|each| &*each.name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// What a model gave to a tool.
#[derive(Debug)]
pub struct Arguments<'call> {
    tool: &'call str,
    parameters: &'call [Parameter],
    given: BTreeMap<String, &'call RawValue>,
}

impl<'call> Arguments<'call> {
    /// Reads a JSON object. Nothing at all counts as an empty one.
    pub(crate) fn read(tool: &'call str, parameters: &'call [Parameter], body: &'call [u8]) -> ToolResult<Self> {
        let given = if body.trim_ascii().is_empty() { BTreeMap::new() } else { object(tool, body)? };
        let arguments = Self { tool, parameters, given };
        match arguments.given.keys().find(|name| arguments.parameter(name).is_none()) {
            Some(unknown) => Err(arguments.refuse(&format!("unknown argument `{unknown}`; {}", arguments.taken()))),
            None => Ok(arguments),
        }
    }

    /// The argument for one of the tool's parameters.
    ///
    /// # Errors
    /// When it is missing, of another type or out of range.
    pub fn get<T: 'static>(&self, name: &str) -> ToolResult<T> {
        let parameter = self.parameter(name).ok_or_else(|| self.refuse(&format!("{name} is not a parameter")))?;
        let default = parameter.schema.get("default").and_then(|default| to_raw_value(default).ok());
        // Models write null for what they leave out.
        let given = self.given.get(name).copied().filter(|json| default.is_none() || json.get() != "null");
        let json = match (given, &default) {
            (Some(given), _) => given,
            (None, Some(default)) => default,
            (None, None) if !parameter.required => RawValue::NULL,
            (None, None) => return Err(self.refuse(&format!("{name} is missing; {}", self.taken()))),
        };
        let (value, number) = parameter.decode(json).map_err(|problem| self.refuse(&problem))?;
        if let Some(number) = number {
            parameter.check_range(&number).map_err(|problem| self.refuse(&problem))?;
        }
        value.downcast().map(|value| *value).map_err(|_| self.refuse(&format!("{name} is of another type")))
    }

    fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|each| each.name == name)
    }

    fn taken(&self) -> String {
        if self.parameters.is_empty() {
            return "it takes none".to_owned();
        }
        format!("it takes {}", self.parameters.iter().map(Parameter::words).collect::<Vec<_>>().join(", "))
    }

    fn refuse(&self, problem: &str) -> ToolError {
        bad_arguments(self.tool, problem)
    }
}

fn object<'call>(tool: &str, body: &'call [u8]) -> ToolResult<BTreeMap<String, &'call RawValue>> {
    let json: &RawValue =
        serde_json::from_slice(body).map_err(|error| bad_arguments(tool, &format!("they are not JSON: {error}")))?;
    serde_json::from_str(json.get())
        .map_err(|_| bad_arguments(tool, &format!("they must be a JSON object, not {}", shown(json))))
}

fn bad_arguments(tool: &str, problem: &str) -> ToolError {
    ToolError::new(format!("bad arguments for {tool}: {problem}")).with_code("bad_arguments")
}

/// A schema in a few words: `integer`, `list of string`, `one of day, night`.
fn kind_in_words(schema: &Schema) -> String {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
        return format!("one of {}", words.join(", "));
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("array") => {
            let items = schema.get("items").and_then(Value::as_object).map(kind_in_words);
            format!("list of {}", items.unwrap_or_else(|| "anything".to_owned()))
        }
        Some(kind) => kind.to_owned(),
        None => "anything".to_owned(),
    }
}

/// Integers are compared as such: as floats, neighbours beyond 2^53 would be equal.
fn is_less(left: &Number, right: &Number) -> bool {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => left < right,
        _ => left.as_f64() < right.as_f64(),
    }
}
