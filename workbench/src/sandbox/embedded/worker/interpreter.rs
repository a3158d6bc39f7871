//! The interpreter: RustPython with our modules in it, and nothing of the host.

use std::cell::RefCell;
use std::rc::Rc;

use rustpython_vm::builtins::PyBaseExceptionRef;
use rustpython_vm::frozen::FrozenLib;
use rustpython_vm::{AsObject, Interpreter, PyResult, Settings, VirtualMachine};

use super::link::Link;
use super::natives;
use crate::sandbox::SCRIPT_FILE;
use crate::sandbox::conversation::protocol::Job;

/// Our Python modules, compiled when the workbench is. They take the place of the standard
/// library's modules of the same name.
const MODULES: &FrozenLib = rustpython_vm::py_freeze!(dir = "../python");

/// What scripts find in every sandbox.
const SHARED: &FrozenLib = rustpython_vm::py_freeze!(dir = "../../python");

/// Python's own limit of recursion; unoptimised builds of the interpreter start with less.
const RECURSION_LIMIT: usize = 1000;

/// An interpreter with everything imported that every script needs.
pub(super) fn boot(link: &Rc<RefCell<Link>>) -> Interpreter {
    let mut settings = Settings::default();
    settings.isolated = true;
    settings.ignore_environment = true;
    settings.import_site = false;
    settings.install_signal_handlers = false;
    // The interpreter's columns are not always right, and a mark below the wrong words misleads.
    settings.code_debug_ranges = false;
    settings.argv = vec![SCRIPT_FILE.into()];
    let builder = Interpreter::builder(settings);
    let library = rustpython_stdlib::stdlib_module_defs(&builder.ctx);
    let interpreter = builder
        .add_native_modules(&library)
        .add_frozen_modules(rustpython_pylib::FROZEN_STDLIB)
        .add_frozen_modules(MODULES)
        .add_frozen_modules(SHARED)
        .build();
    interpreter.enter(|vm| {
        vm.recursion_limit.set(RECURSION_LIMIT);
        let prepared = natives::install(link, vm).and_then(|()| vm.import("_sandbox", 0));
        if let Err(exception) = prepared {
            vm.print_exception(exception);
        }
    });
    interpreter
}

/// What scripts import most, and what an uncaught exception needs, each after what it rests on.
const AHEAD: [&str; 17] = [
    "collections.abc",
    "enum",
    "functools",
    "re",
    "json",
    "textwrap",
    "warnings",
    "io",
    "tokenize",
    "os",
    "contextlib",
    "traceback",
    "asyncio",
    "typing",
    "dataclasses",
    "datetime",
    "statistics",
];

/// Uses the time in which a booted worker waits for its script: imports, one module after the
/// other, until `is_over`.
pub(super) fn import_ahead(interpreter: &Interpreter, is_over: impl Fn() -> bool) {
    interpreter.enter(|vm| {
        for module in AHEAD {
            if is_over() || vm.import(module, 0).is_err() {
                return;
            }
        }
    });
}

/// Runs the script: its exit code, and whether an uncaught `MemoryError` ended it.
pub(super) fn run(interpreter: &Interpreter, job: &Job) -> (i32, bool) {
    interpreter.enter(|vm| match call_sandbox(job, vm) {
        Ok(outcome) => outcome,
        Err(exception) => {
            let out_of_memory = is_memory_error(&exception, vm);
            vm.print_exception(exception);
            (1, out_of_memory)
        }
    })
}

fn call_sandbox(job: &Job, vm: &VirtualMachine) -> PyResult<(i32, bool)> {
    let sandbox = vm.import("_sandbox", 0)?;
    let run = sandbox.get_attr("run", vm)?;
    let names = (job.source.clone(), job.file.clone(), job.tools_module.clone(), job.domain_module.clone());
    let (source, file, tools, domain) = names;
    let outcome = run.call((source, file, tools, domain, job.keep_state), vm)?;
    let code = outcome.get_item(&0, vm)?.try_into_value(vm)?;
    let out_of_memory = outcome.get_item(&1, vm)?.try_into_value(vm)?;
    Ok((code, out_of_memory))
}

fn is_memory_error(exception: &PyBaseExceptionRef, vm: &VirtualMachine) -> bool {
    exception.fast_isinstance(vm.ctx.exceptions.memory_error)
}
