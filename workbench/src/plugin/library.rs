//! A plugin's library, loaded: the only unsafe code of the host, and it runs in the worker alone.
//!
//! What is relied on is what `docs/abi.md` asks of a plugin. A library that breaks it can spoil
//! this process, which is why this process is a child with nothing in it worth spoiling.
#![allow(unsafe_code)]

use std::error::Error;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use plugin_api::abi::{self, ABI_VERSION, AbiVersionFunction, Buffer, CallFunction, FreeFunction, HostTable};

use super::messages::{LoadFailure, within_limit};

/// Answers one message of a plugin. Called from any thread, also from several at once.
pub(super) type Upcall<'a> = &'a (dyn Fn(&[u8]) -> Vec<u8> + Sync);

/// The functions of a loaded plugin. The library is never unloaded: its threads may still run.
pub(super) struct PluginLibrary {
    call: CallFunction,
    free: FreeFunction,
}

impl PluginLibrary {
    /// Loads the library, which runs its constructors, and checks the version of its boundary
    /// before anything else of it is touched.
    pub(super) fn open(path: &Path) -> Result<Self, LoadFailure> {
        // SAFETY: constructors of the library run here. They are foreign code like the rest of it:
        // nothing in this process depends on their good behaviour.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(unusable)?;
        let library = ManuallyDrop::new(library);
        // SAFETY: the three names have these types in every plugin; `workbench_abi_version` never
        // changes, and the other two are only looked up when it names our version.
        let theirs = unsafe { library.get::<AbiVersionFunction>("workbench_abi_version") }.map_err(unusable)?();
        if theirs != ABI_VERSION {
            return Err(LoadFailure::Abi { theirs });
        }
        // SAFETY: as above.
        let call = unsafe { library.get::<CallFunction>("workbench_call") }.map_err(unusable)?;
        // SAFETY: as above.
        let free = unsafe { library.get::<FreeFunction>("workbench_free") }.map_err(unusable)?;
        Ok(Self { call: *call, free: *free })
    }

    /// Hands one message to the plugin. The error is the plugin's text for a message it did not understand.
    pub(super) fn call(&self, message: &[u8], upcall: Upcall<'_>) -> Result<Answer, String> {
        let host = HostTable { context: ptr::from_ref(&upcall).cast_mut().cast(), request, free };
        let mut out = Buffer::empty();
        // SAFETY: all four arguments are valid until the call returns, which is how long a plugin may use them.
        let status = unsafe { (self.call)(&raw const host, message.as_ptr(), message.len(), &raw mut out) };
        let answer = Answer { buffer: out, free: self.free };
        within_limit("answer", answer.bytes().len())?;
        match status {
            abi::OK => Ok(answer),
            abi::BAD_REQUEST => Err(String::from_utf8_lossy(answer.bytes()).into_owned()),
            other => Err(format!("its status {other} is unknown")),
        }
    }
}

/// What a plugin answered, in its own memory, which it gets back when this is dropped.
pub(super) struct Answer {
    buffer: Buffer,
    free: FreeFunction,
}

impl Answer {
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the plugin filled the buffer, or left it empty; it is freed by `drop` and not before.
        unsafe { self.buffer.bytes() }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let buffer = std::mem::replace(&mut self.buffer, Buffer::empty());
        // SAFETY: the buffer is the plugin's own, and is given back once.
        unsafe { (self.free)(buffer) };
    }
}

/// The system's own words stand in the source of the error, where it has any.
fn unusable(error: libloading::Error) -> LoadFailure {
    LoadFailure::Unusable { message: error.source().map_or_else(|| error.to_string(), ToString::to_string) }
}

/// [`HostTable::request`].
unsafe extern "C" fn request(context: *mut c_void, data: *const u8, length: usize, out: *mut Buffer) -> i32 {
    if out.is_null() {
        return abi::BAD_REQUEST;
    }
    // SAFETY: `context` is the address of the `Upcall` in `PluginLibrary::call`, which outlives the
    // call; a plugin may use its host table no longer than that, on any thread: `Upcall` is `Sync`.
    let upcall = unsafe { &*context.cast_const().cast::<Upcall<'_>>() };
    // SAFETY: the plugin owns `length` readable bytes at `data` until this function returns.
    let message = unsafe { abi::bytes_at(data, length) };
    // SAFETY: `out` is not null, so it is a `Buffer` of the plugin's; it may be uninitialised, so it is only written.
    unsafe { out.write(Buffer::give(upcall(message))) };
    abi::OK
}

/// [`HostTable::free`].
unsafe extern "C" fn free(buffer: Buffer) {
    // SAFETY: a plugin frees only what `request` gave it, unchanged and once.
    drop(unsafe { buffer.take_back() });
}
