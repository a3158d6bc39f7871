//! The C side of the boundary: three symbols, one table of functions back, one buffer type.
//!
//! `docs/abi.md` tells it in prose and `include/workbench_plugin.h` in C; a test holds both to this
//! file. Here, and in what `plugin!` expands to, stands the only unsafe code of a plugin.
//!
//! Who owns what:
//! - The bytes of a message belong to the caller and are only read, until the function returns.
//! - The bytes of a reply belong to the side that made them: it gives a [`Buffer`] away through
//!   `out`, and gets it back once, through its own `free`. No side frees with the other's allocator.
//! - A [`HostTable`] may be used until the call it came with returns, on any thread. What its `request` gave may be kept
//!   for longer: its `free` may be called at any time.
//! - Every function may be called on several threads at once.

#![allow(unsafe_code)] // the reason for this file

use std::ffi::c_void;
use std::mem::{self, ManuallyDrop};
use std::{ptr, slice};

use crate::dispatch::{Tools, respond};
use crate::error::{ToolError, ToolResult};
use crate::host::{Body, Channel, Host};
use crate::panics;
use crate::wire::{HostReply, HostRequest, Reply, join, split};

/// Version of the symbols, structures and ownership rules in this file.
pub const ABI_VERSION: u32 = 1;

/// Bytes with an owner: whoever made them frees them, through the function the maker gave.
#[repr(C)]
#[derive(Debug)]
pub struct Buffer {
    /// First byte; null when `capacity` is 0.
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
    pub request: unsafe extern "C" fn(context: *mut c_void, data: *const u8, length: usize, out: *mut Buffer) -> i32,
    /// Frees a buffer that `request` filled, at any time.
    pub free: unsafe extern "C" fn(buffer: Buffer),
}

/// The call was answered; `out` holds the reply.
pub const OK: i32 = 0;
/// The request was not understood; `out` holds a text that says why.
pub const BAD_REQUEST: i32 = 1;

/// `workbench_abi_version`: the one signature that never changes.
pub type AbiVersionFunction = extern "C" fn() -> u32;
/// `workbench_call`.
pub type CallFunction =
    unsafe extern "C" fn(host: *const HostTable, data: *const u8, length: usize, out: *mut Buffer) -> i32;
/// `workbench_free`: frees a buffer that `workbench_call` filled.
pub type FreeFunction = unsafe extern "C" fn(buffer: Buffer);

impl Buffer {
    /// Gives bytes away.
    #[must_use]
    pub fn give(bytes: Vec<u8>) -> Self {
        if bytes.capacity() == 0 {
            return Self::empty();
        }
        let mut bytes = ManuallyDrop::new(bytes);
        Self { data: bytes.as_mut_ptr(), length: bytes.len(), capacity: bytes.capacity() }
    }

    /// A buffer that holds nothing and needs no freeing: what `out` points to before a call.
    #[must_use]
    pub const fn empty() -> Self {
        Self { data: ptr::null_mut(), length: 0, capacity: 0 }
    }

    /// Takes back what [`give`](Self::give) gave.
    ///
    /// # Safety
    /// The buffer must come from `give` of the same library, and must not be used again.
    #[must_use]
    pub unsafe fn take_back(self) -> Vec<u8> {
        if self.data.is_null() {
            return Vec::new();
        }
        // SAFETY: `give` took these three from a `Vec<u8>` that it did not drop.
        unsafe { Vec::from_raw_parts(self.data, self.length, self.capacity) }
    }

    /// A look at the bytes, for the side that does not own them.
    ///
    /// # Safety
    /// The maker must not have freed the buffer, and must not before the look ends.
    #[must_use]
    pub unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: whoever fills a buffer sets `data` to `length` readable bytes, or to null.
        unsafe { bytes_at(self.data, self.length) }
    }
}

