//! The C side of the boundary: three symbols, one table of functions back, one buffer type.
//!
//! `docs/abi.md` tells it in prose and `include/workbench_plugin.h` in C; a test holds both to this file.

use std::ffi::c_void;

/// Version of the symbols, structures and ownership rules in this file.
pub const ABI_VERSION: u32 = 1;

/// Bytes with an owner: whoever made them frees them, through the function the maker gave.
#[repr(C)]
#[derive(Debug)]
pub struct Buffer {
    /// First byte; null when `length` is 0.
    pub data: *mut u8,
    /// Bytes in use.
    pub length: usize,
    /// Bytes allocated; only the owner looks at it.
    pub capacity: usize,
}

/// What the host gives a plugin with each call. Valid until that call returns, on any thread.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HostTable {
    /// Handed back to the functions below, untouched.
    pub context: *mut c_void,
    /// Answers one message (see `wire.rs`). Returns [`OK`]; `out` then holds the reply, to be freed with `free`.
    pub request: extern "C" fn(context: *mut c_void, data: *const u8, length: usize, out: *mut Buffer) -> i32,
    /// Frees a buffer that `request` filled.
    pub free: extern "C" fn(buffer: Buffer),
}

/// The call was answered; `out` holds the reply.
pub const OK: i32 = 0;
/// The request's head was not understood; `out` holds a text that says why.
pub const BAD_REQUEST: i32 = 1;

/// `workbench_abi_version`: the one signature that never changes.
pub type AbiVersionFunction = extern "C" fn() -> u32;
/// `workbench_call`.
pub type CallFunction = extern "C" fn(host: *const HostTable, data: *const u8, length: usize, out: *mut Buffer) -> i32;
/// `workbench_free`: frees a buffer that `workbench_call` filled.
pub type FreeFunction = extern "C" fn(buffer: Buffer);
