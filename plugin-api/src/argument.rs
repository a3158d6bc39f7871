//! The types an argument can have: how each is described to a model and read from what it says.

use serde_json::value::RawValue;
use serde_json::{Map, Number, Value, json};

use crate::raw_json::RawJson;

/// A JSON schema: an object such as `{"type": "integer"}`.
pub type Schema = Map<String, Value>;

/// A type that a tool takes as an argument.
///
/// Integers, floats, `bool`, `String`, `Vec`, `Option`, [`Value`] and [`RawJson`] are such types; an
/// enum without fields becomes one with `#[derive(ToolArgument)]`.
// Of the types below the compiler would list some, and not say what to do.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "a model cannot say this",
    note = "make it an enum with `#[derive(ToolArgument)]`, or take its parts as arguments: integers of up to 64 bits, floats, `bool`, `String`, `Vec`, `Option`"
)]
pub trait ToolArgument: Sized + 'static {
    /// Whether the argument may be left out without a default.
    const OPTIONAL: bool = false;

    /// What a model is told about the type.
    fn schema() -> Schema;

    /// Reads the argument. `place` names it in the text that says what is wrong.
    fn decode(place: &str, json: &RawValue) -> Result<Self, String>;

    /// The value as JSON: a default stands in the schema.
    fn encode(&self) -> Value;

    /// The value as a number, to be compared with a range.
    fn number(&self) -> Option<Number> {
        None
    }
}

/// A type that `#[range(…)]` can bound.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no range",
    label = "only numbers have one: remove `#[range(…)]`"
)]
pub trait Ranged: ToolArgument {
    /// What the ends of the range are.
    type End: Into<Value>;
}

#[diagnostic::do_not_recommend]
impl<T: Ranged> Ranged for Option<T> {
    type End = T::End;
}

macro_rules! ranged {
    ($($number:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl Ranged for $number {
            type End = $number;
        }
    )*};
}

ranged!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64);

macro_rules! integer_arguments {
    ($($integer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl ToolArgument for $integer {
            fn schema() -> Schema {
                let mut schema = schema_of("integer");
                if <$integer>::MIN == 0 {
                    schema.insert("minimum".to_owned(), Value::from(0));
                }
                schema
            }

            fn decode(place: &str, json: &RawValue) -> Result<Self, String> {
                let whole = number_in(json)
                    .and_then(|number| whole(&number))
                    .ok_or_else(|| format!("{place} must be an integer, not {}", shown(json)))?;
                Self::try_from(whole).map_err(|_| {
                    let (least, most) = (<$integer>::MIN.into(), <$integer>::MAX.into());
                    // A model that goes below zero needs no twenty-digit maximum to see what is wrong.
                    let most = if whole < 0 && <$integer>::MIN == 0 { None } else { Some(&most) };
                    format!("{place} must be {}, not {whole}", within(Some(&least), most))
                })
            }

            fn encode(&self) -> Value {
                Value::from(*self)
            }

            fn number(&self) -> Option<Number> {
                Some((*self).into())
            }
        }
    )*};
}

integer_arguments!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

#[diagnostic::do_not_recommend]
impl ToolArgument for f64 {
    fn schema() -> Schema {
        schema_of("number")
    }

    fn decode(place: &str, json: &RawValue) -> Result<Self, String> {
        let number = number_in(json).and_then(|number| number.as_f64());
        number.ok_or_else(|| format!("{place} must be a number, not {}", shown(json)))
    }

    fn encode(&self) -> Value {
        Value::from(*self)
    }

    fn number(&self) -> Option<Number> {
        Number::from_f64(*self)
    }
}

#[diagnostic::do_not_recommend]
impl ToolArgument for f32 {
    fn schema() -> Schema {
        f64::schema()
    }

    #[allow(clippy::cast_possible_truncation)] // the author chose to see less
    fn decode(place: &str, json: &RawValue) -> Result<Self, String> {
        f64::decode(place, json).map(|number| number as f32)
    }

    fn encode(&self) -> Value {
        Value::from(*self)
    }

    fn number(&self) -> Option<Number> {
        f64::from(*self).number()
    }
}

#[diagnostic::do_not_recommend]
impl ToolArgument for bool {
    fn schema() -> Schema {
        schema_of("boolean")
    }

    fn decode(place: &str, json: &RawValue) -> Result<Self, String> {
        serde_json::from_str(json.get()).map_err(|_| format!("{place} must be true or false, not {}", shown(json)))
    }

    fn encode(&self) -> Value {
        Value::from(*self)
    }
}

#[diagnostic::do_not_recommend]
impl ToolArgument for String {
    fn schema() -> Schema {
        schema_of("string")
    }

    fn decode(place: &str, json: &RawValue) -> Result<Self, String> {
        serde_json::from_str(json.get()).map_err(|_| format!("{place} must be a string, not {}", shown(json)))
    }

    fn encode(&self) -> Value {
        Value::from(self.as_str())
    }
}

#[diagnostic::do_not_recommend]
impl<T: ToolArgument> ToolArgument for Vec<T> {
    fn schema() -> Schema {
        list_schema(T::schema())
    }

    fn decode(place: &str, json: &RawValue) -> Result<Self, String> {
        list(place, json, T::decode)
    }

    fn encode(&self) -> Value {
        self.iter().map(ToolArgument::encode).collect()
    }
}

#[diagnostic::do_not_recommend]
impl<T: ToolArgument> ToolArgument for Option<T> {
    const OPTIONAL: bool = true;

    fn schema() -> Schema {
        T::schema()
    }

    fn decode(place: &str, json: &RawValue) -> Result<Self, String> {
        if json.get() == "null" { Ok(None) } else { T::decode(place, json).map(Some) }
    }