/// What `workbench_call` does; `plugin!` exports it.
///
/// # Safety
/// `data` must point to `length` readable bytes, `out` to a writable [`Buffer`], and `host` to a
/// table that is valid until this returns. Each of them may be null.
pub unsafe fn call(
    plugin: &dyn Tools,
    host: *const HostTable,
    data: *const u8,
    length: usize,
    out: *mut Buffer,
) -> i32 {
    if out.is_null() {
        return BAD_REQUEST;
    }
    let answer = panics::catch(|| {
        // SAFETY: the caller vouches for `data` and `length`.
        let message = unsafe { bytes_at(data, length) };
        // SAFETY: the caller vouches for `host`; null gives no table.
        let table = unsafe { host.as_ref() }.copied();
        respond(plugin, message, &Host::new(TableChannel { table }))
    });
    let (code, bytes) = match answer {
        Ok(Ok(reply)) => (OK, reply),
        Ok(Err(problem)) => (BAD_REQUEST, problem.into_bytes()),
        Err(message) => (OK, join(&Reply::Panic { message }, &[])),
    };
    // SAFETY: `out` is not null, so the caller vouches that it can be written. What it held is the
    // caller's business: it is not read, as it may never have been set.
    unsafe { out.write(Buffer::give(bytes)) };
    code
}

/// What `workbench_free` does; `plugin!` exports it.
///
/// # Safety
/// As [`Buffer::take_back`].
pub unsafe fn free(buffer: Buffer) {
    // SAFETY: the caller vouches that the buffer came from [`call`] and is given back once.
    drop(unsafe { buffer.take_back() });
}

/// The host behind its table of functions.
struct TableChannel {
    table: Option<HostTable>,
}

// SAFETY: the table's functions may be called on any thread with its `context`; that is the host's
// part of the contract.
unsafe impl Send for TableChannel {}
// SAFETY: as above, and on several threads at once.
unsafe impl Sync for TableChannel {}

impl Channel for TableChannel {
    fn request(&self, request: &HostRequest, body: &[u8]) -> ToolResult<(HostReply, Body)> {
        let Some(table) = self.table else {
            return Err("this tool needs a host, and it was called without one".into());
        };
        let message = join(request, body);
        let mut out = Buffer::empty();
        // SAFETY: a `Host` is only lent to a tool, so this runs before the call that brought the table
        // returns; message and `out` outlive the call.
        let code = unsafe { (table.request)(table.context, message.as_ptr(), message.len(), &raw mut out) };
        read_reply(code, Lent { buffer: out, free: table.free, head: 0 })
            .map_err(|problem| ToolError::new(format!("the host did not answer: {problem}")))
    }
}

fn read_reply(code: i32, mut reply: Lent) -> Result<(HostReply, Body), String> {
    if code != OK {
        return Err(format!("code {code}, {}", String::from_utf8_lossy(reply.body())));
    }
    let (head, body) = split(reply.body())?;
    reply.head = reply.body().len() - body.len();
    Ok((head, Body::Hosts(reply)))
}

/// A reply in the host's own memory, which gets it back when this is dropped. The plugin's alone until then: the host
/// neither reads nor writes there, so that nothing the plugin does to it changes what the host knows.
pub(crate) struct Lent {
    /// What the host filled, or left empty.
    buffer: Buffer,
    free: unsafe extern "C" fn(buffer: Buffer),
    /// Bytes before the body.
    head: usize,
}

impl Lent {
    pub(crate) fn body(&self) -> &[u8] {
        // SAFETY: the buffer is freed by `drop` and not before, and nobody writes to it.
        let message = unsafe { self.buffer.bytes() };
        &message[self.head..]
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let buffer = mem::replace(&mut self.buffer, Buffer::empty());
        // SAFETY: the buffer is the host's own and is given back once, through the `free` that came with it, which may be
        // called at any time: the tool may have kept the document for longer than its call.
        unsafe { (self.free)(buffer) };
    }
}

// SAFETY: the bytes have no other owner, and `free` may be called on any thread.
unsafe impl Send for Lent {}
// SAFETY: what is shared is only read.
unsafe impl Sync for Lent {}

