//! The module `_workbench`: what our Python modules need and Python cannot do.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::Duration;

use rustpython_vm::builtins::{PyBaseExceptionRef, PyStrRef};
use rustpython_vm::common::rand::os_random;
use rustpython_vm::function::{ArgIntoFloat, IntoPyNativeFn};
use rustpython_vm::{PyObject, PyObjectRef, PyResult, VirtualMachine};

use super::link::{Answer, Link};
use super::{json_in, json_out, top_level};
use crate::sandbox::conversation::protocol::MAX_NAME;

/// Seconds of the longest wait for an answer.
const LONGEST_WAIT: f64 = 24.0 * 60.0 * 60.0;

/// Makes `_workbench` importable.
pub(super) fn install(link: &Rc<RefCell<Link>>, vm: &VirtualMachine) -> PyResult<()> {
    let module = Module { vm, functions: vm.ctx.new_dict() };

    let calls = Rc::clone(link);
    module.add("call", move |tool: String, arguments: PyObjectRef, vm: &VirtualMachine| {
        let arguments = checked(&tool, &arguments, vm)?;
        let answer = {
            let mut link = calls.borrow_mut();
            link.call(tool, arguments).and_then(|id| link.answer_to(id))
        };
        // The link is free again: making values may run a script's `__del__`, which may call a tool.
        value_of(&answer.map_err(|error| lost(&error, vm))?, vm)
    })?;

    let calls = Rc::clone(link);
    module.add("start", move |tool: String, arguments: PyObjectRef, vm: &VirtualMachine| {
        let arguments = checked(&tool, &arguments, vm)?;
        calls.borrow_mut().call(tool, arguments).map_err(|error| lost(&error, vm))
    })?;

    let calls = Rc::clone(link);
    module.add("wait", move |seconds: Option<ArgIntoFloat>, vm: &VirtualMachine| -> PyResult {
        // Waits of more than a day, endless ones among them, are cut: no script lives as long.
        let patience =
            seconds.map(|seconds| Duration::from_secs_f64(seconds.into_float().clamp(0.0, LONGEST_WAIT).max(0.0)));
        let answer = calls.borrow_mut().next(patience).map_err(|error| lost(&error, vm))?;
        Ok(match answer {
            Some(answer) => vm.ctx.new_tuple(vec![vm.ctx.new_int(answer.id).into(), value_of(&answer, vm)?]).into(),
            None => vm.ctx.none(),
        })
    })?;

    let clock = Rc::clone(link);
    module.add("stood", move || clock.borrow().stood().as_secs_f64())?;

    module
        .add("compile", |source: String, file: String, vm: &VirtualMachine| top_level::compile(&source, &file, vm))?;
    module.add("scan_json", |text: PyStrRef, start: usize, vm: &VirtualMachine| {
        let found = text.to_str().and_then(|text| json_in::scan(text, start, vm));
        match found {
            Some((value, end)) => vm.ctx.new_tuple(vec![value, vm.ctx.new_int(end).into()]).into(),
            None => vm.ctx.none(),
        }
    })?;
    module.add("write", write)?;
    module.add("flush", || {
        // Each stream ends with the process; what cannot be written any more is not missed.
        io::stdout().flush().ok();
    })?;
    module.add("random_bytes", |count: usize| {
        std::iter::repeat_with(os_random::<32>).flatten().take(count).collect::<Vec<u8>>()
    })?;
    module.publish()
}

/// The arguments as JSON, unless the host would take the call for a broken frame.
fn checked(tool: &str, arguments: &PyObject, vm: &VirtualMachine) -> PyResult<Vec<u8>> {
    if tool.len() > MAX_NAME {
        return Err(vm.new_value_error(format!("a tool's name of {} bytes is too long", tool.len())));
    }
    json_out::encode(arguments, vm)
}

struct Module<'a> {
    vm: &'a VirtualMachine,
    functions: rustpython_vm::builtins::PyDictRef,
}

impl Module<'_> {
    fn add<Kind>(&self, name: &'static str, function: impl IntoPyNativeFn<Kind>) -> PyResult<()> {
        self.functions.set_item(name, self.vm.new_function(name, function).into(), self.vm)
    }

    fn publish(self) -> PyResult<()> {
        let module = self.vm.new_module("_workbench", self.functions, None);
        self.vm.sys_module.get_attr("modules", self.vm)?.set_item("_workbench", module.into(), self.vm)
    }
}

/// `(True, value)`, or `(False, text)` for a failure.
fn value_of(answer: &Answer, vm: &VirtualMachine) -> PyResult {
    let value = if answer.ok {
        json_in::decode(&answer.body, vm)?
    } else {
        vm.ctx.new_str(String::from_utf8_lossy(&answer.body).into_owned()).into()
    };
    Ok(vm.ctx.new_tuple(vec![vm.ctx.new_bool(answer.ok).into(), value]).into())
}

/// Writes to the script's own standard output (1) or error (2); false when `text` is not valid
/// Unicode and has to be encoded first.
fn write(stream: i32, text: PyStrRef, vm: &VirtualMachine) -> PyResult<bool> {
    let Some(text) = text.to_str() else { return Ok(false) };
    let written = match stream {
        1 => io::stdout().write_all(text.as_bytes()),
        _ => io::stderr().write_all(text.as_bytes()),
    };
    written.map(|()| true).map_err(|error| vm.new_os_error(error.to_string()))
}

fn lost(error: &io::Error, vm: &VirtualMachine) -> PyBaseExceptionRef {
    vm.new_os_error(format!("the connection to the tools is broken: {error}"))
}
