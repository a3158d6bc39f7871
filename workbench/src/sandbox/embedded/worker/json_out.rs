//! Python values as JSON: the arguments of a tool call, with the refusals `json.dumps` would give.

use rustpython_vm::builtins::{PyBaseExceptionRef, PyDict, PyFloat, PyInt, PyList, PyStr, PyTuple};
use rustpython_vm::{AsObject, PyObject, PyRef, PyResult, VirtualMachine};

use crate::sandbox::conversation::protocol::MAX_ARGUMENTS;

/// Deepest nesting: what reads the arguments on the other side stops at 128.
const MAX_DEPTH: usize = 100;

/// `value` as JSON text.
pub(super) fn encode(value: &PyObject, vm: &VirtualMachine) -> PyResult<Vec<u8>> {
    let mut encoder = Encoder { vm, text: Vec::new(), path: Vec::new() };
    encoder.value(value)?;
    encoder.check_length(0)?;
    Ok(encoder.text)
}

struct Encoder<'a> {
    vm: &'a VirtualMachine,
    text: Vec<u8>,
    /// Identities of the containers around the current value.
    path: Vec<usize>,
}

impl Encoder<'_> {
    fn value(&mut self, value: &PyObject) -> PyResult<()> {
        let vm = self.vm;
        self.check_length(0)?;
        if vm.is_none(value) {
            self.text.extend(b"null");
        } else if value.is(&vm.ctx.true_value) {
            self.text.extend(b"true");
        } else if value.is(&vm.ctx.false_value) {
            self.text.extend(b"false");
        } else if let Some(string) = value.downcast_ref::<PyStr>() {
            self.string(string)?;
        } else if let Some(integer) = value.downcast_ref::<PyInt>() {
            self.text.extend(integer_text(integer, vm)?.bytes());
        } else if let Some(float) = value.downcast_ref::<PyFloat>() {
            self.text.extend(float_text(float.to_f64(), vm)?.bytes());
        } else if let Some(list) = value.downcast_ref::<PyList>() {
            let items = list.borrow_vec().to_vec();
            self.inside(value, |encoder| encoder.sequence(items.iter().map(AsRef::as_ref)))?;
        } else if let Some(tuple) = value.downcast_ref::<PyTuple>() {
            self.inside(value, |encoder| encoder.sequence(tuple.as_slice().iter().map(AsRef::as_ref)))?;
        } else if let Ok(dict) = value.to_owned().downcast::<PyDict>() {
            self.inside(value, |encoder| encoder.dict(&dict))?;
        } else {
            let kind = value.class().name().to_string();
            return Err(vm.new_type_error(format!("Object of type {kind} is not JSON serializable")));
        }
        Ok(())
    }

    /// Refuses arguments that are too long, before they take more memory.
    fn check_length(&self, more: usize) -> PyResult<()> {
        if self.text.len().saturating_add(more) <= MAX_ARGUMENTS {
            return Ok(());
        }
        let limit = MAX_ARGUMENTS / 1024 / 1024;
        Err(self.vm.new_value_error(format!("the arguments of a tool call are limited to {limit} MB")))
    }

    /// Writes a container, unless it stands inside itself or too deep.
    fn inside(&mut self, container: &PyObject, write: impl FnOnce(&mut Self) -> PyResult<()>) -> PyResult<()> {
        let id = container.get_id();
        if self.path.contains(&id) {
            return Err(self.vm.new_value_error("Circular reference detected"));
        }
        if self.path.len() >= MAX_DEPTH {
            let text = format!("the arguments of a tool call are nested deeper than {MAX_DEPTH} levels");
            let kind = self.vm.ctx.exceptions.recursion_error.to_owned();
            return Err(self.vm.new_exception_msg(kind, text.into()));
        }
        self.path.push(id);
        write(self)?;
        self.path.pop();
        Ok(())
    }

    fn sequence<'o>(&mut self, items: impl Iterator<Item = &'o PyObject>) -> PyResult<()> {
        self.text.push(b'[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.text.push(b',');
            }
            self.value(item)?;
        }
        self.text.push(b']');
        Ok(())
    }

    fn dict(&mut self, dict: &PyRef<PyDict>) -> PyResult<()> {
        self.text.push(b'{');
        for (index, (key, value)) in dict.into_iter().enumerate() {
            if index > 0 {
                self.text.push(b',');
            }
            self.key(&key)?;
            self.text.push(b':');
            self.value(&value)?;
        }
        self.text.push(b'}');
        Ok(())
    }

    /// Keys become text, as `json.dumps` makes them.
    fn key(&mut self, key: &PyObject) -> PyResult<()> {
        let vm = self.vm;
        if let Some(string) = key.downcast_ref::<PyStr>() {
            return self.string(string);
        }
        let text = if vm.is_none(key) {
            "null".to_owned()
        } else if key.is(&vm.ctx.true_value) {
            "true".to_owned()
        } else if key.is(&vm.ctx.false_value) {
            "false".to_owned()
        } else if let Some(integer) = key.downcast_ref::<PyInt>() {
            integer_text(integer, vm)?
        } else if let Some(float) = key.downcast_ref::<PyFloat>() {
            float_text(float.to_f64(), vm)?
        } else {
            let kind = key.class().name().to_string();
            return Err(vm.new_type_error(format!("keys must be str, int, float, bool or None, not {kind}")));
        };
        self.quoted(&text)
    }

    fn string(&mut self, string: &PyStr) -> PyResult<()> {
        match string.to_str() {
            Some(text) => self.quoted(text),
            None => Err(self.vm.new_value_error(
                "a text in the arguments of a tool call has a lone surrogate and is not valid Unicode",
            )),
        }
    }

    fn quoted(&mut self, text: &str) -> PyResult<()> {
        self.check_length(text.len())?;
        serde_json::to_writer(&mut self.text, text).map_err(|error| self.vm.new_value_error(error.to_string()))?;
        self.check_length(0)
    }
}

/// The digits; subclasses such as `IntEnum` count as the number they are.
fn integer_text(integer: &PyInt, vm: &VirtualMachine) -> PyResult<String> {
    let plain = vm.ctx.new_bigint(integer.as_bigint());
    Ok(plain.as_object().str(vm)?.to_string_lossy().into_owned())
}

fn float_text(float: f64, vm: &VirtualMachine) -> Result<String, PyBaseExceptionRef> {
    let text = rustpython_vm::literal::float::to_string(float);
    if float.is_finite() {
        return Ok(text);
    }
    Err(vm.new_value_error(format!("Out of range float values are not JSON compliant: {text}")))
}