/// The bytes of a message, on whichever side it arrives; null is an empty one, whatever `length` says.
///
/// # Safety
/// `data` must be null, or point to `length` bytes that stay readable and unchanged for `'bytes`.
pub unsafe fn bytes_at<'bytes>(data: *const u8, length: usize) -> &'bytes [u8] {
    if data.is_null() {
        return &[];
    }
    // SAFETY: not null, so the caller vouches for it.
    unsafe { slice::from_raw_parts(data, length) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::prelude::*;
    use crate::wire::{ANSWER_HEAD, Hello, Request, WIRE_VERSION};

    /// Asks the host for one document.
    #[tool]
    fn fetch(host: &Host, path: String) -> ToolResult<RawJson> {
        host.get_json(path, &[])
    }

    /// Divides by zero, or fails otherwise.
    #[tool]
    fn panic_with(divisor: i32) -> ToolResult<i32> {
        assert!(divisor < 9, "{divisor} is too much");
        Ok(1 / divisor)
    }

    static KEPT: Mutex<Option<RawJson>> = Mutex::new(None);

    /// Asks the host for two documents, and returns one of them.
    #[tool]
    fn fetch_two(host: &Host, index: usize) -> ToolResult<RawJson> {
        [host.get_json("/x", &[]), host.get_json("/x", &[])][index].clone()
    }

    /// Returns what it kept from the last time, if anything, and keeps what it asks for.
    #[tool]
    fn fetch_and_keep(host: &Host) -> ToolResult<RawJson> {
        let document = host.get_json("/x", &[])?;
        let before = KEPT.lock().unwrap().replace(document.clone());
        Ok(before.unwrap_or(document))
    }

    plugin!(fetch, fetch_two, fetch_and_keep, panic_with);

    /// Stands on the host's side of the table: notes what it was asked, and owns what it answers, in which `#` is the
    /// number of the document that is asked for.
    struct Asked {
        messages: Mutex<Vec<Vec<u8>>>,
        code: i32,
        answer: Vec<u8>,
    }

    unsafe extern "C" fn request(context: *mut c_void, data: *const u8, length: usize, out: *mut Buffer) -> i32 {
        // SAFETY: `call_with` hands over an `Asked`, and the plugin its message.
        let (asked, message) = unsafe { (&*context.cast::<Asked>(), bytes_at(data, length)) };
        asked.messages.lock().unwrap().push(message.to_vec());
        let number = match split(message) {
            Ok((HostRequest::GetJson { document: Some(number), .. }, _)) => number,
            other => panic!("{other:?}"),
        };
        let answer = String::from_utf8_lossy(&asked.answer).replace('#', &number.to_string());
        // SAFETY: the plugin gives a buffer to write to.
        unsafe { out.write(Buffer::give(answer.into_bytes())) };
        asked.code
    }

    static FREED: AtomicUsize = AtomicUsize::new(0);

    unsafe extern "C" fn free_and_count(buffer: Buffer) {
        FREED.fetch_add(1, Ordering::SeqCst);
        // SAFETY: as below.
        unsafe { free_ours(buffer) }
    }

    unsafe extern "C" fn free_ours(buffer: Buffer) {
        // SAFETY: the plugin gives back what `request` gave.
        unsafe { free(buffer) }
    }

    fn call_with(host: *const HostTable, message: &[u8]) -> (i32, Vec<u8>) {
        let mut out = Buffer::empty();
        // SAFETY: all pointers are to things that live in this function, or null.
        let code = unsafe { workbench_call(host, message.as_ptr(), message.len(), &raw mut out) };
        // SAFETY: the plugin filled the buffer, which is given back once.
        let reply = unsafe { out.bytes().to_vec() };
        // SAFETY: as above.
        unsafe { workbench_free(out) };
        (code, reply)
    }

    fn ask(request: &Request, body: &[u8]) -> (Reply, Vec<u8>) {
        let (code, reply) = call_with(ptr::null(), &join(request, body));
        assert_eq!(code, OK);
        let (head, body) = split(&reply).unwrap();
        (head, body.to_vec())
    }

    fn call_of(tool: &str) -> Request {
        Request::Call { tool: tool.to_owned() }
    }

    #[test]
    fn hello_names_versions_and_plugin() {
        assert_eq!(workbench_abi_version(), ABI_VERSION);
        let greeting = Hello { wire: 7, plugin_api: "9".to_owned(), features: vec!["new".into()], ..Hello::default() };
        let (reply, _) = ask(&Request::Hello(greeting), b"");
        let Reply::Hello(hello) = reply else { panic!("{reply:?}") };
        assert_eq!((hello.wire, hello.name.as_str()), (WIRE_VERSION, "plugin-api"));
        assert!(hello.compiler.starts_with("rustc "), "{}", hello.compiler);
    }

    #[test]
    fn a_tool_asks_the_host_through_the_table() {
        let asked = Asked { messages: Mutex::default(), code: OK, answer: b"\"json\"\n{ \"a\": # }".to_vec() };
        let table = HostTable { context: (&raw const asked).cast_mut().cast(), request, free: free_and_count };
        let last = |number: u64| format!("{{\"unchanged\":{{\"document\":{number}}}}}\n");
        let whole = |number: u64| format!("\"answer\"\n{{ \"a\": {number} }}");
        for (tool, arguments, expected) in [
            ("fetch", r#"{"path": "/x"}"#, last(1)),
            ("fetch_two", r#"{"index": 0}"#, whole(1)),
            ("fetch_two", r#"{"index": 1}"#, last(2)),
            ("fetch_and_keep", "{}", last(1)),
            // Of the call before: as long and with the same number, and still another document.
            ("fetch_and_keep", "{}", whole(1)),
        ] {
            let (code, reply) = call_with(&raw const table, &join(&call_of(tool), arguments.as_bytes()));
            assert_eq!((code, String::from_utf8(reply).unwrap()), (OK, expected), "{tool} {arguments}");
        }
        let messages = asked.messages.lock().unwrap();
        assert_eq!(messages[0], b"{\"get_json\":{\"path\":\"/x\",\"query\":[],\"document\":1}}\n");
        assert_eq!(FREED.load(Ordering::SeqCst), messages.len() - 1, "one is kept");
        drop(KEPT.lock().unwrap().take());
        assert_eq!(FREED.load(Ordering::SeqCst), messages.len(), "after its call");
    }

    #[test]
    fn what_stands_before_an_answer_is_its_head() {
        assert_eq!(join(&Reply::Answer, &[]), ANSWER_HEAD);
    }

    #[test]
    fn a_host_that_does_not_answer_is_an_error_of_the_tool() {
        let cases: [(i32, &[u8], &str); 3] = [
            (BAD_REQUEST, b"busy", "the host did not answer: code 1, busy"),
            (OK, b"", "the host did not answer: a message has no line feed behind its head"),
            (OK, b"\"done\"\n", "the host answered Done to GetJson"),
        ];
        for (code, answer, expected) in cases {
            let asked = Asked { messages: Mutex::default(), code, answer: answer.to_vec() };
            let table = HostTable { context: (&raw const asked).cast_mut().cast(), request, free: free_ours };
            let (_, reply) = call_with(&raw const table, &join(&call_of("fetch"), br#"{"path": "/x"}"#));
            let (Reply::Error(error), _) = split(&reply).unwrap() else { panic!("no error") };
            assert!(error.message.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn without_a_table_a_tool_still_answers() {
        let (reply, _) = ask(&call_of("fetch"), br#"{"path": "/x"}"#);
        assert_eq!(reply, Reply::Error("this tool needs a host, and it was called without one".into()));
        let (reply, body) = ask(&call_of("panic_with"), br#"{"divisor": 1}"#);
        assert_eq!((reply, body.as_slice()), (Reply::Answer, b"1".as_slice()));
    }

    #[test]
    fn a_panic_keeps_its_text_and_place() {
        for (arguments, text) in
            [(r#"{"divisor": 0}"#, "attempt to divide by zero"), (r#"{"divisor": 9}"#, "9 is too much")]
        {
            let (reply, _) = ask(&call_of("panic_with"), arguments.as_bytes());
            let Reply::Panic { message } = reply else { panic!("{reply:?}") };
            assert!(message.starts_with(text) && message.contains("abi.rs:"), "{message}");
        }
        let (reply, _) = ask(&call_of("panic_with"), br#"{"divisor": 1}"#);
        assert_eq!(reply, Reply::Answer);
    }

    #[test]
    fn a_message_that_is_none_is_told_so() {
        let cases: [(&[u8], &str); 4] = [
            (b"", "a message has no line feed"),
            (b"{\"sing\": 1}\n", "the head of a message is not understood: unknown variant `sing`"),
            (b"\xff\n", "the head of a message is not understood"),
            (b"{\"call\": {}}\n", "the head of a message is not understood: missing field `tool`"),
        ];
        for (message, expected) in cases {
            let (code, reply) = call_with(ptr::null(), message);
            assert_eq!(code, BAD_REQUEST);
            assert!(String::from_utf8_lossy(&reply).starts_with(expected), "{}", String::from_utf8_lossy(&reply));
        }
        // SAFETY: null stands for nothing, everywhere.
        assert_eq!(unsafe { workbench_call(ptr::null(), ptr::null(), 0, ptr::null_mut()) }, BAD_REQUEST);
    }
}
