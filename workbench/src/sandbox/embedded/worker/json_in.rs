//! JSON as Python values: the answer of a tool call, plain data as `json.loads` would give it.
//!
//! Numbers keep every digit and floats are rounded exactly, so that a script prints what CPython
//! would print.

use std::borrow::Cow;

use rustpython_vm::builtins::PyBaseExceptionRef;
use rustpython_vm::{AsObject, PyObjectRef, PyResult, VirtualMachine};

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 500;

/// The value `text` stands for.
pub(super) fn decode(text: &[u8], vm: &VirtualMachine) -> PyResult {
    let text = std::str::from_utf8(text)
        .map_err(|error| vm.new_value_error(format!("the answer is not valid Unicode: {error}")))?;
    let mut decoder = Decoder { vm, text, at: 0, depth: 0 };
    let value = decoder.value()?;
    decoder.skip_space();
    if decoder.at < text.len() { Err(decoder.unexpected()) } else { Ok(value) }
}

/// The value that stands at a character of `text`, and the character after it; nothing where there is none that is plain
/// JSON, and where it cannot be made.
pub(super) fn scan(text: &str, start: usize, vm: &VirtualMachine) -> Option<(PyObjectRef, usize)> {
    let at = match text.is_ascii() {
        true => start,
        false => text.char_indices().map(|(byte, _)| byte).nth(start)?,
    };
    // Space before a value is its reader's.
    if !matches!(text.as_bytes().get(at)?, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') {
        return None;
    }
    let mut decoder = Decoder { vm, text, at, depth: 0 };
    let value = decoder.value().ok()?;
    let end = if text.is_ascii() { decoder.at } else { text[..decoder.at].chars().count() };
    Some((value, end))
}

/// Whether digits, signs and so on make a number of JSON.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

struct Decoder<'a> {
    vm: &'a VirtualMachine,
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Decoder<'a> {
    fn value(&mut self) -> PyResult {
        self.skip_space();
        let context = &self.vm.ctx;
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => Ok(context.new_str(self.string()?.into_owned()).into()),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", context.new_bool(true).into()),
            Some(b'f') => self.word("false", context.new_bool(false).into()),
            Some(b'n') => self.word("null", context.none()),
            _ => Err(self.unexpected()),
        }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> PyResult) -> PyResult {
        if self.depth >= MAX_DEPTH {
            return Err(self.vm.new_value_error(format!("the answer is nested deeper than {MAX_DEPTH} levels")));
        }
        self.at += 1;
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> PyResult {
        let dict = self.vm.ctx.new_dict();
        if self.took(b'}') {
            return Ok(dict.into());
        }
        loop {
            self.skip_space();
            let key = self.string()?;
            self.expect(b':')?;
            let value = self.value()?;
            dict.set_item(&*key, value, self.vm)?;
            if self.took(b'}') {
                return Ok(dict.into());
            }
            self.expect(b',')?;
        }
    }

    fn array(&mut self) -> PyResult {
        let mut items = Vec::new();
        if !self.took(b']') {
            loop {
                items.push(self.value()?);
                if self.took(b']') {
                    break;
                }
                self.expect(b',')?;
            }
        }
        Ok(self.vm.ctx.new_list(items).into())
    }

    /// A string; one without escapes is borrowed.
    fn string(&mut self) -> Result<Cow<'a, str>, PyBaseExceptionRef> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.unexpected());
        }
        let mut escaped = false;
        loop {
            self.at += 1;
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.at += 1;
                }
                Some(0x20..) => {}
                Some(_) | None => return Err(self.unexpected()),
            }
        }
        self.at += 1;
        let literal = &self.text[start..self.at];
        if !escaped {
            return Ok(Cow::Borrowed(&literal[1..literal.len() - 1]));
        }
        serde_json::from_str(literal).map(Cow::Owned).map_err(|error| self.wrong(&error.to_string()))
    }

    fn number(&mut self) -> PyResult {
        let rest = &self.text[self.at..];
        let length = rest
            .bytes()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
            .unwrap_or(rest.len());
        let digits = &rest[..length];
        if !is_number(digits) {
            return Err(self.unexpected());
        }
        let vm = self.vm;
        let value: PyObjectRef = if digits.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
            vm.ctx.new_float(digits.parse().map_err(|_| self.unexpected())?).into()
        } else if let Ok(small) = digits.parse::<i64>() {
            vm.ctx.new_int(small).into()
        } else {
            vm.ctx.types.int_type.as_object().call((digits.to_owned(),), vm)?
        };
        self.at += length;
        Ok(value)
    }

    fn word(&mut self, word: &str, value: PyObjectRef) -> PyResult {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.unexpected());
        }
        self.at += word.len();
        Ok(value)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn took(&mut self, byte: u8) -> bool {
        self.skip_space();
        let here = self.peek() == Some(byte);
        self.at += usize::from(here);
        here
    }

    fn expect(&mut self, byte: u8) -> Result<(), PyBaseExceptionRef> {
        if self.took(byte) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn unexpected(&self) -> PyBaseExceptionRef {
        self.wrong("unexpected text")
    }

    fn wrong(&self, reason: &str) -> PyBaseExceptionRef {
        self.vm.new_value_error(format!("the answer is not JSON: {reason} at byte {}", self.at))
    }
}