    fn encode(&self) -> Value {
        self.as_ref().map_or(Value::Null, ToolArgument::encode)
    }

    fn number(&self) -> Option<Number> {
        self.as_ref().and_then(ToolArgument::number)
    }
}

#[diagnostic::do_not_recommend]
impl ToolArgument for Value {
    fn schema() -> Schema {
        Schema::new()
    }

    fn decode(place: &str, json: &RawValue) -> Result<Self, String> {
        serde_json::from_str(json.get()).map_err(|error| format!("{place} cannot be read: {error}"))
    }

    fn encode(&self) -> Value {
        self.clone()
    }
}

/// Any JSON value, taken as it is: neither its depth nor its size is looked at.
#[diagnostic::do_not_recommend]
impl ToolArgument for RawJson {
    fn schema() -> Schema {
        Schema::new()
    }

    fn decode(_place: &str, json: &RawValue) -> Result<Self, String> {
        Ok(Self::from_raw(json))
    }

    fn encode(&self) -> Value {
        json!(self)
    }
}

/// A type of argument that is named at run time. Each is described and read as the Rust type beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `String`
    Text,
    /// `i64`
    Integer,
    /// `f64`
    Number,
    /// `bool`
    Boolean,
    /// An enum of these words.
    OneOf(Vec<String>),
    /// `Vec` of the kind within.
    List(Box<Kind>),
}

impl Kind {
    pub(crate) fn schema(&self) -> Schema {
        match self {
            Self::Text => String::schema(),
            Self::Integer => i64::schema(),
            Self::Number => f64::schema(),
            Self::Boolean => bool::schema(),
            Self::OneOf(words) => choice_schema(&words.iter().map(String::as_str).collect::<Vec<_>>()),
            Self::List(items) => list_schema(items.schema()),
        }
    }

    /// The value, and the number it is.
    pub(crate) fn decode(&self, place: &str, json: &RawValue) -> Result<(Value, Option<Number>), String> {
        fn typed<T: ToolArgument>(place: &str, json: &RawValue) -> Result<(Value, Option<Number>), String> {
            T::decode(place, json).map(|value| (value.encode(), value.number()))
        }
        match self {
            Self::Text => typed::<String>(place, json),
            Self::Integer => typed::<i64>(place, json),
            Self::Number => typed::<f64>(place, json),
            Self::Boolean => typed::<bool>(place, json),
            Self::OneOf(words) => {
                let words: Vec<_> = words.iter().map(String::as_str).collect();
                choice_of(place, json, &words).map(|chosen| (Value::from(words[chosen]), None))
            }
            Self::List(kind) => {
                let items = list(place, json, |place, item| kind.decode(place, item).map(|(value, _)| value))?;
                Ok((Value::from(items), None))
            }
        }
    }
}

fn list_schema(items: Schema) -> Schema {
    let mut schema = schema_of("array");
    schema.insert("items".to_owned(), Value::Object(items));
    schema
}

/// The items of a list, each read by `decode`, which is told its place.
fn list<T>(
    place: &str,
    json: &RawValue,
    decode: impl Fn(&str, &RawValue) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let items: Vec<&RawValue> =
        serde_json::from_str(json.get()).map_err(|_| format!("{place} must be a list, not {}", shown(json)))?;
    let numbered = items.into_iter().enumerate();
    numbered.map(|(index, item)| decode(&format!("item {} of {place}", index + 1), item)).collect()
}

/// The schema of an enum of `words`.
pub fn choice_schema(words: &[&str]) -> Schema {
    let mut schema = schema_of("string");
    schema.insert("enum".to_owned(), json!(words));
    schema
}

/// The one of `options` whose word was said.
pub fn choice<T, const COUNT: usize>(place: &str, json: &RawValue, options: [(&str, T); COUNT]) -> Result<T, String> {
    let chosen = choice_of(place, json, &options.each_ref().map(|(word, _)| *word))?;
    let mut options = options.into_iter();
    options.nth(chosen).map(|(_, value)| value).ok_or_else(|| format!("{place} has no such choice"))
}

/// The place among `words` of the one that was said.
fn choice_of(place: &str, json: &RawValue, words: &[&str]) -> Result<usize, String> {
    let said: Option<String> = serde_json::from_str(json.get()).ok();
    let chosen = words.iter().position(|word| said.as_deref() == Some(*word));
    chosen.ok_or_else(|| format!("{place} must be one of {}, not {}", words.join(", "), shown(json)))
}

/// A range in words, such as `between 1 and 500`.
pub(crate) fn within(minimum: Option<&Value>, maximum: Option<&Value>) -> String {
    match (minimum, maximum) {
        (Some(minimum), Some(maximum)) => format!("between {minimum} and {maximum}"),
        (Some(minimum), None) => format!("at least {minimum}"),
        (None, Some(maximum)) => format!("at most {maximum}"),
        (None, None) => "a number".to_owned(),
    }
}

/// What a model said, short enough for an error text.
pub(crate) fn shown(json: &RawValue) -> String {
    const LONGEST: usize = 60;
    let text = json.get();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn schema_of(kind: &str) -> Schema {
    Schema::from_iter([("type".to_owned(), Value::from(kind))])
}

fn number_in(json: &RawValue) -> Option<Number> {
    serde_json::from_str(json.get()).ok()
}

/// The integer a number stands for. Scripts and models also write `3.0`; beyond 2^53 a float no
/// longer says which integer it means.
#[allow(clippy::cast_possible_truncation)]
fn whole(number: &Number) -> Option<i128> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let rounded = || number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT);
    number.as_i128().or_else(|| rounded().map(|float| float as i128))
}
