//! The value of an expression as JSON, within bounds: a list may hold one large text a thousand times.

use std::io;

use minijinja::Value;
use minijinja::value::ValueKind;
use serde::ser::{Error as _, SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

use crate::files::megabytes;

/// Why a value is not handed on as JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// It would be too long.
    #[error("it is longer than {} MB", megabytes(*.limit as u64))]
    TooLong {
        /// What was written when that showed.
        beginning: Vec<u8>,
        /// Bytes it may have at most.
        limit: usize,
    },
    /// JSON has no word for it, or for something in it.
    #[error("it {0}")]
    NotJson(String),
}

/// The value as JSON of at most `limit` bytes.
///
/// # Errors
/// When it is longer, and when JSON cannot say it: infinity, a function, something undefined.
pub fn json(value: &Value, limit: usize) -> Result<Vec<u8>, JsonError> {
    let mut written = Bounded { bytes: Vec::new(), limit };
    match serde_json::to_writer(&mut written, &Sayable(value)) {
        Ok(()) => Ok(written.bytes),
        Err(error) if error.is_io() => Err(JsonError::TooLong { beginning: written.bytes, limit }),
        Err(error) => Err(JsonError::NotJson(error.to_string())),
    }
}

struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let room = self.limit - self.bytes.len();
        if piece.len() > room {
            self.bytes.extend_from_slice(&piece[..room]);
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A value, of which nothing may become `null` or a text that it is not.
struct Sayable<'value>(&'value Value);

impl Serialize for Sayable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.kind() {
            ValueKind::Number if f64::try_from(self.0.clone()).is_ok_and(|number| !number.is_finite()) => {
                Err(S::Error::custom(format!("holds {}, which JSON cannot say", self.0)))
            }
            ValueKind::Seq | ValueKind::Iterable => {
                let mut list = serializer.serialize_seq(None)?;
                for item in self.0.try_iter().map_err(S::Error::custom)? {
                    list.serialize_element(&Sayable(&item))?;
                }
                list.end()
            }
            ValueKind::Map => {
                let mut map = serializer.serialize_map(None)?;
                for key in self.0.try_iter().map_err(S::Error::custom)? {
                    let value = self.0.get_item(&key).map_err(S::Error::custom)?;
                    map.serialize_entry(&key.to_string(), &Sayable(&value))?;
                }
                map.end()
            }
            ValueKind::Undefined => Err(S::Error::custom("holds something undefined")),
            ValueKind::Plain => Err(S::Error::custom(format!("holds `{}`, which is no data", self.0))),
            _ => self.0.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::expression::value;

    #[test]
    fn what_json_cannot_say_is_refused_wherever_it_stands() {
        let said = |expression: &str| json(&value(expression, ().into()).unwrap(), 100);
        for (expression, expected) in [
            ("{'b': [1, 2.5, none, true], 'a': 'é\"'}", Ok(r#"{"b":[1,2.5,null,true],"a":"é\""}"#)),
            ("{1: 2}", Ok(r#"{"1":2}"#)),
            ("range(3)|map('string')", Ok(r#"["0","1","2"]"#)),
            ("[1, {'a': 'inf'|float}]", Err("it holds inf, which JSON cannot say")),
            ("-('inf'|float)", Err("it holds -inf, which JSON cannot say")),
            ("'nan'|float", Err("it holds NaN, which JSON cannot say")),
            ("[range]", Err("which is no data")),
            ("[{}.x]", Err("it holds something undefined")),
            ("['x' * 99]", Err("it is longer than 1 MB")),
        ] {
            let found = said(expression).map(|bytes| String::from_utf8(bytes).unwrap());
            match expected {
                Ok(text) => assert_eq!(found.as_deref(), Ok(text), "{expression}"),
                Err(part) => {
                    let text = found.unwrap_err().to_string();
                    assert!(text.contains(part), "{expression}: {text}");
                }
            }
        }
        let long = said("['é'] * 50").unwrap_err();
        assert!(matches!(long, JsonError::TooLong { beginning, limit: 100 } if beginning.len() == 100));
    }
}
